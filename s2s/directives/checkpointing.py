"""Memory against recomputation, as the user asks for it: functions and loops of which the reverse sweep computes again
what it reads.

Called as they stand both give the plain result; what they mean for a derivative is written by the compiler
(``reverse/residuals/replay.py``, ``snapshots.py``).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from s2s.arguments import check_argument
from s2s.core.public import Remade
from s2s.errors import not_a_function

__all__ = ["Checkpoint", "checkpoint", "checkpointed", "call_again"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Checkpoint(functools.partial[R], Remade, Generic[P, R]):
    """A function whose reverse computes again what it reads. Called, it is the plain function."""

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __s2s_made__(self) -> Any:
        return checkpoint, (self.func,)

    def __repr__(self) -> str:
        return f"<s2s.checkpoint {getattr(self, '__qualname__', self.func)}>"


def checkpoint(f: Callable[P, R]) -> Checkpoint[P, R]:
    """The function ``f``, of which a reverse sweep keeps the arguments only: it runs ``f`` again, and goes backwards
    through that. Used as a decorator, or where the function is called: ``s2s.checkpoint(layer)(h, w)``.

    Without effect in forward mode and in plain calls. Raises ArgumentError for what is no function.

    >>> import numpy as np, s2s
    >>> @s2s.checkpoint
    ... def layer(h, w):
    ...     return np.tanh(w @ h)
    >>> float(s2s.grad(lambda h, w: np.sum(layer(h, w)))(np.zeros(2), np.eye(2))[0])
    1.0
    """
    if isinstance(f, type) or not callable(f):
        raise not_a_function(f)
    made: Checkpoint[P, R] = Checkpoint(f)
    functools.update_wrapper(made, f)
    return made


def call_again(f: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """``f(*args, **kwargs)``: what the compiler takes a call of ``checkpoint(f)`` for, where it makes ``f`` itself."""
    return f(*args, **kwargs)


def checkpointed(over: T, /, snapshots: int) -> T:
    """``over`` as it is: what a loop runs over, or the test of a ``while``. The reverse sweep of the loop keeps at most
    ``snapshots`` of the states between its iterations, and computes the others again from these::

        for t in s2s.checkpointed(range(n), snapshots=20): ...
        while s2s.checkpointed(error > tolerance, snapshots=20): ...

    A loop of ``n`` iterations then takes the fewest that so many states allow (Griewank and Walther 2000);
    ``docs/memory.md`` has the numbers. Without effect in forward mode and in plain runs. Raises ValueError where
    ``snapshots`` is less than 1.

    >>> import s2s
    >>> def power(x, n):
    ...     y = 1.0
    ...     for _ in s2s.checkpointed(range(n), snapshots=3):
    ...         y = y * x
    ...     return y
    >>> s2s.grad(power)(2.0, 10)
    5120.0
    """
    check_argument("snapshots", snapshots)
    if snapshots < 1:
        raise ValueError(f"snapshots={snapshots}: at least one state must be kept")
    return over
