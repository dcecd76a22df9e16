"""What becomes of steps for which the program has chosen nothing: a specialised function goes in, and one comes out in
which each is differentiated straight through or not at all.

    q = floor_open(x)         ->    q = np.floor(x)                straight through
    w = x - floor_open(x)     ->    w = x - floor_zero(x)          a remainder
    y[int_open(t)]            ->    y[int_zero(t)]                 a cell number
    in library code           ->    floor_zero(x)                  the true derivative

What is decided is noted, with the lines: the head of the generated source says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2s.analysis.activity import find_useful
from s2s.analysis.memory import Memory
from s2s.analysis.steps.affine import is_open
from s2s.analysis.steps.cells import find_cells
from s2s.analysis.steps.remainders import Remainder, Remainders, find_remainders
from s2s.analysis.steps.uses import Uses
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import UNKNOWN, Array, Unknown
from s2s.directives.policies import Chosen, chosen
from s2s.directives.policy import Policy
from s2s.optimize.rewriting import map_blocks, substitute
from s2s.specialize.calls.policies import IN_LIBRARY, Holding

__all__ = ["settle", "without_varied"]

REMAINDER, CELL, LIBRARY = "a remainder", "a cell number", "library code"


def settle(function: ir.Function, context: Context, holding: Holding, says_why: bool = False) -> ir.Function:
    """The function with every step decided. ``says_why`` lets a policy say what it was decided by."""
    if not any(isinstance(s, ir.Let) and is_open(s.value) for s in ir.walk(function.body)):
        return function
    return _Settler(function, context, holding, says_why).settled()


class _Settler:
    def __init__(self, function: ir.Function, context: Context, holding: Holding, says_why: bool) -> None:
        self.function, self.context, self.holding, self.says_why = function, context, holding, says_why
        self.steps = {
            s.target: s for s in ir.walk(function.body)
            if isinstance(s, ir.Let) and s.target is not None and is_open(s.value)
        }
        self.still: dict[ir.Var, str] = {}
        """The steps without a derivative, and why."""
        self.both: dict[ir.Var, ir.Var] = {}
        """For steps that pass straight through but in remainders the variable that stands for each of them there."""
        self.before: dict[int, list[ir.Statement]] = {}
        self.instead: dict[int, dict[ir.Atom, ir.Atom]] = {}

    def settled(self) -> ir.Function:
        context = self.context
        results = {a for a in self.function.body.yields if isinstance(a, ir.Var)}
        changes = any(isinstance(s, ir.Store) for s in ir.walk(self.function.body))
        memory = Memory(self.function, context.value) if changes else None
        same = memory.same if memory is not None else lambda var: [var]
        self.useful = find_useful(self.function.body, results, context.is_varied, same)
        cells = find_cells(self.function, context.value)
        for step, s in self.steps.items():
            if _how(s).why == IN_LIBRARY:
                self.still[step] = LIBRARY
            elif step in cells:
                self.still[step] = CELL
        if len(self.still) < len(self.steps):
            self.remainders(find_remainders(self.function, context.value, context.is_varied, memory))
        self.notes()
        body = self.block(self.function.body)
        has_stores = any(isinstance(s, ir.Store) for s in ir.walk(body))
        still = {v for v in self.still if not (has_stores and isinstance(self.context.value(v), Array))}
        without_varied(self.context, body, still)
        return ir.replace(self.function, body=body)

    def remainders(self, remainders: Remainders) -> None:
        """Decide the steps that are subtracted from what they were made of."""
        forms = remainders.forms
        uses = Uses(self.function, forms, self.useful)
        for number, alike in forms.variables.items():
            places = [r for r in remainders.found if number in r.steps]
            undecided = [step for step in sorted(alike, key=str) if step not in self.still]
            if number in remainders.met:
                self.still |= dict.fromkeys(undecided, REMAINDER)
            elif places and undecided:
                self.decide(alike, undecided, places, uses)

    def decide(self, alike: set[ir.Var], undecided: list[ir.Var], places: list[Remainder], uses: Uses) -> None:
        """Decide the steps that are written alike, and that remainders are made with."""
        at = {id(r.statement) for r in places}
        if uses.elsewhere(alike, at)[0] and uses.meet(alike, places):
            self.still |= dict.fromkeys(alike, REMAINDER)
            return
        reached = uses.elsewhere(alike, at)[1]
        if any(id(r.statement) not in reached for r in places):  # by a way that is not followed
            self.still |= dict.fromkeys(alike, REMAINDER)
            return
        for step in undecided:
            elsewhere, reached = uses.elsewhere([step], at)
            there = [r for r in places if id(r.statement) in reached]
            if there and not (elsewhere and self.apart(step, there, uses)):
                self.still[step] = REMAINDER

    def apart(self, step: ir.Var, places: list[Remainder], uses: Uses) -> bool:
        """Compute a step twice: it stands still in remainders. False where what is between does not allow that."""
        s = self.steps[step]
        assert isinstance(s.value, ir.Call)
        lines: dict[int, list[ir.Let]] = {}
        for place in places:
            found = [uses.chain(a, step) for a in _operands(place.statement)]
            if any(chain is None for chain in found):
                return False
            lines[id(place.statement)] = [line for chain in found for line in chain or ()]
        self.both[step] = still = self.context.define("%", self.context.value(step), False, s.value)
        for place in places:
            mapping = self.instead.setdefault(id(place.statement), {})
            mapping[step] = still
            for line in lines[id(place.statement)]:
                assert line.target is not None and isinstance(line.value, ir.Call)
                value = ir.map_atoms(line.value, lambda a, mapping=mapping: mapping.get(a, a))  # type: ignore[misc]
                again = self.context.define("%", self.context.value(line.target), True, value)
                self.before.setdefault(id(place.statement), []).append(ir.Let(again, value, line.span))
                mapping[line.target] = again
        return True

    # --- what is said

    def notes(self) -> None:
        for step, s in self.steps.items():
            fn = _chosen(s).func
            why = self.still.get(step)
            if why is not None:
                self.holding.note_step(fn, s.span, why)
            elif step in self.both:
                self.holding.note_step(fn, s.span, REMAINDER)
            if why is None and step in self.useful:
                self.holding.note_step(fn, s.span, "")
                self.holding.tell_step(fn, s.span)

    # --- what is written

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in block.statements:
            if id(s) in self.instead:
                made += self.before.get(id(s), ())
                s = substitute(s, self.instead[id(s)])
            made += self.statement(map_blocks(s, self.block))
        return ir.Block(tuple(made), block.yields)

    def statement(self, s: ir.Statement) -> Iterator[ir.Statement]:
        if not isinstance(s, ir.Let) or not is_open(s.value):
            yield s
            return
        still = self.still.get(s.target, "") if s.target is not None else ""
        if not still and self.is_found_later(s):
            yield from self.left(s)
        else:
            yield self.decided(s, s.target, still)
        if s.target in self.both:
            yield self.decided(s, self.both[s.target], REMAINDER)

    def is_found_later(self, s: ir.Let) -> bool:
        """Whether a step is a method of something of which the program, when it runs, shows the type."""
        assert isinstance(s.value, ir.Call)
        return _how(s).is_looked_up and isinstance(self.context.value(s.value.args[0]), Unknown)  # type: ignore[arg-type]

    def left(self, s: ir.Let) -> Iterator[ir.Let]:
        """The call of such a method, as the program has it."""
        assert isinstance(s.value, ir.Call)
        receiver, *args = s.value.args
        read = ir.Call(ir.Const(getattr), (receiver, ir.Const(_chosen(s).func.__name__)))
        method = self.context.define("%", UNKNOWN, self.context.is_varied(receiver), read)  # type: ignore[arg-type]
        yield ir.Let(method, read, s.span)
        value = ir.Call(method, tuple(args))
        if s.target is not None:
            self.context.definitions[s.target] = value
        yield ir.Let(s.target, value, s.span)

    def decided(self, s: ir.Let, target: ir.Var | None, why: str) -> ir.Let:
        assert isinstance(s.value, ir.Call)
        fn = _chosen(s).func
        if why:
            fn = chosen(fn, Policy("zero", why=why if self.says_why else ""))
        value = ir.replace(s.value, fn=ir.Const(fn))
        if target in self.context.definitions:
            self.context.definitions[target] = value
        return ir.Let(target, value, s.span)


def without_varied(context: Context, body: ir.Block, still: Iterable[ir.Atom]) -> None:
    """What depended on the inputs only by variables that do not any more does not either. Arrays that may change are
    left as they are. Other variables are not looked at: what comes from a stack may be varied where no argument is."""
    dropped = {*still}
    context.varied -= dropped
    has_stores = any(isinstance(s, ir.Store) for s in ir.walk(body))
    for s in ir.walk(body):
        if not isinstance(s, ir.Let) or s.target not in context.varied or not isinstance(s.value, ir.Call):
            continue
        if dropped.isdisjoint(ir.atoms_of(s.value)) or (has_stores and isinstance(context.value(s.target), Array)):
            continue
        if not isinstance(s.value.fn, ir.Const) or s.target in context.effects:
            continue
        if not any(map(context.is_varied, ir.atoms_of(s.value))):
            dropped.add(s.target)
            context.varied.discard(s.target)


def _operands(s: ir.Statement) -> tuple[ir.Atom, ...]:
    if isinstance(s, ir.Store):
        return (s.value,)
    assert isinstance(s, ir.Let)
    return tuple(ir.atoms_of(s.value))


def _chosen(s: ir.Let) -> Chosen:
    assert isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const) and isinstance(s.value.fn.value, Chosen)
    return s.value.fn.value


def _how(s: ir.Let) -> Policy:
    how = _chosen(s).how
    assert isinstance(how, Policy)
    return how
