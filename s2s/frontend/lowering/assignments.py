"""Assignments to every kind of target: names, displays, items, attributes; ``del`` of them; the item of a loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Var
from s2s.core.operators import BINARY, Operator
from s2s.frontend.lowering.bindings import is_global, own, target_names
from s2s.frontend.lowering.context import NONE, Context, block_of
from s2s.frontend.lowering.refusals import refuse
from s2s.frontend.lowering.subscripts import lower_key

__all__ = ["assign", "assign_to", "augment", "delete", "loop"]

AUGMENTED: dict[type[cst.BaseAugOp], Operator] = {
    type(cst.parse_statement(f"a {one.symbol}= b").body[0].operator): one for one in BINARY.values()  # type: ignore
}


def assign(c: Context, node: cst.Assign) -> None:
    targets = [target.target for target in node.targets]
    if len(targets) == 1:
        _assign_one(c, targets[0], node.value)
        return
    value = c.atom(node.value)
    if isinstance(value, Var) and not value.is_temporary:
        value = c.bind(value, node.value)  # the first targets may assign it: ``a = x, y = a``
    for target in targets:
        assign_to(c, target, value, node.value)


def _assign_one(c: Context, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
    items = _same_items(target, value)
    if items is None:
        assign_to(c, target, c.value(value), value)
        return
    assigned = set(target_names(c, target))
    atoms = [(part, item, _kept(c, item, assigned)) for part, item in items]
    for part, item, atom in atoms:
        assign_to(c, part, atom, item)


def _same_items(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]] | None:
    """The pairs of ``a, b = c, d``, where both sides are displays of one length without stars."""
    match target, value:
        case (cst.Tuple() | cst.List()), (cst.Tuple() | cst.List()):
            elements = (*target.elements, *value.elements)
            starred = any(isinstance(element, cst.StarredElement) for element in elements)
            if len(target.elements) == len(value.elements) and not starred:
                return [(t.value, v.value) for t, v in zip(target.elements, value.elements, strict=True)]
    return None


def _kept(c: Context, node: cst.BaseExpression, assigned: set[str]) -> ir.Atom:
    """The atom of an expression, as a temporary where it is a variable that is about to be assigned."""
    atom = c.atom(node)
    return c.bind(atom, node) if isinstance(atom, Var) and atom.name in assigned else atom


def assign_to(c: Context, target: cst.BaseExpression, value: ir.Value, node: cst.CSTNode) -> None:
    """Assign ``value``, which ``node`` computed, to any target."""
    match target:
        case cst.Name() if is_global(c, target):
            _assign_global(c, target, c.as_atom(value, node), node)
        case cst.Name():
            c.let(own(c, target), value, node)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            _unpack(c, elements, c.as_atom(value, node), target)
        case cst.Subscript() | cst.Attribute():
            atom = c.as_atom(value, node)
            kind, obj, key = _place(c, target)
            end = node if _follows(c, target, node) else target
            c.put(ir.Store(kind, obj, key, atom, None, c.span(target, end)))
        case _:
            refuse(c, "S2S101", target, "is not supported as a target", construct="this assignment")


def _assign_global(c: Context, target: cst.Name, value: ir.Atom, node: cst.CSTNode) -> None:
    """Assign a variable of the module."""
    end = node if _follows(c, target, node) else target
    c.put(ir.Store("global", NONE, Const(c.name(target)), value, None, c.span(target, end)))


def _follows(c: Context, target: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether ``node`` ends after ``target``: then they make one span."""
    return c.places[node][1] > c.places[target][1]


def _unpack(c: Context, elements: Sequence[cst.BaseElement], value: ir.Atom, node: cst.CSTNode) -> None:
    stars = [index for index, element in enumerate(elements) if isinstance(element, cst.StarredElement)]
    before = stars[0] if stars else len(elements)
    after = len(elements) - before - 1 if stars else None
    items = c.call(node, ops.unpack, value, Const(before), Const(after))
    for index, element in enumerate(elements):
        assign_to(c, element.value, Call(Const(operator.getitem), (items, Const(index))), element.value)


def _place(c: Context, target: cst.Subscript | cst.Attribute) -> tuple[str, ir.Atom, ir.Atom]:
    """Kind, object and key of a store."""
    obj = c.atom(target.value)
    if isinstance(target, cst.Attribute):
        return "attr", obj, Const(c.name(target.attr))
    return "item", obj, lower_key(c, target)


def augment(c: Context, node: cst.AugAssign) -> None:
    op = AUGMENTED[type(node.operator)]
    match node.target:
        case cst.Name() if is_global(c, node.target):
            held = c.bind(ir.Load(c.name(node.target), "global"), node.target)
            value = c.bind(Call(Const(op.in_place), (held, c.atom(node.value))), node)
            _assign_global(c, node.target, value, node)
        case cst.Name():
            target = own(c, node.target)
            old = c.bind(target, node.target) if c.changes_while_read(target.name) else target
            c.let(target, Call(Const(op.in_place), (old, c.atom(node.value))), node)
        case cst.Subscript() | cst.Attribute():
            kind, obj, key = _place(c, node.target)
            was = None
            if _has_call(node.value):  # it may change what the place holds
                was = c.bind(Call(Const(operator.getitem if kind == "item" else getattr), (obj, key)), node.target)
            c.put(ir.Store(kind, obj, key, c.atom(node.value), op.fn, c.span(node), was))
        case _:
            refuse(c, "S2S101", node.target, "is not supported as a target", construct="this assignment")


def _has_call(node: cst.CSTNode) -> bool:
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Call):
            return True
        pending += node.children
    return False


def delete(c: Context, target: cst.BaseExpression) -> None:
    """``del``: a name loses its value; an item or an attribute is a call for its effect."""
    match target:
        case cst.Name():
            c.let(own(c, target), ir.UNDEFINED, target)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                delete(c, element.value)
        case cst.Subscript() | cst.Attribute():
            kind, obj, key = _place(c, target)
            c.let(None, Call(Const(operator.delitem if kind == "item" else delattr), (obj, key)), target)
        case _:
            refuse(c, "S2S101", target, "is not supported as a target", construct="this `del`")


def loop(c: Context, target: cst.BaseExpression, run: Callable[[], None]) -> tuple[Var, ir.Block]:
    """The item variable and the body of a loop; ``run`` lowers what comes after the target is bound."""
    is_own = isinstance(target, cst.Name) and not is_global(c, target)
    item = own(c, target) if is_own else c.temporary()
    with c.block() as statements:
        if not is_own:
            assign_to(c, target, item, target)
        run()
    return item, block_of(statements)
