"""Leaves: what expressions read by name, and the reads and indices that are written where they are used.

    t0 = np.pi                      ->      y = x[1:] * np.pi
    t1 = x[slice(1, None)]
    y = t1 * t0
"""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Sequence

from s2s.codegen.code import (
    Assign,
    Code,
    Comprehension,
    Statement,
    Tree,
    While,
    assigned_by,
    is_call_of,
    targets_of,
    tree_atoms,
    uses,
)
from s2s.core import ops
from s2s.core.ir import Atom, Call, Const, Load, MakeFunction, Var

__all__ = ["count_uses", "fold_indices", "fold_loads", "leaves", "tree_leaves"]

PARTS = 3
"""An index that reads at most so many variables is written as often as it is used."""


def count_uses(code: Code, statements: list[Statement]) -> defaultdict[Var, int]:
    """How often each variable is read in all of the code; what a nested function captures counts twice, so that it
    keeps a name, and the parts of an index as often as the index is written."""
    counts: defaultdict[Var, int] = defaultdict(int)
    for statement in statements:
        read = (statement.test,) if isinstance(statement, While) else uses(statement)
        if isinstance(statement, Assign) and isinstance(statement.value, MakeFunction):
            read = (*read, *statement.value.captures)
        for atom in read:
            if isinstance(atom, Var):
                counts[atom] += 1
    for statement in reversed(statements if code.folded else ()):  # an index of several parts before the slices in it
        if isinstance(statement, Assign) and isinstance(statement.target, Var):
            again = counts[statement.target] - 1 if statement.target in code.folded else 0
            for atom in tree_atoms(statement.value) if again > 0 else ():
                if isinstance(atom, Var):
                    counts[atom] += again
    return counts


def tree_leaves(code: Code, tree: Tree) -> Sequence[Var]:
    """The variables that are read by name when an expression is evaluated."""
    found = [var for atom in tree_atoms(tree) if isinstance(atom, Var) for var in leaves(code, atom)]
    if isinstance(tree, Comprehension):
        own = targets_of(tree.item)
        return [var for var in found if var not in own]
    return found


def leaves(code: Code, atom: Atom) -> Sequence[Var]:
    """The variables that are read by name when an atom is evaluated."""
    if not isinstance(atom, Var):
        return ()
    folded = code.folded.get(atom)
    return (atom,) if folded is None else tree_leaves(code, folded)


def fold_loads(code: Code, statements: list[Statement]) -> None:
    """Globals and closure variables are read where they are used, as the user's function reads them."""
    captured: set[Atom] = set()
    loads: dict[Var, Tree] = {}
    for statement in statements:
        if isinstance(statement, Assign):
            if isinstance(statement.value, MakeFunction):
                captured.update(statement.value.captures)
            elif isinstance(statement.target, Var) and _is_load(statement.value):
                loads[statement.target] = statement.value
    code.folded.update({var: value for var, value in loads.items() if var not in captured})


def fold_indices(code: Code, statements: list[Statement]) -> None:
    """A slice, or an index of several parts, is syntax: it is written where it is used, as often as that is, unless
    something that it names is assigned more than once."""
    found = [s for s in statements if isinstance(s, Assign) and is_call_of(s.value, (slice, ops.make_tuple))]
    assigned: defaultdict[Var, int] = defaultdict(int)
    named: set[Atom] = set()
    for statement in statements if found else ():
        for var in assigned_by(statement):
            assigned[var] += 1
        if isinstance(statement, Assign) and isinstance(statement.value, MakeFunction):
            named.update(statement.value.captures)
    for made in found:
        target, value = made.target, made.value
        if not isinstance(target, Var) or not isinstance(value, Call):
            continue
        if not target.is_temporary or target in named or assigned[target] != 1 or value.kwargs:
            continue
        if is_call_of(value, (slice,)) or _is_index(code, value):
            parts = tree_leaves(code, value)
            if all(assigned[part] <= 1 for part in parts) and len(parts) <= PARTS:
                code.folded[target] = value


def _is_index(code: Code, value: Call) -> bool:
    """Whether a tuple can only be an index: one of its parts is a slice, an ellipsis or None. The empty tuple is as
    short as a name."""
    if not value.args:
        return True
    for part in value.args:
        if isinstance(part, Var) and is_call_of(code.folded.get(part), (slice,)):
            return True
        if isinstance(part, Const) and (part.value is Ellipsis or isinstance(part.value, slice)):
            return True
    return False


def _is_load(value: Tree) -> bool:
    """Whether a value is a variable of the user's module or closure, or of another module (``math.pi``)."""
    match value:
        case Load():
            return True
        case Call(_, (Const(value=owner), Const(value=str())), ()) if isinstance(owner, types.ModuleType):
            return is_call_of(value, (getattr,))
    return False
