"""Rules of ``scipy.linalg`` for stacks; one for one matrix refuses them, also where the rank shows at run time only."""

import numpy as np
import pytest
import scipy.linalg

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules.samples import takes
from tests.helpers import check_of_array


def lifted(x, times):
    for _ in range(times):
        x = x[None]
    return x


FUNCTIONS = {
    "circulant": (scipy.linalg.circulant, np.array([0.3, 1.2, -0.7])),
    "toeplitz": (scipy.linalg.toeplitz, np.array([0.3, 1.2, -0.7])),
    "fiedler": (scipy.linalg.fiedler, np.array([0.3, 1.2, -0.7])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_stack_is_refused_and_one_matrix_is_not(name):
    function, x = FUNCTIONS[name]

    def f(x, times):
        made = function(lifted(x, int(times)))
        return np.sum(np.sin(made) * np.cos(np.arange(np.size(made))).reshape(np.shape(made)))

    for times, mode in ((1, s2s.grad), (2, s2s.grad), (1, s2s.jacfwd)):
        with pytest.raises(NoDerivativeError, match="for one matrix, not for a stack"):
            mode(f)(np.stack([x, 2.0 * x]), times)
    with pytest.raises(NoDerivativeError, match="for one matrix, not for a stack"):
        s2s.grad(f)(x[:, None], 2)
    want = [(f(x + step, 0) - f(x - step, 0)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(x, 0), want, atol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(x, 0), want, atol=1e-7)


SQUARES = np.random.default_rng(4).uniform(0.5, 1.5, (2, 3, 3))
TAKES_STACKS = takes(scipy.linalg.svdvals, SQUARES)


@pytest.mark.skipif(not TAKES_STACKS, reason="SciPy takes stacks from 1.16 on")
@pytest.mark.parametrize("name", ["qr", "lu", "schur", "eigvalsh", "sqrtm", "null_space"])
def test_a_stack_is_refused_where_the_function_has_source(name):
    def f(x):
        made = getattr(scipy.linalg, name)(x)
        return np.sum((made[0] if isinstance(made, tuple) else made) ** 2)

    for mode in (s2s.grad, s2s.jacfwd):
        with pytest.raises(NoDerivativeError, match="for one matrix, not for a stack"):
            mode(f)(SQUARES)


@pytest.mark.skipif(not TAKES_STACKS, reason="SciPy takes stacks from 1.16 on")
@pytest.mark.parametrize("name", [
    "inv", "pinv", "svdvals", "cholesky",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("logm", "sinm", "coshm")),
])
def test_stacks(name):
    function = getattr(scipy.linalg, name)

    def f(a):
        made = function(a @ np.swapaxes(a, -1, -2) + np.eye(3))
        return np.sum(made**2 * np.cos(np.arange(made.size)).reshape(made.shape))

    check_of_array(f, SQUARES, gradient=(1e-6, 1e-7), forward=(1e-8, 1e-9), value=1e-12)
