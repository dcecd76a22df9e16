"""The bodies of rules, in both modes: specialised once for each kind of arguments, then written where they are used.

A body that comes down to straight-line code is inlined, with the user's names for its arguments; another one is called
by name. It is specialised on stand-ins for its arguments, so that it shows which of them it reads. Where the statements
are written, and how a primal value is read there, is the ``Destination``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from s2s.analysis.functions import reads_content
from s2s.builder import cotangents
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for
from s2s.core.bounded import Recent
from s2s.core.values import AbstractValue, Array, Scalar, Unknown
from s2s.errors import UnsupportedSyntaxError
from s2s.optimize.dead import drop_dead_statements
from s2s.optimize.rewriting import substitute
from s2s.rules import functions, table
from s2s.rules.table import Rule
from s2s.specialize.calls.user_rule_bodies import call_by_name, outcome_of_rule, specialised, unchanged
from s2s.specialize.frames import Frame, FramedClosure, is_of_rules, lower_function, parameters_of
from s2s.specialize.speculation import speculate
from s2s.versions.assumptions import Assumptions

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Destination", "RuleBodies", "Template"]


@dataclass
class Destination:
    """Where the body of a rule is written, and how what it is given is read there: as it is, in forward mode."""

    builder: Builder

    def operand(self, template: Template, stand_in: ir.Atom, atom: ir.Atom) -> ir.Atom:
        """An argument, as the statements of a template read what stands for it."""
        return atom

    def argument(self, atom: ir.Atom) -> ir.Atom:
        """An argument, as a call of the body by name reads it."""
        return atom


@dataclass
class Template:
    """A rule body specialised for arguments of some kinds: what stands for them, the statements and the result."""

    stand_ins: list[Any]
    items: dict[ir.Atom, ir.Atom]
    statements: list[ir.Statement]
    result: ir.Atom
    by_name: bool
    context: Context
    """What is known of its variables."""
    names: tuple[str, ...] = ()
    """Those of the parameters."""

    @property
    def can_be_written_again(self) -> bool:
        """Whether every variable that it defines gets a name of its own each time that it is written: those inside
        branches and loops do not."""
        return self.by_name or all(isinstance(s, ir.Let) for s in self.statements)

    @functools.cached_property
    def linear(self) -> set[ir.Atom]:
        """The variables that it computes from a cotangent or tangent, and that, by the names that rules give them."""
        named = [
            s for s, name in zip(self.stand_ins, self.names, strict=False) if name == "y_bar" or name.endswith("_dot")]
        found: set[ir.Atom] = {a for s in named for a in (s if isinstance(s, tuple) else (s,))}
        for s in self.statements:
            if isinstance(s, ir.Let) and s.target is not None and not found.isdisjoint(ir.atoms_of(s.value)):
                found.add(s.target)
        return found

    @functools.cached_property
    def reads(self) -> set[ir.Atom]:
        """The atoms that it reads, in blocks inside its statements too."""
        found: set[ir.Atom] = {self.result}
        for statement in ir.walk(ir.Block(tuple(self.statements))):
            found.update(ir.reads_of(statement))
            found.update(a for b in ir.blocks_of(statement) for a in b.yields)
        return found

    @functools.cached_property
    def operands(self) -> dict[ir.Atom, str]:
        """Of each argument that is read: whether that is its "content", its "shape" alone, or its kind too."""
        stand_ins = (s if isinstance(s, tuple) else (s,) for s in self.stand_ins)
        return {
            a: "content" if self._reads_content(a) else "shape" if self._reads_shape_only(a) else "kind"
            for a in (*itertools.chain.from_iterable(stand_ins), *self.items) if a in self.reads
        }

    def _reads_content(self, stand_in: ir.Atom) -> bool:
        """Whether the statements read what an argument holds, not only its shape."""
        if self.result == stand_in:
            return True
        for s in self.statements:
            value = s.value if isinstance(s, ir.Let) else None
            if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const):
                if stand_in in ir.atoms_of(value) and reads_content(value.fn.value, value.args, stand_in):
                    return True
            elif stand_in in ir.reads_of(s) or any(True for _ in ir.blocks_of(s)):
                return True
        return False

    def _reads_shape_only(self, stand_in: ir.Atom) -> bool:
        """Whether the statements read the shape or the size of an argument, and not its dtype."""
        reading = [s for s in self.statements if stand_in in ir.reads_of(s)]
        return self.result != stand_in and all(isinstance(s, ir.Let) and _is_of_shape(s.value) for s in reading)


def _is_of_shape(value: ir.Value) -> bool:
    match value:
        case ir.Call(ir.Const(value=fn), (_, ir.Const(value="size" | "shape"))):
            return fn is getattr
        case ir.Call(ir.Const(value=fn), (_,), ()):
            return fn is np.shape or fn is np.size
    return False


_SHARED: Recent[Any, Template | None] = Recent(4096)
"""Templates for all compilations; None where what is made depends on the rest of the program."""

functions.on_change.append(_SHARED.clear)  # a body may call what another rule is given to


class RuleBodies:
    """Writes the bodies of rules into the sweeps of one function. What ``is_primal`` is read as the program has it; the
    rest was made by the sweeps. Functions of Python that a body calls are called by name too. Those to which something
    goes that it ``follows`` are inlined, where a straight line is left of the body: each operation can be rewritten."""

    def __init__(
        self, context: Context, specializer: Specializer, is_primal: Callable[[ir.Var], bool] = lambda var: True,
        follows: Callable[[Any], bool] | None = None,
    ) -> None:
        self.context = context
        self.specializer = specializer
        self.is_primal = is_primal
        self.follows = follows
        self.templates: dict[Any, Template] = {}

    def positional(
        self, body: types.FunctionType, atoms: tuple[Any, ...], span: ir.Span | None, to: Destination
    ) -> ir.Atom:
        """The result of a body that takes its arguments by position."""
        return self.named(body, dict(zip(parameters_of(body), atoms, strict=False)), span, to)

    def named(self, body: types.FunctionType, atoms: dict[str, Any], span: ir.Span | None, to: Destination) -> ir.Atom:
        """The result of a body that asks for its arguments by name; a tuple of atoms stands for a tuple."""
        given = [atoms[name] for name in parameters_of(body)]
        key = (body, *map(self._kind, given))
        template = self.templates.get(key) if None not in key else None
        if template is None:
            template = self._shared(key, given) or self._template(body, given, self.context, self.specializer)
            if None not in key and template.can_be_written_again:
                self.templates[key] = template
        if template.by_name:
            arguments = [tuple(map(to.argument, a)) if isinstance(a, tuple) else to.argument(a) for a in given]
            return to.builder.call(body, *(_whole(a, to.builder) for a in arguments), span=span)
        return self._write(template, given, span, to, _no_cotangent)

    def partial(self, rule: Rule, k: int, atoms: tuple[ir.Atom, ...], span: ir.Span | None, to: Destination) -> ir.Atom:
        """The partial derivative by the ``k``-th argument, of a rule that has one."""
        body: Any = rule.partials[k]
        if not rule.by_user:
            return self.positional(body, atoms, span, to)
        made = self.of_user(body, list(atoms), (), span, to)
        if made is not None:
            return made
        call, known = self.call_of_user(body, list(atoms), (), to)
        return to.builder.let(call, known, span=span)

    def of_user(
        self, rule: Callable[..., Any], atoms: list[Any], keys: tuple[str, ...], span: ir.Span | None,
        to: Destination, finish: Callable[[ir.Atom, Builder], ir.Atom] = lambda made, builder: made,
        anonymous: bool = False,
    ) -> ir.Atom | None:
        """What a rule of the user gives, with ``finish`` applied to it; None where it is no straight line. The last
        arguments go to parameters called ``keys``. The names of an ``anonymous`` one say nothing to the user."""
        items: dict[ir.Atom, ir.Atom] = {}
        stand_ins, scratch = [self._stand_in(a, items, self.context) for a in atoms], Builder(self.context)
        given = [_whole(s, scratch) for s in stand_ins]
        result = specialised(self.specializer, rule, given, keys, scratch, span, finish)
        if result is None:
            return None
        live = {result} if isinstance(result, ir.Var) else set()
        kept = drop_dead_statements(scratch.statements, live, self.context)
        template = Template(stand_ins, items, kept, result, False, self.context)
        return self._write(template, atoms, span, to, _nothing if anonymous else str)

    def call_of_user(
        self, rule: Callable[..., Any], atoms: list[Any], keys: tuple[str, ...], to: Destination
    ) -> tuple[ir.Call, AbstractValue]:
        """A call of a rule of the user by name, and what is known of its result."""
        scratch = Builder(self.context)
        stand_ins = [_whole(self._stand_in(a, {}, self.context), scratch) for a in atoms]
        outcome = outcome_of_rule(self.specializer, rule, stand_ins, keys)

        def argument(atom: Any) -> Any:
            if isinstance(atom, tuple):
                return tuple(map(argument, atom))
            return unchanged(to.builder, [to.argument(atom)], outcome)[0]

        return call_by_name(rule, [_whole(argument(a), to.builder) for a in atoms], keys), outcome.value

    def _kind(self, atom: Any) -> Any:
        """What of an argument decides how a rule body is specialised; None where that is more than its kind."""
        if isinstance(atom, ir.Const):
            return atom
        if not isinstance(atom, ir.Var) or atom in self.context.uncertain:
            return None
        known = self.context.value(atom)
        return known if isinstance(known, (Array, Scalar, Unknown)) else None

    # --- making a template

    def _template(
        self, body: types.FunctionType, given: list[Any], context: Context, specializer: Specializer
    ) -> Template:
        """Specialise a rule body on stand-ins for its arguments: which of them it reads is what must be kept. One whose
        code cannot be followed need not be differentiable itself, and is called by name."""
        for follows in (True, False)[self.follows is None :]:
            with contextlib.suppress(UnsupportedSyntaxError), speculate(
                specializer, Builder(context), only_if=specializer is self.specializer
            ) as speculation:
                made = self._specialised(body, given, speculation.builder, specializer, follows)
                if not follows or all(isinstance(s, ir.Let) for s in made.statements):
                    return made
                speculation.discard()
        return Template([], {}, [], ir.Const(None), True, context)

    def _specialised(
        self, body: types.FunctionType, given: list[Any], scratch: Builder, specializer: Specializer, follows: bool
    ) -> Template:
        function, context = lower_function(body), scratch.context
        frame = Frame(body, body)
        stand_ins = []
        items: dict[ir.Atom, ir.Atom] = {}
        for param, atom in zip(function.params, given, strict=True):
            stand_in = self._stand_in(atom, items, context)
            stand_ins.append(stand_in)
            if follows and self.follows is not None and self.follows(atom):
                context.varied.update(stand_in if isinstance(stand_in, tuple) else (stand_in,))
            frame.env[param.var] = _whole(stand_in, scratch)
        guards = specializer.guards.copy()
        (made,) = specializer.run(function.body, frame, scratch)
        result, specializer.guards = scratch.frozen(made), guards
        straight = all(isinstance(s, ir.Let) for s in scratch.statements)
        live = {result} if isinstance(result, ir.Var) else set()
        kept = [_brief(s) for s in drop_dead_statements(scratch.statements, live, context)]
        by_name = not straight and body.__name__ != "<lambda>"
        return Template(stand_ins, items, kept, result, by_name, context, parameters_of(body))

    def _shared(self, key: tuple[Any, ...], given: list[Any]) -> Template | None:
        """The template of a body of s2s where it is the same in every program: nothing but the kinds of the arguments
        has decided it, and it has no lengths of its own."""
        body, *kinds = key
        if self.follows is not None or not is_of_rules(body) or not all(map(_is_of_every_program, kinds)):
            return None
        key = (*key, compiled_for())
        if key not in _SHARED:
            context = Context(assumed=Assumptions(structures=True))
            made = self._template(body, given, context, self.specializer.apart(context))
            facts = context.evaluator.facts
            taken = facts.assumed or facts.equal or facts.least or facts.alike or facts.bounded
            is_decided = not (facts.fresh or taken or context.forced or context.masks)
            _SHARED[key] = made if is_decided and made.can_be_written_again else None
        return _SHARED.get(key)

    def _stand_in(self, atom: Any, items: dict[ir.Atom, ir.Atom], context: Context) -> Any:
        """What stands for an argument in a context; ``items`` gets what stands for the items of a container made by a
        display, and for what a nested function has captured."""
        if isinstance(atom, tuple):
            return tuple(self._stand_in(a, items, context) for a in atom)
        if not isinstance(atom, ir.Var):
            return atom
        known = self.context.value(atom)
        if isinstance(known, FramedClosure):
            return self._stand_in_for_closure(known, items, context)
        made = self.context.definitions.get(atom)
        display = None
        if isinstance(made, ir.Call) and made.fn in _MADE_OF_ITEMS and self.is_primal(atom):
            inner = tuple(self._stand_in(a, items, context) for a in made.args)
            display = ir.Call(made.fn, inner)
            items.update((s, a) for s, a in zip(inner, made.args, strict=True) if s is not a)  # type: ignore[misc]
        elif self._kind(atom) is None and not self.is_primal(atom):
            display = made  # type: ignore[assignment]
        stand_in = context.define("%", known, False, display)
        if atom in self.context.uncertain:
            context.uncertain.add(stand_in)
        return stand_in

    def _stand_in_for_closure(
        self, known: FramedClosure, items: dict[ir.Atom, ir.Atom], context: Context
    ) -> ir.Var:
        def inner(captured: ir.Atom) -> ir.Atom:
            found: ir.Atom = self._stand_in(captured, items, context)
            if found != captured:
                items[found] = captured
            return found

        captures, defaults = tuple(map(inner, known.captures)), tuple((k, inner(a)) for k, a in known.defaults)
        closure = dataclasses.replace(known, captures=captures, defaults=defaults)
        made = ir.MakeFunction(known.function, captures, defaults, known.late)
        return context.define("%", closure, False, made)

    # --- writing it

    def _write(
        self, template: Template, given: list[Any], span: ir.Span | None, to: Destination,
        shown: Callable[[str], str] = str,
    ) -> ir.Atom:
        """The statements of a template, written for these arguments. ``shown`` gives the names of its variables."""
        read, context = template.reads, self.context
        mapping: dict[ir.Atom, ir.Atom] = {}
        for stand_in, atom in zip(template.stand_ins, given, strict=True):
            pairs = zip(stand_in, atom, strict=True) if isinstance(stand_in, tuple) else [(stand_in, atom)]
            for s, a in pairs:
                if isinstance(s, ir.Var) and s in read:
                    mapping[s] = to.operand(template, s, a)
        for s, a in template.items.items():
            if s in read:
                mapping[s] = to.operand(template, s, a)
        for statement in template.statements:
            if isinstance(statement, ir.Let) and statement.target is not None:
                value = ir.map_atoms(statement.value, lambda a: mapping.get(a, a))
                known = template.context.value(statement.target)
                product = self._product(known, value, to.builder, span)
                if product is not None:
                    mapping[statement.target] = product
                    continue
                if context.has_strong_zeros and statement.target in template.linear:
                    value = _with_strong_zeros(value)
                varied = any(map(context.is_varied, ir.atoms_of(value)))
                target = context.define(shown(statement.target.name), known, varied, value)
                if statement.target in template.context.must_keep:  # a test
                    context.must_keep.add(target)
                if statement.target in template.context.uncertain:
                    context.uncertain.add(target)
                mapping[statement.target] = target
                to.builder.add(ir.Let(target, value, span))
            else:
                to.builder.add(substitute(_at(statement, span), mapping))
        return mapping.get(template.result, template.result)

    def _product(
        self, made: AbstractValue, value: ir.Value, builder: Builder, span: ir.Span | None
    ) -> ir.Atom | None:
        """A product of which this is known, with a cotangent that is one number everywhere; None for any other value.
        """
        if not isinstance(value, ir.Call) or value.fn not in _PRODUCTS or value.kwargs or len(value.args) != 2:
            return None
        one, other = value.args
        number = _everywhere(builder, one)
        if number is None:
            number, other = _everywhere(builder, other), one
        if number is None:
            return None
        if number == 1.0 and isinstance(other, ir.Const) and type(other.value) in (int, float):
            return ir.Const(float(other.value)) if ir.Const(1.0) in value.args else None
        known = self.context.value(other)  # type: ignore[arg-type]
        if not isinstance(known, (Array, Scalar)) or known != made:
            return None
        if number == 1.0:
            return other  # type: ignore[return-value]
        return builder.call(operator.mul, ir.Const(number), other, span=span) if isinstance(known, Array) else None  # type: ignore[arg-type]


def _with_strong_zeros(value: ir.Value) -> ir.Value:
    """A product or quotient of cotangents in which zeros are strong; any other value as it is."""
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
        return value
    return ir.replace(value, fn=ir.Const(cotangents.with_strong_zeros(value.fn.value, *value.args)))


def _nothing(name: str) -> str:
    """The name of a temporary."""
    return "%"


def _no_cotangent(name: str) -> str:
    """A name in a rule of s2s: what it calls a cotangent is not that of what the user calls so."""
    return "%" if name.endswith("_bar") else name


def _whole(given: Any, builder: Builder) -> ir.Atom:
    """An argument; a tuple of atoms as a display."""
    return builder.call(ops.make_tuple, *given) if isinstance(given, tuple) else given


_PRODUCTS = (ir.Const(operator.mul), ir.Const(np.multiply))
_MADE_OF_ITEMS = (ir.Const(ops.make_tuple), ir.Const(ops.make_list))


def _everywhere(builder: Builder, atom: Any) -> int | float | None:
    """The number that a cotangent is everywhere; None where it is not known to be one."""
    made = cotangents.definition(builder, atom, np.broadcast_to)
    found = atom if made is None else made[0]
    is_number = isinstance(found, ir.Const) and type(found.value) in (int, float)
    return found.value if is_number and (made is not None or found.value == 1.0) else None  # type: ignore[union-attr]


def _is_of_every_program(kind: Any) -> bool:
    """Whether an argument is told by its kind or its value alone, and not by which object it is."""
    return kind is not None and (type(kind) is not ir.Const or type(kind.value) in _PLAIN)


_PLAIN = (bool, int, float, complex, str, type(None), type(...))


def _brief(statement: ir.Statement) -> ir.Statement:
    """A call without the arguments that are the defaults, at its end and by name: a rule writes all that it was given.
    """
    call = statement.value if isinstance(statement, ir.Let) else None
    if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
        return statement
    rule, count = table.find(call.fn.value), len(call.args)
    if rule is None or any(isinstance(a, ir.Star) for a in call.args):
        return statement
    named = rule.params.parameters
    params = list(named.values())
    while 0 < count <= len(params) and _is_default(params[count - 1], call.args[count - 1]):
        count -= 1
    kwargs = tuple((k, a) for k, a in call.kwargs if k is None or k not in named or not _is_default(named[k], a))
    return ir.replace(statement, value=ir.replace(call, args=call.args[:count], kwargs=kwargs))


def _is_default(param: inspect.Parameter, atom: Any) -> bool:
    has_name = param.kind in (param.POSITIONAL_OR_KEYWORD, param.KEYWORD_ONLY)
    return has_name and isinstance(atom, ir.Const) and atom == ir.Const(param.default)


def _at(statement: ir.Statement, span: ir.Span | None) -> ir.Statement:
    """A statement of a rule body at the place of the user's call."""
    match statement:
        case ir.Let() | ir.If() | ir.For() | ir.While() | ir.Store() | ir.Assert() | ir.Raise() | ir.With() | ir.Try():
            return ir.replace(statement, span=span)
        case ir.Return() | ir.Break() | ir.Continue() | ir.Note():
            return statement
        case _:
            assert_never(statement)
