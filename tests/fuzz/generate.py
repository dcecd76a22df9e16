"""A seed goes in, the source of a random program ``f`` and inputs for it come out: ``program(seed)``.

A program is text, with helper functions before ``f``. It is generated with the kind of every variable known
(float, int, array, list or matrix of a known size), so that nearly all programs run; those that do not, that
overflow, or that have a kink near their inputs are told by ``check`` and skipped.

Statements and expressions are methods of ``Writer``, chosen by weight from the tables at the end. To add a
feature, write a method that puts lines, add it to ``STATEMENTS`` with the name of its feature, and name the feature
in ``FEATURES`` to switch it on. ``pure`` programs change no array that has another name; ``stores`` change arrays in
every way: through views and aliases, in helpers and closures, in branches and loops.
"""

import ast
import random
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

FEATURES = frozenset({"pure", "stores"})
PURE = frozenset({"pure"})


@dataclass(frozen=True)
class Kind:
    """What a variable holds: ``float``, ``int``, an ``array`` or ``list`` of floats of a length, or a ``matrix`` of
    floats with so many rows of a length."""

    name: str
    length: int = 0
    rows: int = 0


FLOAT, INT = Kind("float"), Kind("int")


@dataclass(frozen=True)
class Program:
    """The text of a module that defines ``f``, and arguments for it; the second are of the same kinds."""

    text: str
    samples: tuple
    seed: int | None = None


@dataclass
class Helper:
    """A function that programs may call: the kinds of its parameters, and how many floats it returns."""

    name: str
    params: list
    results: int = 1


@dataclass
class Scope:
    """What may be read and what may be assigned at a point of the program."""

    variables: dict = field(default_factory=dict)
    fixed: set = field(default_factory=set)  # loop counters and such, which the program needs as they are
    helpers: list = field(default_factory=list)
    in_loop: bool = False
    results: int = 1


