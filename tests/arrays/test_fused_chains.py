"""Chains of arithmetic on arrays of a module that compiles functions of elements: the numbers are NumPy's, the launches
are few, and what is compiled wrongly, or not at all, is found out."""

import types
import warnings

import numpy as np
import pytest

import s2s
from s2s.arrays import counterparts
from s2s.core.array_classes import module_of_arrays
from tests.arrays import standin

rng = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """Nothing is taken from other tests, and no chain is left without a word."""
    monkeypatch.setenv("S2S_CACHE", "off")
    monkeypatch.setattr(counterparts.on(standin, "s2s.arrays.fused"), "_chains", {})
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.NotFusedWarning)
        yield


def moved(value):
    return standin.asarray(value) if isinstance(value, np.ndarray) else value


def held(value):
    if isinstance(value, tuple):
        return tuple(map(held, value))
    return value.get() if isinstance(value, standin.ndarray) else value


def launches(call):
    """How many operations a call takes, once its chains are compared."""
    for _ in range(4):
        call()
    before = standin.LAUNCHES
    call()
    return standin.LAUNCHES - before


# --- programs -------------------------------------------------------------------------------------------------------


def logistic(w, X, y):
    z = X @ w
    return np.mean(np.log1p(np.exp(-y * z))) + 0.01 * np.sum(w * w)


def softmax(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.sum(y * np.log(p + 1e-9), axis=1))


def adam(p, g, m, v, t):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return np.sum((p - 1e-3 * step) ** 2)


def normal(x):
    return 0.5 * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def black_scholes(S, K, T, r, sigma):
    root = sigma * np.sqrt(T)
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / root
    return np.sum(S * normal(d1) - K * np.exp(-r * T) * normal(d1 - root))


def activations(x):
    relu = np.maximum(x, 0.0)
    elu = np.where(x > 0.0, x, np.exp(x) - 1.0)
    silu = x / (1.0 + np.exp(-x))
    return np.sum(relu * elu + silu * np.tanh(x) + abs(x) ** 1.5)


def branches(x, y):
    return np.sum(np.where(x > 0.5, 2.0**x * y, np.sqrt(x) * np.clip(y, 0.3, 0.8)))


def lorenz(state, dt, steps):
    x, y, z = state[0], state[1], state[2]
    for _ in range(steps):
        a, b, c = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 2.5 * z
        x, y, z = x + dt * a, y + dt * b, z + dt * c
    return np.sum(x * x + y * y + z * z)


def stores(u, steps):
    v = np.zeros_like(u)
    for _ in range(steps):
        v[1:-1] = 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = u + v * np.exp(-u * u)
    return np.sum(u * u * u)


def uniform(*shape):
    return rng.uniform(0.2, 1.4, shape)


PROGRAMS = {
    "logistic": (logistic, (uniform(4), uniform(6, 4), np.sign(rng.normal(size=6))), 0),
    "softmax": (softmax, (rng.normal(size=(5, 3)), uniform(5, 3)), 0),
    "adam": (adam, (uniform(5), rng.normal(size=5), rng.normal(size=5), uniform(5), 3.0), (0, 1)),
    "black_scholes": (black_scholes, (uniform(6) + 1.0, uniform(6) + 1.0, uniform(6), 0.03, 0.4), (0, 2, 4)),
    "activations": (activations, (rng.normal(size=9),), 0),
    "branches": (branches, (uniform(4, 1), uniform(3)), (0, 1)),
    "lorenz": (lorenz, (uniform(3, 5), 0.02, 4), 0),
    "stores": (stores, (uniform(8), 3), 0),
}

LAUNCHED = {
    "logistic": (18, 7), "softmax": (18, 11), "adam": (31, 2), "black_scholes": (73, 6), "activations": (41, 2),
    "branches": (35, 11), "lorenz": (137, 14), "stores": (93, 44),
}
"""Launches of a call of ``value_and_grad``: one operation after the other, and in chains."""


def singles(args):
    return tuple(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args)


