"""The disk cache: what is found again, what is not, and whose files are read. Each program is a process of
its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from s2s.cache import disk, folders
from s2s.core.values import Dim
from s2s.versions.argument_guards import EqualGuard, SizeGuard, SumGuard
from s2s.versions.guards import ObjectGuard
from s2s.versions.request import Dependency, Request
from s2s.versions.signature import describe
from tests.dispatch.fake_compiler import compiled
from tests.helpers import ROOT

REQUEST = Request("grad", (("x",),), True)

PROGRAM = """
    import json, sys, time
    import numpy as np
    import s2s
    from s2s.dispatch import lookup
    from s2s.versions.guards import ObjectGuard
    from s2s.versions.request import Compiled, Dependency
    from s2s.errors import DifferentiationError
    import model

    calls = []

    def compile(function, arguments, request):
        calls.append(function.__name__)
        constant = model.CONSTANT
        guards = (ObjectGuard("global", ("helper",), model.helper), ObjectGuard("global", ("np",), np))
        found = (
            Dependency.of("global", ("helper",), model.helper),
            Dependency.of("global", ("CONSTANT",), constant),
        )
        text = f"import numpy as np\\n\\n\\ndef f_grad(x):\\n    return np.multiply(x, {constant})\\n"
        return Compiled(text, "f_grad", {"np": "numpy"}, {}, guards=guards, dependencies=found)

    lookup.run_compiler = compile
    result = s2s.grad(model.f)(ARGUMENT)
    heavy = sorted({"libcst", "astor", "click"} & set(sys.modules))
    print(json.dumps([calls, float(np.sum(result)), heavy]))
"""

MODEL = """
    import numpy as np

    CONSTANT = 3.0


    def helper(x):
        return 2 * x


    def f(x):
        return np.sum(helper(x) * CONSTANT)
"""


class Project:
    """A folder with ``model.py``; ``run`` is a fresh process that asks for its gradient."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
        self.environment.pop("S2S_CACHE", None)
        self.environment.pop("S2S_CACHE_DIR", None)
        self.write(MODEL)

    @property
    def beside(self):
        return self.folder / disk.FOLDER

    def write(self, text):
        (self.folder / "model.py").write_text(textwrap.dedent(text))

    def start(self, argument="1.0", program=PROGRAM):
        text = textwrap.dedent(program).replace("ARGUMENT", argument)
        command = [sys.executable, "-B", "-c", text]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        )

    def run(self, argument="1.0"):
        """What was compiled, and the result."""
        process = self.start(argument)
        out, _ = process.communicate()
        assert process.returncode == 0
        calls, result, heavy = json.loads(out)
        assert heavy == []
        return calls, result

    def files(self, folder=None):
        return sorted((folder or self.beside).glob("*.py"))


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_the_second_process_finds_it(project):
    assert project.run() == (["f"], 3.0)
    assert project.run("2.0") == ([], 6.0)
    (file,) = project.files()
    assert file.name.startswith("model.f.grad_x.")
    text = file.read_text()
    assert text.startswith(
        "import numpy as np  # pragma: no cover\n\n\ndef f_grad(x):  # pragma: no cover\n")
    assert text.splitlines()[-1].startswith(disk.MARK)
    assert file.stat().st_mode & 0o777 == 0o644
    assert project.beside.stat().st_mode & 0o777 == 0o755


def test_another_kind_of_argument_is_another_file(project):
    project.run()
    assert project.run("np.ones(3)") == (["f"], 9.0)
    assert project.run("np.ones(4)") == ([], 12.0)
    assert project.run("np.ones(1)") == (["f"], 3.0)
    assert len(project.files()) == 3


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.sum(helper(x)", "np.mean(helper(x)"),
        ("return 2 * x", "return 4 * x"),
        ("CONSTANT = 3.0", "CONSTANT = 5.0"),
        ("def helper", "\n    def helper"),
        ("def helper(x)", "def helper(x, y=1)"),
    ],
    ids=["function", "helper", "constant", "line", "default"],
)
def test_a_change_makes_new_code(project, old, new):
    project.run()
    assert old in MODEL
    project.write(MODEL.replace(old, new))
    calls, result = project.run()
    assert calls == ["f"]
    assert result == (5.0 if "5.0" in new else 3.0)
    assert project.run()[0] == []
    assert len(project.files()) == 1


def test_a_change_elsewhere_does_not(project):
    project.run()
    project.write(MODEL + "\n    unrelated = 1\n")
    assert project.run() == ([], 3.0)


