"""Products that are summed: as products of matrices where they are some, and as they are elsewhere."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(5)
V, W = RNG.standard_normal(3), RNG.standard_normal(4)
A, B, C = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 4)), RNG.standard_normal((4, 3))
BATCH, OTHER = RNG.standard_normal((2, 4, 3)), RNG.standard_normal((2, 3, 5))


def scaled_row(a, x):
    return np.sum((x * a[0, 0]) ** 2 * x)


def a_sum_of_all(s, a):
    return np.sum(np.tanh(s * a))


def rows(w, a):
    return np.sum(np.tanh(w[:, None] * a))


def columns(v, a):
    return np.sum(np.tanh(v * a))


def matrix_by_vector(s, a, v):
    return np.sum(np.exp(s[:, None] * np.ones_like(a) * v))


def product_of_matrices(a, b):
    return np.sum(np.einsum("ij,jk->ik", a, b) ** 2)


def transposed_product(a, c):
    return np.sum(np.einsum("ij,ik->kj", a, c) ** 3)


def batch_of_products(a, b):
    return np.sum(np.einsum("bij,bjk->bik", a, b) ** 2)


def of_three(a, b, v):
    return np.sum(np.sin(np.einsum("ij,jk,i->k", a, b, v)))


def an_index_alone(a, b):
    return np.sum(np.einsum("ij,kl->i", a, b) ** 2)


def a_number(a, c):
    return np.einsum("ij,ij->", a, c) ** 2


def dots(a, b):
    return np.sum(np.einsum("...ij,...jk->...ik", a, b) ** 2)


def broadcast_dots(a, b):
    return np.sum(np.einsum("...j,...jk->...k", a, b) ** 2)


def diagonal(a, b):
    m = a @ b
    return np.sum(np.einsum("ii->i", m) ** 2) + np.einsum("jj,j->", m, m[0])


def stretched(a, b):
    """Lengths of one that NumPy stretches are no products of matrices."""
    return np.sum(np.einsum("ij,jk->ik", a[:, :1], b) ** 2) + np.sum(np.einsum("ij,ij->ij", a[:1], a) ** 2)


def stretched_beside_an_index_alone(a, c):
    return np.sum(np.einsum("ij,ik->ik", a[:1], c) ** 2) + np.sum(np.einsum("ij,jk->k", a[:, :1], a) ** 2)


def larger_product(a, b):
    """Each factor lacks an axis of the product, which the forward sweep does not make."""
    return np.sum(np.tanh(np.sum(a[:, :, None] * b[None], axis=1)))


def axis_of_length_one(a, b):
    """An axis that an index adds beside slices, and one that the sum keeps."""
    part = a[1:, :, np.newaxis]
    return np.sum(np.tanh(np.sum(part * b, axis=1, keepdims=True)))


def changed_between(a, b):
    b = b.copy()
    product = a[:, :, None] * b[None]
    b[0, 0] = 2.0
    return np.sum(np.tanh(np.sum(product, axis=1))) + np.sum(b * b)


PROGRAMS = {
    larger_product: (A, B), axis_of_length_one: (A, B), changed_between: (A, B),
    scaled_row: (A, V), a_sum_of_all: (np.float64(0.7), A), rows: (W, A), columns: (V, A),
    matrix_by_vector: (W, A, V), product_of_matrices: (A, B), transposed_product: (A, C),
    batch_of_products: (BATCH, OTHER), of_three: (A, B, W), an_index_alone: (A, B), a_number: (A, C),
    dots: (BATCH, OTHER), broadcast_dots: (RNG.standard_normal(4), BATCH), diagonal: (A, B), stretched: (A, B),
    stretched_beside_an_index_alone: (A, C),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    args = PROGRAMS[f]
    for k, arg in enumerate(args):
        expected = differences(lambda x, k=k: f(*args[:k], x, *args[k + 1 :]), arg)
        np.testing.assert_allclose(s2s.grad(f, argnums=k)(*args), expected, rtol=1e-6, atol=1e-7)
        direction = np.cos(np.arange(arg.size)).reshape(arg.shape)
        tangents = [direction if i == k else np.zeros_like(a) for i, a in enumerate(args)]
        _, tangent = s2s.jvp(f, args, tuple(tangents))
        np.testing.assert_allclose(tangent, np.sum(expected * direction), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_without_the_pass_the_numbers_are_the_same(f, monkeypatch):
    args = PROGRAMS[f]
    made = s2s.grad(f, argnums=tuple(range(len(args))))(*args)
    monkeypatch.setenv("S2S_PASSES", "-contractions")
    plain = s2s.grad(f, argnums=tuple(range(len(args))))(*args)
    for one, other in zip(made, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def reverse_sweep(f, *args):
    return s2s.source(f, *args, argnums=tuple(range(len(args)))).split("# reverse sweep")[1]


def test_a_product_that_is_summed_is_a_product_of_matrices():
    assert " @ " in reverse_sweep(scaled_row, A, V)
    assert 'w_bar = np.einsum("ij,ij->i", t2_bar, a)' in reverse_sweep(rows, W, A)


@pytest.mark.parametrize("f", [product_of_matrices, transposed_product, batch_of_products], ids=lambda f: f.__name__)
def test_an_einsum_of_two_matrices_is_a_product_of_matrices(f):
    text = reverse_sweep(f, *PROGRAMS[f])
    code = [line for line in text.splitlines() if not line.strip().startswith("#")]
    assert sum(line.count(" @ ") for line in code) == 2


@pytest.mark.parametrize(
    "f", [product_of_matrices, of_three, an_index_alone, a_number, dots, broadcast_dots], ids=lambda f: f.__name__)
def test_an_einsum_is_written_out(f):
    text = s2s.source(f, *PROGRAMS[f], argnums=(0, 1))
    assert "rt." not in text and "products." not in text


@pytest.mark.parametrize("f", [larger_product, axis_of_length_one], ids=lambda f: f.__name__)
def test_a_larger_product_is_not_made(f):
    text = s2s.source(f, A, B, argnums=(0, 1))
    assert "np.sum(" not in text.split("# reverse sweep")[1].split(":", 1)[1].split("\n", 1)[1]
    assert " @ " in text.split("# reverse sweep")[0]


def test_what_is_stored_between_is_seen():
    def f(x, w):
        y = x.copy()
        p = y * w
        y[0] = 2.0 * y[1]
        return np.sum(p) * np.sum(y * p)

    np.testing.assert_allclose(s2s.grad(f)(V, V + 1.0), differences(lambda x: f(x, V + 1.0), V), rtol=1e-6)


def test_numbers_of_lower_precision_keep_their_dtype():
    x, w = V.astype(np.float32), (V + 1.0).astype(np.float32)
    made = s2s.grad(lambda s, x, w: np.sum(np.sin(s * x) * w))(np.float32(0.5), x, w)
    np.testing.assert_allclose(made, np.sum(np.cos(0.5 * x) * w * x), rtol=1e-5)


def test_an_operand_of_another_scope_stays_as_it_is():
    def f(a):
        v = np.full(1, 1.0)
        v[:] *= a
        return np.max([e for e in v]) + np.sum(v[None, :] * np.ones((3, 1)) * a)

    np.testing.assert_allclose(s2s.grad(f)(0.7), differences(f, 0.7), rtol=1e-6)
