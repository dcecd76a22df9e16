"""Orders of memory: Fortran inputs, ``order=``, transposes, ``ravel`` and ``reshape`` that copy or do not."""

from tests.fuzz.generate.base import Kind, writes

ORDERS = "CFAK"


def matrix(w):
    """The name and kind of a matrix; a new one where there is none."""
    names = w.named("matrix")
    if not names:
        w.new_matrix()
        names = w.named("matrix")
    name = w.rng.choice(names)
    return name, w.scope.variables[name]


@writes("statement", 3, "orders")
def another_order(w):
    """A matrix in another order, or seen in another way."""
    name, kind = matrix(w)
    target = w.fresh("m")
    order = w.choose(*ORDERS)
    same = [
        "np.asfortranarray({0})",
        "np.ascontiguousarray({0})",
        "{0}.copy(order='{1}')",
        "np.array({0}, order='{1}')",
        "{0}[::-1]",
        "{0}[:, ::-1]",
        "np.copy({0}, order='{1}')",
        "np.asarray({0}, order='F')",
        "np.require({0}, requirements='F')",
        "{0} * 1.0",
        "{0}",
    ]
    turned = [
        "{0}.T",
        "np.transpose({0})",
        "{0}.T.copy(order='{1}')",
        "np.swapaxes({0}, 0, 1)",
        "{0}.reshape({2}, {3})",
        "{0}.reshape({2}, {3}, order='{1}')",
        "np.reshape({0}, ({2}, {3}), order='{1}')",
        "np.moveaxis({0}, 0, 1)",
    ]
    turns = w.chance(0.5)
    form = w.rng.choice(turned if turns else same)
    if "reshape" in form and order == "K":
        order = "F"
    w.put(f"{target} = {form.format(name, order, kind.length, kind.rows)}")
    w.bind(target, Kind("matrix", kind.rows, kind.length) if turns else kind)


@writes("statement", 4, "orders")
def flat(w):
    """All elements in a row: a view or a copy, by the order of the memory."""
    name, kind = matrix(w)
    order = w.choose(*ORDERS)
    size = kind.rows * kind.length
    target = w.fresh("v")
    forms = [
        f"{name}.ravel(order='{order}')",
        f"np.ravel({name}, order='{order}')",
        f"{name}.flatten(order='{order}')",
        f"{name}.reshape(-1, order='{order.replace('K', 'A')}')",
        f"{name}.ravel()",
        f"{name}.T.ravel()",
        f"{name}.T.reshape(-1)",
        f"{name}.reshape(-1)",
        f"{name}.flatten()",
        f"np.array(list({name}.flat))",
        f"np.concatenate({name})",
        f"np.hstack(list({name}))",
    ]
    step = w.choose("", "", "", "[::2]", "[1:]", f"[::{size - 1}]" if size > 1 else "")
    w.put(f"{target} = {w.rng.choice(forms)}{step}")
    start, every = (1, 1) if step == "[1:]" else (0, int(step.strip("[:]") or 1) if step else 1)
    w.bind(target, Kind("array", len(range(size)[start::every])))
    if w.chance(0.4):
        w.scope.fixed.add(target)


@writes("statement", 3, "orders")
def change(w):
    """The whole, a row or a column of a matrix changes."""
    name, kind = matrix(w)
    operator = w.operator()
    across, down = w.array(kind.length, 1), w.array(kind.rows, 1)
    forms = [
        f"{name}[...] {operator} {w.stored(operator, across)}",
        f"{name}[:, 0] {operator} {w.stored(operator, down)}",
        f"{name}.T[0] {operator} {w.stored(operator, down)}",
        f"{name}.flat[0] = {w.number(1)}",
        f"{name}[0] {operator} {w.stored(operator, across)}",
        f"{name}.ravel()[0] {operator} {w.stored(operator, w.number(1))}",
        f"{name}.T[...] {operator} {w.stored(operator, down)}",
        f"{name}.ravel(order='F')[-1] {operator} {w.stored(operator, w.number(1))}",
    ]
    if name not in w.scope.fixed and operator != "=":
        forms += [
            f"{name} {operator} {w.stored(operator, f'({down})[:, None]')}",
            f"{name} {operator} {w.stored(operator, across)}",
        ] * 2
    w.put(w.rng.choice(forms))


@writes("number", 1, "orders")
def weighted(w, depth):
    """A number in which the places of the elements matter."""
    names = w.named("matrix")
    if not names:
        return w.leaf()
    name = w.rng.choice(names)
    kind = w.scope.variables[name]
    size = kind.rows * kind.length
    flat = w.choose(
        f"{name}.ravel(order='{w.choose(*ORDERS)}')",
        f"np.ravel({name}.T)",
        f"{name}.reshape(-1)",
        f"{name}.flatten('F')",
        f"np.reshape({name}, -1, order='{w.choose(*'CFA')}')",
    )
    return f"np.sum(np.arange(1.0, {size + 1}) * {flat})"
