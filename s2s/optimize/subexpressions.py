"""Common subexpressions: the same pure operation on the same atoms, in a block and the blocks inside it, is done once,
and so is a check of what a value is.

    c = np.cos(x)                       c = np.cos(x)
    y = a * np.cos(x)           ->      y = a * c
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.analysis.effects import CHECKS_OF_KINDS
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, is_basic
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array, Scalar
from s2s.directives.policies import Chosen
from s2s.optimize.dead import changes_argument
from s2s.optimize.rewriting import substitute, without_result

__all__ = ["share_subexpressions"]

_NEG = ir.Const(operator.neg)


def share_subexpressions(function: ir.Function, context: Context) -> ir.Function:
    """The function with equal pure operations on equal atoms computed once, where the first stands before the second.

    Only operations whose results are never stored to, and which read the same versions of what is.
    What a block computes that runs again is not shared with its second run.
    """
    own = context.runtime_objects
    states = _States(function, context)
    stored = states.stored | context.checked  # of what is read for a check no kind is known

    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a) if isinstance(a, ir.Var) else a

    def block(b: ir.Block, seen: dict[Any, ir.Var], checked: set[Any]) -> ir.Block:
        seen, checked = dict(seen), set(checked)

        def inside(inner: ir.Block) -> ir.Block:
            return block(inner, seen, checked)

        made: list[ir.Statement] = []
        for before in b.statements:
            s = substitute(before, mapping) if isinstance(before, ir.Let) else ir.rebuild(before, atom, inside)
            target = s.target if isinstance(s, ir.Let) else None
            if isinstance(s, ir.Let) and target is not None and isinstance(s.value, ir.Var):
                is_kept = target.is_temporary or target in stored or target in own or s.value in context.passing
                if s.value.name == target.name and not is_kept:
                    mapping[target] = s.value  # the same under the name that the user gave it
                    continue
            states.note_view(s)
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in CHECKS_OF_KINDS:
                key = states.key_of(s.value, s.reads)
                if key in checked:
                    continue
                checked.add(key)
            if isinstance(s, ir.Let) and target is not None and _is_shareable(target, s.value, stored, own, context):
                assert isinstance(s.value, ir.Call)
                key, passes = states.key_of(s.value, s.reads), target in context.passing
                if s.value.fn == _NEG:
                    of: ir.Atom = s.value.args[0]  # type: ignore[assignment]
                    negated[target] = of
                    twice = negated.get(of)
                    if twice is not None and isinstance(context.value(target), Scalar):  # an array stays its own
                        mapping[target] = twice
                        continue
                found = seen.get((key, passes)) or seen.get((key, False))
                if found is not None:
                    mapping[target] = found
                    continue
                seen[key, passes] = target
            made.append(s)
        return ir.Block(tuple(made), tuple(map(atom, b.yields)))

    mapping: dict[ir.Atom, ir.Atom] = {}
    negated: dict[ir.Atom, ir.Atom] = {}
    return ir.replace(function, body=block(function.body, {}, set()))


class _States:
    """What is stored into, and which of the stores change what is read. ``stored`` is what some statement changes in
    place, under every name that it may have."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.views: dict[ir.Atom, Any] = {}
        targets = [(s, target) for s in ir.walk(function.body) if (target := _changed_by(s)) is not None]
        self.memory = Memory(without_result(function), context.value) if targets else None
        self.stored: set[ir.Atom] = {target for _, target in targets}
        of_lists = {target for s, target in targets if _is_of_list(s)} - {t for s, t in targets if not _is_of_list(s)}
        self.numbers: dict[ir.Var | None, list[int]] = {}
        """The versions that stores make of each memory, those of calls that may change any under None."""
        if self.memory is None:
            return
        for s in ir.walk(function.body):
            if not isinstance(s, (ir.Let, ir.Store)) or s.makes is None or _is_of_list(s):
                continue
            target = _changed_by(s)
            root = self.memory.find(target) if isinstance(target, ir.Var) else None
            self.numbers.setdefault(root, []).append(s.makes.number)
        self.stored |= {
            var for a in self.stored if isinstance(a, ir.Var) for var in self.memory.same(a)
            if a not in of_lists or not isinstance(context.value(var), Array)
        }

    def note_view(self, s: ir.Statement) -> None:
        """Remember how a view is made: two of the same part of an array are the same array."""
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.target is None:
            return
        known = self.context.value(s.target)
        if s.value.fn == _GETITEM and isinstance(known, Array) and known.shape:
            base, index = s.value.args
            if isinstance(self.context.value(base), Array) and is_basic(self.context.value(index)):  # type: ignore[arg-type]
                parts = self.context.definition(index, ops.make_tuple) or (index,)  # type: ignore[arg-type]
                where = tuple(map(self.context.written, parts))  # type: ignore[arg-type]
                self.views[s.target] = self.views.get(base, base), where  # type: ignore[arg-type]

    def key_of(self, call: ir.Call, reads: ir.Reads) -> Any:
        """What a call computes: the function, its arguments, and of the memory that it reads the last store into it and
        the loops around the call."""
        args = tuple(self.views.get(a, a) for a in call.args)  # type: ignore[arg-type]
        return call.fn, args, tuple((self.views.get(a, a), self._last(a, v), v.loops) for a, v in reads)

    def _last(self, var: ir.Var, version: ir.Version) -> int:
        if self.memory is None or not isinstance(self.context.value(var), Array):
            return version.number
        numbers = (*self.numbers.get(self.memory.find(var), ()), *self.numbers.get(None, ()))
        return max((n for n in numbers if n <= version.number), default=0)


def _changed_by(s: ir.Statement) -> ir.Atom | None:
    """What a statement changes in place."""
    if isinstance(s, ir.Store):
        return s.target
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
        first = s.value.args[0] if s.value.args and changes_argument(s.value.fn.value) else None
        return None if isinstance(first, ir.Star) else first
    return None


def _is_of_list(s: ir.Statement) -> bool:
    """Whether a statement adds to a list or takes from one, which changes no array in it."""
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _OF_LISTS


_GETITEM = ir.Const(operator.getitem)
_OF_LISTS = tuple(map(ir.Const, (list.append, list.pop, ops.push, ops.pull)))
_OF_ARRAYS = ("T", "mT", "shape", "ndim", "size")


def _is_shareable(
    target: ir.Var, value: ir.Value, stored: set[ir.Atom], own: set[ir.Atom], context: Context
) -> bool:
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
        return False
    if target in stored or target in own:
        return False
    fn = value.fn.value.func if isinstance(value.fn.value, Chosen) else value.fn.value
    if fn is getattr and isinstance(context.value(value.args[0]), Array):  # type: ignore[arg-type]
        return isinstance(value.args[1], ir.Const) and value.args[1].value in _OF_ARRAYS
    if fn is ops.unpack:  # what it takes items of may be an iterator
        return len(_shape_of(value.args[0], context)) == 1
    known = facts(fn)
    if known.acts or not (known.elementwise or known.shared):
        return False
    return not any(isinstance(a, ir.Star) or a in own for a in value.args)


def _shape_of(atom: ir.Atom | ir.Star, context: Context) -> tuple[object, ...]:
    known = None if isinstance(atom, ir.Star) else context.value(atom)
    return known.shape or () if isinstance(known, Array) else ()
