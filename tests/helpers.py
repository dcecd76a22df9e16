"""Compare s2s with central differences: ``check`` for a function with arguments, on which all tests rest."""

import contextlib
import inspect
import types
import zlib
from pathlib import Path

import numpy as np
import pytest

import s2s
from s2s import derivatives

ROOT = Path(__file__).resolve().parent.parent
"""Of the checkout."""


class Later:
    """A module that is imported when one of its names is first read: a test that reads one is skipped without it."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        if name.startswith("_"):  # pytest, which looks at all that a file of tests defines, asks for some
            raise AttributeError(name)
        return getattr(pytest.importorskip(self.module), name)


@contextlib.contextmanager
def jax_in_doubles():
    """Have JAX compute in float64, and afterwards as before."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield jax
    finally:
        jax.config.update("jax_enable_x64", before)


# --- trees: tuples, lists and dicts whose leaves are numbers and arrays ---------------------------


def is_float(leaf):
    """Whether a leaf can have a derivative: a float, or an array of floats."""
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind == "f"
    return isinstance(leaf, (float, np.floating))


def map_tree(function, tree):
    """The tree with ``function`` applied to every leaf."""
    if isinstance(tree, (tuple, list)):
        return type(tree)(map_tree(function, part) for part in tree)
    if isinstance(tree, dict):
        return {key: map_tree(function, part) for key, part in tree.items()}
    return function(tree)


def leaves(tree):
    """All leaves, in order."""
    found = []
    map_tree(found.append, tree)
    return found


def float_leaves(tree):
    return [leaf for leaf in leaves(tree) if is_float(leaf)]


def copy_tree(tree):
    """A copy with new arrays, in the order of memory that they have."""
    return map_tree(lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf, tree)


def widen(tree):
    """float32 as float64, so that differences can be taken."""

    def one(leaf):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
            return leaf.astype(np.float64)
        return np.float64(leaf) if isinstance(leaf, np.floating) else leaf

    return map_tree(one, tree)


def assert_same(actual, expected):
    """The same structure, types and bits."""
    assert type(actual) is type(expected), f"{type(actual)} is not {type(expected)}"
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_same(actual[key], expected[key])
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert actual.dtype == expected.dtype and actual.shape == expected.shape
        assert np.array_equal(actual, expected, equal_nan=expected.dtype.kind == "f")
    elif is_float(expected):
        assert actual == expected or (actual != actual and expected != expected)
    elif not callable(expected):
        assert actual == expected


# --- central differences --------------------------------------------------------------------------

STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))  # sixth order


def differences(phi, tree, step=1e-3):
    """The gradient of ``phi(tree)``, a float, as a tree like ``tree``, ``None`` where a leaf is no float."""

    def of_leaf(position, leaf):
        if not is_float(leaf):
            return None
        flat = np.asarray(leaf, dtype=np.float64).ravel()
        result = np.zeros(flat.shape)
        for k, value in enumerate(flat):
            h = step * max(abs(value), 0.1)
            for multiple, weight in STENCIL:
                up = phi(moved(tree, position, k, multiple * h))
                down = phi(moved(tree, position, k, -multiple * h))
                result[k] += weight * (up - down) / h
        return result.reshape(np.shape(leaf))

    count = iter(range(len(leaves(tree))))
    return map_tree(lambda leaf: of_leaf(next(count), leaf), tree)


def moved(tree, position, k, amount):
    """The tree with element ``k`` of the leaf at ``position`` changed by ``amount``, its kind kept."""

    def one(leaf):
        if next(count) != position:
            return leaf
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(leaf + amount)
        changed = leaf.copy(order="K")
        changed.flat[k] += amount
        return changed

    count = iter(range(len(leaves(tree))))
    return map_tree(one, tree)


def inner(cotangent, value):
    """The inner product over the float leaves of two trees of one structure."""
    pairs = zip(leaves(cotangent), leaves(value), strict=True)
    return float(sum(np.sum(np.asarray(c, np.float64) * v) for c, v in pairs if is_float(v)))


def assert_gradient(gradient, primal, expected, rtol, scale=1.0):
    """``gradient`` mirrors ``primal`` in structure, shape and dtype, and agrees with ``expected``."""
    if isinstance(primal, (tuple, list)):
        assert type(gradient) is type(primal) and len(gradient) == len(primal)
        for g, p, e in zip(gradient, primal, expected):
            assert_gradient(g, p, e, rtol, scale)
    elif isinstance(primal, dict):
        assert type(gradient) is dict and set(gradient) == set(primal)
        for key in primal:
            assert_gradient(gradient[key], primal[key], expected[key], rtol, scale)
    elif is_float(primal):
        assert np.shape(gradient) == np.shape(primal), f"shape {np.shape(gradient)} for {np.shape(primal)}"
        assert np.asarray(gradient).dtype.kind == "f"
        if isinstance(primal, (np.ndarray, np.generic)):
            assert gradient.dtype == primal.dtype, f"dtype {gradient.dtype} for {primal.dtype}"
        if isinstance(primal, float):
            assert isinstance(gradient, float), f"{type(gradient)} for a float"
        if np.ndim(primal):
            assert isinstance(gradient, np.ndarray)
        scale = max([scale, *np.abs(np.ravel(expected))])
        np.testing.assert_allclose(gradient, expected, rtol=rtol, atol=0.01 * rtol * scale)


