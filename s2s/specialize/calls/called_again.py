"""Functions that a solver calls as often as it likes: what they have captured and change.

    F = np.empty(2)                     found, F_1 = undone((F,), fsolve, residual, ...)        leaves F as it was
    def residual(p):                    check_repeats(residual, found, x, F, x, F_1)
        F[0] = p[0] ** 2 - x[0]         u = solved(residual, None, found, x, F)                 on a copy of F
        F[1] = p[1] ** 3 - x[1]
        return F

A solution is differentiated by one further call of the residual, which no program makes: it works on copies. It finds
what the residual found when the solver began, of which the derivatives are known. So it must not matter what earlier
calls have left. Of lists, dicts and objects that is seen here: the function is specialised again with values of which
nothing is known in the places that it changes, until they are all, and its result may depend on none of them. Of
arrays it is tested when the program runs.

What the solver's calls leave depends on how it searches, and has no derivative. Nothing may read it afterwards but
these functions themselves: containers are unknown (``virtual_heap.LEFT_BY_SOLVER``), and behind each solver stands a
store, a mark that is dropped when the function is specialised, and refused where something reads the array after it.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import join, join_all, widen_known
from s2s.analysis.functions import facts
from s2s.analysis.liveness import Liveness
from s2s.analysis.memory import changed_by, shared_from, shared_with
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.states import State
from s2s.builder.virtual_heap import LEFT_BY_SOLVER, Cell, Heap, cell_of
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.values import UNKNOWN, AbstractValue, Array, ListOf, Scalar
from s2s.errors import DifferentiationError, error
from s2s.models.solutions import undone as undone_at_run_time
from s2s.optimize.rewriting import free_variables, substitute
from s2s.specialize.heap.joins import changed_cells

if TYPE_CHECKING:
    from s2s.builder.builder import Builder
    from s2s.specialize.specializer import Specializer

__all__ = [
    "Left", "checked_after", "end", "entry", "hide", "may_change", "may_have_changed", "may_share", "note_entries",
    "on_copies", "readable", "repeated", "undone",
]

_RUNS = 5
"""How often a function is specialised at most until nothing is known any more of what it changes."""


Left = dict[Cell, dict[Any, AbstractValue] | None]
"""What a function changes of containers and objects that were there before, by their keys, with what is known of it;
None for all that they hold."""


def repeated(
    specializer: Specializer, primal: Callable[[], ir.Function], span: ir.Span | None
) -> tuple[ir.Function, Left]:
    """Specialise a function for any of its calls, and say what it changes. Raise UnsupportedSyntaxError where its
    result depends on what an earlier call has left."""
    context = specializer.context
    reached, active = len(context.reached), set(context.sharing.active)
    start, made_up = readable(context), dict[ir.Var, Cell]()
    first, changed = start, list[Cell]()
    for _ in range(_RUNS):
        context.heap = start
        made, end = primal(), context.heap
        del context.reached[reached:]  # of copies: the arrays outside stay as they are
        context.sharing.active = set(active)
        changed = changed_cells(start, end)
        following = start.copy()
        for cell in changed:
            following.states[cell] = _widened(context, cell, start, end, made_up, span)
        if all(following.peek(cell) is start.peek(cell) for cell in changed):
            for param in made.params:
                if param.var in made_up:
                    raise _refused(made_up[param.var], span)
            return made, {
                **{c: None for c, label in end.unknown.items() if label == LEFT_BY_SOLVER},
                **{c: _changed_items(context, first.peek(c), end, c) for c in changed}}
        start = following
    raise _refused(changed[0], span)


def _changed_items(context: Context, before: State, end: Heap, cell: Cell) -> dict[Any, AbstractValue] | None:
    """What is known of what was changed in a container or object, by key; None where it may be another number of items.
    """
    after = end.peek(cell)
    has_keys = before.whole is None and after.whole is None and not before.borrowed
    if not has_keys or (before.keys != after.keys and not virtual_heap.is_instance(before)):
        return None
    return {k: _value(context, a) for k, a in after.entries().items() if before.find(k) != a}


def hide(context: Context, left: Left) -> None:
    """Refuse to read what calls by a solver have left in containers and objects."""
    heap = context.heap
    for cell, keys in left.items():
        if cell not in heap.states:
            continue
        if keys is None:
            heap.unknown.setdefault(cell, LEFT_BY_SOLVER)
            continue
        for key, known in keys.items():
            before = heap.peek(cell).find(key)
            if before is None or _before(context, before) is None:
                made = _left(context, cell, key, ir.UNDEFINED if before is None else before)
                made.after = known
                heap.states[cell] = heap.peek(cell).with_entry(key, made.var)


def _left(context: Context, cell: Cell, key: Any, before: ir.Atom) -> Cell:
    """What stands for what calls by a solver have left at a key."""
    if (key, before) not in cell.left:
        name = f"{cell.name}.{key}" if isinstance(key, str) else cell.name
        cell.left[key, before] = virtual_heap.make_cell(context, None, name, cell.span)
        cell.left[key, before].before = before
    return cell.left[key, before]


def _before(context: Context, atom: ir.Atom) -> ir.Atom | None:
    """What was there before, of what a solver's calls have left."""
    cell = cell_of(context, atom)
    return None if cell is None else cell.before


