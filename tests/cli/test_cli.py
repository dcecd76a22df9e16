"""The command line, as a user runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from s2s.core.package import page_of
from tests.helpers import ROOT

MODEL = """
import numpy as np


def loss(w, x, n=2):
    return w * x


class Model:
    @staticmethod
    def score(x):
        return x * x

    def __init__(self, k):
        self.k = k

    def energy(self, r):
        return 0.5 * self.k * np.sum(r * r)


def rows_of(x, n):
    rows, columns = x.shape
    total = 0.0
    for i in range(n):
        total += np.sum(x * x) / rows
    return total


def powers(x):
    return x * np.sum(np.floor(x) * x**2)
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "0")
    (tmp_path / "model_for_cli.py").write_text(MODEL)
    return "model_for_cli.py"


def run(*words):
    return CliRunner().invoke(main, words)


def test_dump_prints_the_module(model):
    result = run("dump", f"{model}:loss", "--wrt", "w,x")
    assert result.exit_code == 0, result.output
    assert "def loss_grad(w, x, n=2):" in result.stdout
    assert "\x1b" not in result.stdout
    compile(result.stdout, "dumped", "exec")


def test_example_values_and_modes(model):
    result = run("dump", f"{model}:loss", "--wrt", "x", "--mode", "value_and_grad", "--arg", "w=2.0",
                 "--arg", "x=np.float64(1)")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "def loss_value_and_grad(w, x, n=2):" in result.output


def test_a_dotted_module_and_a_dotted_name(model):
    result = run("dump", "model_for_cli:Model.score")
    assert result.exit_code == 0, result.output
    assert "def score_grad(x):" in result.output


def test_output_to_a_file(model, tmp_path):
    result = run("dump", f"{model}:loss", "--args", "w: float, x: float", "--output", "out.py")
    assert (result.exit_code, result.output) == (0, "")
    assert "def loss_grad" in (tmp_path / "out.py").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.py:f"], "nothing.py: there is no such file\n"),
        (["m"], "m: write path/to/file.py:function or package.module:function\n"),
        (["model_for_cli.py"],
         "model_for_cli.py: no function in it is decorated with @s2s.differentiable; name one, "
         "model_for_cli.py:function; it has loss, Model, rows_of, powers\n"),
        (["model_for_cli.py:loss", "--args", "w: float, x: float", "-o", "none/out.py"],
         "none/out.py: No such file or directory\n"),
        (["model_for_cli.py:los"],
         "model_for_cli.py:los: model_for_cli.py has no `los`; it has loss, Model, rows_of, powers\n"),
        (["model_for_cli.py:Model.los"],
         "model_for_cli.py:Model.los: `Model` of model_for_cli.py has no `los`; it has score, energy\n"),
        (["model_for_cli.py:loss", "--arg", "w"], "--arg w: write name=expression\n"),
        (["model_for_cli.py:loss", "--arg", "w=1/0"],
         "--arg w=1/0: ZeroDivisionError: division by zero\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded(model, words, message):
    result = run("dump", *words)
    assert (result.exit_code, result.stderr) == (1, message)


def test_errors_of_the_file_name_the_line(model, tmp_path):
    (tmp_path / "broken_for_cli.py").write_text("x = 1\ny = x / 0\n")
    result = run("dump", "broken_for_cli.py:f")
    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path / 'broken_for_cli.py'}:2: ZeroDivisionError: division by zero\n"


def test_errors_of_s2s_come_without_a_traceback(model):
    result = run("dump", f"{model}:loss", "--wrt", "q")
    assert result.exit_code == 1
    assert result.stderr.startswith("`loss` has no argument `q` [S2S502]\n")
    assert "choose among w (0), x (1), n (2)" in result.stderr


def test_usage(model):
    assert run("dump").exit_code == 2
    assert run("dump", f"{model}:loss", "--mode", "gradient").exit_code == 2
    assert run("--version").output == f"s2s, version {s2s.__version__}\n"


