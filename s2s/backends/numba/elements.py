"""Loops over the elements of arrays, as ``rt.places`` begins them, for Numba: without checks of indices, which the
loop has checked before it begins; divided as NumPy divides; sums in any order, so that machine code does several
additions at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload, register_jitable

from s2s.backends.numba.element_syntax import MOST_AXES

__all__ = ["ELEMENTS", "around", "bound", "place", "turn"]

_FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
"""Of the structure that an array is, as ``numba.core.datamodel.models.ArrayModel`` has them."""


@intrinsic
def memory(typing_context, array):
    """Where an array lies: its first element, and the strides but for the last one of an array in C order. It does not
    keep the array alive, and is much less for LLVM to copy about than the array."""
    if not isinstance(array, types.Array) or not isinstance(array.dtype, (types.Float, types.Integer, types.Boolean)):
        raise TypingError(f"elements of {array} are read one by one")
    strides = array.ndim - 1 if array.layout == "C" else array.ndim
    made = types.Tuple((types.CPointer(array.dtype), *[types.intp] * strides))

    def find(context, builder, signature, args):
        data = builder.extract_value(args[0], _FIELDS.index("data"))
        parts = [builder.extract_value(args[0], (_FIELDS.index("strides"), axis)) for axis in range(strides)]
        return context.make_tuple(builder, made, [data, *parts])

    return made(array), find


@intrinsic
def alive(typing_context, array):
    """Nothing: the array is there until here."""
    return types.void(array), lambda context, builder, signature, args: context.get_dummy_value()


@intrinsic
def read(typing_context, memory, index):
    """``array[index]``"""
    return memory[0].dtype(memory, index), _read


def _read(context, builder, signature, args):
    return context.unpack_value(builder, signature.args[0][0].dtype, _pointer(context, builder, signature, args))


@intrinsic
def write(typing_context, memory, index, value):
    """``array[index] = value``"""
    return types.void(memory, index, memory[0].dtype), _write


def _write(context, builder, signature, args):
    place = _pointer(context, builder, signature, args)
    context.pack_value(builder, signature.args[0][0].dtype, args[2], place)
    return context.get_dummy_value()


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where an element lies."""
    index = signature.args[1]
    parts = cgutils.unpack_tuple(builder, args[1]) if isinstance(index, types.BaseTuple) else [args[1]]
    kinds = [*index] if isinstance(index, types.BaseTuple) else [index]  # type: ignore[misc]
    parts = [context.cast(builder, p, k, types.intp) for p, k in zip(parts, kinds, strict=True)]
    data, *strides = cgutils.unpack_tuple(builder, args[0])
    if strides:
        offset = builder.mul(parts[0], strides[0])
        for part, stride in zip(parts[1:], strides[1:], strict=False):
            offset = builder.add(offset, builder.mul(part, stride))
        data = cgutils.pointer_add(builder, data, offset)
    return builder.gep(data, [parts[-1]]) if len(strides) < len(parts) else data


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
def around(typing_context, at, turn, n):
    """``rt.around``"""

    def find(context, builder, signature, args):
        at, turn, n = args
        found = builder.sub(at, turn)
        return builder.select(builder.icmp_signed("<", at, turn), builder.add(found, n), found)

    return types.intp(types.intp, types.intp, types.intp), find


@register_jitable
def turn(shift, n):
    """``rt.turn``"""
    return shift % n if n else 0


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


@intrinsic
def differ(typing_context, lengths):
    """Whether not all of some lengths are the same: without the tests by which Numba would compare them in pairs."""
    if not isinstance(lengths, types.BaseTuple) or not all(isinstance(n, types.Integer) for n in [*lengths]):  # type: ignore[misc]
        raise TypingError(f"{lengths} are no lengths")

    def compare(context, builder, signature, args):
        kinds = [*signature.args[0]]
        found = [
            context.cast(builder, n, kind, types.intp)
            for n, kind in zip(cgutils.unpack_tuple(builder, args[0]), kinds, strict=True)
        ]
        differs = cgutils.false_bit
        for n in found[1:]:
            differs = builder.or_(differs, builder.icmp_signed("!=", found[0], n))
        return differs

    return types.boolean(lengths), compare


def _length(axis: int) -> Any:
    @intrinsic
    def length(typing_context, array):
        """``array.shape[axis]``"""
        if not isinstance(array, types.Array) or array.ndim <= axis:
            raise TypingError(f"{array} has no length along axis {axis}")

        def find(context, builder, signature, args):
            return builder.extract_value(args[0], (_FIELDS.index("shape"), axis))

        return types.intp(array), find

    return length


def power(a: Any, b: Any) -> Any:
    """``a ** b``"""
    raise NotImplementedError


@overload(power, jit_options={"error_model": "numpy"})
def _power(a, b):
    return lambda a, b: a**b


_FUNCTIONS = {
    "memory": memory, "alive": alive, "read": read, "write": write, "quotient": quotient, "added": added,
    "chosen": chosen, "power": power, "differ": differ, **{f"length {k}": _length(k) for k in range(MOST_AXES)},
}  # fmt: skip

ELEMENTS = {f"{name} element": fn for name, fn in _FUNCTIONS.items()}
"""What stands for an operation on elements, by the name that ``element_syntax`` has for it."""
