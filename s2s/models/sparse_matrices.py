"""How sparse matrices of SciPy are made of what is differentiated, put together, and joined with constant ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.models.sparse import (
    FORM,
    Entries,
    is_matrix,
    items_of,
    places_on_diagonals,
    rows_of_blocks,
    rows_of_starts,
    shape_or_bounds,
    taken_apart,
)

__all__ = ["added", "block_diag", "csr_array", "diags", "kron", "made"]

# --- how they are made ------------------------------------------------------------------------------------------------


def made(arg1: Any, shape: Any, form: Any, array: Any) -> Any:
    """The matrix that a class of SciPy makes of its first argument."""
    if is_matrix(arg1):
        given = taken_apart(arg1)
        return Entries(given.data, given.rows, given.columns, given.shape, given.format, array).asformat(form)
    if not isinstance(arg1, tuple):
        data, rows, columns = items_of(np.asarray(arg1))
        return Entries(data, rows, columns, np.shape(arg1), "coo", array).asformat(form)
    data = np.asarray(arg1[0])
    if len(arg1) == 2 and isinstance(arg1[1], (tuple, list)):
        rows, columns = places_of(arg1[1][0]), places_of(arg1[1][1])
        whole = Entries(data, rows, columns, shape_or_bounds(shape, rows, columns), "coo", array)
        return whole.asformat(form)
    if len(arg1) != 3 or form == "coo":
        return rt.no_derivative("a sparse matrix of this form", FORM)
    major, minor = rows_of_starts(places_of(arg1[2])), places_of(arg1[1])
    if form == "csr":
        bounds = (len(arg1[2]) - 1, int(np.max(minor)) + 1) if shape is None else tuple(shape)
        return Entries(data, major, minor, bounds, form, array)
    bounds = (int(np.max(minor)) + 1, len(arg1[2]) - 1) if shape is None else tuple(shape)
    return Entries(data, minor, major, bounds, form, array)


def places_of(given: Any) -> Any:
    """Rows or columns as integers: SciPy takes floats, too, and cuts them off."""
    places = np.asarray(given)
    return places if places.dtype.kind in "iu" else places.astype(np.intp)


def csr_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "csr", True)


def csr_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "csr", False)


def csc_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "csc", True)


def csc_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "csc", False)


def coo_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "coo", True)


def coo_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return made(arg1, shape, "coo", False)


def blocks(arg1: Any, shape: Any, array: Any) -> Any:
    if not isinstance(arg1, tuple) or len(arg1) != 3:
        return rt.no_derivative("a sparse matrix of blocks", FORM)
    data = np.asarray(arg1[0])
    height, width = np.shape(data)[1], np.shape(data)[2]
    rows, columns = rows_of_blocks(arg1[1], arg1[2], height, width)
    bounds = (len(arg1[2]) * height - height, int(np.max(columns)) + 1) if shape is None else tuple(shape)
    return Entries(np.ravel(data), rows, columns, bounds, "coo", array)


def bsr_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, blocksize: Any = None, *, maxprint: Any = None
) -> Any:
    return blocks(arg1, shape, True)


def bsr_matrix(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, blocksize: Any = None, *, maxprint: Any = None
) -> Any:
    return blocks(arg1, shape, False)


def by_diagonals(data: Any, offsets: Any, shape: Any, array: Any) -> Any:
    data = np.atleast_2d(np.asarray(data))
    which, rows, columns = places_on_diagonals(offsets, np.shape(data)[1], shape)
    return Entries(data[which, columns], rows, columns, tuple(shape), "coo", array)


def dia_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    if not isinstance(arg1, tuple) or shape is None:
        return rt.no_derivative("a sparse matrix by diagonals", FORM)
    return by_diagonals(arg1[0], arg1[1], shape, True)


def dia_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    if not isinstance(arg1, tuple) or shape is None:
        return rt.no_derivative("a sparse matrix by diagonals", FORM)
    return by_diagonals(arg1[0], arg1[1], shape, False)


def diagonals_of(diagonals: Any, offsets: Any, shape: Any, form: Any, array: Any) -> Any:
    if isinstance(offsets, (int, np.integer)):
        alone = np.ndim(diagonals) == 1 if isinstance(diagonals, np.ndarray) else np.ndim(diagonals[0]) == 0
        offsets, diagonals = [offsets], ([diagonals] if alone else diagonals)
    if shape is None:
        n = np.size(diagonals[0]) + abs(offsets[0])
        shape = (n, n)
    parts = [np.broadcast_to(np.ravel(d), (len(along(k, shape)),)) for d, k in zip(diagonals, offsets)]
    rows = np.concatenate([along(k, shape) - min(k, 0) for k in offsets])
    columns = np.concatenate([along(k, shape) + max(k, 0) for k in offsets])
    return Entries(np.concatenate(parts), rows, columns, tuple(shape), "coo", array).asformat(form)


def along(k: Any, shape: Any) -> Any:
    """The numbers of the places along a diagonal."""
    return np.arange(max(min(shape[0] + min(k, 0), shape[1] - max(k, 0)), 0))


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    return diagonals_of(diagonals, offsets, shape, format, False)


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    return diagonals_of(diagonals, offsets, shape, format, True)


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    shape = m if n is None else (m, n)
    if shape is None:
        shape = (len(data[0]), len(data[0]))
    return by_diagonals(data, diags, shape, False).asformat(format)


def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return put_together([list(blocks)], format)


def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return put_together([[block] for block in blocks], format)


def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return put_together(blocks, format)


def put_together(rows_of_matrices: Any, form: Any) -> Any:
    """A matrix of matrices, none of them left out."""
    parts, rows, columns, array, top, left = [], [], [], False, 0, 0
    for line in rows_of_matrices:
        left = 0
        height = 0
        for block in line:
            if block is None:
                return rt.no_derivative("scipy.sparse.bmat", "with None it has no rule; give a matrix of zeros")
            block = taken_apart(block)
            parts.append(block.data)
            rows.append(block.rows + top)
            columns.append(block.columns + left)
            left, height, array = left + block.shape[1], block.shape[0], array or block.array
        top = top + height
    whole = Entries(np.concatenate(parts), np.concatenate(rows), np.concatenate(columns), (top, left), "coo", array)
    return whole.asformat(form)


def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    parts, rows, columns, array, top, left = [], [], [], False, 0, 0
    for matrix in mats:
        block = taken_apart(matrix)
        parts.append(block.data)
        rows.append(block.rows + top)
        columns.append(block.columns + left)
        top, left, array = top + block.shape[0], left + block.shape[1], array or block.array
    whole = Entries(np.concatenate(parts), np.concatenate(rows), np.concatenate(columns), (top, left), "coo", array)
    return whole.asformat(format)


def kron(A: Any, B: Any, format: Any = None) -> Any:
    first, second = taken_apart(A), taken_apart(B)
    data = np.ravel(first.data[:, None] * second.data)
    rows = np.ravel(first.rows[:, None] * second.shape[0] + second.rows)
    columns = np.ravel(first.columns[:, None] * second.shape[1] + second.columns)
    shape = (first.shape[0] * second.shape[0], first.shape[1] * second.shape[1])
    return Entries(data, rows, columns, shape, "coo", first.array or second.array).asformat(format)


# --- operators of constant matrices with what is differentiated -------------------------------------------------------


def multiply(self: Any, other: Any) -> Any:
    return taken_apart(self).multiply(other)


def multiplied(self: Any, other: Any) -> Any:
    return taken_apart(self) * other


def multiplied_from_left(self: Any, other: Any) -> Any:
    return taken_apart(self).__rmul__(other)


def divided(self: Any, other: Any) -> Any:
    return taken_apart(self) / other


def added(self: Any, other: Any) -> Any:
    return taken_apart(self) + other


def subtracted(self: Any, other: Any) -> Any:
    return taken_apart(self) - other


def subtracted_from(self: Any, other: Any) -> Any:
    return -taken_apart(self) + other


def transposed(self: Any) -> Any:
    return taken_apart(self).transpose()


def transpose(self: Any, axes: Any = None, copy: Any = False) -> Any:
    return taken_apart(self).transpose()


def tocsr(self: Any, copy: Any = False) -> Any:
    return taken_apart(self).asformat("csr")


def tocsc(self: Any, copy: Any = False) -> Any:
    return taken_apart(self).asformat("csc")


def tocoo(self: Any, copy: Any = False) -> Any:
    return taken_apart(self).asformat("coo")


def issparse(x: Any) -> Any:
    return is_matrix(x)


def ones_on_diagonal(m: Any, n: Any, k: Any, form: Any, array: Any) -> Any:
    n = m if n is None else n
    return diagonals_of(np.ones(max(min(m + min(k, 0), n - max(k, 0)), 0)), k, (m, n), form, array)


def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    return ones_on_diagonal(m, n, k, format, False)


def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    return ones_on_diagonal(m, n, k, format, True)


def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    return diagonals_of(np.ones(n), 0, (n, n), format, False)
