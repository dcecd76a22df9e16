"""Functions of packages that read the variables of the frames that call them."""

import sys
import types

import pytest

from s2s.specialize.calls.frame_readers import _reads_frames

CODE = """
import sys
def reads():
    return sys._getframe(1).f_locals
def reads_nothing(text):
    return text
def calls(text):
    return reads() if text else 0
def calls_twice(text):
    return calls(text)
class Made:
    def __init__(self, text):
        self.found = calls(text)
    def method(self, text):
        return Made(text)
def makes(text):
    return Made(text)
"""


def written(monkeypatch, name):
    made = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(CODE, made.__dict__)
    return made


def test_functions_that_a_package_calls_are_looked_into(monkeypatch):
    made = written(monkeypatch, "reading_package.inner")
    assert _reads_frames(made.reads, 0) and not _reads_frames(made.reads_nothing, 5)
    assert _reads_frames(made.calls, 1) and not _reads_frames(made.calls, 0)
    assert _reads_frames(made.calls_twice, 2) and not _reads_frames(made.calls_twice, 1)
    assert _reads_frames(made.makes, 5) and _reads_frames(made.Made.method, 5)


@pytest.mark.parametrize("name", ["numpy.inner", "scipy.inner", "s2s.inner", "json.inner"])
def test_functions_of_libraries_are_not_looked_into(name, monkeypatch):
    made = written(monkeypatch, name)
    assert _reads_frames(made.reads, 5) and not _reads_frames(made.calls, 5)
