"""What the evaluator says of a call holds for the call: every function that it answers for itself, and every operator,
on values of every kind, each as the value itself, as its type, and with what it holds unknown."""

import enum
import itertools
import operator
import sys
import warnings

import numpy as np
import pytest

import s2s
from s2s.analysis.abstract import folding
from s2s.analysis.abstract.contents import _contains, item_of
from s2s.analysis.abstract.crosses import with_vectors
from s2s.analysis.abstract.evaluate import Evaluator
from s2s.analysis.abstract.lattice import known
from s2s.analysis.abstract.meanings import SPECIAL
from s2s.analysis.abstract.numbers import possible_types
from s2s.analysis.abstract.shapes import Facts, slice_length
from s2s.core.values import UNKNOWN, Array, Dim, Known, ListOf, Mapping, Scalar, Sequence, Unknown
from s2s.core.values import Range as RangeOf
from s2s.runtime import directions

VALUES = [
    2, 0, -1, 1.5, True, None, "ab", 1 + 2j, np.float64(0.5), np.float32(0.5), np.int64(2), np.bool_(True),
    slice(1, None), slice(0, 2), range(4), (1.5, 2), (), [1.5, 2.5], [], [1.5, [2.5]], {"a": 1.5},
    np.array([1.5, 2.5]), np.array([[1.5, 2.5, 0.5]]), np.array(1.5), np.array([1, 0]), np.array([True, False]),
    np.zeros((0, 2)), Ellipsis, float,
]  # fmt: skip
NUMBERS = (int, float, bool, complex, np.generic)

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.neg, operator.pos, operator.abs, operator.eq, operator.lt, operator.and_, operator.or_,
    operator.invert, operator.contains, abs, np.add, np.sqrt, np.maximum, np.where, np.sum, np.dot, np.copy, np.asarray,
    np.concatenate, np.stack, np.transpose, np.zeros_like, np.cumsum, np.max, np.argmax, np.arange, np.squeeze,
]  # fmt: skip


def abstractions(value):
    """Abstract values that hold for a value, from what says most to what says least."""
    if isinstance(value, np.ndarray):
        yield Array(value.dtype, tuple(Dim("", n) for n in value.shape))
        if all(n > 1 for n in value.shape):
            yield Array(value.dtype, tuple(Dim(f"?v.{k}") for k in range(value.ndim)))
        yield Array(value.dtype, None)
    elif isinstance(value, (tuple, list)):
        yield Sequence(type(value), tuple(next(iter(abstractions(item))) for item in value))
        if isinstance(value, list):
            yield ListOf(Scalar(float) if all(type(item) is float for item in value) else UNKNOWN)
    elif isinstance(value, dict):
        yield Mapping(tuple(value), tuple(next(iter(abstractions(item))) for item in value.values()))
    else:
        if isinstance(value, range):
            yield RangeOf()
        if isinstance(value, slice):
            bounds = (value.start, value.stop, None)
            yield Sequence(slice, tuple(known(x) if x is None else Scalar(int) for x in bounds))
        yield known(value)
        if isinstance(value, NUMBERS):
            yield Scalar(type(value))
    yield UNKNOWN


def holds(abstract, value, lengths):
    """Whether an abstract value says nothing wrong of a value; ``lengths`` are those found so far of each symbol."""
    if isinstance(abstract, Unknown):
        return True
    match abstract:
        case Known():
            same = abstract.value is value or (type(abstract.value) is type(value) and abstract.value == value)
            if isinstance(value, np.bool_) and isinstance(abstract.value, bool):  # they decide tests alike
                return bool(value) is abstract.value
            return bool(np.all(same)) or (value != value and abstract.value != abstract.value)
        case Scalar(kind):
            kinds = possible_types(kind)
            return isinstance(value, kinds) and (isinstance(value, bool) <= (bool in kinds))
        case Array(dtype, shape):
            if shape is None:  # a number of NumPy counts as one of no known rank
                return isinstance(value, (np.ndarray, np.generic)) and value.dtype == dtype
            if type(value) is not np.ndarray or value.dtype != dtype:
                return False
            return len(shape) == value.ndim and all(
                dim.offset == n if dim.is_constant else lengths.setdefault(dim.symbol, n - dim.offset) == n - dim.offset
                for dim, n in zip(shape, value.shape, strict=True)
            )
        case Sequence(kind, items) if kind is slice:
            return isinstance(value, slice)
        case Sequence(kind, items):
            return type(value) is kind and len(value) == len(items) and all(
                holds(a, v, lengths) for a, v in zip(items, value, strict=True))
        case ListOf(item):
            return type(value) is list and all(holds(item, v, {}) for v in value)
        case Mapping(keys, items):
            return type(value) is dict and tuple(value) == keys and all(
                holds(a, v, lengths) for a, v in zip(items, value.values(), strict=True))
        case RangeOf():
            return isinstance(value, range)
        case _:
            return True


