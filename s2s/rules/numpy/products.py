"""Rules of products: matmul, dot, inner, outer, tensordot, einsum, cross, kron, trace.
 All are linear in each factor. The cases by rank fold where ranks are known, so that a product of matrices
leaves ``y_bar @ b.T`` and ``a.T @ y_bar``. Complex factors are not conjugated (JAX's convention).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, jvp, linear, model, vjp

# --- matmul -------------------------------------------------------------------------------------------------


def matmul_a(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(b, np.ndarray):
        b = np.asarray(b)
    if np.ndim(b) == 1:
        if np.ndim(a) == 1:
            return y_bar * b
        return y_bar[..., None] * b
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return y_bar @ b.T
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return b @ y_bar
    if np.ndim(a) == 1:
        return rt.unbroadcast(np.matmul(b, np.expand_dims(y_bar, -1))[..., 0], a)
    return rt.unbroadcast(y_bar @ np.swapaxes(b, -1, -2), a)


def matmul_b(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if np.ndim(a) == 1:
        if np.ndim(b) == 1:
            return y_bar * a
        return np.expand_dims(a, -1) * np.expand_dims(y_bar, -2)
    if np.ndim(a) == 2 and np.ndim(b) <= 2:
        return a.T @ y_bar
    if np.ndim(b) == 1:
        return rt.unbroadcast(np.matmul(np.swapaxes(a, -1, -2), np.expand_dims(y_bar, -1))[..., 0], b)
    return rt.unbroadcast(np.swapaxes(a, -1, -2) @ y_bar, b)


MATRICES = [
    args(arr(4), arr(4)), args(arr(3, 4), arr(4)), args(arr(4), arr(4, 3)), args(arr(2, 4), arr(4, 3)),
    args(arr(0, 4), arr(4, 3)), args(arr(2, 0), arr(0, 3)),
    args(arr(2, 4, complex=True), arr(4, 3, complex=True)),
]
BATCHES = [
    args(arr(5, 2, 4), arr(5, 4, 3)), args(arr(5, 2, 4), arr(4, 3)), args(arr(2, 4), arr(5, 4, 3)),
    args(arr(6, 1, 2, 4), arr(5, 4, 3)), args(arr(4), arr(5, 4, 3)), args(arr(5, 2, 4), arr(4)),
    args(arr(1, 2, 4), arr(5, 4, 3)),
]
linear(operator.matmul, a=matmul_a, b=matmul_b, params="a, b, /", samples=[*MATRICES, *BATCHES])
alias(operator.matmul, operator.imatmul, samples=[args(arr(2, 3), arr(3, 3))])
MATMUL = (
    "a, b, /, out=None, *, axes=None, axis=None, keepdims=False, casting='same_kind', order='K', dtype=None, "
    "subok=True"
)
linear(
    np.matmul, a=matmul_a, b=matmul_b, params=MATMUL, harmless="dtype",
    samples=[*MATRICES, *BATCHES, args(arr(2, 4), arr(4, 3), dtype=np.float64)],
)
alias(operator.matmul, np.linalg.matmul)
linear(rt.strong_matmul, a=matmul_a, b=matmul_b, params="a, b", samples=[*MATRICES, *BATCHES])

if hasattr(np, "matvec"):  # NumPy 2.2

    @model(
        np.matvec, params="x1, x2, /",
        samples=[args(arr(3, 4), arr(4)), args(arr(2, 3, 4), arr(2, 4)), args(arr(3, 4), arr(5, 4))],
    )
    def _matvec(x1: Any, x2: Any) -> Any:
        return np.matmul(x1, x2[..., None])[..., 0]

    @model(
        np.vecmat, params="x1, x2, /",
        samples=[args(arr(3), arr(3, 4)), args(arr(2, 3, complex=True), arr(2, 3, 4)), args(arr(5, 3), arr(3, 4))],
    )
    def _vecmat(x1: Any, x2: Any) -> Any:
        """The vector is conjugated, as in np.vecdot."""
        return np.matmul(np.conj(x1)[..., None, :], x2)[..., 0, :]

# --- dot, inner, outer, vdot --------------------------------------------------------------------------------


def dot_a(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(b, np.ndarray):
        b = np.asarray(b)
    if np.ndim(a) == 0:
        return rt.unbroadcast(y_bar * b, a)
    if np.ndim(b) == 0:
        return y_bar * b
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return y_bar * b
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return y_bar @ b.T
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return b @ y_bar
    if np.ndim(b) == 1:
        return y_bar[..., None] * b
    return rt.tensordot_bar(y_bar, a, b, ([-1], [-2]), 0)


def dot_b(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if np.ndim(b) == 0:
        return rt.unbroadcast(y_bar * a, b)
    if np.ndim(a) == 0:
        return y_bar * a
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return y_bar * a
    if np.ndim(a) == 2 and np.ndim(b) <= 2:
        return a.T @ y_bar
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return np.outer(a, y_bar)
    if np.ndim(b) == 1:
        return rt.tensordot_bar(y_bar, a, b, ([-1], [-1]), 1)
    return rt.tensordot_bar(y_bar, a, b, ([-1], [-2]), 1)


DOTS = [
    *MATRICES, args(num(), arr(3)), args(arr(3), num()), args(arr(), arr(2, 3)), args(arr(2, 3, 4), arr(4)),
    args(arr(2, 3, 4), arr(5, 4, 2)), args(arr(4), arr(5, 4, 2)), args(arr(2, 3, 4), arr(4, 5)),
    args([0.5, 2.0], arr(2)),
]
linear(np.dot, a=dot_a, b=dot_b, params="a, b, out=None", samples=DOTS)
alias(np.dot, np.ndarray.dot)


def inner_a(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(b, np.ndarray):
        b = np.asarray(b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return y_bar * b
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return rt.unbroadcast(y_bar * b, a)
    return rt.tensordot_bar(y_bar, a, b, ([-1], [-1]), 0)


def inner_b(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return y_bar * a
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return rt.unbroadcast(y_bar * a, b)
    return rt.tensordot_bar(y_bar, a, b, ([-1], [-1]), 1)


linear(
    np.inner, a=inner_a, b=inner_b, params="a, b, /",
    samples=[
        args(arr(4), arr(4)), args(arr(3, 4), arr(4)), args(arr(3, 4), arr(2, 4)), args(num(), arr(3)),
        args(arr(2, 3, 4), arr(5, 4)),
    ],
)
linear(
    np.outer,
    a=lambda y_bar, a, b: np.reshape(y_bar @ np.ravel(b), np.shape(a)),
    b=lambda y_bar, a, b: np.reshape(np.ravel(a) @ y_bar, np.shape(b)),
    params="a, b, out=None",
    samples=[args(arr(4), arr(3)), args(arr(2, 2), arr(3, 1)), args(arr(0), arr(3))],
)
alias(np.outer, np.linalg.outer, params="a, b, /", samples=[args(arr(4), arr(3))])
# Linear in b, antilinear in a: the first factor is conjugated.
vjp(
    np.vdot,
    a=lambda y_bar, a, b: np.reshape(np.conj(y_bar) * np.conj(np.ravel(b)), np.shape(a)),
    b=lambda y_bar, a, b: np.reshape(y_bar * np.conj(np.ravel(a)), np.shape(b)),
    params="a, b, /",
    samples=[
        args(arr(4), arr(4)), args(arr(2, 3), arr(2, 3)), args(arr(3, complex=True), arr(3, complex=True)),
    ],
)


jvp(np.vdot, a=lambda a_dot, b: np.vdot(a_dot, b), b=lambda b_dot, a: np.vdot(a, b_dot))

# --- outer methods of ufuncs: every element of the first with every element of the second ---------------------------


def _apart(A: Any, B: Any) -> Any:
    """The first factor in a shape that broadcasts over the second one's dimensions."""
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B))


