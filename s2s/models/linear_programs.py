"""What ``scipy.optimize.linprog`` computes: the corner where constraints hold, differentiated by the constraints.

At the solution x of ``min c x`` as many constraints hold as there are unknowns, ``B x = d``, and no other does: x
moves with B and d. The marginals y, ``B' y = c``, say how the least value moves, and move with B and c. Where more
constraints hold, or x is not the only solution, x jumps, and there is no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2s import runtime as rt
from s2s.models.optimize import Found
from s2s.models.solutions import for_value
from s2s.models.sparse import is_matrix

__all__ = ["linprog"]

CORNER = (
    "its solution is no corner where as many constraints hold as there are unknowns, or it is not the only one; "
    "move the constraints or the cost a little"
)


class Constraints:
    """How far the constraints of one kind are from holding, and their marginals."""

    def __init__(self, residual: Any, marginals: Any) -> None:
        self.residual = residual
        self.marginals = marginals


class Solved(Found):
    """What ``linprog`` gives."""

    def __init__(self, found: Any, x: Any, c: Any, residuals: Any, marginals: Any) -> None:
        self.found = found
        self.x = x
        self.c = c
        self.con = residuals[0]
        self.slack = residuals[1]
        self.eqlin = Constraints(residuals[0], marginals[0])
        self.ineqlin = Constraints(residuals[1], marginals[1])
        self.lower = Constraints(residuals[2], marginals[2])
        self.upper = Constraints(residuals[3], marginals[3])

    @property
    def fun(self) -> Any:
        return self.c @ self.x


def rows_of(matrix: Any, count: Any) -> Any:
    """Constraints as a matrix with a row for each."""
    if matrix is None:
        return np.zeros((0, count))
    if is_matrix(matrix):
        return matrix.toarray()
    return np.reshape(np.asarray(matrix), (-1, count))


def sides_of(right: Any) -> Any:
    return np.zeros(0) if right is None else np.reshape(np.asarray(right), -1)


def limits(bounds: Any, count: Any) -> Any:
    """The bounds of the unknowns, one pair or one for each; infinite where there is none."""
    if bounds is None:
        return np.zeros(count), np.full(count, np.inf)
    if bounds[0] is None or np.ndim(bounds[0]) == 0:
        pairs: Any = [(bounds[0], bounds[1])] * count
    else:
        pairs = [bounds[0]] * count if len(bounds) == 1 else bounds
    low = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    high = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return np.array(low), np.array(high)


def corner(found: Any, A: Any, d: Any, equalities: Any, c: Any) -> Any:
    """The rows of the identity that choose the constraints which hold at a solution. Raises where that is no corner, or
    not the only solution."""
    if found.x is None or not found.success:
        rt.no_derivative("scipy.optimize.linprog", f"it has found no solution ({found.message})")
    finite = np.isfinite(d)
    gap = np.where(finite, np.abs(A @ found.x - np.where(finite, d, 0.0)), np.inf)
    holds = gap <= 1e-9 * np.maximum(1.0, np.abs(np.where(finite, d, 0.0)))
    holds[:equalities] = True
    which = np.flatnonzero(holds)
    if len(which) != len(found.x) or np.linalg.cond(A[which]) > 1e12:
        rt.no_derivative("scipy.optimize.linprog", CORNER)
    marginals = np.linalg.solve(A[which].T, c)
    if np.any(np.abs(marginals[which >= equalities]) <= 1e-9 * np.max(np.abs(c), initial=1e-300)):
        rt.no_derivative("scipy.optimize.linprog", CORNER)
    return np.eye(len(d))[which]


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    method: Any = "highs", callback: Any = None, options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:
    if integrality is not None:
        return rt.no_derivative("scipy.optimize.linprog", "with integrality= its solution jumps")
    cost = np.reshape(np.asarray(c), -1)
    count = np.shape(cost)[0]
    equal, below = rows_of(A_eq, count), rows_of(A_ub, count)
    equals, bound = sides_of(b_eq), sides_of(b_ub)
    found = for_value(optimize.linprog, cost, below, bound, equal, equals, bounds, method, callback, options, x0)
    low, high = limits(bounds, count)
    A = np.concatenate([equal, below, np.eye(count), np.eye(count)], axis=0)
    d = np.concatenate([equals, bound, low, high])
    first, second = np.shape(equal)[0], np.shape(equal)[0] + np.shape(below)[0]
    chosen = corner(found, A, d, first, cost)
    B = chosen @ A
    x = np.linalg.solve(B, chosen @ np.where(np.isfinite(d), d, 0.0))
    y = np.linalg.solve(B.T, cost) @ chosen
    left = d - A @ x
    return Solved(
        found, x, cost, (left[:first], left[first:second], -left[second : second + count], left[second + count :]),
        (y[:first], y[first:second], y[second : second + count], y[second + count :]))
