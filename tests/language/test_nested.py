"""Functions that take derivatives themselves: of closures, in loops and branches, in every nesting of the modes."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, DifferentiationError, NonScalarOutputError
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8])
V = np.array([1.0, 0.5, -2.0])


def check(f, x=X, rtol=1e-6):
    """``grad``, ``vjp`` and ``jvp`` of a function with one real result, against central differences."""
    wanted = differences(lambda y: float(f(y)), x)
    scale = max(1.0, float(np.max(np.abs(wanted))))
    np.testing.assert_allclose(s2s.grad(f)(x), wanted, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(s2s.vjp(f, x)[1](1.0)[0], wanted, rtol=rtol, atol=rtol * scale)
    direction = V if np.ndim(x) else 1.0
    out, tangent = s2s.jvp(f, (x,), (direction,))
    np.testing.assert_allclose(out, f(x), rtol=1e-13)
    np.testing.assert_allclose(tangent, np.sum(wanted * direction), rtol=rtol, atol=rtol * scale)


def energy(x):
    return np.sum(np.sin(x) * x**2) + x[0] * x[1] * x[2]


def quartic(x):
    return np.sum(x**4)


def scaled(a, b, c=2.0, *, d=1.0):
    return np.sum(a**2 * b) * c * d


# --- perturbations are kept apart ---------------------------------------------------------------------------------


def derivative_forward(f):
    return lambda x: s2s.jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("outer", [s2s.grad, derivative_forward])
@pytest.mark.parametrize("inner", [s2s.grad, derivative_forward])
def test_perturbations_are_not_confused(outer, inner):
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0
    assert inner(lambda z: outer(lambda x: x * inner(lambda y: x * y * z)(2.0))(3.0))(1.0) == 6.0


def test_captures_are_constants_of_the_inner_derivative():
    def f(x):
        return s2s.grad(lambda y: y * x)(x)  # not 2 x

    assert f(3.0) == 3.0
    assert s2s.grad(f)(3.0) == 1.0


# --- closures, loops, branches ------------------------------------------------------------------------------------


def of_a_function(x):
    return np.sum(s2s.grad(energy)(x) ** 2)


def of_a_closure(x):
    def inner(y):
        return np.sum(x * y**3)

    return np.sum(s2s.grad(inner)(x) * x)


def of_a_lambda(x):
    return np.sum(s2s.grad(lambda y: np.sum(np.sin(x * y)))(V) ** 2)


def of_a_number(x):
    return s2s.grad(lambda y: y**3 * np.sum(x**2))(2.0) * x[0]


def unrolled_descent(x):
    w = x
    for _ in range(5):
        w = w - 0.1 * s2s.grad(energy)(w)
    return energy(w)


def descent_that_stops(x):
    w, trips = x, 0
    while np.sum(w**2) > 0.5 and trips < 20:
        w = w - 0.05 * s2s.grad(quartic)(w)
        trips += 1
    return np.sum(w**3)


def meta_learning(theta):
    def loss(w):
        return np.mean((np.tanh(V * w) - theta[0]) ** 2)

    w = theta
    for _ in range(4):
        w = w - 0.3 * s2s.grad(loss)(w)
    return loss(w)


def in_a_branch(x):
    if x[0] > 0:
        return np.sum(s2s.grad(energy)(x) ** 2)
    return np.sum(s2s.grad(quartic)(x))


def of_a_chosen_function(x):
    f = quartic if x[0] > 0 else energy
    return np.sum(s2s.grad(f)(x) ** 2)


def a_chosen_derivative(x):
    g = s2s.grad(quartic) if x[0] > 0 else s2s.grad(energy)
    return np.sum(g(x) ** 2)


def in_a_list(x):
    return sum(np.sum(g(x) * x) for g in [s2s.grad(f) for f in (quartic, energy)])


def made_by_a_function(x):
    def make(a):
        return s2s.grad(lambda y: np.sum(y**2 * a))

    return np.sum(make(x)(x) * x)


def of_a_loop(x):
    def inner(y):
        total, z = 0.0, y
        for i in range(4):
            z = np.tanh(z * x) + 0.1 * i
            total = total + np.sum(z * z)
        return total

    return np.sum(s2s.grad(inner)(x) * x)


def of_a_loop_of_numbers(x):
    def inner(t):
        y = t
        for i in range(5):
            y = np.sin(y) * x[1] + y * y * x[0] + 0.1 * i
        return y

    return s2s.grad(inner)(x[2]) ** 2


def of_stores(x):
    def inner(y):
        b = np.zeros(3)
        for i in range(3):
            b[i] = y[i] ** 2 * x[i]
        b[1] *= y[0]
        return np.sum(b**2)

    return np.sum(s2s.grad(inner)(x) ** 2)


def of_a_function_that_changes_its_argument(x):
    def inner(y):
        y[0] = y[1] * x[2]
        y *= x
        return np.sum(y**2)

    z = x * 1.0
    return np.sum(s2s.grad(inner)(z) ** 2) + np.sum(z**2)


def newton(x):
    y = x[0]
    for _ in range(4):
        value, slope = s2s.value_and_grad(lambda t: t**3 + (x[1] + 3.0) * t - x[2])(y)
        y = y - value / slope
    return y


def per_sample(x):
    rows = np.array([s2s.jvp(s2s.grad(energy), (x,), (e,))[1] for e in np.eye(3)])
    return np.sum(rows**2)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize(
    "f",
    [
        of_a_function, of_a_closure, of_a_lambda, of_a_number, unrolled_descent, descent_that_stops, meta_learning,
        in_a_branch, of_a_chosen_function, a_chosen_derivative, in_a_list, made_by_a_function, of_a_loop,
        of_a_loop_of_numbers, of_stores, of_a_function_that_changes_its_argument, newton, per_sample,
    ],
    ids=lambda f: f.__name__,
)
def test_gradients_inside(f):
    check(f)


def test_the_other_branch():
    for f in (in_a_branch, of_a_chosen_function, a_chosen_derivative):
        check(f, -X)


# --- arguments and results ----------------------------------------------------------------------------------------


@dataclass
class Model:
    w: np.ndarray
    b: float
    n: int = 3

    def loss(self, x):
        return np.sum(np.tanh(self.w * x) + self.b) ** 2


class Cubic:
    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        return np.sum(self.p * x**3)


MODEL, CUBIC = Model(np.array([1.0, 2.0, 3.0]), 0.5), Cubic(np.ones(3))
GRADIENT = s2s.grad(energy)
FIXED = functools.partial(scaled, V)


@s2s.differentiable
def decorated(x):
    return np.sum(x**3)


def of_a_tree(x):
    params = {"w": x * 2.0, "b": [x[0], (x[1], x[2])]}

    def loss(p):
        return np.sum(p["w"] ** 3) * p["b"][0] + p["b"][1][0] ** 2 * p["b"][1][1] ** 2

    g = s2s.grad(loss)(params)
    return np.sum(g["w"] ** 2) + g["b"][0] * g["b"][1][0] + g["b"][1][1]


def of_an_object(x):
    g = s2s.grad(lambda m, y: m.loss(y))(Model(x, x[0]), V)
    assert g.n is None
    return np.sum(g.w**2) + g.b


def with_auxiliary_data(x):
    g, aux = s2s.grad(lambda y: (np.sum(y**3), {"k": y * x}), has_aux=True)(x)
    return np.sum(g * aux["k"])


def value_with_auxiliary_data(x):
    (value, aux), g = s2s.value_and_grad(lambda y: (np.sum(y**3), y * x), has_aux=True)(x)
    return np.sum(g * aux) * value


ARGUMENTS = {
    "a tuple": lambda x: sum(np.sum(g**2) for g in s2s.grad(scaled, argnums=(0, 1))(x, x * 2)),
    "a name": lambda x: np.sum(s2s.grad(scaled, argnums="b")(x, x * 2) ** 2),
    "a keyword": lambda x: s2s.grad(scaled, argnums="d")(x, x * 2, d=x[0]) ** 2,
    "a default": lambda x: s2s.grad(scaled, argnums=2)(x, x * 2) ** 2,
    "from the end": lambda x: np.sum(s2s.grad(scaled, argnums=-1)(x, x * 2, x[0]) ** 2),
    "a partial": lambda x: np.sum(s2s.grad(functools.partial(scaled, x * 3))(x) ** 2),
    "a partial from outside": lambda x: np.sum(s2s.grad(FIXED)(x) ** 2),
    "a derivative from outside": lambda x: np.sum(GRADIENT(x) ** 2),
    "a decorated function": lambda x: np.sum(s2s.grad(decorated)(x) ** 2),
    "a method": lambda x: np.sum(s2s.grad(Model(x, x[0]).loss)(V) ** 2),
    "a method from outside": lambda x: np.sum(s2s.grad(MODEL.loss)(x) ** 2),
    "an object that is called": lambda x: np.sum(s2s.grad(CUBIC)(x) ** 2),
    "starred arguments": lambda x: np.sum(s2s.grad(scaled)(*[x, x], **{"d": 2.0}) ** 2),
    "unconnected": lambda x: np.sum(s2s.grad(lambda y, z: np.sum(y), argnums=1)(x, x) + x),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    check(ARGUMENTS[name])


@pytest.mark.parametrize(
    "f", [of_a_tree, of_an_object, with_auxiliary_data, value_with_auxiliary_data], ids=lambda f: f.__name__
)
def test_structures(f):
    check(f)


def test_unconnected_none():
    def f(x):
        assert s2s.grad(lambda y, z: np.sum(y), argnums=1, unconnected="none")(x, x) is None
        return np.sum(x**2)

    np.testing.assert_array_equal(s2s.grad(f)(X), 2 * X)


# --- vjp and jvp --------------------------------------------------------------------------------------------------


def pulled_back(x):
    out, pullback = s2s.vjp(lambda y: np.sin(y) * x, x)
    return np.sum(pullback(V)[0] * x) + np.sum(out)


def pulled_back_often(x):
    out, pullback = s2s.vjp(lambda y: np.sin(y) * x * y[0], x)
    rows = [pullback(e)[0] for e in np.eye(3)]
    return np.sum(np.array(rows) ** 2) + np.sum(pullback(out)[0])


def pulled_back_through_a_loop_often(x):
    def inner(y):
        z = y
        for _ in range(3):
            z = np.sin(z * x) + z
        return z

    _, pullback = s2s.vjp(inner, x)
    total = 0.0
    for k in range(3):
        total = total + np.sum(pullback(x * k)[0] ** 2)
    return total + np.sum(pullback(V)[0] ** 3)


def pulled_back_to_several(x):
    _, pullback = s2s.vjp(lambda y, z: (y**3 * z, np.sum(y * x)), x, x**2)
    a, b = pullback((x, 2.0))
    return np.sum(a * b)


def pulled_back_with_auxiliary_data(x):
    _, pullback, aux = s2s.vjp(lambda y: (y**3, y * x), x, has_aux=True)
    return np.sum(pullback(aux)[0])


def pushed_forward(x):
    out, dot = s2s.jvp(lambda y: np.sin(y) * x, (x,), (V * x,))
    return np.sum(dot**2) + np.sum(out)


def pushed_forward_with_none(x):
    return np.sum(s2s.jvp(lambda y, z: y**2 * z, (x, x), (None, x))[1] * x)


def pushed_forward_by_nothing(x):
    out, dot = s2s.jvp(lambda y: y**2, (x,), (None,))
    return np.sum(out * x) + np.sum(dot * x)


def pushed_forward_with_auxiliary_data(x):
    _, dot, aux = s2s.jvp(lambda y: (y**3, y * x), (x,), (x * x,), has_aux=True)
    return np.sum(dot * aux)


def pulled_back_by_an_integer(x):
    return np.sum(s2s.vjp(lambda y: np.sum(y**2 * x), x)[1](1)[0] * x)


def pulled_back_past_integers(x):
    """As outside, the pullback gives None for an argument without floats, a list of integers too."""
    _, pullback = s2s.vjp(lambda y, counts, n: np.sum(y**3) * counts[1] * n, x, [2, 3], 2)
    y_bar, counts_bar, n_bar = pullback(x[0])
    assert counts_bar is None and n_bar is None
    return np.sum(y_bar**2)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize(
    "f",
    [
        pulled_back, pulled_back_often, pulled_back_through_a_loop_often, pulled_back_to_several,
        pulled_back_with_auxiliary_data, pushed_forward, pushed_forward_with_none, pushed_forward_by_nothing,
        pushed_forward_with_auxiliary_data, pulled_back_by_an_integer, pulled_back_past_integers,
    ],
    ids=lambda f: f.__name__,
)
def test_vjp_and_jvp_inside(f):
    check(f)


# --- Jacobians, Hessians and products with them -------------------------------------------------------------------


def vector(x):
    return np.sin(x) * x[::-1] * V


HESSIAN, FORWARD, REVERSE, EITHER = s2s.hessian(energy), s2s.jacfwd(vector), s2s.jacrev(vector), s2s.jacobian(vector)


PRODUCT = s2s.hvp(energy)


def linearized(x):
    out, along = s2s.linearize(lambda y: y**3 * x, x)
    return np.sum(out * along(V))


OTHERS = {
    "hvp": lambda x: np.sum(s2s.hvp(energy, (x,), (V * x,)) ** 2),
    "hvp as a function": lambda x: np.sum(s2s.hvp(energy)(x, V * x) ** 2) + np.sum(PRODUCT(x, V)),
    "vhp": lambda x: np.sum(s2s.vhp(energy, (x,), (V * x,)) ** 2),
    "hessian": lambda x: np.linalg.slogdet(s2s.hessian(energy)(x))[1],
    "jacfwd": lambda x: np.sum(s2s.jacfwd(vector)(x) ** 2),
    "jacrev": lambda x: np.sum(s2s.jacrev(lambda y: vector(y) * x)(x) ** 2),
    "jacobian": lambda x: np.linalg.det(s2s.jacobian(lambda y: vector(y) * x)(x)),
    "value_and_jacobian": lambda x: np.sum(s2s.value_and_jacobian(vector)(x)[1] ** 2),
    "elementwise_grad": lambda x: np.sum(s2s.elementwise_grad(lambda y: y**3 * x)(x) ** 2),
    "from outside": lambda x: np.sum(HESSIAN(x) ** 2) + np.sum(FORWARD(x) * REVERSE(x)) + np.sum(EITHER(x)),
    "linearize": linearized,
}


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", OTHERS)
def test_other_transforms_inside(name):
    check(OTHERS[name])


def test_a_jacobian_by_a_container_inside_is_refused():
    with pytest.raises(DifferentiationError, match="by a container"):
        s2s.grad(lambda x: np.sum(s2s.jacfwd(lambda p: p[0] * p[1])((x, x))[0]))(X)


# --- third and fourth order ---------------------------------------------------------------------------------------


def smooth(x):
    h = np.tanh(np.outer(x, x) @ x)
    for i in range(3):
        h = h * np.sin(x[i]) + x
    return np.sum(h * h)


def gradient(f):
    return lambda x: s2s.grad(f)(x) @ V


def directional(f):
    return lambda x: s2s.jvp(f, (x,), (V,))[1]


def pulled(f):
    return lambda x: s2s.vjp(f, x)[1](1.0)[0] @ V


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("first", [gradient, directional, pulled])
@pytest.mark.parametrize("second", [gradient, directional, pulled])
@pytest.mark.parametrize("third", [gradient, directional])
def test_third_derivatives(first, second, third):
    """Every nesting gives the third derivative along ``V``."""
    f = third(second(first(smooth)))
    wanted = differences(lambda t: float(gradient(gradient(smooth))(X + t * V)), 0.0)
    np.testing.assert_allclose(f(X), wanted, rtol=1e-4)


@pytest.mark.parametrize("modes", ["rrrr", "rfrf", "frfr", "ffff", "rrff"])
def test_fourth_derivatives(modes):
    x, s, c = 0.7, np.sin(0.7), np.cos(0.7)

    def f(x):
        return x**5 * np.sin(x)

    for mode in modes:
        f = s2s.grad(f) if mode == "r" else derivative_forward(f)
    assert f(x) == pytest.approx(120 * x * s + 240 * x**2 * c - 120 * x**3 * s - 20 * x**4 * c + x**5 * s, rel=1e-12)


def test_values_that_stores_of_the_inner_derivative_hold():
    def f(x):
        h = x
        for _ in range(5):
            h = np.tanh(h * x) + h
        return h

    def along(x):
        return s2s.jvp(s2s.grad(f), (x,), (1.0,))[1]

    assert s2s.grad(along)(0.83) == pytest.approx(differences(along, 0.83), rel=1e-6)


@pytest.mark.parametrize("view", [lambda a: a[None], lambda a: a[1:], lambda a: a[:]])
def test_an_unread_name_of_a_view_that_an_inner_derivative_changes(view):
    def f(x):
        a = x * x
        v = view(a)
        v *= x[1]
        return np.sum(a**2)

    def along(x):
        return np.sum(s2s.grad(f)(x) * np.arange(1.0, 4.0))

    wanted = differences(along, X)
    np.testing.assert_allclose(s2s.grad(along)(X), wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(along, (X,), (X,))[1], wanted @ X, rtol=1e-7)


def test_third_order_inside():
    def f(x):
        return np.sum(s2s.grad(lambda y: np.sum(s2s.grad(lambda z: np.sum(s2s.grad(energy)(z) * y * x))(y)))(x))

    check(f, rtol=1e-4)


def test_reverse_over_reverse_over_reverse_of_a_loop():
    f = lambda x: np.sum(s2s.grad(of_a_loop)(x) * x)  # noqa: E731
    check(f, rtol=1e-4)


# --- what is refused ----------------------------------------------------------------------------------------------


def late(x):
    def inner(y):
        return np.sum(x * y**2)

    g = s2s.grad(inner)
    x = x + 1
    return np.sum(g(V) * x)


def late_in_a_loop(x):
    def inner(y):
        return np.sum(x * y**2)

    g = s2s.grad(inner)
    for _ in range(2):
        x = x - 0.1 * g(x)
    return np.sum(x)


def late_partial(x):
    def inner(y, z):
        return np.sum(x * y**2 * z)

    g = functools.partial(inner, V)
    x = x + 1
    return g(x)


def changes_an_array(x):
    b = np.zeros(3)

    def inner(y):
        b[0] = y[0]
        return np.sum(y**2)

    return np.sum(s2s.grad(inner)(x) * x) + b[0]


def changes_a_list(x):
    b = []

    def inner(y):
        b.append(y[0])
        return np.sum(y**2)

    return np.sum(s2s.grad(inner)(x) * x) + b[0]


@pytest.mark.parametrize(
    "f, code",
    [
        (late, "S2S205"), (late_in_a_loop, "S2S205"), (late_partial, "S2S205"), (changes_an_array, "S2S144"),
        (changes_a_list, "S2S144"),
    ],
    ids=lambda f: getattr(f, "__name__", f),
)
def test_refused(f, code):
    with pytest.raises(DifferentiationError) as problem:
        s2s.grad(f)(X)
    assert problem.value.diagnostic.code == code


def test_a_function_made_anew_in_each_trip_sees_what_it_should():
    def f(x):
        for _ in range(3):
            x = x - 0.1 * s2s.grad(lambda y: np.sum(x * y**3))(x)
        return np.sum(x)

    check(f)


def test_arguments_that_do_not_fit():
    with pytest.raises(ArgumentError, match="is an integer"):
        s2s.grad(lambda x: s2s.grad(lambda y: y**2)(2) * x)(1.0)
    with pytest.raises(ArgumentError, match="has no argument number 1"):
        s2s.grad(lambda x: s2s.grad(lambda y: y**2, argnums=1)(x))(1.0)
    with pytest.raises(ArgumentError, match="has no argument `z`"):
        s2s.grad(lambda x: s2s.grad(lambda y: y**2, argnums="z")(x))(1.0)
    with pytest.raises(NonScalarOutputError, match="shape"):
        s2s.grad(lambda x: s2s.grad(lambda y: y**2)(x)[0])(X)
    with pytest.raises(ArgumentError, match=r"shape \(4,\)"):
        s2s.grad(lambda x: np.sum(s2s.vjp(lambda y: y**2, x)[1](np.ones(4))[0]))(X)
    with pytest.raises(ArgumentError, match=r"shape \(4,\)"):
        s2s.grad(lambda x: np.sum(s2s.jvp(lambda y: y**2, (x,), (np.ones(4),))[1]))(X)


def test_an_array_that_is_changed_must_not_be_another_argument():
    def changes(y, z):
        y[0] = z[1] ** 2
        return np.sum(y * z)

    def f(x):
        return np.sum(s2s.grad(changes)(x, x) ** 2)

    with pytest.raises(ValueError, match="change a copy"):
        s2s.grad(f)(X)


# --- factors of products ------------------------------------------------------------------------------------------

A, B = np.arange(1.0, 7.0).reshape(2, 3) / 5, np.array([[0.3, -1.0, 2.0], [0.5, 0.4, 0.2], [1.0, -2.0, 0.1]])


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.sum(np.tensordot(a, b, 1) ** 2), lambda a, b: np.sum(np.kron(a, b) ** 3),
        lambda a, b: np.sum(np.einsum("ij,jk,ij->ik", a, b, a) ** 2),
    ],
    ids=["tensordot", "kron", "einsum"],
)
def test_products_of_which_both_factors_move(f):
    g = s2s.grad(f, argnums=(0, 1))
    moves = (np.cos(A), np.sin(B))
    for found, k in zip(s2s.jvp(g, (A, B), moves)[1], range(2)):
        wanted = [differences(lambda t, i=i: g(A + t * moves[0], B + t * moves[1])[k].flat[i], 0.0)
                  for i in range(found.size)]
        np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-7)


# --- how it reads, and what it costs ------------------------------------------------------------------------------


def test_generated_code_is_written_out():
    text = "\n".join(line.partition("#")[0] for line in s2s.source(unrolled_descent, X).splitlines())
    assert "s2s" not in text.partition('"""')[2].partition('"""')[2] and "rt." not in text
    text = s2s.source(of_a_loop, X)
    assert "[:-1]" not in text and "reversed(range(4))" in text


def test_the_work_is_linear_in_the_trips():
    """Lists of what the sweeps keep are popped from, not copied."""

    def f(x, n):
        y = x
        for _ in range(n):
            y = np.tanh(y * x)
        return np.sum(y)

    text = s2s.source(lambda x, n: np.sum(s2s.grad(f)(x, n) * x), X, 5)
    assert ".pop()" in text and "[:-1]" not in text
    text = s2s.source(lambda x, n: s2s.jvp(s2s.grad(f), (x, n), (x, None))[1], X, 5, mode="vjp")
    assert ".pop()" in text and "[:-1]" not in text


def test_an_integer_has_no_tangent_but_zero():
    def moved(x):
        return s2s.jvp(lambda n, t: n * t**2, (3, x), (1.0, 1.0))[1]

    with pytest.raises(ArgumentError, match="is an integer"):
        s2s.grad(moved)(1.3)
    assert s2s.grad(lambda x: s2s.jvp(lambda n, t: n * t**2, (3, x), (0.0, 1.0))[1])(1.3) == 6.0
    assert s2s.grad(lambda x: s2s.jvp(lambda n, t: n * t**2, (3, x), (None, 1.0))[1])(1.3) == 6.0
