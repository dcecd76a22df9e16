"""What ``s2s.runtime._fused`` has, for arrays of a module that compiles functions of elements, as ``cupy.fuse`` does.
It is run as the helpers are, with the module in the place of NumPy.

What is compiled is not trusted: at the first calls for each kind of operands the function is also called as it is.
Where compiling fails, or the results differ, it is called as it is from then on, and a warning says so.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.arrays.namespace import Namespace
from s2s.core.array_classes import module_of_arrays
from s2s.core.bounded import Recent
from s2s.notices import Notice, tell

__all__ = ["fused"]

CHECKED = 3
"""So many calls for each kind of operands are compared: the first may be of zeros alone."""

_chains = Recent[int, "_Chain"](4096)
"""By the ``id`` of the code of the function, which stays where the function is made again by each call of what has it
inside. Equal code of another version may mean other functions by its names."""


def fused(chain: Callable[..., Any], *operands: Any) -> Any:
    """What a function of elements makes of its operands, by one kernel where the module of these compiles it."""
    code = chain.__code__  # type: ignore[attr-defined]
    found = _chains.get(id(code))
    if found is None:
        found = _chains[id(code)] = _Chain(chain)
    kinds = tuple(map(_kind, operands))
    calls = found.calls.get(kinds, 0)
    if calls is None:
        return chain(*operands)
    if calls < CHECKED:
        return found.compared(chain(*operands), operands, kinds)
    try:
        return found.compiled(operands)
    except Exception as problem:
        plain = chain(*operands)  # which raises what is wrong with the operands
        found.leave(kinds, f"{type(problem).__name__}: {problem}")
        return plain


def _kind(operand: Any) -> Any:
    """What a compiled function depends on of an operand."""
    shape = getattr(operand, "shape", None)
    if shape is None:
        return type(operand)
    return type(operand), operand.dtype, tuple([n == 1 for n in shape]) if 1 in shape else len(shape)


class _Chain:
    """A function and what was compiled of it. ``calls`` is how many calls of each kind have agreed with the function,
    up to ``CHECKED``; None where it stays as it is."""

    def __init__(self, chain: Any) -> None:
        self.chain = chain
        self.name = chain.__qualname__.replace(".<locals>", "").removeprefix("outer.")
        self.calls: dict[tuple[Any, ...], int | None] = {}
        self.kernel: Callable[..., Any] | None = None

    def compiled(self, operands: tuple[Any, ...]) -> Any:
        """What the kernel makes of operands, one of them an array."""
        if self.kernel is None:
            found = (module_of_arrays(type(a)) for a in operands if not isinstance(a, np.generic))
            module: Any = next(one for one in found if one is not None)
            name = re.sub(r"\W+", "_", self.name.replace(".", "_"), flags=re.ASCII)
            self.kernel = module.fuse(kernel_name=name)(_in_module(self.chain))
        return self.kernel(*operands)

    def compared(self, plain: Any, operands: tuple[Any, ...], kinds: tuple[Any, ...]) -> Any:
        """The results of the function, once those of the kernel are compared with them."""
        results = plain if isinstance(plain, tuple) else (plain,)
        if any(module_of_arrays(type(one)) is None for one in results):
            self.calls[kinds] = None  # numbers, of numbers, in the place of arrays without axes
            return plain
        try:
            made = self.compiled(operands)
        except Exception as problem:
            self.leave(kinds, f"{type(problem).__name__}: {problem}")
            return plain
        made = made if isinstance(plain, tuple) else (made,)
        if not isinstance(made, tuple) or len(made) != len(results) or not all(map(_agree, made, results)):
            self.leave(kinds, "what was compiled gives other results")
        elif all(one.size for one in results):  # of nothing all is the same
            self.calls[kinds] = (self.calls.get(kinds) or 0) + 1
        return plain

    def leave(self, kinds: tuple[Any, ...], why: str) -> None:
        """Call the function as it is from now on."""
        self.calls[kinds] = None
        code = self.chain.__code__
        text = f"`{self.name}` is done operation by operation, which takes longer: {why.partition(chr(10))[0][:200]}"
        tell([Notice("NotFusedWarning", text, code.co_filename, code.co_firstlineno, self.name)])


def _in_module(chain: Any) -> Callable[..., Any]:
    """The function with the module's own functions in the place of their counterparts, which look for arrays among
    their arguments: when it is compiled these are no arrays."""
    names = {name: _own(value) for name, value in chain.__globals__.items()}
    closure = tuple(types.CellType(_own(cell.cell_contents)) for cell in chain.__closure__ or ()) or None
    return types.FunctionType(chain.__code__, names, chain.__name__, None, closure)


def _own(value: Any) -> Any:
    return _Own(value) if isinstance(value, Namespace) else value


class _Own:
    """The functions that a module has by itself, by NumPy's names."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._namespace, name)
        own = getattr(found, "_own", None)
        return getattr(self._namespace._own, name, found) if own is None else own


def _agree(made: Any, plain: Any) -> bool:
    """Whether two results are the same but for rounding: by the largest element, as what cancels is rounded in another
    way by one kernel, and half of them each by itself."""
    if type(made) is not type(plain) or made.dtype != plain.dtype or made.shape != plain.shape:
        return False
    if plain.dtype.kind not in "fc":
        return bool((made == plain).all())
    with np.errstate(all="ignore"):
        size = abs(plain)
        size = np.where(np.isfinite(size), size, 0.0)
        close = float(np.finfo(plain.dtype).eps) ** 0.75
        gap = abs(made - plain)
        same = (made == plain) | ((made != made) & (plain != plain))
        is_fine = bool((same | (gap <= close * size.max())).all()) if plain.size else True
        return is_fine and (not plain.size or bool((same | (gap <= close * size)).mean() >= 0.5))
