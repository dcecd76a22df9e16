"""The slopes that stand for the derivatives of steps: compared with central differences of the smooth functions."""

import numpy as np
import pytest

from s2s.rules.slopes import SLOPES

K = 3.0
X = np.array([-2.53, -1.9, -1.03, -0.62, -0.41, 0.07, 0.12, 0.45, 0.94, 1.22, 1.58, 2.06])
B = np.array([1.3, -0.8, 1.7, 0.9, -1.1, 2.1, 0.7, 1.9, -1.6, 1.4, 0.6, 2.3])

RISES = {
    "sigmoid": lambda d: 1.0 / (1.0 + np.exp(-K * d)),
    "linear": lambda d: np.clip(K * d + 0.5, 0.0, 1.0),
    "straight_through": lambda d: d,
    "hard_tanh": lambda d: 0.5 * np.clip(K * d, -1.0, 1.0),
}
"""The smooth step from 0 to 1 by the distance from its jump."""


def smooth(policy, step, u, at):
    """The step as the policy smooths it, around the jump that is nearest to ``at``."""
    jump = {"integers": np.round(at), "toward zero": np.round(at), "halves": np.floor(at) + 0.5}.get(step, 0.0)
    height = 2.0 if step == "sign" and policy != "straight_through" else 1.0
    there = jump != 0.0 if step == "toward zero" else True
    return np.where(there, height * RISES[policy](u - jump), 0.0)


def central(f, x, eps=1e-6):
    return (f(x + eps) - f(x - eps)) / (2 * eps)


@pytest.mark.parametrize("policy, step", SLOPES)
def test_slopes_are_those_of_smooth_steps(policy, step):
    sharpness = () if policy == "straight_through" else (K,)
    first, *others = SLOPES[policy, step]
    if step == "quotient":
        for slope, of in ((first, lambda t: (t, B)), (others[0], lambda t: (X, t))):
            x = of(X)[0] if slope is first else B
            wanted = central(lambda t: smooth(policy, "integers", np.divide(*of(t)), X / B), x)
            np.testing.assert_allclose(slope(None, X, B, *sharpness), wanted, rtol=1e-7, atol=1e-8)
        return
    if step == "decimals":
        for decimals, unit in ((None, 1.0), (1, 0.1), (-1, 10.0)):  # a step has the height of the last decimal
            wanted = central(lambda x: unit * smooth(policy, "halves", x / unit, X / unit), X)
            np.testing.assert_allclose(first(None, X, decimals, *sharpness), wanted, rtol=1e-7, atol=1e-8)
    else:
        more = (0.5,) if step == "heaviside" else ()
        wanted = central(lambda x: smooth(policy, step, x, X), X)
        np.testing.assert_allclose(first(None, X, *more, *sharpness), wanted, rtol=1e-7, atol=1e-8)
    assert others in ([], [None])
