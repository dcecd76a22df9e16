"""The Numba backend: the numbers of the NumPy backend and of central differences, and never stale or silently wrong."""

import ast
import math
import os
import subprocess
import sys
import textwrap
import types
import warnings

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning
from s2s.backends.numba.binding import check_bound
from tests.helpers import active_positions, assert_gradient, numerical, random_cotangent

numba = pytest.importorskip("numba")

rng = np.random.default_rng(3)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(s2s.__file__))}
V = np.array([0.7, -1.2, 1.9, 0.4, -0.6])
M = rng.normal(size=(4, 5))


@pytest.fixture(autouse=True)
def no_fallback():
    """Numba compiles what these tests are about; where it does not, a test says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        yield


def on_numba(f):
    return s2s.differentiable(f, backend="numba")


def assert_close(actual, expected):
    """The same structure and numbers, but for rounding."""
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_close(a, e)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_close(actual[key], expected[key])
    elif expected is None:
        assert actual is None
    else:
        assert isinstance(actual, np.ndarray) == isinstance(expected, np.ndarray)
        rtol = 1e-5 if getattr(expected, "dtype", None) == np.float32 else 1e-12
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-13)


def check(f, *args, rtol=1e-6):
    """``grad`` on Numba against the NumPy backend and central differences."""
    places = active_positions(args)
    wanted = places if isinstance(places, tuple) else (places,)
    expected = s2s.value_and_grad(f, argnums=wanted)(*args)
    actual = s2s.value_and_grad(on_numba(f), argnums=wanted)(*args)
    assert_close(actual, expected)
    for place, gradient, slope in zip(wanted, actual[1], numerical(f, args, {}, wanted, 1.0)):
        assert_gradient(gradient, args[place], slope, rtol)


def check_vjp(f, *args, rtol=1e-6):
    """``vjp`` on Numba against the NumPy backend and central differences, with two cotangents."""
    out, pullback = s2s.vjp(on_numba(f), *args)
    expected_out, expected_pullback = s2s.vjp(f, *args)
    assert_close(out, expected_out)
    for seed in (0, 1):
        cotangent = random_cotangent(expected_out, seed)
        pulled = pullback(cotangent)
        assert_close(pulled, expected_pullback(cotangent))
        places = active_positions(args)
        wanted = places if isinstance(places, tuple) else (places,)
        for place, slope in zip(wanted, numerical(f, args, {}, wanted, cotangent)):
            assert_gradient(pulled[place], args[place], slope, rtol)


# --- the language -------------------------------------------------------------------------------------------


def straight(x, y):
    z = x * y
    return z * np.sin(x) + np.exp(-y) + math.sqrt(x) * math.atan2(y, x)


def branch(x, y):
    if x > y:
        t = x * x
        z = t * y
    elif y > 2.0:
        z = np.cos(x) * y
    else:
        return x**1.5 + y**-2
    return z + x


def for_loop(x, n):
    y = x
    for i in range(n):
        y = 0.5 * (y + x / y) + 0.01 * i
    return y


def backwards(x, n):
    y = x
    for i in range(n - 1, 0, -2):
        y = np.sin(y) + x * i
    for i in range(2, 9, 3):
        y = y * x / i
    return y


def while_loop(x, limit):
    trips = 0
    while x < limit:
        x = x * 1.3 + 0.1 * np.sin(x)
        trips += 1
    return x * trips


def early_exits(v, tol):
    total = 0.0
    for i in range(len(v)):
        if v[i] > 5.0:
            continue
        if total > tol:
            break
        for k in range(3):
            if k * v[i] > 1.0:
                total += v[i] ** 2
                break
            total += np.tanh(v[i]) * k
    return total


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def elementwise(x, y):
    return np.sum(np.where(x > 0.2, np.tanh(x) * y, np.exp(x) / (1.0 + y * y)) * np.maximum(x, 0.1))


def softmax_loss(W, b, X):
    z = X @ W + b
    z = z - np.max(z, axis=1, keepdims=True)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    return -np.mean(np.log(p[:, 0])) + np.sum(np.mean(p, axis=0) ** 2)


def axes(t):
    return np.sum(np.sum(t, axis=(0, 2)) ** 2) + np.sum(t.max(axis=-1) ** 2) + np.sum(t.mean(axis=1, keepdims=True) * t)


def broadcast(a, b, c):
    return np.sum((a * b + c) ** 2)


def picked(v, index):
    return np.sum(v[index] ** 3 * v[0])


def helper(x, scale=2.0):
    return np.sin(x) * scale if x > 0 else x * x


def calls(x):
    return helper(x) + helper(-x, scale=3.0) * helper(x, 1.5)


def passive(n):
    total = 0
    for k in range(n):
        total += k * k
    return math.sqrt(total)


def calls_passive(x, n):
    return x * passive(n) ** 2


def containers(params, x):
    h = np.tanh(params["layers"][0]["W"] @ x + params["layers"][0]["b"])
    return np.sum(h * params["scale"]) * params["pair"][1]


def lists(v):
    kept = [x * x for x in v if x > 0.0]
    total = kept[0]
    for k in range(1, len(kept)):
        total = total * kept[k]
    return total * len(kept)


def comprehension(v):
    return sum([np.sin(x) * k for k, x in enumerate(v) if x < 1.0])


def cubes(x, n):
    total = x
    for i in range(n):
        total += i**3 * x + (i + 1) * (i + 2) / x
    return total


PARAMS = {
    "layers": [{"W": rng.normal(size=(3, 5)), "b": rng.normal(size=3)}],
    "scale": 1.5,
    "pair": (0.5, 2.5),
}


def test_straight_line_code():
    check(straight, 0.7, 1.3)


@pytest.mark.parametrize("x, y", [(2.0, 1.0), (0.5, 2.5), (0.5, 1.5)])
def test_branches(x, y):
    check(branch, x, y)


@pytest.mark.slow
def test_loops():
    check(for_loop, 2.0, 6)
    check(for_loop, 2.0, 0)
    check(backwards, 0.8, 6)
    check(while_loop, 1.1, 7.0)
    check(while_loop, 9.0, 7.0)
    check(cubes, 1.2, 5)


def test_exits_and_elements():
    check(early_exits, V, 0.9)
    check(rosenbrock, V)


@pytest.mark.slow
def test_arrays(rng):
    check(elementwise, V, V[::-1].copy())
    check(elementwise, M, M * 2.0)
    check(softmax_loss, rng.normal(size=(5, 3)), rng.normal(size=3), M)
    check(broadcast, M, V, 0.5)
    check(broadcast, M, M[:, :1].copy(), M[:1].copy())
    check(picked, V, np.array([1, 3, 1, 1]))


@pytest.mark.slow
def test_reductions_over_axes(rng):
    check(axes, rng.normal(size=(2, 3, 4)))


def test_calls():
    check(calls, 0.4)
    check(calls_passive, 0.4, 5)


def test_containers():
    check(containers, PARAMS, V)


def test_lists():
    check(lists, V)
    check(comprehension, V)


# --- vjp ----------------------------------------------------------------------------------------------------


def two_results(x, v):
    y = np.tanh(v * x)
    return {"sum": np.sum(y), "parts": [y, x * x]}


@pytest.mark.slow
def test_pullbacks():
    check_vjp(straight, 0.7, 1.3)
    check_vjp(for_loop, 2.0, 6)
    check_vjp(while_loop, 1.1, 7.0)
    check_vjp(while_loop, 9.0, 7.0)
    check_vjp(two_results, 0.3, V)
    check_vjp(containers, PARAMS, V)


def test_a_pullback_with_aux_and_an_integer_cotangent():
    def f(x):
        return x * np.sin(x), x + 1.0

    out, pullback, aux = s2s.vjp(on_numba(f), 0.5, has_aux=True)
    assert (out, aux) == (0.5 * np.sin(0.5), 1.5)
    assert pullback(2)[0] == pytest.approx(2 * (np.sin(0.5) + 0.5 * np.cos(0.5)))


# --- kinds --------------------------------------------------------------------------------------------------


def squares(x):
    return np.sum(x * x * 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes_stay(dtype):
    def f(x):
        return np.sum(np.abs(x * x) * 0.5)

    x = V.astype(dtype)
    assert_close(s2s.grad(on_numba(f))(x), s2s.grad(f)(x))
    assert s2s.grad(on_numba(f))(x).dtype == dtype


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_numbers_keep_their_type(kind):
    def f(x):
        return x * x * x

    value, gradient = s2s.value_and_grad(on_numba(f))(kind(1.5))
    assert type(value) is kind and type(gradient) is kind and gradient == 6.75


def test_any_layout():
    gradient = s2s.grad(on_numba(squares))
    for x in (M, M.T, M[::2, ::-1], np.asfortranarray(M), np.broadcast_to(V, (2, 5)), np.zeros((0, 3)), np.array(2.0)):
        np.testing.assert_array_equal(gradient(x), x)


def test_methods_and_objects():
    class Model:
        def __init__(self):
            self.w = np.array([1.0, -2.0])
            self.rate = 0.5

        def loss(self, x):
            return np.sum(self.w * x * x) * self.rate

    model = Model()
    f = on_numba(Model.loss)
    x = np.array([3.0, 4.0])
    np.testing.assert_allclose(s2s.grad(f, argnums=1)(model, x), [3.0, -8.0])
    model.w, model.rate = np.array([2.0, 2.0]), 2.0
    np.testing.assert_allclose(s2s.grad(f, argnums=1)(model, x), [24.0, 32.0])


# --- nothing stale ------------------------------------------------------------------------------------------

SCALE = 2.0
TABLE = np.array([1.0, 2.0])
CONFIG = types.SimpleNamespace(rate=0.5)


def reads_globals(x):
    return x * x * SCALE + TABLE[1] * x * CONFIG.rate


def test_globals_are_read_at_each_call(monkeypatch):
    gradient = s2s.grad(on_numba(reads_globals))
    assert gradient(3.0) == 13.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert gradient(3.0) == 31.0
    monkeypatch.setattr(CONFIG, "rate", 1.0)
    assert gradient(3.0) == 32.0
    try:
        TABLE[1] = 10.0
        assert gradient(3.0) == 40.0
    finally:
        TABLE[1] = 2.0


def test_closure_cells_are_read_at_each_call():
    weight = np.array([1.0, 2.0])

    def f(x):
        return np.sum(weight * x)

    gradient = s2s.grad(on_numba(f))
    np.testing.assert_array_equal(gradient(np.ones(2)), [1.0, 2.0])
    weight = np.array([3.0, 4.0])
    np.testing.assert_array_equal(gradient(np.ones(2)), [3.0, 4.0])


RATE = 3.0


def reads_rate(n):
    return RATE * n


def calls_reads_rate(x, n):
    return x * x * reads_rate(n)


def test_what_a_called_function_reads_is_not_stale(monkeypatch):
    gradient = s2s.grad(on_numba(calls_reads_rate))
    assert gradient(1.0, 2) == 12.0
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert gradient(1.0, 2) == 20.0


def test_a_called_function_that_is_another_one_is_called():
    scope = {"RATE": 1.0}
    exec("def other(n):\n    return RATE * n * 100", scope)

    def plain(x, n):
        return x * x * reads_rate(n)

    gradient = s2s.grad(on_numba(plain))
    assert gradient(1.0, 2) == 12.0
    old = globals()["reads_rate"]
    try:
        globals()["reads_rate"] = scope["other"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaFallbackWarning)  # what exec made has no source
            assert gradient(1.0, 2) == 400.0
    finally:
        globals()["reads_rate"] = old


# --- where compiled code computes on and Python does not --------------------------------------------------------


def test_integers_beyond_64_bits():
    def taylor(x, n):
        total, factorial = 1.0, 1
        for k in range(1, n):
            factorial *= k
            total += x**k / factorial
        return total

    assert s2s.grad(on_numba(taylor))(1.0, 30) == pytest.approx(math.e, rel=1e-12)

    def powers(x, n):
        return x * n**50 / 3.0**50

    assert s2s.grad(on_numba(powers))(1.0, 3) == pytest.approx(1.0, rel=1e-12)

    def fibonacci(x, n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return x * a

    assert s2s.grad(on_numba(fibonacci))(1.0, 120) == 5358359254990966640871840.0
    assert s2s.grad(on_numba(fibonacci))(1.0, 10) == 55.0


@pytest.mark.slow
def test_arrays_that_share_memory_in_an_update_in_place():
    def shifted(a):
        a = a * 2.0
        a[1:] += a[:-1]
        v = a[2:]
        a[:-2] *= v
        return np.sum(a**2)

    def turned(a):
        a = a * 2.0
        a += a[::-1]
        a -= 0.5 * a[::-1]
        return np.sum(a**3)

    def powers(a):
        a = a * 2.0
        a[1:] **= a[:-1]
        return np.sum(a**2)

    def divided_and_shifted(a, bits):
        bits = bits.copy()
        bits[1:] //= bits[:-1]
        bits[1:] %= bits[:-1]
        bits[1:] ^= bits[:-1]
        bits[1:] <<= bits[:-1] & 3
        return np.sum(a * bits)

    def picked_places(a, index):
        a = a * 2.0
        a[index] += a[0]
        return np.sum(a**3)

    check(shifted, V)
    check(turned, V)
    check(powers, np.array([0.6, 1.3, 0.9, 2.1, 0.75]))
    check(divided_and_shifted, np.array([0.6, 1.3, 0.9, 2.1]), np.array([5, 33, 67, 19]))
    check(picked_places, V, 3)


def test_truth_values_are_added_as_numpy_adds_them():
    def f(x, y):
        return x * ((x > 0) + (y > 0))

    assert s2s.grad(on_numba(f))(np.float64(1.0), np.float64(2.0)) == 1.0
    with pytest.warns(NumbaFallbackWarning, match="truth values"):
        assert s2s.grad(on_numba(f))(1.0, 2.0) == 2.0


def test_stencils_and_sweeps():
    def heat(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(u**2)

    def seidel(a, sweeps):
        a = a.copy()
        n = a.shape[0]
        for _ in range(sweeps):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0
        return np.sum(a * a)

    check(heat, V, 4)
    check(seidel, M, 2)


def test_math_domain_errors_are_pythons():
    def f(x):
        return math.sqrt(x) + math.log(x)

    gradient = s2s.grad(on_numba(f))
    assert gradient(4.0) == 0.5
    for bad in (-1.0, 0.0):
        with pytest.raises(ValueError):
            gradient(bad)

    def overflows(x):
        return math.exp(x)

    with pytest.raises(OverflowError, match="math range error"):
        s2s.grad(on_numba(overflows))(1e4)


def test_division_by_zero_as_in_python_and_in_numpy():
    def f(x, y):
        return x / y

    with pytest.raises(ZeroDivisionError):
        s2s.grad(on_numba(f))(1.0, 0.0)
    with np.errstate(divide="ignore"):
        assert s2s.grad(on_numba(f))(np.float64(1.0), np.float64(0.0)) == np.inf


def test_an_index_out_of_bounds_raises():
    def f(v, i):
        return v[i] * v[0]

    gradient = s2s.grad(on_numba(f))
    np.testing.assert_array_equal(gradient(V, -1), [V[4], 0, 0, 0, V[0]])
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
        gradient(V, 7)
    with pytest.raises(IndexError, match="out of bounds"):
        s2s.grad(on_numba(picked))(V, np.array([1, 9]))


def test_what_the_primal_raises():
    def f(x):
        if x < 0:
            raise KeyError(f"{x} is negative")
        return x * x

    gradient = s2s.grad(on_numba(f))
    assert gradient(2.0) == 4.0
    with pytest.raises(KeyError, match=r"-2\.0 is negative"):
        gradient(-2.0)


def test_a_variable_without_a_value():
    def f(x):
        if x > 0:
            y = x * x
        return y * x

    gradient = s2s.grad(on_numba(f))
    assert gradient(2.0) == 12.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        gradient(-2.0)


def test_a_variable_of_a_loop_without_trips():
    def f(x, n):
        for i in range(n):
            y = x * (i + 1)
        return y * x

    gradient = s2s.grad(on_numba(f))
    assert gradient(2.0, 3) == 12.0
    with pytest.raises(UnboundLocalError, match="'y'"):
        gradient(2.0, 0)


BINDINGS = """
def f(c, n):
    if c > 0.0:
        y = c
    if c > 1.0:
        z = c
        c = y
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n == 5:
            break
        w = c
        c += w
    return c {read}
