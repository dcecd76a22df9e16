"""Derivatives over data in parts, part by part in this process, against the derivative of the whole."""

import doctest
import gc
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import s2s
from s2s.distributed.along import along_a_vector
from s2s.distributed.partials import FAN_IN, tree
from s2s.errors import ArgumentError
from tests.helpers import ROOT

d = s2s.distributed
rng = np.random.default_rng(19)
X, y, w = rng.normal(size=(103, 3)), rng.normal(size=103), rng.normal(size=3)
CUTS = [1, 20, 20, 60]  # a part of one row, and one of none
Xs, ys = np.split(X, CUTS), np.split(y, CUTS)
SCALE = 2.0
NOISE = rng.normal(size=20_000)  # too large to be written as source
squeeze = np.tanh


def helper(z):
    return squeeze(z) * SCALE


def total(w, X, y):
    return np.sum((helper(X @ w) - y) ** 2)


def mean(w, X, y):
    return np.mean((np.sin(X @ w["a"] + w["b"]) - y) ** 2)


def test_sums_over_parts_are_those_of_the_whole():
    value, gradient = d.value_and_grad(total, over="X, y")(w, Xs, ys)
    np.testing.assert_allclose(value, total(w, X, y), rtol=1e-12)
    step = 1e-6 * np.eye(3)
    differences = [(total(w + e, X, y) - total(w - e, X, y)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)
    np.testing.assert_array_equal(d.grad(total, over=("X", "y"))(w, y=ys, X=Xs), gradient)


def test_means_are_weighed_by_rows():
    params = {"a": w, "b": 0.3}
    value, gradient = d.value_and_grad(mean, over="X, y", reduction="mean")(params, Xs, ys)
    whole, expected = s2s.value_and_grad(mean)(params, X, y)
    np.testing.assert_allclose(value, whole, rtol=1e-12)
    np.testing.assert_allclose(gradient["a"], expected["a"], rtol=1e-12)
    assert type(gradient["b"]) is type(expected["b"]) and abs(gradient["b"] - expected["b"]) < 1e-12


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_products_with_the_hessian(reduction):
    f = total if reduction == "sum" else lambda w, X, y: np.mean((np.tanh(X @ w) - y) ** 2)
    v = np.array([1.0, -2.0, 0.5])
    found = d.hvp(f, over="X, y", reduction=reduction)(w, v, Xs, ys)
    eps = 1e-5
    plus, minus = s2s.grad(f)(w + eps * v, X, y), s2s.grad(f)(w - eps * v, X, y)
    np.testing.assert_allclose(found, (plus - minus) / (2 * eps), rtol=1e-6)
    with pytest.raises(ArgumentError, match="S2S514"):
        d.hvp(f, over="X, y", reduction=reduction)(w, np.ones(2), Xs, ys)


@pytest.mark.parametrize("columns", [1, 6])
def test_jacobians_by_either_mode(columns):
    def moments(w, X):
        return np.array([np.sum(np.sin(X @ w) ** k) for k in range(1, columns + 1)])

    found = d.jacobian(moments, over="X")(w, Xs)
    step = 1e-6 * np.eye(3)
    differences = np.stack([(moments(w + e, X) - moments(w - e, X)) / 2e-6 for e in step], axis=1)
    np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_numba_compiles_what_was_shipped(recwarn):
    pytest.importorskip("numba")

    @s2s.differentiable(backend="numba")
    def loop(w, X, y):
        total = 0.0
        for i in range(len(X)):
            total += (np.tanh(X[i] @ w) * SCALE - y[i]) ** 2
        return total

    value, gradient = d.value_and_grad(loop, over="X, y")(w, Xs, ys)
    np.testing.assert_allclose(value, total(w, X, y), rtol=1e-12)
    np.testing.assert_allclose(gradient, s2s.grad(total)(w, X, y), rtol=1e-10)
    kernel = d.shipped(s2s.grad(loop), w, X, y)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(kernel))(w, X, y), gradient, rtol=1e-10)
    from s2s.shipping import shipped

    assert shipped._compiled[kernel.digest] is not getattr(kernel._module(kernel.text), kernel.entry)
    assert not [one for one in recwarn if one.category is s2s.NumbaFallbackWarning]


