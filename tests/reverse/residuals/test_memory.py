"""What a gradient keeps: only what the reverse sweep reads. Measured by tracemalloc, which sees NumPy too."""

import sys
import tracemalloc

import numpy as np
import pytest

import s2s

FEW, MANY = 1_000, 100_000
CONSTANT = 20_000


def peak(f, *args):
    """Bytes held at the peak of a second call (the first one compiles)."""
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def linear(x, n):
    y = x
    for _ in range(n):
        y = 0.9999 * y + 0.5 * x
    return y


def linear_in_trip(x, n):
    y = 0.0
    for i in range(n):
        y = y + x * i
    return y


def linear_with_two_values(x, n):
    a, b = x, 0.0
    for _ in range(n):
        a, b = b + 0.5 * a, a - 0.5 * b
    return a + b


def linear_with_passive_array(x, w):
    y = x
    for i in range(len(w)):
        y = y * w[i] + 1.0
    return y


def linear_over_passive_array(x, w):
    y = x
    for weight in w:
        y = y * weight + 1.0
    return y


def linear_on_array(v, m, n):
    for _ in range(n):
        v = v + 0.001 * (m @ v)
    return np.sum(v * v)


def linear_while(x, n):
    i = 0
    y = x
    while i < n:
        y = y * 0.9999 + x
        i += 1
    return y


def linear_with_break(x, n):
    y = x
    for i in range(10 * n):
        y = y * 0.9999
        if i >= n:
            break
    return y


