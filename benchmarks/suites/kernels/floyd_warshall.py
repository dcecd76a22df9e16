"""The lengths of shortest paths between all pairs (Floyd 1962)."""

import numpy as np

from benchmarks.case import Case, wave


def floyd_warshall(distances):
    """In place, by all nodes in turn."""
    for k in range(len(distances)):
        distances[:] = np.minimum(distances, distances[:, k, np.newaxis] + distances[k])


def floyd_warshall_loss(distances):
    distances = distances.copy()
    floyd_warshall(distances)
    return np.sum(distances * distances)


def arguments(n):
    """Positive lengths; to stay where one is costs a little, so that no two ways are of one length."""
    distances = 2.0 + wave(n, n) + 3.0 * wave(n, n, phase=1.3) ** 2
    np.fill_diagonal(distances, 0.1)
    return (distances,)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(distances):
        def by(k, d):
            return jnp.minimum(d, d[:, k, None] + d[k])

        return jnp.sum(lax.fori_loop(0, len(distances), by, distances) ** 2)

    return loss


def by_hand(distances):
    distances, n = distances.copy(), len(distances)
    shorter, through = np.empty((n, n, n), bool), np.empty((n, n))
    for k in range(n):
        np.add(distances[:, k, np.newaxis], distances[k], out=through)
        np.less(through, distances, out=shorter[k])
        distances = np.minimum(distances, through)
    bar = 2.0 * distances
    for k in range(n - 1, -1, -1):
        through_bar = np.where(shorter[k], bar, 0.0)
        bar = bar - through_bar
        bar[:, k] += np.sum(through_bar, axis=1)
        bar[k] += np.sum(through_bar, axis=0)
    return (bar,)


def by_hand_in_loops(distances):
    """Which ways became shorter is kept; a row and a column do not change when it is their turn."""
    distances, n = distances.copy(), len(distances)
    shorter = np.empty((n, n, n), np.bool_)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distances[i, k] + distances[k, j]
                shorter[k, i, j] = through < distances[i, j]
                if through < distances[i, j]:
                    distances[i, j] = through
    bar = 2.0 * distances
    for k in range(n - 1, -1, -1):
        for i in range(n):
            for j in range(n):
                if shorter[k, i, j]:
                    bar[i, k] += bar[i, j]
                    bar[k, j] += bar[i, j]
                    bar[i, j] = 0.0
    return (bar,)


CASE = Case("floyd_warshall", floyd_warshall_loss, (0,), arguments, small=(5,), large=(90,), jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
