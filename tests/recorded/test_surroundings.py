"""A recorded call changes what it changes once, though the function runs again to be held against differences."""

import collections
import contextvars
import decimal
import functools
import io
import itertools
import os
import random
import types
from array import array as typed_array

import numpy as np
import pytest

import s2s
from s2s.recorded.surroundings import Surroundings


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


COUNT = 0
LOG, SEEN, KNOWN, QUEUE = [], set(), {}, collections.deque()
TABLE = np.zeros(3)


class Model:
    made = 0

    def __init__(self):
        self.calls = 0
        self.last = None
        self.draws = np.random.default_rng(5)


class Slotted:
    __slots__ = ("calls",)

    def __init__(self):
        self.calls = 0


class Books(dict):
    pass


MODEL, SLOTTED, BOOKS = Model(), Slotted(), Books()


def global_variable(x):
    global COUNT
    COUNT += 1
    return x**2, lambda: COUNT


def containers(x):
    LOG.append(1)
    SEEN.add(len(SEEN))
    KNOWN[len(KNOWN)] = 1
    QUEUE.append(1)
    BOOKS[len(BOOKS)] = 1
    return x**2, lambda: (len(LOG), len(SEEN), len(KNOWN), len(QUEUE), len(BOOKS))


def array(x):
    TABLE[0] += 1.0
    return x**2, lambda: TABLE[0]


def attributes(x):
    MODEL.calls += 1
    Model.made += 1
    SLOTTED.calls += 1
    attributes.calls = getattr(attributes, "calls", 0) + 1
    return x**2, lambda: (MODEL.calls, Model.made, SLOTTED.calls, attributes.calls)


@functools.cache
def counter():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x**2, lambda: count

    return f


@pytest.mark.parametrize("f", [global_variable, containers, array, attributes, counter()])
def test_effects_happen_once(f):
    seen = np.asarray(f(1.0)[1]())
    value, gradient = s2s.value_and_grad(lambda x: f(x)[0])(1.5)
    assert (value, gradient) == (2.25, 3.0)
    np.testing.assert_array_equal(np.asarray(f(1.0)[1]()), seen + 2)


def test_what_a_function_draws_and_keeps_is_drawn_once():
    random.seed(3)
    np.random.seed(3)
    other = np.random.default_rng(5)
    MODEL.draws = np.random.default_rng(5)
    wanted = other.normal(), random.Random(3).random(), np.random.RandomState(3).normal()

    def f(x):
        return x * MODEL.draws.normal() + x * random.random() + x * np.random.normal()

    np.testing.assert_allclose(s2s.grad(f)(2.0), sum(wanted))
    assert MODEL.draws.normal() == other.normal()


def test_a_function_runs_again_from_the_state_in_which_it_was_called():
    """A cache that the recorded run fills would be found by those that are to test it."""
    MODEL.last = None

    def f(x):
        if MODEL.last is None:
            MODEL.last = x**3
        return MODEL.last

    np.testing.assert_allclose(s2s.grad(f)(2.0), 12.0)
    assert float(MODEL.last) == 8.0


RUNS = contextvars.ContextVar("RUNS", default=0)


def environment(x):
    runs = int(os.environ.get("RUNS_OF_A_TEST", "0"))
    os.environ["RUNS_OF_A_TEST"] = str(runs + 1)
    return x**3 * (2.0 if runs == 0 else 5.0)


def decimals(x):
    decimal.getcontext().prec += 1
    return x**3 * (2.0 if decimal.getcontext().prec == 12 else 5.0)


def context_variable(x):
    runs = RUNS.get()
    RUNS.set(runs + 1)
    return x**3 * (2.0 if runs == 0 else 5.0)


def errors_of_numpy(x):
    is_first = np.geterr()["under"] == "ignore"
    np.seterr(under="raise")
    return x**3 * (2.0 if is_first else 5.0)


@pytest.mark.parametrize("f", [environment, decimals, context_variable, errors_of_numpy])
def test_what_holds_for_the_whole_program_is_set_back_and_changed_once(f, monkeypatch):
    monkeypatch.setenv("RUNS_OF_A_TEST", "0")

    def run():
        with decimal.localcontext() as context, np.errstate(under="ignore"):
            context.prec = 11
            value, gradient = s2s.value_and_grad(f)(1.5)
            np.testing.assert_allclose((value, gradient), (6.75, 13.5))
            assert changed(f)

    contextvars.copy_context().run(run)


def changed(f):
    """Whether the surroundings are as after one run."""
    held = {
        environment: lambda: os.environ["RUNS_OF_A_TEST"] == "1",
        decimals: lambda: decimal.getcontext().prec == 12,
        context_variable: lambda: RUNS.get() == 1,
        errors_of_numpy: lambda: np.geterr()["under"] == "raise",
    }
    return held[f]()


