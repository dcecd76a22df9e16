"""Assignments and branches that change no arrays."""

from tests.fuzz.generate.base import FLOAT, INT, Kind, writes
from tests.fuzz.generate.expressions import Expressions


class Plain(Expressions):
    """Writes assignments and branches."""

    def body(self, most=3, least=1):
        """Some statements; True where the last one leaves the block."""
        for _ in range(self.rng.randint(least, most)):
            if self.statement():
                return True
        return False

    def statement(self):
        """Write one statement; True where it leaves the block."""
        if self.budget <= 0:
            self.assign()
            return False
        self.budget -= 1
        return bool(self.pick("statement")(self))

    @writes("statement", 4, "pure")
    def assign(self):
        value = self.number(3)
        name = self.target(FLOAT)
        self.put(f"{name} = {value}")
        self.bind(name, FLOAT)

    @writes("statement", 3, "pure")
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

    @writes("statement", 3, "pure")
    def augment(self):
        names = [n for n in self.named("float") if n not in self.scope.fixed]
        if not names:
            return self.assign()
        name = self.rng.choice(names)
        operator = self.rng.choice(["+=", "-=", "*=", "/="])
        value = self.number(2) if operator != "/=" else f"(1.5 + {self.leaf()} ** 2)"
        self.put(f"{name} {operator} {value}")

    @writes("statement", 3, "pure")
    def assign_array(self):
        lengths = [k.length for k in self.scope.variables.values() if k.name == "array"]
        length = self.rng.choice(lengths) if lengths and self.chance(0.7) else self.rng.randint(1, 4)
        value = self.array(length, 3)
        name = self.target(Kind("array", length))
        self.put(f"{name} = {value}")
        self.bind(name, Kind("array", length))

    @writes("statement", 0.5, "pure")
    def augment_array(self):
        """In place, of an array that nothing else refers to (else s2s refuses)."""
        length = self.rng.randint(1, 4)
        name = self.fresh("v")
        value = self.array(length, 2)
        self.put(f"{name} = 1.0 * {value}")
        self.bind(name, Kind("array", length))
        self.put(f"{name} {self.rng.choice(['+=', '-=', '*='])} {self.array(length, 2)}")

    @writes("statement", 1.5, "pure")
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

    @writes("statement", 1, "pure")
    def assign_int(self):
        value = self.rng.choice([str(self.rng.randint(-2, 4)), *(f"{n} + 1" for n in self.named("int"))])
        name = self.target(INT)
        self.put(f"{name} = {value}")
        self.bind(name, INT)

    @writes("statement", 1, "pure")
    def start_from_int(self):
        name = self.fresh("s")
        self.put(f"{name} = {self.rng.choice(['0', '1', '0.0'])}")
        with self.loop(f"for {self.counter()} in {self.range_text()}:"):
            self.put(f"{name} {self.rng.choice(['+=', '-='])} {self.number(2)}")
        self.bind(name, FLOAT)

    @writes("statement", 1.5, "pure")
    def alias(self):
        names = self.named("float", "array", "list")
        source = self.rng.choice(names)
        kind = self.scope.variables[source]
        name = self.target(kind)
        self.put(f"{name} = {source}")
        self.bind(name, kind)

    @writes("statement", 1.5, "pure")
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

    @writes("statement", 2, "pure")
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

    @writes("statement", 0.7, "pure")
    def dictionary(self):
        name = self.fresh("d")
        self.put(f"{name} = {{'u': {self.number(2)}, 'w': {self.number(2)}}}")
        forms = ["{0}['u'] * {0}['w']", "sum({0}.values())", "{0}['w'] + {0}.get('u')"]
        target = self.target(FLOAT)
        self.put(f"{target} = {self.rng.choice(forms).format(name)}")
        self.bind(target, FLOAT)

    @writes("statement", 4, "pure")
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
