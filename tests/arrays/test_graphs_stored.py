"""Arrays of Dask that are stored into, and read by arrays of integers for several axes: nothing is computed,
derivatives are NumPy's, and what would show in another name of the array is refused."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError, UnsupportedSyntaxError
from tests.helpers import Later

dask, da = Later("dask"), Later("dask.array")

rng = np.random.default_rng(5)
v, X = rng.normal(size=12), rng.normal(size=(12, 5))


def slices(x):
    y = np.zeros_like(x)
    y[2:5] = x[3:6] ** 2
    y[::3] = 2.0 * x[::3]
    y[-1] = x[0]
    y[5:8] *= y[2:5]
    return np.sum(y**2) + np.sum(y * x)


def by_mask(x):
    y = x**2
    y[x > 0.5] = 0.0
    y[x < -0.2] = x[x < -0.2] ** 3
    y[y > 0.1] += 3.0 * x[0]
    return np.sum(y * x)


def rows_by_mask(x):
    y, m = x * 2, x[:, 0] > 0
    y[m] = np.sin(x[m])
    y[x[:, 1] > 0.5] = x[3]
    y[:, x[0] > 0] = 0.0
    y[~m, 1] = x[~m, 2]
    return np.sum(y**2 * x)


def by_mask_of_rank_two(x):
    y = x * 2
    y[x > 1] = 1.0
    y[y < -1] = x[y < -1] ** 3
    return np.sum(y**2 * x)


def by_lists(x):
    y = x**2
    y[:, [1, 3]] = x[:, [0, 0]]
    y[[1, 2, 1], 2:] = x[4:7, 2:]
    y[2, [0, 0]] = x[1, :2]
    y[[3, 3]] += 2.0 * x[0]
    return np.sum(y**2 * x)


def by_places_of_a_mask(x):
    y = x.copy()
    y[np.where(x > 0.4)] = 0.0
    k = np.flatnonzero(x < -0.2)
    y[k] = x[k] ** 2
    y[np.argmax(x)] = x[0] ** 2
    return np.sum(y**3)


def added_up(x):
    y = np.zeros(5)
    np.add.at(y, [0, 1, 0], x[:3])
    np.subtract.at(y, np.array([2, 2, 4]), x[3:6] ** 2)
    return np.sum(y**2) + y @ x[:5]


def recurrence(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, 6):
        if i % 2:
            y[i] = np.sin(y[i - 1]) * x[i] + y[i]
        else:
            y[i] += y[i - 1] ** 2
    return np.sum(y**2)


def heat(u):
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def until(x):
    y, k = x.copy(), 3
    while k > 0:
        y[k] = y[k - 1] * x[k]
        k -= 1
        if k == 1:
            y[5] = 2.0 * y[2]
            break
    return np.sum(y**2)


def swapped(x):
    y = x.copy()
    t = y[0]
    y[0] = y[1] ** 2
    y[1] = t * 3
    y[2], y[3] = y[3] * 2, y[2] * x[0]
    return np.sum(y**2 * np.arange(12.0))


def whole(x):
    y = np.empty_like(x)
    y[...] = x[0]
    y[:] += x
    y[1] = 2.0
    y[:, 1:3] -= y[:, 2:4]
    return np.sum(y**3)


def columns(x):
    out = np.zeros(x.shape)
    for j in range(x.shape[1]):
        out[:, j] = x[:, j] / np.sqrt(1 + np.sum(x[:, j] ** 2))
    return np.sum(out**3)


def put(a, i, value):
    a[i] = value


class State:
    def __init__(self, x):
        self.u = x * 1.0


def through_names(x):
    y, state = x * x, State(x)
    put(y, 0, x[1])
    z = y
    z[3] = y[0] * x[0]
    state.u[1:] = y[:-1]
    rows = [y, state.u]
    rows[1][0] = 3.0 * x[2]
    return np.sum(y**2) + np.sum(rows[1] * state.u)


def pairs(x):
    return np.sum(x[[0, 3, 3, -1], [1, 4, 4, 0]] ** 2 * np.arange(4.0)) + np.sum(x[np.ix_([0, 2, 2], [1, 3])] ** 3)


def places_of_rank_two(x):
    embedded = x[np.array([[0, 1, 1], [2, 0, -1]])]
    taken = np.take(x, np.array([[0, 1], [1, 4]]), axis=1)
    return np.sum(np.tanh(embedded.sum(axis=1)) ** 2) + np.sum(taken**2 * np.arange(2.0))


def apart(x):
    blocks = x.reshape(3, 4, 5)
    return np.sum(blocks[1, :, [0, 1, 1]] ** 3 * np.arange(4.0)) + np.sum(blocks[[0, 2], :, [1, 1]] ** 2)


def largest_of_rows(x):
    y, k = x * 1.0, np.argmax(x, axis=1)
    y[np.arange(12), k] = x[:, 0] ** 2
    return np.sum(y**2) + np.sum(x[np.arange(12), k] ** 3) + np.sum(x[np.nonzero(x > 0)] ** 2)


def stored_pairs(x):
    y, k = x[:5] * 2, np.arange(5)
    y[[0, 3, 3, -1], [1, 4, 4, 0]] = x[0, :4] ** 2
    y[k, k] *= x[1]
    np.add.at(y, ([0, 0], [1, 1]), x[3, :2])
    return np.sum(y**2 * x[:5])


def by_places_of_unknown_number(x):
    return np.sum(x[np.nonzero(x > 0)] ** 2)


def upper(x):
    y = x[:5].T @ x[5:10]
    return np.sum(y[np.triu_indices(5, 1)] ** 2)


def turned(x):
    blocks = np.transpose(x.reshape(3, 4, 5), (2, 0, 1)) * 1.0
    blocks[1, 1:] *= 2.0
    blocks[..., np.argsort([2, 0, 1])] += x[:3, 0]
    return np.sum(blocks**3)


def in_pieces(x):
    out = np.empty((3, 4))
    for i, piece in enumerate(np.split(x, 3)):
        out[i] = piece**2
    return np.sum(out * out) + sum(np.sum(piece) ** 3 for piece in np.array_split(x, 5))


PROGRAMS = [
    (slices, v), (by_mask, v), (rows_by_mask, X), (by_mask_of_rank_two, X), (by_lists, X), (by_places_of_a_mask, v),
    (added_up, v), (recurrence, v), (heat, v), (until, v), (swapped, v), (whole, X), (columns, X), (through_names, v),
    (pairs, X), (places_of_rank_two, X), (apart, X), (largest_of_rows, X), (stored_pairs, X),
    (by_places_of_unknown_number, X), (upper, X), (turned, X), (in_pieces, v),
]
CHUNKS = {"uneven": {12: (5, 1, 6), 5: (2, 3)}, "one": {12: (12,), 5: (5,)}}


def graph(array, chunks="uneven"):
    return da.from_array(array.copy(), chunks=tuple(CHUNKS[chunks][n] for n in array.shape))


def refuse(graph, keys, **options):
    raise AssertionError("something was computed")


def computed(value):
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(value.compute())


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_stores_are_lazy_and_right_in_both_modes_and_to_second_order(f, x, chunks):
    along = np.cos(3.0 * x)
    given = graph(x, chunks)
    with dask.config.set(scheduler=refuse):
        value, bar = s2s.value_and_grad(f)(given)
        _, dot = s2s.jvp(f, (given,), (graph(along, chunks),))
        product = s2s.hvp(f)(given, graph(along, chunks))
    assert bar.shape == x.shape and bar.dtype == x.dtype
    step = 1e-6
    expected = (f(x + step * along) - f(x - step * along)) / (2 * step)
    np.testing.assert_allclose(computed(value), f(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(computed(dot), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.sum(computed(bar) * along), expected, rtol=1e-6, atol=1e-8)
    gradient = s2s.grad(f)
    np.testing.assert_allclose(computed(bar), gradient(x), rtol=1e-10, atol=1e-13)
    changed = (gradient(x + step * along) - gradient(x - step * along)) / (2 * step)
    np.testing.assert_allclose(computed(product), changed, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(computed(given), x)  # the caller's array is as it was


def test_an_order_of_axes_is_no_array_of_dask():
    """Dask refuses it. The grid has this program, too, and a run may leave it out."""
    along, step = np.cos(3.0 * X), 1e-6
    expected = (turned(X + step * along) - turned(X - step * along)) / (2.0 * step)
    bar = computed(s2s.grad(turned)(graph(X)))
    dot = computed(s2s.jvp(turned, (graph(X),), (graph(along),))[1])
    np.testing.assert_allclose([np.sum(bar * along), dot], expected, rtol=1e-6)


def test_dtypes_are_kept():
    def f(x):
        y = np.zeros(12, np.float32)
        y[:6] = x[:6] ** 2
        y[x > 0] = 2.0 * x[0]
        n = np.zeros(12, int)
        n[x > 0.3] = 2
        z = np.zeros(12, complex)
        z[3:] = x[3:] * 1j
        return np.sum(y**2) + np.sum(n * x) + np.sum(np.abs(z) ** 2)

    np.testing.assert_allclose(computed(s2s.grad(f)(graph(v))), s2s.grad(f)(v), rtol=1e-6)


def view_is_stored_into(x):
    y = x * 1.0
    z = y[1:]
    z[0] = 5 * x[0]
    return np.sum(y**2)


def view_is_read_later(x):
    y = x * 1.0
    z = y[1:]
    y[1] = 5 * x[0]
    return np.sum(z**2)


def two_indices(x):
    y = x.reshape(3, 4) * 1.0
    y[1][2] = x[0]
    return np.sum(y**2)


def of_another_shape(x):
    y = x * 1.0
    r = y.reshape(3, 4)
    y[0] = 7 * x[1]
    return np.sum(r**2)


def one_of_two(x, k=2):
    y = x * 1.0
    w = y if k > 1 else x * 2
    w[0] = x[3]
    return np.sum(y * w)


def augmented_under_another_name(x):
    y = x * 2.0
    z = y
    z += x
    return np.sum(y**2)


def in_a_try(x):
    y = x * 2.0
    try:
        y[0] = x[1] ** 2
    except IndexError:
        y[1] = 0.0
    return np.sum(y**2)


@pytest.mark.parametrize(("f", "says"), [
    (view_is_stored_into, r"store by one index of the array itself"),
    (view_is_read_later, r"read views after the store"),
    (two_indices, r"`y\[i, j\] = v`"),
    (of_another_shape, r"read views after the store"),
    (one_of_two, r"store by one index"),
    (augmented_under_another_name, r"write `z = z \+ \.\.\.`, which is a new array on both"),
    (in_a_try, r"outside of the `try`"),
])
def test_what_shows_under_another_name_is_refused(f, says):
    for derivative in (s2s.grad(f), s2s.value_and_grad(f), s2s.hessian(f)):
        with dask.config.set(scheduler=refuse), pytest.raises(UnsupportedSyntaxError, match="S2S146") as refused:
            derivative(graph(v))
        assert refused.match(says)


def test_floats_that_are_cut_to_integers():
    def f(x):
        y = np.zeros(12, int)
        y[0] = x[1]
        return np.sum(y * x)

    np.testing.assert_allclose(computed(s2s.grad(f)(graph(10 * v))), s2s.grad(f)(10 * v))


def test_values_of_a_known_length_do_not_go_behind_a_mask():
    def f(x):
        y = x * 2.0
        y[x > 0] = x[:6]
        return np.sum(y)

    with dask.config.set(scheduler=refuse), pytest.raises(NoDerivativeError, match="S2S539"):
        s2s.grad(f)(graph(v))


def test_places_out_of_bounds_raise():
    def stored(x, k):
        y = x * 1.0
        y[k] = 2.0
        return np.sum(y * x)

    found = s2s.grad(stored)(graph(v), da.from_array(np.array([0, 12]), chunks=2))
    with pytest.raises(IndexError):
        computed(found)
    read = s2s.grad(lambda x, i, j: np.sum(x[i, j] ** 2))
    found = read(graph(X), da.from_array(np.array([0, 1]), chunks=2), da.from_array(np.array([0, 5]), chunks=2))
    with pytest.raises(IndexError):
        computed(found)
