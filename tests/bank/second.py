"""Second derivatives of the bank: ``python -m tests.bank.second [part of parts]``, every nesting of the modes.

Each case is right or refused; what is refused is printed, with the counts.
"""

import collections
import contextlib
import io
import sys

import numpy as np

import s2s
from s2s.errors import DifferentiationError
from tests.bank import CASES
from tests.helpers import STENCIL, float_leaves, inner, is_float, random_cotangent

MODES = ("reverse over reverse", "forward over reverse", "reverse over forward", "forward over forward")
STEP = 1e-4


def first_derivative(case, by_reverse):
    """What a case pulls a cotangent back to, or pushes a direction forward to, as a function of its arguments; and
    the direction."""
    f, direction = case.f, directions(case)
    cotangent = random_cotangent(f(*case.args))

    def pulled(*args):
        return s2s.vjp(f, *args)[1](cotangent)

    def pushed(*args):
        return s2s.jvp(f, args, direction)[1]

    return pulled if by_reverse else pushed


def directions(case):
    return tuple(random_cotangent(arg, seed=5) if float_leaves(arg) else None for arg in case.args)


def moved(value, direction, t):
    """A value, moved along a direction."""
    if direction is None:
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(moved(v, d, t) for v, d in zip(value, direction))
    if isinstance(value, dict):
        return {key: moved(v, direction[key], t) for key, v in value.items()}
    if not is_float(value):
        return value
    there = value + t * direction
    return np.asarray(there, value.dtype) if isinstance(value, np.ndarray) else type(value)(there)


def can_be_checked(case):
    """Whether central differences of first derivatives say something: no rounding, no single precision."""
    single = any(getattr(leaf, "dtype", None) == np.float32 for leaf in float_leaves(case.args))
    return not (case.kwargs or case.expected or single)


def check_second(case, mode):
    """Hold a second derivative along a direction against central differences of the first. Raises AssertionError where
    it is wrong, DifferentiationError where it is refused."""
    outer, _, within = mode.partition(" over ")
    with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        first = first_derivative(case, within == "reverse")
        value, direction = first(*case.args), directions(case)
        weights = random_cotangent(value, seed=7)
        if not float_leaves(value):
            return
        if outer == "reverse":
            bars = s2s.vjp(first, *case.args)[1](weights)
            found = sum(inner(b, d) for b, d in zip(bars, direction) if d is not None)
        else:
            found = inner(weights, s2s.jvp(first, case.args, direction)[1])

        def along(t):
            return inner(weights, first(*(moved(a, d, t) for a, d in zip(case.args, direction))))

        wanted = sum(w * (along(k * STEP) - along(-k * STEP)) / STEP for k, w in STENCIL)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def main():
    part, parts = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (0, 1)
    counts = collections.Counter()
    for case in filter(can_be_checked, CASES[part::parts]):
        for mode in MODES:
            try:
                check_second(case, mode)
                counts[mode, "right"] += 1
            except Exception as problem:
                kind = "refused" if isinstance(problem, DifferentiationError) else "wrong"
                counts[mode, kind] += 1
                print(f"{case.name}, {mode}: {type(problem).__name__}: {str(problem).strip().splitlines()[0][:150]}")
    for (mode, kind), count in sorted(counts.items()):
        print(f"{mode}: {count} {kind}")


if __name__ == "__main__":
    main()
