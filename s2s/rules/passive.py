"""Functions whose derivative is zero, or whose result is no number: they are called as they are."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from s2s import runtime as rt
from s2s.core import ops
from s2s.core.functions import Varies
from s2s.models.solutions import check_repeats, for_value, underived, underived_bar, undone
from s2s.rules.functions import describe
from s2s.rules.table import jvp, refuse, vjp, zero

# comparisons, identity, membership and bits
zero(
    operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.is_,
    operator.is_not,
    operator.not_, operator.truth, operator.contains, operator.and_, operator.or_, operator.xor,
    operator.invert,
    operator.lshift, operator.rshift, operator.index, operator.countOf, operator.indexOf,
    operator.length_hint,
    operator.inv, operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
)
zero(
    np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal, np.logical_and,
    np.logical_or,
    np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift,
    np.right_shift, np.isclose, np.allclose, np.array_equal, np.array_equiv, np.isin, np.gcd, np.lcm,
    np.spacing,
)
zero(
    np.isfinite, np.isinf, np.isnan, np.isneginf, np.isposinf, np.isreal, np.iscomplex, np.isrealobj,
    np.iscomplexobj,
    np.isscalar, np.signbit, np.any, np.all, np.ndarray.any, np.ndarray.all, np.count_nonzero,
)

# positions and counts
zero(
    np.argmax, np.argmin, np.argsort, np.argpartition, np.argwhere, np.nonzero, np.flatnonzero,
    np.searchsorted,
    np.digitize, np.lexsort, np.nanargmax, np.nanargmin, np.ndarray.argmax, np.ndarray.argmin,
    np.ndarray.argsort,
    np.ndarray.nonzero, np.ndarray.searchsorted, np.unravel_index, np.ravel_multi_index,
    np.triu_indices,
    np.tril_indices, np.triu_indices_from, np.tril_indices_from, np.diag_indices, np.diag_indices_from,
    np.indices,
)

zero(
    np.logical_and.reduce, np.logical_or.reduce, np.logical_xor.reduce, np.bitwise_and.reduce, np.bitwise_or.reduce,
    np.logical_and.accumulate, np.logical_or.accumulate,
)
zero(
    np.mask_indices, np.bitwise_count, np.packbits, np.unpackbits, np.isnat, np.ndarray.tobytes, np.ndarray.tofile,
    np.ndarray.dump, np.ndarray.dumps,
)

# what asks for kinds and shapes
zero(
    np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.promote_types, np.issubdtype, np.iterable,
    np.finfo,
    np.iinfo, np.dtype, np.broadcast_shapes, np.may_share_memory, np.shares_memory, np.min_scalar_type,
    np.common_type, np.mintypecode, np.typename, np.isfortran, np.isdtype, np.einsum_path, np.base_repr, np.binary_repr,
    np.format_float_positional, np.format_float_scientific, np.info,
    np.array_repr, np.array_str, np.array2string, np.errstate, np.seterr, np.geterr,
)

# constants
zero(
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, np.zeros_like, np.ones_like,
    np.empty_like,
    np.linalg.matrix_rank,
)

zero(
    rt.record, rt.record_attribute, rt.record_content, rt.record_item, rt.record_static, rt.record_variable,
    rt.remove_item, rt.as_it_is,
)
zero(
    builtins.len, builtins.isinstance, builtins.issubclass, builtins.type, builtins.hasattr,
    builtins.callable,
    str.format, str.format_map, str.join, ops.format_string, ops.format_value, ops.contains, ops.not_in,
    builtins.range, builtins.str, builtins.repr, builtins.ascii, builtins.format, builtins.print,
    builtins.bool,
    builtins.id, builtins.hash, builtins.any, builtins.all, builtins.slice, builtins.ord, builtins.chr,
    builtins.bin,
    builtins.hex, builtins.oct, builtins.dir, builtins.object, builtins.bytes,
)

zero(
    math.isnan, math.isinf, math.isfinite, math.isclose, math.gcd, math.lcm, math.comb, math.perm,
    math.factorial,
    math.isqrt, math.ulp,
)

describe(rt.no_derivative, pure=False)  # it refuses, also where nothing reads what it would give
zero(for_value, check_repeats, undone)
vjp(underived, moved=underived_bar, params="value, moved", harmless="value")
jvp(underived, moved=lambda moved_dot, value: np.full(np.shape(value), np.nan))

MATRIX = "matrices are not differentiated; use arrays of two dimensions and `@`"
for _matrices in (np.matrix, np.asmatrix, np.bmat):
    refuse(_matrices, MATRIX)
ITERATOR = "what it iterates over has no rule; loop over indices, or use broadcasting"
for _iterator in (np.nditer, np.nested_iters):
    refuse(_iterator, ITERATOR)
refuse(np.frombuffer, "bytes carry no derivative; use astype or np.reshape")
refuse(np.frompyfunc, "it makes arrays of objects; use np.vectorize")

describe(np.nonzero, np.flatnonzero, np.argwhere, np.ndarray.nonzero, varies=Varies.KIND)
describe(np.shape, np.ndim, np.size, np.zeros_like, np.empty_like, np.ones_like, reads=())
