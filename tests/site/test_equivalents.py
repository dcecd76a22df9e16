"""The tables of the guide for those who come from other tools: both columns give the same."""

import re

import numpy as np
import pytest

import s2s
from tests.helpers import ROOT

TEXT = (ROOT / "docs" / "guides" / "migrate.md").read_text(encoding="utf-8")
X, V = np.array([0.3, -1.2, 0.7]), np.array([1.0, 0.5, -2.0])
BATCH = np.outer(X, V)


def f(x, np=np):
    return np.sum(np.sin(x) * x**2)


def vector(x, np=np):
    return np.cumsum(x * x)


def elementwise(x, np=np):
    return np.tanh(x) * x


def rows(w, x, np=np):
    return np.sum(np.tanh(w * x))


def stopped(x):
    return np.sum(x * s2s.stop_gradient(x))


def of_autograd(np):
    import autograd

    def at(g):
        return lambda x: g(x, np)

    return {
        "grad(f, argnum=1)": (
            s2s.grad(lambda a, x: a * f(x), argnums=1)(2.0, X),
            autograd.grad(lambda a, x: a * f(x, np), argnum=1)(2.0, X),
        ),
        "value_and_grad(f)": (s2s.value_and_grad(f)(X), autograd.value_and_grad(at(f))(X)),
        "elementwise_grad(f)": (s2s.elementwise_grad(elementwise)(X), autograd.elementwise_grad(at(elementwise))(X)),
        "jacobian(f)": (s2s.jacobian(vector)(X), autograd.jacobian(at(vector))(X)),
        "hessian(f)": (s2s.hessian(f)(X), autograd.hessian(at(f))(X)),
        "hessian_vector_product(f)(x, v)": (s2s.hvp(f)(X, V), autograd.hessian_vector_product(at(f))(X, V)),
        "make_vjp(f)(x)": (s2s.vjp(vector, X)[1](V)[0], autograd.make_vjp(at(vector))(X)[0](V)),
        "make_jvp(f)(x)(v)": (s2s.jvp(vector, (X,), (V,)), autograd.make_jvp(at(vector))(X)(V)),
    }


def of_jax(np):
    import jax

    def at(g):
        return lambda x: g(x, np)

    aux = (lambda x: (f(x), x + 1.0)), (lambda x: (f(x, np), x + 1.0))
    return {
        "jax.grad(f, argnums=(0, 1))": (
            s2s.grad(lambda a, x: a * f(x), argnums=(0, 1))(2.0, X),
            jax.grad(lambda a, x: a * f(x, np), argnums=(0, 1))(2.0, X),
        ),
        "has_aux=True": (s2s.grad(aux[0], has_aux=True)(X), jax.grad(aux[1], has_aux=True)(X)),
        "jax.value_and_grad(f)": (s2s.value_and_grad(f)(X), jax.value_and_grad(at(f))(X)),
        "jax.vjp(f, x)": (s2s.vjp(vector, X)[1](V), jax.vjp(at(vector), X)[1](V)),
        "jax.jvp(f, (x,), (v,))": (s2s.jvp(vector, (X,), (V,)), jax.jvp(at(vector), (X,), (V,))),
        "jax.linearize(f, x)": (s2s.linearize(vector, X)[1](V), jax.linearize(at(vector), X)[1](V)),
        "jax.jacfwd": (s2s.jacfwd(vector)(X), jax.jacfwd(at(vector))(X)),
        "jax.jacrev": (s2s.jacrev(vector)(X), jax.jacrev(at(vector))(X)),
        "jax.hessian": (s2s.hessian(f)(X), jax.hessian(at(f))(X)),
        "jax.jvp(jax.grad(f), (x,), (v,))[1]": (
            s2s.hvp(f, (X,), (V,)), jax.jvp(jax.grad(at(f)), (X,), (V,))[1],
        ),
        "jax.vmap(f, in_axes=(None, 0))": (
            s2s.map(rows, in_axes=(None, 0))(V, BATCH),
            jax.vmap(lambda w, x: rows(w, x, np), in_axes=(None, 0))(V, BATCH),
        ),
        "lax.stop_gradient(x)": (
            s2s.grad(stopped)(X),
            jax.grad(lambda x: np.sum(x * jax.lax.stop_gradient(x)))(X),
        ),
        "jax.checkpoint(f)": (s2s.grad(s2s.checkpoint(f))(X), jax.grad(jax.checkpoint(at(f)))(X)),
    }


