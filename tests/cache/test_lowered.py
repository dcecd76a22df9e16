"""The kept forms of rule bodies: what is found again, and when nothing is read or written. Each program is a
process of its own."""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from s2s import runtime
from s2s.cache import lowered
from s2s.core import ir
from s2s.core.check import check
from s2s.core.show import show
from s2s.frontend import lower, sources
from s2s.normalize.captures import check_captures
from s2s.normalize.normalize import normalize
from s2s.rules import table
from tests.helpers import ROOT

MODEL = """
import numpy as np


def f(x):
    return np.sum(np.tanh(x) * np.exp(x))


def g(x):
    return np.sum(np.log(x) * np.tanh(x))
"""

PROGRAM = """
import json, sys
import numpy as np
import s2s
from s2s.frontend import lower
import model

names = []
lower_source = lower.lower
lower.lower = lambda source: names.append(source.name) or lower_source(source)
found = [s2s.grad(getattr(model, name))(np.array([0.5, 1.5])).tolist() for name in sys.argv[1:]]
print(json.dumps([[n for n in names if n not in sys.argv], found]))
"""


@pytest.fixture(scope="module")
def bytecode(tmp_path_factory):
    """A folder with the bytecode of all that a process imports, which takes it seconds to make, and no kept forms."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    run(folder, "f")
    the_file(folder).unlink()
    return folder / "bytecode"


@pytest.fixture
def folder(tmp_path, bytecode):
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    shutil.copytree(bytecode, tmp_path / "bytecode")
    return tmp_path


def run(folder, *names, root=ROOT, **environment):
    """The rule bodies that a new process lowers for gradients of functions of ``model``; the gradients."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names],
        cwd=folder,
        env={
            **os.environ,
            "S2S_CACHE": "0",
            "PYTHONPATH": os.pathsep.join([str(folder), str(root)]),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            **environment,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def files(folder):
    return sorted(path.name for path in folder.rglob("*lowered*") if path.suffix != ".pyc")


def the_file(folder):
    (file,) = folder.rglob("lowered.*.ir")
    return file


def sealed(entries, versions=None):
    """A file with these entries, as ``flush`` writes it."""
    data, versions = marshal.dumps(entries), lowered.VERSIONS if versions is None else versions
    digest = hashlib.blake2b(data + repr(sorted(versions.items())).encode(), digest_size=lowered.DIGEST).digest()
    return digest + data


def opened(file):
    return marshal.loads(file.read_bytes()[lowered.DIGEST :])


# --- processes ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_process_lowers_no_rule_body(folder):
    first, gradient = run(folder, "f")
    assert first
    assert run(folder, "f") == [[], gradient]
    assert files(folder) == [f"lowered.{sys.implementation.cache_tag}.ir"]


@pytest.mark.slow
def test_new_bodies_join_those_in_the_file(folder):
    run(folder, "f")
    more, gradient = run(folder, "g")
    assert more
    both, gradients = run(folder, "f", "g")
    assert both == []
    assert gradients[1:] == gradient


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"nothing", sealed({}, {"s2s": "0"})])
def test_a_damaged_file_is_replaced(folder, content):
    first = run(folder, "f")
    file = the_file(folder)
    whole = file.read_bytes()
    file.write_bytes(content or whole[:-100])
    assert run(folder, "f") == first
    assert opened(file) == marshal.loads(whole[lowered.DIGEST :])


@pytest.mark.slow
def test_a_damaged_entry_is_replaced(folder):
    first = run(folder, "f")
    file = the_file(folder)
    entries = opened(file)
    for number, key in enumerate(entries):
        entries[key] = entries[key][:-9] if number % 2 else marshal.dumps("no function")
    file.write_bytes(sealed(entries))
    assert run(folder, "f") == first
    assert run(folder, "f") == [[], first[1]]


@pytest.mark.slow
def test_nothing_is_written_where_python_writes_no_bytecode(folder):
    first = run(folder, "f", PYTHONDONTWRITEBYTECODE="1")
    assert files(folder) == []
    assert run(folder, "f", PYTHONDONTWRITEBYTECODE="1") == first


@pytest.mark.slow
def test_a_folder_that_cannot_be_made(folder):
    shutil.rmtree(folder / "bytecode")
    (folder / "bytecode").write_text("a file")
    lowered_bodies, _ = run(folder, "f")
    assert lowered_bodies
    assert files(folder) == []


@pytest.mark.slow
def test_a_changed_source_makes_the_file_stale(folder):
    shutil.copytree(ROOT / "s2s", folder / "s2s", ignore=shutil.ignore_patterns("__*cache__"))
    first = run(folder, "f", root=folder)
    assert run(folder, "f", root=folder) == [[], first[1]]
    os.utime(folder / "s2s" / "frontend" / "lower.py", (0, 0))
    assert run(folder, "f", root=folder) == first
    assert run(folder, "f", root=folder) == [[], first[1]]


# --- entries ------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A function that puts SSA forms into an empty file and says what a new process would find."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(lowered, "_new", {})

    def keep_and_load(forms):
        for fn, function in forms:
            lowered.keep(fn, function)
        lowered.flush()
        lowered._stored.cache_clear()
        return [lowered.load(fn) for fn, _ in forms]

    yield keep_and_load
    lowered._stored.cache_clear()


def fresh(fn):
    return check_captures(normalize(lower.lower(sources.find(fn))))


def bodies():
    """Every Python function in the table that is s2s's own: those of other libraries are not kept."""
    table.extend()
    found = {}
    for rule in table.RULES.values():
        for body in (*rule.partials, *rule.cotangents.values(), rule.tangent, rule.body):
            if body is not None and body.__code__.co_filename.startswith(lowered.KEPT):
                found[body.__code__] = body
    return list(found.values())


@pytest.mark.slow
def test_every_body_of_a_rule_comes_back(store):
    forms = [(body, fresh(body)) for body in bodies()]
    assert len(forms) > 200
    found = store(forms)
    assert found == [function for _, function in forms]
    assert [show(function) for function in found] == [show(function) for _, function in forms]
    assert all(map(check, found))


def test_functions_of_the_runtime_are_kept(store):
    function = fresh(runtime.zeros_like)
    assert store([(runtime.zeros_like, function)]) == [function]


def test_functions_of_users_are_not_kept(store, tmp_path):
    assert store([(fresh, fresh(bodies()[0]))]) == [None]
    assert files(tmp_path) == []


def test_what_is_undefined_stays_so(store):
    x = ir.Var("x")
    function = ir.Function("f", (), ir.Block((ir.Let(x, ir.UNDEFINED),), (x,)))
    (found,) = store([(bodies()[0], function)])
    value = found.body.statements[0].value
    assert value == ir.UNDEFINED
    assert value.value is ir.UNDEFINED.value


@pytest.mark.parametrize("value", [lambda: 0, np.zeros(2), (1.0, 2.0)])
def test_a_constant_that_does_not_come_back_as_it_was(store, tmp_path, value):
    function = ir.Function("f", (), ir.Block((), (ir.Const(value),)))
    assert store([(bodies()[0], function)]) == [None]
    assert files(tmp_path) == []


@pytest.mark.parametrize("value", [np.sin, np.sum, len, runtime.zeros_like, float("nan"), -0.0, True, ...])
def test_a_constant_that_does(store, value):
    function = ir.Function("f", (), ir.Block((), (ir.Const(value),)))
    assert store([(bodies()[0], function)]) == [function]
