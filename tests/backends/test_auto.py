"""The `auto` backend: compiled by Numba beside the program, with the numbers, types and exceptions of NumPy."""

import itertools
import math
import os
import subprocess
import sys
import textwrap
import threading
import types
import warnings

import numpy as np
import pytest

import s2s
from s2s import derivatives
from s2s.backends import background, trial
from s2s.backends.background import worker

numba = pytest.importorskip("numba")

X = np.array([0.7, -1.2, 1.9, 0.4])
LONG = 120.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """What has loops is compiled after its first call; by the clock of the trial it takes half the time."""
    clock = itertools.cycle([0.0, 0.002, 0.003])
    monkeypatch.setattr(trial, "perf_counter", lambda: next(clock))
    monkeypatch.setenv("S2S_BACKEND", "auto")
    monkeypatch.setenv("S2S_NUMBA_AFTER", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert worker.wait(LONG)


def decided(gradient, *args):
    """The results of a gradient before, while and after it is decided what it runs on."""
    results = []
    for _ in range(6):
        results.append(gradient(*args))
        assert worker.wait(LONG)
    return results


class Ambiguous:
    def __eq__(self, other):
        raise ValueError


WITHOUT_TRUTH = Ambiguous()


def chain(x, scale=2.0):
    total = 0.0
    for i in range(len(x)):
        total += scale * x[i] ** 3
    return total


def slopes(x, scale=2.0):
    return 3.0 * scale * x**2


def fresh(f=chain):
    """A function with derivatives of its own."""
    return s2s.differentiable(f, backend="auto")


# --- the swap -------------------------------------------------------------------------------------------------------


def test_it_is_what_is_there_without_options(monkeypatch):
    def cubes(x):
        return chain(x)

    gradient = s2s.grad(cubes)
    decided(gradient, X)
    assert gradient.backend.startswith("numba: ") and gradient.backend.endswith(" times as fast as NumPy")


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "hvp"])
def test_the_numbers_are_the_same(mode):
    def vector(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = x[i] ** 3 + x[0]
        return y

    calls = {
        "grad": (chain, lambda f: s2s.grad(f)(X), slopes(X)),
        "value_and_grad": (chain, lambda f: s2s.value_and_grad(f)(X)[1], slopes(X)),
        "vjp": (chain, lambda f: s2s.vjp(f, X)[1](0.5)[0], 0.5 * slopes(X)),
        "jvp": (chain, lambda f: s2s.jvp(f, (X,), (X,))[1], slopes(X) @ X),
        "jacrev": (vector, lambda f: s2s.jacrev(f)(X), np.diag(3.0 * X**2) + [1.0, 0.0, 0.0, 0.0]),
        "jacfwd": (vector, lambda f: s2s.jacfwd(f)(X), np.diag(3.0 * X**2) + [1.0, 0.0, 0.0, 0.0]),
        "hessian": (chain, lambda f: s2s.hessian(f)(X), np.diag(12.0 * X)),
        "hvp": (chain, lambda f: s2s.hvp(f)(X, X), 12.0 * X * X),
    }
    f, call, expected = calls[mode]
    f, before = fresh(f), set(derivatives._made)
    results = decided(lambda: call(f))
    assert len({type(result) for result in results}) == 1
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    told = [found.backend for found in {*derivatives._made} - before if found.dispatcher.last is not None]
    assert any(text.startswith("numba: ") for text in told), told


def test_the_value_keeps_its_type():
    results = decided(s2s.value_and_grad(fresh()), X)
    assert {type(value) for value, _ in results} == {np.float64}


def test_other_arguments_after_the_swap():
    gradient = s2s.grad(fresh())
    decided(gradient, X)
    for x in (X[::-2], X[:0], np.broadcast_to(3.0, 4)):
        np.testing.assert_allclose(gradient(x), slopes(x), rtol=1e-12)
    np.testing.assert_allclose(gradient(X.astype(np.float32)), slopes(X), rtol=1e-5)
    np.testing.assert_allclose(gradient(X, 0.5), slopes(X, 0.5), rtol=1e-12)


def test_another_layout_is_compiled_when_it_comes_again():
    gradient = s2s.grad(fresh())
    decided(gradient, X)
    raw, calls = gradient.dispatcher.last.raw.__code__, []
    for _ in range(6):
        sys.setprofile(lambda frame, event, _: calls.append(event) if frame.f_code is raw else None)
        result = gradient(X[::2])
        sys.setprofile(None)
        np.testing.assert_allclose(result, slopes(X[::2]), rtol=1e-12)
        assert worker.wait(LONG)
    assert calls.count("call") == 4


def test_what_changes_between_calls_is_read():
    rate = 2.0

    def scaled(x):
        total = 0.0
        for v in x:
            total += rate * v * v
        return total

    gradient = s2s.grad(scaled)
    decided(gradient, X)
    assert gradient.backend.startswith("numba: ")
    rate = 5.0
    np.testing.assert_allclose(gradient(X), 10.0 * X, rtol=1e-12)


def test_exceptions_are_those_of_python():
    def picked(x, n):
        total = 0.0
        for i in range(n):
            total += math.log(x[i])
        return total

    gradient = s2s.grad(picked)
    decided(gradient, X**2, 3)
    assert gradient.backend.startswith("numba: ")
    for x, n, kind, text in ((X, 9, ValueError, "math domain error"), (X**2, 9, IndexError, "out of bounds")):
        with pytest.raises(kind, match=text):
            gradient(x, n)
    np.testing.assert_allclose(gradient(X**2, 4), 1.0 / X**2, rtol=1e-12)


def test_errors_that_numpy_is_asked_for():
    def inverted(x):
        total = 0.0
        for i in range(len(x)):
            total += np.sum(1.0 / x[i:])
        return total

    gradient = s2s.grad(inverted)
    decided(gradient, X)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        gradient(np.array([1.0, 0.0]))
    with np.errstate(all="ignore"):
        assert np.isinf(gradient(np.array([1.0, 0.0]))[1])


def test_threads():
    gradient = s2s.grad(fresh())
    wrong = []

    def work():
        for k in range(60):
            x = X * k
            if not np.allclose(gradient(x), slopes(x), rtol=1e-12):
                wrong.append(k)
            if k % 20 == 0:
                worker.wait(LONG)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and gradient.backend.startswith("num")


# --- where it stays NumPy -------------------------------------------------------------------------------------------


def test_off_by_the_setting_and_by_the_option(monkeypatch):
    gradient = s2s.grad(s2s.differentiable(chain, backend="numpy"))
    decided(gradient, X)
    assert gradient.backend == "numpy"
    monkeypatch.setenv("S2S_BACKEND", "numpy")
    gradient = s2s.grad(fresh())
    decided(gradient, X)
    assert gradient.backend == "numpy"
    monkeypatch.setenv("S2S_BACKEND", "numba")
    gradient = s2s.grad(fresh())
    np.testing.assert_allclose(gradient(X), slopes(X), rtol=1e-12)
    assert gradient.backend == "numba"
    monkeypatch.setenv("S2S_BACKEND", "fortran")
    with pytest.warns(RuntimeWarning, match="S2S_BACKEND is 'fortran', which is none of auto, numpy, numba"):
        gradient = s2s.grad(fresh())
    gradient(X)
    assert gradient.backend.startswith("numpy")


def test_operations_on_elements_become_loops():
    def squares(x):
        return np.sum(np.tanh(x) * x)

    gradient = s2s.grad(squares)
    decided(gradient, X)
    assert gradient.backend.startswith("numba")
    np.testing.assert_allclose(gradient(X), np.tanh(X) + X / np.cosh(X) ** 2, rtol=1e-12)


def test_code_in_libraries_is_called_directly():
    def squares(x):
        return np.sum((np.outer(x, x) @ x) ** 2)

    gradient = s2s.grad(squares)
    decided(gradient, X)
    assert gradient.backend == "numpy"
    version = gradient.dispatcher.last
    assert version.run is version.raw


def test_a_decided_version_is_called_directly():
    gradient = s2s.grad(fresh())
    decided(gradient, X)
    version = gradient.dispatcher.last
    assert version.call is not version.tier.run and gradient.backend.startswith("numba: ")


def printing(x):
    total = 0.0
    for v in x:
        print("v")
        total += v * v
    return total


def wrapping(x):
    seed = np.array([1], dtype=np.int32)
    total = 0.0
    for v in x:
        seed = seed * np.int32(1103515245) + np.int32(12345)
        total += v * v * float(seed[0] % 7)
    return total


@pytest.mark.parametrize("f", [printing, wrapping])
def test_what_numba_would_do_otherwise_stays(f, capsys):
    def afresh(x):
        return f(x)

    expected = s2s.grad(s2s.differentiable(f, backend="numpy"))(X)
    gradient = s2s.grad(afresh)
    capsys.readouterr()
    for result in decided(gradient, X):
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert gradient.backend.startswith("numpy"), gradient.backend
    assert f is not printing or capsys.readouterr().out.count("v") == 6 * len(X)


@pytest.mark.parametrize(
    "clock, told",
    [
        ([0.0, 0.001, 0.004], "numpy: compiled by Numba it takes 3 times as long"),
        ([0.0, 0.006, 0.008], "numba: 3 times as fast as NumPy"),
    ],
)
def test_the_faster_one_is_kept(monkeypatch, clock, told):
    times = itertools.cycle(clock)
    monkeypatch.setattr(trial, "perf_counter", lambda: next(times))
    gradient = s2s.grad(fresh())
    decided(gradient, X)
    assert gradient.backend == told
    version = gradient.dispatcher.last
    assert (version.call is version.raw) is told.startswith("numpy")


@pytest.mark.parametrize(
    "found, expected, is_alike",
    [
        (1.0, np.float64(1.0), False),
        (1.0, 1.0 + 1e-12, True),
        (1.0, 1.0 + 1e-5, False),
        (np.float32(1.0), np.float32(1.0001), True),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), True),
        (np.array([np.nan, 1.0]), np.array([0.0, 1.0]), False),
        (np.array([1e-30, 1.0]), np.array([0.0, 1.0]), True),
        (np.array([1e-30, 1.0]), np.array([[0.0, 1.0]]), False),
        ((1.0, {"a": np.arange(3)}), (1.0, {"a": np.arange(3)}), True),
        ((1.0, {"a": np.arange(3)}), (1.0, {"b": np.arange(3)}), False),
        ([1.0], (1.0,), False),
        (None, None, True),
        (3, 3, True),
        (3, True, False),
        (WITHOUT_TRUTH, WITHOUT_TRUTH, True),
        (WITHOUT_TRUTH, type(WITHOUT_TRUTH)(), False),
    ],
)
def test_what_is_the_same_result(found, expected, is_alike):
    assert trial.alike(found, expected) is is_alike


