"""Realistic functions, against gradients in closed form and against autograd, which is independent of s2s."""

import math
import types

import autograd
import autograd.numpy
import numpy as np
import pytest

import s2s
from tests.helpers import check, leaves

rng = np.random.default_rng(7)
X, LABELS, TARGETS = rng.normal(size=(12, 4)), rng.integers(0, 3, size=12), rng.normal(size=(12, 2))
BINARY = (LABELS > 0).astype(float)
SERIES = rng.normal(size=8)


def by_autograd(f, args, argnums):
    """The gradients by autograd: the function with autograd's NumPy for ``np``."""
    g = types.FunctionType(f.__code__, {**f.__globals__, "np": autograd.numpy}, f.__name__, f.__defaults__)
    return autograd.grad(g, argnums)(*args)


# --- statistics and machine learning --------------------------------------------------------------


def logistic_regression(w, b, X, y):
    z = X @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.1 * np.sum(w**2)


def softmax_loss(W, b, X, y):
    z = X @ W + b
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(y)), y])


def mlp(W1, b1, W2, b2, X, T):
    h = np.tanh(X @ W1 + b1)
    e = h @ W2 + b2 - T
    return np.sum(e * e) / X.shape[0]


def deep_network(layers, X, T):
    h = X
    for i, (W, b) in enumerate(layers):
        h = h @ W + b
        if i < len(layers) - 1:
            h = np.where(h > 0, h, 0.01 * h)
    return np.mean((h - T) ** 2)


def batch_norm(gamma, beta, X):
    mean = np.mean(X, axis=0)
    std = np.std(X, axis=0)
    Z = (X - mean) / (std + 1e-3)
    return np.sum(np.tanh(gamma * Z + beta) ** 3)


def attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    p = np.exp(scores)
    p = p / np.sum(p, axis=-1, keepdims=True)
    return np.sum((p @ V) ** 2)


def lstm_cell(W, U, b, xs):
    h = np.zeros(2)
    c = np.zeros(2)
    for x in xs:
        z = W @ x + U @ h + b
        i = 1.0 / (1.0 + np.exp(-z[0:2]))
        f = 1.0 / (1.0 + np.exp(-z[2:4]))
        o = 1.0 / (1.0 + np.exp(-z[4:6]))
        g = np.tanh(z[6:8])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.sum(h * h) + np.sum(c)


def ridge(w, X, y, lam):
    r = X @ w - y
    return 0.5 * r @ r + 0.5 * lam * w @ w


def kernel_ridge(log_width, log_noise, X, y):
    d = X[:, None, :] - X[None, :, :]
    K = np.exp(-0.5 * np.sum(d**2, axis=2) / np.exp(2.0 * log_width))
    alpha = np.linalg.solve(K + np.exp(log_noise) * np.eye(len(y)), y)
    return np.sum((K @ alpha - y) ** 2) + alpha @ alpha * 0.01


def gaussian_process(theta, X, y):
    d = X[:, None, :] - X[None, :, :]
    K = np.exp(theta[0] - 0.5 * np.sum(d**2, axis=2) * np.exp(theta[1])) + np.exp(theta[2]) * np.eye(len(y))
    sign, logdet = np.linalg.slogdet(K)
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * logdet + 0.5 * len(y) * np.log(2.0 * np.pi)


def mixture_log_likelihood(logits, means, log_sigmas, x):
    log_weights = logits - np.log(np.sum(np.exp(logits)))
    z = (x[:, None] - means) / np.exp(log_sigmas)
    logs = log_weights - 0.5 * z**2 - log_sigmas - 0.5 * np.log(2.0 * np.pi)
    top = np.max(logs, axis=1)
    return np.sum(top + np.log(np.sum(np.exp(logs - top[:, None]), axis=1)))


def markov_chain(logits, states):
    P = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    total = 0.0
    for a, b in zip(states[:-1], states[1:]):
        total = total + np.log(P[a, b])
    return total


