"""Comparisons with points whose slope is chosen are counted: the code of a second derivative goes in, and the same with
other functions in place of ``==`` and ``np.sign`` comes out.

    d_bar_dot = x_dot * (d_bar / (d + (d == 0.0)))  ->  d_bar_dot = x_dot * (d_bar / (d + rt.coincides(d, 0.0)))

A first derivative is chosen where a rule asks for a coincidence: 0 for a norm at 0, half for each side of a tie. What
is differentiated again there is constant beside the point, and may be anything at it: ``dispatch/chosen_points.py``
finds out. Comparisons of the program's own are choices of the program, and mean what is on the side that they choose.
"""

from __future__ import annotations

import ast
import functools
import linecache
import operator
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_float
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.linecaches import source_of
from s2s.core.values import Unknown
from s2s.optimize.rewriting import map_blocks

__all__ = ["count_coincidences", "keep_comparisons"]

_EQUAL = tuple(map(ir.Const, (operator.eq, np.equal)))
_SIGN = ir.Const(np.sign)
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST_STEPS = 4
"""An extreme element may go through so many operations, such as a new axis, before it is compared."""


def keep_comparisons(function: ir.Function, context: Context) -> None:
    """Let comparisons stay in a primal that is a first derivative: a slope that is constant but at one point, as that
    of an absolute value, is read by nothing in the second derivative."""
    for s in _lets(function.body):
        if s.target is not None and _counting(context, s.value, s.span) is not None:
            context.must_keep.add(s.target)


def count_coincidences(function: ir.Function, context: Context) -> ir.Function:
    """The function, counting where numbers that depend on a differentiated input coincide."""
    definitions = {s.target: s.value for s in _lets(function.body) if s.target is not None}

    def changed(s: ir.Statement) -> ir.Statement:
        s = map_blocks(s, block)
        if not isinstance(s, ir.Let):
            return s
        if isinstance(s.value, ir.MakeFunction):
            inner = s.value.function
            return ir.replace(s, value=ir.replace(s.value, function=ir.replace(inner, body=block(inner.body))))
        fn = _counting(context, s.value, s.span)
        if fn is None:
            return s
        args = s.value.args  # type: ignore[union-attr]
        if fn is rt.coincides:
            for a, b in (args, args[::-1]):
                if _is_made_of(definitions, b, a):
                    fn, args = rt.ties, (a, b)
        return ir.replace(s, value=ir.Call(ir.Const(fn), args))

    def block(body: ir.Block) -> ir.Block:
        return ir.Block(tuple(map(changed, body.statements)), body.yields)

    return ir.replace(function, body=block(function.body))


def _lets(body: ir.Block) -> Iterator[ir.Let]:
    """The assignments of a block, those in nested functions included."""
    for s in ir.walk(body):
        if isinstance(s, ir.Let):
            yield s
            if isinstance(s.value, ir.MakeFunction):
                yield from _lets(s.value.function.body)


def _counting(context: Context, made: ir.Value, span: ir.Span | None) -> Callable[..., Any] | None:
    """The function that counts in place of the one that is called; None where nothing is to be counted."""
    if not isinstance(made, ir.Call) or made.kwargs or not any(_is_varied_float(context, a) for a in made.args):
        return None
    if made.fn == _SIGN and len(made.args) == 1:
        return rt.sign
    if made.fn not in _EQUAL or len(made.args) != 2 or _is_written(span, made.args):
        return None
    return rt.coincides


def _is_written(span: ir.Span | None, operands: tuple[ir.Atom | ir.Star, ...]) -> bool:
    """Whether a comparison is the program's own, which has chosen a side by it: one of the same variables and numbers
    stands on the line that it comes from. What does not parse has none, so that its coincidences are counted."""
    place = None if span is None else (span.file, span.line)
    while place is not None and (generated := source_of(place[0])) is not None:
        place = generated.place_of(place[1])
    if place is None or place[0].startswith(_OWN):
        return False
    file, line = place
    return any(
        first <= line <= last and (_mean(sides, operands) or _mean(sides[::-1], operands))
        for first, last, sides in _comparisons("".join(linecache.getlines(file)))
    )


@functools.lru_cache(maxsize=8)
def _comparisons(text: str) -> list[tuple[int, int, list[ast.expr]]]:
    """The tests for equality in a text: their first and last lines, and what they compare."""
    found: list[tuple[int, int, list[ast.expr]]] = []
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return found
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=tests, comparators=others):
                sides = zip(tests, zip([left, *others], others))
                pairs = [[*pair] for test, pair in sides if isinstance(test, ast.Eq)]
            case ast.Call(func=ast.Attribute(attr="equal") | ast.Name(id="equal"), args=[left, right, *_]):
                pairs = [[left, right]]
            case _:
                continue
        found += [(node.lineno, node.end_lineno or node.lineno, pair) for pair in pairs]
    return found


def _mean(sides: list[ast.expr], operands: tuple[ir.Atom | ir.Star, ...]) -> bool:
    """Whether expressions may stand for operands: a name for a variable of that name, a number for itself."""
    for side, atom in zip(sides, operands, strict=True):
        match side:
            case ast.Constant(value=value):
                fits = isinstance(atom, ir.Const) and atom.value == value
            case ast.Name(id=name):
                fits = isinstance(atom, ir.Var) and re.sub(r"_\d+$", "", atom.name) == name
            case _:
                fits = isinstance(atom, ir.Var)
        if not fits:
            return False
    return True


def _is_varied_float(context: Context, atom: ir.Atom | ir.Star) -> bool:
    if isinstance(atom, ir.Star) or not context.is_varied(atom):
        return False
    known = context.value(atom)
    return isinstance(known, Unknown) or is_float(known)


def _is_made_of(definitions: dict[ir.Var, ir.Value], atom: ir.Atom | ir.Star, source: ir.Atom | ir.Star) -> bool:
    """Whether a number is computed of those that it is compared with, as the largest of them."""
    for _ in range(_MOST_STEPS):
        made = definitions.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Call) or not made.args or not isinstance(source, ir.Var):
            return False
        if source in made.args:
            return True
        atom = made.args[0]
    return False
