"""The statements that can be part of a function of elements which an array module compiles as one: its ufuncs,
operators, ``where`` and ``clip``, of arrays and numbers.

    t = np.where(a > 0.0, a * b, 0.0)       of each element by itself
"""

from __future__ import annotations

import operator
import sys
import types
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory
from s2s.arrays import on
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.operators import OPERATORS, PLAIN
from s2s.core.values import Array, Dim, Known, Scalar
from s2s.directives.policies import Chosen
from s2s.errors import DifferentiationError
from s2s.optimize.block_steps import fits, whole_access
from s2s.optimize.loops.accesses import Access, Views
from s2s.optimize.loops.steps import Step

__all__ = ["ChainSteps", "plain_function"]

_PLAIN = {id(in_place): plain for in_place, plain in PLAIN.items()}
_APART = (operator.matmul, operator.pos)
_OPERATORS = {id(one.fn) for one in OPERATORS.values() if one.ufunc is not None and one.fn not in _APART}
_OTHERS = {id(np.where), id(np.clip)}
"""Functions of three arguments that are no ufuncs."""


class ChainSteps:
    """What of a function is arithmetic on elements, as an array module can compile it."""

    def __init__(self, function: ir.Function, context: Context, module: types.ModuleType) -> None:
        self.context = context
        self.module = module
        self.views = Views(function, context.value)
        self.memory = Memory(function, context.value)

    def step(self, s: ir.Statement) -> Step | None:
        """The step that a statement is; None where it stays as it is."""
        match s:
            case ir.Let(ir.Var() as target, ir.Call(ir.Const(value=fn), args, kwargs)):
                if kwargs or target in self.context.uncertain or any(isinstance(a, ir.Star) for a in args):
                    return None
                known = self.context.value(target)
                if not isinstance(known, Array) or known.shape is None or known.dtype.kind not in "biufc":
                    return None
                plain = plain_function(fn)
                if plain is not fn and id(fn) in _PLAIN and not self._keeps_dtype(args, known):  # type: ignore[arg-type]
                    return None
                if not self._is_fused(plain, args):  # type: ignore[arg-type]
                    return None
                operands = self._operands(args, known.shape)  # type: ignore[arg-type]
                return None if operands is None else Step(s, "map", known.shape, np.copy, operands)
        return None

    def _is_fused(self, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
        """Whether the module has a function, or an operator, in the place of this one that it can compile."""
        if id(fn) in _OPERATORS:
            return True
        if id(fn) in _OTHERS:
            test = self.context.value(args[0]) if fn is np.where and args else None
            return len(args) == 3 and (test is None or (isinstance(test, Array) and test.dtype.kind == "b"))
        if type(fn) is not np.ufunc or not facts(fn).elementwise or facts(fn).acts or len(args) != fn.nin:
            return False
        path = "numpy" if vars(np).get(fn.__name__) is fn else "scipy.special"
        if path not in sys.modules:
            return False
        try:
            own = getattr(on(self.module, path), fn.__name__)
        except (AttributeError, DifferentiationError):  # it has none, which is told where the program calls it
            return False
        return getattr(own, "_host", None) is fn and isinstance(own._own, getattr(self.module, "ufunc", ()))

    def _keeps_dtype(self, args: tuple[ir.Atom, ...], known: Array) -> bool:
        """Whether ``x += v`` makes elements of the type that ``x + v`` has, in memory that no statement refers to by
        another name."""
        if self.memory.is_buffer(args[0]):
            return False
        for known_of in map(self.context.value, args):
            if isinstance(known_of, Array):
                if known_of.dtype != known.dtype:
                    return False
            elif not (isinstance(known_of, Known) and type(known_of.value) in (int, float)):
                if not (isinstance(known_of, Scalar) and known_of.type in (int, float)):
                    return False
        return known.dtype.kind == "f"

    def _operands(self, args: tuple[ir.Atom, ...], space: tuple[Dim, ...]) -> tuple[Access | ir.Atom, ...] | None:
        """What is read, arrays by the places of a space; None where it is not certain which element of an array goes
        with which one of another."""
        found: list[Access | ir.Atom] = []
        has_all = False
        for a in args:
            known = self.context.value(a)
            if a in self.context.uncertain:
                return None
            if isinstance(known, Array) and known.shape is not None and isinstance(a, ir.Var):
                if known.dtype.kind not in "biufc" or not fits(known.shape, space, []):
                    return None
                has_all = has_all or len(known.shape) == len(space)
                found.append(whole_access(a, known.shape).along(len(space), space))
            elif is_number(known) and not isinstance(known, Array):
                found.append(a)
            else:
                return None
        return tuple(found) if has_all else None


def plain_function(fn: Any, is_number_first: bool = False) -> Any:
    """What is computed of elements: the function itself where it differs by its derivative alone, the operator of an
    augmented assignment. What a function is called with when it is compiled has no ``abs`` and no ``2.0 ** x``."""
    fn = fn.func if isinstance(fn, Chosen) else fn
    if fn is operator.pow and is_number_first:
        return np.power
    return np.absolute if fn is abs else _PLAIN.get(id(fn), fn)
