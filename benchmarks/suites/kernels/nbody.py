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


def pulls_back(x, mass, a_bar):
    """What the adjoint of the accelerations gives to the places and the masses; all pairs at a time."""
    r = x[np.newaxis] - x[:, np.newaxis]
    s = np.einsum("ijk,ijk->ij", r, r) + 0.05**2
    cubes = 1.0 / (s * np.sqrt(s))
    along = np.einsum("ijk,ik->ij", r, a_bar)
    weighted = mass * cubes
    r_bar = weighted[:, :, np.newaxis] * a_bar[:, np.newaxis] - (3.0 * weighted * along / s)[:, :, np.newaxis] * r
    return np.sum(r_bar, axis=0) - np.sum(r_bar, axis=1), np.sum(cubes * along, axis=0)


def pulls(x, mass):
    r = x[np.newaxis] - x[:, np.newaxis]
    s = np.einsum("ijk,ijk->ij", r, r) + 0.05**2
    return np.einsum("ij,ijk->ik", mass / (s * np.sqrt(s)), r)


def by_hand(x, v, mass, dt, steps):
    """The places are kept."""
    kept, a = [x], pulls(x, mass)
    for _ in range(steps):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = pulls(x, mass)
        v = v + 0.5 * dt * a
        kept.append(x)
    x_bar, v_bar, mass_bar = 2.0 * x, 2.0 * mass[:, np.newaxis] * v, np.sum(v * v, axis=1)
    a_bar = np.zeros_like(x)
    for t in range(steps, 0, -1):
        x_part, mass_part = pulls_back(kept[t], mass, a_bar + 0.5 * dt * v_bar)
        x_bar = x_bar + x_part
        mass_bar = mass_bar + mass_part
        v_bar = v_bar + dt * x_bar
        a_bar = 0.5 * dt * v_bar
    x_part, mass_part = pulls_back(kept[0], mass, a_bar)
    return x_bar + x_part, v_bar, mass_bar + mass_part


def by_hand_in_loops(x, v, mass, dt, steps):
    n = len(x)
    kept, v, a = np.empty((steps + 1, n, 3)), v.copy(), np.empty((n, 3))
    kept[0] = x
    for t in range(steps + 1):
        x = kept[t]
        a[:] = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                r0, r1, r2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                s = r0 * r0 + r1 * r1 + r2 * r2 + 0.05**2
                cube = 1.0 / (s * np.sqrt(s))
                of_j, of_i = mass[j] * cube, mass[i] * cube
                a[i, 0] += of_j * r0
                a[i, 1] += of_j * r1
                a[i, 2] += of_j * r2
                a[j, 0] -= of_i * r0
                a[j, 1] -= of_i * r1
                a[j, 2] -= of_i * r2
        for i in range(n):
            for k in range(3):
                if t > 0:
                    v[i, k] += 0.5 * dt * a[i, k]
                if t < steps:
                    v[i, k] += 0.5 * dt * a[i, k]
                    kept[t + 1, i, k] = x[i, k] + dt * v[i, k]
    x_bar, v_bar, mass_bar, a_bar = 2.0 * kept[steps], np.empty((n, 3)), np.empty(n), np.zeros((n, 3))
    for i in range(n):
        mass_bar[i] = v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2
        for k in range(3):
            v_bar[i, k] = 2.0 * mass[i] * v[i, k]
    for t in range(steps, -1, -1):
        x = kept[t]
        if t > 0:
            a_bar += 0.5 * dt * v_bar
        for i in range(n):
            for j in range(i + 1, n):
                r0, r1, r2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                s = r0 * r0 + r1 * r1 + r2 * r2 + 0.05**2
                cube = 1.0 / (s * np.sqrt(s))
                of_i = a_bar[i, 0] * r0 + a_bar[i, 1] * r1 + a_bar[i, 2] * r2
                of_j = a_bar[j, 0] * r0 + a_bar[j, 1] * r1 + a_bar[j, 2] * r2
                mass_bar[j] += cube * of_i
                mass_bar[i] -= cube * of_j
                inner = 3.0 * cube / s * (mass[j] * of_i - mass[i] * of_j)
                for k in range(3):
                    r = x[j, k] - x[i, k]
                    r_bar = cube * (mass[j] * a_bar[i, k] - mass[i] * a_bar[j, k]) - inner * r
                    x_bar[j, k] += r_bar
                    x_bar[i, k] -= r_bar
        if t > 0:
            v_bar += dt * x_bar
            a_bar[:] = 0.5 * dt * v_bar
    return x_bar, v_bar, mass_bar


CASE = Case("nbody", nbody_loss, (0, 1, 2), arguments, small=(4, 3), large=(24, 15), jax=in_jax, hand_numpy=by_hand,
            rewritten=True, hand_numba=by_hand_in_loops)  # fmt: skip
