"""Arguments that share memory, in a recording: it is given copies of what is differentiated."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.7, 1.3, 0.4])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


class Two:
    def __init__(self, a, b):
        self.a, self.b = a, b


def doubled(a, b):
    a[0] *= 2.0
    return np.sum(a * b**2)


SHARED = {
    "two parameters": (doubled, lambda m: (m, m[:]), (0, 1)),
    "one of them differentiated": (doubled, lambda m: (m, m), 0),
    "the other one differentiated": (doubled, lambda m: (m, m), 1),
    "a dict": (lambda d: doubled(d["a"], d["b"]), lambda m: ({"a": m, "b": m},), 0),
    "a list, reversed": (lambda rows: doubled(*rows), lambda m: ([m, m[::-1]],), 0),
    "a tuple in a list": (lambda held: doubled(held[0], held[1][0]), lambda m: ([m, (m,)],), 0),
    "attributes": (lambda o: doubled(o.a, o.b), lambda m: (Two(m, m),), 0),
}


@pytest.mark.parametrize("f, given, argnums", SHARED.values(), ids=SHARED)
def test_a_change_of_arguments_that_share_memory_is_refused(f, given, argnums):
    with pytest.raises(s2s.errors.ArgumentError, match="share memory") as caught:
        s2s.value_and_grad(f, argnums=argnums)(*given(X.copy()))
    assert caught.value.diagnostic.code == "S2S510"


def test_rows_of_one_matrix_are_apart():
    m = np.array([[0.7, 1.3, 0.4], [0.2, -0.5, 1.1]])
    expected = differences(lambda rows: doubled(rows[0].copy(), rows[1]), m)
    value, gradient = s2s.value_and_grad(lambda rows: doubled(*rows))([m[0], m[1]])
    assert value == doubled(m[0].copy(), m[1])
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_what_is_not_changed_may_be_given_twice():
    gradient = s2s.grad(lambda a, b: np.sum(a * b**2), argnums=(0, 1))(X, X)
    np.testing.assert_allclose(gradient, (X**2, 2.0 * X**2), rtol=1e-12)