def test_what_the_program_reads_is_as_it_is_at_each_call(monkeypatch):
    gradient = d.grad(total, over="X, y")
    for scale in (2.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        np.testing.assert_allclose(gradient(w, Xs, ys), s2s.grad(total)(w, X, y), rtol=1e-10)
    monkeypatch.setitem(globals(), "squeeze", np.sin)
    np.testing.assert_allclose(gradient(w, Xs, ys), s2s.grad(total)(w, X, y), rtol=1e-10)
    monkeypatch.setitem(globals(), "helper", lambda z: z**2)
    np.testing.assert_allclose(gradient(w, Xs, ys), 4 * X.T @ ((X @ w) * ((X @ w) ** 2 - y)), rtol=1e-10)


def test_large_arrays_of_the_program_go_along(monkeypatch):
    def noisy(w, X):
        return np.sum((X @ w) ** 2) * NOISE[7]

    gradient = d.grad(noisy, over="X")
    np.testing.assert_allclose(gradient(w, Xs), 2 * X.T @ (X @ w) * NOISE[7], rtol=1e-12)
    NOISE[7] *= 2.0
    np.testing.assert_allclose(gradient(w, Xs), 2 * X.T @ (X @ w) * NOISE[7], rtol=1e-12)


def test_the_tree_depends_on_the_number_of_parts_only():
    def show(*nodes):
        return f"({' '.join(nodes)})"

    for count in (1, 2, FAN_IN, FAN_IN + 1, 70, 600):
        leaves = [str(k) for k in range(count)]
        level = leaves
        while len(level) > 1:
            groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
            level = [show(*group) if len(group) > 1 else group[0] for group in groups]
        assert tree(iter(leaves), show) == level[0]


def test_parts_are_not_written_into():
    parts = [np.array([1.0, 2.0]) for _ in range(20)]
    found = d.grad(lambda w, x: np.sum(w * x), over="x")(np.ones(2), [p[None] for p in parts])
    np.testing.assert_array_equal(found, [20.0, 40.0])
    assert all(np.array_equal(p, [1.0, 2.0]) for p in parts)


@pytest.mark.parametrize("objects", [[np.float64, np.float32], [np.float32, np.float64]])
def test_digests_tell_what_conditions_are_about(objects):
    """The same text for arrays of another precision is another version; unpickled dtypes are no singletons."""
    def linear(w, X):
        return np.sum(X * w)

    kernels = [d.shipped(s2s.grad(linear), pickle.loads(pickle.dumps(np.ones(3, kind))), np.ones((4, 3), kind))
               for kind in objects]
    assert kernels[0].digest != kernels[1].digest
    for kernel, kind in zip(kernels, objects):
        assert kernel(np.ones(3, kind), np.ones((4, 3), kind)).dtype == kind


def test_an_argument_that_cannot_be_copied():
    def with_lock(w, X, lock):
        return np.sum(np.sin(X @ w))

    np.testing.assert_allclose(d.grad(with_lock, over="X")(w, Xs, threading.Lock()), np.cos(X @ w) @ X, rtol=1e-12)


def test_parts_of_other_precision_and_what_raises_in_a_part():
    def fragile(w, X):
        if np.any(X > 1e3):
            raise FloatingPointError("too large")
        return np.sum(np.tanh(X @ w))

    mixed = [X[:50], X[50:].astype(np.float32)]
    np.testing.assert_allclose(d.grad(fragile, over="X")(w, mixed), s2s.grad(fragile)(w, X), rtol=1e-5)
    large = [X[:50], np.vstack([X[50:70], np.full((1, 3), 1e4), X[70:]])]
    with pytest.raises(FloatingPointError) as told:
        d.grad(fragile, over="X")(w, large)
    assert "in part 1 of the data: `X` of shape (54, 3)" in told.value.__notes__


@pytest.mark.parametrize("name", ["value_and_grad", "map", "rows", "shipped"])
def test_public_functions_have_examples_that_run(name):
    examples = doctest.DocTestFinder(recurse=False).find(getattr(d, name), name, globs={"s2s": s2s})
    assert any(test.examples for test in examples)
    for test in examples:
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


class Net:
    def __init__(self, weights, rate, name="net"):
        self.weights, self.rate, self.name = weights, rate, name


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_parameters_that_are_objects(reduction):
    over_rows = np.sum if reduction == "sum" else np.mean

    def of_net(net, X, y):
        return over_rows((np.tanh(X @ net.weights[0]) * net.rate - y) ** 2)

    net = Net([w, None], 0.7)
    value, found = d.value_and_grad(of_net, over="X, y", reduction=reduction)(net, Xs, ys)
    np.testing.assert_allclose(value, of_net(net, X, y), rtol=1e-12)
    assert type(found) is Net and found.name is None and found.weights[1] is None
    for step in 1e-6 * np.eye(3):
        plus, minus = (of_net(Net([w + sign * step], 0.7), X, y) for sign in (1, -1))
        np.testing.assert_allclose(found.weights[0] @ step, (plus - minus) / 2, rtol=1e-6)
    plus, minus = (of_net(Net([w], 0.7 + sign * 1e-6), X, y) for sign in (1, -1))
    np.testing.assert_allclose(found.rate, (plus - minus) / 2e-6, rtol=1e-6)
    assert net.weights[0] is w and net.name == "net"


@dataclass
class Layer:
    weights: np.ndarray
    rate: float

    def __call__(self, X):
        return np.tanh(X @ self.weights) * self.rate


class Slotted:
    __slots__ = ("label", "weights")

    def __init__(self, weights):
        self.weights, self.label = weights, "slots"


def of_layer(layer, X, y, *, scale):
    return (scale * layer(X) - y) ** 2


def of_nested(params, X, y):
    first, second = params["layers"]
    return np.sum((first(X) + X @ second.weights ** 3 + params["shift"] - y) ** 2)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_hessian_vector_products_of_objects(reduction):
    over_rows = np.sum if reduction == "sum" else np.mean

    def loss(layer, X, y, *, scale):
        return over_rows(of_layer(layer, X, y, scale=scale))

    layer, vector = Layer(w, 0.7), Layer(np.cos(w), 0.3)
    found = d.hvp(loss, over="X, y", reduction=reduction)(layer, vector, Xs, ys, scale=1.5)
    assert type(found) is Layer
    ends = [
        s2s.grad(loss)(Layer(w + sign * 1e-5 * np.cos(w), 0.7 + sign * 3e-6), X, y, scale=1.5) for sign in (1, -1)]
    np.testing.assert_allclose(found.weights, (ends[0].weights - ends[1].weights) / 2e-5, rtol=1e-6)
    np.testing.assert_allclose(found.rate, (ends[0].rate - ends[1].rate) / 2e-5, rtol=1e-6)


def test_hessian_vector_products_of_objects_in_containers():
    def params(step):
        layers = [Layer(w + step * w**2, 0.7 + step), Slotted(0.5 * w - step * w)]
        return {"layers": layers, "shift": 0.1 + 2 * step}

    vector = {"layers": [Layer(w**2, 1.0), Slotted(-w)], "shift": 2.0}
    found = d.hvp(of_nested, over="X, y")(params(0.0), vector, Xs, ys)
    ends = [s2s.grad(of_nested)(params(sign * 1e-5), X, y) for sign in (1, -1)]
    np.testing.assert_allclose(found["shift"], (ends[0]["shift"] - ends[1]["shift"]) / 2e-5, rtol=1e-6)
    for k in (0, 1):
        differences = (ends[0]["layers"][k].weights - ends[1]["layers"][k].weights) / 2e-5
        np.testing.assert_allclose(found["layers"][k].weights, differences, rtol=1e-6)
    assert type(found["layers"][1]) is Slotted and found["layers"][1].label is None


@pytest.mark.slow
def test_the_text_of_a_derivative_along_a_vector_stays():
    made = along_a_vector(total, "total")
    for _ in range(2):  # what no code object keeps is taken out when the next text is registered
        along_a_vector(total, "total")
        gc.collect()
    vector = np.cos(w)
    differences = (s2s.grad(total)(w + 1e-6 * vector, X, y) - s2s.grad(total)(w - 1e-6 * vector, X, y)) / 2e-6
    np.testing.assert_allclose(s2s.grad(made)(w, X, y, vector), differences, rtol=1e-6)


def test_jacobians_by_objects_and_containers():
    def residuals(layer, X, y):
        return X.T @ (layer(X) - y)

    def of_dict(p, X, y):
        return X.T @ (np.tanh(X @ p["w"]) * p["rate"] - y)

    step = 1e-6 * np.cos(w)
    expected = (residuals(Layer(w + step, 0.7), X, y) - residuals(Layer(w - step, 0.7), X, y)) / 2e-6
    found = d.jacobian(residuals, over="X, y")(Layer(w, 0.7), Xs, ys)
    np.testing.assert_allclose(found.weights @ np.cos(w), expected, rtol=1e-6)
    found = d.jacobian(of_dict, over="X, y")({"w": w, "rate": 0.7}, Xs, ys)
    np.testing.assert_allclose(found["w"] @ np.cos(w), expected, rtol=1e-6)
    np.testing.assert_allclose(found["rate"], X.T @ np.tanh(X @ w), rtol=1e-9)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.grad(total, over="X, y")(w, Xs, ys[:-1]), "S2S701"),
        (lambda: d.grad(total, over="X, y")(w, Xs, [*ys[:-1], ys[-1][:-1]]), "S2S701"),
        (lambda: d.grad(total, over="X, y")(w, [np.empty((0, 3))], [np.empty(0)]), "S2S702"),
        (lambda: d.grad(total, over="X, y")(w, [], []), "S2S702"),
        (lambda: d.grad(total, over="X, y")(w, 3.0, ys), "S2S703"),
        (lambda: d.grad(total, over="X, y")(w, [3.0], [4.0]), "S2S703"),
        (lambda: d.grad(total, over="X, z"), "S2S502"),
        (lambda: d.grad(total, over="X, w"), "S2S511"),
        (lambda: d.grad(total, over=""), "S2S511"),
        (lambda: d.grad(total, over="X, y", reduction="max"), "S2S511"),
        (lambda: d.grad(total, over="X, y", timeout=0), "S2S511"),
        (lambda: d.grad(total, over="X, y", client="tcp://somewhere")(w, Xs, ys), "S2S511"),
        (lambda: d.grad(lambda w, X: np.sum(X @ w) + w @ w, over="X")(w, Xs), "S2S709"),
        (lambda: d.grad(lambda w, X: np.mean(X @ w), over="X")(w, Xs), "S2S709"),
        (lambda: d.grad(lambda w, X: np.sum(X @ w), over="X", reduction="mean")(w, Xs), "S2S709"),
        (lambda: d.grad(lambda w, X: np.sum(np.diff(X @ w) ** 2), over="X")(w, Xs[1:]), "S2S709"),
        (lambda: d.grad(lambda w, X: np.sum(X) * w, over="X")(1.0, [[[1.0], [2.0]], [[1.0, 2.0], [3.0]]]), "S2S701"),
        (lambda: d.grad(total, over="X, y")(w, [np.ma.masked_greater(X, 1.0)], [y]), "a part is a MaskedArray"),
        (lambda: d.map(lambda w, X: X @ w, over="X")(w, Xs, out=np.empty(102)), "`out` has the shape"),
        (lambda: d.map(lambda w, X: X @ w, over="X")(w, Xs, out=np.empty(104)), "104 rows, and there were 103"),
        (lambda: d.rows(X, 0), "S2S511"),
        (lambda: d.rows(3.0, 1), "S2S511"),
        (lambda: d.grad(np.sum, over="a"), "S2S301"),
        (lambda: d.shipped(total, w, X, y), "S2S511"),
        (lambda: d.shipped(s2s.grad(total), w, X, y)(w, X, 3), "S2S711"),
    ],
)
def test_bad_input_is_told(call, message):
    with pytest.raises((ArgumentError, s2s.errors.SourceUnavailableError), match=message):
        call()


