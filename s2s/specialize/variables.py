"""Reads of local variables that may have no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.values import Array
from s2s.errors import error
from s2s.specialize.frames import Frame
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["check_bound", "check_joined", "check_read", "possibly_unassigned"]

_UNBOUND = "cannot access local variable '{}' where it is not associated with a value"
"""What Python says of a variable that has no value."""


def check_read(
    specializer: Specializer, original: ir.Atom, atom: Any, builder: Builder, span: ir.Span | None, frame: Frame
) -> None:
    """Raise what reading a variable raises: the user's error where it has no value here, or may have none on the
    path that is taken; a refusal where it is not known what it holds."""
    if isinstance(atom, ir.Const):
        if atom.value is ir.UNDEFINED.value:
            raise _undefined(specializer, original, span, frame)
        if atom.value is ir.POSSIBLY_UNASSIGNED.value:
            raise possibly_unassigned(original.name if isinstance(original, ir.Var) else "", span, frame)
        return
    check_bound(specializer, atom, builder, span, original.name if isinstance(original, ir.Var) else "")


def check_joined(specializer: Specializer, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> None:
    """Refuse, when the program runs, to join what an interrupted block may have assigned with something else."""
    if atom in specializer.context.possibly_unassigned:
        check_bound(specializer, atom, builder, span)


def _undefined(specializer: Specializer, atom: ir.Atom, span: ir.Span | None, frame: Frame) -> Exception:
    if isinstance(atom, ir.Var) and frame.is_nested:
        return error("S2S209", span=span, asked_by=frame.called_from, name=atom.name)
    is_named = isinstance(atom, ir.Var) and not atom.is_temporary
    text = _UNBOUND.format(atom.name) if is_named else "a local variable is read where it has no value"  # type: ignore[union-attr]
    return specializer.raised(UnboundLocalError(text))


def check_bound(
    specializer: Specializer, atom: Any, builder: Builder, span: ir.Span | None, called: str = ""
) -> None:
    """Raise the user's UnboundLocalError where a variable that some path leaves unbound is read."""
    if not isinstance(atom, ir.Var) or atom not in specializer.context.unbound or builder.is_bound(atom):
        return
    if specializer.sweeping:  # the program has read it
        return
    builder.bound.add(atom)
    missing = specializer.context.unbound[atom]
    if missing is None:
        holds_data = is_number(specializer.context.value(atom)) or isinstance(specializer.context.value(atom), Array)
        named = (ir.Const(atom.name),) if holds_data and not atom.is_temporary else ()
        builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_bound), (atom, *named)), span))
        return
    if atom in specializer.context.possibly_unassigned:
        name = ir.Const(atom.name.lstrip("%"))
        builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_sure), (missing, name)), span))
        return
    text = _UNBOUND.format(called if atom.is_temporary and called else atom.name)
    child = builder.child()
    at = At(specializer, specializer.frame, child, span)
    problem = at.call(UnboundLocalError, [ir.Const(text)]).leave()
    child.add(ir.Raise(problem, None, span))
    builder.add(ir.If(missing, child.block(), ir.Block(()), (), span))


def possibly_unassigned(name: str, span: ir.Span | None, frame: Frame) -> Exception:
    """The refusal where a variable is read that an interrupted body may or may not have assigned."""
    label = f"`{name.lstrip('%') or 'this'}` may or may not have been assigned when the exception came"
    hint = "assign it before the `try`, or as the last thing in it"
    return error("S2S104", span=span, label=label, hint=hint, asked_by=frame.called_from)
