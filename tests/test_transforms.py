"""Jacobians, Hessians and products with them: against closed forms, JAX, and central differences of gradients."""

import doctest
import functools

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_hess, rosen_hess_prod

import s2s
import s2s.transforms
from s2s.errors import ArgumentError, NonScalarOutputError
from tests.helpers import Later, differences, jax_in_doubles

jax = Later("jax")

X = np.array([0.4, -1.3, 0.8, 1.7])
V = np.array([1.0, 0.5, -2.0, 0.3])
_np = np
W = np.random.default_rng(0).normal(size=(3, 4))


@pytest.fixture(scope="module", autouse=True)
def doubles():
    with jax_in_doubles():
        yield


def stored(x, scale=1.0):
    y = np.zeros(3)
    for i in range(3):
        y[i] = scale * x[i] * x[i + 1]
        y[i] += np.sum(y[:i])
    y[0], y[2] = y[2], y[0]
    return y


def layer(W, x):
    return np.tanh(W @ x)


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def columns(f, x):
    """The Jacobian of ``f`` by central differences."""
    x = np.asarray(x, float)
    made = np.zeros((*np.shape(f(x)), *x.shape))
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = 1e-6
        made[(..., *place)] = (f(x + step) - f(x - step)) / 2e-6
    return made


JACOBIANS = [s2s.jacfwd, s2s.jacrev, s2s.jacobian, lambda f, *args: second(s2s.value_and_jacobian(f, *args))]


def second(f):
    return lambda *args, **kwargs: f(*args, **kwargs)[1]


@pytest.mark.parametrize("of", JACOBIANS)
def test_jacobians(of):
    np.testing.assert_allclose(of(stored)(X), columns(stored, X), rtol=1e-8)
    np.testing.assert_allclose(of(stored)(X, scale=3.0), 3.0 * columns(stored, X), rtol=1e-8)
    slope = 1.0 - np.tanh(W @ X) ** 2
    np.testing.assert_allclose(of(layer, 1)(W, X), slope[:, None] * W, rtol=1e-13)
    by_weights, by_x = of(layer, (0, 1))(W, X)
    np.testing.assert_allclose(by_weights, np.einsum("i,ij,k->ijk", slope, np.eye(3), X), atol=1e-15)
    np.testing.assert_allclose(by_x, slope[:, None] * W, rtol=1e-13)
    np.testing.assert_allclose(of(layer, "x")(W, x=X), slope[:, None] * W, rtol=1e-13)


@pytest.mark.parametrize("of", JACOBIANS)
def test_numbers(of):
    assert of(lambda x: x**3)(2.0) == 12.0
    np.testing.assert_array_equal(of(lambda x: x * X)(2.0), X)
    np.testing.assert_allclose(of(lambda x: np.sum(x**2))(X), 2.0 * X, rtol=1e-15)
    assert of(lambda x, y: x * y, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    (only,) = of(lambda x: x**3, (0,))(2.0)
    assert only == 12.0


@pytest.mark.parametrize("of", JACOBIANS)
def test_matrices(of):
    def f(A):
        return A @ A.T

    A = W[:, :3]
    np.testing.assert_allclose(of(f)(A), jax.jacfwd(f)(A), atol=1e-14)
    inverse = of(np.linalg.inv)(A)
    np.testing.assert_allclose(inverse, -np.einsum("ik,lj->ijkl", np.linalg.inv(A), np.linalg.inv(A)), rtol=1e-9)


@pytest.mark.parametrize("of", JACOBIANS)
def test_containers(of):
    def f(params, scale):
        hidden = np.tanh(params["W"] @ X + params["b"][0])
        return {"hidden": hidden, "rest": (scale * np.sum(params["b"][1] ** 2), [hidden[0] * scale])}

    params = {"W": W, "b": [np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0])]}
    found = of(f, (0, 1))(params, 2.0)
    wanted = jax.jacrev(lambda p, s: _jnp(f, p, s), (0, 1))(params, 2.0)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, atol=1e-14)


def _jnp(f, params, scale):
    """``test_containers``' function in JAX."""
    hidden = jax.numpy.tanh(params["W"] @ X + params["b"][0])
    return {"hidden": hidden, "rest": (scale * jax.numpy.sum(params["b"][1] ** 2), [hidden[0] * scale])}


