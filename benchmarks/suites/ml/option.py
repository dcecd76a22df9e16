"""An Asian call by Monte Carlo: the mean of what paths of a geometric Brownian motion pay."""

import numpy as np

from benchmarks.case import Case, wave


def option_loss(spot, rate, vol, strike, draws):
    """The price for normal draws (steps, paths) over one year."""
    steps, paths = draws.shape
    dt = 1.0 / steps
    price, total = np.full(paths, spot), np.zeros(paths)
    for k in range(steps):
        price = price * np.exp((rate - 0.5 * vol**2) * dt + vol * np.sqrt(dt) * draws[k])
        total += price
    return np.exp(-rate) * np.mean(np.maximum(total / steps - strike, 0.0))


def arguments(steps, paths):
    return 100.0, 0.03, 0.25, 98.0, 1.4 * wave(steps, paths)


def in_jax():
    import jax.numpy as jnp

    def loss(spot, rate, vol, strike, draws):
        dt = 1.0 / len(draws)
        logs = jnp.cumsum((rate - 0.5 * vol**2) * dt + vol * jnp.sqrt(dt) * draws, axis=0)
        paid = jnp.maximum(spot * jnp.mean(jnp.exp(logs), axis=0) - strike, 0.0)
        return jnp.exp(-rate) * jnp.mean(paid)

    return loss


def by_hand(spot, rate, vol, strike, draws):
    steps, paths = draws.shape
    dt = 1.0 / steps
    prices = np.empty((steps + 1, paths))
    prices[0] = spot
    growth = (rate - 0.5 * vol**2) * dt
    for k in range(steps):
        np.multiply(prices[k], np.exp(growth + vol * np.sqrt(dt) * draws[k]), out=prices[k + 1])
    paid = np.maximum(np.sum(prices[1:], axis=0) / steps - strike, 0.0)
    discount = np.exp(-rate)
    each = np.where(paid > 0.0, discount / (paths * steps), 0.0)
    price_bar, growth_bar, vol_bar = np.zeros(paths), 0.0, 0.0
    for k in range(steps - 1, -1, -1):
        price_bar += each
        exponent_bar = price_bar * prices[k + 1]
        growth_bar += np.sum(exponent_bar)
        vol_bar += exponent_bar @ draws[k]
        price_bar *= prices[k + 1] / prices[k]
    rate_bar = dt * growth_bar - discount * np.mean(paid)
    return np.sum(price_bar), rate_bar, np.sqrt(dt) * vol_bar - vol * dt * growth_bar, -np.sum(each) * steps


CASE = Case("asian_option", option_loss, (0, 1, 2, 3), arguments, small=(4, 6), large=(50, 5000), jax=in_jax,
            hand_numpy=by_hand)  # fmt: skip
