"""What code asks of functions when it runs: calls bound to signatures, as decorators that check arguments do."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from s2s.builder.virtual_heap import State, cell_of, state_of
from s2s.core import ir
from s2s.specialize.heap import making

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer


def _signature_of(specializer: Specializer, ref: ir.Atom) -> inspect.Signature | None:
    """The signature that an atom refers to, where it was there before; it is guarded as an object."""
    cell = cell_of(specializer.context, ref)
    found = None if cell is None else specializer.live_objects.objects.get(cell)
    if isinstance(ref, ir.Const):
        found = ref.value
    if not isinstance(found, inspect.Signature):
        return None
    if cell is not None:
        specializer.live_objects.guard_identity(cell)
    return found


def _bind(partly: bool) -> Any:
    def bind(at: At, signature: ir.Atom, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
        found = _signature_of(at.specializer, signature)
        if found is None:
            return None
        try:
            bound = (found.bind_partial if partly else found.bind)(*args, **kwargs)
        except TypeError as problem:
            raise at.raised(problem) from None
        return _made(at, signature, found, bound.arguments)

    return bind


def _made(at: At, signature: ir.Atom, found: inspect.Signature, given: dict[str, Any]) -> ir.Atom:
    state = State(
        inspect.BoundArguments, ("arguments", "_signature"), (_arguments(at, found, given), signature)
    )
    return making.new(at, state)


def _arguments(at: At, signature: inspect.Signature, given: dict[str, Any]) -> ir.Atom:
    """The dict of arguments by name, those of ``*args`` and ``**kwargs`` put together."""
    entries = {}
    for name, value in given.items():
        kind = signature.parameters[name].kind
        if isinstance(value, (ir.Var, ir.Const)):
            entries[name] = value
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            entries[name] = making.new_list(at, value, tuple)
        else:
            entries[name] = making.new_dict(at, dict(value))
    return making.new_dict(at, entries)


def _apply_defaults(at: At, bound: ir.Atom) -> ir.Atom | None:
    state, cell = state_of(at.context, bound), cell_of(at.context, bound)
    if state is None or cell is None or state.kind is not inspect.BoundArguments:
        return None
    entries = state.entries()
    signature = _signature_of(at.specializer, entries["_signature"])
    given = making.entries_of(at, entries["arguments"])
    if signature is None or given is None:
        return None
    filled: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if name in given:
            filled[name] = given[name]
        elif parameter.default is not parameter.empty:
            filled[name] = ir.Const(parameter.default)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            filled[name] = ()
        elif parameter.kind is parameter.VAR_KEYWORD:
            filled[name] = {}
    made = state.with_entries(entries | {"arguments": _arguments(at, signature, filled)})
    at.context.heap.change(cell, made, at.span)
    return ir.Const(None)


OPERATIONS: dict[Any, making.Operation] = {
    inspect.Signature.bind: _bind(False),
    inspect.Signature.bind_partial: _bind(True),
    inspect.BoundArguments.apply_defaults: _apply_defaults,
}
