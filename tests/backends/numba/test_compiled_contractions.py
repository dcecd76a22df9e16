"""``np.einsum`` and ``np.tensordot`` in compiled code, against NumPy: small ones are loops, large ones of matrices."""

import ast

import numpy as np
import pytest

import s2s

numba = pytest.importorskip("numba")
from s2s.backends.numba import contractions  # noqa: E402
from s2s.backends.numba.functions import replacement  # noqa: E402

RNG = np.random.default_rng(7)


def array(*shape, layout="C"):
    made = RNG.normal(size=shape)
    if layout == "strided":
        return np.repeat(made, 2, axis=-1)[..., ::2] if shape else made
    return np.asarray(made, order=layout)


def compiled(text):
    """The function that compiled code calls for a call of ``np``, of its operands."""
    call = ast.parse(text, mode="eval").body
    function = getattr(np, call.func.attr)
    made = replacement(function, call)
    assert made is not function
    names = ", ".join(arg.id for arg in call.args)
    scope = {"f": made}
    exec(f"def g({names}):\n    return f({names})", scope)
    return numba.njit(scope["g"])


CALLS = [
    ("np.einsum('ij,jk->ik', a, b)", (4, 5), (5, 6)),
    ("np.einsum('ij,jk->ik', a, b)", (25, 20), (20, 30)),
    ("np.einsum('ji,kj->ki', a, b)", (20, 25), (30, 20)),
    ("np.einsum('ij,jk', a, b)", (4, 0), (0, 6)),
    ("np.einsum('bij,bjk->bik', a, b)", (3, 14, 15), (3, 15, 12)),
    ("np.einsum('ijb,bjk->kbi', a, b, optimize=True)", (14, 15, 3), (3, 15, 12)),
    ("np.einsum('ijk,ijk->k', a, b)", (3, 4, 5), (3, 4, 5)),
    ("np.einsum('ijk,ijk->ij', a, b)", (3, 4, 5), (3, 4, 5)),
    ("np.einsum('iij,jk->ik', a, b)", (3, 3, 4), (4, 2)),
    ("np.einsum('i,j->ji', a, b)", (4,), (5,)),
    ("np.einsum('ij,ij', a, b)", (4, 5), (4, 5)),
    ("np.tensordot(a, b, ((1, 2, 3), (0, 1, 2)))", (3, 2, 2, 4), (2, 2, 4, 5)),
    ("np.tensordot(a, b, axes=((1, -1), (2, 0)))", (12, 4, 6), (6, 11, 4)),
    ("np.tensordot(a, b, 1)", (3, 4), (4, 2, 5)),
    ("np.tensordot(a, b)", (3, 4, 5), (4, 5)),
    ("np.tensordot(a, b, 0)", (3,), (4, 5)),
    ("np.tensordot(a, b, axes=2)", (3, 4), (3, 4)),
]


LAYOUTS = ["C", *("F" if k % 2 else "strided" for k in range(1, len(CALLS)))]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("layout, text, a, b", [(layout, *call) for layout, call in zip(LAYOUTS, CALLS, strict=True)])
def test_as_numpy(layout, text, a, b):
    operands = {"a": array(*a, layout=layout), "b": array(*b, layout=layout)}
    expected = eval(text, {"np": np, **operands})
    found = compiled(text)(*operands.values())
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_complex_numbers_and_float32():
    a, b = array(3, 4) + 1j * array(3, 4), array(4, 5)
    f = compiled("np.einsum('ij,jk->ik', a, b)")
    np.testing.assert_allclose(f(a, b), a @ b, rtol=1e-12)
    assert f(a.real.astype(np.float32), b.astype(np.float32)).dtype == np.float32


def test_lengths_that_differ_raise():
    with pytest.raises(ValueError):
        compiled("np.einsum('ij,jk->ik', a, b)")(np.ones((3, 4)), np.ones((1, 5)))


@pytest.mark.parametrize("text", [
    "np.einsum('ij->ji', a)", "np.einsum('i...,i...->...', a, b)", "np.einsum(s, a, b)", "np.tensordot(a, b, n)"])
def test_what_is_left_to_python(text):
    call = ast.parse(text, mode="eval").body
    function = getattr(np, call.func.attr)
    assert replacement(function, call) is function


def blurred(image, filters):
    height, width = image.shape[1] - 1, image.shape[2] - 1
    out = np.empty((image.shape[0], height, width, filters.shape[3]))
    for i in range(height):
        for j in range(width):
            window = image[:, i : i + 2, j : j + 2, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * filters[np.newaxis], axis=(1, 2, 3))
    return np.sum(np.sin(out)) + np.sum(np.einsum("nijf,nijg->fg", out, out) ** 2)


@pytest.mark.slow
def test_gradients_of_convolutions():
    image, filters = 0.3 * array(2, 4, 4, 3), 0.3 * array(2, 2, 3, 5)
    gradient = s2s.grad(s2s.differentiable(blurred, backend="numba"), argnums=(0, 1))
    found = gradient(image, filters)
    assert gradient.backend == "numba"
    for k, (bar, x) in enumerate(zip(found, (image, filters), strict=True)):
        d = array(*x.shape)
        args = [image, filters]

        def along(t, k=k, x=x, d=d, args=args):
            return blurred(*args[:k], x + t * d, *args[k + 1 :])

        np.testing.assert_allclose(np.vdot(bar, d), (along(1e-5) - along(-1e-5)) / 2e-5, rtol=1e-6)
        tangents = [d if j == k else np.zeros_like(a) for j, a in enumerate(args)]
        np.testing.assert_allclose(
            s2s.jvp(s2s.differentiable(blurred, backend="numba"), tuple(args), tuple(tangents))[1], np.vdot(bar, d),
            rtol=1e-10)


def test_loops_of_a_contraction_are_functions_of_their_own(monkeypatch):
    """Of float64, as Numba takes long for each; they are one where they read alike."""
    made, before = [], contractions.unit
    monkeypatch.setattr(contractions, "unit", lambda nest: (made.append(nest), before(nest))[1])
    contractions._tensordot.cache_clear()

    product = compiled("np.tensordot(a, b, ((1,), (0,)))")
    a, b = array(3, 20, 4), array(20, 6)
    for x, y in ((a, b), (a.repeat(9, axis=0), b.repeat(9, axis=1))):
        np.testing.assert_allclose(product(x, y), np.tensordot(x, y, ((1,), (0,))), rtol=1e-12)
    assert made
