"""Functions of a module that is no test: pytest does not rewrite it, so that recordings watch what it makes."""

import numpy as np


def in_pieces(x):
    """The type of what `piecewise` gives is not known: its sum is a call that is decided when the program runs."""
    return np.piecewise(x, [x < 0.5, x >= 0.5], [lambda v: v**2, lambda v: v**3]).sum()


def in_pieces_with_a_set(x):
    """Of a recording, the functions in the list are handed to the compiler."""
    return 0.0 * sum({float(v) for v in x}) + np.piecewise(
        x, [x < 0.5, x >= 0.5], [lambda v: v**2, lambda v: v**3]).sum()
