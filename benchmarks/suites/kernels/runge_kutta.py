"""Systems of ordinary differential equations by the classical method of Runge and Kutta."""

import numpy as np

from benchmarks.case import Case, wave


def lorenz_rates(state, sigma, rho, beta):
    """Of Lorenz's equations; the state is (3, n)."""
    x, y, z = state
    return np.stack((sigma * (y - x), x * (rho - z) - y, x * y - beta * z))


def lorenz(state, sigma, rho, beta, dt, steps):
    """So many steps for all starts at a time."""
    for _ in range(steps):
        k1 = lorenz_rates(state, sigma, rho, beta)
        k2 = lorenz_rates(state + 0.5 * dt * k1, sigma, rho, beta)
        k3 = lorenz_rates(state + 0.5 * dt * k2, sigma, rho, beta)
        k4 = lorenz_rates(state + dt * k3, sigma, rho, beta)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state


def lorenz_loss(state, sigma, rho, beta, dt, steps):
    return np.mean(lorenz(state, sigma, rho, beta, dt, steps) ** 2)


def lorenz_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def rates(state, sigma, rho, beta):
        x, y, z = state
        return jnp.stack((sigma * (y - x), x * (rho - z) - y, x * y - beta * z))

    def loss(state, sigma, rho, beta, dt, steps):
        def step(_, state):
            k1 = rates(state, sigma, rho, beta)
            k2 = rates(state + 0.5 * dt * k1, sigma, rho, beta)
            k3 = rates(state + 0.5 * dt * k2, sigma, rho, beta)
            k4 = rates(state + dt * k3, sigma, rho, beta)
            return state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

        return jnp.mean(lax.fori_loop(0, steps, step, state) ** 2)

    return loss


def lorenz_in_torch():
    import torch

    def rates(state, sigma, rho, beta):
        x, y, z = state
        return torch.stack((sigma * (y - x), x * (rho - z) - y, x * y - beta * z))

    def loss(state, sigma, rho, beta, dt, steps):
        for _ in range(steps):
            k1 = rates(state, sigma, rho, beta)
            k2 = rates(state + 0.5 * dt * k1, sigma, rho, beta)
            k3 = rates(state + 0.5 * dt * k2, sigma, rho, beta)
            k4 = rates(state + dt * k3, sigma, rho, beta)
            state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return torch.mean(state**2)

    return loss


def lorenz_rates_back(state, bar, sigma, rho, beta, totals):
    """The adjoint of the rates; adds to the adjoints of the three numbers."""
    x, y, z = state
    totals += (bar[0] @ (y - x), bar[1] @ x, -(bar[2] @ z))
    return np.stack((
        -sigma * bar[0] + (rho - z) * bar[1] + y * bar[2], sigma * bar[0] - bar[1] + x * bar[2],
        -x * bar[1] - beta * bar[2],
    ))  # fmt: skip


def lorenz_by_hand(state, sigma, rho, beta, dt, steps):
    """Only the states are kept; the stages of a step are made again."""
    states = [state]
    for _ in range(steps):
        states.append(lorenz(states[-1], sigma, rho, beta, dt, 1))
    bar, totals = 2.0 / state.size * states.pop(), np.zeros(3)
    for state in reversed(states):
        at2 = state + 0.5 * dt * lorenz_rates(state, sigma, rho, beta)
        at3 = state + 0.5 * dt * lorenz_rates(at2, sigma, rho, beta)
        at4 = state + dt * lorenz_rates(at3, sigma, rho, beta)
        bar4 = lorenz_rates_back(at4, dt / 6.0 * bar, sigma, rho, beta, totals)
        bar3 = lorenz_rates_back(at3, dt / 3.0 * bar + dt * bar4, sigma, rho, beta, totals)
        bar2 = lorenz_rates_back(at2, dt / 3.0 * bar + 0.5 * dt * bar3, sigma, rho, beta, totals)
        bar1 = lorenz_rates_back(state, dt / 6.0 * bar + 0.5 * dt * bar2, sigma, rho, beta, totals)
        bar = bar + bar1 + bar2 + bar3 + bar4
    return bar, *totals


