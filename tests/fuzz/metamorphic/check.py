"""The derivatives of a rewritten function against those of the function: ``outcome(source, seed, modes)``."""

import builtins
import contextlib
import functools
import io
import itertools
import linecache
import os
import warnings

import numpy as np

import s2s
from s2s import NumbaFallbackWarning
from s2s.errors import DifferentiationError, InternalError
from tests.fuzz.check import Outcome, Slow, Wrong, group_of, summary, time_limit, verdict_of, where
from tests.fuzz.metamorphic.rewrite import PREAMBLE, rewritten
from tests.fuzz.metamorphic.subjects import subject
from tests.helpers import copy_tree, is_float, leaves, random_cotangent

RTOL = 1e-12
COUNT = itertools.count()


def load(made, text):
    """The function of a rewritten text, in a file beside that of the subject."""
    folder = os.path.dirname(made.file)
    name = os.path.join(folder, f"<rewritten {next(COUNT)}>") if folder else f"<rewritten {next(COUNT)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {**made.scope, "__name__": made.scope.get("__name__", "rewritten"), "__builtins__": builtins}
    exec(compile(text, name, "exec"), scope)
    return scope[made.function]


# --- derivatives, as lists of leaves ---------------------------------------------------------------------------


def directions(made):
    return tuple(random_cotangent(arg) if k in made.argnums else None for k, arg in enumerate(made.args))


def reverse(f, made):
    value, pullback = s2s.vjp(f, *made.args)
    pulled = pullback(random_cotangent(value))
    return leaves(value), [leaf for place in made.argnums for leaf in leaves(pulled[place])]


def forward(f, made):
    value, tangent = s2s.jvp(f, made.args, directions(made))
    return leaves(value), leaves(tangent)


def second(f, made):
    """The product with the Hessian of the sum of squares of the result."""
    tangents = directions(made)
    return [], leaves(s2s.hvp(f, made.args, tangents, argnums=made.argnums))


def numba(f, made):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        value, gradient = s2s.value_and_grad(s2s.differentiable(f, backend="numba"), argnums=made.argnums)(*made.args)
    return leaves(value), leaves(gradient)


MODES = {"reverse": reverse, "forward": forward, "second": second, "numba": numba}


def derivative(f, made, mode):
    """The value and the derivative in a mode, or what is raised as an Outcome."""
    before = copy_tree(made.args)
    try:
        with time_limit(100 if mode == "numba" else 20), contextlib.redirect_stdout(io.StringIO()):
            found = MODES[mode](f, made)
    except InternalError as error:
        return Outcome("crash", group_of(error), str(error))
    except DifferentiationError as error:
        return Outcome(verdict_of(error), error.diagnostic.code, str(error))
    except NumbaFallbackWarning:
        return Outcome("refused", "fallback")
    except Slow:
        return Outcome("slow", "slow")
    except Exception as error:
        return Outcome("crash", f"{summary(error)}, {where(error)}", f"{type(error).__name__}: {error}")
    if not agree(leaves(made.args), leaves(before), 0.0):
        return Outcome("wrong", "arguments", "the arguments are changed afterwards")
    return found


def agree(found, wanted, rtol=RTOL):
    """Whether all floats of two lists agree."""
    if len(found) != len(wanted):
        return False
    for one, other in zip(found, wanted):
        if is_float(other) != is_float(one) or np.shape(one) != np.shape(other):
            return False
        if is_float(other):
            scale = max(1.0, float(np.max(np.abs(np.where(np.isfinite(other), other, 0.0)), initial=0.0)))
            if not np.allclose(one, other, rtol=rtol, atol=rtol * scale, equal_nan=True):
                return False
    return True


@functools.lru_cache(4000)
def of_original(source, seed, mode):
    """The derivative of the subject as it is."""
    made = subject(source, seed)
    return derivative(load(made, PREAMBLE + made.text), made, mode)


def value_of(f, made):
    """The value, or None where the function raises."""
    args = copy_tree(made.args)
    try:
        with time_limit(5), contextlib.redirect_stdout(io.StringIO()):
            return leaves(f(*args)), leaves(args)
    except (Exception, Slow):
        return None


def outcome(source, seed, number, modes=("reverse",), only=None):
    """The verdict over the rewrite of a number of a subject."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = subject(source, seed)
        text, names = rewritten(made, number, only)
        if not names:
            return Outcome("skipped", "no rewrite"), text, names
        return judged(source, seed, made, text, modes), text, names


def judged(source, seed, made, text, modes):
    plain = value_of(load(made, PREAMBLE + made.text), made)
    if plain is None:
        return Outcome("skipped", "the subject raises")
    try:
        f = load(made, text)
    except Exception as error:
        return Outcome("skipped", f"the text raises {type(error).__name__}")
    found = value_of(f, made)
    if found is None or not (agree(found[0], plain[0]) and agree(found[1], plain[1])):
        return Outcome("skipped", "another value", text)
    done = []
    for mode in modes:
        wanted = of_original(source, seed, mode)
        if isinstance(wanted, Outcome):
            continue
        got = derivative(f, made, mode)
        if isinstance(got, Outcome) and got.group == "fallback":
            continue
        done.append(mode)
        if isinstance(got, Outcome):
            return Outcome(got.verdict, f"{mode}: {got.group}", got.text, tuple(done))
        try:
            compare(got, wanted, mode)
        except Wrong as error:
            return Outcome("wrong", f"{mode}: derivative", str(error), tuple(done))
    return Outcome("right", modes=tuple(done)) if done else Outcome("skipped", "the subject is refused")


def compare(got, wanted, mode):
    rtol = 1e-10 if mode in ("numba", "second") else RTOL
    for what, one, other in zip(("value", "derivative"), got, wanted):
        if not agree(one, other, rtol):
            raise Wrong(f"{what}: got {one}, the subject has {other}")