def lengths_of(abstract, value):
    """The lengths that a value has, of those that its abstract value has a symbol for."""
    if not isinstance(abstract, Array) or abstract.shape is None:
        return {}
    return {d.symbol: n - d.offset for d, n in zip(abstract.shape, value.shape, strict=True) if not d.is_constant}


def name(fn):
    return f"{getattr(fn, '__module__', '')}.{getattr(fn, '__qualname__', getattr(fn, '__name__', fn))}"


def is_power_of_another_kind(fn, values, out):
    """A negative number to a fraction, truth values to any: powers are taken for those of positive numbers."""
    return fn is operator.pow and (isinstance(out, complex) or np.asarray(values[0]).dtype == bool)


SAID = [
    fn for fn, answer in SPECIAL.items()
    if not answer.__qualname__.startswith("_cotangent_of")  # that of a float, whatever stands in its place here
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("fn", [pytest.param(fn, id=name(fn)) for fn in dict.fromkeys((*SAID, *OPERATORS))])
def test_what_is_said_of_a_call_holds(fn):
    wrong = []
    for values in itertools.chain(
        itertools.product(VALUES), itertools.product(VALUES, repeat=2), itertools.product(VALUES[::4], repeat=3)
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = fn(*(v.copy() if isinstance(v, (np.ndarray, list, dict)) else v for v in values))
        except Exception:
            continue
        if is_power_of_another_kind(fn, values, out):
            continue
        for given in itertools.product(*map(abstractions, values)):
            found = Evaluator().call(fn, given)
            lengths = {}
            for abstract, value in zip(given, values, strict=True):
                lengths |= lengths_of(abstract, value)
            if not holds(found, out, lengths):
                wrong.append((values, given, found, out))
    assert not wrong, "\n".join(map(str, wrong[:5]))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [("m", "n"), ("n", "k")]), ("ij,jk", [("m", "n"), ("n", "k")]), ("ii->i", [("m", "m")]),
        ("ij->", [("m", "n")]), ("ij->ji", [("m", "n")]),
        ("abcdef,abghij->cdefghij", [tuple("abcdef"), tuple("abghij")]), ("abcdef,g->bga", [tuple("abcdef"), ("g",)]),
    ],
)
@pytest.mark.parametrize("dtypes", [(float, complex), (np.float32, int)])
def test_einsum_of_many_dimensions(subscripts, shapes, dtypes):
    sizes = dict(zip(dict.fromkeys(s for shape in shapes for s in shape), [2, 3, 4, 2, 3, 2, 1, 2, 3, 2], strict=False))
    arrays = [np.ones([sizes[s] for s in shape], d) for shape, d in zip(shapes, dtypes, strict=False)]
    given = [Array(a.dtype, tuple(Dim(f"{s}.0") for s in shape)) for a, shape in zip(arrays, shapes, strict=True)]
    found, made = Evaluator().call(np.einsum, (known(subscripts), *given)), np.einsum(subscripts, *arrays)
    if made.ndim == 0:
        assert found == Scalar(type(made))
    else:
        assert found.dtype == made.dtype
        assert tuple(sizes[d.symbol[:-2]] for d in found.shape) == made.shape


def test_einsum_takes_lengths_for_equal_that_one_letter_has():
    evaluator = Evaluator()
    m, n, k = (Dim(f"{name}.0") for name in "mnk")
    pair = Array(np.dtype(float), (m, n)), Array(np.dtype(float), (k, n))
    assert evaluator.call(np.einsum, (known("ij,ij->ji"), *pair)) == Array(np.dtype(float), (n, m))
    assert evaluator.facts.forced == [(m, k)]


