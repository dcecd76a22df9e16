"""Usual idioms around classes and functions: generic functions, caches, enumerations, iterators that are read bit by
bit, decorators, context managers, descriptors, metaclasses, arrays that are given another shape."""

import abc
import contextlib
import enum
import functools
import inspect
import operator
import types
import typing

import numpy as np

from tests.bank.registry import P3, V3, case

# --- generic functions ----------------------------------------------------------------------------------------------


class Square:
    def __init__(self, side):
        self.side = side


class Disc:
    def __init__(self, radius):
        self.radius = radius


class Ring(Disc):
    pass


@functools.singledispatch
def area(shape, k):
    raise NotImplementedError


@area.register
def _(shape: Square, k):
    return k * shape.side**2


@area.register(Disc)
def _(shape, k):
    return 3.0 * k * shape.radius**2


@area.register(float)
def _(shape, k):
    return shape * k


@area.register(np.ndarray)
def _(shape, k):
    return np.sum(shape) * k


@area.register(list)
def _(shape, k):
    return sum(area(s, k) for s in shape)


@case(V3)
def singledispatch(v):
    many = area([Square(v[0]), Disc(v[2])], 1.5)
    return area(Square(v[0]), 2.0) + area(Ring(v[1]), v[2]) + area(v, v[0]) + area(v[1], 3.0) + many


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @functools.singledispatchmethod
    def of(self, value):
        raise TypeError

    @of.register
    def _(self, value: float):
        return self.factor * value

    @of.register(np.ndarray)
    def _(self, value):
        return np.sum(value * self.factor)

    def power(self, n, k=1.0):
        return k * self.factor**n

    square = functools.partialmethod(power, 2)
    cube = functools.partialmethod(power, 3, k=2.0)


@case(V3)
def singledispatchmethod(v):
    return Scale(v[0]).of(2.5) + Scale(v[1]).of(v) * v[2]


@case(V3)
def partialmethod(v):
    return Scale(v[0]).square() + Scale(v[1]).cube() * Scale(v[2]).square(k=3.0)


# --- functions that keep their results, and getters -----------------------------------------------------------------


@functools.lru_cache
def coefficient(n):
    return 1.0 / (n + 1)


@functools.cache
def squares(n):
    return tuple(float(i) ** 2 for i in range(n))


@functools.lru_cache(maxsize=None)
def parity(n):
    return "even" if n % 2 == 0 else "odd"


@functools.lru_cache
def cached_power(x, n):
    return x**n


@case(V3)
def lru_cache(v):
    total = sum(coefficient(i) * v[i] ** 2 for i in range(3)) + squares(3)[2] * v[0]
    if parity(4) == "even":
        total = total * v[1]
    return total + cached_power(v[2], 3)


@case(V3)
def getters(v):
    o = types.SimpleNamespace(a=v[0], b=types.SimpleNamespace(c=v[1]), items=[v[2], v[0]])
    first, second = operator.attrgetter("b.c", "a")(o)
    p, q = operator.itemgetter(0, 2)([v[0], v[1], v[2]])
    power = operator.methodcaller("power", 2, k=3.0)
    ordered = sorted([(2, v[0]), (1, v[1])], key=operator.itemgetter(0))
    return first * second + operator.itemgetter(1)(o.items) + p * q + power(Scale(v[1])) + ordered[0][1] * o.a


# --- enumerations ---------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"
    GREEN = "g"

    @property
    def weight(self):
        return {"r": 2.0, "b": 3.0, "g": 4.0}[self.value]


