"""The lengths of arguments that versions know, those for Numba and those of vectors that are spread out: numbers
against differences, and which calls share a version."""

import dataclasses
import warnings

import numpy as np
import pytest

import s2s
from s2s.core.const import Const
from s2s.core.values import Array, Dim, Known, Scalar, Sequence
from s2s.dispatch import short_lengths
from s2s.versions.signature import with_length
from tests.fuzz.check import loops_by_python
from tests.helpers import differences, leaves

FEW = short_lengths.FEW_ARGUMENTS


def energy(x, mass, softening):
    """Pairs of bodies, each of which is moved."""
    total, x = 0.0, x.copy()
    for i in range(len(x)):
        for j in range(i):
            r = x[j] - x[i]
            total -= mass[i] * mass[j] / np.sqrt(np.sum(r * r) + softening)
            x[i] += 0.1 * r
    return total


def of_state(state, softening):
    """A state of a few numbers, beside a matrix."""
    s, rates = state
    for _ in range(3):
        s = s + 0.1 * rates[0] * np.sin(s[::-1]) - softening * s
    return np.sum(s * s)


@pytest.fixture
def versions():
    """Runs a gradient for Numba as Python, against differences, and says how many versions there are then."""
    rng = np.random.default_rng(3)

    def call(gradient, f, shapes, softening=0.3):
        args = [tuple(map(rng.random, s)) if isinstance(s, list) else rng.random(s) for s in shapes]
        wanted = differences(lambda tree: f(*tree), [*args, softening])
        with loops_by_python():
            found = gradient(*args, softening)
            along = s2s.jvp(s2s.differentiable(f, backend="numba"), (*args, softening), (*args, 1.0))[1]
        for got, want in zip(leaves(found), leaves(wanted), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)
        given = zip(leaves([*args, 1.0]), leaves(wanted), strict=True)
        np.testing.assert_allclose(along, sum(np.sum(a * w) for a, w in given), rtol=1e-7)
        return len(gradient.dispatcher.versions)

    return call


def test_the_first_length_of_a_last_axis_is_known(versions):
    gradient = s2s.grad(s2s.differentiable(energy, backend="numba"), argnums=(0, 1, 2))
    assert versions(gradient, energy, [(4, 3), 4]) == 1
    assert "np.empty(3)" not in gradient.dispatcher.last.compiled.loops.text
    assert versions(gradient, energy, [(5, 3), 5]) == 1  # as many masses as bodies: no length of a version
    assert versions(gradient, energy, [(4, 2), 4]) == 2
    assert versions(gradient, energy, [(5, 4), 5]) == 2  # shares that for any
    assert versions(gradient, energy, [(4, 5), 4]) == 2
    assert versions(gradient, energy, [(0, 3), 0]) == 2
    assert versions(gradient, energy, [(2, 3), 2]) == 2


def test_long_first_leave_an_axis_alone(versions):
    gradient = s2s.grad(s2s.differentiable(energy, backend="numba"), argnums=(0, 1, 2))
    assert versions(gradient, energy, [(3, 5), 3]) == 1
    assert versions(gradient, energy, [(3, 2), 3]) == 1


def test_vectors_and_arrays_in_tuples(versions):
    gradient = s2s.grad(s2s.differentiable(of_state, backend="numba"), argnums=(0, 1))
    assert versions(gradient, of_state, [[2, (5, 2)]]) == 1
    assert versions(gradient, of_state, [[2, (4, 2)]]) == 1
    assert versions(gradient, of_state, [[4, (3, 4)]]) == 2
    assert versions(gradient, of_state, [[3, (3, 3)]]) == 2


def filtered(a, x, softening):
    """Steps of a state by a matrix."""
    p, total = a, 0.0
    for k in range(len(x) - 1):
        p = a @ p @ a.T + softening * np.outer(x, x)
        total += np.sum(p) * x[k] / (1.0 + p[0, 0] ** 2)
    return total


