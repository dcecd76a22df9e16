"""A function and an ask in, the object that is called for its derivative out; kept with the function, made
once.

The public functions of ``api`` are thin over this module, which they import when a derivative is first
asked for.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import sys
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from s2s.core import public
from s2s.core.critical import section
from s2s.core.highlighting import Source
from s2s.core.inspection import compiled_from
from s2s.core.public import PublicDerivative
from s2s.core.settings import backend_setting, passes_setting
from s2s.directives.decorated import Differentiable, options_of
from s2s.directives.policies import note_used
from s2s.dispatch import lookup
from s2s.dispatch.asks import Ask
from s2s.dispatch.by_shape import ByShape, show_versions
from s2s.dispatch.dispatcher import Dispatcher
from s2s.dispatch.lookup import start_afresh
from s2s.dispatch.pullbacks import with_pullback, with_tangents
from s2s.dispatch.version import Version
from s2s.errors import error
from s2s.notices import Notice, tell
from s2s.versions.target import Target, target_of

if TYPE_CHECKING:
    pass

__all__ = ["Derivative", "backend_of", "derivative", "store_of", "version_of_code"]

P = ParamSpec("P")
R = TypeVar("R")

JACOBIANS = ("jacfwd", "jacrev", "value_and_jacfwd", "value_and_jacrev")
MODES = (
    "grad", "value_and_grad", "vjp", "jvp", "vector_jvp", "vector_vjp", "elementwise_grad", *JACOBIANS, "sparsity",
    "observed", "primal",
)
_MethodType = types.MethodType


# --- derivatives --------------------------------------------------------------------------------------------


class _Docstring:
    """The ``__doc__`` of a class, and of its instances.

    ``help`` shows the signature of what has a ``__get__``; on Python 3.13 not of a ``functools.partial``: there the
    text begins with it, made when it is asked for, as it calls the ``repr`` of defaults.
    """

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, instance: Any, owner: Any = None) -> str:
        if instance is None:
            return self.of_class
        text: str = instance.__dict__.get("document", "")
        signature = instance.__dict__.get("__signature__") if sys.version_info[:2] == (3, 13) else None
        return text if signature is None else f"{instance.__name__}{signature}\n\n{text}"

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["document"] = value


class Derivative(functools.partial[R], PublicDerivative, Generic[P, R]):
    __doc__ = _Docstring("""A derivative of a function, as ``grad`` and ``value_and_grad`` return it; called as the
    function is.

    For type checkers it is ``Derivative[P, R]``, with the parameters of the function and what it returns.
    ``dispatcher`` holds what is compiled. It pickles as what it was made from.
    """)  # type: ignore[assignment]

    if TYPE_CHECKING:
        __name__: str
        dispatcher: Dispatcher | ByShape
        document: str
        made_from: tuple[Any, ...]
        remade: tuple[Callable[..., Any], tuple[Any, ...]] | None

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        """``__wrapped__`` is the generated function that was compiled or called last: ``inspect.getsource`` shows it,
        and so does ``??`` in IPython."""
        if name == "__wrapped__" and self.dispatcher.last is not None:
            return self.dispatcher.last.raw
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<s2s {self.__name__}: {show_versions(self.dispatcher)}>"

    def _repr_html_(self) -> str:
        return public.compiler().html_of(self)  # type: ignore[no-any-return]

    def __s2s_made__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.remade or (derivative, self.made_from)

    def differentiated(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values in a call that are differentiated."""
        dispatcher = self.dispatcher
        if isinstance(dispatcher, ByShape):
            dispatcher = dispatcher.dispatcher_for(args, kwargs)
        return dispatcher.differentiated(dispatcher.collect(*args, **kwargs))

    def clear(self) -> None:
        """Forget what is compiled, to start afresh: the next call of this derivative, and of any other derivative of
        the same function, compiles.

        Versions are compiled again by themselves when what they were made of changes: functions, options, classes.
        This is for what they are not asked about at each call (``docs/design/versions.md`` has the list). In this
        process nothing is read from the disk cache for this function from then on; what the next calls compile replaces
        the files there. Other processes compare what they find on disk with what they are themselves.

        >>> import s2s
        >>> square_grad = s2s.grad(lambda x: x * x)
        >>> square_grad(3.0)
        6.0
        >>> square_grad.clear()
        >>> square_grad
        <s2s lambda_grad: nothing compiled yet>
        """
        clear(self)

    @property
    def source(self) -> str:
        """The generated code of the version that was compiled or looked up last; ArgumentError before
        that."""
        if self.dispatcher.last is None:
            raise error("S2S512", name=self.__name__)
        return Source(self.dispatcher.last.shown.text)

    @property
    def backend(self) -> str:
        """What the version runs on that was compiled or looked up last, and why: ``numba: 27 times as fast as NumPy``;
        ArgumentError before that."""
        if self.dispatcher.last is None:
            raise error("S2S512", name=self.__name__)
        return self.dispatcher.last.backend


