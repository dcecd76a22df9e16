"""What a function asks of the process that it runs in."""

import importlib
import sys

import pytest

import s2s
from s2s.core.linecaches import define

HELPER = '''
SCALE = 2.0


def scaled(x):
    return globals()["SCALE"] * x


def by_another_name(x):
    variables = globals
    return variables().get("SCALE") * x


def of_a_nested_function(x):
    def inner(y):
        return globals()["SCALE"] * y

    return inner(x) * x
'''
SCALE = 100.0


@pytest.fixture
def helper(tmp_path, monkeypatch):
    (tmp_path / "s2s_with_globals.py").write_text(HELPER)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("s2s_with_globals")
    del sys.modules["s2s_with_globals"]


@pytest.mark.parametrize("name, slope", [("scaled", 2.0), ("by_another_name", 2.0), ("of_a_nested_function", 12.0)])
def test_globals_are_those_of_the_module_that_asks(helper, name, slope):
    def loss(x):
        return getattr(helper, name)(x)

    assert s2s.value_and_grad(loss)(3.0) == (loss(3.0), pytest.approx(slope))
    assert s2s.jvp(loss, (3.0,), (1.0,)) == (loss(3.0), pytest.approx(slope))
    helper.SCALE = 4.0
    assert s2s.grad(loss)(3.0) == pytest.approx(2.0 * slope)


def own(x):
    return globals()["SCALE"] * x


def test_globals_of_its_own_module():
    assert s2s.value_and_grad(own)(3.0) == (300.0, 100.0)


OPTIONS = {"single"}
CHOICE = "def f(x, how='double'):\n    return 2.0 * x if how in OPTIONS else x\n"


class Words(set):
    def __contains__(self, word):
        return word in ("double", "triple")


@pytest.mark.parametrize("module", [__name__, "no_such_module"])
@pytest.mark.parametrize("options", [{"double"}, frozenset({"double"}), Words(), ["double"], {"double": 1}], ids=[
    "set", "frozenset", "class", "list", "dict"])
def test_options_are_those_of_the_function(module, options, monkeypatch):
    """The module that its globals name may have others, or be none."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    gradient = s2s.grad(define("f", CHOICE, {"__name__": module, "OPTIONS": options}))
    assert gradient(3.0) == 2.0 and gradient(3.0, "single") == 1.0


def one_of_the_options(x, how):
    return 2.0 * x if how in OPTIONS else x


def test_options_are_asked_anew_where_they_change(monkeypatch):
    gradient = s2s.grad(one_of_the_options)
    assert gradient(3.0, "single") == 2.0 and gradient(3.0, "double") == 1.0 and gradient(3.0, None) == 1.0
    OPTIONS.add("double")
    try:
        assert gradient(3.0, "double") == 2.0 and gradient(3.0, "single") == 2.0
    finally:
        OPTIONS.discard("double")
    assert gradient(3.0, "double") == 1.0
    monkeypatch.setitem(globals(), "OPTIONS", {"double"})
    assert gradient(3.0, "double") == 2.0 and gradient(3.0, "single") == 1.0
