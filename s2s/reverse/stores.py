"""Stores into arrays in reverse: buffers, their adjoints, and what is given back.

    a[i] = v        v_bar += a_bar[i]; a_bar[i] = 0
    a[i] += v       v_bar += a_bar[i]
    a[i] *= v       v_bar += a_bar[i] * a[i] (as it was); a_bar[i] *= v

The adjoint of a buffer is an array that is changed where the buffer was. Where the reverse sweep reads what a buffer
held, the store is undone first, so that at the reverse of every statement the buffers hold what they held there.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import TYPE_CHECKING, cast

import numpy as np

from s2s import runtime as rt
from s2s.analysis import functions
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.parts import leaves
from s2s.analysis.adjoint_placement import ROOT, RUNTIME, VALUE, VIEW
from s2s.analysis.memory import is_basic, is_copied, may_repeat, shared_with
from s2s.builder import cotangents
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.functions import Result
from s2s.core.operators import SIGNS
from s2s.core.values import UNKNOWN, AbstractValue, Array, ListOf, Mapping, Sequence, Unknown
from s2s.errors import error
from s2s.reverse.destination import InSweep
from s2s.reverse.residuals.sweep import Sweep
from s2s.reverse.residuals.undo import WHOLE, held, read_back, undo
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

# --- adjoints of buffers --------------------------------------------------------------------------------------------


def root_of(reverser: Reverser, var: ir.Var) -> ir.Var:
    """The variable whose adjoint holds that of ``var``."""
    while reverser.placement.kind(var) == VIEW:
        base = reverser.memory.base_of(var)
        assert base is not None
        var = base
    return var


def shadow(reverser: Reverser, sweep: Sweep, var: ir.Var, span: ir.Span | None) -> ir.Atom:
    """The adjoint of a buffer, or of a view of one, as an array to be changed in place; made where there is none."""
    if reverser.placement.kind(var) == RUNTIME:
        known = reverser.context.value(var)
        if not isinstance(known, Array):
            raise error("S2S118", span=span, name=var.name.lstrip("%") or "an array")
        call = ir.Call(adjoint_of(reverser, sweep), (reverser.use(sweep, var),))
        return sweep.builder.let(call, known, reverser.name(var), span)
    if reverser.placement.kind(var) != VIEW:
        key = (var, ())
        outer = sweep.outside_loops(reverser.planner.home[var])
        if var in reverser.unbound:  # around here it may have no value, so nothing is made there
            if outer is not sweep:
                reverser.carry(sweep, outer, key, span)
            return reverser.make_buffer(sweep, key, span)
        if outer is not sweep:
            reverser.make_buffer(outer, key, None)
        return reverser.make_buffer(sweep.holding(key) or sweep, key, span)
    base = reverser.memory.base_of(var)
    made = reverser.memory.made[var]
    assert base is not None and isinstance(made, ir.Call) and isinstance(made.fn, ir.Const)
    parts = reverser.memory.parts_of(made)
    if parts is None:
        return _again(reverser, sweep, made, shadow(reverser, sweep, base, span), reverser.name(var), span)
    of_parts = _again(reverser, sweep, parts, shadow(reverser, sweep, base, span), "%", span)
    return _again(reverser, sweep, made, of_parts, reverser.name(var), span)


def _again(reverser: Reverser, sweep: Sweep, made: ir.Call, first: ir.Atom, name: str, span: ir.Span | None) -> ir.Atom:
    """The operation that made a view, on another first argument."""
    assert isinstance(made.fn, ir.Const)
    rest = [reverser.use(sweep, a) for a in made.args[1:]]  # type: ignore[arg-type]
    kwargs = tuple((k, reverser.use(sweep, a)) for k, a in made.kwargs if k is not None)
    return sweep.builder.call(made.fn.value, first, *rest, span=span, name=name, kwargs=kwargs)


def adjoint_of(reverser: Reverser, sweep: Sweep) -> ir.Var:
    """The object that finds adjoints by memory, made where the reverse sweep begins."""
    if reverser.finder is None:
        reverser.finder = reverser.context.define("adjoint_of", UNKNOWN)
        while sweep.parent is not None:
            sweep = sweep.parent
        sweep.prologue.append(ir.Let(reverser.finder, ir.Call(ir.Const(rt.Adjoints), ())))
    return reverser.finder


def takes_over(
    reverser: Reverser, target: ir.Var, value: ir.Call, holds: bool, span: ir.Span | None, sweep: Sweep
) -> bool:
    """Whether the cotangent of what an operation made has to be passed on by its rule. An adjoint that is found by
    memory is taken first; what is a view, or comes out of a container, has no other than that of its memory. ``holds``
    says that the operation makes a container of what it was given, or reads one."""
    kind = reverser.placement.kind(target)
    if kind == VIEW:
        return False
    if kind != RUNTIME:
        return True
    known = reverser.context.value(target)
    sources = [] if reverser.memory.is_new(target) else shared_with(value, known, reverser.context.value)
    if not isinstance(known, Array):
        if not isinstance(known, (Sequence, Mapping, ListOf)):
            raise error("S2S118", span=span, name=target.name.lstrip("%") or "an array")
        held = holds or any(isinstance(reverser.context.value(a), (Sequence, Mapping, ListOf)) for a in sources)
        return not held and _takes_over_parts(reverser, target, value, sources, span, sweep)
    if any(_is_part_of_complex(known, reverser.context.value(a)) for a in sources):
        raise error("S2S118", span=span, name=target.name.lstrip("%") or "a part of a complex array")
    if reverser.memory.base_of(target) is not None or _comes_out_of_container(reverser, value, sources):
        return False
    made = reverser.use(sweep, target)
    sweep.bars[target, ()] = _taken(reverser, made, sources, known, reverser.name(target), span, sweep)
    return True


def _taken(
    reverser: Reverser, array: ir.Atom, sources: list[ir.Var], known: AbstractValue, name: str, span: ir.Span | None,
    sweep: Sweep,
) -> ir.Atom:
    """The adjoint of an array that an operation has made, taken out of where it is found by memory."""
    take = sweep.builder.call(getattr, adjoint_of(reverser, sweep), ir.Const("take"), span=span)
    given = [array, *(reverser.use(sweep, a) for a in sources)]
    return sweep.builder.let(ir.Call(take, tuple(given)), known, name, span)


def _takes_over_parts(
    reverser: Reverser, target: ir.Var, value: ir.Call, sources: list[ir.Var], span: ir.Span | None, sweep: Sweep
) -> bool:
    """``takes_over`` for an operation that gives a container of arrays."""
    known = reverser.context.value(target)
    if functions.result_of(value) is Result.PARTS:
        return False
    if isinstance(known, ListOf):
        raise error("S2S118", span=span, name=target.name.lstrip("%") or "an array in a list")
    for path, item in leaves(known):
        if isinstance(item, Array) and item.dtype.kind in "fc":
            one = reverser.part_atom(sweep, target, path, span)
            sweep.bars[target, path] = _taken(reverser, one, sources, item, reverser.name(target), span, sweep)
        elif isinstance(item, (Unknown, ListOf)):
            raise error("S2S118", span=span, name=target.name.lstrip("%") or "an array in a container")
    return True


def _is_part_of_complex(part: AbstractValue, whole: AbstractValue) -> bool:
    """Whether an array is the real or imaginary part of another: their adjoints differ in sign."""
    return isinstance(whole, Array) and whole.dtype.kind == "c" and isinstance(part, Array) and part.dtype.kind != "c"


def _comes_out_of_container(reverser: Reverser, value: ir.Call, sources: list[ir.Var]) -> bool:
    return value.fn == ir.Const(operator.getitem) and any(
        isinstance(reverser.context.value(a), (Sequence, Mapping, ListOf)) for a in sources
    )


def place(
    reverser: Reverser, sweep: Sweep, var: ir.Var, key: ir.Atom | None, span: ir.Span | None
) -> tuple[ir.Atom, ir.Atom | None]:
    """An adjoint to be changed and at which index: a view that an index makes is that index of its base."""
    made = reverser.memory.made.get(var)
    if key is None and reverser.placement.kind(var) == VIEW and isinstance(made, ir.Call):
        if made.fn == ir.Const(operator.getitem) and reverser.memory.parts_of(made) is None:
            base = reverser.memory.base_of(var)
            assert base is not None
            return shadow(reverser, sweep, base, span), reverser.use(sweep, made.args[1])  # type: ignore[arg-type]
    return shadow(reverser, sweep, var, span), key


def add_to(reverser: Reverser, sweep: Sweep, var: ir.Var, g: ir.Atom, span: ir.Span | None) -> None:
    """Add a cotangent to the adjoint of a view."""
    target, key = place(reverser, sweep, var, None, span)
    reverser.add_in_place(sweep, target, key, g, span)


def is_held_elsewhere(reverser: Reverser, var: ir.Var) -> bool:
    """Whether the cotangent of a variable is kept in the adjoint of another one."""
    return reverser.placement.kind(var) in (VIEW, RUNTIME)


def is_found_at_run_time(reverser: Reverser, atom: ir.Atom) -> bool:
    """Whether the adjoint of a variable is found by its memory."""
    return isinstance(atom, ir.Var) and reverser.placement.kind(atom) == RUNTIME


def is_read_before(reverser: Reverser, var: ir.Var) -> bool:
    """Whether what may hold a buffer, and is no array itself, is read before the buffer changes only."""
    known = reverser.context.value(var)
    return isinstance(known, Unknown) and reverser.memory.is_buffer(var) and reverser.placement.kind(var) == VALUE


def is_owned(reverser: Reverser, atom: ir.Atom) -> bool:
    """Whether an atom's cotangent is an array of its own that is changed in place."""
    return isinstance(atom, ir.Var) and reverser.memory.is_buffer(atom) and reverser.placement.kind(atom) == ROOT


