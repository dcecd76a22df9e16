"""The order in which handlers are asked for a call."""

import functools
import operator

import numpy as np
import pytest

import s2s
from s2s.core import ir
from s2s.specialize import registry
from s2s.specialize.calls import arrays, callables, functions, policy_calls
from s2s.specialize.calls.stages import Registry, always, for_types, named
from s2s.specialize.site import NOT_HANDLED, CallSite


class Compared:
    """Equal to everything: it is looked up by its type, as what has no hash is."""

    __hash__ = None

    def __eq__(self, other):
        raise AssertionError("code of the program runs while compiling")

    def __call__(self, x):
        return x


def site_of(fn):
    return CallSite(None, None, None, None, callee=ir.Const(fn), args=[], kwargs={}, fn=fn)


def asked(of, fn):
    """The names that handlers give when they are asked in turn."""
    seen = []

    def handler(name, result=NOT_HANDLED):
        def note(site):
            seen.append(name)
            return result

        return note

    of(handler).ask(site_of(fn))
    return seen


def of_stages(handler):
    return Registry(
        always(handler("first")),
        named({np.sin: handler("sin"), len: handler("len")}),
        for_types(np.ufunc, handler("ufunc")),
        for_types(type(len), handler("built-in")),
        named({np.sin: handler("sin, later", ir.Const(1))}),
        always(handler("last")),
    )


@pytest.mark.parametrize(
    ("fn", "wanted"),
    [
        (np.sin, ["first", "sin", "ufunc", "sin, later"]),
        (np.cos, ["first", "ufunc", "last"]),
        (len, ["first", "len", "built-in", "last"]),
        (max, ["first", "built-in", "last"]),
        (Compared(), ["first", "last"]),
    ],
)
def test_the_first_handler_decides(fn, wanted):
    assert asked(of_stages, fn) == wanted


def test_handlers_are_looked_up_once_for_a_type():
    tested = []

    def is_for(kind):
        tested.append(kind)
        return True

    found = Registry(registry.Stage(is_for=is_for, handler=callables.partial))
    for k in range(3):
        assert found.handlers(functools.partial(len, k)) == (callables.partial,)
    assert tested == [functools.partial]


def position(fn, handler):
    return registry.KNOWN.handlers(fn).index(handler)


@pytest.mark.parametrize(
    ("fn", "first", "second"),
    [
        (np.floor, policy_calls.by_choice, callables.with_rule_of_user),
        (np.add, callables.with_rule_of_user, arrays.into_out),
        (np.add, arrays.into_out, arrays.along_axes),
        (np.add.at, arrays.at_places, arrays.into_out),
        (np.add.reduce, arrays.into_out, arrays.method_of_ufunc),
        (operator.setitem, functions.check_kinds, arrays.changing),
        (dict, functions.record_in_rule, functions.dict_display),
        (getattr, arrays.into_out, functions.intrinsic),
    ],
)
def test_precedence(fn, first, second):
    assert position(fn, first) < position(fn, second)


def test_functions_are_asked_last():
    for fn in (np.sin, len, dict, lambda x: x, functools.partial(len)):
        assert registry.KNOWN.handlers(fn)[-1] == registry.FUNCTIONS.ask
        assert registry.FUNCTIONS.handlers(fn)[-1] == functions.as_it_is


def test_a_choice_comes_before_the_meaning_of_a_function():
    def f(x):
        with s2s.nonsmooth(floor="straight_through"):
            return np.sum(np.floor(x) * x)

    x = np.array([0.3, 1.7])
    np.testing.assert_allclose(s2s.grad(f)(x), np.floor(x) + x, rtol=1e-14)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), np.floor(x) + x, rtol=1e-14)


def test_out_without_a_name_of_a_method_that_is_written_out():
    def f(x):
        total = np.zeros(())
        np.multiply.reduce(np.sin(x), out=total)
        held = np.zeros(3)
        np.multiply(x, x, held)
        return np.sum(held) * total

    x = np.array([0.3, 1.7, 0.9])
    product = np.prod(np.sin(x))
    wanted = 2 * x * product + np.sum(x * x) * product / np.tan(x)
    np.testing.assert_allclose(s2s.grad(f)(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), wanted, rtol=1e-12)
