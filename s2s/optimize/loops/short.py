"""Short arrays of known length as numbers: loops over two to four places are written out, and arrays that nothing else
holds are their elements.

    t = np.empty(3)
    for i in rt.places(3):              a = x[0] - y[0]
        t[i] = x[i] - y[i]      ->      b = x[1] - y[1]
    s = t[0] * t[2]                     c = x[2] - y[2]
                                        s = a * c

An array that is filled at once, and only read by constant indices afterwards, put on a stack, joined by a branch with
another one, or an operand of a cross product, is none. On a stack it is a tuple.
"""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array, Dim, Known, Scalar, Sequence
from s2s.optimize.loops.unrolling import arguments, length, unrolled
from s2s.optimize.loops.writing import SHORT
from s2s.optimize.rewriting import count_uses, substitute

__all__ = ["with_numbers"]

_NUMBERS = (float, np.float64)
_ZERO = ir.Const(0.0)


def with_numbers(function: ir.Function, context: Context) -> ir.Function:
    """The function with short arrays as numbers."""
    made = unrolled(function, context)
    found = _Short(made, context)
    found.settle()
    return _Writer(found, context).function(made) if found.arrays else made


# --- which arrays -----------------------------------------------------------------------------------------------------


class _Short:
    """Which arrays are written as their elements: ``arrays`` has the lengths, ``stacks`` those of arrays on stacks."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.function = function
        self.arrays: dict[ir.Var, int] = {}
        self.stacks: dict[ir.Var, int] = {}
        self.uses = _uses_of_live(function)
        self.joined: list[tuple[ir.Var, tuple[ir.Atom, ...]]] = []
        self.like: dict[ir.Var, ir.Atom] = {}
        """Arrays that are as long as another one."""
        self.empty: set[ir.Var] = set()
        self.new: set[ir.Var] = set()
        self._collect(function.body)
        for _ in range(4):  # what is taken from a stack may be what others are as long as
            self._collect_popped(function.body)
            self.arrays |= {v: self.arrays[o] for v, o in self.like.items() if o in self.arrays}  # type: ignore[index]

    def _collect(self, block: ir.Block) -> None:
        """Take all for such arrays that may be some."""
        for s in ir.walk(block):
            if isinstance(s, ir.If):
                for k, var in enumerate(s.results):
                    n = self._known_length(var)
                    if n is not None:
                        self.arrays[var] = n
                        self.joined.append((var, (s.then.yields[k], s.orelse.yields[k])))
            elif isinstance(s, ir.Let) and s.target is not None:
                self._collect_made(s, s.target)

    def _collect_made(self, s: ir.Let, target: ir.Var) -> None:
        made = _made_of(s)
        if made is None:
            return
        kind, given = made
        of = target if kind == "cross" else given
        n = length(given) if kind in ("empty", "zeros") else self._known_length(of)
        if n is not None and (kind != "cross" or n == 3):
            self.arrays[target] = n
        elif kind == "like":
            self.like[target] = given
        self.new.add(target)
        if kind == "empty":
            self.empty.add(target)

    def _collect_popped(self, block: ir.Block) -> None:
        """Take those that are put on a stack, and what is taken from it."""
        put: dict[ir.Atom, set[int | None]] = {}
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

    def _known_length(self, var: ir.Atom) -> int | None:
        known = self.context.value(var)
        if not isinstance(known, Array) or known.shape is None or len(known.shape) != 1:
            return None
        return known.shape[0].offset if known.dtype == np.float64 and known.shape[0] in _SHORT else None

    def settle(self) -> None:
        """Leave out what is used otherwise, until no more goes."""
        while True:
            before = len(self.arrays), len(self.stacks)
            left = _Uses(self).left
            for var, yields in self.joined:
                if var in self.arrays and any(self.arrays.get(a) != self.arrays[var] for a in yields):  # type: ignore[arg-type]
                    del self.arrays[var]
            self.arrays = {var: n for var, n in self.arrays.items() if not left[var]}
            self.stacks = {var: n for var, n in self.stacks.items() if not left[var]}
            if (len(self.arrays), len(self.stacks)) == before:
                return

    def is_of_length(self, shape: ir.Var) -> bool:
        """Whether of a shape only the length is read."""
        reads = [s for s in ir.walk(self.function.body) if isinstance(s, ir.Let) and shape in ir.reads_of(s)]
        return all(arguments(s, operator.getitem) == (shape, ir.Const(0)) for s in reads)

    def is_number(self, value: ir.Atom) -> bool:
        """Whether it is a float."""
        known = self.context.value(value)
        return (isinstance(known, Scalar) and known.type in _NUMBERS) or (
            isinstance(known, Known) and type(known.value) in _NUMBERS
        )

    def is_vector(self, atom: ir.Atom) -> bool:
        """Whether it can be an operand of a cross product that is written out."""
        return self.arrays.get(atom) == 3 or self._known_length(atom) == 3  # type: ignore[arg-type]


class _Uses:
    """The uses of arrays that are in the way, those that are ``left`` of all, in order of the program.

    An array is filled and changed in one block only, before anything else refers to it; one that is empty is filled
    before it is read, and in each iteration again.
    """

    def __init__(self, short: _Short) -> None:
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
                for inner in ir.blocks_of(s):
                    self._block(inner, s.results if isinstance(s, ir.If) else ())
            here.update(ir.defs_of(s))
        for result, given in zip(results, block.yields, strict=False):
            if result in self.arrays:
                self._holds(given)
        for var, places in filled.items():
            self.left[var] += len(places) != self.arrays[var]
            self.filled[var] = set()  # what comes after the block is not read
            if var not in here:
                self.left[var] += var in self.held

    def _store(self, s: ir.Store, here: set[ir.Atom], filled: dict[ir.Var, set[int]]) -> None:
        target = s.target
        if not isinstance(target, ir.Var) or target not in self.arrays or s.kind != "item" or target in self.held:
            return
        at = s.key.value if isinstance(s.key, ir.Const) else None
        if type(at) is not int or not 0 <= at < self.arrays[target] or not self.short.is_number(s.value):
            return
        if target not in self.short.new or s.op not in (None, operator.add, operator.sub, operator.mul):
            return
        if target in self.short.empty:
            if target not in filled and target in self.filled:
                return  # in another block
            places = self.filled[target] = filled.setdefault(target, set())
            if s.op is not None and len(places) < self.arrays[target]:
                return
            places.add(at)
        elif target not in here:
            return
        self.left[target] -= 1

    def _is_there(self, var: ir.Atom) -> bool:
        return var in self.arrays and (
            var not in self.short.empty or len(self.filled.get(var, ())) == self.arrays[var])  # type: ignore[arg-type,index]

    def _holds(self, var: ir.Atom) -> None:
        """Something else refers to an array from here on."""
        if self._is_there(var):
            self.left[var] -= 1
            self.held.add(var)

    def _let(self, s: ir.Let, here: set[ir.Atom]) -> None:
        args = s.value.args if isinstance(s.value, ir.Call) else ()
        first = args[0] if args else None
        put, popped = arguments(s, list.append), arguments(s, list.pop)
        if _is_dead_view(s, self.short.uses):
            return
        if s.target is None:
            if put is not None and put[0] in self.short.stacks and self._is_there(put[1]):
                if self.arrays[put[1]] == self.short.stacks[put[0]]:  # type: ignore[index]
                    self.left[put[0]] -= 1
                    self._holds(put[1])
        elif popped is not None and popped[0] in self.short.stacks:
            self.left[popped[0]] -= self.arrays.get(s.target) == self.short.stacks[popped[0]]  # type: ignore[index]
        elif s.target in self.arrays:
            self._made(s, s.target)
        elif first in self.arrays and self._is_there(first):
            at = arguments(s, operator.getitem)
            if at is not None and isinstance(at[1], ir.Const) and type(at[1].value) is int:
                self.left[first] -= 0 <= at[1].value < self.arrays[first]  # type: ignore[index]
            elif arguments(s, getattr) == (first, ir.Const("shape")) and self.short.is_of_length(s.target):
                self.left[first] -= 1

    def _made(self, s: ir.Let, target: ir.Var) -> None:
        made = _made_of(s)
        kind, given = made if made is not None else ("", None)
        if kind == "cross":
            vectors = _cross_of(s)
            assert vectors is not None
            if not all(map(self.short.is_vector, vectors)):
                self.left[target] += 1
            self.left.subtract(v for v in vectors if self._is_there(v))
        elif kind == "like" and given in self.arrays:
            self.left[given] -= 1


def _made_of(s: ir.Let) -> tuple[str, ir.Atom] | None:
    """How an array is made, and of what."""
    for fn, kind in _MADE.items():
        args = arguments(s, fn)
        if args is not None and len(args) == 1:
            return kind, args[0]
    vectors = _cross_of(s)
    return None if vectors is None else ("cross", vectors[0])


_MADE = {np.empty: "empty", np.zeros: "zeros", np.zeros_like: "like"}

_SHORT = frozenset(Dim("", n) for n in range(2, SHORT + 1))


def _cross_of(s: ir.Statement) -> tuple[ir.Atom, ir.Atom] | None:
    """The operands of a cross product of vectors along their last axis."""
    match s:
        case ir.Let(_, ir.Call(ir.Const(value=np.cross), (a, b), kwargs)):
            if all(key == "axis" and value == ir.Const(-1) for key, value in kwargs):
                return a, b  # type: ignore[return-value]
    return None


def _uses_of_live(function: ir.Function) -> Counter[ir.Atom]:
    """How often each variable is read, by what is read itself or has an effect."""
    uses = count_uses(function.body)
    lets = [s for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None]
    for s in reversed(lets):
        if _is_dead_view(s, uses):
            uses.subtract(a for a in ir.atoms_of(s.value) if isinstance(a, ir.Var))
    return uses


def _is_dead_view(s: ir.Let, uses: Counter[ir.Atom]) -> bool:
    return s.target is not None and not uses[s.target] and isinstance(s.value, ir.Call) and s.value.fn in _VIEWS


_VIEWS = tuple(map(ir.Const, (operator.getitem, slice, ops.make_tuple, getattr)))


# --- writing ----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the elements of arrays."""

    def __init__(self, found: _Short, context: Context) -> None:
        self.found = found
        self.context = context
        self.elements: dict[ir.Atom, list[ir.Atom]] = {}
        self.shapes: dict[ir.Atom, int] = {}
        self.numbers: dict[ir.Atom, ir.Atom] = {}

    def function(self, function: ir.Function) -> ir.Function:
        """The function without the arrays."""
        return ir.replace(function, body=self._block(function.body))

    def _block(self, block: ir.Block) -> ir.Block:
        builder = Builder(self.context)
        for one in block.statements:
            s = substitute(one, self.numbers)
            if isinstance(s, ir.If):
                builder.add(self._branch(s))
            elif isinstance(s, ir.Let):
                if not self._let(builder, s):
                    builder.add(s)
            elif isinstance(s, ir.Store) and s.target in self.found.arrays:
                self._store(builder, s)
            else:
                inner = ir.blocks_of(s)
                builder.add(ir.with_blocks(s, map(self._block, inner)) if inner else s)
        return ir.Block(tuple(builder.statements), tuple(self.numbers.get(a, a) for a in block.yields))

    def _store(self, builder: Builder, s: ir.Store) -> None:
        n, at = self.found.arrays[s.target], s.key.value  # type: ignore[index,union-attr]
        elements = self.elements.setdefault(s.target, [ir.Const(None)] * n)
        value = s.value
        if s.op is not None:
            value = s.value if elements[at] == _ZERO and s.op is operator.add else builder.call(
                s.op, elements[at], s.value, name=s.target.name, span=s.span)  # type: ignore[union-attr]
        self.elements[s.target] = [value if k == at else e for k, e in enumerate(elements)]

    def _branch(self, s: ir.If) -> ir.If:
        """A branch that gives the elements of arrays."""
        sides = [self._block(b) for b in (s.then, s.orelse)]
        results: list[ir.Var] = []
        yields: list[list[ir.Atom]] = [[], []]
        for k, var in enumerate(s.results):
            if var not in self.found.arrays:
                results.append(var)
                for side, given in zip(sides, yields, strict=True):
                    given.append(side.yields[k])
                continue
            own = [self._number(var.name) for _ in range(self.found.arrays[var])]
            self.elements[var] = [*own]
            results += own
            for side, given in zip(sides, yields, strict=True):
                given += self.elements[side.yields[k]]
        then, orelse = (ir.Block(b.statements, tuple(y)) for b, y in zip(sides, yields, strict=True))
        return ir.replace(s, then=then, orelse=orelse, results=tuple(results))

    def _number(self, name: str) -> ir.Var:
        return self.context.define(name, Scalar(np.float64))

    def _let(self, builder: Builder, s: ir.Let) -> bool:
        """Whether a statement is written here, or not at all."""
        target, args = s.target, s.value.args if isinstance(s.value, ir.Call) else ()
        first = args[0] if args else None
        if target is None:
            put = arguments(s, list.append)
            if put is None or put[0] not in self.found.stacks:
                return False
            item = builder.call(ops.make_tuple, *self.elements[put[1]], span=s.span)
            builder.add(ir.Let(None, ir.Call(ir.Const(list.append), (put[0], item)), s.span))
            return True
        if target in self.found.arrays:
            return self._made(builder, s, target)
        if first in self.found.arrays:
            return self._read(s, target, first)  # type: ignore[arg-type]
        if first in self.shapes:
            self.numbers[target] = ir.Const(self.shapes[first])  # type: ignore[index]
            return True
        return False

    def _read(self, s: ir.Let, target: ir.Var, first: ir.Var) -> bool:
        match s.value:
            case ir.Call(ir.Const(value=operator.getitem), (_, ir.Const(value=int() as k))):
                self.numbers[target] = self.elements[first][k]
            case ir.Call(ir.Const(value=fn)) if fn is getattr:
                self.shapes[target] = self.found.arrays[first]
            case _:
                return not self.found.uses[target]  # a view that nothing reads
        return True

    def _made(self, builder: Builder, s: ir.Let, target: ir.Var) -> bool:
        """An array that is not made."""
        n, vectors, popped = self.found.arrays[target], _cross_of(s), arguments(s, list.pop)
        kind = (_made_of(s) or ("", None))[0]
        if kind in ("zeros", "like"):
            self.elements[target] = [_ZERO] * n
        elif popped is not None:
            known = Sequence(tuple, (Scalar(np.float64),) * n)
            items = self.context.define(target.name, known)
            builder.add(ir.Let(items, s.value, s.span))
            self.elements[target] = [
                self._item(builder, items, k, target.name, s.span) for k in range(n)
            ]
        elif vectors is not None:
            a, b = ([self._element(builder, v, k, s.span) for k in range(3)] for v in vectors)
            made = []
            for k in range(3):
                m, n = (k + 1) % 3, (k + 2) % 3
                one = builder.call(operator.mul, a[m], b[n], span=s.span)
                other = builder.call(operator.mul, a[n], b[m], span=s.span)
                made.append(builder.call(operator.sub, one, other, name=target.name, span=s.span))
            self.elements[target] = made
        return True

    def _element(self, builder: Builder, vector: ir.Atom, k: int, span: ir.Span | None) -> ir.Atom:
        if vector in self.elements:
            return self.elements[vector][k]
        return builder.call(operator.getitem, vector, ir.Const(k), span=span)

    def _item(self, builder: Builder, items: ir.Var, k: int, name: str, span: ir.Span | None) -> ir.Atom:
        return builder.call(operator.getitem, items, ir.Const(k), name=name, span=span)
