"""Steps whose derivative is known: remainders in many spellings, and steps that serve as an index."""

from tests.fuzz.generate.base import FLOAT, INT, Kind, writes

STEPS = (
    "np.floor({0})",
    "math.floor({0})",
    "np.round({0})",
    "np.rint({0})",
    "np.trunc({0})",
    "round({0})",
    "int({0})",
    "np.ceil({0})",
    "float(int({0}))",
)
ARRAY_STEPS = ("np.floor({0})", "np.round({0})", "np.rint({0})", "np.trunc({0})", "np.ceil({0})")


@writes("number", 3, "steps")
def remainder(w, depth):
    """A number less a step of it, and scaled: ``(1.5 - a) + (a - np.floor(a))`` is the step alone again, which passes
    straight through."""
    x = f"({w.number(depth - 1)})"
    step = w.rng.choice(STEPS)
    period = w.choose("1.7", "2.0", "0.9", "(1.2 + 0.0)")
    offset = w.choose("0.3", "-0.45", "1.1")
    forms = [
        f"({x} - {step.format(x)})",
        f"({x} - {period} * {step.format(f'{x} / {period}')})",
        f"({x} % {period})",
        f"np.mod({x}, {period})",
        f"math.fmod({x}, {period})",
        f"({x} - {offset} - {period} * {step.format(f'({x} - {offset}) / {period}')})",
        f"(-{step.format(x)} + {x})",
        f"np.modf({x})[0]",
        f"divmod({x}, {period})[1]",
        f"np.remainder({x}, {period})",
    ]
    return f"(1.37 * {w.rng.choice(forms)})"


@writes("array", 3, "steps")
def array_remainder(w, length, depth):
    x = f"({w.array(length, depth - 1)})"
    step = w.rng.choice(ARRAY_STEPS)
    forms = [
        f"({x} - {step.format(x)})",
        f"({x} - 1.7 * {step.format(f'{x} / 1.7')})",
        f"({x} % 1.3)",
        f"np.modf({x})[0]",
        f"({x} - {x}.astype(int))",
    ]
    return f"(1.37 * {w.rng.choice(forms)})"


@writes("statement", 2, "steps")
def parts(w):
    """The step and what is left, under names."""
    whole, rest, t = w.fresh("whole"), w.fresh("s"), w.fresh("t")
    w.put(f"{t} = {w.number(2)}")
    w.put(f"{whole} = {w.rng.choice(STEPS).format(t)}")
    w.put(f"{rest} = {t} - {whole}")
    w.put(f"{rest} = 1.37 * {rest}")
    w.bind(rest, FLOAT)


@writes("statement", 2, "steps")
def kept(w):
    """The steps in an array of their own, and what is left."""
    whole, rest, t, k = w.fresh("whole"), w.fresh("v"), w.fresh("t"), w.fresh("k")
    length = w.choose(2, 3, 4)
    w.put(f"{t} = ({w.array(length, 2)}) * 1.0")
    w.put(f"{whole} = {w.choose(f'np.zeros({length})', f'np.empty_like({t})', f'{t}.copy()')}")
    step = w.rng.choice(ARRAY_STEPS)
    stores = [
        f"np.rint({t}, out={whole})",
        f"np.floor({t}, {whole})",
        f"{whole}[:] = {step.format(t)}",
        f"np.copyto({whole}, {step.format(t)})",
        f"for {k} in range({length}): {whole}[{k}] = {w.rng.choice(STEPS).format(f'{t}[{k}]')}",
    ]
    w.put(w.rng.choice(stores))
    forms = [
        f"{rest} = {t} - {whole}",
        f"{rest} = np.subtract({t}, {whole})",
        f"{rest} = {t}; {rest} -= {whole}",
        f"{rest} = np.zeros({length})\n    for {k} in range({length}): {rest}[{k}] = {t}[{k}] - {whole}[{k}]",
    ]
    for line in w.rng.choice(forms).split("\n"):
        w.put(line.strip())
    w.bind(rest, Kind("array", length))


