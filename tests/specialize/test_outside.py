"""Arrays from outside of the function that change while it runs: by calls that nobody has read, and by other names."""

import types

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.errors import ArgumentError, SharedMemoryError, UnsupportedSyntaxError
from tests.helpers import differences

START = np.array([1.1, 2.3, 0.7])
W = START.copy()
FLIPPED = W[::-1]
HELD = {"w": W}
RATES = [1.5]
GIVEN = [None]
KEPT = [W]
SAME = KEPT
X = np.array([0.3, 0.5, 0.7])


class Place:
    w = W
    n = 1.5


place = Place()
place.kept = KEPT
exec("def bump(t=0.0):\n    W[...] += 1.0\n    place.n += 1.0\n    RATES[0] += 1.0\n    return 0.5", globals())
exec("class Loud:\n    __str__ = lambda self: str(bump())\n    __len__ = lambda self: int(bump()) + 3\n"
     "    __index__ = __hash__ = lambda self: int(bump()) + 1", globals())
exec("def steps():\n    while True:\n        yield bump()", globals())
exec("def scale_given():\n    GIVEN[0][...] *= 2.0", globals())
LOUD, WALK, HOOKS = Loud(), steps(), {"bump": bump}  # noqa: F821
DOUBLE = types.MethodType(np.multiply, W)
OWN = []
exec("def hold(a):\n    OWN.append(a)\ndef change_own():\n    OWN[-1][...] *= 2.0", globals())


def restore():
    W[...], RATES[:], place.n, KEPT[:], OWN[:] = START, [1.5], 1.5, [W], []


@pytest.fixture(autouse=True)
def restored():
    restore()
    yield
    restore()


def check(f, x=X):
    """Both modes and a pullback, each from the same state, against central differences; what is outside is left as the
    program leaves it."""

    def primal(x):
        restore()
        return f(x)

    want = differences(primal, x)
    value, left = primal(x), W.copy()
    restore()
    got, gradient = s2s.value_and_grad(f)(x)
    np.testing.assert_allclose(got, value)
    np.testing.assert_allclose(gradient, want, rtol=1e-6)
    np.testing.assert_array_equal(W, left)
    restore()
    out, tangent = s2s.jvp(f, (x,), (np.array([0.5, -1.0, 2.0]),))
    np.testing.assert_allclose(out, value)
    np.testing.assert_allclose(tangent, want @ [0.5, -1.0, 2.0], rtol=1e-6)
    restore()
    _, pull = s2s.vjp(f, x)
    np.testing.assert_allclose(pull(1.0)[0], want, rtol=1e-6)
    np.testing.assert_allclose(pull(1.0)[0], want, rtol=1e-6)


# --- calls that nobody has read -------------------------------------------------------------------------------------

CALLS = {
    "function": lambda: bump(),  # noqa: F821
    "item": lambda: HOOKS["bump"](),
    "text": lambda: str(LOUD),
    "formatted": lambda: f"{LOUD}",
    "index": lambda: [1.0, 2.0][LOUD],
    "hash": lambda: {LOUD: 1.0},
    "iterator": lambda: next(WALK),
    "key": lambda: sorted([2, 1], key=bump),  # noqa: F821
    "mapped": lambda: list(map(bump, [1.0])),  # noqa: F821
    "vectorized": lambda: np.vectorize(bump)(np.arange(2.0)),  # noqa: F821
    "method": lambda: W.sort and DOUBLE(2.0, W),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_changes_an_array_between_its_uses(name):
    call = CALLS[name]

    def f(x):
        w = W
        y = w * np.sin(x)
        call()
        return np.sum(y * w * x)

    check(f)


def elements(x):
    s = 0.0
    for i in range(3):
        s = s + W[i] * np.sin(x[i]) * s + FLIPPED[i] * x[i]
        bump()  # noqa: F821
    return s


def items_of_an_array(x):
    s = 0.0
    for w in W:
        s = s + np.sum(w * np.sin(x) * s + w * x)
        bump()  # noqa: F821
    return s


def numbers(x):
    s = 0.0
    for _ in range(3):
        s = s + np.sum(np.sin(x * place.n) * RATES[0])
        bump()  # noqa: F821
    return s


def computed_twice(x):
    w = HELD["w"]
    y = w * 2.0
    bump()  # noqa: F821
    return np.sum(y * np.sin(x)) + np.sum(w * 2.0 * x**2)


def in_a_branch(x):
    y = FLIPPED * np.sin(x)
    if x[0] > 0.0:
        bump()  # noqa: F821
    return np.sum(y * x * place.w)


def into_a_buffer(x):
    b = np.zeros(3)
    b[:] = W
    b *= np.sin(x)
    bump()  # noqa: F821
    b *= W
    b[0] = W[0] * x[1]
    bump()  # noqa: F821
    return np.sum(b * x)


def its_own(x):
    own = np.sin(START)
    hold(own)  # noqa: F821
    y = own * np.sin(x)
    change_own()  # noqa: F821
    return np.sum(y * own * x)


def chosen_when_it_runs(x):
    g = {"bump": lambda t: W * np.sin(t)}[next(iter(HOOKS))]
    y = g(x)
    bump()  # noqa: F821
    return np.sum(y * g(x))


def derivative_inside(x):
    y = s2s.grad(lambda t: np.sum(np.sin(t) * W))(x)
    bump()  # noqa: F821
    return np.sum(y * W)


@pytest.mark.parametrize("f", [
    elements, items_of_an_array, numbers, computed_twice, in_a_branch, into_a_buffer, its_own, chosen_when_it_runs,
    derivative_inside,
])  # fmt: skip
def test_what_a_call_changes_is_read_as_the_program_reads_it(f):
    check(f)


def test_an_argument_that_a_call_changes_is_refused_and_given_back():
    def f(x):
        y = np.sin(x)
        scale_given()  # noqa: F821
        return np.sum(y * x)

    GIVEN[0] = x = X.copy()
    for derivative in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(ArgumentError, match=r"^`x` is changed in place, by another name, .*\[S2S511\]"):
            derivative(x)
        np.testing.assert_array_equal(x, X)


def read_after_the_last_call(x):
    w = W
    v = w * np.sin(x)
    bump()  # noqa: F821
    return np.sum((v - 2.0 * w) * W * v)


def stored_after_the_last_call(x):
    held = place.w
    v = held * (2.0 - x)
    bump()  # noqa: F821
    u = v - held * 2.0
    s = W[0] * np.var(u)
    u[-2:] *= s
    return np.sum(u * u) + np.sum(np.exp(0.1 * W) * v)


def replayed(x):
    y = x
    for _ in s2s.checkpointed(range(4), snapshots=2):
        w = W
        y = w * np.sin(y)
        bump()  # noqa: F821
        y = np.tanh(y - 0.1 * w * y)
    return np.sum(y)


@pytest.mark.parametrize(
    "f", [read_after_the_last_call, stored_after_the_last_call, replayed], ids=lambda f: f.__name__)
def test_what_is_read_later_is_as_it_was(f):
    """By a pullback, another call of the function before it, and statements that run again."""
    check(f)
    _, expected = restore(), s2s.grad(f)(X)
    _, (_, pullback) = restore(), s2s.vjp(f, X)
    f(2.0 * X)
    bump()  # noqa: F821
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-9)


