"""The choices that hold at a place of the program, and what they make of a call there.

    with s2s.nonsmooth(floor="zero"):
        y = np.floor(x)                   ->     y = floor_zero(x)            one function, known by its decision
    z = s2s.straight_through(f)(x)        ->     z = rt.differentiated_as(f(x), x)
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, shape_of, type_of
from s2s.analysis.abstract.parts import is_inexact
from s2s.analysis.managers import MAKERS_OF_SAFE, is_generator_based
from s2s.analysis.steps.packages import is_library_code
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.inspection import is_hashable
from s2s.core.values import UNKNOWN, AbstractValue, Array, Object, Unknown
from s2s.directives import policies, surrogates
from s2s.directives.decorated import Differentiable
from s2s.directives.differentiable import differentiable
from s2s.directives.policies import BLOCKS, Chosen, chosen
from s2s.directives.policy import Choice, Choices, Override, Policy
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.calls import user_rule_calls
from s2s.specialize.frames import GENERATED, Frame, FramedClosure, lookup
from s2s.specialize.heap.making import new_list
from s2s.specialize.site import NOT_HANDLED, At, CallSite, Handler
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = [
    "BLOCKS", "IN_LIBRARY", "Holding", "block", "blocks_alone", "call", "choose", "inside", "decorated", "make_block",
    "is_open", "note_step", "of_options", "open_method", "override", "split", "through", "under_method", "watch",
    "without",
]


@dataclass
class Holding:
    """What holds at a place, the innermost first: ``blocks`` before the ``defaults`` of decorated functions. What was
    decided is noted, with the lines."""

    blocks: Choices = ()
    defaults: Choices = ()
    noted: dict[str, None] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    made: dict[Choice, Any] = field(default_factory=dict)
    """Blocks for choices, one for each, so that the text has it once."""
    deferred: bool = False
    """Whether a call is decided when the program runs: what it meets shows then."""
    explicit: dict[int, Policy] = field(default_factory=dict)
    """What was said with the call itself, by the ``id`` of the function."""

    @property
    def all(self) -> Choices:
        return (*self.blocks, *self.defaults)

    def decided(self, fn: Any) -> Policy | Override | None:
        """What holds for a function; None where nothing does."""
        names = surrogates.names_of(fn)
        for choice in self.all:
            found = choice.find(fn, names)
            if found is not None:
                if isinstance(found[1], Override):
                    policies.note_met(choice, found[0])
                    self.met.add(policies.key_text(found[0]))
                return found[1]
            if choice.general is not None and surrogates.is_piecewise(fn) and surrogates.is_for(choice.general, fn):
                return choice.general
        return None


def of_options(options: dict[str, Any]) -> tuple[Choices, Choices]:
    """The blocks and the defaults that options have."""
    return options.get("choices", ()), options.get("nonsmooth", ())


def inside(self: Specializer, blocks: Choices, defaults: Choices = ()) -> contextlib.AbstractContextManager[None]:
    """Further choices hold, inside those that do."""
    return _holding(self, (*blocks, *self.holding.blocks), (*defaults, *self.holding.defaults))


def without(self: Specializer) -> contextlib.AbstractContextManager[None]:
    """No choice holds: what is written has decided already."""
    return _holding(self, (), ())


def blocks_alone(self: Specializer) -> contextlib.AbstractContextManager[None]:
    """The choices of blocks hold, as they do for a derivative that a program takes when it runs."""
    return _holding(self, self.holding.blocks, ())


@contextlib.contextmanager
def _holding(self: Specializer, blocks: Choices, defaults: Choices) -> Iterator[None]:
    holding = self.holding
    outside = holding.blocks, holding.defaults
    holding.blocks, holding.defaults = blocks, defaults
    self.ask_choices()
    try:
        yield
    finally:
        holding.blocks, holding.defaults = outside
        self.ask_choices()


def _has_decided(frame: Frame | None) -> bool:
    """Whether the code at this place has nothing left to choose: that of rules and models, and derivatives."""
    if frame is None or frame.has_decided:
        return True
    module = frame.fn.__module__ or ""
    return module.startswith(("s2s.rules", "s2s.models")) or GENERATED in (frame.fn.__doc__ or "")


# --- calls ----------------------------------------------------------------------------------------------------------


def choose(self: Specializer, fn: Any, args: tuple[ir.Atom, ...], kwargs: Any, span: ir.Span | None) -> Any:
    """The function to write for a call: with a derivative that was chosen for it, or as it is."""
    said = self.holding.explicit.get(id(fn)) if self.holding.explicit else None
    if not surrogates.is_piecewise(fn):
        if self.holding.all and not _has_decided(self.frame):
            _refuse_hidden_conversion(self, fn, args, kwargs, span)
        return fn
    if (said is None and _has_decided(self.frame)) or not any(map(self.context.is_varied, args)):
        return fn
    values = [self.context.value(a) for a in (*args, *(a for _, a in kwargs))]
    if any(dtype is not None and dtype.kind == "c" for dtype in map(dtype_of, values)):
        return fn
    if fn in surrogates.CONVERSIONS and not _gives_integers(self.context, fn, args, kwargs):
        return fn
    how = said or self.holding.decided(fn)
    default = surrogates.default_of(fn)
    if how is None and default == STRAIGHT:
        return _open(self, fn)
    if how is None or isinstance(how, Override) or how == default:
        if how == STRAIGHT and said is None:
            note_step(self.holding, fn, span, "")
        return fn
    if said is None:
        note(self, fn, how, span)
    return chosen(fn, how)


def _open(self: Specializer, fn: Any) -> Chosen:
    """A step of which it is decided later what it contributes."""
    root = None if self.is_dynamic else self.function
    return chosen(fn, Policy("open", why=IN_LIBRARY if is_library_code(self.frame.fn, root) else ""))


STRAIGHT = Policy("straight_through")
IN_LIBRARY = "library"
"""Why a step is open: it is one of a library, where it has its true derivative."""


def _gives_integers(context: Context, fn: Any, args: tuple[ir.Atom, ...], kwargs: Any) -> bool:
    value_of = context.value
    dtype = dtype_of(context.evaluator.call(fn, tuple(map(value_of, args)), {k: value_of(a) for k, a in kwargs}))
    return dtype is not None and dtype.kind in "iu"


def _refuse_hidden_conversion(
    self: Specializer, fn: Any, args: tuple[ir.Atom, ...], kwargs: Any, span: ir.Span | None
) -> None:
    """Refuse a function that converts to integers on its way, as ``np.full(n, x, dtype=int)`` does, where that has
    another policy."""
    rule = table.find(fn)
    varied = [a for a in (*args, *(a for _, a in kwargs)) if self.context.is_varied(a)]
    if rule is None or rule.kind != "linear" or not any(is_inexact(self.context.value(a)) for a in varied):
        return
    how = self.holding.decided(int)
    if not isinstance(how, Policy) or how == surrogates.default_of(int):
        return
    bound = table.bind(rule, args, dict(kwargs)).get("dtype")
    if isinstance(bound, ir.Var) or _gives_integers(self.context, fn, args, kwargs):
        raise error("S2S545", span=span, asked_by=self.frame.called_from, name=_name(fn), policy=how)


def is_open(self: Specializer, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> bool:
    """Whether it shows only when the program runs what a call of a function with a policy does: of which kind its
    arguments are, or to what they are converted."""
    said = self.holding.explicit.get(id(fn))
    if (said is None and _has_decided(self.frame)) or not surrogates.is_piecewise(fn):
        return False
    varied = [a for a in (*args, *kwargs.values()) if self.context.is_varied(a)]
    how = said or self.holding.decided(fn)
    if not varied or not isinstance(how, Policy) or how == surrogates.default_of(fn):
        return False
    is_conversion = fn in surrogates.CONVERSIONS
    if is_conversion and not kwargs and len(args) == 1:  # to no dtype
        return False
    if any(isinstance(self.context.value(a), Unknown) for a in varied):
        return True
    return is_conversion and any(isinstance(a, ir.Var) for a in (*args[1:2], *kwargs.values()))


def split(at: At, fn: Any, args: list[ir.Atom]) -> ir.Atom | None:
    """A call of a function that gives a rounded number and another one, where the rounded one has a policy: two calls.
    """
    place, part = surrogates.ROUNDED_PART[fn]
    if _has_decided(at.specializer.frame) or not any(map(at.context.is_varied, args)):
        return None
    with without(at.specializer):
        both = at.specializer.apply_plainly(at.call(fn, list(args), name="%"))
    rounded = at.apply_atom(ir.Const(part), list(args), {})
    other = at.apply(operator.getitem, both, ir.Const(1 - place))
    items = [rounded, other] if place == 0 else [other, rounded]
    return new_list(at, items, tuple)


def note(self: Specializer, fn: Any, how: Policy | Override, span: ir.Span | None) -> None:
    """Let the text say that a call is differentiated in another way."""
    self.holding.noted[f"# {_place(span)}{_name(fn)} is differentiated by {how}"] = None


def note_step(holding: Holding, fn: Any, span: ir.Span | None, why: str) -> None:
    """Let the text say that a step passes straight through, or ``why`` it does not."""
    said = f"{why}: {_name(fn)} contributes no derivative" if why else f"{_name(fn)} is differentiated straight through"
    holding.noted[f"# {_place(span)}{said}"] = None


def _place(span: ir.Span | None) -> str:
    return f"{span.file.rsplit('/', 1)[-1]}:{span.line}: " if span is not None else ""


def _name(fn: Any) -> str:
    if isinstance(fn, FramedClosure):
        return f"`{fn.function.name.strip('<>')}`"
    if isinstance(fn, (Unknown, Object)):
        return "a function"
    rule = table.find(fn)
    if rule is None:
        return getattr(fn, "__name__", repr(fn))
    if fn in (operator.floordiv, operator.ifloordiv):
        return "//"
    return rule.name.replace("numpy.", "np.").removeprefix("builtins.").removeprefix("_")


def override(self: Specializer, fn: Any) -> Override | None:
    """The rule that stands for that of a function at this place, None where it is its own."""
    if _has_decided(self.frame) or isinstance(fn, (Chosen, Differentiable)) or id(fn) in self.holding.explicit:
        return None
    how = self.holding.decided(fn)
    return how if isinstance(how, Override) else None


def call(site: CallSite, how: Policy | Override) -> ir.Atom:
    """A call of a function with the derivative that was chosen for it."""
    fn, varied = site.fn, site.is_varied
    if varied and not isinstance(how, Override):
        note(site.specializer, fn, how, site.span)
    if isinstance(how, Policy):
        return _by_policy(site, how)
    if isinstance(how.rule, str):
        return through(site, ir.Const(fn), how, site.args, site.kwargs)
    if varied:
        note(site.specializer, fn, how, site.span)
        return user_rule_calls.leave_call(site.call(chosen(fn, how), site.args, site.kwargs))
    with without(site.specializer):
        return site.instead(fn, site.args, site.kwargs)


def _by_policy(site: CallSite, how: Policy) -> ir.Atom:
    """A call with which it is said what stands for the derivative."""
    specializer = site.specializer
    before, specializer.holding.explicit = specializer.holding.explicit, {id(site.fn): how}
    specializer.ask_choices()
    try:
        return site.instead(site.fn, site.args, site.kwargs)
    finally:
        specializer.holding.explicit = before
        specializer.ask_choices()


def through(at: At, fn: ir.Atom, how: Override, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A call whose result is differentiated as its first argument, or not at all."""
    known = fn.value if isinstance(fn, ir.Const) else None
    varied = any(map(at.context.is_varied, (*args, *kwargs.values())))
    if how.rule == "identity" and surrogates.is_step_of_one(known):
        if varied:
            note(at.specializer, known, how, at.span)
        return _by_policy(at.call(known, args, kwargs), Policy("straight_through"))
    with without(at.specializer):
        out = at.apply_atom(fn, list(args), dict(kwargs))
    if not varied:
        return out
    named = at.value(fn) if known is None else known
    note(at.specializer, named, how, at.span)
    problem = None if how.rule == "zero" or not args else _unlike(at.value(args[0]), at.value(out))
    if problem is not None:
        raise at.refusal("S2S543", name=_name(named), hint=problem)
    if how.rule == "zero":
        return at.write(policies.stop_gradient, out)
    if not args:
        raise error("S2S543", span=at.span, name=_name(named))
    made = at.write(rt.differentiated_as, out, args[0])
    shapes = [shape_of(at.value(a)) for a in (out, args[0])]
    if isinstance(made, ir.Var) and (shapes[0] is None or shapes[0] != shapes[1]):
        at.context.kept.add(made)  # it sees to it that the shapes are equal
    return made


