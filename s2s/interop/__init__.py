"""NumPy functions with their derivatives by s2s as functions of other array libraries.

    simulate = s2s.interop.to_jax(simulate_numpy)      inside jax.jit, jax.grad, jax.vmap
    simulate = s2s.interop.to_torch(simulate_numpy)    inside torch's autograd and torch.func
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s.arguments import checked
from s2s.errors import error, not_a_function

__all__ = ["to_jax", "to_torch"]


@checked
def to_jax(f: Callable[..., Any], result: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A function of NumPy arrays as one of JAX: its value and its derivative by s2s are computed by callbacks to the
    host, under ``jax.jit`` too. It has a VJP, which can be differentiated in turn; ``jax.vmap`` calls the host once for
    all samples, which are gone over there.

    Arguments and results are pytrees. Floats and arrays of floats are differentiated; ints, bools, strings and
    arguments by keyword are passed as they are, and must be known when JAX traces. What has rank 0 comes as a number of
    NumPy.

    JAX wants to know the shapes of the result before it is there. ``result`` is a function of arrays of the shapes of
    the arguments that returns something with the structure, shapes and dtypes of the result; without it ``f`` itself is
    called with ones, once for the shapes of its arguments.

    >>> import jax, numpy as np, s2s
    >>> energy = s2s.interop.to_jax(lambda x: np.sum(np.cumsum(x) ** 2))
    >>> jax.grad(energy)(jax.numpy.array([1.0, 2.0])).tolist()
    [8.0, 6.0]

    Forward mode (``jax.jvp``, ``jax.jacfwd``, ``jax.hessian``) is refused by JAX, as of every function with a VJP
    alone: take ``jax.jacrev``. Raises the errors of ``s2s.vjp``, where JAX calls back, as JAX passes them on.
    """
    if not callable(f):
        raise not_a_function(f)
    try:
        from s2s.interop import in_jax
    except ImportError as missing:
        raise error("S2S720", name="JAX", problem=missing, hint="install it: `pip install jax`") from None
    return in_jax.wrapped(f, result)


@checked
def to_torch(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as one of PyTorch's tensors on the CPU: a ``torch.autograd.Function`` with the
    derivative by s2s, which can be differentiated again; ``torch.vmap`` goes over the samples.

    Arguments and results are tensors, numbers, and tuples, lists and dicts of these. Tensors of floats are
    differentiated; all else is passed as it is. A tensor of rank 0 comes as a number of NumPy.

    >>> import numpy as np, s2s, torch
    >>> energy = s2s.interop.to_torch(lambda x: np.sum(np.cumsum(x) ** 2))
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> energy(x).backward()
    >>> x.grad.tolist()
    [8.0, 6.0]

    Raises ArgumentError for tensors on another device, and the errors of ``s2s.vjp``.
    """
    if not callable(f):
        raise not_a_function(f)
    try:
        from s2s.interop import in_torch
    except ImportError as missing:
        raise error("S2S720", name="PyTorch", problem=missing, hint="install it: `pip install torch`") from None
    return in_torch.wrapped(f)
