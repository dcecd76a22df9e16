"""No text leaves the process that says something else than the code that was compiled."""

import ast
import itertools
import re
import textwrap
import types

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli import dump, insert, terminal
from s2s.cli.loading import CannotLoad
from s2s.cli.main import main
from s2s.codegen import comments
from s2s.errors import InternalError
from s2s.shipping import callers, gate, plain, standalone
from s2s.shipping.departures import Departures
from s2s.shipping.uses import bound_anywhere
from s2s.sources import version

GAIN = 1.5


def helper(v, n):
    return GAIN * v if n > 2 else v


def loss(x, n=3, flag=True):
    y = x
    for k in range(n):
        if flag:
            y = y * np.sin(x) + k
    return np.sum(helper(y, n) ** 2) if n > 1 else np.sum(np.linalg.norm(x))


def closed(rate):
    def inner(x):
        return np.sum(np.exp(-rate * x) * x)
    return inner


PROGRAMS = [(loss, "grad"), (loss, "jvp"), (loss, "vjp"), (closed(0.5), "grad")]


def written(f, mode, is_alone):
    """The text of a version, and that for callers."""
    made = version(f, (np.ones(3),), {}, mode, 0)
    text = callers.with_conditions(made, made.compiled.text, f, Departures(made, lambda v: v.compiled.text, None))
    text = callers.with_parameters(made, text, f)
    return made, standalone.standalone(made, text) if is_alone else plain.plain(made, text)


class Changed(ast.NodeTransformer):
    """Changes the node of a number."""

    def __init__(self, number, names):
        self.number, self.names, self.count, self.is_done = number, names, 0, False

    def generic_visit(self, node):
        super().generic_visit(node)
        wanted = isinstance(node, (ast.Constant, ast.BinOp, ast.Name, ast.Return, ast.Assign, ast.AugAssign))
        self.count += wanted
        if not wanted or self.count != self.number:
            return node
        self.is_done = True
        match node:
            case ast.Constant(str() | None):
                self.is_done = False
            case ast.Constant(value):
                return ast.Constant(not value if type(value) is bool else value + 1)
            case ast.BinOp(left, op, right):
                return ast.BinOp(left, ast.Sub() if not isinstance(op, ast.Sub) else ast.Add(), right)
            case ast.Name(name) if name not in self.names:  # one that another module has may have another name
                self.is_done = False
            case ast.Name(name, ctx):
                return ast.Name(f"{name}_other", ctx)
            case ast.Return(value):
                return ast.Return(ast.Tuple([value], ast.Load()))
            case _:
                return [node, node]
        return node


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("k", range(len(PROGRAMS)))
def test_each_change_of_a_derivative_is_seen(k, is_alone):
    made, text = written(*PROGRAMS[k], is_alone)
    entry, own = made.compiled.entry, made.compiled.text
    assert gate.passed(text, own, entry, not is_alone) == text
    tree, seen = ast.parse(text), 0
    for number in itertools.count(1 + k, 4):
        [function] = [node for node in ast.parse(text).body if getattr(node, "name", "") == entry]
        function.body = gate._without_checks(function)
        change = Changed(number, bound_anywhere(function) if is_alone else {"x", "np", "y", "GAIN"})
        function.body = [part for node in function.body for part in [change.visit(node)] for part in (
            part if isinstance(part, list) else [part])]
        if change.count < number:
            break
        if change.is_done:
            seen += 1
            tree.body = [function if getattr(node, "name", "") == entry else node for node in tree.body]
            wrong = ast.unparse(ast.fix_missing_locations(tree))
            with pytest.raises(InternalError, match="is not the code that was compiled"):
                gate.passed(wrong, own, entry, not is_alone)
    assert seen


@pytest.mark.parametrize("made", [
    "def f(x):\n    return g(x)\n\n\nf(1)\n", "import os\n\n\ndef f(x):\n    return g(x)\n\n\ng = os\n",
    "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return x\n", "def f(y):\n    return g(x)\n",
    "def f(x):\n    if x:\n        raise ValueError('g was made for')\n    return g(x)\n", "class A:\n    pass\n",
    "@g\ndef f(x):\n    return g(x)\n", "def f(x, y):\n    return g(x)\n", "def f(x):\n    return g(y)\n",
    "def f(x):\n    return x(x)\n", "def f(x):\n    x = x\n    return g(x)\n",
])
def test_nothing_else_is_in_a_text(made):
    own = "from m import g\n\n\ndef f(x):\n    return g(x)\n"
    right = "def f(x, /):\n    'A.'\n    if x:\n        raise ValueError('f was made for x')\n    return g(x)\n"
    assert gate.passed(right, own, "f") == right
    with pytest.raises(InternalError, match="the text of `f` is not the code that was compiled"):
        gate.passed(made, own, "f")


