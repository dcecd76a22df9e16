"""Helpers that return their argument, a view of it or a new array, and stores through what they return."""

from tests.fuzz.generate.base import FLOAT, Kind, writes


def call(w, length=None):
    """A call of a helper that returns an array, and its length; None where there is none."""
    found = [h for h in w.scope.helpers if isinstance(h.results, Kind) and length in (None, h.results.length)]
    if not found:
        return None
    helper = w.rng.choice(found)
    args = []
    for kind in helper.params:
        names = w.arrays(kind.length) if kind != FLOAT else []
        args.append(w.rng.choice(names) if names and w.chance(0.9) else value(w, kind))
    return f"{helper.name}({', '.join(args)})", helper.results.length


def value(w, kind):
    return w.number(1) if kind == FLOAT else w.array(kind.length, 0)


@writes("array", 2, "helpers")
def called(w, length, depth):
    found = call(w, length)
    return found[0] if found else w.array_smooth(length, depth)


@writes("statement", 4, "helpers")
def bound(w):
    """A name for what a helper returns."""
    found = call(w)
    if not found:
        return local_helper(w)
    name = w.fresh("v")
    w.put(f"{name} = {found[0]}")
    w.bind(name, Kind("array", found[1]))
    return None


@writes("statement", 3, "helpers")
def store_through(w):
    """A store into what a helper returns."""
    found = call(w)
    if not found:
        return local_helper(w)
    text, length = found
    operator = w.operator()
    place = w.choose(w.place(length), w.part(length)[0])
    w.put(f"{text}[{place}] {operator} {w.stored(operator, w.number(1))}")
    return None


@writes("statement", 1.5, "helpers")
def boxed(w):
    """A helper that returns its container, or a container of its arguments."""
    name, length = w.changed()
    box, helper = w.fresh("b"), w.fresh("h")
    test = w.test()
    forms = [
        f"lambda q: q if {test} else dict(q)",
        "lambda q: q",
        "lambda q: {**q}",
        f"lambda q: {{'w': q['w'] if {test} else q['w'] * 1.0}}",
    ]
    w.put(f"{helper} = {w.rng.choice(forms)}")
    w.put(f"{box} = {{'w': {name}}}")
    stores = [
        f"{helper}({box})['w'] = {w.array(length, 1)}",
        f"{helper}({box})['w'][{w.place(length)}] = {w.number(1)}",
        f"{helper}({box})['w'] *= {w.number(1)}",
    ]
    w.put(w.rng.choice(stores))
    w.bind(f"{box}['w']", Kind("array", length))


@writes("statement", 1.5, "helpers")
def local_helper(w):
    """A nested helper that returns its argument or a new array, and its use."""
    name, length = w.changed()
    helper = w.fresh("h")
    test = w.test()
    result = w.choose(
        "v", "v[:]", "v[::-1]", "v * 1.0", f"v if {test} else v * 1.0", "(v, v * 2.0)[0]", "np.asarray(v)"
    )
    if w.chance(0.4):
        with w.block(f"def {helper}(v):"):
            w.put(f"v{w.choose('[0]', '[...]', '')} {w.choose('*=', '+=')} {w.number(1)}")
            if w.chance(0.3):
                w.put(f"if {test}: return {w.choose('v', 'v.copy()')}")
            w.put(f"return {result}")
    else:
        w.put(f"{helper} = lambda v: {result}")
    other = w.fresh("v")
    w.put(f"{other} = {helper}({name})")
    w.bind(other, Kind("array", length))
    if w.chance(0.6):
        w.put(f"{w.choose(other, name)}[{w.place(length)}] {w.choose('=', '+=', '*=')} {w.number(1)}")