# --- the check ------------------------------------------------------------------------------------


def active_positions(args):
    """The positions of the arguments that hold a float: one position, or a tuple of several."""
    positions = tuple(i for i, arg in enumerate(args) if float_leaves(arg))
    return positions[0] if len(positions) == 1 else positions


def locate(f, args, kwargs, argnum):
    """The argument that an argnum means: its position, or its name where it is passed by keyword."""
    if isinstance(argnum, str) and argnum not in kwargs:
        return list(inspect.signature(f).parameters).index(argnum)
    return argnum


def numerical(f, args, kwargs, argnums, cotangent, step=1e-3):
    """What ``cotangent`` is pulled back to, for each of the tuple ``argnums``, by central differences."""
    args, kwargs = widen(args), widen(kwargs)

    def gradient(place):
        def phi(value):
            if isinstance(place, str):
                return inner(cotangent, f(*args, **{**kwargs, place: value}))
            return inner(cotangent, f(*args[:place], value, *args[place + 1 :], **kwargs))

        return differences(phi, kwargs[place] if isinstance(place, str) else args[place], step)

    with np.errstate(all="ignore"):
        return tuple(gradient(locate(f, args, kwargs, argnum)) for argnum in argnums)


def random_cotangent(value, seed=0):
    """A cotangent like ``value``; zeros for integers, ``None`` for what is no number."""
    rng = np.random.default_rng(seed)

    def one(leaf):
        if not is_float(leaf):
            return leaf * 0 if isinstance(leaf, (int, np.integer, np.ndarray)) else None
        drawn = rng.normal(size=np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(drawn, leaf.dtype)
        return type(leaf)(drawn)

    return map_tree(one, value)


def check_tangent(f, args, pulled, cotangent, value, rtol, scale):
    """``jvp`` of ``f`` along a random direction: the value, bit for bit; a tangent like it; and the pairing with a
    cotangent that reverse mode or differences give, ``pulled`` per position."""
    direction = tuple(random_cotangent(arg, seed=5) if place in pulled else None for place, arg in enumerate(args))
    given = copy_tree(tuple(d for d in direction if d is not None))
    out, tangent = s2s.jvp(f, args, direction)
    assert_same(out, value)
    assert_same(tuple(d for d in direction if d is not None), given)
    assert_like(tangent, value)
    wanted = sum(inner(pulled[place], direction[place]) for place in pulled)
    size = max([scale, *(abs(inner(pulled[place], direction[place])) for place in pulled)])
    np.testing.assert_allclose(inner(cotangent, tangent), wanted, rtol=10 * rtol, atol=rtol * size)


def assert_like(tangent, value):
    """The structure, shapes and dtypes of a value, for its floats."""
    if isinstance(value, (tuple, list)):
        assert type(tangent) is type(value) and len(tangent) == len(value)
        for t, v in zip(tangent, value):
            assert_like(t, v)
    elif isinstance(value, dict):
        assert list(tangent) == list(value)
        for key in value:
            assert_like(tangent[key], value[key])
    elif is_float(value):
        assert np.shape(tangent) == np.shape(value)
        if isinstance(value, (np.ndarray, np.generic)):
            assert isinstance(tangent, np.ndarray) == isinstance(value, np.ndarray)
            assert np.asarray(tangent).dtype == value.dtype


def check(f, args, argnums=None, rtol=1e-6, kwargs=None, expected=None):
    """``vjp``, ``jvp``, and ``grad`` or ``value_and_grad`` of ``f`` against central differences or ``expected``.
    The name decides between those two: of many functions about half have either.

    Checks values, structure, shapes and dtypes; that the value is the function's own, bit for bit; that the
    arguments come back as they were; and that a second call gives the same bits. ``expected`` is a function
    of the arguments that returns the gradients, one per argnum, for a cotangent of one.
    """
    kwargs = kwargs or {}
    argnums = active_positions(args) if argnums is None else argnums
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    places = [locate(f, args, kwargs, argnum) for argnum in wanted]
    primals = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    before, kwargs_before = copy_tree(args), copy_tree(kwargs)
    with np.errstate(all="ignore"):
        value = f(*args, **kwargs)
        scale = max([1.0, *(float(np.max(np.abs(leaf), initial=0.0)) for leaf in float_leaves(value))])

        if is_float(value) and np.ndim(value) == 0:
            one = expected(*args, **kwargs) if expected else numerical(f, args, kwargs, wanted, 1.0)
            name = getattr(f, "__qualname__", type(f).__qualname__)
            if zlib.crc32(name.encode()) % 2:
                gradient = s2s.grad(f, argnums=argnums)
                result, second = gradient(*args, **kwargs), gradient(*args, **kwargs)
                assert_same(second, result)
            else:
                joint_value, result = s2s.value_and_grad(f, argnums=argnums)(*args, **kwargs)
                assert_same(joint_value, value)
            result = result if isinstance(argnums, tuple) else (result,)
            assert isinstance(result, tuple) and len(result) == len(wanted)
            for g, p, e in zip(result, primals, one):
                assert_gradient(g, p, e, rtol, scale)

        if not kwargs:
            cotangent = random_cotangent(value)
            if expected:
                pulled = map_tree(lambda leaf: leaf * cotangent, expected(*args))
            else:
                pulled = numerical(f, args, kwargs, wanted, cotangent)
            out, pullback = s2s.vjp(f, *args)
            assert_same(out, value)
            first, second = pullback(cotangent), pullback(cotangent)
            assert isinstance(first, tuple) and len(first) == len(args)
            for place, p, e in zip(places, primals, pulled):
                assert_gradient(first[place], p, e, rtol, scale)
                assert_same(second[place], first[place])
            if all(isinstance(place, int) for place in places):
                check_tangent(f, args, dict(zip(places, pulled)), cotangent, value, rtol, scale)

    assert_same(args, before)
    assert_same(kwargs, kwargs_before)


def assert_same_without(case, setting, monkeypatch):
    """The pullback, or gradient, of a case of the bank is what it is with all passes where some are switched off."""
    argnums = active_positions(case.args) if case.argnums is None else case.argnums

    def pulled():
        with np.errstate(all="ignore"):
            if case.kwargs:
                return s2s.grad(case.f, argnums=argnums)(*case.args, **case.kwargs)
            out, pullback = s2s.vjp(case.f, *case.args)
            return pullback(random_cotangent(out))

    wanted = pulled()
    with monkeypatch.context() as patch:
        patch.setenv("S2S_PASSES", setting)
        found = pulled()
    for one, other in zip(float_leaves(found), float_leaves(wanted), strict=True):
        assert np.shape(one) == np.shape(other) and np.result_type(one) == np.result_type(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14 * max(1.0, np.max(np.abs(other), initial=0.0)))


def check_inputs(case):
    """A case of the bank can be checked: it runs, is finite, changes nothing, and is smooth nearby."""
    before = copy_tree(case.args)
    argnums = active_positions(case.args) if case.argnums is None else case.argnums
    argnums = argnums if isinstance(argnums, tuple) else (argnums,)
    assert argnums, "nothing to differentiate"
    with np.errstate(all="ignore"):
        value = case.f(*case.args, **case.kwargs)
    assert_same(case.args, before)
    assert all(np.all(np.isfinite(leaf)) for leaf in float_leaves(value))
    if case.expected:
        assert len(case.expected(*case.args, **case.kwargs)) == len(argnums)
        return
    cotangent = random_cotangent(value)
    coarse = numerical(case.f, case.args, case.kwargs, argnums, cotangent, 1e-3)
    fine = numerical(case.f, case.args, case.kwargs, argnums, cotangent, 2e-4)
    for c, f in zip(leaves(coarse), leaves(fine), strict=True):
        if f is not None:
            assert np.all(np.isfinite(f))
            scale = max([1.0, *np.abs(np.ravel(f))])
            np.testing.assert_allclose(c, f, rtol=1e-7, atol=1e-8 * scale)


# --- functions of one array ------------------------------------------------------------------------------------------


def check_of_array(f, x, gradient, forward, second=None, value=1e-12, step=1e-3):
    """Hold the value, both modes and, with ``second``, a product with the Hessian of a function of one array against
    differences. Tolerances are pairs, relative and absolute; that of the value is relative."""
    found, reverse = s2s.value_and_grad(f)(x)
    np.testing.assert_allclose(found, f(x), rtol=value)
    _assert_close(reverse, differences(f, x, step), gradient)
    _assert_close(s2s.jacfwd(f)(x), reverse, forward)
    if second is not None:
        v = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
        pushed = (s2s.grad(f)(x + 1e-4 * v) - s2s.grad(f)(x - 1e-4 * v)) / 2e-4
        _assert_close(s2s.hvp(f, (x,), (v,)), pushed, second)


def _assert_close(actual, expected, tolerance):
    np.testing.assert_allclose(actual, expected, rtol=tolerance[0], atol=tolerance[1])


def has_newer_scipy():
    """Whether SciPy is of version 1.18 or later, which is written for any array module in more places."""
    import scipy

    return tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)


# --- tests that change rules ----------------------------------------------------------------------


def derivatives_of(module):
    """The derivatives of the functions of a test module, by its name, and of what has no Python code."""
    return [one for one in list(derivatives._made) if _is_of(derivatives._origin_of(one), module)]


def _is_of(function, module):
    return not isinstance(function, types.FunctionType) or function.__module__ == module


def forget_derivatives(module):
    """Forget what was compiled for the functions of a test module, whose tests give them other rules."""
    derivatives.clear(*derivatives_of(module))
