"""Records and constants: what the compiler asks of them most often, each way that is quick beside the plain one."""

import ast
import itertools
import operator
import re
import typing

import numpy as np
import pytest

from s2s.core import ir
from s2s.core.record import record, replace
from tests.helpers import ROOT

X, Y = ir.Var("x"), ir.Var("y")


def test_replace_gives_a_record_with_other_values_for_some_fields():
    let = ir.Let(X, ir.Const(1), None, ((Y, ir.Version(1)),))
    assert replace(let, target=None) == ir.Let(None, ir.Const(1), None, ((Y, ir.Version(1)),))
    assert replace(let) == let
    with pytest.raises(TypeError):
        replace(let, variable=Y)


def test_replace_gives_a_record_without_fields():
    @record
    class Empty:
        pass

    assert replace(Empty()) == Empty()


def test_records_are_equal_by_type_and_fields():
    assert ir.Return(X) == ir.Return(X) != ir.Return(Y)
    assert ir.Return(X) != ir.Raise(X)


VALUES = [
    operator.neg, operator.add, np.sin, np.add.at, np.subtract.at, np.add.reduce, [].append, "a".join, "b".join, list,
    list.append, 1, 1.0, True, "a", None,
]


def test_a_constant_holds_the_function_that_it_is_the_constant_of():
    for one, other in itertools.product(filter(callable, VALUES), repeat=2):
        assert ir.Const(one).holds(other) == (ir.Const(one) == ir.Const(other)), (one, other)
    assert ir.Const(np.add.at).holds(np.add.at)  # another object at each look-up


def test_equal_constants_have_one_hash():
    for one, other in itertools.product(map(ir.Const, VALUES), repeat=2):
        assert (one == other) <= (hash(one) == hash(other))
    assert ir.Const(0.0) != ir.Const(-0.0)
    assert ir.Const(float("nan")) == ir.Const(float("nan"))


STATEMENTS = [
    ir.Let(X, ir.Call(ir.Const(operator.add), (X, Y))),
    ir.Let(X, ir.Call(ir.Const(print), (ir.Star(X),), (("sep", Y), (None, X)))),
    ir.Let(X, ir.MakeFunction(ir.Function("f", (), ir.Block((), (X,))), (X,), (("a", Y),))),
    ir.Let(X, ir.Load("a", "global")),
    ir.Let(None, Y),
    ir.Store("item", X, Y, Y, reads=((X, ir.Version(1)),)),
    ir.If(X, ir.Block((ir.Let(None, X),), (Y,)), ir.Block((), (X,)), (ir.Var("z"),)),
    ir.For(ir.Var("i"), X, ir.Block((ir.Let(None, Y),), (X,)), (ir.Carried(ir.Var("p"), X, ir.Var("r")),), X),
    ir.While(ir.Block((), (X,)), ir.Block((), (Y,)), (ir.Carried(ir.Var("p"), X, ir.Var("r")),)),
    ir.With(X, None, ir.Block((ir.Let(None, Y),))),
    ir.Try(ir.Block((ir.Let(None, X),)), (ir.Handler((X,), None, ir.Block((ir.Raise(Y),))),)),
    ir.Assert(X, ir.Block((ir.Let(None, X),), (Y,))), ir.Raise(X, Y), ir.Return(X), ir.Break(), ir.Continue(),
    ir.Note("a remark"),
]


def test_there_is_a_statement_of_each_kind():
    assert {*map(type, STATEMENTS)} == {*typing.get_args(ir.Statement)}


def matched(pattern):
    """The names of the classes that an arm of a match asks for."""
    match pattern:
        case ast.MatchOr(patterns):
            return {name for p in patterns for name in matched(p)}
        case ast.MatchAs(ast.AST() as inner):
            return matched(inner)
        case ast.MatchClass(cls):
            return {ast.unparse(cls)}
    return set()


def test_no_match_over_statements_leaves_some_of_them_unsaid():
    """An arm for all others stands where each kind is named before it, or rebuilds them by what knows each kind."""
    kinds = {f"ir.{kind.__name__}" for kind in typing.get_args(ir.Statement)}
    found = []
    for path in (ROOT / "s2s").rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "match" in text and "ir." in text else ():
            if isinstance(node, ast.Match) and any(matched(case.pattern) & kinds for case in node.cases):
                last = node.cases[-1]
                others = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
                done = "".join(map(ast.unparse, last.body))
                if others and not re.search(r"assert_never\(|ir\.(with_blocks|rebuild)\(", done):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: type(s).__name__)
def test_rebuilding_replaces_what_a_statement_reads_and_nothing_else(statement):
    changes = {X: ir.Var("x", 1), Y: ir.Const(2)}

    def block(b):
        return ir.Block(tuple(map(rebuilt, b.statements)), tuple(changes.get(a, a) for a in b.yields))

    def rebuilt(s):
        return ir.rebuild(s, lambda a: changes.get(a, a), block)

    made = rebuilt(statement)
    assert ir.reads_of(made) == tuple(changes.get(a, a) for a in ir.reads_of(statement))
    assert ir.defs_of(made) == ir.defs_of(statement)
    assert [type(s) for s in ir.walk(ir.Block((made,)))] == [type(s) for s in ir.walk(ir.Block((statement,)))]
    for before, after in zip(ir.walk(ir.Block((statement,))), ir.walk(ir.Block((made,))), strict=True):
        assert ir.reads_of(after) == tuple(changes.get(a, a) for a in ir.reads_of(before))
    assert ir.rebuild(statement, lambda a: a, lambda b: b) == statement
    assert ir.with_blocks(statement, ir.blocks_of(statement)) == statement
