"""Contractions: a product in the reverse sweep that is summed at once is one product of vectors or matrices, which
makes no array between; and an ``einsum`` that is such a product is written as it.

    t = y_bar * w                       w_bar = y_bar @ w
    w_bar = np.sum(t, axis=1)    ->

    a_bar = np.einsum("ik,jk->ij", y_bar, b)    ->    a_bar = y_bar @ b.T
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.shapes import ONE
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, is_basic
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array, Dim, Known
from s2s.optimize.dead import changes_argument, drop_dead
from s2s.optimize.rewriting import count_uses, map_blocks, without_result

__all__ = ["PRODUCTS", "are_equal", "contract", "contract_others", "factor"]


def contract(function: ir.Function, context: Context) -> ir.Function:
    """The function with sums of products of matrices as these, in its reverse sweep, and where the sum before is larger
    than what it is given in its forward sweep."""
    return _contracted(function, context, True)


def contract_others(function: ir.Function, context: Context) -> ir.Function:
    """The same of other contractions: of vectors, of stacks, of a matrix and a vector."""
    return _contracted(function, context, False)


def _contracted(function: ir.Function, context: Context, is_of_matrices: bool) -> ir.Function:
    if not any(isinstance(s, ir.Note) and s.section == "reverse" for s in function.body.statements):
        return function
    if not any(map(_may_be_one, ir.walk(function.body))):
        return function
    return ir.replace(function, body=_Contracter(function, context, is_of_matrices).block(function.body))


def _may_be_one(s: ir.Statement) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in (_SUM, _EINSUM)


_SUM, _EINSUM = ir.Const(np.sum), ir.Const(np.einsum)


class _Uses:
    """How often each variable is read by what is not dead, which is counted when it is first asked: few functions have
    a sum of products."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.function = function
        self.context = context

    @cached_property
    def counts(self) -> Counter[ir.Atom]:
        return count_uses(drop_dead(self.function, self.context).body)

    def __getitem__(self, atom: ir.Atom) -> int:
        return self.counts[atom]


class _Contracter:
    """``calls`` are those of the block whose operands hold what they held: no statement since has changed them.
    ``seen`` are the variables that are defined where a statement stands, ``is_reverse`` says that it is of the reverse
    sweep; ``is_of_matrices``, which contractions are written."""

    def __init__(self, function: ir.Function, context: Context, is_of_matrices: bool) -> None:
        self.function = function
        self.context = context
        self.is_of_matrices = is_of_matrices
        self.is_reverse = False
        self.seen: set[ir.Atom] = {*(p.var for p in function.params), *function.captures}
        self.uses = _Uses(function, context)
        self.calls: dict[ir.Atom, ir.Call] = {}

    @cached_property
    def memory(self) -> Memory:
        """What shares memory, for functions that change arrays."""
        return Memory(without_result(self.function), self.context.value)

    @cached_property
    def keys(self) -> dict[ir.Atom, ir.Atom]:
        """What is read of variables that are read once, at an index."""
        return {
            s.value.args[0]: s.value.args[1] for s in ir.walk(self.function.body)  # type: ignore[misc]
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(operator.getitem)
            and self.uses[s.value.args[0]] == 1  # type: ignore[index]
        }

    def block(self, block: ir.Block) -> ir.Block:
        calls, self.calls = self.calls, {}
        made = [t for s in block.statements for t in self._statement(s)]
        self.calls = calls
        return ir.Block(tuple(made), block.yields)

    def _statement(self, s: ir.Statement) -> list[ir.Statement]:
        before: list[ir.Statement] = []
        self.is_reverse = self.is_reverse or (isinstance(s, ir.Note) and s.section == "reverse")
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None:
            before, s = self._contracted(s, s.value)
        elif any(True for _ in ir.blocks_of(s)):
            seen, self.seen = self.seen, {*self.seen, *ir.inner_defs_of(s)}
            s = map_blocks(s, self.block)
            self.seen = self.seen if isinstance(s, ir.With) else seen  # its body is no scope
        self._forget(s)
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None:
            self.calls[s.target] = s.value
        self.seen.update(ir.defs_of(s))
        return [*before, s]

    def _contracted(self, s: ir.Let, call: ir.Call) -> tuple[list[ir.Statement], ir.Let]:
        """A statement as a contraction, after those that compute its operands."""
        found, builder = contraction(call, self.calls, self.uses, self.context), Builder(self.context)
        is_there = found is not None and {found.a, found.b} <= self.seen
        is_wanted = found is not None and is_there and (self.is_reverse or found.makes_larger)
        is_wanted = is_wanted and found.is_of_matrices is self.is_of_matrices  # type: ignore[union-attr]
        if found is not None and found.axes and s.target in self.keys:
            # it is one when these axes are taken away
            is_wanted = is_wanted and _removed(self.keys[s.target], self.context) != found.axes  # type: ignore[index]
        result = found.write(builder, s.span, self.seen) if found is not None and is_wanted else None
        if result is not None:
            *before, last = builder.statements
            assert isinstance(last, ir.Let) and last.target == result
            return before, ir.replace(s, value=last.value)
        is_last = self.is_reverse and not self.is_of_matrices
        summed = _sum_without_axes(call, self.calls, self.uses, self.context) if is_last else None
        return [], s if summed is None else ir.replace(s, value=summed)

    def _forget(self, s: ir.Statement) -> None:
        """Let go of the calls with an operand that a statement may change."""
        changed = self._changed_by(s)
        if changed is None:
            self.calls.clear()
        elif changed:
            same = {a for var in changed for a in (var, *self.memory.same(var))}
            self.calls = {target: call for target, call in self.calls.items() if same.isdisjoint(ir.atoms_of(call))}

    def _changed_by(self, s: ir.Statement) -> tuple[ir.Var, ...] | None:
        """The arrays that a statement may change; None where these may be any."""
        if isinstance(s, ir.Store) and isinstance(s.target, ir.Var):
            return (s.target,)
        if isinstance(s, ir.Note) or (isinstance(s, ir.Let) and not isinstance(s.value, ir.Call)):
            return ()
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or not isinstance(s.value.fn, ir.Const):
            return None
        fn, args = s.value.fn.value, s.value.args
        if s.value.fn in _OF_STACKS:
            return ()
        if changes_argument(fn):
            return (args[0],) if isinstance(args[0], ir.Var) else None
        return None if facts(fn).acts or any(key == "out" for key, _ in s.value.kwargs) else ()