def _unlike(first: AbstractValue, out: AbstractValue) -> str | None:
    """Why a result cannot have the derivative of the first argument, where that is known."""
    kind, shapes = type_of(first), (shape_of(first), shape_of(out))
    dtype = first.dtype if isinstance(first, Array) else np.dtype(kind) if kind in (int, bool) else dtype_of(first)
    if dtype is not None and dtype.kind in "biu":
        return "its first argument is an integer, which carries no derivative"
    if None not in shapes and len(shapes[0]) != len(shapes[1]):  # type: ignore[arg-type]
        ranks = ", that of the argument ".join(f"{len(shape)}" for shape in shapes[::-1] if shape is not None)
        return f"the rank of its result is {ranks}"
    return None


def under(self: Specializer, callee: ir.Atom, builder: Any) -> ir.Atom:
    """What is called where a function is decided when the program runs: the function under the choices of this place.
    """
    said = self.holding.explicit.get(id(callee.value)) if isinstance(callee, ir.Const) else None
    if said is None and _has_decided(self.frame):
        return callee
    holding = self.holding
    blocks, defaults = holding.blocks, holding.defaults
    if said is not None:
        blocks, defaults = (Choice(((callee.value, said),)),), ()  # type: ignore[union-attr]
    for held, is_default in ((blocks, False), (defaults, True)):
        for choice in dict.fromkeys(held):
            holding.deferred = True
            block = ir.Const(holding.made.setdefault(choice, policies.block_of(choice)))
            made = ir.Call(ir.Const(rt.by_default), (block, callee)) if is_default else ir.Call(block, (callee,))
            callee = builder.let(made, UNKNOWN)
    return callee


