"""Calls that a generator is given to: views of it are generators too; what takes all items gets a list of them."""

from __future__ import annotations

import itertools
import types
from typing import Any

from s2s.core import ir, ops
from s2s.errors import DifferentiationError
from s2s.models import iterating
from s2s.rules import table
from s2s.specialize.calls.stages import Handler
from s2s.specialize.heap import lazy
from s2s.specialize.heap.making import new_list
from s2s.specialize.site import NOT_HANDLED, CallSite
from s2s.specialize.speculation import speculate

__all__ = ["HANDLERS", "given", "of_chain"]


def _enumerate(site: CallSite) -> ir.Atom | None:
    if not site.args or site.args[0] not in site.context.generators:
        return NOT_HANDLED
    return site.inline(iterating.counted, site.args, site.kwargs)


def _zip(site: CallSite) -> ir.Atom | None:
    """``zip`` with a generator: it is run, what else there is is read by position. Of several all but one are lists."""
    args = list(site.args)
    is_lazy = [k for k, a in enumerate(args) if a in site.context.generators]
    if not is_lazy or len(args) == 1:
        return NOT_HANDLED
    while is_lazy and (len(is_lazy) > 1 or site.kwargs):
        made = None
        for k in is_lazy:
            try:
                with speculate(site.specializer, site.builder) as speculation:
                    made = lazy.listed(site, args[k], speculation.builder)
            except DifferentiationError:
                site.context.generators[args[k]].has_run = False
                continue
            args[k] = made
            is_lazy.remove(k)
            break
        if made is None:
            return NOT_HANDLED  # refused: none of them ends
    if not is_lazy:
        return site.instead(zip, args, site.kwargs)
    (place,) = is_lazy
    if all(k == place or lazy.is_endless(site, a) for k, a in enumerate(args)):
        args[place] = lazy.listed(site, args[place])
        return site.instead(zip, args, site.kwargs)
    lengths = [site.apply(len, a) for k, a in enumerate(args) if k != place and not lazy.is_endless(site, a)]
    for k, a in enumerate(args):
        if lazy.is_endless(site, a):
            args[k] = site.apply(itertools.islice, a, site.apply(min, *lengths) if len(lengths) > 1 else lengths[0])
    before, after = (new_list(site, [_by_position(site, a) for a in part], tuple) for part in (
        args[:place], args[place + 1 :]))
    return site.inline(iterating.beside, [args[place], before, after])


def _by_position(site: CallSite, atom: ir.Atom) -> ir.Atom:
    items = site.items(atom)
    return site.apply(list, atom) if items is None else new_list(site, items)


def _iter(site: CallSite) -> ir.Atom | None:
    if len(site.args) == 2:
        return site.inline(iterating.until, site.args)
    return site.args[0] if site.args and site.args[0] in site.context.generators else NOT_HANDLED


def of_chain(site: CallSite) -> ir.Atom | None:
    """``itertools.chain.from_iterable``, which is another object each time it is read."""
    if site.fn.__self__ is not itertools.chain or site.fn.__name__ != "from_iterable" or not site.is_varied:
        return NOT_HANDLED
    return site.inline(iterating.chain_all, site.args)


def given(site: CallSite) -> ir.Atom | None:
    """A function that is not followed, and takes the items of what it is given: a list of them."""
    if not site.context.generators or isinstance(site.fn, types.MethodType):
        return NOT_HANDLED
    if isinstance(site.fn, types.FunctionType) and site.fn.__module__ != ops.__name__:
        return NOT_HANDLED
    rule = table.find(site.fn)
    if rule is not None and rule.kind == "model":
        return NOT_HANDLED
    lists: dict[Any, ir.Atom] = {
        a: lazy.listed(site, a) for a in site.given if isinstance(a, ir.Var) and a in site.context.generators
    }
    site.args = [lists.get(a, a) if isinstance(a, ir.Var) else a for a in site.args]
    site.kwargs = {key: lists.get(a, a) for key, a in site.kwargs.items()}
    return NOT_HANDLED


HANDLERS: dict[Any, Handler] = {enumerate: _enumerate, zip: _zip, iter: _iter}
"""What gives the items of a generator in another way."""
