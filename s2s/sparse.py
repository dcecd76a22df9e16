"""Sparse Jacobians and Hessians: the pattern, columns or rows that share a sweep, and the entries from those sweeps.

Columns of a Jacobian that have no row in common can share a direction: the product with the sum of their unit vectors
has every entry of each of them. Which may share is a colouring of a graph (Curtis, Powell and Reid 1974; Gebremedhin,
Manne and Pothen, "What color is your Jacobian?", SIAM Review 2005). All colours go in one sweep, side by side.
"""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import scipy.sparse

from s2s import runtime as rt
from s2s.api import grad
from s2s.arguments import checked
from s2s.core.public import Remade, transformed
from s2s.derivatives import derivative
from s2s.directives.differentiable import option_error
from s2s.runtime import dependence

__all__ = ["SparseJacobian", "jacobian_sparsity", "sparse_hessian", "sparse_jacobian"]

_STRATEGIES = ("largest_first", "smallest_last", "connected_sequential_bfs")


@checked
def jacobian_sparsity(f: Any, argnums: Any = 0) -> Any:
    """The pattern of the Jacobian of a function, as a function of the same arguments: a ``scipy.sparse.csr_array`` of
    bools with a row for each element of the result and a column for each element of the arguments.

    It is found by sending sets of indices through the code of forward mode: exact for reads, stores, loops over
    elements and operations by element; an operation of which nothing is known has all of its result depend on all that
    goes in. It holds for the branches that these arguments take.

    >>> import numpy as np, s2s
    >>> s2s.jacobian_sparsity(lambda x: x[1:] * x[:-1])(np.ones(3)).toarray().astype(int)
    array([[1, 1, 0],
           [0, 1, 1]])

    Raises ArgumentError where the pattern cannot be found, and what ``grad`` raises.
    """
    found = derivative("sparsity", f, argnums, False, "zeros")

    def pattern(*args: Any, **kwargs: Any) -> Any:
        columns = sum(map(np.size, rt.floats(found.differentiated(args, kwargs))))
        return _pattern(found(*args, **kwargs), columns)

    pattern.__name__ = pattern.__qualname__ = f"{found.__name__}"
    pattern.__module__ = getattr(f, "__module__", None) or "s2s"
    return transformed(pattern, jacobian_sparsity, f, argnums)


@checked
def sparse_jacobian(f: Any, argnums: Any = 0, sparsity: Any = None, mode: str = "auto") -> SparseJacobian:
    """The Jacobian of a function as a ``scipy.sparse.csr_array``, with as few directions as a colouring of its pattern
    needs (Curtis, Powell and Reed 1974).

    Rows are the elements of the result, columns those of the arguments, both in order. ``sparsity`` is the pattern, a
    matrix that is not zero where an entry may be; without one it is found at the first call with arguments of these
    shapes (``jacobian_sparsity``). ``mode`` is ``"fwd"`` (columns share tangents), ``"rev"`` (rows share cotangents),
    or ``"auto"``, the one with fewer colours. A call that uses a pattern that was given, or found by an earlier call,
    tests it with one more, random, direction: where entries are missing it is found anew, or ValueError is raised where
    it was given.

    >>> import numpy as np, s2s
    >>> jacobian = s2s.sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> jacobian(np.arange(4.0)).toarray()
    array([[1., 0., 0., 0.],
           [0., 2., 1., 0.],
           [0., 0., 3., 2.]])
    >>> jacobian.colors
    2

    Raises ArgumentError where the pattern cannot be found, and what ``grad`` raises.
    """
    return SparseJacobian(f, argnums, sparsity, mode)


@checked
def sparse_hessian(f: Any, argnums: Any = 0, sparsity: Any = None) -> SparseJacobian:
    """The Hessian of a function with one result as a ``scipy.sparse.csr_array``: the Jacobian of its gradient, forward
    over reverse. Arguments are those of ``sparse_jacobian``.

    >>> import numpy as np, s2s
    >>> s2s.sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))(np.arange(3.0)).toarray()
    array([[2., 0., 0.],
           [0., 4., 2.],
           [0., 2., 0.]])

    Raises what ``sparse_jacobian`` and ``grad`` raise.
    """
    return SparseJacobian(grad(f, argnums), argnums, sparsity, "fwd")


class _Plan:
    """A pattern, its mode, the colour of each column (or row), and the shapes of the parts of the result."""

    def __init__(self, pattern: Any, mode: str, shapes: Any) -> None:
        self.pattern = scipy.sparse.csr_array(pattern, dtype=bool)
        self.rows, self.columns = self.pattern.nonzero()
        self.shapes = shapes
        choices = {"fwd": self.pattern, "rev": self.pattern.T}
        wanted = ("fwd", "rev") if mode == "auto" else (mode,)
        found = {name: color_columns(choices[name]) for name in wanted}
        self.mode = min(found, key=lambda name: found[name].max(initial=-1))
        self.color = found[self.mode]
        self.colors = int(self.color.max(initial=-1)) + 1


