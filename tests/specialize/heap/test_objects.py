"""Gradients with respect to the attributes of objects that are arguments: objects of the same class."""

import copy
import dataclasses
import functools
import types
import typing

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, DifferentiationError, NoDerivativeError, UnsupportedSyntaxError

X = np.array([0.3, 0.2, -0.4])
H = 1e-6


# --- central differences of objects ---------------------------------------------------------------------------------


def slots_of(kind):
    return [n for c in kind.__mro__ for n, d in vars(c).items()
            if isinstance(d, types.MemberDescriptorType) and n != "__dict__"]


def attributes(value):
    names = [*getattr(value, "__dict__", ()), *slots_of(type(value))]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def is_object(value):
    return hasattr(value, "__dict__") or bool(slots_of(type(value)))


def parts(value, path=()):
    """The places of the floats and arrays of floats in a value."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        yield path
    elif isinstance(value, (list, tuple)):
        for k, item in enumerate(value):
            yield from parts(item, (*path, (k,)))
    elif isinstance(value, dict):
        for k, item in value.items():
            yield from parts(item, (*path, (k,)))
    elif is_object(value) and not callable(value):
        for name, item in attributes(value).items():
            yield from parts(item, (*path, name))


def read(value, path):
    for step in path:
        value = getattr(value, step) if isinstance(step, str) else value[step[0]]
    return value


def moved(value, path, change):
    """A copy of a value with one part changed."""
    if not path:
        return value + change
    made, step = copy.copy(value), path[0]
    new = moved(read(value, path[:1]), path[1:], change)
    if not isinstance(step, str):
        if isinstance(made, tuple):
            items = [*made[: step[0]], new, *made[step[0] + 1 :]]
            return type(made)(*items) if hasattr(made, "_fields") else tuple(items)
        made[step[0]] = new
    elif step in slots_of(type(made)):
        next(vars(c)[step] for c in type(made).__mro__ if step in vars(c)).__set__(made, new)
    else:
        made.__dict__[step] = new
    return made


def difference(f, args, path, change):
    """The slope of ``f`` where a part of its first argument changes."""
    up, down = (f(copy.deepcopy(moved(args[0], path, s * change)), *args[1:]) for s in (1.0, -1.0))
    return (up - down) / (2.0 * H)


def assert_gradient(f, *args):
    """The gradient of ``f`` is that of central differences, and its first argument stays as it was."""
    before = copy.deepcopy(args[0])
    value, gradient = s2s.value_and_grad(f)(*args)
    assert type(gradient) is type(args[0])
    assert np.isclose(value, f(copy.deepcopy(args[0]), *args[1:]))
    found = list(parts(args[0]))
    assert found
    for path in found:
        old, slope = read(args[0], path), read(gradient, path)
        assert np.array_equal(old, read(before, path))
        if isinstance(old, np.ndarray):
            wanted = np.array([difference(f, args, path, H * e.reshape(old.shape)) for e in np.eye(old.size)])
            assert np.allclose(slope, wanted.reshape(old.shape), rtol=1e-6, atol=1e-7), path
        else:
            assert np.isclose(slope, difference(f, args, path, H), rtol=1e-6, atol=1e-7), path
    return gradient


# --- classes --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Line:
    w: np.ndarray
    b: float
    name: str = "line"
    power: int = 2
    act: typing.Any = np.tanh

    def at(self, x):
        return self.act(self.w * x + self.b)

    @property
    def size(self):
        return np.sum(self.w**2)


@dataclasses.dataclass(frozen=True)
class Net:
    lines: list
    scale: float
    options: dict

    def forward(self, x):
        for line in self.lines:
            x = line.at(x)
        return self.scale * x


class Slots:
    __slots__ = ("__hidden", "a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.__hidden = 2.5

    def at(self, x):
        return self.a * x * self.__hidden + self.b


class More(Slots):
    __slots__ = ("c",)

    def __init__(self, a, b, c):
        super().__init__(a, b)
        self.c = c

    def at(self, x):
        return super().at(x) * self.c


class Pair(typing.NamedTuple):
    first: Slots
    second: float


class Account:
    def __init__(self):
        self.total = 1.5
        self.history = [0.5]
        self.count = 0
        self.buffer = np.array([0.1, 0.2, 0.3])

    def add(self, value):
        self.total = self.total * value
        self.history.append(value * self.total)
        self.count += 1
        self.buffer[1] += value


class Circle:
    def __init__(self, radius):
        self._radius = radius

    @property
    def radius(self):
        return self._radius

    @radius.setter
    def radius(self, value):
        self._radius = abs(value)

    @functools.cached_property
    def area(self):
        return 3.0 * self._radius**2


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + (other.value if isinstance(other, Number) else other))

    def __mul__(self, other):
        return Number(self.value * (other.value if isinstance(other, Number) else other))

    __rmul__ = __mul__

    def __lt__(self, other):
        return self.value < other


class Cell:
    def __init__(self, value, other=None):
        self.value = value
        self.other = other


LINE = Line(np.array([1.0, 2.0, 3.0]), 0.5)


# --- gradients ------------------------------------------------------------------------------------------------------


def test_a_dataclass_with_methods_properties_and_options():
    def f(p, x):
        return np.sum(p.at(x) ** p.power) + p.size * p.b

    gradient = assert_gradient(f, LINE, X)
    assert gradient.name is None and gradient.power is None and gradient.act is None


def test_a_frozen_dataclass_with_objects_in_a_list():
    net = Net([Line(X + 1.0, 0.2), Line(X * 2.0, -0.3, act=np.sin)], 1.3, {"k": 2.0, "mode": "x"})

    def f(net, x):
        return np.sum(net.forward(x) ** 2) * net.options["k"]

    gradient = assert_gradient(f, net, X)
    assert gradient.options["mode"] is None and type(gradient.lines[0]) is Line


@pytest.mark.parametrize("thing", [Slots(1.5, 0.3), More(1.5, 0.3, X), More(0.2, X, 0.3)], ids=["base", "sub", "array"])
def test_slots(thing):
    def f(s, x):
        return np.sum(s.at(x) ** 2)

    assert_gradient(f, thing, X)


@pytest.mark.parametrize(
    "things", [[Slots(1.2, 0.4), More(0.7, 0.9, 1.1)], (Slots(1.2, 0.4), Slots(0.7, 0.9))], ids=["list", "tuple"]
)
def test_sequences_of_objects(things):
    def f(things, x):
        total = 0.0
        for thing in things:
            total = total + np.sum(thing.at(x)) * thing.a
        return total

    assert_gradient(f, things, X)


def test_objects_in_dicts_and_named_tuples():
    def f(things, x):
        return sum(np.sum(t.at(x)) for t in things.values()) * things["b"].a

    def g(pair, x):
        return np.sum(pair.first.at(x)) * pair.second**2

    assert_gradient(f, {"a": Slots(1.2, 0.4), "b": Slots(0.7, 0.9)}, X)
    assert_gradient(g, Pair(Slots(1.2, 0.4), 1.7), X)


def test_namespaces_one_in_the_other():
    def f(s, x):
        return np.sum(s.w * x) * s.k + s.inner.z**3

    inner = types.SimpleNamespace(z=1.1, label="q")
    gradient = assert_gradient(f, types.SimpleNamespace(w=X + 1.0, k=2.0, inner=inner), X)
    assert gradient.inner.label is None


def test_what_a_method_changes_is_as_it_was_afterwards():
    def f(account, x):
        for value in x:
            account.add(value)
        return account.total + sum(account.history) * account.count + account.buffer[1] ** 2 + account.buffer[0]

    account = Account()
    assert_gradient(f, account, X)
    assert account.history == [0.5] and account.count == 0


def test_an_array_of_an_object_that_is_changed_in_place():
    def f(p, x):
        p.w[0] = p.b * p.w[1]
        p.w *= 2.0
        return np.sum(p.w**2 * x)

    assert_gradient(f, LINE, X)


def test_properties_that_are_set_and_kept():
    def f(c, x):
        before = c.area
        c.radius = c.radius * np.sum(x) - 4.0
        return c.radius**3 * before + c.area

    assert_gradient(f, Circle(1.4), X)


def test_operators_of_objects():
    def f(n, x):
        made = (2.0 * n + 3.0) * n
        return made.value if n < 10.0 else 0.0 * made.value

    assert_gradient(f, Number(1.3), X)


def test_branches_and_loops_over_attributes():
    def f(s, x):
        total = s.k if s.k > 0.5 else s.k**2
        for i in range(12):
            total = total + s.w[i % 3] * s.k**i
        while total < 5.0:
            total = total * 1.5 + s.w[0]
        return total

    for k in (0.9, 0.3):
        assert_gradient(f, types.SimpleNamespace(w=X + 1.0, k=k), X)


def test_attributes_that_are_called_as_those_of_arrays():
    def f(s):
        return s.size * s.shape * s.T * s.real * s.dtype

    assert_gradient(f, types.SimpleNamespace(size=2.0, shape=3.0, T=1.5, real=0.7, dtype=1.1))


def test_attributes_by_name():
    def f(s):
        extra = s.b if hasattr(s, "b") else 0.0
        return getattr(s, "a") * getattr(s, "missing", 3.0) + extra + sum(v for k, v in vars(s).items() if k != "n")

    assert_gradient(f, types.SimpleNamespace(a=2.0, b=3.0, n=4))


def test_copies():
    def f(p, x):
        other = dataclasses.replace(p, b=p.b * 2.0)
        shallow = copy.copy(p)
        shallow.b = shallow.b * 3.0
        deep = copy.deepcopy(p)
        deep.w[0] = deep.b * 5.0
        return np.sum(other.w * x + other.b) * shallow.b + np.sum(deep.w**2) * p.b

    assert_gradient(f, LINE, X)


def test_what_the_result_does_not_depend_on():
    def f(s):
        return s.k**2

    thing = types.SimpleNamespace(w=X, k=0.9, j=3, s="t", nothing=None, flags=[1, 2])
    gradient = assert_gradient(f, thing)
    assert np.array_equal(gradient.w, np.zeros(3))
    assert gradient.j is gradient.s is gradient.nothing is gradient.flags is None
    assert s2s.grad(f, unconnected="none")(thing).w is None


def test_kinds_of_numbers():
    def f(s):
        return np.abs(s.z * s.f + 1.0) ** 2

    gradient = s2s.grad(f)(types.SimpleNamespace(z=1.5 - 0.5j, f=np.float32(2.0)))
    assert type(gradient.f) is np.float32 and np.iscomplexobj(gradient.z)
    assert np.isclose(gradient.f, 2.0 * ((2.0 * 1.5 + 1.0) * 1.5 + 2.0 * 0.25))


# --- arguments ------------------------------------------------------------------------------------------------------


def product(p, q, x):
    return p.b * q.b * np.sum(p.w * q.w * x)


P, Q = Line(X + 2.0, 0.5), Line(2.0 * X + 1.0, 1.5)


def test_several_arguments_by_number_and_name():
    both = s2s.grad(product, argnums=(0, "q", "x"))(P, Q, X)
    assert np.allclose(both[0].w, P.b * Q.b * Q.w * X) and np.allclose(both[1].w, P.b * Q.b * P.w * X)
    assert np.allclose(both[2], P.b * Q.b * P.w * Q.w)
    assert np.isclose(s2s.grad(product, argnums="q")(P, Q, X).b, P.b * np.sum(P.w * Q.w * X))
    assert np.allclose(s2s.grad(product, argnums=2)(P, Q, X), both[2])


def test_an_object_among_the_positional_arguments_of_vjp():
    def f(p, x):
        return p.at(x)

    out, pullback = s2s.vjp(f, P, X)
    p_bar, x_bar = pullback(np.ones(3))
    slope = 1.0 - np.tanh(P.w * X + P.b) ** 2
    assert np.allclose(out, np.tanh(P.w * X + P.b))
    assert type(p_bar) is Line and np.allclose(p_bar.w, slope * X) and np.allclose(x_bar, slope * P.w)
    assert np.isclose(p_bar.b, np.sum(slope))


def test_a_call_is_compiled_again_where_an_attribute_has_another_kind():
    gradient = s2s.grad(product)
    versions = []
    for p in (P, Line(P.w, np.float32(2.0)), Line(P.w[:1], 0.5), Line(P.w, 0.7), Line(P.w, 0.7, name="other")):
        wanted = Q.b * np.sum(p.w * Q.w * X)
        assert np.isclose(gradient(p, Q, X).b, wanted)
        versions.append(len(gradient.dispatcher.versions))
    assert versions == [1, 2, 3, 3, 4]


def test_an_attribute_that_is_added_or_lost():
    def f(s):
        return s.a * (s.b if hasattr(s, "b") else 10.0)

    gradient = s2s.grad(f)
    assert gradient(types.SimpleNamespace(a=2.0)).a == 10.0
    assert gradient(types.SimpleNamespace(a=2.0, b=3.0)).a == 3.0
    assert gradient(types.SimpleNamespace(a=2.0)).a == 10.0


def test_an_object_without_floats_is_refused():
    with pytest.raises(ArgumentError, match=r"\[S2S504\]"):
        s2s.grad(product)(types.SimpleNamespace(b=1, w=None), Q, X)


def energy(p):
    return np.sum(p.at(X)) * p.b


def test_the_version_on_disk_is_used_again(tmp_path, monkeypatch):
    from s2s import derivatives
    from s2s.dispatch import lookup
    from s2s.rules import table

    monkeypatch.setattr(table, "FOREIGN", [])
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path))
    gradient = s2s.grad(energy)
    first = gradient(P)
    (file,) = tmp_path.glob("*.py")
    assert "rt.gradient_object(p, w=" in file.read_text()
    monkeypatch.setattr(lookup, "_shared", type(lookup._shared)())
    monkeypatch.setattr(lookup, "run_compiler", lambda *_: pytest.fail("compiled again"))
    again = derivatives._new_derivative(energy, gradient.dispatcher.ask, derivatives._Store(energy))
    assert np.array_equal(again(P).w, first.w)
    with pytest.raises(pytest.fail.Exception):
        again(Line(P.w, np.float32(0.5)))


# --- one object in two places ---------------------------------------------------------------------------------------


def doubled(p, q):
    p.value = p.value * 2.0
    return p.value * q.value


def test_one_object_as_two_arguments_of_a_function_that_changes_it_is_refused():
    cell = Cell(3.0)
    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S140\]"):
        s2s.grad(doubled)(cell, cell)
    assert s2s.grad(doubled)(cell, Cell(5.0)).value == 10.0


OUTSIDE = Cell(1.0)


def test_an_argument_that_is_also_a_global_which_is_changed_is_refused():
    def f(p):
        OUTSIDE.value = p.value * 2.0
        return p.value * p.value + OUTSIDE.value

    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S140\]"):
        s2s.grad(f)(OUTSIDE)
    assert s2s.grad(f)(Cell(3.0)).value == 8.0
    assert OUTSIDE.value == 6.0


def test_whether_two_parts_are_one_object_is_not_guessed():
    def f(p):
        return p.value.value * 2.0 if p.value is p.other else p.value.value * 7.0

    inner = Cell(3.0)
    assert s2s.grad(f)(Cell(inner, Cell(3.0))).value.value == 7.0
    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S140\]"):
        s2s.grad(f)(Cell(inner, inner))


def by_item(x, p):
    items = [p, Cell(1.0)]
    return x * 2.0 if items[0] is p and items[1] is not p else x * 3.0


def by_attribute(x, p):
    return x * 2.0 if p.other is p else x * 3.0


def by_own_lists(x, p):
    first, second = [x], [x]
    return x * 2.0 if [first][0] is first and [second][0] is not first else x * 3.0


def by_two_attributes(x, p):
    return x * 2.0 if p.value is p.other else x * 3.0


@pytest.mark.parametrize("f, slope, is_tested", [
    (by_item, 2.0, False), (by_attribute, 2.0, False), (by_own_lists, 2.0, False), (by_two_attributes, 3.0, True),
])
def test_only_different_objects_are_tested_to_be_different(f, slope, is_tested):
    """An object that has itself as an attribute is reached in two ways, and compared with itself."""
    p = Cell(Cell(3.0), Cell(5.0))
    p.other = p.other if is_tested else p
    gradient = s2s.grad(f)
    assert gradient(1.5, p) == slope
    assert ("rt.check_separate(" in gradient.source) == is_tested


def test_arrays_of_two_attributes_that_share_memory_are_refused_where_one_is_changed():
    def f(p):
        p.value[0] = p.value[1] * 2.0
        return np.sum(p.value * p.other)

    w = np.array([1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"`p.value` and `p.other`"):
        s2s.grad(f)(Cell(w, w))
    gradient = s2s.grad(f)(Cell(w, np.array([3.0, 4.0])))
    assert np.array_equal(gradient.value, [0.0, 10.0]) and np.array_equal(gradient.other, [4.0, 2.0])


@pytest.mark.parametrize(
    "f", [lambda p: float(str(p)[0] == "x") * p.value, lambda p: [print][0](p)],
    ids=["text", "print"],
)
def test_an_object_that_is_used_as_a_whole_is_refused(f):
    with pytest.raises(DifferentiationError):
        s2s.grad(f)(Cell(2.0))


def test_a_function_known_at_run_time_does_not_get_an_object():
    def f(functions, p, k):
        return functions[k](p)

    functions = [lambda p: p.value**2, lambda p: p.value**3]
    with pytest.raises(NoDerivativeError, match=r"\[S2S138\]"):
        s2s.grad(f, argnums=1)(functions, Cell(2.0), -1)
    for k, slope in ((0, 4.0), (1, 12.0)):  # small counts are known by value
        assert s2s.grad(f, argnums=1)(functions, Cell(2.0), k).value == slope


# --- classes and modules that change --------------------------------------------------------------------------------


class Model:
    mode = "square"
    factor = 2.0

    def __init__(self, w):
        self.w = w

    def run(self, x):
        return self.factor * (x * x if self.mode == "square" else x) * self.w

    @classmethod
    def make(cls, w):
        return cls(w)

    @staticmethod
    def shift(x):
        return x + 1.0


MODEL = Model(3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("mode", "line"), ("factor", 5.0), ("run", lambda self, x: self.w * x**3), ("shift", staticmethod(lambda x: x)),
     ("make", classmethod(lambda cls, w: cls(w * 2.0))), ("__init__", lambda self, w: setattr(self, "w", w + 1.0))],
)
def test_what_a_class_has_is_read_again_when_it_was_replaced(monkeypatch, name, value):
    def f(x):
        return Model.make(2.0).run(Model.shift(x)) + MODEL.run(x)

    gradient = s2s.grad(f)
    for _ in range(2):
        assert np.isclose(gradient(3.0), (f(3.0 + H) - f(3.0 - H)) / (2.0 * H))
        monkeypatch.setattr(Model, name, value)


def test_an_attribute_of_an_object_hides_that_of_its_class():
    def f(x):
        return MODEL.run(x)

    gradient = s2s.grad(f)
    assert np.isclose(gradient(3.0), 36.0)
    MODEL.mode = "line"
    try:
        assert np.isclose(gradient(3.0), 6.0)
    finally:
        del MODEL.mode
    assert np.isclose(gradient(3.0), 36.0)


def test_containers_of_a_module_are_read_again(monkeypatch):
    module = types.ModuleType("s2s_test_settings")
    module.options = {"mode": "square"}
    module.n = 2
    monkeypatch.setitem(__import__("sys").modules, module.__name__, module)

    def f(x):
        return x**module.n if module.options["mode"] == "square" else x

    gradient = s2s.grad(f)
    assert gradient(3.0) == 6.0
    module.n = 3
    assert gradient(3.0) == 27.0
    module.options["mode"] = "line"
    assert gradient(3.0) == 1.0


class Reader:
    def __init__(self, value):
        self.value = value

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


@pytest.mark.parametrize("thing", [Reader(2.0), object(), {1.0}], ids=["own reader", "object", "set"])
def test_an_object_whose_attributes_are_not_known_is_refused(thing):
    with pytest.raises(ArgumentError, match=r"\[S2S504\]"):
        s2s.grad(lambda p: p.value**2)(thing)


class Settings:
    def __init__(self, mode, power):
        self.mode = mode
        self.power = power

    def apply(self, x):
        return x**self.power if self.mode == "power" else 3.0 * x


def test_objects_without_floats_in_an_object_are_read_as_those_from_outside():
    import logging

    def f(s, x):
        total = np.sum(s.settings.apply(s.w) * x)
        for other in s.others:
            total = total + other.apply(s.w[0])
        return total

    thing = types.SimpleNamespace(
        w=X + 2.0, settings=Settings("power", 3), log=logging.getLogger("s2s"), others=[Settings("line", 1)])
    gradient = s2s.grad(f)
    for mode, power in (("power", 3), ("power", 2), ("line", 1)):
        thing.settings = Settings(mode, power)
        found = gradient(thing, X)
        assert found.settings is None and found.log is None
        wanted = [difference(f, (thing, X), ("w",), H * e) for e in np.eye(3)]
        assert np.allclose(found.w, wanted, rtol=1e-6)
    assert len(gradient.dispatcher.versions) == 2
