"""The statements that are done element by element: what each makes of the elements that it reads.

    map      t = a * b[1:]              t[i] = a[i] * b[i + 1]
    store    u[1:] -= t                 u[i + 1] -= t[i]
    sum      s = np.sum(a * b)          s = s + ..., along the axes that are summed

Numbers are float64; arrays of truth values and of integers are read. All else stays an operation on arrays.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.numbers import possible_types
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.limits import FEW_NUMBERS
from s2s.core.operators import OPERATORS, PLAIN
from s2s.core.record import replace
from s2s.core.values import AbstractValue, Array, Dim, Known, Scalar
from s2s.directives.policies import Chosen
from s2s.optimize.loops.accesses import ONE, Access, Extent, Views

__all__ = ["Step", "Steps"]

_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)
_READ = (_FLOAT, _BOOL, np.dtype(np.int64))

_KINDS: dict[type, str] = {float: "f", np.float64: "f", int: "i", np.int64: "i", bool: "b", np.bool_: "b"}

_REDUCTIONS: dict[Any, Any] = {
    np.sum: operator.add, np.max: np.maximum, np.amax: np.maximum, np.min: np.minimum, np.amin: np.minimum,
}  # fmt: skip
"""What each takes the next element into the result by."""

_PRODUCTS = {operator.matmul, np.dot, np.matmul, np.inner}

_OF_OPERATORS = {
    one.ufunc: one.fn
    for one in OPERATORS.values()
    if one.symbol in ("+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!=")
}
_OF_TRUTH = {
    operator.invert: operator.not_, np.logical_not: operator.not_, np.invert: operator.not_,
    operator.and_: operator.and_, np.logical_and: operator.and_, np.bitwise_and: operator.and_,
    operator.or_: operator.or_, np.logical_or: operator.or_, np.bitwise_or: operator.or_,
}  # fmt: skip
"""Of truth values alone."""

_UFUNCS = """
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt
square sign floor ceil trunc rint maximum minimum fmax fmin hypot arctan2 copysign isnan isfinite isinf
"""
_OF_ELEMENTS: dict[Any, Any] = {
    **{fn: fn for fn in _OF_OPERATORS.values()},
    **_OF_OPERATORS,
    **{getattr(np, name): getattr(np, name) for name in _UFUNCS.split()},
    operator.neg: operator.neg, np.negative: operator.neg, operator.pos: operator.pos, np.positive: operator.pos,
    abs: np.abs, operator.abs: np.abs, np.absolute: np.abs, np.fabs: np.abs, np.where: np.where,
}  # fmt: skip
"""What a function of arrays makes of elements, as a function of numbers."""

_TO_TRUTH = {
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.isnan, np.isfinite, np.isinf,
}  # fmt: skip

_KNOWN: dict[int, Any] = {
    **{id(fn): fn for fn in (*_OF_ELEMENTS, *_OF_TRUTH, *_REDUCTIONS, *_PRODUCTS)},
    **{id(fn): fn for fn in (np.copy, np.outer, np.roll)},
    **{id(in_place): plain for in_place, plain in PLAIN.items()},
}
"""All of these, by ``id``, and for operators in place the plain ones: what such a call changes nothing reads by another
name."""


@dataclass(frozen=True)
class Step:
    """A statement that is done element by element of a space whose axes have the lengths ``space``. ``operands`` are
    what it reads, arrays as accesses over the space. ``target`` is where a store goes, ``axes`` are those that a sum
    goes along, which stay with length 1 where it ``keeps_dims``; ``joins`` takes the next element in: that of a maximum
    too."""

    statement: ir.Let | ir.Store
    kind: str
    space: tuple[Dim, ...]
    fn: Any  # of elements; ``np.copy`` where these stay as they are; the operator of a store
    operands: tuple[Access | ir.Atom, ...]
    target: Access | None = None
    axes: tuple[int, ...] = ()
    keeps_dims: bool = False
    joins: Any = operator.add

    @property
    def arrays(self) -> list[Access]:
        """The accesses that it reads by."""
        return [a for a in self.operands if isinstance(a, Access)]

    @property
    def accesses(self) -> list[Access]:
        """All accesses."""
        return self.arrays if self.target is None else [*self.arrays, self.target]

    @property
    def uses(self) -> set[ir.Atom]:
        """The variables that it is computed from."""
        atoms = [a for a in self.operands if not isinstance(a, Access)]
        atoms += [a for access in self.accesses for a in access.atoms]
        return {a for a in atoms if isinstance(a, ir.Var)}


class Steps:
    """What of a function is done element by element."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.views = Views(function, context.value)

    def step(self, s: ir.Statement) -> Step | None:
        """The step that a statement is; None where it stays as it is."""
        match s:
            case ir.Let(ir.Var(), ir.Call(ir.Const(value=fn), args, kwargs)) if not any(
                isinstance(a, ir.Star) for a in args
            ):
                return self._call(s, fn, args, kwargs)  # type: ignore[arg-type]
            case ir.Store("item" | "whole"):
                return self._store(s)
        return None

    def _call(
        self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ...], kwargs: tuple[tuple[str | None, ir.Atom], ...]
    ) -> Step | None:
        assert s.target is not None
        known = self.context.value(s.target)
        fn = fn.func if isinstance(fn, Chosen) else fn  # which differs from it by its derivative
        fn = _KNOWN.get(id(fn))  # objects of the program are not asked whether they are one of these
        if fn is None:
            return None
        if fn in _REDUCTIONS:
            return self._reduction(s, fn, args, kwargs)
        if fn is np.roll:
            return self._roll(s, args, kwargs)
        if kwargs:
            return None
        if fn in _PRODUCTS and len(args) == 2:
            return self._product(s, fn, args)
        if not isinstance(known, Array) or not known.shape or known.dtype not in (_FLOAT, _BOOL):
            return None
        if fn is np.outer and len(args) == 2:
            return self._outer(s, args, known.shape)
        made = self._function(fn, args, known)
        operands = self._operands(args, known.shape)
        if made is None or operands is None:
            return None
        return Step(s, "map", known.shape, made, operands)

    def _function(self, fn: Any, args: tuple[ir.Atom, ...], known: Array) -> Any:
        """What makes one element."""
        kinds = [self._kind(a) for a in args]
        if fn is np.copy and len(args) == 1:
            return np.copy if kinds[0] == known.dtype.kind and isinstance(self.context.value(args[0]), Array) else None
        if fn in _OF_TRUTH:
            return _OF_TRUTH[fn] if set(kinds) == {"b"} else None
        made = _OF_ELEMENTS.get(fn)
        if made is None or None in kinds:
            return None
        if known.dtype == _BOOL and made not in _TO_TRUTH:
            return None
        if fn is np.where:
            fits = len(args) == 3 and kinds[0] == "b" and known.dtype == _FLOAT
            return made if fits else None
        if known.dtype == _FLOAT and "f" not in kinds and made is not operator.truediv:
            return None
        if made is operator.pow and kinds[0] != "f":
            return None
        return made

    def _kind(self, atom: ir.Atom) -> str | None:
        """The kind of the numbers that an operand has: as of dtypes; None where it has others than are read."""
        known = self.context.value(atom)
        if isinstance(known, Array):
            return known.dtype.kind if known.dtype in _READ else None
        if isinstance(known, Known):
            return _KINDS.get(type(known.value))
        if isinstance(known, Scalar):
            kinds = {_KINDS.get(kind) for kind in possible_types(known.type)}
            return kinds.pop() if len(kinds) == 1 else None
        return None

    def _operands(
        self, args: tuple[ir.Atom, ...], space: tuple[Dim, ...]
    ) -> tuple[Access | ir.Atom, ...] | None:
        """What is read, arrays as accesses over a space."""
        found: list[Access | ir.Atom] = []
        for a in args:
            known = self.context.value(a)
            if isinstance(known, Array):
                access = self.views.access(a) if known.shape and known.dtype in _READ else None
                if access is None or len(access.dims) > len(space):
                    return None
                found.append(access.along(len(space), space))
            elif is_number(known) and self._kind(a) is not None:
                found.append(a)
            else:
                return None
        return tuple(found)

    def _store(self, s: ir.Store) -> Step | None:
        known = self.context.value(s.target)
        if not isinstance(known, Array) or not known.shape or known.dtype not in (_FLOAT, _BOOL):
            return None
        if s.op not in (None, operator.add, operator.sub, operator.mul, operator.truediv):
            return None
        kinds = {"f": "fi" if s.op is not None else "fib", "b": "" if s.op is not None else "b"}[known.dtype.kind]
        if (self._kind(s.value) or "other") not in kinds:
            return None
        if s.kind == "whole":
            target = self.views.access(s.target)
        else:
            region = self.context.evaluator.call(operator.getitem, (known, self.context.value(s.key)))
            if not isinstance(region, Array) or not region.shape:
                return None
            target = self.views.item(s.target, s.key, region.shape)
        if target is None:
            return None
        operands = self._operands((s.value,), target.dims)
        if operands is None:
            return None
        return Step(s, "store", target.dims, s.op, operands, target)

    def _reduction(
        self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ...], kwargs: tuple[tuple[str | None, ir.Atom], ...]
    ) -> Step | None:
        given = dict(zip(("a", "axis"), args, strict=False)) | {str(key): atom for key, atom in kwargs}
        known = self.context.value(given["a"]) if "a" in given else None
        if len(args) > 2 or not given.keys() <= {"a", "axis", "keepdims", "dtype"} or not isinstance(known, Array):
            return None
        dtype = self.context.value(given.get("dtype", ir.Const(None)))
        is_counted = fn is np.sum and isinstance(dtype, Known) and dtype.value in (float, np.float64)
        if not known.shape or known.dtype not in (_READ if is_counted else (_FLOAT,)) or (
            "dtype" in given and not is_counted
        ):
            return None
        axes = self._axes(given.get("axis", ir.Const(None)), len(known.shape))
        keeps = self.context.value(given.get("keepdims", ir.Const(False)))
        operands = self._operands((given["a"],), known.shape)
        if not axes or operands is None or not isinstance(keeps, Known) or type(keeps.value) is not bool:
            return None
        if keeps.value and len(axes) == len(known.shape):
            return None
        if fn is not np.sum and axes != tuple(range(len(known.shape) - len(axes), len(known.shape))):
            return None  # it has no first element to begin with
        return Step(s, "sum", known.shape, np.copy, operands, None, axes, keeps.value, _REDUCTIONS[fn])

    def _axes(self, atom: ir.Atom, rank: int) -> tuple[int, ...] | None:
        known: AbstractValue = self.context.value(atom)
        if not isinstance(known, Known):
            return None
        axes = known.value
        if axes is None:
            return tuple(range(rank))
        axes = axes if type(axes) is tuple else (axes,)
        if not all(type(a) is int and -rank <= a < rank for a in axes):
            return None
        return tuple(sorted({a % rank for a in axes}))

    def _product(self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ...]) -> Step | None:
        """A product of vectors, or of matrices that are so short that it takes longer to call a library."""
        known = [self.context.value(a) for a in args]
        shapes = [k.shape for k in known if isinstance(k, Array) and k.shape and k.dtype == _FLOAT]
        if len(shapes) != 2:
            return None
        if [*map(len, shapes)] == [1, 1]:
            return self._product_of_vectors(s, args, *shapes)
        return None if fn is np.inner else self._product_of_few(s, args)

    def _product_of_vectors(
        self, s: ir.Let, args: tuple[ir.Atom, ...], one: tuple[Dim, ...], other: tuple[Dim, ...]
    ) -> Step | None:
        if ONE in (one[0], other[0]):
            return None  # a product of vectors does not stretch
        operands = self._operands(args, one)
        return None if operands is None else Step(s, "sum", one, operator.mul, operands, None, (0,))

    def _product_of_few(self, s: ir.Let, args: tuple[ir.Atom, ...]) -> Step | None:
        """A product with matrices of two to four rows and columns: a sum along the last axis of the space."""
        a, b = map(self.views.access, args)
        if a is None or b is None or not {len(a.dims), len(b.dims)} <= {1, 2}:
            return None
        if not all(d.is_constant and 2 <= d.offset <= FEW_NUMBERS for d in (*a.dims, *b.dims)):
            return None
        if a.dims[-1] != b.dims[0]:
            return None  # NumPy says so
        if len(b.dims) == 2:
            b = b.transposed()
            if len(a.dims) == 2:
                a = a.with_axis(1)
        space = (*a.dims[:1], *b.dims) if len(a.dims) == 3 else max(a.dims, b.dims, key=len)
        operands = a.along(len(space), space), b.along(len(space), space)
        return Step(s, "sum", space, operator.mul, operands, None, (len(space) - 1,))

    def _roll(
        self, s: ir.Let, args: tuple[ir.Atom, ...], kwargs: tuple[tuple[str | None, ir.Atom], ...]
    ) -> Step | None:
        given = dict(zip(("a", "shift", "axis"), args, strict=False)) | {str(key): atom for key, atom in kwargs}
        known, source = self.context.value(s.target), self.views.access(given.get("a", ir.Const(None)))  # type: ignore[arg-type]
        if given.keys() - {"axis"} != {"a", "shift"} or source is None:
            return None
        if self._kind(given["shift"]) != "i" or not is_number(self.context.value(given["shift"])):
            return None
        if not isinstance(known, Array) or not known.shape or known.dtype not in (_FLOAT, _BOOL):
            return None
        axes = self._axes(given.get("axis", ir.Const(None)), len(source.dims))
        if axes is None or len(axes) != 1 or self._kind(given["a"]) != known.dtype.kind:
            return None
        access = source.rolled(axes[0], given["shift"])
        return None if access is None else Step(s, "map", known.shape, np.copy, (access,))

    def _outer(self, s: ir.Let, args: tuple[ir.Atom, ...], shape: tuple[Dim, ...]) -> Step | None:
        a, b = map(self.views.access, args)
        if a is None or b is None or (len(a.dims), len(b.dims)) != (1, 1):
            return None
        if any(self.context.value(x).dtype != _FLOAT for x in args):  # type: ignore[union-attr]
            return None
        column = replace(a, extents=(*a.extents, Extent(None)), dims=(*a.dims, ONE))
        return Step(s, "map", shape, operator.mul, (column.along(2, shape), b.along(2, shape)))
