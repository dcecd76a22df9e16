"""Simplifications of SSA code, each one a function of its own: SSA in, SSA out.

    drop_dead      statements whose results nothing reads and that have no effect, loops and branches included
    share          the same pure operation twice in a row of blocks is computed once
    forward_copies arrays that were copied although nothing else refers to them
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s import ir, ops
from s2s import runtime as rt
from s2s.analysis import managers
from s2s.analysis.lattice import is_number
from s2s.analysis.memory import Memory
from s2s.analysis.values import AbstractValue, Array, ListOf, Scalar
from s2s.passes.build import Context

_EFFECTS: set[Any] = {list.append, list.pop, np.add.at, print}


_SETTINGS = tuple(map(ir.Const, (*managers.SETTINGS, contextlib.nullcontext, contextlib.suppress)))
"""Managers that do nothing but while they are entered."""


def substitute(statement: ir.Statement, mapping: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    """A statement with atoms replaced, in the blocks inside it too."""
    if not mapping:
        return statement

    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a)

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(substitute(s, mapping) for s in b.statements), tuple(map(atom, b.yields)))

    def carry(carried: tuple[ir.Carried, ...]) -> tuple[ir.Carried, ...]:
        return tuple(ir.Carried(c.param, atom(c.init), c.result) for c in carried)

    match statement:
        case ir.Let(target, value, span):
            return ir.Let(target, ir.map_atoms(value, atom), span)
        case ir.Store(kind, target, key, value, op, span):
            return ir.Store(kind, atom(target), atom(key), atom(value), op, span)
        case ir.If(test, then, orelse, results, span):
            return ir.If(atom(test), block(then), block(orelse), results, span)
        case ir.For():
            return ir.replace(
                statement, iterable=atom(statement.iterable), body=block(statement.body),
                carried=carry(statement.carried), leave=None if statement.leave is None else atom(statement.leave),
            )
        case ir.While():
            return ir.replace(
                statement, test=block(statement.test), body=block(statement.body), carried=carry(statement.carried),
                leave=None if statement.leave is None else atom(statement.leave),
            )
        case ir.With():
            return ir.replace(statement, manager=atom(statement.manager), body=block(statement.body))
        case ir.Try(body, handlers, orelse):
            return ir.replace(
                statement, body=block(body), orelse=block(orelse),
                handlers=tuple(
                    ir.replace(h, kinds=tuple(map(atom, h.kinds)), body=block(h.body)) for h in handlers
                ),
            )
        case ir.Raise(exception, cause, span):
            return ir.Raise(exception and atom(exception), cause and atom(cause), span)
        case _:
            return statement


# --- dead code ------------------------------------------------------------------------------------------------------


def drop_dead(function: ir.Function, context: Context) -> ir.Function:
    """The function without statements that change nothing and whose results nothing reads; those that define a
    variable that ``context`` keeps stay, because they may raise the user's error."""
    yields = function.body.yields
    sweeper = _Sweeper(function, context)
    live: set[Any] = set()
    sweeper.read(yields, live)
    statements = sweeper.block(function.body.statements, live)
    return ir.replace(function, body=ir.Block(tuple(statements), yields))


def drop_dead_statements(statements: list[ir.Statement], live: set[Any], context: Context) -> list[ir.Statement]:
    """The statements of a rule body that matter when ``live`` is read after it."""
    body = ir.Function("", (), ir.Block(tuple(statements), tuple(live)))
    return list(drop_dead(body, context).body.statements)


_CONTENT, _ITEMS = "content", "items"


def known_items(value: AbstractValue) -> bool:
    """Whether reading a value may read which items a list has: it is no array or number."""
    return not isinstance(value, (Array, Scalar))


