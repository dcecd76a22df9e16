"""Rules of ``scipy.ndimage``: linear filters with every mode, linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, signal

from s2s import runtime as rt
from s2s.models import ndimage as models
from s2s.models import ranks
from s2s.rules.samples import args, arr, num
from s2s.rules.table import jvp, linear, model, refuse, requires, vjp, zero

PADDING: dict[str, Any] = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}
"""What the modes are called by ``np.pad``."""


def no_axes(axes: Any) -> None:
    if axes is not None:
        rt.no_derivative("a correlation with axes=", "it has no rule; give weights with as many axes as the image")


def widths_of(weights: Any, origin: Any, turned: bool) -> list[tuple[int, int]]:
    """How far the weights reach beyond the first and the last place of each axis; turned round for a convolution."""
    sizes = np.shape(weights)
    origins = [origin] * len(sizes) if isinstance(origin, int) else list(origin)
    before = [n // 2 + o if not turned else n - 1 - n // 2 - o for n, o in zip(sizes, origins)]
    return [(k, n - 1 - k) for n, k in zip(sizes, before)]


def continuation(count: int, before: int, after: int, mode: str) -> Any:
    """The matrix from the places of a line to those of the line continued at its boundary."""
    return np.eye(count)[np.pad(np.arange(count), (before, after), mode=PADDING[mode])]


zero(continuation)


def input_bar(g: Any, input: Any, weights: Any, mode: str, origin: Any, axes: Any, turned: bool) -> Any:
    """The cotangent of an image: that of the image continued at its boundary, and what was put there back where it came
    from. A correlation conjugates its weights."""
    no_axes(axes)
    if np.size(g) == 0:
        return np.zeros_like(input)
    made = signal.convolve(g, np.flip(weights) if turned else np.conj(weights))
    for axis, (n, width) in enumerate(zip(np.shape(input), widths_of(weights, origin, turned))):
        rows = np.moveaxis(made, axis, 0)
        if PADDING[mode] == "constant":
            folded = rows[width[0] : width[0] + n]
        else:
            folded = np.tensordot(continuation(n, width[0], width[1], mode), rows, ([0], [0]))
        made = np.moveaxis(folded, 0, axis)
    return rt.cast(made, input)


def weights_bar(g: Any, input: Any, weights: Any, mode: str, cval: Any, origin: Any, turned: bool) -> Any:
    """The cotangent of the weights: the image continued at its boundary, correlated with that of the result."""
    if np.size(g) == 0 or np.ndim(g) == 0:
        return rt.cast(np.sum(g * np.conj(input)) + np.zeros(np.shape(weights)), weights)
    options: dict[str, Any] = {"constant_values": cval} if PADDING[mode] == "constant" else {}
    wide = np.pad(input, widths_of(weights, origin, turned), mode=PADDING[mode], **options)
    found = signal.correlate(wide, np.conj(g), mode="valid")
    return rt.cast(np.flip(found) if turned else np.conj(found), weights)


def outside_bar(g: Any, input: Any, weights: Any, mode: str, cval: Any, origin: Any, turned: bool) -> Any:
    """The cotangent of what the image is continued by: what does not come back to the image."""
    if PADDING[mode] != "constant" or np.size(g) == 0:
        return 0.0
    same = weights if turned else np.conj(weights)
    inside = np.sum(input_bar(g, np.zeros_like(g), weights, mode, origin, None, turned))
    return rt.cast(np.sum(g) * np.sum(same) - inside, cval)


MODES = [args(arr(4, 5), arr(3, 3), mode=m) for m in ("reflect", "mirror", "nearest", "wrap", "constant")]
WEIGHED = [
    *MODES, args(arr(6), arr(4)), args(arr(6), arr(3), mode="constant", cval=num()),
    args(arr(4, 5), arr(2, 3), origin=(0, 1)), args(arr(3), arr(2), mode="grid-wrap"),
]
FILTER = "input, weights, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None"
vjp(
    ndimage.correlate, params=FILTER, samples=WEIGHED,
    input=lambda y_bar, input, weights, mode, origin, axes: input_bar(y_bar, input, weights, mode, origin, axes, False),
    weights=lambda y_bar, input, weights, mode, cval, origin: weights_bar(
        y_bar, input, weights, mode, cval, origin, False),
    cval=lambda y_bar, input, weights, mode, cval, origin: outside_bar(
        y_bar, input, weights, mode, cval, origin, False),
)
vjp(
    ndimage.convolve, params=FILTER, samples=WEIGHED,
    input=lambda y_bar, input, weights, mode, origin, axes: input_bar(y_bar, input, weights, mode, origin, axes, True),
    weights=lambda y_bar, input, weights, mode, cval, origin: weights_bar(
        y_bar, input, weights, mode, cval, origin, True),
    cval=lambda y_bar, input, weights, mode, cval, origin: outside_bar(
        y_bar, input, weights, mode, cval, origin, True),
)
jvp(
    ndimage.correlate,
    input=lambda input_dot, weights, mode, origin: ndimage.correlate(input_dot, weights, None, mode, 0.0, origin),
    weights=lambda weights_dot, input, mode, cval, origin: ndimage.correlate(
        input, weights_dot, None, mode, cval, origin),
    cval=lambda cval_dot, input, weights, mode, origin: ndimage.correlate(
        np.zeros_like(input), weights, None, mode, cval_dot, origin),
)
jvp(
    ndimage.convolve,
    input=lambda input_dot, weights, mode, origin: ndimage.convolve(input_dot, weights, None, mode, 0.0, origin),
    weights=lambda weights_dot, input, mode, cval, origin: ndimage.convolve(
        input, weights_dot, None, mode, cval, origin),
    cval=lambda cval_dot, input, weights, mode, origin: ndimage.convolve(
        np.zeros_like(input), weights, None, mode, cval_dot, origin),
)
zero(
    models.whole_part, models.first_of, models.neighbours_of,
    models.along_origin, models.reach_of, models.filter_matrix, models.mirrored, models.grid_of,
    models.zoomed_shape, models.spread_places, models.rotated_shape, models.masks,
)
linear(
    models.along, weights=lambda y_bar, weights: np.reshape(y_bar, np.shape(weights)), params="weights, ndim, axis",
    samples=[args(arr(3), 2, 0)],
)
ROWS = [args(arr(4, 5), arr(3)), args(arr(4, 5), arr(4), 0, mode="nearest"), args(arr(6), [0.2, 0.5], origin=-1)]
IMAGES = [args(arr(4, 5)), args(arr(4, 5), mode="wrap"), args(arr(4, 5), mode="constant", cval=0.3)]
model(ndimage.correlate1d, samples=ROWS)(models.correlate1d)
model(ndimage.convolve1d, samples=ROWS)(models.convolve1d)
GAUSSIANS = [
    args(arr(6), 0.8), args(arr(4, 5), 0.6, 0, 1), args(arr(6), num(0.7, 0.8)), args(arr(6), 0.8, order=2),
    args(arr(6), 0.8, order=3, radius=2),
]
model(ndimage.gaussian_filter1d, samples=GAUSSIANS)(models.gaussian_filter1d)
model(
    ndimage.gaussian_filter,
    samples=[args(arr(4, 5), 0.8), args(arr(4, 5), (0.8, 0.5), mode="nearest"), args(arr(5), 0.6, 2),
             args(arr(4, 5), 0.8, mode=("wrap", "nearest")), args(arr(4, 5), 0.8, axes=(0,)),
             args(arr(2, 4, 5), [0.5, 0.8], axes=(-1, 0))],
)(models.gaussian_filter)
model(ndimage.uniform_filter1d, samples=[args(arr(6), 3), args(arr(4, 5), 4, 0, origin=1)])(models.uniform_filter1d)
UNIFORM = [args(arr(4, 5), 3), args(arr(4, 5), (2, 3), mode="mirror"), args(arr(4, 5), 3, axes=0)]
model(ndimage.uniform_filter, samples=UNIFORM)(models.uniform_filter)
model(ndimage.sobel, samples=[*IMAGES, args(arr(4, 5), 0)])(models.sobel)
model(ndimage.prewitt, samples=IMAGES)(models.prewitt)
model(ndimage.laplace, samples=[*IMAGES, args(arr(4, 5), axes=(1,))])(models.laplace)
model(ndimage.gaussian_laplace, samples=[args(arr(4, 5), 0.7)])(models.gaussian_laplace)
model(ndimage.gaussian_gradient_magnitude, samples=[args(arr(4, 5), 0.7)])(models.gaussian_gradient_magnitude)
PLACES = arr(2, 4, low=0.2, high=2.8)
BEYOND = arr(2, 6, low=-2.0, high=6.0)
model(
    ndimage.map_coordinates,
    samples=[
        args(arr(4, 5), PLACES, order=1), args(arr(4, 5), BEYOND, order=1, mode="nearest"),
        args(arr(4, 5), BEYOND, order=1, cval=0.5), args(arr(6), arr(1, 3, low=0.2), order=1),
        *[args(arr(4, 5), BEYOND, order=k, mode=m) for k in (0, 2, 3, 4, 5) for m in ("constant", "nearest", "mirror")],
        args(arr(4, 5), PLACES, prefilter=False),
    ],
)(models.map_coordinates)
model(ndimage.spline_filter1d, samples=[args(arr(6)), args(arr(4, 5), 2, 0), args(arr(6), 3, mode="reflect")])(
    models.spline_filter1d
)
model(ndimage.spline_filter, samples=[args(arr(4, 5)), args(arr(4, 5), 4)])(models.spline_filter)
model(ndimage.shift, samples=[args(arr(4, 5), (0.3, -0.6)), args(arr(4, 5), 0.4, order=1, mode="nearest", cval=0.2)])(
    models.shift
)
model(ndimage.zoom, samples=[args(arr(4, 5), 1.5), args(arr(4, 5), (2.0, 0.7), order=1, mode="mirror")])(models.zoom)
MATRIX = np.array([[0.9, 0.1], [-0.2, 1.1]])
model(
    ndimage.affine_transform,
    samples=[
        args(arr(4, 5), MATRIX, np.array([0.3, 0.1])), args(arr(4, 5), np.array([0.9, 0.8]), 0.2, order=1),
        args(arr(4, 5), np.concatenate([MATRIX, [[0.3], [0.2]]], axis=1), output_shape=(3, 3), mode="nearest"),
    ],
)(models.affine_transform)
model(ndimage.rotate, samples=[args(arr(4, 5), 20.0), args(arr(4, 5), 35.0, reshape=False, order=1)])(models.rotate)
LABELS = np.array([0, 1, 1, 2, 2, 2, 0, 1])
LABELLED = [args(arr(8), LABELS, [1, 2]), args(arr(8), LABELS), args(arr(8)), args(arr(8), LABELS, 2)]
model(ndimage.sum_labels, samples=LABELLED)(models.sum_labels)
model(ndimage.sum, samples=LABELLED)(models.sum_labels)
model(ndimage.mean, samples=LABELLED)(models.mean)
model(ndimage.variance, samples=LABELLED)(models.variance)
model(ndimage.standard_deviation, samples=LABELLED)(models.standard_deviation)


@requires(ndimage.variance, ndimage.standard_deviation)
def real_image(input: Any) -> None:
    if np.iscomplexobj(input):
        rt.no_derivative("scipy.ndimage.variance or standard_deviation", "they discard imaginary parts")




# --- filters that choose ----------------------------------------------------------------------------------------------

zero(
    ranks.mask_of, ranks.reaches, ranks.places, ranks.check_flat, ranks.count_of, ranks.rank_of, ranks.along_one,
    ranks.turned, ranks.turned_origin,
)
CROSS = np.array([[False, True, False], [True, True, True], [False, True, False]])
CHOSEN = [
    args(arr(4, 5), 3), args(arr(6), 2, mode="nearest"), args(arr(4, 5), (2, 3), mode="mirror", origin=(0, 1)),
    args(arr(4, 5), footprint=CROSS, mode="constant", cval=0.3), args(arr(4, 5), 3, mode="wrap"),
]
for _name in ("maximum_filter", "minimum_filter", "median_filter"):
    model(getattr(ndimage, _name), samples=CHOSEN)(getattr(ranks, _name))
model(ndimage.rank_filter, samples=[args(arr(4, 5), 2, 3), args(arr(6), -1, 2)])(ranks.rank_filter)
model(ndimage.percentile_filter, samples=[args(arr(4, 5), 30, 3), args(arr(6), -20, 3)])(ranks.percentile_filter)
LINES = [args(arr(4, 5), 3), args(arr(4, 5), 2, 0, origin=-1)]
model(ndimage.maximum_filter1d, samples=LINES)(ranks.maximum_filter1d)
model(ndimage.minimum_filter1d, samples=LINES)(ranks.minimum_filter1d)
GREY = [args(arr(4, 5), 3), args(arr(4, 5), footprint=CROSS[:, :2]), args(arr(6), 2, mode="nearest")]
for _name in (
    "grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient", "white_tophat",
    "black_tophat",
):
    model(getattr(ndimage, _name), samples=GREY)(getattr(ranks, _name))

WITH_A_RULE = ("correlate", "convolve", "sum")
for _name in ndimage.__all__:
    _fn = getattr(ndimage, _name)
    if callable(_fn) and not any(hasattr(m, _name) for m in (models, ranks)) and _name not in WITH_A_RULE:
        refuse(_fn, "it has no rule; linear filters and interpolations have")
