"""Forward mode: a function in SSA form -> the same function with the tangents of its variables.

    h = np.tanh(W @ x)              t0 = W @ x
    y = h * h              ->       h = np.tanh(t0)
                                    h_dot = (1.0 - h * h) * (W_dot @ x)
                                    y = h * h
                                    y_dot = 2.0 * h * h_dot

The tangent of a statement stands beside it. A variable that no differentiated input reaches has none, which stands for
zero; zeros are made where paths join. The tangent of an array may be *compact*, as a cotangent may (``cotangents``).

Arrays that are changed in place have tangents with the same aliasing: what is a view of another array has the same view
of its tangent, and each store is done to both.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis import layout
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.numbers import ANY_FLOAT, ANY_SCALAR
from s2s.analysis.abstract.parts import Path, has_cotangent, leaves, part
from s2s.analysis.memory import Memory
from s2s.analysis.raising import is_check
from s2s.analysis.reading import Reading
from s2s.analysis.unassigned import going_into
from s2s.builder import cotangents
from s2s.builder.builder import Builder, Context, has_zero_derivative
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.inspection import is_hashable, public_module
from s2s.core.public import key_of
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Range,
    Ref,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.errors import error, result_is_changed
from s2s.forward import operations, stores
from s2s.forward.containers import hand_on, structure
from s2s.reverse import stacks, user_rules
from s2s.reverse.structural import is_spread, is_structural
from s2s.rules import table
from s2s.specialize.calls.functions import LOOKED_THROUGH
from s2s.specialize.rule_bodies import RuleBodies

Key = tuple[ir.Var, Path]


class Forwarder:
    """Writes a function with its tangents; where there are ``many`` of each, with all operations, for ``batch``."""

    def __init__(
        self, context: Context, specializer: Any, primal: ir.Function, options: dict[str, Any], many: bool = False
    ) -> None:
        self.context = context
        self.specializer = specializer
        self.bodies = RuleBodies(context, specializer, follows=(lambda atom: True) if many else None)
        self.primal = primal
        self.is_inner = bool(options.get("inner"))
        self.memory = Memory(primal, context.value)
        self.shows_layout = layout.shows(primal, self.memory)
        self.reading = Reading(primal, self.memory)
        self.builder = Builder(context)
        found = going_into(primal.body, context.is_varied)
        self.unassigned = {v for v in found if not is_number(context.value(v))}
        """Variables that have no value on some path. What they hold goes into a join with what has a tangent, where
        zeros could not be made of them: so they have zeros where they are assigned."""
        self.dots: dict[Key, ir.Atom] = {}
        self.owned: set[ir.Atom] = set()
        self.unclear: dict[Key, Exception] = {}
        """What is raised where the tangent of a leaf is asked for that is known only to what looks through it."""
        self.stacks: dict[ir.Var, ir.Var] = {}
        context.changed |= {v for root in self.memory.changed for v in self.memory.members[root]}

    def forward(self, given: dict[Key, ir.Atom], builder: Builder) -> tuple[ir.Atom, ir.Atom]:
        """Write the body for tangents of parameters; the result and its tangent, zeros where it has none."""
        self.builder = builder
        self.dots |= given
        self._keep_checks()
        outer, self.context.reading = self.context.reading, self.reading
        try:
            self.block(self.primal.body)
        finally:
            self.context.reading = outer
        self.reading.check()
        result = self.primal.body.yields[0]
        for path, known in leaves(self.context.value(result)):
            if is_number(known) and isinstance(result, ir.Var):
                dot = self.dot(result, path)
                self.dots[result, path] = cotangents.of_kind(builder, ir.Const(0.0) if dot is None else dot, known)
        return result, self.whole(result, None)

    def _keep_checks(self) -> None:
        """What may raise and has no tangent stays; what has one raises there, too."""
        for s in ir.walk(self.primal.body):
            if isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Call):
                if not self.context.is_varied(s.target) and is_check(s.target, s.value, self.context.value):
                    self.context.must_keep.add(s.target)

    def leaf_of(self, dot: ir.Atom, path: Path, builder: Builder) -> ir.Atom:
        """The part of a given tangent for a leaf."""
        self.builder = builder
        return self.read(dot, path, None)

    def block(self, block: ir.Block) -> None:
        """The statements of a block, each with its tangent."""
        around = self.reading.now
        for s in block.statements:
            self.reading.now = id(s)
            match s:
                case ir.Let(target, value, span):
                    self.let(s, target, value, span)
                case ir.Store():
                    stores.store(self, s)
                case ir.If():
                    self.branch(s)
                case ir.For() | ir.While():
                    self.loop(s)
                case ir.With():
                    (body,) = self.inside(ir.blocks_of(s))
                    self.builder.add(ir.with_blocks(s, [body]))
                case ir.Try():
                    self.attempt(s)
                case ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                    self.builder.add(s)
                case _:
                    assert_never(s)
        self.reading.now = around

    def inside(self, blocks: tuple[ir.Block, ...]) -> list[ir.Block]:
        """Blocks with their tangents, and what they yield as it is."""
        made = []
        for block in blocks:
            outer, self.builder = self.builder, self.builder.child()
            self.block(block)
            made.append(self.builder.block(*block.yields))
            self.builder = outer
        return made

    # --- tangents of variables

    def dot(self, atom: Any, path: Path = ()) -> ir.Atom | None:
        """The tangent of a leaf of a variable; None for zero."""
        stacks.check_none(self.context, atom)
        if (atom, path) in self.unclear:
            raise self.unclear[atom, path]
        return self.dots.get((atom, path)) if isinstance(atom, ir.Var) else None

    def leave_unclear(self, var: ir.Var, problem: Exception) -> None:
        """Give a variable no tangent: who asks for one, of whatever part, raises this."""
        self.unclear |= {(var, path): problem for path in ((), *(p for p, _ in leaves(self.context.value(var))))}

    def is_active(self, atom: Any) -> bool:
        """Whether some leaf of a value has a tangent."""
        stacks.check_none(self.context, atom)
        return isinstance(atom, ir.Var) and any(
            (atom, path) in self.dots or (atom, path) in self.unclear for path, _ in leaves(self.context.value(atom))
        )

    def name(self, var: ir.Var) -> str:
        """What the tangent of a variable is called."""
        return f"{self.context.name_of(var)}_dot"

    def put(self, var: ir.Var, path: Path, dot: ir.Atom) -> None:
        """Give a leaf of a variable its tangent."""
        if not path and dot not in self.dots.values():
            dot = self.context.renamed(self.builder, dot, self.name(var))
        if isinstance(dot, ir.Var):
            if dot.is_temporary and not path and self.context.name_of(var) != "%":
                self.context.names[dot] = self.name(var)
            known = part(self.context.value(var), path)
            if is_number(known) and isinstance(self.context.value(dot), Unknown):
                # a number: with an array it has to be stretched
                is_real = isinstance(known, Scalar) and issubclass(known.type, (float, int))
                self.context.values[dot] = ANY_FLOAT if is_real else ANY_SCALAR
        self.dots[var, path] = dot

    def put_all(self, var: ir.Var, made: ir.Atom, span: ir.Span | None) -> None:
        """Give a variable its tangent, which has the structure of its value."""
        known = self.context.value(var)
        if isinstance(known, Unknown) and not isinstance(self.context.value(made), (Array, Scalar, Known)):
            self.put(var, (), self.builder.call(rt.tangent_like, made, var, span=span))
            return
        if not isinstance(known, (Sequence, Mapping)):
            self.put(var, (), cotangents.in_precision(self.builder, made, var, known, span))
            return
        for path, value in leaves(known):
            dot = self.read(made, path, span)
            dot = cotangents.in_precision(self.builder, dot, self.read(var, path, span), value, span)
            self.put(var, path, dot)

    def read(self, atom: ir.Atom, path: Path, span: ir.Span | None) -> ir.Atom:
        """The part of a container that a path leads to."""
        for key in path:
            atom = self.builder.call(operator.getitem, atom, ir.Const(key), span=span)
        return atom

    def zero(self, atom: ir.Atom, path: Path, span: ir.Span | None) -> ir.Atom:
        """A zero tangent for a leaf of a value."""
        value = part(self.context.value(atom), path)
        if is_number(value):
            return ir.Const(0.0)
        like = self.read(atom, path, span)
        fn = np.zeros_like if isinstance(value, Array) and value.dtype.kind in "fc" else rt.zeros_of
        return cotangents.made_like(self.builder, fn, like, span=span)

    def full(self, atom: ir.Atom, path: Path, span: ir.Span | None) -> ir.Atom:
        """The tangent of a leaf in the shape of the leaf; zeros where it has none."""
        dot = self.dot(atom, path)
        if dot is None:
            return self.zero(atom, path, span)
        if not path and self.memory.is_buffer(atom) and not is_number(self.context.value(dot)):
            return dot  # an array that is changed where the other is
        return cotangents.full(self.builder, dot, self.read(atom, path, span), span)

    def whole(self, atom: ir.Atom, span: ir.Span | None, path: Path = (), numeric: bool = False) -> ir.Atom:
        """The tangent of a value, or of a part of it, with its structure; zeros where it has none, with ``numeric`` for
        booleans too."""
        value = part(self.context.value(atom), path)
        match value:
            case Sequence(kind, items) if kind is not slice:
                made = [self.whole(atom, span, (*path, k), numeric) for k in range(len(items))]
                if kind in (tuple, list):
                    return self.builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made, span=span)
                return self.builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN, span=span)
            case Mapping(keys):
                flat: list[ir.Atom] = []
                for key in keys:
                    flat += [ir.Const(key), self.whole(atom, span, (*path, key), numeric)]
                return self.builder.call(ops.make_dict, *flat, span=span)
            case (
                Known() | Scalar() | Array() | Sequence() | ListOf() | Range() | Closure() | Ref() | Object() |
                Instance() | Same() | Unknown()
            ):
                if numeric and _is_boolean(value):
                    return self._zeros_of_booleans(atom, path, value, span)
                return self.full(atom, path, span) if has_cotangent(value) else ir.Const(None)
            case _:
                assert_never(value)

    def _zeros_of_booleans(
        self, atom: ir.Atom, path: Path, value: AbstractValue, span: ir.Span | None
    ) -> ir.Atom:
        """Zeros in the place of booleans that a function puts beside numbers."""
        if not isinstance(value, Array):
            return ir.Const(0.0)
        return self.builder.call(np.zeros_like, self.read(atom, path, span), ir.Const(float), span=span)

    # --- assignments

    def let(self, s: ir.Let, target: ir.Var | None, value: ir.Value, span: ir.Span | None) -> None:
        """``target = value`` and its tangent."""
        if isinstance(value, ir.Call) and stacks.tangent(self, s, value):
            return
        if isinstance(value, ir.Call) and self.is_decided_later(target, value):
            assert target is not None
            if _makes_exception(value):
                self.builder.add(s)
                self.leave_unclear(target, error("S2S208", span=span, name="args"))
            else:
                self.push(target, value, span)
            return
        self.builder.add(s)
        if target is None or not self.context.is_varied(target):
            return
        if isinstance(value, ir.Var):
            hand_on(self, target, (), value, ())
        elif isinstance(value, ir.Call):
            self.call(target, value, span)
        stores.own(self, target, span)

    def call(self, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
        """The tangent of the result of a call with a rule."""
        assert isinstance(value.fn, ir.Const)
        fn = value.fn.value
        if is_structural(fn):
            structure(self, fn, target, value, span)
            return
        looked_through = key_of(fn) in LOOKED_THROUGH and fn is not getattr
        if looked_through:  # it is followed where it is used
            self.leave_unclear(target, error("S2S210", span=span, name=fn.__name__))
            return
        active = [a for a in ir.atoms_of(value) if self.is_active(a)]
        is_of_function = fn is getattr and isinstance(self.context.value(value.args[0]), Closure)  # type: ignore[arg-type]
        if not active and not is_of_function:
            return
        if fn is getattr:
            self.attribute(target, value, span)
            return
        rule = table.find(fn)
        if rule is None or rule.kind == "zero" or has_zero_derivative(self.context, fn, value.args):  # type: ignore[arg-type]
            return
        if rule.kind == "refuse":
            self.leave_unclear(target, error("S2S202", span=span, name=rule.name, reason=rule.reason))
        elif rule.kind in ("partials", "straight_through"):
            operations.elementwise(self, rule, target, value, span)
        elif rule.kind == "several":
            operations.several(self, rule, target, value, span)
        elif rule.kind == "custom":
            user_rules.forward(self, rule, target, value, span)
        elif rule.kind == "linear":
            operations.linear(self, rule, target, value, span)
        else:
            operations.by_tangent(self, rule, target, value, span)

    def attribute(self, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
        """The tangent of an attribute: ``x.T`` is ``np.transpose(x)``."""
        receiver, name = value.args[:2]
        if has_zero_derivative(self.context, getattr, value.args):  # type: ignore[arg-type]
            return
        known = self.context.value(receiver)  # type: ignore[arg-type]
        fn = table.ATTRIBUTES.get(name.value) if isinstance(name, ir.Const) else None
        if fn is None:  # a method, to be called; refused where it is read otherwise
            shown = str(name).strip("'") if isinstance(name, ir.Const) else "..."
            self.leave_unclear(target, error("S2S208", span=span, name=shown))
            return
        if isinstance(known, Array):  # the same attribute of the tangent: a view where that of the array is one
            made = self.builder.call(getattr, self.full(receiver, (), span), name, span=span)  # type: ignore[arg-type]
            self.put(target, (), made)
            return
        self.call(target, ir.Call(ir.Const(fn), (receiver,)), span)

    # --- calls decided at run time

    def is_decided_later(self, target: ir.Var | None, value: ir.Call) -> bool:
        """Whether a call gives its tangent when it runs."""
        if target is None or not (self.context.is_varied(target) or target in self.context.effects):
            return False
        if not isinstance(value.fn, ir.Const):
            return True
        fn = value.fn.value
        if user_rules.runs_once(self, target, value):
            return True
        if is_spread(value):
            return True
        looked_through = is_hashable(fn) and key_of(fn) in LOOKED_THROUGH
        return not looked_through and not is_structural(fn) and not table.is_settled(fn)

    def push(self, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
        """``y, y_dot = rt.push(f, (x,), (x_dot,), {})``."""
        fn = value.fn
        is_own = isinstance(fn, ir.Const) and public_module(fn.value) in (ops.__name__, rt.__name__)
        if is_own and table.find(fn.value) is None:  # type: ignore[union-attr]
            raise error("S2S210", span=span, name=fn.value.__name__)  # type: ignore[union-attr]
        if self.memory.is_buffer(target):
            raise result_is_changed(target.name.lstrip("%"), span)
        args: list[Any] = [*value.args]
        name: ir.Atom = ir.Const(None)
        if self.context.is_varied(fn):
            made = self.context.method_of(fn, span)
            args, name, fn = [made[0], *args], made[1], ir.Const(None)
        builder, names = self.builder, [ir.Const(k) if k is not None else ir.Star(a) for k, a in value.kwargs]
        every = [*args, *(self._named(k, a, span) for k, a in value.kwargs)]
        dots = [self._pushed(a, span) for a in every]
        keys = self._tuple_of(names, span)
        values, tangents = (self._tuple_of(items, span) for items in (every, dots))
        call = ir.Call(ir.Const(rt.push), (fn, name, values, tangents, keys))
        pair = builder.let(call, UNKNOWN, span=span)
        builder.add(ir.Let(target, ir.Call(ir.Const(operator.getitem), (pair, ir.Const(0))), span))
        second = builder.let(ir.Call(ir.Const(operator.getitem), (pair, ir.Const(1))), UNKNOWN, span=span)
        if self.context.is_varied(target):
            self.put_all(target, second, span)

    def _named(self, key: str | None, argument: ir.Atom, span: ir.Span | None) -> Any:
        """An argument by keyword; those of ``**options``, which are not differentiated."""
        if key is not None:
            return argument
        if self.is_active(argument):
            raise error("S2S210", span=span, name="arguments by keyword")
        return ir.Star(self.builder.call(dict.values, argument, span=span))

    def _pushed(self, argument: Any, span: ir.Span | None) -> Any:
        """The tangent of an argument, None for zero; ``*tangents`` of ``*args``."""
        if not isinstance(argument, ir.Star):
            return self.whole(argument, span) if self.is_active(argument) else ir.Const(None)
        if self.is_active(argument.atom):
            return ir.Star(self.whole(argument.atom, span))
        return ir.Star(self.builder.call(rt.without_tangents, argument.atom, span=span))

    def _tuple_of(self, items: list[Any], span: ir.Span | None) -> ir.Atom:
        if any(isinstance(item, ir.Star) for item in items):
            return self.builder.let(ir.Call(ir.Const(ops.make_tuple), tuple(items)), UNKNOWN, span=span)
        return self.builder.call(ops.make_tuple, *items, span=span)

    # --- control flow

    def branch(self, s: ir.If) -> None:
        """An ``if`` whose results have tangents as more results."""
        sides = []
        for block in (s.then, s.orelse):
            outer, self.builder = self.builder, self.builder.child()
            self.block(block)
            sides.append(self.builder)
            self.builder = outer
        yields = [list(s.then.yields), list(s.orelse.yields)]
        more = self.joined(s.results, yields, sides, s.span)
        blocks = [side.block(*y) for side, y in zip(sides, yields, strict=True)]
        self.builder.add(ir.replace(ir.with_blocks(s, blocks), results=(*s.results, *more)))

    def attempt(self, s: ir.Try) -> None:
        """A ``try`` whose results have tangents as more results."""
        for handler in s.handlers:
            if handler.name is not None and self.context.is_varied(handler.name):
                self.leave_unclear(handler.name, error("S2S208", span=handler.span, name="args"))
        blocks = list(ir.blocks_of(s))
        builders = []
        for block in blocks:
            outer, self.builder = self.builder, self.builder.child()
            self.block(block)
            builders.append(self.builder)
            self.builder = outer
        sides = ir.sides_of(s)
        giving = [k for k, block in enumerate(blocks) if any(block is side for side in sides)]
        yields = [list(blocks[k].yields) for k in giving]
        more = self.joined(s.results, yields, [builders[k] for k in giving], s.span)
        made = [b.block(*block.yields) for b, block in zip(builders, blocks, strict=True)]
        for k, y in zip(giving, yields, strict=True):
            made[k] = builders[k].block(*y)
        self.builder.add(ir.replace(ir.with_blocks(s, made), results=(*s.results, *more)))

    def has_tangent(self, var: ir.Var) -> bool:
        """Whether a variable in which paths meet has a tangent."""
        return self.context.is_varied(var) or var in self.unassigned

    def joined(
        self, results: tuple[ir.Var, ...], yields: list[list[ir.Atom]], sides: list[Builder], span: ir.Span | None
    ) -> list[ir.Var]:
        """The tangents of variables that are one thing or another, as further results; ``yields`` get what each side
        gives for them."""
        more = []
        for k, result in enumerate(results):
            if not self.has_tangent(result):
                continue
            atoms = [y[k] for y in yields]
            for path, known in _joined_leaves(self.context.value(result)):
                if result not in self.unassigned and all(self.dot_of(a, path) is None for a in atoms):
                    continue
                for side, y, atom in zip(sides, yields, atoms, strict=True):
                    outer, self.builder = self.builder, side
                    y.append(self.at_join(atom, path, span, known))
                    self.builder = outer
                found = self.context.define(self.name(result), known)
                self.dots[result, path] = found
                if self.memory.is_buffer(result):
                    stores.note_changed(self, found)
                more.append(found)
        return more

    def dot_of(self, atom: ir.Atom, path: Path) -> ir.Atom | None:
        """The tangent of a leaf, also where the value is known less precisely on the side that gives it."""
        while True:
            found = self.dot(atom, path)
            if found is None and isinstance(part(self.context.value(atom), path), (Sequence, Mapping)):
                found = next((d for (var, at), d in self.dots.items() if var == atom and at[: len(path)] == path), None)
            if found is not None or not path:
                return found
            path = path[:-1]

    def at_join(self, atom: ir.Atom, path: Path, span: ir.Span | None, kind: AbstractValue) -> ir.Atom:
        """The tangent of a leaf as it goes into a join, after which it is of a kind: in the shape of the leaf, zeros
        where it has none."""
        known = self.context.value(atom)
        if atom == ir.UNDEFINED or known == Known(ir.UNDEFINED):
            return ir.UNDEFINED
        if isinstance(part(known, path), (Sequence, Mapping)):
            return self.whole(atom, span, path)
        return cotangents.of_kind(self.builder, self.full(atom, path, span), kind)

    def loop(self, s: ir.For | ir.While) -> None:
        """A loop that carries the tangents of what it carries."""
        carried, spots = list(s.carried), []
        for k, c in enumerate(s.carried):
            if not self.has_tangent(c.param) and not self.has_tangent(c.result):
                continue
            for path, known in _joined_leaves(self.context.value(c.param)):
                init = ir.Const(0.0) if c.init == ir.UNDEFINED else self.at_join(c.init, path, s.span, known)
                param = self.context.define(self.name(c.param), known)
                after = cotangents.at_join(part(self.context.value(c.result), path))
                result = self.context.define(self.name(c.result), after)
                carried.append(ir.Carried(param, init, result))
                self.dots[c.param, path] = param
                if self.memory.is_buffer(c.param):
                    self.context.changed |= {param, result}
                spots.append((k, path, c.result, result, known))
        outer, self.builder = self.builder, self.builder.child()
        self.block(s.body)
        yields = [*s.body.yields]
        for k, path, _, _, known in spots:
            yields.append(self.at_join(s.body.yields[k], path, s.span, known))
        body = self.builder.block(*yields)
        self.builder = outer
        for _, path, var, result, _ in spots:
            self.dots[var, path] = result
        self.builder.add(ir.replace(s, body=body, carried=tuple(carried)))


def _is_boolean(value: AbstractValue) -> bool:
    """Whether a value is a boolean, or an array of them."""
    if isinstance(value, Known):
        return isinstance(value.value, bool)
    if isinstance(value, Scalar):
        return value.type in (bool, np.bool_)
    return isinstance(value, Array) and value.dtype.kind == "b"


def _joined_leaves(value: AbstractValue) -> Iterator[tuple[Path, AbstractValue]]:
    return ((path, cotangents.at_join(known)) for path, known in leaves(value))


def _makes_exception(value: ir.Call) -> bool:
    """Whether it is a call of the class of an exception: what it holds is refused where it is read."""
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    return isinstance(fn, type) and issubclass(fn, BaseException)


__all__ = ["Forwarder"]