def changes_later(reverser: Reverser, g: ir.Atom) -> bool:
    """Whether a cotangent is, or is a view of, a buffer of the primal whose contents are given back on the way."""
    todo, seen = [g], set[ir.Atom]()
    while reverser.set_back and todo:
        found = todo.pop()
        atom = reverser.planner.stood_for.get(found, found)
        if not isinstance(atom, ir.Var) or atom in seen:
            continue
        seen.add(atom)
        if reverser.memory.is_buffer(atom):
            if reverser.memory.find(atom) in reverser.set_back:
                return True
            continue
        made = reverser.context.definitions.get(atom)
        if made is not None and not reverser.planner.is_primal(atom):
            todo += shared_with(made, reverser.context.value(atom), reverser.context.value)
    return False


# --- the reverse of a store -----------------------------------------------------------------------------------------


def store(reverser: Reverser, s: ir.Store, sweep: Sweep) -> None:
    """The reverse of a store into an array."""
    assert isinstance(s.target, ir.Var)
    read_back(reverser, s, sweep)
    changes = s.op is not None and s.op not in SIGNS and s.target in reverser.useful
    result = held(reverser, s, sweep) if changes else None
    if id(s) in reverser.old:
        undo(reverser, s, sweep)
    if s.target not in reverser.useful or s.kind == "opaque":
        return
    root = s.target if is_found_at_run_time(reverser, s.target) else root_of(reverser, s.target)
    if reverser.placement.kind(root) != RUNTIME:
        reverser.prepare(sweep, (root, ()), reverser.context.value(root), s.span)
        if sweep.holding((root, ())) is None:
            return
    index = None if s.kind == "whole" else reverser.use_content(sweep, s.key)
    target, key = place(reverser, sweep, s.target, index, s.span)
    if s.kind == "at":
        _reverse_at(reverser, s, target, key, sweep)
    elif s.op in SIGNS:
        _reverse_add(reverser, s, target, key, sweep)
    elif s.op is None:
        g = _read(reverser, s, target, key, sweep, own=True) if reverser.is_active(s.value) else None
        _write(reverser, target, key, ir.Const(0.0), s, sweep)
        if g is not None:
            _give(reverser, s, s.value, g, sweep)
    else:
        _reverse_operator(reverser, s, target, key, result, sweep)


