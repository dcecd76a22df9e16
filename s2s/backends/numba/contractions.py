"""``np.einsum`` and ``np.tensordot`` for compiled code, written as loops for the indices of their operands.

    np.einsum("ij,jk->ik", a, b)        loops where the product is small, else a product of matrices, which is BLAS's;
                                        what both operands and the result have is looped over around it
    np.einsum("ijk,ijk->k", a, b)       loops

The innermost loop is over the index that is the last one of most operands, as their numbers are side by side. Sums are
added up in any order, as NumPy does. Lengths that differ raise: the Python function runs then.
"""

from __future__ import annotations

import ast
import functools
import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from s2s import runtime as rt
from s2s.backends.numba.nests import nest_of
from s2s.backends.numba.units import unit

__all__ = ["CONTRACTIONS", "contraction"]

CONTRACTIONS = frozenset([np.einsum, np.tensordot])

_SMALL = 4096
"""So many products are done in loops before a product of matrices is faster."""


_OPTIONS: Any = {"fastmath": {"reassoc"}}


def contraction(function: Any, call: ast.Call) -> Any:
    """What stands for a contraction whose subscripts or axes are constants, which are taken out of the call; None
    where they are not."""
    given = {str(k.arg): k.value for k in call.keywords}
    if any(isinstance(a, ast.Starred) for a in call.args) or "None" in given:
        return None
    found = _of_einsum(call.args, given) if function is np.einsum else _of_tensordot(call.args, given)
    if found is None:
        return None
    made, call.args, call.keywords = *found, []
    return made


def _of_einsum(args: list[ast.expr], given: dict[str, ast.expr]) -> tuple[Any, list[ast.expr]] | None:
    if given.keys() - {"optimize"} or not 2 <= len(args) <= 3:
        return None
    subscripts = _constant(args[0])
    if not isinstance(subscripts, str) or "." in subscripts:
        return None
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    if len(terms) == 1 and set(terms[0]) <= set(output):
        return None  # NumPy gives a view
    is_plain = all(set(part) <= set(string.ascii_letters) for part in (*terms, output))
    if not is_plain or len(terms) != len(args) - 1 or len(set(output)) < len(output) or not set(output) <= set(inputs):
        return None
    return _einsum(tuple(terms), output), args[1:]


def _of_tensordot(args: list[ast.expr], given: dict[str, ast.expr]) -> tuple[Any, list[ast.expr]] | None:
    by_name = dict(zip(("a", "b", "axes"), args, strict=False)) | given
    axes = _constant(by_name.pop("axes")) if "axes" in by_name else 2
    if len(args) > 3 or by_name.keys() != {"a", "b"}:
        return None
    if isinstance(axes, (tuple, list)) and len(axes) == 2:
        axes = tuple(tuple(part) if isinstance(part, (tuple, list)) else (part,) for part in axes)
        if len(axes[0]) != len(axes[1]) or not all(type(axis) is int for part in axes for axis in part):
            return None
    elif type(axes) is not int or axes < 0:
        return None
    return _tensordot(axes), [by_name["a"], by_name["b"]]


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


@functools.cache
def _einsum(terms: tuple[str, ...], output: str) -> Any:
    """A contraction of operands with these indices."""
    if len(terms) == 1:
        def einsum(a: Any) -> Any:
            raise NotImplementedError
    else:
        def einsum(a: Any, b: Any) -> Any:  # type: ignore[misc]
            raise NotImplementedError

    def made(*operands: Any) -> Any:
        return _written(operands, terms, output)

    scope: dict[str, Any] = {"made": made}
    names = ", ".join("ab"[: len(terms)])
    exec(f"def choose({names}):\n    return made({names})", scope)
    overload(einsum, jit_options=_OPTIONS)(scope["choose"])
    return einsum


