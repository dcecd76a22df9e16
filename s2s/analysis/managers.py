"""Context managers: what is known of an object that a ``with`` enters, before the program runs."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import textwrap
import threading
import types
import warnings
from typing import Any

import numpy as np

__all__ = ["MAKERS_OF_SAFE", "REPEATED", "SETTINGS", "is_generator_based", "may_set", "may_swallow"]

SETTINGS: tuple[Any, ...] = (np.errstate, warnings.catch_warnings)
"""Managers that set how floating-point errors and warnings are treated: the reverse sweep works under them too."""

REPEATED: tuple[Any, ...] = (
    warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings, np.seterr,
)
"""Functions that change such settings until the ``with`` around them ends."""

_SAFE: tuple[Any, ...] = (
    *SETTINGS, contextlib.nullcontext, contextlib.closing, contextlib.redirect_stdout, contextlib.redirect_stderr,
    type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore, io.IOBase,
)
MAKERS_OF_SAFE: tuple[Any, ...] = (open, threading.Lock, threading.RLock)
"""Functions that give such managers."""


def may_swallow(maker: Any) -> bool:
    """Whether a manager may swallow an exception. ``maker`` is the class or function whose call gives it."""
    if maker in MAKERS_OF_SAFE:
        return False
    if isinstance(maker, type):
        return not issubclass(maker, _SAFE) and not _exit_returns_nothing(maker)
    return not is_generator_based(maker) or _catches_around_yield(inspect.unwrap(maker))


def may_set(maker: Any) -> bool:
    """Whether a manager may set what the program looks up in other places, options of a library, until it is left."""
    is_safe = isinstance(maker, type) and issubclass(maker, (*_SAFE, contextlib.suppress))
    return not is_safe and maker not in MAKERS_OF_SAFE


def is_generator_based(maker: Any) -> bool:
    """Whether a function was made by ``contextlib.contextmanager``."""
    return (
        isinstance(maker, types.FunctionType)
        and maker.__code__.co_filename == contextlib.__file__
        and inspect.isgeneratorfunction(inspect.unwrap(maker))
    )


def _exit_returns_nothing(kind: type) -> bool:
    """Whether ``__exit__`` is written in Python and every ``return`` in it gives None or False."""
    tree = _tree_of(getattr(kind, "__exit__", None))
    if tree is None:
        return False
    returns = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return all(v is None or (isinstance(v, ast.Constant) and v.value in (None, False)) for v in returns)


def _catches_around_yield(fn: Any) -> bool:
    """Whether a generator function may end normally when an exception is raised at its ``yield``."""
    tree = _tree_of(fn)
    if tree is None:
        return True
    for node in ast.walk(tree):
        around: list[ast.stmt] = []
        if isinstance(node, (ast.With, ast.AsyncWith)) or (isinstance(node, ast.Try) and (
            node.handlers or _returns(node.finalbody)
        )):
            around = node.body
        if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for s in around for inner in ast.walk(s)):
            return True
    return False


def _returns(statements: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for s in statements for node in ast.walk(s))


@functools.cache
def _tree_of(fn: Any) -> ast.AST | None:
    """The syntax tree of a function's source, None where there is none."""
    if not isinstance(fn, types.FunctionType):
        return None
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, SyntaxError):
        return None
