"""Names that nothing has yet, read where the run does not come: no check reads them, and they may come later."""

import numpy as np
import pytest

import s2s

X = np.array([0.5, 1.5])


def changes_its_argument(x, a):
    x[0] = 2.0 * x[1]
    if a > 100.0:
        x[1] = later[0]  # noqa: F821
    return np.sum(x * x) * a


def test_a_name_that_nothing_has(monkeypatch):
    gradient = s2s.grad(changes_its_argument, argnums=1)
    np.testing.assert_allclose(gradient(X.copy(), 3.0), 9.0 + 2.25, rtol=1e-12)
    monkeypatch.setitem(globals(), "later", np.array([7.0]))
    np.testing.assert_allclose(gradient(X.copy(), 200.0), 9.0 + 49.0, rtol=1e-12)


def test_a_loop_that_runs_leaves_its_variables_bound():
    def known(x):
        for k in range(3):
            y = x * k
        return y * x

    def unknown(x, n):
        for k in range(n):
            y = x * k
        return y * x

    def broken(x):
        for _ in range(3):
            if x > 1.0:
                break
            y = x
        return y * x

    assert s2s.grad(known)(1.5) == 6.0 and "UnboundLocalError" not in s2s.source(known, 1.5)
    assert s2s.grad(unknown)(1.5, 3) == 6.0
    for derivative in (s2s.grad(unknown), lambda x, n: s2s.grad(broken)(x)):
        with pytest.raises(UnboundLocalError):
            derivative(1.5, 0)


@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning")
def test_the_name_of_what_has_no_value_is_told():
    """In the words of Python, for a variable that no path before it assigns."""

    def later(x):
        y = x * z  # noqa: F821
        z = y
        return y * z

    with pytest.raises(UnboundLocalError) as by_python:
        later(1.5)
    for derivative in (s2s.grad(later), lambda x: s2s.jvp(later, (x,), (1.0,))):
        with pytest.raises(UnboundLocalError) as raised:
            derivative(1.5)
        assert str(raised.value) == str(by_python.value) and "'z'" in str(raised.value)
