"""Derivatives that are NaN in compiled code where the function has one: a recording's, held against differences."""

import numpy as np
import pytest
from scipy import special

import s2s
from s2s.dispatch import failures

MASK = 1.0 - np.eye(3)
X = np.linspace(0.1, 1.0, 9)
DRAWS = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED")


def graph(x):
    return (x.reshape(3, 3) + x.reshape(3, 3).T) * MASK


def roots_of_a_graph(x):
    w = graph(x)
    return np.sum(np.sqrt(w) @ w)


def powers_of_a_graph(x):
    return np.sum(graph(x) ** 0.4 * np.array([1.0, 2.0, 3.0]))


def slope_after_a_zero(x):
    return np.sum(np.sqrt(x * MASK.ravel())) + x[1] ** 2


def zero_times_inf_of_data(x):
    depth = np.array([np.inf, x[0], np.inf])
    rate = np.array([0.0, 1.0, 0.0]) * x[1]
    return np.sum(np.where(np.isinf(depth), 0.0, rate * depth) / np.sqrt(x[2]))


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += np.sum(np.log1p(np.sqrt(graph(x)[k])))
    return total


def powers_from_the_least(x):
    """At the least number inf comes back from it and from the minimum, and cancels."""
    n = (x - np.min(x)) / (np.max(x) - np.min(x))
    return np.sum(n ** (0.3 + 0.2 * x) * np.cos(np.arange(9.0)))


def roots_from_the_least_of_numbers(x):
    least = min(x)
    return sum((v - least) ** 0.4 for v in x)


def turned_into_the_plane(x):
    """The normal of points in a plane has one singular value; the vectors of the other two are not determined."""
    points = np.column_stack([x[:4], x[4:8] * x[1:5], np.zeros(4)])
    normal = np.cross(points[2] - points[1], points[0] - points[1])
    normal = normal / np.linalg.norm(normal)
    u, _, vh = np.linalg.svd(np.array([normal, -normal]).T @ np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
    return np.sum((points @ u @ vh)[:, :2] ** 2) * x[8] + np.sum(normal * x[:3])


def reciprocals_that_nothing_reads(x):
    return np.reciprocal(x * MASK.ravel())[1] * x[2]


def slopes_of_special_functions(x):
    r = x * MASK.ravel()
    return special.gammaln(r)[1] + special.ellipk(1.0 - r)[2] + special.k0(r)[3] + special.betainc(0.5, 1.0, r)[5]


def inverses_that_nothing_reads(x):
    r = x * np.maximum(MASK.ravel(), 1e-320)
    return np.linalg.inv(r[:, None, None] * np.eye(2))[1, 0, 0]


FUNCTIONS = [
    reciprocals_that_nothing_reads, slopes_of_special_functions, inverses_that_nothing_reads, roots_of_a_graph,
    powers_of_a_graph, slope_after_a_zero, zero_times_inf_of_data, in_a_loop, powers_from_the_least,
    roots_from_the_least_of_numbers, turned_into_the_plane,
]


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(x.size)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [
    pytest.param(f, marks=pytest.mark.slow if f is turned_into_the_plane else ()) for f in FUNCTIONS])
def test_zeros_are_strong(f):
    expected = differences(f, X)
    for derivative in (s2s.grad(f), s2s.jacrev(f)):
        for _ in range(2):
            np.testing.assert_allclose(derivative(X), expected, rtol=1e-7, atol=1e-9)
    value, found = s2s.value_and_grad(f)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert value == f(X)
    (value, rest), found = s2s.value_and_grad(lambda x: (f(x), "rest"), has_aux=True)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert value == f(X) and rest == "rest"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("recorded", ["1", "always"])
