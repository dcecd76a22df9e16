"""Programs that were written for autograd, as they are: with ``from s2s import grad`` in place of autograd's. What they
compute is compared with what autograd makes of them."""

import numpy
import pytest

autograd = pytest.importorskip("autograd")

import autograd.numpy as np  # noqa: E402
import autograd.numpy.random as npr  # noqa: E402
import autograd.scipy.signal as signal  # noqa: E402
import autograd.scipy.stats as stats  # noqa: E402
from autograd import builtins  # noqa: E402
from autograd.extend import defjvp, defvjp, defvjp_argnums, primitive  # noqa: E402
from autograd.misc.fixed_points import fixed_point  # noqa: E402
from autograd.misc.flatten import flatten  # noqa: E402
from autograd.scipy.special import gammaln, logsumexp  # noqa: E402

import s2s  # noqa: E402
from s2s.errors import NoDerivativeError  # noqa: E402
from tests.helpers import differences  # noqa: E402

DRAW = numpy.random.RandomState(0)
INPUTS = numpy.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
TARGETS = numpy.array([True, True, False, True])


def logistic(weights):
    predictions = 0.5 * (np.tanh(np.dot(INPUTS, weights) / 2.0) + 1)
    likelihoods = predictions * TARGETS + (1 - predictions) * (1 - TARGETS)
    return -np.sum(np.log(likelihoods))


def squared_norm(params):
    if isinstance(params, (list, tuple)):
        return sum(map(squared_norm, params))
    flat, _ = flatten(params)
    return np.dot(flat, flat)


def neural_net(params):
    x = INPUTS
    for w, b in params:
        outputs = np.dot(x, w) + b
        x = np.tanh(outputs)
    normalized = outputs - logsumexp(outputs, axis=1, keepdims=True)
    return squared_norm(params) - np.sum(normalized[:, 0])


def flattened(params):
    flat, unflatten = flatten(params)
    again = unflatten(flat**2)
    return np.sum(again["a"]) * np.sum(again["b"][1]) + again["b"][0]


def gaussian_process(params):
    mean, scale, lengths, noise = params[0], params[1], params[2:4], np.exp(params[4]) + 0.001
    x, y = INPUTS[:, :2], INPUTS[:, 2]
    apart = np.expand_dims(x / np.exp(lengths), 1) - np.expand_dims(x / np.exp(lengths), 0)
    covariance = np.exp(scale) * np.exp(-0.5 * np.sum(apart**2, axis=2)) + noise * np.eye(len(y))
    return stats.multivariate_normal.logpdf(y, mean * np.ones(len(y)), covariance)


def mixture(params):
    weights = params["log proportions"] - logsumexp(params["log proportions"])
    each = []
    for weight, mean, root in zip(weights, params["means"], params["lower triangles"]):
        each.append(weight + stats.multivariate_normal.logpdf(INPUTS, mean, np.dot(root.T, root)))
    return np.sum(logsumexp(np.vstack(each), axis=0))


def recurrent(params):
    def joined(*args):
        return np.hstack(args + (np.ones((args[0].shape[0], 1)),))

    hidden = np.repeat(params["init hiddens"], 2, axis=0)
    total = 0.0
    for t in range(3):
        hidden = np.tanh(np.dot(joined(INPUTS[t : t + 2], hidden), params["change"]))
        output = np.dot(joined(hidden), params["predict"])
        total = total + np.sum((output - logsumexp(output, axis=1, keepdims=True))[:, 0])
    return total


def variational(params):
    mean, log_std = params[:3], params[3:]
    samples = npr.RandomState(0).randn(10, 3) * np.exp(log_std) + mean
    logs = -0.5 * np.sum(samples**2, axis=1) + stats.norm.logpdf(samples[:, 0], 0, 1.35)
    return -(np.sum(log_std) + np.mean(logs))


