"""Options that a rule does not read: those that choose the function are drawn, and held against differences in both
modes; those that are said to change the form of the result at most do not change its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special

import s2s
from s2s.rules import table
from s2s.rules.samples import Sample
from s2s.rules.table import HARMLESS, RULES, Rule
from tests.rules.cases import Case, draws, tree
from tests.rules.test_dropped_values import weighed, with_values
from tests.rules.test_linalg import by_differences

table.extend()
RNG = np.random.default_rng(11)
TALL, SQUARE, B = with_values(4, 3), with_values(4, 4), RNG.normal(size=4)
LINE = np.array([0.1, 3.0, 6.5, 8.9, 12.4])
PLACES = np.array([0.3, 0.5])

CALLS: dict[tuple[str, str], tuple[Callable[..., Any], Any, list[Any]]] = {
    ("numpy.linalg.eigh", "UPLO"): (lambda a, *o: np.linalg.eigh(a, *o)[0], SQUARE, ["U"]),
    ("numpy.linalg.pinv", "rcond"): (lambda a, *o: np.linalg.pinv(a, *o), TALL, [0.3, 0.8]),
    ("numpy.linalg.pinv", "rtol"): (lambda a, *o: np.linalg.pinv(a, rtol=o[0] if o else None), TALL, [0.3, 0.8]),
    ("numpy.linalg.lstsq", "rcond"): (lambda a, *o: np.linalg.lstsq(a, B, *o)[0], TALL, [0.3, 0.8]),
    ("numpy.real_if_close", "tol"): (lambda x, *o: np.real_if_close(x * (1.0 + 1e-12j), *o), LINE, [1e6]),
    ("numpy.unwrap", "discont"): (lambda x, *o: np.unwrap(x, *o), LINE, [7.0, 3.55]),
    ("numpy.unwrap", "axis"): (
        lambda x, *o: np.unwrap(x, axis=o[0] if o else -1), np.reshape([0.1, 3.0, 6.5, 12.4], (2, 2)), [0]),
    ("numpy.where", "condition"): (lambda x, *o: np.where(o[0] if o else True, x, x**2), LINE, [False, LINE > 4.0]),
    ("numpy.delete", "obj"): (lambda x, *o: np.delete(x, *(o or (0,))), LINE, [1, [2, 3], slice(1, 3)]),
    ("numpy.split", "indices_or_sections"): (lambda x, *o: np.split(x, *(o or ([1],)))[0], LINE, [[2], [3, 4]]),
    ("numpy.array_split", "indices_or_sections"): (lambda x, *o: np.array_split(x, *(o or (1,)))[0], LINE, [2, [3]]),
    ("scipy.linalg.ldl", "lower"): (lambda a, *o: scipy.linalg.ldl(a @ a.T, *o)[1], SQUARE, [False]),
    ("scipy.linalg.pinv", "atol"): (lambda a, *o: scipy.linalg.pinv(a, atol=o[0] if o else None), TALL, [0.5, 1.5]),
    ("scipy.linalg.pinv", "rtol"): (lambda a, *o: scipy.linalg.pinv(a, rtol=o[0] if o else None), TALL, [0.3, 0.8]),
    ("scipy.linalg.lstsq", "cond"): (lambda a, *o: scipy.linalg.lstsq(a, B, *o)[0], TALL, [0.3, 0.8]),
    ("scipy.linalg.null_space", "rcond"): (lambda a, *o: scipy.linalg.null_space(a, *o) ** 2, TALL, [0.3]),
    ("scipy.linalg.schur", "sort"): (
        lambda a, *o: np.diag(scipy.linalg.schur(a + a.T, sort=o[0] if o else None)[0]), SQUARE, ["lhp", "rhp"]),
    ("scipy.special.lambertw", "k"): (lambda x, *o: scipy.special.lambertw(x, *o), PLACES, [-1, 2]),
}
"""A function of an array and of an option, the array, and values of the option that change the result."""

ELSEWHERE = {
    ("scipy.linalg.ldl", "hermitian"): "of complex matrices, which are refused",
    ("scipy.linalg.schur", "output"): "the complex form is refused",
}
POINTS = [
    pytest.param(f, x, value, id=f"{name}, {option}={value}".replace("\n", ""))
    for (name, option), (f, x, values) in CALLS.items() for value in values
]


def test_every_option_that_decides_has_values() -> None:
    decided = {(rule.name, name) for rule in RULES.values() for name in rule.decides & rule.params.parameters.keys()}
    assert decided == CALLS.keys() | ELSEWHERE.keys()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f, x, value", POINTS)
def test_derivatives(f: Callable[..., Any], x: Any, value: Any) -> None:
    plain, chosen = np.asarray(f(x)), np.asarray(f(x, value))
    assert plain.shape != chosen.shape or plain.dtype != chosen.dtype or not np.allclose(plain, chosen)

    def number(x: Any) -> Any:
        return weighed(f(x, value))

    d = RNG.normal(size=x.shape)
    d = d + d.T if x.shape == (4, 4) else d  # of a symmetric matrix one triangle is read
    expected = by_differences(number, x, d)
    np.testing.assert_allclose(np.sum(s2s.grad(number)(x) * d), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(number, (x,), (d,))[1], expected, rtol=1e-6, atol=1e-8)


# --- options of the form of the result --------------------------------------------------------------------------------

FORMS: dict[str, list[Any]] = {
    "dtype": [np.float64, np.float32], "full_matrices": [False, True], "requirements": ["C", "F"],
    "writeable": [True], "sparse": [True], "keepdims": [True], "sorted": [False],
    "lapack_driver": ["gesdd", "gelsd", "gelss"], "driver": ["ev", "evd", "evr"], "lwork": [200],
    "overwrite_a": [True], "overwrite_b": [True], "overwrite_data": [True], "method": ["direct", "fft", "bilinear"],
    "tol": [1e-10], "axis": [None],
}
"""Values of options; singular vectors by another driver have other signs."""
OF_FORM = [
    pytest.param(rule, name, id=f"{rule.name}, {name}") for rule in RULES.values()
    if not str(getattr(rule.fn, "__module__", "")).startswith("s2s.")
    for name in sorted((rule.harmless - HARMLESS) & rule.params.parameters.keys() & FORMS.keys())
    if rule.params.parameters[name].default is not rule.params.empty
    if rule.samples and rule.fn is not scipy.linalg.svd
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule, name", OF_FORM)
def test_options_of_the_form_do_not_change_the_numbers(rule: Rule, name: str) -> None:
    compared = 0
    for sample in rule.samples:
        if name == "dtype" and any(one.complex for one in draws([*sample.args, *sample.kwargs.values()])):
            continue  # an imaginary part is discarded
        for value in FORMS[name]:
            try:
                made = tree(Case(rule, Sample(sample.args, {**sample.kwargs, name: value})).y)
            except (TypeError, ValueError):  # it is given by position, or is not for these arguments
                continue
            for a, b in zip(tree(Case(rule, sample).y), made, strict=True):
                if np.size(a) == np.size(b):
                    np.testing.assert_allclose(np.ravel(b), np.ravel(a), rtol=1e-4, atol=1e-5)
                    compared += 1
    assert compared or rule.fn is np.require  # which has them by position
