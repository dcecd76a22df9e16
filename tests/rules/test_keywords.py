"""Every parameter of every function of NumPy that has a rule is exercised, or stands here with the reason why not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules.table import Rule
from tests.rules.cases import OWN, Case

NO_MEANING = {
    "order": "how a result lies in memory", "subok": "classes of arrays", "casting": "which casts are allowed",
    "like": "the library of the result", "device": "the device of the result", "copy": "whether it is copied",
    "kind": "the algorithm", "stable": "the algorithm", "optimize": "the order of the products",
    "overwrite_input": "whether the argument may be scratch memory", "check_finite": "a check",
    "check_bounds": "a check",
    "tol": "how small an imaginary part is left out", "writeable": "whether it may be written to",
}
"""Parameters that mean nothing to a derivative, in all functions."""

ELSEWHERE = {
    "out": "the result is stored into it: tests/inplace, and below",
}

ALONE = {
    ("numpy.matmul", "axes"): "refused: which axes are the matrices'", ("numpy.matmul", "axis"): "refused",
    ("numpy.matmul", "keepdims"): "refused", ("numpy.matmul", "where"): "refused",
    ("numpy.vecdot", "where"): "refused", ("numpy.vecdot", "dtype"): "as that of elementwise functions",
    ("numpy.matmul", "dtype"): "as that of elementwise functions",
    ("numpy.divmod", "where"): "refused", ("numpy.divmod", "dtype"): "refused",
    ("numpy.modf", "where"): "refused", ("numpy.modf", "dtype"): "refused",
    ("numpy.matvec", "where"): "refused", ("numpy.matvec", "dtype"): "refused",
    ("numpy.vecmat", "where"): "refused", ("numpy.vecmat", "dtype"): "refused",
    ("numpy.quantile", "weights"): "refused", ("numpy.percentile", "weights"): "refused",
    ("numpy.nanquantile", "weights"): "refused", ("numpy.nanpercentile", "weights"): "refused",
    ("numpy.histogram_bin_edges", "weights"): "the edges do not depend on them",
    ("numpy.array", "ndmax"): "refused: for arrays of objects",
    ("numpy.unique", "sorted"): "the values are sorted anyway",
    ("numpy.full", "dtype"): "tests/rules/forms.py", ("numpy.stack", "dtype"): "as that of concatenate",
    ("numpy.vstack", "dtype"): "as that of concatenate", ("numpy.hstack", "dtype"): "as that of concatenate",
    **{
        (f"numpy.{name}", "dtype"): "refused"
        for name in ("maximum.reduce", "minimum.reduce", "logaddexp.reduce", "maximum.accumulate", "minimum.accumulate")
    },
    ("numpy.clip", "min"): "tests/rules/forms.py", ("numpy.clip", "max"): "tests/rules/forms.py",
    ("numpy.full_like", "shape"): "as that of full",
    ("numpy.fromiter", "count"): "tests/specialize/calls/test_storing.py",
}
"""Parameters of one function each, of the newest NumPy."""

OLD_NAMES = {
    "newshape": "of `shape`", "interpolation": "of `method`", "ddof": "without effect in `corrcoef`",
    "bias": "without effect in `corrcoef`",
}
"""Parameters that an older NumPy has and a newer one has not: they are refused."""

POLICIES = ("numpy.round", "numpy.around", "ndarray.round")
"""Rounding has no samples: what passes through it is a policy."""

IS_OLD = np.lib.NumpyVersion(np.__version__) < "2.4.0"

VARIADIC = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def parameters_of(fn: Any) -> list[inspect.Parameter]:
    """The parameters by NumPy's own signature; none where it says nothing."""
    try:
        return [p for p in inspect.signature(fn).parameters.values() if p.kind not in VARIADIC]
    except (ValueError, TypeError):
        return []


def exercised(rule: Rule) -> set[str]:
    """The parameters of a rule that some sample passes."""
    return {name for sample in rule.samples for name in rule.params.bind(*sample.args, **sample.kwargs).arguments}


def missing(rule: Rule) -> list[str]:
    """The parameters of the function that no sample passes and nothing above explains."""
    own, seen = list(rule.params.parameters), exercised(rule)
    found = []
    for place, parameter in enumerate(parameters_of(rule.fn)):
        name = parameter.name
        by_place = place < len(own) and parameter.kind is not parameter.KEYWORD_ONLY and own[place] in seen
        explained = name in NO_MEANING or name in ELSEWHERE or (rule.name, name) in ALONE or rule.name in POLICIES
        explained = explained or (IS_OLD and name in OLD_NAMES)
        if not (name in seen or by_place or explained):
            found.append(name)
    return found


NUMPY = [rule for rule in OWN if rule.name.startswith(("numpy.", "ndarray."))]
PLAIN = [rule for rule in NUMPY if not isinstance(rule.fn, (np.ufunc, type))]


def test_every_parameter_is_exercised_or_listed() -> None:
    assert not {rule.name: found for rule in PLAIN if (found := missing(rule))}


@pytest.mark.skipif(IS_OLD, reason="has fewer parameters, and functions without a signature")
def test_what_is_listed_exists() -> None:
    known = {(rule.name, p.name) for rule in NUMPY for p in parameters_of(rule.fn)}
    known |= {(rule.name, name) for rule in NUMPY if isinstance(rule.fn, np.ufunc) for name in ("where", "dtype")}
    assert {(name, parameter) for name, parameter in ALONE if hasattr(np, name.partition(".")[2])} <= known


