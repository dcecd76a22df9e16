"""Short arrays of known length as numbers: loops over two to four places are written out, and arrays that nothing else
holds are their elements.

    t = np.empty(3)
    for i in rt.places(3):              a = x[0] - y[0]
        t[i] = x[i] - y[i]      ->      b = x[1] - y[1]
    s = t[0] * t[2]                     c = x[2] - y[2]
                                        s = a * c

An array that is filled at once, and only read by constant indices afterwards, put on a stack, joined by a branch with
another one, carried from one iteration to the next, copied, or an operand of a cross product, is none. On a stack it is
a tuple. So are matrices of two to four rows and columns: their elements are in the order of the rows.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from typing import TypeAlias

import numpy as np

from s2s.analysis.unchanged import unchanged_parameters
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Dim, Known, Scalar, Sequence
from s2s.optimize.loops.short_writing import Writer, cross_of, display_of, made_of
from s2s.optimize.loops.unrolling import arguments, length, unrolled
from s2s.optimize.loops.writing import SHORT
from s2s.optimize.rewriting import count_uses

__all__ = ["with_numbers"]

Shape: TypeAlias = tuple[int, ...]
_NUMBERS = (float, np.float64)
_ZERO = ir.Const(0.0)


def with_numbers(function: ir.Function, context: Context) -> ir.Function:
    """The function with short arrays as numbers."""
    made = unrolled(function, context)
    found = Short(made, context)
    found.settle()
    return Writer(found, context).function(made) if found.arrays else made


# --- which arrays -----------------------------------------------------------------------------------------------------


class Short:
    """Which arrays are written as their elements: ``arrays`` has the shapes, ``stacks`` those of arrays on stacks."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.function = function
        self.arrays: dict[ir.Var, Shape] = {}
        self.stacks: dict[ir.Var, Shape] = {}
        self.uses = _uses_of_live(function, context)
        self.joined: list[tuple[ir.Var, tuple[ir.Atom, ...]]] = []
        self.like: dict[ir.Var, ir.Atom] = {}
        """Arrays that are as long as another one."""
        self.empty: set[ir.Var] = set()
        self.new: set[ir.Var] = set()
        self.displays: dict[ir.Atom, tuple[ir.Atom, ...]] = {}
        """Lists and tuples of numbers, or of such, that only one statement reads."""
        self.loops: list[ir.Carried] = []
        self._unchanged: set[ir.Var] | None = None
        self._collect(function.body)
        for _ in range(4):  # what is taken from a stack may be what others are as long as
            self._collect_popped(function.body)
            self.arrays |= {v: self.arrays[o] for v, o in self.like.items() if o in self.arrays}  # type: ignore[index]

    def _collect(self, block: ir.Block) -> None:
        """Take all for such arrays that may be some."""
        for s in ir.walk(block):
            if isinstance(s, ir.If):
                for k, var in enumerate(s.results):
                    self._collect_joined(var, (s.then.yields[k], s.orelse.yields[k]))
            elif isinstance(s, (ir.For, ir.While)) and not s.orelse.statements:
                for c, given in zip(s.carried, s.body.yields, strict=True):
                    self._collect_joined(c.param, (c.init, given))
                    self._collect_joined(c.result, (c.init, given))
                    self.loops.append(c)
            elif isinstance(s, ir.Let) and s.target is not None:
                self._collect_made(s, s.target)

    def _collect_joined(self, var: ir.Var, given: tuple[ir.Atom, ...]) -> None:
        shape = self.shape_of(var)
        if shape is not None:
            self.arrays[var] = shape
            self.joined.append((var, given))

    def _collect_made(self, s: ir.Let, target: ir.Var) -> None:
        items = display_of(s)
        if items is not None and self.uses[target] == 1 and self._are_elements(items):
            self.displays[target] = items
        made = made_of(s)
        if made is None:
            return
        kind, given = made
        shape = self.shape_of(target if kind in ("cross", "array") else given)
        n = length(given) if kind in ("empty", "zeros") else None
        if n is not None:
            shape = (n,)
        elif kind in ("empty", "zeros", "eye"):
            shape = self.shape_of(target)
        elif (kind == "array" and given not in self.displays) or (kind == "cross" and shape != (3,)):
            shape = None
        if shape is not None and (kind != "copy" or self.shape_of(target) == shape):
            self.arrays[target] = shape
        elif kind == "like":
            self.like[target] = given
        self.new.add(target)
        if kind == "empty":
            self.empty.add(target)

    def _are_elements(self, items: tuple[ir.Atom, ...]) -> bool:
        """Whether what a list holds are the elements of a vector, or the rows of a matrix."""
        if all(map(self.is_item, items)):
            return True
        rows = [self.displays.get(a, ()) for a in items]
        return all(len(row) == len(rows[0]) > 0 and all(map(self.is_item, row)) for row in rows)

    def _collect_popped(self, block: ir.Block) -> None:
        """Take those that are put on a stack, and what is taken from it."""
        put: dict[ir.Atom, set[Shape | None]] = {}
        for s in ir.walk(block):
            args = arguments(s, list.append)
            if args is not None:
                put.setdefault(args[0], set()).add(self.arrays.get(args[1]))  # type: ignore[arg-type]
        for s in ir.walk(block):
            args = arguments(s, list.pop)
            lengths = put.get(args[0], set()) if args is not None and len(args) == 1 else set()
            n = next(iter(lengths), None)
            if n is not None and len(lengths) == 1 and isinstance(s, ir.Let) and s.target is not None:
                self.arrays[s.target] = self.stacks[args[0]] = n  # type: ignore[index]

    def shape_of(self, var: ir.Atom) -> Shape | None:
        """The shape of a vector or matrix of floats, where it is known and short."""
        known = self.context.value(var)
        if not isinstance(known, Array) or known.shape is None or len(known.shape) not in (1, 2):
            return None
        is_short = known.dtype == np.float64 and all(dim in _SHORT for dim in known.shape)
        return tuple(dim.offset for dim in known.shape) if is_short else None

    def place(self, shape: Shape, key: ir.Atom) -> int | None:
        """Which of the elements, row by row, an index names that is constant."""
        index = key.value if isinstance(key, ir.Const) else self.context.definition(key, ops.make_tuple)
        parts = [a.value if isinstance(a, ir.Const) else a for a in (index if isinstance(index, tuple) else (index,))]
        if len(parts) != len(shape) or not all(
                type(k) is int and 0 <= k < n for k, n in zip(parts, shape, strict=True)):
            return None
        return parts[0] if len(parts) == 1 else parts[0] * shape[1] + parts[1]  # type: ignore[return-value, operator]

    def settle(self) -> None:
        """Leave out what is used otherwise, until no more goes."""
        while True:
            before = len(self.arrays), len(self.stacks)
            left = _Uses(self).left
            for var, yields in self.joined:
                if var in self.arrays and not all(self._has_elements(a, self.arrays[var]) for a in yields):
                    del self.arrays[var]
            for c in self.loops:
                if (c.param in self.arrays) != (c.result in self.arrays):
                    self.arrays.pop(c.param, None)
                    self.arrays.pop(c.result, None)
            self.arrays = {var: n for var, n in self.arrays.items() if not left[var]}
            self.stacks = {var: n for var, n in self.stacks.items() if not left[var]}
            if (len(self.arrays), len(self.stacks)) == before:
                return

    def _has_elements(self, atom: ir.Atom, shape: Shape) -> bool:
        """Whether the elements of an array can stand for it: it is written as these, or is an argument that nothing
        changes."""
        if atom in self.arrays:
            return self.arrays[atom] == shape  # type: ignore[index]
        if self.shape_of(atom) != shape:
            return False
        if self._unchanged is None:
            self._unchanged = unchanged_parameters(self.function, self.context.value)
        return atom in self._unchanged

    def is_dead_view(self, s: ir.Let) -> bool:
        """Whether a statement makes a view that nothing reads."""
        return _is_dead_view(s, self.uses, self.context)

    def is_item(self, value: ir.Atom) -> bool:
        """Whether it is a float, or a constant that is one in an array of floats."""
        known = self.context.value(value)
        return self.is_number(value) or (isinstance(known, Known) and type(known.value) is int)

    def are_lengths_read(self, shape: ir.Var, rank: int) -> bool:
        """Whether of a shape only lengths are read."""
        lengths = [(shape, ir.Const(k)) for k in range(rank)]
        reads = [s for s in ir.walk(self.function.body) if isinstance(s, ir.Let) and shape in ir.reads_of(s)]
        return all(arguments(s, operator.getitem) in lengths for s in reads)

    def is_number(self, value: ir.Atom) -> bool:
        """Whether it is a float."""
        known = self.context.value(value)
        return (isinstance(known, Scalar) and known.type in _NUMBERS) or (
            isinstance(known, Known) and type(known.value) in _NUMBERS
        )

    def is_vector(self, atom: ir.Atom) -> bool:
        """Whether it can be an operand of a cross product that is written out."""
        return self.arrays.get(atom) == (3,) or self.shape_of(atom) == (3,)  # type: ignore[arg-type]


