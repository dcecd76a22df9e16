"""Recordings are held against differences once per shape and then at growing intervals; what they give stays right."""

import math

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError, UnsupportedSyntaxError, error
from s2s.recorded import entry, trust
from s2s.versions.request import Request


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    monkeypatch.setattr(trust, "_KNOWN", type(trust._KNOWN)())


@pytest.fixture
def checks(monkeypatch):
    """The names of the functions whose recordings were held against differences."""
    done, check = [], entry._hold_against_differences

    def counted(recording, request, name, outs):
        check(recording, request, name, outs)
        done.append(name)

    monkeypatch.setattr(entry, "_hold_against_differences", counted)
    return done


def slope_of(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2.0 * step)


def at_call(checks, grad, f, counts):
    """Which of some calls are checked; all are held against differences here."""
    found = []
    for k in range(1, counts + 1):
        before, x = len(checks), 0.3 + 0.01 * k
        np.testing.assert_allclose(grad(x), slope_of(f, x), rtol=1e-6)
        if len(checks) > before:
            found.append(k)
    return found


def test_a_shape_is_checked_at_growing_intervals(checks):
    def f(x):
        return np.sin(x) * math.exp(x)

    assert at_call(checks, s2s.grad(f), f, 70) == [1, 3, 7, 15, 31, 63]
    assert at_call(checks, lambda x: s2s.jvp(f, (x,), (1.0,))[1], f, 7) == [1, 3, 7]
    assert at_call(checks, lambda x: s2s.vjp(f, x)[1](1.0)[0], f, 7) == [1, 3, 7]


def test_intervals_end_at_sixty_four():
    known = trust.Trust()
    checked = []
    for k in range(300):
        if known.is_due(5):
            checked.append(k)
            known.passed(5)
    assert np.diff(checked).tolist() == [2, 4, 8, 16, 32, 64, 64, 64]


def test_every_call_is_checked_where_that_is_asked_for(checks, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always-checked")

    def f(x):
        return x * math.exp(x)

    request, refusal = Request("grad", (("x",),), True), error("S2S101", construct="anything")
    with pytest.warns(s2s.RecordedWarning):
        found = at_call(checks, lambda x: entry.derivative_of_call(f, (x,), request, refusal), f, 5)
    assert found == [1, 2, 3, 4, 5]


def test_another_branch_is_another_shape(checks):
    def f(x):
        return np.sin(x) if x < 0.355 else np.sin(x)  # the steps are the same

    assert at_call(checks, s2s.grad(f), f, 8) == [1, 3, 6, 7]  # at 6 from where it has ended, at 7 from before


@pytest.mark.parametrize("f", [
    lambda x, n: sum(x * k for k in range(n)), lambda x, n: {3: math.exp, 2: np.exp}[n](x),
    lambda x, n: np.sum(np.full(4, x), axis={3: None, 2: 0}[n]), lambda x, n: {3: x, 2: 2.0}[n] * x,
    lambda x, n: np.sum(x * np.ones(3, {3: "f8", 2: "g"}[n])), lambda x, n: np.sum(x * np.ones({3: 3, 2: (2, 3)}[n])),
    lambda x, n: [x * y for y in (1.0, 2.0) if y < n][0], lambda x, n: x * 2.0 if n == 3 else x * 2.0,
    lambda x, n: {3: np.sin, 2: np.sin}[n](x) * len({3: sorted, 2: list}[n]([2.0])),
], ids=["steps", "function", "option", "operand", "dtype", "dimensions", "filter", "side", "call"])  # fmt: skip
def test_what_makes_another_shape(f, checks):
    grad = s2s.grad(f)
    for n, count in ((3, 1), (3, 1), (3, 2), (3, 2), (2, 3)):
        np.testing.assert_allclose(grad(0.7, n), slope_of(lambda x, n=n: f(x, n), 0.7), rtol=1e-6)
        assert len(checks) == count


def test_other_values_are_of_the_same_shape(checks):
    def f(x, y, k):
        return np.sum(np.exp(-x * y)[k:] ** 2) + x[k]

    grad = s2s.grad(f)
    for k, n in ((1, 5), (3, 6)):
        x = np.linspace(0.1, 1.0, n)
        expected = [slope_of(lambda d, i=i, x=x, k=k: f(x + d * np.eye(len(x))[i], 0.3 * k, k), 0.0) for i in range(n)]
        np.testing.assert_allclose(grad(x, 0.3 * k, k), expected, rtol=1e-6)
    assert len(checks) == 1




def test_a_derivative_that_goes_by_unseen_is_refused_when_it_begins_to(monkeypatch, tmp_path, checks):
    file = tmp_path / "number.bin"

    def by_file(x):
        np.asarray(x).tofile(file)
        return float(np.fromfile(file)[0])

    def f(x, is_lost):
        y = x * x
        return (by_file(y) if is_lost else y) * x

    grad = s2s.grad(f)
    with pytest.raises(NoDerivativeError):
        grad(0.7, True)
    for k in range(20):
        np.testing.assert_allclose(grad(0.7 + k, False), 3.0 * (0.7 + k) ** 2, rtol=1e-9)
    with pytest.raises(NoDerivativeError):
        grad(0.7, True)
    np.testing.assert_allclose(grad(0.8, False), 3.0 * 0.64, rtol=1e-9)


class Counter:
    def __init__(self):
        self.calls, self.known, self.draws = 0, {}, np.random.default_rng(5)


def test_what_changes_its_result_when_it_runs_again_is_noted_before_each_run(checks):
    """It cannot be checked from where it has ended; so another branch of it is not refused."""
    counter = Counter()

    def f(x):
        counter.calls += 1
        return x * x * counter.calls + (x if counter.calls == 10 else 0.0)

    grad = s2s.grad(f)
    for k in range(1, 15):
        np.testing.assert_allclose(grad(0.5), 1.0 * k + (k == 10), rtol=1e-9)
        assert counter.calls == k
    assert len(checks) == 4


def test_what_fills_a_cache_is_changed_once_by_each_call(checks):
    counter = Counter()

    def f(x):
        counter.calls += 1
        counter.known[x] = y = np.exp(x) if x < 0.5 else np.exp(x) * x
        return y

    grad = s2s.grad(f)
    for k in range(1, 12):
        x = 0.1 * k
        np.testing.assert_allclose(grad(x), math.exp(x) * (1.0 if x < 0.5 else 1.0 + x), rtol=1e-9)
        assert counter.calls == len(counter.known) == k


def test_random_numbers_are_drawn_once(checks):
    counter, same = Counter(), np.random.default_rng(5)

    def f(x):
        return x * x * counter.draws.normal()

    grad = s2s.grad(f)
    for _ in range(9):
        np.testing.assert_allclose(grad(0.5), same.normal(), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("k", [1, 2, 5])
def test_zeros_that_may_be_wrong_are_checked_at_each_call(k, checks):
    """``sqrt(x) ** 2`` has the derivative 1 at 0, where strong zeros make it 0."""
    def f(x):
        return np.sum(np.sqrt(x) ** 2)

    grad = s2s.grad(f)
    for n in range(1, k + 1):
        np.testing.assert_allclose(grad(np.array([1.0 + n, 2.0])), [1.0, 1.0], rtol=1e-9)
    for _ in range(4):
        before = len(checks)
        found = grad(np.array([0.0, 2.0]))[0]
        assert (np.isnan(found) or found == 1.0) and len(checks) > before
    _, pullback = s2s.vjp(f, np.array([1.0, 2.0]))
    _, pullback = s2s.vjp(f, np.array([0.0, 2.0]))
    assert pullback(1.0)[0][0] != 0.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mask_stays_a_mask():
    def f(x):
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))

    grad = s2s.grad(f)
    for k in range(5):
        x = np.array([-1.0, 1.0 + k])
        np.testing.assert_allclose(grad(x), [0.0, 0.5 / math.sqrt(x[1])], rtol=1e-9)


