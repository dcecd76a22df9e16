"""What is known of a function: the one place that passes ask.

    functions.facts(np.transpose).result        Result.VIEW
    functions.facts(np.sin).result              Result.NEW, by the kind of its rule

What a rule says by its kind is completed by what is described beside it (``rules.functions.describe``). Of a function
that nobody knows the worst is assumed, which costs an array or a name, never a mistake.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import weakref
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

import numpy as np

from s2s.core import ir, ops
from s2s.core.functions import EVERYTHING, MANY, Computes, FunctionFacts, Raises, Result, Varies
from s2s.core.inspection import public_module
from s2s.core.operators import OPERATORS, plain_of
from s2s.errors import error
from s2s.rules import functions as descriptions
from s2s.rules import table

__all__ = [
    "changes_memory", "does_nothing_else", "facts", "gives_new", "gives_the_same", "makes_new", "may_refuse",
    "reads_content", "result_of",
]

_UNKNOWN = FunctionFacts()
_known: dict[int, tuple[Any, FunctionFacts]] = {}
"""By ``id`` of each function: the function, which is kept alive, and what is known of it."""

_of_program: weakref.WeakKeyDictionary[Any, FunctionFacts] = weakref.WeakKeyDictionary()
"""What is known of functions that are not kept alive here."""

descriptions.on_change += (_known.clear, _of_program.clear)


def facts(fn: Any) -> FunctionFacts:
    """What is known of a function, any object. Asked by identity."""
    found = _known.get(id(fn))
    if found is not None:
        return found[1]
    if type(fn) is FunctionType and (kept := _of_program.get(fn)) is not None:
        return kept
    rule = table.find(fn)  # registers the rules of its package, and what is described beside them
    said = descriptions.description_of(fn)
    found_out = {**_by_rule(fn, rule), **_by_type(fn), **_by_operator(fn), **said}
    if rule is not None and not rule.by_user:
        found_out["before_copy"] = max(1, _places_before_copy(fn, rule))
    made = FunctionFacts(**found_out) if found_out else _UNKNOWN
    lasts = type(fn) in _LASTING or public_module(fn) == ops.__name__
    if said or lasts or (rule is not None and rule.fn is fn and not rule.by_user):
        _known[id(fn)] = fn, made
    elif type(fn) is FunctionType:
        _of_program[fn] = made
    return made


def _by_operator(fn: Any) -> dict[str, Any]:
    """What an operator computes: what its ufunc does."""
    known = OPERATORS.get(plain_of(fn) or fn) if type(fn) is BuiltinFunctionType else None
    said = {} if known is None else descriptions.description_of(known.ufunc)
    return {"computes": said["computes"]} if "computes" in said else {}


_REDUCING = ("reduce", "accumulate", "reduceat")
_REDUCED = {
    Computes.SUM: Computes.TOTAL, Computes.DIFFERENCE: Computes.DIFFERENCES, Computes.CHOICE: Computes.PIECES,
}
"""What the methods of ufuncs compute that go along an axis, by what the ufunc computes."""
_LASTING = (MethodDescriptorType, WrapperDescriptorType)
"""Types of which all objects are as old as the classes that they belong to."""


def _by_type(fn: Any) -> dict[str, Any]:
    """What follows from the type of a function, and from where it is."""
    kind = type(fn)
    if kind is BuiltinFunctionType and type(fn.__self__) is np.ufunc:  # a method, ``np.add.reduce``
        acts = not _is_ufunc_of_library(fn.__self__)
        if fn.__name__ == "at":
            return {"pure": False, "changes": (0,), "holds": False, "acts": acts}
        by_operator = descriptions.description_of(fn.__self__).get("computes") if fn.__name__ in _REDUCING else None
        computes = {"computes": _REDUCED[by_operator]} if by_operator in _REDUCED else {}
        return {"result": Result.NEW, "changes": (), "acts": acts, **computes}
    if kind is np.ufunc:
        return {
            "elementwise": fn.nout == 1 and fn.signature is None, "changes": (), "acts": not _is_ufunc_of_library(fn)}
    if kind in _LASTING:
        return _REPEATABLE if fn.__objclass__ in _VALUES else {}
    if isinstance(fn, type):
        return _by_class(fn)
    module = public_module(fn)
    if module == "math":
        return {"pure": True, "elementwise": True, **_REPEATABLE}
    if module in _OPERATIONS:
        return {"pure": True, "calls_back": False, **_REPEATABLE}
    if module in _PURE_MODULES or module.startswith("s2s.rules"):
        return {"pure": True, **_REPEATABLE}
    if module.startswith("numpy.random") or (kind is BuiltinFunctionType and not _is_of_module(fn)):
        return {"pure": False, "acts": True}
    return {"changes": ()} if module.split(".")[0] in _LOOKING_MODULES else {}


def _by_class(fn: type) -> dict[str, Any]:
    if issubclass(fn, np.generic) and fn.__module__ == "numpy":
        return {**_REPEATABLE, "cheap": True}
    if issubclass(fn, BaseException) and fn.__module__ == "builtins":
        return {**_REPEATABLE, "raises": Raises.NEVER}
    return {"changes": ()} if fn.__module__ in _LOOKING_MODULES else {}


def _is_of_module(fn: Any) -> bool:
    """Whether a built-in function is no method that is bound to an object."""
    return fn.__self__ is None or isinstance(fn.__self__, ModuleType)


_REPEATABLE: dict[str, Any] = {"changes": (), "acts": False, "calls_back": False}

_VALUES = frozenset({np.ndarray, np.generic, np.dtype, str, bytes, int, float, complex, tuple, range})
"""Classes of which no method changes an object, where nothing else is said of it."""

_OPERATIONS = frozenset({"s2s.core.ops", "_operator", "operator"})
"""Modules whose functions are operations of the language: a display holds a function that it is given, and calls none.
"""

_PURE_MODULES = frozenset({"s2s.runtime", "math"})
"""Modules whose functions are pure where nothing else is said of them."""

_LOOKING_MODULES = frozenset({"builtins", "numpy", "math", "cmath", "itertools", "functools", "s2s", "scipy"})
"""Packages whose functions leave their arguments as they are where nothing else is said of them."""


def _is_ufunc_of_library(fn: np.ufunc) -> bool:
    """Whether a ufunc is one of NumPy or SciPy: ``np.frompyfunc`` makes them of functions of the program."""
    special = sys.modules.get("scipy.special")
    name = fn.__name__
    if vars(np).get(name) is fn or (special is not None and vars(special).get(name) is fn):
        return True
    rule = table.find(fn)
    return rule is not None and not rule.by_user


def changes_memory(fn: Any) -> bool:
    """Whether a function is called for what it does to its first argument: an array or a container of the program, no
    stack of the reverse sweep, and no operand of an operator, whose result is a value of its own in the IR."""
    return 0 in facts(fn).changes and fn not in ops.STACKS and plain_of(fn) is None


def gives_the_same(fn: Any) -> bool:
    """Whether calls of a function give the same for the same arguments, and do nothing else."""
    known = facts(fn)
    return not known.acts and not known.changes


def does_nothing_else(fn: Any, kwargs: Any) -> bool:
    """Whether a call gives the same for the same arguments, and does nothing else, functions of the program among the
    arguments included."""
    known = facts(fn)
    if known.acts or known.changes:
        return False
    back = known.calls_back
    return not (any(name is None or name in back for name, _ in kwargs) if isinstance(back, tuple) else back)


def may_refuse(fn: Any) -> bool:
    """Whether a function of s2s, which generated code calls, may raise that there is no derivative: by itself, by what
    it calls, or by functions of the program."""
    return type(fn) is FunctionType and public_module(fn).startswith("s2s.") and _reaches_refusal(fn)


@functools.cache
def _reaches_refusal(fn: FunctionType) -> bool:
    if facts(fn).acts:
        return True
    seen, left = {fn}, [fn]
    while left:
        for found in _named_in(left.pop()):
            if found is error:
                return True
            if type(found) is FunctionType and public_module(found).startswith("s2s.") and found not in seen:
                seen.add(found)
                left.append(found)
    return False


def _named_in(fn: FunctionType) -> Iterator[Any]:
    """The functions that the code of a function names, by itself or as attributes of modules."""
    names, codes = set[str](), [fn.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
    scopes = [fn.__globals__]
    scopes += [vars(value) for name in names if isinstance(value := fn.__globals__.get(name), ModuleType)]
    for name, scope in itertools.product(names, scopes):
        yield scope.get(name)


# --- by the kind of the rule ----------------------------------------------------------------------------------------

_COMPUTES = ("partials", "straight_through", "zero")
_COMPUTES_IN_LIBRARIES = ("several", "vjp")
"""Kinds of rules that functions of NumPy and SciPy have which compute something."""


def _by_rule(fn: Any, rule: table.Rule | None) -> dict[str, Any]:
    """What follows from the kind of a rule."""
    if rule is None:
        return {}
    made: dict[str, Any] = {"pure": True, "varies": Varies.KIND if rule.by_value else Varies.NOTHING, "changes": ()}
    if rule.by_user:
        return made
    made["acts"] = False
    if rule.kind == "model":
        made["calls_back"] = not rule.samples or any(_has_function(s.args) for s in rule.samples)
    if rule.kind in ("refuse", "model"):
        return made
    if rule.kind in _COMPUTES or (rule.kind in _COMPUTES_IN_LIBRARIES and _is_of_library(fn)):
        made |= {"result": Result.NEW, "calls_back": False}
    elif rule.kind == "linear":
        made |= {"of": _moved(rule), "calls_back": False}
    return made


def _has_function(value: Any) -> bool:
    """Whether there is a function in a sample of arguments."""
    if isinstance(value, tuple | list):
        return any(map(_has_function, value))
    return callable(value) and not isinstance(value, type)


def _is_of_library(fn: Any) -> bool:
    """Whether a function is NumPy's or SciPy's: what a rule of the user's own function gives may be anything."""
    if type(fn) is np.ufunc or getattr(fn, "__objclass__", None) is np.ndarray:
        return True
    return (getattr(fn, "__module__", None) or "").split(".")[0] in ("numpy", "scipy")


