"""Loops over the rows of triangles, as operations on whole matrices: the same numbers as from the loops, and nothing of
what is outside a triangle."""

import warnings

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(41)
A, C = RNG.standard_normal((5, 3)), RNG.standard_normal((5, 5))


def updated(a, c):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 1.0 + a[0, 0]
        for k in range(a.shape[1]):
            c[i, : i + 1] += 0.5 * a[i, k] * a[: i + 1, k]
    return np.sum(c**3)


def updated_twice(a, c):
    c, b = c.copy(), np.sin(a)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * 0.5 * b[i, k] - b[: i + 1, k] * 0.5 * a[i, k]
    return np.sum(c**3)


def upper(a, c):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, i:] -= a[i] @ a[i:].T
    return np.sum(c**3)


def both(a, c):
    found, m = np.zeros((a.shape[0], a.shape[0])), a.shape[0]
    for i in range(m):
        found[i:m, i] = found[i, i:m] = a[i] @ a[i:m].T / (m - 0.5)
    return np.sum(found**3) + np.sum(c * found)


def beside_the_diagonal(a, c):
    found, m = np.eye(a.shape[0]), a.shape[0]
    for i in range(m - 1):
        found[i + 1 : m, i] = found[i, i + 1 : m] = a[i] @ a[i + 1 : m].T
    return np.sum(found**3) + np.sum(c * found)


def symmetric(a, c):
    found = 0.5 * a
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[:i, j] += 3.0 * a[i, j] * c[i, :i]
            found[i, j] += 3.0 * (a[i, j] * c[i, i] + a[:i, j] @ c[i, :i])
    return np.sum(found**3)


def solved_backwards(a, c):
    b = a.copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] += c[i + 1 :, i] @ b[i + 1 :, j]
    return np.sum(b**3)


def from_the_last(a, c):
    b = a.copy()
    for i in range(a.shape[0] - 1, -1, -1):
        b[i] += c[i, :i] @ b[:i]
    return np.sum(b**3)


def scaled(a, c):
    c, n = c.copy(), a.shape[0]
    for i in range(n):
        c[i, i:n] /= 2.0 + a[i, 0] ** 2
        c[:i, i] = 2.0 * a[i, 1]
    return np.sum(c**3)


def columns(a, c):
    c = c.copy()
    for i in range(1, a.shape[0]):
        c[i, :i] *= a[i, 0]
        c[:i, i] = c[i, :i]
        c[:i, i] += a[:i, 0] * a[i, 1]
    return np.sum(c**3)


def summed(a, c):
    y, n = np.zeros(a.shape[0]), a.shape[0]
    for i in range(n):
        y[: i + 1] += c[i, : i + 1] * a[i, 0]
        y[i:] -= c[i:, i] * a[i, 1]
        y[i:] += c[i, i:]
    return np.sum(y**3)


def rows_summed(a, c):
    y, total = np.zeros(a.shape[0]), 0.0
    for i in range(a.shape[0]):
        y[i] = c[i, :i] @ a[:i, 0] + np.sum(c[i, i:] * a[i:, 1])
        total += np.sum(c[i, :i] * c[i, :i]) + c[i, :i] @ c[:i, i]
    return np.sum(y**3) * total


def outer_products(a, c):
    out, other = np.zeros((a.shape[1], a.shape[1])), np.zeros_like(c)
    for i in range(a.shape[0]):
        out = out + np.outer(a[i], a[i]) * c[i, i]
        other[:i, :i] -= np.outer(c[i, :i], c[:i, i]) * a[i, 0]
    return np.sum(out**3) + np.sum(other**3)


def with_parts(a, c):
    out, x = np.zeros_like(c), a[:, 0]
    for i in range(c.shape[0]):
        out[i, : i + 1] = x[: i + 1] * a[i, 1] + c[i, : i + 1] * 0.5 - 2.0 * x[: i + 1]
        out[i, :i] += 1.5
        out[:i, i] += a[i, 2]
    return np.sum(out**3)


def element_by_element(a, c):
    out, n = c.copy(), len(c)
    for i in range(n):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * a[j, k]
    for i in range(n):
        for j in range(i, n):
            out[j, i] -= np.sum(a[i] * a[j])
    return np.sum(out**3)


def through_a_transpose(a, c):
    c = c.copy()
    v = c.T
    for i in range(c.shape[0]):
        v[i, : i + 1] += a[i] @ a[: i + 1].T
    return np.sum(c**3)


