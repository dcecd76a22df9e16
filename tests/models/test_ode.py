"""Solutions of differential equations by the state at the beginning, parameters, captured values and times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate

import s2s
from s2s.errors import NoDerivativeError
from s2s.models import ode
from tests.helpers import jax_in_doubles

TIGHT = {"rtol": 1e-10, "atol": 1e-10}


def differences(f: Any, arguments: list[float], k: int, h: float) -> float:
    """The central difference of fourth order by one argument."""

    def at(change: float) -> Any:
        return f(*arguments[:k], arguments[k] + change, *arguments[k + 1 :])

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


# --- an oscillator: y = a cos(w (t - s)) + b / w sin(w (t - s)) -------------------------------------------------------


def oscillator(t, y, w):
    return [y[1], -w * w * y[0]]


def by_steps(w, a, b, start, end, method):
    return integrate.solve_ivp(oscillator, (start, end), [a, b], method, args=(w,), rtol=1e-10, atol=1e-10).y[0, -1]


def by_odeint(w, a, b, start, end):
    def slope(y, t):
        return np.array([y[1], -w * w * y[0]])

    times = np.array([start, 0.3 * start + 0.7 * end, end])
    return integrate.odeint(slope, [a, b], times, rtol=1e-10, atol=1e-10)[2, 0]


def position(w, a, b, start, end):
    return a * np.cos(w * (end - start)) + b / w * np.sin(w * (end - start))


AT = [1.3, 0.7, 0.4, 0.2, 1.9]
BACK = [1.3, 0.7, 0.4, 1.9, 0.2]


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint"])
def test_an_oscillator(method: str) -> None:
    """Values are SciPy's, derivatives as accurate as the tolerances, in both modes."""
    if method == "odeint":
        f: Any = by_odeint
    else:
        def f(w, a, b, start, end):
            return by_steps(w, a, b, start, end, method)

    for arguments in (AT, BACK):
        expected = [differences(position, arguments, k, 1e-3) for k in range(5)]
        value, gradient = s2s.value_and_grad(f, argnums=(0, 1, 2, 3, 4))(*arguments)
        assert value == f(*arguments)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    direction = (1.0, -0.5, 0.3, 0.2, 0.7)
    _, tangent = s2s.jvp(f, tuple(BACK), direction)
    assert tangent == pytest.approx(np.dot(direction, expected), rel=1e-7)


def growth(k, method):
    found = integrate.solve_ivp(lambda t, y: k * y * t, (0.0, 1.2), [2.0], method, rtol=1e-9, atol=1e-9)
    return found.y[0, -1]


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_second_derivatives(method: str) -> None:
    """2 exp(0.72 k) twice."""
    expected = 2.0 * 0.72**2 * np.exp(0.72 * 0.9)
    assert s2s.hvp(lambda k: growth(k, method), (0.9,), (1.0,)) == pytest.approx(expected, rel=1e-6)
    assert s2s.grad(s2s.grad(lambda k: growth(k, method)))(0.9) == pytest.approx(expected, rel=1e-6)


def pulled(y, t, a, b):
    return -np.sqrt(t) - y + a - np.mean((y + b) ** 2)


@pytest.mark.slow
def test_every_argument_to_second_order() -> None:
    y, t = np.array([0.3, -0.5, 1.2]), np.linspace(0.1, 0.2, 4)
    more = (np.array([0.4, 0.1, -0.7]), np.array([0.2, 1.1, 0.5]))
    s2s.check_grads(lambda y, t, more: integrate.odeint(pulled, y, t, more, **TIGHT), (y, t, more), rtol=1e-4)


# --- forms of calls and of results ------------------------------------------------------------------------------------


def linear(m, y):
    return integrate.odeint(lambda y, t: -m @ y, y, np.linspace(0.0, 0.8, 5), **TIGHT)


