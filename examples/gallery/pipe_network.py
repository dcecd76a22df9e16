"""
The function of a package: friction in pipes
============================================

The package ``fluids`` has correlations for the friction of flows in pipes, written without derivatives in mind. How
wide should the pipes of a water main be, so that pipes and pumping are cheapest together?
"""

import matplotlib.pyplot as plt
import numpy as np
from fluids.friction import friction_factor
from scipy import optimize

import s2s

# %%
# The cost in a year of five pipes in a row, along which water is tapped. ``friction_factor`` chooses between laminar
# and turbulent flow, and solves Colebrook's equation; it is called as it is installed.

LENGTHS = np.array([400.0, 300.0, 300.0, 250.0, 200.0])  # m
FLOWS = np.array([0.20, 0.14, 0.09, 0.05, 0.02])  # m^3 / s
ROUGHNESS, DENSITY, VISCOSITY = 1e-4, 998.0, 1e-3


def pressure_loss(flow, diameter, length):
    speed = 4.0 * flow / (np.pi * diameter**2)
    reynolds = DENSITY * speed * diameter / VISCOSITY
    factor = friction_factor(Re=reynolds, eD=ROUGHNESS / diameter)
    return factor * length / diameter * 0.5 * DENSITY * speed**2


def cost(log_diameters, price):
    total = 0.0
    for i in range(len(LENGTHS)):
        diameter = np.exp(log_diameters[i])
        total += 60.0 * LENGTHS[i] * diameter**1.4
        total += price * pressure_loss(FLOWS[i], diameter, LENGTHS[i]) * FLOWS[0] / 0.7 * 8760.0 / 1000.0
    return total


# %%
# One flow: the slope through the package against differences, in laminar and in turbulent flow. Laminar flow has a
# closed form, by Hagen and Poiseuille.

for flow in (1e-5, 0.05):
    slope = s2s.grad(pressure_loss, argnums="diameter")(flow, 0.2, 100.0)
    difference = (pressure_loss(flow, 0.2 + 1e-6, 100.0) - pressure_loss(flow, 0.2 - 1e-6, 100.0)) / 2e-6
    print(f"{flow} m^3/s: {slope:.8g} Pa/m, by differences {difference:.8g}")
    assert abs(slope / difference - 1.0) < 1e-6
poiseuille = -4.0 * 128.0 * VISCOSITY * 100.0 * 1e-5 / (np.pi * 0.2**5)
assert abs(s2s.grad(pressure_loss, argnums=1)(1e-5, 0.2, 100.0) / poiseuille - 1.0) < 1e-10

# %%
# The branch that the package takes for given flows is in the adjoint, as ordinary code:

print(s2s.source(pressure_loss, 0.05, 0.2, 100.0, mode="grad", argnums="diameter"))

# %%
# The cheapest diameters for three prices of energy. Where the gradient is zero, another metre of width costs what it
# saves.

objective = s2s.value_and_grad(cost)
prices, guess = (0.05, 0.15, 0.45), np.full(5, np.log(0.3))
found = [optimize.minimize(objective, guess, args=(price,), jac=True, method="BFGS") for price in prices]
for price, result in zip(prices, found):
    print(
        f"{price:.2f} per kWh: cost {result.fun:8.0f}, diameters {np.exp(result.x).round(3)}, {result.nfev} gradients"
    )
    neighbours = [cost(result.x + d, price) for d in 0.01 * np.vstack([np.eye(5), -np.eye(5)])]
    assert result.fun < min(neighbours)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
ends = np.concatenate([[0.0], np.cumsum(LENGTHS)])
for price, result in zip(prices, found):
    left.stairs(100.0 * np.exp(result.x), ends, baseline=None, linewidth=2.0, label=f"{price:.2f} per kWh")
left.set(xlabel="metres along the main", ylabel="diameter in cm", ylim=(0, None), title="cheapest diameters")
left.legend(frameon=False)
reynolds = np.logspace(2.5, 7.5, 300)
for roughness in (0.0, 1e-4, 1e-3, 1e-2):
    right.loglog(reynolds, [friction_factor(Re=r, eD=roughness) for r in reynolds], label=f"{roughness:g}")
right.set(xlabel="Reynolds number", ylabel="friction factor", title="by relative roughness")
right.legend(frameon=False)
plt.show()
