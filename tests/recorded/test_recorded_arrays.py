"""Arrays of Python objects, and of classes that have calls of NumPy's functions of their own, in recordings."""

import itertools

import numpy as np
import pytest

import s2s
from s2s.recorded import objects as of_objects
from s2s.recorded import operations  # noqa: F401  (installs what objects are multiplied with)

X = np.array([0.3, 0.7, 1.2, -0.4, 0.9, 2.1])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Nothing is compiled here, but the derivatives of single functions."""
    monkeypatch.setenv("S2S_RECORDED", "always")


class Tagged(np.ndarray):
    """An array with an attribute that results have as well."""

    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


class Handing(np.ndarray):
    """An array whose class has one of NumPy's functions of its own, and leaves others to NumPy."""

    def __array_function__(self, function, types, args, kwargs):
        if function is np.sum:
            return 2.0 * np.sum(np.asarray(args[0]))
        if function is np.einsum and not all(issubclass(one, Handing) for one in types):
            return NotImplemented
        return super().__array_function__(function, types, args, kwargs)


def objects(x, *shape):
    made = np.empty(x.size, object)
    for i in range(x.size):
        made[i] = np.sin(x[i]) * (i + 1.0)
    return made.reshape(*shape, -1)


def polynomial(x):
    return abs(np.polyval(objects(x).ravel(), 1.3j))


def of_arrays(x):
    parts = np.empty(2, object)
    parts[0], parts[1] = x[:3], x[3:] ** 2
    tagged = parts.view(Tagged)
    tagged.tag = 3.0
    distance = tagged - np.array([x[0], 1.0])
    return np.sum(np.linalg.norm(distance)) * distance.tag


def reductions(x):
    o = objects(x, 2)
    rest = np.sum(o, axis=(0, 1)) * np.prod(o, axis=1, keepdims=True)[1, 0] + np.add.reduce(o)[2] ** 3
    return (o.sum(axis=0) ** 2).sum() + rest + np.mean(o) ** 2 + np.mean(o, axis=0)[1]


def products(x):
    o, v = objects(x, 2), objects(x[:3]).ravel()
    matrices = np.sum(o @ v) + np.dot(o, o.T)[0, 1] + np.inner(o, o)[1, 0] ** 2 + (x.reshape(2, 3) @ o.T)[1, 0]
    return matrices + np.vdot(o, o) + np.dot(v, v) ** 2 + np.diff(v)[1] * np.outer(v, v)[0, 1]


def chosen(x):
    o = np.where(x > 0.5, objects(x).ravel(), 2.0)
    return np.sum(np.concatenate([o, x**2]) ** 2)


def left_to_numpy(x):
    a = x.reshape(2, 3).view(Handing)
    b = np.einsum("ij,j->i", a, np.sin(x[:3])) / np.linalg.norm(x)
    return np.sum((b * b).view(Handing)) + np.sum(np.exp(a) / a.sum())


PROGRAMS = [polynomial, of_arrays, reductions, products, chosen, left_to_numpy]


def slopes(f, x=X):
    step = 1e-5
    return np.array([(f(x + step * e) - f(x - step * e)) / (2.0 * step) for e in np.eye(x.size)])


@pytest.mark.parametrize("f", PROGRAMS)
def test_both_modes_and_second_order(f):
    wanted = slopes(f)
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.hessian(f)(X), slopes(s2s.grad(f)), rtol=1e-6, atol=1e-7)


def test_compiled_code_that_makes_numbers_of_objects():
    lib = pytest.importorskip("pandas._libs.lib")

    def f(x):
        return np.sum(lib.maybe_convert_objects(objects(x).ravel()) ** 2)

    np.testing.assert_allclose(s2s.grad(f)(X), slopes(f), rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), slopes(f), rtol=1e-7)


@pytest.mark.parametrize("x", [1.2345678901, 40.0, 0.3])
def test_numbers_of_texts_that_hold_no_digits_of_one_that_was_written(x):
    known = {}

    def remembered(x):
        known[str([x])] = True  # a list of a differentiated number is a key
        return x * x * int("12") + float("1.5") * x

    def read_back(x):
        return float(str([x * x])[1:-1]) * x

    assert s2s.grad(remembered)(x) == pytest.approx(24.0 * x + 1.5)
    with pytest.raises(s2s.errors.NoDerivativeError, match="read back"):
        s2s.grad(read_back)(x)


def test_texts_that_are_no_numbers_are_read_after_one_was_written():
    """No number comes by a text out of a text without digits, an iterator, the keys of a dict, an empty array."""
    def f(x):
        said = f"at {x[0]}"
        names = dict(sorted({"b": x[1], "a": x[2]}.items()))
        square = eval("lambda a: a * a")
        parts = tuple(itertools.starmap(lambda a, b: a * b, [(names["a"], x[3])]))
        none = np.zeros(0, np.float32).astype(np.dtype("f8"))
        return square(names["b"]) * parts[0] + np.sum(none) + len(said) * 0.0 + (x[4] if x[5] != np.inf else 0.0)

    np.testing.assert_allclose(s2s.grad(f)(X), slopes(f), rtol=1e-7, atol=1e-9)


def test_an_infinite_number_is_none_of_an_earlier_call():
    def f(x):
        lengths = np.append(np.inf, x)
        return np.sum(x**2) if lengths[0] == np.inf else 0.0

    np.testing.assert_allclose(s2s.grad(f)(X), 2.0 * X)


def test_a_number_that_is_repeated_in_memory_has_one_cotangent():
    def f(x):
        repeated = np.broadcast_to(x[0] * x[1], (2, 3))
        return np.sum(repeated * x.reshape(2, 3)) + np.sum(repeated.T[1:] ** 2)

    np.testing.assert_allclose(s2s.grad(f)(X), slopes(f), rtol=1e-7)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3, 2), (2, 1))])
def test_products_of_arrays_of_objects_are_those_of_numpy(shapes):
    a, b = (np.arange(1, np.prod(shape) + 1).reshape(shape) for shape in shapes)
    for is_inner, function in ((False, np.dot), (True, np.inner)):
        second = b.T if is_inner else b
        found, expected = of_objects._product(a.astype(object), second.astype(object), is_inner), function(a, second)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_array_equal(np.asarray(found, float), expected)
