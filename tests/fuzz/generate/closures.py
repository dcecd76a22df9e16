"""Closures that share arrays and variables: stores into what is captured, ``nonlocal``, default arguments."""

from tests.fuzz.generate.base import FLOAT, Kind, writes


@writes("statement", 3, "closures")
def changes_captured(w):
    """A nested function that changes an array around it; called now, and maybe again later."""
    name, length = w.changed()
    if not name.isidentifier():
        return defaults(w)
    inner = w.fresh("g")
    operator = w.operator()
    place = w.choose(w.place(length), w.part(length)[0], ":")
    with w.block(f"def {inner}(t):"):
        w.put(f"{name}[{place}] {operator} {w.stored(operator, f't * {w.leaf()}')}")
        w.put(f"return {w.choose(name, f'{name}[::-1]', f'{name} * 1.0', f'{name} / 2.0')}")
    result = w.fresh("v")
    w.put(f"{result} = {inner}({w.number(1)})")
    w.bind(result, Kind("array", length))
    if w.chance(0.4):
        w.put(f"{name}[{w.place(length)}] {w.choose('=', '*=')} {w.number(1)}")
    if w.chance(0.5):
        w.put(f"{inner}({w.leaf()})")
    return None


@writes("statement", 0.2, "closures")
def nonlocal_number(w):
    """A nested function that adds to a variable around it."""
    total, inner = w.fresh("s"), w.fresh("g")
    w.put(f"{total} = {w.leaf()}")
    with w.block(f"def {inner}(t):"):
        w.put(f"nonlocal {total}")
        w.put(w.choose(f"{total} += t", f"{total} = {total} * t", f"{total} = np.sin({total} + t)"))
        if w.chance(0.5):
            w.put(f"return {total} * {w.leaf()}")
    w.bind(total, FLOAT)
    if w.chance(0.5):
        with w.loop(f"for {w.counter()} in {w.range_text()}:"):
            w.put(f"{inner}({w.number(1)})")
    else:
        w.put(f"{inner}({w.number(1)})")
    if w.chance(0.5):
        w.put(f"{total} *= {w.leaf()}")
        w.put(f"{inner}({w.leaf()})")


@writes("statement", 0.2, "closures")
def nonlocal_array(w):
    """A nested function that binds an array around it anew, or changes it."""
    name, length = w.changed()
    held, inner = w.fresh("v"), w.fresh("g")
    w.put(f"{held} = {w.choose(name, f'{name}.copy()', f'{name} * 1.0')}")
    with w.block(f"def {inner}(t):"):
        w.put(f"nonlocal {held}")
        w.put(w.choose(f"{held} = {held} * t", f"{held} *= t", f"{held}[0] = t", f"{held} = {name}"))
    w.bind(held, Kind("array", length))
    before = w.fresh("kept")
    if w.chance(0.5):
        w.put(f"{before} = {held}{w.choose('', ' / 2.0', '[:]')}")
        w.bind(before, Kind("array", length))
    for _ in range(w.choose(1, 2)):
        w.put(f"{inner}({w.number(1)})")


@writes("statement", 2, "closures")
def defaults(w):
    """A nested function with an array as a default; the array or its name changes before the call."""
    name, length = w.changed()
    inner, result = w.fresh("g"), w.fresh("s")
    body = w.choose("np.sum(v * t)", "v[0] * t", "np.sum(v / 2.0) * t")
    if w.chance(0.4):
        with w.block(f"def {inner}(t, v={name}):"):
            w.put(f"v{w.choose('[0]', '')} {w.choose('*=', '+=')} t")
            w.put(f"return {body}")
    else:
        w.put(f"{inner} = lambda t, v={name}: {body}")
    operator = w.choose("*=", "=")
    if name.isidentifier() and name not in w.scope.fixed and w.chance(0.5):
        w.put(f"{name} {operator} {name} * {w.leaf()}" if operator == "=" else f"{name} *= {w.leaf()}")
    else:
        w.put(f"{name}[{w.place(length)}] {operator} {w.number(1)}")
    w.put(f"{result} = {inner}({w.number(1)})")
    w.bind(result, FLOAT)


@writes("statement", 1.5, "closures")
def made_in_loop(w):
    """Functions made in a loop and called after it."""
    name, length = w.changed()
    held, k = w.fresh("fs"), w.fresh("k")
    result = w.fresh("s")
    form = w.choose(
        f"lambda t, k={k}: {name}[k % {length}] * t",
        f"lambda t, k={k}: {name}[0] * t + k",
        f"lambda t, v={name}[{k} % {length}]: v * t",
    )
    w.put(f"{held} = [{form} for {k} in range({w.choose(1, 2, 3)})]")
    if w.chance(0.6):
        w.put(f"{name}[{w.place(length)}] {w.choose('=', '*=')} {w.number(1)}")
    w.put(f"{result} = sum([g({w.leaf()}) for g in {held}])")
    w.bind(result, FLOAT)
