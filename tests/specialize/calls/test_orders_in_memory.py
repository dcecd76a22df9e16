"""Arrays that are read in the order in which they lie in memory: derivatives follow the array, however it is given."""

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import differences

M = np.cos(np.arange(6.0)).reshape(2, 3)
WEIGHTS = np.arange(1.0, 7.0)

READS = {
    "by place": lambda m, order: np.ravel(m, order),
    "by name": lambda m, order: np.ravel(m, order=order),
    "both by name": lambda m, order: np.ravel(order=order, a=m),
    "the array by name alone": lambda m, order: np.ravel(a=m),
    "method": lambda m, order: m.ravel(order),
    "function of a class": lambda m, order: np.ndarray.flatten(m, order=order),
}


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")


@pytest.mark.parametrize("order", ["A", "K"])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_an_array_is_read_as_it_lies(read, order):
    def f(m):
        return np.sum(np.sin(read(m, order)) * WEIGHTS)

    for m in (M, np.asfortranarray(M), M.T):
        found = s2s.grad(f)(m)
        np.testing.assert_allclose(found, differences(f, m), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(s2s.jvp(f, (m,), (np.sin(m),))[1], np.sum(found * np.sin(m)), rtol=1e-12)


@pytest.mark.parametrize("f", [
    lambda a, b: np.reshape([a, b, a * b, 1.0], (2, 2), order="A"),
    lambda a, b: np.reshape((a, b, a * b, 1.0), (2, -1), "A"),
    lambda a, b: np.ravel([[a, b], [a * b, 1.0]], "K"),
    lambda a, b: np.ravel(order="A", a=[[a, b], [a * b, 1.0]]),
    lambda a, b: np.ravel(order="K", a=((a, b), (a * b, 1.0))),
    lambda a, b: np.ravel(a, "K") * np.reshape(b, -1, order="A") * np.array([1.0, 0.0, b, 0.0]),
], ids=range(6))
def test_lists_and_numbers_have_the_order_of_rows(f):
    def loss(a, b):
        return np.sum(np.ravel(f(a, b)) * WEIGHTS[:4])

    a, b = 2.0, 3.0
    expected = [differences(lambda a: loss(a, b), a), differences(lambda b: loss(a, b), b)]
    np.testing.assert_allclose(s2s.grad(loss, argnums=(0, 1))(a, b), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(loss, (a, b), (1.0, 2.0))[1], expected[0] + 2.0 * expected[1], rtol=1e-6)


@pytest.mark.parametrize("read", [READS[name] for name in ("by place", "by name", "both by name", "method")])
def test_an_order_that_is_known_at_run_time_only_is_refused_where_the_array_moves(read):
    def f(m, k):
        return np.sum(np.sin(read(m, ["A", "C", "F"][k])) * WEIGHTS)

    with pytest.raises(UnsupportedSyntaxError, match="S2S220"):
        s2s.grad(f)(M.T, 0)
    assert s2s.grad(lambda x, k: x * f(M.T, k))(2.0, 0) == f(M.T, 0)


def test_without_an_array_the_call_is_that_of_numpy():
    with pytest.raises(TypeError, match="missing"):
        s2s.grad(lambda m: np.sum(m) * np.ravel(order="K"))(M)
