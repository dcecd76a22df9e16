"""Every operator: arithmetic, comparison, boolean, bitwise, chained, ternary, and the constants they meet."""

import numpy as np

from tests.bank.registry import M23, M32, M33, P3, P23, V3, W3, case


@case(1.3, 0.4)
@case(V3, W3)
@case(M23, V3)
@case(V3, 0.4)
def arithmetic(x, y):
    return np.sum((x + y) * (x - y) / (x * x + 2.0) - y)


@case(1.7, 2.3)
@case(P3, P23)
@case(P23, 1.9)
@case(1.9, P3)
def power(x, y):
    return np.sum(x**y)


@case(-1.7)
@case(V3)
def power_of_constant_exponent(x):
    return np.sum(x**2 + x**3 - x**1 + x**0 + 1.0 / x**2 + x**-1)


@case(1.7)
@case(V3)
def constant_base(x):
    return np.sum(2.0**x + 3**x)


@case(P3)
def power_half(x):
    return np.sum(x**0.5 + x**1.5)


@case(1.3)
@case(V3)
def unary(x):
    return np.sum(-x * +x - (-(-x)))


@case(7.3, 2.1)
@case(-7.3, 2.1)
def modulo(x, y):
    return (x % y) * x


@case(np.array([7.3, -3.1, 5.9]), 2.1)
def modulo_array(x, y):
    return np.sum((x % y) ** 2)


@case(M23, M32)
@case(V3, W3)
@case(M23, V3)
@case(V3, M32)
def matmul(a, b):
    return np.sum((a @ b) ** 2)


@case(M23)
def matmul_with_constant(a):
    return np.sum(a @ np.array([1.0, 2.0, -1.0]) * 0.5)


@case(np.arange(1.0, 13.0).reshape(2, 2, 3) / 7.0, M32)
@case(M23, np.arange(1.0, 13.0).reshape(2, 3, 2) / 7.0)
def matmul_batched(a, b):
    return np.sum(np.sin(a @ b))


@case(1.3, 0.4)
def precedence(x, y):
    return -(x**2) + x * y**2 / 3.0 - (x - y) * -x


@case(1.3, 0.4)
def right_associative(x, y):
    return x**y**2.0 + x - y - 1.0 - x / y / 2.0


@case(1.3, 3)
def integer_operators(x, n):
    k = (n // 2) + (n % 2) + (n << 1) - (n >> 1) + (n & 6) - (n | 8) + (n ^ 5) + ~n
    return x * k + x**n


@case(1.3, True)
@case(1.3, False)
def boolean_option(x, flip):
    return -x * x if flip else x * x * x


@case(1.3, True, False)
@case(1.3, False, False)
def boolean_operators(x, a, b):
    c = (a and not b) or (b and not a)
    d = a | b
    return x * x * (2.0 if c else 3.0) + x * d


@case(1.3, 0.4)
@case(0.4, 1.3)
def comparisons(x, y):
    k = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y)
    return x * y * k


@case(V3)
def comparison_as_factor(v):
    return np.sum(v * v * (v > 0.0))


@case(V3, W3)
def bitwise_masks(v, w):
    mask = (v > 0) & (w > 0) | ~(v > w) ^ (w < 0.5)
    return np.sum(np.where(mask, v * w, v - w))


@case(0.5)
@case(1.5)
@case(2.5)
def chained_comparison(x):
    if 1.0 < x < 2.0:
        return x * x
    return np.sin(x)


@case(1.5)
def chained_comparison_evaluates_once(x):
    if 0.0 < (y := x * x) <= 5.0 != x:
        return y
    return x


@case(1.3)
@case(-1.3)
def and_or_conditions(x):
    if x > 0 and np.log(x) < 5.0:
        return np.log(x)
    if x < 0 or np.sqrt(x) > 1.0:
        return x * x
    return x


@case(1.3, 0.4)
def or_gives_value(x, y):
    z = x or y
    return z * y


@case(1.3, 0.4)
def and_gives_value(x, y):
    z = x and y * x
    return z * z


@case(1.3, None)
@case(1.3, 2.5)
def default_by_or(x, scale):
    scale = scale or 2.0
    return x * x * scale


@case(1.3)
@case(-1.3)
def ternary(x):
    return x * x if x > 0 else np.exp(x)


@case(1.3)
@case(0.3)
@case(-1.3)
def ternary_nested(x):
    return x if x > 1.0 else x * x if x > 0.0 else x**3


@case(1.3, None)
@case(1.3, 0.7)
def identity_tests(x, y):
    if y is None:
        return x * x
    if y is not None and x is not y:
        return x * y
    return x


@case(1.3, "square")
@case(1.3, "cube")
def membership(x, kind):
    if kind in ("square", "quadrat"):
        return x * x
    if kind not in {"square": 1}:
        return x**3
    return x


@case(1.3)
def constants(x):
    return x * 1_000 + 0x1F * x + 1e-3 * x * x - 0b101 + True * x


@case(1.3)
def numpy_constants(x):
    return np.pi * x * x + np.e * x + np.float64(0.5) * x


@case(1.3)
def fstring(x):
    label = f"x = {x:.3f}, twice: {2 * x!r}, {'nested'}"
    return x * x * len(label[:3])


@case(1.3)
def printing(x):
    y = x * x
    print("y is", y, f"{y:.2f}", sep=": ", end="\n")
    return y + x


@case(V3)
def printing_in_loop(v):
    total = 0.0
    for i, x in enumerate(v):
        print(f"{i}: {x}")
        total = total + x * x
    return total


@case(M33)
def not_condition(m):
    if not m[0, 0] < 0.0:
        return np.sum(m * m)
    return np.sum(m)


@case(P3)
def shared_subexpression(p):
    return np.sum(np.exp(-(p**2)) + p * np.exp(-(p**2)))


@case(1.3, 0.4)
def divisions(x, y):
    return x / y + 1.0 / x - 2 / y + x / 3


@case(2.0, 3.0)
def float_that_is_whole(x, y):
    return x**y + y**x
