"""The section of the compiler: what interrupts, threads and forks find."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import s2s
from s2s import pipeline
from s2s.core.critical import Lock, Section, section
from s2s.specialize.specializer import Specializer


@pytest.fixture(autouse=True)
def python_handler():
    """Ctrl-C raises KeyboardInterrupt, as in a program that Python runs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    signal.raise_signal(signal.SIGINT)


# --- interrupts -----------------------------------------------------------------------------------------------------


def test_an_interrupt_waits_for_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with section:
            interrupt()
            with section:
                done.append("inner")
            done.append("all")
    assert done == ["inner", "all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_let_in_where_nothing_is_half_done():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with section:
            section.allow_interrupt()
            interrupt()
            done.append("before")
            section.allow_interrupt()
            done.append("after")
    assert done == ["before"]
    with section:
        section.allow_interrupt()  # nothing of the first is left


def test_an_error_comes_before_an_interrupt():
    with pytest.raises(KeyboardInterrupt) as raised:
        with section:
            interrupt()
            raise ValueError("first")
    assert isinstance(raised.value.__context__, ValueError)


def test_a_handler_of_the_program_is_asked():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with section:
        interrupt()
        assert seen == []
    assert seen == [signal.SIGINT]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_what_is_no_function_stays_as_it_is(handler):
    signal.signal(signal.SIGINT, handler)
    with section:
        assert signal.getsignal(signal.SIGINT) == handler


def test_other_packages_may_be_interrupted():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with section:
            with section.interruptible():
                interrupt()
                done.append("not reached")
    assert done == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_compilation_is_interrupted_between_statements(monkeypatch):
    def f(x):
        y = np.sin(x)
        return np.sum(y * x)

    step, count = Specializer.step, []

    def interrupted(self, *args):
        count.append(1)
        if len(count) == 2:
            interrupt()
        return step(self, *args)

    monkeypatch.setattr(Specializer, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        s2s.grad(f)(np.ones(3))
    assert len(count) == 2
    assert gc.isenabled()
    monkeypatch.undo()
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(s2s.grad(f)(x), np.cos(x) * x + np.sin(x), rtol=1e-12)


# --- threads --------------------------------------------------------------------------------------------------------


def test_one_thread_at_a_time():
    inside, most = [], []

    def work():
        for _ in range(20):
            with section:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1


def test_who_waits_for_another_thread_may_be_interrupted():
    entered, leave, main, passed = threading.Event(), threading.Event(), threading.main_thread().ident, []

    def hold():
        with section:
            entered.set()
            leave.wait(120.0)

    def interrupt_when_main_waits():
        while sys._current_frames()[main].f_code is not Lock.acquire.__code__:
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait()
    threading.Thread(target=interrupt_when_main_waits, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            with section:
                passed.append(True)
    finally:
        leave.set()
        holder.join()
    assert not passed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# --- forks ----------------------------------------------------------------------------------------------------------


def in_child(work):
    """The exit code of a forked process that does ``work``; None where it does not end in two minutes."""
    pid = os.fork()
    if pid == 0:
        try:
            code = work()
        except BaseException:
            code = 99
        os._exit(code or 0)
    for _ in range(12_000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_fork_waits_for_a_compilation(monkeypatch):
    started, forking, compiled = threading.Event(), threading.Event(), pipeline._compile

    def waiting(*args):
        started.set()
        forking.wait()
        return compiled(*args)

    def f(x):
        return np.sum(x**3)

    def g(x):
        return np.sum(x**4)

    def check():
        x = np.array([0.5, 2.0])
        return int(not np.allclose(s2s.grad(g)(x), 4 * x**3)) or int(not gc.isenabled())

    monkeypatch.setattr(pipeline, "_compile", waiting)
    worker = threading.Thread(target=lambda: s2s.grad(f)(np.ones(2)))
    worker.start()
    started.wait()
    forking.set()
    assert in_child(check) == 0
    worker.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_from_inside_the_section():
    with section:
        assert in_child(lambda: section.lock.acquire(timeout=1) is not True) == 0


def test_sections_are_apart():
    other = Section()
    with section, other:
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
