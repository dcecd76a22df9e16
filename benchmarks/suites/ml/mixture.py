"""The log-likelihood of a mixture of Gaussians, as in ADBench: factors of precisions, and a Wishart prior left out.

Once more in loops, with diagonal matrices.
"""

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


def by_statement(alphas, means, logs, lower, points):
    """The adjoint of each statement after the other, all values kept."""
    n, k = len(points), len(alphas)
    terms = np.empty((n, k))
    factors, aways, moveds = [], [], []
    for j in range(k):
        factor = np.tril(lower[j], -1) + np.diag(np.exp(logs[j]))
        away = points - means[j]
        moved = away @ factor.T
        terms[:, j] = alphas[j] + np.sum(logs[j]) - 0.5 * np.sum(moved**2, axis=1)
        factors.append(factor)
        aways.append(away)
        moveds.append(moved)
    most = np.max(terms, axis=1)
    shifted = np.exp(terms - most[:, np.newaxis])
    sums = np.sum(shifted, axis=1)
    weights = np.exp(alphas)
    total = np.sum(weights)
    alphas_bar = -n / total * weights
    of_points_bar = np.ones(n)
    sums_bar = of_points_bar / sums
    shifted_bar = np.broadcast_to(sums_bar[:, np.newaxis], shifted.shape)
    difference_bar = shifted_bar * shifted
    terms_bar = difference_bar.copy()
    most_bar = of_points_bar - np.sum(difference_bar, axis=1)
    terms_bar[np.arange(n), np.argmax(terms, axis=1)] += most_bar
    means_bar, logs_bar, lower_bar = np.zeros_like(means), np.zeros_like(logs), np.zeros_like(lower)
    for j in range(k - 1, -1, -1):
        factor, away, moved = factors[j], aways[j], moveds[j]
        term_bar = terms_bar[:, j]
        alphas_bar[j] += np.sum(term_bar)
        logs_bar[j] += np.sum(term_bar)
        square_bar = np.broadcast_to(-0.5 * term_bar[:, np.newaxis], moved.shape)
        moved_bar = 2.0 * moved * square_bar
        away_bar = moved_bar @ factor
        factor_bar = moved_bar.T @ away
        means_bar[j] -= np.sum(away_bar, axis=0)
        lower_bar[j] += np.tril(factor_bar, -1)
        logs_bar[j] += np.diag(factor_bar) * np.exp(logs[j])
    return alphas_bar, means_bar, logs_bar, lower_bar


def loops_loss(alphas, means, logs, points):
    """Weights (k), means and logarithms of the deviations (k, d), points (n, d)."""
    n, d = points.shape
    k = len(alphas)
    terms = np.zeros(k)
    total, weight = 0.0, 0.0
    for i in range(n):
        for j in range(k):
            term = alphas[j]
            for m in range(d):
                away = (points[i, m] - means[j, m]) * np.exp(-logs[j, m])
                term -= logs[j, m] + 0.5 * away * away
            terms[j] = term
        most = terms[0]
        for j in range(1, k):
            most = max(most, terms[j])
        shares = 0.0
        for j in range(k):
            shares += np.exp(terms[j] - most)
        total += most + np.log(shares)
    for j in range(k):
        weight += np.exp(alphas[j])
    return total - n * np.log(weight)


def loops_arguments(n, d, k):
    return wave(k), wave(k, d, phase=1.0), 0.2 * wave(k, d, phase=2.0), 1.5 * wave(n, d, phase=4.0)


def loops_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(alphas, means, logs, points):
        away = (points[:, None, :] - means) * jnp.exp(-logs)
        terms = alphas - jnp.sum(logs, axis=1) - 0.5 * jnp.sum(away**2, axis=2)
        return jnp.sum(jax.nn.logsumexp(terms, axis=1)) - len(points) * jax.nn.logsumexp(alphas)

    return loss


def loops_by_hand(alphas, means, logs, points):
    precisions = np.exp(-2.0 * logs)
    away = points[:, np.newaxis, :] - means
    terms = alphas - np.sum(logs, axis=1) - 0.5 * np.einsum("njd,njd,jd->nj", away, away, precisions)
    shares = np.exp(terms - np.max(terms, axis=1, keepdims=True))
    shares /= np.sum(shares, axis=1, keepdims=True)
    counts, weights = np.sum(shares, axis=0), np.exp(alphas)
    first = shares.T @ points
    second = shares.T @ (points * points) - 2.0 * first * means + counts[:, np.newaxis] * means**2
    return (
        counts - len(points) * weights / np.sum(weights),
        precisions * (first - counts[:, np.newaxis] * means),
        precisions * second - counts[:, np.newaxis],
    )  # fmt: skip


def loops_by_hand_in_loops(alphas, means, logs, points):
    n, d = points.shape
    k = len(alphas)
    scales, terms = np.exp(-logs), np.empty(k)
    alphas_bar, means_bar, logs_bar = np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    for i in range(n):
        most = -np.inf
        for j in range(k):
            term = alphas[j]
            for m in range(d):
                away = (points[i, m] - means[j, m]) * scales[j, m]
                term -= logs[j, m] + 0.5 * away * away
            terms[j] = term
            most = max(most, term)
        total = 0.0
        for j in range(k):
            terms[j] = np.exp(terms[j] - most)
            total += terms[j]
        for j in range(k):
            share = terms[j] / total
            alphas_bar[j] += share
            for m in range(d):
                away = (points[i, m] - means[j, m]) * scales[j, m]
                means_bar[j, m] += share * away * scales[j, m]
                logs_bar[j, m] += share * (away * away - 1.0)
    weights = np.exp(alphas)
    return alphas_bar - n * weights / np.sum(weights), means_bar, logs_bar


CASES = [
    Case("gaussian_mixture", mixture_loss, (0, 1, 2, 3), arguments, small=(5, 3, 2), large=(1000, 16, 20),
         jax=in_jax, hand_numpy=by_hand, by_statement=by_statement),
    Case("mixture_in_loops", loops_loss, (0, 1, 2), loops_arguments, small=(5, 3, 2), large=(60, 6, 8),
         jax=loops_in_jax, hand_numpy=loops_by_hand, rewritten=True, hand_numba=loops_by_hand_in_loops),
]  # fmt: skip
