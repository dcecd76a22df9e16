"""Expressions: floats, arrays and conditions."""

from tests.fuzz.generate.base import FLOAT, INT, Base, writes


class Expressions(Base):
    """Writes expressions of a kind, as text."""

    def number(self, depth=2):
        """A float."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf()
        return self.pick("number")(self, depth)

    def leaf(self):
        names = self.named("float")
        if names and self.chance(0.75):
            return self.rng.choice(names)
        arrays = [name for name in self.named("array", "list") if self.scope.variables[name].length]
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

    @writes("number", 8, "pure")
    def binary(self, depth):
        operator = self.rng.choice(["+", "+", "-", "*", "*"])
        return f"({self.number(depth - 1)} {operator} {self.number(depth - 1)})"

    @writes("number", 2, "pure")
    def quotient(self, depth):
        below = self.rng.choice(["(1.5 + {0} ** 2)", "(2.0 + np.sin({0}))", "(1.0 + abs({0}))"])
        return f"{self.number(depth - 1)} / {below.format(self.number(depth - 1))}"

    @writes("number", 5, "pure")
    def smooth(self, depth):
        form = self.rng.choice(
            "np.sin({}) np.tanh({}) math.cos({}) np.exp(-({})**2) np.sqrt(1.0+({})**2) math.log(2.0+({})**2) "
            "math.sin({}) -({}) ({})**2 0.5*({}) np.arctan({}) np.square({}) +({}) abs({}) "
            "np.logaddexp({},0.5) math.hypot({},1.2) float({}) (2.0**np.tanh({}))".split()
        )
        return form.replace(",", ", ").format(self.number(depth - 1))

    @writes("number", 3, "pure")
    def reduction(self, depth):
        name, length = self.any_array(depth)
        form = self.rng.choice(
            "np.sum({}) np.mean({}) {}.sum() {}.mean() sum({}) {}[-1] np.max({}) min({}) np.var({}) "
            "np.prod(1.0+0.2*{}) np.linalg.norm({})".split()
        )
        return form.format(name) if name.isidentifier() else form.format(f"({name})")

    @writes("number", 1, "pure")
    def product(self, depth):
        name, length = self.any_array(depth)
        other = self.array(length, depth - 1)
        return self.rng.choice(["np.dot({}, {})", "({}) @ ({})"]).format(name, other)

    def any_array(self, depth):
        names = self.named("array")
        length = self.scope.variables[self.rng.choice(names)].length if names else self.rng.randint(1, 4)
        return self.array(length, depth - 1), length

    @writes("number", 2, "pure")
    def conditional(self, depth):
        return f"({self.number(depth - 1)} if {self.test()} else {self.number(depth - 1)})"

    @writes("number", 0.5, "pure")
    def logical(self, depth):
        operator = self.rng.choice(["and", "or"])
        first = self.rng.choice(self.named("float") or ["0.0", "0.0", "1.5"])
        return f"({first} {operator} {self.number(depth - 1)})"

    @writes("number", 1, "pure")
    def extreme(self, depth):
        name = self.rng.choice(["min", "max", "np.maximum", "np.minimum"])
        return f"{name}({self.number(depth - 1)}, {self.number(depth - 1)})"

    @writes("number", 3, "pure")
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

    @writes("number", 1.5, "pure")
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

    @writes("number", 0.5, "pure")
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
        return self.pick("array")(self, length, depth)

    @writes("array", 6, "pure")
    def array_binary(self, length, depth):
        left = self.array(length, depth - 1)
        roll = self.rng.randrange(3)
        right = self.number(depth - 1) if roll == 0 else self.array(length if roll == 1 else 1, depth - 1)
        pair = [left, right]
        self.rng.shuffle(pair)
        return f"({pair[0]} {self.rng.choice('+-*')} {pair[1]})"

    @writes("array", 3, "pure")
    def array_smooth(self, length, depth):
        form = self.rng.choice(
            "np.sin({}) np.tanh({}) np.exp(-({})**2) np.sqrt(1.0+({})**2) ({})**2 -({}) np.cos({}) "
            "0.7*({}) np.log1p(({})**2) np.abs({}) np.cumsum({}) np.clip({},-0.8,0.9) ({}).copy() "
            "np.asarray({})".split()
        )
        return form.replace(",", ", ").format(self.array(length, depth - 1))

    @writes("array", 3, "pure")
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

    @writes("array", 1.5, "pure")
    def where(self, length, depth):
        test = f"{self.array(length, 0)} > {self.constant()}"
        sides = [self.array(length, depth - 1) if self.chance(0.5) else self.number(depth - 1) for _ in range(2)]
        return f"np.where({test}, {sides[0]}, {sides[1]})"

    @writes("array", 0.7, "pure")
    def array_extreme(self, length, depth):
        name = self.rng.choice(["np.maximum", "np.minimum"])
        right = self.array(length, depth - 1) if self.chance(0.5) else self.constant()
        return f"{name}({self.array(length, depth - 1)}, {right})"

    @writes("array", 1.5, "pure")
    def built(self, length, depth):
        return f"np.array([{', '.join(self.number(depth - 1) for _ in range(length))}])"

    @writes("array", 1.2, "pure")
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

    @writes("array", 1, "pure")
    def joined(self, length, depth):
        if length < 2:
            return self.array_smooth(length, depth)
        cut = self.rng.randint(1, length - 1)
        parts = f"{self.array(cut, depth - 1)}, {self.array(length - cut, depth - 1)}"
        return self.rng.choice(["np.concatenate([{}])", "np.hstack(({}))"]).format(parts)

    @writes("array", 0.7, "pure")
    def filled(self, length, depth):
        forms = [
            "np.ones({1}) * {0}",
            "np.full({1}, {0})",
            "np.arange({1}) * {0}",
            "np.linspace(0, 1, {1}) + {0}",
        ]
        return self.rng.choice(forms).format(self.number(depth - 1), length)

    @writes("array", 1, "pure")
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
