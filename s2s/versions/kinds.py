"""The kinds of arguments as text, ``f8[:, 3]``, and as annotations in, abstract values and examples out.

One notation, which is that of the repr of a derivative (``signature.key``):

    float int bool complex      Python's numbers
    f8 f4 c16 i8 float32        NumPy's numbers, by the names of their dtypes
    f8[:, :] f8[100, 3]         arrays: ``:`` is any length, a number one that is 1 or is not; ``n`` is the same length
                                wherever it stands; f8[...] has any number of dimensions, f8[] none
    [f8[:], ...]                a list of any length of such items
    [float, f8[:]] (int, float) a list, a tuple
    {'w': f8[:, :], 'b': f8[:]} a dict
    10 0.5                      an int, a float; an example has this value
    'same' True None            options: the value itself

``docs/command_line.md`` has it for users.
"""

from __future__ import annotations

import ast
import re
import typing
from typing import Any

import numpy as np

from s2s.core.const import Const
from s2s.core.values import UNKNOWN, AbstractValue, Array, Dim, Known, ListOf, Mapping, Scalar, Sequence
from s2s.errors import error
from s2s.versions.signature import describe, is_concrete

__all__ = ["Kind", "annotated", "read_kind", "read_kinds"]

_NUMBERS: dict[str, type] = {"float": float, "int": int, "bool": bool, "complex": complex}
_EMPTY = re.compile(r"(?<=\w)\[\s*\]")
_HINT = "write 'x: f8[:, 3], n: 10': float, int, f8 (a NumPy number), f8[100, 3] or f8[:, :] (arrays), lists, tuples, \
dicts of these, or a value"
LENGTH = 4
"""The length of dimensions that may have any, in examples; those with names have each another one."""


class Kind:
    """A kind of argument, as it was written."""

    def __init__(self, text: str, node: ast.expr) -> None:
        self.text = text
        self.node = node

    def __repr__(self) -> str:
        return f"Kind({self.text!r})"

    def abstract(self, name: str, symbols: dict[str, Dim] | None = None) -> AbstractValue:
        """What is known of an argument ``name`` of this kind; ``symbols`` are the lengths that have names, of all
        arguments together."""
        return _Abstract({} if symbols is None else symbols).of(self.node, name)

    def example(self, random: np.random.Generator, lengths: dict[str, int]) -> Any:
        """A value of this kind, with numbers between 0.5 and 1.5; ``lengths`` are those that have names."""
        return _Examples(random, lengths).of(self.node)

    @property
    def number(self) -> int | None:
        """The value of an int that is given by its value."""
        value = self.node.value if isinstance(self.node, ast.Constant) else None
        return value if type(value) is int else None


def read_kind(text: str) -> Kind:
    """A kind of its text. Raises ArgumentError where it is none."""
    try:
        node = ast.parse(_EMPTY.sub("[()]", text.strip()), mode="eval").body
    except (SyntaxError, ValueError):
        raise _no_kind(text) from None
    return _checked(text.strip(), node)


def read_kinds(text: str) -> dict[str, Kind]:
    """The kinds of ``x: f8[100, 3], n: 10`` by names. Raises ArgumentError where it is no such list."""
    try:
        node = ast.parse("{" + _EMPTY.sub("[()]", text.strip()) + "}", mode="eval").body
    except (SyntaxError, ValueError):
        raise _no_kind(text) from None
    if not text.strip():
        return {}
    if not isinstance(node, ast.Dict) or not all(isinstance(key, ast.Name) for key in node.keys):
        raise _no_kind(text)
    names = [key.id for key in node.keys if isinstance(key, ast.Name)]
    return {name: _checked(ast.unparse(value), value) for name, value in zip(names, node.values, strict=True)}


def _checked(text: str, node: ast.expr) -> Kind:
    kind = Kind(text.replace("[()]", "[]"), node)
    try:
        kind.abstract("x")
    except ValueError as problem:
        raise _no_kind(str(problem)) from None
    return kind


