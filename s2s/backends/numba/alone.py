"""The generated function of a version in, a function that Numba compiles and that runs without Python around it out.

What compiled functions call is typed, not looked at: it holds for arrays of any lengths. So it has two versions where
the lengths matter. Loops over elements rely on lengths that they compare; where one of these is another, Python does
what the wrapper of a version would let it do:

    def loss_grad(w, x):
        try:
            if w.shape[0] != 1 and x.shape[0] != 1:
                return loss_grad_1(w, x)
            return loss_grad_2(w, x)
        except Exception:
            pass
        return loss_grad_by_python(w, x)

What it reads from outside is compiled in, as Numba does.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaWarning
from numba.np.numpy_support import as_dtype

from s2s import runtime as rt
from s2s.backends.numba.adaptation import adapt
from s2s.backends.numba.arithmetic import share_any_rank
from s2s.backends.numba.by_address import by_address
from s2s.backends.numba.by_python import converter
from s2s.backends.numba.called import Caller, Refused, flags
from s2s.backends.numba.compiler import Text, at_line, check_types, compiled_text, refused_by
from s2s.backends.numba.handed import through_python
from s2s.backends.numba.libraries import linked_once
from s2s.backends.numba.messages import without_shapes
from s2s.backends.numba.number_kinds import UNKNOWN, Kind
from s2s.backends.numba.paths import DYNAMIC, Outside, Unsupported
from s2s.backends.numba.straight import refused as refused_statements
from s2s.backends.numba.wrappers import kind_of_gradient, kinds_of_result
from s2s.core.const import Const
from s2s.core.critical import section
from s2s.core.linecaches import define
from s2s.core.progress import shown_on_terminal
from s2s.core.values import AbstractValue, Array, Dim, Known, ListOf, Scalar, Sequence, is_record_class
from s2s.versions.argument_guards import ArgumentsGuard, EqualGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.expressions import split_symbol
from s2s.versions.guards import Guard
from s2s.versions.request import Compiled, Request

__all__ = ["Made", "alone", "described"]


# --- types ----------------------------------------------------------------------------------------------------------


_NUMBERS: dict[Any, type] = {numba.types.float64: float, numba.types.int64: int, numba.types.complex128: complex,
                             numba.types.boolean: bool}


def described(given: Any, name: str, any_length: bool) -> AbstractValue:
    """What is known of an argument of a Numba type, whose lengths may be any, or any but 1. Raises Unsupported."""
    kind: Any = given if isinstance(given, numba.types.StringLiteral) else numba.types.unliteral(given)
    match kind:
        case numba.types.Boolean() | numba.types.Integer() | numba.types.Float() | numba.types.Complex():
            return Scalar(_NUMBERS.get(kind) or as_dtype(kind).type)
        case numba.types.Array(dtype=numba.types.Number() | numba.types.Boolean()):
            mark = "?" if any_length else ""
            return Array(as_dtype(kind.dtype), tuple(Dim(f"{mark}{name}.{axis}") for axis in range(kind.ndim)))
        case numba.types.BaseTuple():
            return _of_tuple(kind, name, any_length)
        case numba.types.List(dtype=numba.types.Number()) | numba.types.ListType(dtype=numba.types.Number()):
            return ListOf(described(kind.dtype, f"{name}[0]", any_length))
        case numba.types.NoneType():
            return Known(Const(None))
        case numba.types.Omitted():
            return described(numba.typeof(kind.value), name, any_length)
        case numba.types.StringLiteral():
            return Known(Const(kind.literal_value))
        case numba.types.Dispatcher():
            return Known(Const(kind.dispatcher))
        case _:
            raise Unsupported(f"`{name}` is of the type {kind}")


def _of_tuple(kind: Any, name: str, any_length: bool) -> AbstractValue:
    cls = getattr(kind, "instance_class", tuple)
    if cls is not tuple and not is_record_class(cls):
        raise Unsupported(f"`{name}` is a {cls.__name__}, which is made by code of its own")
    return Sequence(cls, tuple(described(item, f"{name}[{k}]", any_length) for k, item in enumerate(kind.types)))


_LETTERS: dict[Any, str] = {numba.types.float64: "float", numba.types.int64: "int", numba.types.boolean: "bool"}


def _kind(given: Any) -> Kind:
    """The kind of an argument of a Numba type."""
    match numba.types.unliteral(given):
        case numba.types.Array(dtype=dtype, ndim=ndim) if dtype in _LETTERS:
            return "array", _LETTERS[dtype], ndim
        case numba.types.BaseTuple() as kind:
            items: Any = kind
            return "tuple", tuple(map(_kind, items.types))
        case kind:
            return _LETTERS.get(kind, UNKNOWN)


MOST_LINES_WITHIN = 40
"""A function of a longer text is called where it is, a shorter one becomes a part of what calls it."""


# --- one function ---------------------------------------------------------------------------------------------------


@dataclass
class Made:
    """One version that may be compiled: the text, the primal in whose globals it runs, and what is known of it."""

    compiled: Compiled
    function: types.FunctionType
    request: Request
    avals: tuple[AbstractValue, ...]
    guards: tuple[Guard, ...]


class _Alone(Caller):
    """The function of a version for Numba: ``function``. What it raises is to be looked at again where its loops
    compare lengths: it ``may_differ`` from what the version does."""

    def __init__(self, made: Made, options: dict[str, Any], types: tuple[Any, ...]) -> None:
        super().__init__(options, is_alone=True)
        self.types = types
        texts = [made.compiled.loops, made.compiled] if made.compiled.loops else [made.compiled]
        while True:
            text = Text(texts[0], made.function, made.avals, made.avals)
            try:
                self.settle(lambda lines, text=text: self._compile(text, lines))  # type: ignore[misc]
                break
            except Refused as refused:
                if not refused.is_passing:
                    del texts[0]
                if not texts:
                    raise Unsupported(at_line(text.compiled, refused)) from None
        self.may_differ = text.compiled is made.compiled.loops and rt.check_lengths.__name__ in text.compiled.text
        self.parameters = [a.arg for a in text.entry.args.args]
        self.lines = text.compiled.text.count("\n")
        gradients = tuple(kind_of_gradient(made.avals[self.parameters.index(p[0])]) for p in made.request.wrt
                          if len(p) == 1)
        self.kinds = kinds_of_result(made.compiled.result, made.request, gradients)

    def _compile(self, text: Text, lines: frozenset[int]) -> None:
        self.facts, self.called = [], []
        is_parallel = bool(self.options.get("parallel"))
        outside = Outside(
            text.find, {}, {}, text.is_trusted, self.replace, may_read=False, is_alone=True, python=self.python,
            lacks=self.lacks, by_python=lines, is_parallel=is_parallel,
            kinds=dict(zip(text.parameters, map(_kind, self.types), strict=True)),
        )
        adapted = adapt(text.entry, outside)
        self.check(adapted, lines)
        self.function, kept = compiled_text(adapted, text, self)
        with ExitStack() as around:
            around.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", NumbaWarning)
            around.enter_context(section.interruptible())
            around.enter_context(shown_on_terminal(f"Numba compiles {adapted.node.name}"))
            if not is_parallel:
                around.enter_context(linked_once())
                around.enter_context(without_shapes())
            known = len(refused_statements)
            try:
                self.function.compile(self.types)
            except Exception as raised:  # Numba raises what it likes
                found = refused_by(raised, text.compiled)
                found.is_passing = len(refused_statements) > known
                raise found from None
        for dispatcher in (self.function, *self.called):
            check_types(dispatcher)
        if kept is not None:
            kept.write()

    def callee(self, name: str) -> Any:
        """The compiled function for compiled code to call."""
        if self.lines <= MOST_LINES_WITHIN:
            return self.function
        return by_address(self.function, name, self.parameters)

    def by_python(self, function: types.FunctionType) -> Any:
        """The generated function as one that compiled code calls, in Python, with a result of the same type."""
        (compiled,) = self.function.overloads.values()
        result = compiled.signature.return_type
        given = dict(zip(self.parameters, self.types, strict=True))
        made = through_python(function, [DYNAMIC] * len(given), {}, given, result, _converter(result))
        return numba.njit(made)


def _converter(kind: Any) -> Any:
    """What makes a result of Python one of a type."""
    convert, cls = converter(kind), getattr(kind, "instance_class", None)
    if isinstance(kind, numba.types.BaseTuple):
        within: Any = kind
        parts = list(map(_converter, within.types))

        def items(value: Any) -> Any:
            made = [part(item) for part, item in zip(parts, value, strict=True)]
            return tuple(made) if cls is None else cls(*made)

        return items
    number = _NUMBERS.get(kind)
    return convert if number is None else lambda value: convert(number(value))


def alone(
    name: str, parameters: list[str], plain: Made, general: Made | None, options: dict[str, Any],
    types: tuple[Any, ...],
) -> Any:
    """A Python function, all of whose callees are compiled for arguments of these types, that computes what a version
    does: ``plain`` where its conditions hold, which has lengths other than 1, else ``general``, where there is one.
    Raises Unsupported."""
    options = {"fastmath": False, "error_model": "python"} | flags(options)
    same = general is not None and _texts(general) == _texts(plain)
    first = general if same and general is not None else plain
    one = _Alone(first, options, types)
    scope: dict[str, Any] = {"np": np, "share": share_any_rank, "__name__": "s2s.generated"}
    given = ", ".join(parameters)
    by = dict(zip(one.parameters, parameters, strict=True))
    lines = [f"def {name}({given}):"]
    for test in _shared(plain, by):
        lines += [f"    if {test}:", "        raise ValueError('arguments share memory, one of which is changed')"]
    tests = [*([] if same else _lengths(plain, by)), *_tests(first, by)]

    def call(which: str, function: Any, inside: str) -> list[str]:
        scope[f"{name}_{which}"] = function
        before: list[str] = []
        result = _typed(f"{name}_{which}({given})", one.kinds, before, inside)
        return [*before, f"{inside}return {result}"]

    last, wrong = one, "there is no derivative for arrays of these lengths in compiled code"
    calls = call("1", one.callee(f"{name}_1"), "            " if tests else "        ")
    if tests:
        calls.insert(0, f"        if {' and '.join(dict.fromkeys(tests))}:")
    if tests and not same and general is not None:
        last, wrong = _Alone(general, options, types), "lengths of arguments do not fit"
        calls += [f"        if {' and '.join(_tests(general, by)) or True}:",
                  *call("2", last.callee(f"{name}_2"), "            ")]
    if one.may_differ or last.may_differ:
        function = (first if last is one else general or first).function
        by_python = call("by_python", last.by_python(function), "    ")
        lines += ["    try:", *calls, "    except Exception:", "        pass", *by_python]
    else:
        lines += [line[4:] for line in calls]
        if last is not one or tests:
            lines.append(f"    raise ValueError({wrong!r})")
    return define(name, "\n".join(lines) + "\n", scope)


def _texts(made: Made) -> tuple[str, str | None]:
    return made.compiled.text, made.compiled.loops.text if made.compiled.loops else None


# --- what a version relies on ---------------------------------------------------------------------------------------


def _lengths(made: Made, by: dict[str, str]) -> list[str]:
    """The conditions that a version has for the lengths of its arguments: each is other than 1, or known."""
    return [
        f"{place}.shape[{axis}] {'!= 1' if dim.symbol else f'== {dim.offset}'}"
        for parameter, aval in zip(by.values(), made.avals, strict=True)
        for place, array in _arrays(parameter, aval) for axis, dim in enumerate(array.shape or ())
    ]


def _arrays(place: str, aval: AbstractValue) -> Iterator[tuple[str, Array]]:
    """The arrays in an argument, each with where it is."""
    match aval:
        case Array():
            yield place, aval
        case Sequence(_, items):
            for k, item in enumerate(items):
                yield from _arrays(f"{place}[{k}]", item)


def _tests(made: Made, by: dict[str, str]) -> list[str]:
    """The conditions of a version about the lengths of arguments, as expressions. Raises Unsupported for others."""
    found = []
    for guard in made.guards:
        match guard:
            case SizeGuard(symbol=symbol, value=value) if guard.asks_arguments:
                found.append(f"{_length(Dim(symbol), by)} != {value}")
            case EqualGuard(first=first, second=second):
                found.append(f"{_length(first, by)} == {_length(second, by)}")
            case SumGuard():
                found.append(guard.expression(lambda dim: _length(dim, by)))
            case SeparateGuard():
                pass
            case ArgumentsGuard() if guard.asks_arguments:
                raise Unsupported(f"the code depends on more than the types of the arguments: {guard}")
    return found


def _shared(made: Made, by: dict[str, str]) -> list[str]:
    """The conditions under which two arguments share memory, one of which the function changes."""
    found = []
    for guard in made.guards:
        if isinstance(guard, SeparateGuard):
            places = [_place(place, by) for place in (guard.first, guard.second)]
            found.append(f"share({', '.join(places)})")
    return found


def _place(place: str, by: dict[str, str]) -> str:
    if "[:]" in place:
        raise Unsupported("a list of arrays is changed")
    name = place.partition("[")[0].partition(".")[0]
    return by.get(name, name) + place[len(name) :]


def _length(dim: Dim, by: dict[str, str]) -> str:
    if dim.is_constant:
        return str(dim.offset)
    base, name, axis = split_symbol(dim.symbol.lstrip("?"))
    return f"{_in_names(base, name, by)}.shape[{axis}] + {dim.offset}"


def _in_names(base: str, name: str, by: dict[str, str]) -> str:
    return f"{by.get(name, name)}{base[len(name) :]}"


# --- results --------------------------------------------------------------------------------------------------------


def _typed(call: str, kinds: Any, lines: list[str], space: str) -> str:
    """The expression of a result with the NumPy types that its parts must have: Numba computes with 64 bits."""
    converted = _converted("r", kinds)
    if converted == "r":
        return call
    lines.append(f"{space}r = {call}")
    return converted


def _converted(item: str, kind: Any) -> str:
    if isinstance(kind, tuple):
        parts = [_converted(f"{item}[{k}]", part) for k, part in enumerate(kind)]
        return item if all(part == f"{item}[{k}]" for k, part in enumerate(parts)) else f"({', '.join(parts)},)"
    if not isinstance(kind, str) or kind in ("float64", "array float64", "complex128", "array complex128"):
        return item
    return f"{item}.astype(np.{kind[6:]})" if kind.startswith("array ") else f"np.{kind}({item})"
