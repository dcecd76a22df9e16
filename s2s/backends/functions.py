"""The functions that compiled code calls: ``replacement`` gives what stands for a function or method in it.

Three kinds: functions of NumPy that Numba lacks or has without some keyword, functions of ``math`` that raise where
Python's do, and operations on integers that raise where 64 bits are not enough. What they raise says nothing but that:
who calls compiled code runs the Python function then.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from numba.np.numpy_support import as_dtype

from s2s import runtime as rt
from s2s.backends.adaptation import MATH_RETURNS_FLOAT, Unsupported

__all__ = ["replacement"]

# What Numba compares with each other, the functions below without annotations, must agree in these too.

OPTIONS: dict[str, Any] = {"boundscheck": True}


def replacement(value: Any, call: ast.Call | None) -> Any:
    """What compiled code calls instead of ``value`` (a function, or the name of a method), which is called as in
    ``call`` where that is given; ``value`` itself where Numba has it. Raises Unsupported."""
    if isinstance(value, str) and call is None:
        return _HELPERS[value]
    if isinstance(value, str):
        return _method(value, call)  # type: ignore[arg-type]
    if value in MATH_RETURNS_FLOAT:
        return _checked(value)
    if any(value is function for function in _TO_INTEGER):
        return _to_integer(value)
    if value in _REDUCTIONS and call is not None:
        return _reduction(value, call)
    if value in (np.ndarray.sum, np.ndarray.mean) and call is not None:
        return _reduction(getattr(np, value.__name__), call)
    if value is np.expand_dims and call is not None:
        return _expansion(call)
    module = getattr(value, "__module__", None)
    if module == "s2s.runtime" and value.__name__ in ("call", "call_method", "pulled"):
        raise Unsupported("what is called is known only when it runs", call.lineno if call is not None else 0)
    if _is_random(value):
        raise Unsupported("Numba has random numbers of its own, which NumPy's seed does not change",
                          call.lineno if call is not None else 0)
    return _REPLACED.get(value, value)


def _is_random(value: Any) -> bool:
    owner = getattr(value, "__self__", None)
    makers = (np.random.RandomState, np.random.Generator)
    if isinstance(owner, makers) or getattr(value, "__objclass__", None) in makers:
        return True
    return getattr(value, "__module__", None) in ("random", "numpy.random", "numpy.random.mtrand")


def _method(name: str, call: ast.Call) -> Any:
    """``x.sum(axis=0)`` is the function with the array in front."""
    if name not in ("sum", "mean", "max", "min", "prod", "any", "all") or not (call.args or call.keywords):
        return name
    assert isinstance(call.func, ast.Attribute)
    whole = ast.copy_location(ast.Call(call.func, [call.func.value, *call.args], call.keywords), call)
    made = _reduction(getattr(np, name), whole)
    call.args, call.keywords = [], []
    return made


# --- math -----------------------------------------------------------------------------------------------------------


@functools.cache
def _checked(function: Callable[..., float]) -> Any:
    """A function of ``math`` that raises where its result is not finite although its arguments are."""

    @numba.njit(**OPTIONS)
    def one(x):
        y = function(x)
        if not math.isfinite(y) and math.isfinite(x):
            raise ValueError
        return y

    @numba.njit(**OPTIONS)
    def two(x, z):
        y = function(x, z)
        if not math.isfinite(y) and math.isfinite(x) and math.isfinite(z):
            raise ValueError
        return y

    def either(*args: Any) -> Any:
        raise NotImplementedError

    def choose(x, z=None):
        if isinstance(x, (types.Complex, types.Array)):
            return None
        if z is None or isinstance(z, types.Omitted):
            return lambda x, z=None: one(x)
        return lambda x, z=None: two(x, z)

    overload(either)(choose)
    either.__name__ = function.__name__
    return either


_TO_INTEGER = (int, round, math.floor, math.ceil, math.trunc)


@functools.cache
def _to_integer(function: Any) -> Any:
    """A conversion to an integer that raises where 64 bits are not enough."""

    def convert(*args: Any) -> Any:
        raise NotImplementedError

    def choose(x, digits=None):
        if isinstance(x, types.Float) and (digits is None or isinstance(digits, types.Omitted)):

            def whole(x, digits=None):
                if not abs(x) < 9e18:
                    raise OverflowError
                return function(x)

            return whole
        if digits is None or isinstance(digits, types.Omitted):
            return lambda x, digits=None: function(x)
        return lambda x, digits=None: function(x, digits)

    overload(convert)(choose)
    return convert


# --- integers and powers --------------------------------------------------------------------------------------------

_LIMIT = 9.2e18


def multiply(a: Any, b: Any) -> Any:
    """``a * b``"""
    raise NotImplementedError


def add(a: Any, b: Any) -> Any:
    """``a + b``"""
    raise NotImplementedError


def subtract(a: Any, b: Any) -> Any:
    """``a - b``"""
    raise NotImplementedError


def shift(a: Any, b: Any) -> Any:
    """``a << b``"""
    raise NotImplementedError


def power(a: Any, b: Any) -> Any:
    """``a ** b``"""
    raise NotImplementedError


_HELPERS: dict[str, Any] = {
    "multiply": multiply, "add": add, "subtract": subtract, "shift": shift, "power": power,
}


def _both_integers(a: Any, b: Any) -> bool:
    return isinstance(a, types.Integer) and isinstance(b, types.Integer)


@overload(multiply)
def _multiply(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a * b

    def checked(a, b):
        if abs(float(a) * float(b)) > _LIMIT:
            raise OverflowError
        return a * b

    return checked


@overload(add)
def _add(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a + b

    def checked(a, b):
        if abs(float(a) + float(b)) > _LIMIT:
            raise OverflowError
        return a + b

    return checked


@overload(subtract)
def _subtract(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a - b

    def checked(a, b):
        if abs(float(a) - float(b)) > _LIMIT:
            raise OverflowError
        return a - b

    return checked


@overload(shift)
def _shift(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a << b

    def checked(a, b):
        if b < 0 or b > 62 or abs(float(a)) * 2.0**b > _LIMIT:
            raise OverflowError
        return a << b

    return checked


@overload(power)
def _power(a, b):
    real = (types.Integer, types.Float)
    if _both_integers(a, b):

        def whole(a, b):
            if b < 0 or abs(float(a)) ** float(b) > _LIMIT:
                raise OverflowError
            return a**b

        return whole
    if isinstance(a, real) and isinstance(b, real):

        def finite(a, b):
            y = a**b
            if not math.isfinite(y) and math.isfinite(a) and math.isfinite(b):
                raise ValueError
            return y

        return finite
    return lambda a, b: a**b


# --- in place -------------------------------------------------------------------------------------------------------


@numba.njit
def _ends(a):
    """The addresses of the first byte of an array and of that behind the last."""
    low = high = np.int64(a.ctypes.data)
    for k in range(a.ndim):
        step = (a.shape[k] - 1) * a.strides[k]
        low += min(step, 0)
        high += max(step, 0)
    return low, high + a.itemsize


@numba.njit
def _share(a, b):
    """Whether arrays may share memory, in another way than element by element."""
    if a.size == 0 or b.size == 0:
        return False
    a_low, a_high = _ends(a)
    b_low, b_high = _ends(b)
    if a_high <= b_low or b_high <= a_low:
        return False
    return not (a_low == b_low and a.ndim == b.ndim and a.shape == b.shape and a.strides == b.strides)


@numba.njit
def _share_any_rank(a, b):
    """The same for arrays of different ranks."""
    a_low, a_high = _ends(a)
    b_low, b_high = _ends(b)
    return a.size != 0 and b.size != 0 and a_high > b_low and b_high > a_low


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}


def _in_place(name: str) -> Any:
    """``a += b``, which gives ``a``. Where they share memory, ``a + b`` is made first, as NumPy does."""

    def in_place(a: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(in_place)
    def choose(a, b):
        if isinstance(a, types.Array) and isinstance(b, types.Array):
            return _define(f"""