def readable(context: Context) -> Heap:
    """The heap as a function that solvers call may read it."""
    heap = context.heap
    made = heap.copy()
    made.unknown = {cell: label for cell, label in heap.unknown.items() if label != LEFT_BY_SOLVER}
    for cell, state in heap.states.items():
        if cell.left and state.whole is None:
            entries = {k: _before(context, a) or a for k, a in state.entries().items()}
            made.states[cell] = state.with_entries({k: a for k, a in entries.items() if a != ir.UNDEFINED})
            for key in [k for k, a in entries.items() if a == ir.UNDEFINED]:
                made.states[cell] = made.states[cell].decided(key, False)
    return made


def _refused(cell: Cell, span: ir.Span | None) -> DifferentiationError:
    return error("S2S144", span=cell.changed_at or span, name=cell.name)


def _widened(
    context: Context, cell: Cell, start: Heap, end: Heap, made_up: dict[ir.Var, Cell], span: ir.Span | None
) -> State:
    """What a container or object may hold when any of the calls begins."""
    before, after = start.peek(cell), end.peek(cell)
    if cell.origin is not None or before.kind is not after.kind or before.extra is not None:
        raise _refused(cell, span)

    def anything(known: AbstractValue, *atoms: ir.Atom) -> ir.Var:
        var = context.define(cell.name or "left", known, any(map(context.is_varied, atoms)))
        made_up[var] = cell
        return var

    def either(first: ir.Atom, second: ir.Atom) -> ir.Atom:
        if first == second:
            return first
        values = _value(context, first), _value(context, second)
        known = widen_known(join(*values, context.evaluator.facts))
        is_more = not _is_within(known, values[0]) or context.is_varied(second) > context.is_varied(first)
        return anything(known, first, second) if is_more or first not in made_up else first

    if before.whole is None and after.whole is None and before.keys == after.keys and not before.borrowed:
        items = [either(a, b) for a, b in zip(before.items, after.items, strict=True)]
        return before if items == list(before.items) else before.with_atoms(items, None)
    if before.kind is list:
        items = [*before.items, *after.items]
        known = [_value(context, a) for a in before.items] + [_value(context, a) for a in after.items]
        known += [v for a in (before.whole, after.whole) if a is not None for v in _items_of(context.value(a))]
        item = join_all(known, context.evaluator.facts) if known else UNKNOWN
        wholes = [a for a in (before.whole, after.whole) if a is not None]
        if before.whole in made_up and _is_within(ListOf(item), context.value(before.whole)):
            return before
        return before.with_whole(anything(ListOf(item), *items, *wholes))
    if virtual_heap.is_instance(before) and not before.lacks and not after.lacks:
        entries, found = before.entries(), after.entries()
        if entries.keys() <= found.keys():
            made = {k: either(a, found[k]) for k, a in entries.items()}
            added = {k: anything(_value(context, a), a) for k, a in found.items() if k not in entries}
            lacks = {k: anything(Scalar(bool)) for k in added}
            return State(before.kind, (*made, *added), (*made.values(), *added.values()), None, before.borrowed,
                         before.extra, lacks)
    if virtual_heap.is_instance(before) and before.lacks and before.keys == after.keys:
        items = [either(a, b) for a, b in zip(before.items, after.items, strict=True)]
        return before if items == list(before.items) else before.with_atoms(items, None)
    raise _refused(cell, span)


