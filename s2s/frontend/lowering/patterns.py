"""The patterns of a ``match`` go in; the tests, reads and assignments that they mean come out.

A pattern has two halves: ``Patterns.test`` puts what decides whether it matches and gives one truth value, tests in it
in Python's order and none after one that failed; ``Patterns.bind`` puts the captures, where the pattern has matched.

    case [0, y] if y > 0:     test: isinstance(s, Sequence) and not isinstance(s, (str, ...)) and len(s) == 2
                                    and s[0] == 0
                              bind: _, y = s
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Let, Var
from s2s.frontend.lowering.bindings import captured_names, own
from s2s.frontend.lowering.context import Context, block_of

__all__ = ["Patterns", "is_irrefutable"]

Read: TypeAlias = Callable[[], ir.Atom]
"""Puts what reads a subject, and gives its atom."""

_NO_SEQUENCES = (str, bytes, bytearray)
_MATCH_THEMSELVES = frozenset({
    "bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple",
})
"""Built-in classes whose one positional pattern matches the subject itself."""


def is_irrefutable(pattern: cst.MatchPattern) -> bool:
    """Whether a pattern matches everything: ``_``, a name, or an ``or`` with one of these."""
    match pattern:
        case cst.MatchAs(pattern=inner):
            return inner is None or is_irrefutable(inner)
        case cst.MatchOr(patterns=patterns):
            return any(is_irrefutable(p.pattern) for p in patterns)
        case _:
            return False


class Patterns:
    """Lowers the pattern of one case."""

    def __init__(self, c: Context) -> None:
        self.c = c
        self.chosen: dict[int, Var] = {}
        """Which alternative of an ``or`` with captures has matched, by the ``id`` of its pattern."""

    # --- tests

    def test(self, pattern: cst.MatchPattern, subject: ir.Atom) -> ir.Atom:
        """Whether a pattern matches a subject."""
        return self._all(self._tests(pattern, lambda: subject), pattern)

    def _all(self, tests: Sequence[Read], node: cst.CSTNode) -> ir.Atom:
        """``first and second and ...``"""
        if not tests:
            return Const(True)
        first = tests[0]()
        if len(tests) == 1:
            return first
        result = self.c.bind(first, node)
        with self.c.block() as statements:
            self.c.let(result, self._all(tests[1:], node), node)
        self.c.put(ir.If(result, block_of(statements), ir.Block(()), (), self.c.span(node)))
        return result

    def _tests(self, pattern: cst.CSTNode, read: Read) -> list[Read]:
        """The tests of a pattern, to be put one after the other."""
        c = self.c
        match pattern:
            case cst.MatchAs(pattern=inner):
                return [] if inner is None else self._tests(inner, read)
            case cst.MatchValue(value=value):
                return [lambda: c.call(pattern, operator.eq, read(), c.atom(value))]
            case cst.MatchSingleton(value=value):
                return [lambda: c.call(pattern, operator.is_, read(), c.atom(value))]
            case cst.MatchOr(patterns=patterns):
                return [] if is_irrefutable(pattern) else [lambda: self._any(pattern, read)]
            case cst.MatchList(patterns=patterns) | cst.MatchTuple(patterns=patterns):
                return self._sequence(pattern, patterns, read)
            case cst.MatchMapping():
                return self._mapping(pattern, read)
            case cst.MatchClass():
                return self._class(pattern, read)
            case _:
                raise AssertionError(f"no such pattern: {type(pattern).__name__}")

    def _any(self, pattern: cst.MatchOr, read: Read) -> Var:
        """The first alternative that matches: its number where captures need to know it, else only whether."""
        needs_number = next(captured_names(pattern), None) is not None
        result = self.c.temporary()
        self._alternatives(pattern, [p.pattern for p in pattern.patterns], read, result, needs_number)
        if not needs_number:
            return result
        self.chosen[id(pattern)] = result
        return self.c.call(pattern, operator.ne, result, Const(0))

    def _alternatives(
        self, whole: cst.MatchOr, left: Sequence[cst.MatchPattern], read: Read, result: Var, needs_number: bool
    ) -> None:
        number = len(whole.patterns) - len(left) + 1
        test = self._all(self._tests(left[0], read), left[0])
        if len(left) == 1 and not needs_number:
            self.c.let(result, test, left[0])
            return
        with self.c.block() as found:
            self.c.let(result, Const(number if needs_number else True), left[0])
        with self.c.block() as others:
            if len(left) == 1:
                self.c.let(result, Const(0), left[0])
            else:
                self._alternatives(whole, left[1:], read, result, needs_number)
        blocks = block_of(found), block_of(others)
        self.c.put(ir.If(test, *blocks, (), self.c.span(left[0])))

    def _sequence(self, pattern: cst.CSTNode, patterns: Sequence[Any], read: Read) -> list[Read]:
        c = self.c
        before, after = _around_star(patterns)
        compare, count = (operator.eq, before) if after is None else (operator.ge, before + after)
        tests: list[Read] = [
            lambda: c.call(pattern, isinstance, read(), Const(Sequence)),
            lambda: c.call(pattern, operator.not_, c.call(pattern, isinstance, read(), Const(_NO_SEQUENCES))),
            lambda: c.call(pattern, compare, c.call(pattern, len, read()), Const(count)),
        ]
        for k, element in enumerate(patterns):
            if not isinstance(element, cst.MatchStar):
                place = k if k <= before and (after is None or k < before) else k - len(patterns)
                tests += self._tests(element.value, self._item(element, read, Const(place)))
        return tests

    def _item(self, node: cst.CSTNode, read: Read, key: ir.Atom) -> Read:
        return lambda: self.c.call(node, operator.getitem, read(), key)

    def _mapping(self, pattern: cst.MatchMapping, read: Read) -> list[Read]:
        c = self.c
        tests: list[Read] = [lambda: c.call(pattern, isinstance, read(), Const(Mapping))]
        for element in pattern.elements:
            tests.append(lambda e=element: c.call(e, ops.contains, c.atom(e.key), read()))  # type: ignore[misc]
            tests += self._tests(element.pattern, self._entry(element, read))
        return tests

    def _entry(self, element: cst.MatchMappingElement, read: Read) -> Read:
        return lambda: self.c.call(element, operator.getitem, read(), self.c.atom(element.key))

    def _class(self, pattern: cst.MatchClass, read: Read) -> list[Read]:
        c = self.c
        tests: list[Read] = [lambda: c.call(pattern, isinstance, read(), c.atom(pattern.cls))]
        for inner, name in self._attributes(pattern):
            if name is None:
                tests += self._tests(inner, read)
                continue
            tests.append(lambda name=name: c.call(pattern, hasattr, read(), name()))  # type: ignore[misc]
            tests += self._tests(inner, self._attribute(pattern, read, name))
        return tests

    def _attribute(self, node: cst.CSTNode, read: Read, name: Read) -> Read:
        return lambda: self.c.call(node, getattr, read(), name())

    def _attributes(self, pattern: cst.MatchClass) -> Iterator[tuple[cst.MatchPattern, Read | None]]:
        """The patterns in a class pattern, with what gives the name of the attribute; None for the subject itself."""
        c = self.c
        for k, element in enumerate(pattern.patterns):
            if self._matches_itself(pattern.cls):
                yield element.value, None
                continue

            def positional(k: int = k) -> Var:
                names = c.call(pattern, getattr, c.atom(pattern.cls), Const("__match_args__"))
                return c.call(pattern, operator.getitem, names, Const(k))

            yield element.value, positional
        for keyword in pattern.kwds:
            name = Const(c.name(keyword.key))
            yield keyword.pattern, lambda name=name: name  # type: ignore[misc]

    def _matches_itself(self, cls: cst.BaseExpression) -> bool:
        if not isinstance(cls, cst.Name) or cls.value not in _MATCH_THEMSELVES:
            return False
        given = self.c.source.meaning(cls.value)
        return isinstance(self.c.resolve(cls.value), ir.Load) and given is getattr(builtins, cls.value)

    # --- captures

    def bind(self, pattern: cst.CSTNode, subject: ir.Atom) -> None:
        """Assign what a pattern captures of a subject that it matches."""
        self._bind(pattern, lambda: subject)

    def _bind(self, pattern: cst.CSTNode, read: Read) -> None:
        c = self.c
        if next(captured_names(pattern), None) is None:
            return
        match pattern:
            case cst.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self._bind(inner, read)
                if name is not None:
                    c.let(own(c, name), read(), name)
            case cst.MatchOr(patterns=patterns):
                self._bind_chosen(pattern, [p.pattern for p in patterns], read)
            case cst.MatchList(patterns=patterns) | cst.MatchTuple(patterns=patterns):
                self._bind_items(pattern, patterns, read)
            case cst.MatchMapping():
                for element in pattern.elements:
                    self._bind(element.pattern, self._entry(element, read))
                if pattern.rest is not None:
                    self._bind_rest(pattern, pattern.rest, read)
            case cst.MatchClass():
                for part, attribute in self._attributes(pattern):
                    self._bind(part, read if attribute is None else self._attribute(pattern, read, attribute))
            case _:
                raise AssertionError(f"{type(pattern).__name__} captures nothing")

    def _bind_chosen(self, whole: cst.MatchOr, left: Sequence[cst.MatchPattern], read: Read) -> None:
        """The captures of the alternative that has matched."""
        if len(left) == 1 or is_irrefutable(whole):
            self._bind(left[0], read)
            return
        number = len(whole.patterns) - len(left) + 1
        test = self.c.call(left[0], operator.eq, self.chosen[id(whole)], Const(number))
        blocks = []
        for side in (left[:1], left[1:]):
            with self.c.block() as statements:
                self._bind_chosen(whole, side, read)
            blocks.append(block_of(statements))
        self.c.put(ir.If(test, blocks[0], blocks[1], (), self.c.span(left[0])))

    def _bind_items(self, pattern: cst.CSTNode, patterns: Sequence[Any], read: Read) -> None:
        before, after = _around_star(patterns)
        items = self.c.call(pattern, ops.unpack, read(), Const(before), Const(after))
        for k, element in enumerate(patterns):
            item = self._item(element, lambda: items, Const(k))
            if isinstance(element, cst.MatchStar):
                if element.name is not None:
                    self.c.let(own(self.c, element.name), item(), element)
            else:
                self._bind(element.value, item)

    def _bind_rest(self, pattern: cst.MatchMapping, rest: cst.Name, read: Read) -> None:
        """``**rest``: ``{key: value for key, value in subject.items() if key not in (...)}``."""
        c = self.c
        keys = c.bind(Call(Const(ops.make_tuple), tuple(c.atom(e.key) for e in pattern.elements)), pattern)
        result = c.call(rest, ops.make_dict)
        items = c.bind(Call(c.call(rest, getattr, read(), Const("items")), ()), rest)
        pair = c.temporary()
        with c.block() as body:
            parts = c.call(rest, ops.unpack, pair, Const(2), Const(None))
            key, value = (c.call(rest, operator.getitem, parts, Const(k)) for k in (0, 1))
            with c.block() as entry:
                c.put(Let(result, Call(Const(ops.put), (result, key, value)), c.span(rest)))
            c.put(ir.If(c.call(rest, ops.not_in, key, keys), block_of(entry), ir.Block(()), (), c.span(rest)))
        c.put(ir.For(pair, items, block_of(body), span=c.span(rest)))
        c.let(own(c, rest), result, rest)


def _around_star(patterns: Sequence[Any]) -> tuple[int, int | None]:
    """How many patterns stand before the starred one, and after it; all of them and None where there is none."""
    stars = [k for k, p in enumerate(patterns) if isinstance(p, cst.MatchStar)]
    if not stars:
        return len(patterns), None
    return stars[0], len(patterns) - stars[0] - 1
