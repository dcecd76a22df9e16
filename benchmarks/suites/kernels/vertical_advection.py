"""Vertical advection, half implicit, as in models of the atmosphere: a tridiagonal system in each column."""

import numpy as np

from benchmarks.case import Case, wave


def vertical_advection(tendency, field, speed, position, rate):
    """Add to ``tendency`` (rows, columns, levels); ``speed`` (rows + 1, columns, levels + 1) is that of the air."""
    rows, columns, levels = field.shape
    above = np.ndarray((rows, columns, levels))
    right = np.ndarray((rows, columns, levels))
    solved = np.ndarray((rows, columns))
    for k in range(1):
        upper = 0.125 * (speed[1:, :, k + 1] + speed[:-1, :, k + 1])
        correction = -upper * (field[:, :, k + 1] - field[:, :, k])
        divided = 1.0 / (rate - upper)
        above[:, :, k] = upper * divided
        right[:, :, k] = (rate * position[:, :, k] + tendency[:, :, k] + correction) * divided
    for k in range(1, levels - 1):
        lower = -0.125 * (speed[1:, :, k] + speed[:-1, :, k])
        upper = 0.125 * (speed[1:, :, k + 1] + speed[:-1, :, k + 1])
        correction = -lower * (field[:, :, k - 1] - field[:, :, k]) - upper * (field[:, :, k + 1] - field[:, :, k])
        divided = 1.0 / (rate - lower - upper - above[:, :, k - 1] * lower)
        above[:, :, k] = upper * divided
        right[:, :, k] = (
            rate * position[:, :, k] + tendency[:, :, k] + correction - right[:, :, k - 1] * lower
        ) * divided
    for k in range(levels - 1, levels):
        lower = -0.125 * (speed[1:, :, k] + speed[:-1, :, k])
        correction = -lower * (field[:, :, k - 1] - field[:, :, k])
        divided = 1.0 / (rate - lower - above[:, :, k - 1] * lower)
        right[:, :, k] = (
            rate * position[:, :, k] + tendency[:, :, k] + correction - right[:, :, k - 1] * lower
        ) * divided
    for k in range(levels - 1, levels - 2, -1):
        solved[:] = right[:, :, k]
        tendency[:, :, k] = rate * (solved - position[:, :, k])
    for k in range(levels - 2, -1, -1):
        solved[:] = right[:, :, k] - above[:, :, k] * solved
        tendency[:, :, k] = rate * (solved - position[:, :, k])


def vertical_advection_loss(tendency, field, speed, position, rate):
    tendency = tendency.copy()
    vertical_advection(tendency, field, speed, position, rate)
    return np.sum(tendency * tendency)


def arguments(n, levels):
    shape = (n, n, levels)
    speed = wave(n + 1, n, levels + 1, phase=1.0)
    return wave(*shape), wave(*shape, phase=2.0), speed, wave(*shape, phase=3.0), 3.0


def system(np, tendency, field, speed, position, rate):
    """Diagonals below, on and above, and the right side, with levels first; ``np`` is a module of arrays."""
    mean = 0.125 * (speed[1:, :, 1:-1] + speed[:-1, :, 1:-1])
    zeros = np.zeros((*field.shape[:2], 1))
    lower, upper = np.concatenate((zeros, -mean), axis=2), np.concatenate((mean, zeros), axis=2)
    rises = np.concatenate((zeros, field[:, :, 1:] - field[:, :, :-1], zeros), axis=2)
    right = rate * position + tendency + lower * rises[:, :, :-1] - upper * rises[:, :, 1:]
    return tuple(np.moveaxis(part, 2, 0) for part in (lower, rate - lower - upper, upper, right))


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(tendency, field, speed, position, rate):
        def down(before, level):
            upper, right = before
            a, b, c, d = level
            divided = 1.0 / (b - a * upper)
            state = c * divided, (d - a * right) * divided
            return state, state

        def up(below, level):
            x = level[1] - level[0] * below
            return x, x

        zeros = jnp.zeros(field.shape[:2])
        _, solved = lax.scan(down, (zeros, zeros), system(jnp, tendency, field, speed, position, rate))
        _, x = lax.scan(up, zeros, solved, reverse=True)
        return jnp.sum((rate * (x - jnp.moveaxis(position, 2, 0))) ** 2)

    return loss


