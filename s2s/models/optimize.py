"""What the root finders and minimisers of ``scipy.optimize`` compute: SciPy's own result, differentiated as the
solution of the equation that it fulfils, by the implicit function theorem.

A root makes the function zero, a minimum its gradient. Where the solution stands on a bound, or a constraint is active,
it is the bound or the constraint that holds. Neither starting values nor brackets nor tolerances move a solution, so
they have the derivative zero. The values are SciPy's, to its tolerances; derivatives are those at the point found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from s2s import runtime as rt
from s2s.core.public import function
from s2s.models.solutions import arity, attached, by_elements, for_value, once_more, underived, was_called

__all__ = [
    "Found", "bracketing", "curve_fit", "fixed_point", "fsolve", "least_squares", "lsq_linear", "minimize",
    "minimize_scalar", "newton", "nnls", "root", "root_scalar",
]

CONSTRAINTS = "it has a rule without constraints; write the condition that holds at the solution with s2s.implicit"
COMPLEX = "it has a rule for real unknowns"
INVERSE = "take the Hessian of the function at the solution, by s2s.hessian"


# --- parts ------------------------------------------------------------------------------------------------------------


def array_like(shape: Any, found: Any) -> Any:
    """An array of floats of a known shape, with the values of one of which the compiler knows nothing."""
    made = np.zeros(shape)
    made[...] = found
    return np.copy(made)


class Found:
    """A result of SciPy: what it has besides is read as it is."""

    def __init__(self, found: Any, x: Any, f: Any) -> None:
        self.found = found
        self.x = x
        self.f = f

    @property
    def fun(self) -> Any:
        return once_more(self.f, self.x)

    @property
    def jac(self) -> Any:
        return once_more(function("grad")(self.f), self.x)

    @property
    def success(self) -> Any:
        return for_value(getattr, self.found, "success")

    @property
    def message(self) -> Any:
        return for_value(getattr, self.found, "message")

    @property
    def status(self) -> Any:
        return for_value(getattr, self.found, "status")

    @property
    def nit(self) -> Any:
        return for_value(getattr, self.found, "nit")

    @property
    def nfev(self) -> Any:
        return for_value(getattr, self.found, "nfev")

    @property
    def njev(self) -> Any:
        return for_value(getattr, self.found, "njev")

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name)

    def __getattr__(self, name: Any) -> Any:
        return unread(self.found, name, self.x)

    def get(self, name: Any, default: Any = None) -> Any:
        return getattr(self, name) if hasattr(self.found, name) else default


def unread(found: Any, name: Any, x: Any) -> Any:
    """What a result of SciPy has besides, of which no derivative is known."""
    return underived(for_value(getattr, found, name), np.sum(x))


# --- roots of one variable --------------------------------------------------------------------------------------------


class Root:
    """What ``root_scalar`` gives, and ``full_output``."""

    def __init__(self, found: Any, root: Any) -> None:
        self.root = root
        self.iterations = found.iterations
        self.function_calls = found.function_calls
        self.converged = found.converged
        self.flag = found.flag
        self.method = found.method


def bracketing(
    solver: Any, f: Any, a: Any, b: Any, args: Any = (), *more: Any, full_output: Any = False, **options: Any
) -> Any:
    """``brentq`` and its like."""
    given = args if isinstance(args, tuple) else (args,)
    found = for_value(solver, f, a, b, given, *more, full_output=True, **options)
    x = attached(lambda x: f(x, *given), float(found[0]))
    return (x, Root(found[1], x)) if full_output else x


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: Any = 50, fprime2: Any = None,
    x1: Any = None, rtol: Any = 0.0, full_output: Any = False, disp: Any = True,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    if np.iscomplexobj(x0):
        return rt.no_derivative("scipy.optimize.newton", COMPLEX)
    found = for_value(
        optimize.newton, func, x0, fprime, given, tol, maxiter, fprime2, x1, rtol, True, disp)
    if np.ndim(x0) == 0:
        x = attached(lambda x: func(x, *given), float(found[0]))
        return (x, Root(found[1], x)) if full_output else x
    x = attached(lambda x: func(x, *given), array_like(np.shape(x0), found[0]), by_elements)
    return (x, found[1], found[2]) if full_output else x


def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None, fprime2: Any = None,
    x0: Any = None, x1: Any = None, xtol: Any = None, rtol: Any = None, maxiter: Any = None, options: Any = None,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    found = for_value(
        optimize.root_scalar, f, given, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options)
    values = (lambda x: f(x, *given)[0]) if fprime is True or fprime2 is True else (lambda x: f(x, *given))
    return Root(found, attached(values, float(found.root)))


def fixed_point(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-8, maxiter: Any = 500, method: Any = "del2"
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    found = for_value(optimize.fixed_point, func, x0, given, xtol, maxiter, method)
    if np.ndim(x0) == 0:
        return attached(lambda x: func(x, *given) - x, float(found))
    return attached(lambda x: np.asarray(func(x, *given)) - x, array_like(np.shape(x0), found))


# --- roots of systems -------------------------------------------------------------------------------------------------


def residual_of(fun: Any, given: Any, has_jacobian: Any) -> Any:
    if has_jacobian:
        return lambda x: np.asarray(fun(x, *given)[0])
    return lambda x: np.asarray(fun(x, *given))


def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None, callback: Any = None,
    options: Any = None,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    if np.iscomplexobj(x0):
        return rt.no_derivative("scipy.optimize.root", COMPLEX)
    found = for_value(optimize.root, fun, x0, given, method, jac, tol, callback, options)
    was_called(callback)
    was_called(jac)
    residual = residual_of(fun, given, jac is True)
    shape = (np.size(x0),) if method in ("hybr", "lm") else np.shape(x0)
    return Found(found, attached(residual, array_like(shape, found.x)), residual)


def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, *more: Any, **options: Any
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    found = for_value(optimize.fsolve, func, x0, given, fprime, True, *more, **options)
    was_called(fprime)
    x = attached(lambda x: np.atleast_1d(np.asarray(func(x, *given))), array_like((np.size(x0),), found[0]))
    return (x, found[1], found[2], found[3]) if full_output else x


def nonlinear(solver: Any, F: Any, xin: Any, *more: Any, **options: Any) -> Any:
    """``broyden1`` and its like."""
    found = for_value(solver, F, xin, *more, **options)
    if np.ndim(xin) == 0:
        return attached(F, float(found))
    return attached(lambda x: np.asarray(F(x)), array_like(np.shape(xin), found))


# --- minima -----------------------------------------------------------------------------------------------------------


def limits(bounds: Any, count: Any) -> Any:
    """The lower and the upper bounds of the unknowns, infinite where there is none. They may be differentiated."""
    if hasattr(bounds, "lb"):
        return np.zeros(count) + bounds.lb, np.zeros(count) + bounds.ub
    if isinstance(bounds, np.ndarray):
        return bounds[:, 0], bounds[:, 1]
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    for i in range(count):
        if bounds[i][0] is not None:
            low[i] = bounds[i][0]
        if bounds[i][1] is not None:
            high[i] = bounds[i][1]
    return low, high


def on_bounds(x: Any, slope: Any, low: Any, high: Any) -> Any:
    """Which unknowns of a minimum stand on their lower and their upper bound: -1, 0 or 1 for each."""
    near = 1e-6 * np.maximum(1.0, np.abs(x))
    lower = (x - low <= 0.0) | ((x - low <= near) & (slope > 0.0))
    upper = (high - x <= 0.0) | ((high - x <= near) & (slope < 0.0))
    return np.where(lower, -1.0, np.where(upper, 1.0, 0.0))


def stationary(cost: Any, found: Any, bounds: Any) -> Any:
    """The point of a minimum: where the gradient is zero. Unknowns that stand on a bound follow it."""
    slope = function("grad")(cost)
    if bounds is None:
        return attached(slope, found)
    low, high = limits(bounds, np.size(found))
    sides = array_like(np.shape(found), for_value(on_bounds, found, for_value(slope, found), low, high))
    edge = np.where(sides < 0.0, low, np.where(sides > 0.0, high, 0.0))
    return attached(lambda x: np.where(sides == 0.0, slope(x), x - edge), found)


def one_number(value: Any) -> Any:
    """What a function to minimise gives, which may be an array of one element."""
    return value if np.ndim(value) == 0 else np.reshape(value, -1)[0]


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None,
    bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    if not isinstance(constraints, (tuple, list)) or len(constraints) > 0:
        return rt.no_derivative("scipy.optimize.minimize", CONSTRAINTS)
    found = for_value(
        optimize.minimize, fun, x0, given, method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    for other in (jac, hess, hessp, callback):
        was_called(other)
    cost = (lambda x: one_number(fun(x, *given)[0])) if jac is True else (lambda x: one_number(fun(x, *given)))
    return Found(found, stationary(cost, array_like((np.size(x0),), found.x), bounds), cost)


def classic(solver: Any, func: Any, x0: Any, args: Any = (), *more: Any, full_output: Any = 0, **options: Any) -> Any:
    """``fmin`` and its like, whose result is the point."""
    given = args if isinstance(args, tuple) else (args,)
    if full_output:
        return rt.no_derivative(f"scipy.optimize.{solver.__name__} with full_output", "use scipy.optimize.minimize")
    found = for_value(solver, func, x0, given, *more, **options)
    was_called(options.get("callback"))
    return stationary(lambda x: one_number(func(x, *given)), array_like((np.size(x0),), found), None)


def at_end(x: Any, low: Any, high: Any, slope: Any, bend: Any) -> Any:
    """Which end of an interval a minimum is, -1 or 1, else 0: a step of Newton's method from there would leave it."""
    side = -1 if x - low <= high - x else 1
    if bend <= 0.0:
        return side if min(x - low, high - x) <= 1e-3 * (high - low) else 0
    return 0 if low <= x - slope / bend <= high else side


