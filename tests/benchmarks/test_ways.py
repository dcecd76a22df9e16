"""The programs of which the documents say what a call costs have their gradients in the ways that are said."""

import re

import numpy as np
import pytest

import s2s
from benchmarks import rungs
from tests.helpers import ROOT

X = np.array([0.2, 0.7])


@pytest.mark.filterwarnings("ignore::s2s.DerivativeWarning")
@pytest.mark.parametrize("function", rungs.WAYS.values(), ids=lambda function: function.__name__)
def test_a_program_has_its_gradient_in_the_way_that_is_said(function, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    gradient, step = s2s.grad(function), 1e-6
    found = gradient(X, 1, 3)
    differences = [(function(X + e, 1, 3) - function(X - e, 1, 3)) / (2.0 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(found, differences, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(function, (X, 1, 3), (np.ones(2), None, None))[1], found.sum(), rtol=1e-12)
    assert rungs.way_of(gradient) is function


def test_the_page_has_a_row_for_each_way():
    page = (ROOT / "docs" / "costs.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (.*?) \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", page, re.MULTILINE) == [*rungs.WAYS]
