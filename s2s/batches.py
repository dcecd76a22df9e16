"""``map``: a function of one sample in, the function of many samples out."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.arguments import checked
from s2s.core.public import role
from s2s.derivatives import Derivative, backend_of, derivative, store_of
from s2s.directives import samples
from s2s.directives.differentiable import differentiable, option_error
from s2s.versions.target import target_of

__all__ = ["map"]


def _written_out(f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """The loop is written out where the function is called."""

    def mapped(*args: Any, **kwargs: Any) -> Any:
        return samples.each(f, args, kwargs, in_axes, out_axes)

    return mapped


@role("map", _written_out)
@checked
def map(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Derivative:
    """The function that calls ``f`` for each of many samples and puts the results together, each array with one
    dimension more. It can be differentiated like any other, and ``f`` can be a derivative: gradients by sample.

    ``in_axes`` says along which axis the arguments by position have their samples: an int for all, or a tuple with one
    for each; None for an argument that all samples share. For a container it is one axis for all of its arrays, or a
    container of axes. Arguments by keyword are shared. ``out_axes`` says where results have the axis of the samples.

    The generated code is one loop with the code of ``f`` in it, ``map(f).source`` after a call; it runs on the backend
    of ``f``.

    >>> import numpy as np, s2s
    >>> def loss(w, x, y):
    ...     return (np.dot(w, x) - y) ** 2
    >>> w, x, y = np.array([1.0, 2.0]), np.eye(2), np.array([0.0, 1.0])
    >>> s2s.map(loss, in_axes=(None, 0, 0))(w, x, y)
    array([1., 1.])
    >>> s2s.map(s2s.grad(loss), in_axes=(None, 0, 0))(w, x, y)
    array([[2., 0.],
           [0., 2.]])

    Raises ArgumentError for axes that do not fit, ValueError where arguments have different numbers of samples.
    """
    in_axes, out_axes = _checked(in_axes, "in_axes", True), _checked(out_axes, "out_axes", False)
    if not _has_axis(in_axes):
        raise option_error("`in_axes` has no axis", "give the axis of the samples for one argument or more")
    store, key = store_of(f).derivatives, ("map", repr(in_axes), repr(out_axes))
    if key not in store:
        store[key] = _mapped(f, in_axes, out_axes)
    return store[key]


def _mapped(f: Any, in_axes: Any, out_axes: Any) -> Derivative:
    each = functools.partial(samples.each, in_axes=_frozen(in_axes), out_axes=_frozen(out_axes))

    def mapped(*args: Any, **kwargs: Any) -> Any:
        return each(f, args, kwargs)

    name = getattr(f, "__name__", type(f).__name__).strip("<>")
    mapped.__name__ = mapped.__qualname__ = f"{name}_map"
    mapped.__module__ = getattr(f, "__module__", None) or "s2s"
    target = target_of(f) if callable(f) else None
    if target is not None:
        mapped.__dict__["__s2s_made_of__"] = target.function  # beside which the code is stored
        mapped.__dict__["__s2s_made_by__"] = repr((in_axes, out_axes))
    mapped.__doc__ = f"{name} for each sample.\n\n{getattr(f, '__doc__', None) or ''}".rstrip()
    found = derivative("primal", differentiable(mapped, backend=backend_of(f)), None, False, "zeros")
    found.remade = map, (f, in_axes, out_axes)
    return found


def _checked(axes: Any, option: str, shared: bool) -> Any:
    """Axes as they were given, lists as tuples; None is one where arguments may be ``shared``. Raises ArgumentError for
    what is none."""
    if isinstance(axes, (tuple, list)):
        return tuple([_checked(item, option, shared) for item in axes])
    if isinstance(axes, dict):
        return {key: _checked(item, option, shared) for key, item in axes.items()}
    if shared and axes is None:
        return None
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        return int(axes)
    choice = "an int, None, or a container of these" if shared else "an int, or a container of ints"
    raise option_error(f"`{option}` has {axes!r}", f"give {choice}")


def _frozen(axes: Any) -> Any:
    """Axes that nobody changes: they are known while compiling."""
    if isinstance(axes, dict):
        return types.MappingProxyType({key: _frozen(item) for key, item in axes.items()})
    return tuple([_frozen(item) for item in axes]) if isinstance(axes, tuple) else axes


def _has_axis(axes: Any) -> bool:
    """Whether axes are not all None."""
    if isinstance(axes, dict):
        return any(_has_axis(item) for item in axes.values())
    return any(_has_axis(item) for item in axes) if isinstance(axes, tuple) else axes is not None
