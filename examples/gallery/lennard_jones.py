"""
Argon in a periodic box
=======================

Atoms of argon attract and repel each other, in a box that repeats itself without end: what leaves at the right comes
back at the left. Only the energy is written down; the forces are its gradient.
"""

import matplotlib.pyplot as plt
import numpy as np

import s2s

# %%
# The energy of Lennard and Jones, each pair with its nearest images. Beyond half the box nothing is counted, and the
# energy is shifted so that it ends in zero there.


def energy(positions, box):
    cutoff = 0.5 * box
    shift = 4.0 * (cutoff**-12 - cutoff**-6)
    total = 0.0
    for i in range(len(positions) - 1):
        d = positions[i + 1 :] - positions[i]
        d = d - box * np.round(d / box)
        r2 = np.sum(d * d, axis=1)
        s6 = 1.0 / r2**3
        total += np.sum(np.where(r2 < cutoff**2, 4.0 * (s6 * s6 - s6) - shift, 0.0))
    return total


# %%
# 36 atoms on a lattice, in the plane, a little out of place. The forces on them agree with those on paper, and they
# sum to zero.

box, rng = 7.2, np.random.default_rng(0)
lattice = np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2) * (box / 6)
positions = lattice + 0.05 * rng.normal(size=lattice.shape)

gradient = s2s.grad(energy)
forces = -gradient(positions, box)

d = positions[:, None] - positions[None, :]
d -= box * np.round(d / box)
r2 = np.sum(d * d, axis=-1) + np.eye(len(positions))
pull = np.where(r2 < (0.5 * box) ** 2, 24.0 * (2.0 / r2**7 - 1.0 / r2**4), 0.0)
expected = np.sum(pull[..., None] * d, axis=1)
print(f"largest force {np.max(np.abs(forces)):.3f}, largest error {np.max(np.abs(forces - expected)):.1e}")
assert np.allclose(forces, expected, atol=1e-11)
assert np.allclose(np.sum(forces, axis=0), 0.0, atol=1e-12)

# %%
# ``np.round`` jumps, but ``d - box * np.round(d / box)`` is a remainder, whose slope by ``d`` is one. The source says
# so.

print(s2s.source(energy, positions, box, mode="grad"))

# %%
# Velocity Verlet with these forces keeps the energy.

velocities = rng.normal(size=positions.shape)
velocities -= np.mean(velocities, axis=0)
dt, steps = 0.002, 1500
track, potential, kinetic = np.zeros((steps, *positions.shape)), np.zeros(steps), np.zeros(steps)
value_and_grad = s2s.value_and_grad(energy)
_, slope = value_and_grad(positions, box)
for step in range(steps):
    velocities -= 0.5 * dt * slope
    positions = positions + dt * velocities
    potential[step], slope = value_and_grad(positions, box)
    velocities -= 0.5 * dt * slope
    kinetic[step] = 0.5 * np.sum(velocities**2)
    track[step] = positions

total = potential + kinetic
print(f"total energy {total[0]:.4f} at first, {total[-1]:.4f} at last, moved by at most {np.ptp(total):.4f}")
assert np.ptp(total) < 0.01 * np.ptp(kinetic)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=(1, 1.2), layout="constrained")
inside = track % box
left.scatter(*inside[::10].reshape(-1, 2).T, s=1, c=np.repeat(np.arange(0, steps, 10), len(positions)), cmap="viridis")
left.scatter(*inside[-1].T, s=90, color="crimson", edgecolor="black", zorder=2)
left.set(xlim=(0, box), ylim=(0, box), aspect="equal", title="tracks in the box")
time = dt * np.arange(steps)
for label, curve in (("potential", potential), ("kinetic", kinetic), ("total", total)):
    right.plot(time, curve, label=label)
right.set(xlabel="time", title="energy")
right.legend(frameon=False)
plt.show()
