"""Reverse mode: a specialised primal goes in, and the joint function of its forward and reverse sweep comes out.

Every statement of the primal is kept in the forward sweep. Then the reverse sweep runs through them backwards: an
active ``y = f(a, b)`` adds to the cotangents of ``a`` and ``b`` what the rule of ``f`` makes of ``y_bar``; an ``if``
takes the same branch; a loop runs backwards, carrying the cotangents of its carried variables. What the reverse sweep
reads of a loop's trips crosses over on a stack or in an array, or is computed again where that is cheap (``crossing``).

    def f(x):                           def f_grad(x):
        y = np.sin(x)                       y = np.sin(x)
        return y * y            ->          y_bar = 2.0 * y        (before simplification: y + y)
                                            x_bar = y_bar * np.cos(x)
                                            return x_bar

Dead statements are left to ``simplify``.
"""

from __future__ import annotations

import inspect
import operator
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import ir, ops
from s2s import runtime as rt
from s2s.analysis.activity import find_useful
from s2s.analysis.evaluate import is_elementwise
from s2s.analysis.holders import Holders
from s2s.analysis.lattice import dtype_of, is_number, shape_of
from s2s.analysis.memory import Memory
from s2s.analysis.parts import Path, has_cotangent, is_differentiable, leaves, part
from s2s.analysis.values import UNKNOWN, AbstractValue, Array, Known, ListOf, Mapping, Scalar, Sequence, Unknown
from s2s.errors import error
from s2s.passes import attempts, cotangents, stores, undo
from s2s.passes.build import Builder, Context, has_zero_derivative
from s2s.passes.crossing import Crossing, Sweep
from s2s.passes.frames import Frame, lower_function
from s2s.passes.recompute import again, worthwhile
from s2s.passes.regions import Region
from s2s.passes.simplify import count_uses, drop_dead_statements, substitute
from s2s.passes.specialize import Specializer
from s2s.passes.structural import is_structural, may_repeat, rule_of
from s2s.rules import table


@dataclass
class Reversal:
    """The outcome: the forward sweep, the reverse sweep, and the cotangents of the differentiated inputs."""

    forward: ir.Block
    reverse: list[ir.Statement]
    bars: dict[tuple[ir.Var, Path], ir.Atom]
    to_undo: set[int]
    to_repeat: set[frozenset[int]]


@dataclass
class _Pull:
    """A call that is decided at run time: where its pullback is kept."""

    pullback: ir.Var
    args: tuple[ir.Atom | ir.Star, ...]
    kwargs: tuple[tuple[str | None, ir.Atom], ...] = field(default=())


@dataclass
class _Template:
    """A rule body specialised for arguments of some kinds: what stands for them, the statements and the result."""

    stand_ins: list[Any]
    items: dict[ir.Atom, ir.Atom]
    statements: list[ir.Statement]
    result: ir.Atom
    by_name: bool

    def reads_content(self, stand_in: ir.Atom) -> bool:
        """Whether the statements read what an argument holds, not only its shape."""
        if self.result == stand_in:
            return True
        for s in self.statements:
            value = s.value if isinstance(s, ir.Let) else None
            if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const):
                if stand_in in ir.atoms_of(value) and stores.reads_content(value.fn.value, value.args, stand_in):
                    return True
            elif stand_in in ir.reads_of(s) or any(True for _ in ir.blocks_of(s)):
                return True
        return False


