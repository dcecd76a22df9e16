"""The user's functions: ``@s2s.differentiable`` and the options that hold for the derivatives of a function.

Importing this module is cheap: what it takes to make a derivative is asked of the compiler when it is needed.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from s2s.core import public
from s2s.core.inspection import compiled_from
from s2s.errors import error, not_a_function

if TYPE_CHECKING:
    from s2s.directives.policies import Choice

__all__ = [
    "BACKENDS", "Differentiable", "default_options", "differentiable", "option_error", "options_of", "unwrap",
    "with_choice",
]

P = ParamSpec("P")
R = TypeVar("R")

BACKENDS = ("numpy", "numba")
_MethodType = types.MethodType  # read at every call of a decorated method


class Differentiable(functools.partial[R], Generic[P, R]):
    """A function that s2s can differentiate. Called, it is the plain function: same result, same speed.

    It is a ``functools.partial`` without arguments, because calling one costs no Python-level call.
    """

    if TYPE_CHECKING:
        __name__: str
        __qualname__: str
        __wrapped__: Callable[P, R]
        options: tuple[tuple[str, Any], ...]

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _FUNCTION_ATTRIBUTES:
            raise AttributeError(name)  # copy and pickle ask for their protocols
        return getattr(self.func, name)

    def __repr__(self) -> str:
        return f"<s2s.differentiable {self.__name__}: {public.compiler().show_compiled(self)}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By qualified name where that finds it, as functions are pickled; else made anew from the function.

        cloudpickle sends functions of ``__main__`` by value, to processes where that name means nothing.
        """
        caller = sys._getframe(1).f_globals.get("__name__", "")
        by_value = self.__module__ == "__main__" and "cloudpickle" in caller
        if not by_value and _found_by_name(self):
            return self.__qualname__
        return _make_differentiable, (self.func, self.options)

    def __s2s_parts__(self) -> tuple[Any, ...]:
        """What makes up the function, for fingerprints."""
        held = [(name, value) for name, value in self.options if name in ("choices", "nonsmooth")]
        if not held:
            return self.func, *self.options
        from s2s.directives.policies import parts_of

        plain = [item for item in self.options if item not in held]
        return self.func, *plain, *(part for name, value in held for part in (name, *parts_of(value)))

    def clear(self) -> None:
        """Forget what is compiled for the function's derivatives, in memory; on disk it is replaced by what is compiled
        from then on. See ``Derivative.clear``."""
        public.compiler().clear(self)

    @property
    def adjoint_source(self) -> str:
        """The generated gradient: of the last signature that a derivative was compiled for, else by
        annotations."""
        return public.compiler().adjoint_source(self)

    @property
    def primal_source(self) -> str:
        """The primal as s2s understood it, specialised as the last derivative was, else by annotations."""
        return public.compiler().primal_source(self)


_FUNCTION_ATTRIBUTES = frozenset(
    [
        "__defaults__",
        "__kwdefaults__",
        "__code__",
        "__globals__",
        "__closure__",
        "__annotations__",
        "__builtins__",
        "__type_params__",
        "__text_signature__",
    ]
)


class _Choosing(Differentiable[P, R]):
    """A function in which a choice about derivatives holds: also for those that it takes itself when it is called."""

    if not TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            from s2s.directives import policies as choices

            token = choices.AMBIENT.set((*dict(self.options)["choices"], *choices.AMBIENT.get()))
            try:
                return self.func(*args, **kwargs)
            finally:
                choices.AMBIENT.reset(token)


def _make_differentiable(
    f: Callable[..., Any], options: tuple[tuple[str, Any], ...]
) -> Differentiable[..., Any]:
    kind: Any = _Choosing if dict(options).get("choices") else Differentiable
    made: Differentiable[..., Any] = kind(f)
    made.__setstate__((f, (), {}, {}))  # a partial is not merged into it
    functools.update_wrapper(made, f)
    made.__dict__.pop("__s2s__", None)
    made.options = options
    return made


def _found_by_name(f: Any) -> bool:
    """Whether the module and qualified name of a function lead to it."""
    found: Any = sys.modules.get(f.__module__)
    for part in f.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is f


@overload
def differentiable(f: Callable[P, R], /) -> Differentiable[P, R]: ...


