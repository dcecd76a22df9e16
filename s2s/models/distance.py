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


def between(a: Any, b: Any, metric: Any, kwargs: Any) -> Any:
    """The distances of vectors in the last axis."""
    if metric == "euclidean":
        return root(np.sum((a - b) ** 2, axis=-1))
    if metric == "sqeuclidean":
        return np.sum((a - b) ** 2, axis=-1)
    if metric == "cityblock":
        return np.sum(np.abs(a - b), axis=-1)
    if metric == "chebyshev":
        return np.max(np.abs(a - b), axis=-1)
    if metric == "minkowski":
        p = kwargs.get("p", 2.0)
        s = np.sum(np.abs(a - b) ** p, axis=-1)
        zero = s == 0.0
        return np.where(zero, 0.0, np.where(zero, 1.0, s) ** (1.0 / p))
    if metric == "canberra":
        return np.sum(share(np.abs(a - b), np.abs(a) + np.abs(b)), axis=-1)
    if metric == "braycurtis":
        return np.sum(np.abs(a - b), axis=-1) / np.sum(np.abs(a + b), axis=-1)
    if metric == "cosine":
        return 1.0 - np.sum(a * b, axis=-1) / (root(np.sum(a * a, axis=-1)) * root(np.sum(b * b, axis=-1)))
    if metric == "correlation":
        a = a - np.mean(a, axis=-1, keepdims=True)
        b = b - np.mean(b, axis=-1, keepdims=True)
        return 1.0 - np.sum(a * b, axis=-1) / (root(np.sum(a * a, axis=-1)) * root(np.sum(b * b, axis=-1)))
    if metric == "seuclidean" and "V" in kwargs:
        return root(np.sum((a - b) ** 2 / kwargs["V"], axis=-1))
    if metric == "mahalanobis" and "VI" in kwargs:
        return root(np.sum(((a - b) @ kwargs["VI"]) * (a - b), axis=-1))
    return rt.no_derivative("this metric", "it has no rule; write it with NumPy, or give V or VI")


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    a, b = np.asarray(XA), np.asarray(XB)
    return between(a[:, None, :], b[None, :, :], metric, kwargs)


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    rows = np.asarray(X)
    first, second = np.triu_indices(np.shape(rows)[0], 1)
    return between(rows[first], rows[second], metric, kwargs)


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
