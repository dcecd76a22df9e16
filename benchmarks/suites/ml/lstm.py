"""A long short-term memory network that predicts a sequence (Hochreiter and Schmidhuber 1997)."""

import numpy as np

from benchmarks.case import Case, wave


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_loss(weights, recurrent, bias, out, sequence):
    """Weights (d, 4h), recurrent (h, 4h), bias (4h), out (h, d); a sequence (t, n, d) of n at a time."""
    steps, n, _ = sequence.shape
    size = recurrent.shape[0]
    hidden, cell, total = np.zeros((n, size)), np.zeros((n, size)), 0.0
    for t in range(steps - 1):
        gates = sequence[t] @ weights + hidden @ recurrent + bias
        forget, enter = sigmoid(gates[:, :size]), sigmoid(gates[:, size : 2 * size])
        leave, change = sigmoid(gates[:, 2 * size : 3 * size]), np.tanh(gates[:, 3 * size :])
        cell = forget * cell + enter * change
        hidden = leave * np.tanh(cell)
        total += np.sum((hidden @ out - sequence[t + 1]) ** 2)
    return total / (n * steps)


def arguments(t, n, d, h):
    return (
        0.5 * wave(d, 4 * h), 0.5 * wave(h, 4 * h, phase=1.0), wave(4 * h, phase=2.0), wave(h, d, phase=3.0),
        wave(t, n, d, phase=4.0),
    )  # fmt: skip


def in_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def loss(weights, recurrent, bias, out, sequence):
        steps, n, _ = sequence.shape
        zeros = jnp.zeros((n, recurrent.shape[0]))
        inner = sequence[:-1] @ weights + bias

        def step(state, given):
            hidden, cell = state
            forget, enter, leave, change = jnp.split(given + hidden @ recurrent, 4, axis=1)
            cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(change)
            hidden = jax.nn.sigmoid(leave) * jnp.tanh(cell)
            return (hidden, cell), hidden

        _, hidden = lax.scan(step, (zeros, zeros), inner)
        return jnp.sum((hidden @ out - sequence[1:]) ** 2) / (n * steps)

    return loss


def by_hand(weights, recurrent, bias, out, sequence):
    """The gates, cells and hidden values are kept; products that do not depend on the step before are made at once."""
    steps, n, _ = sequence.shape
    size = recurrent.shape[0]
    gates = sequence[:-1] @ weights + bias
    hidden, cells = np.zeros((steps, n, size)), np.zeros((steps, n, size))
    for t in range(steps - 1):
        gates[t] += hidden[t] @ recurrent
        gates[t, :, : 3 * size] = sigmoid(gates[t, :, : 3 * size])
        np.tanh(gates[t, :, 3 * size :], out=gates[t, :, 3 * size :])
        forget, enter, leave, change = np.split(gates[t], 4, axis=1)
        cells[t + 1] = forget * cells[t] + enter * change
        hidden[t + 1] = leave * np.tanh(cells[t + 1])
    errors = 2.0 / (n * steps) * (hidden[1:] @ out - sequence[1:])
    given, gates_bar = errors @ out.T, np.empty_like(gates)
    hidden_bar, cell_bar = np.zeros((n, size)), np.zeros((n, size))
    for t in range(steps - 2, -1, -1):
        forget, enter, leave, change = np.split(gates[t], 4, axis=1)
        hidden_bar = hidden_bar + given[t]
        raised = np.tanh(cells[t + 1])
        cell_bar = cell_bar + hidden_bar * leave * (1.0 - raised * raised)
        bar = gates_bar[t]
        bar[:, :size] = cell_bar * cells[t] * forget * (1.0 - forget)
        bar[:, size : 2 * size] = cell_bar * change * enter * (1.0 - enter)
        bar[:, 2 * size : 3 * size] = hidden_bar * raised * leave * (1.0 - leave)
        bar[:, 3 * size :] = cell_bar * enter * (1.0 - change * change)
        cell_bar = cell_bar * forget
        hidden_bar = bar @ recurrent.T
    both = ((0, 1), (0, 1))
    return (
        np.tensordot(sequence[:-1], gates_bar, axes=both), np.tensordot(hidden[:-1], gates_bar, axes=both),
        np.sum(gates_bar, axis=(0, 1)), np.tensordot(hidden[1:], errors, axes=both),
    )  # fmt: skip


def by_statement(weights, recurrent, bias, out, sequence):
    """The adjoint of each statement after the other, all values kept."""
    steps, n, _ = sequence.shape
    size = recurrent.shape[0]
    hidden, cell = np.zeros((n, size)), np.zeros((n, size))
    kept = []
    for t in range(steps - 1):
        gates = sequence[t] @ weights + hidden @ recurrent + bias
        forget, enter = sigmoid(gates[:, :size]), sigmoid(gates[:, size : 2 * size])
        leave, change = sigmoid(gates[:, 2 * size : 3 * size]), np.tanh(gates[:, 3 * size :])
        before, cell_before = hidden, cell
        cell = forget * cell + enter * change
        raised = np.tanh(cell)
        hidden = leave * raised
        error = hidden @ out - sequence[t + 1]
        kept.append((before, cell_before, gates, forget, enter, leave, change, raised, hidden, error))
    total_bar = 1.0 / (n * steps)
    weights_bar, recurrent_bar = np.zeros_like(weights), np.zeros_like(recurrent)
    bias_bar, out_bar = np.zeros_like(bias), np.zeros_like(out)
    hidden_bar, cell_bar = np.zeros((n, size)), np.zeros((n, size))
    for t in range(steps - 2, -1, -1):
        before, cell_before, gates, forget, enter, leave, change, raised, hidden, error = kept[t]
        error_bar = 2.0 * error * total_bar
        hidden_bar = hidden_bar + error_bar @ out.T
        out_bar += hidden.T @ error_bar
        leave_bar = hidden_bar * raised
        raised_bar = hidden_bar * leave
        cell_bar = cell_bar + raised_bar * (1.0 - raised**2)
        forget_bar = cell_bar * cell_before
        enter_bar, change_bar = cell_bar * change, cell_bar * enter
        cell_bar = cell_bar * forget
        gates_bar = np.zeros_like(gates)
        gates_bar[:, 3 * size :] += change_bar * (1.0 - change**2)
        gates_bar[:, 2 * size : 3 * size] += leave_bar * leave * (1.0 - leave)
        gates_bar[:, size : 2 * size] += enter_bar * enter * (1.0 - enter)
        gates_bar[:, :size] += forget_bar * forget * (1.0 - forget)
        weights_bar += sequence[t].T @ gates_bar
        recurrent_bar += before.T @ gates_bar
        hidden_bar = gates_bar @ recurrent.T
        bias_bar += np.sum(gates_bar, axis=0)
    return weights_bar, recurrent_bar, bias_bar, out_bar


CASE = Case("lstm", lstm_loss, (0, 1, 2, 3), arguments, small=(4, 2, 3, 2), large=(40, 16, 12, 32), jax=in_jax,
            hand_numpy=by_hand, by_statement=by_statement)  # fmt: skip
