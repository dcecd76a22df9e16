"""Dynamic calls: a function and its arguments in, its result and a pullback out."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import linecache
import threading
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from s2s import runtime as rt
from s2s.arrays import on
from s2s.core import stack
from s2s.core.annotated import signature_of
from s2s.core.array_classes import is_array_class, module_of_arrays
from s2s.core.inspection import name_of
from s2s.core.values import Known
from s2s.directives.checkpointing import Checkpoint
from s2s.directives.user_rules import gives_gradient, value_and_pullback, value_and_tangent
from s2s.errors import DifferentiationError
from s2s.rules import table
from s2s.runtime import directions
from s2s.runtime.repeated_calls import (
    cotangents_of_call,
    cotangents_of_method,
    tangent_of_call,
    tangent_of_unchanging,
    vjp_of_unchanging,
)
from s2s.versions.signature import describe, has_float
from s2s.versions.target import own_signature

if TYPE_CHECKING:
    from s2s.core.ir import Span

Pullback = Callable[[Any], tuple[Any, ...]]


def vjp_of_call(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], changes: str = "refused"
) -> tuple[Any, Pullback]:
    """``fn(*args, **kwargs)`` and its pullback, which gives a cotangent per positional argument, then one per keyword;
    None for those that have none. ``changes`` as in ``derivative``."""
    out, pull = stack.deeper(_vjp_of_call, fn, args, kwargs, changes)
    if not isinstance(out, (str, bytes, list, tuple, dict)):
        return out, pull
    given = (*args, *kwargs.values())
    if any(_carries(value) or _is_written(value) for value in given):
        _write(out, given)

    def checked(cotangent: Any) -> tuple[Any, ...]:
        if _is_of_text(out, cotangent):
            from s2s.errors import error

            raise error("S2S180", name=name_of(fn))
        return pull(cotangent)

    return out, checked


_WRITTEN: dict[str | bytes, None] = {}
"""Texts with digits that functions have made of differentiated numbers, the last ones."""

_MOST_WRITTEN = 4096


def _write(out: Any, given: tuple[Any, ...]) -> None:
    """Note the texts in a result that are no arguments."""
    if isinstance(out, (str, bytes)):
        if _has_digits(out) and not any(out is value for value in given):
            _WRITTEN[out] = None
            if len(_WRITTEN) > _MOST_WRITTEN:
                _WRITTEN.pop(next(iter(_WRITTEN)), None)
    elif isinstance(out, (list, tuple, dict)):
        for part in out.values() if isinstance(out, dict) else out:
            _write(part, given)


def _is_written(value: Any) -> bool:
    """Whether a value is a text that may have been made of differentiated numbers."""
    return isinstance(value, (str, bytes)) and value in _WRITTEN


def _has_digits(text: str | bytes) -> bool:
    return any(character in (b"0123456789" if isinstance(text, bytes) else "0123456789") for character in text)


def _is_of_text(out: Any, cotangent: Any) -> bool:
    """Whether a cotangent comes to a text, out of which a number was read: what it was made of cannot be told."""
    if cotangent is None:
        return False
    if isinstance(out, (str, bytes)):
        return isinstance(cotangent, (float, complex, np.number, np.ndarray)) and bool(np.any(cotangent))
    if isinstance(out, dict) and isinstance(cotangent, dict):
        return any(_is_of_text(part, cotangent.get(key)) for key, part in out.items())
    if isinstance(out, (list, tuple)) and isinstance(cotangent, (list, tuple)):
        return any(map(_is_of_text, out, cotangent))
    return False


def _vjp_of_call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], changes: str) -> tuple[Any, Pullback]:
    from s2s.derivatives import derivative

    if isinstance(fn, Checkpoint):
        return fn(*args, **kwargs), lambda cotangent: vjp_of_call(fn.func, args, kwargs, "repeated")[1](cotangent)

    if gives_gradient(fn):
        value, own = value_and_pullback(fn, args, kwargs)
        return value, lambda cotangent: tuple(
            map(_found, (*own(cotangent), *[None] * len(kwargs)), (*args, *kwargs.values()))
        )
    if not any(map(_carries, (*args, *kwargs.values()))):
        nothing = tuple(_absent(value) for value in (*args, *kwargs.values()))
        return fn(*args, **kwargs), lambda cotangent: nothing
    if isinstance(fn, type) and issubclass(fn, (float, np.floating)) and len(args) == 1 and not kwargs:
        return fn(args[0]), lambda cotangent: (rt.cast(cotangent, args[0]),)
    fn = _list_of if fn is list else _tuple_of if fn is tuple else fn
    again = _again_with(fn, args)
    if again is not None:
        out, pullback = _vjp_of_call(again.fn, again.without(args), kwargs, changes)
        return out, lambda cotangent: again.with_none(pullback(cotangent))
    _check_no_class(fn)
    given, places = _by_position(fn, args, kwargs)
    rest = {name: value for name, value in kwargs.items() if name not in places}
    argnums = tuple(k for k, value in enumerate(given) if _carries(value))
    with _not_in_itself("vjp", fn, given):
        out, pullback = derivative("vjp", fn, argnums, False, "zeros", len(given), changes)(*given, **rest)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        found = stack.deeper(pullback, cotangent)
        bars = (*found[: len(args)], *(found[places[name]] if name in places else None for name in kwargs))
        values = (*args, *kwargs.values())
        return tuple(_found(bar, v) for bar, v in zip(bars, values, strict=True))

    return out, pull


def jvp_of_call(
    fn: Any, name: str | None, values: tuple[Any, ...], dots: tuple[Any, ...], keys: tuple[str, ...],
    total: int | None = None,
) -> tuple[Any, Any]:
    """The result of a call and its tangent; arguments as ``runtime.push`` has them. With ``total`` the tangents have so
    many directions, in their last dimension; the function runs once."""
    plain = tuple(None if dot is rt.OF_TEXT else dot for dot in dots)
    of_text = any(map(_is_written, values))
    out, out_dot = stack.deeper(_jvp_of_call, fn, name, values, plain, keys, total)
    if isinstance(out, (str, bytes, list, tuple, dict)) and (of_text or any(dot is not None for dot in plain)):
        _write(out, values)
    if isinstance(out, (str, bytes)):
        return out, rt.OF_TEXT if total is None and _is_written(out) else None
    if of_text and out is not None and not isinstance(out, (bool, np.bool_)):
        from s2s.errors import error

        raise error("S2S180", name=name or name_of(fn))
    return out, out_dot


def _jvp_of_call(
    fn: Any, name: str | None, values: tuple[Any, ...], dots: tuple[Any, ...], keys: tuple[str, ...],
    total: int | None,
) -> tuple[Any, Any]:
    from s2s.errors import error
    from s2s.tangents import jvp

    count = len(values) - len(keys)
    args, kwargs = values[:count], dict(zip(keys, values[count:], strict=True))
    if name is not None:
        method = _method_of(values[0], name)
        if method is not None:
            fn = method
        else:
            fn, values, args, dots, count = getattr(values[0], name), values[1:], args[1:], dots[1:], count - 1
    if gives_gradient(fn):
        if total is None:
            return value_and_tangent(fn, args, dots[:count], kwargs)
        found = [value_and_tangent(fn, args, directions.one(dots[:count], d), kwargs) for d in range(max(total, 1))]
        return found[-1][0], directions.joined([dot for _, dot in found], total)
    if any(dot is not None and _has_captured(value) for value, dot in zip(values, dots, strict=True)):
        raise error("S2S143")
    moving = [dot is not None and _carries(value) for value, dot in zip((*args, *kwargs.values()), dots, strict=True)]
    if not any(moving):
        out = fn(*args, **kwargs)
        return out, rt.zeros_of(out) if total is None else directions.lift(rt.zeros_of(out), total)
    if isinstance(fn, type) and issubclass(fn, (float, np.floating)) and len(args) == 1 and not kwargs:
        out = fn(args[0])
        return out, fn(dots[0]) if total is None else directions.tangents_like(dots[0], out, total)
    fn = _list_of if fn is list else _tuple_of if fn is tuple else fn
    again = _again_with(fn, args)
    if again is not None:
        return _jvp_of_call(again.fn, None, again.without(args), again.without(dots), keys, total)
    _check_no_class(fn)
    given, places = _by_position(fn, args, kwargs)
    rest = {key: value for key, value in kwargs.items() if key not in places}
    tangents: list[Any] = [None] * len(given)
    for k, dot in enumerate(dots):
        at = k if k < len(args) else places.get(keys[k - len(args)])
        if at is not None and moving[k]:
            tangents[at] = dot
    _check_followed(fn, given)
    with _not_in_itself("jvp", fn, (*given, *tangents)):
        if total is not None:
            return _along_all(fn, given, tangents, rest, total)
        out, out_dot = jvp(fn, given, tuple(tangents), False, rest, "refused")
    is_test = isinstance(out, (bool, np.bool_)) or (isinstance(out, np.ndarray) and out.dtype.kind == "b")
    return out, rt.zeros_of(1 * out) if out_dot is None and is_test else out_dot  # code may compute with it


def _along_all(
    fn: Any, given: tuple[Any, ...], tangents: list[Any], rest: dict[str, Any], total: int
) -> tuple[Any, Any]:
    """The result of a call and its tangents along all directions, by forward mode; where that is refused, by the
    cotangents of each number of the result."""
    from s2s.derivatives import derivative

    moved = tuple(k for k, dot in enumerate(tangents) if dot is not None)
    dots = [_along_each(tangents[k], given[k], total) for k in moved]
    try:
        made = derivative("vector_jvp", fn, moved, False, "zeros", len(given), "refused")
        out, out_dot = made(*given, **rest)(*dots)
        return out, out_dot
    except DifferentiationError as problem:
        out, pullback = _vjp_of_call(fn, given, rest, "refused")
        if any(np.iscomplexobj(part) for part in (*rt.floats(out), *rt.floats(given))):
            raise problem from None

    numbers = itertools.count()

    def along(leaf: Any) -> Any:
        rows = [pullback(cotangent) for cotangent in _units(out, next(numbers), leaf)]
        found = [sum(_product(row[k], dot) for k, dot in zip(moved, dots)) for row in rows]
        return directions.tangents_like(np.reshape(found, (*np.shape(leaf), total)), leaf, total)

    return out, rt.map_floats(along, out)


def _along_each(dot: Any, value: Any, total: int) -> Any:
    """The tangents of an argument, zeros where there is none."""
    if isinstance(value, dict):
        return {key: _along_each(dot and dot[key], part, total) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        dots = dot if dot is not None else [None] * len(value)
        return rt.rebuild(value, [_along_each(one, part, total) for one, part in zip(dots, value)])
    if is_array_class(type(value)) and not isinstance(value, np.ndarray):
        return _along_each_other(dot, value, total)
    if not isinstance(value, (np.ndarray, np.generic, float, complex)):
        return dot
    dot = np.zeros((*np.shape(value), total)) if dot is None else dot
    return directions.tangents_like(dot, value, total) if np.result_type(value).kind in "fc" else dot


def _along_each_other(dot: Any, value: Any, total: int) -> Any:
    """As ``_along_each``, of an array of another module than NumPy."""
    module = module_of_arrays(type(value))
    assert module is not None
    xp = on(module)
    dot = xp.zeros((*value.shape, total)) if dot is None else dot
    if value.dtype.kind not in "fc":
        return dot
    return on(module, "s2s.runtime.directions").tangents_like(dot, value, total)


def _units(out: Any, number: int, leaf: Any) -> list[Any]:
    """For each element of the ``leaf`` with this number among the floats and arrays of a result the cotangent that is
    one there, and zero elsewhere."""
    ones = np.eye(np.size(leaf), dtype=np.result_type(leaf)).reshape((-1, *np.shape(leaf)))
    return [_unit(out, number, one) for one in ones]


def _unit(out: Any, number: int, one: Any) -> Any:
    numbers = itertools.count()
    return rt.map_floats(lambda part: one[()] if next(numbers) == number else rt.zeros_of(part), out)


def _product(bar: Any, dot: Any) -> Any:
    """The sum of the products of a cotangent and tangents, which have directions."""
    if isinstance(dot, dict):
        return sum(_product(bar[key], part) for key, part in dot.items()) if isinstance(bar, dict) else 0.0
    if isinstance(dot, (tuple, list)):
        return sum(map(_product, bar, dot)) if isinstance(bar, (tuple, list)) else 0.0
    if dot is None or not (is_array_class(type(bar)) or isinstance(bar, (np.ndarray, np.generic, float))):
        return 0.0
    return np.tensordot(bar, dot, axes=np.ndim(bar))


def _check_no_class(fn: Any) -> None:
    """Raise NoDerivativeError for a class without a rule: what becomes of the object that it makes is not known."""
    from s2s.errors import error

    if isinstance(fn, type) and table.find(fn) is None:
        raise error("S2S201", name=fn.__name__)


def _list_of(items: Any) -> Any:
    return list(items)


def _tuple_of(items: Any) -> Any:
    return tuple(items)


class _Again(NamedTuple):
    """A call that is made again, of a function that an argument cannot be known by, such as a bound method: ``fn`` has
    it for good. With the function unknown, the derivative of such a call would be that of the same call again.

    It stands at ``place`` among the arguments, or ``inside`` all but the first, which are tuples.
    """

    fn: Any
    place: int
    inside: bool

    def without(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, or their tangents, of ``fn``."""
        if not self.inside:
            return (*args[: self.place], *args[self.place + 1 :])
        return tuple(arg and (*arg[: self.place], *arg[self.place + 1 :]) for arg in args[1:])

    def with_none(self, bars: tuple[Any, ...]) -> tuple[Any, ...]:
        """The cotangents of the arguments, from those of what ``fn`` has."""
        if not self.inside:
            return (*bars[: self.place], None, *bars[self.place :])
        return (None, *(bar and (*bar[: self.place], None, *bar[self.place :]) for bar in bars))