class SparseJacobian(Remade):
    """What ``sparse_jacobian`` returns. After a call ``colors`` is the number of colours, ``directions`` that of the
    directions that were pushed or pulled, the one that tests the pattern among them, ``mode`` the mode and ``pattern``
    the pattern."""

    def __init__(self, f: Any, argnums: Any, sparsity: Any, mode: str) -> None:
        if mode not in ("auto", "fwd", "rev"):
            raise option_error(f"there is no mode {mode!r}", 'choose among "auto", "fwd", "rev"')
        self.f = f
        self.argnums = argnums
        self.given = sparsity
        self.wanted = mode
        self.colors = self.directions = 0
        self.mode = mode
        self.pattern: Any = None
        self._plans: dict[Any, _Plan] = {}
        self._rng = np.random.default_rng(0)
        self._forward = derivative("vector_jvp", f, argnums, False, "zeros")
        self._reverse = derivative("vector_vjp", f, argnums, False, "zeros")
        self._find = derivative("sparsity", f, argnums, False, "zeros")

    def __s2s_made__(self) -> Any:
        return SparseJacobian, (self.f, self.argnums, self.given, self.wanted)

    def __repr__(self) -> str:
        return f"<s2s sparse Jacobian of {getattr(self.f, '__name__', self.f)}: {self.colors} colours>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._forward.differentiated(args, kwargs)
        leaves = rt.floats(values)
        key = tuple((np.shape(leaf), np.result_type(leaf)) for leaf in leaves)
        plan = self._plans.get(key)
        fresh = plan is None and self.given is None
        if plan is None:
            plan = self._plans[key] = self._plan(args, kwargs, leaves, None)
        found = self._evaluated(plan, args, kwargs, values, not fresh)
        if found is None and self.given is not None:
            raise ValueError("the Jacobian has entries that the given sparsity pattern has not")
        if found is None:
            plan = self._plans[key] = self._plan(args, kwargs, leaves, plan.pattern)
            found = self._evaluated(plan, args, kwargs, values, False)
        self.colors, self.mode, self.pattern = plan.colors, plan.mode, plan.pattern
        return found

    def _plan(self, args: Any, kwargs: Any, leaves: list[Any], known: Any) -> _Plan:
        columns = sum(map(np.size, leaves))
        if self.given is not None and self.wanted == "fwd":
            return _Plan(self.given, self.wanted, None)
        with rt.unnoticed():
            dep = self._find(*args, **kwargs)
        if self.given is not None:
            return _Plan(self.given, self.wanted, dep)
        pattern = _pattern(dep, columns)
        if known is not None:
            pattern = pattern + known
        return _Plan(pattern, self.wanted, dep)

    def _evaluated(self, plan: _Plan, args: Any, kwargs: Any, values: Any, tests: bool) -> Any:
        """The Jacobian; with ``tests`` None where it has entries that the plan has not."""
        rows, columns = plan.pattern.shape
        forward = plan.mode == "fwd"
        self.directions = plan.colors + tests
        seeds = np.zeros((columns if forward else rows, self.directions))
        seeds[np.arange(len(plan.color)), plan.color] = 1.0
        probe = self._rng.normal(size=len(seeds))
        if tests:
            seeds[:, -1] = probe
        if forward:
            dots = _split(seeds, values)
            out_dot = self._forward(*args, **kwargs)(*dots)[1]
            products = np.concatenate([_flat(leaf) for leaf in _arrays(out_dot)] or [np.zeros((0, self.directions))])
            entries = products[plan.rows, plan.color[plan.columns]]
        else:
            (out_bar,) = _split(seeds, (plan.shapes,))
            bars = self._reverse(*args, **kwargs)(out_bar)[1]
            products = np.concatenate([_flat(leaf) for leaf in _arrays(bars)])
            entries = products[plan.columns, plan.color[plan.rows]]
        made = scipy.sparse.csr_array((entries, (plan.rows, plan.columns)), shape=(rows, columns))
        if not tests:
            return made
        expected = made @ probe if forward else made.T @ probe
        scale = np.abs(made) @ np.abs(probe) if forward else np.abs(made.T) @ np.abs(probe)
        tolerance = 1e4 * np.finfo(products.dtype).eps * (1.0 + scale)
        close = np.abs(products[:, -1] - expected) <= tolerance
        return made if np.all(close | ~np.isfinite(products[:, -1])) else None


def color_columns(pattern: Any) -> Any:
    """A colour for each column, so that columns that have a row in common have different colours: the best of some
    greedy orders of networkx."""
    pattern = scipy.sparse.csc_array(pattern, dtype=np.int64)
    together = scipy.sparse.triu(pattern.T @ pattern, k=1)
    graph = networkx.from_scipy_sparse_array(together)
    best: dict[int, int] | None = None
    for strategy in (_in_order, *_STRATEGIES):
        found = networkx.greedy_color(graph, strategy)
        if best is None or max(found.values(), default=-1) < max(best.values(), default=-1):
            best = found
    assert best is not None
    return np.array([best[k] for k in range(pattern.shape[1])], dtype=int)


def _in_order(graph: Any, colors: Any) -> Any:
    """Columns as they come: the best order for bands."""
    return sorted(graph)


# --- structures -----------------------------------------------------------------------------------------------------


def _pattern(dep: Any, columns: int) -> Any:
    rows, places, count = dependence.places(dep)
    ones = np.ones(len(rows), dtype=bool)
    return scipy.sparse.csr_array((ones, (rows, places)), shape=(count, columns), dtype=bool)


def _split(seeds: Any, values: Any) -> tuple[Any, ...]:
    """The rows of ``seeds`` in the structure of some values, with directions last."""
    start = 0

    def part(leaf: Any) -> Any:
        nonlocal start
        first, start = start, start + np.size(leaf)
        kind = leaf.dtype if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc" else float
        return seeds[first:start].reshape((*np.shape(leaf), -1)).astype(kind)

    return tuple(_mapped(part, value) for value in values)


def _mapped(make: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(make, item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [_mapped(make, item) for item in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, dependence.Depends) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        return make(value)
    return rt.map_floats(make, value)


def _arrays(value: Any) -> list[Any]:
    """The arrays with directions in a structure, in order."""
    return rt.floats(value)


def _flat(leaf: Any) -> Any:
    return np.reshape(leaf, (-1, np.shape(leaf)[-1]))
