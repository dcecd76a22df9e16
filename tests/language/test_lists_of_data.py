"""Lists of like items, of any length: what is known of one item, and of how many there are."""

from __future__ import annotations

import numpy as np
import pytest

import s2s
from s2s.dispatch import lookup
from tests.helpers import is_float, leaves, map_tree


def first_of_others(arrays):
    return np.sum(arrays[0] * arrays[1]) + np.sum(arrays[2] ** 2 * arrays[1])


def neighbours(arrays):
    total = 0.0
    for a, b in zip(arrays, arrays[1:], strict=False):
        total += np.sum(a * b * b)
    return total


def carried(arrays):
    total, before = 0.0, arrays[0]
    for a in arrays:
        total = total + np.sum(a * before)
        before = a
    return total


def unpacked(arrays):
    a, b, *rest = arrays
    return np.sum(a * b) + np.sum(rest[0] * b)


def stacked(arrays):
    return np.sum(np.stack(arrays[:1]) * np.stack(arrays[1:2]) ** 2) + 0.0 * np.sum(arrays[2])


def products_of_parts(x, n):
    parts = []
    for i in range(n):
        parts.append(x[: i + 1] ** 2)
    return np.sum(parts[0] * parts[n - 1])


def pairs_of_parts(x, n):
    parts, total = [], 0.0
    for i in range(n):
        parts.append(x[: i + 1] ** 2)
    for a in parts:
        for b in parts[:1]:
            total = total + np.sum(a * b)
    return total


def ragged(count):
    rng = np.random.default_rng(count)
    return [rng.normal(size=3 if k != 1 else 1) for k in range(count)]


def differences(f, arrays):
    found = [np.zeros_like(a) for a in arrays]
    for a, d in zip(arrays, found, strict=True):
        for k in range(a.size):
            before = a[k]
            a[k] = before + 1e-6
            above = f(arrays)
            a[k] = before - 1e-6
            d[k] = (above - f(arrays)) / 2e-6
            a[k] = before
    return found


@pytest.mark.parametrize("count", [3, 7, 70])
@pytest.mark.parametrize("f", [first_of_others, neighbours, carried, unpacked, stacked], ids=lambda f: f.__name__)
def test_items_have_lengths_of_their_own(f, count):
    arrays = ragged(count)
    expected = differences(f, arrays)
    found = s2s.grad(f)(arrays)
    assert type(found) is list and [a.shape for a in found] == [a.shape for a in arrays]
    tangents = ragged(count)
    _, out_dot = s2s.jvp(f, (arrays,), (tangents,))
    np.testing.assert_allclose(out_dot, sum(np.sum(e * t) for e, t in zip(expected, tangents, strict=True)), rtol=1e-6)
    for a, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [products_of_parts, pairs_of_parts], ids=lambda f: f.__name__)