def _no_kind(text: str) -> Exception:
    return error("S2S511", problem=f"`{text}` is no kind of argument", hint=_HINT)


# --- text ---------------------------------------------------------------------------------------------------


def _number(name: str) -> type | None:
    """The type of a number by its name."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    try:
        scalar = np.dtype(name).type
    except TypeError:
        return None
    return scalar if is_concrete(scalar) and scalar is not np.bool_ else None


def _dtype(node: ast.expr) -> np.dtype[Any] | None:
    """The dtype of an array: ``f8``, ``float``, ``bool``."""
    if not isinstance(node, ast.Name):
        return None
    try:
        dtype = np.dtype(node.id)
    except TypeError:
        return None
    return dtype if dtype.kind in "biufc" else None


def _lengths(node: ast.expr) -> list[int | str] | None:
    """What stands between the brackets: lengths, names, ``:``; None for any number of dimensions."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    match items:
        case [ast.Constant(value)] if value is Ellipsis:
            return None
    found: list[int | str] = []
    for item in items:
        match item:
            case ast.Slice(None, None, None):
                found.append(":")
            case ast.Constant(int(size)) if type(size) is int and size >= 0:
                found.append(size)
            case ast.Name(name):
                found.append(name)
            case _:
                raise ValueError(f"[{ast.unparse(node)}]")
    return found


def _is_list_of_any_length(node: ast.expr) -> bool:
    if not isinstance(node, ast.List) or len(node.elts) != 2:
        return False
    last = node.elts[1]
    return isinstance(last, ast.Constant) and last.value is Ellipsis


class _Abstract:
    """Abstract values of kinds. Raises ValueError with the text of what is none."""

    def __init__(self, symbols: dict[str, Dim]) -> None:
        self.symbols = symbols

    def of(self, node: ast.expr, place: str) -> AbstractValue:
        match node:
            case ast.Name(name) if (number := _number(name)) is not None:
                return Scalar(number)
            case ast.Subscript(value, lengths) if (dtype := _dtype(value)) is not None:
                return self.array(dtype, _lengths(lengths), place)
            case ast.List([item, _]) if _is_list_of_any_length(node):
                return ListOf(self.of(item, "?"))
            case ast.List(items) | ast.Tuple(items):
                kind = list if isinstance(node, ast.List) else tuple
                return Sequence(kind, tuple(self.of(item, f"{place}[{k}]") for k, item in enumerate(items)))
            case ast.Dict(keys, values) if all(isinstance(key, ast.Constant) for key in keys):
                names = [key.value for key in keys if isinstance(key, ast.Constant)]
                made = (self.of(v, f"{place}[{k!r}]") for k, v in zip(names, values, strict=True))
                return Mapping(tuple(names), tuple(made))
            case ast.Constant(value) if value is not Ellipsis:
                return describe(value, place)
            case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) in (int, float, complex):
                return describe(value, place)
            case _:
                raise ValueError(ast.unparse(node))

    def array(self, dtype: np.dtype[Any], lengths: list[int | str] | None, place: str) -> Array:
        if lengths is None:
            return Array(dtype, None)
        return Array(dtype, tuple(self.length(n, f"{place}.{k}") for k, n in enumerate(lengths)))

    def length(self, length: int | str, place: str) -> Dim:
        """A length other than 1 is as good as any other; named ones are the same wherever they stand."""
        if length == 1:
            return Dim("", 1)
        if isinstance(length, int) or length == ":":
            return Dim(place)
        return self.symbols.setdefault(length, Dim(place))


