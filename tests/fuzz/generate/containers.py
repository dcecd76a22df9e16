"""Lists, dicts, tuples and deques that hold arrays which are changed later, through them or through other names."""

from tests.fuzz.generate.base import FLOAT, Kind, writes

KEYS = ("u", "w", "z")


def some_array(w):
    """An array that exists, a view or a copy of it, or a new one; and its length."""
    name, length = w.changed()
    roll = w.rng.random()
    if roll < 0.6:
        return name, length
    if roll < 0.7:
        return f"{name}[::-1]", length
    if roll < 0.8 and length > 1:
        return f"{name}[1:]", length - 1
    if roll < 0.9:
        return f"{name}.copy()", length
    return w.array(length, 2), length


def bind_box(w, name, lengths, keys):
    w.bind(name, Kind("box", len(lengths)))
    for key, length in zip(keys, lengths):
        w.bind(f"{name}[{key!r}]", Kind("array", length))


@writes("statement", 4, "containers")
def box(w):
    """Some arrays in a container; its items are then variables like others."""
    items, lengths = zip(*(some_array(w) for _ in range(w.rng.randint(1, 3))))
    name = w.fresh("b")
    form = w.choose("list", "list", "dict", "dict", "tuple", "deque", "nested", "default")
    text = ", ".join(items)
    keys = range(len(items))
    if form in ("dict", "default"):
        keys = KEYS[: len(items)]
        text = ", ".join(f"{key!r}: {item}" for key, item in zip(keys, items))
    shape = {
        "list": "[{}]",
        "dict": "{{{}}}",
        "tuple": "({},)",
        "deque": "collections.deque([{}])",
        "nested": "{{'q': [{}]}}",
        "default": "collections.defaultdict(list, {{{}}})",
    }[form]
    w.put(f"{name} = {shape.format(text)}")
    bind_box(w, name + "['q']" * (form == "nested"), lengths, keys)
    if form == "tuple":  # its items are changed, never replaced
        w.scope.fixed.update(f"{name}[{key!r}]" for key in keys)


def boxes(w):
    """Names of containers with their places: ``[(name, {place: kind})]``."""
    found = []
    for name in w.named("box"):
        places = {p: k for p, k in w.scope.variables.items() if p.startswith(name + "[") and k.name == "array"}
        if places:
            found.append((name, places))
    return found


def keyed(places):
    """Whether the places of a container are those of a dict."""
    return any("['" in place.rpartition("[")[0] + "[" + place.rpartition("[")[2] for place in places) and next(
        iter(places)
    ).endswith("']")


@writes("statement", 3, "containers")
def each_of_box(w):
    """A loop that changes every item of a container."""
    found = boxes(w)
    if not found:
        return box(w)
    name, places = w.rng.choice(found)
    item = w.fresh("v")
    least = min(kind.length for kind in places.values())
    if keyed(places):
        head = w.choose(f"for {item} in {name}.values():", f"for key, {item} in {name}.items():", f"for key in {name}:")
        changed = f"{name}[key]" if head.startswith("for key in") else item
    else:
        head = w.choose(
            f"for {item} in {name}:", f"for k9, {item} in enumerate({name}):", f"for {item} in list({name}):"
        )
        changed = item
    with w.block(head), w.scoped(in_loop=True):
        forms = [
            f"{changed} *= {w.number(1)}",
            f"{changed}[0] = {w.number(1)}",
            f"{changed}[...] = {changed} * {w.leaf()}",
            f"{changed} += {changed}[::-1] * {w.leaf()}",
            f"{changed}[{w.part(least)[0]}] += {w.leaf()}",
            f"np.multiply({changed}, {w.leaf()}, out={changed})",
        ]
        for _ in range(w.choose(1, 1, 2)):
            w.put(w.rng.choice(forms))
    return None


