"""The functions of ``s2s.functions()`` that can be called, and calls of each to begin with.

A rule has samples; of a rule without them (a model, a function of derivative zero) calls are found by trying arguments.
"""

import functools
import inspect
import random

import numpy as np

from s2s.listing import _is_public
from s2s.rules import table
from s2s.rules.samples import Draw, Sample, arr, num
from s2s.rules.table import RULES
from tests.rules.cases import IN_PLACE, draws
from tests.rules.programs import path_of

SKIPPED = (
    "numpy.random.", "scipy.linalg.cho_factor", "autograd.", "numba.", "numpy.testing.", "logging.",
    "scipy.sparse.linalg.eigs", "ndarray.dump", "ndarray.tofile", "builtins.print",
)
"""Functions that draw numbers or leave some as they were in memory, that stand for functions of the program, or that
check and write."""

BY_FIRST = ("ndarray.", "float.", "complex.", "tuple.", "list.", "dict.", "str.")
"""Methods, written after their first argument."""

TRIES = 60


@functools.cache
def subjects():
    """The rules, by name."""
    table.extend(*(package for package in table.EXTENSIONS if package not in table.WRAPPERS))
    chosen = {}
    for rule in RULES.values():
        callable_by_text = path_of(rule.fn) is not None or rule.name.startswith(BY_FIRST)
        if _is_public(rule) and rule.kind != "refuse" and rule.fn not in IN_PLACE and callable_by_text:
            if not rule.name.startswith(SKIPPED):
                chosen.setdefault(path_of(rule.fn) or rule.name, rule)
    return [chosen[name] for name in sorted(chosen)]


@functools.cache
def compiled_names():
    """The functions with samples that Numba may compile: those of Python, of ``math`` and of NumPy, not of SciPy."""
    return tuple(rule.name for rule in subjects() if rule.samples and not rule.name.startswith("scipy."))


@functools.cache
def by_name():
    return {rule.name: rule for rule in subjects()}


@functools.cache
def _bases(name):
    rule = by_name()[name]
    samples = [one for one in rule.samples if any(True for _ in draws([*one.args, *one.kwargs.values()]))]
    return tuple(samples or tried(rule))


def bases(rule):
    """Calls of a function, as samples."""
    return _bases(rule.name)


def smooth(x, *rest):
    """A function for a parameter that takes one."""
    return x * x + 0.3 * x


POOL = (
    arr(4), arr(4), num(), num(), arr(3, 4), arr(3, 3), arr(3, 3, positive=True), arr(4, low=0.1, high=0.9),
    num(0.1, 0.9), arr(2, 3, 4), [arr(3), arr(3)], [num(), num(), num()], 1, 2, 3, (3,), True,
    np.array([0, 2, 1]), np.array([True, False, True, True]), np.array([0.0, 0.6, 1.1, 2.0]),
    arr(5, low=-0.9, high=0.9),
)
OF_FUNCTIONS = ("func", "fun", "function", "f", "fn", "predicate", "key")


def tried(rule):
    """Calls with random arguments that a function without samples takes and that have a result of floats."""
    choose = random.Random(f"tried {rule.name}")
    found = []
    for _ in range(TRIES):
        given = [_argument(name, choose) for name in required(rule, choose)]
        if not any(isinstance(one, Draw) for value in given for one in draws([value])):
            continue
        sample = Sample(tuple(given))
        if takes(rule, sample):
            found.append(sample)
        if len(found) == 6:
            break
    return found


def required(rule, choose):
    """The names of the parameters without a default."""
    names = []
    for parameter in signature(rule).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if parameter.default is parameter.empty:
                names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL and len(names) < 2:
            names += [parameter.name] * choose.randint(1, 3 - len(names))
    return names


def _argument(name, choose):
    return smooth if name in OF_FUNCTIONS else choose.choice(POOL)


def signature(rule):
    """The signature of the function, or of its rule where it has none."""
    try:
        return inspect.signature(rule.fn)
    except (TypeError, ValueError):
        return rule.params


def takes(rule, sample):
    """Whether the function takes the arguments of a sample, and gives floats."""
    from tests.fuzz.functions.calls import Call, numbers

    try:
        with np.errstate(all="ignore"):
            call = Call(rule, sample)
            return bool(numbers(call.function()(*call.values())))
    except Exception:
        return False
