"""What stands for the derivative of a piecewise constant function where the program chooses it: the rules that are made
of the slopes of each policy."""

from __future__ import annotations

import functools
import math
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.record import replace
from s2s.directives.policy import SEARCH, Choice, Choices, Override, Policy
from s2s.directives.user_rules import ANYTHING
from s2s.errors import error
from s2s.rules import table
from s2s.rules.slopes import SLOPES
from s2s.rules.table import Rule

__all__ = [
    "CONVERSIONS", "ROUNDED_PART", "check_policy", "decided", "default_of", "dtype_of_option", "is_for",
    "is_piecewise", "is_step_of_one", "names_of", "rule_of", "step_of",
]


_STEPS = {
    "integers": "floor ceil", "toward zero": "trunc fix int", "halves": "rint", "decimals": "round around",
    "quotient": "floor_divide floordiv ifloordiv", "sign": "sign", "heaviside": "heaviside",
}
_STEP_OF = {name: step for step, names in _STEPS.items() for name in names.split()}

CONVERSIONS = (
    np.ndarray.astype, np.astype, np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asarray_chkfinite,
    np.require,
) if hasattr(np, "astype") else (np.ndarray.astype, np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
"""Functions that convert to integers where they are given such a dtype."""

_ALSO_PIECEWISE = frozenset(map(id, (np.sign, np.heaviside, *CONVERSIONS)))
"""Those whose rule says something else of them, by ``id``."""

ROUNDED_PART: dict[Any, tuple[int, Any]] = {
    divmod: (0, operator.floordiv), np.divmod: (0, np.floor_divide), np.modf: (1, np.trunc), math.modf: (1, np.trunc),
}
"""Functions that give two numbers of which one is rounded: which one, and the function that gives it alone."""

_ALSO = {"floordiv": "floor_divide", "ifloordiv": "floor_divide", "around": "round"}
"""Further names of functions."""

# --- which functions ------------------------------------------------------------------------------------------------


def is_piecewise(fn: Any) -> bool:
    """Whether a function is piecewise constant where all its arguments are real, for some of its options."""
    rule = table.find(fn)
    return rule is not None and (rule.kind == "straight_through" or id(fn) in _ALSO_PIECEWISE)


def is_step_of_one(fn: Any) -> bool:
    """Whether a function has one differentiated argument, which it rounds."""
    steps = ("integers", "toward zero", "halves", "decimals", "sign")
    return fn is not None and is_piecewise(fn) and step_of(fn) in steps and not any(fn is c for c in CONVERSIONS)


def is_for(policy: Any, fn: Any) -> bool:
    """Whether a policy for all functions is for this one."""
    return policy.name != "hard_tanh" or step_of(fn) == "sign"


def decided(fn: Any, choices: Choices) -> tuple[Choice, Any, Policy | Override] | None:
    """The choice that decides about a function among those that hold, the innermost first, with the key that means the
    function; None where none does."""
    names = names_of(fn)
    for choice in choices:
        found = choice.find(fn, names)
        if found is not None:
            return choice, *found
        if choice.general is not None and is_piecewise(fn) and is_for(choice.general, fn):
            return choice, "", choice.general
    return None


def default_of(fn: Any) -> Policy:
    """What stands for the derivative of a function where nothing is said."""
    return Policy("zero" if step_of(fn) in ("sign", "heaviside") else "straight_through")


def dtype_of_option(option: Any) -> np.dtype[Any] | None:
    """The dtype that an argument means; None for what is none."""
    if isinstance(option, type) and not issubclass(option, (int, float, complex, np.generic)):
        return None
    if isinstance(option, type) and issubclass(option, np.generic) and option.__subclasses__():
        return np.dtype(np.int64) if issubclass(option, np.integer) else None  # a family of types
    try:
        return np.dtype(option) if isinstance(option, (type, str, np.dtype)) else None
    except TypeError:
        return None


def step_of(fn: Any) -> str:
    """Where a function jumps."""
    name = getattr(fn, "__name__", "")
    if isinstance(fn, np.ufunc) and name == "round":  # that of SciPy has no number of decimals
        return "halves"
    return _STEP_OF.get(name, "toward zero")


def names_of(fn: Any) -> tuple[Any, ...]:
    """The names that mean a function: its own, that with its module, others that NumPy has for it (``abs`` and
    ``absolute``), and ``int`` for every conversion to integers."""
    name = getattr(fn, "__name__", None)
    if not isinstance(name, str):
        return ()
    rule = table.find(fn)
    found = [name, *((rule.name,) if rule is not None else ()), *_names_in_numpy().get(id(fn), ())]
    if name in _ALSO:
        found.append(_ALSO[name])
    if is_piecewise(fn) and step_of(fn) == "toward zero" and name not in _STEP_OF:
        found.append("int")
    same = _same_as(fn)
    return (*found, *([] if same is None else [same, *names_of(same)]))


def _same_as(fn: Any) -> Any:
    """The function of NumPy that an operator or a method of arrays is: ``np.matmul`` for ``@``, ``np.round`` for
    ``x.round``. None for other functions."""
    if isinstance(fn, types.MethodDescriptorType) and fn.__objclass__ is np.ndarray:
        found = getattr(np, fn.__name__, None)
        return found if callable(found) and not isinstance(found, type) else None
    return _ufuncs().get(id(fn))


@functools.cache
def _ufuncs() -> dict[int, np.ufunc]:
    """The ufuncs of operators and built-in functions, by their ``id``."""
    from s2s.core.operators import OPERATORS

    return {id(one.fn): one.ufunc for one in OPERATORS.values() if one.ufunc is not None} | {
        id(operator.abs): np.absolute, id(abs): np.absolute, id(pow): np.power,
    }


@functools.cache
def _names_in_numpy() -> dict[int, list[str]]:
    """The names that NumPy has for its functions, by their ``id``."""
    found: dict[int, list[str]] = {}
    for name in np.__all__:
        found.setdefault(id(getattr(np, name)), []).append(name)
    return found


def check_policy(key: Any, policy: str) -> None:
    """Raise ArgumentError for a key that means no piecewise constant function, and for a policy that is not for it."""
    if key == SEARCH:
        if policy != "zero":
            raise error("S2S542", name=_shown(key), policy=policy, hint='choose "zero", or leave it out')
        return
    if callable(key):
        if not is_piecewise(key):
            raise error("S2S542", name=_shown(key), policy=policy, hint=f"choose among {', '.join(_known())}")
        meant = [step_of(key)]
    else:
        table.extend("scipy.special") if str(key).startswith("scipy") else None
        meant = [step_of(fn) for fn in _piecewise() if key in names_of(fn)]
    if not meant:
        import difflib  # takes longer than a version from disk

        near = difflib.get_close_matches(str(key), _known(), 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        problem, hint = f"there is no piecewise constant function {key!r}", f"{hint}choose among {', '.join(_known())}"
        raise error("S2S511", problem=problem, hint=hint)
    if policy == "hard_tanh" and set(meant) != {"sign"}:
        raise error("S2S542", name=_shown(key), policy=policy, hint="it is for sign")


def _shown(key: Any) -> str:
    return f"`{key if isinstance(key, str) else getattr(key, '__name__', repr(key))}`"


def _piecewise() -> Iterator[Any]:
    yield from (rule.fn for rule in list(table.RULES.values()) if rule.kind == "straight_through")
    yield from (np.sign, np.heaviside, *CONVERSIONS)


def _known() -> list[str]:
    """The short names of functions that have policies."""
    return [*(name for names in _STEPS.values() for name in names.split() if name not in _ALSO), SEARCH]


# --- rules ----------------------------------------------------------------------------------------------------------


def rule_of(fn: Any, how: Policy | Override) -> Rule:
    """The rule of a function with the derivative that was chosen for it."""
    if isinstance(how, Override):
        return _overriding(fn, how)
    base = table.find(fn)
    assert base is not None
    if how.name == "open":
        return replace(base, samples=())
    if how.name == "zero":
        return replace(base, kind="zero")
    if how.name == "error":
        reason = 'it is piecewise constant, and the policy is nonsmooth="error"; choose another one for it'
        return replace(base, kind="refuse", flat_for_reals=False, reason=reason)
    given = () if how.sharpness is None else (how.sharpness,)
    slopes = SLOPES.get((how.name, step_of(fn)), base.partials)
    if not slopes:  # a conversion, which is linear
        return replace(base, samples=())
    if slopes[-1] is None and base.partials[len(slopes) - 1 : len(slopes)]:
        slopes = (*slopes[:-1], base.partials[len(slopes) - 1])
    return replace(
        base, kind="partials", partials=slopes, given=given, flat_for_reals=False, samples=(), cotangents={},
        tangent=None, tangents={},
    )


def _overriding(fn: Any, how: Override) -> Rule:
    """The rule that the program gives to a function in a block. One that is no function is written out by calls."""
    known = table.find(fn)
    by_value = known is None or known.by_value
    return Rule(fn, "custom", ANYTHING, pullback=how.rule, by_user=True, by_value=by_value)
