"""Branches in partial evaluation: one side where the test is known, both otherwise, and what is joined after them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import join, truth, widen_known
from s2s.analysis.raising import ends
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import AbstractValue, Known, Scalar
from s2s.errors import DifferentiationError
from s2s.specialize.deferred_refusals import may_refuse_later, may_refuse_some, refusal
from s2s.specialize.exceptions import bound_on
from s2s.specialize.expected import is_taken, unreached
from s2s.specialize.frames import Frame, pinned
from s2s.specialize.heap.joins import Join, Leaf, Side, changed_cells, with_known_attributes
from s2s.specialize.speculation import speculate
from s2s.specialize.variables import check_joined, check_read

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

def branch(specializer: Specializer, statement: ir.If, frame: Frame, builder: Builder) -> bool:
    """An ``if``: fold it where its test is known, otherwise specialise both sides."""
    test = specializer.atom(statement.test, frame)
    if test == ir.POSSIBLY_UNASSIGNED or test in specializer.context.possibly_unassigned:
        check_read(specializer, statement.test, test, builder, statement.span, frame)
    if specializer.context.is_virtual(test):
        test = specializer.apply(ir.Const(bool), [test], {}, frame, builder, statement.span)
    decided = _decided(specializer.context, test if specializer.is_own(frame.fn) else pinned(specializer, test))
    if decided is not None:
        if specializer.folds is not None:
            specializer.folds.decided(statement, frame, decided)
        block = statement.then if decided else statement.orelse
        return _splice(specializer, block, statement, frame, builder)
    sides: list[Any] = []
    base, refused = specializer.context.heap, False
    for block in (statement.then, statement.orelse):
        trap = unreached(specializer, frame, statement, block, builder)
        if trap is not None:
            nothing: tuple[ir.Atom, ...] = tuple(ir.UNDEFINED for _ in block.yields)
            sides.append((trap, nothing, True, base.copy()))
            continue
        child = builder.child()
        is_then = block is statement.then
        specializer.context.heap = with_known_attributes(specializer.context, base.copy(), test, is_then)
        child.bound |= bound_on(specializer.context, test, is_then)
        specializer.undecided += 1
        specializer.there.append(specializer.context.births())
        before = [len(watch.changes) for watch in specializer.iterables.watches]
        try:
            with speculate(
                specializer, child, only_if=not refused and may_refuse_some(specializer, frame)
            ) as speculation:
                given = specializer.run(block, frame.copy(), speculation.builder)
            for watch, count in zip(specializer.iterables.watches, before, strict=True):
                watch.note_side(count, statement, block, given)
        except DifferentiationError as problem:
            if refused or is_taken(statement, block) or not may_refuse_later(specializer, frame, problem):
                raise
            refused = True
            child, given = refusal(problem, builder), tuple(ir.UNDEFINED for _ in block.yields)
        finally:
            specializer.undecided -= 1
            specializer.there.pop()
        sides.append((child, given, ends(child.statements), specializer.context.heap))
    specializer.context.heap = base
    (then, then_yields, then_raised, _), (orelse, else_yields, else_raised, _) = sides
    if then_raised and else_raised:
        builder.add(ir.If(test, then.block(), orelse.block(), (), statement.span))
        return True
    if then_raised or else_raised:
        return _after_raise(specializer.context, statement, test, sides, frame, builder)
    paths = (Side(then, sides[0][3]), Side(orelse, sides[1][3]))
    roots = [(v.name, a, b) for v, a, b in zip(statement.results, then_yields, else_yields, strict=True)]
    atoms = join_sides(specializer, test, base, paths, roots, builder, statement.span)
    frame.env.update(zip(statement.results, atoms, strict=True))
    return False


def assertion(specializer: Specializer, statement: ir.Assert, frame: Frame, builder: Builder) -> bool:
    """An ``assert`` is a branch that raises, and an assertion again where nothing else has become of that branch."""
    problem = statement.problem
    raising = ir.Block((*problem.statements, ir.Raise(problem.yields[0], None, statement.span)))
    if branch(specializer, ir.If(statement.test, ir.Block(()), raising, (), statement.span), frame, builder):
        return True
    last = builder.statements[-1] if builder.statements else None
    if not specializer.trying and isinstance(last, ir.If) and last.span is statement.span and last.orelse.statements:
        *made, end = last.orelse.statements
        given = end.exception if isinstance(end, ir.Raise) else None
        if given is not None and specializer.context.definition(given, AssertionError) is not None:
            builder.statements[-1] = ir.Assert(last.test, ir.Block(tuple(made), (given,)), last.span)
    return False


def _decided(context: Context, test: ir.Atom) -> bool | None:
    """The truth of a test, where it is known: of what is known, and of ``a and False`` and ``a or True``."""
    found, chosen = truth(context.value(test)), context.choices.get(test)  # type: ignore[arg-type]
    if found is not None or chosen is None or test in context.unbound:
        return found
    condition, then, orelse = chosen
    first = True if then == condition else _decided(context, then)
    second = False if orelse == condition else _decided(context, orelse)
    return first if first is second else None


def join_sides(
    specializer: Specializer, test: ir.Atom, base: virtual_heap.Heap, sides: tuple[Side, Side],
    roots: list[tuple[str, ir.Atom, ir.Atom]], builder: Builder, span: ir.Span | None,
) -> list[ir.Atom]:
    """The ``If`` of two paths that are both complete; the atoms that its results are for ``roots``."""
    for _, a, b in roots:
        if a != b:
            check_joined(specializer, a, sides[0].builder, span)
            check_joined(specializer, b, sides[1].builder, span)
    found = Join(specializer.context, base, sides, roots, changed_cells(base, sides[0].heap, sides[1].heap))
    builders = (sides[0].builder, sides[1].builder)
    results = [joined_by(specializer.context, leaf, test, builder, builders) for leaf in found.leaves]
    yields = [[ir.UNDEFINED if a == ir.POSSIBLY_UNASSIGNED else a for a in side] for side in (
        [leaf.first for leaf in found.leaves], [leaf.second for leaf in found.leaves])]
    then, orelse = sides[0].builder, sides[1].builder
    if results or then.statements or orelse.statements:
        builder.add(ir.If(test, then.block(*yields[0]), orelse.block(*yields[1]), tuple(results), span))
    atoms, specializer.context.heap = found.rebuild([*results])
    return atoms


def joined_by(
    context: Context, leaf: Leaf, test: ir.Atom, builder: Builder, sides: tuple[Builder, Builder]
) -> ir.Var:
    """The variable that is one atom or the other."""
    a, b = leaf.first, leaf.second
    first, second = (context.value(ir.UNDEFINED if x == ir.POSSIBLY_UNASSIGNED else x) for x in (a, b))
    value = join(first, second, context.evaluator.facts)
    result = context.define(leaf.name, phi(value), context.is_varied(a) or context.is_varied(b))
    missing = [x in (ir.UNDEFINED, ir.POSSIBLY_UNASSIGNED) for x in (a, b)]
    if any(missing):
        context.unbound[result] = test if missing[0] else builder.call(operator.not_, test)
    elif any(x in context.unbound and not s.is_bound(x) for x, s in zip((a, b), sides, strict=True)):  # type: ignore[arg-type]
        context.unbound[result] = None
    if ir.POSSIBLY_UNASSIGNED in (a, b):
        context.possibly_unassigned.add(result)
    context.choices[result] = (test, a, b)
    context.joined(result, a, b)
    return result


def _splice(specializer: Specializer, block: ir.Block, statement: ir.If, frame: Frame, builder: Builder) -> bool:
    yields = specializer.run(block, frame, builder)
    if ends(builder.statements[-1:]):
        return True
    for var, atom in zip(statement.results, yields, strict=True):
        frame.env[var] = atom
    return False


def _after_raise(
    context: Context, statement: ir.If, test: ir.Atom, sides: list[Any], frame: Frame, builder: Builder
) -> bool:
    """One side raises: the other one goes on after the ``if``, not inside it."""
    (then, then_yields, then_raised, then_heap), (orelse, else_yields, _, else_heap) = sides
    raising, going, yields = (then, orelse, else_yields) if then_raised else (orelse, then, then_yields)
    context.heap = else_heap if then_raised else then_heap
    first, second = (raising.block(), ir.Block(())) if then_raised else (ir.Block(()), raising.block())
    builder.add(ir.If(test, first, second, (), statement.span))
    builder.statements.extend(going.statements)
    for var, atom in zip(statement.results, yields, strict=True):
        frame.env[var] = atom
    return False


def phi(value: AbstractValue) -> AbstractValue:
    """What a variable that joins paths may be taken for: never an object, which would fold it away."""
    value = widen_known(value)
    if isinstance(value, Known) and isinstance(value.value, (bool, int, float, complex, np.generic)):
        return Scalar(type(value.value))
    return value
