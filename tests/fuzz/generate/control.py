"""Loops, early exits and functions inside functions."""

from contextlib import contextmanager

from tests.fuzz.generate.base import FLOAT, INT, Helper, Kind, writes
from tests.fuzz.generate.guarded import Guarded


class Control(Guarded):
    """Writes loops, exits and nested functions."""

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

    @writes("statement", 3, "pure")
    def for_range(self):
        with self.loop(f"for {self.counter()} in {self.range_text()}:"):
            self.carried()
            self.body(3)
        self.otherwise()

    @writes("statement", 2, "pure")
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

    @writes("statement", 1.5, "pure")
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

    @writes("statement", 1, "pure")
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

    @writes("statement", 2, "pure")
    def leave(self):
        """``break``, ``continue`` or ``return`` under a condition."""
        words = ["return", "break", "continue", "break", "continue"] if self.scope.in_loop else ["return"]
        with self.block(f"if {self.test()}:"), self.scoped():
            if self.chance(0.5):
                self.carried()
            word = self.rng.choice(words)
            self.put(word if word != "return" else self.returned())

    @writes("statement", 0.5, "pure")
    def leave_now(self):
        if not self.scope.in_loop:
            return self.assign()
        if self.indent < 3:
            return self.carried()
        self.put(self.rng.choice(["break", "continue", self.returned()]))
        return True

    @writes("statement", 2, "pure")
    def define(self):
        """A nested function or a lambda, which reads variables around it."""
        helper = Helper(self.fresh("g"), [FLOAT] * self.rng.randint(0, 2))
        params = [f"{helper.name}{'xy'[k]}" for k in range(len(helper.params))]
        outer = {n for n in self.scope.variables}
        with self.scoped(in_loop=False, results=1) as scope:
            scope.variables.update(dict.fromkeys(params, FLOAT))
            scope.fixed |= set(filter(str.isidentifier, outer))  # assigning one would make it local
            if self.chance(0.5):
                self.put(f"{helper.name} = lambda {', '.join(params)}: {self.number(2)}")
            else:
                with self.block(f"def {helper.name}({', '.join(params)}):"):
                    if not self.body(2):
                        self.put(self.returned())
        self.scope.helpers.append(helper)

    @writes("statement", 0.5, "pure")
    def unused(self):
        self.put(f"{self.fresh('unused')} = {self.number(2)}")

    def returned_array(self, length):
        """Often an array that exists, or a view of it."""
        names = self.arrays(length)
        if not names or self.chance(0.3):
            return self.array(length, 2)
        name = self.rng.choice(names)
        forms = ["{0}", "{0}", "{0}", "{0}[:]", "{0}[::-1]", "{0} * 1.0", "{0}.reshape(-1)", "np.asarray({0})"]
        if self.chance(0.3):
            return f"{name} if {self.test()} else {self.choose(f'{name} * 1.0', self.rng.choice(names))}"
        return self.rng.choice(forms).format(name)

    def returned(self):
        if self.scope.results == 2:
            return f"return {self.number(2)}, {self.number(2)}"
        if isinstance(self.scope.results, Kind):
            return f"return {self.returned_array(self.scope.results.length)}"
        names = self.named("float")
        extra = "".join(f" + {self.rng.choice(names)}" for _ in range(2) if names)
        return f"return {self.number(2)}{extra}"
