"""The orders of elements in memory: values in the orders A and K, and which reshapes are views."""

import numpy as np

from tests.inplace.pairs import M23, M33, T234, V3, program

WIDE = np.sin(np.arange(24.0)).reshape(4, 6)


def in_every_order(m):
    weights = np.arange(1.0, m.size + 1.0)
    total = 0.0
    for k, r in enumerate([
        np.ravel(m, order="A"), m.ravel("K"), np.ravel(m, order="F"), m.flatten("A"), m.flatten("K"), m.flatten("F"),
        m.reshape(-1, order="A"), np.reshape(m, (1, -1), "A").ravel(), m.copy(order="K").ravel("A"),
        m.copy().ravel("K"), np.copy(m, order="F").ravel("A"), np.copy(m, order="C").ravel("K"),
        np.array(m, order="A").ravel("K"), np.asarray(m, order="F").ravel("K"), np.ascontiguousarray(m).ravel("K"),
    ]):
        total = total + (k + 1) * np.sum(r * r * weights)
    return total


@program(M33)
@program(M33.T)
@program(np.asfortranarray(M23))
@program(M33[::-1])
@program(WIDE[:, ::2])
@program(WIDE[::2, ::2].T)
def orders_of_an_argument(m):
    return in_every_order(m)


@program(V3)
def orders_of_what_is_made(x):
    m = np.outer(x, x * x)
    total = in_every_order(m) + in_every_order(m.T) + in_every_order(np.asfortranarray(m) * 2.0)
    return total + in_every_order(np.broadcast_to(x, (2, 3))) + in_every_order(np.full((3, 3), 2.0, order="F") * x)


@program(T234)
def orders_of_three_dimensions(t):
    return in_every_order(np.swapaxes(t, 0, 1)) + in_every_order(np.moveaxis(t, 0, -1)) + in_every_order(t.T)


@program(M33)
@program(M33.T)
@program(WIDE[:, ::2])
def stores_into_a_reshape(m):
    total = 0.0
    for a in (m * 1.0, m.T * 1.0, np.asfortranarray(m)):
        for order in ("C", "F", "A"):
            b = a * 1.0
            r = b.reshape(-1, order=order)
            r[1] = m[0, 0] * m[0, 1]
            b *= m[1, 1]
            total = total + np.sum(r * r * np.arange(r.size)) + np.sum(b[1])
    return total


@program(M33)
@program(M33.T)
def stores_into_the_order_of_memory(m):
    a = m * 1.0
    r = a.ravel("K")
    r[1] = m[0, 0] * m[0, 1]
    a *= m[1, 1]
    return np.sum(r * r) + np.sum(a[1])


@program(M23)
@program(np.asfortranarray(M23))
@program(WIDE[:2, :3])
@program(WIDE[::2, ::2])
@program(WIDE[::-1])
def argument_and_its_reshape(m):
    b = m.reshape(-1)
    b[1] = 2.0 * b[0]
    m[0, 0] = 3.0 * b[2]
    return np.sum(m * np.arange(m.size).reshape(m.shape)) + np.sum(b * b)


@program(WIDE[::2, ::2].T)
@program(M23)
def scaled_argument_and_the_ravel_of_its_transpose(m):
    for _ in range(2):
        m *= 2.0
    b = m.T.ravel()
    b[1] = 2.0 * b[0]
    return np.sum(m * np.arange(m.size).reshape(m.shape)) + np.sum(b * b)


@program(np.asfortranarray(M23))
@program(M23)
def asks_for_its_layout(m):
    a = m * 2.0
    a += np.arange(6.0).reshape(2, 3)
    return np.sum(a.ravel() * np.arange(6.0)) if a.flags.c_contiguous else np.sum(a * a)


@program(0.7, 2)
@program(0.7, 3)
def numbers_and_lists_in_the_order_of_memory(a, n):
    m = n if n % 3 else np.outer([a, 1.0], [a, 2.0])
    both = np.ravel([a * n, 2.0 + a], "K") * np.reshape([[a, 1.0]], -1, order="A")
    return np.sum(np.reshape(m, -1, order="A")) * a + np.sum(both) + np.ravel(n, order="A")[0] * a
