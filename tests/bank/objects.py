"""Objects with attributes: classes, properties, operators, inheritance, dataclasses, objects that exist already."""

import abc
import copy
import functools
from dataclasses import InitVar, dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from tests.bank.registry import P3, V3, W3, case


class Counter:
    """Counts and sums."""

    unit = 2.0

    def __init__(self, start, step=1.0):
        self.value = start
        self.step = step
        self.history = []

    def add(self, change):
        self.value = self.value + change * self.step
        self.history.append(change)
        return self

    @property
    def square(self):
        return self.value**2

    @square.setter
    def square(self, value):
        self.value = np.sqrt(value)

    @staticmethod
    def twice(value):
        return 2.0 * value

    @classmethod
    def doubled(cls, start):
        return cls(cls.twice(start))

    def __call__(self, value):
        return self.value * value

    def __getitem__(self, k):
        return self.history[k]

    def __len__(self):
        return len(self.history)

    def __contains__(self, value):
        return value == "history"

    def __bool__(self):
        return True


@case(1.3, 0.4)
def attributes(x, y):
    counter = Counter(x)
    counter.add(y).add(x * y)
    counter.value *= 2.0
    return counter.value * counter.step + counter.unit * y


@case(1.3)
def method_kinds(x):
    counter = Counter.doubled(x)
    return counter.value * counter.twice(x) + Counter.twice(counter.value)


@case(1.3)
def property_and_setter(x):
    counter = Counter(x)
    counter.square = counter.square + 3.0 * x
    return counter.square * counter.value


@case(1.3, 0.4)
def special_methods(x, y):
    counter = Counter(x)
    counter.add(y)
    counter.add(x)
    known = 1.0 if "history" in counter else 2.0
    return counter(y) * len(counter) + counter[0] * counter[1] * known


@case(1.3)
def two_names_for_one_object(x):
    counter = Counter(x)
    other = counter
    other.value = x * x
    return counter.value + (1.0 if counter is other else 2.0) * x


@case(1.3)
def object_changed_by_a_function(x):
    def scale(counter, factor):
        counter.value = counter.value * factor

    counter = Counter(x)
    scale(counter, x)
    scale(counter, 2.0)
    return counter.value


@case(1.3)
def dynamic_attributes(x):
    counter = Counter(x)
    setattr(counter, "extra", x * x)
    missing = getattr(counter, "missing", 3.0)
    found = counter.extra if hasattr(counter, "extra") else 0.0
    return found * missing + vars(counter)["value"] * (1.0 if callable(counter) else 2.0)


@case(1.3)
def type_tests(x):
    counter = Counter(x)
    factor = 2.0 if isinstance(counter, Counter) and type(counter) is Counter else 3.0
    return factor * counter.value


class Base(abc.ABC):
    """A base class with a template method."""

    offset = 1.0

    def __init__(self, scale):
        self.scale = scale
        self.setup()

    def setup(self):
        self.bias = self.offset

    @abc.abstractmethod
    def shape(self, x):
        """The shape."""

    def evaluate(self, x):
        return self.scale * self.shape(x) + self.bias


class Parabola(Base):
    """Overrides what the base calls."""

    offset = 3.0

    def __init__(self, scale, power):
        super(Parabola, self).__init__(scale)
        self.power = power

    def shape(self, x):
        return x**self.power


class Shifted(Parabola):
    """Calls up two levels."""

    def setup(self):
        super(Shifted, self).setup()
        self.bias = self.bias * 2.0

    def evaluate(self, x):
        return super(Shifted, self).evaluate(x - 0.5) + super(Parabola, self).evaluate(x)


@case(1.3, 0.4)
def inheritance(x, y):
    return Parabola(y, 3).evaluate(x) * x


@case(1.3, 0.4)
def super_calls(x, y):
    return Shifted(y, 2).evaluate(x) * y


class Vector:
    """Operators, reflected and in place."""

    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __sub__(self, other):
        return self + -other

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __truediv__(self, factor):
        return self * (1.0 / factor)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __abs__(self):
        return np.sqrt(self @ self)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __eq__(self, other):
        return isinstance(other, Vector) and self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __float__(self):
        return float(abs(self))

    def __iter__(self):
        return iter([self.x, self.y])


@case(1.3, 0.4)
def operators_of_objects(x, y):
    u, v = Vector(x, y), Vector(y, x * y)
    w = 2.0 * u - v / x
    return w @ u + abs(w)


@case(1.3, 0.4)
def augmented_assignment_of_objects(x, y):
    u = Vector(x, y)
    same = u
    u += Vector(y, x)
    u *= 2.0
    return same.x * u.y + u.x


