"""Rules that users write: how a function is differentiated, in the user's own words.

    s2s.defvjp(f, rule)       rule(out, out_bar, *args, **kwargs): a cotangent for each positional argument
    s2s.defjvp(f, rule)       rule(out, tangents, *args, **kwargs): the tangent of the result
    s2s.partials(f, d1, d2)   elementwise: d(y, *inputs), a partial derivative for each argument
    @s2s.custom_gradient      over a function that gives its value and a function grad(dy)

A rule comes before what the source of the function says, and before a rule of s2s. ``docs/custom.md`` tells it all.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from s2s import runtime as rt
from s2s.core import public
from s2s.core.annotated import signature_of
from s2s.core.inspection import with_article
from s2s.core.linecaches import file_to_show
from s2s.core.record import replace
from s2s.directives.decorated import unwrap
from s2s.errors import DifferentiationError, error, not_a_function
from s2s.rules import table
from s2s.rules.table import Rule

__all__ = [
    "CODES", "CustomGradient", "LEFT_OUT", "by_gradient", "by_nested_gradient", "check_pair",
    "cotangents", "cotangents_by_pushforward", "cotangents_by_tangent", "custom_gradient", "defjvp",
    "defvjp", "give_for_rest", "gives_gradient", "left_out", "one_cotangent", "one_of_partials", "partials",
    "place_of", "pull_again", "pullback_of", "pushforward_of", "tangent_by_cotangents", "tangent_by_pullback",
    "tangent_by_rest", "text_of", "value_and_pullback", "value_and_tangent", "value_of",
]

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

ANYTHING = inspect.signature(lambda *args, **kwargs: None)

CODES = ("S2S520", "S2S521", "S2S522", "S2S523", "S2S524")
"""What is wrong with a rule that a user wrote."""


# --- registering ----------------------------------------------------------------------------------------------------


@overload
def defvjp(f: Callable[..., Any], rule: F) -> F: ...
@overload
def defvjp(f: Callable[..., Any]) -> Callable[[F], F]: ...
def defvjp(f: Callable[..., Any], rule: Any = None) -> Any:
    """Say how cotangents go back through ``f``: ``rule(out, out_bar, *args, **kwargs)`` gives a tuple with one for each
    positional argument of the call; a bare one will do where there is one argument.

    ``out`` is the result and ``out_bar`` its cotangent, of the same shape; a cotangent has the shape of its argument,
    and is None for an argument that has none. Forward mode is the transpose of the rule, unless ``defjvp`` gives it
    another one. Without ``rule`` a decorator. Gives the rule. Raises ArgumentError for what is no function.

    >>> import math, s2s
    >>> def area(r):
    ...     return math.pi * r * r
    >>> @s2s.defvjp(area)
    ... def area_vjp(out, out_bar, r):
    ...     return 2.0 * out_bar * out / r
    >>> s2s.grad(area)(0.5) == math.pi
    True
    """
    return functools.partial(defvjp, f) if rule is None else _give(f, pullback=rule)


@overload
def defjvp(f: Callable[..., Any], rule: F) -> F: ...
@overload
def defjvp(f: Callable[..., Any]) -> Callable[[F], F]: ...
def defjvp(f: Callable[..., Any], rule: Any = None) -> Any:
    """Say how tangents go through ``f``: ``rule(out, tangents, *args, **kwargs)`` gives the tangent of the result,
    linear in ``tangents``, a tuple with one for each positional argument of the call: zeros where it does not move.

    Reverse mode is the transpose of the rule, unless ``defvjp`` gives it another one. Without ``rule`` a decorator.
    Gives the rule. Raises ArgumentError for what is no function.

    >>> import s2s
    >>> def product(a, b):
    ...     return a * b
    >>> @s2s.defjvp(product)
    ... def product_jvp(out, tangents, a, b):
    ...     a_dot, b_dot = tangents
    ...     return a_dot * b + a * b_dot
    >>> s2s.jvp(product, (3.0, 5.0), (1.0, 0.0))
    (15.0, 5.0)
    >>> s2s.grad(product, argnums=(0, 1))(3.0, 5.0)
    (5.0, 3.0)
    """
    return functools.partial(defjvp, f) if rule is None else _give(f, pushforward=rule)


@overload
def partials(f: Callable[..., Any], /) -> Callable[[F], F]: ...
@overload
def partials(f: Callable[..., Any], /, *derivatives: Callable[..., Any] | None) -> None: ...
def partials(f: Callable[..., Any], /, *derivatives: Any) -> Any:
    """Say what the partial derivatives of ``f`` are, a function that works element by element: for each argument
    ``(y, *inputs) -> derivative``, ``y`` the result, or None where it is zero. Broadcasting, dtypes and both modes
    follow from these.

    Without derivatives a decorator, over one function ``(y, *inputs)`` that gives all of them in a tuple.
    Raises ArgumentError for what is no function.

    >>> import numpy as np, s2s
    >>> def softplus(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> s2s.partials(softplus, lambda y, x: 1.0 - np.exp(-y))
    >>> s2s.grad(lambda x: np.sum(softplus(x)))(np.zeros(2))
    array([0.5, 0.5])
    """
    if derivatives:
        _give_partials(f, derivatives)
        return None

    def decorate(rule: Any) -> Any:
        if not isinstance(rule, types.FunctionType):
            raise error("S2S520", name=text_of(f), kind=with_article(type(rule).__name__))
        count = rule.__code__.co_argcount - 1
        _give_partials(f, tuple(functools.partial(one_of_partials, rule, k) for k in range(count)))
        return rule

    return decorate


def one_of_partials(rule: Any, k: int, /, y: Any, *inputs: Any) -> Any:
    """One of the partial derivatives that a function gives."""
    given = rule(y, *inputs)
    return one_cotangent(given)[0] if len(inputs) == 1 else given[k]


def _give_partials(f: Any, derivatives: tuple[Any, ...]) -> None:
    f = _function(f, [d for d in derivatives if d is not None])
    rule = table.elementwise_rule(f, derivatives, _signature(f, len(derivatives)))
    _install(replace(rule, by_user=True, by_value=_is_by_value(f)))


def _signature(f: Any, count: int) -> inspect.Signature:
    """The parameters of a function, as far as they are known: at least so many by position."""
    P = inspect.Parameter
    found = None
    if not isinstance(f, np.ufunc):
        with contextlib.suppress(TypeError, ValueError):
            found = signature_of(f)
    kinds = [] if found is None else [p.kind for p in found.parameters.values()]
    if found is not None and sum(kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD) for kind in kinds) >= count:
        return found
    return inspect.Signature([P(f"x{k}", P.POSITIONAL_ONLY) for k in range(count)])


def _give(f: Any, **fields: Any) -> Any:
    """Give a function a rule, or the other half of the one that it was given."""
    (rule,) = fields.values()
    f = _function(f, [rule])
    old = table.rule_of_user(f)
    kept = {"pullback": old.pullback, "pushforward": old.pushforward} if old is not None else {}
    _install(Rule(f, "custom", ANYTHING, by_user=True, by_value=_is_by_value(f), **(kept | fields)))
    return rule


def _function(f: Any, rules: list[Any]) -> Any:
    """The function that is meant. Raises ArgumentError where it, or a part of its rule, is no function."""
    f = unwrap(f)
    f = f.__func__ if isinstance(f, types.MethodType) else f
    for given in (f, *rules):
        if not callable(given):
            raise error("S2S520", name=text_of(f), kind=with_article(type(given).__name__))
    return f


def _is_by_value(f: Any) -> bool:
    """Whether nothing but a run says what kind of array a function gives; a function that has a rule of s2s may be
    tried on examples."""
    known = table.find(f)
    return known is None or known.by_value


def _install(rule: Rule) -> None:
    """Let a rule hold from here on. What was compiled before is forgotten."""
    table.give(rule)
    derivatives = sys.modules.get("s2s.derivatives")
    if derivatives is not None:
        derivatives.forget()


# --- functions with their gradient ----------------------------------------------------------------------------------


class CustomGradient(functools.partial[R], public.Remade, Generic[P, R]):
    """A function of which the gradient is given beside the value. Called, it gives the value.

    ``func`` gives both. The object carries its rule, so it is one wherever it goes.
    """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        found: Any = self.func(*args, **kwargs)
        check_pair(found, self.func)
        return found[0]  # type: ignore[no-any-return]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __s2s_made__(self) -> Any:
        return custom_gradient, (self.func,)

    def __repr__(self) -> str:
        return f"<s2s.custom_gradient {getattr(self, '__qualname__', self.func)}>"

    @functools.cached_property
    def __s2s_rule__(self) -> Rule:
        return Rule(self, "custom", ANYTHING, pullback=functools.partial(by_gradient, self.func), by_user=True)


def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> CustomGradient[P, R]:
    """A function with a gradient of its own: ``f(*args)`` gives its value and a function ``grad(dy)`` that gives the
    cotangents of the positional arguments, a bare one where there is one argument. Used as a decorator.

    Its derivatives are those of the code of ``grad``, where what ``f`` has computed is a function of the arguments,
    unless parts of it have gradients of their own: ``custom_gradient`` may be used inside ``grad``. What ``f`` captures
    from around it gets no derivative.
    Raises ArgumentError for what is no function.

    >>> import numpy as np, s2s
    >>> @s2s.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     def grad(dy):
    ...         return dy * (1.0 - 1.0 / (1.0 + e))
    ...     return np.log(1.0 + e), grad
    >>> float(s2s.grad(log1pexp)(100.0))
    1.0
    """
    if isinstance(f, type) or not callable(f):
        raise not_a_function(f)
    made: Any = CustomGradient(f)
    functools.update_wrapper(made, f)
    return made  # type: ignore[no-any-return]


def check_pair(found: Any, f: Any) -> None:
    """Raise ArgumentError where a function does not give its value and a gradient function."""
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
        is_other = isinstance(found, tuple) and len(found) != 2
        got = f"a tuple of {len(found)}" if is_other else with_article(type(found).__name__)
        raise error("S2S523", name=text_of(f), got=got)


def by_gradient(f: Any, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The pullback of a function that gives its value and a gradient function."""
    return f(*args, **kwargs)[1](out_bar)


def value_of(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``s2s.custom_gradient(f)(*args, **kwargs)``: what the compiler takes such a call for, where ``f`` is nested."""
    return f(*args, **kwargs)[0]


def by_nested_gradient(out: Any, out_bar: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The pullback of ``value_of``, for what comes after the function."""
    return f(*args, **kwargs)[1](out_bar)


def give_for_rest(
    fn: Any, count: int, public_name: str, pullback: Any, pushforward: Any = None, takes_wanted: bool = False
) -> None:
    """Give a function of this package a rule whose pullback leaves out the first ``count`` arguments: functions, by
    which nothing is differentiated. ``public_name`` is what the user has called. A pullback that ``takes_wanted`` is
    given first which of the cotangents are read."""
    LEFT_OUT[id(fn)] = count
    if takes_wanted:
        _TAKE_WANTED.add(id(fn))
    _PUBLIC_NAMES[id(fn)] = public_name
    table.give(Rule(fn, "custom", ANYTHING, pullback=pullback, pushforward=pushforward, by_user=True))


LEFT_OUT: dict[Any, int] = {}
"""How many arguments the pullbacks of functions leave out, by the ``id`` of the function: some cannot be hashed."""

_TAKE_WANTED: set[int] = set()
_PUBLIC_NAMES: dict[Any, str] = {}

give_for_rest(value_of, 1, "s2s.custom_gradient", by_nested_gradient)


def left_out(rule: Rule) -> int:
    """How many arguments the pullback of a rule leaves out, the first ones."""
    return LEFT_OUT.get(id(rule.fn), 0) if rule.pullback is not None else 0


def pull_again(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out_bar: Any) -> tuple[Any, ...]:
    """What the pullback of a call of a function with a gradient of its own gives, as code that is differentiated."""
    return value_and_pullback(fn, args, kwargs)[1](out_bar)


def gives_gradient(fn: Any) -> bool:
    """Whether a call of a function has its gradient beside its value."""
    return isinstance(fn, CustomGradient) or fn is value_of


def value_and_pullback(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """What a function with a gradient of its own gives, and its pullback: one cotangent for each positional argument,
    None for what has none. ``f`` runs once."""
    f, given = (fn.func, args) if isinstance(fn, CustomGradient) else (args[0], args[1:])
    place = text_of(f)
    both = f(*given, **kwargs)
    check_pair(both, f)
    out, gradient = both
    _check_gradient(gradient, f)

    def pull(out_bar: Any) -> tuple[Any, ...]:
        bars = gradient(out_bar)
        bars = one_cotangent(bars) if len(given) == 1 else cotangents(bars, len(given), place)
        fitting = [rt.fit_bar(bar, x, place) for bar, x in zip(bars, given)]
        return tuple([None] * (len(args) - len(given)) + fitting)

    return out, pull


def _check_gradient(gradient: Any, f: Any) -> None:
    """Raise ArgumentError for a gradient function that cannot be called with the cotangent of the value."""
    try:
        signature_of(gradient).bind(None)
    except TypeError as problem:
        raise error("S2S546", rule=text_of(gradient), name=text_of(f), problem=problem, hint=OF_PARTS) from None
    except ValueError:  # a function without a signature
        return


OF_PARTS = "write grad(dy); for a value of several parts dy is a tuple with a cotangent for each"


def value_and_tangent(
    fn: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """What a function with a gradient of its own gives, and its tangent; None stands for a tangent that is zero."""
    out, pull = value_and_pullback(fn, args, kwargs)
    moving = [k for k, dot in enumerate(dots) if dot is not None]
    pulled = public.vjp(
        lambda out_bar: [bar for bar, dot in zip(pull(out_bar), dots) if dot is not None], rt.zeros_of(out)
    )[1]
    return out, pulled([dots[k] for k in moving])[0]


# --- both modes -----------------------------------------------------------------------------------------------------


def pullback_of(rule: Rule, wanted: tuple[bool, ...]) -> Callable[..., Any]:
    """The pullback of a rule; where it has none the transpose of its pushforward. ``wanted`` says which of the
    cotangents are read."""
    if id(rule.fn) in _TAKE_WANTED and rule.pullback is not None:
        return functools.partial(rule.pullback, wanted)
    if rule.pullback is not None:
        return rule.pullback
    return functools.partial(cotangents_by_tangent, rule.pushforward, place_of(rule))


def pushforward_of(rule: Rule, moving: tuple[bool, ...]) -> Callable[..., Any]:
    """The pushforward of a rule; where it has none the transpose of its pullback, by the arguments that are
    ``moving``."""
    if rule.pushforward is not None:
        return rule.pushforward
    transposed = tangent_by_rest if left_out(rule) else tangent_by_cotangents
    return functools.partial(transposed, rule.pullback, moving, place_of(rule))


def cotangents_by_tangent(rule: Any, place: str, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The cotangents of the arguments by a rule for the tangent of the result: its transpose, which is linear."""
    def push(*tangents: Any) -> Any:
        return rt.fit_dot(rule(out, tangents, *args, **kwargs), out, place)

    return public.vjp(push, *[rt.zeros_of(x) for x in args])[1](out_bar)


def tangent_by_cotangents(
    rule: Any, moving: tuple[bool, ...], place: str, out: Any, tangents: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """The tangent of the result by a rule for the cotangents of the arguments: its transpose, which is linear."""
    def pull(out_bar: Any) -> Any:
        given = rule(out, out_bar, *args, **kwargs)
        bars = one_cotangent(given) if len(args) == 1 else cotangents(given, len(args), place)
        return tuple([rt.fit_bar(bar, x, place) for bar, x, moves in zip(bars, args, moving) if moves])

    moved = tuple([dot for dot, moves in zip(tangents, moving) if moves])
    return public.vjp(pull, rt.zeros_of(out))[1](moved)[0]


def cotangents_by_pushforward(rule: Any, place: str, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """As ``cotangents_by_tangent``; a rule that cannot be followed is called for each element of the arguments."""
    found = _transposed(cotangents_by_tangent, rule, place, out, out_bar, *args, **kwargs)
    if found is not _NOT_FOLLOWED:
        return found
    zeros = [rt.zeros_of(x) for x in args]

    def bar(k: int) -> Any:
        def product(unit: Any) -> Any:
            dot = rt.fit_dot(rule(out, (*zeros[:k], unit, *zeros[k + 1 :]), *args, **kwargs), out, place)
            return np.sum(dot * out_bar)

        return None if zeros[k] is None else _by_units(product, args[k], place)

    return tuple([bar(k) for k in range(len(args))])


def tangent_by_pullback(
    rule: Any, moving: tuple[bool, ...], place: str, out: Any, tangents: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """As ``tangent_by_cotangents``; a rule that cannot be followed is called for each element of the result."""
    found = _transposed(tangent_by_cotangents, rule, moving, place, out, tangents, *args, **kwargs)
    if found is not _NOT_FOLLOWED:
        return found

    def product(unit: Any) -> Any:
        given = rule(out, unit, *args, **kwargs)
        bars = one_cotangent(given) if len(args) == 1 else cotangents(given, len(args), place)
        pairs = [(rt.fit_bar(bar, x, place), dot) for bar, x, dot, m in zip(bars, args, tangents, moving) if m]
        return sum(np.sum(bar * dot) for bar, dot in pairs)

    return _by_units(product, out, place)


_NOT_FOLLOWED = object()

_opaque: set[Any] = set()
"""Rules whose code cannot be differentiated."""


def _transposed(by_code: Any, rule: Any, *given: Any, **kwargs: Any) -> Any:
    """The transpose of a rule by differentiating its code; ``_NOT_FOLLOWED`` where that is not possible."""
    if rule in _opaque:
        return _NOT_FOLLOWED
    try:
        return by_code(rule, *given, **kwargs)
    except DifferentiationError as problem:
        if problem.diagnostic.code in CODES:
            raise
        _opaque.add(rule)
        return _NOT_FOLLOWED


def _by_units(product: Callable[[Any], Any], like: Any, place: str) -> Any:
    """What a linear function of values like ``like`` is the product with, by calling it for each element."""
    if not isinstance(like, (float, np.floating)) and not (isinstance(like, np.ndarray) and like.dtype.kind == "f"):
        raise error("S2S525", name=place, kind=with_article(type(like).__name__))
    if not isinstance(like, np.ndarray):
        return rt.cast(product(type(like)(1.0)), like)
    found = np.zeros_like(like)
    for i in np.ndindex(like.shape):
        unit = np.zeros_like(like)
        unit[i] = 1.0
        found[i] = product(unit)
    return found


def tangent_by_rest(
    rule: Any, moving: tuple[bool, ...], place: str, out: Any, tangents: Any, f: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """The tangent of the result by a rule that leaves out the first argument."""
    def pull(out_bar: Any) -> Any:
        given = rule(out, out_bar, f, *args, **kwargs)
        bars = one_cotangent(given) if len(args) == 1 else cotangents(given, len(args), place)
        return tuple([rt.fit_bar(bar, x, place) for bar, x, moves in zip(bars, args, moving[1:]) if moves])

    moved = tuple([dot for dot, moves in zip(tangents[1:], moving[1:]) if moves])
    return public.vjp(pull, rt.zeros_of(out))[1](moved)[0]


# --- what a rule gives ----------------------------------------------------------------------------------------------


def place_of(rule: Rule) -> str:
    """The name and the line of a rule, for messages."""
    if id(rule.fn) in LEFT_OUT:
        return _PUBLIC_NAMES[id(rule.fn)]
    return text_of(rule.pullback if rule.pullback is not None else rule.pushforward)


def text_of(fn: Any) -> str:
    """The name and the line of a function."""
    if isinstance(fn, functools.partial) and str(fn.func.__module__).startswith("s2s.") and fn.args:
        fn = fn.args[0]  # what the user wrote
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)
    return name if code is None else f"{name} ({file_to_show(code.co_filename)}:{code.co_firstlineno})"


def one_cotangent(bars: Any) -> tuple[Any, ...]:
    """What a pullback gives for a single argument as a tuple of one: it may be bare."""
    return bars if isinstance(bars, tuple) and len(bars) == 1 else (bars,)


def cotangents(bars: Any, count: int, rule: str) -> tuple[Any, ...]:
    """What a pullback gives for ``count`` arguments: a tuple of as many. Raises ArgumentError for anything else."""
    rt.check_count(bars, count, rule)
    return bars  # type: ignore[no-any-return]

