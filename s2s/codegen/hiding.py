"""Parameters of nested functions against the names of what these functions read.

A nested function reads variables of the enclosing one by name. Where its own text was written in another function, as
after the call of the function that makes it was inlined, one of its parameters may have that name: the variable then
needs another one. A parameter of the enclosing function cannot be renamed; it is copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from s2s.codegen.code import Assign, Code, Statement, assigned_by, walk
from s2s.core.ir import Atom, MakeFunction, Var, replace

__all__ = ["copy_hidden_parameters", "hidden_names"]


def hidden_names(code: Code) -> dict[Var, set[str]]:
    """For each variable that nested functions read by name: the names that their parameters hide."""
    found: defaultdict[Var, set[str]] = defaultdict(set)
    for value in _nested(code):
        inner = code.inner[id(value)]
        own, deeper = {param.name for param in inner.params}, hidden_names(inner)
        for var, atom in zip(value.function.captures, value.captures, strict=True):
            if isinstance(atom, Var) and var in inner.captures:
                found[atom] |= own | deeper.get(var, set())
    return dict(found)


def copy_hidden_parameters(code: Code) -> None:
    """Let nested functions read a copy of a parameter that has the name of one of theirs."""
    hidden = hidden_names(code)
    params = {param for param in code.params if param.name in hidden.get(param, ())}
    if not params:
        return
    copies: dict[Atom, Var] = {}
    lowest = min(var.version for var in _variables(code))
    for statement in walk(code.body):
        if not isinstance(statement, Assign) or not isinstance(statement.value, MakeFunction):
            continue
        value = statement.value
        for var, atom in zip(value.function.captures, value.captures, strict=True):
            if isinstance(atom, Var) and atom in params and atom not in copies:
                name = atom.name if var.is_temporary else var.name
                copies[atom] = Var(name, min(lowest, 0) - 1 - len(copies))
        statement.value = replace(value, captures=tuple(copies.get(atom, atom) for atom in value.captures))
        code.inner[id(statement.value)] = code.inner.pop(id(value))
    first: list[Statement] = [Assign(copy, param) for param, copy in copies.items()]
    code.body[:0] = first


def _nested(code: Code) -> Iterator[MakeFunction]:
    if not code.inner:
        return
    made = [statement.value for statement in walk(code.body) if isinstance(statement, Assign)]
    yield from (value for value in (*made, *code.folded.values()) if isinstance(value, MakeFunction))


def _variables(code: Code) -> Iterator[Var]:
    yield from (*code.params, *code.captures)
    for statement in walk(code.body):
        yield from assigned_by(statement)
