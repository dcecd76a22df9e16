"""Draws of random numbers: what they give is known when compiling, whatever the stream is held by."""

import numpy as np
import pytest

import s2s

STREAM = np.random.default_rng(0)
KINDS = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}


class Holder:
    def __init__(self, rng):
        self.rng = rng

    def loss(self, mu, s):
        return np.sum((mu + s * self.rng.standard_normal(3)) * self.rng.normal(mu, s, 3))


def of_argument(mu, s, rng, n):
    z = rng.normal(mu, s, (n, 3))
    return np.sum(z * rng.standard_normal((n, 3)) + z**2)


def of_global(mu, s):
    z = STREAM.normal(0.0, 1.0, size=(2, 3))
    return np.sum((mu + s * z) ** 2) * STREAM.integers(2, 7)


def of_module(mu, s):
    return np.sum((mu + s * np.random.randn(2, 3)) ** 2) + np.random.randint(1, 9) * s


def by_differences(call, at):
    h = 1e-6
    return (call(at + h) - call(at - h)) / (2 * h)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_in_arguments_and_attributes(kind):
    make = KINDS[kind]
    mu = np.array([0.3, -0.2, 0.7])
    programs = {
        "argument": lambda s: of_argument(mu, s, make(1), 4),
        "attribute": lambda s: Holder(make(1)).loss(mu, s),
    }
    for program in programs.values():
        expected = by_differences(program, 0.6)
        np.testing.assert_allclose(s2s.grad(program)(0.6), expected, rtol=1e-6)
        np.testing.assert_allclose(s2s.jvp(program, (0.6,), (1.0,))[1], expected, rtol=1e-6)


def test_one_derivative_takes_streams_of_both_classes():
    gradient = s2s.grad(of_argument, argnums=1)
    for make in (*KINDS.values(), *KINDS.values()):
        expected = by_differences(lambda s: of_argument(np.ones(3), s, make(2), 2), 0.5)
        np.testing.assert_allclose(gradient(np.ones(3), 0.5, make(2), 2), expected, rtol=1e-6)


@pytest.mark.parametrize("program, seed", [
    (of_global, lambda: STREAM.bit_generator.__setstate__(np.random.PCG64(3).__getstate__())),
    (of_module, lambda: np.random.seed(3)),
])
def test_streams_of_modules_draw_other_numbers_each_time(program, seed):
    mu = np.array([0.3, -0.2, 0.7])

    def seeded(s):
        seed()
        return program(mu, s)

    gradient = s2s.grad(program, argnums=1)
    seed()
    first, second = gradient(mu, 0.6), gradient(mu, 0.6)
    np.testing.assert_allclose(first, by_differences(seeded, 0.6), rtol=1e-6)
    assert first != second


@pytest.mark.parametrize("program", [of_global, of_module])
def test_the_adjoint_asks_for_no_shapes_of_draws(program):
    text = s2s.source(program, np.ones(3), 0.5, argnums=(0, 1))
    assert "rt." not in text, text
