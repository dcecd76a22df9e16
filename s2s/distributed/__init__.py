"""Derivatives of a loss over data that is in parts: on a cluster of Dask, or part by part in this process.

    gradient = s2s.distributed.value_and_grad(loss, over="X, y", reduction="mean")
    value, w_bar = gradient(w, X, y)               X and y are Dask arrays, data frames, bags, or lists of parts

    parts = s2s.distributed.rows(np.load("X.npy", mmap_mode="r"), 100_000)     data on disk, read part by part
"""

from s2s.distributed.derivatives import Distributed, Report, grad, hvp, jacobian, map, shipped, value_and_grad
from s2s.distributed.rows import Rows, rows

__all__ = ["Distributed", "Report", "Rows", "grad", "hvp", "jacobian", "map", "rows", "shipped", "value_and_grad"]
