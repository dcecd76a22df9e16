"""Versions and what they fold in: each fact that the compiler reads is changed between two calls, in memory and on
disk, and the derivative must be that of the program as it is then."""

import ast
import importlib
import inspect
import json
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

import s2s
from s2s.core.const import Const
from s2s.dispatch import lookup
from s2s.versions import facts, imports
from tests.helpers import ROOT
from tests.versions.changes import POINT, all_cases, change, slope, started

CASES = all_cases()


@pytest.fixture(autouse=True)
def _apart(monkeypatch):
    """Nothing is kept on disk, and nothing is shared with what other tests have compiled."""
    monkeypatch.setenv("S2S_CACHE", "0")
    lookup.forget()


def gradient(found):
    return float(np.sum(found(POINT)))


def close(a, b):
    return abs(a - b) < 1e-4 * (1 + abs(b))


def without(monkeypatch, fold):
    """Leave out the guards of one way of reading."""
    note = facts.Guards._note_guard
    monkeypatch.setattr(
        facts.Guards, "_note_guard", lambda self, name, guards: note(self, name, () if name == fold else guards))


def test_every_way_of_reading_has_a_case():
    assert {case.fold for case in CASES.values()} - {""} == set(facts.FOLDS)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("name", CASES)
def test_what_is_changed_makes_another_version(name, tmp_path):
    case = CASES[name]
    with started(name, case, tmp_path) as module:
        found = s2s.grad(module.f)
        before = gradient(found)
        assert case.by_rule or close(before, slope(module))
        change(name, case, tmp_path, module)
        after = None if case.late else gradient(found)
        found.clear()
        fresh = gradient(found)
        assert case.by_rule or close(fresh, slope(module))
        assert case.late or close(after, fresh)
        assert close(fresh, before) is case.is_same


class Scaled:
    def __init__(self, x):
        self.x = x

    def by_length(self, items):
        return self.x * len(items)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_what_a_methodcaller_holds_is_read_at_each_call(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    items = [2.0]
    call = operator.methodcaller("by_length", items)
    found = s2s.grad(lambda x: call(Scaled(x)))
    assert found(0.5) == 1.0
    items.append(7.0)
    assert found(0.5) == 2.0


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fold and not case.late])
def test_without_its_guard_a_version_is_stale(name, tmp_path, monkeypatch):
    case = CASES[name]
    without(monkeypatch, case.fold)
    with started(name, case, tmp_path) as module:
        found = s2s.grad(module.f)
        gradient(found)
        change(name, case, tmp_path, module)
        try:
            after = gradient(found)
        except Exception:
            after = float("nan")
        found.clear()
        assert not close(after, gradient(found))


