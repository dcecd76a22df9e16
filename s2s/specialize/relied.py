"""What a version relies on, checked again where a call that nobody has read may have changed it.

    reg.step()                                  reg.step()
    if MODE == "train":                 ->      rt.check_option(MODE, "train", "MODE")
        y = np.exp(x)                           y = np.exp(x)

The dispatch asks before a call whether what is folded into a version still holds. A function that runs such calls is
specialised once more, so that each fact is also checked where it is taken, right before the code that relies on it;
what no such call comes before is not (``drop_sure``). What is no number and no text is compared with what the function
found when it began.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.effects import CHECKS_OF_RELIED
from s2s.analysis.steps.packages import package_of_file
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import Cell, holds_mutable, is_instance
from s2s.core import ir
from s2s.core.values import UNKNOWN, AbstractValue, DictOf, ListOf, Ref
from s2s.specialize.heap.live_objects import Place
from s2s.specialize.unknown_effects import is_plain, may_change_containers
from s2s.versions.paths import loaded
from s2s.versions.rechecks import Recheck, recheck, spelled

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Relied", "drop_sure", "is_to_be_checked"]

_CHECKS = frozenset(CHECKS_OF_RELIED)
_ITEM = ir.Const(operator.getitem)


def is_to_be_checked(function: ir.Function, specializer: Specializer) -> bool:
    """Whether a function runs calls that nobody has read, and relies on what these might change."""
    context = specializer.context
    asked = any(is_asked(found, specializer) for guard in specializer.guards if (found := recheck(guard)) is not None)
    asked = asked or any(
        _is_container(known.cell) if isinstance(known, Ref) else may_grow(known) and is_from_outside(var, context)
        for var, known in context.values.items())
    return asked and any(may_change_containers(s, context) for s in ir.walk(function.body))


def is_from_outside(var: ir.Var, context: Context) -> bool:
    """Whether a variable is an argument, or was read from outside of the function."""
    made = context.definitions.get(var)
    return var in context.foreign or made is None or isinstance(made, ir.Load)


def may_grow(value: AbstractValue) -> bool:
    """Whether a value is a list or dict, or holds one."""
    return isinstance(value, (ListOf, DictOf)) or holds_mutable(value)


def _is_container(cell: Cell) -> bool:
    """Whether a cell stands for a container that was there before."""
    return cell.origin is not None and not is_instance(cell.origin.state)


def is_asked(found: Recheck, specializer: Specializer) -> bool:
    """Whether something may be another one after a call: functions of libraries, and of what is installed, stay."""
    fn = found.definition
    return fn is None or (specializer.is_own(fn) and package_of_file(fn.__code__.co_filename) is None)


class Relied:
    """Writes the checks while a function is specialised; told of each fact that is taken (``Guards.told``)."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.builder: Builder | None = None
        """Where statements are written at this time."""
        self.start = 0
        """How many statements read parts of arguments before the function begins."""
        self.params: dict[str, ir.Atom] = {}
        self.before: dict[Any, tuple[ir.Var, Place, bool]] = {}
        """What is read when the function begins: by what it is about, the variable, the place, and whether it is the
        kind that is kept."""
        self.names: dict[str, Any] = {}
        self.found: dict[ir.Var, Place] = {}
        """The variables that refer to containers which are read as a whole, and where each was."""
        self.last: dict[Any, ir.Let] = {}
        """The last check of what a container holds."""

    @contextlib.contextmanager
    def writing(self, builder: Builder) -> Iterator[None]:
        """While statements are written into a builder."""
        outer, self.builder = self.builder, builder
        try:
            yield
        finally:
            self.builder = outer

    def note(self, guard: Any) -> None:
        """A fact is taken."""
        asked, builder = recheck(guard), self.builder
        if builder is not None and asked is not None and is_asked(asked, self.specializer):
            before = len(builder.statements)
            check, *args = self._check(builder, asked)
            self._note_reads(builder.statements[before:])
            builder.add(ir.Let(None, ir.Call(ir.Const(check), (*args, ir.Const(self._name(asked))))))

    def add(self, cell: Cell) -> None:
        """The program reads what a container holds that was there before: what is known of it was so at first."""
        builder, origin = self.builder, cell.origin
        if builder is None or origin is None or not _is_container(cell) or self._is_just_checked(cell):
            return
        place = self.specializer.live_objects.places.get(cell)
        if place is None and origin.root is not None:
            place = Place("argument", origin.path, None, origin.root)
        if place is not None:
            before = len(builder.statements)
            read = self.specializer.live_objects.read_at(builder, place)
            self._note_reads(builder.statements[before:])
            self._check_kind(cell, read, place)

    def opened(self, var: ir.Atom, place: Place) -> None:
        """A variable refers to a container that was there before, and that is read as a whole."""
        if isinstance(var, ir.Var) and may_grow(self.specializer.context.value(var)):
            self.found[var] = place

    def used(self, atom: ir.Atom) -> None:
        """A value is used, which may be such a container, or a part of one."""
        todo, seen = [atom], set[ir.Atom]()
        while self.found and self.builder is not None and todo:
            atom = todo.pop()
            if not isinstance(atom, ir.Var) or atom in seen or not may_grow(self.specializer.context.value(atom)):
                continue
            seen.add(atom)
            if atom in self.found and not self._is_just_checked(atom):
                self._check_kind(atom, atom, self.found[atom])
            made = self.specializer.context.definitions.get(atom)
            todo += made.args[:1] if isinstance(made, ir.Call) and made.fn == _ITEM else ()  # type: ignore[arg-type]
            todo += self.specializer.context.joins.get(atom, ())

    def used_again(self, iterable: ir.Atom, cells: Iterable[Cell]) -> None:
        """Another iteration of a loop reads what it runs over: ``cells``, or what the iterable was made of."""
        for cell in cells:
            self.add(cell)
        made = self.specializer.context.definitions.get(iterable) if isinstance(iterable, ir.Var) else None
        for atom in ir.atoms_of(made) if made is not None else ():
            self.used(atom)

    def _is_just_checked(self, subject: Any) -> bool:
        assert self.builder is not None
        return bool(self.builder.statements) and self.builder.statements[-1] is self.last.get(subject)

    def _check_kind(self, subject: Any, read: ir.Atom, place: Place) -> None:
        assert self.builder is not None
        asked = Recheck("kind", (place.site,), None, spelled(place.root, place.path))
        args = read, self._at_first(asked.subject, place, True), ir.Const(self._name(asked))
        self.last[subject] = ir.Let(None, ir.Call(ir.Const(rt.check_kind), args))
        self.builder.add(self.last[subject])

    def _note_reads(self, statements: list[ir.Statement]) -> None:
        """These read what is checked, and nothing else reads what they give."""
        self.specializer.context.checked |= {s.target for s in statements if isinstance(s, ir.Let)}  # type: ignore[misc]

    def _check(self, builder: Builder, asked: Recheck) -> tuple[Any, ...]:
        """A function that checks, and what it is given but for the name."""
        found = asked.found
        if asked.kind == "loaded":
            module = builder.let(ir.Call(ir.Const(loaded), (ir.Const(found[0]),)), UNKNOWN)
            return rt.check_option, module, ir.Const(found[1])
        places = [*map(self._place, asked.sites)]
        read = [self.specializer.live_objects.read_at(builder, place) for place in places]
        match asked.kind:
            case "alias":
                return rt.check_alias, *read, ir.Const(found)
            case "attribute":
                return rt.check_attribute, *read, *map(ir.Const, found)
            case "shadow":
                return rt.check_unshadowed, *read, ir.Const(found)
            case "names":
                return rt.check_names, *read, ir.Const(found)
            case "among":
                is_there = builder.let(ir.Call(ir.Const(operator.contains), (*read, ir.Const(found[0]))), UNKNOWN)
                return rt.check_option, is_there, ir.Const(found[1])
            case "option":
                return rt.check_option, *read, ir.Const(found)
            case "first":
                return rt.check_option, *read, self._at_first(asked.subject, places[0], False)
        return rt.check_kind, *read, self._at_first(asked.subject, places[0], True)

    def _place(self, site: Any) -> Place:
        root, path, owner = site
        return Place(root, path, owner, self.params.get(path[0]) if root == "argument" else None)

    def _at_first(self, subject: Any, place: Place, is_kind: bool) -> ir.Var:
        """What is at a place when the function begins, or its kind."""
        key = subject, is_kind
        if key not in self.before:
            last = next((step for step in reversed(place.path) if isinstance(step, str)), "value")
            var = self.specializer.context.define(f"{last}_kind" if is_kind else f"{last}_before", UNKNOWN)
            self.specializer.context.relied.add(var)
            self.before[key] = var, place, is_kind
        return self.before[key][0]

    def _name(self, asked: Recheck) -> str:
        """What a message calls a place; another name for each."""
        name, count = asked.name, 1
        while self.names.setdefault(name, asked.subject) != asked.subject:
            count += 1
            name = f"{asked.name} ({count})"
        return name

    def begin(self, builder: Builder) -> None:
        """Write what is read when the function begins in front of it. Bodies of rules, which are specialised later, are
        not checked."""
        self.specializer.guards.told = None
        child, live = builder.child(), self.specializer.live_objects
        for var, place, is_kind in self.before.values():
            found = live.read_at(child, place)
            value = ir.Call(ir.Const(rt.kind_of), (found,)) if is_kind else found
            child.add(ir.Let(var, value))
            self.specializer.context.definitions[var] = value
        self._note_reads(child.statements)
        builder.statements[self.start : self.start] = child.statements