@functools.cache
def _tensordot(axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    """A sum of products along axes of both operands."""

    def tensordot(a: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(tensordot, jit_options=_OPTIONS)
    def choose(a, b):
        if not isinstance(a, types.Array) or not isinstance(b, types.Array):
            return None
        if isinstance(axes, int):
            pairs = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        else:
            pairs = axes
        if not all(-x.ndim <= axis < x.ndim for x, part in zip((a, b), pairs, strict=True) for axis in part):
            return None
        own, other = ([axis % x.ndim for axis in part] for x, part in zip((a, b), pairs, strict=True))
        if len(set(own)) < len(own) or len(set(other)) < len(other):
            return None
        letters = string.ascii_lowercase
        first = letters[: a.ndim]
        free = iter(letters[a.ndim :])
        second = "".join(first[own[other.index(k)]] if k in other else next(free) for k in range(b.ndim))
        left = [c for k, c in enumerate(first) if k not in own] + [c for k, c in enumerate(second) if k not in other]
        return _written((a, b), (first, second), "".join(left))

    return tensordot


def _written(operands: Sequence[Any], terms: tuple[str, ...], output: str) -> Any:
    """The function for operands of these types; None for types that have no such one."""
    for operand, term in zip(operands, terms, strict=True):
        if not isinstance(operand, types.Array) or operand.ndim != len(term):
            return None
        if operand.dtype not in (types.float64, types.float32, types.complex128, types.complex64):
            return None
    kind = np.result_type(*[as_dtype(operand.dtype) for operand in operands])
    is_same = all(as_dtype(operand.dtype) == kind for operand in operands)
    lines = [f"def contraction({', '.join('ab'[: len(terms)])}):", *_lengths(terms)]
    parts = _matrices(terms, output) if is_same and output else None
    if parts is not None:
        work = _size(list(dict.fromkeys("".join(terms))))
        lines += [f"    if {work} > {_SMALL}:", *_product(operands, terms, output, *parts)]
    lines += _loops(terms, output)
    loops = _Loops(kind == np.float64)
    node = ast.fix_missing_locations(loops.visit(ast.parse("\n".join(lines))))
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "kind": kind, "zero": kind.type(0), **loops.made}
    exec(compile(node, __name__, "exec"), scope)
    return scope["contraction"]


class _Loops(ast.NodeTransformer):
    """Writes loops over places as calls of functions of their own, where all numbers are float64, else as such."""

    def __init__(self, are_alone: bool) -> None:
        self.are_alone = are_alone
        self.made: dict[str, Any] = {}

    def visit_For(self, node: ast.For) -> ast.stmt:
        """A loop, with those in it."""
        found = nest_of(node, self._static, lambda value, call: value) if self.are_alone else None
        if found is None:
            self.generic_visit(node)
            if isinstance(node.iter, ast.Call) and self._static(node.iter.func) is rt.places:
                node.iter.func = ast.Name("range", ast.Load())
            return node
        nest, arguments = found
        name = f"loop{len(self.made)}"
        self.made[name] = unit(nest)
        call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
        results = [arguments[nest.parameters.index(result)] for result in nest.results]
        if not results:
            return ast.Expr(call)
        return ast.Assign([ast.Name(ast.unparse(results[0]), ast.Store())], call)  # a sum

    @staticmethod
    def _static(expression: ast.expr) -> Any:
        return rt.places if ast.unparse(expression) == "places" else None


def _lengths(terms: tuple[str, ...]) -> list[str]:
    """The lengths that indices run over; the same of all operands."""
    lines, seen = [], set()
    for name, term in zip("ab", terms, strict=False):
        for axis, c in enumerate(term):
            if c in seen:
                lines.append(f"    if {name}.shape[{axis}] != n_{c}: raise ValueError")
            else:
                lines.append(f"    n_{c} = {name}.shape[{axis}]")
                seen.add(c)
    return lines


def _loops(terms: tuple[str, ...], output: str) -> list[str]:
    """A loop for each index. Where the innermost is one of the result, this is added up in place."""
    product = " * ".join(f"{name}[{_index(term)}]" if term else f"{name}[()]"
                         for name, term in zip("ab", terms, strict=False))
    every = list(dict.fromkeys([*output, *"".join(terms)]))
    if not every:
        return [f"    out = np.empty((), kind)\n    out[()] = {product}\n    return out[()]"]
    inner = max(every, key=lambda c: (_beside(c, (*terms, output)), every.index(c)))
    summed = [c for c in every if c not in output]
    shape = f"({', '.join(f'n_{c}' for c in output)},)" if output else ""
    lines: list[str] = []
    if inner in output:
        lines.append(f"    out = np.{'zeros' if summed else 'empty'}({shape}, kind)")
        order, op = [*(c for c in output if c != inner), *summed, inner], "+=" if summed else "="
        body = [f"out[{_index(output)}] {op} {product}"]
        return [*lines, *_nest(order, body), "    return out"]
    rest = [c for c in summed if c != inner]
    sums = ["total = zero", *_nest([*rest, inner], [f"total += {product}"], "")]
    if not output:
        return [*("    " + line for line in sums), "    return total"]
    lines.append(f"    out = np.empty({shape}, kind)")
    return [*lines, *_nest(list(output), [*sums, f"out[{_index(output)}] = total"]), "    return out"]


def _beside(c: str, terms: tuple[str, ...]) -> int:
    """In how many operands the numbers along an index lie side by side, less those where they do not."""
    return sum((1 if term[-1] == c else -1) for term in terms if c in term)


def _nest(order: list[str], body: list[str], space: str = "    ") -> list[str]:
    lines = []
    for c in order:
        lines.append(f"{space}for i_{c} in places(n_{c}):")
        space += "    "
    return [*lines, *(space + line for line in body)]


def _matrices(terms: tuple[str, ...], output: str) -> tuple[list[str], list[str], list[str], list[str]] | None:
    """The indices of a product of matrices: of both operands and the result, of rows, of what is summed, of columns;
    None where it is no such product."""
    if len(terms) != 2 or any(len(set(term)) < len(term) for term in terms):
        return None
    a, b = terms
    shared = [c for c in output if c in a and c in b]
    summed = [c for c in a if c in b and c not in output]
    rows, columns = [c for c in output if c in a and c not in b], [c for c in output if c in b and c not in a]
    if not summed or len(shared) + len(summed) + len(rows) != len(a) or not rows or not columns:
        return None
    if len(shared) + len(summed) + len(columns) != len(b):
        return None
    return shared, rows, summed, columns


def _product(
    operands: Sequence[Any], terms: tuple[str, ...], output: str,
    shared: list[str], rows: list[str], summed: list[str], columns: list[str],
) -> list[str]:
    """A product of matrices, one for each place of the indices that operands and result share."""
    lines = [
        *_as_matrices("a", operands[0], terms[0], shared, rows, summed),
        *_as_matrices("b", operands[1], terms[1], shared, summed, columns),
        f"c_ = np.empty(({_shape(shared, rows, columns)}), kind)",
        *([f"for p in range({_size(shared)}):", "    np.dot(a_[p], b_[p], c_[p])"] if shared
          else ["np.dot(a_, b_, c_)"]),
    ]
    made = [*shared, *rows, *columns]
    lengths = ", ".join(f"n_{c}" for c in made)
    lines.append(f"d = c_.reshape(({lengths},))")
    if made != list(output):
        lines += [f"out = np.empty(({', '.join(f'n_{c}' for c in output)},), kind)",
                  *_nest(list(output), [f"out[{_index(output)}] = d[{_index(made)}]"], ""), "return out"]
    else:
        lines.append("return d")
    return ["        " + line for line in lines]


def _as_matrices(
    name: str, operand: Any, term: str, shared: list[str], first: list[str], second: list[str]
) -> list[str]:
    """A matrix of an operand's numbers, or a stack of them; a copy where they are not side by side in that order."""
    order = [*shared, *first, *second]
    shape = f"({_shape(shared, first, second)})"
    if list(term) == order and operand.layout == "C":
        return [f"{name}_ = {name}.reshape({shape})"]
    lengths = ", ".join(f"n_{c}" for c in order)
    return [f"{name}__ = np.empty(({lengths},), kind)",
            *_nest(order, [f"{name}__[{_index(order)}] = {name}[{_index(term)}]"], ""),
            f"{name}_ = {name}__.reshape({shape})"]


def _shape(shared: list[str], first: list[str], second: list[str]) -> str:
    """The lengths of a matrix, or of a stack of them where there are indices that all share."""
    return ", ".join(map(_size, ([shared] if shared else []) + [first, second]))


def _size(letters: Sequence[str]) -> str:
    return " * ".join(f"n_{c}" for c in letters) or "1"


def _index(letters: Sequence[str]) -> str:
    return ", ".join(f"i_{c}" for c in letters)