class Writer:
    """Writes one program."""

    def __init__(self, seed, features):
        self.rng = random.Random(seed)
        self.features = features
        self.lines = []
        self.indent = 0
        self.count = 0
        self.budget = self.rng.choice([4, 7, 10, 14])
        self.scope = Scope()

    # --- small tools ----------------------------------------------------------------------------------

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
        names = [entry for entry in table if entry[2] in self.features]
        return self.rng.choices(names, [entry[1] for entry in names])[0][0]

    def chance(self, probability):
        return self.rng.random() < probability

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
        return self.fresh({"float": "s", "int": "k", "array": "v", "list": "l", "matrix": "m"}[kind.name])

    def bind(self, name, kind):
        self.scope.variables[name] = kind

    # --- expressions ----------------------------------------------------------------------------------

    def constant(self):
        return repr(round(self.rng.choice([-1, 1]) * self.rng.uniform(0.3, 1.9), 2))

    def number(self, depth=2):
        """A float."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf()
        return self.pick(NUMBERS)(self, depth)

    def leaf(self):
        names = self.named("float")
        if names and self.chance(0.75):
            return self.rng.choice(names)
        arrays = self.named("array", "list")
        if arrays and self.chance(0.6):
            name = self.rng.choice(arrays)
            length = self.scope.variables[name].length
            ints = self.named("int")
            if ints and self.chance(0.5):
                return f"{name}[{self.rng.choice(ints)} % {length}]"
            return f"{name}[{self.rng.randrange(-length, length)}]"
        if self.chance(0.2) and self.named("int"):
            return f"float({self.rng.choice(self.named('int'))})"
        return self.constant()

    def binary(self, depth):
        operator = self.rng.choice(["+", "+", "-", "*", "*"])
        return f"({self.number(depth - 1)} {operator} {self.number(depth - 1)})"

    def quotient(self, depth):
        below = self.rng.choice(["(1.5 + {0} ** 2)", "(2.0 + np.sin({0}))", "(1.0 + abs({0}))"])
        return f"{self.number(depth - 1)} / {below.format(self.number(depth - 1))}"

    def smooth(self, depth):
        form = self.rng.choice(
            "np.sin({}) np.tanh({}) math.cos({}) np.exp(-({})**2) np.sqrt(1.0+({})**2) math.log(2.0+({})**2) "
            "math.sin({}) -({}) ({})**2 0.5*({}) np.arctan({}) np.square({}) +({}) abs({}) "
            "np.logaddexp({},0.5) math.hypot({},1.2) float({}) (2.0**np.tanh({}))".split()
        )
        return form.replace(",", ", ").format(self.number(depth - 1))

    def reduction(self, depth):
        name, length = self.any_array(depth)
        form = self.rng.choice(
            "np.sum({}) np.mean({}) {}.sum() {}.mean() sum({}) {}[-1] np.max({}) min({}) np.var({}) "
            "np.prod(1.0+0.2*{}) np.linalg.norm({})".split()
        )
        return form.format(name) if name.isidentifier() else form.format(f"({name})")

    def product(self, depth):
        name, length = self.any_array(depth)
        other = self.array(length, depth - 1)
        return self.rng.choice(["np.dot({}, {})", "({}) @ ({})"]).format(name, other)

    def any_array(self, depth):
        names = self.named("array")
        length = self.scope.variables[self.rng.choice(names)].length if names else self.rng.randint(1, 4)
        return self.array(length, depth - 1), length

    def conditional(self, depth):
        return f"({self.number(depth - 1)} if {self.test()} else {self.number(depth - 1)})"

    def logical(self, depth):
        operator = self.rng.choice(["and", "or"])
        first = self.rng.choice(self.named("float") or ["0.0", "0.0", "1.5"])
        return f"({first} {operator} {self.number(depth - 1)})"

    def extreme(self, depth):
        name = self.rng.choice(["min", "max", "np.maximum", "np.minimum"])
        return f"{name}({self.number(depth - 1)}, {self.number(depth - 1)})"

    def called(self, depth):
        helpers = [helper for helper in self.scope.helpers if helper.results == 1]
        if not helpers:
            return self.applied_lambda(depth)
        return self.call_of(self.rng.choice(helpers), depth)

    def call_of(self, helper, depth):
        args = []
        for position, kind in enumerate(helper.params):
            value = self.number(depth - 1) if kind == FLOAT else self.array(kind.length, depth - 1)
            by_name = helper.name.startswith("h") and position == len(helper.params) - 1 and self.chance(0.2)
            args.append(f"p{position}={value}" if by_name else value)
        return f"{helper.name}({', '.join(args)})"

    def applied_lambda(self, depth):
        name = self.fresh("q")
        with self.scoped() as scope:
            scope.variables[name] = FLOAT
            body = self.number(depth - 1)
        return f"(lambda {name}: {body})({self.number(depth - 1)})"

    def summed(self, depth):
        name = self.fresh("e")
        arrays = self.named("array", "list")
        with self.scoped() as scope:
            if arrays and self.chance(0.6):
                over = self.rng.choice(arrays)
                scope.variables[name] = FLOAT
            else:
                over = f"range({self.rng.randint(0, 3)})"
                scope.variables[name] = INT
            term = f"{self.number(depth - 1)} * {name}"
            only = f" if {self.test()}" if self.chance(0.25) else ""
        inside = f"{term} for {name} in {over}{only}"
        return self.rng.choice(["sum({})", "sum([{}])", "sum({})"]).format(inside)

    def walrus(self, depth):
        name = self.fresh("w")
        text = f"(({name} := {self.number(depth - 1)}) * {name})"
        return text

    def array(self, length, depth=2):
        """An array of a length."""
        names = self.arrays(length)
        if names and (depth <= 0 or self.chance(0.3)):
            return self.rng.choice(names)
        if depth <= 0:
            return f"np.array([{', '.join(self.leaf() for _ in range(length))}])"
        return self.pick(ARRAYS)(self, length, depth)

    def array_binary(self, length, depth):
        left = self.array(length, depth - 1)
        roll = self.rng.randrange(3)
        right = self.number(depth - 1) if roll == 0 else self.array(length if roll == 1 else 1, depth - 1)
        pair = [left, right]
        self.rng.shuffle(pair)
        return f"({pair[0]} {self.rng.choice('+-*')} {pair[1]})"

    def array_smooth(self, length, depth):
        form = self.rng.choice(
            "np.sin({}) np.tanh({}) np.exp(-({})**2) np.sqrt(1.0+({})**2) ({})**2 -({}) np.cos({}) "
            "0.7*({}) np.log1p(({})**2) np.abs({}) np.cumsum({}) np.clip({},-0.8,0.9) ({}).copy() "
            "np.asarray({})".split()
        )
        return form.replace(",", ", ").format(self.array(length, depth - 1))

    def slice(self, length, depth):
        longer = [n for n, k in self.scope.variables.items() if k.name == "array" and k.length >= length]
        if not longer:
            return self.array_smooth(length, depth)
        name = self.rng.choice(longer)
        size = self.scope.variables[name].length
        forms = []
        for step in (1, 1, 2, -1, -2):
            for start in range(size):
                picked = range(size)[start::step] if step > 0 else range(size)[start::step]
                if len(picked) == length:
                    forms.append(f"{name}[{start}::{step}]" if step != 1 else f"{name}[{start}:]")
        forms.append(f"{name}[{size - length}:]" if length != size else f"{name}[:]")
        forms.append(f"{name}[:{length}]")
        if size > length:
            forms.append(f"{name}[:-{size - length}]")
        forms.append(f"{name}[[{', '.join(str(self.rng.randrange(-size, size)) for _ in range(length))}]]")
        forms.append(f"np.roll({name}, 1)[:{length}]")
        return self.rng.choice(forms)

    def where(self, length, depth):
        test = f"{self.array(length, 0)} > {self.constant()}"
        sides = [self.array(length, depth - 1) if self.chance(0.5) else self.number(depth - 1) for _ in range(2)]
        return f"np.where({test}, {sides[0]}, {sides[1]})"

    def array_extreme(self, length, depth):
        name = self.rng.choice(["np.maximum", "np.minimum"])
        right = self.array(length, depth - 1) if self.chance(0.5) else self.constant()
        return f"{name}({self.array(length, depth - 1)}, {right})"

    def built(self, length, depth):
        return f"np.array([{', '.join(self.number(depth - 1) for _ in range(length))}])"

    def comprehended(self, length, depth):
        name = self.fresh("e")
        over = [n for n in self.named("array", "list") if self.scope.variables[n].length == length]
        with self.scoped() as scope:
            if over and self.chance(0.7):
                source, scope.variables[name] = self.rng.choice(over), FLOAT
            else:
                source, scope.variables[name] = f"range({length})", INT
            value = f"{self.number(depth - 1)} * {name}"
        return f"np.array([{value} for {name} in {source}])"

    def joined(self, length, depth):
        if length < 2:
            return self.array_smooth(length, depth)
        cut = self.rng.randint(1, length - 1)
        parts = f"{self.array(cut, depth - 1)}, {self.array(length - cut, depth - 1)}"
        return self.rng.choice(["np.concatenate([{}])", "np.hstack(({}))"]).format(parts)

    def filled(self, length, depth):
        forms = [
            "np.ones({1}) * {0}",
            "np.full({1}, {0})",
            "np.arange({1}) * {0}",
            "np.linspace(0, 1, {1}) + {0}",
        ]
        return self.rng.choice(forms).format(self.number(depth - 1), length)

    def from_matrix(self, length, depth):
        inner = self.rng.randint(1, 3)
        form = self.rng.choice(
            ["np.sum(np.outer({a}, {b}), axis=1)", "np.outer({b}, {a}).sum(axis=0)",
             "np.outer({a}, {b}) @ {b}",
             "np.stack([{a}, {c}]).mean(axis=0)", "({a}[:, None] * {b}).max(axis=1)",
             "np.vstack([{a}, {c}]).T[:, 1]", "np.stack([{a}, {c}])[0]"]
        )  # fmt: skip
        a, b, c = self.array(length, depth - 1), self.array(inner, 0), self.array(length, 0)
        return form.format(a=f"({a})", b=b, c=c)

    # --- conditions: no comparison for equality of floats ------------------------------------------------

    def test(self, depth=1):
        roll = self.rng.random()
        ints = self.named("int")
        if ints and roll < 0.35:
            name = self.rng.choice(ints)
            return self.rng.choice([f"{name} % 2 == 0", f"{name} > 1", f"{name} % 3 != 1", f"not {name}"])
        if depth and roll < 0.5:
            return f"({self.test(0)} {self.rng.choice(['and', 'or'])} {self.test(0)})"
        if roll < 0.6:
            return f"{self.constant()} < {self.leaf()} < {self.constant()}"
        if roll < 0.7:
            return f"not {self.leaf()} > {self.constant()}"
        if roll < 0.78:
            name, _ = self.any_array(1)
            return self.rng.choice(["np.any({} > 0.4)", "np.sum({}) > 0.3", "np.all({} < 1.0)"]).format(name)
        return f"{self.number(1)} {self.rng.choice(['<', '>', '>=', '<='])} {self.number(1)}"

    # --- statements -----------------------------------------------------------------------------------

    def body(self, most=3):
        """Some statements; True where the last one leaves the block."""
        for _ in range(self.rng.randint(1, most)):
            if self.statement():
                return True
        return False

    def statement(self):
        """Write one statement; True where it leaves the block."""
        if self.budget <= 0:
            self.assign()
            return False
        self.budget -= 1
        return bool(self.pick(STATEMENTS)(self))

    def assign(self):
        value = self.number(3)
        name = self.target(FLOAT)
        self.put(f"{name} = {value}")
        self.bind(name, FLOAT)

    def carried(self):
        """A float that depends on itself and does not grow."""
        names = [n for n in self.named("float") if n not in self.scope.fixed]
        if not names:
            return self.assign()
        name = self.rng.choice(names)
        form = self.rng.choice(
            ["{0} = np.sin({0} * {1}) + {2}", "{0} = 0.6 * {0} * {1} + {2}", "{0} = {0} / (1.0 + {1} ** 2)",
             "{0} = np.tanh({0} + {1}) * {2}", "{0} = {0} + 0.1 * {1} * {0}"]
        )  # fmt: skip
        self.put(form.format(name, self.number(1), self.leaf()))

    def augment(self):
        names = [n for n in self.named("float") if n not in self.scope.fixed]
        if not names:
            return self.assign()
        name = self.rng.choice(names)
        operator = self.rng.choice(["+=", "-=", "*=", "/="])
        value = self.number(2) if operator != "/=" else f"(1.5 + {self.leaf()} ** 2)"
        self.put(f"{name} {operator} {value}")

    def assign_array(self):
        lengths = [k.length for k in self.scope.variables.values() if k.name == "array"]
        length = self.rng.choice(lengths) if lengths and self.chance(0.7) else self.rng.randint(1, 4)
        value = self.array(length, 3)
        name = self.target(Kind("array", length))
        self.put(f"{name} = {value}")
        self.bind(name, Kind("array", length))

    def augment_array(self):
        """In place, of an array that nothing else refers to (else s2s refuses)."""
        length = self.rng.randint(1, 4)
        name = self.fresh("v")
        value = self.array(length, 2)
        self.put(f"{name} = 1.0 * {value}")
        self.bind(name, Kind("array", length))
        self.put(f"{name} {self.rng.choice(['+=', '-=', '*='])} {self.array(length, 2)}")

    def assign_list(self):
        length = self.rng.randint(1, 3)
        if self.chance(0.5):
            value = f"[{', '.join(self.number(2) for _ in range(length))}]"
        else:
            name = self.fresh("e")
            with self.scoped() as scope:
                scope.variables[name] = INT
                value = f"[{self.number(2)} for {name} in range({length})]"
        name = self.target(Kind("list", length))
        self.put(f"{name} = {value}")
        self.bind(name, Kind("list", length))

    def assign_int(self):
        value = self.rng.choice([str(self.rng.randint(-2, 4)), *(f"{n} + 1" for n in self.named("int"))])
        name = self.target(INT)
        self.put(f"{name} = {value}")
        self.bind(name, INT)

    def start_from_int(self):
        name = self.fresh("s")
        self.put(f"{name} = {self.rng.choice(['0', '1', '0.0'])}")
        with self.loop(f"for {self.counter()} in {self.range_text()}:"):
            self.put(f"{name} {self.rng.choice(['+=', '-='])} {self.number(2)}")
        self.bind(name, FLOAT)

    def alias(self):
        names = self.named("float", "array", "list")
        source = self.rng.choice(names)
        kind = self.scope.variables[source]
        name = self.target(kind)
        self.put(f"{name} = {source}")
        self.bind(name, kind)

    def swap(self):
        for kind in ("array", "float"):
            names = [n for n in self.named(kind) if n not in self.scope.fixed]
            if kind == "array" and names:
                length = self.scope.variables[self.rng.choice(names)].length
                names = [n for n in names if self.scope.variables[n].length == length]
            if len(names) > 1 and (kind == "float" or self.chance(0.4)):
                count = min(len(names), self.rng.choice([2, 2, 3]))
                chosen = self.rng.sample(names, count)
                moved = chosen[1:] + chosen[:1]
                if kind == "float" and self.chance(0.4):
                    moved[0] = f"{moved[0]} * {self.leaf()}"
                self.put(f"{', '.join(chosen)} = {', '.join(moved)}")
                return None
        return self.assign()

    def unpack(self):
        pairs = [helper for helper in self.scope.helpers if helper.results == 2]
        names = [self.target(FLOAT), self.target(FLOAT)]
        if pairs and self.chance(0.7):
            self.put(f"{names[0]}, {names[1]} = {self.call_of(self.rng.choice(pairs), 2)}")
        elif self.chance(0.3):
            self.put(f"{names[0]}, {names[1]} = {self.array(2, 2)}")
        elif self.chance(0.3):
            self.put(f"{names[0]} = {names[1]} = {self.number(2)}")
        elif self.chance(0.2):
            rest = self.fresh("l")
            self.put(f"{names[0]}, *{rest} = {self.number(1)}, {self.number(1)}, {self.number(1)}")
            self.bind(rest, Kind("list", 2))
            names = names[:1]
        else:
            self.put(f"({names[0]}, {names[1]}) = ({self.number(2)}, {self.number(2)})")
        for name in names:
            self.bind(name, FLOAT)

    def dictionary(self):
        name = self.fresh("d")
        self.put(f"{name} = {{'u': {self.number(2)}, 'w': {self.number(2)}}}")
        forms = ["{0}['u'] * {0}['w']", "sum({0}.values())", "{0}['w'] + {0}.get('u')"]
        target = self.target(FLOAT)
        self.put(f"{target} = {self.rng.choice(forms).format(name)}")
        self.bind(target, FLOAT)

    def branch(self):
        """``if`` with any number of ``elif``; what every side assigns is definite after it."""
        before = dict(self.scope.variables)
        ends, leaves = [], []
        heads = ["if"] + ["elif"] * self.rng.choice([0, 0, 0, 1, 2])
        shared = self.rng.choice([None, None, self.fresh("s")])
        for head in heads:
            self.side(f"{head} {self.test()}:", shared, ends, leaves)
        if self.chance(0.6) or shared:
            self.side("else:", shared, ends, leaves)
        else:
            ends.append(before)
        kept = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)} if ends else {}
        self.scope.variables = {**before, **kept}
        return False

    def side(self, head, shared, ends, leaves):
        with self.block(head), self.scoped() as scope:
            left = self.body()
            if shared and not left:
                self.put(f"{shared} = {self.number(2)}")
                scope.variables[shared] = FLOAT
            if not left:
                ends.append(dict(scope.variables))

    # --- what guards a block: try, with, match, del -------------------------------------------------------

    def attempt(self):
        """``try``: a handler reads nothing that the body assigns, because an exception may come at any place of it."""
        before, ends = dict(self.scope.variables), []
        start = len(self.lines)
        with self.block("try:"), self.scoped() as scope:
            if self.chance(0.5):
                self.carried()
            self.put(self.raising())
            left = self.body(2)
            inside = dict(scope.variables)
        unsure = assigned("\n".join(self.lines[start:])) if self.chance(0.9) else set()
        sure = {name: kind for name, kind in before.items() if name not in unsure}
        if FLOAT not in sure.values():
            sure = before
        for kind in self.rng.sample(self.EXCEPTIONS, self.rng.choice([1, 1, 2])):
            name = self.rng.choice(["", "", " as problem"])
            with self.block(f"except {kind}{name}:"), self.scoped(variables=dict(sure)) as scope:
                if not self.body(2):
                    ends.append(dict(scope.variables))
        if not left:
            with self.scoped(variables=inside) as scope:
                if self.chance(0.3):
                    with self.block("else:"):
                        left = self.body(2)
                if not left:
                    ends.append(dict(scope.variables))
        if self.chance(0.25):
            with self.block("finally:"), self.scoped(variables=dict(sure), in_loop=False):
                self.assign()
        kept = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)} if ends else sure
        self.scope.variables = kept
        return False

    EXCEPTIONS = [
        "ZeroDivisionError", "ArithmeticError", "IndexError", "LookupError", "(IndexError, ValueError)", "ValueError",
        "Exception", "ImportError", "(ZeroDivisionError, LookupError, ValueError)", "(ArithmeticError, LookupError)",
    ]

    def raising(self):
        """A statement that may raise."""
        ints = self.named("int") or ["n"]
        k, name = self.rng.choice(ints), self.fresh("r")
        forms = [
            f"{name} = {self.rng.randint(1, 5)} // ({k} % 3)", f"{name} = (1.5, 0.5)[{k} % 4] * {self.leaf()}",
            f"{name} = {self.leaf()} / ({k} - {self.rng.randint(0, 3)})",
            f"if {k} % 2 == {self.rng.randint(0, 1)}: raise ValueError('no')", f"import no_such_module_{name}",
            f"{name} = [{self.leaf()}, {self.leaf()}][{k} % 3]",
        ]
        return self.rng.choice(forms)

    def managed(self):
        heads = ['with np.errstate(all="ignore"):', 'with np.errstate(over="ignore") as old, np.printoptions():']
        with self.block(self.rng.choice(heads)):
            return self.body(3)

    def matched(self):
        """``match`` of an integer or of a pair."""
        before, ends, leaves = dict(self.scope.variables), [], []
        k = self.rng.choice(self.named("int") or ["n"])
        single = self.chance(0.5)
        self.put(f"match {k} % 4:" if single else f"match ({k} % 3, [{self.number(1)}, {self.number(1)}]):")
        self.indent += 1
        patterns = ["0", "1 | 2", f"m if {self.test()}", "int(m)"]
        pairs = ["(0, [u, w])", "(1 | 2 as m, [u, *w])", f"(m, [u, _]) if {self.test()}", "[m, [w, u]]"]
        for pattern in self.rng.sample(patterns if single else pairs, 2):
            self.side(f"case {pattern}:", None, ends, leaves)
        self.side("case _:", None, ends, leaves)
        self.indent -= 1
        kept = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)} if ends else {}
        self.scope.variables = {**before, **kept}
        return False

    def deleted(self):
        name, target = self.fresh("t"), self.target(FLOAT)
        self.put(f"{name} = {self.number(2)}")
        self.put(f"{target} = {name} * {self.number(1)}")
        self.put(f"del {name}")
        self.bind(target, FLOAT)

    def counter(self):
        return self.rng.choice(["i", "j", "k"]) + str(self.rng.randint(0, 2))

    def range_text(self):
        fixed = ["3", "4", "2", "0", "1, 4", "4, 0, -1", "0, 7, 3", "2, 2"]
        trips = self.rng.choice(fixed + ["n", "1, n", "n, -1, -2"] * ("n" in self.scope.variables))
        return f"range({trips})"

    @contextmanager
    def loop(self, head, fixed=()):
        """A loop; a name that the head binds is an int or float inside only."""
        with self.block(head), self.scoped(in_loop=True) as scope:
            words = head.split()
            if words[0] == "for":
                kind = INT if "range(" in head else FLOAT
                scope.variables[words[1]] = kind
                scope.fixed.add(words[1])
            scope.fixed.update(fixed)
            yield scope

    def for_range(self):
        with self.loop(f"for {self.counter()} in {self.range_text()}:"):
            self.carried()
            self.body(3)
        self.otherwise()

    def for_items(self):
        names = self.named("array", "list")
        if not names:
            return self.for_range()
        name, item = self.rng.choice(names), self.fresh("e")
        forms = ["for {i} in {a}:", "for {i} in reversed({a}):", "for {k}, {i} in enumerate({a}):",
                 "for {i}, {j} in zip({a}, {b}):", "for {i} in {a}[1:]:"]  # fmt: skip
        form = self.rng.choice(forms)
        if self.scope.variables[name].name == "list" and form == forms[1]:
            form = forms[0]
        names_of = {"i": item, "k": self.fresh("k"), "j": self.fresh("e")}
        head = form.format(a=name, b=self.rng.choice(names), **names_of)
        with self.block(head), self.scoped(in_loop=True) as scope:
            scope.variables[item] = FLOAT
            if "enumerate" in form:
                scope.variables[names_of["k"]] = INT
                scope.fixed.add(names_of["k"])
            if "zip" in form:
                scope.variables[names_of["j"]] = FLOAT
            self.carried()
            self.body(3)
        self.otherwise()
        return None

    def while_loop(self):
        name = self.fresh("c")
        self.put(f"{name} = {self.rng.choice(['0', '0', '1', '5'])}")
        trips = self.rng.randint(2, 4)
        more = f" and {self.test(0)}" if self.chance(0.25) else ""
        with self.loop(f"while {name} < {trips}{more}:") as scope:
            scope.variables[name] = INT
            scope.fixed.add(name)
            self.put(f"{name} += 1")
            self.carried()
            self.body(3)
        self.bind(name, INT)
        self.scope.fixed.add(name)
        self.otherwise()

    def while_true(self):
        name = self.fresh("c")
        self.put(f"{name} = 0")
        with self.loop("while True:") as scope:
            scope.variables[name] = INT
            scope.fixed.add(name)
            self.put(f"{name} += 1")
            self.carried()
            if self.chance(0.5):
                self.put(f"if {self.test()}:")
                self.put("    break")
            with self.block(f"if {name} > {self.rng.randint(1, 4)}:"):
                self.put("break")
            self.body(2)
        self.bind(name, INT)
        self.scope.fixed.add(name)

    def otherwise(self):
        """Sometimes an ``else`` of the loop."""
        if self.chance(0.15):
            with self.block("else:"), self.scoped():
                self.body(2)

    def leave(self):
        """``break``, ``continue`` or ``return`` under a condition."""
        words = ["return", "break", "continue", "break", "continue"] if self.scope.in_loop else ["return"]
        with self.block(f"if {self.test()}:"), self.scoped():
            if self.chance(0.5):
                self.carried()
            word = self.rng.choice(words)
            self.put(word if word != "return" else self.returned())

    def leave_now(self):
        if not self.scope.in_loop:
            return self.assign()
        if self.indent < 3:
            return self.carried()
        self.put(self.rng.choice(["break", "continue", self.returned()]))
        return True

    def define(self):
        """A nested function or a lambda, which reads variables around it."""
        helper = Helper(self.fresh("g"), [FLOAT] * self.rng.randint(0, 2))
        params = [f"{helper.name}{'xy'[k]}" for k in range(len(helper.params))]
        outer = {n for n in self.scope.variables}
        with self.scoped(in_loop=False, results=1) as scope:
            scope.variables.update(dict.fromkeys(params, FLOAT))
            scope.fixed |= outer  # assigning one would make it local
            if self.chance(0.5):
                self.put(f"{helper.name} = lambda {', '.join(params)}: {self.number(2)}")
            else:
                with self.block(f"def {helper.name}({', '.join(params)}):"):
                    if not self.body(2):
                        self.put(self.returned())
        self.scope.helpers.append(helper)

    def unused(self):
        self.put(f"{self.fresh('unused')} = {self.number(2)}")

    def returned(self):
        if self.scope.results == 2:
            return f"return {self.number(2)}, {self.number(2)}"
        names = self.named("float")
        extra = "".join(f" + {self.rng.choice(names)}" for _ in range(2) if names)
        return f"return {self.number(2)}{extra}"

    # --- statements that change arrays ------------------------------------------------------------------

    def changed(self, least=1):
        """The name of an array that may be changed in place, and its length; a new one where there is none."""
        names = [n for n in self.named("array") if self.scope.variables[n].length >= least]
        if names and self.chance(0.9):
            name = self.rng.choice(names)
            return name, self.scope.variables[name].length
        return self.new_buffer(max(least, self.rng.randint(1, 4)))

    def new_buffer(self, length=None):
        """An array of its own, often one that is filled later."""
        length = length or self.rng.randint(1, 4)
        name = self.target(Kind("array", length), reuse=0.2)
        same = self.arrays(length)
        forms = [f"np.zeros({length})", f"np.ones({length})", f"np.full({length}, 1.0 * {self.number(1)})",
                 f"np.array([{', '.join(self.number(1) for _ in range(length))}])", f"({self.array(length, 1)}) * 1.0",
                 *(f"{n}.copy()" for n in same), *(f"np.zeros_like({n})" for n in same)]  # fmt: skip
        self.put(f"{name} = {self.rng.choice(forms)}")
        self.bind(name, Kind("array", length))
        return name, length

    def twins(self):
        """Two arrays made alike, of which one is changed, and the expression once more."""
        length = self.rng.randint(2, 4)
        names = self.arrays(length)
        source = self.rng.choice(names) if names and self.chance(0.8) else self.array(length, 1)
        text = self.rng.choice(["np.sin({0})", "{0} * {1}", "({0} + {1}) * {0}", "np.exp(-({0}) ** 2)"]).format(
            source, self.constant())
        for _ in range(2):
            name = self.fresh("v")
            self.put(f"{name} = {text}")
            self.bind(name, Kind("array", length))
        self.put(f"{name}[{self.place(length)}] {self.rng.choice(['=', '*='])} {self.number(1)}")
        if self.chance(0.5):
            name = self.fresh("v")
            self.put(f"{name} = {text}")
            self.bind(name, Kind("array", length))

    def operator(self, plain=0.5):
        return "=" if self.chance(plain) else self.rng.choice(["+=", "+=", "-=", "*=", "*=", "/="])

    def stored(self, operator, value):
        """A value for a store with this operator: a divisor stays away from zero."""
        return f"(1.5 + ({value}) ** 2)" if operator == "/=" else value

    def place(self, length):
        """An index of one element: a constant or an integer that the program computes."""
        ints = self.named("int")
        if ints and self.chance(0.5):
            return self.rng.choice([f"{self.rng.choice(ints)} % {length}", f"-1 - {self.rng.choice(ints)} % {length}"])
        return str(self.rng.randrange(-length, length))

    def part(self, length):
        """A slice of an array of a length, and how many elements it has."""
        start, stop, step = self.rng.choice(
            [(None, None, None), (1, None, None), (None, -1, None), (1, -1, None), (None, None, 2), (None, None, -1),
             (-1, None, -1), (1, None, 2), (None, 2, None), (-2, None, None), (2, 1, None)]
        )  # fmt: skip
        count = len(range(length)[slice(start, stop, step)])
        text = ":".join("" if bound is None else str(bound) for bound in (start, stop))
        return text + (f":{step}" if step is not None else ""), count

    def store_element(self):
        name, length = self.changed()
        operator = self.operator()
        self.put(f"{name}[{self.place(length)}] {operator} {self.stored(operator, self.number(2))}")

    def store_slice(self):
        name, length = self.changed()
        part, count = self.part(length)
        value = self.array(count, 2) if count and self.chance(0.7) else self.number(2)
        operator = self.operator()
        self.put(f"{name}[{part}] {operator} {self.stored(operator, value)}")

    def store_stencil(self):
        """What is stored reads what it overwrites."""
        name, _ = self.changed(3)
        forms = ["{0}[1:-1] {2} {0}[2:] * {0}[:-2] + {1}", "{0}[1:] {2} {0}[:-1] * {1}", "{0}[:] {2} {0}[::-1] * {1}",
                 "{0}[:-1] {2} 0.5 * {0}[1:] + {1}", "{0}[::2] {2} {0}[::-2] + {1} * {0}[::2]"]  # fmt: skip
        self.put(self.rng.choice(forms).format(name, self.leaf(), self.rng.choice(["=", "=", "+=", "-="])))

    def store_at_indices(self):
        name, length = self.changed()
        count = self.rng.randint(1, 3)
        index = [self.rng.randrange(-length, length) for _ in range(count)]
        value = self.array(count, 1) if self.chance(0.6) else self.number(1)
        roll = self.rng.random()
        if roll < 0.3:
            ufunc = self.rng.choice(["add", "subtract"])
            self.put(f"np.{ufunc}.at({name}, {index}, {value})")
        elif roll < 0.6:
            operator = self.operator()
            self.put(f"{name}[{index}] {operator} {self.stored(operator, value)}")
        else:
            operator = self.operator()
            test = f"{self.rng.choice(self.arrays(length))} {self.rng.choice('<>')} {self.constant()}"
            self.put(f"{name}[{test}] {operator} {self.stored(operator, self.number(1))}")

    def operate_in_place(self):
        """An operator in place on an array that others may refer to; of a captured name it would make a local one."""
        names = [n for n in self.named("array") if n not in self.scope.fixed]
        if not names:
            return self.store_slice()
        name = self.rng.choice(names)
        length = self.scope.variables[name].length
        operator = self.operator(plain=0.0)
        value = self.array(length, 2) if self.chance(0.6) else self.number(2)
        self.put(f"{name} {operator} {self.stored(operator, value)}")

    def call_that_writes(self):
        """NumPy's functions with ``out``, and methods that change their array."""
        name, length = self.changed()
        other = self.array(length, 1)
        forms = ["np.sin({1}, out={0})", "np.multiply({1}, {0}, out={0})", "np.copyto({0}, {1})", "{0}.fill({2})",
                 "np.add({0}, {2}, out={0})", "{0}.sort()", "np.negative({0}, out={0})"]  # fmt: skip
        self.put(self.rng.choice(forms).format(name, other, self.number(1)))

    def view(self):
        """A name for a part of an array."""
        name, length = self.changed()
        part, count = self.part(length)
        if not count:
            return self.alias()
        forms = [f"{name}[{part}]", f"{name}[{part}]", f"{name}.reshape({length})", f"np.asarray({name})", f"{name}.T"]
        value = self.rng.choice(forms)
        kind = Kind("array", count if "[" in value else length)
        target = self.target(kind, reuse=0.3)
        self.put(f"{target} = {value}")
        self.bind(target, kind)

    def one_or_other(self):
        """A name for one of two arrays, or for an array or its copy."""
        name, length = self.changed()
        others = [n for n in self.arrays(length) if n != name] + [f"{name}.copy()", f"{name} * 2.0"]
        target = self.target(Kind("array", length), reuse=0.2)
        self.put(f"{target} = {name} if {self.test()} else {self.rng.choice(others)}")
        self.bind(target, Kind("array", length))

    def swap_buffers(self):
        name, length = self.changed()
        others = [n for n in self.arrays(length) if n != name and n not in self.scope.fixed]
        if not others or name in self.scope.fixed:
            return self.store_slice()
        other = self.rng.choice(others)
        self.put(f"{name}, {other} = {other}, {name}")

    def call_helper(self):
        """A helper for what it does to its arguments, among them arrays of the program as they are."""
        helpers = [helper for helper in self.scope.helpers if any(k.name == "array" for k in helper.params)]
        if not helpers:
            return self.store_element()
        helper = self.rng.choice(helpers)
        args = []
        for kind in helper.params:
            if kind == FLOAT:
                args.append(self.number(1))
                continue
            longer = [n for n in self.named("array") if self.scope.variables[n].length >= kind.length]
            if longer and self.chance(0.9):
                name = self.rng.choice(longer)
                whole = self.scope.variables[name].length == kind.length
                args.append(name if whole else f"{name}[{self.scope.variables[name].length - kind.length}:]")
            else:
                args.append(self.array(kind.length, 1))
        self.put(f"{helper.name}({', '.join(args)})")

    def in_container(self):
        """Arrays in a tuple, list or dict, changed and read through it."""
        first, length = self.changed()
        second, other = self.changed()
        name = self.fresh("t")
        form = self.rng.choice(["({}, {})", "[{}, {}]", "{{0: {}, 1: {}}}"])
        self.put(f"{name} = {form.format(first, second)}")
        operator = self.operator()
        self.put(f"{name}[0][{self.place(length)}] {operator} {self.stored(operator, self.number(1))}")
        if self.chance(0.5):
            self.put(f"{name}[1][:] = {name}[1] * {self.leaf()}")
        if self.chance(0.5) and "{" not in form:
            names = [self.fresh("v"), self.fresh("v")]
            self.put(f"{names[0]}, {names[1]} = {name}")
            self.bind(names[0], Kind("array", length))
            self.bind(names[1], Kind("array", other))
        else:
            target = self.target(FLOAT)
            self.put(f"{target} = np.sum({name}[0]) * {name}[1][{self.place(other)}]")
            self.bind(target, FLOAT)

    def fill_in_loop(self):
        """An array filled or changed element by element, from the elements around."""
        name, length = self.changed(2)
        index = self.counter()
        ranges = [f"range({length})", f"range(1, {length})", f"range({length} - 1, -1, -1)", f"range(0, {length}, 2)"]
        with self.loop(f"for {index} in {self.rng.choice(ranges)}:"):
            forms = ["{0}[{1}] = np.sin({0}[{1} - 1]) + {2}", "{0}[{1}] = {0}[{1} - 1] * {2} + 0.3",
                     "{0}[{1}] += 0.5 * {0}[{1} - 1] ** 2", "{0}[{1}] *= {2}", "{0}[{1}] = {2}",
                     "{0}[{1}], {0}[{1} - 1] = {0}[{1} - 1], {0}[{1}]"]  # fmt: skip
            self.put(self.rng.choice(forms).format(name, index, self.number(1)))
            if self.chance(0.4):
                self.body(2)

    def new_matrix(self):
        rows, length = self.rng.randint(1, 3), self.rng.randint(1, 3)
        name = self.target(Kind("matrix", length, rows))
        a, b = self.array(rows, 1), self.array(length, 1)
        forms = [f"np.zeros(({rows}, {length}))", f"np.outer({a}, {b})", f"np.ones(({rows}, {length})) * {b}"]
        self.put(f"{name} = {self.rng.choice(forms)}")
        self.bind(name, Kind("matrix", length, rows))

    def store_matrix(self):
        names = self.named("matrix")
        if not names:
            return self.new_matrix()
        name = self.rng.choice(names)
        kind = self.scope.variables[name]
        operator = self.operator()
        i, j, (part, count) = self.place(kind.rows), self.place(kind.length), self.part(kind.length)
        places = [(f"{i}, {j}", 0), (i, kind.length), (f":, {j}", kind.rows), (f"{i}, {part}", count),
                  (f"..., {j}", kind.rows), (f"{i}][{j}", 0), (":", kind.length)]  # fmt: skip
        place, size = self.rng.choice(places)
        value = self.array(size, 1) if size and self.chance(0.7) else self.number(1)
        self.put(f"{name}[{place}] {operator} {self.stored(operator, value)}")

    def row_of_matrix(self):
        """A row or column bound to a name, or all rows in turn."""
        names = self.named("matrix")
        if not names:
            return self.new_matrix()
        name = self.rng.choice(names)
        kind = self.scope.variables[name]
        if self.chance(0.3):
            row = self.fresh("v")
            with self.loop(f"for {row} in {name}:") as scope:
                scope.variables[row] = Kind("array", kind.length)
                self.store_slice()
                self.body(1)
            return None
        across = self.chance(0.6)
        size = kind.length if across else kind.rows
        value = f"{name}[{self.place(kind.rows)}]" if across else f"{name}[:, {self.place(kind.length)}]"
        if self.chance(0.25):
            value, size = f"{name}.ravel()", kind.rows * kind.length
        target = self.target(Kind("array", size), reuse=0.2)
        self.put(f"{target} = {value}")
        self.bind(target, Kind("array", size))
        return None

    def of_matrix(self, depth):
        """A number read from a matrix."""
        names = self.named("matrix")
        if not names:
            return self.leaf()
        name = self.rng.choice(names)
        kind = self.scope.variables[name]
        i, j = self.place(kind.rows), self.place(kind.length)
        return self.rng.choice([f"{name}[{i}, {j}]", f"np.sum({name} ** 2)", f"np.sum({name}[{i}] * {name}[-1])"])

    # --- the program ------------------------------------------------------------------------------------

    def function(self, name, params, results=1):
        variables = {f"p{k}": kind for k, kind in enumerate(params)} if name != "f" else dict(params)
        with self.block(f"def {name}({', '.join(variables)}):"):
            with self.scoped(variables=variables, in_loop=False, results=results):
                if "n" in variables:
                    self.scope.fixed.add("n")
                if not self.body(2 if name != "f" else 6):
                    self.put(self.returned() if name != "f" else self.last())
        self.put("")
        self.put("")

    def last(self):
        """The result of the program depends on much of what there is."""
        parts = [self.number(2)]
        for name, kind in self.scope.variables.items():
            if kind.name == "float" and self.chance(0.6):
                parts.append(f"{self.constant()} * {name}" if self.chance(0.5) else name)
            elif kind.name == "array" and self.chance(0.5):
                parts.append(f"np.sum({name} * {name})")
            elif kind.name == "matrix" and self.chance(0.8):
                parts.append(f"np.sum({name} * {name})")
            elif kind.name == "list" and self.chance(0.5):
                parts.append(f"{name}[{self.rng.randrange(-kind.length, kind.length)}]")
        return f"return {' + '.join(parts)}"

    def module(self):
        budget = self.budget
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            self.budget = 3
            params = [FLOAT] * self.rng.randint(1, 2)
            for _ in range(2 if "stores" in self.features else 1):
                if self.chance(0.2 if self.features == PURE else 0.5):
                    params.append(Kind("array", self.rng.randint(1, 3)))
            helper = Helper(self.fresh("h"), params, self.rng.choice([1, 1, 2]))
            self.function(helper.name, params, helper.results)
            self.scope.helpers.append(helper)
        self.budget = budget
        params = {name: FLOAT for name in "ab"[: self.rng.randint(1, 2)]}
        for name in "xy"[: self.rng.choice([0, 1, 1, 2])]:
            params[name] = Kind("array", self.rng.choice([1, 2, 3, 3, 4]))
        params["n"] = INT
        self.function("f", params)
        return "\n".join(self.lines).rstrip() + "\n", params