@overload
def differentiable(
    f: None = None, /, *, backend: str = "numpy", nonsmooth: str | dict[Any, str] | None = None,
    sharpness: float | None = None,
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...


@overload
def differentiable(
    f: Callable[P, R], /, *, backend: str = "numpy", nonsmooth: str | dict[Any, str] | None = None,
    sharpness: float | None = None,
) -> Differentiable[P, R]: ...


def differentiable(f: Any = None, /, **options: Any) -> Any:
    """The function ``f``, with options for its derivatives; used as a decorator, bare or with options.

    ``backend`` is what the generated code runs on: ``"numpy"``, or ``"numba"``, which compiles it to machine code.
    ``nonsmooth`` is what stands for the derivatives of piecewise constant functions such as floor: one of the policies
    of ``s2s.nonsmooth``, or a dict of them by function name; ``sharpness`` is how sharp the smooth ones are. A
    ``with s2s.nonsmooth(...)`` around a call or in the function comes before it.

    >>> import numpy as np, s2s
    >>> @s2s.differentiable(nonsmooth="zero")
    ... def rounded(x):
    ...     return np.floor(x) * x
    >>> print(rounded(2.5), s2s.grad(rounded)(2.5))
    5.0 2.0

    Raises ArgumentError for an option that there is not, and for what is no function.
    """
    checked = _options(options)
    if f is None:
        return lambda function: differentiable(function, **options)
    if isinstance(f, Differentiable):
        checked += tuple(item for item in f.options if item[0] == "choices")
        f = f.func
    if isinstance(f, (type, staticmethod, classmethod)) or not callable(f):
        raise not_a_function(f)
    return _make_differentiable(f, checked)


def _options(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Options, checked, by name. Raises ArgumentError."""
    for name in options:
        if name not in ("backend", "nonsmooth", "sharpness"):
            hint = "choose among backend, nonsmooth, sharpness"
            raise option_error(f"`differentiable` has no option `{name}`", hint)
    backend, nonsmooth = options.get("backend", "numpy"), options.get("nonsmooth")
    if backend not in BACKENDS:
        raise option_error(f"there is no backend {backend!r}", f"choose among {', '.join(BACKENDS)}")
    if nonsmooth is None and options.get("sharpness") is not None:
        raise option_error("there is a `sharpness` and no policy that has one", 'say `nonsmooth="sigmoid"` too')
    if nonsmooth is None:
        return (("backend", backend),)
    from s2s.directives import policies as choices

    policies = nonsmooth if isinstance(nonsmooth, dict) else {"": nonsmooth}
    return (("backend", backend), ("nonsmooth", (choices.policies(policies, options.get("sharpness")),)))


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
        made[options] = _make_differentiable(inner, options)
    return made[options]


def options_of(f: Any) -> tuple[tuple[str, Any], ...]:
    """The options of a function: those that it is decorated with, and those of the functions inside of it, as a method,
    a ``partial`` and a cached function have one. What is chosen inside comes first; the outermost backend counts. A
    derivative has made the choices of its function; its backend is kept."""
    found: dict[str, Any] = {}
    while f is not None:
        for name, value in f.options if isinstance(f, Differentiable) else ():
            is_choice = name in ("choices", "nonsmooth")
            found[name] = (*value, *found.get(name, ())) if is_choice else found.get(name, value)
        made_from = getattr(f, "made_from", None)
        if isinstance(made_from, tuple):
            found.setdefault("backend", dict(options_of(made_from[1]))["backend"])
        f = None if isinstance(made_from, tuple) else _inside(f)
    return tuple({"backend": "numpy", **found}.items())


def _inside(f: Any) -> Any:
    """The function inside of a method, a partial, a cached function, an object that is called; None where there is
    none."""
    if isinstance(f, types.MethodType):
        return f.__func__
    if isinstance(f, functools._lru_cache_wrapper):
        return f.__wrapped__
    if isinstance(f, functools.partial):
        return f.func
    called = vars(type(f)).get("__call__")
    return called if isinstance(called, Differentiable) else None


def default_options(backend: str = "numpy") -> tuple[tuple[str, Any], ...]:
    """The options of a function that is not decorated."""
    return _options({"backend": backend})


def option_error(summary: str, hint: str) -> Exception:
    """The ArgumentError for an option that there is not."""
    return error("S2S511", problem=summary, hint=hint)


def unwrap(f: Any) -> Any:
    """The function, method, partial or object inside the decorators that s2s sees through."""
    while True:
        if isinstance(f, Differentiable):
            f = f.func
        elif isinstance(f, functools._lru_cache_wrapper):  # the gradient of a cached function is its gradient
            f = f.__wrapped__
        elif compiled_from(f) is not None:
            f = compiled_from(f)
        else:
            return f
