"""Callables that change containers which are arguments too, or which the function reads by another name: what was known
of these before the call is not taken for granted after it."""

import collections
import functools

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

X = 0.7
KEPT = [1.0]


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    yield
    KEPT[:] = [1.0]


class Holder:
    def __init__(self, items):
        self.items, self.n = items, 2.0

    def grow(self, *_):
        self.items.append(2.0)

    def swap(self, *_):
        self.items = [4.0, 5.0, 6.0]

    def scale(self, *_):
        self.n = 3.0 * self.n

    __call__ = grow


def bound():
    box = [1.0]
    return box.append, box


def of_list():
    box = [1.0]
    return functools.partial(list.append, box), box


def of_python():
    box = [1.0]

    def put(into, *_):
        into.append(3.0)

    return functools.partial(put, box), box


def by_closure():
    box = [1.0]
    return lambda *_: box.append(2.0), box


def by_wrapper():
    box = [1.0]

    @functools.wraps(len)
    def wrapped(*_):
        box.append(2.0)

    return wrapped, box


def by_method():
    held = Holder([1.0])
    return held.grow, held.items


def by_object():
    held = Holder([1.0])
    return held, held.items


def by_global():
    KEPT[:] = [1.0]
    return lambda *_: KEPT.append(2.0), KEPT


def appended(x, add, box):
    add(x)
    return x * len(box)


def before_and_after(x, add, box):
    n = len(box)
    add(2.0)
    return x * n + x * x * len(box)


def in_a_loop(x, add, box):
    t = x
    for _ in range(3):
        add(1.5)
        first, *rest = box
        t = t * x + first * len(rest) * np.sin(x)
    return t


def over_it(x, add, box):
    t = 0.0
    for b in box:
        if len(box) < 4:
            add(1.5)
        t = t + b * x * x
    return t


def while_it_is_short(x, add, box):
    t = x
    while len(box) < 4:
        add(1.0)
        t = t * x
    return t


def on_a_side(x, add, box):
    if x > 0.0:
        add(2.0)
    return x * x * (3.0 if len(box) > 1 else 1.0)


def in_a_comprehension(x, add, box):
    return sum([b * x**2 + (add(1.0) or 0.0) for b in [1.0, 2.0]]) * len(box)


def checkpointed(x, add, box):
    @s2s.checkpoint
    def block(y):
        return np.sin(y) * len(box)

    y = block(x)
    add(1.0)
    return block(y * x) + x * len(box)


MAKERS = [bound, of_list, of_python, by_closure, by_wrapper, by_method, by_object, by_global]
PROGRAMS = [
    appended, before_and_after, in_a_loop, over_it, while_it_is_short, on_a_side, in_a_comprehension, checkpointed]


def of_dict(name):
    def make():
        d = {"a": 1.0}
        return getattr(d, name), d

    return make


def updated(x, update, d):
    s = sum(d.values())
    update({"b": 2.0})
    return x * x * (len(d) + s + sum(d.values()))


def another_item(x, put, d):
    y = d["a"]
    put("a", 2.0)
    return x * x * d["a"] + y * x


def with_default(x, put, d):
    return x * x * put("b", 2.0) * len(d)


def a_set(x, add, s):
    add(2.0)
    return x * x * (3.0 if 2.0 in s else 1.0)


def a_deque(x, add, q):
    add(5.0)
    return x * x * q[0] * len(q)


def an_array(x, put, a):
    y = a[0] * x
    put(0, 5.0)
    return y * x * a[0]


def an_attribute(x, call, held):
    n = len(held.items)
    call()
    return x * x * len(held.items) * held.n + n * x


def nested(x, add, boxes):
    add(1.0)
    return x * x * len(boxes["k"][0])


def of_a_dict(x, calls, box):
    calls["add"](1.0)
    return x * x * len(box)


def emptied(x, pop, box):
    t = 0.0
    while box:
        t = t + pop() * x * x
    return t


def a_long_list(x, add, box):
    add(3.0)
    return sum([b * x * x for b in box])


def by_another_name(x, add):
    items = KEPT
    add(2.0)
    return x * x * len(items)


def two_arguments(x, items, held):
    items.append(2.0)
    return x * x * len(held.items)


