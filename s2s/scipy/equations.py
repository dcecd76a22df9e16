"""Residuals, equations, models and right-hand sides in, what SciPy finds with their Jacobians out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.scipy.forms import Form, flat
from s2s.scipy.loading import as_tuple, check, load
from s2s.scipy.minimizing import with_form
from s2s.transforms import jacobian, value_and_jacobian

__all__ = ["curve_fit", "least_squares", "root", "solve_ivp"]


class _Flat:
    """A function of a structure as one of vectors: its value, and its Jacobian as a matrix."""

    def __init__(self, f: Callable[..., Any], form: Form) -> None:
        self.f, self.form = f, form
        self.both = value_and_jacobian(f)

    def value(self, v: Any, *args: Any, **kwargs: Any) -> Any:
        return flat(self.f(self.form.build(v), *args, **kwargs))

    def jacobian(self, v: Any, *args: Any, **kwargs: Any) -> Any:
        value, found = self.both(self.form.build(v), *args, **kwargs)
        return self.form.rows(found, value)


def least_squares(
    f: Callable[..., Any], x0: Any, bounds: Any = None, *, args: Any = (), kwargs: dict[str, Any] | None = None,
    callback: Callable[..., Any] | None = None, **options: Any,
) -> Any:
    """``scipy.optimize.least_squares`` of the residuals ``f(x, *args, **kwargs)`` with their Jacobian.

    ``x0``, ``bounds`` and ``x`` of the result are those of ``s2s.scipy.minimize``; of an array the bounds may also be
    SciPy's pair of arrays. Residuals are a vector, or arrays and numbers in lists, tuples and dicts. ``options`` are
    SciPy's.

    >>> import numpy as np, s2s
    >>> t = np.linspace(0.0, 1.0, 20)
    >>> def residuals(p, y):
    ...     return p["size"] * np.exp(-p["rate"] * t) - y
    >>> found = s2s.scipy.least_squares(residuals, {"size": 1.0, "rate": 1.0}, args=(2.0 * np.exp(-3.0 * t),))
    >>> round(found.x["size"], 6), round(found.x["rate"], 6)
    (2.0, 3.0)
    """
    check(f, "least_squares", options, ("jac",))
    optimize, form = load("optimize", "least_squares"), Form(x0)
    function = _Flat(f, form)
    if bounds is not None:
        options["bounds"] = form.bounds(bounds, optimize.Bounds)
    if callback is not None:
        options["callback"] = with_form(callback, form)
    found = optimize.least_squares(
        function.value, form.start, function.jacobian, args=as_tuple(args), kwargs=kwargs or {}, **options
    )
    found.x = form.build(found.x)
    return found


def root(f: Callable[..., Any], x0: Any, args: Any = (), method: str = "hybr", **options: Any) -> Any:
    """``scipy.optimize.root`` of ``f(x, *args)``, with the Jacobian for the methods hybr and lm, which take one.

    ``x0`` and ``x`` of the result are those of ``s2s.scipy.minimize``; ``f`` gives as many numbers as there are in
    ``x0``, in an array or in arrays in lists, tuples and dicts. ``options`` are SciPy's.

    >>> import numpy as np, s2s
    >>> found = s2s.scipy.root(lambda x: [x[0] ** 2 + x[1] ** 2 - 2.0, x[0] - x[1]], [2.0, 1.0])
    >>> found.x.round(6)
    array([1., 1.])
    """
    check(f, "root", options, ("jac",))
    optimize, form = load("optimize", "root"), Form(x0)
    function = _Flat(f, form)
    if method.lower() in ("hybr", "lm"):
        options["jac"] = function.jacobian
    if options.get("callback") is not None and not form.is_vector:
        own = options["callback"]
        options["callback"] = lambda v, residuals: own(form.build(np.array(v)), residuals)
    found = optimize.root(function.value, form.start, as_tuple(args), method, **options)
    found.x = form.build(found.x)
    return found


def curve_fit(f: Callable[..., Any], xdata: Any, ydata: Any, p0: Any = None, **options: Any) -> Any:
    """``scipy.optimize.curve_fit`` of the model ``f(xdata, *parameters)`` with the derivative by its parameters.

    ``p0`` may be a structure of floats and arrays that is no list or tuple of numbers: the model is then
    ``f(xdata, parameters)``, and what is found has its form; the covariance has its numbers in order. ``bounds`` are
    then those of ``s2s.scipy.minimize``. ``options`` are SciPy's.

    >>> import numpy as np, s2s
    >>> def model(x, size, rate):
    ...     return size * np.exp(-rate * x)
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> found, covariance = s2s.scipy.curve_fit(model, x, model(x, 2.0, 3.0))
    >>> found.round(6)
    array([2., 3.])
    """
    check(f, "curve_fit", options, ("jac",))
    optimize = load("optimize", "curve_fit")
    form = None if p0 is None else Form([p0] if np.isscalar(p0) else p0)
    if form is None or form.is_vector:
        start = None if form is None else form.start
        return optimize.curve_fit(f, xdata, ydata, start, jac=_by_parameters(f), **options)
    function = value_and_jacobian(f, argnums=1)
    if options.get("bounds") is not None:
        options["bounds"] = form.bounds(options["bounds"], optimize.Bounds)

    def model(x: Any, *v: Any) -> Any:
        return flat(f(x, form.build(np.array(v))))

    def derivative(x: Any, *v: Any) -> Any:
        value, found = function(x, form.build(np.array(v)))
        return form.rows(found, value)

    found, *more = optimize.curve_fit(model, xdata, ydata, form.start, jac=derivative, **options)
    return (form.build(found), *more)


def _by_parameters(f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a model by its parameters, side by side."""

    def derivative(x: Any, *parameters: Any) -> Any:
        found = jacobian(f, argnums=tuple(range(1, len(parameters) + 1)))(x, *parameters)
        return np.stack([np.ravel(part) for part in found], axis=1)

    return derivative


