"""Operations that have a zero derivative for numbers, and may carry values all the same: these are refused.

``a | b`` of masks is flat; that of two dicts holds what the dicts hold. A number that is read from text comes, perhaps,
from a number that was written there.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.builder.virtual_heap import state_of
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Mapping, Scalar
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.frames import name_of
from s2s.specialize.severed import writes_down
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["FORMS"]

DEPTH = 8
"""How many operations back a text is followed."""


# --- bits, or items -------------------------------------------------------------------------------------------------


def _with_items(self: Specializer, at: At, fn: Any, args: list[ir.Atom]) -> ir.Atom | None:
    """``a | b`` and its kin of what may be no mask: of dicts the dict of all entries, of anything else that is not
    known to be a number or an array a value that is looked at when the program runs."""
    if len(args) != 2 or not any(self.context.is_varied(a) and not _is_numeric(self, a) for a in args):
        return None
    if fn is operator.or_ and all(_is_dict(self, a) for a in args):
        return self.apply(ir.Const(ops.merge_dict), args, {}, at.frame, at.builder, at.span, at.name)
    made = at.builder.call(fn, *map(at.builder.frozen, args), span=at.span)
    return at.builder.call(rt.check_bits, made, name=at.name, span=at.span)


def _is_numeric(self: Specializer, atom: ir.Atom) -> bool:
    value = self.context.value(atom)
    if isinstance(value, Known):
        return isinstance(value.value, (bool, int, np.generic, np.ndarray))
    return isinstance(value, (Scalar, Array)) and not self.context.is_virtual(atom)


def _is_dict(self: Specializer, atom: ir.Atom) -> bool:
    state = state_of(self.context, atom)
    return isinstance(self.context.value(atom), Mapping) or (state is not None and issubclass(state.kind, dict))


# --- text -----------------------------------------------------------------------------------------------------------

def _from_text(self: Specializer, at: At, fn: Any, args: list[ir.Atom]) -> None:
    """Refuse a number that is read from text which a differentiated number was written into."""
    if len(args) == 1 and not self.context.is_varied(args[0]) and _holds_number(self, args[0], DEPTH):
        reason = "it reads a number from text, where a derivative is lost; use the number itself, or np.round"
        raise error("S2S202", span=at.span, asked_by=at.frame.called_from, name=name_of(fn), reason=reason)


def _holds_number(self: Specializer, atom: ir.Atom, depth: int) -> bool:
    """Whether a text is made of a differentiated number, as far back as its making is known."""
    made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) and depth else None
    if not isinstance(made, ir.Call):
        return False
    fn = made.fn.value if isinstance(made.fn, ir.Const) else None
    atoms = [a.atom if isinstance(a, ir.Star) else a for a in (*made.args, *(a for _, a in made.kwargs))]
    if writes_down(self.context, fn, made.args):
        return any(self.context.is_varied(a) or _holds_number(self, a, depth - 1) for a in atoms)
    rule = table.find(fn)
    if rule is not None and rule.kind == "zero":
        return False  # a length, a comparison
    looked_at = atoms[:1] if fn is operator.getitem else atoms
    return any(_holds_number(self, a, depth - 1) for a in (*looked_at, made.fn))


FORMS: dict[Any, Callable[..., ir.Atom | None]] = {
    **dict.fromkeys((operator.and_, operator.or_, operator.xor), _with_items),
    **dict.fromkeys((builtins.float, builtins.complex, np.float64, np.float32, np.complex128), _from_text),
    np.frombuffer: _from_text,
}
"""What is looked at before a call is left to its rule."""
