"""Implicit functions: derivatives of a solution by one linear solve, in both modes, to second order."""

import math
import pickle

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.sparse import linalg

import s2s
from s2s import errors
from tests.helpers import differences

# --- scalars --------------------------------------------------------------------------------------------------------


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-13:
        x = x - (x * x - a) / (2.0 * x)
    return x


square_root = s2s.implicit(newton, lambda x, a: x * x - a)
cube_root = s2s.implicit(lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 10.0, xtol=1e-14), lambda x, a: x**3 - a)


def fixed_point(a, b, tolerance=1e-14):
    x, old = 0.0, 1.0
    while abs(x - old) > tolerance:
        x, old = 0.5 * math.cos(a * x) + b, x
    return x


kepler = s2s.implicit(fixed_point, lambda x, a, b: 0.5 * math.cos(a * x) + b - x)


@pytest.mark.slow
@pytest.mark.parametrize("root, power", [(square_root, 1 / 2), (cube_root, 1 / 3)], ids=["newton", "brentq"])
def test_roots(root, power):
    a = 2.0
    first, second = power * a ** (power - 1), power * (power - 1) * a ** (power - 2)
    assert root(a) == pytest.approx(a**power) and s2s.grad(root)(a) == pytest.approx(first)
    assert s2s.jvp(root, (a,), (3.0,))[1] == pytest.approx(3 * first)
    f = lambda a: float(root(a))  # noqa: E731
    for found in (
        s2s.grad(s2s.grad(root))(a), s2s.hessian(f)(a), s2s.hvp(root, (a,), (1.0,)),
        s2s.jvp(s2s.grad(root), (a,), (1.0,))[1], s2s.grad(lambda a: s2s.jvp(root, (a,), (1.0,))[1])(a),
        s2s.jvp(lambda a: s2s.jvp(root, (a,), (1.0,))[1], (a,), (1.0,))[1],
        s2s.grad(lambda a: s2s.grad(root)(a))(a),
    ):
        assert found == pytest.approx(second)


def test_third_derivative():
    third = s2s.grad(s2s.grad(s2s.grad(square_root)))(2.0)
    assert third == pytest.approx(3 / 8 * 2 ** (-5 / 2))


def test_several_arguments():
    a, b = 0.7, 0.3
    value, tangents = kepler(a, b), s2s.grad(kepler, argnums=(0, 1))(a, b)
    slope = 1 + 0.5 * a * math.sin(a * value)
    assert tangents == pytest.approx((-0.5 * value * math.sin(a * value) / slope, 1 / slope))
    assert s2s.jvp(kepler, (a, b), (1.0, 2.0))[1] == pytest.approx(tangents[0] + 2 * tangents[1])
    assert s2s.grad(lambda a: kepler(a, b, tolerance=1e-3))(a) == pytest.approx(tangents[0], rel=1e-2)


# --- arrays ---------------------------------------------------------------------------------------------------------

A = np.array([[3.0, 1.0, 0.2], [0.5, 2.0, -1.0], [0.1, 0.0, 1.5]])
B = np.array([0.4, 1.2, -0.7])

solve = s2s.implicit(lambda A, b: np.linalg.solve(A, b), lambda x, A, b: A @ x - b)


def cubic(x, a):
    return x**3 + a * x - np.arange(1.0, 4.0) + 0.1 * np.sum(x)


def cubic_root(a):
    return optimize.root(cubic, np.ones(3), args=(a,), tol=1e-14).x


def gmres(matvec, b):
    operator = linalg.LinearOperator((len(b), len(b)), matvec=matvec, dtype=float)
    return linalg.gmres(operator, b, rtol=1e-14, atol=0.0)[0]


dense, matrix_free = s2s.implicit(cubic_root, cubic), s2s.implicit(cubic_root, cubic, linear_solve=gmres)


def second_derivatives(f, x, v):
    """The Hessian times a vector, in all four nestings."""
    return [
        s2s.hvp(f, (x,), (v,)), s2s.jvp(s2s.grad(f), (x,), (v,))[1],
        s2s.grad(lambda x: np.sum(s2s.grad(f)(x) * v))(x), s2s.grad(lambda x: s2s.jvp(f, (x,), (v,))[1])(x),
    ]


