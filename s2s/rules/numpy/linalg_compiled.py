"""Rules of the compiled functions behind ``numpy.linalg``."""

from __future__ import annotations

from numpy.linalg import _umath_linalg as gufuncs

from s2s.models import compiled
from s2s.rules.table import model

for _name, _body in {
    "solve": compiled.solve, "solve1": compiled.solve_vector, "inv": compiled.inverse, "det": compiled.determinant,
    "slogdet": compiled.log_determinant, "eigh_lo": compiled.eigh_lower, "eigh_up": compiled.eigh_upper,
    "eigvalsh_lo": compiled.eigenvalues_lower, "eigvalsh_up": compiled.eigenvalues_upper,
    "cholesky_lo": compiled.cholesky_lower, "cholesky_up": compiled.cholesky_upper, "svd": compiled.singular_values,
    "svd_s": compiled.svd_reduced, "svd_f": compiled.svd_full, "eig": compiled.eig_pairs,
    "eigvals": compiled.eigenvalues,
}.items():
    if hasattr(gufuncs, _name):
        model(getattr(gufuncs, _name))(_body)  # type: ignore[type-var]