class Register:
    """One whose augmented shifts do something else than its shifts."""

    def __init__(self, x):
        self.x = x

    def __lshift__(self, factor):
        return Register(self.x * factor)

    def __ilshift__(self, factor):
        self.x = self.x * self.x * factor
        return self

    def __irshift__(self, divisor):
        self.x = self.x / divisor
        return self


@case(1.3, 0.4)
def augmented_shift_of_objects(x, y):
    u = Register(x)
    same = u
    u <<= y
    u >>= x + y
    return same.x * (u << 2.0).x


@case(1.3, 0.4)
def comparison_of_objects(x, y):
    u, v = Vector(x, y), Vector(y, x * x)
    smaller = u if u < v else v
    return smaller.x * (2.0 if u == u and u != v else 3.0)


@case(1.3, 0.4)
def conversion_and_unpacking(x, y):
    u = Vector(x, y)
    a, b = u
    return float(u) * a + b


@case(1.3)
def sum_of_objects(x):
    total = sum([Vector(x * k, 1.0 + x) for k in range(3)])
    return total.x * total.y


@case(1.3)
@case(-0.8)
def object_changed_on_one_path(x):
    u = Vector(x, 1.0)
    if x > 0:
        u.x = x * x
    else:
        u.y = 3.0 * x
    return u.x * u.y


@case(1.3)
@case(-0.8)
def object_made_on_each_path(x):
    u = Vector(x, 2.0) if x > 0 else Vector(1.0, x)
    u.x += x
    return u.x * u.y


@case(1.3)
@case(-0.8)
def one_of_two_objects(x):
    u, v = Vector(x, 2.0), Vector(x * x, 3.0)
    chosen = u if x > 0 else v
    return chosen.x * chosen.y


@case(1.3)
def object_changed_in_a_loop(x):
    p = Vector(x, 0.5)
    for _ in range(6):
        p.y -= 0.1 * p.x
        p.x += 0.1 * p.y
    return p.x * p.y


@case(1.3)
def object_rebound_in_a_loop(x):
    p = Vector(x, 0.5)
    for _ in range(6):
        p = Vector(p.x + 0.1 * p.y, p.y - 0.1 * p.x * p.x)
    return p.x * p.y


@case(1.3)
def objects_in_a_list(x):
    particles = [Vector(x * (k + 1), 1.0 / (k + 1)) for k in range(3)]
    for _ in range(4):
        for k, p in enumerate(particles):
            p.x += 0.1 * p.y * (k + 1)
        for a, b in zip(particles, reversed(particles)):
            a.y -= 0.01 * b.x
    total = 0.0
    for p in particles:
        total += p.x * p.y
    return total


@case(1.3)
def objects_by_index(x):
    particles = [Vector(x, 1.0), Vector(2.0, x)]
    for i in range(2):
        particles[i].x = particles[i].x * particles[1 - i].y
    return particles[0].x + particles[1].x * particles[1].y


@case(1.3)
def objects_in_a_dict(x):
    parts = {"left": Vector(x, 1.0), "right": Vector(1.0, x)}
    for name, part in parts.items():
        part.x *= 2.0 if name == "left" else x
    return parts["left"].x * parts["right"].x


@case(1.3)
def copies_of_objects(x):
    u = Counter(x)
    u.add(2.0)
    shallow, deep = copy.copy(u), copy.deepcopy(u)
    shallow.value = x * x
    shallow.history.append(x)
    deep.history.append(5.0)
    return u.value * shallow.value + u.history[1] * len(deep.history)


@dataclass
class Settings:
    """Defaults of all kinds."""

    scale: float
    power: int = 2
    items: list = field(default_factory=list)
    product: float = field(init=False)
    factor: InitVar[float] = 3.0
    count: ClassVar[int] = 0

    def __post_init__(self, factor):
        self.product = self.scale * factor


@dataclass(frozen=True)
class Point:
    """Frozen."""

    x: float
    y: float = 1.5

    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)

    def moved(self, by):
        return Point(self.x + by, self.y)


@dataclass(order=True)
class Ranked:
    """Ordered."""

    rank: float
    name: str = field(default="", compare=False)


@case(1.3, 0.4)
def dataclass_fields(x, y):
    settings = Settings(x, factor=y)
    settings.items.append(settings.product)
    settings.scale += y
    return settings.product * settings.scale**settings.power + settings.items[0]


@case(1.3)
def frozen_dataclass(x):
    p = Point(x)
    q = p.moved(x)
    return p.norm() * q.norm() + (2.0 if p == q else 3.0) * x


