"""The documents are true: their code runs, and what they show is what comes out.

``pytest tests/test_docs.py --rewrite`` writes the generated source that the README shows anew, and the rows of the
language page.
"""

import ast
import contextlib
import doctest
import inspect
import io
import linecache
import os
import re
import runpy
import sys
import types

import numpy as np
import pytest

import s2s
from tests.helpers import ROOT
from tests.language.rows.page import TITLE, page

README = ROOT / "README.md"
HOW_IT_WORKS = ROOT / "docs" / "how_it_works.md"
ADDING_A_RULE = ROOT / "docs" / "adding_a_rule.md"
FUNCTIONS = ROOT / "docs" / "functions.md"
QUESTIONS = ROOT / "docs" / "questions.md"
MEMORY = ROOT / "docs" / "memory.md"
OPTIM = ROOT / "docs" / "optim.md"
SCIPY = ROOT / "docs" / "scipy.md"
INTEROP = ROOT / "docs" / "interop.md"
ARRAYS = ROOT / "docs" / "arrays.md"
DISTRIBUTED = ROOT / "docs" / "distributed.md"
CHOICES = ROOT / "docs" / "choices.md"
CUSTOM = ROOT / "docs" / "custom.md"
DEBUGGING = ROOT / "docs" / "debugging.md"
LANGUAGE = ROOT / "docs" / "language.md"


def fenced(text, language):
    """(line number of the first line, code) of each fenced block of a language."""
    lines, blocks, start, inside = text.splitlines(), [], 0, None
    for number, line in enumerate(lines, 1):
        if inside is None and line.startswith("```"):
            inside, start = line[3:].strip(), number + 1
        elif line == "```":
            if inside == language:
                blocks.append((start, "\n".join(lines[start - 1 : number - 1]) + "\n"))
            inside = None
    return blocks


def as_module(text):
    """The Python blocks of a document as one module, pasted one after the other as a reader does."""
    return "\n\n".join(code for _, code in fenced(text, "python"))