@pytest.mark.slow
def test_linear_system():
    f, plain = lambda A, b: np.sum(solve(2.0 * A, b) ** 3), lambda A, b: np.sum(np.linalg.solve(2.0 * A, b) ** 3)
    for found, expected in zip(s2s.grad(f, argnums=(0, 1))(A, B), s2s.grad(plain, argnums=(0, 1))(A, B)):
        assert np.allclose(found, expected)
    assert np.allclose(s2s.jvp(f, (A, B), (A.T, B)), s2s.jvp(plain, (A, B), (A.T, B)))
    of_matrix, expected = lambda A: f(A, B), s2s.hessian(plain)(A, B)
    assert np.allclose(s2s.hessian(f)(A, B), expected)
    for found in second_derivatives(of_matrix, A, A.T):
        assert np.allclose(found, np.tensordot(expected, A.T))


@pytest.mark.slow
@pytest.mark.parametrize("root", [dense, matrix_free], ids=["dense", "matrix-free"])
def test_systems(root):
    f, a, v = lambda a: np.sum(np.sin(root(a))), np.array([1.0, 2.0, 3.0]), np.array([1.0, -0.5, 0.3])  # noqa: E731
    gradient = differences(f, a)
    assert np.allclose(s2s.grad(f)(a), gradient, rtol=1e-7) and np.isclose(s2s.jvp(f, (a,), (v,))[1], gradient @ v)
    h = 1e-5
    expected = (s2s.grad(f)(a + h * v) - s2s.grad(f)(a - h * v)) / (2 * h)
    for found in second_derivatives(f, a, v):
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-8)
    twice = s2s.jvp(lambda a: s2s.jvp(f, (a,), (v,))[1], (a,), (v,))[1]
    assert np.isclose(twice, expected @ v, rtol=1e-6)
    assert s2s.grad(f)(a.astype(np.float32)).dtype == np.float32


def balance(x, p, kind):
    reaction = x**3 if kind == "cubic" else np.exp(x)
    return reaction + p["k"] * x - p["b"][0] + 0.1 * np.sum(x)


def balanced(p, kind):
    flat = lambda x: balance(x.reshape(2, 2), p, kind).ravel()  # noqa: E731
    return optimize.root(flat, np.ones(4), tol=1e-14).x.reshape(2, 2)


balance_root = s2s.implicit(balanced, balance)


@pytest.mark.parametrize("kind", ["cubic", "exponential"])
def test_matrices_and_structures(kind):
    f = lambda p: np.sum(np.sin(balance_root(p, kind)))  # noqa: E731
    p = {"k": 2.0, "b": [np.array([[1.0, 2.0], [3.0, 4.0]])]}
    found, expected = s2s.grad(f)(p), differences(f, p)
    assert np.isclose(found["k"], expected["k"]) and np.allclose(found["b"][0], expected["b"][0])
    direction = {"k": 1.0, "b": [np.zeros((2, 2))]}
    assert np.isclose(s2s.jvp(f, (p,), (direction,))[1], expected["k"])
    up, down = (s2s.grad(f)({**p, "k": p["k"] + h})["b"][0] for h in (1e-5, -1e-5))
    assert np.allclose(s2s.jvp(s2s.grad(f), (p,), (direction,))[1]["b"][0], (up - down) / 2e-5, atol=1e-8)


def inner_loss(w, weight):
    return np.sum((w - np.arange(3.0)) ** 4 / 4) + weight * np.sum(w * w)


def fitted(weight):
    slope = lambda w: (w - np.arange(3.0)) ** 3 + 2 * weight * w  # noqa: E731
    return np.asarray(optimize.root(slope, np.ones(3), tol=1e-14).x, float)