"""


@pytest.mark.parametrize("read, c, n", [("+ y", -1.0, 0), ("+ w", 0.5, 0), ("+ z", 0.5, 9), ("", 2.0, 9)])
def test_flags_of_variables_that_may_be_unbound(read, c, n):
    """Numba alone reads what is not there as zero; with the flags the function raises where Python does."""
    tree = ast.parse(BINDINGS.format(read=read))
    made = {"plain": {}, "flagged": {}}
    exec(compile(tree, "<plain>", "exec"), made["plain"])
    check_bound(tree.body[0], {"UnboundLocalError"})
    exec(compile(ast.fix_missing_locations(tree), "<flagged>", "exec"), made["flagged"])
    python, compiled = made["plain"]["f"], numba.njit(made["flagged"]["f"])
    assert compiled(2.0, 2) == python(2.0, 2)
    if not read:
        assert compiled(c, n) == python(c, n)
        return
    for function in (python, compiled):
        with pytest.raises(UnboundLocalError):
            function(c, n)


def test_shapes_that_do_not_fit():
    gradient = s2s.grad(on_numba(broadcast))
    with pytest.raises(ValueError, match="broadcast"):
        gradient(np.ones(3), np.ones(4), 1.0)


def test_arguments_come_back_as_they_were():
    before = V.copy()
    s2s.grad(on_numba(rosenbrock))(V)
    np.testing.assert_array_equal(V, before)


# --- the fallback -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_numba_cannot_compile_runs_as_python_with_a_warning():
    @s2s.differentiable(backend="numba")
    def f(A, n):
        y = A[0]
        if n > 2:
            y = A
        return np.sum(y)

    with pytest.warns(NumbaFallbackWarning) as caught:
        gradient = s2s.grad(f)(M, 3)
    np.testing.assert_allclose(gradient, np.ones(M.shape))
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith("f_grad runs without Numba (") and "test_numba.py:" in text and "unify" in text
    s2s.grad(f)(M, 3)  # once for each version: a second warning would be an error here


def test_random_numbers_are_numpys():
    def f(x):
        return x * np.random.normal()

    with pytest.warns(NumbaFallbackWarning, match="random numbers"):
        gradient = s2s.grad(on_numba(f))
        np.random.seed(1)
        got = gradient(1.0)
    np.random.seed(1)
    assert got in (np.random.normal(), np.random.normal())


def test_what_catches_exceptions_runs_as_python():
    """Compiled code raises in other places than Python: no handler of the user may see that."""

    def f(x, y):
        try:
            z = x / y
        except ZeroDivisionError:
            z = x
        return z * 2.0

    with pytest.warns(NumbaFallbackWarning, match="`try` is not compiled"):
        assert s2s.grad(on_numba(f))(1.0, 0.0) == 2.0


def test_arrays_that_the_pullback_tells_apart_by_identity():
    def f(x):
        y = np.asarray(x * 2.0)
        z = np.asarray(y)
        z[0] = y[1] * y[1]
        return y * z

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaFallbackWarning)
        check_vjp(f, V)


def test_the_derivative_of_a_derivative_runs_on_the_same_backend():
    def f(x):
        return x**4

    second = s2s.grad(s2s.grad(on_numba(f)))
    assert second(2.0) == 48.0
    assert dict(second.dispatcher.ask.options)["backend"] == "numba"


def test_without_numba_the_error_says_what_to_install(tmp_path):
    code = """
        import sys
        sys.modules["numba"] = None
        import s2s

        @s2s.differentiable(backend="numba")
        def f(x):
            return x * x

        assert f(3.0) == 9.0
        try:
            s2s.grad(f)(3.0)
        except s2s.errors.ArgumentError as error:
            print(error)
    """
    file = tmp_path / "without.py"
    file.write_text(textwrap.dedent(code))
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert run.stdout.startswith("the Numba backend cannot be used: ") and 'pip install "s2s-grad[numba]"' in run.stdout
    assert "[S2S533]" in run.stdout


@pytest.mark.slow
def test_numba_is_imported_only_when_it_is_used(tmp_path):
    code = """
        import sys
        import s2s

        def f(x):
            return x * x

        assert s2s.grad(s2s.differentiable(f))(3.0) == 6.0 and "numba" not in sys.modules
        assert s2s.grad(s2s.differentiable(f, backend="numba"))(3.0) == 6.0 and "numba" in sys.modules
    """
    file = tmp_path / "with_and_without.py"
    file.write_text(textwrap.dedent(code))
    subprocess.run([sys.executable, str(file)], check=True, env=ENVIRONMENT)


# --- functions that the user compiled -------------------------------------------------------------


@numba.njit
def compiled_pair(a, b):
    return a * np.sin(b), a + b


@numba.njit
def compiled_count(n):
    return 2 * n


def calls_compiled_functions(x):
    p, q = compiled_pair(x[0], x[1])
    return p * q * compiled_count(3)


def test_functions_that_the_user_compiled_are_differentiated_as_written():
    a, b = x = np.array([1.2, 0.4])
    exact = [6.0 * np.sin(b) * (2.0 * a + b), 6.0 * a * (np.cos(b) * (a + b) + np.sin(b))]
    np.testing.assert_allclose(s2s.grad(calls_compiled_functions)(x), exact, rtol=1e-12)
    assert "compiled_count(3)" in s2s.source(calls_compiled_functions, x)
    np.testing.assert_allclose(s2s.grad(numba.njit(lambda v: np.sum(v * v)))(x), 2.0 * x, rtol=1e-12)
