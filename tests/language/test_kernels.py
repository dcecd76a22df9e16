"""Gradients of analytic kernels of ``benchmarks/suites/kernels`` against complex steps and central differences.

The kernels are analytic and make their work arrays like their arguments, so a step of 1e-30 along the imaginary axis
gives directional derivatives to full precision, by NumPy's own complex arithmetic and without s2s.
"""

import numpy as np
import pytest

import s2s
from benchmarks.suites import find
from tests.helpers import STENCIL, assert_same, copy_tree

KERNELS = [
    find(name)
    for name in (
        "jacobi", "heat_1d", "heat_2d", "heat_3d", "gauss_seidel", "adi", "maxwell_tm", "shallow_water", "cavity",
        "cholesky", "lu", "gram_schmidt", "durbin", "tridiagonal", "nbody",
    )
]  # fmt: skip
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
DIRECTIONS = 4


def directions(kernel, args):
    """Random directions: a value like each differentiated argument."""
    rng = np.random.default_rng(3)
    for _ in range(DIRECTIONS):
        yield [rng.normal(size=np.shape(args[place])) for place in kernel.argnums]


def moved(kernel, args, direction, step):
    """The arguments after a step."""
    args = list(copy_tree(args))
    for place, d in zip(kernel.argnums, direction):
        args[place] = args[place] + step * d
    return args


def complex_step(kernel, args, direction):
    """The derivative of the loss along a direction."""
    value = kernel.primal(*moved(kernel, args, direction, 1e-30j))
    assert isinstance(value, np.complexfloating)
    return value.imag / 1e-30


def central_difference(kernel, args, direction, h=1e-3):
    """The same, by differences of sixth order."""
    total = 0.0
    for multiple, weight in STENCIL:
        up, down = (kernel.primal(*moved(kernel, args, direction, sign * multiple * h)) for sign in (1, -1))
        total += weight * (up - down) / h
    return total


def along(gradient, direction):
    return sum(float(np.sum(g * d)) for g, d in zip(gradient, direction))


@each_kernel
def test_complex_step_agrees_with_differences(kernel):
    """The reference itself: no store drops an imaginary part, and the sample is away from kinks."""
    args = kernel.arguments(*kernel.small)
    for direction in directions(kernel, args):
        exact = complex_step(kernel, args, direction)
        assert abs(exact) > 1e-6
        np.testing.assert_allclose(central_difference(kernel, args, direction), exact, rtol=1e-8, atol=1e-8)


@pytest.mark.grid(0.5)
@each_kernel
def test_gradient(kernel):
    args = kernel.arguments(*kernel.small)
    before = copy_tree(args)
    both = s2s.value_and_grad(kernel.primal, argnums=kernel.argnums)
    value, gradient = both(*args)
    assert value == kernel.primal(*copy_tree(args))
    for g, place in zip(gradient, kernel.argnums, strict=True):
        assert np.shape(g) == np.shape(args[place])
    for direction in directions(kernel, args):
        wanted = complex_step(kernel, args, direction)
        np.testing.assert_allclose(along(gradient, direction), wanted, rtol=1e-10, atol=1e-10)
    assert_same(args, before)
    assert_same(both(*args), (value, gradient))


@pytest.mark.grid(0.3)
@each_kernel
def test_gradient_of_other_size(kernel):
    """What was compiled for one size is right for another one."""
    size, *steps = kernel.small
    both = s2s.grad(kernel.primal, argnums=kernel.argnums)
    both(*kernel.arguments(*kernel.small))
    for other in ((size + 2, *(t + 1 for t in steps)), (size + 1, *(0 for _ in steps))):
        args = kernel.arguments(*other)
        gradient = both(*args)
        for direction in directions(kernel, args):
            wanted = complex_step(kernel, args, direction)
            np.testing.assert_allclose(along(gradient, direction), wanted, rtol=1e-10, atol=1e-10)
