"""Programs of JAX and PyTorch in which one function is of NumPy, against the same programs with their own."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from s2s.interop import to_jax, to_torch

rng = np.random.default_rng(12)


class Pair(NamedTuple):
    a: Any
    b: Any


def pendulum(np, state, u):
    q, p = state
    p = p - 0.1 * np.sin(q) + 0.01 * u
    return q + 0.1 * p, p


def network(np, p, x):
    h = np.tanh(p["layers"][0]["w"] @ x + p["layers"][0]["b"])
    return {"y": p["layers"][1]["w"] @ h, "aux": (np.sum(h), h * 2)}


def rosenbrock(np, x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def picked(np, x, places, mask, mode="sum"):
    y = x[places] * mask
    return np.sum(y**2) if mode == "sum" else np.max(y)


def several(np, x):
    return np.sort(x), np.argmax(x), np.sum(x), x > 0


def decay(np, x, rate):
    return np.cumsum(np.exp(-x * rate), 0)


def solved(np, a, b):
    return np.linalg.solve(a @ a.T + 3 * np.eye(3), b)


def layer(np, x, w, b):
    return np.tanh(x @ w + b)


# --- JAX ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["float32", "float64"])
def jax(request):
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param == "float64")
    yield jax
    jax.config.update("jax_enable_x64", before)


def in_jax(jax):
    """The programs: a function of the module, and a program of JAX that is given that function."""
    jnp, x = jax.numpy, np.array([0.3, -0.8, 1.2, 0.5])
    params = {"layers": [{"w": np.ones((4, 3)) * [0.1, 0.2, 0.3], "b": np.arange(4.0)}, {"w": np.ones((2, 4)) / 3}]}
    params = jax.tree.map(jnp.asarray, params)
    a, b = jnp.asarray(np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3)), jnp.arange(3.0)
    x = jnp.asarray(x)
    places, mask = jnp.array([0, 2, 2]), jnp.array([True, False, True])

    def rolled(f):
        def run(state, us):
            (q, p), ys = jax.lax.scan(lambda c, u: (f(c, u), f(c, u)[0] ** 2), state, us)
            return q * p + jnp.sum(ys)

        return jax.jit(jax.grad(run, (0, 1)))((jnp.asarray(0.3), jnp.asarray(0.1)), jnp.linspace(0.0, 1.0, 6))

    def of_network(f):
        def number(p, x):
            found = f(p, x)
            return jnp.sum(found["y"] ** 2) + found["aux"][0] + jnp.sum(found["aux"][1])

        rows = jnp.linspace(0.0, 1.0, 15).reshape(5, 3)
        return jax.grad(number, (0, 1))(params, rows[1]), jax.vmap(jax.grad(number), (None, 0))(params, rows)

    def descended(f):
        def run(x):
            return jax.lax.scan(lambda x, _: (x - 0.01 * jax.grad(f)(x), f(x)), x, None, length=4)

        return jax.jit(run)(x), jax.grad(lambda x: run(x)[1].sum())(x)

    def third(f):
        return jax.grad(lambda x: jnp.sum(jax.jacrev(jax.grad(f))(x) @ x))(x)

    def chosen(f):
        def run(a, b):
            return jax.lax.cond(b[1] > 0, lambda: jnp.sum(f(a, b) ** 2), lambda: jnp.sum(f(a, b) ** 3))

        return jax.jit(jax.grad(run, (0, 1)))(a, b), jax.vmap(f, (None, 1), 1)(a, jnp.ones((3, 4)))

    def sorted_number(f, x):
        return jnp.sum(f(x)[0] * jnp.arange(4.0)) + f(x)[2], f(x)[1]

    return {
        "scan": (pendulum, rolled), "trees": (network, of_network), "scan of gradients": (rosenbrock, descended),
        "third derivatives": (rosenbrock, third),
        "Hessians of samples": (rosenbrock, lambda f: jax.vmap(jax.jacrev(jax.grad(f)))(jnp.stack([x, 2 * x]))),
        "checkpoint": (rosenbrock, lambda f: jax.grad(jax.checkpoint(lambda x: f(jnp.sin(x))))(x)),
        "integers": (picked, lambda f: jax.jit(jax.grad(f))(x, places, mask)),
        "keywords": (picked, lambda f: jax.grad(lambda x: f(x, places, mask, mode="max"))(x)),
        "several results": (several, lambda f: (
            f(x), jax.value_and_grad(lambda x: sorted_number(f, x), has_aux=True)(x))),
        "systems in a branch": (solved, chosen),
        "named tuples": (lambda np, p, n: Pair(p.a * n + p.b, np.sum(p.a) * p.b), lambda f: jax.grad(
            lambda p: jnp.sum(f(p, 3).a ** 2) + f(p, 3).b)(Pair(x, jnp.asarray(2.0)))),
        "single precision": (decay, lambda f: jax.vjp(f, x.astype("float32"), jnp.float32(0.5))[1](
            jnp.ones(4, "float32"))),
        "two precisions": (decay, lambda f: jax.grad(lambda x, s: jnp.sum(f(x, s)), (0, 1))(
            x.astype("float32"), jnp.asarray(0.5))),
        "nothing": (rosenbrock, lambda f: (jax.vmap(f)(jnp.ones((0, 3))), jax.grad(lambda x: f(x))(jnp.ones(1)))),
    }


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("name", [
    "scan", "trees", "scan of gradients", "third derivatives",
    pytest.param("Hessians of samples", marks=pytest.mark.slow), "checkpoint", "integers", "keywords",
    "several results", "systems in a branch", "named tuples", "single precision", "two precisions", "nothing",
])
def test_programs_of_jax(jax, name):
    f, program = in_jax(jax)[name]
    ours = program(to_jax(lambda *args, **kwargs: f(np, *args, **kwargs)))
    theirs = program(lambda *args, **kwargs: f(jax.numpy, *args, **kwargs))
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    is_double = jax.config.jax_enable_x64 and "precision" not in name
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (np.shape(one), one.dtype) == (np.shape(other), other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-9 if is_double else 5e-4, atol=1e-10 if is_double else 2e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_in_jax(jax, dtype):
    """NumPy has no bfloat16: its gradient was zero, without a word."""
    x = jax.numpy.asarray([0.5, -1.0, 2.0], dtype)
    value, bar = jax.value_and_grad(lambda x: to_jax(lambda x: np.sum(x * x))(x))(x)
    assert value.dtype == bar.dtype == x.dtype and bar.tolist() == [1.0, -2.0, 4.0] and float(value) == 5.25
    mixed = jax.grad(lambda x, y: to_jax(lambda x, y: np.sum(x * y))(x, y), (0, 1))(x, x.astype("float32") * 3)
    assert [bar.dtype.name for bar in mixed] == [dtype, "float32"] and mixed[0].tolist() == [1.5, -3.0, 6.0]


# --- PyTorch --------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def trained(torch, f, optimizer):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 6).reshape(3, 2))
            self.b, self.last = torch.nn.Parameter(torch.zeros(2)), torch.nn.Linear(2, 1)

        def forward(self, x):
            return self.last(f(x, self.w, self.b))

    torch.manual_seed(2)
    model, x, y = Model(), torch.randn(8, 3), torch.randn(8, 1)
    steps = optimizer(model.parameters(), lr=0.1)
    for _ in range(4):
        steps.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        steps.step()
    return [parameter.detach() for parameter in model.parameters()]


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_a_module_is_trained(torch, optimizer):
    ours, theirs = (
        trained(torch, f, getattr(torch.optim, optimizer))
        for f in (to_torch(lambda *args: layer(np, *args)), lambda *args: layer(torch, *args)))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def in_torch(torch):
    x = torch.tensor([0.3, -0.8, 1.2, 0.5], dtype=torch.float64, requires_grad=True)
    still, grid = torch.arange(4.0, dtype=torch.float64), torch.linspace(0.0, 1.0, 12, dtype=torch.float64)
    wide, rows = grid.reshape(4, 3).requires_grad_(), grid.detach().reshape(3, 4)
    grad = torch.autograd.grad

    def cubes(np, a):
        return np.sum(a * a * a)

    def mixed(np, a, b):
        return a * b, np.sum(a), {"z": np.sin(b)}

    def again(f):
        (g,) = grad(f(x), x, create_graph=True)
        (h,) = grad((g**2).sum(), x, create_graph=True)
        return g.detach(), h.detach(), *grad(h.sum(), x)

    def without(f):
        with torch.no_grad():
            first = f(x)
        with torch.inference_mode():
            return first, f(x).clone()

    def hooked(f):
        q, seen = torch.ones(4, dtype=torch.float64, requires_grad=True), []
        q.register_hook(lambda g: seen.append(g.clone()))
        out = f(q * 2)
        out.backward(retain_graph=True)
        out.backward()
        return *seen, q.grad

    def minimized(f):
        q = torch.ones(3, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([q], max_iter=5)

        def closure():
            optimizer.zero_grad()
            out = f(q)
            out.backward()
            return out

        optimizer.step(closure)
        return (q.detach(),)

    single = x.detach().float().requires_grad_()
    half = x.detach().bfloat16().requires_grad_()
    return {
        "derivatives of derivatives": (rosenbrock, again), "without gradients": (rosenbrock, without),
        "hooks": (rosenbrock, hooked), "LBFGS": (rosenbrock, minimized),
        "some require gradients": (mixed, lambda f: (
            *grad((f(x, still)[0] * 2).sum() + f(x, still)[1], x), *f(still, still)[:2], *f(x, still)[:2])),
        "one result is used": (mixed, lambda f: grad(f(x, x)[2]["z"].sum(), x)),
        "strides": (cubes, lambda f: (
            *grad(f(wide.T[:, ::2]), wide), *grad(f(wide[:1].expand(4, 3)), wide), *grad(f(wide.flip(0)), wide))),
        "single precision": (cubes, lambda f: (f(single), *grad(f(single), single))),
        "bfloat16": (cubes, lambda f: (f(half), *grad(f(half), half))),
        "two precisions": (lambda np, a, b: np.sum(a * b), lambda f: grad(f(single, x), (single, x))),
        "samples": (rosenbrock, lambda f: (
            torch.vmap(torch.func.grad(f))(rows), torch.vmap(f, 1)(rows.T),
            torch.func.jacrev(torch.func.jacrev(f))(rows[0]))),
        "integers": (picked, lambda f: grad(f(x, torch.tensor([0, 2, 2]), torch.tensor([True, False, True])), x)),
    }


@pytest.mark.parametrize("name", [
    "derivatives of derivatives", "without gradients", "hooks", "LBFGS", "some require gradients", "one result is used",
    "strides", "single precision", "bfloat16", "two precisions", "samples", "integers",
])
def test_programs_of_pytorch(torch, name):
    f, program = in_torch(torch)[name]
    ours = program(to_torch(lambda *args: f(np, *args)))
    theirs = program(lambda *args: f(torch, *args))
    loose = 1e-2 if name == "bfloat16" else 1e-5 if "precision" in name else 1e-9
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=loose, atol=loose)
        assert one.requires_grad == other.requires_grad


def test_gradcheck_of_both_orders(torch):
    x = torch.tensor([0.3, -0.8, 1.2], dtype=torch.float64, requires_grad=True)
    f = to_torch(lambda x: decay(np, x, 0.7))
    assert torch.autograd.gradcheck(f, (x,)) and torch.autograd.gradgradcheck(f, (x,))
