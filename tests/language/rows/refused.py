"""What is refused, compiled and recorded, with the code of the refusal and the reason."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

import s2s
from tests.language.rows import Group

row = Group("What stays refused")



@row("`Decimal` of a differentiated number", refused="S2S201", reason="it would be rounded to digits")
def decimals(x):
    d = Decimal(float(x[0]))
    return float(d * d)


@row("`Fraction` of a differentiated number", refused="S2S180", reason="it would be made a ratio of integers")
def fractions(x):
    q = Fraction(float(x[0]))
    return float(q * q)


@row("the rate of `poisson`, the probabilities of `choice`", refused="S2S201", reason="what is drawn jumps")
def jumping_draws(x):
    return np.random.default_rng(3).poisson(x[0]) * x[1]


@row("numbers that are read back from a text", refused="S2S180", reason="a text holds digits")
def texts(x):
    text = " ".join([str(x[0]), str(x[1])])
    return sum(float(word) for word in text.split())


@row("a function of which only bytecode is there, with a branch, a loop or a store", refused="S2S201",
     reason="it cannot be read; give `linecache` its text, or take `numeric=True`")
def bytecode(x):
    made = {}
    exec(compile("def total(x): return sum(v * v for v in x)", "made", "exec"), made)
    return made["total"](x) * x[0]


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
