"""Functions that ``@s2s.differentiable`` has decorated: what they are, what options they have, what is inside them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from s2s.core import public
from s2s.directives.policy import AMBIENT, parts_of

__all__ = ["Differentiable", "made_differentiable", "options_of", "unwrap"]

P = ParamSpec("P")
R = TypeVar("R")

_MethodType = types.MethodType  # read at every call of a decorated method


class Differentiable(functools.partial[R], public.Remade, Generic[P, R]):
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

    def _repr_html_(self) -> str:
        return public.compiler().html_of(self)

    def __s2s_made__(self) -> Any:
        return made_differentiable, (self.func, self.options)

    def __s2s_parts__(self) -> tuple[Any, ...]:
        """What makes up the function, for fingerprints."""
        held = [(name, value) for name, value in self.options if name in ("choices", "nonsmooth")]
        if not held:
            return self.func, *self.options
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
            token = AMBIENT.set((*dict(self.options)["choices"], *AMBIENT.get()))
            try:
                return self.func(*args, **kwargs)
            finally:
                AMBIENT.reset(token)


def made_differentiable(
    f: Callable[..., Any], options: tuple[tuple[str, Any], ...]
) -> Differentiable[..., Any]:
    kind: Any = _Choosing if dict(options).get("choices") else Differentiable
    made: Differentiable[..., Any] = kind(f)
    made.__setstate__((f, (), {}, {}))  # a partial is not merged into it
    functools.update_wrapper(made, f)
    made.__dict__.pop("__s2s__", None)
    made.options = options
    return made


def options_of(f: Any) -> tuple[tuple[str, Any], ...]:
    """The options of a function: those that it is decorated with, and those of the functions inside of it, as a method,
    a ``partial`` and a cached function have one. What is chosen inside comes first; the outermost backend counts. A
    derivative has made the choices of its function; its backend is kept, with its options. On Numba, a function that
    Numba compiled has the options that it was compiled with."""
    found: dict[str, Any] = {}
    compiled: dict[str, Any] = {}
    while f is not None:
        for name, value in f.options if isinstance(f, Differentiable) else ():
            is_choice = name in ("choices", "nonsmooth")
            found[name] = (*value, *found.get(name, ())) if is_choice else found.get(name, value)
        given = getattr(f, "targetoptions", None)
        if isinstance(given, dict):
            compiled = {name: True for name in ("parallel", "fastmath") if given.get(name) is True}
        made_from = getattr(f, "made_from", None)
        if isinstance(made_from, tuple):
            kept = [item for item in options_of(made_from[1]) if item[0] in ("backend", "parallel", "fastmath")]
            found = {**dict(kept), **found}
        f = None if isinstance(made_from, tuple) else _inside(f)
    if found.get("backend") == "numba":
        found = {**found, **{name: value for name, value in compiled.items() if name not in found}}
    return tuple({"backend": "auto", **found}.items())


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


def unwrap(f: Any) -> Any:
    """The function, method, partial or object inside the decorators that s2s sees through."""
    from s2s.core.inspection import compiled_from  # which imports NumPy
    from s2s.core.wrappers import autograd_primitive, autograd_rules

    while True:
        if isinstance(f, Differentiable):
            f = f.func
        elif isinstance(f, functools._lru_cache_wrapper):  # the gradient of a cached function is its gradient
            f = f.__wrapped__
        elif compiled_from(f) is not None:
            f = compiled_from(f)
        elif isinstance(autograd_primitive(f), types.FunctionType) and autograd_rules(f) == (None, None):
            f = autograd_primitive(f)
        else:
            return f