class Flags(enum.Flag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


WEIGHTS = {Color.RED: 1.5, Color.BLUE: 2.5}


def by_color(color, x):
    match color:
        case Color.RED:
            return x**2
        case Color.BLUE:
            return x**3
        case _:
            return x


@case(V3)
def enumerations(v):
    total = by_color(Color.RED, v[0]) * WEIGHTS[Color.RED] + by_color(Color.GREEN, v[2])
    held = {Color.RED: v[0], Color.BLUE: v[1]}
    for color in Color:
        if color in held:
            total = total + held[color] * color.weight
    if Level.LOW < Level.HIGH:
        total = total * Level.HIGH
    if Flags.A in (Flags.A | Flags.B) and Color("r") is Color.RED and Color["BLUE"] != Color.RED:
        total = total + by_color(Color.BLUE, v[1])
    return total * Level.HIGH.value


# --- iterators ------------------------------------------------------------------------------------------------------


@case(V3)
def iterator_read_bit_by_bit(v):
    it = iter([v[0], v[1] ** 2, v[2] ** 3, 2.0])
    a = next(it)
    b = next(it)
    return a * b + sum(it) + next(it, 7.0) * a


@case(V3)
def iterator_read_twice(v):
    pairs = zip([v[0], v[1]], [3.0, 4.0])
    first = sum(a * b for a, b in pairs)
    return first * v[2] + sum(a * b for a, b in pairs)


@case(V3)
def iterator_in_a_loop(v):
    it, total = iter([v[0], v[1], v[2]]), 0.0
    for k in range(3):
        total = total + (k + 1) * next(it) ** 2
    a, *rest = map(lambda t: t * v[0], [1.0, 2.0, 3.0])
    return total + a * sum(rest)


@case(P3)
def iterator_of_views(v):
    back = reversed([v[0], v[1] ** 2, 2.0])
    a = next(back)
    entries = iter({"a": v[0], "b": v[2]}.values())
    return a * next(back) + next(back) * next(entries) ** 2 + next(entries)


# --- decorators -----------------------------------------------------------------------------------------------------


def doubled(f):
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


def scaled(k):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs) * k

        return wrapper

    return decorate


class Counted:
    def __init__(self, f):
        self.f = f
        self.calls = 0
        functools.update_wrapper(self, f)

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.f(*args, **kwargs) + args[0]


REGISTRY = {}


def registered(f):
    REGISTRY[f.__name__] = f
    return f


@doubled
def plain_square(x):
    return x**2


@scaled(3.0)
def power(x, n=2):
    return x**n


@Counted
def cube(x):
    return x**3


@registered
def sine(x):
    return np.sin(x)


@case(V3)
def decorators(v):
    return plain_square(v[0]) + power(v[1], n=3) + cube(v[2]) + REGISTRY["sine"](v[0])


def with_more(cls):
    made = cls.__init__

    @functools.wraps(made)
    def init(self, *args):
        made(self, *args)
        self.extra = self.a * 3.0

    cls.__init__ = init
    cls.factor = 2.0
    cls.more = lambda self: self.extra * self.factor
    return cls


@with_more
class Decorated:
    def __init__(self, a):
        self.a = a


@case(V3)
def class_decorator(v):
    return Decorated(v[0]).more() * v[1] + Decorated(v[2]).extra


def with_own_parameters(f):
    """A wrapper whose signature is not that of its ``def``."""

    def wrapper(*args, **kwargs):
        return f(*args, scale=2.0, **kwargs)

    parameters = inspect.signature(f).parameters
    wrapper.__signature__ = inspect.Signature([p for n, p in parameters.items() if n != "scale"])
    return wrapper


@with_own_parameters
def shifted(x, shift, scale):
    return scale * x + shift


@case(V3)
def signature_of_its_own(v):
    return shifted(v[0], v[1]) * shifted(v[2], shift=v[0])


# --- context managers -----------------------------------------------------------------------------------------------


class Recording:
    def __init__(self, kept, k):
        self.kept, self.k = kept, k

    def __enter__(self):
        self.kept.append(self.k)
        return self

    def __exit__(self, *exception):
        self.kept.append(self.k * 2.0)
        return False


@case(V3)
def context_managers(v):
    kept = []
    with Recording(kept, v[0]) as r:
        total = r.k * v[1]
    with contextlib.suppress(ValueError):
        total = total + v[1]
    with contextlib.nullcontext(v[2]) as z:
        total = total * z
    return total + sum(kept)


# --- attributes -----------------------------------------------------------------------------------------------------


class Stored:
    def __init__(self, values):
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self._values[name] = value * 2.0


@case(V3)
def attributes_in_a_dict(v):
    o = Stored({"a": v[0], "b": v[1]})
    o.c = v[2]
    o.a = o.a * o.b
    return o.a + o.c * o.b


class Tenfold:
    def __init__(self, a):
        self.a = a

    def __getattribute__(self, name):
        if name.startswith("x_"):
            return super().__getattribute__(name[2:]) * 10.0
        return object.__getattribute__(self, name)


@case(V3)
def getattribute(v):
    o = Tenfold(v[0])
    return o.x_a * v[1] + o.a


class Half:
    def __init__(self, default):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, cls=None):
        return self if obj is None else getattr(obj, self.name, self.default)

    def __set__(self, obj, value):
        setattr(obj, self.name, value * 0.5)


class Described:
    x = Half(2.0)
    y = Half(3.0)

    def __init__(self, x):
        self.x = x