@pytest.mark.parametrize("of", [s2s.jacfwd, s2s.jacrev, s2s.jacobian])
def test_auxiliary_data(of):
    found, aux = of(lambda x: (x * x, {"n": len(x)}), has_aux=True)(X)
    np.testing.assert_array_equal(found, np.diag(2.0 * X))
    assert aux == {"n": 4}


def test_value_and_auxiliary_data():
    (value, aux), found = s2s.value_and_jacobian(lambda x: (x * x, "done"), has_aux=True)(X)
    np.testing.assert_array_equal(value, X * X)
    np.testing.assert_array_equal(found, np.diag(2.0 * X))
    assert aux == "done"


@pytest.mark.parametrize("of", JACOBIANS)
def test_arguments_that_are_changed_stay(of):
    def f(x):
        x *= 2.0
        x[1:] += x[:-1]
        return x * 1.0

    x = X.copy()
    np.testing.assert_array_equal(of(f)(x), 2.0 * np.eye(4) + 2.0 * np.eye(4, k=-1))
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("of", JACOBIANS)
def test_nothing_and_one(of):
    assert of(lambda x: 2.0 * x)(np.zeros(0)).shape == (0, 0)
    assert of(lambda x: np.sum(x) * W)(np.zeros(0)).shape == (3, 4, 0)
    np.testing.assert_array_equal(of(lambda x: x[0] * X)(np.ones(1)), X[:, None])
    np.testing.assert_array_equal(of(lambda x: x * X[:, None])(np.ones((1, 1)))[:, 0, 0, 0], X)


@pytest.mark.parametrize("of", JACOBIANS)
def test_float32_stays(of):
    found = of(lambda x: np.tanh(x) * 2)(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.diag(2.0 / np.cosh(X) ** 2), rtol=1e-5)


@pytest.mark.parametrize("of", [s2s.jacfwd, s2s.jacrev])
def test_complex_numbers(of):
    z = np.array([1.0 + 2.0j, 0.5j])
    with pytest.raises(ArgumentError, match="holomorphic"):
        of(lambda z: z * z)(z)
    np.testing.assert_allclose(of(lambda z: z**3, holomorphic=True)(z), np.diag(3 * z**2), rtol=1e-14)


@pytest.mark.parametrize("factor", [1.3 + 1.0j, np.complex128(1.3 + 1.0j), np.complex64(1.0 + 1.0j)])
def test_complex_numbers_that_are_no_arrays(factor):
    with pytest.raises(ArgumentError, match="the result is complex"):
        s2s.jacrev(lambda x, a: a * np.sum(x))(X, factor)
    np.testing.assert_allclose(s2s.jacfwd(lambda x, a: a * np.sum(x))(X, factor), np.full(len(X), factor))
    for of in (s2s.jacfwd, s2s.jacrev):
        with pytest.raises(ArgumentError, match="is complex"):
            of(lambda z: z * z)(factor)
        assert of(lambda z: z * z, holomorphic=True)(factor) == pytest.approx(2 * factor)


def test_complex_results_of_real_arguments():
    found = s2s.jacfwd(lambda x: np.exp(1j * x))(X)
    np.testing.assert_allclose(found, np.diag(1j * np.exp(1j * X)), rtol=1e-14)


def test_where_both_branches_and_loops_with_tangents_meet():
    def f(x):
        total = np.zeros(2)
        for value in x:
            if value > 0.0:
                total = total + np.array([value**2, 1.0])
            else:
                total[0] -= np.exp(value)
        return total

    for of in JACOBIANS:
        np.testing.assert_allclose(of(f)(X), columns(f, X), rtol=1e-7)


def test_one_sweep_for_all_directions():
    count = []

    def f(x):
        count.append(1)
        return np.sin(x) * x[0]

    s2s.jacfwd(f)(X)
    count.clear()
    s2s.jacfwd(f)(X)
    assert len(count) == 1
    assert "directions.each" not in s2s.source(f, X, mode="jacfwd")
    assert "directions.each" not in s2s.source(f, X, mode="jacrev")


