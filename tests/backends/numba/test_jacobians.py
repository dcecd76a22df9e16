"""Jacobians in compiled code: many directions side by side, beside central differences."""

import numpy as np
import pytest

import s2s


def projected(camera, point, weight):
    """A camera that turns and sees a point."""
    square = np.sum(camera[:3] * camera[:3])
    angle = np.sqrt(square)
    axis, moved = camera[:3] / angle, point - camera[3:6]
    seen = moved * np.cos(angle) + np.cross(axis, moved) * np.sin(angle)
    flat = seen[:2] / (2.0 + seen[2])
    return weight * (camera[6] * flat + camera[7:9])


def crossed(x, y):
    return np.cross(np.sin(x), y) + np.cross(y, x * y, axis=-1)


RNG = np.random.default_rng(5)
CASES = [
    (projected, (RNG.standard_normal(9), RNG.standard_normal(3), 0.8), (0, 1, 2)),
    (crossed, (RNG.standard_normal((2, 3)), RNG.standard_normal(3)), (0, 1)),
    (crossed, (RNG.standard_normal(3), RNG.standard_normal((1, 3))), (0, 1)),
]


def by_differences(f, args, k):
    arg, h = np.asarray(args[k], float), 1e-6
    columns = []
    for place in np.ndindex(arg.shape):
        step = np.zeros_like(arg)
        step[place] = h
        ends = (f(*args[:k], arg + sign * step, *args[k + 1 :]) for sign in (1.0, -1.0))
        columns.append(np.subtract(*ends) / (2.0 * h))
    return np.moveaxis(np.array(columns), 0, -1).reshape((*np.shape(f(*args)), *arg.shape))


@pytest.mark.grid(0.1)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["jacfwd", "jacrev", "jacobian"])
@pytest.mark.parametrize(("f", "args", "argnums"), CASES)
def test_jacobians(f, args, argnums, mode, backend, monkeypatch):
    monkeypatch.setenv("S2S_BACKEND", backend)
    jacobian = getattr(s2s, mode)(f, argnums=argnums)
    found = jacobian(*args)
    for k, part in zip(argnums, found, strict=True):
        np.testing.assert_allclose(part, by_differences(f, args, k), rtol=1e-6, atol=1e-8)
    if backend == "numba" and mode != "jacobian":
        assert jacobian.backend == "numba"


def test_the_function_is_called_once_to_choose_the_mode():
    calls = []

    def f(x):
        calls.append(1)
        return x * x

    jacobian = s2s.jacobian(f)
    first = len((jacobian(np.ones(2)), calls)[1])
    jacobian(np.ones(2))
    again = len(calls) - first
    jacobian(np.ones(3))
    assert again < first and len(calls) - first - again == first