def hidden_markov(logits, emissions, observations):
    A = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    alpha = np.ones(2) / 2.0
    total = 0.0
    for o in observations:
        alpha = (alpha @ A) * emissions[:, o]
        norm = np.sum(alpha)
        alpha = alpha / norm
        total = total + np.log(norm)
    return total


def kalman_filter(a, q, r, zs):
    mean, variance, loss = 0.0, 1.0, 0.0
    for z in zs:
        mean, variance = a * mean, a * a * variance + q
        s = variance + r
        e = z - mean
        loss = loss + 0.5 * (np.log(s) + e * e / s)
        k = variance / s
        mean, variance = mean + k * e, (1.0 - k) * variance
    return loss


def garch(omega, alpha, beta, returns):
    variance = 1.0
    total = 0.0
    for r in returns:
        total = total + np.log(variance) + r * r / variance
        variance = omega + alpha * r * r + beta * variance
    return 0.5 * total


def rayleigh_quotient(A, v):
    return (v @ A @ v) / (v @ v)


def explained_variance(U, X):
    C = X - np.mean(X, axis=0)
    S = C.T @ C / (len(X) - 1)
    return np.trace(U.T @ S @ U) - np.sum((U.T @ U - np.eye(2)) ** 2)


# --- numerical analysis and physics ---------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def euler(y, k, h):
    for _ in range(20):
        y = y + h * (k * y * (1.0 - y))
    return y


def runge_kutta(state, mu, h):
    def rhs(x, v):
        return v, mu * (1.0 - x * x) * v - x

    x, v = state
    for _ in range(10):
        a1, b1 = rhs(x, v)
        a2, b2 = rhs(x + 0.5 * h * a1, v + 0.5 * h * b1)
        a3, b3 = rhs(x + 0.5 * h * a2, v + 0.5 * h * b2)
        a4, b4 = rhs(x + h * a3, v + h * b3)
        x = x + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        v = v + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
    return x * x + v


def leapfrog(q, p, dt):
    for _ in range(6):
        p = p - 0.5 * dt * np.sin(q)
        q = q + dt * p
        p = p - 0.5 * dt * np.sin(q)
    return np.sum(0.5 * p**2 - np.cos(q)) + np.sum(q**3)


def newton_cube_root(a):
    x = a
    while abs(x**3 - a) > 1e-12:
        x = x - (x**3 - a) / (3.0 * x * x)
    return x


def bisect_free_newton(a, b):
    x = 1.0
    for _ in range(50):
        step = (np.exp(x) * a + x - b) / (np.exp(x) * a + 1.0)
        x = x - step
        if abs(step) < 1e-13:
            break
    return x


def n_body_energy(positions, masses):
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i):
            d = positions[i] - positions[j]
            energy = energy - masses[i] * masses[j] / np.sqrt(d @ d + 0.01)
    return energy


def lennard_jones(positions, sigma):
    energy = 0.0
    for i in range(positions.shape[0]):
        for j in range(i + 1, positions.shape[0]):
            r2 = np.sum((positions[i] - positions[j]) ** 2)
            if r2 > 25.0:
                continue
            s = (sigma * sigma / r2) ** 3
            energy = energy + 4.0 * (s * s - s)
    return energy


def convolution(x, kernel):
    total = 0.0
    for i in range(len(x) - len(kernel) + 1):
        s = 0.0
        for k in range(len(kernel)):
            s = s + x[i + k] * kernel[k]
        total = total + np.tanh(s) ** 2
    return total


def heat(u, c, steps):
    for _ in range(steps):
        inner = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([u[:1], inner, u[-1:]])
    return np.sum(u**2)


def inverse_kinematics(angles, lengths, target):
    x, y, angle = 0.0, 0.0, 0.0
    for a, length in zip(angles, lengths):
        angle = angle + a
        x = x + length * np.cos(angle)
        y = y + length * np.sin(angle)
    return (x - target[0]) ** 2 + (y - target[1]) ** 2


def continued_fraction(x, n):
    y = x
    for k in range(n, 0, -1):
        y = k + x / y
    return y


