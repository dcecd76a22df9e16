"""Jacobians of Jacobians whose structure is known only when they are put together: of results and arguments that are
tuples, dicts and objects, and of results of an unknown kind. Held against central differences of the inner Jacobian."""

import functools
import inspect
from dataclasses import dataclass

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.runtime import directions

X = np.array([0.4, 0.7, 1.1])
INNER = {"jacfwd": s2s.jacfwd, "jacrev": s2s.jacrev}


@dataclass
class Rates:
    growth: np.ndarray
    decay: float


def tuple_of_kinds(x):
    return np.sum(x**3), x[0] * x * x[1]


def dict_of_kinds(x):
    return {"a": np.sin(x) * x[2], "b": (x[0] ** 2 * x[1], np.outer(x, x * x))}


def of_dict(p):
    return np.array([p["a"][0] * p["b"], p["a"][1] * p["a"][0] ** 2 * p["b"]])


def tuple_of_dict(p):
    return p["b"] ** 2 * p["a"], np.sum(p["a"] ** 2) * p["b"]


def _differences(f, x, step=1e-6):
    """The Jacobian of a function of an array, or of a dict of arrays, as one matrix: rows by result."""
    leaves = rt.floats(x)

    def moved(place, element, amount):
        made = iter(range(len(leaves)))

        def one(leaf):
            if next(made) != place:
                return leaf
            if np.ndim(leaf) == 0:
                return leaf + amount
            changed = leaf.copy()
            changed.flat[element] += amount
            return changed

        return rt.map_floats(one, x, lambda leaf: leaf)

    def flat(value):
        return np.concatenate([np.ravel(part) for part in rt.floats(value)])

    columns = [
        (flat(f(moved(k, i, step))) - flat(f(moved(k, i, -step)))) / (2.0 * step)
        for k, leaf in enumerate(leaves)
        for i in range(np.size(leaf))
    ]
    return np.stack(columns, axis=1)


def _matrix(jacobian, result, x):
    """A Jacobian with the structure of ``result`` and then that of ``x``, as an array of all numbers."""
    rows = []
    for part in _parts(jacobian, result):
        pairs = zip(rt.floats(part), rt.floats(x), strict=True)
        rows.append(np.concatenate([np.reshape(block, (-1, np.size(leaf))) for block, leaf in pairs], axis=1))
    return np.concatenate(rows, axis=0)


def _parts(jacobian, result):
    """What stands in a Jacobian where the result has its floats."""
    if isinstance(result, dict):
        return [part for key, item in result.items() for part in _parts(jacobian[key], item)]
    if isinstance(result, (tuple, list)):
        return [part for k, item in enumerate(result) for part in _parts(jacobian[k], item)]
    if rt.has_parts(result):
        return [p for name in rt.attributes_of(result) for p in _parts(getattr(jacobian, name), getattr(result, name))]
    return [jacobian]


@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
@pytest.mark.parametrize(
    "f, x",
    [
        (tuple_of_kinds, X),
        (dict_of_kinds, X),
        (of_dict, {"a": X[:2], "b": 0.6}),
        (tuple_of_dict, {"a": X[:2], "b": 0.6}),
    ],
)
def test_jacobians_of_jacobians_of_containers(f, x, inner, outer):
    first = INNER[inner](f)
    found = INNER[outer](first)(x)
    np.testing.assert_allclose(_matrix(found, first(x), x), _differences(first, x), rtol=1e-6, atol=1e-8)


def _total_of_inner(x):
    a, b = s2s.jacrev(tuple_of_kinds)(x)
    return np.sum(a**2) + np.sum(b * b * x)


def test_a_jacobian_of_a_tuple_inside_a_function():
    np.testing.assert_allclose(
        s2s.grad(_total_of_inner)(X), _differences(lambda x: np.array(_total_of_inner(x)), X)[0], rtol=1e-6
    )


def _hessian_by_differences(f, x):
    return _differences(s2s.grad(f), x)


def complex_steps(x):
    z = 0.0 + 0.0j
    c = x[0] + 1j * x[1]
    n = 0
    while abs(z) < 2 and n < 8:
        z = z * z + c * x[2]
        n += 1
    return z.real**2 + z.imag * x[0]


def _halves(x):
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    return np.sin(_halves(x[:m])) * _halves(x[m:]) + _halves(x[m:])


def by_recursion(x):
    return _halves(x)


def _layers(x, n):
    return x if n == 0 else np.sin(_layers(x, n - 1)) * x + 0.1 * n * x


def summed_recursion(x):
    return np.sum(_layers(x, 5))


def _grown(y, x):
    if y > 10.0:
        return y * x[1]
    return _grown(y * (1.3 + x[0]) + np.sin(y), x)


def grown_until_large(x):
    return _grown(x[2] + 0.5, x) * x[0]


@pytest.mark.parametrize("f", [complex_steps, by_recursion, summed_recursion, grown_until_large])
def test_hessians_of_results_of_an_unknown_kind(f):
    np.testing.assert_allclose(s2s.hessian(f)(X), _hessian_by_differences(f, X), rtol=1e-6, atol=1e-7)


def _squares_of_the_hessian(x):
    return np.sum(s2s.hessian(by_recursion)(x) ** 2)


