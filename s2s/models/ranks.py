"""What filters that choose among neighbours compute: the greatest, the least, the middle one. The cotangent goes where
the chosen value came from; ties share."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["maximum_filter", "median_filter", "minimum_filter"]

PADDING: dict[str, Any] = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap",
}
"""What the modes are called by ``np.pad``; the others put a constant there."""

FLAT = "it has a rule for flat neighbourhoods, one mode for all axes, and without output= and axes="


def mask_of(size: Any, footprint: Any, ndim: Any) -> Any:
    """Which neighbours there are."""
    if footprint is not None:
        return np.asarray(footprint, bool)
    return np.ones(tuple(size) if np.ndim(size) > 0 else (size,) * ndim, bool)


def reaches(mask: Any, origin: Any) -> Any:
    """How far the neighbours reach beyond the first and the last place of each axis."""
    origins = [origin] * np.ndim(mask) if isinstance(origin, int) else list(origin)
    return [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(np.shape(mask), origins)]


def places(mask: Any, shape: Any) -> Any:
    """For each neighbour and each place where the neighbour is, as indices of the continued image."""
    lines = (1,) * len(shape)
    return tuple([
        np.reshape(there, (-1, *lines)) + grid for there, grid in zip(np.nonzero(mask), np.indices(shape), strict=True)
    ])


def neighbours(input: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """The neighbours of all places: a row for each."""
    image = np.asarray(input)
    if np.size(image) == 0 or np.ndim(image) == 0:
        return image[None]  # a row: there is no other neighbour
    mask = mask_of(size, footprint, np.ndim(image))
    if mode in PADDING:
        wide = np.pad(image, reaches(mask, origin), PADDING[mode])
    else:
        wide = np.pad(image, reaches(mask, origin), constant_values=cval)
    return wide[places(mask, np.shape(image))]


def check_flat(output: Any, axes: Any, structure: Any, mode: Any) -> None:
    if output is not None or axes is not None or structure is not None or not isinstance(mode, str):
        rt.no_derivative("a filter that chooses", FLAT)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:
    check_flat(output, axes, None, mode)
    return np.max(neighbours(input, size, footprint, mode, cval, origin), axis=0)


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:
    check_flat(output, axes, None, mode)
    return np.min(neighbours(input, size, footprint, mode, cval, origin), axis=0)


def rank_filter(
    input: Any, rank: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    check_flat(output, axes, None, mode)
    return np.sort(neighbours(input, size, footprint, mode, cval, origin), axis=0)[rank]


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:
    rank = count_of(size, footprint, np.ndim(input)) // 2
    return rank_filter(input, rank, size, footprint, output, mode, cval, origin, axes=axes)


def percentile_filter(
    input: Any, percentile: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    rank = rank_of(percentile, count_of(size, footprint, np.ndim(input)))
    return rank_filter(input, rank, size, footprint, output, mode, cval, origin, axes=axes)


def count_of(size: Any, footprint: Any, ndim: Any) -> int:
    return int(np.sum(mask_of(size, footprint, ndim)))


def rank_of(percentile: Any, count: Any) -> int:
    share = percentile + 100.0 if percentile < 0.0 else percentile
    return count - 1 if share == 100.0 else int(count * share / 100.0)


def along_one(size: Any, axis: Any, ndim: Any) -> Any:
    """The size of a neighbourhood along one axis."""
    sizes = [1] * ndim
    sizes[axis] = size
    return tuple(sizes)


def maximum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    ndim = np.ndim(input)
    origins = [o - 1 for o in along_one(origin + 1, axis, ndim)]
    return maximum_filter(input, along_one(size, axis, ndim), None, output, mode, cval, origins)


def minimum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    ndim = np.ndim(input)
    origins = [o - 1 for o in along_one(origin + 1, axis, ndim)]
    return minimum_filter(input, along_one(size, axis, ndim), None, output, mode, cval, origins)


# --- shapes grown and shrunk ------------------------------------------------------------------------------------------


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    check_flat(output, axes, structure, mode)
    return minimum_filter(input, size, footprint, None, mode, cval, origin)


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    """The neighbourhood is turned round."""
    check_flat(output, axes, structure, mode)
    mask = turned(size, footprint, np.ndim(input))
    return maximum_filter(input, None, mask, None, mode, cval, turned_origin(mask, origin))


def turned(size: Any, footprint: Any, ndim: Any) -> Any:
    return np.flip(mask_of(size, footprint, ndim))


def turned_origin(mask: Any, origin: Any) -> Any:
    origins = [origin] * np.ndim(mask) if isinstance(origin, int) else list(origin)
    return [-o - (n % 2 == 0) for n, o in zip(np.shape(mask), origins)]


def grey_opening(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    shrunk = grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_dilation(shrunk, size, footprint, structure, output, mode, cval, origin, axes=axes)


def grey_closing(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    grown = grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_erosion(grown, size, footprint, structure, output, mode, cval, origin, axes=axes)


def morphological_gradient(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    grown = grey_dilation(input, size, footprint, structure, output, mode, cval, origin, axes=axes)
    return grown - grey_erosion(input, size, footprint, structure, output, mode, cval, origin, axes=axes)


def white_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    return np.asarray(input) - grey_opening(input, size, footprint, structure, output, mode, cval, origin, axes=axes)


def black_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:
    return grey_closing(input, size, footprint, structure, output, mode, cval, origin, axes=axes) - np.asarray(input)


# --- filters of signals, which put zeros around -----------------------------------------------------------------------


def order_filter(a: Any, domain: Any, rank: Any) -> Any:
    return rank_filter(a, rank, None, domain, None, "constant")


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    return median_filter(np.atleast_1d(volume), 3 if kernel_size is None else kernel_size, None, None, "constant")


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    return median_filter(input, kernel_size, None, None, "constant")
