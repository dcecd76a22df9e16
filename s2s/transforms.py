"""Jacobians, Hessians, and products with them: a function in, a function of its derivatives out.

They follow ``grad``: ``argnums`` are positions or names of arguments, a single one or a tuple; with ``has_aux`` the
function returns ``(value, aux)`` and the derivative ``(derivative, aux)``; arguments and results may be tuples, lists
and dicts of arrays, and a derivative has the structure of the result with the structure of the arguments in it.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from s2s import runtime as rt
from s2s.api import check_unconnected, grad, jvp
from s2s.arguments import checked
from s2s.core.public import role, transformed
from s2s.core.tracebacks import shorten
from s2s.derivatives import Derivative, derivative
from s2s.directives.differentiable import option_error
from s2s.directives.policy import AMBIENT, held_again
from s2s.tangents import check_pairs

__all__ = [
    "elementwise_grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "linearize", "value_and_jacobian", "vhp",
]

P = ParamSpec("P")
R = TypeVar("R")

Argnums = int | str | tuple[int | str, ...]


# --- Jacobians ------------------------------------------------------------------------------------------------------


@role("jacfwd")
@checked
def jacfwd(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Derivative[P, Any]:
    """The Jacobian of a function by forward mode: one sweep for all elements of the arguments, side by side.

    For a result of shape ``(m,)`` and an argument of shape ``(n,)`` an array of shape ``(m, n)``; in general the shape
    of the result and then that of the argument. Good where the result has more elements than the arguments.

    ``holomorphic`` allows complex arguments: the function is then taken for one of complex numbers that has a complex
    derivative.

    >>> import numpy as np, s2s
    >>> s2s.jacfwd(lambda x: np.array([x[0] * x[1], x[1] ** 2, x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 6.],
           [1., 0.]])

    Raises ArgumentError for complex arguments, unless the function is ``holomorphic``, and what ``grad`` raises, but
    that the result may be an array, or a structure of arrays.
    """
    return derivative("jacfwd", f, argnums, has_aux, "zeros", holomorphic=holomorphic)


@role("jacrev")
@checked
def jacrev(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False,
    unconnected: str = "zeros",
) -> Derivative[P, Any]:
    """The Jacobian of a function by reverse mode: one sweep back for all elements of the result, side by side.

    Shapes and arguments are those of ``jacfwd``; ``unconnected`` is that of ``grad``. Good where the arguments have
    more elements than the result. The arrays have the dtypes of the arguments.

    >>> import numpy as np, s2s
    >>> jacobian = s2s.jacrev(lambda p: {"sum": np.sum(p["w"]), "scaled": p["w"] * p["c"]})
    >>> found = jacobian({"w": np.array([1.0, 2.0]), "c": 3.0})
    >>> found["sum"]["w"], found["scaled"]["c"]
    (array([1., 1.]), array([1., 2.]))

    Raises ArgumentError for a complex result, unless the function is ``holomorphic``, and what ``grad`` raises.
    """
    return derivative("jacrev", f, argnums, has_aux, check_unconnected(unconnected), holomorphic=holomorphic)


@role("jacobian")
@checked
def jacobian(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """The Jacobian of a function, by the mode that needs fewer directions: forward where the arguments have no more
    elements than the result, else reverse. Shapes and arguments are those of ``jacfwd``.

    >>> import numpy as np, s2s
    >>> s2s.jacobian(np.cumsum)(np.array([1.0, 2.0]))
    array([[1., 0.],
           [1., 1.]])

    Raises what ``jacfwd`` raises.
    """
    made = _by_sizes(f, argnums, has_aux, holomorphic, "jacfwd", "jacrev", "Jacobian")
    return transformed(made, jacobian, f, argnums, has_aux, holomorphic)


@role("value_and_jacobian")
@checked
def value_and_jacobian(
    f: Callable[P, R], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, tuple[R, Any]]:
    """The value and the Jacobian, ``(value, jacobian)``; with ``has_aux`` ``((value, aux), jacobian)``. The mode is
    chosen as by ``jacobian``.

    >>> import numpy as np, s2s
    >>> s2s.value_and_jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    (array([1., 4.]), array([[2., 0.],
           [0., 4.]]))

    Raises what ``jacfwd`` raises.
    """
    made = _by_sizes(f, argnums, has_aux, holomorphic, "value_and_jacfwd", "value_and_jacrev", "Value and Jacobian")
    return transformed(made, value_and_jacobian, f, argnums, has_aux, holomorphic)


def _by_sizes(
    f: Any, argnums: Any, has_aux: bool, holomorphic: bool, forward: str, reverse: str, title: str
) -> Callable[..., Any]:
    """The function that measures arguments and result, once for the shapes of its arguments, and calls one of two
    modes: both give the same."""
    modes = [derivative(mode, f, argnums, has_aux, "zeros", holomorphic=holomorphic) for mode in (forward, reverse)]
    by_shapes: dict[Any, int] = {}

    def chosen(*args: Any, **kwargs: Any) -> Any:
        try:
            shapes = tuple(map(np.shape, rt.floats((args, kwargs))))
            mode = by_shapes.get(shapes)
            if mode is None:
                found = _called(f, args, kwargs)
                found = found[0] if has_aux and isinstance(found, tuple) and found else found  # others are refused
                few = _size(modes[0].differentiated(args, kwargs)) <= _size(found)
                mode = by_shapes[shapes] = 0 if few else 1
            return modes[mode](*args, **kwargs)
        except Exception as problem:
            shorten(problem)
            raise

    name = getattr(f, "__name__", type(f).__name__)
    functools.update_wrapper(chosen, modes[0], assigned=("__module__", "__qualname__"), updated=())
    chosen.__dict__["__s2s_modes__"] = chosen.__code__, *modes
    chosen.__dict__["clear"] = modes[0].clear
    chosen.__name__ = f"{name.strip('<>')}_jacobian"
    chosen.__doc__ = f"{title} of {name}.\n\n{getattr(f, '__doc__', None) or ''}".rstrip()
    return chosen


def _called(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function, which may change its arguments."""
    args, kwargs = copy.deepcopy((args, kwargs))
    return f(*args, **kwargs)


