"""Derivatives that the program itself takes: a call of ``s2s.grad(f)``, ``s2s.vjp`` or ``s2s.jvp`` goes in, the
statements of the derivative come out in its place.

    def loss(w, lr):                                        def loss(w, lr):
        g = s2s.grad(energy)(w)             ->                  g = ...     the gradient of energy, written out
        return energy(w - lr * g)                               return ... (energy written out, too)

The function is specialised on parameters of its own, of the kinds of the arguments, and differentiated by the same
sweeps as any other (``Sweeps``). What it captures are free variables of the outcome: they are constants for this
derivative, whatever the one around it makes of them, so that perturbations cannot be confused. The outcome is a
function in SSA form like one that was lowered. It is specialised once more, in the place of the call: there it is part
of the program, and is differentiated as often as is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.parts import is_differentiable
from s2s.analysis.memory import Memory
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import State, cell_of
from s2s.core import ir, ops
from s2s.core.public import PublicDerivative, model_of, role_of
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Mapping, Scalar, Sequence, Unknown
from s2s.directives.decorated import options_of
from s2s.errors import error
from s2s.optimize.dead import drop_dead
from s2s.optimize.rewriting import free_variables
from s2s.runtime import repeated_calls
from s2s.specialize.calls import policies
from s2s.specialize.calls.bound_methods import function_and_receiver
from s2s.specialize.frames import Frame, FramedClosure, name_of, place_of
from s2s.specialize.heap import iterators, making
from s2s.specialize.inplace import change_whole, store_item
from s2s.specialize.ownership import shared_rebindings
from s2s.specialize.site import At, CallSite, Handler
from s2s.versions.request import Request
from s2s.versions.target import one_of_modes, parameters_of, target_of

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = [
    "HANDLERS", "Asked", "Sweeps", "apply", "asked_of", "check_late", "parameters", "parts", "refuse", "store",
    "together",
]

Sweeps: TypeAlias = Callable[[Any, ir.Function, Any, Request], tuple[ir.Function, list[str]]]
"""What makes the derivative of a specialised function: the specialiser, the function, its augmented assignments and
what is asked for go in; the derivative and the names of the parameters that the function changes come out."""

MAKERS: dict[str, str] = {
    "grad": "grad", "value_and_grad": "value_and_grad", "jacfwd": "jacfwd", "jacrev": "jacrev", "jacobian": "jacfwd",
    "value_and_jacobian": "value_and_jacfwd", "elementwise_grad": "elementwise_grad",
}
"""Public functions that make a derivative of a function, by their roles, and the mode of it. Which Jacobian needs fewer
directions is not known before the program runs: it is the one by forward mode."""


@dataclass(frozen=True)
class Asked:
    """A derivative that is to be taken: of which function, with respect to what. ``argnums`` is None for every
    positional argument that has a derivative."""

    mode: str
    fn: ir.Atom
    argnums: Any = 0
    has_aux: bool = False
    unconnected: str = "zeros"
    holomorphic: bool = False
    changes: str = ""

    @property
    def is_gradient(self) -> bool:
        """Whether there is one cotangent for each part of an argument, to be put together as the argument is."""
        return self.mode in ("grad", "value_and_grad")

    @property
    def single(self) -> bool:
        """Whether one argument is asked for, and not a tuple of them."""
        return not isinstance(self.argnums, (tuple, list))

    def request(self, wrt: tuple[tuple[Any, ...], ...], options: tuple[tuple[str, Any], ...]) -> Request:
        """The request for parameters of these names."""
        options = (*options, ("unconnected", self.unconnected), ("changes", self.changes), ("inner", True))
        options += (("holomorphic", True),) if self.holomorphic else ()
        single = self.single and not self.is_gradient and self.argnums is not None
        return Request(self.mode, wrt, single, self.has_aux, options)


# --- derivatives as values ------------------------------------------------------------------------------------------


def make(site: CallSite) -> ir.Atom | None:
    """``s2s.grad(f, ...)``: a variable that is known by its definition, dead once its calls are written out; None where
    its options are not known."""
    given = _bound(site.fn, site.args, site.kwargs)
    options = {name: _literal(site, atom) for name, atom in given.items() if name in _OPTIONS}
    if any(option is _NOT_KNOWN for option in options.values()):
        return None
    check_late(site, [given["f"]])
    set_ = tuple((name, ir.Const(v)) for name, v in options.items() if v != _OPTIONS[name])
    call = ir.Call(ir.Const(site.fn), (given["f"],), set_)
    varied = site.context.is_varied(given["f"])
    if not site.context.is_virtual(given["f"]):
        var = site.context.define(site.name, virtual_heap.UNKNOWN, varied, call)
        site.builder.add(ir.Let(var, call, site.span))
        return var
    var = site.context.define(site.name, virtual_heap.UNKNOWN, varied, call)
    site.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(call, builder.frozen), virtual_heap.UNKNOWN, site.name, site.span, varied)
    return var


def _bound(fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> dict[str, ir.Atom]:
    """The arguments of a call by parameter, defaults among them."""
    bound = inspect.Signature(parameters_of(fn)).bind(*args, **kwargs)
    bound.apply_defaults()
    return {k: a if isinstance(a, (ir.Var, ir.Const)) else ir.Const(a) for k, a in bound.arguments.items()}


_NOT_KNOWN = object()

_OPTIONS: dict[str, Any] = {"argnums": 0, "has_aux": False, "unconnected": "zeros", "holomorphic": False}
"""The options of the functions that make derivatives."""


def _literal(at: At, atom: ir.Atom) -> Any:
    """What an option is: a constant, or a tuple or list of constants."""
    if isinstance(atom, ir.Const):
        return atom.value
    items = at.items(atom)
    if items is None or not all(isinstance(item, ir.Const) for item in items):
        return _NOT_KNOWN
    return tuple(item.value for item in items if isinstance(item, ir.Const))


def check_late(at: At, functions: Iterable[ir.Atom]) -> None:
    """Refuse to keep a function that reads a variable which is assigned before it is called."""
    for value in map(at.context.value, functions):
        if isinstance(value, FramedClosure) and value.late:
            raise at.refusal("S2S205", name=value.late[0])


def asked_of(context: Context, callee: ir.Atom) -> Asked | None:
    """What a derivative asks for, where that is known: one that the program made, or one that was there before."""
    known = context.value(callee)
    if isinstance(known, Known):
        derivative = known.value
        if isinstance(derivative, types.FunctionType):
            derivative = one_of_modes(derivative)
        if not isinstance(derivative, PublicDerivative):
            return None
        mode, f, argnums, has_aux, unconnected, _, changes, holomorphic = derivative.made_from
        if mode not in MAKERS.values() and mode not in ("value_and_jacrev",):
            return None
        return Asked(mode, ir.Const(f), argnums, has_aux, unconnected, holomorphic, changes)
    made = context.definitions.get(callee) if isinstance(callee, ir.Var) else None
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
        return None
    mode = MAKERS.get(role_of(made.fn.value) or "")
    if mode is None:
        return None
    given = {name: option.value for name, option in made.kwargs if isinstance(option, ir.Const)}
    return Asked(mode, made.args[0], **given)  # type: ignore[arg-type, union-attr]


# --- arguments ------------------------------------------------------------------------------------------------------


@dataclass
class Leaf:
    """A part of an argument that is a parameter of the inner function: ``outer`` is what is given for it."""

    outer: ir.Atom
    var: ir.Var
    wanted: bool
    dot: ir.Atom | None = None


@dataclass
class Node:
    """A container or object among the arguments, with its parts."""

    kind: type
    keys: tuple[Any, ...]
    items: tuple[Tree, ...]


@dataclass
class Fixed:
    """A part of an argument that is not differentiated, as it is."""

    atom: ir.Atom


Tree: TypeAlias = Leaf | Node | Fixed


def _leaves(tree: Tree) -> Iterator[Leaf]:
    match tree:
        case Leaf():
            yield tree
        case Node(items=items):
            for item in items:
                yield from _leaves(item)
        case Fixed():
            pass


@dataclass
class _Arguments:
    """Makes the parameters of an inner function from the arguments of a call."""

    at: At
    names: set[str] = field(default_factory=set)

    def tree(self, atom: ir.Atom, name: str, wanted: bool) -> Tree:
        """An argument by its parts; ``wanted`` says that it is differentiated."""
        if not wanted:
            known = self.at.value(atom)
            return self.leaf(atom, name, known, False) if isinstance(known, Array) else Fixed(atom)
        cell = cell_of(self.at.context, atom)
        if cell is not None:
            return self.of_cell(cell, name)
        found = parts(self.at, atom)
        return self.number(atom, name, self.at.value(atom)) if found is None else self.node(*found, name)

    def of_cell(self, cell: virtual_heap.Cell, name: str) -> Tree:
        state = self.at.context.heap.state(cell, self.at.span)
        if virtual_heap.is_instance(state):
            copied = self.at.specializer.instances.copied(self.at, cell)
            made = virtual_heap.state_of(self.at.context, copied)
            assert made is not None
            return self.node(made.kind, made.entries(), name)
        entries = virtual_heap.contents(self.at.builder, cell, self.at.span)
        if entries is not None:
            return self.node(state.kind, entries, name)
        frozen = self.at.builder.frozen(cell.var)
        return self.leaf(frozen, name, self.at.value(frozen), True)

    def node(self, kind: type, entries: dict[Any, ir.Atom], name: str) -> Node:
        items = [
            self.tree(a, k if isinstance(k, str) and k.isidentifier() else name, True) for k, a in entries.items()
        ]
        return Node(kind, tuple(entries), tuple(items))

    def number(self, atom: ir.Atom, name: str, known: AbstractValue) -> Tree:
        """A number or an array; one without a derivative stays as it is."""
        if isinstance(known, Known) and isinstance(known.value, (float, complex, np.inexact)):
            return self.leaf(atom, name, Scalar(type(known.value)), True)
        return self.leaf(atom, name, known, True) if is_differentiable(known) else Fixed(atom)

    def leaf(self, atom: ir.Atom, name: str, known: AbstractValue, wanted: bool) -> Leaf:
        base, k = name.lstrip("%") or "x", 1
        name = base
        while name in self.names:
            name, k = f"{base}_{k}", k + 1
        self.names.add(name)
        return Leaf(atom, self.at.context.define(name, known), wanted)


def parts(at: At, atom: ir.Atom) -> tuple[type, dict[Any, ir.Atom]] | None:
    """The type and the entries of a container, by key; None for what is none, or is not known entry by entry."""
    cell = cell_of(at.context, atom)
    if cell is not None:
        state = at.context.heap.state(cell, at.span)
        entries = None if virtual_heap.is_instance(state) else virtual_heap.contents(at.builder, cell, at.span)
        return None if entries is None else (state.kind, entries)
    known = at.value(atom)
    match known:
        case Sequence(kind, items) if kind is not slice:
            keys: tuple[Any, ...] = tuple(range(len(items)))
        case Mapping(keys):
            kind = dict
        case Known() if isinstance(known.value, (tuple, list, dict)):
            kind = type(known.value)
            keys = tuple(known.value) if kind is dict else tuple(range(len(known.value)))
        case _:
            return None
    return kind, {k: at.compute(operator.getitem, atom, ir.Const(k)) for k in keys}


def _inner(at: At, tree: Tree) -> ir.Atom:
    """What the inner function gets for an argument: parameters in the containers and objects of the argument."""
    match tree:
        case Leaf(var=var):
            return at.specializer.parameter(var, at.value(var), at.builder)
        case Fixed(atom):
            return atom
        case Node(kind, keys, items):
            return together(at, kind, keys, [_inner(at, item) for item in items])


def together(at: At, kind: type, keys: tuple[Any, ...], items: list[ir.Atom]) -> ir.Atom:
    """A container or object of these parts."""
    if kind is tuple:
        return making.new_list(at, items, tuple)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return making.new_record(at, kind, items, {})
    return making.new(at, State(kind, keys, tuple(items)))


# --- which arguments ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the function: its name, whether it may be given by position, and its default."""

    name: str
    positional: bool
    default: ir.Atom | None = None