def in_place(a, b):
    if {"share" if a.ndim == b.ndim else "share_any_rank"}(a, b):
        a[...] = a {_OPERATORS[name]} b
    else:
        a {_OPERATORS[name]}= b
    return a
""")
        if isinstance(a, (types.Array, types.List)):
            return _define(f"def in_place(a, b):\n    a {_OPERATORS[name]}= b\n    return a")
        return _define(f"def in_place(a, b):\n    return a {_OPERATORS[name]} b")

    return in_place


def _item_in_place(name: str) -> Any:
    """``a[index] += b``, right also where they share memory."""

    def in_place(a: Any, index: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(in_place)
    def choose(a, index, b):
        if isinstance(a, types.Array) and isinstance(b, types.Array) and _is_view(a, index):
            return _define("def in_place(a, index, b):\n    change(a[index], b)", change=_HELPERS[f"in_place {name}"])
        return _define(f"def in_place(a, index, b):\n    a[index] {_OPERATORS[name]}= b")

    return in_place


def _is_view(a: Any, index: Any) -> bool:
    """Whether an index gives a view of an array: not a number, and not a copy."""
    parts = _parts(index)
    if not all(isinstance(i, (types.Integer, types.SliceType, types.EllipsisType, types.NoneType)) for i in parts):
        return False
    return sum(isinstance(i, types.Integer) for i in parts) < a.ndim


def _parts(index: Any) -> tuple[Any, ...]:
    """The types of the parts of an index."""
    return tuple(index.types) if hasattr(index, "types") else (index,)


def _define(text: str, **names: Any) -> Any:
    """The function that a text defines."""
    scope: dict[str, Any] = {"np": np, "share": _share, "share_any_rank": _share_any_rank, **names}
    exec(text, scope)
    return next(value for name, value in scope.items() if text.lstrip().startswith(f"def {name}("))


_HELPERS |= {f"in_place {name}": _in_place(name) for name in _OPERATORS}
_HELPERS |= {f"item_in_place {name}": _item_in_place(name) for name in _OPERATORS}


# --- reductions -----------------------------------------------------------------------------------------------------

_REDUCTIONS = {np.sum: "sum", np.mean: "mean", np.max: "max", np.min: "min", np.prod: "prod", np.any: "any",
               np.all: "all"}


def _reduction(function: Any, call: ast.Call) -> Any:
    """What stands for a reduction; its other arguments are taken out of the call, which must have them as constants."""
    given: dict[str, Any] = {}
    for name, value in [*zip(("axis", "dtype"), call.args[1:]), *((k.arg, k.value) for k in call.keywords)]:
        try:
            given[str(name)] = "float64" if _is_float64(value) else ast.literal_eval(value)
        except (ValueError, TypeError):
            raise Unsupported(f"`{ast.unparse(call)}` has an argument that is known only when it runs",
                              call.lineno) from None
    unknown = given.keys() - {"axis", "keepdims", "dtype"}
    if unknown or given.get("dtype") not in (None, "float64"):
        raise Unsupported(f"`{ast.unparse(call)}` has an argument that Numba does not know", call.lineno)
    call.args, call.keywords = call.args[:1], []
    return _reduce(_REDUCTIONS[function], given.get("axis"), bool(given.get("keepdims")), given.get("dtype"))


def _is_float64(value: ast.expr) -> bool:
    return ast.unparse(value) in ("np.float64", "numpy.float64", "float")


@functools.cache
def _reduce(name: str, axis: Any, keepdims: bool, dtype: str | None) -> Any:
    """A reduction over given axes."""
    native = getattr(np, name)

    def reduce(a: Any) -> Any:
        raise NotImplementedError

    @overload(reduce)
    def choose(a):
        if isinstance(a, types.Number):
            return lambda a: a
        if isinstance(a, types.Array):
            if axis is None and not keepdims and dtype is None:
                return lambda a: native(a)
            return _reduce_array(name, a.ndim, axis, keepdims, _kind_of_sum(name, a.dtype, dtype))
        return (lambda a: native(a)) if axis is None and not keepdims and dtype is None else None

    return reduce


def _kind_of_sum(name: str, dtype: Any, wanted: str | None) -> Any:
    if name in ("any", "all"):
        return types.boolean
    if wanted is not None:
        return types.float64
    if name == "mean":
        return types.float64 if isinstance(dtype, (types.Integer, types.Boolean)) else dtype
    whole = name in ("sum", "prod") and isinstance(dtype, (types.Integer, types.Boolean))
    return types.int64 if whole else dtype


_START = {"sum": "0", "mean": "0", "prod": "1", "any": "False", "all": "True"}
_STEP = {
    "sum": ("{out} += v",), "mean": ("{out} += v",), "prod": ("{out} *= v",),
    "any": ("{out} = {out} or v != 0",), "all": ("{out} = {out} and v != 0",),
    "max": ("if v > {out} or v != v:", "    {out} = v"), "min": ("if v < {out} or v != v:", "    {out} = v"),
}  # fmt: skip


def _reduce_array(name: str, rank: int, axis: Any, keepdims: bool, kind: Any) -> Any:
    """The loops of a reduction, written for the rank of its array; None where it has no such axis."""
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    is_complex = isinstance(kind, types.Complex) and name in ("max", "min")
    if is_complex or any(not -rank <= k < rank for k in axes):
        return None
    over = sorted({k % rank for k in axes})
    left = [k for k in range(rank) if k not in over]
    out = f"out[{', '.join(f'i{k}' for k in left)}]" if left else "out"
    lines = ["def reduction(a):"]
    if name in ("max", "min"):
        lines += [f"    if a.shape[{k}] == 0: raise ValueError" for k in over]
        first = ", ".join(":" if k in left else "0" for k in range(rank)) or "()"
        lines.append(f"    out = a[{first}]{'.copy()' if left else ''}")
    elif left:
        lines.append(f"    out = np.full(({_lengths(left)}), {_START[name]}, dtype)")
    else:
        lines.append(f"    out = kind({_START[name]})")
    space = "    "
    for k in range(rank):
        lines.append(f"{space}for i{k} in range(a.shape[{k}]):")
        space += "    "
    lines.append(f"{space}v = a[{', '.join(f'i{k}' for k in range(rank)) or '()'}]")
    lines += [space + step.format(out=out) for step in _STEP[name]]
    if name == "mean":
        lines.append(f"    out = out / ({' * '.join(f'a.shape[{k}]' for k in over) or '1'})")
    if keepdims:
        whole = "".join("1, " if k in over else f"a.shape[{k}], " for k in range(rank))
        lines.append(f"    return out.reshape(({whole}))" if left else f"    return np.full(({whole}), out)")
    else:
        lines.append("    return out")
    scope: dict[str, Any] = {"np": np, "kind": kind, "dtype": as_dtype(kind)}
    exec("\n".join(lines), scope)
    return scope["reduction"]


def _lengths(axes: list[int]) -> str:
    return "".join(f"a.shape[{k}], " for k in axes)


def _expansion(call: ast.Call) -> Any:
    """What stands for ``np.expand_dims`` with constant axes, of which Numba takes one."""
    axis = call.args[1] if len(call.args) > 1 else call.keywords[0].value
    try:
        axes = ast.literal_eval(axis)
    except ValueError:
        return np.expand_dims
    call.args, call.keywords = call.args[:1], []
    return _expand(axes if isinstance(axes, tuple) else (axes,))


@functools.cache
def _expand(axes: tuple[int, ...]) -> Any:
    def expand(a: Any) -> Any:
        raise NotImplementedError

    @overload(expand)
    def choose(a):
        if not isinstance(a, types.Array):
            return None
        made = "a"
        for k in sorted(k % (a.ndim + len(axes)) for k in axes):
            made = f"np.expand_dims({made}, {k})"
        scope: dict[str, Any] = {"np": np}
        exec(f"def expand(a):\n    return {made}", scope)
        return scope["expand"]

    return expand


# --- NumPy ----------------------------------------------------------------------------------------------------------


def full_like(a: Any, value: Any) -> Any:
    """``np.full_like``, for an array of values too."""
    raise NotImplementedError


@overload(full_like)
def _full_like(a, value):
    if not isinstance(a, types.Array) or isinstance(value, types.Number):
        return lambda a, value: np.full_like(a, value)

    def fill(a, value):
        out = np.empty_like(a)
        out[...] = value
        return out

    return fill


def matmul(a: Any, b: Any) -> Any:
    """``a @ b``"""
    raise NotImplementedError


@overload(matmul)
def _matmul(a, b):
    return lambda a, b: a @ b


def add_at(a: Any, index: Any, value: Any) -> None:
    """``np.add.at``"""
    raise NotImplementedError


@overload(add_at)
def _add_at(a, index, value):
    if not isinstance(a, types.Array):
        return None
    one = _value_at(value)
    apart = _refuse_shared if isinstance(value, types.Array) else register_jitable(lambda a, value: None)
    if all(isinstance(part, (types.Integer, types.SliceType)) for part in _parts(index)):

        def once(a, index, value):
            a[index] += value

        return once
    if _is_list_of_places(index) and index.ndim == 1 and one is not None:

        def rows(a, index, value):
            apart(a, value)
            for k in range(index.shape[0]):
                a[index[k]] += one(value, k, index.shape[0])

        return rows
    pair = len(_parts(index)) == 2 and a.ndim == 2
    if pair and all(_is_list_of_places(part) and part.ndim == 1 for part in _parts(index)) and one is not None:

        def places(a, index, value):
            apart(a, value)
            first, second = index
            if first.shape[0] != second.shape[0]:
                raise ValueError
            for k in range(first.shape[0]):
                a[first[k], second[k]] += one(value, k, first.shape[0])

        return places
    return None


@register_jitable
def _refuse_shared(a, value):
    """Raise where the values to add are part of the array that they are added to."""
    if _share_any_rank(a, value):
        raise ValueError


def _is_list_of_places(index: Any) -> bool:
    return isinstance(index, types.Array) and isinstance(index.dtype, types.Integer)


def _value_at(value: Any) -> Any:
    """The item of the values to add that goes to the k-th place; None for kinds of values that are not known."""
    if isinstance(value, types.Number):
        return register_jitable(lambda value, k, n: value)
    if isinstance(value, types.Array) and value.ndim >= 1:

        def item(value, k, n):
            if value.shape[0] != n:
                raise ValueError
            return value[k]

        return register_jitable(item)
    return None


# --- cotangents of any shape ----------------------------------------------------------------------------------------


def unbroadcast(g: Any, x: Any) -> Any:
    """``rt.unbroadcast``"""
    raise NotImplementedError


@overload(unbroadcast)
def _unbroadcast(g, x):
    if isinstance(x, types.Array) and isinstance(g, (types.Array, types.Number)):
        return _sum_to(g, x)
    if isinstance(x, types.Number) and isinstance(g, types.Array):
        return (lambda g, x: np.sum(g)) if isinstance(x, types.Complex) else (lambda g, x: np.sum(g).real)
    return _cast(g, x)


def _sum_to(g, x):
    """The loops that add up ``g`` where ``x`` is stretched, or stretch it, written for their ranks."""
    if not isinstance(x.dtype, (types.Float, types.Complex)):
        return None
    rank = g.ndim if isinstance(g, types.Array) else 0
    if rank == 0:
        number = "g[()]" if isinstance(g, types.Array) else "g"
    most = max(rank, x.ndim)
    lines = ["def unbroadcast(g, x):", "    out = np.zeros(x.shape, dtype)"]
    places: dict[str, list[str]] = {"g": [], "x": []}
    space = "    "
    for k in range(most):
        own = {name: k - most + n for name, n in (("g", rank), ("x", x.ndim))}
        lengths = [f"{name}.shape[{axis}]" for name, axis in own.items() if axis >= 0]
        lines.append(f"{space}for i{k} in range({f'max({lengths[0]}, {lengths[1]})' if lengths[1:] else lengths[0]}):")
        space += "    "
        for name, axis in own.items():
            if axis >= 0:
                places[name].append(f"i{k} if {name}.shape[{axis}] != 1 else 0")
    value = f"g[{', '.join(places['g'])}]" if rank else number
    real = "" if isinstance(x.dtype, types.Complex) else ".real"
    lines += [f"{space}out[{', '.join(places['x']) or '()'}] += ({value}){real}", "    return out"]
    scope: dict[str, Any] = {"np": np, "dtype": as_dtype(x.dtype)}
    exec("\n".join(lines), scope)
    return scope["unbroadcast"]


def cast(g: Any, x: Any) -> Any:
    """``rt.cast``"""
    raise NotImplementedError


@overload(cast)
def _cast(g, x):
    if isinstance(x, types.Array) and isinstance(g, types.Array) and isinstance(x.dtype, (types.Float, types.Complex)):
        if isinstance(g.dtype, types.Complex) and isinstance(x.dtype, types.Float):
            return None
        dtype = as_dtype(x.dtype)
        return lambda g, x: g.astype(dtype)
    if isinstance(g, types.Complex) and isinstance(x, (types.Integer, types.Float)):
        return lambda g, x: g.real
    if isinstance(g, types.Number) and isinstance(x, (types.Integer, types.Float)):
        return lambda g, x: float(g)
    return None


def zeros_like(x: Any) -> Any:
    """``rt.zeros_like`` and ``rt.zeros_of``"""
    raise NotImplementedError


@overload(zeros_like)
def _zeros_like(x):
    if isinstance(x, types.Array) and isinstance(x.dtype, (types.Float, types.Complex)):
        return lambda x: np.zeros_like(x)
    if isinstance(x, types.Float):
        return lambda x: 0.0
    if isinstance(x, types.List) and isinstance(x.dtype, types.Float):
        return lambda x: [0.0] * len(x)
    if isinstance(x, types.List):
        return lambda x: [zeros_like(item) for item in x]
    return None


def mirror(g: Any, items: Any) -> Any:
    """``rt.mirror``"""
    raise NotImplementedError


@overload(mirror)
def _mirror(g, items):
    if isinstance(items, types.List):
        return lambda g, items: [mirror(g[i], items[i]) for i in range(len(items))]
    if isinstance(items, types.BaseTuple):
        return _for_items(items, "g, items", "mirror(g[{k}], items[{k}])", mirror)
    return lambda g, items: cast(g, items)


def plus(a: Any, b: Any) -> Any:
    """``rt.add``"""
    raise NotImplementedError


@overload(plus)
def _plus(a, b):
    if isinstance(a, types.NoneType):
        return lambda a, b: b
    if isinstance(b, types.NoneType):
        return lambda a, b: a
    if isinstance(a, types.List):
        return lambda a, b: [plus(x, y) for x, y in zip(a, b)]
    if isinstance(a, types.BaseTuple):
        return _for_items(a, "a, b", "plus(a[{k}], b[{k}])", plus)
    return lambda a, b: a + b


def _for_items(items, parameters, text, function):
    """A function that gives a tuple of what ``text`` gives for each item; the helper that it calls is ``function``."""
    if isinstance(items, types.BaseNamedTuple):
        return None
    parts = "".join(f"{text.format(k=k)}, " for k in range(len(items)))
    scope: dict[str, Any] = {function.__name__: function}
    exec(f"def for_items({parameters}):\n    return ({parts})", scope)
    return scope["for_items"]


def index_bar(x: Any, index: Any, g: Any) -> Any:
    """``rt.index_bar``"""
    raise NotImplementedError


@overload(index_bar)
def _index_bar(x, index, g):
    if isinstance(x, types.Array):

        def of_array(x, index, g):
            x_bar = zeros_like(x)
            add_at(x_bar, index, g)
            return x_bar

        return of_array
    if isinstance(x, types.List) and isinstance(x.dtype, types.Float):

        def of_list(x, index, g):
            x_bar = [0.0] * len(x)
            x_bar[index] = g
            return x_bar

        return of_list
    return None


def check_scalar(value: Any) -> None:
    """``rt.check_scalar``, which tells the user what is wrong"""
    raise NotImplementedError


@overload(check_scalar)
def _check_scalar(value):
    if isinstance(value, types.Float) or (
        isinstance(value, types.Array) and value.ndim == 0 and isinstance(value.dtype, types.Float)
    ):
        return lambda value: None
    return _refuse


def _refuse(value):
    raise TypeError


def check_own(value: Any) -> None:
    """``rt.check_own``"""
    raise NotImplementedError


@overload(check_own)
def _check_own(value):
    is_array = isinstance(value, types.Array) and value.ndim > 0
    return _refuse if is_array or isinstance(value, types.List) else lambda value: None


def to_float(x: Any) -> Any:
    """``float``"""
    raise NotImplementedError


@overload(to_float)
def _to_float(x):
    return (lambda x: x.item()) if isinstance(x, types.Array) else lambda x: float(x)


# --- Python ---------------------------------------------------------------------------------------------------------


@numba.njit(**OPTIONS)
def any_of(items):  # type: ignore[no-untyped-def]
    """``any``"""
    for item in items:  # noqa: SIM110 (Numba has no any)
        if item:
            return True
    return False


@numba.njit(**OPTIONS)
def all_of(items):  # type: ignore[no-untyped-def]
    """``all``"""
    for item in items:  # noqa: SIM110
        if not item:
            return False
    return True


@numba.njit(**OPTIONS)
def is_close(a, b, rel_tol=1e-9, abs_tol=0.0):  # type: ignore[no-untyped-def]
    """``math.isclose``"""
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


_REPLACED: dict[Any, Any] = {np.full_like: full_like, np.matmul: matmul, np.add.at: add_at, any: any_of, all: all_of,
                             math.isclose: is_close, float: to_float, rt.unbroadcast: unbroadcast, rt.cast: cast,
                             rt.zeros_like: zeros_like, rt.zeros_of: zeros_like, rt.check_scalar: check_scalar,
                             rt.check_own: check_own, rt.mirror: mirror, rt.add: plus, rt.index_bar: index_bar,
                             rt.accumulate: add_at}

