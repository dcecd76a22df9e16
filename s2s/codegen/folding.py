"""Folding: takes code, puts temporaries that are read once into the expressions that read them.

An expression may move down to its reader where nothing that it passes could change what it computes: it
stays in its block, an operation that may change the world passes nothing, one that looks at the world
passes no such operation. The operands of a reader are tried from the last one evaluated to the first, so
that an operand that stays is something to be passed by those before it.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from s2s.analysis.effects import ACTS, PURE, READS, Effect
from s2s.analysis.functions import makes_new
from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Code,
    Comment,
    Comprehension,
    Conditional,
    Copies,
    For,
    If,
    Junction,
    Raise,
    Return,
    Statement,
    Target,
    Tree,
    Try,
    While,
    With,
    assigned_by,
    blocks_of,
    is_call_of,
    targets_of,
    tree_atoms,
    uses,
    walk,
)
from s2s.codegen.effects import effect_of
from s2s.codegen.leaves import count_uses, fold_indices, fold_loads, leaves
from s2s.codegen.measure import depth_of, key_width, width_of
from s2s.codegen.printing import WIDTH
from s2s.core import operators, ops
from s2s.core.ir import UNDEFINED, Atom, Call, Const, Load, MakeFunction, Star, Store, Var

__all__ = ["LAMBDAS", "fold"]

DEPTH = 12
TERMS = 3
LAMBDAS = ("<lambda>", "lambda_")
_CHANGING = (*ops.GROWS, ops.unpack)


def fold(code: Code) -> Code:
    """Fold everything that may be; the code is changed in place and given back."""
    statements = walk(code.body)
    fold_loads(code, statements)
    fold_indices(code, statements)
    folder = _Folder(code, count_uses(code, statements))
    code.body = folder.block(code.body, 1)
    return code


@dataclass(slots=True)
class _Pending:
    """An expression on its way down: the places it came from, what it does, how it looks."""

    places: frozenset[int]
    effect: Effect
    reads: frozenset[Var]
    width: int
    depth: int


@dataclass(slots=True)
class _Step:
    """What one place of a block does, for those who want to pass it."""

    effect: Effect = PURE
    assigned: set[Var] = field(default_factory=set)
    copied: set[Var] = field(default_factory=set)

    def changes(self, read: frozenset[Var]) -> bool:
        """Whether an expression that reads these gives something else after it."""
        if not self.copied.isdisjoint(read):
            return True
        names = {v.name for v in read if not v.is_temporary}
        return any(v.name in names and v not in read for v in self.assigned)


_MANY = 16
"""So many variables a simple statement assigns at most."""


@dataclass(slots=True)
class _Steps:
    """The places of a block by what they do, in order."""

    acting: list[int] = field(default_factory=list)
    looking: list[int] = field(default_factory=list)
    """Those that act, and those that look or act."""
    copied: defaultdict[Var, list[int]] = field(default_factory=lambda: defaultdict(list))
    assigned: defaultdict[str, list[tuple[int, Var]]] = field(default_factory=lambda: defaultdict(list))
    large: list[tuple[int, _Step]] = field(default_factory=list)
    """Those that assign many variables, in blocks of theirs. Each level of a deep one says again what the inner ones
    assign: they are asked one by one."""

    def add(self, place: int, step: _Step) -> None:
        if step.effect is ACTS:
            self.acting.append(place)
        if step.effect is not PURE:
            self.looking.append(place)
        if len(step.assigned) > _MANY:
            self.large.append((place, step))
            return
        for var in step.copied:
            self.copied[var].append(place)
        for var in step.assigned:
            self.assigned[var.name].append((place, var))


@dataclass(slots=True)
class _Folder:
    code: Code
    counts: defaultdict[Var, int]
    places: dict[Var, frozenset[int]] = field(default_factory=dict)
    """Where the parts of an expression were computed before it was folded."""
    offered: dict[Var, Tree] = field(default_factory=dict)
    effects: dict[Var, Effect] = field(default_factory=dict)
    """The effects of folded expressions."""
    reads: dict[Var, frozenset[Var]] = field(default_factory=dict)
    """The variables that folded expressions read by name."""
    steps: dict[int, _Step] = field(default_factory=dict)
    """What the statements do that were seen so far, by ``id``."""

    def block(self, block: list[Statement], indent: int) -> list[Statement]:
        steps = _Steps()
        pending: dict[Var, tuple[Assign, _Pending]] = {}
        gone: set[int] = set()
        for place, original in enumerate(block):
            statement = block[place] = original if isinstance(original, Assign) else self.inside(original, indent)
            made = self.comprehension(block, place) if isinstance(statement, For) else None
            replaced = range(place, place + 1)
            if made is not None:
                gone.update(map(id, made[0]))
                statement = block[place] = made[1]
                replaced = range(place - len(made[0]), place + 1)
            taken = self.operands(statement, steps, pending, indent)
            gone.update(id(pending.pop(var)[0]) for var in taken)
            step = self.step(statement)
            steps.add(place, step)
            if isinstance(statement, Assign) and isinstance(statement.target, Var):
                self.offer(statement, replaced, step.effect, taken, pending)
        return [s for s in block if id(s) not in gone and not self.is_constant(s)]

    def is_constant(self, statement: Statement) -> bool:
        return (
            isinstance(statement, Assign)
            and isinstance(statement.target, Var)
            and (statement.target in self.code.folded)
        )

    def inside(self, statement: Statement, indent: int) -> Statement:
        """Fold the blocks of a statement; a branch with one value becomes an expression."""
        match statement:
            case If():
                if statement.inline:
                    self.open_arm(statement.then)
                    self.open_arm(statement.orelse)
                statement.then = self.block(statement.then, indent + 1)
                statement.orelse = self.block(statement.orelse, indent + 1)
                return self.choice(statement, indent) or statement
            case While():
                statement.head = self.block(statement.head, indent + 1)
                self.loop_test(statement)
                statement.body = self.block(statement.body, indent + 1)
            case (
                Assign() | Copies() | Change() | For() | With() | Try() | Break() | Return() | Assert() | Raise() |
                Comment()
            ):
                for inner in blocks_of(statement):
                    inner[:] = self.block(inner, indent + 1)
            case _:
                assert_never(statement)
        return statement

    def comprehension(self, block: list[Statement], place: int) -> tuple[list[Statement], Assign] | None:
        """For a loop that only makes a list, a set or a dict: what goes before it, and the comprehension
        for all."""
        before, loop = block[place - 1] if place else None, block[place]
        if not isinstance(before, Copies) or not isinstance(loop, For) or len(before.pairs) != 1:
            return None
        result, start = before.pairs[0]
        made = self.code.folded.get(start) if isinstance(start, Var) else None
        gone: list[Statement] = [before]
        if place > 1 and made is None and isinstance(start, Var) and self.counts[start] == 1:
            match block[place - 2]:
                case Assign(target, value) as first if target == start:
                    made = value
                    gone.append(first)
        growth, test = self.growth(loop.body, result)
        match made, growth:
            case Call(Const(value=make), ()), Call(Const(value=grow), args) if ops.GROWS.get(grow) == make:
                key, element = (args[1], args[2]) if grow is ops.put else (None, args[1])
            case _:
                return None
        if isinstance(key, Star) or isinstance(element, Star) or result in (key, element):
            return None
        kind = ops.DISPLAYS[make].__name__
        self.counts[result] -= 1 + (test is not None)
        return gone, Assign(result, Comprehension(kind, element, loop.item, loop.iterable, test, key))

    def growth(self, body: list[Statement], result: Var) -> tuple[Tree | None, Atom | None]:
        """What a loop's body adds to ``result`` in each iteration, and the test for it; None where it does
        more."""
        match body:
            case [Assign(Var() as grown, Call(_, (old, *_)) as call), Copies([(new, source)])]:
                if old == result == new and source == grown:
                    return call, None
            case [If(test, [Assign(Var() as grown, Call(_, (old, *_)) as call), Copies([(joined,
            source)])], orelse),
                  Copies([(new, last)])]:  # fmt: skip
                kept = (
                    isinstance(orelse[0], Copies) and orelse[0].pairs == [(joined, result)]
                    if orelse
                    else False
                )
                if kept and old == result == new and source == grown and last == joined:
                    return call, test
            case _:
                pass
        return None, None

    def open_arm(self, arm: list[Statement]) -> None:
        """Fold the last assignment in an arm of the user's ``a if c else b`` into the copy to the result."""
        match arm:
            case [*_, Assign(Var() as target, value), Copies([(result, source)])]:
                plain = not isinstance(value, MakeFunction) and not self.grows(value)
                if source == target and target.name == result.name and self.counts[target] == 1 and plain:
                    self.code.folded[target] = value
            case _:
                pass

    def grows(self, value: Tree) -> bool:
        """Whether a value prints as a statement that changes something."""
        fn = value.fn.value if isinstance(value, Call) and isinstance(value.fn, Const) else None
        return operators.plain_of(fn) is not None or is_call_of(value, _CHANGING)

    def loop_test(self, loop: While) -> None:
        """Fold the last statement of a loop's head into its test."""
        match loop.head:
            case [Assign(Var() as target, value)] if target == loop.test and self.counts[target] == 1:
                if target.is_temporary:
                    self.code.folded[target] = value
                    loop.head = []
            case _:
                pass

    def choice(self, branch: If, indent: int) -> Assign | None:
        """``a if c else b``, ``a and b`` or ``a or b`` for a branch that only computes one temporary."""
        match branch:
            case If(test, [Copies([(target, then)])], [Copies([(other, orelse)])], inline):
                joined = test in (then, orelse)
                if (
                    target != other
                    or UNDEFINED in (then, orelse)
                    or not (inline or (joined and target.is_temporary))
                ):
                    return None
            case _:
                return None
        width = sum([width_of(self.code, a) for a in (test, then, orelse)]) + 9
        if width + 4 * indent > WIDTH:
            return None
        if test == orelse:
            return self.junction(True, target, test, then)
        if test == then:
            return self.junction(False, target, test, orelse)
        return Assign(target, Conditional(test, then, orelse))

    def junction(self, conjunction: bool, target: Var, first: Atom, second: Atom) -> Assign:
        if isinstance(first, Var):
            self.counts[first] -= 1
        return Assign(target, Junction(conjunction, first, second))

    # --- one statement ---

    def operands(
        self,
        statement: Statement,
        steps: _Steps,
        pending: dict[Var, tuple[Assign, _Pending]],
        indent: int,
    ) -> list[Var]:
        """Fold what the statement reads; gives the variables folded, the last one evaluated first."""
        known = [
            a for a in _in_order(statement) if isinstance(a, Var) and a in pending and self.counts[a] == 1
        ]
        if not known:
            return []
        room = WIDTH - 4 * indent - self.own_width(statement)
        taken: list[Var] = []
        after: set[int] = set()
        for atom in reversed(known):
            if not self.may_take(statement, atom):
                continue
            source, candidate = pending[atom]
            if isinstance(source.value, MakeFunction) and _is_called(statement, atom):
                continue
            growth = candidate.width - width_of(self.code, atom)
            if (
                (growth > room and not _is_all(statement) and not _is_index(source.value))
                or candidate.depth > DEPTH
                or not self.may_pass(candidate, after, steps)
            ):
                continue
            if isinstance(statement, Copies) and len(statement.pairs) > 1 and candidate.effect is ACTS:
                continue
            self.code.folded[atom] = source.value
            self.code.spans[atom] = source.span
            self.code.sizes[atom] = (candidate.width, candidate.depth)
            self.effects[atom] = candidate.effect
            self.reads[atom] = candidate.reads
            room -= growth
            after |= candidate.places
            taken.append(atom)
        return taken

    def may_take(self, statement: Statement, atom: Var) -> bool:
        """A temporary goes anywhere but where it is changed in place and more than arithmetic made it; a
        first contribution only goes into the sum that makes the next version."""
        match statement:
            case Change(Store("whole", target)) if target == atom:
                return False
            case Assign(Var(name), Call(Const(value=fn), (first, second), ()) as value) if first == atom:
                if operators.plain_of(fn) is not None and not self.is_fresh(self.offered[atom]):
                    return False  # what it changes is seen under another name
                if not atom.is_temporary:
                    return (
                        name == atom.name and second != atom and _is_sum(value) and self.terms(atom) < TERMS
                    )
        return atom.is_temporary

    def is_fresh(self, tree: Tree) -> bool:
        """Whether a value was made by arithmetic just now, so that changing it and adding to it are the
        same."""
        match tree:
            case Const():
                return True
            case Call(Const(value=fn), (first, *_), _) if operators.plain_of(fn) is not None:
                return isinstance(first, Var) and first in self.code.folded
        return makes_new(tree)

    def terms(self, atom: Atom) -> int:
        """How many contributions the sum in a variable has, as far as it is one expression."""
        tree = self.offered.get(atom) if isinstance(atom, Var) else None
        if isinstance(tree, Call) and _is_sum(tree) and tree.args[0] in self.code.folded:
            first = tree.args[0]
            return 1 + (self.terms(first) if isinstance(first, Var) else 1)
        return 1

    def may_pass(self, candidate: _Pending, after: set[int], steps: _Steps) -> bool:
        """Whether an expression may move down over everything that will then come before it."""
        start = min(candidate.places)

        def passes(found: list[int]) -> bool:
            """Whether all of these places that lie between are parts of the expression, or come after it."""
            return all(found[k] in candidate.places or found[k] in after for k in range(bisect_right(found, start),
                                                                                      len(found)))

        if candidate.effect is not PURE:  # one acts and the other at least looks
            if not passes(steps.acting if candidate.effect is READS else steps.looking):
                return False
        if not all(passes(steps.copied[v]) for v in candidate.reads if v in steps.copied):
            return False
        for name in {v.name for v in candidate.reads if not v.is_temporary}:
            for between, var in reversed(steps.assigned.get(name, ())):
                if between <= start:
                    break
                if var not in candidate.reads and between not in candidate.places and between not in after:
                    return False
        for between, step in reversed(steps.large):
            if between <= start:
                break
            if between not in candidate.places and between not in after and step.changes(candidate.reads):
                return False
        return True

    def step(self, statement: Statement) -> _Step:
        """What the statement does besides its operands."""
        step = self.steps[id(statement)] = _Step()
        match statement:
            case Assign(target, value):
                step.effect = self.effect(value)
                step.assigned.update([v for v in targets_of(target) if v not in self.code.folded])
            case Copies(pairs):
                step.copied.update([target for target, _ in pairs])
                step.assigned |= step.copied
                step.effect = self.effect_of_all([source for _, source in pairs])
            case Change():
                step.effect = ACTS
            case If() | For() | While() | With() | Try() | Assert():
                step.effect = _EFFECTS.get(type(statement), READS)
                if isinstance(statement, (With, Try)):
                    step.assigned.update(assigned_by(statement))
                for block in blocks_of(statement):
                    for inner in block:
                        self.add_inner(step, inner)
            case Raise():
                step.effect = READS
            case Break() | Return() | Comment():
                pass
            case _:
                assert_never(statement)
        return step

    def add_inner(self, step: _Step, inner: Statement) -> None:
        """Add what a statement in a block of another one does, its operands included."""
        known = self.steps[id(inner)]
        step.effect = max(step.effect, known.effect, self.effect_of_all(uses(inner)))
        step.assigned |= known.assigned
        step.copied |= known.copied

    def effect(self, tree: Tree) -> Effect:
        if isinstance(tree, (Conditional, Junction, Comprehension)):
            return self.deep_effect(tree)
        return effect_of(tree)

    def deep_effect(self, tree: Tree) -> Effect:
        """The effect of an expression with everything folded into it."""
        if isinstance(tree, Var):
            known = self.effects.get(tree)
            folded = self.code.folded.get(tree)
            if known is None and folded is not None:
                known = self.effects[tree] = self.deep_effect(folded)
            return PURE if known is None else known
        return max(effect_of(tree), self.effect_of_all(tree_atoms(tree)))

    def effect_of_all(self, atoms: Iterable[Atom]) -> Effect:
        """The largest effect of evaluating some atoms."""
        effect = PURE
        for atom in atoms:
            if isinstance(atom, Var) and atom in self.code.folded:
                effect = max(effect, self.deep_effect(atom))
        return effect

    def offer(
        self,
        statement: Assign,
        own: range,
        effect: Effect,
        taken: list[Var],
        pending: dict[Var, tuple[Assign, _Pending]],
    ) -> None:
        """Put an assignment, which has an effect of its own, among those that may be folded into their reader."""
        target, value = statement.target, statement.value
        assert isinstance(target, Var)
        if target.is_temporary and isinstance(value, Const):
            self.code.folded[target] = value
            return
        if self.counts[target] not in (1, 2) or not self.is_foldable(target, value):
            return
        places = self.places[target] = frozenset(own).union(*[self.places[v] for v in taken])
        effect, reads = self.inputs(value, effect)
        pending[target] = (
            statement, _Pending(places, effect, reads, width_of(self.code, value), depth_of(self.code, value))
        )  # fmt: skip
        self.offered[target] = value

    def inputs(self, value: Tree, effect: Effect) -> tuple[Effect, frozenset[Var]]:
        """The effect of an expression with everything folded into it, and the variables that it reads by
        name."""
        reads: set[Var] = set()
        for atom in tree_atoms(value):
            if isinstance(atom, Var) and atom in self.code.folded:
                effect = max(effect, self.deep_effect(atom))
                known = self.reads.get(atom)
                reads.update(leaves(self.code, atom) if known is None else known)
            elif isinstance(atom, Var):
                reads.add(atom)
        if isinstance(value, Comprehension):
            reads.difference_update(targets_of(value.item))
        return effect, frozenset(reads)

    def is_foldable(self, target: Target, value: Tree) -> bool:
        assert isinstance(target, Var)
        if isinstance(value, MakeFunction):
            return self.is_lambda(value)
        if isinstance(value, Call) and isinstance(value.fn, Const):
            fn = value.fn.value
            if is_call_of(value, _CHANGING):
                return False
            if operators.plain_of(fn) is not None and (target.is_temporary or not self.is_fresh(value)):
                return False
        return target.is_temporary or target.name.endswith(("_bar", "_dot"))

    def is_lambda(self, value: MakeFunction) -> bool:
        """Whether a nested function is one expression."""
        inner = self.code.inner.get(id(value))
        single = inner is not None and len(inner.body) == 1 and isinstance(inner.body[0], Return)
        return single and value.function.name in LAMBDAS

    # --- looks ---

    def own_width(self, statement: Statement) -> int:
        """About how many columns the statement takes with its operands by name."""
        match statement:
            case Assign(target, value):
                return sum(len(v.name) + 2 for v in targets_of(target)) + 1 + width_of(self.code, value)
            case Change(store):
                key = key_width(self.code, store.key)
                return 4 + width_of(self.code, store.target) + width_of(self.code, store.value) + key
            case Copies(pairs):
                return max((len(v.name) + 3 + width_of(self.code, a) for v, a in pairs), default=0)
            case If() | For() | While() | With() | Try() | Break() | Return() | Assert() | Raise() | Comment():
                return 8 + sum([width_of(self.code, a) for a in uses(statement)])
            case _:
                assert_never(statement)


