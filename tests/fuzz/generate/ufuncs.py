"""Every ufunc's ``at``, ``out=`` and ``where=``, with elements, lists, slices and masks."""

from tests.fuzz.generate.base import writes

BINARY = (
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "arctan2",
    "logaddexp",
    "divide",
)
UNARY = ("negative", "sin", "cos", "tanh", "square", "arctan", "exp", "absolute", "positive", "sinh")


def places(w, length):
    """Where a ufunc works, and how many elements that are (0: one)."""
    listed = [w.rng.randrange(-length, length) for _ in range(w.rng.randint(1, 4))]
    part, count = w.part(length)
    start, stop = w.choose((None, None), (0, 2), (1, None))
    mask = [w.chance(0.6) for _ in range(length)]
    named = [(part, count)] if part.isidentifier() else []
    return w.choose(
        (repr(listed), len(listed)),
        (repr(listed), len(listed)),
        (w.place(length), 0),
        (f"slice({start}, {stop})", len(range(length)[start:stop])),
        (f"np.array({mask})", sum(mask)),
        (f"({listed!r},)", len(listed)),
        *named,
    )


@writes("statement", 5, "ufuncs")
def at(w):
    name, length = w.changed()
    where, count = places(w, length)
    if w.chance(0.25):
        w.put(f"np.{w.rng.choice(UNARY)}.at({name}, {where})")
        return
    ufunc = w.rng.choice(BINARY + BINARY[:4])
    value = w.array(count, 1) if count and w.chance(0.6) else w.number(1)
    w.put(f"np.{ufunc}.at({name}, {where}, {w.stored('/=', value) if ufunc == 'divide' else value})")


@writes("statement", 1.5, "ufuncs")
def test_at(w):
    """At a mask that the values decide."""
    name, length = w.changed()
    ufunc = w.choose("add", "subtract", "multiply", "maximum", "minimum")
    test = f"{w.rng.choice(w.arrays(length))} {w.choose('<', '>')} {w.constant()}"
    w.put(f"np.{ufunc}.at({name}, {test}, {w.number(1)})")


@writes("statement", 2, "ufuncs")
def out(w):
    """Results written into an array, everywhere or in some places."""
    name, length = w.changed()
    target = w.rng.choice(w.arrays(length))
    first, second = w.array(length, 1), w.choose(name, w.array(length, 1))
    only = f", where={w.rng.choice(w.arrays(length))} > {w.constant()}" if w.chance(0.4) else ""
    forms = [
        f"np.{w.rng.choice(BINARY[:8])}({first}, {second}, out={target}{only})",
        f"np.{w.rng.choice(UNARY)}({second}, out={target}{only})",
        f"np.{w.rng.choice(UNARY)}({name}, {target})",
        f"np.copyto({target}, {second}{only})",
        f"np.putmask({target}, {name} > {w.constant()}, {first})",
        f"np.put({target}, [{w.rng.randrange(length)}], {w.number(1)})",
        f"np.cumsum({name}, out={target})",
        f"np.clip({name}, -0.9, 0.8, out={target})",
        f"np.place({target}, {name} > {w.constant()}, [{w.number(1)}])",
    ]
    w.put(w.rng.choice(forms))


@writes("statement", 1.5, "ufuncs")
def at_matrix(w):
    names = w.named("matrix")
    if not names:
        return w.new_matrix()
    name = w.rng.choice(names)
    kind = w.scope.variables[name]
    rows = [w.rng.randrange(kind.rows) for _ in range(2)]
    columns = [w.rng.randrange(kind.length) for _ in range(2)]
    where = w.choose(f"({rows}, {columns})", repr(rows), f"(slice(None), {columns[0]})", f"({rows[0]}, slice(None))")
    w.put(f"np.{w.choose(*BINARY[:6])}.at({name}, {where}, {w.number(1)})")
    return None
