"""Rules of ``scipy.spatial.distance``: all pairs of rows. The distances of two vectors are differentiated as source."""

from __future__ import annotations

from scipy.spatial import distance

from s2s.models import distance as models
from s2s.rules.samples import args, arr
from s2s.rules.table import model, refuse, zero

A, B = arr(4, 3, low=0.2), arr(2, 3, low=0.2)
METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "canberra", "braycurtis", "cosine", "correlation"
)
model(
    distance.cdist,
    samples=[args(A, B), *[args(A, B, m) for m in METRICS]],
)(models.cdist)
model(distance.pdist, samples=[args(A), *[args(A, m) for m in METRICS]])(models.pdist)
model(distance.squareform, samples=[args(arr(6)), args(arr(1))])(models.squareform)
zero(models.places_in_square)
refuse(distance.directed_hausdorff, "SciPy has it in compiled code only; write it with cdist, np.max and np.min")
OF_BITS = """dice hamming jaccard kulczynski1 rogerstanimoto russellrao sokalmichener sokalsneath yule is_valid_dm
        is_valid_y num_obs_dm num_obs_y"""
for _name in OF_BITS.split():
    if hasattr(distance, _name):  # not in every SciPy
        zero(getattr(distance, _name))
