"""What ``s2s explain`` says of a line: what was folded there and by which facts, what stops operations on arrays from
being one loop, why a loop stays one, what stops Numba. Where something is said to stand in the way, it goes without."""

import importlib
import re
import sys
import textwrap

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from s2s.explanation import explain, note_numba
from s2s.versions.kinds import read_kinds

LARGE = 2**18


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Makes a module of a text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "0")
    monkeypatch.setenv("S2S_RECORDED", "0")
    made = []

    def write(text):
        name = f"explained_reasons_{len(made)}"
        (tmp_path / f"{name}.py").write_text("import numpy as np\n" + textwrap.dedent(text))
        monkeypatch.delitem(sys.modules, name, raising=False)
        made.append(name)
        return importlib.import_module(name)

    return write


def facts(found, *kinds):
    """Pairs of a line number and what is said of it, of these kinds."""
    return [
        (line.number, fact.text) for line in (*found.lines, *found.helpers) for fact in line.facts
        if fact.kind in kinds]


def of(module, kinds="", *shown, name="f", **options):
    return facts(explain(getattr(module, name), kinds=read_kinds(kinds), **options), *shown)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_active_lines_are_those_of_what_depends_on_the_argument(written, mode):
    module = written("""
        def f(x, n):
            y = x * x
            m = n + 1
            return y * m
    """)
    found = explain(module.f, kinds=read_kinds("x: float, n: int"), mode=mode)
    assert [(line.is_active, line.names) for line in found.lines] == [
        (False, set()), (True, {"x", "y"}), (False, set()), (True, {"y"})]


# --- what is folded -------------------------------------------------------------------------------------------------


def test_a_test_of_a_global_is_told_with_its_guard_and_the_version_holds_under_that_alone(written):
    module = written("""
        MODE = "fast"
        def f(x):
            if MODE == "fast" and x.ndim == 1:
                return np.sum(np.sin(x))
            return np.sum(np.cos(x))
    """)
    found = explain(module.f, kinds=read_kinds("x: f8[n]"))
    assert facts(found, "folded", "guard") == [
        (5, "`MODE == \"fast\" and x.ndim == 1` is true, as `MODE` is 'fast' (checked at each call), `x.ndim` is 1")]
    line = found.guarded["`MODE` is 'fast', as when it was compiled"]
    assert line.number == 5
    gradient, x = s2s.grad(module.f), np.linspace(0.1, 1.0, 3)
    assert np.allclose(gradient(x), np.cos(x))
    module.MODE = "slow"
    assert np.allclose(gradient(x), -np.sin(x))
    assert of(module, "x: f8[n]", "folded") == [
        (5, "`MODE == \"fast\" and x.ndim == 1` is false, as `MODE` is 'slow' (checked at each call)")]


def test_tests_of_kinds_flags_and_none_are_told_at_their_lines_also_in_helpers(written):
    module = written("""
        def total(x, axis=None):
            if axis is None:
                return np.sum(x)
            return np.sum(np.sum(x, axis=axis))
        def f(x, flag=True):
            if not isinstance(x, np.ndarray):
                x = np.asarray(x)
            if flag:
                x = 2.0 * x
            y = x if x.ndim == 2 else x[None]
            return total(y)
    """)
    assert of(module, "x: f8[n, m]", "folded") == [
        (8, "`not isinstance(x, np.ndarray)` is false, as `x` is a f8[:,:]"),
        (10, "`flag` is true"),
        (12, "`x.ndim == 2` is true, as `x.ndim` is 2"),
        (4, "`axis is None` is true, as `axis` is None"),
    ]
    assert of(module, "x: f8[n], flag: False", "folded")[1:3] == [
        (10, "`flag` is false"), (12, "`x.ndim == 2` is false, as `x.ndim` is 1")]


def test_a_test_that_is_known_otherwise_in_each_call_is_told_once(written):
    module = written("""
        def part(x, k):
            if k == 0:
                return x
            return x * k
        def f(x):
            return part(x, 0) + part(x, 2) + part(x, 3)
    """)
    assert of(module, "x: float", "folded") == [
        (4, "`k == 0` is known each time: true in some iterations or calls, false in others")]


