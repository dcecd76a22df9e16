"""Calls that are recorded: programs of all kinds against central differences, in both modes and to second order."""

import collections
import copy
import functools
import heapq
import itertools
import math
import threading

import numpy as np
import pytest

import s2s

X = np.array([0.3, 0.7, 1.2])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Nothing is compiled here, but the derivatives of single functions."""
    monkeypatch.setenv("S2S_RECORDED", "always")


class Box:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Box(self.v + 2.0 * other.v)

    @property
    def squared(self):
        return self.v**2


class Tagged(np.ndarray):
    """A subclass with an attribute, as a unit would be."""

    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", None)


def elementwise(x):
    return np.sum(np.sin(x) * x)


def items(x):
    total = 0.0
    for v in x:
        total += v**2 * math.exp(v)
    a, b, c = x
    return total + a * b + c / b - (-a)


def views_that_change(x):
    a = np.zeros((3, 3))
    a[0] = x
    a[1, 1:] = x[:2] * 2
    a[:, 2] += x
    b = a.T
    b[0] *= x
    return (a @ a).sum() + np.linalg.norm(a)


def converted(x):
    y = np.float64(x[0])
    z = float(y * 2)
    w = np.array([x[1], z, y])
    return (w**2).sum() * w[1] + y.item() * w.tolist()[0]


def folded(x):
    return functools.reduce(lambda s, t: s * t, x) + sum(x) + max(x) + sum(itertools.accumulate(x))


def queues(x):
    queue = collections.deque()
    queue.extend(x * 2)
    heap = list(x)
    heapq.heapify(heap)
    return heapq.heappop(heap) * queue[0] + queue[-1] + sum(queue)


def linear_algebra(x):
    m = np.outer(x, x) + 3.0 * np.eye(3)
    return np.linalg.solve(m, x) @ x + np.linalg.det(m)


def in_place_functions(x):
    y = x.copy()
    y.sort()
    y[::-1].cumsum(out=y)
    y = np.where(y > 1, y, y * 2)
    np.add.at(y, [0, 0, 1], x)
    y[[0, 0]] = [x[0], x[1]]
    return y @ x + y.max()


def complex_parts(x):
    z = np.zeros(3, complex)
    z.real = x
    z.imag[...] = x * x
    z *= 1j
    return np.abs(z).sum() + (z.real * x).sum()


def overlapping_views(x):
    wide = np.broadcast_to(x, (2, 3))
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    return (wide * wide).sum() + (windows * windows).sum() + x.reshape(3, 1)[1, 0]


def objects(x):
    kept = dict(enumerate(x))
    box = Box(kept[0]) + Box(kept[1])
    setattr(box, "w", kept[2])
    box.__dict__["u"] = box.w * 2

    def tripled():
        for k in kept:
            yield kept[k] * 3

    return box.squared * box.u + sum(tripled())


def raised(x):
    total, n = x[0] * 0, 0
    while total < 5:
        total, n = total + np.exp(x).sum(), n + 1
    try:
        raise ValueError(total)
    except ValueError as problem:
        total = problem.args[0] * n
    return total % 0.7 + np.clip(total, 0, 1)


def vectorized(x):
    return np.vectorize(lambda t: t * t + math.sin(t))(x).sum()


def copies(x):
    one, other = copy.deepcopy({"a": x, "b": Box(x[1])}), copy.copy(x)
    return (one["a"] ** 2).sum() + one["b"].squared * other[0]


def subclass(x):
    y = (x * 2.0).view(Tagged)
    y.tag = "m"
    z = np.sin(y) + y[::-1]
    assert z.tag == "m"
    return float((z * z).sum())


def object_arrays(x):
    held = np.empty(3, object)
    held[:] = list(x)
    held = held * held + 1.0
    return held.sum() * 2.0


def evaluated(x):
    return eval("a * b + t[2]", {"a": x[0], "b": x[1], "t": x}) ** 2


def from_threads(x):
    found = {}

    def work(k):
        found[k] = np.sin(x[k]) * x[k]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[0] * found[1] + found[2]


def nested(x):
    inner = s2s.grad(lambda y: np.sum(y**3) * y[0])
    return np.sum(inner(x) * x)


PROGRAMS = [
    elementwise, items, views_that_change, converted, folded, queues, linear_algebra, in_place_functions, complex_parts,
    overlapping_views, objects, raised, vectorized, copies, subclass, object_arrays, evaluated, from_threads, nested,
]


def differences(f, x, step=1e-5):
    """The gradient of ``f``, or its Jacobian, by central differences."""
    rows = [(np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * step) for e in np.eye(x.size) * step]
    return np.array(rows)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
def test_reverse_mode(f):
    x = X.copy()
    value, gradient = s2s.value_and_grad(f)(x)
    assert np.isclose(value, f(X), rtol=1e-14)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-6, atol=1e-8)
    assert (x == X).all()


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
def test_forward_mode(f):
    direction = np.array([1.0, -0.4, 0.3])
    value, slope = s2s.jvp(f, (X,), (direction,))
    assert np.isclose(value, f(X), rtol=1e-14)
    assert np.isclose(slope, differences(f, X) @ direction, rtol=1e-6, atol=1e-8)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in (vectorized, nested)])
def test_second_order(f):
    wanted = differences(s2s.grad(f), X)
    np.testing.assert_allclose(s2s.hessian(f)(X), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_third_order():
    def f(x):
        return views_that_change(np.exp(x) * 0.5)

    second = s2s.grad(lambda y: s2s.grad(f)(y)[0])
    third = s2s.grad(lambda y: s2s.grad(lambda z: s2s.grad(f)(z)[0])(y)[1])
    np.testing.assert_allclose(third(X), differences(lambda y: second(y)[1], X), rtol=1e-5)


def test_jacobians():
    def f(x):
        out = np.zeros(2)
        out[0], out[1] = x[0] * x[1], np.sin(x[2])
        return {"both": out, "one": [x.sum()]}

    for jacobian in (s2s.jacfwd(f)(X), s2s.jacrev(f)(X)):
        np.testing.assert_allclose(jacobian["both"], [[X[1], X[0], 0.0], [0.0, 0.0, np.cos(X[2])]])
        np.testing.assert_allclose(jacobian["one"][0], np.ones(3))


def test_pullback_and_containers():
    def f(p, c):
        return [p["w"] * c, {"s": np.sum(p["b"]) * p["w"][0]}]

    out, pullback = s2s.vjp(f, {"w": X, "b": 2 * X}, 3.0)
    p_bar, c_bar = pullback([np.ones(3), {"s": 1.0}])
    assert np.isclose(out[1]["s"], np.sum(2 * X) * X[0])
    np.testing.assert_allclose(p_bar["w"], 3.0 + np.array([np.sum(2 * X), 0.0, 0.0]))
    np.testing.assert_allclose(p_bar["b"], np.full(3, X[0]))
    assert np.isclose(c_bar, X.sum())


def test_functions_have_their_own_code_afterwards():
    before = [f.__code__ for f in (objects, Box.__init__, Box.__add__, Box.squared.fget)]
    s2s.grad(objects)(X)
    assert [f.__code__ for f in (objects, Box.__init__, Box.__add__, Box.squared.fget)] == before


def test_what_is_printed_is_printed_once(capsys):
    def f(x):
        print("once")
        return np.sum(x * x)

    s2s.grad(f)(X)
    assert capsys.readouterr().out == "once\n"


class Remembers:
    def __init__(self):
        self.known, self.last, self.of_last = {}, None, None

    def in_dict(self, t):
        if t in self.known:
            return self.known[t]
        self.known[t] = t * t
        return self.known[t]

    def of_last_call(self, t):
        if t != self.last:
            self.last, self.of_last = t, t * t
        return self.of_last


@functools.lru_cache
def cached(t):
    return t * t


def test_what_earlier_calls_left_in_a_dict_or_a_cache_is_computed_again():
    memory = Remembers()
    for f in (memory.in_dict, cached):
        f(0.7)
        assert np.isclose(s2s.grad(lambda t, f=f: f(t) * t)(0.7), 3 * 0.7**2)


def test_what_is_remembered_of_the_last_call_is_refused():
    memory = Remembers()
    memory.of_last_call(0.7)
    with pytest.raises(s2s.errors.UnsupportedSyntaxError, match="earlier call"):
        s2s.grad(lambda t: memory.of_last_call(t) * t)(0.7)


def nearest(x):
    from scipy.spatial import cKDTree

    return cKDTree(x.reshape(3, 1)).query(np.array([[0.1]]))[0].sum()


def read_back(x):
    return float(str(x[0])) * x[1]


def read_back_from_a_format(x):
    return float(f"{x[0]:.17g}") * x[1]


@pytest.mark.parametrize("f", [nearest, read_back, read_back_from_a_format])
def test_what_is_lost_in_compiled_code_is_refused(f):
    with pytest.raises(s2s.errors.NoDerivativeError):
        s2s.grad(f)(X)


def test_a_function_without_source_is_refused():
    scope = {}
    exec("def f(x): return x * x if x > 0.0 else x", scope)
    with pytest.raises(s2s.errors.SourceUnavailableError):
        s2s.grad(scope["f"])(2.0)


def test_operators_without_source_are_refused():
    scope = {}
    text = "class Length:\n    def __init__(self, v): self.v = v\n    def __add__(self, other): return self.v + other.v"
    exec(text, scope)
    length = scope["Length"]
    with pytest.raises(s2s.errors.NoDerivativeError):
        s2s.grad(lambda x: length(x[0]) + length(x[1]))(X)


HELD = [0.0]


def test_a_number_that_goes_by_unseen_is_refused():
    scope = {"held": HELD}
    exec("def squared():\n    return held[0] ** 2 if held else 0.0", scope)  # without source, and given nothing
    squared = scope["squared"]

    def f(x):
        HELD[0] = x[0]
        return squared() + x[1]

    for derivative in (lambda: s2s.grad(f)(X), lambda: s2s.jvp(f, (X,), (np.ones(3),)), lambda: s2s.jacrev(f)(X)):
        with pytest.raises(s2s.errors.NoDerivativeError, match="differences"):
            derivative()


def test_assignments_go_from_the_left():
    def f(x):
        y, i = np.zeros(3), 0
        y[i], i = x[0] * 2.0, 2
        i, y[i] = 1, x[1] * 3.0
        return y @ np.array([1.0, 10.0, 100.0])

    np.testing.assert_allclose(s2s.grad(f)(X), [2.0, 30.0, 0.0])


def test_classes_keep_no_variables_of_watched_code():
    def f(x):
        class Box:
            a = b = 2.0
            (c, d), e = (1.0, 2.0), 3.0

        return x[0] * len([name for name in vars(Box) if not name.startswith("__")])

    assert s2s.grad(f)(X)[0] == 5.0


class Handed(np.ndarray):
    """A class of arrays that sees calls of NumPy's functions and hands them on."""

    def __array_function__(self, func, types, args, kwargs):
        return super().__array_function__(func, types, args, kwargs)


def test_compiled_code_of_functions_that_a_class_of_arrays_hands_on():
    def f(x):
        a = np.outer(x, x + 1.0).view(Handed)
        b = np.concatenate([a, np.where(a > 0.5, a, a)], axis=1)
        c = np.dot(b.T, a)
        total = np.inner(c.ravel(), c.ravel()) + np.einsum("ij,ij->", b, b)
        return np.sum(np.asarray(np.einsum("ij,ij->i", a, a)) ** 2) + total

    steps = 1e-6 * np.eye(3)
    wanted = [(f(X + h) - f(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-6)
    second = [(s2s.grad(f)(X + h) - s2s.grad(f)(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(s2s.hessian(f)(X), second, rtol=1e-6)
