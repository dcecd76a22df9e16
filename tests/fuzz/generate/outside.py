"""Arrays and numbers from outside of the program, by several names, objects that it changes, and calls of functions
without source that change them. ``restore`` sets them back where a call of ``f`` begins."""

from tests.fuzz.generate.base import FLOAT, Kind, writes

STATE = """\
W2, W3 = np.array([1.1, -0.7]), np.array([0.8, 1.3, -0.5])
FLIPPED, FIRST, TABLE, PAIR, RATES = W3[::-1], W3[:2], {"w": W3}, [W2, W3], [1.2, 0.4]


class Place:
    a, n = W3, 0.9


class Tally:
    pass


PLACE, TALLY, TALLY.part, TALLY.log = Place(), Tally(), Tally(), []
exec('''
def restore():
    W2[:], W3[:], RATES[:], PLACE.n = [1.1, -0.7], [0.8, 1.3, -0.5], [1.2, 0.4], 0.9
    TALLY.calls, TALLY.w, TALLY.part.n, TALLY.last = 1, W3 * 0.5, 0.7, None
    TALLY.log.clear()

def bump(t=0.0):
    W2[:], W3[:], PLACE.n = W2 * 0.8 + 0.1, W3[::-1] * 0.9, PLACE.n * 1.1
    RATES[0] += 0.2
    TALLY.calls, TALLY.w, TALLY.part.n = TALLY.calls + 1, TALLY.w * 0.9, TALLY.part.n * 1.1
    return 0.5

class Loud:
    __str__ = __repr__ = lambda self: str(bump())
    __len__ = lambda self: int(bump() * 4.0)
    push = lambda self: bump()

def walk():
    while True:
        yield bump()
''')
LOUD, HOOKS, STEPS, DOUBLE = Loud(), [bump, W3.sort], walk(), types.MethodType(np.multiply, W3)
restore()
"""

CALLS = (
    "bump()", "str(LOUD)", "f'{LOUD}'", "HOOKS[0]()", "HOOKS[1]()", "next(STEPS)", "sorted([2, 1], key=bump)",
    "list(map(bump, [1.0]))", "any(h() for h in HOOKS[:1])", "DOUBLE(0.9, W3)",
)  # fmt: skip
READS = {
    2: ("W2", "FIRST", "PAIR[0]", "W3[1:]"),
    3: ("W3", "FLIPPED", "TABLE['w']", "PAIR[1]", "PLACE.a", "W3[[2, 0, 1]]", "TALLY.w"),
}
NUMBERS = ("W3[1]", "RATES[0]", "PLACE.n", "np.sum(W2)", "TABLE['w'][0]", "FLIPPED[-1]", "max(W3)", "W2 @ FIRST",
           "TALLY.calls", "TALLY.part.n", "TALLY.w[1]")
CHANGES = (
    "TALLY.calls += 1", "TALLY.part.n = TALLY.part.n * 0.9 + 0.1 * TALLY.calls", "TALLY.w = TALLY.w * 0.8 + 0.1",
    "TALLY.log.append(TALLY.calls)", "TALLY.part, TALLY.w = TALLY.part, TALLY.w + TALLY.part.n",
)  # fmt: skip


@writes("statement", 5, "outside")
def unknown_call(w):
    w.put(w.choose(*CALLS))


@writes("statement", 3, "outside")
def view(w):
    """A name for an array from outside, read before a call and after it."""
    length = w.choose(2, 3)
    name, first, second = w.fresh("o"), w.fresh("v"), w.fresh("v")
    w.put(f"{name} = {w.choose(*READS[length])}")
    w.put(f"{first} = {name} * ({w.array(length, 1)})")
    if w.chance(0.7):
        unknown_call(w)
    forms = (f"np.sin({first}) * {name}", f"{first} - {name} * 2.0", f"np.exp(0.1 * {name}) * {first}")
    w.put(f"{second} = {w.choose(*forms)}")
    w.bind(first, Kind("array", length))
    w.bind(second, Kind("array", length))


@writes("statement", 2, "outside")
def number(w):
    name = w.fresh("s")
    w.put(f"{name} = {w.choose(*NUMBERS)} * ({w.number(1)})")
    w.bind(name, FLOAT)


@writes("statement", 4, "outside")
def change_of_an_object(w):
    """A counter, a number, an array or a log that an object has."""
    w.put(w.choose(*CHANGES))
    if w.chance(0.6):
        number(w)


@writes("statement", 1, "outside")
def remembered(w):
    """Something differentiated that an object keeps, and that is read again."""
    length, name = w.choose(2, 3), w.fresh("v")
    w.put(f"TALLY.last = {w.array(length, 1)}")
    w.put(f"TALLY.log.append({w.leaf()})")
    w.put(f"{name} = TALLY.last * ({w.array(length, 1)})")
    w.bind(name, Kind("array", length))


@writes("statement", 2, "outside")
def walked(w):
    """A loop over an array from outside that a call changes."""
    name, item = w.fresh("s"), w.fresh("e")
    w.put(f"{name} = {w.leaf()}")
    with w.loop(f"for {item} in {w.choose('W3', 'W2', 'RATES', 'FLIPPED')}:"):
        w.put(f"{name} = np.sin({name} * {item}) + {item} * {w.leaf()}")
        w.put(w.choose(*CALLS))
    w.bind(name, FLOAT)
