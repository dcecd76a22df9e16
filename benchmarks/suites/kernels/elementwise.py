"""Whole arrays element by element: a trace added to an array, distances on a sphere, a clipped sum, spots of light."""

import numpy as np

from benchmarks.case import Case, wave


def go_fast(a):
    """The array with the trace of its tanh added to each element."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def go_fast_loss(a, w):
    return np.sum(w * go_fast(a) ** 2)


def go_fast_in_jax():
    import jax.numpy as jnp

    def loss(a, w):
        return jnp.sum(w * (a + jnp.sum(jnp.tanh(jnp.diagonal(a)))) ** 2)

    return loss


def go_fast_in_torch():
    import torch

    def loss(a, w):
        return torch.sum(w * (a + torch.sum(torch.tanh(torch.diagonal(a)))) ** 2)

    return loss


def go_fast_by_hand(a, w):
    values = np.tanh(np.diagonal(a))
    bar = a + np.sum(values)
    bar *= w
    bar *= 2.0
    places = np.arange(len(a))
    bar[places, places] += np.sum(bar) * (1.0 - values * values)
    return (bar,)


def go_fast_by_hand_in_loops(a, w):
    n = a.shape[0]
    bar, trace, total = np.empty_like(a), 0.0, 0.0
    for i in range(n):
        trace += np.tanh(a[i, i])
    for i in range(n):
        for j in range(n):
            bar[i, j] = 2.0 * w[i, j] * (a[i, j] + trace)
            total += bar[i, j]
    for i in range(n):
        bar[i, i] += total * (1.0 - np.tanh(a[i, i]) ** 2)
    return (bar,)


def arc_distance(theta1, phi1, theta2, phi2):
    """Along great circles between pairs of points, by the haversine."""
    haversine = np.sin((theta2 - theta1) / 2) ** 2 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return 2.0 * np.arctan2(np.sqrt(haversine), np.sqrt(1.0 - haversine))


def arc_distance_loss(theta1, phi1, theta2, phi2):
    return np.sum(arc_distance(theta1, phi1, theta2, phi2) ** 2)


def arc_distance_in(module):
    def loss(theta1, phi1, theta2, phi2):
        haversine = (module.sin((theta2 - theta1) / 2) ** 2
                     + module.cos(theta1) * module.cos(theta2) * module.sin((phi2 - phi1) / 2) ** 2)  # fmt: skip
        return module.sum((2.0 * module.arctan2(module.sqrt(haversine), module.sqrt(1.0 - haversine))) ** 2)

    return loss


def arc_distance_in_jax():
    import jax.numpy as jnp

    return arc_distance_in(jnp)


def arc_distance_in_autograd():
    import autograd.numpy as anp

    return arc_distance_in(anp)


def arc_distance_in_torch():
    import torch

    return arc_distance_in(torch)


def arc_distance_by_hand(theta1, phi1, theta2, phi2):
    theta, phi = (theta2 - theta1) / 2, (phi2 - phi1) / 2
    across, along = np.sin(theta), np.sin(phi)
    cos1, cos2 = np.cos(theta1), np.cos(theta2)
    haversine = across**2 + cos1 * cos2 * along**2
    root, other = np.sqrt(haversine), np.sqrt(1.0 - haversine)
    bar = 4.0 * np.arctan2(root, other) / (root * other)
    phi_bar = bar * cos1 * cos2 * along * np.cos(phi)
    theta_bar = bar * across * np.cos(theta)
    bar *= along**2
    return (-theta_bar - bar * cos2 * np.sin(theta1), -phi_bar, theta_bar - bar * cos1 * np.sin(theta2),
            phi_bar.copy())  # fmt: skip


def arc_distance_by_hand_in_loops(theta1, phi1, theta2, phi2):
    n = len(theta1)
    bars = np.empty((4, n))
    for i in range(n):
        theta, phi = (theta2[i] - theta1[i]) / 2, (phi2[i] - phi1[i]) / 2
        across, along = np.sin(theta), np.sin(phi)
        cos1, cos2 = np.cos(theta1[i]), np.cos(theta2[i])
        haversine = across**2 + cos1 * cos2 * along**2
        root, other = np.sqrt(haversine), np.sqrt(1.0 - haversine)
        bar = 4.0 * np.arctan2(root, other) / (root * other)
        theta_bar, phi_bar = bar * across * np.cos(theta), bar * cos1 * cos2 * along * np.cos(phi)
        bar *= along**2
        bars[0, i] = -theta_bar - bar * cos2 * np.sin(theta1[i])
        bars[1, i] = -phi_bar
        bars[2, i] = theta_bar - bar * cos1 * np.sin(theta2[i])
        bars[3, i] = phi_bar
    return bars[0], bars[1], bars[2], bars[3]


def clipped_loss(x, y, a, b, c):
    """Of ``clip(x) a + y b + c``."""
    return np.sum((np.clip(x, -0.5, 0.5) * a + y * b + c) ** 2)


def clipped_in(module):
    def loss(x, y, a, b, c):
        return module.sum((module.clip(x, -0.5, 0.5) * a + y * b + c) ** 2)

    return loss


def clipped_in_jax():
    import jax.numpy as jnp

    return clipped_in(jnp)


def clipped_in_torch():
    import torch

    return clipped_in(torch)


def clipped_by_hand(x, y, a, b, c):
    held = np.clip(x, -0.5, 0.5)
    bar = 2.0 * (held * a + y * b + c)
    return a * bar * ((x >= -0.5) & (x <= 0.5)), b * bar, np.vdot(bar, held), np.vdot(bar, y), np.sum(bar)


def spots(amplitude, x, y, width, shape):
    """An image of so many round spots of light."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    image = np.zeros(shape)
    for k in range(len(amplitude)):
        squares = (columns - x[k]) ** 2 + (rows - y[k]) ** 2
        image += amplitude[k] * np.exp(-0.5 * squares / width[k] ** 2)
    return image


