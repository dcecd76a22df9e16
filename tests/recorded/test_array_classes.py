"""Classes of arrays: numbers of NumPy with them, their items, operators in place, and arrays that they are made of."""

import numpy as np
import pytest

import s2s

X = np.array([0.41, 1.23, 0.92, 2.31])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


class Counted(np.ndarray):
    """What NumPy's functions give for these arrays is one of them."""

    def __array_ufunc__(self, ufunc, method, *args, **options):
        args = [np.asarray(arg) for arg in args]
        options = {k: tuple(map(np.asarray, v)) if k == "out" else v for k, v in options.items()}
        made = getattr(ufunc, method)(*args, **options)
        return made.view(Counted) if isinstance(made, np.ndarray) else made


def items_of_a_class(x):
    q = x.view(Counted)
    return np.sin(q)[1] * q[0] + float(np.add.reduce(q * q))


def stores_into_a_class(x):
    q = (x * 1.0).view(Counted)
    q[0] = x[1] ** 2
    q[1:3] *= 2.0
    total = 0.0
    for v in q:
        total = total + v * v
    return total + sum(q) + q.tolist()[0] * np.array(q)[2]


def variance(x):
    a = np.ma.array(x, mask=[0, 1, 0, 0])
    return a.sum() ** 2 + a.var() + (a[1:] * a[:-1]).sum()


def masked_in_place(x):
    a = np.ma.masked_less(x, 0.5)
    a[3] = x[1] * x[2]
    b = a.copy()
    b *= 2.0
    return b.mean() + a.max() * a.min() + np.ma.average(a, weights=np.arange(4.0))


def numbers_with_masked(x):
    a = np.ma.masked_invalid(np.where(x > 1.0, x, np.nan))
    return a.prod() + np.ma.dot(a, a) + a.cumsum()[3] + np.ma.concatenate([a, a**2]).sum()


def tables_with_masks(x):
    a = np.ma.array(np.outer(x, x), mask=np.eye(4))
    return a.sum(axis=0)[1] + a.mean(axis=1).sum() + np.ma.median(a) + float(a.std()) + a.ravel()[1]


CASES = [items_of_a_class, stores_into_a_class, variance, masked_in_place, numbers_with_masked, tables_with_masks]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_both_modes(f):
    wanted = np.array([(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(4)])
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-7, atol=1e-8)


def test_masked_arguments():
    a = np.ma.array(X, mask=[0, 1, 0, 0])

    def f(a):
        return np.ma.sum(np.ma.sqrt(a)) * a[0] + a.filled(3.0).sum()

    wanted = [np.sum(np.sqrt(X[[0, 2, 3]])) + 0.5 * np.sqrt(X[0]) + 1.0, 0.0]
    wanted += list(0.5 * X[0] / np.sqrt(X[2:]) + 1.0)
    np.testing.assert_allclose(s2s.grad(f)(a), wanted, rtol=1e-12)
    assert list(a.mask) == [False, True, False, False] and a.data[1] == X[1]
    out, along = s2s.jvp(lambda a: a * a, (a,), (np.ones(4),))
    np.testing.assert_allclose(np.ma.getdata(along)[~a.mask], 2.0 * X[~a.mask])
    assert list(out.mask) == list(a.mask)


class Metres(np.ndarray):
    """An item is an array of this class, and what is a float of it counts millimetres."""

    def item(self, *places):
        return np.asarray(np.ndarray.item(self, *places)).view(Metres)

    def __float__(self):
        return 1000.0 * float(np.asarray(self).reshape(()))

    def __array_function__(self, function, kinds, args, options):
        return super().__array_function__(function, kinds, args, options)


def floats_of_a_class(x):
    q = x.view(Metres)
    both = np.concatenate([q, q * q])
    return float(q[:1]) * float(np.asarray(np.sum(both)).view(Metres)) * 1e-6 + np.dot(np.asarray(both), both)


UNREAD: dict = {}
exec(
    "import numpy as np\nclass Unread(np.ndarray):\n    def __array_function__(self, function, kinds, args, options):\n"
    "        return super().__array_function__(function, kinds, args, options)\n", UNREAD)


def joined_with_what_is_missing(x):
    q = x.view(UNREAD["Unread"])
    both = np.concatenate([q * q, [np.nan]])
    return np.sum(np.asarray(both[:4])) + np.nansum(np.asarray(np.stack([np.where(q > 1.0, q, np.nan), q * q])))


@pytest.mark.parametrize("f", [floats_of_a_class, joined_with_what_is_missing], ids=lambda f: f.__name__)
def test_floats_of_a_class(f):
    """Where no code of the class is there to be read, what is not a number is found again in what NumPy gives for plain
    arrays."""
    test_both_modes(f)