# --- right ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_on_numpy(name):
    f, args, wrt = PROGRAMS[name]
    gradient = s2s.value_and_grad(f, argnums=wrt)
    want = gradient(*args)
    for _ in range(5):  # compared first, trusted then
        value, bars = held(gradient(*map(moved, args)))
        np.testing.assert_allclose(value, want[0], rtol=1e-13)
        wanted = want[1] if isinstance(wrt, tuple) else want[1:]
        for got, bar in zip(bars if isinstance(bars, tuple) else (bars,), wanted):
            np.testing.assert_allclose(got, bar, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_single_precision_stays_single(name):
    f, args, wrt = PROGRAMS[name]
    args = singles(args)
    want, gradient = s2s.grad(f, argnums=wrt)(*args), s2s.grad(f, argnums=wrt)
    for _ in range(5):
        got = held(gradient(*map(moved, args)))
        for one, bar in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
            assert getattr(one, "dtype", None) == getattr(bar, "dtype", None)
            np.testing.assert_allclose(one, bar, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_are_those_on_numpy(name):
    f, args, _ = PROGRAMS[name]
    tangent = np.cos(np.arange(args[0].size)).reshape(args[0].shape)
    rest = (None,) * (len(args) - 1)
    want = s2s.jvp(f, args, (tangent, *rest))
    step = 1e-6 * tangent
    by_steps = (f(args[0] + step, *args[1:]) - f(args[0] - step, *args[1:])) / 2e-6
    assert want[1] == pytest.approx(by_steps, rel=1e-5, abs=1e-7)
    for _ in range(5):
        got = s2s.jvp(f, tuple(map(moved, args)), (moved(tangent), *rest))
        np.testing.assert_allclose([float(one) for one in got], want, rtol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "adam", "activations", "branches", "lorenz", "stores"])
def test_second_derivatives_are_those_on_numpy(name):
    f, args, _ = PROGRAMS[name]
    tangent = np.sin(np.arange(args[0].size) + 1.0).reshape(args[0].shape)
    rest = (None,) * (len(args) - 1)
    want = s2s.hvp(f, args, (tangent, *rest), argnums=0)
    for _ in range(4):
        got = s2s.hvp(f, tuple(map(moved, args)), (moved(tangent), *rest), argnums=0)
        np.testing.assert_allclose(held(got), want, rtol=1e-10, atol=1e-12)


def test_the_pullback_has_chains_too():
    f, args, _ = PROGRAMS["logistic"]
    value, pullback = s2s.vjp(f, *map(moved, args))
    assert "rt.fused" in s2s.source(f, *map(moved, args), mode="vjp").split("def pullback")[1]
    want = s2s.vjp(f, *args)[1](1.0)
    for _ in range(5):
        np.testing.assert_allclose(held(pullback(1.0))[0], want[0], rtol=1e-12)


# --- few launches ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches(name, monkeypatch):
    f, args, wrt = PROGRAMS[name]
    there = tuple(map(moved, args))
    monkeypatch.setenv("S2S_PASSES", "-chains")
    apart = launches(lambda: s2s.value_and_grad(f, argnums=wrt)(*there))
    monkeypatch.delenv("S2S_PASSES")
    chained = launches(lambda: s2s.value_and_grad(f, argnums=wrt)(*there))
    assert (apart, chained) == LAUNCHED[name]


def test_the_text_says_what_is_one_pass():
    text = s2s.source(activations, moved(PROGRAMS["activations"][1][0]), mode="grad")
    assert text.count("rt.fused(") == text.count("def chain") == 1
    assert "rt.fused" not in s2s.source(activations, PROGRAMS["activations"][1][0], mode="grad")


def test_a_module_without_fuse_has_no_chains(monkeypatch):
    monkeypatch.delattr(standin, "fuse")

    def f(x):
        return np.sum(np.exp(x) * x * np.sin(x))

    assert "rt.fused" not in s2s.source(f, moved(uniform(3)), mode="grad")


def test_each_chain_is_compiled_once():
    f, args, _ = PROGRAMS["lorenz"]
    gradient = s2s.grad(f)
    gradient(*map(moved, args))
    before = len(standin.KERNELS)
    gradient(*map(moved, args))
    gradient(moved(uniform(3, 9)), *args[1:])
    assert len(standin.KERNELS) == before


def test_the_text_runs_by_itself(tmp_path):
    f, args, wrt = PROGRAMS["black_scholes"]
    there = tuple(map(moved, args))
    scope = {}
    exec(compile(s2s.source(f, *there, mode="grad", argnums=wrt), str(tmp_path / "text.py"), "exec"), scope)
    want, before = s2s.grad(f, argnums=wrt)(*args), len(standin.KERNELS)
    for _ in range(5):
        for got, bar in zip(held(scope["black_scholes_grad"](*there)), want):
            np.testing.assert_allclose(got, bar, rtol=1e-12)
    assert len(standin.KERNELS) > before


def test_names_of_chains_and_of_the_program_are_apart():
    def f(chain, a0, chain_1):
        x = chain * a0 + chain_1
        a1 = np.sum(x)
        return np.sum(np.sin(chain) * x * (a1 + a0) * chain_1 * np.exp(x * a1))

    args = tuple(uniform(3) * 0.3 for _ in range(3))
    want = s2s.grad(f, argnums=(0, 1, 2))(*args)
    for got, bar in zip(held(s2s.grad(f, argnums=(0, 1, 2))(*map(moved, args))), want):
        np.testing.assert_allclose(got, bar, rtol=1e-12)


def test_long_chains_are_parted():
    def f(x):
        for k in range(90):
            x = x * 0.99 + 0.01 * np.sin(x)
        return np.sum(x)

    text = s2s.source(f, moved(uniform(4)), mode="grad")
    assert text.count("rt.fused(") >= 1
    np.testing.assert_allclose(held(s2s.grad(f)(moved(np.ones(4)))), s2s.grad(f)(np.ones(4)), rtol=1e-12)


# --- what is like arrays, and is none -------------------------------------------------------------------------------


def test_numbers_in_the_place_of_arrays_without_axes():
    def f(v):
        a, b = 1.0, 2.0
        for x in v:
            a, b = x * x + a * 0.5, b * a + 1.0
        return a * b + b

    v = uniform(5)
    for _ in range(5):
        value, bar = held(s2s.value_and_grad(f)(moved(v)))
        want = s2s.value_and_grad(f)(v)
        np.testing.assert_allclose(value, want[0], rtol=1e-13)
        np.testing.assert_allclose(bar, want[1], rtol=1e-12)


def test_an_item_that_changes_later_is_read_before():
    def f(a):
        r = np.zeros_like(a)
        total = 0.0
        for k in range(3):
            q = a[k] * 2.0 + 1.0
            t = q * r[k, 0] + a[k]
            r[k, 0] = np.sum(t)
            total = total + np.sum(t * q * r[k, 0])
        return total

    a = uniform(3, 4)
    for _ in range(5):
        np.testing.assert_allclose(held(s2s.grad(f)(moved(a))), s2s.grad(f)(a), rtol=1e-12)


def test_arrays_that_do_not_fit_raise_as_they_do_without_chains():
    def f(x, y):
        return np.sum(np.exp(x * y) * x + y)

    gradient = s2s.grad(f)
    for _ in range(5):
        gradient(moved(uniform(4)), moved(uniform(4)))
    with pytest.raises(ValueError, match="broadcast"):
        gradient(moved(uniform(4)), moved(uniform(3)))
    np.testing.assert_allclose(
        held(gradient(moved(np.ones(4)), moved(np.ones(4)))), gradient(np.ones(4), np.ones(4)))


def test_empty_arrays_say_nothing_of_a_kernel():
    f, gradient = activations, s2s.grad(activations)
    for _ in range(5):
        assert held(gradient(moved(np.zeros(0)))).shape == (0,)
    chains = counterparts.on(standin, "s2s.arrays.fused")._chains
    assert not any(calls for chain in chains.values() for calls in chain.calls.values())


def test_nan_and_infinity_agree():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, 800.0])
    with np.errstate(all="ignore"):
        want = s2s.grad(activations)(x)
        for _ in range(5):
            np.testing.assert_array_equal(np.isnan(held(s2s.grad(activations)(moved(x)))), np.isnan(want))