def spots_loss(amplitude, x, y, width, image):
    return np.sum((spots(amplitude, x, y, width, image.shape) - image) ** 2)


def spots_arguments(n, height, width):
    return (2.0 + wave(n), 0.5 * width * (1.0 + wave(n, phase=1.0)), 0.5 * height * (1.0 + wave(n, phase=2.0)),
            3.0 + wave(n, phase=3.0), wave(height, width))  # fmt: skip


def spots_in_jax():
    import jax.numpy as jnp

    def loss(amplitude, x, y, width, image):
        rows, columns = jnp.arange(image.shape[0]), jnp.arange(image.shape[1])
        scale = -0.5 / width[:, None] ** 2
        across, along = jnp.exp(scale * (columns - x[:, None]) ** 2), jnp.exp(scale * (rows - y[:, None]) ** 2)
        return jnp.sum(((along.T * amplitude) @ across - image) ** 2)

    return loss


def spots_by_hand(amplitude, x, y, width, image):
    """A spot is a product of a row and a column."""
    right, down = np.arange(image.shape[1]) - x[:, np.newaxis], np.arange(image.shape[0]) - y[:, np.newaxis]
    scale = -0.5 / width[:, np.newaxis] ** 2
    across, along = np.exp(scale * right**2), np.exp(scale * down**2)
    image_bar = 2.0 * ((along.T * amplitude) @ across - image)
    of_rows, of_columns = image_bar @ across.T, along @ image_bar
    whole = np.einsum("ki,ik->k", along, of_rows)
    x_bar = np.einsum("kj,kj,kj->k", of_columns, across, right) * amplitude / width**2
    y_bar = np.einsum("ki,ik,ki->k", along, of_rows, down) * amplitude / width**2
    spread = (np.einsum("kj,kj,kj->k", of_columns, across, right**2)
              + np.einsum("ki,ik,ki->k", along, of_rows, down**2))  # fmt: skip
    return whole, x_bar, y_bar, amplitude * spread / width**3


def angles(n):
    return wave(n), 2.0 * wave(n, phase=1.0), wave(n, phase=2.0), 2.0 * wave(n, phase=3.0)


CASES = [
    Case("go_fast", go_fast_loss, (0,), lambda n: (wave(n, n) / n, wave(n, n, phase=1.0)), small=(4,), large=(800,),
         jax=go_fast_in_jax, torch=go_fast_in_torch, hand_numpy=go_fast_by_hand, hand_numba=go_fast_by_hand_in_loops),
    Case("arc_distance", arc_distance_loss, (0, 1, 2, 3), angles, small=(6,), large=(100_000,),
         jax=arc_distance_in_jax, torch=arc_distance_in_torch, autograd=arc_distance_in_autograd,
         hand_numpy=arc_distance_by_hand, hand_numba=arc_distance_by_hand_in_loops),
    Case("clipped_sum", clipped_loss, (0, 1, 2, 3, 4), lambda n: (
        wave(n, n), wave(n, n, phase=1.0), 0.7, -0.4, 0.2), small=(4,), large=(800,), jax=clipped_in_jax,
        torch=clipped_in_torch, hand_numpy=clipped_by_hand),
    Case("spots", spots_loss, (0, 1, 2, 3), spots_arguments, small=(2, 5, 6), large=(20, 120, 160),
         jax=spots_in_jax, hand_numpy=spots_by_hand, rewritten=True),
]  # fmt: skip
