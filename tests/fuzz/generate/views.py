"""Views by indices that come from arguments, lists, dicts and conditionals, and views kept while the whole changes."""

from tests.fuzz.generate.base import Kind, writes


def index_text(w, length):
    """An index, and how many elements it picks: a slice, a list of integers, a mask."""
    roll = w.rng.random()
    if roll < 0.6:
        start, stop, step = w.choose(
            (None, None, None), (0, 2, None), (1, None, None), (None, -1, None), (None, None, 2), (None, None, -1)
        )
        count = len(range(length)[slice(start, stop, step)])
        if count:
            bounds = ":".join("" if bound is None else str(bound) for bound in (start, stop, step))
            return w.choose(f"slice({start}, {stop}, {step})", f"np.s_[{bounds}]"), count
        return "slice(None)", length
    if roll < 0.75:
        listed = w.rng.sample(range(length), w.rng.randint(1, length))
        return repr(listed), len(listed)
    if roll < 0.85:
        mask = [w.chance(0.6) for _ in range(length)]
        return f"np.array({mask})", sum(mask)
    return w.choose(("...", length), ("(slice(None),)", length))


@writes("statement", 2, "views")
def index(w):
    """A name for an index, chosen by a condition now and then."""
    _, length = w.changed()
    name = w.fresh("at")
    text, count = index_text(w, length)
    if w.chance(0.4):
        for _ in range(8):
            other, again = index_text(w, length)
            if again == count:
                break
        else:
            other = text
        form = w.choose(
            "{0} if {2} else {1}",
            "({0}, {1})[n % 2]" if "n" in w.scope.variables else "[{0}, {1}][0]",
            "{{True: {0}, False: {1}}}[bool({2})]",
        )
        text = form.format(text, other, w.test())
    w.put(f"{name} = {text}")
    w.bind(name, Kind("index", length, count))


@writes("statement", 3, "views")
def kept_view(w):
    """A view under a name that nothing assigns again."""
    name, length = w.changed()
    part, count = w.part(length)
    if not count:
        return index(w)
    kept = w.fresh("kept")
    w.put(f"{kept} = {name}[{part}]")
    w.bind(kept, Kind("array", count))
    w.scope.fixed.add(kept)
    return None


@writes("statement", 3, "views")
def store_through_index(w):
    """What is stored reads the same places."""
    name, length = w.changed()
    part, count = w.part(length)
    forms = [
        "{0}[{1}] = {0}[{1}] * {0}[{1}]",
        "{0}[{1}] *= {0}[{1}]",
        "{0}[{1}] = np.sin({0}[{1}]) * {2}",
        "{0}[{1}] += {2} * {0}[{1}]",
        "{0}[{1}] = {0}[{1}][::-1]",
        "{0}[{1}] /= 1.5 + {0}[{1}] ** 2",
    ]
    w.put(w.rng.choice(forms).format(name, part, w.number(1)))


@writes("statement", 2.5, "views")
def each_index(w):
    """A loop over indices in a list, a tuple or a dict."""
    name, length = w.changed()
    items = [index_text(w, length)[0] for _ in range(w.rng.randint(1, 3))]
    held, k = w.fresh("ks"), w.fresh("k")
    keyed = w.chance(0.3)
    if keyed:
        w.put(f"{held} = {{{', '.join(f'{key}: {item}' for key, item in enumerate(items))}}}")
    else:
        w.put(f"{held} = {w.choose('[{}]', '({},)').format(', '.join(items))}")
    with w.loop(f"for {k} in {held}{'.values()' * keyed}:") as scope:
        scope.variables.pop(k, None)
        if w.chance(0.4):
            view = w.fresh("v")
            w.put(f"{view} = {name}[{k}]")
            changed = w.choose(name, f"{view}[0:1]")
            w.put(f"{changed} {w.choose('*=', '+=')} {w.number(1)}")
            w.put(f"{name}[0] += np.sum({view} * {w.leaf()})")
        else:
            forms = [
                "{0}[{1}] = {0}[{1}] * {0}[{1}]",
                "{0}[{1}] *= {2}",
                "{0}[{1}] = np.tanh({0}[{1}] * {2})",
                "{0}[{1}] += {0}[{1}] * {2}",
            ]
            for _ in range(w.choose(1, 2)):
                w.put(w.rng.choice(forms).format(name, k, w.number(1)))


@writes("statement", 1.5, "views")
def view_of_view(w):
    """A view of a view; the first, the second and the whole are changed."""
    name, length = w.changed(2)
    part, count = w.part(length)
    if count < 1:
        return kept_view(w)
    first, second = w.fresh("v"), w.fresh("v")
    inner, left = w.part(count)
    w.put(f"{first} = {name}[{part}]")
    w.put(f"{second} = {first}[{inner}]")
    w.bind(first, Kind("array", count))
    if left:
        w.bind(second, Kind("array", left))
    for place in w.rng.sample([name, first, second], 2):
        w.put(f"{place}[...] = {place} * {w.leaf()} + {w.constant()}")
    return None
