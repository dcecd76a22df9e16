"""Early exits between a read and a store: ``break``, ``continue``, ``return``, and exceptions that are caught."""

from tests.fuzz.generate.base import FLOAT, Kind, writes
from tests.fuzz.generate.loops import READS, store


@writes("statement", 4, "exits")
def between(w):
    """A loop that reads an array, may leave, and stores into it."""
    name, length = w.changed()
    total = w.fresh("s")
    w.put(f"{total} = {w.leaf()}")
    w.bind(total, FLOAT)
    value = w.fresh("kept")
    keeps = w.chance(0.6)
    if keeps:
        w.put(f"{value} = {w.choose(name, f'{name}.copy()', f'{name} / 2.0')}")
        w.bind(value, Kind("array", length))
    head = (
        f"for {w.counter()} in {w.range_text()}:"
        if w.chance(0.7)
        else f"while np.sum({name} ** 2) < 5.0 and len(trips) < 3:"
    )
    if head.startswith("while"):
        w.put("trips = []")
    with w.loop(head):
        if head.startswith("while"):
            w.put("trips.append(0)")
        if keeps:
            w.put(f"{value} = {w.rng.choice(READS).format(name, w.leaf())}")
        else:
            w.put(f"{total} += np.sum({w.rng.choice(READS).format(name, w.leaf())})")
        if w.chance(0.3):
            store(w, name, length)
        word = w.choose("break", "continue", "return")
        with w.block(f"if {w.test()}:"):
            if w.chance(0.3):
                store(w, name, length)
            w.put(word if word != "return" else w.returned())
        store(w, name, length)
        if w.chance(0.3):
            w.put(f"{total} += {name}[0] * {w.leaf()}")


@writes("statement", 2, "exits")
def leaves(w):
    """A read, an exit of the function, a store."""
    name, length = w.changed()
    value = w.fresh("kept")
    w.put(f"{value} = {w.rng.choice(READS).format(name, w.leaf())}")
    w.bind(value, Kind("array", length))
    with w.block(f"if {w.test()}:"):
        if w.chance(0.4):
            store(w, name, length)
        w.put(w.returned())
    store(w, name, length)


@writes("statement", 3, "exits")
def caught(w):
    """Stores before and after an exception that is caught."""
    name, length = w.changed()
    value = w.fresh("kept")
    w.put(f"{value} = {w.choose(name, f'{name} / 2.0', f'{name}[::-1] * 2.0', f'{name}.copy()')}")
    w.bind(value, Kind("array", length))
    with w.block("try:"):
        raising = f"if {w.test()}: raise ValueError('no')", f"{name}[{length} + 5]", f"if {w.test()}: raise KeyError"
        if w.chance(0.25):  # refused where the exception may interrupt it
            store(w, name, length)
        if w.chance(0.4):
            w.put(f"{value} = {w.rng.choice(READS).format(name, w.leaf())}")
        w.put(w.rng.choice(raising))
    with w.block(f"except {w.choose('(ValueError, LookupError)', 'Exception', 'Exception as e')}:"):
        if w.chance(0.6):
            store(w, name, length)
        else:
            w.put("pass")
    if w.chance(0.3):
        with w.block("else:"):
            store(w, name, length)
    if w.chance(0.3):
        with w.block("finally:"):
            store(w, name, length)


@writes("statement", 1.5, "exits")
def finished(w):
    """A ``finally`` that leaves a loop or the function: after an exception, after another exit, or after neither."""
    total = w.fresh("s")
    w.put(f"{total} = {w.leaf()}")
    w.bind(total, FLOAT)

    def guarded(*words):
        with w.block("try:"):
            w.put(f"{total} = {total} * {w.leaf()}")
            w.put(f"if {w.test()}: {w.choose('raise ValueError', *words)}")
            w.put(f"{total} += {w.leaf()}")
        with w.block("finally:"):
            w.put(f"{total} = {total} * 1.1")
            w.put(w.choose(f"if {w.test()}: ", "" if words[0] in ("break", "continue") else "if n > 0: ") + words[0])

    if w.chance(0.5):
        with w.loop(f"for {w.counter()} in {w.range_text()}:"):
            guarded(w.choose("break", "continue", w.returned()), "break", "continue", w.returned())
    else:
        guarded(w.returned(), w.returned())


@writes("statement", 1.5, "exits")
def searched(w):
    """The first element that fits, with ``else`` where none does."""
    name, length = w.changed()
    e, target = w.fresh("e"), w.fresh("s")
    w.put(f"{target} = {w.leaf()}")
    with w.block(f"for {e} in {name}:"):
        with w.block(f"if {e} > {w.constant()}:"):
            w.put(f"{target} = {e} * {w.leaf()}")
            w.put("break")
        if w.chance(0.5):
            w.put(f"{target} = {target} * {e}")
    if w.chance(0.5):
        with w.block("else:"):
            w.put(f"{name}[0] = {w.number(1)}")
    w.bind(target, FLOAT)