def by_hand(tendency, field, speed, position, rate):
    """By the transposed systems (an implicit derivative), with the same pivots."""
    a, b, c, d = system(np, tendency, field, speed, position, rate)
    levels = len(a)
    pivots, x = np.empty_like(a), np.empty_like(a)
    pivots[0] = 1.0 / b[0]
    x[0] = d[0]
    for k in range(1, levels):
        factor = a[k] * pivots[k - 1]
        pivots[k] = 1.0 / (b[k] - factor * c[k - 1])
        x[k] = d[k] - factor * x[k - 1]
    x[-1] *= pivots[-1]
    for k in range(levels - 2, -1, -1):
        x[k] = (x[k] - c[k] * x[k + 1]) * pivots[k]
    moved = np.moveaxis(position, 2, 0)
    x_bar = (2.0 * rate * rate) * (x - moved)
    d_bar = x_bar.copy()
    for k in range(1, levels):
        d_bar[k] -= c[k - 1] * pivots[k - 1] * d_bar[k - 1]
    d_bar[-1] *= pivots[-1]
    for k in range(levels - 2, -1, -1):
        d_bar[k] = (d_bar[k] - a[k + 1] * d_bar[k + 1]) * pivots[k]
    d_bar, x = np.moveaxis(d_bar, 0, 2), np.moveaxis(x, 0, 2)
    rises, moves = field[:, :, 1:] - field[:, :, :-1], x[:, :, 1:] - x[:, :, :-1]
    between, mean = d_bar[:, :, 1:] + d_bar[:, :, :-1], 0.125 * (speed[1:, :, 1:-1] + speed[:-1, :, 1:-1])
    mean_bar = -0.125 * (rises + moves) * between
    speed_bar, field_bar = np.zeros_like(speed), np.zeros_like(field)
    speed_bar[1:, :, 1:-1] = mean_bar
    speed_bar[:-1, :, 1:-1] += mean_bar
    rises_bar = mean * between
    field_bar[:, :, 1:] -= rises_bar
    field_bar[:, :, :-1] += rises_bar
    return d_bar.copy(), field_bar, speed_bar, rate * d_bar - np.moveaxis(x_bar, 0, 2)


def by_hand_in_loops(tendency, field, speed, position, rate):
    """A column after the other, with the same pivots for the transposed system."""
    rows, columns, levels = field.shape
    tendency_bar, field_bar = np.empty_like(field), np.zeros_like(field)
    position_bar, speed_bar = np.empty_like(field), np.zeros_like(speed)
    mean, pivot, x, d_bar = np.zeros(levels + 1), np.empty(levels), np.empty(levels), np.empty(levels)
    for i in range(rows):
        for j in range(columns):
            for k in range(1, levels):
                mean[k] = 0.125 * (speed[i, j, k] + speed[i + 1, j, k])
            for k in range(levels):
                diagonal = rate + mean[k] - mean[k + 1]
                right = rate * position[i, j, k] + tendency[i, j, k]
                if k > 0:
                    right -= mean[k] * (field[i, j, k] - field[i, j, k - 1])
                    factor = -mean[k] * pivot[k - 1]
                    diagonal -= factor * mean[k]
                if k < levels - 1:
                    right -= mean[k + 1] * (field[i, j, k + 1] - field[i, j, k])
                if k > 0:
                    right -= factor * x[k - 1]
                pivot[k], x[k] = 1.0 / diagonal, right
            x[levels - 1] *= pivot[levels - 1]
            for k in range(levels - 2, -1, -1):
                x[k] = (x[k] - mean[k + 1] * x[k + 1]) * pivot[k]
            for k in range(levels):
                d_bar[k] = 2.0 * rate * rate * (x[k] - position[i, j, k])
                position_bar[i, j, k] = -d_bar[k]
                if k > 0:
                    d_bar[k] -= mean[k] * pivot[k - 1] * d_bar[k - 1]
            d_bar[levels - 1] *= pivot[levels - 1]
            for k in range(levels - 2, -1, -1):
                d_bar[k] = (d_bar[k] + mean[k + 1] * d_bar[k + 1]) * pivot[k]
            for k in range(levels):
                tendency_bar[i, j, k] = d_bar[k]
                position_bar[i, j, k] += rate * d_bar[k]
            for k in range(1, levels):
                between = d_bar[k] + d_bar[k - 1]
                rise = field[i, j, k] - field[i, j, k - 1]
                mean_bar = -0.125 * (rise + x[k] - x[k - 1]) * between
                speed_bar[i, j, k] += mean_bar
                speed_bar[i + 1, j, k] += mean_bar
                field_bar[i, j, k] -= mean[k] * between
                field_bar[i, j, k - 1] += mean[k] * between
    return tendency_bar, field_bar, speed_bar, position_bar


CASE = Case("vertical_advection", vertical_advection_loss, (0, 1, 2, 3), arguments, small=(3, 5), large=(48, 40),
            jax=in_jax, hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