@pytest.mark.parametrize(("shapes", "lengths"), [
    ([("m", "n"), ("k",)], ("*m.0*n.0", "k.0")), ([(), ("m", "n", "k")], ("", "*k.0*m.0*n.0")),
    ([("n",), ("n",)], ("n.0", "n.0")),
])
def test_outer_products_have_the_lengths_of_the_flat_arrays(shapes, lengths, monkeypatch):
    """Of which no example is made: those of products of lengths have millions of elements."""
    monkeypatch.setattr(Evaluator, "probe", None)
    evaluator = Evaluator()
    given = [Array(np.dtype(d), tuple(Dim(f"{s}.0") for s in shape)) for shape, d in zip(shapes, (int, np.float32))]
    found = evaluator.call(np.outer, tuple(given))
    made = np.outer(*(np.ones((1,) * len(shape), a.dtype) for shape, a in zip(shapes, given)))
    assert found == Array(made.dtype, tuple(Dim(symbol) if symbol else Dim("", 1) for symbol in lengths))
    assert not evaluator.facts.forced


def test_a_product_of_arrays_of_many_dimensions():
    def f(x):
        t = np.zeros_like(x) + x * x
        return np.sum(np.einsum("abcdef,abghij->cdefghij", t, x))

    x = np.random.default_rng(0).normal(size=(2, 2, 1, 2, 1, 2))
    first, second = np.sum(x * x, axis=(2, 3, 4, 5), keepdims=True), np.sum(x, axis=(2, 3, 4, 5), keepdims=True)
    np.testing.assert_allclose(s2s.grad(f)(x), 2 * x * second + first, rtol=1e-12)
    tangent = np.ones_like(x)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (tangent,))[1], np.sum(2 * x * second + first), rtol=1e-12)


def test_arguments_by_name_are_those_by_position():
    def halves(x):
        left, right = np.split(x, 2, axis=1)
        return np.sum(left * right)

    gradient, x = s2s.grad(halves), np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(gradient(x), np.roll(x, 3, axis=1))
    assert "np.concatenate([right, left], 1)" in gradient.source


def test_parts_of_complex_numbers_of_python_are_floats():
    def f(a, b):
        z = complex(a, b)
        w = z.conjugate() * z * z
        return w.real**2 + w.imag

    gradient = s2s.grad(f, argnums=(0, 1))
    step = 1e-6
    expected = [(f(0.3 + step, 0.4) - f(0.3 - step, 0.4)) / (2 * step),
                (f(0.3, 0.4 + step) - f(0.3, 0.4 - step)) / (2 * step)]
    np.testing.assert_allclose(gradient(0.3, 0.4), expected, rtol=1e-8)
    assert s2s.jvp(f, (0.3, 0.4), (1.0, 0.0))[1] == pytest.approx(expected[0])
    assert "unbroadcast" not in gradient.source


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (int.__pow__, (Scalar(int), Scalar(int))), (float.__pow__, (Scalar(float), Scalar(float))),
        (str.splitlines, (known("ab"), Scalar(bool))), (float.as_integer_ratio, (Scalar(float),)),
    ],
)  # fmt: skip
def test_nothing_is_said_of_a_function_without_a_rule(fn, args):
    """A power of integers is a float where the exponent is negative: only rules say what two examples do not show."""
    assert folding.is_pure(fn) and Evaluator().call(fn, args) is UNKNOWN


def test_powers_of_another_number_of_arguments():
    """They raise when the program runs: nothing is said of them."""
    for count in (1, 3):
        assert isinstance(Evaluator().elementwise(operator.pow, (Scalar(int),) * count), Unknown)


class Text(str):
    """Text of a class with code of its own."""


class Place(int):
    """The same of an integer."""


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("abc", 0, known("a")), ("abc", 2, known("c")), ("abc", -3, known("a")), ("abc", 3, UNKNOWN),
        ("abc", -4, UNKNOWN), ("abc", slice(1, None), known("bc")), (b"abc", 0, known(97)), (Text("abc"), 0, UNKNOWN),
        ("abc", Place(0), UNKNOWN), (Text("abc"), slice(1, None), UNKNOWN),
    ],
)  # fmt: skip
def test_items_of_text(text, at, expected):
    assert item_of(Evaluator(), known(text), known(at)) == expected


