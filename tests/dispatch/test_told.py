"""What is told of a derivative that is compiled again: which argument has changed, and how."""

import logging
import warnings

import numpy as np
import pytest

import s2s
from s2s.core.const import Const
from s2s.core.values import Array, Dim, Known, ListOf, Mapping, Same, Scalar, Sequence
from s2s.dispatch import lookup, told
from tests.dispatch.fake_compiler import FakeCompiler, compiled

F8, F4 = np.dtype(float), np.dtype(np.float32)
NUMBER = Scalar(float)


@pytest.fixture
def fake(monkeypatch):
    compiler = FakeCompiler()
    compiler.answers["f"] = lambda function, arguments, request: compiled("f_grad", ", ".join(arguments), "return 0.0")
    monkeypatch.setattr(lookup, "run_compiler", compiler)
    return compiler


@pytest.mark.parametrize("value, text", [
    (Known(Const("a")), "the value 'a'"),
    (Known(Const("a" * 100)), "the value '" + "a" * 49),
    (Array(F8, (Dim("x.0"), Dim("", 3))), "an array of float64 of shape (x.0, 3)"),
    (Array(F4, ()), "an array of float32 of shape ()"),
    (Array(F8, None), "an array of float64 of shape (...)"),
    (NUMBER, "a float"), (Scalar(int), "an int"),
    (Sequence(tuple, (NUMBER, NUMBER)), "a tuple of 2 items"), (Sequence(list, ()), "a list of 0 items"),
    (Mapping(("a", "b", "c"), (NUMBER,) * 3), "a dict of 3 items"),
    (ListOf(NUMBER), "a list of any length"), (Same("y"), "the same object as `y`"),
])
def test_what_is_known_of_an_argument_is_said_in_a_few_words(value, text):
    other = Known(Const(None))
    assert told._difference(("x",), (value,), (other,)) == f"`x` is the value None, it was {text}"
    assert told._difference(("x",), (other,), (value,)) == f"`x` is {text}, it was the value None"
    assert told._difference(("x",), (value,), (value,)).startswith("how large its arguments are has changed, or")


def test_only_arguments_that_have_changed_are_named():
    inner, other = Sequence(tuple, (NUMBER,)), Sequence(tuple, (Scalar(int),))
    before = NUMBER, inner, Scalar(int), NUMBER
    assert told._difference(("a", "b", "c", "d"), before, (NUMBER, other, Scalar(bool), NUMBER)) == (
        "`b` is of another kind; `c` is a bool, it was an int")


def test_the_log_has_each_version_but_the_first_beside_the_one_before(fake, caplog):
    def f(x, mode):
        return x

    caplog.set_level(logging.DEBUG, logger="s2s.compile")
    for x, mode in ((1.0, "a"), (1.0, "b"), (1.0, "a"), (np.ones(2), "b")):
        s2s.grad(f)(x, mode)
    assert [record.getMessage() for record in caplog.records if "again" in record.getMessage()] == [
        "f_grad is compiled again, for version 2: `mode` is the value 'b', it was the value 'a'",
        "f_grad is compiled again, for version 3: `x` is an array of float64 of shape (x.0), it was a float",
    ]


def test_a_warning_comes_with_the_eighth_and_the_sixteenth_version(fake):
    def f(x):
        return x

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for rank in range(1, 18):
            s2s.grad(f)(np.ones((1,) * (rank - 1) + (2,)))
            assert len(found) == (rank >= 8) + (rank >= 16)
    text = str(found[0].message)
    shape, before = "1, " * 7 + "x.7", "1, " * 6 + "x.6"
    assert text.startswith(
        f"`f_grad` is compiled for the 8th time: `x` is an array of float64 of shape ({shape}), "
        f"it was an array of float64 of shape ({before})\n")
    assert {one.category for one in found} == {s2s.RecompilationWarning}
    assert (found[0].filename, found[0].lineno) == (__file__, f.__code__.co_firstlineno)