PAIRS = [
    args(arr(4, low=0.5), arr(3, low=0.5)), args(arr(2, 2, low=0.5), arr(3, low=0.5)), args(arr(3, low=0.5), num(0.5)),
]


@model(np.add.outer, samples=PAIRS)
def _add_outer(A: Any, B: Any, /) -> Any:
    return _apart(A, B) + np.asarray(B)


@model(np.subtract.outer, samples=PAIRS)
def _subtract_outer(A: Any, B: Any, /) -> Any:
    return _apart(A, B) - np.asarray(B)


@model(np.multiply.outer, samples=PAIRS)
def _multiply_outer(A: Any, B: Any, /) -> Any:
    return _apart(A, B) * np.asarray(B)


@model(np.divide.outer, samples=PAIRS)
def _divide_outer(A: Any, B: Any, /) -> Any:
    return _apart(A, B) / np.asarray(B)


@model(np.power.outer, samples=PAIRS)
def _power_outer(A: Any, B: Any, /) -> Any:
    return _apart(A, B) ** np.asarray(B)


@model(np.maximum.outer, samples=PAIRS)
def _maximum_outer(A: Any, B: Any, /) -> Any:
    return np.maximum(_apart(A, B), np.asarray(B))


@model(np.minimum.outer, samples=PAIRS)
def _minimum_outer(A: Any, B: Any, /) -> Any:
    return np.minimum(_apart(A, B), np.asarray(B))


