"""Objects, functions, modules and files that note, or show, that code of theirs was run."""

import contextlib
import enum
import functools
import itertools
import operator
import random

import numpy as np

RAN: list[str] = []
"""What was run, by name."""


def note(what):
    RAN.append(what)


def record(*args, **kwargs):
    note("record")
    return args[0] if args else 0.0


# --- classes whose methods note that they run -----------------------------------------------------------------------

_RESULTS = {
    "__bool__": True, "__len__": 2, "__eq__": False, "__hash__": 7, "__format__": "f", "__str__": "s", "__repr__": "r",
    "__contains__": True, "__float__": 1.5, "__int__": 2, "__index__": 1, "__call__": 1.0, "__complex__": 1j,
    "__exit__": False, "__next__": 1.0, "__getitem__": 1.0, "__instancecheck__": False, "__subclasscheck__": False,
    "__array_function__": 1.0, "__array_ufunc__": 1.0, "__length_hint__": 2, "__round__": 1, "__floor__": 1,
    "__ceil__": 1, "__trunc__": 1, "__fspath__": "p", "__bytes__": b"b",
}
_MADE = {"__iter__": lambda: iter((1.0, 2.0)), "__reversed__": lambda: iter((2.0, 1.0)),
"__array__": lambda: np.ones(3)}
_ARITHMETIC = [f"__{side}{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
) for side in ("", "r", "i")]
_COMPARED = ["__lt__", "__le__", "__gt__", "__ge__", "__ne__", "__neg__", "__pos__", "__abs__", "__invert__"]
_CHANGED = ["__setattr__", "__delattr__", "__setitem__", "__delitem__"]
_OF_BOTH = ["__bool__", "__eq__", "__ne__", "__lt__", "__hash__", "__format__", "__str__", "__repr__", "__iter__",
            "__contains__", "__getattr__", "__add__", "__radd__", "__mul__", "__rmul__", "__pow__", "__neg__"]


def _hook(owner, name):
    def hook(self, *args, **kwargs):
        note(f"{owner}.{name}")
        if name == "__getattr__" and args[0].startswith("__"):
            raise AttributeError(args[0])
        if name in ("__enter__", "__copy__"):
            return self
        return _MADE[name]() if name in _MADE else _RESULTS.get(name, 1.0)

    return hook


def loud(name, bases=(), names=()):
    """A class with methods that note that they run."""
    return type(name, bases, {n: _hook(name, n) for n in names} | {"__module__": __name__})


Loud = loud("Loud", (), [
    n for n in (*_RESULTS, *_MADE, *_ARITHMETIC, *_COMPARED, *_CHANGED, "__getattr__", "__enter__", "__copy__",
                "__deepcopy__", "__dir__") if "check" not in n])
LoudFloat = loud("LoudFloat", (float,), [*_OF_BOTH, "__float__", "__int__"])
LoudInt = loud("LoudInt", (int,), [*_OF_BOTH, "__float__", "__index__"])
LoudStr = loud("LoudStr", (str,), [*_OF_BOTH, "__len__", "__getitem__", "upper", "format", "split"])
LoudList = loud("LoudList", (list,), [*_OF_BOTH, "__len__", "__getitem__", "append"])
LoudTuple = loud("LoudTuple", (tuple,), [*_OF_BOTH, "__len__", "__getitem__"])
LoudDict = loud("LoudDict", (dict,), [*_OF_BOTH, "__len__", "__getitem__", "get", "items", "keys"])
Meta = loud("Meta", (type,), [
    "__instancecheck__", "__subclasscheck__", "__getattr__", "__hash__", "__eq__", "__bool__", "__len__", "__iter__",
    "__contains__", "__call__", "__getitem__", "__repr__", "__or__",
])
Classed = Meta("Classed", (), {"__module__": __name__})


class Watched:
    """An object each question to which is seen, also that for its class."""

    def __getattribute__(self, name):
        note(f"Watched.{name}")
        return object.__getattribute__(self, name)


