"""What linear filters of ``scipy.ndimage`` compute, by correlations with weights along one axis each."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from s2s import runtime as rt

__all__ = ["correlate1d", "gaussian_filter", "map_coordinates", "uniform_filter"]

def along(weights: Any, ndim: Any, axis: Any) -> Any:
    """Weights of one axis as those of an image."""
    shape = [1] * ndim
    shape[axis] = np.shape(weights)[0]
    return np.reshape(weights, tuple(shape))


def along_origin(origin: Any, ndim: Any, axis: Any) -> Any:
    origins = [0] * ndim
    origins[axis] = origin
    return origins


def correlate1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    ndim = np.ndim(input)
    weights = np.asarray(weights)
    return ndimage.correlate(input, along(weights, ndim, axis), output, mode, cval, along_origin(origin, ndim, axis))


def convolve1d(
    input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    ndim = np.ndim(input)
    weights = np.asarray(weights)
    return ndimage.convolve(input, along(weights, ndim, axis), output, mode, cval, along_origin(origin, ndim, axis))


def gaussian_weights(sigma: Any, order: Any, reach: Any) -> Any:
    """A Gaussian, or a derivative of it, at whole numbers: a polynomial times the Gaussian."""
    x = np.arange(-reach, reach + 1.0)
    bell = np.exp(-0.5 * x * x / (sigma * sigma))
    bell = bell / np.sum(bell)
    before: Any = 0.0
    factor: Any = 1.0
    for k in range(order):  # the polynomials of Hermite
        before, factor = factor, -(x * factor + k * before) / (sigma * sigma)
    return factor * bell


def reach_of(sigma: Any, truncate: Any) -> int:
    return int(truncate * float(sigma) + 0.5)


def gaussian_filter1d(
    input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:
    reach = reach_of(sigma, truncate) if radius is None else radius
    return correlate1d(input, gaussian_weights(sigma, order, reach)[::-1], axis, output, mode, cval, 0)


def chosen_axes(axes: Any, ndim: Any) -> Any:
    """The axes that a filter goes along."""
    if axes is None:
        return list(range(ndim))
    return [axes % ndim] if isinstance(axes, int) else [axis % ndim for axis in axes]


def mode_of(mode: Any, k: Any) -> Any:
    return mode[k] if isinstance(mode, (list, tuple)) else mode


def one_of(option: Any, k: Any) -> Any:
    """What an option says for the k-th axis."""
    return option[k] if isinstance(option, (list, tuple)) or np.ndim(option) > 0 else option


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:
    for k, axis in enumerate(chosen_axes(axes, np.ndim(input))):
        input = gaussian_filter1d(
            input, one_of(sigma, k), axis, one_of(order, k), output, mode_of(mode, k), cval, truncate,
            radius=one_of(radius, k))
    return input


def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    return correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:
    for k, axis in enumerate(chosen_axes(axes, np.ndim(input))):
        if one_of(size, k) > 1:
            input = uniform_filter1d(
                input, one_of(size, k), axis, output, mode_of(mode, k), cval, one_of(origin, k))
    return input


def sobel(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    return slope_and_smooth(input, [1.0, 2.0, 1.0], axis, output, mode, cval, axes)


def prewitt(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    return slope_and_smooth(input, [1.0, 1.0, 1.0], axis, output, mode, cval, axes)


def slope_and_smooth(
    input: Any, smooth: Any, axis: Any, output: Any, mode: Any, cval: Any, axes: Any
) -> Any:
    """The difference of the neighbours along an axis, and weighted sums along the others."""
    if axes is not None:
        return rt.no_derivative("this filter with axes=", "it has no rule; filter one image at a time")
    ndim = np.ndim(input)
    image = correlate1d(input, [-1.0, 0.0, 1.0], axis, output, mode_of(mode, axis), cval, 0)
    for other in range(ndim):
        if other != axis % ndim:
            image = correlate1d(image, smooth, other, output, mode_of(mode, other), cval, 0)
    return image


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    chosen = chosen_axes(axes, np.ndim(input))
    total = 0.0 if chosen else input
    for k, axis in enumerate(chosen):
        total = total + correlate1d(input, [1.0, -2.0, 1.0], axis, output, mode_of(mode, k), cval, 0)
    return total


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **more: Any
) -> Any:
    count = len(chosen_axes(axes, np.ndim(input)))
    total = 0.0 if count else input
    for k in range(count):
        order = along_origin(2, count, k)
        total = total + gaussian_filter(input, sigma, order, output, mode_of(mode, k), cval, axes=axes, **more)
    return total


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **more: Any
) -> Any:
    """All axes are smoothed, those that ``axes`` does not name too."""
    ndim = np.ndim(input)
    chosen = chosen_axes(axes, ndim)
    if not chosen:
        return input
    total = 0.0
    for k, axis in enumerate(chosen):
        order = along_origin(1, ndim, axis)
        total = total + gaussian_filter(input, sigma, order, output, mode_of(mode, k), cval, **more) ** 2
    return np.sqrt(total)


# --- interpolation ----------------------------------------------------------------------------------------------------


def filter_matrix(count: Any, order: Any, mode: Any) -> Any:
    """The matrix from the values of one axis to the coefficients of the spline through them."""
    return ndimage.spline_filter1d(np.eye(count), order, 0, mode=mode)


def stored(made: Any, output: Any) -> Any:
    """A result, in the array that is given for it; ``output`` may also be its dtype."""
    if not isinstance(output, np.ndarray):
        return made
    output[...] = made
    return output


def spline_filter1d(input: Any, order: Any = 3, axis: Any = -1, output: Any = None, mode: Any = "mirror") -> Any:
    if order < 2 or np.shape(input)[axis] == 1:
        return stored(np.asarray(input), output)
    moved = np.moveaxis(np.asarray(input), axis, 0)
    made = np.tensordot(filter_matrix(np.shape(moved)[0], order, mode), moved, 1)
    return stored(np.moveaxis(made, 0, axis), output)


def spline_filter(input: Any, order: Any = 3, output: Any = None, mode: Any = "mirror") -> Any:
    for axis in tuple(range(np.ndim(input))):
        input = spline_filter1d(input, order, axis, None, mode)
    return stored(np.asarray(input), output)


def whole_part(x: Any) -> Any:
    return np.floor(x).astype(int)


def mirrored(index: Any, count: Any) -> Any:
    """Numbers of places, turned round at the ends."""
    if count == 1:
        return 0 * index
    index = np.abs(index) % (2 * count - 2)
    return np.where(index >= count, 2 * count - 2 - index, index)


def spline_weights(away: Any, order: Any) -> Any:
    """The values of a B-spline of a degree, centred, at its neighbours, of which the first is ``away`` to the left: a
    row for each neighbour."""
    x = np.abs(away - np.reshape(np.arange(order + 1.0), (-1, *(1,) * np.ndim(away))))
    if order == 0:
        return np.ones_like(x)
    if order == 1:
        return 1.0 - x
    if order == 2:
        return np.where(x < 0.5, 0.75 - x * x, 0.5 * (1.5 - x) ** 2)
    if order == 3:
        return np.where(x < 1.0, (x * x * (x - 2.0) * 3.0 + 4.0) / 6.0, (2.0 - x) ** 3 / 6.0)
    if order == 4:
        near = x * x * (x * x * 0.25 - 0.625) + 115.0 / 192.0
        middle = x * (x * (x * (5.0 / 6.0 - x / 6.0) - 1.25) + 5.0 / 24.0) + 55.0 / 96.0
        return np.where(x < 0.5, near, np.where(x < 1.5, middle, (x - 2.5) ** 4 / 24.0))
    near = x * x * (x * x * (0.25 - x / 12.0) - 0.5) + 0.55
    middle = x * (x * (x * (x * (x / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425
    return np.where(x < 1.0, near, np.where(x < 2.0, middle, (3.0 - x) ** 5 / 120.0))


MODES = "it has a rule for the modes 'constant', 'nearest' and 'mirror'"


def neighbours_of(at: Any, count: Any, order: Any, mode: Any) -> Any:
    """The numbers of the points that a place is between, as many as a spline of a degree has weights; a row for each.
    """
    found = first_of(at, order) + np.reshape(np.arange(order + 1), (-1, *(1,) * np.ndim(at)))
    return np.clip(found, 0, count - 1) if mode == "nearest" else mirrored(found, count)


def first_of(at: Any, order: Any) -> Any:
    return whole_part(at if order % 2 else at + 0.5) - order // 2


def sampled(input: Any, places: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> Any:
    """The values of an image at places, given by one array for each axis: a spline of a degree between its points."""
    if mode not in ("constant", "nearest", "mirror"):
        return rt.no_derivative("an interpolation of scipy.ndimage", MODES)
    input, shape = np.asarray(input), np.shape(input)
    more, dtype = 0, input.dtype
    if prefilter and order > 1:
        more = 12 if mode == "nearest" else 0
        input = spline_filter(np.pad(input, more, mode="edge") if more else input, order, None, mode)
    inside, weights, corners = True, [], []
    for axis in tuple(range(len(shape))):
        at, last = places[axis], shape[axis] - 1
        if mode == "constant":
            inside = inside & (at >= 0.0) & (at <= last)
            at = np.where(inside, at, 0.0)
        elif mode == "nearest":
            at = np.clip(at + more, -(order + 1.0), last + 2.0 * more + order + 1.0)  # farther out it is constant
        else:
            at = folded(at, last)
        weights.append(spline_weights(at - first_of(at, order), order))
        rows = neighbours_of(at, np.shape(input)[axis], order, mode)
        corners.append(np.expand_dims(rows, tuple([k if k < axis else k + 1 for k in range(len(shape) - 1)])))
    letters = "abcdefgh"[: len(shape)]
    total = np.einsum(f"{','.join([k + '...' for k in letters])},{letters}...->...", *weights, input[tuple(corners)])
    return np.asarray(np.where(inside, total, cval) if mode == "constant" else total, dtype)


def folded(at: Any, last: Any) -> Any:
    """Places turned round at both ends of a line. Those less than one step beyond its second end stay there, as in
    SciPy: it is their neighbours that are turned round, which decides where two points are equally near."""
    if last == 0:
        return 0.0 * at
    away = np.abs(at) % (2.0 * last)
    return np.where(away >= last + (at > 0.0), 2.0 * last - away, away)


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    if output is not None:
        return rt.no_derivative("scipy.ndimage.map_coordinates", "with output= it has no rule")
    return sampled(input, np.asarray(coordinates), order, mode, cval, prefilter)


def grid_of(shape: Any) -> Any:
    return np.indices(shape).astype(float)


def shift(
    input: Any, shift: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    if output is not None:
        return rt.no_derivative("scipy.ndimage.shift", "with output= it has no rule")
    ndim, grid = np.ndim(input), grid_of(np.shape(input))
    return sampled(input, [grid[k] - one_of(shift, k) for k in range(ndim)], order, mode, cval, prefilter)


def zoomed_shape(shape: Any, zoom: Any) -> Any:
    return tuple([round(n * float(one_of(zoom, k))) for k, n in enumerate(shape)])


def zoom(
    input: Any, zoom: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True, *, grid_mode: Any = False,
) -> Any:
    """The shape of the result is constant, and with it the distances between the places."""
    if output is not None or grid_mode:
        return rt.no_derivative("scipy.ndimage.zoom", "with output= or grid_mode it has no rule")
    shape = np.shape(input)
    made = zoomed_shape(shape, zoom)
    return sampled(input, spread_places(shape, made), order, mode, cval, prefilter)


def spread_places(shape: Any, made: Any) -> Any:
    grid = np.indices(made).astype(float)
    return [grid[k] * ((shape[k] - 1) / (made[k] - 1) if made[k] > 1 else 1.0) for k in range(len(shape))]


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: Any = 3,
    mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:
    if output is not None:
        return rt.no_derivative("scipy.ndimage.affine_transform", "with output= it has no rule")
    matrix, ndim = np.asarray(matrix), np.ndim(input)
    grid = grid_of(np.shape(input) if output_shape is None else tuple(output_shape))
    if np.ndim(matrix) == 1:
        places = [matrix[k] * grid[k] + one_of(offset, k) for k in range(ndim)]
    else:
        if np.shape(matrix)[1] == ndim + 1:
            matrix, offset = matrix[:ndim, :ndim], matrix[:ndim, ndim]
        places = [np.tensordot(matrix[k], grid, 1) + one_of(offset, k) for k in range(ndim)]
    return sampled(input, places, order, mode, cval, prefilter)


def rotated_shape(shape: Any, angle: Any) -> Any:
    """The shape of an image that holds all of a turned one."""
    c, s = np.cos(np.deg2rad(float(angle))), np.sin(np.deg2rad(float(angle)))
    height, width = shape
    bounds = np.array([[c, s], [-s, c]]) @ np.array([[0, 0, height, height], [0, width, 0, width]])
    return tuple([int(n) for n in np.ptp(bounds, axis=1) + 0.5])


def rotate(
    input: Any, angle: Any, axes: Any = (1, 0), reshape: Any = True, output: Any = None, order: Any = 3,
    mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:
    if output is not None or np.ndim(input) != 2 or tuple(axes) not in ((1, 0), (0, 1), (-1, -2), (-2, -1)):
        return rt.no_derivative("scipy.ndimage.rotate", "it has a rule for one image, without output=")
    shape = np.shape(input)
    made = rotated_shape(shape, angle) if reshape else shape
    turn = np.deg2rad(angle)
    c, s = np.cos(turn), np.sin(turn)
    down, right = grid_of(made) - np.reshape((np.array(made) - 1.0) / 2.0, (2, 1, 1))
    places = [c * down + s * right + (shape[0] - 1.0) / 2.0, c * right - s * down + (shape[1] - 1.0) / 2.0]
    return sampled(input, places, order, mode, cval, prefilter)


# --- labelled places --------------------------------------------------------------------------------------------------


def masks(shape: Any, labels: Any, index: Any) -> Any:
    """For each label that is asked for where it is, as 1 and 0."""
    if labels is None:
        return np.ones((1, int(np.prod(shape))))
    flat = np.ravel(np.broadcast_to(labels, shape))
    if index is None:
        return (flat[None] > 0).astype(float)
    wanted = np.atleast_1d(index)
    if np.can_cast(flat.dtype, np.int_):  # SciPy counts in bins
        wanted = wanted.astype(np.int_)
    return (flat[None] == wanted[:, None]).astype(float)


def sums_and_counts(input: Any, labels: Any, index: Any) -> Any:
    where = masks(np.shape(input), labels, index)
    return where, where @ np.ravel(input), np.sum(where, axis=1)


def beside(input: Any, labels: Any) -> Any:
    """The input, broadcast against its labels."""
    return input if labels is None else np.broadcast_arrays(input, labels)[0]


def as_asked(found: Any, index: Any) -> Any:
    return found[0] if index is None or np.ndim(index) == 0 else found


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    return as_asked(sums_and_counts(beside(input, labels), labels, index)[1], index)


def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    _, total, count = sums_and_counts(beside(input, labels), labels, index)
    return as_asked(total / count, index)


def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    input = beside(input, labels)
    where, total, count = sums_and_counts(input, labels, index)
    away = np.ravel(input) - (total / count)[:, None]
    return as_asked(np.sum(where * away * away, axis=1) / count, index)


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    return np.sqrt(variance(input, labels, index))