@pytest.mark.slow
def test_matrices_and_jacobians() -> None:
    """exp(-0.8 m) y by y is the matrix, by m as by differences of it."""
    from scipy.linalg import expm

    m, y = np.array([[1.0, 0.2], [0.1, 0.5]]), np.array([1.0, 2.0])
    for jacobian in (s2s.jacrev, s2s.jacfwd):
        np.testing.assert_allclose(jacobian(lambda y: linear(m, y)[-1])(y), expm(-0.8 * m), rtol=1e-7)
    found = s2s.grad(lambda m: np.sum(linear(m, y)[-1]))(m)
    for i, j in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[i, j] = 1e-5
        expected = np.sum((expm(-0.8 * (m + unit)) - expm(-0.8 * (m - unit))) @ y) / 2e-5
        assert found[i, j] == pytest.approx(expected, rel=1e-6)


def interpolated(k, s):
    found = integrate.solve_ivp(
        lambda t, y: -k * y, (0.0, 2.0), np.array([1.0]), integrate.DOP853, dense_output=True, **TIGHT)
    return found.sol(s)[0] + np.sum(found.sol(np.array([0.2, s]))) if found.success else 0.0


def chosen_times(k, s):
    found = integrate.solve_ivp(lambda t, y: -k * y, (0.0, 2.0), [1.0], t_eval=np.array([0.2, s, 1.9]), **TIGHT)
    return found.y[0, 0] + 2.0 * found["y"][0, 1] + s * found.t[0]


@pytest.mark.parametrize("f, more", [(interpolated, 0.0), (chosen_times, 0.2)])
def test_between_the_steps(f: Any, more: float) -> None:
    k, s = 0.8, 1.1
    expected = (-0.2 * np.exp(-0.2 * k) - 2.0 * s * np.exp(-k * s), more - 2.0 * k * np.exp(-k * s))
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1))(k, s), expected, rtol=1e-6)


def turning(k):
    found = integrate.solve_ivp(lambda t, y: (1j * k - 0.1) * y, (0.0, 2.0), np.array([1.0 + 0.5j]), **TIGHT)
    return np.real(found.y[0, -1])


def test_complex_states() -> None:
    expected = np.real((1.0 + 0.5j) * 2j * np.exp((1.3j - 0.1) * 2.0))
    assert s2s.grad(turning)(1.3) == pytest.approx(expected, rel=1e-7)


# --- stiff: the reaction of Robertson ---------------------------------------------------------------------------------


def reaction(t, y, a, b, c):
    first, second = -a * y[0] + b * y[1] * y[2], c * y[1] ** 2
    return np.array([first, -first - second, second])


def reacted(a, b, c, method="BDF", rtol=1e-7):
    found = integrate.solve_ivp(
        reaction, (0.0, 40.0), [1.0, 0.0, 0.0], method, args=(0.04 * a, 1e4 * b, 3e7 * c), rtol=rtol, atol=1e-4 * rtol)
    return found.y[0, -1] + 1e4 * found.y[1, -1]


def reacted_by_odeint(a, b, c):
    y = integrate.odeint(
        reaction, [1.0, 0.0, 0.0], [0.0, 1.0, 40.0], (0.04 * a, 1e4 * b, 3e7 * c), rtol=1e-7, atol=1e-11, tfirst=True)
    return y[-1, 0] + 1e4 * y[-1, 1]


@pytest.mark.slow
def test_stiff_equations() -> None:
    expected = [
        differences(lambda a, b, c: reacted(a, b, c, "Radau", 1e-11), [1.0, 1.0, 1.0], k, 1e-2) for k in range(3)]
    for f in (reacted, reacted_by_odeint, lambda a, b, c: reacted(a, b, c, "LSODA")):
        np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1, 2))(1.0, 1.0, 1.0), expected, rtol=1e-5)


def by_state(t, y, a, b, c):
    first, second = np.array([-a, b * y[2], b * y[1]]), np.array([0.0, 2.0 * c * y[1], 0.0])
    return np.array([first, -first - second, second])


