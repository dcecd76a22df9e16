"""A function and kinds or examples of its arguments in, the version that a call with such arguments would compile out:
its text is what ``s2s.source`` and the command line print.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s.core.annotated import annotations_of
from s2s.core.highlighting import Source
from s2s.core.values import UNKNOWN, AbstractValue, Array, Dim, Known, Mapping, Object, Scalar, Sequence
from s2s.derivatives import MODES, Derivative, derivative, name_of_function, store_of
from s2s.directives.decorated import Differentiable
from s2s.directives.differentiable import option_error
from s2s.directives.policy import AMBIENT
from s2s.dispatch.by_shape import ByShape
from s2s.dispatch.dispatcher import Dispatcher
from s2s.dispatch.version import Version
from s2s.errors import DifferentiationError, error
from s2s.frontend.sources import find
from s2s.versions.kinds import Kind, annotated, read_kinds
from s2s.versions.request import Request
from s2s.versions.signature import describe
from s2s.versions.target import Target, target_of

__all__ = [
    "SOURCES", "adjoint_source", "expected", "made_again", "primal_source", "source", "version", "version_of_call",
]

SECOND = {"hvp": ("jvp", "grad"), "hessian": ("jacfwd", "jacrev")}
"""Modes that are derivatives of derivatives: the outer and the inner one."""

SOURCES = (*(mode for mode in MODES if mode not in ("sparsity", "observed")), "jacobian", *SECOND)
"""What there is the source of."""


def source(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, argnums: Any, kinds: str = "") -> str:
    """The text of a module with the generated code: of the version for the arguments where there are any,
    else by ``kinds`` and annotations."""
    wanted = None if mode == "vjp" else argnums
    return Source(version(f, args, kwargs, mode, wanted, read_kinds(kinds)).compiled.text)


def version(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, argnums: Any, kinds: dict[str, Kind] | None = None
) -> Version:
    """The version for example arguments where there are any, else by ``kinds``, annotations, defaults and uses.

    ``argnums`` is None for every positional argument, in mode ``vjp``. Raises what the compiler raises; ArgumentError
    for a mode that there is not, and for kinds of what is no argument.
    """
    if mode not in SOURCES and mode not in MODES:
        raise option_error(f"there is no mode {mode!r}", f"choose among {', '.join(SOURCES)}")
    if args or kwargs:
        if kinds:
            raise option_error("there are `kinds` beside example arguments", "give one of them")
        return version_of_call(f, args, kwargs, mode, argnums)[0]
    found, avals = _of_kinds(f, mode, argnums, kinds or {})
    return found.version_of(avals, found.ask.request(found.target, avals, tuple(() for _ in avals)))


def _of_kinds(f: Any, mode: str, argnums: Any, kinds: dict[str, Kind]) -> tuple[Dispatcher, tuple[AbstractValue, ...]]:
    """The dispatcher of a derivative, and what its arguments will be."""
    target = target_of(f)
    if target is None:
        raise error("S2S301", name=name_of_function(f), hint="give example arguments: s2s.source(f, x)")
    for name in kinds:
        if name not in target.parameters:
            shown = ", ".join(f"{name} ({k})" for k, name in enumerate(target.parameters))
            raise error("S2S502", name=target.name, argument=name, hint=f"choose among {shown}")
    found = _made(f, mode, argnums, len(target.positional), None).dispatcher
    assert isinstance(found, Dispatcher)
    found = found.under(AMBIENT.get())
    return found, expected(found.target, kinds)


def made_again(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, argnums: Any, kinds: dict[str, Kind] | None = None
) -> Callable[[Version, int, AbstractValue], Version]:
    """What compiles a version once more, with another abstract value in the place of one."""
    values: tuple[Any, ...] = ()
    if args or kwargs:
        found, values = _of_call(f, args, kwargs, mode, argnums)
    else:
        found, _ = _of_kinds(f, mode, argnums, kinds or {})

    def made(version: Version, place: int, other: AbstractValue) -> Version:
        avals = [*version.avals]
        for k, (name, value) in enumerate(zip(found.target.parameters, values, strict=False)):
            if isinstance(avals[k], Object):  # the object was let go after a compilation
                avals[k] = describe(value, name)
        avals[place] = other
        return found.version_of(tuple(avals), version.request)

    return made


def version_of_call(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, argnums: Any
) -> tuple[Version, tuple[Any, ...]]:
    """The version for the arguments of a call, and the values of its parameters."""
    made, values = _of_call(f, args, kwargs, mode, argnums)
    return made.version_for(values), values


def _of_call(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str, argnums: Any
) -> tuple[Dispatcher, tuple[Any, ...]]:
    """The dispatcher of a derivative for a call, and the values of its parameters."""
    made = _made(f, mode, argnums, len(args), (args, kwargs)).dispatcher
    if isinstance(made, ByShape):
        made = made.dispatcher_for(args, kwargs)
    made = made.under(AMBIENT.get())
    return made, made.collect(*args, **kwargs)


def _made(f: Any, mode: str, argnums: Any, count: int, call: Any) -> Derivative:
    """The derivative to print; ``count`` is the number of positional arguments."""
    if mode in SECOND:
        outer, inner = SECOND[mode]
        wanted = 0 if argnums is None else argnums
        return _made(derivative(inner, f, wanted, False, "zeros"), outer, wanted, count, call)
    if mode == "jacobian":
        mode = _jacobian_mode(f, argnums, call)
    changes = "returned" if mode == "vjp" else ""
    if mode == "jvp" and argnums is not None and not isinstance(argnums, tuple):
        argnums = (argnums,)
    return derivative(mode, f, () if mode == "primal" else argnums, False, "zeros",
                      count if mode == "vjp" and argnums is None else 0, changes)


def _jacobian_mode(f: Any, argnums: Any, call: Any) -> str:
    """The mode of a Jacobian that ``s2s.jacobian`` chooses for a call; forward where there is none."""
    if call is None:
        return "jacfwd"
    import copy

    from s2s import runtime as rt

    args, kwargs = copy.deepcopy(call)
    moved = derivative("jacfwd", f, argnums, False, "zeros").differentiated(args, kwargs)
    few = sum(map(np.size, rt.floats(moved))) <= sum(map(np.size, rt.floats(f(*args, **kwargs))))
    return "jacfwd" if few else "jacrev"


# --- kinds --------------------------------------------------------------------------------------------------


def expected(target: Target, kinds: dict[str, Kind]) -> tuple[AbstractValue, ...]:
    """What the arguments of a function will be: set values, else what ``kinds``, annotations, defaults that are
    options, and uses say."""
    function = target.function
    hints, uses, symbols = _hints(function), _uses(function), dict[str, Dim]()
    return tuple(_expected(target, name, kinds, hints, uses, symbols) for name in target.parameters)


def _expected(
    target: Target, name: str, kinds: dict[str, Kind], hints: dict[str, Any], uses: dict[str, AbstractValue],
    symbols: dict[str, Dim],
) -> AbstractValue:
    if name in kinds:
        return kinds[name].abstract(name, symbols)
    if name in target.fixed:
        return describe(target.fixed[name], name)
    public = next((p for p in target.public if p.name == name), None)
    if public is None or public.kind is public.VAR_POSITIONAL:
        return Sequence(tuple, tuple(describe(v, f"{name}[{i}]") for i, v in enumerate(target.prefix)))
    if public.kind is public.VAR_KEYWORD:
        return Mapping(
            tuple(target.extra), tuple(describe(v, f"{name}[{k!r}]") for k, v in target.extra.items())
        )
    if name in hints:
        return annotated(hints[name], name, symbols)
    default = UNKNOWN if public.default is public.empty else describe(public.default, name)
    return default if isinstance(default, (Known, Scalar)) else uses.get(name, UNKNOWN)


def _hints(function: types.FunctionType) -> dict[str, Any]:
    """The annotations that can be evaluated, and the texts of the others."""
    import typing

    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # a kind as text, or a name that is imported for type checkers only
        found = {}
        for name, annotation in annotations_of(function).items():
            if isinstance(annotation, str):
                try:
                    annotation = eval(annotation, function.__globals__)
                except Exception:
                    pass
            found[name] = annotation
        return found


def _uses(function: types.FunctionType) -> dict[str, AbstractValue]:
    """The kinds of parameters that their uses make certain: ``range(n)`` takes an int, ``m, n = x.shape`` an array of
    two dimensions. Only of those that the function does not bind again."""
    try:
        tree = ast.parse(find(function).text)
    except (DifferentiationError, SyntaxError):
        return {}
    body = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    if body is None or body.name != function.__name__:
        return {}
    nodes = list(_own_nodes(body))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    found: dict[str, AbstractValue] = {}
    for node in nodes:
        match node:
            case ast.Call(ast.Name("range"), arguments):
                found |= {a.id: Scalar(int) for a in arguments if isinstance(a, ast.Name)}
            case ast.Assign([ast.Tuple(names)], ast.Attribute(ast.Name(name), "shape")):
                if not any(isinstance(n, ast.Starred) for n in names):
                    lengths = tuple(Dim(f"{name}.{axis}") for axis in range(len(names)))
                    found[name] = Array(np.dtype(np.float64), lengths)
    return {name: kind for name, kind in found.items() if name not in bound}


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, but for those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_nodes(child)


# --- of decorated functions ---------------------------------------------------------------------------------


def adjoint_source(f: Differentiable[..., Any]) -> str:
    """The text of the gradient made last, else the one by annotations."""
    last = store_of(f).last
    if last is not None and last.request.mode in ("grad", "value_and_grad"):
        return Source(last.compiled.text)
    return source(f, (), {}, "grad", 0)


def primal_source(f: Differentiable[..., Any]) -> str:
    """The text of the primal for the kinds of arguments of the derivative made last, else by annotations."""
    last = store_of(f).last
    if last is None:
        return source(f, (), {}, "primal", 0)
    dispatcher = derivative("primal", f, (), False, "zeros").dispatcher
    assert isinstance(dispatcher, Dispatcher)
    request = Request("primal", (), False, False, dispatcher.ask.options)
    return Source(dispatcher.version_of(last.avals, request).compiled.text)
