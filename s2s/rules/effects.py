"""What calls do beside giving a result: what they change, whether they act on the world, what they raise and cost.

A function of NumPy, SciPy or Python that is not described here leaves its arguments as they are; one with a rule, and
an operation, does nothing but give its result (``analysis.functions``).
"""

from __future__ import annotations

import builtins
import collections
import functools
import operator

import numpy as np

from s2s import runtime as rt
from s2s.core import operators, ops
from s2s.core.functions import EVERYTHING, Raises, Result
from s2s.rules.functions import describe

# --- functions that change their arguments --------------------------------------------------------------------------

_ARRAYS = (
    np.put, np.place, np.putmask, np.copyto, np.put_along_axis, np.fill_diagonal, np.ndarray.put, np.ndarray.fill,
    np.ndarray.setflags, np.ndarray.resize, np.ndarray.sort, np.ndarray.partition, np.ndarray.setfield,
    np.ndarray.byteswap, np.ndarray.__setitem__, np.ndarray.__setstate__, rt.accumulate,
    *(getattr(np.ndarray, f"__i{name}__") for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")),
)  # fmt: skip
describe(
    *_ARRAYS, operator.setitem, operator.delitem, operator.iconcat, ops.push, ops.pull, builtins.setattr,
    builtins.delattr, builtins.next, changes=(0,), pure=False,
)
describe(*_ARRAYS, holds=False)
describe(*operators.PLAIN, changes=(0,))
for _type, _changing in {
    list: "append extend insert remove pop clear reverse sort __setitem__ __delitem__ __iadd__ __imul__ __init__",
    dict: "pop popitem clear update setdefault __setitem__ __delitem__ __ior__ __init__",
    set: "add discard remove pop clear update difference_update intersection_update symmetric_difference_update"
         " __ior__ __iand__ __ixor__ __isub__ __init__",
    frozenset: "",
    collections.deque: "append appendleft extend extendleft insert remove pop popleft clear reverse rotate"
                       " __setitem__ __delitem__ __iadd__ __imul__ __init__",
    collections.OrderedDict: "pop popitem clear update setdefault move_to_end __setitem__ __delitem__ __ior__ __init__",
}.items():  # fmt: skip
    _changes = {vars(_type)[name] for name in _changing.split()}
    describe(*_changes, changes=(0,), acts=False)
    describe(*{m for m in vars(_type).values() if callable(m)} - _changes, changes=(), acts=False, calls_back=False)
describe(operator.call, changes=(EVERYTHING,))

# --- functions that act ---------------------------------------------------------------------------------------------

describe(
    np.ndarray.tofile, np.ndarray.dump, builtins.print, np.info, np.seterr, builtins.hash, builtins.id,
    acts=True, pure=False,
)
describe(rt.check_unchanged, rt.give_back, pure=False)
describe(
    builtins.str, builtins.repr, builtins.ascii, builtins.format, builtins.bytes, str.format, str.format_map, str.join,
    ops.format_string, ops.format_value, np.array2string, np.array_repr, np.array_str, np.format_float_positional,
    np.format_float_scientific, np.ndarray.tobytes, np.ndarray.tofile, np.ndarray.dump, np.ndarray.dumps,
    writes_down=True,
)
describe(
    rt.call, rt.call_again, rt.call_method, rt.call_method_again, rt.push, rt.look, rt.Snapshots, rt.Calls,
    rt.Adjoints, operator.call, acts=True, pure=False,
)
describe(
    builtins.abs, builtins.all, builtins.any, builtins.ascii, builtins.bool, builtins.bytes, builtins.callable,
    builtins.chr, builtins.complex, builtins.dict, builtins.dir, builtins.divmod, builtins.enumerate, builtins.float,
    builtins.format, builtins.frozenset, builtins.getattr, builtins.globals, builtins.hasattr, builtins.int,
    builtins.isinstance,
    builtins.issubclass, builtins.len, builtins.list, builtins.ord, builtins.pow, builtins.range, builtins.repr,
    builtins.reversed, builtins.round, builtins.set, builtins.slice, builtins.str, builtins.sum, builtins.tuple,
    builtins.type, builtins.zip,
    np.dtype, np.finfo, np.iinfo, np.issubdtype, np.isdtype, np.result_type, np.promote_types, np.can_cast,
    np.lib.array_utils.normalize_axis_index, acts=False, calls_back=False,
)
describe(builtins.max, builtins.min, builtins.sorted, acts=False, calls_back=("key",))
describe(list.sort, calls_back=("key",))
describe(np.pad, builtins.map, builtins.filter, functools.reduce, np.fromfunction, calls_back=True)
describe(ops.make_tuple, ops.make_list, ops.make_dict, builtins.slice, operator.is_, operator.is_not, looks=False)
describe(rt.make_object, functools.partial, looks=False)

describe(
    builtins.iter, builtins.zip, builtins.map, builtins.enumerate, builtins.reversed, builtins.filter, np.ndenumerate,
    np.ndindex, result=Result.ITERATOR,
)

# --- what they cost, raise and warn ---------------------------------------------------------------------------------

describe(
    operator.getitem, builtins.getattr, builtins.len, builtins.range, builtins.slice, ops.make_tuple, np.shape, np.ndim,
    np.size, builtins.reversed, *(one.fn for one in operators.OPERATORS.values() if one.is_cheap), builtins.min,
    builtins.max, builtins.abs, builtins.isinstance, builtins.float, builtins.int, cheap=True,
)
describe(
    operator.matmul, operator.getitem, builtins.getattr, builtins.len, np.shape, rt.quotient, rt.power,
    *(getattr(np.linalg, name) for name in np.linalg.__all__ if name != "LinAlgError"), shared=True,
)
describe(
    ops.make_tuple, ops.make_list, ops.append, builtins.isinstance, builtins.type, builtins.id, builtins.slice,
    builtins.callable, operator.is_, operator.is_not, functools.partial, builtins.issubclass, raises=Raises.NEVER,
)
describe(
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.lt, operator.le, operator.gt,
    operator.ge, operator.eq, operator.ne, operator.not_, builtins.abs, builtins.float, builtins.bool, builtins.min,
    builtins.max, builtins.str, builtins.repr, raises=Raises.NOT_FOR_PYTHON,
)
describe(
    np.shape, np.ndim, np.size, np.asarray, np.asanyarray, np.array, np.atleast_1d, np.atleast_2d, np.copy,
    np.zeros_like, np.ones_like, np.empty_like, np.transpose, np.ravel, np.ndarray.copy, np.ndarray.ravel, np.iterable,
    np.isscalar, np.result_type, np.errstate, builtins.iter, raises=Raises.NOT_FOR_ARRAYS,
)
describe(
    np.take, np.ndarray.take, np.take_along_axis, np.choose, np.ndarray.choose, np.compress, np.insert, np.delete,
    np.unravel_index, np.ravel_multi_index, np.put, np.ndarray.item, np.select, np.bincount,
    raises=Raises.OUT_OF_BOUNDS,
)
describe(
    builtins.slice, ops.make_tuple, builtins.getattr, operator.add, operator.sub, operator.mul, operator.neg,
    operator.pos, operator.getitem, np.transpose, warns=False,
)
