"""A loop in, whether threads may share its iterations out, and how.

    for i in range(n):
        s_bar += w[i] * t[i]            a sum: each thread has one of its own
        x_bar[i] = s_bar * w[i]         elements of its own: what an iteration stores, no other one reads or stores
        y_bar[i] += t[i]                added at neighbouring places: by two turns, no two threads side by side
        y_bar[i + 1] += t[i]
        z_bar[k[i]] += t[i]             added anywhere: each thread has an array of its own

A loop for which this is not certain stays one that runs in order. So is one whose arrays may be others by another name:
a view, an item of a list. Nothing here imports Numba.
"""

from __future__ import annotations

import ast
import math
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.analysis import functions
from s2s.backends.numba.number_kinds import NUMBERS, UNKNOWN, Env, Kinds
from s2s.backends.numba.syntax import names_in, store_names
from s2s.core.functions import Result
from s2s.core.inspection import public_module

__all__ = ["Sharing", "sharing_of"]

_BUILTINS = frozenset([abs, min, max, len, float, int, bool, range, round, reversed])
_FRESH: frozenset[Any] = frozenset(
    getattr(np, kind + like) for kind in ("zeros", "empty", "ones", "full") for like in ("", "_like"))
_REFUSED = (
    ast.Return, ast.Try, ast.TryStar, ast.With, ast.FunctionDef, ast.Lambda, ast.comprehension, ast.Global,
    ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Delete, ast.NamedExpr, ast.Match, ast.Starred, ast.Raise,
)  # fmt: skip


@dataclass
class Sharing:
    """How threads share a loop: its ``sums``; the arrays that iterations add to at any place, ``added``; and how far
    apart the places are at which they add to others, ``reach``, 0 where there are none."""

    start: ast.expr
    stop: ast.expr
    sums: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    reach: int = 0
    is_nest: bool = False


class _NotShared(Exception):
    """Iterations may depend on each other."""


def sharing_of(
    loop: ast.For, node: ast.FunctionDef, kinds: Kinds, static: Callable[[ast.expr], Any]
) -> Sharing | None:
    """How threads share a loop of a function; None where they must not."""
    bounds = _bounds(_range_of(loop.iter, node))
    env = kinds.known(loop)
    if bounds is None or env is None or not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    try:
        return _Loop(loop, node, kinds, env, static, bounds).sharing()
    except _NotShared:
        return None


def _range_of(iterable: ast.expr, node: ast.FunctionDef) -> ast.expr:
    """The range that a name stands for, where nothing in it is assigned twice; another iterable as it is."""
    if not isinstance(iterable, ast.Name):
        return iterable
    counts = Counter(store_names(node)) + Counter(a.arg for a in node.args.args)
    for s in _statements(node.body):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if name == iterable.id:
                names = {name, *(n.id for n in ast.walk(value) if isinstance(n, ast.Name))} & counts.keys()
                return value if all(counts[n] == 1 for n in names) else iterable
    return iterable


