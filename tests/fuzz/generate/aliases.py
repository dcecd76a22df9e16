"""Two names for one array, by a condition, a tuple, a loop or a function that may copy."""

from tests.fuzz.generate.base import FLOAT, Kind, writes
from tests.fuzz.generate.loops import store

SAME = (
    "{0}",
    "np.asarray({0})",
    "{0}[:]",
    "{0}.reshape(-1)",
    "{0}.ravel()",
    "np.atleast_1d({0})",
    "np.array({0}, copy=None)",
    "{0}[...]",
    "{0}.view()",
    "np.squeeze({0}[None])",
    "np.reshape({0}, -1)",
    "{0}.T",
    "np.ravel({0})",
    "np.asanyarray({0})",
    "np.broadcast_to({0}, ({1},)).copy()",
    "{0}.squeeze()",
    "np.array({0})",
    "{0}.copy()",
    "{0} + 0.0",
    "{0}.astype(float)",
    "{0}.astype(float, copy=False)",
    "np.ascontiguousarray({0})",
    "np.flip({0})",
    "np.roll({0}, 0)",
    "np.expand_dims({0}, 0)[0]",
    "{0}.real",
    "np.nan_to_num({0}, copy=False)",
)


@writes("statement", 3, "aliases")
def another_name(w):
    """An array under another name, or a copy of it; one of them changes."""
    name, length = w.changed()
    other = w.fresh("v")
    w.put(f"{other} = {w.rng.choice(SAME).format(name, length)}")
    w.bind(other, Kind("array", length))
    store(w, w.choose(name, other), length)


@writes("statement", 3, "aliases")
def chosen(w):
    """One array or another, by a condition; both sides are changed and read."""
    name, length = w.changed()
    names = [n for n in w.arrays(length) if n != name]
    second = (
        w.rng.choice(names) if names and w.chance(0.7) else w.choose(f"{name}.copy()", f"{name} * 2.0", f"{name}[::-1]")
    )
    other, test = w.fresh("v"), w.test()
    roll = w.rng.randrange(5)
    if roll == 0:
        w.put(f"{other} = {name}")
        with w.block(f"if {test}:"):
            w.put(f"{other} = {second}")
    elif roll == 1:
        with w.block(f"if {test}:"):
            w.put(f"{other} = {second}")
            if w.chance(0.5):
                store(w, other, length)
        with w.block("else:"):
            w.put(f"{other} = {name}")
    elif roll == 2:
        w.put(f"{other} = ({name}, {second})[int(bool({test}))]")
    elif roll == 3:
        w.put(f"{other} = {{0: {name}, 1: {second}}}[int(bool({test}))]")
    else:
        w.put(f"{other} = {name} if {test} else {second}")
    w.bind(other, Kind("array", length))
    for _ in range(w.choose(1, 2)):
        store(w, w.choose(name, other), length)


@writes("statement", 2, "aliases")
def each_of(w):
    """A loop over arrays, some of them twice."""
    name, length = w.changed()
    names = w.arrays(length)
    picked = [w.rng.choice(names) for _ in range(w.choose(2, 3))]
    item = w.fresh("v")
    with w.block(f"for {item} in ({', '.join(picked)}):"), w.scoped(in_loop=True) as scope:
        scope.variables[item] = Kind("array", length)
        store(w, w.choose(item, item, name), length)
        if w.chance(0.4):
            store(w, w.choose(item, name), length)


@writes("statement", 1.5, "aliases")
def same_twice(w):
    """One array bound to two names at once."""
    length = w.choose(2, 3)
    first, second = w.fresh("v"), w.fresh("v")
    w.put(
        w.choose(
            f"{first} = {second} = ({w.array(length, 2)}) * 1.0", f"({first}, {second}) = ({w.array(length, 1)},) * 2"
        )
    )
    w.bind(first, Kind("array", length))
    w.bind(second, Kind("array", length))
    store(w, w.choose(first, second), length)


@writes("statement", 1.5, "aliases")
def moving(w):
    """A name that goes from one array to another in a loop."""
    name, length = w.changed()
    names = w.arrays(length)
    here, target = w.fresh("v"), w.fresh("s")
    w.put(f"{here} = {name}")
    w.put(f"{target} = {w.leaf()}")
    w.bind(target, FLOAT)
    w.bind(here, Kind("array", length))
    with w.loop(f"for {w.counter()} in range({w.choose(2, 3)}):"):
        store(w, here, length)
        w.put(f"{target} += {here}[{w.place(length)}] * {w.leaf()}")
        w.put(f"{here} = {w.choose(w.rng.choice(names), f'{here}[::-1]', f'{here} * 1.0')}")