@writes("statement", 2, "steps")
def held(w):
    """The steps in a list or a dict that a loop fills, and what is left."""
    whole, rest, t, k = w.fresh("whole"), w.fresh("v"), w.fresh("t"), w.fresh("k")
    length = w.choose(2, 3, 4)
    w.put(f"{t} = ({w.array(length, 2)}) * 1.0")
    step = w.rng.choice(STEPS)
    of_item, of_value = step.format(f"{t}[{k}]"), step.format("v")
    fills = [
        [f"{whole} = []", f"for {k} in range({length}): {whole}.append({of_item})"],
        [f"{whole} = []", f"for v in {t}: {whole}.append({of_value})"],
        [f"{whole} = [0.0] * {length}", f"for {k}, v in enumerate({t}): {whole}[{k}] = {of_value}"],
        [f"{whole} = {{}}", f"for {k} in range({length}): {whole}[{k}] = {of_item}"],
        [f"{whole} = [{of_value} for v in {t}]"],
        [f"{whole} = list(map({w.choose('math.floor', 'np.rint', 'int')}, {t}))"],
    ]
    for line in w.rng.choice(fills):
        w.put(line)
    ends = [f"np.array([{t}[{k}] - {whole}[{k}] for {k} in range({length})])"]
    ends += [f"{t} - np.array([{whole}[{k}] for {k} in range({length})])"] * 2
    w.put(f"{rest} = 1.37 * ({w.rng.choice(ends)})")
    w.bind(rest, Kind("array", length))


@writes("statement", 2, "steps")
def side_by_side(w):
    """Numbers beside their steps, in pairs, rows and columns."""
    rest, t, m, both = w.fresh("v"), w.fresh("t"), w.fresh("m"), w.fresh("both")
    length = w.choose(2, 3, 4)
    w.put(f"{t} = ({w.array(length, 2)}) * 1.0")
    step, of_array = w.rng.choice(STEPS), w.rng.choice(ARRAY_STEPS)
    forms = [
        [f"{both} = np.array([(v, {step.format('v')}) for v in {t}])", f"{rest} = {both}[:, 0] - {both}[:, 1]"],
        [f"{both} = np.array([[v, {step.format('v')}] for v in {t}])", f"{rest} = [p - q for p, q in {both}]"],
        [f"{both} = np.column_stack([{of_array.format(t)}, {t}])", f"{rest} = {both}[:, 1] - {both}[:, 0]"],
        [f"{both} = np.stack([{t}, {of_array.format(t)}], axis=-1)", f"{rest} = {both}[..., 0] - {both}[..., 1]"],
        [f"{rest} = {t} - np.vectorize({w.choose('math.floor', 'int', 'round')})({t})"],
        [f"{m} = {t}.reshape({length}, 1)", f"{rest} = {m}.ravel() - {of_array.format(m)}.reshape({length})"],
    ]
    outer = f"{m} = np.outer({t}, [1.0, 1.7])"
    rows = [
        f"{both} = [[{step.format('v')} for v in row] for row in {m}]",
        f"{both} = [[{step.format(f'{m}[i, j]')} for j in range(2)] for i in range({length})]",
    ]
    ends = [
        f"{rest} = ({m} - np.array({both}))[:, {w.choose(0, 1)}]",
        f"{rest} = np.array([{m}[i, 1] - {both}[i][1] for i in range({length})])",
    ]
    forms += [[outer, row, end] for row in rows for end in ends]
    for line in w.rng.choice(forms):
        w.put(line)
    w.put(f"{rest} = 1.37 * np.asarray({rest})")
    w.bind(rest, Kind("array", length))