class Reverser:
    """Writes the reverse sweep of one function."""

    def __init__(
        self, context: Context, specializer: Specializer, primal: ir.Function, repeatable: bool,
        options: dict[str, Any], undone: frozenset[int] = frozenset(),
        repeated: frozenset[frozenset[int]] = frozenset(),
    ) -> None:
        self.undone_stores = undone
        self.repeated = repeated
        self.kept_for: dict[frozenset[int], set[ir.Atom]] = {}
        self.context = context
        self.nonsmooth = options.get("nonsmooth")
        self.specializer = specializer
        self.pulls: dict[ir.Var, _Pull] = {}
        self.templates: dict[Any, _Template] = {}
        result = primal.body.yields[0]
        seeds = {result} if isinstance(result, ir.Var) else set()
        self.old: dict[int, ir.Var] = {}
        primal = ir.replace(primal, body=undo.with_old_contents(self, primal.body, undone)) if undone else primal
        self.memory = Memory(primal, context.value)
        self.useful = find_useful(primal.body, seeds, context.is_varied, self.memory.same)
        self._keep_dead_code(primal.body)
        body = self._pair_calls(primal.body)
        self.primal = ir.replace(primal, body=body)
        self.memory = Memory(self.primal, context.value)
        self.holders = Holders(self.primal, self.memory)
        self.content_reads: list[tuple[ir.Var, int]] = []
        self.wanted: set[int] = set()
        self.finder: ir.Var | None = None
        self.now = 0
        context.changed |= {v for root in self.memory.changed for v in self.memory.members[root]}
        self.undone = {
            self.memory.find(s.target) for s in ir.walk(body)
            if isinstance(s, ir.Store) and isinstance(s.target, ir.Var) and id(s) in self.old
        }
        self.crossing = Crossing(context, self.primal, repeatable, self.memory.is_buffer)
        self.uses = count_uses(self.primal.body)
        self.unbound = _find_unbound(self.primal.body)

    def _keep_dead_code(self, body: ir.Block) -> None:
        """What the user computes and nobody reads stays where it may raise; elsewhere the reverse sweep raises too."""
        for s in ir.walk(body):
            if isinstance(s, ir.Let) and s.target is not None and s.target not in self.useful:
                if isinstance(s.value, ir.Call) and s.value.fn in _MAY_RAISE and self._is_from_user(s.value):
                    self.context.kept.add(s.target)

    def _is_from_user(self, value: ir.Call) -> bool:
        if value.fn == ir.Const(operator.getitem):
            return isinstance(self.context.value(value.args[0]), (Array, Unknown))  # type: ignore[arg-type]
        return not any(isinstance(self.context.value(a), Array) for a in value.args)  # type: ignore[arg-type]

    # --- calls decided at run time

    def _pair_calls(self, block: ir.Block) -> ir.Block:
        """Calls without a rule at hand give their result and a pullback: ``y, y_pullback = rt.call(f, x)``."""
        made: list[ir.Statement] = []
        for statement in block.statements:
            match statement:
                case ir.Let(target, ir.Call(fn, args, kwargs), span) if (
                    self._is_paired(target) and self._unresolved(fn)
                ):
                    assert target is not None
                    made.extend(self._pair(target, fn, args, kwargs, span))
                case ir.For(body=body) | ir.While(body=body):
                    made.append(ir.replace(statement, body=self._pair_calls(body)))
                case _:
                    made.append(ir.with_blocks(statement, map(self._pair_calls, ir.blocks_of(statement))))
        return ir.Block(tuple(made), block.yields)

    def _is_paired(self, target: ir.Var | None) -> bool:
        """Whether a call gets a pullback: the result needs its derivative, or it may change what is differentiated.
        Then it is transformed when it runs, and a change is refused."""
        if target in self.context.effects:
            self.context.kept.add(target)  # type: ignore[arg-type]
            return True
        return target in self.useful

    def _unresolved(self, fn: ir.Atom) -> bool:
        if not isinstance(fn, ir.Const):
            return True
        return fn.value is not getattr and not is_structural(fn.value) and table.find(fn.value) is None

    def _pair(
        self, target: ir.Var, fn: ir.Atom, args: Any, kwargs: Any, span: ir.Span | None
    ) -> list[ir.Statement]:
        if isinstance(fn, ir.Const) and getattr(fn.value, "__module__", "") in (ops.__name__, rt.__name__):
            raise error("S2S210", span=span, name=_DISPLAYS.get(fn.value.__name__, fn.value.__name__))
        builder = Builder(self.context)
        runtime: Any = rt.call
        given, pulled = (fn, *args), args
        if self.context.is_varied(fn):
            made = self.context.definitions.get(fn) if isinstance(fn, ir.Var) else None
            if not isinstance(made, ir.Call) or made.fn != ir.Const(getattr):
                raise error("S2S206", span=span, name="this value" if fn.is_temporary else fn.name)  # type: ignore[union-attr]
            runtime, given, pulled = rt.call_method, (*made.args, *args), (made.args[0], *args)
        if self.memory.is_buffer(target):
            raise error("S2S118", span=span, name=target.name.lstrip("%") or "its result")
        given = tuple(self._as_it_is(builder, a, span) for a in given)
        kwargs = tuple((k, self._as_it_is(builder, a, span)) for k, a in kwargs)
        pair = self.context.define("%", UNKNOWN)
        call = ir.Call(ir.Const(runtime), given, kwargs)
        builder.add(ir.Let(pair, call, span))
        self.context.definitions[pair] = call
        both = builder.let(
            ir.Call(ir.Const(ops.unpack), (pair, ir.Const(2), ir.Const(None))), UNKNOWN, span=span
        )
        first = ir.Call(ir.Const(operator.getitem), (both, ir.Const(0)))
        builder.add(ir.Let(target, first, span))
        base = self.context.name_of(target)
        pullback = self.context.define(f"{base}_pullback", UNKNOWN)
        second = ir.Call(ir.Const(operator.getitem), (both, ir.Const(1)))
        builder.add(ir.Let(pullback, second, span))
        self.pulls[target] = _Pull(pullback, pulled, kwargs)
        return builder.statements

    def _as_it_is(self, builder: Builder, argument: Any, span: ir.Span | None) -> Any:
        """An argument of a call whose pullback reads it later: a copy of an array that changes meanwhile."""
        is_array = isinstance(argument, ir.Var) and isinstance(self.context.value(argument), Array)
        if is_array and self.memory.is_buffer(argument):
            return builder.call(np.copy, argument, span=span)
        return argument

    # --- the whole function

    def reverse(self, seed: ir.Atom, wrt: list[ir.Var]) -> Reversal:
        """Both sweeps, for a cotangent ``seed`` of the result."""
        sweep = Sweep(Builder(self.context), self.crossing.root, None)
        result = self.primal.body.yields[0]
        if isinstance(result, ir.Var) and result in self.useful:
            self.contribute(sweep, result, seed, None)
        self.block(self.primal.body, sweep)
        bars = {}
        for var in wrt:
            for path, _ in leaves(self.context.value(var)):
                bar = self.read(sweep, var, path)
                if bar is not None:
                    bars[var, path] = bar
        statements = self.crossing.finish(sweep)
        return Reversal(self.crossing.forward(), statements, bars, undo.stores_to_undo(self), worthwhile(self))

    def block(self, block: ir.Block, sweep: Sweep) -> None:
        """The reverse of the statements of a block."""
        for statement in reversed(block.statements):
            self.now = id(statement)
            match statement:
                case ir.Let(target, value, span) if target is not None and target in self.useful:
                    self.let(target, value, span, sweep)
                case ir.If():
                    self.branch(statement, sweep)
                case ir.For() | ir.While():
                    self.loop(statement, sweep)
                case ir.Store():
                    stores.store(self, statement, sweep)
                case ir.With():
                    attempts.managed(self, statement, sweep)
                case ir.Try():
                    attempts.attempt(self, statement, sweep)
                case _:
                    pass

    # --- cotangents of variables

    def is_active(self, atom: ir.Atom) -> bool:
        """Whether an atom gets a cotangent."""
        return isinstance(atom, ir.Var) and atom in self.useful and has_cotangent(self.context.value(atom))

    def name(self, var: ir.Var) -> str:
        """What the adjoint of a variable is called."""
        return f"{self.context.name_of(var)}_bar"

    def read(self, sweep: Sweep, var: ir.Var, path: Path) -> ir.Atom | None:
        """The cotangent of a part of a variable, as it is now; None where nothing was added to it."""
        holder = sweep.holding((var, path))
        if holder is not None:
            return holder.bars[var, path]
        return None

    def bar_of(self, sweep: Sweep, var: ir.Var, span: ir.Span | None) -> ir.Atom | None:
        """The cotangent of a whole variable, containers put together from their parts."""
        value = self.context.value(var)
        if not isinstance(value, (Sequence, Mapping)):
            return self.read(sweep, var, ())
        parts = {path: self.read(sweep, var, path) for path, _ in leaves(value)}
        if all(p is None for p in parts.values()):
            return None
        return self.assemble(sweep, var, value, (), parts, span)

    def assemble(
        self, sweep: Sweep, var: ir.Var, value: AbstractValue, path: Path, parts: dict[Path, ir.Atom | None],
        span: ir.Span | None, own: bool = False,
    ) -> ir.Atom:
        """A container of cotangents with the structure of a value; zeros where nothing was added."""
        builder = sweep.builder
        match value:
            case Sequence(kind, items):
                made = [
                    self.assemble(sweep, var, item, (*path, k), parts, span, own) for k, item in enumerate(items)
                ]
                if kind in (tuple, list):
                    return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made, span=span)
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN, span=span)
            case Mapping(keys, items):
                flat: list[ir.Atom] = []
                for key, item in zip(keys, items, strict=True):
                    flat += [ir.Const(key), self.assemble(sweep, var, item, (*path, key), parts, span, own)]
                return builder.call(ops.make_dict, *flat, span=span)
            case _:
                bar = parts.get(path)
                if not is_differentiable(value) and bar is None:
                    return ir.Const(None)
                return self.zero(sweep, var, path, span) if bar is None else bar

    def zero(self, sweep: Sweep, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        """A zero cotangent for a part of a variable."""
        value = part(self.context.value(var), path)
        if is_number(value) or var in self.unbound:
            return ir.Const(0.0)
        like = self.part_atom(sweep, var, path, span)
        known = isinstance(value, Array) and value.dtype.kind in "fc"
        return sweep.builder.call(np.zeros_like if known else rt.zeros_of, like, span=span, name=self.name(var))

    def part_atom(self, sweep: Sweep, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        """The primal value of a part of a variable, for its shape."""
        atom = self.use(sweep, var if path else self.like(var))
        for key in path:
            atom = sweep.builder.call(operator.getitem, atom, ir.Const(key), span=span)
        return atom

    def use(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom as the reverse sweep can read it here."""
        return self.crossing.use(sweep, atom)

    def like(self, atom: ir.Atom) -> ir.Atom:
        """An array of the same shape and dtype, which need not be kept for these: an argument, or what an elementwise
        operation was given."""
        known = self.context.value(atom)
        if not isinstance(known, Array) or not known.shape:
            return atom
        source = self.context.sources.get(known.shape)
        if source is not None and self.context.value(source) == known:
            return source
        while isinstance(atom, ir.Var) and atom.is_temporary and atom in self.crossing.lets:
            made = self.crossing.lets[atom].value
            if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const) or not is_elementwise(made.fn.value):
                break
            given = [a for a in made.args if isinstance(a, ir.Var) and self.context.value(a) == known]
            if not given:
                break
            atom = next((a for a in given if not a.is_temporary), given[0])
        return atom

    def use_content(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom of which the reverse sweep reads here what it holds: a buffer holds it as it did then."""
        self.note_read(atom)
        return self.crossing.use(sweep, atom)

    def note_read(self, atom: ir.Atom) -> None:
        """Remember that the reverse of the present statement reads what an array holds."""
        if isinstance(atom, ir.Var) and self.memory.is_buffer(atom):
            self.content_reads.append((atom, self.now))

    def contribute(
        self, sweep: Sweep, var: ir.Atom, g: ir.Atom, span: ir.Span | None, path: Path = ()
    ) -> None:
        """Add a cotangent to that of a variable, or of a part of it."""
        if not isinstance(var, ir.Var) or not self.is_active(var):
            return
        value = part(self.context.value(var), path)
        if isinstance(value, (Sequence, Mapping)):
            self._contribute_parts(sweep, var, value, g, span, path)
        elif has_cotangent(value):
            if stores.changes_later(self, g):
                g = sweep.builder.call(np.copy, g, span=span)
            if isinstance(value, ListOf) and not isinstance(self.context.value(g), (ListOf, Sequence)):
                g = sweep.builder.let(ir.Call(ir.Const(list), (g,)), value, span=span)
            self._add(sweep, var, path, cotangents.peel(sweep.builder, g, value), span)

    def _contribute_parts(
        self, sweep: Sweep, var: ir.Var, value: Sequence | Mapping, g: ir.Atom, span: ir.Span | None, path: Path
    ) -> None:
        keys = range(len(value.items)) if isinstance(value, Sequence) else value.keys
        for key, item in zip(keys, value.items, strict=True):
            if has_cotangent(item):
                piece = sweep.builder.call(operator.getitem, g, ir.Const(key), span=span)
                if piece != ir.Const(None):
                    self.contribute(sweep, var, piece, span, (*path, key))

    def _add(self, sweep: Sweep, var: ir.Var, path: Path, g: ir.Atom, span: ir.Span | None) -> None:
        if stores.is_held_elsewhere(self, var):
            stores.add_to(self, sweep, var, g, span)
            return
        key = (var, path)
        value = part(self.context.value(var), path)
        self._prepare(sweep, key, value, span)
        holder = sweep.holding(key)
        if holder is not None and key in holder.buffers:
            if isinstance(value, ListOf):
                self._add_to_list(sweep, holder.bars[key], g, span)
            else:
                self._store(sweep, holder.bars[key], None, g, span)
            return
        old = None if holder is None else holder.bars[key]
        if old is None:
            sweep.bars[key] = sweep.named(g, self.name(var))
        else:
            sweep.bars[key] = self._sum(sweep, old, g, value, span, self.name(var))

    def _add_to_list(self, sweep: Sweep, buffer: ir.Atom, g: ir.Atom, span: ir.Span | None) -> None:
        """``buffer[:] = buffer + g``, item by item: ``+=`` would make the list longer."""
        items = sweep.builder.call(slice, *[ir.Const(None)] * 3, span=span)
        sweep.builder.store(buffer, items, sweep.builder.call(rt.add, buffer, g, span=span), None, span)

    def _store(self, sweep: Sweep, buffer: ir.Atom, at: ir.Atom | None, g: ir.Atom, span: ir.Span | None) -> None:
        """``buffer[at] += g``, or ``-=`` where ``g`` has a sign."""
        signed = cotangents.definition(sweep.builder, g, operator.neg)
        op, change = (operator.add, g) if signed is None else (operator.sub, signed[0])
        sweep.builder.store(buffer, at, change, op, span)

    def _sum(
        self, sweep: Sweep, old: ir.Atom, g: ir.Atom, value: AbstractValue, span: ir.Span | None, name: str
    ) -> ir.Atom:
        if isinstance(value, (Unknown, ListOf)):
            return sweep.builder.call(rt.add, old, g, span=span, name=name)
        return cotangents.add(sweep.builder, old, g, span, name)

    def _prepare(self, sweep: Sweep, key: tuple[ir.Var, Path], value: AbstractValue, span: ir.Span | None) -> None:
        """Where a loop lies between a variable and this place, its cotangent must exist before the loop: an array as
        a buffer that the trips add to, a number as a carried variable."""
        outer = sweep.outside_loops(self.crossing.home[key[0]])
        if outer is sweep:
            return
        if self._accumulates_in_place(value) or stores.is_owned(self, key[0]):
            self._make_buffer(outer, key, None)
        else:
            self._carry(sweep, outer, key, span)

    def _accumulates_in_place(self, value: AbstractValue) -> bool:
        return (isinstance(value, Array) and bool(value.shape)) or isinstance(value, ListOf)

    def _make_buffer(self, sweep: Sweep, key: tuple[ir.Var, Path], span: ir.Span | None) -> ir.Atom:
        """The cotangent of an array as an array of its own that may be changed in place."""
        holder = sweep.holding(key)
        if holder is not None and key in holder.buffers:
            return holder.bars[key]
        var, path = key
        if holder is None:
            made = self.zero(sweep, var, path, span)
        else:
            made = self._own(sweep, holder.bars[key], var, path, span)
        sweep.bars[key] = made
        sweep.buffers.add(key)
        return made

    def _own(self, sweep: Sweep, bar: ir.Atom, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        value = part(self.context.value(var), path)
        if isinstance(value, ListOf):
            return sweep.builder.call(list, bar, span=span, name=self.name(var))
        like = self.part_atom(sweep, var, path, span)
        made = cotangents.whole(sweep.builder, bar, like, span, self.name(var))
        return made if made != bar else sweep.builder.call(np.copy, bar, span=span, name=self.name(var))

    def _carry(self, sweep: Sweep, outer: Sweep, key: tuple[ir.Var, Path], span: ir.Span | None) -> None:
        """Make every loop between here and ``outer`` carry the cotangent."""
        chain = []
        inner: Sweep | None = sweep
        while inner is not outer:
            assert inner is not None
            if inner.is_loop and key not in inner.accumulators:
                chain.append(inner)
            inner = inner.parent
        for loop in reversed(chain):
            param = self.context.define(self.name(key[0]), part(self.context.value(key[0]), key[1]))
            loop.accumulators[key] = param
            loop.bars[key] = param

    # --- statements

    def let(self, target: ir.Var, value: ir.Value, span: ir.Span | None, sweep: Sweep) -> None:
        """The reverse of ``target = value``."""
        if not isinstance(value, ir.Call) or not (
            target in self.pulls or stores.takes_over(self, target, value, span, sweep)):
            return
        if isinstance(value.fn, ir.Const) and value.fn.value is operator.getitem and target in self.pulls:
            self.pull(target, span, sweep)
            return
        fn = value.fn.value if isinstance(value.fn, ir.Const) else None
        handler = rule_of(fn) if is_structural(fn) else None
        if handler is not None:
            handler(self, target, value, span, sweep)
            return
        if fn is getattr:
            self.attribute(target, value, span, sweep)
            return
        rule = table.find(fn)
        if rule is None or rule.kind == "zero":
            return
        g = self.bar_of(sweep, target, span)
        if g is None:
            return
        if rule.kind == "straight_through" and not self._passes(rule, span):
            return
        if rule.kind in ("partials", "straight_through"):
            self.elementwise(rule, target, value, g, span, sweep)
        elif rule.kind == "several":
            self.several(rule, target, value, g, span, sweep)
        else:
            self.by_rule(rule, target, value, g, span, sweep)

    def _passes(self, rule: Any, span: ir.Span | None) -> bool:
        """Whether a cotangent goes through a piecewise constant function: the policy of the function compiled."""
        given = self.nonsmooth
        names = {rule.fn.__name__, rule.name}
        policy = next((p for n, p in given if n in names), None) if isinstance(given, tuple) else given
        if policy == "error":
            reason = "it is piecewise constant, and the policy is nonsmooth=\"error\""
            raise error("S2S202", span=span, name=rule.name, reason=reason)
        return policy != "zero"

    def pull(self, target: ir.Var, span: ir.Span | None, sweep: Sweep) -> None:
        """The reverse of a call that was decided at run time: call its pullback."""
        pull = self.pulls[target]
        g = self.bar_of(sweep, target, span)
        if g is None:
            return
        given = self.use(sweep, pull.pullback)
        bars = sweep.builder.let(ir.Call(given, (g,)), UNKNOWN, "%_bars", span)
        args = [a.atom if isinstance(a, ir.Star) else a for a in pull.args]
        starred = [k for k, a in enumerate(pull.args) if isinstance(a, ir.Star)]
        if starred and (starred != [len(args) - 1] or pull.kwargs):
            raise error("S2S207", span=span)
        for k, atom in enumerate([*args, *(a for _, a in pull.kwargs)]):
            if self.is_active(atom):
                index = ir.Const(k)
                if k in starred:
                    index = sweep.builder.call(slice, ir.Const(k), ir.Const(None), ir.Const(None))  # type: ignore[assignment]
                known = self.context.value(atom)
                is_float = (isinstance(known, Array) and known.dtype.kind in "fc") or (
                    isinstance(known, Scalar) and issubclass(known.type, (float, complex, np.inexact)))
                read = operator.getitem if is_float or k in starred else rt.pulled
                piece = sweep.builder.call(read, bars, index, span=span)
                self.contribute(sweep, atom, piece, span)

    def attribute(self, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
        """The reverse of an attribute read: ``x.T`` is ``np.transpose(x)``."""
        receiver, name = value.args[:2]
        g = self.bar_of(sweep, target, span)
        if g is None or has_zero_derivative(getattr, value.args):  # type: ignore[arg-type]
            return
        fn = table.ATTRIBUTES.get(name.value) if isinstance(name, ir.Const) else None
        rule = None if fn is None else table.find(fn)
        if fn is None or rule is None:
            raise error("S2S208", span=span, name=str(name).strip("'"))
        call = ir.Call(ir.Const(fn), (receiver,))
        if rule.kind == "partials":
            self.elementwise(rule, target, call, g, span, sweep)
        else:
            self.by_rule(rule, target, call, g, span, sweep)

    def elementwise(
        self, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
    ) -> None:
        """Cotangents by partial derivatives: product, then summed over what broadcasting stretched."""
        args = self._elementwise_arguments(rule, value)
        wrt = args
        if value.fn in (ir.Const(operator.mul), ir.Const(np.multiply)) and args[0] == args[1]:
            g = cotangents.multiply(sweep.builder, g, ir.Const(2.0), span)  # a square: 2 x, not x + x
            wrt = args[:1]
        for k, arg in enumerate(wrt):
            if not self.is_active(arg) or rule.partials[k] is None:
                continue
            p = self.inline_positional(rule.partials[k], (target, *args), span, sweep)
            c = cotangents.multiply(sweep.builder, g, p, span)
            c = cotangents.fit(sweep.builder, c, arg, target, lambda a: self.use(sweep, self.like(a)), span)
            self.contribute(sweep, arg, c, span)

    def several(
        self, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
    ) -> None:
        """Cotangents of an elementwise function with several results: what each result that something was added to
        gives, by its partial derivative."""
        args, known = self._elementwise_arguments(rule, value), self.context.value(target)
        parts = len(known.items) if isinstance(known, Sequence) else 0
        bars = [self.read(sweep, target, (k,)) for k in range(parts)]
        for arg, partial in zip(args, rule.partials, strict=True):
            if not self.is_active(arg) or partial is None:
                continue
            slopes = self.inline_positional(partial, (target, *args), span, sweep)
            if not parts:  # how many results there are is known at run time only
                c = sweep.builder.call(rt.several_bar, g, slopes, self.use(sweep, arg), span=span)
                self.contribute(sweep, arg, c, span)
            for k, bar in enumerate(bars):
                if bar is not None:
                    p = sweep.builder.call(operator.getitem, slopes, ir.Const(k), span=span)
                    c = cotangents.multiply(sweep.builder, bar, p, span)
                    whole = self.part_atom(sweep, target, (k,), span)
                    c = cotangents.fit(sweep.builder, c, arg, whole, lambda a: self.use(sweep, a), span)
                    self.contribute(sweep, arg, c, span)

    def _elementwise_arguments(self, rule: Any, value: ir.Call) -> tuple[ir.Atom, ...]:
        """The arguments in the order of the partials, defaults filled in."""
        bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
        made = [v if isinstance(v, (ir.Var, ir.Const)) else ir.Const(v) for v in bound.values()]
        return tuple(made[: len(rule.partials)])

    def _is_compact(self, c: ir.Atom, target: ir.Var) -> bool:
        return shape_of(self.context.value(c)) != shape_of(self.context.value(target))

    def by_rule(
        self, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
    ) -> None:
        """Cotangents by the functions of a linear or vjp rule, one per argument."""
        bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
        atoms = {k: self._as_atom(v, sweep) for k, v in bound.items()}
        g_full: ir.Atom | None = None
        for name, cotangent in rule.cotangents.items():
            given = bound[name]
            pieces = given if isinstance(given, tuple) and not isinstance(given, ir.Atom) else (given,)
            if not any(self.is_active(a) for a in pieces):
                continue
            if g_full is None:
                g_full = self._full_cotangent(sweep, g, target, span)
            c = self.inline_by_name(cotangent, {"y": target, **atoms, "y_bar": g_full}, span, sweep)
            if isinstance(given, tuple):
                for k, a in enumerate(given):
                    if self.is_active(a):
                        piece = sweep.builder.call(operator.getitem, c, ir.Const(k), span=span)
                        self.contribute(sweep, a, self._of_kind(sweep, piece, a, target, span), span)
            else:
                self.contribute(sweep, given, self._of_kind(sweep, c, given, target, span), span)

    def _of_kind(
        self, sweep: Sweep, c: ir.Atom, argument: ir.Atom, target: ir.Var, span: ir.Span | None
    ) -> ir.Atom:
        """The cotangent that a rule gives, as a real number for a real argument, in the argument's precision."""
        like, have = self.context.value(argument), self.context.value(c)
        if not isinstance(like, (Array, Scalar)):
            return c
        if isinstance(have, (Array, Scalar)):
            return cotangents.fit_dtype(sweep.builder, c, like, span)
        if dtype_of(self.context.value(target)) in (None, dtype_of(like)):
            return c
        return sweep.builder.call(rt.cast, c, self.use(sweep, argument), span=span)

    def _full_cotangent(self, sweep: Sweep, g: ir.Atom, target: ir.Var, span: ir.Span | None) -> ir.Atom:
        if not self._is_compact(g, target):
            return g
        return cotangents.full(sweep.builder, g, self.use(sweep, self.like(target)), span)

    def _as_atom(self, value: Any, sweep: Sweep) -> Any:
        if isinstance(value, (ir.Var, ir.Const)):
            return value
        if isinstance(value, tuple) and value and all(isinstance(v, (ir.Var, ir.Const)) for v in value):
            return value
        return ir.Const(value)

    # --- rule bodies

    def inline_positional(
        self, body: types.FunctionType, atoms: tuple[Any, ...], span: ir.Span | None, sweep: Sweep
    ) -> ir.Atom:
        """A rule body that takes its arguments by position."""
        names = list(inspect.signature(body).parameters)
        return self.inline_by_name(body, dict(zip(names, atoms, strict=False)), span, sweep)

    def inline_by_name(
        self, body: types.FunctionType, atoms: dict[str, Any], span: ir.Span | None, sweep: Sweep
    ) -> ir.Atom:
        """The result of a rule body: inlined where it comes down to straight-line code, else called by name."""
        function = lower_function(body)
        given = [atoms[p.var.name] for p in function.params]
        key = (body, *map(self._kind, given))
        template = self.templates.get(key) if None not in key else None
        if template is None:
            template = self._template(body, function, given)
            if None not in key:
                self.templates[key] = template
        if template.by_name:
            return sweep.builder.call(body, *(self._argument(sweep, a) for a in given), span=span)
        return self._instantiate(template, given, span, sweep)

    def _kind(self, atom: Any) -> Any:
        """What of an argument decides how a rule body is specialised; None where that is more than its kind."""
        if isinstance(atom, ir.Const):
            return atom
        known = self.context.value(atom) if isinstance(atom, ir.Var) else None
        return known if isinstance(known, (Array, Scalar, Unknown)) else None

    def _template(self, body: types.FunctionType, function: ir.Function, given: list[Any]) -> _Template:
        """Specialise a rule body on stand-ins for its arguments: which of them it reads is what must be kept."""
        scratch = Builder(self.context)
        frame = Frame(body, body)
        stand_ins = []
        items: dict[ir.Atom, ir.Atom] = {}
        for param, atom in zip(function.params, given, strict=True):
            stand_in = self._stand_in(atom, items)
            stand_ins.append(stand_in)
            frame.env[param.var] = scratch.call(ops.make_tuple, *stand_in) if isinstance(stand_in, tuple) else stand_in
        guards = dict(self.specializer.guards)
        (result,) = self.specializer.run(function.body, frame, scratch)
        self.specializer.guards = guards
        straight = all(isinstance(s, ir.Let) for s in scratch.statements)
        live = {result} if isinstance(result, ir.Var) else set()
        kept = drop_dead_statements(scratch.statements, live, self.context)
        return _Template(stand_ins, items, kept, result, not straight and body.__name__ != "<lambda>")

    def _stand_in(self, atom: Any, items: dict[ir.Atom, ir.Atom]) -> Any:
        """What stands for an argument; ``items`` gets what stands for the items of a container made by a display."""
        if isinstance(atom, tuple):
            return tuple(self._stand_in(a, items) for a in atom)
        if not isinstance(atom, ir.Var):
            return atom
        made = self.context.definitions.get(atom)
        display = None
        if isinstance(made, ir.Call) and made.fn in _MADE_OF_ITEMS and self.crossing.is_primal(atom):
            inner = tuple(self._stand_in(a, items) for a in made.args)
            display = ir.Call(made.fn, inner)
            items.update((s, a) for s, a in zip(inner, made.args, strict=True) if s is not a)  # type: ignore[misc]
        elif self._kind(atom) is None and not self.crossing.is_primal(atom):
            display = made  # type: ignore[assignment]
        return self.context.define("%", self.context.value(atom), False, display)

    def _argument(self, sweep: Sweep, atom: Any) -> ir.Atom:
        if isinstance(atom, tuple):
            return sweep.builder.call(ops.make_tuple, *(self.use_content(sweep, a) for a in atom))
        return self.use_content(sweep, atom)

    def _instantiate(self, template: _Template, given: list[Any], span: ir.Span | None, sweep: Sweep) -> ir.Atom:
        """The statements of a template, written into the sweep for these arguments."""
        read = _reads(template)
        mapping: dict[ir.Atom, ir.Atom] = {}
        for stand_in, atom in zip(template.stand_ins, given, strict=True):
            pairs = zip(stand_in, atom, strict=True) if isinstance(stand_in, tuple) else [(stand_in, atom)]
            mapping |= {s: self._operand(sweep, template, s, a) for s, a in pairs if s in read and s is not a}
        mapping |= {s: self._operand(sweep, template, s, a) for s, a in template.items.items() if s in read}
        for statement in template.statements:
            if isinstance(statement, ir.Let) and statement.target is not None:
                value = ir.map_atoms(statement.value, lambda a: mapping.get(a, a))
                known = self.context.value(statement.target)
                varied = any(map(self.context.is_varied, ir.atoms_of(value)))
                target = self.context.define(statement.target.name, known, varied, value)
                mapping[statement.target] = target
                sweep.builder.add(ir.Let(target, value, span))
            else:
                sweep.builder.add(substitute(_at(statement, span), mapping))
        return mapping.get(template.result, template.result)

    def _operand(self, sweep: Sweep, template: _Template, stand_in: ir.Atom, atom: ir.Atom) -> ir.Atom:
        if template.reads_content(stand_in):
            self.note_read(atom)
            done = again(self, sweep, atom)
            return self.use(sweep, atom) if done is None else done
        return self.use(sweep, self.like(atom))

    # --- structure

    def branch(self, statement: ir.If, sweep: Sweep) -> None:
        """The reverse of an ``if``: the same test, and the reverse of the branch that ran."""
        seeds = self._seeds(statement, sweep)
        sides = [
            self._side(statement, k, block, seeds, sweep) for k, block in enumerate((statement.then, statement.orelse))
        ]
        then, orelse = sides
        keys = [k for k in dict.fromkeys([*then.bars, *orelse.bars]) if self._outlives(k, sweep, statement)]
        results, yields = [], ([], [])  # type: ignore[var-annotated]
        for key in keys:
            a, b = (self._at_join(side, key, sweep) for side in (then, orelse))
            if a == b:
                sweep.bars[key] = a
                continue
            value = part(self.context.value(key[0]), key[1])
            result = self.context.define(self.name(key[0]), value)
            sweep.bars[key] = result
            sweep.buffers.discard(key)
            results.append(result)
            yields[0].append(a)
            yields[1].append(b)
        blocks = [
            ir.Block(tuple(self.crossing.finish(side)), tuple(y))
            for side, y in zip((then, orelse), yields, strict=True)
        ]
        if results or any(b.statements for b in blocks):
            test = self.use(sweep, statement.test)
            sweep.builder.add(ir.If(test, blocks[0], blocks[1], tuple(results), statement.span))

    def _seeds(self, statement: ir.If | ir.Try, sweep: Sweep) -> list[tuple[int, Path, ir.Atom, bool]]:
        """The cotangents of the results of a statement: which result, which part of it, the cotangent, and whether that
        is an array that nothing else holds."""
        seeds = []
        for k, result in enumerate(statement.results):
            if self.is_active(result) and not stores.is_found_at_run_time(self, result):
                for path, _ in leaves(self.context.value(result)):
                    bar = self.read(sweep, result, path)
                    if bar is not None:
                        holder = sweep.holding((result, path))
                        is_own = holder is not None and (result, path) in holder.buffers
                        seeds.append((k, path, bar, is_own))
        return seeds

    def _side(
        self, statement: ir.If | ir.Try, number: int, block: ir.Block,
        seeds: list[tuple[int, Path, ir.Atom, bool]], sweep: Sweep,
    ) -> Sweep:
        """The reverse of one of the blocks that give the results of a statement."""
        child = Sweep(sweep.builder.child(), sweep.region.child(statement, number), sweep)
        for k, path, bar, is_own in seeds:
            self._seed(child, block.yields[k], path, bar, statement.results[k], statement.span, is_own)
        self.block(block, child)
        return child

    def _seed(
        self, sweep: Sweep, atom: ir.Atom, path: Path, bar: ir.Atom, result: ir.Var, span: ir.Span | None,
        is_own: bool = True,
    ) -> None:
        """Give the cotangent of a joined variable to what it was on this path; ``is_own`` says that it is an array that
        nothing else holds, where the variable is a buffer."""
        if not isinstance(atom, ir.Var):
            return
        have, want = part(self.context.value(result), path), part(self.context.value(atom), path)
        same = isinstance(have, ListOf) or (shape_of(have) is not None and shape_of(have) == shape_of(want))
        same = same or atom in self.unbound  # its value cannot be read, and a join of paths changes no shape
        if not same and not (is_number(have) and is_number(want)) and shape_of(self.context.value(bar)) is None:
            bar = sweep.builder.call(rt.unbroadcast, bar, self.part_atom(sweep, atom, path, span), span=span)
        if isinstance(want, (Sequence, Mapping)) or path == () or part(self.context.value(atom), path) != UNKNOWN:
            self.contribute(sweep, atom, bar, span, path)
            if is_own and stores.is_owned(self, result) and sweep.bars.get((atom, path)) == bar:
                sweep.buffers.add((atom, path))  # handed over: nothing else holds it any more
        else:
            index = ops.make_tuple(*path)
            raised = sweep.builder.call(
                rt.index_bar, self.use(sweep, atom), ir.Const(index[0]), bar, span=span
            )
            self.contribute(sweep, atom, raised, span)

    def home_of(self, var: ir.Var) -> Region:
        """The region that defines a variable of the primal."""
        return self.crossing.home[var]

    def _may_repeat(self, index: ir.Atom) -> bool:
        """Whether an index may name an element twice."""
        return may_repeat(self.context, index)

    def _outlives(self, key: tuple[ir.Var, Path], sweep: Sweep, statement: ir.Statement) -> bool:
        """Whether a variable is defined outside a statement of this sweep's region."""
        home = self.crossing.home[key[0]]
        return not any(
            home.inside(sweep.region.child(statement, side)) for side in range(len(ir.blocks_of(statement)))
        )

    def _at_join(self, side: Sweep, key: tuple[ir.Var, Path], sweep: Sweep) -> ir.Atom:
        """The cotangent that a side leaves for what is joined after it, whole, zeros where there is none."""
        bar = side.bars.get(key)
        if bar is None:
            bar = self.read(sweep, *key)
        if bar is None:
            return self.zero(side, key[0], key[1], None)
        bar = self._as_float(side, bar)
        value = part(self.context.value(key[0]), key[1])
        if isinstance(value, Array) and self._differs(bar, value):
            bar = cotangents.whole(side.builder, bar, self.part_atom(side, *key, None), None)
        return bar

    def _differs(self, bar: ir.Atom, value: Array) -> bool:
        return shape_of(self.context.value(bar)) != value.shape

    def loop(self, statement: ir.For | ir.While, sweep: Sweep) -> None:
        """The reverse of a loop: its trips backwards. A cotangent that no trip changes is not carried: the loop is
        written again with what it is before the loop."""
        carried = self._carried_leaves(statement, sweep)
        if not carried and not self._has_active(statement.body):
            return
        fixed = self._accumulators(statement, carried, sweep)
        while True:
            inner, params, item, count = self._reverse_trip(statement, sweep, carried, fixed)
            unchanged = {
                (k, path): self.read(sweep, statement.carried[k].result, path)
                for (k, path), param in params.items()
                if not isinstance(self.context.value(param), ListOf)  # its items go one by one, in place
                and not stores.is_owned(self, statement.carried[k].param)
                and inner.bars.get((statement.carried[k].param, path)) == param
            }
            found = {key: bar for key, bar in unchanged.items() if bar is not None and key not in fixed}
            if not found:
                break
            fixed |= found
        self._close_loop(statement, sweep, inner, params, fixed, item, count)

    def _accumulators(
        self, statement: ir.For | ir.While, carried: list[tuple[int, Path]], sweep: Sweep
    ) -> dict[tuple[int, Path], ir.Atom]:
        """The carried variables that trips only add to (``total = total + ...``): their cotangent does not change."""
        found: dict[tuple[int, Path], ir.Atom] = {}
        for k, path in carried:
            c = statement.carried[k]
            bar = self.read(sweep, c.result, path)
            value = self.context.value(c.param)
            adds = self._only_adds(statement.body.yields[k], c.param)
            if path == () and bar is not None and is_number(value) and adds:
                found[k, path] = bar
        return found

    def _only_adds(self, atom: ir.Atom, param: ir.Var) -> bool:
        while isinstance(atom, ir.Var) and self.uses[atom] == 1:
            if atom == param:
                return True
            let = self.crossing.lets.get(atom)
            if let is None or not isinstance(let.value, ir.Call) or let.value.fn not in _ADDS:
                return False
            first, second = let.value.args
            atom = second if let.value.fn == ir.Const(operator.add) and second == param else first  # type: ignore[assignment]
        return False

    def _reverse_trip(
        self, statement: ir.For | ir.While, sweep: Sweep, carried: list[tuple[int, Path]],
        fixed: dict[tuple[int, Path], ir.Atom],
    ) -> tuple[Sweep, dict[tuple[int, Path], ir.Var], ir.Var, ir.Atom]:
        """The reverse of one trip: its sweep, the carried cotangents, the item and the iterable of the reverse loop."""
        side = 0 if isinstance(statement, ir.For) else 1
        inner = Sweep(sweep.builder.child(), sweep.region.child(statement, side), sweep, is_loop=True)
        params: dict[tuple[int, Path], ir.Var] = {}
        item, count = self.crossing.trips(statement, inner)
        for k, path in carried:
            c = statement.carried[k]
            given = fixed.get((k, path))
            if given is None:
                value = part(self.context.value(c.param), path)
                given = params[k, path] = self.context.define(self.name(c.param), value)
            self._seed(inner, statement.body.yields[k], path, given, c.param, statement.span)
        self.block(statement.body, inner)
        return inner, params, item, count

    def _carried_leaves(self, statement: ir.For | ir.While, sweep: Sweep) -> list[tuple[int, Path]]:
        found = []
        for k, c in enumerate(statement.carried):
            if self.is_active(c.param) and not stores.is_found_at_run_time(self, c.param):
                found += [(k, path) for path, _ in leaves(self.context.value(c.param))]
        return found

    def _has_active(self, block: ir.Block) -> bool:
        return any(
            (isinstance(s, ir.Let) and s.target in self.useful)
            or (isinstance(s, ir.Store) and (s.target in self.useful or id(s) in self.old))
            for s in ir.walk(block)
        )

    def _close_loop(
        self, statement: ir.For | ir.While, sweep: Sweep, inner: Sweep, params: dict[tuple[int, Path], ir.Var],
        fixed: dict[tuple[int, Path], ir.Atom], item: ir.Var, count: ir.Atom,
    ) -> None:
        """Assemble the reverse loop: what it carries, and what it leaves for the variables before it."""
        carried, yields = [], []
        after: list[tuple[ir.Atom, Path, ir.Var, int]] = []
        for (k, path), param in params.items():
            c = statement.carried[k]
            init = self._loop_value(sweep, c.result, path, self.read(sweep, c.result, path))
            following: ir.Atom = ir.Const(0.0)  # a variable that the first trip finds unbound is read by no trip
            if c.init != ir.UNDEFINED or (c.param, path) in inner.bars:
                following = self._loop_value(inner, c.param, path, inner.bars.get((c.param, path)))
            at_start = part(self.context.value(c.init), path)
            result = self.context.define(
                self.name(c.param), at_start if isinstance(at_start, Array) else self.context.value(param)
            )
            carried.append(ir.Carried(param, init, result))
            yields.append(following)
            after.append((c.init, path, result, k))
        for key, param in inner.accumulators.items():
            init = self._loop_value(sweep, key[0], key[1], self.read(sweep, *key))
            result = self.context.define(self.name(key[0]), self.context.value(param))
            carried.append(ir.Carried(param, init, result))
            yields.append(inner.bars[key])
            sweep.bars[key] = result
        body = ir.Block(tuple(self.crossing.finish(inner)), tuple(yields))
        sweep.builder.add(ir.For(item, count, body, tuple(carried), span=statement.span))
        for (k, path), bar in fixed.items():
            self._seed(sweep, statement.carried[k].init, path, bar, statement.carried[k].param, statement.span)
        for atom, path, result, k in after:
            self._seed(sweep, atom, path, result, statement.carried[k].param, statement.span)

    def _as_float(self, sweep: Sweep, bar: ir.Atom) -> ir.Atom:
        """A cotangent that is an integer (the slope of ``x * n``) as the float that joins and loops take it for."""
        known = self.context.value(bar)
        if isinstance(known, Known) and type(known.value) is int:
            return ir.Const(float(known.value))
        return sweep.builder.call(float, bar) if isinstance(known, Scalar) and known.type is int else bar

    def _loop_value(self, sweep: Sweep, var: ir.Var, path: Path, bar: ir.Atom | None) -> ir.Atom:
        """A cotangent as a loop carries it: whole, zero where there is none."""
        if stores.is_owned(self, var):
            return self._make_buffer(sweep, (var, path), None)
        if bar is None:
            return self.zero(sweep, var, path, None)
        value = part(self.context.value(var), path)
        bar = self._as_float(sweep, bar)
        if isinstance(value, ListOf) and (var, path) not in sweep.buffers and not sweep.is_loop:
            return sweep.builder.call(list, bar, name=self.name(var))
        if isinstance(value, Array) and self._differs(bar, value):
            return cotangents.whole(sweep.builder, bar, self.part_atom(sweep, var, path, None), None)
        return bar


def _find_unbound(body: ir.Block) -> set[ir.Atom]:
    """The variables that have no value on some path: a zero for them is made without reading them."""
    unbound: set[ir.Atom] = {ir.UNDEFINED}
    while True:
        before = len(unbound)
        for s in ir.walk(body):
            match s:
                case ir.If(results=results) | ir.Try(results=results):
                    rows = zip(results, *(side.yields for side in ir.sides_of(s)), strict=True)
                    unbound.update(result for result, *row in rows if not unbound.isdisjoint(row))
                case ir.For(carried=carried) | ir.While(carried=carried):
                    for c in carried:
                        if c.init in unbound:
                            unbound.update((c.param, c.result))
                case _:
                    pass
        if len(unbound) == before:
            return unbound


_MAY_RAISE = tuple(map(ir.Const, (operator.truediv, operator.floordiv, operator.mod, operator.getitem)))

_ADDS = (ir.Const(operator.add), ir.Const(operator.sub))


def _reads(template: _Template) -> set[ir.Atom]:
    """The atoms that a template reads, in blocks inside its statements too."""
    found: set[ir.Atom] = {template.result}
    for statement in template.statements:
        found.update(ir.reads_of(statement))
        for block in ir.blocks_of(statement):
            found.update(block.yields)
            for inner in ir.walk(block):
                found.update(ir.reads_of(inner))
                found.update(a for b in ir.blocks_of(inner) for a in b.yields)
    return found


_MADE_OF_ITEMS = (ir.Const(ops.make_tuple), ir.Const(ops.make_list))

_DISPLAYS = {"make_set": "a set", "add_to_set": "a set comprehension", "merge_dict": "`{**a, **b}`"}
"""What the user wrote for an operation whose result cannot carry derivatives, where it does."""


def _at(statement: ir.Statement, span: ir.Span | None) -> ir.Statement:
    """A statement of a rule body at the place of the user's call."""
    match statement:
        case ir.Let() | ir.If() | ir.For() | ir.While() | ir.Store() | ir.Raise() | ir.With() | ir.Try():
            return ir.replace(statement, span=span)
        case _:
            return statement


__all__ = ["Reversal", "Reverser"]
