"""Recordings in several threads at once: each is right, and each is held against differences."""

import concurrent.futures
import ctypes
import threading
import time
import warnings

import numpy as np
import pytest

import s2s
from s2s.recorded import turns

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")

X = np.array([0.3, 0.7, 1.2])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    monkeypatch.setattr(turns, "STANDS", 300.0)  # on a busy machine all threads stand still for a while


def central(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def decided(x, text):
    total = 0.0
    for _ in range(40):
        total = total + eval(text)
    return total * x[1]


def through_memory(x, text):
    """Memory that is written through a pointer: numbers that a recording does not see."""
    out = np.zeros(3)
    time.sleep(0.02)
    ctypes.memmove(out.__array_interface__["data"][0], x.__array_interface__["data"][0], 24)
    return eval(text) + np.sum(out**2)


def starts_threads(x):
    found = {}

    def work(k):
        found[k] = eval("x[k] ** 2 * x[0]", {"x": x, "k": k})

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[0] + found[1] * found[2]


def in_threads(f, calls):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return [future.exception() or future.result() for future in [pool.submit(f, *args) for args in calls]]


def test_gradients_in_threads_are_those_of_one():
    texts = ["x[0] ** 2", "np.sin(x[1]) * x[2]", "x[0] * x[2]"]
    gradient = s2s.grad(decided)
    calls = [((1.0 + 0.1 * k) * X, texts[k % 3]) for k in range(18)]
    for (x, text), found in zip(calls, in_threads(gradient, calls)):
        np.testing.assert_allclose(found, central(lambda x, t=text: decided(x, t), x), rtol=1e-6)


def test_what_starts_threads_in_threads():
    calls = [((1.0 + 0.1 * k) * X,) for k in range(6)]
    for (x,), found in zip(calls, in_threads(s2s.grad(starts_threads), calls)):
        np.testing.assert_allclose(found, central(starts_threads, x), rtol=1e-6)
    for (x,), found in zip(calls, in_threads(lambda x: s2s.jvp(starts_threads, (x,), (X,))[1], calls)):
        np.testing.assert_allclose(found, central(starts_threads, x) @ X, rtol=1e-6)


def test_each_of_them_is_checked():
    found = in_threads(s2s.grad(through_memory), [((1.0 + k) * X, "x[0] * 2.0") for k in range(6)])
    assert all("differences" in str(one) for one in found), found


def test_a_call_that_waits_for_the_one_that_waits_for_it_is_refused(monkeypatch):
    monkeypatch.setattr(turns, "STANDS", 0.3)
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(int).result()  # its thread is there before the call

    def asks(x):
        inner = pool.submit(s2s.grad(decided), X, "x[0] ** 2")
        return eval("x[0] * 2.0") + float(isinstance(inner.exception(120.0), s2s.errors.NoDerivativeError))

    value, gradient = s2s.value_and_grad(asks)(X)
    np.testing.assert_allclose(gradient, [2.0, 0.0, 0.0])
    assert value == 2.0 * X[0] + 1.0
    np.testing.assert_allclose(s2s.grad(decided)(X, "x[0]"), [40.0 * X[1], 40.0 * X[0], 0.0])  # the turn is free


def test_other_threads_are_heard(capsys):
    begun, heard, done, told = threading.Event(), threading.Event(), threading.Event(), []

    def tells():
        begun.wait()
        while not done.wait(0.001):
            print("other")
            told.append(1)
            if len(told) > 10:
                heard.set()

    def loud(x):
        print("own")
        begun.set()
        heard.wait(120.0)
        return eval("x[0] * 2.0")

    thread = threading.Thread(target=tells)
    thread.start()
    try:
        s2s.grad(loud)(X)
    finally:
        begun.set()
        done.set()
        thread.join()
    lines = capsys.readouterr().out.split()
    assert lines.count("own") == 1 and lines.count("other") == len(told) > 10


def test_filters_of_warnings_are_set_back_between_the_runs():
    def filters(x):
        strict = any(action == "error" and kind is BytesWarning for action, _, kind, _, _ in warnings.filters)
        warnings.simplefilter("error", BytesWarning)
        return eval("x[0] * x[1]") * (3.0 if strict else 2.0)

    with warnings.catch_warnings():
        before = list(warnings.filters)
        np.testing.assert_allclose(s2s.grad(filters)(X), [2.0 * X[1], 2.0 * X[0], 0.0])
        assert warnings.filters[0][2] is BytesWarning and list(warnings.filters[1:]) == before
