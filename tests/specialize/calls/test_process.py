"""What a function asks of the process that it runs in."""

import importlib
import sys

import pytest

import s2s

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