SAME_PLACES = (
    "{0}", "np.flip({0})[::-1]", "np.reshape({0}, (1, {n}))[0]", "np.ravel(np.atleast_2d({0}))",
    "np.diag(np.diag({0}))", "np.pad({0}, 1)[1:-1]", "np.repeat({0}, 2)[::2]", "np.insert({0}, 0, 0.5)[1:]",
    "np.roll(np.roll({0}, 1), -1)", "np.append({0}, 0.5)[:-1]", "np.sum(np.diag({0}), axis=0)", "np.array(list({0}))",
    "np.vstack([{0}])[0]", "np.stack([{0}, {0}])[1]", "np.squeeze(np.expand_dims({0}, 0))",
    "np.array([v for v in {0}])", "np.take({0}, np.arange({n}))", "np.split(np.concatenate([{0}, {0}]), 2)[0]",
    "np.full((2, {n}), {0})[1]", "np.broadcast_to({0}, (3, {n}))[2]", "np.ones({n}) * {0}", "np.zeros({n}) + {0}",
    "np.tile({0}, 2)[:{n}]", "np.concatenate([{0}[:1], {0}[1:]])",
    "np.array([np.array([{0}]).T[k, 0] for k in range({n})])", "np.dstack([{0}, {0}])[0, :, 1]",
    "np.fliplr(np.array([{0}]))[0, ::-1]", "np.array([{0}[k] for k in range({n})])",
)
"""What gives the elements of an array of length ``n`` at their places, after they were somewhere else."""

MIXED = (
    "{0} - {1}", "np.subtract({0}, {1})", "np.diff(np.stack([{1}, {0}]), axis=0)[0]",
    "np.array([1.0, -1.0]) @ np.stack([{0}, {1}])", "np.sum([{0}, -{1}], axis=0)",
    "np.einsum('i,ij->j', np.array([1.0, -1.0]), np.array([{0}, {1}]))", "np.array([p - q for p, q in zip({0}, {1})])",
    "np.dot(np.column_stack([{0}, {1}]), np.array([1.0, -1.0]))", "np.add.reduce([{0}, np.negative({1})])",
)
"""Ways to write a difference of two arrays."""


@writes("statement", 3, "steps")
def moved(w):
    """An array and its steps, each by way of other places."""
    rest, t, whole = w.fresh("v"), w.fresh("t"), w.fresh("whole")
    length = w.choose(2, 3, 4)
    w.put(f"{t} = ({w.array(length, 2)}) * 1.0")
    step = w.rng.choice(ARRAY_STEPS)
    one, other, third = (w.rng.choice(SAME_PLACES) for _ in range(3))
    w.put(f"{whole} = {other.format(step.format(third.format(t, n=length)), n=length)}")
    w.put(f"{rest} = 1.37 * ({w.rng.choice(MIXED).format(one.format(t, n=length), whole)})")
    w.bind(rest, Kind("array", length))


@writes("statement", 1, "steps")
def of_a_long_sum(w):
    """What a sum of many terms leaves, written once or twice."""
    t, again, rest = w.fresh("t"), w.fresh("t"), w.fresh("s")
    total = " + ".join(f"np.sin({k} * {w.leaf()})" for k in range(1, w.choose(9, 28, 35)))
    w.put(f"{t} = {total}")
    w.put(f"{again} = {w.choose(t, f'{total} + 0.0', f'({t} + {w.leaf()})')}")
    step, period = w.rng.choice(STEPS), w.choose("1.0", "1.7", "0.9")
    forms = [f"{again} - {period} * {step.format(f'{again} / {period}')}", f"{again} % {period}"]
    forms.append(f"({again}) - {period} * {step.format(f'({again} - 0.3) / {period}')}")
    w.put(f"{rest} = 1.37 * ({w.rng.choice(forms)})")
    w.bind(rest, FLOAT)


@writes("statement", 2, "steps")
def displayed(w):
    """Different numbers side by side, and their steps."""
    rest, t, u, whole = w.fresh("v"), w.fresh("t"), w.fresh("t"), w.fresh("whole")
    w.put(f"{t}, {u} = {w.number(2)}, {w.number(2)}")
    step, of_array = w.rng.choice(STEPS), w.rng.choice(ARRAY_STEPS)
    both = w.choose(f"np.array([{t}, {u}])", f"np.stack([{t}, {u}])", f"(np.array([{t} / 1.7, {u} / 1.7]) * 1.7)")
    steps = [
        [f"{whole} = np.array([{step.format(t)}, {step.format(u)}])"],
        [f"{whole} = np.array([{step.format('v')} for v in [{t}, {u}]])"],
        [f"{whole} = {of_array.format(f'[{t}, {u}]')}"],
        [f"{whole} = np.zeros(2)", f"{whole}[0] = {step.format(t)}", f"{whole}[1] = {step.format(u)}"],
    ]
    for line in w.rng.choice(steps):
        w.put(line)
    w.put(f"{rest} = 1.37 * ({both} - {whole})")
    w.bind(rest, Kind("array", 2))