def test_generated_jacobian_reads_as_an_expert_writes_it():
    text = s2s.source(layer, W, X, mode="jacfwd", argnums=1)
    assert "x_dot = np.eye(len(x))" in text
    assert "return W @ x_dot * (1.0 - t0 * t0)[..., None]" in text


def test_a_derivative_of_a_derivative_names_modules_as_the_first_does():
    def loss(x):
        return np.sum(np.tanh(x) ** 2)

    for text in (s2s.source(s2s.grad(loss), X, mode="jvp"), s2s.source(s2s.jacrev(loss), X, mode="jacfwd")):
        assert text.startswith("import numpy as np\n") and "numpy." not in text


def test_a_closure_variable_that_is_read_keeps_its_name():
    """Here ``np`` is a number."""

    def made(np):
        return lambda x: np * x**2 + _np.sum(_np.tanh(x * X))

    f = made(3.0)
    slope = s2s.grad(f)
    assert "np * (2 * x)" in s2s.source(f, 1.0) and "numpy.tanh(" in s2s.source(f, 1.0)
    assert slope(0.5) == pytest.approx(3.0 + np.sum(X / np.cosh(0.5 * X) ** 2), rel=1e-13)
    curvature = 6.0 - 2.0 * np.sum(X**2 * np.tanh(0.5 * X) / np.cosh(0.5 * X) ** 2)
    assert s2s.grad(slope)(0.5) == pytest.approx(curvature, rel=1e-12)


# --- second derivatives ---


def test_hessian_of_rosenbrock():
    np.testing.assert_allclose(s2s.hessian(rosenbrock)(X), rosen_hess(X), rtol=1e-13)
    np.testing.assert_allclose(s2s.hessian(rosen)(X), rosen_hess(X), rtol=1e-13)
    for product in (s2s.hvp, s2s.vhp):
        np.testing.assert_allclose(product(rosenbrock, (X,), (V,)), rosen_hess_prod(X, V), rtol=1e-13)


def logistic(w, A, y):
    return np.mean(np.log1p(np.exp(-y * (A @ w))))


