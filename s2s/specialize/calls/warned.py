"""Calls of ``warnings.warn`` in functions that are followed: the frames between the warning and the function that is
differentiated are not there when generated code runs.

    warnings.warn(message, stacklevel=2)        ->      warnings.warn(message)

So the warning names the place in generated code where the function that warns was called.
"""

from __future__ import annotations

import warnings
from typing import Any

from s2s.core import ir
from s2s.specialize.calls.stages import Handler
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["HANDLERS"]

_LEVEL = 2  # the place of ``stacklevel`` among the arguments


def _warn(site: CallSite) -> ir.Atom | None:
    """Count the frames from the generated function on."""
    followed = len(site.specializer.inliner.active_calls) - 1
    if followed < 1 or site.is_spread:
        return NOT_HANDLED
    args, kwargs = list(site.args), dict(site.kwargs)
    given = args.pop(_LEVEL) if len(args) == _LEVEL + 1 else kwargs.pop("stacklevel", ir.Const(1))
    if not isinstance(given, ir.Const) or type(given.value) is not int or len(args) > _LEVEL:
        return NOT_HANDLED
    # what is skipped are files of the library that warns, of whose frames none is there
    skips = kwargs.pop("skip_file_prefixes", None) is not None
    level = 1 if skips else max(1, given.value - followed)
    site.args, site.kwargs = args, kwargs if level == 1 else {**kwargs, "stacklevel": ir.Const(level)}
    return NOT_HANDLED


def _as_it_is(site: CallSite) -> ir.Atom | None:
    """Filters are set by the function of Python that does it, and not as its source does."""
    return NOT_HANDLED if site.is_varied or site.is_spread else site.leave(harmless=True, quiet=True)


_SETS = (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)

HANDLERS: dict[Any, Handler] = {warnings.warn: _warn, **dict.fromkeys(_SETS, _as_it_is)}