@writes("statement", 3, "steps")
def put_together(w):
    """Quotient and remainder, or three units of time, and the number that they make again."""
    t, q, r, target = w.fresh("t"), w.fresh("q"), w.fresh("r"), w.fresh("s")
    w.put(f"{t} = {w.number(2)}")
    period = w.choose("1.7", "2.0", "0.9")
    splits = [
        f"{q}, {r} = divmod({t}, {period})",
        f"{q}, {r} = np.divmod({t}, {period})",
        f"{q}, {r} = {t} // {period}, {t} % {period}",
        f"{r}, {q} = np.mod({t}, {period}), np.floor({t} / {period})",
        f"{q}, {r} = np.trunc({t} / {period}), math.fmod({t}, {period})",
    ]
    form = w.choose(0, 1, 2)
    if form == 0:
        w.put(w.rng.choice(splits))
        sums = [f"{q} * {period} + {r}", f"abs({q}) * {period} + abs({r})", f"{q} * {period} + {r} % {period}"]
        sums += [f"np.prod([{q}, {period}]) + {r}", f"np.max([{q}]) * {period} + np.nan_to_num({r})"]
        w.put(f"{target} = {w.rng.choice(sums)}")
    elif form == 1:
        m = w.fresh("q")
        hours = w.choose(
            [f"{q} = {t} // 3.6", f"{m} = {t} % 3.6 // 0.6", f"{r} = {t} % 0.6"],
            [f"{q} = {t} // 0.6 // 6", f"{m} = {t} // 0.6 % 6", f"{r} = {t} % 0.6"],
            [f"{m}, {r} = divmod({t}, 0.6)", f"{q}, {m} = divmod({m}, 6)"],
            [f"{q}, {r} = divmod({t}, 3.6)", f"{m}, {r} = divmod({r}, 0.6)"],
        )
        for line in hours:
            w.put(line)
        w.put(f"{target} = {q} * 3.6 + {m} * 0.6 + {r}")
    else:
        w.put(f"{r}, {q} = np.modf({t})")
        w.put(f"{target} = {q} + {r}")
    w.bind(target, FLOAT)


@writes("statement", 3, "steps")
def looked_up(w):
    """Linear interpolation by hand: the step is an index, and what is left the weight."""
    names = [n for n in w.named("array") if w.scope.variables[n].length > 1]
    if not names:
        length = w.choose(2, 3, 4)
        name = w.fresh("v")
        w.put(f"{name} = {w.array(length, 1)}")
        w.bind(name, Kind("array", length))
    else:
        name = w.rng.choice(names)
        length = w.scope.variables[name].length
    i, t, target = w.fresh("i"), w.fresh("t"), w.fresh("s")
    w.put(f"{t} = {length - 1} * (0.5 + 0.45 * np.sin({w.number(1)}))")
    forms = ["int({0})", "int(np.floor({0}))", "math.floor({0})", "min(int({0}), {1})"]
    w.put(f"{i} = {w.rng.choice(forms).format(t, length - 2)}")
    weight = f"({t} - {i})"
    w.put(
        f"{target} = "
        + w.choose(
            f"{name}[{i}] * (1.0 - {weight}) + {name}[{i} + 1] * {weight}",
            f"{name}[{i}] + ({name}[{i} + 1] - {name}[{i}]) * {weight}",
        )
    )
    w.bind(target, FLOAT)


@writes("statement", 1, "steps")
def counted(w):
    """A step that is a number of iterations."""
    total, c = w.fresh("s"), w.fresh("c")
    w.put(f"{c} = int(2.0 + abs(np.sin({w.number(1)})) * 1.9)")
    w.put(f"{total} = {w.leaf()}")
    w.bind(c, INT)
    w.scope.fixed.add(c)
    w.scope.variables.pop(c)
    with w.loop(f"for {w.counter()} in range({c}):"):
        w.put(f"{total} = {total} * {w.leaf()} + {w.number(1)}")
    w.bind(total, FLOAT)
