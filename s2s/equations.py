"""Solutions of equations: a solver and the residual that it makes zero go in, a function comes out that is
differentiated by the implicit function theorem.

    F(x, a) = 0    gives    dF/dx x_dot + dF/da a_dot = 0

So a tangent of the solution costs one linear solve with ``dF/dx``, a cotangent one with its transpose, whatever the
solver did: none of its steps is kept, and none is differentiated.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from s2s import api, transforms
from s2s import runtime as rt
from s2s.arguments import checked
from s2s.core.inspection import with_article
from s2s.core.public import PublicSolution, role
from s2s.directives.user_rules import ANYTHING, give_for_rest, text_of
from s2s.errors import error, not_a_function
from s2s.models.solutions import solved
from s2s.rules.table import Rule

__all__ = [
    "Implicit", "cotangents_of_solution", "implicit", "linear_solution", "solution_of", "tangent_of_solution",
    "transposed_solution",
]

P = ParamSpec("P")
R = TypeVar("R")


class Implicit(functools.partial[R], PublicSolution, Generic[P, R]):
    """A solver whose derivatives are those of the equation that it solves. Called, it is the solver."""

    if TYPE_CHECKING:
        residual: Callable[..., Any]
        linear_solve: Callable[..., Any] | None

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __s2s_made__(self) -> Any:
        return _remade, (self.func, self.residual, self.linear_solve)

    def __repr__(self) -> str:
        return f"<s2s.implicit {getattr(self, '__qualname__', self.func)}, {text_of(self.residual)}>"

    @functools.cached_property
    def __s2s_rule__(self) -> Rule:
        return Rule(
            self, "custom", ANYTHING, by_user=True,
            pullback=functools.partial(cotangents_of_solution, self.residual, self.linear_solve),
            pushforward=functools.partial(tangent_of_solution, self.residual, self.linear_solve),
        )


def _remade(solver: Any, residual: Any, linear_solve: Any) -> Any:
    return implicit(solver, residual, linear_solve=linear_solve)


@role("implicit")
@checked
def implicit(
    solver: Callable[P, R], residual: Callable[..., Any], *,
    linear_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
) -> Implicit[P, R]:
    """The function ``x = solver(*args)``, differentiated as the solution of ``residual(x, *args) == 0``, by the
    implicit function theorem: ``x_dot = -(d residual/dx)^-1 (d residual/d args) args_dot``.

    The unknown comes first in the residual, then the positional arguments of the solver; a fixed point ``x = g(x, a)``
    is the residual ``g(x, a) - x``. The residual has the shape of ``x``, a float or an array; the arguments
    may be any structures of these, and what has no derivative is passed on. Keyword arguments are options of the
    solver, which the residual does not get. The solver may be any function: it is called, and never differentiated.
    What the residual reads but does not get as an argument is a constant.

    Without ``linear_solve`` the Jacobian of the residual by ``x`` is made and solved with; ``linear_solve(matvec, b)``
    gives the solution of ``matvec(v) == b`` instead, by an iterative method for instance. A singular Jacobian raises
    what it raises, NumPy's ``LinAlgError``, or ZeroDivisionError for a float; one that is nearly singular gives a
    RuntimeWarning. Raises ArgumentError for what is no
    function.

    >>> import numpy as np, s2s
    >>> def newton(a):
    ...     x = 1.0
    ...     while abs(x * x - a) > 1e-12:
    ...         x = x - (x * x - a) / (2.0 * x)
    ...     return x
    >>> root = s2s.implicit(newton, lambda x, a: x * x - a)
    >>> round(s2s.grad(root)(4.0), 9)
    0.25
    """
    functions: list[Any] = [solver, residual, *([] if linear_solve is None else [linear_solve])]
    for f in functions:
        if not callable(f):
            raise not_a_function(f)
    made: Any = Implicit(solver)
    functools.update_wrapper(made, solver)
    made.__name__ = f"implicit_{solver.__name__}" if getattr(solver, "__name__", "<").isidentifier() else "implicit"
    made.residual, made.linear_solve = residual, linear_solve
    return made  # type: ignore[no-any-return]


@role("solution_of")
def solution_of(solver: Any, residual: Any, linear_solve: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``s2s.implicit(solver, residual)(*args, **kwargs)``: what the compiler takes such a call for, where the functions
    are nested."""
    return solver(*args, **kwargs)


# --- the rule -------------------------------------------------------------------------------------------------------


@role("cotangents_of_solution")
def cotangents_of_solution(
    residual: Any, linear_solve: Any, x: Any, x_bar: Any, /, *args: Any, **options: Any
) -> tuple[Any, ...]:
    """The cotangents of the arguments: ``w = solve((dF/dx)^T, -x_bar)``, then ``(dF/da)^T w`` for each."""
    _check_unknown(x)
    if linear_solve is not None:
        w = transposed_solution(linear_solve, residual, -x_bar, x, *args)
    elif np.ndim(x) == 0:
        w = -x_bar / api.grad(residual)(x, *args)
    elif np.ndim(x) == 1:
        jacobian = rt.regular(transforms.jacobian(residual)(x, *args))
        w = np.linalg.solve(jacobian.T, -x_bar)
    else:
        jacobian = rt.regular(np.reshape(transforms.jacobian(residual)(x, *args), (np.size(x), np.size(x))))
        w = np.reshape(np.linalg.solve(jacobian.T, -np.ravel(x_bar)), np.shape(x))
    _, *bars = api.vjp(residual, x, *args)[1](w)
    return tuple(bars)


