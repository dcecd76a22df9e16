"""``try``, as the specialiser writes it.

A ``try`` whose body can raise nothing that is caught is its body; one whose body certainly raises, as an import that
fails does, is the handler. What is left stays a ``try``, whose results say which block ended:

    try:                                         try:
        L = np.linalg.cholesky(a)                    L = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:     ->             [yield 0, L]
        L = a                                    except np.linalg.LinAlgError:
                                                     [yield 1, a]
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s import runtime as rt
from s2s.analysis import raising
from s2s.analysis.abstract.lattice import join, truth
from s2s.analysis.managers import REPEATED, SETTINGS
from s2s.analysis.raising import Kinds
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import Heap
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Known, Scalar, Sequence
from s2s.errors import DifferentiationError, UnsupportedSyntaxError, error
from s2s.specialize.deferred_refusals import may_refuse_later, refusal
from s2s.specialize.frames import Frame
from s2s.specialize.heap.joins import changed_cells, new_mirrors, on
from s2s.specialize.site import At
from s2s.specialize.speculation import speculate
from s2s.specialize.variables import check_joined

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer


@dataclass
class _Side:
    """A block of a ``try`` as it was specialised; ``number`` is 0 for the body with its ``else``."""

    number: int
    builder: Builder
    yields: tuple[ir.Atom, ...]
    heap: Heap

    @property
    def raises(self) -> bool:
        return raising.ends(self.builder.statements)


# --- try ------------------------------------------------------------------------------------------------------------


def try_statement(specializer: Specializer, s: ir.Try, frame: Frame, builder: Builder) -> bool:
    """Specialise a ``try``; True where nothing after it is reached."""
    kinds = [_kinds_of(specializer, h, frame) for h in s.handlers]
    base = specializer.context.heap
    specializer.context.heap = base.copy()
    run = _run_body(specializer, s, frame, builder)
    raised = raising.raised_in(run.builder.statements, specializer.value_of_exception)
    possible = [k for k, kind in enumerate(kinds) if raising.may_catch(kind, raised)]
    if not possible:
        return _only_body(specializer, s, run, frame, builder)
    certain = _certain_handler(specializer, run.builder.statements, kinds) if run.ended else None
    if certain is not None:
        return _only_handler(specializer, s, s.handlers[certain], run, frame, builder)
    return _real_try(specializer, s, [(k, kinds[k]) for k in possible], run, frame, builder, base)


@dataclass
class _Body:
    """The body of a ``try`` as it was specialised: ``starts`` has the number of statements written before each one of
    the original, ``ended`` says that its end is not reached."""

    builder: Builder
    frame: Frame
    starts: list[int]
    ended: bool = False

    def written(self, k: int) -> list[ir.Statement]:
        """What was written for a statement of the original."""
        stop = self.starts[k + 1] if k + 1 < len(self.starts) else len(self.builder.statements)
        return self.builder.statements[self.starts[k] : stop]


def _run_body(specializer: Specializer, s: ir.Try, frame: Frame, builder: Builder) -> _Body:
    run = _Body(builder.child(), frame.copy(), [])
    kinds = [_kinds_of(specializer, handler, frame) for handler in s.handlers]
    catches = any(k is None or issubclass(UnsupportedSyntaxError, k) for k in kinds)
    specializer.trying += 1
    specializer.catching += catches
    try:
        for statement in s.body.statements:
            run.starts.append(len(run.builder.statements))
            if specializer.step(statement, run.frame, run.builder):
                run.ended = True
                break
    finally:
        specializer.trying -= 1
        specializer.catching -= catches
    return run


def _kinds_of(specializer: Specializer, handler: ir.Handler, frame: Frame) -> Kinds | None:
    """The classes that a handler names; None where they are not known."""
    if not handler.kinds:
        return (BaseException,)
    found: list[type[BaseException]] = []
    todo = [specializer.context.value(specializer.atom(atom, frame)) for atom in handler.kinds]
    while todo:
        value = todo.pop(0)
        if isinstance(value, Sequence):
            todo += value.items
        elif isinstance(value, Known) and isinstance(value.value, tuple):
            todo += [Known(ir.Const(v)) for v in value.value]
        elif isinstance(value, Known) and isinstance(value.value, type) and issubclass(value.value, BaseException):
            found.append(value.value)
        else:
            return None
    return tuple(found)


def _only_body(specializer: Specializer, s: ir.Try, run: _Body, frame: Frame, builder: Builder) -> bool:
    """No handler is ever entered: the body and the ``else`` without the ``try``."""
    builder.take(run.builder)
    if run.ended:
        return True
    yields = specializer.run(s.orelse, run.frame, builder)
    return _bind(s, yields, frame, builder)


def _bind(s: ir.Try, yields: tuple[ir.Atom, ...], frame: Frame, builder: Builder) -> bool:
    if raising.ends(builder.statements):
        return True
    frame.env.update(zip(s.results, yields, strict=True))
    return False


def _certain_handler(specializer: Specializer, statements: list[ir.Statement], kinds: list[Kinds | None]) -> int | None:
    """The handler that certainly runs: the body comes to a ``raise`` of a known class, and nothing before it raises
    what some handler catches."""
    last = statements[-1]
    cls = raising.class_of(last.exception, specializer.value_of_exception) if isinstance(last, ir.Raise) else None
    before = raising.raised_in(statements[:-1], specializer.value_of_exception)
    if cls is None or any(kind is None or raising.may_catch(kind, before) for kind in kinds):
        return None
    return next((k for k, kind in enumerate(kinds) if kind is not None and issubclass(cls, kind)), None)


def _only_handler(
    specializer: Specializer, s: ir.Try, handler: ir.Handler, run: _Body, frame: Frame, builder: Builder
) -> bool:
    last = run.builder.statements.pop()
    assert isinstance(last, ir.Raise) and last.exception is not None
    builder.take(run.builder)
    exception = last.exception
    if isinstance(exception, ir.Const) and isinstance(exception.value, type):
        exception = At(specializer, frame, builder, last.span).call(exception.value, []).leave()
    held = {unassigned.param: unassigned.held[len(run.starts) - 1] for unassigned in handler.unassigned}
    values = {
        var: ir.POSSIBLY_UNASSIGNED if atom is None else specializer.atom(atom, run.frame) for var, atom in held.items()
    }
    inner = _handler_frame(handler, exception, frame, values)
    specializer.caught.append(exception)
    yields = specializer.run(handler.body, inner, builder)
    specializer.caught.pop()
    return _bind(s, yields, frame, builder)


def _handler_frame(
    handler: ir.Handler, exception: ir.Atom, frame: Frame, values: Mapping[ir.Var, ir.Atom]
) -> Frame:
    inner = frame.copy()
    inner.env.update(values)
    if handler.name is not None:
        inner.env[handler.name] = exception
    return inner


def _real_try(
    specializer: Specializer,
    s: ir.Try,
    possible: list[tuple[int, Kinds | None]],
    run: _Body,
    frame: Frame,
    builder: Builder,
    base: Heap,
) -> bool:
    """What depends on the run: the ``try`` with the handlers that may be entered."""
    ended, inside = run.ended, run.builder
    all_kinds = _union(kind for _, kind in possible)
    values = [_resolve_lost(specializer, s.handlers[k], kind, all_kinds, run, frame) for k, kind in possible]
    _put_first(specializer.context, {atom for found in values for atom in found.values()}, run, builder)
    runs, heap = [], specializer.context.heap
    for (k, _), known in zip(possible, values, strict=True):
        handler = s.handlers[k]
        specializer.context.heap = _interrupted(base, heap)
        runs.append((handler, *_run_handler(specializer, handler, k + 1, inside.statements, known, frame, builder)))
    specializer.context.heap = heap
    while runs and _is_again(runs[-1][2]):
        runs.pop()
    if not runs:
        return _only_body(specializer, s, run, frame, builder)
    all_kinds = _union(kind for _, kind in possible[: len(runs)])
    _keep_what_raises(specializer, inside.statements, all_kinds)
    after = inside.child()
    yields = tuple(ir.UNDEFINED for _ in s.results) if ended else specializer.run(s.orelse, run.frame, after)
    sides = [_Side(0, after, yields, specializer.context.heap), *(side for _, _, side in runs)]
    if not ended:
        _refuse_other_objects(specializer, s, sides, base, frame, builder)
    going = [side for side in sides if not (side.raises or (ended and side.number == 0))]
    if len(going) > 1 or (going and going[0].number != 0):
        _check_stores(specializer, s, inside.statements, all_kinds, frame)
    specializer.context.heap = _joined_heap(base, going)
    results, rows = _join(specializer, s, inside, sides, going, frame)
    made = [
        ir.Handler(
            tuple(specializer.atom(a, frame) for a in handler.kinds),
            name,
            side.builder.block(*yields),
            (),
            handler.span,
        )
        for (handler, name, side), yields in zip(runs, rows[1:], strict=True)
    ]
    caught = results[0] if len(going) > 1 else None
    builder.add(ir.Try(inside.block(), tuple(made), after.block(*rows[0]), tuple(results), caught, span=s.span))
    _note_missing(specializer, s, sides, going, caught, frame, builder)
    return not going


def _refuse_other_objects(
    specializer: Specializer, s: ir.Try, sides: list[_Side], base: Heap, frame: Frame, builder: Builder
) -> None:
    """Refuse, when they run, the handlers of a library that go on with other objects than the body leaves."""
    first, *handlers = sides
    problem = error("S2S104", span=s.span, label="goes on with another object where an exception is caught")
    if first.raises or not may_refuse_later(specializer, frame, problem):
        return
    for side in handlers:
        differ = any(
            a != b and specializer.context.is_virtual(a) for a, b in zip(first.yields, side.yields, strict=True)
        )
        if not side.raises and (differ or changed_cells(base, first.heap)):
            side.builder, side.yields = refusal(problem, builder), tuple(ir.UNDEFINED for _ in side.yields)
            side.heap = base


def _interrupted(base: Heap, end: Heap) -> Heap:
    """The heap where a handler begins: what the body has changed may or may not have been changed before."""
    heap = base.copy()
    for cell in changed_cells(base, end):
        heap.unknown.setdefault(cell, "an exception may have interrupted the block that changes it")
    _note_given(heap, end)
    return heap


def _note_given(heap: Heap, end: Heap) -> None:
    """What others may refer to, or hold, at an end is not free where it may have been reached."""
    for cell in new_mirrors(heap, end):
        heap.closed.setdefault(cell, "an object from outside holds it where a block of a `try` has run")
    heap.closed |= end.closed
    heap.unknown |= end.unknown
    heap.written |= end.written


def _joined_heap(base: Heap, going: list[_Side]) -> Heap:
    """The heap after a ``try``: what one of its blocks has changed is not known where another one may have ended."""
    if len(going) == 1:
        return going[0].heap
    heap = base.copy()
    for side in going:
        _note_given(heap, side.heap)
    for cell in changed_cells(base, *(side.heap for side in going)):
        heap.unknown.setdefault(cell, "a block of the `try` before has changed it, or another one has ended")
    return heap


def _as_values(context: Context, k: int, going: list[_Side]) -> None:
    """Objects that a variable refers to after some of the blocks, as values, where they are not one and the same."""
    atoms = [side.yields[k] for side in going]
    if len(going) < 2 or all(a == atoms[0] for a in atoms):
        return
    for side in going:
        atom = side.yields[k]
        if not context.is_virtual(atom):
            continue
        with on(context, side.heap):
            try:
                value = side.builder.frozen(atom)
            except DifferentiationError:
                value = ir.POSSIBLY_UNASSIGNED
        virtual_heap.close(context, atom, "a block of a `try` decides which object this is")
        side.yields = (*side.yields[:k], value, *side.yields[k + 1 :])


def _resolve_lost(
    specializer: Specializer, handler: ir.Handler, kinds: Kinds | None, all_kinds: Kinds | None, run: _Body,
    frame: Frame,
) -> dict[ir.Var, ir.Atom]:
    """What the variables that the body assigns hold in a handler: one thing where all that may raise stands between the
    same two assignments, and ``POSSIBLY_UNASSIGNED`` where not."""

    def catches(kinds: Kinds | None, statements: list[ir.Statement]) -> bool:
        return raising.may_catch(kinds, raising.raised_in(statements, specializer.value_of_exception))

    raises = [k for k in range(len(run.starts)) if catches(kinds, run.written(k))]
    found: dict[ir.Var, ir.Atom] = {}
    for unassigned in handler.unassigned:
        held = {unassigned.held[k] for k in raises}
        atom = held.pop() if len(held) == 1 else None
        value = ir.POSSIBLY_UNASSIGNED if atom is None else specializer.atom(atom, run.frame)
        place = _place_of(value, run)
        if place is not None and catches(all_kinds, run.builder.statements[: place + 1]):
            value = ir.POSSIBLY_UNASSIGNED  # it would have to stand before the ``try``
        if specializer.context.is_virtual(value) and value not in frame.env.values():
            value = ir.POSSIBLY_UNASSIGNED  # an object that the block has made
        found[unassigned.param] = value
    return found


def _place_of(atom: ir.Atom, run: _Body) -> int | None:
    """The statement of a body that defines a variable."""
    for k, statement in enumerate(run.builder.statements):
        if atom in tuple(raising.binders(ir.Block((statement,)))):
            return k
    return None


def _put_first(context: Context, atoms: set[ir.Atom], run: _Body, builder: Builder) -> None:
    """Put what defines these variables before the ``try``, so that its handlers see them: it raises nothing."""
    places = [place for atom in atoms if (place := _place_of(atom, run)) is not None]
    count = 1 + max(places, default=-1)
    builder.statements += run.builder.statements[:count]
    del run.builder.statements[:count]


def _union(kinds: Iterable[Kinds | None]) -> Kinds | None:
    """What any of several handlers catches."""
    found: Kinds = ()
    for kind in kinds:
        if kind is None:
            return None
        found += kind
    return found


def _is_again(side: _Side) -> bool:
    """Whether a handler only raises the exception again."""
    match side.builder.statements:
        case [ir.Raise(None)]:
            return True
        case _:
            return False


def _run_handler(
    specializer: Specializer,
    handler: ir.Handler,
    number: int,
    body: list[ir.Statement],
    values: Mapping[ir.Var, ir.Atom],
    frame: Frame,
    builder: Builder,
) -> tuple[ir.Var | None, _Side]:
    child = builder.child()
    name = "problem" if handler.name is None else handler.name.name
    exception = specializer.context.define(name, UNKNOWN, _carries(specializer.context, body))
    specializer.caught.append(None)
    specializer.undecided += 1
    try:
        with speculate(specializer, child, only_if=not specializer.catching) as speculation:
            yields = specializer.run(
                handler.body, _handler_frame(handler, exception, frame, values), speculation.builder
            )
    except DifferentiationError as problem:
        if may_refuse_later(specializer, frame, problem):
            child = refusal(problem, builder)
        elif problem.diagnostic.code == "S2S104" and not specializer.catching:
            child = _refuse_handler(problem, builder)
        else:
            raise
        yields = tuple(ir.UNDEFINED for _ in handler.body.yields)
    finally:
        specializer.caught.pop()
        specializer.undecided -= 1
    heap = specializer.context.heap
    read = {a for s in ir.walk(child.block()) for a in ir.reads_of(s)} | {
        a for s in ir.walk(child.block()) for b in ir.blocks_of(s) for a in b.yields}
    return exception if exception in (*read, *yields) else None, _Side(number, child, yields, heap)


def _refuse_handler(problem: DifferentiationError, builder: Builder) -> Builder:
    """The block that refuses a handler which reads what an interrupted body may have assigned, or not."""
    child, span = builder.child(), problem.diagnostic.span
    because = problem.diagnostic.label + ("" if span is None else f" ({os.path.basename(span.file)}:{span.line})")
    made = child.let(ir.Call(ir.Const(rt.try_error), (ir.Const(because),)), UNKNOWN)
    child.add(ir.Raise(made, None, span))
    return child


def _carries(context: Context, body: list[ir.Statement]) -> bool:
    """Whether an exception of these statements may hold something differentiated."""
    for s in ir.walk(ir.Block(tuple(body))):
        if isinstance(s, ir.Raise) and s.exception is not None and context.is_varied(s.exception):
            return True
        if isinstance(s, ir.Let) and s.target in context.effects:
            return True
    return False


def _keep_what_raises(specializer: Specializer, statements: list[ir.Statement], kinds: Kinds | None) -> None:
    """Nothing that may lead to a handler is dropped because nobody reads its result."""
    for s in ir.walk(ir.Block(tuple(statements))):
        if isinstance(s, ir.Let) and s.target is not None:
            if raising.may_catch(kinds, raising.raised_by(s, specializer.value_of_exception)):
                specializer.context.must_keep.add(s.target)


def _check_stores(
    specializer: Specializer, s: ir.Try, statements: list[ir.Statement], kinds: Kinds | None, frame: Frame
) -> None:
    """Refuse arrays that are changed before an exception may interrupt the body, where a handler goes on."""
    order = list(ir.walk(ir.Block(tuple(statements))))
    for k, statement in enumerate(order):
        if isinstance(statement, ir.Store) and isinstance(statement.target, ir.Var):
            if not any(
                map(
                    specializer.there[-1],
                    specializer.context.sharing.with_(statement.target, specializer.context.value),
                )
            ):
                continue  # made in the block, so nobody else sees it
            in_loop = any(isinstance(o, (ir.For, ir.While)) for o in order[:k])
            later = order if in_loop else order[k + 1 :]
            if any(
                raising.may_catch(kinds, raising.raised_by(other, specializer.value_of_exception)) for other in later
            ):
                label = "changes an array in a block that an exception may interrupt"
                raise error(
                    "S2S104", span=statement.span, label=label, asked_by=frame.called_from,
                    hint="let the handler raise, or make a new array and assign it last",
                )


def _join(
    specializer: Specializer, s: ir.Try, inside: Builder, sides: list[_Side], going: list[_Side], frame: Frame
) -> tuple[list[ir.Var], list[list[ir.Atom]]]:
    """The results of a ``try`` and what each side yields for them. Where more than one side goes on, the first result
    says which one did."""
    context = specializer.context
    results: list[ir.Var] = []
    rows: list[list[ir.Atom]] = [[] for _ in sides]
    own = {v for b in (inside, *(side.builder for side in sides)) for v in raising.binders(b.block())}
    going_rows: dict[ir.Var, tuple[ir.Atom, ...]] = {}

    def add(result: ir.Var, atoms: list[ir.Atom]) -> None:
        results.append(result)
        going_rows[result] = tuple(a for a, side in zip(atoms, sides, strict=True) if side in going)
        for row, atom in zip(rows, atoms, strict=True):
            row.append(ir.UNDEFINED if atom == ir.POSSIBLY_UNASSIGNED else atom)  # who reads it meets the refusal

    if len(going) > 1:
        is_flag = len(going) == 2 and going[0].number == 0
        atoms: list[ir.Atom] = [ir.Const(side.number > 0 if is_flag else side.number) for side in sides]
        add(context.define("caught", Scalar(bool if is_flag else int)), atoms)
    for k, var in enumerate(s.results):
        _as_values(specializer.context, k, going)
        given = [side.yields[k] for side in going]
        for side in going:
            check_joined(specializer, side.yields[k], side.builder, s.span)
        if given and all(a == given[0] for a in given) and given[0] not in own:
            frame.env[var] = given[0]
            continue
        value = context.value(given[0]) if given and given[0] != ir.POSSIBLY_UNASSIGNED else Known(ir.UNDEFINED)
        for atom in given[1:]:
            other = Known(ir.UNDEFINED) if atom == ir.POSSIBLY_UNASSIGNED else context.value(atom)
            value = join(value, other, context.evaluator.facts)
        result = context.define(var.name, specializer.joined_value(value), any(map(context.is_varied, given)))
        context.joined(result, *given)
        frame.env[var] = result
        for atom in given:
            if isinstance(atom, ir.Var) and atom in context.unbound:
                context.unbound[result] = None
        add(result, [side.yields[k] if side in going else ir.UNDEFINED for side in sides])
    if len(going) > 1:
        for result, row in going_rows.items():
            context.sides[result] = (results[0], row)
        context.groups[results[0]] = tuple(results)
    elif going:
        for atom, result in _handed_out(context, own).items():
            add(result, [atom if side in going else ir.UNDEFINED for side in sides])
    return results, rows


def _handed_out(context: Context, own: set[ir.Var]) -> dict[ir.Var, ir.Var]:
    """New variables for those that a block has defined and that objects hold after it, in the heap as in what is
    given."""
    heap, found = context.heap, dict[ir.Var, ir.Var]()

    def outside(atom: ir.Atom) -> ir.Atom:
        if atom not in own or context.is_virtual(atom):
            return atom
        assert isinstance(atom, ir.Var)
        if atom not in found:
            found[atom] = context.define(context.name_of(atom), context.value(atom), context.is_varied(atom))
            context.joined(found[atom], atom)
        return found[atom]

    for cell, state in list(heap.states.items()):
        held = (*state.items, *((state.whole,) if state.whole is not None else ()))
        if any(map(own.__contains__, held)):
            whole = None if state.whole is None else outside(state.whole)
            heap.states[cell] = state.with_atoms(map(outside, state.items), whole)
    for kept in (heap.frozen, heap.origins):
        for cell, made in list(kept.items()):
            if (made[0] if isinstance(made, tuple) else made) in own:
                del kept[cell]  # type: ignore[attr-defined]
    return found


def _note_missing(
    specializer: Specializer, s: ir.Try, sides: list[_Side], going: list[_Side], caught: ir.Var | None, frame: Frame,
    builder: Builder,
) -> None:
    """Note which results have no value, or an unsure one, after some of the sides."""
    context = specializer.context
    for k, var in enumerate(s.results):
        result = frame.env.get(var)
        without = [side for side in going if side.yields[k] in (ir.UNDEFINED, ir.POSSIBLY_UNASSIGNED)]
        if not without or not isinstance(result, ir.Var) or caught is None:
            continue
        if any(side.yields[k] == ir.POSSIBLY_UNASSIGNED for side in without):
            context.possibly_unassigned.add(result)
        numbers = tuple(side.number for side in without)
        if context.values[caught] == Scalar(bool):
            context.unbound[result] = caught if numbers != (0,) else builder.call(operator.not_, caught, span=s.span)
        else:
            context.unbound[result] = builder.call(ops.contains, caught, ir.Const(numbers), span=s.span)


def bound_on(context: Context, test: ir.Atom, side: bool) -> set[ir.Var]:
    """The results of a ``try`` that certainly have a value where a test of one of them is true, or false."""
    if not isinstance(test, ir.Var) or test not in context.sides:
        return set()
    caught, row = context.sides[test]
    left = [k for k, a in enumerate(row) if truth(context.value(a)) in (None, side)]
    missing = (ir.UNDEFINED, ir.POSSIBLY_UNASSIGNED)
    return {
        result for result in context.groups[caught]
        if not any(context.sides[result][1][k] in missing for k in left)
    }


__all__ = ["REPEATED", "SETTINGS", "bound_on", "try_statement"]