def lorenz_by_hand_in_loops(state, sigma, rho, beta, dt, steps):
    """One start after the other; its states are kept, the stages of a step are made again."""
    n = state.shape[1]
    state_bar, kept = np.empty_like(state), np.empty((steps + 1, 3))
    at, rate, bars = np.empty((4, 3)), np.empty((4, 3)), np.empty(3)
    sigma_bar = rho_bar = beta_bar = 0.0
    for i in range(n):
        kept[0] = state[:, i]
        for t in range(steps):
            for stage in range(4):
                share = dt if stage == 3 else 0.5 * dt
                for k in range(3):
                    at[stage, k] = kept[t, k] + (share * rate[stage - 1, k] if stage > 0 else 0.0)
                x, y, z = at[stage, 0], at[stage, 1], at[stage, 2]
                rate[stage, 0] = sigma * (y - x)
                rate[stage, 1] = x * (rho - z) - y
                rate[stage, 2] = x * y - beta * z
            for k in range(3):
                slope = rate[0, k] + 2.0 * rate[1, k] + 2.0 * rate[2, k] + rate[3, k]
                kept[t + 1, k] = kept[t, k] + dt / 6.0 * slope
        for k in range(3):
            bars[k] = 2.0 / (3 * n) * kept[steps, k]
        for t in range(steps - 1, -1, -1):
            at[0] = kept[t]
            for stage in range(3):
                x, y, z = at[stage, 0], at[stage, 1], at[stage, 2]
                share = dt if stage == 2 else 0.5 * dt
                at[stage + 1, 0] = kept[t, 0] + share * sigma * (y - x)
                at[stage + 1, 1] = kept[t, 1] + share * (x * (rho - z) - y)
                at[stage + 1, 2] = kept[t, 2] + share * (x * y - beta * z)
            total0, total1, total2 = bars[0], bars[1], bars[2]
            from0 = from1 = from2 = 0.0
            for stage in range(3, -1, -1):
                weight = dt / 6.0 if stage in (0, 3) else dt / 3.0
                share = 0.0 if stage == 3 else (dt if stage == 2 else 0.5 * dt)
                b0 = weight * bars[0] + share * from0
                b1 = weight * bars[1] + share * from1
                b2 = weight * bars[2] + share * from2
                x, y, z = at[stage, 0], at[stage, 1], at[stage, 2]
                sigma_bar += b0 * (y - x)
                rho_bar += b1 * x
                beta_bar -= b2 * z
                from0 = -sigma * b0 + (rho - z) * b1 + y * b2
                from1 = sigma * b0 - b1 + x * b2
                from2 = -x * b1 - beta * b2
                total0, total1, total2 = total0 + from0, total1 + from1, total2 + from2
            bars[0], bars[1], bars[2] = total0, total1, total2
        state_bar[:, i] = bars
    return state_bar, sigma_bar, rho_bar, beta_bar


def chain_forces(x, stiffness, bend):
    """Of springs between neighbours, the outer ones held: linear and cubic (Fermi, Pasta, Ulam and Tsingou 1955)."""
    stretch = np.zeros(len(x) + 1)
    stretch[1:-1] = x[1:] - x[:-1]
    stretch[0], stretch[-1] = x[0], -x[-1]
    pull = stiffness * stretch + bend * stretch**3
    return pull[1:] - pull[:-1]


def chain(x, v, stiffness, bend, dt, steps):
    for _ in range(steps):
        kx1, kv1 = v, chain_forces(x, stiffness, bend)
        kx2, kv2 = v + 0.5 * dt * kv1, chain_forces(x + 0.5 * dt * kx1, stiffness, bend)
        kx3, kv3 = v + 0.5 * dt * kv2, chain_forces(x + 0.5 * dt * kx2, stiffness, bend)
        kx4, kv4 = v + dt * kv3, chain_forces(x + dt * kx3, stiffness, bend)
        x = x + dt / 6.0 * (kx1 + 2.0 * (kx2 + kx3) + kx4)
        v = v + dt / 6.0 * (kv1 + 2.0 * (kv2 + kv3) + kv4)
    return x, v


def chain_loss(x, v, stiffness, bend, dt, steps):
    x, v = chain(x, v, stiffness, bend, dt, steps)
    return np.sum(x**2) + np.sum(v**2)


