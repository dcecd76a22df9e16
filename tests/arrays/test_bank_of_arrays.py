"""The bank of programs and the samples of the rules with stand-in arrays: nothing falls back to NumPy unasked.

What the function itself refuses for such arrays, with the module in the place of NumPy, is no failure: it is found out,
and the share of such programs is bounded.
"""

import pytest

from tests.arrays import programs, standin

PROGRAMS = [*programs.from_bank()]
SAMPLES = [*programs.from_rules(1)]
KERNELS = [*programs.from_kernels()]
REFUSED_HERE = {
    "rule:operator.imatmul[0]": "S2S119",
}
"""What is refused here alone."""


def outcome(program, mode):
    """``same``, or ``another value``, or why the function does not run itself. Raises what is a failure."""
    try:
        return programs.compare(program, standin, mode)
    except programs.Differs:
        raise
    except Exception as problem:
        why = programs.refusal_of_primal(program, standin)
        if why is None:
            code = getattr(getattr(problem, "diagnostic", None), "code", None)
            if code is not None and REFUSED_HERE.get(program.name) == code:
                return code
            raise
        return why


@pytest.mark.slow
@pytest.mark.grid(1 / 16)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("part", range(8))
def test_the_bank(part, mode, capsys):
    outcomes = [outcome(program, mode) for program in PROGRAMS[part::8]]
    assert sum(one == "same" for one in outcomes) > 0.9 * len(outcomes), outcomes


@pytest.mark.slow
@pytest.mark.grid(1 / 8)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("part", range(8))
def test_the_samples_of_the_rules(part, mode):
    outcomes = [outcome(program, mode) for program in SAMPLES[part::8]]
    assert sum(one == "same" for one in outcomes) > 0.8 * len(outcomes), outcomes


@pytest.mark.slow
@pytest.mark.grid(1 / 8)
@pytest.mark.parametrize("part", range(8))
def test_the_kernels_of_the_benchmark(part):
    outcomes = [outcome(program, "reverse") for program in KERNELS[part::8]]
    assert sum(one in ("same", "another value") for one in outcomes) >= len(outcomes) - 2, outcomes
