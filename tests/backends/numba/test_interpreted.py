"""What Numba is given, run as Python: values and derivatives in both modes, of all programs that there are, against
central differences and the NumPy backend. Machine code is made by the slow tests."""

import warnings
import zlib

import numpy as np
import pytest
import scipy.linalg

import s2s
from tests.bank import CASES
from tests.helpers import active_positions, copy_tree, float_leaves, inner, numerical, random_cotangent
from tests.inplace import load

pytest.importorskip("numba")
from s2s.backends.numba import straight  # noqa: E402
from tests.backends.numba import interpreted, test_compiled_constructs, test_straight, test_threads  # noqa: E402

RNG = np.random.default_rng(2)
X, W = RNG.normal(size=12) * 0.3 + 0.6, RNG.normal(size=12) * 0.3 + 0.9

PROGRAMS = {
    **{case.name: (case.f, case.args) for case in CASES if not case.kwargs and not case.expected},
    **{pair.name: (pair.mutating, pair.args) for pair in load().PAIRS},
    **{program.name: (program.f, program.args) for program in load().PROGRAMS},
    **{f.__name__: (f, (x,)) for f, x in test_compiled_constructs.PROGRAMS},
}
IN_THREADS = {f.__name__: (f, (X, W)) for f in test_threads.FUNCTIONS}
STATEMENTS = {
    "chain": (test_straight.chain, test_straight.chain_arguments()),
    "mixed": (test_straight.mixed, (X[:4], W.reshape(4, 3), 1, -2)),
}

ANSWERED_BY_PYTHON = {
    "numpy_core.norm_of_order": "what stands for `norm` in compiled code calls it, which is the same as Python",
    "stores.slice_that_is_empty": "the length of `a[3:1]` is negative where it is computed in compiled code",
    "containers.list_slices": "a list is as long as in the examples by which its type is found",
    "shared.chosen_view_before_a_store": "a list is as long as in the examples by which its type is found",
}
"""Programs of which compiled code raises, so that the text for NumPy has the result."""


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def direction_of(args):
    places = np.atleast_1d(active_positions(args)).tolist()
    return tuple(random_cotangent(arg, seed=5) if k in places else None for k, arg in enumerate(args))


def reverse(f, args):
    out, pullback = s2s.vjp(f, *args)
    cotangent = random_cotangent(out)
    return out, pullback(cotangent), pullback(cotangent)


def forward(f, args):
    return s2s.jvp(f, args, direction_of(args))


MODES = {"reverse": reverse, "forward": forward}


def differences_of(mode, f, args):
    """What a mode is to give, by central differences."""
    places = tuple(np.atleast_1d(active_positions(args)).tolist())
    out = f(*copy_tree(args))
    cotangent = random_cotangent(out)
    pulled = numerical(lambda *given: f(*copy_tree(given)), args, {}, places, cotangent)
    if mode == "reverse":
        return pulled
    direction = direction_of(args)
    return sum(inner(one, direction[k]) for one, k in zip(pulled, places)), cotangent


def assert_close(found, expected):
    for one, other in zip(float_leaves(found), float_leaves(expected), strict=True):
        assert np.shape(one) == np.shape(other) and isinstance(one, np.ndarray) == isinstance(other, np.ndarray)
        assert not isinstance(one, np.ndarray) or one.dtype == other.dtype
        single = np.asarray(other).dtype == np.float32
        size = max(1.0, np.max(np.abs(other), initial=0.0))
        np.testing.assert_allclose(one, other, rtol=1e-4 if single else 1e-9, atol=(1e-5 if single else 1e-11) * size)


