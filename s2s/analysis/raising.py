"""Which exceptions a statement may raise: the question that a ``try`` asks of its body.

The answer is a set of classes. A class stands for exactly itself where an operation is known (adding two arrays raises
``ValueError``, never a subclass of it); ``BaseException`` stands for everything; ``Warning`` for any warning, which is
an exception where the user's filters say so.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

import numpy as np

from s2s.analysis.abstract.folding import NotFolded, call_pure, plain
from s2s.analysis.abstract.lattice import is_number, truth
from s2s.analysis.abstract.shapes import ONE
from s2s.analysis.functions import facts
from s2s.analysis.memory import is_basic
from s2s.core import ir
from s2s.core.functions import Raises
from s2s.core.inspection import look_up
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Mapping, Range, Scalar, Sequence, Unknown
from s2s.rules import table

ANYTHING = frozenset({BaseException})
NOTHING: frozenset[type[BaseException]] = frozenset()
PYTHON = frozenset({ZeroDivisionError, OverflowError, ValueError, MemoryError})
"""What arithmetic of Python's numbers raises."""
NUMPY = frozenset({FloatingPointError, MemoryError, Warning})
"""What an operation of NumPy on each element of an array raises, or on numbers of NumPy's types."""
SHAPES = frozenset({ValueError})
"""What NumPy raises for shapes that do not fit; that axes do has been seen when the result was evaluated."""
CONFUSED = frozenset({TypeError, AttributeError, KeyError})
"""What is raised where the kinds of values do not fit an operation."""

_WRONG = frozenset({IndexError, ValueError, ZeroDivisionError, np.linalg.LinAlgError})
"""What is raised by a mistake of the program, and where it is known what an operation raises."""

Kinds = tuple[type[BaseException], ...]
ValueOf = Callable[[Any], AbstractValue]


def may_catch(kinds: Kinds | None, raised: Iterable[type[BaseException]]) -> bool:
    """Whether a handler for these kinds may be entered; no kinds stand for kinds that are not known."""
    if kinds is None:
        return any(True for _ in raised)
    warned = any(issubclass(kind, Warning) for kind in kinds)
    return any(cls is BaseException or issubclass(cls, kinds) or (cls is Warning and warned) for cls in raised)


def raised_in(statements: Iterable[ir.Statement], value_of: ValueOf) -> frozenset[type[BaseException]]:
    """What statements may raise, those in the blocks inside them included."""
    found: set[type[BaseException]] = set()
    for s in ir.walk(ir.Block(tuple(statements))):
        found |= raised_by(s, value_of)
    return frozenset(found)


def is_needed(target: ir.Var, call: ir.Call, value_of: ValueOf) -> bool:
    """Whether a call whose result nothing reads may matter, as it may raise what a mistake of the program raises."""
    if call.fn == ir.Const(operator.getitem) and len(call.args) == 2:
        index = value_of(call.args[1])
        if isinstance(index, Known) and isinstance(index.value, slice):
            return False
    is_of_math = isinstance(call.fn, ir.Const) and getattr(call.fn.value, "__module__", "") == math.__name__
    return is_of_math or not _WRONG.isdisjoint(raised_by(ir.Let(target, call, None), value_of))


def is_check(target: ir.Var, call: ir.Call, value_of: ValueOf) -> bool:
    """Whether a call may raise what a mistake of the program raises and costs next to nothing, so that it stays where
    nothing reads its result: a quotient of numbers, a number that is made of a text, an item."""
    if not isinstance(call.fn, ir.Const) or not call.args or any(isinstance(a, ir.Star) for a in call.args):
        return False
    fn, values = call.fn.value, [value_of(a) for a in call.args if not isinstance(a, ir.Star)]
    if any(fn is one for one in _QUOTIENTS):
        return all(map(is_number, values)) and not (isinstance(values[-1], Known) and values[-1].value)
    if any(fn is one for one in (operator.lshift, operator.rshift)):
        return all(map(is_number, values))
    if fn is int or fn is float:
        return isinstance(values[0], Known) and isinstance(values[0].value, (str, bytes))
    if fn is not operator.getitem or not (is_number(values[1]) or isinstance(values[1], Known)):
        return False
    is_slice = isinstance(values[1], Known) and isinstance(values[1].value, (slice, tuple, type(None), type(...)))
    return not is_slice and not _WRONG.isdisjoint(_raised_by_item(values, value_of(target)))


_QUOTIENTS = (operator.truediv, operator.floordiv, operator.mod, divmod)