def _reverse_add(reverser: Reverser, s: ir.Store, target: ir.Atom, key: ir.Atom | None, sweep: Sweep) -> None:
    """``a[i] += v``: the adjoint of ``a`` stays as it is."""
    if not reverser.is_active(s.value):
        return
    g = _read(reverser, s, target, key, sweep, own=True)
    assert s.op is not None
    _give(reverser, s, s.value, cotangents.negate(sweep.builder, g, s.span) if SIGNS[s.op] < 0 else g, sweep)


def _reverse_at(reverser: Reverser, s: ir.Store, target: ir.Atom, key: ir.Atom | None, sweep: Sweep) -> None:
    """``np.add.at(a, i, v)``: an entry that is named twice takes both."""
    if s.op not in SIGNS:
        raise error("S2S119", span=s.span)
    if reverser.is_active(s.value):
        g = _read(reverser, s, target, key, sweep, own=True)
        _give(reverser, s, s.value, cotangents.negate(sweep.builder, g, s.span) if SIGNS[s.op] < 0 else g, sweep)


def _reverse_operator(
    reverser: Reverser, s: ir.Store, target: ir.Atom, key: ir.Atom | None, result: ir.Atom | None, sweep: Sweep
) -> None:
    """``a[i] op= v`` by the partial derivatives of the operator. Where they read what ``a[i]`` was, the store is
    undone; ``result`` is what it became, where the array holds that until then."""
    rule = table.find(s.op)
    if s.op is None or rule is None or rule.kind != "partials":
        raise error("S2S119", span=s.span)
    wrt_old, wrt_value = cast("tuple[FunctionType, FunctionType]", rule.partials)
    g = _read(reverser, s, target, key, sweep, own=True)
    given = Builder(reverser.context)
    old = _old_operand(reverser, s, given, sweep)
    if result is None:
        result = given.call(s.op, old, reverser.use(sweep, s.value), span=s.span)
    mark = len(sweep.builder.statements)
    to = InSweep(sweep.builder, reverser, sweep)
    p_old = reverser.bodies.positional(wrt_old, (result, old, s.value), s.span, to)
    changed = cotangents.multiply(sweep.builder, g, p_old, s.span)
    p: ir.Atom = ir.Const(0.0)
    if reverser.is_active(s.value):
        p = reverser.bodies.positional(wrt_value, (result, old, s.value), s.span, to)
    written = ir.Block((*sweep.builder.statements[mark:],), (p_old, changed, p))
    made = {let.target for let in given.statements if isinstance(let, ir.Let)}
    if not made.isdisjoint(written.yields) or any(not made.isdisjoint(ir.reads_of(w)) for w in ir.walk(written)):
        sweep.builder.statements[mark:mark] = given.statements
        assert isinstance(s.target, ir.Var)
        reverser.note_read(s.target, None if s.kind == "whole" else s.key)
        if id(s) not in reverser.old:
            reverser.wanted.add(id(s))
    _write(reverser, target, key, changed, s, sweep)
    if reverser.is_active(s.value):
        _give(reverser, s, s.value, cotangents.multiply(sweep.builder, g, p, s.span), sweep)


