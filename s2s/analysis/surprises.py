"""Loops of a specialised function whose derivative may surprise: a function goes in, and what is to be told of it out.

    for f in fs:  y = f(y)            each iteration looks up the derivative of what it calls
    for v in x:   total += v          x in single precision: each sum is rounded to 24 bits
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.memory import changed_by
from s2s.core import ir, ops
from s2s.core.dataflow import along, reachable
from s2s.core.inspection import name_of
from s2s.core.values import AbstractValue, Sequence
from s2s.notices import Notice

__all__ = ["notices_of_items", "notices_of_loops"]

_SUMS = (operator.add, operator.iadd, operator.sub, operator.isub)
_LONG = 1000
"""A loop of fewer iterations is not told of: what a sum of them loses is a few units in the last place."""


def notices_of_loops(
    function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool],
    left: Collection[ir.Var],
) -> Iterator[Notice]:
    """What is told of the loops of a function; ``left`` are the results of calls that are decided when it runs."""
    short = {s.target for s in ir.walk(function.body) if isinstance(s, ir.Let) and _is_short(s.value)}
    for loop in ir.walk(function.body):
        if not isinstance(loop, (ir.For, ir.While)) or loop.span is None:
            continue
        for call in ir.walk(loop.body) if left else ():
            if isinstance(call, ir.Let) and call.target in left and call.span is not None:
                text = (
                    f"a loop calls {_callee(function, call.value)}, which is known only when the program runs: its "
                    "derivative is looked up in each iteration. A function that the loop can be seen to call is "
                    "differentiated with it"
                )
                yield Notice("DynamicCallWarning", text, call.span.file, call.span.line, function.name)
        if isinstance(loop, ir.For) and (loop.iterable in short or isinstance(loop.iterable, ir.Const)):
            continue
        for carried, after in zip(loop.carried, loop.body.yields, strict=True):
            if is_varied(carried.result) and str(dtype_of(value_of(after))) == "float32" and _is_sum(
                loop.body, carried.param, after
            ):
                name = f"`{carried.param.name}`" if not carried.param.is_temporary else "a sum"
                text = (
                    f"{name} adds up numbers in single precision, each time rounded to 24 bits: over many iterations "
                    "digits are lost, here and in the gradient. Begin with `np.float64(0.0)`, or use `np.sum`, which "
                    "adds in pairs"
                )
                yield Notice("SinglePrecisionWarning", text, loop.span.file, loop.span.line, function.name)


def notices_of_items(
    function: ir.Function, names: Collection[str], value_of: Callable[[ir.Atom], AbstractValue],
    is_zero: Callable[[ir.Call], bool], read: Mapping[ir.Atom, int],
) -> Iterator[Notice]:
    """What is told of items of arguments that the result depends on by comparisons and other functions whose derivative
    is zero, where each read of the argument is one of a known item. ``read`` says how often variables are read."""
    calls = {
        s.target: (s.value, s.span) for s in ir.walk(function.body)
        if isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Call)
    }
    flat = {var for var, (call, _) in calls.items() if is_zero(call)}
    # integers among the results of a function, as the counts of a histogram, are no rounded numbers
    flat |= {
        var for var, (call, _) in calls.items() if call.fn == _GETITEM and call.args[0] in calls
        and isinstance(value_of(call.args[0]), Sequence) and str(dtype_of(value_of(var))).startswith("int")
    }
    needed = _needed(function, flat)
    for param in function.params:
        if param.var.name not in names:
            continue
        wholes = {param.var} | {v for v, (call, _) in calls.items() if call.fn == _UNPACK and call.args[0] == param.var}
        keys: dict[ir.Var, Any] = {}
        for var, (call, _) in calls.items():
            match call.args:
                case (ir.Var() as whole, ir.Const(value=int() as key)) if call.fn == _GETITEM and whole in wholes:
                    keys[var] = key
        known = sum(a in wholes for v in {*keys, *wholes, *flat} & calls.keys() for a in ir.atoms_of(calls[v][0]))
        moving = {key for var, key in keys.items() if var in needed}
        if not moving or sum(read[whole] for whole in wholes) > known:
            continue  # of the whole argument it is told elsewhere
        severed = {key: calls[var][1] for var, key in keys.items() if key not in moving and read[var]}
        for key, span in severed.items():
            if span is not None:
                text = _ZERO.format(name=f"{param.var.name}[{key}]")
                yield Notice("ZeroGradientWarning", text, span.file, span.line, span.function)


_GETITEM, _UNPACK = ir.Const(operator.getitem), ir.Const(ops.unpack)
_ZERO = (
    "the gradient with respect to `{name}` is zero everywhere: no path that has a derivative leads from it to the "
    "result"
)


def _needed(function: ir.Function, flat: Collection[ir.Var | None]) -> set[ir.Var]:
    """The variables that the result of a function is computed from, by functions that have derivatives; and those that
    statements put into objects, or may."""
    edges: list[tuple[Any, ir.Atom]] = []
    found: list[ir.Atom] = [*function.body.yields]
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target is not None and changed_by(s) is None:
            edges += [(s.target, a) for a in ir.atoms_of(s.value) if s.target not in flat]
        elif not isinstance(s, (ir.If, ir.While, ir.Assert)):
            found += ir.reads_of(s)
        edges += [(var, a) for variables, given in ir.joins_of(s) for var in variables for a in given]
    return {v for v in reachable(found, along(edges)) if isinstance(v, ir.Var)}



def _callee(function: ir.Function, call: ir.Value) -> str:
    """What a statement calls, in words."""
    fn = call.fn if isinstance(call, ir.Call) else None
    if isinstance(fn, ir.Const):
        return f"`{name_of(fn.value)}`"
    for s in ir.walk(function.body):
        made = s.value if isinstance(s, ir.Let) and s.target == fn else None
        if isinstance(made, ir.Call) and made.fn == ir.Const(getattr) and isinstance(made.args[1], ir.Const):
            return f"the method `{made.args[1].value}`"
    return f"`{fn.name}`" if isinstance(fn, ir.Var) and not fn.is_temporary else "a function"


def _is_short(iterable: ir.Value) -> bool:
    """Whether it is a range of few numbers."""
    if not isinstance(iterable, ir.Call) or iterable.fn != ir.Const(range):
        return False
    ends = [a.value for a in iterable.args if isinstance(a, ir.Const) and isinstance(a.value, int)]
    return len(ends) == len(iterable.args) and len(range(*ends)) < _LONG


def _is_sum(body: ir.Block, before: ir.Var, after: ir.Atom) -> bool:
    """Whether what is carried is, after an iteration, what it was with something added."""
    for s in ir.walk(body):
        if isinstance(s, ir.Let) and s.target == after and isinstance(s.value, ir.Call):
            call = s.value
            return isinstance(call.fn, ir.Const) and call.fn.value in _SUMS and before in call.args[:2]
    return False