class _Examples:
    """Values of kinds."""

    def __init__(self, random: np.random.Generator, lengths: dict[str, int]) -> None:
        self.random = random
        self.lengths = lengths

    def of(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(name):
                number = _number(name)
                assert number is not None
                return self.number(number)
            case ast.Subscript(ast.Name(name), lengths):
                return self.array(np.dtype(name), _lengths(lengths))
            case ast.List([item, _]) if _is_list_of_any_length(node):
                return [self.of(item) for _ in range(LENGTH)]
            case ast.List(items) | ast.Tuple(items):
                made = map(self.of, items)
                return list(made) if isinstance(node, ast.List) else tuple(made)
            case ast.Dict(keys, values):
                return {ast.literal_eval(k): self.of(v) for k, v in zip(keys, values, strict=True) if k is not None}
            case _:
                return ast.literal_eval(node)

    def number(self, kind: Any) -> Any:
        if issubclass(kind, (bool, np.bool_)):
            return kind(True)
        if issubclass(kind, (int, np.integer)):
            return kind(3)
        if issubclass(kind, (complex, np.complexfloating)):
            return kind(complex(*self.random.uniform(0.5, 1.5, 2)))
        return kind(self.random.uniform(0.5, 1.5))

    def array(self, dtype: np.dtype[Any], lengths: list[int | str] | None) -> Any:
        shape = tuple(map(self.length, [":"] if lengths is None else lengths))
        if dtype.kind == "b":
            return self.random.uniform(size=shape) < 0.5
        if dtype.kind in "iu":
            return self.random.integers(0, 3, size=shape).astype(dtype)
        found = self.random.uniform(0.5, 1.5, size=shape)
        return (found + 1j * self.random.uniform(0.5, 1.5, size=shape) if dtype.kind == "c" else found).astype(dtype)

    def length(self, length: int | str) -> int:
        if isinstance(length, int):
            return length
        return LENGTH if length == ":" else self.lengths.setdefault(length, LENGTH + 1 + len(self.lengths))


# --- annotations --------------------------------------------------------------------------------------------


def annotated(annotation: Any, name: str = "?", symbols: dict[str, Dim] | None = None) -> AbstractValue:
    """What the annotation of a parameter ``name`` says: numbers, ``NDArray[...]``, lists and tuples of these, a kind as
    text, also as ``Annotated[np.ndarray, "f8[:, 3]"]``; else UNKNOWN."""
    if isinstance(annotation, str):
        return _of_text(annotation, name, symbols)
    if annotation in (float, int, bool, complex) or (
        isinstance(annotation, type) and issubclass(annotation, np.number) and is_concrete(annotation)
    ):
        return Scalar(annotation)
    if annotation is np.ndarray:
        return Array(np.dtype(np.float64), None)
    if annotation is None or annotation is type(None):
        return Known(Const(None))
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if type(origin or annotation).__name__ == "TypeAliasType":  # NDArray of newer NumPys is one
        aliased = (origin or annotation).__value__
        return annotated(aliased[arguments] if arguments else aliased)
    if origin is np.ndarray:
        return _annotated_array(arguments)
    if origin is typing.Annotated:
        texts = [_of_text(text, name, symbols) for text in arguments[1:] if isinstance(text, str)]
        return next((found for found in texts if found != UNKNOWN), annotated(arguments[0], name, symbols))
    if origin is list and len(arguments) == 1:
        return ListOf(annotated(arguments[0]))
    if origin is tuple and arguments and Ellipsis not in arguments:
        return Sequence(tuple, tuple(map(annotated, arguments)))
    return UNKNOWN


def _of_text(text: str, name: str, symbols: dict[str, Dim] | None) -> AbstractValue:
    """What a text says that may be a kind, or the name of something that is not there when the program runs."""
    try:
        return read_kind(text).abstract(name, symbols)
    except Exception:
        return UNKNOWN


def _annotated_array(arguments: tuple[Any, ...]) -> AbstractValue:
    """``NDArray[np.float64]`` is ``ndarray[shape, dtype[float64]]``."""
    scalar = (*typing.get_args(arguments[1]), None)[0] if len(arguments) == 2 else None
    if isinstance(scalar, type) and issubclass(scalar, np.generic) and is_concrete(scalar):
        return Array(np.dtype(scalar), None)
    return Array(np.dtype(np.float64), None)