def under_method(self: Specializer, callee: ir.Atom, args: list[Any], builder: Any) -> tuple[ir.Atom, list[Any]]:
    """The same for what may be a method of something differentiated: then that is the first argument of a function."""
    read = self.context.definition(callee, getattr)
    if read is not None and self.context.is_varied(callee) and self.holding.all and not _has_decided(self.frame):
        callee = builder.let(ir.Call(ir.Const(rt.method), (read[1],)), UNKNOWN)
        args = [read[0], *args]
    return under(self, callee, builder), args


def open_method(
    self: Specializer, callee: ir.Atom, args: tuple[Any, ...], kwargs: Mapping[Any, Any]
) -> ir.Call | None:
    """The call of what may be a method of an array that rounds it, of a value of which no type is known:
    ``v.astype(int)``. None for any other, and where something is chosen."""
    read = self.context.definition(callee, getattr)
    if read is None or kwargs or self.holding.all or not all(isinstance(a, ir.Const) for a in (read[1], *args)):
        return None
    fn = getattr(np.ndarray, read[1].value, None)  # type: ignore[union-attr]
    if not surrogates.is_piecewise(fn) or _has_decided(self.frame) or not self.context.is_varied(read[0]):
        return None
    if fn in surrogates.CONVERSIONS and not (len(args) == 1 and _is_integer_type(args[0].value)):
        return None
    return ir.Call(ir.Const(_open(self, fn)), (read[0], *args))