@pytest.mark.slow
def test_third_derivatives_of_a_recursion_end(monkeypatch):
    """Those of a call that is decided at run time are not followed: refused, and then recorded."""
    with pytest.raises(s2s.errors.NoDerivativeError, match="more often than can be followed"):
        s2s.grad(_squares_of_the_hessian)(X)
    monkeypatch.delenv("S2S_RECORDED")
    expected = _differences(lambda x: np.array(_squares_of_the_hessian(x)), X)[0]
    np.testing.assert_allclose(s2s.grad(_squares_of_the_hessian)(X), expected, rtol=1e-6)


def while_growing(x):
    y = np.sum(x)
    s = 1.0
    while y < 50.0:
        y = y * (1.1 + 0.1 * x[0]) + np.sin(x[1])
        s = s * np.cos(y) + x[2]
    return s + y * x[0]


def with_early_return(x):
    s = x[0]
    for _ in range(30):
        s = s * (1.0 + x[1] * 0.3) + np.sin(x[2] * s)
        if s > 5.0:
            return s * s * x[2]
    return s


def rows_in_a_list(x):
    rows = []
    y = x
    for t in range(5):
        y = np.sin(y) * x + 0.1 * t
        rows.append(y)
    return np.sum(np.stack(rows) ** 3 * x)


@pytest.mark.parametrize("f", [while_growing, with_early_return, rows_in_a_list, complex_steps, grown_until_large])
def test_hessian_of_a_function_without_kinds(f):
    """The text that is printed where nothing is said of the arguments gives the Hessian."""
    namespace = {"_grown": _grown}
    exec(s2s.source(f, mode="hessian"), namespace)
    made = [v for v in namespace.values() if inspect.isfunction(v) and v.__name__.startswith(f.__name__)][-1]
    np.testing.assert_allclose(made(X), _hessian_by_differences(f, X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("single", [True, False])
def test_what_puts_jacobians_together_is_transposed(single):
    """For the pairs of functions ``<rows(b), g> == <b, rows_bar(g)>``, and the same of ``columns``."""
    random = np.random.default_rng(0)
    out = {"u": np.zeros(2), "v": (1.0, Rates(np.zeros((2, 2)), 3.0), None)}
    values = (X, {"a": np.zeros((2, 3)), "n": 3, "b": 1.0})
    values = values[:1] if single else values
    n_out, n_in = 2 + 1 + 4 + 1, sum(np.size(leaf) for leaf in rt.floats(values))
    bars = rt.map_floats(lambda leaf: random.standard_normal((*np.shape(leaf), n_out)), values)
    result = {"u": X, "v": (1.0, np.zeros(2))}
    dots = rt.map_floats(lambda leaf: random.standard_normal((*np.shape(leaf), n_in)), result)
    like = rt.map_floats(lambda leaf: leaf, dots)

    def product(a, b):
        pairs = zip(rt.floats(a), rt.floats(b), strict=True)
        return sum(np.vdot(p, q) for p, q in pairs)

    rows = directions.rows(bars, out, single)
    g = rt.map_floats(lambda leaf: random.standard_normal(np.shape(leaf)), rows)
    np.testing.assert_allclose(product(rows, g), product(bars, directions.rows_bar(g, bars, out, single)))
    columns = directions.columns(dots, values, single)
    g = rt.map_floats(lambda leaf: random.standard_normal(np.shape(leaf)), columns)
    np.testing.assert_allclose(product(columns, g), product(dots, directions.columns_bar(g, like, values, single)))


def _folded(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, x[::-1], strict=True)):
        total = total * a + b**2 * (i + 1)
    return total + sum(v * v * w for v, w in zip(list(x), x[1:], strict=False))


def _reduced_rows(x):
    s = functools.reduce(lambda a, b: np.sin(a) * b + a, x)
    return np.sum(s * s)


@pytest.mark.parametrize("f, x", [(_folded, X), (_reduced_rows, np.outer(X, X[:2]) + 0.3)])
@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
def test_second_derivatives_of_items_that_are_read_one_by_one(f, x, outer):
    """What the items of an array get is put together as the array is: by `rt.like` where a list was made of it."""
    found = INNER[outer](s2s.grad(f))(x)
    assert found.shape == x.shape + x.shape
    np.testing.assert_allclose(found.reshape(x.size, x.size), _hessian_by_differences(f, x), rtol=1e-6, atol=1e-7)


def test_product_with_the_hessian_of_a_function_without_kinds():
    namespace = {"reduce": functools.reduce}
    exec(s2s.source(_folded, mode="hvp"), namespace)
    made = [v for v in namespace.values() if inspect.isfunction(v) and v.__name__.startswith("_folded")][-1]
    v = np.array([1.0, -0.5, 2.0])
    np.testing.assert_allclose(made(X, v)[1], _hessian_by_differences(_folded, X) @ v, rtol=1e-6)


@pytest.mark.parametrize("order", ["item", "ufunc"])
def test_the_gradient_of_a_jacobian_of_a_function_that_fills_an_array(order):
    t = np.linspace(0.0, 1.0, 4)

    def curve(p):
        out = np.zeros(4)
        if order == "item":
            out[...] = p[0] * np.exp(-p[1] * t)
        else:
            np.multiply(p[0], np.exp(-p[1] * t), out=out)
        return out

    def squares(x):
        return np.sum(s2s.jacfwd(curve)(x) ** 2)

    x = np.array([1.2, 0.7])
    e = np.exp(-2.0 * x[1] * t)
    wanted = [np.sum(2.0 * x[0] * t**2 * e), np.sum(-2.0 * t * e * (1.0 + x[0] ** 2 * t**2))]
    np.testing.assert_allclose(s2s.grad(squares)(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(squares, (x,), (np.ones(2),))[1], np.sum(wanted), rtol=1e-12)
