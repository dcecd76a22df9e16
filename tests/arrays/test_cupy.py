"""The bank of programs and the samples of the rules on CuPy, where there is a GPU."""

import numpy as np
import pytest

import s2s
from tests.arrays import programs

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")


def has_device():
    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


pytestmark = pytest.mark.skipif(not has_device(), reason="no GPU")

OF_VECTORS = ("rule:np.linalg.eigh", "rule:np.linalg.eig[")
"""Their vectors are determined up to a sign or phase, which the modules choose in other ways."""


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("source", [programs.from_bank, programs.from_rules])
def test_programs(source, mode):
    failed = []
    for program in source():
        if program.name.startswith(OF_VECTORS):
            continue
        try:
            programs.compare(program, cupy, mode)
        except programs.Differs as problem:
            failed.append((program.name, str(problem)))
        except Exception as problem:
            if programs.refusal_of_primal(program, cupy) is None:
                failed.append((program.name, repr(problem)[:200]))
    assert len([name for name, _ in failed if not name.startswith("rule:operator.imatmul")]) == 0, failed


def test_what_does_not_depend_on_the_choice_of_vectors():
    def f(x):
        w, v = np.linalg.eigh(0.5 * (x + x.T))
        return np.sum(np.sin(w)) + np.sum(np.abs(v) ** 4)

    x = np.cos(np.arange(25.0)).reshape(5, 5)
    np.testing.assert_allclose(s2s.grad(f)(cupy.asarray(x)).get(), s2s.grad(f)(x), atol=1e-10)
