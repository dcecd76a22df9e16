"""
Calibrating a Kalman filter
===========================

A Kalman filter follows a moving object through noisy positions, but must be told how noisy they are and how much the
object is pushed about. Both are found from the positions themselves, by maximum likelihood.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize, stats

import s2s

# %%
# The filter, with the log-likelihood of the positions. The state is position and velocity; pushes are random.

DT = 0.1
F = np.array([[1.0, DT], [0.0, 1.0]])
G = np.array([[DT**3 / 3.0, DT**2 / 2.0], [DT**2 / 2.0, DT]])
H = np.array([[1.0, 0.0]])
P0 = np.diag([1.0, 1.0])


def filtered(theta, positions):
    """Log-likelihood, and the filtered positions with their variances."""
    push, noise = np.exp(theta)
    Q, R = push**2 * G, noise**2 * np.eye(1)
    x, P = np.zeros(2), P0
    loglik = 0.0
    track = []
    for z in positions:
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        loglik -= 0.5 * (innovation @ np.linalg.solve(S, innovation) + np.log(2.0 * np.pi * np.linalg.det(S)))
        x = x + K @ innovation
        P = (np.eye(2) - K @ H) @ P
        track.append((x[0], P[0, 0]))
    return loglik, track


def deviance(theta, positions):
    return -filtered(theta, positions)[0]


# %%
# A path with known parameters, and the search with gradient and Hessian.

rng = np.random.default_rng(3)
true = np.log([0.8, 0.3])
state, path = np.zeros(2), []
for _ in range(200):
    state = F @ state + rng.multivariate_normal(np.zeros(2), np.exp(2.0 * true[0]) * G)
    path.append(state[0])
path = np.array(path)
positions = path + np.exp(true[1]) * rng.normal(size=path.shape)

found = optimize.minimize(
    s2s.value_and_grad(deviance), np.zeros(2), args=(positions,), jac=True, hess=s2s.hessian(deviance),
    method="trust-exact",
)  # fmt: skip
spread = np.sqrt(np.diag(np.linalg.inv(s2s.hessian(deviance)(found.x, positions))))
for name, t, f, s in zip(("push", "noise"), true, found.x, spread):
    print(f"{name:6} {np.exp(f):.3f}, within {np.exp(f - 2 * s):.3f} and {np.exp(f + 2 * s):.3f}; true {np.exp(t):.3f}")
    assert abs(f - t) < 3.0 * s

# %%
# Without a filter: the positions are one large normal vector, whose covariance follows from the model. Its density at
# the parameters that were found, and its slopes by differences, are those of the filter.


def by_covariance(theta):
    push, noise = np.exp(theta)
    P, n = P0, len(positions)
    covariance = noise**2 * np.eye(n)
    for i in range(n):
        P = F @ P @ F.T + push**2 * G
        forward = P
        for j in range(i, n):
            covariance[i, j] += forward[0, 0]
            covariance[j, i] = covariance[i, j]
            forward = F @ forward
    return -stats.multivariate_normal.logpdf(positions, np.zeros(n), covariance)


theta, h = np.array([0.3, -0.8]), 1e-5
value, gradient = s2s.value_and_grad(deviance)(theta, positions)
slopes = [(by_covariance(theta + d) - by_covariance(theta - d)) / (2 * h) for d in h * np.eye(2)]
print("by the filter    ", value, gradient)
print("by the covariance", by_covariance(theta), np.array(slopes))
assert np.allclose(value, by_covariance(theta)) and np.allclose(gradient, slopes, rtol=1e-4)

# %%

mean, variance = np.transpose(filtered(found.x, positions)[1])
time, shown = DT * np.arange(len(path)), slice(0, 120)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(2, 1), layout="constrained")
left.plot(time[shown], positions[shown], ".", color="0.6", label="positions")
left.plot(time[shown], path[shown], color="black", linewidth=1.0, label="true path")
left.plot(time[shown], mean[shown], color="crimson", linewidth=1.2, label="filtered")
above, below = mean + 2.0 * np.sqrt(variance), mean - 2.0 * np.sqrt(variance)
left.fill_between(time[shown], below[shown], above[shown], color="crimson", alpha=0.2)
left.set(xlabel="time", ylabel="position", title="a calibrated filter")
left.legend(frameon=False)
pushes, noises = np.linspace(-1.2, 0.4, 13), np.linspace(-1.5, -0.9, 11)
depth = [[deviance(np.array([a, b]), positions) - found.fun for a in pushes] for b in noises]
right.contourf(np.exp(pushes), np.exp(noises), np.minimum(depth, 12.0), 24, cmap="viridis_r")
right.plot(*np.exp(found.x), "o", color="crimson", label="found")
right.plot(*np.exp(true), "x", color="black", label="true")
right.set(xlabel="push", ylabel="noise", title="negative log-likelihood")
right.legend()
plt.show()
