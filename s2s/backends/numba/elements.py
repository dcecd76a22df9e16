"""Loops over the elements of arrays, as ``rt.places`` begins them, for Numba: without checks of indices, which the
loop has checked before it begins; divided as NumPy divides; sums in any order, so that machine code does several
additions at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

__all__ = ["ELEMENTS", "bound", "place"]

_FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
"""Of the structure that an array is, as ``numba.core.datamodel.models.ArrayModel`` has them."""


@intrinsic
def read(typing_context, array, index):
    """``array[index]``"""
    return _kind(array)(array, index), _read


def _read(context, builder, signature, args):
    kind, place = signature.args[0], _pointer(context, builder, signature, args)
    found = context.unpack_value(builder, kind.dtype, place)
    return found


@intrinsic
def write(typing_context, array, index, value):
    """``array[index] = value``"""
    return types.void(array, index, _kind(array)), _write


def _write(context, builder, signature, args):
    place = _pointer(context, builder, signature, args)
    context.pack_value(builder, signature.args[0].dtype, args[2], place)
    return context.get_dummy_value()


def _kind(array: Any) -> Any:
    """The kind of the elements of an array."""
    if not isinstance(array, types.Array) or not isinstance(array.dtype, (types.Float, types.Integer, types.Boolean)):
        raise TypingError(f"elements of {array} are read one by one")
    return array.dtype


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where an element lies."""
    kind, index = signature.args[0], signature.args[1]
    array = args[0]  # its fields are taken from the value: a copy in memory for each element takes LLVM long to remove
    shape, strides = (
        [builder.extract_value(array, (_FIELDS.index(name), axis)) for axis in range(kind.ndim)]
        for name in ("shape", "strides")
    )
    parts = cgutils.unpack_tuple(builder, args[1]) if isinstance(index, types.BaseTuple) else [args[1]]
    kinds = [*index] if isinstance(index, types.BaseTuple) else [index]  # type: ignore[misc]
    parts = [context.cast(builder, p, k, types.intp) for p, k in zip(parts, kinds, strict=True)]
    data = builder.extract_value(array, _FIELDS.index("data"))
    return cgutils.get_item_pointer2(
        context, builder, data, shape, strides, kind.layout, parts, wraparound=False, boundscheck=False)


@intrinsic
def bound(typing_context, at, n):
    """``rt.bound``"""

    def find(context, builder, signature, args):
        at, n = args
        zero = at.type(0)
        from_end = builder.add(at, n)
        from_end = builder.select(builder.icmp_signed("<", from_end, zero), zero, from_end)
        from_start = builder.select(builder.icmp_signed("<", n, at), n, at)
        return builder.select(builder.icmp_signed("<", at, zero), from_end, from_start)

    return types.intp(types.intp, types.intp), find


@intrinsic
def place(typing_context, at, n):
    """``rt.place``"""

    def find(context, builder, signature, args):
        at, n = args
        found = builder.select(builder.icmp_signed("<", at, at.type(0)), builder.add(at, n), at)
        with builder.if_then(builder.icmp_unsigned(">=", found, n), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ("index is out of bounds",))
        return found

    return types.intp(types.intp, types.intp), find


@intrinsic
def quotient(typing_context, a, b):
    """``a / b``"""

    def divide(context, builder, signature, args):
        return builder.fdiv(*args)

    return types.float64(types.float64, types.float64), divide


@intrinsic
def added(typing_context, total, value):
    """``total + value``"""

    def add(context, builder, signature, args):
        return builder.fadd(*args, flags=("reassoc",))

    return types.float64(types.float64, types.float64), add


@intrinsic
def chosen(typing_context, test, a, b):
    """``np.where(test, a, b)``"""

    def choose(context, builder, signature, args):
        test = args[0] if args[0].type == llvm.IntType(1) else builder.trunc(args[0], llvm.IntType(1))
        return builder.select(test, args[1], args[2])

    return types.float64(types.boolean, types.float64, types.float64), choose


def power(a: Any, b: Any) -> Any:
    """``a ** b``"""
    raise NotImplementedError


@overload(power, jit_options={"error_model": "numpy"})
def _power(a, b):
    return lambda a, b: a**b


ELEMENTS = {f"{name} element": fn for name, fn in {
    "read": read, "write": write, "quotient": quotient, "added": added, "chosen": chosen, "power": power,
}.items()}  # fmt: skip
"""What stands for an operation on elements, by the name that ``element_syntax`` has for it."""
