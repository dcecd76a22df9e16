"""Rules of the compiled functions behind the splines and radial functions of ``scipy.interpolate``.

SciPy moves them between modules and changes what they take: what this version does not have is left out.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve

from s2s.models import spline_kernels as models
from s2s.rules.functions import describe
from s2s.rules.table import jvp, model, vjp


def _functions(module: str) -> dict[str, Any]:
    """What a private module of SciPy has."""
    try:
        return vars(importlib.import_module(f"scipy.interpolate.{module}"))
    except ImportError:
        return {}


_CHANGES = {"_coloc": (3,), "_norm_eq_lsq": (5, 6), "evaluate_bernstein": (5,)}
"""The places of the arrays that functions write to."""

_MODELS: dict[str, dict[str, Any]] = {
    "_dierckx": {
        "evaluate_spline": models.evaluate_spline, "evaluate_all_bspl": models.evaluate_all_bspl,
        "evaluate_ndbspline": models.evaluate_ndbspline, "_coloc": models.coloc, "_norm_eq_lsq": models.norm_eq_lsq,
    },
    "_ppoly": {"evaluate_bernstein": models.evaluate_bernstein},
    "_rbfinterp_pythran": {
        "_build_system": models.build_system, "_polynomial_matrix": models.polynomial_matrix,
        "_build_evaluation_coefficients": models.build_evaluation_coefficients,
    },
    "_dfitpack": {
        "bispev": models.bispev, "bispeu": models.bispeu, "parder": models.parder, "pardeu": models.pardeu,
        "regrid_smth": models.regrid_smth,
    },
    "_fitpack": {
        "bispev": models.bispev, "bispeu": models.bispeu, "parder": models.parder, "pardeu": models.pardeu,
    },
    "_fitpack2": {"_regrid_smth": models.regrid_smth},
}
for _module, _models in _MODELS.items():
    for _name, _model in _models.items():
        _kernel = _functions(_module).get(_name)
        if _kernel is not None:
            if _name in _CHANGES:
                describe(_kernel, changes=_CHANGES[_name], holds=False, pure=False)
            model(_kernel)(_model)

_solve_qr = _functions("_bsplines").get("_lsq_solve_qr")
if _solve_qr is not None:
    model(_solve_qr)(models.lsq_solve_qr)


_iter_solve = _functions("_ndbspline").get("_iter_solve")
if _iter_solve is not None:  # what it gives has one axis where ``b`` is one column
    vjp(
        _iter_solve, params="matrix, b, solver=None, **options", harmless="solver options",
        b=lambda y_bar, matrix, b: np.reshape(spsolve(matrix.T.tocsc(), y_bar), np.shape(b)),
    )
    jvp(_iter_solve, b=lambda b_dot, y, matrix: np.reshape(spsolve(matrix.tocsc(), b_dot), np.shape(y)))
