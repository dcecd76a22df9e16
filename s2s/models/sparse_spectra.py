"""What ``eigsh``, ``eigs``, ``svds`` and ``expm_multiply`` of ``scipy.sparse.linalg`` compute: some eigenvalues,
singular values and their vectors, and exponentials times vectors.

Where the matrix is differentiated they are taken from the whole decomposition of a dense matrix, whose derivatives are
known to any order; SciPy's own result says which ones they are, and the signs of the vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as dense
from scipy.sparse import linalg

from s2s import runtime as rt
from s2s.models.solutions import for_value
from s2s.models.sparse import Entries, is_matrix

__all__ = ["eigs", "eigsh", "expm_multiply", "expm_times", "svds"]

LARGEST = 3000
"""Matrices of more rows are not made dense."""


def whole(A: Any, name: Any) -> Any:
    """A matrix as an array."""
    made = A.toarray() if is_matrix(A) else A
    if not isinstance(made, np.ndarray):
        return rt.no_derivative(name, "it has a rule for matrices, not for operators; give the matrix")
    check_size(made, name)
    return made


def check_size(a: Any, name: Any) -> None:
    if max(np.shape(a)) > LARGEST:
        rt.no_derivative(name, f"it has a rule for matrices of up to {LARGEST} rows, which it makes dense")


def places_among(found: Any, every: Any) -> Any:
    """Which of all eigenvalues those found are, each another one."""
    left = [*range(len(every))]
    places = []
    for value in found:
        nearest = min(left, key=lambda k: abs(every[k] - value))
        left.remove(nearest)
        places.append(nearest)
    return np.array(places)


def phases_like(found: Any, vectors: Any) -> Any:
    """The factors of absolute value one that turn columns into those found."""
    products = np.sum(np.conj(vectors) * found, axis=0)
    size = np.abs(products)
    return np.where(size == 0.0, 1.0, products / np.where(size == 0.0, 1.0, size))


# --- eigenvalues ------------------------------------------------------------------------------------------------------


def eigsh(
    A: Any, k: Any = 6, M: Any = None, sigma: Any = None, which: Any = "LM", v0: Any = None, ncv: Any = None,
    maxiter: Any = None, tol: Any = 0, return_eigenvectors: Any = True, Minv: Any = None, OPinv: Any = None,
    mode: Any = "normal", rng: Any = None,
) -> Any:
    if mode != "normal" or Minv is not None or OPinv is not None:
        return rt.no_derivative("scipy.sparse.linalg.eigsh", "it has a rule for mode='normal' without inverses")
    a = whole(A, "scipy.sparse.linalg.eigsh")
    b = None if M is None else whole(M, "scipy.sparse.linalg.eigsh")
    w, v = np.linalg.eigh(a) if b is None else dense.eigh(a, b)
    if not return_eigenvectors:  # another order
        return w[places_among(for_value(linalg.eigsh, a, k, b, sigma, which, v0, ncv, maxiter, tol, False), w)]
    w_found, v_found = for_value(linalg.eigsh, a, k, b, sigma, which, v0, ncv, maxiter, tol)
    places = places_among(w_found, w)
    chosen = v[:, places]
    return w[places], chosen * phases_like(v_found, chosen)


def eigs(
    A: Any, k: Any = 6, M: Any = None, sigma: Any = None, which: Any = "LM", v0: Any = None, ncv: Any = None,
    maxiter: Any = None, tol: Any = 0, return_eigenvectors: Any = True, Minv: Any = None, OPinv: Any = None,
    OPpart: Any = None, rng: Any = None,
) -> Any:
    if M is not None or Minv is not None or OPinv is not None:
        return rt.no_derivative("scipy.sparse.linalg.eigs", "it has a rule for one matrix without inverses")
    a = whole(A, "scipy.sparse.linalg.eigs")
    w, v = np.linalg.eig(a + 0j)
    if not return_eigenvectors:  # another order
        return w[places_among(for_value(linalg.eigs, a, k, None, sigma, which, v0, ncv, maxiter, tol, False), w)]
    w_found, v_found = for_value(linalg.eigs, a, k, None, sigma, which, v0, ncv, maxiter, tol)
    places = places_among(w_found, w)
    chosen = v[:, places]
    return w[places], chosen * phases_like(v_found, chosen)


# --- singular values --------------------------------------------------------------------------------------------------


def svds(
    A: Any, k: Any = 6, ncv: Any = None, tol: Any = 0, which: Any = "LM", v0: Any = None, maxiter: Any = None,
    return_singular_vectors: Any = True, solver: Any = "arpack", rng: Any = None, options: Any = None,
    random_state: Any = None,
) -> Any:
    if isinstance(return_singular_vectors, str):
        return rt.no_derivative("scipy.sparse.linalg.svds", "it has a rule for vectors of both sides, or of none")
    a = whole(A, "scipy.sparse.linalg.svds")
    u_found, s_found, _ = for_value(linalg.svds, a, k, ncv, tol, which, v0, maxiter, True, solver)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    places = places_among(s_found, s)
    if not return_singular_vectors:
        return s[places]
    left = u[:, places]
    turn = phases_like(u_found, left)
    return left * turn, s[places], np.conj(turn)[:, None] * vh[places]


# --- exponentials -----------------------------------------------------------------------------------------------------


def expm_times(A: Any, B: Any) -> Any:
    """The exponential of a constant matrix times vectors."""
    return linalg.expm_multiply(A, B)


def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    is_one = start is None and stop is None and num is None and endpoint is None
    if is_one and not isinstance(A, Entries) and is_matrix(A):
        return expm_times(A, B)
    a = whole(A, "scipy.sparse.linalg.expm_multiply")
    if is_one:
        return dense.expm(a) @ B
    if start is None or stop is None:
        return rt.no_derivative("scipy.sparse.linalg.expm_multiply", "it has a rule for start and stop together")
    count = 50 if num is None else num
    shares = np.linspace(0.0, 1.0, count, endpoint=endpoint is not False)
    times = start + shares * (stop - start)
    moved = np.stack([dense.expm(a * t) @ B for t in times])
    check_exponentials(moved, for_value(linalg.expm_multiply, a, B, start, stop, num, endpoint, traceA))
    return moved


def check_exponentials(moved: Any, found: Any) -> None:
    """Refuse intervals for which SciPy's algorithm does not give exponentials: it takes the number of its terms from
    the length of the interval, also for the way from 0 to the start."""
    if not np.allclose(found, moved, rtol=1e-6, atol=1e-6 * np.max(np.abs(moved), initial=0.0)):
        rt.no_derivative("scipy.sparse.linalg.expm_multiply", "what it gives for these times is not the exponential "
                         "times the vector; give times that increase, from 0 on")
