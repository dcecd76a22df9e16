"""A function and ``x0`` in, what ``scipy.optimize.minimize`` finds with the derivatives for its method out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.api import value_and_grad
from s2s.core.annotated import signature_of
from s2s.core.public import PublicValueAndGradient
from s2s.scipy.forms import Form, flat
from s2s.scipy.loading import as_tuple, check, load
from s2s.transforms import hessian, hvp, value_and_jacobian

__all__ = ["minimize", "with_form"]

WITHOUT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
"""The methods that take no derivatives; all others take the gradient."""

WITH_HESSIAN = frozenset({"dogleg", "trust-exact"})
WITH_PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
"""Those that take products of the Hessian with vectors, too."""


def minimize(
    f: Callable[..., Any], x0: Any, args: Any = (), method: Any = None, *, bounds: Any = None, constraints: Any = (),
    tol: float | None = None, callback: Callable[..., Any] | None = None, options: dict[str, Any] | None = None,
    **derivatives: Any,
) -> Any:
    """``scipy.optimize.minimize`` of ``f(x, *args)`` with the derivatives that the method takes: the gradient with the
    value, in one call, for all methods that take one; products with the Hessian for Newton-CG, trust-ncg, trust-krylov
    and trust-constr; the Hessian for dogleg and trust-exact; the Jacobian of constraints.

    ``x0`` is an array (or what SciPy takes for one), of any shape, or a structure of floats and arrays: dicts, lists,
    tuples, objects. ``f``, constraints and ``callback`` get what has its form, and ``x`` of the result, SciPy's
    ``OptimizeResult``, has it, and so has ``jac``. ``bounds`` may be SciPy's, or have the form of ``x0``: for each
    array, or for all below a place, None, a pair ``(least, greatest)`` of numbers, None or arrays, or ``Bounds``.

    ``hess`` may be a strategy of SciPy's, such as ``BFGS()`` for trust-constr. ``f`` may be a value and gradient over
    data in parts, ``s2s.distributed.value_and_grad(...)``, for methods that need no second derivatives. The other
    arguments are SciPy's.

    >>> import numpy as np, s2s
    >>> def f(p, a):
    ...     return np.sum((p["w"] - a) ** 4) + (p["b"] - p["w"][0]) ** 2
    >>> found = s2s.scipy.minimize(f, {"w": np.zeros(2), "b": 1.0}, args=(3.0,), bounds={"w": (0.0, 2.0), "b": None})
    >>> found.x["w"], round(found.x["b"], 4)
    (array([2., 2.]), 2.0)

    Raises ArgumentError where SciPy is not installed, for derivatives of one's own and for bounds that do not fit, and
    what ``s2s.grad`` raises.
    """
    strategy = derivatives.pop("hess", None)
    if callable(strategy):
        derivatives["hess"] = strategy
    check(f, "minimize", derivatives, ("jac", "hess", "hessp"))
    if derivatives:
        raise TypeError(f"minimize() got an unexpected keyword argument {next(iter(derivatives))!r}")
    optimize, form = load("optimize", "minimize"), Form(x0)
    name = method.lower() if isinstance(method, str) else method
    supplied = _supplied(f, form, name) if strategy is None else {**_supplied(f, form, ""), "hess": strategy}
    found = optimize.minimize(
        x0=form.start, args=as_tuple(args), method=method, bounds=form.bounds(bounds, optimize.Bounds),
        constraints=_constraints(constraints, form, optimize, name in WITHOUT), tol=tol,
        callback=with_form(callback, form), options=options, **supplied,
    )
    if not form.is_vector and np.shape(found.get("jac")) == (form.size,):
        found.jac = form.build(np.asarray(found.jac))
    found.x = form.build(found.x)
    return found


def _supplied(f: Any, form: Form, method: Any) -> dict[str, Any]:
    """The function and its derivatives, as SciPy takes them for a method."""
    has_both = isinstance(f, PublicValueAndGradient)
    if method in WITHOUT:
        return {"fun": lambda v, *args: f(form.build(v), *args)[0] if has_both else f(form.build(v), *args)}
    both = f if has_both else value_and_grad(f)

    def value_and_gradient(v: Any, *args: Any) -> tuple[Any, Any]:
        value, gradient = both(form.build(v), *args)
        return value, form.vector(gradient)

    found: dict[str, Any] = {"fun": value_and_gradient, "jac": True}
    if has_both:
        return found
    if method in WITH_HESSIAN:
        second = hessian(f)
        found["hess"] = lambda v, *args: form.square(second(form.build(v), *args))
    elif method in WITH_PRODUCTS or callable(method):
        product = hvp(f)
        found["hessp"] = lambda v, p, *args: form.vector(product(form.build(v), form.tangent(p), *args))
    return found


def with_form(callback: Callable[..., Any] | None, form: Form) -> Callable[..., Any] | None:
    """A callback for SciPy that hands on what has the form of ``x0``."""
    if callback is None or form.is_vector:
        return callback
    try:
        takes_result = [*signature_of(callback).parameters] == ["intermediate_result"]
    except (TypeError, ValueError):  # a function without a signature
        takes_result = False
    if not takes_result:
        return lambda v, *more: callback(form.build(np.array(v)), *more)

    def of_result(*, intermediate_result: Any) -> Any:
        intermediate_result.x = form.build(np.array(intermediate_result.x))
        return callback(intermediate_result=intermediate_result)

    return of_result


# --- constraints ------------------------------------------------------------------------------------------------------


def _constraints(given: Any, form: Form, optimize: Any, is_without: bool) -> Any:
    """Constraints whose functions take vectors, and have their Jacobians."""
    if isinstance(given, (dict, optimize.NonlinearConstraint, optimize.LinearConstraint)):
        return _constraint(given, form, optimize, is_without)
    return [_constraint(one, form, optimize, is_without) for one in given]


def _constraint(given: Any, form: Form, optimize: Any, is_without: bool) -> Any:
    if isinstance(given, dict) and callable(given.get("fun")):
        made = {**given, "fun": _of_vector(given["fun"], form)}
        if not (is_without or callable(given.get("jac"))):
            made["jac"] = _jacobian(given["fun"], form)
        elif callable(given.get("jac")):
            made["jac"] = _own_jacobian(given["jac"], given["fun"], form)
        return made
    if isinstance(given, optimize.NonlinearConstraint):
        own = given.jac if callable(given.jac) else None
        derivative = _own_jacobian(own, given.fun, form) if own else _jacobian(given.fun, form)
        return optimize.NonlinearConstraint(
            _of_vector(given.fun, form), given.lb, given.ub, derivative, given.hess, given.keep_feasible,
            given.finite_diff_rel_step, given.finite_diff_jac_sparsity,
        )
    return given


def _of_vector(c: Any, form: Form) -> Callable[..., Any]:
    return lambda v, *args: flat(c(form.build(v), *args))


def _jacobian(c: Any, form: Form) -> Callable[..., Any]:
    """The matrix of the Jacobian of a function whose result may be a structure."""
    both = value_and_jacobian(c)

    def matrix(v: Any, *args: Any) -> Any:
        value, found = both(form.build(v), *args)
        return form.rows(found, value)

    return matrix


def _own_jacobian(jac: Any, c: Any, form: Form) -> Callable[..., Any]:
    """The matrix of a Jacobian of one's own."""
    if form.is_vector:
        return jac  # type: ignore[no-any-return]
    return lambda v, *args: form.rows(jac(form.build(v), *args), c(form.build(v), *args))