def test_parts_of_other_lengths_put_into_a_list(f):
    x = np.array([0.7, 2.0, -1.3, 0.4])
    expected = [(f(x + 1e-6 * e, 4) - f(x - 1e-6 * e, 4)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.grad(f)(x, 4), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(x, 4), expected, rtol=1e-6, atol=1e-8)
    second = [(s2s.grad(f)(x + 1e-6 * e, 4) - s2s.grad(f)(x - 1e-6 * e, 4)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.hessian(f)(x, 4), second, rtol=1e-6, atol=1e-7)


# --- versions of any length ------------------------------------------------------------------------------------------


def scaled(x, arrays):
    total = 0.0
    for a in arrays:
        total += np.sum(x * a**2)
    return total


def layers(params, x):
    for W, b in params:
        x = np.tanh(W @ x + b)
    return np.sum(x**2)


def named_layers(params, x):
    for p in params:
        x = np.tanh(p["W"] @ x + p["b"])
    return np.sum(x**2)


def neighbours_of(x, lists):
    total = 0.0
    for i, near in enumerate(lists):
        for j in near:
            total += x[i] * x[j] ** 2
    return total


def of_floats(values):
    total = 1.0
    for a, b in zip(values, values[1:], strict=False):
        total = total * (a + b * b)
    return total


def chosen(mask, values):
    return sum(v**3 for m, v in zip(mask, values, strict=True) if m)


def arrays_of(n, rng):
    return [rng.normal(size=3) for _ in range(n)]


ANY_LENGTH = {
    "data": (scaled, 0, lambda n, rng: (rng.normal(size=3), arrays_of(n, rng))),
    "arrays": (scaled, 1, lambda n, rng: (rng.normal(size=3), arrays_of(n, rng))),
    "floats": (of_floats, 0, lambda n, rng: ([float(v) for v in rng.normal(size=n)],)),
    "pairs": (
        layers, 0, lambda n, rng: ([(rng.normal(size=(3, 3)), rng.normal(size=3)) for _ in range(n)], np.ones(3)),
    ),
    "dicts": (
        named_layers, 0,
        lambda n, rng: ([{"W": rng.normal(size=(3, 3)), "b": rng.normal(size=3)} for _ in range(n)], np.ones(3)),
    ),
    "lists": (neighbours_of, 0, lambda n, rng: (rng.normal(size=n), [[(i + 1) % n, i][: 1 + i % 2] for i in range(n)])),
    "bools": (chosen, 1, lambda n, rng: ([bool(k % 2) for k in range(n)], [float(v) for v in rng.normal(size=n)])),
}


@pytest.mark.parametrize("case", ANY_LENGTH)
def test_one_version_for_lists_of_all_lengths(case, monkeypatch):
    compiled = []
    original = lookup.run_compiler
    monkeypatch.setattr(lookup, "run_compiler", lambda *args: compiled.append(args) or original(*args))
    monkeypatch.setenv("S2S_CACHE", "0")
    lookup.forget()
    f, place, make = ANY_LENGTH[case]
    g = s2s.grad(f, argnums=place)
    g.clear()
    rng = np.random.default_rng(1)
    for n in range(4, 40):
        args = make(n, rng)
        found = g(*args)
        assert len(found) == len(args[place])
        if n in (4, 5, 17, 39):
            tangent = map_tree(lambda a: rng.normal(size=np.shape(a))[()] if is_float(a) else a, args[place])
            numeric = slope(f, args, place, tangent)
            products = [np.sum(a * b) for a, b in zip(leaves(found), leaves(tangent), strict=True)]
            np.testing.assert_allclose(sum(products), numeric, rtol=1e-6, atol=1e-8)
            fixed = [*args]
            del fixed[place]
            dot = s2s.jvp(lambda v, r=fixed: f(*r[:place], v, *r[place:]), (args[place],), (tangent,))[1]
            np.testing.assert_allclose(dot, numeric, rtol=1e-6, atol=1e-8)
    assert len([args for args in compiled if args[0] is f]) == 2  # for the first length, and for any
    source = s2s.source(f, *make(40, rng), argnums=place)
    assert len(source.splitlines()) < 40


def slope(f, args, place, tangent, step=1e-6):
    """The derivative along a tangent of one argument, by central differences."""

    def moved(sign):
        pairs = zip(leaves(args[place]), leaves(tangent), strict=True)
        shifted = iter([a + sign * step * t if is_float(a) else a for a, t in pairs])
        return f(*args[:place], map_tree(lambda leaf: next(shifted), args[place]), *args[place + 1 :])

    return (moved(1) - moved(-1)) / (2 * step)


def test_second_derivatives_with_respect_to_a_list():
    for n in (4, 5, 9):
        values = [0.3 + 0.2 * k for k in range(n)]
        hessian = s2s.hessian(of_floats)(values)
        for k in range(n):
            above, below = [[v + s * (i == k) for i, v in enumerate(values)] for s in (1e-6, -1e-6)]
            rows = (np.array(s2s.grad(of_floats)(above)) - np.array(s2s.grad(of_floats)(below))) / 2e-6
            np.testing.assert_allclose([hessian[i][k] for i in range(n)], rows, rtol=1e-5, atol=1e-6)


def grows(values):
    values.append(values[0] * values[1])
    return values[-1] ** 2


def changes_items(arrays):
    for a in arrays:
        a *= 2.0
    return sum(np.sum(a**2) for a in arrays)


def test_what_is_refused_for_any_length_is_compiled_for_each(monkeypatch):
    attempts = []
    original = lookup.run_compiler
    monkeypatch.setattr(lookup, "run_compiler", lambda *args: attempts.append(args) or original(*args))
    monkeypatch.setenv("S2S_CACHE", "0")
    lookup.forget()
    g = s2s.grad(grows)
    for n in range(4, 9):
        values = [2.0 + k for k in range(n)]
        assert g(values) == [2 * values[0] * values[1] ** 2, 2 * values[1] * values[0] ** 2, *[0.0] * (n - 2)]
        assert len(values) == n
    assert len([args for args in attempts if args[0] is grows]) == 6  # one for each length, and the one refused
    for n in (4, 5, 40):
        arrays = ragged(n)
        before = [a.copy() for a in arrays]
        for a, d, b in zip(arrays, s2s.grad(changes_items)(arrays), before, strict=True):
            np.testing.assert_allclose(d, 8 * b)
            np.testing.assert_array_equal(a, b)


def doubles(u, arrays):
    u *= 2.0
    return sum(np.sum(u * a) for a in arrays)


@pytest.mark.parametrize("count", [4, 5, 80])
def test_an_array_that_is_changed_and_is_in_a_list(count):
    g = s2s.grad(doubles)
    g(np.ones(3), [np.ones(3) for _ in range(6)])
    arrays = [np.ones(3) for _ in range(count)]
    np.testing.assert_allclose(g(np.ones(3), arrays), np.full(3, 2.0 * count))
    with pytest.raises(s2s.errors.ArgumentError, match="share memory"):
        g(arrays[1], arrays)


def test_lists_of_one_length_stay_structures():
    def weighted(x, arrays):
        total = 0.0
        for a in arrays:
            total += np.sum(x * a)
        return total

    source = s2s.source(weighted, np.ones(3), [np.ones(3)] * 5, argnums=0)
    assert "for " not in source