def test_second_order():
    def f(x):
        y = W * np.sin(x)
        bump()  # noqa: F821
        return np.sum(y * W * x)

    np.testing.assert_allclose(s2s.hessian(f)(X), np.diag(START * (START + 1.0) * (2.0 * np.cos(X) - X * np.sin(X))))


def scaled(n):
    return n * 2.0 + W[0]


@pytest.mark.parametrize("call", [
    lambda rng: scaled(3.0), lambda rng: print(3.0), lambda rng: rng.normal(size=3), lambda rng: "{}".format(2.0),
])  # fmt: skip
def test_nothing_is_copied_where_a_call_is_known_to_change_nothing(call):
    def f(x, rng):
        y = W * np.sin(x)
        call(rng)
        return np.sum(y * W * x)

    assert "rt." not in s2s.source(f, X, np.random.default_rng(0))


# --- one object by two names ----------------------------------------------------------------------------------------


def default_list(x, kept=KEPT):
    kept += [x]
    return np.sum(KEPT[-1] * x)


def default_item(x, *, kept=HELD):
    kept["w"] = x
    return np.sum(HELD["w"] * x)


def default_array(x, w=W):
    w[0] = 5.0
    return np.sum(FLIPPED * x)


def default_length(x, kept=KEPT):
    kept.append(1.0)
    return np.sum(x * len(KEPT))


@pytest.mark.parametrize("f", [default_list, default_item, default_array, default_length])
def test_a_default_that_is_read_by_another_name_is_not_changed(f):
    for derivative in (s2s.grad(f), lambda x, f=f: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(SharedMemoryError, match=r"\[S2S124\]"):
            derivative(X)


def test_an_argument_that_is_read_by_another_name_is_not_changed():
    def append(x, kept):
        kept.append(x)
        return np.sum(KEPT[-1] * x)

    def attribute(x, w):
        w *= 2.0
        return np.sum(place.w * x)

    for f, given in ((append, KEPT), (attribute, W)):
        with pytest.raises(SharedMemoryError, match=r"\[S2S124\]"):
            s2s.grad(f)(X, given)
    np.testing.assert_allclose(s2s.grad(attribute)(X, START.copy()), START)


def by_attribute(x):
    place.kept[0] = x
    return np.sum(KEPT[0] * x)


def by_another_variable(x):
    KEPT[0] = x
    return np.sum(SAME[0] * x)


def by_names_of_the_module(x):
    NAMES["SCALE"] = x * 2.0
    return np.sum(SCALE * x)


SCALE, NAMES = W, globals()


@pytest.mark.parametrize("f", [by_attribute, by_another_variable, by_names_of_the_module])
def test_a_container_that_is_read_by_another_name_is_not_changed(f):
    for derivative in (s2s.grad(f), lambda x, f=f: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S185\]"):
            derivative(X)


def test_copies_of_containers_that_hold_themselves():
    held = {"w": np.array([1.0, 2.0]), "rows": [[1.0], (2.0, {3.0})]}
    held["rows"].append(held)
    made = rt.kept(held)
    held["w"][0], held["rows"][0][0] = 5.0, 5.0
    assert made is not held and made["rows"][2] is made
    assert made["w"][0] == 1.0 and made["rows"][:2] == [[1.0], (2.0, {3.0})]
