"""The Yule-Walker equations by Durbin's recursion."""

import numpy as np

from benchmarks.case import Case, wave


def durbin(r, y):
    """The Yule-Walker equations of the autocorrelations ``r`` by Durbin's recursion; ``y`` takes the solution."""
    z = np.zeros_like(y)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, len(r)):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        y[:k] = z[:k]
        y[k] = alpha


def durbin_loss(r, w):
    y = np.zeros_like(r)
    durbin(r, y)
    return np.sum(w * y * y)


def arguments(n):
    return 0.9 * wave(n) / n, wave(n)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(r, w):
        n = len(r)
        places = jnp.arange(n)

        def step(k, state):
            y, beta, alpha = state
            before = places < k
            back = jnp.where(before, k - 1 - places, 0)
            beta = (1.0 - alpha * alpha) * beta
            alpha = -(r[k] + jnp.sum(jnp.where(before, r[back] * y, 0.0))) / beta
            y = jnp.where(before, y + alpha * y[back], y).at[k].set(alpha)
            return y, beta, alpha

        y, _, _ = lax.fori_loop(1, n, step, (jnp.zeros(n).at[0].set(-r[0]), 1.0, -r[0]))
        return jnp.sum(w * y * y)

    return loss


def by_hand(r, w):
    """A row of ``kept`` is the solution before a step."""
    n = len(r)
    kept, alphas, betas = np.zeros((n + 1, n)), np.empty(n), np.empty(n)
    kept[1, 0], alphas[0], betas[0] = -r[0], -r[0], 1.0
    for k in range(1, n):
        y = kept[k, :k]
        betas[k] = (1.0 - alphas[k - 1] ** 2) * betas[k - 1]
        alphas[k] = -(r[k] + r[:k][::-1] @ y) / betas[k]
        kept[k + 1, :k] = y + alphas[k] * y[::-1]
        kept[k + 1, k] = alphas[k]
    y_bar, r_bar, alpha_bar, beta_bar = 2.0 * w * kept[n], np.zeros(n), 0.0, 0.0
    for k in range(n - 1, 0, -1):
        y, now = kept[k, :k], y_bar[:k].copy()
        alpha_bar += y_bar[k] + now @ y[::-1]
        total_bar = -alpha_bar / betas[k]
        beta_bar += alphas[k] * total_bar
        r_bar[k] += total_bar
        r_bar[:k] += total_bar * y[::-1]
        y_bar[:k] = now + alphas[k] * now[::-1] + total_bar * r[:k][::-1]
        alpha_bar = -2.0 * alphas[k - 1] * betas[k - 1] * beta_bar
        beta_bar *= 1.0 - alphas[k - 1] ** 2
    r_bar[0] -= y_bar[0] + alpha_bar
    return (r_bar,)


def by_hand_in_loops(r, w):
    n = len(r)
    kept, alphas, betas = np.zeros((n + 1, n)), np.empty(n), np.empty(n)
    kept[1, 0], alphas[0], betas[0] = -r[0], -r[0], 1.0
    for k in range(1, n):
        betas[k] = (1.0 - alphas[k - 1] ** 2) * betas[k - 1]
        total = r[k]
        for i in range(k):
            total += r[k - i - 1] * kept[k, i]
        alphas[k] = -total / betas[k]
        for i in range(k):
            kept[k + 1, i] = kept[k, i] + alphas[k] * kept[k, k - i - 1]
        kept[k + 1, k] = alphas[k]
    y_bar, new, r_bar, alpha_bar, beta_bar = 2.0 * w * kept[n], np.empty(n), np.zeros(n), 0.0, 0.0
    for k in range(n - 1, 0, -1):
        alpha_bar += y_bar[k]
        for i in range(k):
            alpha_bar += y_bar[i] * kept[k, k - i - 1]
        total_bar = -alpha_bar / betas[k]
        beta_bar += alphas[k] * total_bar
        r_bar[k] += total_bar
        for i in range(k):
            r_bar[k - i - 1] += total_bar * kept[k, i]
            new[i] = y_bar[i] + alphas[k] * y_bar[k - i - 1] + total_bar * r[k - i - 1]
        y_bar[:k] = new[:k]
        alpha_bar = -2.0 * alphas[k - 1] * betas[k - 1] * beta_bar
        beta_bar *= 1.0 - alphas[k - 1] ** 2
    r_bar[0] -= y_bar[0] + alpha_bar
    return (r_bar,)


CASE = Case("durbin", durbin_loss, (0,), arguments, small=(6,), large=(150,), jax=in_jax, hand_numpy=by_hand,
            hand_numba=by_hand_in_loops)  # fmt: skip
