"""What is said on a terminal while something takes long."""

import io
import threading
import time

import pytest

from s2s.core import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def wait_for(stream):
    while not stream.getvalue():
        time.sleep(0.001)


def test_a_line_after_some_time(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.001)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with progress.shown_on_terminal("Numba compiles loss_grad"):
        wait_for(terminal)
        assert terminal.getvalue() == "s2s: Numba compiles loss_grad ..."
    assert terminal.getvalue().endswith(" s\n") and terminal.getvalue().count("\n") == 1


class Immediate:
    """A timer of which no seconds are over as soon as it is started, and others never."""

    daemon = False

    def __init__(self, seconds, function):
        self.start = function if seconds == 0.0 else lambda: None

    def cancel(self):
        pass

    def join(self):
        pass


def test_a_line_at_once(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr("threading.Timer", Immediate)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with progress.shown_on_terminal("Numba compiles loss_grad"):
        assert terminal.getvalue() == "s2s: Numba compiles loss_grad ..."


@pytest.mark.parametrize("where", ["a file", "another thread", "a short time"])
def test_nothing_is_said(monkeypatch, where):
    monkeypatch.setattr(progress, "AFTER", 60.0 if where == "a short time" else 0.0)
    monkeypatch.setattr("threading.Timer", Immediate)
    monkeypatch.setattr("sys.stderr", stream := io.StringIO() if where == "a file" else Terminal())

    def compiled():
        with progress.shown_on_terminal("Numba compiles loss_grad"):
            pass

    if where == "another thread":
        thread = threading.Thread(target=compiled)
        thread.start()
        thread.join()
    else:
        compiled()
    assert stream.getvalue() == ""
