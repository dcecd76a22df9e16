"""A function in, its gradient as a function that Numba compiles out: compiled code calls it, and so does Python.

``njit_grad(f)`` is the ``njit`` of a function whose body is ``return derivative(x)``. Where Numba compiles that, it
asks for the type of ``derivative``, and is given one whose calls are typed by compiling a version for the types of the
arguments (``_implementation``). Differentiated again, it is the Python function that it was made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s.arguments import check_argument, checked
from s2s.core.linecaches import define
from s2s.derivatives import Derivative, derivative, name_of_function
from s2s.directives.decorated import Differentiable, made_differentiable, options_of
from s2s.directives.differentiable import option_error
from s2s.directives.policy import AMBIENT
from s2s.dispatch.dispatcher import Dispatcher
from s2s.dispatch.short_lengths import ShortLengths
from s2s.errors import error, not_a_function
from s2s.versions.target import Target, parameter_span

try:
    import numba
    from numba.core import sigutils
    from numba.core.typing.templates import make_overload_template
    from numba.extending import typeof_impl
except ImportError as missing:
    raise error("S2S533", problem=missing) from None

from s2s.backends.numba.alone import Made, alone, described
from s2s.backends.numba.paths import Unsupported
from s2s.backends.numba.turns import section_in_numba

__all__ = ["njit_grad", "njit_value_and_grad"]


@checked
def njit_grad(
    f: Callable[..., Any], signature: Any = None, argnums: int | str | tuple[int | str, ...] = 0, **options: bool
) -> Any:
    """The gradient of a function with one real result as a function that Numba compiled: code under ``@njit`` calls it,
    and so does Python, with nothing in between. ``f`` is a Python function or one that Numba compiled.

    ``signature`` has the types of the arguments as Numba writes them, or arguments to take these from: a string
    (``"float64(float64[:], int64)"``, of which the result is not looked at), ``(float64[:], int64)``, ``(x, 3)``, or a
    list of these. It is compiled for them at once, and takes no others. Arrays in arguments tell short lengths of last
    axes, as those of places in space, for which there is faster code then. Without it, it is compiled for each types
    of arguments at the first call with them. ``argnums`` is as in ``grad``; ``fastmath`` and ``parallel`` are Numba's.

    >>> import numba, numpy as np, s2s
    >>> @numba.njit
    ... def loss(x, n):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += x[i] ** n
    ...     return total
    >>> loss_grad = s2s.njit_grad(loss, "float64(float64[:], int64)")
    >>> @numba.njit
    ... def descend(x, steps):
    ...     for _ in range(steps):
    ...         x = x - 0.1 * loss_grad(x, 2)
    ...     return x
    >>> descend(np.array([1.0, -2.0]), 2)
    array([ 0.64, -1.28])

    What ``f`` reads from outside is compiled in, as Numba does. Raises ArgumentError where Numba cannot compile
    the derivative, and the errors of ``grad``.
    """
    return _njit("grad", f, signature, argnums, options)


@checked
def njit_value_and_grad(
    f: Callable[..., Any], signature: Any = None, argnums: int | str | tuple[int | str, ...] = 0, **options: bool
) -> Any:
    """The value and the gradient, ``(value, gradient)``, as a function that Numba compiled. Arguments and errors are
    those of ``njit_grad``.

    >>> import s2s
    >>> s2s.njit_value_and_grad(lambda x, y: x * y**2, "float64(float64, float64)", argnums=(0, 1))(2.0, 3.0)
    (18.0, (9.0, 12.0))
    """
    return _njit("value_and_grad", f, signature, argnums, options)


def _njit(mode: str, f: Any, signature: Any, argnums: Any, options: dict[str, bool]) -> Any:
    signatures = _signatures(signature)
    made = derivative(mode, _for_numba(f, options), argnums, False, "zeros")
    dispatcher = made.dispatcher
    if not isinstance(dispatcher, Dispatcher):
        raise error("S2S301", name=name_of_function(f))
    parameters = _parameters(dispatcher.target)
    given = ", ".join(parameters)
    name = made.__name__ if made.__name__.isidentifier() else "derivative"
    scope = {"derivative": made, "__name__": dispatcher.target.function.__module__}
    function = define(name, f"def {name}({given}):\n    return derivative({given})\n", scope)
    function.__defaults__ = tuple(p.default for p in dispatcher.target.public if p.default is not p.empty) or None
    function.__doc__ = made.__doc__
    function.__qualname__ = name
    compiled = numba.njit(function)
    for types, values in signatures:
        types = _with_defaults(types, dispatcher.target)
        _implementation(made, types, values)
        compiled.compile(types)
    if signatures:
        compiled.disable_compile()
    return compiled


def _for_numba(f: Any, options: dict[str, bool]) -> Differentiable[..., Any]:
    """The function with the options of derivatives on Numba."""
    for name in options:
        if name not in ("fastmath", "parallel"):
            raise option_error(f"there is no option `{name}`", "choose among fastmath, parallel")
        check_argument(name, options[name])
    inner = f.func if isinstance(f, Differentiable) else f
    if isinstance(inner, (type, staticmethod, classmethod)) or not callable(inner):
        raise not_a_function(f)
    own = dict(options_of(f)) | {"backend": "numba"} | {name: True for name, value in options.items() if value}
    return made_differentiable(inner, tuple(own.items()))


def _parameters(target: Target) -> tuple[str, ...]:
    """The names of the parameters. Raises where there are any number of them, or some have set values."""
    for p in target.public:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise _refusal(target, f"it takes any number of arguments, `{p}`")
        if p.kind is p.KEYWORD_ONLY:
            raise _refusal(target, f"it takes `{p.name}` by keyword only")
    if len(target.public) != len(target.parameters):
        raise _refusal(target, "some of its arguments are set already, by `functools.partial` or as a method's `self`")
    return tuple(p.name for p in target.public)


def _signatures(signature: Any) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """The types of arguments of each signature that is asked for, and arguments, where these were given."""
    if signature is None:
        return []
    if isinstance(signature, list):
        return [types for one in signature for types in _signatures(one)]
    if not isinstance(signature, (str, tuple)) and not hasattr(signature, "return_type"):
        raise option_error(f"the signature is {signature!r}", 'give types, "float64(float64[:])", or arguments, (x,)')
    if isinstance(signature, tuple):
        are_types = [isinstance(one, numba.types.Type) for one in signature]
        kinds = (one if is_type else numba.typeof(one) for one, is_type in zip(signature, are_types, strict=True))
        return [(tuple(kinds), () if any(are_types) else signature)]
    try:
        return [(tuple(sigutils.normalize_signature(signature)[0]), ())]
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        hint = 'give types as Numba writes them, "float64(float64[:], int64)"'
        raise option_error(f"the signature {signature!r} cannot be read ({said})", hint) from None


def _with_defaults(types: tuple[Any, ...], target: Target) -> tuple[Any, ...]:
    """The types of all arguments, the last of which may have defaults. Raises ArgumentError where some are missing."""
    left = [p.default for p in target.public[len(types) :]]
    if len(types) > len(target.public) or any(default is target.public[0].empty for default in left):
        problem = f"the signature has {len(types)} types, `{target.name}` has {len(target.public)} parameters"
        raise option_error(problem, "give a type for each of them")
    return (*types, *map(numba.types.Omitted, left))


# --- what Numba is told ---------------------------------------------------------------------------------------------


@typeof_impl.register(Derivative)
def _type_of(made: Derivative, context: Any) -> Any:
    """The type of a derivative: that of a function whose calls are typed by ``_implementation``."""
    found = made.__dict__.get("__s2s_numba__")
    if found is None:
        target = made.dispatcher.target if isinstance(made.dispatcher, Dispatcher) else None
        if target is None:
            return None
        given = ", ".join(_parameters(target))
        scope = {"made": made, "implementation": _implementation}
        choose = define("choose", f"def choose({given}):\n    return implementation(made, ({given},))\n", scope)
        template = make_overload_template(made, choose, {}, strict=True, inline="never")
        found = made.__dict__["__s2s_numba__"] = numba.types.Function(template)
    return found


def _implementation(made: Derivative, types: tuple[Any, ...], values: tuple[Any, ...] = ()) -> Callable[..., Any]:
    """The Python function that Numba compiles for a call of a derivative with arguments of these types; ``values`` are
    the first arguments of such a call, if they are known."""
    dispatcher = made.dispatcher
    assert isinstance(dispatcher, Dispatcher)
    cache = made.__dict__.setdefault("__s2s_implementations__", {})
    if types not in cache:
        with section_in_numba():
            dispatcher = dispatcher.under(AMBIENT.get())
            target, options = dispatcher.target, dict(dispatcher.ask.options)
            try:
                general = _general(dispatcher, types)
                plain = _made(dispatcher, types, False, () if general is None else values)
                cache[types] = alone(made.__name__, [p.name for p in target.public], plain, general, options, types)
            except Unsupported as refused:
                raise _refusal(target, refused.reason) from None
    return cache[types]


def _made(
    dispatcher: Dispatcher, types: tuple[Any, ...], any_length: bool, values: tuple[Any, ...] = ()
) -> Made:
    target = dispatcher.target
    avals = tuple([
        described(kind, name, any_length) for kind, name in zip(types, target.parameters, strict=True)
    ])
    if values:
        known = ShortLengths().known([*avals[: len(values)]], values)
        avals = (*known, *avals[len(values) :])
    request = dispatcher.ask.request(target, avals, tuple(() for _ in avals))
    version = dispatcher.version_of(avals, request)
    return Made(version.compiled, version.raw, version.request, avals, tuple(g for g, _ in version.guards))


def _general(dispatcher: Dispatcher, types: tuple[Any, ...]) -> Made | None:
    """The version for arrays of any lengths, None where the compiler refuses it."""
    try:
        return _made(dispatcher, types, True)
    except Exception as problem:
        if not hasattr(problem, "diagnostic"):
            raise
        return None


def _refusal(target: Target, reason: str) -> Exception:
    return error("S2S534", name=target.name, reason=reason, span=parameter_span(target.function))