def of_torch(torch):
    def t(x):
        return torch.sum(torch.sin(x) * x**2)

    x, v = torch.tensor(X, requires_grad=True), torch.tensor(V)
    slope = torch.autograd.grad(t(x), x)[0]
    functional = torch.autograd.functional
    detached = torch.autograd.grad(torch.sum(x * x.detach()), x)[0]
    return {
        "torch.autograd.grad(f(x), x)": (s2s.grad(f)(X), slope),
        "torch.autograd.functional.jacobian(f, x)": (
            s2s.jacobian(vector)(X), functional.jacobian(lambda y: torch.cumsum(y * y, 0), x),
        ),
        "`hessian`": (s2s.hessian(f)(X), functional.hessian(t, x)),
        "`hvp`": (s2s.hvp(f, (X,), (V,)), functional.hvp(t, x, v)[1]),
        "`vhp`": (s2s.vhp(f, (X,), (V,)), functional.vhp(t, x, v)[1]),
        "torch.func.grad(f)": (s2s.grad(f)(X), torch.func.grad(t)(x.detach())),
        "x.detach()": (s2s.grad(stopped)(X), detached),
    }


def same(ours, theirs):
    if isinstance(ours, (tuple, list)):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    theirs = theirs.detach() if hasattr(theirs, "detach") else theirs
    return np.allclose(ours, np.asarray(theirs), rtol=1e-5, atol=1e-6)


def check(rows):
    for cell, (ours, theirs) in rows.items():
        assert cell in TEXT, cell
        assert same(ours, theirs), cell


def test_rows_of_autograd():
    pytest.importorskip("autograd")
    import autograd.numpy

    check(of_autograd(autograd.numpy))


@pytest.mark.slow
def test_rows_of_jax():
    pytest.importorskip("jax")
    import jax.numpy

    check(of_jax(jax.numpy))


def test_rows_of_torch():
    check(of_torch(pytest.importorskip("torch")))


def test_torch_loses_derivatives_of_numbers_and_s2s_carries_them():
    torch = pytest.importorskip("torch")
    x = torch.tensor(0.5, requires_grad=True, dtype=torch.float64)
    assert not isinstance(x.item() ** 2, torch.Tensor)
    assert s2s.grad(lambda y: float(y) ** 2 + y.item())(np.float64(0.5)) == 2.0


def test_torch_refuses_changes_that_s2s_undoes():
    torch = pytest.importorskip("torch")

    def changed(x):
        y = x * 1.0
        z = y * y
        y[0] = 5.0
        return z.sum()

    with pytest.raises(RuntimeError, match="inplace"):
        changed(torch.tensor(X, requires_grad=True)).backward()
    np.testing.assert_allclose(s2s.grad(changed)(X), 2.0 * X)


def test_the_side_of_where_that_is_not_taken_leaves_no_nan():
    x = np.array([-1.0, 4.0])
    with np.errstate(invalid="ignore"):
        slope = s2s.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x)
    np.testing.assert_array_equal(slope, [0.0, 0.25])


def test_names_of_ours_in_the_tables_exist():
    for name in set(re.findall(r"(?<![\w/])s2s((?:\.[a-zA-Z]\w*)+)", TEXT)):
        found = s2s
        for part in name[1:].split("."):
            found = getattr(found, part)


# --- rows that say how a program is written -------------------------------------------------------------------------


