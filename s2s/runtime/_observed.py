"""Observed runs: generated code calls these in place of an operation, so that an observer is told of it."""

from __future__ import annotations

import contextlib
import contextvars
from typing import Any

import numpy as np

_OBSERVER: contextvars.ContextVar[Any] = contextvars.ContextVar("observer", default=None)


@contextlib.contextmanager
def observing(observer: Any) -> Any:
    """As a context: an observer sees the operations of observed functions."""
    token = _OBSERVER.set(observer)
    try:
        yield observer
    finally:
        _OBSERVER.reset(token)


def observed(fn: Any, place: str, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, of which an observer is told; ``place`` is the file and line of the call."""
    if args and isinstance(args[0], np.generic) and getattr(fn, "__objclass__", None) is np.ndarray:
        fn = getattr(type(args[0]), fn.__name__)  # the number's own method
    observer = _OBSERVER.get()
    return fn(*args, **kwargs) if observer is None else observer.operation(fn, place, args, kwargs)


def observed_step(fn: Any, why: str, place: str, /, *args: Any, **kwargs: Any) -> Any:
    """As ``observed``, for a step without a derivative; ``why`` says what it is."""
    observer = _OBSERVER.get()
    return fn(*args, **kwargs) if observer is None else observer.operation(fn, place, args, kwargs, why)


def observed_test(place: str, value: Any) -> Any:
    """The test of an ``if``, of which an observer is told."""
    observer = _OBSERVER.get()
    return value if observer is None else observer.test(place, value)