@case(V3)
def descriptors(v):
    o = Described(v[0])
    total = o.x * o.y
    o.y = v[1]
    return total + o.y * v[2]


# --- classes --------------------------------------------------------------------------------------------------------


class Meta(type):
    made = {}

    def __new__(mcs, name, bases, namespace):
        cls = super().__new__(mcs, name, bases, namespace)
        mcs.made[name] = cls
        cls.k = 2.0
        return cls


class Base(metaclass=Meta):
    def __init__(self, a):
        self.a = a

    def value(self):
        return self.a * self.k


class Derived(Base):
    def value(self):
        return super().value() ** 2


@case(V3)
def metaclasses(v):
    return Base(v[0]).value() + Derived(v[1]).value() + Meta.made["Base"](v[2]).value()


class Plugin:
    known = {}

    def __init_subclass__(cls, key=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.key = key
        Plugin.known[key] = cls


class Quadratic(Plugin, key="two"):
    def run(self, x):
        return x**2


class Cubic(Plugin, key="three"):
    def run(self, x):
        return x**3


@case(V3)
def init_subclass(v):
    return Plugin.known["two"]().run(v[0]) + Plugin.known["three"]().run(v[1]) * (2.0 if Cubic.key == "three" else v[2])


class Model(abc.ABC):
    @abc.abstractmethod
    def f(self, x): ...

    @property
    @abc.abstractmethod
    def c(self): ...

    def run(self, x):
        return self.f(x) * self.c


class Shifted:
    def run(self, x):
        return super().run(x) + x


class Concrete(Shifted, Model):
    def __init__(self, k):
        self.k = k

    def f(self, x):
        return x**2 * self.k

    @property
    def c(self):
        return self.k + 1.0


@case(V3)
def abstract_and_mixed_in(v):
    return Concrete(v[0]).run(v[1]) * v[2] + (1.0 if isinstance(Concrete(1.0), Model) else v[0])


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, held: T):
        self.held = held

    def map(self, f):
        return Box(f(self.held))


@typing.runtime_checkable
class At(typing.Protocol):
    def at(self, x): ...


class Linear:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k * x


class Quadric(At):
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k + x**2


@case(V3)
def generics_and_protocols(v):
    box, line = Box[float](v[0]).map(lambda t: t**2), Linear(v[1])
    extra = 2.0 * v[0] if isinstance(line, At) else 0.0
    return box.held * line.at(v[2]) + Quadric(v[0]).at(v[1]) + extra


class Node:
    def __init__(self, value, after=None):
        self.value, self.after = value, after

    def total(self):
        return self.value + (self.after.total() * 2.0 if self.after is not None else 0.0)


@case(V3)
def recursion_over_objects(v):
    return Node(v[0], Node(v[1], Node(v[2]))).total() ** 2


# --- arrays that are given another shape ----------------------------------------------------------------------------


@case(V3)
def shape_is_seen_by_all_names(v):
    y = v * 2.0
    z, held, part = y, [y], y[:2]
    z.shape = (3, 1)
    y[0, 0] = v[1] * 3.0
    part[1] = v[2] ** 2
    return np.sum(held[0] @ y.T) * z.ndim + np.sum(y * np.array([[1.0], [2.0], [3.0]])) + y.shape[0] * v[0]


def set_shape(a, shape):
    a.shape = shape


class State:
    def __init__(self, x):
        self.x = np.atleast_2d(x * 1.0)
        self.x.shape = (3, 1)


@case(V3)
def shape_set_by_others(v):
    y = v * 2.0
    set_shape(y, (1, 3))
    state = State(v)
    return np.sum(y * np.array([[1.0], [2.0]])) * y.ndim + np.sum(state.x @ y) * state.x[2, 0]


@case(V3)
def shape_in_loops(v):
    total = 0.0
    for i in range(len(v)):
        y = v * (i + 1)
        y.shape = (3, 1)
        total = total + np.sum(y @ y.T)
    made = np.concatenate([v, v])
    made.shape = (2, 3)
    total = total + np.sum(made[0] ** 2)
    made.shape = (3, 2)
    made[1] = v[:2]
    made.shape = -1
    return total + np.sum(made**3)


@case(V3)
def flat_real_and_imag(v):
    y = np.zeros((3, 2))
    y.flat = v[0] * v[1]
    y.T[1] = v
    z = np.zeros(3, complex)
    z.real = v
    z.imag = v[::-1] * 2.0
    y.real = y * v[2]
    return np.sum(y**2) + np.sum(np.abs(z) ** 2) * v[0]
