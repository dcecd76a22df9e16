"""Waves on a membrane by leapfrog, recorded at a row of sensors: three arrays that change places."""

import numpy as np

from benchmarks.case import Case, wave


def membrane(speed, pulse, courant):
    """What the sensors of row 2 record, (steps, columns); ``pulse`` drives the middle; the rim does not move."""
    rows, columns = speed.shape
    steps = len(pulse)
    before, now, after = np.zeros((rows, columns)), np.zeros((rows, columns)), np.zeros((rows, columns))
    record = np.zeros((steps, columns))
    factor = (courant * speed) ** 2
    for t in range(steps):
        bend = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1]
        after[1:-1, 1:-1] = 2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + factor[1:-1, 1:-1] * bend
        after[rows // 2, columns // 2] += pulse[t]
        before, now, after = now, after, before
        record[t] = now[2]
    return record


def membrane_loss(speed, pulse, target, courant):
    return np.sum((membrane(speed, pulse, courant) - target) ** 2)


def arguments(n, steps):
    return 1.0 + 0.2 * wave(n, n), wave(steps), wave(steps, n, phase=1.0), 0.5


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(speed, pulse, target, courant):
        rows, columns = speed.shape
        factor = (courant * speed[1:-1, 1:-1]) ** 2

        def step(state, push):
            before, now = state
            bend = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1]
            inner = 2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + factor * bend
            after = jnp.pad(inner, 1).at[rows // 2, columns // 2].add(push)
            return (now, after), after[2]

        zeros = jnp.zeros(speed.shape)
        return jnp.sum((lax.scan(step, (zeros, zeros), pulse)[1] - target) ** 2)

    return loss


def by_hand(speed, pulse, target, courant):
    """The bends are kept; the adjoint is a wave that runs backwards, driven by the misfit."""
    (rows, columns), steps = speed.shape, len(pulse)
    bends = np.empty((steps, rows - 2, columns - 2))
    before, now = np.zeros_like(speed), np.zeros_like(speed)
    misfit = np.empty_like(target)
    factor = (courant * speed[1:-1, 1:-1]) ** 2
    for t in range(steps):
        inner = now[1:-1, 1:-1]
        np.add(now[2:, 1:-1], now[:-2, 1:-1], out=bends[t])
        bends[t] += now[1:-1, 2:]
        bends[t] += now[1:-1, :-2]
        bends[t] -= 4.0 * inner
        before[1:-1, 1:-1] = 2.0 * inner - before[1:-1, 1:-1] + factor * bends[t]
        before[rows // 2, columns // 2] += pulse[t]
        before, now = now, before
        misfit[t] = 2.0 * (now[2] - target[t])
    now_bar, before_bar = np.zeros_like(speed), np.zeros_like(speed)
    factor_bar, pulse_bar = np.zeros_like(factor), np.empty(steps)
    for t in range(steps - 1, -1, -1):
        now_bar[2] += misfit[t]
        pulse_bar[t] = now_bar[rows // 2, columns // 2]
        after_bar = now_bar[1:-1, 1:-1]
        factor_bar += after_bar * bends[t]
        bend_bar = factor * after_bar
        before_bar[1:-1, 1:-1] += 2.0 * after_bar - 4.0 * bend_bar
        before_bar[2:, 1:-1] += bend_bar
        before_bar[:-2, 1:-1] += bend_bar
        before_bar[1:-1, 2:] += bend_bar
        before_bar[1:-1, :-2] += bend_bar
        older_bar = np.zeros_like(speed)
        older_bar[1:-1, 1:-1] = -after_bar
        now_bar, before_bar = before_bar, older_bar
    speed_bar = np.zeros_like(speed)
    speed_bar[1:-1, 1:-1] = 2.0 * courant * courant * speed[1:-1, 1:-1] * factor_bar
    return speed_bar, pulse_bar


def by_hand_in_loops(speed, pulse, target, courant):
    """The same, each step in one pass: ``now`` and ``before`` are zero on the rim, also as adjoints."""
    (rows, columns), steps = speed.shape, len(pulse)
    bends = np.empty((steps, rows, columns))
    before, now = np.zeros((rows, columns)), np.zeros((rows, columns))
    misfit = np.empty((steps, columns))
    for t in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                bend = now[i + 1, j] + now[i - 1, j] + now[i, j + 1] + now[i, j - 1] - 4.0 * now[i, j]
                bends[t, i, j] = bend
                before[i, j] = 2.0 * now[i, j] - before[i, j] + (courant * speed[i, j]) ** 2 * bend
        before[rows // 2, columns // 2] += pulse[t]
        before, now = now, before
        for j in range(columns):
            misfit[t, j] = 2.0 * (now[2, j] - target[t, j])
    now_bar, before_bar, bend_bar = np.zeros((rows, columns)), np.zeros((rows, columns)), np.zeros((rows, columns))
    speed_bar, pulse_bar = np.zeros((rows, columns)), np.empty(steps)
    for t in range(steps - 1, -1, -1):
        for j in range(1, columns - 1):
            now_bar[2, j] += misfit[t, j]
        pulse_bar[t] = now_bar[rows // 2, columns // 2]
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                speed_bar[i, j] += now_bar[i, j] * bends[t, i, j]
                bend_bar[i, j] = (courant * speed[i, j]) ** 2 * now_bar[i, j]
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = bend_bar[i + 1, j] + bend_bar[i - 1, j] + bend_bar[i, j + 1] + bend_bar[i, j - 1]
                older = now_bar[i, j]
                now_bar[i, j] = before_bar[i, j] + 2.0 * older + around - 4.0 * bend_bar[i, j]
                before_bar[i, j] = -older
    for i in range(rows):
        for j in range(columns):
            speed_bar[i, j] *= 2.0 * courant * courant * speed[i, j]
    return speed_bar, pulse_bar


CASE = Case("membrane", membrane_loss, (0, 1), arguments, small=(6, 7), large=(120, 150), jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
