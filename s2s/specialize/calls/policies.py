"""The choices that hold at a place of the program.

    with s2s.nonsmooth(floor="zero"):
        y = np.floor(x)                   ->     y = floor_zero(x)            one function, known by its decision
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.steps.packages import is_library_code
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.linecaches import file_to_show
from s2s.core.values import UNKNOWN, Object, Unknown
from s2s.directives import policies, surrogates
from s2s.directives.decorated import Differentiable
from s2s.directives.policies import Chosen, chosen
from s2s.directives.policy import Choice, Choices, Override, Policy
from s2s.errors import error
from s2s.notices import Notice
from s2s.rules import table
from s2s.specialize.frames import GENERATED, Frame, FramedClosure

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["IN_LIBRARY", "Holding", "has_decided", "name_of_step", "of_options"]

STRAIGHT = Policy("straight_through")
_SAY = (
    "Say which one is meant, by `s2s.nonsmooth(\"straight_through\")` or `s2s.nonsmooth(\"zero\")` around the "
    "derivative or with `s2s.differentiable(nonsmooth=...)`, and nothing is told"
)
IN_LIBRARY = "library"
"""Why a step is open: it is one of a library, where it has its true derivative."""


class Holding:
    """What holds at a place, the innermost first: ``blocks`` before the ``defaults`` of decorated functions. What was
    decided is noted, with the lines."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.context = specializer.context
        self.blocks: Choices = ()
        self.defaults: Choices = ()
        self.noted: dict[str, None] = {}
        self.met: set[str] = set()
        self.made: dict[Choice, Any] = {}
        """Blocks for choices, one for each, so that the text has it once."""
        self.deferred = False
        """Whether a call is decided when the program runs: what it meets shows then."""
        self.by_iterations: set[ir.Span | None] = set()
        """Where loops are that have the derivative of their iterations, if they are searches."""
        self.explicit: dict[int, Policy] = {}
        """What was said with the call itself, by the ``id`` of the function."""

    @property
    def all(self) -> Choices:
        return (*self.blocks, *self.defaults)

    def decided(self, fn: Any) -> Policy | Override | None:
        """What holds for a function; None where nothing does."""
        found = surrogates.decided(fn, self.all)
        if found is None:
            return None
        choice, key, how = found
        if isinstance(how, Override):
            policies.note_met(choice, key)
            self.met.add(policies.key_text(key))
        return how

    def inside(self, blocks: Choices, defaults: Choices = ()) -> contextlib.AbstractContextManager[None]:
        """Further choices hold, inside those that do."""
        return self._only((*blocks, *self.blocks), (*defaults, *self.defaults))

    def without(self) -> contextlib.AbstractContextManager[None]:
        """No choice holds: what is written has decided already."""
        return self._only((), ())

    def blocks_alone(self) -> contextlib.AbstractContextManager[None]:
        """The choices of blocks hold, as they do for a derivative that a program takes when it runs."""
        return self._only(self.blocks, ())

    @contextlib.contextmanager
    def _only(self, blocks: Choices, defaults: Choices) -> Iterator[None]:
        outside = self.blocks, self.defaults
        self.blocks, self.defaults = blocks, defaults
        self.ask()
        try:
            yield
        finally:
            self.blocks, self.defaults = outside
            self.ask()

    def ask(self) -> None:
        """Let calls be written with the derivatives that were chosen for them."""
        self.context.choose = self.choose

    def _has_decided(self) -> bool:
        return has_decided(self.specializer.frame)

    def choose(self, fn: Any, args: tuple[ir.Atom, ...], kwargs: Any, span: ir.Span | None) -> Any:
        """The function to write for a call: with a derivative that was chosen for it, or as it is."""
        said = self.explicit.get(id(fn)) if self.explicit else None
        if not surrogates.is_piecewise(fn):
            return fn
        if (said is None and self._has_decided()) or not any(map(self.context.is_varied, args)):
            return fn
        values = [self.context.value(a) for a in (*args, *(a for _, a in kwargs))]
        if any(dtype is not None and dtype.kind == "c" for dtype in map(dtype_of, values)):
            return fn
        if fn in surrogates.CONVERSIONS and not _gives_integers(self.context, fn, args, kwargs):
            dtypes = map(surrogates.dtype_of_option, _options(args, kwargs))
            is_test = any(dtype is not None and dtype.kind == "b" for dtype in dtypes)
            return chosen(fn, Policy("zero")) if is_test else fn
        how = said or self.decided(fn)
        default = surrogates.default_of(fn)
        if how is None and default == STRAIGHT:
            return fn if _rounds_noise(self.context, fn, args, dict(kwargs)) else self._open(fn)
        if how is None or isinstance(how, Override):
            return fn
        if how == default == STRAIGHT:
            if said is None:
                self.note_step(fn, span, "")
            return fn
        if said is None:
            self.note(fn, how, span)
        return chosen(fn, how)

    def _open(self, fn: Any, is_looked_up: bool = False) -> Chosen:
        """A step of which it is decided later what it contributes."""
        root = None if self.specializer.is_dynamic else self.specializer.function
        why = IN_LIBRARY if is_library_code(self.specializer.frame.fn, root) else ""
        return chosen(fn, Policy("open", why=why, is_looked_up=is_looked_up))

    def is_open(self, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> bool:
        """Whether it shows only when the program runs what a call of a function with a policy does: of which kind its
        arguments are, or to what they are converted."""
        said = self.explicit.get(id(fn))
        if (said is None and self._has_decided()) or not surrogates.is_piecewise(fn):
            return False
        varied = [a for a in (*args, *kwargs.values()) if self.context.is_varied(a)]
        how = said or self.decided(fn)
        if not varied or not isinstance(how, Policy) or how == surrogates.default_of(fn):
            return False
        is_conversion = fn in surrogates.CONVERSIONS
        options = (*args[1:], *kwargs.values())
        if is_conversion and all(isinstance(a, ir.Const) and not _is_integer_type(a.value) for a in options):
            return False
        if any(isinstance(self.context.value(a), Unknown) for a in varied):
            return not self._is_at_run_time()
        return is_conversion and any(isinstance(a, ir.Var) for a in options)

    def _is_at_run_time(self) -> bool:
        """Whether a call is one that the program has just made: nothing shows later what shows not now."""
        frame = self.specializer.frame
        return frame is not None and "__s2s_calls__" in vars(frame.fn)

    def is_by_iterations(self, loop: ir.Span | None) -> bool:
        """Whether a loop has the derivative of its iterations, if it is a search. Notes where it does."""
        if any(choice.is_for_searches for choice in self.all):
            self.by_iterations.add(loop)
            return True
        return False

    def override(self, fn: Any) -> Override | None:
        """The rule that stands for that of a function at this place, None where it is its own."""
        if self._has_decided() or isinstance(fn, (Chosen, Differentiable)) or id(fn) in self.explicit:
            return None
        how = self.decided(fn)
        return how if isinstance(how, Override) else None

    def note(self, fn: Any, how: Policy | Override, span: ir.Span | None) -> None:
        """Let the text say that a call is differentiated in another way."""
        self.noted[f"# {_place(span)}{name_of_step(fn)} is differentiated by {how}"] = None

    def note_step(self, fn: Any, span: ir.Span | None, why: str) -> None:
        """Let the text say that a step passes straight through, or ``why`` it does not."""
        name = name_of_step(fn)
        said = f"{why}: {name} contributes no derivative" if why else f"{name} is differentiated straight through"
        self.noted[f"# {_place(span)}{said}"] = None

    def tell_step(self, fn: Any, span: ir.Span | None) -> None:
        """Let the user be told that a step passes straight through for which the program has chosen nothing."""
        name = name_of_step(fn)
        if span is not None:
            text = (
                f"{name} is differentiated straight through, as if it gave its argument; its own derivative is zero. "
                f"{_SAY}"
            )
            self.context.notices.append(Notice("StraightThroughWarning", text, span.file, span.line, span.function))

    def under(self, callee: ir.Atom, builder: Any) -> ir.Atom:
        """What is called where a function is decided when the program runs: the function under the choices of this
        place."""
        said = self.explicit.get(id(callee.value)) if isinstance(callee, ir.Const) else None
        if said is None and self._has_decided():
            return callee
        blocks, defaults = self.blocks, self.defaults
        if said is not None:
            blocks, defaults = (Choice(((callee.value, said),)),), ()  # type: ignore[union-attr]
        for held, is_default in ((blocks, False), (defaults, True)):
            for choice in dict.fromkeys(held):
                self.deferred = True
                block = ir.Const(self.made.setdefault(choice, policies.block_of(choice)))
                made = ir.Call(ir.Const(rt.by_default), (block, callee)) if is_default else ir.Call(block, (callee,))
                callee = builder.let(made, UNKNOWN)
        return callee

    def under_method(self, callee: ir.Atom, args: list[Any], builder: Any) -> tuple[ir.Atom, list[Any]]:
        """The same for what may be a method of something differentiated: then that is the first argument of a
        function."""
        read = self.context.definition(callee, getattr)
        if read is not None and self.context.is_varied(callee) and self.all and not self._has_decided():
            callee = builder.let(ir.Call(ir.Const(rt.method), (read[0], read[1])), UNKNOWN)
            args = [read[0], *args]
        return self.under(callee, builder), args

    def open_method(self, callee: ir.Atom, args: tuple[Any, ...], kwargs: Mapping[Any, Any]) -> ir.Call | None:
        """The call of what may be a method of an array that rounds it, of a value of which no type is known:
        ``v.astype(int)``. None for any other, and where something is chosen."""
        read = self.context.definition(callee, getattr)
        if read is None or kwargs or self.all or not all(isinstance(a, ir.Const) for a in (read[1], *args)):
            return None
        fn = getattr(np.ndarray, read[1].value, None)  # type: ignore[union-attr]
        if not surrogates.is_piecewise(fn) or self._has_decided() or not self.context.is_varied(read[0]):
            return None
        if fn in surrogates.CONVERSIONS and not (len(args) == 1 and _is_integer_type(args[0].value)):
            return None
        return ir.Call(ir.Const(self._open(fn, is_looked_up=True)), (read[0], *args))

    def block(self, manager: Any, body: ir.Block, frame: Frame, builder: Any, span: ir.Span | None) -> bool:
        """The body of a ``with``, in which the choice of the manager holds; True where its end is not reached."""
        held = manager.choice
        met, deferred = self.met, self.deferred
        self.met, self.deferred = set(), False
        with self.inside((held,)):
            ended = self.specializer.run_statements(body, frame, builder)
        found, is_sure = self.met, not ended and not self.deferred
        self.met, self.deferred = met | found, deferred or self.deferred
        for key in map(policies.key_text, held.overridden):
            if key not in found and is_sure:
                raise error("S2S541", span=span, asked_by=frame.called_from, name=key, place=manager.place)
        return ended


def of_options(options: dict[str, Any]) -> tuple[Choices, Choices]:
    """The blocks and the defaults that options have."""
    return options.get("choices", ()), options.get("nonsmooth", ())


def has_decided(frame: Frame | None) -> bool:
    """Whether the code at this place has nothing left to choose: that of rules and models, and derivatives."""
    if frame is None or frame.has_decided:
        return True
    module = frame.fn.__module__ or ""
    return module.startswith(("s2s.rules", "s2s.models")) or GENERATED in (frame.fn.__doc__ or "")


def _rounds_noise(context: Context, fn: Any, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]) -> bool:
    """Whether a call rounds to more decimals than half of those that numbers have: it takes away what rounding errors
    are, and is no step."""
    if getattr(fn, "__name__", "") not in ("round", "around") or len(args) == 0:
        return False
    given = kwargs.get("decimals", kwargs.get("ndigits", args[1] if len(args) > 1 else None))
    decimals = _decimals(context, given)
    if not isinstance(decimals, (int, np.integer)):
        return False
    dtype = dtype_of(context.value(args[0]))
    kind: Any = dtype if dtype is not None and dtype.kind == "f" else np.dtype(float)
    return bool(10.0 ** -int(decimals) <= np.sqrt(np.finfo(kind).eps))


