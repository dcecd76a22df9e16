"""The table of the reach set: functions of published packages, differentiated as they are.

A case is a factory decorated with @case(package, target, kind). It imports the package and returns

    loss, x0            or            loss, x0, ref

loss: a plain Python function of one float64 array that gives one float; it calls the package's function as it is
      and uses only operators, indexing and array methods of its own (float() where the package gives an object);
x0:   the float64 array at which it is differentiated, away from kinks and branch borders;
ref:  a derivative by other means (complex step ...); without it central differences with Richardson extrapolation.

kind, the class of code that an active value meets first and foremost:
    plain       formulas over arrays or scalars in plain functions
    objects     classes: attributes, methods, construction, properties, operators written in Python
    subclass    ndarray subclasses, units, pandas, xarray, numbers with operators that carry more than a float
    containers  lists, dicts, tuples, dataframes of differentiated values that are filled and read again
    library     the work is done by SciPy / NumPy library functions (ndimage, signal, interpolate, fft, special, linalg)
    iterative   loops to convergence, recursions, time steppers, root finders, solvers

The factories stand in cases_*.py.
"""

import glob
import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

KINDS = ("plain", "objects", "subclass", "containers", "library", "iterative")
_found: dict = {}


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    package: str    # as named on PyPI
    target: str     # what is differentiated with respect to what
    kind: str
    build: Callable

    def setup(self):
        """Gives (loss, x0, ref or None); imports the package."""
        made = self.build()
        loss, x0 = made[0], np.array(made[1], dtype=np.float64)
        return loss, x0, (made[2] if len(made) > 2 else None)


def case(package, target, kind):
    """Registers the decorated factory as a case."""
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r}")

    def register(build):
        if build.__name__ in _found:
            raise ValueError(f"two cases are named {build.__name__}")
        _found[build.__name__] = Case(build.__name__, package, target, kind, build)
        return build
    return register


def load():
    """The cases, in the order of their files."""
    sys.modules.setdefault("cases", sys.modules[__name__])
    here = os.path.dirname(os.path.abspath(__file__))
    if here not in sys.path:
        sys.path.insert(0, here)
    for path in sorted(glob.glob(os.path.join(here, "cases_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    return list(_found.values())


def richardson(f, x0, rel=2e-3):
    """Gradient of f at x0 by central differences at h, h/2 and h/4, extrapolated."""
    g = np.zeros(x0.shape)
    for i in np.ndindex(x0.shape):
        h = rel * max(abs(x0[i]), 0.1)
        d = []
        for step in (h, h / 2, h / 4):
            up, down = x0.copy(), x0.copy()
            up[i] += step
            down[i] -= step
            width = up[i] - down[i]
            d.append((float(f(up)) - float(f(down))) / width)
        e1 = (4 * d[1] - d[0]) / 3
        e2 = (4 * d[2] - d[1]) / 3
        g[i] = (16 * e2 - e1) / 15
    return g


def reference(loss, x0, ref=None):
    """The derivative that an engine must meet: ref where given, else by differences."""
    if ref is not None:
        return np.asarray(ref(x0.copy()), dtype=np.float64).reshape(x0.shape)
    return richardson(loss, x0)


def steps(rel):
    """A reference by differences with another step, for functions that need one."""
    def make(loss):
        def ref(x):
            return richardson(loss, x, rel)
        ref.rel = rel
        return ref
    return make