def test_attributes_and_options_are_told_where_they_are_read(written):
    module = written("""
        ORDER = "C"
        class Model:
            def __init__(self):
                self.kind = "smooth"
        MODEL = Model()
        def f(x):
            way = ORDER
            if MODEL.kind == "smooth":
                x = x * x
            return np.sum(x.ravel(order=way))
    """)
    found = explain(module.f, kinds=read_kinds("x: f8[n]"))
    assert (9, "`ORDER` is 'C', as when it was compiled") in facts(found, "guard")
    assert facts(found, "folded") == [
        (10, "`MODEL.kind == \"smooth\"` is true, as `MODEL.kind` is 'smooth'")]


def test_a_loop_over_known_items_is_told_to_be_written_out(written):
    module = written("""
        def f(layers):
            total = 0.0
            for W in layers:
                total = total + np.sum(W * W)
            return total
    """)
    assert of(module, "layers: [f8[2], f8[3, 2], f8[4]]", "folded") == [
        (5, "the loop is written out 3 times, as what it goes through is known")]


def test_what_is_not_known_is_not_told_and_neither_is_code_of_other_packages(written):
    module = written("""
        from scipy.special import softmax
        def f(x, a):
            if a > 0.0:
                return np.sum(softmax(x) * x)
            return np.sum(x)
    """)
    found = explain(module.f, kinds=read_kinds("x: f8[n], a: float"))
    assert not facts(found, "folded", "guard")


# --- what is one loop -----------------------------------------------------------------------------------------------

CHAINS = {
    "a sum": ("s = np.sum(z)\n    w = np.exp(z - s) * z + x", "s = 0.5\n    w = np.exp(z - s) * z + x",
              (4, "`np.sum(z)` needs all elements: in large arrays line 5 is not fused with line 3 (forward sweep)")),
    "a running sum": (
        "c = np.cumsum(z)\n    w = np.exp(c) * c + x", "c = z\n    w = np.exp(c) * c + x",
        (4, "`np.cumsum(z)` is done on whole arrays: in large arrays line 5 is not fused with line 3 (forward sweep)")),
    "a change in place": (
        "z[0] = 1.0\n    w = np.exp(z) * z + x", "v = z\n    w = np.exp(v) * v + x",
        (4, "the change in place is done on the whole array: in large arrays line 5 is not fused with line 3 "
            "(forward sweep)")),
    "a branch": (
        "z = np.sort(z) if a > 0.0 else z\n    w = np.exp(z) * z + x", "z = z * a\n    w = np.exp(z) * z + x",
        (4, "the `if` is done on whole arrays: in large arrays line 5 is not fused with line 3 (forward sweep)")),
    "a call": (
        "CALLED(z)\n    w = np.exp(z) * z + x", "u = z\n    w = np.exp(u) * u + x",
        (4, "`CALLED(z)` may do anything: in large arrays line 5 is not fused with line 3 (forward sweep)")),
}


@pytest.mark.parametrize("name", CHAINS)
def test_what_breaks_a_chain_is_told_at_its_line_and_without_it_there_is_one_loop(written, name):
    text = "CALLED = print\ndef f(x, a):\n    z = np.sin(x) * x + 2.0\n    {}\n    return np.sum(w * w)\n"
    broken, whole, expected = CHAINS[name]
    before, after = (written(text.format(part).replace("CALLED = print\n", "CALLED = print; ", 0)) for part in (
        broken, whole))
    first, second = (of(module, "x: f8[n], a: float", "fusion") for module in (before, after))
    line = 1  # of `import numpy`
    assert (expected[0] + line, _moved(expected[1], line)) in first
    assert not [text for _, text in second if "not fused" in text]
    x = np.linspace(0.1, 1.0, LARGE)
    loops = [s2s.source(module.f, x, 0.5, mode="grad").count("rt.blocks(") for module in (before, after)]
    assert loops[1] == 1 and "in large arrays" in "".join(text for _, text in second)


def _moved(text, by):
    return re.sub(r"\bline (\d+)", lambda found: f"line {int(found[1]) + by}", text)


