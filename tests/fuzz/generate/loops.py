"""Loops with several stores in an iteration, and values read long after a store."""

from tests.fuzz.generate.base import FLOAT, Kind, writes

READS = (
    "{0} / 2.0",
    "-{0}",
    "2.0 * {0}",
    "1.0 / (1.5 + {0} ** 2)",
    "{0} / (1.0 + np.sum({0} ** 2))",
    "{0}[::-1] / 2.0",
    "{0} ** 2",
    "np.sin({0})",
    "{0} + {1}",
    "{1} * {0}",
    "{0} * {0}",
    "{1} / (2.0 + np.sin({0}))",
    "+{0}",
    "np.exp(-{0} ** 2) * {1}",
    "np.sqrt(1.0 + {0} ** 2)",
    "{0} - {1}",
    "({0} * {1}) / 2.0",
    "abs({0})",
    "np.cumsum({0})",
    "np.outer({0}, {0}).sum(axis=0)",
    "np.array([e * {1} for e in {0}])",
)


@writes("statement", 3, "teeth")
def kept(w):
    """A value of an array, read at the end."""
    name, length = w.changed()
    target = w.fresh("kept")
    w.put(f"{target} = {w.rng.choice(READS).format(name, w.leaf())}")
    w.bind(target, Kind("array", length))
    if w.chance(0.7):
        w.scope.fixed.add(target)
    if w.chance(0.6):
        store(w, name, length)


@writes("statement", 1, "teeth")
def kept_number(w):
    """An element or a sum, read at the end."""
    name, length = w.changed()
    target = w.fresh("s")
    forms = [
        "{0}[{1}] * {2}",
        "np.sum({0} / 2.0)",
        "{0} @ {0}",
        "{0}[{1}] / 2.0",
        "np.sum({0} * {2}) ** 2",
        "-{0}[{1}]",
    ]
    w.put(f"{target} = {w.rng.choice(forms).format(name, w.place(length), w.leaf())}")
    w.bind(target, FLOAT)
    w.scope.fixed.add(target)
    if w.chance(0.6):
        store(w, name, length)


def store(w, name, length):
    """Some store into an array."""
    operator = w.operator()
    value = w.stored(operator, w.number(1))
    if operator == "=":
        w.put(f"{name}[{w.choose(w.place(length), w.part(length)[0])}] = {value}")
    elif name in w.scope.fixed:
        w.put(f"{name}[{w.choose(':', w.place(length))}] {operator} {value}")
    else:
        w.put(f"{name}{w.choose('', '', '[:]', f'[{w.place(length)}]')} {operator} {value}")


@writes("statement", 4, "loops")
def twice(w):
    """Two or three augmented assignments of an array in an iteration, with reads in between."""
    name, length = w.changed()
    total = w.target(FLOAT, 0.5)
    if total not in w.scope.variables:
        w.put(f"{total} = {w.leaf()}")
        w.bind(total, FLOAT)
    with w.loop(f"for {w.counter()} in {w.range_text()}:"):
        for _ in range(w.choose(2, 2, 3)):
            store(w, name, length)
            if w.chance(0.4):
                w.put(f"{total} {w.choose('+=', '-=')} np.sum({w.rng.choice(READS).format(name, w.leaf())})")
        if w.chance(0.3):
            w.body(1)


@writes("statement", 3, "loops")
def carried_array(w):
    """An array that a loop hands on, with the value of the iteration before."""
    name, length = w.changed()
    before = w.fresh("kept")
    w.put(f"{before} = {w.choose(name, f'{name}.copy()', f'{name} / 2.0', f'{name}[:]')}")
    w.bind(before, Kind("array", length))
    with w.loop(f"for {w.counter()} in range({w.choose(1, 2, 3)}):"):
        forms = [
            f"{before} = {name}",
            f"{before} = {name} / 2.0",
            f"{before} = {before} + {name}",
            f"{before} += {name}",
            f"{before}, {name} = {name}, {before}" if name not in w.scope.fixed else f"{before} = -{name}",
        ]
        steps = [lambda: w.put(w.rng.choice(forms)), lambda: store(w, name, length)]
        w.rng.shuffle(steps)
        for step in steps:
            step()
        if w.chance(0.4):
            w.put(f"{before}[{w.place(length)}] {w.choose('=', '*=')} {w.number(1)}")


@writes("statement", 2, "loops")
def nested(w):
    """An array that the outer loop makes and the inner one changes and reads."""
    length = w.choose(2, 3)
    row, total = w.fresh("v"), w.fresh("s")
    w.put(f"{total} = {w.leaf()}")
    w.bind(total, FLOAT)
    with w.loop(f"for {w.counter()} in range({w.choose(1, 2, 3)}):"):
        w.put(f"{row} = ({w.array(length, 2)}) * 1.0")
        w.bind(row, Kind("array", length))
        if w.chance(0.3):
            kept(w)
        with w.loop(f"for {w.fresh('j')} in range({w.choose(1, 2)}):"):
            store(w, row, length)
            w.put(f"{total} += np.sum({row} * {w.leaf()})")
        if w.chance(0.5):
            w.put(f"{total} += {row}[0] * {w.leaf()}")