class _Sweeper:
    """One backward walk. Containers that only the statements dropped would have read are dropped with their stores."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.kept = context.kept | context.effects
        self.made: set[ir.Var] = set()
        self.memory: Memory | None = None
        if any(map(_changes, ir.walk(function.body))):
            self.memory = Memory(function, context.value)
            for s in ir.walk(function.body):
                if isinstance(s, ir.Let) and s.target is not None and _makes_container(s.value):
                    self.made.add(s.target)
                elif isinstance(s, ir.Let) and s.target is not None and self.memory.is_new(s.target):
                    if isinstance(context.value(s.target), Array):
                        self.made.add(s.target)

    def block(self, statements: Iterable[ir.Statement], live: set[Any]) -> list[ir.Statement]:
        kept: list[ir.Statement] = []
        for statement in reversed(list(statements)):
            new = self.statement(statement, live)
            if new is not None:
                kept.append(new)
        return kept[::-1]

    def statement(self, s: ir.Statement, live: set[Any]) -> ir.Statement | None:
        match s:
            case ir.Let(target, value):
                if target not in live and self.is_droppable(target, value, live):
                    return None
                self.read(ir.atoms_of(value), live)
                if target is None or target in live or target in self.kept or is_pure_call(value):
                    return s
                return ir.Let(None, value, s.span)
            case ir.Store(_, target):
                if isinstance(target, ir.Var) and self.is_lost(target, live):
                    return None
                self.read(ir.reads_of(s), live)
                return s
            case ir.If():
                return self.branch(s, live)
            case ir.For() | ir.While():
                return self.loop(s, live)
            case ir.With():
                return self.managed(s, live)
            case ir.Try():
                return self.attempt(s, live)
            case ir.Note():
                return s
            case _:
                self.read(ir.reads_of(s), live)
                return s

    def is_droppable(self, target: ir.Var | None, value: ir.Value, live: set[Any]) -> bool:
        if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) and _is_effect(value.fn.value):
            container = value.args[0]
            return isinstance(container, ir.Var) and self.is_lost(container, live)
        return target is not None and target not in self.kept and is_pure_call(value)

    def is_lost(self, target: ir.Var, live: set[Any]) -> bool:
        """Whether nothing reads a change of an array or list: it was made here, and no name of it is live."""
        assert self.memory is not None
        is_list = isinstance(self.context.value(target), ListOf)
        if target in live or (self.memory.find(target), _ITEMS if is_list else _CONTENT) in live:
            return False
        same = self.memory.same(target)
        return all(var in self.made or self.memory.made.get(var) is not None for var in same) and any(
            var in self.made for var in same
        ) and not self._is_outside(same)

    def _is_outside(self, same: list[ir.Var]) -> bool:
        """Whether memory comes from an argument or from what is not known."""
        assert self.memory is not None
        for var in same:
            value = self.memory.made.get(var)
            if var in self.memory.params or isinstance(value, ir.Load):
                return True
            if var not in self.made and isinstance(value, ir.Call) and not any(
                isinstance(a, ir.Var) and a in same for a in ir.atoms_of(value)
            ):
                return True
        return False

    def read(self, atoms: Iterable[ir.Atom], live: set[Any]) -> None:
        for atom in atoms:
            if isinstance(atom, ir.Var) and atom not in live:
                live.add(atom)
                if self.memory is not None and self.memory.is_buffer(atom):
                    root, known = self.memory.find(atom), self.context.value(atom)
                    live.update((root, of) for of in (_CONTENT, _ITEMS) if of == _CONTENT or known_items(known))

    def branch(self, s: ir.If, live: set[Any]) -> ir.Statement | None:
        keep = [k for k, r in enumerate(s.results) if r in live]
        live_then, live_else = set(live), set(live)
        blocks = []
        for block, inner in ((s.then, live_then), (s.orelse, live_else)):
            yields = tuple(block.yields[k] for k in keep)
            self.read(yields, inner)
            blocks.append(ir.Block(tuple(self.block(block.statements, inner)), yields))
        if not keep and not any(b.statements for b in blocks):
            return None
        live |= live_then | live_else
        self.read((s.test,), live)
        return ir.If(s.test, blocks[0], blocks[1], tuple(s.results[k] for k in keep), s.span)

    def managed(self, s: ir.With, live: set[Any]) -> ir.Statement | None:
        """A ``with`` that only sets how errors and warnings are treated goes where nothing is left in it."""
        used = {v for v in (s.target, s.ended) if v in live}
        body = self.block(s.body.statements, live)
        used |= {v for v in (s.target,) if v in live}
        maker = self.context.definitions.get(s.manager) if isinstance(s.manager, ir.Var) else None
        if not body and not used and isinstance(maker, ir.Call) and maker.fn in _SETTINGS:
            return None
        self.read((s.manager,), live)
        target = s.target if s.target in used else None
        return ir.replace(s, target=target, body=ir.Block(tuple(body)), ended=s.ended if s.ended in used else None)

    def attempt(self, s: ir.Try, live: set[Any]) -> ir.Statement | None:
        """A ``try`` stays while anything is left in its body or in a handler; what says which block ended, with it."""
        used = any(r in live for r in s.results)
        keep = [k for k, r in enumerate(s.results) if r in live or r == s.caught]
        sides, inside = [], set[Any]()
        for block in ir.sides_of(s):
            inner = set(live)
            yields = tuple(block.yields[k] for k in keep)
            self.read(yields, inner)
            sides.append(ir.Block(tuple(self.block(block.statements, inner)), yields))
            inside |= inner
        self.read((kind for h in s.handlers for kind in h.kinds), inside)
        live |= inside
        body = self.block(s.body.statements, live)
        if not body and not used and not any(side.statements for side in sides):
            return None
        handlers = tuple(ir.replace(h, body=side) for h, side in zip(s.handlers, sides[1:], strict=True))
        return ir.replace(
            s, body=ir.Block(tuple(body)), handlers=handlers, orelse=sides[0],
            results=tuple(s.results[k] for k in keep),
        )

    def loop(self, s: ir.For | ir.While, live: set[Any]) -> ir.Statement | None:
        """Carried variables that only keep themselves alive go; a loop that is left with nothing to do goes too."""
        outside = set(live)
        needed = {k for k, c in enumerate(s.carried) if c.result in live}
        left = s.left if s.left in live else None
        while True:
            inner = set(outside)
            body, test = self.trip(s, needed, inner, left)
            more = {k for k, c in enumerate(s.carried) if c.param in inner} | needed
            again = inner - outside if self.memory is not None else set()  # a trip reads what the one before stored
            if more == needed and not again:
                break
            needed = more
            outside |= again
        nothing = not body.statements and not needed and left is None
        if nothing and isinstance(s, ir.For):
            return None
        if isinstance(s, ir.While) and nothing:
            return None
        carried = tuple(c for k, c in enumerate(s.carried) if k in needed)
        live |= inner
        self.read((c.init for c in carried), live)
        leave = s.leave
        if isinstance(s, ir.For):
            self.read((s.iterable,), live)
            return ir.replace(s, body=body, carried=carried, leave=leave, left=left)
        assert test is not None
        return ir.replace(s, test=test, body=body, carried=carried, leave=leave, left=left)

    def trip(
        self, s: ir.For | ir.While, needed: set[int], inner: set[Any], left: ir.Var | None
    ) -> tuple[ir.Block, ir.Block | None]:
        """The live statements of a body, given which carried variables are needed."""
        yields = tuple(y for k, y in enumerate(s.body.yields) if k in needed)
        before = set(inner)
        self.read(yields, inner)
        effects = bool(needed) or left is not None
        trial = set(inner)
        if not effects:
            effects = bool(self.block(s.body.statements, trial))
        if effects and s.leave is not None:
            self.read((s.leave,), inner)
        statements = self.block(s.body.statements, inner) if effects else []
        test = None
        if isinstance(s, ir.While):
            test_live = set(before)
            self.read(s.test.yields, test_live)
            test = ir.Block(tuple(self.block(s.test.statements, test_live)), s.test.yields)
            if effects:
                inner |= test_live
        return ir.Block(tuple(statements), yields), test


def _walk_one(statement: ir.Statement) -> Iterable[ir.Statement]:
    yield statement
    for block in ir.blocks_of(statement):
        yield from ir.walk(block)


def _changes(s: ir.Statement) -> bool:
    """Whether a statement changes an array or a list in place."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
        return _is_effect(s.value.fn.value)
    return isinstance(s, ir.Store)


