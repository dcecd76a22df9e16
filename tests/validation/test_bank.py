"""The stages of a compilation agree for the functions of the bank, in reverse and in forward mode.

Here are samples, the same in each run; ``python -m tests.validation --bank --pairs --programs`` takes all of them.
"""

import contextlib
import io
import warnings

import pytest

from s2s.errors import InternalError, NonScalarOutputError
from tests.bank import CASES
from tests.fuzz.check import load
from tests.fuzz.generate import program
from tests.inplace import load as load_pairs
from tests.normalize.programs import PROGRAMS as NORMALIZED
from tests.validation.checked import checked

MADE = load_pairs()
EVERY = 8
"""One in so many is taken here."""


def assert_right(f, args, mode, kwargs=None, argnums=None):
    """Validation finds nothing, and something was looked at."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            reports = checked(f, args, mode, argnums, kwargs)
        except NonScalarOutputError:
            return
    assert reports and "lower" in reports[0].checked and "emit" in reports[-1].checked


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case.name)
def test_bank(case, mode):
    if mode == "jvp" and case.kwargs:
        mode = "grad"
    assert_right(case.f, case.args, mode, case.kwargs, case.argnums)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("pair", MADE.PAIRS[1 :: 2 * EVERY], ids=lambda pair: pair.name)
def test_functions_that_write_into_arrays(pair, mode):
    assert_right(pair.mutating, pair.args, mode)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("made", MADE.PROGRAMS[1 :: 2 * EVERY], ids=lambda made: made.name)
def test_programs_that_write_into_arrays(made, mode):
    assert_right(made.f, made.args, mode)


@pytest.mark.parametrize("f, inputs", NORMALIZED[::EVERY], ids=[f.__name__ for f, _ in NORMALIZED[::EVERY]])
def test_programs_of_control_flow(f, inputs):
    for args in inputs:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                checked(f, args, "primal", ())
        except InternalError:
            raise
        except Exception:  # what the program itself raises, and what is refused
            continue


@pytest.mark.parametrize("seed", range(701, 708))
def test_programs_of_the_fuzzer(seed):
    made = program(seed)
    for mode in ("grad", "jvp"):
        try:
            checked(load(made.text), made.samples[0], mode)
        except InternalError:
            raise
        except Exception:
            continue


def test_variables_that_nested_functions_assign():
    def f(x):
        last, other = x * 0.5, x
        at = 0

        def step():
            nonlocal last, other, at
            last, other = other, last
            last = last + other * 0.1
            for at in range(3):
                other = other * 0.9

        for _ in range(3):
            step()
        return last * other + at * x

    for mode in ("grad", "jvp"):
        assert checked(f, (1.5,), mode)
