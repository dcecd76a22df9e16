"""How do I stop the gradient for a part of a parameter?

With `s2s.stop_gradient`: its value is that of its argument, and no derivative, of any order and in any mode, goes
through it. Where `mask` is 1 the weight below is the parameter, where it is 0 it is a constant of the same value: the
function has the value that it has without the mask, and only the entries that the mask leaves in get a gradient.

An optimiser with moments still moves entries whose gradient is zero: to freeze entries there, say `frozen=`, as in the
next example.
"""

import numpy as np

import s2s


def loss(w, mask, x, y):
    masked = mask * w + s2s.stop_gradient(np.abs(1 - mask) * w)
    return np.sum((x @ masked - y) ** 2)


def plain(w, x, y):
    return np.sum((x @ w - y) ** 2)


RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=(3, 2)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
MASK = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def sources():
    return [s2s.source(loss, W, MASK, X, Y)]


def main():
    value, gradient = s2s.value_and_grad(loss)(W, MASK, X, Y)
    print(gradient)
    np.testing.assert_allclose(value, plain(W, X, Y), rtol=1e-13)
    np.testing.assert_allclose(gradient, MASK * (2.0 * X.T @ (X @ W - Y)), rtol=1e-12, atol=1e-15)

    hessian = s2s.hessian(loss)(W, MASK, X, Y).reshape(6, 6)
    inside = np.outer(MASK.ravel(), MASK.ravel())
    np.testing.assert_allclose(hessian, inside * np.kron(2.0 * X.T @ X, np.eye(2)), rtol=1e-12, atol=1e-15)


if __name__ == "__main__":
    main()
