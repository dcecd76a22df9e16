"""What ``scipy.integrate.solve_bvp`` computes: the values at the nodes that it finds, differentiated as the solution of
its equations, those of a collocation of fourth order in each interval, and the conditions at both ends.

Nodes are inserted between those that are given, and move with them; which ones is piecewise constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2s import runtime as rt
from s2s.models.optimize import Found
from s2s.models.piecewise import Piecewise
from s2s.models.solutions import attached, for_value

__all__ = ["solve_bvp"]


class Between(Found):
    """What ``solve_bvp`` gives."""

    def __init__(self, found: Any, x: Any, y: Any, yp: Any, p: Any) -> None:
        self.found = found
        self.x = x
        self.y = y
        self.yp = yp
        self.p = p

    @property
    def sol(self) -> Any:
        steps, y, slopes = np.diff(self.x)[:, None], self.y.T, self.yp.T
        rise = np.diff(y, axis=0) / steps
        bend = (slopes[:-1] + slopes[1:] - 2.0 * rise) / steps
        c = np.stack([bend / steps, (rise - slopes[:-1]) / steps - bend, slopes[:-1], y[:-1]])
        return Piecewise(c, self.x, True, 1)


def nodes_of(found: Any, x: Any) -> Any:
    """In which interval of the nodes that were given those found are, and how far in it."""
    interval = np.clip(np.searchsorted(x, found.x, side="right") - 1, 0, len(x) - 2)
    return interval, (found.x - x[interval]) / (x[interval + 1] - x[interval])


def unknowns_of(found: Any) -> Any:
    """The values at the nodes, and then the parameters, in one vector."""
    return np.concatenate([np.ravel(found.y), np.zeros(0) if found.p is None else found.p])


def solve_bvp(
    fun: Any, bc: Any, x: Any, y: Any, p: Any = None, S: Any = None, fun_jac: Any = None, bc_jac: Any = None,
    tol: Any = 1e-3, max_nodes: Any = 1000, verbose: Any = 0, bc_tol: Any = None,
) -> Any:
    if S is not None or np.iscomplexobj(y):
        return rt.no_derivative("scipy.integrate.solve_bvp", "it has a rule for real equations without S=")
    given = np.asarray(x) * 1.0
    found = for_value(integrate.solve_bvp, fun, bc, x, y, p, S, fun_jac, bc_jac, tol, max_nodes, verbose, bc_tol)
    interval, share = nodes_of(found, given)
    nodes = given[interval] + share * (given[interval + 1] - given[interval])
    rows, count, steps = np.shape(y)[0], np.shape(nodes)[0], np.diff(nodes)

    def slopes(at: Any, values: Any, parameters: Any) -> Any:
        return np.asarray(fun(at, values) if p is None else fun(at, values, parameters))

    def residual(z: Any) -> Any:
        values, parameters = np.reshape(z[: rows * count], (rows, count)), z[rows * count :]
        f = slopes(nodes, values, parameters)
        middle = 0.5 * (values[:, 1:] + values[:, :-1]) - 0.125 * steps * (f[:, 1:] - f[:, :-1])
        f_middle = slopes(nodes[:-1] + 0.5 * steps, middle, parameters)
        wrong = values[:, 1:] - values[:, :-1] - steps / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * f_middle)
        low, high = values[:, 0], values[:, -1]
        ends = np.asarray(bc(low, high) if p is None else bc(low, high, parameters))
        return np.concatenate([np.ravel(wrong), np.ravel(ends)])

    z = attached(residual, unknowns_of(found))
    values, parameters = np.reshape(z[: rows * count], (rows, count)), z[rows * count :]
    return Between(
        found, nodes, values, slopes(nodes, values, parameters), None if p is None else parameters)
