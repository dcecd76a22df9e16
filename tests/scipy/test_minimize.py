"""SciPy's minimize with derivatives of s2s: against SciPy with derivatives by hand, differences, and closed forms."""

import dataclasses
import doctest
import subprocess
import sys
import types
from collections import namedtuple

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, DifferentiationError

optimize = pytest.importorskip("scipy.optimize")

Pair = namedtuple("Pair", "w b")


@dataclasses.dataclass
class Model:
    w: np.ndarray
    b: float
    n: int = 2
    scale: float = dataclasses.field(default=0.5, metadata={"static": True})
    name: str = "model"


def rosenbrock(x, steep):
    return np.sum(steep * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_gradient(x, steep):
    found = np.zeros_like(x)
    found[1:] += 2.0 * steep * (x[1:] - x[:-1] ** 2)
    found[:-1] -= 4.0 * steep * (x[1:] - x[:-1] ** 2) * x[:-1] + 2.0 * (1.0 - x[:-1])
    return found


def rosenbrock_hessian(x, steep):
    diagonal = np.zeros_like(x)
    diagonal[1:] += 2.0 * steep
    diagonal[:-1] += 12.0 * steep * x[:-1] ** 2 - 4.0 * steep * x[1:] + 2.0
    side = -4.0 * steep * x[:-1]
    return np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1)


X0 = np.array([1.3, 0.7, 0.8, 1.9])
GRADIENT = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"]
PRODUCTS = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"]
HESSIAN = ["dogleg", "trust-exact"]
WITHOUT = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]


def by_hand(method):
    """SciPy with derivatives that are written out."""
    found = {"jac": rosenbrock_gradient}
    if method in PRODUCTS:
        found["hessp"] = lambda x, p, steep: rosenbrock_hessian(x, steep) @ p
    if method in HESSIAN:
        found["hess"] = rosenbrock_hessian
    return found


# --- the methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, *GRADIENT, *PRODUCTS, *HESSIAN])
def test_the_methods_go_the_way_that_they_go_with_derivatives_by_hand(method):
    start = np.array([0.9, 0.8, 0.7, 0.6]) if method == "dogleg" else X0  # where the Hessian is positive
    steep = 1.0 if method == "dogleg" else 100.0
    found = s2s.scipy.minimize(rosenbrock, start, (steep,), method=method)
    hand = optimize.minimize(rosenbrock, start, (steep,), method=method, **by_hand(method))
    np.testing.assert_allclose(found.x, hand.x, rtol=1e-5)
    np.testing.assert_allclose(found.x, 1.0, atol=2e-3)
    assert abs(found.nit - hand.nit) <= 2
    assert abs(found.nfev - hand.nfev) <= 2 + hand.nfev // 10
    assert abs(found.get("nhev", 0) - hand.get("nhev", 0)) <= 2 + hand.get("nhev", 0) // 10
    if method in GRADIENT:
        differences = optimize.minimize(rosenbrock, start, (steep,), method=method)
        per_gradient = [one.nfev / one.get("njev", one.nit) for one in (found, differences)]
        assert per_gradient[1] > 3.0 * per_gradient[0]  # four numbers: five calls for each gradient


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-exact"])
def test_value_and_gradient_are_one_call(method, monkeypatch):
    from s2s.scipy import minimizing

    calls = {"gradient": 0, "second": 0}

    def counting(make, name):
        def made(f):
            derivative = make(f)

            def counted(*args):
                calls[name] += 1
                return derivative(*args)

            return counted

        return made

    monkeypatch.setattr(minimizing, "value_and_grad", counting(s2s.value_and_grad, "gradient"))
    monkeypatch.setattr(minimizing, "hessian", counting(s2s.hessian, "second"))
    found = s2s.scipy.minimize(rosenbrock, X0, 100.0, method=method)
    assert max(found.nfev, found.njev) <= calls["gradient"] <= found.nfev + 1
    assert calls["second"] == found.get("nhev", 0)


