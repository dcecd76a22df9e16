"""Rules of ``scipy.integrate``, and what of it and of ``scipy.optimize`` has none, by name. ``fixed_quad`` and ``romb``
are differentiated as source.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate, optimize

from s2s.models import boundary, linear_programs, ode
from s2s.models import integrate as models
from s2s.models import optimize as solvers
from s2s.rules.samples import args, arr
from s2s.rules.table import kind_by_value, model, refuse, zero

GRID, GRID_OF_SIX = np.array([0.0, 0.4, 1.0, 1.3, 2.0]), np.array([0.0, 0.4, 1.0, 1.3, 2.0, 2.2])
model(integrate.quad)(models.quad)
zero(models.difference)
model(
    integrate.cumulative_trapezoid,
    samples=[
        args(arr(5)), args(arr(5), GRID), args(arr(3, 5), dx=0.5, initial=0.0), args(arr(5, 2), GRID, axis=0),
        args(arr(2, 3), arr(2, 3)),
    ],
)(models.cumulative_trapezoid)
model(
    integrate.simpson,
    samples=[
        args(arr(5)), args(arr(5), x=GRID), args(arr(3, 4), dx=0.5), args(arr(6, 2), axis=0), args(arr(2)),
        args(arr(4), x=GRID[:4]), args(arr(3), x=GRID[:3]),
    ],
)(models.simpson)

if hasattr(integrate, "cumulative_simpson"):
    model(
        integrate.cumulative_simpson,
        samples=[
            args(arr(5)), args(arr(6), x=GRID_OF_SIX), args(arr(3, 6), dx=0.5, initial=0.3), args(arr(2)),
            args(arr(5, 2), x=GRID, axis=0),
        ],
    )(models.cumulative_simpson)
model(integrate.dblquad)(models.dblquad)
model(integrate.tplquad)(models.tplquad)
model(integrate.nquad)(models.nquad)
model(integrate.quad_vec)(models.quad_vec)

ADAPTIVE = "its steps depend on the values; use fixed_quad, or simpson of values on a grid"
for _name in (
    "qmc_quad", "cubature", "tanhsinh", "nsum",
):
    if hasattr(integrate, _name):
        refuse(getattr(integrate, _name), ADAPTIVE)
model(integrate.solve_ivp)(ode.solve_ivp)
model(integrate.odeint)(ode.odeint)
model(integrate.solve_bvp)(boundary.solve_bvp)
zero(boundary.nodes_of, boundary.unknowns_of)
kind_by_value(boundary.nodes_of, boundary.unknowns_of)
zero(ode.solved, ode.solved_by_odeint, ode.steps_instead, ode.fractions, ode.places, ode.stages, ode.difference,
     ode.values_at)
STEPS = "its steps depend on the values; write a loop with steps of fixed length"
for _name in (
    "ode", "complex_ode", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA",
):
    refuse(getattr(integrate, _name), STEPS)
zero(linear_programs.corner)
kind_by_value(linear_programs.corner)
model(optimize.newton)(solvers.newton)
model(optimize.root_scalar)(solvers.root_scalar)
model(optimize.fixed_point)(solvers.fixed_point)
model(optimize.root)(solvers.root)
model(optimize.fsolve)(solvers.fsolve)
model(optimize.minimize)(solvers.minimize)
model(optimize.minimize_scalar)(solvers.minimize_scalar)
model(optimize.fminbound)(solvers.fminbound)
model(optimize.least_squares)(solvers.least_squares)
model(optimize.curve_fit)(solvers.curve_fit)
model(optimize.nnls)(solvers.nnls)
model(optimize.lsq_linear)(solvers.lsq_linear)
model(optimize.linprog)(linear_programs.linprog)
for _stands, _names in (
    (solvers.bracketing, ("brentq", "brenth", "bisect", "ridder", "toms748")),
    (solvers.nonlinear, (
        "broyden1", "broyden2", "anderson", "newton_krylov", "excitingmixing", "linearmixing", "diagbroyden")),
    (solvers.classic, ("fmin", "fmin_powell")),
    (solvers.line_minimum, ("brent", "golden")),
):
    for _name in _names:
        model(getattr(optimize, _name), given=(getattr(optimize, _name),))(_stands)

SOLVER = "it iterates until it is content; differentiate the condition that its result fulfils with s2s.implicit"
for _name in (
    "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_slsqp", "fmin_tnc", "fmin_cobyla", "leastsq",
    "milp", "basinhopping", "brute", "differential_evolution", "dual_annealing", "shgo", "direct",
    "linear_sum_assignment", "quadratic_assignment", "approx_fprime", "check_grad", "line_search", "bracket",
    "isotonic_regression",
):
    if hasattr(optimize, _name):
        refuse(getattr(optimize, _name), SOLVER)