def linear_nested(x, n):
    y = x
    for _ in range(n // 100):
        for j in range(100):
            y = y * 0.9999 + j * x
    return y


def linear_through_helper(x, n):
    def step(y):
        return 0.9999 * y + x

    y = x
    for _ in range(n):
        y = step(y)
    return y


def one_float(x, n):
    y = x
    for _ in range(n):
        y = 0.5 * (y + x / y)
    return y


def one_float_in_sine(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) + x
    return y


def one_float_nested(x, n):
    y = x
    for _ in range(n // 100):
        for _ in range(100):
            y = 0.5 * (y + x / y)
    return y


def one_float_beside_passive_and_linear_work(x, n):
    y, z = x, 0.0
    for i in range(n):
        scale = 1.0 + i * 1e-9
        z = 0.5 * z + y * scale
        y = 0.5 * (y + x / y)
    return y + z


def grown(f, few_args, many_args):
    gradient = s2s.grad(f)
    return peak(gradient, *many_args) - peak(gradient, *few_args)


@pytest.mark.parametrize(
    "f",
    [linear, linear_in_trip, linear_with_two_values, linear_while, linear_with_break, linear_nested,
     linear_through_helper],
    ids=lambda f: f.__name__,
)
def test_linear_loop_keeps_nothing(f):
    assert grown(f, (1.5, FEW), (1.5, MANY)) < CONSTANT


@pytest.mark.parametrize(
    "f", [linear_with_passive_array, linear_over_passive_array], ids=lambda f: f.__name__
)
def test_linear_loop_over_passive_array_keeps_nothing(f):
    assert grown(f, (1.5, np.full(FEW, 0.9999)), (1.5, np.full(MANY, 0.9999))) < CONSTANT


def test_linear_loop_on_arrays_keeps_nothing():
    v, m = np.ones(50), np.eye(50)
    assert grown(linear_on_array, (v, m, 10), (v, m, 2_000)) < CONSTANT


@pytest.mark.parametrize(
    "f", [one_float, one_float_nested, one_float_beside_passive_and_linear_work], ids=lambda f: f.__name__
)
def test_one_float_per_trip(f):
    item = sys.getsizeof(1.5) + 1.25 * np.dtype(object).itemsize  # on a list, which has some room to grow
    assert grown(f, (1.5, FEW), (1.5, MANY)) < item * MANY + CONSTANT


def test_one_numpy_float_per_trip():
    assert grown(one_float_in_sine, (np.float64(1.5), FEW), (np.float64(1.5), MANY)) < 16 * MANY + CONSTANT


def test_value_and_grad_keeps_no_more():
    both = s2s.value_and_grad(linear)
    assert peak(both, 1.5, MANY) - peak(both, 1.5, FEW) < CONSTANT


def test_nothing_is_held_after_the_call():
    gradient = s2s.grad(one_float)
    gradient(1.5, MANY)
    tracemalloc.start()
    try:
        gradient(1.5, MANY)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < CONSTANT


def test_slices_make_no_array_of_full_size():
    def f(v):
        total = 0.0
        for i in range(1000):
            total += v[i] * v[i + 1]
        return total

    v = np.ones(1_000_000)
    assert peak(s2s.grad(f), v) < 3 * v.nbytes


# --- arrays that are changed in place -----------------------------------------------------------------------------

N = 2_000
FEW_STEPS, MANY_STEPS = 5, 105


def stencil(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def stencil_assigned(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[0] = u[-2]
        u[-1] = 0.3 * u[1]
    return np.sum(u * u)


def stencil_with_two_buffers(u, steps):
    a, b = u.copy(), u.copy()
    for _ in range(steps):
        b[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        a, b = b, a
    return np.sum(a * a)


def stencil_in_helper(u, steps):
    def step(u, out):
        out[1:-1] = 0.5 * u[1:-1] + 0.25 * (u[2:] + u[:-2])

    a, b = u.copy(), u.copy()
    for _ in range(steps):
        step(a, b)
        step(b, a)
    return np.sum(a * a)


def stencil_through_views(u, steps):
    u = u.copy()
    left, inner, right = u[:-2], u[1:-1], u[2:]
    for _ in range(steps):
        inner += 0.1 * (right - 2.0 * inner + left)
    return np.sum(u * u)


def stencil_of_two_fields(u, steps):
    e, h = u.copy(), np.zeros_like(u)
    for _ in range(steps):
        h[:-1] -= 0.4 * (e[1:] - e[:-1])
        e[1:] -= 0.4 * (h[1:] - h[:-1])
    return np.sum(e * e) + np.sum(h * h)


def stencil_with_passive_coefficients(u, w, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += w[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u *= w
    return np.sum(u * u)


def stencil_while(u, steps):
    u = u.copy()
    t = 0
    while t < steps:
        u[1:] = 0.9 * u[1:] + 0.1 * u[:-1]
        t += 1
    return np.sum(u * u)


def nonlinear_at_one_end(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = np.sin(u[-1]) * u[1]
    return np.sum(u * u)


def sine_in_place(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[:] = np.sin(u)
    return np.sum(u)


ROW = np.linspace(0.1, 0.9, N)


@pytest.mark.parametrize(
    "f",
    [stencil, stencil_assigned, stencil_with_two_buffers, stencil_in_helper, stencil_through_views,
     stencil_of_two_fields, stencil_while],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_linear_stencil_keeps_nothing(f):
    assert grown(f, (ROW, FEW_STEPS), (ROW, MANY_STEPS)) < CONSTANT
    assert peak(s2s.grad(f), ROW, MANY_STEPS) < 12 * ROW.nbytes


def test_linear_stencil_with_passive_coefficients_keeps_nothing():
    f = stencil_with_passive_coefficients
    assert grown(f, (ROW, 0.2 * ROW, FEW_STEPS), (ROW, 0.2 * ROW, MANY_STEPS)) < CONSTANT


def test_nonlinear_stencil_keeps_one_array_per_step():
    f = sine_in_place
    steps = MANY_STEPS - FEW_STEPS
    assert grown(f, (ROW, FEW_STEPS), (ROW, MANY_STEPS)) < 1.1 * steps * ROW.nbytes


def test_only_elements_that_are_read_nonlinearly_are_kept():
    assert grown(nonlinear_at_one_end, (ROW, FEW_STEPS), (ROW, MANY_STEPS)) < CONSTANT


def shifted_sums(x, weights):
    """Slices whose lengths are known when the program runs only: of each the reverse reads the shape."""
    length = len(x) - len(weights)
    out = np.zeros(length)
    for i in range(len(weights)):
        out += x[i : i + length] * weights[i]
    return np.sum(out**2)


def grown_sums(x, weights):
    """So it is with a sum that begins as a number."""
    length = len(x) - len(weights)
    out = 0.0
    for i in range(len(weights)):
        out = out + x[i : i + length] * weights[i]
    return np.sum(out**2)


def read_shifts(x, weights):
    """Here the reverse reads what they hold, too."""
    length = len(x) - len(weights)
    out = np.zeros(length)
    for i in range(len(weights)):
        part = np.sin(x[i : i + length]) * weights[i]
        out += np.exp(part)
    return np.sum(out**2)


@pytest.mark.parametrize("f", [shifted_sums, grown_sums])
def test_of_what_only_the_shape_is_read_the_shape_is_kept(f):
    few, many = (peak(s2s.grad(f), np.ones(100_000), np.ones(n)) for n in (10, 40))
    assert many < few + 100_000  # one array takes 800,000 bytes


@pytest.mark.parametrize("f", [shifted_sums, grown_sums, read_shifts])
def test_gradients_with_kept_shapes(f, rng):
    x, weights = rng.normal(size=8), rng.normal(size=3)
    s2s.check_grads(f, (x, weights), order=2)
    if f is not grown_sums:  # a number that becomes an array has no type in compiled code
        compiled = s2s.grad(s2s.differentiable(f, backend="numba"), argnums=(0, 1))
        for one, other in zip(s2s.grad(f, argnums=(0, 1))(x, weights), compiled(x, weights)):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def filtered(u, n):
    """Transforms with a length: their cotangents ask for the shapes of what they were given."""
    weight = np.linspace(1.0, 0.5, len(u) // 2 + 1)
    for _ in range(n):
        u = np.fft.irfft(np.fft.rfft(u) * weight, len(u))
    return np.sum(u * u)


def test_transforms_keep_shapes():
    u = np.ones(2_000)
    assert grown(filtered, (u, 10), (u, 110)) < 0.2 * 100 * u.nbytes