def test_an_integer_that_is_made_an_integer_stays_the_length_that_it_is():
    length = Scalar(int, Dim("x.0"))
    assert Evaluator().call(int, (length,)) == length
    assert Evaluator().call(int, (known(True),)) == known(1)
    for given in ((Scalar(float),), (Scalar(str), known(16)), (length, known(16))):
        assert Evaluator().call(int, given) == Scalar(int)
    assert Evaluator().call(bool, (length,)) == Scalar(bool)
    assert Evaluator().call(float, (length,)) == Scalar(float)


@pytest.mark.parametrize(("offset", "stop", "is_whole"), [(0, 4, True), (0, 5, False), (1, 5, True), (1, 6, False)])
def test_slices_of_what_is_known_to_be_long_enough(offset, stop, is_whole):
    """At least 4 items and ``offset`` more: the slices end inside or not."""
    given = known(None), known(stop), known(None)
    made = slice_length(Dim("x.0", offset), *given, Facts(least={"x.0": 4}))
    assert made == Dim("", stop) if is_whole else made.symbol.startswith("?")
    assert slice_length(Dim("x.0", offset), *given, Facts()).symbol.startswith("?")


@pytest.mark.parametrize(
    ("value", "size"),
    [(1.5, 1), (None, 1), (np.float64(1.0), 1), (np.zeros((2, 3)), 6), ("abc", 3), ([1.0] * 4, 4), ({1: 2}, 1),
     (range(5), 5), (range(2**80), sys.maxsize), (2**63, 1), (2**128, 2)],
)  # fmt: skip
def test_how_many_items_count_as_work(value, size):
    """Of a call whose result is computed when a program is compiled."""
    assert folding._size(value) == size


@pytest.mark.parametrize(
    ("said", "number"),
    [(1, 1.0), (0, 1.0), (-3, 3.0), (2.5, 2.5), (True, 1.0), (None, 1.0), ("ab", 1.0), ((), 1), ((2, 3), 6.0),
     ([4, 1, (2, 0)], 8.0), (np.zeros((2, 3)), 6)],
)  # fmt: skip
def test_how_long_a_call_says_that_its_result_is(said, number):
    assert folding._numbers(said) == number


class Colour(enum.Flag):
    RED, GREEN, BLUE = 1, 2, 4


@pytest.mark.parametrize("container", [
    "abc", "", (1, "a", None), (), frozenset({1, "a"}), range(3), b"a", Colour.RED | Colour.BLUE, {"a": 1, 2: 0},
    [1, "a"], 5, np.array([1.0, 2.0]),
], ids=lambda container: type(container).__name__)
@pytest.mark.parametrize("item", ["a", "", 1, 7, None, Colour.RED, Colour.GREEN], ids=repr)
def test_what_is_known_to_be_in_a_container(container, item):
    """Of texts, tuples, sets, flags and dicts it is said; of other objects it is open, and nothing fails."""
    try:
        wanted = item in container
    except TypeError:
        wanted = None
    held = container
    if isinstance(container, dict):
        held = Mapping(tuple(container), tuple(map(known, container.values())))
    elif isinstance(container, list):
        held = Sequence(list, tuple(map(known, container)))
    else:
        held = known(container)
    found = _contains(Evaluator(), known(item), held)
    is_said = wanted is not None and isinstance(container, (str, tuple, list, frozenset, dict, enum.Flag))
    assert found == (known(wanted) if is_said else Scalar(bool))


def vectors(*lengths):
    return Array(np.dtype(float), tuple(n if isinstance(n, Dim) else Dim("", n) for n in lengths))


N, M, ITEMS, UNSURE = Dim("x.0"), Dim("y.0"), Dim("?x.0[1:4]"), Dim("?1")


