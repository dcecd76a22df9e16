"""Objects with behaviour: operators, inheritance, ``__call__`` and ``__getitem__``, attributes that loops change."""

from tests.fuzz.generate.base import FLOAT, Kind, writes

CLASSES = """\
class Base:
    scale = 1.5

    def __init__(self, v, t):
        self.v = v
        self.t = t
        self.seen = []

    def step(self, u):
        self.seen.append(self.t)
        self.t = self.t * u + self.v[0]
        return self.t

    def __call__(self, u):
        return np.sum(self.v) * u * self.scale

    def __getitem__(self, k):
        return self.v[k]

    def __setitem__(self, k, u):
        self.v[k] = u


class Derived(Base):
    scale = 0.5

    def step(self, u):
        if u > 0.4:
            return super().step(u)
        self.v[-1] = u
        return self.t

    def __add__(self, other):
        return Derived(self.v + other.v, self.t)

    def __iadd__(self, other):
        self.v += other.v
        return self
"""


def instances(w):
    return [n for n in w.named("box") if n.startswith("r")]


@writes("statement", 4, "records")
def made(w):
    name, length = w.changed()
    record = w.fresh("r")
    w.put(
        f"{record} = {w.choose('Base', 'Derived', 'Derived')}({w.choose(name, name, f'{name}.copy()')}, {w.number(1)})"
    )
    w.bind(record, Kind("box", 2))
    w.bind(f"{record}.v", Kind("array", length))
    w.bind(f"{record}.t", FLOAT)


@writes("statement", 5, "records")
def used(w):
    names = instances(w)
    if not names:
        return made(w)
    name, total = w.rng.choice(names), w.fresh("s")
    length = w.scope.variables[f"{name}.v"].length
    forms = [
        f"{total} = {name}.step({w.number(1)})",
        f"{total} = {name}({w.number(1)})",
        f"{total} = {name}[{w.place(length)}] * {w.leaf()}",
        f"{name}[{w.place(length)}] = {w.number(1)}",
        f"{name}[{w.place(length)}] += {w.number(1)}",
        f"{name}.t *= {w.leaf()}",
        f"{total} = sum({name}.seen) + {w.leaf()}",
        f"{name}.v = {w.array(length, 1)}",
        f"{name}.step({w.leaf()})",
        f"{total} = {name}.v[0] * {name}.t",
    ]
    text = w.rng.choice(forms)
    w.put(text)
    if text.startswith(total):
        w.bind(total, FLOAT)
    return None


@writes("statement", 2, "records")
def summed(w):
    """Two records added, as a new one or in place."""
    length = w.choose(2, 3)
    first, second = w.fresh("r"), w.fresh("r")
    for record in (first, second):
        names = w.arrays(length)
        v = w.rng.choice(names) if names and w.chance(0.7) else f"({w.array(length, 1)}) * 1.0"
        w.put(f"{record} = Derived({v}, {w.leaf()})")
        w.bind(record, Kind("box", 2))
        w.bind(f"{record}.v", Kind("array", length))
        w.bind(f"{record}.t", FLOAT)
    other = w.fresh("r")
    w.put(
        w.choose(
            f"{other} = {first} + {second}",
            f"{first} += {second}\n    {other} = {first}".replace("\n    ", "; "),
            f"{other} = {first}; {other} += {second}",
        )
    )
    w.bind(other, Kind("box", 2))
    w.bind(f"{other}.v", Kind("array", length))
    w.bind(f"{other}.t", FLOAT)


@writes("statement", 2.5, "records")
def looped(w):
    names = instances(w)
    if not names:
        return made(w)
    name = w.rng.choice(names)
    with w.loop(f"for {w.counter()} in {w.range_text()}:"):
        used(w)
        if w.chance(0.5):
            with w.block(f"if {name}.step({w.leaf()}) > {w.constant()}:"):
                w.put(w.choose("break", "continue", f"{name}.t = {w.leaf()}"))
        used(w)
    return None
