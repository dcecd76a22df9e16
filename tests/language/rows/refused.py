"""What is refused, compiled and recorded, with the code of the refusal and the reason."""

import array
from decimal import Decimal
from fractions import Fraction

import numpy as np

import s2s
from tests.language.rows import Group

row = Group("What stays refused")

CONVERTED = "compiled code makes new numbers of those that are put in, which no tool sees"
REJECTED = "how many numbers are drawn depends on the parameter"
SHUFFLED = "the places of the items are drawn in compiled code"


@row("`array.array` of differentiated numbers", refused="S2S201", reason=CONVERTED)
def array_of_numbers(x):
    a = array.array("d", [x[0], x[1]])
    a.append(x[2])
    return a[0] * a[1] + sum(a) * x[0]


@row("a store into an `array.array`", refused="S2S202", reason=CONVERTED)
def array_stores(x):
    a = array.array("d", [0.0] * 3)
    a[1] = x[0] ** 2
    return a[1] * x[1]


@row("`np.frombuffer`", refused="S2S201", reason=CONVERTED)
def from_a_buffer(x):
    return np.sum(np.frombuffer(array.array("d", x)) ** 2)


@row("items of a `memoryview`", refused="S2S201", reason=CONVERTED)
def memory_view(x):
    seen = memoryview(x * 1.0)
    return seen[0] * seen[1]


@row("a store through a `memoryview`", refused="S2S202", reason=CONVERTED)
def memory_view_stores(x):
    y = np.zeros(4)
    memoryview(y)[0] = x[0] ** 2
    return np.sum(y * x)


@row("`Decimal` of a differentiated number", refused="S2S201", reason="it would be rounded to digits")
def decimals(x):
    d = Decimal(float(x[0]))
    return float(d * d)


@row("`Fraction` of a differentiated number", refused="S2S180", reason="it would be made a ratio of integers")
def fractions(x):
    q = Fraction(float(x[0]))
    return float(q * q)


@row(
    "a single record",
    refused="S2S101",
    reason="a record holds numbers of its own, which are not those of the array",
)
def record(x):
    table = np.zeros(2, dtype=[("p", float), ("q", float)])
    table[0] = (x[0], x[1])
    return table[0]["p"] * table[0]["q"]


@row("the display of records as an array", refused="S2S180", reason=CONVERTED)
def records(x):
    table = np.array([(x[0], x[1]), (x[2], x[3])], dtype=[("p", float), ("q", float)])
    return np.sum(table["p"] * table["q"] ** 2)


@row("attributes of `np.recarray` that are stored", refused="S2S202", reason=CONVERTED)
def record_attributes(x):
    table = np.zeros(4, dtype=[("p", float), ("q", float)]).view(np.recarray)
    table.p = x
    return np.sum(table.p**2)


@row("a loop over `np.broadcast`", refused="S2S201", reason=CONVERTED)
def broadcast_items(x):
    total = 0.0
    for a, b in np.broadcast(x[:2, None], x[1:]):
        total += a * b**2
    return total


@row("the shape of `gamma`, `beta`, `poisson`", refused="S2S201", reason=REJECTED)
def shapes_of_draws(x):
    stream = np.random.default_rng(3)
    return stream.gamma(x[0]) ** 2


@row("`multivariate_normal`", refused="S2S201", reason="no rule is known for its draw")
def joint_draws(x):
    return np.sum(np.random.default_rng(3).multivariate_normal(x[:2], np.eye(2)) ** 2)


@row(
    "`Generator.shuffle`, `permutation`, `choice` of differentiated items", refused="S2S201", reason=SHUFFLED
)
def shuffled(x):
    y = x * 1.0
    np.random.default_rng(2).shuffle(y)
    return y[0] * y[1] ** 2


@row("numbers that are read back from a text", refused="S2S180", reason="a text holds digits")
def texts(x):
    text = " ".join([str(x[0]), str(x[1])])
    return sum(float(word) for word in text.split())


@row("arrays with units of `unyt`", refused="S2S201", reason="they are copied by compiled code", needs="unyt")
def unyt_units(x):
    import unyt

    speed = unyt.unyt_array(x, "km") / unyt.unyt_quantity(2.0, "s")
    return float(np.sum((speed * speed).to_value("m**2/s**2"))) * 1e-6


class Weight:
    def __init__(self, mass, speed):
        self.mass, self.speed = mass, speed


def energy(weight):
    return weight.mass**2 * weight.speed


WEIGHT = Weight(0.7, 1.3)

NESTINGS = [
    (
        "`sparse_jacobian` by an object or a dataclass",
        "S2S517",
        "the pattern is made of what arrays and containers of them depend on; `sparsity=` says it",
        (lambda: s2s.sparse_jacobian(energy)(WEIGHT),),
    ),
]
"""Derivatives that are refused while others of the same function are not: what, the code, why, and examples."""
