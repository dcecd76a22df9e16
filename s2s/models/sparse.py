"""What sparse matrices of SciPy compute: those that are constant, and those whose data is differentiated.

A matrix that something differentiated has been put into is an ``Entries`` here: numbers with their places, in the order
in which SciPy keeps them. So a cotangent lies on the pattern too, and no matrix is ever filled up.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2s import runtime as rt
from s2s.core.public import role

__all__ = ["Entries", "product", "product_from_left", "sums_at"]

PLACES = "which of its items are zero depends on the run; give the data and its places, or keep the matrix dense"
FORM = "it has a rule for data with coordinates, or with indices and their starts"
ARRAYS = "the result is a np.matrix; use an array: sparse.csr_array instead of csr_matrix"
BY_LINES = "select rows and columns: K[np.ix_(i, j)]"

# --- products with a constant matrix ----------------------------------------------------------------------------------


def product(matrix: Any, x: Any) -> Any:
    """A @ x."""
    return matrix @ x


def product_from_left(matrix: Any, x: Any) -> Any:
    """x @ A."""
    return x @ matrix


def times(self: Any, other: Any) -> Any:
    if isinstance(other, Entries):
        return taken_apart(self) @ other
    if isinstance(other, (list, tuple)):
        other = np.asarray(other)
    if not isinstance(other, np.ndarray):
        return rt.no_derivative("a sparse matrix times this", "it has a rule for products with arrays")
    return product(self, other)


def times_from_left(self: Any, other: Any) -> Any:
    if isinstance(other, Entries):
        return other @ taken_apart(self)
    if isinstance(other, (list, tuple)):
        other = np.asarray(other)
    if not isinstance(other, np.ndarray):
        return rt.no_derivative("this times a sparse matrix", "it has a rule for products with arrays")
    return product_from_left(self, other)


def dot(self: Any, other: Any) -> Any:
    return taken_apart(self).dot(other) if isinstance(other, Entries) or np.ndim(other) == 0 else times(self, other)


# --- numbers at places ------------------------------------------------------------------------------------------------


def sums_at(data: Any, places: Any, count: Any) -> Any:
    """The sums of the items of ``data`` that have the same place, for each of ``count`` places."""
    if np.iscomplexobj(data):
        return np.bincount(places, data.real, count) + 1.0j * np.bincount(places, data.imag, count)
    return np.bincount(places, data, count).astype(np.asarray(data).dtype, copy=False)


def weighed_sums(data: Any, rows: Any, columns: Any, count: Any, x: Any) -> Any:
    """The product of the matrix with ``count`` rows that has ``data`` at its places with a vector, or with columns."""
    if sparse.issparse(x):
        rt.no_derivative("a product of sparse matrices", "what the other one is shows when the program runs only")
    found = sparse.coo_array((data, (rows, columns)), shape=(count, np.shape(x)[0])) @ x
    return np.reshape(found, (count, *np.shape(x)[1:]))  # of one row SciPy gives a number


def products_at(a: Any, b: Any, rows: Any, columns: Any) -> Any:
    """The items of the matrix a b^T at some places, of vectors or of matrices of columns."""
    return a[rows] * b[columns] if np.ndim(a) == 1 else np.sum(a[rows] * b[columns], axis=1)


@role("sparse_solution")
def solution(data: Any, rows: Any, columns: Any, b: Any) -> Any:
    """The x with A x = b, for the square matrix that has ``data`` at its places."""
    n = np.shape(b)[0]
    return linalg.spsolve(sparse.csc_array((data, (rows, columns)), shape=(n, n)), b)


class SharedFactors:
    """The factors of a square matrix, made where they are first asked for."""

    def __init__(self, data: Any, rows: Any, columns: Any) -> None:
        self.data, self.rows, self.columns = data, rows, columns
        self.made: dict[int, Any] = {}

    def of(self, n: int) -> Any:
        """The factors of the matrix with ``n`` rows; None of one that SuperLU does not take or finds singular."""
        if n not in self.made:
            self.made[n] = None
            if self.data.dtype.char in "dD":
                matrix = sparse.csc_array((self.data, (self.rows, self.columns)), shape=(n, n))
                with contextlib.suppress(RuntimeError):
                    self.made[n] = linalg.splu(matrix)
        return self.made[n]


@role("sparse_factors")
def shared_factors(data: Any, rows: Any, columns: Any) -> SharedFactors:
    """What ``solution_with`` takes for several systems with the matrix that has ``data`` at its places."""
    return SharedFactors(data, rows, columns)


@role("sparse_solution_with")
def solution_with(factors: Any, data: Any, rows: Any, columns: Any, b: Any, transposed: Any = False) -> Any:
    """``solution(data, rows, columns, b)``, or that with the transpose, by factors that are made once."""
    made = factors.of(np.shape(b)[0])
    if made is None or b.dtype != data.dtype:
        return solution(data, columns, rows, b) if transposed else solution(data, rows, columns, b)
    return made.solve(np.ascontiguousarray(b), "T" if transposed else "N")


def as_vector(b: Any) -> Any:
    """A right side of one column as a vector, which is what ``spsolve`` solves for."""
    return np.reshape(b, -1) if np.ndim(b) == 2 and np.shape(b)[1] == 1 else b


def solution_like(data: Any, rows: Any, columns: Any, b: Any) -> Any:
    """``solution`` in the shape of ``b``."""
    return np.reshape(solution(data, rows, columns, as_vector(b)), np.shape(b))


def converged(result: Any) -> Any:
    """The solution that an iterative solver gives with a number that says how it ended."""
    if result[1] != 0:
        rt.no_derivative("the result of an iterative solver", "it has not converged; give maxiter= or rtol=")
    return result[0]


def iterated(solver: Any, matrix: Any, b: Any, options: Any) -> Any:
    """The solution by an iterative solver."""
    return converged(solver(matrix, b, **options))


def iterated_at(solver: Any, data: Any, rows: Any, columns: Any, b: Any, options: Any) -> Any:
    """The same with the matrix that has ``data`` at its places."""
    n = np.shape(b)[0]
    return converged(solver(sparse.csr_array((data, (rows, columns)), shape=(n, n)), b, **options))


# --- where the numbers are: constant ----------------------------------------------------------------------------------


def rows_of_starts(starts: Any) -> Any:
    """The row of each item of a compressed matrix."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def order_of(rows: Any, columns: Any, form: Any) -> Any:
    """The order of the items in a form: by rows, or by columns."""
    return np.lexsort((columns, rows)) if form == "csr" else np.lexsort((rows, columns))


