"""Statements that change arrays: elements, slices, operators in place, views, aliases."""

from tests.fuzz.generate.base import FLOAT, Kind, writes
from tests.fuzz.generate.control import Control


class Stores(Control):
    """Writes statements that change arrays."""

    def changed(self, least=1):
        """The name of an array that may be changed in place, and its length; a new one where there is none."""
        names = [n for n in self.named("array") if self.scope.variables[n].length >= least]
        if names and self.chance(0.9):
            name = self.rng.choice(names)
            return name, self.scope.variables[name].length
        return self.new_buffer(max(least, self.rng.randint(1, 4)))

    @writes("statement", 3, "stores")
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

    @writes("statement", 1, "stores")
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
        known = [(n, k.rows) for n, k in self.scope.variables.items() if k.name == "index" and k.length == length]
        if known and self.chance(0.6):
            return self.rng.choice(known)
        start, stop, step = self.rng.choice(
            [(None, None, None), (1, None, None), (None, -1, None), (1, -1, None), (None, None, 2), (None, None, -1),
             (-1, None, -1), (1, None, 2), (None, 2, None), (-2, None, None), (2, 1, None)]
        )  # fmt: skip
        count = len(range(length)[slice(start, stop, step)])
        text = ":".join("" if bound is None else str(bound) for bound in (start, stop))
        return text + (f":{step}" if step is not None else ""), count

    @writes("statement", 4, "stores")
    def store_element(self):
        name, length = self.changed()
        operator = self.operator()
        self.put(f"{name}[{self.place(length)}] {operator} {self.stored(operator, self.number(2))}")

    @writes("statement", 4, "stores")
    def store_slice(self):
        name, length = self.changed()
        part, count = self.part(length)
        value = self.array(count, 2) if count and self.chance(0.7) else self.number(2)
        operator = self.operator()
        self.put(f"{name}[{part}] {operator} {self.stored(operator, value)}")

    @writes("statement", 2, "stores")
    def store_stencil(self):
        """What is stored reads what it overwrites."""
        name, _ = self.changed(3)
        forms = ["{0}[1:-1] {2} {0}[2:] * {0}[:-2] + {1}", "{0}[1:] {2} {0}[:-1] * {1}", "{0}[:] {2} {0}[::-1] * {1}",
                 "{0}[:-1] {2} 0.5 * {0}[1:] + {1}", "{0}[::2] {2} {0}[::-2] + {1} * {0}[::2]"]  # fmt: skip
        self.put(self.rng.choice(forms).format(name, self.leaf(), self.rng.choice(["=", "=", "+=", "-="])))

    @writes("statement", 2, "stores")
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

    @writes("statement", 3, "stores")
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

    @writes("statement", 1, "stores")
    def call_that_writes(self):
        """NumPy's functions with ``out``, and methods that change their array."""
        name, length = self.changed()
        other = self.array(length, 1)
        forms = ["np.sin({1}, out={0})", "np.multiply({1}, {0}, out={0})", "np.copyto({0}, {1})", "{0}.fill({2})",
                 "np.add({0}, {2}, out={0})", "{0}.sort()", "np.negative({0}, out={0})"]  # fmt: skip
        self.put(self.rng.choice(forms).format(name, other, self.number(1)))

    @writes("statement", 4, "stores")
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

    @writes("statement", 1, "stores")
    def one_or_other(self):
        """A name for one of two arrays, or for an array or its copy."""
        name, length = self.changed()
        others = [n for n in self.arrays(length) if n != name] + [f"{name}.copy()", f"{name} * 2.0"]
        target = self.target(Kind("array", length), reuse=0.2)
        self.put(f"{target} = {name} if {self.test()} else {self.rng.choice(others)}")
        self.bind(target, Kind("array", length))

    @writes("statement", 2, "stores")
    def swap_buffers(self):
        name, length = self.changed()
        others = [n for n in self.arrays(length) if n != name and n not in self.scope.fixed]
        if not others or name in self.scope.fixed:
            return self.store_slice()
        other = self.rng.choice(others)
        self.put(f"{name}, {other} = {other}, {name}")

    @writes("statement", 3, "stores")
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

    @writes("statement", 1, "stores")
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

    @writes("statement", 3, "stores")
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