def test_another_result_is_not_taken():
    told = []
    plain, compiled = (lambda x: (1.0, [x])), (lambda x: (1.0, [x + 1e-3]))
    tried = trial.Trial(plain, compiled, lambda chosen, why: told.append((chosen, why)))
    assert tried(2.0) == (1.0, [2.0])
    assert told == [(plain, "numpy: compiled by Numba it gives another result")]


def test_numbers_of_python_become_those_of_numpy():
    told = []
    tried = trial.Trial(
        lambda x: (np.float64(x), x), lambda x: (float(x), x), lambda chosen, why: told.append(chosen))
    for _ in range(3):
        tried(2.0)
    value, same = told[0](3.0)
    assert type(value) is np.float64 and type(same) is float and (value, same) == (3.0, 3.0)


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    gradient = s2s.grad(fresh())
    for result in decided(gradient, X):
        np.testing.assert_allclose(result, slopes(X), rtol=1e-12)
    assert gradient.backend.startswith("numpy: Numba cannot be used, ModuleNotFoundError")


# --- processes ------------------------------------------------------------------------------------------------------

PROGRAM = textwrap.dedent("""
    import itertools, os, sys
    import numpy as np, s2s

    def chain(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 3
        return total

    x = np.array([1.0, 2.0])
    gradient = s2s.grad(chain)
    gradient(x)
    from s2s.backends import background, trial
    from s2s.backends.background import worker
    trial.perf_counter = itertools.cycle([0.0, 0.002, 0.003]).__next__
""")


