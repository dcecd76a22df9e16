"""What the distances of ``scipy.spatial.distance`` between the rows of matrices are."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["between", "cdist", "pdist"]


def root(s: Any) -> Any:
    """The square root; its derivative at 0 is 0, as for equal points."""
    zero = s == 0.0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, s)))


def share(a: Any, b: Any) -> Any:
    """a / b, 0 where both are 0."""
    zero = b == 0.0
    return np.where(zero, 0.0, a / np.where(zero, 1.0, b))


def added(values: Any, w: Any) -> Any:
    """The sum over the last axis, of values by their weights."""
    return np.sum(values, axis=-1) if w is None else np.sum(np.asarray(w) * values, axis=-1)


def greatest(values: Any, w: Any) -> Any:
    """The maximum over the last axis, of values that are not negative, without those of weight zero."""
    return np.max(values, axis=-1) if w is None else np.max(np.where(np.asarray(w) > 0.0, values, 0.0), axis=-1)


def mean(values: Any, w: Any) -> Any:
    """The mean over the last axis, which is kept, of values by their weights."""
    if w is None:
        return np.mean(values, axis=-1, keepdims=True)
    return np.sum(np.asarray(w) * values, axis=-1, keepdims=True) / np.sum(w)


def angle(a: Any, b: Any, w: Any) -> Any:
    """One less the cosine of the angle between vectors."""
    return 1.0 - added(a * b, w) / (root(added(a * a, w)) * root(added(b * b, w)))


def between(a: Any, b: Any, metric: Any, kwargs: Any) -> Any:
    """The distances of vectors in the last axis, in which each place may have a weight."""
    w = kwargs.get("w")
    if metric == "euclidean":
        return root(added((a - b) ** 2, w))
    if metric == "sqeuclidean":
        return added((a - b) ** 2, w)
    if metric == "cityblock":
        return added(np.abs(a - b), w)
    if metric == "chebyshev":
        return greatest(np.abs(a - b), w)
    if metric == "minkowski":
        p = kwargs.get("p", 2.0)
        if p == np.inf:
            return greatest(np.abs(a - b), w)
        s = added(np.abs(a - b) ** p, w)
        zero = s == 0.0
        return np.where(zero, 0.0, np.where(zero, 1.0, s) ** (1.0 / p))
    if metric == "canberra":
        return added(share(np.abs(a - b), np.abs(a) + np.abs(b)), w)
    if metric == "braycurtis":
        return added(np.abs(a - b), w) / added(np.abs(a + b), w)
    if metric == "cosine":
        return angle(a, b, w)
    if metric == "correlation":
        return angle(a - mean(a, w), b - mean(b, w), w)
    if metric == "seuclidean" and "V" in kwargs:
        return root(np.sum((a - b) ** 2 / kwargs["V"], axis=-1))
    if metric == "mahalanobis" and "VI" in kwargs:
        return root(np.sum(((a - b) @ kwargs["VI"]) * (a - b), axis=-1))
    return rt.no_derivative("this metric", "it has no rule; write it with NumPy, or give V or VI")


def stored(made: Any, out: Any) -> Any:
    """A result, in the array that is given for it."""
    if out is None:
        return made
    out[...] = made
    return out


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    a, b = np.asarray(XA), np.asarray(XB)
    return stored(between(a[:, None, :], b[None, :, :], metric, kwargs), out)


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    rows = np.asarray(X)
    first, second = np.triu_indices(np.shape(rows)[0], 1)
    return stored(between(rows[first], rows[second], metric, kwargs), out)


def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    """A vector of distances as a symmetric matrix with zeros on the diagonal, and back."""
    given = np.asarray(X)
    if np.ndim(given) == 2:
        return given[np.triu_indices(np.shape(given)[0], 1)]
    return np.concatenate([given, np.zeros(1)])[places_in_square(np.shape(given)[0])]


def places_in_square(count: Any) -> Any:
    """Where each item of the matrix is in the vector; at its end on the diagonal."""
    n = round((1.0 + np.sqrt(1.0 + 8.0 * count)) / 2.0)
    made = np.full((n, n), count)
    first, second = np.triu_indices(n, 1)
    made[first, second] = np.arange(count)
    made[second, first] = np.arange(count)
    return made