def test_a_sum_along_an_axis_a_product_and_another_shape_break_a_chain_too(written):
    module = written("""
        def rows(x):
            e = np.exp(2.0 * x + 1.0)
            p = e / np.sum(e, axis=1, keepdims=True)
            return np.sum(p * p * 0.5)
        def product(A, x):
            z = np.tanh(x) * 2.0 + x
            u = A @ z
            return np.sum(np.exp(u) * u + 3.0)
        def shape(x):
            z = np.tanh(x) * 2.0 + x
            d = z[1:] - z[:-1]
            return np.sum(d * d * np.exp(d))
    """)
    assert (5, "`np.sum(e, axis=1, keepdims=True)` needs all elements along an axis: in large arrays line 5 is not "
               "fused with line 4 (forward sweep)") in of(module, "x: f8[n, m]", "fusion", name="rows")
    assert (9, "`A @ z` is a product of matrices: in large arrays line 10 is not fused with line 8 "
               "(forward sweep)") in of(module, "A: f8[n, n], x: f8[n]", "fusion", name="product")
    assert "has another shape: in large arrays line 13 is not fused with line 12" in str(
        of(module, "x: f8[n]", "fusion", name="shape"))


def test_in_a_version_for_large_arrays_it_is_said_as_it_is(written):
    module = written("""
        def f(x):
            z = np.sin(x) * x
            s = np.sum(z)
            return np.sum(np.exp(z - s) * z)
    """)
    x = np.linspace(0.1, 1.0, LARGE)
    found = facts(explain(module.f, (x,)), "fusion")
    assert (5, "`np.sum(z)` needs all elements: line 6 is not fused with line 4 (forward sweep)") in found
    assert any("are one loop over parts of the arrays" in text for _, text in found)
    assert s2s.source(module.f, x, mode="grad").count("rt.blocks(") == 2


def test_short_chains_numbers_and_small_arrays_are_not_told_of(written):
    module = written("""
        def few(x):
            return np.sum(np.sin(x) - np.mean(x))
        def numbers(x, y):
            z = np.sin(x) * y + 1.0
            return np.exp(z) * z * z
        def small(a):
            z = np.sin(np.arange(5.0) * a) * a + 1.0
            return np.sum(np.exp(z - np.sum(z)) * z)
    """)
    assert not of(module, "x: f8[n]", "fusion", name="few")
    assert not of(module, "x: float, y: float", "fusion", name="numbers")
    assert not of(module, "a: float", "fusion", name="small")


# --- loops ----------------------------------------------------------------------------------------------------------

LOOPS = {
    "each iteration needs `t` of the one before": ("t = np.sin(t * x[k])", "t = t + np.sin(x[k])"),
    "there is a branch in it, in line 6": ("if x[k] > 0.5:\n            t += x[k] ** 2", "t += x[k] ** 2"),
    "it may end early": ("if t > 1e9: break\n        t += np.sin(x[k])", "t += np.sin(x[k])"),
    "`np.linalg.norm(x[k:])` cannot be done for all iterations at once": (
        "t += np.linalg.norm(x[k:])", "t += np.abs(x[k])"),
}


@pytest.mark.parametrize("why", LOOPS)
def test_why_a_loop_stays_one_is_told_and_without_it_there_is_none(written, why):
    text = "\n\ndef f(x):\n    t = 0.0\n    for k in range(len(x)):\n        {}\n    return t\n"
    stays, goes = (written(text.format(part).replace("\n\n", "", 1)) for part in LOOPS[why])
    x, found = np.linspace(0.1, 1.0, 7), of(stays, "x: f8[n]", "loop")
    if why.startswith("it may") or why.startswith("each"):  # a test of `t` needs it, too
        assert found[0][0] == 4 and found[0][1].startswith("stays one: ")
    else:
        assert found == [(4, f"stays one: {why}".replace("line 6", "line 5"))]
    assert not of(goes, "x: f8[n]", "loop")
    assert "for k" in s2s.source(stays.f, x, mode="grad")
    assert "for " not in s2s.source(goes.f, x, mode="grad")