def merged_places(rows: Any, columns: Any, shape: Any, form: Any) -> Any:
    """Where each item comes to lie in a form that has every place once, how many there are, and the places."""
    major, minor, width = (rows, columns, shape[1]) if form == "csr" else (columns, rows, shape[0])
    keys, inverse = np.unique(np.asarray(major, np.int64) * width + minor, return_inverse=True)
    first, second = keys // width, keys % width
    return (inverse, len(keys), first, second) if form == "csr" else (inverse, len(keys), second, first)


def shape_or_bounds(shape: Any, rows: Any, columns: Any) -> Any:
    return (int(np.max(rows)) + 1, int(np.max(columns)) + 1) if shape is None else tuple([int(n) for n in shape])


def pairs(columns: Any, rows: Any) -> Any:
    """All pairs of an item of one matrix and one of another that meet in a product: the column is the row."""
    order = np.argsort(rows, kind="stable")
    start = np.searchsorted(rows[order], columns, "left")
    count = np.searchsorted(rows[order], columns, "right") - start
    first = np.repeat(np.arange(len(columns)), count)
    within = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return first, order[np.repeat(start, count) + within]


def places_on_diagonals(offsets: Any, length: Any, shape: Any) -> Any:
    """The items of a form by diagonals that lie in the matrix: their diagonal, row and column."""
    offsets = np.atleast_1d(offsets)
    which, columns = np.divmod(np.arange(len(offsets) * length), length)
    rows = columns - offsets[which]
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    return which[inside], rows[inside], columns[inside]


