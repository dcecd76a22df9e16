"""What may surprise people is told, once, at their lines; what is meant is not."""

import logging
import os
import re
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import s2s
from s2s import notices
from tests.helpers import ROOT
from tests.test_docs import fenced

PAGE = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
CATEGORIES = [kind for kind in map(notices.__dict__.get, notices.__all__) if isinstance(kind, type)]
X = np.array([0.25, 0.75])


@pytest.fixture(autouse=True)
def not_yet_told(monkeypatch):
    monkeypatch.setattr(notices, "_told", set())


def told(work):
    """The categories and the texts of the warnings of s2s that some work gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    own = [w for w in caught if issubclass(w.category, s2s.DerivativeWarning)]
    return [(w.category.__name__, str(w.message), w.lineno) for w in own]


def kinds(work):
    return [kind for kind, _, _ in told(work)]


def test_the_page_has_a_section_for_each_category():
    names = {kind.__name__ for kind in CATEGORIES if issubclass(kind, s2s.DerivativeWarning)} - {"DerivativeWarning"}
    assert names == {*SECTIONS}
    assert all(getattr(s2s, name) is getattr(notices, name) for name in names)


@pytest.mark.parametrize("name", [name for name, text in SECTIONS.items() if "```python" in text])
def test_the_program_of_a_section_is_warned_of(name, tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    (_, code), = fenced(SECTIONS[name], "python")
    file = tmp_path / f"program_{name.lower()}.py"
    file.write_text("import numpy as np\nimport s2s\n" + code)
    found = told(lambda: exec(compile(file.read_text(), str(file), "exec"), {"__name__": file.stem}))
    assert [kind for kind, _, _ in found] == [name]


# --- gradients that are zero ------------------------------------------------------------------------------------------


def of_one(x, y):
    return np.sum(x * x)


def test_an_argument_without_a_path_is_named():
    (_, text, line), = told(lambda: s2s.grad(of_one, argnums=(0, 1))(X, 2.0))
    assert "`y` is zero everywhere" in text
    assert text.endswith("\n  = page: https://github.com/s2s-grad/s2s/blob/main/docs/warnings.md#zerogradientwarning")
    assert line == of_one.__code__.co_firstlineno


def digital(p):
    spot, rate = p
    return np.exp(-rate) * np.mean(spot * np.exp(0.2 * np.arange(-3.0, 4.0)) > 1.0)


def counted(p):
    counts, _ = np.histogram(p[0] * np.arange(9.0), bins=4)
    return np.sum(counts * np.arange(4)) * p[1]


def rounded(p):
    with s2s.nonsmooth("zero"):
        return int(p[0]) * p[1]


@pytest.mark.parametrize("f, line", [(digital, 1), (counted, 1), (rounded, 2)])
def test_an_item_without_a_path_is_named(f, line):
    (_, text, found), = told(lambda: s2s.grad(f)(np.array([1.5, 0.5])))
    assert "`p[0]` is zero everywhere" in text and found == f.__code__.co_firstlineno + line
    assert s2s.grad(f)(np.array([1.5, 0.5]))[0] == 0.0


@pytest.mark.parametrize("f", [
    lambda p: (p[0] > 1) * p[0] * p[1], lambda p: np.sum(p) if p[0] > 1 else p[1], lambda p: int(p[0]) * p[1],
    lambda p: (lambda t: p[0] * t)(p[1]), lambda p: sum([p[0] * k for k in range(3)]) * p[1],
])
def test_items_with_a_path_are_not_told_of(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.ZeroGradientWarning)
        s2s.grad(f)(np.array([1.5, 0.5]))


@pytest.mark.parametrize("work", [
    lambda: s2s.grad(of_one)(X, 2.0),
    lambda: s2s.grad(of_one, argnums=1, unconnected="none")(X, 2.0),
    lambda: s2s.hessian(lambda x: np.sum(3.0 * x))(X),
    lambda: s2s.grad(lambda p: np.sum(p["used"]))({"used": X, "other": X}),
    lambda: s2s.vjp(of_one, X, 2.0)[1](1.0),
], ids=["not_asked", "none_asked", "second_order", "part_of_a_structure", "pullback"])
def test_zeros_that_surprise_nobody_are_not_told(work):
    assert kinds(work) == []


# --- steps ------------------------------------------------------------------------------------------------------------


def by_blocks(x):
    with s2s.nonsmooth("zero"):
        return np.sum(np.floor(4.0 * x) * x)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x - np.floor(x)),
    lambda x: np.sum(X[np.floor(x).astype(int)] * x),
    by_blocks,
    s2s.differentiable(lambda x: np.sum(np.floor(4.0 * x) * x), nonsmooth="straight_through"),
], ids=["remainder", "index", "block", "said"])
def test_steps_that_are_decided_are_not_told(f):
    assert kinds(lambda: s2s.grad(f)(X)) == []


# --- loops ------------------------------------------------------------------------------------------------------------


def short(x):
    total = np.float32(0.0)
    for i in range(3):
        total += x[i]
    return total


def in_double(x):
    total = np.float64(0.0)
    for v in x:
        total += v
    return total


@pytest.mark.parametrize("f", [short, in_double])
def test_sums_that_lose_little_are_not_told(f):
    assert kinds(lambda: s2s.grad(f)(np.ones(3, np.float32))) == []


# --- when -------------------------------------------------------------------------------------------------------------


def again(x):
    return np.sum(np.ceil(3.0 * x) * x)


def test_a_place_is_told_of_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for length in (2, 3):
            s2s.grad(again)(np.ones(length))
            s2s.value_and_grad(again)(np.ones(length))
    assert len(caught) == 1


PROGRAM = """
    import numpy as np
    import s2s

    def f(x):
        return np.sum(np.floor(4.0 * x) * x)

    print(s2s.grad(f)(np.ones(3)))