def test_cache(model, tmp_path, monkeypatch):
    monkeypatch.delenv("S2S_CACHE")
    monkeypatch.delenv("S2S_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "model_for_cli", raising=False)
    import model_for_cli

    s2s.grad(model_for_cli.loss)(2.0, 3.0)
    listed = run("cache", "info").output
    assert "model_for_cli.loss.grad_w" in listed and "\n1 file, " in listed
    assert run("cache", "dir").output == f"{tmp_path / 'home' / 's2s'}\n"
    assert run("cache", "clear").output == "1 file deleted\n"
    assert run("cache", "info").output == "0 files, 0 bytes\n"


def test_functions_lists_what_has_rules():
    result = run("functions", "numpy.linalg.i")
    assert run("functions", "--filter", "numpy.linalg.i").output == result.output
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["numpy.linalg.inv"] and lines[-1] == "1 function"
    assert "reverse, forward" in lines[0] and "by a" in lines[0]


def test_functions_as_tables_of_a_document():
    result = run("functions", "--filter", "numpy.linalg.inv", "--markdown")
    assert "## numpy.linalg\n" in result.output
    assert "| `inv` | reverse, forward | pair | by a |" in result.output


OBSERVED = """
import numpy as np


class Registry:
    def __getattribute__(self, name):
        return {"xp": np, "k": 2.0}[name]


registry = Registry()


def loss(x, n=2):
    return registry.k * registry.xp.sum(registry.xp.linalg.eigh(np.outer(x, x)).eigenvalues ** n)
"""


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_what_is_not_known_is_observed_with_example_values(model, tmp_path, monkeypatch, mode):
    monkeypatch.delenv("S2S_RECORDED", raising=False)
    name = f"observed_by_{mode}"
    (tmp_path / f"{name}.py").write_text(OBSERVED.replace("loss", name))
    result = run("dump", f"{name}.py:{name}", "--mode", mode)
    assert result.exit_code == 1
    assert "[S2S208]" in result.stderr
    assert result.stderr.endswith(
        "  = or:       give example values, --arg 'x=np.ones(3)': what is not known is then looked up in a run\n"
        f"   = page:     {page_of('S2S208')}\n")
    result = run("dump", f"{name}.py:{name}", "--mode", mode, "--arg", "x=np.ones(3)")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("# Made for values and paths as in a run of the function: where one is otherwise, ")
    assert "rt.expect_kind(t0, float)" in result.output and "rt.expect(registry.xp, np)" in result.output


# --- what is printed computes what it says --------------------------------------------------------


def computed(model, *words, **names):
    """The last function of what is printed, with the names of the file that it reads."""
    result = run("dump", *words)
    assert result.exit_code == 0, result.output
    scope = {"np": np, **names}
    exec(result.stdout, scope)
    return [value for value in scope.values() if getattr(value, "__code__", None)][-1]


X = np.array([1.2, 0.7, 2.1])
KINDS = ("--args", "x: f8[:]")


def test_every_mode_computes_its_derivative(model):
    f = lambda x: x * np.sum(np.floor(x) * x**2)
    zero = ("--nonsmooth", "zero")

    def by_steps(g, x, v, h=1e-6):
        return (g(x + h * v) - g(x - h * v)) / (2 * h)

    exact = np.stack([by_steps(f, X, row) for row in np.eye(3)], axis=-1)
    place = f"{model}:powers"
    jacobian = computed(model, place, "--mode", "jacobian", *KINDS, *zero)(X)
    assert jacobian == pytest.approx(exact, rel=1e-7)
    value, tangent = computed(model, place, "--mode", "jvp", *KINDS, *zero)(X, np.ones(3))
    assert value == pytest.approx(f(X)) and tangent == pytest.approx(exact.sum(1), rel=1e-7)
    value, pullback = computed(model, place, "--mode", "vjp", "--arg", "x=np.ones(3)", *zero)(X)
    assert pullback(np.ones(3))[0] == pytest.approx(exact.sum(0), rel=1e-7)
    straight = computed(model, place, "--mode", "jacobian", *KINDS)(X)
    assert abs(straight - exact).max() > 0.1


def test_second_derivatives(model):
    place, energy = f"{model}:Model.energy", ("--arg", "self=Model(3.0)", "--args", "r: f8[:]")

    class Spring:
        k = 5.0

    assert computed(model, place, *energy)(Spring, X) == pytest.approx(5.0 * X)
    assert computed(model, place, *energy, "--mode", "hessian")(Spring, X) == pytest.approx(5.0 * np.eye(3))
    _, product = computed(model, place, *energy, "--mode", "hvp")(Spring, X, np.arange(3.0))
    assert product == pytest.approx(5.0 * np.arange(3.0))


def test_kinds_are_taken_from_uses_where_they_leave_no_doubt(model):
    place = f"{model}:rows_of"
    result = run("dump", place)
    assert "rt." not in result.output and result.stderr == ""
    x = np.arange(6.0).reshape(2, 3)
    assert computed(model, place)(x, 3) == pytest.approx(3 * x)


def test_what_is_not_known_is_told_with_the_line_to_add(model):
    result = run("dump", f"{model}:loss")
    assert result.stderr == (
        "note: the code asks when it runs what its arguments are\n"
        "  = not known: what `w`, `x` will be. If these are vectors of floats, say\n"
        "      s2s dump model_for_cli.py:loss --args \"w: f8[:], x: f8[:]\"\n"
        "    or in the file\n"
        "      def loss(w: \"f8[:]\", x: \"f8[:]\", n=2):\n")
    assert run("dump", f"{model}:loss", "--args", "w: float, x: float").stderr == ""


def test_methods_are_differentiated_by_what_comes_after_self(model):
    result = run("dump", f"{model}:Model.energy", "--args", "r: f8[:]", "--arg", "self=Model(1.0)")
    assert "with respect to r (" in result.output


def test_all_decorated_functions_of_a_file(model, tmp_path):
    (tmp_path / "decorated_for_cli.py").write_text("""
import numpy as np
import s2s

@s2s.differentiable
def first(x: float):
    return np.sin(x)

def other(x: float):
    return x

class Body:
    @s2s.differentiable
    def second(self, x: "f8[:]"):
        return np.sum(np.exp(x))
""")
    result = run("dump", "decorated_for_cli.py")
    assert result.exit_code == 0, result.output
    assert result.output.count("import numpy as np\n") == 1 and "def other" not in result.output
    scope = {}
    exec(result.output, scope)
    assert scope["first_grad"](0.3) == pytest.approx(np.cos(0.3))
    assert scope["second_grad"](None, X) == pytest.approx(np.exp(X))


def test_comments_and_stages(model):
    place, kinds = f"{model}:rows_of", ()
    bare = run("dump", place, "--no-comments").output
    assert "#" not in bare and '"""' in bare
    assert run("dump", place).output != bare
    naive = computed(model, place, "--stage", "naive")
    x = np.arange(6.0).reshape(2, 3)
    assert naive(x, 3) == pytest.approx(3 * x)
    assert run("dump", place, "--stage", "ir").output.startswith("def rows_of_grad(x, n):\n")
    assert run("dump", place, "--stage", "ir:differentiate").output.count("\n") > run(
        "dump", place, "--stage", "ir").output.count("\n")


def test_a_stage_that_there_is_not_is_told_with_those_that_there_are(model):
    result = run("dump", f"{model}:rows_of", "--stage", "nothing")
    assert result.exit_code == 1
    assert result.stderr.startswith("--stage nothing: choose among naive, final, ir, specialize, ")


def test_side_by_side(model):
    lines = run("dump", f"{model}:loss", "--args", "w: float, x: float", "--side-by-side").output.splitlines()
    assert lines[0].startswith("   5  def loss(w, x, n=2): | def loss_grad(w, x, n=2):")


def test_nothing_is_left_beside_the_file(model, tmp_path, monkeypatch):
    monkeypatch.delenv("S2S_CACHE")
    before = sorted(tmp_path.iterdir())
    assert run("dump", f"{model}:loss").exit_code == 0
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("width", [40, 120])
def test_lines_are_never_cut_off_on_a_terminal(monkeypatch, capsys, width):
    from s2s.cli import terminal

    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    text = "def f(x):\n    return " + " + ".join(f"name_{k} * x" for k in range(20)) + "  # the end\n"
    terminal.show(text)
    shown = capsys.readouterr().out
    assert "\x1b[" in shown and re.sub(r"\x1b\[[\d;]*m", "", shown) == text


def test_nothing_is_cut_off_side_by_side_on_a_terminal(monkeypatch, capsys):
    from s2s.cli import terminal

    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    names = [f"name{k:02d}" for k in range(30)]
    terminal.show_beside("x = 1\n", f"y = {'+'.join(names)}\n", ("left", "right"))
    shown = "".join(re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).split())
    assert "+".join(names) in shown