def test_objects_passed_are_set_back():
    model = Model()

    def f(x, model):
        model.calls += 1
        model.last = [model.calls]
        return x * model.calls

    np.testing.assert_allclose(s2s.grad(f)(2.0, model), 1.0)
    np.testing.assert_allclose(s2s.grad(f)(2.0, model), 2.0)
    assert (model.calls, model.last) == (2, [2])


def test_what_is_not_there_yet_goes():
    class Empty:
        pass

    empty, items = Empty(), [1, [2], np.arange(3.0)]
    around = Surroundings([empty, items])
    empty.new, items[1], Empty.other = 1, 5, 2
    items[2][1] = 7.0
    after = around.now()
    around.put(around.before)
    assert vars(empty) == {} and items[1] == [2] and items[2][1] == 1.0 and not hasattr(Empty, "other")
    around.put(after)
    assert empty.new == 1 and items[1] == 5 and Empty.other == 2 and items[2][1] == 7.0


def test_a_kink_has_the_slope_of_either_side():
    assert s2s.grad(lambda x: np.maximum(x, 2.0 * x))(0.0) in (1.0, 1.5, 2.0)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(np.abs(x)))(np.array([0.0, -1.0]))[1], -1.0)


def test_ordered_dicts_keep_their_order():
    held = collections.OrderedDict(a=1.0, b=2.0)
    held.move_to_end("a")

    def f(x):
        held["c"] = 1.0
        held.move_to_end("b")
        return x**2 * held.popitem(last=False)[1]

    np.testing.assert_allclose(s2s.grad(f)(1.5), 3.0)
    assert [*held.items()] == [("c", 1.0), ("b", 2.0)]


def test_variables_of_modules_are_set_once():
    settings = types.ModuleType("settings")
    settings.calls = 0

    def f(x):
        settings.calls += 1
        return x**2 * settings.calls

    np.testing.assert_allclose(s2s.grad(f)(1.5), 3.0)
    assert settings.calls == 1


def test_modules_that_lead_to_each_other():
    package, module = types.ModuleType("package"), types.ModuleType("package.module")
    package.module, module.package, module.calls = module, package, 0

    def f(x):
        package.module.package.module.calls += 1
        return x**2 * module.calls

    np.testing.assert_allclose(s2s.grad(f)(1.5), 3.0)
    np.testing.assert_allclose(s2s.jvp(f, (1.5,), (1.0,))[1], 6.0)
    assert module.calls == 2


def test_memory_and_streams_are_written_once():
    items, text, memory, log = typed_array("d", [1.0]), bytearray(b"a"), np.zeros(1), io.StringIO()

    def f(x):
        items.append(2.0)
        text.append(98)
        memory.resize(memory.size + 1, refcheck=False)
        log.write("called\n")
        return x**2 * len(items) * len(text)

    np.testing.assert_allclose(s2s.grad(f)(1.5), 12.0)
    assert (items.tolist(), bytes(text), memory.shape, log.getvalue()) == ([1.0, 2.0], b"ab", (2,), "called\n")


def _chained():
    made = itertools.chain([1.0, 2.0], [3.0, 4.0])
    next(made)
    return made


@pytest.mark.parametrize("make", [
    lambda: itertools.count(2), lambda: itertools.cycle([2.0, 3.0, 4.0]), lambda: iter([2.0, 3.0, 4.0]), _chained,
    lambda: map(float, (2, 3, 4)), lambda: zip([2.0, 3.0]), lambda: iter({2.0: 1, 3.0: 1}), lambda: iter(range(2, 9)),
    lambda: itertools.islice([1.0, 2.0, 3.0, 4.0], 1, 4),
])
def test_iterators_are_read_once(make):
    """They cannot be set back: what runs again has copies."""
    held = make()

    def f(x):
        factor = next(held)
        return x**2 * (factor[0] if isinstance(factor, tuple) else factor)

    np.testing.assert_allclose(s2s.grad(f)(1.5), 6.0)
    assert next(held) in (3, (3.0,))


class Draws(random.Random):
    """A generator with an initialisation of its own, which has given it no state of ``gauss``."""

    def __init__(self, seed):
        self.count = seed


def test_generators_of_own_classes():
    draws = Draws(3)
    places = Surroundings([draws])
    wanted = [draws.random(), draws.random()]
    places.put_before()
    assert wanted == [draws.random(), draws.random()]
    other = random.Random(3)
    places = Surroundings([other])
    wanted = [other.gauss(0.0, 1.0) for _ in range(3)]
    places.put_before()
    assert wanted == [other.gauss(0.0, 1.0) for _ in range(3)]
    np.testing.assert_allclose(s2s.grad(lambda x: x * draws.random() * 0.0 + np.sin(x))(0.3), np.cos(0.3))