_OF_STACKS = (ir.Const(ops.push), ir.Const(ops.pull))


@dataclass
class _Contraction:
    """Two operands with their indices, those of the result, whether it stands as a sum of a product, and whether the
    result is the negative of it. ``first_of`` are the axes of length one of which an operand is read without them,
    ``axes`` those that the result has more, of length one."""

    a: ir.Atom
    b: ir.Atom
    of_a: str
    of_b: str
    output: str
    is_sum: bool = False
    negative: bool = False
    first_of: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    axes: tuple[int, ...] = ()
    both: str = field(init=False)
    batch: str = field(init=False)
    summed: str = field(init=False)

    def __post_init__(self) -> None:
        self.both = "".join(c for c in self.of_a if c in self.of_b)
        self.batch = "".join(c for c in self.both if c in self.output)
        self.summed = "".join(c for c in self.both if c not in self.output)

    @property
    def makes_larger(self) -> bool:
        """Whether the product before the sum has dimensions that each of the operands lacks."""
        return self.is_sum and self.is_of_matrices

    @property
    def is_of_matrices(self) -> bool:
        """Whether each operand has dimensions that the other lacks."""
        return bool({*self.of_a} - {*self.of_b}) and bool({*self.of_b} - {*self.of_a})

    def write(self, builder: Builder, span: ir.Span | None, seen: set[ir.Atom]) -> ir.Atom | None:
        """Write the product, where ``seen`` are the variables that are defined; None where it is none of matrices."""
        if not self.summed or not {*self.of_a, *self.of_b} <= {*self.output, *self.summed}:
            return None
        self.a = _first_of(self.a, self.first_of[0], builder, span, seen)
        self.b = _first_of(self.b, self.first_of[1], builder, span, seen)
        made = (
            self._of_matrices(builder, span) or self._of_all(builder, span) or self._of_many(builder, span)
            or self._along(builder, span)
        )
        if made is not None and self.negative:
            made = builder.call(operator.neg, made, span=span)
        if made is None or not self.axes:
            return made
        axes = map(ir.Const, self.axes)
        where = ir.Const(self.axes[0]) if len(self.axes) == 1 else builder.call(ops.make_tuple, *axes, span=span)
        return builder.call(np.expand_dims, made, where, span=span)

    def _of_matrices(self, builder: Builder, span: ir.Span | None) -> ir.Atom | None:
        batch, c = self.batch, self.summed
        count = len(batch)
        if len(c) != 1 or any(not letters.startswith(batch) for letters in (self.of_a, self.of_b, self.output)):
            return None
        a, b, of_a, of_b, output = self.a, self.b, self.of_a[count:], self.of_b[count:], self.output[count:]
        for one, other, letters, vector in ((a, b, of_a, of_b), (b, a, of_b, of_a)):
            if vector == c and letters == output + c and not batch:  # of any number of dimensions
                return builder.call(operator.matmul, one, other, span=span)
        if len(of_a) > 2 or len(of_b) > 2 or (batch and (len(of_a) < 2 or len(of_b) < 2)):
            return None
        if output != (of_a + of_b).replace(c, ""):
            a, b, of_a, of_b = b, a, of_b, of_a
        if of_a == c + output and len(of_b) == 1:
            a, b, of_a, of_b = b, a, of_b, of_a  # the vector stands where the matrix needs no transpose
        if of_a.startswith(c) and len(of_a) == 2:
            a = _transposed(a, batch, builder, span)
        if of_b.endswith(c) and len(of_b) == 2:
            b = _transposed(b, batch, builder, span)
        return builder.call(operator.matmul, a, b, span=span)

    def _of_all(self, builder: Builder, span: ir.Span | None) -> ir.Atom | None:
        """A number: the sum of the product of two arrays of one shape."""
        if self.output or self.axes or self.of_a != self.of_b:
            return None
        return builder.call(np.vdot, self.a, self.b, span=span)

    def _of_many(self, builder: Builder, span: ir.Span | None) -> ir.Atom | None:
        """Of several indices at once. (Of all of them it would make an array without dimensions.)"""
        if self.batch or not self.output:
            return None
        a, b, of_a, of_b = self.a, self.b, self.of_a, self.of_b
        free = ["".join(c for c in letters if c in self.output) for letters in (of_a, of_b)]
        if self.output == free[1] + free[0]:
            a, b, of_a, of_b = b, a, of_b, of_a
        elif self.output != free[0] + free[1]:
            return None
        axes = [
            builder.call(ops.make_tuple, *(ir.Const(letters.index(c)) for c in self.summed))
            for letters in (of_a, of_b)
        ]
        return builder.call(np.tensordot, a, b, builder.call(ops.make_tuple, *axes), span=span)

    def _along(self, builder: Builder, span: ir.Span | None) -> ir.Atom | None:
        """Of what is a sum over some of the axes: no product is kept before it is added."""
        if not self.is_sum or not self.output:
            return None
        text = f"{self.of_a},{self.of_b}->{self.output}"
        return builder.call(np.einsum, ir.Const(text), self.a, self.b, span=span)


