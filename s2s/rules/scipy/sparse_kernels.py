"""Rules of the compiled loops behind ``scipy.sparse``, which its Python code calls with index arrays and data."""

from __future__ import annotations

from scipy.sparse import _sparsetools
from scipy.sparse.linalg._dsolve import _superlu

from s2s.models import sparse_kernels as models
from s2s.rules.functions import describe
from s2s.rules.table import model

_CHANGES = {
    "csr_matvec": (6,), "csc_matvec": (6,), "csr_matvecs": (7,), "csc_matvecs": (7,), "coo_matvec": (5,),
    "coo_tocsr": (6, 7, 8), "csr_tocsc": (5, 6, 7), "csr_todense": (5,), "coo_todense": (6,), "csr_matmat": (8, 9, 10),
    "csr_diagonal": (6,), "csr_scale_rows": (4,), "csr_scale_columns": (4,), "csr_sort_indices": (2, 3),
    "csr_sum_duplicates": (2, 3, 4), "csr_plus_csr": (8, 9, 10), "csr_minus_csr": (8, 9, 10),
    "csr_elmul_csr": (8, 9, 10), "csr_row_index": (5, 6), "csr_row_slice": (6, 7), "csr_column_index2": (5, 6),
    "coo_matmat_dense": (6,), "dia_matvec": (7,), "dia_tocsr": (7, 8, 9),
}
"""The places of the arrays that each loop writes to."""

for _name, _places in _CHANGES.items():
    _loop = getattr(_sparsetools, _name, None)  # old versions of SciPy have fewer
    if _loop is not None:
        describe(_loop, changes=_places, holds=False, pure=False)
        model(_loop)(getattr(models, _name))

model(_superlu.gssv)(models.gssv)
