"""``scipy.integrate`` and ``scipy.optimize``: what has no rule, by name. Rules of sums and of fixed order are
differentiated as source.
"""

from __future__ import annotations

from scipy import integrate, optimize

from s2s.rules.table import refuse

ADAPTIVE = "its steps depend on the values; use fixed_quad, or simpson of values on a grid"
for _name in (
    "quad", "dblquad", "tplquad", "nquad", "quad_vec", "qmc_quad", "cubature", "tanhsinh", "nsum",
):
    if hasattr(integrate, _name):
        refuse(getattr(integrate, _name), ADAPTIVE)
STEPS = "its steps depend on the values; write a loop with steps of fixed length"
for _name in (
    "odeint", "solve_ivp", "solve_bvp", "ode", "complex_ode", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA",
):
    refuse(getattr(integrate, _name), STEPS)
SOLVER = "it iterates until it is content; differentiate the condition that its result fulfils"
for _name in (
    "minimize", "minimize_scalar", "root", "root_scalar", "fsolve", "brentq", "brenth", "bisect", "ridder",
    "newton", "toms748", "fixed_point", "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell",
    "fmin_slsqp", "fmin_tnc", "fmin_cobyla", "fminbound", "brent", "golden", "least_squares", "leastsq",
    "curve_fit", "linprog", "milp", "nnls", "lsq_linear", "basinhopping", "brute", "differential_evolution",
    "dual_annealing", "shgo", "direct", "linear_sum_assignment", "quadratic_assignment", "broyden1", "broyden2",
    "anderson", "newton_krylov", "excitingmixing", "linearmixing", "diagbroyden", "approx_fprime", "check_grad",
    "line_search", "bracket", "isotonic_regression",
):
    if hasattr(optimize, _name):
        refuse(getattr(optimize, _name), SOLVER)
