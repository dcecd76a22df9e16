"""Run as Python what s2s gives to Numba, without LLVM: the adapted text of a function, with what its names stand for.

``interpreting`` puts an object that runs the function in place of the dispatcher that compiles it. In its globals a
stub of ``@overload`` is run by the implementation that is chosen for the types of the arguments, a dispatcher by its
Python function, and an intrinsic by a few lines of Python, which check what machine code does not: that an index lies
within its axis. What raises fails the test, where compiled code would let the NumPy text run instead.

It knows the types that Numba infers only as those of values: what Numba would refuse to type runs here.
"""

import ast
import builtins
import contextlib
import copy
import functools
import traceback
import types as python_types

import numba
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.extending import _Intrinsic

from s2s import runtime as rt
from s2s.backends.numba import by_python, called, compiler, elements, handed, shares, straight_units, units
from s2s.backends.numba.exits import Pipeline
from s2s.backends.numba.straight import Straight

GIVEN_UP = (UnboundLocalError,)
"""What the text for Numba raises, without a message, where only Python can go on."""

NOT_THERE = "is not defined"
"""What a statement that Python runs says of an argument that is handed over in parts; NumPy has the result."""

ANSWERS = False
"""Whether the text for NumPy may have the result where compiled code raises."""

THREADS = 3
"""So many share a loop, which run one after the other."""


# --- types and implementations ----------------------------------------------------------------------------------------


def type_of(value):
    """The type that Numba has for a value in compiled code."""
    if isinstance(value, list):
        return types.List(type_of(value[0]) if value else types.undefined)
    if isinstance(value, tuple) and any(isinstance(item, (list, tuple)) for item in value):
        return types.Tuple([type_of(item) for item in value])
    try:
        return numba.typeof(value)
    except ValueError as raised:
        raise numba.TypingError(str(raised)) from None


def literal_of(value):
    """The type of a value that is written where it is used."""
    return types.literal(value) if type(value) in (bool, int, str) else type_of(value)


@functools.cache
def _typing():
    cpu_target.target_context.refresh()
    return cpu_target.typing_context


def templates_of(function):
    """What Numba asks for the implementation of a function of s2s: those that ``@overload`` has declared for it."""
    context = _typing()
    known = context._lookup_global(function)
    if known is None:
        context.refresh()
        known = context._lookup_global(function)
    return [one for one in getattr(known, "templates", ()) if hasattr(one, "_overload_func")]


class Stub:
    """A function that ``@overload`` gives implementations, whose calls go to the one for the types of the arguments."""

    def __init__(self, function, templates):
        self.__name__ = function.__name__
        self.templates = templates
        self.chosen = {}

    def __call__(self, *args, **keywords):
        key = (*map(literal_of, args), *keywords, *map(literal_of, keywords.values()))
        if key not in self.chosen:
            self.chosen[key] = plain_function(self._choose(args, keywords))
        return self.chosen[key](*args, **keywords)

    def _choose(self, args, keywords):
        raised = None
        for template in self.templates:
            kinds = (literal_of, type_of) if getattr(template, "prefer_literal", False) else (type_of, literal_of)
            for kind in kinds:
                try:
                    made = template._overload_func(*map(kind, args), **{n: kind(a) for n, a in keywords.items()})
                except NumbaError as error:
                    raised = error
                    continue
                if made is not None:
                    return made
        raise numba.TypingError(f"{self.__name__} has no implementation for {[*map(type_of, args)]}") from raised


