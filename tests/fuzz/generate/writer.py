"""A writer of whole programs: helpers, then ``f``."""

from tests.fuzz.generate.base import FLOAT, INT, Helper, Kind
from tests.fuzz.generate.matrices import Matrices
from tests.fuzz.generate.outside import STATE
from tests.fuzz.generate.records import CLASSES


class Writer(Matrices):
    """Writes one program."""

    def function(self, name, params, results=1, most=2, least=1):
        variables = {f"p{k}": kind for k, kind in enumerate(params)} if name != "f" else dict(params)
        with self.block(f"def {name}({', '.join(variables)}):"):
            with self.scoped(variables=variables, in_loop=False, results=results):
                if "n" in variables:
                    self.scope.fixed.add("n")
                if name == "f" and "outside" in self.features:
                    self.put("restore()")
                for place, kind in self.places_of_arguments(variables):
                    self.bind(place, kind)
                if not self.body(most, least):
                    self.put(self.returned() if name != "f" else self.last())
        self.put("")
        self.put("")

    def places_of_arguments(self, variables):
        """The places of the arguments that are containers."""
        for name, kind in list(variables.items()):
            if kind.name == "box" and name in self.given:
                held = self.given[name]
                pairs = held.items() if isinstance(held, dict) else enumerate(held)
                for key, item in pairs:
                    yield f"{name}[{key!r}]", Kind("array", len(item))

    def last(self):
        """The result of the program depends on much of what there is."""
        parts = [self.number(2)]
        for name, kind in self.scope.variables.items():
            if kind.name == "float" and self.chance(0.6):
                parts.append(f"{self.constant()} * {name}" if self.chance(0.5) else name)
            elif kind.name == "array" and self.chance(0.9 if name.startswith("kept") else 0.5):
                parts.append(f"np.sum({name} * {name})")
            elif kind.name == "matrix" and self.chance(0.8):
                parts.append(f"np.sum({name} * {name})")
            elif kind.name == "list" and self.chance(0.5):
                parts.append(f"{name}[{self.rng.randrange(-kind.length, kind.length)}]")
        return f"return {' + '.join(parts)}"

    def helper(self):
        params = [FLOAT] * self.rng.randint(1, 2)
        for _ in range(2 if "stores" in self.features else 1):
            if self.chance(0.5 if "stores" in self.features else 0.2):
                params.append(Kind("array", self.rng.randint(1, 3)))
        results = self.rng.choice([1, 1, 2])
        if self.chance(min(1.0, 0.3 * self.features.get("helpers", 0))):
            length = self.rng.choice([2, 3, 3])
            params[1:] = [Kind("array", length)] * self.rng.choice([1, 1, 2])
            results = Kind("array", length)
        helper = Helper(self.fresh("h"), params, results)
        self.function(helper.name, params, helper.results)
        self.scope.helpers.append(helper)

    def parameters(self):
        params = {name: FLOAT for name in "ab"[: self.rng.randint(1, 2)]}
        if "teeth" not in self.features:
            for name in "xy"[: self.rng.choice([0, 1, 1, 2])]:
                params[name] = Kind("array", self.rng.choice([1, 2, 3, 3, 4]))
            return params
        params.pop("b", None)
        for name in "xy"[: self.rng.choice([1, 2])]:
            params[name] = Kind("array", self.rng.choice([2, 3, 3, 3, 4]))
        if "orders" in self.features and self.chance(0.7):
            params["m"] = Kind("matrix", self.rng.choice([2, 3]), self.rng.choice([2, 3]))
        if "views" in self.features and self.chance(0.4):
            self.index_parameter(params)
        if "containers" in self.features and self.chance(0.2):
            length = self.rng.choice([2, 3])
            held = [[0.7, 1.3, -0.4][:length], [1.1, -0.6, 0.9][:length]]
            self.given["p"] = self.choose({"u": held[0], "w": held[1]}, held)
            params["p"] = Kind("box", 2)
        return params

    def index_parameter(self, params):
        length = params["x"].length
        k = slice(self.choose(None, 0, 1), self.choose(None, 2, -1), self.choose(None, None, 2, -1))
        if k.step == -1:
            k = slice(None, None, -1)
        count = len(range(length)[k])
        if not count:
            k, count = slice(0, 1), 1
        listed = sorted(self.rng.sample(range(length), self.rng.randint(1, length)))
        self.given["k"], rows = self.choose((k, count), (k, count), (listed, len(listed)))
        params["k"] = Kind("index", length, rows)

    def module(self):
        budget = self.budget
        for _ in range(self.rng.choice([0, 0, 1, 2] if "helpers" not in self.features else [0, 1, 1, 2])):
            self.budget = self.choose(1, 2, 3)
            self.helper()
        self.budget = budget if "teeth" not in self.features else self.choose(3, 4, 5, 7, 9)
        params = {**self.parameters(), "n": INT}
        for feature, text in (("objects", BOX), ("records", CLASSES), ("outside", STATE)):
            if feature in self.features:
                self.lines[:0] = text.splitlines() + ["", ""]
        self.function("f", params, most=6, least=3 if "teeth" in self.features else 1)
        return "\n".join(self.lines).rstrip() + "\n", params

# The classes that programs make objects of.
BOX = """\
class Box:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def grow(self, t):
        self.a *= t
        return self

    def get(self):
        return self.a

    def put(self, k, t):
        self.a[k] = t

    def swap(self):
        self.a, self.b = self.b, self.a

    def renew(self, t):
        self.b = self.b * t
        return self.b

    @property
    def total(self):
        return np.sum(self.a)
"""
