"""``np.histogram`` for compiled code, with weights, and the bins that its derivative looks up (``rt.bin_of``).

A value is in the bin that NumPy finds for it: between even edges by its distance to the first one, set right by
comparison with the edges, as rounding may be off by one; Numba's own histogram leaves that out. What NumPy refuses
raises: the Python function runs then.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

__all__ = ["bin_of", "histogram"]


def histogram(a, bins=10, range=None, density=None, weights=None):  # type: ignore[no-untyped-def]
    """What stands for ``np.histogram``."""
    raise NotImplementedError


def bin_of(x, edges, is_even):  # type: ignore[no-untyped-def]
    """What stands for ``rt.bin_of``."""
    raise NotImplementedError


@njit
def _even(value, edges, by_width):  # type: ignore[no-untyped-def]
    """The bin between even edges; ``by_width`` is how many there are in a unit."""
    last = np.uint64(len(edges) - 2)
    k = min(np.uint64(np.int64((value - edges[0]) * by_width)), last)
    if value < edges[k]:
        return k - np.uint64(1)
    if k < last and value >= edges[k + np.uint64(1)]:
        return k + np.uint64(1)
    return k


@njit
def _uneven(value, edges):  # type: ignore[no-untyped-def]
    """The bin between any edges."""
    return min(np.searchsorted(edges, value, side="right") - 1, len(edges) - 2)


@njit
def _even_edges(a, n, bounds):  # type: ignore[no-untyped-def]
    """Edges of bins of one width."""
    if bounds is not None:
        first, last = float(bounds[0]), float(bounds[1])
    elif a.size == 0:
        first, last = 0.0, 1.0
    else:
        first, last = float(a.min()), float(a.max())
    if n < 1 or not (np.isfinite(first) and np.isfinite(last) and first <= last):
        raise ValueError
    if first == last:
        first, last = first - 0.5, last + 0.5
    return np.linspace(first, last, n + 1)


def _is_vector(kind: types.Type, *dtypes: types.Type) -> bool:
    return isinstance(kind, types.Array) and kind.dtype in dtypes


def _is_absent(kind: object) -> bool:
    return kind is None or kind is False or isinstance(kind, types.NoneType) or (
        isinstance(kind, types.Omitted) and kind.value in (None, False))


@overload(histogram)
def _histogram(a, bins=10, range=None, density=None, weights=None):  # type: ignore[no-untyped-def]
    is_weighted = not _is_absent(weights)
    if not _is_vector(a, types.float64, types.int64) or not _is_absent(density):
        return None
    if is_weighted and not _is_vector(weights, types.float64):
        return None
    if not _is_absent(range) and not (isinstance(range, types.BaseTuple) and len(range) == 2):
        return None
    kind = np.float64 if is_weighted else np.int64
    if isinstance(bins, (int, types.Integer)) or (isinstance(bins, types.Omitted) and isinstance(bins.value, int)):
        def of_number(a, bins=10, range=None, density=None, weights=None):  # type: ignore[no-untyped-def]
            values = a.ravel()
            edges = _even_edges(values, bins, range)
            first, last, found = edges[0], edges[-1], np.zeros(bins, kind)
            by_width = bins / (last - first)
            if is_weighted:
                if weights.shape != a.shape:
                    raise ValueError
                given = weights.ravel()
            for i in np.arange(len(values)):
                value = values[i]
                if value >= first and value <= last:
                    if is_weighted:
                        found[_even(value, edges, by_width)] += given[i]
                    else:
                        found[_even(value, edges, by_width)] += 1
            return found, edges

        return of_number
    if not _is_vector(bins, types.float64) or bins.ndim != 1 or not _is_absent(range):
        return None

    def of_edges(a, bins=10, range=None, density=None, weights=None):  # type: ignore[no-untyped-def]
        values, edges, found = a.ravel(), bins, np.zeros(len(bins) - 1, kind)
        if len(edges) < 2 or np.any(edges[1:] < edges[:-1]):
            raise ValueError
        if is_weighted:
            if weights.shape != a.shape:
                raise ValueError
            given = weights.ravel()
        for i in np.arange(len(values)):
            value = values[i]
            if value >= edges[0] and value <= edges[-1]:
                if is_weighted:
                    found[_uneven(value, edges)] += given[i]
                else:
                    found[_uneven(value, edges)] += 1
        return found, edges

    return of_edges


@overload(bin_of)
def _bin_of(x, edges, is_even):  # type: ignore[no-untyped-def]
    if not _is_vector(x, types.float64, types.int64) or not _is_vector(edges, types.float64):
        return None

    def choose(x, edges, is_even):  # type: ignore[no-untyped-def]
        first, last = edges[0], edges[-1]
        by_width = (len(edges) - 1) / (last - first) if is_even else 0.0
        places = np.empty(x.shape, np.int64)
        values, flat = x.ravel(), places.ravel()
        for i in np.arange(len(values)):
            value = values[i]
            if not (value >= first and value <= last):
                flat[i] = -1
            elif is_even:
                flat[i] = _even(value, edges, by_width)
            else:
                flat[i] = _uneven(value, edges)
        return places

    return choose