def _is_within(found: AbstractValue, known: AbstractValue) -> bool:
    """Whether a value of which lengths are not known is one of those that another stands for."""
    match found, known:
        case Array(dtype, shape), Array(other, lengths) if shape and lengths:
            is_alike = dtype == other and len(shape) == len(lengths)
            return is_alike and all(a == b or b.symbol.startswith("?~") for a, b in zip(shape, lengths, strict=True))
        case ListOf(item), ListOf(other_item):
            return _is_within(item, other_item)
    return found == known


def _items_of(known: AbstractValue) -> list[AbstractValue]:
    return [known.item] if isinstance(known, ListOf) else [UNKNOWN]


def _value(context: Context, atom: ir.Atom) -> AbstractValue:
    """What is known of an item."""
    cell = cell_of(context, atom)
    return widen_known(context.value(atom)) if cell is None else cell.after


# --- what may change something ----------------------------------------------------------------------------------------


def may_change(context: Context, atom: ir.Atom) -> bool:
    """Whether a nested function, or one that was made of it, may change something that it has captured."""
    closures, objects = _reached(context, atom)
    cells, arrays = _may_have_changed(context, closures)
    return bool(objects or cells or arrays)


def may_have_changed(context: Context, atom: ir.Atom) -> tuple[list[Cell], list[ir.Var]]:
    """The containers and objects, and the arrays, that a nested function may have changed which was called."""
    closures, objects = _reached(context, atom)
    cells, arrays = _may_have_changed(context, closures)
    return [*cells, *objects], arrays


def _may_have_changed(context: Context, closures: list[Closure]) -> tuple[list[Cell], list[ir.Var]]:
    given = dict.fromkeys(a for closure in closures for a in _changed_by_closure(closure, True))
    arrays = dict.fromkeys(a for closure in closures for a in _changed_by_closure(closure, False))
    cells = [cell for a in given if (cell := cell_of(context, a)) is not None]
    return cells, [a for a in arrays if isinstance(a, ir.Var) and isinstance(context.value(a), Array)]


def _reached(context: Context, atom: ir.Atom) -> tuple[list[Closure], list[Cell]]:
    """The nested functions that a function is or calls, and the objects of which it is a method."""
    closures, objects = list[Closure](), list[Cell]()
    todo, seen = [atom], set[ir.Atom]()
    while todo:
        atom = todo.pop()
        if not isinstance(atom, ir.Var) or atom in seen:
            continue
        seen.add(atom)
        value, made, cell = context.value(atom), context.definitions.get(atom), cell_of(context, atom)
        if isinstance(value, Closure):
            closures.append(value)
            todo += [a for a in value.captures if cell_of(context, a) is None]
        elif cell is not None and virtual_heap.is_instance(context.heap.peek(cell)):
            objects.append(cell)
        elif isinstance(made, ir.Call):
            todo += [a.atom if isinstance(a, ir.Star) else a for a in ir.atoms_of(made)]
    return closures, objects


def _changed_by_closure(closure: Closure, or_gives: bool) -> list[ir.Atom]:
    """What a nested function may change of what it has captured itself, as its text says, or gives to others that may.
    """
    captured: dict[ir.Atom, ir.Atom] = dict(zip(closure.function.captures, closure.captures, strict=True))
    return [captured[var] for var in _changed_by_text(closure.function, or_gives) if var in captured]


def _changed_by_text(function: ir.Function, or_gives: bool) -> set[ir.Atom]:
    """The variables that a function may change, or of which it may change a part, before anything is known of it."""
    made: dict[ir.Atom, list[ir.Atom]] = {}
    changed = set[ir.Atom]()
    for s in ir.walk(function.body):
        for variables, joined in ir.joins_of(s):
            for var in variables:
                made.setdefault(var, []).extend(joined)
        match s:
            case ir.Store(target=target):
                changed.add(target)
            case ir.Let(target, ir.MakeFunction(inner, captures)):
                of: dict[ir.Atom, ir.Atom] = dict(zip(inner.captures, captures, strict=True))
                changed |= {of[var] for var in _changed_by_text(inner, or_gives) if var in of}
            case ir.Let(ir.Var() as target, ir.Var() as value):
                made[target] = [value]
            case ir.Let(target, ir.Call(fn, args, kwargs)):
                if fn in _READS and target is not None:
                    made[target] = [args[0]]  # type: ignore[list-item]
                    if fn == _READS[0] and isinstance(args[1], ir.Const) and args[1].value in _CHANGING:
                        changed.add(args[0])  # type: ignore[arg-type]
                elif or_gives and not isinstance(fn, ir.Const):
                    given = (*args, *(value for _, value in kwargs))
                    changed |= {fn, *(a.atom if isinstance(a, ir.Star) else a for a in given)}
                else:
                    changed |= {value for key, value in kwargs if key == "out"}
    return _closure(changed, made)


