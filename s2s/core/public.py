"""The public functions, as the rooms below them know them: by marks that they carry, and by one registered entry.

    @role("hessian")                    role_of(hessian) == "hessian": what the specialiser knows the function by
    def hessian(f, ...): ...

    public.compiler().vjp_of_call(...)  what generated code asks of the compiler while it runs
"""

from __future__ import annotations

import copy
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "PublicDerivative", "PublicSolution", "PublicValueAndGradient", "Remade", "Transformed", "compiler", "function",
    "jvp", "key_of", "model_of", "register", "role", "role_of", "transformed", "vjp",
]

F = TypeVar("F", bound=Callable[..., Any])

_functions: dict[str, Any] = {}
_models: dict[str, Any] = {}
_entry = ""
_module: Any = None

vjp: Any = None
"""``s2s.vjp``, which that module puts here: derived rules of users call it, and are differentiated in turn."""

jvp: Any = None
"""``s2s.jvp``, as ``vjp``."""


class Remade:
    """The base of what s2s makes of functions: pickled by what it was made of, of which functions go by name and
    source. It is copied as functions are: not at all, unless what it was made of has parts that are."""

    def __s2s_made__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """What makes it, and of what."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> Any:
        return compiler().reduced(self)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        maker, args = self.__s2s_made__()
        again = tuple([copy.deepcopy(arg, memo) for arg in args])
        same = all(a is b or (isinstance(a, tuple) and a == b) for a, b in zip(args, again, strict=True))
        return self if same else maker(*again)


class Transformed(functools.partial[Any], Remade):
    """A function that a public function has made of another one; called as it is."""

    made: tuple[Callable[..., Any], tuple[Any, ...]]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<s2s {self.__name__}>"  # type: ignore[attr-defined]

    def __s2s_made__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.made


def transformed(function: Callable[..., Any], maker: Callable[..., Any], *args: Any) -> Transformed:
    """A function that ``maker(*args)`` has made, which pickles as that."""
    found = Transformed(function)
    functools.update_wrapper(found, function, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    found.made = maker, args
    return found


class PublicDerivative(Remade):
    """The base of what ``s2s.grad(f)`` and its like give."""

    made_from: tuple[Any, ...]
    """The mode, the function, and what the derivative was asked for with."""

    dispatcher: Any
    """What holds its compiled versions."""


class PublicValueAndGradient:
    """The base of what gives value and gradient of a loss by itself, as ``s2s.distributed.value_and_grad`` does."""


class PublicSolution(Remade):
    """The base of what ``s2s.implicit(solver, residual)`` gives."""

    residual: Callable[..., Any]


def role(name: str, model: Any = None) -> Callable[[F], F]:
    """A decorator: the compiler knows the function by this name, and follows ``model`` in its place where it is given.
    """

    def marked(f: F) -> F:
        f.__s2s_role__ = name  # type: ignore[attr-defined]
        _functions[name] = f
        if model is not None:
            _models[name] = model
        return f

    return marked


def role_of(fn: Any) -> str | None:
    """The name by which the compiler knows a public function; None for any other object."""
    found = fn.__dict__.get("__s2s_role__") if type(fn) is types.FunctionType else None
    return found if found is not None and _functions.get(found) is fn else None  # functools.wraps copies a __dict__


def key_of(fn: Any) -> Any:
    """What tables of functions have a function under: its role where it has one, else the function itself."""
    return role_of(fn) or fn


def function(name: str) -> Any:
    """The public function with a role. Its module must have been imported: who met the role has met the function."""
    return _functions[name]


def model_of(fn: Any) -> Any:
    """What the compiler follows in place of a public function: its model, or what it does itself."""
    return _models.get(role_of(fn) or "", getattr(fn, "__wrapped__", fn))


def register(module: str) -> None:
    """Say which module answers what is asked of the compiler while a program runs."""
    global _entry
    _entry = module


def compiler() -> Any:
    """The registered module, imported when it is first asked for: it brings the whole compiler."""
    global _module
    if _module is None:
        _module = importlib.import_module(_entry)
    return _module