def _first_of(
    atom: ir.Atom, axes: tuple[int, ...], builder: Builder, span: ir.Span | None, seen: set[ir.Atom]
) -> ir.Atom:
    """An array without axes of length one."""
    if not axes:
        return atom
    read = builder.context.definition(atom, operator.getitem)
    parts = None if read is None else builder.context.definition(read[1], ops.make_tuple)
    if read is not None and parts is not None and _adds_last(atom, read[0], parts, axes, builder.context):
        if all(a in seen for a in (read[0], *parts) if isinstance(a, ir.Var)):
            index = parts[0] if len(parts) == 2 else builder.call(ops.make_tuple, *parts[:-1], span=span)
            return builder.call(operator.getitem, read[0], index, span=span)
    every = ir.Const(slice(None))
    at = [ir.Const(0) if k in axes else every for k in range(max(axes) + 1)]
    return builder.call(operator.getitem, atom, builder.call(ops.make_tuple, *at, span=span), span=span)


def _adds_last(
    atom: ir.Atom, source: ir.Atom, parts: tuple[ir.Atom, ...], axes: tuple[int, ...], context: Context
) -> bool:
    """Whether an array is a view of another one, with an axis of length one added behind all others: ``axes``."""
    known, made = context.value(source), context.value(atom)
    taken = [context.value(p) for p in parts]
    if not all(map(is_basic, taken)) or any(isinstance(v, Known) and v.value is ... for v in taken):
        return False
    added = [k for k, v in enumerate(taken) if isinstance(v, Known) and v.value is None]
    is_whole = isinstance(known, Array) and known.shape is not None and len(known.shape) == len(parts) - 1
    return is_whole and added == [len(parts) - 1] and isinstance(made, Array) and axes == (len(made.shape or ()) - 1,)


