"""Buffers that a loop stores into, swaps and merges: names, attributes, items, and what a nested function rebinds."""

from tests.fuzz.generate.base import FLOAT, Kind, writes
from tests.fuzz.generate.loops import store


def contents(w, length):
    """What a buffer begins with: constants as often as what is differentiated."""
    names = w.arrays(length)
    held = w.rng.choice(names) if names else f"np.full({length}, {w.leaf()})"
    zeros = f"np.zeros({length})"
    return w.choose(zeros, zeros, f"np.ones({length})", f"{held}.copy()", f"{held} * 0.5")


def held(w, length, count):
    """Make some buffers, and return the places that refer to them."""
    values = [contents(w, length) for _ in range(count)]
    roll = w.rng.randrange(6)
    if roll < 2:
        places = [w.fresh("v") for _ in values]
        for place, value in zip(places, values):
            w.put(f"{place} = {value}")
        return places
    name = w.fresh("h")
    keys = [f"k{k}" for k in range(count)]
    if roll == 2:
        w.put(f"{name} = types.SimpleNamespace({', '.join(f'{k}={v}' for k, v in zip(keys, values))})")
        places = [f"{name}.{k}" for k in keys]
    elif roll == 3:
        w.put(f"{name} = [{', '.join(values)}]")
        places = [f"{name}[{k}]" for k in range(count)]
    elif roll == 4:
        w.put(f"{name} = {{{', '.join(f'{k!r}: {v}' for k, v in zip(keys, values))}}}")
        places = [f"{name}[{k!r}]" for k in keys]
    else:
        w.put(f"{name} = collections.deque([{', '.join(values)}])")
        places = [f"{name}[{k}]" for k in range(count)]
    if w.chance(0.6):  # one of them by a name as well, which the loop swaps with the others
        local = w.fresh("v")
        w.put(f"{local} = {w.choose(places[0], contents(w, length))}")
        places[0] = local
    return places


@writes("statement", 4, "buffers")
def swapped(w):
    """A loop that stores into some buffers and hands them on, with a merge that may be its last statement."""
    length, count = w.choose(2, 3), w.choose(2, 2, 3)
    places = held(w, length, count)
    for place in places:
        w.bind(place, Kind("array", length))
    total, best = w.fresh("s"), w.fresh("kept")
    w.put(f"{total} = {w.leaf()}")
    w.bind(total, FLOAT)
    w.put(f"{best} = {w.choose(places[0], contents(w, length), f'{places[0]} * 1.0')}")
    w.bind(best, Kind("array", length))
    w.scope.fixed.add(best)
    by_name = [place for place in places if place.isidentifier()]
    rotated = [*places[1:], places[0]]

    def merge():
        with w.block(f"if {w.choose('k % 2', 'k == 1', f'{total} > {w.leaf()}', 'k')}:"):
            w.put(w.choose(
                f"{best} = {w.rng.choice(places)}", f"{w.rng.choice(places)} = {w.rng.choice(places)}",
                f"{places[0]}, {places[1]} = {places[1]}, {places[0]}",
                f"{best}, {total} = {places[0]}, {total} * 0.5"))

    steps = [
        lambda: store(w, w.rng.choice(places), length),
        lambda: store(w, w.rng.choice(places), length),
        lambda: w.put(f"{', '.join(places)} = {', '.join(rotated)}"),
        lambda: w.put(f"{places[-1]}, {places[0]} = {places[0]}, {places[-1]}"),
        lambda: w.put(f"{w.rng.choice(by_name or places)} = {w.rng.choice(places)} * {w.constant()}"),
        lambda: w.put(f"{total} += {w.rng.choice(places)} @ {w.rng.choice(places)}"),
        lambda: w.put(f"{w.rng.choice(places)}[{w.place(length)}] += {w.number(1)}"),
        lambda: w.put(f"{w.rng.choice(places)}[1:] = {w.rng.choice(places)}[:-1] * {w.leaf()}"),
        lambda: w.put(f"{w.rng.choice(by_name or places)} = {w.rng.choice(places)}"),
        merge,
    ]
    w.put(f"for k in range({w.choose(2, 3, 4)}):" if w.chance(0.8) else "for k in range(1 + n):")
    w.indent += 1
    for step in w.rng.sample(steps, w.choose(3, 4, 5)):
        step()
    if w.chance(0.6):
        merge()
    w.indent -= 1


@writes("statement", 2, "buffers")
def bound_anew(w):
    """Two buffers that a nested function stores into and swaps, called in a loop."""
    length = w.choose(2, 3)
    first, second, step = w.fresh("v"), w.fresh("v"), w.fresh("g")
    for name in (first, second):
        w.put(f"{name} = {contents(w, length)}")
    with w.block(f"def {step}(t):"):
        w.put(f"nonlocal {first}, {second}")
        lines = [f"{first}[{w.place(length)}] += t", f"{second}[:] = {second} * 0.5 + t",
                 f"{first}, {second} = {second}, {first}"]
        for line in w.rng.sample(lines, w.choose(2, 3)):
            w.put(line)
    with w.block(f"for _ in range({w.choose(2, 3)}):"):
        w.put(f"{step}({w.leaf()})")
    for name in (first, second):
        w.bind(name, Kind("array", length))
        w.scope.fixed.add(name)
