"""Objects, functions and generators."""

import contextlib
import copy
import dataclasses
import functools
import types
from typing import NamedTuple

import numpy as np

from tests.language.rows import Group

row = Group("Objects that hold differentiated values")


class Body:
    def __init__(self, mass, speed=1.0):
        self.mass = mass
        self.speed = speed

    def energy(self, factor=0.5):
        return factor * self.mass * self.speed**2

    def pushed(self, force):
        self.speed = self.speed + force / self.mass
        return self

    @functools.cached_property
    def momentum(self):
        return self.mass * self.speed


class Front:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)


class Lazy:
    def __init__(self, value):
        self.value = value
        self._square = None

    @property
    def square(self):
        if self._square is None:
            self._square = self.value**2
        return self._square


class Point(NamedTuple):
    u: float
    v: float = 2.0


@dataclasses.dataclass
class Spring:
    stiffness: float
    rest: float = 1.0
    marks: list = dataclasses.field(default_factory=list)

    def force(self, length):
        return self.stiffness * (length - self.rest)


@dataclasses.dataclass(frozen=True)
class Fixed:
    u: float
    v: float = 1.0


def with_arithmetic(cls):
    cls.__add__ = lambda self, other: cls(self.value + other.value)
    cls.__mul__ = lambda self, other: cls(self.value * other.value)
    return cls


@with_arithmetic
class Number:
    def __init__(self, value):
        self.value = value


class Dual:
    def __init__(self, re, im):
        self.re, self.im = re, im

    def __mul__(self, other):
        return Dual(self.re * other.re, self.re * other.im + self.im * other.re)

    def __add__(self, other):
        return Dual(self.re + other.re, self.im + other.im)

    def __iter__(self):
        yield self.re
        yield self.im


class Labelled(np.ndarray):
    def __array_finalize__(self, other):
        self.label = getattr(other, "label", 1.0)


class Node:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


def moved(body, x):
    return Body(body.mass * x[1], body.speed)


def work(body, x):
    return body.pushed(x[0]).energy()


OPERATIONS = {"energy": Body.energy, "push": lambda body: body.pushed(2.0).energy()}


@row("an object passed whole")
def passed(x):
    return work(Body(x[0], x[1]), x)


@row("an object merged at a join")
def merged(x):
    if x[1] > 0.5:
        body = Body(x[0] * x[1])
    else:
        body = Body(x[1])
    return body.energy(2.0 * x[2])


@row("a returned object")
def returned(x):
    body = moved(Body(x[0], x[2]), x)
    return body.energy() * x[3]


@row("objects in a dict and in lists")
def stored(x):
    held = {"first": Body(x[0]), "rest": [Body(x[1], x[2]), Body(x[3])]}
    return held["first"].mass * sum(body.energy() for body in held["rest"])


@row("an object picked by a computed index")
def picked(x):
    bodies = [Body(x[0]), Body(x[1], x[2]), Body(x[3])]
    k = int(x[1])
    return bodies[k].energy() * bodies[k - 1].mass


@row("methods by name, bound, and of the class")
def by_methods(x):
    body = Body(x[0], x[1])
    bound = body.energy
    return bound(x[2]) * getattr(body, "energy")() + Body.energy(body) ** 2


@row("a method chosen when the program runs")
def chosen_method(x):
    body = Body(x[0], x[1])
    return OPERATIONS["push" if x[2] > 0.5 else "energy"](body) * x[3]


@row("an object that reaches a function picked when the program runs", recorded=True)
def reaching(x):
    functions = [Body.momentum.func, lambda body: body.mass**3 * body.speed]
    body = Body(x[0], x[1])
    return functions[int(x[2])](body) + functions[int(x[3]) - 1](Body(x[3], x[2]))


@row("attributes set in a loop")
def set_in_a_loop(x):
    body = Body(x[0])
    for k in range(3):
        body.speed = body.speed * x[k] + 0.1
    return body.energy()


@row("an attribute set in a `try`")
def set_in_a_try(x):
    body = Body(x[0])
    try:
        body.mass = body.mass * x[1]
    except ValueError:
        body.mass = 0.0
    return body.mass**3


@row("an attribute of a subclass of `ndarray`", recorded=True)
def set_on_a_subclass(x):
    a = x.view(Labelled)
    a.label = x[0] * 2.0
    return float(np.sum(np.asarray(a) ** 2)) * a.label


@row("`__dict__`, read and updated", recorded=True)
def by_dict(x):
    body = Body(1.0)
    body.__dict__.update(mass=x[0] * x[1], speed=x[2])
    return sum(v**3 for v in body.__dict__.values()) * vars(body)["mass"]


@row("`setattr` and `getattr` with computed names")
def by_setattr(x):
    body = Body(x[0])
    for k, name in enumerate(["p", "q", "r"]):
        setattr(body, name, x[k] ** (k + 1))
    return body.p * body.q + getattr(body, "r") ** 2 + getattr(body, "none", x[3])


