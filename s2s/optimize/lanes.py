"""What the statements of a loop make in all of its iterations at once: arrays with the iterations along the first axis.

    t = a[i, k]         a[k + 1 :, k]                   a number in each iteration
    v = a[:, i]         a[:, k + 1 :].T                 a vector in each
    s = np.sum(v * q)   a[:, k + 1 :].T @ q

``whole_loops`` asks for them, ``iterations`` says where they lie.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory
from s2s.core import ir, ops
from s2s.core.operators import plain_of
from s2s.core.values import Array, Dim, Sequence
from s2s.optimize.iteration_order import check_order
from s2s.optimize.iterations import Iterations, Refused, is_slice, parts_of
from s2s.optimize.matrix_products import is_whole
from s2s.optimize.rewriting import count_uses
from s2s.optimize.triangle_operations import Triangles
from s2s.optimize.triangles import Outer
from s2s.rules import table

__all__ = ["Lanes"]

_FLOAT = np.dtype(np.float64)
_READ = (_FLOAT, np.dtype(bool))
_EVERY = ir.Const(slice(None))
_SUMS = (operator.add, operator.sub)
_OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.lt, operator.le,
    operator.gt, operator.ge,
)  # fmt: skip
_MORE = (np.where, np.maximum, np.minimum)
_EXACT = (*(fn for fn in _OPERATORS if fn is not operator.pow), *_MORE, np.sqrt, operator.getitem)
_ATTRIBUTES = tuple(map(ir.Const, ("T", "shape", "ndim", "size")))
_OF_ROWS = (("axis", ir.Const(1)),)
_VECTORS = (operator.matmul, np.matmul, np.dot)
_INDICES = (operator.add, operator.sub, operator.mul, slice, ops.make_tuple)
_ZEROS = (ir.Const(0), ir.Const(0.0))


def _is_elementwise(fn: Any) -> bool:
    """Whether a function makes elements of elements, with one derivative wherever it is called."""
    if any(fn is one for one in (*_OPERATORS, *_MORE)):
        return True
    rule = table.find(fn) if type(fn) is np.ufunc else None
    return rule is not None and rule.kind == "partials" and not rule.by_user and facts(fn).elementwise


def _is_one_of(fn: ir.Atom, functions: Any) -> bool:
    """Whether a function is one of these, by identity."""
    return isinstance(fn, ir.Const) and any(fn.value is one for one in functions)


class Lanes:
    """The statements of one loop, for all iterations. ``lanes`` has the arrays that hold what a variable is in each of
    them, along the first axis; ``met`` are places that were read or written before the loop, with the lengths of their
    axes: these lie inside. Where it is ``exact``, what sums, and functions that round in another way, are refused."""

    def __init__(self, iterations: Iterations, memory: Memory, met: set[Any], exact: bool) -> None:
        self.iterations = iterations
        self.loop = iterations.loop
        self.context = iterations.context
        self.memory = memory
        self.met = met
        self.exact = exact
        self.builder = iterations.builder
        self.lanes: dict[ir.Atom, ir.Atom] = {}
        self.indices = self._indices()
        self.params = {c.param: k for k, c in enumerate(self.loop.carried)}
        self.summed: set[int] = set()
        self.uses = count_uses(self.loop.body)
        self.length: Dim | None = None
        self.has_vectors = False
        self.stores = 0
        self.stores_before: dict[ir.Atom, int] = {}
        self.triangles = Triangles(self)
        self.stored = {self.memory_of(s.target) for s in self.loop.body.statements if isinstance(s, ir.Store)}

    def _indices(self) -> set[ir.Atom]:
        """The integers, slices and indices that are others in another iteration."""
        found: set[ir.Atom] = {self.loop.item}
        for s in self.loop.body.statements:
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and _is_one_of(s.value.fn, _INDICES):
                known = self.context.value(s.target)  # type: ignore[arg-type]
                if getattr(known, "type", None) in (int, slice, tuple) and not found.isdisjoint(ir.atoms_of(s.value)):
                    found.add(s.target)  # type: ignore[arg-type]
        return found

    def write(self) -> list[ir.Statement]:
        check_order(self)
        for s in self.loop.body.statements:
            if isinstance(s, ir.Let):
                self._let(s)
                self.stores_before[s.target] = self.stores  # type: ignore[index]
            elif isinstance(s, ir.Store):
                self._store(s)
                self.stores += 1
        if self.length is None or self.summed != {*range(len(self.loop.carried))}:
            raise Refused
        return self.builder.statements

    def _total(self, added: ir.Atom) -> ir.Call:
        """The sum of what a variable is in all iterations."""
        made, lane = self.context.definitions.get(added), self.lanes[added]  # type: ignore[arg-type]
        axis = (("axis", ir.Const(0)),) if self.rank(added) else ()
        if not self._is_still(added):
            return ir.Call(ir.Const(np.sum), (lane,), axis)
        if isinstance(made, ir.Call) and made.fn == ir.Const(operator.mul) and self.uses[added] == 1:
            ranks = [self.rank(a) for a in made.args if a in self.lanes]  # type: ignore[arg-type]
            if len(ranks) == 2 and 0 in ranks:
                one, other = (self.lanes[a] for a in made.args)  # type: ignore[index]
                return ir.Call(ir.Const(operator.matmul), (one, other) if ranks[0] == 0 else (other, one))
        if isinstance(made, ir.Call) and made.fn.value in _SUMS and self._is_sum_of_products(added):  # type: ignore[union-attr]
            one, other = (self.call_of(self._total(a), None) for a in made.args)  # type: ignore[arg-type]
            return ir.Call(made.fn, (one, other))
        made = self.context.definitions.get(lane)  # type: ignore[arg-type]
        if isinstance(made, ir.Call) and made.fn == ir.Const(np.sum) and made.kwargs == _OF_ROWS:
            return ir.Call(ir.Const(np.sum), made.args)
        return ir.Call(ir.Const(np.sum), (lane,), axis)

    def _is_sum_of_products(self, atom: ir.Atom) -> bool:
        """Whether a variable is a sum of vectors times numbers, computed where it is read."""
        made = self.context.definitions.get(atom) if atom in self.lanes else None  # type: ignore[arg-type]
        if not isinstance(made, ir.Call) or made.kwargs or not self.is_computed_here(atom):
            return False
        if made.fn == ir.Const(operator.mul):
            return sorted(self.rank(a) if a in self.lanes else 2 for a in made.args) == [0, 1]  # type: ignore[arg-type]
        is_sum = any(made.fn == ir.Const(fn) for fn in _SUMS) and len(made.args) == 2
        return is_sum and all(map(self._is_sum_of_products, made.args))  # type: ignore[arg-type]

    def _is_still(self, atom: ir.Atom) -> bool:
        """Whether what a variable was computed from is what it was then: nothing was stored since."""
        return self.stores_before.get(atom) == self.stores

    def call_of(self, call: ir.Call, span: ir.Span | None) -> ir.Atom:
        return self.builder.call(call.fn.value, *call.args, span=span, kwargs=call.kwargs)  # type: ignore[arg-type, union-attr]

    # --- memory

    def memory_of(self, atom: ir.Atom) -> ir.Atom:
        return self.memory.find(atom) if isinstance(atom, ir.Var) else atom

    # --- operations

    def depends(self, atom: ir.Atom) -> bool:
        """Whether an index is another one in another iteration."""
        return atom in self.indices

    def _let(self, s: ir.Let) -> None:
        assert s.target is not None and isinstance(s.value, ir.Call)
        call: ir.Call = s.value
        fn, args = call.fn.value, call.args  # type: ignore[union-attr]
        fn = plain_of(fn) or fn
        atoms: Any = [a for a in ir.atoms_of(call) if isinstance(a, ir.Var)]
        if any(a in self.params for a in atoms):
            if self.exact:
                raise Refused
            self._add_up(s, fn, args)
        elif s.target in self.indices:
            return  # it is written where it is used
        elif not any(a in self.lanes or a in self.indices or a in self.triangles.of for a in atoms):
            self._same(s, fn, args)
        elif self.triangles.let(s, fn, args, call.kwargs):
            return
        elif (call.kwargs and fn is not np.sum) or (self.exact and not _is_one_of(ir.Const(fn), _EXACT)):
            raise Refused
        elif fn is operator.getitem:
            self._take(s, *args)  # type: ignore[arg-type]
        elif fn is np.sum:
            self._sum(s, call)
        elif any(fn is one for one in _VECTORS):
            self._multiply(s, fn, args)  # type: ignore[arg-type]
        else:
            self._compute(s, fn, args)  # type: ignore[arg-type]

    def write_lane(self, s: ir.Let, fn: Any, *args: ir.Atom, kwargs: Any = ()) -> None:
        """What a variable is in all iterations."""
        assert s.target is not None
        self._set(s.target, self.builder.call(fn, *args, name=self.name_of(s), span=s.span, kwargs=kwargs))

    def name_of(self, s: ir.Let) -> str:
        """What the user calls what a statement makes."""
        assert s.target is not None
        return "%" if s.target.is_temporary else s.target.name

    def _set(self, target: ir.Var, lane: ir.Atom) -> None:
        known = self.context.value(lane)
        if not isinstance(known, Array) or not known.shape or known.dtype not in _READ:
            raise Refused
        product = self.context.definition(lane, operator.matmul)
        if product is not None and self.length is not None and known.shape[0] != self.length:
            rows = self.context.value(product[0])
            if isinstance(rows, Array) and rows.shape and rows.shape[0] == self.length:
                known = self.context.values[lane] = Array(known.dtype, (self.length, *known.shape[1:]))  # type: ignore[index]
        assert known.shape is not None
        if self.length is None:
            self.length = known.shape[0]
        if known.shape[0] != self.length or len(known.shape) > 2:
            raise Refused
        self.has_vectors = self.has_vectors or len(known.shape) == 2
        self.lanes[target] = lane

    def rank(self, atom: ir.Atom) -> int:
        """The number of axes of what an atom is in one iteration."""
        known = self.context.value(self.lanes.get(atom, atom))
        if is_number(known):
            return 0
        if not isinstance(known, Array) or known.shape is None or known.dtype not in _READ:
            raise Refused
        return len(known.shape) - (atom in self.lanes)

    def _same(self, s: ir.Let, fn: Any, args: Any) -> None:
        """What is the same in all iterations, and raises nothing where there is none."""
        known = self.context.value(s.target)  # type: ignore[arg-type]
        if fn is operator.getitem:
            self._check_inside(args[0], args[1])
        elif fn is operator.truediv or fn is operator.pow:
            types = [getattr(self.context.value(a), "type", None) for a in args]
            is_safe = isinstance(known, Array) or np.float64 in types or all(isinstance(a, ir.Const) for a in args)
            if not is_safe and not self.iterations.is_sure():
                raise Refused
        elif fn is getattr:
            if args[1] not in _ATTRIBUTES:
                raise Refused
        elif not (_is_elementwise(fn) or any(fn is one for one in _INDICES)):
            raise Refused
        self.builder.add(s)

    def _check_inside(self, source: ir.Atom, key: ir.Atom) -> None:
        """Refuse a read of what is the same in all iterations that may raise where there is none."""
        known = self.context.value(source)
        if isinstance(known, Sequence):
            return
        if not isinstance(known, Array) or known.shape is None:
            raise Refused
        parts = parts_of(key, self.context)
        for part, length in zip(parts, known.shape, strict=False):
            if len(parts) > len(known.shape) or not self.is_inside(part, length):
                raise Refused

    def is_inside(self, part: ir.Atom, length: Dim) -> bool:
        return (
            is_slice(part, self.context) or (length, self.context.written(part)) in self.met
            or self.iterations.is_sure() or self.iterations.is_place(part, length)
        )

    def _take(self, s: ir.Let, source: ir.Atom, key: ir.Atom) -> None:
        """What the iterations read of an array, each at a place of its own."""
        if source in self.lanes:
            if self.depends(key):
                raise Refused
            known = self.context.value(self.lanes[source])
            parts = parts_of(key, self.context)
            if not isinstance(known, Array) or known.shape is None or len(known.shape) != 2 or len(parts) != 1:
                raise Refused
            if not self.is_inside(parts[0], known.shape[1]):
                raise Refused
            self.write_lane(s, operator.getitem, self.lanes[source], self.builder.call(ops.make_tuple, _EVERY, *parts))
            self._copy_where_stored(s, source)
            return
        if not self.depends(key):
            raise Refused
        if self.triangles.has_slice(key):
            return self.triangles.take(s, source, key)
        if self._is_on_diagonal(key):
            return self._take_diagonal(s, source, key)
        index, before, is_turned = self._whole_key(source, key)
        lane = source if index is None else self.builder.call(operator.getitem, source, index, span=s.span)
        self.take_length(lane, before)
        if before == 1:
            lane = self.builder.call(getattr, lane, ir.Const("T"), span=s.span)
        if is_turned:
            lane = self.builder.call(operator.getitem, lane, ir.Const(slice(None, None, -1)), span=s.span)
        self._set(s.target, lane)  # type: ignore[arg-type]
        self._copy_where_stored(s, source)

    def _is_on_diagonal(self, key: ir.Atom) -> bool:
        return sum(self.depends(p) for p in parts_of(key, self.context)) == 2

    def _take_diagonal(self, s: ir.Let, source: ir.Atom, key: ir.Atom) -> None:
        """A number that each iteration reads of another row and another column of a matrix."""
        shape, parts = self.shape_of(source), parts_of(key, self.context)
        if len(shape) != 2 or len(parts) != 2:
            raise Refused
        (rows, is_turned), (columns, is_other) = map(self.iterations.slice_of, parts, shape)
        if is_turned or is_other:
            raise Refused
        index = self.builder.call(ops.make_tuple, rows, columns)
        square = source if rows == columns == _EVERY else self.builder.call(operator.getitem, source, index)
        lane = self.builder.call(np.diagonal, square, span=s.span)
        known = self.context.value(square)
        assert isinstance(known, Array) and known.shape is not None
        self.length = known.shape[0] if self.length is None else self.length
        self.context.values[lane] = Array(known.dtype, (self.length,))  # type: ignore[index]
        self._set(s.target, lane)  # type: ignore[arg-type]
        self._copy_where_stored(s, source)

    def take_length(self, part: ir.Atom, axis: int = 0) -> None:
        """Let the length of a part of an array be known for the number of iterations: all lie inside the array."""
        known = self.context.value(part)
        if not isinstance(known, Array) or known.shape is None or not isinstance(part, ir.Var):
            raise Refused
        if self.length is None:
            self.length = known.shape[axis]
        elif known.shape[axis] != self.length and self.context.definition(part, operator.getitem) is not None:
            shape = (*known.shape[:axis], self.length, *known.shape[axis + 1 :])
            self.context.values[part] = Array(known.dtype, shape)

    def _copy_where_stored(self, s: ir.Let, source: ir.Atom) -> None:
        """A number that an iteration reads stays what it is where the array changes before it is used."""
        if self.memory_of(source) in self.stored and self.rank(s.target) == 0:  # type: ignore[arg-type]
            following = self.following(s)
            stores = [isinstance(f, ir.Store) and self.memory_of(f.target) == self.memory_of(source) for f in following]
            later = following[stores.index(True) + 1 :] if True in stores else []
            if any(s.target in ir.reads_of(f) for f in later):
                self.write_lane(s, np.copy, self.lanes[s.target])  # type: ignore[index]

    def following(self, s: ir.Statement) -> tuple[ir.Statement, ...]:
        """The statements of the loop after one of them."""
        return self.loop.body.statements[self.loop.body.statements.index(s) + 1 :]

    def shape_of(self, source: ir.Atom) -> tuple[Dim, ...]:
        """The lengths of an array of numbers."""
        known = self.context.value(source)
        if not isinstance(known, Array) or known.shape is None or known.dtype != _FLOAT:
            raise Refused
        return known.shape

    def _whole_key(self, source: ir.Atom, key: ir.Atom) -> tuple[ir.Atom | None, int, bool]:
        """The index of what all iterations take of an array, None where that is the whole of it, how many axes come
        before theirs, and whether they come in the opposite order."""
        known = self.context.value(source)
        if not isinstance(known, Array) or known.shape is None or known.dtype not in _READ:
            raise Refused
        parts, before, is_turned, own = list(parts_of(key, self.context)), 0, False, None
        kept = len(known.shape) - len(parts) + 1
        for k, (part, length) in enumerate(zip(list(parts), known.shape, strict=False)):
            keeps = is_slice(part, self.context)
            if self.depends(part):
                if own is not None or keeps:
                    raise Refused
                own = k
                parts[k], is_turned = self.iterations.slice_of(part, length)
            elif not keeps and not self.is_inside(part, length):
                raise Refused
            before += keeps and own is None
            kept += keeps
        if own is None or len(parts) > len(known.shape) or before > 1 or (before and kept > 2):
            raise Refused
        while parts and is_whole(parts[-1], self.context):
            parts.pop()
        if not parts:
            return None, before, is_turned
        return parts[0] if len(parts) == 1 else self.builder.call(ops.make_tuple, *parts), before, is_turned

    def aligned(self, atom: ir.Atom, rank: int) -> ir.Atom:
        """An operand of an operation on what has so many axes in one iteration."""
        lane = self.lanes.get(atom)
        if lane is None:
            return atom
        own = self.rank(atom)
        if own == rank or rank == 0:
            return lane
        source, parts = lane, tuple[ir.Atom, ...]((_EVERY,))
        read = self.context.definition(lane, operator.getitem)
        if read is not None and isinstance(self.context.value(read[0]), Array):
            shape = self.context.value(read[0]).shape  # type: ignore[union-attr]
            with contextlib.suppress(Refused):
                source, parts = read[0], parts_of(read[1], self.context)
                parts = (*parts, *[_EVERY] * (len(shape or ()) - len(parts)))
        key = self.builder.call(ops.make_tuple, *parts, *[ir.Const(None)] * (rank - own))
        made = self.builder.call(operator.getitem, source, key)
        self.take_length(made, 0)
        return made

    def _compute(self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ...]) -> None:
        """An operation on elements."""
        if not _is_elementwise(fn) or any(self.depends(a) for a in args):
            raise Refused
        rank = max(map(self.rank, args))
        if rank > 1 or (rank == 1 and not self.has_vectors and not self._stores_vectors()):
            raise Refused  # it would make a matrix where no other one is
        self.write_lane(s, fn, *(self.aligned(a, rank) for a in args))

    def is_computed_here(self, atom: ir.Atom) -> bool:
        """Whether nothing else reads what a variable is, and nothing was stored since it was computed."""
        return self.uses[atom] == 1 and self._is_still(atom)

    def has_triangles(self) -> bool:
        """Whether the loop reads or stores rows of a triangle of a matrix."""
        keys = [s.key for s in self.loop.body.statements if isinstance(s, ir.Store)]
        keys += [made[1] for s in self.loop.body.statements for t in ir.defs_of(s)
                 if (made := self.context.definition(t, operator.getitem)) is not None]
        found = [parts_of(key, self.context) for key in keys if self.depends(key)]
        return any(
            any(self.depends(p) and is_slice(p, self.context) for p in parts)
            and any(self.depends(p) and not is_slice(p, self.context) for p in parts)
            for parts in found
        )

    def _stores_vectors(self) -> bool:
        stores = (s for s in self.loop.body.statements if isinstance(s, ir.Store) and self.depends(s.key))
        return any(isinstance(self.context.value(s.value), Array) for s in stores)

    def _sum(self, s: ir.Let, call: ir.Call) -> None:
        lane = self.lanes.get(call.args[0])  # type: ignore[arg-type]
        if lane is None or len(call.args) != 1 or call.kwargs or self.rank(call.args[0]) != 1:  # type: ignore[arg-type]
            raise Refused
        product = self.context.definitions.get(call.args[0])  # type: ignore[arg-type]
        if isinstance(product, ir.Call) and product.fn == ir.Const(operator.mul) and self.uses[call.args[0]] == 1:  # type: ignore[index]
            if self._is_still(call.args[0]) and [self.rank(a) for a in product.args] == [1, 1]:  # type: ignore[arg-type]
                return self._multiply(s, operator.matmul, product.args)  # type: ignore[arg-type]
        self.write_lane(s, np.sum, lane, kwargs=_OF_ROWS)

    def _multiply(self, s: ir.Let, fn: Any, args: tuple[ir.Atom, ir.Atom]) -> None:
        """Products of vectors, and of one with a matrix."""
        ranks = [self.rank(a) for a in args]
        one, other = (self.lanes.get(a, a) for a in args)
        if ranks == [1, 1] and args[0] in self.lanes and args[1] in self.lanes:
            product = self.builder.call(operator.mul, one, other, span=s.span)
            self.write_lane(s, np.sum, product, kwargs=_OF_ROWS)
        elif ranks == [1, 1]:
            lane, vector = (one, other) if args[0] in self.lanes else (other, one)
            self.write_lane(s, operator.matmul, lane, vector)
        elif ranks == [1, 2] and args[0] in self.lanes:
            self.write_lane(s, operator.matmul, one, other)
        elif ranks == [2, 1] and args[1] in self.lanes:
            self.write_lane(s, operator.matmul, other, self.builder.call(getattr, one, ir.Const("T"), span=s.span))
        else:
            raise Refused

    # --- sums through all iterations, stores

    def _add_up(self, s: ir.Let, fn: Any, args: Any) -> None:
        places = [self.params[a] for a in args if a in self.params]
        is_right = fn is operator.sub and args[1] in self.params
        if fn not in _SUMS or len(places) != 1 or is_right or s.value.kwargs:  # type: ignore[union-attr]
            raise Refused
        (k,) = places
        c = self.loop.carried[k]
        (added,) = [a for a in args if a != c.param]
        if self.loop.body.yields[k] != s.target or self.uses[c.param] != 1 or self.uses[s.target] != 1:  # type: ignore[index]
            raise Refused
        init, result = self.context.value(c.init), self.context.value(c.result)
        outer = self.triangles.of.get(added)
        rank = 2 if isinstance(outer, Outer) else self.rank(added) if added in self.lanes else None
        is_array = isinstance(init, Array) and init == result and len(init.shape or ()) == rank
        are_numbers = is_number(init) and is_number(result)
        if rank is None or not (is_array or (are_numbers and not rank)):
            raise Refused
        value = self.triangles.total_of(outer, s.span) if isinstance(outer, Outer) else self._total(added)
        if fn is not operator.add or c.init not in _ZEROS:
            value = ir.Call(ir.Const(fn), (c.init, self.call_of(value, self.loop.span)))
        self.context.definitions[c.result] = value
        self.builder.add(ir.Let(c.result, value, self.loop.span))
        self.summed.add(k)

    def _store(self, s: ir.Store) -> None:
        if self.triangles.store(s):
            return
        known = self.context.value(s.target)
        assert isinstance(known, Array) and known.shape is not None
        value = self.lanes.get(s.value, s.value)
        if s.target in self.lanes or self.depends(s.value):
            raise Refused
        if not self.depends(s.key):
            if s.op not in _SUMS or s.value not in self.lanes or self.exact:
                raise Refused
            self._check_inside(s.target, s.key)
            self.builder.store(s.target, s.key, self.call_of(self._total(s.value), s.span), s.op, s.span)
            return
        index, before, is_turned = self._whole_key(s.target, s.key)
        lane = s.target if index is None else self.builder.call(operator.getitem, s.target, index)
        self.take_length(lane, before)
        region = self.context.value(lane)
        if is_turned or not isinstance(region, Array) or region.shape is None or len(region.shape) > 2:
            raise Refused
        rank, own = len(region.shape) - 1, self.rank(s.value)
        if own > rank or region.shape[before] != self.length:
            raise Refused
        if s.value in self.lanes and before and own == 1:
            value = self.builder.call(getattr, value, ir.Const("T"), span=s.span)
        elif s.value in self.lanes and not before:
            value = self.aligned(s.value, rank)
        elif s.value not in self.lanes and before and own == 1:
            key = self.builder.call(ops.make_tuple, _EVERY, ir.Const(None))
            value = self.builder.call(operator.getitem, value, key, span=s.span)
        if index is None and s.op is None:
            index = ir.Const(...)
        self.builder.store(s.target, index, value, s.op, s.span)
