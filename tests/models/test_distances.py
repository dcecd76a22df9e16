"""Distances of ``scipy.spatial.distance``: with weights, into an array that is given, and of flags."""

import dis

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules import table

distance = pytest.importorskip("scipy.spatial.distance")
ndimage = pytest.importorskip("scipy.ndimage")

RNG = np.random.default_rng(4)
A, B, W = RNG.uniform(0.2, 1.0, (4, 3)), RNG.uniform(0.2, 1.0, (2, 3)), np.array([0.3, 1.2, 0.7])
BY_PAIR, BY_ROWS = RNG.normal(size=(4, 2)), RNG.normal(size=6)
METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "canberra", "braycurtis", "cosine", "correlation"
)


def differences(f, x, step=1e-6):
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        change = np.zeros(x.shape)
        change[place] = step
        found[place] = (f(x + change) - f(x - change)) / (2.0 * step)
    return found


def assert_right(f, *args):
    for k, x in enumerate(args):
        by_one = lambda v, k=k: f(*args[:k], v, *args[k + 1 :])  # noqa: E731
        wanted = differences(by_one, x)
        value, found = s2s.value_and_grad(f, argnums=k)(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-12)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(s2s.jacfwd(f, argnums=k)(*args), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("metric", METRICS)
def test_weights_of_the_places(metric):
    assert_right(lambda a, b, w: np.sum(BY_PAIR * distance.cdist(a, b, metric, w=w)), A, B, W)
    assert_right(lambda a, w: np.sum(BY_ROWS * distance.pdist(a, metric, w=w)), A, W)


def test_norms_of_other_orders():
    assert_right(lambda a, w: np.sum(BY_PAIR * distance.cdist(a, B, "minkowski", p=3.0, w=w)), A, W)
    assert_right(lambda a: np.sum(BY_PAIR * distance.cdist(a, B, "minkowski", p=np.inf)), A)
    without = np.array([0.3, 0.0, 0.7])
    assert_right(lambda a: np.sum(BY_PAIR * distance.cdist(a, B, "chebyshev", w=without)), A)


def into_pairs(a):
    made = np.zeros((4, 2))
    distance.cdist(a, B, out=made)
    return np.sum(BY_PAIR * made)


def into_rows(a):
    made = np.zeros(6)
    return np.sum(BY_ROWS * distance.pdist(a, "cityblock", out=made)) + np.sum(made**2)


def into_a_line(a):
    made = np.zeros((4, 3))
    ndimage.spline_filter1d(a, output=made)
    return np.sum(made**3)


def into_an_image(a):
    made = np.zeros((4, 3))
    ndimage.spline_filter(a, output=made)
    return np.sum(made**3) + np.sum(ndimage.spline_filter(a, output=np.float64))


@pytest.mark.parametrize("f", [into_pairs, into_rows, into_a_line, into_an_image])
def test_results_that_are_stored_where_the_call_says(f):
    assert_right(f, A)


@pytest.mark.parametrize("name", ["dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "yule"])
def test_weights_of_flags(name):
    u, v = np.array([True, False, True, True, False]), np.array([True, True, False, True, False])
    assert_right(lambda w: getattr(distance, name)(u, v, w) ** 2 + w[0], np.array([0.3, 1.2, 0.7, 0.4, 0.9]))


def test_metrics_without_a_rule():
    for f in (lambda a: np.sum(distance.cdist(a, B, "hamming")), lambda a: np.sum(distance.pdist(a, "jaccard", w=W))):
        with pytest.raises(NoDerivativeError, match="this metric"):
            s2s.grad(f)(A)


def test_each_model_reads_where_its_result_is_to_go():
    """What a model does not read it would leave as it was: the derivative by it would be lost."""
    s2s.functions()  # loads all rules
    models = [rule for rule in table.RULES.values() if rule.kind == "model"]
    assert len(models) > 500
    for rule in models:
        body = rule.body
        if {"out", "output"} & {*rule.params.parameters} and hasattr(body, "__code__"):
            names = body.__code__.co_varnames[: body.__code__.co_argcount + body.__code__.co_kwonlyargcount]
            for name in {"out", "output"} & {*names}:
                assert is_read(body, name), (rule.name, name)


def is_read(body, name):
    return any(i.opname.startswith("LOAD") and name in str(i.argval) for i in dis.get_instructions(body))
