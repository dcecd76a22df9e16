"""What is refused, compiled and recorded, with the code of the refusal and the reason."""

import ctypes
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy.interpolate import _ppoly

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


@row("a mantissa and an exponent, by `math.frexp`", refused="S2S202", reason="the exponent jumps")
def mantissas(x):
    mantissa, exponent = math.frexp(x[0])
    return mantissa * 2.0**exponent


@row("the items of `np.nditer`", refused="S2S201",
     reason="it makes arrays of memory that it changes; loop over the array")
def items_of_an_iterator(x):
    return sum(float(v) ** 2 for v in np.nditer(x))


@row("an array that a pointer reads", refused="S2S101", reason="nobody sees what is read through an address")
def pointers(x):
    y = x * x
    return y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0] * x[1]


@row("memory of one dtype that is seen as another", refused="S2S101",
     reason="one number would be a part of another; write `x[0] + 1j * x[1]`")
def pairs(x):
    y = x * x
    return y.view(complex)[0].imag


@row("bytes of an array that are read back", refused="S2S180", reason="bytes hold no derivative; copy the array")
def pickled(x):
    return np.sum(pickle.loads(pickle.dumps(x * x)))


class Weight:
    def __init__(self, mass, speed):
        self.mass, self.speed = mass, speed


def energy(weight):
    return weight.mass**2 * weight.speed


WEIGHT = Weight(0.7, 1.3)


def piece(x):
    """A piece of a cubic polynomial at places, which a compiled function reads, into an array that it fills."""
    out, cubic = np.empty((3, 1)), np.array([0.7, -1.1, 0.4, 2.0]).reshape(4, 1, 1)
    _ppoly.evaluate(cubic, np.array([0.0, 1.0]), np.sin(x[:3]), 0, True, out)
    return np.sum(out**2 * x[3:, None])

NESTINGS = [
    (
        "`sparse_jacobian` by an object or a dataclass",
        "S2S517",
        "the pattern is made of what arrays and containers of them depend on; `sparsity=` says it",
        (lambda: s2s.sparse_jacobian(energy)(WEIGHT),),
    ),
    (
        "the second derivative of a compiled function without a rule that bends, or has several arguments",
        "S2S201",
        "asking it for numbers beside gives its slopes there, and not how these change; `s2s.defvjp` gives a rule",
        (
            lambda: s2s.hessian(piece)(np.array([0.4, 1.2, 0.9, 2.3])),
            lambda: s2s.jacrev(s2s.grad(piece))(np.array([0.4, 1.2, 0.9, 2.3])),
        ),
    ),
]
"""Derivatives that are refused while others of the same function are not: what, the code, why, and examples."""
