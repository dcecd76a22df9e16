"""Rules that users write: both modes from either half, first and second derivatives, wherever a call stands."""

import ctypes
import ctypes.util
import functools
import math
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy import integrate

import s2s
from s2s import derivatives, errors
from s2s.rules import table
from tests.helpers import derivatives_of, differences

X = np.array([0.4, 1.2, -0.7])


@pytest.fixture(autouse=True)
def own_rules(monkeypatch):
    """Rules that a test gives to functions of NumPy and Python end with the test. A rule makes all derivatives anew:
    those that other tests have left, thousands in a long run, are none of them."""
    monkeypatch.setattr(table, "_of_users", dict(table._of_users))
    monkeypatch.setattr(table, "FOREIGN", list(table.FOREIGN))
    with monkeypatch.context() as during:
        during.setattr(derivatives, "_made", weakref.WeakSet(derivatives_of(__name__)))
        yield
        monkeypatch.undo()
        derivatives.forget()


# --- functions with rules -------------------------------------------------------------------------------------------


def norm(x):
    return np.sqrt(np.sum(x * x))


@s2s.defvjp(norm)
def norm_vjp(out, out_bar, x):
    return out_bar * x / out


def product(a, b):
    return a * b


@s2s.defjvp(product)
def product_jvp(out, tangents, a, b):
    a_dot, b_dot = tangents
    return a_dot * b + a * b_dot


def tenfold(x):
    """A square whose rule says five times its derivative, so that tests see which of the two was used."""
    return x * x


@s2s.defvjp(tenfold)
def tenfold_vjp(out, out_bar, x):
    return 10.0 * x * out_bar


class External:
    """A function without source: what its ``__call__`` does cannot be followed."""

    def __call__(self, x):
        return eval("x ** 3")


external = External()
s2s.defvjp(external, lambda out, out_bar, x: 3.0 * x**2 * out_bar)

SLOPE = 3.0


def leaky(x):
    return np.where(x > 0, x, SLOPE * x)


@s2s.defvjp(leaky)
def leaky_vjp(out, out_bar, x):
    x_bar = np.empty_like(x)
    for i in range(len(x)):
        x_bar[i] = out_bar[i] if x[i] > 0 else SLOPE * out_bar[i]
    return (x_bar,)


def sincos(x):
    return np.sin(x), np.cos(x)


@s2s.defvjp(sincos)
def sincos_vjp(out, out_bar, x):
    return out_bar[0] * out[1] - out_bar[1] * out[0]


# --- first and second derivatives -----------------------------------------------------------------------------------


def use_norm(x):
    return 3.0 * norm(x[1:]) ** 2 + norm(x)


def use_product(x):
    return np.sum(product(x, np.sin(x)) * product(2.0, x))


def use_external(x):
    return float(external(x[0] * x[1]) + x[2] * external(x[2]))


def use_leaky(x):
    return np.sum(leaky(x * x[1]) ** 2)


def use_sincos(x):
    s, c = sincos(x)
    return np.sum(s * c * c)


def in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += product(x[i], x[i - 1]) ** 2
        else:
            total = product(total, x[i])
    return total


def in_a_while_loop(x):
    y, n = x[0], 0
    while n < 4:
        y = product(y, 0.5 + y * x[1])
        n += 1
    return y


