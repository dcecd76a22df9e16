"""Logs: lists, dicts and sets in global and closure variables that a program only writes to.

What is written there carries no derivative: it is written in the forward sweep, as the program writes it. A container
that the program reads as well is followed, or its change refused (S2S185).

    HISTORY.append(loss)                    rt.record(HISTORY.append, loss)
"""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.builder.virtual_heap import cell_of, origin_atom
from s2s.core import ir
from s2s.core.bounded import Recent
from s2s.core.inspection import own_dict, read_runs
from s2s.core.reachable import held_by, reachable
from s2s.core.values import UNKNOWN, AbstractValue, Array, Instance, Mapping, Object, Sequence, Unknown
from s2s.errors import error
from s2s.specialize.heap import effects, variables
from s2s.versions.facts import attribute, is_replaceable

if TYPE_CHECKING:
    from s2s.builder.builder import Builder
    from s2s.specialize.frames import Frame
    from s2s.specialize.site import CallSite
    from s2s.specialize.specializer import Specializer
    from s2s.versions.facts import Reading

__all__ = [
    "check_unread", "is_log", "note_left", "note_read", "note_whole", "opened", "opened_attribute",
    "written", "written_item",
]

_WRITES = frozenset({
    "append", "extend", "appendleft", "extendleft", "add", "update", "insert", "discard", "clear"})
"""Methods that write, and give nothing."""

_KINDS = (list, dict, set, collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter)

_HOLDING = (*_KINDS, tuple)

_uses = Recent[int, tuple[ir.Block, frozenset[tuple[str, str]]]](4096)


def only_written(body: ir.Block) -> frozenset[tuple[str, str]]:
    """The global and closure variables, with their scopes, whose objects a function in SSA form only writes to, and the
    names of attributes, with ``ATTRIBUTE``."""
    found = _uses.get(id(body))
    if found is not None and found[0] is body:
        return found[1]
    made = _only_written(body)
    _uses[id(body)] = body, made
    return made


def _only_written(body: ir.Block) -> frozenset[tuple[str, str]]:
    loads: dict[ir.Atom, tuple[str, str]] = {}
    methods: dict[ir.Atom, ir.Atom] = {}
    read: set[ir.Atom] = set()
    statements = list(ir.walk(body))
    for s in statements:
        if not isinstance(s, ir.Let) or s.target is None:
            continue
        name = _attribute_read(s.value)
        if isinstance(s.value, ir.Load):
            loads[s.target] = (s.value.scope, s.value.name)
        elif name is not None:
            loads[s.target] = (ATTRIBUTE, name)
    for s in statements:
        for block in ir.blocks_of(s):
            read.update(block.yields)
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call):
            fn, args = s.value.fn, s.value.args
            if fn == _GETATTR and args[0] in loads and isinstance(args[1], ir.Const) and args[1].value in _WRITES:
                methods[s.target] = args[0]  # type: ignore[index, assignment]
                continue
            if fn == _RECORD and args[0] in methods:  # as a derivative has it
                read.update(ir.atoms_of(s.value)[2:])
                continue
            if fn in methods:  # they give None
                read.update(ir.atoms_of(s.value)[1:])
                continue
        if isinstance(s, ir.Store) and s.kind == "item":
            read.update((s.key, s.value))
            continue
        read.update(ir.reads_of(s))
    read.update(body.yields)
    bad = {loads[a] for a in loads if a in read} | {loads[methods[m]] for m in methods if m in read}
    written = {loads[a] for a in methods.values()} | {
        loads[s.target] for s in statements if isinstance(s, ir.Store) and s.kind == "item" and s.target in loads}
    return frozenset(written - bad)


def _attribute_read(value: ir.Value) -> str | None:
    """The name of the attribute that a value is."""
    if not isinstance(value, ir.Call) or value.fn != _GETATTR or len(value.args) != 2:
        return None
    name = value.args[1]
    return name.value if isinstance(name, ir.Const) and type(name.value) is str else None


_GETATTR, _RECORD = ir.Const(getattr), ir.Const(rt.record)
ATTRIBUTE = "attribute"


# --- while specialising -----------------------------------------------------------------------------------------------


def opened(
    specializer: Specializer, load: ir.Load, fact: Reading, frame: Frame, builder: Builder, owner: Any
) -> ir.Atom | None:
    """The variable of a log; None where it is none here."""
    if frame.body is None or (load.scope, load.name) not in only_written(frame.body):
        return None
    if not fact.is_(lambda found: type(found) in _KINDS):
        return None
    found = fact.of_class(specializer.guards)
    made = builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name)
    specializer.logs[made] = found  # type: ignore[index]
    return made


