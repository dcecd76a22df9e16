"""
Bundle adjustment
=================

Cameras that moved around an object saw points of it. Find where the points are and where the cameras were, from the
places of the points in the pictures alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

import s2s

# %%
# A camera is a rotation vector, a position and a focal length. Rotations are by the formula of Rodrigues.

CAMERAS, POINTS = 8, 60


def rotate(vectors, turns):
    angle = np.sqrt(np.sum(turns**2, axis=1, keepdims=True))
    axis = turns / angle
    along = np.sum(vectors * axis, axis=1, keepdims=True)
    return np.cos(angle) * vectors + np.sin(angle) * np.cross(axis, vectors) + (1.0 - np.cos(angle)) * along * axis


def project(points, cameras):
    seen = rotate(points - cameras[:, 3:6], cameras[:, :3])
    return cameras[:, 6:] * seen[:, :2] / seen[:, 2:]


def residuals(unknowns, which_camera, which_point, places):
    cameras = unknowns[: 7 * CAMERAS].reshape(CAMERAS, 7)
    points = unknowns[7 * CAMERAS :].reshape(POINTS, 3)
    return (project(points[which_point], cameras[which_camera]) - places).ravel()


# %%
# Points on a spiral, cameras on a circle that look at its centre, and noise of half a pixel. Each camera sees most of
# the points.

rng = np.random.default_rng(0)
turn = np.linspace(0.0, 4.0 * np.pi, POINTS)
points = np.stack([np.cos(turn), turn / (2.0 * np.pi) - 1.0, np.sin(turn)], axis=1)
cameras = np.zeros((CAMERAS, 7))
for i, angle in enumerate(np.linspace(0.3, 2.8, CAMERAS)):
    cameras[i] = 0.1, -angle, 0.05, 5.0 * np.sin(-angle), 0.0, -5.0 * np.cos(angle), 800.0
which_camera, which_point = np.nonzero(rng.uniform(size=(CAMERAS, POINTS)) < 0.8)
places = project(points[which_point], cameras[which_camera]) + 0.5 * rng.normal(size=(len(which_point), 2))
true = np.concatenate([cameras.ravel(), points.ravel()])
guess = true + rng.normal(size=true.shape) * np.concatenate([np.tile([0.03] * 3 + [0.1] * 3 + [20.0], CAMERAS),
                                                            np.full(3 * POINTS, 0.1)])  # fmt: skip

# %%
# Each residual depends on one camera and one point, so the Jacobian is almost empty: 236 columns share the directions
# of a few. A column of it agrees with differences.

jacobian = s2s.sparse_jacobian(residuals)
J = jacobian(guess, which_camera, which_point, places)
print(f"{J.shape[0]} x {J.shape[1]}, {100 * J.nnz / np.prod(J.shape):.1f} % not zero, {jacobian.colors} sweeps")
h = 1e-5 * np.eye(len(guess))[9]
arguments = (which_camera, which_point, places)
difference = (residuals(guess + h, *arguments) - residuals(guess - h, *arguments)) / 2e-5
assert np.allclose(J[:, [9]].toarray().ravel(), difference, atol=1e-4)

# %%
# SciPy's least squares takes the sparse Jacobian. What is left is the noise: the root mean square of the residuals is
# half a pixel, a little less for the unknowns that were fitted to it.

found = optimize.least_squares(
    residuals, guess, jac=jacobian, args=arguments, method="trf", tr_solver="lsmr", x_scale="jac", max_nfev=50
)
before, after = (np.sqrt(np.mean(residuals(x, *arguments) ** 2)) for x in (guess, found.x))
expected = 0.5 * np.sqrt(1.0 - (len(guess) - 7) / len(places) / 2.0)
print(f"{before:.2f} pixels -> {after:.3f} pixels after {found.nfev} steps; {expected:.3f} are to be expected")
assert abs(after / expected - 1.0) < 0.1

# %%
# A common rotation, shift and scale cannot be seen in pictures. They are taken out before points are compared.


def aligned(x):
    x, y = x - x.mean(axis=0), points - points.mean(axis=0)
    u, s, v = np.linalg.svd(x.T @ y)
    return x @ u @ v * s.sum() / np.sum(x**2) + points.mean(axis=0)


first, last = (aligned(x[7 * CAMERAS :].reshape(POINTS, 3)) for x in (guess, found.x))
print(f"points are off by {np.abs(first - points).max():.3f} at first, {np.abs(last - points).max():.3f} at last")
assert np.abs(last - points).max() < 0.03

# %%

figure = plt.figure(figsize=(10, 4.2), layout="constrained")
left, right = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
left.scatter(*first.T[[0, 2, 1]], s=12, color="0.6", label="guess")
left.scatter(*last.T[[0, 2, 1]], s=12, color="crimson", label="found")
left.plot(*points.T[[0, 2, 1]], color="black", linewidth=0.8, label="true")
left.legend(frameon=False)
right.spy(J, markersize=0.6, color="black", aspect="auto")
right.set(xlabel="cameras, then points", ylabel="residuals", title="the Jacobian")
plt.show()