def _moved(rule: table.Rule) -> tuple[int, ...] | None:
    """The arguments that a linear function moves, by position; None where one of them takes several."""
    places = {name: k for k, name in enumerate(rule.params.parameters)}
    if any(rule.params.parameters[name].kind.name.startswith("VAR_") for name in rule.cotangents):
        return None
    return tuple(sorted(places[name] for name in rule.cotangents)) or None


# --- calls ----------------------------------------------------------------------------------------------------------


def result_of(call: ir.Call) -> Result:
    """Where the arrays lie that a call gives, by its function."""
    return facts(call.fn.value).result if isinstance(call.fn, ir.Const) else Result.SHARED


def reads_content(fn: Any, args: Any, atom: ir.Atom) -> bool:
    """Whether an operation reads what an array holds, and not its shape or kind only."""
    if fn is getattr:
        return args[1] not in _SHAPES
    places = facts(fn).reads
    return places == (EVERYTHING,) or any(args[k] == atom for k in places if k < len(args))


_SHAPES = tuple(map(ir.Const, ("shape", "ndim", "size", "dtype")))


def makes_new(value: Any) -> bool:
    """Whether a value is a call that gives arrays of their own."""
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return False
    return gives_new(value.fn.value, value.kwargs, len(value.args))


def gives_new(fn: Any, kwargs: Any, count: int = 1) -> bool:
    """Whether a function's array results are memory of their own, when it is called with ``count`` positional
    arguments."""
    # ``a += b`` is a value of its own here: nothing reads ``a`` any more.
    known = facts(plain_of(fn) or fn)
    if known.result is not Result.NEW:
        return False
    for name, atom in kwargs:
        if name is None or name == "out" or (name == "copy" and atom != ir.Const(True)):
            return False
        if name.startswith("overwrite") and atom != ir.Const(False):
            return False
    return count <= known.before_copy


def _places_before_copy(fn: Any, rule: table.Rule) -> int:
    """How many positional arguments come before one that makes a function give what it was given."""
    if type(fn) is np.ufunc:
        return int(fn.nin)
    try:  # the rule of kind zero takes anything
        signature = inspect.signature(fn) if rule.kind == "zero" else rule.params
    except (TypeError, ValueError):
        return MANY
    for k, (name, param) in enumerate(signature.parameters.items()):
        if param.kind is param.VAR_POSITIONAL:
            return MANY
        if name in ("out", "copy") or name.startswith("overwrite"):
            return k
    return MANY
