"""The bodies of rules: specialised once for each kind of arguments, then written into the reverse sweep.

A body that comes down to straight-line code is inlined, with the user's names for its arguments; another one is called
by name.
"""

from __future__ import annotations

import inspect
import operator
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.functions import reads_content
from s2s.builder import cotangents
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.bounded import Recent
from s2s.core.values import AbstractValue, Array, Scalar, Unknown
from s2s.optimize.dead import drop_dead_statements
from s2s.optimize.rewriting import substitute
from s2s.reverse.residuals.recompute import recompute
from s2s.reverse.residuals.sweep import Sweep
from s2s.rules import table
from s2s.specialize.frames import Frame, is_of_rules, lower_function, parameters_of

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser
    from s2s.specialize.specializer import Specializer

__all__ = ["Template", "argument", "inline_by_name", "inline_positional", "instantiate", "stand_in_for"]


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

    @property
    def can_be_written_again(self) -> bool:
        """Whether every variable that it defines gets a name of its own each time that it is written: those inside
        branches and loops do not."""
        return self.by_name or all(isinstance(s, ir.Let) for s in self.statements)

    def reads_content(self, stand_in: ir.Atom) -> bool:
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

    def reads_shape_only(self, stand_in: ir.Atom) -> bool:
        """Whether the statements read the shape or the size of an argument, and not its dtype."""
        reading = [s for s in self.statements if stand_in in ir.reads_of(s)]
        return self.result != stand_in and all(isinstance(s, ir.Let) and _is_of_shape(s.value) for s in reading)


def _is_of_shape(value: ir.Value) -> bool:
    match value:
        case ir.Call(ir.Const(value=fn), (_, ir.Const(value="size" | "shape"))):
            return fn is getattr
        case ir.Call(ir.Const(value=fn), (_,), ()):
            return fn is np.shape or fn is np.size
        case _:
            return False


def inline_positional(
    reverser: Reverser, body: types.FunctionType, atoms: tuple[Any, ...], span: ir.Span | None, sweep: Sweep
) -> ir.Atom:
    """A rule body that takes its arguments by position."""
    return inline_by_name(reverser, body, dict(zip(parameters_of(body), atoms, strict=False)), span, sweep)


def inline_by_name(
    reverser: Reverser, body: types.FunctionType, atoms: dict[str, Any], span: ir.Span | None, sweep: Sweep
) -> ir.Atom:
    """The result of a rule body: inlined where it comes down to straight-line code, else called by name."""
    given = [atoms[name] for name in parameters_of(body)]
    key = (body, *(_kind(reverser, atom) for atom in given))
    template = reverser.templates.get(key) if None not in key else None
    if template is None:
        template = _shared(reverser, key, given)
        template = template or _template(reverser, body, given, reverser.context, reverser.specializer)
        if None not in key and template.can_be_written_again:
            reverser.templates[key] = template
    if template.by_name:
        return sweep.builder.call(body, *(argument(reverser, sweep, a) for a in given), span=span)
    return instantiate(reverser, template, given, span, sweep)


def _kind(reverser: Reverser, atom: Any) -> Any:
    """What of an argument decides how a rule body is specialised; None where that is more than its kind."""
    if isinstance(atom, ir.Const):
        return atom
    known = reverser.context.value(atom) if isinstance(atom, ir.Var) else None
    return known if isinstance(known, (Array, Scalar, Unknown)) else None


# --- making a template ----------------------------------------------------------------------------------------------