def rows_of_idioms(jax, jnp):
    """What the tables have of JAX's ways, beside the way it is written here: two gradients that are the same."""
    lax = jax.lax

    def branch(x):
        return x[0] * x[1] if x[0] > 0.0 else np.sum(x)

    def repeated(x):
        for _ in range(4):
            x = np.sin(x)
        return np.sum(x)

    def scanned(x):
        total, out = 0.0, np.empty(3)
        for k, v in enumerate(x):
            total = total + v * v
            out[k] = total
        return np.prod(out)

    def searched(x):
        y = x * x
        while np.sum(y) > 0.5:
            y = 0.5 * y
        return np.sum(y * x)

    def stored(x):
        y = x * 2.0
        y[1] = x[0] ** 2
        np.add.at(y, [0, 0], x[1])
        y[2] += x[2]
        return np.sum(y * y)

    def chosen(x, how):
        match how:
            case "square":
                return np.sum(x * x)
            case _:
                return np.sum(x)

    def scan(total, v):
        return total + v * v, total + v * v

    def added(x):
        y = (2.0 * x).at[1].set(x[0] ** 2)
        y = y.at[jnp.array([0, 0])].add(x[1])
        return jnp.sum(y.at[2].add(x[2]) ** 2)

    return {
        "`lax.cond`": (
            s2s.grad(branch), jax.grad(lambda x: lax.cond(x[0] > 0.0, lambda: x[0] * x[1], lambda: x.sum())),
        ),
        "`lax.switch`": (
            lambda x: s2s.grad(chosen)(x, "square"),
            jax.grad(lambda x: lax.switch(0, [lambda: jnp.sum(x * x), lambda: jnp.sum(x)])),
        ),
        "static_argnums": (
            lambda x: s2s.grad(chosen)(x, "other"),
            lambda x: jax.jit(
                jax.grad(lambda x, how: jnp.sum(x * x if how == "square" else x)), static_argnums=1)(x, "other"),
        ),
        "lax.fori_loop": (
            s2s.grad(repeated), jax.grad(lambda x: jnp.sum(lax.fori_loop(0, 4, lambda k, x: jnp.sin(x), x))),
        ),
        "`lax.scan`": (s2s.grad(scanned), jax.grad(lambda x: jnp.prod(lax.scan(scan, 0.0, x)[1]))),
        "`lax.while_loop`": (
            s2s.jacfwd(searched),
            jax.jacfwd(lambda x: jnp.sum(lax.while_loop(lambda y: jnp.sum(y) > 0.5, lambda y: 0.5 * y, x * x) * x)),
        ),
        "x.at[i].set(v)": (s2s.grad(stored), jax.grad(added)),
        "jax.jit(f)": (s2s.grad(f), jax.jit(jax.grad(lambda x: f(x, jnp)))),
    }


@pytest.mark.slow
def test_idioms_of_jax_have_the_same_gradients():
    jax = pytest.importorskip("jax")
    for cell, (ours, theirs) in rows_of_idioms(jax, jax.numpy).items():
        assert cell in TEXT, cell
        assert same(ours(X), theirs(X)), cell


def rule_of_square(out, out_bar, x):
    return 3.0 * out_bar * x


def test_rules_of_ones_own_give_what_those_of_the_others_give():
    """Of a function whose rule is wrong on purpose, so that it shows: three halves of the derivative."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    ag = pytest.importorskip("autograd.extend")
    import autograd

    @s2s.custom_gradient
    def square(x):
        return x * x, lambda g: 3.0 * g * x

    def registered(x):
        return x * x

    s2s.defvjp(registered, rule_of_square)
    s2s.defjvp(registered, lambda out, dots, x: 3.0 * dots[0] * x)

    @jax.custom_vjp
    def of_jax(x):
        return x * x

    of_jax.defvjp(lambda x: (x * x, x), lambda x, g: (3.0 * g * x,))
    of_autograd = ag.primitive(lambda x: x * x)
    ag.defvjp(of_autograd, lambda ans, x: lambda g: 3.0 * g * x)

    class OfTorch(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 3.0 * g * ctx.saved_tensors[0]

    x = torch.tensor(X, requires_grad=True)
    OfTorch.apply(x).sum().backward()
    found = [
        s2s.grad(lambda x: np.sum(square(x)))(X), s2s.grad(lambda x: np.sum(registered(x)))(X),
        s2s.jvp(registered, (X,), (np.ones(3),))[1],
        jax.grad(lambda x: of_jax(x).sum())(X), autograd.grad(lambda x: of_autograd(x).sum())(X), x.grad,
    ]
    assert all(same(3.0 * X, slope) for slope in found)


def test_hooks_clip_as_those_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.tensor(X, requires_grad=True)
    y = x * x
    y.register_hook(lambda g: g.clamp(-1.0, 1.0))
    (y**2).sum().backward()
    clip = s2s.insert_in_reverse(lambda g: np.clip(g, -1.0, 1.0))
    assert same(s2s.grad(lambda x: np.sum(clip(x * x) ** 2))(X), x.grad)


def test_a_training_step_is_that_of_torch():
    torch = pytest.importorskip("torch")
    p = torch.tensor(X, requires_grad=True)
    optimizer = torch.optim.Adam([p], lr=1e-3)
    for _ in range(5):
        optimizer.zero_grad()
        torch.sum(torch.sin(p) * p**2).backward()
        optimizer.step()
    assert same(s2s.optim.Adam(1e-3).minimize(f, X.copy(), steps=5).params, p)