def words(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


# --- how_it_works.md ---


def test_how_it_works_runs_and_prints_what_it_shows(tmp_path):
    text = HOW_IT_WORKS.read_text(encoding="utf-8")
    module = tmp_path / "how_it_works.py"
    module.write_text(as_module(text), encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(module), run_name="how_it_works")
    shown = "".join(code for _, code in fenced(text, "text"))
    assert words(printed.getvalue()) == words(shown)


# --- memory.md ---


def test_the_page_about_memory_runs_and_prints_what_it_shows(tmp_path):
    text = MEMORY.read_text(encoding="utf-8")
    module = tmp_path / "memory.py"
    module.write_text(as_module(text), encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(module), run_name="memory")
    found = words(printed.getvalue())
    for _, shown in fenced(text, "text"):  # of the generated source, the beginning
        at = found.index(words(shown)[0])
        assert found[at : at + len(words(shown))] == words(shown)


# --- adding_a_rule.md ---


def test_the_rules_of_the_example_are_found_and_it_prints_what_it_shows(tmp_path, monkeypatch):
    from s2s.rules import table

    table.find(np.sin)  # so that what is registered goes to the copy
    table.extend()  # what is registered while the copy stands in is gone with it
    monkeypatch.setattr(table, "_rules", dict(table._rules))
    monkeypatch.setattr(table, "FOREIGN", [])
    monkeypatch.delenv("S2S_RECORDED")
    text = ADDING_A_RULE.read_text(encoding="utf-8")
    file = tmp_path / "adding_a_rule.py"
    file.write_text(as_module(text), encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(file), run_name="adding_a_rule")
    shown = "".join(code for _, code in fenced(text, "text"))
    assert words(without_paths(printed.getvalue())) == words(shown)
    for rule in [table.find(names[n]) for n in ("smooth_step", "reversed_sums", "solve_diagonal")]:
        for sample in rule.samples:
            check_sample(rule, sample)


def check_sample(rule, sample):
    """The samples of the example, by the tests that run those of the rules of s2s itself."""
    from tests.rules.cases import Case, pair

    case = Case(rule, sample)
    change, width = case.difference()
    assert case.reverse() == pytest.approx(pair(case.y_bar, change) / width, rel=1e-6)
    assert pair(case.y_bar, case.tangent()) == pytest.approx(case.reverse(), rel=1e-9)


# --- functions.md ---


def documented(text):
    """The rows of the tables: the lines by the name of the function with its module."""
    owner, rows = "", {}
    for line in text.splitlines():
        if line.startswith("## "):
            owner = line.removeprefix("## ")
        elif line.startswith("| `"):
            rows.setdefault(f"{owner}.{line.split('`')[1]}", []).append(line)
    return rows


def exists(name):
    """Whether this installation has a function: other versions of NumPy and SciPy have more or fewer."""
    module, _, attribute = name.rpartition(".")
    with contextlib.suppress(ImportError):
        return hasattr(__import__(module, fromlist=["_"]), attribute)
    return True


def test_functions_lists_the_rules(rewrite):
    import s2s
    from s2s.listing import as_markdown

    text = FUNCTIONS.read_text(encoding="utf-8")
    made = as_markdown(s2s.functions())
    if rewrite:
        FUNCTIONS.write_text(text[: text.index("\n## ")] + made, encoding="utf-8")
        return
    shown, found = documented(text), documented(made)
    assert all(shown.get(name) == lines for name, lines in found.items())
    assert not [name for name in shown if name not in found and exists(name)]


# --- language.md ---


def language_examples():
    """Each Python block of language.md; those after "What the compiler refuses" must be refused, those after
    "Calls that are recorded" may be recorded."""
    text = LANGUAGE.read_text(encoding="utf-8").partition(f"\n{TITLE}\n")[0]  # the rows have tests of their own
    supported, refused = text.split("\n## What the compiler refuses\n")
    above = supported.count("\n") + 2
    compiled = supported.split("\n## Calls that are recorded\n")[0].count("\n")
    for start, code in fenced(supported, "python"):
        is_recorded = start > compiled
        yield pytest.param(start, code, False, is_recorded, id=f"{'recorded_' * is_recorded}line_{start}")
    for start, code in fenced(refused, "python"):
        yield pytest.param(start + above, code, True, False, id=f"refused_line_{start + above}")


def test_the_rows_of_the_language_page_are_the_examples_that_the_tests_run(rewrite):
    above, title, shown = LANGUAGE.read_text(encoding="utf-8").partition(f"{TITLE}\n")
    if rewrite:
        LANGUAGE.write_text(above.rstrip() + "\n\n" + page(), encoding="utf-8")
    else:
        assert title + shown == page()


def load(start, code, tmp_path):
    """The functions of an example whose names begin with "f", from a file, so that they have source."""
    file = tmp_path / f"language_{start}.py"
    file.write_text("import math\n\nimport numpy as np\n\nimport s2s\n\n\n" + code, encoding="utf-8")
    module = types.ModuleType(file.stem)
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
    found = [v for k, v in vars(module).items() if re.fullmatch(r"f\d?", k)]
    assert found, "an example defines f, or f1, f2, ..."
    return module, found


ARRAY = np.array([0.4, -1.2, 0.9, 2.3])


def argument_for(function):
    """A float for a parameter annotated float or not at all, an array for one annotated np.ndarray."""
    kind = next(iter(getattr(function, "__annotations__", {}).items()), (None, None))
    return ARRAY.copy() if kind[0] != "return" and kind[1] is np.ndarray else 0.7


def central_difference(function, x, h=1e-6):
    if np.ndim(x) == 0:
        return (function(x + h) - function(x - h)) / (2 * h)
    steps = h * np.eye(x.size)
    return np.array([(function(x + step) - function(x - step)) / (2 * h) for step in steps])


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(("start", "code", "is_refused", "is_recorded"), list(language_examples()))
def test_language_example(start, code, is_refused, is_recorded, tmp_path, monkeypatch):
    import s2s
    import s2s.errors

    if is_recorded:
        monkeypatch.setenv("S2S_RECORDED", "1")
    module, functions = load(start, code, tmp_path)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for function in functions:
        x = argument_for(function)
        if is_refused:
            with pytest.raises(s2s.errors.DifferentiationError):
                s2s.grad(function)(x)
        else:
            gradient = s2s.grad(function)(x)
            np.testing.assert_allclose(gradient, central_difference(function, x), rtol=1e-6, atol=1e-7)
            if is_recorded:
                along = s2s.jvp(function, (x,), (1.0 + x,))[1]
                np.testing.assert_allclose(along, np.sum(gradient * (1.0 + x)), rtol=1e-9)


def failures(page, start, code, names):
    """The number of examples of a session that print something else than the page shows."""
    names["__name__"] = "session"
    test = doctest.DocTestParser().get_doctest(code, names, f"{page.name}[{start}]", str(page), start)
    found = doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
    names.update(test.globs)
    return found.failed


def test_the_sessions_of_the_language_page_print_what_they_show(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED")
    sessions = fenced(LANGUAGE.read_text(encoding="utf-8"), "pycon")
    assert sessions
    for start, code in sessions:
        assert failures(LANGUAGE, start, code, {}) == 0


# --- optim.md, scipy.md, interop.md, arrays.md ---


@pytest.mark.parametrize(
    ("page", "modules"), [
        (OPTIM, ()), (SCIPY, ("scipy",)), (INTEROP, ("jax", "torch")), (ARRAYS, ("dask.array",)),
    ],
    ids=lambda value: value.stem if hasattr(value, "stem") else "")
def test_the_sessions_of_a_page_print_what_they_show(page, modules):
    """They are one session: each goes on with the names of those before."""
    for module in modules:
        pytest.importorskip(module)
    names = {}
    sessions = fenced(page.read_text(encoding="utf-8"), "pycon")
    assert sessions
    with without_cluster() if page is ARRAYS else contextlib.nullcontext():
        for start, code in sessions:
            assert failures(page, start, code, names) == 0


def without_cluster():
    """As a context: Dask computes in this process, whatever clients other tests have left in its configuration."""
    import dask

    return dask.config.set(scheduler="threads")


# --- distributed.md ---


def test_the_sessions_of_the_page_about_data_in_parts_print_what_they_show():
    """They are one session: each goes on with the names of those before."""
    names = {}
    sessions = fenced(DISTRIBUTED.read_text(encoding="utf-8"), "pycon")
    assert len(sessions) > 4
    for start, code in sessions:
        assert failures(DISTRIBUTED, start, code, names) == 0


# --- choices.md ---


def test_the_sessions_of_the_choices_are_true():
    names = {}
    sessions = fenced(CHOICES.read_text(encoding="utf-8"), "pycon")
    assert len(sessions) == 9
    for start, code in sessions:
        assert failures(CHOICES, start, code, names) == 0


# --- custom.md ---


@pytest.mark.slow
def test_the_sessions_about_custom_rules_are_true():
    names = {}
    sessions = fenced(CUSTOM.read_text(encoding="utf-8"), "pycon")
    assert len(sessions) == 9
    for start, code in sessions:
        assert failures(CUSTOM, start, code, names) == 0


def program(page, word, folder, monkeypatch):
    """What the Python block of a page that has a word prints, run as a file of its own; and what the page shows."""
    text = page.read_text(encoding="utf-8")
    start, code = next(block for block in fenced(text, "python") if word in block[1])
    file = folder / "program_of_page.py"
    file.write_text(code, encoding="utf-8")
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.setenv("S2S_CACHE_DIR", str(folder))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(file), run_name="program_of_page")
    return printed.getvalue(), next(shown for line, shown in fenced(text, "text") if line > start)


def test_the_program_that_was_written_for_autograd_runs(tmp_path, monkeypatch):
    pytest.importorskip("autograd")
    printed, shown = program(CUSTOM, "autograd", tmp_path, monkeypatch)
    assert printed == shown


# --- debugging.md ---


def test_the_profiler_times_the_lines_that_the_page_shows(tmp_path, monkeypatch):
    pytest.importorskip("line_profiler")
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))  # the profiler empties it
    printed, shown = program(DEBUGGING, "LineProfiler", tmp_path, monkeypatch)
    found = printed.splitlines()
    for line in shown.splitlines()[2:]:
        number = line.split()[0]
        code = line[48:].strip()
        assert any(row.split()[:1] == [number] and row.endswith(code) for row in found), line


