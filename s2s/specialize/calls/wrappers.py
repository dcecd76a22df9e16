"""Calls of functions that a package for derivatives has wrapped: the function inside, or the rule that was given to it
there."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import shape_of
from s2s.core import ir
from s2s.core.values import Array, Known, Scalar
from s2s.core.wrappers import (
    autograd_operator,
    autograd_primitive,
    autograd_rules,
    is_prange,
    machine_code_of_numba,
    namesake,
    numba_type,
    numba_ufunc,
    written_in_python,
)
from s2s.directives.user_rules import ANYTHING
from s2s.models import autograd as models
from s2s.models import numba as loops
from s2s.models import numexpr
from s2s.rules import table
from s2s.rules.table import Rule
from s2s.specialize.frames import name_of
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["of_autograd", "of_compiled", "of_numba", "of_numexpr", "with_dtypes"]


def of_autograd(site: CallSite) -> ir.Atom | None:
    """A function of autograd: a primitive is what is inside of it, where s2s can differentiate that; else it has the
    rule that autograd was given. A derivative that was made before is that of s2s."""
    fn = site.fn
    if not (fn.__module__ or "").startswith("autograd."):
        return NOT_HANDLED
    inside, rule = autograd_primitive(fn), table.find(fn)
    if rule is not None and not rule.by_user:
        return NOT_HANDLED
    made = autograd_operator(fn)
    if made is not None and made[0] in models.OPERATORS:
        name, f, argnum = made
        site.guards.reached(f, fn, "fun")
        inner = site.inline(models.OPERATORS[name], [ir.Const(f), ir.Const(argnum)])
        return site.instead_of_atom(inner, site.args, site.kwargs)
    same = namesake(fn, "autograd.numpy.numpy_wrapper", np)
    if same is not None:
        return site.instead(same, site.args, site.kwargs)
    if inside is None:
        return NOT_HANDLED
    vjp, jvp = autograd_rules(fn)
    if table.find(inside) is not None or vjp is jvp is None or not site.is_varied:
        return site.instead(inside, site.args, site.kwargs)
    _give(site, inside, vjp, jvp)
    return NOT_HANDLED


def of_compiled(site: CallSite) -> ir.Atom | None:
    """A compiled function of a package that has the same one in Python."""
    same = written_in_python(site.fn)
    return NOT_HANDLED if same is None else site.instead(same, site.args, site.kwargs)


def of_numexpr(site: CallSite) -> ir.Atom | None:
    """An expression of numexpr: the same over NumPy, where something differentiated flows into it."""
    is_text = numexpr.is_evaluate(site.fn)
    if not (is_text or numexpr.is_program(site.fn)) or not site.is_varied:
        return NOT_HANDLED
    if site.kwargs.get("out", ir.Const(None)) != ir.Const(None):
        raise site.refusal("S2S203", name=name_of(site.fn), keyword="out")
    if not is_text:
        found = numexpr.function_of_program(site.fn)
        return NOT_HANDLED if found is None else site.instead(found, site.args)
    text = site.value(site.args[0]) if site.args else None
    given = site.entries(site.args[1] if len(site.args) > 1 else site.kwargs.get("local_dict", ir.Const(None)))
    if not isinstance(text, Known) or not isinstance(text.value, str) or given is None:
        return NOT_HANDLED
    found, names = numexpr.function_of_text(text.value), numexpr.names_in(text.value)
    if found is None or names is None or not given.keys() >= {*names}:
        return NOT_HANDLED
    return site.instead(found, [given[name] for name in names])


_MORE = "give `defvjp` a function for each argument that is differentiated, by `argnums` for some of them"

_given: weakref.WeakKeyDictionary[types.FunctionType, tuple[Any, Any]] = weakref.WeakKeyDictionary()
"""What the rules of primitives were made of."""


def _give(site: CallSite, inside: Any, vjp: Any, jvp: Any) -> None:
    """Give a primitive the rule that autograd has for it. Raises where it has none for an argument that is
    differentiated."""
    pulls, pushes = _by_argument(vjp, "vjp"), _by_argument(jvp, "jvp")
    has = pulls if vjp is not None else pushes
    if has is not None and any(site.context.is_varied(a) for k, a in enumerate(site.args) if has.get(k) is None):
        raise site.refusal("S2S201", name=name_of(inside), hint=_MORE)
    if _given.get(site.fn) == (vjp, jvp):
        return
    back = forth = None
    if vjp is not None:
        back = functools.partial(models.pulled_by_number, vjp) if pulls is None else functools.partial(
            models.pulled, _in_order(pulls))
    if jvp is not None and (pushes is None or pulls is None or pushes.keys() >= pulls.keys()):
        forth = functools.partial(models.pushed_by_number, jvp) if pushes is None else functools.partial(
            models.pushed, _in_order(pushes))
    _given[site.fn] = vjp, jvp
    table.give(Rule(site.fn, "custom", ANYTHING, pullback=back, pushforward=forth, by_user=True))


def _in_order(makers: dict[int, Any]) -> tuple[Any, ...]:
    """The functions as a tuple, None for an argument whose derivative was said to be zero."""
    return tuple(None if _is_zero(makers.get(k)) else makers[k] for k in range(max(makers) + 1))


def _is_zero(make: Any) -> bool:
    """Whether it is what autograd puts in the place of None."""
    if not isinstance(make, types.FunctionType):
        return make is None
    name = make.__code__.co_qualname
    for_tangent = name == "translate_jvp.<locals>.<lambda>" and "vspace" in make.__code__.co_names
    return name == "translate_vjp.<locals>.<lambda>" or for_tangent


def _by_argument(make: Any, mode: str) -> dict[int, Any] | None:
    """The functions that ``defvjp`` or ``defjvp`` was given, by argument; None where it was another way."""
    if not isinstance(make, types.FunctionType):
        return None
    if make.__code__.co_qualname != f"def{mode}.<locals>.{mode}_argnums":
        return None
    found: dict[int, Any] = inspect.getclosurevars(make).nonlocals[f"{mode}s_dict"]
    return found


# --- Numba ------------------------------------------------------------------------------------------------------------


def of_numba(site: CallSite) -> ir.Atom | None:
    """A function that ``@vectorize`` or ``@guvectorize`` made: the loops around the Python function, where something
    differentiated flows through it."""
    if is_prange(site.fn):  # its iterations may run in any order: in that of a range, too
        if site.span is not None:
            site.specializer.context.shared_loops.add(site.span)
        return site.instead(range, site.args, site.kwargs)
    dtype = numba_type(site.fn)
    if dtype is not None:
        return site.instead(dtype.type, site.args, site.kwargs)
    code = machine_code_of_numba(site.fn)
    if code is not None and site.is_varied:
        raise site.refusal("S2S201", name=code[0], hint=code[1])
    if code is not None:
        return site.leave()
    found = numba_ufunc(site.fn)
    if found is None:
        return NOT_HANDLED
    if not site.is_varied:
        return site.leave()
    if site.kwargs:
        raise site.refusal("S2S203", name=name_of(found[0]), keyword=next(iter(site.kwargs)))
    f, dimensions = found
    if dimensions is None:
        return site.result_of(loops.by_elements, [ir.Const(f), _kind(site), *site.args])
    return _generalized(site, f, *dimensions)


def _generalized(site: CallSite, f: Any, ins: Any, outs: Any, boxed: Any) -> ir.Atom:
    """A call of what ``@guvectorize`` made: ``ins`` and ``outs`` name the dimensions of what comes in and out."""
    at = {name: (k, d) for k, core in enumerate(ins) for d, name in enumerate(core)}
    shapes = [shape_of(site.value(a)) for a in site.args]
    if len(outs) != 1 or len(shapes) != len(ins) or None in shapes or not at.keys() >= {*outs[0]}:
        raise site.refusal("S2S202", name=name_of(f), reason=_ARRAYS)
    ranks, places = tuple(map(len, ins)), tuple(at[n] for n in outs[0])
    if all(len(shape or ()) == rank for shape, rank in zip(shapes, ranks)):
        given = [site.apply(np.reshape, a, ir.Const((1,))) if k in boxed else a for k, a in enumerate(site.args)]
        return site.result_of(loops.alone, [ir.Const(f), ir.Const(places), _kind(site), *given])
    said = map(ir.Const, (f, ranks, places, boxed))
    return site.result_of(loops.generalized, [*said, _kind(site), *site.args])


def _kind(site: CallSite) -> ir.Const:
    """The dtype of results: floats, as wide as the arguments have them."""
    known = [site.value(a) for a in site.args]
    kinds = [a.dtype if isinstance(a, Array) else np.dtype(a.type) for a in known if isinstance(a, (Array, Scalar))]
    inexact = [kind for kind in kinds if kind.kind in "fc"]
    return ir.Const(np.result_type(*inexact) if inexact and len(inexact) == len(known) else np.dtype(float))


_ARRAYS = "it is followed with numbers and arrays of known ranks as inputs and one result, which it returns"


def with_dtypes(site: CallSite) -> ir.Atom | None:
    """Types of Numba among the arguments of a function of NumPy: the dtypes that they are there."""
    if any(isinstance(a, ir.Const) and numba_type(a.value) is not None for a in site.given):
        site.args = [_dtype(a) for a in site.args]
        site.kwargs = {k: _dtype(a) for k, a in site.kwargs.items()}
    return NOT_HANDLED


def _dtype(atom: Any) -> Any:
    found = numba_type(atom.value) if isinstance(atom, ir.Const) else None
    return atom if found is None else ir.Const(found)