def program(seed, features=None):
    """The program of a seed; without features named, one seed in three changes no arrays."""
    features = features or (FEATURES if seed % 3 else PURE)
    writer = Writer(seed, features)
    text, params = writer.module()
    draw = np.random.default_rng(seed)

    def value(kind):
        if kind == FLOAT:
            return float(np.round(draw.uniform(0.3, 1.6) * draw.choice([-1, 1]), 3))
        if kind == INT:
            return int(draw.integers(0, 5))
        return np.round(draw.uniform(0.3, 1.6, kind.length) * draw.choice([-1, 1], kind.length), 3)

    samples = tuple(tuple(value(kind) for kind in params.values()) for _ in range(2))
    return Program(text, samples, seed)


def assigned(text):
    """The names that statements assign, functions inside them left out."""
    found, todo = set(), [ast.parse(textwrap.dedent(text) + "\nfinally:\n    pass")]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return found


NUMBERS = [
    (Writer.binary, 8, "pure"),
    (Writer.quotient, 2, "pure"),
    (Writer.smooth, 5, "pure"),
    (Writer.reduction, 3, "pure"),
    (Writer.product, 1, "pure"),
    (Writer.conditional, 2, "pure"),
    (Writer.logical, 0.5, "pure"),
    (Writer.extreme, 1, "pure"),
    (Writer.called, 3, "pure"),
    (Writer.summed, 1.5, "pure"),
    (Writer.walrus, 0.5, "pure"),
    (Writer.of_matrix, 1, "stores"),
]