def chain_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def rates(state, stiffness, bend):
        x, v = state
        stretch = jnp.concatenate((x[:1], x[1:] - x[:-1], -x[-1:]))
        pull = stiffness * stretch + bend * stretch**3
        return jnp.stack((v, pull[1:] - pull[:-1]))

    def loss(x, v, stiffness, bend, dt, steps):
        def step(_, state):
            k1 = rates(state, stiffness, bend)
            k2 = rates(state + 0.5 * dt * k1, stiffness, bend)
            k3 = rates(state + 0.5 * dt * k2, stiffness, bend)
            k4 = rates(state + dt * k3, stiffness, bend)
            return state + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)

        return jnp.sum(lax.fori_loop(0, steps, step, jnp.stack((x, v))) ** 2)

    return loss


def chain_forces_back(x, bar, stiffness, bend, totals):
    """The adjoint of the forces; adds to the adjoints of the two numbers."""
    stretch = np.concatenate((x[:1], x[1:] - x[:-1], -x[-1:]))
    pull_bar = np.concatenate((-bar[:1], bar[:-1] - bar[1:], bar[-1:]))
    squares = stretch * stretch
    totals += (pull_bar @ stretch, pull_bar @ (squares * stretch))
    stretch_bar = pull_bar * (stiffness + 3.0 * bend * squares)
    return stretch_bar[:-1] - stretch_bar[1:]


def chain_by_hand(x, v, stiffness, bend, dt, steps):
    """Only the states are kept; the stages of a step are made again."""
    states = []
    for _ in range(steps):
        states.append((x, v))
        x, v = chain(x, v, stiffness, bend, dt, 1)
    x_bar, v_bar, totals = 2.0 * x, 2.0 * v, np.zeros(2)
    for x, v in reversed(states):
        kv1 = chain_forces(x, stiffness, bend)
        x2 = x + 0.5 * dt * v
        kv2 = chain_forces(x2, stiffness, bend)
        x3 = x + 0.5 * dt * (v + 0.5 * dt * kv1)
        x4 = x + dt * (v + 0.5 * dt * kv2)
        kx_bar, kv_bar = dt / 6.0 * x_bar, dt / 6.0 * v_bar
        x4_bar = chain_forces_back(x4, kv_bar, stiffness, bend, totals)
        kx3_bar, kv3_bar = 2.0 * kx_bar + dt * x4_bar, 2.0 * kv_bar + dt * kx_bar
        x3_bar = chain_forces_back(x3, kv3_bar, stiffness, bend, totals)
        kx2_bar, kv2_bar = 2.0 * kx_bar + 0.5 * dt * x3_bar, 2.0 * kv_bar + 0.5 * dt * kx3_bar
        x2_bar = chain_forces_back(x2, kv2_bar, stiffness, bend, totals)
        kx1_bar, kv1_bar = kx_bar + 0.5 * dt * x2_bar, kv_bar + 0.5 * dt * kx2_bar
        x1_bar = chain_forces_back(x, kv1_bar, stiffness, bend, totals)
        x_bar = x_bar + x1_bar + x2_bar + x3_bar + x4_bar
        v_bar = v_bar + kx1_bar + kx2_bar + kx3_bar + kx_bar
    return x_bar, v_bar, *totals


def ensemble(n, steps):
    return 3.0 * wave(3, n) + np.array([[1.0], [1.0], [20.0]]), 10.0, 28.0, 8.0 / 3.0, 0.01, steps


CASES = [
    Case("rk4_lorenz", lorenz_loss, (0, 1, 2, 3), ensemble, small=(2, 4), large=(1000, 100), jax=lorenz_in_jax,
         torch=lorenz_in_torch, hand_numpy=lorenz_by_hand, hand_numba=lorenz_by_hand_in_loops),
    Case("rk4_chain", chain_loss, (0, 1, 2, 3), lambda n, steps: (
        wave(n), 0.3 * wave(n, phase=1.0), 1.0, 0.3, 0.05, steps), small=(5, 3), large=(2000, 30),
        jax=chain_in_jax, hand_numpy=chain_by_hand),
]  # fmt: skip
