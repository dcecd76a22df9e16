"""What is called: a function that is known is found behind variables that were made of it."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import types
from typing import Any, TypeAlias

import numpy as np

from s2s.analysis.functions import facts
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir, ops
from s2s.core.values import Array, Known, ListOf
from s2s.specialize.branching import join_sides
from s2s.specialize.calls import derivatives, process
from s2s.specialize.calls.bound_methods import function_and_receiver
from s2s.specialize.calls.derivative_values import asked_of
from s2s.specialize.calls.intrinsics import map_elements
from s2s.specialize.frames import FramedClosure
from s2s.specialize.heap import reading
from s2s.specialize.heap.joins import Side
from s2s.specialize.keeping import keeps_nothing
from s2s.specialize.site import NOT_HANDLED, CallSite
from s2s.specialize.variables import check_joined

__all__ = [
    "bound_method", "chosen", "closure", "derivative", "grown_display", "item_of_modules", "made_by_partial",
    "method_of_iterator", "object_", "spread", "vectorized",
]

_OF_ITERATORS: dict[ir.Atom, Any] = {ir.Const("__iter__"): iter, ir.Const("__next__"): next}
"""Methods of iterables that are not followed as objects, with the functions that call them."""


def vectorized(site: CallSite) -> ir.Atom | None:
    """``np.vectorize(f)(...)``: ``f`` on each element."""
    made = site.context.definitions.get(site.callee)  # type: ignore[arg-type]
    if not isinstance(made, ir.Call) or made.fn != ir.Const(np.vectorize) or not _is_mapped(site, made):
        return NOT_HANDLED
    return site.instead(map_elements, [made.args[0], *site.args])


def _is_mapped(site: CallSite, made: ir.Call) -> bool:
    """Whether a call of ``np.vectorize(f, ...)`` is ``f`` on each element, with floats as results. Raises where it
    is more and carries a derivative."""
    options, each = dict(made.kwargs), made.args[0]
    if not site.is_varied and isinstance(each, ir.Const) and not keeps_nothing(each.value):
        return False  # it calls the function once more, to see what it gives
    types = site.specializer.items.known(
        options["otypes"], Builder(site.context), site.span) if "otypes" in options else []
    floats = [ir.Const(kind) for kind in (float, np.float64, "d", "float", "float64")]
    passed = [k for k in options if k not in ("doc", "cache", "otypes")] + [k for k in site.kwargs if k]
    if types is None or not all(kind in floats for kind in types):
        passed.append("otypes")
    if len(made.args) == 1 and not passed:
        return True
    if site.is_varied or not isinstance(each, ir.Const):
        raise site.refusal("S2S203", name="np.vectorize", keyword=passed[0] if passed else "otypes")
    return False


def made_by_partial(site: CallSite) -> ir.Atom | None:
    """``functools.partial(f, ...)(...)``."""
    made = site.context.definitions.get(site.callee)  # type: ignore[arg-type]
    if not isinstance(made, ir.Call) or made.fn != ir.Const(functools.partial):
        return NOT_HANDLED
    keywords: dict[Any, ir.Atom] = dict(made.kwargs)
    return site.instead_of_atom(made.args[0], [*made.args[1:], *site.args], keywords | site.kwargs)  # type: ignore[arg-type]


def chosen(site: CallSite) -> ir.Atom | None:
    """A call of a function that a branch has chosen: the same branch, a call on each side."""
    found = site.context.choices.get(site.callee)  # type: ignore[arg-type]
    if found is None or not _is_function(site, found[1]) or not _is_function(site, found[2]):
        return NOT_HANDLED
    specializer, context = site.specializer, site.context
    test, *functions = found
    sides, yields, base = [], [], context.heap
    for function in functions:
        child = site.builder.child()
        context.heap = base.copy()
        specializer.there.append(context.births())
        try:
            yields.append(specializer.apply(
                function, list(site.args), dict(site.kwargs), site.frame, child, site.span, site.name))
        finally:
            specializer.there.pop()
        check_joined(specializer, yields[-1], child, site.span)
        sides.append(Side(child, context.heap))
    context.heap = base
    roots = [(site.name, yields[0], yields[1])]
    (result,) = join_sides(specializer, test, base, (sides[0], sides[1]), roots, site.builder, site.span)
    return result


def _is_function(site: CallSite, atom: ir.Atom) -> bool:
    value = site.value(atom)
    if isinstance(atom, ir.Var) and atom in site.context.choices:
        return all(_is_function(site, a) for a in site.context.choices[atom][1:])
    return isinstance(value, FramedClosure) or (isinstance(value, Known) and callable(value.value))


def grown_display(site: CallSite) -> ir.Atom | None:
    """``[*items, a]`` and ``(*items, a)`` of items of unknown number."""
    if site.callee not in _DISPLAYS or not site.is_spread:
        return NOT_HANDLED
    return reading.grown(site, site.callee.value, site.args)  # type: ignore[union-attr]


_DISPLAYS = (ir.Const(ops.make_list), ir.Const(ops.make_tuple))


def extreme_of_spread(site: CallSite) -> ir.Atom | None:
    """``max(*items)`` of a list of unknown length."""
    if site.callee not in _EXTREMES or len(site.args) != 1 or None in site.kwargs:
        return NOT_HANDLED
    only = site.args[0]
    return site.instead(site.callee.value, [only.atom], site.kwargs) if isinstance(only, ir.Star) else NOT_HANDLED  # type: ignore[union-attr]


_EXTREMES = (ir.Const(max), ir.Const(min))


def spread(site: CallSite) -> ir.Atom | None:
    """``f(a, *items, b=b)`` of a function, method or class of Python that takes a fixed number of arguments, with items
    of unknown number."""
    stars = [k for k, a in enumerate(site.args) if isinstance(a, ir.Star)]
    if stars != [len(site.args) - 1] or None in site.kwargs:
        return NOT_HANDLED
    items, taken = site.args[-1].atom, _taken(site)
    missing = 0 if taken is None else _number_missing(taken[len(site.args) - 1 :], site.kwargs)
    if missing < 1 or not isinstance(site.value(items), (Array, ListOf)) or not site.context.is_varied(items):
        return NOT_HANDLED
    unpacked = site.apply(ops.unpack, items, ir.Const(missing), ir.Const(None))
    given = [site.apply(operator.getitem, unpacked, ir.Const(k)) for k in range(missing)]
    return site.instead_of_atom(site.callee, [*site.args[:-1], *given], site.kwargs)


_Taken: TypeAlias = list[tuple[str, bool]]
"""The names of parameters that may be given by position, and whether each has a default."""


def _number_missing(params: _Taken, kwargs: Any) -> int:
    """How many parameters are certainly given by position, where ``kwargs`` are given by name; 0 if not known."""
    left = list(itertools.takewhile(lambda param: param[0] not in kwargs, params))
    named = params[len(left) :]
    is_certain = all(name in kwargs for name, _ in named) and not any(has_default for _, has_default in left)
    return len(left) if is_certain else 0


def _taken(site: CallSite) -> _Taken | None:
    """What a function, method or class of Python takes by position; None where that is not known, or any number."""
    bound = function_and_receiver(site.specializer, site.callee)
    if bound is not None:
        taken = _taken_by(bound[0])
        return None if taken is None else taken[1:]
    callee = site.value(site.callee)
    if isinstance(callee, FramedClosure):
        params = callee.function.params
        if any(p.kind == "VAR_POSITIONAL" for p in params):
            return None
        return [(p.var.name, p.has_default) for p in params if p.kind.startswith("POSITIONAL")]
    return _taken_by(callee.value) if isinstance(callee, Known) else None


def _taken_by(fn: Any) -> _Taken | None:
    if isinstance(fn, type) and type(fn).__call__ is type.__call__:
        makers = (getattr(fn, name) for name in ("__new__", "__init__"))
        maker = next((m for m in makers if isinstance(m, types.FunctionType)), None)
        taken = _taken_by(maker)
        return None if taken is None else taken[1:]
    if not isinstance(fn, types.FunctionType) or fn.__code__.co_flags & inspect.CO_VARARGS:
        return None
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    required = len(names) - len(fn.__defaults__ or ())
    return [(name, k >= required) for k, name in enumerate(names)]


def derivative(site: CallSite) -> ir.Atom | None:
    """A call of a derivative."""
    asked = None if site.is_spread else asked_of(site.context, site.callee)
    if asked is None:
        return NOT_HANDLED
    return derivatives.apply(site, asked, site.args, site.kwargs)


def item_of_modules(site: CallSite) -> ir.Atom | None:
    """``sys.modules.get(name)``."""
    read = site.context.definition(site.callee, getattr)
    if read is None or read[1] != ir.Const("get") or site.kwargs or not process.is_modules(site.context, read[0]):
        return NOT_HANDLED
    return process.module_or(site.specializer, site.args)


def method_of_iterator(site: CallSite) -> ir.Atom | None:
    """``items.__iter__()``, ``items.__next__()``."""
    read = site.context.definition(site.callee, getattr)
    if read is None or read[1] not in _OF_ITERATORS or site.args or site.kwargs:
        return NOT_HANDLED
    holder = state_of(site.context, read[0])
    if holder is not None and virtual_heap.is_instance(holder):
        return NOT_HANDLED
    return site.instead(_OF_ITERATORS[read[1]], [read[0]])


def object_(site: CallSite) -> ir.Atom | None:
    """A call of an object with a method ``__call__``."""
    if state_of(site.context, site.callee) is None or site.is_spread:
        return NOT_HANDLED
    return site.specializer.instances.call(site, site.callee, site.args, site.kwargs)


def bound_method(site: CallSite) -> ir.Atom | None:
    """A method that was read from a value of known type."""
    bound = function_and_receiver(site.specializer, site.callee)
    if site.is_spread and bound is not None:
        _check_followed(site, *bound)
    if bound is None or site.is_spread:
        return NOT_HANDLED
    method, receiver = bound
    return site.instead(method, [receiver, *site.args], site.kwargs)


def _check_followed(site: CallSite, method: Any, receiver: ir.Atom) -> None:
    """Refuse to change a container of the program by items of unknown number."""
    cell = cell_of(site.context, receiver)
    if cell is not None and not virtual_heap.is_instance(site.context.heap.peek(cell)) and facts(method).changes:
        raise site.refuse(cell.name, f"how many items `{method.__name__}` is given is known only when the program runs")


def closure(site: CallSite) -> ir.Atom | None:
    """A nested function."""
    value = site.value(site.callee)
    if site.is_spread or not isinstance(value, FramedClosure):
        return NOT_HANDLED
    return site.specializer.inliner.inline_closure(value, site.args, site.kwargs, site.frame, site.builder, site.span)
