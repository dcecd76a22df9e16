"""Tangents of calls: with several results, of unknown shapes, of functions chosen when the program runs."""

import functools
import json
from collections import namedtuple

import numpy as np
import pytest
from scipy import special

import s2s
from s2s.errors import DifferentiationError
from tests.fuzz.primal import load
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8])
V = np.array([1.0, 0.5, -2.0])
MATRIX = np.arange(9.0).reshape(3, 3)
Pair = namedtuple("Pair", "left right")


def same(x):
    return x


CHOICES = {
    "same": same, "call": lambda f: f(2.0), "total": lambda items: np.sum([1.0 for _ in items]),
    "make": lambda x: lambda t: t * x[0], "scaled": lambda x, by: x * by, "squares": lambda x: {"a": x, "b": x * x},
    "count": len, "sum_of": lambda *given: sum(given), "entries": lambda x: [x[0], x[1] * x[2]],
    "fill": lambda y, x: y.__setitem__(0, x[0]),
}  # fmt: skip
"""Functions of which the program finds one by a name in JSON: which one is known only when it runs."""


def choose(name):
    return CHOICES[json.loads(name)]


def slopes(f, *rest):
    return differences(lambda t: f(X + t * V, *rest), 0.0)


# --- rules


def remainder_of_an_argument(x):
    quotient, rest = np.divmod(x, 0.3)
    return np.sum(quotient * rest)


def remainder_by_an_argument(x):
    quotient, rest = np.divmod(5.1, np.abs(x))
    return np.sum(quotient * rest)


def remainder_of_both(x):
    return np.sum(np.divmod(x * 4.0, np.abs(x[1]))[1] * x)


def parts_of_a_number(x):
    fraction, whole = np.modf(x * 1.7)
    return np.sum(fraction * whole * x)


def integrals(x):
    """The sine and the cosine integral: one function with two results."""
    sine, cosine = special.sici(np.abs(x))
    return np.sum(sine * cosine) + sine[0]


def two_arguments_of_which_one_moves(x):
    even, slope = special.mathieu_cem(2, 1.3, 10.0 * x)
    return np.sum(even * slope)


def rows_and_a_tangent_of_unknown_shape(x):
    """The tangent of the median is of no known shape: with the rows of a matrix it has to be stretched."""
    middles = np.median(MATRIX * x, axis=0)
    return np.sum((np.ones((3, 3)) + middles)[1:] * MATRIX[1:]) + np.sum(np.tanh(middles) * middles)


def shape_known_later(x):
    shape = json.loads("[3]")
    stretched = np.ones(shape) + np.prod(x)
    turned = np.reshape(np.linspace(0.0, 1.0, 3), shape) * x[0] + x[1]
    return stretched[1] * turned[2] + np.sum(stretched[1:])


def rank_known_later(x):
    stretched = np.ones(json.loads("[2, 3]")) + max(0.3, x[0])
    rows = np.ones(json.loads("[2, 3]")) + x
    return np.sum((stretched * x)[1]) + np.sum((stretched + np.median(x)).T[2]) + np.sum(rows[1] * x) + rows[0, 1]


def rows_of_an_array_of_unknown_rank(x):
    rows = np.asarray(json.loads("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"), dtype=float) + x
    return np.sum(rows[1] * x) + rows[0, 1]


def value_known_later(x):
    y = choose('"same"')(x)
    return np.sum((np.ones((2, 3)) + y[0])[1] * y) + np.sum(np.tanh(y) * np.arctan2(y, 0.5))


def sums(x):
    return np.sum(x, dtype=np.float64) * np.add.reduce(x)


def broadcast_together(x):
    a, b = np.broadcast_arrays(x, x[:, None] * 2.0)
    return np.sum(a * b * np.arange(3.0))