def convolved(w):
    images = INPUTS.reshape(1, 1, 4, 3)
    return np.sum(np.tanh(signal.convolve(images, w, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")))


def distributions(x):
    return np.sum(stats.gamma.logpdf(x, 2.0)) + np.sum(stats.beta.logpdf(x, 2.0, 3.0)) + np.sum(gammaln(x)) + np.sum(
        stats.poisson.logpmf(numpy.array([1, 2, 3]), x)) + np.sum(stats.t.logpdf(x, 3.0, 0.0, 1.0))


def assembled(x):
    return (
        np.sum(np.array([x[0], 2.0 * x[1]]) ** 2) + np.sum(np.stack([x, x**2], axis=1) * x[:, None])
        + np.sum(np.append(x, x[0]) ** 3) + np.sum(np.column_stack([x, x * x[0]]) ** 2)
        + np.sum(np.concatenate([x, x[1:]]) ** 2) + np.sum(np.where(x > 0.35, x, x**2)) + np.sum(np.cumsum(x) ** 2)
    )


PROGRAMS = {
    logistic: numpy.array([0.1, 0.2, 0.3]), gaussian_process: DRAW.randn(5), variational: DRAW.randn(6),
    convolved: DRAW.randn(1, 1, 2, 2), assembled: numpy.array([0.3, 0.4, 0.5]),
    neural_net: [(DRAW.randn(3, 4), DRAW.randn(4)), (DRAW.randn(4, 2), DRAW.randn(2))],
    flattened: {"a": numpy.array([1.0, 2.0]), "b": [numpy.array(3.0), numpy.array([[1.0, 2.0]])]},
    mixture: {
        "log proportions": DRAW.randn(2), "means": DRAW.randn(2, 3),
        "lower triangles": numpy.eye(3) + numpy.zeros((2, 3, 3))},
    recurrent: {"init hiddens": DRAW.randn(1, 4), "change": DRAW.randn(8, 4), "predict": DRAW.randn(5, 2)},
    distributions: numpy.array([0.3, 0.4, 0.5]),
}


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    x = PROGRAMS[f]
    found, expected = flatten(s2s.grad(f)(x))[0], flatten(autograd.grad(f)(x))[0]
    numpy.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    value, tangent = s2s.jvp(f, (x,), (x,))
    numpy.testing.assert_allclose(value, f(x))
    numpy.testing.assert_allclose(tangent, expected @ flatten(x)[0], rtol=1e-8)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("f", [logistic, gaussian_process, variational, convolved])
def test_second_order(f):
    x = PROGRAMS[f]
    expected = autograd.hessian_vector_product(f)(x, x)
    numpy.testing.assert_allclose(s2s.hvp(f, (x,), (x,)), expected, rtol=1e-7)


# --- rules ------------------------------------------------------------------------------------------------------------


@primitive
def log_sum_exp(x):
    top = numpy.max(x)
    return top + numpy.log(numpy.sum(numpy.exp(x - top)))


defvjp(log_sum_exp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - np.full(x.shape, ans)))


@primitive
def scaled(a, b, scale=1.0):
    return numpy.multiply(a, b) * scale


defvjp(scaled, lambda ans, a, b, scale=1.0: lambda g: 2.0 * g * b * scale, None)  # not the true one
defjvp(scaled, lambda g, ans, a, b, scale=1.0: 2.0 * g * b * scale, None)


@primitive
def by_number(a, b):
    return numpy.multiply(a, b)


defvjp_argnums(by_number, lambda argnums, ans, args, kwargs: lambda g: tuple(g * args[1 - k] for k in argnums))


@primitive
def first_only(a, b):
    return numpy.multiply(a, b)


defvjp(first_only, lambda ans, a, b: lambda g: g * b)


@primitive
def without_rule(x):
    return numpy.sin(x)


def test_primitives():
    x = numpy.array([0.3, 1.2, 0.7])
    f = lambda x: log_sum_exp(x**2)  # noqa: E731
    numpy.testing.assert_allclose(s2s.grad(f)(x), autograd.grad(f)(x))
    numpy.testing.assert_allclose(s2s.hvp(f, (x,), (x,)), autograd.hessian_vector_product(f)(x, x))
    said = lambda x: np.sum(scaled(x, x, scale=3.0))  # noqa: E731
    numpy.testing.assert_allclose(s2s.grad(said)(x), 6.0 * x)
    numpy.testing.assert_allclose(s2s.jacfwd(said)(x), 6.0 * x)
    both = lambda x: np.sum(by_number(x, x**2))  # noqa: E731
    numpy.testing.assert_allclose(s2s.grad(both)(x), 3.0 * x**2)
    numpy.testing.assert_allclose(s2s.jacfwd(both)(x), 3.0 * x**2)
    assert s2s.grad(lambda x: without_rule(x) * x)(0.7) == pytest.approx(numpy.sin(0.7) + 0.7 * numpy.cos(0.7))
    assert s2s.grad(without_rule)(0.7) == pytest.approx(numpy.cos(0.7))
    numpy.testing.assert_allclose(s2s.grad(log_sum_exp)(x), autograd.grad(log_sum_exp)(x))
    assert s2s.grad(slope)(0.7) == pytest.approx(autograd.grad(slope)(0.7))


def test_an_argument_without_a_rule_is_no_zero():
    assert s2s.grad(lambda x: first_only(x, 3.0))(2.0) == 3.0
    with pytest.raises(NoDerivativeError, match="`defvjp` a function for each argument"):
        s2s.grad(lambda x: first_only(2.0, x))(3.0)
    with pytest.raises(NoDerivativeError, match="`defvjp` a function for each argument"):
        s2s.grad(lambda x: first_only(x, x))(3.0)


# --- operators --------------------------------------------------------------------------------------------------------


def wave(x):
    return np.sin(x) * x**2


slope = autograd.grad(wave)
slopes = autograd.elementwise_grad(wave)


@pytest.mark.parametrize("f", [
    lambda x: autograd.grad(wave)(x[0]) * x[1], lambda x: slope(x[0]) * x[1], lambda x: np.sum(slopes(x) * x),
    lambda x: autograd.value_and_grad(wave)(x[0])[1] * x[1], lambda x: np.sum(autograd.jacobian(wave)(x) @ x),
    lambda x: np.sum(autograd.hessian(lambda y: np.sum(wave(y) * y[0]))(x)),
    lambda x: np.sum(autograd.make_vjp(wave)(x)[0](x)), lambda x: np.sum(autograd.make_jvp(wave)(x)(x)[1]),
    lambda x: np.sum(autograd.checkpoint(wave)(x)),
    lambda x: autograd.grad(lambda a, b: np.sum(a * b**2), 1)(x[0], x[1]),
    lambda x: builtins.tuple((x[0], x[0] * x[1]))[1] + builtins.list([x[0] * x[1]])[0],
    lambda x: builtins.dict({"a": x[0] ** 2, "b": x})["a"] * x[1],
    lambda x: fixed_point(lambda a: lambda y: 0.5 * (y + a / y), x[0], 1.0, lambda y, z: np.abs(y - z), 1e-12) * x[1],
])
def test_operators_inside(f):
    x = numpy.array([0.7, 1.3])
    gradient = differences(f, x)
    numpy.testing.assert_allclose(s2s.grad(f)(x), gradient, rtol=1e-6)
    numpy.testing.assert_allclose(s2s.jacfwd(f)(x), gradient, rtol=1e-6)


def test_the_generated_code_calls_numpy():
    text = s2s.source(logistic, PROGRAMS[logistic])
    assert "autograd" not in text.replace("test_autograd_code", "") and "numpy.tanh" in text
