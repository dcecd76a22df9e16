"""Rotations between rotations: what ``Slerp`` and ``RotationSpline`` of ``scipy.spatial.transform`` compute, on
quaternions with the scalar last.

The rotation vectors of a spline are cubic in time, so that the angular rate and its derivative are continuous. The
rates fulfil equations that SciPy solves by iteration (N. Mayorov, "Smooth Attitude Interpolation", 2019): they are
differentiated as the solution of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, RotationSpline

from s2s.models.optimize import array_like
from s2s.models.piecewise import Piecewise, piece_of
from s2s.models.solutions import attached, for_value

__all__ = ["slerp", "slerp_call", "spline", "spline_call"]

# --- quaternions ------------------------------------------------------------------------------------------------------


def turned(a: Any, b: Any) -> Any:
    """The rotations b, then a."""
    u, v = a[:, :3], b[:, :3]
    vector = a[:, 3:] * v + b[:, 3:] * u + np.cross(u, v)
    return np.concatenate([vector, a[:, 3:] * b[:, 3:] - np.sum(u * v, axis=1)[:, None]], axis=1)


def vectors_of(q: Any) -> Any:
    """The rotation vectors of quaternions, at most half a turn long."""
    sign = np.where(q[:, 3:] < 0.0, -1.0, 1.0)
    v, w = sign * q[:, :3], sign * q[:, 3:]
    square = np.sum(v * v, axis=1)[:, None]
    small = square < 1e-8
    length = np.sqrt(np.where(small, 1.0, square))
    near = 2.0 / w - 2.0 * square / (3.0 * w**3)
    return v * np.where(small, near, 2.0 * np.arctan2(length, w) / length)


def quaternions_of(r: Any) -> Any:
    """The quaternions of rotation vectors."""
    square = np.sum(r * r, axis=1)[:, None]
    small = square < 1e-6
    angle = np.sqrt(np.where(small, 1.0, square))
    share = np.where(small, 0.5 - square / 48.0 + square**2 / 3840.0, np.sin(0.5 * angle) / angle)
    scalar = np.where(small, 1.0 - square / 8.0 + square**2 / 384.0, np.cos(0.5 * angle))
    return np.concatenate([share * r, scalar], axis=1)


def between(q: Any) -> Any:
    """The rotation vectors from each quaternion to the next."""
    return vectors_of(turned(q[:-1] * np.array([-1.0, -1.0, -1.0, 1.0]), q[1:]))


def rotated(q: Any, vectors: Any, single: Any) -> Any:
    """Quaternions turned further, as rotations."""
    made = np.reshape(turned(q, quaternions_of(vectors)), (np.shape(q)[0], 4))
    return Rotation.from_quat(made[0] if single else made)


# --- at a constant rate -----------------------------------------------------------------------------------------------


def segment_of(times: Any, at: Any) -> Any:
    """Which of the intervals of times each time lies in. Raises ValueError for one that lies in none."""
    if np.any(at < times[0]) or np.any(at > times[-1]):
        raise ValueError(
            f"Interpolation times must be within the range [{times[0]}, {times[-1]}], both inclusive.")
    return np.maximum(np.searchsorted(times, at) - 1, 0)


def slerp_at(times: Any, q: Any, rotvecs: Any, at: Any) -> Any:
    places = np.atleast_1d(at)
    segment = segment_of(times, places)
    share = (places - times[segment]) / (times[segment + 1] - times[segment])
    return rotated(q[segment], rotvecs[segment] * share[:, None], np.ndim(at) == 0)


class Turns:
    """What ``Slerp`` gives."""

    def __init__(self, times: Any, q: Any) -> None:
        self.times = times
        self.timedelta = np.diff(times)
        self.q = q[:-1]
        self.rotvecs = between(q)

    @property
    def rotations(self) -> Any:
        return Rotation.from_quat(self.q)

    def __call__(self, times: Any) -> Any:
        return slerp_at(self.times, self.q, self.rotvecs, np.asarray(times) * 1.0)


def slerp(times: Any, rotations: Any) -> Any:
    return Turns(np.asarray(times) * 1.0, np.reshape(rotations.as_quat(), (-1, 4)))


def slerp_call(self: Any, times: Any) -> Any:
    return slerp_at(self.times, np.reshape(self.rotations.as_quat(), (-1, 4)), self.rotvecs, np.asarray(times) * 1.0)


# --- at a rate that is continuous -------------------------------------------------------------------------------------


def skew(r: Any) -> Any:
    """The matrices that take the cross product with vectors."""
    x, y, z = r[:, 0], r[:, 1], r[:, 2]
    none = 0.0 * x
    return np.stack(
        [np.stack([none, -z, y], axis=1), np.stack([z, none, -x], axis=1), np.stack([-y, x, none], axis=1)], axis=1)


def safe_angle(r: Any) -> Any:
    """The squares of the lengths of vectors, which are small, and the lengths, one for these."""
    square = np.sum(r * r, axis=1)
    small = square < 1e-4
    return square, small, np.sqrt(np.where(small, 1.0, square))


def to_vector_rates(r: Any) -> Any:
    """The matrices that make the derivatives of rotation vectors of angular rates."""
    square, small, a = safe_angle(r)
    k = np.where(small, 1 / 12 + square / 720 + square**2 / 30240, (1.0 - 0.5 * a / np.tan(0.5 * a)) / a**2)
    s = skew(r)
    return np.eye(3) + 0.5 * s + k[:, None, None] * (s @ s)


def to_angular_rates(r: Any) -> Any:
    """The inverse of ``to_vector_rates``."""
    square, small, a = safe_angle(r)
    first = np.where(small, 0.5 - square / 24 + square**2 / 720, (1.0 - np.cos(a)) / a**2)
    second = np.where(small, 1 / 6 - square / 120 + square**2 / 5040, (a - np.sin(a)) / a**3)
    s = skew(r)
    return np.eye(3) - first[:, None, None] * s + second[:, None, None] * (s @ s)


def quadratic_part(r: Any, rate: Any) -> Any:
    """What the angular acceleration has of the square of the derivatives of rotation vectors."""
    square, small, a = safe_angle(r)
    first = np.where(
        small, 1 / 12 - square / 180 + square**2 / 6720, (2.0 - 2.0 * np.cos(a) - a * np.sin(a)) / a**4)
    second = np.where(
        small, square / 1260 - 1 / 60 - square**2 / 60480, (3.0 * np.sin(a) - 2.0 * a - a * np.cos(a)) / a**5)
    third = np.where(small, 1 / 6 - square / 120 + square**2 / 5040, (a - np.sin(a)) / a**3)
    once = np.cross(r, rate)
    along = np.sum(r * rate, axis=1)[:, None]
    return along * (first[:, None] * once + second[:, None] * np.cross(r, once)) + third[:, None] * np.cross(rate, once)


def apply(matrices: Any, vectors: Any) -> Any:
    return np.sum(matrices * vectors[:, None, :], axis=2)


def rates_found(times: Any, q: Any) -> Any:
    """The angular rates at the inner times, as SciPy finds them."""
    return RotationSpline(times, Rotation.from_quat(q)).interpolator.c[2, 1:]


def rates_of(times: Any, q: Any, r: Any, steps: Any) -> Any:
    """The angular rates at all times but the last, and the derivatives of the rotation vectors at the end of each step.
    """
    plain = r / steps
    if np.shape(r)[0] == 1:
        return plain, plain
    forth, back = to_vector_rates(r), to_angular_rates(r)
    bend = 6.0 * (r[:-1] / steps[:-1] ** 2 + r[1:] / steps[1:] ** 2)

    def residual(w: Any) -> Any:
        before, after = np.concatenate([plain[:1], w[:-1]]), np.concatenate([w[1:], plain[-1:]])
        linear = 4.0 * (1.0 / steps[:-1] + 1.0 / steps[1:]) * w
        beside = 2.0 * apply(back[:-1], before) / steps[:-1] + 2.0 * apply(forth[1:], after) / steps[1:]
        return linear + beside - bend + quadratic_part(r[:-1], apply(forth[:-1], w))

    found = array_like(np.shape(bend), for_value(rates_found, times, q))
    inner = attached(residual, found)
    return np.concatenate([plain[:1], inner]), apply(forth, np.concatenate([inner, plain[-1:]]))


class Turning:
    """What ``RotationSpline`` gives."""

    def __init__(self, times: Any, q: Any) -> None:
        self.times = times
        self.q = q
        r, steps = between(q), np.diff(times)[:, None]
        rates, ends = rates_of(times, q, r, steps)
        third = (steps * rates + steps * ends - 2.0 * r) / steps**3
        second = (3.0 * r - 2.0 * steps * rates - steps * ends) / steps**2
        self.interpolator = Piecewise(np.stack([third, second, rates, 0.0 * rates]), times, True)

    @property
    def rotations(self) -> Any:
        return Rotation.from_quat(self.q)

    def __call__(self, times: Any, order: Any = 0) -> Any:
        return spline_at(self.times, self.q, self.interpolator, np.asarray(times) * 1.0, order)


def spline_at(times: Any, q: Any, vectors: Any, at: Any, order: Any) -> Any:
    places, single = np.atleast_1d(at), np.ndim(at) == 0
    r = vectors(places)
    if order == 0:
        return rotated(q[piece_of(times, places)], r, single)
    rate = vectors(places, 1)
    if order == 1:
        made = apply(to_angular_rates(r), rate)
    else:
        made = apply(to_angular_rates(r), vectors(places, 2)) + quadratic_part(r, rate)
    return made[0] if single else made


def spline(times: Any, rotations: Any) -> Any:
    return Turning(np.asarray(times) * 1.0, np.reshape(rotations.as_quat(), (-1, 4)))


def spline_call(self: Any, times: Any, order: Any = 0) -> Any:
    q = np.reshape(self.rotations.as_quat(), (-1, 4))
    return spline_at(self.times, q, self.interpolator, np.asarray(times) * 1.0, order)
