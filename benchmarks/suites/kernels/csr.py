"""Repeated products of a sparse matrix, in compressed rows, with a vector."""

import numpy as np

from benchmarks.case import Case, wave


def csr_product(data, columns, starts, x):
    """``A @ x`` by loops over the entries."""
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += data[k] * x[columns[k]]
        out[i] = total
    return out


def csr_loss(data, columns, starts, x):
    return np.sum(np.tanh(csr_product(data, columns, starts, x)) ** 2)


def arguments(n, each):
    columns = (np.arange(n * each) * 7 + np.arange(n * each) // each) % n
    return wave(n * each), columns, each * np.arange(n + 1), wave(n, phase=1.0)


def in_jax():
    import jax
    import jax.numpy as jnp

    def loss(data, columns, starts, x):
        counts = starts[1:] - starts[:-1]
        rows = jnp.repeat(jnp.arange(len(counts)), counts, total_repeat_length=len(data))
        out = jax.ops.segment_sum(data * x[columns], rows, num_segments=len(counts))
        return jnp.sum(jnp.tanh(out) ** 2)

    return loss


def by_hand(data, columns, starts, x):
    out = np.tanh(csr_product(data, columns, starts, x))
    out_bar = 2.0 * out * (1.0 - out * out)
    data_bar, x_bar = np.empty_like(data), np.zeros_like(x)
    for i in range(len(out)):
        for k in range(starts[i], starts[i + 1]):
            data_bar[k] = out_bar[i] * x[columns[k]]
            x_bar[columns[k]] += out_bar[i] * data[k]
    return data_bar, x_bar


def by_hand_in_loops(data, columns, starts, x):
    data_bar, x_bar = np.empty_like(data), np.zeros_like(x)
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += data[k] * x[columns[k]]
        total = np.tanh(total)
        total_bar = 2.0 * total * (1.0 - total * total)
        for k in range(starts[i], starts[i + 1]):
            data_bar[k] = total_bar * x[columns[k]]
            x_bar[columns[k]] += total_bar * data[k]
    return data_bar, x_bar


CASE = Case("csr_product", csr_loss, (0, 3), arguments, small=(5, 2), large=(2000, 8), jax=in_jax, hand_numpy=by_hand,
            hand_numba=by_hand_in_loops)  # fmt: skip
