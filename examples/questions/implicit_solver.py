"""How do I differentiate through a solver: Newton, a fixed point, `scipy.optimize.root`, a linear solve?

A solution does not depend on how it was found: where `residual(x, *args)` is zero at the solution `x`, the implicit
function theorem gives the derivative by one linear solve with the Jacobian of the residual, whatever the solver did.
`s2s.implicit(solver, residual)` is the solver with that derivative. The solver may be a library without source, may
stop by a tolerance, may branch on what it meets: no iteration is kept, and nothing of it is read.

A Newton loop in Python can be differentiated as it is written, too. Then each step is run backwards, and what it reads
is kept. The numbers agree to the tolerance of the solver; the example compares both.
"""

import numpy as np
from scipy import optimize

import s2s


def kepler(anomaly, mean, eccentricity):
    """Kepler's equation: zero at the eccentric anomaly."""
    return anomaly - eccentricity * np.sin(anomaly) - mean


def newton(mean, eccentricity):
    anomaly = mean
    for _ in range(20):
        anomaly = anomaly - kepler(anomaly, mean, eccentricity) / (1.0 - eccentricity * np.cos(anomaly))
    return anomaly


def by_brentq(mean, eccentricity):
    return optimize.brentq(kepler, 0.0, 2.0 * np.pi, args=(mean, eccentricity), xtol=1e-14)


by_newton = s2s.implicit(newton, kepler)
orbit = s2s.implicit(by_brentq, kepler)


def radius(mean, eccentricity):
    return 1.0 - eccentricity * np.cos(by_newton(mean, eccentricity))


def concentrations(x, k):
    """A chemical equilibrium of two reactions."""
    return np.array([x[0] ** 2 * (2.0 - x[1]) - k[0] * (1.0 - x[0]), x[1] ** 2 - k[1] * x[0]])


def by_root(k):
    return optimize.root(concentrations, np.full(2, 0.5), args=(k,), tol=1e-13).x


equilibrium = s2s.implicit(by_root, concentrations)


def layer(z, w, b):
    return np.tanh(w @ z + b)


def iterated(w, b):
    z = np.zeros_like(b)
    for _ in range(200):
        z = layer(z, w, b)
    return z


fixed_point = s2s.implicit(iterated, lambda z, w, b: layer(z, w, b) - z)
solve = s2s.implicit(lambda a, b: np.linalg.solve(a, b), lambda x, a, b: a @ x - b)


def sources():
    return [s2s.source(radius, 1.0, 0.3, argnums=(0, 1))]


def main():
    # One number: by the theorem, through the loop, by a solver without source, and on paper.
    m, e = 1.0, 0.3
    anomaly = newton(m, e)
    on_paper = (1.0 / (1.0 - e * np.cos(anomaly)), np.sin(anomaly) / (1.0 - e * np.cos(anomaly)))
    for solver in (by_newton, newton, orbit):
        found = s2s.grad(solver, argnums=(0, 1))(m, e)
        print(found)
        assert np.allclose(found, on_paper, rtol=1e-12)
    s2s.check_grads(radius, (m, e))

    # A system, first and second derivatives: those of the residual, in both modes.
    k = np.array([0.3, 0.8])
    x = equilibrium(k)
    h = 1e-6
    differences = [(equilibrium(k + h * d) - equilibrium(k - h * d)) / (2 * h) for d in np.eye(2)]
    assert np.allclose(s2s.jacobian(equilibrium)(k), np.transpose(differences), rtol=1e-7)
    s2s.check_grads(equilibrium, (k,), order=2)
    print("equilibrium", x, s2s.jacobian(equilibrium)(k))

    # A fixed point and a linear system, against what differentiating the solver itself gives.
    rng = np.random.default_rng(0)
    w, b = 0.3 * rng.normal(size=(4, 4)), rng.normal(size=4)
    compare(fixed_point, iterated, w, b)
    compare(solve, np.linalg.solve, np.eye(4) + w, b)


def compare(by_theorem, solver, a, b):
    found, expected = (
        s2s.grad(lambda a, b, f: np.sum(f(a, b) ** 2), argnums=(0, 1))(a, b, f) for f in (by_theorem, solver)
    )
    assert np.allclose(found[0], expected[0], rtol=1e-9) and np.allclose(found[1], expected[1], rtol=1e-9)


if __name__ == "__main__":
    main()
