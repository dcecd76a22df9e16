"""Covariance and correlation of columns, in loops over pairs."""

import numpy as np

from benchmarks.case import Case, wave


def covariance(data):
    """The covariance of the columns, a row of the matrix at a time."""
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    found = np.zeros((m, m))
    for i in range(m):
        found[i:m, i] = found[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)
    return found


def covariance_loss(data, w):
    return np.sum(w * covariance(data) ** 2)


def correlation(data):
    """The correlation of the columns, a row of the matrix at a time."""
    m = data.shape[1]
    data = (data - np.mean(data, axis=0)) / np.std(data, axis=0)
    found = np.eye(m)
    for i in range(m - 1):
        found[i + 1 : m, i] = found[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m] / data.shape[0]
    return found


def correlation_loss(data, w):
    return np.sum(w * correlation(data) ** 2)


def arguments(n, m):
    return wave(n, m) + 0.3 * wave(n, m, phase=2.0) ** 2, wave(m, m, phase=1.0)


def covariance_in_jax():
    import jax.numpy as jnp

    def loss(data, w):
        data = data - jnp.mean(data, axis=0)
        return jnp.sum(w * (data.T @ data / (data.shape[0] - 1.0)) ** 2)

    return loss


def correlation_in_jax():
    import jax.numpy as jnp

    def loss(data, w):
        n, m = data.shape
        data = (data - jnp.mean(data, axis=0)) / jnp.std(data, axis=0)
        found = data.T @ data / n
        return jnp.sum(w * jnp.where(jnp.eye(m, dtype=bool), 1.0, found) ** 2)

    return loss


def covariance_by_hand(data, w):
    n = data.shape[0]
    data = data - np.mean(data, axis=0)
    found = data.T @ data / (n - 1.0)
    found_bar = 2.0 * w * found / (n - 1.0)
    data_bar = data @ (found_bar + found_bar.T)
    return (data_bar - np.mean(data_bar, axis=0),)


def correlation_by_hand(data, w):
    n = data.shape[0]
    deviation = np.std(data, axis=0)
    data = (data - np.mean(data, axis=0)) / deviation
    found_bar = (2.0 / n**2) * w * (data.T @ data)
    found_bar[np.diag_indices(len(w))] = 0.0
    data_bar = data @ (found_bar + found_bar.T)
    data_bar -= np.mean(data_bar, axis=0) + data * np.mean(data * data_bar, axis=0)
    data_bar /= deviation
    return (data_bar,)


CASES = [
    Case("covariance", covariance_loss, (0,), arguments, small=(6, 3), large=(400, 120), jax=covariance_in_jax,
         hand_numpy=covariance_by_hand, rewritten=True),
    Case("correlation", correlation_loss, (0,), arguments, small=(6, 3), large=(400, 120), jax=correlation_in_jax,
         hand_numpy=correlation_by_hand, rewritten=True),
]  # fmt: skip