def layers(*sizes):
    return [(rng.normal(size=(a, b)), rng.normal(size=b)) for a, b in zip(sizes[:-1], sizes[1:])]


POINTS = np.array([[0.0, 0.1, 0.3], [1.3, -0.2, 0.4], [0.5, 1.6, -0.3], [-1.1, 0.7, 1.2]])
AGAINST_AUTOGRAD = [
    (logistic_regression, (rng.normal(size=4), 0.3, X, BINARY), (0, 1, 2)),
    (softmax_loss, (rng.normal(size=(4, 3)), rng.normal(size=3), X, LABELS), (0, 1, 2)),
    (mlp, (*layers(4, 5)[0], *layers(5, 2)[0], X, TARGETS), (0, 1, 2, 3, 4)),
    (deep_network, (layers(4, 5, 3, 2), X, TARGETS), (0, 1)),
    (batch_norm, (rng.normal(size=4), rng.normal(size=4), X), (0, 1, 2)),
    (attention, (X[:3], X[3:7], X[5:9]), (0, 1, 2)),
    (lstm_cell, (rng.normal(size=(8, 4)), rng.normal(size=(8, 2)), rng.normal(size=8), X[:4]), (0, 1, 2, 3)),
    (ridge, (rng.normal(size=4), X, TARGETS[:, 0], 0.3), (0, 1, 2, 3)),
    (kernel_ridge, (0.2, -1.0, X[:6], TARGETS[:6, 0]), (0, 1, 2)),
    (gaussian_process, (np.array([0.1, -0.4, -1.0]), X[:6], TARGETS[:6, 0]), (0, 1, 2)),
    (mixture_log_likelihood, (np.array([0.1, -0.4]), np.array([-1.0, 0.7]), np.array([0.2, -0.3]), SERIES),
     (0, 1, 2, 3)),
    (markov_chain, (rng.normal(size=(3, 3)), [0, 1, 1, 2, 0, 2, 2]), 0),
    (hidden_markov, (rng.normal(size=(2, 2)), np.array([[0.2, 0.8], [0.7, 0.3]]), [0, 1, 1, 0, 1]), (0, 1)),
    (kalman_filter, (0.9, 0.2, 0.5, SERIES), (0, 1, 2, 3)),
    (garch, (0.1, 0.2, 0.6, SERIES), (0, 1, 2, 3)),
    (rayleigh_quotient, (X[:4] @ X[:4].T, SERIES[:4]), (0, 1)),
    (explained_variance, (rng.normal(size=(4, 2)), X), (0, 1)),
    (rosenbrock, (SERIES,), 0),
    (euler, (0.1, 1.3, 0.1), (0, 1, 2)),
    (runge_kutta, ((1.0, 0.4), 0.8, 0.1), (0, 1, 2)),
    (leapfrog, (SERIES[:3], SERIES[3:6], 0.1), (0, 1, 2)),
    (newton_cube_root, (5.0,), 0),
    (bisect_free_newton, (0.7, 3.0), (0, 1)),
    (n_body_energy, (POINTS, np.array([1.0, 2.0, 0.5, 1.5])), (0, 1)),
    (lennard_jones, (POINTS, 0.9), (0, 1)),
    (convolution, (SERIES, np.array([0.3, -0.2, 0.5])), (0, 1)),
    (heat, (SERIES, 0.2, 5), (0, 1)),
    (inverse_kinematics, (np.array([0.3, 0.5, -0.2]), np.array([1.0, 0.7, 0.4]), (1.2, 0.6)), (0, 1, 2)),
    (continued_fraction, (1.7, 8), 0),
]
names = [f.__name__ for f, _, _ in AGAINST_AUTOGRAD]
each = pytest.mark.parametrize("f, args, argnums", AGAINST_AUTOGRAD, ids=names)


@each
def test_against_autograd(f, args, argnums):
    actual = leaves(s2s.grad(f, argnums)(*args))
    expected = leaves(by_autograd(f, args, argnums))
    for a, e in zip(actual, expected, strict=True):
        assert np.shape(a) == np.shape(e)
        np.testing.assert_allclose(a, e, rtol=1e-9, atol=1e-11)


