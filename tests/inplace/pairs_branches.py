"""Stores in branches, aliases that depend on one, early returns and breaks between stores."""

import numpy as np

from tests.inplace.pairs import M33, V3, V4, V5, W3, W5, mutating, pure


@mutating(V3, True)
@mutating(V3, False)
def store_in_a_branch(x, c):
    y = x.copy()
    if c:
        y[0] = x[1] ** 2
    else:
        y[1:] *= y[0]
    return y**2


@pure
def store_in_a_branch_pure(x, c):
    return np.stack([x[1] ** 2, x[1], x[2]]) ** 2 if c else np.concatenate([x[:1], x[1:] * x[0]]) ** 2


@mutating(V5)
def branch_on_what_was_stored(x):
    y = x.copy()
    for i in range(1, 5):
        if y[i - 1] > 0.0:
            y[i] = y[i] * y[i - 1]
        elif y[i] < -1.0:
            y[i] += y[i - 1] ** 2
    return y


@pure
def branch_on_what_was_stored_pure(x):
    y = x
    for i in range(1, 5):
        here = np.arange(5) == i
        if y[i - 1] > 0.0:
            y = np.where(here, y * y[i - 1], y)
        elif y[i] < -1.0:
            y = np.where(here, y + y[i - 1] ** 2, y)
    return y


@mutating(V3, True)
@mutating(V3, False)
def alias_or_copy(x, c):
    a = x * 1.0
    b = a if c else a.copy()
    b[0] = x[1] ** 2
    a[1] *= 3.0
    return np.sum(a * b)


@pure
def alias_or_copy_pure(x, c):
    changed = np.stack([x[1] ** 2, 3.0 * x[1], x[2]])
    if c:
        return np.sum(changed * changed)
    return x[0] * x[1] ** 2 + 3.0 * x[1] ** 2 + x[2] ** 2


@mutating(V3, W3, 1)
@mutating(V3, W3, -1)
def one_of_two_arrays(x, w, k):
    a, b = x.copy(), w.copy()
    if k > 0:
        c = a
    else:
        c = b
    c[0] = 2.0 * c[1]
    c *= c
    return np.sum(a * b * x)


@pure
def one_of_two_arrays_pure(x, w, k):
    if k > 0:
        return np.sum(np.stack([2.0 * x[1], x[1], x[2]]) ** 2 * w * x)
    return np.sum(x * np.stack([2.0 * w[1], w[1], w[2]]) ** 2 * x)


@mutating(V5, True)
@mutating(V5, False)
def one_of_two_views(x, c):
    y = x.copy()
    part = y[:2] if c else y[3:]
    part[:] = part * y[2]
    part[0] += 1.0
    return y**2


@pure
def one_of_two_views_pure(x, c):
    if c:
        return np.concatenate([x[:2] * x[2] + np.array([1.0, 0.0]), x[2:]]) ** 2
    return np.concatenate([x[:3], x[3:] * x[2] + np.array([1.0, 0.0])]) ** 2


@mutating(V4)
def alias_chosen_in_each_trip(x):
    a, b = x * 1.0, x**2
    for k in range(4):
        c = a if x[k] > 0.0 else b
        c[k] = a[k] * b[k - 1]
        c[0] += 0.1
    return np.sum(a * b)


@pure
def alias_chosen_in_each_trip_pure(x):
    a, b = x, x**2
    for k in range(4):
        at, first = np.eye(4)[k], np.eye(4)[0]
        if x[k] > 0.0:
            a = np.where(at > 0.0, a[k] * b[k - 1], a) + 0.1 * first
        else:
            b = np.where(at > 0.0, a[k] * b[k - 1], b) + 0.1 * first
    return np.sum(a * b)


@mutating(V5, 2)
@mutating(V5, 9)
def early_return_between_stores(x, last):
    y = x.copy()
    for i in range(1, 5):
        y[i] = np.sin(y[i - 1]) * y[i]
        if i == last:
            return y * 2.0
        y[0] += y[i] ** 2
    y[:2] = 0.0
    return y


@pure
def early_return_between_stores_pure(x, last):
    y = x
    for i in range(1, 5):
        y = np.where(np.arange(5) == i, np.sin(y[i - 1]) * y, y)
        if i == last:
            return y * 2.0
        y = np.where(np.arange(5) == 0, y + y[i] ** 2, y)
    return np.concatenate([np.zeros(2), y[2:]])


