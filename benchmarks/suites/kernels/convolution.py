"""A layer of two-dimensional convolutions: by loops over the places, and by slices for each place of the filter."""

import numpy as np

from benchmarks.case import Case, wave


def convolution_by_places(images, filters):
    """Images (n, height, width, channels), filters (k, k, channels, features): a product for each place."""
    n, height, width, _ = images.shape
    k, features = filters.shape[0], filters.shape[3]
    out = np.empty((n, height - k + 1, width - k + 1, features))
    for i in range(height - k + 1):
        for j in range(width - k + 1):
            window = images[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * filters[np.newaxis], axis=(1, 2, 3))
    return out


def convolution_by_slices(images, filters):
    """The same, as a sum over the places of the filter."""
    n, height, width, _ = images.shape
    k, features = filters.shape[0], filters.shape[3]
    out = np.zeros((n, height - k + 1, width - k + 1, features))
    for i in range(k):
        for j in range(k):
            out += images[:, i : i + height - k + 1, j : j + width - k + 1] @ filters[i, j]
    return out


def places_loss(images, filters):
    return np.sum(np.maximum(convolution_by_places(images, filters), 0.0) ** 2)


def slices_loss(images, filters):
    return np.sum(np.maximum(convolution_by_slices(images, filters), 0.0) ** 2)


def arguments(n, size, channels, k, features):
    return wave(n, size, size, channels), wave(k, k, channels, features, phase=1.0)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(images, filters):
        out = lax.conv_general_dilated(
            images, filters, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(jnp.maximum(out, 0.0) ** 2)

    return loss


def by_hand(images, filters):
    _, height, width, _ = images.shape
    k = filters.shape[0]
    rows, columns = height - k + 1, width - k + 1
    out_bar = 2.0 * np.maximum(convolution_by_slices(images, filters), 0.0)
    images_bar, filters_bar = np.zeros_like(images), np.empty_like(filters)
    for i in range(k):
        for j in range(k):
            window = images[:, i : i + rows, j : j + columns]
            images_bar[:, i : i + rows, j : j + columns] += out_bar @ filters[i, j].T
            filters_bar[i, j] = np.tensordot(window, out_bar, axes=((0, 1, 2), (0, 1, 2)))
    return images_bar, filters_bar


CASES = [
    Case("convolution_by_places", places_loss, (0, 1), arguments, small=(2, 4, 2, 2, 3), large=(4, 24, 3, 3, 8),
         jax=in_jax, hand_numpy=by_hand, rewritten=True),
    Case("convolution_by_slices", slices_loss, (0, 1), arguments, small=(2, 4, 2, 2, 3), large=(8, 48, 3, 3, 16),
         jax=in_jax, hand_numpy=by_hand),
]  # fmt: skip
