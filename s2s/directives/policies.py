"""Choices that a program makes about its own derivatives: what stands for the derivative of a function that has none,
or instead of its own.

    @s2s.differentiable(nonsmooth="zero")                     the policy of a function
    with s2s.nonsmooth(floor="sigmoid", sharpness=50):        of a block: in the program, or around a derivative
    s2s.straight_through(np.floor)(x)                         of one call
    with s2s.gradient_override({np.floor: "identity"}):       another rule for a function

A choice holds for the calls in the functions and blocks that it is made for, and in what these call. The innermost one
that names a function decides; blocks come before the decorators of functions. Generated code says with each call that
it has been decided (``Chosen``), so that second derivatives keep to it wherever they are taken.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from s2s.core import public
from s2s.core.linecaches import file_to_show
from s2s.directives.checked_policies import policies
from s2s.directives.differentiable import with_choice
from s2s.directives.policy import AMBIENT, Choice, Override, Policy, parts_of
from s2s.errors import error, not_a_function
from s2s.rules import table

__all__ = [
    "BLOCKS", "Chosen", "block_of", "chosen", "gradient_override", "key_text", "nonsmooth", "note_met", "note_used",
    "register_gradient", "stop_gradient", "straight_through", "under", "watched",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

# --- what is chosen -------------------------------------------------------------------------------------------------


class _Entry:
    """One use of a block with other rules for functions: which of these a derivative has met, by ``key_text``, and the
    dispatchers that were called, None for a derivative that was made."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.met: set[str] = set()
        self.used: set[Any] = set()

    def missed(self) -> list[Any]:
        """The functions that no derivative has met; none where the block is part of a program that just runs."""
        met = self.met.union(*(dispatcher.met for dispatcher in self.used if dispatcher is not None))
        return [] if not self.used else [key for key in self.choice.overridden if key_text(key) not in met]


_ENTERED: ContextVar[tuple[_Entry, ...]] = ContextVar("s2s blocks", default=())


def note_met(choice: Choice, key: Any) -> None:
    """A derivative has met a function that this choice has another rule for."""
    for entry in _ENTERED.get():
        if entry.choice == choice:
            entry.met.add(key_text(key))


def note_used(dispatcher: Any) -> None:
    """A dispatcher is called: what its versions have met has been met in the blocks around. None says that a derivative
    is made."""
    for entry in _ENTERED.get():
        entry.used.add(dispatcher)


class Chosen(functools.partial[Any], public.Remade):
    """A function with the derivative that was chosen for it; called, it is the function.

    Made by ``chosen``: there is one for each function and decision.
    """

    how: Policy | Override

    @property
    def __name__(self) -> str:
        kind = self.how.name if isinstance(self.how, Policy) or self.how.name else self.how.rule
        words = getattr(self.func, "__name__", ""), kind if isinstance(kind, str) else getattr(kind, "__name__", "")
        fn, rule = (word if word.isidentifier() else "" for word in words)
        return f"{fn or 'function'}_{rule or 'rule'}"

    @functools.cached_property
    def __s2s_rule__(self) -> Any:
        from s2s.directives import surrogates

        return surrogates.rule_of(self.func, self.how)

    def __repr__(self) -> str:
        return f"<s2s.chosen {self.__name__}>"

    def __s2s_made__(self) -> Any:
        return chosen, (self.func, self.how)

    def __s2s_parts__(self) -> tuple[Any, ...]:
        return self.func, *parts_of((Choice(((self.func, self.how),)),))


_chosen: weakref.WeakValueDictionary[tuple[int, Policy | Override], Chosen] = weakref.WeakValueDictionary()