@pytest.mark.parametrize("method", WITHOUT)
def test_methods_without_derivatives_call_the_function_alone(method):
    calls = []

    def f(x):
        calls.append(x)  # which no derivative would do at each call
        return (x[0] - 1.0) ** 2 + (x[1] + 2.0) ** 2

    found = s2s.scipy.minimize(f, [0.0, 0.0], method=method)
    np.testing.assert_allclose(found.x, [1.0, -2.0], atol=1e-3)
    assert found.nfev == len(calls) and isinstance(calls[-1], np.ndarray)


def test_all_methods_of_scipy_are_known():
    import re

    from s2s.scipy.minimizing import WITH_HESSIAN, WITH_PRODUCTS
    from s2s.scipy.minimizing import WITHOUT as without

    text = optimize.minimize.__doc__
    known = {name.lower() for name in re.findall(r"``?'([\w-]+)'``? +:ref:", text)}
    mine = {name.lower() for name in [*GRADIENT, *PRODUCTS, *HESSIAN, *WITHOUT]}
    assert known <= mine and without | WITH_HESSIAN | WITH_PRODUCTS <= mine
    assert {*map(str.lower, PRODUCTS)} == WITH_PRODUCTS and {*HESSIAN} == WITH_HESSIAN


def test_a_strategy_in_place_of_the_hessian_and_a_method_of_ones_own():
    found = s2s.scipy.minimize(rosenbrock, X0, (10.0,), method="trust-constr", hess=optimize.BFGS(), tol=1e-8)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
    given = {}

    def descend(fun, x0, args, jac, hessp, **options):
        given.update(options)
        x = x0
        for _ in range(200):
            g = jac(x, *args)
            x = x - g * (g @ g) / (g @ hessp(x, g, *args))
        return optimize.OptimizeResult(x=x, fun=fun(x, *args), success=True)

    found = s2s.scipy.minimize(rosenbrock, [0.9, 0.9], (1.0,), method=descend, options={"gamma": 3})
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    assert given["gamma"] == 3


def test_the_gradient_shares_no_memory_with_what_it_reads():
    c = np.array([1.0, -2.0])
    found = s2s.scipy.minimize(lambda x, c: np.sum(c * x) + np.sum(x**4), np.zeros(2), (c,), method="TNC")
    np.testing.assert_allclose(found.x, [-(0.25 ** (1 / 3)), 0.5 ** (1 / 3)], rtol=1e-4)
    assert c.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-constr", "Nelder-Mead"])
def test_a_loss_over_data_in_parts(method, rng):
    x = rng.normal(size=(40, 2))
    y = x @ np.array([1.0, -2.0]) + 0.5

    def loss(p, x, y):
        return np.mean((x @ p["w"] + p["b"] - y) ** 2)

    in_parts = s2s.distributed.value_and_grad(loss, over="x, y", reduction="mean")
    data = [x[:15], x[15:]], [y[:15], y[15:]]
    found = s2s.scipy.minimize(in_parts, {"w": np.zeros(2), "b": 0.0}, data, method=method, tol=1e-6)
    np.testing.assert_allclose([*found.x["w"], found.x["b"]], [1.0, -2.0, 0.5], atol=1e-2)


# --- structures -------------------------------------------------------------------------------------------------------

STRUCTURES = {
    "dict": lambda w, b: {"w": w, "b": b, "n": 2, "name": "x", "none": None},
    "tuple": lambda w, b: (w, [b, "x"]),
    "named tuple": lambda w, b: Pair(w, b),
    "dataclass": lambda w, b: Model(w, b),
    "namespace": lambda w, b: types.SimpleNamespace(w=w, b=b, k=2),
    "nested": lambda w, b: {"layers": [Model(w, 0.1), (b, np.float32(0.5))], "empty": {}},
}


@pytest.fixture
def recorded(monkeypatch):
    """Second derivatives by objects are recorded."""
    monkeypatch.setenv("S2S_RECORDED", "1")