def opened_attribute(
    specializer: Specializer, read: ir.Value, frame: Frame, builder: Builder, span: ir.Span | None
) -> ir.Atom | None:
    """The list, dict or set that an object from outside holds, a class or a module, where it is a log; None where it is
    none here."""
    name = _attribute_read(read)
    if name is None or frame.body is None or (ATTRIBUTE, name) not in only_written(frame.body):
        return None
    assert isinstance(read, ir.Call)
    live, heap = specializer.live_objects, specializer.context.heap
    of: ir.Atom = specializer.atom(read.args[0], frame)  # type: ignore[arg-type]
    cell, fact = cell_of(specializer.context, of), None
    if isinstance(of, ir.Const) and is_replaceable(of.value) and not read_runs(of.value, name):
        fact = attribute(of.value, name, specializer.guards)
    elif cell in live.objects and cell not in heap.unknown and cell not in heap.closed:
        fact = specializer.instances.held(cell, name)
    if fact is None or fact.is_missing or not fact.is_(lambda found: type(found) in _KINDS):
        return None
    found = fact.of_class(specializer.guards)
    if id(found) in live.cells or id(found) in specializer.context.assumed.followed:
        return None
    owner = of if cell is None else origin_atom(builder, cell)
    made = builder.let(ir.Call(_GETATTR, (owner, ir.Const(name))), UNKNOWN, name, span)
    specializer.logs[made], specializer.log_holders[made] = found, cell  # type: ignore[index]
    return made


def note_read(specializer: Specializer, fact: Reading, span: ir.Span | None, is_attribute: bool = False) -> None:
    """A container from outside is read, from a variable or from an attribute of a module or class."""
    if not fact.is_missing and fact.is_(lambda found: type(found) in _KINDS):
        found = id(fact.of_class(specializer.guards))
        specializer.read_containers[found] = span
        if is_attribute:
            specializer.read_attributes.add(found)


def note_whole(specializer: Specializer, found: Any) -> None:
    """A container is read as it is at that time, not item by item as what is followed: nobody may change it, or one
    that it holds, by another name."""
    todo = [found] if type(found) in _HOLDING else []
    while todo:
        one = todo.pop()
        if id(one) not in specializer.read_whole:
            specializer.read_whole[id(one)] = one
            inside = one.values() if isinstance(one, dict) else one
            todo += [item for item in inside if type(item) in _HOLDING]


def is_log(specializer: Specializer, atom: ir.Atom) -> bool:
    return atom in specializer.logs


def written(site: CallSite) -> ir.Atom | None:
    """A call of a method of a log."""
    read = site.context.definition(site.callee, getattr)
    if read is None or not is_log(site.specializer, read[0]):
        return None
    given = [a.atom if isinstance(a, ir.Star) else a for a in site.given]
    if not any(map(site.context.is_varied, given)) and any(_may_change(site, a) for a in given):
        raise site.refusal("S2S185", name="a container")  # it keeps the array itself, which may change later
    _note(site.specializer, read[0], given, site.span)
    frozen = site.builder.frozen
    args = [ir.Star(frozen(a.atom)) if isinstance(a, ir.Star) else frozen(a) for a in site.args]
    kwargs = tuple((key, frozen(a)) for key, a in site.kwargs.items())
    call = ir.Call(_RECORD, (site.callee, *args), kwargs)
    site.builder.add(ir.Let(None, call, site.span))
    return ir.Const(None)


def _may_change(site: CallSite, atom: ir.Atom) -> bool:
    return _changes(site.context.value(atom))


def _changes(value: AbstractValue) -> bool:
    if isinstance(value, Sequence) and value.type is tuple:
        return any(map(_changes, value.items))
    return isinstance(value, (Array, Sequence, Mapping, Instance))


def written_item(
    specializer: Specializer, s: ir.Store, target: ir.Atom, key: ir.Atom, value: ir.Atom, builder: Builder
) -> None:
    """A store of an item of a log."""
    _note(specializer, target, (key, value), s.span)
    if s.op is None and not specializer.context.is_varied(value):
        builder.add(ir.Store("item", target, builder.frozen(key), builder.frozen(value), None, s.span))
        return
    op = ir.Const(s.op)
    call = ir.Call(ir.Const(rt.record_item), (target, builder.frozen(key), builder.frozen(value), op))
    builder.add(ir.Let(None, call, s.span))


