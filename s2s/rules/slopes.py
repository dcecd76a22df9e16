"""Slopes that stand for the derivative of a step, by policy and kind of step.

``k`` is the sharpness, ``d`` the distance from the nearest jump. The slope of a logistic step is
k s (1 - s) = k / 4 (1 - tanh(k d / 2)^2), s = 1 / (1 + exp(-k d)): written so, nothing overflows. Remainders give the
distance, because they have the derivative 1 where a rounded value subtracted would be differentiated as what it rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SLOPES"]

Slope = Callable[..., Any]


def sigmoid_of_decimals(y: Any, x: Any, decimals: Any, k: float) -> Any:
    """Steps halfway between the multiples of the last decimal."""
    if decimals is None:
        return 0.25 * k * (1.0 - np.tanh(0.5 * k * (x % 1.0 - 0.5)) ** 2)
    return 0.25 * k * (1.0 - np.tanh(0.5 * k * (x * 10.0**decimals % 1.0 - 0.5)) ** 2)


def linear_of_decimals(y: Any, x: Any, decimals: Any, k: float) -> Any:
    """Ramps halfway between the multiples of the last decimal."""
    if decimals is None:
        return k * (np.abs(x % 1.0 - 0.5) <= 0.5 / k)
    return k * (np.abs(x * 10.0**decimals % 1.0 - 0.5) <= 0.5 / k)


SLOPES: dict[tuple[str, str], tuple[Slope | None, ...]] = {
    ("sigmoid", "integers"): (lambda y, x, k: 0.25 * k * (1.0 - np.tanh(0.5 * k * ((x + 0.5) % 1.0 - 0.5)) ** 2),),
    ("sigmoid", "toward zero"): (
        lambda y, x, k: (np.abs(x) > 0.5) * (0.25 * k * (1.0 - np.tanh(0.5 * k * ((x + 0.5) % 1.0 - 0.5)) ** 2)),
    ),
    ("sigmoid", "halves"): (lambda y, x, k: 0.25 * k * (1.0 - np.tanh(0.5 * k * (x % 1.0 - 0.5)) ** 2),),
    ("sigmoid", "decimals"): (sigmoid_of_decimals, None),
    ("sigmoid", "quotient"): (
        lambda y, a, b, k: 0.25 * k * (1.0 - np.tanh(0.5 * k * ((a / b + 0.5) % 1.0 - 0.5)) ** 2) / b,
        lambda y, a, b, k: -0.25 * k * (1.0 - np.tanh(0.5 * k * ((a / b + 0.5) % 1.0 - 0.5)) ** 2) * a / (b * b),
    ),
    ("sigmoid", "sign"): (lambda y, x, k: 0.5 * k * (1.0 - np.tanh(0.5 * k * x) ** 2),),
    ("sigmoid", "heaviside"): (lambda y, x, h, k: 0.25 * k * (1.0 - np.tanh(0.5 * k * x) ** 2), None),
    ("linear", "integers"): (lambda y, x, k: k * (np.abs((x + 0.5) % 1.0 - 0.5) <= 0.5 / k),),
    ("linear", "toward zero"): (lambda y, x, k: k * ((np.abs(x) > 0.5) & (np.abs((x + 0.5) % 1.0 - 0.5) <= 0.5 / k)),),
    ("linear", "halves"): (lambda y, x, k: k * (np.abs(x % 1.0 - 0.5) <= 0.5 / k),),
    ("linear", "decimals"): (linear_of_decimals, None),
    ("linear", "quotient"): (
        lambda y, a, b, k: k * (np.abs((a / b + 0.5) % 1.0 - 0.5) <= 0.5 / k) / b,
        lambda y, a, b, k: -k * (np.abs((a / b + 0.5) % 1.0 - 0.5) <= 0.5 / k) * a / (b * b),
    ),
    ("linear", "sign"): (lambda y, x, k: 2.0 * k * (np.abs(x) <= 0.5 / k),),
    ("linear", "heaviside"): (lambda y, x, h, k: k * (np.abs(x) <= 0.5 / k), None),
    ("hard_tanh", "sign"): (lambda y, x, k: k * (np.abs(x) <= 1.0 / k),),
    ("straight_through", "sign"): (lambda y, x: 1.0,),
    ("straight_through", "heaviside"): (lambda y, x, h: 1.0, None),
}
"""The partial derivatives by policy and kind of step: ``(y, *inputs, sharpness)``."""
