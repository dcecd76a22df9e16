"""
A satellite on its way to another orbit
=======================================

A satellite on a low circular orbit is to reach a given point of a high orbit at a given time: with which velocity must
it leave? The flight is computed step by step, and Newton's method needs how the end depends on the start.
"""

import matplotlib.pyplot as plt
import numpy as np

import s2s

MU = 398600.4418  # of the Earth, km^3 / s^2
RADIUS, J2 = 6378.137, 1.08263e-3

# %%
# The flight, by Runge-Kutta steps, each of which is written into the path. The flattened Earth (J2) turns the orbit.


def acceleration(position, flattening):
    r = np.sqrt(position @ position)
    return -MU * position / r**3 * (1.0 + 1.5 * flattening * (RADIUS / r) ** 2)


def fly(velocity, start, seconds, flattening, steps=400):
    h = seconds / steps
    path = np.zeros((steps + 1, 2))
    path[0] = x = start
    v = velocity
    for i in range(steps):
        a1 = acceleration(x, flattening)
        a2 = acceleration(x + 0.5 * h * v, flattening)
        a3 = acceleration(x + 0.5 * h * (v + 0.5 * h * a1), flattening)
        a4 = acceleration(x + h * (v + 0.5 * h * a2), flattening)
        x = x + h * v + h * h / 6.0 * (a1 + a2 + a3)
        v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        path[i + 1] = x
    return path


def miss(velocity, start, target, seconds, flattening):
    return fly(velocity, start, seconds, flattening)[-1] - target


# %%
# Newton's method, with the Jacobian of the whole flight, from a guess that goes astray.

low, high = RADIUS + 400.0, 42164.0
start, target = np.array([low, 0.0]), np.array([-high, 0.0])
seconds = np.pi * np.sqrt((0.5 * (low + high)) ** 3 / MU)  # half of the ellipse between them

flight = s2s.value_and_jacobian(miss)


def aim(flattening, velocity, attempts):
    for _ in range(30):
        error, jacobian = flight(velocity, start, target, seconds, flattening)
        attempts.append(fly(velocity, start, seconds, flattening))
        if np.linalg.norm(error) < 1e-6:
            break
        step = np.linalg.solve(jacobian, error)
        velocity = velocity - step * min(1.0, 1.0 / np.linalg.norm(step))  # at most 1 km/s at once
    return velocity


attempts = []
velocity = aim(0.0, np.array([1.0, 9.5]), attempts)

# %%
# Around a round Earth the answer is known: Hohmann's ellipse, which leaves with the velocity of the vis-viva equation.

hohmann = np.sqrt(MU * (2.0 / low - 2.0 / (low + high)))
print(f"{len(attempts)} attempts: {velocity[1]:.6f} km/s, by the vis-viva equation {hohmann:.6f} km/s")
assert abs(velocity[1] - hohmann) < 1e-4 and abs(velocity[0]) < 1e-4

flat = aim(J2, velocity, [])
print("with the flattened Earth, other by", 1000.0 * (flat - velocity), "m/s")
assert np.linalg.norm(miss(flat, start, target, seconds, J2)) < 1e-6

# %%
# The Jacobian against differences of flights:

h = 1e-5
differences = [(miss(flat + d, start, target, seconds, J2) - miss(flat - d, start, target, seconds, J2)) / (2 * h)
               for d in h * np.eye(2)]  # fmt: skip
assert np.allclose(flight(flat, start, target, seconds, J2)[1], np.transpose(differences), rtol=1e-5)

# %%
# The attempts, from the low orbit to the point that was asked for.

angle = np.linspace(0.0, 2.0 * np.pi, 200)
figure, axis = plt.subplots(figsize=(7, 5.6), layout="constrained")
axis.fill(RADIUS * np.cos(angle), RADIUS * np.sin(angle), color="#4a90d9")
for radius in (low, high):
    axis.plot(radius * np.cos(angle), radius * np.sin(angle), color="0.75", linewidth=0.8)
for number, path in enumerate(attempts):
    axis.plot(*path.T, color=plt.cm.viridis(number / len(attempts)), linewidth=1.2)
axis.plot(*attempts[-1].T, color="crimson", linewidth=2.0, label=f"attempt {len(attempts)}")
axis.plot(*target, "o", color="crimson")
axis.set(aspect="equal", xlabel="km", ylabel="km", title="Newton's attempts at a transfer")
axis.legend(frameon=False)
plt.show()
