"""Objects that share arrays: of a class with methods, and ``types.SimpleNamespace``."""

from tests.fuzz.generate.base import FLOAT, Kind, writes


def instances(w):
    """Names of the objects of the class that programs have, with the kinds of their arrays."""
    held = w.scope.variables
    return [n for n in w.named("box") if f"{n}.a" in held and f"{n}.b" in held and not n.startswith("ns")]


@writes("statement", 4, "objects")
def made(w):
    """An object that refers to two arrays, maybe one and the same."""
    (first, size), (second, other) = w.changed(), w.changed()
    plain = w.chance(0.25)
    name = w.fresh("ns" if plain else "o")
    values = [w.choose(first, first, f"{first}.copy()"), w.choose(second, first if size == other else second, second)]
    if plain:
        w.put(f"{name} = types.SimpleNamespace(a={values[0]}, b={values[1]})")
    else:
        w.put(f"{name} = Box({values[0]}, {values[1]})")
    w.bind(name, Kind("box", 2))
    w.bind(f"{name}.a", Kind("array", size))
    w.bind(f"{name}.b", Kind("array", other))


@writes("statement", 4, "objects")
def method(w):
    """A call of a method that changes the object or its array."""
    names = instances(w)
    if not names:
        return made(w)
    name = w.rng.choice(names)
    size = w.scope.variables[f"{name}.a"].length
    same = w.scope.variables[f"{name}.a"] == w.scope.variables[f"{name}.b"]
    forms = [
        f"{name}.grow({w.number(1)})",
        f"{name}.put({w.place(size)}, {w.number(1)})",
        f"{name}.renew({w.number(1)})",
        f"{name}.grow({w.leaf()}).grow({w.leaf()})",
        f"{name}.get()[{w.place(size)}] = {w.number(1)}",
        f"{name}.get()[...] *= {w.leaf()}",
        f"{name}.put(slice(None), {w.array(size, 1)})",
        f"setattr({name}, 'a', {w.array(size, 1)})",
    ]
    if same:
        forms += [f"{name}.swap()", f"{name}.a, {name}.b = {name}.b, {name}.a"]
    w.put(w.rng.choice(forms))
    return None


@writes("statement", 2, "objects")
def shared(w):
    """A second name, a second object, or an array out of an object."""
    names = instances(w)
    if not names:
        return made(w)
    name = w.rng.choice(names)
    kinds = [w.scope.variables[f"{name}.{part}"] for part in "ab"]
    other = w.fresh("o")
    roll = w.rng.randrange(4)
    if roll == 0:
        target = w.fresh("v")
        w.put(f"{target} = {name}.{w.choose('get()', 'a')}")
        w.bind(target, kinds[0])
        return None
    if roll == 1 and len(names) > 1 and kinds[0] == w.scope.variables[f"{names[0]}.a"]:
        w.put(f"{other} = {name} if {w.test()} else {names[0]}")
        kinds[1] = kinds[1] if kinds[1] == w.scope.variables[f"{names[0]}.b"] else None
    elif roll == 2:
        w.put(f"{other} = Box({name}.a, {name}.b)")
    else:
        w.put(f"{other} = {name}")
    w.bind(other, Kind("box", 2))
    for part, kind in zip("ab", kinds):
        if kind:
            w.bind(f"{other}.{part}", kind)
    return None


@writes("statement", 1.5, "objects")
def read(w):
    names = instances(w)
    if not names:
        return made(w)
    name = w.rng.choice(names)
    target = w.fresh("s")
    w.put(f"{target} = {w.choose(f'{name}.total', f'np.sum({name}.get() / 2.0)', f'np.sum({name}.b) * {name}.a[0]')}")
    w.bind(target, FLOAT)
    return None


@writes("statement", 1.5, "objects")
def looped(w):
    """An object changed in each iteration."""
    names = instances(w)
    if not names:
        return made(w)
    name = w.rng.choice(names)
    with w.loop(f"for {w.counter()} in {w.range_text()}:"):
        for _ in range(w.choose(1, 2)):
            method(w)
        if w.chance(0.4):
            w.body(1)
    return None