class Run:
    """A function for Numba that Python runs, in place of the dispatcher. Like compiled code it takes and gives numbers
    of Python where those of NumPy have 64 bits."""

    overloads = {}
    samples = ()
    stop = None

    def __init__(self, function):
        self.function = function
        self.run = None

    def compile(self, kinds):
        """Find out what Numba would refuse, with the arguments that the types are those of."""
        assert kinds == tuple(map(numba.typeof, self.samples))
        if self.stop is not None:
            where = f'\n\nFile "{self.function.__code__.co_filename}", line {self.stop}:' if self.stop else ""
            raise numba.TypingError(STOPPED + where)
        try:
            self(*copy.deepcopy(self.samples))
        except (NumbaError, AttributeError, TypeError, IndexError) as refused:
            if isinstance(refused, IndexError) and "too many indices" not in str(refused):
                return
            file, frames = self.function.__code__.co_filename, traceback.extract_tb(refused.__traceback__)
            line = next(frame.lineno for frame in frames if frame.filename == file)
            raise numba.TypingError(f'{refused}\n\nFile "{file}", line {line}:') from refused
        except Exception:  # which comes again
            pass

    def disable_compile(self, value=True):
        pass

    def __call__(self, *args):
        self.run = self.run or plain_function(self.function)
        with np.errstate(all="ignore"):
            return boxed(self.run(*map(boxed, args)))


def boxed(value):
    """A value as compiled code gives it to Python."""
    if isinstance(value, np.generic) and value.dtype.char in "?dlqD":
        return value.item()
    if type(value) in (tuple, list):
        return type(value)(map(boxed, value))
    return value


def plain_function(function):
    """The same function, whose globals and cells are what ``plain`` makes of them."""
    names = _names(function.__code__) & function.__globals__.keys()
    scope = {name: plain(function.__globals__[name]) for name in names}
    scope |= {"__builtins__": builtins, "__name__": function.__module__}
    cells = tuple(python_types.CellType(plain(cell.cell_contents)) for cell in function.__closure__ or ())
    return python_types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)


def _names(code):
    inner = (const for const in code.co_consts if isinstance(const, python_types.CodeType))
    return {*code.co_names}.union(*map(_names, inner))


_plain = {}
"""By the address of an object that object, and what Python has for it."""


def plain(value):
    """What Python calls where compiled code calls an object."""
    if isinstance(value, types.ExternalFunction):
        return LIBRARIES[value.symbol]
    if not isinstance(value, (Dispatcher, _Intrinsic, python_types.FunctionType)):
        return value
    if id(value) not in _plain:
        _plain[id(value)] = value, _made_plain(value)
    return _plain[id(value)][1]


def _made_plain(value):
    if isinstance(value, Dispatcher):
        return plain_function(value.py_func)
    if isinstance(value, _Intrinsic):
        part = next((part for part, made in units._units.items() if made is value), None)
        return INTRINSICS[value] if part is None else alone(part)
    if (value.__module__ or "").partition(".")[0] == "numpy":
        return value
    templates = templates_of(value)
    return Stub(value, templates) if templates else value


# --- intrinsics -------------------------------------------------------------------------------------------------------


