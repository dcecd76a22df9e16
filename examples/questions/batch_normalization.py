"""How are gradients calculated through a batch normalisation?

The mean and the variance of a batch depend on every sample in it, so each sample's gradient depends on all of
them. Written as it is defined, the generated reverse has these three ways: straight through the quotient, through
the variance, and through the mean. It is tested here against the closed form that the paper gives (Ioffe and
Szegedy 2015).

The means that are used after training are no part of the gradient: they are given out beside the loss,
`has_aux=True`.
"""

import numpy as np
from sklearn.datasets import load_digits

import s2s

EPSILON = 1e-5


def normalise(x, scale, shift):
    mean = np.mean(x, axis=0)
    centred = x - mean
    variance = np.mean(centred**2, axis=0)
    return scale * centred / np.sqrt(variance + EPSILON) + shift, (mean, variance)


def loss(params, x, labels):
    """The cross entropy of a batch, and the means and variances in it."""
    h, first = normalise(x @ params["w1"], params["scale1"], params["shift1"])
    h, second = normalise(np.maximum(h, 0.0) @ params["w2"], params["scale2"], params["shift2"])
    z = np.maximum(h, 0.0) @ params["w3"] + params["b3"]
    z = z - np.max(z, axis=1, keepdims=True)
    entropy = np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(labels)), labels])
    return entropy, (first, second)


def predict(params, moments, x):
    """The digits, normalised by the moments that the training has gathered."""
    for k, (mean, variance) in enumerate(moments, 1):
        h = (x @ params[f"w{k}"] - mean) / np.sqrt(variance + EPSILON)
        x = np.maximum(params[f"scale{k}"] * h + params[f"shift{k}"], 0.0)
    return np.argmax(x @ params["w3"] + params["b3"], axis=1)


def weighted(x, weights):
    """A batch that is normalised, and what a later layer would give back."""
    return np.sum(normalise(x, 1.0, 0.0)[0] * weights)


def closed_form(x, weights):
    """The gradient of ``weighted``, as the paper has it put together."""
    deviation = np.sqrt(np.var(x, axis=0) + EPSILON)
    normal = (x - np.mean(x, axis=0)) / deviation
    return (weights - np.mean(weights, axis=0) - normal * np.mean(weights * normal, axis=0)) / deviation


def start(rng):
    params = {"w3": 0.1 * rng.normal(size=(64, 10)), "b3": np.zeros(10)}
    for k, shape in enumerate(((64, 128), (128, 64)), 1):
        params |= {
            f"w{k}": rng.normal(size=shape) * np.sqrt(2.0 / shape[0]), f"scale{k}": np.ones(shape[1]),
            f"shift{k}": np.zeros(shape[1]),
        }
    return params


def digits(held_back=360):
    """Images of 64 pixels and their digits: those to learn from, and those that are held back."""
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    x, y = found.data[order] / 16.0, found.target[order]
    return x[held_back:], y[held_back:], x[:held_back], y[:held_back]


def sources():
    x = np.zeros((5, 3))
    return [s2s.source(weighted, x, x)]


def main(rounds=30, size=64):
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(2, 20, 6))
    np.testing.assert_allclose(s2s.grad(weighted)(x, weights), closed_form(x, weights), atol=1e-13)
    print(*sources())

    x, y, x_test, y_test = digits()
    params = start(rng)
    opt = s2s.optim.AdamW(s2s.optim.schedules.CosineDecay(0.01, rounds * (len(y) // size)), weight_decay=0.01)
    state, gradient, moments = opt.init(params), s2s.grad(loss, has_aux=True), None
    for _ in range(rounds):
        order = rng.permutation(len(y))
        for batch in order[: len(order) // size * size].reshape(-1, size):
            grads, found = gradient(params, x[batch], y[batch])
            params, state = opt.apply_gradients(grads, params, state)
            moments = found if moments is None else gathered(moments, found)
    accuracy = np.mean(predict(params, moments, x_test) == y_test)
    print(f"accuracy on {len(y_test)} held-back digits: {accuracy:.4f}")
    assert accuracy >= 0.97


def gathered(moments, found, rate=0.1):
    return [tuple(m + rate * (f - m) for m, f in zip(*pair)) for pair in zip(moments, found)]


if __name__ == "__main__":
    main()
