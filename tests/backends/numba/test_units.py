"""Loops over elements as functions of their own: what is one, that those alike are one, and what they compute."""

import ast

import numba
import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.backends.numba import units
from s2s.backends.numba.elements import ELEMENTS
from s2s.backends.numba.messages import without_shapes
from s2s.backends.numba.nests import nest_of

KNOWN = {"rt": rt, "np": np}


def static(expr):
    try:
        return eval(ast.unparse(expr), dict(KNOWN))
    except (NameError, AttributeError):
        return None


def read(text):
    return nest_of(ast.parse(text).body[0], static, lambda value, call: value)


def test_the_source_of_a_loop():
    nest, arguments = read(
        "for i in rt.places(t5):\n"
        "    total = 0.0\n"
        "    for j in rt.places(3):\n"
        "        lower = -speed[i + 1, t7] * rate\n"
        "        total = total + np.exp(lower)\n"
        "        whole += lower\n"
        "    t9[i] -= total"
    )
    assert nest.text.splitlines() == [
        "for v0 in places(s0):",
        "    v1 = 0.0",
        "    for v2 in places(3):",
        "        v3 = -a1[v0 + 1, s2] * s3",
        "        v1 = v1 + exp(v3)",
        "        s4 = s4 + v3",
        "    a5[v0] = a5[v0] - v1",
    ]
    assert [ast.unparse(a) for a in arguments] == ["t5", "speed", "t7", "rate", "whole", "t9"]
    assert nest.results == ("s4",)
    assert nest.functions == (("exp", np.exp),)


def test_loops_that_read_alike_are_one():
    first, _ = read("for i in rt.places(n):\n    x[i] = y[i] + c")
    second, _ = read("for k in rt.places(m):\n    u[k] = w[k] + d")
    other, _ = read("for k in rt.places(m):\n    u[k] = u[k] + d")
    assert units.unit(first) is units.unit(second)
    assert units.unit(other) is not units.unit(first)


@pytest.mark.parametrize(
    "body",
    [
        "x[i] = round(y[i])", "x[i] = y[i:]", "if y[i]:\n        x[i] = 1.0", "x.append(y[i])", "x[i] = y.z[i]",
        "x[i] = y[i] // 2", "x[i] = np.hypot(y[i])", "for i in rt.places(2):\n        x[i] = 0.0",
        "for j in rt.places(2):\n        s = 1.0\n    x[i] = s", "for j in range(2):\n        x[i] = y[j]",
    ],
)  # fmt: skip
def test_other_loops_are_left_alone(body):
    assert read(f"for i in rt.places(n):\n    {body}") is None


@pytest.mark.slow
def test_one_function_for_loops_that_read_alike():
    def loss(x, y):
        a = np.sin(x)
        b = y @ a
        c = np.sin(b)
        d = y @ c
        return np.sum(np.sin(d) * a)

    found = []
    original = units._function
    try:
        units._function = lambda *args: (found.append(original(*args)), found[-1])[1]
        s2s.grad(s2s.differentiable(loss, backend="numba"))(np.ones(5), np.ones((5, 5)))
    finally:
        units._function = original
    assert len({f.name for f in found}) < len(found)
    assert all("noinline" in f.attributes for f in found)


EXPRESSIONS = """
    x[i] < n;  k[i] >= c;  n == k[i];  x[i] != x[i];  m[i] == 1;  m[i] < c;  k[i] <= 2;  -x[i];  -k[i];  not m[i]
    x[i] + k[i];  m[i] + x[i];  k[i] * n;  k[i] / n;  x[i] / k[i];  n - c;  c - k[i];  x[i] ** 2;  2.0 ** k[i]
    m[i] & (x[i] > c);  (x[i] < c) | (k[i] > n);  np.where(m[i], k[i], x[i]);  np.where(k[i], 1, n)
    np.sqrt(k[i]);  np.hypot(n, x[i]);  x[rt.around(i, n, 4)];  w[i, 1];  w[3 - i, n - 2] + 1;  k[i + 2]
""".replace("\n", ";").split(";")  # fmt: skip


