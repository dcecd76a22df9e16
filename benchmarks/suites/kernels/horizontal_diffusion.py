"""Horizontal diffusion with a limiter, as in models of the atmosphere: stencils into buffers."""

import numpy as np

from benchmarks.case import Case, wave


def horizontal_diffusion(field, coefficient):
    """The field (rows, columns, levels) with two layers at each side, after one step."""
    rows, columns, levels = field.shape[0] - 4, field.shape[1] - 4, field.shape[2]
    laplacian = np.ndarray((rows + 2, columns + 2, levels))
    laplacian[:] = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    along = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    rises = field[2 : rows + 3, 2:-2] - field[1 : rows + 2, 2:-2]
    flux_rows = np.where(along * rises > 0.0, 0.0, along)
    along = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    rises = field[2:-2, 2 : columns + 3] - field[2:-2, 1 : columns + 2]
    flux_columns = np.where(along * rises > 0.0, 0.0, along)
    return field[2:-2, 2:-2] - coefficient * (
        flux_rows[1:] - flux_rows[:-1] + flux_columns[:, 1:] - flux_columns[:, :-1]
    )


def horizontal_diffusion_loss(field, coefficient):
    return np.sum(horizontal_diffusion(field, coefficient) ** 2)


def arguments(n, levels):
    return wave(n + 4, n + 4, levels), 0.1 + 0.05 * wave(n, n, levels, phase=1.0)


def in_jax():
    import jax.numpy as jnp

    def loss(field, coefficient):
        rows, columns = field.shape[0] - 4, field.shape[1] - 4
        laplacian = 4.0 * field[1:-1, 1:-1] - (
            field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
        along = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
        rises = field[2 : rows + 3, 2:-2] - field[1 : rows + 2, 2:-2]
        flux_rows = jnp.where(along * rises > 0.0, 0.0, along)
        along = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
        rises = field[2:-2, 2 : columns + 3] - field[2:-2, 1 : columns + 2]
        flux_columns = jnp.where(along * rises > 0.0, 0.0, along)
        out = field[2:-2, 2:-2] - coefficient * (
            flux_rows[1:] - flux_rows[:-1] + flux_columns[:, 1:] - flux_columns[:, :-1])
        return jnp.sum(out**2)

    return loss


def by_hand(field, coefficient):
    """Where the limiter acts is all that is kept of the fluxes."""
    laplacian = 4.0 * field[1:-1, 1:-1] - field[2:, 1:-1] - field[:-2, 1:-1] - field[1:-1, 2:] - field[1:-1, :-2]
    flux_rows = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    free_rows = flux_rows * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) <= 0.0
    flux_rows *= free_rows
    flux_columns = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    free_columns = flux_columns * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) <= 0.0
    flux_columns *= free_columns
    change = flux_rows[1:] - flux_rows[:-1] + flux_columns[:, 1:] - flux_columns[:, :-1]
    bar = 2.0 * (field[2:-2, 2:-2] - coefficient * change)
    field_bar, laplacian_bar = np.zeros_like(field), np.zeros_like(laplacian)
    field_bar[2:-2, 2:-2] = bar
    change *= -bar
    bar *= -coefficient
    flux_rows[-1], flux_rows[0] = bar[-1], -bar[0]
    np.subtract(bar[:-1], bar[1:], out=flux_rows[1:-1])
    flux_columns[:, -1], flux_columns[:, 0] = bar[:, -1], -bar[:, 0]
    np.subtract(bar[:, :-1], bar[:, 1:], out=flux_columns[:, 1:-1])
    flux_rows *= free_rows
    flux_columns *= free_columns
    laplacian_bar[1:, 1:-1] += flux_rows
    laplacian_bar[:-1, 1:-1] -= flux_rows
    laplacian_bar[1:-1, 1:] += flux_columns
    laplacian_bar[1:-1, :-1] -= flux_columns
    field_bar[1:-1, 1:-1] += 4.0 * laplacian_bar
    field_bar[2:, 1:-1] -= laplacian_bar
    field_bar[:-2, 1:-1] -= laplacian_bar
    field_bar[1:-1, 2:] -= laplacian_bar
    field_bar[1:-1, :-2] -= laplacian_bar
    return field_bar, change


CASE = Case("horizontal_diffusion", horizontal_diffusion_loss, (0, 1), arguments, small=(4, 2), large=(64, 40),
            jax=in_jax, hand_numpy=by_hand)  # fmt: skip
