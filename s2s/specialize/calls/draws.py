"""Draws of random numbers by methods of streams: ``rng.normal(mu, s)``, ``np.random.normal(mu, s)``.

One with something differentiated is what its model says (``models/draws.py``). Any other runs as it is written, and
gives what examples give (``analysis/abstract/draws.py``).
"""

from __future__ import annotations

import types
from typing import Any

from s2s.analysis.abstract.draws import class_of_made, is_draw, result_of_draw
from s2s.core import ir
from s2s.core.inspection import class_attribute
from s2s.core.values import UNKNOWN, AbstractValue
from s2s.specialize.site import NOT_HANDLED, CallSite
from s2s.versions.signature import is_stream

__all__ = ["drawn", "is_method", "read"]


def is_method(kind: type) -> bool:
    """Whether it may be the type of the methods of streams, bound or in their classes."""
    is_known = kind is types.MethodType or kind is types.MethodDescriptorType
    return is_known or kind.__name__ == "cython_function_or_method"


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
    if site.is_varied or not is_draw(method) or (is_bound and not is_stream(type(site.fn.__self__))):
        return NOT_HANDLED
    value: AbstractValue = UNKNOWN
    if not site.is_spread:
        args = [site.value(atom) for atom in site.args]
        kwargs = {key: site.value(atom) for key, atom in site.kwargs.items()}
        value = result_of_draw(site.context.evaluator, method, args[not is_bound :], kwargs)
    return site.leave(value=value, harmless=True)
