"""Values that compiled code hands to a Python function: the call, and types whose values are known when compiling.

The call is machine code that makes Python objects of the values, as Numba does for the results of a function, and reads
what comes back as it does the arguments. That takes lists of arrays too, and a tenth of the time that compiling a block
in Numba's object mode takes.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

__all__ = ["UNKNOWN", "constant_of", "through_python"]

UNKNOWN = object()
"""Stands for a value that is known only when it runs."""

_CALLABLES: list[Any] = []
"""What compiled code has the address of."""


def constant_of(kind: Any) -> Any:
    """The value of a type that has one, such as a class, a dtype or None; UNKNOWN for others."""
    match kind:
        case types.NoneType():
            return None
        case types.Omitted():
            return kind.value
        case types.Literal():
            return kind.literal_value
        case types.NumberClass():
            return as_dtype(kind.instance_type).type
        case types.DType():
            return as_dtype(kind.dtype)
        case types.EllipsisType():
            return ...
    return UNKNOWN


def through_python(call: Any, kinds: tuple[Any, ...], result: Any) -> Any:
    """A function for compiled code that hands arguments of these types to ``call``, which gives one of the type
    ``result``. Arguments whose types have one value are not handed over: ``call`` gets that value."""
    constants = [constant_of(kind) for kind in kinds]
    handed = [k for k, value in enumerate(constants) if value is UNKNOWN]

    def with_constants(*values: Any) -> Any:
        whole = constants[:]
        for k, value in zip(handed, values, strict=True):
            whole[k] = value
        return call(*whole)

    called = call if len(handed) == len(kinds) else with_constants
    _CALLABLES.append(called)
    names = [f"a{k}" for k in range(len(kinds))]
    parts = "".join(f"{names[k]}, " for k in handed)
    scope: dict[str, Any] = {"run": _runner(called, result)}
    exec(f"def by_python({', '.join(names)}):\n    return run(({parts}))", scope)
    return scope["by_python"]


def _runner(called: Any, result: Any) -> Any:
    """What compiled code calls with a tuple of the arguments."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        python, made = context.get_python_api(builder), context.get_env_manager(builder)
        lock = python.gil_ensure()

        def leave_if(failed: Any) -> None:
            with builder.if_then(failed, likely=False):
                python.gil_release(lock)
                context.call_conv.return_exc(builder)

        objects = []
        for k, kind in enumerate(signature.args[0].types):
            value = builder.extract_value(values[0], k)
            context.nrt.incref(builder, kind, value)
            objects.append(python.from_native_value(kind, value, made))
        function = context.add_dynamic_addr(builder, id(called), info="by Python")
        found = python.call_function_objargs(function, objects)
        for item in objects:
            python.decref(item)
        leave_if(cgutils.is_null(builder, found))
        native = python.to_native_value(result, found)
        if native.cleanup is not None:
            native.cleanup()
        python.decref(found)
        leave_if(native.is_error)
        python.gil_release(lock)
        return native.value

    def typed(typing_context: Any, handed: Any) -> Any:
        return result(handed), generate

    return intrinsic(typed)
