"""Functions of NumPy that change an array, parts of complex arrays, and views that show what changes."""

import math

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import check, differences

pytestmark = pytest.mark.filterwarnings("ignore:'where' used without 'out'")
X = np.array([0.3, 0.7, 1.2, 0.9, 1.6, 0.45])
W = np.linspace(0.5, 1.5, 6)


def put_in_turn(x):
    y = x.copy()
    np.put(y, [0, 2, 3], [x[1], x[1] * x[3]])
    return np.sum(y**3)


def put_beyond(x):
    y = x.copy()
    np.put(y, [0, 8], x[1] * x[3], mode="wrap")
    y.put([17, -4], x[:2] ** 2, mode="clip")
    return np.sum(y**3 * W)


def put_by_name(x):
    y = x.copy()
    np.put(y, ind=[4], v=x[0] * x[5])
    np.putmask(y, mask=y > 1.0, values=[x[0] ** 2, x[1]])
    np.place(y, y < 0.5, vals=[x[2], 3.0 * x[3]])
    return np.sum(y**3 * W)


PLACES = np.array([[[0, 2, 1, 1]], [[2, 0, 0, 1]]])
CUBE = np.arange(24.0).reshape(2, 3, 4)


def along_the_middle_axis(x):
    a = CUBE * x[:3, None]
    np.put_along_axis(a, PLACES, x[0] * np.ones((2, 1, 4)), 1)
    return np.sum(a**2 * CUBE)


def along_the_outer_axes(x):
    a = CUBE * x[:3, None]
    np.put_along_axis(a, PLACES[:1] % 2, x[0] * np.arange(4.0), 0)
    np.put_along_axis(a, PLACES[:, :, :1] * np.ones((1, 3, 1), int), x[1] * x[:3, None], axis=-1)
    return np.sum(a**2 * CUBE)


def diagonals(x):
    a = np.outer(x, x)
    np.fill_diagonal(a, [x[0], x[1] * x[2]])
    tall = np.zeros((5, 2))
    np.fill_diagonal(tall, x[0] ** 2, wrap=True)
    cube = np.ones((3, 3, 3)) * x[1]
    np.fill_diagonal(cube, x[:3] * x[3:])
    return np.sum(a**2) + np.sum(tall**2 * x[4]) + np.sum(cube**2)


def partitioned(x):
    y = x * x
    y.partition((1, 3))
    return y[1] ** 2 * W[1] + y[3] * x[0]


def without_nan(x):
    y = x * x
    y[2] = np.nan
    z = np.nan_to_num(y, copy=False, nan=2.0)
    z *= x[0]
    return np.sum(y**3)


def read_only(x):
    y = x * x
    y.setflags(write=False)
    z = y * 2.0
    z.flags.writeable = False
    return np.sum(y * z)


def made_by_its_class(x):
    y = np.ndarray((6,), float)
    y[:] = x**2
    z = np.ndarray(shape=(2, 3), dtype=np.float64, order="C")
    z[...] = np.reshape(y, (2, 3))
    return np.sum(z**2)


def broadcast_object(x):
    both = np.broadcast(x[:, None], W)
    y = np.empty(both.shape)
    y[...] = x[:, None] * W
    return np.sum(y**2) * both.size / both.nd


def from_iterators(x):
    squares = np.fromiter((v * v for v in x), dtype=float)
    few = np.fromiter([x[0] * x[1], x[2] ** 2, x[3]], float)
    sines = np.fromiter((math.sin(v) for v in x), np.float64, count=-1)
    return np.sum(np.sin(squares)) + few @ few + sines @ sines


def imaginary_items(x):
    z = x + 0j
    z.imag[...] = x**2
    z.imag[2] = x[0]
    z.real[1:] *= 2.0
    z.imag[3:] += x[:3]
    return np.sum(np.abs(z) ** 3)


def imaginary_attribute(x):
    z = np.zeros(6, complex)
    z.real = x
    z.imag = x**2
    z.imag += x
    z.real *= 2.0
    return np.sum(np.abs(z) ** 3)


def imaginary_name(x):
    z = x + 0j
    w = z.imag
    w[...] = x**2
    z *= 2.0
    return np.sum(w**3) + np.sum(np.abs(z) ** 2)


def truncated(x):
    k = np.zeros(6, int)
    k[:] = x * 3.0
    k[1] = x[0] * 9.0
    return np.sum(x**2 * k)


def strides(x):
    y = x * x
    (step,) = y.strides
    w = as_strided(y, shape=(4, 3), strides=(step, step))
    return np.sum(w**2 * np.arange(12.0).reshape(4, 3))


def strides_of_a_part(x):
    y = np.outer(x, x).T
    w = as_strided(y[::2], (2, 2), (16, 96))
    return np.sum(w**3 * np.arange(1.0, 5.0).reshape(2, 2))


def diagonal_by_strides(x):
    a = np.outer(x, x)
    rows, columns = a.strides
    line = as_strided(a, (6,), (rows + columns,))
    line[:] = x**2
    line[1:3] = x[0]
    return np.sum(a**2 * W)


def strides_of_what_changes(x):
    y = x * x
    w = as_strided(y, (4, 3), (8, 8))
    y[2] = x[0]
    y[3:] *= 2.0
    return np.sum(w**2 * np.arange(12.0).reshape(4, 3))


def windows_of_what_changes(x):
    y = x.copy()
    w = sliding_window_view(y, 3)
    first = w[0]
    y[1] = x[0] * x[2]
    y[3:] *= x[1]
    return np.sum(w**2 * np.arange(12.0).reshape(4, 3)) + np.sum(first**3)


