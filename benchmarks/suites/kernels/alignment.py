"""Dynamic programming: the cheapest alignment of two series, and the best nesting of pairs in a sequence."""

import numpy as np

from benchmarks.case import Case, wave


def warping(x, y):
    """The cost of the cheapest alignment (dynamic time warping)."""
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
    return cost[n, m]


def warping_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(x, y):
        def row(above, value):
            def place(left, given):
                corner, over, other = given
                new = (value - other) ** 2 + jnp.minimum(corner, jnp.minimum(over, left))
                return new, new

            _, inner = lax.scan(place, jnp.inf, (above[:-1], above[1:], y))
            return jnp.concatenate((jnp.array([jnp.inf]), inner)), None

        first = jnp.full(len(y) + 1, jnp.inf).at[0].set(0.0)
        last, _ = lax.scan(row, first, x)
        return last[-1]

    return loss


def warping_by_hand(x, y):
    """Only along the cheapest path is there a derivative."""
    n, m = len(x), len(y)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            before = min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
            cost[i, j] = (x[i - 1] - y[j - 1]) ** 2 + before
    x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)
    i, j = n, m
    while i > 0 and j > 0:
        bar = 2.0 * (x[i - 1] - y[j - 1])
        x_bar[i - 1] += bar
        y_bar[j - 1] -= bar
        corner, over, left = cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]
        if corner <= over and corner <= left:
            i, j = i - 1, j - 1
        elif over <= left:
            i -= 1
        else:
            j -= 1
    return x_bar, y_bar


def nesting(scores):
    """The best sum of scores of nested pairs of places (after Nussinov and others 1978)."""
    n = scores.shape[0]
    best = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best[i, j] = max(best[i, j - 1], best[i + 1, j])
            if i < j - 1:
                best[i, j] = max(best[i, j], best[i + 1, j - 1] + scores[i, j])
            for k in range(i + 1, j):
                best[i, j] = max(best[i, j], best[i, k] + best[k + 1, j])
    return best[0, n - 1]


def nesting_in_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def loss(scores):
        n = scores.shape[0]
        places = jnp.arange(n)

        def diagonal(gap, best):
            def at(i):
                j = jnp.minimum(i + gap, n - 1)
                below = best[jnp.minimum(i + 1, n - 1)]
                paired = jnp.where(gap > 1, below[j - 1] + scores[i, j], 0.0)
                split = jnp.where((places > i) & (places < j), best[i] + jnp.roll(best[:, j], -1), 0.0)
                return jnp.maximum(jnp.maximum(best[i, j - 1], below[j]), jnp.maximum(paired, jnp.max(split)))

            values = jax.vmap(at)(places)
            inside = places + gap < n
            columns = jnp.where(inside, places + gap, n - 1)
            return best.at[places, columns].set(jnp.where(inside, values, best[places, columns]))

        return lax.fori_loop(1, n, diagonal, jnp.zeros((n, n)))[0, n - 1]

    return loss


def nesting_by_hand(scores):
    """Which choice was the best is kept: -1 and -2 for one place left out, -3 for a pair, else where it splits."""
    n = scores.shape[0]
    best, choice = np.zeros((n, n)), np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            top, chosen = best[i, j - 1], -1
            if best[i + 1, j] > top:
                top, chosen = best[i + 1, j], -2
            if i < j - 1 and best[i + 1, j - 1] + scores[i, j] > top:
                top, chosen = best[i + 1, j - 1] + scores[i, j], -3
            for k in range(i + 1, j):
                if best[i, k] + best[k + 1, j] > top:
                    top, chosen = best[i, k] + best[k + 1, j], k
            best[i, j], choice[i, j] = top, chosen
    bar, scores_bar = np.zeros((n, n)), np.zeros((n, n))
    bar[0, n - 1] = 1.0
    for i in range(n):
        for j in range(n - 1, i, -1):
            if bar[i, j] == 0.0:
                continue
            k = choice[i, j]
            if k == -1:
                bar[i, j - 1] += bar[i, j]
            elif k == -2:
                bar[i + 1, j] += bar[i, j]
            elif k == -3:
                bar[i + 1, j - 1] += bar[i, j]
                scores_bar[i, j] += bar[i, j]
            else:
                bar[i, k] += bar[i, j]
                bar[k + 1, j] += bar[i, j]
    return (scores_bar,)


CASES = [
    Case("time_warping", warping, (0, 1), lambda n, m: (wave(n), wave(m, phase=0.5)), small=(5, 6), large=(100, 120),
         jax=warping_in_jax, hand_numpy=warping_by_hand, rewritten=True, hand_numba=warping_by_hand),
    Case("nested_pairs", nesting, (0,), lambda n: (0.4 + wave(n, n),), small=(6,), large=(40,), jax=nesting_in_jax,
         hand_numpy=nesting_by_hand, hand_numba=nesting_by_hand),
]  # fmt: skip
