"""A function that writes into arrays has the gradient of the same function without a store.

What is compared: the values of the two forms, without s2s; the gradients of both with central differences of the pure
form, by ``grad`` where the result is a number and by ``vjp`` always; bits of repeated calls; and the arguments, which
come back as they were given.
"""

import numpy as np
import pytest

import s2s
from tests.helpers import (
    active_positions,
    assert_gradient,
    assert_same,
    copy_tree,
    float_leaves,
    is_float,
    leaves,
    map_tree,
    numerical,
    random_cotangent,
)
from tests.inplace import load

PAIRS = load()
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def argnums_of(args):
    positions = active_positions(args)
    return positions if isinstance(positions, tuple) else (positions,)


def close(found, wanted, rtol):
    """Two results have one structure, and numbers that agree."""
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def frozen(cotangent):
    return map_tree(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, cotangent)


def reverse_mode(f, args, cotangent):
    """The value and the cotangents of the arguments by ``vjp``, asked for twice, of two pullbacks."""
    before, given = copy_tree(args), frozen(cotangent)
    results = []
    for _ in range(2):
        out, pullback = s2s.vjp(f, *args)
        value = copy_tree(out)
        assert_same(args, before)
        results += [(value, copy_tree(pullback(cotangent))) for _ in range(2)]
        assert_same(args, before)
        assert_same(cotangent, given)
        assert_same(out, value)
    for value, pulled in results[1:]:
        assert_same(value, results[0][0])
        for a, b in zip(pulled, results[0][1]):
            assert_same(a, b)
    return results[0]


def by_grad(f, args, argnums):
    """The gradients by ``grad``, called twice."""
    before = copy_tree(args)
    gradient = s2s.grad(f, argnums=argnums)
    first = copy_tree(gradient(*args))
    assert_same(args, before)
    assert_same(copy_tree(gradient(*args)), first)
    assert_same(args, before)
    return first


MODES = {"reverse": reverse_mode}
"""By name, what computes the value and the cotangents of the arguments from a cotangent of the result."""


@each_pair
def test_forms_agree(pair):
    """The pure form is a rewriting: the same values, here and nearby, and nothing it is given changes."""
    for scale in (1.0, 1.001):
        args = map_tree(lambda leaf: leaf * leaf.dtype.type(scale) if is_array(leaf) else leaf, pair.args)
        given = copy_tree(args)
        wanted = pair.pure(*args)
        assert_same(args, given)
        found = pair.mutating(*args)
        close(found, wanted, pair.rtol if pair.rtol > 1e-6 else 1e-12)


def is_array(leaf):
    return isinstance(leaf, np.ndarray) and is_float(leaf)


@each_pair
def test_pure_form_is_smooth(pair):
    """Central differences of two widths agree: no kink and no other path near the sample."""
    args, argnums = pair.args, argnums_of(pair.args)
    cotangent = random_cotangent(pair.pure(*copy_tree(args)))
    coarse = numerical(pair.pure, args, {}, argnums, cotangent, 1e-3)
    fine = numerical(pair.pure, args, {}, argnums, cotangent, 3e-4)
    for c, f in zip(leaves(coarse), leaves(fine), strict=True):
        if f is not None:
            assert np.all(np.isfinite(f))
            np.testing.assert_allclose(c, f, rtol=1e-7, atol=1e-7 * max([1.0, *np.abs(np.ravel(f))]))


@each_pair
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["mutating", "pure"])
def test_gradient(pair, form, mode):
    f, args, argnums = getattr(pair, form), pair.args, argnums_of(pair.args)
    expected_value = pair.pure(*copy_tree(args))
    cotangent = random_cotangent(f(*copy_tree(args)))
    scale = max([1.0, *(float(np.max(np.abs(leaf), initial=0.0)) for leaf in float_leaves(expected_value))])
    value, pulled = MODES[mode](f, args, cotangent)
    close(value, expected_value, pair.rtol if pair.rtol > 1e-6 else 1e-12)
    wanted = numerical(pair.pure, args, {}, argnums, cotangent)
    for place, want in zip(argnums, wanted):
        assert_gradient(pulled[place], args[place], want, pair.rtol, scale)
    if is_float(value) and np.ndim(value) == 0:
        wanted = numerical(pair.pure, args, {}, argnums, 1.0)
        for place, got, want in zip(argnums, by_grad(f, args, argnums), wanted):
            assert_gradient(got, args[place], want, pair.rtol, scale)