def raised_by(s: ir.Statement, value_of: ValueOf) -> frozenset[type[BaseException]]:
    """What one statement may raise itself, the blocks inside it apart."""
    match s:
        case ir.Let(target, ir.Call(fn, args, kwargs)):
            result = UNKNOWN if target is None else value_of(target)
            return _raised_by_call(fn, args, kwargs, result, value_of)
        case ir.Let(value=ir.Load()):
            return frozenset({NameError})
        case ir.Store(_, target):
            return PYTHON | NUMPY | SHAPES | {IndexError} if isinstance(value_of(target), Array) else ANYTHING
        case ir.If(test) | ir.While(test=ir.Block(yields=(test,))):
            return _raised_by_test(test, value_of)
        case ir.For(iterable=iterable):
            return NOTHING if isinstance(value_of(iterable), Range) else ANYTHING
        case ir.With():
            return ANYTHING
        case ir.Assert(test):
            return frozenset({AssertionError}) | _raised_by_test(test, value_of)
        case ir.Raise(exception):
            return frozenset({class_of(exception, value_of) or BaseException})
        case ir.Let() | ir.While() | ir.Try() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
            return NOTHING
        case _:
            assert_never(s)


def class_of(exception: ir.Atom | None, value_of: ValueOf) -> type[BaseException] | None:
    """The class of what ``raise`` raises, where it is known."""
    known = None if exception is None else value_of(exception)
    if not isinstance(known, Known):
        return None
    if isinstance(known.value, type):
        return known.value if issubclass(known.value, BaseException) else TypeError
    return type(known.value) if isinstance(known.value, BaseException) else TypeError


def _raised_by_test(test: ir.Atom, value_of: ValueOf) -> frozenset[type[BaseException]]:
    value = value_of(test)
    if is_number(value) or truth(value) is not None or isinstance(value, (Sequence, Mapping)):
        return NOTHING
    return frozenset({ValueError}) if isinstance(value, Array) else ANYTHING


def _raised_by_call(
    fn: ir.Atom, args: tuple[Any, ...], kwargs: Any, result: AbstractValue, value_of: ValueOf
) -> frozenset[type[BaseException]]:
    if not isinstance(fn, ir.Const) or any(isinstance(a, ir.Star) for a in args):
        return ANYTHING
    known = fn.value
    raises = facts(known).raises
    if raises is Raises.NEVER or (isinstance(known, type) and issubclass(known, BaseException)):
        return NOTHING
    values = [value_of(a) for a in (*args, *(atom for _, atom in kwargs))]
    if known is getattr:
        return NOTHING if _has_attribute(values, result) else ANYTHING
    if known is operator.getitem:
        return _raised_by_item(values, result)
    if known is len:
        return NOTHING if result != UNKNOWN or isinstance(values[0], Array) else ANYTHING
    plain = all(map(_is_python_number, values))
    if plain and raises is Raises.NOT_FOR_PYTHON and not isinstance(result, Unknown):
        return NOTHING
    numeric = all(is_number(v) or isinstance(v, (Array, Known, Sequence)) for v in values)
    if numeric and raises is Raises.NOT_FOR_ARRAYS:
        return NOTHING
    rule = table.find(known)
    if not numeric or (rule is None and not _is_arithmetic(known)) or (rule is not None and rule.by_user):
        return ANYTHING
    found = _raised_by_numbers(known, values)
    if str(getattr(known, "__module__", "")).startswith(("numpy.linalg", "scipy.linalg")):
        found |= {np.linalg.LinAlgError}
    return found if result != UNKNOWN else found | CONFUSED


def _raised_by_numbers(fn: Any, values: list[AbstractValue]) -> frozenset[type[BaseException]]:
    """What a function of arrays and numbers raises where it takes values of these kinds."""
    if all(map(_is_python_number, values)) and getattr(fn, "__module__", "") in (math.__name__, "_operator"):
        return PYTHON
    known = [isinstance(v, Array) or (isinstance(v, Scalar) and issubclass(v.type, np.generic)) for v in values]
    found = NUMPY if any(known) else NUMPY | PYTHON
    if not _is_arithmetic(fn):
        return found | SHAPES | ({IndexError} if facts(fn).raises is Raises.OUT_OF_BOUNDS else NOTHING)
    shaped = [v for v in values if isinstance(v, Sequence) or (isinstance(v, Array) and v.shape != ())]
    return found | SHAPES if len(shaped) > 1 and not (facts(fn).elementwise and _fit(shaped)) else found


