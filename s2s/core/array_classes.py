"""Arrays that are none of NumPy's and stand for them: their classes, and the modules whose functions take them.

An array of another module is one by its class: it implements NumPy's protocols (``__array_function__`` and
``__array_ufunc__``), it can be stored into, and the module that it comes from has the class as its ``ndarray``. Nothing
of such a class is called to find that out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType

import numpy as np

from s2s.core.inspection import MISSING, class_attribute, module_of

__all__ = ["compiled_for", "compiling_for", "has_memory", "is_array_class", "module_of_arrays", "named"]

_NAMES = ("ndarray", "Array")
_PROTOCOLS = ("__array_function__", "__array_ufunc__", "__setitem__", "dtype", "shape")

_found: dict[type, ModuleType | None] = {np.ndarray: np}
_current: ContextVar[type] = ContextVar("array class", default=np.ndarray)


def is_array_class(kind: type) -> bool:
    """Whether objects of a class are arrays of some module, NumPy's among them."""
    return module_of_arrays(kind) is not None


def module_of_arrays(kind: type) -> ModuleType | None:
    """The module whose functions take arrays of a class: NumPy, CuPy; None where the class is no class of arrays."""
    if kind not in _found:
        _found[kind] = _search(kind)
    return _found[kind]


def _search(kind: type) -> ModuleType | None:
    if issubclass(kind, np.ndarray) or any(class_attribute(kind, name) is MISSING for name in _PROTOCOLS):
        return None
    parts = module_of(kind).split(".")
    for count in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None and any(vars(module).get(name) is kind for name in _NAMES):
            return module
    return None


@contextmanager
def compiling_for(kind: type) -> Iterator[None]:
    """While a version for arrays of a class is compiled."""
    token = _current.set(kind)
    try:
        yield
    finally:
        _current.reset(token)


def compiled_for() -> type:
    """The class of the arrays for which a version is compiled now."""
    return _current.get()


def has_memory(kind: type) -> bool:
    """Whether arrays of a class lie in memory, which their views share. Those of Dask are graphs: a store into a view
    of one does not show in the other."""
    return class_attribute(kind, "strides") is not MISSING


def named(kind: type) -> str:
    """A class of arrays, for people: ``numpy.ndarray``."""
    return f"{module_of(kind)}.{kind.__qualname__}"
