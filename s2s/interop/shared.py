"""What both libraries need: arrays as the function is to see them, and pullbacks that s2s differentiates in turn."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.api import grad
from s2s.core.linecaches import define

__all__ = ["name_of", "number", "paths_of", "pullback_of"]


Paths = tuple[tuple[tuple[Any, ...], bool], ...]


def number(array: Any) -> Any:
    """An array as the function is to see it: a copy, as it may change it; of rank 0 a number. Of floats that NumPy does
    not have (bfloat16) it has float32, which s2s differentiates."""
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    return np.array(array) if np.ndim(array) else np.asarray(array)[()]


def paths_of(value: Any) -> Paths:
    """Where the floats are in a result: the keys on the way to each, and whether it is complex."""
    if isinstance(value, dict):
        return tuple([((key, *path), kind) for key, item in value.items() for path, kind in paths_of(item)])
    if isinstance(value, (tuple, list)):
        return tuple([((k, *path), kind) for k, item in enumerate(value) for path, kind in paths_of(item)])
    kind = str(getattr(value, "dtype", type(value).__name__)).rpartition(".")[2]
    return (((), kind.startswith("complex")),) if kind.startswith(("float", "bfloat", "complex")) else ()


@functools.lru_cache(maxsize=256)
def _pullback_of(f: Callable[..., Any], moved: tuple[int, ...], paths: Paths) -> Callable[..., Any]:
    places = [("".join([f"[{key!r}]" for key in path]), is_complex) for path, is_complex in paths]
    products = [(f"out_bar{place} * out{place}", is_complex) for place, is_complex in places]
    terms = [f"np.sum(np.real({product}))" if is_complex else f"np.sum({product})" for product, is_complex in products]
    name = f"{_identifier(f)}_product"
    text = f"def {name}(out_bar, *args):\n    out = primal(*args)\n    return {' + '.join(terms) or '0.0'}\n"
    product = define(name, text, {"np": np, "primal": f, "__name__": "s2s.interop"})
    return grad(product, tuple([k + 1 for k in moved]))


def pullback_of(f: Callable[..., Any], moved: tuple[int, ...], paths: Paths) -> Callable[..., Any]:
    """The function of a cotangent and the arguments that gives the cotangents of the arguments ``moved``; the same one
    for the same function, so that it is compiled once. ``paths`` are those of its result. It is a gradient: that of the
    product of result and cotangent, of its real part as JAX defines complex cotangents, which s2s differentiates
    again."""
    try:
        return _pullback_of(f, moved, paths)
    except TypeError:  # a callable object without a hash
        return _pullback_of.__wrapped__(f, moved, paths)


def _identifier(f: Any) -> str:
    name = "".join(c if c.isalnum() else "_" for c in name_of(f))
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"f_{name}"


def name_of(f: Any) -> str:
    """A name for a function."""
    return str(getattr(f, "__name__", type(f).__name__)).strip("<>")
