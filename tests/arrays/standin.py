"""Arrays that are none of NumPy's: they hold one, implement NumPy's protocols, and refuse to become one unasked.

The module has what CuPy 14 has, with its limits: functions take these arrays and numbers, no arrays of NumPy and, where
CuPy takes none, no lists; a reduction gives an array of rank 0, and so does an item; an item is a view.
"""

from __future__ import annotations

import operator
import sys
import types
from typing import Any

import numpy as np

ABSENT = frozenset("""
    block geomspace insert nanpercentile nanquantile polyder polydiv polyint unstack matvec vecdot vecmat errstate
    linalg.diagonal linalg.matrix_norm linalg.multi_dot linalg.outer linalg.svdvals linalg.tensordot linalg.trace
    linalg.vecdot linalg.vector_norm random.Generator lib.array_utils lib.scimath emath ndenumerate nditer frompyfunc
    isnat spacing seterr geterr matrix bmat asmatrix ma testing
""".split())
"""Names of NumPy that CuPy does not have."""

NO_NUMBERS = frozenset("sum mean prod max min std var cumsum cumprod broadcast_to dot stack concatenate where".split())
"""Functions that take no number, or no list, in the place of an array."""

FEW_KEYWORDS = {"sum": {"where", "initial"}, "max": {"where", "initial"}, "min": {"where", "initial"},
                "prod": {"where", "initial"}, "mean": {"where"}, "any": {"where"}, "all": {"where"}}

TRANSFERS = 0
"""How many arrays were made of NumPy's ones, or the other way round, as the tests ask for."""


class ImplicitConversion(TypeError):
    """An array of this module was to become one of NumPy, or a number, where nobody asked for that."""


def refuse(what: str) -> Any:
    raise ImplicitConversion(f"Implicit conversion to {what} is not allowed")