def test_tangents(recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    along = DRAWS.normal(size=X.size)
    for f in FUNCTIONS:
        expected = differences(f, X) @ along
        for _ in range(2):
            value, found = s2s.jvp(f, (X,), (along,))
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
            assert value == f(X)
    columns, found = s2s.jvp(lambda x: np.sqrt(graph(x)) @ graph(x), (X,), (along,))
    expected = differences(lambda x: np.sqrt(graph(x)) @ graph(x), X).T @ along
    np.testing.assert_allclose(found, expected.T, rtol=1e-7, atol=1e-8)
    (value, found, rest) = s2s.jvp(lambda x: (slope_after_a_zero(x), "rest"), (X,), (along,), has_aux=True)
    assert rest == "rest" and np.isclose(found, differences(slope_after_a_zero, X) @ along, rtol=1e-7)
    kept = s2s.jvp(lambda x: np.sum(np.sqrt(x) ** 2), (np.array([0.0, 4.0]),), (np.ones(2),))[1]
    assert np.isnan(kept)  # its derivative is two, and not the one that strong zeros would give


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_derivative_on_the_edge_of_where_a_function_is_defined():
    x = np.array([0.0, 4.0])
    np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(np.sqrt(x) * np.array([0.0, 1.0])))(x), [0.0, 0.25])
    np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(np.sqrt(x * x)))(x), [0.0, 1.0])  # abs has 0 there


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("recorded", ["1", "always"])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_zero_times_inf_that_is_no_zero_stays_nan(scale, recorded, monkeypatch):
    """The derivative is ``scale``; strong zeros would give 0."""
    monkeypatch.setenv("S2S_RECORDED", recorded)
    weights = np.array([scale, 1.0, 1.0])
    found = s2s.grad(lambda x: np.sum(np.sqrt(x) ** 2 * weights))(np.array([0.0, 4.0, 1.0]))
    np.testing.assert_array_equal(found, [np.nan, 1.0, 1.0])
    found = s2s.grad(lambda x: np.sum(np.cbrt(x) ** 3 * weights))(np.array([0.0, 4.0, 1.0]))
    np.testing.assert_allclose(found, [np.nan, 1.0, 1.0], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_a_recording_of_the_same_call_must_not_change():
    calls = []

    def noted(x):
        calls.append(float(x[0]))
        return roots_of_a_graph(x)

    np.testing.assert_allclose(s2s.grad(noted)(X), differences(roots_of_a_graph, X), rtol=1e-7, atol=1e-9)
    assert calls == [0.1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_draws_are_not_those_of_the_call():
    def drawn(x):
        return roots_of_a_graph(x * DRAWS.normal(size=9) ** 2)

    state = DRAWS.bit_generator.state
    assert np.isnan(s2s.grad(drawn)(X)[0])
    after = DRAWS.bit_generator.state
    DRAWS.bit_generator.state = state
    drawn(X)
    assert DRAWS.bit_generator.state == after


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_of_the_program_is_asked_for_twice_at_most(monkeypatch):
    asked = []
    recording_of = failures.recording_of
    monkeypatch.setattr(failures, "recording_of", lambda *args: asked.append(1) or recording_of(*args))
    gradient = s2s.grad(lambda x: np.sum(np.sqrt(x) ** 2))
    for _ in range(5):
        np.testing.assert_array_equal(gradient(np.array([0.0, 1.0])), [np.nan, 1.0])
    assert len(asked) == 2
    other = s2s.grad(lambda x: np.sum(np.sqrt(x) ** 2))
    np.testing.assert_array_equal(other(np.array([np.nan, 1.0])), [np.nan, 1.0])
    np.testing.assert_array_equal(other(np.array([1.0, 4.0])), [1.0, 1.0])
    assert len(asked) == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("root", [lambda x: np.sqrt(x), lambda x: np.array([x[0] ** 0.5, x[1] ** 0.5])])
def test_another_cotangent_of_the_same_recording_takes_no_slope_for_zero(root, monkeypatch):
    """The first row has the derivative one, of a root's square, and shares the root with the second one."""
    monkeypatch.setenv("S2S_RECORDED", "always")

    def both(x):
        s = root(x)
        return np.stack([s * s, s])

    _, pullback = s2s.vjp(both, np.array([0.0, 4.0]))
    for _ in range(2):
        (found,) = pullback(np.array([[1.0, 1.0], [0.0, 0.0]]))
        np.testing.assert_array_equal(found, [np.nan, 1.0])
    rows = s2s.jacrev(both)(np.array([0.0, 4.0]))
    assert np.isnan(rows[0, 0, 0]) and rows[0, 1, 1] == 1.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_inf_less_inf_that_is_no_number_stays_nan():
    """Of two that are the least, one that falls leaves the other one behind: the slope is inf on one side."""
    found = s2s.grad(lambda x: np.sum(np.sqrt(x - np.min(x))))(np.array([0.3, 0.3, 1.0]))
    assert np.isnan(found[:2]).all() or np.isinf(found[:2]).any()
    np.testing.assert_allclose(found[2], 0.5 / np.sqrt(0.7), rtol=1e-12)


# --- second derivatives -----------------------------------------------------------------------------------------------


def masked_past_a_store(u):
    d = u[1:] - u[:-1]
    with np.errstate(all="ignore"):
        r = 1.0 / d
    q = np.zeros(len(u))
    q[:-1] = np.where(d != 0, r, 0.0)
    return np.sum(q**2) + np.sum(u**3)


def masked_past_a_view(u):
    d = u - 0.5
    with np.errstate(all="ignore"):
        r = (u / d)[1:].copy()
    return np.sum(np.where(d[1:] != 0, r, 0.0) ** 2)


def masked_by_a_store(u):
    t = u - 0.5
    with np.errstate(all="ignore"):
        y = 1.0 / t
        y[t == 0] = 0.0
    return np.sum(y**2 * u)


def left_out_by_an_index(u):
    t = u - 0.5
    m = t > 0
    with np.errstate(all="ignore"):
        s = np.sqrt(t) * np.log(t)
    return np.sum(s[m] ** 2) + np.where(m, s, 0.0) @ np.ones(len(u))


def forces_with_a_diagonal(u):
    t = u[:, None] - u[None, :]
    with np.errstate(all="ignore"):
        strength = 1.0 / np.abs(t) ** 3
        np.fill_diagonal(strength, 0.0)
    return 1e-6 * np.sum((strength * t).sum(axis=1) ** 2)


def vanishing_exponential(u):
    with np.errstate(all="ignore"):
        return np.sum(np.exp(-1.0 / (u - 0.5) ** 2))


def limited(u):
    with np.errstate(all="ignore"):
        return np.sum(np.minimum(1.0 / np.abs(u - 0.5), 3.0) * u**2)


AT_A_SINGLE_POINT = np.array([0.1, 0.25, 0.5, 0.3, 0.7, 0.72, 0.9])
FLAT_IN_PARTS = np.array([0.1, 0.1, 0.3, 0.7, 0.7, 0.9, 1.2])


@pytest.mark.grid(0.3)
@pytest.mark.parametrize(
    "f, u",
    [
        (masked_past_a_store, FLAT_IN_PARTS), (masked_past_a_view, AT_A_SINGLE_POINT),
        (masked_by_a_store, AT_A_SINGLE_POINT), (left_out_by_an_index, FLAT_IN_PARTS),
        (forces_with_a_diagonal, AT_A_SINGLE_POINT), (vanishing_exponential, AT_A_SINGLE_POINT),
        (limited, AT_A_SINGLE_POINT),
    ],
)
def test_second_derivatives_past_what_is_masked(f, u):
    """By tangents alone nothing meets a zero, so these say what the others have to be."""
    v = np.linspace(1.0, 2.0, len(u))
    want = s2s.jacfwd(s2s.jacfwd(f))(u)
    assert np.isfinite(want).all()
    _, along = s2s.jvp(f, (u,), (v,))
    np.testing.assert_allclose(s2s.grad(f)(u) @ v, along, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(s2s.hessian(f)(u), want, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s2s.hvp(f, (u,), (v,)), want @ v, rtol=1e-9, atol=1e-9)


def test_an_infinite_slope_at_the_edge_of_a_mask_stays_nan():
    """At 0.5 the slope is zero on the side that is left out, and grows without bound on the other: by that number alone
    there is no derivative, each time."""
    u = AT_A_SINGLE_POINT
    t = u[u > 0.5] - 0.5
    wanted = np.where(u == 0.5, np.nan, 0.0)
    wanted[u > 0.5] = np.log(t) ** 2 + 2.0 * np.log(t) + (0.5 * np.log(t) + 1.0) / np.sqrt(t)
    gradient = s2s.grad(left_out_by_an_index)
    for _ in range(4):
        np.testing.assert_allclose(gradient(u), wanted, rtol=1e-12)
    jacobian = s2s.jacrev(lambda u: left_out_by_an_index(u) * np.array([1.0, -2.0]))
    np.testing.assert_allclose(jacobian(u), np.array([[1.0], [-2.0]]) * wanted, rtol=1e-12)


def selected(u):
    x = u - 0.5
    with np.errstate(all="ignore"):
        return np.sum(np.select([x > 0, x < 0], [np.log(x), np.sqrt(-x)], 0.0) ** 2)


def test_what_select_leaves_out_reaches_no_derivative(monkeypatch):
    """Also where nothing is recorded: the choice goes outside of the products, as that of ``np.where`` does."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    u = AT_A_SINGLE_POINT
    x = u - 0.5
    with np.errstate(all="ignore"):
        want = np.where(x > 0, 2 * np.log(x) / x, np.where(x < 0, -1.0, 0.0))
        bent = np.where(x > 0, 2 * (1 - np.log(x)) / x**2, 0.0)
    np.testing.assert_allclose(s2s.grad(selected)(u), want, rtol=1e-12)
    np.testing.assert_allclose(s2s.hvp(selected, (u,), (np.ones(7),)), bent, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s2s.hessian(selected)(u), np.diag(bent), rtol=1e-9, atol=1e-9)


def selected_and_stretched(u, a):
    return np.sum(np.select([u[:, None] > u, u < 0.4], [np.sin(u) * a, np.sum(u)], default=u[0] * a) ** 3)


def test_select_with_stretched_choices():
    u = AT_A_SINGLE_POINT
    found = s2s.grad(selected_and_stretched, argnums=(0, 1))(u, 1.5)
    np.testing.assert_allclose(found[0], differences(lambda u: selected_and_stretched(u, 1.5), u), rtol=1e-6)
    want = differences(lambda a: selected_and_stretched(u, a[0]), np.array([1.5]))
    np.testing.assert_allclose(found[1], want[0], rtol=1e-6)
