"""Programs that keep a result and give it back for an equal argument: the second derivative is that of the first call,
or a refusal, and no zero."""

import math

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

V = np.array([0.3, 1.17, -0.7, 2.56])


class Kept:
    def __init__(self):
        self.x = self.y = self.key = None
        self.items, self.mean = {}, 0.0
        self.known = []


kept = Kept()


def of_array(x):
    if kept.x is None or not np.array_equal(kept.x, x):
        kept.x, kept.y = x.copy(), np.sin(x)
    return np.sum(kept.y * x)


def element_by_element(x):
    if kept.x is None or np.any(kept.x != x):
        kept.x, kept.y = x.copy(), np.sin(x)
    return np.sum(kept.y * x)


def within_a_bound(x):
    if kept.x is None or np.max(np.abs(kept.x - x)) > 1e-12:
        kept.x, kept.y = x.copy(), np.sin(x)
    return np.sum(kept.y * x)


def of_a_norm(x):
    if kept.x is None or np.linalg.norm(x - kept.x) > 0.0:
        kept.x, kept.y = x.copy(), np.sin(x)
    return np.sum(kept.y * x)


def of_a_tuple(x):
    if kept.key != tuple(x):
        kept.key, kept.y = tuple(x), np.sin(x)
    return np.sum(kept.y * x)


def of_bytes(x):
    key = x.tobytes()
    if kept.key != key:
        kept.key, kept.y = key, np.sin(x)
    return np.sum(kept.y * x)


def of_text(x):
    key = str(x)
    if kept.key != key:
        kept.key, kept.y = key, np.sin(x)
    return np.sum(kept.y * x)


def of_a_hash(x):
    key = hash(x.tobytes())
    if kept.key != key:
        kept.key, kept.y = key, np.sin(x)
    return np.sum(kept.y * x)


def of_a_computed_number(x):
    key = np.sum(x)
    if kept.key is not None and key == kept.key:
        return np.sum(kept.y * x)
    kept.key, kept.y = key, np.sin(x)
    return np.sum(kept.y * x)


def by_key(x):
    key = tuple(x)
    if key in kept.items:
        return np.sum(kept.items[key] * x)
    kept.items[key] = np.sin(x)
    return np.sum(kept.items[key] * x)


def by_key_or_error(x):
    try:
        return np.sum(kept.items[tuple(x)] * x)
    except KeyError:
        pass
    kept.items[tuple(x)] = y = np.sin(x)
    return np.sum(y * x)


REMEMBERING = (
    of_array,
    element_by_element,
    within_a_bound,
    of_a_norm,
    of_a_tuple,
    of_bytes,
    of_text,
    of_a_hash,
    of_a_computed_number,
    by_key,
    by_key_or_error,
)


def tangent(f, x):
    return s2s.jvp(f, (x,), (np.ones(4),))[1]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("recorded", ["0", "1"])
@pytest.mark.parametrize("f", REMEMBERING)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_what_is_kept_of_an_equal_argument_is_no_constant(f, recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    vars(kept).update(vars(Kept()))
    want = np.sin(V) + V * np.cos(V)
    gradient = s2s.grad(f)
    np.testing.assert_allclose(gradient(V.copy()), want)
    for again in (gradient, s2s.grad(f)):
        try:
            found = again(V.copy())
        except DifferentiationError as refusal:
            assert "clear what the program remembers" in str(refusal) or "S2S112" in str(refusal)
        else:
            np.testing.assert_allclose(found, want)
    try:
        found = tangent(f, V.copy())
    except DifferentiationError:
        pass
    else:
        np.testing.assert_allclose(found, want.sum())
    vars(kept).update(vars(Kept()))
    np.testing.assert_allclose(gradient(V + 1.0), np.sin(V + 1.0) + (V + 1.0) * np.cos(V + 1.0))


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_tangent_after_gradients_of_a_dict_of_results(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    known = {}

    def cubed(a):
        if a in known:
            return known[a]
        known[a] = a**3
        return known[a]

    for _ in range(2):
        assert math.isclose(s2s.grad(cubed)(0.3), 0.27)
    assert math.isclose(s2s.jvp(cubed, (0.3,), (1.0,))[1], 0.27)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_tangent_after_gradients_of_a_list_of_numbers(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    vars(kept).update(vars(Kept()))

    def sine(x):
        if x[0] not in kept.known:
            kept.known.append(x[0])
            kept.mean = math.sin(x[0])
        return kept.mean * x[1]

    np.testing.assert_allclose(s2s.grad(sine)(V), [math.cos(V[0]) * V[1], math.sin(V[0]), 0.0, 0.0])
    with pytest.raises(DifferentiationError):
        s2s.grad(sine)(V)
    with pytest.raises(DifferentiationError):
        s2s.jvp(sine, (V,), (np.ones(4),))


def test_a_mean_that_runs_on_and_a_special_case_are_no_tests_of_what_is_kept():
    vars(kept).update(vars(Kept()))

    def running(x):
        kept.mean = kept.mean + 0.1 * (np.sum(x) - kept.mean)
        return kept.mean * np.sum(x)

    def special(x, at):
        return np.sum(x * x) if np.array_equal(x, at) else np.sum(x)

    total = np.sum(V)
    for mean in (0.0, 0.1 * total, 0.19 * total):
        np.testing.assert_allclose(s2s.grad(running)(V), np.full(4, 0.9 * mean + 0.2 * total))
    np.testing.assert_allclose(s2s.grad(special)(V, V.copy()), 2 * V)
    assert "check_not_remembered" not in s2s.source(running, V) + s2s.source(special, V, V)
