"""The bank of test programs as calls that can be made with arrays of another module: ``PROGRAMS``, and ``compare``."""

from __future__ import annotations

import copy
import linecache
import operator
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import s2s
from benchmarks.suites import load
from s2s.core.array_classes import is_array_class
from s2s.rules import table
from s2s.rules.samples import Draw
from tests.bank import CASES
from tests.rules.cases import draw


@dataclass
class Program:
    """A function with arguments; ``wrt`` are the positions that are differentiated."""

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[int, ...]


# --- the bank -------------------------------------------------------------------------------------------------------


def from_bank() -> Iterator[Program]:
    """The functions of ``tests.bank``, those with arguments by keyword left out."""
    for case in CASES:
        if case.kwargs:
            continue
        wrt = case.argnums
        if wrt is None:
            wrt = tuple(k for k, arg in enumerate(case.args) if any(map(is_float, leaves(arg))))
        wrt = (wrt,) if isinstance(wrt, int) else wrt
        if not any(isinstance(leaf, np.ndarray) for arg in case.args for leaf in leaves(arg)):
            continue  # nothing that could be an array of another module
        if all(isinstance(k, int) for k in wrt):
            yield Program(f"bank:{case.name}", case.f, case.args, tuple(wrt))


# --- the samples beside the rules -----------------------------------------------------------------------------------


def from_rules(most: int | None = None) -> Iterator[Program]:
    """The samples of the rules of NumPy's functions and of operators, each as a function of what is drawn; at most so
    many of each rule."""
    for rule in table.RULES.values():
        path = path_of(rule.fn)
        if path is None:
            continue
        for k, sample in enumerate(rule.samples[:most]):
            made = _sampled(f"rule:{path}[{k}]", path, sample)
            if made is not None:
                yield made


def from_kernels() -> Iterator[Program]:
    """The kernels of the benchmark, at their small sizes."""
    for suite in ("kernels", "ml"):
        for case in load(suite):
            yield Program(f"kernel:{case.name}", case.primal, case.arguments(*case.small), case.argnums)


def path_of(fn: Any) -> str | None:
    """How a program calls a function: ``np.linalg.inv``; ``np.ndarray.sum`` is a method."""
    name = getattr(fn, "__name__", None)
    if not isinstance(name, str):
        return None
    for module, prefix in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft"), (operator, "operator")):
        if module.__dict__.get(name) is fn:
            return f"{prefix}.{name}"
    if getattr(fn, "__objclass__", None) is np.ndarray:
        return f".{name}"
    owner = getattr(fn, "__self__", None)
    return f"np.{owner.__name__}.{name}" if isinstance(owner, np.ufunc) else None


def _sampled(name: str, path: str, sample: Any) -> Program | None:
    rng = np.random.default_rng(7)
    args: list[Any] = []
    known: dict[str, Any] = {"np": np, "operator": operator}

    def show(item: Any) -> str:
        if isinstance(item, Draw):
            args.append(draw(item, rng))
            return f"x{len(args) - 1}"
        if isinstance(item, np.ndarray):
            args.append(item)
            return f"x{len(args) - 1}"
        if isinstance(item, (list, tuple)) and not hasattr(item, "_make"):
            inner = "".join(f"{show(part)}, " for part in item)
            return f"[{inner}]" if isinstance(item, list) else f"({inner})"
        if isinstance(item, dict):
            return "{" + ", ".join(f"{key!r}: {show(part)}" for key, part in item.items()) + "}"
        if item is None or type(item) in (bool, int, float, complex, str, type(Ellipsis)) and np.isfinite(
                item if isinstance(item, (int, float, complex)) else 0):
            return "..." if item is ... else f"({item!r})"
        known[f"c{len(known)}"] = item
        return f"c{len(known) - 1}"

    given = [show(item) for item in sample.args]
    named = [f"{key}={show(item)}" for key, item in sample.kwargs.items()]
    is_method = path[0] == "."
    call = f"{given[0] if is_method else ''}{path}({', '.join([*given[is_method:], *named])})"
    return_ = "" if path in (".fill", ".sort", ".put") else "return "
    text = f"def f({', '.join(f'x{k}' for k in range(len(args)))}):\n    {return_}{call}\n"
    file = f"<sample {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), known)
    wrt = tuple(k for k, arg in enumerate(args) if is_float(arg) or is_complex(arg))
    if not wrt or not any(isinstance(arg, np.ndarray) for arg in args):
        return None
    return Program(name, known["f"], tuple(args), wrt)


