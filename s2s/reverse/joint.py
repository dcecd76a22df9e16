"""A primal in, the joint adjoint out: forward sweep, reverse sweep, and what was asked for as the result.

    def f(x): y = x * x; return y       ->      def f_grad(x): y = x * x; x_bar = 2.0 * x; return x_bar
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import shape_of
from s2s.analysis.abstract.parts import Path, leaves, part
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.inspection import with_article
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
from s2s.errors import error, no_scalar
from s2s.frontend.lowering.functions import LAMBDA
from s2s.optimize.checking import refused, sound
from s2s.optimize.passes import PULLBACK, run_passes
from s2s.optimize.rewriting import free_variables
from s2s.reverse.gradients import Gradients, read_part
from s2s.reverse.inserted import passed_on
from s2s.reverse.sweeps import Reversal, Reverser
from s2s.specialize.checkpoints import asked, plain, repeated, ungrouped
from s2s.specialize.specializer import Specializer
from s2s.versions.request import Request

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder

__all__ = ["Joint", "Mode", "joined"]

Mode: TypeAlias = "Callable[[Joint, ir.Function, ir.Atom | None], ir.Function]"
"""How the sweeps are put together in one mode: the primal and the auxiliary result go in."""

_SCALAR_HINT = "reduce the result to one float (np.sum), or use s2s.vjp with a cotangent of the result's shape"


def joined(joint: Joint) -> ir.Function:
    """The sweeps; for a validator first as the rules say, without the arithmetic of cotangents."""
    context, stages = joint.context, joint.context.stages
    if stages is None:
        return joint.build()
    stages.primal, stages.tangent = joint.primal, joint.tangent
    before, context.naive, context.stages = context.naive, True, None
    try:
        naive = joint.build()
    finally:
        context.naive, context.stages = before, stages
    context.passed("differentiate", joint.primal, naive)
    made = joint.build()
    context.passed("cotangents", naive, made, exact=False)
    stages.varied = stages.varied or frozenset(context.varied)  # in forward mode nothing was reversed
    return made


class Joint:
    """Puts forward sweep, reverse sweep and result together. ``modes`` has the modes that push tangents, or pull many
    cotangents."""

    def __init__(
        self, context: Context, specializer: Specializer, primal: ir.Function, request: Request,
        modes: dict[str, Mode], shared: dict[str, str], arguments: dict[str, AbstractValue],
    ) -> None:
        self.arguments = arguments
        self.context = context
        self.specializer = specializer
        self.primal = primal
        self.request = request
        self.modes = modes
        self.params = {p.var.name: p.var for p in primal.params}
        self.params |= {name: self.params[other] for name, other in shared.items()}

    def build(self) -> ir.Function:
        """The function with its sweeps, and what was asked for as its result."""
        before, self.specializer.sweeping = self.specializer.sweeping, True
        try:
            return passed_on(self._build(), self.context)
        except ir.BrokenIR as problem:
            raise refused(problem, self.primal) from None
        finally:
            self.specializer.sweeping = before

    def _build(self) -> ir.Function:
        primal, aux = self._split_aux()
        if self.request.mode == "vjp":
            return self.with_pullback(primal, aux)
        if self.request.mode in self.modes:
            self._check_numbers(primal)
            return self.modes[self.request.mode](self, primal, aux)
        self._check_scalar(primal)
        reversal = self.reverse(primal, ir.Const(1.0), repeatable=False)
        builder = Builder(self.context)
        builder.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
        value = primal.body.yields[0]
        if isinstance(self.context.value(value), Unknown):
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_scalar), (value, ir.Const(_shown_name(primal))))))
        if aux is not None and reversal.rewinds:
            aux = self._copied(builder, aux)
        if self.request.mode == "value_and_grad" and reversal.rewinds and self._may_be_view(value):
            value = self._copied(builder, value)
        builder.statements += [ir.Note("reverse sweep", "reverse"), *reversal.reverse]
        made = self.gradients(builder, reversal.bars)
        gradient = made[0] if self.request.single else builder.call(ops.make_tuple, *made)
        out = value if aux is None else builder.call(ops.make_tuple, value, aux)
        if self.request.mode == "grad":
            result = gradient if aux is None else builder.call(ops.make_tuple, gradient, aux)
        else:
            result = builder.call(ops.make_tuple, out, gradient)
        return ir.replace(primal, body=builder.block(result))

    def _may_be_view(self, value: ir.Atom) -> bool:
        """Whether a result of rank 0 may be an array, and so an item of one: NumPy's items are numbers."""
        known = self.context.value(value)
        return isinstance(known, Array) or (isinstance(known, Unknown) and self.context.evaluator.keeps_arrays)

    def _copied(self, builder: Builder, atom: ir.Atom) -> ir.Atom:
        """A value whose arrays stay what they are when the reverse sweep gives others back what they held before."""
        match self.context.value(atom):
            case Array():
                return builder.call(np.copy, atom)
            case Sequence(kind, items) if kind in (tuple, list):
                parts = [builder.call(operator.getitem, atom, ir.Const(k)) for k in range(len(items))]
                copies = [self._copied(builder, part) for part in parts]
                return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *copies)
            case Known() | Scalar():
                return atom
            case (
                Sequence() | Mapping() | ListOf() | Range() | Closure() | Ref() | Object() | Instance() | Same() |
                Unknown()
            ):
                return builder.let(ir.Call(ir.Const(copy.deepcopy), (atom,)), UNKNOWN)
            case _:
                assert_never(self.context.value(atom))

    def tangents_of_parts(
        self, param: ir.Var, path: Path, dot: ir.Atom, forwarder: Forwarder, builder: Builder
    ) -> dict[tuple[ir.Var, Path], ir.Atom]:
        """The tangents of what is read from an argument with objects in it, by the tangent of the argument."""
        given = {}
        for (argument, place), var in self.context.inputs.items():
            if argument == param and place[: len(path)] == path:
                read, known = dot, part(self.arguments[param.name], path)
                for key in place[len(path) :]:
                    read, known = read_part(builder, read, known, key), part(known, (key,))
                for rest, _ in leaves(self.context.value(var)):
                    given[var, rest] = forwarder.leaf_of(read, rest, builder)
        return given

    def with_pullback(self, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
        value = primal.body.yields[0]
        name, taken = "out_bar", {*self.context.counters, *self.context.names.values()}
        while name in taken:  # the pullback's parameter must not hide a variable that it reads
            name += "_"
        seed = self.context.define(name, self.context.value(value))
        reversal = self.reverse(primal, seed, repeatable=True)
        forward, inner = reversal.forward, Builder(self.context)
        if reversal.rewinds and asked(self.context, primal.body):
            # the same, but what runs again is given what the first run was given
            primal = repeated(primal, self.context)
            value = primal.body.yields[0]
            reversal = self.reverse(primal, seed, repeatable=True)
            forward = reversal.forward
        elif reversal.rewinds:
            # undoing stores changes what the caller got, and can be done once: the pullback runs both sweeps
            reversal = self.reverse(primal, seed, repeatable=False)
            forward = plain(self.context, primal.body)
            inner.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
        inner.statements += [ir.Note("reverse sweep", "reverse"), *reversal.reverse]
        bars = self.gradients(inner, reversal.bars)
        result = inner.call(ops.make_tuple, *bars)
        pullback = ir.Function("pullback", (ir.Param(seed),), inner.block(result))

        def whole(pullback: ir.Function) -> ir.Function:
            pullback = self.with_own_loads(pullback)
            captures = tuple(free_variables(pullback))
            made = ir.MakeFunction(ir.replace(pullback, captures=captures), captures)
            outer = Builder(self.context)
            outer.statements += [ir.Note("forward sweep", "forward"), *forward.statements]
            pull = outer.let(made, UNKNOWN, "pullback")
            items = [value, pull] if aux is None else [value, pull, aux]
            return ir.replace(primal, body=outer.block(outer.call(ops.make_tuple, *items)))

        pullback = run_passes(PULLBACK, pullback, self.context, inside=whole)
        return whole(sound(pullback, self.context, {}))

    def tangent(self) -> ir.Function:
        """The function in forward mode, for a validator."""
        request = Request("jvp", self.request.wrt, False, self.request.has_aux, self.request.options)
        primal = ungrouped(self.primal)
        primal = ir.replace(primal, body=plain(self.context, primal.body))
        made = Joint(self.context, self.specializer, primal, request, self.modes, {}, self.arguments)
        made.params = self.params
        return made.build()

    def reverse(self, primal: ir.Function, seed: ir.Atom, repeatable: bool) -> Reversal:
        """Both sweeps. Which stores have to be undone shows when the reverse sweep is written, so it may be written
        more than once."""
        wrt = list(dict.fromkeys(self.params[p[0]] for p in self.request.wrt))
        wrt += [var for (param, _), var in self.context.inputs.items() if param in wrt]
        options = dict(self.request.options)
        undone: frozenset[int] = frozenset()
        repeated: frozenset[frozenset[int]] = frozenset()
        given_back: frozenset[ir.Var] = frozenset()
        while True:
            reverser = Reverser(
                self.context, self.specializer, primal, repeatable, options, undone, repeated, given_back)
            reversal = reverser.reverse(seed, wrt)
            settled = reversal.to_undo <= undone and reversal.to_repeat <= repeated
            if settled and reversal.to_give_back <= given_back:
                reverser.reading.check()
                reversal.to_undo = set(undone)
                if self.context.stages is not None:
                    self.context.stages.decisions = tuple(reversal.plan.decisions.values())
                    self.context.stages.varied = frozenset(self.context.varied)
                    self.context.stages.sharing = reverser.placement.sharing
                reversal.rewinds = reversal.rewinds or bool(undone)
                return reversal
            undone |= reversal.to_undo
            repeated |= reversal.to_repeat
            given_back |= reversal.to_give_back

    def gradients(self, builder: Builder, bars: dict[tuple[ir.Var, Path], ir.Atom]) -> list[ir.Atom]:
        """The cotangents of what is differentiated, each in the structure of its argument."""
        span = None if self.primal.name.startswith("%") else self.primal.span
        return Gradients(self.context, self.request, self.params, self.arguments, bars, span).all(builder)

    def with_own_loads(self, pullback: ir.Function) -> ir.Function:
        """The pullback reads globals itself instead of capturing what the forward sweep read."""
        loads = []
        for var in free_variables(pullback):
            value = self.context.definitions.get(var)
            if isinstance(value, ir.Load):
                loads.append(ir.Let(var, value))
        body = ir.Block((*loads, *pullback.body.statements), pullback.body.yields)
        return ir.replace(pullback, body=body)

    def free_variables(self, function: ir.Function) -> Iterator[ir.Var]:
        """What a nested function captures."""
        return free_variables(function)

    def read_path(self, builder: Builder, path: Path) -> ir.Atom:
        """What is differentiated: an argument, or one of ``*args`` and ``**kwargs``."""
        atom: ir.Atom = self.params[path[0]]
        for key in path[1:]:
            atom = builder.call(operator.getitem, atom, ir.Const(key))
        return atom

    def _split_aux(self) -> tuple[ir.Function, ir.Atom | None]:
        if not self.request.has_aux:
            return self.primal, None
        builder = Builder(self.context)
        builder.statements += self.primal.body.statements
        both = self.primal.body.yields[0]
        known = self.context.value(both)
        if not isinstance(known, Unknown) and not (isinstance(known, Sequence) and len(known.items) == 2):
            raise error(
                "S2S402", span=self.primal.span, name=self.primal.name, kind="no pair (value, aux)",
                hint="with has_aux=True the function returns a pair: the value and the auxiliary data",
            )
        value = builder.call(operator.getitem, both, ir.Const(0))
        aux = builder.call(operator.getitem, both, ir.Const(1))
        return ir.replace(self.primal, body=builder.block(value)), aux

    def _check_numbers(self, primal: ir.Function) -> None:
        """Raise NonScalarOutputError where there is certainly nothing in the result that a Jacobian could be of."""
        value, expected = self.context.value(primal.body.yields[0]), ""
        if self.request.mode == "elementwise_grad" and isinstance(value, (Known, Sequence, Mapping)):
            expected = "a number or an array"
        elif ("jac" in self.request.mode or self.request.mode == "sparsity") and isinstance(value, Known):
            expected = "numbers or arrays"
        kind = _kind_of_output(value)
        is_number = isinstance(value, Known) and isinstance(value.value, (int, float, complex))
        if expected and kind is not None and not is_number and primal.body.yields[0] != ir.UNDEFINED:
            raise error("S2S403", span=_return_span(primal), name=_shown_name(primal), kind=kind, expected=expected)

    def _check_scalar(self, primal: ir.Function) -> None:
        if primal.body.yields[0] == ir.UNDEFINED:  # the function always raises
            return
        value = self.context.value(primal.body.yields[0])
        name, span = _shown_name(primal), _return_span(primal)
        shape = shape_of(value)
        if isinstance(value, Array) and shape != ():
            text = "of unknown rank" if shape is None else "(" + ", ".join(map(_dim_text, shape)) + (
                ",)" if len(shape) == 1 else ")")
            raise error("S2S401", span=span, name=name, shape=text, hint=_SCALAR_HINT)
        kind = _kind_of_output(value)
        if kind is not None:
            raise no_scalar(name, kind, span)


def _shown_name(primal: ir.Function) -> str:
    return "lambda" if primal.name == LAMBDA else primal.name


def _dim_text(dim: Any) -> str:
    return str(dim.offset) if dim.is_constant else "n"


def _kind_of_output(value: AbstractValue) -> str | None:
    """What a result is, where it is certainly no real float."""
    match value:
        case Known() if isinstance(value.value, float):
            return None
        case Known() if value.value is None:
            return "None"
        case Known():
            return f"of type {type(value.value).__name__}"
        case Scalar(kind) if kind is object:
            return None
        case Scalar(kind):
            return None if issubclass(kind, (float, np.floating)) else f"of type {kind.__name__}"
        case Array(dtype):
            return None if dtype.kind == "f" else f"of dtype {dtype}"
        case Sequence(kind):
            return with_article(kind.__name__)
        case Mapping():
            return "a dict"
        case Unknown():
            return None
        case ListOf() | Range() | Closure() | Ref() | Object() | Instance() | Same():
            return "no number"
        case _:
            assert_never(value)


def _return_span(primal: ir.Function) -> ir.Span | None:
    result = primal.body.yields[0]
    for statement in ir.walk(primal.body):
        if result in tuple(ir.defs_of(statement)) and not isinstance(statement, ir.Note):
            return statement.span or primal.span
    return primal.span
