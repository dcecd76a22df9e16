"""``max`` and ``min`` with a ``key``: the key is asked for each item, and the items are compared by what it gives."""

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
        if not site.is_varied or key in (None, ir.Const(None)):
            return NOT_HANDLED
        return site.inline(model, site.args, site.kwargs)

    return find


HANDLERS: dict[Any, Handler] = {max: _extreme(ordering.greatest), min: _extreme(ordering.least)}
