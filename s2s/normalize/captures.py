"""Captures: refuse functions that are kept while a variable that they read changes.

Python binds captured variables late: ``[lambda: k for k in range(3)]`` are three functions that all see the last ``k``.
The compiler inlines calls of nested functions with the captures as they are where the function was made, which is the
same only while none of them changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2s.core import ir, ops
from s2s.errors import error

_GETATTR = ir.Const(getattr)
_ADDS = frozenset(map(ir.Const, (
    "add", "append", "appendleft", "extend", "insert", "push", "put", "register", "setdefault", "update",
)))
"""Methods that put what they are given into what they belong to, by their names."""

_KEEPS = frozenset(map(ir.Const, (*ops.DISPLAYS, *ops.GROWS)))


def check_captures(function: ir.Function) -> ir.Function:
    """The function, if no nested function in it is kept while a variable that it reads changes."""
    for span, name in _assigned_while_kept(function):
        raise error(
            "S2S205", span=span, name=name,
            hint="bind the value as a default, `lambda x, k=k: ...`, or call the function before that",
        )
    return function


def assigned_while_kept(function: ir.Function) -> frozenset[str]:
    """The names of the variables that are assigned while a nested function is kept which reads them."""
    return frozenset(name for _, name in _assigned_while_kept(function))


def _assigned_while_kept(function: ir.Function) -> Iterator[tuple[ir.Span | None, str]]:
    statements = list(ir.walk(function.body))
    kept = _kept(function, statements)
    for place, statement in enumerate(statements):
        match statement:
            case ir.Let(target, ir.MakeFunction(inner) as made, span):
                yield from _assigned_while_kept(inner)
                seen = _kept_names(inner) if target not in kept else None
                if seen is None or seen:
                    later = assigned_later(function.body, statements, place, place)
                    for capture, atom in zip(made.function.captures, made.captures, strict=True):
                        is_seen = seen is None or capture.name in seen
                        if is_seen and atom != ir.UNDEFINED and capture.name in later and not capture.is_temporary:
                            yield span, capture.name


def _kept_names(function: ir.Function) -> set[str]:
    """The names of the variables that functions inside a function see which are kept when it has ended."""
    statements = list(ir.walk(function.body))
    kept, found = _kept(function, statements), set[str]()
    for s in statements:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
            inner = s.value.function
            found |= {v.name for v in inner.captures} if s.target in kept else _kept_names(inner)
    return found


def _kept(function: ir.Function, statements: list[ir.Statement]) -> set[ir.Atom]:
    """The atoms that containers, joins of paths or the result keep."""
    kept: set[ir.Atom] = set(function.body.yields)
    loads = {s.target for s in statements if isinstance(s, ir.Let) and isinstance(s.value, ir.Load)}
    methods = {
        s.target for s in statements if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and (
            s.value.fn == _GETATTR and s.value.args[0] not in loads and s.value.args[1] in _ADDS)}
    for s in statements:
        for block in ir.blocks_of(s):
            kept.update(block.yields)
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and (s.value.fn in _KEEPS or s.value.fn in methods):
            kept.update(ir.atoms_of(s.value))
        if isinstance(s, ir.Store):
            kept.add(s.value)
    return kept


def assigned_later(body: ir.Block, statements: list[ir.Statement], place: int, after: int) -> set[str]:
    """The names that are assigned from the statement number ``after`` on, or in a loop around that number ``place``."""
    later = {v.name for s in statements[after:] for v in ir.defs_of(s)}
    for s in statements:
        if isinstance(s, (ir.For, ir.While)) and any(t is statements[place] for t in ir.walk(s.body)):
            later |= {v.name for t in ir.walk(s.body) for v in ir.defs_of(t)} | {c.param.name for c in s.carried}
            later |= {s.item.name} if isinstance(s, ir.For) else set()
    return later


# --- functions that other functions call ----------------------------------------------------------------------------


def note_late(function: ir.Function) -> ir.Function:
    """The function with ``late`` of the nested functions that are given to calls."""
    return ir.replace(function, body=_note(function.body, _Order(function.body)))


def _note(block: ir.Block, order: _Order) -> ir.Block:
    made: list[ir.Statement] = []
    for s in block.statements:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
            inner = note_late(s.value.function)
            late = order.late(s.target, s.value) if s.target is not None else ()
            made.append(ir.replace(s, value=ir.replace(s.value, function=inner, late=late)))
        else:
            made.append(ir.with_blocks(s, (_note(b, order) for b in ir.blocks_of(s))))
    return ir.Block(tuple(made), block.yields)


class _Order:
    """The statements of a function in the order of the text: where variables are made and read, and the loops."""

    def __init__(self, body: ir.Block) -> None:
        self.statements: list[ir.Statement] = []
        self.made: dict[ir.Atom, int] = {}
        self.reads: dict[ir.Atom, list[int]] = {}
        self.loops: list[tuple[int, int]] = []
        self._block(body)

    def _block(self, block: ir.Block) -> None:
        for s in block.statements:
            place = len(self.statements)
            self.statements.append(s)
            self._read(ir.reads_of(s), place)
            self.made.update(dict.fromkeys(ir.defs_of(s), place))
            for inner in ir.blocks_of(s):
                self._block(inner)
            end = len(self.statements)
            for inner in ir.blocks_of(s):
                self._read(inner.yields, end)
            if isinstance(s, (ir.For, ir.While)):
                self.loops.append((place, end))
        self._read(block.yields, len(self.statements))

    def _read(self, atoms: Iterable[ir.Atom], place: int) -> None:
        for atom in atoms:
            self.reads.setdefault(atom, []).append(place)

    def late(self, target: ir.Var, made: ir.MakeFunction) -> tuple[str, ...]:
        """The captures that are assigned between a nested function and the last use of what a call makes of it."""
        start = self.made[target]
        assigned: set[str] = set()
        for place in self.reads.get(target, ()):
            call = self.statements[place] if place < len(self.statements) else None
            if isinstance(call, ir.Let) and isinstance(call.value, ir.Call):
                for use in self.reads.get(call.target, ()):  # type: ignore[arg-type]
                    assigned.update(self._assigned(start, use))
        names = (v.name for v, a in zip(made.function.captures, made.captures, strict=True) if a != ir.UNDEFINED)
        return tuple(name for name in names if name in assigned and not name.startswith("%"))

    def _assigned(self, start: int, stop: int) -> Iterator[str]:
        """The names that are assigned from one place to another, and in the loops that only the second is in."""
        spans = [(start, stop), *((a, b) for a, b in self.loops if a < stop <= b and not a < start < b)]
        for a, b in spans:
            yield from (v.name for s in self.statements[a:b] for v in ir.defs_of(s))