# --- tensordot, einsum, kron, cross -------------------------------------------------------------------------

linear(
    np.tensordot,
    a=lambda y_bar, a, b, axes: rt.tensordot_bar(y_bar, a, b, axes, 0),
    b=lambda y_bar, a, b, axes: rt.tensordot_bar(y_bar, a, b, axes, 1),
    params="a, b, axes=2",
    samples=[
        args(arr(2, 3, 4), arr(3, 4, 5)), args(arr(3, 4), arr(4, 2), axes=1), args(arr(2), arr(3), axes=0),
        args(arr(2, 3, 4), arr(4, 5, 3), axes=([1, 2], [2, 0])), args(arr(2, 3), arr(5, 3), axes=(-1, -1)),
        args(arr(4, 3, 2), arr(5, 2, 4), axes=((2, 0), (1, 2))), args(arr(3, 4), arr(3, 4)),
    ],
)
alias(
    np.tensordot, np.linalg.tensordot, params="a, b, /, *, axes=2",
    samples=[args(arr(3, 4), arr(4, 2), axes=1)],
)


def einsum_parts(g: Any, subscripts: Any, operands: Any) -> list[Any]:
    """The cotangents of all arguments of ``np.einsum(a, [0, 1], b, [1, 2], [0, 2])``, None for the lists of indices."""
    given = (subscripts, *operands)
    arrays, indices = given[: len(given) // 2 * 2 : 2], given[1::2]
    spelled = [_spell_indices(some) for some in indices]
    text = ",".join(spelled) + (f"->{_spell_indices(given[-1])}" if len(given) % 2 else "")
    bars = [rt.einsum_bar(g, text, arrays, i) for i in range(len(arrays))]
    return [bars[k // 2] if k % 2 == 0 and k // 2 < len(bars) else None for k in range(len(given))]


def _spell_indices(indices: Any) -> str:
    return "".join("..." if i is Ellipsis else chr(ord("a") + i) if i < 26 else chr(ord("A") + i - 26) for i in indices)


def einsum_adjoint(y_bar: Any, subscripts: Any, operands: Any) -> Any:
    """One einsum for each operand: its indices become the output, the cotangent takes its place. An index that stands
    in an operand alone is summed away by the primal, so that the cotangent is the same along it."""
    if not isinstance(subscripts, str):
        return tuple(einsum_parts(y_bar, subscripts, operands)[1:])
    bars: Any = ()
    for i, operand in enumerate(operands):
        others, transpose = (*operands[:i], *operands[i + 1 :]), rt.einsum_transpose(subscripts, i)
        if not transpose:
            operand_bar = rt.einsum_bar(y_bar, subscripts, operands, i)
        else:
            if transpose.startswith(","):  # the cotangent of a number
                operand_bar = y_bar * np.einsum(transpose[1:], *others)
            elif transpose.startswith(transpose.split("->")[1] + "->"):
                operand_bar = y_bar
            else:
                operand_bar = np.einsum(transpose, y_bar, *others)
            if rt.einsum_alone(subscripts, i):
                operand_bar = rt.unbroadcast(operand_bar, np.sum(operand, axis=rt.einsum_alone(subscripts, i)))
                operand_bar = np.expand_dims(operand_bar, rt.einsum_alone(subscripts, i))
                operand_bar = np.broadcast_to(operand_bar, np.shape(operand))
            else:
                operand_bar = rt.unbroadcast(operand_bar, operand)
        bars = (*bars, operand_bar)
    return bars


linear(
    np.einsum, operands=einsum_adjoint,
    subscripts=lambda y_bar, subscripts, operands: einsum_parts(y_bar, subscripts, operands)[0],
    params="subscripts, *operands, out=None, optimize=False, dtype=None, order='K', casting='safe'", harmless="dtype",
    samples=[
        args("ij,ij->i", arr(2, 3), arr(2, 3), dtype=np.float64),
        args("ij,jk->ik", arr(2, 3), arr(3, 4)), args("ij,jk", arr(2, 3), arr(3, 4)),
        args("ij->j", arr(2, 3)),
        args("ii->i", arr(3, 3)), args("ii", arr(3, 3)), args("ij->", arr(2, 3)),
        args("i,j->ij", arr(2), arr(3)),
        args("ij,ij->", arr(2, 3), arr(2, 3)), args("ij,j->i", arr(2, 3), arr(3)),
        args("ij,k->i", arr(2, 3), arr(4)),
        args("...ij,...jk->...ik", arr(5, 2, 3), arr(3, 4)), args("b...i,bi->b...", arr(2, 4, 3), arr(2, 3)),
        args("ij,jk,kl->il", arr(2, 3), arr(3, 4), arr(4, 2)), args("iij,j->i", arr(3, 3, 2), arr(2)),
        args("ij,ij->ij", arr(1, 3), arr(2, 3)), args("i->i", arr(4)), args(" i j -> j i ", arr(2, 3)),
        args("ij,jk->ik", arr(0, 3), arr(3, 4)), args("...,i->...i", arr(3), arr(2)),
        args("i,i,i->", arr(3), arr(3), arr(3)),
        args("jk...,lj...->lk...", arr(3, 2), arr(2, 3, 4)), args("j...k,lj...->lk...", arr(2, 2), arr(2, 2, 2)),
        args("j...k,lj...->lk...", arr(2, 1, 3), arr(2, 2, 4)), args("Z...,Zj->...j", arr(2, 3), arr(2, 2)),
        args("...ij,...jk->...ik", arr(1, 2, 3), arr(4, 3, 2)), args("...,...", arr(3), arr(2, 3)),
        args("ij,jk->ik", arr(2, 3, complex=True), arr(3, 2, complex=True)), args(",->", num(), num()),
        args(arr(2, 3), [0, 1], arr(3, 4), [1, 2], [0, 2]), args(arr(2, 3), [0, 1], arr(3), [1]),
    ],
)

linear(
    np.kron,
    a=lambda y_bar, a, b: rt.kron_bar(y_bar, a, b, 0),
    b=lambda y_bar, a, b: rt.kron_bar(y_bar, a, b, 1),
    params="a, b",
    samples=[
        args(arr(2), arr(3)), args(arr(2, 3), arr(4, 2)), args(arr(2), arr(3, 2)),
        args(arr(2, 2, 2), arr(3, 1)),
    ],
)


def _check_vectors(x: Any, own: Any, axis: Any) -> None:
    if np.shape(x)[own if axis is None else axis] == 2:
        rt.no_derivative("np.cross", "vectors of length 2 have no rule; give them a third number, 0.0")


def cross_a(y_bar: Any, a: Any, b: Any, axisa: Any, axisb: Any, axisc: Any, axis: Any) -> Any:
    """b x y_bar: the triple product is the same for all three in a circle."""
    _check_vectors(a, axisa, axis)
    _check_vectors(b, axisb, axis)
    if axis is not None or (axisa == -1 and axisb == -1 and axisc == -1):
        return rt.unbroadcast(np.cross(b, y_bar, axis=-1 if axis is None else axis), a)
    last = np.cross(np.moveaxis(b, axisb, -1), np.moveaxis(y_bar, axisc, -1))
    return np.moveaxis(rt.unbroadcast(last, np.moveaxis(a, axisa, -1)), -1, axisa)


def cross_b(y_bar: Any, a: Any, b: Any, axisa: Any, axisb: Any, axisc: Any, axis: Any) -> Any:
    _check_vectors(a, axisa, axis)
    _check_vectors(b, axisb, axis)
    if axis is not None or (axisa == -1 and axisb == -1 and axisc == -1):
        return rt.unbroadcast(np.cross(y_bar, a, axis=-1 if axis is None else axis), b)
    last = np.cross(np.moveaxis(y_bar, axisc, -1), np.moveaxis(a, axisa, -1))
    return np.moveaxis(rt.unbroadcast(last, np.moveaxis(b, axisb, -1)), -1, axisb)


# Vectors of length 2 are deprecated in NumPy; the rule is for length 3.
linear(
    np.cross, a=cross_a, b=cross_b, params="a, b, axisa=-1, axisb=-1, axisc=-1, axis=None",
    samples=[
        args(arr(3), arr(3)), args(arr(4, 3), arr(4, 3)), args(arr(4, 3), arr(3)),
        args(arr(3, 4), arr(3, 4), axis=0), args(arr(3, 4), arr(4, 3), axisa=0), args(arr(3, 4), arr(3), 0, 0, 0),
        args(arr(1, 3), arr(2, 3)),
    ],
)
alias(
    np.cross, np.linalg.cross, params="a, b, /, *, axis=-1, axisa=-1, axisb=-1, axisc=-1",
    samples=[args(arr(4, 3), arr(4, 3)), args(arr(3, 4), arr(3, 4), axis=0)],
)

# --- convolve, correlate --------------------------------------------------------------------------------------

linear(
    np.convolve,
    a=lambda y_bar, a, v, mode: rt.convolve_bar(y_bar, a, v, mode),
    v=lambda y_bar, a, v, mode: rt.convolve_bar(y_bar, v, a, mode),
    params="a, v, mode='full'",
    samples=[
        args(arr(5), arr(3)), args(arr(5), arr(3), "same"), args(arr(5), arr(3), "valid"),
        args(arr(2), arr(5)), args(arr(3), arr(6), mode="same"), args(arr(5), arr(4), "same"),
        args(arr(3), arr(6), "valid"),
        args(arr(4, complex=True), arr(2, complex=True)),
    ],
)



def correlate_bar(g: Any, a: Any, v: Any, mode: str, which: int) -> Any:
    """The cotangent of ``a`` (``which`` 0) or ``v`` (1) from that of ``np.correlate``: a part of the full convolution
    of ``a`` with the conjugate of ``v`` backwards.
    """
    kernel = np.conj(np.asarray(v)[::-1])
    short = min(len(a), len(v))
    before = {"full": 0, "same": (short - 1) // 2 if len(a) >= len(v) else short // 2, "valid": short - 1}[mode]
    full = np.zeros_like(g, shape=len(a) + len(v) - 1)
    full[before : before + len(g)] = g
    if which == 0:
        return rt.cast(rt.convolve_bar(full, np.asarray(a), kernel, "full"), a)
    return rt.cast(np.conj(rt.convolve_bar(full, kernel, np.asarray(a), "full")[::-1]), v)


linear(
    np.correlate,
    a=lambda y_bar, a, v, mode: correlate_bar(y_bar, a, v, mode, 0),
    v=lambda y_bar, a, v, mode: correlate_bar(y_bar, a, v, mode, 1),
    params="a, v, mode='valid'",
    samples=[
        args(arr(5), arr(3)), args(arr(5), arr(3), "same"), args(arr(5), arr(4), "same"), args(arr(3), arr(5), "same"),
        args(arr(4), arr(7), "same"), args(arr(3), arr(6), "same"), args(arr(3), arr(5)), args(arr(5), arr(3), "full"),
        args(arr(3), arr(6), mode="full"), args(arr(4, complex=True), arr(2, complex=True), "full"),
        args(arr(2, complex=True), arr(4, complex=True), "same"),
    ],
)

# --- trace ------------------------------------------------------------------------------------------------


def trace_bar(y_bar: Any, a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    return rt.cast(rt.diagonal_bar(np.expand_dims(y_bar, -1), a, offset, axis1, axis2), a)


linear(
    np.trace, a=trace_bar, harmless="dtype", params="a, offset=0, axis1=0, axis2=1, dtype=None, out=None",
    samples=[
        args(arr(3, 3)), args(arr(3, 4), offset=1), args(arr(2, 3, 4), axis1=1, axis2=-1),
        args(arr(3, 3), dtype=np.float64),
    ],
)
alias(np.trace, np.ndarray.trace)
linear(
    np.linalg.trace, a=lambda y_bar, a, offset: trace_bar(y_bar, a, offset, -2, -1),
    params="a, /, *, offset=0, dtype=None", harmless="dtype",
    samples=[args(arr(3, 3)), args(arr(2, 3, 4), offset=1), args(arr(3, 3), dtype=np.float64)],
)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    operator.matmul, np.matmul, np.linalg.matmul, rt.strong_matmul, np.dot, np.ndarray.dot, np.vdot, np.inner, np.outer,
    np.linalg.outer, np.tensordot, np.linalg.tensordot, np.kron, np.cross, np.linalg.cross, np.convolve, np.correlate,
    np.trace, np.ndarray.trace, np.linalg.trace, result=Result.NEW,
)
describe(  # made of products and sums of items
    np.linalg.outer, np.linalg.tensordot, np.kron, np.cross, np.linalg.cross, np.convolve, np.correlate, np.einsum,
    np.ndarray.trace, np.linalg.trace, generic=True,
)
describe(np.einsum, result=Result.SHARED)  # a view where it only moves axes
describe(np.matmul, np.dot, np.ndarray.dot, computes=Computes.MATRIX_PRODUCT)
describe(np.outer, np.linalg.outer, np.kron, computes=Computes.PAIRS)
describe(np.trace, np.ndarray.trace, np.linalg.trace, computes=Computes.TOTAL)