class Faked:
    @property
    def __class__(self):
        note("Faked.__class__")
        return int


class WatchedMeta(type):
    def __getattribute__(cls, name):
        note(f"WatchedMeta.{name}")
        return type.__getattribute__(cls, name)


WatchedClass = WatchedMeta("WatchedClass", (), {"__module__": __name__})


class Descriptor:
    def __get__(self, owner, kind=None):
        note("Descriptor.__get__")
        return 1.0

    def __set__(self, owner, value):
        note("Descriptor.__set__")

    def __set_name__(self, owner, name):
        note("Descriptor.__set_name__")


class Described:
    attr = Descriptor()

    @property
    def prop(self):
        note("prop")
        return 1.0

    @functools.cached_property
    def cached(self):
        note("cached")
        return 1.0


RAN.clear()


class Color(enum.Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value):
        note("Color._missing_")
        return cls.RED

    @property
    def shade(self):
        note("Color.shade")
        return 2.0


class LoudArray(np.ndarray):
    def __array_function__(self, *args, **kwargs):
        note("LoudArray.__array_function__")
        return 1.0

    def __array_ufunc__(self, *args, **kwargs):
        note("LoudArray.__array_ufunc__")
        return 1.0


class Parametrised:
    def __class_getitem__(cls, key):
        note("__class_getitem__")
        return cls


class Registered:
    def __init_subclass__(cls, **options):
        note("__init_subclass__")


# --- functions ------------------------------------------------------------------------------------------------------


@functools.lru_cache
def cached_name(n):
    note("cached_name")
    return "name"


@functools.lru_cache
def cached_number(n):
    note("cached_number")
    return 2


def generated():
    note("generated")
    yield 1.0


@contextlib.contextmanager
def manager(flag=True):
    note("manager")
    yield


@functools.singledispatch
def generic(value):
    note("generic")
    return 1.0


UFUNC = np.frompyfunc(record, 1, 1)
UFUNC2 = np.frompyfunc(record, 2, 1)
VECTORIZED = np.vectorize(record)
PARTIAL = functools.partial(record, 1.0)
METHOD = operator.methodcaller("attr")
GENERATOR = (float(note("item") or i) for i in range(5))
COUNT = itertools.count()
RNG = np.random.default_rng(0)
PYTHON_RNG = random.Random(0)
K = np.arange(3.0)
D = {"a": 1.0}
L = [1.0, 2.0]

LOUD, WATCHED, FAKED, DESCRIBED = Loud(), Watched(), Faked(), Described()
LFLOAT, LINT, LSTR, LLIST, LTUPLE, LDICT = (
    LoudFloat(1.5), LoudInt(2), LoudStr("ab"), LoudList([1.0, 2.0]), LoudTuple((1.0, 2.0)), LoudDict(a=1.0))
LARRAY = np.ones(3).view(LoudArray)
OARRAY = np.empty(2, object)
OARRAY[0] = OARRAY[1] = LOUD


class Holder:
    pass


HOLDER = Holder()
HOLDER.loud, HOLDER.watched, HOLDER.name = LOUD, WATCHED, "name"
IN_LIST, IN_TUPLE, IN_DICT = [LOUD, 1.0], (LOUD, 1.0), {1: LOUD}
RAN.clear()


def state():
    """What code that runs would change, besides files."""
    return (
        K.tobytes(), K.flags.writeable, sorted(D.items()), list(L), sorted(vars(HOLDER)), sorted(vars(DESCRIBED)),
        str(RNG.bit_generator.state), str(np.random.get_state()), PYTHON_RNG.getstate(), random.getstate(),
        np.geterr(), GENERATOR.gi_frame.f_lasti, repr(COUNT), str(np.get_printoptions()), np.getbufsize(),
        list.__len__(LLIST), cached_name.cache_info().currsize,
    )
