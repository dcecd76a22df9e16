"""The log-likelihood of a Kalman filter by its matrices (Kalman 1960)."""

import numpy as np

from benchmarks.case import Case, positive, wave


def kalman_loss(transition, observe, process, noise, values):
    """Matrices (d, d), (m, d), (d, d), (m, m); values (t, m). The negative logarithm, without its constant."""
    size = transition.shape[0]
    mean, spread, total = np.zeros(size), np.eye(size), 0.0
    for value in values:
        mean, spread = transition @ mean, transition @ spread @ transition.T + process
        error, expected = value - observe @ mean, observe @ spread @ observe.T + noise
        gain = np.linalg.solve(expected, observe @ spread).T
        total += 0.5 * (error @ np.linalg.solve(expected, error) + np.log(np.linalg.det(expected)))
        mean = mean + gain @ error
        spread = spread - gain @ observe @ spread
    return total


def arguments(t, d, m):
    transition = 0.5 * wave(d, d) + 0.5 * np.eye(d)
    return transition, wave(m, d, phase=1.0), 0.2 * positive(d), positive(m), wave(t, m, phase=2.0)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(transition, observe, process, noise, values):
        size = transition.shape[0]

        def step(state, value):
            mean, spread = state
            mean, spread = transition @ mean, transition @ spread @ transition.T + process
            error, expected = value - observe @ mean, observe @ spread @ observe.T + noise
            gain = jnp.linalg.solve(expected, observe @ spread).T
            term = 0.5 * (error @ jnp.linalg.solve(expected, error) + jnp.log(jnp.linalg.det(expected)))
            return (mean + gain @ error, spread - gain @ observe @ spread), term

        return jnp.sum(lax.scan(step, (jnp.zeros(size), jnp.eye(size)), values)[1])

    return loss


CASE = Case("kalman", kalman_loss, (0, 1, 2, 3), arguments, small=(4, 3, 2), large=(100, 6, 3), jax=in_jax)
