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


CASE = Case("durbin", durbin_loss, (0,), arguments, small=(6,), large=(150,))
