"""Functions written with NumPy, called with arrays of another module: a stand-in that refuses to become NumPy's."""

import copy
import linecache
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.arrays import counterparts
from s2s.errors import ArgumentError, DifferentiationError
from tests.arrays import standin
from tests.helpers import ROOT

X = np.linspace(0.3, 2.1, 6)
A = np.cos(np.arange(9.0)).reshape(3, 3) + 3.0 * np.eye(3)


def on(value):
    return standin.asarray(np.asarray(value))


def gradient(f, *args, **options):
    """Of NumPy's arrays, and of the stand-ins."""
    here = s2s.grad(f, **options)(*args)
    there = s2s.grad(f, **options)(*[on(arg) if isinstance(arg, np.ndarray) else arg for arg in args])
    return here, there


# --- what comes out -------------------------------------------------------------------------------------------------


def smooth(x, steps):
    y = np.zeros_like(x)
    for _ in range(steps):
        y[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2]
        x = x + 0.1 * y
    return np.sum(x * x)


def test_a_cotangent_is_of_the_class_of_its_argument():
    here, there = gradient(smooth, X, 3)
    assert type(there) is standin.ndarray
    np.testing.assert_allclose(there.get(), here)


def test_the_value_is_an_array_of_rank_0():
    value, grad = s2s.value_and_grad(smooth)(on(X), 3)
    assert type(value) is standin.ndarray and value.shape == ()
    assert float(value) == pytest.approx(smooth(X.copy(), 3))


def test_a_number_gets_a_number():
    def f(x, c):
        return np.sum(c * x)

    bars = s2s.grad(f, argnums=(0, 1))(on(X), 2.0)
    assert type(bars[0]) is standin.ndarray and type(bars[1]) is float
    bars = s2s.grad(f, argnums=1)(on(X), np.float32(2.0))
    assert type(bars) is np.float32 and float(bars) == pytest.approx(X.sum())


def test_containers_and_objects_keep_their_structure():
    class Model:
        def __init__(self, w, b):
            self.w, self.b = w, b

    def f(model, params):
        return np.sum(model.w * params["x"]) + model.b * np.sum(params["y"][0] ** 2)

    bars = s2s.grad(f, argnums=(0, 1))(Model(on(X), 0.5), {"x": on(X), "y": [on(X)]})
    np.testing.assert_allclose(bars[0].w.get(), X)
    assert bars[0].b == pytest.approx(np.sum(X**2))
    np.testing.assert_allclose(bars[1]["y"][0].get(), X)


def test_modes_agree():
    def f(a, b):
        return np.linalg.solve(a, b) @ np.tanh(b)

    b = X[:3]
    want = s2s.grad(f, argnums=(0, 1))(A, b)
    got = s2s.grad(f, argnums=(0, 1))(on(A), on(b))
    _, dot = s2s.jvp(f, (on(A), on(b)), (on(A * 0.1), on(b * 0.2)))
    for one, other in zip(got, want):
        np.testing.assert_allclose(one.get(), other)
    assert float(dot) == pytest.approx(np.sum(want[0] * A * 0.1) + np.sum(want[1] * b * 0.2))


def test_second_derivatives():
    def f(x):
        return np.sum(np.sin(x) * x**2)

    want = s2s.hessian(f)(X)
    got = s2s.hessian(f)(on(X))
    assert type(got) is standin.ndarray
    np.testing.assert_allclose(got.get(), want, atol=1e-12)

    def slope(x):
        return np.sum(s2s.grad(f)(x) ** 2)

    np.testing.assert_allclose(s2s.grad(slope)(on(X)).get(), s2s.grad(slope)(X))


def test_the_argument_stays_as_it_was():
    def f(x):
        x[1:] *= 2.0
        return np.sum(x * x)

    there = on(X)
    np.testing.assert_allclose(s2s.grad(f)(there).get(), s2s.grad(f)(X.copy()))
    np.testing.assert_array_equal(there.get(), X)


