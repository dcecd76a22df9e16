"""The user's functions: ``@s2s.differentiable`` and the options that hold for the derivatives of a function.

Importing this module is cheap: what it takes to make a derivative is asked of the compiler when it is needed.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from s2s.arguments import check_argument
from s2s.core.tracebacks import at_the_call
from s2s.directives.decorated import Differentiable, made_differentiable, options_of
from s2s.directives.policy import Choice
from s2s.errors import error, not_a_function

__all__ = ["BACKENDS", "default_options", "differentiable", "option_error", "with_choice"]

P = ParamSpec("P")
R = TypeVar("R")

BACKENDS = ("auto", "numpy", "numba")
NUMBA = ("parallel", "fastmath")


@overload
def differentiable(f: Callable[P, R], /) -> Differentiable[P, R]: ...


@overload
def differentiable(
    f: None = None, /, *, backend: str = "auto", nonsmooth: str | dict[Any, str] | None = None,
    sharpness: float | None = None, parallel: bool = False, fastmath: bool = False,
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...


@overload
def differentiable(f: Callable[P, R], /, *, numeric: Literal[True]) -> Callable[P, R]: ...


@overload
def differentiable(f: None = None, /, *, numeric: Literal[True]) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


@overload
def differentiable(
    f: Callable[P, R], /, *, backend: str = "auto", nonsmooth: str | dict[Any, str] | None = None,
    sharpness: float | None = None, parallel: bool = False, fastmath: bool = False,
) -> Differentiable[P, R]: ...


@at_the_call
def differentiable(f: Any = None, /, **options: Any) -> Any:
    """The function ``f``, with options for its derivatives; used as a decorator, bare or with options.

    ``backend`` is what the generated code runs on: ``"numpy"``; ``"numba"``, which compiles it to machine code; or
    ``"auto"``, NumPy until code with loops has run for so long that Numba, where it is installed, pays.
    ``nonsmooth`` is what stands for the derivatives of piecewise constant functions such as floor: one of the policies
    of ``s2s.nonsmooth``, or a dict of them by function name; ``sharpness`` is how sharp the smooth ones are. A
    ``with s2s.nonsmooth(...)`` around a call or in the function comes before it.

    ``parallel`` and ``fastmath`` are options of Numba's.

    >>> import numpy as np, s2s
    >>> @s2s.differentiable(nonsmooth="zero")
    ... def rounded(x):
    ...     return np.floor(x) * x
    >>> print(rounded(2.5), s2s.grad(rounded)(2.5))
    5.0 2.0

    ``numeric=True``, without other options, is for a function that has neither a rule nor source: its derivatives are
    central differences, two calls for each number of its arguments (in forward mode two in all), with some ten correct
    digits, once. Nothing else in the program is differentiated so, and the generated code says where it is.

    Raises ArgumentError for an option that there is not, and for what is no function.
    """
    for name in {"numeric", *NUMBA} & options.keys():
        check_argument(name, options[name])
    if options.pop("numeric", False):
        return _numeric(f, options)
    checked = _options(options)
    if f is None:
        return functools.partial(differentiable, **options)
    if isinstance(f, Differentiable):
        checked += tuple(item for item in f.options if item[0] == "choices")
        f = f.func
    if isinstance(f, (type, staticmethod, classmethod)) or not callable(f):
        raise not_a_function(f)
    return made_differentiable(f, checked)


def _numeric(f: Any, options: dict[str, Any]) -> Any:
    """``differentiable(f, numeric=True)``. Raises ArgumentError for other options beside it, and for what is no
    function."""
    from s2s.directives.numeric import numeric

    if options:
        hint = "leave the others out: nothing of the function is generated"
        raise option_error("`numeric=True` goes with no other option", hint)
    if f is None:
        return numeric
    if isinstance(f, (type, staticmethod, classmethod)) or not callable(f):
        raise not_a_function(f)
    return numeric(f)


def _options(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Options, checked, by name. Raises ArgumentError."""
    for name in options:
        if name not in ("backend", "nonsmooth", "sharpness", *NUMBA):
            hint = "choose among backend, nonsmooth, sharpness, parallel, fastmath, numeric"
            raise option_error(f"`differentiable` has no option `{name}`", hint)
    backend, nonsmooth = options.get("backend", "auto"), options.get("nonsmooth")
    if backend not in BACKENDS:
        raise option_error(f"there is no backend {backend!r}", f"choose among {', '.join(BACKENDS)}")
    flags = tuple((name, True) for name in NUMBA if options.get(name))
    if flags and backend != "numba":
        raise option_error(f"`{flags[0][0]}` is an option of the Numba backend", 'say `backend="numba"` too')
    if nonsmooth is None and options.get("sharpness") is not None:
        raise option_error("there is a `sharpness` and no policy that has one", 'say `nonsmooth="sigmoid"` too')
    if nonsmooth is None:
        return (("backend", backend), *flags)
    from s2s.directives.checked_policies import policies

    given = nonsmooth if isinstance(nonsmooth, dict) else {"": nonsmooth}
    return (("backend", backend), *flags, ("nonsmooth", (policies(given, options.get("sharpness")),)))


def with_choice(f: Any, choice: Choice, option: str) -> Any:
    """The function ``f``, in which a choice about derivatives holds: outside those that hold there as the same
    ``option``, the ``choices`` of blocks or the ``nonsmooth`` default. Raises ArgumentError for what is no function."""
    inner = differentiable(f).func if not isinstance(f, Differentiable) else f.func
    options = f.options if isinstance(f, Differentiable) else default_options()
    held = (*dict(options).get(option, ()), choice)
    options = (*(item for item in options if item[0] != option), (option, held))
    # kept with the function: a call that is decided at run time asks for it each time
    made = inner.__dict__.setdefault("__s2s_under__", {}) if isinstance(inner, types.FunctionType) else {}
    if options not in made or made[options].func is not inner:  # functools.wraps copies a __dict__
        made[options] = made_differentiable(inner, options)
    return made[options]


def default_options(backend: str = "auto") -> tuple[tuple[str, Any], ...]:
    """The options of a function that is not decorated."""
    return _options({"backend": backend})


def on_backend(function: Any, backend: str) -> Any:
    """The function with another backend than it is decorated with; with an empty one, as it is."""
    if not backend:
        return function
    options = options_of(function) if isinstance(function, Differentiable) else default_options()
    options = tuple(("backend", backend) if name == "backend" else (name, value) for name, value in options)
    return made_differentiable(function.func if isinstance(function, Differentiable) else function, options)


def option_error(summary: str, hint: str) -> Exception:
    """The ArgumentError for an option that there is not."""
    return error("S2S511", problem=summary, hint=hint)