@pytest.mark.slow
def test_on_disk(tmp_path):
    """A process stores, a second one finds, a third one is another program."""
    environment = {**os.environ, "S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}

    def run(*arguments):
        command = [sys.executable, "-B", "-m", "tests.versions.changes.process", str(tmp_path), *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    stored, again, changed = run(), run(), run("changed")
    for name, case in CASES.items():
        assert again[name][0] == stored[name][0], name
        assert case.by_rule or close(*changed[name][:2]), name
        assert close(changed[name][0], stored[name][0]) is case.is_same, name
    found = [name for name in CASES if not again[name][2]]
    assert len(found) > 0.7 * len(CASES), sorted(set(CASES) - set(found))


# --- one way to fold ------------------------------------------------------------------------------------------------


COMPILER = ("analysis", "frontend/lowering", "normalize", "optimize", "specialize", "reverse", "forward", "batch")
GUARDS = {name for name in dir(facts) if name.endswith("Guard") and name != "Guard"}
RAW = {
    "cell_contents", "__globals__", "__closure__", "__defaults__", "__kwdefaults__", "__builtins__", "import_module",
    "getattr_static", "modules",
}
ALLOWED = {
    ("specialize/resolution.py", "_taken_by"): "how many arguments a known function takes",
    ("specialize/heap/live_objects.py", "_variable_of"): "which module a global variable belongs to",
    ("specialize/heap/variables.py", "of_function"): "which module a global variable belongs to",
    ("specialize/heap/variables.py", "all_of"): "whether two functions have one module",
    ("specialize/loads.py", "variable"): "asks a fact whether it is sys.modules",
    ("analysis/functions.py", "_is_ufunc_of_library"): "whether a ufunc is SciPy's own: no program changes that",
    ("optimize/chain_steps.py", "_is_fused"): "whether scipy.special was imported, whose function a ufunc may be",
    ("analysis/functions.py", "_named_in"): "of functions of s2s, which no program changes",
    ("analysis/abstract/folding.py", "_is_trusted"): "which library the code of a function belongs to",
    ("analysis/abstract/folding.py", "_by_scipy"): "scipy.fft's own backend, which no program replaces",
    ("specialize/inlining.py", "inline"): "whether two functions have one module",
    ("specialize/calls/objects.py", "_instance"): "whether an __init__ is object's: a fact where it is called",
    ("specialize/heap/classes.py", "is_user_class"): "whether a class makes objects as object does: a fact at its call",
    ("specialize/heap/objects.py", "_init_dataclass"): "its code and defaults are facts",
    ("specialize/heap/live_objects.py", "_read"): "a module that a place begins with",
    ("specialize/calls/callables.py", "method_of_constant"): "the method behind a bound one that a fact has found",
    ("specialize/calls/process.py", "module_variables"): "whether two functions have one module",
    ("specialize/calls/process.py", "is_option_of"): "whether the guard finds what the name means",
    ("specialize/calls/intrinsics.py", "_static_attribute"): "of numbers and arrays, which hold no attributes",
    ("specialize/calls/intrinsics.py", ""): "the table of functions that are resolved",
    ("reverse/residuals/replay.py", "_draws"): "whether NumPy's generators were imported, one of which is asked about",
    ("frontend/lowering/calls.py", "_is_evaluate"): "a name that the source has assumed to mean what it means",
    ("specialize/calls/frame_readers.py", "_called"): "whether a call is refused, as it reads a frame",
    ("specialize/calls/frame_readers.py", "_looks_at_frames"): "the same",
    ("specialize/keeping.py", "_is_harmless"): "whether a call is asked when it runs, and checked",
    ("specialize/keeping.py", "_used"): "the same",
    ("specialize/keeping.py", "_content"): "the same",
    ("frontend/lowering/imports.py", "_module"): "the function that an import statement calls",
}


RECORDS = ROOT / "s2s" / "specialize" / "version_facts.py"
"""Writes down what has been folded, for another process: folds nothing."""


def files_of_the_compiler():
    found = [sorted((ROOT / "s2s" / package).rglob("*.py")) for package in COMPILER]
    assert all(found) and RECORDS.exists()
    return [file for files in found for file in files if file != RECORDS]


def raw_reads():
    """The places of the compiler that read the world other than through a fact."""
    for file in files_of_the_compiler():
        for holder, node in _with_functions(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in RAW:
                yield str(file.relative_to(ROOT / "s2s")), holder


def _with_functions(tree, holder=""):
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, ast.FunctionDef) else holder
        yield holder, node
        yield from _with_functions(node, inner)


def test_the_compiler_reads_the_world_through_facts_only():
    assert set(raw_reads()) == set(ALLOWED)


def test_only_facts_write_guards():
    for file in files_of_the_compiler():
        for node in ast.walk(ast.parse(file.read_text())):
            name = getattr(node, "attr", getattr(node, "id", ""))
            assert name not in {"_note_guard", *GUARDS}, (file, name)


# --- single facts ---------------------------------------------------------------------------------------------------


class Written:
    size = 1


@pytest.mark.parametrize("name, found", [("size", True), ("weight", False)])
def test_an_attribute_of_a_class_has_a_guard_where_it_may_be_replaced(name, found):
    guards = facts.Guards()
    assert facts.has(Written, name).folded(guards) is found
    assert [*guards] == [facts.ClassGuard(Written, name, found), facts.BasesGuard.of(Written)]
    assert guards.folds == {"has"}


class Options:
    kind = "square"
    weight = 2.5

    def __init__(self, **own):
        vars(self).update(own)


class Slots:
    __slots__ = ("weight",)
    kind = "square"

    def __init__(self, *weight):
        for w in weight:
            self.weight = w


@pytest.mark.parametrize(
    "owner, name, found",
    [
        (Options(), "kind", "square"), (Options(kind="cube"), "kind", "cube"), (Options(kind=None), "kind", None),
        (Slots(3.5), "weight", 3.5), (Slots(), "kind", "square"),
    ])
def test_what_an_object_has_hides_what_its_class_has(owner, name, found):
    made = facts.own(owner, name, facts.site_of(Options)[0])
    assert made.folded(facts.Guards()) == found


def test_an_option_of_a_class_is_decided_when_the_program_is_compiled():
    usual, other = Options(), Options(kind="cube", weight=3.0)

    def f(x, options):
        factor = options.weight * (2.0 if options.kind == "square" else 3.0)
        return factor * x

    for options, wanted in ((usual, 2.5 * 2.0), (other, 3.0 * 3.0)):
        assert s2s.grad(f)(2.0, options) == wanted
        assert "square" not in s2s.source(f, 2.0, options)


@pytest.mark.parametrize("kind, name, found", [(dict, "keys", True), (np.ndarray, "shape", True), (int, "keys", False)])
def test_an_attribute_of_a_class_of_python_has_none(kind, name, found):
    guards = facts.Guards()
    assert facts.has(kind, name).folded(guards) is found and not len(guards)


def test_each_fact_that_is_taken_is_told():
    """Also where it was taken before, and to a copy; not in a block where nobody is told."""
    guards, told, other = facts.Guards(), [], facts.Guards()
    guards.told = told.append
    taken = [facts.ClassGuard(Written, "size", True), facts.BasesGuard.of(Written)]
    for _ in range(2):
        assert facts.has(Written, "size").folded(guards) is True
    assert told == 2 * taken and [*guards] == taken
    with guards.untold():
        facts.has(Written, "size").folded(guards)
    assert told == 2 * taken
    facts.has(Written, "size").folded(guards.copy())
    facts.has(Written, "weight").folded(other)
    assert told == 3 * taken
    guards.update(other)
    assert told == [*3 * taken, *other] and len(guards) == 3


def with_defaults(x, n=2, text="a", pair=(1, 2), parts=[1.0], part=Written(), *, scale=3.0):  # noqa: B006, B008
    return x


@pytest.mark.parametrize("name, place, is_path", [
    ("n", 0, False), ("text", 1, False), ("pair", 2, True), ("parts", 3, True), ("part", 4, True),
    ("scale", None, True),
])
def test_a_default_is_that_of_its_parameter(name, place, is_path):
    """The tuple of all defaults is under a guard; what may be read on is so itself, and what stands in a dict."""
    guards, of_all = facts.Guards(), facts.Guards()
    reading = facts.default(with_defaults, name, guards)
    steps = ("__kwdefaults__", (name,)) if place is None else ("__defaults__", (place,))
    assert reading.site == ("value", (Const(with_defaults), *steps), None)
    value = reading.folded(of_all)
    assert value is inspect.signature(with_defaults).parameters[name].default
    own = [(guard.path[1:], guard.value) for guard in of_all]
    assert own == ([(steps, value)] if is_path else [])
    taken = [(guard.path[1:], guard.value) for guard in guards]
    assert taken == ([] if place is None else [(("__defaults__",), with_defaults.__defaults__)])


# --- imports that fail ----------------------------------------------------------------------------------------------


def with_an_import(x):
    try:
        import s2s_found_later
    except ImportError:
        return x * x
    return s2s_found_later.scaled(x)


@pytest.fixture
def found_later(tmp_path):
    yield tmp_path, lambda: (tmp_path / "s2s_found_later.py").write_text("def scaled(x):\n    return 7.0 * x\n")
    sys.modules.pop("s2s_found_later", None)


def test_an_import_that_failed_is_tried_again_at_once_where_the_path_changes(found_later, monkeypatch):
    folder, write = found_later
    write()
    grad = s2s.grad(with_an_import)
    assert grad(3.0) == grad(3.0) == 6.0
    monkeypatch.syspath_prepend(str(folder))
    assert grad(3.0) == 7.0


def test_an_import_that_failed_is_tried_again_where_a_folder_has_changed(found_later, monkeypatch):
    folder, write = found_later
    monkeypatch.syspath_prepend(str(folder))
    os.utime(folder, (1.0, 1.0))
    monkeypatch.setattr(imports, "LOOK_AGAIN", 0.0)
    grad = s2s.grad(with_an_import)
    assert grad(3.0) == grad(3.0) == 6.0
    write()
    importlib.invalidate_caches()
    assert grad(3.0) == 7.0


def test_the_folders_are_not_looked_at_each_time(monkeypatch):
    looked = []
    monkeypatch.setattr(imports, "LOOK_AGAIN", 1e9)
    monkeypatch.setattr(imports, "_failed", {})
    grad = s2s.grad(with_an_import)
    assert grad(3.0) == 6.0
    monkeypatch.setattr(imports, "_time_of", looked.append)
    assert [grad(3.0) for _ in range(5)] == [6.0] * 5 and not looked