class _ChosenMethod(Chosen):
    """The same of a method, which is that of the object: ``x.astype(int)`` may be one of a NumPy number."""

    def __call__(self, receiver: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(receiver, self.func.__name__)(*args, **kwargs)


def chosen(fn: Any, how: Policy | Override) -> Chosen:
    """The function ``fn`` with another derivative: the same object each time, so that equal calls are seen to be equal.
    """
    found = _chosen.get((id(fn), how))
    if found is None:
        found = (_ChosenMethod if isinstance(fn, types.MethodDescriptorType) else Chosen)(fn)
        found.how = how
        _chosen[id(fn), how] = found
    return found


def _leave(held: ContextVar[tuple[T, ...]], is_left: Callable[[T], bool]) -> T | None:
    """Take the innermost item that is left out of what is held, and give it; None where there is none."""
    items = held.get()
    at = next((k for k, item in enumerate(items) if is_left(item)), None)
    if at is None:
        return None
    held.set((*items[:at], *items[at + 1 :]))
    return items[at]


# --- blocks ---------------------------------------------------------------------------------------------------------


class _Block:
    """A context manager, and a decorator, for which a choice holds."""

    choice: Choice
    place: str

    def __enter__(self) -> Any:
        AMBIENT.set((self.choice, *AMBIENT.get()))
        if self.choice.overridden:
            _ENTERED.set((_Entry(self.choice), *_ENTERED.get()))
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        # a generator may end its block in another order, or in another context
        _leave(AMBIENT, lambda choice: choice == self.choice)
        entry = _leave(_ENTERED, lambda entry: entry.choice == self.choice)
        for key in entry.missed() if entry is not None and kind is None else ():
            hint = "take the derivative inside the block, of a function that calls it"
            raise error("S2S541", name=key_text(key), place=self.place, hint=hint)

    def __call__(self, f: Any) -> Any:
        from s2s.directives import surrogates

        found = self.choice.find(f, surrogates.names_of(f))
        how = found[1] if found is not None else self.choice.general
        if found is not None and isinstance(how, Override):
            note_met(self.choice, found[0])
        if how is not None and (found is not None or surrogates.is_piecewise(f)):
            return chosen(f, how)
        return under(f, self.choice, "choices")

    def __repr__(self) -> str:
        return f"s2s.{type(self).__name__}({', '.join(f'{key_text(k)}: {how}' for k, how in self.choice.by_key)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.choice == self.choice

    def __hash__(self) -> int:
        return hash(self.choice)

    def __s2s_parts__(self) -> tuple[Any, ...]:
        return type(self).__name__, *parts_of((self.choice,))


class nonsmooth(_Block):
    """What stands for the derivatives of piecewise constant functions: floor, ceil, trunc, fix, round, rint, ``//``,
    conversions to integers, sign and heaviside.

    ``policy`` is for all of them, keywords for single ones by name (``floor``, ``round``, ``int`` for every conversion
    to integers, ``floor_divide`` for ``//``, ``numpy.floor`` in a dict given as ``policy``):

    - ``"straight_through"``: the derivative of what is rounded, 1. The default, but for sign and heaviside.
    - ``"zero"``: 0, the true derivative between the jumps. The default of sign and heaviside.
    - ``"error"``: refused, with the line of the call.
    - ``"sigmoid"``: that of a smooth step in place of each jump: with d the distance from the jump, h its height
      and s = 1 / (1 + exp(-sharpness d)), h sharpness s (1 - s).
    - ``"linear"``: that of a straight ramp in place of each jump: h sharpness where abs(d) <= 1 / (2 sharpness).
    - ``"hard_tanh"``: for sign, sharpness where abs(x) <= 1 / sharpness, the clipped straight-through derivative
      (Hubara et al. 2016).

    ``search="zero"``, which no policy for all includes, is for loops that find a point by comparisons: their derivative
    is that of their iterations, and not that of the point.

    Values stay what they are. Used with ``with``, around statements of the program or around the call of a derivative;
    as a decorator; and around the function of a single call, ``s2s.nonsmooth("sigmoid")(np.floor)(x)``.

    >>> import numpy as np, s2s
    >>> def f(x):
    ...     return np.floor(x)
    >>> with s2s.nonsmooth(floor="sigmoid", sharpness=50):
    ...     print(s2s.grad(f)(2.0), round(s2s.grad(f)(2.1), 4))
    12.5 0.3324
    >>> s2s.grad(f)(2.0)
    1.0

    Raises ArgumentError for an unknown policy or function name.
    """

    def __init__(
        self, policy: str | Mapping[Any, str] | None = None, /, *, sharpness: float | None = None, **by_name: str
    ) -> None:
        given: dict[Any, Any] = {**policy} if isinstance(policy, Mapping) else {} if policy is None else {"": policy}
        if not given and not by_name:
            hint = 'name one: s2s.nonsmooth(floor="zero")'
            raise error("S2S511", problem="`nonsmooth` is given no policy", hint=hint)
        self.choice = policies(given | by_name, sharpness)
        self.place = _caller()


class gradient_override(_Block):
    """Other rules for functions: ``{np.floor: "identity"}``, or by name ``{"floor": "identity"}``.

    A rule is ``"identity"`` (the cotangent goes to the first argument as it is), ``"zero"``, the name that
    ``register_gradient`` was given, or a function ``rule(out, out_bar, *args, **kwargs)`` that gives one cotangent per
    positional argument, a bare one where there is one argument. Used with ``with``, around statements of the program or
    around the call of a derivative; as a decorator; blocks may be nested, the innermost one decides.

    >>> import numpy as np, s2s
    >>> def f(x):
    ...     return np.sum(np.sign(x) * x)
    >>> def clipped(out, out_bar, x):
    ...     return out_bar * (np.abs(x) <= 1)
    >>> with s2s.gradient_override({np.sign: clipped}):
    ...     s2s.grad(f)(np.array([0.5, 2.0]))
    array([1.5, 1. ])

    Raises ArgumentError for what is no rule; and at the end of the block where no derivative in it has met one of the
    functions.
    """

    def __init__(self, rules: Mapping[Any, Any]) -> None:
        if not isinstance(rules, Mapping) or not rules:
            hint = 'write {np.floor: "identity"}'
            raise error("S2S540", name=repr(rules), role="a dict from functions to rules", hint=hint)
        self.choice = Choice(tuple((_checked_key(key), _override(key, rule)) for key, rule in rules.items()))
        self.place = _caller()


BLOCKS = (nonsmooth, gradient_override)
"""The classes of the managers for which choices hold."""


def straight_through(f: F) -> F:
    """The function ``f``, differentiated as if it gave its first argument: ``straight_through(np.floor)(x)``.

    Other arguments get no derivative. Raises ArgumentError for what is no function; NoDerivativeError where the result
    has not the shape of the argument, when a derivative is taken.

    >>> import numpy as np, s2s
    >>> s2s.grad(lambda x: s2s.straight_through(np.sign)(x) * 3)(0.5)
    3.0
    """
    if not callable(f):
        raise not_a_function(f)
    return chosen(f, Override("identity"))  # type: ignore[return-value]


REGISTERED = types.SimpleNamespace()
"""The rules that have been registered, by name. Generated code that was made with one of them is guarded."""


def register_gradient(name: str) -> Callable[[F], F]:
    """Register a rule under a name, for ``gradient_override``: a decorator of a function
    ``rule(out, out_bar, *args, **kwargs)``.

    >>> import numpy as np, s2s
    >>> @s2s.register_gradient("CustomFloor")
    ... def custom_floor(out, out_bar, x):
    ...     return out_bar * 2
    >>> with s2s.gradient_override({"floor": "CustomFloor"}):
    ...     s2s.grad(lambda x: np.floor(x))(2.5)
    2.0

    A rule that is registered later under the same name takes its place. Raises ArgumentError where the name is none.
    """
    if not isinstance(name, str) or not name or name in RULES:
        hint = 'choose a name that is not in use, such as "CustomFloor"'
        raise error("S2S540", name=repr(name), role="the name of a new rule", hint=hint)

    def register(rule: F) -> F:
        if not callable(rule):
            hint = "decorate a function rule(out, out_bar, *args)"
            raise error("S2S540", name=repr(rule), role="a gradient rule", hint=hint)
        setattr(REGISTERED, name, rule)
        return rule

    return register


RULES = ("identity", "zero")


def _override(key: Any, rule: Any) -> Override:
    if isinstance(rule, str) and rule in RULES:
        return Override(rule)
    if isinstance(rule, str) and hasattr(REGISTERED, rule):
        return Override(getattr(REGISTERED, rule), rule)
    if not callable(rule):
        known = ", ".join(map(repr, (*RULES, *vars(REGISTERED))))
        hint = f"{key_text(key)}: choose among {known}, or give a function"
        raise error("S2S540", name=repr(rule), role="a gradient rule", hint=hint)
    return Override(rule)


def _checked_key(key: Any) -> Any:
    if not (isinstance(key, str) and key) and not callable(key):
        hint = "pass the function itself, np.floor, or its name"
        raise error("S2S540", name=repr(key), role="a function that gets another rule", hint=hint)
    return getattr(key, "__wrapped__", key) if hasattr(key, "options") else key  # the function that is decorated


class watched:
    """A context manager of which it is not known what it does: it must enter no block for which choices hold, because
    the code under it was made without them. Raises ArgumentError."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def __enter__(self) -> Any:
        self.held = AMBIENT.get()
        entered = self.manager.__enter__()
        if AMBIENT.get() is not self.held:
            refusal = self._refusal()
            self.manager.__exit__(None, None, None)
            raise refusal
        return entered

    def __exit__(self, kind: Any, *exception: Any) -> Any:
        is_same = AMBIENT.get() is self.held
        swallowed = self.manager.__exit__(kind, *exception)
        if kind is None and not is_same:
            raise self._refusal()
        return swallowed

    def _refusal(self) -> Exception:
        held = AMBIENT.get()
        if held and held[0].debugging:
            return error("S2S544", hint="put a block for debugging around the call of the derivative")
        return error("S2S544", hint=f"write `with` and the block itself: {_entering(self.manager)} enters it")


def _entering(manager: Any) -> str:
    """What enters a block, in words."""
    made_by = getattr(getattr(manager, "gen", None), "__name__", "")
    return "a variable" if isinstance(manager, _Block) else f"`{made_by or type(manager).__name__}`"


def under(f: Any, choice: Choice, option: str) -> Any:
    """A function in which a choice holds, see ``with_choice``. A conversion to floats has nothing to choose."""
    is_conversion = isinstance(f, type) and issubclass(f, (float, complex, np.inexact))
    return f if is_conversion else with_choice(f, choice, option)


def block_of(choice: Choice) -> _Block:
    """A block for a choice."""
    kind = gradient_override if choice.overridden else nonsmooth
    made = kind.__new__(kind)
    made.choice, made.place = choice, ""
    return made


def key_text(key: Any) -> str:
    if isinstance(key, str):
        return key or "every one"
    module, name = getattr(key, "__module__", None) or "numpy", getattr(key, "__name__", repr(key))
    return f"{'np' if module == 'numpy' else module}.{name}"


def _caller() -> str:
    """The line of the program that makes a choice."""
    frame = sys._getframe(2)
    return f"{file_to_show(frame.f_code.co_filename)}:{frame.f_lineno}"





# --- what derivatives do not see ------------------------------------------------------------------------------------


def stop_gradient(x: T) -> T:
    """A copy of ``x`` that derivatives take for a constant: no cotangent and no tangent goes through, of any order.

    ``x`` is a number, an array, or a tuple, list or dict of these.

    >>> import numpy as np, s2s
    >>> def masked(w, mask):
    ...     return np.sum(mask * w + s2s.stop_gradient(np.abs(1 - mask) * w))
    >>> s2s.grad(masked)(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([1., 0.])
    """
    copied: Any = x
    if isinstance(x, np.ndarray):
        copied = np.copy(x)
    elif isinstance(x, dict):
        copied = {key: stop_gradient(item) for key, item in x.items()}
    elif isinstance(x, tuple) and hasattr(x, "_make"):
        copied = x._make([stop_gradient(item) for item in x])
    elif isinstance(x, (tuple, list)):
        copied = type(x)([stop_gradient(item) for item in x])
    return copied  # type: ignore[no-any-return]


table.zero(stop_gradient)
