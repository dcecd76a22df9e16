"""Whether the rule of a function knows the arguments of a call."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.abstract.parts import is_inexact
from s2s.builder.operands import is_operator
from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.values import Array, Unknown
from s2s.directives.surrogates import is_piecewise
from s2s.errors import DifferentiationError
from s2s.rules import table
from s2s.rules.samples import Draw
from s2s.runtime._checks import STACKED
from s2s.specialize.calls.intrinsics import literal
from s2s.specialize.calls.policies import has_decided, name_of_step
from s2s.specialize.frames import name_of, parameters_of
from s2s.specialize.site import CallSite

__all__ = ["check_conversion", "check_keywords", "check_ranks", "check_required", "unsupported"]


def unsupported(site: CallSite, rule: Any) -> DifferentiationError | None:
    """The refusal of arguments that a rule does not support. Raises where there is no derivative."""
    fn = site.fn
    if rule.kind == "refuse":
        raise site.refusal("S2S202", name=name_of(fn), reason=rule.reason)
    if rule.kind not in ("linear", "vjp", "straight_through", "partials", "several"):
        return None
    try:
        bound = table.bind(rule, tuple(map(literal, site.args)), {k: literal(a) for k, a in site.kwargs.items()})
    except TypeError as problem:
        raise site.raised(problem) from None
    extra = table.unsupported(rule, bound)
    if extra:
        _check_integers(site, _asked_dtype(site, rule), site.given)
    if extra == ["where"] and isinstance(fn, np.ufunc):
        reason = "what it leaves out with `where` holds anything; give `out` too, or choose with `np.where`"
        return site.refusal("S2S202", name=name_of(fn), reason=reason)
    return site.refusal("S2S203", name=name_of(fn), keyword=", ".join(extra)) if extra else None


def check_ranks(site: CallSite, rule: Any) -> None:
    """Refuse stacks of matrices that a model is not for."""
    if stacked := _stacked(site, rule):
        raise stacked


def _stacked(site: CallSite, rule: Any) -> DifferentiationError | None:
    """The refusal of an array of higher rank than any in the samples of a rule of ``scipy.linalg``, or of
    ``statistics``: the function does each matrix of a stack, or compares rows, its rule is for what its samples show.
    A rank that is not known is checked by the code."""
    if not str(getattr(site.fn, "__module__", "")).startswith(("scipy.linalg", "statistics")):
        return None
    for name, atom in _by_name(site, rule).items():
        value = site.value(atom) if isinstance(atom, (ir.Var, ir.Const)) else None
        ranks = [_rank_of(table.bind(rule, sample.args, sample.kwargs).get(name)) for sample in rule.samples]
        most = max([r for r in ranks if r is not None], default=None)
        if most is None:
            continue
        if isinstance(value, Unknown) or (isinstance(value, Array) and value.shape is None):
            site.builder.call(
                rt.check_rank, atom, ir.Const(most), ir.Const(name_of(site.fn)), span=site.span, effect=True)
        elif isinstance(value, Array) and len(value.shape) > most:  # type: ignore[arg-type]
            return site.refusal("S2S202", name=name_of(site.fn), reason=STACKED)
    return None


def _by_name(site: CallSite, rule: Any) -> dict[str, Any]:
    """The arguments of a call by the parameters of its rule; none where they do not fit."""
    try:
        return table.bind(rule, tuple(site.args), dict(site.kwargs))
    except TypeError:
        return {}


def _rank_of(argument: Any) -> int | None:
    """The rank of an array in a sample, None for what is none."""
    if isinstance(argument, Draw):
        return len(argument.shape or ())
    return argument.ndim if isinstance(argument, np.ndarray) else None


def check_keywords(site: CallSite, rule: Any) -> None:
    """Refuse a keyword that a rule does not know and its function may: a ufunc has more than are in a rule."""
    known = rule.params.parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()) or isinstance(site.fn, types.FunctionType):
        return
    for name in site.kwargs:
        if name not in known and (isinstance(site.fn, np.ufunc) or _takes_keyword(site.fn, name)):
            _check_integers(site, _asked_dtype(site, rule), site.given)
            raise site.refusal("S2S203", name=name_of(site.fn), keyword=name)


def check_required(site: CallSite, rule: Any, made: ir.Atom) -> None:
    """Write what a rule requires of the arguments and the result of a call: it holds in every mode."""
    if rule.requires is None:
        return
    given = {"y": made, **table.bind(rule, tuple(site.args), dict(site.kwargs))}
    args = [given[name] for name in parameters_of(rule.requires)]
    atoms = [a if isinstance(a, (ir.Var, ir.Const)) else ir.Const(a) for a in args]
    site.specializer.inliner.inline(rule.requires, atoms, {}, site.frame, site.builder, site.span)


def check_conversion(site: CallSite, made: ir.Atom) -> None:
    """Refuse a function that converts to integers on its way, as ``np.prod(x, dtype=int)`` does: neither its rule nor a
    policy for conversions says what that contributes. The same of one that discards imaginary parts, and is not
    linear."""
    context, fn, rule = site.context, site.fn, table.find(site.fn)
    if not context.is_varied(made) or is_operator(fn) or is_piecewise(fn) or has_decided(site.frame):
        return
    asked = _asked_dtype(site, rule)
    dtype = dtype_of(site.value(made)) or asked
    call = context.definitions.get(made)  # type: ignore[arg-type]  # it has arrays for lists
    own = isinstance(call, ir.Call) and call.fn == ir.Const(fn)
    given = [*call.args, *(a for _, a in call.kwargs)] if own else site.given  # type: ignore[union-attr]
    _check_integers(site, dtype, given)
    atoms = [a.atom if isinstance(a, ir.Star) else a for a in given]
    of_complex = any((found := dtype_of(site.value(a))) is not None and found.kind == "c" for a in atoms)
    if asked is not None and asked.kind == "f" and of_complex and rule is not None and rule.kind != "linear":
        raise site.refusal("S2S202", name=name_of(fn), reason="it discards imaginary parts; take np.real first")


def _check_integers(site: CallSite, dtype: np.dtype[Any] | None, given: Iterable[Any]) -> None:
    """Refuse a conversion of differentiated numbers to an integer dtype."""
    atoms = [a.atom if isinstance(a, ir.Star) else a for a in given]
    if dtype is not None and dtype.kind in "iu" and any(
        site.context.is_varied(a) and is_inexact(site.value(a)) for a in atoms
    ):
        raise site.refusal("S2S545", name=name_of_step(site.fn))


def _asked_dtype(site: CallSite, rule: Any) -> np.dtype[Any] | None:
    """The dtype that a call asks for, by keyword where its rule does not know it."""
    asked = site.kwargs.get("dtype")
    if asked is None and rule is not None and "dtype" in rule.params.parameters:
        asked = _by_name(site, rule).get("dtype")
    return np.dtype(asked.value) if isinstance(asked, ir.Const) and asked.value is not None else None


def _takes_keyword(fn: Any, name: str) -> bool:
    try:
        parameters = signature_of(fn).parameters.values()
    except (ValueError, TypeError):
        return False
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)
