"""Many directions at once, over half of the bank (``--every``: all of it): a Jacobian times a direction is the tangent
along it. Every other case is by forward mode, the rest by reverse mode."""

import contextlib
import io

import numpy as np
import pytest

import s2s
from s2s.derivatives import derivative
from s2s.errors import DifferentiationError
from s2s.versions.fitting import fit_tangent
from tests.bank import CASES
from tests.helpers import copy_tree, is_float, leaves, map_tree


def direction(tree, rng):
    return map_tree(lambda leaf: np.asarray(rng.normal(size=np.shape(leaf))) if is_float(leaf) else None, tree)


def product(jacobian, out_dot, tangents):
    """The Jacobian times a direction, in the structure of the result."""
    if isinstance(out_dot, (tuple, list)):
        return [product(part, dot, tangents) for part, dot in zip(jacobian, out_dot, strict=True)]
    if isinstance(out_dot, dict):
        return [product(jacobian[key], dot, tangents) for key, dot in out_dot.items()]
    if out_dot is None:
        return None
    if jacobian is None:  # an integer
        return np.zeros(np.shape(out_dot))
    blocks = [leaf for leaf in leaves(jacobian)]
    total = np.zeros(np.shape(out_dot))
    for block, tangent in zip(blocks, leaves(tangents), strict=True):
        if tangent is not None:
            total = total + np.tensordot(block, tangent, np.ndim(tangent))
    return total


def flat(value):
    return [leaf for leaf in leaves(list(value.values()) if isinstance(value, dict) else value) if leaf is not None]


@pytest.mark.grid(0.08)
@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_jacobian_times_a_direction(case, mode):
    argnums = case.argnums
    if argnums is None:
        argnums = tuple(k for k, arg in enumerate(case.args) if any(map(is_float, leaves(arg))))
    argnums = argnums if isinstance(argnums, tuple) else (argnums,)
    if any(isinstance(k, str) for k in argnums):
        argnums = tuple(list(case.f.__code__.co_varnames).index(k) if isinstance(k, str) else k for k in argnums)
        if any(k >= len(case.args) for k in argnums):
            pytest.skip("an argument by keyword")
    moved = [case.args[k] for k in argnums]
    rng = np.random.default_rng(7)
    tangents = direction(moved, rng)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        push = derivative("jvp", case.f, argnums, False, "zeros", len(case.args))(*copy_tree(case.args), **case.kwargs)
        dots = [fit_tangent(t, x, "x") for t, x in zip(tangents, moved, strict=True)]
        out_dot = push(*dots)[1]
        of = getattr(s2s, mode)
        jacobian = of(case.f, argnums)(*copy_tree(case.args), **case.kwargs)
    floats = [leaf for leaf in leaves([moved, out_dot]) if is_float(leaf)]
    small = any(np.result_type(leaf).itemsize < 8 for leaf in floats)
    rtol, atol = (1e-5, 1e-5) if small else (1e-9, 1e-10)
    found, wanted = flat(product(jacobian, out_dot, tangents)), flat(out_dot)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def test_what_cannot_go_together_is_called_for_each_direction():
    def f(x):
        return np.linalg.cholesky(np.outer(x, x) + np.eye(3)) if x[0] > 0 else np.kron(x, x)

    for mode in ("jacfwd", "jacrev"):
        for sign in (1.0, -1.0):
            x = sign * np.array([0.3, 1.2, -0.8])
            found = getattr(s2s, mode)(f)(x)
            step = 1e-6 * np.array([1.0, -2.0, 0.5])
            wanted = (f(x + step) - f(x - step)) / 2e-6
            np.testing.assert_allclose(found @ (step / 1e-6), wanted, atol=1e-8)


def test_complex_arguments_are_refused_when_it_is_seen_late():
    with pytest.raises(DifferentiationError, match="complex"):
        s2s.jacfwd(lambda p: p["z"] ** 2)({"z": np.array([1j])})