def _note(specializer: Specializer, log: ir.Atom, given: Any, span: ir.Span | None) -> None:
    specializer.changed_logs[id(specializer.logs[log])] = span  # type: ignore[index]
    atoms = [a.atom if isinstance(a, ir.Star) else a for a in given]
    if any(specializer.context.is_varied(a) or isinstance(specializer.context.value(a), Unknown) for a in atoms):
        specializer.written_logs[id(specializer.logs[log])] = span  # type: ignore[index]
        holder = specializer.log_holders.get(log)  # type: ignore[arg-type]
        if holder is not None:
            specializer.context.heap.written.setdefault(holder, span)


def note_left(specializer: Specializer, fn: Any) -> None:
    """A function is called when the program runs."""
    specializer.has_left = True
    if isinstance(fn, types.FunctionType):
        specializer.left_functions.add(fn)


def check_unread(specializer: Specializer, root: types.FunctionType, arguments: Iterable[AbstractValue]) -> None:
    """Raise where something differentiated is written to a container that the program reads as well, or that code may
    read which is not followed, as what has called this function when the program runs."""
    effects.check_unread(specializer)
    followed = {id(found) for found in specializer.live_objects.objects.values()}
    seen = {*followed, *specializer.read_containers, *specializer.read_whole, *specializer.changed_logs}
    variables.check_unseen(specializer, seen)
    for cell, found in specializer.live_objects.changed():
        if id(found) in specializer.read_whole:
            raise error("S2S185", span=cell.changed_at, name=cell.name)
    of_objects = {id(specializer.logs[log]) for log, holder in specializer.log_holders.items() if holder is not None}
    for container, span in specializer.changed_logs.items():
        if container in followed or container in specializer.read_containers:
            if container in of_objects:
                specializer.context.assumed.check(followed=frozenset({container}))
            raise error("S2S185", span=span, name="a container")  # what it holds was read when this was compiled
    if not specializer.written_logs:
        return
    if specializer.is_dynamic:  # what calls it may read them
        raise error("S2S185", span=next(iter(specializer.written_logs.values())), name="a container")
    read = {*specializer.read_whole, *_out_of_sight(specializer, root, arguments)}
    of_classes = {id(specializer.logs[log]) for log, holder in specializer.log_holders.items() if holder is None}
    held = {id(specializer.logs[log]) for log in specializer.log_holders}
    read -= held - _seen_by_left(specializer)  # who has the object is refused to run (``check_live``)
    read |= of_classes if specializer.has_left else set()
    read |= {scope for scope, _ in specializer.live_objects.variables}  # ``names = globals()``
    read |= {id(own_dict(found)) for found in specializer.live_objects.objects.values()}  # ``names = vars(box)``
    for container, span in specializer.written_logs.items():
        if container in read:
            raise error("S2S185", span=span, name="a container")


MOST_LOOKED_AT = 5_000
"""So many objects are looked at for what may read a log; where there are more, it is taken to be read."""


def _out_of_sight(
    specializer: Specializer, root: types.FunctionType, arguments: Iterable[AbstractValue]
) -> Iterator[int]:
    """The containers that code may read which is not followed: functions that are called when the program runs, and
    methods of objects, which operators and compiled code call."""
    roots: list[Any] = []
    for fn in (root, *specializer.inliner.dependencies):
        roots += (held for held in held_by(fn) if type(held) not in _KINDS)
    roots += (value.type for value in arguments if isinstance(value, (Object, Instance)))
    yield from _seen_by_left(specializer)
    yield from _containers_of(specializer, root, roots)


def _seen_by_left(specializer: Specializer) -> set[int]:
    """The containers that functions may read which are called when the program runs."""
    roots = [held for fn in specializer.left_functions for held in held_by(fn)]
    return set(_containers_of(specializer, specializer.function, roots)) if roots else set()


def _containers_of(specializer: Specializer, root: types.FunctionType, roots: Iterable[Any]) -> Iterator[int]:
    """The containers that code which is not followed reaches from some objects; where there are too many, all logs."""
    followed = {root, *specializer.inliner.dependencies}
    for count, found in enumerate(reachable(roots, lambda fn: fn not in followed)):
        if count > MOST_LOOKED_AT:
            yield from specializer.written_logs
            return
        if type(found) in _KINDS:
            yield id(found)