def _is_integer_type(kind: Any) -> bool:
    """Whether an option means integers."""
    if isinstance(kind, type):
        return kind is int or issubclass(kind, np.integer)
    return isinstance(kind, np.dtype) and kind.kind in "iu"


# --- blocks ---------------------------------------------------------------------------------------------------------


def make_block(site: CallSite) -> ir.Atom:
    """``s2s.nonsmooth(...)`` or ``s2s.gradient_override(...)`` in a program: made when it is compiled."""
    bound = inspect.signature(site.fn).bind(*site.args, **site.kwargs)
    given = [_literal(site, a) for a in bound.args]
    named = {k: _literal(site, a) for k, a in bound.kwargs.items()}
    made = site.fn(*given, **named)
    for _, how in made.choice.by_key:
        if isinstance(how, Override) and how.name:
            facts.registered(how.name, how.rule).folded(site.guards)
    made.place = f"{site.span.file.rsplit('/', 1)[-1]}:{site.span.line}" if site.span is not None else ""
    return ir.Const(made)


def _literal(at: At, atom: ir.Atom) -> Any:
    """What an option of a block is. Raises where it is known at run time only."""
    if isinstance(atom, ir.Const):
        return atom.value
    number = _number_outside(at, atom)
    if number is not None:
        return number
    entries = at.entries(atom)
    if entries is None or not all(isinstance(a, ir.Const) for a in entries.values()):
        rules = any(isinstance(at.value(a), Closure) for a in (entries or {}).values())
        hint = "define the rule outside of the function" if rules else ""
        raise at.refusal("S2S544", hint=hint)
    return {k: a.value for k, a in entries.items() if isinstance(a, ir.Const)}


