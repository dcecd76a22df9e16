"""The negative log marginal likelihood of a Gaussian process by its parameters (Rasmussen and Williams 2006, 2.30)."""

import numpy as np

from benchmarks.case import Case, wave


def gaussian_process_loss(parameters, x, y):
    """Logarithms of scale, length and noise; points (n, d), values (n)."""
    scale, length, noise = np.exp(parameters)
    squares = np.sum(x**2, axis=1)
    distances = squares[:, np.newaxis] + squares - 2.0 * x @ x.T
    kernel = scale * np.exp(-0.5 * distances / length**2) + noise * np.eye(len(y))
    lower = np.linalg.cholesky(kernel)
    half = np.linalg.solve(lower, y)
    return 0.5 * half @ half + np.sum(np.log(np.diag(lower))) + 0.5 * len(y) * np.log(2.0 * np.pi)


def arguments(n, d):
    return np.array([0.3, 0.2, -1.0]), 2.0 * wave(n, d), wave(n, phase=1.0)


def in_jax():
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def loss(parameters, x, y):
        scale, length, noise = jnp.exp(parameters)
        squares = jnp.sum(x**2, axis=1)
        distances = squares[:, None] + squares - 2.0 * x @ x.T
        lower = jnp.linalg.cholesky(scale * jnp.exp(-0.5 * distances / length**2) + noise * jnp.eye(len(y)))
        half = solve_triangular(lower, y, lower=True)
        return 0.5 * half @ half + jnp.sum(jnp.log(jnp.diag(lower))) + 0.5 * len(y) * jnp.log(2.0 * jnp.pi)

    return loss


def by_hand(parameters, x, y):
    """By ``(K^-1 - a a^T) / 2``, the derivative by the kernel (Rasmussen and Williams 2006, 5.9)."""
    scale, length, noise = np.exp(parameters)
    squares = np.sum(x**2, axis=1)
    distances = squares[:, np.newaxis] + squares - 2.0 * x @ x.T
    smooth = scale * np.exp(-0.5 * distances / length**2)
    inverse = np.linalg.inv(smooth + noise * np.eye(len(y)))
    a = inverse @ y
    kernel_bar = 0.5 * (inverse - np.outer(a, a))
    product = kernel_bar * smooth
    return (np.array([
        np.sum(product), np.sum(product * distances) / length**2, noise * np.trace(kernel_bar)
    ]),)


CASE = Case("gaussian_process", gaussian_process_loss, (0,), arguments, small=(5, 2), large=(300, 4), jax=in_jax,
            hand_numpy=by_hand)  # fmt: skip