def _template(
    reverser: Reverser, body: types.FunctionType, given: list[Any], context: Context, specializer: Specializer
) -> Template:
    """Specialise a rule body on stand-ins for its arguments: which of them it reads is what must be kept."""
    function, scratch = lower_function(body), Builder(context)
    frame = Frame(body, body)
    stand_ins = []
    items: dict[ir.Atom, ir.Atom] = {}
    for param, atom in zip(function.params, given, strict=True):
        stand_in = stand_in_for(reverser, atom, items, context)
        stand_ins.append(stand_in)
        frame.env[param.var] = scratch.call(ops.make_tuple, *stand_in) if isinstance(stand_in, tuple) else stand_in
    guards = specializer.guards.copy()
    (result,) = specializer.run(function.body, frame, scratch)
    specializer.guards = guards
    straight = all(isinstance(s, ir.Let) for s in scratch.statements)
    live = {result} if isinstance(result, ir.Var) else set()
    kept = [_brief(s) for s in drop_dead_statements(scratch.statements, live, context)]
    return Template(stand_ins, items, kept, result, not straight and body.__name__ != "<lambda>", context)


_SHARED: Recent[Any, Template | None] = Recent(4096)
"""Templates for all compilations; None where what is made depends on the rest of the program."""


def _shared(reverser: Reverser, key: tuple[Any, ...], given: list[Any]) -> Template | None:
    """The template of a body of s2s where it is the same in every program: nothing but the kinds of the arguments has
    decided it, and it has no lengths of its own."""
    body, *kinds = key
    if not is_of_rules(body) or not all(map(_is_of_every_program, kinds)):
        return None
    if key not in _SHARED:
        context = Context()
        made = _template(reverser, body, given, context, reverser.specializer.apart(context))
        facts = context.evaluator.facts
        is_decided = not (facts.fresh or facts.assumed or context.forced or context.masks)
        _SHARED[key] = made if is_decided and made.can_be_written_again else None
    return _SHARED.get(key)


def _is_of_every_program(kind: Any) -> bool:
    """Whether an argument is told by its kind or its value alone, and not by which object it is."""
    return kind is not None and (type(kind) is not ir.Const or type(kind.value) in _PLAIN)


_PLAIN = (bool, int, float, complex, str, type(None), type(...))


def _brief(statement: ir.Statement) -> ir.Statement:
    """A call without the arguments at its end that are the defaults: a rule writes all that it was given."""
    call = statement.value if isinstance(statement, ir.Let) else None
    if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
        return statement
    rule, count = table.find(call.fn.value), len(call.args)
    if rule is None or any(isinstance(a, ir.Star) for a in call.args):
        return statement
    params = list(rule.params.parameters.values())
    while 0 < count <= len(params) and _is_default(params[count - 1], call.args[count - 1]):
        count -= 1
    return ir.replace(statement, value=ir.replace(call, args=call.args[:count]))


def _is_default(param: inspect.Parameter, atom: Any) -> bool:
    return param.kind is param.POSITIONAL_OR_KEYWORD and isinstance(atom, ir.Const) and atom == ir.Const(param.default)


_MADE_OF_ITEMS = (ir.Const(ops.make_tuple), ir.Const(ops.make_list))


def stand_in_for(reverser: Reverser, atom: Any, items: dict[ir.Atom, ir.Atom], context: Context) -> Any:
    """What stands for an argument in a context; ``items`` gets what stands for the items of a container made by a
    display."""
    if isinstance(atom, tuple):
        return tuple(stand_in_for(reverser, a, items, context) for a in atom)
    if not isinstance(atom, ir.Var):
        return atom
    made = reverser.context.definitions.get(atom)
    display = None
    if isinstance(made, ir.Call) and made.fn in _MADE_OF_ITEMS and reverser.planner.is_primal(atom):
        inner = tuple(stand_in_for(reverser, a, items, context) for a in made.args)
        display = ir.Call(made.fn, inner)
        items.update((s, a) for s, a in zip(inner, made.args, strict=True) if s is not a)  # type: ignore[misc]
    elif _kind(reverser, atom) is None and not reverser.planner.is_primal(atom):
        display = made  # type: ignore[assignment]
    return context.define("%", reverser.context.value(atom), False, display)


# --- writing it -----------------------------------------------------------------------------------------------------


def argument(reverser: Reverser, sweep: Sweep, atom: Any) -> ir.Atom:
    if isinstance(atom, tuple):
        return sweep.builder.call(ops.make_tuple, *(reverser.use_content(sweep, a) for a in atom))
    return reverser.use_content(sweep, atom)


