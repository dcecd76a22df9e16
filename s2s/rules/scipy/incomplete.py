"""The incomplete gamma and beta functions differentiated by their parameters, for which SciPy has no function.

With w the logarithm of the variable (or its logit), both are distribution functions of a density in w whose logarithm
is concave, and the derivative by the parameter is the integral of that density times (log t - its mean): which has one
sign on either side of the mean, so that the side is taken on which nothing cancels. It is found by Gauss's rule on the
interval beyond which the density is negligible.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

__all__ = ["betainc_by_a", "betainc_by_b", "gammainc_by_a", "zeta_by_s"]

_nodes, _weights = np.polynomial.legendre.leggauss(64)
NODES, WEIGHTS = 0.5 * (_nodes + 1.0), 0.5 * _weights
"""Gauss's rule on the interval from 0 to 1."""

DISTANCES = np.append(0.0, 2.0 ** (0.5 * np.arange(-60, 46)))
"""Where the density is looked at to find where it becomes negligible."""

NEGLIGIBLE = 40.0
"""How far the logarithm of a density falls below its greatest value before it is left out."""


def gamma_log_density(a: Any, w: Any) -> Any:
    """The logarithm of the density of log t, t from the gamma distribution of shape a."""
    return a * w - np.exp(np.minimum(w, 700.0)) - special.gammaln(a)


def beta_log_density(a: Any, b: Any, w: Any) -> Any:
    """The logarithm of the density of the logit of t, t from the beta distribution of shapes a and b."""
    return a * special.log_expit(w) + b * special.log_expit(-w) - special.betaln(a, b)


def reach(logs: Any) -> Any:
    """How far a density that has these logarithms at DISTANCES, in the last axis, is not negligible."""
    counts = logs >= np.max(logs, axis=-1, keepdims=True) - NEGLIGIBLE
    return math.sqrt(2.0) * np.max(np.where(counts, DISTANCES, DISTANCES[1]), axis=-1, keepdims=True)


def distances(side: Any, start: Any, width: Any) -> tuple[Any, Any]:
    """The points of Gauss's rule between 0 and ``width``, and their weights; in three parts, as the logarithm of the
    density bends near w = 0 and is nearly straight farther out."""
    near = np.clip(-side * start - 16.0, 0.0, width)
    far = np.clip(-side * start + 16.0, 0.0, width)
    points = np.concatenate([near * NODES, near + (far - near) * NODES, far + (width - far) * NODES], axis=-1)
    return points, np.concatenate([near * WEIGHTS, (far - near) * WEIGHTS, (width - far) * WEIGHTS], axis=-1)


def gammainc_by_a(a: Any, x: Any) -> Any:
    """The derivative of ``gammainc(a, x)`` by a."""
    inside = (x > 0.0) & (x < np.inf)
    a, start = np.expand_dims(a, -1), np.expand_dims(np.log(np.where(inside, x, 1.0)), -1)
    mean = special.psi(a)
    side = np.where(start < mean, -1.0, 1.0)
    width = reach(gamma_log_density(a, start + side * DISTANCES))
    points, weights = distances(side, start, width)
    w = start + side * points
    total = np.sum(weights * (w - mean) * np.exp(gamma_log_density(a, w)), axis=-1)
    return np.where(inside, -side[..., 0] * total, 0.0)


def betainc_by_a(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``betainc(a, b, x)`` by a."""
    return by_first_of_beta(a, b, special.logit(x))


def betainc_by_b(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``betainc(a, b, x)``, 1 - ``betainc(b, a, 1 - x)``, by b."""
    return -by_first_of_beta(b, a, -special.logit(x))


def by_first_of_beta(a: Any, b: Any, logit: Any) -> Any:
    """The derivative of the distribution function of the logit of a beta variable by its first shape."""
    inside = np.isfinite(logit)
    a, b = np.expand_dims(a, -1), np.expand_dims(b, -1)
    start = np.expand_dims(np.where(inside, logit, 0.0), -1)
    mean = special.psi(a) - special.psi(a + b)
    side = np.where(special.log_expit(start) < mean, -1.0, 1.0)
    width = reach(beta_log_density(a, b, start + side * DISTANCES))
    points, weights = distances(side, start, width)
    w = start + side * points
    total = np.sum(weights * (special.log_expit(w) - mean) * np.exp(beta_log_density(a, b, w)), axis=-1)
    return np.where(inside, -side[..., 0] * total, 0.0)


# --- trigamma function of complex numbers -----------------------------------------------------------------------------


def trigamma(x: Any) -> Any:
    """The derivative of psi, which SciPy has for real numbers: else from its values twelve further on, where few terms
    of its series are enough, or to the left by reflection (DLMF 5.5.4, 5.15.1)."""
    if not np.iscomplexobj(x):
        return special.zeta(2.0, x)
    left = np.real(x) < 0.0
    z = np.where(left, 1.0 - x, x)
    near = np.sum(1.0 / (np.expand_dims(z, -1) + np.arange(12.0)) ** 2, axis=-1)
    u = 1.0 / (z + 12.0)
    v = u * u
    series = u + v * (0.5 + u * (1.0 / 6.0 - v * (1.0 / 30.0 - v * (1.0 / 42.0 - v * (1.0 / 30.0 - v * 5.0 / 66.0)))))
    turned = (np.pi / np.sin(np.pi * np.where(left, x, 0.5))) ** 2 - near - series
    return np.where(left, turned, near + series)


# --- zeta function ----------------------------------------------------------------------------------------------------

TERMS = np.arange(10.0)
"""The terms that are summed one by one."""

_bernoulli = special.bernoulli(24)[2::2]
CORRECTIONS = _bernoulli / special.factorial(2 * np.arange(1, 13))
"""B_2j / (2 j)!, the coefficients of Euler and Maclaurin's formula."""


def zeta_by_s(s: Any, q: Any) -> Any:
    """The derivative of Hurwitz's zeta function by s, by the formula of Euler and Maclaurin (DLMF 25.11.5)."""
    s, q = np.expand_dims(s, -1), np.expand_dims(q, -1)
    log = np.log(q + TERMS)
    first = -np.sum(log * np.exp(-s * log), axis=-1, keepdims=True)
    end = q + float(len(TERMS))
    log = np.log(end)
    tail = -np.exp((1.0 - s) * log) * (log + 1.0 / (s - 1.0)) / (s - 1.0) - 0.5 * log * np.exp(-s * log)
    rising, slope = s, np.ones_like(s)  # s (s + 1) ... of 2 j - 1 factors, and its derivative by s
    for j in range(len(CORRECTIONS)):
        scale = CORRECTIONS[j] * np.exp((-s - (2 * j + 1)) * log)
        tail = tail + scale * (slope - rising * log)
        for k in (2 * j + 1, 2 * j + 2):
            rising, slope = rising * (s + k), slope * (s + k) + rising
    return (first + tail)[..., 0]