def writes_over_other_rows(a, c):
    c = c.copy()
    for i in range(c.shape[0]):
        c[i, i:] = a[i, 0]
        c[: i + 1, i] = a[i, 1] * c[: i + 1, i]
        c[i:, i] = a[i, 2]
        c[i, : i + 1] *= c[i, 0]
    return np.sum(c**3)


WHOLE = (
    updated, updated_twice, upper, both, beside_the_diagonal, symmetric, solved_backwards, from_the_last, scaled,
    columns, summed, rows_summed, outer_products, with_parts, element_by_element, through_a_transpose,
    writes_over_other_rows,
)  # fmt: skip


def check(f, a, c):
    """The gradient against central differences."""
    found = s2s.grad(f, argnums=(0, 1))(a, c)
    np.testing.assert_allclose(found[0], differences(lambda x: f(x, c), a), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], differences(lambda x: f(a, x), c), rtol=1e-5, atol=1e-6)
    return found


def check_modes(f, a, c):
    """The gradient against central differences, other modes against the gradient."""
    found = check(f, a, c)
    tangents = np.cos(a), np.sin(c)
    value, tangent = s2s.jvp(f, (a, c), tangents)
    np.testing.assert_allclose(tangent, sum(map(np.vdot, found, tangents)), rtol=1e-9, atol=1e-10)
    assert value == f(a, c)
    exact, again = s2s.value_and_grad(f, argnums=(0, 1))(a, c)
    assert exact == value
    for one, other in zip(found, again, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_rows_of_triangles_are_done_at_once(f, monkeypatch):
    check_modes(f, A, C)
    assert "\n    for i" not in s2s.source(f, A, C, argnums=(0, 1))
    second = s2s.hvp(f, (A, C), (np.cos(A), None), argnums=0)
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    assert "\n    for i" in s2s.source(f, A, C, argnums=(0, 1))
    np.testing.assert_allclose(second, s2s.hvp(f, (A, C), (np.cos(A), None), argnums=0), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_any_number_of_rows(n):
    for f in WHOLE:
        check(f, A[:n], C[:n, :n])


def test_products_over_no_rows_are_done_at_once():
    """The lengths of both are zero, which are taken to be equal."""
    assert "for i" not in s2s.source(solved_backwards, A[:0], C[:0, :0])


def test_matrices_of_other_sizes():
    wide = RNG.standard_normal((6, 8))
    for f in (updated, updated_twice, rows_summed, symmetric, outer_products):
        if f is not rows_summed:
            check(f, A, wide)
        with pytest.raises((IndexError, ValueError)):
            s2s.grad(f, argnums=(0, 1))(A, C[:3, :3])
    with pytest.raises(ValueError):
        s2s.grad(upper, argnums=(0, 1))(A, wide)
    check(upper, A[:0], wide)  # no iteration reads of either


def scaled_rows(a, c):
    c, d = c.copy(), np.zeros_like(c)
    for i in range(a.shape[0]):
        c[i, : i + 1] *= a[i, 0]
    for i in range(a.shape[0]):
        d[i, i:] = a[i] @ a[i:].T
    return np.sum(c**3) + np.sum(d**3)


@pytest.mark.slow
def test_numba_is_given_products_of_matrices_only():
    a = np.concatenate([A, np.cos(A)], axis=1)  # short rows are numbers there
    for f in (symmetric, solved_backwards, scaled_rows):
        compiled = s2s.grad(s2s.differentiable(f, backend="numba"), argnums=(0, 1))
        for found, wanted in zip(compiled(a, C), check(f, a, C), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        assert compiled.backend.startswith("numba"), compiled.backend
        loops = [line for line in compiled.source.splitlines() if line.startswith("    for i in ")]
        assert len(loops) == (2 if f is scaled_rows else 0), compiled.source
        assert " @ " in compiled.source


# --- what is outside --------------------------------------------------------------------------------------------------


def below(a, c):
    out = np.zeros_like(c)
    for i in range(a.shape[0]):
        out[i, :i] = c[i, :i] * a[i, 0]
        out[i, i:] += a[i, 1]
    return np.sum(out**3)


def products_below(a, c):
    y, z = np.zeros(a.shape[0]), a.copy()
    for i in range(a.shape[0]):
        y[i] = c[i, :i] @ c[i, :i]
        z[i] += c[i, :i] @ a[:i]
        z[:i] += np.outer(c[i, :i], a[i]) * c[i, 0]
    return np.sum(y**3) + np.sum(z**3)


def overwritten(a, c):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, i:] = a[i] @ a[i:].T
    return np.sum(c**3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
def test_nothing_outside_a_triangle_is_read(bad):
    spoilt, clean = np.where(np.tri(5, k=-1, dtype=bool), C, bad), np.tril(C, -1)
    for f in (below, products_below):
        if f is products_below:  # it reads the first column
            spoilt[0, 0] = clean[0, 0] = 2.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, wanted = s2s.grad(f, argnums=(0, 1))(A, spoilt), s2s.grad(f, argnums=(0, 1))(A, clean)
        assert "\n    for " not in s2s.source(f, A, spoilt, argnums=(0, 1))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    spoilt = np.where(np.tri(5, k=-1, dtype=bool), C, bad)
    np.testing.assert_array_equal(s2s.grad(overwritten)(A, spoilt), s2s.grad(overwritten)(A, clean))


def test_a_row_that_is_no_number_stays_in_its_row():
    a = A.copy()
    a[2, 0] = np.inf
    with np.errstate(invalid="ignore"):
        found = s2s.grad(below, argnums=1)(a, C)
    assert np.isfinite(found[[0, 1, 3, 4]]).all() and not np.isfinite(found[2, :2]).any()
    np.testing.assert_array_equal(found[2, 2:], 0.0)


# --- loops that stay --------------------------------------------------------------------------------------------------


def reads_what_was_written(a, c):
    b = a.copy()
    for i in range(a.shape[0]):
        b[i] += c[i, :i] @ b[:i]
    return np.sum(b**3)


def reads_it_backwards(a, c):
    b = a.copy()
    for i in range(a.shape[0] - 1, -1, -1):
        b[i] += c[i, i + 1 :] @ b[i + 1 :]
    return np.sum(b**3)


def writes_backwards(a, c):
    c, n = c.copy(), a.shape[0]
    for i in range(n - 1, -1, -1):
        c[i, i:n] *= a[i, 0]
        c[:i, i] = 2.0 * a[i, 1]
    return np.sum(c**3)


def adds_before_others_scale(a, c):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, :i] *= a[i, 0]
        c[i:, i] += a[i:, 0] * a[i, 1]
    return np.sum(c**3)


def reads_a_view_late(a, c):
    c = c.copy()
    for i in range(c.shape[0]):
        row = c[i, :i]
        c[i, :i] *= 2.0
        c[:i, i] += row
    return np.sum(c**3)


def counts_from_the_end(a, c):
    c = c.copy()
    for i in range(c.shape[0]):
        c[i, : i - 1] += a[i, 0]
    return np.sum(c**3)


def slides(a, c):
    c = c.copy()
    for i in range(c.shape[0] - 2):
        c[i, i : i + 2] += a[i, :2]
        c[i + 2, i + 1 :] = c[i, i + 1 :] * 3.0
    return np.sum(c**3)


def ends(a, c):
    c = c.copy()
    for i in range(c.shape[0]):
        c[i, : i + 1] += a[i, 0]
        if c[i, 0] > 0.5:
            break
    return np.sum(c**3)


def scales_columns(a, c):
    b, d = c[0] * 1.0, np.zeros_like(c)
    for i in range(a.shape[0]):
        d[i] = (c[:, :i] * b[:i]) @ c[i, :i]
    return np.sum(d**2) * np.sum(a)


@pytest.mark.parametrize(
    "f", [scales_columns, reads_what_was_written, reads_it_backwards, writes_backwards,
          adds_before_others_scale, reads_a_view_late, counts_from_the_end, slides, ends],
    ids=lambda f: f.__name__)  # fmt: skip
def test_a_loop_over_rows_stays(f):
    assert "\n    for i" in s2s.source(f, A, C, argnums=(0, 1))
    check(f, A, C)


def test_rows_that_have_another_number_than_a_vector_raise_as_numpy():
    def f(a, c):
        b, d = c[0] * 1.0, np.zeros_like(c)
        for i in range(a.shape[0]):
            d[i] = c[i, :i] @ (c[:i] * b[:i])
        return np.sum(d**2)

    with pytest.raises(ValueError):
        f(A, C)
    with pytest.raises(ValueError):
        s2s.grad(f, argnums=1)(A, C)