def _number_outside(at: At, atom: ir.Atom) -> Any:
    """The value of a number that a global or a closure has, which is guarded; None for anything else."""
    made = at.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if not isinstance(made, ir.Load):
        return None
    fact = lookup(made, made.owner or at.frame.fn, made.owner)
    return fact.folded(at.guards) if fact.is_(lambda found: isinstance(found, (int, float, np.number))) else None


def decorated(at: At, decorator: Any, f: ir.Atom) -> ir.Atom:
    """A function for which a choice is made where it is used: a constant, or a function that was made in the program,
    known by its definition."""
    if isinstance(f, ir.Const):
        return ir.Const(decorator(f.value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(_call_by), ir.Const(decorator), f))
    var = at.context.define(at.name, UNKNOWN, at.context.is_varied(f), made)
    at.context.virtual_closures[var] = lambda builder: builder.let(
        ir.Call(ir.Const(decorator), (f,)), UNKNOWN, at.name, at.span)
    return var


def watch(context: Context, manager: ir.Atom, maker: Any, builder: Any, span: ir.Span | None, frame: Frame) -> ir.Atom:
    """A manager that stays in the code: it is seen to that it enters no block for which choices hold. ``maker`` is what
    its call has made it, None where that is not known."""
    sides = context.choices.get(manager, ()) if isinstance(manager, ir.Var) else ()
    if any(isinstance(side, ir.Const) and isinstance(side.value, BLOCKS) for side in sides):
        raise error("S2S544", span=span, asked_by=frame.called_from, hint=_BY_BRANCH)
    if maker is not None and _enters_no_block(maker):
        return manager
    return builder.call(policies.watched, manager, span=span)  # type: ignore[no-any-return]


_BY_BRANCH = "write the block on each side of the branch"


def _enters_no_block(maker: Any) -> bool:
    """Whether what a class or a function makes is known to enter no block: it is one of Python's or NumPy's own, but
    for those of ``contextlib`` that enter others. What a function gives that makes nothing may be anything."""
    if is_generator_based(maker):
        maker = maker.__wrapped__
    elif not isinstance(maker, type):
        return maker in MAKERS_OF_SAFE
    module = (maker.__module__ or "").split(".")[0]
    if module == "contextlib":
        return isinstance(maker, type) and issubclass(maker, _ENTER_NOTHING)
    return module in ("numpy", *sys.stdlib_module_names)


_ENTER_NOTHING = (
    contextlib.nullcontext, contextlib.closing, contextlib.suppress, contextlib.redirect_stdout,
    contextlib.redirect_stderr,
)