def check(mode, f, args, monkeypatch, stops=None, **options):
    """A mode of a function on Numba as Python runs it, against NumPy and differences. Returns whether Numba has it."""
    before = copy_tree(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = MODES[mode](f, args)
        except (s2s.errors.DifferentiationError, s2s.errors.ArgumentError):
            pytest.skip("s2s does not take it, whatever runs it")
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        interpreted.interpreting(monkeypatch, stops)
        found = MODES[mode](s2s.differentiable(f, backend="numba", **options), args)
    assert_close(found, expected)
    assert_close(args, before)
    reasons = [str(one.message) for one in raised if issubclass(one.category, s2s.NumbaFallbackWarning)]
    if not all(leaf.flags.c_contiguous for leaf in float_leaves(args) if isinstance(leaf, np.ndarray)):
        return not reasons  # copies, of which differences are taken, lie otherwise in memory
    if mode == "reverse":
        for one, other in zip(float_leaves(found[1]), float_leaves(differences_of(mode, f, args)), strict=True):
            if np.asarray(one).dtype == np.float64:
                size = max(1.0, np.max(np.abs(other), initial=0))
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * size)
    elif all(np.asarray(leaf).dtype == np.float64 for leaf in float_leaves((args, found))):
        wanted, cotangent = differences_of(mode, f, args)
        np.testing.assert_allclose(inner(cotangent, found[1]), wanted, rtol=1e-4, atol=1e-5 * max(1.0, abs(wanted)))
    return not reasons


@pytest.mark.grid(0.02)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name, mode, monkeypatch):
    monkeypatch.setattr(interpreted, "ANSWERS", name in ANSWERED_BY_PYTHON)
    if not check(mode, *PROGRAMS[name], monkeypatch):
        pytest.skip("Numba does not take it: NumPy's numbers were compared with themselves")


@pytest.mark.grid(0.01)
@pytest.mark.parametrize("name", PROGRAMS)
def test_python_makes_a_call(name, monkeypatch):
    """Where Numba stops at it."""
    monkeypatch.setattr(interpreted, "ANSWERS", True)
    check("reverse", *PROGRAMS[name], monkeypatch, zlib.crc32(name.encode()))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", IN_THREADS)
def test_loops_that_threads_share(name, mode, monkeypatch):
    assert check(mode, *IN_THREADS[name], monkeypatch, parallel=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_by_themselves(name, mode, monkeypatch):
    monkeypatch.setattr(straight, "LEAST_WORK_OF_BLOCK", 0)
    assert check(mode, *STATEMENTS[name], monkeypatch)


def diagonals(m):
    return np.sum(np.diagonal(m, 1) ** 2) + np.sum(np.diagonal(m, -1) ** 3)


def triangles(m):
    lower = scipy.linalg.solve_triangular(m, m[0], lower=True)
    return np.sum(lower * scipy.linalg.solve_triangular(m, m, trans=1)[:, 1])


def masked(m):
    a, chosen = m * 2.0, m > 0.6
    a[chosen] = m[chosen] ** 3
    return np.sum(a * a * m)


@pytest.mark.parametrize("stops", [None, 0])
@pytest.mark.parametrize("f", [diagonals, triangles, masked])
def test_functions_of_matrices(f, stops, monkeypatch):
    check("reverse", f, (X[:9].reshape(3, 3) + 0.5 * np.eye(3),), monkeypatch, stops)


WEIGHTS = np.arange(1.0, 7.0)
LAID_OUT = {"array": np.array, "copy": np.copy, "sine": np.sin}


def in_memory(make, m):
    return np.sum(make(m).ravel(order="K") ** 2 * WEIGHTS)


def by_its_flags(make, m):
    a = make(m)
    return np.sum(a.T.ravel() ** 2 * WEIGHTS) if a.flags.f_contiguous else np.sum(a)


@pytest.mark.parametrize("f", [in_memory, by_its_flags])
@pytest.mark.parametrize("name", LAID_OUT)
def test_the_order_in_memory_is_not_asked_of_what_is_made(name, f, monkeypatch):
    m = np.asfortranarray(X[:6].reshape(2, 3))
    assert not check("reverse", lambda m: f(LAID_OUT[name], m), (m,), monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::s2s.NumbaFallbackWarning")
@pytest.mark.parametrize("f", [in_memory, by_its_flags])
@pytest.mark.parametrize("name", LAID_OUT)
def test_the_order_in_memory_in_compiled_code(name, f):
    m, make = np.asfortranarray(X[:6].reshape(2, 3)), LAID_OUT[name]
    found = s2s.grad(s2s.differentiable(lambda m: f(make, m), backend="numba"))(m)
    slopes = 2.0 * m if make is not np.sin else np.sin(2.0 * m)
    np.testing.assert_allclose(found, slopes * WEIGHTS.reshape(2, 3, order="F"), rtol=1e-12)
