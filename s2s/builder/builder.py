"""Building SSA code: a compilation's context, and a builder that evaluates and folds each operation as it is added."""

from __future__ import annotations

import enum
import functools
import math
import operator
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.analysis.abstract.evaluate import Evaluator
from s2s.analysis.abstract.folding import is_long
from s2s.analysis.abstract.lattice import dtype_of, is_float, join, type_of
from s2s.analysis.functions import facts
from s2s.analysis.memory import is_basic, shared_with
from s2s.analysis.reading import Reading
from s2s.builder import virtual_heap
from s2s.builder.slice_lengths import made_of_lengths, slice_length
from s2s.builder.stages import Clock, Remark, Stages
from s2s.core import inspection, ir, ops
from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Dim,
    Known,
    Mapping,
    Ref,
    Scalar,
    Sequence,
    Unknown,
    is_record_class,
)
from s2s.directives.policies import BLOCKS
from s2s.errors import error
from s2s.notices import Notice
from s2s.rules import table
from s2s.versions.argument_guards import LargeGuard
from s2s.versions.assumptions import Assumptions

_FOLDED = (
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type, types.ModuleType, types.UnionType,
    np.dtype, enum.Enum,
)


_COMPILED = (
    "_ArrayFunctionDispatcher", "method_descriptor", "wrapper_descriptor", "cython_function_or_method",
    "fused_cython_function",
)
"""Types of compiled functions that have no public name."""


def is_constant_kind(value: Any) -> bool:
    """Whether an object is taken into generated code by value: an option, a function, a module, a type, and an object
    that is only compared with others (``object()``)."""
    kind = type(value)
    if kind in _CONSTANT:
        return kind not in (str, bytes) or not is_long(value)
    if inspection.is_sealed(value):
        return False
    if issubclass(kind, (str, bytes)) and not issubclass(kind, enum.Enum):
        return not inspection.is_foreign(kind)
    return issubclass(kind, _CONSTANT_CLASSES) or inspection.class_name(kind) in _COMPILED


_CONSTANT = frozenset({
    object, bool, str, bytes, type(None), type(Ellipsis), type, types.ModuleType, types.FunctionType, np.ufunc,
    types.BuiltinFunctionType, types.MethodType, functools.partial,
})
_CONSTANT_CLASSES = (
    type, types.ModuleType, np.dtype, enum.Enum, *BLOCKS, types.MethodType, np.ufunc, functools.partial,
    functools._lru_cache_wrapper,
)


def _folds(value: AbstractValue) -> bool:
    return isinstance(value, Known) and (issubclass(type(value.value), _FOLDED) or is_constant_kind(value.value))