def weighted(w, X, y, s):
    return np.sum(s * (X @ w - y) ** 2) / np.sum(s)


def penalized(w, X, y):
    return total(w, X, y) + 0.1 * np.sum(w * w)


def of_classes(w, X, k):
    """A sum over rows as long as all are of one class."""
    return np.sum((X @ w) ** 2 * (1.0 + k)) / (1.0 + np.ptp(k))


@pytest.mark.parametrize("place", [(0, 30), (1, 0), (2, 5)])
def test_rows_that_differ_are_found_within_parts_and_between_them(place):
    """Rows in order: those at the beginning of the first and of the last part are alike."""
    parts, k = np.split(X[:100], [40, 60, 80]), [np.zeros(40), np.zeros(20), np.zeros(20), np.zeros(20)]
    k[place[0]][place[1] :] = 1.0
    with pytest.raises(ArgumentError, match="S2S709"):
        d.grad(of_classes, over="X, k")(w, parts, k)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        # each part for itself shows nothing: its weights are all alike
        (lambda: d.grad(weighted, over="X, y, s", reduction="mean")(
            w, np.split(X, [50]), np.split(y, [50]), [np.ones(50), 2 * np.ones(53)]), "`weighted` is no mean over"),
        # nor do the parameters at which an optimizer begins
        (lambda: d.value_and_grad(penalized, over="X, y")(np.zeros(3), Xs, ys), "`penalized` is no sum over rows"),
        (lambda: d.hvp(penalized, over="X, y")(np.zeros(3), w, Xs, ys), "`penalized` is no sum over rows"),
        (lambda: d.jacobian(lambda w, X: X @ w, over="X")(w, np.split(X[:100], 2)),
         r"for 16 rows it gives an array of shape \(16,\), for two parts of them together an array of shape \(8,\)"),
    ],
)
def test_a_loss_that_is_no_sum_is_told(call, what):
    with pytest.raises(ArgumentError, match=f"{what}.*S2S709"):
        call()