def numbers(value):
    """The floats that are trained, in order."""
    if isinstance(value, dict):
        return [x for item in value.values() for x in numbers(item)]
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in numbers(item)]
    if isinstance(value, Model):
        return numbers([value.w, value.b])
    if isinstance(value, types.SimpleNamespace):
        return numbers(vars(value))
    is_float = isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
    return np.ravel(value).tolist() if is_float else []


def parts(value):
    """The arrays and numbers of the structures."""
    if isinstance(value, dict) and "layers" in value:
        model, (b, c) = value["layers"]
        return [model.w, model.b, b, c]
    if isinstance(value, dict):
        return [value["w"], value["b"]]
    if isinstance(value, tuple) and not hasattr(value, "w"):
        return [value[0], value[1][0]]
    return [value.w, value.b]


def coupled(p, target):
    """Its least value, zero, is where all numbers are the target."""
    total = 0.0
    for part in parts(p):
        total = total + np.sum((part - target) ** 2 + 0.1 * (part - target) ** 4)
    return total + (np.sum(parts(p)[0]) * parts(p)[1] - 6.0 * target**2) ** 2


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-constr", "Powell"])
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_structures(kind, method, recorded):
    start = STRUCTURES[kind](np.linspace(0.4, 0.6, 6).reshape(2, 3), 0.7)
    before = numbers(start)
    seen = []
    found = s2s.scipy.minimize(coupled, start, 0.75, method=method, callback=lambda x, *more: seen.append(x))
    np.testing.assert_allclose(numbers(found.x), 0.75, atol=2e-3)
    assert type(found.x) is type(start) and numbers(start) == before
    assert seen and all(type(x) is type(start) for x in seen) and len(numbers(seen[-1])) == len(before)
    assert parts(found.x)[0].shape == (2, 3) and type(parts(found.x)[1]) is float
    if kind == "nested":
        assert type(found.x["layers"][1][1]) is np.float32 and found.x["layers"][0].scale == 0.5
    if "jac" in found and method != "trust-constr":
        assert type(found.jac) is type(start) and np.allclose(numbers(found.jac), 0.0, atol=1e-2)


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_derivatives_of_structures_are_those_of_the_vector(kind, rng, recorded):
    """Gradient, Hessian and its product with a vector, against differences of the function of the vector."""
    from s2s.scipy.forms import Form
    from s2s.scipy.minimizing import _supplied

    start = STRUCTURES[kind](rng.normal(size=(2, 3)), 0.7)
    form = Form(start)
    v, p = form.start, rng.normal(size=form.size)
    v = v.astype(np.float32).astype(float)
    assert numbers(form.build(v)) == v.tolist()
    function = lambda v: coupled(form.build(v), 0.75)
    h = 2.0**-9
    steps = h * np.eye(form.size)
    supplied = _supplied(coupled, form, "trust-ncg")
    value, gradient = supplied["fun"](v, 0.75)
    assert value == pytest.approx(function(v))
    np.testing.assert_allclose(gradient, [(function(v + s) - function(v - s)) / (2 * h) for s in steps], rtol=1e-3)
    second = _supplied(coupled, form, "dogleg")["hess"](v, 0.75)
    gradients = [[supplied["fun"](v + e * s, 0.75)[1] for e in (1, -1)] for s in steps]
    np.testing.assert_allclose(second, [(a - b) / (2 * h) for a, b in gradients], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(supplied["hessp"](v, p, 0.75), second @ p, rtol=2e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("wrapped", [False, True])
def test_static_fields_stand_still(wrapped, recorded):
    """They have no tangent, wherever the object is, and no bounds."""
    from s2s.scipy.forms import Form
    from s2s.scipy.minimizing import _supplied

    def f(p):
        model = p["model"][0] if wrapped else p
        return model.scale * np.sum(model.w**2) * model.b + model.scale**3 * model.b**2

    model = Model(np.array([1.0, 2.0]), 3.0)
    form = Form({"model": [model], "n": 2} if wrapped else model)
    direction = np.array([1.0, -1.0, 2.0])
    product = _supplied(f, form, "trust-ncg")["hessp"](form.start, direction)
    hessian = np.array([[3.0, 0.0, 1.0], [0.0, 3.0, 2.0], [1.0, 2.0, 0.25]])  # by hand, scale is 0.5
    np.testing.assert_allclose(product, hessian @ direction, rtol=1e-7)
    np.testing.assert_allclose(_supplied(f, form, "dogleg")["hess"](form.start), hessian, rtol=1e-7)
    own = {"w": (0.5, 9.0), "b": (2.0, None), "n": None, "name": None}
    bounds = {"model": [own], "n": None} if wrapped else own
    found = s2s.scipy.minimize(f, form.x0, bounds=bounds).x
    found = found["model"][0] if wrapped else found
    assert found.w.tolist() == [0.5, 0.5] and found.b == 2.0 and found.scale == 0.5


@pytest.mark.parametrize(("x0", "shape", "kind"), [
    ([1, 2, 3], (3,), np.ndarray), ((1.0, 2.0), (2,), np.ndarray), (np.array([1, 2]), (2,), np.ndarray),
    ([[1.0, 2.0], [3, 4]], (2, 2), np.ndarray), (np.ones((2, 3)), (2, 3), np.ndarray), (1.5, (), float),
    (3, (), np.ndarray), (np.float64(2.0), (), np.float64), (np.array(2.0), (), np.ndarray),
    (np.ones(3, np.float32), (3,), np.ndarray),
])
def test_arrays_of_any_shape(x0, shape, kind):
    def f(x):
        assert np.shape(x) == shape
        return np.sum((x - 0.25) ** 2)

    found = s2s.scipy.minimize(f, x0)
    assert np.shape(found.x) == shape and type(found.x) is kind
    np.testing.assert_allclose(found.x, 0.25, atol=1e-6)


def test_a_callback_that_takes_the_result_and_ends_the_search():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)
        if len(seen) == 3:
            raise StopIteration

    start = {"x": X0, "n": 3}
    found = s2s.scipy.minimize(lambda p: rosenbrock(p["x"], 100.0), start, callback=callback)
    assert found.nit == 3 and not found.success
    assert [set(one.x) for one in seen] == [{"x", "n"}] * 3 and seen[-1].fun == found.fun
    assert len({one.x["x"].tobytes() for one in seen}) == 3


# --- bounds -----------------------------------------------------------------------------------------------------------


def far(p):
    """The nearer to 9, the less."""
    return np.sum((p["w"] - 9.0) ** 2) + np.sum((p["m"] - 9.0) ** 2) + (p["b"] - 9.0) ** 2


FAR = {"w": np.zeros(3), "m": np.zeros((2, 2)), "b": 0.5, "n": 1}


@pytest.mark.parametrize(("bounds", "w", "m", "b"), [
    ({"w": (0, 1), "m": None, "b": (None, 2.0), "n": None}, 1.0, 9.0, 2.0),
    ((0, 1), 1.0, 1.0, 1.0),
    ((None, 12), 9.0, 9.0, 9.0),
    ({"w": [(0, 1), (0, 2), (None, 3)], "m": (None, np.array([[1.0, 2.0], [3.0, 4.0]])), "b": None, "n": None},
     [1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]], 9.0),
    ({"w": optimize.Bounds(0, [1.0, 2.0, np.inf]), "m": optimize.Bounds(-1, 4), "b": (0, np.inf), "n": None},
     [1.0, 2.0, 9.0], 4.0, 9.0),
    (optimize.Bounds(-1, 2), 2.0, 2.0, 2.0),
])
@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-constr"])
def test_bounds_in_the_form_of_the_start(bounds, w, m, b, method):
    found = s2s.scipy.minimize(far, FAR, bounds=bounds, method=method, tol=1e-8).x
    np.testing.assert_allclose(found["w"], np.broadcast_to(w, 3), atol=1e-4)
    np.testing.assert_allclose(found["m"], np.broadcast_to(m, (2, 2)), atol=1e-4)
    assert found["b"] == pytest.approx(b, abs=1e-4) and found["n"] == 1