@mutating(V5)
def break_between_stores(x):
    y = x.copy()
    for i in range(4):
        y[i] *= y[i + 1]
        if y[i] < -1.0:
            break
        y[i + 1] = y[i] - x[0]
    return y


@pure
def break_between_stores_pure(x):
    y = x
    for i in range(4):
        y = np.where(np.arange(5) == i, y * y[i + 1], y)
        if y[i] < -1.0:
            break
        y = np.where(np.arange(5) == i + 1, y[i] - x[0], y)
    return y


@mutating(V5)
def continue_between_stores(x):
    y = np.zeros(5)
    total = 0.0
    for i in range(5):
        y[i] = x[i] ** 2
        if x[i] < 0.0:
            continue
        y[i] *= 2.0 + total
        total += y[i]
    return np.sum(y * y) + total


@pure
def continue_between_stores_pure(x):
    squares = total = 0.0
    for i in range(5):
        value = x[i] ** 2
        if x[i] >= 0.0:
            value = value * (2.0 + total)
            total = total + value
        squares = squares + value**2
    return squares + total


@mutating(M33)
def nested_branches_in_loops(m):
    a = m.copy()
    for i in range(3):
        for j in range(3):
            if i == j:
                a[i, j] = 1.0 + a[i, j] ** 2
            elif i > j:
                if a[j, i] > 0.0:
                    a[i, j] += a[j, i] * a[i, i - 1]
                else:
                    a[i, j] = a[j, j]
            else:
                a[i, j] *= 0.5
    return a


@pure
def nested_branches_in_loops_pure(m):
    a = m
    for i in range(3):
        for j in range(3):
            here = np.outer(np.arange(3) == i, np.arange(3) == j)
            if i == j:
                a = np.where(here, 1.0 + a**2, a)
            elif i > j:
                a = np.where(here, a + a[j, i] * a[i, i - 1] if a[j, i] > 0.0 else a[j, j], a)
            else:
                a = np.where(here, 0.5 * a, a)
    return a


@mutating(V5, W5)
def array_made_in_a_branch(x, w):
    if w[0] > 0.0:
        y = np.zeros(5)
        y[1:] = x[:-1] * w[1:]
    else:
        y = x
    z = y + x
    z[0] = y[1]
    return z


@pure
def array_made_in_a_branch_pure(x, w):
    return np.concatenate([x[:1] * w[1:2], x[:-1] * w[1:] + x[1:]])


@mutating(V3, None)
@mutating(V3, W3)
def optional_buffer(x, out):
    if out is None:
        out = np.empty(3)
    out[:] = x * x
    out[1] += x[0]
    return np.sum(out**2)


@pure
def optional_buffer_pure(x, out):
    return np.sum((x * x + np.array([0.0, 1.0, 0.0]) * x[0]) ** 2)


@mutating(V3)
def while_until_small(x):
    y = x * 4.0
    trips = 0
    while np.max(np.abs(y)) > 1.0:
        y *= 0.6
        y[trips % 3] -= 0.1 * y[(trips + 1) % 3] ** 2
        trips += 1
    return y * trips


@pure
def while_until_small_pure(x):
    y = x * 4.0
    trips = 0
    while np.max(np.abs(y)) > 1.0:
        y = y * 0.6
        y = y - np.eye(3)[trips % 3] * 0.1 * y[(trips + 1) % 3] ** 2
        trips += 1
    return y * trips


@mutating(V4, 4)
@mutating(V4, 0)
def while_with_two_ends(x, limit):
    y = x.copy()
    i = 0
    while i < limit:
        if y[i] < -1.0:
            y[i] = y[i - 1]
            i += 2
            continue
        y[i] = y[i] ** 2 + y[i - 1]
        i += 1
    return y


@pure
def while_with_two_ends_pure(x, limit):
    y = x
    i = 0
    while i < limit:
        at = np.arange(4) == i
        if y[i] < -1.0:
            y = np.where(at, y[i - 1], y)
            i += 2
            continue
        y = np.where(at, y[i] ** 2 + y[i - 1], y)
        i += 1
    return y
