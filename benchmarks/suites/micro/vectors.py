"""Losses of small arrays: what a fit, or one layer, calls."""

import numpy as np

from benchmarks.case import Case, positive, wave


def softmax_cross_entropy(logits, labels):
    """The mean of the negative logarithms of the labels' probabilities."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


def softmax_cross_entropy_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(logits, labels):
        logs = jax.nn.log_softmax(logits, axis=1)
        return -jnp.mean(logs[jnp.arange(len(labels)), labels])

    return loss


def softmax_cross_entropy_by_hand(logits, labels):
    exps = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    logits_bar = exps / np.sum(exps, axis=1, keepdims=True)
    logits_bar[np.arange(len(labels)), labels] -= 1.0
    logits_bar /= len(labels)
    return (logits_bar,)


def logistic_regression(w, b, x, y):
    """The mean log-loss of labels -1 and 1, with a ridge."""
    margins = y * (x @ w + b)
    return np.mean(np.logaddexp(0.0, -margins)) + 0.05 * np.sum(w**2)


def logistic_regression_in_jax():
    import jax.numpy as jnp

    def loss(w, b, x, y):
        return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w + b))) + 0.05 * jnp.sum(w**2)

    return loss


def logistic_regression_by_hand(w, b, x, y):
    margins = y * (x @ w + b)
    score_bar = -y / (1.0 + np.exp(margins)) / len(y)
    return x.T @ score_bar + 0.1 * w, np.sum(score_bar)


def huber(w, x, y, delta=0.5):
    """The sum of Huber's losses of the residuals of a linear fit."""
    residuals = x @ w - y
    size = np.abs(residuals)
    return np.sum(np.where(size < delta, 0.5 * residuals**2, delta * (size - 0.5 * delta)))


def huber_in_jax():
    import jax.numpy as jnp

    def loss(w, x, y, delta=0.5):
        residuals = x @ w - y
        size = jnp.abs(residuals)
        return jnp.sum(jnp.where(size < delta, 0.5 * residuals**2, delta * (size - 0.5 * delta)))

    return loss


def huber_by_hand(w, x, y, delta=0.5):
    return (x.T @ np.clip(x @ w - y, -delta, delta),)


def quadratic_form(x, a):
    return 0.5 * x @ a @ x - np.sum(np.sqrt(1.0 + x * x))


def quadratic_form_in_jax():
    import jax.numpy as jnp

    def loss(x, a):
        return 0.5 * x @ a @ x - jnp.sum(jnp.sqrt(1.0 + x * x))

    return loss


def quadratic_form_by_hand(x, a):
    return (0.5 * (a @ x + a.T @ x) - x / np.sqrt(1.0 + x * x),)


def polynomial(coefficients, x, y):
    """The squared error of a polynomial, by Horner's scheme."""
    value = np.zeros_like(x)
    for c in coefficients:
        value = value * x + c
    return np.sum((value - y) ** 2)


def polynomial_in_jax():
    import jax.numpy as jnp

    def loss(coefficients, x, y):
        return jnp.sum((jnp.polyval(coefficients, x) - y) ** 2)

    return loss


def polynomial_by_hand(coefficients, x, y):
    value = np.zeros_like(x)
    for c in coefficients:
        value = value * x + c
    value_bar = 2.0 * (value - y)
    coefficients_bar = np.empty_like(coefficients)
    for k in range(len(coefficients) - 1, -1, -1):
        coefficients_bar[k] = np.sum(value_bar)
        value_bar = value_bar * x
    return (coefficients_bar,)


def two_layers(w1, b1, w2, x, y):
    """The squared error of a small network."""
    hidden = np.tanh(x @ w1 + b1)
    return np.mean((hidden @ w2 - y) ** 2)


def two_layers_in_jax():
    import jax.numpy as jnp

    def loss(w1, b1, w2, x, y):
        return jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 - y) ** 2)

    return loss


def two_layers_by_hand(w1, b1, w2, x, y):
    hidden = np.tanh(x @ w1 + b1)
    out_bar = 2.0 / len(y) * (hidden @ w2 - y)
    inner_bar = np.outer(out_bar, w2) * (1.0 - hidden * hidden)
    return x.T @ inner_bar, inner_bar.sum(axis=0), hidden.T @ out_bar


def chained(x, scale):
    """A long expression of elementwise functions."""
    y = np.sin(x) * np.exp(-scale * x * x)
    return np.sum(np.log1p(y * y) + np.sqrt(1.0 + y) / (1.0 + np.cosh(0.1 * x)))


def chained_in_jax():
    import jax.numpy as jnp

    def loss(x, scale):
        y = jnp.sin(x) * jnp.exp(-scale * x * x)
        return jnp.sum(jnp.log1p(y * y) + jnp.sqrt(1.0 + y) / (1.0 + jnp.cosh(0.1 * x)))

    return loss


def chained_by_hand(x, scale):
    decay, sine = np.exp(-scale * x * x), np.sin(x)
    y = sine * decay
    root, width = np.sqrt(1.0 + y), 1.0 + np.cosh(0.1 * x)
    y_bar = 2.0 * y / (1.0 + y * y) + 0.5 / (root * width)
    x_bar = y_bar * decay * (np.cos(x) - 2.0 * scale * x * sine) - 0.1 * root * np.sinh(0.1 * x) / (width * width)
    return x_bar, -np.sum(y_bar * y * x * x)


def labels(n, classes):
    return (3 * np.arange(n) ** 2 + 1) % classes


CASES = [
    Case("softmax_cross_entropy", softmax_cross_entropy, (0,), lambda n, k: (3.0 * wave(n, k), labels(n, k)),
         (4, 3), (64, 10), jax=softmax_cross_entropy_in_jax, hand_numpy=softmax_cross_entropy_by_hand),
    Case("logistic_regression", logistic_regression, (0, 1),
         lambda n, k: (wave(k), 0.2, wave(n, k, phase=1.0), np.where(wave(n, phase=2.0) > 0.0, 1.0, -1.0)),
         (6, 3), (100, 10), jax=logistic_regression_in_jax, hand_numpy=logistic_regression_by_hand),
    Case("huber", huber, (0,), lambda n, k: (wave(k), wave(n, k, phase=1.0), 2.0 * wave(n, phase=2.0)),
         (7, 2), (100, 10), jax=huber_in_jax, hand_numpy=huber_by_hand),
    Case("quadratic_form", quadratic_form, (0,), lambda n: (wave(n), positive(n)), (4,), (30,),
         jax=quadratic_form_in_jax, hand_numpy=quadratic_form_by_hand),
    Case("polynomial", polynomial, (0,), lambda k, n: (wave(k), wave(n, phase=1.0), wave(n, phase=2.0)),
         (3, 5), (8, 100), jax=polynomial_in_jax, hand_numpy=polynomial_by_hand),
    Case("two_layers", two_layers, (0, 1, 2),
         lambda n, k, h: (wave(k, h), wave(h), wave(h, phase=1.0), wave(n, k, phase=2.0), wave(n, phase=3.0)),
         (4, 2, 3), (32, 8, 16), jax=two_layers_in_jax, hand_numpy=two_layers_by_hand),
    Case("chained", chained, (0, 1), lambda n: (2.0 * wave(n), 0.3), (6,), (1000,), jax=chained_in_jax,
         hand_numpy=chained_by_hand),
]  # fmt: skip
