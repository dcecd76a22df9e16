"""``jvp``: arguments and results of every structure, what is refused, and how the generated code reads."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NoDerivativeError
from tests.helpers import differences, inner
from tests.validation.checked import checked

X = np.array([0.4, -1.3, 0.8])
V = np.array([1.0, 0.5, -2.0])


def bent(x, n):
    y = np.tanh(x) * n
    for k in range(n):
        y[k] += x[k] ** 2
    return y


def test_value_and_tangent():
    out, tangent = s2s.jvp(bent, (X, 2), (V, None))
    np.testing.assert_array_equal(out, bent(X, 2))
    wanted = 2.0 * (1.0 - np.tanh(X) ** 2) * V + np.array([2.0 * X[0] * V[0], 2.0 * X[1] * V[1], 0.0])
    np.testing.assert_allclose(tangent, wanted, rtol=1e-14)
    assert not np.shares_memory(tangent, V)


def test_tangents_of_what_has_no_derivative():
    for still in (None, 0, 0.0):
        np.testing.assert_array_equal(s2s.jvp(bent, (X, 2), (V, still))[1], s2s.jvp(bent, (X, 2), (V, None))[1])
    with pytest.raises(ArgumentError, match="is an integer"):
        s2s.jvp(bent, (X, 2), (V, 1.0))


def test_nothing_moves():
    out, tangent = s2s.jvp(bent, (X, 2), (None, None))
    np.testing.assert_array_equal(out, bent(X, 2))
    np.testing.assert_array_equal(tangent, np.zeros(3))


def test_containers():
    def f(params, scale):
        hidden = np.tanh(params["W"] @ X + params["b"][0])
        return {"hidden": hidden, "sizes": (hidden.size, scale * np.sum(params["b"][1]))}

    rng = np.random.default_rng(3)
    params = {"W": rng.normal(size=(2, 3)), "b": [rng.normal(size=2), rng.normal(size=4)]}
    moves = {"W": rng.normal(size=(2, 3)), "b": [None, rng.normal(size=4)]}
    out, tangent = s2s.jvp(f, (params, 1.5), (moves, 0.5))
    assert out["sizes"][0] == 2 and list(tangent) == ["hidden", "sizes"]
    moved = {"W": moves["W"], "b": [np.zeros(2), moves["b"][1]]}

    def at(t):
        there = {"W": params["W"] + t * moved["W"], "b": [a + t * d for a, d in zip(params["b"], moved["b"])]}
        return f(there, 1.5 + 0.5 * t)

    weights = np.array([0.3, -0.8])
    hidden = differences(lambda t: inner(weights, at(t)["hidden"]), 0.0)
    np.testing.assert_allclose(weights @ tangent["hidden"], hidden, rtol=1e-8)
    np.testing.assert_allclose(tangent["sizes"][1], differences(lambda t: at(t)["sizes"][1], 0.0), rtol=1e-8)


def constants_beside(x, k):
    """What does not move stands beside what moves, and is found by an index that is known later."""
    pair, entries = [x[0] * x[1], 3.0], {"still": 2.0, "moves": x[2] ** 2}
    return pair[k] * entries["moves"], (2.0, x[k]), entries


def test_constants_beside_what_moves():
    out, tangent = s2s.jvp(constants_beside, (X, 0), (V, None))
    product = X[1] * V[0] + X[0] * V[1]
    square = 2.0 * X[2] * V[2]
    assert out == constants_beside(X, 0)
    np.testing.assert_allclose(tangent[0], product * X[2] ** 2 + X[0] * X[1] * square, rtol=1e-14)
    assert tangent[1] == (0.0, V[0]) and tangent[2] == {"still": 0.0, "moves": square}


@dataclass
class Line:
    weights: np.ndarray
    offset: float
    name: str = "line"

    def at(self, x):
        return self.weights * x + self.offset**2


def test_objects():
    def f(line, x):
        return np.sum(line.at(x) ** 2) + line.offset

    line, move = Line(X.copy(), 0.5), Line(V, -0.4)
    gradient = s2s.grad(f)(line, V)
    out, tangent = s2s.jvp(f, (line, V), (move, None))
    assert out == f(line, V)
    assert tangent == pytest.approx(gradient.weights @ V + gradient.offset * -0.4, rel=1e-13)
    with pytest.raises(ArgumentError):
        s2s.jvp(f, (line, V), (V, None))


def test_auxiliary_data():
    def f(x):
        y = np.sum(x**3)
        return y, {"steps": 3, "x": x}

    out, tangent, aux = s2s.jvp(f, (X,), (V,), has_aux=True)
    assert out == np.sum(X**3) and aux["steps"] == 3
    np.testing.assert_allclose(tangent, np.sum(3.0 * X**2 * V))
    assert s2s.jvp(f, (X,), (None,), has_aux=True)[1] == 0.0


def test_keywords_and_dtypes():
    def f(x, *, power=2):
        return x**power

    out, tangent = s2s.jvp(f, (X.astype(np.float32),), (V,), power=3)
    assert out.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(tangent, 3.0 * X**2 * V, rtol=1e-5)
    _, tangent = s2s.jvp(f, (2.0,), (1,), power=3)
    assert tangent == 12.0 and type(tangent) is float


def test_complex_tangents():
    z, z_dot = np.array([1.0 + 2.0j, -0.5j]), np.array([0.3 - 1.0j, 2.0 + 0.0j])
    np.testing.assert_allclose(s2s.jvp(lambda z: z**2, (z,), (z_dot,))[1], 2.0 * z * z_dot)
    np.testing.assert_allclose(s2s.jvp(np.abs, (z,), (z_dot,))[1], np.real(np.conj(z) * z_dot) / np.abs(z))


def test_calls_decided_at_run_time():
    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)

    def f(x, pick):
        functions = [np.sin, lambda t: t * t, np.exp]
        total = 0.0
        for k in range(pick):
            total = total + functions[k](x)
        return total * power(x, pick)

    _, tangent = s2s.jvp(f, (0.7, 3), (1.0, None))
    assert tangent == pytest.approx(float(differences(lambda x: f(x, 3), 0.7)), rel=1e-8)


def test_changed_arguments_stay_as_they_are():
    def f(x):
        x[1:] *= x[:-1]
        return x

    x = X.copy()
    out, tangent = s2s.jvp(f, (x,), (V,))
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(out, f(X.copy()))
    np.testing.assert_allclose(tangent, [V[0], V[1] * X[0] + X[1] * V[0], V[2] * X[1] + X[2] * V[1]])


@pytest.mark.parametrize(
    "primals, tangents, said",
    [
        ((X, 2), (V,), "the numbers of primals and tangents differ: 2 and 1"),
        ((X, 2), (V[:2], None), "has shape (2,), the argument has shape (3,)"),
        ((X, 2), (V * 1j, None), "is an array (complex128), the argument is an array"),
        (([X], 2), ((V, V), None), "is a tuple of 2, the argument is a list of 1"),
        (X, (V,), "not a tuple of arguments"),
    ],
)
def test_tangents_that_do_not_fit(primals, tangents, said):
    with pytest.raises(ArgumentError) as info:
        s2s.jvp(bent, primals, tangents)
    assert said in str(info.value)


def test_function_that_is_refused():
    def f(x):
        return np.sum(np.histogram(x)[1]) * np.nextafter(x[0], 2.0)

    with pytest.raises(NoDerivativeError):
        s2s.jvp(f, (X,), (V,))


def newton_sqrt(x, n):
    y = x
    for _ in range(n):
        y = 0.5 * (y + x / y)
    return y


M = np.ones((3, 3))

STRETCHED = {
    "sum": lambda x: (np.linspace(0, 1, 3) + np.prod(x))[1],
    "of_a_median": lambda x: (np.ones(3) - np.median(x))[1],
    "of_the_largest": lambda x: (np.ones(3) + max(0.3, x[0]))[1],
    "slice": lambda x: np.sum((np.arange(3.0) + np.prod(x))[1:]),
    "reshaped": lambda x: (np.ones(3) + np.prod(x)).reshape(3, 1)[1, 0],
    "single": lambda x: (np.ones(3, np.float32) * np.prod(x))[1],
    "complex": lambda x: np.real((np.ones(3) * np.prod(x * (1 + 1j)))[1]),
    "rows": lambda x: np.sum((M + V * np.prod(x) * 2.0 + 1.0)[1:]),
}


@pytest.mark.parametrize("name", STRETCHED)
def test_the_tangent_of_a_number_is_stretched_as_the_number_is(name):
    """That of a number by a rule has no known type, and the array that it is added to has more elements."""
    f = STRETCHED[name]
    wanted = differences(lambda t: f(X + t * V), 0.0)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (V,))[1], wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.grad(f)(X) @ V, wanted, rtol=1e-6)


def test_generated_code():
    text = s2s.source(newton_sqrt, 2.0, 3, mode="jvp")
    assert text[text.index("    y = x") :] == """\
    y = x
    y_dot = x_dot
    for _ in range(n):
        t0 = x / y
        t1_dot = y_dot + (x_dot / y - y_dot * (t0 / y))
        y = 0.5 * (y + t0)
        y_dot = 0.5 * t1_dot
    return y, y_dot
