"""Bodies that attract one another, by leapfrog steps."""

import numpy as np

from benchmarks.case import Case, wave


def accelerations(x, mass, out, softening):
    """The pull of every body on every other one."""
    out[:] = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            r = x[j] - x[i]
            s = np.sum(r * r) + softening**2
            pull = r / (s * np.sqrt(s))
            out[i] += mass[j] * pull
            out[j] -= mass[i] * pull


def nbody(x, v, mass, dt, steps):
    """Leapfrog steps, in place."""
    a = np.zeros_like(x)
    accelerations(x, mass, a, 0.05)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        accelerations(x, mass, a, 0.05)
        v += 0.5 * dt * a


def nbody_loss(x, v, mass, dt, steps):
    x, v = x.copy(), v.copy()
    nbody(x, v, mass, dt, steps)
    return np.sum(x * x) + np.sum(mass[:, None] * v * v)


def arguments(n, t):
    return 2.0 * wave(n, 3), 0.3 * wave(n, 3, phase=1.0), 1.0 + 0.5 * wave(n), 0.05, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def accelerations_at(x, mass):
        r = x[None, :, :] - x[:, None, :]
        s = jnp.sum(r * r, axis=2) + 0.05**2
        return jnp.sum(mass[None, :, None] * r / (s * jnp.sqrt(s))[:, :, None], axis=1)

    def loss(x, v, mass, dt, steps):
        def step(_, state):
            x, v, a = state
            v = v + 0.5 * dt * a
            x = x + dt * v
            a = accelerations_at(x, mass)
            return x, v + 0.5 * dt * a, a

        x, v, _ = lax.fori_loop(0, steps, step, (x, v, accelerations_at(x, mass)))
        return jnp.sum(x * x) + jnp.sum(mass[:, None] * v * v)

    return loss


CASE = Case("nbody", nbody_loss, (0, 1, 2), arguments, small=(4, 3), large=(24, 20), jax=in_jax)
