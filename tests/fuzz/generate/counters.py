"""Integers in memory: arrays of rank 0 and items of arrays that bound ranges and slices and are indices, and change."""

from tests.fuzz.generate.base import FLOAT, writes


@writes("statement", 4, "counters")
def counted(w):
    """Statements, in a loop or not, that read an array at a number in memory, among some that change the number."""
    length = w.choose(3, 4)
    names = w.arrays(length)
    x, n, last, q, total = (w.fresh(name) for name in ("v", "n", "last", "q", "s"))
    w.put(f"{x} = {w.rng.choice(names)} * 1.0" if names else f"{x} = np.full({length}, {w.leaf()})")
    w.put(f"{n} = np.array({w.choose(1, 2)})")
    w.put(f"{q} = np.array([{w.choose(1, 2)}, 1, 2])")
    w.put(f"{last} = {n} - 1")
    w.put(f"{total} = {w.leaf()}")
    w.bind(total, FLOAT)
    at = w.choose(n, n, f"{q}[0]", f"{q}[1:2].reshape(())")
    reads = [
        f"{total} = {total} * 0.5 + {x}[{at}] ** 2",
        f"{total} += np.sin({x}[{n} - 1] * {x}[{last}])",
        f"{total} = {total} * 0.7 + np.sum({x}[:{at}] ** 2)",
        f"{total} = {total} * 0.7 + np.sum({x}[{n}:]) * {n}",
        f"{total} += np.sum(np.roll({x}, {n}) * {x})",
        f"{total} += np.sum(np.zeros({n}) + {total} * 0.3)",
        f"{x}[{at}] = {total}",
        f"{x}[:{n}] *= {x}[{last}]",
        f"for i in range({at}):\n    {total} = {total} * 0.5 + {x}[i] ** 2",
        f"for i in range({last}, -1, -1):\n    {total} = {total} * 0.5 + {x}[i] * {n}",
        f"for i in range({n} - 1, -1, -1):\n    {total} = {total} * 0.5 + {x}[i] * {total}",
    ]
    changes = [f"{n} %= {length - 1}", f"{n} += 1", f"{q}[0] = {n}", f"{q} %= {length - 1}", f"{last} = {n} - 1"]
    indent = w.indent
    if w.chance(0.6):
        w.put(f"for _ in range({w.choose(2, 3)}):")
        w.indent += 1
    for _ in range(w.choose(2, 3, 4)):
        for line in (*w.rng.choice(reads).split("\n"), w.rng.choice(changes)):
            w.put(line)
    w.put(f"{n} %= {length - 1}")
    w.indent = indent
    w.put(f"{total} += {x}[{n}]")