def rows_of_blocks(indices: Any, starts: Any, height: Any, width: Any) -> Any:
    """The rows and columns of the items of blocks, in the order of the blocks."""
    tops = rows_of_starts(starts) * height
    rows = tops[:, None, None] + np.arange(height)[None, :, None] + 0 * np.arange(width)
    columns = (np.asarray(indices) * width)[:, None, None] + 0 * np.arange(height)[:, None] + np.arange(width)
    return np.ravel(rows), np.ravel(columns)


def constant_places(matrix: Any) -> Any:
    """The data, rows and columns of a constant matrix, in the order in which it keeps them."""
    whole = matrix.tocoo()
    return whole.data, whole.coords[0], whole.coords[1]


def items_of(array: Any) -> Any:
    """The items of a constant array that are not zero, and their places."""
    rows, columns = np.nonzero(array)
    return array[rows, columns], rows, columns


def form_of(matrix: Any) -> Any:
    return matrix.format if matrix.format in ("csr", "csc") else "coo"


def is_array(matrix: Any) -> Any:
    return isinstance(matrix, sparse.sparray)


def taken_apart(matrix: Any) -> Any:
    """The entries of a constant matrix."""
    if isinstance(matrix, Entries):
        return matrix
    data, rows, columns = constant_places(matrix)
    return Entries(data, rows, columns, matrix.shape, form_of(matrix), is_array(matrix))


def is_matrix(x: Any) -> Any:
    """Whether x is known to be a sparse matrix: what is not known is taken for an array."""
    return isinstance(x, (Entries, sparse.sparray, sparse.spmatrix))