def _call_by(decorator: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a call of a function that was made in the program, with a choice, comes to: ``call_by`` writes it out."""
    return decorator(f)(*args, **kwargs)


def call_by(site: CallSite) -> ir.Atom:
    """A call of such a function."""
    decorator, f, *given = site.args
    assert isinstance(decorator, ir.Const)
    if decorator.value is policies.straight_through:
        return through(site, f, Override("identity"), given, site.kwargs)
    if isinstance(decorator.value, functools.partial):
        held = of_options(dict(decorator.value(_call_by).options))
    else:
        held = (decorator.value.choice,), ()
    with inside(site.specializer, *held):
        return site.result_of_atom(f, list(given), dict(site.kwargs))


def decorate(site: CallSite) -> ir.Atom | None:
    """``s2s.differentiable`` in a program, with options that are known, or on a function that is made there."""
    if not all(isinstance(a, ir.Const) for a in site.kwargs.values()):
        return None
    decorator = functools.partial(site.fn, **{k: a.value for k, a in site.kwargs.items() if isinstance(a, ir.Const)})
    return decorated(site, decorator, *site.args) if site.args else ir.Const(decorator)


def refuse_entering(site: CallSite) -> ir.Atom:
    """A block that is entered by a call of its method."""
    raise site.refusal("S2S544", hint="enter it by `with`")


# --- calls for which the program has said how they are differentiated -------------------------------------------------


def call_chosen(site: CallSite) -> ir.Atom | None:
    """A function with a derivative that was chosen for it."""
    return call(site.call(site.fn.func, site.args, site.kwargs, effect=site.effect), site.fn.how)


def call_differentiable(site: CallSite) -> ir.Atom | None:
    """A function that was decorated with choices."""
    fn = site.fn
    with inside(site.specializer, *of_options(dict(fn.options))):
        site.guards.reached(fn.func, fn, "func")
        return site.instead(fn.func, [*site.args], {**site.kwargs})


def call_decorator(site: CallSite) -> ir.Atom | None:
    """A block of choices that decorates a function."""
    if len(site.args) != 1 or site.kwargs:
        return NOT_HANDLED
    return decorated(site, site.fn, site.args[0])


def call_straight_through(site: CallSite) -> ir.Atom | None:
    """``s2s.straight_through(f)``."""
    return decorated(site, site.fn, *site.args)


def call_block(site: CallSite) -> ir.Atom | None:
    """A class of blocks of choices."""
    return make_block(site)


def by_choice(site: CallSite) -> ir.Atom | None:
    """A call of a function for which a choice holds at this place."""
    self, fn = site.specializer, site.fn
    asked = self.holding.all or self.holding.explicit
    if asked and is_open(self, fn, site.args, site.kwargs):
        return site.leave()
    if not site.kwargs and is_hashable(fn) and fn in surrogates.ROUNDED_PART:
        if not isinstance(fn, np.ufunc) or len(site.args) <= fn.nin:
            parted = split(site, fn, site.args)
            if parted is not None:
                return parted
    how = override(self, fn) if asked else None
    return NOT_HANDLED if how is None else call(site, how)


HANDLERS: dict[Any, Handler] = {_call_by: call_by, differentiable: decorate} | dict.fromkeys(
    (method for kind in BLOCKS for method in (kind.__enter__, kind.__exit__)), refuse_entering
)


def block(
    self: Specializer, manager: Any, body: ir.Block, frame: Frame, builder: Any, span: ir.Span | None
) -> bool:
    """The body of a ``with``, in which the choice of the manager holds; True where its end is not reached."""
    held, holding = manager.choice, self.holding
    met, deferred = holding.met, holding.deferred
    holding.met, holding.deferred = set(), False
    with inside(self, (held,)):
        ended = self.run_statements(body, frame, builder)
    found, is_sure = holding.met, not ended and not holding.deferred
    holding.met, holding.deferred = met | found, deferred or holding.deferred
    for key in map(policies.key_text, held.overridden):
        if key not in found and is_sure:
            raise error("S2S541", span=span, asked_by=frame.called_from, name=key, place=manager.place)
    return ended