def test_another_version_of_numpy_or_s2s_makes_new_code(project):
    project.run()
    (file,) = project.files()
    file.write_text(file.read_text().replace("'s2s': '", "'s2s': 'x"))
    assert project.run()[0] == ["f"]


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("np.multiply", "np.divide"),
        lambda text: text.replace(disk.MARK, disk.MARK + "{"),
        lambda text: text.replace("'guards': [", "'guards': [7, "),
        lambda text: "\x00" * 100,
    ],
)
def test_a_damaged_file_is_replaced(project, damage):
    project.run()
    (file,) = project.files()
    file.write_text(damage(file.read_text()))
    assert project.run() == (["f"], 3.0)
    assert project.run() == ([], 3.0)


@pytest.mark.slow
def test_processes_that_compile_at_once_leave_a_good_file(project):
    processes = [project.start() for _ in range(4)]
    for process in processes:
        out, _ = process.communicate()
        assert json.loads(out)[1] == 3.0
    assert project.run() == ([], 3.0)
    assert [path.name for path in project.beside.iterdir()] == [project.files()[0].name]


def test_where_the_folder_cannot_be_written_the_users_folder_is_used(project):
    project.beside.write_text("a file where the folder would be")
    assert project.run()[0] == ["f"]
    assert project.run()[0] == []
    assert len(project.files(project.folder / "home" / "s2s")) == 1


def test_off_and_elsewhere_by_the_environment(project):
    project.environment["S2S_CACHE"] = "0"
    assert project.run()[0] == project.run()[0] == ["f"]
    assert not project.beside.exists()
    project.environment.pop("S2S_CACHE")
    project.environment["S2S_CACHE_DIR"] = str(project.folder / "elsewhere")
    assert (project.run()[0], project.run()[0]) == (["f"], [])
    assert not project.beside.exists()
    assert len(project.files(project.folder / "elsewhere")) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file modes of POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_can_write_to_is_not_read(project, mode):
    project.run()
    project.beside.chmod(mode)
    assert project.run()[0] == ["f"]
    assert len(project.files(project.folder / "home" / "s2s")) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file modes of POSIX")
def test_a_file_that_others_can_write_to_is_not_read(project):
    project.run()
    project.files()[0].chmod(0o666)
    assert project.run()[0] == ["f"]


def test_a_folder_of_another_user_is_not_read(project, monkeypatch):
    project.run()
    (file,) = project.files()
    assert folders.read(str(project.beside), file.name)
    owner = project.beside.stat().st_uid
    if owner == 0:
        os.chown(project.beside, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert folders.read(str(project.beside), file.name) is None


def test_a_link_is_not_read(project, tmp_path):
    project.run()
    target = tmp_path / "target"
    project.beside.rename(target)
    project.beside.symlink_to(target)
    assert project.run()[0] == ["f"]


# --- what can be stored -------------------------------------------------------------------------------------


def primal(x, h=None):
    return x


def stored(function=primal, arguments=None, *guards, **needs):
    arguments = arguments or {"x": describe(1.0, "x")}
    made = compiled("primal_grad", ", ".join(arguments), "return x", *guards, **needs)
    return disk.store(function, arguments, REQUEST, made)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("S2S_CACHE", raising=False)
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_has_no_name_elsewhere_is_not_stored(folder):
    assert stored() is not None
    assert stored(objects={"thing": object()}) is None
    assert stored(primal, {"x": describe(1.0, "x"), "h": describe(lambda x: x, "h")}) is None
    assert stored(primal, None, ObjectGuard("global", ("thing",), object())) is None
    assert stored(primal, None, dependencies=(Dependency.of("global", ("thing",), object()),)) is None


def test_guards_on_lengths_come_back(folder):
    guards = (
        SizeGuard("x.0", 2), EqualGuard(Dim("x.0", -1), Dim("h.0")), EqualGuard(Dim("", 3), Dim("x.1")),
        SumGuard((("h.0", -2), ("x.1", 1)), 3, ">= 0"),
    )
    assert stored(primal, None, *guards) is not None
    found = disk.load(primal, {"x": describe(1.0, "x")}, REQUEST)
    assert found is not None and found[0].guards == guards


def test_functions_without_a_file_are_not_stored(folder):
    scope = {"__name__": "made"}
    exec("def f(x): return x", scope)
    assert stored(scope["f"]) is None


def test_an_argument_that_is_a_function_counts_with_its_code(folder):
    arguments = {"x": describe(1.0, "x"), "h": describe(textwrap.dedent, "h")}
    assert stored(primal, arguments) is not None
    found = disk.load(primal, arguments, REQUEST)
    assert found is not None and found[0].entry == "primal_grad"
    assert disk.load(primal, {"x": describe(1.0, "x"), "h": describe(textwrap.indent, "h")}, REQUEST) is None


def test_listing_and_clearing(folder):
    stored()
    (folder / "other.py").write_text("not ours")
    inner = folder / disk.FOLDER
    folder.rename(folder.with_name("x"))
    folder.mkdir()
    folder.with_name("x").rename(inner)
    assert len(list(disk.entries(folder))) == 1
    assert disk.clear(folder) == 1
    assert [path.name for path in inner.iterdir()] == ["other.py"]


RULED = """
    import numpy as np
    import s2s
    from s2s.rules.table import partials


    def helper(x):
        return 2.0 * x


    partials(helper, lambda y, x: SLOPE)


    def f(x):
        return np.sum(helper(x))
"""


@pytest.mark.slow
def test_a_rule_that_the_user_changes_is_not_overlooked(tmp_path):
    program = "import model, s2s; print(s2s.grad(model.f)(1.0))"
    command = [sys.executable, "-B", "-c", program]
    project = Project(tmp_path)
    for slope in ("2.0", "2.0", "7.0"):
        project.write(RULED.replace("SLOPE", slope))
        found = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=tmp_path, env=project.environment)
        assert found.stdout.strip() == slope
    assert len(list(project.beside.glob("*.py"))) == 1