@pytest.mark.slow
def test_both_lengths_of_square_matrices_are_known(versions):
    gradient = s2s.grad(s2s.differentiable(filtered, backend="numba"), argnums=(0, 1, 2))
    assert versions(gradient, filtered, [(3, 3), 3]) == 1
    assert " @ " not in "".join(
        line.partition("#")[0] for line in gradient.dispatcher.last.compiled.loops.text.splitlines())
    assert versions(gradient, filtered, [(2, 2), 2]) == 2
    assert versions(gradient, filtered, [(6, 6), 6]) == 2


def test_second_derivatives():
    rng = np.random.default_rng(1)
    x, along, mass = rng.random((4, 3)), rng.random((4, 3)), np.ones(4)
    with loops_by_python():
        product = s2s.hvp(s2s.differentiable(energy, backend="numba"))(x, along, mass, 0.3)
        gradient = s2s.grad(s2s.differentiable(energy, backend="numba"))
        wanted = differences(lambda h: np.sum(gradient(x + h * along, mass, 0.3) * product), 0.0)
    np.testing.assert_allclose(np.sum(product * product), wanted, rtol=1e-7)


def test_numpy_takes_any_length_in_one_version(versions):
    gradient = s2s.grad(s2s.differentiable(energy, backend="numpy"), argnums=(0, 1, 2))
    assert versions(gradient, energy, [(3, 3), 3]) == versions(gradient, energy, [(3, 2), 3]) == 1


# --- vectors of parameters whose items are handed over one by one -----------------------------------------------------


def line(t, a, b, c=2.0):
    return a * np.sin(t) + b * t + c


def spread_in_the_middle(p):
    return line(*np.exp(p[:2]), p[2])


def spread_into_a_list(p):
    rates = [*np.exp(p[:-1]), p[-1]]
    return sum(line(t, *rates[:3]) for t in (0.1, 0.4))


def slope(y, a, b):
    return np.array([y[1] * a, y[0] * b])


def spread_before_stores(p):
    rates = [*np.exp(p[:2])]
    f = slope(p[:2] + 1.0, *rates)
    for _ in range(3):
        k = np.zeros((2, 2))
        k[0] = f
        k[1] = slope(f, *rates)
        f = k[1]
    return np.sum(f) + p[2]


def powers(t, *rates):
    total = 0.0
    for rate in rates:
        total = total * t + rate**2
    return total


def spread_as_a_tuple(p):
    args, total = tuple(p), 0.0
    for k in range(4):
        total += powers(0.1 * k, *args)
    return total


