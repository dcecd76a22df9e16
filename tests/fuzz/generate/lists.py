"""Lists, dicts and deques of numbers that change: methods, slices, aliases, copies, in branches and loops."""

from tests.fuzz.generate.base import FLOAT, Kind, writes


def held(w):
    """The name of a list and how many numbers are certainly in it; a new one where there is none."""
    names = [n for n in w.named("list") if n not in w.scope.fixed]
    if not names:
        w.assign_list()
        names = [n for n in w.named("list") if n not in w.scope.fixed]
    name = w.rng.choice(names)
    return name, w.scope.variables[name].length


@writes("statement", 5, "lists")
def changed(w):
    """An element, a slice, or the whole list changes; its length does not."""
    name, length = held(w)
    k, j = w.place(length), w.place(length)
    operator = w.operator()
    forms = [f"{name}[{k}] {operator} {w.stored(operator, w.number(2))}"] * 3
    forms += [f"{name}[{k}] = {name}[{j}] * {w.leaf()}", f"{name}[:] = [e * {w.leaf()} for e in {name}]",
              f"{name}[{k}], {name}[{j}] = {name}[{j}], {name}[{k}]", f"{name}.reverse()",
              f"{name}.append({name}.pop({w.choose('', '0')}) * {w.leaf()})", f"{name}[0:1] = [{w.number(1)}]",
              f"{name}.insert(0, {name}.pop())", f"{name}.extend([{name}.pop()])",
              f"{name} += [{name}.pop(0) + {w.leaf()}]"]  # fmt: skip
    w.put(w.rng.choice(forms))


@writes("statement", 2, "lists")
def grown(w):
    """The list gets longer."""
    name, length = held(w)
    if w.scope.in_loop:
        return changed(w)
    forms = [
        f"{name}.append({w.number(2)})",
        f"{name} += [{w.number(1)}]",
        f"{name}.insert({w.rng.randrange(length)}, {w.number(1)})",
        f"{name}.extend(e * {w.leaf()} for e in {name}[:1])",
        f"{name}[1:1] = [{w.leaf()}]",
        f"{name}[len({name}):] = [{w.leaf()}]",
    ]
    w.put(w.rng.choice(forms))
    w.bind(name, Kind("list", length + 1))
    return None


@writes("statement", 2, "lists")
def other_name(w):
    """The same list under another name, or a copy; one of them changes."""
    name, length = held(w)
    other = w.fresh("l")
    w.put(
        f"{other} = "
        + w.choose("{0}", "{0}", "list({0})", "{0}[:]", "{0}.copy()", "[*{0}]", "[e for e in {0}]").format(name)
    )
    w.bind(other, Kind("list", length))
    w.put(f"{w.choose(name, other)}[{w.place(length)}] {w.choose('=', '+=', '*=')} {w.number(1)}")


@writes("statement", 2, "lists")
def chosen(w):
    """One list or another by a condition."""
    name, length = held(w)
    names = [n for n in w.named("list") if w.scope.variables[n].length == length]
    other = w.fresh("l")
    w.put(f"{other} = {name} if {w.test()} else {w.choose(f'list({name})', w.rng.choice(names))}")
    w.bind(other, Kind("list", length))
    w.put(f"{w.choose(name, other)}[{w.place(length)}] {w.choose('=', '+=', '*=')} {w.number(1)}")


@writes("statement", 3, "lists")
def filled(w):
    """A list that a loop fills, often in some iterations only; read in another one."""
    name, total, e = w.fresh("hist"), w.fresh("s"), w.fresh("e")
    w.put(f"{name} = {w.choose('[]', '[]', '[]', f'[{w.leaf()}]', 'collections.deque()')}")
    with w.loop(f"for {w.counter()} in {w.range_text()}:"):
        w.carried()
        if w.chance(0.4):
            with w.block(f"if {w.test()}:"):
                w.put(w.choose("continue", f"{name}.append({w.leaf()})", "break"))
        w.put(f"{name}.append({w.number(2)})")
    forms = [
        f"sum({name})",
        f"sum({e} * {w.leaf()} for {e} in {name})",
        f"({name}[-1] if {name} else {w.leaf()})",
        f"sum([{e} ** 2 for {e} in {name}])",
        f"np.sum(np.array({name}, dtype=float))",
        f"float(len({name}))",
    ]
    w.put(f"{total} = {w.rng.choice(forms)}")
    w.bind(total, FLOAT)