def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), method: Any = None, tol: Any = None,
    options: Any = None,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    found = for_value(optimize.minimize_scalar, fun, bracket, bounds, given, method, tol, options)
    return Found(found, of_one(lambda x: fun(x, *given), float(found.x), bounds), lambda x: fun(x, *given))


def of_one(cost: Any, x: Any, bounds: Any) -> Any:
    """The point of a minimum of a function of one number."""
    slope = function("grad")(cost)
    if bounds is None:
        return attached(slope, x)
    bend = function("grad")(slope)
    low, high = bounds
    side = int(for_value(at_end, x, low, high, for_value(slope, x), for_value(bend, x)))
    return attached(lambda t: slope(t) if side == 0 else t - (low if side < 0 else high), x)


def fminbound(
    func: Any, x1: Any, x2: Any, args: Any = (), xtol: Any = 1e-5, maxfun: Any = 500, full_output: Any = 0,
    disp: Any = 1,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    if full_output:
        return rt.no_derivative("scipy.optimize.fminbound with full_output", "use scipy.optimize.minimize_scalar")
    found = for_value(optimize.fminbound, func, x1, x2, given, xtol, maxfun, 0, disp)
    return of_one(lambda x: func(x, *given), float(found), (x1, x2))


def line_minimum(solver: Any, func: Any, args: Any = (), *more: Any, full_output: Any = 0, **options: Any) -> Any:
    """``brent`` and ``golden``."""
    given = args if isinstance(args, tuple) else (args,)
    if full_output:
        return rt.no_derivative(f"scipy.optimize.{solver.__name__} with full_output", "use minimize_scalar")
    found = for_value(solver, func, given, *more, **options)
    return of_one(lambda x: func(x, *given), float(found), None)


# --- least squares ----------------------------------------------------------------------------------------------------


def loss_of(r: Any, loss: Any, f_scale: Any) -> Any:
    """The cost of residuals as ``least_squares`` has it."""
    z = (r / f_scale) ** 2
    if loss == "linear":
        rho = z
    elif loss == "soft_l1":
        rho = 2.0 * (np.sqrt(1.0 + z) - 1.0)
    elif loss == "huber":
        rho = np.where(z <= 1.0, z, 2.0 * np.sqrt(np.maximum(z, 1.0)) - 1.0)
    elif loss == "cauchy":
        rho = np.log1p(z)
    elif loss == "arctan":
        rho = np.arctan(z)
    else:
        return rt.no_derivative("scipy.optimize.least_squares", "it has a rule for the losses that SciPy has by name")
    return 0.5 * f_scale * f_scale * np.sum(rho)


class Fitted(Found):
    """What ``least_squares`` gives."""

    def __init__(self, found: Any, x: Any, f: Any, cost_of: Any) -> None:
        self.found = found
        self.x = x
        self.f = f
        self.cost_of = cost_of

    @property
    def cost(self) -> Any:
        return once_more(self.cost_of, self.x)

    @property
    def jac(self) -> Any:
        return once_more(function("jacfwd")(self.f), self.x)

    @property
    def grad(self) -> Any:
        return once_more(function("grad")(self.cost_of), self.x)


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf), method: Any = "trf", *more: Any,
    loss: Any = "linear", f_scale: Any = 1.0, args: Any = (), kwargs: Any = None, **options: Any,
) -> Any:
    given = args if isinstance(args, tuple) else (args,)
    named = {} if kwargs is None else kwargs
    found = for_value(
        optimize.least_squares, fun, x0, jac, bounds, method, *more, loss=loss, f_scale=f_scale, args=given,
        kwargs=named, **options)
    was_called(jac)
    was_called(options.get("callback"))

    def residuals(x: Any) -> Any:
        return np.atleast_1d(np.asarray(fun(x, *given, **named)))

    def cost(x: Any) -> Any:
        return loss_of(residuals(x), loss, f_scale)

    sides = sides_of(bounds, np.size(x0))
    return Fitted(found, stationary(cost, array_like((np.size(x0),), found.x), sides), residuals, cost)


