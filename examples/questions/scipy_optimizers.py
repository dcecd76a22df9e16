"""How do I use the gradients in SciPy's optimisers and solvers?

A derivative is called as its function is, with the same further arguments, and gives arrays and numbers of
float64: it can be handed over as it is. `value_and_grad` is a function with `jac=True`, `hvp(f)` is `hessp`,
`hessian(f)` is `hess`, `jacobian(f)` is the `jac` of `least_squares`, `root` and, with `argnums=1`, of
`solve_ivp`. `s2s.scipy.minimize(f, x0, method=...)` and its like hand over what the method takes by
themselves.
"""

import numpy as np
from scipy import integrate, optimize

import s2s


def rosenbrock(x, steep):
    return np.sum(steep * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


def circles(x, radius):
    """Where a circle meets a diagonal."""
    return np.array([x[0] ** 2 + x[1] ** 2 - radius**2, x[0] - x[1]])


def van_der_pol(t, y, stiffness):
    return np.array([y[1], stiffness * (1.0 - y[0] ** 2) * y[1] - y[0]])


def sources():
    x = np.zeros(4)
    return [
        s2s.source(rosenbrock, x, 100.0, mode="value_and_grad"),
        s2s.source(van_der_pol, 0.0, x[:2], 1e3, mode="jacfwd", argnums="y"),
    ]


def main():
    x0, steep = np.array([1.3, 0.7, 0.8, 1.9, 1.2]), 100.0
    second = {"hessp": s2s.hvp(rosenbrock)}
    for method, more in (("BFGS", {}), ("L-BFGS-B", {}), ("Newton-CG", second), ("trust-krylov", second)):
        found = optimize.minimize(
            s2s.value_and_grad(rosenbrock), x0, args=(steep,), jac=True, method=method, **more
        )
        print(f"{method:12}: {found.nit:3} iterations, {found.fun:.1e}")
        np.testing.assert_allclose(found.x, 1.0, atol=1e-3)

    t = np.linspace(0.0, 3.0, 20)
    y = 2.0 * np.exp(-1.3 * t)
    fitted = optimize.least_squares(residuals, [1.0, 1.0], jac=s2s.jacobian(residuals), args=(t, y))
    print("least_squares:", fitted.x.round(6))
    np.testing.assert_allclose(fitted.x, [2.0, 1.3], rtol=1e-6)

    met = optimize.root(circles, [1.0, 0.5], jac=s2s.jacobian(circles), args=(2.0,))
    print("root         :", met.x.round(6))
    np.testing.assert_allclose(met.x, np.sqrt(2.0), rtol=1e-9)

    ends, calls = zip(*(oscillation(jac) for jac in (s2s.jacobian(van_der_pol, argnums="y"), None)))
    print(f"solve_ivp    : {calls[0]} calls of the function, {calls[1]} with differences")
    np.testing.assert_allclose(*ends, rtol=1e-3)
    assert calls[0] < calls[1]


def oscillation(jac):
    """Where a stiff oscillator is in the end, and how often its equation was called."""
    times = []

    def counted(t, y, stiffness):
        times.append(t)
        return van_der_pol(t, y, stiffness)

    found = integrate.solve_ivp(counted, (0.0, 2000.0), [2.0, 0.0], "Radau", args=(1e3,), jac=jac, rtol=1e-6)
    return found.y[:, -1], len(times)


if __name__ == "__main__":
    main()