@pytest.mark.grid(0.5)
@each
def test_against_differences(f, args, argnums):
    check(f, args, argnums)


# --- closed forms ---------------------------------------------------------------------------------


def normal_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(spot, strike, sigma, rate, expiry):
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / (sigma * math.sqrt(expiry))
    d2 = d1 - sigma * math.sqrt(expiry)
    return spot * normal_cdf(d1) - strike * math.exp(-rate * expiry) * normal_cdf(d2)


def test_greeks_of_black_scholes():
    spot, strike, sigma, rate, expiry = 100.0, 95.0, 0.2, 0.03, 1.5
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / (sigma * math.sqrt(expiry))
    d2 = d1 - sigma * math.sqrt(expiry)
    density = math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
    discount = math.exp(-rate * expiry)
    greeks = (
        normal_cdf(d1),
        -discount * normal_cdf(d2),
        spot * density * math.sqrt(expiry),
        strike * expiry * discount * normal_cdf(d2),
        spot * density * sigma / (2.0 * math.sqrt(expiry)) + rate * strike * discount * normal_cdf(d2),
    )
    gradient = s2s.grad(black_scholes, argnums=(0, 1, 2, 3, 4))(spot, strike, sigma, rate, expiry)
    np.testing.assert_allclose(gradient, greeks, rtol=1e-12)


