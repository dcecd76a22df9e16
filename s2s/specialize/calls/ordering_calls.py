"""``max`` and ``min`` with a ``default``, and with a ``key``, which is asked for each item: the items are compared by
what it gives."""

from __future__ import annotations

from typing import Any

from s2s.core import ir
from s2s.models import ordering
from s2s.specialize.calls.stages import Handler
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["HANDLERS"]


def _extreme(model: Any) -> Handler:
    def find(site: CallSite) -> ir.Atom | None:
        key = site.kwargs.get("key")
        if not site.is_varied:
            return NOT_HANDLED
        if key not in (None, ir.Const(None)):
            return site.inline(model, site.args, site.kwargs)
        if "default" in site.kwargs and len(site.args) == 1:
            return site.inline(ordering.extreme_or, [ir.Const(site.fn), *site.args, site.kwargs["default"]])
        return NOT_HANDLED

    return find


HANDLERS: dict[Any, Handler] = {max: _extreme(ordering.greatest), min: _extreme(ordering.least)}
