"""Updates and solutions with triangular and symmetric matrices of which half is stored, row by row."""

import numpy as np

from benchmarks.case import Case, square, wave


def syrk(alpha, beta, c, a):
    """``c = beta c + alpha a a^T`` on and below the diagonal, in place."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def syrk_loss(alpha, beta, c, a):
    c = c.copy()
    syrk(alpha, beta, c, a)
    return np.sum(c * c)


def syrk_in_jax():
    import jax.numpy as jnp

    def loss(alpha, beta, c, a):
        return jnp.sum(jnp.where(jnp.tri(len(c), dtype=bool), beta * c + alpha * (a @ a.T), c) ** 2)

    return loss


def syrk_by_hand(alpha, beta, c, a):
    below = np.tri(len(c), dtype=bool)
    c_bar = 2.0 * np.where(below, beta * c + alpha * (a @ a.T), c)
    lower = np.where(below, c_bar, 0.0)
    c_bar[below] *= beta
    return c_bar, alpha * ((lower + lower.T) @ a)


def syrk_by_hand_in_loops(alpha, beta, c, a):
    n, m = a.shape
    c_bar, a_bar = 2.0 * c, np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = beta * c[i, j]
            for k in range(m):
                total += alpha * a[i, k] * a[j, k]
            bar = 2.0 * total
            c_bar[i, j] = beta * bar
            for k in range(m):
                a_bar[i, k] += alpha * bar * a[j, k]
                a_bar[j, k] += alpha * bar * a[i, k]
    return c_bar, a_bar


def syr2k(alpha, beta, c, a, b):
    """``c = beta c + alpha (a b^T + b a^T)`` on and below the diagonal, in place."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


def syr2k_loss(alpha, beta, c, a, b):
    c = c.copy()
    syr2k(alpha, beta, c, a, b)
    return np.sum(c * c)


def syr2k_in_jax():
    import jax.numpy as jnp

    def loss(alpha, beta, c, a, b):
        product = a @ b.T
        new = beta * c + alpha * (product + product.T)
        return jnp.sum(jnp.where(jnp.tri(len(c), dtype=bool), new, c) ** 2)

    return loss


def syr2k_by_hand(alpha, beta, c, a, b):
    below = np.tri(len(c), dtype=bool)
    product = a @ b.T
    c_bar = 2.0 * np.where(below, beta * c + alpha * (product + product.T), c)
    lower = np.where(below, alpha * c_bar, 0.0)
    lower = lower + lower.T
    c_bar[below] *= beta
    return c_bar, lower @ b, lower @ a