def solve_ivp(
    fun: Callable[..., Any], t_span: Any, y0: Any, method: Any = "RK45", *, args: Any = None, **options: Any
) -> Any:
    """``scipy.integrate.solve_ivp`` of ``fun(t, y, *args)``, with the Jacobian by ``y`` for the methods that take one:
    Radau, BDF and LSODA. ``y0`` is a vector, and may be complex where ``fun`` has a complex derivative. ``options`` are
    SciPy's.

    >>> import numpy as np, s2s
    >>> def decay(t, y, rate):
    ...     return [-rate * y[0] ** 3, y[0] - y[1]]
    >>> found = s2s.scipy.solve_ivp(decay, (0.0, 1.0), [1.0, 0.0], method="BDF", args=(1e3,), rtol=1e-6, atol=1e-9)
    >>> found.success, bool(abs(found.y[0, -1] - 2001.0**-0.5) < 1e-5)
    (True, True)
    """
    check(fun, "solve_ivp", options, ("jac",))
    integrate = load("integrate", "solve_ivp")
    if args is not None:
        options["args"] = as_tuple(args)
    solvers = tuple(getattr(integrate, name) for name in ("Radau", "BDF", "LSODA"))
    is_taken = isinstance(method, type) and issubclass(method, solvers)
    if is_taken or method in [solver.__name__ for solver in solvers]:
        options["jac"] = _by_state(fun, np.iscomplexobj(y0))
    return integrate.solve_ivp(fun, t_span, y0, method, **options)


def _by_state(fun: Callable[..., Any], is_complex: bool) -> Callable[..., Any]:
    """The Jacobian of a right-hand side by the state; a result may be a list."""
    derivative = jacobian(fun, argnums=1, holomorphic=is_complex)

    def matrix(t: Any, y: Any, *args: Any) -> Any:
        found = derivative(t, y, *args)
        rows = found if isinstance(found, (list, tuple)) else [found]
        return np.concatenate([np.reshape(row, (-1, len(y))) for row in rows])

    return matrix
