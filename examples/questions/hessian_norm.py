"""How large is the Hessian of a loss with so many parameters that it cannot be written down?

Multiply it with random directions. For `v` with independent entries of mean 0 and variance 1 the mean of `|H v|^2`
is the square of the Frobenius norm of `H`, and the mean of `v . H v` is its trace (Hutchinson 1990). A product
with the Hessian costs a few gradients; `s2s.hvp` takes it by one sweep forward over one in reverse. The largest
eigenvalue comes from multiplying again and again.

Here the network is small enough for `s2s.hessian` to give the exact numbers. With matplotlib the estimates are
drawn: the first argument of the script is the name of the picture.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import s2s

DIRECTIONS = 400


def loss(theta, x, y):
    """The mean square error of a network with one hidden layer, its parameters in one vector."""
    hidden = np.tanh(x @ theta[:24].reshape(4, 6))
    out = hidden @ theta[24:]
    return np.mean((out - y) ** 2)


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4))
    return rng.normal(size=30), x, np.sin(x[:, 0]) + 0.1 * rng.normal(size=50)


def sources():
    theta, x, y = data()
    return [s2s.source(loss, theta, x, y), s2s.source(gradient, theta, x, y, mode="jvp")]


def gradient(theta, x, y):
    return s2s.grad(loss)(theta, x, y)


def product(theta, v, x, y):
    return s2s.hvp(loss, (theta, x, y), (v, None, None))


def largest_eigenvalue(theta, x, y, steps=200):
    v = np.ones(theta.size)
    for _ in range(steps):
        v = product(theta, v / np.sqrt(np.sum(v * v)), x, y)
    return np.sqrt(np.sum(v * v))


def draw(file, squares, exact):
    """The estimate by the first so many directions, with its standard error."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    count = np.arange(2, len(squares) + 1)
    mean = np.array([np.mean(squares[:k]) for k in count])
    error = np.array([np.std(squares[:k], ddof=1) / np.sqrt(k) for k in count])
    figure, axes = plt.subplots(figsize=(6.0, 3.5), layout="constrained")
    axes.fill_between(count, np.sqrt(np.maximum(mean - error, 0.0)), np.sqrt(mean + error), alpha=0.3)
    axes.plot(count, np.sqrt(mean), label="estimate and its standard error")
    axes.axhline(exact, color="black", linewidth=1.0, label="exact")
    axes.set(xlabel="directions", ylabel="Frobenius norm of the Hessian", xscale="log")
    axes.legend()
    figure.savefig(file)
    print("drawn:", file)


def main(picture=None):
    theta, x, y = data()
    hessian = s2s.hessian(loss)(theta, x, y)
    rng = np.random.default_rng(1)
    products = [(v, product(theta, v, x, y)) for v in rng.normal(size=(DIRECTIONS, theta.size))]
    np.testing.assert_allclose(products[0][1], hessian @ products[0][0], atol=1e-12)

    squares, traces = np.array([(h @ h, v @ h) for v, h in products]).T
    for name, samples, exact in (("norm^2", squares, np.sum(hessian**2)), ("trace", traces, np.trace(hessian))):
        error = np.std(samples, ddof=1) / np.sqrt(DIRECTIONS)
        print(f"{name:7} exact {exact:8.3f}   estimate {np.mean(samples):8.3f} +- {error:.3f}")
        assert abs(np.mean(samples) - exact) < 3.0 * error
    exact = np.max(np.abs(np.linalg.eigvalsh(hessian)))
    print(f"largest eigenvalue: exact {exact:.6f}, by products {largest_eigenvalue(theta, x, y):.6f}")
    np.testing.assert_allclose(largest_eigenvalue(theta, x, y), exact, rtol=1e-6)

    try:
        draw(picture or Path(tempfile.gettempdir(), "hessian_norm.png"), squares, np.linalg.norm(hessian))
    except ImportError:
        print("matplotlib is not installed: no picture")


if __name__ == "__main__":
    main(*sys.argv[1:2])
