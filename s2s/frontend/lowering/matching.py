"""``match``: each case is an ``if``, the cases after it are its other side. ``patterns`` lowers the patterns."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Const, Var
from s2s.frontend.lowering.bindings import enter
from s2s.frontend.lowering.context import Context, block_of
from s2s.frontend.lowering.patterns import Patterns, is_irrefutable

__all__ = ["lower_match"]


def lower_match(c: Context, node: cst.Match) -> None:
    """``match``: the subject is evaluated once; each case is an ``if``, the cases after it are its other side."""
    enter(c, node.subject)
    subject = c.atom(node.subject)
    if isinstance(subject, Var) and not subject.is_temporary:
        subject = c.bind(subject, node.subject)  # a capture may have its name
    _cases(c, node.cases, subject)


def _cases(c: Context, cases: Sequence[cst.MatchCase], subject: ir.Atom) -> None:
    if not cases:
        return
    first, *rest = cases
    patterns = Patterns(c)
    if first.guard is not None:
        _guarded_case(c, first, rest, patterns, subject)
        return
    if is_irrefutable(first.pattern):
        _case_body(c, first, patterns, subject)
        return
    test = patterns.test(first.pattern, subject)
    with c.block() as then:
        _case_body(c, first, patterns, subject)
    with c.block() as orelse:
        _cases(c, rest, subject)
    c.put(ir.If(test, block_of(then), block_of(orelse), (), c.span(first.pattern)))


def _guarded_case(
    c: Context, case: cst.MatchCase, rest: Sequence[cst.MatchCase], patterns: Patterns, subject: ir.Atom
) -> None:
    """A case with a guard. The guard sees the captures; where it fails, the cases after this one are tried."""
    assert case.guard is not None
    matched = c.bind(Const(False), case.pattern)
    test = patterns.test(case.pattern, subject)
    with c.block() as then:
        patterns.bind(case.pattern, subject)
        enter(c, case.guard)
        guard = c.atom(case.guard)
        with c.block() as body:
            c.let(matched, Const(True), case.guard)
            c.suite(case.body)
        c.put(ir.If(guard, block_of(body), ir.Block(()), (), c.span(case.guard)))
    c.put(ir.If(test, block_of(then), ir.Block(()), (), c.span(case.pattern)))
    with c.block() as others:
        _cases(c, rest, subject)
    if others:
        c.put(ir.If(matched, ir.Block(()), block_of(others), (), c.span(case.pattern)))


def _case_body(c: Context, case: cst.MatchCase, patterns: Patterns, subject: ir.Atom) -> None:
    patterns.bind(case.pattern, subject)
    c.suite(case.body)