def test_hessian_of_logistic_regression():
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(20, 4)), np.where(rng.normal(size=20) > 0, 1.0, -1.0)
    p = 1.0 / (1.0 + np.exp(-y * (A @ X)))
    wanted = A.T @ ((p * (1.0 - p) / 20)[:, None] * A)
    np.testing.assert_allclose(s2s.hessian(logistic)(X, A, y), wanted, rtol=1e-12)
    np.testing.assert_allclose(s2s.hvp(logistic, (X, A, y), (V, None, None)), wanted @ V, rtol=1e-12)
    np.testing.assert_allclose(s2s.vhp(logistic, (X, A, y), (V, None, None)), wanted @ V, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
def test_hessian_through_reshapes(order):
    """Shapes that are known when the program runs only, and an order that is given by position."""

    def f(x):
        table = np.reshape(x[: 2 * len(x) // 2], (2, len(x) // 2), order)
        return np.sum(np.tanh(table @ table.T) * W[:2, :2])

    wanted = jax.hessian(lambda x: jax.numpy.sum(jax.numpy.tanh(_table(x, order)) * W[:2, :2]))(X)
    np.testing.assert_allclose(s2s.hessian(f)(X), wanted, atol=1e-13)


def _table(x, order):
    table = x.reshape((2, 2), order=order)
    return table @ table.T


@pytest.mark.slow
def test_hessian_blocks():
    def f(w, b):
        return np.sum(np.tanh(W @ w + b) ** 2) + b * w[0]

    found = s2s.hessian(f, argnums=(0, 1))(X, 0.3)
    wanted = jax.hessian(lambda w, b: jax.numpy.sum(jax.numpy.tanh(W @ w + b) ** 2) + b * w[0], (0, 1))(X, 0.3)
    for i in range(2):
        for j in range(2):
            assert np.shape(found[i][j]) == np.shape(wanted[i][j])
            np.testing.assert_allclose(found[i][j], wanted[i][j], atol=1e-14)
    by_both = s2s.hvp(f, (X, 0.3), (V, 2.0), argnums=(0, 1))
    np.testing.assert_allclose(by_both[0], wanted[0][0] @ V + 2.0 * wanted[0][1], atol=1e-13)
    np.testing.assert_allclose(by_both[1], wanted[1][0] @ V + 2.0 * wanted[1][1], atol=1e-13)
    np.testing.assert_allclose(s2s.vhp(f, (X, 0.3), (V, 2.0), argnums=(0, 1))[0], by_both[0], atol=1e-13)


def test_hessian_of_many_results():
    found = s2s.hessian(lambda x: np.array([x[0] ** 3, x[0] * x[1]]))(X[:2])
    np.testing.assert_allclose(found, [[[6 * X[0], 0], [0, 0]], [[0, 1], [1, 0]]], atol=1e-14)


def test_hessian_of_a_dict():
    found = s2s.hessian(lambda p: p["a"] ** 2 * np.sum(p["b"]))({"a": 2.0, "b": X})
    assert found["a"]["a"] == pytest.approx(2.0 * np.sum(X))
    np.testing.assert_allclose(found["a"]["b"], np.full(4, 4.0))
    np.testing.assert_allclose(found["b"]["a"], np.full(4, 4.0))
    np.testing.assert_array_equal(found["b"]["b"], np.zeros((4, 4)))


@pytest.mark.slow
def test_jacobian_of_a_jacobian():
    def f(x):
        return np.sin(x) * x[0]

    wanted = jax.hessian(lambda x: jax.numpy.sin(x) * x[0])(X)
    for outer in (s2s.jacfwd, s2s.jacrev):
        for inner in (s2s.jacfwd, s2s.jacrev):
            np.testing.assert_allclose(outer(inner(f))(X), wanted, atol=1e-13)


def test_third_derivatives():
    found = s2s.jacfwd(s2s.hessian(rosenbrock))(X)
    np.testing.assert_allclose(found, columns(rosen_hess, X), rtol=1e-6, atol=1e-4)


def test_products_with_auxiliary_data_and_keywords():
    def f(x, power=2):
        return np.sum(x**power), len(x)

    for product in (s2s.hvp, s2s.vhp):
        found, aux = product(f, (X,), (V,), has_aux=True, power=3)
        np.testing.assert_allclose(found, 6.0 * X * V, rtol=1e-14)
        assert aux == 4


def test_a_product_as_a_function():
    np.testing.assert_allclose(s2s.hvp(rosenbrock)(X, V), rosen_hess_prod(X, V), rtol=1e-13)
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(20, 4)), np.ones(20)
    wanted = s2s.hvp(logistic, (X, A, y), (V, None, None))
    np.testing.assert_array_equal(s2s.hvp(logistic)(X, V, A, y), wanted)
    np.testing.assert_array_equal(s2s.hvp(logistic)(X, V, A, y=y), wanted)
    assert s2s.hvp(lambda p, power: p["a"] ** power, power=3)({"a": 2.0}, {"a": 1.0}) == {"a": 12.0}
    found, aux = s2s.hvp(lambda x: (np.sum(x**3), "done"), has_aux=True)(X, V)
    np.testing.assert_allclose(found, 6.0 * X * V, rtol=1e-14)
    assert aux == "done"
    with pytest.raises(ArgumentError, match="`hvp` without primals has the argument `argnums=1`"):
        s2s.hvp(logistic, argnums=1)


def test_products_refuse():
    with pytest.raises(NonScalarOutputError):
        s2s.hvp(stored, (X,), (V,))
    with pytest.raises(ArgumentError):
        s2s.hvp(rosenbrock, (X,), (V[:2],))


# --- others ---


def test_linearize():
    out, f_jvp = s2s.linearize(stored, X)
    np.testing.assert_array_equal(out, stored(X))
    np.testing.assert_allclose(f_jvp(V), columns(stored, X) @ V, rtol=1e-7)
    x = X.copy()
    out, f_jvp, aux = s2s.linearize(lambda x, y: (x * y, 7), x, 2.0, has_aux=True)
    x[:] = 0.0
    np.testing.assert_array_equal(f_jvp(V, 1.0), 2.0 * V + X)
    np.testing.assert_array_equal(f_jvp(None, 1.0), X)
    assert aux == 7


def test_elementwise_grad():
    slope = s2s.elementwise_grad(lambda x, a: np.sin(a * x))
    np.testing.assert_allclose(slope(X, 2.0), 2.0 * np.cos(2.0 * X), rtol=1e-14)
    by_both = s2s.elementwise_grad(lambda x, a: np.sin(a * x), argnums=(0, 1))(X, X)
    np.testing.assert_allclose(by_both[1], X * np.cos(X * X), rtol=1e-14)
    twice = s2s.elementwise_grad(s2s.elementwise_grad(np.sin))(X)
    np.testing.assert_allclose(twice, -np.sin(X), rtol=1e-14)
    assert s2s.elementwise_grad(lambda x: x**2)(3.0) == pytest.approx(6.0)


class Model:
    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x**2

    def step(self, x):
        return self.a * x**3


def test_kinds_of_functions():
    for f in (Model(2.0), functools.partial(lambda a, x: a * x**2, 2.0), s2s.differentiable(lambda x: 2.0 * x**2)):
        for of in JACOBIANS:
            np.testing.assert_allclose(of(f)(X), np.diag(4.0 * X), rtol=1e-15)
    np.testing.assert_allclose(s2s.jacfwd(Model(2.0).step)(X), np.diag(6.0 * X**2), rtol=1e-14)
    assert s2s.hessian(Model(2.0).step)(1.5) == pytest.approx(18.0)
    assert differences(lambda t: float(s2s.grad(Model(2.0).step)(t)), 1.5) == pytest.approx(18.0)


def test_the_sparsity_of_objects_is_refused():
    with pytest.raises(ArgumentError, match="sparsity pattern"):
        s2s.sparse_jacobian(lambda model: model.a**2)(Model(X.copy()))


def test_forms_with_keywords_and_lengths():
    for of in (s2s.jacfwd, s2s.jacrev):
        np.testing.assert_array_equal(of(lambda x: np.squeeze(x) * 2.0)(X), 2.0 * np.eye(4))
        np.testing.assert_array_equal(of(lambda x: np.full_like(x, fill_value=x[1]))(X)[:, 1], np.ones(4))
        found = of(lambda x: np.broadcast_to(array=x, shape=(2, 4)) * 3.0)(X)
        np.testing.assert_array_equal(found, [3.0 * np.eye(4)] * 2)


def test_names_and_documents():
    assert s2s.jacfwd(layer).__name__ == "layer_jacfwd"
    assert "layer" in s2s.jacobian(layer).__doc__
    results = doctest.testmod(s2s.transforms)
    assert results.attempted > 15 and not results.failed


def pair(x):
    return np.array([x[0] ** 2 * x[1], np.sin(x[1]) * x[2]])


def test_jacobians_by_sizes_are_differentiated_like_any_other():
    x = np.array([0.3, 0.5, 0.9])
    second = np.zeros((2, 3, 3))
    second[0, 0, 0], second[0, 0, 1], second[0, 1, 0] = 2 * x[1], 2 * x[0], 2 * x[0]
    second[1, 1, 1], second[1, 1, 2], second[1, 2, 1] = -np.sin(x[1]) * x[2], np.cos(x[1]), np.cos(x[1])
    np.testing.assert_allclose(s2s.jacobian(s2s.jacobian(pair))(x), second, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(s2s.jacrev(s2s.value_and_jacobian(pair))(x)[1], second, rtol=1e-13, atol=1e-15)
    _, dot = s2s.jvp(s2s.jacobian(pair), (x,), (np.ones(3),))
    np.testing.assert_allclose(dot, second.sum(axis=-1), rtol=1e-13, atol=1e-15)
    inside = s2s.grad(lambda x: np.sum(s2s.jacobian(pair)(x)))(x)
    np.testing.assert_allclose(inside, second.sum(axis=(0, 1)), rtol=1e-13)


def test_what_wraps_a_jacobian_is_a_function_of_its_own():
    jacobian = s2s.jacobian(lambda x: x**3)

    @functools.wraps(jacobian)
    def squared(x):
        return 2.0 * jacobian(x) ** 2

    assert s2s.grad(squared)(1.5) == pytest.approx(72.0 * 1.5**3, rel=1e-12)
    assert s2s.grad(lambda x: squared(x))(1.5) == pytest.approx(72.0 * 1.5**3, rel=1e-12)
