"""Calls in all spellings: stars, keywords, ``reduce`` and ``map``, recursion, functions that are given functions."""

from tests.fuzz.generate.base import FLOAT, Kind, writes


@writes("statement", 3, "calls")
def starred(w):
    """A function of any arguments, that changes one of them."""
    name, length = w.changed()
    inner, result = w.fresh("g"), w.fresh("s")
    place = w.choose("0", ":", "-1")
    form = w.choose("args", "named", "both")
    head, call, held = {
        "args": ("*args", f"{w.choose('', '*')}", "args[0]"),
        "named": ("t=1.0, **named", "", "named['v']"),
        "both": ("first, *args, t=0.5, **named", "", "first"),
    }[form]
    with w.block(f"def {inner}({head}):"):
        w.put(f"{held}[{place}] {w.choose('*=', '+=', '=')} {w.number(1) if w.chance(0.5) else w.leaf()}")
        w.put(f"return np.sum({held}) * " + {"args": "args[-1]", "named": "t", "both": "t + sum(args)"}[form])
    t = w.number(1)
    calls = {
        "args": [f"{inner}({name}, {t})", f"{inner}(*({name}, {t}))", f"{inner}(*[{name}], {t})"],
        "named": [f"{inner}(v={name}, t={t})", f"{inner}(**{{'v': {name}, 't': {t}}})", f"{inner}(v={name})"],
        "both": [
            f"{inner}({name}, {t}, {w.leaf()})",
            f"{inner}({name}, t={t})",
            f"{inner}(*({name}, {w.leaf()}), t={t}, u=1.0)",
        ],
    }[form]
    w.put(f"{result} = {w.rng.choice(calls)}")
    w.bind(result, FLOAT)


@writes("statement", 2.5, "calls")
def recursive(w):
    """A function that calls itself with its array."""
    name, length = w.changed()
    inner, result = w.fresh("g"), w.fresh("s")
    with w.block(f"def {inner}(v, k):"):
        w.put(f"if k == 0: return {w.choose('np.sum(v)', 'v[0] * v[-1]', '0.0')}")
        before = w.chance(0.5)
        kept = w.choose("v[0]", "np.sum(v / 2.0)", "v[-1] ** 2")
        if w.chance(0.6):
            w.put(f"u = {kept}")
        else:
            w.put(f"u = {w.leaf()}")
        if before:
            w.put(f"v[{w.choose('k % ' + str(length), '0', ':')}] *= {w.leaf()}")
        w.put(f"r = {inner}({w.choose('v', 'v', 'v[::-1]', 'v * 0.5')}, k - 1)")
        if not before:
            w.put(f"v[k % {length}] += u * {w.leaf()}")
        w.put(f"return r {w.choose('+', '*')} u")
    w.put(f"{result} = {inner}({name}, {w.choose(1, 2, 3)})")
    w.bind(result, FLOAT)


@writes("statement", 2.5, "calls")
def handed_over(w):
    """A function that is given a function."""
    name, length = w.changed()
    apply, result = w.fresh("g"), w.fresh("v")
    change = w.choose(
        "lambda u: u * 2.0", f"lambda u: u + {w.leaf()}", "lambda u: u", "np.sin", "lambda u: u[::-1]", "np.asarray"
    )
    with w.block(f"def {apply}(h, v):"):
        if w.chance(0.5):
            w.put("r = h(v)")
            w.put(f"v[0] {w.choose('=', '*=')} {w.leaf()}")
            w.put("return r")
        else:
            w.put(f"return h({w.choose('v', 'h(v)', 'v * 1.0')})")
    w.put(f"{result} = {apply}({change}, {name})")
    w.bind(result, Kind("array", length))
    if w.chance(0.4):
        w.put(f"{w.choose(result, name)}[{w.place(length)}] *= {w.number(1)}")


@writes("statement", 2, "calls")
def mapped(w):
    """``map``, ``zip``, ``filter``, ``sorted``, ``enumerate`` over what changes."""
    name, length = w.changed()
    total = w.fresh("s")
    forms = [
        f"sum(map(lambda e: e * {w.leaf()}, {name}))",
        f"sum(p * q for p, q in zip({name}, {name}[::-1]))",
        f"sum(filter(lambda e: e > {w.constant()}, {name})) + 0.0",
        f"sum(sorted({name})[:2])",
        f"sum(k * e for k, e in enumerate({name}))",
        f"max({name}, key=lambda e: e * {w.leaf()})",
        f"sum([p * {w.leaf()} for p in list(map(abs, {name}))])",
        f"sum(e * q for e, q in zip({name}, map(np.sin, {name})))",
    ]
    w.put(f"{total} = {w.rng.choice(forms)}")
    w.bind(total, FLOAT)
    w.put(f"{name}[{w.place(length)}] {w.choose('=', '*=', '+=')} {w.number(1)}")


@writes("statement", 2, "calls")
def results(w):
    """A function that returns several arrays, among them its argument."""
    name, length = w.changed()
    inner = w.fresh("g")
    first, second = w.fresh("v"), w.fresh("v")
    with w.block(f"def {inner}(v, t):"):
        if w.chance(0.5):
            w.put(f"v {w.choose('*=', '+=')} t" if w.chance(0.5) else f"v[0] = t * {w.leaf()}")
        if w.chance(0.3):
            w.put(f"if t > {w.constant()}: return v, v")
        w.put("return " + w.choose("v, v * 2.0", "v, v", "v[::-1], v", "v.copy(), v", "v / 2.0, v"))
    w.put(f"{first}, {second} = {inner}({name}, {w.number(1)})")
    for each in (first, second):
        w.bind(each, Kind("array", length))
    w.put(f"{w.choose(first, second, name)}[{w.place(length)}] {w.choose('=', '*=', '+=')} {w.number(1)}")