_EFFECTS = {If: PURE, With: ACTS}
"""What compound statements do, the statements in them apart; others read."""


def _in_order(statement: Statement) -> Sequence[Atom]:
    """The operands that may be folded into a statement, in the order in which the printed text evaluates
    them."""
    if not isinstance(statement, Assign):
        return uses(statement)
    if is_call_of(statement.value, (operator.contains,)):
        return tree_atoms(statement.value)[:0:-1]  # the item comes first
    match statement.value:
        case Conditional(test) | Junction(_, test):
            return (test,)
        case Comprehension(iterable=iterable):
            return (iterable,)
        case MakeFunction(_, _, defaults):
            return [atom for _, atom in defaults]
        case Call() | Var() | Const() | Load() as value:
            return tree_atoms(value)
        case _:
            assert_never(statement.value)


def _is_all(statement: Statement) -> bool:
    """Whether a statement does nothing with its one operand, so that a name for it would save no width."""
    match statement:
        case Return() | Raise(_, None) | Assign(Var(), Var()) | Copies([_]):
            return True
    return False


def _is_index(value: Tree) -> bool:
    """Whether a value is mostly syntax where it is read, and can be broken there at its commas."""
    return is_call_of(value, (slice, ops.make_tuple))


def _is_called(statement: Statement, atom: Atom) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.value, Call) and statement.value.fn == atom


def _is_sum(value: Tree) -> bool:
    return (
        isinstance(value, Call)
        and isinstance(value.fn, Const)
        and value.fn.value in (operator.add, operator.iadd)
    )
