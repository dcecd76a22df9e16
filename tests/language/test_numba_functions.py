"""Functions that Numba compiled are differentiated from their Python source, whatever wrapper made them."""

import math

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import differences

X = np.array([0.5, 2.0, 1.3])
COUNT = 15
"""Of the programs. They are imported where they are run, as that compiles some of them."""


@pytest.fixture(autouse=True)
def numba():
    return pytest.importorskip("numba")


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("k", range(COUNT))
def test_compiled_functions(k):
    from tests.language.numba_functions import PROGRAMS

    assert len(PROGRAMS) == COUNT
    f = PROGRAMS[k]
    gradient = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), gradient, rtol=1e-6, atol=1e-8)
    value, tangent = s2s.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(tangent, gradient @ X, rtol=1e-6)
    h = 1e-5
    second = (s2s.grad(f)(X + h * X) - s2s.grad(f)(X - h * X)) / (2.0 * h)
    np.testing.assert_allclose(s2s.hvp(f, (X,), (X,)), second, rtol=1e-5, atol=1e-7)


def test_rows_that_are_broadcast():
    from tests.language.numba_functions import boxed, product, scaled

    for f in (lambda x: np.sum(product(x * np.ones((2, 3)), x) * x[:2]), lambda x: np.sum(scaled(x, x) ** 2),
              lambda x: np.sum(boxed(x * np.ones((2, 3)), x[:2]) ** 2)):
        np.testing.assert_allclose(s2s.grad(f)(X), differences(f, X), rtol=1e-6)
        np.testing.assert_allclose(s2s.jacfwd(f)(X), differences(f, X), rtol=1e-6)


def test_a_vectorized_function_by_itself():
    from tests.language.numba_functions import callback, damped

    assert s2s.grad(damped)(2.0, 0.5) == pytest.approx(math.exp(-0.5))
    assert s2s.grad(callback)(0.7) == pytest.approx(math.sin(0.7) + 0.7 * math.cos(0.7))


def test_what_is_refused():
    from tests.language.numba_functions import declared, scaled, two_results

    for f in (lambda x: np.sum(two_results(x)[0]), lambda x: np.sum(scaled(x, 2.0, np.zeros(3)))):
        with pytest.raises(NoDerivativeError, match="one result, which it returns"):
            s2s.grad(f)(X)
    with pytest.raises(NoDerivativeError, match="does not support the argument `out`"):
        s2s.grad(lambda x: np.sum(declared(x, x, out=np.zeros(3))))(X)


SAID = {
    "a stencil": "the stencil smoothed has neither .*write it with slices",
    "a stencil alone": "the stencil smoothed has neither .*write it with slices",
    "a method": "Spring.energy, of Numba's @jitclass has .*leave out @jitclass",
    "a bound method": "Spring.energy, of Numba's @jitclass has .*leave out @jitclass",
    "of an argument": "Spring.energy, of Numba's @jitclass has .*@jitclass",
    "a class": "Spring, a class of Numba's @jitclass has .*leave out @jitclass",
}
"""What is said of the functions that are refused."""


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_stencils_and_jitclasses_are_refused_with_what_to_write(name, recorded, monkeypatch):
    from tests.language.numba_functions import OUT_OF_REACH

    assert set(OUT_OF_REACH) == set(SAID)
    monkeypatch.setenv("S2S_RECORDED", recorded)
    f, more = OUT_OF_REACH[name]
    with pytest.raises(NoDerivativeError, match=f"(?s){SAID[name]}"):
        s2s.grad(f)(X, *more)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_stencils_and_jitclasses_are_called_where_nothing_differentiated_goes_in(recorded, monkeypatch):
    from tests.language.numba_functions import SPRING, smoothed

    monkeypatch.setenv("S2S_RECORDED", recorded)

    def f(x, w):
        return np.sum(x * smoothed(w)) * SPRING.energy(w)

    w = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(s2s.grad(f)(X, w), np.array([0.0, 2.25, 0.0]) * 42.0, rtol=1e-12)
