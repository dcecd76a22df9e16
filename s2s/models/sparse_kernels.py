"""The compiled loops of ``scipy.sparse`` in NumPy: they write their results into their last arguments.

The names of the parameters are those of SciPy's ``sparsetools``: ``Ap``, ``Aj``, ``Ax`` are the row pointer, the
columns and the data of a matrix of compressed rows, ``Yx`` is what a product is added to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.models.solutions import for_value
from s2s.models.sparse import solution_like


def csr_matvec(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    stored = Ap[n_row]
    np.add.at(Yx, rows_of(n_row, Ap), Ax[:stored] * Xx[Aj[:stored]])


def csc_matvec(n_row: int, n_col: int, Ap: Any, Ai: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    stored = Ap[n_col]
    np.add.at(Yx, Ai[:stored], Ax[:stored] * Xx[rows_of(n_col, Ap)])


def csr_matvecs(n_row: int, n_col: int, n_vecs: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    stored = Ap[n_row]
    terms = Ax[:stored, np.newaxis] * Xx.reshape(n_col, n_vecs)[Aj[:stored]]
    np.add.at(Yx.reshape(n_row, n_vecs), rows_of(n_row, Ap), terms)


def csc_matvecs(n_row: int, n_col: int, n_vecs: int, Ap: Any, Ai: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    stored = Ap[n_col]
    terms = Ax[:stored, np.newaxis] * Xx.reshape(n_col, n_vecs)[rows_of(n_col, Ap)]
    np.add.at(Yx.reshape(n_row, n_vecs), Ai[:stored], terms)


def coo_matvec(nnz: int, Ai: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    np.add.at(Yx, Ai[:nnz], Ax[:nnz] * Xx[Aj[:nnz]])


def coo_matmat_dense(nnz: int, n_vecs: int, Ai: Any, Aj: Any, Ax: Any, Xx: Any, Yx: Any) -> None:
    terms = Ax[:nnz, np.newaxis] * Xx.reshape(-1, n_vecs)[Aj[:nnz]]
    np.add.at(Yx.reshape(-1, n_vecs), Ai[:nnz], terms)


def dia_matvec(
    n_row: int, n_col: int, n_diags: int, length: int, offsets: Any, diags: Any, Xx: Any, Yx: Any
) -> None:
    rows, columns, diagonal = of_diagonals(n_row, n_col, offsets, length)
    np.add.at(Yx.reshape(-1), rows, diags[diagonal, columns] * Xx.reshape(-1)[columns])


def dia_tocsr(
    n_row: int, n_col: int, n_diags: int, length: int, offsets: Any, diags: Any, order: Any, Bx: Any, Bj: Any, Bp: Any
) -> int:
    rows, columns, diagonal = of_diagonals(n_row, n_col, offsets, length)
    values = diags[diagonal, columns]
    if np.any(values == 0.0):
        raise ValueError("a sparse matrix drops an entry that is exactly zero, and its derivative with it")
    by_row = np.lexsort((columns, rows))
    Bp[0] = 0
    Bp[1:] = np.cumsum(np.bincount(rows, minlength=n_row))
    Bj[: len(by_row)] = columns[by_row]
    Bx[: len(by_row)] = values[by_row]
    return len(by_row)


def of_diagonals(n_row: int, n_col: int, offsets: Any, length: int) -> tuple[Any, Any, Any]:
    """The rows and columns of the entries of diagonals, and which diagonal each is on."""
    diagonal, columns = np.divmod(np.arange(len(offsets) * length), length)
    rows = columns - offsets[diagonal]
    inside = np.flatnonzero((rows >= 0) & (rows < n_row) & (columns < n_col))
    return rows[inside], columns[inside], diagonal[inside]


def coo_tocsr(n_row: int, n_col: int, nnz: int, Ai: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any) -> None:
    order = np.argsort(Ai[:nnz], kind="stable")
    Bp[1:] = np.cumsum(np.bincount(Ai[:nnz], minlength=n_row))
    Bp[0] = 0
    Bj[:nnz] = Aj[:nnz][order]
    Bx[:nnz] = Ax[:nnz][order]


def csr_tocsc(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bi: Any, Bx: Any) -> None:
    stored = Ap[n_row]
    order = np.argsort(Aj[:stored], kind="stable")
    Bp[1:] = np.cumsum(np.bincount(Aj[:stored], minlength=n_col))
    Bp[0] = 0
    Bi[:stored] = rows_of(n_row, Ap)[order]
    Bx[:stored] = Ax[:stored][order]


def csr_todense(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bx: Any) -> None:
    stored = Ap[n_row]
    np.add.at(Bx, (rows_of(n_row, Ap), Aj[:stored]), Ax[:stored])


def coo_todense(n_row: int, n_col: int, nnz: int, Ai: Any, Aj: Any, Ax: Any, Bx: Any, fortran: int) -> None:
    place = Aj[:nnz].astype(np.intp) * n_row + Ai[:nnz] if fortran else Ai[:nnz].astype(np.intp) * n_col + Aj[:nnz]
    np.add.at(Bx, place, Ax[:nnz])


def csr_matmat(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any, Cp: Any, Cj: Any, Cx: Any
) -> None:
    pointer, columns, left, right, place = for_value(pairs, n_row, Ap, Aj, Bp, Bj)
    Cp[:] = pointer
    Cj[: len(columns)] = columns
    Cx[:] = 0.0
    np.add.at(Cx, place, Ax[left] * Bx[right])


def pairs(n_row: int, Ap: Any, Aj: Any, Bp: Any, Bj: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The structure of a product, and of each of its terms the places of the factors and of the sum. Within a row,
    columns stand last met first, as the linked list of the compiled loop leaves them."""
    pointer, columns = [0], list[int]()
    left, right, place = list[int](), list[int](), list[int]()
    for i in range(n_row):
        met = dict[int, int]()
        terms = list[tuple[int, int, int]]()
        for a in range(Ap[i], Ap[i + 1]):
            for b in range(Bp[Aj[a]], Bp[Aj[a] + 1]):
                met.setdefault(int(Bj[b]), len(met))
                terms.append((a, b, int(Bj[b])))
        last = pointer[-1] + len(met) - 1
        for a, b, column in terms:
            left.append(a)
            right.append(b)
            place.append(last - met[column])
        columns += reversed(met)
        pointer.append(last + 1)
    return (
        np.array(pointer), np.array(columns, dtype=np.intp), np.array(left, dtype=np.intp),
        np.array(right, dtype=np.intp), np.array(place, dtype=np.intp),
    )