@writes("statement", 3, "lists")
def counted(w):
    """A dict that adds up under keys."""
    name, k, total = w.fresh("d"), w.fresh("k"), w.fresh("s")
    w.put(f"{name} = {{0: {w.leaf()}, 1: {w.choose('0.0', w.leaf())}}}")
    with w.loop(f"for {k} in range({w.choose(2, 3, 4)}):") as scope:
        scope.variables[k] = Kind("int")
        key = f"{k} % 2"
        forms = [f"{name}[{key}] = {name}[{key}] {w.choose('+', '*')} {w.number(1)}", f"{name}[{key}] += {w.number(1)}"]
        if w.chance(0.15):  # keys that are not known: refused
            forms = [f"{name}['uw'[{k} % 2]] = {name}.get('uw'[{k} % 2], {w.leaf()}) + {w.number(1)}"]
        w.put(w.rng.choice(forms))
        if w.chance(0.3):
            w.put(f"{name}[{key}] *= {w.leaf()}")
    forms = ["sum({0}.values())", "sum(v * v for v in {0}.values())", "max({0}.values())", "{0}[0] * {0}[1]"]
    w.put(f"{total} = {w.rng.choice(forms).format(name)}")
    w.bind(total, FLOAT)


@writes("statement", 2, "lists")
def nested(w):
    """A list of lists with rows that may be one and the same."""
    name, row, total = w.fresh("t"), w.fresh("l"), w.fresh("s")
    w.put(f"{row} = [{w.leaf()}, {w.number(1)}]")
    w.bind(row, Kind("list", 2))
    w.put(
        f"{name} = "
        + w.choose(
            f"[{row}, {row}]",
            f"[{row}, list({row})]",
            f"[{row}] * 2",
            "[[0.0] * 2 for _ in range(2)]",
            f"[{row}[:], {row}]",
        )
    )
    for _ in range(w.choose(1, 2)):
        w.put(f"{name}[{w.choose(0, 1)}][{w.choose(0, 1)}] {w.choose('=', '+=', '*=')} {w.number(1)}")
    if w.chance(0.4):
        w.put(f"{row}[0] = {w.number(1)}")
    w.put(f"{total} = sum([sum(r) * {w.leaf()} for r in {name}])")
    w.bind(total, FLOAT)


@writes("statement", 1.5, "lists")
def helper(w):
    """A function that changes the list that it is given."""
    name, length = held(w)
    inner = w.fresh("g")
    with w.block(f"def {inner}(q, t):"):
        if w.chance(0.3):
            w.put(f"if t > {w.constant()}: return {w.choose('q', 't', 'None')}")
        w.put(w.choose("q[0] = t", "q[-1] *= t", "q.append(q.pop(0) * t)", "q.reverse()", "q[:] = [e * t for e in q]"))
        w.put(f"return {w.choose('q', 'sum(q)', 'q[0]')}")
    for _ in range(w.choose(1, 2)):
        w.put(f"{inner}({name}, {w.number(1)})")


@writes("statement", 2, "lists")
def kept_iterator(w):
    """An iterator in a list, a dict, a tuple or a name: what is read of it twice is nothing the second time."""
    held, item, total = w.fresh("it"), w.fresh("e"), w.fresh("s")
    names = [n for n in w.named("list", "array") if w.scope.variables[n].length]
    over = w.choose(w.rng.choice(names) if names else "[]", f"[{w.number(1)}, {w.leaf()}]")
    made = w.choose(
        f"filter(None, {over})", f"map(lambda t: t * {w.leaf()}, {over})", f"iter({over})", f"reversed({over})"
    )
    place = w.choose(f"{held}", f"{held}[0]", f"{held}['i']", f"{held}[-1]")
    if place == held:
        w.put(f"{held} = {made}")
    elif place.endswith("['i']"):
        w.put(f"{held} = {{}}")
        w.put(f"{place} = {made}")
    elif place.endswith("[-1]"):
        w.put(f"{held} = []")
        w.put(f"{held}.append({made})")
    else:
        w.put(f"{held} = {w.choose(f'[{made}]', f'({made}, 1.0)')}")
    w.put(f"{total} = sum({place})")
    w.put(f"{total} = {total} + {w.choose(f'3.0 * sum({place})', f'sum({item} * {item} for {item} in {place})')}")
    w.bind(total, FLOAT)