def _makes_container(value: ir.Value) -> bool:
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return False
    fn = value.fn.value
    return any(fn is f for f in (ops.make_list, np.empty, np.zeros_like, rt.zeros_of, np.full_like, list, np.copy))


def _is_effect(fn: Any) -> bool:
    return any(fn is f or fn == f for f in (list.append, list.pop, np.add.at, np.subtract.at))


def is_pure_call(value: ir.Value) -> bool:
    """Whether a value can be dropped when nothing reads it."""
    if not isinstance(value, ir.Call):
        return True
    if not isinstance(value.fn, ir.Const):
        return False
    return is_pure(value.fn.value)


def is_pure(fn: Any) -> bool:
    """Whether a function has no effect but its result, and raises only where its use would."""
    from s2s import runtime
    from s2s.rules import table

    if fn is print:
        return False
    if getattr(fn, "__module__", None) in ("s2s.ops", "s2s.runtime", "_operator", "math", "operator"):
        return fn not in (runtime.call, runtime.call_method)
    if ir.Const(fn) in _SETTINGS or (isinstance(fn, type) and issubclass(fn, BaseException)):
        return True
    if _is_effect(fn):
        return False
    rule = table.find(fn)
    if rule is not None:
        return not getattr(fn, "__module__", "").startswith("numpy.random")
    return getattr(fn, "__module__", "").startswith("s2s.rules") or fn in (
        slice, range, reversed, list, tuple, enumerate, zip, getattr)