def test_logistic_regression_in_closed_form():
    w, b = np.array([0.3, -0.2, 0.7, 0.1]), 0.4
    p = 1.0 / (1.0 + np.exp(-(X @ w + b)))
    dw, db = s2s.grad(logistic_regression, argnums=("w", "b"))(w, b, X, BINARY)
    np.testing.assert_allclose(dw, X.T @ (p - BINARY) / 12.0 + 0.2 * w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(db, np.mean(p - BINARY), rtol=1e-12, atol=1e-14)


def test_softmax_loss_in_closed_form():
    W, b = rng.normal(size=(4, 3)), rng.normal(size=3)
    z = X @ W + b
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    e = (p - np.eye(3)[LABELS]) / 12.0
    dW, db = s2s.grad(softmax_loss, argnums=(0, 1))(W, b, X, LABELS)
    np.testing.assert_allclose(dW, X.T @ e, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(db, e.sum(axis=0), rtol=1e-11, atol=1e-13)


def test_cube_root_in_closed_form():
    assert s2s.grad(newton_cube_root)(5.0) == pytest.approx(5.0 ** (-2.0 / 3.0) / 3.0, rel=1e-9)


def test_implicit_root_in_closed_form():
    x = bisect_free_newton(0.7, 3.0)
    slope = 0.7 * math.exp(x) + 1.0
    da, db = s2s.grad(bisect_free_newton, argnums=(0, 1))(0.7, 3.0)
    assert (da, db) == pytest.approx((-math.exp(x) / slope, 1.0 / slope), rel=1e-6)


def test_log_determinant_in_closed_form():
    def f(A):
        sign, value = np.linalg.slogdet(A)
        return value

    A = X[:4] @ X[:4].T + np.eye(4)
    np.testing.assert_allclose(s2s.grad(f)(A), np.linalg.inv(A).T, rtol=1e-10)


def test_trace_of_inverse_in_closed_form():
    def f(A):
        return np.trace(np.linalg.inv(A))

    A = X[:4] @ X[:4].T + np.eye(4)
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(s2s.grad(f)(A), -(inverse @ inverse).T, rtol=1e-9, atol=1e-12)


def test_quadratic_form_in_closed_form():
    def f(A, x):
        return x @ A @ x

    A, x = X[:4], SERIES[:4]
    dA, dx = s2s.grad(f, argnums=(0, 1))(A, x)
    np.testing.assert_allclose(dA, np.outer(x, x), rtol=1e-12)
    np.testing.assert_allclose(dx, (A + A.T) @ x, rtol=1e-12)


def test_training_by_gradient_descent_reaches_the_solution():
    y = TARGETS[:, 0]
    w = np.zeros(4)
    gradient = s2s.grad(ridge)
    for _ in range(2000):
        w = w - 0.02 * gradient(w, X, y, 0.3)
    np.testing.assert_allclose(w, np.linalg.solve(X.T @ X + 0.3 * np.eye(4), X.T @ y), rtol=1e-6)


@pytest.mark.parametrize("x", [1.5, 1.5 + 1j, np.float32(1.5), np.complex64(1.5), np.float64(1.5)], ids=repr)
def test_the_gradient_of_a_number_that_has_no_part_is_a_zero_of_its_kind(x):
    def f(x, y):
        return x, np.sin(y)

    gradient = s2s.vjp(f, x, 0.2)[1]((0.0 * x, 1.0))[0]
    assert gradient == 0.0 and type(gradient) is type(x)
    tangents = s2s.jvp(f, (x, 0.2), (None, 1.0))[1]
    assert tangents[0] == 0.0 and type(tangents[0]) is type(x)
    assert s2s.grad(lambda x, y: y)(x, 0.2) == 0.0
    assert type(s2s.grad(lambda x, y: y)(x, 0.2)) is type(x)


def test_a_second_derivative_that_is_zero_has_the_kind_of_its_argument():
    gradient = s2s.grad(np.real)
    assert gradient(0.4 + 1j) == 1.0
    (second,) = s2s.vjp(gradient, 0.4 + 1j)[1](1.0 + 0j)
    assert second == 0.0 and type(second) is complex


def test_none_is_the_cotangent_of_a_part_that_has_no_derivative():
    def f(x):
        return np.argmax(x), x * 2.0, len(x), x > 0.0, np.argsort(x)

    x = np.array([0.3, -1.2, 0.8])
    _, pullback = s2s.vjp(f, x)
    np.testing.assert_array_equal(pullback((None, x, None, None, None))[0], 2.0 * x)
    with pytest.raises(s2s.errors.ArgumentError, match="the cotangent is None"):
        pullback((None, None, None, None, None))


def test_conjugate_as_a_method_of_python_numbers():
    def f(x):
        c = complex(x[0], x[1])
        return abs(c) ** 2 + (c * c.conjugate()).real + c.imag + float(x[1]).conjugate() * x[0].conjugate()

    check(f, (np.array([0.7, -0.4]),))


class Pair:
    def __init__(self, u, v):
        self.u, self.v = u, v


def of_objects_in_a_list(pairs):
    return pairs[0].u ** 2 * pairs[1].v


def of_objects_in_a_dict(held):
    return held["a"].u ** 2 * held["b"][0].v


@pytest.mark.parametrize(
    ("f", "holding"),
    [
        (of_objects_in_a_list, list),
        (of_objects_in_a_list, tuple),
        (of_objects_in_a_dict, lambda pairs: {"a": pairs[0], "b": [pairs[1]]}),
    ],
)
def test_objects_in_containers_move_forward(f, holding):
    at, along = holding([Pair(0.7, 1.0), Pair(2.0, 1.3)]), holding([Pair(0.2, 5.0), Pair(3.0, -0.4)])
    assert s2s.jvp(f, (at,), (along,))[1] == pytest.approx(2 * 0.7 * 0.2 * 1.3 - 0.7**2 * 0.4)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_the_tangent_of_a_gradient_that_holds_objects(monkeypatch):
    at, along = [Pair(0.7, 1.0), Pair(2.0, 1.3)], [Pair(0.2, 5.0), Pair(3.0, -0.4)]
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.jvp(s2s.grad(of_objects_in_a_list), (at,), (along,))
    monkeypatch.setenv("S2S_RECORDED", "1")
    found, dot = s2s.jvp(s2s.grad(of_objects_in_a_list), (at,), (along,))
    assert (found[0].u, found[1].v) == pytest.approx((2 * 0.7 * 1.3, 0.7**2))
    assert (dot[0].u, dot[1].v) == pytest.approx((2 * 0.2 * 1.3 - 2 * 0.7 * 0.4, 2 * 0.7 * 0.2))
