"""The log-likelihood of a mixture of Gaussians, as in ADBench: factors of precisions, and a Wishart prior left out."""

import numpy as np

from benchmarks.case import Case, wave


def mixture_loss(alphas, means, logs, lower, points):
    """Weights (k), means (k, d), logarithms of the diagonals (k, d) and what is below them (k, d, d), points (n, d)."""
    n, k = len(points), len(alphas)
    terms = np.empty((n, k))
    for j in range(k):
        factor = np.tril(lower[j], -1) + np.diag(np.exp(logs[j]))
        moved = (points - means[j]) @ factor.T
        terms[:, j] = alphas[j] + np.sum(logs[j]) - 0.5 * np.sum(moved**2, axis=1)
    most = np.max(terms, axis=1)
    of_points = most + np.log(np.sum(np.exp(terms - most[:, np.newaxis]), axis=1))
    return np.sum(of_points) - n * np.log(np.sum(np.exp(alphas)))


def arguments(n, d, k):
    return (
        wave(k), wave(k, d, phase=1.0), 0.2 * wave(k, d, phase=2.0), 0.3 * wave(k, d, d, phase=3.0),
        1.5 * wave(n, d, phase=4.0),
    )  # fmt: skip


def in_jax():
    import jax
    import jax.numpy as jnp

    def loss(alphas, means, logs, lower, points):
        factors = jnp.tril(lower, -1) + jax.vmap(jnp.diag)(jnp.exp(logs))
        moved = jnp.einsum("kij,nkj->nki", factors, points[:, None, :] - means)
        terms = alphas + jnp.sum(logs, axis=1) - 0.5 * jnp.sum(moved**2, axis=2)
        return jnp.sum(jax.nn.logsumexp(terms, axis=1)) - len(points) * jax.nn.logsumexp(alphas)

    return loss


def by_hand(alphas, means, logs, lower, points):
    n, k = len(points), len(alphas)
    terms, kept = np.empty((n, k)), []
    for j in range(k):
        factor = np.tril(lower[j], -1)
        np.fill_diagonal(factor, np.exp(logs[j]))
        away = points - means[j]
        moved = away @ factor.T
        terms[:, j] = alphas[j] + np.sum(logs[j]) - 0.5 * np.einsum("ij,ij->i", moved, moved)
        kept.append((factor, away, moved))
    shares = np.exp(terms - np.max(terms, axis=1, keepdims=True))
    shares /= np.sum(shares, axis=1, keepdims=True)
    weights = np.exp(alphas)
    counts = np.sum(shares, axis=0)
    means_bar, logs_bar, lower_bar = np.empty_like(means), np.empty_like(logs), np.empty_like(lower)
    for j, (factor, away, moved) in enumerate(kept):
        moved *= -shares[:, j, np.newaxis]
        factor_bar = moved.T @ away
        means_bar[j] = -np.sum(moved, axis=0) @ factor
        lower_bar[j] = np.tril(factor_bar, -1)
        logs_bar[j] = counts[j] + np.diagonal(factor_bar) * np.diagonal(factor)
    return counts - n * weights / np.sum(weights), means_bar, logs_bar, lower_bar


CASE = Case("gaussian_mixture", mixture_loss, (0, 1, 2, 3), arguments, small=(5, 3, 2), large=(1000, 16, 20),
            jax=in_jax, hand_numpy=by_hand)  # fmt: skip