# --- sharing --------------------------------------------------------------------------------------------------------


def share(function: ir.Function, context: Context) -> ir.Function:
    """The function with equal pure operations on equal atoms computed once, where the first stands before the second.

    Only operations between which no array is changed in place: those whose arguments and results are never stored to.
    """
    stored = _stored(function, context)

    def block(b: ir.Block, seen: dict[Any, ir.Var], mapping: dict[ir.Atom, ir.Atom]) -> ir.Block:
        seen = dict(seen)
        made = []
        for s in b.statements:
            s = _map_own(s, mapping)
            target = s.target if isinstance(s, ir.Let) else None
            if isinstance(s, ir.Let) and target is not None and _is_shareable(target, s.value, stored):
                key = _value_key(s.value)
                if key in seen:
                    mapping[target] = seen[key]
                    continue
                seen[key] = target
            made.append(map_blocks(s, lambda inner, seen=seen: block(inner, seen, mapping)))
        return ir.Block(tuple(made), tuple(mapping.get(a, a) for a in b.yields))

    mapping: dict[ir.Atom, ir.Atom] = {}
    body = block(function.body, {}, mapping)
    made = ir.replace(function, body=body)
    return _substitute_all(made, mapping) if mapping else made


def _substitute_all(function: ir.Function, mapping: dict[ir.Atom, ir.Atom]) -> ir.Function:
    statements = tuple(substitute(s, mapping) for s in function.body.statements)
    return ir.replace(
        function, body=ir.Block(statements, tuple(mapping.get(a, a) for a in function.body.yields))
    )


def _map_own(s: ir.Statement, mapping: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    if isinstance(s, ir.Let):
        return substitute(s, mapping)
    return s


def map_blocks(s: ir.Statement, change: Any) -> ir.Statement:
    """A statement with the blocks directly inside it changed."""
    match s:
        case ir.If(then=then, orelse=orelse):
            return ir.replace(s, then=change(then), orelse=change(orelse))
        case ir.For(body=body):
            return ir.replace(s, body=change(body))
        case ir.While(body=body):
            return ir.replace(s, body=change(body))
        case _:
            return ir.with_blocks(s, map(change, ir.blocks_of(s)))


def _stored(function: ir.Function, context: Context) -> set[ir.Atom]:
    """What some statement changes in place, under every name that it may have."""
    found: set[ir.Atom] = set()
    for s in ir.walk(function.body):
        if isinstance(s, ir.Store):
            found.add(s.target)
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
            if _is_effect(s.value.fn.value) and not isinstance(s.value.args[0], ir.Star):
                found.add(s.value.args[0])
    if not found:
        return found
    memory = Memory(function, context.value)
    return {var for atom in found if isinstance(atom, ir.Var) for var in (*memory.same(atom), atom)}


_SHARED: set[Any] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.getitem, getattr, len, np.shape,
}


def _is_shareable(target: ir.Var, value: ir.Value, stored: set[ir.Atom]) -> bool:
    if target in stored or not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
        return False
    fn = value.fn.value
    try:
        known = fn in _SHARED or isinstance(fn, np.ufunc) or getattr(fn, "__module__", "") == "math"
    except TypeError:
        return False
    return known and not any(isinstance(a, ir.Star) or a in stored for a in value.args)


def _value_key(value: ir.Value) -> Any:
    assert isinstance(value, ir.Call)
    return (value.fn, value.args)


_AT = {operator.add: np.add.at, operator.sub: np.subtract.at}


