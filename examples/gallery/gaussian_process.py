"""
A Gaussian process and its hyper-parameters
===========================================

A Gaussian process draws a smooth curve through noisy points; how smooth, how high and how noisy is found by maximising
the marginal likelihood. The Hessian there says how certain these three numbers are.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import linalg, optimize

import s2s

# %%
# The negative log marginal likelihood, by a Cholesky factor.


def covariance(x, y, theta):
    length, size = np.exp(theta[0]), np.exp(theta[1])
    distance = (x[:, None] - y[None, :]) / length
    return size**2 * np.exp(-0.5 * distance**2)


def evidence(theta, x, y):
    K = covariance(x, x, theta) + np.exp(2.0 * theta[2]) * np.eye(len(x))
    L = linalg.cholesky(K, lower=True)
    alpha = linalg.solve_triangular(L, y, lower=True)
    return 0.5 * alpha @ alpha + np.sum(np.log(np.diag(L))) + 0.5 * len(x) * np.log(2.0 * np.pi)


# %%
# Forty points of a known curve with noise, and a search with exact second derivatives.

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0.0, 10.0, 40))
y = np.sin(1.3 * x) + 0.3 * np.cos(3.1 * x) + 0.2 * rng.normal(size=40)

hessian = s2s.hessian(evidence)
found = optimize.minimize(
    s2s.value_and_grad(evidence), np.zeros(3), args=(x, y), jac=True, hess=hessian, method="trust-exact"
)
theta = found.x
H = hessian(theta, x, y)
spread = np.sqrt(np.diag(np.linalg.inv(H)))
for name, t, s in zip(("length", "size", "noise"), theta, spread):
    print(f"{name:6} {np.exp(t):.3f}, within {np.exp(t - 2 * s):.3f} and {np.exp(t + 2 * s):.3f}")
assert found.success and np.all(np.linalg.eigvalsh(H) > 0.0)

# %%
# The gradient on paper is half the trace of :math:`(K^{-1} - \alpha \alpha^T)\, \partial K / \partial\theta`; the
# second derivatives are held against differences of it.


def by_hand(theta):
    K = covariance(x, x, theta)
    inverse = np.linalg.inv(K + np.exp(2.0 * theta[2]) * np.eye(len(x)))
    alpha = inverse @ y
    distance = (x[:, None] - x[None, :]) / np.exp(theta[0])
    slopes = (K * distance**2, 2.0 * K, 2.0 * np.exp(2.0 * theta[2]) * np.eye(len(x)))
    return np.array([0.5 * np.sum((inverse - np.outer(alpha, alpha)) * slope) for slope in slopes])


somewhere, h = np.array([0.2, -0.1, -1.0]), 1e-5
differences = np.array([(by_hand(somewhere + d) - by_hand(somewhere - d)) / (2 * h) for d in h * np.eye(3)])
print("largest error of the Hessian:", np.max(np.abs(hessian(somewhere, x, y) - differences)))
assert np.allclose(s2s.grad(evidence)(somewhere, x, y), by_hand(somewhere), rtol=1e-8)
assert np.allclose(hessian(somewhere, x, y), differences, rtol=1e-5, atol=1e-5)

# %%
# The adjoint of the factor is the rule that is found in papers, with the triangular solves that it needs.

print(s2s.source(evidence, theta, x, y, mode="grad"))

# %%
# The curve with two standard deviations, and the likelihood of two of the numbers with the ellipse of the Hessian.

at = np.linspace(-0.5, 10.5, 300)
K = covariance(x, x, theta) + np.exp(2.0 * theta[2]) * np.eye(len(x))
across = covariance(at, x, theta)
mean = across @ np.linalg.solve(K, y)
deviation = np.sqrt(np.exp(2.0 * theta[1]) - np.sum(across * np.linalg.solve(K, across.T).T, axis=1))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(2, 1), layout="constrained")
left.fill_between(at, mean - 2 * deviation, mean + 2 * deviation, alpha=0.2)
left.plot(at, mean)
left.plot(x, y, "k.")
left.set(xlabel="x", ylabel="y", title="posterior")
lengths, noises = np.linspace(-1.5, 1.0, 60), np.linspace(-2.5, -0.5, 50)
depth = [[evidence(np.array([a, theta[1], b]), x, y) - found.fun for a in lengths] for b in noises]
right.contourf(lengths, noises, np.minimum(depth, 12.0), 24, cmap="viridis_r")
turn = np.linspace(0.0, 2.0 * np.pi, 100)
circle = np.linalg.solve(np.linalg.cholesky(H[np.ix_([0, 2], [0, 2])]).T, 2.0 * np.array([np.cos(turn), np.sin(turn)]))
right.plot(*(theta[[0, 2], None] + circle), color="crimson", label="Hessian")
right.set(xlabel="log of the length", ylabel="log of the noise", title="negative log evidence")
right.legend()
plt.show()