def test_the_sessions_about_debugging_are_true():
    names = {}
    sessions = fenced(DEBUGGING.read_text(encoding="utf-8"), "pycon")
    assert sessions
    for start, code in sessions:
        assert failures(DEBUGGING, start, code, names) == 0


# --- questions.md ---


def test_the_page_of_questions_is_made_of_the_examples(rewrite):
    pytest.importorskip("sklearn", reason="some of the examples need scikit-learn")
    sys.path.insert(0, str(ROOT / "examples" / "questions"))
    try:
        made = __import__("page").page()
    finally:
        sys.path.remove(str(ROOT / "examples" / "questions"))
    if rewrite:
        QUESTIONS.write_text(made, encoding="utf-8")
    assert made == QUESTIONS.read_text(encoding="utf-8")


# --- README.md ---


def printed_by(name, folder):
    """What the block above a generated one prints, run as a file of that name."""
    text = README.read_text(encoding="utf-8")
    code = fenced(text.partition(f"<!-- generated: {name} -->")[0], "python")[-1][1]
    file = folder / f"{name}.py"
    file.write_text(code, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(file), run_name=name)
    return printed.getvalue()


# What stands in the README between "<!-- generated: NAME -->" and "<!-- end -->".
GENERATED = ("softmax", "newton")


def shown_in_readme(text, name):
    before, after = rf"<!-- generated: {name} -->\n```python\n", r"```\n<!-- end -->"
    return re.search(rf"(?<={before}).*?(?={after})", text, re.DOTALL)


def without_paths(source):
    """Generated source names the user's file: shown by its last part only."""
    return re.sub(rf"[^\s(\"']*{re.escape(os.sep)}(?=\w+\.py)", "", source).strip() + "\n"