_READS = (ir.Const(getattr), ir.Const(operator.getitem))
_CHANGING = frozenset(
    name for kind in (list, dict, set, collections.deque, np.ndarray) for name in vars(kind)
    if not name.startswith("_") and callable(vars(kind)[name]) and facts(vars(kind)[name]).changes)
"""The names of methods that may change what they are methods of."""


# --- arrays -----------------------------------------------------------------------------------------------------------


def on_copies(
    specializer: Specializer, whole: ir.Function, primal: ir.Function, span: ir.Span | None
) -> tuple[ir.Function, list[ir.Var]]:
    """The function on copies of the arrays that it has captured and changes, and these arrays. ``whole`` is the
    function with what nothing reads. Raise UnsupportedSyntaxError where it is not known which arrays it changes."""
    context = specializer.context
    stored = {changed_by(s) for s in ir.walk(whole.body) if not isinstance(s, ir.Store) or s.kind != "opaque"}
    targets: set[ir.Atom] = {a for a in stored if isinstance(a, ir.Var)}
    if not targets:
        return primal, []
    held = _Held(whole, specializer)
    behind = held.behind(targets)
    free = list(free_variables(whole))
    changed = [v for v in free if v in behind]
    for var in changed:
        holders = [v for v in free if not isinstance(context.value(v), Array) and var in _sources(context, v)[0]]
        if holders or not isinstance(context.value(var), Array):  # they would hold the array itself
            raise error("S2S144", span=span, name=var.name.lstrip("%") or "an array")
    read = set(free_variables(primal))
    mapping: dict[ir.Atom, ir.Atom] = {}
    copies: list[ir.Statement] = []
    for var in changed:
        if var in read:
            call = ir.Call(ir.Const(np.copy), (var,))
            mapping[var] = context.define(var.name, context.value(var), context.is_varied(var), call)
            copies.append(ir.Let(mapping[var], call, span))  # type: ignore[arg-type]
    body = [substitute(s, mapping) for s in primal.body.statements]
    yields = tuple(mapping.get(a, a) for a in primal.body.yields)
    return ir.replace(primal, body=ir.Block((*copies, *body), yields)), changed


def may_share(context: Context, first: ir.Var, second: ir.Var) -> bool:
    """Whether two arrays are not certainly apart, as they are made."""
    (made, places), (others, more) = _sources(context, first), _sources(context, second)
    return not made.isdisjoint(others) or None in (*places, *more) or (bool(places) and bool(more))


def _sources(context: Context, var: ir.Var) -> tuple[set[ir.Var], set[ir.Var | None]]:
    """The variables whose memory an array or a function may share, and the parameters among them; None where it may be
    any."""
    found, params, todo = set[ir.Var](), set[ir.Var | None](), [var]
    while todo:
        var = todo.pop()
        if var in found:
            continue
        found.add(var)
        made, joined = context.definitions.get(var), context.joins.get(var, [])
        given = [*joined, *(() if made is None else shared_with(made, context.value(var), context.value))]
        if made is None and not joined:
            params.add(var)
        elif isinstance(made, ir.Load) or not all(isinstance(context.value(v), Array) for v in given):
            params.add(None)
        todo += given
    return found, params


_END = ir.Const(object())
"""What the mark of the end of a solver stores."""


def undone(specializer: Specializer, builder: Builder, call: ir.Let, changed: list[ir.Var]) -> dict[ir.Var, ir.Atom]:
    """Write the call of a solver so that it leaves arrays as they were; what it would have left in them."""
    context, value = specializer.context, call.value
    assert isinstance(value, ir.Call)
    arrays = builder.call(ops.make_tuple, *changed, name="changed", span=call.span)
    given = ir.Call(ir.Const(undone_at_run_time), (arrays, *value.args), value.kwargs)
    both = builder.let(given, UNKNOWN, "both", call.span, False)
    specializer.entries |= {arrays, both}  # type: ignore[arg-type]

    def part(k: int) -> ir.Call:
        return ir.Call(ir.Const(operator.getitem), (both, ir.Const(k)))

    builder.add(ir.Let(call.target, part(0), call.span))
    if call.target is not None:
        context.definitions[call.target] = part(0)
    after: dict[ir.Var, ir.Atom] = {
        v: builder.let(part(k), context.value(v), v.name, call.span, False) for k, v in enumerate(changed, 1)}
    specializer.solvers[both] = after
    return after