def test_the_derivative_by_the_state_may_be_given() -> None:
    def f(a, jac):
        found = integrate.solve_ivp(
            reaction, (0.0, 4.0), [1.0, 0.0, 0.0], "Radau", args=(0.04 * a, 1e4, 3e7), jac=jac, rtol=1e-8, atol=1e-11)
        return found.y[0, -1]

    assert s2s.grad(lambda a: f(a, by_state))(1.0) == pytest.approx(s2s.grad(lambda a: f(a, None))(1.0), rel=1e-8)


# --- a peer, refusals -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_as_a_peer_has_it() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    times = np.array([0.0, 0.5, 1.5])

    def theirs(k, y0):
        def slope(y, t, k):
            return jnp.array([y[1], -k * y[0] * jnp.cos(t)])

        return jnp.sum(odeint(slope, y0, times, k, rtol=1e-10, atol=1e-10) ** 2)

    def ours(k, y0):
        def slope(y, t, k):
            return np.array([y[1], -k * y[0] * np.cos(t)])

        return np.sum(integrate.odeint(slope, y0, times, (k,), **TIGHT) ** 2)

    y0 = np.array([1.0, 0.3])
    with jax_in_doubles() as jax:
        expected = jax.grad(theirs, (0, 1))(0.4, y0)
    found = s2s.grad(ours, argnums=(0, 1))(0.4, y0)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-7)


@pytest.mark.parametrize(
    "option, reason",
    [
        ({"vectorized": True}, "one state"),
        ({"method": "x"}, "RK45"),
    ],
)
def test_refused_by_name(option: Any, reason: str) -> None:
    def f(w):
        return integrate.solve_ivp(oscillator, (0.0, 1.0), [1.0, 0.0], args=(w,), **option).y[0, -1]

    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(f)(1.0)


# --- events -----------------------------------------------------------------------------------------------------------


def fall(t, y, gravity):
    return [y[1], -gravity]


def on_the_ground(t, y, gravity):
    return y[0]


on_the_ground.terminal, on_the_ground.direction = True, -1  # type: ignore[attr-defined]


def at_the_top(t, y, gravity):
    return y[1]


NARROW = {"rtol": 1e-10, "atol": 1e-12}


def thrown(p, **options):
    options = {**NARROW, "dense_output": True, **options}
    return integrate.solve_ivp(
        fall, (0.0, 10.0), [p[0], p[1]], events=(on_the_ground, at_the_top), args=(p[2],), **options)


def landing(p):
    return (p[1] + np.sqrt(p[1] ** 2 + 2.0 * p[2] * p[0])) / p[2]


def what_happens(p):
    found = thrown(p)
    (hit,), (top,) = found.t_events[0], found.t_events[1]
    return np.array([
        hit, found.t[-1], found.y[1, -1], found.y_events[0][0][1], top, found.y_events[1][0][0], found.sol(0.5)[0]])


def as_it_is(p):
    end, top = landing(p), p[1] / p[2]
    return np.array([
        end, end, p[1] - p[2] * end, p[1] - p[2] * end, top, p[0] + p[1] ** 2 / (2.0 * p[2]),
        p[0] + p[1] * 0.5 - p[2] * 0.125])


@pytest.mark.slow
def test_events():
    p, v = np.array([2.0, 3.0, 9.0]), np.array([0.3, -1.0, 0.5])
    weights = np.array([1.0, 2.0, -0.5, 3.0, 0.7, -1.2, 0.4])
    f, exact = lambda p: what_happens(p) @ weights, lambda p: as_it_is(p) @ weights
    np.testing.assert_allclose(what_happens(p), as_it_is(p), rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(what_happens)(p), s2s.jacfwd(as_it_is)(p), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.grad(f)(p), s2s.grad(exact)(p), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.hvp(f, (p,), (v,)), s2s.hvp(exact, (p,), (v,)), rtol=1e-5, atol=1e-6)


