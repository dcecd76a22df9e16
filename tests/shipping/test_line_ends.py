"""Sources with characters at which other tools end lines, and Python does not: no comment of them becomes code."""

import importlib.util
import linecache
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from tests.core.test_lines import NO_ENDS

SOURCE = '''import numpy as np
import s2s

GAIN = 3.0  # a value@    GAIN = 5.0


def helper(v):  # a helper@    return 0.0 * v
    """Squares.@    return 0.0 * v"""
    def inner(u):  # nested@        return 0.0
        return u * u
    return GAIN * inner(v)  # times 3@    return 0.0 * v


@s2s.differentiable
def f(x: "f8[:]"):
    # above@    x = x * 50.0
    y = helper(x)  # area@    y = y * 100.0
    z = y * len("a@b")  # three@    z = z * 100.0
    return np.sum(z * z)  # done@    return 0.0


def loss(w, data):
    y = data * w  # scores@    y = y * 100.0
    return np.sum(y * y)
'''
X = np.array([1.0, -2.0, 0.5])
EXPECTED = 4 * 81 * X**3
"""The gradient of the sum of 81 x^4."""


@pytest.fixture(params=NO_ENDS, ids=ascii)
def file(request, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    made = tmp_path / "separated.py"
    made.write_text(SOURCE.replace("@s2s", "\0").replace("@", request.param).replace("\0", "@s2s"), encoding="utf-8")
    yield made
    for name in ("separated", "separated_adjoints"):
        sys.modules.pop(name, None)


def module_of(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    made = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_no_text_that_leaves_has_other_code(file):
    place, plain, alone = f"{file}:f", file.with_name("plain.py"), file.with_name("alone.py")
    run("dump", place, "-o", plain)
    run("dump", place, "--standalone", "-o", alone)
    run("dump", place, "--standalone", "--mode", "jvp", "-o", file.with_name("forward.py"))
    run("build", file)
    for made in (plain, alone, file.with_name("separated_adjoints.py")):
        np.testing.assert_allclose(module_of(made).f_grad(X), EXPECTED)
    value, tangent = module_of(file.with_name("forward.py")).f_jvp(X, np.ones(3))
    np.testing.assert_allclose([value, tangent], [81 * np.sum(X**4), np.sum(EXPECTED)])
    run("insert", file)
    np.testing.assert_allclose(module_of(file).f_grad(X), EXPECTED)


def test_nothing_that_is_sent_has_other_code(file):
    module = module_of(file)
    f = module.f
    np.testing.assert_allclose(s2s.grad(f)(X), EXPECTED)
    np.testing.assert_allclose(s2s.distributed.shipped(s2s.grad(f), X)(X), EXPECTED)
    summed = s2s.distributed.grad(module.loss, over="data")(2.0, [X[:2], X[2:]])
    np.testing.assert_allclose(summed, 4.0 * np.sum(X**2))


def test_generated_text_has_the_same_lines_for_every_reader(file):
    text = s2s.source(module_of(file).f, X)
    assert "z = z * 100.0" in text
    assert text.splitlines() == text.split("\n")[:-1]


@pytest.mark.parametrize("inside", NO_ENDS, ids=ascii)
def test_lines_that_another_tool_has_split_are_put_together(inside, monkeypatch):
    """As doctest does, and programs that tell ``linecache`` their lines."""
    text = "C = 1  # a@b\ndef f(x):  # c@    return 0.0\n    return x * x * x  # d@    return 0.0\n"
    text = text.replace("@", inside)
    name, scope = f"<split at {ord(inside)}>", {}
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
    exec(compile(text, name, "exec"), scope)
    assert s2s.grad(scope["f"])(2.0) == 12.0 and s2s.jvp(scope["f"], (2.0,), (1.0,)) == (8.0, 12.0)
    assert linecache.getline(name, 3).startswith("    return x * x * x")


FORM_FEEDS = {
    "between": "        y = x * x\n\x0c\n        return y * y\n",
    "first": "        y = x * x\n\x0c        return y * y\n",
    "among blanks": "        y = x * x\n    \x0c        return y * y\n",
    "behind a branch": "        y = x * x\n        if x > 9.0:\n            y = 1\n    \x0c        return y * y\n",
    "in a branch": "        y = x * x\n        if x > 0.0:\n  \x0c            y = y * y\n        return y\n",
}


@pytest.mark.parametrize("name", FORM_FEEDS)
def test_a_form_feed_begins_at_the_first_column_again(tmp_path, name):
    """A method is read without its indentation: no statement may move into a branch by that, or out of it."""
    file = tmp_path / "fed.py"
    file.write_text(f"class A:\n  \x0c    def f(self, x):\n{FORM_FEEDS[name]}", encoding="utf-8")
    f = module_of(file).A().f
    expected = (f(3.0 + 1e-20j).imag / 1e-20) if " if " not in FORM_FEEDS[name] else 4 * 3.0**3
    assert s2s.grad(f)(3.0) == pytest.approx(expected, rel=1e-12)
    assert s2s.jvp(f, (3.0,), (1.0,)) == pytest.approx((81.0, expected), rel=1e-12)
