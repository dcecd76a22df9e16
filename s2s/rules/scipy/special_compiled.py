"""Functions of ``scipy.special.cython_special``: those of ``scipy.special`` of the same name, for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.special import cython_special

from s2s import runtime as rt
from s2s.rules.table import has_rule, model


def wide(x: Any) -> Any:
    """A number of NumPy as one of Python, which the compiled functions compute with."""
    if isinstance(x, np.floating):
        return float(x)
    return complex(x) if isinstance(x, np.complexfloating) else x


def of_numbers(ufunc: Any, takes_complex: bool, *args: Any) -> Any:
    numbers = [wide(x) for x in args]
    for x in numbers:
        if not takes_complex and np.iscomplexobj(x):
            return rt.no_derivative("a real function of scipy.special", "it discards imaginary parts")
    made = ufunc(*numbers)
    return complex(made) if np.iscomplexobj(made) else float(made)


for _name, _fn in vars(cython_special).items():
    _ufunc = getattr(special, _name, None)
    if callable(_fn) and type(_ufunc) is np.ufunc and _ufunc.nout == 1 and has_rule(_ufunc):
        model(_fn, given=(_ufunc, any("D" in types for types in _ufunc.types)))(of_numbers)