def test_an_event_and_times_that_are_given():
    p, t = np.array([2.0, 3.0, 9.0]), np.linspace(0.0, 0.9, 4)
    found = s2s.jacrev(lambda p: thrown(p, t_eval=t, method="DOP853").y[0])(p)
    np.testing.assert_allclose(found, np.stack([np.ones(4), t, -t * t / 2.0], axis=1), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_an_event_with_a_method_of_several_steps():
    p = np.array([2.0, 3.0, 9.0])
    f = lambda p: thrown(p, method="BDF", rtol=1e-8).t[-1]  # noqa: E731
    np.testing.assert_allclose(s2s.grad(f)(p), s2s.grad(landing)(p), rtol=1e-5)


@pytest.mark.slow
def test_an_event_that_does_not_happen():
    far = lambda t, y: y[0] - 100.0  # noqa: E731

    def f(p):
        found = integrate.solve_ivp(lambda t, y: [y[1], -p[2]], (0.0, p[0]), [p[0], p[1]], events=far, **NARROW)
        return found.y[0, -1] + 0.0 * len(found.t_events[0])

    p = np.array([2.0, 3.0, 9.0])
    np.testing.assert_allclose(s2s.grad(f)(p), [1.0 + p[1] - p[2] * p[0], p[0], -(p[0] ** 2) / 2.0], rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(p), [1.0 + p[1] - p[2] * p[0], p[0], -(p[0] ** 2) / 2.0], rtol=1e-7)


# --- an implicit step ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power, passes", [(1, 2), (3, 5)])
def test_an_implicit_step_ends_when_its_slopes_are_found(power: int, passes: int) -> None:
    """Newton's method finds those of a linear equation in one pass, and sees it in the next."""
    calls, y, h = [], np.array([1.0, -0.5]), 0.2

    def slope(t: float, y: Any) -> Any:
        calls.append(t)
        return -(y**power) + t

    k, _ = ode.stages(slope, 0.3, h, y, lambda t, y: np.diag(-power * y ** (power - 1)))
    assert len(calls) <= 1 + 3 * passes
    a, at, _ = ode.TABLES["Radau"]
    root = 6.0**0.5  # Hairer and Wanner, Solving Ordinary Differential Equations II, table 5.6
    np.testing.assert_allclose(at, [(4 - root) / 10, (4 + root) / 10, 1.0], rtol=1e-14)
    np.testing.assert_allclose(a[2], [(16 - root) / 36, (16 + root) / 36, 1 / 9], rtol=1e-12)
    np.testing.assert_allclose(k, [slope(0.3 + c * h, y + h * row @ k) for c, row in zip(at, a)], rtol=1e-11)


# --- equations that jump ----------------------------------------------------------------------------------------------


def end_of(slope, y0, method):
    if method == "odeint":
        return integrate.odeint(slope, y0, [0.0, 3.0], tfirst=True, rtol=1e-8, atol=1e-8)[-1, 0]
    return integrate.solve_ivp(slope, (0.0, 3.0), y0, method, rtol=1e-8, atol=1e-8).y[0, -1]


def filling_slower_from_a_level_on(k, method):
    return end_of(lambda t, y: [k if y[0] < 0.5 else 0.5 * k], [0.0], method)


def dry_friction(k, method):
    return end_of(lambda t, y: [y[1], -k * y[0] - 0.1 * np.sign(y[1])], [1.0, 0.0], method)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(("f", "method"), [
    (filling_slower_from_a_level_on, "RK45"), (filling_slower_from_a_level_on, "Radau"),
    (filling_slower_from_a_level_on, "odeint"), (dry_friction, "DOP853"), (dry_friction, "LSODA"),
])
def test_an_equation_that_jumps_where_its_state_says_is_refused(f, method):
    for derivative in (lambda k: s2s.grad(f)(k, method), lambda k: s2s.jvp(lambda k: f(k, method), (k,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="jumps at a place that moves with it") as caught:
            derivative(1.3)
        assert caught.value.diagnostic.code == "S2S213"


def infusion(k, method):
    return end_of(lambda t, y: [(2.0 if t < 0.4 else 0.0) - k * y[0]], [0.0], method)


def overflow(k, method):
    return end_of(lambda t, y: [1.0 - k * max(y[0] - 0.5, 0.0)], [0.0], method)


def steep_valve(k, method):
    return end_of(lambda t, y: [k * (1.0 - 0.5 * np.tanh(200.0 * (y[0] - 0.5)))], [0.0], method)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("method", ["RK45", "Radau", "odeint"])
@pytest.mark.parametrize(("f", "exact"), [
    (infusion, lambda k: 2.0 / k * (np.exp(-2.6 * k) - np.exp(-3.0 * k))),
    (overflow, lambda k: 0.5 + (1.0 - np.exp(-2.5 * k)) / k),
    (steep_valve, None),
])
def test_a_jump_at_a_fixed_time_a_bend_and_a_steep_slope_have_derivatives(f, exact, method):
    expected = differences(exact or (lambda k: f(k, method)), [1.3], 0, 1e-3)
    assert s2s.grad(f)(1.3, method) == pytest.approx(expected, rel=1e-4)
    assert s2s.jvp(lambda k: f(k, method), (1.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-4)


def switched_off(p, method):
    return end_of(lambda t, y: [(1.0 if t < p else 0.0) - 0.3 * y[0]], [0.0], method)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("method", ["RK45", "Radau", "odeint"])
def test_an_equation_that_jumps_at_a_time_that_moves_is_refused(method):
    for derivative in (s2s.grad, lambda f: lambda p, method: s2s.jvp(lambda p: f(p, method), (p,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="jumps at a place that moves with it"):
            derivative(switched_off)(0.7, method)


def test_a_fixed_jump_in_a_time_whose_end_moves_is_refused():
    filled = lambda end: integrate.solve_ivp(lambda t, y: [2.0 if t < 0.4 else 0.5], (0.0, end), [0.0]).y[0, -1]
    with pytest.raises(NoDerivativeError, match="jumps at a place that moves with it"):
        s2s.grad(filled)(1.3)


SECOND = {
    "RK45": lambda p: integrate.solve_ivp(lambda t, y: [np.sin(p * t) - p * y[0]], (0.0, 3.0), [1.0]).y[0, -1],
    "odeint": lambda p: integrate.odeint(lambda y, t: [np.sin(p * t) - p * y[0]], [1.0], [0.0, 3.0])[-1, 0],
}


@pytest.mark.parametrize("method", [pytest.param(m, marks=pytest.mark.slow) for m in SECOND])
def test_second_derivatives_where_nothing_bends(method):
    first, h = s2s.grad(SECOND[method]), 1e-4
    expected = (first(0.7 + h) - first(0.7 - h)) / (2.0 * h)
    assert s2s.grad(first)(0.7) == pytest.approx(expected, rel=1e-3)
    assert s2s.jvp(first, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-3)


def overflow_from_a_level_on(p, method):
    return end_of(lambda t, y: [1.0 - max(y[0] - p, 0.0)], [0.0], method)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK45", "odeint"])
def test_an_equation_that_bends_where_its_state_says_has_no_second_derivative(method):
    first = s2s.grad(lambda p: overflow_from_a_level_on(p, method))
    assert first(0.7) == pytest.approx(1.0 - np.exp(-2.3), rel=2e-3)
    for second in (s2s.grad(first), lambda p: s2s.jvp(first, (p,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="jumps at a place that moves with it"):
            second(0.7)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_an_equation_that_jumps_is_refused_in_recordings(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    steady = lambda p: integrate.solve_ivp(lambda t, y: [p - y[0]], (0.0, 3.0), [0.0], rtol=1e-6).y[0, -1]
    assert s2s.grad(steady)(0.7) == pytest.approx(1.0 - np.exp(-3.0), rel=1e-5)
    jumping = lambda p: integrate.solve_ivp(lambda t, y: [1.0 if t < p else 0.0], (0.0, 3.0), [0.0]).y[0, -1]
    with pytest.raises(NoDerivativeError, match="jumps at a place that moves with it"):
        s2s.grad(jumping)(0.7)
