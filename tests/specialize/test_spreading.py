"""``*`` of what has no length that is known, and of sets."""

import warnings

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.3, 0.5, 0.7])


def shape_of_all(x, *others):
    shapes = {np.shape(a) for a in (x, *others)}
    return np.broadcast_to(x, np.broadcast_shapes(*shapes))


def broadcast(x):
    return np.sum(shape_of_all(x, 1.0, np.ones((2, 1))) ** 3)


def kind_of_all(x):
    arrays = [x]
    for value in x:
        if value > 0.4:
            arrays.append(value * x)
    kind = np.result_type(*arrays, np.float32)
    return np.sum(np.asarray(arrays[-1], dtype=kind) ** 2)


@pytest.mark.parametrize("f", [broadcast, kind_of_all])
def test_against_differences(f):
    want = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), want, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), want, rtol=1e-6)


def test_shapes_of_a_set_are_known():
    """So that nothing of the runtime is called for arrays of a shape that only shows when the program runs."""
    assert "rt." not in s2s.source(broadcast, X)


# --- warnings ---------------------------------------------------------------------------------------------------------


def warns(x, level):
    warnings.warn("slow", UserWarning, stacklevel=level)
    return x * x


def two_above(x):
    return warns(x, 3)


def one_above(x):
    return np.sum(warns(x, 2))


def far_above(x):
    return np.sum(two_above(x))


@pytest.mark.parametrize("f", [one_above, far_above])
def test_a_warning_names_the_function_that_is_differentiated(f):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        s2s.grad(f)(X)
    (one,) = [w for w in found if str(w.message) == "slow"]
    assert f"{f.__name__}_grad" in one.filename
