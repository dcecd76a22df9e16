"""Kinds of numbers: float32, 0-d, NumPy scalars, Python floats, passive ints and bools, zero-size arrays."""

import numpy as np

from tests.bank.registry import M23, V3, V5, W3, case

F32 = np.float32
V3_32, W3_32, M23_32 = V3.astype(F32), W3.astype(F32), M23.astype(F32)


@case(V3_32, W3_32, rtol=2e-4)
def float32_arrays(v, w):
    return np.sum(v * w + np.sin(v))


@case(V3_32, rtol=2e-4)
def float32_with_python_constants(v):
    return np.sum(v * 2.0 + v**2 / 3.0 - 1) * 0.5


@case(M23_32, V3_32, rtol=2e-4)
def float32_matmul(m, v):
    h = np.tanh(m @ v)
    return np.mean(h * h)


@case(F32(0.7), rtol=2e-4)
def float32_scalar(x):
    return x * x + np.sin(x)


@case(V3_32, F32(0.5), rtol=2e-4)
def float32_array_and_scalar(v, s):
    return np.sum(v * s)


@case(V3_32, 0.5, rtol=2e-4)
def float32_array_and_python_float(v, s):
    return np.sum(v * s)


@case(V3_32, rtol=2e-4)
def float32_loop(v):
    y = v
    for _ in range(3):
        y = np.sin(y) * v
    return np.sum(y)


@case(V3_32, W3, rtol=2e-4)
def float32_and_float64(a, b):
    return np.sum(a * b * b)


@case(V3_32, rtol=2e-4)
def float32_cast_up(v):
    return np.sum(v.astype(np.float64) ** 2)


@case(V3, rtol=2e-4, expected=lambda v: (2.0 * v,))
def float64_cast_down(v):
    return np.sum(v.astype(np.float32) ** 2)


@case(M23_32, rtol=2e-4)
def float32_rows(m):
    total = np.zeros(3, dtype=np.float32)
    for row in m:
        total = total + row * row
    return np.sum(total)


@case(M23_32, rtol=2e-4)
def float32_indexing(m):
    return np.sum(m[:, 1:] ** 2) + m[0, 0] * m[1, 2] + np.max(m)


@case(np.float64(1.3))
def numpy_scalar(x):
    return x * x + np.exp(x)


@case(np.array(1.3))
def zero_dimensional(x):
    return x * x + np.sin(x)


@case(np.array(1.3), V3)
def zero_dimensional_and_array(x, v):
    return np.sum(x * v * v) + x.sum()


@case(np.array(1.3), 0.4)
@case(np.array(1.3), np.float64(0.4))
def zero_dimensional_and_scalar(x, y):
    return x * y + x / y


@case(np.array([1.3]))
def one_element(x):
    return np.sum(x * x) + x[0]


@case(np.array([[1.3]]), V3)
def one_by_one(x, v):
    return np.sum(x * v)


@case(np.zeros(0))
def zero_size(v):
    return np.sum(v * v) + 1.0


@case(np.zeros((0, 3)), V3)
def zero_size_matrix(m, v):
    return np.sum(m * v) + np.sum(m @ v) + np.sum(v * v)


@case(np.zeros((2, 0)), 1.3)
def zero_size_and_scalar(m, s):
    return np.sum(m * s, axis=0).sum() + s * s


@case(1.3, 3)
def python_int_is_passive(x, n):
    return x * n + x**n


@case(V3, np.array([1, 0, 2]))
def integer_array_is_passive(v, k):
    return np.sum(v * k) + np.sum(v[k])


@case(V3, np.array([True, False, True]))
def bool_array_is_passive(v, b):
    return np.sum(v * b) + np.sum(v[b] ** 2)


@case(V3, np.int32(3))
def numpy_int_is_passive(v, n):
    return np.sum(v**n) * n


@case(1.3, True)
def bool_as_number(x, flag):
    return x * flag + x * x * (flag + 1)


@case(V5[::2])
def strided(v):
    return np.sum(v * v * np.arange(3.0))


@case(M23.T)
def transposed_argument(m):
    return np.sum(m[0] * m[1]) + np.sum(m @ m.T)


@case(np.asfortranarray(M23))
def fortran_order(m):
    return np.sum(m.ravel() * np.arange(6.0)) + np.sum(m**2)


@case(np.broadcast_to(np.array([0.3, 0.7]), (3, 2)))
def broadcast_argument(m):
    return np.sum(m * m * np.arange(6.0).reshape(3, 2))


@case(V3)
def element_is_numpy_scalar(v):
    x = v[0]
    if isinstance(x, np.floating) and isinstance(x, float):
        return x * x
    return x


@case(1.3)
def python_float_through_numpy(x):
    y = np.sin(x)
    if isinstance(y, np.floating):
        return float(y) * x
    return x


@case(1.3)
def array_made_of_scalar(x):
    v = np.array([1.0, 2.0, 3.0]) * x
    w = np.ones((2, 1)) * v
    return np.sum(w * x) + np.sum(x - w)


@case(V3)
def scalar_result_as_array(v):
    return np.sum(v * v, keepdims=True).reshape(()) * 2.0


@case(2.0)
@case(np.float64(2.0))
def division_by_int(x):
    n = 3
    return x / n + n / x + n**x + x // 1.5 * 0.0


@case(3, V3, argnums=1)
def array_of_size(n, v):
    return np.sum(np.arange(n) * v) + np.sum(np.linspace(0.0, 1.0, n) * v**2) + np.sum(np.ones(n) + v)


@case(1.3, None, True, "fast")
def options(x, y=None, flag=False, mode="slow"):
    if y is None and flag and mode.startswith("fa"):
        return x * x
    return x


@case(1e-30)
@case(1e12)
def magnitudes(x):
    return x * x / (1.0 + x)


@case(np.array([1.0, 2.0, 3.0]), 2.0)
def float_array_and_integer_valued(v, s):
    return np.sum(v * 2 + s * 3) + np.sum(v // 1 * 0)


@case(V3)
def sum_that_starts_with_an_integer(v):
    total = 0
    for k in range(len(v)):
        total = total + v[k] ** 2
    made = np.array([total, 1.0])
    made[1] = v[0] * total
    return np.sum(made * made[0])


@case(V3)
def integer_or_float_with_floats(v):
    factor = 2 if v[0] > 0.0 else v[1]
    scaled = v * factor
    scaled[0] = np.sqrt(factor * v[2] ** 2) + factor**2
    return np.sum(scaled**2)


@case(V3)
def sizes_of_elements(x):
    return x * np.dtype(np.common_type(x, x)).itemsize / x.dtype.alignment


@case(0.7, V3)
def a_number_is_no_text(x, y):
    if x == "scott" or x == "silverman":
        return np.sum(y)
    return x * y if np.isscalar(x) and x != "text" else y


@case(0.7)
def float_times_an_empty_sum(a):
    return a * sum(a for _ in range(0)) + a


@case(0.7, 0.3)
@case(0.7, 6.3)
def float_or_what_a_ufunc_gives(a, b):
    if b > 5:
        return a * b
    return np.maximum(a, b) + b


@case(0.7)
@case(-0.7)
def size_or_maximum(a):
    return abs(a) if a < 0 else np.maximum(a, 0.3)


@case(0.7312)
def rounded_fraction(a):
    return a * round(np.modf(a * a)[0], 12) + a * max(np.modf(a)[0], 0.1)


@case(0.7, 3)
def integer_slope_in_a_loop(a, n):
    total = 0
    for k in range(n):
        total = total + (a if k else 2 * a)
    return total * n
