"""What is recorded where the compiler refuses, as it is by default: calls, results and derivatives of derivatives."""

import asyncio
import collections
import types
import weakref

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.recorded.pieces import in_pieces, in_pieces_with_a_set

QUEUE = collections.deque(maxlen=2)


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


def queued(x):
    QUEUE.append(x**3)
    return eval("sum(q)", {"q": QUEUE, "sum": sum})


@pytest.mark.parametrize("second", [
    lambda f: s2s.grad(s2s.grad(f)), s2s.hessian, lambda f: s2s.jacfwd(s2s.grad(f)),
    lambda f: s2s.jacrev(s2s.jacfwd(f)),
])
def test_a_derivative_that_refuses_when_it_runs_is_differentiated_itself(second):
    """What is recorded then is the inner derivative, and not the function once more."""
    QUEUE.clear()
    np.testing.assert_allclose(second(queued)(1.5), 6 * 1.5)


def test_parameters_with_stars_come_before_those_by_keyword():
    def f(x, *rest, scale=2.0, **more):
        return eval(more.get("text", "a * a"), {"a": x}) * scale + sum(rest)

    np.testing.assert_allclose(s2s.grad(f)(1.5, 3.0, 4.0, scale=5.0), 15.0)
    np.testing.assert_allclose(s2s.grad(f)(1.5, scale=5.0, text="a**3"), 15 * 1.5**2)
    np.testing.assert_allclose(s2s.jvp(lambda x: f(x, 3.0), (1.5,), (1.0,))[1], 6.0)


class Held:
    def __init__(self, value):
        self.value = value


class Link:
    def __init__(self, value):
        self.value, self.other = value, self


@pytest.mark.parametrize("give", [
    lambda x: (v**2 for v in eval("list(x)", {"x": x, "list": list})),
    lambda x: Link(eval("x[0] * x[1]", {"x": x})),
])
def test_a_result_whose_contents_have_no_cotangent_is_refused(give):
    """It would have the derivative zero."""
    with pytest.raises(DifferentiationError):
        s2s.vjp(give, np.array([1.0, 2.0]))


def test_the_cotangent_of_an_object_is_one():
    _, pullback = s2s.vjp(lambda x: [Held(eval("x[0] * x[1]", {"x": x})), x[0]], np.array([1.0, 2.0]))
    (x_bar,) = pullback([Held(3.0), 1.0])
    np.testing.assert_array_equal(x_bar, [7.0, 3.0])


def test_a_dict_holds_what_it_is_given():
    def f(x):
        given = eval("dict(rate=x[0] * x[1], power=2.0, start=float('nan'))", {"x": x, "dict": dict, "float": float})
        return dict(given, more=x[1])["rate"] ** given["power"] * given.get("more", 1.0)

    np.testing.assert_allclose(s2s.grad(f)(np.array([1.5, 2.0])), [2 * 1.5 * 4.0, 2 * 1.5**2 * 2.0])


def test_a_function_that_gives_other_results_each_time_is_refused():
    def f(x):
        return eval("x * x", {"x": x}) * np.random.default_rng().normal()

    with pytest.raises(DifferentiationError, match="another result when it runs again"):
        s2s.grad(f)(1.5)


def test_a_generator_that_is_read_cannot_be_read_again():
    def numbers():
        k = 1.0
        while True:
            yield k
            k += 1.0

    held = numbers()

    def f(x):
        return eval("x * x", {"x": x}) * next(held)

    with pytest.raises(DifferentiationError, match="reads on in a generator"):
        s2s.grad(f)(1.5)
    assert next(held) == 2.0


@types.coroutine
def pause():
    yield


async def later(x):
    await pause()
    return x * x


def test_generators_that_are_awaited():
    def f(x):
        running = later(x)
        running.send(None)
        try:
            running.send(None)
        except StopIteration as done:
            return done.value

    np.testing.assert_allclose(s2s.grad(f)(1.5), 3.0)
    assert asyncio.iscoroutinefunction(later)


class Unhashable:
    __hash__ = None

    def __init__(self):
        self.factor = 3.0


def test_functions_that_cannot_be_looked_up():
    """A weak reference has the hash of what it refers to."""
    held = Unhashable()
    ref = weakref.ref(held)

    def f(x):
        return eval("x * x", {"x": x}) * ref().factor

    np.testing.assert_allclose(s2s.grad(f)(1.5), 9.0)


class Changer:
    """Of which class an object is, the compiler does not know where it is looked up by text."""

    def swap(self, items):
        items[0], items[1] = items[1], items[0]

    def double(self, array):
        array *= 2.0


def swapped(x):
    changer = eval("Changer()", globals())
    p = list(x)
    changer.swap(p)
    return p[0] * p[1] ** 2


def shuffled(x):
    import random

    rng = random.Random(2)
    p = [x[0], x[1], x[0] * x[1]]
    rng.shuffle(p)
    return p[0] * p[1] ** 2


def doubled(x):
    changer = [Changer()][int(x[0] * 0.0)]
    a = x * 1.0
    getattr(changer, "dou" + "ble")(a)
    return a[0] * a[1] ** 2


@pytest.mark.parametrize("f", [swapped, shuffled, doubled])
def test_what_a_recorded_call_does_to_its_arguments_is_seen_by_its_caller(f):
    """The call alone, recorded with copies of its arguments, would leave the caller with what was there before."""
    x = np.array([0.4, 1.3])
    steps = 1e-6 * np.eye(2)
    expected = np.array([(f(x + s) - f(x - s)) / 2e-6 for s in steps])
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (x,))[1], expected @ x, rtol=1e-6)


def product_of(a, b, *rest):
    return a * b * sum(rest) ** 2


def test_second_derivatives_of_calls_decided_when_the_program_runs():
    def f(x):
        return product_of(*x) + np.sqrt(sum(x)) * product_of(*[v * v for v in x])

    x = np.array([0.4, 1.3, 0.9, 0.7])
    steps = 1e-5 * np.eye(4)
    expected = np.array([(s2s.grad(f)(x + s) - s2s.grad(f)(x - s)) / 2e-5 for s in steps])
    np.testing.assert_allclose(s2s.hessian(f)(x), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", [in_pieces, in_pieces_with_a_set])
@pytest.mark.parametrize("backend", ["auto", "numpy"])
def test_products_with_the_hessian_past_calls_decided_when_the_program_runs(f, backend, monkeypatch):
    monkeypatch.setenv("S2S_BACKEND", backend)
    s2s.grad(f).clear()
    x = np.array([0.7, 1.3, 0.4])
    along = np.where(x < 0.5, 2.0, 6 * x) * x
    np.testing.assert_allclose(s2s.hvp(f, (x,), (x,)), along, rtol=1e-9)
    np.testing.assert_allclose(s2s.grad(f)(x), np.where(x < 0.5, 2 * x, 3 * x**2), rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(s2s.grad(f), (x,), (x,))[1], along, rtol=1e-9)


FROM_A_COMPREHENSION = {name: lambda x, by=by: np.sum(x**by) for name, by in (("two", 2.0), ("three", 3.0))}


def test_a_lambda_in_a_comprehension_of_a_module_is_recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    x = np.array([1.5, 2.0])
    np.testing.assert_allclose(s2s.grad(FROM_A_COMPREHENSION["three"])(x), 3.0 * x**2)
