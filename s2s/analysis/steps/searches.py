"""Searches: loops that move towards a point by comparisons, as bisection and golden section do. A specialised function
goes in, and the places of such loops come out.

    for _ in range(50):
        mid = 0.5 * (lo + hi)
        if g(mid, a) > 0.0:          the side depends on a, what is differentiated;
            hi = mid                 each side takes or leaves the point that was tested
        else:
            lo = mid
    return mid                       no step of it has a derivative by a, the root has

What the loop gives is looked for among what it carries, and the arrays that it stores into: floats whose next values
are computed from each other alone. Where anything differentiated enters them in the loop (Newton's method, a running
maximum, clipping) it is no search. A side is chosen by a branch, by ``where``, or by a mask or index in a store.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

import numpy as np

from s2s.analysis.abstract.lattice import dtype_of, is_float
from s2s.core import ir
from s2s.core.dataflow import reachable
from s2s.core.values import AbstractValue
from s2s.notices import Notice

__all__ = ["find_searches", "notices_of_searches"]

_SELECTS = (np.where,)


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


def notices_of_searches(
    function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool]
) -> Iterator[Notice]:
    """What is told of loops that find a point by comparisons: that their derivative is that of their steps."""
    for span in find_searches(function, value_of, is_varied):
        text = _OF_SEARCHES.format(name=span.function or function.name)
        yield Notice("SearchWarning", text, span.file, span.line, function.name)


_OF_SEARCHES = (
    "`{name}` finds a point by comparisons: its result has the derivative of the steps of this loop, not that of the "
    "point. Use `s2s.implicit({name}, residual)` in its place, where `residual(x, *args)` is zero at the point: what "
    "the comparisons look for, or for a minimum the derivative of what is least there"
)
_Choice = tuple[ir.Atom, list[tuple[ir.Var, ir.Atom, ir.Atom]]]
"""A test, and what it decides: each with its values on both sides."""


def _choice(s: ir.Statement) -> _Choice | None:
    """The test of a statement that gives one of two values, and its results with both."""
    match s:
        case ir.If(test, then, orelse, results) if results:
            return test, list(zip(results, then.yields, orelse.yields, strict=True))
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
        self.carried: dict[ir.Var, tuple[ir.Atom, ir.Atom]] = {}
        for s in ir.walk(function.body):
            self.note(s)
        self.needed = self._reached(list(function.body.yields), self.values_of)

    def note(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(ir.Var() as target, value):
                choice = _choice(s)
                self.made[target] = value
                self.sources[target] = [*choice[1][0][1:]] if choice else list(ir.atoms_of(value))
            case ir.Store(target=ir.Var() as target, value=value):
                self.stored.setdefault(target, []).append(value)
            case ir.If(results=results) | ir.Try(results=results):
                for k, result in enumerate(results):
                    self.sources[result] = [side.yields[k] for side in ir.sides_of(s)]
            case ir.For(carried=carried, body=body) | ir.While(carried=carried, body=body):
                for c, following in zip(carried, body.yields, strict=True):
                    self.carried[c.param] = (c.init, following)
                    self.sources[c.result] = [c.init, following]
                if isinstance(s, ir.For):
                    self.sources[s.item] = [s.iterable]
            case (
                ir.Let() | ir.Store() | ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() |
                ir.Continue() | ir.Note()
            ):
                pass
            case _:
                assert_never(s)

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
        dtype = dtype_of(self.value_of(var))
        return dtype is None or dtype.kind not in "biu"

    def _reached(self, atoms: list[ir.Atom], following: Callable[[ir.Var], Iterable[ir.Atom]]) -> set[ir.Var]:
        def variables(given: Iterable[ir.Atom]) -> Iterator[ir.Var]:
            return (a for a in given if isinstance(a, ir.Var))

        return reachable(variables(atoms), lambda var: variables(following(var)))

    # --- loops

    def is_search(self, loop: ir.For | ir.While) -> bool:
        inside = {v for s in ir.walk(loop.body) for v in ir.defs_of(s)} | {c.param for c in loop.carried}
        inside |= {loop.item} if isinstance(loop, ir.For) else set()
        following = self.following(loop, inside)
        state = self.state(loop, following)
        if not state or any(self.enters(following[k], inside, state) for k in state):
            return False
        inside |= following.keys() - state
        return any(
            self.searches(test, results, state, inside, following)
            for test, results in self.choices(loop.body) if not self.ends(loop, test)
        )

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
        array = store.target
        while isinstance(array, ir.Var) and (whole := self.indexed(array)) is not None:
            array = whole
        return array

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
        return dtype.kind == "f" if dtype is not None else is_float(value)

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

    def searches(
        self, test: ir.Atom, results: list[tuple[ir.Var, ir.Atom, ir.Atom]], state: set[ir.Var], inside: set[ir.Var],
        following: dict[ir.Var, list[ir.Atom]],
    ) -> bool:
        """Whether a choice takes or leaves a point of the state that its test, by something differentiated, has tried.
        """
        tried = self.tried(test, inside, state)
        if not tried & state or not any(v not in state and self.is_varied(v) and v not in inside for v in tried):
            return False
        written = {self.written(v) for v in tried}
        moved = state | {v for k in state for v in self.reached_inside(following[k], inside)}
        for result, *sides in results:
            if result not in moved:
                continue
            for taken, left in (sides, sides[::-1]):
                if left in state and taken != left and isinstance(taken, ir.Var) and self.written(taken) in written:
                    return True
        return False

    def tried(self, test: ir.Atom, inside: set[ir.Var], state: set[ir.Var]) -> set[ir.Var]:
        """The variables that a comparison reads: also by values of the function that were kept from before. The
        state is what it is in this iteration."""
        return self._reached([test], lambda var: (
            *self.sources_of(var), *(() if var in state else self.carried.get(var, ()))) if var in inside else ())

    def written(self, var: ir.Var) -> Any:
        """How a variable is computed, or what it is a part of: the same for two that are computed alike."""
        while isinstance(whole := self.indexed(var), ir.Var):
            var = whole
        made = self.made.get(var)
        if isinstance(made, ir.Call) and made.fn in _ARITHMETIC and not made.kwargs:
            return made.fn, made.args
        return var


_GETITEM = ir.Const(operator.getitem)
_ARITHMETIC = tuple(map(ir.Const, (operator.add, operator.sub, operator.mul, operator.truediv)))