def _again_with(fn: Any, args: tuple[Any, ...]) -> _Again | None:
    """How to make such a call; None for any other."""
    if fn is tangent_of_call and args[0] is cotangents_of_call and not _is_known(args[1][2]):
        return _Again(_tangent_of(_cotangents_of(args[1][2])), 2, True)
    if fn is tangent_of_call and not _is_known(args[0]):
        return _Again(_tangent_of(args[0]), 0, False)
    if fn is cotangents_of_call and not _is_known(args[2]):
        return _Again(_cotangents_of(args[2]), 2, False)
    return None


def _is_known(fn: Any) -> bool:
    return isinstance(describe(fn, "a"), Known)


@functools.lru_cache(16)
def _tangent_of(fn: Any) -> Any:
    return lambda values, dots: tangent_of_unchanging(fn, values, dots)


@functools.lru_cache(16)
def _cotangents_of(fn: Any) -> Any:
    name = name_of(fn)

    def pull(cotangent: Any, before: Any, *args: Any) -> Any:
        out, pullback = vjp_of_unchanging(fn, *args)
        rt.check_repeated(out, before, name)
        return pullback(cotangent)

    return pull


_around = threading.local()
"""The call that is made again, and differentiated, around the present one."""


@contextlib.contextmanager
def _not_in_itself(mode: str, fn: Any, args: tuple[Any, ...]) -> Iterator[None]:
    """Raise NoDerivativeError where the derivative of a call that is made again, or of a function without source, would
    be that of the same call, without end: of derivatives of a higher order than are followed, and of what is not known.
    """
    from s2s.errors import error

    is_again = fn in (tangent_of_call, cotangents_of_call, cotangents_of_method)
    if not is_again and type(fn) is not types.BuiltinFunctionType:
        yield
        return
    before = getattr(_around, "call", None)
    if before is not None and before[:2] == (mode, fn) and _is_same(before[2], args):
        if not is_again:
            raise error("S2S201", name=fn.__name__)
        reason = "it is decided when the program runs, and differentiated more often than can be followed there"
        raise error("S2S202", name="a function", reason=reason)
    _around.call = mode, fn, args
    try:
        yield
    finally:
        _around.call = before


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arguments hold the same."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b)
    return a is b or (isinstance(a, (int, float, complex, np.generic)) and type(a) is type(b) and bool(a == b))