def _decimals(context: Context, given: ir.Atom | None) -> Any:
    """A number of decimals that is written, or is ``np.finfo(dtype).precision``; None for another."""
    if isinstance(given, ir.Const):
        return given.value
    read = None if given is None else context.definition(given, getattr)
    asked = None if read is None else context.definition(read[0], np.finfo)
    if read is None or asked is None or not isinstance(asked[0], ir.Const):
        return None
    return getattr(np.finfo(asked[0].value), read[1].value)  # type: ignore[union-attr]


def _gives_integers(context: Context, fn: Any, args: tuple[ir.Atom, ...], kwargs: Any) -> bool:
    value_of = context.value
    dtype = dtype_of(context.evaluator.call(fn, tuple(map(value_of, args)), {k: value_of(a) for k, a in kwargs}))
    if dtype is None:  # nothing is known of the array, but what it becomes
        return any(map(_is_integer_type, _options(args, kwargs)))
    return dtype.kind in "iu"


def _options(args: tuple[ir.Atom, ...], kwargs: Any) -> list[Any]:
    """The options of a conversion that are written."""
    return [a.value for a in (*args[1:], *(a for _, a in kwargs)) if isinstance(a, ir.Const)]


def name_of_step(fn: Any) -> str:
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


def _place(span: ir.Span | None) -> str:
    return f"{file_to_show(span.file)}:{span.line}: " if span is not None else ""


def _is_integer_type(kind: Any) -> bool:
    """Whether an option means integers."""
    dtype = surrogates.dtype_of_option(kind)
    return dtype is not None and dtype.kind in "iu"