# --- values ---------------------------------------------------------------------------------------------------------


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in a value."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if hasattr(value, "__dict__") and not callable(value) and not is_array_class(type(value)):
        return [leaf for item in vars(value).values() for leaf in leaves(item)]
    return [value]


def is_float(leaf: Any) -> bool:
    return leaf.dtype.kind == "f" if isinstance(leaf, (np.ndarray, np.generic)) else isinstance(leaf, float)


def is_complex(leaf: Any) -> bool:
    return leaf.dtype.kind == "c" if isinstance(leaf, (np.ndarray, np.generic)) else isinstance(leaf, complex)


def mapped(value: Any, fn: Callable[[Any], Any]) -> Any:
    """The value with other leaves."""
    if isinstance(value, (list, tuple)):
        items = [mapped(item, fn) for item in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, dict):
        return {key: mapped(item, fn) for key, item in value.items()}
    if hasattr(value, "__dict__") and not callable(value) and not is_array_class(type(value)):
        made = copy.copy(value)
        for key, item in vars(value).items():
            made.__dict__[key] = mapped(item, fn)
        return made
    return fn(value)


def moved(value: Any, module: Any) -> Any:
    """The value with arrays of a module in the place of NumPy's, each array once."""
    seen: dict[int, Any] = {}

    def move(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        if id(leaf) not in seen:
            seen[id(leaf)] = module.asarray(leaf.copy(order="K"))
        return seen[id(leaf)]

    return mapped(value, move)


def fetched(value: Any) -> Any:
    """The value with NumPy's arrays in the place of others."""
    return mapped(value, lambda leaf: leaf.get() if hasattr(leaf, "get") and is_array_class(type(leaf)) else leaf)


def directions(value: Any, seed: int) -> Any:
    """Random directions, or cotangents, for the floats of a value; None for all else."""
    rng = np.random.default_rng(seed)

    def one(leaf: Any) -> Any:
        if not (is_float(leaf) or is_complex(leaf)):
            return None
        made = rng.normal(size=np.shape(leaf)) + (1j * rng.normal(size=np.shape(leaf)) if is_complex(leaf) else 0.0)
        return np.asarray(made, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(made)

    return mapped(value, one)


# --- with the other arrays ------------------------------------------------------------------------------------------


class Differs(AssertionError):
    """A derivative is another one for arrays of the module."""


def assert_like(got: Any, want: Any, module: Any, where: str, loose: bool = False) -> None:
    """``got`` has arrays of the module where ``want`` has NumPy's, with the same numbers; ``loose`` as far as they are
    arrays."""
    tolerance = 2e-5 if getattr(want, "dtype", None) in (np.float32, np.complex64) else 1e-9
    if isinstance(want, (list, tuple)):
        if type(got) is not type(want) or len(got) != len(want):
            raise Differs(f"{where}: {type(got)} for {type(want)}")
        for k, (g, w) in enumerate(zip(got, want, strict=True)):
            assert_like(g, w, module, f"{where}[{k}]", loose)
    elif isinstance(want, dict):
        for key in want:
            assert_like(got[key], want[key], module, f"{where}[{key!r}]", loose)
    elif isinstance(want, np.ndarray) or (isinstance(want, np.generic) and isinstance(got, module.ndarray)):
        if not isinstance(got, module.ndarray):
            if loose:
                return
            raise Differs(f"{where}: {type(got)} in the place of an array")
        here = got.get()
        if here.shape != want.shape or here.dtype != want.dtype:
            raise Differs(f"{where}: {here.dtype}{here.shape} for {want.dtype}{want.shape}")
        scale = 1.0 + (np.max(np.abs(want[np.isfinite(want)]), initial=0.0) if want.dtype.kind in "fc" else 0.0)
        if not np.allclose(here, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            raise Differs(f"{where}: {here} for {want}")
    elif hasattr(want, "__dict__") and not callable(want):
        for key, item in vars(want).items():
            assert_like(getattr(got, key), item, module, f"{where}.{key}", loose)
    elif isinstance(want, str):
        if got != want:
            raise Differs(f"{where}: {got!r} for {want!r}")
    elif isinstance(got, str):
        raise Differs(f"{where}: {got!r} for {want!r}")
    elif isinstance(want, (float, complex, np.inexact)):
        if not np.allclose(complex(got), complex(want), rtol=tolerance, atol=tolerance, equal_nan=True):
            raise Differs(f"{where}: {got} for {want}")


def primal_on(module: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the module in the place of NumPy, as generated code has it."""
    from s2s.arrays import on

    if isinstance(f, types.MethodType):
        return types.MethodType(primal_on(module, f.__func__), f.__self__)
    if not isinstance(f, types.FunctionType):
        return f
    made: dict[str, Any] = dict(f.__globals__)
    for name, value in f.__globals__.items():
        if value is np:
            made[name] = on(module)
        elif isinstance(value, types.FunctionType) and value.__globals__ is f.__globals__:
            made[name] = types.FunctionType(value.__code__, made, name, value.__defaults__, value.__closure__)
            made[name].__kwdefaults__ = value.__kwdefaults__
    found = types.FunctionType(f.__code__, made, f.__name__, f.__defaults__, f.__closure__)
    found.__kwdefaults__ = f.__kwdefaults__
    return found


def reverse(program: Program, args: tuple[Any, ...], cotangent: Any) -> Any:
    """The value, and the cotangents of what is differentiated."""
    out, pullback = s2s.vjp(program.f, *args)
    found = pullback(cotangent)
    found = found if isinstance(found, tuple) else (found,)
    return out, found


def forward(program: Program, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The value and its tangent."""
    return s2s.jvp(program.f, args, tangents)


def refusal_of_primal(program: Program, module: Any) -> str | None:
    """Why the function itself does not run on arrays of the module; None where it does."""
    try:
        primal_on(module, program.f)(*moved(program.args, module))
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def compare(program: Program, module: Any, mode: str) -> str:
    """Raise where the derivative is not that with NumPy's arrays; where the function itself gives another value for the
    module's arrays, as where it looks at their class, where it is not that by differences. Says which it was."""
    if not has_same_value(program, module):
        compare_with_differences(program, module, mode)
        return "another value"
    here = mapped(program.args, lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf)
    there = moved(program.args, module)
    if mode == "reverse":
        value = program.f(*mapped(here, lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf))
        cotangent = directions(value, 3)
        want = reverse(program, here, cotangent)
        got = reverse(program, there, moved(cotangent, module))
    else:
        tangents = tuple(directions(arg, 5) if k in program.wrt else None for k, arg in enumerate(here))
        want = forward(program, here, tangents)
        got = forward(program, there, moved(tangents, module))
    assert_like(got, want, module, mode)
    return "same"


def has_same_value(program: Program, module: Any) -> bool:
    """Whether the function gives the same value for the module's arrays as for NumPy's, or none."""
    copies = mapped(program.args, lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf)
    try:
        there = primal_on(module, program.f)(*moved(program.args, module))
    except Exception:
        return True
    try:
        assert_like(there, program.f(*copies), module, "value", loose=True)
    except Differs:
        return False
    return True


def compare_with_differences(program: Program, module: Any, mode: str) -> None:
    """Raise where the derivative for the module's arrays is not that of the function itself by central differences."""
    f = primal_on(module, program.f)
    along = tuple(directions(arg, 5) if k in program.wrt else None for k, arg in enumerate(program.args))

    def at(step: float) -> list[Any]:
        pairs = zip(program.args, along, strict=True)
        args = tuple(arg if dot is None else shifted(arg, dot, step) for arg, dot in pairs)
        return leaves(fetched(f(*moved(args, module))))

    wanted = [None if isinstance(up, str) else (up - down) / 2e-6 for up, down in zip(at(1e-6), at(-1e-6), strict=True)]
    there = moved(program.args, module)
    if mode == "forward":
        got = leaves(fetched(forward(program, there, moved(along, module))[1]))
        pairs = list(zip(got, wanted, strict=True))
    else:
        cotangent = directions(fetched(f(*moved(program.args, module))), 3)
        bars = fetched(reverse(program, there, moved(cotangent, module))[1])
        bars = [bars[k] for k in program.wrt]
        dots = [dot for k, dot in enumerate(along) if k in program.wrt]
        pulled = sum(np.sum(b * d) for b, d in zip(leaves(bars), leaves(dots), strict=True) if d is not None)
        pairs = [(pulled, sum(np.sum(c * w) for c, w in zip(leaves(cotangent), wanted, strict=True) if c is not None))]
    for one, want in pairs:
        if want is not None and not np.allclose(one, want, rtol=1e-5, atol=1e-6, equal_nan=True):
            raise Differs(f"{mode} by differences: {one} for {want}")


def shifted(value: Any, dot: Any, step: float) -> Any:
    """A value moved along a direction."""
    dots = iter(leaves(dot))

    def move(leaf: Any) -> Any:
        d = next(dots)
        return leaf if d is None else leaf + step * d

    return mapped(value, move)