def _size(value: Any) -> int:
    """The number of floats in a value."""
    return sum(map(np.size, rt.floats(value)))


# --- second derivatives ---------------------------------------------------------------------------------------------


@role("hessian")
@checked
def hessian(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """The Hessian of a function with one result: the Jacobian by forward mode of its gradient.

    For an argument of shape ``(n,)`` an array of shape ``(n, n)``; for ``argnums`` a tuple, ``hessian[i][j]`` has the
    shape of argument ``i`` and then that of ``j``. Of a function with many results the Hessian of each: the shape of
    the result comes first.

    >>> import numpy as np, s2s
    >>> s2s.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])

    Raises what ``jacfwd`` and ``grad`` raise.
    """
    return jacfwd(jacrev(f, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


@role("hvp")
@checked
def hvp(
    f: Callable[..., Any], primals: Any = None, tangents: Any = None, argnums: Argnums = 0, has_aux: bool = False,
    **kwargs: Any,
) -> Any:
    """The product of the Hessian of a function with one result and a vector, without the Hessian: the tangent of its
    gradient, forward over reverse (Pearlmutter 1994).

    ``hvp(f)`` is the function ``(x, v, *args)`` of the first argument, of a vector like it, and of the other arguments,
    which stand still: the ``hessp`` of SciPy's optimizers. With ``primals`` and ``tangents`` it is the product itself.

    ``primals`` is the tuple of arguments, ``tangents`` has one tangent for each, of its shape and structure, None for
    one that stands still. The result is the derivative along ``tangents`` of ``grad(f, argnums)(*primals, **kwargs)``
    and has its structure; with ``has_aux`` it is ``(product, aux)``.

    >>> import numpy as np, s2s
    >>> s2s.hvp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    >>> s2s.hvp(lambda x, a: a * x[0] ** 2 * x[1])(np.array([2.0, 3.0]), np.array([1.0, 0.0]), 10.0)
    array([60., 40.])

    Raises ArgumentError where the tangents do not fit the primals, and what ``grad`` raises.
    """
    if primals is None and tangents is None:
        return _product_by_first(f, argnums, has_aux, kwargs)
    _, product, *aux = jvp(grad(f, argnums, has_aux), primals, tangents, has_aux=has_aux, **kwargs)
    return (product, *aux) if has_aux else product


def _product_by_first(f: Any, argnums: Any, has_aux: bool, fixed: dict[str, Any]) -> Callable[..., Any]:
    """What ``hvp`` is without primals."""
    if argnums != 0:
        raise option_error(
            f"`hvp` without primals has the argument `argnums={argnums!r}`", "give primals and tangents, or argument 0"
        )

    def product(x: Any, v: Any, /, *args: Any, **kwargs: Any) -> Any:
        return hvp(f, (x, *args), (v, *[None for _ in args]), 0, has_aux, **{**fixed, **kwargs})

    product.__module__ = getattr(f, "__module__", None) or "s2s"
    product.__name__ = product.__qualname__ = f"{getattr(f, '__name__', type(f).__name__).strip('<>')}_hvp"
    return transformed(product, _product_by_first, f, argnums, has_aux, fixed)


def _vhp_by_hvp(f: Any, primals: Any, tangents: Any, argnums: Any = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """A product with the Hessian by reverse over reverse is the one by forward over reverse."""
    return hvp(f, primals, tangents, argnums, has_aux, **kwargs)


@role("vhp", _vhp_by_hvp)
@checked
def vhp(
    f: Callable[..., Any], primals: Any, tangents: Any, argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any
) -> Any:
    """The product of a vector and the Hessian of a function with one result, by reverse over reverse: the cotangent
    that ``tangents`` has through the gradient. Arguments and result are those of ``hvp``, which gives the same where
    the function is twice differentiable, and so are its errors.

    >>> import numpy as np, s2s
    >>> s2s.vhp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    """
    check_pairs(primals, tangents)
    moved = tuple(k for k, tangent in enumerate(tangents) if tangent is not None)
    inner = grad(f, moved, has_aux)
    pull = derivative("vjp", inner, argnums, has_aux, "zeros")
    _, pullback, *aux = pull(*primals, **kwargs)
    found = pullback(tuple(tangents[k] for k in moved))
    product = found if isinstance(argnums, tuple) else found[0]
    return (product, *aux) if has_aux else product


# --- others ---------------------------------------------------------------------------------------------------------


def _linear_model(f: Any, *primals: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    """Where values do not change there is nothing to copy."""
    found = f(*primals, **kwargs)
    out, *aux = found if has_aux else (found,)

    def f_jvp(*tangents: Any) -> Any:
        return jvp(f, primals, tangents, has_aux=has_aux, **kwargs)[1]

    return (out, f_jvp, *aux)


@role("linearize", _linear_model)
@checked
def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False, **kwargs: Any) -> tuple[Any, ...]:
    """The value of a function and its derivative there, ``(out, f_jvp)``; ``(out, f_jvp, aux)`` with ``has_aux``.

    ``f_jvp(*tangents)`` takes one tangent for each of ``primals``, None for one that stands still, and gives the
    tangent of the result. Arrays are copied: what becomes of the caller's does not matter.

    >>> import numpy as np, s2s
    >>> out, f_jvp = s2s.linearize(np.sin, 0.0)
    >>> float(f_jvp(2.0))
    2.0

    Raises what ``jvp`` raises.
    """
    held, choices = copy.deepcopy(primals), AMBIENT.get()
    found = _called(f, held, kwargs)
    if has_aux and not (isinstance(found, tuple) and len(found) == 2):
        derivative("jvp", f, 0, True, "zeros")(*held, **kwargs)  # raises: there is no pair
    out, *aux = found if has_aux else (found,)

    def f_jvp(*tangents: Any) -> Any:
        with held_again(choices):
            return jvp(f, held, tangents, has_aux=has_aux, **kwargs)[1]

    return (out, f_jvp, *aux)


@role("elementwise_grad")
@checked
def elementwise_grad(f: Callable[P, R], argnums: Argnums = 0, has_aux: bool = False) -> Derivative[P, R]:
    """The derivative of each element of the result with respect to its element of the argument, for functions that
    work element by element: the sums of the columns of the Jacobian, by one reverse sweep. The result has the shape of
    the argument.

    >>> import numpy as np, s2s
    >>> s2s.elementwise_grad(np.sin)(np.array([0.0, np.pi]))
    array([ 1., -1.])

    Raises what ``grad`` raises, but that the result may be an array.
    """

    return derivative("elementwise_grad", f, argnums, has_aux, "zeros")