def test_data_of_another_rank_is_looked_at_anew():
    gradient = d.grad(lambda w, X, y: np.mean((X @ w - y) ** 2), over="X, y", reduction="mean")
    gradient(w, Xs, ys)
    with pytest.raises(ArgumentError, match="S2S709"):
        gradient(w, Xs, [part[:, None] for part in ys])  # broadcast against each other: a table of all pairs


def test_parameters_that_the_loss_does_not_take_are_no_failure():
    def picky(w, X):
        if w[0] != 1.0:
            raise RuntimeError("another parameter")
        return np.sum(X @ w)

    np.testing.assert_allclose(d.grad(picky, over="X")(np.ones(3), Xs), X.sum(0))


def test_a_loss_of_many_numbers_is_refused_where_it_stands():
    with pytest.raises(s2s.errors.NonScalarOutputError, match="S2S401"):
        d.grad(lambda w, X: X @ w, over="X")(w, Xs)


def test_what_is_told_of_parts_that_do_not_fit():
    with pytest.raises(ArgumentError) as told:
        d.grad(total, over="X, y")(w, Xs, [*ys[:-1], ys[-1][:-1]])
    assert str(told.value) == (
        "the parts do not fit together: `X` in 5 parts (1, 19, 0, 40, 43 rows), `y` in 5 parts (1, 19, 0, 40, 42 rows) "
        "[S2S701]\n  = instead:  cut them at the same rows; Dask arrays by `rechunk`")