@pytest.mark.parametrize("name", GENERATED)
def test_readme_shows_what_its_programs_print(name, rewrite, tmp_path):
    generated = without_paths(printed_by(name, tmp_path))
    text = README.read_text(encoding="utf-8")
    place = shown_in_readme(text, name)
    if rewrite:
        README.write_text(text[: place.start()] + generated + text[place.end() :], encoding="utf-8")
    else:
        assert place.group() == generated


def test_readme_marks_all_generated_source():
    assert set(re.findall(r"<!-- generated: (\w+) -->", README.read_text(encoding="utf-8"))) == set(GENERATED)


def test_readme_shows_the_functions_of_the_examples():
    """The functions that the README shows are those of the examples, word for word."""
    text = README.read_text(encoding="utf-8")
    functions = {}
    for file in (ROOT / "examples").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = ast.unparse(node)
    shown = [
        node
        for _, code in fenced(text, "python")
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef) and not node.name.endswith("_grad")
    ]
    assert {node.name for node in shown} >= {"loss", "newton_sqrt"}
    for node in shown:
        assert ast.unparse(node) == functions[node.name]


def test_the_readme_counts_as_the_benchmark_does():
    speed = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    counts = [tuple(map(int, pair)) for pair in re.findall(r"^Faster than JAX in (\d+) of (\d+) cases", speed, re.M)]
    faster, cases = map(sum, zip(*counts, strict=True))
    assert f"faster than JAX in {faster} of the {cases} cases" in README.read_text(encoding="utf-8")


def test_ci_runs_the_commands_of_the_readme():
    commands = [code.strip() for _, code in fenced(README.read_text(encoding="utf-8"), "bash")]
    ci_lines = [line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
    assert len(commands) == 2
    for command in commands:
        assert command in ci_lines


# --- architecture.md ---

DESIGN = ROOT / "docs" / "design"
ARCHITECTURE = DESIGN / "architecture.md"


def defined(node, name):
    """Whether a module or class defines ``name``, or ``Class.method``."""
    first, _, rest = name.partition(".")
    found = [n for n in ast.walk(node) if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == first]
    return any(not rest or defined(n, rest) for n in found)


def test_documents_name_files_and_functions_that_exist():
    others = ("CONTRIBUTING.md", "docs/reliability.md", "docs/adding_a_rule.md", "tests/README.md")
    for document in [*DESIGN.glob("*.md"), *(ROOT / name for name in others)]:
        for file, name in re.findall(r"`([\w/]+\.py)(?::([\w.]+))?`", document.read_text(encoding="utf-8")):
            shown = f"{document.name}: {file}:{name}"
            folders = (ROOT / "s2s", ROOT, document.parent)
            path = next((folder / file for folder in folders if (folder / file).exists()), None)
            assert path is not None, shown
            assert not name or defined(ast.parse(path.read_text(encoding="utf-8")), name), shown


def test_the_architecture_names_the_modules_that_there_are():
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("\n## Where the parts are\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.M)
    public = {"cli", "distributed", "interop", "optim", "scipy"}
    packages = {folder.parent.name for folder in (ROOT / "s2s").glob("*/__init__.py")} - public
    assert {package for package, _ in rows} == packages
    for package, modules in rows:
        folder = ROOT / "s2s" / package
        for name in re.findall(r"(?<!\[)`(\w+)/?`", modules):
            assert any(folder.rglob(f"{name}.py")) or (folder / name).is_dir(), f"{package}: {name}"


def test_the_architecture_shows_the_gradient_of_its_example(rewrite, tmp_path):
    text = ARCHITECTURE.read_text(encoding="utf-8")
    (_, primal), (_, shown) = fenced(text, "python")
    file = tmp_path / "model.py"
    file.write_text("import numpy as np\n\n" + primal, encoding="utf-8")
    loss = runpy.run_path(str(file), run_name="model")["loss"]
    W, x = np.array([[0.5, 0.1], [-0.2, 0.4]]), np.array([1.0, 2.0])
    generated = without_paths(s2s.source(loss, W, x, 2, argnums="W")).strip() + "\n"
    if rewrite:
        ARCHITECTURE.write_text(text.replace(shown, generated), encoding="utf-8")
    else:
        assert shown == generated


def test_links_between_documents_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        text = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.relative_to(ROOT)}: {target}"


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("part", range(6))
def test_public_functions_have_examples_that_run(part):
    functions = [(name, f) for name in sorted(s2s.__all__) if inspect.isfunction(f := getattr(s2s, name))]
    for name, function in functions[part::6]:
        examples = doctest.DocTestFinder(recurse=False).find(function, name, globs={"s2s": s2s})
        assert any(test.examples for test in examples), f"s2s.{name} shows no example"
        for test in examples:
            assert doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
