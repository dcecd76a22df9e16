"""A rule of ``scipy.linalg`` for one matrix refuses a stack, also where the rank shows at run time only."""

import numpy as np
import pytest
import scipy.linalg

import s2s
from s2s.errors import NoDerivativeError


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
