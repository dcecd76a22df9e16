"""Which texts may hold a number that was written: one with all its digits, or more than three of them in a row."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.recorded.state import _may_hold

WRITTEN = {"12345", "75", "204"}


@pytest.mark.parametrize("text, expected", [
    ("12345", True), ("1.2345", True), ("12_345", True), ("at 1.2345e-7", True), ("1234", True), ("2345", True),
    ("0.2345", True), ("1235", False), ("123", False), ("345", False), ("9123459", True), ("a12345", False),
    ("_12345", False), ("75", True), (".75", True), ("7.5", True), ("7", False), ("175", False), ("7512", False),
    ("204", True), ("2040", True), ("3, 75", True), ("no digits", False), ("", False), (b"1", True), (b"", True),
    (bytearray(2), True), (1.5, False), (None, False),
])
def test_texts(text, expected):
    assert _may_hold(text, WRITTEN) is expected
    assert not _may_hold(text, set()) or isinstance(text, (bytes, bytearray))


def test_any_digits_may_be_those_of_a_number_of_unknown_digits():
    assert _may_hold("7", {""}) and not _may_hold("none", {""})


@pytest.mark.parametrize("first, last", [(0, 6), (2, 6), (3, 7)])
def test_four_digits_of_a_number_are_refused(first, last, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")

    def f(x):
        return float(f"{x[0]:.9f}"[first:last]) * x[0]

    with pytest.raises(NoDerivativeError) as caught:
        s2s.grad(f)(np.array([0.123456789]))
    assert caught.value.diagnostic.code == "S2S180"
