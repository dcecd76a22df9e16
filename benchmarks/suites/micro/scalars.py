"""Functions of a few numbers, in plain Python: chains, loops, branches."""

import math

from benchmarks.case import Case


def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2


def rosenbrock_by_hand(x, y):
    valley = y - x * x
    return -2.0 * (1.0 - x) - 400.0 * valley * x, 200.0 * valley


def newton_sqrt(x, steps):
    """The square root of x by Newton's iteration."""
    y = x
    for _ in range(steps):
        y = 0.5 * (y + x / y)
    return y


def newton_sqrt_in_jax():
    from jax import lax

    def loss(x, steps):
        return lax.fori_loop(0, steps, lambda _, y: 0.5 * (y + x / y), x)

    return loss


def newton_sqrt_by_hand(x, steps):
    y, kept = x, []
    for _ in range(steps):
        kept.append(y)
        y = 0.5 * (y + x / y)
    x_bar, y_bar = 0.0, 1.0
    for y in reversed(kept):
        half = 0.5 * y_bar
        x_bar += half / y
        y_bar = half - half * x / (y * y)
    return (x_bar + y_bar,)


def logistic_map(x, rate, steps):
    """The population after so many generations."""
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def logistic_map_in_jax():
    from jax import lax

    def loss(x, rate, steps):
        return lax.fori_loop(0, steps, lambda _, x: rate * x * (1.0 - x), x)

    return loss


def logistic_map_by_hand(x, rate, steps):
    kept = []
    for _ in range(steps):
        kept.append(x)
        x = rate * x * (1.0 - x)
    x_bar, rate_bar = 1.0, 0.0
    for x in reversed(kept):
        rate_bar += x_bar * x * (1.0 - x)
        x_bar = x_bar * rate * (1.0 - 2.0 * x)
    return x_bar, rate_bar


def pendulum(angle, speed, length, steps, h=0.01):
    """The angle of a pendulum with friction after explicit Euler steps."""
    for _ in range(steps):
        angle, speed = angle + h * speed, speed - h * (9.81 / length * math.sin(angle) + 0.1 * speed)
    return angle


def pendulum_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(angle, speed, length, steps, h=0.01):
        def step(_, state):
            angle, speed = state
            return angle + h * speed, speed - h * (9.81 / length * jnp.sin(angle) + 0.1 * speed)

        return lax.fori_loop(0, steps, step, (angle, speed))[0]

    return loss


def pendulum_by_hand(angle, speed, length, steps, h=0.01):
    kept = []
    for _ in range(steps):
        kept.append(angle)
        angle, speed = angle + h * speed, speed - h * (9.81 / length * math.sin(angle) + 0.1 * speed)
    angle_bar, speed_bar, length_bar = 1.0, 0.0, 0.0
    for angle in reversed(kept):
        pull_bar = -h * speed_bar
        length_bar -= pull_bar * 9.81 * math.sin(angle) / (length * length)
        angle_bar, speed_bar = (
            angle_bar + pull_bar * 9.81 / length * math.cos(angle), speed_bar * (1.0 - 0.1 * h) + h * angle_bar
        )  # fmt: skip
    return angle_bar, speed_bar, length_bar


def black_scholes(spot, strike, rate, vol, time):
    """The price of a European call (Black and Scholes 1973)."""
    d1 = (math.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / (vol * math.sqrt(time))
    d2 = d1 - vol * math.sqrt(time)
    return spot * 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0))) - strike * math.exp(-rate * time) * 0.5 * (
        1.0 + math.erf(d2 / math.sqrt(2.0))
    )


def black_scholes_in_jax():
    import jax.numpy as jnp
    from jax.scipy.stats import norm

    def loss(spot, strike, rate, vol, time):
        d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / (vol * jnp.sqrt(time))
        d2 = d1 - vol * jnp.sqrt(time)
        return spot * norm.cdf(d1) - strike * jnp.exp(-rate * time) * norm.cdf(d2)

    return loss


def black_scholes_by_hand(spot, strike, rate, vol, time):
    """The greeks delta, rho, vega and theta, with the sign of a derivative by time to maturity."""
    root = math.sqrt(time)
    d1 = (math.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / (vol * root)
    d2 = d1 - vol * root
    below1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
    below2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
    discount, density = math.exp(-rate * time), math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
    paid = strike * discount * below2
    return below1, time * paid, spot * density * root, spot * density * vol / (2.0 * root) + rate * paid


def collatz_like(x, steps):
    """A chain whose branch depends on the value."""
    total = 0.0
    for _ in range(steps):
        if x > 1.0:
            x = 0.5 * x + 0.1 * math.sin(x)
        else:
            x = 3.0 * x + 0.7
        total += x
    return total


def collatz_like_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(x, steps):
        def step(_, state):
            x, total = state
            x = jnp.where(x > 1.0, 0.5 * x + 0.1 * jnp.sin(x), 3.0 * x + 0.7)
            return x, total + x

        return lax.fori_loop(0, steps, step, (x, 0.0))[1]

    return loss


def collatz_like_by_hand(x, steps):
    kept = []
    for _ in range(steps):
        kept.append(x)
        x = 0.5 * x + 0.1 * math.sin(x) if x > 1.0 else 3.0 * x + 0.7
    x_bar = 0.0
    for x in reversed(kept):
        x_bar += 1.0
        x_bar *= 0.5 + 0.1 * math.cos(x) if x > 1.0 else 3.0
    return (x_bar,)


def plain(loss):
    """The same code serves."""
    return lambda: loss


CASES = [
    Case("rosenbrock", rosenbrock, (0, 1), lambda: (0.3, 0.7), (), (), jax=plain(rosenbrock), torch=plain(rosenbrock),
         autograd=plain(rosenbrock), hand_numpy=rosenbrock_by_hand, hand_numba=rosenbrock_by_hand),
    Case("newton_sqrt", newton_sqrt, (0,), lambda n: (2.7, n), (4,), (20,), jax=newton_sqrt_in_jax,
         torch=plain(newton_sqrt), autograd=plain(newton_sqrt), hand_numpy=newton_sqrt_by_hand),
    Case("logistic_map", logistic_map, (0, 1), lambda n: (0.3, 3.1, n), (5,), (100,), jax=logistic_map_in_jax,
         torch=plain(logistic_map), autograd=plain(logistic_map), hand_numpy=logistic_map_by_hand),
    Case("pendulum", pendulum, (0, 1, 2), lambda n: (0.4, 0.1, 1.3, n), (6,), (300,), jax=pendulum_in_jax,
         hand_numpy=pendulum_by_hand),
    Case("black_scholes", black_scholes, (0, 2, 3, 4), lambda: (100.0, 95.0, 0.03, 0.2, 1.5), (), (),
         jax=black_scholes_in_jax, hand_numpy=black_scholes_by_hand, hand_numba=black_scholes_by_hand),
    Case("branches", collatz_like, (0,), lambda n: (2.3, n), (7,), (100,), jax=collatz_like_in_jax,
         hand_numpy=collatz_like_by_hand),
]  # fmt: skip
