"""Compiling runs nothing of the program: tripwires in live and dead code, in all modes, stay untouched."""

import contextlib
import importlib
import io
import os
import sys
import warnings

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.purity import programs, tripwires

MODES = ("grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "primal")
SHARE = int(os.environ.get("S2S_PURITY_SHARE", "97"))
"""One program in so many is compiled, each in one mode; 1 for all of them."""

LOUD_MODULE = '''
from tests.purity import tripwires

def __getattr__(name):
    if not name.startswith("__") or name == "__version__":
        tripwires.note(f"loud_module.{name}")
    raise AttributeError(name)
'''
LAZY_MODULE = "from tests.purity import tripwires\ntripwires.note('import')\nvalue = 1.0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    modules, data = tmp_path / "modules", tmp_path / "data"
    (modules / "lazy_package").mkdir(parents=True)
    data.mkdir()
    (modules / "loud_module.py").write_text(LOUD_MODULE, encoding="utf-8")
    (modules / "lazy_module.py").write_text(LAZY_MODULE, encoding="utf-8")
    (modules / "lazy_package" / "__init__.py").write_text(LAZY_MODULE, encoding="utf-8")
    (modules / "lazy_package" / "inner.py").write_text(LAZY_MODULE, encoding="utf-8")
    (data / "kept").write_text("kept", encoding="utf-8")
    monkeypatch.syspath_prepend(str(modules))
    yield tmp_path
    for name in ("loud_module", "lazy_module", "lazy_package", "lazy_package.inner", "tripped"):
        sys.modules.pop(name, None)


def world(folder):
    """Everything outside that a program may change."""
    files = {path.name: path.read_bytes() for path in sorted((folder / "data").iterdir())}
    lazy = [name for name in sys.modules if name.startswith("lazy_")]
    return files, lazy, list(warnings.filters), tripwires.state()


def compiled(f, x, mode):
    """What happens while a function is compiled: what ran, was printed, and was warned of. What compiling raises is
    not asked here."""
    tripwires.RAN.clear()
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        with contextlib.redirect_stderr(printed), contextlib.suppress(DifferentiationError, Exception):
            s2s.source(f, x, mode=mode)
    warned = [w for w in warned if not issubclass(w.category, (SyntaxWarning, DeprecationWarning))]
    return [*tripwires.RAN, *map(str, warned), printed.getvalue()]


@pytest.mark.slow
def test_compiling_runs_nothing_of_the_program(folder):
    text, made = programs.module(str(folder / "data"), SHARE, 5 % SHARE)
    (folder / "modules" / "tripped.py").write_text(text, encoding="utf-8")
    module = importlib.import_module("tripped")
    before, x = world(folder), np.array([0.7, 1.3, 0.4])
    for k, (name, program) in enumerate(made.items()):
        happened = compiled(getattr(module, name), x, MODES[k % len(MODES)])
        assert happened == [""], f"{program}\n{happened}"
        assert world(folder) == before, program
    assert len(made) > 10


@pytest.mark.parametrize("mode", MODES)
def test_a_file_is_not_written_by_a_branch_that_is_not_taken(folder, mode):
    path = str(folder / "data" / "kept")

    def f(x):
        if x[0] > 1e9:
            np.ones(3).tofile(path)
            np.ones(3).dump(path)
        return np.sum(x * x)

    s2s.source(f, np.ones(3), mode=mode)
    assert (folder / "data" / "kept").read_text(encoding="utf-8") == "kept"


def test_objects_that_are_arguments_are_not_asked():
    def f(x, o):
        return np.sum(x * x) if o is None else np.sum(x)

    for name in programs.OBJECTS[:14]:
        assert compiled_with(f, getattr(tripwires, name)) == [], name


def compiled_with(f, value):
    tripwires.RAN.clear()
    with contextlib.suppress(DifferentiationError, TypeError):
        s2s.source(f, np.ones(3), value)
    return list(tripwires.RAN)


def test_a_module_that_is_not_imported_yet_is_left_to_the_run(folder):
    def f(x):
        import lazy_module
        return np.sum(x * x) * lazy_module.value

    tripwires.RAN.clear()
    assert "import_module" in s2s.source(f, np.ones(3)) and tripwires.RAN == []
    assert np.array_equal(s2s.grad(f)(np.ones(3)), [2.0, 2.0, 2.0]) and tripwires.RAN == ["import"]
    value, tangent = s2s.jvp(f, (np.ones(3),), (np.ones(3),))
    assert (value, tangent) == (3.0, 6.0)


def test_settings_under_a_manager_are_looked_up_when_the_program_runs():
    settings = {"factor": "one"}

    class Options:
        factor = "one"

    @contextlib.contextmanager
    def factor(name):
        tripwires.note("factor")
        settings["factor"] = Options.factor = name
        yield
        settings["factor"] = Options.factor = "one"

    def scaled(x):
        y = x * (3.0 if settings["factor"] == "three" else 1.0)
        return y * (5.0 if Options.factor == "three" else 1.0)

    def f(x):
        with factor("three"):
            y = scaled(x)
        return y + scaled(x)

    tripwires.RAN.clear()
    s2s.source(f, 1.5)
    assert tripwires.RAN == []
    assert f(1.5) == 24.0 and s2s.grad(f)(1.5) == 16.0
    assert s2s.jvp(f, (1.5,), (1.0,)) == (24.0, 16.0)
