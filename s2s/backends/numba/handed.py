"""Values that compiled code hands to a Python function: the call, and types whose values are known when compiling.

The call is machine code that makes Python objects of the values, as Numba does for the results of a function, and reads
what comes back as it does the arguments. That takes lists of arrays too, and a tenth of the time that compiling a block
in Numba's object mode takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.paths import DYNAMIC
from s2s.backends.numba.raised import noted, raise_noted

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


def through_python(
    function: Any, args: Sequence[Any], keywords: Mapping[str, Any], kinds: Mapping[str, Any], result: Any, convert: Any
) -> Any:
    """A function for compiled code, with parameters of these types, that lets Python call ``function``. DYNAMIC stands
    among the arguments for each parameter; one whose type has one value is not handed over. ``convert`` makes what the
    function gives a value of the type ``result``."""
    scope: dict[str, Any] = {"function_": function, "convert_": convert, "noted_": noted}
    names = list(kinds)
    constants = [constant_of(kind) for kind in kinds.values()]
    handed = ", ".join(name for name, value in zip(names, constants, strict=True) if value is UNKNOWN)
    left = iter(zip(names, constants, strict=True))
    passed: list[str] = []
    for keyword, value in (*((None, a) for a in args), *keywords.items()):
        name, value = next(left) if value is DYNAMIC else (f"constant{len(passed)}_", value)
        if value is not UNKNOWN:
            scope[name] = value
        passed.append(name if keyword is None else f"{keyword}={name}")
    call = f"    try:\n        return convert_(function_({', '.join(passed)}))\n"
    exec(f"def called_({handed}):\n{call}    except Exception as raised:\n        return noted_(raised)", scope)
    _CALLABLES.append(scope["called_"])
    scope["run_"] = _runner(scope["called_"], result)
    exec(f"def by_python_({', '.join(names)}):\n    return run_(({handed}{',' if handed else ''}))", scope)
    return scope["by_python_"]


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
        raise_noted(context, builder, python, lock, found)
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
