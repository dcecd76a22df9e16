"""Calls of functions with a rule, with other options, shapes and kinds of arguments: right, or refused."""

import pytest

from s2s.listing import functions
from tests.fuzz import functions as called
from tests.fuzz.check import Wrong
from tests.fuzz.functions.calls import VALUES, Change
from tests.fuzz.functions.check import Known, gradient
from tests.fuzz.functions.subjects import bases, by_name, subjects

CALLS = 3  # of each function; ``python -m tests.fuzz --kind library`` makes any number, of all functions
NAMES = """
numpy.add numpy.append numpy.arctan2 numpy.average numpy.broadcast_to numpy.clip numpy.concatenate numpy.convolve
numpy.cross numpy.cumsum numpy.diag numpy.diff numpy.dot numpy.einsum numpy.exp numpy.fft.fft numpy.interp
numpy.kron numpy.linalg.det numpy.linalg.inv numpy.linalg.norm numpy.linalg.solve numpy.logaddexp numpy.matmul
numpy.max numpy.mean numpy.meshgrid numpy.outer numpy.pad numpy.prod numpy.reshape numpy.roll numpy.sort
numpy.stack numpy.sum numpy.take numpy.tensordot numpy.transpose numpy.tril numpy.var numpy.where
scipy.signal.lfilter scipy.special.gammaln scipy.special.logsumexp scipy.stats.zscore ndarray.sum math.hypot
""".split()


@pytest.mark.grid(0.1)
@pytest.mark.parametrize("name", NAMES)
def test_calls(name):
    bad = []
    for seed in range(CALLS):
        call, found = called.of_seed(seed, ("reverse", "forward", "second", "jacrev", "jacfwd"), (name,))
        if found.failed:
            bad.append(f"--- {seed}: {call}: {found.verdict} ({found.group})\n{found.text[:600]}")
    again = f"python -m tests.fuzz --kind library --functions {name} --program SEED"
    assert not bad, "\n".join(bad) + f"\nmake it minimal: {again}"


def test_calls_are_reproducible():
    name = "numpy.average"
    assert str(called.drawn(5, (name,))) == str(called.drawn(5, (name,)))
    assert len({str(called.drawn(seed, (name,))) for seed in range(12)}) > 6


def test_most_functions_that_have_a_derivative_are_called():
    listed = {row.name for row in functions() if row.modes}
    names = {rule.name.removeprefix("_").replace("builtins.", "") for rule in subjects()}
    assert len(listed & names) > 0.6 * len(listed)


@pytest.mark.parametrize("what, name", [(what, name) for what, ways in VALUES.items() for name in ways])
def test_each_kind_of_argument_is_right_or_refused(what, name):
    rule = by_name()["numpy.matmul"]
    call = called.Call(rule, bases(rule)[3], (Change(what, name),))
    assert called.outcome(call, ("reverse", "forward")).verdict in ("right", "refused", "skipped")


def test_a_wrong_derivative_is_found(monkeypatch):
    rule = by_name()["numpy.tanh"]
    known = Known(called.Call(rule, bases(rule)[3]))
    gradient(known, known.loss)
    monkeypatch.setitem(vars(known), "of_loss", [slope + 1e-4 for slope in known.of_loss])
    with pytest.raises(Wrong, match="gradient by 0"):
        gradient(known, known.loss)
