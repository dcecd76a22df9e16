"""Integrals: an integrand and the pieces of its range go in, a function comes out whose derivatives are the integrals
of the integrand's derivatives.

    I = int f(u, a) du    gives    I_dot = int df/da a_dot du    and    a_bar = int (df/da)^T I_bar du

They are integrated to a tolerance of their own, see ``models.quadrature``, and are integrals that are differentiated in
turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import api
from s2s.directives.user_rules import give_for_rest
from s2s.models.quadrature import integral, integrated, look, looked, of_derivative
from s2s.models.solutions import for_value

__all__ = ["cotangents_of_integral", "tangent_of_integral"]


def cotangents_of_integral(
    wanted: tuple[bool, ...], out: Any, out_bar: Any, integrand: Any, pieces: Any, like: Any, /, *args: Any
) -> tuple[Any, ...]:
    """The cotangents of the arguments that are ``wanted``: one integral, of all their numbers in a row."""
    own = for_value(of_derivative, pieces, integrand, args, wanted)
    is_number = np.ndim(like) == 0 and not np.iscomplexobj(like)
    moving = [x for x, is_wanted in zip(args, wanted) if is_wanted]

    def of_moving(u: Any, *moved: Any) -> Any:
        given, k = [], 0
        for x, is_wanted in zip(args, wanted):
            if is_wanted:
                given.append(moved[k])
                k = k + 1
            else:
                given.append(x)
        return integrand(u, *given) if is_number else _value(integrand(u, *given))

    def slopes(u: Any) -> Any:
        _, *bars = api.vjp(of_moving, u, *moving)[1](1.0 if is_number else out_bar)
        return tuple(bars)

    count = 0
    for x in moving:
        count = count + _count(x)
    row = integrated(slopes, own, np.zeros(count))
    if is_number:
        row = out_bar * row
    bars: list[Any] = []
    place = 0
    for x, is_wanted in zip(args, wanted):
        if is_wanted:
            bars.append(_part(row, place, x))
            place = place + _count(x)
        else:
            bars.append(None)
    return tuple(bars)


def tangent_of_integral(
    out: Any, tangents: Any, integrand: Any, pieces: Any, like: Any, /, *args: Any
) -> Any:
    """The tangent of an integral: the integral of the integrand's tangent."""
    own = for_value(of_derivative, pieces, integrand, args, tangents[3:])
    is_number = np.ndim(like) == 0

    def value(u: Any, *args: Any) -> Any:
        return integrand(u, *args) if is_number else _value(integrand(u, *args))

    def rate(u: Any) -> Any:
        return api.jvp(value, (u, *args), (None, *tangents[3:]))[1]

    return integrated(rate, own, 0.0 * like if is_number else np.zeros_like(like))


def cotangents_of_looked(
    wanted: tuple[bool, ...], out: Any, out_bar: Any, f: Any, pieces: Any, zero: Any, /, *args: Any
) -> tuple[Any, ...]:
    """Zeros, whose derivatives are looked at in turn."""
    further = float(looked(f, for_value(look, pieces, f, args, wanted), 0.0, *args))
    bars: list[Any] = []
    for x, is_wanted in zip(args, wanted):
        bars.append(_filled(x, further) if is_wanted else None)
    return tuple(bars)


def tangent_of_looked(out: Any, tangents: Any, f: Any, pieces: Any, zero: Any, /, *args: Any) -> Any:
    """Zero, whose derivatives are looked at in turn."""
    return looked(f, for_value(look, pieces, f, args, tangents[3:]), 0.0, *args)


def _filled(x: Any, value: Any) -> Any:
    """A number for each of an argument."""
    if isinstance(x, tuple):
        return tuple([_filled(part, value) for part in x])
    return np.zeros_like(x) + value


def _count(x: Any) -> Any:
    """How many real numbers a number or an array has."""
    return 2 * np.size(x) if np.iscomplexobj(x) else np.size(x)


def _value(found: Any) -> Any:
    """The value of an integrand, of which several parts are put in a row."""
    if not isinstance(found, tuple):
        return found
    rows = []
    for part in found:
        if np.iscomplexobj(part):
            rows.append(np.ravel(np.real(part)))
            rows.append(np.ravel(np.imag(part)))
        else:
            rows.append(np.ravel(part))
    return np.concatenate(rows)


def _part(row: Any, place: Any, x: Any) -> Any:
    """The numbers of a row from a place on, in the form of a number or an array."""
    size = np.size(x)
    if np.iscomplexobj(x):
        row = row[place : place + size] + 1j * row[place + size : place + 2 * size]
        return row[0] if np.ndim(x) == 0 else np.reshape(row, np.shape(x))
    return row[place] if np.ndim(x) == 0 else np.reshape(row[place : place + size], np.shape(x))


give_for_rest(
    integral, 3, "scipy.integrate.quad", cotangents_of_integral, tangent_of_integral, takes_wanted=True)
give_for_rest(looked, 3, "scipy.integrate.solve_ivp", cotangents_of_looked, tangent_of_looked, takes_wanted=True)
