"""Values that go through text, sets and dicts: followed, or refused where a derivative would be lost; never zero."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError

X = np.array([1.0, 2.0, 3.0])


# --- text -----------------------------------------------------------------------------------------------------------


def of_str(a):
    return float(str(a)) * a


def of_repr(a):
    return complex(repr(2.0 * a)).real


def of_a_format(a):
    return float(f"{a:.6f}")


def of_percent(a):
    text = "%.9f" % a
    return np.float64(text)


def of_a_joined_text(a):
    return float("".join(["1", str(a)]))


def of_a_text_by_numpy(a):
    return float(np.format_float_positional(a))


def of_bytes(a):
    return np.frombuffer((a * np.ones(2)).tobytes())[0]


READ = [of_str, of_repr, of_a_format, of_percent, of_a_joined_text, of_a_text_by_numpy, of_bytes]


@pytest.mark.parametrize("f", READ)
def test_a_number_read_from_text_is_refused(f):
    for derivative in (lambda: s2s.grad(f)(0.5), lambda: s2s.jvp(f, (0.5,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="it reads a number from text, where a derivative is lost") as info:
            derivative()
        assert info.value.diagnostic.hint == "use the number itself, or np.round"


def says(a, scale):
    text = "%.3f" % a
    print(text, f"{a:.2f}")
    if str(a) == "0.5" or text == "0.250":
        return a * float(scale) * len(repr(a))
    return 3.0 * a * float("2.5")


@pytest.mark.parametrize("a, slope", [(0.5, 6.0), (0.25, 8.0), (6.125, 7.5)])
def test_text_decides_and_is_printed(a, slope):
    """What a number looks like shows when the program runs; numbers of passive text are numbers like others."""
    assert s2s.value_and_grad(says)(a, "2") == (says(a, "2"), slope)
    assert s2s.jvp(says, (a, "2"), (1.0, None)) == (says(a, "2"), slope)


# --- dicts and sets -------------------------------------------------------------------------------------------------


def merged(x):
    both = {"a": x[0], "b": x[1]} | {"b": 2.0 * x[1] * x[2]}
    return sum(both.values())


def merged_in_place(x):
    entries = {"a": x[0]}
    entries |= {"a": x[0] * x[1], "b": x[2] ** 2}
    return entries["a"] + entries["b"]


def merged_arguments(first, second):
    both = first | second
    return both["a"] * both["b"]


def test_dicts_that_are_merged():
    np.testing.assert_allclose(s2s.grad(merged)(X), [1.0, 6.0, 4.0])
    assert s2s.jvp(merged, (X,), (np.ones(3),))[1] == pytest.approx(11.0)
    np.testing.assert_allclose(s2s.grad(merged_in_place)(X), [2.0, 1.0, 6.0])
    first, second = s2s.grad(merged_arguments, argnums=(0, 1))({"a": 2.0, "b": 5.0}, {"b": 3.0})
    assert (first, second) == ({"a": 3.0, "b": 0.0}, {"b": 2.0})


def united(x):
    return sum({x[0], x[1]} | {3.0 * x[2]})


def grown(x):
    found = {x[0]}
    found |= {2.0 * x[1]}
    return sum(found)


def common(x):
    return max({x[0], 2.0} & {x[0]})


def apart(x):
    total = 0.0
    for value in {x[0], 2.0} ^ {x[1]}:
        total += value
    return total


@pytest.mark.parametrize("f", [united, grown, common, apart])
def test_sets_of_what_is_differentiated_are_refused(f):
    for derivative in (lambda: s2s.grad(f)(X), lambda: s2s.jvp(f, (X,), (X,))):
        with pytest.raises(NoDerivativeError):
            derivative()


def masks(x, flags):
    chosen = (x > 1.5) & flags | (x < 1.0) ^ flags
    return np.sum(x[chosen] ** 2)


def test_masks_are_as_before():
    flags = np.array([True, False, True])
    chosen = (X > 1.5) & flags | (X < 1.0) ^ flags
    np.testing.assert_allclose(s2s.grad(masks)(X, flags), 2.0 * X * chosen)


# --- parts of results -----------------------------------------------------------------------------------------------


def distinct(x):
    found = np.unique_counts(x)
    return np.sum(found.values**2 * found.counts)


def frequencies(d):
    return np.sum(np.fft.fftfreq(8, d) ** 2) + np.fft.rfftfreq(8, d=d)[1]


def open_grid(x):
    rows, columns = np.ix_(x, 2.0 * x)
    return np.sum(rows**2 * columns)


def test_results_with_values_in_them():
    np.testing.assert_allclose(s2s.grad(distinct)(np.array([3.0, 1.0, 3.0])), [6.0, 2.0, 6.0])
    expected = -2.0 * np.sum(np.fft.fftfreq(8, 0.5) ** 2) / 0.5 - 0.25 / 0.5
    assert s2s.grad(frequencies)(0.5) == pytest.approx(expected)
    assert s2s.jvp(frequencies, (0.5,), (1.0,))[1] == pytest.approx(expected)
    np.testing.assert_allclose(s2s.grad(open_grid)(X), 4.0 * X * np.sum(X) + 2.0 * np.sum(X**2))


def windows(n):
    return np.hanning(n)[1] + np.hamming(n)[2] + np.blackman(n)[1] + np.bartlett(n)[1]


def test_windows_by_the_number_of_their_points():
    expected = (windows(6.5 + 1e-6) - windows(6.5 - 1e-6)) / 2e-6
    assert s2s.grad(windows)(6.5) == pytest.approx(expected, rel=1e-7)
    assert s2s.jvp(windows, (6.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)
