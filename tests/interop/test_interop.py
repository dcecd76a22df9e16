"""NumPy functions with their derivatives inside JAX and PyTorch, against the same functions written for these."""

import doctest

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError
from s2s.interop import to_jax, to_torch

rng = np.random.default_rng(3)
PARAMS = {"a": rng.normal(size=(3, 3)), "b": 0.7}
X = rng.normal(size=3)


def simulate(params, x, steps, np=np):
    for _ in range(steps):
        x = np.tanh(params["a"] @ x) * params["b"]
    return np.sum(x * x)


def spread(x, np=np):
    return np.cumsum(x * x, 0), {"first": np.sin(x[0]) * 2.0}


# --- JAX ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def same(jax, found, expected):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12), found, expected)


@pytest.mark.slow
def test_gradients_in_jax(jax):
    ours, theirs = to_jax(simulate), lambda p, x, steps: simulate(p, x, steps, jax.numpy)
    same(jax, ours(PARAMS, X, 2), theirs(PARAMS, X, 2))
    same(jax, jax.grad(ours, (0, 1))(PARAMS, X, 2), jax.grad(theirs, (0, 1))(PARAMS, X, 2))

    def inside(f):
        return lambda x: jax.numpy.exp(f(PARAMS, jax.numpy.sin(x), 3)) * x[0]

    same(jax, jax.jit(jax.value_and_grad(inside(ours)))(X), jax.value_and_grad(inside(theirs))(X))


@pytest.mark.slow
def test_second_and_third_derivatives_in_jax(jax):
    ours, theirs = to_jax(spread), lambda x: spread(x, jax.numpy)
    same(jax, jax.jacrev(ours)(X), jax.jacrev(theirs)(X))
    same(jax, jax.jit(jax.jacrev(jax.jacrev(ours)))(X), jax.jacrev(jax.jacrev(theirs))(X))
    third = [jax.grad(lambda x, f=f: jax.grad(lambda x: jax.grad(lambda x: f(x)[1]["first"])(x)[0])(x)[0])
             for f in (ours, theirs)]
    same(jax, third[0](X), third[1](X))


def test_samples_in_jax_call_the_host_once(jax):
    calls = []

    def counted(x, shift):
        calls.append(x.shape)
        return np.sum(np.tanh(x + shift) ** 2)

    ours = to_jax(counted, result=lambda x, shift: np.float64(0.0))
    Xs = rng.normal(size=(4, 2, 3))
    found = jax.vmap(jax.vmap(jax.grad(ours), (0, None)), (0, None))(Xs, 0.5)
    t = np.tanh(Xs + 0.5)
    np.testing.assert_allclose(found, 2 * t * (1 - t * t), rtol=1e-12)
    assert all(shape == (3,) for shape in calls)
    np.testing.assert_allclose(
        jax.jit(jax.vmap(ours))(Xs[0], np.array([0.1, 0.2])),
        [counted(Xs[0, 0], 0.1), counted(Xs[0, 1], 0.2)], rtol=1e-12)


def test_single_precision_keywords_and_integers_in_jax(jax):
    def power(x, n, *, scale=1.0):
        return scale * x**n

    x = np.arange(1.0, 4.0, dtype=np.float32)
    found = jax.jacrev(lambda x: to_jax(power)(x, 3, scale=2.0))(x)
    np.testing.assert_allclose(found, np.diag(6 * x**2), rtol=1e-5)

    def picked(x, k):
        return np.sum(x[k] ** 2)

    places = np.array([0, 0, 2])
    np.testing.assert_allclose(jax.grad(to_jax(picked))(X, places), [4 * X[0], 0.0, 2 * X[2]])


def test_forward_mode_in_jax_is_refused_by_jax(jax):
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.jvp(to_jax(lambda x: np.sum(x)), (X,), (X,))


# --- PyTorch --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def tensors(torch):
    params = {"a": torch.tensor(PARAMS["a"], requires_grad=True), "b": torch.tensor(0.7, dtype=torch.float64)}
    return params, torch.tensor(X, requires_grad=True)


def test_gradients_in_torch(torch):
    params, x = tensors(torch)
    for steps in (1, 3):
        found = torch.autograd.grad(torch.exp(to_torch(simulate)(params, torch.sin(x), steps)) * x[0], (params["a"], x))
        expected = torch.autograd.grad(torch.exp(simulate(params, torch.sin(x), steps, torch)) * x[0], (params["a"], x))
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def test_torch_checks_first_and_second_derivatives(torch):
    x = torch.tensor(X, requires_grad=True)
    f = to_torch(spread)
    flat = lambda x: (f(x)[0], f(x)[1]["first"])
    assert torch.autograd.gradcheck(flat, (x,)) and torch.autograd.gradgradcheck(flat, (x,))


