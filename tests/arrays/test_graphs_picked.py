"""Arrays of Dask of which masks, indices and diagonals are read: nothing is computed, and derivatives are NumPy's."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import Later

dask, da = Later("dask"), Later("dask.array")

rng = np.random.default_rng(4)
v, X, S = (rng.normal(size=shape) for shape in (12, (12, 5), (6, 6)))


def by_mask(x):
    return np.sum(x[x > 0] ** 2) * np.sum(x)


def by_mask_of_rank_two(x):
    return np.mean(x[x > 0]) ** 3 + np.sum(np.sin(x)[x < 0.3] ** 2)


def by_mask_of_rows(x):
    kept = x[x[:, 0] > 0]
    return np.sum((kept @ np.arange(5.0)) ** 2) + np.sum(np.mean(kept, axis=0) ** 2) + np.sum(np.std(kept, axis=0))


def by_mask_of_columns(x):
    return np.sum(x[:, x[0] > 0] ** 2) + np.sum(x[:, np.array([True, False, True, True, False])] ** 3)


def by_mask_of_something_else(x):
    m, y = x > 0, np.sin(x)
    return np.sum(x[m] * y[m]) + x[m] @ y[m] + np.sum((x[m] + x[0]) ** 2)


def means_of_what_is_left(x):
    left = x[~np.isnan(x)]
    return np.mean(left**2) + np.std(x[x > 0]) + np.var(x[x < 0]) + np.linalg.norm(left) + np.max(x[x < 0.5])


def extracted(x):
    return np.sum(np.extract(x > 0, x) ** 2) + np.sum(np.compress(x < 0, x) ** 3)


def compressed(x):
    return np.sum(np.compress(x[:, 0] > 0, x, axis=0) ** 2)


def by_places_of_a_mask(x):
    return np.sum(x[np.where(x > 0)] ** 2) + np.sum(x[np.flatnonzero(x < 0)] ** 3)


def by_lists(x):
    return np.sum(x[[0, 2, -1, 2]] ** 2) * np.mean(x) + np.sum(x[2:, [1, 1, 3]] ** 2) + np.sum(x[1, [0, 0]] ** 3)


def taken(x):
    return np.sum(np.take(x, [0, 4, 0], axis=1) ** 2 * np.arange(3.0)) + np.sum(np.take(x, np.array([7, 0, 7]), axis=0))


def by_one_place(x):
    return x[np.argmax(x)] ** 2 + x[np.argmin(x)] * x[3]


def in_order(x):
    return np.sum(np.sort(x) * np.arange(12.0)) + np.sum(x[np.argsort(x)] ** 2 * np.arange(12.0))


def lines_in_order(x):
    weights = np.arange(60.0).reshape(12, 5)
    ordered = np.take_along_axis(x, np.argsort(x, axis=0), axis=0)
    return np.sum(ordered * weights) + np.sum(np.sort(x, axis=1) ** 2 * weights)


def diagonals(x):
    return np.sum(np.diagonal(x, 1) ** 2) + np.sum(np.diagonal(x, -2) ** 3) + np.sum(np.diag(x) ** 2)


def traces(x):
    return np.trace(x) ** 2 + np.trace(x, 1) ** 3 + np.trace(x, offset=-2)


def cumulated(x):
    return np.sum(np.cumsum(x, axis=0) ** 2) + np.sum(np.cumsum(x, axis=1) ** 3) + np.sum(np.cumprod(x, axis=1))


PROGRAMS = [
    (by_mask, v), (by_mask_of_rank_two, X), (by_mask_of_rows, X), (by_mask_of_columns, X),
    (by_mask_of_something_else, v), (means_of_what_is_left, v), (extracted, v), (compressed, X),
    (by_places_of_a_mask, v), (by_lists, X), (taken, X), (by_one_place, v), (in_order, v), (lines_in_order, X),
    (diagonals, X), (traces, S), (cumulated, X),
]
CHUNKS = {"uneven": {12: (5, 1, 6), 5: (2, 3), 6: (4, 2)}, "one": {12: (12,), 5: (5,), 6: (6,)}}


def graph(array, chunks):
    return da.from_array(array.copy(), chunks=tuple(CHUNKS[chunks][n] for n in array.shape))


def refuse(graph, keys, **options):
    raise AssertionError("something was computed")


def computed(value):
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(value.compute())


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_what_is_picked_is_lazy_and_right_in_both_modes(f, x, chunks):
    along = np.cos(3.0 * x)
    with dask.config.set(scheduler=refuse):
        value, bar = s2s.value_and_grad(f)(graph(x, chunks))
        _, dot = s2s.jvp(f, (graph(x, chunks),), (graph(along, chunks),))
    assert bar.shape == x.shape and bar.dtype == x.dtype
    step = 1e-6
    expected = (f(x + step * along) - f(x - step * along)) / (2 * step)
    np.testing.assert_allclose(computed(value), f(x), rtol=1e-12)
    np.testing.assert_allclose(computed(dot), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.sum(computed(bar) * along), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(computed(bar), s2s.grad(f)(x), rtol=1e-10, atol=1e-13)


def test_a_cotangent_of_what_a_mask_leaves():
    x = graph(v, "uneven")
    out, pull = s2s.vjp(lambda x: x[x > 0] ** 2, x)
    np.testing.assert_allclose(computed(pull(out)[0]), np.where(v > 0, 2 * v**3, 0.0))


def test_masks_in_other_chunks_than_the_array():
    def f(x, m):
        return np.sum(x[m] ** 2)

    mask = v > 0
    found = s2s.grad(f)(graph(v, "uneven"), da.from_array(mask, chunks=4))
    np.testing.assert_allclose(computed(found), np.where(mask, 2 * v, 0.0))
    masks = da.from_array(np.stack([mask] * 5, 1), chunks=(4, 2))
    found = s2s.grad(f)(graph(X, "uneven"), masks)
    np.testing.assert_allclose(computed(found), np.where(mask[:, None], 2 * X, 0.0))


def test_what_has_no_lazy_way_is_told():
    x = graph(v, "uneven")
    for f, named in [
        (lambda x: np.sum(np.median(x.reshape(3, 4), axis=1)), "numpy.quantile"),
        (lambda x: np.sum(np.partition(x, 3)), "numpy.partition"),
        (lambda x: np.sum(np.interp(x, np.arange(3.0), np.arange(3.0) ** 2) ** 2), "numpy.interp"),
    ]:
        with dask.config.set(scheduler=refuse), pytest.raises(NoDerivativeError, match=rf"`{named}`.*S2S536"):
            s2s.grad(f)(x)
    says = r"(?s)quantile.*np\.sort\(x, axis\)"
    with dask.config.set(scheduler=refuse), pytest.raises(NoDerivativeError, match=says):
        s2s.grad(lambda x: np.sum(np.percentile(x.reshape(3, 4), 30, axis=1)))(x)
    with dask.config.set(scheduler=refuse), pytest.raises(NoDerivativeError, match="S2S539"):
        s2s.grad(lambda x: np.sum(x[x > 0][np.sin(x[x > 0]) > 0.5] ** 2))(x)


def test_places_out_of_bounds_raise_where_they_are_computed():
    x = graph(v, "uneven")
    places = da.from_array(np.array([0, 12]))
    found = s2s.vjp(lambda x, k: x[k], x, places)[1](da.ones(2))[0]
    with pytest.raises(IndexError):
        computed(found)


def test_values_of_another_count_do_not_go_back():
    """Chunks of unknown length which are not those of the mask are seen where they are computed."""
    x, other = graph(v, "uneven"), graph(v[::-1] - 0.2, "uneven")
    _, pull = s2s.vjp(lambda x: x[x > 0], x)
    with pytest.raises(ValueError, match="values go back to"):
        computed(pull(other[other > 0])[0])


UNKNOWN = [
    (lambda X: np.sum(np.tanh(X @ np.arange(5.0)) ** 2), True),
    (lambda X: np.mean(X) + np.sum(np.mean(X, axis=0) ** 2), True),
    (lambda X: np.sum((X - np.mean(X, axis=0)) ** 2) * np.max(X), True),
    (lambda X: np.mean((X @ X.T @ X)[:, 1] ** 2), False),
]


@pytest.mark.parametrize(("f", "has_way"), UNKNOWN)
def test_an_argument_of_unknown_length(f, has_way):
    """As ``dask.dataframe`` gives it."""
    x = graph(X, "uneven").rechunk({1: -1})
    unknown = x[x[:, 0] > -10.0]
    with dask.config.set(scheduler=refuse):
        if not has_way:
            with pytest.raises(ValueError, match="unknown"):
                s2s.grad(f)(unknown)
            return
        bar, (_, dot) = s2s.grad(f)(unknown), s2s.jvp(f, (unknown,), (unknown,))
    np.testing.assert_allclose(computed(bar), s2s.grad(f)(X), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(computed(dot), np.sum(s2s.grad(f)(X) * X), rtol=1e-10)
