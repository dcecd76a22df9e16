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
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.effects import CHECKS_OF_RELIED
from s2s.analysis.steps.packages import package_of_file
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import UNKNOWN
from s2s.specialize.heap.live_objects import Place
from s2s.specialize.unknown_effects import may_run_unknown
from s2s.versions.paths import loaded
from s2s.versions.rechecks import Recheck, recheck

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Relied", "drop_sure", "is_to_be_checked"]

_CHECKS = frozenset(CHECKS_OF_RELIED)


def is_to_be_checked(function: ir.Function, specializer: Specializer) -> bool:
    """Whether a function runs calls that nobody has read, and relies on what these might change."""
    asked = any(is_asked(found, specializer) for guard in specializer.guards if (found := recheck(guard)) is not None)
    return asked and any(may_run_unknown(s, specializer.context) for s in ir.walk(function.body))


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
        self.params: dict[str, ir.Atom] = {}
        self.before: dict[Any, tuple[ir.Var, Place, bool]] = {}
        """What is read when the function begins: by what it is about, the variable, the place, and whether it is the
        kind that is kept."""
        self.names: dict[str, Any] = {}

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
                return rt.check_option, *read, self._at_first(asked, places[0], False)
        return rt.check_kind, *read, self._at_first(asked, places[0], True)

    def _place(self, site: Any) -> Place:
        root, path, owner = site
        return Place(root, path, owner, self.params.get(path[0]) if root == "argument" else None)

    def _at_first(self, asked: Recheck, place: Place, is_kind: bool) -> ir.Var:
        """What is at a place when the function begins, or its kind."""
        key = asked.subject, is_kind
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
        builder.statements[:0] = child.statements


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
    return ir.replace(function, body=_without(body, read))


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
        blocks, runs = tuple(ir.blocks_of(s)), may_run_unknown(s, self.context)
        if not blocks:
            return s, frozenset() if runs else sure
        is_branch = isinstance(s, ir.If)
        if runs or (not is_branch and any(may_run_unknown(i, self.context) for b in blocks for i in ir.walk(b))):
            sure = frozenset()
        made = [self.block(block, sure) for block in blocks]
        after = _both([after for _, after in made]) if is_branch else sure
        return ir.with_blocks(s, [block for block, _ in made]), after


def _both(found: list[frozenset[Any] | None]) -> frozenset[Any] | None:
    """What is sure after each of these."""
    sets = [one for one in found if one is not None]
    return frozenset.intersection(*sets) if sets else None
