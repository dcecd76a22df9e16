"""Values for the options of a function: ``candidates(rule, name, rank)``.

They come from the samples of its rule, from its signature and from the words in quotes of its documentation; which of
them change the result is found by calling the function.
"""

import inspect
import re

import numpy as np

from tests.fuzz.functions.subjects import signature
from tests.rules.cases import draws

NEVER = {
    "out", "rng", "seed", "random_state", "callback", "signature", "plan", "like", "xp", "device", "kwds", "kwargs",
    "args", "workers", "copy", "func", "fun", "f", "full_output", "jac", "hess", "extobj", "self", "output",
}
"""Parameters that take functions, memory or generators, or that no derivative is asked for."""

DTYPES = (np.float64, np.float32, np.complex128, np.int64, float, int, "f8")
MASKS = (np.array([True, False, True]), np.array([True, False, True, False]), True, False)
BY_NAME = {
    "axes": (0, 1, (0, 1), (1, 0), None), "dtype": DTYPES, "where": MASKS, "casting": ("unsafe", "same_kind"),
    "order": ("C", "F", "K", "A"), "initial": (0.5, 2.0, -3.0), "subok": (True, False),
    "nan_policy": ("raise", "omit", "propagate"), "axis1": (0, 1, -1), "axis2": (0, 1, -1),
    "a_min": (-0.5, None), "a_max": (0.5, None), "min": (-0.5, None), "max": (0.5, None),
}
FOR_NONE = (0.5, 1, 2, True, -1, 0, 0.0, "reflect", (0, 1), np.array([0.3, 1.7, 0.6]), np.array([0.3, 1.7, 0.6, 2.0]))


def names_of(rule):
    """The options of a function: what has a default. What a ufunc leaves out with ``where`` is any number."""
    found = []
    never = {*NEVER, "where"} if isinstance(rule.fn, np.ufunc) else NEVER
    for parameters in (signature(rule).parameters, rule.params.parameters):
        for name, parameter in parameters.items():
            fixed = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY)
            if parameter.default is not parameter.empty and not fixed and name not in never and name not in found:
                found.append(name)
    return found


def candidates(rule, name, rank):
    """Values for an option, for arrays of a rank."""
    found = [value for value in by_samples(rule, name) if not any(True for _ in draws([value]))]
    if name == "axis" or name.endswith("_axis"):
        found += [*range(-rank, rank), None, tuple(range(rank)), (0,)]
    found += BY_NAME.get(name, ()) or by_default(rule, name)
    if not isinstance(default_of(rule, name), (bool, int, float)):
        found += words_about(rule, name)
    return found


def by_samples(rule, name):
    """What samples of the rule pass for an option."""
    for sample in rule.samples:
        bound = rule.params.bind(*sample.args, **sample.kwargs).arguments
        if name in bound:
            yield bound[name]


def default_of(rule, name):
    return {**rule.params.parameters, **signature(rule).parameters}[name].default


def by_default(rule, name):
    match default_of(rule, name):
        case bool(default):
            return [not default]
        case int(default):
            return [default + 1, default + 2, default - 1, 0]
        case float(default):
            return [default + 0.5, 2.0 * default, 0.5 * default, 0.0, 1.0]
        case str():
            return []
        case _:
            return list(FOR_NONE)


def words_about(rule, name):
    """The words in quotes of the paragraph about an option."""
    text = inspect.getdoc(rule.fn) or ""
    found = re.search(rf"^(?:[\w*, ]*\b)?{name}\b[\w*, ]* ?:.*(?:\n(?:[ \t]+.*)?)*", text, re.MULTILINE)
    return sorted(set(re.findall(r"['\"`]([a-z_]{1,12})['\"`]", found[0]))) if found else []