def parameters(self: Specializer, fn: ir.Atom) -> list[_Parameter] | None:
    """The parameters that callers of a function see, without ``*args`` and ``**kwargs``; None where not known."""
    value = self.context.value(fn)
    made = self.context.definitions.get(fn) if isinstance(fn, ir.Var) else None
    asked = asked_of(self.context, fn)
    if asked is not None:
        return parameters(self, asked.fn)
    if isinstance(value, FramedClosure):
        defaults = dict(value.defaults)
        return [
            _Parameter(p.var.name, p.kind.startswith("POSITIONAL"), defaults.get(p.var.name))
            for p in value.function.params if not p.kind.startswith("VAR")
        ]
    if isinstance(value, Known):
        target = target_of(value.value)
        return None if target is None else [
            _Parameter(p.name, p.kind in _POSITIONAL, None if p.default is p.empty else ir.Const(p.default))
            for p in target.public if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
    if isinstance(made, ir.Call) and made.fn == ir.Const(functools.partial):
        inner = parameters(self, made.args[0])  # type: ignore[arg-type]
        fixed = dict(made.kwargs)
        return inner and [
            dataclasses.replace(p, default=fixed.get(p.name, p.default)) for p in inner[len(made.args) - 1 :]
        ]
    bound = function_and_receiver(self, fn)
    if bound is not None and isinstance(bound[0], types.FunctionType):
        inner = parameters(self, ir.Const(bound[0]))
        return inner and inner[1:]
    return None


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass
class _Choice:
    """Which arguments of a call are differentiated: positions and keywords. Defaults that are, are given."""

    at: At
    fn: ir.Atom
    args: list[ir.Atom]
    kwargs: dict[str, ir.Atom]

    def key(self, argument: Any) -> int | str:
        """The position or keyword of an argument that is asked for by number or name."""
        known = parameters(self.at.specializer, self.fn) or []
        positional = [p for p in known if p.positional]
        if isinstance(argument, str):
            place = next((k for k, p in enumerate(positional) if p.name == argument), len(self.args))
            if place < len(self.args):
                return place
            return self.named(argument, next((p for p in known if p.name == argument), None))
        number = argument.__index__()
        if number < 0:
            number += max(len(positional), len(self.args))
        if 0 <= number < len(self.args):
            return number
        if not 0 <= number < len(positional):
            raise error("S2S501", **self.where, number=argument)
        return self.named(positional[number].name, positional[number])

    def named(self, name: str, parameter: _Parameter | None) -> str:
        if name not in self.kwargs:
            if parameter is None or parameter.default is None:
                raise error("S2S502", **self.where, argument=name)
            self.kwargs[name] = parameter.default
        return name

    @property
    def where(self) -> dict[str, Any]:
        """What an error says of the call."""
        return {"span": self.at.span, "asked_by": self.at.frame.called_from, "name": _name(self.at.context, self.fn)}


def _name(context: Context, fn: ir.Atom) -> str:
    value = context.value(fn)
    if isinstance(value, FramedClosure):
        return value.function.name.strip("<>")
    return name_of(value.value).strip("<>") if isinstance(value, Known) else "the function"


def _check_differentiable(at: At, fn: ir.Atom, key: int | str, tree: Tree) -> None:
    """Raise ArgumentError where an argument to differentiate holds no float."""
    if any(leaf.wanted for leaf in _leaves(tree)) or (isinstance(tree, Node) and not tree.items):
        return
    where: dict[str, Any] = {"span": at.span, "asked_by": at.frame.called_from, "name": _name(at.context, fn)}
    named = [p.name for p in parameters(at.specializer, fn) or () if p.positional]
    argument = named[key] if isinstance(key, int) and key < len(named) else str(key)
    known = at.value(tree.atom) if isinstance(tree, Fixed) else None
    kind = type(known.value) if isinstance(known, Known) else known.type if isinstance(known, Scalar) else None
    if kind is not None and issubclass(kind, (int, np.integer)) and kind is not bool:
        raise error("S2S503", hint="pass a float, `float(...)`", argument=argument, **where)
    if isinstance(known, Array) and known.dtype.kind in "iu":
        raise error("S2S503", hint="pass floats, `x.astype(float)`", argument=argument, **where)
    text = f"a {kind.__name__}" if kind is not None else "without floats"
    raise error("S2S504", hint="leave it out of `argnums`", argument=argument, kind=text, **where)


# --- taking a derivative --------------------------------------------------------------------------------------------


@dataclass
class _Inner:
    """The call of a function whose derivative is taken: its arguments by their parts."""

    at: At
    fn: ir.Atom
    args: list[Tree]
    kwargs: dict[str, Tree]
    free: tuple[ir.Var, ...] = ()

    @property
    def leaves(self) -> list[Leaf]:
        """All parts that are parameters."""
        return [leaf for tree in (*self.args, *self.kwargs.values()) for leaf in _leaves(tree)]

    def derivative(self, asked: Asked) -> ir.Function:
        """The derivative as a function of the parameters, whose free variables are what the function captures."""
        self_, context = self.at.specializer, self.at.context
        wrt = tuple((leaf.var.name,) for leaf in self.leaves if leaf.wanted)
        outside = context.varied, context.heap, self_.rebound, dict(self_.reshaped), self_.trying, self_.catching
        try:
            context.varied = {leaf.var for leaf in self.leaves if leaf.wanted}
            with policies.blocks_alone(self_):
                primal = self.primal()
            self_.trying = self_.catching = 0
            request = asked.request(wrt, _options(self_.context, self.fn))
            with policies.without(self_):
                made, changed = self_.sweeps(self_, primal, self_.rebound, request)
        finally:
            context.varied, context.heap, self_.rebound, self_.reshaped, self_.trying, self_.catching = outside
        self.check_separate(made, changed)
        return made

    def primal(self) -> ir.Function:
        """The function on parameters of its own. ``x += v`` is taken for ``x = x + v``, as everywhere; where others see
        the array change, it is specialised again."""
        self_, before = self.at.specializer, self.at.context.heap
        while True:
            self_.context.heap, self_.rebound = before.copy(), []
            builder = self.at.builder.child()
            at = At(self.at.specializer, self.at.frame, builder, self.at.span)
            args = [_inner(at, tree) for tree in self.args]
            kwargs: dict[str | None, ir.Atom] = {k: _inner(at, tree) for k, tree in self.kwargs.items()}
            result = at.apply_atom(self.fn, args, kwargs)
            result = builder.frozen(result)
            self.check_unchanged(before)
            params = tuple(ir.Param(leaf.var) for leaf in self.leaves)
            primal = ir.Function(_name(self_.context, self.fn), params, builder.block(result), span=self.at.span)
            primal = drop_dead(primal, self_.context)  # pullbacks that were written out share no memory
            free = tuple(free_variables(primal))
            primal = ir.replace(primal, params=(*map(ir.Param, free), *params))
            shared = shared_rebindings(primal, self_.rebound, self_.context) - self_.in_place
            if not shared:
                self.check_captured(primal, free)
                self.free = free
                return primal
            self_.in_place |= shared

    def check_captured(self, primal: ir.Function, free: tuple[ir.Var, ...]) -> None:
        """Refuse a function that changes an array that it has captured."""
        if any(isinstance(s, ir.Store) for s in ir.walk(primal.body)):
            memory = Memory(primal, self.at.context.value, opaque=False)
            for var in filter(memory.is_buffer, free):
                raise error("S2S144", span=self.at.span, name=var.name.lstrip("%") or "an array")

    def check_unchanged(self, before: virtual_heap.Heap) -> None:
        """Refuse a function that changes a container or an object that it has captured."""
        heap = self.at.context.heap
        for cell, state in heap.states.items():
            origin = None if cell.origin is None else cell.origin.state
            base = before.states.get(cell, origin)
            if base is not None and state is not base and state != base:
                raise error("S2S144", span=cell.changed_at or self.at.span, name=cell.name)

    def check_separate(self, made: ir.Function, changed: list[str]) -> None:
        """An array that the function changes is given a copy of: where another argument shares memory with it, that
        would be seen to change, too. Refused when the program runs."""
        leaves = [leaf for leaf in self.leaves if isinstance(leaf.outer, ir.Var)]
        for leaf in leaves:
            if leaf.var.name in changed:
                known = self.at.context.value
                others = [a.outer for a in leaves if a is not leaf and isinstance(known(a.outer), (Array, Unknown))]
                others += [v for v in self.free if isinstance(known(v), (Array, Unknown))]
                given = [leaf.outer, *dict.fromkeys(others)]
                for other in given[1:]:
                    call = ir.Call(ir.Const(rt.check_apart), (given[0], other, ir.Const(leaf.var.name)))
                    self.at.builder.add(ir.Let(None, call, self.at.span))

    def run(self, made: ir.Function, given: list[ir.Atom]) -> ir.Atom:
        """Specialise a derivative in the place of the call, for these arguments."""
        env: dict[ir.Var, ir.Atom] = {var: var for var in made.captures}
        env |= {p.var: a for p, a in zip(made.params, [*self.free, *given], strict=True)}
        (result,) = self.at.specializer.run(made.body, self.frame(made, env), self.at.builder)
        return result

    def frame(self, made: ir.Function, env: dict[ir.Var, ir.Atom]) -> Frame:
        """The activation of a derivative."""
        at = self.at
        fn = self.at.specializer.function or at.frame.fn
        asked = (*at.frame.called_from, place_of(at.frame, at.span))
        return Frame(fn, None, env, asked, has_decided=True, **iterators.uses_of(made))

    def items(self, made: ir.Function, given: list[ir.Atom]) -> list[ir.Atom]:
        """The items of the tuple that a derivative gives."""
        found = self.at.items(self.run(made, given))
        assert found is not None
        return found


def _options(context: Context, fn: ir.Atom) -> tuple[tuple[str, Any], ...]:
    """The options of the function."""
    value = context.value(fn)
    f = value.value if isinstance(value, Known) else None
    return options_of(f)


def apply(at: At, asked: Asked, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A call of a gradient: its statements, and the atom of its result."""
    choice = _Choice(at, asked.fn, list(args), dict(kwargs))
    wanted = [choice.key(a) for a in ((asked.argnums,) if asked.single else asked.argnums)]
    arguments = _Arguments(at)
    names = [p.name for p in parameters(at.specializer, asked.fn) or () if p.positional]
    trees = [
        arguments.tree(a, names[k] if k < len(names) else "x", k in wanted) for k, a in enumerate(choice.args)
    ]
    named = {k: arguments.tree(a, k, k in wanted) for k, a in choice.kwargs.items()}
    chosen = [trees[k] if isinstance(k, int) else named[k] for k in wanted]
    for key, tree in zip(wanted, chosen, strict=True):
        _check_differentiable(at, asked.fn, key, tree)
    if not asked.is_gradient and not all(isinstance(tree, Leaf) for tree in chosen):
        construct = "a Jacobian by a container or an object, inside a function,"
        raise at.refusal("S2S101", construct=construct, hint=_APART)
    inner = _Inner(at, asked.fn, trees, named)
    made = inner.derivative(asked)
    outer = [leaf.outer for leaf in inner.leaves]
    if not asked.is_gradient:
        return inner.run(made, outer)
    items = inner.items(made, outer)
    gradients, rest = (items[0], items[1:]) if asked.mode == "grad" and asked.has_aux else (None, [])
    if asked.mode == "value_and_grad":
        rest, gradients = [items[0]], items[1]
    bars = items if gradients is None else at.items(gradients)
    assert bars is not None
    by_leaf = dict(zip((id(leaf) for leaf in inner.leaves if leaf.wanted), bars, strict=True))
    built = [_gradient(at, tree, by_leaf) for tree in chosen]
    result = built[0] if asked.single else making.new_list(at, built, tuple)
    if asked.mode == "value_and_grad":
        return making.new_list(at, (rest[0], result), tuple)
    return making.new_list(at, (result, *rest), tuple) if rest else result


_APART = "give its arrays as arguments of their own"


def _gradient(at: At, tree: Tree, bars: dict[int, ir.Atom]) -> ir.Atom:
    """The gradient of an argument, in its structure; None for what has none."""
    match tree:
        case Leaf():
            return bars.get(id(tree), ir.Const(None))
        case Fixed():
            return ir.Const(None)
        case Node(kind, keys, items):
            return together(at, kind, keys, [_gradient(at, item, bars) for item in items])


# --- vjp ------------------------------------------------------------------------------------------------------------


def take_vjp(site: CallSite) -> ir.Atom | None:
    """``s2s.vjp(f, *primals, has_aux=..., **kwargs)``: the result and the pullback, a nested function."""
    has_aux = _literal(site, site.kwargs.get("has_aux", ir.Const(False)))
    if not site.args or has_aux is _NOT_KNOWN:
        return None
    f, *primals = site.args
    named = {k: Fixed(a) for k, a in site.kwargs.items() if k != "has_aux"}
    arguments = _Arguments(site)
    names = [p.name for p in parameters(site.specializer, f) or () if p.positional]
    trees = [arguments.tree(a, names[k] if k < len(names) else "x", True) for k, a in enumerate(primals)]
    inner = _Inner(site, f, trees, dict(named))
    if not any(leaf.wanted for leaf in inner.leaves):
        raise site.refusal("S2S504", name=_name(site.context, f), argument="x",
                    kind="without floats", hint="give at least one float or array of floats by position")
    made = inner.derivative(Asked("vjp", f, None, has_aux, changes="" if has_aux else "returned"))
    out, pull, *aux = inner.items(made, [leaf.outer for leaf in inner.leaves])
    wanted = [leaf for leaf in inner.leaves if leaf.wanted]
    function = _pullback(_name(site.context, f), trees, {id(leaf): k for k, leaf in enumerate(wanted)})
    frame = inner.frame(made, {a: a for a in (pull, out) if isinstance(a, ir.Var)})
    checked = site.specializer.inliner.closure(function, (pull, out), (), frame, site.builder, site.span, "pullback")
    return making.new_list(site, (out, checked, *aux), tuple)


def _pullback(name: str, trees: list[Tree], places: dict[int, int]) -> ir.Function:
    """The function of a cotangent that gives those of the positional arguments, by the pullback of their parts."""
    statements: list[ir.Statement] = []

    def let(fn: Any, *args: ir.Atom) -> ir.Var:
        var = ir.Var("%", len(statements))
        statements.append(ir.Let(var, ir.Call(ir.Const(fn) if not isinstance(fn, ir.Var) else fn, args)))
        return var

    def bar(tree: Tree) -> ir.Atom:
        match tree:
            case Leaf():
                return let(operator.getitem, bars, ir.Const(places[id(tree)])) if id(tree) in places else ir.Const(None)
            case Fixed():
                return ir.Const(None)
            case Node(kind, keys, items):
                made = [bar(item) for item in items]
                if kind in (tuple, list):
                    return let(ops.make_tuple if kind is tuple else ops.make_list, *made)
                flat = [a for key, item in zip(keys, made, strict=True) for a in (ir.Const(key), item)]
                if issubclass(kind, dict):
                    return let(ops.make_dict, *flat)
                return let(kind, *made) if issubclass(kind, tuple) else let(rt.make_object, ir.Const(kind), *flat)

    cotangent, pull, out = ir.Var("cotangent"), ir.Var("pull"), ir.Var("out")
    bars = let(pull, let(rt.fit_cotangent, cotangent, out, ir.Const(name)))
    given = [bar(t) if any(id(leaf) in places for leaf in _leaves(t)) else ir.Const(None) for t in trees]
    result = let(ops.make_tuple, *given)
    return ir.Function("pullback", (ir.Param(cotangent),), ir.Block(tuple(statements), (result,)), (pull, out))


# --- jvp ------------------------------------------------------------------------------------------------------------


def take_jvp(site: CallSite) -> ir.Atom | None:
    """``s2s.jvp(f, primals, tangents, has_aux=..., **kwargs)``: the result and its tangent."""
    given = dict(zip(("f", "primals", "tangents", "has_aux"), site.args, strict=False)) | site.kwargs
    has_aux = _literal(site, given.pop("has_aux", ir.Const(False)))
    if not {"f", "primals", "tangents"} <= given.keys() or has_aux is _NOT_KNOWN:
        return None
    f = given.pop("f")
    primals, dots = (site.items(given.pop(k)) for k in ("primals", "tangents"))
    if primals is None or dots is None or len(primals) != len(dots):
        return None
    arguments = _Arguments(site)
    names = [p.name for p in parameters(site.specializer, f) or () if p.positional]
    trees = [
        arguments.tree(a, names[k] if k < len(names) else "x", site.value(dot) != Known(ir.Const(None)))
        for k, (a, dot) in enumerate(zip(primals, dots, strict=True))
    ]
    for k, (tree, dot) in enumerate(zip(trees, dots, strict=True)):
        _give_tangent(site, f, names[k] if k < len(names) else "x", tree, dot)
    inner = _Inner(site, f, trees, {k: Fixed(a) for k, a in given.items()})
    moved = [leaf for leaf in inner.leaves if leaf.wanted]
    if not moved:
        out = site.apply_atom(f, primals, dict(given))
        value, *aux = (site.items(out) or [out]) if has_aux else [out]
        zero = site.compute(rt.zeros_of, value)
        return making.new_list(site, (value, zero, *aux), tuple)
    made = inner.derivative(Asked("jvp", f, None, has_aux))
    tangents = [leaf.dot for leaf in moved if leaf.dot is not None]
    return inner.run(made, [*(leaf.outer for leaf in inner.leaves), *tangents])


def _give_tangent(at: At, fn: ir.Atom, name: str, tree: Tree, dot: ir.Atom) -> None:
    """Note the tangents of the parts of an argument; what has none does not move."""
    if at.value(dot) == Known(ir.Const(None)):
        for leaf in _leaves(tree):
            leaf.wanted = False
        return
    match tree:
        case Leaf():
            given = [dot, tree.outer, ir.Const(f"an argument of {_name(at.context, fn)}")]
            tree.dot = at.apply_atom(ir.Const(rt.fit_tangent), given, {})
        case Node(keys=keys, items=items):
            for key, item in zip(keys, items, strict=True):
                read: Any = getattr if not issubclass(tree.kind, (tuple, list, dict)) else operator.getitem
                part = at.apply(read, dot, ir.Const(key))
                _give_tangent(at, fn, name, item, part)
        case Fixed(atom):
            known = at.value(dot)
            if not (isinstance(known, Known) and known.value == 0) and not isinstance(at.value(atom), Known):
                raise at.refusal("S2S503", name=_name(at.context, fn), argument=name,
                            hint="give None as the tangent of what is no float")


# --- cotangents and tangents that are given -------------------------------------------------------------------------


def _fit(site: CallSite) -> ir.Atom | None:
    """A cotangent or tangent ``args[0]`` of ``args[1]``: as it is where kinds and shapes are known to be equal; tested
    when the program runs where they are not."""
    args = site.args
    given, like, _ = args
    known, mine = site.value(like), site.value(given)
    items = site.items(like) if _is_container(site.context, like) else None
    if items is not None:
        return _fit_items(site, site.fn, args, items)
    if isinstance(known, Known) and isinstance(known.value, (float, complex)):
        known = Scalar(type(known.value))
    if isinstance(known, Scalar) and isinstance(mine, Known) and isinstance(mine.value, (int, float)):
        if known.type is float:
            return ir.Const(float(mine.value))
    if mine == known and isinstance(mine, Scalar):
        return given
    if isinstance(mine, Array) and isinstance(known, Array) and mine.shape is not None and mine.shape == known.shape:
        if mine.dtype == known.dtype:
            return given
        if mine.dtype.kind != "c" and known.dtype.kind in "fc":
            return site.compute(rt.cast, given, like)
    known = UNKNOWN if site.context.is_virtual(like) else known
    given, like = site.builder.frozen(given), site.builder.frozen(like)
    call = ir.Call(ir.Const(site.fn), (given, like, args[2]))
    return site.builder.let(call, known, site.name, site.span, site.context.is_varied(given))


def _is_container(context: Context, atom: ir.Atom) -> bool:
    return cell_of(context, atom) is not None or isinstance(context.value(atom), (Sequence, Mapping))


def _fit_items(at: At, fn: Any, args: list[ir.Atom], items: list[ir.Atom]) -> ir.Atom:
    """A cotangent or tangent of a container, by its items."""
    given, like, name = args
    entries = at.entries(like)
    state = virtual_heap.state_of(at.context, like)
    known = at.value(like)
    kind = state.kind if state is not None else known.type if isinstance(known, Sequence) else dict
    keys = tuple(entries) if entries is not None and issubclass(kind, dict) else tuple(range(len(items)))
    own = at.items(given) if _is_container(at.context, given) else None
    if own is None or len(own) != len(keys):
        got = "something else" if own is None else f"a container of {len(own)}"
        code = "S2S505" if fn is rt.fit_cotangent else "S2S515"
        where: dict[str, Any] = {"span": at.span, "asked_by": at.frame.called_from}
        raise error(code, name=_text(name), got=got, expected=f"a {kind.__name__} of {len(keys)}", **where)
    made = []
    for key in keys:
        both = [
            at.apply(operator.getitem, a, ir.Const(key))
            for a in (given, like)
        ]
        made.append(at.apply(fn, *both, name))
    return together(at, kind, keys, made)


def _text(atom: ir.Atom) -> str:
    return str(atom.value) if isinstance(atom, ir.Const) else ""


# --- calls that are decided when the program runs -------------------------------------------------------------------


def _call_again(site: CallSite) -> ir.Atom | None:
    """``rt.call(f, *args)`` in a derivative that is differentiated: the call, whose pullback nothing reads there
    (``pairs``)."""
    args, kwargs = site.args, site.kwargs
    if not any(map(site.context.is_varied, (*args, *kwargs.values()))):
        return None
    if site.fn is rt.call_method:
        method = site.apply_atom(ir.Const(getattr), args[:2], {})
        out = site.result_of_atom(method, args[2:], dict(kwargs))
    else:
        out = site.result_of_atom(args[0], args[1:], dict(kwargs))
    return making.new_list(site, (out, ir.Const(repeated_calls.lost_pullback)), tuple)


def _lost(site: CallSite) -> ir.Atom:
    """Refuse to call a pullback of which the derivative is not known."""
    raise site.refusal("S2S210", name="a pullback that is called")


def _pull_again(site: CallSite) -> ir.Atom:
    """The cotangents of such a call: found when the program runs, and differentiated there."""
    return site.call(site.fn, site.args).leave()


def _read_pulled(site: CallSite) -> ir.Atom | None:
    """One of the cotangents of a call."""
    if not site.context.is_varied(site.args[0]):
        return None
    return site.write(operator.getitem, *site.args)


def _push_again(site: CallSite) -> ir.Atom | None:
    """``rt.push(f, name, values, dots, keys)`` in a derivative that is differentiated."""
    args = site.args
    name, keys = args[1], site.items(args[4])
    if name != ir.Const(None) or keys != [] or not any(map(site.context.is_varied, args)):
        return None
    made = [args[0], *map(site.builder.frozen, args[2:4])]
    return site.call(repeated_calls.tangent_of_call, made).leave()


def _make_object(site: CallSite) -> ir.Atom | None:
    """``rt.make_object(cls, name, value, ...)``: an object on the heap."""
    args = site.args
    if not all(isinstance(a, ir.Const) for a in (args[0], *args[1::2])):
        return None
    names = tuple(a.value for a in args[1::2] if isinstance(a, ir.Const))
    return making.new(site, State(args[0].value, names, tuple(args[2::2])))  # type: ignore[union-attr]


# --- stores that only derivatives have --------------------------------------------------------------------------------


def store(at: At, statement: ir.Store, target: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
    """A store that no source has: of a whole array, and one in which an item that comes twice takes both. What a call
    may change is noted where the call is left."""
    if statement.kind == "whole":
        if not isinstance(at.value(target), Array):
            name = target.name.lstrip("%") if isinstance(target, ir.Var) else ""
            raise at.refusal("S2S112", name=name or "an array")
        change_whole(at, target, value, statement.op)
    elif statement.kind == "at":
        store_item(at, target, key, value, statement.op, "at")


# --- what the specialiser asks for ----------------------------------------------------------------------------------


def _followed(site: CallSite) -> ir.Atom | None:
    """What is written in terms of other transforms is followed."""
    return site.inline(model_of(site.fn), site.args, site.kwargs)


HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(MAKERS, make), "vjp": take_vjp, "jvp": take_jvp,
    **dict.fromkeys(("hessian", "hvp", "vhp", "linearize", "map"), _followed),
    rt.fit_cotangent: _fit, rt.fit_tangent: _fit, rt.make_object: _make_object, rt.call: _call_again,
    rt.call_method: _call_again, repeated_calls.lost_pullback: _lost, repeated_calls.cotangents_of_call: _pull_again,
    repeated_calls.cotangents_of_method: _pull_again,
    rt.pulled: _read_pulled, rt.push: _push_again,
}
"""What stands for a call of a public function, by its role, that takes a derivative, or makes a function that does; and
for the tests of what is given to such a function."""


def refuse(*_: Any) -> Any:
    """The sweeps of a specialiser that has none: of rules, whose bodies take no derivatives."""
    raise AssertionError("a rule takes no derivative")
