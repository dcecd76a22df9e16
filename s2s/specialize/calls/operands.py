"""Operands whose classes have operators or reductions of their own: a product with a matrix of ``np.matrix``, of a
masked array, of a sparse matrix is not what the rule of the operator says, and what a function gives for one is of its
class, too.

Where the class is known the call is refused; where nothing is known of a value, it is looked at when the program runs.
"""

from __future__ import annotations

import operator
from typing import Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import type_of
from s2s.builder.virtual_heap import is_instance, state_of
from s2s.core import ir
from s2s.core.inspection import has_hook, has_own_operators, is_hashable, public_module
from s2s.core.operators import BINARY
from s2s.core.values import ArrayLike, Object, Unknown
from s2s.rules import table
from s2s.specialize.frames import in_rule
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["checked"]


def checked(site: CallSite) -> ir.Atom | None:
    """A call of an operator, or of a function with a rule, with values of which one carries a derivative."""
    if in_rule(site.frame) or site.specializer.sweeping or site.is_spread or not site.is_varied:
        return NOT_HANDLED
    rule = table.find(site.fn)
    is_operator = is_hashable(site.fn) and site.fn in BINARY
    if not is_operator and (rule is None or rule.kind in ("zero", "refuse")):
        return NOT_HANDLED
    package = "" if is_operator else _package_of(site.fn)
    if package == "s2s":  # in generated code, which was made for what was looked at
        return NOT_HANDLED
    for atom in site.given[:1] if site.fn is operator.getitem else site.given:  # a key is no operand
        value = site.value(atom)
        kind = value.type if isinstance(value, (ArrayLike, Object)) else type_of(value)
        state = None if is_operator else state_of(site.context, atom)
        if state is not None and is_instance(state) and has_hook(state.kind, "__array_ufunc__", "__array_function__"):
            kind = state.kind  # NumPy asks the object what the function is
        if kind is not None and has_own_operators(kind) and not _is_of(kind, package):
            raise site.refusal("S2S137", name=kind.__name__)
        if kind is None and isinstance(value, Unknown) and _is_looked_at(site, atom):
            more = (ir.Const(package),) if package else ()
            site.builder.call(rt.check_operand, atom, *more, span=site.span, effect=True)
    return NOT_HANDLED


def _package_of(fn: Any) -> str:
    """The package that a function is one of, which knows its own classes; none for those of NumPy, and of Python, which
    take all arrays."""
    package = (public_module(fn) or "").partition(".")[0]
    return "" if package in ("numpy", "builtins", "math", "_operator") else package


def _is_of(kind: type, package: str) -> bool:
    return bool(package) and kind.__module__.partition(".")[0] == package


def _is_looked_at(site: CallSite, atom: ir.Atom) -> bool:
    """Whether a value of unknown kind is one that the program finds: a differentiated one comes of rules, and of an
    argument the caller says the kind."""
    context = site.context
    return not (context.is_varied(atom) or context.is_virtual(atom) or atom in site.specializer.undescribed)