def spell_stores(function: ir.Function) -> ir.Function:
    """The function with stores that add to an entry as often as it is named as calls of ``np.add.at``, and without the
    remarks that a call may change an array."""

    def block(b: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in b.statements:
            if isinstance(s, ir.Store) and s.kind == "opaque":
                continue
            if isinstance(s, ir.Store) and s.kind == "at":
                assert s.op is not None
                call = ir.Call(ir.Const(_AT[s.op]), (s.target, s.key, s.value))
                made.append(ir.Let(None, call, s.span))
            else:
                made.append(map_blocks(s, block))
        return ir.Block(tuple(made), b.yields)

    if not any(isinstance(s, ir.Store) and s.kind in ("at", "opaque") for s in ir.walk(function.body)):
        return function
    return ir.replace(function, body=block(function.body))


# --- copies ---------------------------------------------------------------------------------------------------------

_FRESH: set[Any] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul,
    np.zeros_like, np.full_like, np.copy, np.where,
}


_COPY = ir.Const(np.copy)


def drop_copies(function: ir.Function) -> ir.Function:
    """The function without ``np.copy`` of an array that was made for it: a fresh result that nothing else reads. Both
    are made equally often: a copy in a loop of what was made before it is a new one in each trip."""
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    if not any(isinstance(v, ir.Call) and v.fn == _COPY for v in made.values()):
        return function
    uses, loops = count_uses(function.body), _innermost_loops(function.body)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for target, value in made.items():
        if not isinstance(value, ir.Call) or value.fn != _COPY:
            continue
        source = value.args[0]
        if isinstance(source, ir.Var) and uses[source] == 1 and is_fresh(made.get(source)):
            if loops[source] == loops[target]:
                mapping[target] = source
    if not mapping:
        return function

    def block(b: ir.Block) -> ir.Block:
        kept = [s for s in b.statements if not (isinstance(s, ir.Let) and s.target in mapping)]
        return ir.Block(tuple(map_blocks(s, block) for s in kept), b.yields)

    resolved = {target: _follow(target, mapping) for target in mapping}
    return _substitute_all(ir.replace(function, body=block(function.body)), resolved)


def _innermost_loops(block: ir.Block, loop: int = 0) -> dict[ir.Var, int]:
    """For each variable that a ``Let`` defines, a number that tells the innermost loop around it from others."""
    found: dict[ir.Var, int] = {}
    for s in block.statements:
        if isinstance(s, ir.Let) and s.target is not None:
            found[s.target] = loop
        for inner in ir.blocks_of(s):
            found |= _innermost_loops(inner, id(s) if isinstance(s, (ir.For, ir.While)) else loop)
    return found


def is_fresh(value: ir.Value | None) -> bool:
    """Whether a value is an array that arithmetic made just now."""
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return False
    fn = value.fn.value
    try:
        return fn in _FRESH or isinstance(fn, np.ufunc)
    except TypeError:
        return False


def count_uses(block: ir.Block) -> Counter[ir.Atom]:
    """How often each atom is read in a block and in the blocks inside it."""
    found: Counter[ir.Atom] = Counter()

    def run(block: ir.Block) -> None:
        for atom in block.yields:
            found[atom] += 1
        for s in block.statements:
            for atom in ir.reads_of(s):
                found[atom] += 1
            if isinstance(s, (ir.For, ir.While)) and s.leave is not None:
                found[s.leave] += 1
            for inner in ir.blocks_of(s):
                run(inner)

    run(block)
    return found


# --- loops ----------------------------------------------------------------------------------------------------------


