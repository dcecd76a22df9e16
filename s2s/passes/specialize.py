"""Partial evaluation: a function in SSA form and what is known of its arguments -> the same function for these.

Tests on known facts fold and dead branches go; callees are resolved by value; helpers that something differentiated
flows through are inlined; loops over containers of known length are unrolled, other loops become loops over a range.
What is left is arithmetic, calls with a rule, and calls that are decided when the program runs.

    def f(x, axis):                         def f(x, axis):
        if axis is None:            ->          return np.sum(x)
            return np.sum(x)
        return np.sum(x, axis)
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from s2s import ir, ops
from s2s import runtime as rt
from s2s.analysis.evaluate import is_number, join, join_all, known, truth, type_of, widen_known
from s2s.analysis.raising import certain_error, ends
from s2s.analysis.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Closure,
    Known,
    ListOf,
    Mapping,
    Range,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.errors import DifferentiationError, error
from s2s.passes.build import Builder, Context, has_zero_derivative, is_constant_kind
from s2s.passes.forms import FORMS, fold_number, is_literal_number, literal, map_elements
from s2s.passes.frames import (
    MISSING,
    STABLE_MODULES,
    Frame,
    FramedClosure,
    asked_also_by,
    at_call,
    in_rule,
    is_function_like,
    lookup,
    lower_function,
    name_of,
    place_of,
    with_sizes,
)
from s2s.passes.guarded import Raised, bound_on, refuse_lost, try_statement, with_statement
from s2s.passes.inplace import (
    CHANGING,
    change_whole,
    changes_any,
    is_harmless,
    may_change,
    store_item,
    ufunc_at,
    with_out,
)
from s2s.passes.iteration import VIEWS, Counted, start_of
from s2s.rules import table
from s2s.signature import describe
from s2s.versions import KindGuard, ObjectGuard

UNROLL_AT_MOST = 64
INLINE_DEPTH = 40

OWN_MODULES = (rt.__name__, ops.__name__)

_LOOKED_THROUGH = (getattr, zip, enumerate, reversed, slice, iter, map, functools.partial, np.vectorize)
"""Functions that are resolved where their result is used; what is left of them is refused by the reverse pass."""

_IN_PLACE: dict[Any, Any] = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.imatmul: operator.matmul, operator.iand: operator.and_,
    operator.ior: operator.or_, operator.ixor: operator.xor, operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
}

_MAY_OVERWRITE = (np.median, np.percentile, np.quantile, np.nanmedian, np.nanpercentile, np.nanquantile)
"""Functions that may use their argument as scratch memory when they are told to; the reverse sweep reads it."""


class Specializer:
    """Runs a function on abstract values, writing what is left of it into a builder."""

    def __init__(self, context: Context, in_place: frozenset[Any] = frozenset()) -> None:
        self.context = context
        self.in_place = in_place
        self.guards: dict[Any, Any] = {}
        self.dependencies: dict[Any, Any] = {}
        self.active_calls: list[types.CodeType] = []
        self.rebound: list[tuple[ir.Var, ir.Var, ir.Span | None]] = []
        self.trying = 0
        """How many bodies of a ``try`` are being specialised."""
        self.undecided = 0
        """How many branches are being specialised that may not be taken."""
        self.caught: list[ir.Atom | None] = []
        """The exceptions of the handlers around this place; None where it is known at run time only."""

    # --- functions

    def specialize(
        self, fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str]
    ) -> ir.Function:
        """The function for arguments of which this is known; ``varied`` names the differentiated parameters."""
        function = lower_function(fn)
        frame = Frame(fn, None)
        params = []
        for param in function.params:
            name, value = param.var.name, arguments.get(param.var.name, UNKNOWN)
            if isinstance(value, Same):  # the parameters come in order: the other one is there
                params.append(ir.replace(param, var=self.context.define(name, UNKNOWN)))
                frame.env[param.var] = next(p.var for p in params if p.var.name == value.name)
                continue
            var = self.context.define(name, value, name in varied)
            frame.env[param.var] = value.const if isinstance(value, Known) and is_constant_kind(value.value) else var
            params.append(ir.replace(param, var=var))
            if isinstance(value, Array) and value.shape:
                self.context.sources.setdefault(value.shape, var)
        self._bind_captures(function, frame)
        builder = Builder(self.context)
        self.active_calls.append(fn.__code__)
        (result,) = self.run(function.body, frame, builder)
        self.check_bound(result, builder, function.span)
        self.active_calls.pop()
        return ir.replace(function, params=tuple(params), captures=(), body=builder.block(result))

    def _bind_captures(self, function: ir.Function, frame: Frame) -> None:
        if function.captures:
            raise AssertionError("a top-level function has no captured variables, only free names")

    def run(self, block: ir.Block, frame: Frame, builder: Builder) -> tuple[ir.Atom, ...]:
        """Specialise a block; the atoms that it yields."""
        if self.run_statements(block, frame, builder):
            return tuple(ir.UNDEFINED for _ in block.yields)
        return tuple(self.atom(a, frame) for a in block.yields)

    def run_statements(self, block: ir.Block, frame: Frame, builder: Builder) -> bool:
        """Specialise the statements of a block; True where its end is not reached."""
        return any(self.step(statement, frame, builder) for statement in block.statements)

    def atom(self, atom: ir.Atom, frame: Frame) -> ir.Atom:
        """What an atom of the original function stands for."""
        return frame.env.get(atom, ir.UNDEFINED) if isinstance(atom, ir.Var) else atom

    def step(self, statement: ir.Statement, frame: Frame, builder: Builder) -> bool:
        """Specialise one statement; True where nothing after it is reached."""
        match statement:
            case ir.Let(target, value, span):
                try:
                    atom = self.value(value, frame, builder, span, target.name if target else "%", target is None)
                except Raised as raised:
                    self._raise(raised.problem, builder, span)
                    return True
                if target is not None:
                    frame.env[target] = atom
                    self._take_name(target, atom)
                return ends(builder.statements[-1:])
            case ir.If():
                return self.branch(statement, frame, builder)
            case ir.For():
                return self.for_loop(statement, frame, builder)
            case ir.While():
                return self.while_loop(statement, frame, builder)
            case ir.Store():
                self.store(statement, frame, builder)
            case ir.Raise(exception, cause, span):
                mapped = [None if a is None else self.atom(a, frame) for a in (exception, cause)]
                for original, given in zip((exception, cause), mapped, strict=True):
                    if original is not None and given is not None:
                        self.check_read(original, given, builder, span, frame)
                if exception is None and self.caught:
                    mapped[0] = self.caught[-1]
                builder.add(ir.Raise(mapped[0], mapped[1], span))
                return True
            case ir.With():
                return with_statement(self, statement, frame, builder)
            case ir.Try():
                return try_statement(self, statement, frame, builder)
            case ir.Note():
                builder.add(statement)
            case ir.Return() | ir.Break() | ir.Continue():
                raise AssertionError("not in SSA form")
            case _:
                assert_never(statement)
        return False

    def raised(self, problem: Exception) -> Exception:
        """What to raise where the program certainly raises an exception at this place: in the body of a ``try`` and in
        a branch that may not be taken it becomes a statement of the program."""
        return Raised(problem) if self.trying or self.undecided else problem

    def _raise(self, problem: Exception, builder: Builder, span: ir.Span | None) -> None:
        plain = all(isinstance(a, (str, int, float, type(None))) for a in problem.args)
        args = [ir.Const(a) for a in (problem.args if plain else (str(problem),))]
        made = self.leave(ir.Const(type(problem)), args, {}, builder, span, "%")
        builder.add(ir.Raise(made, None, span))

    def _take_name(self, target: ir.Var, atom: ir.Atom) -> None:
        """Nothing to do where a statement's value is already named; kept apart so that names have one place."""

    # --- values

    def value(
        self, value: ir.Value, frame: Frame, builder: Builder, span: ir.Span | None, name: str, effect: bool
    ) -> ir.Atom:
        """Specialise a right-hand side."""
        match value:
            case ir.Var() | ir.Const():
                return self.atom(value, frame)
            case ir.Load():
                return self.load(value, frame, builder, span)
            case ir.MakeFunction(function, captures, defaults):
                return self.closure(function, captures, defaults, frame, builder, span, name)
            case ir.Call(fn, args, kwargs):
                callee = self.atom(fn, frame)
                self.check_read(fn, callee, builder, span, frame)
                positional, keywords = self.arguments(args, kwargs, frame, builder, span)
                given = (callee, *positional, *keywords.values())
                for original, atom in zip(ir.atoms_of(value), given, strict=False):
                    self.check_read(original, atom, builder, span, frame)
                return self.apply(callee, positional, keywords, frame, builder, span, name, effect)
            case _:
                assert_never(value)

    def check_read(
        self, original: ir.Atom, atom: Any, builder: Builder, span: ir.Span | None, frame: Frame
    ) -> None:
        """Raise what reading a variable raises: the user's error where it has no value here, or may have none on the
        path that is taken; a refusal where it is not known what it holds."""
        if atom == ir.UNDEFINED:
            raise self._undefined(original, span, frame)
        if atom == ir.LOST:
            raise refuse_lost(self, original.name if isinstance(original, ir.Var) else "", span, frame)
        self.check_bound(atom, builder, span)

    def check_joined(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> None:
        """Refuse, when the program runs, to join what an interrupted block may have assigned with something else."""
        if atom in self.context.lost:
            self.check_bound(atom, builder, span)

    def _undefined(self, atom: ir.Atom, span: ir.Span | None, frame: Frame) -> Exception:
        if isinstance(atom, ir.Var) and frame.is_nested:
            return error("S2S209", span=span, asked_by=frame.called_from, name=atom.name)
        return self.raised(UnboundLocalError(f"variable {atom} is read where it has no value"))

    def arguments(
        self, args: Any, kwargs: Any, frame: Frame, builder: Builder, span: ir.Span | None
    ) -> tuple[list[Any], dict[str | None, ir.Atom]]:
        """The arguments of a call with ``*`` and ``**`` of known containers spread out."""
        positional: list[Any] = []
        for arg in args:
            if isinstance(arg, ir.Star):
                atom = self.atom(arg.atom, frame)
                items = self.static_items(atom, builder, span)
                positional.extend([ir.Star(atom)] if items is None else items)
            else:
                positional.append(self.atom(arg, frame))
        keywords: dict[str | None, ir.Atom] = {}
        for key, value in kwargs:
            atom = self.atom(value, frame)
            if key is not None:
                keywords[key] = atom
                continue
            mapping = self.context.value(atom)
            if isinstance(mapping, Mapping):
                for k in mapping.keys:
                    keywords[k] = builder.call(operator.getitem, atom, ir.Const(k), span=span)
            elif isinstance(mapping, Known) and isinstance(mapping.value, dict):
                keywords |= {k: ir.Const(v) for k, v in mapping.value.items()}
            else:
                keywords[None] = atom
        return positional, keywords

    def check_bound(self, atom: Any, builder: Builder, span: ir.Span | None) -> None:
        """Raise the user's UnboundLocalError where a variable that some path leaves unbound is read."""
        if not isinstance(atom, ir.Var) or atom not in self.context.unbound or builder.is_bound(atom):
            return
        builder.bound.add(atom)
        missing = self.context.unbound[atom]
        if missing is None:
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_bound), (atom,)), span))
            return
        if atom in self.context.lost:
            name = ir.Const(atom.name.lstrip("%"))
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_sure), (missing, name)), span))
            return
        text = f"cannot access local variable '{atom.name}' where it is not associated with a value"
        child = builder.child()
        problem = self.leave(ir.Const(UnboundLocalError), [ir.Const(text)], {}, child, span, "%")
        child.add(ir.Raise(problem, None, span))
        builder.add(ir.If(missing, child.block(), ir.Block(()), (), span))

    def load(self, load: ir.Load, frame: Frame, builder: Builder, span: ir.Span | None) -> ir.Atom:
        """A global or closure variable: functions, modules and options by value, under a guard; numbers live."""
        root = load.scope
        found = lookup(load, frame.fn)
        if found is MISSING:  # Python's own NameError, if this place is reached
            return self.keep(builder, ir.Load(load.name, load.scope, frame.owner), span)
        key = (frame.owner, root, load.name)
        if is_constant_kind(found) or table.find(found) is not None or is_function_like(found):
            if not (root == "global" and getattr(builtins, load.name, MISSING) is found):
                self.guards[key] = ObjectGuard(root, (load.name,), found, frame.owner)
                self._guard_contents(root, (load.name,), found, frame.owner)
            return ir.Const(found)
        value = with_sizes(describe(found, "?"), found)
        if isinstance(value, Known):
            value = UNKNOWN
        self.guards[key] = KindGuard(root, load.name, value, frame.owner)
        return builder.let(ir.Load(load.name, load.scope, frame.owner), value, load.name, span)

    def guard_attribute(self, owner: Any, attribute: str, found: Any) -> None:
        """An attribute of a user's module is a known object as long as a guard holds."""
        module = getattr(owner, "__name__", "") if isinstance(owner, types.ModuleType) else ""
        if module.split(".")[0] in STABLE_MODULES or not isinstance(owner, types.ModuleType):
            return
        key = ("attribute", id(owner), attribute)
        self.guards[key] = ObjectGuard("module", (module, attribute), found, None)
        self._guard_contents("module", (module, attribute), found, None)

    def _guard_contents(self, root: str, path: tuple[str, ...], found: Any, owner: Any) -> None:
        """A user's function stays the same object when its code or its defaults are replaced."""
        if not isinstance(found, types.FunctionType) or (found.__module__ or "").split(".")[0] in STABLE_MODULES:
            return
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(found, name)
            if value is not None:
                self.guards[root, path, name, owner] = ObjectGuard(root, (*path, name), value, owner)

    def keep(self, builder: Builder, value: ir.Value, span: ir.Span | None) -> ir.Atom:
        """A value whose evaluation raises the user's error: it stays, whether its result is read or not."""
        var = self.context.define("%", UNKNOWN, False, value)
        self.context.kept.add(var)
        builder.add(ir.Let(var, value, span))
        return var

    def closure(
        self, function: ir.Function, captures: tuple[ir.Atom, ...], defaults: tuple[tuple[str, ir.Atom], ...],
        frame: Frame, builder: Builder, span: ir.Span | None, name: str,
    ) -> ir.Atom:
        """A nested function: known by its IR, so that calls of it are inlined."""
        atoms = tuple(self.atom(a, frame) for a in captures)
        given = tuple((k, self.atom(a, frame)) for k, a in defaults)
        made = ir.MakeFunction(function, atoms, given)
        value = FramedClosure(function, atoms, given, frame)
        varied = any(map(self.context.is_varied, (*atoms, *(a for _, a in given))))
        return builder.let(made, value, name, span, varied)

    # --- calls

    def apply(
        self, callee: ir.Atom, args: list[Any], kwargs: dict[str | None, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str = "%", effect: bool = False,
    ) -> ir.Atom:
        """A call: resolve the callee, then fold, inline, or leave it."""
        value = self.context.value(callee)
        made = self.context.definitions.get(callee) if isinstance(callee, ir.Var) else None
        if isinstance(made, ir.Call) and made.fn == ir.Const(np.vectorize) and len(made.args) == 1 and not kwargs:
            each = [made.args[0], *args]
            return self.apply(ir.Const(map_elements), each, {}, frame, builder, span, name, effect)  # type: ignore[list-item]
        if isinstance(made, ir.Call) and made.fn == ir.Const(functools.partial):
            keywords: dict[Any, ir.Atom] = dict(made.kwargs)
            return self.apply(
                made.args[0], [*made.args[1:], *args], keywords | kwargs, frame, builder, span, name, effect  # type: ignore[arg-type]
            )
        chosen = self.context.choices.get(callee) if isinstance(callee, ir.Var) else None
        if chosen is not None and self._is_function(chosen[1]) and self._is_function(chosen[2]):
            return self.apply_chosen(chosen, args, kwargs, frame, builder, span, name)
        spread = any(isinstance(a, ir.Star) for a in args) or None in kwargs
        if not spread:
            bound = self._bound_method(callee)
            if bound is not None:
                method, receiver = bound
                return self.apply(ir.Const(method), [receiver, *args], kwargs, frame, builder, span, name, effect)
            if isinstance(value, FramedClosure):
                return self.call_closure(value, args, kwargs, frame, builder, span)
            if isinstance(value, Known):
                return self.apply_known(value.value, args, kwargs, frame, builder, span, name, effect)
        return self.leave(callee, args, kwargs, builder, span, name, effect)

    def _is_function(self, atom: ir.Atom) -> bool:
        value = self.context.value(atom)
        if isinstance(atom, ir.Var) and atom in self.context.choices:
            return all(map(self._is_function, self.context.choices[atom][1:]))
        return isinstance(value, FramedClosure) or (isinstance(value, Known) and callable(value.value))

    def apply_chosen(
        self, chosen: tuple[ir.Atom, ir.Atom, ir.Atom], args: list[Any], kwargs: dict[str | None, ir.Atom],
        frame: Frame, builder: Builder, span: ir.Span | None, name: str,
    ) -> ir.Atom:
        """A call of a function that a branch has chosen: the same branch, a call on each side."""
        test, *functions = chosen
        sides, yields = [], []
        for function in functions:
            child = builder.child()
            yields.append(self.apply(function, list(args), dict(kwargs), frame, child, span, name))
            self.check_joined(yields[-1], child, span)
            sides.append(child)
        if yields[0] == yields[1]:
            builder.add(ir.If(test, sides[0].block(), sides[1].block(), (), span))
            return yields[0]
        result = self._merge(name, yields[0], yields[1])
        assert isinstance(result, ir.Var)
        builder.add(ir.If(test, sides[0].block(yields[0]), sides[1].block(yields[1]), (result,), span))
        self.context.choices[result] = (test, yields[0], yields[1])
        return result

    def leave(
        self, callee: ir.Atom, args: list[Any], kwargs: dict[str | None, ir.Atom], builder: Builder,
        span: ir.Span | None, name: str, effect: bool = False, value: AbstractValue = UNKNOWN, harmless: bool = False,
    ) -> ir.Atom:
        """Leave a call to be decided when the program runs; ``harmless`` says that it changes no argument."""
        atoms = [a.atom if isinstance(a, ir.Star) else a for a in args]
        varied = any(map(self.context.is_varied, (callee, *atoms, *kwargs.values())))
        made = ir.Call(callee, tuple(args), tuple(kwargs.items()))
        if not varied and not harmless:
            may_change(self, [*atoms, *kwargs.values()], builder, span)
        if effect and not varied:
            builder.add(ir.Let(None, made, span))
            return ir.Const(None)
        var = self.context.define(name, value, varied, made)
        if varied and not _only_makes(callee):
            self.context.effects.add(var)
        builder.add(ir.Let(var, made, span))
        return var

    def _bound_method(self, callee: ir.Atom) -> tuple[Any, ir.Atom] | None:
        """The function and the receiver of a method that was read from a value of known type."""
        if not isinstance(callee, ir.Var):
            return None
        made = self.context.definitions.get(callee)
        if not isinstance(made, ir.Call) or made.fn != ir.Const(getattr) or len(made.args) != 2:
            return None
        receiver, attribute = made.args
        if not isinstance(attribute, ir.Const) or isinstance(receiver, ir.Star):
            return None
        value = self.context.value(receiver)
        kind = type_of(value)
        if isinstance(value, (Unknown, Closure)) or kind is None:
            return None
        method = getattr(np.ndarray if issubclass(kind, np.generic) else kind, attribute.value, None)
        if isinstance(method, types.WrapperDescriptorType):
            method = getattr(operator, attribute.value, method)
        if isinstance(method, (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)) or (
            getattr(method, "__module__", None) == "_operator"
        ):
            return method, receiver
        return None

    def apply_known(
        self, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str, effect: bool,
    ) -> ir.Atom:
        """A call of a function that is known."""
        primal = getattr(type(fn), "__s2s_primal__", None)
        if primal is not None:
            return self.apply_known(fn.__wrapped__, args, kwargs, frame, builder, span, name, effect)
        if isinstance(fn, np.vectorize) and not kwargs and not fn.excluded and fn.signature is None:
            each = [ir.Const(fn.pyfunc), *args]
            return self.apply_known(map_elements, each, {}, frame, builder, span, name, effect)
        if isinstance(fn, functools.partial):
            fixed: dict[Any, ir.Atom] = {k: ir.Const(v) for k, v in fn.keywords.items()}
            return self.apply_known(
                fn.func, [*map(ir.Const, fn.args), *args], fixed | kwargs, frame, builder, span, name, effect
            )
        if isinstance(fn, types.MethodType):
            return self.apply_known(
                fn.__func__, [ir.Const(fn.__self__), *args], kwargs, frame, builder, span, name, effect
            )
        if fn in _MAY_OVERWRITE:
            kwargs = {k: v for k, v in kwargs.items() if k != "overwrite_input"}
        if fn is np.clip:
            kwargs = {{"min": "a_min", "max": "a_max"}.get(k, k): v for k, v in kwargs.items()}
        if fn in _IN_PLACE:
            return self.rebind(fn, args[0], args[1], frame, builder, span, name)
        if in_rule(frame) and not kwargs and args and all(map(is_literal_number, args)):
            folded = fold_number(fn, args)
            if folded is not None:
                return folded
        if fn is dict:
            made = self.make_dict(args, kwargs, builder, span, name)
            if made is not None:
                return made
        if self.trying and not kwargs:
            self._check_kinds(fn, args)
        changed = self._change(fn, args, kwargs, frame, builder, span, name)
        if changed is not None:
            return changed
        handler = FORMS.get(fn)
        if handler is not None and not kwargs:
            found = handler(self, args, frame, builder, span, name)
            if found is not None:
                return found
        return self.call_function(fn, args, kwargs, frame, builder, span, name, effect)

    def _check_kinds(self, fn: Any, args: list[ir.Atom]) -> None:
        """In the body of a ``try``: raise what a function of Python raises for every number of these kinds."""
        problem = certain_error(fn, [self.context.value(a) for a in args])
        if problem is not None:
            raise Raised(problem)

    def _change(
        self, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str,
    ) -> ir.Atom | None:
        """A call that changes an array: a function that stores, ``ufunc.at``, ``out=``; None for any other."""
        owner = getattr(fn, "__self__", None)
        if isinstance(owner, np.ufunc) and fn.__name__ == "at" and not kwargs:
            return ufunc_at(self, owner, args, frame, builder, span)
        if isinstance(fn, np.ufunc) and len(args) > fn.nin and "out" not in kwargs:
            extra = builder.call(ops.make_tuple, *args[fn.nin :], span=span) if len(args) > fn.nin + 1 else args[fn.nin]
            args, kwargs = args[: fn.nin], {**kwargs, "out": extra}
        if fn in CHANGING and args and isinstance(self.context.value(args[0]), Array):
            return CHANGING[fn](self, args, dict(kwargs), frame, builder, span)
        if kwargs.get("out", ir.Const(None)) != ir.Const(None) and not isinstance(fn, types.FunctionType):
            return with_out(self, fn, args, kwargs, frame, builder, span, name)
        return None

    def make_dict(
        self, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom | None:
        """``dict(mapping, key=value)`` with known keys, as a display."""
        entries: dict[Any, ir.Atom] = {}
        for arg in args:
            found = self.entries(arg, builder, span)
            if found is None:
                return None
            entries |= found
        entries |= kwargs
        flat = [a for key, value in entries.items() for a in (ir.Const(key), value)]
        return builder.call(ops.make_dict, *flat, name=name, span=span)

    def entries(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> dict[Any, ir.Atom] | None:
        """The entries of a mapping with known keys, or of a known list of pairs."""
        known = self.context.value(atom)
        if isinstance(known, Mapping):
            return {k: builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in known.keys}
        if isinstance(known, Known) and isinstance(known.value, dict):
            return {k: ir.Const(v) for k, v in known.value.items()}
        pairs = self.static_items(atom, builder, span)
        if pairs is None:
            return None
        entries = {}
        for pair in pairs:
            both = self.static_items(pair, builder, span)
            if both is None or len(both) != 2 or not isinstance(both[0], ir.Const):
                return None
            entries[both[0].value] = both[1]
        return entries

    def call_function(
        self, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str, effect: bool,
    ) -> ir.Atom:
        """A call of a known function that is no special form: by its rule, by its source, or as it is."""
        rule = table.find(fn)
        varied = any(map(self.context.is_varied, (*args, *kwargs.values())))
        if rule is not None and rule.kind == "model" and varied:
            assert isinstance(rule.body, types.FunctionType)
            return self.inline(rule.body, args, kwargs, frame, builder, span)
        if rule is not None:
            if varied:
                self._check_rule(rule, fn, args, kwargs, span, frame)
            passive = effect and (not varied or rule.kind == "zero")
            return builder.call(fn, *args, name=name, span=span, kwargs=tuple(kwargs.items()), effect=passive)
        if isinstance(fn, types.FunctionType) and fn.__module__ not in OWN_MODULES:
            if varied and fn.__code__ not in self.active_calls and len(self.active_calls) < INLINE_DEPTH:
                return self.inline(fn, args, kwargs, frame, builder, span)
            value, changes = (UNKNOWN, None) if varied else self.result_of(fn, args, kwargs, frame, builder)
            if changes:
                return self.inline(fn, args, kwargs, frame, builder, span)
            harmless = changes is False
            return self.leave(ir.Const(fn), list(args), dict(kwargs), builder, span, name, effect, value, harmless)
        if isinstance(fn, type) and issubclass(fn, BaseException):
            return self.leave(ir.Const(fn), list(args), dict(kwargs), builder, span, name, harmless=True)
        if varied and fn not in _LOOKED_THROUGH and getattr(fn, "__module__", "") not in OWN_MODULES:
            raise self._no_rule(fn, span, frame)
        if fn in (functools.partial, np.vectorize):
            return self.leave(ir.Const(fn), list(args), dict(kwargs), builder, span, name, harmless=True)
        if not varied and not is_harmless(fn):
            may_change(self, [*args, *kwargs.values()], builder, span)
        return builder.call(fn, *args, name=name, span=span, kwargs=tuple(kwargs.items()), effect=effect)

    def _check_rule(
        self, rule: Any, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], span: ir.Span | None, frame: Frame
    ) -> None:
        if rule.kind == "refuse":
            raise error("S2S202", span=span, asked_by=frame.called_from, name=name_of(fn), reason=rule.reason)
        if rule.kind in ("linear", "vjp", "straight_through", "partials"):
            bound = table.bind(rule, tuple(map(literal, args)), {k: literal(a) for k, a in kwargs.items()})
            extra = table.unsupported(rule, bound)
            if extra:
                raise error(
                    "S2S203", span=span, asked_by=frame.called_from, name=name_of(fn), keyword=", ".join(extra)
                )

    def _no_rule(self, fn: Any, span: ir.Span | None, frame: Frame) -> DifferentiationError:
        return error("S2S201", span=span, asked_by=frame.called_from, name=name_of(fn))

    def result_of(
        self, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder
    ) -> tuple[AbstractValue, bool | None]:
        """What a call with nothing differentiated in it gives, and whether it changes an argument in place, found by
        running its source on what is known; None where that cannot be found."""
        if fn.__code__ in self.active_calls or len(self.active_calls) > 4:
            return UNKNOWN, None
        before, trial = dict(self.guards), builder.child()
        try:
            atom = self.inline(fn, args, kwargs, frame, trial, None)
        except Exception:
            self.guards = before
            return UNKNOWN, None
        value = self.context.value(atom)
        changes = changes_any([*args, *kwargs.values()], trial, self.context)
        return value if isinstance(value, (Scalar, Array)) else UNKNOWN, changes

    def inline(
        self, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a Python function's body in the place of a call of it."""
        asked = (*frame.called_from, place_of(frame, span))
        try:
            function = lower_function(fn)
        except DifferentiationError as problem:
            raise asked_also_by(problem, asked) from None
        try:
            bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
        except TypeError as problem:
            raise self.raised(problem) from None
        owner = frame.owner if fn.__globals__ is frame.fn.__globals__ and not fn.__closure__ else fn
        inner = Frame(fn, owner, called_from=asked)
        if owner is None and fn is not frame.fn:
            inner.owner = None
        self._bind_parameters(function, bound.arguments, _defaults(fn), inner, builder, span)
        self._depend(fn)
        self.active_calls.append(fn.__code__)
        try:
            (result,) = self.run(function.body, inner, builder)
        except DifferentiationError as problem:
            if fn.__module__.startswith("s2s."):  # a model of a built-in: the place is the user's call
                raise at_call(problem, span, frame.called_from) from None
            raise
        finally:
            self.active_calls.pop()
        return result

    def _depend(self, fn: types.FunctionType) -> None:
        self.dependencies[fn.__code__] = fn

    def _bind_parameters(
        self, function: ir.Function, given: dict[str, Any], defaults: dict[str, ir.Atom], inner: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> None:
        for param in function.params:
            name = param.var.name
            if param.kind == "VAR_POSITIONAL":
                atom = builder.call(ops.make_tuple, *given.get(name, ()), span=span)
            elif param.kind == "VAR_KEYWORD":
                entries = given.get(name, {})
                atom = builder.call(
                    ops.make_dict, *(a for k, v in entries.items() for a in (ir.Const(k), v)), span=span
                )
            elif name in given:
                atom = given[name]
            else:
                atom = defaults[name]
            inner.env[param.var] = atom

    def call_closure(
        self, closure: FramedClosure, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a nested function's body in the place of a call of it."""
        function = closure.function
        if len(self.active_calls) >= INLINE_DEPTH:
            raise error("S2S209", span=span, asked_by=frame.called_from, name=function.name)
        parameters = [
            inspect.Parameter(
                p.var.name, getattr(inspect.Parameter, p.kind),
                default=None if p.has_default else inspect.Parameter.empty,
            )
            for p in function.params
        ]
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
        asked = (*frame.called_from, place_of(frame, span))
        inner = Frame(closure.frame.fn, closure.frame.owner, called_from=asked, is_nested=True)
        inner.env.update(zip(function.captures, closure.captures, strict=True))
        for var, capture in zip(function.captures, closure.captures, strict=True):
            if capture == ir.UNDEFINED and var.name == function.name:
                inner.env[var] = self.closure_again(closure, builder)
        self._bind_parameters(function, bound.arguments, dict(closure.defaults), inner, builder, span)
        self.active_calls.append(closure.frame.fn.__code__)
        try:
            (result,) = self.run(function.body, inner, builder)
        finally:
            self.active_calls.pop()
        return result

    def closure_again(self, closure: FramedClosure, builder: Builder) -> ir.Atom:
        """A nested function as it sees itself."""
        made = ir.MakeFunction(closure.function, closure.captures, closure.defaults)
        varied = any(map(self.context.is_varied, closure.captures))
        return builder.let(made, closure, "%", None, varied)

    def rebind(
        self, fn: Any, old: ir.Atom, change: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom:
        """``x += v``: on values the same as ``x = x + v``; on arrays only where nothing else refers to the array."""
        plain = _IN_PLACE[fn]
        value = self.context.value(old)
        if isinstance(value, Array) and (span in self.in_place or value.shape == ()):
            change_whole(self, old, change, plain, frame, builder, span)
            return old
        result = self.apply_known(plain, [old, change], {}, frame, builder, span, name, False)
        new = self.context.value(result)
        if isinstance(value, Array) and isinstance(new, Array) and value.dtype != new.dtype:
            result = builder.call(
                np.ndarray.astype, result, ir.Const(value.dtype), name=name, span=span
            )
        if isinstance(value, (Array, Unknown, ListOf)) or (isinstance(value, Sequence) and value.type is list):
            if isinstance(old, ir.Var) and isinstance(result, ir.Var):
                self.rebound.append((old, result, span))
                if isinstance(value, Unknown):
                    builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_own), (old, ir.Const(name))), span))
        return result

    # --- control flow

    def branch(self, statement: ir.If, frame: Frame, builder: Builder) -> bool:
        """An ``if``: fold it where its test is known, otherwise specialise both sides."""
        test = self.atom(statement.test, frame)
        if test == ir.LOST or test in self.context.lost:
            self.check_read(statement.test, test, builder, statement.span, frame)
        decided = truth(self.context.value(test))
        if decided is not None:
            block = statement.then if decided else statement.orelse
            return self._splice(block, statement, frame, builder)
        sides = []
        for block in (statement.then, statement.orelse):
            child = builder.child()
            child.bound |= bound_on(self, test, block is statement.then)
            self.undecided += 1
            try:
                given = self.run(block, frame.copy(), child)
            finally:
                self.undecided -= 1
            sides.append((child, given, ends(child.statements)))
        (then, then_yields, then_raised), (orelse, else_yields, else_raised) = sides
        if then_raised and else_raised:
            builder.add(ir.If(test, then.block(), orelse.block(), (), statement.span))
            return True
        if then_raised or else_raised:
            return self._after_raise(statement, test, sides, frame, builder)
        results: list[ir.Var] = []
        yields: tuple[list[ir.Atom], list[ir.Atom]] = ([], [])
        for var, a, b in zip(statement.results, then_yields, else_yields, strict=True):
            if a == b:
                frame.env[var] = a
                continue
            self.check_joined(a, then, statement.span)
            self.check_joined(b, orelse, statement.span)
            value = join(self.context.value(a), self.context.value(b), self.context.evaluator.facts)
            result = self.context.define(
                var.name, _phi(value), self.context.is_varied(a) or self.context.is_varied(b)
            )
            frame.env[var] = result
            self.context.joined(result, a, b)
            if ir.UNDEFINED in (a, b):
                missing = test if a == ir.UNDEFINED else builder.call(operator.not_, test)
                self.context.unbound[result] = missing
            self.context.choices[result] = (test, a, b)
            results.append(result)
            yields[0].append(a)
            yields[1].append(b)
        if results or then.statements or orelse.statements:
            builder.add(
                ir.If(test, then.block(*yields[0]), orelse.block(*yields[1]), tuple(results), statement.span)
            )
        return False

    def _splice(self, block: ir.Block, statement: ir.If, frame: Frame, builder: Builder) -> bool:
        yields = self.run(block, frame, builder)
        if ends(builder.statements[-1:]):
            return True
        for var, atom in zip(statement.results, yields, strict=True):
            frame.env[var] = atom
        return False

    def _after_raise(
        self, statement: ir.If, test: ir.Atom, sides: list[Any], frame: Frame, builder: Builder
    ) -> bool:
        """One side raises: the other one goes on after the ``if``, not inside it."""
        (then, then_yields, then_raised), (orelse, else_yields, _) = sides
        raising, going, yields = (then, orelse, else_yields) if then_raised else (orelse, then, then_yields)
        first, second = (raising.block(), ir.Block(())) if then_raised else (ir.Block(()), raising.block())
        builder.add(ir.If(test, first, second, (), statement.span))
        builder.statements.extend(going.statements)
        for var, atom in zip(statement.results, yields, strict=True):
            frame.env[var] = atom
        return False

    def for_loop(self, loop: ir.For, frame: Frame, builder: Builder) -> bool:
        """A ``for``: unrolled over a container of known items, else a loop over a range."""
        iterable = self.atom(loop.iterable, frame)
        if isinstance(self.context.value(iterable), Range):
            self._loop(loop, iterable, None, frame, builder)
            return False
        items = self.static_items(iterable, builder, loop.span, for_loop=True)
        if items is not None and len(items) <= UNROLL_AT_MOST:
            self._unroll(loop, items, frame, builder)
            return False
        counted = self.counted(iterable, builder, loop.span)
        over = builder.call(range, counted.length, span=loop.span)
        self._loop(loop, over, counted, frame, builder)
        return False

    def _unroll(self, loop: ir.For, items: list[ir.Atom], frame: Frame, builder: Builder) -> None:
        """The trips of a loop one after the other; where one may leave, the others stand in its else side."""
        values = [self.atom(c.init, frame) for c in loop.carried]
        values, left = self._trips(loop, items, values, frame, builder)
        for c, value in zip(loop.carried, values, strict=True):
            frame.env[c.result] = value
        if loop.left is not None:
            frame.env[loop.left] = left

    def _trips(
        self, loop: ir.For, items: list[ir.Atom], values: list[ir.Atom], frame: Frame, builder: Builder
    ) -> tuple[list[ir.Atom], ir.Atom]:
        if not items:
            return values, ir.Const(False)
        inner = frame.copy()
        inner.env[loop.item] = items[0]
        inner.env.update({c.param: v for c, v in zip(loop.carried, values, strict=True)})
        after = list(self.run(loop.body, inner, builder))
        leave = ir.Const(False) if loop.leave is None else self.atom(loop.leave, inner)
        decided = truth(self.context.value(leave))
        if decided is True:
            return after, ir.Const(True)
        if decided is False:
            return self._trips(loop, items[1:], after, frame, builder)
        rest = builder.child()
        later, left = self._trips(loop, items[1:], after, frame, rest)
        results = []
        for c, a, b in zip(loop.carried, after, later, strict=True):
            if a != b:
                self.check_joined(a, builder, loop.span)
                self.check_joined(b, rest, loop.span)
            results.append(self._merge(c.result.name, a, b))
        flag = self._merge("%", ir.Const(True), left)
        changed = [
            (r, a, b)
            for r, a, b in zip((*results, flag), (*after, ir.Const(True)), (*later, left), strict=True)
            if a != b
        ]
        builder.add(
            ir.If(
                leave, ir.Block((), tuple(a for _, a, _ in changed)), rest.block(*(b for _, _, b in changed)),
                tuple(r for r, _, _ in changed if isinstance(r, ir.Var)), loop.span,
            )
        )
        return results, flag

    def _merge(self, name: str, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        if a == b:
            return a
        value = join(self.context.value(a), self.context.value(b), self.context.evaluator.facts)
        merged = self.context.define(name, _phi(value), self.context.is_varied(a) or self.context.is_varied(b))
        self.context.joined(merged, a, b)
        return merged

    def _loop(
        self, loop: ir.For, over: ir.Atom, counted: Counted | None, frame: Frame, builder: Builder
    ) -> None:
        def trip(params: list[ir.Var], child: Builder) -> tuple[list[ir.Atom], ir.Var, ir.Atom | None]:
            inner = frame.copy()
            name = "i" if counted is not None or loop.item.name == "_" else loop.item.name
            item = self.context.define(name, Scalar(int))
            inner.env[loop.item] = item if counted is None else counted.item(item, child)
            inner.env.update({c.param: p for c, p in zip(loop.carried, params, strict=True)})
            yields = list(self.run(loop.body, inner, child))
            leave = None if loop.leave is None else self.atom(loop.leave, inner)
            return yields, item, leave

        params, child, (yields, item, leave) = self._stable(loop.carried, frame, builder, trip)
        carried, left = self._results(loop, params, yields, frame)
        self._note_unbound(carried, builder.call(operator.not_, over, span=loop.span) if _leaves_unbound(
            carried) else None)
        kept, yields = _drop_unchanged(carried, yields)
        if leave is not None and truth(self.context.value(leave)) is False:
            leave = None
        if loop.left is not None and leave is None:
            frame.env[loop.left], left = ir.Const(False), None
        builder.add(
            ir.For(item, over, child.block(*yields), kept, leave, left, ir.Block(()), loop.span)
        )

    def while_loop(self, loop: ir.While, frame: Frame, builder: Builder) -> bool:
        """A ``while``: kept as a loop, unless it is known not to begin."""

        def trip(params: list[ir.Var], child: Builder) -> tuple[list[ir.Atom], ir.Block, ir.Atom | None]:
            inner = frame.copy()
            inner.env.update({c.param: p for c, p in zip(loop.carried, params, strict=True)})
            test_builder = builder.child()
            (test,) = self.run(loop.test, inner, test_builder)
            yields = list(self.run(loop.body, inner, child))
            leave = None if loop.leave is None else self.atom(loop.leave, inner)
            return yields, test_builder.block(test), leave

        params, child, (yields, test, leave) = self._stable(loop.carried, frame, builder, trip)
        carried, left = self._results(loop, params, yields, frame)
        self._note_unbound(carried, None)
        if not test.statements and truth(self.context.value(test.yields[0])) is False:
            for c in loop.carried:
                frame.env[c.result] = self.atom(c.init, frame)
            if loop.left is not None:
                frame.env[loop.left] = ir.Const(False)
            return False
        kept, yields = _drop_unchanged(carried, yields)
        if loop.left is not None and leave is None:
            frame.env[loop.left], left = ir.Const(False), None
        builder.add(
            ir.While(test, child.block(*yields), kept, leave, left, ir.Block(()), loop.span)
        )
        return False

    def _note_unbound(self, carried: list[ir.Carried], missing: ir.Atom | None) -> None:
        """Variables that a loop without a trip leaves unbound."""
        for c in carried:
            if c.init == ir.UNDEFINED or (isinstance(c.init, ir.Var) and c.init in self.context.unbound):
                self.context.unbound[c.result] = missing if c.init == ir.UNDEFINED else None

    def _stable(
        self, carried: tuple[ir.Carried, ...], frame: Frame, builder: Builder, trip: Callable[..., Any]
    ) -> tuple[list[ir.Var], Builder, Any]:
        """Run a trip on what is known of the carried variables until that no longer changes."""
        context, facts = self.context, self.context.evaluator.facts
        inits = [self.atom(c.init, frame) for c in carried]
        for init in inits:
            self.check_joined(init, builder, None)
        values = [context.value(a) for a in inits]
        varied = [context.is_varied(a) for a in inits]
        for attempt in range(8):
            params = [
                context.define(c.param.name, _phi(v), d) for c, v, d in zip(carried, values, varied, strict=True)
            ]
            child = builder.child()
            before, reached, known_vars = len(self.rebound), len(context.reached), context.births()
            for param, init in zip(params, inits, strict=True):
                context.joined(param, init)
            outcome = trip(params, child)
            yields = outcome[0]
            for following in yields:
                self.check_joined(following, child, None)
            for param, following in zip(params, yields, strict=True):
                context.joined(param, following)
            joined = [
                join(v, context.value(y), facts) if attempt < 5 else UNKNOWN
                for v, y in zip(values, yields, strict=True)
            ]
            moved = [any(map(context.is_varied, three)) for three in zip(params, inits, yields, strict=True)]
            outside = any(known_vars(var) for var in context.reached[reached:])
            if moved == varied and not outside and all(_same(a, b) for a, b in zip(joined, values, strict=True)):
                return params, child, outcome
            del self.rebound[before:]
            values, varied = joined, moved
        return params, child, outcome

    def _results(
        self, loop: ir.For | ir.While, params: list[ir.Var], yields: list[ir.Atom], frame: Frame
    ) -> tuple[list[ir.Carried], ir.Var | None]:
        carried = []
        for c, param, after in zip(loop.carried, params, yields, strict=True):
            init = self.atom(c.init, frame)
            if after in (param, init):
                self.context.values[param] = self.context.value(init)
            result = self.context.define(c.result.name, self.context.value(param), self.context.is_varied(param))
            self.context.joined(result, param)
            frame.env[c.result] = result
            carried.append(ir.Carried(param, init, result))
        left = None
        if loop.left is not None:
            left = self.context.define(loop.left.name, Scalar(bool))
            frame.env[loop.left] = left
        return carried, left

    # --- containers and iteration

    def static_items(
        self, atom: ir.Atom, builder: Builder, span: ir.Span | None, for_loop: bool = False
    ) -> list[ir.Atom] | None:
        """The items of a container whose length is known, or None."""
        value = self.context.value(atom)
        match value:
            case Sequence(kind, items) if kind is not slice:
                return [builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in range(len(items))]
            case Mapping(keys):
                return [ir.Const(k) for k in keys]
            case Known() if isinstance(value.value, (tuple, list, str, dict, range)):
                return [ir.Const(v) for v in value.value]
            case _:
                return self._static_view(atom, builder, span)

    def _static_view(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of a zip, enumerate, reversed or dict view of containers of known length."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
            return None
        inner = [self.static_items(a, builder, span) for a in made.args]  # type: ignore[arg-type]
        fn = made.fn.value
        if fn is enumerate and inner and inner[0] is not None:
            start = start_of(made)
            if not isinstance(start, ir.Const):
                return None
            return [
                builder.call(ops.make_tuple, ir.Const(k), item, span=span)
                for k, item in enumerate(inner[0], start.value)
            ]
        if fn is zip and inner and all(i is not None for i in inner):
            if dict(made.kwargs).get("strict") == ir.Const(True) and len({len(i or ()) for i in inner}) > 1:
                return None
            return [builder.call(ops.make_tuple, *row, span=span) for row in zip(*inner)]  # type: ignore[arg-type]
        if fn is reversed and inner[0] is not None:
            return inner[0][::-1]
        return None

    def counted(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> Counted:
        """An iterable as a length and a function that reads the item at a position."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if fn in (zip, enumerate, reversed):
            assert isinstance(made, ir.Call)
            return VIEWS[fn](self, made, builder, span)
        value = self.context.value(atom)
        if not isinstance(value, (Array, ListOf, Range, Sequence)) and not (
            isinstance(value, Known) and isinstance(value.value, (tuple, list, str, range))
        ):
            atom = builder.call(list, atom, span=span)
        length = builder.call(len, atom, span=span)
        return Counted(length, lambda k, b: b.call(operator.getitem, atom, k, span=span))

    def store(self, statement: ir.Store, frame: Frame, builder: Builder) -> None:
        """``target[key] = value``; other objects than arrays are not changed here."""
        if statement.kind != "item":
            raise error("S2S113", span=statement.span, asked_by=frame.called_from)
        originals = (statement.target, statement.key, statement.value)
        target, key, value = (self.atom(a, frame) for a in originals)
        for original, atom in zip(originals, (target, key, value), strict=True):
            self.check_read(original, atom, builder, statement.span, frame)
        store_item(self, target, key, value, statement.op, frame, builder, statement.span)

    def value_of_exception(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom; of an exception that the program makes, its class."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and isinstance(made.fn.value, type):
            if issubclass(made.fn.value, BaseException):
                return Known(made.fn)
        return self.context.value(atom)

    def joined_value(self, value: AbstractValue) -> AbstractValue:
        """What a variable that joins paths may be taken for."""
        return _phi(value)

    def is_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is known to be a number."""
        return is_number(self.context.value(atom))


# --- helpers --------------------------------------------------------------------------------------------------------

def _only_makes(callee: ir.Atom) -> bool:
    """Whether a call certainly changes nothing: it makes an exception or a partial function."""
    fn = callee.value if isinstance(callee, ir.Const) else None
    return fn in (functools.partial, np.vectorize) or (isinstance(fn, type) and issubclass(fn, BaseException))


def _defaults(fn: types.FunctionType) -> dict[str, ir.Atom]:
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    values = fn.__defaults__ or ()
    found = dict(zip(names[len(names) - len(values) :], values, strict=True)) | (fn.__kwdefaults__ or {})
    return {k: ir.Const(v) for k, v in found.items()}


def _leaves_unbound(carried: list[ir.Carried]) -> bool:
    return any(c.init == ir.UNDEFINED for c in carried)


def _phi(value: AbstractValue) -> AbstractValue:
    """What a variable that joins paths may be taken for: never an object, which would fold it away."""
    value = widen_known(value)
    if isinstance(value, Known) and isinstance(value.value, (bool, int, float, complex)):
        return Scalar(type(value.value))
    return value


def _same(a: AbstractValue, b: AbstractValue) -> bool:
    return _phi(a) == _phi(b)


def _drop_unchanged(
    carried: list[ir.Carried], yields: list[ir.Atom]
) -> tuple[tuple[ir.Carried, ...], list[ir.Atom]]:
    return tuple(carried), yields


__all__ = ["Counted", "Frame", "Specializer", "has_zero_derivative", "join_all", "known", "lower_function"]
