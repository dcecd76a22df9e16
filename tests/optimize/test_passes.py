"""What each pass makes of a program, in files: its source, the IR before the pass, the IR after it. Both are run.

``pytest tests/optimize/test_passes.py --rewrite`` writes the IR anew.
"""

import importlib.util
import itertools
import linecache
import pathlib

import numpy as np
import pytest

import s2s
from s2s import pipeline
from s2s.core.show import show
from s2s.optimize import chains, passes
from s2s.validation import validate
from tests.arrays import standin
from tests.bank import CASES
from tests.helpers import assert_same_without
from tests.validation.checked import checked

FILES = sorted((pathlib.Path(__file__).parent / "golden").glob("*.txt"))
CHECKS = {"versions", "rebinding", "severed", "remembered", "searches", "surprises", "unconnected"}
"""Passes that refuse, let the code refuse when it runs, or tell of something."""


def load(text, count=itertools.count()):
    """The function ``f`` of a program's text, with its source where s2s finds it."""
    name, scope = f"<program {next(count)}>", {"np": np, "s2s": s2s, "__name__": __name__}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def stages_of(f, args, mode, monkeypatch):
    """The stages of compiling a derivative with respect to the first argument, each run beside the one before it."""
    seen, original = [], validate.check
    monkeypatch.setattr(validate, "check", lambda made, **rest: [seen.append(made), original(made, **rest)][1])
    (report,) = checked(f, args, mode, 0)
    assert not report.remarks and "emit" in report.checked
    return seen[0].stages.passed


def before_and_after(name, f, args, mode, monkeypatch):
    """The IR before a pass and after it, the first time that it changes something. Loops stay loops, which most passes
    are about."""
    if name != "whole-loops":
        monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    if name == "chains":  # as if for arrays of another module: those of NumPy can be validated
        for module in (pipeline, chains):
            monkeypatch.setattr(module, "compiled_for", lambda: standin.ndarray)
    if name in passes.IN_SWEEPS:
        after = named("cotangents", stages_of(f, args, mode, monkeypatch)).after
        monkeypatch.setenv("S2S_PASSES", f"-whole-loops,-{name}")
        return named("cotangents", stages_of(f, args, mode, monkeypatch)).after, after
    stage = named(name, stages_of(f, args, mode, monkeypatch))
    return stage.before, stage.after


def named(name, stages):
    found = [stage for stage in stages if stage.name == name]
    return next((stage for stage in found if show(stage.before) != show(stage.after)), found[0])


def program_in(path):
    """The function, the arguments and the mode of a file, its text, and the IR that it shows."""
    program, *written = path.read_text().split("\n--- ")
    head, source = program.split("\n\n", 1)
    options = dict(line.split(": ", 1) for line in head.splitlines())
    given = {"backend": options.get("backend", "numpy")} | ({"parallel": True} if "parallel" in options else {})
    f = s2s.differentiable(load(source), **given)
    return f, eval(options["arguments"], {"np": np}), options["mode"], program, written


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_pass(path, rewrite, monkeypatch):
    f, args, mode, program, written = program_in(path)
    before, after = before_and_after(path.stem, f, args, mode, monkeypatch)
    shown = [f"before\n{show(before)}", f"after\n{show(after)}"]
    if rewrite:
        path.write_text("\n--- ".join([program.rstrip("\n") + "\n", *shown]))
    else:
        assert written == shown


def test_every_pass_has_a_file_in_which_it_changes_something():
    after = (*passes.IN_THREADS, *passes.IN_BLOCKS, *passes.IN_CHAINS)
    of_functions = (passes.WHOLE_LOOPS, *passes.SIMPLIFICATIONS, *after)
    every = {one.name for one in (*pipeline.PRIMAL, *pipeline.CHANGING, *of_functions)} | {*passes.IN_SWEEPS}
    assert {path.stem for path in FILES} == every - CHECKS
    for path in FILES:
        _, before, after = path.read_text().split("\n--- ")
        assert before.partition("\n")[2].strip() != after.partition("\n")[2].strip(), path.stem


# --- passes that are switched off -------------------------------------------------------------------------------------

SAMPLES = """
calls.helper_with_two_results containers.tuple_result
guarded.cholesky_or_squares idioms.shape_is_seen_by_all_names kinds.transposed_argument
loops.fibonacci_swap loops.range_stop loops.reversed_range numpy_more.log_determinant objects.object_in_a_global
rounding.integer_used_as_count saved.active_in_one_branch_only saved.linear_then_non_linear saved.overwritten_in_loop
scopes.closure_over_arrays settled.part_of_a_buffer_in_a_tuple subscripts.rows_of_a_list_kept_while_they_change
subscripts.slices_of_three
""".split()
"""Cases of the bank in which passes change something; ``test_language`` runs all of them without any optional pass."""


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name in ("loops", "threads") else ())
    for name in sorted(passes.OPTIONAL)])
def test_a_program_is_differentiated_without_one_pass(name, monkeypatch):
    (path,) = (path for path in FILES if path.stem == name)
    f, args, *_ = program_in(path)
    wanted, tangent = s2s.grad(f)(*args), s2s.jvp(f, args, (args[0], *(None for _ in args[1:])))[1]
    monkeypatch.setenv("S2S_PASSES", f"-{name}")
    np.testing.assert_allclose(s2s.grad(f)(*args), wanted, rtol=1e-12)
    np.testing.assert_allclose(np.sum(args[0] * wanted), tangent, rtol=1e-12)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("case", [case for case in CASES if case.name in SAMPLES], ids=lambda case: case.name)
def test_the_bank_is_differentiated_without_each_pass(case, monkeypatch):
    for name in passes.OPTIONAL:
        assert_same_without(case, f"-{name}", monkeypatch)


def test_a_name_that_is_no_pass(monkeypatch):
    monkeypatch.setenv("S2S_PASSES", "-hoist, -unroll,sink")
    with pytest.warns(RuntimeWarning, match="has -unroll, sink, which stand for no .* known are -accumulate"):
        s2s.source(lambda x: x * x, 2.0)


def test_a_version_is_for_one_setting_on_disk_too(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path))
    f, args, *_ = program_in(next(path for path in FILES if path.stem == "dead-code"))
    whole = tmp_path / "programs.py"
    whole.write_text("import numpy as np\n\n\ndef f(x):\n    y = np.sin(x)\n    return y * y + 3.0\n")
    texts = {}
    for setting in ("", "-dead-code", "-dead-code,-sink", "-sink,-dead-code", ""):
        monkeypatch.setenv("S2S_PASSES", setting)
        spec = importlib.util.spec_from_file_location("programs", whole)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)  # a function of its own: what is found is found on disk
        texts.setdefault(setting, set()).add(s2s.source(module.f, *args))
    assert all(len(found) == 1 for found in texts.values())
    assert texts[""].isdisjoint(texts["-dead-code"])
    assert len([path for path in tmp_path.iterdir() if path != whole and path.suffix == ".py"]) == 3


def test_the_documents_list_the_optional_passes():
    rows = [f"| `{name}` | {about} |" for name, about in passes.OPTIONAL.items()]
    text = (pathlib.Path(__file__).parents[2] / "docs" / "language.md").read_text().replace("`", "")
    assert [row for row in rows if row.replace("`", "") not in text] == []
