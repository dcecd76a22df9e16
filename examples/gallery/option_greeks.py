"""
Greeks of options
=================

A desk needs the slopes of option prices: by the price of the share, the volatility and the time that is left. For a
European option they are known in closed form; an American one is priced on a tree, where they are usually found by
pricing it again with other inputs.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr

import s2s

# %%
# The price of a European put by Black and Scholes, and that of an American one on a binomial tree. The tree works
# backwards in one array, and at each node takes the larger of holding the option and exercising it.


def european(spot, strike, rate, volatility, years):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    return strike * np.exp(-rate * years) * ndtr(spread - d1) - spot * ndtr(-d1)


def american(spot, strike, rate, volatility, years, steps=400):
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    chance = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    discount = np.exp(-rate * dt)
    value = np.maximum(strike - spot * up ** (2.0 * np.arange(steps + 1) - steps), 0.0)
    for step in range(steps - 1, -1, -1):
        hold = discount * (chance * value[1 : step + 2] + (1.0 - chance) * value[: step + 1])
        exercise = strike - spot * up ** (2.0 * np.arange(step + 1) - step)
        value[: step + 1] = np.maximum(hold, exercise)
    return value[0]


# %%
# All first derivatives come from one sweep, for one option or for an array of spot prices. Those of the European
# option agree with the textbook.

inputs = ("spot", "strike", "rate", "volatility", "years")
market = (100.0, 0.05, 0.3, 0.5)  # strike, rate, volatility, years
spots = np.linspace(60.0, 140.0, 41)

greeks = s2s.elementwise_grad(european, argnums=inputs)
delta, _, rho, vega, theta = greeks(spots, *(np.full_like(spots, x) for x in market))
gamma = s2s.elementwise_grad(s2s.elementwise_grad(european))(spots, *market)

strike, rate, volatility, years = market
d1 = (np.log(spots / strike) + (rate + 0.5 * volatility**2) * years) / (volatility * np.sqrt(years))
density = np.exp(-0.5 * d1**2) / np.sqrt(2.0 * np.pi)
assert np.allclose(delta, ndtr(d1) - 1.0, atol=1e-12)
assert np.allclose(gamma, density / (spots * volatility * np.sqrt(years)), atol=1e-12)
assert np.allclose(vega, spots * density * np.sqrt(years), atol=1e-10)

# %%
# The tree gives the same by reverse mode through its 400 steps, five slopes for about the price of a few trees.

american_greeks = s2s.value_and_grad(american, argnums=inputs)
found = [american_greeks(float(spot), *market) for spot in spots]
prices = np.array([price for price, _ in found])
slopes = np.array([slopes for _, slopes in found])

up, down = (american(100.0, strike, rate, volatility + h, years) for h in (1e-5, -1e-5))
at_the_money = american_greeks(100.0, *market)[1]
print(f"vega at the money: {at_the_money[3]:.6f}, by differences {(up - down) / 2e-5:.6f}")
assert abs(at_the_money[3] - (up - down) / 2e-5) < 1e-4

# %%
# What runs is a loop backwards over the tree: where the larger of two values was taken, its slope goes to that side.

print(s2s.source(american, 100.0, *market, mode="grad"))

# %%
# Early exercise makes the American put dearer, and its delta is -1 from where it is exercised at once.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for axis, title, one, other in zip(
    axes,
    ("price", "delta", "vega"),
    (european(spots, *market), delta, vega),
    (prices, slopes[:, 0], slopes[:, 3]),
):
    axis.plot(spots, one, label="European")
    axis.plot(spots, other, label="American")
    axis.set(title=title, xlabel="spot price")
axes[0].legend(frameon=False)
plt.show()