def _bounds(iterable: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The first item of a range with step 1, in order or backwards, and the one after its last."""
    match iterable:
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            iterable = inner
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
            return ast.Constant(0), stop
        case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
            return start, stop
    return None


class _Loop:
    def __init__(
        self, loop: ast.For, node: ast.FunctionDef, kinds: Kinds, env: Env, static: Callable[[ast.expr], Any],
        bounds: tuple[ast.expr, ast.expr],
    ) -> None:
        self.loop = loop
        self.node = node
        self.kinds = kinds
        self.env = env
        self.static = static
        self.bounds = bounds
        assert isinstance(loop.target, ast.Name)
        self.item = loop.target.id
        self.assigned = set(_stored(loop.body))
        self.once = {s.targets[0].id: s.value for s in _statements(loop.body)
                     if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
        self.once = {n: v for n, v in self.once.items() if _stored(loop.body).count(n) == 1}

    def sharing(self) -> Sharing:
        """Raises _NotShared."""
        self._refuse_statements()
        found = Sharing(*self.bounds)
        found.is_nest = any(isinstance(n, (ast.For, ast.While)) for s in self.loop.body for n in ast.walk(s))
        exposed, _ = _exposed(self.loop.body, {self.item})
        found.sums = sorted(exposed & self.assigned)
        for name in found.sums:
            self._check_sum(name)
        private = (self.assigned - set(found.sums)) | {self.item}
        if private & _read_after(self.node, self.loop):
            raise _NotShared
        for array in sorted(self._stored_arrays()):
            self._share_array(array, found)
        return found

    # -- statements, calls

    def _refuse_statements(self) -> None:
        if self.item in self.assigned:
            raise _NotShared
        for s in self.loop.body:
            for n in ast.walk(s):
                if isinstance(n, _REFUSED):
                    raise _NotShared
                if isinstance(n, ast.Call):
                    self._check_call(n)
        if _leaves(self.loop.body):
            raise _NotShared

    def _check_call(self, call: ast.Call) -> None:
        """Refuse what may change an array."""
        function = self.static(call.func)
        if function is None or any(k.arg in ("out", None) for k in call.keywords):
            raise _NotShared
        if function in _BUILTINS or isinstance(function, np.ufunc) or function in _FRESH:
            return
        module = (public_module(function) or "").partition(".")
        if module[0] == "math" and isinstance(function, types.BuiltinFunctionType | type(math.sin)):
            return
        known = functions.facts(function) if module[0] == "numpy" and "random" not in module[2] else None
        if known is None or known.acts or known.changes:
            raise _NotShared

    # -- sums

    def _check_sum(self, name: str) -> None:
        """Refuse a name that is carried from one iteration to the next in another way than as a sum."""
        if self.env.get(name) != "float":
            raise _NotShared
        allowed = 0
        for s in _statements(self.loop.body):
            match s:
                case ast.AugAssign(target=ast.Name(id=n), op=ast.Add() | ast.Sub(), value=value) if n == name:
                    allowed += 1
                case ast.Assign(targets=[ast.Name(id=n)], value=ast.BinOp(
                        left=ast.Name(id=m), op=ast.Add() | ast.Sub(), right=value)) if n == name == m:
                    allowed += 2
                case ast.Assign(targets=[ast.Name(id=n)], value=ast.Call(args=[ast.Name(id=m)]) as call) if (
                        n == name == m and self.static(call.func) is float):
                    allowed += 2
                    continue
                case _:
                    continue
            if name in names_in(value) or not self._is_scalar(value, self.kinds.known(s) or {}):
                raise _NotShared
        uses = sum(isinstance(n, ast.Name) and n.id == name for s in self.loop.body for n in ast.walk(s))
        if uses != allowed:
            raise _NotShared

    def _is_scalar(self, e: ast.expr, env: Env) -> bool:
        """Whether an expression is a number."""
        match e:
            case ast.BinOp(left=left, right=right):
                return self._is_scalar(left, env) and self._is_scalar(right, env)
            case ast.UnaryOp(operand=operand):
                return self._is_scalar(operand, env)
            case ast.Call(func=func, args=args, keywords=[]) if isinstance(self.static(func), np.ufunc):
                return all(self._is_scalar(a, env) for a in args)
        return self.kinds.kind(e, env) in NUMBERS

    def _kind_at(self, s: ast.stmt, e: ast.expr) -> Any:
        known = self.kinds.known(s)
        return UNKNOWN if known is None else self.kinds.kind(e, known)

    # -- arrays

    def _stored_arrays(self) -> set[str]:
        """The arrays of before the loop that it stores into. Refuses others, but those that an iteration makes."""
        found = set()
        for s in _statements(self.loop.body):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AugAssign) else []
            for target in targets:
                for n in ast.walk(target):
                    if isinstance(n, (ast.Attribute, ast.Starred)):
                        raise _NotShared
                    if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                        if not isinstance(n.value, ast.Name):
                            raise _NotShared
                        if n.value.id in self.assigned:
                            self._check_own(n.value.id)
                        else:
                            found.add(n.value.id)
                if isinstance(s, ast.AugAssign) and isinstance(target, ast.Name) and not self._is_number(target.id, s):
                    self._check_own(target.id)  # it may change an array
        return found

    def _is_number(self, name: str, s: ast.stmt) -> bool:
        return (self.kinds.known(s) or {}).get(name) in NUMBERS

    def _check_own(self, name: str) -> None:
        """Refuse an array that an iteration has not made itself."""
        made = self.once.get(name)
        if not (isinstance(made, ast.Call) and self.static(made.func) in _FRESH):
            raise _NotShared

    def _share_array(self, array: str, found: Sharing) -> None:
        kind: Any = self.env.get(array)
        is_array = isinstance(kind, tuple) and kind[0] == "array" and kind[2] > 0
        if not is_array or array in {a.arg for a in self.node.args.args}:
            raise _NotShared
        used = {n.id for s in self.loop.body for n in ast.walk(s) if isinstance(n, ast.Name)} - {array}
        if _others(array, self.node, self.kinds, self.static) & used:
            raise _NotShared
        places, is_added = self._places(array)
        offsets = [
            {self._offset(parts[axis]) if axis < len(parts) else None for parts in places} for axis in range(kind[2])
        ]
        if any(len(o) == 1 and None not in o for o in offsets):
            return
        if not is_added or kind[1] != "float" or not all(map(self._is_place, (p for parts in places for p in parts))):
            raise _NotShared
        near = [o for o in offsets if None not in o]
        if near:
            found.reach = max(found.reach, min(max(o) - min(o) for o in near))  # type: ignore[operator, type-var]
        else:
            found.added.append(array)

    def _places(self, array: str) -> tuple[list[list[ast.expr]], bool]:
        """The subscripts of an array in the loop, and whether it is only added to. Refuses it as a whole."""
        places, is_added, subscripts = [], True, 0
        for s in _statements(self.loop.body):
            added = s.target if isinstance(s, ast.AugAssign) and isinstance(s.op, (ast.Add, ast.Sub)) else None
            for n in _own_nodes(s):
                if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == array:
                    places.append(n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice])
                    is_added &= n is added
                    subscripts += 1
        uses = sum(isinstance(n, ast.Name) and n.id == array for s in self.loop.body for n in ast.walk(s))
        if uses != subscripts:
            raise _NotShared
        return places, is_added

    def _is_place(self, part: ast.expr) -> bool:
        """Whether a subscript is a number or a slice, so that no element is meant twice."""
        if isinstance(part, ast.Slice):
            return True
        inside = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
        for s in _statements(self.loop.body):
            if part in list(_own_nodes(s)):
                return self._kind_at(s, part) == "int"
        return not inside

    def _offset(self, part: ast.expr) -> int | None:
        """The number that a subscript is more than the item, if that is never negative."""
        match part:
            case ast.Name(id=name) if name == self.item:
                found = 0
            case ast.Name(id=name) if name in self.once and name not in names_in(self.once[name]):
                return self._offset(self.once[name])
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int() as n)) if (
                    name == self.item):
                found = n
            case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=int() as n)) if (
                    name == self.item):
                found = -n
            case _:
                return None
        start = self.bounds[0]
        first = start.value if isinstance(start, ast.Constant) and type(start.value) is int else None
        return found if first is not None and first + found >= 0 else None


# --- names ----------------------------------------------------------------------------------------------------------


def _stored(body: list[ast.stmt]) -> list[str]:
    return [name for s in body for name in store_names(s)]


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, those inside others too."""
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.stmt):
                yield n


