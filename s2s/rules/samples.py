"""Samples: calls of a function whose arguments are drawn at random, which stand beside its rule and test it.

    args(arr(3, 4), axis=-1)            np.sum(a, axis=-1) for a random array of that shape
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from s2s.core.record import record

__all__ = ["Domain", "Draw", "Interval", "Sample", "args", "arr", "elementwise_samples", "num", "takes"]

Interval: TypeAlias = tuple[float, float]
Domain: TypeAlias = Interval | int | float
"""What an argument of a sample is drawn from, or the number that it is."""


@record
class Draw:
    """A random argument of a sample: an array of ``shape``, or a Python number where the shape is None.

    Values are uniform between ``low`` and ``high``, with an imaginary part where ``complex`` is set. A ``positive``
    array is a symmetric (Hermitian) positive definite matrix, and changes along symmetric directions.
    """

    shape: tuple[int, ...] | None
    low: float = -2.0
    high: float = 2.0
    complex: bool = False
    positive: bool = False


@record
class Sample:
    """The arguments of one call. Every ``Draw`` in them, at any depth, is differentiated unless it has a
    fixed value.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = MappingProxyType({})


def args(*positional: Any, **named: Any) -> Sample:
    """A sample call from its arguments: ``args(arr(3, 4), axis=-1)``."""
    return Sample(positional, named)


def takes(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether a function takes these arguments, which one of an older library may not: asked by calling it."""
    try:
        fn(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def arr(*shape: int, low: float = -2.0, high: float = 2.0, complex: bool = False, positive: bool = False) -> Draw:
    """A random array of a shape for a sample; ``arr()`` is an array of rank 0."""
    return Draw(shape, low, high, complex, positive)


def num(low: float = -2.0, high: float = 2.0) -> Draw:
    """A random Python float for a sample."""
    return Draw(None, low, high)


def elementwise_samples(domains: tuple[Domain, ...], scalar_only: bool) -> tuple[Sample, ...]:
    """Sample calls of an elementwise function: scalars, and for NumPy also ranks 0 to 2, size 0 and
    broadcasting.
    """
    numbers = args(*(_draw(None, d) for d in domains))
    if scalar_only:
        return (numbers, numbers)
    shapes: list[list[tuple[int, ...]]] = [[()], [(5,)], [(0, 3)], [(2, 3)]]
    if len(domains) > 1:
        rest = len(domains) - 1
        shapes = [
            [(2, 3), *[(2, 3)] * rest], [(3, 1), *[(4,)] * rest], [(4,), *[(3, 1)] * rest],
            [(0, 3), *[(3,)] * rest], [(), *[(2,)] * rest], [(1, 2), *[(3, 2)] * rest],
        ]
    calls = [args(*(_draw(s, d) for s, d in zip(row, domains, strict=True))) for row in shapes]
    first = next((i for i, d in enumerate(domains) if isinstance(d, tuple)), 0)
    mixed = args(*(_draw((3,) if i == first else None, d) for i, d in enumerate(domains)))
    return (numbers, *calls, mixed)


def _draw(shape: tuple[int, ...] | None, domain: Domain) -> Any:
    """An argument of a shape (None for a Python number); a domain that is one number stands for itself."""
    return Draw(shape, *domain) if isinstance(domain, tuple) else domain
