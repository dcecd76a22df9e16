"""for: over ranges, arrays, lists, tuples, enumerate, zip, reversed; nested; with else."""

import math

import numpy as np

from tests.bank.registry import M23, M33, P3, V3, V5, W3, case


@case(1.1, 5)
@case(1.1, 1)
@case(1.1, 0)
@case(1.1, -3)
def range_stop(x, n):
    y = x
    for _ in range(n):
        y = y * x + 0.1
    return y


@case(1.1, 2, 6)
@case(1.1, 6, 2)
def range_start_stop(x, a, b):
    y = x
    for i in range(a, b):
        y = y * x / i
    return y


@case(1.1, 1, 10, 3)
@case(1.1, 10, 1, -4)
@case(1.1, 0, 10, -1)
@case(1.1, 10, 0, -1)
def range_step(x, start, stop, step):
    y = x
    for i in range(start, stop, step):
        y = np.sin(y * x) + 0.1 * i
    return y


@case(V5)
def over_indices(v):
    total = 0.0
    for i in range(len(v)):
        total += v[i] ** 2 * (i + 1)
    return total


@case(V5)
def over_neighbours(v):
    total = 0.0
    for i in range(1, v.shape[0] - 1):
        total += (v[i + 1] - 2.0 * v[i] + v[i - 1]) ** 2
    return total


@case(V5)
def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@case(V5)
def over_array(v):
    total = 0.0
    for x in v:
        total = total + np.sin(x) * x
    return total


@case(M23)
def over_rows(m):
    h = np.zeros(3)
    for row in m:
        h = np.tanh(h + row)
    return np.sum(h * h)


@case(M23)
def over_rows_and_elements(m):
    total = 1.0
    for row in m:
        for x in row:
            total = total * (1.0 + 0.1 * x)
    return total


@case(M23)
def accumulate_rows(m):
    total = np.zeros(m.shape[1])
    for i in range(m.shape[0]):
        total = total + m[i] * m[i]
    return np.sum(total**2)


@case([0.4, 1.2, -0.3])
@case((0.4, 1.2, -0.3))
def over_container(items):
    product = 1.0
    for x in items:
        product = product * (x + 2.0)
    return product


@case([V3, W3, P3])
def over_list_of_arrays(arrays):
    h = arrays[0]
    for a in arrays:
        h = np.sin(h) * a
    return np.sum(h)


@case(1.1, 0.4)
def over_literal(x, y):
    total = 0.0
    for a in (x, y, x * y, 2.0):
        total = total + a * a
    return total


@case(1.1)
def over_passive_list(x):
    total = 0.0
    for k in [1, 3, 5]:
        total += x**k
    return total


@case(1.1)
def over_strings(x):
    for op in ("sin", "square", "sin"):
        if op == "sin":
            x = np.sin(x)
        else:
            x = x * x
    return x


@case(V5)
def enumerate_array(v):
    total = 0.0
    for i, x in enumerate(v):
        total += x * x * i
    return total


@case(V5)
def enumerate_start(v):
    y = 1.0
    for k, x in enumerate(v, start=1):
        y = y * x + k
    return y


@case(M23)
def enumerate_rows(m):
    h = np.ones(3)
    for i, row in enumerate(m):
        h = h * row + i
    return np.sum(h)


@case(V3, W3)
def zip_arrays(v, w):
    total = 0.0
    for a, b in zip(v, w):
        total += a * np.exp(b)
    return total


@case([0.3, 0.7], V3, (1.5, -0.2, 0.9, 4.0))
def zip_of_unequal_lengths(a, b, c):
    total = 1.0
    for x, y, z in zip(a, b, c):
        total = total * x + y * z
    return total


@case(V3, W3)
def enumerate_zip(v, w):
    total = 0.0
    for i, (a, b) in enumerate(zip(v, w)):
        total += a * b**2 * (i + 1)
    return total


@case([(0.3, 0.7), (1.2, -0.4)])
def over_pairs(pairs):
    total = 0.0
    for a, b in pairs:
        total += a * b + a
    return total