@dataclass
class Context:
    """All that one compilation knows: what each variable is, which ones depend on an input, and what was relied on.

    ``names`` are the user's names of temporaries; ``uncertain`` are arrays of floats, and what was made of them, that
    are arrays of integers on some path. ``must_keep`` are results whose computation may raise the user's error: it
    stays, whether they are read or not. ``effects`` are the results of dynamic calls with differentiated arguments:
    what such a call changes is not known, so none of them is dropped or taken for one without effects.

    ``unbound`` are variables that have no value on some path, with an atom that is true there;
    ``possibly_unassigned`` those of them that hold what an interrupted block may have assigned or not. ``sides`` of a
    result of a ``try`` are what it is after each block that may come to its end, ``groups`` the results of one ``try``.
    ``presence`` are the variables that say whether an object has an attribute.

    ``masks`` are the arrays of bools that chose items whose number was taken for the same each time, which is so where
    nothing changes them.

    ``inputs`` are the parts of arguments with objects in them, by parameter and path: they are read once, before
    anything else, and are differentiated as arguments are. ``input_places`` says how each is written.
    ``runtime_objects`` are lists and objects of the runtime that the reverse pass keeps things in; ``passing`` the
    variables of a block that runs again, in its first run: what comes later must not keep them. ``old_contents`` are
    what arrays held before stores that the reverse sweep undoes. ``keeping`` are those of the runtime's objects that
    keep also what is read from containers and objects from outside, ``callees`` the functions whose results they keep.
    ``data`` are the containers from outside of which no more is known than what their items are like, ``live`` those
    of known structure, as they were found in variables and attributes. ``made_from`` are the objects
    of the heap that ordinary values were made of, ``joins`` what variables are on the paths that meet. ``read_once``
    are iterators, and the lists that they are taken for, with what their items were made of. ``stored_into``
    are the targets of stores, in the order in which they are written. ``changing_items`` are lists that iterators are
    taken for, where making an item changes something.
    ``quiet`` are calls, by their ``id``, that run nothing which could store into an array, as the source of the
    function says, ``left`` calls that are decided when the program runs, after which the heap has been asked again.
    ``choose`` gives for a call the function with the derivative that was chosen for it there. ``changed`` are variables
    whose memory some statement changes, ``reading`` what is known of it where a derivative is written. ``stages`` is
    told what each pass makes, where somebody asks; ``naive`` leaves products and sums of cotangents as the rules say.
    ``has_strong_zeros`` lets zero times inf or NaN be zero in products of cotangents.
    ``switched_off`` are the names of the optional passes that do not run. ``shared_loops`` are where the program names
    what loops run over that threads may share.
    """

    evaluator: Evaluator = field(default_factory=Evaluator)
    values: dict[ir.Var, AbstractValue] = field(default_factory=dict)
    varied: set[ir.Var] = field(default_factory=set)
    definitions: dict[ir.Var, ir.Value] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    sources: dict[Any, ir.Var] = field(default_factory=dict)
    must_keep: set[ir.Var] = field(default_factory=set)
    effects: set[ir.Var] = field(default_factory=set)
    forced: dict[ir.Var, tuple[tuple[Dim, Dim], ...]] = field(default_factory=dict)
    unbound: dict[ir.Var, ir.Atom | None] = field(default_factory=dict)
    names: dict[ir.Atom, str] = field(default_factory=dict)
    uncertain: set[ir.Atom] = field(default_factory=set)
    choices: dict[ir.Var, tuple[ir.Atom, ir.Atom, ir.Atom]] = field(default_factory=dict)
    possibly_unassigned: set[ir.Var] = field(default_factory=set)
    presence: set[ir.Var] = field(default_factory=set)
    sides: dict[ir.Var, tuple[ir.Var, tuple[ir.Atom, ...]]] = field(default_factory=dict)
    groups: dict[ir.Var, tuple[ir.Var, ...]] = field(default_factory=dict)
    sharing: Sharing = field(default_factory=lambda: Sharing())
    reached: list[ir.Var] = field(default_factory=list)
    changed: set[ir.Atom] = field(default_factory=set)
    lengths: dict[Any, Dim] = field(default_factory=dict)
    shapes: dict[Any, tuple[Dim, ...]] = field(default_factory=dict)
    """Of the arrays that are read from containers, by container and place."""
    ranges: dict[ir.Var, ir.Atom] = field(default_factory=dict)
    """What loops run over, by their items."""
    sums: dict[str, dict[Any, int]] = field(default_factory=dict)
    """What symbols of lengths stand for that are sums of lengths."""
    stacks: set[ir.Var] = field(default_factory=set)
    """Variables whose tangents and cotangents are those of ``stack_sweeps``: no other operation may read them."""
    masks: set[ir.Atom] = field(default_factory=set)
    assumed: Assumptions = field(default_factory=Assumptions)
    count: int = 0
    """How many statements were written, those of discarded blocks not counted."""
    notices: list[Notice] = field(default_factory=list)
    """What may surprise who reads the derivative."""
    heap: virtual_heap.Heap = field(default_factory=virtual_heap.Heap)
    virtual_closures: dict[ir.Var, Callable[[Builder], ir.Atom]] = field(default_factory=dict)
    generators: dict[ir.Var, Any] = field(default_factory=dict)
    """Calls of generator functions, by the variables that stand for what they give."""
    freeze_instance: Callable[[Builder, virtual_heap.Cell, str], ir.Atom] | None = None
    for_value: bool = False
    """Whether what is frozen goes to a call whose result carries no derivative: an object may hold what is
    differentiated."""
    refer: Callable[..., ir.Atom] | None = None
    foreign: set[ir.Atom] = field(default_factory=set)
    absent: set[ir.Atom] = field(default_factory=set)  # reads of names that nothing has, as a guard says
    inputs: dict[tuple[ir.Var, tuple[Any, ...]], ir.Var] = field(default_factory=dict)
    input_places: dict[ir.Var, str] = field(default_factory=dict)
    runtime_objects: set[ir.Atom] = field(default_factory=set)
    quiet: dict[int, ir.Call] = field(default_factory=dict)
    left: dict[int, ir.Call] = field(default_factory=dict)
    passing: set[ir.Var] = field(default_factory=set)
    old_contents: set[ir.Atom] = field(default_factory=set)
    keeping: set[ir.Atom] = field(default_factory=set)
    callees: set[ir.Atom | None] = field(default_factory=set)
    made_from: dict[ir.Atom, tuple[virtual_heap.Cell, ...]] = field(default_factory=dict)
    data: set[ir.Var] = field(default_factory=set)
    relied: set[ir.Var] = field(default_factory=set)
    """Variables of what the function finds when it begins, for checks that it is still so (``specialize.relied``)."""
    checked: set[ir.Var] = field(default_factory=set)
    """Variables that were made for such checks, those among them."""
    live: dict[ir.Atom, Any] = field(default_factory=dict)
    joins: dict[ir.Var, list[ir.Var]] = field(default_factory=dict)
    changing_items: set[ir.Atom] = field(default_factory=set)
    read_once: dict[ir.Atom, Any] = field(default_factory=dict)
    stored_into: list[ir.Atom] = field(default_factory=list)
    choose: Callable[..., Any] | None = None
    reading: Reading | None = None
    stages: Stages | None = None
    remarks: list[Remark] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)
    naive: bool = False
    has_strong_zeros: bool = False
    switched_off: frozenset[str] = frozenset()
    sizes: dict[tuple[str, ...], LargeGuard] | None = None
    """Whether products of lengths of arguments are large, by their symbols; None where the version is the same for all.
    ``relied_sizes`` are those that were asked for."""
    relied_sizes: set[LargeGuard] = field(default_factory=set)
    shared_loops: set[ir.Span] = field(default_factory=set)
    found_points: set[ir.Var] = field(default_factory=set)
    """The results of loops whose points are solutions of equations in what comes after them."""

    def passed(self, name: str, before: ir.Function | None, after: ir.Function, exact: bool = True) -> None:
        """Tell what a pass made of a function."""
        if self.stages is not None:
            self.stages.note(name, before, after, exact)

    def fresh(self, name: str) -> ir.Var:
        """A new version of a name."""
        version = self.counters.get(name, 0)
        self.counters[name] = version + 1
        return ir.Var(name, version)

    def value(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom."""
        if isinstance(atom, ir.Const):
            return Known(atom)
        return self.values.get(atom, UNKNOWN)

    def shape_source(self, atom: ir.Atom) -> ir.Atom:
        """An argument that has the shape of an array: reading its shape keeps nothing alive."""
        known = self.value(atom)
        return self.sources.get(known.shape, atom) if isinstance(known, Array) and known.shape else atom

    def name_of(self, var: ir.Var) -> str:
        """What the user calls a variable; ``%`` where nothing."""
        return self.names.get(var, "%") if var.is_temporary else var.name

    def is_varied(self, atom: ir.Atom) -> bool:
        """Whether an atom depends on a differentiated input."""
        if not isinstance(atom, ir.Var):
            return False
        known = self.values.get(atom)
        return virtual_heap.is_varied(self, known.cell) if isinstance(known, Ref) else atom in self.varied

    def is_virtual(self, atom: Any) -> bool:
        """Whether an atom stands for an object on the heap, or a function that captured one."""
        return isinstance(atom, ir.Var) and (
            isinstance(self.values.get(atom), Ref) or atom in self.virtual_closures
        )

    def renamed(self, builder: Builder, atom: ir.Atom, name: str) -> ir.Atom:
        """The atom under another name, where its statement is the last one and it has none yet."""
        last = builder.statements[-1] if builder.statements else None
        if not isinstance(last, ir.Let) or last.target is None or last.target != atom or not last.target.is_temporary:
            return atom
        var = self.define(
            name, self.value(atom), last.target in self.varied, self.definitions.get(last.target)
        )
        if self.reading is not None:
            self.reading.renamed(last.target, var)
        builder.statements[-1] = ir.replace(last, target=var)
        return var

    def define(
        self, name: str, value: AbstractValue, varied: bool = False, definition: ir.Value | None = None
    ) -> ir.Var:
        """A new variable of which something is known."""
        var = self.fresh(name)
        self.values[var] = value
        if varied:
            self.varied.add(var)
        if self.reading is not None:
            self.reading.written_at[var] = self.reading.now
        if definition is not None:
            self.definitions[var] = definition
            self.sharing.pending.append((var, definition))
        return var

    def definition(self, atom: ir.Atom, fn: Any) -> tuple[ir.Atom, ...] | None:
        """The arguments of the call of ``fn`` that made an atom."""
        made = self.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and made.fn.holds(fn) and not made.kwargs:
            return made.args  # type: ignore[return-value]
        return None

    def written(self, atom: ir.Atom, depth: int = 6) -> Any:
        """How an index is computed, the same for two that are computed alike from the same numbers."""
        made = self.definitions.get(atom) if isinstance(atom, ir.Var) and depth else None
        if isinstance(made, ir.Call) and made.fn in _INDEX_ARITHMETIC and not made.kwargs:
            return made.fn, *(self.written(a, depth - 1) for a in made.args)  # type: ignore[arg-type]
        return atom

    def births(self) -> Callable[[ir.Var], bool]:
        """A test whether a variable was there when this was called."""
        versions = dict(self.counters)
        return lambda var: var.version < versions.get(var.name, 0)

    def joined(self, var: ir.Var, *others: ir.Atom) -> None:
        """A variable is what one of these was."""
        found = [other for other in others if isinstance(other, ir.Var)]
        self.joins.setdefault(var, []).extend(found)
        self.sharing.pending += [(var, other) for other in found]
        if not self.uncertain.isdisjoint(others):
            self.uncertain.add(var)
        if self.sharing.active:
            self._vary(self.sharing.with_(var, self.value))

    def method_of(self, callee: ir.Atom, span: ir.Span | None) -> tuple[ir.Atom, ...]:
        """The object and the name of the method that a callee is which depends on an input. Any other is refused, also
        where only a store after the call says so, into memory that the callee may have kept."""
        made = self.definition(callee, getattr)
        if made is None:
            name = callee.name if isinstance(callee, ir.Var) and not callee.is_temporary else "this value"
            raise error("S2S206", span=span, name=name)
        return made

    def may_be_integers(self, target: ir.Var) -> bool:
        """Whether an array of floats may be one of integers, depending on the path taken."""
        return bool(self.uncertain) and not self.uncertain.isdisjoint(self.sharing.with_(target, self.value))

    def stored(self, target: ir.Var) -> None:
        """Something that depends on an input was stored into an array: whatever shares its memory depends on it."""
        self.sharing.active.add(target)
        self._vary(self.sharing.with_(target, self.value))

    def _vary(self, shared: set[ir.Var]) -> None:
        """Variables that may share memory, of which some of what is stored into may depend on an input: all may."""
        if not self.sharing.active.isdisjoint(shared):
            reached = shared - self.varied
            self.varied |= reached
            self.reached += reached


_INDEX_ARITHMETIC = tuple(map(ir.Const, (slice, operator.add, operator.sub, operator.mul, operator.floordiv)))


@dataclass
class Sharing:
    """Which variables may share memory, worked out where a store asks for it: few functions have any. ``active`` are
    those through which something that depends on an input was stored: what is found to share their memory later
    depends on it."""

    active: set[ir.Var] = field(default_factory=set)
    pending: list[tuple[ir.Var, ir.Value]] = field(default_factory=list)
    links: dict[ir.Var, set[ir.Var]] = field(default_factory=dict)

    def with_(self, var: ir.Var, value_of: Callable[[ir.Atom], AbstractValue]) -> set[ir.Var]:
        """The variables that may share memory with ``var``, itself among them."""
        for target, value in self.pending:
            for source in shared_with(value, value_of(target), value_of):
                self.links.setdefault(target, set()).add(source)
                self.links.setdefault(source, set()).add(target)
        self.pending.clear()
        found, todo = {var}, [var]
        while todo:
            new = self.links.get(todo.pop(), set()) - found
            found |= new
            todo += new
        return found


_HAS_DOMAIN = {
    math.log, math.log2, math.log10, math.log1p, math.asin, math.acos, math.acosh, math.atanh, math.fmod, ops.unpack,
}
"""Functions that raise outside their domain where their derivative does not: they run also where only that is asked."""


_INTEGERS = np.dtype(int)
_DOMAIN_TYPES = frozenset(map(type, _HAS_DOMAIN))


class Builder:
    """Collects statements of one block."""

    def __init__(self, context: Context, parent: Builder | None = None) -> None:
        self.context = context
        self.parent = parent
        self.statements: list[ir.Statement] = []
        self.bound: set[ir.Var] = set()
        self.naturals: list[dict[Any, int]] = []
        """Sums of lengths that arrays were made with: they are not negative here."""

    def child(self) -> Builder:
        """A builder for a block inside this one."""
        return Builder(self.context, self)

    def take(self, child: Builder) -> None:
        """Append all that a child has collected."""
        self.statements += child.statements
        self.bound |= child.bound

    def is_bound(self, var: ir.Var) -> bool:
        """Whether a variable that some path leaves unbound was found bound before this place."""
        builder: Builder | None = self
        while builder is not None:
            if var in builder.bound:
                return True
            builder = builder.parent
        return False

    def is_natural(self, number: dict[Any, int]) -> bool:
        """Whether a sum of lengths is not negative, as an array was made with it before this place."""
        builder: Builder | None = self
        while builder is not None:
            if number in builder.naturals:
                return True
            builder = builder.parent
        return False

    def frozen(self, atom: Any) -> Any:
        """The atom; for an object on the heap an ordinary value of what it holds now."""
        return virtual_heap.freeze(self, atom) if self.context.is_virtual(atom) else atom

    def add(self, statement: ir.Statement) -> None:
        """Append a statement as it is."""
        self.context.count += 1
        self.statements.append(statement)
        if isinstance(statement, ir.Store):
            self.context.stored_into.append(statement.target)

    def block(self, *yields: ir.Atom) -> ir.Block:
        """The block built."""
        return ir.Block(tuple(self.statements), yields)

    def let(
        self,
        value: ir.Value,
        known: AbstractValue,
        name: str = "%",
        span: ir.Span | None = None,
        varied: bool = False,
    ) -> ir.Atom:
        """Bind a value of which ``known`` is known, and give the atom that stands for it."""
        if _folds(known) and not varied:
            assert isinstance(known, Known)
            return known.const
        if any(map(self.context.is_virtual, ir.atoms_of(value))):
            value = ir.map_atoms(value, self.frozen)
        return self._define(value, known, name, span, varied)

    def _define(self, value: ir.Value, known: AbstractValue, name: str, span: ir.Span | None, varied: bool) -> ir.Var:
        var = self.context.define(name, known, varied, value)
        self.context.count += 1
        self.statements.append(ir.Let(var, value, span))
        return var

    def call(
        self,
        fn: Any,
        *args: ir.Atom,
        name: str = "%",
        span: ir.Span | None = None,
        kwargs: Iterable[tuple[str, ir.Atom]] = (),
        effect: bool = False,
    ) -> ir.Atom:
        """Call a function that is known, fold the result where it is known, and give its atom."""
        context = self.context
        kwargs = tuple([(key, self.frozen(atom)) for key, atom in kwargs]) if kwargs else ()
        if any(map(context.is_virtual, args)):
            args = tuple(map(self.frozen, args))
        written = fn if context.choose is None else context.choose(fn, args, kwargs, span)
        facts, given = context.evaluator.facts, (*args, *[a for _, a in kwargs]) if kwargs else args
        before, facts.forced, facts.may_be_integer = facts.forced, [], False
        known = context.evaluator.call(
            fn, tuple(map(context.value, args)), {k: context.value(v) for k, v in kwargs} if kwargs else None
        )
        if context.uncertain and not context.uncertain.isdisjoint(given):
            known = self._of_either(fn, args, kwargs, known)
        forced, facts.forced = facts.forced, before
        if isinstance(known, Array) and known.shape:
            if fn is operator.getitem:
                known = self._with_equal_lengths(args, known)
            elif not kwargs:
                known = made_of_lengths(self, written, args, known)
        varied = any(map(context.is_varied, given)) and not has_zero_derivative(context, written, args)
        varied = varied and not (isinstance(known, Array) and known.dtype.kind == "b")
        made = ir.Call(ir.Const(written), args, kwargs)
        if effect:
            self.add(ir.Let(None, made, span))
            return ir.Const(None)
        found = project(context, fn, args)
        if found is not None:
            return found
        if isinstance(known, Known) and type(known.value) is tuple and not varied and args:
            return self.call(ops.make_tuple, *map(ir.Const, known.value), name=name, span=span)
        target = known.const if not varied and _folds(known) else self._define(made, known, name, span, varied)  # type: ignore[union-attr]
        if facts.may_be_integer or (context.uncertain and self._stays_uncertain(fn, args)):
            context.uncertain.add(target)
        if type(fn) in _DOMAIN_TYPES and fn in _HAS_DOMAIN and isinstance(target, ir.Var):
            context.must_keep.add(target)
        if isinstance(known, Unknown) and isinstance(target, ir.Var) and self._may_raise(fn, args):
            context.must_keep.add(target)
        if forced and isinstance(target, ir.Var):
            context.forced[target] = tuple(forced)
            facts.needed.update(map(frozenset, forced))
        return target

    def _of_either(
        self, fn: Any, args: tuple[ir.Atom, ...], kwargs: tuple[tuple[str, ir.Atom], ...], known: AbstractValue
    ) -> AbstractValue:
        """What comes of arrays that are of integers on some path: what is ``known`` where they are of floats, unless
        integers give something else than the same array of integers."""
        context = self.context

        def value(atom: ir.Atom) -> AbstractValue:
            found = context.value(atom)
            return Array(_INTEGERS, found.shape) if atom in context.uncertain and isinstance(found, Array) else found

        facts = context.evaluator.facts
        other = context.evaluator.call(fn, tuple(map(value, args)), {k: value(v) for k, v in kwargs})
        if isinstance(known, Array) and isinstance(other, Array) and other.dtype.kind in "fiu":
            return known
        return join(known, other, facts)

    def _stays_uncertain(self, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
        """Whether what comes of an array that may be of integers may be one too: with a float it is one of floats."""
        context = self.context
        if not any(a in context.uncertain for a in args) or fn is operator.truediv:
            return False
        return not facts(fn).elementwise or not any(
            a not in context.uncertain and is_float(context.value(a)) for a in args
        )

    def _with_equal_lengths(self, args: tuple[ir.Atom, ...], known: Array) -> Array:
        """What is known of a read: the same slice of the same length has the same length again, and the same item of a
        container the same shape."""
        context = self.context
        source, shape = context.value(args[0]), known.shape
        if not context.assumed.changing_masks and shape and _is_mask(context.value(args[1])):
            chosen = context.lengths.setdefault(("mask", self._mask(args[1])), shape[0])
            return Array(known.dtype, (chosen, *shape[1:]))
        if shape and isinstance(source, (Sequence, Mapping)):
            return Array(known.dtype, context.shapes.setdefault((args[0], context.written(args[1])), shape))
        parts = context.definition(args[1], ops.make_tuple) or (args[1],)
        if not isinstance(source, Array) or source.shape is None or shape is None:
            return known
        if any(context.value(p) == Known(ir.Const(Ellipsis)) or not is_basic(context.value(p)) for p in parts):
            return known
        dims, axis, place = list(shape), 0, 0
        for part in parts:
            value = context.value(part)
            if isinstance(value, Known) and value.value is None:
                place += 1
                continue
            if isinstance(value, Sequence) and dims[place].symbol.startswith("?") and not dims[place].offset:
                sure = slice_length(self, part, source.shape[axis])
                key = (source.shape[axis], context.written(part))
                dims[place] = sure or context.lengths.setdefault(key, dims[place])
            place += not isinstance(value, Scalar) and not (isinstance(value, Known) and isinstance(value.value, int))
            axis += 1
        return Array(known.dtype, tuple(dims))

    def _mask(self, atom: ir.Atom) -> Any:
        """How an array of bools is made, the same for two that are the same choice: by its name, or the opposite of
        another one. It is noted, because it must not change."""
        self.context.masks.add(atom)
        opposite = self.context.definition(atom, operator.invert) or self.context.definition(atom, np.logical_not)
        return atom if opposite is None else ("not", self._mask(opposite[0]))

    def _may_raise(self, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
        """Whether an operation on arrays and numbers that was not understood may raise; reading a method does not, nor
        does what only begins an iteration."""
        if any(fn is view for view in (enumerate, zip, reversed)):
            return False
        if fn is getattr and isinstance(args[1], ir.Const) and hasattr(np.ndarray, str(args[1].value)):
            return False
        return bool(args) and all(map(self._is_numeric, args))

    def _is_numeric(self, atom: ir.Atom) -> bool:
        value = self.context.value(atom)
        return isinstance(value, (Array, Scalar)) and not (isinstance(value, Array) and value.shape is None)

    def store(
        self,
        target: ir.Atom,
        key: ir.Atom | None,
        value: ir.Atom,
        op: Callable[..., Any] | None = None,
        span: ir.Span | None = None,
    ) -> None:
        """Change an array in place."""
        kind = "whole" if key is None else "item"
        self.add(ir.Store(kind, target, ir.Const(None) if key is None else key, value, op, span))


def _is_mask(index: AbstractValue) -> bool:
    """Whether an index is one array of bools."""
    return isinstance(index, Array) and index.dtype == bool and bool(index.shape)


PASSIVE_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"})


def makes_text(fn: Any) -> bool:
    """Whether it is a method of a known string, whose result has no derivative."""
    return type(fn) is types.BuiltinFunctionType and isinstance(fn.__self__, str)


def fills_text(context: Context, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
    """Whether it is ``"..." % values``, or ``values.astype(str)``."""
    if fn is np.ndarray.astype and len(args) > 1:
        return is_text_dtype(context, args[1])
    first = context.value(args[0]) if fn is operator.mod else None
    return isinstance(first, Known) and isinstance(first.value, (str, bytes))


def is_text_dtype(context: Context, dtype: ir.Atom) -> bool:
    """Whether arrays of a dtype hold text or bytes."""
    known = context.value(dtype)
    if not isinstance(known, Known) or not isinstance(known.value, (type, str, np.dtype)):
        return False
    try:
        return np.dtype(known.value).kind in "USV"
    except TypeError:
        return False


def _is_real(value: AbstractValue) -> bool:
    """Whether a value is known to be a real number or an array of such."""
    dtype = dtype_of(value)
    return dtype is not None and dtype.kind in "biuf"


def repeats_text(context: Context, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
    """Whether a call is ``"-" * n``, of a text that no differentiated number was written to."""
    is_product = fn is operator.mul or fn is operator.imul
    return is_product and any(
        type_of(context.value(a)) in (str, bytes) and not context.is_varied(a) for a in args)


def has_zero_derivative(context: Context, fn: Any, args: tuple[ir.Atom, ...]) -> bool:
    """Whether a call's result does not depend differentiably on its arguments, by the rules."""
    if fn is getattr and len(args) > 1:
        return isinstance(args[1], ir.Const) and args[1].value in PASSIVE_ATTRIBUTES
    if fills_text(context, fn, args) or repeats_text(context, fn, args):
        return True
    rule = table.find(fn)
    if rule is None:
        return makes_text(fn)
    return rule.kind == "zero" or (rule.flat_for_reals and all(_is_real(context.value(a)) for a in args))


def project(context: Context, fn: Any, args: tuple[ir.Atom, ...]) -> ir.Atom | None:
    """The atom that a read of a known item gives, where the container was made in the function (``(a, b)[0]``)."""
    if fn is not operator.getitem or not isinstance(args[0], ir.Var) or not isinstance(args[1], ir.Const):
        return None
    made, index = context.definitions.get(args[0]), args[1].value
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
        return None
    known = context.value(args[0])
    if (made.fn.value in (ops.make_tuple, ops.make_list) or is_record_class(made.fn.value)) and type(index) is int:
        items = made.args
        if -len(items) <= index < len(items) and not isinstance(items[index], ir.Star):
            found = items[index]
            assert not isinstance(found, ir.Star)
            return found
    if made.fn.value is ops.make_dict and isinstance(known, Mapping) and index in known.keys:
        found = made.args[2 * known.keys.index(index) + 1]
        return None if isinstance(found, ir.Star) else found
    if made.fn.value is ops.unpack and isinstance(made.args[0], ir.Var) and isinstance(known, Sequence):
        return _project_unpacked(context, made, index)
    if made.fn.value is operator.getitem and type(index) is int:
        return _project_slice(context, made, index)
    return None


def _project_slice(context: Context, made: ir.Call, index: int) -> ir.Atom | None:
    """An item of a part of a tuple (``(a, b, c)[1:][0]``)."""
    source, chosen = made.args
    value, part = context.value(source), context.value(chosen)  # type: ignore[arg-type]
    if not isinstance(value, Sequence) or value.type is not tuple or not isinstance(part, Known):
        return None
    if type(part.value) is not slice:
        return None
    places = range(len(value.items))[part.value]
    if not -len(places) <= index < len(places):
        return None
    return project(context, operator.getitem, (source, ir.Const(places[index])))  # type: ignore[arg-type]


def _project_unpacked(context: Context, made: ir.Call, index: Any) -> ir.Atom | None:
    source, _, after = made.args
    value = context.value(source)  # type: ignore[arg-type]
    if not isinstance(value, Sequence) or not isinstance(after, ir.Const) or after.value is not None:
        return None
    return project(context, operator.getitem, (source, ir.Const(index)))  # type: ignore[arg-type]


def is_closure(value: AbstractValue) -> bool:
    """Whether a value is a function made inside the function compiled."""
    return isinstance(value, Closure)