class ndarray:
    """An array of this module."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, held: np.ndarray, base: ndarray | None = None) -> None:
        assert type(held) is np.ndarray, type(held)
        self._held, self._base = held, base

    # --- what it is

    dtype = property(lambda self: self._held.dtype)
    shape = property(lambda self: self._held.shape)
    ndim = property(lambda self: self._held.ndim)
    size = property(lambda self: self._held.size)
    itemsize = property(lambda self: self._held.itemsize)
    nbytes = property(lambda self: self._held.nbytes)
    strides = property(lambda self: self._held.strides)
    flags = property(lambda self: types.SimpleNamespace(
        c_contiguous=self._held.flags.c_contiguous, f_contiguous=self._held.flags.f_contiguous))
    device = property(lambda self: "stand-in 0")
    base = property(lambda self: self._base)
    data = property(lambda self: types.SimpleNamespace(ptr=self._held.__array_interface__["data"][0]))
    T = property(lambda self: wrapped(self._held.T, self))
    mT = property(lambda self: wrapped(self._held.mT, self))
    flat = property(lambda self: wrapped(self._held.reshape(-1), self))

    @property
    def real(self):
        return wrapped(self._held.real, self)

    @real.setter
    def real(self, value):
        self._held.real = bare(value)

    @property
    def imag(self):
        return wrapped(self._held.imag, self)

    @imag.setter
    def imag(self, value):
        self._held.imag = bare(value)

    def __len__(self):
        return len(self._held)

    def __repr__(self):
        return f"standin.{self._held!r}"

    # --- what it refuses

    def __array__(self, *args, **kwargs):
        refuse("a NumPy array")

    def __index__(self):
        raise TypeError("'ndarray' object cannot be interpreted as an integer")

    @property
    def __array_interface__(self):
        refuse("a NumPy array")

    # --- what synchronises: asked for by the program, in words

    def __float__(self):
        return float(self._item())

    def __int__(self):
        return int(self._item())

    def __complex__(self):
        return complex(self._item())

    def __bool__(self):
        return bool(self._held)

    def _item(self):
        if self.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._held[()]

    def item(self):
        return self._held.item()

    def tolist(self):
        return self._held.tolist()

    def get(self):
        return self._held.copy()

    def __reduce__(self):
        return ndarray, (self._held,)

    # --- items

    def __getitem__(self, index):
        found = self._held[bare_index(index)]
        if isinstance(found, np.generic):
            bared = bare_index(index)
            bared = bared if isinstance(bared, tuple) else (bared,)
            found = self._held[(*bared, ...)]
        return wrapped(found, self)

    def __setitem__(self, index, value):
        launched()
        self._held[bare_index(index)] = bare(value)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))

    # --- protocols

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        if method == "at":
            ufunc.at(bare(args[0]), bare_index(args[1]), *map(bare, args[2:]))
            return None
        return call(getattr(ufunc, method), args, kwargs)

    def __array_function__(self, func, kinds, args, kwargs):
        path = func.__module__.partition(".")[2]
        found = sys.modules[__name__]
        for name in [*filter(None, path.split(".")), func.__name__]:
            found = getattr(found, name, None)
        return NotImplemented if found is None else found(*args, **kwargs)

    def __array_namespace__(self, api_version=None):
        return sys.modules[__name__]

    def __deepcopy__(self, memo):
        return self.copy()


def bare(value: Any) -> Any:
    """A value with NumPy's arrays in the place of this module's; those of NumPy itself are refused."""
    if isinstance(value, ndarray):
        return value._held
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {np.ndarray}")
    if isinstance(value, (list, tuple)):
        return type(value)(map(bare, value)) if not hasattr(value, "_make") else value._make(map(bare, value))
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    return value


def bare_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(bare_index, index))
    if isinstance(index, (ndarray,)):
        return index._held
    return index


def wrapped(found: Any, base: ndarray | None = None) -> Any:
    """A result with this module's arrays in the place of NumPy's arrays and numbers."""
    if type(found) is np.ndarray:
        if base is not None and np.may_share_memory(found, base._held):
            return ndarray(found, base if base._base is None else base._base)
        launched()
        return ndarray(found)
    if isinstance(found, np.generic):
        launched()
        return ndarray(np.asarray(found))
    if isinstance(found, (list, tuple)):
        items = [wrapped(item, base) for item in found]
        return found._make(items) if hasattr(found, "_make") else type(found)(items)
    return found


def call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    base = next((a for a in args if isinstance(a, ndarray)), None)
    out = kwargs.get("out")
    made = fn(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()})
    if out is not None:
        return out[0] if isinstance(out, tuple) else out
    return wrapped(made, base)


class ufunc:
    """A ufunc of this module."""

    def __init__(self, host: np.ufunc) -> None:
        self._host, self.__name__, self.nin, self.nout = host, host.__name__, host.nin, host.nout

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(a, Traced) for a in args):
            assert not kwargs
            return traced(self._host, args)
        if "where" in kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if any(isinstance(a, (list, tuple)) for a in args):
            raise TypeError("Unsupported type <class 'list'>")
        return call(self._host, args, kwargs)

    def at(self, a: Any, index: Any, *values: Any) -> None:
        launched()
        if self.__name__ != "add" or a.dtype.kind == "c":
            raise TypeError(f"{self.__name__}.at does not support {a.dtype}")
        self._host.at(a._held, bare_index(index), *map(bare, values))


class _Function:
    def __init__(self, host: Any, path: str) -> None:
        self._host, self._path = host, path
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._path in ("where", "clip") and len(args) == 3 and any(isinstance(a, Traced) for a in args):
            return traced(self._host, args)
        odd = FEW_KEYWORDS.get(self._path, set()) & kwargs.keys()
        if odd:
            raise TypeError(f"{self._path}() got an unexpected keyword argument {odd.pop()!r}")
        if self._path in NO_NUMBERS and args:
            _check_arrays(self._path, args[0])
            if self._path == "dot":
                _check_arrays(self._path, args[1])
        if self._path in ("array", "asarray") and isinstance(args[0], (list, tuple)):
            _check_alike(args[0])
        return call(self._host, args, kwargs)


def _check_arrays(path: str, value: Any) -> None:
    if path in ("stack", "concatenate") and not isinstance(value, ndarray):
        for item in value:
            _check_arrays("dot", item)
    elif not isinstance(value, ndarray):
        raise TypeError(f"{path} takes arrays, not {type(value)}")


def _check_alike(items: Any) -> None:
    """Lists hold arrays or numbers, not both."""
    kinds = {isinstance(item, ndarray) for item in items if not isinstance(item, (list, tuple))}
    if len(kinds) > 1:
        refuse("a NumPy array")
    for item in items:
        if isinstance(item, (list, tuple)):
            _check_alike(item)


class _Module(types.ModuleType):
    def __init__(self, host: Any, path: str) -> None:
        super().__init__(f"{__name__}.{path}")
        self.__dict__.update(_host=host, _path=path)

    def __getattr__(self, name: str) -> Any:
        made = self.__dict__[name] = _find(self._host, self._path, name)
        return made


def _find(host: Any, path: str, name: str) -> Any:
    full = f"{path}.{name}" if path else name
    if name.startswith("__") or full in ABSENT or not hasattr(host, name):
        raise AttributeError(f"module {__name__!r} has no attribute {full!r}")
    found = getattr(host, name)
    if isinstance(found, types.ModuleType):
        return _Module(found, full)
    if isinstance(found, np.ufunc):
        return ufunc(found)
    if isinstance(found, type) or not callable(found):
        return found
    if full == "random.default_rng":
        return lambda *args: Generator(found(*args))
    return _Function(found, full)


class Generator:
    """A generator of random numbers, whose draws are arrays of this module."""

    def __init__(self, host: np.random.Generator) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._host, name)
        return lambda *args, **kwargs: call(method, args, kwargs)


_KEPT: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    if name not in _KEPT:
        _KEPT[name] = _find(np, "", name)
    return _KEPT[name]


def asarray(value: Any, dtype: Any = None) -> ndarray:
    """An array of this module; one of NumPy is copied, as asked for."""
    if isinstance(value, np.ndarray):
        return ndarray(np.array(value, dtype=dtype))
    if isinstance(value, (list, tuple)):
        _check_alike(value)
    made = np.asarray(bare(value), dtype=dtype)
    return value if isinstance(value, ndarray) and made is value._held else ndarray(made)


def array(value: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    """A new array of this module."""
    made = asarray(value, dtype)
    return made.copy() if made is value else made


def may_share_memory(a: ndarray, b: ndarray) -> bool:
    """Whether two arrays may share memory."""
    return np.may_share_memory(a._held, b._held)


def _methods() -> None:
    for name in ("add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne and_ or_ xor lshift rshift".split()):
        fn = getattr(operator, name)
        dunder = name.rstrip("_")

        def plain(self, other, fn=fn):
            if isinstance(other, (list, tuple)):
                raise TypeError("operands of a list")
            if isinstance(other, Traced):
                return NotImplemented
            return wrapped(fn(self._held, bare(other)))

        def turned(self, other, fn=fn):
            return wrapped(fn(bare(other), self._held))

        def inplace(self, other, fn=getattr(operator, f"i{dunder}" if f"i{dunder}" in dir(operator) else "iadd")):
            launched()
            fn(self._held, bare(other))
            return self

        setattr(ndarray, f"__{dunder}__", plain)
        if dunder not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(ndarray, f"__r{dunder}__", turned)
            if dunder != "matmul":
                setattr(ndarray, f"__i{dunder}__", inplace)
    for name in ("neg", "pos", "abs", "invert"):
        setattr(ndarray, f"__{name}__", lambda self, fn=getattr(operator, name): wrapped(fn(self._held)))
    ndarray.__divmod__ = lambda self, other: wrapped(divmod(self._held, bare(other)))
    ndarray.__rdivmod__ = lambda self, other: wrapped(divmod(bare(other), self._held))
    names = """
        all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum
        diagonal dot fill flatten max mean min nonzero partition prod put ravel repeat reshape round searchsorted sort
        squeeze std sum swapaxes take trace transpose var view
    """.split()
    for name in names:

        def method(self, *args, name=name, **kwargs):
            odd = FEW_KEYWORDS.get(name, set()) & kwargs.keys()
            if odd:
                raise TypeError(f"{name}() got an unexpected keyword argument {odd.pop()!r}")
            return call(lambda held, *a, **k: getattr(held, name)(*a, **k), (self, *args), kwargs)

        setattr(ndarray, name, method)


_methods()


# --- functions of elements ------------------------------------------------------------------------------------------

LAUNCHES = 0
"""How many operations have made or changed an array."""


def launched() -> None:
    global LAUNCHES
    LAUNCHES += 1


class Traced:
    """What a function is called with when it is compiled: operations on elements make others, all else is refused."""

    __hash__ = None
    __array_ufunc__ = None

    def __init__(self, make: Any) -> None:
        self._make = make

    def value(self, memo: dict[int, Any]) -> Any:
        """What it is in a launch: computed once, as its operands are."""
        if id(self) not in memo:
            memo[id(self)] = self._make(memo)
        return memo[id(self)]

    def __getattr__(self, name: str) -> Any:
        raise TypeError(f"a function that is compiled has no {name} of an array")

    def __bool__(self):
        raise TypeError("a function that is compiled has no truth of an array")

    def __getitem__(self, index):
        raise TypeError("a function that is compiled has no items")

    def __iter__(self):
        raise TypeError("a function that is compiled has no items")


def traced(fn: Any, args: tuple[Any, ...]) -> Traced:
    """An operation on elements, done when the kernel is launched."""
    for a in args:
        if not isinstance(a, (Traced, int, float, complex, np.generic)):
            raise TypeError(f"{type(a)} in a function that is compiled")
    return Traced(lambda memo: fn(*(a.value(memo) if isinstance(a, Traced) else a for a in args)))


def fuse(kernel_name: str | None = None) -> Any:
    """The decorator of a function of elements: it is compiled for each kind of arguments, and called by one launch."""
    assert kernel_name is None or kernel_name.isidentifier()
    return lambda fn: Kernel(fn, kernel_name or fn.__name__)


KERNELS: list[Kernel] = []


class Kernel:
    """A function of elements that is compiled."""

    def __init__(self, fn: Any, name: str) -> None:
        self.fn, self.name, self.compiled = fn, name, {}
        KERNELS.append(self)

    def __call__(self, *args: Any) -> Any:
        for a in args:
            if not isinstance(a, (ndarray, int, float, complex, np.generic)):
                raise TypeError(f"Invalid argument type for {self.name!r}: {type(a)}")
        if not any(isinstance(a, ndarray) for a in args):
            return self.fn(*args)
        kinds = tuple((a.dtype, a.ndim) if isinstance(a, (ndarray, np.generic)) else type(a) for a in args)
        if kinds not in self.compiled:
            self.compiled[kinds] = self.compile(len(args))
        operands, made = self.compiled[kinds]
        given = [bare(a) for a in args]
        memo = {id(one): value for one, value in zip(operands, given, strict=True)}
        shape = np.broadcast_shapes(*(np.shape(a) for a in given))
        launched()
        results = [one.value(memo) for one in (made if isinstance(made, tuple) else (made,))]
        results = [ndarray(np.array(np.broadcast_to(one, shape))) for one in results]
        return tuple(results) if isinstance(made, tuple) else results[0]

    def compile(self, count: int) -> Any:
        operands = [Traced(None) for _ in range(count)]
        made = self.fn(*operands)
        for one in made if isinstance(made, tuple) else (made,):
            if not isinstance(one, Traced):
                raise TypeError(f"{type(one)} is the result of a function that is compiled")
        return operands, made


def _operators_of_traced() -> None:
    for name in "add sub mul truediv floordiv mod pow lt le gt ge eq ne and_ or_ xor lshift rshift".split():
        fn, dunder = getattr(operator, name), name.rstrip("_")
        setattr(Traced, f"__{dunder}__", lambda self, other, fn=fn: traced(fn, (self, other)))
        if dunder not in ("pow", "lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Traced, f"__r{dunder}__", lambda self, other, fn=fn: traced(fn, (other, self)))
    for name in ("neg", "invert"):
        setattr(Traced, f"__{name}__", lambda self, fn=getattr(operator, name): traced(fn, (self,)))


_operators_of_traced()