def test_files_are_written_as_ruff_formats_them_there(model, tmp_path):
    ruff = shutil.which("ruff") or pytest.skip("needs ruff")
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 60\n")
    assert run("dump", f"{model}:powers", *KINDS, "-o", "powers_grad.py", "--mode", "jacobian").exit_code == 0
    assert subprocess.run([ruff, "format", "--check", "powers_grad.py"], cwd=tmp_path).returncode == 0
    text = (tmp_path / "powers_grad.py").read_text()
    assert max(map(len, text.splitlines()[8:])) <= 60 and "def powers_jacfwd(x):" in text


@pytest.mark.slow
def test_python_m(tmp_path):
    words = [sys.executable, "-m", "s2s", "--version"]
    found = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout == f"s2s, version {s2s.__version__}\n"


def test_the_first_page_has_examples():
    assert "s2s dump model.py:loss " in run("--help").output
    shown = " ".join(run("dump", "--help").output.split())
    assert "The file is imported" in shown and "EXPR is Python, which is evaluated" in shown


@pytest.mark.parametrize("command", ["dump", "explain"])
def test_kinds_of_what_has_no_source_of_its_own(command):
    """A callable object in front of functions, as SciPy has for arrays of several kinds."""
    pytest.importorskip("scipy")
    result = CliRunner().invoke(main, [command, "scipy.special:logsumexp", "--args", "a: f8[:]"])
    assert result.exit_code == 0, result.output
    assert "not written in Python" not in result.output and "logsumexp" in result.output


def test_no_kinds_are_asked_for_where_the_text_alone_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("yielding.py").write_text("def values(x):\n    yield x\n")
    result = run("dump", "yielding.py:values")
    assert result.exit_code == 1 and "[S2S103]" in result.stderr
    assert "append each value to a list" in result.stderr and "not known" not in result.stderr