def flattened(x):
    a = x.copy()
    w = a.reshape(2, 2).flatten()
    a[0] = 3.0 * x[1]
    return w * x + a


def flattened_then_changed(x):
    w = x.reshape(2, 2).flatten()
    w[1] += x[0] * x[2]
    return w * x


def raveled_backwards(x):
    a = x.copy()
    w = a[::-1].reshape(2, 2).ravel()
    a[0] = 3.0 * x[1]
    return w * x


def raveled_every_second(x):
    a = x.copy()
    w = np.ravel(a[::2])
    a[0] = 3.0 * x[1]
    return w * x[:2]


def raveled_whole(x):
    a = x.copy()
    w = a.reshape(2, 2).ravel()
    a[0] = 3.0 * x[1]
    return w * x


def raveled_and_changed(x):
    a = x.copy()
    w = a.ravel()
    w[1] = 2.0 * x[0]
    return a * x


def element_before_the_store(x):
    a = x.copy()
    first = a[0]
    a[0] = 3.0 * x[1]
    return first * a


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("f", [
    flattened, flattened_then_changed, raveled_backwards, raveled_every_second, raveled_whole, raveled_and_changed,
    element_before_the_store,
])
def test_tangents_alias_as_the_arrays_do(f, mode):
    """What an operation copies, or gives a view of, is the same for an array and for its tangents side by side."""
    x = np.array([0.7, 1.3, 0.4, 0.9])
    wanted = np.stack([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(4)], axis=-1)
    np.testing.assert_allclose(getattr(s2s, mode)(f)(x), wanted, atol=1e-8)


# --- layouts ------------------------------------------------------------------------------------------------


def whole_by_rows(x):
    m = np.zeros((3, 3), order="F")
    m[:] = np.outer(x, x)
    w = m.reshape(9)
    m[0] = 3 * x
    return w * w[0]


def whole_by_columns(x):
    m = np.zeros((3, 3), order="F")
    m[:] = np.outer(x, x)
    w = m.reshape(9, order="F")
    m[0] = 3 * x
    return w * w[0]


def whole_in_its_order(x):
    m = np.asfortranarray(np.outer(x, 2 * x))
    w = m.ravel(order="A")
    m[0] = 3 * x
    return w * w[0]


def like_a_transpose(x):
    m = np.zeros_like(np.outer(x, x).T)
    m[:] = np.outer(x, x)
    w = m.T.reshape(-1)
    m[0] = 3 * x
    return w * w[0]


def as_fortran(x):
    m = np.outer(x, 2 * x).T
    w = np.asfortranarray(m)
    m[0] = 3 * x
    return w * w[0]


def store_into_the_reshape(x):
    m = np.zeros((3, 3), order="F")
    m[:] = np.outer(x, x)
    w = np.reshape(m, (9,))
    w[1:4] = 3 * x
    return m * w[0]


def store_into_the_ravel_of_a_transpose(x):
    m = np.array(np.outer(x, x), order="F")
    w = m.T.ravel()
    w[1:4] = 3 * x
    return m * w[0]


def columns_apart(x):
    m = np.outer(x, x)
    w = m[:, ::2].reshape(-1)
    m[1] *= x
    return w * w[1]


def computed_from_a_transpose(x):
    m = np.outer(x, 2 * x).T
    m = np.sin(m)
    w = m.reshape(-1)
    m[0] *= 2
    return w * w[1]


def copy_in_its_order(x):
    m = np.empty((3, 3), order="F")
    m[...] = x
    n = m.copy("A")
    w = n.reshape(-1)
    n[0] *= 2
    return w * w[1]


def copied(x):
    m = np.empty((3, 3), order="F")
    m[...] = x
    n = np.copy(m)
    w = n.reshape(-1)
    n[0] *= 2
    return w * w[1]


def sliced(x):
    m = np.full((3, 3), 1.0, order="F")
    m[...] = x
    n = m[:]
    w = n.reshape(-1)
    n[0] *= 2
    return w * w[1]


