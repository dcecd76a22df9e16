"""Linking: text becomes functions in the primal's own globals and closure, and its lines are seen."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback

import numpy as np
import pytest

from s2s.codegen.link import file_name, link
from s2s.versions.request import Compiled

LEVEL = 1.0

TEXT = '''\
"""Generated."""

import numpy as np
from numpy import sin


def _scaled(x):
    return scale * x


def f_grad(x):
    """Gradient of f."""
    y = sin(x)

    def inner(z):
        return _scaled(z) + LEVEL + thing

    return np.add(inner(y), 1 / x)
'''


def make_primal(scale):
    def f(x):
        return scale * x

    def change(value):
        nonlocal scale
        scale = value

    return f, change


def compiled(**changes):
    fields = {
        "text": TEXT, "entry": "f_grad", "imports": {"np": "numpy", "sin": "numpy:sin"},
        "objects": {"thing": 10.0}, "globals": ("LEVEL",), "free": ("scale",),
    }  # fmt: skip
    return Compiled(**(fields | changes))


def test_the_text_sees_imports_objects_globals_and_closure_live(monkeypatch):
    f, change = make_primal(2.0)
    g = link(compiled(), f)
    assert g(1.0) == 2 * np.sin(1.0) + 1 + 10 + 1
    change(3.0)
    monkeypatch.setitem(globals(), "LEVEL", 5.0)
    assert g(1.0) == 3 * np.sin(1.0) + 5 + 10 + 1


def test_nothing_is_written_into_the_users_module():
    before = set(globals())
    f, _ = make_primal(2.0)
    g = link(compiled(), f)
    assert set(globals()) == before
    assert g.__globals__ is globals()
    assert (g.__name__, g.__qualname__, g.__doc__, g.__module__) == (
        "f_grad",
        "f_grad",
        "Gradient of f.",
        __name__,
    )


def test_tracebacks_and_inspect_show_the_generated_lines():
    f, _ = make_primal(2.0)
    g = link(compiled(), f)
    with pytest.raises(ZeroDivisionError) as caught:
        g(0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == (
        file_name(compiled()),
        18,
        "return np.add(inner(y), 1 / x)",
    )
    linecache.checkcache()
    assert inspect.getsource(g).startswith('def f_grad(x):\n    """Gradient of f."""')


def test_the_file_of_the_disk_cache_is_the_file_of_the_code(tmp_path):
    f, _ = make_primal(2.0)
    file = str(tmp_path / "f_grad.py")
    g = link(compiled(), f, file=file)
    assert g.__code__.co_filename == file
    assert linecache.getline(file, 8) == "    return scale * x\n"


def test_what_cannot_be_found():
    f, _ = make_primal(2.0)
    with pytest.raises(ImportError):
        link(compiled(imports={"np": "numpy", "sin": "no_such_module:sin"}), f)
    with pytest.raises(LookupError, match="no closure variable other"):
        link(compiled(free=("other",)), f)


SEVEN = "def f_grad(x):\n    return 7.0 * x\n"


@pytest.fixture
def text_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "f_grad.py"


def linked(text, file):
    made = Compiled(text=text, entry="f_grad", imports={}, objects={})
    return link(made, make_primal(2.0)[0], file=str(file))


def test_the_bytecode_of_a_stored_text_is_kept_and_used(text_file, monkeypatch):
    assert linked(SEVEN, text_file)(1.0) == 7.0
    kept = text_file.with_suffix(".pyc")
    assert kept.is_file()
    monkeypatch.setattr("s2s.codegen.link.ast", None)  # nothing is parsed any more
    again = linked(SEVEN, text_file)
    assert again(1.0) == 7.0
    assert again.__code__.co_filename == str(text_file)


@pytest.mark.parametrize("damage", [b"", b"\0" * 200, None], ids=["empty", "zeros", "cut"])
def test_damaged_bytecode_is_passed_over(text_file, damage):
    linked(SEVEN, text_file)
    kept = text_file.with_suffix(".pyc")
    good = kept.read_bytes()
    kept.write_bytes(good[:60] if damage is None else damage)
    assert linked(SEVEN, text_file)(1.0) == 7.0
    assert kept.read_bytes() == good


def test_bytecode_of_another_text_or_of_others_is_not_used(text_file):
    linked(SEVEN, text_file)
    assert linked("def f_grad(x):\n    return 9.0 * x\n", text_file)(1.0) == 9.0
    kept = text_file.with_suffix(".pyc")
    wrong = kept.read_bytes()
    linked(SEVEN, text_file)
    mark = kept.read_bytes()[:32]
    kept.write_bytes(mark + wrong[32:])
    kept.chmod(0o666)
    assert linked(SEVEN, text_file)(1.0) == 7.0
