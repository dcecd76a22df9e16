"""What all writers share: the kinds of variables, scopes, lines, and the table of what may be written.

``@writes("statement", 3, "stores")`` puts a method, or a function of a writer, into the table of statements with a
weight and the feature that switches it on; so with ``"number"`` and ``"array"`` for expressions.
"""

import random
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What a variable holds: ``float``, ``int``, an ``array`` or ``list`` of floats of a length, a ``matrix`` of
    floats with so many rows of a length, a ``box`` of so many places, or an ``index`` into a length that picks
    ``rows`` elements."""

    name: str
    length: int = 0
    rows: int = 0


FLOAT, INT = Kind("float"), Kind("int")
STEMS = {"float": "s", "int": "k", "array": "v", "list": "l", "matrix": "m", "box": "b", "index": "at"}


@dataclass(frozen=True)
class Program:
    """The text of a module that defines ``f``, and arguments for it; the second are of the same kinds."""

    text: str
    samples: tuple
    seed: int | None = None
    kind: str = ""


@dataclass
class Helper:
    """A function that programs may call: the kinds of its parameters, and how many floats it returns, or the kind of
    array that it returns."""

    name: str
    params: list
    results: Any = 1


@dataclass
class Scope:
    """What may be read and what may be assigned at a point of the program.

    The name of a variable is any place: ``a``, ``box["w"]``, ``self.a``.
    """

    variables: dict = field(default_factory=dict)
    fixed: set = field(default_factory=set)  # loop counters and such, which the program needs as they are
    helpers: list = field(default_factory=list)
    in_loop: bool = False
    results: Any = 1


TABLES: dict[str, list] = {"number": [], "array": [], "statement": []}


def writes(table, weight, feature):
    """Register what writes a statement, a float or an array."""

    def register(function):
        TABLES[table].append((function, weight, feature))
        return function

    return register


class Base:
    """The text so far, the scope, and chance."""

    def __init__(self, seed, features):
        self.rng = random.Random(seed)
        self.features = features  # feature -> factor on the weights of what it switches on
        self.lines = []
        self.indent = 0
        self.count = 0
        self.budget = self.rng.choice([4, 7, 10, 14])
        self.scope = Scope()
        self.given = {}  # what is passed for a parameter that is no float and no array
        self.tables = {
            name: [(function, weight * features[feature]) for function, weight, feature in table if feature in features]
            for name, table in TABLES.items()
        }

    def put(self, line):
        self.lines.append("    " * self.indent + line)

    @contextmanager
    def block(self, head):
        self.put(head)
        self.indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.put("pass")
        self.indent -= 1

    @contextmanager
    def scoped(self, **changes):
        """A scope of its own; what is assigned in it is not definite after it."""
        outer = self.scope
        self.scope = Scope(dict(outer.variables), set(outer.fixed), list(outer.helpers), outer.in_loop, outer.results)
        for name, value in changes.items():
            setattr(self.scope, name, value)
        yield self.scope
        self.scope = outer

    def pick(self, table):
        entries = self.tables[table]
        return self.rng.choices(entries, [weight for _, weight in entries])[0][0]

    def chance(self, probability):
        return self.rng.random() < probability

    def choose(self, *items):
        return self.rng.choice(items)

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def named(self, *kinds):
        return [name for name, kind in self.scope.variables.items() if kind.name in kinds]

    def arrays(self, length):
        return [n for n, k in self.scope.variables.items() if k.name == "array" and k.length == length]

    def target(self, kind, reuse=0.6):
        """A variable to assign: often one that exists and has this kind."""
        names = [n for n, k in self.scope.variables.items() if k == kind and n not in self.scope.fixed]
        if names and self.chance(reuse):
            return self.rng.choice(names)
        return self.fresh(STEMS[kind.name])

    def bind(self, name, kind):
        self.scope.variables[name] = kind

    def constant(self):
        return repr(round(self.rng.choice([-1, 1]) * self.rng.uniform(0.3, 1.9), 2))
