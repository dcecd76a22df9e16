"""Draws of random numbers by methods of streams: ``rng.normal(mu, s)``, ``np.random.normal(mu, s)``.

One with something differentiated is what its model says (``models/draws.py``). Any other runs as it is written, and
gives what examples give (``analysis/abstract/draws.py``).
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from s2s.analysis.abstract.draws import class_of_made, is_draw, result_of_draw
from s2s.core import ir
from s2s.core.inspection import class_attribute
from s2s.core.values import UNKNOWN, AbstractValue
from s2s.specialize.site import NOT_HANDLED, CallSite
from s2s.versions.signature import STREAMS

__all__ = ["METHODS", "drawn", "read"]

METHODS = (types.MethodType, type(np.random.Generator.normal))
"""The types of the methods of streams, bound and in their classes."""


def read(site: CallSite) -> ir.Atom | None:
    """A method that was read from a stream that is made here of a number."""
    found = site.context.definition(site.callee, getattr)
    if found is None or not isinstance(found[1], ir.Const) or site.is_spread:
        return NOT_HANDLED
    kind = class_of_made(site.context.definitions.get(found[0])) if isinstance(found[0], ir.Var) else None
    method = None if kind is None else class_attribute(kind, str(found[1].value), None)
    if method is None or not (is_draw(method) or site.is_varied):
        return NOT_HANDLED
    return site.instead(method, [found[0], *site.args], site.kwargs)


def drawn(site: CallSite) -> ir.Atom | None:
    """A method of a stream, in its class or bound, as the functions of ``np.random`` are, with nothing
    differentiated."""
    is_bound = isinstance(site.fn, types.MethodType)
    method: Any = site.fn.__func__ if is_bound else site.fn
    if site.is_varied or not is_draw(method) or (is_bound and type(site.fn.__self__) not in STREAMS):
        return NOT_HANDLED
    value: AbstractValue = UNKNOWN
    if not site.is_spread:
        args = [site.value(atom) for atom in site.args]
        kwargs = {key: site.value(atom) for key, atom in site.kwargs.items()}
        value = result_of_draw(site.context.evaluator, method, args[not is_bound :], kwargs)
    return site.leave(value=value, harmless=True)
