"""NumPy's names in, what another module of arrays has in their place out.

A function is called with arrays of the module, with Python's numbers, and with lists of both, as NumPy's may be. Many
of such a module take arrays alone: what is no array is made one where an array goes in beside it, and what has numbers
only is left to NumPy, on the host, where it costs nothing. What the module does not have is spelled with what it has
(``spelled``), or refused by its name.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.arrays.graphs import ON_GRAPHS
from s2s.arrays.spelled import AT, KEYWORDS, METHODS, SPELLED
from s2s.core.array_classes import has_memory
from s2s.errors import error

__all__ = ["Namespace", "Ufunc", "kind_of"]

MAKERS = frozenset({
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "full",
    "identity", "indices", "linspace", "logspace", "ones", "tri", "zeros", "fft.fftfreq", "fft.rfftfreq", "hanning",
    "hamming", "blackman", "bartlett", "kaiser", "copy", "meshgrid", "broadcast_to", "diag", "vander", "fromiter",
})
"""Functions that make an array, whatever they are given."""

TAKE_LISTS = frozenset({
    "concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack", "block", "select", "choose",
    "einsum", "broadcast_arrays", "broadcast_shapes", "meshgrid", "ix_", "lexsort", "linalg.multi_dot", "result_type",
    "ravel_multi_index", "histogramdd", "zeros", "ones", "empty", "full", "array", "asarray", "asanyarray",
    "unravel_index",
})
"""Functions whose first argument is a list, and stays one."""

HOST = frozenset({
    "finfo", "iinfo", "dtype", "ndindex", "generic", "number", "inexact", "floating", "integer", "bool_", "result_type",
    "promote_types", "can_cast", "issubdtype", "isdtype", "broadcast_shapes", "errstate", "isscalar", "iterable",
    "iscomplexobj", "isrealobj", "newaxis", "pi", "e", "inf", "nan", "euler_gamma",
    "signedinteger", "unsignedinteger", "complexfloating", "longdouble", "clongdouble", "ScalarType", "True_", "False_",
    "object_", "str_", "bytes_", "void", "random.SeedSequence", "ufunc", "lib.array_utils.normalize_axis_index",
    "lib.array_utils.normalize_axis_tuple", "get_printoptions", "exceptions", "linalg.LinAlgError", "typing",
    "geterr", "seterr", "array2string", "array_repr", "array_str", "character", "flexible", "dtypes",
})
"""Names of NumPy that are about no array's content."""

_NUMBERS = (int, float, complex, np.generic)


class Namespace(types.ModuleType):
    """A module of NumPy, with what ``module`` has in its place; ``path`` is its name inside NumPy, ``linalg``."""

    def __init__(
        self, module: types.ModuleType, path: str = "", own: Any = None, host: Any = np, is_for_helpers: bool = False,
        top: Namespace | None = None,
    ) -> None:
        """With ``is_for_helpers`` what NumPy makes of integers alone stays on the host: helpers compute with lengths
        and axes."""
        super().__init__(f"{module.__name__} for {host.__name__}")
        self.__dict__.update(
            _module=module, _path=path, _own=module if own is None else own, _host=host, _is_for_helpers=is_for_helpers,
            _top=self if top is None else top)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self.__dict__[name] = self._find(name)
        return made

    def _find(self, name: str) -> Any:
        host = getattr(self._host, name)  # NumPy's own error where there is no such name
        path = f"{self._path}.{name}" if self._path else name
        own = getattr(self._own, name, None)
        if host is np.ndarray and own is None:
            return self._module.Array
        if isinstance(host, types.ModuleType):
            own = types.SimpleNamespace() if own is None else own
            return Namespace(self._module, path, own, host, self._is_for_helpers, self._top)
        if path in ON_GRAPHS and not has_memory(kind_of(self._module)):
            return _Function(self, path, host, ON_GRAPHS[path])
        if path in SPELLED:
            return _Function(self, path, host, SPELLED[path])
        if path in HOST or (isinstance(host, type) and issubclass(host, tuple)):
            return host
        if own is None and isinstance(host, type) and issubclass(host, np.generic):
            return host
        if own is None and isinstance(host, np.ufunc):  # under another of its names: conj for conjugate
            own = next((vars(self._own)[n] for n, v in vars(np).items() if v is host and n in vars(self._own)), None)
        if own is None and self._is_for_helpers:
            return _Lacking(self._module, path, host)  # helpers name more than a program calls
        if own is None:
            raise _missing(self._module, path)
        if isinstance(host, np.ufunc):
            return Ufunc(self, path, host, own)
        return _Function(self, path, host, None) if isinstance(host, _FUNCTIONS) else own


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))


def _missing(module: types.ModuleType, path: str) -> Exception:
    return error("S2S536", name=f"numpy.{path}", module=module.__name__)