@pytest.mark.parametrize(
    "f",
    [
        *(remainder_of_an_argument, remainder_by_an_argument, remainder_of_both, parts_of_a_number, integrals),
        *(two_arguments_of_which_one_moves, rows_and_a_tangent_of_unknown_shape, shape_known_later, rank_known_later),
        *(rows_of_an_array_of_unknown_rank, value_known_later, sums, broadcast_together),
    ],
    ids=lambda f: f.__name__,
)
def test_rules(f):
    np.testing.assert_allclose(s2s.jvp(f, (X,), (V,))[1], slopes(f), rtol=1e-8)


@pytest.mark.parametrize(
    "f, count",
    [
        (lambda x: np.tanh(x + 1.0) + 1.0, 0),
        (lambda x: x + 1.0, 0),
        (lambda x: np.asarray(1.0) * np.median(x) + np.median(x), 0),
        (lambda x: np.tanh(np.median(MATRIX * x, axis=0)), 0),
        (lambda x: np.ones((3, 3)) + np.median(MATRIX * x, axis=0), 1),
        (lambda x: np.asarray(json.loads("[[1.0, 2.0]]"), dtype=float) + x[0], 1),
    ],
    ids=["known shapes", "a sum", "numbers", "a product with an array of the shape", "rows", "no known rank"],
)
def test_tangents_are_stretched_only_where_shapes_may_differ(f, count):
    text = s2s.source(f, X, mode="jvp")
    assert text.count("tangent_like(") == count, text


def test_tangents_have_the_dtype_of_their_values():
    def f(x, name):
        y = x.astype(np.float32)
        known_later = choose(name)(x)
        return y * 2.0, {"halves": y * np.ones(json.loads("[3]"), np.float32), "later": np.float32(2.0) * known_later}

    (doubled, more), (dot, more_dot) = s2s.jvp(f, (X, '"same"'), (V, None))
    assert doubled.dtype == dot.dtype == more["halves"].dtype == more_dot["halves"].dtype == np.float32
    assert more["later"].dtype == more_dot["later"].dtype
    np.testing.assert_allclose(dot, 2.0 * V, rtol=1e-6)
    np.testing.assert_allclose(more_dot["halves"], V, rtol=1e-6)
    np.testing.assert_allclose(more_dot["later"], 2.0 * V, rtol=1e-6)


# --- calls decided when the program runs


def method_of_two_arguments(x, name):
    return getattr(x, json.loads(name))(x * 2.0)


def method_without_arguments(x, name):
    return getattr(x, json.loads(name))() * x[0]


def attributes_of_a_result(x, name):
    y = choose(name)(x)
    return np.sum(y.T * y.real) + y.sum() + y.clip(-1.0, x[0])[0] + y.reshape(3, 1)[1, 0]


def keywords(x, name):
    return np.sum(choose(name)(x, **json.loads('{"by": 3.0}')) * x)


def items_of_a_dict(x, name):
    found = choose(name)(x)
    return np.sum(found["a"] * found["b"]) + sum(np.sum(v) for v in found.values())


def items_of_a_list(x, name):
    first, second = choose(name)(x)
    return first * second


def starred(x, name):
    return np.sum(choose(name)(x, *[2.0 * v for v in x]))


def filled(y, x, name):
    choose(name)(y, x)
    return y


def length(x, name):
    return choose(name)(x) * x[0]


@pytest.mark.parametrize(
    "f, name",
    [
        (method_of_two_arguments, "dot"), (method_without_arguments, "sum"), (method_without_arguments, "prod"),
        (attributes_of_a_result, "same"), (keywords, "scaled"), (items_of_a_dict, "squares"),
        (items_of_a_list, "entries"), (starred, "sum_of"), (length, "count"),
    ],
    ids=lambda given: getattr(given, "__name__", given),
)  # fmt: skip
def test_calls_decided_when_the_program_runs(f, name):
    _, tangent = s2s.jvp(f, (X, json.dumps(name)), (V, None))
    np.testing.assert_allclose(tangent, slopes(f, json.dumps(name)), rtol=1e-8)


