"""Blocks in which derivatives are easier to look into.

    with s2s.debug_nans():      a derivative with a NaN or an infinity raises, with the line where that arises
        s2s.grad(loss)(w)
    with s2s.debug():           a derivative computes every variable of the user, for breakpoint() and pdb
        s2s.grad(loss)(w)
"""

from __future__ import annotations

from typing import Any

from s2s.directives.policy import AMBIENT, DEBUG_NANS, KEEP_VARIABLES, Choice

__all__ = ["DEBUGGING", "debug", "debug_nans"]


class _Debugging:
    """A context manager around calls of derivatives."""

    choice: Choice

    def __enter__(self) -> None:
        AMBIENT.set((self.choice, *AMBIENT.get()))

    def __exit__(self, *_: Any) -> None:
        held = AMBIENT.get()
        at = next((k for k, choice in enumerate(held) if choice == self.choice), None)
        if at is not None:  # a generator may end its block in another context
            AMBIENT.set((*held[:at], *held[at + 1 :]))


class debug_nans(_Debugging):
    """A block in which a derivative that comes out with a NaN or an infinity raises NonFiniteError, a
    FloatingPointError: its message has the line of the function where the first one arises, in the forward sweep or in
    the reverse sweep, the generated line, and the values that this one read.

    It holds for derivatives that are called in the block, on NumPy, and for their pullbacks. Each value is looked at,
    which takes its time. A value that is not finite on the way to a result that is finite (``np.inf`` as the start
    of a minimum, a side that ``np.where`` does not choose) raises nothing.

    >>> import numpy as np, s2s
    >>> def loss(x):
    ...     y = x - 1.0
    ...     return np.log(y) ** 2
    >>> with s2s.debug_nans():
    ...     s2s.grad(loss)(1.0)
    Traceback (most recent call last):
        ...
    s2s.errors.NonFiniteError: an infinity arises in the forward sweep of `loss` [S2S547]
    ...
    """

    choice = Choice((), DEBUG_NANS)


class debug(_Debugging):
    """A block in which derivatives run as plain as they can: on NumPy, with every variable that the function computes,
    and without the passes that make code short and fast. So ``breakpoint()`` in a function stops in its derivative too,
    and the debugger can print what the function has computed. A variable that is another name of a value, or a
    constant, is written by that value.

    It holds for derivatives that are called in the block, and for ``s2s.source``. They are compiled for it, beside the
    ordinary ones.

    >>> import numpy as np, s2s
    >>> def f(x):
    ...     y = np.sin(x)
    ...     z = 3.0 * y
    ...     return z
    >>> with s2s.debug():
    ...     "z = 3.0 * y" in s2s.source(f, 1.0)
    True
    >>> "z = 3.0 * y" in s2s.source(f, 1.0)
    False
    """

    choice = Choice((), KEEP_VARIABLES)


DEBUGGING = (debug_nans, debug)
"""The classes of the blocks."""