@role("tangent_of_solution")
def tangent_of_solution(
    residual: Any, linear_solve: Any, x: Any, tangents: Any, /, *args: Any, **options: Any
) -> Any:
    """The tangent of the solution: ``solve(dF/dx, -dF/da a_dot)``."""
    _check_unknown(x)
    b = -api.jvp(residual, (x, *args), (None, *tangents))[1]
    if linear_solve is not None:
        return linear_solution(linear_solve, residual, b, x, *args)
    if np.ndim(x) == 0:
        return b / api.grad(residual)(x, *args)
    if np.ndim(x) == 1:
        return np.linalg.solve(rt.regular(transforms.jacobian(residual)(x, *args)), b)
    jacobian = rt.regular(np.reshape(transforms.jacobian(residual)(x, *args), (np.size(x), np.size(x))))
    return np.reshape(np.linalg.solve(jacobian, np.ravel(b)), np.shape(x))


def _check_unknown(x: Any) -> None:
    if isinstance(x, (tuple, list, dict)):
        raise error("S2S524", kind=with_article(type(x).__name__))


def _cotangents_of_nested(
    x: Any, x_bar: Any, solver: Any, residual: Any, linear_solve: Any, /, *args: Any, **options: Any
) -> tuple[Any, ...]:
    return cotangents_of_solution(residual, linear_solve, x, x_bar, *args)


def _tangent_of_nested(
    x: Any, tangents: Any, solver: Any, residual: Any, linear_solve: Any, /, *args: Any, **options: Any
) -> Any:
    return tangent_of_solution(residual, linear_solve, x, tangents[3:], *args)


def cotangents_of_solved(
    x: Any, x_bar: Any, residual: Any, linear_solve: Any, found: Any, /, *args: Any
) -> tuple[Any, ...]:
    return cotangents_of_solution(residual, linear_solve, x, x_bar, *args)


def tangent_of_solved(x: Any, tangents: Any, residual: Any, linear_solve: Any, found: Any, /, *args: Any) -> Any:
    return tangent_of_solution(residual, linear_solve, x, tangents[3:], *args)


# --- linear systems without a matrix --------------------------------------------------------------------------------


def linear_solution(linear_solve: Any, residual: Any, b: Any, x: Any, /, *args: Any, **options: Any) -> Any:
    """The solution ``v`` of ``dF/dx v = b``, by products of the Jacobian and a vector."""
    still = (None,) * len(args)
    return linear_solve(lambda v: api.jvp(residual, (x, *args), (v, *still))[1], b)


def transposed_solution(linear_solve: Any, residual: Any, b: Any, x: Any, /, *args: Any, **options: Any) -> Any:
    """The solution ``w`` of ``(dF/dx)^T w = b``, by products of a vector and the Jacobian."""
    pull = api.vjp(residual, x, *args)[1]
    return linear_solve(lambda w: pull(w)[0], b)


def _linear_residual(residual: Any, v: Any, b: Any, x: Any, /, *args: Any, **options: Any) -> Any:
    """What ``linear_solution`` makes zero."""
    return api.jvp(residual, (x, *args), (v, *(None,) * len(args)))[1] - b


def _transposed_residual(residual: Any, w: Any, b: Any, x: Any, /, *args: Any, **options: Any) -> Any:
    """What ``transposed_solution`` makes zero."""
    return api.vjp(residual, x, *args)[1](w)[0] - b


def _cotangents_of_linear(
    v: Any, v_bar: Any, linear_solve: Any, residual: Any, /, *args: Any, **options: Any
) -> tuple[Any, ...]:
    linear = functools.partial(_linear_residual, residual)
    return cotangents_of_solution(linear, linear_solve, v, v_bar, *args)


def _tangent_of_linear(v: Any, tangents: Any, linear_solve: Any, residual: Any, /, *args: Any, **options: Any) -> Any:
    linear = functools.partial(_linear_residual, residual)
    return tangent_of_solution(linear, linear_solve, v, tangents[2:], *args)


def _cotangents_of_transposed(
    w: Any, w_bar: Any, linear_solve: Any, residual: Any, /, *args: Any, **options: Any
) -> tuple[Any, ...]:
    transposed = functools.partial(_transposed_residual, residual)
    return cotangents_of_solution(transposed, linear_solve, w, w_bar, *args)


def _tangent_of_transposed(
    w: Any, tangents: Any, linear_solve: Any, residual: Any, /, *args: Any, **options: Any
) -> Any:
    transposed = functools.partial(_transposed_residual, residual)
    return tangent_of_solution(transposed, linear_solve, w, tangents[2:], *args)


for _solve, _count, _pullback, _pushforward in (
    (solution_of, 3, _cotangents_of_nested, _tangent_of_nested),
    (solved, 3, cotangents_of_solved, tangent_of_solved),
    (linear_solution, 2, _cotangents_of_linear, _tangent_of_linear),
    (transposed_solution, 2, _cotangents_of_transposed, _tangent_of_transposed),
):
    give_for_rest(_solve, _count, "s2s.implicit", _pullback, _pushforward)
