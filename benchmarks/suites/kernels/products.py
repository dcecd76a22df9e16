"""Products of matrices, vectors and tensors, one after the other."""

import numpy as np

from benchmarks.case import Case, wave


def gemver(alpha, beta, a, u1, v1, u2, v2, x, y, z):
    """A matrix updated by two outer products, and its products with two vectors."""
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    return alpha * a @ x


def gemver_loss(alpha, beta, a, u1, v1, u2, v2, x, y, z):
    return np.sum(gemver(alpha, beta, a.copy(), u1, v1, u2, v2, x.copy(), y, z) ** 2)


def gemver_arguments(n):
    return 0.7, 1.3, wave(n, n) / n, *(wave(n, phase=1.0 + k) for k in range(7))


def gemver_in(module):
    def loss(alpha, beta, a, u1, v1, u2, v2, x, y, z):
        a = a + module.outer(u1, v1) + module.outer(u2, v2)
        x = x + beta * (y @ a) + z
        return module.sum((alpha * (a @ x)) ** 2)

    return loss


def gemver_in_jax():
    import jax.numpy as jnp

    return gemver_in(jnp)


def gemver_in_autograd():
    import autograd.numpy as anp

    return gemver_in(anp)


def gemver_in_torch():
    import torch

    return gemver_in(torch)


def gemver_by_hand(alpha, beta, a, u1, v1, u2, v2, x, y, z):
    left, right = np.stack((u1, u2), axis=1), np.stack((v1, v2), axis=1)
    a = a + left @ right.T
    x = x + beta * (y @ a) + z
    w_bar = (2.0 * alpha * alpha) * (a @ x)
    x_bar = w_bar @ a
    a_bar = np.stack((w_bar, beta * y), axis=1) @ np.stack((x, x_bar))
    left_bar, right_bar = a_bar @ right, a_bar.T @ left
    return (a_bar, left_bar[:, 0], right_bar[:, 0], left_bar[:, 1], right_bar[:, 1], x_bar, beta * (a @ x_bar),
            x_bar.copy())  # fmt: skip


def doitgen(a, c):
    """The last axis of ``a`` multiplied by ``c``, a row at a time in place."""
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q, :] = a[r, q] @ c


def doitgen_loss(a, c):
    a = a.copy()
    doitgen(a, c)
    return np.sum(a * a)


def doitgen_in_jax():
    import jax.numpy as jnp

    def loss(a, c):
        return jnp.sum((a @ c) ** 2)

    return loss


def doitgen_by_hand(a, c):
    out_bar = 2.0 * (a @ c)
    return out_bar @ c.T, np.tensordot(a, out_bar, axes=((0, 1), (0, 1)))


def three_products_loss(a, b, c, d):
    """Of ``(a b) (c d)``."""
    first, second = np.dot(a, b), np.dot(c, d)
    return np.sum(np.tanh(first @ second))


def three_products_in_jax():
    import jax.numpy as jnp

    def loss(a, b, c, d):
        return jnp.sum(jnp.tanh((a @ b) @ (c @ d)))

    return loss


def three_products_in_torch():
    import torch

    def loss(a, b, c, d):
        return torch.sum(torch.tanh((a @ b) @ (c @ d)))

    return loss


def three_products_in_autograd():
    import autograd.numpy as anp

    def loss(a, b, c, d):
        return anp.sum(anp.tanh((a @ b) @ (c @ d)))

    return loss


def three_products_by_hand(a, b, c, d):
    first, second = a @ b, c @ d
    bar = 1.0 - np.tanh(first @ second) ** 2
    first_bar, second_bar = bar @ second.T, first.T @ bar
    return first_bar @ b.T, a.T @ first_bar, second_bar @ d.T, c.T @ second_bar


def contours_loss(terms, start, weight):
    """Of the sum over points on a circle of ``weight (z - c) P(z)^-1 start``, ``P`` a polynomial in matrices (k, n, n).

    Beyn's method for eigenvalues in a circle has these sums; the points are complex.
    """
    degree, n, _ = terms.shape
    inside = np.zeros((n, start.shape[1]), dtype=np.complex128)
    count = 8
    for k in range(count):
        point = 3.0 + 2.0 * np.exp(2.0j * np.pi * (k + 0.5) / count)
        matrix = np.zeros((n, n), dtype=np.complex128)
        for power in range(degree):
            matrix += point**power * terms[power]
        inside += (point - 3.0) / count * np.linalg.solve(matrix, start)
    return np.sum(weight * (inside.real**2 + inside.imag**2))


def contours_arguments(degree, n, m):
    terms = wave(degree, n, n) / n
    terms[0] += np.diag(np.linspace(0.5, 6.0, n))
    terms[1] -= np.eye(n)
    return terms, wave(n, m, phase=1.0), wave(n, m, phase=2.0)


def contours_in_jax():
    import jax.numpy as jnp

    def loss(terms, start, weight):
        count = 8
        points = 3.0 + 2.0 * jnp.exp(2.0j * jnp.pi * (jnp.arange(count) + 0.5) / count)
        matrices = jnp.einsum("kp,pij->kij", points[:, None] ** jnp.arange(len(terms)), terms)
        right = jnp.broadcast_to(start.astype(complex), (count, *start.shape))
        inside = jnp.einsum("k,kij->ij", (points - 3.0) / count, jnp.linalg.solve(matrices, right))
        return jnp.sum(weight * (inside.real**2 + inside.imag**2))

    return loss


def contours_by_hand(terms, start, weight):
    """The inverses and the solutions are kept."""
    degree, n, _ = terms.shape
    count, kept = 8, []
    inside = np.zeros((n, start.shape[1]), dtype=np.complex128)
    for k in range(count):
        point = 3.0 + 2.0 * np.exp(2.0j * np.pi * (k + 0.5) / count)
        powers = point ** np.arange(degree)
        inverse = np.linalg.inv(np.tensordot(powers, terms, axes=1))
        found = inverse @ start
        inside += (point - 3.0) / count * found
        kept.append((point, powers, inverse, found))
    inside_bar = 2.0 * weight * inside
    terms_bar, start_bar = np.zeros_like(terms), np.zeros_like(start)
    for point, powers, inverse, found in kept:
        right_bar = inverse.conj().T @ (np.conj(point - 3.0) / count * inside_bar)
        start_bar += right_bar.real
        matrix_bar = right_bar @ found.conj().T
        for k in range(degree):
            terms_bar[k] -= (np.conj(powers[k]) * matrix_bar).real
    return terms_bar, start_bar


CASES = [
    Case("gemver", gemver_loss, (2, 3, 4, 5, 6, 7, 8, 9), gemver_arguments, small=(4,), large=(500,),
         jax=gemver_in_jax, torch=gemver_in_torch, autograd=gemver_in_autograd, hand_numpy=gemver_by_hand),
    Case("doitgen", doitgen_loss, (0, 1), lambda r, q, p: (wave(r, q, p), wave(p, p, phase=1.0)), small=(2, 3, 4),
         large=(40, 40, 40), jax=doitgen_in_jax, hand_numpy=doitgen_by_hand, rewritten=True),
    Case("three_products", three_products_loss, (0, 1, 2, 3), lambda n: tuple(
        wave(n, n, phase=float(k)) / n for k in range(4)), small=(4,), large=(240,), jax=three_products_in_jax,
        torch=three_products_in_torch, autograd=three_products_in_autograd, hand_numpy=three_products_by_hand),
    Case("contours", contours_loss, (0, 1), contours_arguments, small=(3, 4, 2), large=(3, 60, 20),
         jax=contours_in_jax, hand_numpy=contours_by_hand),
]  # fmt: skip
