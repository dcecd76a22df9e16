"""What a person sees of an exception that comes out of s2s: the own call, the message, the own line."""

import os
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest
import scipy.special

import s2s
from tests.helpers import ROOT


def out_of_range(x):
    y = x * 2.0
    return np.sum(y[7] * y)


def out_of_range_of_none(x):
    return x * 2.0


def many_values(x):
    yield x


async def later(x):
    return x


def asks_inside():
    return s2s.grad(many_values)(1.0)


def calls_one_that_asks(x):
    return x * asks_inside()


def shown(work, kind):
    """The names of the functions in the traceback, without those of the test, and the exception."""
    with pytest.raises(kind) as caught:
        work()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [frame for frame in frames if frame.name not in ("shown", "<lambda>") and "raises" not in frame.name]
    return own, caught.value


CALLS = {
    "grad": lambda: s2s.grad(many_values)(2.0),
    "value_and_grad": lambda: s2s.value_and_grad(many_values)(2.0),
    "vjp": lambda: s2s.vjp(many_values, 2.0),
    "jvp": lambda: s2s.jvp(many_values, (2.0,), (1.0,)),
    "hessian": lambda: s2s.hessian(many_values)(2.0),
    "jacrev": lambda: s2s.jacrev(many_values)(2.0),
    "argnums": lambda: s2s.grad(out_of_range, argnums="nothing"),
    "map": lambda: s2s.map(many_values, (0, 0, 0))(np.ones(3)),
    "source": lambda: s2s.source(out_of_range, np.ones(3), mode="nothing"),
    "check_grads": lambda: s2s.check_grads(many_values, (2.0,)),
    "pullback": lambda: s2s.vjp(out_of_range_of_none, np.ones(3))[1](np.ones(4)),
    "differentiable": lambda: s2s.differentiable(backend="nothing"),
    "options of a decorator": lambda: s2s.differentiable(backend="numpy")(3),
    "without source": lambda: s2s.grad(len)([1.0]),
}


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_shows_the_call_and_no_frame_of_s2s(name):
    frames, _ = shown(CALLS[name], s2s.errors.DifferentiationError)
    assert frames == []


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_the_functions_of_the_user_between_the_call_and_a_refusal_stay():
    frames, _ = shown(lambda: s2s.grad(calls_one_that_asks)(2.0), s2s.errors.DifferentiationError)
    assert [frame.name for frame in frames] == ["asks_inside"]


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.value_and_grad, lambda f: lambda x: s2s.vjp(f, x)])
def test_an_error_of_generated_code_shows_its_line_and_that_of_the_user(derivative):
    frames, problem = shown(lambda: derivative(out_of_range)(np.ones(3)), IndexError)
    assert len(frames) == 1
    assert frames[0].name.startswith("out_of_range_")
    assert "y[7]" in frames[0].line
    first = out_of_range.__code__.co_firstlineno
    assert problem.__notes__ == [
        f'which comes from\n  File "{__file__}", line {first + 2}\n    return np.sum(y[7] * y)'
    ]


def test_what_is_being_handled_when_a_refusal_comes_is_shown_with_it():
    try:
        try:
            raise KeyError("of the user")
        except KeyError:
            s2s.grad(out_of_range, argnums="nothing")
    except s2s.errors.DifferentiationError as problem:
        assert isinstance(problem.__context__, KeyError)
        assert problem.__context__.__traceback__ is not None
    else:
        pytest.fail("it is refused")


PROGRAM = """
    import numpy as np
    import s2s

    def f(x):
        return np.sum(x[9] * x)

    s2s.grad(f, argnums={argnums})(np.ones(3))
"""


def run(tmp_path, argnums, **environment):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM.format(argnums=argnums)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment).stderr


def test_the_setting_shows_all_frames(tmp_path):
    short, full = (run(tmp_path, "'nothing'", **given) for given in ({}, {"S2S_TRACEBACK": "full"}))
    assert "[S2S502]" in short and "derivatives.py" not in short
    assert "[S2S502]" in full and "derivatives.py" in full


@pytest.mark.parametrize("times", [1, 2])
def test_the_line_of_the_user_is_shown_for_code_from_disk_too(tmp_path, times):
    for _ in range(times):
        printed = run(tmp_path, 0, S2S_CACHE="1", S2S_CACHE_DIR=str(tmp_path / "cache"))
    assert 'program.py", line 6\n    return np.sum(x[9] * x)' in printed
    assert "dispatch" not in printed
    assert any((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("call", [lambda: s2s.grad(out_of_range, wrt="x"), lambda: s2s.vjp()])
def test_arguments_that_a_public_function_does_not_take_show_the_call_only(call):
    frames, _ = shown(call, TypeError)
    assert frames == []


def of_a_list(x):
    return np.sum(x * x)


def test_what_the_program_itself_does_wrong_ends_in_its_own_line(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    frames, _ = shown(lambda: s2s.grad(of_a_list)([1.0, 2.0]), TypeError)
    assert frames[-1].name == "of_a_list" and "x * x" in frames[-1].line


def by_order(x):
    return 2.0 * scipy.special.wright_bessel(1.0, x, 2.0)


@pytest.mark.parametrize(("f", "code"), [(by_order, "S2S202"), (many_values, "S2S103"), (later, "S2S102")])
def test_one_refusal_is_shown_with_the_line_of_the_user(monkeypatch, f, code):
    monkeypatch.setenv("S2S_RECORDED", "1")
    _, problem = shown(lambda: s2s.grad(f)(1.0), s2s.errors.DifferentiationError)
    printed = "".join(traceback.format_exception(problem))
    assert printed.count(f"[{code}]") == printed.count("[S2S") == 1
    place = problem.diagnostic.span or next(note for note in problem.__notes__ if "comes from" in note)
    assert f.__code__.co_filename in str(place)


def test_a_derivative_by_one_argument_is_named_without_quotes():
    _, problem = shown(lambda: s2s.grad(by_order)(1.0), s2s.errors.NoDerivativeError)
    assert str(problem).startswith("the second argument of scipy.special.wright_bessel has no derivative: the deriv")
