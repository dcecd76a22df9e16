"""Rules of the functions that other rules and generated code call: so that a derivative can be differentiated again.

Most of ``runtime`` moves cotangents: it is linear in ``g``, and its transpose is the function that the primal called.
The rest is written in functions that have rules, and is differentiated as it is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.rules.functions import describe
from s2s.rules.numpy.elementwise import power_base, power_exponent
from s2s.rules.samples import Sample, args, arr, num
from s2s.rules.table import jvp, linear, model, partials, vjp, zero
from s2s.runtime import directions

# --- shapes and dtypes ----------------------------------------------------------------------------------------------

linear(
    rt.cast, g=lambda y_bar, g: rt.cast(y_bar, g), params="g, x", harmless="x",
    samples=[args(arr(3), np.ones(3)), args(arr(3, complex=True), np.ones(3))],
)
for _fit in (rt.fit_cotangent, rt.fit_tangent):
    linear(
        _fit, g=lambda y_bar, g: rt.cast(y_bar, g), params="g, x, name", harmless="x name",
        samples=[args(arr(3), np.ones(3), "f"), args(num(), 1.0, "f")],
    )
for _check in (rt.fit_bar, rt.fit_dot):
    linear(
        _check, g=lambda y_bar, g: rt.tangent_like(y_bar, g), params="g, x, rule", harmless="x rule",
        samples=[args(arr(3), np.ones(3), "rule"), args(num(), 1.0, "rule")],
    )
linear(
    rt.check_gradient, g=lambda y_bar: y_bar, params="g, x, name", harmless="x name",
    samples=[args(arr(3), np.ones(3), "x")],
)


vjp(rt.differentiated_as, x=lambda y_bar: y_bar, params="value, x", harmless="value")  # a choice: no differences
jvp(rt.differentiated_as, x=lambda x_dot: x_dot)
vjp(rt.regular, jacobian=lambda y_bar: y_bar, samples=[args(arr(2, 2))])
jvp(rt.regular, jacobian=lambda jacobian_dot: jacobian_dot)


def unbroadcast_bar(y_bar: Any, g: Any) -> Any:
    """What was summed gets the same cotangent everywhere; what was stretched adds up."""
    return rt.unbroadcast(np.broadcast_to(y_bar, np.broadcast_shapes(np.shape(y_bar), np.shape(g))), g)


linear(
    rt.unbroadcast, g=unbroadcast_bar, params="g, x", harmless="x",
    samples=[args(arr(2, 3), np.ones(3)), args(arr(2, 3), np.ones((2, 1))), args(arr(3), 1.0), args(num(), np.ones(3))],
)
linear(
    rt.sum_to, g=unbroadcast_bar, params="g, shape", harmless="shape",
    samples=[args(arr(2, 3), (3,)), args(arr(2, 3), (2, 1)), args(arr(3), (2, 3)), args(arr(2), (2,))],
)
def summand_bar_bar(y_bar: Any) -> Any:
    if isinstance(y_bar, (list, tuple)):
        raise rt.joined_containers(y_bar)
    return y_bar


linear(
    rt.summand_bar, g=summand_bar_bar, params="g, x, place", harmless="x place",
    samples=[args(arr(3), np.ones(3), 0), args(arr(3), np.ones(3), 1)],
)


def _added(y_bar: Any, a: Any) -> Any:
    """Containers that are added have one structure; a number that is added to an array is summed over."""
    return y_bar if isinstance(a, (tuple, list, dict)) else rt.unbroadcast(y_bar, a)


linear(
    rt.add, a=lambda y_bar, a: _added(y_bar, a), b=lambda y_bar, b: _added(y_bar, b), params="a, b", joint=True,
    samples=[args(arr(3), arr(3)), args(num(), arr(2, 2)), args((arr(2), arr(3)), (arr(2), arr(3)))],
)


def whole_bar(y_bar: Any, y: Any, g: Any) -> Any:
    return tuple([None if part is None else unbroadcast_bar(bar, part) for bar, part in zip(rt.whole(y_bar, y), g)])


linear(
    rt.own_tangent, y_dot=lambda y_bar: y_bar, params="y_dot, y, *sources", harmless="y sources",
    samples=[args(arr(3), np.ones(3), np.ones(3))],
)
linear(
    rt.whole, g=whole_bar, params="g, y", harmless="y", joint=True,
    samples=[args((arr(2), arr(3)), (np.ones(2), np.ones(3)))],
)

linear(
    rt.tangent_like, dot=lambda y_bar, dot: rt.unbroadcast(y_bar, dot), params="dot, x", harmless="x",
    samples=[args(arr(3), np.ones(3)), args(num(), np.ones(3))],
)
vjp(
    rt.copy_in_memory, x=lambda y_bar: y_bar, params="x, like=None", harmless="like",
    samples=[args(arr(3)), args(arr(2, 3))],
)
jvp(rt.copy_in_memory, x=lambda x_dot, x: rt.copy_in_memory(x_dot, x))
linear(rt.kept, value=lambda y_bar: y_bar, params="value", samples=[args(arr(3)), args(arr(2, 3)), args(num())])
zero(rt.before_calls, rt.check_unchanged, rt.bin_of)
zero(rt.now, rt.read_now)  # of what carries a derivative, the read itself is specialised
zero(rt.zeros_of, rt.key_positions, rt.without_tangents, rt.zeros_like, rt.fractions, rt.outline, rt.axes_in_memory)
zero(rt.check_solution, rt.check_bits)
zero(rt.cut)
zero(
    rt.einsum_alone, rt.einsum_transpose, rt.einsum_inputs, rt.einsum_output, rt.stored_slice,
)

# --- what repeats, cuts and joins -----------------------------------------------------------------------------------

X, M = np.ones(5), np.ones((3, 4))
linear(
    rt.diagonal_bar,
    g=lambda y_bar, g, offset, axis1, axis2: unbroadcast_bar(np.diagonal(y_bar, offset, axis1, axis2), g),
    params="g, x, offset, axis1, axis2", harmless="x", samples=[args(arr(3), M, 1, 0, 1)],
)
linear(
    rt.take_bar, g=lambda y_bar, indices, axis: np.take(y_bar, indices, axis), params="g, x, indices, axis",
    harmless="x", samples=[args(arr(3), X, [0, 0, 2], None), args(arr(3, 2), M, np.array([1, 1]), 1)],
)
linear(
    rt.take_along_axis_bar, g=lambda y_bar, indices, axis: np.take_along_axis(y_bar, indices, axis),
    params="g, x, indices, axis", harmless="x", samples=[args(arr(3, 2), M, np.zeros((3, 2), int), 1)],
)
linear(
    rt.index_bar, g=lambda y_bar, index: y_bar[index], params="x, index, g", harmless="x",
    samples=[args(X, slice(1, 3), arr(2)), args([M[0], X, X], slice(1, 3), [arr(5), arr(5)])],
)
linear(
    rt.reverse_cumsum, g=lambda y_bar, axis: np.cumsum(y_bar, axis), params="g, axis", samples=[args(arr(3, 4), 1)],
)
linear(
    rt.repeat_bar, g=lambda y_bar, repeats, axis: np.repeat(y_bar, repeats, axis), params="g, x, repeats, axis",
    harmless="x", samples=[args(arr(10), X, 2, None), args(arr(4, 4), M, [1, 0, 3], 0)],
)
linear(
    rt.tile_bar, g=lambda y_bar, reps: np.tile(y_bar, reps), params="g, x, reps", harmless="x",
    samples=[args(arr(10), X, 2), args(arr(6, 4), M, (2, 1))],
)
linear(
    rt.unpad, g=lambda y_bar, pad_width: np.pad(y_bar, pad_width), params="g, x, pad_width", harmless="x",
    samples=[args(arr(8), X, (1, 2))],
)
linear(
    rt.pad_value_bar, params="g, x, pad_width, value", harmless="x value",
    g=lambda y_bar, g, x, pad_width: rt.cast(np.pad(np.zeros_like(x), pad_width, constant_values=y_bar), g),
    samples=[args(arr(8), X, (1, 2), 1.0)],
)
linear(
    rt.diff_bar, g=lambda y_bar, n, axis: np.diff(y_bar, n, axis), params="g, x, n, axis", harmless="x",
    samples=[args(arr(3), X, 2, -1), args(arr(2, 4), M, 1, 0)],
)
linear(
    rt.weigh, g=lambda y_bar, weights, axis: np.moveaxis(np.tensordot(weights, y_bar, 0), 0, axis),
    weights=lambda y_bar, g, axis: np.tensordot(np.moveaxis(g, axis, 0), y_bar, np.ndim(y_bar)),
    params="weights, g, axis", samples=[args(arr(3), arr(3, 2), 0), args(arr(4), arr(2, 4), 1)],
)


def stored_adjoint(y_bar: Any, a_bar: Any, index: Any) -> Any:
    """Of an element that is named more than once the last one counts, in a store too."""
    made = np.zeros_like(a_bar)
    made[index] = y_bar
    return made


linear(
    rt.stored_bar, a_bar=stored_adjoint, params="a_bar, index",
    samples=[args(arr(3), np.array([0, 2, 0])), args(arr(3, 4), slice(1, 2))],
)


def updated_value(y_bar: Any, index: Any, v: Any, repeats: Any) -> Any:
    g = rt.stored_bar(y_bar, index) if repeats else y_bar[index]
    return rt.unbroadcast(g, v)


linear(
    rt.updated, a=lambda y_bar, index: rt.updated(y_bar, index, 0.0), v=updated_value, joint=True,
    params="a, index, v, repeats=False",
    samples=[
        args(arr(4), 1, num()), args(arr(3, 4), slice(1, 3), arr(4)), args(arr(3, 4), (slice(None), 0), arr(3)),
        args(arr(4), np.array([True, False, True, False]), num()), args(arr(4), [0, 2, 0], arr(3), True),
        args(arr(3, 4), ..., arr(4)),
    ],
)
linear(
    rt.increased, a=lambda y_bar: y_bar, v=lambda y_bar, index, v: rt.unbroadcast(y_bar[index], v), joint=True,
    params="a, index, v", samples=[args(arr(4), [0, 2, 0], arr(3)), args(arr(3, 4), slice(1, 3), arr(4))],
)
linear(
    rt.picked, a=lambda y_bar, a, index: rt.index_bar(a, index, y_bar), params="a, index",
    samples=[args(arr(3, 4), (np.array([0, 0, 1]), np.array([1, 1, 2])))],
)
describe(rt.updated, rt.increased, rt.picked, result=Result.NEW)


def joined_bar(y_bar: Any, y: Any, axis: Any) -> Any:
    bars = rt.whole(y_bar, y)
    return np.concatenate([np.atleast_1d(bar) for bar in bars], axis)


linear(
    rt.split_like, g=joined_bar, params="g, arrays, axis", harmless="arrays",
    samples=[args(arr(5), [np.ones(2), np.ones(3)], 0), args(arr(5), (np.ones((2, 2)), 1.0), None)],
)
linear(
    rt.unstack_like, g=lambda y_bar, y, axis: np.stack(rt.whole(y_bar, y), axis), params="g, arrays, axis",
    harmless="arrays", samples=[args(arr(2, 3), [np.ones(3), np.ones(3)], 0)],
)


def joined_like_bar(y_bar: Any, y: Any, expanded: Any, axis: Any) -> Any:
    bars = rt.whole(y_bar, y)
    return np.concatenate([np.reshape(bar, np.shape(part)) for bar, part in zip(bars, expanded)], axis)


linear(
    rt.joined_like, g=joined_like_bar, params="g, arrays, expanded, axis", harmless="arrays expanded",
    samples=[args(arr(2, 3), [np.ones(3), np.ones(3)], [np.ones((1, 3)), np.ones((1, 3))], 0)],
)

linear(
    rt.item_bar, g=lambda y_bar, index: y_bar.item(*index), params="x, index, g", harmless="x",
    samples=[args(X, (2,), num())],
)

linear(
    rt.select_bar, g=lambda y_bar, y, conditions: np.select(conditions, list(rt.whole(y_bar, y)), 0.0),
    params="g, conditions, choices", harmless="conditions choices",
    samples=[args(arr(3), [np.array([True, False, False]), np.array([True, True, False])], [np.ones(3), np.ones(3)])],
)

# --- products: linear in the cotangent and in the other factors -----------------------------------------------------


def tensordot_g(y_bar: Any, a: Any, b: Any, axes: Any, which: Any) -> Any:
    return np.tensordot(y_bar, b, axes) if which == 0 else np.tensordot(a, y_bar, axes)


def tensordot_a(y_bar: Any, g: Any, a: Any, b: Any, axes: Any, which: Any) -> Any:
    return np.zeros_like(a) if which == 0 else rt.tensordot_bar(g, a, y_bar, axes, 0)


def tensordot_b(y_bar: Any, g: Any, a: Any, b: Any, axes: Any, which: Any) -> Any:
    return rt.tensordot_bar(g, y_bar, b, axes, 1) if which == 0 else np.zeros_like(b)


def _products(*factors: Any) -> list[Sample]:
    """Calls for the first factor and for the second."""
    g, a, b, *rest = factors
    return [args(g, a, b, *rest, 0), args(g, a, b, *rest, 1)]


def einsum_operands(y_bar: Any, g: Any, subscripts: Any, operands: Any, which: Any) -> Any:
    """The operand that is asked for has its place taken by the cotangent."""
    given = [y_bar if i == which else operand for i, operand in enumerate(operands)]
    return tuple([
        np.zeros_like(given[i]) if i == which else rt.einsum_bar(g, subscripts, given, i) for i in range(len(given))
    ])


def einsum_operands_dot(operands_dot: Any, g: Any, subscripts: Any, operands: Any, which: Any) -> Any:
    """The sum over the factors: the tangent of one, the others as they are."""
    total = np.zeros_like(operands[which])
    for i in range(len(operands)):
        if i != which:
            changed = [operands_dot[k] if k == i else operand for k, operand in enumerate(operands)]
            total = total + rt.einsum_bar(g, subscripts, changed, which)
    return total


vjp(
    rt.tensordot_bar, g=tensordot_g, a=tensordot_a, b=tensordot_b, params="g, a, b, axes, which",
    samples=_products(arr(2, 2), arr(2, 3, 4), arr(4, 3, 2), ([1, 2], [1, 0])),
)
jvp(
    rt.tensordot_bar, g=lambda g_dot, a, b, axes, which: rt.tensordot_bar(g_dot, a, b, axes, which),
    a=lambda a_dot, g, b, axes, which: np.zeros_like(a_dot) if which == 0 else rt.tensordot_bar(g, a_dot, b, axes, 1),
    b=lambda b_dot, g, a, axes, which: rt.tensordot_bar(g, a, b_dot, axes, 0) if which == 0 else np.zeros_like(b_dot),
)
vjp(
    rt.kron_bar, params="g, a, b, which", samples=_products(arr(6, 2), arr(2, 1), arr(3, 2)),
    g=lambda y_bar, a, b, which: np.kron(y_bar, b) if which == 0 else np.kron(a, y_bar),
    a=lambda y_bar, g, a, b, which: np.zeros_like(a) if which == 0 else rt.kron_bar(g, a, y_bar, 0),
    b=lambda y_bar, g, a, b, which: rt.kron_bar(g, y_bar, b, 1) if which == 0 else np.zeros_like(b),
)
jvp(
    rt.kron_bar, g=lambda g_dot, a, b, which: rt.kron_bar(g_dot, a, b, which),
    a=lambda a_dot, g, b, which: np.zeros_like(a_dot) if which == 0 else rt.kron_bar(g, a_dot, b, 1),
    b=lambda b_dot, g, a, which: rt.kron_bar(g, a, b_dot, 0) if which == 0 else np.zeros_like(b_dot),
)
vjp(
    rt.einsum_bar, params="g, subscripts, operands, which",
    g=lambda y_bar, subscripts, operands, which: np.einsum(
        subscripts, *[y_bar if i == which else operand for i, operand in enumerate(operands)]
    ),
    operands=einsum_operands,
    samples=[
        args(arr(2, 4), "ij,jk->ik", (np.ones((2, 3)), arr(3, 4)), 0),
        args(arr(2, 4), "ij,jk,k->ik", (arr(2, 3), np.ones((3, 4)), arr(4)), 1),
    ],
)
jvp(
    rt.einsum_bar, operands=einsum_operands_dot,
    g=lambda g_dot, subscripts, operands, which: rt.einsum_bar(g_dot, subscripts, operands, which),
)
linear(
    rt.convolve_bar, g=lambda y_bar, v, mode: np.convolve(y_bar, v, mode),
    v=lambda y_bar, g, v, mode: rt.convolve_bar(g, v, y_bar, mode), params="g, a, v, mode", harmless="a",
    samples=[args(arr(6), np.ones(4), arr(3), "full"), args(arr(4), np.ones(4), arr(3), "same")],
)


def _triangle(matrix: Any, lower: Any) -> Any:
    return np.tril(matrix) if lower else np.triu(matrix)


def solve_triangular_a(y_bar: Any, y: Any, a: Any, b: Any, lower: Any, transposed: Any) -> Any:
    """Of one triangle only: the other has zeros, whatever ``a`` is made of."""
    b_bar = rt.solve_triangular(a, y_bar, lower, not transposed)
    left, right = (y, b_bar) if transposed else (b_bar, y)
    return -_triangle(np.outer(left, right) if np.ndim(b) == 1 else left @ rt.mT(right), lower)


def solve_triangular_dot(
    y: Any, a: Any, b: Any, lower: Any, transposed: Any, a_dot: Any, b_dot: Any
) -> Any:
    """One solve with the change of both sides, as of ``np.linalg.solve``."""
    if isinstance(a_dot, float):  # there is none
        return rt.solve_triangular(a, b_dot, lower, transposed)
    change = _triangle(a_dot, lower)
    return rt.solve_triangular(a, b_dot - (rt.mT(change) if transposed else change) @ y, lower, transposed)


vjp(  # of triangular matrices, which differences would leave: no samples
    rt.solve_triangular, a=solve_triangular_a, params="a, b, lower, transposed",
    b=lambda y_bar, a, lower, transposed: rt.solve_triangular(a, y_bar, lower, not transposed),
)
jvp(rt.solve_triangular)(solve_triangular_dot)


def between_left(y_bar: Any, inner: Any, right: Any) -> Any:
    """NaN of ``inner`` goes on to what it has a part in here: where ``left`` is zero, its cotangent is unknown."""
    return rt.between(y_bar @ rt.mT(right), rt.mT(inner), np.eye(np.shape(inner)[-1], dtype=inner.dtype))


def between_right(y_bar: Any, left: Any, inner: Any) -> Any:
    return rt.between(np.eye(np.shape(inner)[-1], dtype=inner.dtype), rt.mT(inner), rt.mT(left) @ y_bar)


vjp(
    rt.between, left=between_left, inner=lambda y_bar, left, right: rt.mT(left) @ y_bar @ rt.mT(right),
    right=between_right,
    samples=[
        args(arr(4, 3), arr(3, 3), arr(3, 2)), args(arr(2, 3, 3), arr(2, 3, 3), arr(2, 3, 3)),
        args(arr(4, 3, complex=True), arr(3, 3, complex=True), arr(3, 2, complex=True)),
    ],
)
jvp(
    rt.between, left=lambda left_dot, inner, right: rt.between(left_dot, inner, right),
    inner=lambda inner_dot, left, inner, right: rt.between(left, np.where(np.isnan(inner), np.nan, inner_dot), right),
    right=lambda right_dot, left, inner: rt.between(left, inner, right_dot),
)

# The cofactors are the slopes of the determinant, so that their derivative is symmetric.
vjp(
    rt.cofactor, a=lambda y_bar, a, determinant: rt.cofactor_dot(y_bar, a, determinant), params="a, determinant",
    harmless="determinant",
)
jvp(rt.cofactor, a=lambda a_dot, a, determinant: rt.cofactor_dot(a_dot, a, determinant))

# --- as they are written --------------------------------------------------------------------------------------------

for _written in (
    rt.cholesky_dot, rt.plain_cholesky_bar, rt.cofactor_dot, rt.cumprod_bar, rt.eigh_bar, rt.eigvalsh_bar,
    rt.gap_quotient, rt.interp_fp_bar, rt.interp_slope, rt.matrix_power_bar, rt.norm_bar, rt.pinv_bar,
    rt.beside_dropped, rt.prod_partial,
    rt.qr_bar, rt.sequence_bar, rt.share, rt.slogdet_weight, rt.svd_bar, rt.svdvals_bar,
    rt.trapezoid_weights, rt.trapezoid_x_bar, rt.align_weights, rt.distance_bar, rt.meshgrid_bar, rt.mirror,
    rt.mT, rt.mH, rt.rebuild, rt.axes_last, rt.axes_back, rt.vector_norm_bar, rt.summed_norm_bar,
    rt.spectral_norm_bar, rt.slope_of_abs, rt.trapezoid_steps, rt.interp_piece, rt.with_length, rt.axis_size,
    rt.periodic, rt.periodic_fp_bar, rt.distance_dot, directions.each_cotangent,
    directions.each_direction, directions.each, directions.one, directions.joined, directions.lift, directions.beside,
    directions.tangents_like, directions.unbroadcast, rt.either_used,
):
    model(_written)(_written)
model(rt.cholesky_bar)(rt.plain_cholesky_bar)

linear(rt.like, g=lambda y_bar, g: rt.sequence_bar(y_bar, g), params="g, x", harmless="x")

# Parts of Jacobians, of whatever structure: that shows only when the program runs.
linear(
    directions.columns, dot=lambda y_bar, dot, values, single: directions.columns_bar(y_bar, dot, values, single),
    params="dot, values, single", harmless="values single",
)
linear(
    directions.columns_bar, g=lambda y_bar, values, single: directions.columns(y_bar, values, single),
    params="g, dot, values, single", harmless="dot values single",
)
linear(
    directions.rows, bars=lambda y_bar, bars, out, single: directions.rows_bar(y_bar, bars, out, single),
    params="bars, out, single", harmless="out single",
)
linear(
    directions.rows_bar, g=lambda y_bar, out, single: directions.rows(y_bar, out, single),
    params="g, bars, out, single", harmless="bars out single",
)
model(rt.is_carried)(lambda g: True)
model(rt.coincides, always=True)(lambda a, b: a == b)
model(rt.ties, always=True)(lambda a, extreme: a == extreme)
model(rt.sign, always=True)(lambda x: np.sign(x))
zero(rt.note_equal)
model(rt.cross)(lambda a, b: np.cross(a, b))
zero(directions.basis, rt.ones_like, directions.count)
partials(rt.digamma, lambda y, x: rt.trigamma(x), samples=(args(num(0.2, 3.0)), args(num(-0.9, -0.1))))
partials(
    rt.quotient, lambda y, a, b: rt.quotient(1.0, b), lambda y, a, b: rt.quotient(-y, b), params="a, b",
    domain=((-2.0, 2.0), (0.2, 3.0)),
)
partials(rt.strong_product, lambda y, a, b: b, lambda y, a, b: a, params="a, b")
partials(
    rt.strong_quotient, lambda y, a, b: rt.quotient(1.0, b), lambda y, a, b: rt.quotient(-y, b), params="a, b",
    domain=((-2.0, 2.0), (0.2, 3.0)),
)
partials(rt.power, power_base, power_exponent, params="a, b", domain=((0.2, 3.0), (-2.0, 2.0)))
partials(rt.log_of_positive, lambda y, a: 1.0 / a if a > 0.0 else 0.0, samples=(args(num(0.2, 3.0)),))

# --- what else is known ---------------------------------------------------------------------------------------------

describe(rt.differentiated_as, rt.regular, rt.copy_in_memory, directions.copy_in_memory, result=Result.NEW)
describe(rt.coincides, rt.ties, rt.sign, result=Result.NEW)
describe(
    rt.cross, rt.fused, rt.convolve_bar, rt.cumprod_bar, rt.cholesky_bar, rt.eigh_bar, rt.eigvalsh_bar, rt.qr_bar,
    rt.svd_bar, rt.svdvals_bar, result=Result.NEW,
)
describe(rt.factors, rt.solve_with, rt.inv_of, rt.det_of, rt.slogdet_of, rt.cofactor_of, result=Result.NEW)
describe(rt.kept, rt.before_calls, rt.kind_of, result=Result.NEW, acts=True, pure=False)
describe(rt.now, rt.read_now, result=Result.SHARED, acts=True, pure=False)
describe(rt.check_bits, rt.check_gradient, rt.check_solution, result=Result.SHARED)  # gives what it checks
describe(rt.quotient, rt.power, rt.strong_product, rt.strong_quotient, elementwise=True)
describe(rt.unbroadcast, rt.summand_bar, rt.cast, rt.fit_bar, rt.fit_dot, reads=(0,))
