"""A function of NumPy arrays as a ``torch.autograd.Function``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from s2s.errors import error
from s2s.interop.shared import name_of, number, paths_of, pullback_of

__all__ = ["wrapped"]


def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function of PyTorch."""

    @functools.wraps(f, updated=())
    def of_torch(*args: Any, **kwargs: Any) -> Any:
        _refuse_tensors(kwargs, "among the arguments by keyword")
        bound = functools.partial(f, **kwargs) if kwargs else f
        tensors: list[Any] = []
        shape = _taken_out(args, tensors)
        made = _Called(bound, shape)
        return made.put_together(_Function.apply(made, *tensors))

    of_torch.__name__ = name_of(f)
    return of_torch


def _refuse_tensors(value: Any, place: str) -> None:
    """Refuse a structure with tensors, of which the derivative would see nothing."""
    tensors: list[Any] = []
    _taken_out(value, tensors)
    if tensors:
        raise error("S2S722", place=place)


class _Place:
    """What stands for a tensor in a structure."""

    def __init__(self, index: int) -> None:
        self.index = index


def _taken_out(value: Any, tensors: list[Any]) -> Any:
    """A structure with places in it for its tensors, which go into a list."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return _Place(len(tensors) - 1)
    return _rebuilt(value, lambda item: _taken_out(item, tensors))


def _put_in(value: Any, tensors: Any) -> Any:
    """``_taken_out`` undone, with other values."""
    if isinstance(value, _Place):
        return tensors[value.index]
    return _rebuilt(value, lambda item: _put_in(item, tensors))


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: change(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        made = [change(item) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


class _Called:
    """One call: the function, the structure of its arguments, and, once it has run, that of its result."""

    def __init__(self, f: Callable[..., Any], shape: tuple[Any, ...]) -> None:
        self.f = f
        self.shape = shape
        self.out: Any = None
        self.paths: Any = None

    def run(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tensors of the result."""
        for one in tensors:
            if one.device.type != "cpu":
                raise error("S2S721", device=one.device)
        found = self.f(*_put_in(self.shape, [number(_array_of(one)) for one in tensors]))
        name = name_of(getattr(self.f, "func", self.f))
        _refuse_tensors(found, f"that `{name}` has from elsewhere than its arguments, and returns,")
        leaves: list[Any] = []
        self.out = _taken_out(_as_tensors(found), leaves)
        if all(one.dtype == torch.bfloat16 for one in tensors if _is_float(one)) and any(map(_is_float, tensors)):
            leaves = [one.bfloat16() if one.dtype == torch.float32 else one for one in leaves]
        self.paths = paths_of(_put_in(self.out, leaves))
        return tuple(leaves)

    def put_together(self, leaves: tuple[Any, ...]) -> Any:
        """The result of tensors."""
        return _put_in(self.out, leaves)

    def cotangents(self, tensors: tuple[Any, ...], bars: tuple[Any, ...]) -> list[Any]:
        """The cotangents of the tensors, by a function of PyTorch that has a derivative itself."""
        args = _put_in(self.shape, tensors)
        moved = tuple(k for k, arg in enumerate(args) if _has_floats(arg))
        bars = tuple(map(_conjugate, bars))  # what PyTorch has for a cotangent is the conjugate of JAX's and s2s's
        found: list[Any] = [None] * len(tensors)
        if moved and self.paths:
            out_bar = _put_in(self.out, bars)
            parts = wrapped(pullback_of(self.f, moved, self.paths))(out_bar, *args)
            for k, part in zip(moved, parts):
                _note(self.shape[k], part, found)
        return [_conjugate(bar) if _is_float(one) else None for one, bar in zip(tensors, found)]


def _note(place: Any, bar: Any, found: list[Any]) -> None:
    """Put a cotangent to the places of the tensors of its argument."""
    if isinstance(place, _Place):
        found[place.index] = bar
    elif isinstance(place, dict):
        for key, item in place.items():
            _note(item, bar[key], found)
    elif isinstance(place, (tuple, list)):
        for item, part in zip(place, bar):
            _note(item, part, found)


def _has_floats(value: Any) -> bool:
    found: list[Any] = []
    _taken_out(value, found)
    return any(map(_is_float, found))


def _is_float(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _conjugate(tensor: Any) -> Any:
    return tensor.conj() if tensor is not None and tensor.is_complex() else tensor


def _array_of(tensor: Any) -> Any:
    """The array of a tensor, which may say that it stands for the conjugate or the negative of what it holds; of
    bfloat16, which NumPy does not have, as float32."""
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def _as_tensors(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic, float, complex)):
        return torch.from_numpy(np.array(value))
    return _rebuilt(value, _as_tensors)


class _Function(torch.autograd.Function):  # type: ignore[misc]
    """One call as an operation of PyTorch's."""

    @staticmethod
    def forward(made: _Called, *tensors: Any) -> Any:
        return made.run(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        made, *tensors = inputs
        ctx.made = made
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        return None, *ctx.made.cotangents(ctx.saved_tensors, bars)

    @staticmethod
    def vmap(info: Any, in_dims: Any, made: _Called, *tensors: Any) -> Any:
        dims = in_dims[1:]
        found = [
            _Function.apply(made, *[one if dim is None else one.select(dim, k) for one, dim in zip(tensors, dims)])
            for k in range(info.batch_size)
        ]
        stacked = tuple([torch.stack(leaves) for leaves in zip(*found)])
        return stacked, tuple([0] * len(stacked))