def test_integers_name_places():
    def f(x, i):
        return np.sum(x[i] ** 2)

    here, there = gradient(f, X, np.array([0, 2, 2, 5]))
    np.testing.assert_allclose(there.get(), here)

    def complex_places(x, i):
        z = (1.0 + 2.0j) * x
        return np.sum(np.abs(z[i]) ** 2)

    here, there = gradient(complex_places, X, np.array([0, 2, 2, 5]))
    np.testing.assert_allclose(there.get(), here)


# --- items are views ------------------------------------------------------------------------------------------------


def test_an_item_is_a_view_as_it_is_in_the_function_itself():
    def f(x):
        y = x * 1.0
        first = y[0]
        y[0] = 5.0
        return first * np.sum(y)

    # NumPy's item is a number, and keeps the old value
    assert s2s.value_and_grad(f)(X)[0] == pytest.approx(X[0] * (5.0 + X[1:].sum()))
    value, grad = s2s.value_and_grad(f)(on(X))
    assert float(value) == pytest.approx(5.0 * (5.0 + X[1:].sum()))
    np.testing.assert_allclose(grad.get(), [0.0, *[5.0] * 5])


def test_the_value_is_no_item_of_an_array_that_the_reverse_sweep_restores():
    def f(x):
        best = np.zeros(3)
        for k in range(3):
            for i in range(1, 3):
                best[i] = best[i - 1] + x[k] * best[i] + x[i]
        return best[2]

    value, _ = s2s.value_and_grad(f)(on(X))
    assert float(value) == pytest.approx(f(X))


def test_the_value_of_rank_0_is_no_view_of_what_is_restored_on_numpy():
    def f(x):
        best = np.zeros(3)
        for k in range(3):
            for i in range(1, 3):
                best[i] = best[i - 1] + x[k] * best[i] + x[i]
        return best[2:].reshape(())

    value, _ = s2s.value_and_grad(f)(X)
    assert float(value) == pytest.approx(float(f(X)))


def test_the_largest_of_items_is_one_of_them():
    def f(x):
        y = np.exp(x)
        total = 0.0
        for i in range(len(x) - 1):
            most = max(y[i], y[i + 1])
            y[i + 1] = 0.5 * most
            total = total + most * x[i]
        return total

    copied = np.array(X)
    y, total = np.exp(copied), 0.0  # with views: what is stored shows in what was read
    step = 1e-6

    def by_views(x):
        return float(f(on(x)))

    want = [(by_views(X + step * e) - by_views(X - step * e)) / (2 * step) for e in np.eye(6)]
    np.testing.assert_allclose(s2s.grad(f)(on(X)).get(), want, rtol=1e-7)


def test_a_sum_that_begins_with_a_number():
    def f(x):
        total = 0
        for i in range(len(x)):
            total += x[i] ** 2
        return np.sqrt(total)

    here, there = gradient(f, X)
    np.testing.assert_allclose(there.get(), here)
    text = s2s.source(f, on(X))
    assert "rt." not in text.replace("rt.fused(", ""), text


# --- the text -------------------------------------------------------------------------------------------------------


def test_the_text_says_which_module_its_names_mean():
    text = s2s.source(smooth, on(X), 3)
    assert text.startswith(
        "from s2s import arrays\nfrom tests.arrays import standin\n\nnp = arrays.on(standin)\n"), text
    names = {}
    exec(text, names)
    np.testing.assert_allclose(names["smooth_grad"](on(X), 3).get(), s2s.grad(smooth)(X, 3))


def test_each_class_has_its_version():
    grad = s2s.grad(smooth)
    first = grad(X, 3)
    second = grad(on(X), 3)
    third = grad(X, 3)
    assert type(first) is type(third) is np.ndarray and type(second) is standin.ndarray