def test_a_display_of_what_a_call_gives():
    def f(x, name):
        first, *rest = [x[0], *choose(name)(x)]
        return first * sum(rest)

    expected = (f(X + 1e-6 * V, json.dumps("entries")) - f(X - 1e-6 * V, json.dumps("entries"))) / 2e-6
    assert s2s.jvp(f, (X, json.dumps("entries")), (V, None))[1] == pytest.approx(expected, rel=1e-6)
    slope = s2s.grad(f)(X, json.dumps("entries"))
    assert slope @ V == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "f, name, code",
    [
        (lambda x, name: choose(name)(zip(x, x)), "total", "S2S210"),
        (lambda x, name: choose(name)(enumerate(x)), "total", "S2S210"),
        (lambda x, name: choose(name)(functools.partial(np.multiply, x[0])), "call", "S2S210"),
        (lambda x, name: choose(name)(np.vectorize(lambda t: t * x[0])), "call", "S2S143"),
        (lambda x, name: choose(name)(x.dot), "same", "S2S208"),
        (lambda x, name: choose(name)(x)(2.0), "make", "S2S206"),
        (lambda x, name: {**choose(name)(x), "c": 2.0 * x}["a"], "squares", "S2S210"),
        (lambda x, name: choose(name)(x).base, "same", "S2S208"),
        (lambda x, name: choose(name)({x[0], x[1]}), "count", "S2S210"),
        (lambda x, name: Pair(*choose(name)(x)).left, "entries", "S2S207"),
        (lambda x, name: np.sum(filled(np.zeros(3), x, name) * x), "fill", "S2S122"),
    ],
    ids=["zip", "enumerate", "partial", "vectorize", "bound method", "made function", "merged dicts", "attribute",
         "set", "named tuple of unknown items", "changed argument"],
)  # fmt: skip
def test_refused(f, name, code):
    """A tangent that would be lost is no silent zero."""
    with pytest.raises(DifferentiationError) as info:
        s2s.jvp(f, (X, json.dumps(name)), (V, None))
    assert info.value.diagnostic.code == code


def test_only_calls_with_a_tangent_are_followed_when_the_program_runs():
    text = s2s.source(items_of_a_list, X, '"entries"', mode="jvp")
    assert text.count("rt.push(") == 1 and "rt.push(choose('" in text, text


# --- containers


def test_containers_have_tangents_of_their_structure():
    def f(x):
        numbers = [x[0], 2.0, 3]
        pair = Pair(x * 2.0, numbers)
        product = 1.0
        for k in range(3):
            product = product * x[k]
        return product, pair, np.float32(2.0), {"ones": np.ones(2)}, pair.right[0:2]

    _, (product, pair, single, mapping, cut) = s2s.jvp(f, (X,), (V,))
    assert product == pytest.approx(float(differences(lambda t: np.prod(X + t * V), 0.0)), rel=1e-8)
    assert type(pair) is Pair and pair.right[0] == cut[0] == V[0] and pair.right[1] == cut[1] == 0.0
    np.testing.assert_array_equal(pair.left, 2.0 * V)
    assert type(single) is np.float32 and single == 0.0
    np.testing.assert_array_equal(mapping["ones"], np.zeros(2))


def test_zeros_of_numbers_are_constants():
    def f(x):
        product = 1.0
        for k in range(3):
            product = product * x[k]
        return product, 2.0

    text = s2s.source(f, X, mode="jvp")
    assert "    product_dot = 0.0\n" in text and text.endswith("return (product, 2.0), (product_dot, 0.0)\n"), text


def grown(x, n):
    items, mapping = [x[0]], {"first": x[1]}
    for k in range(n):
        items.append(x[k] * items[k])
    mapping["second"] = items[-1] * x[2]
    items[0] = mapping["first"]
    items[1:3] = [x[2], 1.0]
    head, *rest = items
    return head * mapping["second"] + sum(v * v for v in rest) + sum(list(x * x)) + tuple(items)[1]


def unpacked(x, n):
    first, *rest = x
    *start, last = x * x
    (a, b), c = (x[0], x[1] * n), x[2]
    return first * rest[1] + start[1] * last + a * b * c


def number_with_an_axis(x, n):
    return np.sum(x[0][None] * np.sum(x * x)[..., None] * np.arange(n))