def test_expressions_are_those_of_numpy():
    """Of floats, integers and truth values: what is written for LLVM gives what the text gives in Python."""
    lines = [f"out[{j}, i] = {text.strip()}" for j, text in enumerate(filter(str.strip, EXPRESSIONS))]
    lines += ["for j in rt.places(n):", "    inner = k[j] * c", "    s = s + inner"]
    text = "\n    ".join(["for i in rt.places(4):", *lines])
    nest, arguments = read(text)
    scope = {"unit": units.unit(nest), **KNOWN}
    exec(f"def compiled(out, x, k, m, w, n, c, s):\n    return unit({', '.join(map(ast.unparse, arguments))})\n"
         f"def plain(out, x, k, m, w, n, c, s):\n    {text.replace(chr(10), chr(10) + '    ')}\n    return s", scope)
    x, m = np.array([0.5, 2.0, np.nan, 3.0]), np.array([True, False, True, False])
    k, w = np.array([2, 0, 3, 0, 0, 0, -1, 0, 4, 0, 5, 0])[::2], np.arange(8.0).reshape(2, 4).T
    found, expected = np.full((2, len(lines) - 3, 4), 77.0)
    with np.errstate(all="ignore"):
        sums = numba.njit(scope["compiled"])(found, x, k, m, w, 2, 1.5, 0.25), scope["plain"](
            expected, x, k, m, w, 2, 1.5, 0.25)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(*sums, rtol=1e-15)


def many_kinds(x, y, k, mask, c, n):
    a = 0.3 * np.where(mask, x[1:] * y[:-1] - c, n - x[:-1])
    b = np.where((a > 0.0) & (k[1:] <= n), np.exp(-a), 0.1 * (a**2 + abs(a) ** 1.5))
    d = np.maximum(b, np.minimum(x[:-1], 0.3)) / (1.0 + k[:-1])
    e = np.roll(d, 2) * np.hypot(d, 1.0) + np.sqrt(b * b + 1.0) ** y[1:]
    u = np.zeros_like(x)
    u[1:] += e * n
    u[:-1] -= d
    u[2:-1] *= 1.5
    return np.sum(u * u) + np.max(e) - np.min(d) + np.sum(np.where(mask, 1.0, -e))


def arguments():
    r = np.random.default_rng(3)
    x, y = r.normal(size=9), r.uniform(0.5, 1.5, size=9)
    return x, y, r.integers(0, 4, size=9), r.normal(size=8) > 0.0, 0.7, 2


def turned(*args):
    return tuple(a[::-1].repeat(2)[::-2] if isinstance(a, np.ndarray) else a for a in args)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::s2s.NumbaFallbackWarning")
@pytest.mark.parametrize("change", [lambda *a: a, turned])
def test_numbers(change):
    args = change(*arguments())
    compiled = s2s.differentiable(many_kinds, backend="numba")
    gradients = s2s.grad(compiled, argnums=(0, 1, 4))(*args)
    for place, found in zip((0, 1, 4), gradients, strict=True):
        step = 1e-6
        for at in np.ndindex(np.shape(args[place])):
            values = []
            for sign in (1.0, -1.0):
                moved = np.array(args[place], dtype=float)
                moved[at] += sign * step
                given = list(args)
                given[place] = moved if moved.ndim else float(moved)
                values.append(many_kinds(*given))
            assert np.isclose(found[at] if np.ndim(found) else found, (values[0] - values[1]) / (2 * step), rtol=1e-5)


def test_lengths_are_compared_at_once():
    differ, length = ELEMENTS["differ element"], ELEMENTS["length 1 element"]

    @numba.njit
    def compared(x, n):
        return differ((length(x), n, 3)), differ((x.shape[0], 2))

    assert compared(np.ones((2, 3)), 3) == (False, False)
    assert compared(np.ones((2, 4)), 3) == (True, False)
    assert compared(np.ones((5, 3)), np.int32(2)) == (True, True)


@pytest.mark.slow
def test_what_does_not_fit_a_slice_raises_without_functions_on_strings():
    def store(x, y):
        x[1:] = y

    made = numba.njit(store)
    with without_shapes():
        made.compile((numba.float64[::1], numba.float64[::1]))
    x = np.zeros(4)
    made(x, np.ones(3))
    assert x.tolist() == [0.0, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="shapes differ"):
        made(x, np.ones(2))
    assert "unicode" not in next(iter(made.inspect_llvm().values()))
    plain = numba.njit(store)
    with pytest.raises(ValueError, match="cannot assign slice of shape"):
        plain(x, np.ones(2))


def test_users_see_what_numpy_says():
    def loss(x, y):
        u = np.zeros(4) + x[0]
        u[1:] = y
        return np.sum(u * u)

    compiled = s2s.grad(s2s.differentiable(loss, backend="numba"))
    assert np.allclose(compiled(np.ones(2), np.ones(3)), [2.0, 0.0])
    with pytest.raises(ValueError, match="could not broadcast input array"):
        compiled(np.ones(2), np.ones(2))