@pytest.mark.slow
def test_a_version_is_found_on_disk(tmp_path):
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\ndef f(x):\n    y = np.zeros(3)\n    y[:] = x[:3]\n"
        "    return np.sum(np.linalg.norm(y) * x)\n")
    text = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, s2s, model\nfrom tests.arrays import standin\n"
        "g = s2s.grad(model.f)(standin.asarray(np.arange(1.0, 6.0)))\n"
        "print(type(g).__module__, g.get().tolist(), 'libcst' in sys.modules)\n")
    environment = {"S2S_CACHE": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    out = [
        subprocess.run([sys.executable, "-c", text, str(tmp_path)], env=environment, capture_output=True, text=True,
                       check=True).stdout.split(" ", 1) for _ in range(2)]
    assert out[0][0] == "tests.arrays.standin"
    assert out[0][1].rsplit(" ", 1)[0] == out[1][1].rsplit(" ", 1)[0]
    assert out[1][1].rsplit(" ", 1)[1].strip() == "False"


def test_names_of_the_module_itself_are_followed():
    def f(x):
        y = standin.zeros(x.shape[0])
        y[:] = standin.exp(x)
        return standin.sum(y) + standin.linalg.norm(x)

    def same(x):
        return np.sum(np.exp(x)) + np.linalg.norm(x)

    np.testing.assert_allclose(s2s.grad(f)(on(X)).get(), s2s.grad(same)(X))


def test_the_namespace_of_an_array_is_followed():
    def f(x):
        xp = x.__array_namespace__()
        return xp.sum(xp.sin(x) * xp.ones(x.shape[0]))

    np.testing.assert_allclose(s2s.grad(f)(on(X)).get(), np.cos(X))


WEIGHTS = on(X)


def of_global(x):
    return np.sum(WEIGHTS * x)


def test_an_array_of_the_program_tells_the_module_where_no_argument_does():
    def f(c):
        return np.sum(np.exp(c * WEIGHTS))

    assert s2s.grad(f)(0.5) == pytest.approx(np.sum(X * np.exp(0.5 * X)))
    np.testing.assert_allclose(s2s.grad(of_global)(on(X)).get(), X)


def test_helpers_take_from_scipy_what_the_module_has(monkeypatch):
    own = types.SimpleNamespace(solve_triangular=lambda a, b, **kwargs: "solved")
    monkeypatch.setattr(counterparts, "_companion", lambda module, path: own if path == "scipy.linalg" else None)
    importing = counterparts._importer(standin)
    assert importing("scipy.linalg", {}, {}, ("solve_triangular",)) is own
    for path, name in (("scipy.linalg", "lapack"), ("scipy.special", "erf")):
        with pytest.raises(ImportError):
            importing(path, {}, {}, (name,))


def test_factors():
    def f(x):
        a = x @ x.T + np.eye(50)
        return np.linalg.slogdet(a)[1] + np.sum(np.linalg.cholesky(a))

    x = np.cos(np.arange(2500.0)).reshape(50, 50)
    here, there = gradient(f, x)
    np.testing.assert_allclose(there.get(), here, rtol=1e-9, atol=1e-9)


# --- refusals -------------------------------------------------------------------------------------------------------


def test_arrays_of_two_modules():
    with pytest.raises(ArgumentError) as refused:
        s2s.grad(lambda x, y: np.sum(x * y))(on(X), X)
    assert refused.value.diagnostic.code == "S2S535"
    assert "`x` is a tests.arrays.standin.ndarray, `y` a numpy.ndarray" in str(refused.value)
    with pytest.raises(ArgumentError) as refused:
        s2s.grad(of_global)(X)
    assert "`x` is a numpy.ndarray, `WEIGHTS` a tests.arrays.standin.ndarray" in str(refused.value)


def test_numbers_go_with_both():
    def f(x, c, n):
        return np.sum(c * x[:n])

    np.testing.assert_allclose(s2s.grad(f)(on(X), np.float64(2.0), 4).get(), [2.0] * 4 + [0.0] * 2)


class Elsewhere(standin.ndarray):
    pass


@pytest.fixture
def second(monkeypatch):
    """Puts an array on a second device."""
    monkeypatch.setattr(standin.ndarray, "device", property(lambda self: getattr(self, "place", "device 0")))

    def moved(array):
        array.place = "device 1"
        return array

    return moved


@pytest.mark.parametrize("made", [s2s.grad, s2s.value_and_grad, s2s.jacrev, s2s.hessian])
@pytest.mark.parametrize("fresh", [True, False])
def test_two_devices(second, made, fresh):
    derivative = made(lambda x, y: np.sum(x * y))
    if not fresh:  # a version is there, for arrays on one device
        derivative(on(X), on(X)), derivative(second(on(X)), second(on(X)))
    with pytest.raises(ArgumentError, match="`x` is on device 0, `y` on device 1") as refused:
        derivative(on(X), second(on(X)))
    assert refused.value.diagnostic.code == "S2S535"


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("kind", ["dict", "pair", "list", "list alone"])
def test_two_devices_in_containers(second, kind, fresh):
    if kind == "dict":
        derivative, call = s2s.grad(lambda p: np.sum(p["a"] * p["b"])), lambda a, b: ({"a": a, "b": b},)
    elif kind == "pair":
        derivative, call = s2s.grad(lambda p, x: np.sum(p[0] * x) + np.sum(p[1])), lambda a, b: ((a, b), a)
    else:
        def total(xs, y):
            result = 0.0
            for x in xs:
                result = result + np.sum(x * x)
            return result * np.sum(y)

        derivative = s2s.grad(total)
        call = (lambda a, b: ([a, a, a, b], 2.0)) if kind == "list alone" else (lambda a, b: ([b, b, b, b], a))
    if not fresh:
        derivative(*call(on(X), on(X)))
    with pytest.raises(ArgumentError, match="is on device [01], .* on device [01]") as refused:
        derivative(*call(on(X), second(on(X))))
    assert refused.value.diagnostic.code == "S2S535"


def test_two_devices_in_parts(second):
    def loss(w, X):
        return np.sum((X * w["a"]) ** 2)

    gradient, w = s2s.distributed.grad(loss, over="X", check=False), {"a": on(np.ones(3))}
    parts = [on(np.full((2, 3), float(k))) for k in range(3)]
    found = gradient(w, parts)["a"]
    np.testing.assert_allclose(found.get(), [2.0 * 2 * (0 + 1 + 4)] * 3)
    with pytest.raises(ArgumentError, match="part 2 .*arrays of several devices: device 0 and device 1.*S2S705"):
        gradient(w, [*parts[:2], second(on(np.ones((2, 3))))])
    with pytest.raises(ArgumentError, match="part 1 .*arrays of several modules: numpy.ndarray and .*S2S705"):
        gradient(w, [parts[0], np.ones((2, 3)), parts[2]])


def test_an_element_or_a_number():
    def chained(x):
        z = np.empty(5)
        for i in range(5):
            z[i] = np.sin(x[i]) * (z[i - 1] if i else 1.0)
        return np.sum(z)

    x = np.linspace(0.4, 1.3, 5)
    step = 1e-6 * np.eye(5)
    differences = [(chained(x + e) - chained(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(s2s.grad(chained)(on(x)).get(), differences, rtol=1e-7)


def test_a_function_that_the_module_lacks():
    def f(x):
        return np.sum(np.insert(x, 1, 2.0) ** 2)

    with pytest.raises(DifferentiationError) as refused:
        s2s.grad(f)(on(X))
    assert refused.value.diagnostic.code == "S2S536"
    said = "`numpy.insert` is called with arrays of tests.arrays.standin, which has no such function"
    assert said in str(refused.value)


def test_backends():
    def f(x):
        return np.sum(np.sin(x))

    with pytest.raises(ArgumentError) as refused:
        s2s.grad(s2s.differentiable(f, backend="numba"))(on(X))
    assert refused.value.diagnostic.code == "S2S537"
    grad = s2s.grad(s2s.differentiable(f, backend="auto"))
    for _ in range(200):
        np.testing.assert_allclose(grad(on(X)).get(), np.cos(X))


def test_cotangents_have_the_class_of_the_result():
    out, pullback = s2s.vjp(lambda x: np.sin(x), on(X))
    np.testing.assert_allclose(pullback(on(np.ones(6)))[0].get(), np.cos(X))
    with pytest.raises(ArgumentError):
        pullback(np.ones(6))
    with pytest.raises(ArgumentError):
        pullback(on(np.ones(5)))
    with pytest.raises(ArgumentError):
        s2s.jvp(lambda x: np.sin(x), (on(X),), (np.ones(6),))


def test_the_stand_in_refuses():
    with pytest.raises(standin.ImplicitConversion):
        np.asarray(on(X))
    with pytest.raises(TypeError):
        on(X) * X
    with pytest.raises(TypeError):
        float(on(X))
    assert copy.deepcopy(on(X)).shape == (6,)


def test_large_arrays_are_not_taken_in_parts():
    def f(x):
        return np.sum(np.exp(-x) * np.sin(x) * np.cos(x))

    x = np.linspace(0.1, 1.0, 300_000)
    assert s2s.source(f, on(x)) == s2s.source(f, on(x[:10]))
    np.testing.assert_allclose(s2s.grad(f)(on(x)).get(), s2s.grad(f)(x[:]), rtol=1e-12)


# --- arrays that are graphs -----------------------------------------------------------------------------------------


@pytest.fixture
def graphs(monkeypatch):
    """A module of arrays without memory: what it makes are stand-ins, whose items are copies."""
    module = types.ModuleType("graphs_of_tests")

    class Array:
        __module__ = "graphs_of_tests"

        def __init__(self, held):
            self.held = held

        dtype = property(lambda self: self.held.dtype)
        shape = property(lambda self: self.held.shape)
        ndim = property(lambda self: self.held.ndim)
        size = property(lambda self: self.held.size)

        def __array_function__(self, func, kinds, args, kwargs):
            return Array(func(*[arg.held if isinstance(arg, Array) else arg for arg in args], **kwargs))

        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return Array(np.asarray(ufunc(*[arg.held if isinstance(arg, Array) else arg for arg in args], **kwargs)))

        def __setitem__(self, index, value):
            self.held = self.held.copy()
            self.held[index] = value

        def __mul__(self, other):
            return np.multiply(self, other)

        __rmul__ = __mul__

    module.Array, module.sin, module.cos, module.sum = Array, np.sin, np.cos, np.sum
    module.full_like, module.asarray = np.full_like, np.asarray
    monkeypatch.setitem(sys.modules, "graphs_of_tests", module)
    return module


def test_graphs_without_stores(graphs):
    def f(x):
        return np.sum(np.sin(x))

    found = s2s.grad(f)(graphs.Array(X))
    assert type(found) is graphs.Array
    np.testing.assert_allclose(found.held, np.cos(X))


def test_stores_into_graphs(graphs):
    def f(x):
        y = np.sin(x)
        z = y[1:]
        z[0] = 2.0
        return np.sum(y)

    with pytest.raises(DifferentiationError) as refused:
        s2s.grad(f)(graphs.Array(X))
    assert refused.value.diagnostic.code == "S2S146"
    expected = "`z`, an array of graphs_of_tests, is changed in place, and another name for its memory, a view perhaps"
    assert expected in str(refused.value)


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_program_of_the_page_runs():
    text = (ROOT / "docs" / "arrays.md").read_text(encoding="utf-8")
    program, head = re.findall(r"^```text\n(import cupy.*?)^```", text, re.M | re.S)
    names = {"cupy": standin, "__name__": "page"}
    run_as_file(program.replace("import cupy, ", "import "), names)
    u = np.linspace(0.0, 1.0, 1000)
    assert type(names["gradient"]) is standin.ndarray
    np.testing.assert_allclose(names["gradient"].get(), s2s.grad(names["loss"])(u, 100), rtol=1e-12)
    source = s2s.source(names["loss"], names["u"], 100)
    assert head.replace("import cupy\n", "").replace("cupy", "standin") in source.replace(
        "from tests.arrays import standin\n", "")


def run_as_file(program, names):
    linecache.cache["page_of_arrays"] = len(program), None, program.splitlines(True), "page_of_arrays"
    exec(compile(program, "page_of_arrays", "exec"), names)
