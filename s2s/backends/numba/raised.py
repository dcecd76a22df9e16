"""An exception that Python raises in a call out of compiled code in, the same as compiled code raises its own out.

Numba knows an exception by the address of its pickled class and arguments. One of Python is set in the thread, where
nothing clears it if compiled code catches it (``try`` in a function of the user's): the next call of Python fails.
"""

from __future__ import annotations

import ctypes
import hashlib
from typing import Any

from numba.core import callconv, serialize

__all__ = ["noted", "raise_noted"]


class _Exception(ctypes.Structure):
    """As ``numba.core.callconv.excinfo_t`` has it."""

    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_int32), ("digest", ctypes.c_char_p),
                ("unwrap", ctypes.c_void_p), ("is_dynamic", ctypes.c_int32)]


_IS_KNOWN = [str(kind) for kind in callconv.excinfo_t.elements] == ["i8*", "i32", "i8*", "i8*", "i32"]

MOST = 256
"""So many exceptions are known; others have no arguments."""

_known: dict[bytes, _Exception] = {}
"""By what is pickled. They stay: compiled code may have the address of one."""


class _Address(int):
    """The address of an exception, in place of a result."""


def noted(raised: Exception) -> _Address:
    """What a call gives in place of a result, so that compiled code raises this."""
    if not _IS_KNOWN:
        raise raised
    for kind, args in ((type(raised), raised.args), (type(raised), (str(raised),)), (RuntimeError, (str(raised),))):
        try:
            pickled = serialize.dumps((kind, args, None))
            serialize.loads(pickled)
        except Exception:  # it is of a class, or has arguments, that cannot be pickled
            continue
        if pickled in _known or len(_known) < MOST:
            return _address(pickled)
    return _address(serialize.dumps((RuntimeError, (), None)))


def _address(pickled: bytes) -> _Address:
    found = _known.get(pickled)
    if found is None:
        found = _known[pickled] = _Exception(pickled, len(pickled), hashlib.sha1(pickled).digest(), None, 0)
    return _Address(ctypes.addressof(found))


def raise_noted(context: Any, builder: Any, python: Any, lock: Any, found: Any) -> None:
    """Raise where a call has given what ``noted`` gives; gives back the ``lock`` of Python."""
    cls = context.add_dynamic_addr(builder, id(_Address), info="of exceptions")
    is_noted = builder.icmp_unsigned("==", python.get_type(found), builder.bitcast(cls, python.pyobj))
    with builder.if_then(is_noted, likely=False):
        address = builder.bitcast(python.long_as_voidptr(found), callconv.excinfo_ptr_t)
        python.decref(found)
        python.gil_release(lock)
        fields = dict.fromkeys(callconv.Status._fields) | {"code": callconv.RETCODE_USEREXC, "excinfoptr": address}
        context.call_conv.return_status_propagate(builder, callconv.Status(**fields))
        if not builder.block.is_terminated:
            builder.unreachable()  # what calls Python catches nothing