@pytest.mark.parametrize("bounds", [
    [(0, 1), (0, 2)], optimize.Bounds(0, [1, 2]), np.array([[0, 1], [0, 2]]), ((None, 1), (None, 2)),
])
def test_bounds_of_vectors_are_those_of_scipy(bounds):
    def f(x):
        return np.sum((x - 9.0) ** 2)

    found = s2s.scipy.minimize(f, np.zeros(2), bounds=bounds)
    np.testing.assert_allclose(found.x, [1.0, 2.0])
    np.testing.assert_allclose(optimize.minimize(f, np.zeros(2), bounds=bounds).x, found.x)
    np.testing.assert_allclose(s2s.scipy.minimize(f, np.zeros(2), bounds=(None, 3)).x, 3.0)


@pytest.mark.parametrize("bounds", [
    {"w": (0, 1)}, {"w": (0, 1, 2), "m": None, "b": None, "n": None}, {"w": "x", "m": None, "b": None, "n": None},
    {"w": None, "m": [(0, 1), (0, 1)], "b": None, "n": None}, [(0, 1)] * 8,
    {"w": (np.zeros(2), np.ones(2)), "m": None, "b": None, "n": None},
])
def test_bounds_that_do_not_fit(bounds):
    with pytest.raises(ArgumentError, match=r"bounds does not fit|bounds do not fit"):
        s2s.scipy.minimize(far, FAR, bounds=bounds)


