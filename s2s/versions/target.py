"""What the user hands over (a function, method, partial, callable object, NumPy's own function) in, the
Python function to compile and its public parameters out.

Raises ArgumentError (S2S507) for what is no function.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import linecache
import re
import types
import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from s2s.core.annotated import signature_of
from s2s.core.linecaches import define
from s2s.core.public import PublicDerivative, Transformed
from s2s.core.wrappers import autograd_operator, autograd_primitive, machine_code_of_numba, numba_ufunc
from s2s.directives.decorated import unwrap
from s2s.errors import error, not_a_function
from s2s.versions.paths import import_path
from s2s.versions.request import Path

if TYPE_CHECKING:
    from s2s.core.ir import Span

__all__ = [
    "Target", "error", "find_paths", "parameter_span", "synthetic", "target_of", "unwrap",
]

_P = inspect.Parameter
_POSITIONAL = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)


class Target:
    """A Python function to compile, and how it is called.

    ``public`` are the parameters that callers see. ``fixed`` are the function's parameters with a set value
    (``self`` of a bound method, the arguments of a ``partial``), ``prefix`` what comes before ``*args``,
    ``extra`` what goes into ``**kwargs`` unless the caller says otherwise. ``derived`` is the dispatcher
    whose compiled versions are to be differentiated instead of ``function``: the derivative of a
    derivative.
    """

    def __init__(
        self,
        function: types.FunctionType,
        public: tuple[inspect.Parameter, ...],
        fixed: dict[str, Any] | None = None,
        prefix: tuple[Any, ...] = (),
        extra: dict[str, Any] | None = None,
        derived: Any = None,
    ) -> None:
        self.function = function
        self.public = public
        self.fixed = fixed or {}
        self.prefix = prefix
        self.extra = extra or {}
        self.derived = derived

    def with_derived(self, derived: Any) -> Target:
        """The same for another dispatcher whose versions are differentiated."""
        return Target(self.function, self.public, self.fixed, self.prefix, self.extra, derived)

    @property
    def innermost(self) -> Target:
        """What a derivative, or one of a derivative, is of: a function of the program."""
        return self if self.derived is None else self.derived.target.innermost  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The name to show: ``loss``, ``lambda``; of a function without source its own."""
        called = self.function.__dict__.get("__s2s_calls__", self.function)
        return getattr(called, "__name__", self.function.__name__).strip("<>")

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the function's own parameters, ``*args`` before the keyword-only ones."""
        return tuple(p.name for p in parameters_of(self.function))

    @functools.cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of the public parameters that may be passed by position."""
        return tuple(p.name for p in self.public if p.kind in _POSITIONAL)

    def variable(self, kind: Any) -> str | None:
        """The name of the public ``*args`` or ``**kwargs``, if there is one."""
        return next((p.name for p in self.public if p.kind is kind), None)


def target_of(f: Any) -> Target | None:
    """The target of a callable; None where it has no Python code of its own (NumPy's functions, built-ins), or a rule
    stands for its code.

    Raises ArgumentError for classes and for what cannot be called.
    """
    from s2s.directives.policies import Chosen
    from s2s.rules import table

    f = unwrap(f)
    f = one_of_modes(f) or f
    if isinstance(f, staticmethod):  # as the body of a class has it
        return target_of(f.__func__)
    if table.rule_of_user(f) is not None:
        return None
    if isinstance(f, Chosen) or autograd_primitive(f) is not None or autograd_operator(f) is not None:
        return None
    if numba_ufunc(f) is not None:
        return None
    code = machine_code_of_numba(f)
    if code is not None:
        raise error("S2S201", name=code[0], hint=code[1])
    if isinstance(f, (types.FunctionType, types.MethodType)) and table.has_rule(getattr(f, "__func__", f)):
        return None
    if isinstance(f, types.FunctionType):
        return Target(f, parameters_of(f))
    if isinstance(f, PublicDerivative) and f.made_from[0] == "primal":
        return target_of(f.made_from[1])
    if isinstance(f, PublicDerivative):
        inner = f.dispatcher.target
        if inner is None:
            return None
        return Target(inner.function, inner.public, inner.fixed, inner.prefix, inner.extra, f.dispatcher)
    if isinstance(f, types.MethodType):
        inner = target_of(f.__func__)
        return None if inner is None else bind(inner, (f.__self__,), {})
    if isinstance(f, functools.partial):
        inner = target_of(f.func)
        return None if inner is None else bind(inner, f.args, f.keywords)
    if isinstance(f, type) or not callable(f):
        raise not_a_function(f)
    call = unwrap(inspect.getattr_static(type(f), "__call__", None))
    if table.rule_of_user(call) is not None:
        return None
    if isinstance(call, types.FunctionType) and import_path(type(f)) != "numpy:vectorize":
        return bind(Target(call, parameters_of(call)), (f,), {})
    return None


def one_of_modes(f: Any) -> Any:
    """The Jacobian by one mode, for a function that chooses between two when it is called; None for any other. What
    ``functools.wraps`` makes has a copy of its ``__dict__`` and other code."""
    f = f.func if type(f) is Transformed else f
    kept = getattr(f, "__dict__", {}).get("__s2s_modes__") if isinstance(f, types.FunctionType) else None
    return kept[1] if kept is not None and kept[0] is f.__code__ else None


def parameters_of(function: types.FunctionType) -> tuple[inspect.Parameter, ...]:
    """The parameters of a function, read from its code object: never those of what it wraps."""
    code = function.__code__
    names = code.co_varnames
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    first_default = positional - len(defaults)
    result = []
    for i, name in enumerate(names[:positional]):
        kind = _P.POSITIONAL_ONLY if i < code.co_posonlyargcount else _P.POSITIONAL_OR_KEYWORD
        default = defaults[i - first_default] if i >= first_default else _P.empty
        result.append(_P(name, kind, default=default))
    rest = positional + keyword_only
    if code.co_flags & inspect.CO_VARARGS:
        result.append(_P(names[rest], _P.VAR_POSITIONAL))
        rest += 1
    for name in names[positional : positional + keyword_only]:
        default = (function.__kwdefaults__ or {}).get(name, _P.empty)
        result.append(_P(name, _P.KEYWORD_ONLY, default=default))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        result.append(_P(names[rest], _P.VAR_KEYWORD))
    return tuple(result)


def own_signature(function: types.FunctionType) -> inspect.Signature:
    """The signature that a call of a function is bound by: never what its ``__signature__`` says."""
    return inspect.Signature(parameters_of(function))


def bind(target: Target, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Target:
    """The target with its first positional arguments set, and keyword arguments as new defaults, as
    ``partial`` does.

    Raises ArgumentError where the function does not take them.
    """
    names = target.positional[: len(args)]
    prefix = args[len(names) :]
    if prefix and target.variable(_P.VAR_POSITIONAL) is None:
        raise error("S2S501", name=target.name, number=len(args) - 1)
    public = [p for p in target.public if p.name not in names]
    by_name = {p.name for p in public if p.kind in (_P.POSITIONAL_OR_KEYWORD, _P.KEYWORD_ONLY)}
    extra = {key: value for key, value in kwargs.items() if key not in by_name}
    if extra and target.variable(_P.VAR_KEYWORD) is None:
        raise error("S2S502", name=target.name, argument=next(iter(extra)))
    return Target(
        target.function,
        public=_with_defaults(public, {k: v for k, v in kwargs.items() if k in by_name}),
        fixed=target.fixed | dict(zip(names, args, strict=False)),
        prefix=target.prefix + prefix,
        extra=target.extra | extra,
        derived=target.derived,
    )


def _with_defaults(
    public: list[inspect.Parameter], defaults: dict[str, Any]
) -> tuple[inspect.Parameter, ...]:
    """Parameters from the first that a keyword sets on can only be passed by keyword."""
    result, after = [], False
    for p in public:
        after = after or (p.name in defaults and p.kind is _P.POSITIONAL_OR_KEYWORD)
        if p.kind is _P.VAR_POSITIONAL and after:
            continue
        kind = _P.KEYWORD_ONLY if after and p.kind is _P.POSITIONAL_OR_KEYWORD else p.kind
        result.append(p.replace(kind=kind, default=defaults.get(p.name, p.default)))
    return tuple(result)


# --- argnums ------------------------------------------------------------------------------------------------


def find_paths(
    target: Target, argnums: tuple[Any, ...], given: tuple[Any, ...] | None
) -> tuple[Path, ...] | None:
    """The paths that argument numbers and names mean; ``given`` are the values of the function's parameters.

    Before a call (``given`` is None) the answer is None where it depends on how many arguments there are.
    Raises ArgumentError for a number or a name that the function does not have, and for one that comes
    twice.
    """
    paths = [_find_path(target, argument, given) for argument in argnums]
    for i, path in enumerate(paths):
        if path is not None and path in paths[:i]:
            span = parameter_span(target.function, path[0])
            raise error("S2S508", name=target.name, argument=show_path(path), span=span)
    return None if None in paths else tuple(path for path in paths if path is not None)


def _find_path(target: Target, argument: Any, given: tuple[Any, ...] | None) -> Path | None:
    if isinstance(argument, str):
        return _find_name(target, argument, given)
    if isinstance(argument, bool) or not hasattr(argument, "__index__"):
        raise error("S2S509", got=f"has {argument!r}")
    return _find_number(target, argument.__index__(), given)


def _find_number(target: Target, number: int, given: tuple[Any, ...] | None) -> Path | None:
    names, rest = target.positional, target.variable(_P.VAR_POSITIONAL)
    index = number
    if rest is not None and (index < 0 or index >= len(names)):
        if given is None:
            return None
        count = len(names) + len(given[target.parameters.index(rest)]) - len(target.prefix)
        index += count if index < 0 else 0
        if len(names) <= index < count:
            return (rest, index - len(names) + len(target.prefix))
    elif index < 0:
        index += len(names)
    if not 0 <= index < len(names):
        raise error(
            "S2S501",
            name=target.name,
            number=number,
            span=parameter_span(target.function),
            hint=_choices(target),
        )
    return (names[index],)


def _find_name(target: Target, name: str, given: tuple[Any, ...] | None) -> Path | None:
    name = name if name.isascii() else unicodedata.normalize("NFKC", name)  # as Python stores it
    if any(p.name == name for p in target.public):
        return (name,)
    rest = target.variable(_P.VAR_KEYWORD)
    if rest is not None:
        if given is None:
            return None
        if name in given[target.parameters.index(rest)]:
            return (rest, name)
    several = tuple(part.strip() for part in name.split(","))
    known = all(any(p.name == part for p in target.public) for part in several)
    hint = f"write them as a tuple, {several!r}" if known else _choices(target)
    raise error("S2S502", name=target.name, argument=name, span=parameter_span(target.function), hint=hint)


def _choices(target: Target) -> str:
    names = [p.name for p in target.public if p.kind not in (_P.VAR_POSITIONAL, _P.VAR_KEYWORD)]
    if not names:
        return f"`{target.name}` takes no arguments by name"
    return "choose among " + ", ".join(
        f"{name} ({i})" if i < len(target.positional) else name for i, name in enumerate(names)
    )


def show_path(path: Path) -> str:
    """A path as the user would write it: ``W``, ``args[1]``."""
    return str(path[0]) + "".join(f"[{step!r}]" for step in path[1:])


def parameter_span(function: types.FunctionType, name: str | None = None) -> Span | None:
    """Where a parameter stands in the function's head (the function's name, without ``name``); None if not
    found."""
    from s2s.core.ir import Span

    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    head = re.compile(r"\bdef\s+" + re.escape(code.co_name) + r"\b|\blambda\b")
    for number in range(code.co_firstlineno, min(code.co_firstlineno + 60, len(lines) + 1)):
        start = head.search(lines[number - 1])
        if start is None:
            continue
        if name is None:
            column, end = (
                (start.end() - len(code.co_name), start.end()) if "def" in start[0] else start.span()
            )
            return Span(code.co_filename, number, column, number, end, function.__name__)
        return _name_span(function, name, lines, number, start.end())
    return None


def _name_span(
    function: types.FunctionType, name: str, lines: list[str], number: int, column: int
) -> Span | None:
    from s2s.core.ir import Span

    pattern = re.compile(rf"\b{re.escape(name)}\b")
    for line in range(number, min(number + 30, len(lines) + 1)):
        found = pattern.search(lines[line - 1], column)
        if found is not None:
            return Span(
                function.__code__.co_filename, line, found.start(), line, found.end(), function.__name__
            )
        column = 0
    return None


# --- functions without source -------------------------------------------------------------------------------


def synthetic(f: Callable[..., Any], count: int, keywords: tuple[str, ...]) -> types.FunctionType:
    """A Python function with source that calls ``f`` with ``count`` arguments by position and some by
    keyword: ``def sum_(a, axis): return np.sum(a, axis=axis)``."""
    name = re.sub(r"\W", "_", getattr(f, "__name__", type(f).__name__))
    expression, scope = _expression(f)
    positional = _positional_names(f, count, {*keywords, *scope})
    call = ", ".join([*positional, *(f"{k}={k}" for k in keywords)])
    def_name = f"{name}_"
    text = f"def {def_name}({', '.join([*positional, *keywords])}):\n    return {expression}({call})\n"
    function = define(def_name, text, scope | {"__name__": getattr(f, "__module__", None) or "builtins"})
    function.__doc__ = getattr(f, "__doc__", None)
    function.__dict__["__s2s_calls__"] = f
    return function


def _expression(f: Any) -> tuple[str, dict[str, Any]]:
    """How to write ``f``, and the globals that this needs."""
    path = import_path(f)
    module, _, name = (path or "").partition(":")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in f"{module}.{name}".split(".")):
        return "f", {"f": f}  # made in a function, or in a module that is named like no module: `runpy`'s <run_path>
    if module == "builtins":
        return name, {}
    if module.split(".")[0] == "numpy":
        import numpy

        return f"{module.replace('numpy', 'np', 1)}.{name}", {"np": numpy}
    root = module.split(".")[0]
    return f"{module}.{name}", {root: importlib.import_module(root)}


def _positional_names(f: Any, count: int, taken: set[str]) -> list[str]:
    """The names of the first parameters of ``f`` where it tells them, else ``x0``, ``x1``. Those of ufuncs, which tell
    them from NumPy 2.4 on, are ``x``, or ``x1`` and ``x2``, by its documentation."""
    try:
        parameters = [p.name for p in signature_of(f).parameters.values() if p.kind in _POSITIONAL]
    except (TypeError, ValueError):
        inputs = getattr(f, "nin", 0)
        parameters = ["x"] if inputs == 1 else [f"x{i + 1}" for i in range(inputs)]
    names = [*parameters[:count], *(f"x{i}" for i in range(len(parameters), count))]
    usable = all(n.isidentifier() and not keyword.iskeyword(n) and n not in taken for n in names)
    return names if usable and len(set(names)) == count else [f"x{i}_" for i in range(count)]
