"""Searches: loops that move towards a point by comparisons, as bisection and golden section do. A specialised function
goes in, and the places of such loops come out.

    for _ in range(50):
        mid = 0.5 * (lo + hi)
        if g(mid, a) > 0.0:          the side depends on a, what is differentiated;
            hi = mid                 each side takes or leaves the point that was tested
        else:
            lo = mid
    return mid                       no iteration of it has a derivative by a, the root has

What the loop gives is looked for among what it carries, and the arrays that it stores into: floats whose next values
are computed from each other alone. Where anything differentiated enters them in the loop (Newton's method, a running
maximum, clipping) it is no search. A side is chosen by a branch, by ``where``, or by a mask or index in a store.

The comparison is the equation that the search solves: ``g(x, a) = 0.0`` for the ``x`` that takes the place of ``mid``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, is_float
from s2s.analysis.memory import changed_by
from s2s.core import ir, ops
from s2s.core.dataflow import reachable
from s2s.core.operators import COMPARISONS, OPERATORS
from s2s.core.record import record
from s2s.core.values import AbstractValue, Scalar, Sequence, Unknown
from s2s.models.solutions import solved

__all__ = ["Equation", "equation_of", "find_searches", "unneeded_solutions"]

_SELECTS = (np.where,)


@record
class Equation:
    """The equation that a search solves: ``left - right`` is zero at the point found. ``unknown`` are the variables of
    an iteration that hold the point which is tried; ``points`` are the parameters of the loop whose results are points
    that were tried, or are tried next."""

    left: ir.Atom
    right: ir.Atom
    unknown: frozenset[ir.Var]
    points: frozenset[ir.Var]


def find_searches(
    function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool]
) -> list[ir.Span]:
    """The places of the searches in a function whose results its own result is computed from."""
    loops = [s for s in ir.walk(function.body) if isinstance(s, (ir.For, ir.While)) and s.span is not None]
    if not any(isinstance(inner, ir.Store) or _choice(inner) for s in loops for inner in ir.walk(s.body)):
        return []
    program = _Program(function, value_of, is_varied)
    found = {id(s): s for s in loops if program.is_search(s)}
    return [s.span for s in found.values() if s.span and not any(id(inner) in found for inner in ir.walk(s.body))]


def equation_of(
    loop: ir.For | ir.While, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool]
) -> Equation | None:
    """The equation that a loop solves; None for a loop that is no search, or whose comparisons are not one equation."""
    if not any(_choice(inner) for inner in ir.walk(loop.body)):
        return None
    body = ir.Block((loop,), tuple(c.result for c in loop.carried))
    return _Program(ir.Function("", (), body), value_of, is_varied).equation(loop)


def unneeded_solutions(
    function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool]
) -> dict[ir.Atom, ir.Atom]:
    """The solutions that searches have found whose derivatives nobody reads, with the points that were found."""
    solutions = [s for s in ir.walk(function.body) if isinstance(s, ir.Let) and _is_call(s.value, solved)]
    if not solutions:
        return {}
    program = _Program(function, value_of, is_varied)
    given = [a for s in ir.walk(function.body) for a in _changing(s)]
    needed = program.needed | program.reached_by_values(given)
    found: dict[ir.Atom, ir.Atom] = {}
    for s in solutions:
        point = s.value.args[2]  # type: ignore[union-attr]
        made = program.made.get(point) if isinstance(point, ir.Var) else None
        if s.target is not None and s.target not in needed and _is_call(made, rt.check_solution):
            found[s.target] = made.args[0]  # type: ignore[union-attr, assignment]
    return found


def _is_call(value: Any, fn: Any) -> bool:
    return isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) and value.fn.value is fn


def _changing(s: ir.Statement) -> tuple[ir.Atom, ...]:
    """What a statement puts into objects, or may."""
    if isinstance(s, ir.Store):
        return (s.value,)
    return ir.atoms_of(s.value) if isinstance(s, ir.Let) and (s.target is None or changed_by(s) is not None) else ()


_Choice = tuple[ir.Atom, list[tuple[ir.Var, ir.Atom, ir.Atom]]]
"""A test, and what it decides: each with its values on both sides."""


def _choice(s: ir.Statement) -> _Choice | None:
    """The test of a statement that gives one of two values, and its results with both."""
    match s:
        case ir.If(test, then, orelse, results) if results:
            return test, list(zip(results, then.yields, orelse.yields, strict=True))
        case ir.Try(results=results, caught=ir.Var() as caught) if len(sides := ir.sides_of(s)) == 2:
            return caught, list(zip(results, *(side.yields for side in sides), strict=True))
        case ir.Let(ir.Var() as target, ir.Call(ir.Const(value=fn), (test, a, b), ())) if fn in _SELECTS:
            return test, [(target, a, b)]  # type: ignore[list-item, return-value]
    return None


class _Program:
    """Where the variables of a function come from, by values alone: not by which branch was taken."""

    def __init__(self, function: ir.Function, value_of: Any, is_varied: Any) -> None:
        self.value_of, self.is_varied = value_of, is_varied
        self.sources: dict[ir.Var, list[ir.Atom]] = {}
        self.made: dict[ir.Var, ir.Value] = {}
        self.stored: dict[ir.Var, list[ir.Atom]] = {}
        self.chosen: dict[ir.Var, tuple[ir.Atom, list[ir.Atom]]] = {}
        self.ended: dict[ir.Var, tuple[ir.Atom, ...]] = {}
        self.carried: dict[ir.Var, tuple[ir.Atom, ir.Atom]] = {}
        for s in ir.walk(function.body):
            self.note(s)
        self.needed = self.reached_by_values(function.body.yields)

    def note(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(ir.Var() as target, value):
                choice = _choice(s)
                self.made[target] = value
                self.sources[target] = [*choice[1][0][1:]] if choice else _moving(value)
                if choice:
                    self.chosen[target] = choice[0], self.sources[target]
                elif (item := self.item_of_chosen(value)) is not None:
                    self.chosen[target] = item
                    self.sources[target] = item[1]
            case ir.Store(target=ir.Var() as target, value=value):
                self.stored.setdefault(target, []).append(value)
            case ir.If(results=results) | ir.Try(results=results):
                for k, result in enumerate(results):
                    self.sources[result] = [side.yields[k] for side in ir.sides_of(s)]
                    if isinstance(s, ir.If):
                        self.chosen[result] = s.test, self.sources[result]
                if isinstance(s, ir.Try) and s.caught is not None:
                    self.ended[s.caught] = tuple(v for inner in ir.walk(s.body) for v in ir.defs_of(inner))
            case ir.For(carried=carried, body=body) | ir.While(carried=carried, body=body):
                for c, following in zip(carried, body.yields, strict=True):
                    self.carried[c.param] = (c.init, following)
                    self.sources[c.result] = [c.init, following]
                    ends = s.test.yields if isinstance(s, ir.While) else (s.iterable,)
                    self.ended[c.result] = ends if s.leave is None else (*ends, s.leave)
                if isinstance(s, ir.For):
                    self.sources[s.item] = [s.iterable]
            case (
                ir.Let() | ir.Store() | ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() |
                ir.Continue() | ir.Note()
            ):
                pass
            case _:
                assert_never(s)

    def item_of_chosen(self, value: ir.Value) -> tuple[ir.Atom, list[ir.Atom]] | None:
        """The test and the values of an item that is read of one of several tuples, which a branch has chosen."""
        match value:
            case ir.Call(fn=f, args=(ir.Var() as whole, ir.Const(value=int() as k))) if f == _GETITEM and (
                    whole in self.chosen):
                test, sides = self.chosen[whole]
                tuples = [items for side in sides if (items := self.items(side)) and -len(items) <= k < len(items)]
                return (test, [items[k] for items in tuples]) if len(tuples) == len(sides) else None
        return None

    def items(self, atom: ir.Atom) -> list[ir.Atom] | None:
        """The items of a tuple that is written where it is made."""
        made = self.made.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Call) or made.fn != _MAKE_TUPLE:
            return None
        return [a for a in made.args if not isinstance(a, ir.Star)]

    def reached_by_values(self, atoms: Iterable[ir.Atom]) -> set[ir.Var]:
        """The variables that atoms are computed from in all iterations, as far as derivatives go."""
        return self._reached(list(atoms), self.values_of)

    def reached(self, atoms: list[ir.Atom]) -> set[ir.Var]:
        """The variables that atoms are computed from in one iteration."""
        return self._reached(atoms, self.sources_of)

    def sources_of(self, var: ir.Var) -> tuple[ir.Atom, ...]:
        """What a variable is computed from, or holds, in one iteration."""
        return *self.sources.get(var, ()), *self.stored.get(var, ())

    def values_of(self, var: ir.Var) -> tuple[ir.Atom, ...]:
        """What a variable is computed from in this iteration and those before, by values that may have derivatives: not
        by the result of a comparison, an index, or a mask."""
        return (*self.sources_of(var), *self.carried.get(var, ())) if self.may_vary(var) else ()

    def may_vary(self, var: ir.Var) -> bool:
        value = self.value_of(var)
        dtype = dtype_of(value)
        return not (isinstance(value, Scalar) and value.type is bool) if dtype is None else dtype.kind not in "biu"

    def _reached(self, atoms: list[ir.Atom], following: Callable[[ir.Var], Iterable[ir.Atom]]) -> set[ir.Var]:
        def variables(given: Iterable[ir.Atom]) -> Iterator[ir.Var]:
            return (a for a in given if isinstance(a, ir.Var))

        return reachable(variables(atoms), lambda var: variables(following(var)))

    # --- loops

    def is_search(self, loop: ir.For | ir.While) -> bool:
        return loop.leave != ir.Const(True) and any(self.decisions(self.region(loop)))  # nothing is tried again

    def region(self, loop: ir.For | ir.While) -> _Region:
        inside = {v for s in ir.walk(loop.body) for v in (*ir.defs_of(s), *ir.inner_defs_of(s))}
        inside |= {*ir.inner_defs_of(loop)}
        following = self.following(loop, inside)
        state = self.state(loop, following)
        while entered := {k for k in state if self.enters(following[k], inside, state)}:
            state -= entered
        return _Region(loop, inside | (following.keys() - state), following, state)

    def decisions(self, region: _Region) -> Iterator[tuple[ir.Atom, ir.Var]]:
        """The tests of a loop that take or leave a point of the state, each with the point that it has tried."""
        for test, results in self.choices(region.loop.body) if region.state else ():
            if not self.ends(region.loop, test):
                yield from ((test, taken) for taken in self.searched(test, results, region))

    def following(self, loop: ir.For | ir.While, inside: set[ir.Var]) -> dict[ir.Var, list[ir.Atom]]:
        """What holds something else after an iteration, with what that is computed from: the variables that a loop
        carries, and the arrays from before it that it stores into."""
        found = {c.param: [following] for c, following in zip(loop.carried, loop.body.yields, strict=True)}
        for s in ir.walk(loop.body):
            if isinstance(s, ir.Store) and (array := self.stored_into(s)) not in inside and isinstance(array, ir.Var):
                found.setdefault(array, []).append(s.value)
        return found

    def stored_into(self, store: ir.Store) -> ir.Atom:
        """The array that a store changes, where its target is a part that was read of it."""
        return self.whole(store.target)

    def whole(self, atom: ir.Atom) -> ir.Atom:
        """The array or tuple that an atom was read of, as a part or a part of a part."""
        while (whole := self.indexed(atom)) is not None:
            atom = whole
        return atom

    def indexed(self, atom: ir.Atom) -> ir.Atom | None:
        """What an atom is a part of, which was read by an index or a mask."""
        made = self.made.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Call) or made.fn != _GETITEM or isinstance(made.args[0], ir.Star):
            return None
        return made.args[0]

    def choices(self, block: ir.Block) -> Iterator[_Choice]:
        """The choices in a block and those inside it. A store is one, by its mask or index and by the branch that it is
        in: the array keeps what it holds on the other side."""
        for s in block.statements:
            if (choice := _choice(s)) is not None:
                yield choice
                pairs = [(result, self.items(a), self.items(b)) for result, a, b in choice[1]]
                yield choice[0], [(result, *both) for result, a, b in pairs if a and b for both in zip(a, b)]
            elif isinstance(s, ir.Let) and s.target in self.chosen:
                test, (a, b) = self.chosen[s.target]
                yield test, [(s.target, a, b)]
            if isinstance(s, ir.If):
                stores = [inner for side in ir.sides_of(s) for inner in side.statements if isinstance(inner, ir.Store)]
                yield s.test, [kept for store in stores for kept in self.stored_or_kept(store)]
            elif isinstance(s, ir.Store):
                yield s.key, [*self.stored_or_kept(s)]
            for inner in ir.blocks_of(s):
                yield from self.choices(inner)

    def stored_or_kept(self, store: ir.Store) -> Iterator[tuple[ir.Var, ir.Atom, ir.Atom]]:
        """What a store changes, with what it holds afterwards on both sides; nothing for an object that is known."""
        array = self.stored_into(store)
        if isinstance(array, ir.Var):
            yield array, store.value, array

    def state(self, loop: ir.For | ir.While, following: dict[ir.Var, list[ir.Atom]]) -> set[ir.Var]:
        """The floats among what changes in a loop that the result of the function is computed from, by themselves or by
        others of them."""
        results = {c.param: c.result for c in loop.carried}
        found = {k for k in following if results.get(k, k) in self.needed and self.may_be_float(k)}

        def others(var: ir.Var) -> list[ir.Var]:
            found = self._reached(following[var], lambda v: self.sources_of(v) if self.may_vary(v) else ())
            return [v for v in found if v in following and self.may_be_float(v)]

        return reachable(found, others)

    def may_be_float(self, var: ir.Var) -> bool:
        value = self.value_of(var)
        dtype = dtype_of(value)
        if isinstance(value, Sequence):
            return any(map(is_float, value.items))
        return dtype.kind == "f" if dtype is not None else is_float(value) or isinstance(value, Unknown)

    def enters(self, following: list[ir.Atom], inside: set[ir.Var], state: set[ir.Var]) -> bool:
        """Whether something differentiated enters the next value of what changes, other than by the state."""
        found = self.reached_inside(following, inside)
        return any(v not in state and self.is_varied(v) and (v not in inside or v not in self.sources) for v in found)

    def reached_inside(self, atoms: list[ir.Atom], inside: set[ir.Var]) -> set[ir.Var]:
        """The variables that atoms are computed from by their values, back to what is there before the loop."""
        return self._reached(atoms, lambda var: self.sources_of(var) if var in inside and self.may_vary(var) else ())

    def ends(self, loop: ir.For | ir.While, test: ir.Atom) -> bool:
        """Whether a test is one that ends the loop."""
        if not isinstance(loop.leave, ir.Var):
            return False
        return test in self.reached([loop.leave]) or loop.leave in self.reached([test])

    def searched(
        self, test: ir.Atom, results: list[tuple[ir.Var, ir.Atom, ir.Atom]], region: _Region
    ) -> Iterator[ir.Var]:
        """The points that a choice takes, or leaves what the state holds in their place, which its test has tried by
        something differentiated."""
        inside, state = region.inside, region.state
        tried = self.tried(test, inside, state)
        if not tried & state or not any(v not in state and self.is_varied(v) and v not in inside for v in tried):
            return
        written = {self.written(v) for v in tried}
        moved = state | {v for k in state for v in self.reached_inside(region.following[k], inside)}
        for result, *sides in results:
            if result not in moved:
                continue
            for taken, left in (sides, sides[::-1]):
                is_left = self.whole(left) in state and self.whole(taken) != self.whole(left)
                if is_left and isinstance(taken, ir.Var) and self.written(taken) in written:
                    yield taken

    def tried(self, test: ir.Atom, inside: set[ir.Var], state: set[ir.Var]) -> set[ir.Var]:
        """The variables that a comparison reads: also by values of the function that were kept from before, by the
        tests that choose what it reads, and by how often a loop runs, as where it counts. The state is what it is in
        this iteration."""

        def read(var: ir.Var) -> tuple[ir.Atom, ...]:
            before = () if var in state else self.carried.get(var, ())
            chosen = self.chosen[var][:1] if var in self.chosen else ()
            return *self.sources_of(var), *chosen, *self.ended.get(var, ()), *before

        return self._reached([test], lambda var: read(var) if var in inside else ())

    def written(self, var: ir.Var) -> Any:
        """How a variable is computed, or what it is a part of: the same for two that are computed alike."""
        while isinstance(whole := self.indexed(var), ir.Var):
            var = whole
        made = self.made.get(var)
        if isinstance(made, ir.Call) and made.fn in _ARITHMETIC and not made.kwargs:
            return made.fn, made.args
        return var

    # --- equations

    def equation(self, loop: ir.For | ir.While) -> Equation | None:
        """The equation that a loop solves: its tests try one point, and each compares the same two numbers."""
        region = self.region(loop)
        decisions = [*self.decisions(region)]
        if len({self.written(taken) for _, taken in decisions}) != 1:
            return None
        alike = self.written(decisions[0][1])
        unknown = frozenset(v for v in region.inside if self.written(v) == alike)
        tests = [test for test, _ in decisions]
        compared = [[pair for pair in self.compared(t, unknown) if self.moves(pair, region)] for t in tests]
        pairs = {(self.spelled(pair[0]), self.spelled(pair[1])): pair for found in compared for pair in found}
        left, right = pairs.popitem()[1] if len(pairs) == 1 and all(compared) else (None, _ZERO)
        return None if left is None else Equation(left, right, unknown, self.points(region, unknown))

    def spelled(self, atom: ir.Atom | None, depth: int = 8) -> Any:
        """How an atom is computed, the same for two that are computed alike."""
        made = self.made.get(atom) if isinstance(atom, ir.Var) and depth else None
        if not isinstance(made, ir.Call) or made.kwargs or any(isinstance(a, ir.Star) for a in made.args):
            return atom
        return made.fn, *(self.spelled(a, depth - 1) for a in made.args)  # type: ignore[arg-type]

    def moves(self, pair: tuple[ir.Atom | None, ir.Atom], region: _Region) -> bool:
        """Whether something differentiated from outside of the loop decides which of two numbers is larger."""
        found = self.reached([a for a in pair if a is not None])
        return pair[0] is None or any(self.is_varied(v) and v not in region.inside | region.state for v in found)

    def compared(self, test: ir.Atom, unknown: frozenset[ir.Var]) -> Iterator[tuple[ir.Atom | None, ir.Atom]]:
        """The pairs of numbers whose order a test depends on, as far as the unknown enters them; None and the test
        where that is not known."""
        if not isinstance(test, ir.Var) or self.reached([test]).isdisjoint(unknown):
            return
        made, given = self.made.get(test), list[ir.Atom]()
        if test in self.chosen:
            choice, sides = self.chosen[test]
            given = [choice, *sides]
        elif isinstance(made, ir.Call) and made.fn in _ORDERS and len(made.args) == 2:
            left, right = self.sources[test][1:]
            if not any(isinstance(a, ir.Var) and (self.may_vary(a) or self.is_sign(a)) for a in (left, right)):
                yield None, test  # they are counted
                return
            if _is_zero(left) or _is_zero(right):
                yield from self.with_sign_of(right if _is_zero(left) else left, unknown)
                return
            if not (self.is_sign(left) or self.is_sign(right)):
                yield left, right
                return
            given = [left, right]
        elif isinstance(made, ir.Call) and made.fn in _OF_SIGNS:
            given = self.sources[test][1:]
        elif isinstance(made, ir.Call) and made.fn in _SIGNS:
            yield from self.with_sign_of(self.sources[test][1], unknown)
            return
        else:
            yield None, test
        for atom in given:
            yield from self.compared(atom, unknown)

    def with_sign_of(self, number: ir.Atom, unknown: frozenset[ir.Var]) -> Iterator[tuple[ir.Atom | None, ir.Atom]]:
        """The pairs that decide about the sign of a number: of a product it is that of the factor which the unknown
        enters."""
        made = self.made.get(number) if isinstance(number, ir.Var) else None
        if isinstance(made, ir.Call) and made.fn in _OF_FACTORS:
            within = [a for a in made.args if isinstance(a, ir.Var) and not self.reached([a]).isdisjoint(unknown)]
            if len(within) == 1:
                yield from self.with_sign_of(within[0], unknown)
                return
        if isinstance(made, ir.Call) and made.fn in _SIGNS:
            yield from self.compared(number, unknown)
        else:
            yield number, _ZERO

    def is_sign(self, atom: ir.Atom) -> bool:
        """Whether a number is a bool or a sign."""
        made = self.made.get(atom) if isinstance(atom, ir.Var) else None
        return isinstance(made, ir.Call) and made.fn in (*_ORDERS, *_OF_SIGNS, *_SIGNS)

    def points(self, region: _Region, unknown: frozenset[ir.Var]) -> frozenset[ir.Var]:
        """The state that holds points which were tried, and nothing else but what was there before the loop."""
        found = {c.param for c in region.loop.carried} & region.state

        def is_point(param: ir.Var) -> bool:
            held = self._reached(region.following[param], lambda var: self.chosen[var][1] if var in self.chosen else ())
            return param in unknown or all(v in self.chosen or v in unknown or v in found for v in held)

        while others := {param for param in found if not is_point(param)}:
            found -= others
        return frozenset(found)


@record
class _Region:
    """A loop, the variables that hold something else in each iteration, the next values of what it changes, and what
    of that is its state: moved by comparisons alone."""

    loop: ir.For | ir.While
    inside: set[ir.Var]
    following: dict[ir.Var, list[ir.Atom]]
    state: set[ir.Var]


def _moving(value: ir.Value) -> list[ir.Atom]:
    """What the result of an operation moves with: that of an equation with what the equation depends on."""
    if _is_call(value, solved):
        return [a for a in value.args[3:] if not isinstance(a, ir.Star)]  # type: ignore[union-attr]
    return list(ir.atoms_of(value))


def _is_zero(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) in (int, float) and atom.value == 0


def _with_ufuncs(*functions: Any) -> tuple[ir.Const, ...]:
    ufuncs = (OPERATORS[fn].ufunc for fn in functions if fn in OPERATORS)
    return tuple(ir.Const(fn) for fn in (*functions, *ufuncs) if fn is not None)


_ZERO = ir.Const(0.0)
_ORDERS = _with_ufuncs(*(fn for fn, one in COMPARISONS.items() if one.ufunc is not None))
_OF_SIGNS = (
    *_with_ufuncs(operator.not_, operator.invert, operator.and_, operator.or_, operator.xor),
    *map(ir.Const, (bool, np.logical_not, np.logical_and, np.logical_or, np.logical_xor)),
)
_SIGNS = (ir.Const(np.sign), ir.Const(np.signbit))
_OF_FACTORS = _with_ufuncs(operator.mul, operator.truediv, operator.neg, operator.pos)
_GETITEM = ir.Const(operator.getitem)
_MAKE_TUPLE = ir.Const(ops.make_tuple)
_ARITHMETIC = tuple(map(ir.Const, (operator.add, operator.sub, operator.mul, operator.truediv)))