def test_a_penalty_goes_with_the_mean():
    def ridge(w, X, y):
        return np.mean((X @ w - y) ** 2) + 0.1 * np.sum(w * w)

    found = d.grad(ridge, over="X, y", reduction="mean")(w, Xs, ys)
    np.testing.assert_allclose(found, 2 * X.T @ (X @ w - y) / len(y) + 0.2 * w, rtol=1e-10)


LOOKS_ELSEWHERE = {
    "at the first hundred": lambda w, X: np.sum((X @ w)[:100] ** 2),
    "at how many there are": lambda w, X: np.sum((X @ w) ** 2) * (2.0 if len(X) > 150 else 1.0),
    "at the largest": lambda w, X: np.sum((X @ w) ** 2) * (10.0 if np.max(np.abs(X)) > 50.0 else 1.0),
    "at the last": lambda w, X: np.sum((X @ w) ** 2) + (X[-1] @ w) ** 2,
    "at what is far from the rest": lambda w, X: np.sum(np.clip(X @ w, -1e3, 3.0 * np.median(np.abs(X @ w)))),
}


@pytest.mark.parametrize("what", LOOKS_ELSEWHERE)
def test_a_loss_is_tried_with_rows_that_tell(what):
    rows = np.random.default_rng(3).normal(size=(900, 3))
    rows[377] *= 60.0
    with pytest.raises(ArgumentError, match="S2S709"):
        d.grad(LOOKS_ELSEWHERE[what], over="X")(w, np.split(rows, [400, 700]))