@pytest.mark.parametrize(
    ("args", "named", "expected", "equal"),
    [
        ((vectors(N), vectors(3)), {}, (vectors(3), vectors(3)), {"x.0": 3}),
        ((vectors(3), vectors(UNSURE)), {}, (vectors(3), vectors(3)), {}),
        ((vectors(N), vectors(M)), {}, (vectors(3), vectors(3)), {"x.0": 3, "y.0": 3}),
        ((vectors(Dim("x.0", 1)), vectors(5, 3)), {}, (vectors(3), vectors(5, 3)), {"x.0": 2}),
        ((vectors(2), vectors(2)), {}, None, {}), ((vectors(UNSURE), vectors(UNSURE)), {}, None, {}),
        ((vectors(2), vectors(N)), {}, (vectors(2), vectors(3)), {"x.0": 3}),
        ((vectors(N, 4), vectors(4, 3)), {"axisa": 0}, (vectors(3, 4), vectors(4, 3)), {"x.0": 3}),
        ((vectors(N, 4), vectors(3, 4)), {"axis": 0}, (vectors(3, 4), vectors(3, 4)), {"x.0": 3}),
        ((vectors(N, 4), vectors(4, 3), known(0)), {}, (vectors(3, 4), vectors(4, 3), known(0)), {"x.0": 3}),
        ((vectors(N), vectors(3)), {"axis": 1}, None, {}), ((vectors(N), Scalar(float)), {}, None, {}),
        ((vectors(N), vectors(3), Scalar(int)), {}, None, {}), ((vectors(N),), {}, None, {}),
    ],
)  # fmt: skip
def test_vectors_of_a_cross_product_have_three_items(args, named, expected, equal):
    facts = Facts()
    found = with_vectors(args, {name: known(axis) for name, axis in named.items()}, facts)
    assert found == (args if expected is None else expected) and facts.equal == equal


def test_three_items_of_a_vector_are_those_of_one_that_is_long_enough():
    facts = Facts()
    assert with_vectors((vectors(ITEMS), vectors(ITEMS)), {}, facts) == (vectors(3), vectors(3))
    assert facts.least == {"x.0": 4} and not facts.equal
    two = vectors(Dim("?x.0[1:3]"))
    assert with_vectors((two, two), {}, facts) == (two, two)


MANY, OTHERS = Dim("dirs.0"), Dim("others.0")
TANGENTS, OTHER_TANGENTS = (Array(np.dtype(float), (Dim("x.0"), count)) for count in (MANY, OTHERS))
KINDS = Sequence(tuple, (TANGENTS, known(None)))


@pytest.mark.parametrize("value, expected", [
    (TANGENTS, Scalar(int, MANY)), (Sequence(tuple, (TANGENTS, OTHER_TANGENTS)), Scalar(int, MANY)),
    (KINDS, Scalar(int, MANY)), (Sequence(list, (KINDS, OTHER_TANGENTS)), Scalar(int, MANY)),
    (Mapping(("a", "b"), (TANGENTS, known(None))), Scalar(int, MANY)),
    (Sequence(tuple, (known(None), TANGENTS)), Scalar(int, MANY)), (Sequence(tuple, ()), Scalar(int)),
    (Array(np.dtype(complex), (MANY,)), Scalar(int, MANY)), (Array(np.dtype(int), (MANY,)), Scalar(int)),
    (Array(np.dtype(float), None), UNKNOWN), (Array(np.dtype(float), ()), UNKNOWN), (UNKNOWN, UNKNOWN),
])
def test_directions_are_counted_in_the_first_tangent(value, expected):
    assert Evaluator().call(directions.count, (value,)) == expected


def test_a_length_is_never_one_where_that_was_assumed():
    facts = Facts()
    dims = [Dim("x.0", offset) for offset in (-2, -1, 1, 2)]
    assert not any(map(facts.is_never_one, dims)) and facts.is_never_one(Dim("x.0"))
    for k, dim in enumerate(dims):
        assert not facts.may_be_one(dim)  # which assumes it
        assert [*map(facts.is_never_one, dims)] == [True] * (k + 1) + [False] * (len(dims) - k - 1)
    assert facts.assumed == {("x.0", 3), ("x.0", 2), ("x.0", 0), ("x.0", -1)}
    assert not facts.is_never_one(Dim("y.0", 1))
    assert facts.is_never_one(Dim("", 3)) and not facts.is_never_one(Dim("", 1))
    assert facts.is_never_one(Dim("*1")) and not facts.is_never_one(Dim("*1", 1))
    assert not facts.is_never_one(Dim("?1")) and not facts.is_never_one(Dim("?1", 2))