# --- the keywords of ufuncs -----------------------------------------------------------------------------------------

MASK = np.array([[True, False, True], [False, True, True]])
WEIGHTS = np.array([[1.0, -2.0, 0.5], [3.0, 1.5, -1.0]])


def programs(fn: Any) -> tuple[Any, Any, Any]:
    """Calls of a ufunc: without keywords, with options, with ``out`` and ``where``."""

    def plain(*args: Any) -> Any:
        return fn(*args)

    def with_options(*args: Any) -> Any:
        return fn(*args, dtype=np.float64, casting="same_kind", order="K", subok=True)

    def with_out(*args: Any) -> Any:
        result = np.zeros((2, 3))
        fn(*args, out=result, where=MASK)
        return result

    return plain, with_options, with_out


UFUNCS = [
    rule for rule in NUMPY if isinstance(rule.fn, np.ufunc) and rule.kind == "partials"
    and any(all(getattr(one, "shape", None) == (2, 3) for one in sample.args) for sample in rule.samples)
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in UFUNCS])
def test_keywords_of_ufuncs(rule: Rule) -> None:
    """Options change nothing; with ``where`` the elements that are left out have no part."""
    sample = next(s for s in rule.samples if all(getattr(one, "shape", None) == (2, 3) for one in s.args))
    leaves = [x for given in Case(rule, sample).leaves.values() for x in given]
    plain, with_options, with_out = programs(rule.fn)
    _, pullback = s2s.vjp(plain, *leaves)
    for f, weights in ((with_options, WEIGHTS), (with_out, WEIGHTS * MASK)):
        wanted = pullback(weights)
        out, pull = s2s.vjp(f, *leaves)
        np.testing.assert_allclose(out[MASK], rule.fn(*leaves)[MASK])
        for a, b in zip(pull(WEIGHTS), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        directions = [np.cos(k + np.arange(6.0)).reshape(2, 3) for k in range(len(leaves))]
        _, tangent = s2s.jvp(f, leaves, directions)
        expected = sum(np.sum(a * d) for a, d in zip(wanted, directions, strict=True))
        assert np.sum(tangent * WEIGHTS) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["matmul", "vecdot"])
def test_options_of_products(name: str) -> None:
    fn, a, b = getattr(np, name), WEIGHTS[:, :2], MASK[:, 1:] + 0.5

    def f(a: Any) -> Any:
        return np.sum(fn(a, b, casting="same_kind", order="K", subok=True) ** 2)

    expected = s2s.grad(lambda a: np.sum(fn(a, b) ** 2))(a)
    np.testing.assert_allclose(s2s.grad(f)(a), expected)
    np.testing.assert_allclose(s2s.jacfwd(f)(a), expected)


def quotient(a: Any, b: Any) -> Any:
    return np.sum(np.divide(a, b, out=np.zeros_like(a), where=b != 0.0) ** 2)


def test_a_quotient_that_is_guarded_by_where() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 4.0])
    a_bar, b_bar = s2s.vjp(quotient, a, b)[1](1.0)
    np.testing.assert_allclose(a_bar, [0.5, 0.0, 0.375])
    np.testing.assert_allclose(b_bar, [-0.25, 0.0, -0.28125])


REFUSED: list[tuple[Any, str]] = [
    (lambda x: np.divmod(x, 0.3, where=x > 0)[0], "where"),
    (lambda x: np.modf(x, dtype=np.float64)[0], "dtype"),
    (lambda x: np.sum(np.vectorize(lambda row: np.sum(row) ** 2, signature="(n)->()")(x)), "signature"),
    (lambda x: np.sum(np.vectorize(lambda a, n: a**n, excluded=["n"])(x, n=2)), "excluded"),
    (lambda x: np.sum(np.vectorize(lambda a: a * a, otypes=[int])(x)), "otypes"),
]


def test_where_without_out_leaves_elements_passive() -> None:
    x = np.array([1.0, -2.0, 4.0])

    def f(x: Any) -> Any:
        return np.sqrt(x, where=x > 0.0)[x > 0.0]

    def g(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.multiply(x, x[::-1], where=x > 0.0), 0.0))

    np.testing.assert_allclose(s2s.vjp(f, x)[1](np.array([1.0, 3.0]))[0], [0.5, 0.0, 0.75])
    np.testing.assert_allclose(s2s.jvp(f, (x,), (np.array([1.0, 5.0, 2.0]),))[1], [0.5, 0.5])
    np.testing.assert_allclose(s2s.grad(g)(x), [8.0, 0.0, 2.0])
    np.testing.assert_allclose(s2s.hessian(g)(x), [[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])


@pytest.mark.parametrize("f, keyword", REFUSED)
def test_keywords_without_a_rule_are_refused(f: Any, keyword: str) -> None:
    for derivative in (
        lambda: s2s.vjp(f, np.ones((2, 2))), lambda: s2s.jvp(f, (np.ones((2, 2)),), (np.ones((2, 2)),)),
    ):
        with pytest.raises(NoDerivativeError, match=f"does not support the argument `{keyword}`"):
            derivative()


