"""What is checked when the program runs: nothing is done where it holds, an error is raised where it does not."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, NoReturn

import numpy as np

from s2s.core.inspection import has_own_operators, with_article
from s2s.errors import error, no_scalar
from s2s.runtime._cotangents import floats
from s2s.runtime._memory import arrays_in, containers_in, items_of
from s2s.runtime._remembered import check_no_kept_key


def check_bound(value: Any, name: str | None = None) -> None:
    """Raise UnboundLocalError where a variable has no value. Reading it to pass it is what raises; where generated code
    had to put a None there, it is told apart by that, of variables that hold a number or an array (``name``)."""
    if value is None and name is not None:
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def check_sure(interrupted: Any, name: str) -> None:
    """Raise UnsupportedSyntaxError where an exception interrupted a block that may have assigned ``name``, or not."""
    if interrupted:
        raise try_error(f"`{name}` may or may not have been assigned when the exception came")


def check_ended(ended: bool, place: str) -> None:
    """Raise UnsupportedSyntaxError where a context manager swallowed the exception that interrupted its block."""
    if not ended:
        label = f"the manager swallowed an exception ({place})"
        raise error("S2S105", label=label, hint="catch the exception with `try` and `except`")


def check_equal(*lengths: int) -> None:
    """Raise ValueError where iterables that are zipped strictly differ in length, as ``zip`` does."""
    for k, length in enumerate(lengths[1:], 2):
        if length != lengths[0]:
            raise ValueError(f"zip() argument {k} is {'longer' if length > lengths[0] else 'shorter'} than argument 1")


def check_room(array: Any, given: Any) -> None:
    """Raise ValueError where an operation in place would give more than the array has room for, as NumPy does."""
    shape = np.broadcast_shapes(np.shape(array), np.shape(given))
    if shape != np.shape(array):
        raise ValueError(
            f"non-broadcastable output operand with shape {np.shape(array)} doesn't match the broadcast shape {shape}")


def check_gradient(g: Any, x: Any, name: str) -> Any:
    """The gradient of an array ``x``. Raises InternalError where it has another shape."""
    if np.shape(g) != np.shape(x):
        problem = f"the gradient with respect to `{name}` has shape {np.shape(g)}, the argument {np.shape(x)}"
        raise error("S2S901", problem=problem)
    return g


def check_bits(value: Any) -> Any:
    """The result of ``a | b`` or its kin. Raises NoDerivativeError where it is a container: what it holds would have a
    derivative."""
    if isinstance(value, (dict, set, frozenset)):
        kind = type(value).__name__
        no_derivative(f"an operator of a {kind}", "its items are not followed; use lists, or dicts with known keys")
    return value


def check_operand(value: Any, package: str = "") -> None:
    """Nothing to do where an operator between a value and an array is that of NumPy. Raises NoDerivativeError where the
    class of the value has operators of its own, and is none of the package of the function that gets it."""
    kind: Any = type(value)
    if kind is np.ndarray or not has_own_operators(kind):  # arrays of other modules are classes of Python
        return
    if not package or kind.__module__.partition(".")[0] != package:
        raise error("S2S137", name=kind.__name__)


STACKED = "it has a rule for one matrix, not for a stack; call it for each, and `np.stack` the results"


def check_rank(value: Any, most: int, name: str) -> None:
    """Nothing to do where an array has so many dimensions at most as those that a rule is for. Raises
    NoDerivativeError for a stack of them."""
    if np.ndim(value) > most:
        raise error("S2S202", name=name, reason=STACKED)


_SUBSCRIPTS = ("__getitem__", "__missing__", "__setitem__", "__contains__")


def check_picks(container: Any, key: Any = None) -> None:
    """Nothing to do where a subscript of a container chooses one of its items. Raises NoDerivativeError where a method
    that is written in Python is given the key, which carries a derivative. A ``key`` is given for a container from
    outside: what is kept there under an equal number is of an earlier call."""
    if key is not None:
        check_no_kept_key(key, container)
    kind: Any = type(container)
    for name in _SUBSCRIPTS if kind is not np.ndarray else ():
        owner = next((c for c in kind.__mro__ if name in vars(c)), None)
        if owner is not None and isinstance(vars(owner)[name], _OF_PYTHON) and not owner.__module__.startswith("numpy"):
            reason = "it may compute with the key, which is differentiated; call a function instead"
            no_derivative(f"{kind.__name__}.{name}", reason)


_OF_PYTHON = (types.FunctionType, staticmethod, classmethod, functools.partialmethod)


def check_scalar(value: Any, name: str) -> None:
    """Raise NonScalarOutputError where a function's result is not one real float."""
    shape, kind = np.shape(value), np.asarray(value).dtype.kind
    if shape == () and kind == "f":
        return
    if isinstance(value, (tuple, list, dict)):
        raise no_scalar(name, with_article(type(value).__name__))
    hint = "reduce the result to one float (np.sum), or use s2s.vjp with a cotangent of the result's shape"
    if shape != ():
        raise error("S2S401", name=name, shape=shape, hint=hint)
    raise no_scalar(name, "None" if value is None else f"of type {type(value).__name__}")