def _transposed(matrix: ir.Atom, batch: str, builder: Builder, span: ir.Span | None) -> ir.Atom:
    if batch:
        return builder.call(np.swapaxes, matrix, ir.Const(-1), ir.Const(-2), span=span)
    return builder.call(getattr, matrix, ir.Const("T"), span=span)


# --- what is one ------------------------------------------------------------------------------------------------------


def contraction(
    call: ir.Call, calls: dict[ir.Atom, ir.Call], uses: _Uses, context: Context
) -> _Contraction | None:
    if not isinstance(call.fn, ir.Const) or any(isinstance(a, ir.Star) for a in call.args):
        return None
    if call.fn.value is np.einsum:
        return _einsum(call, context)
    summed = _sum_without_axes(call, calls, uses, context) or call
    for keeps in (False, True):
        axes = _summed_axes(summed, keeps, context)
        if axes is not None:
            return _sum(summed.args[0], axes, keeps, calls, uses, context)  # type: ignore[arg-type]
    return None


def _sum_without_axes(
    call: ir.Call, calls: dict[ir.Atom, ir.Call], uses: _Uses, context: Context
) -> ir.Call | None:
    """The sum that gives at once what an index takes of one that keeps its axes as axes of length one."""
    whole = calls.get(call.args[0]) if call.fn == ir.Const(operator.getitem) else None  # type: ignore[arg-type]
    if whole is None or uses[call.args[0]] != 1 or any(isinstance(a, ir.Star) for a in whole.args):  # type: ignore[index]
        return None
    axes = _summed_axes(whole, True, context)
    if axes is None or _removed(call.args[1], context) != axes:
        return None
    return ir.replace(whole, kwargs=tuple(pair for pair in whole.kwargs if pair[0] != "keepdims"))


def _einsum(call: ir.Call, context: Context) -> _Contraction | None:
    text = call.args[0]
    if len(call.args) != 3 or call.kwargs or not isinstance(text, ir.Const) or type(text.value) is not str:
        return None
    if "." in text.value:
        return None
    of_a, of_b = rt.einsum_inputs(text.value)
    a, b = call.args[1:]
    lengths = dict[str, Dim]()
    for atom, letters in ((a, of_a), (b, of_b)):
        shape = _shape_of_floats(atom, context)
        if shape is None or len(shape) != len(letters) or len({*letters}) != len(letters):
            return None
        for letter, length in zip(letters, shape, strict=True):
            if not are_equal(lengths.setdefault(letter, length), length, context):
                return None
    return _Contraction(a, b, of_a, of_b, rt.einsum_output(text.value))  # type: ignore[arg-type]


def _summed_axes(call: ir.Call, keeps: bool, context: Context) -> tuple[int, ...] | None:
    """The axes of a call of ``np.sum``, which keeps them as axes of length one or not; None for any other call."""
    if call.fn != _SUM or len(call.args) != 1:
        return None
    (summed,) = call.args
    assert not isinstance(summed, ir.Star)
    named: dict[str | None, ir.Atom] = dict(call.kwargs)
    if not named.keys() <= {"axis", "keepdims"} or named.get("keepdims", ir.Const(False)) != ir.Const(keeps):
        return None
    value = context.value(summed)
    if not isinstance(value, Array) or value.shape is None:
        return None
    rank = len(value.shape)
    axis = named.get("axis", ir.Const(None))
    if axis == ir.Const(None):
        return tuple(range(rank))
    made = context.definition(axis, ops.make_tuple) or (axis,)
    numbers = [a.value for a in made if isinstance(a, ir.Const) and type(a.value) is int]
    return tuple(sorted(k % rank for k in numbers)) if len(numbers) == len(made) and rank else None


def _removed(key: ir.Atom | ir.Star, context: Context) -> tuple[int, ...] | None:
    """The axes of which an index takes the first entry, where it takes the whole of the others."""
    assert not isinstance(key, ir.Star)
    values = [context.value(p) for p in context.definition(key, ops.make_tuple) or (key,)]
    if not all(isinstance(v, Known) and (v.value == slice(None) or v.value == 0) for v in values):
        return None
    return tuple(k for k, v in enumerate(values) if isinstance(v, Known) and type(v.value) is int)


