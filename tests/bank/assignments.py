"""Assignments: chained, unpacking, starred, annotated, augmented, walrus; and what names may refer to."""

import numpy as np

from tests.bank.registry import M23, P3, V3, W3, case


@case(1.3)
def single(x):
    y = x * x
    return y


@case(1.3)
def identity(x):
    return x


@case(1.3)
def chained(x):
    a = b = x * x
    return a + 3.0 * b


@case(1.3)
def chained_then_changed(x):
    a = b = x * x
    a = a * x
    return a + b


@case(1.3, 0.4)
def tuple_unpacking(x, y):
    a, b = x * y, x - y
    return a * b


@case(1.3, 0.4)
def swap(x, y):
    x, y = y, x
    return x * x + 3.0 * y


@case(1.3, 0.4, 2.1)
def rotate(x, y, z):
    x, y, z = y * z, z, x
    return x * y + np.sin(z)


@case(1.3, 0.4, 2.1)
def nested_unpacking(x, y, z):
    (a, b), c = (x * y, y * z), z * x
    return a * b + c


@case(1.3, 0.4, 2.1)
def list_target(x, y, z):
    [a, [b, c]] = x, [y, z]
    return a * b * c


@case(1.3, 0.4, 2.1)
def starred_last(x, y, z):
    first, *rest = x, y, z, x * y
    return first * rest[0] + rest[1] * rest[2]


@case(1.3, 0.4, 2.1)
def starred_middle(x, y, z):
    first, *middle, last = x, y, z, x * z
    return first * last + middle[0] * middle[1] * len(middle)


@case(1.3, 0.4)
def starred_first(x, y):
    *init, last = x, y, x + y
    return init[0] * last - init[1]


@case(1.3, 0.4)
def starred_empty(x, y):
    a, b, *rest = x, y
    return a * b if not rest else a + b


@case(V3)
def unpack_array(v):
    a, b, c = v
    return a * b + np.sin(c)


@case(V3)
def unpack_into_own_name(v):
    a, v, c = v
    return a * v + np.sin(c) * v


@case(M23)
def unpack_rows(m):
    first, second = m
    return np.sum(first * second * second)


@case(M23)
def unpack_array_nested(m):
    (a, b, c), (d, e, f) = m
    return a * f + b * e + c * d


@case(V3)
def unpack_starred_array(v):
    first, *rest = v
    return first * rest[0] + rest[1] ** 2


@case(((1.2, 0.7), 0.3))
def unpack_argument(pair):
    (a, b), c = pair
    return a * b + c * a


@case(1.3, 0.4)
def augmented_scalar(x, y):
    z = x
    z += y
    z *= x
    z -= y * y
    z /= x + y
    z **= 2
    return z


@case(V3, W3)
def augmented_array_value(x, y):
    z = x * y
    z += x
    z *= y
    z -= 0.5
    return np.sum(z * z)


@case(2.7, 1.1)
def augmented_same_name(x, y):
    x *= x
    x += x * y
    return x


@case(P3)
def augmented_power(x):
    z = x * 1.0
    z **= 3
    z /= 2.0
    return z.sum()


@case(M23, M23.T.copy())
def augmented_matmul(a, b):
    z = a * 2.0
    z = z @ b
    z @= z
    return np.sum(z)


@case(1.3)
def annotated(x: float) -> float:
    y: float = x * x
    z: "float"
    z = y + x
    return z


@case(1.3)
def walrus(x):
    return (y := x * x) + np.sin(y)


@case(1.3)
def walrus_in_condition(x):
    if (y := x * x) > 1.0:
        return y * x
    return y


@case(V3)
def walrus_in_argument(v):
    total = np.sum(w := v * v)
    return total * w[0]


@case(1.3)
def alias_then_rebound(x):
    a = x * x
    b = a
    b = b * 2.0
    return a * b


@case(V3)
def alias_then_augmented_rebinding(v):
    a = v * v
    b = a
    b = b + 1.0
    b += v
    return np.sum(a * b)


@case(1.3)
def same_variable_twice(x):
    y = x + x
    return y * y


@case(V3)
def square_by_itself(v):
    return np.sum(v * v)


@case(1.3)
def overwritten_input(x):
    x = np.sin(x)
    x = x * x
    x = np.exp(x)
    return x


@case(1.3, 0.4)
def overwritten_without_use(x, y):
    z = x * y
    z = y * y
    return z


@case(1.3, 0.4)
def unused_input(x, y):
    return x * x


@case(V3, W3)
def unused_array_input(x, y):
    return np.sum(x)


@case(1.3)
def constant_output(x):
    return 3.0


@case(V3)
def constant_output_of_array(v):
    return float(len(v))


@case(1.3)
def dead_code(x):
    y = x * x
    z = np.exp(y)  # noqa: F841
    w = z * y  # noqa: F841
    return y + 1.0


@case(1.3)
def passes_only(x):
    pass
    y = x
    pass
    return y * y


@case(1.3)
def documented(x):
    """The square.

    With a longer text, and an expression that looks like code: y = x.
    """
    "a string between statements"
    return x * x


@case(1.3, 0.4)
def one_line(x, y): a = x * y; b = a + x; return a * b  # noqa: E701, E702


@case(1.3)
def names_that_collide(x):
    x_bar = x * x
    out_bar = np.sin(x_bar)
    np_ = out_bar * x
    t0 = np_ + x_bar
    c0 = t0 * 2.0
    saved_x = c0 * x
    return saved_x


@case(1.3)
def names_with_underscores(_x):
    __y = _x * _x
    _ = __y * _x
    return _ + __y


@case(1.3, 0.4)
def keywords_nearly(lambda_, y):
    in_ = lambda_ * y
    return in_ * in_


@case(0.8)
def unicode_names(θ):
    ω = np.sin(θ)
    return ω * θ