def _old_operand(reverser: Reverser, s: ir.Store, given: Builder, sweep: Sweep) -> ir.Atom:
    """What the place of ``a[i] op= v`` held before, given back by then."""
    if not reverser.is_active(s.value) and s.op in (operator.mul, operator.truediv):
        return ir.Const(0.0)  # read by neither of their partial derivatives by the place
    at = reverser.use(sweep, s.target)
    if s.kind == "whole" or s.key == WHOLE:
        return given.let(at, reverser.context.value(at), span=s.span)
    return given.call(operator.getitem, at, reverser.use_content(sweep, s.key), span=s.span)


def _read(
    reverser: Reverser, s: ir.Store, target: ir.Atom, key: ir.Atom | None, sweep: Sweep, own: bool
) -> ir.Atom:
    """The adjoint of what was stored; as an array of its own where the adjoint goes on changing."""
    builder = sweep.builder
    if key is None or key == WHOLE:
        return builder.call(np.copy, target, span=s.span)
    index = reverser.context.value(key)
    if may_repeat(index) and s.kind != "at":
        return builder.call(rt.stored_bar, target, key, span=s.span)
    g = builder.call(operator.getitem, target, key, span=s.span)
    if s.kind == "item" and isinstance(g, ir.Var):  # the place in the primal: its lengths may be those of the value
        primal = Builder(reverser.context).call(operator.getitem, s.target, s.key)
        reverser.context.values[g] = reverser.context.value(primal)
    value = reverser.context.value(g)
    copied = is_number(value) or is_copied(reverser.context.value(target), index) or not is_basic(index)
    return g if copied or not own else builder.call(np.copy, g, span=s.span)


def _write(
    reverser: Reverser, target: ir.Atom, key: ir.Atom | None, value: ir.Atom, s: ir.Store, sweep: Sweep
) -> None:
    sweep.builder.store(target, WHOLE if key is None else key, value, None, s.span)


def _give(reverser: Reverser, s: ir.Store, atom: ir.Atom, g: ir.Atom, sweep: Sweep) -> None:
    """The adjoint of what was stored, as that of the value: summed over what broadcasting repeated."""
    if reverser.is_active(atom):
        fitted = cotangents.unbroadcast(sweep.builder, g, atom, s.span, lambda a: reverser.use(sweep, a))
        reverser.contribute(sweep, atom, fitted, s.span)


__all__ = [
    "add_to", "changes_later", "is_found_at_run_time", "is_held_elsewhere", "is_owned", "is_read_before", "place",
    "root_of", "shadow", "store", "takes_over",
]
