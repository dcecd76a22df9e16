"""SciPy's optimisers and solvers with the derivatives that they take: a function goes in, SciPy's result comes out.

    found = s2s.scipy.minimize(f, x0, args=(a,), method="trust-krylov")
    found = s2s.scipy.least_squares(residuals, x0)
    found = s2s.scipy.root(equations, x0)
    found, covariance = s2s.scipy.curve_fit(model, xdata, ydata)
    found = s2s.scipy.solve_ivp(fun, (0.0, 10.0), y0, method="Radau")

What is differentiated may be any structure of floats and arrays, as for ``s2s.grad``; results have the form of ``x0``.
"""

from s2s.scipy.equations import curve_fit, least_squares, root, solve_ivp
from s2s.scipy.minimizing import minimize

__all__ = ["curve_fit", "least_squares", "minimize", "root", "solve_ivp"]