"""


@pytest.mark.slow
def test_what_comes_from_disk_is_told_of_too(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True)
        assert len(re.findall("StraightThroughWarning", run.stderr)) == 1
        assert "program.py:6" in run.stderr


def counted(x, times):
    return np.sum(x) * len(times)


def test_the_compiler_says_what_it_does(caplog):
    caplog.set_level(logging.DEBUG, logger="s2s.compile")
    for times in ("a", "bb"):
        s2s.grad(counted)(X, times)
    first, again, _ = (record.getMessage() for record in caplog.records if "counted" in record.getMessage())
    assert re.match(r"grad of counted \(.*test_notices.py:\d+\): \d+ lines in [\d.]+ s: .*specialize [\d.]+ s", first)
    assert "compiled again, for version 2: `times` is the value 'bb', it was the value 'a'" in again + _


def test_a_long_compilation_is_told_of_with_the_reason(monkeypatch):
    from s2s import pipeline

    monkeypatch.setattr(pipeline, "AFTER", 0.0)
    (kind, text, line), = told(lambda: s2s.grad(lambda x: np.sum(x * x))(X))
    assert kind == "CompileTimeWarning" and "specialize" in text and " lines" in text


def test_a_function_of_numba_on_numpy_is_told_of():
    numba = pytest.importorskip("numba")

    @numba.njit
    def f(x):
        return np.sum(x * x)

    assert kinds(lambda: s2s.grad(s2s.differentiable(f, backend="numpy"))(X)) in (["NumbaLeftOutWarning"], [])
    assert kinds(lambda: s2s.grad(f)(X)) == ["NumbaLeftOutWarning"]  # the tests run with S2S_BACKEND=numpy
    assert s2s.grad(f) is s2s.grad(f)


def test_a_dynamic_call_is_told_by_its_name():
    table = {0.5: np.ones(2), 1.5: np.zeros(2)}

    def loss(x):
        total = 0.0
        for key in np.array([0.5, 1.5]):
            total += np.sum((x - table[key]).ravel() ** 2)
        return total

    with pytest.warns(s2s.DynamicCallWarning, match="a loop calls the method `ravel`, which is known only when"):
        s2s.grad(loss)(np.ones(2))