def instantiate(
    reverser: Reverser, template: Template, given: list[Any], span: ir.Span | None, sweep: Sweep
) -> ir.Atom:
    """The statements of a template, written into the sweep for these arguments."""
    read = _reads(template)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for stand_in, atom in zip(template.stand_ins, given, strict=True):
        pairs = zip(stand_in, atom, strict=True) if isinstance(stand_in, tuple) else [(stand_in, atom)]
        used = ((s, a) for s, a in pairs if s in read and isinstance(s, ir.Var))
        mapping |= {s: _operand(reverser, sweep, template, s, a) for s, a in used}
    mapping |= {s: _operand(reverser, sweep, template, s, a) for s, a in template.items.items() if s in read}
    for statement in template.statements:
        if isinstance(statement, ir.Let) and statement.target is not None:
            value = ir.map_atoms(statement.value, lambda a: mapping.get(a, a))
            known = template.context.value(statement.target)
            product = _product(reverser, known, value, sweep, span)
            if product is not None:
                mapping[statement.target] = product
                continue
            varied = any(map(reverser.context.is_varied, ir.atoms_of(value)))
            target = reverser.context.define(statement.target.name, known, varied, value)
            if statement.target in template.context.kept:  # a test
                reverser.context.kept.add(target)
            mapping[statement.target] = target
            sweep.builder.add(ir.Let(target, value, span))
        else:
            sweep.builder.add(substitute(_at(statement, span), mapping))
    return mapping.get(template.result, template.result)


def _product(
    reverser: Reverser, made: AbstractValue, value: ir.Value, sweep: Sweep, span: ir.Span | None
) -> ir.Atom | None:
    """A product of which this is known, with a cotangent that is one number everywhere; None for any other value."""
    if not isinstance(value, ir.Call) or value.fn not in _PRODUCTS or value.kwargs or len(value.args) != 2:
        return None
    one, other = value.args
    number = _everywhere(sweep, one)
    if number is None:
        number, other = _everywhere(sweep, other), one
    if number is None:
        return None
    if number == 1.0 and isinstance(other, ir.Const) and type(other.value) in (int, float):
        return ir.Const(float(other.value)) if ir.Const(1.0) in value.args else None
    known = reverser.context.value(other)  # type: ignore[arg-type]
    if not isinstance(known, (Array, Scalar)) or known != made:
        return None
    if number == 1.0:
        return other  # type: ignore[return-value]
    return sweep.builder.call(operator.mul, ir.Const(number), other, span=span) if isinstance(known, Array) else None  # type: ignore[arg-type]


_PRODUCTS = (ir.Const(operator.mul), ir.Const(np.multiply))


def _everywhere(sweep: Sweep, atom: Any) -> int | float | None:
    """The number that a cotangent is everywhere; None where it is not known to be one."""
    made = cotangents.definition(sweep.builder, atom, np.broadcast_to)
    found = atom if made is None else made[0]
    is_number = isinstance(found, ir.Const) and type(found.value) in (int, float)
    return found.value if is_number and (made is not None or found.value == 1.0) else None  # type: ignore[union-attr]


def _reads(template: Template) -> set[ir.Atom]:
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


def _operand(reverser: Reverser, sweep: Sweep, template: Template, stand_in: ir.Atom, atom: ir.Atom) -> ir.Atom:
    if template.reads_content(stand_in):
        reverser.note_read(atom)
        done = recompute(reverser, sweep, atom)
        return reverser.use(sweep, atom) if done is None else done
    source = reverser.context.shape_source(atom) if template.reads_shape_only(stand_in) else atom
    return reverser.use(sweep, reverser.like(atom) if source == atom else source)


def _at(statement: ir.Statement, span: ir.Span | None) -> ir.Statement:
    """A statement of a rule body at the place of the user's call."""
    match statement:
        case ir.Let() | ir.If() | ir.For() | ir.While() | ir.Store() | ir.Raise() | ir.With() | ir.Try():
            return ir.replace(statement, span=span)
        case _:
            return statement
