"""What linear filters of ``scipy.ndimage`` compute, by correlations with weights along one axis each."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage
from scipy.ndimage import _filters

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


def gaussian_filter1d(
    input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    weights = _filters._gaussian_kernel1d(sigma, order, reach)[::-1]
    return correlate1d(input, weights, axis, output, mode, cval, 0)


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:
    if axes is not None:
        return rt.no_derivative("a filter with axes=", "it has no rule; leave it out")
    for axis in range(np.ndim(input)):
        width = sigma[axis] if np.ndim(sigma) > 0 else sigma
        degree = order[axis] if isinstance(order, (list, tuple)) else order
        reach = radius[axis] if isinstance(radius, (list, tuple)) else radius
        input = gaussian_filter1d(input, width, axis, degree, output, mode, cval, truncate, radius=reach)
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
    if axes is not None:
        return rt.no_derivative("a filter with axes=", "it has no rule; leave it out")
    for axis in range(np.ndim(input)):
        length = size[axis] if isinstance(size, (list, tuple)) else size
        start = origin[axis] if isinstance(origin, (list, tuple)) else origin
        input = uniform_filter1d(input, length, axis, output, mode, cval, start)
    return input


def sobel(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    return slope_and_smooth(input, [1.0, 2.0, 1.0], axis, output, mode, cval, options)


def prewitt(
    input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    return slope_and_smooth(input, [1.0, 1.0, 1.0], axis, output, mode, cval, options)


def slope_and_smooth(
    input: Any, smooth: Any, axis: Any, output: Any, mode: Any, cval: Any, options: Any
) -> Any:
    """The difference of the neighbours along an axis, and weighted sums along the others."""
    if options:
        return rt.no_derivative("a filter with axes=", "it has no rule; leave it out")
    ndim = np.ndim(input)
    image = correlate1d(input, [-1.0, 0.0, 1.0], axis, output, mode, cval, 0)
    for other in range(ndim):
        if other != axis % ndim:
            image = correlate1d(image, smooth, other, output, mode, cval, 0)
    return image


def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any) -> Any:
    if options:
        return rt.no_derivative("a filter with axes=", "it has no rule; leave it out")
    total = correlate1d(input, [1.0, -2.0, 1.0], 0, output, mode, cval, 0)
    for axis in range(1, np.ndim(input)):
        total = total + correlate1d(input, [1.0, -2.0, 1.0], axis, output, mode, cval, 0)
    return total


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **more: Any
) -> Any:
    total = 0.0
    for axis in range(np.ndim(input)):
        order = along_origin(2, np.ndim(input), axis)
        total = total + gaussian_filter(input, sigma, order, output, mode, cval, axes=axes, **more)
    return total


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **more: Any
) -> Any:
    total = 0.0
    for axis in range(np.ndim(input)):
        order = along_origin(1, np.ndim(input), axis)
        total = total + gaussian_filter(input, sigma, order, output, mode, cval, axes=axes, **more) ** 2
    return np.sqrt(total)


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """Linear interpolation between the neighbours on each axis; outside of the image ``cval``, or the nearest place."""
    if order != 1 or output is not None or mode not in ("constant", "nearest"):
        reason = "it has a rule for order=1 and the modes 'constant' and 'nearest'"
        return rt.no_derivative("scipy.ndimage.map_coordinates", reason)
    places = np.asarray(coordinates)
    inside = True
    total = 0.0
    for corner in np.ndindex(*[2] * np.ndim(input)):
        share, index = 1.0, []
        for axis, side in enumerate(corner):
            last = np.shape(input)[axis] - 1
            at = np.clip(places[axis], 0.0, last)
            low = np.clip(whole_part(at), 0, max(last - 1, 0))
            inside = inside & (places[axis] >= 0.0) & (places[axis] <= last)
            share = share * ((at - low) if side else (1.0 - (at - low)))
            index.append(np.minimum(low + side, last))
        total = total + share * input[tuple(index)]
    return total if mode == "nearest" else np.where(inside, total, cval)


def whole_part(x: Any) -> Any:
    return np.floor(x).astype(int)