# --- afterwards -------------------------------------------------------------------------------------------------------


def drop_sure(function: ir.Function, context: Context, is_inner: bool) -> ir.Function:
    """The function without the checks that no call comes before which nobody has read, or comes after such a check; and
    without what was read for them. Before an inner one, anything may have run."""
    walk = _Sure(context)
    body, _ = walk.block(function.body, frozenset() if is_inner else None)
    needed = {a for s in ir.walk(body) for a in _needed(s)}
    unneeded = walk.unneeded if is_inner else [*walk.unneeded, *(context.relied - needed)]
    read = set[ir.Atom]()
    for var in unneeded:
        _add_reads(read, var, context)
    body = _without(body, read)
    return ir.replace(function, body=body if is_inner else _with_unreached(body, function, context))


def _with_unreached(body: ir.Block, function: ir.Function, context: Context) -> ir.Block:
    """The block with checks in front that no argument reaches what it checks for changes, arguments that are read part
    by part among that."""
    params, made = [p.var for p in function.params], list[ir.Statement]()
    others = [p for p in params if not is_plain(p, context)]
    statements = [*ir.walk(body)] if others else []
    checks = [s.value.args[0] for s in statements if _called(s) is rt.check_kind]  # type: ignore[union-attr]
    is_read = context.inputs and any(may_change_containers(s, context) for s in statements)
    for root in dict.fromkeys([*(_root(a, context) for a in checks), *(var for var, _ in context.inputs if is_read)]):
        read = context.definitions.get(root) if isinstance(root, ir.Var) else None
        if isinstance(read, ir.Load):
            root = context.define(read.name, UNKNOWN, False, read)
            made.append(ir.Let(root, read))
        if isinstance(root, ir.Var) and (root in params or isinstance(read, ir.Load)):
            rest = (p for p in others if p != root)
            made.append(ir.Let(None, ir.Call(ir.Const(rt.check_unreached), (root, ir.Const(root.name), *rest))))
    return ir.Block((*made, *body.statements), body.yields)