def _check_followed(fn: Any, given: tuple[Any, ...]) -> None:
    """Raise NoDerivativeError for an iterator's class, which no derivative is made of, and for arrays of objects, whose
    tangents are numbers."""
    from s2s.errors import error

    if isinstance(fn, type) and hasattr(fn, "__next__"):
        raise error("S2S201", name=name_of(fn))
    if any(isinstance(value, np.ndarray) and value.dtype.kind == "O" for value in given):
        raise error("S2S202", name=name_of(fn), reason="it computes with an array of Python objects")


def _found(bar: Any, value: Any) -> Any:
    """The cotangent of an argument, or what stands for it."""
    if bar is None:
        return _absent(value)
    return rt.CAPTURED if isinstance(value, (tuple, list, dict)) and _has_captured(value) else bar


def _has_captured(value: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether a value is, or holds, a function made inside another one that has captured floats."""
    if any(value is outer for outer in seen):
        return False
    match value:
        case types.FunctionType():
            cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
            inner = (*cells, *(value.__defaults__ or ()))
        case functools.partial():
            inner = (*value.args, *value.keywords.values())
        case tuple() | list() | dict():
            held = value.values() if isinstance(value, dict) else value
            return any(_has_captured(v, (*seen, value)) for v in held)
        case _:
            return False
    return any(_carries(v) or _has_captured(v, (*seen, value)) for v in inner)


def _absent(value: Any) -> Any:
    """What stands for the cotangent that an argument has not: marks for integers, texts and functions that have
    captured floats, which a derivative may have reached, None for the rest."""
    if _has_captured(value):
        return rt.CAPTURED
    if isinstance(value, (str, bytes)):
        return rt.OF_TEXT if _is_written(value) else None
    if is_array_class(type(value)):
        return rt.INTEGER if value.dtype.kind in "iu" else None
    return rt.INTEGER if np.asarray(value).dtype.kind in "iu" else None


def _carries(value: Any) -> bool:
    """Whether an argument can carry a derivative: numbers, arrays and containers of them, no other objects."""
    is_one = isinstance(value, (float, complex, np.inexact, tuple, list, dict)) or is_array_class(type(value))
    return (is_one or isinstance(value, np.ndarray)) and has_float(describe(value, "a"))


def _by_position(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, int]]:
    """The arguments with those keywords that carry floats passed by position, and where they went.

    Raises NoDerivativeError for a float that can only be passed by keyword: its cotangent would be lost.
    """
    active = [name for name, value in kwargs.items() if _carries(value)]
    if not active:
        return args, {}
    signature = _signature(fn, active[0])
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    places, given = {}, list(args)
    for k, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            continue
        if k == len(given) and any(name in active for name in list(signature.parameters)[k:]):
            given.append(bound.arguments[parameter.name])
            places[parameter.name] = k
    lost = [name for name in active if name not in places]
    if lost:
        from s2s.errors import error

        raise error("S2S203", span=_definition(fn), name=name_of(fn), keyword=lost[0])
    return tuple(given), places


def _signature(fn: Any, keyword: str) -> inspect.Signature:
    """The parameters of a function: its own, or those that its rule has for a compiled one that does not tell them.
    Raises NoDerivativeError where neither says which parameter a keyword means."""
    if isinstance(fn, types.FunctionType):
        return own_signature(fn)
    try:
        return signature_of(fn)
    except (ValueError, TypeError):
        rule = table.find(fn)
    if rule is None:
        from s2s.errors import error

        raise error("S2S203", name=name_of(fn), keyword=keyword)
    return rule.params


def _definition(fn: Any) -> Span | None:
    """Where the ``def`` of a function stands, for messages."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if not isinstance(code, types.CodeType):
        return None
    from s2s.core.ir import Span

    line = code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip()
    return Span(code.co_filename, line, len(text) - len(text.lstrip()), line, len(text), name_of(fn))


def vjp_of_method(
    receiver: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], changes: str = "refused"
) -> tuple[Any, Pullback]:
    """``receiver.name(*args, **kwargs)`` and its pullback, whose first cotangent is the receiver's."""
    method = _method_of(receiver, name)
    if method is not None:
        return vjp_of_call(method, (receiver, *args), kwargs, changes)
    out, pull = vjp_of_call(getattr(receiver, name), args, kwargs, changes)
    return out, lambda cotangent: (None, *pull(cotangent))


def _method_of(receiver: Any, name: str) -> Any:
    """The method of a value's class, as a function of the value; that of arrays for a number of NumPy's, where they
    have one. None where the value has something else under the name."""
    kind = np.ndarray if isinstance(receiver, np.generic) and hasattr(np.ndarray, name) else type(receiver)
    method = getattr(kind, name, None)
    is_method = isinstance(method, (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType))
    return method if is_method else None


# --- again ----------------------------------------------------------------------------------------------------------

