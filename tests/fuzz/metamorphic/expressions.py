"""Rewrites of one expression."""

import ast

from tests.fuzz.metamorphic.tools import expression, expressions, has, rewrite, simple


def picked(site, allowed=lambda node: True):
    """The place of an expression that may be rewritten, None where there is none."""
    places = [place for place in expressions(site.tree) if allowed(place.node)]
    return site.choose(places) if places else None


def no_binding(node):
    return not has(node, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def wrapped(site, form, allowed=lambda node: True):
    place = picked(site, allowed)
    if place is None:
        return False
    place.put(expression(form, e=place.node))
    return True


WRAPS = {
    "identity": "_same(e)",
    "second_of_two": "_second(None, e)",
    "item_of_list": "[e][0]",
    "item_of_tuple": "(None, e)[-1]",
    "item_of_dict": "{'k': e}['k']",
    "attribute": "_Held(e).v",
    "got_by_method": "_Held(e).get()",
    "conditional": "e if _FLAG[0] > 0.0 else None",
    "certain_conditional": "e if True else 0.0",
    "both_sides": "(e, e)[0] if _FLAG[0] > 0.0 else None",
    "dict_get": "{'k': e}.get('k')",
    "keyword": "dict(k=e)['k']",
    "popped": "[e].pop()",
    "star": "[*(e,)][0]",
    "next_of_iter": "next(iter((e,)))",
    "or_else": "(None or (e,))[0]",
}
CLOSURES = {
    "closure": "(lambda: e)()",
    "default": "(lambda v=e: v)()",
    "parameter": "(lambda v: v)(e)",
    "partial": "_functools.partial(_same, e)()",
    "comprehended": "[v for v in (e,)][0]",
    "evaluated_in_comprehension": "[e for _ in (0,)][0]",
}


def wrap(name, form, allowed):
    def rewritten(site):
        return wrapped(site, form, allowed)

    rewritten.__name__ = name
    rewrite(0.6)(rewritten)


for _name, _form in WRAPS.items():
    wrap(_name, _form, (lambda node: simple(node)) if _name == "both_sides" else (lambda node: True))
for _name, _form in CLOSURES.items():
    wrap(_name, _form, no_binding)


OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.Mod: "mod",
    ast.MatMult: "matmul",
    ast.FloorDiv: "floordiv",
}


@rewrite()
def operator_function(site):
    """``a + b`` as ``operator.add(a, b)``."""
    place = picked(site, lambda node: isinstance(node, ast.BinOp) and type(node.op) in OPERATORS)
    if place is None:
        return False
    node = place.node
    place.put(expression(f"_operator.{OPERATORS[type(node.op)]}(l, r)", l=node.left, r=node.right))
    return True


@rewrite(0.5)
def negated(site):
    place = picked(site, lambda node: isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub))
    if place is None or isinstance(place.node.operand, ast.Constant):
        return False
    place.put(expression("_operator.neg(e)", e=place.node.operand))
    return True


@rewrite(0.7)
def getitem_function(site):
    place = picked(site, lambda node: isinstance(node, ast.Subscript) and not has(node.slice, ast.Slice))
    if place is None:
        return False
    place.put(expression("_operator.getitem(e, k)", e=place.node.value, k=place.node.slice))
    return True


@rewrite(0.7)
def slice_object(site):
    """``x[a:b]`` as ``x[slice(a, b)]``."""
    place = picked(site, lambda node: isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice))
    if place is None:
        return False
    place.node.slice = as_slice(place.node.slice)
    return True


def as_slice(node):
    parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
    return ast.Call(ast.Name("slice", ast.Load()), parts, [])


@rewrite(0.5)
def starred_call(site):
    """``f(a, b)`` as ``f(*(a, b))``."""
    place = picked(site, lambda node: isinstance(node, ast.Call) and node.args and not has_star(node))
    if place is None or isinstance(place.node.func, ast.Name) and place.node.func.id == "super":
        return False
    node = place.node
    node.args = [ast.Starred(ast.Tuple(node.args, ast.Load()), ast.Load())]
    return True


@rewrite(0.5)
def keywords_from_dict(site):
    place = picked(
        site, lambda node: isinstance(node, ast.Call) and node.keywords and all(k.arg for k in node.keywords)
    )
    if place is None:
        return False
    node = place.node
    held = ast.Dict([ast.Constant(k.arg) for k in node.keywords], [k.value for k in node.keywords])
    node.keywords = [ast.keyword(None, held)]
    return True


def has_star(node):
    return any(isinstance(arg, ast.Starred) for arg in node.args)


@rewrite(0.5)
def attribute_by_name(site):
    """``x.sum`` as ``getattr(x, "sum")``."""
    place = picked(site, lambda node: isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    if place is None or isinstance(place.node.func.value, ast.Call):
        return False
    function = place.node.func
    place.node.func = expression("getattr(e, k)", e=function.value, k=ast.Constant(function.attr))
    return True


@rewrite(0.5)
def conditional_turned(site):
    """``a if c else b`` as ``b if not c else a``."""
    place = picked(site, lambda node: isinstance(node, ast.IfExp))
    if place is None:
        return False
    node = place.node
    place.put(ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body))
    return True
