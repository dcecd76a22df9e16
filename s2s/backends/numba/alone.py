"""The generated function of a version in, a function that Numba compiles and that runs without Python around it out.

What compiled functions call is typed, not looked at: it holds for arrays of any lengths, and there is no Python to go
back to. So it has two versions where the lengths matter, and raises what the wrapper of a version would take for a
reason to run Python:

    def loss_grad(w, x):
        if w.shape[0] != 1 and x.shape[0] != 1:
            return loss_grad_1(w, x)
        return loss_grad_2(w, x)

What it reads from outside is compiled in, as Numba does.
"""

from __future__ import annotations

import types
import warnings
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaWarning
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.adaptation import adapt
from s2s.backends.numba.arithmetic import share_any_rank
from s2s.backends.numba.called import Caller, Refused, flags
from s2s.backends.numba.compiler import Text, at_line, check_types, compiled_text, refused_by
from s2s.backends.numba.libraries import linked_once
from s2s.backends.numba.paths import Outside, Unsupported
from s2s.backends.numba.progress import shown_on_terminal
from s2s.backends.numba.wrappers import kind_of_gradient, kinds_of_result
from s2s.core.const import Const
from s2s.core.critical import section
from s2s.core.linecaches import define
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
    """The function of a version for Numba: ``function``."""

    def __init__(self, made: Made, options: dict[str, Any], types: tuple[Any, ...]) -> None:
        super().__init__(options, is_alone=True)
        text = Text(made.compiled, made.function, made.avals, made.avals)
        self.parameters = [a.arg for a in text.entry.args.args]
        gradients = tuple(kind_of_gradient(made.avals[self.parameters.index(p[0])]) for p in made.request.wrt
                          if len(p) == 1)
        self.kinds = kinds_of_result(made.compiled.result, made.request, gradients)
        try:
            self.settle(lambda lines: self._compile(text, types, lines))
        except Refused as refused:
            raise Unsupported(at_line(made.compiled, refused)) from None

    def _compile(self, text: Text, types: tuple[Any, ...], lines: frozenset[int]) -> None:
        self.facts, self.called = [], []
        outside = Outside(
            text.find, {}, {}, text.is_trusted, self.replace, may_read=False, is_alone=True, python=self.python,
            lacks=self.lacks, by_python=lines,
        )
        adapted = adapt(text.entry, outside)
        self.check(adapted, lines)
        self.function, kept = compiled_text(adapted, text, self)
        with warnings.catch_warnings(), section.interruptible(), shown_on_terminal(adapted.node.name), linked_once():
            warnings.simplefilter("ignore", NumbaWarning)
            try:
                self.function.compile(types)
            except Exception as raised:  # Numba raises what it likes
                raise refused_by(raised, text.compiled) from None
        for dispatcher in (self.function, *self.called):
            check_types(dispatcher)
        if kept is not None:
            kept.write()


def alone(
    name: str, parameters: list[str], plain: Made, general: Made | None, options: dict[str, Any],
    types: tuple[Any, ...],
) -> Any:
    """A Python function, all of whose callees are compiled for arguments of these types, that computes what a version
    does: ``plain`` where its conditions hold, which has lengths other than 1, else ``general``, where there is one.
    Raises Unsupported."""
    options = {"fastmath": False, "error_model": "python"} | flags(options)
    same = general is not None and general.compiled.text == plain.compiled.text
    first = general if same and general is not None else plain
    one = _Alone(first, options, types)
    scope: dict[str, Any] = {"np": np, "share": share_any_rank, "__name__": "s2s.generated"}
    scope[f"{name}_1"] = one.function
    given = ", ".join(parameters)
    by = dict(zip(one.parameters, parameters, strict=True))
    lines = [f"def {name}({given}):"]
    for test in _shared(plain, by):
        lines += [f"    if {test}:", "        raise ValueError('arguments share memory, one of which is changed')"]
    tests = [*([] if same else _other_than_one(plain, by)), *_tests(first, by)]
    inner = "    "
    if tests:
        lines.append(f"    if {' and '.join(dict.fromkeys(tests))}:")
        inner = "        "
    lines.append(f"{inner}return {_typed(f'{name}_1({given})', one.kinds, lines, inner)}")
    if tests and (same or general is None):
        lines.append("    raise ValueError('there is no derivative for arrays of these lengths in compiled code')")
    elif tests and general is not None:
        other = _Alone(general, options, types)
        scope[f"{name}_2"] = other.function
        for test in _tests(general, by):
            lines += [f"    if not {test}:", "        raise ValueError('lengths of arguments do not fit')"]
        lines.append(f"    return {_typed(f'{name}_2({given})', other.kinds, lines, '    ')}")
    return define(name, "\n".join(lines) + "\n", scope)


# --- what a version relies on ---------------------------------------------------------------------------------------


def _other_than_one(made: Made, by: dict[str, str]) -> list[str]:
    """The conditions that a version has for the lengths of its arguments: each is other than 1."""
    return [
        f"{_in_names(base, name, by)}.shape[{axis}] != 1"
        for aval in made.avals for base, name, axis in map(split_symbol, _symbols(aval))
    ]


def _symbols(aval: AbstractValue) -> list[str]:
    match aval:
        case Array(_, tuple() as shape):
            return [dim.symbol for dim in shape if dim.symbol]
        case Sequence(_, items):
            return [symbol for item in items for symbol in _symbols(item)]
        case _:
            return []


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
