"""A function with tangents -> the function that finds which elements of the result depend on which of the arguments.

    y_dot = np.cos(x) * x_dot       ->      y_dot = np.cos(x) * x_dot       with sets of indices in x_dot
    u_dot = np.zeros_like(u)                u_dot = dependence.nothing_like(u)
    z_dot = np.linalg.solve(A, b)           z_dot = dependence.mixed(np.linalg.solve, A, b)

Sets take part in sums, products, reads and stores as numbers do (``dependence``). Where an operation has no form for
them, all of its result depends on all that goes in.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.functions import facts
from s2s.batch.vector import Vectorizer
from s2s.batch.vector_rules import NotVector
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.inspection import is_hashable, public_module
from s2s.core.values import UNKNOWN, AbstractValue
from s2s.runtime import dependence

_PRODUCTS = {operator.matmul, np.matmul, np.dot, np.ndarray.dot}

_SAME = {np.ndarray.astype, np.real, np.conj, np.conjugate, np.ndarray.conj, float, np.float64, np.float32, np.float16}


class Dependences(Vectorizer):
    """Rewrites the statements of a function with tangents for sets of indices."""

    @staticmethod
    def counted(builder: Builder, dot: ir.Atom) -> ir.Atom:
        return ir.Const(None)

    def lifted(self, atom: ir.Atom) -> ir.Atom:
        return self.builder.call(dependence.nothing_like, atom)

    def beside(self, atom: ir.Atom) -> ir.Atom:
        return atom

    def index(self, key: ir.Atom) -> ir.Atom:
        return key

    def again(self, var: ir.Var) -> ir.Var:
        made = super().again(var)
        self.context.values[made] = UNKNOWN
        return made

    def call(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]) -> None:
        known = is_hashable(fn)
        if (known and (fn in ops.DISPLAYS or fn in ops.GROWS or fn is ops.unpack)) or (
            fn is operator.getitem and self.shape(args[0]) is not True
        ):
            super().call(target, fn, args, kwargs)
            return
        given = [self.whole(a) if a in self.env else a for a in args]
        named = {k: self.whole(a) if a in self.env else a for k, a in kwargs.items()}
        if fn is rt.push:
            self.env[target] = self.write(dependence.push, *given), (False, True)
        elif fn is getattr:
            self.attribute(target, args)
        elif known and fn in _SAME:
            self.env[target] = given[0], True
        elif known and fn is rt.tangent_like:
            self.env[target] = self.write(dependence.elementwise, *given), True
        elif known and fn in _PRODUCTS and not kwargs:
            self.set(target, self.write(dependence.matmul, *given))
        elif facts(fn).generic and "out" not in kwargs and "dtype" not in kwargs:
            self.set(target, self.write(fn, *given, **named))
        elif facts(fn).elementwise and not kwargs:
            self.set(target, self.write(dependence.elementwise, *given))
        elif public_module(fn) in (rt.__name__, ops.__name__) and fn not in (rt.add,):
            raise NotVector
        else:
            self.set(target, self.write(dependence.mixed, ir.Const(fn), *given, **named))

    def attribute(self, target: ir.Var, args: tuple[ir.Atom, ...]) -> None:
        source, name = args
        if not isinstance(name, ir.Const) or name.value not in ("T", "mT", "shape", "real", "imag"):
            raise NotVector
        if name.value == "shape":
            self.builder.add(ir.Let(target, ir.Call(ir.Const(np.shape), (self.new(source),))))
        elif name.value in ("real", "imag"):
            self.env[target] = self.new(source), True
        else:
            self.set(target, self.write(getattr, self.new(source), name))

    def write(self, fn: Any, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom:
        """A call, of whose result nothing is known."""
        return self.builder.let(ir.Call(ir.Const(fn), args, tuple(kwargs.items())), UNKNOWN)

    def in_dtype(self, made: ir.Atom, known: AbstractValue) -> ir.Atom:
        return made


__all__ = ["Dependences"]
