"""What ``np.poly1d`` makes: a polynomial by its coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["Polynomial", "poly1d"]

LEADING = "its degree depends on the values; give coefficients of which the first is not zero"


def poly1d(c_or_r: Any, r: Any = False, variable: Any = None) -> Any:
    if isinstance(c_or_r, (Polynomial, np.poly1d)):
        return Polynomial(c_or_r.coeffs, c_or_r.variable if variable is None else variable)
    coefficients = np.poly(c_or_r) if r else np.atleast_1d(np.asarray(c_or_r))
    return Polynomial(coefficients, "x" if variable is None else variable)


def check_leading(coefficients: Any) -> None:
    """Refuse coefficients of which the first is zero: NumPy leaves it out."""
    if np.size(coefficients) > 1 and coefficients[0] == 0.0:
        rt.no_derivative("np.poly1d", LEADING)


def coefficients_of(other: Any) -> Any:
    return other.coeffs if isinstance(other, (Polynomial, np.poly1d)) else np.atleast_1d(np.asarray(other))


class Polynomial:
    """A polynomial, with the attributes that NumPy's have."""

    def __init__(self, coefficients: Any, variable: Any = "x") -> None:
        check_leading(coefficients)
        self.coeffs = coefficients
        self.variable = variable

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def o(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        return np.roots(self.coeffs)

    @property
    def r(self) -> Any:
        return np.roots(self.coeffs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.coeffs, dtype=dtype)

    def __call__(self, val: Any) -> Any:
        if isinstance(val, (Polynomial, np.poly1d)):
            total = Polynomial(self.coeffs[:1])
            for k in range(1, len(self.coeffs)):
                total = total * val + self.coeffs[k]
            return total
        return np.polyval(self.coeffs, val)

    def __len__(self) -> Any:
        return len(self.coeffs) - 1

    def __iter__(self) -> Iterator[Any]:
        return iter(self.coeffs)

    def __getitem__(self, power: Any) -> Any:
        order = len(self.coeffs) - 1
        return self.coeffs[order - power] if 0 <= power <= order else 0

    def __neg__(self) -> Any:
        return Polynomial(-self.coeffs)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return Polynomial(np.polyadd(self.coeffs, coefficients_of(other)))

    def __radd__(self, other: Any) -> Any:
        return Polynomial(np.polyadd(coefficients_of(other), self.coeffs))

    def __sub__(self, other: Any) -> Any:
        return Polynomial(np.polysub(self.coeffs, coefficients_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return Polynomial(np.polysub(coefficients_of(other), self.coeffs))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (Polynomial, np.poly1d)) or np.ndim(other) > 0:
            return Polynomial(np.polymul(self.coeffs, coefficients_of(other)))
        return Polynomial(self.coeffs * other)

    def __rmul__(self, other: Any) -> Any:
        if isinstance(other, (Polynomial, np.poly1d)) or np.ndim(other) > 0:
            return Polynomial(np.polymul(coefficients_of(other), self.coeffs))
        return Polynomial(other * self.coeffs)

    def __pow__(self, exponent: Any) -> Any:
        result = np.ones(1)
        for _ in range(int(exponent)):
            result = np.polymul(self.coeffs, result)
        return Polynomial(result)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (Polynomial, np.poly1d)) or np.ndim(other) > 0:
            quotient, remainder = np.polydiv(self.coeffs, coefficients_of(other))
            return Polynomial(quotient), Polynomial(remainder)
        return Polynomial(self.coeffs / other)

    def deriv(self, m: Any = 1) -> Any:
        return Polynomial(np.polyder(self.coeffs, m))

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        return Polynomial(np.polyint(self.coeffs, m, k))
