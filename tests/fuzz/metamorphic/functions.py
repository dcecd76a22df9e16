"""Rewrites of a whole function: its variables boxed or renamed, its end or itself in another function."""

import ast

from tests.fuzz.metamorphic.tools import (
    all_args,
    expression,
    filled,
    has,
    is_text,
    own_names,
    parsed,
    reads,
    rewrite,
    stores,
    walk_scope,
)


class Replaced(ast.NodeTransformer):
    """A variable replaced everywhere, inner functions included."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def visit_Name(self, node):
        if node.id != self.name:
            return node
        place = ast.parse(self.text, mode="eval").body
        if not isinstance(node.ctx, ast.Load):
            place.ctx = ast.Store()
        return place


BOXES = {
    "boxed_in_list": ("[None]", "{0}[0]"),
    "boxed_in_dict": ("{{}}", "{0}['k']"),
    "boxed_in_object": ("_Held(None)", "{0}.v"),
    "boxed_in_nested": ("{{'k': [None, None]}}", "{0}['k'][1]"),
}


def box(kind, start, form):
    def rewritten(site):
        names = [name for name in own_names(site.tree) if not declared(site.tree, name)]
        if not names:
            return False
        name, held = site.choose(names), site.fresh("b")
        tree = site.tree
        tree.body = [Replaced(name, form.format(held)).visit(node) for node in tree.body]
        tree.body[first(tree) : first(tree)] = parsed(f"{held} = {start.format()}")
        return True

    rewritten.__name__ = kind
    rewrite(0.8)(rewritten)


def declared(tree, name):
    """Whether a variable has an annotation, which a place cannot have without its value."""
    return any(
        isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.target.id == name for n in ast.walk(tree)
    )


for _kind, (_start, _form) in BOXES.items():
    box(_kind, _start, _form)


def first(tree):
    """Where the statements begin, after a docstring and declarations."""
    index = 0
    while index < len(tree.body) and (
        is_text(tree.body[index]) or isinstance(tree.body[index], (ast.Global, ast.Nonlocal))
    ):
        index += 1
    return index


@rewrite(0.8)
def renamed(site):
    names = own_names(site.tree)
    if not names:
        return False
    name = site.choose(names)
    new = site.choose((site.fresh("r"), "g_bar", "x_dot", "saved", "t0", "lambda_", "Δ"))
    if new in reads(site.tree) | stores(site.tree) | {arg.arg for arg in all_args(site.tree.args)}:
        return False
    site.tree.body = [Replaced(name, new).visit(node) for node in site.tree.body]
    return True


@rewrite(0.8)
def parameter_copied(site):
    """Another name for a parameter."""
    names = [arg.arg for arg in site.tree.args.args if arg.arg not in own_taken(site.tree)]
    if not names:
        return False
    name, new = site.choose(names), site.fresh("p")
    tree = site.tree
    tree.body = [Replaced(name, new).visit(node) for node in tree.body]
    tree.body[first(tree) : first(tree)] = parsed(f"{new} = {name}")
    return True


def own_taken(tree):
    """Names that functions and comprehensions inside bind, or declarations name."""
    found = set()
    for node in ast.walk(tree):
        if node is tree:
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        if isinstance(node, ast.arguments) and node is not tree.args:
            found.update(arg.arg for arg in all_args(node))
        if isinstance(node, (ast.FunctionDef, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Lambda)):
            found |= stores(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            found.add(node.id)
    return found


@rewrite(0.8)
def end_in_function(site):
    """The last statements in a nested function that is called at once, with what it reads as parameters."""
    tree = site.tree
    start = first(tree)
    if len(tree.body) - start < 2 or has(tree, ast.Yield, ast.Nonlocal, ast.Global):
        return False
    cut = site.rng.randrange(start + 1, len(tree.body))
    sure = {arg.arg for arg in all_args(tree.args)}
    for node in tree.body[:cut]:
        if isinstance(node, ast.Assign):
            sure |= {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.FunctionDef):
            sure.add(node.name)
    tail = tree.body[cut:]
    assigned = {n.id for n in walk_scope(tail) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    assigned |= {n.name for n in walk_scope(tail) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    local = {n for node in tree.body[:cut] for n in stores(node)} | {arg.arg for arg in all_args(tree.args)}
    needed = {name for node in tail for name in reads(node) | stores(node)} & local
    if not needed <= sure:
        return False
    params = ", ".join(sorted(needed if site.rng.random() < 0.5 else needed & assigned))
    name = site.fresh("end")
    tree.body[cut:] = filled(f"def {name}({params}):\n    body\nreturn {name}({params})", body=tail)
    return True


@rewrite(0.6)
def whole_in_function(site):
    """The body in a nested function."""
    tree = site.tree
    if has(tree, ast.Yield, ast.Nonlocal, ast.Global):
        return False
    bound = stores(ast.Module(tree.body, [])) & {arg.arg for arg in all_args(tree.args)}
    params = ", ".join(f"{name}={name}" for name in sorted(bound))
    name = site.fresh("inner")
    tree.body = filled(f"def {name}({params}):\n    body\nreturn {name}()", body=tree.body)
    return True


@rewrite(0.4)
def decorated(site):
    form = site.choose(("_same", "_functools.partial(_second, None)"))
    site.tree.decorator_list.append(expression(form))
    return True
