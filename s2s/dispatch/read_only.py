"""Arguments that are changed go in; where an array in them is read-only, what the function raises comes out.

    u.flags.writeable = False
    s2s.grad(f)(u)                                # f does u[0] = 0.0: ValueError, as f(u) raises

A version changes a copy, which may be written to. So the function itself is asked, unnoticed: whether it comes to the
store at all depends on the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.runtime._memory import arrays_in
from s2s.versions.paths import imported

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["held_to_flags"]


def held_to_flags(dispatcher: Dispatcher, version: Version, call: Callable[..., Any]) -> Callable[..., Any]:
    """What calls a version, and raises what the function does where an array that it may change is read-only."""
    names, target = dispatcher.target.parameters, dispatcher.target
    changed = names if is_recorded(version.compiled) or target.derived is not None else version.compiled.changed
    places = [k for k, name in enumerate(names) if name in changed]
    if not places:
        return call

    def checked(*values: Any) -> Any:
        for k in places:
            value = values[k]
            if value.__class__ is np.ndarray:
                if value.flags.writeable:
                    continue
            elif all(array.flags.writeable for array in arrays_in((value,))):
                continue
            check(values[: len(names)])
            break
        return call(*values)

    def check(values: tuple[Any, ...]) -> None:
        raised = imported("s2s.recorded.entry:raised_by")(target.innermost.function, values, None)
        if isinstance(raised, ValueError) and "read-only" in str(raised):
            raise raised  # anything else comes out of the call, if it does

    return checked
