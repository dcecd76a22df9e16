"""Changes of arrays in place, as the specialiser writes them: items, whole arrays, parts of complex arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis import layout
from s2s.analysis.abstract.lattice import dtype_of, is_number, shape_of
from s2s.analysis.abstract.parts import leaves
from s2s.analysis.abstract.shapes import ONE
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, is_basic
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.inspection import is_hashable
from s2s.core.values import AbstractValue, Array, Known, ListOf, Mapping, Sequence, Unknown
from s2s.directives.policies import chosen
from s2s.directives.policy import Policy
from s2s.errors import error
from s2s.optimize.rewriting import substitute
from s2s.rules import table
from s2s.specialize.frames import Frame
from s2s.specialize.heap.escapes import note_change
from s2s.specialize.site import At

WHOLE = ir.Const(Ellipsis)


def is_old(context: Context, was: ir.Atom, key: ir.Atom, builder: Builder) -> bool:
    """Whether what was read of an array at a key is no view of it, and some statement since then may have changed the
    array: an augmented store then adds to what was read."""
    found = context.value(was)
    if not is_number(found) and (not isinstance(found, Array) or is_basic(context.value(key))):
        return False
    for statement in reversed(builder.statements):
        if isinstance(statement, ir.Let) and statement.target == was:
            return False
        if any(isinstance(s, ir.Store) for s in ir.walk(ir.Block((statement,)))):
            return True
    return True


def check_room(at: At, target: ir.Atom, given: ir.Atom) -> None:
    """Raise what NumPy raises where the result of an operation is certainly too large for the array that it is to be
    written into: written as a value, it would be broadcast. Where that is seen when the program runs, it is checked."""
    room, wanted = shape_of(at.value(target)), shape_of(at.value(given))
    if not isinstance(at.value(target), Array) or not room or wanted is None:
        return
    lengths = at.context.evaluator.facts
    broadcast = [b for a, b in zip(reversed(room), reversed(wanted), strict=False) if a == ONE != b]
    if len(wanted) > len(room) or any(b.is_constant or (not b.offset and lengths.is_never_one(b)) for b in broadcast):
        text = "non-broadcastable output operand: it does not have the broadcast shape"
        raise at.specializer.raised(ValueError(text))
    if broadcast:
        at.builder.call(rt.check_room, target, given, span=at.span, effect=True)


def check_modelled(at: At, target: Any) -> None:
    """Raise Refuted where a function that has a model has made what is stored into, or given to by a method."""
    made = at.context.definitions.get(target) if isinstance(target, ir.Var) else None
    fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
    rule = table.find(fn) if is_hashable(fn) else None
    if rule is not None and rule.kind == "model":
        at.context.assumed.check(modelled=frozenset({fn}))


def store_item(
    at: At, target: ir.Atom, key: ir.Atom, value: ir.Atom, op: Callable[..., Any] | None = None, kind: str = "item"
) -> None:
    """``target[key] = value``, ``target[key] op= value`` on an array, or on something passive of unknown kind."""
    context = at.context
    flat = context.definition(target, getattr)
    if flat is not None and flat[1] == ir.Const("flat") and isinstance(context.value(flat[0]), Array):
        return store_flat(at, flat[0], key, value, op)
    part = _part_of_complex(at, target)
    if part is not None:
        return _store_part(at, *part, key, value, op, kind)
    shown = context.definition(target, rt.gather)
    if shown is not None and op is None and kind == "item" and isinstance(context.value(shown[0]), Array):
        places = at.apply(operator.getitem, shown[1], key)
        value = at.apply(np.broadcast_to, _as_array(at, value), at.compute(np.shape, places))
        return store_flat(at, shown[0], places, value, None)
    array = context.value(target)
    active = context.is_varied(value)
    if not isinstance(array, Array) or not isinstance(target, ir.Var):
        if not isinstance(array, Unknown) or active or context.is_varied(target):
            check_modelled(at, target)
            name = target.name.lstrip("%") if isinstance(target, ir.Var) else ""
            raise at.refusal("S2S112", name=name or "a")
        note_change(context, [target])
    elif active:
        if context.may_be_integers(target):
            name = target.name.lstrip("%") or "a"
            raise at.refusal("S2S112", name=name)
        value = _as_array(at, value)
        if op is None and _may_truncate(at, array, value):
            value, active = at.apply(chosen(np.trunc, _TRUNCATED), value), False
        else:
            _check_kind(array, context.value(value), at.frame, at.span)
    at.builder.add(ir.Store(kind, target, key, value, op, at.span))
    if active and isinstance(target, ir.Var):
        context.stored(target)


def store_attribute(at: At, target: ir.Atom, name: str, value: ir.Atom) -> bool:
    """``a.shape = s``, ``a.flat = v``, ``a.real = v`` and ``a.imag = v`` of an array; False for any other attribute,
    and where the shape of an array would depend on the path."""
    known = at.value(target)
    flags = at.context.definition(target, getattr)
    if flags is not None and flags[1] == ir.Const("flags") and isinstance(at.value(flags[0]), Array):
        return name == "writeable" and value == ir.Const(False)  # no store follows, or NumPy raises
    if not isinstance(known, Array) or not isinstance(target, ir.Var) or known.shape is None:
        return False
    if name == "shape" and not at.specializer.trying and not any(before(target) for before in at.specializer.there):
        made = at.call(np.reshape, [target, value], name=target.name).made()
        if not isinstance(made, ir.Var) or at.context.is_virtual(made):
            return False
        at.specializer.give_shape(target, made)
        return True
    if name == "flat":
        store_flat(at, target, ir.Const(slice(None)), value, None)
        return True
    if name == "real" and known.dtype.kind != "c":
        store_item(at, target, WHOLE, value)
        return True
    if name in ("real", "imag") and known.dtype.kind == "c":
        parts = _with_real if name == "real" else _with_imaginary
        made = at.apply(parts, target, value)
        store_item(at, target, WHOLE, made)
        return True
    return False


def _part_of_complex(at: At, target: ir.Atom) -> tuple[ir.Atom, str] | None:
    """The complex array of which an array is the real or the imaginary part, and which of them."""
    found = at.context.definition(target, getattr)
    if found is None or found[1] not in (ir.Const("real"), ir.Const("imag")):
        return None
    known = at.value(found[0])
    assert isinstance(found[1], ir.Const)
    return (found[0], found[1].value) if isinstance(known, Array) and known.dtype.kind == "c" else None


def _store_part(
    at: At, array: ir.Atom, name: str, key: ir.Atom, value: ir.Atom, op: Callable[..., Any] | None, kind: str
) -> None:
    """``z.imag[key] = v``: the numbers there are stored again, with another part."""
    if kind != "item":
        raise at.refuse(name, "a part of a complex array takes items that may come twice")
    old = at.apply(operator.getitem, array, key)
    value = _as_array(at, value)
    if op is not None:
        value = at.apply(op, at.apply(_PARTS[name], old), value)
    store_item(at, array, key, at.apply(_with_real if name == "real" else _with_imaginary, old, value))


_PARTS = {"real": np.real, "imag": np.imag}


def _with_real(a: Any, real: Any) -> Any:
    return real + 1j * np.imag(a)


def _with_imaginary(a: Any, imaginary: Any) -> Any:
    return np.real(a) + 1j * imaginary


def _as_array(at: At, value: ir.Atom) -> ir.Atom:
    """A list or tuple that is stored is an array of its items."""
    if isinstance(at.value(value), (Sequence, ListOf)):
        return at.apply(np.array, value)
    return value


_TRUNCATED = Policy("zero", why="stored into an array of integers")


def _may_truncate(at: At, array: Array, value: ir.Atom) -> bool:
    """Whether an array of integers takes a real number without its fraction, and nothing else is chosen for
    conversions: the derivative is zero."""
    stored = dtype_of(at.value(value))
    if array.dtype.kind not in "iu" or stored is None or stored.kind != "f":
        return False
    return at.specializer.holding.decided(int) in (None, Policy("zero"))


def _check_kind(array: Array, value: AbstractValue, frame: Frame, span: ir.Span | None) -> None:
    """Refuse what NumPy truncates: a float in an array of integers, a complex number in an array of floats."""
    stored = dtype_of(value)
    lost = array.dtype.kind not in "fc" or (array.dtype.kind == "f" and stored is not None and stored.kind == "c")
    if lost:
        raise error("S2S120", span=span, asked_by=frame.called_from, dtype=array.dtype)


def may_change(context: Context, atoms: list[Any], builder: Builder, span: ir.Span | None) -> None:
    """Say that the call that comes next may change the arrays among its arguments."""
    for atom in dict.fromkeys(a.atom if isinstance(a, ir.Star) else a for a in atoms):
        if isinstance(context.value(atom), Array):
            builder.add(ir.Store("opaque", atom, ir.Const(None), ir.Const(None), None, span))


def changes_any(atoms: list[ir.Atom], trial: Builder, context: Context) -> bool:
    """Whether statements that were tried out change one of these arguments in place."""
    if not any(isinstance(s, ir.Store) for s in ir.walk(trial.block())):
        return False
    memory = Memory(ir.Function("", (), trial.block()), context.value)
    return any(map(memory.is_buffer, atoms))


def is_harmless(fn: Any) -> bool:
    """Whether a function without a rule, and not written in Python, leaves its arguments as they are."""
    return not facts(fn).changes


def change_whole(at: At, target: ir.Atom, value: ir.Atom, op: Callable[..., Any] | None) -> None:
    """``target op= value`` on an array that others may refer to."""
    part = _part_of_complex(at, target)
    if part is not None:
        return _store_part(at, *part, WHOLE, value, op, "item")
    if at.context.is_varied(value):
        if isinstance(target, ir.Var) and at.context.may_be_integers(target):
            raise at.refusal("S2S112", name=target.name.lstrip("%") or "a")
        _check_kind(at.value(target), at.value(value), at.frame, at.span)  # type: ignore[arg-type]
    at.builder.add(ir.Store("whole", target, ir.Const(None), value, op, at.span))
    if at.context.is_varied(value) and isinstance(target, ir.Var):
        at.context.stored(target)


# --- places of an array that is flattened ---------------------------------------------------------------------------


def store_flat(at: At, array: ir.Atom, key: ir.Atom, value: ir.Atom, op: Callable[..., Any] | None) -> None:
    """``a.flat[key] = v`` stores at places of the flattened array, the values of ``v`` in turn."""
    every = at.compute(np.arange, at.compute(np.size, array))
    places = at.compute(operator.getitem, every, key)
    where = at.compute(np.unravel_index, places, at.compute(np.shape, array))
    if op is None and not is_number(at.value(value)):
        keep_apart(at, array, value)
        value = at.apply(in_turn, value, places)
    store_item(at, array, where, value, op)


def in_turn(values: Any, places: Any) -> Any:
    """The values for some places, from the beginning again where there are too few."""
    return np.take(values, np.reshape(np.arange(np.size(places)) % np.size(values), np.shape(places)))


def keep_apart(at: At, array: ir.Atom, value: ir.Atom) -> None:
    """Refuse, when the program runs, a store of elements one after the other that would read what it has stored."""
    known = at.value(value)
    items = None if isinstance(known, Array) else at.items(value)
    if items is not None:
        for item in items:
            keep_apart(at, array, item)
    elif isinstance(known, (Array, ListOf, Unknown)) and not isinstance(value, ir.Const):
        place = f"{at.frame.fn.__qualname__}, line {at.span.line}" if at.span is not None else at.frame.fn.__qualname__
        call = ir.Call(ir.Const(rt.check_disjoint), (array, value, ir.Const(place)))
        at.builder.add(ir.Let(None, call, at.span))


# --- the function's arguments ---------------------------------------------------------------------------------------


def own_arguments(function: ir.Function, context: Context, changes: str) -> tuple[ir.Function, list[str]]:
    """The function with copies of the arguments that it changes, so that the caller's arrays stay as they are, and the
    names of these arguments. Where ``changes`` is ``returned``, they are the result of a function that returns nothing.

    Raises UnsupportedSyntaxError where it changes an array that it finds in a global or closure variable, or where the
    caller would have to see the change (``changes`` is ``refused``).
    """
    if not any(isinstance(s, ir.Store) for s in ir.walk(function.body)):
        return function, []
    memory = Memory(function, context.value, opaque=False)
    foreign = _foreign(function, memory, context)
    function = ir.replace(function, body=_with_foreign_apart(function.body, foreign, memory, context))
    function = ir.replace(function, body=_without_needless_tests(function.body, memory))
    builder, mapping = Builder(context), dict[ir.Atom, ir.Atom]()
    copy = rt.copy_in_memory if layout.shows(function, memory) else np.copy
    for param in function.params:
        if memory.is_buffer(param.var):
            if changes == "refused":
                raise error("S2S122", span=_store_into(function, memory, param.var).span, name=param.var.name)
            mapping[param.var] = _copied(builder, param.var, context.value(param.var), param.var.name, copy)
    copied = set(mapping.values())
    builder.statements[:0] = _tests_of_arguments(function, mapping, context)
    places = context.input_places
    names = [p.var.name for p in function.params if p.var in mapping]
    for s in function.body.statements:
        builder.add(substitute(s, mapping))
        if isinstance(s, ir.Let) and s.target in places and memory.is_buffer(s.target):
            if changes == "refused":
                raise error("S2S122", span=_store_into(function, memory, s.target).span, name=places[s.target])
            mapping[s.target] = _copied(builder, s.target, context.value(s.target), s.target.name, copy)
            names.append(places[s.target])
    (result,) = (mapping.get(a, a) for a in function.body.yields)
    if changes == "returned":
        result = _with_changed(builder, result, [a for a in mapping.values() if a in copied])
    return ir.replace(function, body=builder.block(result)), names


def _tests_of_arguments(
    function: ir.Function, changed: Iterable[ir.Atom], context: Context
) -> list[ir.Statement]:
    """Tests that the arrays which a function changes are none that it reads from outside."""
    params = [a for a in changed if isinstance(a, ir.Var) and isinstance(context.value(a), Array)]
    made: list[ir.Statement] = []
    seen: set[Any] = set()
    for s in ir.walk(function.body) if params else ():
        if not isinstance(s, ir.Let) or s.target is None or not _is_read_from_outside(s, context):
            continue
        place = (s.value.scope, s.value.name, id(s.value.owner)) if isinstance(s.value, ir.Load) else s.target
        if place in seen:
            continue
        seen.add(place)
        again = context.define("%", context.value(s.target))
        made.append(ir.Let(again, s.value, s.span))
        for param in params:
            made.append(ir.Let(None, ir.Call(ir.Const(rt.check_apart), (param, again, ir.Const(param.name)))))
    return made


def _is_read_from_outside(s: ir.Let, context: Context) -> bool:
    """Whether a statement reads what may be an array, or hold one, from a variable or a known object."""
    if s.target in context.absent:
        return False
    known = context.value(s.target)  # type: ignore[arg-type]
    items = known.items if isinstance(known, Sequence) else (known.item,) if isinstance(known, ListOf) else (known,)
    if all(is_number(i) or (isinstance(i, Known) and not isinstance(i.value, np.ndarray)) for i in items):
        return False
    return isinstance(s.value, ir.Load) or (isinstance(known, Array) and _is_foreign(s, context))


def _with_changed(builder: Builder, result: ir.Atom, changed: list[ir.Atom]) -> ir.Atom:
    """The result; of a function that returns nothing, the arguments that it changed."""
    if not changed or result != ir.Const(None):
        return result
    return changed[0] if len(changed) == 1 else builder.call(ops.make_tuple, *changed)


def _store_into(function: ir.Function, memory: Memory, var: ir.Var) -> ir.Store:
    """A statement that changes the memory of a variable."""
    stores = (s for s in ir.walk(function.body) if isinstance(s, ir.Store) and isinstance(s.target, ir.Var))
    return next(s for s in stores if memory.find(s.target) == memory.find(var))  # type: ignore[arg-type]


def _foreign(function: ir.Function, memory: Memory, context: Context) -> dict[ir.Var, tuple[ir.Value, str]]:
    """The arrays from outside the function that may share memory with what it changes: how they are read, and their
    names."""
    found: dict[ir.Var, tuple[ir.Value, str]] = {}
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target is not None and memory.is_buffer(s.target) and (
            s.target in context.foreign or _is_foreign(s, context)
        ):
            name = s.value.name if isinstance(s.value, ir.Load) else s.target.name.lstrip("%")
            found[s.target] = s.value, name
    return found


def _with_foreign_apart(
    block: ir.Block, foreign: dict[ir.Var, tuple[ir.Value, str]], memory: Memory, context: Context,
    seen: frozenset[ir.Var] = frozenset(),
) -> ir.Block:
    """The block with a test before each store that may change an array from outside; one that certainly does is
    refused, as is one that cannot be tested."""
    made: list[ir.Statement] = []
    for s in block.statements:
        if isinstance(s, ir.Store) and s.kind != "opaque" and isinstance(s.target, ir.Var):
            for var, (value, name) in foreign.items():
                if memory.find(var) != memory.find(s.target):
                    continue
                is_visible = var in seen or all(isinstance(a, ir.Const) for a in ir.atoms_of(value))
                if var == _root(memory, s.target) or not is_visible:
                    raise error("S2S121", span=s.span, name=name)
                again = var
                if var not in seen:
                    again = context.define("%", context.value(var))
                    made.append(ir.Let(again, value, s.span))
                made.append(ir.Let(None, ir.Call(ir.Const(rt.check_apart), (s.target, again, ir.Const(name))), s.span))
        blocks = [_with_foreign_apart(b, foreign, memory, context, seen) for b in ir.blocks_of(s)]
        made.append(ir.with_blocks(s, blocks))
        seen |= {var for var in ir.defs_of(s) if var in foreign}
    return ir.Block(tuple(made), block.yields)


def _without_needless_tests(block: ir.Block, memory: Memory) -> ir.Block:
    """The block without tests of arrays that certainly have memory of their own."""
    made: list[ir.Statement] = []
    for s in block.statements:
        match s:
            case ir.Let(None, ir.Call(ir.Const(value=rt.check_disjoint), (ir.Var() as array, ir.Var() as other, _))):
                if memory.find(array) != memory.find(other) and not {array, other} <= memory.params:
                    continue
        made.append(ir.with_blocks(s, [_without_needless_tests(b, memory) for b in ir.blocks_of(s)]))
    return ir.Block(tuple(made), block.yields)


def _root(memory: Memory, var: ir.Var) -> ir.Var:
    """The variable that an exact view is a view of in the end."""
    while (base := memory.base_of(var)) is not None:
        var = base
    return var


def _is_foreign(s: ir.Let, context: Context) -> bool:
    """Whether a statement reads an array, or a container of such, from outside the function."""
    assert s.target is not None
    if isinstance(context.value(s.target), Unknown):
        return False
    return isinstance(s.value, ir.Load) or (
        isinstance(s.value, ir.Call) and s.value.fn == ir.Const(getattr) and isinstance(s.value.args[0], ir.Const)
    )


def _copied(
    builder: Builder, atom: ir.Atom, value: AbstractValue, name: str, copy: Callable[..., Any] = np.copy
) -> ir.Atom:
    """A copy of an argument, of the arrays in it where it is a container."""
    match value:
        case Array():
            return builder.call(copy, atom, name=name)
        case Sequence(kind, items) if kind in (tuple, list) and any(True for _ in leaves(value)):
            made = [
                _copied(builder, builder.call(operator.getitem, atom, ir.Const(k)), item, "%", copy)
                for k, item in enumerate(items)
            ]
            return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made, name=name)
        case Mapping(keys, items):
            flat = [
                a for key, item in zip(keys, items, strict=True)
                for a in (
                    ir.Const(key),
                    _copied(builder, builder.call(operator.getitem, atom, ir.Const(key)), item, "%", copy),
                )
            ]
            return builder.call(ops.make_dict, *flat, name=name)
        case _:
            return atom


__all__ = [
    "WHOLE", "change_whole", "changes_any", "check_room", "in_turn", "is_harmless", "keep_apart", "may_change",
    "own_arguments", "store_attribute", "store_flat", "store_item",
]