def _called(s: ir.Statement) -> Any:
    call = s.value if isinstance(s, ir.Let) else None
    return call.fn.value if isinstance(call, ir.Call) and isinstance(call.fn, ir.Const) else None


def _root(atom: ir.Atom | ir.Star, context: Context) -> ir.Atom | ir.Star:
    """What an item or attribute was read from, or an item of it."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    is_part = isinstance(made, ir.Call) and made.fn in (_ITEM, ir.Const(getattr))
    return _root(made.args[0], context) if is_part else atom  # type: ignore[union-attr]


def _add_reads(read: set[ir.Atom], atom: ir.Atom, context: Context) -> None:
    """Add the variables that were made for a check: the way to a place."""
    if not isinstance(atom, ir.Var) or atom not in context.checked:
        return
    read.add(atom)
    made = context.definitions.get(atom)
    for of in ir.atoms_of(made) if made is not None else ():
        _add_reads(read, of, context)


def _without(block: ir.Block, read: set[ir.Atom]) -> ir.Block:
    left = (s for s in block.statements if not (isinstance(s, ir.Let) and s.target in read))
    made = (ir.with_blocks(s, [_without(inner, read) for inner in ir.blocks_of(s)]) for s in left)
    return ir.Block(tuple(made), block.yields)


def _needed(s: ir.Statement) -> tuple[ir.Atom | ir.Star, ...]:
    """What a check is given, or what a function inside has captured, which may be for one."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
        return s.value.captures
    return s.value.args if _check_of(s) is not None else ()  # type: ignore[union-attr]


def _check_of(s: ir.Statement) -> Any:
    """What a statement checks; None where it is no check."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
        if s.target is None and s.value.fn.value in _CHECKS:
            return s.value.fn, s.value.args[1:]
    return None


class _Sure:
    """A walk in the order of the run. What is sure is None before the first call that nobody has read, all of it; then
    the set of what was checked since the last one."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.unneeded: list[ir.Atom] = []
        """What was read for checks that are dropped."""

    def block(self, block: ir.Block, sure: frozenset[Any] | None) -> tuple[ir.Block, frozenset[Any] | None]:
        """A block without checks of what is sure; what is sure after it."""
        made: list[ir.Statement] = []
        for s in block.statements:
            check = _check_of(s)
            if check is None:
                s, sure = self._inside(s, sure)
            elif sure is None or check in sure:
                self.unneeded += (a for a in s.value.args[:2] if a not in self.context.relied)  # type: ignore[union-attr, misc]
                continue
            else:
                sure |= {check}
            made.append(s)
        return ir.Block(tuple(made), block.yields), sure

    def _inside(self, s: ir.Statement, sure: frozenset[Any] | None) -> tuple[ir.Statement, frozenset[Any] | None]:
        blocks, runs = tuple(ir.blocks_of(s)), may_change_containers(s, self.context)
        if not blocks:
            return s, frozenset() if runs else sure
        is_branch = isinstance(s, ir.If)
        if runs or (not is_branch and any(may_change_containers(i, self.context) for b in blocks for i in ir.walk(b))):
            sure = frozenset()
        made = [self.block(block, sure) for block in blocks]
        after = _both([after for _, after in made]) if is_branch else sure
        return ir.with_blocks(s, [block for block, _ in made]), after


def _both(found: list[frozenset[Any] | None]) -> frozenset[Any] | None:
    """What is sure after each of these."""
    sets = [one for one in found if one is not None]
    return frozenset.intersection(*sets) if sets else None