def sides_of(bounds: Any, count: Any) -> Any:
    """Bounds as ``minimize`` has them, one row for each unknown."""
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else (bounds[0], bounds[1])
    return np.stack([np.zeros(count) + np.asarray(low), np.zeros(count) + np.asarray(high)], axis=1)


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: Any = False,
    check_finite: Any = None, bounds: Any = (-np.inf, np.inf), method: Any = None, jac: Any = None, **options: Any,
) -> Any:
    x, y = xdata, np.asarray(ydata)
    found = for_value(
        optimize.curve_fit, f, x, y, p0, sigma, absolute_sigma, check_finite, bounds, method, jac, **options)
    count = arity(f) - 1 if p0 is None else len(p0)
    if np.ndim(sigma) > 1:
        root_of_sigma = np.linalg.cholesky(np.asarray(sigma))

    def residuals(p: Any) -> Any:
        wrong = f(x, *p) - y
        if sigma is None:
            return wrong
        return np.linalg.solve(root_of_sigma, wrong) if np.ndim(sigma) > 1 else wrong / np.asarray(sigma)

    sides = sides_of(bounds, count)
    p = stationary(lambda p: 0.5 * np.sum(residuals(p) ** 2), array_like((count,), found[0]), sides)
    J = once_more(function("jacfwd")(residuals), p)
    spread = np.linalg.inv(J.T @ J)
    if not absolute_sigma:
        spread = spread * np.sum(once_more(residuals, p) ** 2) / (np.size(y) - count)
    return p, spread


def nnls(A: Any, b: Any, *more: Any, **options: Any) -> Any:
    found = for_value(optimize.nnls, A, b, *more, **options)
    A, b = np.asarray(A), np.asarray(b)
    count = np.shape(A)[1]
    x = stationary(
        lambda x: 0.5 * np.sum((A @ x - b) ** 2), array_like((count,), found[0]), [(0.0, None)] * count)
    return x, np.sqrt(np.sum((A @ x - b) ** 2))


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *more: Any, **options: Any) -> Any:
    found = for_value(optimize.lsq_linear, A, b, bounds, *more, **options)
    A, b = np.atleast_2d(A), np.atleast_1d(b)
    count = np.shape(A)[1]

    def cost(x: Any) -> Any:
        return 0.5 * np.sum((A @ x - b) ** 2)

    sides = sides_of(bounds, count)
    x = stationary(cost, array_like((count,), found.x), sides)
    return Fitted(found, x, lambda x: A @ x - b, cost)