def trmm(alpha, a, b):
    """``b = alpha a^T b`` in place; ``a`` is lower triangular with ones on its diagonal, which are not stored."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
    b *= alpha


def trmm_loss(alpha, a, b):
    b = b.copy()
    trmm(alpha, a, b)
    return np.sum(b * b)


def trmm_in_jax():
    import jax.numpy as jnp

    def loss(alpha, a, b):
        return jnp.sum((alpha * (b + jnp.tril(a, -1).T @ b)) ** 2)

    return loss


def trmm_by_hand(alpha, a, b):
    lower = np.tril(a, -1)
    b_bar = 2.0 * alpha * alpha * (b + lower.T @ b)
    return np.tril(b @ b_bar.T, -1), b_bar + lower @ b_bar


def trmm_by_hand_in_loops(alpha, a, b):
    m, n = b.shape
    a_bar, b_bar = np.zeros_like(a), np.zeros_like(b)
    row = np.empty(n)
    for i in range(m):
        row[:] = b[i]
        for k in range(i + 1, m):
            for j in range(n):
                row[j] += a[k, i] * b[k, j]
        for j in range(n):
            row[j] *= 2.0 * alpha * alpha
            b_bar[i, j] += row[j]
        for k in range(i + 1, m):
            total = 0.0
            for j in range(n):
                b_bar[k, j] += a[k, i] * row[j]
                total += b[k, j] * row[j]
            a_bar[k, i] = total
    return a_bar, b_bar


def symm(alpha, beta, c, a, b):
    """``c = beta c + alpha a b`` in place, of a symmetric ``a`` whose lower half is stored."""
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            c[i, j] += alpha * (b[i, j] * a[i, i] + b[:i, j] @ a[i, :i])


def symm_loss(alpha, beta, c, a, b):
    c = c.copy()
    symm(alpha, beta, c, a, b)
    return np.sum(c * c)


def symm_in_jax():
    import jax.numpy as jnp

    def loss(alpha, beta, c, a, b):
        return jnp.sum((beta * c + alpha * ((jnp.tril(a) + jnp.tril(a, -1).T) @ b)) ** 2)

    return loss


def symm_by_hand(alpha, beta, c, a, b):
    whole = np.tril(a) + np.tril(a, -1).T
    c_bar = 2.0 * (beta * c + alpha * (whole @ b))
    whole_bar = alpha * (c_bar @ b.T)
    return beta * c_bar, np.tril(whole_bar) + np.tril(whole_bar.T, -1), alpha * (whole @ c_bar)


def trisolv(lower, x, b):
    """The solution of ``lower x = b`` into ``x``."""
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


def trisolv_loss(lower, b):
    x = np.zeros_like(b)
    trisolv(lower, x, b)
    return np.sum(x * x)


def trisolv_in_jax():
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def loss(lower, b):
        return jnp.sum(solve_triangular(lower, b, lower=True) ** 2)

    return loss


def trisolv_by_hand(lower, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    b_bar, lower_bar = 2.0 * x, np.zeros_like(lower)
    for i in range(len(b) - 1, -1, -1):
        b_bar[i] /= lower[i, i]
        b_bar[:i] -= b_bar[i] * lower[i, :i]
        lower_bar[i, : i + 1] = -b_bar[i] * x[: i + 1]
    return lower_bar, b_bar


def trisolv_by_hand_in_loops(lower, b):
    n = len(b)
    x, b_bar, lower_bar = np.empty(n), np.empty(n), np.zeros_like(lower)
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= lower[i, j] * x[j]
        x[i] = total / lower[i, i]
    b_bar[:] = 2.0 * x
    for i in range(n - 1, -1, -1):
        b_bar[i] /= lower[i, i]
        for j in range(i):
            b_bar[j] -= lower[i, j] * b_bar[i]
            lower_bar[i, j] = -b_bar[i] * x[j]
        lower_bar[i, i] = -b_bar[i] * x[i]
    return lower_bar, b_bar


def of_rank(n, m):
    return 0.7, 1.3, wave(n, n), wave(n, m, phase=1.0)


CASES = [
    Case("syrk", syrk_loss, (2, 3), of_rank, small=(4, 3), large=(110, 40), jax=syrk_in_jax, hand_numpy=syrk_by_hand,
         rewritten=True, hand_numba=syrk_by_hand_in_loops),
    Case("syr2k", syr2k_loss, (2, 3, 4), lambda n, m: (*of_rank(n, m), wave(n, m, phase=2.0)), small=(4, 3),
         large=(90, 30), jax=syr2k_in_jax, hand_numpy=syr2k_by_hand, rewritten=True),
    Case("trmm", trmm_loss, (1, 2), lambda m, n: (0.7, wave(m, m), wave(m, n, phase=1.0)), small=(4, 3),
         large=(90, 60), jax=trmm_in_jax, hand_numpy=trmm_by_hand, rewritten=True, hand_numba=trmm_by_hand_in_loops),
    Case("symm", symm_loss, (2, 3, 4), lambda m, n: (
        0.7, 1.3, wave(m, n), wave(m, m, phase=1.0), wave(m, n, phase=2.0)), small=(4, 3), large=(60, 50),
        jax=symm_in_jax, hand_numpy=symm_by_hand, rewritten=True),
    Case("trisolv", trisolv_loss, (0, 1), lambda n: (square(n), wave(n, phase=1.0)), small=(5,), large=(800,),
         jax=trisolv_in_jax, hand_numpy=trisolv_by_hand, hand_numba=trisolv_by_hand_in_loops),
]  # fmt: skip
