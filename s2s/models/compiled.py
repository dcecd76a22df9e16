"""What the compiled functions behind ``numpy.linalg`` compute, which libraries call themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "cholesky_lower", "cholesky_upper", "determinant", "eig_pairs", "eigenvalues", "eigenvalues_lower",
    "eigenvalues_upper", "eigh_lower", "eigh_upper", "inverse", "log_determinant", "singular_values", "solve",
    "solve_vector", "svd_full", "svd_reduced",
]


def solve(a: Any, b: Any, signature: Any = None) -> Any:
    return np.linalg.solve(a, b)


def solve_vector(a: Any, b: Any, signature: Any = None) -> Any:
    return np.linalg.solve(a, b[..., None])[..., 0]


def inverse(a: Any, signature: Any = None) -> Any:
    return np.linalg.inv(a)


def determinant(a: Any, signature: Any = None) -> Any:
    return np.linalg.det(a)


def log_determinant(a: Any, signature: Any = None) -> Any:
    sign, logarithm = np.linalg.slogdet(a)
    return sign, logarithm


def eigh_lower(a: Any, signature: Any = None) -> Any:
    w, v = np.linalg.eigh(a, "L")
    return w, v


def eigh_upper(a: Any, signature: Any = None) -> Any:
    w, v = np.linalg.eigh(a, "U")
    return w, v


def eigenvalues_lower(a: Any, signature: Any = None) -> Any:
    return np.linalg.eigvalsh(a, "L")


def eigenvalues_upper(a: Any, signature: Any = None) -> Any:
    return np.linalg.eigvalsh(a, "U")


def cholesky_lower(a: Any, signature: Any = None) -> Any:
    return np.linalg.cholesky(a)


def cholesky_upper(a: Any, signature: Any = None) -> Any:
    return np.linalg.cholesky(a, upper=True)


def svd_reduced(a: Any, signature: Any = None) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh


def svd_full(a: Any, signature: Any = None) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=True)
    return u, s, vh


def singular_values(a: Any, signature: Any = None) -> Any:
    return np.linalg.svd(a, compute_uv=False)


def eig_pairs(a: Any, signature: Any = None) -> Any:
    w, v = np.linalg.eig(a)
    return w + 0j, v + 0j


def eigenvalues(a: Any, signature: Any = None) -> Any:
    return np.linalg.eigvals(a) + 0j