class _Store:
    """What is kept with a function: its derivatives, and the version made last."""

    def __init__(self, owner: Any) -> None:
        self.owner_id = id(owner)
        self.derivatives: dict[Any, Derivative] = {}
        self.last: Version | None = None

    def remember(self, version: Version) -> None:
        """Note the version of a derivative that was used."""
        if version.request.mode != "primal":
            self.last = version

    def __reduce__(self) -> Any:
        return _Store, (None,)


def store_of(f: Any) -> _Store:
    """The store of a function, in its own ``__dict__``, so that it goes when the function goes; a new one
    where there can be none. ``functools.wraps`` copies a ``__dict__``: the store says whose it is."""
    own = (
        getattr(f, "__dict__", None)
        if isinstance(f, (types.FunctionType, Differentiable, Derivative))
        else None
    )
    if own is None and compiled_from(f) is not None:
        return _compiled_stores.setdefault(f, _Store(f))
    if own is None:
        return _builtin_stores.setdefault(f, _Store(f)) if _is_eternal(f) else _Store(f)
    store = own.get("__s2s__")
    if not isinstance(store, _Store) or store.owner_id != id(f):
        store = own["__s2s__"] = _Store(f)
    return store


_builtin_stores: dict[Any, _Store] = {}
_compiled_stores: weakref.WeakKeyDictionary[Any, _Store] = weakref.WeakKeyDictionary()
"""Those of functions that Numba has compiled."""


def _is_eternal(f: Any) -> bool:
    """Whether a function of C lives as long as the process: a bound method goes when its object goes."""
    if isinstance(f, types.BuiltinFunctionType):
        return f.__self__ is None or isinstance(f.__self__, types.ModuleType)
    return isinstance(f, (np.ufunc, type(np.sum), types.MethodDescriptorType, types.WrapperDescriptorType))


def name_of_function(f: Any) -> str:
    while isinstance(f, functools.partial) and not hasattr(f, "__name__"):
        f = f.func
    name = getattr(f, "__name__", None)
    return name.strip("<>") if isinstance(name, str) else type(f).__name__


def derivative(
    mode: str, f: Any, argnums: Any, has_aux: bool, unconnected: str, count: int = 0, changes: str = "",
    holomorphic: bool = False,
) -> Derivative:
    """The derivative of ``f`` for this ask: the one made before, where there is one.

    ``changes`` says what becomes of arguments that ``f`` changes in place: they are ``refused``, as in ``repeated`` for
    a call that may run again, which is refused what may give something else then; ``returned``, where ``f`` returns
    nothing; or else nothing that the caller sees.
    """
    single = argnums is not None and not isinstance(argnums, (tuple, list))
    wanted = (argnums,) if single else None if argnums is None else tuple(argnums)
    if wanted == ():  # both modes give an empty tuple; forward mode has nothing to push
        mode = mode.replace("jacfwd", "jacrev")
    note_used(None)
    with section.lock:
        store = store_of(f)
        passes, setting = passes_setting(), backend_setting()
        where = (mode, wanted, single, has_aux, unconnected, count, changes, holomorphic, passes, setting)
        try:
            found = store.derivatives.get(where)
        except TypeError:
            raise error("S2S509", got=f"is {argnums!r}") from None
        if found is not None and getattr(found.dispatcher, "has_other_parameters", False):
            _make_again(found)
        if found is None:
            own = options_of(f)
            is_auto = dict(own)["backend"] == setting == "auto"
            options = (*_on_backend(own, setting), ("unconnected", unconnected))
            options += (("changes", changes),) if changes else ()
            options += (("holomorphic", True),) if holomorphic else ()
            options += (("passes", passes),) if passes else ()
            ask = Ask(mode, wanted, single, has_aux, options, count, is_auto)
            found = store.derivatives[where] = _new_derivative(f, ask, store)
            if not is_auto and compiled_from(f) is not None and dict(options)["backend"] == "numpy":
                _tell_of_numba(f.py_func)
            found.made_from = (mode, f, argnums, has_aux, unconnected, count, changes, holomorphic)
            _made.add(found)
        return found


def _tell_of_numba(function: types.FunctionType) -> None:
    """Say that a function that Numba has compiled is differentiated on NumPy."""
    code = function.__code__
    text = (
        f"`{code.co_name}` is compiled by Numba, its derivative runs on NumPy, where loops may take a thousand times "
        "as long: leave out `backend=\"numpy\"`, or ask for \"numba\""
    )
    tell([Notice("NumbaLeftOutWarning", text, code.co_filename, code.co_firstlineno, code.co_name)])


def _on_backend(options: tuple[tuple[str, Any], ...], setting: str) -> tuple[tuple[str, Any], ...]:
    """The options with the backend that code is generated for: for ``auto`` what the setting says, or NumPy."""
    meant = "numpy" if setting == "auto" else setting
    return tuple((name, meant) if (name, value) == ("backend", "auto") else (name, value) for name, value in options)