ARRAYS = [
    (Writer.array_binary, 6, "pure"),
    (Writer.array_smooth, 3, "pure"),
    (Writer.slice, 3, "pure"),
    (Writer.where, 1.5, "pure"),
    (Writer.array_extreme, 0.7, "pure"),
    (Writer.built, 1.5, "pure"),
    (Writer.comprehended, 1.2, "pure"),
    (Writer.joined, 1, "pure"),
    (Writer.filled, 0.7, "pure"),
    (Writer.from_matrix, 1, "pure"),
]

STATEMENTS = [
    (Writer.assign, 4, "pure"),
    (Writer.carried, 3, "pure"),
    (Writer.augment, 3, "pure"),
    (Writer.assign_array, 3, "pure"),
    (Writer.augment_array, 0.5, "pure"),
    (Writer.assign_list, 1.5, "pure"),
    (Writer.assign_int, 1, "pure"),
    (Writer.start_from_int, 1, "pure"),
    (Writer.alias, 1.5, "pure"),
    (Writer.swap, 1.5, "pure"),
    (Writer.unpack, 2, "pure"),
    (Writer.dictionary, 0.7, "pure"),
    (Writer.branch, 4, "pure"),
    (Writer.for_range, 3, "pure"),
    (Writer.for_items, 2, "pure"),
    (Writer.while_loop, 1.5, "pure"),
    (Writer.while_true, 1, "pure"),
    (Writer.leave, 2, "pure"),
    (Writer.leave_now, 0.5, "pure"),
    (Writer.define, 2, "pure"),
    (Writer.unused, 0.5, "pure"),
    (Writer.new_buffer, 3, "stores"),
    (Writer.twins, 1, "stores"),
    (Writer.store_element, 4, "stores"),
    (Writer.store_slice, 4, "stores"),
    (Writer.store_stencil, 2, "stores"),
    (Writer.store_at_indices, 2, "stores"),
    (Writer.operate_in_place, 3, "stores"),
    (Writer.call_that_writes, 1, "stores"),
    (Writer.view, 4, "stores"),
    (Writer.one_or_other, 1, "stores"),
    (Writer.swap_buffers, 2, "stores"),
    (Writer.call_helper, 3, "stores"),
    (Writer.in_container, 1, "stores"),
    (Writer.fill_in_loop, 3, "stores"),
    (Writer.new_matrix, 1, "stores"),
    (Writer.store_matrix, 1.5, "stores"),
    (Writer.row_of_matrix, 1.5, "stores"),
    (Writer.attempt, 6, "guarded"),
    (Writer.managed, 2, "guarded"),
    (Writer.matched, 2, "guarded"),
    (Writer.deleted, 1, "guarded"),
]
