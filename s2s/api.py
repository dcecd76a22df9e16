"""The public functions: a function in, its derivative out, compiled at the first call with new kinds of arguments.

Importing this module is cheap; what it takes to make a derivative is imported when the first one is asked
for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from s2s.arguments import checked
from s2s.core import public
from s2s.core.public import role
from s2s.directives.differentiable import option_error

if TYPE_CHECKING:
    from s2s.derivatives import Derivative

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")

__all__ = ["grad", "jvp", "source", "value_and_grad", "vjp"]


@overload
def grad(
    f: Callable[P, tuple[Any, A]], argnums: int | str = 0, *, has_aux: Literal[True], unconnected: str = "zeros"
) -> Derivative[P, tuple[Any, A]]: ...
@overload
def grad(
    f: Callable[P, tuple[Any, A]], argnums: tuple[int | str, ...], *, has_aux: Literal[True], unconnected: str = "zeros"
) -> Derivative[P, tuple[tuple[Any, ...], A]]: ...
@overload
def grad(
    f: Callable[P, Any], argnums: int | str = 0, has_aux: bool = False, unconnected: str = "zeros"
) -> Derivative[P, Any]: ...
@overload
def grad(
    f: Callable[P, Any], argnums: tuple[int | str, ...], has_aux: bool = False, unconnected: str = "zeros"
) -> Derivative[P, tuple[Any, ...]]: ...
@role("grad")
@checked
def grad(
    f: Callable[..., Any],
    argnums: int | str | tuple[int | str, ...] = 0,
    has_aux: bool = False,
    unconnected: str = "zeros",
) -> Derivative[..., Any]:
    """The gradient of a function with one real result, as a function of the same arguments.

    ``argnums`` are positions or names of arguments; a single one gives a bare gradient, a tuple a tuple. A
    gradient has the structure, shape and dtype of its argument. With ``has_aux`` the function returns
    ``(value, aux)`` and the derivative ``(gradient, aux)``. ``unconnected`` is what an argument that the
    result does not depend on gets: ``"zeros"`` or ``"none"``.

    >>> import numpy as np, s2s
    >>> def loss(w, x):
    ...     return np.sum((w @ x - 1.0) ** 2)
    >>> w, x = np.eye(2), np.array([2.0, 3.0])
    >>> s2s.grad(loss)(w, x)
    array([[ 4.,  6.],
           [ 8., 12.]])
    >>> s2s.grad(loss, argnums=("x",))(w, x)
    (array([2., 4.]),)

    Raises ArgumentError for an unknown argument here, and for an integer argument to differentiate at the
    call; NonScalarOutputError where the result is not one real number; the other DifferentiationErrors
    where the function cannot be differentiated.
    """
    from s2s import derivatives

    return derivatives.derivative("grad", f, argnums, has_aux, check_unconnected(unconnected))


@overload
def value_and_grad(
    f: Callable[P, R], argnums: int | str = 0, has_aux: bool = False, unconnected: str = "zeros"
) -> Derivative[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, R], argnums: tuple[int | str, ...], has_aux: bool = False, unconnected: str = "zeros"
) -> Derivative[P, tuple[R, tuple[Any, ...]]]: ...
@role("value_and_grad")
@checked
def value_and_grad(
    f: Callable[..., Any],
    argnums: int | str | tuple[int | str, ...] = 0,
    has_aux: bool = False,
    unconnected: str = "zeros",
) -> Derivative[..., Any]:
    """The value and the gradient, ``(value, gradient)``, as a function of the same arguments; with
    ``has_aux`` ``((value, aux), gradient)``. Arguments and errors are those of ``grad``.

    >>> import s2s
    >>> s2s.value_and_grad(lambda x, y: x * y**2, argnums=(0, 1))(2.0, 3.0)
    (18.0, (9.0, 12.0))
    """
    from s2s import derivatives

    return derivatives.derivative("value_and_grad", f, argnums, has_aux, check_unconnected(unconnected))


def check_unconnected(unconnected: str) -> str:
    if unconnected not in ("zeros", "none"):
        raise option_error(f"`unconnected` is {unconnected!r}", 'give "zeros" or "none"')
    return unconnected


@overload
def vjp(
    f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False, **kwargs: Any
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[R, Callable[[Any], tuple[Any, ...]], A]: ...
@overload
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool, **kwargs: Any) -> tuple[Any, ...]: ...
@role("vjp")
@checked
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False, **kwargs: Any) -> tuple[Any, ...]:
    """The result of ``f(*primals, **kwargs)`` and its pullback, ``(out, pullback)``; ``(out, pullback,
    aux)`` with ``has_aux``.

    ``pullback(cotangent)`` takes what has the structure and shapes of ``out``, where None may stand for a part that has
    no derivative, and returns a tuple with one cotangent for each positional argument: None for one that has no
    derivative (an int, None, a string). It raises ArgumentError where the cotangent does not fit.

    >>> import numpy as np, s2s
    >>> out, pullback = s2s.vjp(lambda x, c: c * np.cumsum(x), np.array([1.0, 2.0]), 3.0)
    >>> out
    array([3., 9.])
    >>> x_bar, c_bar = pullback(np.array([1.0, 1.0]))
    >>> x_bar, float(c_bar)
    (array([6., 3.]), 4.0)

    Arguments that ``f`` changes in place stay as they are. Where ``f`` returns None, ``out`` is what the changed
    argument would hold, a tuple where there are several.
    """
    from s2s import derivatives

    pull: Any = derivatives.derivative("vjp", f, None, has_aux, "zeros", len(primals), "" if has_aux else "returned")
    result: tuple[Any, ...] = pull(*primals, **kwargs)
    return result


@overload
def jvp(
    f: Callable[..., R], primals: Any, tangents: Any, has_aux: Literal[False] = False, **kwargs: Any
) -> tuple[R, R]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, A]], primals: Any, tangents: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[R, R, A]: ...
@overload
def jvp(f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool, **kwargs: Any) -> tuple[Any, ...]: ...
@role("jvp")
@checked
def jvp(
    f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False, **kwargs: Any
) -> tuple[Any, ...]:
    """The result of ``f(*primals, **kwargs)`` and its tangent, ``(out, out_dot)``: the derivative of the result along
    ``tangents``, by forward mode; ``(out, out_dot, aux)`` with ``has_aux``.

    ``tangents`` has one tangent for each of ``primals``, with its structure and shape; None, also in a container,
    stands for zero, as it does for what has no derivative (an int, a string). ``out_dot`` has the structure, shapes and
    dtypes of ``out``.

    >>> import numpy as np, s2s
    >>> s2s.jvp(lambda x, c: c * np.cumsum(x), (np.array([1.0, 2.0]), 3.0), (np.array([1.0, 0.0]), None))
    (array([3., 9.]), array([3., 3.]))

    Raises ArgumentError where the tangents do not fit the primals, and the other DifferentiationErrors where the
    function cannot be differentiated.
    """
    from s2s.tangents import jvp as moved

    return moved(f, primals, tangents, has_aux, kwargs)


@checked
def source(
    f: Callable[..., Any],
    *args: Any,
    mode: str = "grad",
    argnums: int | str | tuple[int | str, ...] = 0,
    kinds: str = "",
    **kwargs: Any,
) -> str:
    """The generated code, as the text of a module.

    With example arguments, the version for their kinds; else one for ``kinds``, ``"x: f8[:, 3], n: int"``, and
    annotations (``x: float``, ``x: NDArray[np.float64]``, ``x: "f8[:, 3]"``), the general form where there are none.
    ``mode`` is ``grad``, ``value_and_grad``, ``vjp`` (pulls back to every positional argument), ``jvp``, ``hvp``, a
    Jacobian (``jacobian``, ``jacfwd``, ``jacrev``), ``hessian`` or ``primal``. Raises what the derivative itself
    raises; ArgumentError for what is no kind.

    >>> import s2s
    >>> def cube(x):
    ...     return x**3
    >>> "x_bar = 3 * x**2" in s2s.source(cube, 1.0)
    True
    >>> s2s.source(cube, 1.0) == s2s.source(cube, kinds="x: float")
    True
    """
    from s2s import sources

    return sources.source(f, args, kwargs, mode, argnums, kinds)


public.vjp, public.jvp = vjp, jvp