# --- constraints ------------------------------------------------------------------------------------------------------


def on_circle(x, r):
    return x[0] ** 2 + x[1] ** 2 - r**2


CONSTRAINTS = {
    "dict": {"type": "eq", "fun": on_circle, "args": (2.0,)},
    "list": [{"type": "eq", "fun": lambda x: [x[0] ** 2 + x[1] ** 2 - 4.0]}],
    "object": optimize.NonlinearConstraint(lambda x: on_circle(x, 2.0), 0.0, 0.0),
    "by_hand": {"type": "eq", "fun": lambda x: on_circle(x, 2.0), "jac": lambda x: 2.0 * x},
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("method", [None, "SLSQP", "trust-constr"])
def test_constraints_have_their_jacobians(kind, method):
    """The nearest point of a circle: against SciPy with differences, which calls the constraint more often."""
    def f(x):
        return np.sum((x - np.array([3.0, 4.0])) ** 2)

    found = s2s.scipy.minimize(f, [1.0, 1.0], method=method, constraints=CONSTRAINTS[kind])
    np.testing.assert_allclose(found.x, [1.2, 1.6], atol=1e-5)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_are_not_differenced(method):
    calls = [0]

    def constraint(x):
        return x[0] ** 2 + x[1] ** 2 - 4.0

    def counted(x):
        calls[0] += 1
        return constraint(x)

    jacobian = s2s.jacobian(constraint)
    f = lambda x: np.sum((x - 3.0) ** 2)
    gradient = lambda x: 2.0 * (x - 3.0)
    optimize.minimize(f, [1.0, 2.0], jac=gradient, method=method, constraints={"type": "eq", "fun": counted})
    differenced, calls[0] = calls[0], 0
    optimize.minimize(
        f, [1.0, 2.0], jac=gradient, method=method, constraints={"type": "eq", "fun": counted, "jac": jacobian}
    )
    by_jacobian, calls[0] = calls[0], 0
    s2s.scipy.minimize(f, [1.0, 2.0], method=method, constraints={"type": "eq", "fun": s2s.differentiable(counted)})
    # the derivative runs the counting too, once for each Jacobian and once to measure
    assert calls[0] < differenced and by_jacobian < differenced


@pytest.mark.parametrize("method, tol", [("SLSQP", None), ("trust-constr", None), ("COBYLA", 1e-6)])
def test_constraints_of_structures(method, tol):
    def f(p):
        return np.sum((p["x"] - 3.0) ** 2) + (p["y"] - 4.0) ** 2

    def inside(p, r):
        return {"sum": r**2 - np.sum(p["x"] ** 2) - p["y"] ** 2, "more": [p["x"] + 1.0, 5.0]}

    start = {"x": np.array([0.1]), "y": 0.2, "n": 3}
    constraints = [{"type": "ineq", "fun": inside, "args": (2.0,)}]
    found = s2s.scipy.minimize(f, start, method=method, tol=tol, constraints=constraints)
    np.testing.assert_allclose([found.x["x"][0], found.x["y"]], [1.2, 1.6], atol=2e-3)
    linear = optimize.LinearConstraint([[1.0, 1.0]], -np.inf, 2.0)
    found = s2s.scipy.minimize(f, start, method=method, tol=tol, constraints=linear)
    np.testing.assert_allclose([found.x["x"][0], found.x["y"]], [0.5, 1.5], atol=2e-3)
    with_own = optimize.NonlinearConstraint(
        lambda p: np.sum(p["x"]) * p["y"], 1.0, 1.0, jac=lambda p: {"x": np.array([p["y"]]), "y": p["x"][0], "n": None}
    )
    if method == "trust-constr":
        found = s2s.scipy.minimize(f, start, method=method, tol=tol, constraints=with_own)
        assert found.x["x"][0] * found.x["y"] == pytest.approx(1.0, abs=1e-4)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("work", "kind", "problem"), [
    (lambda: s2s.scipy.minimize(rosenbrock, X0, 1.0, jac=rosenbrock_gradient), ArgumentError,
     "`s2s.scipy.minimize` was given `jac`, which it supplies"),
    (lambda: s2s.scipy.minimize(rosenbrock, X0, 1.0, method="dogleg", hess=rosenbrock_hessian), ArgumentError,
     "`s2s.scipy.minimize` was given `hess`, which it supplies"),
    (lambda: s2s.scipy.minimize(rosenbrock, X0, 1.0, steps=3), TypeError, "unexpected keyword argument 'steps'"),
    (lambda: s2s.scipy.minimize(X0, rosenbrock), ArgumentError, "is not a function that can be differentiated"),
    (lambda: s2s.scipy.minimize(rosenbrock, {"a": 3}), ArgumentError, "there are no floats"),
    (lambda: s2s.scipy.minimize(rosenbrock, X0 * 1j), ArgumentError, "is complex"),
    (lambda: s2s.scipy.minimize(lambda x: x * x, X0), DifferentiationError, "a gradient needs one number"),
    (lambda: s2s.scipy.minimize(rosenbrock, X0, 1.0, method="newton"), ValueError, "Unknown solver"),
])
def test_what_is_refused(work, kind, problem):
    with pytest.raises(kind) as caught:
        work()
    assert problem in str(caught.value)


def test_without_scipy_there_is_a_line_that_says_how_to_install_it():
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "import s2s.scipy\n"
        "try: s2s.scipy.minimize(lambda x: x, 1.0)\n"
        "except s2s.errors.ArgumentError as problem: print(problem)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found == (
        "`s2s.scipy.minimize` needs SciPy, which is not installed [S2S538]\n"
        "  = instead:  install it: `pip install \"s2s-grad[scipy]\"`\n"
    )


def test_the_module_imports_scipy_when_it_is_used_and_does_not_stand_in_its_place():
    program = (
        "import sys, s2s, s2s.scipy\n"
        "before = [name for name in sys.modules if name.split('.')[0] == 'scipy']\n"
        "import scipy.optimize\n"
        "print(before, s2s.scipy is scipy, scipy.__name__, s2s.scipy.__name__)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found == "[] False scipy s2s.scipy\n"


@pytest.mark.parametrize("module", ["minimizing", "equations"])
def test_the_examples_of_the_functions(module):
    import importlib

    assert doctest.testmod(importlib.import_module(f"s2s.scipy.{module}")).failed == 0