@row("`hasattr` and `delattr`")
def by_delattr(x):
    body = Body(x[0], x[1])
    before = body.speed if hasattr(body, "speed") else 1.0
    del body.speed
    return before * (2.0 if hasattr(body, "speed") else body.mass)


@row("`copy.copy` and `copy.deepcopy`")
def copied(x):
    body = Body(x[0], x[1])
    twin, other = copy.copy(body), copy.deepcopy([body])
    twin.mass = twin.mass * x[2]
    other[0].speed = x[3]
    return body.energy() * twin.energy() + other[0].energy()


@row("`dataclasses.replace`")
def replaced(x):
    spring = dataclasses.replace(Spring(x[0]), rest=x[1])
    fixed = Fixed(x[0], 1.0)
    for _ in range(3):
        fixed = dataclasses.replace(fixed, v=fixed.v * fixed.u, u=fixed.u + 0.1)
    return spring.force(x[2]) * fixed.v


@row("`dataclasses.fields`, `asdict` and `astuple`", recorded=True)
def fields(x):
    fixed = Fixed(x[0], x[1] ** 2)
    named = dataclasses.asdict(fixed)
    return (
        sum(getattr(fixed, f.name) ** 2 for f in dataclasses.fields(fixed))
        * named["u"]
        * dataclasses.astuple(fixed)[1]
    )


@row("named tuples, `_replace` and `_asdict`", recorded=True)
def named_tuples(x):
    point = Point(x[0], 1.0)
    for _ in range(3):
        point = point._replace(v=point.v * x[1])
    u, v = point
    return u * v + sum(Point(x[2])) * point._asdict()["u"]


@row("delegation by `__getattr__`")
def delegated(x):
    body = Front(Body(x[0], x[1]))
    return body.mass**2 + body.energy(x[2])


@row("`functools.cached_property`")
def cached(x):
    body = Body(x[0], x[1])
    return body.momentum * body.momentum * x[2]


@row("a property that keeps its value")
def lazy(x):
    value = Lazy(x[0] * x[1])
    return value.square + value.square * x[2]


@row("`types.SimpleNamespace`")
def namespaces(x):
    held = types.SimpleNamespace(u=x[0], v=2.0)
    held.w = held.u**2 * x[1]
    return held.w * held.u * held.v


@row("a class made by `type`", recorded=True)
def made_by_type(x):
    held = type("Held", (), {})()
    held.value = x[0] * x[1]
    return held.value**3


@row("a local class", recorded=True)
def local_class(x):
    class Local:
        def __init__(self, value):
            self.value = value

        def __mul__(self, other):
            return Local(self.value * other.value)

    return (Local(x[0]) * Local(x[1]) * Local(x[0])).value


@row("operators that a decorator sets")
def by_decorator(x):
    a, b = Number(x[0]), Number(x[1] * x[2])
    return (a * b + a).value


@row("operators written in Python, `__iter__` as a generator")
def dual(x):
    a, b = Dual(x[0], 1.0), Dual(x[1], x[2])
    for _ in range(2):
        a = a * b + a
    re, im = a
    return re * im


@row("a chain of methods that return `self`")
def chained(x):
    return Body(x[0]).pushed(x[1]).pushed(x[2]).energy()


@row("a tree of objects")
def tree(x):
    top = Node(x[0], [Node(x[1], [Node(x[2] ** 2)]), Node(x[3])])
    return sum(node.value**2 for node in top.walk())


@row("a linked list of tuples")
def linked(x):
    chain = None
    for k in range(3):
        chain = (x[k] ** 2, chain)
    total = 1.0
    while chain is not None:
        total, chain = total * chain[0], chain[1]
    return total


row_functions = Group("Functions, closures and generators")


def powers(x, n):
    y = x[0]
    for _ in range(n):
        yield y
        y = y * x[1]


def endless(x):
    y = x[0]
    while True:
        yield y
        y = 0.5 * y * x[1]


def several(x):
    yield from powers(x, 2)
    yield from [x[2], 2.0 * x[2]]
    yield x[3] ** 3


def parts(x):
    yield x[0]
    yield np.sum(x[1:3])
    yield x[3:] @ x[3:]


@contextlib.contextmanager
def squared(value):
    yield value * value


@contextlib.contextmanager
def noted(events):
    events.append("in")
    try:
        yield events
    finally:
        events.append("out")


class Scope:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value * 2.0

    def __exit__(self, *_):
        return False


def counted(function):
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)

    wrapper.calls = 0
    return wrapper


@counted
def cube(value):
    return value**3


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args, **options):
        self.calls += 1
        return self.function(*args, **options)


@Counted
def square(value, by=1.0):
    return value * value * by


def through(function):
    return lambda *args: function(*args)


def doubled(function):
    @functools.wraps(function)
    def inner(*args, **options):
        return 2.0 * function(*args, **options)

    return inner


def composed(*functions):
    def run(value):
        for function in functions:
            value = function(value)
        return value

    return run


@row_functions("generator functions")
def generators(x):
    total = 0.0
    for k, p in enumerate(powers(x, 4)):
        total += p * (k + 1)
    return total + sum(powers(x, 3)) * list(powers(x, 2))[1]


