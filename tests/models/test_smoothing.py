"""Splines that FITPACK fits, against fits whose smoothing is found to rounding, with the knots that FITPACK has chosen.

FITPACK itself leaves over a part of ``s`` that is right to a thousandth: differences of what it gives are no better.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate, optimize

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import differences

X = np.linspace(0.0, 3.0, 25) ** 1.2
Y = np.sin(2.0 * X) + 0.1 * np.random.default_rng(0).normal(size=25)
W = 1.0 + 0.5 * np.cos(np.arange(25.0))
AT = np.array([0.3, 1.1, 2.5])


def jumps(t, k):
    """The jumps of the k-th derivatives of all B-splines at the inner knots, by their derivatives on both sides."""
    n = len(t) - k - 1
    made = np.zeros((n - k - 1, n))
    for i in range(n):
        slope = interpolate.BSpline(t, np.eye(n)[i], k).derivative(k)
        for j in range(k + 1, n):
            made[j - k - 1, i] = slope((t[j] + t[j + 1]) / 2) - slope((t[j] + t[j - 1]) / 2)
    return made


def reference(x, y, w, k, s):
    """A smoothing fit of points, a column of ``y`` for each coordinate, as a function of what is differentiated."""
    one = y.shape[1] == 1
    found = interpolate.splrep(x, y[:, 0], w, k=k, s=s) if one else interpolate.splprep(list(y.T), w, x, k=k, s=s)[0]
    places = [int(np.argmin(np.abs(x - knot))) for knot in found[0][k + 1 : len(found[0]) - k - 1]]

    def left(c, t):
        return np.sum((w[:, None] * (interpolate.BSpline(t, c, k)(x) - y)) ** 2)

    c_found = np.stack([found[1][: len(found[0]) - k - 1]] if one else found[1], axis=1)
    ratio = left(c_found, found[0]) / s

    def fit(x, y, w, s):
        t = np.concatenate([np.full(k + 1, x[0]), x[places], np.full(k + 1, x[-1])])
        matrix = w[:, None] * interpolate.BSpline.design_matrix(x, t, k).toarray()
        rough = jumps(t, k)

        def of_share(q):
            return np.linalg.solve(matrix.T @ matrix + np.exp(q) * rough.T @ rough, matrix.T @ (w[:, None] * y))

        def wrong(q):
            return np.sum((matrix @ of_share(q) - w[:, None] * y) ** 2) - ratio * s

        q = optimize.brentq(wrong, -40.0, 10.0, xtol=1e-13, rtol=1e-14)
        return np.sum(interpolate.BSpline(t, of_share(q), k)(AT) ** 2)

    return fit


def by_splrep(x, y, w, s):
    return np.sum(interpolate.splev(AT, interpolate.splrep(x, y, w, s=s)) ** 2)


def by_class(x, y, w, s):
    return np.sum(interpolate.UnivariateSpline(x, y, w, k=4, s=s)(AT) ** 2)


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f, k, s", [(by_splrep, 3, 0.2), (by_class, 4, 0.05)], ids=["splrep", "UnivariateSpline"])
def test_smoothing(f, k, s):
    exact = reference(X, Y[:, None], W, k, s)
    expected = [
        differences(lambda v: exact(v, Y[:, None], W, s), X, 1e-5),
        differences(lambda v: exact(X, v[:, None], W, s), Y),
        differences(lambda v: exact(X, Y[:, None], v, s), W),
        differences(lambda v: exact(X, Y[:, None], W, v), s, 1e-5),
    ]
    assert f(X, Y, W, s) == pytest.approx(exact(X, Y[:, None], W, s), rel=1e-8)
    value, gradient = s2s.value_and_grad(f, argnums=(0, 1, 2, 3))(X, Y, W, s)
    assert value == pytest.approx(f(X, Y, W, s), rel=1e-12)
    for got, right in zip(gradient, expected):
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-6 * np.max(np.abs(right)))
    np.testing.assert_allclose(s2s.jacfwd(f, argnums=1)(X, Y, W, s), expected[1], rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_smoothed_curve():
    points = np.stack([np.cos(2.0 * X), np.sin(2.0 * X)]) + 0.1 * np.random.default_rng(1).normal(size=(2, 25))
    exact = reference(X, points.T, np.ones(25), 3, 0.3)

    def f(p):
        return sum(np.sum(one**2) for one in interpolate.splev(AT, interpolate.splprep(list(p), u=X, s=0.3)[0]))

    expected = differences(lambda p: exact(X, p.T, np.ones(25), 0.3), points)
    np.testing.assert_allclose(s2s.grad(f)(points), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(points), expected, rtol=1e-6, atol=1e-7)


def curve(p):
    (t, c, k), u = interpolate.splprep(p, s=0)
    return sum(np.sum(one**2) for one in interpolate.splev([0.2, 0.5], (t, c, k))) + np.sum(u**2)


def with_knots(y):
    spline = interpolate.LSQUnivariateSpline(X, y, [1.0, 2.0], w=W)
    fit = interpolate.splrep(X, y, t=[0.9, 2.2], k=2)
    return np.sum(spline(AT) ** 2) + spline.get_residual() + np.sum(spline.get_coeffs()) + np.sum(
        interpolate.splev(AT, fit) ** 2) + spline.antiderivative()(2.0) + np.sum(spline.derivatives(0.7))


def straight(y):
    """So much smoothing that no inner knot is left."""
    return np.sum(interpolate.UnivariateSpline(X, y, s=1e4)(AT) ** 2)


def periodic(y):
    whole = np.concatenate([y, y[:1]])
    x = np.concatenate([X[:8], [np.sum(y) * 0.01 + 2.5]])
    made = interpolate.make_interp_spline(x, whole, bc_type="periodic")
    fitted = interpolate.splrep(X[:9], whole, per=1)
    return np.sum(made(AT) ** 2) + np.sum(interpolate.splev(AT[:2], fitted) ** 3) + made(9.0)


CASES = {
    "curve": (curve, np.stack([np.cos(X[:7]), np.sin(X[:7] + 0.2)])), "knots": (with_knots, Y),
    "straight": (straight, Y), "periodic": (periodic, Y[:8]),
}


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("name", CASES)
def test_fits(name):
    f, x = CASES[name]
    expected = differences(f, x, 1e-3)
    assert s2s.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-9)
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), expected, rtol=1e-7, atol=1e-8)


def test_refused():
    with pytest.raises(NoDerivativeError, match="its knots are no places of data"):
        s2s.grad(lambda y: interpolate.UnivariateSpline(X, y, k=2, s=1e-3)(0.3))(Y)
    with pytest.raises(NoDerivativeError, match="a periodic one has a rule for s=0"):
        s2s.grad(lambda y: interpolate.splev(0.3, interpolate.splrep(X, y, per=1, s=0.1)))(Y)
