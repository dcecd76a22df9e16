"""Stores made in tests: helpers that change an array while a condition is asked."""

from tests.fuzz.generate.base import FLOAT, writes


def changing(w, name, length):
    """The name of a new nested function that changes its argument, or the array around it, and returns a number."""
    inner = w.fresh("g")
    factor = w.constant()
    with w.block(f"def {inner}(v):"):
        operator = w.choose("*=", "+=", "=")
        place = w.choose(w.place(length), ":", "")
        if operator == "=" and not place:
            place = ":"
        w.put(
            f"v{f'[{place}]' if place else ''} {operator} {factor}" + w.choose("", " * v[0]" if operator == "=" else "")
        )
        w.put(f"return {w.choose('v[0]', 'np.sum(v)', 'v[-1] * 2.0', 'np.max(v)')}")
    return inner


@writes("statement", 5, "conditions")
def tested(w):
    name, length = w.changed()
    inner = changing(w, name, length)
    test = f"{inner}({name}) {w.choose('<', '>')} {w.constant()}"
    test = w.choose(
        test, test, f"{test} and {w.test()}", f"{w.test()} and {test}", f"{w.test()} or {test}", f"not {test}"
    )
    target = w.target(FLOAT, 0.5)
    if target not in w.scope.variables:
        w.put(f"{target} = {w.leaf()}")
        w.bind(target, FLOAT)
    roll = w.rng.randrange(7)
    if roll == 0:
        with w.block(f"if {test}:"):
            w.put(f"{target} = {w.number(2)}")
        if w.chance(0.5):
            with w.block("else:"):
                w.put(f"{name}[{w.place(length)}] = {w.number(1)}")
    elif roll == 1:
        c = w.fresh("c")
        w.put(f"{c} = 0")
        with w.block(f"while {c} < {w.choose(1, 2, 3)} and {test}:"):
            w.put(f"{c} += 1")
            if w.chance(0.6):
                w.put(f"{target} += {name}[{w.place(length)}] * {w.leaf()}")
    elif roll == 2:
        w.put(f"{target} = {w.number(1)} if {test} else {w.number(1)}")
    elif roll == 3:
        w.put(f"{target} = sum([{name}[0] * {w.leaf()} for _ in range({w.choose(1, 2, 3)}) if {test}]) + {w.leaf()}")
    elif roll == 4:
        k = w.fresh("k")
        with w.block(f"for {k} in range({w.choose(2, 3)}):"):
            with w.block(f"if {test}:"):
                w.put(w.choose("break", "continue"))
            w.put(f"{target} += {name}[{w.place(length)}] * {w.leaf()}")
    elif roll == 5:
        w.put(f"assert ({test}) is not None")
    else:
        w.put(f"{target} = max({inner}({name}), {w.constant()}) * {w.leaf()}")
    w.bind(target, FLOAT)


@writes("statement", 2, "conditions")
def in_expression(w):
    """A call that stores, between two reads of the array in one expression."""
    name, length = w.changed()
    inner = changing(w, name, length)
    target = w.fresh("s")
    place, other = w.place(length), w.place(length)
    forms = [
        f"{name}[{place}] * {inner}({name}) + {name}[{other}]",
        f"np.sum({name}) + {inner}({name}) * np.sum({name})",
        f"np.sum({name} * {inner}({name}))",
        f"np.sum([{name}[{place}], {inner}({name}), {name}[{other}]])",
        f"sum(({name}[{place}], {inner}({name}))) * {name}[{other}]",
    ]
    w.put(f"{target} = {w.rng.choice(forms)}")
    w.bind(target, FLOAT)


@writes("statement", 1, "conditions")
def chained(w):
    """``a[f(a)] = g(a)``: the order in which a store evaluates."""
    name, length = w.changed()
    inner = changing(w, name, length)
    k = w.fresh("i")
    with w.block(f"def {k}(v):"):
        w.put(f"v[0] *= {w.leaf()}")
        w.put(f"return {w.rng.randrange(length)}")
    operator = w.choose("=", "+=", "*=")
    w.put(f"{name}[{k}({name})] {operator} {inner}({name}) * {w.leaf()}")
