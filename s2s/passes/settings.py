"""Managers of libraries that change settings: they are entered while the block under them is specialised, so that what
is looked up there is what the program will find.

    with lib.config_context(checks=False):      ->      with lib.config_context(checks=False):
        if lib.get_config()["checks"]: ...                  (folded)
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from s2s import ir
from s2s.analysis.managers import is_generator_based
from s2s.versions import AttributeGuard, CallGuard, ObjectGuard, resolve

if TYPE_CHECKING:
    from s2s.passes.specialize import Specializer

__all__ = ["entered"]


@contextlib.contextmanager
def entered(self: Specializer, maker: Any, made: Any) -> Iterator[None]:
    """Enter a manager, where it is one that a generator function of a library makes of constants.

    Of what is looked up in the block only that is guarded which is as it was when the block is left: the rest is what
    the manager has set. Under another generator function the settings of the thread are not looked up.
    """
    with contextlib.ExitStack() as stack:
        is_entered = _sets(self, maker, made) and _enter(stack, maker, made)
        before = dict(self.guards)
        if is_entered:
            self.outcomes.clear()
        unsure = not is_entered and is_generator_based(maker)
        self.unsure += unsure
        try:
            yield
        finally:
            self.unsure -= unsure
    if is_entered:
        self.outcomes.clear()
        assert self.function is not None
        self.guards = before | {
            key: guard for key, guard in self.guards.items() if key not in before and _holds(guard, self.function)}


def _sets(self: Specializer, maker: Any, made: Any) -> bool:
    """Whether a manager may set something: made of constants by a generator function of another package."""
    if not is_generator_based(maker) or not isinstance(made, ir.Call) or self.is_own(maker.__wrapped__):
        return False
    given = (*made.args, *(atom for _, atom in made.kwargs))
    is_stable = (maker.__wrapped__.__module__ or "").split(".")[0] in sys.stdlib_module_names
    return not is_stable and all(isinstance(a, ir.Const) for a in given)


def _enter(stack: contextlib.ExitStack, maker: Any, made: ir.Call) -> bool:
    given = [a.value for a in made.args]  # type: ignore[union-attr]
    named: dict[Any, Any] = {k: a.value for k, a in made.kwargs}  # type: ignore[union-attr]
    try:
        stack.enter_context(maker(*given, **named))
    except Exception:  # it raises again when the program runs
        return False
    return True


def _holds(guard: Any, function: types.FunctionType) -> bool:
    """Whether what was looked up is there after the block as well."""
    owner = guard.owner or function
    try:
        match guard:
            case ObjectGuard(root, path, value) if root != "argument":
                return resolve(owner, root, path) is value
            case AttributeGuard(root, path, name, is_there) if root != "argument":
                return hasattr(resolve(owner, root, path), name) is is_there
            case CallGuard(fn, args, value):
                return fn(*args) is value
            case _:
                return True
    except (LookupError, AttributeError):
        return False
