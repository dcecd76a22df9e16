"""Objects that a function makes and asks about: the `__init__` of dataclasses, and protocols."""

import dataclasses
import typing

import pytest

import s2s

POINT, H = 1.7, 1e-6


@pytest.fixture(autouse=True)
def _apart(monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "0")


def assert_right(f, *others):
    slope = (f(POINT + H, *others) - f(POINT - H, *others)) / (2 * H)
    assert s2s.grad(f)(POINT, *others) == pytest.approx(slope, rel=1e-6)
    tangents = (1.0, *(None for _ in others))
    assert s2s.jvp(f, (POINT, *others), tangents)[1] == pytest.approx(slope, rel=1e-6)


# --- dataclasses ------------------------------------------------------------------------------------------------------


class Doubling:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2.0 * value)


@dataclasses.dataclass
class Doubled(Doubling):
    mass: float


@dataclasses.dataclass
class Plain:
    mass: float


class Squared(Plain):
    @property
    def mass(self):
        return self.held

    @mass.setter
    def mass(self, value):
        self.held = value * value


@dataclasses.dataclass(frozen=True)
class Frozen:
    mass: float


class Thawed(Frozen):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, 3.0 * value)


@dataclasses.dataclass
class Scaled:
    mass: float

    def __post_init__(self):
        self.mass = 2.0 * self.mass


class Cubed(Scaled):
    def __post_init__(self):
        self.mass = self.mass**3


@dataclasses.dataclass(init=False)
class More(Plain):
    parts: list = dataclasses.field(default_factory=list)


@pytest.mark.parametrize("made", [Doubled, Squared, Frozen, Thawed, Scaled, Cubed], ids=lambda made: made.__name__)
def test_init_of_a_dataclass_stores_as_statements_do(made):
    assert_right(lambda x: made(x).mass * x)


def test_init_of_a_dataclass_stores_the_fields_that_it_was_written_for():
    assert_right(lambda x: x if hasattr(More(x), "parts") else 5.0 * x)


def test_init_of_a_dataclass_that_is_not_given_enough():
    def f(x):
        try:
            return Plain().mass
        except TypeError:
            return x * x

    assert_right(f)


# --- protocols --------------------------------------------------------------------------------------------------------


@typing.runtime_checkable
class HasMass(typing.Protocol):
    mass: float


@typing.runtime_checkable
class Moves(typing.Protocol):
    def move(self): ...


@typing.runtime_checkable
class Both(HasMass, Moves, typing.Protocol): ...


class Named(HasMass): ...


class Thing: ...


class Hooked:
    def __getattr__(self, name):
        if name == "mass":
            return 1.0
        raise AttributeError(name)


class Mover:
    def move(self):
        return 1.0


def plain(f):
    f.mass = 2.0
    return f


@plain
def with_mass():
    return 1.0


def thing(**attributes):
    made = Thing()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


OBJECTS = {
    "nothing": Thing, "mass": lambda: thing(mass=1.0), "move": lambda: thing(move=len),
    "both": lambda: thing(mass=1.0, move=len), "blocked": lambda: thing(move=None), "method": Mover,
    "declared": Named, "hook": Hooked, "function": lambda: with_mass, "tuple": lambda: (1.0, 2.0),
}


PROTOCOLS = {"data": HasMass, "methods": Moves, "both": Both, "tuple": (int, HasMass), "union": HasMass | int}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
@pytest.mark.parametrize("name", OBJECTS)
def test_protocols_ask_the_object(name, protocol):
    held = OBJECTS[name]()
    assert_right(lambda x: x * x if isinstance(held, protocol) else x)
    assert_right(lambda x, it: x * x if isinstance(it, protocol) else x, held)


def test_protocols_ask_objects_that_the_function_makes():
    def f(x, key):
        made = Thing()
        if key == "mass":
            made.mass = x
        elif key == "move":
            made.move = None
        else:
            made = Mover()
        return (x * x if isinstance(made, HasMass) else x) * (3.0 if isinstance(made, Moves) else 1.0)

    for key in ("mass", "move", "method"):
        assert_right(lambda x, key=key: f(x, key))


def test_protocols_ask_each_object_of_a_class():
    def f(x, it):
        return x * x if isinstance(it, Moves) else x

    gradient, it = s2s.grad(f), Thing()
    assert gradient(POINT, it) == 1.0
    it.move = len
    assert gradient(POINT, it) == 2 * POINT
    del it.move
    assert gradient(POINT, it) == 1.0


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_slot_that_is_another_one_is_no_longer_written(monkeypatch):
    class Two:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a
            self.b = 7.0

    def f(x, made):
        return made(x).a * x

    gradient = s2s.grad(f)
    assert gradient(POINT, Two) == 2 * POINT
    Two.a = Two.b
    with pytest.raises(s2s.errors.UnsupportedSyntaxError, match="S2S113"):
        gradient(POINT, Two)
    monkeypatch.setenv("S2S_RECORDED", "1")
    assert s2s.grad(f)(POINT, Two) == 7.0
