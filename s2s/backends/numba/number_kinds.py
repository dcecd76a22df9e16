"""A function in, out which of its names are numbers, arrays of numbers, tuples or lists of these, at each statement.

What is found decides which statements are tried as machine code of their own (``straight``); Numba's types are looked
at when it is made. So what is not known here is no error, and what is wrong here none either. Nothing here imports
Numba.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from s2s import runtime as rt

__all__ = ["UNKNOWN", "Kind", "Kinds", "kind_of_value", "number_kind"]

Kind: TypeAlias = Any
"""``"float"``, ``"int"``, ``"bool"``; ``("array", kind of elements, number of axes)``, ``("tuple", kinds)``,
``("list", kind)``, where None is no kind yet; ``"shape"``; UNKNOWN."""

NUMBERS = ("float", "int", "bool")

UNKNOWN = "unknown"

_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)

Env: TypeAlias = dict[str, Kind]


def kind_of_value(value: Any) -> Kind:
    """The kind of an argument."""
    if isinstance(value, np.ndarray):
        letter = {"float64": "float", "int64": "int", "bool": "bool"}.get(value.dtype.name)
        return UNKNOWN if letter is None or type(value) is not np.ndarray else ("array", letter, value.ndim)
    found = {float: "float", np.float64: "float", int: "int", bool: "bool"}.get(type(value))
    return UNKNOWN if found is None else found


def join(a: Kind, b: Kind) -> Kind:
    """The kind of what is one or the other."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]:
        if a[0] == "list":
            return "list", join(a[1], b[1])
        if a[0] == "tuple" and len(a[1]) == len(b[1]):
            return "tuple", tuple(map(join, a[1], b[1]))
    return UNKNOWN


def number_kind(e: ast.expr, env: Env, static: Callable[[ast.expr], Any]) -> Kind:
    """The kind of an expression of numbers and elements that can be machine code of its own, else UNKNOWN."""
    match e:
        case ast.Constant(value=value) if type(value) in (float, bool) or (type(value) is int and abs(value) < 2**53):
            return type(value).__name__
        case ast.Name(id=name):
            found = env.get(name, UNKNOWN)
            return found if found in NUMBERS else UNKNOWN
        case ast.Subscript(value=ast.Name(id=name), slice=key):
            return _element(env.get(name, UNKNOWN), key, env)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return "float" if number_kind(operand, env, static) == "float" else UNKNOWN
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return "bool" if number_kind(operand, env, static) == "bool" else UNKNOWN
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=power)):
            is_power = type(power) is int and 0 <= power <= 16
            return "float" if is_power and number_kind(left, env, static) == "float" else UNKNOWN
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            found = {number_kind(left, env, static), number_kind(right, env, static)}
            return "float" if "float" in found and found <= {"float", "int"} else UNKNOWN
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() | ast.Eq() | ast.NotEq()],
                         comparators=[right]):
            found = {number_kind(left, env, static), number_kind(right, env, static)}
            return "bool" if found <= {"float", "int"} else UNKNOWN
        case ast.Call(keywords=[], args=args):
            kinds = [number_kind(a, env, static) for a in args]
            return _of_ufunc(static(e.func), len(args)) if set(kinds) == {"float"} else UNKNOWN
    return UNKNOWN


def _element(kind: Kind, key: ast.expr, env: Env) -> Kind:
    """The kind of an element by subscripts that are names or constants."""
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    if not isinstance(kind, tuple):
        return UNKNOWN
    if kind[0] == "tuple":
        match parts:
            case [ast.Constant(value=k)] if type(k) is int and 0 <= k < len(kind[1]) and kind[1][k] in NUMBERS:
                return kind[1][k]
        return UNKNOWN
    is_whole = kind[0] == "array" and 0 < len(parts) == kind[2] and all(_is_place(part, env) for part in parts)
    return kind[1] if is_whole else UNKNOWN


def _is_place(part: ast.expr, env: Env) -> bool:
    match part:
        case ast.Name(id=name):
            return env.get(name) == "int"
        case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) is int
    return False


@cache
def _of_ufunc(function: Any, number: int) -> Kind:
    """The kind that a function of NumPy's gives for so many floats."""
    is_of_numpy = isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function
    if not is_of_numpy or (function.nin, function.nout) != (number, 1):
        return UNKNOWN
    try:
        with np.errstate(all="ignore"):
            return kind_of_value(function(*[0.5] * number).item())
    except TypeError:
        return UNKNOWN