@pytest.mark.parametrize("one, other, is_same", [
    ("a = 1", "a  =  (1)", True), ("a = 1", "a = 2", False), ("a = 1\nb = 2", "b = 2\na = 1", False), ("", "a", False),
    ('def f():\n    """One\n    two."""\n', 'def f():\n  """One two."""', True),
    ('def f():\n    """One."""\n', 'def f():\n    """Two."""', False),
    ('def f():\n    """One."""\n', "def f():\n    pass", False),
    ('class A:\n    """One\n\n    two."""\n', 'class A:\n  """One  two."""', True), ('"""A\nb"""', '"""A b"""', True),
    ('a = """One\ntwo"""', 'a = """One two"""', False),
])
def test_texts_mean_the_same_however_they_are_laid_out(one, other, is_same):
    """As texts and as statements."""
    for left in (one, ast.parse(one).body):
        for right in (other, iter(ast.parse(other).body)):
            assert (gate.meaning(left) == gate.meaning(right)) is is_same


@pytest.mark.parametrize("one, other, is_right", [
    ("def _f(x):\n    return _f(x - a.b)", "def f(x):\n    return f(x - b)", True),
    ("def _f(x):\n    return _f(x - a.b)", "def f(x):\n    return _f(x - b)", False),
    ("def f(x):\n    return a.x - x", "def f(x):\n    return x - x", False),
    ("def f(x):\n    return a - b + a", "def f(x):\n    return c - d + c", True),
    ("def f(x):\n    return a - b + a", "def f(x):\n    return c - d + d", False),
    ("@d\ndef f(x):\n    from a import b\n    return b", "def f(x):\n    pass\n    return c", True),
    ("def f(x):\n    from a import b\n    return b", "def f(x):\n    pass\n    return 1", False),
    ("A = [1, b.c]", "B = [1, c]", True), ("A = [1, b.c]", "A = [True, c]", False), ("A = 0.0", "A = -0.0", False),
    ("def f(x: _A) -> _B:\n    return _A", "def f(x: _A) -> _B:\n    return A", True),
])
def test_definitions_may_have_other_names(one, other, is_right):
    if is_right:
        assert gate.passed_definition(other, one) == other
        return
    with pytest.raises(InternalError, match="the text is not that of the code"):
        gate.passed_definition(other, one)


SEPARATED = '''import numpy as np
import s2s


@s2s.differentiable
def f(x: "f8[:]"):
    y = x * x  # area\x0c    y = y * 100.0
    return np.sum(y * y)
'''


@pytest.fixture
def cut(monkeypatch, tmp_path):
    """A file, and tools that lay out text by other lines than Python's."""
    def lines(text, keepends=False):
        return text.splitlines(keepends)

    monkeypatch.setattr(comments, "one_line", str)
    for module in (standalone, plain, dump, insert):
        monkeypatch.setattr(module, "lines_of", lines)
    (tmp_path / "cut_by_others.py").write_text(SEPARATED, encoding="utf-8")
    return tmp_path / "cut_by_others.py"


@pytest.mark.parametrize("words", [
    ["dump", "FILE:f", "--standalone"], ["dump", "FILE:f", "--no-comments"], ["build", "FILE"], ["insert", "FILE"],
], ids=" ".join)
def test_a_text_that_is_cut_wrongly_does_not_leave(cut, words):
    """It is refused, where what it says is not right all the same."""
    result = CliRunner().invoke(main, [word.replace("FILE", str(cut)) for word in words])
    if result.exit_code or "build" in words:
        assert re.search("is not the code that was compiled|does not say what", result.output), result.output
        assert cut.read_text(encoding="utf-8") == SEPARATED
    else:
        made = cut.read_text(encoding="utf-8") if "insert" in words else result.output
        assert "100.0" not in ast.unparse(ast.parse(made))
    assert "build" in words or result.exit_code or "--standalone" not in words


def test_a_formatter_that_changes_the_code_is_not_followed(monkeypatch, tmp_path):
    done = types.SimpleNamespace(returncode=0, stdout=b"x = 2\n")
    monkeypatch.setattr(terminal.shutil, "which", lambda name: name)
    monkeypatch.setattr(terminal, "_done", lambda words, text: done)
    with pytest.raises(terminal.CannotFormat, match="says something else"):
        terminal.formatted("x = 1\n", tmp_path / "a.py")
    assert terminal.formatted("x=2", tmp_path / "a.py") == "x = 2\n"


def test_files_say_what_they_said_with_derivatives_in_them(monkeypatch):
    text = "x = 1\n\n\ndef f(x):\n    return x\n"
    made = textwrap.dedent('''
        def f_grad(x):
            """Gradient of f. Generated by s2s; do not edit."""
            return 1.0
    ''')
    assert "return 1.0" in insert.inserted(text, [("f", made, ["import numpy as np"])])
    for wrong in (made.replace("1.0", "2.0"), f"{made}\nx = 2\n"):
        def parsed(given, wrong=wrong, **config):
            return PARSE(wrong if given.strip() == made.strip() else given, **config)

        monkeypatch.setattr(insert.cst, "parse_module", parsed)
        with pytest.raises(CannotLoad, match="the file would not say what it says"):
            insert.inserted(text, [("f", made, [])])