def broadcast_of_what_changes(x):
    y = x.copy()
    w = np.broadcast_to(y, (2, 6))
    y[1] = x[0] * x[2]
    return np.sum(w**2 * np.arange(12.0).reshape(2, 6))


def diagonal_of_what_changes(x):
    a = np.outer(x, x)
    d = a.diagonal()[1:]
    for i in range(5):
        a[i + 1] = d[i] * x
    return np.sum(d**2 * W[1:])


MASK = np.arange(6) % 3 > 0


def out_by_position(x):
    y, z, w, v = np.zeros(6), np.empty(6), np.empty(6), np.empty(6)
    left = np.sin(x, None, where=MASK)[MASK]
    np.multiply(x, np.cos(x, z), y, where=MASK)
    np.modf(3.0 * x, w, v)
    rest, whole = np.modf(5.2 * x, None, z)
    return np.sum(left**2) + np.sum(np.multiply(y, x, None) * w * v) + np.sum(rest * whole * z)


PROGRAMS = [
    out_by_position,
    put_in_turn, put_beyond, put_by_name, along_the_middle_axis, along_the_outer_axes, diagonals, partitioned,
    without_nan, read_only, made_by_its_class,
    broadcast_object, from_iterators, imaginary_items, imaginary_attribute, imaginary_name, truncated, strides,
    strides_of_a_part, diagonal_by_strides, strides_of_what_changes, windows_of_what_changes, broadcast_of_what_changes,
    diagonal_of_what_changes,
]
ONCE = {diagonals}
"""Programs of which the second derivative by reverse mode twice is refused."""


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
def test_first_order(f):
    check(f, (X,))


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order(f):
    gradient, v = s2s.grad(f), np.cos(np.arange(6.0))
    wanted = differences(lambda t: float(np.sum(v * gradient(X + t * v))), 0.0)
    np.testing.assert_allclose(np.sum(v * s2s.jvp(gradient, (X,), (v,))[1]), wanted, rtol=1e-6)
    if f not in ONCE:
        np.testing.assert_allclose(s2s.vjp(gradient, X)[1](v)[0] @ v, wanted, rtol=1e-6)


def all_items_by_flat(x, n):
    y = x[x > 0.4].copy()
    y.flat = y**2 * x[0]
    return np.sum(y**3)


def all_items_by_real(x, n):
    y, z = x * x, x[:2] * 1j
    y.real = x[0] * W
    z.real, z.imag = x[2:4], x[4] ** 2
    return np.sum(y**3) + np.sum(np.abs(z) ** 2)


def another_shape(x, n):
    y = x * W
    y.shape = (n, -1)
    z = x[1:5].reshape(tuple([2, 2]))
    z = z * 2.0
    z.shape = 4
    return np.sum(y[0] ** 2 * y[-1]) + np.sum(z * x[:4] ** 2) * len(y)


@pytest.mark.parametrize("f", [all_items_by_flat, all_items_by_real, another_shape], ids=lambda f: f.__name__)
def test_attributes_of_arrays_are_stored(f):
    check(f, (X, 2), argnums=0)


def flat_of_any_rank(x, n):
    y = x.reshape(n) * 2.0
    y.flat = x
    return np.sum(y**2)


def real_of_any_rank(x, n):
    y = np.squeeze(x.reshape(n)) * 2.0
    y.real = x[0]
    return np.sum(y**2)


def shape_of_any_rank(x, n):
    y = x.reshape(n) * 2.0
    y.shape = (2, 3)
    return np.sum(y[0] ** 2 * y[1])


def shape_of_a_function(x, n):
    def f(v):
        return v

    f.shape = 3
    return x[0] * f.shape


@pytest.mark.parametrize("f", [flat_of_any_rank, real_of_any_rank, shape_of_any_rank, shape_of_a_function])
def test_attributes_of_what_may_be_no_array_are_refused(f):
    for derivative in (s2s.grad, s2s.jacfwd):
        with pytest.raises(DifferentiationError, match="an assignment to an attribute") as refusal:
            derivative(f)(X, np.array([3, 2]))
        assert refusal.value.diagnostic.code == "S2S113"


def test_a_count_of_items():
    def f(x):
        return np.sum(np.fromiter(x * x, float, count=4) ** 2)

    np.testing.assert_allclose(s2s.grad(f)(X), np.where(np.arange(6) < 4, 4.0 * X**3, 0.0))


def test_places_between_the_elements_are_refused():
    def f(x):
        return np.sum(as_strided(x[::2], (3,), (8,)))

    with pytest.raises(DifferentiationError, match="S2S129"):
        s2s.grad(f)(X)


def test_strides_kept_in_a_list_are_refused():
    def f(x, n):
        y = x * x
        kept = []
        for k in range(n):
            kept.append(as_strided(y, (2,), (8,)))
            y[0] = x[k] * y[0]
        return sum(np.sum(w) for w in kept)

    with pytest.raises(DifferentiationError):
        s2s.grad(f)(X, 3)


@pytest.mark.parametrize("name", ["straight_through", "error"])
def test_another_choice_for_conversions_refuses_a_store_into_integers(name):
    with pytest.raises(DifferentiationError, match="S2S120"):
        s2s.grad(s2s.differentiable(nonsmooth=name)(truncated))(X)


def test_what_is_truncated_stands_in_the_head():
    assert 'np.trunc is differentiated by nonsmooth="zero"' in s2s.source(truncated, X)
