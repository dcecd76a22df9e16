"""Stores that happen while something else is computed: tests of loops and branches, indices, arguments, values."""

import numpy as np

from tests.inplace.pairs import M33, V3, program

W3 = np.array([0.7, 1.3, 0.4])


def halve(a):
    a *= 0.5
    return a[0]


def append_half(items):
    items.append(items[-1] * 0.5)
    return items[-1]


def halve_entry(d):
    d["n"] = d["n"] * 0.5
    return d["n"]


class Box:
    def __init__(self, held):
        self.held = held


def halve_held(box):
    box.held = box.held * 0.5
    return box.held


@program(W3)
def test_of_a_while(x):
    a, k = x * 4.0, 0
    while k < 2 and halve(a) > 0.6:
        k += 1
    return np.sum(a * x) + k


@program(W3)
def test_of_a_while_alone(x):
    a = x * 4.0
    while halve(a) > 0.1:
        pass
    return np.sum(a * x)


@program(W3)
def test_of_a_while_with_else(x):
    a, k = x * 4.0, 0
    while halve(a) > 0.1:
        k += 1
    else:
        a[1] = x[0] * 7.0
    return np.sum(a * x) + k


@program(W3)
def test_of_a_while_with_break(x):
    a, k = x * 4.0, 0
    while halve(a) > 0.1:
        k += 1
        if k == 2:
            break
    else:
        a[1] = x[0] * 7.0
    return np.sum(a * x) + k


@program(W3)
def test_of_a_while_with_continue(x):
    a, k = x * 4.0, 0
    while halve(a) > 0.1:
        k += 1
        if k == 1:
            continue
        a[2] = x[1] * k
    else:
        a[1] = x[0] * 7.0
    return np.sum(a * x) + k


@program(W3)
def test_of_a_while_with_return(x):
    a, k = x * 4.0, 0
    while 0.01 < halve(a) < 3.0:
        k += 1
        if k == 2:
            return np.sum(a * x) * k
    return np.sum(a * x) + k


@program(W3)
def tests_of_two_loops(x):
    a, total = x * 4.0, 0.0
    while halve(a) > 0.05:
        b = a * 1.0
        while halve(b) > 0.2:
            total = total + np.sum(b * x)
    return total


@program(W3)
def test_grows_a_list(x):
    items, k = [x[0] * 4.0], 0
    while k < 2 and append_half(items) > 0.1:
        k += 1
    return items[-1] * x[0] + k + len(items)


@program(W3)
def test_changes_a_dict(x):
    d, k = {"n": x[0] * 4.0}, 0
    while k < 2 and halve_entry(d) > 0.1:
        k += 1
    return d["n"] * x[0] + k


@program(W3)
def test_changes_an_object(x):
    box, k = Box(x[0] * 4.0), 0
    while halve_held(box) > 0.1:
        k += 1
    return box.held * x[0] + k


@program(W3)
def place_read_before_the_value(x):
    a = x * 4.0
    a[1] += halve(a)
    a[[0, 2]] *= halve(a)
    a[1:] -= halve(a)
    return np.sum(a * x)


@program(M33)
def place_of_a_matrix(m):
    a = m * 1.0
    a[1] += halve(a)
    a[1, 2] -= halve(a)[1]
    for k in range(3):
        a[k, 0] *= halve(a)[2]
    return np.sum(a * m)


@program(V3)
def place_of_a_container(x):
    d, box, items = {"n": x[0]}, Box(x[0]), [x[0]]
    d["n"] += halve_entry(d) * 3.0
    box.held += halve_held(box)
    items[0] += append_half(items)
    return d["n"] * x[1] + box.held * x[2] + items[0] * items[1]


def swap(items):
    items[0], items[1] = items[1], items[0]
    return items[0]


@program(V3)
def array_of_a_place_that_moves(x):
    items = [x * 1.0, x * 2.0]
    first = items[0]
    items[0] += swap(items) * x
    return np.sum(first * items[1] * items[0])


@program(W3)
def in_every_kind_of_place(x):
    a = x * 4.0
    total = a[0] * halve(a) + a[0] - halve(a) * a[0]
    some = [halve(a) * x[i] for i in range(3)]
    t = (a[0], halve(a), a[0], halve(a))
    d = {"a": a[0], "b": halve(a), "c": a[0]}
    if (b := halve(a)) > 0 and (c := a[1]) > 0:
        total = total + b * c
    assert halve(a) > 0, halve(a)
    text = f"{halve(a):.3f}"
    return np.sum(a * x) + total + sum(some) + t[0] * t[1] + t[2] * t[3] + d["a"] * d["b"] * d["c"] + len(text)


@program(W3)
def items_made_before_they_are_read(x):
    a = x * 4.0
    first = sum(halve(a) for _ in range(3))
    second = list(map(lambda i: halve(a) * x[i], range(3)))
    return (first + sum(second)) * np.sum(a)


@program(W3)
def largest_of_a_list(x):
    items = []
    for i in range(3):
        items.append(x[0] * (i + 1))
    return max(*items) * np.sum(x)
