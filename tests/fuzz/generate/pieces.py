"""Several views at once: rows of a matrix, parts of an array, what functions give that return many arrays."""

from tests.fuzz.generate.base import FLOAT, Kind, writes
from tests.fuzz.generate.loops import store
from tests.fuzz.generate.orders import matrix


@writes("statement", 4, "pieces")
def split(w):
    """Two parts of an array, by slices or by a function; a part or the whole changes."""
    name, length = w.changed(2)
    cut = w.rng.randint(1, length - 1)
    first, second = w.fresh("v"), w.fresh("v")
    forms = [
        f"{name}[:{cut}], {name}[{cut}:]",
        f"np.split({name}, [{cut}])",
        f"np.array_split({name}, [{cut}])",
        f"({name}[:{cut}], {name}[{cut}:])",
        f"np.hsplit({name}, [{cut}])",
        f"[{name}[:{cut}], {name}[{cut}:]]",
    ]
    w.put(f"{first}, {second} = {w.rng.choice(forms)}")
    w.bind(first, Kind("array", cut))
    w.bind(second, Kind("array", length - cut))
    for place, size in w.rng.sample([(name, length), (first, cut), (second, length - cut)], 2):
        store(w, place, size)


@writes("statement", 3, "pieces")
def rows(w):
    """A loop over the rows or columns of a matrix."""
    name, kind = matrix(w)
    row = w.fresh("v")
    across = w.chance(0.6)
    heads = [
        f"for {row} in {name}:",
        f"for k9, {row} in enumerate({name}):",
        f"for {row} in {name}[::-1]:",
        f"for {row} in list({name}):",
        f"for {row}, e9 in zip({name}, {name}[::-1]):",
    ]
    down = [f"for {row} in {name}.T:", f"for k9, {row} in enumerate({name}.T):", f"for {row} in np.transpose({name}):"]
    size = kind.length if across else kind.rows
    with w.block(w.rng.choice(heads if across else down)), w.scoped(in_loop=True) as scope:
        scope.variables[row] = Kind("array", size)
        for _ in range(w.choose(1, 2)):
            store(w, row, size)
        if w.chance(0.3):
            w.put(f"{name}[0, 0] {w.choose('=', '*=')} {w.number(1)}")


@writes("statement", 2, "pieces")
def unpacked(w):
    """The rows of a matrix under names."""
    name, kind = matrix(w)
    names = [w.fresh("v") for _ in range(kind.rows)]
    values = name, f"list({name})", f"[r for r in {name}]", f"{name}[:]"
    w.put(f"{', '.join(names)}{',' * (len(names) == 1)} = {w.rng.choice(values)}")
    for row in names:
        w.bind(row, Kind("array", kind.length))
    store(w, w.rng.choice(names), kind.length)
    if w.chance(0.5):
        w.put(f"{name}[{w.place(kind.rows)}] {w.choose('=', '*=', '+=')} {w.number(1)}")


@writes("statement", 3, "pieces")
def part_of_matrix(w):
    """A part of a matrix under a name: a block, a diagonal, what a mask picks."""
    name, kind = matrix(w)
    least = min(kind.rows, kind.length)
    part = w.fresh("v")
    forms = [
        (f"{name}.diagonal().copy()", least),
        (f"np.diag({name})", least),
        (f"{name}[-1, ::-1]", kind.length),
        (f"{name}[:, 0]", kind.rows),
        (f"{name}[0][::-1]", kind.length),
        (f"{name}.T[-1]", kind.rows),
        (f"{name}[(0, -1), 0]", 2),
        (f"np.take({name}, [0, 0], axis=1)[0]", 2),
        (f"{name}.swapaxes(0, 1)[0]", kind.rows),
        (f"np.concatenate([{name}[0], {name}[-1]])", 2 * kind.length),
        (f"np.einsum('ij->i', {name})", kind.rows),
        (f"np.einsum('ij->ij', {name})[0]", kind.length),
        (f"np.atleast_2d({name}[0])[0]", kind.length),
        (f"next(iter({name}))", kind.length),
        (f"np.stack([{name}[0], {name}[0]])[1]", kind.length),
    ]
    text, size = w.rng.choice(forms)
    w.put(f"{part} = {text}")
    w.bind(part, Kind("array", size))
    fixed = "diag" in text
    if not fixed:
        store(w, part, size)
    operator = w.operator()
    stores = [
        f"np.fill_diagonal({name}, {w.number(1)})",
        f"{name}[{name} > {w.constant()}] {operator} {w.stored(operator, w.number(1))}",
        f"{name}[0, :] {operator} {w.stored(operator, w.array(kind.length, 1))}",
        f"{name}[[0, -1]] *= {w.leaf()}",
        f"{name}[:1, 1:] {operator} {w.stored(operator, w.number(1))}",
        f"{name}[0], {name}[-1] = {name}[-1].copy(), {name}[0].copy()",
    ]
    w.put(w.rng.choice(stores))


@writes("statement", 2, "pieces")
def windows(w):
    """Neighbours of an array while it changes."""
    name, length = w.changed(3)
    left, right, total = w.fresh("v"), w.fresh("v"), w.fresh("s")
    w.put(f"{left}, {right} = {name}[:-1], {name}[1:]")
    forms = [
        f"{left}[:] = {left} * {right}",
        f"{right} -= {left} * {w.leaf()}",
        f"{left} += {right}",
        f"np.multiply({left}, {right}, out={right})",
        f"{left}[:], {right}[-1] = {right} * {w.leaf()}, {w.leaf()}",
        f"{right}[...] = {left}[::-1]",
    ]
    for _ in range(w.choose(1, 2)):
        w.put(w.rng.choice(forms))
    w.put(f"{total} = np.sum({left} * {right})")
    w.bind(total, FLOAT)
    w.bind(left, Kind("array", length - 1))
    w.bind(right, Kind("array", length - 1))
