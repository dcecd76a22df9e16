"""Statements of numbers and elements of arrays, one after the other, in; the same by themselves out, as ``nests`` does
it for loops over elements:

    t[0, 0] = a[k, 0] * b[0, 0]                 a0[0, 0] = a1[s2, 0] * a3[0, 0]
    saved.append(t)                     ->      a0[0, 1] = a1[s2, 0] * a3[0, 1]
    t[0, 1] = a[k, 0] * b[0, 1]                 v4 = s5 * s6
    x = y * z

What makes an array moves before them, what puts one on a list after them. Products of short matrices that are written
out, and states of a few numbers, are most of the statements of some functions; Numba takes milliseconds for each
element that is read. Nothing here imports Numba.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.backends.numba.nests import Nest, NotAlone, Reader
from s2s.backends.numba.number_kinds import Kind, Kinds, number_kind

__all__ = ["Run", "Straight", "Straights", "refused"]

LEAST_WORK = 24
"""Operations and elements in the fewest statements for which a function is called."""

LEAST_WORK_OF_BLOCK = 120
"""The same of a block: the body of a small loop stays as it is, which LLVM then has as a whole."""

_SIMPLE = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Straight(Nest):
    """The source of statements: of parameters whose names begin with ``a``, arrays, ``p``, tuples, and ``s``, numbers;
    ``results`` are the numbers that it makes. Its subscripts are checked, and so are divisors."""


refused: set[Straight] = set()
"""Those for which Numba has found other types than were expected."""


@dataclass(frozen=True)
class Run:
    """Statements as a call: with these arguments, and names for the results."""

    first: ast.stmt
    unit: Straight
    arguments: list[ast.expr]
    results: list[str]


class Straights:
    """The runs of a function of which ``kinds`` are known."""

    def __init__(
        self, node: ast.FunctionDef, kinds: Kinds, static: Callable[[ast.expr], Any],
        replace: Callable[[Any, ast.Call], Any],
    ) -> None:
        self.kinds = kinds
        self.static = static
        self.replace = replace
        self.loads = _loads(node)

    def of(self, body: list[ast.stmt]) -> list[ast.stmt | Run]:
        """The statements of a block, with calls in place of runs."""
        if _work_of(body) < LEAST_WORK_OF_BLOCK:
            return [*body]
        made: list[ast.stmt | Run] = []
        current = _Collected()
        for s in body:
            env = self.kinds.known(s)
            if env is None or not (self._take(current, s, env)):
                made += self._closed(current)
                current = _Collected()
                if env is None or not self._take(current, s, env):
                    made.append(s)
        return [*made, *self._closed(current)]

    def _take(self, run: _Collected, s: ast.stmt, env: dict[str, Kind]) -> bool:
        """Whether a statement is in a run, or can be moved out of its way."""
        reads, writes = _names(s)
        if self._is_straight(s, env):
            if writes & run.late_reads:
                return False
            run.taken.append((s, env))
            run.reads |= reads
            run.writes |= writes
        elif not run.taken:
            return False
        elif self._is_late(s):
            run.late.append(s)
            run.late_reads |= reads
        elif self._is_early(s, env):
            if writes & (run.reads | run.writes | run.late_reads) or reads & run.writes or (
                    run.late and _reads_lists(s)):
                return False
            run.early.append(s)
        else:
            return False
        run.all.append(s)
        return True

    def _is_straight(self, s: ast.stmt, env: dict[str, Kind]) -> bool:
        match s:
            case ast.Assign(targets=[ast.Name()], value=value):
                return number_kind(value, env, self.static) in ("float", "bool") and not isinstance(value, ast.Name)
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                return self._is_float_place(place, env) and number_kind(value, env, self.static) in ("float", "int")
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, op=op, value=value):
                is_place = isinstance(target, ast.Name) or self._is_float_place(target, env)
                if not is_place or not isinstance(op, _SIMPLE):
                    return False
                return number_kind(ast.BinOp(_loaded(target), op, value), env, self.static) == "float"
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id=name)):
                kind = env.get(name)
                if not isinstance(kind, tuple) or len({ast.unparse(n) for n in names}) < len(names):
                    return False
                is_tuple = kind[0] == "tuple" and len(kind[1]) == len(names) and set(kind[1]) <= {"float"}
                is_vector = kind == ("array", "float", 1)
                return (is_tuple or is_vector) and all(isinstance(n, ast.Name) for n in names)
        return False

    def _is_float_place(self, place: ast.Subscript, env: dict[str, Kind]) -> bool:
        if not isinstance(place.value, ast.Name):
            return False
        kind = env.get(place.value.id)
        return isinstance(kind, tuple) and kind[0] == "array" and number_kind(
            _loaded(place), env, self.static) == "float"

    def _is_late(self, s: ast.stmt) -> bool:
        """Whether a statement puts numbers or arrays on a list."""
        match s:
            case ast.Expr(value=ast.Call(func=ast.Attribute(ast.Name(), "append"), args=[item], keywords=[])):
                parts = item.elts if isinstance(item, ast.Tuple) else [item]
                return all(isinstance(part, (ast.Name, ast.Constant)) for part in parts)
        return False

    def _is_early(self, s: ast.stmt, env: dict[str, Kind]) -> bool:
        """Whether a statement reads no numbers in arrays, and does nothing but to make what it assigns, or to raise."""
        match s:
            case ast.Expr(value=ast.Call(func=func)):
                return self.static(func) is rt.check_lengths
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=func) as value):
                return self.static(func) in (np.empty, np.zeros, rt.place, rt.bound) or _is_pop(s)
            case ast.Assign(targets=[ast.Name()], value=ast.Attribute(attr="T" | "shape")):
                return True
            case ast.Assign(targets=[ast.Tuple()], value=ast.Name(id=name)):
                kind = env.get(name)
                return isinstance(kind, tuple) and kind[0] == "array" and kind[2] > 1
            case ast.Assign(targets=[ast.Name()], value=ast.Subscript() as value):
                kind = self.kinds.kind(value, env)
                return kind == "int" or isinstance(kind, tuple)
            case ast.Assign(targets=[ast.Name()], value=ast.BinOp() | ast.Constant() as value):
                return self.kinds.kind(value, env) == "int"
        return False

    # -- runs that are closed

    def _closed(self, run: _Collected) -> list[ast.stmt | Run]:
        try:
            made = self._made(run) if run.taken else None
        except NotAlone:
            made = None
        return [*run.all] if made is None else [*run.early, made, *run.late]

    def _made(self, run: _Collected) -> Run | None:
        """The run as a call; None where that is no less work."""
        reader = _Reader(self.static, self.replace)
        work = 0
        loads: Counter[str] = Counter()
        statements = []
        for s, env in run.taken:
            reader.env = env
            loads.update(n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
                         and n.id in reader.names)
            if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and s.target.id in reader.names:
                loads[s.target.id] += 1
            statements.append(reader.straight(s))
            work += _work_of([s])
        needed = [name for name in dict.fromkeys(reader.assigned) if self.loads[name] > loads[name]]
        if not reader.parameters or work - 2 * len(needed) - len(reader.parameters) // 2 < LEAST_WORK:
            return None
        text = ast.unparse(ast.fix_missing_locations(ast.Module(statements, [])))
        results = tuple(reader.names[name] for name in needed)
        unit = Straight(text, tuple(reader.parameters), results, tuple(sorted(reader.functions.items())))
        return None if unit in refused else Run(run.taken[0][0], unit, reader.arguments, needed)


_WORK: dict[type, int] = {ast.BinOp: 1, ast.UnaryOp: 1, ast.Call: 4, ast.Compare: 1, ast.Subscript: 4}


class _Collected:
    """Statements that make a run, and those that move out of its way."""

    def __init__(self) -> None:
        self.all: list[ast.stmt] = []
        self.taken: list[tuple[ast.stmt, dict[str, Kind]]] = []
        self.early: list[ast.stmt] = []
        self.late: list[ast.stmt] = []
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.late_reads: set[str] = set()


class _Reader(Reader):
    """Rewrites statements; ``env`` has the kinds of names before each."""

    env: dict[str, Kind]

    def __init__(self, static: Callable[[ast.expr], Any], replace: Callable[[Any, ast.Call], Any]) -> None:
        super().__init__(static, replace)
        self.assigned: list[str] = []

    def straight(self, s: ast.stmt) -> ast.stmt:
        """One statement."""
        match s:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name() as value):
                whole = ast.Name(self._parameter(value, self._letter(value.id)), ast.Load())
                return ast.Assign([ast.Tuple([self._assigned(n) for n in names], ast.Store())], whole)  # type: ignore[arg-type]
        return self.statement(s)

    def _letter(self, name: str) -> str:
        kind = self.env.get(name)
        return "p" if isinstance(kind, tuple) and kind[0] == "tuple" else "a"

    def _assigned(self, target: ast.Name) -> ast.Name:
        self.assigned.append(target.id)
        return ast.Name(self.names.get(target.id) or self._new(target.id), ast.Store())

    def _array(self, array: ast.Name) -> str:
        return self._parameter(array, self._letter(array.id))


def _loads(node: ast.FunctionDef) -> Counter[str]:
    """How often names are read."""
    found = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store))
    found.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name))
    return found


def _work_of(statements: Iterable[ast.stmt]) -> int:
    """How many operations and elements are in statements, and in those inside them."""
    return sum(_WORK.get(type(n), 0) for s in statements for n in ast.walk(s))


def _names(s: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement reads, and those that it assigns."""
    reads = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    writes = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return (reads | writes if isinstance(s, ast.AugAssign) else reads), writes


def _reads_lists(s: ast.stmt) -> bool:
    """Whether a statement may read what is on a list."""
    parts = [n for n in ast.walk(s) if isinstance(n, ast.Subscript) and not isinstance(n.value, ast.Attribute)]
    return bool(parts) or _is_pop(s)


def _is_pop(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(value=ast.Call(func=ast.Attribute(ast.Name(), "pop"), args=[], keywords=[])):
            return True
    return False


def _loaded(target: ast.Name | ast.Subscript) -> ast.expr:
    """A target as it is read."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    return ast.Subscript(target.value, target.slice, ast.Load())
