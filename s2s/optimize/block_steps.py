"""The statements that can be done for one part of large arrays after the other: arithmetic on their elements, and sums.

    t = a * b + 1.0         of each part by itself
    s = np.sum(t)           the sum of the sums of the parts
    s = a @ b               of vectors
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.operators import OPERATORS, PLAIN
from s2s.core.values import Array, Dim, Known, Scalar
from s2s.directives.policies import Chosen
from s2s.optimize.loops.accesses import ONE, Access, Axis, Extent, Views
from s2s.optimize.loops.steps import Step

__all__ = ["SUMS", "BlockSteps", "fits", "is_elementwise", "whole_access"]

_PLAIN = {id(in_place): plain for in_place, plain in PLAIN.items()}
_OPERATORS = {id(one.fn) for one in OPERATORS.values() if one.ufunc is not None} - {id(operator.matmul)}
_OTHERS = {id(fn) for fn in (np.where, np.clip, np.copy, abs)}
_PRODUCTS = {id(fn) for fn in (operator.matmul, np.matmul, np.dot, np.inner, np.vdot)}
SUMS = {id(fn) for fn in (np.sum, np.mean)}


class BlockSteps:
    """What of a function can be done in parts. ``pairs`` are the lengths of arguments, by the ``id`` of a statement,
    that it takes to be equal: NumPy raises an error where they are not, but not for each part of them."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.views = Views(function, context.value)
        self.pairs: dict[int, list[tuple[Dim, Dim]]] = {}
        self._found: dict[int, tuple[ir.Statement, Step | None]] = {}

    def step(self, s: ir.Statement) -> Step | None:
        """The step that a statement is; None where it stays as it is."""
        found = self._found.get(id(s))
        if found is None:
            found = self._found[id(s)] = s, self._step(s)
        return found[1]

    def _step(self, s: ir.Statement) -> Step | None:
        match s:
            case ir.Let(ir.Var() as target, ir.Call(ir.Const(value=fn), args, kwargs)):
                if kwargs or target in self.context.uncertain or any(isinstance(a, ir.Star) for a in args):
                    return None
                if id(fn) in SUMS or id(fn) in _PRODUCTS:
                    return self._sum(s, fn, args)  # type: ignore[arg-type]
                fn = fn.func if isinstance(fn, Chosen) else fn  # which differs from it by its derivative
                fn = _PLAIN.get(id(fn), fn)
                return self._map(s, target, args) if is_elementwise(fn) else None  # type: ignore[arg-type]
        return None

    def _map(self, s: ir.Let, target: ir.Var, args: tuple[ir.Atom, ...]) -> Step | None:
        known = self.context.value(target)
        if not isinstance(known, Array) or not known.shape or known.dtype.kind not in "biufc":
            return None
        operands = self._operands(s, args, known.shape)
        return None if operands is None else Step(s, "map", known.shape, np.copy, operands)

    def _sum(self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ...]) -> Step | None:
        """A sum of all elements, a mean, or a product of vectors."""
        known = [self.context.value(a) for a in args]
        shapes = [k.shape for k in known if isinstance(k, Array) and k.shape and k.dtype.char in "fdFD"]
        result = self.context.value(s.target)  # type: ignore[arg-type]
        if len(shapes) != len(args) or not isinstance(result, Scalar) or not issubclass(result.type, np.inexact):
            return None
        space = shapes[0] if shapes else None
        if not space or len(args) != (1 if id(fn) in SUMS else 2):
            return None
        if len(args) == 2 and any(len(one or ()) != len(space) or ONE in (one or ()) for one in shapes):
            return None  # of which one is not stretched
        if len(args) == 2 and len(space) > 1 and fn is not np.vdot:
            return None
        operands = self._operands(s, args, space)
        if operands is None:
            return None
        return Step(s, "sum", space, np.copy, operands, None, tuple(range(len(space))))

    def _operands(
        self, s: ir.Let, args: tuple[ir.Atom, ...], space: tuple[Dim, ...]
    ) -> tuple[Access | ir.Atom, ...] | None:
        """What is read, arrays by the places of a space; None where it is not certain which part of an array goes with
        which part of another."""
        if space[0] == ONE:
            return None
        found: list[Access | ir.Atom] = []
        pairs: list[tuple[Dim, Dim]] = []
        for a in args:
            known = self.context.value(a)
            if a in self.context.uncertain:
                return None
            if isinstance(known, Array) and known.shape is not None:
                if known.shape and not fits(known.shape, space, pairs):
                    return None
                found.append(whole_access(a, known.shape).along(len(space), space))  # type: ignore[arg-type]
            elif is_number(known) or (isinstance(known, Known) and known.value is None):
                found.append(a)
            else:
                return None
        if not any(isinstance(a, Access) and len(a.dims) == len(space) and a.dims[0] != ONE for a in found):
            return None
        self.pairs[id(s)] = pairs
        return tuple(found)


def fits(shape: tuple[Dim, ...], space: tuple[Dim, ...], pairs: list[tuple[Dim, Dim]]) -> bool:
    """Whether an array has a place for each of a space, or one for all along an axis; for lengths of two arguments that
    NumPy takes to be equal, as a pair."""
    if len(shape) > len(space):
        return False
    for dim, other in zip(shape[::-1], space[::-1], strict=False):
        if dim in (ONE, other):
            continue
        is_sure = other == ONE or (dim.is_constant and other.is_constant)
        if is_sure or not _is_of_argument(dim) or not _is_of_argument(other):
            return False
        pairs.append((dim, other))
    return True


def whole_access(atom: ir.Var, shape: tuple[Dim, ...]) -> Access:
    """All elements of an array, whatever it is a view of."""
    axes = tuple(Axis(ir.Const(0), k) for k in range(len(shape)))
    return Access(atom, axes, tuple(Extent(atom, k) for k in range(len(shape))), shape)


def is_elementwise(fn: Any) -> bool:
    """Whether it is a function of NumPy or SciPy, or an operator, that makes one element of one of each operand."""
    if type(fn) is np.ufunc:
        said = facts(fn)
        return said.elementwise and not said.acts
    return id(fn) in _OPERATORS or id(fn) in _OTHERS


def _is_of_argument(dim: Dim) -> bool:
    return dim.is_constant or dim.symbol[0] not in "?*"