def _fit(values: Iterable[AbstractValue]) -> bool:
    """Whether arrays certainly broadcast to one shape: lengths of an axis are the same, or 1."""
    shapes = [v.shape if isinstance(v, Array) else None for v in values]
    if None in shapes:
        return False
    axes = itertools.zip_longest(*(reversed(shape) for shape in shapes if shape is not None), fillvalue=ONE)
    return all(len({dim for dim in axis if dim != ONE}) <= 1 for axis in axes)


def _is_python_number(value: AbstractValue) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, np.generic)
    return isinstance(value, Scalar) and value.type in (int, float, bool)


def _is_arithmetic(fn: Any) -> bool:
    return isinstance(fn, np.ufunc) or getattr(fn, "__module__", "") in (math.__name__, "_operator")


def _has_attribute(values: list[AbstractValue], result: AbstractValue) -> bool:
    receiver, name = values[0], values[1]
    if not isinstance(name, Known):
        return False
    if isinstance(receiver, Known):  # the compiler has read it
        return True
    owner = np.ndarray if isinstance(receiver, Array) else receiver.type if isinstance(receiver, Scalar) else None
    return result != UNKNOWN or (owner is not None and hasattr(owner, name.value))


def _raised_by_item(values: list[AbstractValue], result: AbstractValue) -> frozenset[type[BaseException]]:
    container, index = values
    match container:
        case Sequence() | Mapping() if isinstance(index, Known) and result != UNKNOWN:
            return NOTHING
        case Array() if _only_slices(index):
            return NOTHING
        case Array() if is_basic(index) or isinstance(index, (Array, Sequence)):
            return frozenset({IndexError, MemoryError})
        case _ if any(isinstance(v, Unknown) for v in values):
            return ANYTHING
        case _:
            return frozenset({IndexError}) | CONFUSED


def _only_slices(index: AbstractValue) -> bool:
    """Whether an index can be out of no bounds: slices and ``...``."""
    if isinstance(index, Known):
        return index.value is Ellipsis
    return isinstance(index, Sequence) and index.type is slice


def certain_error(fn: Any, values: list[AbstractValue]) -> Exception | None:
    """The exception that a built-in function or an operator certainly raises for values of these kinds: for objects
    that are known, whatever it raises; for numbers of known types, a TypeError."""
    checked = look_up(fn, "__module__", "") in ("builtins", "_operator")
    if not checked or not all(is_number(v) or _is_plain(v) for v in values):
        return None
    if not all(isinstance(v, Known) or (isinstance(v, Scalar) and v.type in (int, float, bool)) for v in values):
        return None
    known = all(isinstance(v, Known) for v in values)
    try:
        call_pure(fn, [plain(v.value) if isinstance(v, Known) else v.type(2) for v in values])  # type: ignore
    except NotFolded:
        return None
    except Exception as problem:
        return problem if known or isinstance(problem, TypeError) else None
    return None


def _is_plain(value: AbstractValue) -> bool:
    return isinstance(value, Known) and isinstance(value.value, (int, float, complex, bool, str, bytes, type(None)))


def ends(statements: Iterable[ir.Statement]) -> bool:
    """Whether control never reaches the end of statements in SSA form: they raise."""
    last = None
    for last in statements:  # noqa: B007
        pass
    match last:
        case ir.Raise():
            return True
        case ir.If(_, then, orelse):
            return ends(then.statements) and ends(orelse.statements)
        case ir.With(body=body, ended=ended):
            return ended is None and ends(body.statements)
        case ir.Try(body, handlers, orelse):
            after_body = ends(body.statements) or ends(orelse.statements)
            return after_body and all(ends(h.body.statements) for h in handlers)
        case (
            None | ir.Let() | ir.Store() | ir.For() | ir.While() | ir.Assert() | ir.Return() | ir.Break() |
            ir.Continue() | ir.Note()
        ):
            return False
        case _:
            assert_never(last)


def binders(block: ir.Block) -> Iterator[ir.Var]:
    """The variables that a block defines for what follows in it, the bodies of its ``with`` included."""
    for s in block.statements:
        yield from ir.defs_of(s)
        if isinstance(s, ir.With):
            yield from binders(s.body)


__all__ = [
    "ANYTHING", "Kinds", "binders", "certain_error", "class_of", "ends", "is_check", "is_needed", "may_catch",
    "raised_by", "raised_in",
]