def of_the_same_dtype(x):
    m = np.full((3, 3), 1.0, order="F")
    m[...] = x
    w = m.astype(float, copy=False).reshape(-1)
    m[0] *= 2
    return w * w[1]


def in_rows(x):
    m = np.full((3, 3), 1.0, order="F")
    m[...] = x
    w = m.astype(float, order="C", copy=False)
    m[0] *= 2
    return w * w[1]


def array_without_a_copy(x):
    m = np.full((3, 3), 1.0, order="F")
    m[...] = x
    w = np.array(m, copy=None, order="C")
    m[0] *= 2
    return w * w[1]


def as_array_in_rows(x):
    m = np.full((3, 3), 1.0, order="F")
    m[...] = x
    w = np.asarray(m, order="C")
    m[0] *= 2
    return w * w[1]


def scaled_and_raveled(m):
    a = m * 2.0
    w = a.ravel()
    a[0] *= 2.0
    return w * w[1]


def raveled_in_its_order(m):
    a = m.copy("K")
    w = a.ravel("K")
    a[0] *= 2.0
    return w * w[1]


def its_reshape(m):
    w = m.reshape(-1)
    m[0] *= 2.0
    return w * w[1]


LAID_OUT = [
    whole_by_rows,
    whole_by_columns,
    whole_in_its_order,
    like_a_transpose,
    as_fortran,
    store_into_the_reshape,
    store_into_the_ravel_of_a_transpose,
    columns_apart,
    computed_from_a_transpose,
    copy_in_its_order,
    copied,
    sliced,
    of_the_same_dtype,
    in_rows,
    array_without_a_copy,
    as_array_in_rows,
]


def again(x):
    """A copy that lies in memory as the array does."""
    base = x if x.base is None else x.base
    start = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(x.shape, x.dtype, base.copy("K"), start, x.strides)


def differences(f, x):
    """The Jacobian of an array function; the points lie in memory as ``x`` does."""
    made = np.zeros((*np.shape(f(again(x))), *x.shape))
    for at in np.ndindex(x.shape):
        above, below = again(x), again(x)
        above[at] += 1e-6
        below[at] -= 1e-6
        made[(..., *at)] = (f(above) - f(below)) / 2e-6
    return made


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("f", LAID_OUT)
def test_tangents_lie_as_the_arrays_do(f, mode):
    """A reshape is a view, or a copy, of an array and of its tangents side by side."""
    x = np.array([0.7, 1.3, 0.4])
    np.testing.assert_allclose(getattr(s2s, mode)(f)(x), differences(f, x), atol=1e-8)


M33 = np.outer([0.7, 1.3, 0.4], [1.7, 0.3, 0.8])


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("m", [M33, np.asfortranarray(M33), M33.T, M33[::-1], np.tile(M33, 2)[:, ::2]])
@pytest.mark.parametrize("f", [scaled_and_raveled, raveled_in_its_order, its_reshape])
def test_tangents_lie_as_the_arguments_do(f, m, mode):
    np.testing.assert_allclose(getattr(s2s, mode)(f)(m), differences(f, m), atol=1e-8)


def test_a_jacobian_by_an_empty_list():
    def f(items, s):
        return s * s * sum(items)

    assert s2s.jacfwd(f)([], 1.3) == s2s.jacrev(f)([], 1.3) == []


def largest_square(x):
    best = None
    for i, v in enumerate(x):
        if v < 0.0:
            continue
        if best is None or v * v > best:
            best = v * v
        if i > 4:
            break
    else:
        return -1.0
    return best


@pytest.mark.parametrize("at", [0, 2, 6])
def test_a_variable_is_none_until_it_is_found(at):
    """At ``at``; the cotangent of None is None, in each direction."""
    x = -np.arange(1.0, 10.0)
    x[[at, 6]] = 0.1
    x[at] = 0.3
    expected = np.where(np.arange(9) == at, 2.0 * x, 0.0)
    for mode in ("jacfwd", "jacrev"):
        np.testing.assert_allclose(getattr(s2s, mode)(largest_square)(x), expected)
