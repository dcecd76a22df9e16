"""Cotangents as an expert writes them: masks that complete each other, constants that need no spreading, dimensions
that an index only added. Each gradient is right by differences, to second order, and in float32."""

import operator

import numpy as np
import pytest

import s2s
from s2s.core import ir
from s2s.reverse import user_rules

X = np.array([0.4, -1.2, 0.9])
M = np.arange(6.0).reshape(3, 2) + 1.0


def outer_product(x):
    return np.sum(x[:, None] * M)


def distances(x):
    return np.sum((x[:, None] - x[None, :]) ** 2 * np.arange(9.0).reshape(3, 3))


def leading_and_trailing(x):
    return np.sum(x[None] * 2.0) + np.sum(x[..., None] ** 2)


def only_widened(x):
    return np.sum(x[:, None])


def twice_widened(x):
    return np.sum(np.sin(x[:, np.newaxis, None]) * M[:, :, None]) + np.sum(M[:, None, :] * x[:, None, None])


def read_in_other_ways(x):
    y = np.sin(x)
    a = y[:, None]
    return np.sum(a * M) + y[0] * np.sum(y[None] ** 2) + np.sum(y[1:])


def view_that_changes(x):
    a = x.copy()
    b = a[:, None]
    b[0] = x[1] ** 2
    return np.sum(a * np.arange(3.0)) + np.sum(b**3)


def widened_and_changed(x):
    y = x[:, None]
    y = y * 2.0
    y += x[:, None]
    return np.sum(y * M)


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + np.sum(x[:, None] * M[i]) * x[i]
    return total


def both_sides(x):
    return np.sum(np.where(x > 0.0, x**2, np.exp(x)) * x)


def two_constants(x):
    return np.sum(np.where(x > 0.0, 2.0 * x, 3.0 * x)) + np.sum(np.where(x > 0.5, x, -x))


def broadcast_sides(x):
    return np.sum(np.where((x > 0.0)[:, None], x[:, None], M * x[:, None]))


def quotients(x):
    b = np.exp(x)
    return np.sum((x / np.sum(b)) ** 2 + np.sin(x) / b) + np.sum(M / b[:, None]) ** 2


def reciprocals(x):
    return np.sum(x / (1.0 + np.exp(-x))) + np.sum(1 / (1 / (2.0 + x) ** 2) * M[:, 0])


def masks_with_signs(x):
    y = np.where(x > 0.0, x**2, 0.0)
    return np.sum((y[1:] - y[:-1]) ** 2 * x[1:]) + np.sum(np.where(x > 0.0, 0.0, x - y) * x - y)


def numbers_and_arrays(x):
    scale = 1.0 / (1.0 + x[0] ** 2)
    return scale * np.sum((2.0 * x) ** 2) + np.mean(x**2) - np.sum(np.sqrt(1.0 + x * x))


def spread_numbers(x):
    return np.sum(np.where(np.abs(x) < 0.5, 0.5 * x**2, x[1] * (np.abs(x) - 0.25)))