def drop_invariant(function: ir.Function) -> ir.Function:
    """The function with carried variables that no trip changes replaced by what they are before the loop."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        if isinstance(s, (ir.For, ir.While)):
            for c, following in zip(s.carried, s.body.yields, strict=True):
                if following in (c.param, c.init):
                    mapping[c.param] = mapping[c.result] = c.init
    if not mapping:
        return function
    resolved: dict[ir.Atom, ir.Atom] = {k: _follow(k, mapping) for k in mapping}
    return _substitute_all(ir.replace(function, body=_without(function.body, set(mapping))), resolved)


def _follow(atom: ir.Atom, mapping: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    while atom in mapping:
        atom = mapping[atom]
    return atom


def _without(block: ir.Block, gone: set[ir.Atom]) -> ir.Block:
    made = []
    for s in block.statements:
        s = map_blocks(s, lambda inner: _without(inner, gone))
        if isinstance(s, (ir.For, ir.While)):
            keep = [k for k, c in enumerate(s.carried) if c.param not in gone]
            body = ir.Block(s.body.statements, tuple(s.body.yields[k] for k in keep))
            s = ir.replace(s, body=body, carried=tuple(s.carried[k] for k in keep))
        made.append(s)
    return ir.Block(tuple(made), block.yields)


# --- looks ----------------------------------------------------------------------------------------------------------


def drop_empty_sections(function: ir.Function) -> ir.Function:
    """The function without the title of a sweep that has no statement."""
    made: list[ir.Statement] = []
    for s in function.body.statements:
        if isinstance(s, ir.Note) and made and isinstance(made[-1], ir.Note) and s.section and made[-1].section:
            made.pop()
        made.append(s)
    return ir.replace(function, body=ir.Block(tuple(made), function.body.yields))


def name_unused_items(function: ir.Function) -> ir.Function:
    """The function with the item of a loop called ``_`` where nothing reads it."""
    read = count_uses(function.body)
    versions = [s.item.version for s in ir.walk(function.body) if isinstance(s, ir.For)]
    fresh = itertools.count(1 + max(versions, default=0))
    captured = {a for s in ir.walk(function.body) if isinstance(s, ir.Let) for a in ir.atoms_of(s.value)}

    def block(b: ir.Block) -> ir.Block:
        made = []
        for s in b.statements:
            s = map_blocks(s, block)
            if isinstance(s, ir.For) and not read[s.item] and s.item not in captured:
                s = ir.replace(s, item=ir.Var("_", next(fresh)))
            made.append(s)
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def _joined_with_arrays(function: ir.Function, context: Context) -> set[ir.Var]:
    """The joins of paths that may give an array: one without dimensions stands for a number, as ``np.where`` makes it,
    and may have other names."""
    found: set[ir.Var] = set()

    def may_be_array(atom: ir.Atom) -> bool:
        return isinstance(atom, ir.Var) and (atom in found or isinstance(context.value(atom), Array))

    before = -1
    while len(found) != before:
        before = len(found)
        for s in ir.walk(function.body):
            match s:
                case ir.Let(ir.Var() as target, ir.Var() as source) if may_be_array(source):
                    found.add(target)
                case ir.If(results=results) | ir.Try(results=results):
                    rows = zip(results, *(side.yields for side in ir.sides_of(s)), strict=True)
                    found.update(result for result, *given in rows if any(map(may_be_array, given)))
                case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                    for c, following in zip(carried, body.yields, strict=True):
                        if may_be_array(c.init) or may_be_array(following):
                            found.update((c.param, c.result))
                case _:
                    pass
    return found


def accumulate(function: ir.Function, context: Context) -> ir.Function:
    """The function with ``x_bar = x_bar + c`` as ``x_bar += c``, where ``x_bar`` is a number, or an array that the
    reverse sweep made itself and that nothing else reads."""
    uses = count_uses(function.body)
    captured = {a for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction)
                for a in s.value.captures}
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    carried = {c.param for s in ir.walk(function.body) if isinstance(s, (ir.For, ir.While)) for c in s.carried}
    arrays = _joined_with_arrays(function, context)

    def is_own(old: ir.Var, new: ir.Var, change: Any) -> bool:
        known = context.value(old)
        if is_number(known) and is_number(context.value(new)):
            return old not in arrays
        same = isinstance(known, Array) and known == context.value(new) and bool(known.shape)
        return same and uses[old] == 1 and old not in captured and old not in carried and is_fresh(made.get(old))

    def change(s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(ir.Var() as new, ir.Call(ir.Const(value=fn), (ir.Var() as old, other), ()), span) if (
                fn in (operator.add, operator.sub) and old.name == new.name and new.name.endswith("_bar")
                and is_own(old, new, other)
            ):
                in_place = operator.iadd if fn is operator.add else operator.isub
                return ir.Let(new, ir.Call(ir.Const(in_place), (old, other)), span)
            case _:
                return map_blocks(s, lambda b: ir.Block(tuple(map(change, b.statements)), b.yields))

    return ir.replace(function, body=ir.Block(tuple(map(change, function.body.statements)), function.body.yields))
