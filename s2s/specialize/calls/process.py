"""Questions about the process that the compiler answers: which modules are there, what a set of options holds.

Library code asks ``sys.modules`` whether a package is there of which it may be given arrays, and module variables
whether they hold a name. What is found is taken by value, under a guard that asks again.

    if "torch" in sys.modules:          ->      (nothing, where it is not imported)
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from s2s.core import ir
from s2s.specialize.frames import GENERATED
from s2s.specialize.heap import effects, variables
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
    """``globals()``"""
    _note_read(site, site.frame.fn.__globals__)
    return variables.all_of(site)


def variables_of(site: CallSite) -> ir.Atom | None:
    """``vars(module)``"""
    module = site.args[0].value if len(site.args) == 1 and isinstance(site.args[0], ir.Const) else None
    if isinstance(module, types.ModuleType):
        _note_read(site, vars(module))
    return NOT_HANDLED


def _note_read(site: CallSite, scope: dict[str, Any]) -> None:
    """The program has the dict of all variables of a module. What a derivative does with it, in statements that come
    from no line of the program, is to read and assign variables that are known."""
    if site.span is not None and GENERATED not in (site.frame.fn.__doc__ or ""):
        site.specializer.read_containers[id(scope)] = site.span


def assigned_attribute(site: CallSite) -> ir.Atom | None:
    """``setattr(module, name, value)`` as ``module.name = value``, and so for a class."""
    owner = site.args[0] if site.args else None
    if not isinstance(owner, ir.Const) or not facts.is_replaceable(owner.value):
        return NOT_HANDLED
    name = site.args[1] if len(site.args) == 3 else None
    is_known = isinstance(name, ir.Const) and type(name.value) is str
    if not is_known or not effects.static(site, owner, name.value, site.args[2], None, None):  # type: ignore[union-attr]
        raise site.refusal("S2S113")
    return ir.Const(None)


def deleted_attribute(site: CallSite) -> ir.Atom | None:
    """Refuse ``del module.name``, and that of a class: what reads it afterwards was made for what it was."""
    if site.args and isinstance(site.args[0], ir.Const) and facts.is_replaceable(site.args[0].value):
        raise site.refusal("S2S113")
    return NOT_HANDLED


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


__all__ = [
    "MODULES", "assigned_attribute", "deleted_attribute", "is_modules", "is_option_of", "module_item", "module_named",
    "module_or", "module_variables", "variables_of",
]