@pytest.mark.slow
def test_a_minimum_by_its_gradient():
    best = s2s.implicit(fitted, lambda w, weight: s2s.grad(inner_loss)(w, weight))
    outer, h = lambda weight: np.sum(best(weight) ** 2), 1e-5  # noqa: E731
    gradient = s2s.grad(outer)
    assert np.isclose(gradient(0.3), (outer(0.3 + h) - outer(0.3 - h)) / (2 * h))
    assert np.isclose(s2s.jvp(outer, (0.3,), (1.0,))[1], gradient(0.3))
    expected = (gradient(0.3 + h) - gradient(0.3 - h)) / (2 * h)
    assert np.isclose(s2s.grad(gradient)(0.3), expected) and np.isclose(s2s.hvp(outer, (0.3,), (1.0,)), expected)


def test_an_equation_with_a_solution_inside():
    nested = s2s.implicit(
        lambda a: float(optimize.brentq(lambda x: square_root(x) * x - a, 0.1, 10.0, xtol=1e-14)),
        lambda x, a: square_root(x) * x - a,
    )
    assert s2s.grad(nested)(2.0) == pytest.approx(2 / 3 * 2 ** (-1 / 3))
    assert s2s.hessian(nested)(2.0) == pytest.approx(-2 / 9 * 2 ** (-4 / 3))


def test_a_fixed_point_is_as_its_iterations():
    def iterated(T):
        x = np.zeros(3)
        for _ in range(100):
            x = np.tanh(T @ x + 0.5)
        return x

    fixed, T = s2s.implicit(iterated, lambda x, T: np.tanh(T @ x + 0.5) - x), 0.1 * A
    f, plain = lambda T: np.sum(fixed(T) ** 2), lambda T: np.sum(iterated(T) ** 2)
    assert np.allclose(s2s.grad(f)(T), s2s.grad(plain)(T)) and np.allclose(s2s.hessian(f)(T), s2s.hessian(plain)(T))


# --- where it stands ------------------------------------------------------------------------------------------------


def in_a_loop(a):
    y = np.zeros_like(a)
    for i in range(len(a)):
        y[i] = square_root(a[i]) * a[i - 1]
    y[1:] *= kepler(a[0], 0.3)
    return np.sum(y)


def test_in_loops_and_stores():
    a = np.array([0.7, 2.0, 1.4])
    plain = lambda a: np.sum(np.sqrt(a) * np.roll(a, 1) * np.where(np.arange(3) > 0, fixed_point(a[0], 0.3), 1.0))  # noqa: E731
    assert np.allclose(s2s.grad(in_a_loop)(a), differences(plain, a), rtol=1e-7)
    h = 1e-5
    expected = np.array([(s2s.grad(in_a_loop)(a + e) - s2s.grad(in_a_loop)(a - e)) / (2 * h) for e in h * np.eye(3)])
    assert np.allclose(s2s.hessian(in_a_loop)(a), expected, rtol=1e-5, atol=1e-7)


def test_called_from_a_library():
    area = lambda a: integrate.quad(lambda t: square_root(a * t), 0.5, 1.0)[0]  # noqa: E731
    scale = 2 / 3 * (1 - 0.5**1.5)
    assert np.isclose(area(2.0), scale * math.sqrt(2.0))
    assert np.isclose(s2s.grad(area)(2.0), scale / (2 * math.sqrt(2.0)))
    mapped = np.vectorize(square_root)
    assert np.allclose(s2s.grad(lambda a: np.sum(mapped(a)))(np.array([1.0, 4.0])), [0.5, 0.25])


def made_inside(a):
    def solver(a):
        return optimize.brentq(lambda x: x**3 - a, 0.0, 10.0, xtol=1e-14)

    return s2s.implicit(solver, lambda x, a: x**3 - a)(a) * a


def test_made_inside_a_function():
    a = 2.0
    assert s2s.grad(made_inside)(a) == pytest.approx(4 / 3 * a ** (1 / 3))
    assert s2s.jvp(made_inside, (a,), (1.0,))[1] == pytest.approx(4 / 3 * a ** (1 / 3))
    assert s2s.grad(s2s.grad(made_inside))(a) == pytest.approx(4 / 9 * a ** (-2 / 3))