def is_number(x: Any) -> Any:
    return isinstance(x, (int, float, complex, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0)


class Entries:
    """A sparse matrix of two dimensions: data, the row and the column of each item, in the order of its form."""

    __array_ufunc__ = None

    @staticmethod
    def stands_for(format: str, array: bool) -> type:
        """The class of SciPy that the form is that of."""
        return getattr(sparse, f"{format}_{'array' if array else 'matrix'}")  # type: ignore[no-any-return]

    def __init__(self, data: Any, rows: Any, columns: Any, shape: Any, form: Any, array: Any) -> None:
        self.data = data
        self.rows = rows
        self.columns = columns
        self.shape = shape
        self.format = form
        self.array = array
        self.ndim = 2

    @property
    def T(self) -> Any:
        return self.transpose()

    @property
    def nnz(self) -> Any:
        return np.size(self.data)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def row(self) -> Any:
        return self.rows

    @property
    def col(self) -> Any:
        return self.columns

    def with_data(self, data: Any) -> Any:
        return Entries(data, self.rows, self.columns, self.shape, self.format, self.array)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        form = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return Entries(self.data, self.columns, self.rows, self.shape[::-1], form, self.array)

    # forms

    def asformat(self, form: Any, copy: Any = False) -> Any:
        if form == self.format or form is None:
            return self
        if form not in ("csr", "csc"):
            return Entries(self.data, self.rows, self.columns, self.shape, "coo", self.array)
        if self.format == "coo":  # items at one place become one
            into, count, rows, columns = merged_places(self.rows, self.columns, self.shape, form)
            return Entries(sums_at(self.data, into, count), rows, columns, self.shape, form, self.array)
        order = order_of(self.rows, self.columns, form)
        return Entries(self.data[order], self.rows[order], self.columns[order], self.shape, form, self.array)

    def merged(self) -> Any:
        """The same matrix with each place once."""
        return self.asformat("csr") if self.format == "coo" else self

    def tocsr(self, copy: Any = False) -> Any:
        return self.asformat("csr")

    def tocsc(self, copy: Any = False) -> Any:
        return self.asformat("csc")

    def tocoo(self, copy: Any = False) -> Any:
        return self.asformat("coo")

    def tolil(self, copy: Any = False) -> Any:
        return sparse.lil_array(self) if self.array else sparse.lil_matrix(self)

    def todok(self, copy: Any = False) -> Any:
        return sparse.dok_array(self) if self.array else sparse.dok_matrix(self)

    def copy(self) -> Any:
        return self

    def sorted_indices(self) -> Any:
        return self

    def conj(self, copy: Any = True) -> Any:
        return self.with_data(np.conj(self.data))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        height, width = self.shape[0], self.shape[1]
        return np.reshape(sums_at(self.data, self.rows * width + self.columns, height * width), (height, width))

    def todense(self, order: Any = None, out: Any = None) -> Any:
        if not self.array:
            return rt.no_derivative("todense of a sparse matrix", ARRAYS)
        return self.toarray()

    # parts

    def __getitem__(self, key: Any) -> Any:
        if self.format == "coo":
            return rt.no_derivative("an index into a matrix by coordinates", "make another form of it first: K.tocsr()")
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if is_integer(rows) and is_integer(columns):
            return np.sum(self.data[places_of_element((rows, columns), self.rows, self.columns, self.shape)])
        if is_integer(rows) or is_integer(columns):
            if self.array:
                return rt.no_derivative("a row or column of a sparse array", "keep both axes: K[[i]], K[:, [j]]")
        elif is_line(rows) != (isinstance(rows, slice) or isinstance(columns, slice)):
            return rt.no_derivative("single items of a sparse matrix", BY_LINES)
        found = selected_places((rows, columns), self.rows, self.columns, self.shape, self.format)
        items, at_rows, at_columns, height, width = found
        return Entries(self.data[items], at_rows, at_columns, (height, width), self.format, self.array)

    def __setitem__(self, key: Any, value: Any) -> None:
        rt.no_derivative("a store into a sparse matrix in this form", "make another form of it first: K.tolil()")

    # sums

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        if not self.array:
            return rt.no_derivative("the sums of a sparse matrix along an axis", ARRAYS)
        if axis == 0 or axis == -2:
            return sums_at(self.data, self.columns, self.shape[1])
        return sums_at(self.data, self.rows, self.shape[0])

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data) / (self.shape[0] * self.shape[1])
        return self.sum(axis) / (self.shape[0] if axis == 0 or axis == -2 else self.shape[1])

    def diagonal(self, k: Any = 0) -> Any:
        length = max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        places, on = places_of_diagonal(self.rows, self.columns, k)
        return sums_at(self.data[on], places, length)

    def trace(self, offset: Any = 0) -> Any:
        return np.sum(self.diagonal(offset))

    # products

    def __matmul__(self, other: Any) -> Any:
        if is_matrix(other):
            other = taken_apart(other)
            first, second = pairs(self.columns, other.rows)
            data = self.data[first] * other.data[second]
            shape = (self.shape[0], other.shape[1])
            found = Entries(data, self.rows[first], other.columns[second], shape, "coo", self.array)
            return found.asformat("csc" if self.format == "csc" else "csr")
        if isinstance(other, (list, tuple)):
            other = np.asarray(other)
        return weighed_sums(self.data, self.rows, self.columns, self.shape[0], other)

    def __rmatmul__(self, other: Any) -> Any:
        if is_matrix(other):
            return taken_apart(other) @ self
        if isinstance(other, (list, tuple)):
            other = np.asarray(other)
        if np.ndim(other) == 1:
            return weighed_sums(self.data, self.columns, self.rows, self.shape[1], other)
        return weighed_sums(self.data, self.columns, self.rows, self.shape[1], other.T).T

    def dot(self, other: Any) -> Any:
        return self.with_data(self.data * other) if is_number(other) else self @ other

    def multiply(self, other: Any) -> Any:
        if is_number(other):
            return self.with_data(self.data * other)
        if is_matrix(other):
            other = taken_apart(other).asformat("csr")
            mine = self.asformat("csr")
            first, second = common_places(mine.rows, mine.columns, other.rows, other.columns, self.shape)
            data = mine.data[first] * other.data[second]
            found = Entries(data, mine.rows[first], mine.columns[first], self.shape, "csr", self.array)
            return found.asformat("csc" if self.format == "csc" else "csr")
        other, mine = np.broadcast_to(np.asarray(other), self.shape), self.merged()
        return mine.with_data(mine.data * other[mine.rows, mine.columns]).asformat("coo")

    def __mul__(self, other: Any) -> Any:
        if self.array or is_number(other):
            return self.multiply(other)
        return self @ other

    def __rmul__(self, other: Any) -> Any:
        if self.array or is_number(other):
            return self.multiply(other)
        return other @ self

    def __truediv__(self, other: Any) -> Any:
        if not is_number(other):
            return rt.no_derivative("a quotient of sparse matrices", "it has a rule for quotients by numbers")
        return self.with_data(self.data / other)

    def __neg__(self) -> Any:
        return self.with_data(-self.data)

    def power(self, n: Any, dtype: Any = None) -> Any:
        merged = self.merged()
        return merged.with_data(merged.data**n).asformat(self.format)

    # sums of matrices

    def __add__(self, other: Any) -> Any:
        if is_matrix(other):
            other = taken_apart(other)
            both = Entries(
                np.concatenate([self.data, other.data]), np.concatenate([self.rows, other.rows]),
                np.concatenate([self.columns, other.columns]), self.shape, "coo", self.array)
            return both.asformat("csc" if self.format == "csc" else "csr")
        if not self.array:
            return rt.no_derivative("the sum of a sparse matrix and an array", ARRAYS)
        return self.toarray() + other

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self + (-taken_apart(other) if is_matrix(other) else -other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other


def places_of_diagonal(rows: Any, columns: Any, k: Any) -> Any:
    """Where the items of a diagonal come to lie along it, and which items these are."""
    on = np.flatnonzero(columns - rows == k)
    return (rows[on] if k >= 0 else columns[on]), on


def selected_places(key: Any, rows: Any, columns: Any, shape: Any, form: Any) -> Any:
    """The items that an index selects, where they come to lie in the order of the form, and the new shape.

    Along an axis that is selected from, an item comes once for each time that its place is named. Raises
    NoDerivativeError for places whose shapes, which may show only when the program runs, name items one by one.
    """
    tall, wide = (() if isinstance(index, slice) else np.shape(index) for index in key)
    if tall[1:] not in ((), (1,)) or wide[:-1] not in ((), (1,)):
        rt.no_derivative("single items of a sparse matrix", BY_LINES)
    named = [np.ravel(np.arange(length)[index]) for length, index in zip(shape, key, strict=True)]
    into_rows, of_rows = pairs(named[0], rows)
    into_columns, items = pairs(named[1], columns[of_rows])
    into_rows, items = into_rows[items], of_rows[items]
    order = order_of(into_rows, into_columns, form)
    return items[order], into_rows[order], into_columns[order], len(named[0]), len(named[1])


def places_of_element(key: Any, rows: Any, columns: Any, shape: Any) -> Any:
    """The items at one place: one or none."""
    row, column = (range(length)[index] for length, index in zip(shape, key, strict=True))
    return np.flatnonzero((rows == row) & (columns == column))


def is_integer(index: Any) -> Any:
    return isinstance(index, (int, np.integer))


def is_line(index: Any) -> Any:
    """Whether an index selects along one axis: no column of places, as ``np.ix_`` gives for the rows."""
    return isinstance(index, (slice, list, range)) or np.ndim(index) < 2


def common_places(rows: Any, columns: Any, other_rows: Any, other_columns: Any, shape: Any) -> Any:
    """The items of two matrices, each sorted by rows and without repetitions, that have the same place."""
    _, first, second = np.intersect1d(
        np.asarray(rows, np.int64) * shape[1] + columns, np.asarray(other_rows, np.int64) * shape[1] + other_columns,
        return_indices=True)
    return first, second