class Kinds:
    """The kinds of names before each statement of a function."""

    def __init__(self, body: list[ast.stmt], env: Env, static: Callable[[ast.expr], Any]) -> None:
        self.static = static
        self._before: dict[int, tuple[ast.stmt, Env]] = {}
        self.jumps: list[list[Env]] = []
        self._block(body, dict(env))

    def known(self, s: ast.stmt) -> Env | None:
        """What is known before a statement; None where it is none of the function, or not reached."""
        found = self._before.get(id(s))
        return found[1] if found is not None and found[0] is s else None

    def _block(self, body: list[ast.stmt], env: Env) -> Env | None:
        """What is known after the statements; None where their end is not reached."""
        for s in body:
            self._before[id(s)] = s, env
            after = self._statement(s, dict(env))
            if after is None:
                return None
            env = after
        return env

    def _statement(self, s: ast.stmt, env: Env) -> Env | None:
        match s:
            case ast.If():
                return _joined([self._block(s.body, dict(env)), self._block(s.orelse, dict(env))])
            case ast.For() | ast.While():
                return self._loop(s, env)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                env[name] = self.kind(value, env)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                found = _unpacked(self.kind(value, env), len(names))
                for k, target in enumerate(names):
                    for name in _stored(target):
                        env[name] = found[k] if isinstance(target, ast.Name) else UNKNOWN
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                added = ast.BinOp(ast.Name(name, ast.Load()), s.op, value)
                env[name] = env[name] if _is_array(env.get(name)) else self.kind(added, env)
            case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(ast.Name(id=name), "append"), args=[item])):
                kind = env.get(name)
                if isinstance(kind, tuple) and kind[0] == "list":
                    env[name] = "list", join(kind[1], self.kind(item, env))
            case ast.Expr() | ast.Assert():
                pass
            case ast.Return() | ast.Raise():
                return None
            case ast.Break() | ast.Continue():
                self.jumps[-1].append(env)
                return None
            case _:
                for name in _stored(s):
                    env[name] = UNKNOWN
        return env

    def _loop(self, s: ast.For | ast.While, env: Env) -> Env | None:
        for _ in range(6):
            self.jumps.append([])
            inside = dict(env)
            if isinstance(s, ast.For):
                for name in _stored(s.target):
                    inside[name] = self.item(s.iter, env) if isinstance(s.target, ast.Name) else UNKNOWN
            after = _joined([env, self._block(s.body, inside), *self.jumps.pop()])
            assert after is not None
            if after == env:
                return env if not s.orelse else self._block(s.orelse, dict(env))
            env = after
        for name in {name for part in s.body for name in _stored(part)}:
            env[name] = UNKNOWN
        self.jumps.append([])
        self._block(s.body, dict(env))
        self.jumps.pop()
        return env if not s.orelse else self._block(s.orelse, dict(env))

    def item(self, iterable: ast.expr, env: Env) -> Kind:
        """The kind of what a loop runs over."""
        match iterable:
            case ast.Call(func=func, args=args):
                function = self.static(func)
                if function is reversed and args:
                    return self.item(args[0], env)
                if function in (range, rt.places):
                    return "int"
            case ast.Name(id=name):
                found = env.get(name)
                if found == "range":
                    return "int"
                if _is_array(found):
                    return _item(found)
        return UNKNOWN

    # -- expressions

    def kind(self, e: ast.expr, env: Env) -> Kind:
        """The kind of any expression."""
        number = number_kind(e, env, self.static)
        if number != UNKNOWN:
            return number
        match e:
            case ast.Name(id=name):
                return env.get(name, UNKNOWN)
            case ast.Tuple(elts=items):
                return "tuple", tuple(self.kind(item, env) for item in items)
            case ast.List(elts=items):
                found: Kind = None
                for item in items:
                    found = join(found, self.kind(item, env))
                return "list", found
            case ast.Attribute(attr="shape"):
                return "shape"
            case ast.Attribute(value=value, attr="T"):
                found = self.kind(value, env)
                return found if _is_array(found) else UNKNOWN
            case ast.Subscript(value=value, slice=key):
                return self._part(self.kind(value, env), key, env)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return _product(self.kind(left, env), self.kind(right, env))
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _WHOLE):
                whole = self.kind(left, env) == "int" == self.kind(right, env)
                return "int" if whole else UNKNOWN
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return "int" if self.kind(operand, env) == "int" else UNKNOWN
            case ast.Call():
                return self._call(e, env)
        return UNKNOWN

    def _part(self, whole: Kind, key: ast.expr, env: Env) -> Kind:
        if whole == "shape":
            return "int"
        if not isinstance(whole, tuple):
            return UNKNOWN
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        slices = sum(isinstance(part, ast.Slice) for part in parts)
        if slices + sum(self.kind(p, env) == "int" for p in parts if not isinstance(p, ast.Slice)) < len(parts):
            return UNKNOWN
        if whole[0] == "list" and not slices and len(parts) == 1:
            return whole[1]
        if whole[0] == "array" and len(parts) <= whole[2]:
            left = whole[2] - len(parts) + slices
            return ("array", whole[1], left) if left else whole[1]
        return UNKNOWN

    def _letter(self, keywords: list[ast.keyword]) -> str | None:
        """The kind of the elements of an array that is made with this dtype."""
        if not keywords:
            return "float"
        return {float: "float", bool: "bool", int: "int"}.get(self.static(keywords[0].value)) if (
            keywords[0].arg == "dtype") else None

    def _call(self, e: ast.Call, env: Env) -> Kind:
        function = self.static(e.func)
        if isinstance(e.func, ast.Attribute) and function is None:
            whole = self.kind(e.func.value, env)
            if e.func.attr == "pop" and isinstance(whole, tuple) and whole[0] == "list":
                return whole[1]
            return whole if e.func.attr == "copy" and not e.args and _is_array(whole) else UNKNOWN
        first = self.kind(e.args[0], env) if e.args else UNKNOWN
        if function in (rt.place, rt.bound, len):
            return "int"
        if function in (float, bool) and first in NUMBERS:
            return function.__name__
        if function in (range, reversed):
            return "range" if function is range or first == "range" else UNKNOWN
        if function in _ALIKE and len(e.args) <= _ALIKE[function] and not e.keywords:
            return first if isinstance(first, tuple) else UNKNOWN
        if function in (np.empty, np.zeros, np.ones) and len(e.args) == 1 and len(e.keywords) < 2:
            axes = 1 if first == "int" else len(first[1]) if isinstance(first, tuple) and first[0] == "tuple" else 0
            letter = self._letter(e.keywords)
            return ("array", letter, axes) if axes and letter is not None else UNKNOWN
        if function in _JOINED and isinstance(first, tuple) and first[0] in ("tuple", "list"):
            items = first[1] if first[0] == "tuple" else (first[1],)
            return _array("float", items[0][2] + _JOINED[function]) if items and _are_floats(*items) else UNKNOWN
        if not _are_floats(first):
            return UNKNOWN
        if function in (np.sum, np.linalg.det) and len(e.args) == 1 and not e.keywords:
            return "float"
        if function is np.linalg.solve and len(e.args) == 2:
            return self.kind(e.args[1], env)
        if function in (np.copy, np.transpose, np.linalg.inv) or getattr(function, "__module__", "") == _OF_MATRICES:
            return first
        return UNKNOWN


