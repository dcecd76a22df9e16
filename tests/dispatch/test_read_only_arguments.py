"""A store into a read-only argument raises what it raises in the function itself, and only where it is come to."""

import numpy as np
import pytest

import s2s
from s2s import derivatives


@pytest.fixture(autouse=True)
def anew():
    """Compile, or record, in each test: what another one has made is forgotten."""
    derivatives.forget()


def stores(u, n):
    if n > 1:
        u[0] = u[1] * 2.0
    return np.sum(u**2)


def into_one_of_two(pair, n):
    if n > 1:
        pair[1][:] = pair[0] * 2.0
    return np.sum(pair[1] ** 2)


def of(values, is_read_only=True):
    made = np.array(values)
    made.flags.writeable = not is_read_only
    return made


DERIVATIVES = {
    "grad": lambda f, u, n: s2s.grad(f)(u, n),
    "vjp": lambda f, u, n: s2s.vjp(f, u, n)[1](1.0)[0],
    "hessian": lambda f, u, n: s2s.hessian(f)(u, n),
}


def tangent(f, u, n):
    ones = [np.ones(3), np.ones(3)] if isinstance(u, list) else np.ones(3)
    return s2s.jvp(f, (u, n), (ones, None))[1]


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("recorded", ["0", "always"])
@pytest.mark.parametrize("mode", [*DERIVATIVES, "jvp"])
@pytest.mark.parametrize("f, argument", [
    (stores, lambda: of([1.0, 2.0, 3.0])), (into_one_of_two, lambda: [np.ones(3), of([1.0, 2.0, 3.0])]),
], ids=["array", "list"])
def test_a_store_raises(f, argument, mode, recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded if (f, mode) != (into_one_of_two, "hessian") else "always")
    derivative = DERIVATIVES.get(mode, tangent)
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        f(argument(), 2)
    for _ in range(2):
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            derivative(f, argument(), 2)
        derivative(f, argument(), 1)  # no store


@pytest.mark.parametrize("recorded", ["0", "always"])
def test_what_is_only_read_has_its_derivative(recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    u = of([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(s2s.grad(stores)(u, 1), 2.0 * u)
    np.testing.assert_array_equal(s2s.hessian(stores)(u, 1), 2.0 * np.eye(3))
    pair = [u, of([1.0, 1.0, 1.0], is_read_only=False)]
    np.testing.assert_array_equal(s2s.grad(into_one_of_two)(pair, 2)[0], 8.0 * u)
    np.testing.assert_array_equal(pair[1], [1.0, 1.0, 1.0])
