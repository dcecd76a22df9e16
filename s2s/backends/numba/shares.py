"""A function with loops that threads share in, the same with each as a function of a part of its items out:

    for i in range(n):                      for c in prange(threads):
        s_bar += w[i] * t[i]                    part(c * n // threads, (c + 1) * n // threads, sums[c], w, t)
                                            if np.sum(sums[:, 1]) < threads:
                                                part(0, n, sums[0], w, t)       raises what a thread has raised
                                ->          s_bar = s_bar + np.sum(sums[:, 0])

    def part(begin, end, sums, w, t):
        s_bar = 0.0
        for i in range(begin, end):
            s_bar += w[i] * t[i]
        sums[0] = s_bar
        sums[1] = 1.0

So Numba, which would have to find out again what is shared, sees one call in a loop. Where iterations add at
neighbouring places, there are twice as many parts, and every other one is done first. Where they add anywhere, each
thread has an array of zeros, and these are added up.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import sys
from collections.abc import Callable
from typing import Any

import llvmlite.ir as llvm
import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic

from s2s.backends.numba.sharing import Sharing
from s2s.backends.numba.syntax import names_in, store_names

__all__ = ["count_threads", "split"]


@intrinsic
def count_threads(context: Any) -> Any:
    """What ``numba.get_num_threads`` gives, by its name: Numba's own holds the address of this process, and what does
    is not kept on disk."""
    size = llvm.IntType(64 if sys.maxsize > 2**32 else 32)  # as Numba declares it where it compiles the loop

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        named = cgutils.get_or_insert_function(builder.module, llvm.FunctionType(size, []), "get_num_threads")
        return builder.sext(builder.trunc(builder.call(named, []), llvm.IntType(32)), size)  # it gives an int of C

    return numba.types.intp(), generate


def split(
    node: ast.FunctionDef, loops: list[tuple[ast.For, Sharing]], known: dict[str, Any],
    made: Callable[[ast.FunctionDef], Any],
) -> None:
    """Rewrite the function in place; ``made`` compiles the function of a part. ``known`` are the objects that the text
    names."""
    _Splitter(node, {id(loop): sharing for loop, sharing in loops}, known, made).visit(node)
    ast.fix_missing_locations(node)


class _Splitter(ast.NodeTransformer):
    def __init__(
        self, node: ast.FunctionDef, loops: dict[int, Sharing], known: dict[str, Any],
        made: Callable[[ast.FunctionDef], Any],
    ) -> None:
        self.loops = loops
        self.known = known
        self.made = made
        self.taken = names_in(node) | known.keys()

    def _fresh(self, wanted: str) -> str:
        """A name that the function does not have. Numba makes others by adding underscores."""
        names = (f"{wanted}{k}" for k in itertools.count(1))
        name = next(n for n in names if n not in self.taken and not hasattr(builtins, n))
        self.taken.add(name)
        return name

    def _object(self, wanted: str, value: Any) -> str:
        for name, there in self.known.items():
            if there is value:
                return name
        name = self._fresh(wanted)
        self.known[name] = value
        return name

    def visit_For(self, node: ast.For) -> Any:
        sharing = self.loops.get(id(node))
        if sharing is None:
            return self.generic_visit(node)
        return [ast.copy_location(s, node) for s in self._split(node, sharing)]

    def _split(self, node: ast.For, sharing: Sharing) -> list[ast.stmt]:
        given = self._given(node, sharing)
        part = self._fresh("part")
        self.known[part] = self.made(self._part(part, node, sharing, given))
        np_, prange = self._object("np", np), self._object("prange", numba.prange)
        numba.get_num_threads()  # it starts the threads, so that Numba finds what it calls
        count = self._object("count_threads", count_threads)
        threads, start, n, c, sums = (self._fresh(name) for name in ("threads", "start", "n", "c", "sums"))
        own = {name: self._fresh(f"{name}_parts") for name in sharing.added}
        pieces = f"(2 * {threads})" if sharing.reach else threads
        tests = [f"{threads} > 1", f"{n} >= {pieces} * {sharing.reach + 1}"]
        if not sharing.is_nest:  # else to add arrays up may be all the work
            tests += [f"{name}.size <= {n}" for name in sharing.added]
        handed = "".join(f", {own[name]}[{c}]" if name in own else f", {name}" for name in given)
        turn = self._fresh("turn")
        piece = f"(2 * {c} + {turn})" if sharing.reach else c
        call = (f"{part}({start} + {piece} * {n} // {pieces}, {start} + ({piece} + 1) * {n} // {pieces}, "
                f"{sums}[{piece}]{handed})")
        loop = [f"for {c} in {prange}({threads}):", f"    {call}"]
        if sharing.reach:
            loop = [f"for {turn} in range(2):", *(f"    {line}" for line in loop)]
        lines = [
            f"{threads} = {count}()",
            f"{start} = START",
            f"{n} = max(STOP - {start}, 0)",
            f"{sums} = {np_}.zeros(({pieces}, {len(sharing.sums) + 1}))",
            f"if {' and '.join(tests)}:",
            *(f"    {own[name]} = {np_}.zeros(({threads},) + {name}.shape)" for name in sharing.added),
            *(f"    {line}" for line in loop),
        ]
        # an exception in a thread is lost: it comes again where the loop is done in order
        given_again = ", ".join(["", *given])
        lines += [
            f"    if {np_}.sum({sums}[:, {len(sharing.sums)}]) < {pieces}:",
            f"        {part}({start}, {start} + {n}, {sums}[0]{given_again})",
            "        raise RuntimeError('a thread has failed')",
        ]
        if own:
            lines += [f"    for {c} in range({threads}):", *(f"        {name} += {own[name]}[{c}]" for name in own)]
        lines += [
            "else:",
            f"    {part}({start}, {start} + {n}, {sums}[0]{''.join(f', {name}' for name in given)})",
            *(f"{name} = {name} + {np_}.sum({sums}[:, {k}])" for k, name in enumerate(sharing.sums)),
        ]
        made = ast.parse("\n".join(lines)).body
        return [_Bounds(sharing).visit(s) for s in made]

    def _given(self, node: ast.For, sharing: Sharing) -> list[str]:
        """The names of before the loop that it reads."""
        private = {n for s in (*node.body, node.target) for n in store_names(s)}
        read = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)} - private
        return sorted(n for n in read if n not in self.known and not hasattr(builtins, n))

    def _part(self, name: str, node: ast.For, sharing: Sharing, given: list[str]) -> ast.FunctionDef:
        begin, end, sums = (self._fresh(name) for name in ("begin", "end", "sums"))
        lines = [f"def {name}({', '.join([begin, end, sums, *given])}):", *(f"    {s} = 0.0" for s in sharing.sums),
                 f"    for i in range({begin}, {end}):", "        pass",
                 *(f"    {sums}[{k}] = {s}" for k, s in enumerate((*sharing.sums, "1.0")))]
        made: Any = ast.parse("\n".join(lines)).body[0]
        loop = next(s for s in made.body if isinstance(s, ast.For))
        loop.target, loop.body = node.target, node.body
        return ast.fix_missing_locations(made)


class _Bounds(ast.NodeTransformer):
    def __init__(self, sharing: Sharing) -> None:
        self.found = {"START": sharing.start, "STOP": sharing.stop}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.found.get(node.id, node)
