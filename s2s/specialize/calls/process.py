"""Questions about the process that the compiler answers: which modules are there, what a set of options holds.

Library code asks ``sys.modules`` whether a package is there of which it may be given arrays, and module variables
whether they hold a name. What is found is taken by value, under a guard that asks again.

    if "torch" in sys.modules:          ->      (nothing, where it is not imported)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from s2s.core import ir
from s2s.specialize.site import NOT_HANDLED
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.builder.builder import Context
    from s2s.specialize.site import CallSite
    from s2s.specialize.specializer import Specializer

MODULES = ir.Call(ir.Const(getattr), (ir.Const(sys), ir.Const("modules")))
"""The read of ``sys.modules``."""


def is_modules(context: Context, atom: Any) -> bool:
    """Whether an atom is ``sys.modules``."""
    return isinstance(atom, ir.Var) and context.definitions.get(atom) == MODULES


def module_named(specializer: Specializer, key: Any) -> ir.Const | None:
    """The module of a known name, ``None`` as a constant where it is not imported; None where the name is not known."""
    if not isinstance(key, ir.Const) or type(key.value) is not str:
        return None
    return ir.Const(facts.module_if_loaded(key.value).folded(specializer.guards))


def module_item(specializer: Specializer, key: ir.Atom) -> ir.Const | None:
    """``sys.modules[key]``, which raises KeyError where the module is not imported."""
    found = module_named(specializer, key)
    if found == ir.Const(None):
        raise specializer.raised(KeyError(key.value))  # type: ignore[union-attr]
    return found


def module_variables(site: CallSite) -> ir.Atom | None:
    """``globals()`` in a function of another module than the generated code has its names from."""
    written_in, compiled = site.frame.owner, site.specializer.function
    if written_in is None or written_in.__globals__ is compiled.__globals__:
        return NOT_HANDLED
    module = module_named(site.specializer, ir.Const(written_in.__module__))
    if module is None or module.value is None or vars(module.value) is not written_in.__globals__:
        raise site.refusal("S2S115", name="globals")
    return site.result_of(vars, [module])


def module_or(specializer: Specializer, args: list[ir.Atom]) -> ir.Atom | None:
    """``sys.modules.get(key, default)``; None where the name is not known."""
    found = module_named(specializer, args[0]) if 1 <= len(args) <= 2 else None
    return args[1] if found == ir.Const(None) and len(args) == 2 else found


def is_option_of(specializer: Specializer, item: ir.Atom, container: ir.Atom) -> bool | None:
    """Whether a set in a module variable has a known item; None where it is no set of options."""
    made = specializer.context.definitions.get(container) if isinstance(container, ir.Var) else None
    if not isinstance(made, ir.Load) or made.scope != "global" or not isinstance(item, ir.Const):
        return None
    fn = made.owner or specializer.function
    module: Any = fn.__globals__.get("__name__")
    found: Any = fn.__globals__.get(made.name)
    held: Any = getattr(sys.modules.get(module), made.name, None)
    if type(found) not in (set, frozenset) or held is not found:
        return None
    options: list[Any] = [*found]
    if not all(type(option) in _OPTIONS for option in (item.value, *options)):
        return None
    return facts.among(item.value, module, made.name).folded(specializer.guards)


_OPTIONS = (str, int, type(None))


__all__ = ["is_option_of", "MODULES", "is_modules", "module_item", "module_named", "module_or"]