@row_functions("an endless generator and a `break`")
def endless_generator(x):
    total = 0.0
    for value in endless(x):
        total += value**2
        if value < 0.05:
            break
    return total


@row_functions("`yield from`")
def yield_from(x):
    return sum(v * v for v in several(x)) * x[0]


@row_functions("`next` on a generator")
def by_next(x):
    items = powers(x, 4)
    first = next(items)
    return first * next(items) * next(items)


@row_functions("generator functions that unpack a vector of parameters")
def unpacking(x):
    a, b, c = parts(x)
    return a * b * c


@row_functions("generator expressions")
def generator_expressions(x):
    return sum(v**k for k, v in enumerate(x)) * max(v for v in (x[0], 2.0 * x[1]))


@row_functions("a context manager written as a generator", recorded=True)
def manager_of_a_generator(x):
    with squared(x[0]) as value:
        y = value * x[1]
    return y**2


@row_functions("a context manager as a generator with `try` and `finally`")
def manager_with_finally(x):
    events = []
    with noted(events):
        y = x[0] ** 3
    return y * x[1] * len(events)


@row_functions("a context manager as a class")
def manager_of_a_class(x):
    with Scope(x[0]) as value:
        y = value * x[1]
    return y**2


@row_functions("`nonlocal`")
def nonlocals(x):
    total, calls = x[0], 0

    def add(value):
        nonlocal total, calls
        calls += 1
        total = total * value + x[1]

    for k in range(3):
        add(x[k])
    return total * calls


@row_functions("`nonlocal` of two levels")
def nested_nonlocals(x):
    total = x[0]

    def outer():
        def inner(value):
            nonlocal total
            total = total * value

        inner(x[1])
        inner(x[2])

    outer()
    return total * x[0]


@row_functions("a counter that a decorator keeps in the function", recorded=True)
def counter_in_a_decorator(x):
    return cube(x[0]) * cube(x[1])


@row_functions("a counter that a decorator keeps in an object")
def counter_in_an_object(x):
    return square(x[0]) + square(x[1], by=x[2])


@row_functions("lambdas that a loop puts into a list")
def lambdas_in_a_loop(x):
    functions = []
    for k in range(3):
        functions.append(lambda v, k=k: v ** (k + 1) * x[k])
    return sum(function(x[3]) for function in functions)


@row_functions("lambdas that read the variable of a loop")
def lambdas_that_read_late(x):
    functions = []
    for k in range(3):
        functions.append(lambda v: v * (k + 1.0) * x[k])
    return sum(function(x[3]) for function in functions)


@row_functions("lambdas in a comprehension and in a dict")
def lambdas_in_displays(x):
    functions = [lambda v, a=a: a * v for a in (x[0], x[1] ** 2, 3.0)]
    named = {"sin": np.sin, "square": lambda v: v * v * x[2]}
    return functions[0](x[3]) * functions[1](x[0]) + sum(
        named[name](x[1]) for name in ("sin", "square", "sin")
    )


@row_functions("a default that uses a name anew")
def default_of_a_name(x):
    factor = x[0]
    scaled = lambda v, factor=factor: v * factor
    factor = 3.0 * x[1]
    return scaled(x[2]) * factor


@row_functions("a variable assigned after the closure that reads it", recorded=True)
def assigned_later(x):
    def scaled(v):
        return v * factor

    kept = [scaled]
    factor = x[0] * x[1]
    return scaled(x[2]) * kept[0](x[3])


@row_functions("functions that call each other, before they are there", recorded=True)
def mutual(x):
    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x[0])

    def odd(n, v):
        return v * x[1] if n == 0 else even(n - 1, v + x[2])

    return even(5, x[3])


@row_functions("a function chosen by a differentiated value")
def chosen(x):
    def own(v):
        return v * v * x[2]

    function = np.sin if x[0] > 1.0 else own
    return function(x[0] * x[1]) * [np.cos, np.exp, np.tanh][int(x[1])](x[3])


@row_functions("a function chosen anew in each iteration")
def chosen_in_a_loop(x):
    function, total = np.sin, x[0]
    for k in range(4):
        total = function(total) + x[k]
        function = np.cos if total > 1.0 else np.sin
    return total


@row_functions("a chosen function through several wrappers")
def wrapped(x):
    return doubled(through(doubled(np.sin if x[0] > 1.0 else np.cos)))(x[1]) * x[2]


@row_functions("composed functions")
def composition(x):
    return composed(np.sin, lambda v: v * x[1], np.exp)(x[0])


@row_functions("a memo in a dict, filled by a recursion")
def memo(x):
    known = {}

    def term(n):
        if n not in known:
            known[n] = x[n] if n < 2 else term(n - 1) * x[2] + term(n - 2)
        return known[n]

    return term(5)


@row_functions("a coroutine that is run by hand", recorded=True)
def coroutine(x):
    async def square(v):
        return v * v

    try:
        square(x[0]).send(None)
    except StopIteration as end:
        result = end.value
    return result * x[1]
