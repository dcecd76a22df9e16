"""Calls, and the built-in functions that are refused because they see the frame which calls them."""

from __future__ import annotations

import sys
import types

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Star, Var
from s2s.frontend.lowering.comprehensions import consumed
from s2s.frontend.lowering.context import Context
from s2s.frontend.lowering.refusals import refuse
from s2s.frontend.sources import as_stored, meaning_of
from s2s.models.numexpr import is_evaluate, names_in

__all__ = ["lower_call"]


def lower_call(c: Context, node: cst.Call) -> Call:
    if _is_bare_super(c, node):
        return _super(c, node)
    _check_callee(c, node)
    fn = c.atom(node.func)
    # Python evaluates ``*args`` before the keywords, wherever it stands.
    args = tuple(
        Star(consumed(c, arg.value)) if arg.star == "*" else consumed(c, arg.value)
        for arg in node.args
        if arg.keyword is None and arg.star != "**"
    )
    kwargs = tuple(
        (None if arg.keyword is None else as_stored(arg.keyword.value), c.atom(arg.value))
        for arg in node.args
        if arg.keyword is not None or arg.star == "**"
    )
    variables = _variables_read(c, node)
    return Call(fn, args, kwargs if variables is None else (*kwargs, ("local_dict", variables)))


def _variables_read(c: Context, node: cst.Call) -> ir.Atom | None:
    """The variables that ``numexpr.evaluate(text)`` reads where it is called, by name; None for any other call."""
    if len(node.args) == 0 or not _is_evaluate(c, node.func):
        return None
    first, *others = node.args
    if any(arg.keyword is None or arg.keyword.value in ("local_dict", "global_dict") for arg in others):
        return None
    text = first.value.evaluated_value if isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString)) else None
    names = names_in(text) if isinstance(text, str) else None
    if names is None:
        refuse(c, "S2S115", node, "needs the frame that calls it", "give it `local_dict=`", name="numexpr.evaluate")
    found = [(Const(name), c.resolve(name)) for name in names]
    entries = [atom for name, value in found for atom in (name, c.as_atom(value, node))]
    return c.bind(Call(Const(ops.make_dict), tuple(entries)), node)


def _is_evaluate(c: Context, func: cst.BaseExpression) -> bool:
    """Whether what is called is ``numexpr.evaluate``, by a global name of it or of its module."""
    parts: list[str] = []
    while isinstance(func, cst.Attribute):
        parts, func = [func.attr.value, *parts], func.value
    if not isinstance(func, cst.Name) or "numexpr" not in sys.modules or isinstance(c.resolve(func.value), Var):
        return False
    found = meaning_of(c.source.fn, func.value)
    for part in parts:
        found = getattr(found, part, None) if issubclass(type(found), types.ModuleType) else None
    if not is_evaluate(found):
        return False
    c.source.meaning(func.value)
    return True


def _check_callee(c: Context, node: cst.Call) -> None:
    """Refuse the built-in functions that see the frame which calls them."""
    if not isinstance(node.func, cst.Name) or isinstance(c.resolve(node.func.value), Var):
        return
    name, count = node.func.value, len(node.args)
    if (name in ("locals", "vars", "dir") and count == 0) or (name in ("eval", "exec") and count == 1):
        refuse(c, "S2S115", node, "needs the frame that calls it", "name the variables", name=name)
    if name == "next" and count and isinstance(node.args[0].value, cst.GeneratorExp):
        label, hint = "takes one item of many that may never end", "write a `for` loop with `break`"
        refuse(c, "S2S101", node, label, hint, construct="`next` of a generator expression")


def _is_bare_super(c: Context, node: cst.Call) -> bool:
    """Whether a call is ``super()`` of the built-in ``super``."""
    if not isinstance(node.func, cst.Name) or node.func.value != "super" or node.args:
        return False
    return c.resolve("super") == ir.Load("super", "global")


def _super(c: Context, node: cst.Call) -> Call:
    """``super()`` with what it stands for: the class that the method was defined in, and the first parameter."""
    assert c.scope is not None
    if c.scope.first is None or "__class__" not in c.free:
        label, hint = "has no class or no first argument here", "write `super(Class, self)`"
        refuse(c, "S2S114", node, label, hint)
    owner = c.bind(ir.Load("__class__", "free"), node)
    return Call(c.atom(node.func), (owner, c.scope.first))