class Memory:
    """An array whose elements are read and written one by one, each by as many indices as it has axes, which lie within
    them."""

    def __init__(self, array):
        assert isinstance(array, np.ndarray), f"{type(array)} has no elements"
        self.array = array

    def _place(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        assert len(parts) == self.array.ndim
        assert all(0 <= part < n for part, n in zip(parts, self.array.shape)), f"{parts} in {self.array.shape}"
        return tuple(parts)

    def __getitem__(self, index):
        return self.array[self._place(index)]

    def __setitem__(self, index, value):
        assert np.ndim(value) == 0
        self.array[self._place(index)] = value


INTRINSICS = {
    elements.memory: Memory, elements.alive: lambda array: None, elements.read: Memory.__getitem__,
    elements.write: Memory.__setitem__, elements.bound: rt.bound, elements.place: rt.place,
    elements.around: rt.around, elements.quotient: lambda a, b: np.float64(a) / b, elements.added: lambda a, b: a + b,
    elements.chosen: lambda test, a, b: a if test else b, elements.differ: lambda lengths: len({*lengths}) > 1,
    shares.count_threads: lambda: THREADS,
    **{elements.ELEMENTS[f"length {k} element"]: (lambda array, k=k: array.shape[k])
       for k in range(elements.MOST_AXES)},
}  # fmt: skip


def _solve(letter, n, count, factors, leading, pivots, rows, leading_too):
    """LAPACK's ``gesv``: matrices are in the order of their columns, and what is solved for is where the right sides
    were."""
    a, b = factors._arr.reshape(n, n).T, rows._arr.reshape(count, n)
    b[...] = np.linalg.solve(a, b.T).T
    return 0


LIBRARIES = {"numba_xgesv": _solve}


def alone(part):
    """Statements or a loop by themselves as a function of Python; its results have the types that Numba gives them."""
    is_checked = isinstance(part, Straight)
    typed = straight_units._typed if is_checked else units._typed
    lines = part.text.splitlines()
    returned = f"return ({', '.join(part.results)}{',' if part.results else ''})"
    text = "\n".join([f"def alone({', '.join(part.parameters)}):", *(f"    {line}" for line in [*lines, returned])])
    scope = {"places": range, "around": rt.around, "where": lambda test, a, b: a if test else b,
             **{name: plain(function) for name, function in part.functions}}
    exec(compile(text, "<alone>", "exec"), scope)
    results = {}

    def call(*values):
        given = [value if name[0] == "p" else Memory(value) if name[0] == "a" and not is_checked else
                 np.float64(value) if isinstance(value, float) else value
                 for name, value in zip(part.parameters, values, strict=True)]
        kinds = tuple(map(type_of, values))
        if kinds not in results:
            results[kinds] = typed(part, "alone", _typing(), kinds)[0].return_type
        found = scope["alone"](*given)
        wanted = {0: [], 1: [results[kinds]]}.get(len(found)) if len(found) < 2 else [*results[kinds]]
        for name, kind, value in zip(part.results, wanted, found, strict=True):
            assert type_of(boxed(value)) == kind, f"{name} in {part.text}"
        return None if not found else found[0] if len(found) == 1 else found

    return call


def _raise(raised):
    raise raised


# --- in place of Numba ------------------------------------------------------------------------------------------------


STOPPED = "Numba stops here"


def interpreting(monkeypatch, stops=None):
    """Let functions for Numba run as Python, until the test ends. Where ``stops`` is a number, Numba stops at one of
    the calls in each: that one is made by Python, or the statement is."""
    njit = numba.njit

    def chosen(*args, **options):
        return Run if options.get("pipeline_class") is Pipeline else njit(*args, **options)

    def again(self, raised, *values):
        is_missing = type(raised) is NameError and NOT_THERE in str(raised)
        if ANSWERS or is_missing or (type(raised) in GIVEN_UP and not raised.args):
            return self.plain(*values)
        raise AssertionError(f"{self.name} is run by NumPy: {type(raised).__name__}: {raised}") from raised

    def prepare(self, lines):
        before(self, lines)
        self.compiled.samples = self._arguments
        calls = sorted({n.lineno for n in ast.walk(self._made_of[0]) if isinstance(n, ast.Call)})
        calls = [0, *calls]  # Numba does not always say where
        if stops is not None and not lines and not self.regions.types:
            self.compiled.stop = calls[stops % len(calls)]

    before = compiler.Wrapped._prepare
    monkeypatch.setattr(compiler.Wrapped, "_prepare", prepare)
    monkeypatch.setattr(numba, "njit", chosen)
    monkeypatch.setattr(compiler, "keep", lambda *args: None)
    monkeypatch.setattr(compiler.Wrapped, "again", again)
    monkeypatch.setattr(called, "_CALLED", {})
    monkeypatch.setattr(by_python, "_helpers", {})
    monkeypatch.setattr(handed, "_runner", lambda function, result: lambda args: function(*args))
    monkeypatch.setattr(handed, "noted", _raise)
    monkeypatch.setattr(compiler, "linked_once", contextlib.nullcontext)
    monkeypatch.setattr(compiler, "without_shapes", contextlib.nullcontext)
    _plain.clear()


