"""Fourier transforms: steps of a flow in wave numbers, light through phase screens, and a transform by its stages."""

import numpy as np

from benchmarks.case import Case, wave


def spectral_flow(u, viscosity, dt, steps):
    """Burgers' equation on a periodic line: the slope in wave numbers, the viscosity implicit."""
    n = len(u)
    waves = np.arange(n // 2 + 1)
    decay = 1.0 + dt * viscosity * waves**2
    for _ in range(steps):
        slope = np.fft.irfft(1j * waves * np.fft.rfft(u), n)
        u = np.fft.irfft(np.fft.rfft(u - dt * u * slope) / decay, n)
    return u


def spectral_flow_loss(u, target, viscosity, dt, steps):
    return np.sum((spectral_flow(u, viscosity, dt, steps) - target) ** 2)


def spectral_flow_arguments(n, steps):
    place = np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
    return np.sin(place) + 0.3 * np.cos(2.0 * place), 0.1 * wave(n), 0.05, 0.002, steps


def spectral_flow_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(u, target, viscosity, dt, steps):
        n = len(u)
        waves = jnp.arange(n // 2 + 1)
        decay = 1.0 + dt * viscosity * waves**2

        def step(_, u):
            slope = jnp.fft.irfft(1j * waves * jnp.fft.rfft(u), n)
            return jnp.fft.irfft(jnp.fft.rfft(u - dt * u * slope) / decay, n)

        return jnp.sum((lax.fori_loop(0, steps, step, u) - target) ** 2)

    return loss


def spectral_flow_by_hand(u, target, viscosity, dt, steps):
    """The slope is antisymmetric, the viscosity symmetric."""
    n, kept = len(u), []
    waves = np.arange(n // 2 + 1)
    decay, turned = 1.0 / (1.0 + dt * viscosity * waves**2), 1j * waves
    for _ in range(steps):
        slope = np.fft.irfft(turned * np.fft.rfft(u), n)
        kept.append((u, slope))
        u = np.fft.irfft(decay * np.fft.rfft(u - dt * u * slope), n)
    u_bar = 2.0 * (u - target)
    for u, slope in reversed(kept):
        inner = np.fft.irfft(decay * np.fft.rfft(u_bar), n)
        u_bar = inner - dt * inner * slope + dt * np.fft.irfft(turned * np.fft.rfft(inner * u), n)
    return (u_bar,)


def screens_loss(phases, target, reach):
    """Light passes screens (k, n, n) that turn its phase, and spreads behind each: its brightness beside a target."""
    _, n, _ = phases.shape
    line = np.fft.fftfreq(n)
    spread = np.exp(-1j * reach * (line[:, np.newaxis] ** 2 + line**2))
    field = np.ones((n, n), dtype=np.complex128)
    for phase in phases:
        field = np.fft.ifft2(np.fft.fft2(field * np.exp(1j * phase)) * spread)
    return np.sum((np.abs(field) ** 2 - target) ** 2)


def screens_arguments(k, n):
    return wave(k, n, n), 1.0 + 0.5 * wave(n, n, phase=1.0), 40.0


def screens_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(phases, target, reach):
        n = phases.shape[1]
        line = jnp.fft.fftfreq(n)
        spread = jnp.exp(-1j * reach * (line[:, None] ** 2 + line**2))

        def through(field, phase):
            return jnp.fft.ifft2(jnp.fft.fft2(field * jnp.exp(1j * phase)) * spread), None

        field, _ = lax.scan(through, jnp.ones((n, n), dtype=complex), phases)
        return jnp.sum((field.real**2 + field.imag**2 - target) ** 2)

    return loss


def screens_by_hand(phases, target, reach):
    """Fields are kept; what light loses going forth it has again going back."""
    count, n, _ = phases.shape
    line = np.fft.fftfreq(n)
    spread = np.exp(-1j * reach * (line[:, np.newaxis] ** 2 + line**2))
    field = np.ones((n, n), dtype=np.complex128)
    turned = np.empty((count, n, n), dtype=np.complex128)
    turns = np.exp(1j * phases)
    for k in range(count):
        np.multiply(field, turns[k], out=turned[k])
        field = np.fft.ifft2(np.fft.fft2(turned[k]) * spread)
    bar = 4.0 * (field.real**2 + field.imag**2 - target) * field
    back, phases_bar = np.conj(spread), np.empty_like(phases)
    for k in range(count - 1, -1, -1):
        bar = np.fft.ifft2(np.fft.fft2(bar) * back)
        phases_bar[k] = (np.conj(turned[k]) * bar).imag
        bar *= np.conj(turns[k])
    return (phases_bar,)


def stages(x):
    """The Fourier transform of 2^k numbers, each stage of which merges transforms of half the length."""
    work = np.reshape(x, (1, len(x)))
    while work.shape[1] > 1:
        length, half = work.shape[0], work.shape[1] // 2
        turn = np.exp(-1j * np.pi * np.arange(length) / length)[:, np.newaxis]
        merged = np.empty((2 * length, half), dtype=np.complex128)
        merged[:length] = work[:, :half] + turn * work[:, half:]
        merged[length:] = work[:, :half] - turn * work[:, half:]
        work = merged
    return np.reshape(work, len(x))


def stages_loss(real, imaginary, weight):
    found = stages(real + 1j * imaginary)
    return np.sum(weight * (found.real**2 + found.imag**2))


def stages_in_jax():
    import jax.numpy as jnp

    def loss(real, imaginary, weight):
        found = jnp.fft.fft(real + 1j * imaginary)
        return jnp.sum(weight * (found.real**2 + found.imag**2))

    return loss


def stages_by_hand(real, imaginary, weight):
    bar = 2.0 * len(weight) * np.fft.ifft(weight * np.fft.fft(real + 1j * imaginary))
    return bar.real.copy(), bar.imag.copy()


CASES = [
    Case("spectral_flow", spectral_flow_loss, (0,), spectral_flow_arguments, small=(8, 3), large=(1024, 100),
         jax=spectral_flow_in_jax, hand_numpy=spectral_flow_by_hand),
    Case("phase_screens", screens_loss, (0,), screens_arguments, small=(2, 4), large=(10, 128), jax=screens_in_jax,
         hand_numpy=screens_by_hand),
    Case("fft_stages", stages_loss, (0, 1), lambda k: (
        wave(2**k), wave(2**k, phase=1.0), wave(2**k, phase=2.0)), small=(3,), large=(15,), jax=stages_in_jax,
        hand_numpy=stages_by_hand, rewritten=True),
]  # fmt: skip
