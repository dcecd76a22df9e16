"""Classes that are made or chosen while the program runs, and functions with a rule that give objects."""

import numpy as np
import pytest
from scipy import stats

import s2s
from s2s.errors import NoDerivativeError

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
X = np.array([0.3, 0.7])


class Score:
    def total(self, y):
        return ((self.loc - y) ** 2 / self.scale + np.log(self.scale)).sum()


class Place:
    def __init__(self, p):
        self.loc, self.scale = p[0], np.exp(p[1])


def manifold(score, distribution):
    class Manifold(score, distribution):
        pass

    return Manifold


class Frozen:
    """Hands on what it does not know to an object that a function of SciPy's has made."""

    def __init__(self, p):
        self.dist = stats.norm(loc=p[0], scale=np.exp(p[1]))

    def __getattr__(self, name):
        return getattr(self.dist, name)


def of_made_class(x):
    return manifold(Score, Place)(x).total(np.array([1.0, 2.0]))


def of_frozen(x):
    return manifold(Score, Frozen)(x).logpdf(np.array([0.2, 1.4])).sum()


@pytest.mark.parametrize("fn", [of_made_class, of_frozen])
def test_an_object_of_a_class_made_at_run_time_has_its_derivative(fn, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    expected = [(fn(X + 1e-6 * e) - fn(X - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    np.testing.assert_allclose(s2s.grad(fn)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(fn)(X), expected, rtol=1e-7)


def test_the_compiler_refuses_such_a_class(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")

    def fn(x):
        return manifold(Score, Place)(x).total(1.0)

    with pytest.raises(NoDerivativeError, match="`Manifold` has neither a derivative rule nor source"):
        s2s.grad(fn)(X)
