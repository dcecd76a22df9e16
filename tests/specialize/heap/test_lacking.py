"""Attributes that an object has on some paths only, what cached_property remembers, and variables without a value."""

import copy
from dataclasses import dataclass
from functools import cached_property

import pytest

import s2s


class Plain:
    shared = 2.0

    def __init__(self, a):
        self.a = a


class Cached(Plain):
    @cached_property
    def double(self):
        return 2.0 * self.a

    def cap(self):
        return self.double


class CachedTwice(Cached):
    @cached_property
    def square(self):
        return self.double * self.a

    def cap(self):
        return self.square


class Hooked(Plain):
    def __getattr__(self, name):
        if name == "kept":
            self.kept = 2.0 * self.a
            return self.kept
        raise AttributeError(name)

    def cap(self):
        return self.kept


class Asking(Plain):
    def cap(self):
        if not hasattr(self, "_cap"):
            self._cap = 2.0 * self.a
        return self._cap


class OfClass(Plain):
    def cap(self):
        self.shared = self.shared * self.a
        return self.shared


def in_a_short_loop(c, t, n):
    s = 0.0
    for _ in range(3):
        s = s + c.cap()
    return s * t


def in_a_loop(c, t, n):
    s = 0.0
    for _ in range(n):
        s = s + c.cap()
    return s * t


def in_some_iterations(c, t, n):
    s = 0.0
    for k in range(n):
        if k > 1:
            s = s + c.cap()
    return s + c.cap() * t


def on_one_side(c, t, n):
    s = c.cap() if n > 3 else 3.0
    return s * c.cap()


