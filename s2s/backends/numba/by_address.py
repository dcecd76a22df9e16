"""A compiled function in, one that other compiled code calls by the address of its machine code out.

Numba takes what a function calls into it, and LLVM goes through all of that again, in each function on the way to the
program's own loop: for a gradient of a hundred lines these are seconds, each time. What is called by its address stays
as it was compiled. Short functions are taken in: there LLVM gains from seeing both.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import fix_returning_optional
from numba.extending import intrinsic

__all__ = ["by_address"]

_CALLED: list[Any] = []
"""Whose machine code others have the address of."""


def by_address(dispatcher: Dispatcher, name: str, parameters: list[str]) -> Any:
    """The only function that was compiled for a dispatcher, as one with these parameters for compiled code to call."""
    made: Any
    (made,) = dispatcher.overloads.values()
    signature, descriptor = made.signature, made.fndesc
    address = made.library.get_pointer_to_function(descriptor.llvm_func_name)
    _CALLED.append(dispatcher)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(descriptor.restype, descriptor.argtypes)
        function = builder.bitcast(context.add_dynamic_addr(builder, address, info=name), kind.as_pointer())
        given = [context.cast(builder, value, have, want)
                 for value, have, want in zip(values, _.args, descriptor.argtypes, strict=True)]
        status, result = convention.call_function(builder, function, descriptor.restype, descriptor.argtypes, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return fix_returning_optional(context, builder, signature, status, result)

    scope: dict[str, Any] = {"generate": generate, "signature": signature}
    names = ", ".join(parameters)
    exec(f"def {name}(typing_context, {names}):\n    return signature.return_type({names}), generate", scope)
    return intrinsic(scope[name])