def test_a_result_that_hides_a_derivative_is_refused_at_each_call():
    def f(x, is_hidden):
        return x * x, iter([x * x if is_hidden else 1.0])

    for _ in range(3):
        with pytest.raises(NoDerivativeError, match="whose contents have no cotangent"):
            s2s.vjp(f, 0.5, True)


def test_an_exception_of_the_program_comes_out_after_checked_calls():
    def f(x):
        if x > 0.5:
            raise ValueError("too large")
        return x * x

    grad = s2s.grad(f)
    for _ in range(2):
        np.testing.assert_allclose(grad(0.25), 0.5)
    with pytest.raises(ValueError, match="too large"):
        grad(0.75)


def test_an_argument_that_becomes_known_by_another_name_is_refused():
    """Its copy is changed where the function, which reads the list of the caller, would see it unchanged."""
    held = {"other": [0.0]}

    def f(items):
        items.append(2.0)
        return items[0] * items[-1] + len(held["other"])

    grad = s2s.grad(f)
    items = [0.5, 0.25]
    for _ in range(2):
        assert grad(items) == [2.0, 0.0]
    held["other"] = items
    with pytest.raises(UnsupportedSyntaxError, match="S2S124"):
        grad(items)


def test_zeros_that_were_right_are_trusted_where_they_are(checks):
    """A mask leaves out square roots at zero: each other set of elements that it leaves out is checked once."""
    def f(x, mask):
        return np.sum(mask * np.sqrt(x) * 2.0)

    gradient, checked = s2s.grad(f), []
    mask, first, second = np.array([0.0, 1.0, 0.0]), np.array([0.0, 4.0, 0.0]), np.array([0.0, 4.0, 1.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        for k, x in enumerate([first, first, first, first, second, second, first]):
            before = len(checks)
            np.testing.assert_allclose(gradient(x, mask), [0.0, 0.5, 0.0])
            checked += [k] * (len(checks) > before)
    assert checked == [0, 2, 4, 5]  # what is new is checked from where the call ends, and once more from its start