def in_a_while(c, t, n):
    s = 0.0
    while s < 20.0:
        s = s + c.cap() * t
        if s > 15.0:
            break
    return s * c.cap()


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("n", [0, 3, 5])
@pytest.mark.parametrize("use", [in_a_short_loop, in_a_loop, in_some_iterations, on_one_side, in_a_while])
@pytest.mark.parametrize("kind", [Cached, CachedTwice, Hooked, Asking, OfClass])
def test_what_is_remembered_on_some_paths(kind, use, n, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    agrees(lambda t: use(kind(t), t, n))


def agrees(f, at=1.3):
    value, gradient = s2s.value_and_grad(f)(at)
    assert value == pytest.approx(f(at), rel=1e-12)
    slope = (f(at + 1e-5) - f(at - 1e-5)) / 2e-5
    assert gradient == pytest.approx(slope, rel=1e-7, abs=1e-9)
    assert s2s.jvp(f, (at,), (1.0,))[1] == pytest.approx(slope, rel=1e-7, abs=1e-9)


def given_on_one_of_two_paths(t, a, b):
    o = Plain(t)
    if a:
        o.y = t * t
    if b:
        o.y = 2 * t
    return o.y * t


def over_what_the_class_has(t, a, b):
    o = Plain(t)
    if a:
        o.shared = t * t
    if b:
        o.shared = o.shared * t
    return o.shared * t


def given_by_a_loop(t, a, b):
    o = Plain(t)
    for k in range(a):
        o.y = t * k
    return o.y * t


def given_and_deleted(t, a, b):
    o = Plain(t)
    for k in range(a):
        if k == 1:
            o.y = t
        if k == 3:
            del o.y
    return o.y * t


def with_a_default(t, a, b):
    o, s = Plain(t), 0.0
    for _ in range(a):
        s += getattr(o, "y", 3.0) * t
        o.y = s
    return s


def of_one_of_two_objects(t, a, b):
    o, p = Plain(t), Plain(2 * t)
    if b:
        o.y = t
    q = o if a > 2 else p
    return getattr(q, "y", t * t) * q.a * o.a


def in_a_try(t, a, b):
    o = Plain(t)
    if b:
        o.y = t
    try:
        return o.y * t
    except AttributeError:
        return t**3


def of_a_copy(t, a, b):
    o = Plain(t)
    if b:
        o.y = t
    q = copy.copy(o)
    q.a = t * t
    return (q.y if hasattr(q, "y") else 1.0) * q.a


def a_list(t, a, b):
    o = Plain(t)
    if b:
        o.y = [t, t * t]
    if hasattr(o, "y"):
        o.y.append(t)
    return sum(getattr(o, "y", [t]))


def an_object(t, a, b):
    o, s = Plain(t), 0.0
    for _ in range(a):
        if not hasattr(o, "y"):
            o.y = Plain(3 * t)
        o.y.a = o.y.a * t
        s += o.y.a
    return s


def a_variable_of_two_paths(t, a, b):
    if a:
        y = t * t
    if b:
        y = 2 * t
    return y


def a_variable_of_some_iterations(t, a, b):
    for k in range(a):
        if k == 2:
            y = t
    return y * t


def a_variable_of_the_iteration_before(t, a, b):
    s = 0.0
    for k in range(a):
        if k > b:
            s = s + y * t  # noqa: F821
        if k != 1 or b:
            y = t * k
    return s


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("flags", [(1, 1), (1, 0), (0, 1), (0, 0), (2, 1), (5, 1), (3, 0)])
@pytest.mark.parametrize("f", [
    given_on_one_of_two_paths, over_what_the_class_has, given_by_a_loop, given_and_deleted, with_a_default,
    of_one_of_two_objects, in_a_try, of_a_copy, a_list, an_object, a_variable_of_two_paths,
    a_variable_of_some_iterations, a_variable_of_the_iteration_before,
])
def test_what_some_paths_leave_out_is_as_in_python(f, flags, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    try:
        f(1.3, *flags)
    except (AttributeError, UnboundLocalError) as problem:
        for derivative in (s2s.grad(f), s2s.value_and_grad(f), s2s.jacfwd(f)):
            with pytest.raises(type(problem)) as raised:
                derivative(1.3, *flags)
            assert str(raised.value) == str(problem)
    else:
        agrees(lambda t: f(t, *flags))


@pytest.mark.parametrize("flags", [(True, False), (False, True), (False, False)])
def test_a_variable_that_no_path_assigned_is_no_result(flags):
    if any(flags):
        agrees(lambda t: a_variable_of_two_paths(t, *flags))
    else:
        with pytest.raises(UnboundLocalError):
            s2s.value_and_grad(a_variable_of_two_paths)(1.3, *flags)


@pytest.mark.parametrize("n", [2, 5])
def test_compiled_code_raises_where_no_iteration_assigned(n):
    pytest.importorskip("numba")
    gradient = s2s.grad(s2s.differentiable(a_variable_of_some_iterations, backend="numba"))
    assert gradient(1.3, 3, 0) == pytest.approx(2.6)
    assert gradient.backend == "numba"
    if n == 2:
        with pytest.raises(UnboundLocalError):
            gradient(1.3, n, 0)
    else:
        assert gradient(1.3, n, 0) == pytest.approx(2.6)


def test_the_kind_of_what_the_iteration_before_left_is_known():
    def f(t, n):
        s = 0.0
        for k in range(n):
            if k > 0:
                s = s + y * t  # noqa: F821
            y = t * k
        return s

    source = s2s.source(f, 1.3, 3)
    assert "outline" not in source and "unbroadcast" not in source
    assert s2s.grad(f)(1.3, 4) == pytest.approx(2 * 1.3 * 3)


@dataclass(frozen=True)
class Electrode:
    capacity: float


@dataclass(frozen=True)
class Cell:
    cathode: Electrode
    anode: Electrode

    @cached_property
    def capacity(self):
        return 2.0 * self.cathode.capacity * self.anode.capacity


def energy(cell):
    return cell.capacity**2


def cannot_be_compiled(cell):
    space = {}
    exec("y = 1.0", space)
    return cell.capacity**2 * space["y"]


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f", [energy, cannot_be_compiled])
def test_what_an_argument_remembers_is_found_anew(f):
    gradient = s2s.grad(f)
    cell = Cell(Electrode(2.0), Electrode(3.0))
    for _ in range(2):
        found = gradient(cell)
        assert found.cathode.capacity == pytest.approx(8.0 * 2.0 * 9.0)
        assert found.anode.capacity == pytest.approx(8.0 * 4.0 * 3.0)
        assert set(vars(found)) == {"cathode", "anode"}
        energy(cell)
        assert cell.__dict__["capacity"] == 12.0


def test_one_version_serves_objects_that_remember_and_that_do_not():
    gradient = s2s.grad(energy)
    cell = Cell(Electrode(2.0), Electrode(3.0))
    gradient(cell)
    first = gradient.source
    energy(cell)
    gradient(cell)
    assert gradient.source == first


@dataclass
class Guess:
    x: float

    @cached_property
    def square(self):
        return self.x**2


def test_an_optimizer_does_not_carry_what_was_remembered():
    def loss(guess):
        return (guess.square - 4.0) ** 2

    start = Guess(1.0)
    loss(start)
    found = s2s.optim.Adam(0.05).minimize(loss, start, steps=300)
    assert found.params.x == pytest.approx(2.0, abs=1e-3)
    assert loss(found.params) == pytest.approx(0.0, abs=1e-4)
