"""Numbers that are read from a text which a function that is found at run time has made of differentiated ones: what
the text was made of cannot be told, and the derivative is refused in both modes."""

import json

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

X = np.array([1.25, 2.6])
WRITE = [lambda v: f"{v:.17g}", lambda v: json.dumps(float(v)), lambda v: f" {v!s} ", lambda v: v.astype(str)]
READ = [float, json.loads, np.float64, lambda text: float(text), lambda text: int(text.replace(".", "")) / 100.0]


def at_once(x, k, m):
    return READ[m](WRITE[k](x[0])) * x[1]


def converted(x, k, m):
    return float(WRITE[k](x[0])) * x[1]


def stripped(x, k, m):
    text = WRITE[k](x[0]).strip()
    return READ[m](text) * x[1]


def kept_in_dict(x, k, m):
    kept = {"text": WRITE[k](x[0]), "number": x[1]}
    return READ[m](kept["text"]) * kept["number"]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", [at_once, converted, stripped, kept_in_dict])
@pytest.mark.parametrize("k", [0, 3])
@pytest.mark.parametrize("m", range(len(READ)))
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_a_number_that_is_read_from_a_text_is_refused(f, k, m, recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    with pytest.raises(DifferentiationError):
        s2s.grad(f)(X, k, m)
    with pytest.raises(DifferentiationError):
        s2s.jvp(f, (X, k, m), (np.array([1.0, 0.0]), None, None))
    if f is at_once:
        with pytest.raises(DifferentiationError):
            s2s.jacfwd(f)(X, k, m)


def labelled(x, k):
    return {"y": x**2, "label": WRITE[k](x[0]), "rule": "-" * int(x[1])}


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("jacobian", [s2s.jacfwd, s2s.jacrev])
def test_a_text_beside_numbers_has_no_derivative(k, jacobian):
    found = jacobian(labelled)(X, k)
    np.testing.assert_allclose(found["y"], np.diag(2.0 * X))
    assert found["label"] is None and found["rule"] is None


def test_a_text_beside_numbers_has_no_tangent():
    out, dot = s2s.jvp(labelled, (X, 0), (np.ones(2), None))
    assert out["label"] == "1.25" and out["rule"] == "--"
    assert dot["label"] is None and dot["rule"] is None
    np.testing.assert_allclose(dot["y"], 2.0 * X)


SCALE = [lambda name, v: 2.0 * v if name == "double 2" else v, lambda name, v: v**2]


def by_names(items, k):
    total = 0.0
    for name, values in items:
        total = total + np.sum(SCALE[k](name, values))
    return total


def test_a_text_that_is_data_is_an_argument_as_any():
    found = s2s.grad(by_names)([("double 2", X), ("other 3", X)], 0)
    np.testing.assert_allclose([row for _, row in found], [[2.0, 2.0], [1.0, 1.0]])
    found = s2s.jacfwd(by_names)([("double 2", X), ("other 3", X)], 1)
    np.testing.assert_allclose([row for _, row in found], [2.0 * X, 2.0 * X])
