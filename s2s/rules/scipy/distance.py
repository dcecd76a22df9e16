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
zero(distance.is_valid_dm, distance.is_valid_y, distance.num_obs_dm, distance.num_obs_y)