def test_starting_values_have_no_derivative():
    def f(a):
        start = 2.0 * a

        def solver(a):
            x = start
            for _ in range(60):
                x = x - (x**3 - a) / (3 * x * x)
            return x

        return s2s.implicit(solver, lambda x, a: x**3 - a)(a)

    assert s2s.grad(f)(2.0) == pytest.approx(2 ** (-2 / 3) / 3)


class Model:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def residual(self, x, load):
        return self.stiffness * x**3 - load

    def solve(self, load):
        return s2s.implicit(self._solve, self.residual)(load)

    def _solve(self, load):
        return (load / self.stiffness) ** (1 / 3)


def test_methods():
    model = Model(2.0)
    assert s2s.grad(model.solve)(16.0) == pytest.approx(2.0 / 48.0)
    assert s2s.jvp(model.solve, (16.0,), (1.0,))[1] == pytest.approx(2.0 / 48.0)


# --- cost and code --------------------------------------------------------------------------------------------------


def test_the_solver_is_not_differentiated():
    steps = []

    def solver(a):
        x = 1.0
        while abs(x * x - a) > 1e-13:
            steps.append(x)
            x = x - (x * x - a) / (2.0 * x)
        return x

    root = s2s.implicit(solver, lambda x, a: x * x - a)
    root(2.0)
    once = len(steps)
    steps.clear()
    assert s2s.grad(lambda a: root(a) ** 2)(2.0) == pytest.approx(1.0)
    assert len(steps) == once
    text = s2s.source(lambda a: root(a) ** 2, 2.0)
    assert "while" not in text and "saved" not in text


def test_the_rule_is_written_out():
    text = s2s.source(lambda A, b: np.sum(solve(A, b) ** 2), A, B)
    assert text.count("np.linalg.solve(") == 1 and "cotangents_of_solution" not in text
    text = s2s.source(lambda a: square_root(a) ** 2, 2.0)
    assert "rt." not in text and "equations" not in text
    text = s2s.source(lambda a: square_root(a) ** 2, 2.0, mode="jvp")
    assert "rt." not in text and "equations" not in text


def test_pickles():
    found = pickle.loads(pickle.dumps(s2s.implicit(balanced, balance)))
    assert found.func is balanced and found.residual is balance


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_singular_jacobian_raises():
    flat = s2s.implicit(lambda a: 0.0, lambda x, a: x * x * a)
    with pytest.raises(ZeroDivisionError):
        s2s.grad(flat)(1.0)
    flat = s2s.implicit(lambda a: 0.0 * a, lambda x, a: x * x * a)
    with pytest.raises(np.linalg.LinAlgError):
        s2s.grad(lambda a: np.sum(flat(a)))(B)


def test_captured_values_of_a_residual_are_refused():
    f = lambda a: s2s.implicit(lambda: 1.0, lambda x: x**3 - a)()  # noqa: E731
    with pytest.raises(errors.UnsupportedSyntaxError, match="to the residual as an argument"):
        s2s.grad(f)(2.0)


def test_wrong_solutions():
    pair = s2s.implicit(lambda a: (a, a), lambda x, a: (x[0] - a, x[1] - a))
    for derivative in (s2s.grad(lambda a: sum(pair(a))), lambda a: s2s.jvp(lambda a: sum(pair(a)), (a,), (1.0,))):
        with pytest.raises(errors.ArgumentError, match="S2S524"):
            derivative(1.0)
    for arguments in ((3, newton), (newton, 3), (newton, newton, 3)):
        with pytest.raises(errors.ArgumentError, match="S2S507"):
            s2s.implicit(*arguments[:2], linear_solve=arguments[2] if len(arguments) > 2 else None)


def test_a_residual_that_does_not_take_the_arguments():
    for residual in (lambda x: x, lambda x, a, b: x * x - a):
        root = s2s.implicit(lambda a: np.sqrt(a), residual)
        with pytest.raises(errors.ArgumentError, match=r"residual .*<lambda> \(test_implicit.py:\d+\) does not accept"):
            s2s.grad(root)(2.0)