class _Lacking:
    """What a module does not have: refused by its name where it is called, but for integers of the host: the order of
    axes."""

    def __init__(self, module: types.ModuleType, path: str, host: Any) -> None:
        self._module, self._path, self._host = module, path, host
        self._kind = kind_of(module)
        self.__name__ = path.rpartition(".")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self._host, _FUNCTIONS) and not has_array(self._kind, (*args, *kwargs.values())):
            found = self._host(*args, **kwargs)
            if getattr(found, "dtype", np.dtype(float)).kind in "biu":
                return found
        raise _missing(self._module, self._path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise _missing(self._module, f"{self._path}.{name}")


def has_array(kind: type, values: Any) -> bool:
    """Whether an array of a class is among some values, or in lists and tuples of them."""
    for value in values:
        if isinstance(value, kind) or (isinstance(value, (list, tuple)) and has_array(kind, value)):
            return True
    return False


class _Function:
    """A function of NumPy for arrays of another module."""

    def __init__(self, owner: Namespace, path: str, host: Any, spelled: Callable[..., Any] | None) -> None:
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]
        module = owner._module
        self._root, self._path, self._host, self._spelled = module, path, host, spelled
        self._own = None if spelled else getattr(owner._own, self.__name__)
        self._kind = kind_of(module)
        self._makes = path in MAKERS or path.startswith("random.")
        if owner._is_for_helpers and path == "broadcast_to":
            self._makes = False  # of lengths, which stay lengths
        self._lists = path in TAKE_LISTS or self._makes
        self._stays = owner._is_for_helpers
        self._keeps_integers = self._stays or not has_memory(self._kind)  # graphs are computed with those of NumPy, too

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _check_out(self, kwargs)
        if not self._makes and not has_array(self._kind, (*args, *kwargs.values())):
            found = self._host(*args, **kwargs)
            stays = self._keeps_integers and getattr(found, "dtype", np.dtype(float)).kind in "biu"
            return found if stays or not isinstance(found, np.ndarray) else self._root.asarray(found)
        if self._stays and self._path != "transpose":
            args = tuple(self._root.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args)
        if self._spelled is not None:
            return self._spelled(self._root, *args, **kwargs)
        if args and not self._lists and isinstance(args[0], (list, tuple, *_NUMBERS)):
            args = (_as_array(self._root, args[0]), *args[1:])
        odd = KEYWORDS.keys() & {name for name, value in kwargs.items() if _is_given(value)} if kwargs else ()
        if odd and self._path in METHODS:
            return METHODS[self._path](self._root, self._own, *args, **kwargs)
        if odd:
            kwargs = {name: value for name, value in kwargs.items() if _is_given(value)}
        return self._own(*args, **kwargs)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<{self._root.__name__} for numpy.{self._path}>"


def _check_out(function: _Function | Ufunc, keywords: dict[str, Any]) -> None:
    """Raise where a function is to write into what may be a view of a graph: nothing would show in the array."""
    if "out" in keywords and keywords["out"] is not None and not has_memory(function._kind):
        raise error("S2S536", name=f"numpy.{function._path}(out=...)", module=function._root.__name__)


def kind_of(module: types.ModuleType) -> type:
    """The class of the arrays of a module."""
    found: type = module.ndarray if hasattr(module, "ndarray") else module.Array
    return found


def _is_given(value: Any) -> bool:
    return value is not None and value is not np._NoValue


def _as_array(module: Any, value: Any) -> Any:
    """A number, or a list of numbers and arrays, as an array of the module."""
    return SPELLED["array"](module, value)


class Ufunc:
    """A ufunc of NumPy for arrays of another module."""

    def __init__(self, owner: Namespace, path: str, host: np.ufunc, own: Any) -> None:
        self.__name__ = self.__qualname__ = host.__name__
        module = owner._module
        self._root, self._path, self._host, self._own = module, path, host, own
        self._top = owner._top
        self._kind = kind_of(module)
        self.nin, self.nout = host.nin, host.nout

    def __call__(self, *args: Any, where: Any = True, **kwargs: Any) -> Any:
        _check_out(self, kwargs)
        if not has_array(self._kind, args) and "out" not in kwargs:
            return self._host(*args, **kwargs) if where is True else self._host(*args, where=where, **kwargs)
        if any(isinstance(arg, (list, tuple)) for arg in args):
            args = tuple(_as_array(self._root, arg) if isinstance(arg, (list, tuple)) else arg for arg in args)
        if where is True:
            return self._own(*args, **kwargs)
        out = kwargs.pop("out", None)
        made = self._own(*args, **kwargs)
        if out is None:
            return made
        out = out[0] if isinstance(out, tuple) else out
        self._root.copyto(out, made, where=self._root.asarray(where))
        return out

    def at(self, a: Any, indices: Any, *values: Any) -> None:
        """``a[indices] = ufunc(a[indices], values)``, for each place as often as it is named."""
        AT.get(self.__name__, _at)(self._root, self._own, a, indices, *values)

    def reduce(
        self, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        """The ufunc over an axis."""
        function = getattr(self._top, _REDUCED.get(self.__name__, ""), None) if self.__name__ in _REDUCED else None
        if function is None:
            raise _missing(self._root, f"{self._path}.reduce")
        given = {k: v for k, v in dict(dtype=dtype, out=out, **more).items() if _is_given(v)}
        return function(a, axis=axis, keepdims=keepdims, **given)

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The ufunc over the items of an axis up to each."""
        name = {"add": "cumsum", "multiply": "cumprod"}.get(self.__name__)
        if name is None:
            raise _missing(self._root, f"{self._path}.accumulate")
        return getattr(self._top, name)(a, axis=axis)

    def outer(self, a: Any, b: Any) -> Any:
        """The ufunc of each item of ``a`` with each of ``b``."""
        a, b = self._top.asarray(a), self._top.asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b)

    def reduceat(self, a: Any, indices: Any, axis: int = 0, **more: Any) -> Any:
        """The ufunc over parts of an axis, as the module has it."""
        if not hasattr(self._own, "reduceat"):
            raise _missing(self._root, f"{self._path}.reduceat")
        return self._own.reduceat(a, indices, axis=axis)

    def __repr__(self) -> str:
        return f"<{self._root.__name__} for numpy.{self._path}>"


_REDUCED = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}


def _at(module: Any, own: Any, a: Any, indices: Any, *values: Any) -> None:
    own.at(a, indices, *values)
