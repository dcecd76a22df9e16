"""What the wrappers of other packages stand for: the function inside of one, and the rule that goes with it."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

__all__ = [
    "autograd_operator", "autograd_primitive", "autograd_rules", "is_prange", "machine_code_of_numba", "namesake",
    "numba_type", "numba_ufunc", "written_in_python",
]


def _cell(fn: types.FunctionType, name: str) -> Any:
    """What a nested function has captured under a name."""
    code, cells = fn.__code__, fn.__closure__ or ()
    return cells[code.co_freevars.index(name)].cell_contents


def _is_made_by(fn: Any, module: str, qualname: str) -> bool:
    return type(fn) is types.FunctionType and fn.__module__ == module and fn.__code__.co_qualname == qualname


def autograd_primitive(fn: Any) -> Any:
    """The function inside of what autograd's ``primitive`` or ``notrace_primitive`` made; None for anything else."""
    for maker in ("primitive", "notrace_primitive"):
        if _is_made_by(fn, "autograd.tracer", f"{maker}.<locals>.f_wrapped"):
            return _cell(fn, "f_raw")
    return None


def autograd_rules(fn: Any) -> tuple[Any, Any]:
    """What makes the pullbacks and the tangents of a primitive of autograd, each None where it has none."""
    core = sys.modules["autograd.core"]
    return core.primitive_vjps.get(fn), core.primitive_jvps.get(fn)


def autograd_operator(fn: Any) -> tuple[Any, Any, Any] | None:
    """Of what ``autograd.grad(f)`` and its kin give: the name of the operator, the function and the number of the
    argument; None for anything else."""
    if not _is_made_by(fn, "autograd.wrap_util", "unary_to_nary.<locals>.nary_operator.<locals>.nary_f"):
        return None
    if _cell(fn, "nary_op_args") or _cell(fn, "nary_op_kwargs"):
        return None
    return _cell(fn, "unary_operator").__name__, _cell(fn, "fun"), _cell(fn, "argnum")


def numba_ufunc(fn: Any) -> tuple[types.FunctionType, Any] | None:
    """Of what Numba's ``@vectorize`` and ``@guvectorize`` made: the Python function, and of the latter the names of the
    dimensions of its inputs and its outputs, and the numbers of inputs that are arrays of one element."""
    kind = type(fn)
    if kind.__module__ == "numba.np.ufunc.dufunc":
        return fn._dispatcher.py_func, None
    if kind.__module__ != "numba.np.ufunc.gufunc":
        return None
    builder = fn.gufunc_builder
    declared = [signature.args for signature in builder._sigs]
    boxed = tuple(
        k for k, core in enumerate(builder.sin) if not core and any(getattr(a[k], "ndim", None) == 1 for a in declared))
    return builder.py_func, (tuple(map(tuple, builder.sin)), tuple(map(tuple, builder.sout)), boxed)


def machine_code_of_numba(fn: Any) -> tuple[str, str] | None:
    """Of what ``@numba.stencil`` or ``@jitclass`` made, methods included: its name, and what to write in its place;
    None for anything else. Its Python code means something else than what runs, or is out of reach."""
    fn = fn.__func__ if type(fn) is types.MethodType else fn
    kind = type(fn)
    if (kind.__module__, kind.__name__) == ("numba.stencils.stencil", "StencilFunc"):
        return f"the stencil {fn.kernel_ir.func_id.func_name}", _STENCIL
    if (kind.__module__, kind.__name__) == ("numba.experimental.jitclass.base", "JitClassType"):
        return f"{fn.__name__}, a class of Numba's @jitclass", _CLASS
    if kind is types.FunctionType and fn.__code__.co_qualname == "_generate_method.<locals>.wrapper" and (
            fn.__globals__.get("__name__") == "numba.experimental.jitclass.boxing"):
        return f"{fn.__qualname__}, of Numba's @jitclass", _CLASS
    return None


_STENCIL = "write it with slices, `a[:-2] + a[2:]`, or as a loop over the elements under @njit"
_CLASS = (
    "leave out @jitclass: methods of a plain class are differentiated; or give the numbers and arrays that it holds to "
    "a function under @njit")


def is_prange(value: Any) -> bool:
    """Whether it is ``numba.prange``."""
    return isinstance(value, type) and (value.__module__, value.__name__) == ("numba.misc.special", "prange")


def numba_type(value: Any) -> Any:
    """The dtype that a type of Numba's numbers stands for; None for anything else."""
    if type(value).__module__ != "numba.core.types.scalars" or type(value).__name__ not in _NUMBERS:
        return None
    return sys.modules["numba.np.numpy_support"].as_dtype(value)


_NUMBERS = ("Boolean", "Integer", "IntegerLiteral", "Float", "Complex")


def namesake(fn: Any, package: str, of: types.ModuleType) -> Any:
    """The function of a module that a function written in Python in another package has the name and the place of; None
    where there is none."""
    if type(fn) is not types.FunctionType or fn.__module__ != package:
        return None
    names = (name for name, value in vars(sys.modules[package]).items() if value is fn)
    return next((getattr(of, name) for name in names if hasattr(of, name)), None)


def written_in_python(fn: Any) -> Any:
    """The function in Python that a package has beside a compiled one, of the same name and meaning:
    ``bottleneck.slow`` has one for each of Bottleneck's. None where there is none."""
    package, _, rest = (getattr(fn, "__module__", None) or "").partition(".")
    if type(fn) is not types.BuiltinFunctionType or package != "bottleneck" or not rest:
        return None
    return getattr(importlib.import_module("bottleneck.slow"), fn.__name__, None)
