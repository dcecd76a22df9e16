"""Reductions, and axes of length one, as loops that are chosen for the type of an array and run as Python."""

import ast
import itertools

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from s2s.backends.numba import overloads, reductions  # noqa: E402
from s2s.backends.numba.functions import replacement  # noqa: E402
from s2s.backends.numba.paths import Unsupported  # noqa: E402
from tests.backends.numba.interpreted import plain  # noqa: E402

RNG = np.random.default_rng(6)
FLOATS, ROW = RNG.normal(size=(3, 2, 4)), RNG.normal(size=5)
WITH_ZEROS, WITH_NAN = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 0.0]]), np.array([[np.nan, 1.0], [2.0, np.nan]])
ARRAYS = [
    FLOATS, ROW, FLOATS.astype(np.float32), FLOATS[0] + 1j * FLOATS[1], (FLOATS * 10).astype(int), FLOATS > 0.0,
    WITH_ZEROS, WITH_NAN, (FLOATS[0] * 10).astype(np.int32), np.zeros((0, 3)),
]
BY_NAME = {name: function for function, name in reductions.REDUCTIONS.items()}


def made_for(function, text):
    """What stands for a call, and what is left of its arguments."""
    call = ast.parse(text, mode="eval").body
    return plain(reductions.reduction(function, call)), ast.unparse(call)


def numpys(function, a, options):
    try:
        return function(a, **options)
    except ValueError:
        return None


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_gives_what_numpy_gives(name, keepdims):
    function = BY_NAME[name]
    for a, axis in itertools.product(ARRAYS, (None, 0, -1, 1, (0, 1), (-1, 0), (2, 0, 1))):
        ranks = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
        is_there = all(-a.ndim <= k < a.ndim for k in ranks) and len({k % a.ndim for k in ranks}) == len(ranks)
        options = {"axis": axis, "keepdims": keepdims}
        stands, left = made_for(function, f"np.{name}(a, axis={axis}, keepdims={keepdims})")
        assert left == f"np.{name}(a)"
        is_by_numba = axis is None and not keepdims
        if not is_there or (not is_by_numba and np.iscomplexobj(a) and name in ("max", "min")):
            with pytest.raises(numba.TypingError):
                stands(a)
            continue
        expected = numpys(function, a, options)
        if expected is None:
            with pytest.raises(ValueError):
                stands(a)
            continue
        found = stands(a)
        assert np.shape(found) == np.shape(expected)
        assert np.ndim(found) == 0 or found.dtype == expected.dtype, (a.dtype, axis)
        tolerance = 1e-5 if np.asarray(expected).dtype == np.float32 else 1e-13
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
@pytest.mark.parametrize("dtype", ["float", "np.float64"])
def test_the_dtype_of_a_sum(name, dtype):
    function = BY_NAME[name]
    for text in (f"np.{name}(a, 1, {dtype})", f"np.{name}(a, axis=1, dtype={dtype})"):
        for a in (FLOATS.astype(np.float32), (FLOATS * 10).astype(int), FLOATS > 0.0):
            found = made_for(function, text)[0](a)
            expected = function(a, axis=1, dtype=float)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("name", BY_NAME)
def test_of_a_number_and_of_a_tuple(name):
    stands, _ = made_for(BY_NAME[name], f"np.{name}(a)")
    assert stands(2.5) == 2.5
    assert made_for(BY_NAME[name], f"np.{name}(a, keepdims=True)")[0](2.5) == 2.5
    with pytest.raises(numba.TypingError):
        made_for(BY_NAME[name], f"np.{name}(a, axis=0)")[0]((1.0, 2.0))


@pytest.mark.parametrize("text, reason", [
    ("np.sum(a, k)", "has an argument that is known only when it runs"),
    ("np.sum(a, axis=(0, k))", "has an argument that is known only when it runs"),
    ("np.sum(a, dtype=np.float32)", "has an argument that is known only when it runs"),
    ("np.sum(a, dtype='float32')", "has an argument that Numba does not know"),
    ("np.sum(a, initial=1.0)", "has an argument that Numba does not know"),
])
def test_what_is_refused(text, reason):
    with pytest.raises(Unsupported, match=reason):
        made_for(np.sum, text)


@pytest.mark.parametrize("axes", ["0", "-1", "1", "(0, 2)", "(-1, 0)", "(1, -1)"])
def test_axes_of_length_one(axes):
    call = ast.parse(f"np.expand_dims(a, {axes})", mode="eval").body
    wide = plain(reductions.expansion(call))
    for a in (ROW, FLOATS[0]):
        expected = np.expand_dims(a, ast.literal_eval(axes))
        np.testing.assert_array_equal(wide(a), expected, strict=True)
        assert wide(a).base is not None
        call = ast.parse(f"np.squeeze(a, axis={axes})", mode="eval").body
        narrow = plain(reductions.squeezed(call))
        np.testing.assert_array_equal(narrow(expected), a, strict=True)
    with pytest.raises(numba.TypingError):
        wide(2.5)
    with pytest.raises(ValueError):
        narrow(FLOATS[:, [0, 0]])
    with pytest.raises(numba.TypingError):
        narrow(np.ones(()))


@pytest.mark.parametrize("axes", ["2", "-3", "(0, 3)", "(1, 1)", "(0, 0)"])
def test_axes_that_are_not_there_or_come_twice(axes):
    for function, made in ((np.expand_dims, reductions.expansion), (np.squeeze, reductions.squeezed)):
        a = ROW if function is np.expand_dims else np.ones((1, 1))
        with pytest.raises(ValueError):
            function(a, ast.literal_eval(axes))
        with pytest.raises(numba.TypingError):
            plain(made(ast.parse(f"np.{function.__name__}(a, {axes})", mode="eval").body))(a)


def test_axes_that_are_known_only_when_it_runs():
    call = ast.parse("np.expand_dims(a, k)", mode="eval").body
    assert reductions.expansion(call) is np.expand_dims and len(call.args) == 2
    for text in ("np.squeeze(a)", "np.squeeze(a, k)"):
        with pytest.raises(Unsupported, match="known only when it runs; give `axis`"):
            reductions.squeezed(ast.parse(text, mode="eval").body)
    whole = plain(reductions.squeezed(ast.parse("np.squeeze(a, (0, 1))", mode="eval").body))
    assert whole(np.full((1, 1), 3.0)).shape == ()


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "any", "all"])
def test_methods_with_arguments_are_reductions_of_the_array_in_front(name):
    for text in ("axis=0", "0", "axis=1", "axis=(0, 1)", "keepdims=True"):
        call = ast.parse(f"a.{name}({text})", mode="eval").body
        stands = plain(replacement(name, call))
        assert (call.args, call.keywords) == ([], [])
        np.testing.assert_allclose(stands(WITH_ZEROS), eval(f"a.{name}({text})", {"a": WITH_ZEROS}))
    call = ast.parse(f"a.{name}()", mode="eval").body
    assert replacement(name, call) is name


@pytest.mark.parametrize("text", ["a.cumsum(0)", "a.reshape(3)", "a.transpose(1, 0)", "a.pop(0)"])
def test_other_methods_stay(text):
    call = ast.parse(text, mode="eval").body
    name = call.func.attr
    assert replacement(name, call) is name and len(call.args) > 0


def test_the_last_item_of_a_list_is_taken_by_a_helper():
    stands = replacement("pop", ast.parse("a.pop()", mode="eval").body)
    assert stands is overloads.last
