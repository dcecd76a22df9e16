"""The loops that stand for what Numba made of a Python function as a ufunc, run in plain Python."""

import numpy as np
import pytest

from s2s.recorded import wrapped

RNG = np.random.default_rng(4)
A, B = RNG.normal(size=3), RNG.normal(size=3)
ROWS, MANY = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 1, 3))


def damped(a, b):
    return a * np.exp(-b) if a > b else a * b


def turned(a, b, out):
    out[:] = a * a[::-1] + b**2


def product(a, b, out):
    out[0] = a @ b


def scaled(a, b, out):
    out[:] = a * b


def boxed(a, b, out):
    out[:] = a * b[0]


def outer(a, b, out):
    out[...] = np.outer(b, a) + a[0]


def into_result(function, shape):
    """The same function that gives its result, as ``np.vectorize`` takes it."""

    def call(*args):
        out = np.empty(shape(*args) or (1,))
        function(*[np.atleast_1d(a) if function is boxed else a for a in args], out)
        return out if shape(*args) else out[0]

    return call


VECTORS = ((("n",), ("n",)), (("n",),), ())
CORES = {
    turned: (VECTORS, "(n),(n)->(n)", lambda a, b: a.shape),
    product: (((("n",), ("n",)), ((),), ()), "(n),(n)->()", lambda a, b: ()),
    scaled: (((("n",), ()), (("n",),), ()), "(n),()->(n)", lambda a, b: a.shape),
    boxed: (((("n",), ()), (("n",),), (1,)), "(n),()->(n)", lambda a, b: a.shape),
    outer: (((("n",), ("m",)), (("m", "n"),), ()), "(n),(m)->(m,n)", lambda a, b: (b.size, a.size)),
}


def loops_of(monkeypatch, function, dimensions, args, kwargs=None, stands_for=None):
    """What is called in place of a function that Numba would have made."""
    monkeypatch.setattr(wrapped, "numba_ufunc", lambda fn: (function, dimensions))
    monkeypatch.setattr(wrapped, "depends", lambda args: True)
    return wrapped.loops_of(stands_for, args, kwargs or {})


@pytest.mark.parametrize("args", [
    (A, B), (A, 0.2), (ROWS, A), (MANY, ROWS), (0.3, 0.1), (0.1, 0.3), (np.float32(0.5), A.astype(np.float32)),
    (np.arange(3), np.arange(3) + 1), (np.zeros((0, 3)), A),
])
def test_loops_over_elements(args, monkeypatch):
    fn, given = loops_of(monkeypatch, damped, None, args)
    found, wanted = fn(*given), np.vectorize(damped, otypes=[float])(*args)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert np.shape(found) == np.shape(wanted)
    assert np.ndim(found) == 0 or found.dtype == (np.float32 if np.asarray(args[0]).dtype == np.float32 else float)


@pytest.mark.parametrize("args", [
    (turned, A, B), (turned, ROWS, A), (turned, A, MANY), (turned, MANY, ROWS), (product, A, B), (product, ROWS, MANY),
    (scaled, A, 0.7), (scaled, ROWS, 0.7), (scaled, A, B[:2]), (scaled, MANY, B[:2]), (boxed, A, 0.7),
    (boxed, ROWS, B[:2]), (boxed, MANY, ROWS[:, 0]), (outer, A, B), (outer, ROWS, B[:2]),
], ids=lambda args: f"{args[0].__name__}-{'-'.join(str(np.ndim(a)) for a in args[1:])}")
def test_loops_over_leading_dimensions(args, monkeypatch):
    function, *args = args
    dimensions, signature, shape = CORES[function]
    monkeypatch.setattr(wrapped, "call", lambda fn, *args: fn(*args))
    fn, given = loops_of(monkeypatch, function, dimensions, tuple(args))
    found = fn(*given)
    wanted = np.vectorize(into_result(function, shape), signature=signature)(*args)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert np.shape(found) == np.shape(wanted)


@pytest.mark.parametrize("args", [(A, B), (ROWS, A), (MANY, ROWS)])
def test_results_go_into_an_array_that_is_given(args, monkeypatch):
    """A view of a larger array is filled, and is what the call gives."""
    numbers = np.vectorize(into_result(turned, lambda a, b: a.shape), signature="(n),(n)->(n)")
    wanted = numbers(*args)
    whole = np.zeros((2, *wanted.shape))
    fn, given = loops_of(monkeypatch, turned, VECTORS, (*args, whole[1]), stands_for=numbers)
    assert fn(*given).base is whole
    np.testing.assert_array_equal(whole, [np.zeros_like(wanted), wanted])


def test_calls_without_loops(monkeypatch):
    """Keywords, several results, a wrong number of arguments, and results of lengths that no argument has."""
    two = (("n",),), ((), ()), ()
    new = (("n",),), (("m",),), ()
    assert loops_of(monkeypatch, damped, None, (A, B), {"where": A > 0.0}) is None
    assert loops_of(monkeypatch, turned, two, (A,)) is None
    assert loops_of(monkeypatch, turned, two, (A, B)) is None
    assert loops_of(monkeypatch, turned, new, (A,)) is None
    assert loops_of(monkeypatch, turned, VECTORS, (A,)) is None
    monkeypatch.setattr(wrapped, "depends", lambda args: False)
    assert wrapped.loops_of(None, (A, B), {}) is None