def with_stores(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = product(x[i], x[0])
    y[1:] *= leaky(y)[:-1]
    s, c = sincos(y)
    s = s * 1.0
    s[0] = c[1]
    return np.sum(s * c)


def in_a_try(x):
    try:
        return product(x[2], x[1]) * math.log(x[0])
    except ValueError:
        return product(x[0], x[1])


BANK = [
    use_norm, use_product, use_external, use_leaky, use_sincos, in_a_loop, in_a_while_loop, with_stores, in_a_try,
]


def hessian_by_differences(f, x, h=1e-5):
    steps = h * np.eye(len(x))
    return np.array([(s2s.grad(f)(x + e) - s2s.grad(f)(x - e)) / (2 * h) for e in steps])


@pytest.mark.parametrize("f", BANK, ids=lambda f: f.__name__)
def test_derivatives(f):
    expected = differences(f, X)
    v = np.array([0.3, -0.5, 0.9])
    assert np.allclose(s2s.grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    out, dot = s2s.jvp(f, (X,), (v,))
    assert np.allclose(out, f(X)) and np.allclose(dot, expected @ v, rtol=1e-6, atol=1e-8)
    second = hessian_by_differences(f, X)
    assert np.allclose(s2s.hessian(f)(X), second, rtol=1e-5, atol=1e-6)
    assert np.allclose(s2s.hvp(f, (X,), (v,)), second @ v, rtol=1e-5, atol=1e-6)
    assert np.allclose(s2s.grad(lambda x: s2s.grad(f)(x) @ v)(X), second @ v, rtol=1e-5, atol=1e-6)
    assert np.allclose(s2s.grad(lambda x: s2s.jvp(f, (x,), (v,))[1])(X), second @ v, rtol=1e-5, atol=1e-6)


def test_rule_is_used():
    assert s2s.grad(tenfold)(2.0) == 20.0
    assert s2s.jvp(tenfold, (2.0,), (1.0,)) == (4.0, 20.0)
    assert s2s.grad(s2s.grad(tenfold))(2.0) == 10.0
    assert s2s.grad(lambda x: tenfold(x) * x)(2.0) == 4.0 + 40.0
    assert np.allclose(s2s.jacfwd(tenfold)(X), np.diag(10 * X)) and np.allclose(s2s.jacrev(tenfold)(X), np.diag(10 * X))
    assert np.allclose(s2s.elementwise_grad(tenfold)(X), 10 * X)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_precision(kind):
    x = X.astype(kind)
    assert s2s.grad(lambda x: np.sum(tenfold(x)))(x).dtype == kind
    assert type(s2s.grad(tenfold)(kind(2))) is kind
    assert s2s.jvp(norm, (x,), (x,))[1].dtype == kind


def test_complex():
    def square(z):
        return z * z

    plain = s2s.grad(lambda z: (z * z).real)(1 + 2j)
    for give, rule in (
        (s2s.defvjp, lambda out, out_bar, z: 2 * z * out_bar),
        (s2s.defjvp, lambda out, tangents, z: 2 * z * tangents[0]),
    ):
        table._of_users.pop(id(square), None)
        give(square, rule)
        assert s2s.grad(lambda z: square(z).real)(1 + 2j) == plain
        assert s2s.jvp(square, (1 + 2j,), (1j,)) == (-3 + 4j, -4 + 2j)


def test_a_rule_gets_cotangents_in_full():
    """The cotangent of a sum is one number for all elements: a rule gets it in the shape of the result."""
    seen = []

    def parts(x):
        return np.sin(x), {"first": x[:2] * 1.0}

    @s2s.defvjp(parts)
    def parts_vjp(out, out_bar, x):
        first = out_bar[1]["first"]
        for _ in range(1):
            seen.append((np.shape(out_bar[0]), np.shape(first)))
        return out_bar[0] * np.cos(x) + np.append(first, 0.0)

    assert np.allclose(s2s.grad(lambda x: np.sum(parts(x)[1]["first"]))(X), [1, 1, 0])
    assert np.allclose(s2s.grad(lambda x: np.mean(parts(x)[0]))(X), np.cos(X) / 3)
    assert np.allclose(s2s.grad(lambda x: np.sum(external(x)))(X), 3 * X**2)
    assert set(seen) == {((3,), (2,))}


# --- partial derivatives --------------------------------------------------------------------------------------------


def softplus(x):
    return np.log(1.0 + np.exp(x))


s2s.partials(softplus, lambda y, x: 1.0 - np.exp(-y))


def monomial(a, b, n=2):
    return SLOPE * a * b**n


@s2s.partials(monomial)
def monomial_partials(y, a, b):
    return y / a, 2 * y / b


def use_softplus(x):
    return np.sum(3 * softplus(x * x[0])) + softplus(x[1])


def use_monomial(x):
    return np.sum(monomial(x[:, None], x)) * monomial(2.0, x[1])


@pytest.mark.parametrize("f", [use_softplus, use_monomial], ids=lambda f: f.__name__)
def test_partials(f):
    test_derivatives(f)


def test_partials_are_inlined():
    text = s2s.source(use_softplus, X)
    assert "1.0 - np.exp(-" in text and "rt." not in text and "lambda" not in text
    assert s2s.grad(lambda x: np.sum(softplus(x)))(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(errors.NoDerivativeError, match="does not support the argument `n`"):
        s2s.grad(lambda n: monomial(1.0, 2.0, n))(2.0)


def test_partials_replace_those_of_s2s():
    s2s.partials(np.sin, lambda y, x: 5.0 * x)
    assert np.allclose(s2s.grad(lambda x: np.sum(np.sin(x)))(X), 5 * X) and s2s.grad(np.sin)(2.0) == 10.0
    assert np.allclose(s2s.elementwise_grad(s2s.elementwise_grad(np.sin))(X), 5.0)


# --- functions with their gradient ----------------------------------------------------------------------------------


@s2s.custom_gradient
def log1pexp(x):
    e = np.exp(x)

    def grad(dy):
        @s2s.custom_gradient
        def first(x):
            def second(ddy):
                return ddy * (1 - e)

            return 1 - 1 / (1 + e), second

        return dy * first(x)

    return np.log(1 + e), grad


@s2s.custom_gradient
def stable_log1pexp(x):
    e = np.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + np.exp(x)))

    return np.log(1 + e), grad


def test_custom_gradient():
    first, second = s2s.grad(log1pexp), s2s.grad(s2s.grad(log1pexp))
    assert log1pexp(0.0) == math.log(2.0)
    assert np.isclose(first(1.0), 0.7310586, rtol=1e-7) and np.isclose(second(1.0), -1.7182817, rtol=1e-7)
    assert first(100.0) == 1.0 and np.isclose(second(100.0), -2.688e43, rtol=1e-3)
    with np.errstate(over="ignore"):
        assert first(np.float32(100)) == 1.0 and second(np.float32(100)) == -np.inf
    assert type(second(np.float32(1))) is np.float32 and np.isclose(second(np.float32(1)), -1.7182817, rtol=1e-6)


def test_custom_gradient_that_is_stable():
    sigmoid = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
    derivative, expected = stable_log1pexp, (sigmoid(1.0), sigmoid(1.0) * sigmoid(-1.0))
    for k in range(2):
        derivative = s2s.grad(derivative)
        assert np.isclose(derivative(1.0), expected[k], rtol=1e-12)
    assert np.isclose(derivative(100.0), math.exp(-100.0), rtol=1e-12)
    assert np.isclose(s2s.grad(derivative)(1.0), expected[1] * (1 - 2 * expected[0]), rtol=1e-12)


def test_custom_gradient_in_every_transform():
    f, v = lambda x: np.sum(log1pexp(x)), np.array([1.0, -2.0, 0.5])  # noqa: E731
    first, second = 1 / (1 + np.exp(-X)), 1 - np.exp(X)
    assert np.allclose(s2s.grad(f)(X), first) and np.allclose(s2s.hessian(f)(X), np.diag(second))
    assert np.allclose(s2s.hvp(f, (X,), (v,)), second * v)
    assert np.allclose(s2s.jvp(s2s.grad(f), (X,), (v,))[1], second * v)
    assert np.allclose(s2s.grad(lambda x: s2s.jvp(f, (x,), (v,))[1])(X), second * v)
    assert np.allclose(s2s.grad(lambda x: s2s.grad(f)(x) @ v)(X), second * v)
    assert np.allclose(s2s.elementwise_grad(log1pexp)(X), first)
    assert np.allclose(s2s.elementwise_grad(s2s.elementwise_grad(log1pexp))(X), second)
    assert np.allclose(s2s.vjp(log1pexp, X)[1](v)[0], first * v)
    assert np.allclose(s2s.jvp(log1pexp, (X,), (v,))[1], first * v)
    assert np.allclose(s2s.jacfwd(log1pexp)(X), np.diag(first))
    assert np.allclose(s2s.jacrev(log1pexp)(X), np.diag(first))


def test_custom_gradient_is_inlined():
    text = s2s.source(lambda x: np.sum(stable_log1pexp(x)), X)
    assert "return 1 - 1 / (1 + np.exp(x))" in text.replace("x_bar = ", "return ") and "np.log" not in text
    text = s2s.source(lambda x: np.sum(log1pexp(x)), X)
    assert "def first(x):" in text and "custom_gradient(first)(x)" in text and "rt." not in text


def doubled(x):
    return 2.0 * stable_log1pexp(x)


def use_gradients(x):
    total, y = 0.0, np.zeros_like(x)
    for i in range(len(x)):
        y[i] = doubled(x[i]) * x[i]
        total += stable_log1pexp(y[i]) * y[i - 1]
    y[1:] *= stable_log1pexp(y)[:-1]
    return total + np.sum(y**2)


@pytest.mark.slow
def test_custom_gradient_in_loops_and_stores():
    test_derivatives(use_gradients)


class Spring:
    def __init__(self, k):
        self.k = k

    @s2s.custom_gradient
    def energy(self, x, *, n=2):
        def grad(dy):
            return None, 10.0 * self.k * x * n * dy

        return self.k * x**n, grad


def test_custom_gradient_of_methods_and_keywords():
    spring = Spring(3.0)
    assert spring.energy(2.0) == 12.0 and spring.energy(2.0, n=3) == 24.0
    assert s2s.grad(spring.energy)(2.0) == 120.0 and s2s.grad(s2s.grad(spring.energy))(2.0) == 60.0
    assert s2s.grad(lambda x: spring.energy(x, n=3))(2.0) == 180.0
    assert s2s.jvp(lambda x: spring.energy(x, n=3), (2.0,), (1.0,)) == (24.0, 180.0)


def uses_nested(x, a):
    @s2s.custom_gradient
    def square(y):
        def grad(dy):
            return 10.0 * dy * y * a

        return y * y * a, grad

    return square(x) * x + square(2.0 * x)


def test_custom_gradient_of_a_nested_function():
    x, a = 3.0, 2.0
    expected = 10 * x * a * x + x * x * a + 10 * 2 * x * a * 2
    assert s2s.grad(uses_nested)(x, a) == expected and s2s.jvp(uses_nested, (x, a), (1.0, 0.0))[1] == expected
    assert s2s.grad(uses_nested, argnums=1)(x, a) == 0.0  # what it has captured is a constant
    by_rule = 20 * x * a + 10 * x * a + 40 * a
    assert s2s.grad(s2s.grad(uses_nested))(x, a) == by_rule
    in_loop = lambda x, a: sum(uses_nested(x * k, a) for k in (1.0, 2.0))  # noqa: E731
    assert s2s.grad(in_loop)(x, a) == pytest.approx(
        expected + 2 * (10 * 2 * x * a * 2 * x + 4 * x * x * a + 40 * 2 * x * a)
    )


RUNS = []


@s2s.custom_gradient
def solve(A, b):
    RUNS.append(1)
    x = np.linalg.solve(A, b)

    def grad(x_bar):
        w = np.linalg.solve(A.T, x_bar)
        return -np.outer(w, x), w

    return x, grad


def use_solve(A, b):
    return np.sum(solve(2.0 * A, b) ** 2)


def use_plain_solve(A, b):
    return np.sum(np.linalg.solve(2.0 * A, b) ** 2)


def test_what_is_expensive_runs_once():
    A, b = np.array([[3.0, 1.0, 0.2], [0.5, 2.0, -1.0], [0.1, 0.0, 1.5]]), X
    for f in (s2s.grad(use_solve, argnums=(0, 1)), lambda A, b: s2s.jvp(use_solve, (A, b), (A, b))):
        RUNS.clear()
        f(A, b)
        assert len(RUNS) == 1
    expected = s2s.grad(use_plain_solve, argnums=(0, 1))(A, b)
    for found, wanted in zip(s2s.grad(use_solve, argnums=(0, 1))(A, b), expected):
        assert np.allclose(found, wanted)
    assert np.allclose(s2s.jvp(use_solve, (A, b), (A, b)), s2s.jvp(use_plain_solve, (A, b), (A, b)))


def test_its_gradient_gets_cotangents_in_full():
    A = np.array([[3.0, 1.0, 0.2], [0.5, 2.0, -1.0], [0.1, 0.0, 1.5]])
    found = s2s.grad(lambda A: np.sum(solve(A, X)))(A)
    assert np.allclose(found, s2s.grad(lambda A: np.sum(np.linalg.solve(A, X)))(A))


@pytest.mark.slow
def test_second_derivatives_of_what_is_expensive():
    A, b = np.array([[3.0, 1.0, 0.2], [0.5, 2.0, -1.0], [0.1, 0.0, 1.5]]), X
    second = [
        lambda f: s2s.hessian(f, argnums=1)(A, b),
        lambda f: s2s.hessian(f)(A, b),
        lambda f: s2s.grad(lambda A: s2s.jvp(f, (A, b), (A, b))[1])(A),
        lambda f: s2s.jvp(lambda A: s2s.jvp(f, (A, b), (A, b))[1], (A,), (b * A,))[1],
        lambda f: s2s.grad(lambda A: np.sum(s2s.grad(f)(A, b) * A**2))(A),
        lambda f: s2s.jvp(s2s.grad(f), (A, b), (A, b))[1],
    ]
    for take in second:
        assert np.allclose(take(use_solve), take(use_plain_solve), rtol=1e-9, atol=1e-12)


def test_custom_gradient_pickles():
    assert pickle.loads(pickle.dumps(log1pexp)) is log1pexp
    assert log1pexp.__name__ == "log1pexp" and "log1pexp" in repr(log1pexp)


def test_custom_gradient_on_numba():
    pytest.importorskip("numba")
    f = s2s.differentiable(lambda x: stable_log1pexp(x) * 2.0, backend="numba")
    assert np.isclose(s2s.grad(f)(1.0), 2 / (1 + math.exp(-1.0)))


def test_wrong_custom_gradients():
    for f, message in (
        (lambda x, y: (x * y, lambda dy: dy), "returns one cotangent, and no tuple; the call has 2 positional"),
        (lambda x, y: x * y, "under @s2s.custom_gradient it must return its value and a function"),
        (lambda x, y: (x, y, x), "under @s2s.custom_gradient it must return its value and a function"),
    ):
        line = f.__code__.co_firstlineno
        with pytest.raises(errors.ArgumentError, match=rf"<lambda> \(test_custom.py:{line}\).*{message}"):
            s2s.grad(s2s.custom_gradient(f))(2.0, 1.0)
    with pytest.raises(errors.ArgumentError, match="S2S523"):
        s2s.custom_gradient(lambda x: x)(2.0)
    with pytest.raises(errors.ArgumentError, match="S2S507"):
        s2s.custom_gradient(3)


# --- generated code -------------------------------------------------------------------------------------------------


def test_the_rule_is_inlined():
    text = s2s.source(use_norm, X)
    assert "t1 = norm(t0)" in text and "norm_vjp" not in text and "* t0 / t1" in text
    text = s2s.source(use_norm, X, mode="jvp")
    assert "norm_vjp" not in text and "s2s.vjp" not in text and "rt." not in text


def test_rules_with_control_flow_are_called_by_name():
    text = s2s.source(use_leaky, X)
    assert "leaky_vjp(" in text and "rt." not in text


def test_only_what_the_rule_reads_is_kept():
    def loop(x):
        for _ in range(3):
            x = tenfold(np.sin(x))
        return x

    text = s2s.source(loop, 2.0)
    assert text.count(" = np.empty(3)") + text.count(" = []") == 2  # the arguments of sin and of tenfold, and no result


# --- rules that are called by name ----------------------------------------------------------------------------------


def square(x):
    return x * x


def augmenting(out, out_bar, x):
    out_bar *= 2.0
    return out_bar * x


def storing(out, out_bar, x):
    out_bar[0] = 2.0 * out_bar[0]
    out_bar[1:] *= 2.0
    return (out_bar * x,)


def reading_the_result(out, out_bar, x):
    x_bar = np.zeros_like(x)
    for i in range(len(x)):
        x_bar[i] = 2.0 * out[i] / x[i] * out_bar[i]
    return (x_bar,)


def shared_cotangents(f):
    def program(x):
        y = f(x) + x
        z = f(y) - y
        y[0] = z[1] * x[0]
        return np.sum(z * y + f(x) + np.sin(x) * f(2.0 * x))

    return program


@pytest.mark.parametrize("rule", [augmenting, storing, reading_the_result], ids=lambda rule: rule.__name__)
def test_a_rule_may_change_what_it_is_given(rule):
    def f(x):
        return x * x

    s2s.defvjp(f, rule)
    ruled, plain = shared_cotangents(f), shared_cotangents(square)
    assert np.allclose(s2s.grad(ruled)(X), s2s.grad(plain)(X))
    assert np.allclose(s2s.jvp(ruled, (X,), (X,)), s2s.jvp(plain, (X,), (X,)))
    assert np.allclose(s2s.hessian(ruled)(X), s2s.hessian(plain)(X))


def without_source(text):
    names = {}
    exec(f"def rule{text}", names)
    return names["rule"]


def test_rules_without_source():
    def cube(x):
        return x**3

    def times(x, y):
        return x * y

    s2s.defvjp(cube, without_source("(out, out_bar, x): return 3 * x**2 * out_bar"))
    s2s.defjvp(times, without_source("(out, tangents, x, y): return tangents[0] * y + x * tangents[1]"))
    f, plain = lambda x: np.sum(times(cube(x), 2.0 * x)), lambda x: np.sum(2.0 * x**4)  # noqa: E731
    assert np.allclose(s2s.grad(f)(X), s2s.grad(plain)(X)) and s2s.grad(cube)(2.0) == 12.0
    assert np.allclose(s2s.jvp(f, (X,), (X,)), s2s.jvp(plain, (X,), (X,)))
    assert np.allclose(s2s.jacrev(lambda x: times(x, cube(x)))(X), np.diag(4 * X**3))
    with pytest.raises(errors.SourceUnavailableError):
        s2s.hessian(f)(X)


# --- arguments ------------------------------------------------------------------------------------------------------


def scaled_power(x, n=2, *, scale=1.0):
    return scale * x**n


@s2s.defvjp(scaled_power)
def scaled_power_vjp(out, out_bar, x, n=2, *, scale=1.0):
    x_bar = out_bar * scale * n * x ** (n - 1)
    return x_bar if n == 2 else (x_bar, None)


def test_keywords_and_integers():
    assert s2s.grad(scaled_power)(3.0) == 6.0
    assert s2s.grad(scaled_power)(3.0, 3) == 27.0
    assert s2s.grad(lambda x: scaled_power(x, scale=2.0) + scaled_power(x, 3))(1.0) == 4.0 + 3.0


def test_a_differentiated_keyword_is_refused():
    for derivative in (s2s.grad(lambda x: scaled_power(1.0, scale=x)), lambda x: s2s.jvp(by_keyword, (x,), (1.0,))):
        with pytest.raises(errors.NoDerivativeError, match="`scaled_power` does not support the argument `scale`"):
            derivative(2.0)


def by_keyword(x):
    return scaled_power(1.0, scale=x)


class Model:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x * x


@s2s.defvjp(Model.energy)
def energy_vjp(out, out_bar, self, x):
    return None, 2.0 * self.k * x * out_bar


def test_methods():
    model = Model(3.0)
    assert s2s.grad(model.energy)(2.0) == 12.0
    assert s2s.grad(lambda x: model.energy(x) * model.energy(2 * x))(1.0) == 4 * 9.0 * 4
    assert s2s.grad(s2s.grad(model.energy))(2.0) == 6.0
    with pytest.raises(errors.DifferentiationError, match="S2S138"):
        s2s.grad(lambda k: Model(k).energy(2.0))(2.0)


class Callable_:
    def __call__(self, x):
        return x * x


s2s.defvjp(Callable_.__call__, lambda out, out_bar, self, x: (None, 10.0 * x * out_bar))


def test_objects_that_are_called():
    assert s2s.grad(Callable_())(2.0) == 20.0
    assert s2s.grad(lambda x: Callable_()(x) * x)(2.0) == 44.0
    one = Callable_()
    s2s.defvjp(one, lambda out, out_bar, x: 7.0 * out_bar)
    assert s2s.grad(one)(2.0) == 7.0 and s2s.grad(Callable_())(2.0) == 20.0


@pytest.mark.parametrize("wrap", [functools.lru_cache, functools.partial, s2s.differentiable])
def test_wrapped_functions(wrap):
    def f(x):
        return x * x

    wrapped = wrap(f)
    s2s.defvjp(wrapped, lambda out, out_bar, x: 10.0 * x * out_bar)
    assert s2s.grad(wrapped)(2.0) == 20.0 and s2s.grad(lambda x: wrapped(x) * x)(2.0) == 44.0


def dot(pairs):
    return sum(a * b for a, b in pairs)


@s2s.defvjp(dot)
def dot_vjp(out, out_bar, pairs):
    return ([(out_bar * b, out_bar * a) for a, b in pairs],)


def test_containers():
    f = lambda x, y: dot([(x, y), (y, x * x)])  # noqa: E731
    assert s2s.grad(f, argnums=(0, 1))(2.0, 3.0) == (3.0 + 12.0, 2.0 + 4.0)
    assert s2s.jvp(f, (2.0, 3.0), (1.0, 0.0)) == (18.0, 15.0)


def test_a_captured_float_is_refused():
    def root(f, x):
        return x

    s2s.defvjp(root, lambda out, out_bar, f, x: (None, out_bar))
    with pytest.raises(errors.UnsupportedSyntaxError, match="S2S143"):
        s2s.grad(lambda a: root(lambda y: a * y, 1.0))(2.0)


def test_a_result_that_is_an_argument_may_not_be_changed():
    def same(x):
        return x

    s2s.defvjp(same, lambda out, out_bar, x: 2.0 * out_bar)

    def changed(x):
        y = same(x)
        y[0] = 5.0
        return np.sum(y * x)

    for run in (s2s.grad(changed), lambda x: s2s.jvp(changed, (x,), (x,))):
        with pytest.raises(ValueError, match="the result of `.*same` shares memory with an argument"):
            run(X)
    assert np.allclose(s2s.grad(lambda x: np.sum(same(x) * x))(X), 3 * X)

    def added_to(x):
        y = same(x)
        y += 1.0
        return np.sum(y * x)

    with pytest.raises(ValueError, match="the result of `.*same` shares memory with an argument"):
        s2s.grad(added_to)(X)

    def pair(x):
        return np.sin(x), x[:2]

    s2s.defvjp(pair, lambda out, out_bar, x: out_bar[0] * np.cos(x) + np.append(out_bar[1], 0.0))

    def second_changed(x):
        _, y = pair(x)
        x[0] = 5.0
        return np.sum(y)

    with pytest.raises(ValueError, match="the result of `.*pair` shares memory with an argument"):
        s2s.grad(second_changed)(X)


# --- which rule -----------------------------------------------------------------------------------------------------


def plain(x):
    return x * x


def test_a_rule_reaches_what_is_compiled():
    f = lambda x: plain(x) * 2.0  # noqa: E731
    derivatives = s2s.grad(plain), s2s.grad(f), s2s.grad(s2s.grad(plain)), s2s.grad(s2s.grad(f))
    assert [d(3.0) for d in derivatives] == [6.0, 12.0, 2.0, 4.0]
    s2s.defvjp(plain, lambda out, out_bar, x: out_bar * 10.0 * x)
    assert [d(3.0) for d in derivatives] == [30.0, 60.0, 10.0, 20.0]
    s2s.defvjp(plain, lambda out, out_bar, x: out_bar * 20.0 * x)
    assert [d(3.0) for d in derivatives] == [60.0, 120.0, 20.0, 40.0]
    s2s.defjvp(plain, lambda out, tangents, x: 30.0 * x * tangents[0])
    assert s2s.jvp(f, (3.0,), (1.0,)) == (18.0, 180.0) and derivatives[1](3.0) == 120.0


def test_rules_replace_those_of_s2s():
    f = lambda x: np.sum(np.sinh(x)) + math.cosh(x[0])  # noqa: E731
    gradient = s2s.grad(f)
    assert np.allclose(gradient(X), np.cosh(X) + [math.sinh(X[0]), 0, 0])
    s2s.defvjp(np.sinh, lambda out, out_bar, x: out_bar * 7.0)
    s2s.defvjp(math.cosh, lambda out, out_bar, x: out_bar * 9.0)
    assert np.allclose(gradient(X), [16, 7, 7])
    assert s2s.grad(np.sinh)(1.0) == 7.0 and s2s.grad(math.cosh)(1.0) == 9.0


def test_a_callable_may_carry_its_rule():
    class Carrying:
        @property
        def __s2s_rule__(self):
            pullback = functools.partial(scaled, 5.0)
            return table.Rule(self, "custom", table.inspect.signature(scaled), pullback=pullback, by_user=True)

        def __call__(self, x):
            return x

    carrying = Carrying()
    assert s2s.grad(carrying)(2.0) == 5.0
    assert s2s.grad(lambda x: carrying(x) * x)(2.0) == 12.0
    assert s2s.jvp(carrying, (2.0,), (1.0,)) == (2.0, 5.0)


def scaled(k, out, out_bar, x):
    return k * out_bar


def test_rules_are_given_outside():
    def inside(x):
        s2s.defvjp(plain, plain)
        return plain(x)

    with pytest.raises(errors.UnsupportedSyntaxError, match="`s2s.defvjp` inside a function"):
        s2s.grad(inside)(1.0)


# --- called from elsewhere ------------------------------------------------------------------------------------------


def test_called_from_libraries():
    def area(a):
        return integrate.quad(lambda t: tenfold(a * t), 0, 1)[0]

    assert np.isclose(s2s.grad(area)(2.0), 20 / 3) and np.isclose(s2s.jvp(area, (2.0,), (1.0,))[1], 20 / 3)
    assert np.isclose(s2s.grad(s2s.grad(area))(2.0), 10 / 3)
    mapped = np.vectorize(tenfold)
    assert np.allclose(s2s.grad(lambda x: np.sum(mapped(x)))(X), 10 * X)
    assert np.allclose(s2s.grad(lambda x: np.sum(np.array(list(map(tenfold, x)))))(X), 10 * X)


def test_derivatives_inside():
    assert s2s.grad(lambda x: s2s.grad(tenfold)(x) * x)(2.0) == 40.0
    assert s2s.grad(lambda x: s2s.grad(lambda y: tenfold(y) * x)(x))(2.0) == 40.0
    assert s2s.grad(lambda x: s2s.checkpoint(tenfold)(x) * x)(2.0) == 44.0


# --- on disk --------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np, s2s
from pathlib import Path
import model
factor = float(sys.argv[1])
if factor == 2.0:
    s2s.defvjp(model.plain, lambda out, out_bar, x: 2.0 * out_bar)
if factor == 3.0:
    s2s.defvjp(model.plain, lambda out, out_bar, x: 3.0 * out_bar)
if factor == 4.0:
    s2s.defvjp(np.sin, lambda out, out_bar, x: 4.0 * out_bar)
print(s2s.grad(model.use)(1.0), s2s.grad(model.sine)(0.0), len(list(Path("cache").glob("*.py"))))
"""


@pytest.mark.slow
def test_files_of_other_rules_are_not_read(tmp_path):
    (tmp_path / "model.py").write_text(
        "import numpy as np\ndef plain(x):\n    return x * x * x\n\ndef use(x):\n    return 5.0 * plain(x)\n\n"
        "def sine(x):\n    return np.sin(x)\n"
    )
    (tmp_path / "program.py").write_text(PROGRAM)
    run = lambda k: subprocess.run(  # noqa: E731
        [sys.executable, "program.py", str(k)], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**__import__("os").environ, "S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path / "cache")},
    ).stdout.split()
    expected = {1: (15.0, 1.0), 2: (10.0, 1.0), 3: (15.0, 1.0), 4: (15.0, 4.0)}
    for k in (1, 2, 3, 4, 2, 1):
        *found, files = run(k)
        assert tuple(map(float, found)) == expected[k] and files == "2"


# --- cotangents have the shape of what they belong to ---------------------------------------------------------------

def clip_by_norm(dy):
    """A cotangent that is scaled to the norm 1 where it is longer: no straight line."""
    norm = np.sqrt(np.sum(dy**2))
    if norm > 1.0:
        dy = dy / norm
    return dy


@s2s.custom_gradient
def clipped(x):
    def grad(dy):
        return x * clip_by_norm(dy)

    return x, grad


@s2s.custom_gradient
def reversed_back(x):
    def grad(dy):
        total = 0.0
        for k in range(dy.size):
            total = total + dy[k]
        return dy[::-1] * total * x

    return x, grad


def test_a_gradient_that_runs_once_gets_whole_cotangents():
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(clipped(x)))(x), x / np.sqrt(3.0))
    np.testing.assert_allclose(s2s.grad(lambda x: np.mean(clipped(x)) * 12.0)(x), x / np.sqrt(3.0))
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(reversed_back(x)))(x), 3.0 * x)

    def twice(x):
        total = 0.0
        for k in range(2):
            total = total + np.sum(clipped(x))
        return total

    np.testing.assert_allclose(s2s.grad(twice)(x), 2.0 * x / np.sqrt(3.0))


def both(x):
    return np.sin(x), np.cos(x)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_parts_of_a_cotangent_have_the_shapes_of_the_parts(kind):
    def by_line(out, out_bar, x):
        return x * np.sum(out_bar[0]) + out_bar[1][::-1]

    def by_branch(out, out_bar, x):
        return x * clip_by_norm(out_bar[0]) + out_bar[1].size

    def first(x):
        a, b = both(x)
        return np.sum(a + 3.0 * b)

    def second(x):
        return np.sum(both(x)[1])

    x = np.array([1.0, 2.0, 3.0], kind)
    for rule, expected in ((by_line, (3.0 * x + 3.0, 1.0)), (by_branch, (x / np.sqrt(3.0) + 3.0, 3.0))):
        s2s.defvjp(both, rule)
        for f, wanted in zip((first, second), expected):
            found = s2s.grad(f)(x)
            np.testing.assert_allclose(found, np.broadcast_to(wanted, 3), rtol=1e-6)
            assert found.dtype == kind


def test_a_function_of_c(kind=ctypes.c_double):
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    libm.pow.restype, libm.pow.argtypes = kind, [kind, kind]
    power = libm.pow  # cannot be hashed
    s2s.defvjp(power, lambda out, out_bar, a, b: (out_bar * b * power(a, b - 1.0), out_bar * out * np.log(a)))
    f = lambda a, b: power(a, b) * a  # noqa: E731
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1))(2.0, 3.0), (32.0, 16.0 * np.log(2.0)))
    np.testing.assert_allclose(s2s.jvp(f, (2.0, 3.0), (1.0, 0.0))[1], 32.0)
    np.testing.assert_allclose(s2s.grad(s2s.grad(f))(2.0, 3.0), 48.0)


# --- wrong rules ----------------------------------------------------------------------------------------------------

def looping(out, out_bar, a, b):
    for _ in range(int(b)):
        out_bar = out_bar * 1.0
    return (out_bar,)


def by_array(out, out_bar, a, b):
    return out_bar * np.array([b for _ in range(int(b)) if b > 0]), None


WRONG = [
    (lambda out, out_bar, a, b: out_bar * b, "returns one cotangent, and no tuple; the call has 2 positional"),
    (lambda out, out_bar, a, b: (out_bar, out_bar, out_bar), "returns a tuple of 3; the call has 2 positional"),
    (lambda out, out_bar, a, b: (np.ones(3) * out_bar, None), "returns a cotangent of rank 1; rank 0 is needed"),
    (lambda out, out_bar, a, b: ((out_bar, b), None), "returns a cotangent of several parts; rank 0 is needed"),
    (by_array, "returns a cotangent of rank 1; rank 0 is needed"),
    (looping, "returns a tuple of 1; the call has 2 positional"),
    (lambda out, out_bar, a, b: "no", "returns one cotangent, and no tuple; the call has 2 positional"),
]


@pytest.mark.parametrize("rule, message", WRONG)
def test_wrong_cotangents(rule, message):
    def f(a, b):
        return a * b

    s2s.defvjp(f, rule)
    line = rule.__code__.co_firstlineno
    for run in (s2s.grad(lambda x: f(x, 2.0)), lambda x: s2s.jvp(lambda x: f(x, 2.0), (x,), (1.0,))):
        with pytest.raises(errors.ArgumentError, match=rf"{rule.__name__} \(test_custom.py:{line}\) {message}"):
            run(1.0)


@pytest.mark.parametrize("give", [s2s.defvjp, s2s.defjvp])
def test_rules_that_cannot_be_called(give):
    def f(a, b):
        return a * b

    give(f, lambda out, given, a: given)
    with pytest.raises(errors.ArgumentError, match=r"<lambda> \(test_custom.py:\d+\) does not accept the arguments"):
        s2s.grad(lambda x: f(x, 2.0))(1.0)


def test_wrong_gradient_functions():
    @s2s.custom_gradient
    def two(x):
        def grad(first, second):
            return first + second

        return (x, x), grad

    with pytest.raises(errors.ArgumentError, match="grad.* does not accept .* call of .*two .*: missing .* 'second'"):
        s2s.grad(lambda x: two(x)[0])(1.0)

    @s2s.custom_gradient
    def one(x):
        return x, lambda first, second: first

    with pytest.raises(errors.ArgumentError, match="does not accept .* call of .*one .*: missing .* 'second'"):
        s2s.grad(one)(1.0)

    @s2s.custom_gradient
    def none(x):
        return x, 3

    with pytest.raises(errors.ArgumentError, match="none .* returns a second value that is no function"):
        s2s.grad(none)(1.0)


def test_wrong_tangents():
    def f(x):
        return 2.0 * x

    s2s.defjvp(f, lambda out, tangents, x: tangents)
    with pytest.raises(errors.ArgumentError, match=r"test_custom.py:\d+\) returns a tangent of several parts; rank 0"):
        s2s.jvp(f, (1.0,), (1.0,))
    with pytest.raises(errors.ArgumentError, match=r"test_custom.py:\d+\) returns a tangent of"):
        s2s.grad(f)(1.0)


def test_rules_are_functions():
    for f, rule in ((3, plain), (plain, 3)):
        with pytest.raises(errors.ArgumentError, match="S2S520"):
            s2s.defvjp(f, rule)


def test_forward_over_forward_for_all_directions():
    def length(x):
        return np.sqrt(np.sum(x * x))

    s2s.defvjp(length, lambda out, out_bar, x: out_bar * x / out)
    x = np.array([3.0, 4.0])
    expected = (np.eye(2) - np.outer(x, x) / 25.0) / 5.0
    np.testing.assert_allclose(s2s.jacfwd(s2s.jacfwd(length))(x), expected, rtol=1e-12)
    np.testing.assert_allclose(s2s.jacrev(s2s.jacrev(length))(x), expected, rtol=1e-12)
    np.testing.assert_allclose(s2s.jacfwd(s2s.jacrev(length))(x), expected, rtol=1e-12)


@pytest.mark.parametrize("rule", [lambda out, tangents, x: None, lambda out, tangents, x: np.ones(5),
                                  lambda out, tangents, x: 3.0])
def test_a_tangent_that_does_not_fit_is_refused_in_reverse_mode_too(rule):
    def f(x):
        return np.sin(x)

    s2s.defjvp(f, rule)
    x = np.array([1.0, 2.0])
    for derivative in (lambda: s2s.jvp(f, (x,), (np.ones(2),)), lambda: s2s.grad(lambda x: np.sum(f(x)))(x)):
        with pytest.raises(errors.ArgumentError, match=r"<lambda> \(test_custom.py:\d+\) returns a tangent of"):
            derivative()
