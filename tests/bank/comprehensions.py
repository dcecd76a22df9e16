"""Comprehensions: list, dict, set, generator; nested; with conditions; over every iterable."""

import numpy as np

from tests.bank.registry import M23, V3, V5, W3, case


@case(V3)
def list_of_values(v):
    squares = [x * x for x in v]
    return squares[0] * squares[1] + squares[2]


@case(1.3)
def over_range(x):
    powers = [x**k for k in range(4)]
    total = 0.0
    for k in range(4):
        total += powers[k] * (k + 1)
    return total


@case(V5)
def with_condition(v):
    return sum([x * x for x in v if x > 0])


@case(V5)
def with_two_conditions(v):
    return sum([x * i for i, x in enumerate(v) if x > 0 if i > 0])


@case(V5)
def with_ternary(v):
    return sum([x if x > 0 else x * x for x in v])


@case(V3)
def generator_in_sum(v):
    return sum(x * x for x in v) + sum((x for x in v), 2.0)


@case(V3, W3)
def generator_over_zip(v, w):
    return sum(a * b for a, b in zip(v, w))


@case(V3, W3)
def product_of_two(v, w):
    return sum(a * b**2 for a in v for b in w)


@case(M23)
def nested_lists(m):
    rows = [[x * x for x in row] for row in m]
    return rows[0][1] * rows[1][2]


@case(1.3)
def inner_depends_on_outer(x):
    return sum(x**i * j for i in range(3) for j in range(i))


@case(V3, W3)
def dict_of_values(v, w):
    d = {i: a * b for i, (a, b) in enumerate(zip(v, w))}
    return d[0] * d[2]


@case({"a": 1.3, "b": 0.4})
def dict_from_dict(d):
    squares = {key: value * value for key, value in d.items()}
    return squares["a"] + squares["b"] * d["a"]


@case({"w": V3, "b": W3}, {"w": W3, "b": V3})
def parameters_updated(params, step):
    new = {k: params[k] - 0.1 * step[k] for k in params}
    return np.sum(new["w"] * new["b"])


@case(1.3)
def set_is_passive(x):
    kinds = {k % 3 for k in range(7)}
    return x * len(kinds)


@case(1.3)
def passive_list(x):
    odd = [k for k in range(7) if k % 2]
    return x ** odd[1] + len(odd) * x


@case(V5)
def list_indexed_in_loop(v):
    squares = [x * x for x in v]
    total = 1.0
    for i in range(len(squares) - 1):
        total = total * squares[i] + squares[i + 1]
    return total


@case(M23)
def stacked(m):
    return np.sum(np.stack([np.sin(row) * row for row in m]) ** 2)


@case(V5)
def array_of_comprehension(v):
    return np.sum(np.array([v[i] * v[i + 1] for i in range(4)]) ** 2)


@case([V3, W3])
def over_list(arrays):
    return sum([np.sum(a * a) for a in arrays]) * 0.5


@case(1.3)
def captures_variable(x):
    y = x * x
    return sum([y * k for k in range(3)]) + sum(k * y * x for k in range(3))


@case(1.3)
def own_scope(x):
    k = x * 2.0
    s = sum([x * k for k in range(3)])
    return s * k


@case(V3)
def with_function(v):
    def f(z):
        return z * z + 1.0

    return sum([f(x) for x in v]) * np.prod([f(x) for x in v])


@case(1.3)
def with_walrus(x):
    items = [y * x for k in range(4) if (y := k * x) > 2.0]
    return items[0] * items[1]


@case(V3)
def empty(v):
    items = [x for x in v if x > 100.0]
    return sum(items) + np.sum(v * v) + len(items)


@case(V5)
def min_max_of_generator(v):
    return max(x * x for x in v) * min([x for x in v])


@case(1.3)
def tuple_of_generator(x):
    a, b, c = tuple(x**k for k in range(1, 4))
    return a * b + c


@case(1.3)
def starred_generators(x):
    parts = (x, *(x * k for k in (2.0, 3.0)))
    squares = [*(part**2 for part in parts), 1.0]
    return parts[1] * parts[2] + squares[2] * len(squares)


@case(1.3)
def unpacked_comprehension(x):
    a, b = [x * k for k in (1.0, 2.0)]
    return a * b * np.sin(a)


@case(V5)
def any_all_of_generator(v):
    if any(x > 1.0 for x in v) and all(x < 5.0 for x in v):
        return np.sum(v * v)
    return np.sum(v)
