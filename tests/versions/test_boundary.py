"""What leaves the compiler: the errors of s2s, what the program raises, and internal errors that say so."""

import operator
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.dispatch import lookup
from s2s.errors import InternalError
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


def square(x):
    return np.sum(x * x)


# --- mistakes of s2s -------------------------------------------------------------------------------------------------


def broken(problem):
    def compiler(*_):
        raise problem

    return compiler


@pytest.mark.parametrize("problem", [AssertionError("no such node"), KeyError("y"), RuntimeError(), StopIteration()])
def test_any_other_exception_becomes_an_internal_error(monkeypatch, problem):
    monkeypatch.setattr(lookup, "run_compiler", broken(problem))
    with pytest.raises(InternalError) as info:
        s2s.grad(lambda x: np.sum(x * x * 3.0))(X)
    assert info.value.__cause__ is problem
    assert type(problem).__name__ in str(info.value)


def test_it_tells_how_it_comes_about(monkeypatch):
    def fresh(x, n=2):
        return np.sum(x) * n

    monkeypatch.setattr(lookup, "run_compiler", broken(AssertionError("no such node")))
    with pytest.raises(InternalError) as info:
        s2s.grad(fresh)(X)
    text = str(info.value)
    assert text.startswith("internal error in s2s: AssertionError: no such node [S2S901]\n")
    assert "def fresh(x, n=2):" in text and "s2s failed here (s2s.dispatch.lookup:" in text
    assert text.endswith(
        "= report:   this is a mistake of s2s: `import numpy as np, s2s; "
        "s2s.source(fresh, np.ones((3,), '<f8'), 2, mode='grad')` gives it again"
    )


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), MemoryError("full"), s2s.SearchWarning("made an error")])
def test_interrupts_a_lack_of_memory_and_warnings_pass(monkeypatch, problem):
    monkeypatch.setattr(lookup, "run_compiler", broken(problem))
    with pytest.raises(type(problem)) as info:
        s2s.grad(lambda x: np.sum(x * x * 4.0))(X)
    assert info.value is problem


def test_after_an_internal_error_all_works(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(lookup, "run_compiler", broken(AssertionError("no such node")))
        with pytest.raises(InternalError):
            s2s.grad(square)(X)
    np.testing.assert_array_equal(s2s.grad(square)(X), 2 * X)


# --- what the program raises -----------------------------------------------------------------------------------------


def too_many(x):
    def one(v):
        return v

    return one(x[0], 1)


def no_such_attribute(x):
    return np.nothing(x)


def no_such_key(x):
    return {"a": x[0]}["b"]


@pytest.mark.parametrize("f", [too_many, no_such_attribute, no_such_key], ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_what_the_program_certainly_raises_is_raised_as_it_is(f, derivative):
    with pytest.raises(Exception) as expected:
        f(X)
    with pytest.raises(type(expected.value)):
        derivative(f)(X)


def too_many_in_a_try(x):
    def one(v):
        return v

    try:
        return one(x[0], 1)
    except TypeError:
        return x[0] ** 2


def test_it_is_caught_where_the_program_catches_it():
    check(too_many_in_a_try, (X,))


# --- callables that are not written in Python ------------------------------------------------------------------------

second, both = operator.itemgetter(1), operator.itemgetter(1, 2)
transposed = operator.attrgetter("T")
total = operator.methodcaller("sum")


def by_an_item(x):
    return second(x) ** 2


def by_items(x):
    a, b = both(x)
    return a * b


def by_an_attribute(x):
    return np.sum(transposed(x) ** 2)


def by_a_method(x):
    return total(x) ** 2


def over_an_iterator(x):
    s = 0.0
    for v in iter(x):
        s = s + v * v
    return s


def over_a_kept_iterator(x):
    s, it = 0.0, iter(x)
    for v in it:
        s = s + v * v
    return s


@pytest.mark.parametrize(
    "f", [by_an_item, by_items, by_an_attribute, by_a_method, over_an_iterator, over_a_kept_iterator],
    ids=lambda f: f.__name__,
)
def test_getters_and_iterators(f):
    check(f, (X,))


# --- byte order ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", [np.max, np.min, np.ptp, np.nanmax, np.nanmean, np.mean], ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [">f8", "<f8"])
def test_numbers_in_another_byte_order(reduce, order):
    def f(x):
        return reduce(x.astype(order)) ** 2

    def plain(x):
        return reduce(x) ** 2

    np.testing.assert_allclose(s2s.grad(f)(X), s2s.grad(plain)(X), rtol=1e-15)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), s2s.grad(plain)(X), rtol=1e-15)


def test_a_rule_of_a_module_without_a_name_of_its_own(monkeypatch):
    module = types.ModuleType("<made>")
    monkeypatch.setitem(sys.modules, "<made>", module)
    exec("import s2s\n@s2s.custom_gradient\ndef square(x):\n    return x * x, lambda dy: 2.0 * x * dy\n", vars(module))
    assert s2s.grad(module.square)(3.0) == 6.0