class _Uses:
    """The uses of arrays that are in the way, those that are ``left`` of all, in order of the program.

    An array is filled and changed in one block only, before anything else refers to it; one that is empty is filled
    before it is read, and in each iteration again.
    """

    def __init__(self, short: Short) -> None:
        self.short = short
        self.arrays = short.arrays
        self.left = Counter(short.uses)
        self.filled: dict[ir.Var, set[int]] = {}
        self.held: set[ir.Atom] = set()  # by others too
        self._block(short.function.body)

    def _block(self, block: ir.Block, results: tuple[ir.Var, ...] = ()) -> None:
        """The uses in a block; ``results`` are those of a branch."""
        here: set[ir.Atom] = set()
        filled: dict[ir.Var, set[int]] = {}
        for s in block.statements:
            if isinstance(s, ir.Store):
                self._store(s, here, filled)
            elif isinstance(s, ir.Let):
                self._let(s, here)
            else:
                self._inner_blocks(s)
            here.update(ir.defs_of(s))
        for result, given in zip(results, block.yields, strict=False):
            if result in self.arrays:
                self._holds(given)
        for var, places in filled.items():
            self.left[var] += len(places) != math.prod(self.arrays[var])
            self.filled[var] = set()  # what comes after the block is not read
            if var not in here:
                self.left[var] += var in self.held

    def _inner_blocks(self, s: ir.Statement) -> None:
        carried = s.carried if isinstance(s, (ir.For, ir.While)) else ()
        for c in carried:
            if c.param in self.arrays:
                self._holds(c.init)
        for inner in ir.blocks_of(s):
            is_body = isinstance(s, (ir.For, ir.While)) and inner is s.body
            given = tuple(c.param for c in carried) if is_body else ()
            self._block(inner, s.results if isinstance(s, ir.If) else given)

    def _store(self, s: ir.Store, here: set[ir.Atom], filled: dict[ir.Var, set[int]]) -> None:
        target = s.target
        if not isinstance(target, ir.Var) or target not in self.arrays or s.kind != "item" or target in self.held:
            return
        at = self.short.place(self.arrays[target], s.key)
        if at is None or not self.short.is_number(s.value):
            return
        if target not in self.short.new or s.op not in (None, operator.add, operator.sub, operator.mul):
            return
        if target in self.short.empty:
            if target not in filled and target in self.filled:
                return  # in another block
            places = self.filled[target] = filled.setdefault(target, set())
            if s.op is not None and len(places) < math.prod(self.arrays[target]):
                return
            places.add(at)
        elif target not in here:
            return
        self.left[target] -= 1

    def _is_there(self, var: ir.Atom) -> bool:
        return var in self.arrays and (
            var not in self.short.empty
            or len(self.filled.get(var, ())) == math.prod(self.arrays[var]))  # type: ignore[arg-type,index]

    def _holds(self, var: ir.Atom) -> None:
        """Something else refers to an array from here on."""
        if self._is_there(var):
            self.left[var] -= 1
            self.held.add(var)

    def _let(self, s: ir.Let, here: set[ir.Atom]) -> None:
        args = s.value.args if isinstance(s.value, ir.Call) else ()
        first = args[0] if args else None
        put, popped = arguments(s, list.append), arguments(s, list.pop)
        if self.short.is_dead_view(s):
            return
        if s.target is None:
            if put is not None and put[0] in self.short.stacks and self._is_there(put[1]):
                if self.arrays[put[1]] == self.short.stacks[put[0]]:  # type: ignore[index]
                    self.left[put[0]] -= 1
                    self._holds(put[1])
        elif popped is not None and popped[0] not in self.short.stacks and s.target in self.arrays:
            self.left[s.target] += 1  # it is an array there
        elif popped is not None and popped[0] in self.short.stacks:
            self.left[popped[0]] -= self.arrays.get(s.target) == self.short.stacks[popped[0]]  # type: ignore[index]
        elif s.target in self.arrays:
            self._made(s, s.target)
        elif first in self.arrays and self._is_there(first):
            at = arguments(s, operator.getitem)
            if at is not None:
                self.left[first] -= self.short.place(self.arrays[first], at[1]) is not None  # type: ignore[index]
            elif arguments(s, getattr) == (first, ir.Const("shape")):
                self.left[first] -= self.short.are_lengths_read(s.target, len(self.arrays[first]))  # type: ignore[index]

    def _made(self, s: ir.Let, target: ir.Var) -> None:
        made = made_of(s)
        kind, given = made if made is not None else ("", None)
        if kind == "cross":
            vectors = cross_of(s)
            assert vectors is not None
            if not all(map(self.short.is_vector, vectors)):
                self.left[target] += 1
            self.left.subtract(v for v in vectors if self._is_there(v))
        elif given in self.arrays and (kind == "like" or (kind == "copy" and self._is_there(given))):
            self.left[given] -= 1


