"""Dicts and tuples of like items that are not differentiated, of any length."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import s2s
from s2s.dispatch import lookup
from s2s.errors import ArgumentError


def neighbours(x, table):
    total = 0.0
    for i, others in table.items():
        for j in others:
            total = total + np.sin(x * (i - j))
    return total


def weights(x, table):
    total = x
    for key in table:
        total = np.sin(total) * table[key]
    return total + sum(table.values()) * x**2 + len(table) * x


def looked_up(x, table):
    total = 0.0
    for k in range(12):
        total = total + table.get(f"k{k}", 0.5) * x**k
        if f"k{k}" in table:
            total = total + x * table[f"k{k}"]
    return total


def differentiated_copy(x, table):
    table = dict(table)
    for key in list(table):
        table[key] = table[key] * x
    return sum(value**2 for value in table.values())


def other_kind(x, table):
    table["k0"] = np.array([1.0, 2.0])
    total = 0.0
    for key in table:
        total = total + np.sum(table[key] * x**2)
    return total


def spread(x, table):
    def poly(x, k0=1.0, **rest):
        return k0 * x**2 + len(rest) * x

    return poly(x, **table)


def horner(x, given):
    total = 0.0
    for value in given[::-1]:
        total = total * x + value
    return total + given[0] * x**2 + given[-1] * max(given) * x


def joined(x, given):
    return sum((*given, x)) * x + sum(given + (x,)) * x


def as_array(x, given):
    return np.sum(np.array(given) * x**2)


def lists(count, seed):
    rng = np.random.default_rng(seed)
    return {i: rng.integers(0, count, rng.integers(1, 5)).tolist() for i in range(count)}


def numbers(count, seed):
    return {f"k{i}": v for i, v in enumerate(np.random.default_rng(seed).random(count).tolist())}


def values(count, seed):
    return tuple(numbers(count, seed).values())


PROGRAMS = [
    (neighbours, lists), (weights, numbers), (looked_up, numbers), (differentiated_copy, numbers),
    (other_kind, numbers), (spread, numbers), (horner, values), (joined, values), (as_array, values),
]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd, lambda f: s2s.grad(s2s.grad(f))])
@pytest.mark.parametrize(("f", "make"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_any_keys_and_lengths(f, make, derivative):
    """Each call comes with other ones; the primal, and what it is given, are as they were."""
    found = derivative(f)
    second = derivative not in (s2s.grad, s2s.jacfwd)
    for count, seed in [(6, 0), (8, 1), (11, 2), (40, 3), (40, 4), (3, 5)]:
        given, x, step = make(count, seed), 0.7, 1e-4 if second else 1e-6
        below, at, above = (f(z, copy.deepcopy(given)) for z in (x - step, x, x + step))
        wanted = (above - 2 * at + below) / step**2 if second else (above - below) / (2 * step)
        np.testing.assert_allclose(found(x, given), wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("f", "make"), [(neighbours, lists), (looked_up, numbers), (horner, values)])
def test_one_version_for_all(f, make, monkeypatch):
    compiled = []
    run = lookup.run_compiler
    monkeypatch.setattr(lookup, "run_compiler", lambda *args: compiled.append(args) or run(*args))
    found = s2s.grad(f)
    found.clear()
    for count in range(33, 53):
        found(0.7, make(count, count))
    assert len(compiled) <= 2, len(compiled)
    assert len(found.source.splitlines()) < 40


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
@pytest.mark.parametrize("as_tuple", [False, True])
def test_arrays_that_share_memory_with_what_is_changed(derivative, as_tuple):
    """Of however many arrays: the gradient with respect to one of two arguments that are one array means nothing."""

    def f(x, arrays):
        x[0] = 3.0 * x[1]
        return sum(np.sum(a * x) for a in (arrays if as_tuple else arrays.values()))

    found = derivative(f)
    for count in (5, 6, 7, 40):
        x = np.array([0.7, 0.5, 0.3])
        arrays = {k: np.arange(3.0) + k for k in range(count)} | {1: x}
        with pytest.raises(ArgumentError, match="share memory"):
            found(x, tuple(arrays.values()) if as_tuple else arrays)


def test_a_tuple_of_unknown_length_in_a_sum():
    """``+`` puts it together with another one, which is no sum of their items."""

    def f(x, kinds):
        given = tuple(kinds)
        return sum(given + (x,)) * x

    for derivative in (s2s.grad, s2s.jacfwd):
        np.testing.assert_allclose(derivative(f)(0.7, {1.0, 2.0}), 3.0 + 2.0 * 0.7)
