"""Augmented assignments to arrays that something else refers to: containers, objects, closures, views, other names."""

import numpy as np

from tests.inplace.pairs import M33, V3, V5, program


class Box:
    def __init__(self, held):
        self.held = held


@program(V3)
def one_array_in_a_list_twice(x):
    a, history = x * 1.0, []
    for _ in range(2):
        a *= 2.0
        a *= 2.0
        history.append(a)
    return np.sum(history[0] * x) + np.sum(history[1])


@program(V3, 20)
def one_array_in_a_long_list(x, n):
    a, history = x * 1.0, []
    for k in range(n):
        a *= 1.01
        a += 0.1 * k
        history.append(a)
    return np.sum(history[3] * x)


@program(V3)
def constant_array_in_a_list(x):
    w, history = np.ones(3), []
    for _ in range(3):
        w *= 2.0
        w += 1.0
        history.append(w)
    return np.sum(history[0] * x)


@program(V3)
def places_in_a_list(x):
    w, history = np.arange(3), []
    for _ in range(2):
        w *= 2
        w %= 3
        history.append(w)
    return np.sum(x[history[0]] * x)


@program(V3)
def other_name_read_in_the_loop(x):
    a = x * 1.0
    b, total = a, 0.0
    for _ in range(3):
        total = total + np.sum(b * x)
        a *= 2.0
    return total


@program(V3)
def attribute_in_a_list(x):
    box, history = Box(x * 1.0), []
    for _ in range(2):
        box.held *= 2.0
        box.held += x
        history.append(box.held)
    return np.sum(history[0] * x)


KEPT: list = []


def keep(v):
    KEPT.append(v)


@program(V3)
def kept_by_a_function(x):
    del KEPT[:]
    a = np.ones(3)
    for _ in range(3):
        keep(a)
        a *= 2.0
        a += 1.0
    return np.sum(KEPT[0] * x)


@program(V3)
def alias_of_some_trips(x):
    a, b = x * 1.0, x * 1.0
    for k in range(4):
        a *= 1.1
        a += x
        if k % 2 == 0:
            b = a
    return np.sum(a * b)


@program(V3)
def default_of_a_nested_function(x):
    a = x * 1.0

    def of_array(v=a):
        return np.sum(v * x)

    for _ in range(3):
        a *= 2.0
        a += x
    return of_array()


@program(V3)
def swapped_in_the_loop(x):
    a, b, history = x * 1.0, x * 2.0, []
    for _ in range(3):
        a *= 2.0
        history.append(a)
        a, b = b, a
        a += x
    return np.sum(history[0] * history[1] * history[2])


@program(V3)
def asked_not_to_copy(x):
    a = x * 1.0
    b = np.array(a, copy=False)
    for _ in range(3):
        a *= 2.0
        a += x
    return np.sum(b * x)


@program(V3)
def asked_not_to_copy_by_place(x):
    a = x * 1.0
    b = a.astype(float, "K", "unsafe", True, False)
    a *= 2.0
    a += x
    return np.sum(b * x)


@program(np.asfortranarray(M33), V3)
def layout_is_kept(m, v):
    a = m * 2.0
    a += np.arange(9.0).reshape(3, 3)
    return np.sum(a.ravel("K") * np.arange(9.0)) + v[0]


@program(V5)
def nobody_else(x):
    a, total = x * 1.0, 0.0
    for _ in range(3):
        a *= 1.5
        a += x
        total = total + np.sum(a * a)
    return total


@program(V3, 0)
def chosen_from_a_list_before_a_store(x, i):
    u, w = x * 1.5, x * 2.0
    chosen = [u, w][i]
    u[1] = np.sum(chosen * x)
    return np.sum(u * x)


@program(V3, 2)
def chosen_in_a_loop_before_a_store(x, n):
    u, w, total = x * 1.5, x * 2.0, 0.0
    for i in range(n):
        total += np.sum([u, w][i] * x)
    u[1] = total
    return np.sum(u * x)


@program(V3, 1)
def chosen_by_a_slice_before_a_store(x, n):
    u, w = x * 1.5, x * 2.0
    part = [u, w, u][n - 1 : n + 1]
    u[1] = np.sum(part[0] * x) + np.sum(part[-1])
    return np.sum(u * x)


@program(V3, 1)
def chosen_view_before_a_store(x, n):
    rows = np.zeros((3, 3))
    for i in range(3):
        rows[i] = x * i
    total = np.sum([rows[0], rows[1], rows[2]][n] * x)
    rows[n] = total
    return np.sum(rows * rows)


@program(V3, 1.3)
def chosen_from_a_dict_before_a_store(x, a):
    u, w = x * 1.5, x * 2.0
    chosen = {False: u, True: w}[a < 1.0]
    pair, c = {"u": (u, a), "w": (w, a * a)}["u" if a > 0 else "w"]
    u[1] = np.sum(pair * x) * c + np.sum(chosen)
    return np.sum(u * x)