def compact(x, n):
    """The tangent of a sum with a number is one number: each item of it is that."""
    y = np.ones(3) + x[0] * x[1]
    return y[n] + np.sum(y[1:]) * y[0]


@pytest.mark.parametrize("f", [grown, unpacked, number_with_an_axis, compact], ids=lambda f: f.__name__)
def test_items(f):
    np.testing.assert_allclose(s2s.jvp(f, (X, 2), (V, None))[1], slopes(f, 2), rtol=1e-8)


BOOLEANS_BESIDE_NUMBERS = """
np.array([x, x > 1.5, x * x]) ; np.asarray((x, True)) ; np.array([[x, x > 1.5], [x * x, False]]) ; np.sort([x, True])
np.array([x, 3, x is None]) ; np.ascontiguousarray([x, x > 0.0]) ; np.stack([x, x > 1.5]) ; np.append(x, x > 1.5)
np.where(x > 1.5, x, x < 3.0) ; np.where(x > 3.0, x, x > 3.0) ; np.mean((x, True)) ; np.sum([x, x > 1.5])
np.dot([x, True], [x, x]) ; np.linalg.norm([x, True]) ; np.kron([x, True], [x, True]) ; np.cumprod([x, True])
np.linalg.solve([[x, False], [True, x]], [x, True]) ; np.reshape([x, True, False, x], (2, 2)) ; np.median([x, True])
np.broadcast_to([x, True], (2, 2)) ; np.full(2, [x, True]) ; np.repeat([x, True], 2) ; np.insert([x, True], 1, x)
np.max(np.array([x, True]), initial=True, where=[True, False]) ; np.prod([x, x > 1.5, x]) ; max([x, True])
np.asarray([x, True]).astype(float) ; np.full_like(np.ones(2), [x, True]) ; np.concatenate([[x, True], [False]])
""".replace("\n", " ; ").strip(" ;").split(" ; ")


@pytest.mark.parametrize("text", BOOLEANS_BESIDE_NUMBERS)
def test_booleans_beside_numbers_are_as_zeros(text):
    """Python's booleans and NumPy's, in lists and alone, in both modes."""
    f = load(f"def f(x):\n    return {text}\n")
    value, tangent = s2s.jvp(f, (2.2,), (1.0,))
    np.testing.assert_array_equal(value, f(2.2))
    assert np.asarray(tangent).dtype == float
    expected = (np.asarray(f(2.2 + 1e-6), float) - np.asarray(f(2.2 - 1e-6), float)) / 2e-6
    np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacrev(f)(2.2), expected, rtol=1e-6, atol=1e-8)


SQUARES = ["x * x", "np.multiply(x, x)", "operator.mul(x, x)"]


@pytest.mark.parametrize("text", SQUARES)
def test_a_square_has_one_product_with_its_tangent(text):
    f = load(f"import operator\ndef f(x):\n    return np.sum({text})\n")
    assert "np.sum(2.0 * x_dot * x)" in s2s.source(f, np.ones(3), mode="jvp")
    x, x_dot = np.array([0.3, -1.2, 2.0]), np.array([1.0, 0.5, -2.0])
    np.testing.assert_allclose(s2s.jvp(f, (x,), (x_dot,))[1], 2.0 * x @ x_dot, rtol=1e-12)
    np.testing.assert_allclose(s2s.hvp(f, (x,), (x_dot,)), 2.0 * x_dot, rtol=1e-12)


@pytest.mark.parametrize("text", ["x * y", "np.multiply(x, y)", "x * (1.0 * x)"])
def test_other_products_have_two(text):
    f = load(f"def f(x, y):\n    return np.sum({text})\n")
    x, y = np.array([0.3, -1.2]), np.array([2.0, 0.7])
    other = x if "y" not in text else y
    x_dot, y_dot = np.array([1.0, 0.5]), np.array([-2.0, 3.0])
    expected = x_dot @ other + x @ (x_dot if other is x else y_dot)
    np.testing.assert_allclose(s2s.jvp(f, (x, y), (x_dot, y_dot))[1], expected, rtol=1e-12)