PARSE = insert.cst.parse_module


def test_functions_of_a_file_that_was_edited_are_not_shipped(tmp_path, monkeypatch):
    file = tmp_path / "edited_since.py"
    file.write_text("import numpy as np\n\n\ndef act(v):\n    return v * v\n\n\nnames = [act]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import edited_since

    file.write_text(file.read_text(encoding="utf-8").replace("v * v", "v + v"), encoding="utf-8")
    gathering = standalone.Gathering()
    with pytest.raises(standalone.CannotShip, match="the source of `act` is not there"):
        gathering.of_module(edited_since, "act")


COMPILED = "def f_grad(x):\n    return 2.0 * x\n"


@pytest.mark.parametrize("text, is_right", [
    ("def f_grad(x):\n    return x + x\n", True), ("def f_grad(x):\n    return 2.1 * x\n", False),
    ("def f_grad(x):\n    x[0] = 1.0\n    return x\n", False), ("def f_grad(x):\n    raise ValueError('f')\n", False),
    ("def f_grad(x):\n    return list(2.0 * x)\n", False),
])
def test_a_text_is_run_beside_the_code(text, is_right):
    compiled, made = ({} for _ in range(2))
    exec(COMPILED, compiled)
    exec(text, made)
    X = np.array([1.0, 3.0])
    if is_right:
        gate.run_beside(made["f_grad"], compiled["f_grad"], (X,), "f")
    else:
        with pytest.raises(InternalError, match="the text of `f` computes something else"):
            gate.run_beside(made["f_grad"], compiled["f_grad"], (X,), "f")
    assert X.tolist() == [1.0, 3.0]


def test_what_is_not_the_same_twice_or_raises_says_nothing():
    def drawn(x, count=[0]):
        count[0] += 1
        return x + count[0]

    def failing(x):
        raise ValueError("no")

    state = np.random.get_state()[1].tolist()
    gate.run_beside(lambda x: x, drawn, (1.0,), "f")
    gate.run_beside(lambda x: x, failing, (1.0,), "f")
    gate.run_beside(lambda x: x, lambda x: 2 * x, (iter([1]),), "f")
    gate.run_beside(lambda x: x * np.random.normal(), lambda x: x * np.random.normal(), (2.0,), "f")
    assert np.random.get_state()[1].tolist() == state


def test_what_is_sent_and_what_stands_alone_is_run(monkeypatch, tmp_path):
    run = []
    monkeypatch.setattr("s2s.distributed.derivatives.run_beside", lambda *given: run.append(given))
    monkeypatch.setattr(dump, "run_beside", lambda *given: run.append(given))
    s2s.distributed.shipped(s2s.grad(loss), np.ones(3))
    (tmp_path / "run_once.py").write_text("def f(x, k=2.0):\n    return k * x * x\n")
    words = ["dump", f"{tmp_path / 'run_once.py'}:f", "--standalone"]
    assert CliRunner().invoke(main, [*words, "--arg", "x=3.0"]).exit_code == 0
    assert CliRunner().invoke(main, [*words, "--args", "x: float"]).exit_code == 0
    assert len(run) == 2
    assert [made(*values) for made, _, values, _ in run[1:]] == [12.0]


SHARED = '''import numpy as np
import s2s

RATE = 3.0
TEXT = """a


import nothing
"""


class Scale:
    def __init__(self):
        self.k = 2.0


SCALE = Scale()


def helper(v):
    return SCALE.k * v * len(TEXT)


@s2s.differentiable
def f(x: "f8[:]"):
    return np.sum(RATE * helper(x) * x)


@s2s.differentiable
def g(x: "f8[:]"):
    return np.sum(RATE * helper(x) * x * x)
'''


def test_modules_of_several_functions_have_what_they_read(tmp_path):
    """Values as well as functions, those that both read once."""
    file, out = tmp_path / "shared_by_two.py", tmp_path / "shared_out.py"
    file.write_text(SHARED, encoding="utf-8")
    result = CliRunner().invoke(main, ["dump", str(file), "--standalone", "-o", str(out)])
    assert result.exit_code == 0, result.output
    text, scope = out.read_text(encoding="utf-8"), {}
    exec(text, scope)
    X, factor = np.array([1.0, -2.0]), 3.0 * 2.0 * len("a\n\n\nimport nothing\n")
    np.testing.assert_allclose(scope["f_grad"](X), 2.0 * factor * X)
    np.testing.assert_allclose(scope["g_grad"](X), 3.0 * factor * X**2)
    assert text.count("RATE = 3.0") == text.count("class Scale:") == 1