def test_an_array_that_the_next_iteration_reads_is_named_and_few_iterations_are_not_told_of(written):
    module = written("""
        def beside(x):
            y = np.zeros(len(x))
            for k in range(1, len(x)):
                y[k] = y[k - 1] * 0.5 + x[k]
            return np.sum(y)
        def again(x):
            u = x.copy()
            for _ in range(7):
                u[1:-1] += 0.1 * (u[2:] - u[:-2])
            return np.sum(u)
        def grid(a):
            a = a.copy()
            for i in range(1, 9):
                for j in range(1, 9):
                    a[i, j] = a[i, j - 1] * 0.5 + a[i - 1, j]
            return np.sum(a)
        def few(x):
            t = x
            for k in range(3):
                t = np.sin(t)
            return t
    """)
    assert of(module, "x: f8[n]", "loop", name="beside") == [
        (5, "stays one: each iteration needs `y` of the one before")]
    assert of(module, "x: f8[n]", "loop", name="again") == [
        (10, "stays one: each iteration needs `u` of the one before")]
    assert of(module, "a: f8[n, n]", "loop", name="grid") == [
        (16, "stays one: each iteration needs `a` of the one before")]
    assert not of(module, "x: float", "loop", name="few")


# --- Numba ----------------------------------------------------------------------------------------------------------

STOPS = """
import scipy.sparse as sp
import scipy.sparse.linalg as sla
A = sp.csc_matrix(np.diag(np.arange(1.0, 6.0)))
def tried(x):
    t = 0.0
    for v in x:
        try:
            t += float(v) ** 2
        except ValueError:
            t += 1.0
    return t
def drawn(x):
    s = 0.0
    for k in range(len(x)):
        s += x[k] * np.random.rand()
    return s
def solved(x):
    y = 2.0 * x
    return np.sum(sla.spsolve(A, y) ** 2)
def called(x):
    s = 0.0
    for k in range(len(x)):
        s = s + np.sin(x[k]) * np.median(x)
    return s
def plain(x):
    s = 0.0
    for k in range(len(x)):
        s = s + np.sin(x[k]) * np.mean(x)
    return s
"""

X = np.linspace(0.1, 1.0, 5)


@pytest.mark.parametrize(("name", "number", "text"), [
    ("tried", 9, "the whole function runs in Python: `try` is not compiled"),
    ("drawn", 17, "the whole function runs in Python: Numba has random numbers of its own, which NumPy's seed does not "
                  "change"),
    ("solved", 21, "the whole function runs in Python: `A` is a csc_matrix, which Numba does not take"),
])  # fmt: skip
def test_what_stops_numba_is_told_at_its_line(written, name, number, text):
    pytest.importorskip("numba")
    f = getattr(written(STOPS), name)
    found = explain(f, (X,))
    assert note_numba(found, f, (X,), {}) == "does not compile it"
    assert facts(found, "Numba") == [(number, text)]
    assert not found.auto.startswith("NumPy; after")


@pytest.mark.slow
def test_calls_that_are_left_to_python_are_told_and_without_them_numba_has_all(written):
    pytest.importorskip("numba")
    module = written(STOPS)
    found = explain(module.called, (X,))
    assert note_numba(found, module.called, (X,), {}) == "compiles it, but for what its lines say"
    told = facts(found, "Numba")
    assert {number for number, _ in told} == {25} and all("is called in Python: " in text for _, text in told)
    assert "Numba is not taken where nobody asks for it: " in found.auto
    found = explain(module.plain, (X,))
    assert note_numba(found, module.plain, (X,), {}) == "compiles it" and not facts(found, "Numba")
    assert found.auto.startswith("NumPy; after")


def test_a_message_of_numba_always_says_something(written):
    pytest.importorskip("numba")
    from s2s.backends.numba.compiler import refused_by

    compiled = explain(written("def f(x): return x * x\n").f, kinds=read_kinds("x: float")).compiled
    for problem, text in (
        (AssertionError(), "its compiler raises AssertionError"),
        (KeyError(), "its compiler raises KeyError"),
        (RuntimeError("Failed in nopython mode pipeline (step: x)\n"), "Numba does not say why: Failed in nopython"),
        (TypeError("No implementation of function Function(<function ravel at 0x7f>) found for signature:\n"),
         "Numba has no `ravel` for such arguments"),
    ):
        assert refused_by(problem, compiled).reason.startswith(text)