def entry(specializer: Specializer, builder: Builder, array: ir.Var, span: ir.Span | None) -> ir.Atom:
    """An array as the function finds it that a solver calls."""
    made = builder.call(np.copy, array, name=array.name, span=span)
    specializer.entries.add(made)  # type: ignore[arg-type]
    return made


def note_entries(specializer: Specializer, builder: Builder, start: int, changed: list[ir.Var]) -> None:
    """Note the copies of arrays with which a function begins that was written into a block."""
    for s in builder.statements[start:] if changed else ():
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(np.copy):
            if s.value.args[0] in changed:
                specializer.entries.add(s.target)  # type: ignore[arg-type]


def end(array: ir.Var, span: ir.Span | None) -> ir.Store:
    """The mark that stands for what the calls of a solver have left in an array."""
    return ir.Store("whole", array, ir.Const(None), _END, None, span)


def checked_after(function: ir.Function, specializer: Specializer) -> ir.Function:
    """The function without marks. Raise UnsupportedSyntaxError where it reads what a solver's calls have left."""
    marks = [s for s in ir.walk(function.body) if isinstance(s, ir.Store) and _is_end(s)]
    if not marks:
        return function
    held = _Held(function, specializer)
    for s in marks:
        if held.is_read_after(s):
            name = s.target.name.lstrip("%") if isinstance(s.target, ir.Var) else ""
            raise error("S2S132", span=s.span, name=name or "an array", label=LEFT_BY_SOLVER)
    return ir.replace(function, body=_without_marks(function.body))


class _Held:
    """Where the memory of arrays is held in a function, and where it is read."""

    def __init__(self, function: ir.Function, specializer: Specializer) -> None:
        self.function, self.entries = function, specializer.entries
        self.given: dict[ir.Atom, list[ir.Var]] = {}
        """For each variable, those that may share its memory as they are made of it or hold it."""
        self.made: dict[ir.Atom, list[ir.Atom]] = {}
        for s in ir.walk(function.body):
            pairs = [(var, others) for var, others in shared_from(s, specializer.context.value)]
            pairs += [(var, given) for variables, given in ir.joins_of(s) for var in variables]  # type: ignore[misc]
            for var, others in pairs:
                for other in others:
                    self.given.setdefault(other, []).append(var)
                    self.made.setdefault(var, []).append(other)

    def behind(self, arrays: set[ir.Atom]) -> set[ir.Atom]:
        """What some arrays may be views of, or were taken out of."""
        return _closure(arrays, self.made)

    def is_read_after(self, mark: ir.Store) -> bool:
        """Whether something reads the memory of an array after a mark, the solvers apart whose functions change it."""
        held = _closure(self.behind({mark.target}), self.given)
        live = Liveness(self.function, [v for v in held if isinstance(v, ir.Var)], self._reads)
        return bool(live.after[id(mark)])

    def _reads(self, s: ir.Statement) -> Iterable[ir.Atom]:
        if _is_end(s):
            return ()
        if isinstance(s, ir.Let):
            only_holds = isinstance(s.value, (ir.Var, ir.MakeFunction)) or (
                isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const) and not facts(s.value.fn.value).looks)
            if s.target in self.entries or only_holds:
                return ()
        return ir.reads_of(s)


def _closure(atoms: set[ir.Atom], following: Mapping[ir.Atom, Iterable[ir.Atom]]) -> set[ir.Atom]:
    found, todo = set[ir.Atom](), [*atoms]
    while todo:
        atom = todo.pop()
        if atom not in found:
            found.add(atom)
            todo += following.get(atom, ())
    return found


def _is_end(s: ir.Statement) -> bool:
    return isinstance(s, ir.Store) and s.value == _END


def _without_marks(block: ir.Block) -> ir.Block:
    left = [s for s in block.statements if not _is_end(s)]
    return ir.Block(
        tuple(ir.with_blocks(s, [_without_marks(b) for b in ir.blocks_of(s)]) for s in left), block.yields)