def _unpacked(kind: Kind, number: int) -> list[Kind]:
    """The kinds of what is assigned to so many names at once."""
    if isinstance(kind, tuple) and kind[0] == "tuple" and len(kind[1]) == number:
        return list(kind[1])
    return [_item(kind) if _is_array(kind) else UNKNOWN] * number


def _item(array: Kind) -> Kind:
    """The kind of an item of an array."""
    return _array(array[1], array[2] - 1) if array[2] > 1 else array[1]


_ALIKE: dict[Any, int] = {
    rt.zeros_of: 1, list: 1, np.zeros_like: 1, np.empty_like: 1, np.ones_like: 1, np.full_like: 2,
}  # fmt: skip
"""What gives something like its first argument, with as many arguments at most."""

_JOINED: dict[Any, int] = {np.stack: 1, np.concatenate: 0}
"""How many more axes there are in what these give than in what they are given."""

_OF_MATRICES = "s2s.runtime._linalg"


def _array(letter: str, axes: int) -> Kind:
    return "array", letter, axes


def _are_floats(*kinds: Kind) -> bool:
    return all(_is_array(kind) and kind[1] == "float" for kind in kinds)


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, tuple) and kind[0] == "array"


def _product(a: Kind, b: Kind) -> Kind:
    """The kind of a product of matrices or vectors."""
    if not _are_floats(a, b) or max(a[2], b[2]) > 2:
        return UNKNOWN
    axes = a[2] + b[2] - 2
    return ("array", "float", axes) if axes else "float"


def _stored(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _joined(envs: list[Env | None]) -> Env | None:
    """What is known where several ways meet; None where none comes."""
    found = [env for env in envs if env is not None]
    if not found:
        return None
    names = {name for env in found for name in env}
    made: Env = {}
    for name in names:
        kind = None
        for env in found:
            kind = join(kind, env.get(name))
        made[name] = kind
    return made
