"""What a function reads from outside: paths such as ``params["layers"][0]`` or ``self.rate``, and what they lead to."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.backends.numba.number_kinds import Kind
from s2s.core.inspection import with_article
from s2s.core.values import UNKNOWN, AbstractValue, Mapping, Sequence
from s2s.versions.signature import is_stream

__all__ = [
    "DYNAMIC", "Outside", "Unsupported", "as_tuples", "aval_at", "cannot_follow", "follow", "in_place_of",
    "is_array", "is_number", "is_of_rules",
    "is_static", "is_trusted", "kind_text", "path_of", "prefixes_of", "sample_of",
]

MOST_ITEMS = 64
"""A tuple with more items than this is not handed to Numba, which compiles for each of them."""


DYNAMIC = object()
"""Stands among the arguments of a call for one that is known only when it runs."""


class Unsupported(Exception):
    """Numba cannot run this; ``line`` is the line of the text."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass
class Outside:
    """What names mean in a function: ``find`` gives the value of a name that it does not assign, or raises LookupError.

    ``samples`` are values of its parameters, ``avals`` what is known of parameters and names at every call. ``trusted``
    says for a name whether the dispatcher's guards see to it that it means the same at every call; ``may_read`` whether
    values that change can be passed as arguments (in a function that is called by a compiled one they cannot). Where it
    ``is_alone`` there is no Python around the compiled code: what it reads is compiled in, as Numba does, and what it
    raises is what the caller sees. ``python`` makes what stands for a call that Python is to make, of the function and
    its arguments, with DYNAMIC for those that are known only when it runs; None where it is no function for that. It
    is asked for what ``lacks`` says that Numba lacks, and for the calls at the lines ``by_python``; 0 stands for those
    of functions of rules, and for subscripts that may be by masks. ``region`` gives what stands for a statement that
    Python runs, with a function that names objects; None for others. Where it ``is_parallel``, Numba has to see the
    sums of loops that several threads share. ``kinds`` are those of the parameters, None where they are not known.
    """

    find: Callable[[str], Any]
    samples: dict[str, Any]
    avals: dict[str, AbstractValue]
    trusted: Callable[[str, Any], bool]
    replace: Callable[[Any, ast.Call | None], Any]
    may_read: bool = True
    is_alone: bool = False
    python: Callable[[Any, list[Any], dict[str, Any]], Any] = lambda function, args, keywords: None
    lacks: Callable[[Any, ast.Call], bool] = lambda function, call: False
    by_python: frozenset[int] = frozenset()
    region: Callable[[ast.stmt, Callable[[str, Any], ast.expr]], list[ast.stmt] | None] = lambda statement, known: None
    is_parallel: bool = False
    kinds: dict[str, Kind] | None = None


# --- paths ----------------------------------------------------------------------------------------------------------


def path_of(expr: ast.expr) -> tuple[str, list[tuple[str, Any]]] | None:
    """The name and the steps of ``name.attribute["key"][0]``."""
    steps: list[tuple[str, Any]] = []
    while True:
        match expr:
            case ast.Name(id=name, ctx=ast.Load()):
                return name, steps[::-1]
            case ast.Attribute(value=inner, attr=attr, ctx=ast.Load()):
                steps.append(("attribute", attr))
            case ast.Subscript(value=inner, slice=ast.Constant(value=key), ctx=ast.Load()):
                steps.append(("item", key))
            case ast.Subscript(
                value=inner, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)), ctx=ast.Load()
            ):
                steps.append(("item", -key))
            case ast.Call(func=ast.Name(id="globals"), args=[], keywords=[]):
                return "globals()", steps[::-1]
            case _:
                return None
        expr = inner


