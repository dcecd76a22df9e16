"""Functions that are made in loops, and outlive the iteration that made them.

A nested function of the IR has what it captures as that is where the function is made. Python looks a captured variable
up when the function runs: where a loop has assigned the variable again by then, it finds another value. Such variables
are handed to the function where it is made, ``(lambda c: lambda y: y * c)(c)``.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from s2s.codegen.code import Assign, Code, For, Statement, While, assigned_by, blocks_of, uses, walk
from s2s.core.ir import Call, MakeFunction, Var

__all__ = ["bind_in_loops"]


def bind_in_loops(code: Code) -> None:
    """Note for each nested function which variables it gets where it is made: those that a loop around it assigns, in
    each iteration, before it is made."""
    made = [s for s in walk(code.body) if isinstance(s, Assign) and isinstance(s.value, MakeFunction)]
    if made:
        called = _only_called(code)
        loops = [s for s in walk(code.body) if isinstance(s, (For, While))]
        for loop in loops:
            _bind(code, loop, called)


def _bind(code: Code, loop: For | While, called: set[Var]) -> None:
    inside = [loop, *(s for block in blocks_of(loop) for s in walk(block))]
    assigned = {var for s in inside for var in assigned_by(s)}
    for s in inside:
        if not isinstance(s, Assign) or not isinstance(s.value, MakeFunction) or s.target in called:
            continue
        inner, bound = code.inner[id(s.value)], code.bound.setdefault(id(s.value), set())
        for var, atom in zip(s.value.function.captures, s.value.captures, strict=True):
            if var in inner.captures and atom in assigned and atom != s.target:
                bound.add(atom)  # type: ignore[arg-type]


def _only_called(code: Code) -> set[Var]:
    """The variables that are read in calls of what they refer to, and nowhere else."""
    reads: Counter[object] = Counter()
    calls: defaultdict[object, int] = defaultdict(int)
    statements: list[Statement] = walk(code.body)
    for s in statements:
        reads.update(uses(s))
        if isinstance(s, Assign) and isinstance(s.value, Call):
            calls[s.value.fn] += 1
    return {var for var, n in calls.items() if isinstance(var, Var) and reads[var] == n}
