"""Functions that look at frames, their own or that of who calls them: generated code has others."""

import inspect
import sys
import types

import pytest

import s2s

get_frame = sys._getframe


def variable_of_caller():
    return sys._getframe(1).f_locals["factor"]


def name_of_caller():
    return inspect.currentframe().f_back.f_code.co_name


def through_another():
    return inspect.stack()[1].frame.f_locals["factor"]


def own_frame(x):
    factor = 3.0
    return x * sys._getframe().f_locals["factor"] * factor


def own_name(x):
    return x * (3.0 if sys._getframe().f_code.co_name == "own_name" else 5.0)


def by_another_name(x):
    factor = 3.0
    return x * get_frame().f_locals["factor"] * factor


def number_of_variables(x):
    return x * len(inspect.currentframe().f_code.co_varnames)


def of_caller(x):
    factor = 3.0
    return x * variable_of_caller() * factor


def called_by(x):
    return x * (3.0 if name_of_caller() == "called_by" else 5.0)


def of_stack(x):
    factor = 3.0
    return x * through_another() * factor


def of_nested(x):
    factor = 3.0

    def look():
        return sys._getframe(1).f_locals["factor"]

    return x * look() * factor


FUNCTIONS = [own_frame, own_name, by_another_name, number_of_variables, of_caller, called_by, of_stack, of_nested]


@pytest.fixture(params=FUNCTIONS, ids=lambda f: f.__name__)
def f(request):
    """One of the functions, of which nothing is compiled yet."""
    found = request.param
    return types.FunctionType(found.__code__, found.__globals__, found.__name__)


@pytest.mark.parametrize("derive", [s2s.grad, s2s.jacfwd])
def test_a_frame_is_not_read(monkeypatch, derive, f):
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.UnsupportedSyntaxError) as caught:
        derive(f)(2.0)
    assert caught.value.diagnostic.code == "S2S115"


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_recording_is_right_or_refused(monkeypatch, f):
    monkeypatch.setenv("S2S_RECORDED", "1")
    try:
        found = s2s.grad(f)(2.0)
    except s2s.errors.NoDerivativeError:
        return
    assert found == pytest.approx(f(3.0) - f(2.0))  # each is linear
