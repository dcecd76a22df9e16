"""
What a rod is made of, from its temperatures
============================================

A rod is heated at one end, and five thermometers along it are read for a while. Find the conductivity at each of its
points: 7500 readings, forty unknowns.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

import s2s

# %%
# The rod, as it is simulated anywhere: an array of temperatures that is updated in place, with fluxes between cells.

CELLS, STEPS = 40, 1500
SENSORS = np.array([4, 12, 20, 28, 36])


def simulate(log_conductivity):
    conductivity = np.exp(log_conductivity)
    between = 2.0 * conductivity[1:] * conductivity[:-1] / (conductivity[1:] + conductivity[:-1])
    temperature = np.zeros_like(conductivity)
    readings = np.zeros((STEPS, len(SENSORS)))
    for step in range(STEPS):
        flux = between * (temperature[1:] - temperature[:-1])
        temperature[1:] -= 0.4 * flux
        temperature[:-1] += 0.4 * flux
        temperature[0] += 0.8 * conductivity[0] * (1.0 - temperature[0])  # the hot end
        readings[step] = temperature[SENSORS]
    return readings


def misfit(log_conductivity, readings, weight):
    data = np.sum((simulate(log_conductivity) - readings) ** 2)
    return data + weight * np.sum((log_conductivity[1:] - log_conductivity[:-1]) ** 2)


# %%
# The readings come from a rod with a poor conductor in its middle, and have noise. The gradient by forty unknowns is
# one sweep backwards; its slope along a random direction agrees with differences.

rng = np.random.default_rng(0)
x = np.linspace(0.0, 1.0, CELLS)
true = np.log(1.0 - 0.7 * np.exp(-(((x - 0.55) / 0.09) ** 2)))
clean = simulate(true)
readings = clean + 0.002 * rng.normal(size=clean.shape)

objective = s2s.value_and_grad(misfit)
guess = np.zeros(CELLS)
value, gradient = objective(guess, readings, 1e-3)
direction, h = rng.normal(size=CELLS), 1e-5
slope = (misfit(guess + h * direction, readings, 1e-3) - misfit(guess - h * direction, readings, 1e-3)) / (2 * h)
print(f"slope along a direction: {gradient @ direction:.8f}, by differences {slope:.8f}")
assert abs(gradient @ direction / slope - 1.0) < 1e-6

# %%
# SciPy's L-BFGS-B finds the rod.

found = optimize.minimize(objective, guess, args=(readings, 1e-3), jac=True, method="L-BFGS-B", options={"maxiter": 80})
error = np.max(np.abs(np.exp(found.x) - np.exp(true))[SENSORS[0] : SENSORS[-1]])
print(
    f"misfit {value:.3f} -> {found.fun:.5f} in {found.nfev} simulations; largest error between the sensors {error:.3f}"
)
assert error < 0.1

# %%
# The sweep backwards is the adjoint equation that a textbook derives: heat that flows backwards in time, with the
# residuals of the readings as its sources.

print(s2s.source(misfit, guess, readings, 1e-3, mode="value_and_grad"))

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(readings, color="0.75", linewidth=0.6)
left.plot(simulate(found.x), color="crimson", linewidth=1.0)
left.set(title="readings of five thermometers", xlabel="time step", ylabel="temperature")
right.plot(x, np.exp(true), color="black", label="true")
right.plot(x, np.exp(found.x), color="crimson", label="found")
right.plot(x[SENSORS], np.full(len(SENSORS), 0.2), "^", color="0.4", label="thermometers")
right.set(title="conductivity along the rod", xlabel="x", ylim=(0.15, 1.3))
right.legend(frameon=False)
plt.show()
