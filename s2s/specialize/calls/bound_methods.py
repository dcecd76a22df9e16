"""Methods that were read from values of known type."""

from __future__ import annotations

import operator
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import type_of
from s2s.builder.virtual_heap import state_of
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.inspection import look_up
from s2s.core.values import Unknown
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["function_and_receiver"]


def function_and_receiver(specializer: Specializer, callee: ir.Atom) -> tuple[Any, ir.Atom] | None:
    """The function and the receiver of a method that was read from a value of known type."""
    if not isinstance(callee, ir.Var):
        return None
    made = specializer.context.definitions.get(callee)
    if not isinstance(made, ir.Call) or made.fn != ir.Const(getattr) or len(made.args) != 2:
        return None
    receiver, attribute = made.args
    if not isinstance(attribute, ir.Const) or isinstance(receiver, ir.Star):
        return None
    value = specializer.context.value(receiver)
    state = state_of(specializer.context, receiver)
    kind = type_of(value) if state is None else state.kind
    if isinstance(value, Closure) or kind is None or (isinstance(value, Unknown) and type_of(value) is None):
        return None
    if facts.is_replaceable(kind):
        facts.member(kind, attribute.value).folded(specializer.guards)
    method = look_up(np.ndarray if issubclass(kind, np.generic) else kind, attribute.value, None)
    if isinstance(method, types.WrapperDescriptorType):
        method = getattr(operator, attribute.value, method)
    if isinstance(method, (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)) or (
        getattr(method, "__module__", None) == "_operator"
    ):
        return method, receiver
    return None
