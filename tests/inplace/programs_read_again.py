"""Arrays that change between an operation on them and the use of its result: the derivative of the use may not do the
operation again. And stores at an index of unknown kind: what is kept of the array before is no view of it."""

import numpy as np

from tests.inplace.pairs import V3, V4, W3, program


@program(V3)
def quotient_by_constant(x):
    a = x.copy()
    r = a / 2.0
    a[0] = 3.0
    return np.sum(r * x) + np.sum(a)


@program(V3)
def square_of_product(x):
    b = x.copy()
    h = 2.0 * b
    b[0] = 3.0
    return np.sum(h * h) + np.sum(b * x)


@program(V3)
def sum_of_equal_products(x):
    b = x.copy()
    h = b * x
    b[0] = 3.0
    g = b * x
    return np.sum(np.sin(h) * x) + np.sum(np.sin(g) * x)


@program(V3)
def negated(x):
    a = x.copy()
    r = -a
    a[1] = 3.0 * x[0]
    return np.sum(r * x) + np.sum(a * x)


@program(V3)
def reciprocal(x):
    a = x.copy()
    r = 1.0 / a
    a[0] = 3.0
    return np.sum(r * x) + np.sum(a)


@program(V3)
def share_of_sum(x):
    a = x.copy()
    r = a / np.sum(a)
    a[0] = 3.0
    return np.sum(r * x) + np.sum(a * x)


@program(V3)
def reversed_quotient(x):
    a = x.copy()
    r = a[::-1] / 2
    a[0] = 3.0
    return np.sum(r * x) + np.sum(a * x)


@program(V3)
def divisor_changes(x):
    a = x.copy()
    r = x / a
    a *= 2.0
    return np.sum(r * r * x) + np.sum(a * x)


@program(V3)
def choice(x):
    a = x.copy()
    r = np.where(a > 0.5, a, 0.0)
    s = np.where(a > 0.5, -1.0, 2.0)
    a[0] = 0.1
    return np.sum(r * x) + np.sum(s * x * x) + np.sum(a)


@program(V3)
def choice_of_changed_mask(x):
    m = x > 0.5
    r = np.where(m, x, 0.0)
    s = np.where(m, 2.0, -1.0)
    m[:] = False
    return np.sum(r * x * s) + np.sum(np.where(m, x, 3.0 * x))


@program(V3)
def spread_number(x):
    a = x.copy()
    s = np.array([x[1] / 2.0, -x[0]])
    r = np.broadcast_to(s[0], (3,)) * a
    s[0] = 5.0
    a[:] = s[0] * x
    return np.sum(r * x) + np.sum(a * r) + s[1]


@program(V3)
def changed_in_a_branch(x):
    a = x.copy()
    r = a / 2.0
    if x[0] > 0.5:
        a[0] = 3.0 * x[1]
    return np.sum(r * x) + np.sum(a * a)


@program(V3)
def used_in_a_branch(x):
    a = x.copy()
    r = -a
    q = a / 4.0
    a[2] = x[0]
    total = np.sum(a)
    if x[0] > 0.5:
        total = total + np.sum(r * x * q)
    return total


@program(V4)
def changed_in_each_iteration(x):
    a = x.copy()
    total = 0.0
    for i in range(3):
        r = a / 2.0
        a[i] = a[i] * x[0]
        total = total + np.sum(r * x * r)
    return total + np.sum(a)


@program(V4)
def from_before_the_loop(x):
    a = x.copy()
    r = a / 2.0
    n = -a
    total = 0.0
    for i in range(3):
        total = total + np.sum(r * x) * n[i]
        a[i] = total
    return total + np.sum(a)


@program(V4)
def carried_quotient(x):
    a = x.copy()
    r = x
    for _ in range(3):
        r = np.sin(r * a)
        a *= r / 2.0
        r = r / a + a
    return np.sum(r * x)


@program(V4)
def quotient_of_a_view(x):
    a = x.copy()
    v = a[1:]
    r = v / 2.0
    a[2] = 3.0
    return np.sum(r * x[1:]) + np.sum(v * x[:3])


@program(V4)
def quotient_of_what_a_helper_changes(x):
    def clear(v, k):
        v[k] = 0.5
        return v

    a = x.copy()
    r = a / 2.0
    return np.sum(r * clear(a, 1)) + np.sum(r * x)


@program(V3, slice(0, 2))
@program(V3, 1)
@program(V3, [0, 2])
@program(V3, np.array([True, False, True]))
def square_at_argument(x, k):
    y = x.copy()
    y[k] = y[k] * y[k]
    return np.sum(y)


@program(V3, {"k": slice(1, None)})
@program(V3, {"k": 2})
def square_at_item(x, d):
    y = x.copy()
    k = d["k"]
    y[k] = y[k] * y[k]
    return np.sum(y * x)


@program(V3, [slice(0, 2), slice(1, 3)])
@program(V3, (slice(0, 2), slice(1, 3), 2))
@program(V3, [1, [0, 2]])
def square_at_each(x, ks):
    y = x.copy()
    for k in ks:
        y[k] = y[k] * y[k]
    return np.sum(y)


@program(V3, [slice(0, 2), slice(1, 3), slice(0, 1)])
def old_contents_in_a_loop(x, ks):
    y = x.copy()
    total = 0.0
    for k in ks:
        old = y[k]
        total = total + np.sum(old * old)
        y[k] = np.sin(y[k]) * total
    return np.sum(y) + total


@program(V3, 1)
def slice_or_list(x, n):
    k = slice(0, 2) if n else [0, 1]
    y = x.copy()
    y[k] = y[k] * y[k]
    return np.sum(y)


@program(V3, W3)
def view_before_the_whole_changes(a, b):
    m = np.outer(a, b)
    w = m.ravel()[::5]
    u = m[:, 0]
    m += m[:, 0] / (1.5 + u**2)
    return np.sum(w * w * a[: w.size]) + np.sum(m * u)


@program(V3, W3)
def view_of_a_transpose(a, b):
    m = np.outer(a, b).T
    w = m.ravel()
    v = m.T.ravel()
    m *= 1.5 + m[:, 0] ** 2
    return np.sum(w * w) + np.sum(v**2 * m.ravel())


# --- a bool as an index copies, and is known as one only when the program runs ---------------------------------------


@program(V3, W3)
def rows_at_bools_of_an_array(x, w):
    y = x.copy()
    for k in np.array([True, False, True]):
        v = y[k]
        y[0] += np.sum(v * w)
    return np.sum(y * y * w)


@program(V3, W3, [True, False, True])
def rows_at_bools_of_an_argument(x, w, ks):
    y = x.copy()
    for k in ks:
        v = y[k]
        y[0] += np.sum(v * w)
    return np.prod(y)


@program(V3, W3, [0, True])
def rows_at_a_place_and_a_bool(x, w, ks):
    y = x.copy()
    for k in ks:
        v = y[k]
        y[0] += np.sum(v * w)
    return np.prod(y)


@program(V3, W3, [True, True])
def products_at_bools_of_an_argument(x, w, ks):
    y = x.copy()
    v = y[ks[0]]
    y[0] += np.sum(v * w)
    v = y[ks[1]]
    y[0] += np.sum(v * w)
    return np.prod(y)


@program(V3, W3)
def rows_at_a_bool_and_a_slice(x, w):
    y = x.copy()
    for k in (True, True):
        v = y[k, :2]
        y[0] += np.sum(v * w[:2])
    return np.prod(y)