def _sum(
    atom: ir.Atom, axes: tuple[int, ...], keeps: bool, calls: dict[ir.Atom, ir.Call], uses: _Uses,
    context: Context,
) -> _Contraction | None:
    """The sum over axes of what is a product of two arrays."""
    negative, product = False, calls.get(atom)
    if product is not None and product.fn == ir.Const(operator.neg) and uses[atom] == 1:
        negative, atom = True, product.args[0]  # type: ignore[assignment]
        product = calls.get(atom)
    known = context.value(atom)
    if product is None or product.fn not in PRODUCTS or product.kwargs or uses[atom] != 1:
        return None
    if not isinstance(known, Array) or not known.shape:
        return None
    letters = "ijklmnopqrstuvwxyzabcdefgh"[: len(known.shape)]
    operands = [factor(a, letters, known.shape, context) for a in product.args]  # type: ignore[arg-type]
    if len(operands) != 2 or operands[0] is None or operands[1] is None:
        return None
    (a, of_a, first_of_a), (b, of_b, first_of_b) = operands  # type: ignore[misc]
    if {*of_a, *of_b} != {*letters}:
        return None
    output = "".join(c for k, c in enumerate(letters) if k not in axes)
    return _Contraction(
        a, b, of_a, of_b, output, True, negative, (first_of_a, first_of_b), axes if keeps else ())


PRODUCTS = (ir.Const(operator.mul), ir.Const(np.multiply))


def factor(
    atom: ir.Atom, letters: str, shape: tuple[Dim, ...], context: Context
) -> tuple[ir.Atom, str, tuple[int, ...]] | None:
    """A factor, the indices of its axes without those of length one that NumPy has broadcast, and which of its own axes
    are such."""
    own = _shape_of_floats(atom, context)
    if own is None:
        return None
    letters, shape = letters[len(letters) - len(own) :], shape[len(shape) - len(own) :]
    atom, added = _without_added_axes(atom, len(letters), context)
    places = [k for k in range(len(letters)) if k not in added]
    kept = [k for k in places if own[k] != ONE or shape[k] == ONE]
    if not kept or not all(are_equal(own[k], shape[k], context) for k in kept):
        return None
    first_of = tuple(place for place, k in enumerate(places) if k not in kept)
    return atom, "".join(letters[k] for k in kept), first_of


def _without_added_axes(atom: ir.Atom, rank: int, context: Context) -> tuple[ir.Atom, tuple[int, ...]]:
    """The array of which ``x[:, None]`` or ``np.expand_dims`` has made this one, and the places of the added axes."""
    made = context.definition(atom, np.expand_dims)
    if made is not None:
        axes = context.definition(made[1], ops.make_tuple) or (made[1],)
        if all(isinstance(a, ir.Const) and type(a.value) is int for a in axes) and _shape_of_floats(made[0], context):
            return made[0], tuple(a.value % rank for a in axes)  # type: ignore[union-attr]
        return atom, ()
    made = context.definition(atom, operator.getitem)
    if made is None or not _shape_of_floats(made[0], context):
        return atom, ()
    values = [context.value(p) for p in context.definition(made[1], ops.make_tuple) or (made[1],)]
    is_plain = [isinstance(v, Known) and (v.value is None or v.value is ... or v.value == slice(None)) for v in values]
    if not all(is_plain):
        return atom, ()
    parts = [v.value for v in values if isinstance(v, Known)]
    dots = parts.index(...) if ... in parts else len(parts)
    before = [k for k, part in enumerate(parts[:dots]) if part is None]
    after = [rank - len(parts) + k for k, part in enumerate(parts) if k > dots and part is None]
    return made[0], (*before, *after)


def _shape_of_floats(atom: Any, context: Context) -> tuple[Dim, ...] | None:
    """The shape of an array of real numbers that has dimensions; None of anything else."""
    known = context.value(atom)
    if not isinstance(known, Array) or known.dtype.kind != "f" or atom in context.uncertain:
        return None
    return known.shape or None


def are_equal(one: Dim, other: Dim, context: Context) -> bool:
    """Whether two lengths that NumPy has broadcast are equal: none of them is one."""
    facts = context.evaluator.facts
    return one == other or (facts.is_never_one(one) and facts.is_never_one(other))