def check_repeated(value: Any, before: Any, name: str) -> None:
    """Raise UnsupportedSyntaxError where a call of a function of this name that is made again gives other numbers than
    ``before``: it draws random ones, or counts."""
    for one, other in zip(floats(value), floats(before)):
        if one is not other and not np.allclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True):
            raise error("S2S155", name=name)


_ANSWERS = (
    bool, np.bool_, str, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype,
    type(np.sum),
)  # fmt: skip


def look(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """The answer of a function that only looks at its arguments: True, False, a text, a class, a module, a function or
    None. For functions of a library that cannot be followed. Raises DifferentiationError where it changes a container
    or answers something that could carry a derivative, and NumPy's own error where it changes an array."""
    given = [*args, *kwargs.values()]
    arrays = [a for a in arrays_in(given) if a.flags.writeable]
    before = [(c, items_of(c)) for c in containers_in(given)]
    for a in arrays:
        a.flags.writeable = False
    try:
        found = fn(*args, **kwargs)
    finally:
        for a in arrays:
            a.flags.writeable = True
    changed = any(list(map(id, items_of(c))) != list(map(id, items)) for c, items in before)
    if changed or not (found is None or isinstance(found, _ANSWERS)):
        what = "changes its arguments" if changed else f"gives {with_article(type(found).__name__)}"
        raise path_error(f"`{getattr(fn, '__qualname__', fn)}` cannot be followed, and {what}", "")
    return found


# --- refusals -------------------------------------------------------------------------------------------------------


def path_error(summary: str, where: str) -> Exception:
    """The refusal of a path of a library's code that cannot be differentiated, to be raised where it is taken."""
    return error("S2S141", label=f"{where}: {summary}" if where else summary)


def try_error(because: str) -> Exception:
    """The refusal of a handler, to be raised where it is entered; a Ctrl-C goes on as what it is."""
    problem = sys.exception()
    if problem is not None and not isinstance(problem, Exception):
        raise problem

    return error("S2S104", label=because, hint="assign it before the `try`, or as the last thing in it")


def check_solution(x: Any, value: Any, slope: Any, width: Any) -> Any:
    """Return ``x``, the point that a search has found, where it solves the equation whose value and slope there are
    given: a step of Newton's method must not lead further than the points that are left. Raises NoDerivativeError."""
    noise = 64.0 * np.sqrt(np.finfo(np.asarray(1.0 * x).dtype).eps)
    if not np.all(np.abs(value) <= np.abs(slope) * (4.0 * np.abs(width) + noise * np.abs(x) + 1e-12)):
        raise error("S2S549")
    return x


def no_derivative(name: str, reason: str) -> Any:
    """Raise NoDerivativeError: a derivative flows into an argument by which none is known."""
    raise error("S2S202", name=name, reason=reason)


def not_differentiable(name: str, reason: str) -> NoReturn:
    """Raise NoDerivativeError: there is no derivative for the numbers of this call, however it is computed."""
    raise error("S2S213", name=name, reason=reason)
