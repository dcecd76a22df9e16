"""As tests/models/value_programs.py: of functions of LAPACK and BLAS, and of loops of ``scipy.linalg``: what they give,
and what they leave in their arguments."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from tests.models.value_programs import Program, each

RNG = np.random.default_rng(12)
A = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3)
B, X, Y = RNG.normal(size=(3, 2)), RNG.normal(size=3), RNG.normal(size=3)
SYMMETRIC = A @ A.T


def kept(do: Any, way: Any, *given: Any, order: str = "F", **options: Any) -> Any:
    """What a function gives, and what is in copies of its arrays afterwards."""
    copies = [np.array(a, order=order) if isinstance(a, np.ndarray) else a for a in given]
    named = {k: np.array(a, order=order) if isinstance(a, np.ndarray) else a for k, a in options.items()}
    made = do(way)(*copies, **named)
    return [made, [a for a in (*copies, *named.values()) if isinstance(a, np.ndarray)]]


def places(name: str, **options: Any) -> list[dict[str, Any]]:
    """Options with and without leave to overwrite an argument, which is in either order or in single precision."""
    return [{"order": order, name: k, **options} for order in "FC" for k in (0, 1)]


def inverse(do: Any, lower: int, is_single: bool = False, **options: Any) -> Any:
    """The factor has something in its other triangle, which stays."""
    factor, _ = lapack.dpotrf(SYMMETRIC, lower=lower, clean=0)
    return kept(do, lapack.dpotri, factor.astype(np.float32) if is_single else factor, lower=lower, **options)


def by_factor(do: Any, lower: int, right: Any = B, **options: Any) -> Any:
    return kept(do, lapack.dpotrs, lapack.dpotrf(SYMMETRIC, lower=lower)[0], right, lower=lower, **options)


def by_triangle(do: Any, right: Any = B, **options: Any) -> Any:
    return kept(do, lapack.dtrtrs, A, right, **options)


def general(do: Any, **options: Any) -> Any:
    return kept(do, lapack.dgesv, A, B, **options)


def symmetric(do: Any, **options: Any) -> Any:
    """The factors have no derivative, and are not compared."""
    (*_, solved, info), (_, right) = kept(do, lapack.dsysv, A, B, **options)
    return [solved, info, right]


def banded(do: Any, **options: Any) -> Any:
    ab = np.array([np.zeros(3), [0.0, A[0, 1], A[1, 2]], np.diagonal(A), [A[1, 0], A[2, 1], 0.0]])
    made, (_, right) = kept(do, lapack.dgbsv, 1, 1, ab, B, **options)
    return [made[2:], right]


def matrices(do: Any, **options: Any) -> Any:
    return kept(do, blas.dgemm, 1.5, A, A @ A, **options)


def rank_one(do: Any, **options: Any) -> Any:
    return kept(do, blas.dger, 0.7, X, Y, **options)


def vectors(do: Any, **options: Any) -> Any:
    return kept(do, blas.dgemv, 0.7, A, X, **options)


def triangular(do: Any, side: int, **options: Any) -> Any:
    return kept(do, blas.dtrsm, 1.3, A, B.T if side else B, side=side, **options)


def numbers(do: Any) -> Any:
    return [do(blas.ddot)(X, Y), do(blas.dnrm2)(X), do(blas.ddot)([1.0, 2.0], [3, 4])]


def _compiled(name: str) -> Any:
    try:
        return getattr(importlib.import_module("scipy.linalg._linalg_pythran"), name, None)
    except ImportError:
        return None


PARLETT = _compiled("_funm_loops")


def function_of_triangle(do: Any, diagonal: Any, least: float, kind: Any) -> Any:
    """The second result is the least distance of two diagonal elements, or that which is given."""
    t = (np.triu(A, 1) + np.diag(diagonal)).astype(kind)
    return do(PARLETT)(np.diag(np.exp(np.diagonal(t))), t, 3, least)


PROGRAMS: dict[str, list[Program]] = {
    "solving": [
        *each(inverse, *[one for lower in (0, 1) for one in places("overwrite_c", lower=lower)]),
        *each(inverse, *[{"lower": lower, "is_single": True, "overwrite_c": 1} for lower in (0, 1)]),
        *each(by_factor, *[one for lower in (0, 1) for one in places("overwrite_b", lower=lower)]),
        *each(by_factor, {"lower": 0, "right": X}, {"lower": 1, "right": X, "overwrite_b": 1}),
        *each(by_triangle, *places("overwrite_b"), {"right": X, "overwrite_b": 1}),
        *each(by_triangle, *[
            {"lower": lower, "trans": trans, "unitdiag": unit}
            for lower in (0, 1) for trans in (0, 1) for unit in (0, 1)
        ]),
        *each(general, *places("overwrite_a"), *places("overwrite_b"), {"overwrite_a": 1, "overwrite_b": 1}),
        *each(symmetric, *[one for lower in (0, 1) for one in places("overwrite_b", lower=lower)]),
        *each(banded, *places("overwrite_b")),
    ],
    "products": [
        *each(matrices, *[{"trans_a": a, "trans_b": b} for a in (0, 1) for b in (0, 1)]),
        *each(matrices, *places("overwrite_c", c=SYMMETRIC), *places("overwrite_c", c=SYMMETRIC, beta=0.5)),
        *each(rank_one, {}, *places("overwrite_a", a=A)),
        *each(vectors, {}, {"trans": 1}, *places("overwrite_y", y=Y), *places("overwrite_y", y=Y, beta=0.5)),
        *each(triangular, *[
            {"side": side, "lower": lower, "trans_a": trans, "diag": unit}
            for side in (0, 1) for lower in (0, 1) for trans in (0, 1) for unit in (0, 1)
        ]),
        *each(triangular, *[one for side in (0, 1) for one in places("overwrite_b", side=side)]),
        numbers,
    ],
    "functions": [] if PARLETT is None else each(function_of_triangle, *[
        {"diagonal": diagonal, "least": least, "kind": kind}
        for diagonal in ([1.0, 2.5, 0.3], [1.0, 1.2, 4.0], [1.0, 2.0, 1.0])
        for least in (0.1, 5.0) for kind in (float, complex)
    ]),
}