# --- as it is printed -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_is_printed_below_the_lines(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "printed_reasons.py").write_text(
        "import numpy as np\nMODE = 'a'\ndef f(x: 'f8[5]'):\n    t = 0.0\n    if MODE == 'a':\n"
        "        for k in range(len(x)):\n            t = np.sin(t) * np.median(x)\n    return t\n")
    result = CliRunner().invoke(main, ["explain", "printed_reasons.py:f", "--numba"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    at = next(k for k, line in enumerate(lines) if "if MODE" in line)
    assert lines[at + 1].endswith("^ folded: `MODE == 'a'` is true, as `MODE` is 'a' (checked at each call)")
    assert "  `MODE` is 'a', as when it was compiled (line 5)" in lines
    assert any(re.search(r"\^ Numba: `.*` is called in Python: ", line) for line in lines)
    assert lines[-1] == "Numba: compiles it, but for what its lines say"


# --- the whole ------------------------------------------------------------------------------------------------------


def test_what_a_version_relies_on_is_told_once_and_in_words(written):
    module = written("""
        class Model:
            k = 2.0
        model = Model()
        def f(W, x, steps):
            h = x
            for _ in range(steps):
                h = np.tanh(W @ h)
            return np.sum(np.sqrt(h * h)) * model.k
    """)
    found = explain(module.f, kinds=read_kinds("W: f8[:,:], x: f8[:], steps: int"))
    about_lengths = [guard for guard in found.guards if "length" in guard]
    assert about_lengths == ["the lengths x.0 and W.0 are equal"] and about_lengths[0] in found.guarded
    assert not [guard for guard in found.guards if "Guard" in guard]
    gradient, W, x = s2s.grad(module.f, argnums="x"), np.array([[0.2, 0.1], [0.4, -0.3]]), np.array([0.5, 1.0])
    by_differences = [(module.f(W, x + h, 3) - module.f(W, x - h, 3)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert np.allclose(gradient(W, x, 3), by_differences, rtol=1e-6)
    with pytest.raises(ValueError, match="matmul"):
        gradient(W, np.ones(3), 3)


@pytest.mark.parametrize(("name", "arguments", "lines"), [
    ("abs", (1.5,), ["def abs(x):", "    return abs(x)"]),
    ("linalg.norm", (np.ones(3),), ["def norm(x):", "    return np.linalg.norm(x)"])])
def test_a_function_without_source_is_shown_under_its_own_name(name, arguments, lines):
    module, _, name = name.rpartition(".")
    f = getattr(importlib.import_module(f"numpy.{module}"), name) if module else abs
    found = explain(f, arguments)
    assert [line.text for line in found.lines] == lines and found.name == name
    assert [fact.kind for fact in found.lines[1].facts] == ["rule"] and found.lines[1].is_active


def test_a_derivative_is_not_explained():
    with pytest.raises(s2s.errors.ArgumentError, match="is a derivative already"):
        explain(s2s.grad(lambda x: x * x), (1.0,))


def test_a_long_docstring_is_not_shown(written):
    module = written('''
        def f(x):
            """
            Half of the energy.

            One line
            and another one
            that tells of it
            and of more.
            """
            return np.sum(x * x)

        def g(x):
            """Short.

            But not quite.
            """
            return np.sum(x)
    ''')
    for name, is_shown in (("f", False), ("g", True)):
        done = CliRunner().invoke(main, ["explain", f"{module.__name__}:{name}", "--args", "x: f8[:]"])
        assert done.exit_code == 0, done.output
        assert ("more lines of its docstring" in done.output) is not is_shown
        assert ("Half of the energy." in done.output) or is_shown
        assert "that tells of it" not in done.output and re.search(r"^\* +\d+ +return np", done.output, re.MULTILINE)
        assert ("But not quite." in done.output) is is_shown
    assert "(6 more lines of its docstring)" in CliRunner().invoke(
        main, ["explain", f"{module.__name__}:f", "--args", "x: f8[:]"]).output
