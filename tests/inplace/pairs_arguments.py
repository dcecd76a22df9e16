"""Arguments that the function or its helpers change, and arguments that are one array."""

import numpy as np

from tests.inplace.pairs import M33, V3, V4, V5, W3, W5, mutating, pure

# --- the function's own arguments -----------------------------------------------------------------------------------


@mutating(V3)
def own_argument(x):
    x[0] = x[1] * x[2]
    x *= 2.0
    return np.sum(x**2)


@pure
def own_argument_pure(x):
    return 4.0 * ((x[1] * x[2]) ** 2 + x[1] ** 2 + x[2] ** 2)


@mutating(V5, W5)
def two_arguments(x, w):
    x[1:] += w[:-1] * x[:-1]
    w[0] = x[4] ** 2
    return x * w


@pure
def two_arguments_pure(x, w):
    y = np.concatenate([x[:1], x[1:] + w[:-1] * x[:-1]])
    return y * np.concatenate([y[4:] ** 2, w[1:]])


@mutating(V5)
def argument_returned(x):
    x[0] = x[1] ** 2
    return x


@pure
def argument_returned_pure(x):
    return np.concatenate([x[1:2] ** 2, x[1:]])


@mutating(V3, W3)
def argument_given_by_keyword(x, w):
    return scale_in_place(x, by=w[0]) * np.sum(x)


def scale_in_place(values, by=2.0):
    values *= by
    return values[1]


@pure
def argument_given_by_keyword_pure(x, w):
    return x[1] * w[0] * np.sum(x) * w[0]


@mutating(V3, V3.copy())
def passive_argument_becomes_active(x, work):
    work[1:] = x[:2] ** 2
    work[0] = 1.0
    return np.sum(work * x)


@pure
def passive_argument_becomes_active_pure(x, work):
    return x[0] + x[0] ** 2 * x[1] + x[1] ** 2 * x[2]


# --- helpers --------------------------------------------------------------------------------------------------------


def step(u, out):
    """One smoothing step of the inner points."""
    out[1:-1] = 0.25 * (u[2:] + 2.0 * u[1:-1] + u[:-2]) + 0.1 * u[1:-1] ** 2


def step_pure(u, out):
    return np.concatenate([out[:1], 0.25 * (u[2:] + 2.0 * u[1:-1] + u[:-2]) + 0.1 * u[1:-1] ** 2, out[-1:]])


@mutating(V5)
def helper_writes_into_out(x):
    out = np.ones(5)
    step(x, out)
    return out


@pure
def helper_writes_into_out_pure(x):
    return step_pure(x, np.ones(5))


@mutating(V5, 4)
@mutating(V5, 0)
def helper_in_a_loop_with_swaps(x, steps):
    a, b = x.copy(), np.zeros(5)
    for _ in range(steps):
        step(a, b)
        a, b = b, a
    return a


@pure
def helper_in_a_loop_with_swaps_pure(x, steps):
    a, b = x, np.zeros(5)
    for _ in range(steps):
        a, b = step_pure(a, b), a
    return a


@mutating(V5)
def helper_given_one_array_twice(x):
    y = x.copy()
    step(y, y)
    step(y, out=y)
    return y


@pure
def helper_given_one_array_twice_pure(x):
    y = step_pure(x, x)
    return step_pure(y, y)


def add_into(u, v):
    u += 2.0 * v
    v *= u


@mutating(V4)
def helper_given_overlapping_views(x):
    y = x.copy()
    add_into(y[1:], y[:-1])
    return y


@pure
def helper_given_overlapping_views_pure(x):
    u = x[1:] + 2.0 * x[:-1]
    y = np.concatenate([x[:1], u])
    return np.concatenate([y[:-1] * y[1:], y[-1:]])


@mutating(M33)
def helper_given_a_row_and_a_column(m):
    a = m.copy()
    add_into(a[0], a[:, 2].copy())
    scale_in_place(a[:, 1])
    return a


@pure
def helper_given_a_row_and_a_column_pure(m):
    a = np.stack([m[0] + 2.0 * m[:, 2], m[1], m[2]])
    return a * np.array([1.0, 2.0, 1.0])


def rotate(a, i, j, angle):
    """Turn two rows of a matrix and return their product."""
    c, s = np.cos(angle), np.sin(angle)
    upper, lower = a[i].copy(), a[j].copy()
    a[i] = c * upper - s * lower
    a[j] = s * upper + c * lower
    return a[i] @ a[j]


@mutating(M33, 0.7)
def helper_changes_and_returns(m, angle):
    a = m.copy()
    total = rotate(a, 0, 1, angle)
    total += rotate(a, 2, 0, total)
    return a * total


@pure
def helper_changes_and_returns_pure(m, angle):
    def turned(p, q, t):
        return np.cos(t) * p - np.sin(t) * q, np.sin(t) * p + np.cos(t) * q

    a, b = turned(m[0], m[1], angle)
    total = a @ b
    c, a = turned(m[2], a, total)
    total = total + c @ a
    return np.stack([a, b, c]) * total


def first_part(a):
    return a[:2]


@mutating(V4)
def helper_returns_a_view(x):
    y = x.copy()
    part = first_part(y)
    part[0] = y[3] ** 2
    first_part(y)[1] *= y[0]
    return y


@pure
def helper_returns_a_view_pure(x):
    return np.stack([x[3] ** 2, x[1] * x[3] ** 2, x[2], x[3]])


def normalised(a):
    a /= np.sqrt(np.sum(a**2))
    return a


@mutating(V4)
def helper_returns_its_argument(x):
    y = x.copy()
    z = normalised(y)
    z[0] = 2.0
    return np.sum(y * x) + z[1]


@pure
def helper_returns_its_argument_pure(x):
    y = x / np.sqrt(np.sum(x**2))
    return 2.0 * x[0] + np.sum(y[1:] * x[1:]) + y[1]


@mutating(V3, W3)
def helper_changes_a_copy(x, w):
    def changed(a):
        a = a.copy()
        a[0] = w[0]
        return a

    y = x.copy()
    z = changed(y)
    y[1] = z[0] * z[2]
    return np.sum(y * z)


@pure
def helper_changes_a_copy_pure(x, w):
    return x[0] * w[0] + w[0] * x[2] * x[1] + x[2] ** 2


@mutating(V3, W3)
def helper_that_only_reads_between(x, w):
    y = x.copy()
    before = norm(y)
    y *= w
    middle = norm(y)
    y[0] = before
    return before * middle + norm(y)


def norm(a):
    return np.sqrt(np.sum(a**2) + 1.0)


@pure
def helper_that_only_reads_between_pure(x, w):
    before, middle = norm(x), norm(x * w)
    return before * middle + norm(np.concatenate([np.stack([before]), (x * w)[1:]]))