def prefixes_of(node: ast.expr) -> Iterator[ast.expr]:
    """The paths that a path begins with, the shortest first, itself last."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        yield from prefixes_of(node.value)
    yield node


def in_place_of(node: ast.expr, part: ast.expr, made: ast.expr) -> ast.expr:
    """The path ``node`` with ``made`` for the ``part`` that it begins with."""
    if node is part:
        return made
    assert isinstance(node, (ast.Attribute, ast.Subscript))
    node.value = in_place_of(node.value, part, made)
    return node


def sample_of(expr: ast.expr, outside: Outside) -> Any:
    """The value of a path from a parameter or an outside name in the call that is compiled for; LookupError."""
    found = path_of(expr)
    if found is None:
        raise LookupError
    root, steps = found
    value = outside.samples[root] if root in outside.samples else outside.find(root)
    for step in steps:
        value = follow(value, step)
    return value


def follow(value: Any, step: tuple[str, Any]) -> Any:
    """One step of a path. Raises LookupError where the attribute is computed or missing."""
    kind, key = step
    if kind == "item":
        if not isinstance(value, (tuple, list, dict)):
            raise LookupError(key)
        return value[key]
    if isinstance(value, (types.ModuleType, np.ufunc, type)):
        return _attribute(value, key)
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict) and key in own:
        return own[key]
    if type(value).__name__ == "cell" and key == "cell_contents":
        return value.cell_contents
    if isinstance(value, types.FunctionType) and key in ("__closure__", "__globals__"):
        return getattr(value, key)
    in_class = getattr(type(value), key, None)
    if isinstance(in_class, (types.MemberDescriptorType, int, float)) or type(in_class).__name__ == "_tuplegetter":
        return _attribute(value, key)
    raise LookupError(key)


def _attribute(value: Any, key: str) -> Any:
    try:
        return getattr(value, key)
    except AttributeError:
        raise LookupError(key) from None


def cannot_follow(node: ast.expr, expr: ast.expr, outside: Outside) -> bool:
    """Whether the step after ``expr`` on the path ``node`` is none that is known when this is compiled."""
    for longer in prefixes_of(node):
        if len(ast.unparse(longer)) > len(ast.unparse(expr)):
            try:
                sample_of(longer, outside)
            except (LookupError, TypeError, ValueError):
                return True
            return False
    return True


def aval_at(aval: AbstractValue, steps: list[tuple[str, Any]]) -> AbstractValue:
    """What is known at every call of what a path leads to."""
    for kind, key in steps:
        match aval:
            case Sequence(_, items) if kind == "item" and isinstance(key, int) and -len(items) <= key < len(items):
                aval = items[key]
            case Sequence(cls, items) if kind == "attribute" and key in getattr(cls, "_fields", ()):
                aval = items[cls._fields.index(key)]  # type: ignore[attr-defined]
            case Mapping(keys, items) if kind == "item" and key in keys:
                aval = items[keys.index(key)]
            case _:
                return UNKNOWN
    return aval


# --- what can be handed to Numba ------------------------------------------------------------------------------------


_DTYPES = "?bBhHiIlLqQfdFD"


def is_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex, str, type(None)) or (
        isinstance(value, np.generic) and value.dtype.char in _DTYPES
    )


def is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.char in _DTYPES and value.dtype.isnative


def is_of_rules(value: types.FunctionType) -> bool:
    """Whether it is a function that the code of derivatives calls."""
    return (value.__module__ or "").startswith(("s2s.runtime", "s2s.rules"))


_STATIC = (
    types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype, type(np.sum),
)  # fmt: skip

_STATIC_NAMES = ("method_descriptor", "cython_function_or_method", "Differentiable", "_Choosing",
                 "CustomGradient")


def is_static(value: Any) -> bool:
    """Whether a value says what to do, as functions, types and modules do: Numba compiles it in, or says why not."""
    if is_stream(type(getattr(value, "__self__", None))):
        return True  # a function of ``np.random``
    return isinstance(value, _STATIC) or hasattr(type(value), "__wrapped__") or type(value).__name__ in _STATIC_NAMES


_TRUSTED = {"numpy", "scipy", "s2s", "builtins", *sys.stdlib_module_names}


def is_trusted(module: types.ModuleType) -> bool:
    """Whether nobody rebinds what is in a module."""
    return module.__name__.partition(".")[0] in _TRUSTED


def as_tuples(expr: ast.expr, value: Any, aval: AbstractValue) -> ast.expr:
    """The expression that hands over a list or tuple as a tuple, with those in it. Raises Unsupported.

    The structure must be known at every call where there are containers in containers.
    """
    simple = all(is_number(item) or is_array(item) for item in value)
    if simple and type(value) is list and not isinstance(aval, Sequence) and len({type(item) for item in value}) == 1:
        return expr  # a list, as long as it is at each call
    if len(value) > MOST_ITEMS:
        raise Unsupported(f"`{ast.unparse(expr)}` has {len(value)} items, each of which is compiled for", expr.lineno)
    if simple and isinstance(value, tuple):
        return expr
    if simple:
        return ast.copy_location(ast.Call(ast.Name("tuple", ast.Load()), [expr], []), expr)
    if not isinstance(aval, Sequence) or aval.type not in (tuple, list):
        raise Unsupported(f"what is in `{ast.unparse(expr)}` is not known at each call", expr.lineno)
    items: list[ast.expr] = []
    for k, (item, known) in enumerate(zip(value, aval.items, strict=True)):
        part = ast.copy_location(ast.Subscript(expr, ast.Constant(k), ast.Load()), expr)
        if is_number(item) or is_array(item):
            items.append(part)
        elif isinstance(item, (tuple, list)):
            items.append(as_tuples(part, item, known))
        else:
            kind = with_article(type(item).__name__)
            raise Unsupported(f"`{ast.unparse(part)}` is {kind}, which Numba does not take", expr.lineno)
    return ast.copy_location(ast.Tuple(items, ast.Load()), expr)


def kind_text(node: ast.expr, outside: Outside) -> str:
    for expr in [*prefixes_of(node)][::-1]:
        try:
            value = sample_of(expr, outside)
        except (LookupError, TypeError, ValueError):
            continue
        if isinstance(value, np.ndarray):
            return f"an array of {value.dtype}"
        return f"{with_article(type(value).__name__)}, which Numba does not take"
    return "not known"
