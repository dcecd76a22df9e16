"""Means of an image's values over rings: by masks, by a histogram with weights, and by bins in a loop."""

import numpy as np

from benchmarks.case import Case, wave


def by_masks(data, radius, count):
    """The mean of ``data`` in each of so many rings of equal width."""
    out = np.zeros(count)
    edge = np.max(radius)
    for i in range(count):
        inner, outer = edge * i / count, edge * (i + 1) / count
        inside = np.logical_and(inner <= radius, radius < outer)
        out[i] = data[inside].mean()
    return out


def by_histogram(data, radius, count):
    """The same by histograms; the outermost value counts as inside."""
    counts = np.histogram(radius, count)[0]
    totals = np.histogram(radius, count, weights=data)[0]
    return totals / counts


def bin_of(x, low, high, count):
    """The number of the bin that ``x`` is in; the last one has its upper edge."""
    if x == high:
        return count - 1
    return int(count * (x - low) / (high - low))


def by_bins(data, radius, count):
    """The same in a loop over the values."""
    low, high = np.min(radius), np.max(radius)
    totals, counts = np.zeros(count), np.zeros(count)
    for i in range(len(data)):
        k = bin_of(radius[i], low, high, count)
        totals[k] += data[i]
        counts[k] += 1.0
    return totals / counts


def masks_loss(data, radius, count):
    return np.sum(by_masks(data, radius, count) ** 2)


def histogram_loss(data, radius, count):
    return np.sum(by_histogram(data, radius, count) ** 2)


def bins_loss(data, radius, count):
    return np.sum(by_bins(data, radius, count) ** 2)


def arguments(n, count):
    return wave(n) + 0.3, np.abs(wave(n, phase=2.0)) * 3.0, count


def masks_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(data, radius, count):
        places = jnp.floor(radius * count / jnp.max(radius)).astype(int)
        totals = jax.ops.segment_sum(data, places, num_segments=count)
        return jnp.sum((totals / jax.ops.segment_sum(jnp.ones_like(data), places, num_segments=count)) ** 2)

    return loss


def bins_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(data, radius, count):
        low, high = jnp.min(radius), jnp.max(radius)
        places = jnp.minimum((count * (radius - low) / (high - low)).astype(int), count - 1)
        totals = jax.ops.segment_sum(data, places, num_segments=count)
        return jnp.sum((totals / jax.ops.segment_sum(jnp.ones_like(data), places, num_segments=count)) ** 2)

    return loss


def masks_by_hand(data, radius, count):
    data_bar, edge = np.zeros_like(data), np.max(radius)
    for i in range(count):
        inside = np.nonzero((edge * i / count <= radius) & (radius < edge * (i + 1) / count))[0]
        data_bar[inside] = 2.0 * np.mean(data[inside]) / len(inside)
    return (data_bar,)


def bins_by_hand(data, radius, count):
    low, high = np.min(radius), np.max(radius)
    places = np.minimum((count * (radius - low) / (high - low)).astype(int), count - 1)
    counts = np.bincount(places, minlength=count)
    return ((2.0 * np.bincount(places, data, minlength=count) / (counts * counts))[places],)


def bins_by_hand_in_loops(data, radius, count):
    low, high = radius.min(), radius.max()
    totals, counts = np.zeros(count), np.zeros(count)
    places, data_bar = np.empty(len(data), np.int64), np.empty_like(data)
    for i in range(len(data)):
        k = min(int(count * (radius[i] - low) / (high - low)), count - 1)
        places[i] = k
        totals[k] += data[i]
        counts[k] += 1.0
    for k in range(count):
        totals[k] *= 2.0 / (counts[k] * counts[k])
    for i in range(len(data)):
        data_bar[i] = totals[places[i]]
    return (data_bar,)


CASES = [
    Case("azimuthal_by_masks", masks_loss, (0,), arguments, small=(40, 4), large=(40_000, 40), jax=masks_in_jax,
         hand_numpy=masks_by_hand),
    Case("azimuthal_by_histogram", histogram_loss, (0,), arguments, small=(40, 4), large=(100_000, 200),
         jax=bins_in_jax, hand_numpy=bins_by_hand, hand_numba=bins_by_hand_in_loops),
    Case("azimuthal_by_bins", bins_loss, (0,), arguments, small=(40, 4), large=(20_000, 100), jax=bins_in_jax,
         hand_numpy=bins_by_hand, rewritten=True, hand_numba=bins_by_hand_in_loops),
]  # fmt: skip
