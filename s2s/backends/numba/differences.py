"""A function for Numba in; out comes why compiled code may do something else than Python, other than round.

``backend="numba"`` documents these differences for those who ask for it; where nobody has, such functions stay Python:

    print(x)                    # twice, where Python runs a call again, or both are compared
    COUNTS[0] += 1              # so would be what changes an array that lives outside
    x.astype(np.int32)          # integers of fewer than 64 bits do not wrap around
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from s2s.backends.numba.syntax import bound_names, names_in

__all__ = ["difference"]

_NARROW = re.compile(r"u?int(8|16|32)|uint(64|p|c)?|u?byte|u?short|u?intc|float16|half|longdouble|clongdouble|float128")
_NEW = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant)


def difference(node: ast.FunctionDef, outside: set[str]) -> str | None:
    """What speaks against the function; ``outside`` are its parameters that may be arrays which others see, too."""
    own = bound_names(node) | {a.arg for a in node.args.args}
    for n in ast.walk(node):
        match n:
            case ast.Call(func=ast.Name(id="print")) if "print" not in own:
                return "it prints"
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str() as name) if (
                _NARROW.fullmatch(name) and not (isinstance(n, ast.Name) and name in own)
            ):
                return f"it computes with {name}, which has fewer than 64 bits or no sign"
    if outside and _stores_to(node, _aliases(node, outside)):
        return "it changes an array that lives outside"
    return None


def _aliases(node: ast.FunctionDef, names: set[str]) -> set[str]:
    """The names, and those of variables that may share memory with them."""
    found, before = set(names), 0
    while len(found) > before:
        before = len(found)
        for n in ast.walk(node):
            match n:
                case ast.Assign(targets=targets, value=value) if _may_share(value, found):
                    found |= {name for target in targets for name in _bound_by(target)}
                case ast.For(target=target, iter=value) | ast.NamedExpr(target=target, value=value) if (
                    _may_share(value, found)
                ):
                    found |= set(_bound_by(target))
    return found


def _bound_by(target: ast.expr) -> Iterator[str]:
    for n in ast.walk(target):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _may_share(value: ast.expr, names: set[str]) -> bool:
    """Whether an expression may give memory of one of the names."""
    return not isinstance(value, _NEW) and not names.isdisjoint(names_in(value))


def _stores_to(node: ast.FunctionDef, names: set[str]) -> bool:
    """Whether something may be written into the memory of one of the names: a call whose result nobody takes does."""
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=targets):
                stores: list[ast.expr] = [target for target in targets if not isinstance(target, ast.Name)]
            case ast.AugAssign(target=target):
                stores = [target]
            case ast.Expr(value=ast.Call() as call):
                stores = [call]
            case ast.keyword(arg="out", value=value):
                stores = [value]
            case _:
                continue
        if any(isinstance(store, ast.expr) and not names.isdisjoint(_roots(store)) for store in stores):
            return True
    return False


def _roots(store: ast.expr) -> set[str]:
    """The names whose memory a target leads to; all names in a call."""
    if isinstance(store, ast.Tuple | ast.List):
        return set().union(*map(_roots, store.elts)) - {e.id for e in store.elts if isinstance(e, ast.Name)}
    while isinstance(store, ast.Subscript | ast.Attribute):
        store = store.value
    return names_in(store)