@case(1.3, 0.4)
def ordered_dataclass(x, y):
    first, second = Ranked(x, "a"), Ranked(y, "b")
    return first.rank * (2.0 if first > second else 3.0)


class Pair(NamedTuple):
    """A named tuple with a method."""

    a: float
    b: float = 2.0

    def product(self):
        return self.a * self.b

    @property
    def swapped(self):
        return Pair(self.b, self.a)

    @property
    def ratio(self):
        return self.a / self.b


@case(1.3)
def properties_of_a_named_tuple(x):
    pair = Pair(x * x, 1.0 + x)
    return pair.ratio * pair.swapped.a + pair.swapped.ratio


@case(1.3)
def named_tuple(x):
    pair = Pair(x * x)
    a, b = pair
    return pair.product() + a * b + pair[0]


class Cached:
    """A value computed once, attributes made up on demand."""

    def __init__(self, x):
        self.x = x
        self.calls = 0

    @functools.cached_property
    def heavy(self):
        self.calls += 1
        return self.x**3

    def __getattr__(self, name):
        if name.startswith("times_"):
            return self.x * float(name[6:])
        raise AttributeError(name)


@case(1.3)
def cached_property_and_getattr(x):
    made = Cached(x)
    return made.heavy + made.heavy * made.calls + made.times_3


class Guarded:
    """Its own ``__setattr__`` and ``__new__``."""

    def __new__(cls, value):
        made = super(Guarded, cls).__new__(cls)
        object.__setattr__(made, "stores", 0)
        return made

    def __init__(self, value):
        self.value = value

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)
        object.__setattr__(self, "stores", self.stores + 1)


@case(1.3)
def own_new_and_setattr(x):
    made = Guarded(x)
    made.value = made.value + x
    return made.value * made.stores


class Positive:
    """A descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, abs(value))


class Described:
    """Uses it."""

    size = Positive()

    def __init__(self, size):
        self.size = size


@case(-1.3)
def descriptor(x):
    made = Described(x)
    made.size = made.size * x
    return made.size**2


class Layer:
    """A layer with weights that stay, and a note of the last input."""

    def __init__(self, w, activation="tanh"):
        self.w = w
        self.b = 0.1
        self.activation = activation
        self.last = None
        self.scale = {"out": 2.0}

    def forward(self, x):
        self.last = x
        h = self.w * x + self.b
        if self.activation == "tanh":
            h = np.tanh(h)
        return h * self.scale["out"]


class Network:
    """Layers in a list, a loss, a log."""

    def __init__(self):
        self.layers = [Layer(V3), Layer(W3, "linear")]
        self.log = []
        self.loss = np.sum
        self.total = 0.0

    def run(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        self.total = self.total + self.loss(x)
        self.log.append(self.total)
        return self.total * len(self.log) + np.sum(self.layers[0].last * self.layers[1].last)


NETWORK = Network()
RUN = copy.deepcopy(NETWORK).run
SETTINGS = Settings(2.0, 3)
LAYERS = {"first": Layer(P3), "second": Layer(W3)}


@case(P3)
def object_in_a_global(x):
    network = copy.deepcopy(NETWORK)
    return network.run(x)


@case(P3)
def options_of_a_global_object(x):
    return np.sum(x**SETTINGS.power) * SETTINGS.scale + SETTINGS.product


@case(P3)
def objects_in_a_global_dict(x):
    return np.sum(LAYERS["first"].w * x * LAYERS["second"].b)


@case(P3, NETWORK, argnums=0)
def object_as_an_argument(x, network):
    h = x
    for layer in network.layers:
        h = np.tanh(layer.w * h + layer.b)
    return np.sum(h)


@case(P3, [LAYERS["first"], LAYERS["second"]], argnums=0)
def objects_in_an_argument(x, layers):
    return np.sum(layers[0].w * x) * layers[1].b


@case(1.3)
def bound_method_as_a_value(x):
    counter = Counter(x)
    add = counter.add
    for k in range(3):
        add(x * k)
    return counter.value


@case(1.3)
def closure_over_an_object(x):
    counter = Counter(x)

    def step(v):
        counter.add(v)
        return counter.value

    return step(x) * step(x * x)


class Couple:
    def __init__(self, first, second):
        self.items = (first, second)

    def __iter__(self):
        return iter(self.items)


@case(0.7)
def unpacked_through_iter(x):
    a, b = Couple(x, x**2)
    first, *rest = Couple(x * b, a)
    return a * b + first * rest[0] + sum(Couple(a, b))