# --- a compiler that is wrong ---------------------------------------------------------------------------------------


def lies(change):
    """A ``fuse`` whose kernels change one result."""

    def fuse(kernel_name=None):
        def made(fn):
            kernel = standin.Kernel(fn, kernel_name)

            def run(*args):
                results = kernel(*args)
                first, *others = results if isinstance(results, tuple) else (results,)
                first = standin.ndarray(change(first.get()))
                return (first, *others) if isinstance(results, tuple) else first

            return run

        return made

    return fuse


LIES = {
    "values": lambda x: x * (1.0 + 1e-9),
    "one value": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 1, x + 0.1, x),
    "signs": lambda x: -x,
    "zeros": np.zeros_like,
    "dtype": lambda x: x.astype(np.float32),
    "shape": lambda x: x[..., None],
    "nan": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 2, np.nan, x),
}


@pytest.mark.parametrize("name", ["logistic", "activations", "lorenz"])
@pytest.mark.parametrize("lie", LIES)
def test_wrong_kernels_are_not_used(name, lie, monkeypatch):
    monkeypatch.setattr(standin, "fuse", lies(LIES[lie]))
    f, args, _ = PROGRAMS[name]
    want, gradient = s2s.grad(f)(*args), s2s.grad(f)
    with pytest.warns(s2s.NotFusedWarning, match="gives other results"):
        np.testing.assert_allclose(held(gradient(*map(moved, args))), want, rtol=1e-12, atol=1e-14)
    for _ in range(4):
        np.testing.assert_allclose(held(gradient(*map(moved, args))), want, rtol=1e-12, atol=1e-14)


