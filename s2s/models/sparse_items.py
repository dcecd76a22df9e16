"""Sparse matrices of SciPy that are filled item by item, ``lil`` and ``dok``: what is stored into them may be
differentiated.

The items lie in an array as large as the matrix, with the places that have been stored: stores and reads are NumPy's,
and such a matrix has a limit of items. A place that zero was stored into stays one of its places, as its derivative
need not be zero: in other forms of the matrix it counts as an item, which SciPy leaves out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.models.sparse import BY_LINES, Entries, is_integer, is_matrix, taken_apart

__all__ = ["MOST_ITEMS", "Filled", "dok_array", "dok_matrix", "lil_array", "lil_matrix", "todok", "tolil"]

MOST_ITEMS = 2**24
"""A matrix that is filled item by item has no more places than this."""


def filled(arg1: Any, shape: Any, dtype: Any, form: Any, array: Any) -> Any:
    """The matrix that a class of SciPy makes of its first argument: of a shape, of another matrix or of an array."""
    if isinstance(arg1, tuple):
        return empty(arg1, float if dtype is None else dtype, form, array)
    if is_matrix(arg1):
        return of_entries(taken_apart(arg1), form, array)
    values = np.array(arg1, dtype=dtype)
    return Filled(values, values != 0, form, array)


def empty(shape: Any, dtype: Any, form: Any, array: Any) -> Any:
    """A matrix without items."""
    check_size(shape, dtype)
    return Filled(np.zeros(shape, dtype), np.zeros(shape, bool), form, array)


def of_entries(given: Any, form: Any, array: Any) -> Any:
    """The items of another matrix, which are real."""
    check_size(given.shape, given.data.dtype)
    check_real(given.data)
    values = np.zeros((given.shape[0], given.shape[1]))
    stored = np.zeros((given.shape[0], given.shape[1]), bool)
    rows, columns = np.ravel(np.asarray(given.rows, np.intp)), np.ravel(np.asarray(given.columns, np.intp))
    np.add.at(values, (rows, columns), given.data)
    stored[rows, columns] = True
    return Filled(values, stored, form, array)


def check_real(data: Any) -> None:
    """Raise NoDerivativeError for items that are complex or narrow."""
    if data.dtype != np.float64:
        rt.no_derivative("a sparse matrix of these items", "fill an empty one: sparse.lil_array(shape, dtype)")


def check_size(shape: Any, dtype: Any) -> None:
    """Raise NoDerivativeError for a matrix that has more places than its items may have, or integers for items."""
    if len(shape) != 2 or shape[0] * shape[1] > MOST_ITEMS:
        rt.no_derivative("a sparse matrix that is filled item by item", "it is large; give the data and its places")
    if np.dtype(dtype).kind not in "fc":
        rt.no_derivative("a sparse matrix of integers", "give it a dtype: dtype=float")


def fitted(value: Any, shape: Any) -> Any:
    """What is stored at places of a shape: of a row or a column the items may lie either way."""
    if np.shape(value) == shape or np.ndim(value) == 0:
        return value
    if [n for n in np.shape(value) if n != 1] == [n for n in shape if n != 1]:
        return np.reshape(value, shape)
    return np.broadcast_to(value, shape)


class Filled(Entries):
    """A matrix whose items are stored one by one: an array, and which of its places have been stored."""

    def __init__(self, numbers: Any, stored: Any, form: Any, array: Any) -> None:
        self.numbers = numbers
        self.stored = stored
        self.shape = np.shape(numbers)
        self.format = form
        self.array = array
        self.ndim = 2

    @property
    def places(self) -> Any:
        """The places that have been stored, by rows: an array of a known kind, as ``np.flatnonzero`` gives none."""
        return np.arange(self.shape[0] * self.shape[1])[np.ravel(self.stored)]

    @property
    def rows(self) -> Any:
        return self.places // self.shape[1]

    @property
    def columns(self) -> Any:
        return self.places % self.shape[1]

    @property
    def data(self) -> Any:
        return self.numbers[self.rows, self.columns]

    @property
    def nnz(self) -> Any:
        return np.count_nonzero(self.numbers)

    def entries(self) -> Any:
        """The same matrix by rows."""
        places = self.places
        rows, columns = places // self.shape[1], places % self.shape[1]
        return Entries(self.numbers[rows, columns], rows, columns, self.shape, "csr", self.array)

    def asformat(self, form: Any, copy: Any = False) -> Any:
        if form == self.format or form is None:
            return self
        return of_entries(self, form, self.array) if form in ("lil", "dok") else self.entries().asformat(form)

    def with_data(self, data: Any) -> Any:
        return self.entries().with_data(data)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        return Filled(self.numbers.T.copy(), self.stored.T.copy(), self.format, self.array)

    def merged(self) -> Any:
        return self.entries()

    def copy(self) -> Any:
        return Filled(self.numbers.copy(), self.stored.copy(), self.format, self.array)

    def tolil(self, copy: Any = False) -> Any:
        return self.copy() if copy else self.asformat("lil")

    def todok(self, copy: Any = False) -> Any:
        return self.copy() if copy else self.asformat("dok")

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        return self.numbers.copy()

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if is_integer(rows) and is_integer(columns):
            return self.numbers[rows, columns]
        if self.array and (is_integer(rows) or is_integer(columns)):
            return rt.no_derivative("a row or column of a sparse array", "keep both axes: K[[i]], K[:, [j]]")
        rows = np.array([rows]) if is_integer(rows) else rows
        columns = np.array([columns]) if is_integer(columns) else columns
        values, stored = self.numbers[rows, columns].copy(), self.stored[rows, columns].copy()
        if np.ndim(values) == 1:  # items that are named one by one, which are a row
            if self.array:
                return rt.no_derivative("single items of a sparse array", BY_LINES)
            values, stored = values[None, :], stored[None, :]
        return Filled(values, stored, self.format, self.array)

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(value, Entries):
            value = value.toarray()
        if isinstance(value, Sum):
            value = value.numbers
        if not (is_integer(rows) and is_integer(columns)):
            value = fitted(value, np.shape(self.stored[rows, columns]))
        self.numbers[rows, columns] = value
        self.stored[rows, columns] = True

    def setdiag(self, values: Any, k: Any = 0) -> None:
        setdiag(self, values, k)

    def __add__(self, other: Any) -> Any:
        if is_matrix(other):
            return self.entries() + other
        return self.numbers + other if self.array else Sum(self.numbers + other)


class Sum:
    """The sum of a sparse matrix and an array, a ``np.matrix``: to be stored, nothing else."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers


def places_along(shape: Any, k: Any) -> Any:
    """The rows and columns of a diagonal."""
    along = np.arange(max(min(shape[0] + min(k, 0), shape[1] - max(k, 0)), 0))
    return along - min(k, 0), along + max(k, 0)


def setdiag(self: Any, values: Any, k: Any = 0) -> None:
    rows, columns = places_along(self.shape, k)
    self[rows, columns] = values if np.ndim(values) == 0 else values[: len(rows)]


def lil_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return filled(arg1, shape, dtype, "lil", False)


def lil_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return filled(arg1, shape, dtype, "lil", True)


def dok_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return filled(arg1, shape, dtype, "dok", False)


def dok_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None) -> Any:
    return filled(arg1, shape, dtype, "dok", True)


def tolil(self: Any, copy: Any = False) -> Any:
    given = taken_apart(self)
    return of_entries(given, "lil", given.array)


def todok(self: Any, copy: Any = False) -> Any:
    given = taken_apart(self)
    return of_entries(given, "dok", given.array)