def test_samples_and_functional_derivatives_in_torch(torch):
    Xs = torch.tensor(rng.normal(size=(4, 3)))
    params, _ = tensors(torch)
    params = {key: value.detach() for key, value in params.items()}
    ours, theirs = to_torch(simulate), lambda p, x, n: simulate(p, x, n, torch)
    np.testing.assert_allclose(
        torch.vmap(lambda x: ours(params, x, 2))(Xs), torch.vmap(lambda x: theirs(params, x, 2))(Xs), rtol=1e-10)
    per_sample = [torch.vmap(torch.func.grad(lambda x, f=f: f(params, x, 2)))(Xs) for f in (ours, theirs)]
    np.testing.assert_allclose(*per_sample, rtol=1e-10)
    hessian = [torch.func.jacrev(torch.func.jacrev(lambda x, f=f: f(params, x, 2)))(Xs[0]) for f in (ours, theirs)]
    np.testing.assert_allclose(*hessian, rtol=1e-9, atol=1e-12)


def test_integers_and_single_precision_in_torch(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    places = torch.tensor([0, 0, 2])
    value = to_torch(lambda x, k: np.sum(x[k] ** 2))(x, places)
    value.backward()
    assert value.dtype == torch.float32 and x.grad.tolist() == [4.0, 0.0, 6.0]


def test_a_tensor_elsewhere_is_refused(torch):
    with pytest.raises(ArgumentError, match="S2S721"):
        to_torch(lambda x: x)(torch.ones(2, device="meta"))


def test_tensors_that_would_get_no_gradient_are_refused(torch):
    """By keyword, or from around the function: autograd would see nothing of them, and leave their part out."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    square = to_torch(lambda x, scale=1.0: x * x * scale)
    for call in (lambda: square(x=x), lambda: square(x, scale=[x]), lambda: to_torch(lambda y: (y, x * 2.0))(x)):
        with pytest.raises(ArgumentError, match="S2S722"):
            call()
    (square(x, scale=3.0) + x).sum().backward()
    np.testing.assert_allclose(x.grad, [7.0, 13.0])


# --- both -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [to_jax, to_torch])
def test_a_numpy_simulator_that_writes_in_place(function):
    module = pytest.importorskip(function.__name__.removeprefix("to_"))

    def heat(u, steps):
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(u**2)

    start = rng.normal(size=8)
    step = 1e-6 * np.eye(8)
    expected = [(heat(start + e, 4) - heat(start - e, 4)) / 2e-6 for e in step]
    if function is to_jax:
        found = module.grad(to_jax(heat))(start.astype(np.float32), 4)
    else:
        x = module.tensor(start, requires_grad=True)
        to_torch(heat)(x, 4).backward()
        found = x.grad.numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("function", [to_jax, to_torch])
def test_bad_input_and_examples(function):
    pytest.importorskip(function.__name__.removeprefix("to_"))
    with pytest.raises(ArgumentError, match="S2S507"):
        function(3.0)
    for test in doctest.DocTestFinder(recurse=False).find(function, globs={"s2s": s2s}):
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


# --- complex numbers ------------------------------------------------------------------------------------------------

REAL, COMPLEX = np.array([0.3, 0.7]), np.array([0.3 + 1j, 0.7 - 0.2j])
OF_COMPLEX = {
    "from real": (lambda xp: lambda x: xp.exp(2j * x) * x, (REAL,)),
    "holomorphic": (lambda xp: lambda z: z**3, (COMPLEX,)),
    "to real": (lambda xp: lambda z: xp.sum(xp.abs(z) ** 2), (COMPLEX,)),
    "conjugate": (lambda xp: lambda z, x: xp.conj(z) * x, (COMPLEX, REAL)),
    "both": (lambda xp: lambda z, x: (z * x, xp.real(z) * x**2), (COMPLEX, REAL)),
}


def real_number(values, xp, is_complex):
    """A real number of arrays, in which their parts do not stand alike."""
    parts = [v for value in values for v in ((xp.real(value), xp.imag(value)) if is_complex(value) else (value,))]
    return sum([xp.sum(part**3) + (k + 1) * xp.sum(part) for k, part in enumerate(parts)])


def in_tuple(value):
    return value if isinstance(value, (tuple, list)) else (value,)


@pytest.mark.slow
@pytest.mark.grid(0.4)
@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_numbers_in_jax(jax, name):
    make, args = OF_COMPLEX[name]
    places = tuple(range(len(args)))

    def number(values):
        return real_number(values, jax.numpy, jax.numpy.iscomplexobj)

    def gradients(f):
        first = jax.grad(lambda *x: number(in_tuple(f(*x))), places)
        return first(*args), jax.grad(lambda *x: number(first(*x)), places)(*args)

    for found, expected in zip(gradients(to_jax(make(np))), gradients(make(jax.numpy))):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_numbers_in_pytorch(name):
    torch = pytest.importorskip("torch")
    make, args = OF_COMPLEX[name]

    def gradients(f):
        given = [torch.tensor(a, requires_grad=True) for a in args]
        first = torch.autograd.grad(real_number(in_tuple(f(*given)), torch, torch.is_complex), given, create_graph=True)
        return first, torch.autograd.grad(real_number(first, torch, torch.is_complex), given)

    for found, expected in zip(gradients(to_torch(make(np))), gradients(make(torch))):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=0.0)
