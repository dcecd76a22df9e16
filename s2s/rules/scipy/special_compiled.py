"""Functions of ``scipy.special.cython_special``: those of ``scipy.special`` of the same name, for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.special import cython_special

from s2s.rules.table import has_rule, model


def of_numbers(ufunc: Any, *args: Any) -> Any:
    return ufunc(*args)


for _name, _fn in vars(cython_special).items():
    _ufunc = getattr(special, _name, None)
    if callable(_fn) and type(_ufunc) is np.ufunc and _ufunc.nout == 1 and has_rule(_ufunc):
        model(_fn, given=(_ufunc,))(of_numbers)