def test_a_kernel_that_is_right_for_zeros_alone_is_found_out(monkeypatch):
    monkeypatch.setattr(standin, "fuse", lies(lambda x: np.where(np.abs(x) > 0.0, x + 1.0, x)))

    def f(x, y):
        return np.sum(np.sin(x) * y * y * x)

    gradient, x = s2s.grad(f), uniform(4)
    gradient(moved(np.zeros(4)), moved(x))
    gradient(moved(np.zeros(4)), moved(np.zeros(4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            np.testing.assert_allclose(held(gradient(moved(x), moved(x))), gradient(x, x), rtol=1e-12)


def test_what_is_not_compiled_is_done_operation_by_operation(monkeypatch):
    def fuse(kernel_name=None):
        def refuse(*args):
            raise RuntimeError("nvrtc: error: identifier is undefined\nmore")

        return lambda fn: refuse

    monkeypatch.setattr(standin, "fuse", fuse)
    f, args, _ = PROGRAMS["activations"]
    gradient, x = s2s.grad(f), moved(args[0])
    with pytest.warns(s2s.NotFusedWarning, match="RuntimeError: nvrtc: error: identifier is undefined") as told:
        np.testing.assert_allclose(held(gradient(x)), s2s.grad(f)(*args), rtol=1e-12)
    assert "more" not in str(told[0].message).splitlines()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(held(gradient(x)), s2s.grad(f)(*args), rtol=1e-12)


def test_a_kernel_that_fails_later_is_left(monkeypatch):
    failing = types.SimpleNamespace(now=False)

    def fuse(kernel_name=None):
        def made(fn):
            kernel = standin.Kernel(fn, kernel_name)

            def run(*args):
                if failing.now:
                    raise RuntimeError("out of resources")
                return kernel(*args)

            return run

        return made

    monkeypatch.setattr(standin, "fuse", fuse)
    f, args, _ = PROGRAMS["activations"]
    gradient, want = s2s.grad(f), s2s.grad(f)(*args)
    for _ in range(5):
        gradient(moved(args[0]))
    failing.now = True
    with pytest.warns(s2s.NotFusedWarning, match="out of resources"):
        np.testing.assert_allclose(held(gradient(moved(args[0]))), want, rtol=1e-12)
    np.testing.assert_allclose(held(gradient(moved(args[0]))), want, rtol=1e-12)


def test_what_the_stand_in_compiles_is_arithmetic_on_elements_alone():
    x = moved(uniform(3))
    for fn in (lambda a: a[0], lambda a: a if a > 0 else -a, lambda a: a.shape, lambda a: np.sin(a), len,
               lambda a: standin.sum(a), lambda a: 2.0**a, lambda a: [*a], float):
        with pytest.raises(TypeError):
            standin.fuse()(fn)(x) if hasattr(fn, "__name__") else None
    assert module_of_arrays(standin.ndarray) is standin