"""


def test_iteration_in_a_block_that_may_be_interrupted():
    def f(x, n):
        total = 1.0
        try:
            for k, value in enumerate(reversed(x)):
                total = total + value**2 * total / (n - k)
        except ZeroDivisionError:
            total = x[0] ** 3
        return total

    for n in (2, 5):
        wanted = differences(lambda t, n=n: float(f([*map(float, X + t * V)], n)), 0.0)
        _, tangent = s2s.jvp(f, ([*map(float, X)], n), ([*map(float, V)], None))
        assert tangent == pytest.approx(float(wanted), rel=1e-8)


FORMULAS = {"product": lambda u, p, q: u * p + q**2, "cube": lambda u: u**3}


def chosen(u, xs, name):
    factors = [2.0 * x for x in xs]
    return FORMULAS[json.loads(name)](u, *factors)


def test_starred_arguments_of_a_function_chosen_when_it_runs():
    xs, xs_dot = np.array([2.0, 3.0]), np.array([1.0, 0.5])
    _, dot = s2s.jvp(chosen, (1.5, xs, '"product"'), (1.0, xs_dot, None))
    assert dot == pytest.approx(2 * 2.0 + 1.5 * 2 * 1.0 + 2 * 6.0 * 2 * 0.5, rel=1e-12)
    _, dot = s2s.jvp(chosen, (1.5, xs, '"product"'), (1.0, None, None))
    assert dot == pytest.approx(4.0, rel=1e-12)
    _, dot = s2s.jvp(chosen, (1.5, xs[:0], '"cube"'), (1.0, None, None))
    assert dot == pytest.approx(3 * 1.5**2, rel=1e-12)


def test_what_a_loop_carries_without_a_tangent_gets_none():
    def f(x, n):
        factor, count = 1.0, 0
        for _ in range(n):
            x = x * factor
            factor = factor * 1.5 + count
            count = count + 1
        return x * factor

    _, tangent = s2s.jvp(f, (0.7, 3), (1.0, None))
    assert tangent == pytest.approx(float(differences(lambda x: f(x, 3), 0.7)), rel=1e-8)
    text = s2s.source(f, 0.7, 3, mode="jvp")
    assert "x_dot = x_dot * factor\n" in text and "factor_dot" not in text and "count_dot" not in text, text


@pytest.mark.filterwarnings("ignore::s2s.StraightThroughWarning")
def test_the_results_of_a_replayed_block_have_the_tangents_of_what_it_gives():
    """Forward mode is what validation compares the reverse sweep with where differences see the steps of rounding."""

    @s2s.checkpoint
    def step(x):
        y = np.round(x) * x
        return y, np.exp(y)

    def f(x):
        y, grown = step(x)
        return y * grown

    (report,) = checked(f, (1.7,))
    assert "reverse" in report.checked and not report.remarks


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
@pytest.mark.parametrize("f", [
    np.linalg.slogdet, np.linalg.svd, np.linalg.qr, np.linalg.eigh, lambda a: np.split(a, 2),
], ids=["slogdet", "svd", "qr", "eigh", "split"])
def test_tangents_of_several_results_have_the_dtypes_of_these(f, dtype):
    a = np.array([[2.0, 0.3], [0.3, 1.5]], dtype)
    results, tangents = s2s.jvp(lambda a: f(a), (a,), (np.ones_like(a),))
    assert [np.asarray(t).dtype for t in tangents] == [np.asarray(r).dtype for r in results]


@pytest.mark.parametrize("f", [
    lambda x: np.concatenate([x, x > 1.5]), lambda x: np.stack((x > 1.5, x * x)), lambda x: np.append(x, x > 1.5),
    lambda x: np.column_stack([x > 1.5, x * x]), lambda x: np.hstack([True, x]),
    lambda x: np.diff(x, prepend=x[:1] > 3.0), lambda x: np.where(x > 1.5, x, x < 3.0),
    lambda x: np.where(x > 1.5, x * x, True), lambda x: np.select([x > 1.5, x < 0.5], [x > 3.0, x * x], x),
    lambda x: np.choose(np.array([1, 0, 1]), [x, x > 1.5]),
], ids=["concatenate", "stack", "append", "columns", "hstack", "diff", "where", "number", "select", "choose"])
def test_booleans_beside_numbers_have_zeros_for_tangents(f):
    x, x_dot = np.array([1.0, 2.0, 0.3]), np.array([0.7, -1.1, 0.4])
    value, tangent = s2s.jvp(f, (x,), (x_dot,))
    np.testing.assert_array_equal(value, f(x))
    np.testing.assert_allclose(tangent, (f(x + 1e-6 * x_dot) - f(x - 1e-6 * x_dot)) / 2e-6, rtol=1e-8, atol=1e-8)
    assert tangent.dtype == float