@writes("statement", 2, "containers")
def copied_box(w):
    """Another container with the same items, or with new ones."""
    found = boxes(w)
    if not found:
        return box(w)
    name, places = w.rng.choice(found)
    other = w.fresh("b")
    if keyed(places):
        forms = [
            "dict({0})",
            "{{**{0}}}",
            "{0}.copy()",
            "{{k: v for k, v in {0}.items()}}",
            "{0} | {{}}",
            "{{k: v * 1.0 for k, v in {0}.items()}}",
            "{0}",
        ]
    else:
        forms = [
            "list({0})",
            "[*{0}]",
            "[v for v in {0}]",
            "{0}",
            "[v * 1.0 for v in {0}]",
            "tuple({0})",
            "list(reversed(list({0})))[::-1]",
        ]
    form = w.rng.choice(forms)
    w.put(f"{other} = {form.format(name)}")
    w.bind(other, Kind("box", len(places)))
    for place, kind in places.items():
        w.bind(other + place[len(name) :], kind)
        if form.startswith("tuple") or place in w.scope.fixed:
            w.scope.fixed.add(other + place[len(name) :])
    return None


@writes("statement", 1.5, "containers")
def item_out(w):
    """An item under a name of its own: unpacked, taken out, or got by a method."""
    found = boxes(w)
    if not found:
        return box(w)
    name, places = w.rng.choice(found)
    place, kind = w.rng.choice(list(places.items()))
    target = w.fresh("v")
    forms = [f"{target} = {place}"]
    if keyed(places):
        key = place.rpartition("[")[2][:-1]
        forms += [f"{target} = {name}.get({key})", f"{target} = {name}.setdefault({key}, {place} * 2.0)"]
    elif list(places) == [f"{name}[{k}]" for k in range(len(places))]:
        rest = w.fresh("r")
        first = next(iter(places.items()))
        kind, forms = (
            first[1],
            [f"{target}, *{rest} = {name}", f"{target} = next(iter({name}))", f"{target} = {name}[0]"],
        )
    w.put(w.rng.choice(forms))
    w.bind(target, kind)
    return None


@writes("statement", 1.5, "containers")
def item_replaced(w):
    """Another array in the place of an item."""
    found = [(n, p) for n, p in boxes(w) if not any(place in w.scope.fixed for place in p)]
    if not found:
        return box(w)
    name, places = w.rng.choice(found)
    place, kind = w.rng.choice(list(places.items()))
    names = [n for n in w.arrays(kind.length) if n != place]
    value = w.rng.choice(names) if names and w.chance(0.6) else w.array(kind.length, 2)
    if keyed(places) and w.chance(0.3):
        w.put(f"{name}.update({{{place.rpartition('[')[2][:-1]}: {value}}})")
    else:
        w.put(f"{place} = {value}")
    return None


@writes("statement", 2.5, "containers")
def history(w):
    """A list that is filled in a loop, with an array that goes on changing."""
    name, length = w.changed()
    hist = w.fresh("hist")
    w.put(f"{hist} = {w.choose('[]', '[]', 'collections.deque()')}")
    with w.loop(f"for {w.counter()} in range({w.choose(1, 2, 3)}):"):
        for _ in range(w.choose(1, 2, 2)):
            operator = w.operator(plain=0.2)
            value = w.stored(operator, w.number(1))
            place = w.choose("", "", f"[{w.place(length)}]", "[:]")
            if operator == "=" and not place:
                place = "[:]"
            w.put(f"{name}{place} {operator} {value}")
        item = w.choose(name, name, name, f"{name}[:]", f"{name}.copy()", f"({name}, {w.leaf()})", f"{{'h': {name}}}")
        w.put(f"{hist}.append({item})")
        if w.chance(0.3):
            w.body(1)
    read = "h[0]" if item.startswith("(") else "h['h']" if item.startswith("{") else "h"
    target = w.target(FLOAT, 0.3)
    forms = [
        f"{target} = sum(np.sum({read} * {w.leaf()}) for h in {hist})",
        f"{target} = sum([np.sum({read} * {read}) for h in {hist}])",
        f"{target} = np.sum({read.replace('h', hist + '[0]', 1)} * {read.replace('h', hist + '[-1]', 1)})",
    ]
    w.put(w.rng.choice(forms))
    w.bind(target, FLOAT)
