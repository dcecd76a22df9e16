"""What functions of autograd mean in code that is differentiated by s2s: its operators are those of s2s, its containers
Python's own. The packages call each other nowhere."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from s2s.core.public import function
from s2s.models.solutions import attached, for_value

__all__ = ["OPERATORS"]


def grad(fun: Any, argnum: Any = 0) -> Any:
    return function("grad")(fun, argnums=argnum)


def value_and_grad(fun: Any, argnum: Any = 0) -> Any:
    return function("value_and_grad")(fun, argnums=argnum)


def grad_and_aux(fun: Any, argnum: Any = 0) -> Any:
    return function("grad")(fun, argnums=argnum, has_aux=True)


def elementwise_grad(fun: Any, argnum: Any = 0) -> Any:
    def each(*args: Any, **kwargs: Any) -> Any:
        out, pull = function("vjp")(lambda x: fun(*args[:argnum], x, *args[argnum + 1 :], **kwargs), args[argnum])
        return pull(np.ones(np.shape(out)) if np.ndim(out) > 0 else 1.0)[0]

    return each


def jacobian(fun: Any, argnum: Any = 0) -> Any:
    return function("jacobian")(fun, argnums=argnum)


def hessian(fun: Any, argnum: Any = 0) -> Any:
    return function("jacobian")(function("grad")(fun, argnums=argnum), argnums=argnum)


def make_vjp(fun: Any, argnum: Any = 0) -> Any:
    def at(*args: Any, **kwargs: Any) -> Any:
        out, pull = function("vjp")(lambda x: fun(*args[:argnum], x, *args[argnum + 1 :], **kwargs), args[argnum])
        return (lambda g: pull(g)[0]), out

    return at


def make_jvp(fun: Any, argnum: Any = 0) -> Any:
    def at(*args: Any, **kwargs: Any) -> Any:
        def alone(x: Any) -> Any:
            return fun(*args[:argnum], x, *args[argnum + 1 :], **kwargs)

        return lambda v: function("jvp")(alone, (args[argnum],), (v,))

    return at


def checkpoint(fun: Any) -> Any:
    return fun


OPERATORS: dict[str, Any] = {
    "grad": grad, "value_and_grad": value_and_grad, "grad_and_aux": grad_and_aux, "elementwise_grad": elementwise_grad,
    "jacobian": jacobian, "hessian": hessian, "make_vjp": make_vjp, "make_jvp": make_jvp,
}
"""The operators of autograd, by name."""


# --- rules that users have given --------------------------------------------------------------------------------------


def pulled(makers: Any, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The cotangents by the functions that ``defvjp`` was given, by argument; None where there is none."""
    bars = [make(out, *args, **kwargs)(out_bar) if make is not None else None for make, _ in zip(makers, args)]
    return (*bars, *[None for _ in range(len(args) - len(bars))])


def pulled_by_number(make: Any, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The cotangents by the function that ``defvjp_argnums`` was given."""
    every = make(tuple(range(len(args))), out, args, kwargs)(out_bar)
    return tuple(every)


def pushed(makers: Any, out: Any, tangents: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The tangent by the functions that ``defjvp`` was given."""
    total = 0.0
    for make, dot in zip(makers, tangents):
        if dot is not None and make is not None:
            total = total + make(dot, out, *args, **kwargs)
    return total


def pushed_by_number(make: Any, out: Any, tangents: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The tangent by the function that ``defjvp_argnums`` was given."""
    moving = [k for k, dot in enumerate(tangents) if dot is not None]
    return make(tuple(moving), [tangents[k] for k in moving], out, args, kwargs)


# --- containers -------------------------------------------------------------------------------------------------------


def tuple_(xs: Any = ()) -> Any:
    return builtins.tuple(xs)


def list_(xs: Any = ()) -> Any:
    return builtins.list(xs)


def dict_(*args: Any, **kwargs: Any) -> Any:
    return builtins.dict(*args, **kwargs)


def flatten(value: Any) -> Any:
    return flat(value), lambda vector: rebuilt(value, vector)


def flat(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        parts = [flat(item) for item in value]
        return np.concatenate(parts) if len(parts) > 0 else np.array([])
    if isinstance(value, dict):
        parts = [flat(value[key]) for key in sorted(value)]
        return np.concatenate(parts) if len(parts) > 0 else np.array([])
    return np.ravel(value)


def size_of(value: Any) -> Any:
    """How many numbers there are in a structure."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return sum([size_of(item) for item in value]) if isinstance(value, (list, tuple)) else np.size(value)


def rebuilt(like: Any, vector: Any) -> Any:
    """A value of the structure of ``like`` with the items of a vector."""
    if isinstance(like, (list, tuple, dict)):
        keys = sorted(like) if isinstance(like, dict) else range(len(like))
        items = []
        start = 0
        for key in keys:
            stop = start + size_of(like[key])
            items.append(rebuilt(like[key], vector[start:stop]))
            start = stop
        if isinstance(like, dict):
            return builtins.dict(zip(keys, items))
        return items if isinstance(like, list) else builtins.tuple(items)
    return np.reshape(vector, np.shape(like))


def fixed_point(f: Any, a: Any, x0: Any, distance: Any, tol: Any) -> Any:
    from autograd.misc import fixed_points

    found = for_value(fixed_points.fixed_point, f, a, x0, distance, tol)
    if np.ndim(x0) == 0:
        return attached(lambda x: f(a)(x) - x, float(found))
    made = np.zeros(np.shape(x0))
    made[...] = found
    return attached(lambda x: f(a)(x) - x, np.copy(made))