_SHORT = frozenset(Dim("", n) for n in range(2, SHORT + 1))


def _uses_of_live(function: ir.Function, context: Context) -> Counter[ir.Atom]:
    """How often each variable is read, by what is read itself or has an effect."""
    uses = count_uses(function.body)
    lets = [s for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None]
    for s in reversed(lets):
        if _is_dead_view(s, uses, context):
            uses.subtract(a for a in ir.atoms_of(s.value) if isinstance(a, ir.Var))
    return uses


def _is_dead_view(s: ir.Let, uses: Counter[ir.Atom], context: Context) -> bool:
    """Whether a statement makes a view, or the key of one, that nothing reads: an integer in the key may be outside."""
    if s.target is None or uses[s.target] or not isinstance(s.value, ir.Call) or s.value.fn not in _VIEWS:
        return False
    if s.value.fn != ir.Const(operator.getitem):
        return True
    key = s.value.args[1]
    parts = context.definition(key, ops.make_tuple) or (key,)  # type: ignore[arg-type]
    return all(_is_slice(context.value(part)) for part in parts if not isinstance(part, ir.Star))


def _is_slice(value: AbstractValue) -> bool:
    """Whether a part of a key takes what there is of an axis, or makes one of length one."""
    if isinstance(value, Known):
        parts = value.value if type(value.value) is tuple else (value.value,)
        return all(part is None or part is Ellipsis or isinstance(part, slice) for part in parts)
    return isinstance(value, Sequence) and value.type is slice


_VIEWS = tuple(map(ir.Const, (operator.getitem, slice, ops.make_tuple, getattr, np.expand_dims, np.transpose)))