def run(tail, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + textwrap.dedent(tail))
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(s2s.__file__))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=LONG)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_process_ends_while_numba_compiles(tmp_path):
    assert run("print(gradient(x), gradient.backend)", tmp_path) == "[ 3. 12.] numpy, while Numba compiles\n"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_numba_compiles(tmp_path):
    tail = """
        child = os.fork()
        for _ in range(6):
            result = gradient(x)
            worker.wait(120.0)
        os.write(1, f"{result} {gradient.backend.partition(':')[0]}\\n".encode())
        if child:
            sys.exit(os.waitpid(child, 0)[1])
    """
    assert sorted(run(tail, tmp_path).splitlines()) == ["[ 3. 12.] numba"] * 2


def test_the_end_of_a_process_waits_for_the_thread_so_long_and_no_longer(monkeypatch):
    """A job is given up; one that cannot be is left alone."""
    monkeypatch.setattr(background.atexit, "register", lambda _: None)
    monkeypatch.setattr(background.os, "register_at_fork", lambda **_: None)
    hook, begun = sys.unraisablehook, threading.Event()

    def job():
        begun.set()
        while True:
            sum(range(1000))

    own = background.Worker()
    own._end()  # no thread runs
    own._is_over = False
    own.submit(job)
    assert begun.wait(LONG)
    running = own._running
    own._end()
    assert running.is_set()
    now = itertools.count(1e6)
    monkeypatch.setattr(background, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    own._running = types.SimpleNamespace(is_set=lambda: False, wait=lambda _: None)
    own._ident = 0  # no thread
    own._end()
    assert next(now) - 1e6 == background.LONGEST + 1
    assert sys.unraisablehook is hook
    own.submit(job)
    assert own._jobs
