"""Versions as source: the arguments that they are for, and what their text reads."""

import pickle

import numpy as np
import pytest

import s2s
from s2s.core.ir import Span
from s2s.distributed import shipped
from s2s.errors import error
from s2s.shipping.shipped import _recorded_error

X = np.array([0.3, 1.2, -0.4])


def swapped(u, v):
    u[0] = v[1] * u[1]
    v[1] = u[0]
    return np.sum(u * v)


def slope(f, *args):
    """Central differences in the first argument."""
    h, found = 1e-6, []
    for k in range(len(args[0])):
        step = h * np.eye(len(args[0]))[k]
        found.append((f(args[0] + step, *args[1:]) - f(args[0] - step, *args[1:])) / (2 * h))
    return np.array(found)


def test_an_array_given_twice_is_for_such_calls_alone():
    same = X.copy()
    kernel = shipped(s2s.grad(swapped), same, same)
    assert kernel.conditions[-1] == "v is u"
    kernel = pickle.loads(pickle.dumps(kernel))
    assert kernel.fits((same, same)) and not kernel.fits((same, same.copy()))
    expected = slope(lambda u: swapped(w := u.copy(), w), X)
    np.testing.assert_allclose(kernel(same, same), expected, rtol=1e-8)
    with pytest.raises(s2s.errors.ArgumentError, match="S2S711"):
        kernel(same, X)


def test_too_few_arguments_are_of_other_kinds():
    kernel = shipped(s2s.grad(swapped), X.copy(), X + 1.0)
    assert not kernel.fits((X,)) and not kernel.fits(())
    with pytest.raises(s2s.errors.ArgumentError, match="S2S711"):
        kernel(X)


def test_arrays_apart_are_for_such_calls_alone():
    kernel = shipped(s2s.grad(swapped), X.copy(), X + 1.0)
    assert kernel.fits((X, X + 1.0)) and not kernel.fits((X, X)) and not kernel.fits((X, X[:2]))
    assert not kernel.fits((X, 3)) and not kernel.fits((X, X.astype(int)))
    expected = slope(lambda u, v: swapped(u.copy(), v.copy()), X, X + 1.0)
    np.testing.assert_allclose(kernel(X.copy(), X + 1.0), expected, rtol=1e-8)


RATE, TABLE = 1.5, {"power": 2.0}


def helper(x):
    return x * RATE


def loop(x, n):
    total = 0.0
    for k in range(n):
        total = total + helper(x[k]) ** TABLE["power"] + np.hypot(x[k], RATE)
    return total


def test_what_the_derivative_reads_of_its_module_is_linked():
    """What the module has by the names that the derivative reads: no variables, and nothing that it defines."""
    kernel = shipped(s2s.grad(loop), X, 2)
    compiled = kernel._linked(kernel.text, kernel.body)
    scope = vars(kernel._module(kernel.text))
    assert compiled.text == kernel.body and compiled.entry == kernel.entry == "loop_grad"
    assert compiled.objects and all(scope[name] is found for name, found in compiled.objects.items())
    assert compiled.objects["np"] is np and "x" not in compiled.objects and "loop_grad" not in compiled.objects
    calling = "def one(x):\n    return len(x)\n\n\ndef loop_grad(x):\n    return np.abs(one(loop_grad), none)\n"
    assert kernel._linked(kernel.text, calling).objects == {"np": np}
    np.testing.assert_allclose(kernel(X, 2), slope(loop, X, 2), rtol=1e-8)


@pytest.mark.parametrize("refusal, told", [
    (None, "as compiled code fails: None"), (ValueError("no\n  room"), "as compiled code fails: no\n  room"),
    (error("S2S401", name="f", shape=(3,), span=Span("f.py", 3, 1, 3, 5), hint="keep it"),
     "as the compiler refuses it: "),
])
def test_the_reason_why_there_is_no_source(refusal, told):
    """It is the line that the compiler refuses, where it does."""
    found = _recorded_error("f", refusal)
    assert isinstance(found, s2s.errors.ArgumentError) and found.diagnostic.code == "S2S710"
    assert f"it is recorded at each call, {told}" in found.diagnostic.summary
    known = getattr(refusal, "diagnostic", None)
    assert found.diagnostic.span == (known and known.span)
    if known is not None:
        assert known.summary.partition("; ")[0] in found.diagnostic.summary and found.diagnostic.hint == "keep it"