def test_what_is_recorded_is_not_sent(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")

    def by_text(w, X):
        return eval("np.sum((X @ w) ** 2)")

    with pytest.raises(ArgumentError, match="it is recorded at each call.* .S2S710") as refused:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d.grad(by_text, over="X", check=False)(w, Xs)
    assert refused.match(r"(?s)as the compiler refuses it: .*`eval`.*return eval\(")  # what, and where


# --- out of core ----------------------------------------------------------------------------------------------------

PEAK = """
import resource, sys
import numpy as np
import s2s

def loss(w, X):
    return np.sum((X @ w) ** 2)

d, file, out, kind = s2s.distributed, *sys.argv[1:]
X = np.load(file, mmap_mode="r")
w = np.ones(X.shape[1])
gradient = d.grad(loss, over="X")
gradient(w, d.rows(X[:100], 50))                  # what is imported and compiled
by_row = d.map(s2s.map(s2s.grad(loss), (None, 0)), over="X")
list(by_row(w, d.rows(X[:100], 50)))
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
def anonymous():
    return int(next(line for line in open("/proc/self/status") if line.startswith("RssAnon")).split()[1]) * 1024
before, most = anonymous(), 0
seen = []
def watched(parts):
    global most
    for part in parts:
        most = max(most, anonymous() - before)
        yield part
if kind == "sum":
    found = gradient(w, d.rows(X, 5000))
    assert np.allclose(found, float(np.load(out)))
else:
    whole = sum(len(part) for part in watched(by_row(w, d.rows(X, 5000))))
    assert whole == len(X)
print(max(most, anonymous() - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["sum", "map"])
def test_a_memmap_is_not_loaded(tmp_path, kind):
    rows, columns = 200_000, 40
    written = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (rows, columns))
    written[:] = 0.5
    written.flush()
    np.save(tmp_path / "out.npy", rows * 2 * 0.5 * columns * 0.5)
    (tmp_path / "program.py").write_text(PEAK)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "X.npy"), str(tmp_path / "out.npy"), kind],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < rows * columns * 8 / 4  # a quarter of the file


def test_parts_of_a_memmap_pickle_as_a_place(tmp_path):
    np.save(tmp_path / "X.npy", X)
    parts = d.rows(np.load(tmp_path / "X.npy", mmap_mode="r")[3:], 40)
    sent = pickle.dumps(parts)
    assert len(sent) < 1000
    np.testing.assert_array_equal(np.concatenate([part.load() for part in pickle.loads(sent)]), X[3:])


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_changes_of_a_memmap_are_read(tmp_path, mode):
    np.save(tmp_path / "X.npy", X)
    changed = np.load(tmp_path / "X.npy", mmap_mode=mode)
    changed[:2] = 7.0  # with "c" these stay in memory
    parts = pickle.loads(pickle.dumps(d.rows(changed, 40)))
    np.testing.assert_array_equal(np.concatenate([part.load() for part in parts]), [[7.0] * 3] * 2 + X[2:].tolist())


@pytest.mark.parametrize("kind", ["zarr", "h5py"])
def test_arrays_on_disk_are_read_by_rows(tmp_path, kind):
    module = pytest.importorskip(kind)
    if kind == "zarr":
        stored = module.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(20, 3), dtype="f8")
        stored[:] = X
    else:
        stored = module.File(tmp_path / "X.h5", "w").create_dataset("X", data=X)
        stored.file.flush()
    parts = pickle.loads(pickle.dumps(d.rows(stored, 25)))
    found = d.grad(total, over="X, y")(w, parts, y)
    np.testing.assert_allclose(found, s2s.grad(total)(w, X, y), rtol=1e-10)


def test_results_of_map_go_into_an_array(tmp_path):
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float64, (len(X), 3))
    by_row = d.map(s2s.map(s2s.grad(lambda w, x: np.tanh(x @ w)), (None, 0)), over="x")
    assert by_row(w, Xs, out=out) is out
    np.testing.assert_allclose(out, X * (1.0 - np.tanh(X @ w) ** 2)[:, None], rtol=1e-12)
    np.testing.assert_allclose(np.concatenate(list(by_row(w, d.rows(X, 11)))), out)


# --- by source ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_gradient_pickles_by_its_source(tmp_path):
    (tmp_path / "users_model.py").write_text(
        "import numpy as np\nRATE = 0.7\ndef act(z):\n    return np.tanh(RATE * z)\n"
        "def loss(w, X, n=2):\n    return np.sum(act(X @ w)) ** n\n")
    make = (
        "import pickle, sys, numpy as np, s2s, users_model\n"
        "X = np.arange(6.0).reshape(2, 3)\n"
        "kernel = s2s.distributed.shipped(s2s.grad(users_model.loss), np.ones(3) / 9, X)\n"
        "sys.stdout.buffer.write(pickle.dumps(kernel))\n")
    use = (
        "import pickle, sys, numpy as np\n"
        "kernel = pickle.loads(sys.stdin.buffer.read())\n"
        "assert 'users_model' not in sys.modules and 'libcst' not in sys.modules\n"
        "print(repr(kernel(np.ones(3) / 9, np.arange(6.0).reshape(2, 3), 2).tolist()))\n")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "S2S_CACHE": "off"}
    made = subprocess.run([sys.executable, "-c", make], capture_output=True, env=env, timeout=150)
    assert made.returncode == 0, made.stderr.decode()
    (tmp_path / "users_model.py").unlink()
    used = subprocess.run([sys.executable, "-c", use], input=made.stdout, capture_output=True, env=env, timeout=150)
    assert used.returncode == 0, used.stderr.decode()
    A, v = np.arange(6.0).reshape(2, 3), np.ones(3) / 9
    t = np.tanh(0.7 * A @ v)
    np.testing.assert_allclose(eval(used.stdout.decode()), 2 * t.sum() * A.T @ (0.7 * (1 - t * t)), rtol=1e-12)


def test_training_tells_its_progress(capsys):
    from scipy.optimize import minimize

    seen = []
    objective = d.value_and_grad(total, over="X, y", progress=seen.append)
    found = minimize(objective, np.zeros(3), args=(Xs, ys), jac=True, method="L-BFGS-B")
    assert np.abs(s2s.grad(total)(found.x, X, y)).max() < 1e-2 and len(seen) == found.nfev
    assert seen[-1].rows == 103 and seen[-1].parts == 5
    shown = d.value_and_grad(total, over="X, y", progress=True)
    shown(w, Xs, ys)
    pattern = r"call 1: value [\d.]+, 103 rows in 5 parts, [\d.]+ s\n"
    assert re.fullmatch(pattern, capsys.readouterr().err)


@pytest.mark.slow
def test_training_with_an_optimizer():
    objective = d.value_and_grad(total, over="X, y")
    adam = s2s.optim.Adam(0.05)
    found = adam.minimize(objective, np.zeros(3), Xs, ys, steps=60)
    expected = adam.minimize(total, np.zeros(3), X, y, steps=60)
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-8)


@pytest.mark.parametrize("column", [["x"] * 4, [1, None, 2, None]], ids=["texts", "missing integers"])
def test_columns_that_are_no_numbers_are_told(column):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(4.0), "b": pd.array(column)})
    with pytest.raises(ArgumentError, match=r"(?s)array of objects.*S2S701.*astype\(float\)"):
        d.grad(lambda w, X: np.sum(X @ w), over="X")(np.ones(2), [frame])
