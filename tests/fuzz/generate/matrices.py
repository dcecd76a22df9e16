"""Matrices: stores, rows and columns as views."""

from tests.fuzz.generate.base import Kind, writes
from tests.fuzz.generate.stores import Stores


class Matrices(Stores):
    """Writes statements with matrices."""

    @writes("statement", 1, "stores")
    def new_matrix(self):
        rows, length = self.rng.randint(1, 3), self.rng.randint(1, 3)
        name = self.target(Kind("matrix", length, rows))
        a, b = self.array(rows, 1), self.array(length, 1)
        forms = [f"np.zeros(({rows}, {length}))", f"np.outer({a}, {b})", f"np.ones(({rows}, {length})) * {b}"]
        self.put(f"{name} = {self.rng.choice(forms)}")
        self.bind(name, Kind("matrix", length, rows))

    @writes("statement", 1.5, "stores")
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

    @writes("statement", 1.5, "stores")
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

    @writes("number", 1, "stores")
    def of_matrix(self, depth):
        """A number read from a matrix."""
        names = self.named("matrix")
        if not names:
            return self.leaf()
        name = self.rng.choice(names)
        kind = self.scope.variables[name]
        i, j = self.place(kind.rows), self.place(kind.length)
        return self.rng.choice([f"{name}[{i}, {j}]", f"np.sum({name} ** 2)", f"np.sum({name}[{i}] * {name}[-1])"])