@case([(0.3, (0.7, 2.0)), (1.2, (-0.4, 1.0))])
def nested_loop_target(items):
    total = 0.0
    for a, (b, c) in items:
        total += a * b * c
    return total


@case([(0.3, 0.7, 2.0), (1.2, -0.4, 1.0)])
def starred_loop_target(items):
    total = 0.0
    for a, *rest in items:
        total += a * rest[0] - rest[1] ** 2
    return total


@case(V3)
def reversed_array(v):
    y = 0.3
    for x in reversed(v):
        y = y * x + 1.0
    return y


@case(1.1, 4)
def reversed_range(x, n):
    y = x
    for i in reversed(range(n)):
        y = y * x + i
    return y


@case([0.4, 1.2, -0.3], 0.8)
def horner(coefficients, x):
    y = 0.0
    for c in reversed(coefficients):
        y = y * x + c
    return y


@case(1.1)
def nested_ranges(x):
    y = x
    for i in range(3):
        for j in range(i + 1):
            y = np.sin(y) + 0.1 * x * (i + j)
    return y


@case(1.1)
def nested_with_inner_state(x):
    total = 0.0
    for i in range(3):
        y = x * (i + 1)
        for _ in range(i):
            y = y * y * 0.3
        total = total + y
    return total


@case(1.1)
def three_deep(x):
    y = x
    for i in range(2):
        for j in range(2):
            for k in range(2):
                y = y * (1.0 + 0.1 * x * (i + 2 * j + 4 * k))
            y = np.cos(y)
    return y


@case(0.7, 0.4)
def inner_loop_count_from_outer(x, y):
    for i in range(4):
        for _ in range(4 - i):
            x = np.sin(x * y)
            y = np.cos(x) + 0.5 * y
    return x + y