def csr_diagonal(k: int, n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Yx: Any) -> None:
    rows = rows_of(n_row, Ap)
    first = max(-k, 0)
    on = np.flatnonzero(Aj[: Ap[n_row]] - rows == k)
    Yx[:] = 0.0
    np.add.at(Yx, rows[on] - first, Ax[on])


def csr_scale_rows(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any) -> None:
    Ax[: Ap[n_row]] *= Xx[rows_of(n_row, Ap)]


def csr_scale_columns(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any) -> None:
    Ax[: Ap[n_row]] *= Xx[Aj[: Ap[n_row]]]


def csr_sort_indices(n_row: int, Ap: Any, Aj: Any, Ax: Any) -> None:
    stored = Ap[n_row]
    order = np.lexsort((Aj[:stored], rows_of(n_row, Ap)))
    Aj[:stored] = Aj[:stored][order]
    Ax[:stored] = Ax[:stored][order]


def csr_sum_duplicates(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any) -> None:
    """Entries of one place stand beside each other: their sum takes the place of the first."""
    stored = Ap[n_row]
    rows = rows_of(n_row, Ap)
    is_first = np.ones(stored, dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (Aj[1:stored] != Aj[: stored - 1])
    place = np.cumsum(is_first) - 1
    kept = np.flatnonzero(is_first)
    sums = np.zeros(len(kept), dtype=Ax.dtype)
    np.add.at(sums, place, Ax[:stored])
    Aj[: len(kept)] = Aj[kept]
    Ax[: len(kept)] = sums
    Ap[1:] = np.cumsum(np.bincount(rows[kept], minlength=n_row))


def csr_row_index(count: int, rows: Any, Ap: Any, Aj: Any, Ax: Any, Bj: Any, Bx: Any) -> None:
    place = spread(Ap[rows], Ap[rows + 1] - Ap[rows])
    Bj[: len(place)] = Aj[place]
    Bx[: len(place)] = Ax[place]


def csr_row_slice(start: int, stop: int, step: int, Ap: Any, Aj: Any, Ax: Any, Bj: Any, Bx: Any) -> None:
    csr_row_index(0, np.arange(start, stop, step), Ap, Aj, Ax, Bj, Bx)


def csr_column_index2(
    col_order: Any, col_offsets: Any, nnz: int, Aj: Any, Ax: Any, Bj: Any, Bx: Any
) -> None:
    counts = np.diff(col_offsets, prepend=0)
    columns = Aj[:nnz]
    place = np.repeat(np.arange(nnz), counts[columns])
    Bj[: len(place)] = col_order[spread((col_offsets - counts)[columns], counts[columns])]
    Bx[: len(place)] = Ax[place]


def spread(first: Any, counts: Any) -> Any:
    """``counts[k]`` numbers from ``first[k]`` on, for each k."""
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(np.sum(counts))


def csr_plus_csr(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any, Cp: Any, Cj: Any, Cx: Any
) -> None:
    places, a, b, stored = matched(n_row, n_col, Ap, Aj, Ax, Bp, Bj, Bx)
    keep(n_row, n_col, places, a + b, stored > 0, Cp, Cj, Cx)


def csr_minus_csr(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any, Cp: Any, Cj: Any, Cx: Any
) -> None:
    places, a, b, stored = matched(n_row, n_col, Ap, Aj, Ax, Bp, Bj, Bx)
    keep(n_row, n_col, places, a - b, stored > 0, Cp, Cj, Cx)


def csr_elmul_csr(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any, Cp: Any, Cj: Any, Cx: Any
) -> None:
    places, a, b, stored = matched(n_row, n_col, Ap, Aj, Ax, Bp, Bj, Bx)
    keep(n_row, n_col, places, a * b, stored > 1, Cp, Cj, Cx)


def matched(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bp: Any, Bj: Any, Bx: Any) -> tuple[Any, Any, Any, Any]:
    """The places that either of two matrices has entries at, numbered by rows; what each has there, and how many do.

    Where the entries of one are not in order, or two are at one place, the compiled loop links the places of a row in a
    list, and gives them from the last that it met to the first.
    """
    own = rows_of(n_row, Ap) * n_col + Aj[: Ap[n_row]]
    other = rows_of(n_row, Bp) * n_col + Bj[: Bp[n_row]]
    places, first, number = np.unique(np.concatenate((own, other)), return_index=True, return_inverse=True)
    if np.any(np.diff(own) <= 0) or np.any(np.diff(other) <= 0):
        order = np.lexsort((-first, places // n_col))
    else:
        order = np.arange(len(places))
    place = np.argsort(order)[number]
    a = np.zeros(len(places), dtype=Ax.dtype)
    b = np.zeros(len(places), dtype=Bx.dtype)
    np.add.at(a, place[: len(own)], Ax[: Ap[n_row]])
    np.add.at(b, place[len(own) :], Bx[: Bp[n_row]])
    places = places[order]
    return places, a, b, 1 * np.isin(places, own) + 1 * np.isin(places, other)


def keep(n_row: int, n_col: int, places: Any, values: Any, matters: Any, Cp: Any, Cj: Any, Cx: Any) -> None:
    """Write the entries that are not zero, which is what the compiled loop keeps.

    Raises ValueError where one that ``matters`` is zero: its derivative would be lost.
    """
    if np.any((values == 0.0) & matters):
        raise ValueError("a sparse matrix drops an entry that is exactly zero, and its derivative with it")
    kept = np.flatnonzero(values != 0.0)
    Cp[0] = 0
    Cp[1:] = np.cumsum(np.bincount(places[kept] // n_col, minlength=n_row))
    Cj[: len(kept)] = places[kept] % n_col
    Cx[: len(kept)] = values[kept]


def gssv(
    n: int, stored: int, data: Any, indices: Any, pointer: Any, b: Any, is_csc: int, options: Any = None
) -> tuple[Any, int]:
    """The solution by SuperLU, in the shape of ``b``, and that it was found."""
    major = rows_of(n, pointer)
    return solution_like(data, indices if is_csc else major, major if is_csc else indices, b), 0


def rows_of(n_row: int, Ap: Any) -> Any:
    """The row of each entry of a matrix of compressed rows."""
    return np.repeat(np.arange(n_row), np.diff(Ap))
