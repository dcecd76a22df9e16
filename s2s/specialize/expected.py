"""A value of which nothing is known, and what it was when the function ran before, in; out comes one that is known.

    xp = get_namespace(x)       ->      xp = get_namespace(x)
                                        rt.expect(xp, np)

The check comes at once, so whatever is made for such values runs for no others.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.effects import CHECKS_OF_EXPECTED
from s2s.analysis.raising import ends
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Scalar, Sequence, Unknown
from s2s.specialize.frames import Frame, is_of_s2s
from s2s.versions.observed import Place, observed

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

HEAD = "Made for values and paths as in a run of the function: where one is otherwise, this code raises [S2S145]."
"""What the generated code says of itself."""

__all__ = ["CHECKS", "NOTED", "expected", "has_answered", "is_taken", "unreached"]

NOTED = (ir.Const(getattr), ir.Const(operator.getitem))
"""Beside calls, what is noted of a program that is observed."""

CHECKS = (*CHECKS_OF_EXPECTED, ir.Const(rt.unreached_error))
"""What generated code calls to check what was observed."""


def expected(
    specializer: Specializer, made: ir.Value, atom: ir.Atom, span: ir.Span | None, builder: Builder
) -> ir.Atom:
    """What stands for a value that the program has ``made`` at a place, of which more is known where the program was
    observed."""
    seen, context = observed(), specializer.context
    if seen is None or specializer.catching or span is None or not _is_noted(made):
        return atom
    if not isinstance(atom, ir.Var) or not _is_unknown(context.value(atom)):
        return atom
    last = builder.statements[-1] if builder.statements else None
    if not isinstance(last, ir.Let) or last.target is not atom:  # it may be read where nothing checks it
        return atom
    value = seen.at(_place(span))
    match value:
        case Known(const) if not context.is_varied(atom):
            _check(builder, span, rt.expect, atom, const)
            return const
        case Scalar(kind):
            _check(builder, span, rt.expect_kind, atom, ir.Const(kind))
        case Array(dtype, tuple() as shape):
            ones = tuple(dim.is_constant for dim in shape)
            _check(builder, span, rt.expect_array, atom, ir.Const(dtype.str), ir.Const(ones))
            context.foreign.add(atom)  # others may refer to it
            value = _with_lengths(context, value)
        case Sequence(kind, items) if not (all(isinstance(i, Unknown) for i in items) or _is_joined(context, last)):
            _check(builder, span, rt.expect_items, atom, ir.Const(_as_checked(value)))
            context.foreign.add(atom)
            value = _with_lengths(context, value)
        case _:
            return atom
    context.values[atom] = value
    return atom


def _with_lengths(context: Context, value: AbstractValue) -> AbstractValue:
    """What is known of a value, where each length of arrays that is not known is a length of its own. Of a function or
    module in a tuple nothing is."""
    match value:
        case Array(dtype, tuple() as shape):
            return Array(dtype, tuple(d if d.is_constant else context.evaluator.facts.fresh_dim() for d in shape))
        case Sequence(kind, items):
            return Sequence(kind, tuple(_with_lengths(context, item) for item in items))
        case Known():
            return UNKNOWN
        case _:
            return value


def _as_checked(value: AbstractValue) -> Any:
    """What ``rt.expect_items`` is given for a value: for an array ``<f8[:,1]``, for a number its class, for a tuple
    that of its items; None for any."""
    match value:
        case Sequence(_, items):
            return tuple(map(_as_checked, items))
        case Array(dtype, tuple() as shape):
            return f"{dtype.str}[{','.join('1' if dim.is_constant else ':' for dim in shape)}]"
        case Scalar(kind):
            return kind.__name__
        case _:
            return None


def unreached(
    specializer: Specializer, frame: Frame, statement: ir.If, block: ir.Block, builder: Builder
) -> Builder | None:
    """What stands for a side of a branch that was not taken when the function was observed: it refuses the path. None
    where it is not known that it was not taken, and for one that raises."""
    seen, span = observed(), statement.span
    if seen is None or span is None or specializer.catching or ends(block.statements[-1:]):
        return None
    if is_of_s2s(frame) or not seen.leaves_out(_place(span), block is statement.then):
        return None
    if not seen.omits_of(specializer.is_own(frame.fn)):
        return None
    child, where = builder.child(), f"{'/'.join(span.file.split('/')[-2:])}:{span.line}"
    child.add(ir.Raise(child.let(ir.Call(ir.Const(rt.unreached_error), (ir.Const(where),)), UNKNOWN), None, span))
    return child


def is_taken(statement: ir.If, block: ir.Block) -> bool:
    """Whether a side of a branch was taken when the function was observed."""
    seen, span = observed(), statement.span
    return seen is not None and span is not None and seen.takes(_place(span), block is statement.then)


def has_answered(span: ir.Span | None) -> bool:
    """Whether a call was seen to give a module, a class or a function."""
    seen = observed()
    found = UNKNOWN if seen is None or span is None else seen.at(_place(span))
    return isinstance(found, Known) and found.value is not None


def _is_joined(context: Context, made: ir.Let) -> bool:
    """Whether a differentiated tuple is made of a list of like items, whose cotangents are one list."""
    return context.is_varied(made.target) and isinstance(made.value, ir.Call) and made.value.fn in _JOINS  # type: ignore[arg-type]


_JOINS = tuple(map(ir.Const, (tuple, operator.add, operator.mul)))


def _place(span: ir.Span) -> Place:
    return span.file, span.line, span.column, span.end_line, span.end_column


def _is_noted(made: ir.Value) -> bool:
    """Whether the value of an expression is noted where a function is observed."""
    return isinstance(made, ir.Call) and (not isinstance(made.fn, ir.Const) or made.fn in NOTED)


def _is_unknown(value: AbstractValue) -> bool:
    return value is UNKNOWN or (isinstance(value, Array) and value.shape is None)


def _check(builder: Builder, span: ir.Span, check: Any, *args: ir.Atom) -> None:
    """Write a check behind a value."""
    builder.add(ir.Let(None, ir.Call(ir.Const(check), args), span))