def _own_nodes(s: ast.stmt) -> Iterator[ast.AST]:
    """What is in a statement, but for the statements inside it."""
    for child in ast.iter_child_nodes(s):
        if not isinstance(child, ast.stmt):
            yield from ast.walk(child)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a statement may end the loop that the body is of."""
    for s in body:
        if isinstance(s, ast.Break):
            return True
        if isinstance(s, ast.If) and (_leaves(s.body) or _leaves(s.orelse)):
            return True
        if isinstance(s, (ast.For, ast.While)) and _leaves(s.orelse):
            return True
    return False


def _exposed(body: list[ast.stmt], known: set[str]) -> tuple[set[str], set[str]]:
    """The names that may be read before statements assign them, and those that are assigned for certain after them."""
    exposed: set[str] = set()
    known = set(known)
    for s in body:
        inner: list[list[ast.stmt]] = [getattr(s, name) for name in ("body", "orelse") if getattr(s, name, None)]
        reads = {n.id for n in _own_nodes(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            reads.add(s.target.id)
        exposed |= reads - known
        if isinstance(s, (ast.For, ast.While)):
            target = set(store_names(s.target)) if isinstance(s, ast.For) else set()
            for block in inner:
                exposed |= _exposed(block, known | target)[0]
        elif isinstance(s, ast.If):
            made = [_exposed(block, known) for block in (s.body, s.orelse)]
            exposed |= made[0][0] | made[1][0]
            known |= made[0][1] & made[1][1]
        else:
            known |= set(store_names(s))
    return exposed, known


def _read_after(node: ast.FunctionDef, loop: ast.For) -> set[str]:
    """The names that may be read after a loop before they are assigned again."""

    def after(body: list[ast.stmt]) -> set[str] | None:
        for k, s in enumerate(body):
            if s is loop:
                return _exposed(body[k + 1 :], set())[0]
            for block in [getattr(s, name) for name in ("body", "orelse") if isinstance(getattr(s, name, None), list)]:
                found = after(block)
                if found is not None:
                    again = _exposed([s], set())[0] if isinstance(s, (ast.For, ast.While)) else set()
                    return found | again | _exposed(body[k + 1 :], set())[0]
        return None

    found = after(node.body)
    return names_in(node) if found is None else found


def _others(array: str, node: ast.FunctionDef, kinds: Kinds, static: Callable[[ast.expr], Any]) -> set[str]:
    """The names that may stand for the memory of an array, or a part of it."""
    groups: dict[str, set[str]] = {}

    def join(names: set[str]) -> None:
        whole = set().union(*(groups.get(name, {name}) for name in names)) if names else set()
        for name in whole:
            groups[name] = whole

    for s in _statements(node.body):
        env = kinds.known(s) or {}
        match s:
            case ast.Assign(targets=targets, value=value):
                join({n for t in targets for n in _whole_names(t)} | _shared_by(value, kinds, env, static))
            case ast.For(target=target, iter=iterable):
                if kinds.item(iterable, env) not in NUMBERS:
                    join(set(store_names(target)) | names_in(iterable))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=args)):
                join({name} | {n for a in args for n in _shared_by(a, kinds, env, static)})
    return groups.get(array, {array}) - {array}


def _whole_names(target: ast.expr) -> set[str]:
    """The names that a target makes stand for what is assigned; a store into an array copies."""
    if isinstance(target, ast.Subscript):
        return set()
    return set(store_names(target))


def _shared_by(value: ast.expr, kinds: Kinds, env: Env, static: Callable[[ast.expr], Any]) -> set[str]:
    """The names whose memory an expression may give."""
    if kinds.kind(value, env) in (*NUMBERS, "shape", "range"):
        return set()
    match value:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.Constant():
            return set()
        case ast.Call(func=func) if static(func) in _FRESH | _BUILTINS or isinstance(static(func), np.ufunc):
            return set()
        case ast.Call(func=func) if static(func) is not None and functions.facts(static(func)).result is Result.NEW:
            return set()
        case ast.Attribute(attr="shape" | "size" | "dtype" | "ndim"):
            return set()
    found = [n for n in ast.walk(value) if isinstance(n, ast.Name)]
    return {n.id for n in found if static(n) is None}