OTHERS = [
    (updated, of_dict("update")), (another_item, of_dict("__setitem__")), (with_default, of_dict("setdefault")),
    (a_set, lambda: (lambda s: (s.add, s))({1.0})),
    (a_deque, lambda: (lambda q: (q.append, q))(collections.deque([1.0, 2.0], 2))),
    (an_array, lambda: (lambda a: (a.__setitem__, a))(np.array([1.0, 2.0]))),
    (an_attribute, lambda: (lambda held: (held.grow, held))(Holder([1.0]))),
    (an_attribute, lambda: (lambda held: (held.swap, held))(Holder([1.0]))),
    (an_attribute, lambda: (lambda held: (held.scale, held))(Holder([1.0]))),
    (nested, lambda: (lambda box: (box.append, {"k": [box]}))([1.0])),
    (nested, lambda: (lambda boxes: (lambda _: boxes["k"][0].append(1.0), boxes))({"k": [[1.0]]})),
    (of_a_dict, lambda: (lambda box: ({"add": box.append}, box))([1.0])),
    (emptied, lambda: (lambda box: (box.pop, box))([1.0, 2.0, 3.0])),
    (a_long_list, lambda: (lambda box: (box.append, box))([0.1 * k for k in range(40)])),
    (by_another_name, lambda: (KEPT.__setitem__(slice(None), [1.0]), KEPT.append)[1:]),
    (two_arguments, lambda: (lambda box: (box, Holder(box)))([1.0])),
]


def check(f, make):
    h = 1e-4
    value, above, below = (f(x, *make()) for x in (X, X + h, X - h))
    first, second = (above - below) / (2 * h), (above - 2 * value + below) / h**2
    np.testing.assert_allclose(s2s.grad(f)(X, *make()), first, rtol=1e-6)
    np.testing.assert_allclose(s2s.value_and_grad(f)(X, *make()), (value, first), rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X, *make()), first, rtol=1e-6)
    np.testing.assert_allclose(s2s.grad(s2s.grad(f))(X, *make()), second, rtol=1e-4, atol=1e-4)


PAIRS = [*((f, bound) for f in PROGRAMS), *((before_and_after, make) for make in MAKERS[1:]), (appended, of_list)]


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(("f", "make"), PAIRS)
def test_a_list_that_a_callable_argument_changes(f, make):
    check(f, make)


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(("f", "make"), OTHERS, ids=range(len(OTHERS)))
def test_other_containers_that_an_argument_changes(f, make):
    check(f, make)


@pytest.mark.parametrize(("f", "make"), PAIRS)
def test_compiled_code_alone_is_right_or_refuses(f, make, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    want = (f(X + 1e-6, *make()) - f(X - 1e-6, *make())) / 2e-6
    for derivative in (s2s.grad(f), s2s.jacfwd(f)):
        try:
            found = derivative(X, *make())
        except DifferentiationError:
            continue
        np.testing.assert_allclose(found, want, rtol=1e-6)


def grown(box, add):
    add(2.0)
    return box[0] ** 2 * len(box)


def scaled(held, call):
    call()
    return held.n**2


def assigned(held, same):
    same.n = 3.0 * same.n
    return held.n**2


@pytest.mark.parametrize(("f", "make"), [
    (grown, lambda: (lambda box: (box, box.append))([0.7])),
    (scaled, lambda: (lambda held: (held, held.scale))(Holder([1.0]))),
    (assigned, lambda: (lambda held: (held, held))(Holder([1.0]))),
], ids=["grown", "scaled", "assigned"])
def test_what_is_differentiated_is_not_changed_by_another_name(f, make):
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=r"\[S2S124\]"):
            s2s.grad(f)(*make())


def test_a_change_out_of_sight_is_found_after_the_call():
    """What a generator holds is not looked at: that the list has grown is seen when it has."""

    def grows(box):
        while True:
            yield box.append(2.0)

    def f(x, step, box):
        step()
        return x * len(box)

    box = [1.0]
    later = grows(KEPT)
    step = later.__next__
    KEPT[:] = [1.0]
    with pytest.raises(DifferentiationError, match=r"\[S2S(124|518|214)\]"):
        s2s.grad(f)(X, step, KEPT)
    assert s2s.grad(f)(X, lambda: None, box) == 1.0


def test_arguments_that_nobody_reaches_are_compiled():
    def f(x, call, weights):
        call()
        return x * x * weights["w"] * len(weights["layers"])

    assert s2s.grad(f)(X, [].clear, {"w": 3.0, "layers": [1.0, 2.0]}) == pytest.approx(12.0 * X)
    assert "derivative_of_call" not in s2s.source(f, X, [].clear, {"w": 3.0, "layers": [1.0, 2.0]})