_made: weakref.WeakSet[Derivative] = weakref.WeakSet()
"""The derivatives that there are."""


def version_of_code(code: types.CodeType) -> tuple[Version, Target] | None:
    """The version whose generated function has this code, and what it was compiled from."""
    with section.lock:
        found = (
            (version, dispatcher.target)
            for made in list(_made) for dispatcher in made.dispatcher.everywhere for version in dispatcher.versions
            if version.is_one_of([code]))
        return next(found, None)


def forget() -> None:
    """Forget what was compiled, in every derivative that there is: a function has another rule."""
    with section:
        lookup.forget()
        for made in sorted(_made, key=_depth):
            _make_again(made)


def clear(*functions: Any) -> None:
    """Forget what was compiled for functions, in all of their derivatives; see ``Derivative.clear``."""
    with section:
        origins = {id(origin): origin for origin in map(_origin_of, functions)}
        for origin in origins.values():
            if isinstance(origin, types.FunctionType):
                start_afresh(origin)
        for made in sorted((made for made in _made if id(_origin_of(made)) in origins), key=_depth):
            _make_again(made)


def _origin_of(f: Any) -> Any:
    """The function that a derivative is one of, by whatever is around it; what has no Python code, itself."""
    while isinstance(f, Derivative):
        f = f.made_from[1]
    target = target_of(f)
    return f if target is None else target.function


def _make_again(made: Derivative) -> None:
    """Give a derivative, which stays the same object, a dispatcher that knows no version."""
    f, kept = made.made_from[1], made.__dict__
    fresh = _new_derivative(f, made.dispatcher.ask, store_of(f))
    state: Any = fresh.func, (), {}, {**kept, "dispatcher": fresh.dispatcher}
    made.__setstate__(state)  # type: ignore[attr-defined]


def _depth(made: Derivative) -> int:
    """How many derivatives one is the derivative of."""
    inner = made.made_from[1]
    return 1 + _depth(inner) if isinstance(inner, Derivative) else 0


def backend_of(f: Any) -> str:
    """The backend that the derivatives of a function run on."""
    backend: str = dict(options_of(f))["backend"]
    return backend


def _new_derivative(f: Any, ask: Ask, store: _Store) -> Derivative:
    suffix = "" if ask.mode == "primal" else f"_{ask.mode}"
    name = name_of_function(f) + suffix
    name += "_primal" if keyword.iskeyword(name) else ""
    finish: Callable[[Version, Dispatcher], Callable[..., Any]] | None = None
    if ask.mode in ("vjp", "jvp", "vector_jvp", "vector_vjp"):
        finish = functools.partial(with_pullback, ask.count) if ask.mode == "vjp" else with_tangents

    def make(target: Target) -> Dispatcher:
        return Dispatcher(target, ask, name, finish, store.remember)

    target = target_of(f)
    held = dict(ask.options).get("choices", ())
    if target is not None and target.derived is not None and held:  # a choice for what the derivative calls
        target = target.with_derived(target.derived.under(held))
    dispatcher = ByShape(f, ask, make) if target is None else make(target)
    made: Derivative[..., Any] = Derivative(dispatcher.function)
    for attribute in ("__module__", "__qualname__"):
        if isinstance(getattr(f, attribute, None), str):
            made.__dict__[attribute] = getattr(f, attribute)
    made.document = _document(f, ask, () if target is None else target.positional)
    made.__name__ = name
    made.remade = None
    made.__dict__["__qualname__"] = f"{made.__dict__.get('__qualname__', name_of_function(f))}{suffix}"
    if target is not None:
        made.__dict__["__signature__"] = inspect.Signature(target.public)
    made.dispatcher = dispatcher
    return made


def _document(f: Any, ask: Ask, positional: tuple[str, ...]) -> str:
    if ask.mode == "primal":
        return getattr(f, "__doc__", None) or ""
    what = {
        "grad": "Gradient", "value_and_grad": "Value and gradient", "jacfwd": "Jacobian, by forward mode,",
        "jacrev": "Jacobian, by reverse mode,", "elementwise_grad": "Derivative, element by element,",
    }.get(ask.mode, "Derivative")
    wrt = f" with respect to {', '.join(_name(k, positional) for k in ask.argnums)}" if ask.argnums else ""
    own = inspect.cleandoc(getattr(f, "__doc__", None) or "")
    return f"{what} of {name_of_function(f)}{wrt}.\n\n{own}".rstrip()


def _name(argument: Any, positional: tuple[str, ...]) -> str:
    """The name of an argument that is given by its position, or by its name."""
    known = isinstance(argument, int) and -len(positional) <= argument < len(positional)
    return positional[argument] if known else str(argument)


def show_compiled(f: Differentiable[..., Any]) -> str:
    """The derivatives of a decorated function and their compiled signatures, for its repr."""
    shown = [repr(found)[1:-1] for found in store_of(f).derivatives.values()]
    return "; ".join(shown) or "nothing compiled yet"