PROGRAMS = [
    outer_product, distances, leading_and_trailing, only_widened, twice_widened, read_in_other_ways, view_that_changes,
    widened_and_changed, in_a_loop, both_sides, two_constants, broadcast_sides, quotients, reciprocals,
    masks_with_signs, numbers_and_arrays, spread_numbers,
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    s2s.check_grads(f, (X,), order=2)
    np.testing.assert_allclose(s2s.hessian(f)(X), s2s.jacrev(s2s.grad(f))(X), atol=1e-12)
    narrow = s2s.grad(f)(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, s2s.grad(f)(X), rtol=1e-4)


def reverse_of(f):
    return s2s.source(f, X).partition("# reverse sweep")[2]


def test_masks_that_complete_each_other_are_one_choice():
    def select(x):
        return np.sum(np.where(x > 0.0, x * M[:, 0], x**2))

    assert "x_bar = np.where(x > 0.0, M[:, 0], 2 * x)" in reverse_of(select)


def test_a_constant_is_not_spread_for_a_factor_of_its_shape():
    def roots(x):
        return np.sum(np.where(x > 0.0, np.sqrt(np.abs(x)), 0.0))

    assert "broadcast_to" not in reverse_of(roots)


def test_the_sum_for_a_divisor_is_divided():
    def shares(x):
        return np.sum(M / np.sum(x * M, axis=1, keepdims=True) * np.sin(M))

    def sigmoid(x):
        return np.sum(1.0 / (1.0 + np.exp(-x)))

    assert "/" not in reverse_of(sigmoid).partition("(-x)))\n")[2]
    s2s.check_grads(shares, (np.ones((3, 2)),), order=2)
    assert "np.einsum" in s2s.source(shares, np.ones((3, 2)))


def test_a_divisor_that_is_zero_where_it_is_not_chosen():
    def rows(x):
        return np.sum(np.where((x != 0.0)[:, None], M / x[:, None], 0.0) * M)

    x = np.array([2.0, 0.0, -0.5])
    with np.errstate(all="ignore"):
        found = s2s.grad(rows)(x)
    np.testing.assert_allclose(found, [-5.0 / 4.0, 0.0, -61.0 * 4.0])


def test_numbers_are_multiplied_before_arrays():
    assert "2.0 / x.size * x" in reverse_of(lambda x: np.mean(x**2))
    assert "-(x / np.sqrt(1.0 + x * x))" in reverse_of(lambda x: -np.sum(np.sqrt(1.0 + x * x)))


def test_signs_stay_outside_of_masks():
    def limited(x):
        flux = np.where(x > 0.0, x**2, 0.0)
        return np.sum((flux[1:] - flux[:-1]) ** 3)

    assert "np.where" in reverse_of(limited) and ", -" not in reverse_of(limited)


def test_what_an_index_added_is_taken_away():
    assert "zeros_like" not in reverse_of(outer_product) + reverse_of(distances)
    assert "x_bar = np.sum(M, axis=1)" in reverse_of(outer_product)
    assert "np.full_like(x, 1.0)" in reverse_of(only_widened)


def test_what_is_not_finite_on_the_other_side_stays_there():
    def logs(x):
        return np.sum(np.where(x > 0.0, np.log(x) * x, x / (x - 1.0)) * 2.0)

    x = np.array([2.0, 0.0, 1.0, -1.0])
    with np.errstate(all="ignore"):
        found = s2s.grad(logs)(x)
    np.testing.assert_allclose(found, [2.0 * (np.log(2.0) + 1.0), -2.0, 2.0, -0.5], rtol=1e-13)


FLAG = np.array([1.0])


def test_what_is_not_chosen_does_not_leak_where_the_kind_of_the_condition_is_not_known():
    def f(v, u):
        w = v if FLAG[0] > 0.0 else None
        return np.sum(np.where(w > 0, u * np.log(v) / v * np.exp(np.sqrt(v)), u * v))

    v, d = np.array([-0.5, 0.7]), 1e-6
    with np.errstate(invalid="ignore"):
        v_bar, u_bar = s2s.grad(f, argnums=(0, 1))(v, 1.3)
        tangents = s2s.jacfwd(f, argnums=(0, 1))(v, 1.3)
        expected = [(f(v + e, 1.3) - f(v - e, 1.3)) / (2 * d) for e in np.eye(2) * d]
        by_u = (f(v, 1.3 + d) - f(v, 1.3 - d)) / (2 * d)
    for found in ((v_bar, u_bar), tangents):
        np.testing.assert_allclose(found[0], expected, rtol=1e-7)
        np.testing.assert_allclose(found[1], by_u, rtol=1e-7)


def test_what_is_not_chosen_does_not_leak_where_the_kind_of_a_side_is_not_known():
    def f(v, u):
        w = np.sqrt(v) * u if FLAG[0] > 0.0 else None
        return np.sum(np.where(v > 0, w, 0.0) * np.ones((3, 1)))

    v, u = np.array([0.0, 0.7]), 1.3
    with np.errstate(divide="ignore", invalid="ignore"):
        v_bar, u_bar = s2s.grad(f, argnums=(0, 1))(v, u)
        tangents = s2s.jacfwd(f, argnums=(0, 1))(v, u)
    for found in ((v_bar, u_bar), tangents):
        np.testing.assert_allclose(found[0], [0.0, 1.5 * u / np.sqrt(0.7)], rtol=1e-12)
        np.testing.assert_allclose(found[1], 3.0 * np.sqrt(0.7), rtol=1e-12)


def quotients_that_change(x):
    y = x / np.sum(x)
    y[0] = y[1]
    y[2] *= 3.0
    divisor = x[:1] * 2.0
    z = y / divisor
    divisor[0] = x[1]
    return np.sum(y**2) + np.sum(z**2) + divisor[0]


def test_quotients_by_what_is_stretched_are_read_as_they_were():
    x, d = np.array([0.6, 1.1, -0.4]), 1e-6
    expected = [(quotients_that_change(x + e) - quotients_that_change(x - e)) / (2 * d) for e in np.eye(3) * d]
    np.testing.assert_allclose(s2s.grad(quotients_that_change)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(quotients_that_change)(x), expected, rtol=1e-7)


def test_a_multiple_of_what_is_there_keeps_nothing_else():
    """The product that three places get is the one that is doubled, so no copy of the array is kept for that."""
    def heat(x):
        u = x.copy()
        for _ in range(2):
            u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(u**3)

    x = np.cos(np.arange(7.0))
    s2s.check_grads(heat, (x,), order=2)
    assert "np.copy" not in s2s.source(heat, x)


def test_views_and_arithmetic_are_cheap_to_compute_again():
    """A function that gives its gradient runs once for both only where something else would run twice."""
    cheap = (np.transpose, np.swapaxes, np.squeeze, np.reshape, np.ravel, np.sin, np.shape, operator.mul)
    for function in (*cheap, np.sum, np.dot, np.linalg.inv, np.cumsum, np.array):
        assert user_rules._is_cheap(ir.Call(ir.Const(function), (ir.Const(1.0),))) is (function in cheap)
    assert user_rules._is_cheap(ir.Const(1.0))