@pytest.mark.parametrize("f", [spread_in_the_middle, spread_into_a_list, spread_before_stores, spread_as_a_tuple])
def test_short_vectors_are_spread_out_by_their_length(f):
    p = np.array([0.3, 0.4, 0.5])
    for derivative in (s2s.grad(f), s2s.jacfwd(f)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", s2s.DerivativeWarning)
            np.testing.assert_allclose(derivative(p), differences(f, p), rtol=1e-6)
        assert "rt.call" not in derivative.dispatcher.last.compiled.text


def test_another_length_is_another_version():
    gradient = s2s.grad(spread_into_a_list)
    for p in (np.array([0.3, 0.4, 0.5]), np.array([0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])):
        for _ in range(2):
            np.testing.assert_allclose(gradient(p), differences(spread_into_a_list, p), rtol=1e-6)
    assert len(gradient.dispatcher.versions) == 3


def test_items_of_a_long_vector_are_handed_over_at_run_time():
    def f(p):  # as ``spread_as_a_tuple``, whose versions do not include the one for all lengths
        args, total = tuple(p), 0.0
        for k in range(4):
            total += powers(0.1 * k, *args)
        return total

    p, gradient = np.linspace(0.1, 0.9, 40), s2s.grad(f)
    with pytest.warns(s2s.DynamicCallWarning):
        np.testing.assert_allclose(gradient(p), differences(f, p), rtol=1e-6, atol=1e-8)
    assert "rt.call" in gradient.dispatcher.last.compiled.text


def test_a_slice_of_the_items_of_a_long_vector_is_spread():
    def f(p):  # as ``spread_into_a_list``, whose versions do not include the one for all lengths
        rates = [*np.exp(p[:-1]), p[-1]]
        return sum(line(t, *rates[:3]) for t in (0.1, 0.4))

    p = np.linspace(0.1, 0.9, 40)
    expected, along = differences(f, p), np.cos(p)
    np.testing.assert_allclose(s2s.grad(f)(p), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(s2s.jvp(f, (p,), (along,))[1], expected @ along, rtol=1e-6)


# --- containers by numbers --------------------------------------------------------------------------------------------


def qubits(theta, n):
    state = np.ones(2**n).reshape((2,) * n)
    state[0] = theta[0]
    state[1] *= theta[1] ** 2
    return np.sum(state**2)


def named(theta, names):
    rates = dict(zip(names, theta))
    return rates["a"] ** 2 * rates["b"] + sum(v * k for k, v in enumerate(rates.values()))


def filled(theta, names):
    parts = {}
    for i, name in enumerate(names):
        parts[name] = theta[i] ** 2
    squares = {}
    for name, value in parts.items():
        squares[name] = np.sin(value)
    return sum(value * parts[name] for name, value in squares.items())


def grouped(theta, names):
    groups = {}
    for i in range(len(theta)):
        groups.setdefault(names[i % 2], []).append(theta[i])
    total = 0.0
    for _, group in groups.items():
        total += np.prod(np.array(group)) ** 2
    return total


def counted(theta, names):
    found = {}
    for i in range(len(theta)):
        key = names[i % 2]
        if key not in found:
            found[key] = 0.0
        found[key] += theta[i] ** 3
    return sum(np.sin(v) for _, v in sorted(found.items()))


def by_comprehension(theta, names):
    values = {name: value**2 for name, value in zip(names, theta)}
    return values["a"] * values["c"] ** 2


THETA = np.array([0.3, 0.5, 0.8])


@pytest.mark.grid(0.3)
@pytest.mark.parametrize(
    "f, arg",
    [(qubits, 3), (qubits, 1), *((f, kind("abc")) for f in (named, filled, grouped, counted, by_comprehension)
                                 for kind in (list, tuple))],
)
def test_by_numbers(f, arg, monkeypatch):
    """Keys and axes that are known only with the lengths and counts of a call; nothing is recorded."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    want = differences(lambda t: f(t, arg), THETA)
    np.testing.assert_allclose(s2s.grad(f)(THETA, arg), want, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (THETA, arg), (np.ones(3), None))[1], np.sum(want), rtol=1e-6)
    bent = np.array([differences(lambda t, k=k: s2s.grad(f)(t, arg)[k], THETA) for k in range(3)])
    np.testing.assert_allclose(s2s.hessian(f)(THETA, arg), bent, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(s2s.hvp(f, (THETA, arg), (np.ones(3), None)), bent.sum(axis=1), rtol=1e-5, atol=1e-8)


@dataclasses.dataclass
class Spring:
    stiffness: float
    length: float

    def energy(self, r):
        return 0.5 * self.stiffness * (r - self.length) ** 2


def chained(x, springs):
    return sum(s.energy(b - a) for s, a, b in zip(springs, x[:-1], x[1:]))


def that_changes(x, springs):
    x, energy = x.copy(), 0.0
    for i, (s, a) in enumerate(zip(springs, x)):
        energy += s.energy(a)
        if i + 1 < len(x):
            x[i + 1] += a * a
    return energy


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f", [chained, that_changes])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_objects_beside_a_vector(f, count, monkeypatch):
    """``zip`` reads each item when its turn comes: the loop may have changed it."""
    monkeypatch.setenv("S2S_RECORDED", "1")
    x, springs = np.array([0.3, 0.9, 2.0, 2.4]), [Spring(1.0 + k, 0.5 * k) for k in range(count)]
    by_x, by_springs = s2s.grad(f, argnums=(0, 1))(x, springs)
    np.testing.assert_allclose(by_x, differences(lambda x: f(x, springs), x), rtol=1e-6, atol=1e-9)
    v = np.array([[s.stiffness, s.length] for s in springs])
    want = differences(lambda v: f(x, [Spring(*row) for row in v]), v)
    np.testing.assert_allclose([[s.stiffness, s.length] for s in by_springs], want, rtol=1e-6, atol=1e-9)
    along = s2s.jvp(f, (x, springs), (np.ones(4), None))[1]
    np.testing.assert_allclose(along, np.sum(by_x), rtol=1e-9, atol=1e-12)


def test_other_numbers_have_versions_of_their_own(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    gradient = s2s.grad(qubits)
    for n in (*range(1, 12), 2, 11):
        np.testing.assert_allclose(gradient(THETA, n), differences(lambda t, n=n: qubits(t, n), THETA), rtol=1e-6)
    gradient = s2s.grad(counted)
    for length in (3, 4, 3):
        theta = np.linspace(0.3, 0.8, length)
        want = differences(lambda t: counted(t, ("a", "b")), theta)
        np.testing.assert_allclose(gradient(theta, ("a", "b")), want, rtol=1e-6)


def test_a_list_of_names_is_taken_by_value():
    """Another list, or one that was changed since, is another version."""
    names = ["a", "b", "c"]
    gradient = s2s.grad(named)
    first = gradient(THETA, names)
    np.testing.assert_allclose(first, differences(lambda t: named(t, ("a", "b", "c")), THETA), rtol=1e-6)
    names[:] = ["b", "a", "c"]
    np.testing.assert_allclose(
        gradient(THETA, names), differences(lambda t: named(t, ("b", "a", "c")), THETA), rtol=1e-6)


@pytest.mark.parametrize("value, is_known", [
    (np.ones(2), True), (np.ones(FEW), True), (np.ones(3, np.float32), True),
    (np.ones(0), False), (np.ones(1), False), (np.ones(FEW + 1), False),
    (np.ones(3, int), False), (np.ones(3, bool), False), (np.ones(3, complex), False),
    (np.ones((3, 3)), False), (np.ones((3, 2)), False),
])
def test_the_lengths_of_short_vectors_of_floats_are_known(value, is_known):
    """An array with an axis of the same length as such a vector has that one known too."""
    axes = tuple(Dim(f"x.{k}") for k in range(value.ndim))
    vector, beside = Array(value.dtype, axes), Array(np.dtype(complex), (Dim("y.0"), axes[0]))
    other = np.ones((40, len(value)), complex)
    known = with_length(vector, "x.0", len(value)) if is_known else vector
    known_beside = with_length(beside, "x.0", len(value)) if is_known else beside
    assert short_lengths.with_short_vectors((beside, vector), (other, value)) == (known_beside, known)
    inside = Sequence(tuple, (vector, Scalar(float)))
    assert short_lengths.with_short_vectors((inside,), ((value, 1.0),)) == (Sequence(tuple, (known, Scalar(float))),)
    assert (known != vector) == (known_beside != beside) == is_known


def test_a_length_that_is_known_stays_so():
    vector = Array(np.dtype(float), (Dim("", 3),))
    assert short_lengths.with_short_vectors((vector,), (np.ones(3),)) == (vector,)


def test_counts_are_small_integers_that_are_not_negative():
    counts = [-1, 0, 1, FEW, FEW + 1]
    number, pair = Scalar(int), Sequence(tuple, (Scalar(np.int64), Scalar(float)))
    for value in counts:
        known = Known(Const(value)) if 0 <= value <= FEW else number
        assert short_lengths._with_count(number, value) == known
        found = short_lengths._with_count(pair, (np.int64(value), 1.0))
        assert (found == pair) == (known == number)
        assert found.items[1] == Scalar(float)
    assert short_lengths._with_count(Scalar(float), 2.0) == Scalar(float)