SECOND = """
    import json
    import numpy as np
    import s2s
    import model

    x = ARGUMENT
    hessian = s2s.hessian(model.g)(x)
    both = s2s.grad(model.size)(x)
    over = s2s.vhp(model.g, (x,), (np.ones(3),))
    forward = s2s.hvp(model.g, (x,), (np.ones(3),))
    mapped = s2s.map(s2s.grad(model.g))(np.stack([x, 2 * x]))
    print(json.dumps([[], [np.asarray(a).tolist() for a in (hessian, both, over, forward, mapped)], []]))
"""


@pytest.mark.slow
def test_stored_derivatives_are_differentiated(project):
    project.write("""
        import numpy as np
        import s2s

        def size(x):
            return np.sum(s2s.grad(g)(x) ** 2)

        def g(x):
            y = x
            for k in range(2):
                y = y * x
            return np.sum(y * x[::-1])
    """)
    found = []
    for _ in range(2):  # made, and read from the files
        process = project.start("np.array([1.0, 2.0, 4.0])", SECOND)
        out, _ = process.communicate()
        assert process.returncode == 0
        found.append(json.loads(out)[1])
    x = np.array([1.0, 2.0, 4.0])
    gradient = lambda x: 3 * x**2 * x[::-1] + x[::-1] ** 3
    hessian = np.diag(6 * x * x[::-1]) + np.diag(3 * (x**2 + x[::-1] ** 2))[::-1].T
    hessian[1, 1] = 12 * x[1] ** 2
    expected = [hessian, 2 * hessian @ gradient(x), hessian @ np.ones(3), hessian @ np.ones(3)]
    expected.append(np.stack([gradient(x), gradient(2 * x)]))
    for values in found:
        for value, other in zip(values, expected, strict=True):
            np.testing.assert_allclose(value, other, rtol=1e-12)
    assert len(project.files()) >= 4


NAMES = """
    import numpy as np
    import scales


    first, second = scales.first, scales.second


    def f(x):
        first.scale = 2.0
        second.scale = 3.0
        return first.scale * x * x
"""

READS = """
    import json
    import s2s, model
    from s2s.dispatch import lookup

    calls, compile = [], lookup.run_compiler
    lookup.run_compiler = lambda *given: (calls.append(1), compile(*given))[1]
    print(json.dumps([len(calls), s2s.grad(model.f)(1.5), len(calls)]))
"""


@pytest.mark.slow
def test_names_of_one_object_come_back_and_names_of_two_are_told_apart(project):
    """Two names for one object are followed as one; where they are two in another process, the version is made anew."""
    project.write(NAMES)

    def run(text):
        (project.folder / "scales.py").write_text(textwrap.dedent(text))
        process = project.start(program=READS)
        out, _ = process.communicate()
        assert process.returncode == 0
        return json.loads(out)[1:]

    one = """
        class Scale:
            scale = 1.0

        first = second = Scale()
    """
    two = one.replace("first = second = Scale()", "first, second = Scale(), Scale()")
    assert run(one) == [9.0, 1]
    assert run(one) == [9.0, 0]
    assert run(two) == [6.0, 1]
    assert run(two) == [6.0, 0]
    assert run(one) == [9.0, 1]