@case(M33)
def nested_over_matrix(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if i != j:
                total += m[i, j] * m[j, i]
            else:
                total -= m[i, i] ** 3
    return total


@case(V5, np.array([0.25, 0.5, 0.25]))
def convolution(x, kernel):
    total = 0.0
    for i in range(len(x) - len(kernel) + 1):
        s = 0.0
        for k in range(len(kernel)):
            s += x[i + k] * kernel[k]
        total += s * s
    return total


@case(1.1)
def loop_variable_after_loop(x):
    y = x
    for i in range(4):
        y = y * x
    return y * i


@case(V3)
def loop_value_after_loop(v):
    total = 0.0
    for x in v:
        total += x * x
    return total * x


@case(1.1)
def loop_variable_overwritten(x):
    y = x
    for i in range(4):
        y = y * x + i
        i = y * 0.5
        y = y + i * i * 0.01
    return y


@case(1.1)
def for_else(x):
    y = x
    for _ in range(3):
        y = y * x
    else:
        y = np.sin(y)
    return y


@case(1.1)
@case(3.1)
def for_else_with_break(x):
    y = x
    for _ in range(3):
        y = y * x
        if y > 10.0:
            break
    else:
        y = np.sin(y) * x
    return y + x


@case(1.1, 0)
@case(1.1, 2)
def for_else_zero_trips(x, n):
    for _ in range(n):
        x = x * x
    else:
        x = x + np.sin(x)
    return x


@case(1.1, 0.4, 6)
def fibonacci_swap(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    return a * b


@case(0.3, 0.4, 5)
def swap_non_linear(a, b, n):
    for _ in range(n):
        a, b = np.sin(b), a * b + 0.5
    return a + b * b


@case(M33 * 0.3, V3, np.array([0.1, -0.2, 0.3]), 4)
def recurrent(W, h, b, steps):
    for _ in range(steps):
        h = np.tanh(W @ h + b)
    return np.sum(h**2)


@case(M33 * 0.3, V3, M23)
def recurrent_with_inputs(W, h, xs):
    loss = 0.0
    for x in xs:
        h = np.tanh(W @ h + x)
        loss += h @ h
    return loss


@case(M33 * 0.4, 3)
def matrix_power(m, n):
    p = np.eye(3)
    for _ in range(n):
        p = p @ m
    return np.trace(p)


@case(1.1, 0)
@case(1.1, 3)
def zero_trips_keep_value(x, n):
    y = x * x
    for i in range(n):
        y = np.exp(-y) * i
    return y * x


@case(np.zeros(0), 1.3)
def empty_array(v, s):
    total = s * s
    for x in v:
        total += x * s
    return total


@case([], 1.3)
def empty_list(items, s):
    total = s
    for x in items:
        total = total * x
    return total * s


@case(V3)
def loop_over_attribute(v):
    total = 0.0
    for n in v.shape:
        for i in range(n):
            total += v[i] * n
    return total * total


@case({"a": 0.4, "b": 1.7})
def over_dict_items(d):
    total = 0.0
    for key, value in d.items():
        total += value * value * (2.0 if key == "a" else 3.0)
    return total


@case({"a": 0.4, "b": 1.7})
def over_dict_keys(d):
    total = 1.0
    for key in d:
        total *= d[key]
    for key in d.keys():
        total += d[key]
    return total


@case({"a": 0.4, "b": 1.7})
def over_dict_values(d):
    total = 0.0
    for value in d.values():
        total += np.sin(value)
    return total


@case(M23)
def over_transposed(m):
    total = 0.0
    for column in m.T:
        total += column[0] * column[1]
    return total


@case(V5)
def over_slice(v):
    total = 0.0
    for x in v[1::2]:
        total += x**3
    return total


@case(1.1)
def iterable_rebound_in_loop(x):
    items = [x, x * x, 2.0]
    total = 0.0
    for item in items:
        items = [item]
        total += item * items[0]
    return total


# what no iteration computes may raise


@case(0.7)
def empty_maximum_in_a_loop_without_iterations(a):
    v = np.array([a])[1:]
    return a + sum(np.max(v) for e in v)


@case(V3, V3, 3)
@case(V3, np.array([0.4, 1.1]), 0)
@case(V3, np.array([0.4, 1.1]), -2)
def product_of_lengths_that_differ(x, y, n):
    s = x[1]
    for _ in range(n):
        h = np.exp(x) @ y
        s = 0.1 * s * h
    return s + x[0]


@case(V3, 1, 2)
@case(V3, 5, 0)
@case(V3, -1, 1)
def index_out_of_bounds(x, k, n):
    s = x[1]
    for _ in range(n):
        s = s * np.sin(x[k])
    return s


@case(V3, 1, 2, 2)
@case(V3, 5, 0, 2)
@case(V3, 5, 2, 0)
@case(V3, 2, 2, 3)
def index_out_of_bounds_in_nested_loops(x, k, n, m):
    s = x[1]
    for i in range(n):
        w = x * (1.0 + i)
        for _ in range(m):
            s = s * np.sin(x[k]) + np.cos(w[k])
    return s


@case(V3, 1, 3)
@case(V3, 5, 0)
@case(V3, 0, 2)
def index_out_of_bounds_in_a_while(x, k, n):
    s, i = x[1], 0
    while i < n:
        s = s * np.sin(x[k])
        i += 1
        if s > 5.0:
            break
    return s * s


@case(V3, 1, 3)
@case(V3, 5, 3)
def index_out_of_bounds_in_a_branch(x, k, n):
    s = x[1]
    for _ in range(n):
        if k < len(x):
            c = x[k] * x[0]
            s = s * np.sin(c)
    return s


@case(0.7, 0.0, 0)
@case(0.7, 0.5, 3)
def division_by_zero_in_a_loop(a, b, n):
    s = a
    for _ in range(n):
        s = s * math.sin(a / b)
    return s * a


@case(V5, 2)
@case(V5, 0)
def last_of_the_first_loop_read_by_its_own_reverse(x, n):
    s = x[0]
    for _ in range(n):
        h = np.max(x[1:])
        s = s * h
    for _ in range(2):
        h = np.min(x[:2])
        s = s * h
    h = s * 2.0
    return h * h
