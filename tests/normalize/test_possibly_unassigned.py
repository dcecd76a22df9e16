"""Variables that a path leaves without a value: kept, and given a cotangent, where they are read and nowhere else."""

# ruff: noqa: F821

import sys

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


# --- bound by a trip, read by the next one ---------------------------------------------------------------------------


def a_number_of_the_trip_before(x):
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + y * y
        y = np.sin(x[i]) * x[0]
    return s + y


def in_a_while(x):
    s, i = 0.0, 0
    while i < 3:
        if i > 0:
            s = s + y * np.exp(y)
        y = np.sin(x[i]) * x[0]
        i += 1
    return s + y


def an_array_of_the_trip_before(x):
    s, first = 0.0, True
    for v in x:
        if first:
            first = False
        else:
            s = s + before * v * np.sum(row)
        before, row = v * v, x * v
    return s


def in_an_inner_loop(x):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j > 0:
                s = s + p * q[0]
            p = x[i] * x[j]
            q = np.array([p, x[j]])
    return s * p


def in_a_nested_branch(x):
    s, known = 0.0, False
    for i in range(3):
        if x[i] > 0.1:
            if known:
                s = s + y * x[i]
        y, known = x[i] * x[i], True
    return s


def items_of_a_list(x):
    s = 0.0
    for i in range(3):
        if i:
            s += held[0] * held[1]
        held = [x[i], x[0] * x[i]]
    return s


def around_a_try(x):
    s = 0.0
    for i in range(3):
        try:
            if i > 0:
                s = s + c * c
        finally:
            c = x[i] * x[0]
    return s


def a_buffer_of_the_trip_before(x):
    s = 0.0
    for i in range(3):
        buffer = np.empty(3)
        for k in range(3):
            buffer[k] = x[k] * x[i]
            if k > 0:
                s = s + buffer[k] * buffer[k - 1]
        if i > 0:
            s = s + np.dot(last, buffer)
        last = buffer
    return s


# --- bound on one path -----------------------------------------------------------------------------------------------


def on_either_path(x):
    s = 0.0
    for i in range(3):
        if x[i] > 0.5:
            c = x[i] * x[0]
        else:
            d = x[i]
        if x[i] > 0.5:
            s = s + c * c
        else:
            s = s + d * d * d
    return s


def an_array_read_in_an_inner_loop_and_after_it(x):
    s = 0.0
    for i in range(3):
        if i > 0:
            a = np.cos(x) * x[i]
            for j in range(i):
                s = s + a[j] * x[j]
        if i > 1:
            s = s + np.sum(a)
    return s


def an_array_made_in_a_branch_and_changed(x):
    s = 0.0
    for i in range(3):
        if i == 1:
            a = np.zeros(3)
            a[0] = x[0] * x[1]
            a[1] = x[2]
        elif i == 2:
            s = s + a[0] * a[1]
    return s


def an_array_that_no_later_trip_reads(x):
    s = 0.0
    for i in range(3):
        a = np.zeros(3)
        for j in range(3):
            a[j] += x[i] * x[j]
        for j in range(3):
            s = s + a[j] * a[j]
        if i > 5:
            s = s + np.sum(b)
        b = a
    return s + b[1]


def a_product_of_the_first_trip(x):
    out = 0.0
    for i in range(3):
        if i == 0:
            m = np.outer(x, x)
        m = m @ m / np.sum(m)
        row = m[i]
        for k in range(3):
            out = out + row[k] * x[k]
        out = out + np.sum(row)
    return out


def a_row_of_the_inner_loop(x):
    out = 0.0
    for i in range(3):
        for k in range(i):
            row = x * x[k]
            if row[0] > 0.2:
                out = out + row[k]
        if i > 1:
            out = out + np.sum(row * row)
    return out


PROGRAMS = [
    a_number_of_the_trip_before, in_a_while, an_array_of_the_trip_before, in_an_inner_loop, in_a_nested_branch,
    items_of_a_list, around_a_try, a_buffer_of_the_trip_before, on_either_path,
    an_array_read_in_an_inner_loop_and_after_it, an_array_made_in_a_branch_and_changed,
    an_array_that_no_later_trip_reads, a_product_of_the_first_trip, a_row_of_the_inner_loop,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    check(f, (X,))


# --- containers that a path leaves without a value -------------------------------------------------------------------

HERE = [1.0]


def a_list_of_an_array(x, n):
    if HERE[0] > 0:
        w = list(x * 1.5)
    s = 0.0
    for k in range(n):
        s += w[k] * x[k]
    return s + x[1]


def a_list_filled_by_a_loop(x, n):
    if HERE[0] > 0:
        w = []
        for v in x:
            w.append(v * v)
    s = 0.0
    for k in range(n):
        s += w[k] * x[k]
    if n:
        s += w[0]
    return s + x[1]


def a_list_that_a_loop_makes_anew(x, n):
    if HERE[0] > 0:
        w = list(x * 1.5)
    s, i = 0.0, 0
    while i < n:
        s += w[i] ** 2
        i += 1
        if HERE[0] > 0:
            w = [v * 2.0 for v in w]
    return s + x[1]


def a_list_of_the_first_trip(x, n):
    for j in range(n):
        if j == 0:
            w = list(x * 1.5)
        x = x * np.sum(w)
    return np.sum(x)


def a_list_read_on_one_path(x, n):
    if HERE[0] > 0:
        w = list(x * 1.5)
    if n > 0:
        return np.sum(np.array(w) ** 2)
    return x[0]


def a_dict(x, n):
    if HERE[0] > 0:
        w = {"a": x[0], "b": x[1] * 2.0}
    s = 0.0
    for k in range(n):
        s += w["a" if k else "b"] * x[k]
    return s + x[1]


CONTAINERS = [
    a_list_of_an_array, a_list_filled_by_a_loop, a_list_that_a_loop_makes_anew, a_list_of_the_first_trip,
    a_list_read_on_one_path, a_dict,
]


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("f", CONTAINERS, ids=lambda f: f.__name__)
def test_container(f, n):
    check(f, (X, n), argnums=0)


@pytest.mark.parametrize("f", CONTAINERS, ids=lambda f: f.__name__)
def test_container_without_a_value(f, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "HERE", [-1.0])
    check(f, (X, 0), argnums=0)


# --- never bound -----------------------------------------------------------------------------------------------------


def deleted(x):
    y = np.sum(x * x)
    del y
    return y


def deleted_and_copied(x):
    y = x[0]
    del y
    z = y
    return z * 1.0


def deleted_after_an_early_return(x):
    if x[0] > 100.0:
        return x[0]
    y = x[0]
    del y
    return y


def without_a_value(v):
    del v
    return v


def deleted_in_a_function(x):
    return without_a_value(x[0])


@pytest.mark.parametrize(
    "f", [deleted, deleted_and_copied, deleted_after_an_early_return, deleted_in_a_function], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_what_the_program_raises_is_raised(f, derivative):
    with pytest.raises(UnboundLocalError) as expected:
        f(X)
    with pytest.raises(UnboundLocalError) as found:
        derivative(f)(X)
    assert str(found.value) == str(expected.value)


def caught(x):
    try:
        return without_a_value(x[0])
    except NameError:
        return x[1] ** 2


def test_it_is_caught_where_the_program_catches_it():
    check(caught, (X,))
