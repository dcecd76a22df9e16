"""A tensor contraction in a loop over one of its axes."""

import numpy as np

from benchmarks.case import Case, wave


def contraction(a, b, c):
    """``sum_k (a[k] * b[:, None]) @ c[k]``, one term after the other."""
    total = np.zeros((a.shape[1], c.shape[2]))
    for k in range(a.shape[0]):
        total += (a[k] * b[:, None]) @ c[k]
    return total


def contraction_loss(a, b, c):
    return np.sum(contraction(a, b, c) ** 2)


def arguments(n, m):
    return wave(n, m, m), wave(m, phase=1.0), wave(n, m, m, phase=2.0)


def in_jax():
    import jax.numpy as jnp

    def loss(a, b, c):
        return jnp.sum((b[:, None] * jnp.einsum("kij,kjl->il", a, c)) ** 2)

    return loss


def by_hand(a, b, c):
    product = np.tensordot(a, c, axes=((0, 2), (0, 1)))
    total_bar = 2.0 * b[:, None] * product
    scaled = b[:, None] * total_bar
    b_bar = np.sum(total_bar * product, axis=1)
    return np.matmul(scaled, c.transpose(0, 2, 1)), b_bar, np.matmul(a.transpose(0, 2, 1), scaled)


CASE = Case("contraction", contraction_loss, (0, 1, 2), arguments, small=(3, 4), large=(60, 60), jax=in_jax,
            hand_numpy=by_hand, rewritten=True)  # fmt: skip
