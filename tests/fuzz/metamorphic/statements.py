"""Rewrites of statements: one of them in a block of its own, in another spelling, or several in another order."""

import ast
import copy

from tests.fuzz.metamorphic.tools import (
    Place,
    expression,
    filled,
    has,
    leaves_loop,
    movable,
    parsed,
    reads,
    rewrite,
    simple,
    statements,
    stores,
)


def picked(site, allowed=lambda node: True):
    places = [place for place in statements(site.tree) if movable(place.node) and allowed(place.node)]
    return site.choose(places) if places else None


BLOCKS = {
    "one_trip_for": "for _k in range(1):\n    body",
    "one_trip_over_tuple": "for _k in (None,):\n    body",
    "one_trip_while": "while True:\n    body\n    break",
    "counted_while": "_c = 0\nwhile _c < 1:\n    _c += 1\n    body",
    "try_finally": "try:\n    body\nfinally:\n    pass",
    "try_except": "try:\n    body\nexcept NotImplementedError:\n    raise",
    "try_else": "try:\n    pass\nexcept NotImplementedError:\n    raise\nelse:\n    body",
    "with_nothing": "with _contextlib.nullcontext():\n    body",
    "if_true": "if True:\n    body",
    "if_flag": "if _FLAG[0] > 0.0:\n    body",
    "if_flag_else": "if _FLAG[0] < 0.0:\n    pass\nelse:\n    body",
    "matched": "match 1:\n    case 1:\n        body",
}
LOOPS = ("one_trip_for", "one_trip_over_tuple", "one_trip_while", "counted_while")


def block(name, form):
    def rewritten(site):
        place = picked(site, lambda node: not (name in LOOPS and leaves_loop(node)))
        if place is None or name == "one_trip_while" and leaves_at_end(place.node):
            return False
        names = {stem: site.fresh(stem[1:]) for stem in ("_k", "_c") if stem in form}
        place.put_all(filled(form, body=[place.node], **names))
        return True

    rewritten.__name__ = name
    rewrite(0.6)(rewritten)


def leaves_at_end(node):
    return isinstance(node, (ast.Return, ast.Raise))


for _name, _form in BLOCKS.items():
    block(_name, _form)


@rewrite(0.7)
def run_of_statements(site):
    """Several statements in one block."""
    place = picked(site)
    if place is None:
        return False
    run = getattr(place.owner, place.field)[place.index : place.index + site.choose((2, 3, 4))]
    if any(not movable(node) or leaves_loop(node) for node in run):
        return False
    form = BLOCKS[site.choose(("one_trip_for", "try_finally", "if_flag", "try_except"))]
    getattr(place.owner, place.field)[place.index : place.index + len(run)] = filled(form, body=run, _k=site.fresh("k"))
    return True


def single(node):
    """An assignment of a value to one name."""
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


ASSIGNMENTS = {
    "through_another": "_t = value\nname = _t",
    "walrus": "(name := value)",
    "packed": "(name,) = (value,)",
    "packed_with_rest": "name, *_t = [value]",
    "packed_in_pair": "name, _t = value, None",
    "annotated": "name: object = value",
    "chained": "_t = name = value",
    "through_list": "_t = [value]\nname = _t[0]",
    "through_dict": "_t = {}\n_t['k'] = value\nname = _t['k']",
    "through_object": "_t = _Held(None)\n_t.v = value\nname = _t.v",
    "appended": "_t = []\n_t.append(value)\nname = _t[-1]",
    "through_loop": "for name in (value,):\n    pass",
    "through_branch": "if _FLAG[0] > 0.0:\n    name = value\nelse:\n    name = None",
    "named_helper": "def _t():\n    return value\nname = _t()",
}


def assignment(name, form):
    def rewritten(site):
        place = picked(site, lambda node: single(node) and not has(node.value, ast.NamedExpr))
        if place is None:
            return False
        node = place.node
        made = filled(form, value=node.value, name=node.targets[0].id, _t=site.fresh("t"))
        place.put_all(made)
        return True

    rewritten.__name__ = name
    rewrite(0.6)(rewritten)


for _name, _form in ASSIGNMENTS.items():
    assignment(_name, _form)


@rewrite(0.8)
def set_by_closure(site):
    """``x = v`` by a nested function with ``nonlocal``; only where the assignment is one of the function itself."""
    places = [Place(site.tree, "body", k) for k, node in enumerate(site.tree.body) if single(node)]
    if not places:
        return False
    place = site.choose(places)
    node = place.node
    if node.targets[0].id in {
        n for g in ast.walk(site.tree) if isinstance(g, (ast.Global, ast.Nonlocal)) for n in g.names
    }:
        return False
    form = "def _t():\n    nonlocal name\n    name = value\n_t()"
    if has(node.value, ast.NamedExpr):
        return False
    place.put_all(filled(form, value=node.value, name=node.targets[0].id, _t=site.fresh("t")))
    return True


INPLACE = {ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.Pow: "ipow", ast.Mod: "imod"}


@rewrite()
def inplace_function(site):
    """``x += v`` as ``x = operator.iadd(x, v)``."""
    place = picked(
        site, lambda node: isinstance(node, ast.AugAssign) and type(node.op) in INPLACE and named(node.target)
    )
    if place is None:
        return False
    node = place.node
    read = copy.deepcopy(node.target)
    for part in ast.walk(read):
        if isinstance(getattr(part, "ctx", None), ast.Store):
            part.ctx = ast.Load()
    call = expression(f"_operator.{INPLACE[type(node.op)]}(x, v)", x=read, v=node.value)
    place.put(ast.Assign([node.target], call))
    return True


def named(target):
    """Whether a place is one of names and constants, which may be evaluated twice."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.value, ast.Name) and not has(target.slice, ast.Call, ast.NamedExpr)
    return isinstance(target, ast.Name)


@rewrite(0.7)
def setitem_function(site):
    """``x[k] = v`` as ``operator.setitem(x, k, v)`` where neither ``x`` nor ``k`` calls anything."""
    place = picked(
        site,
        lambda node: (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Subscript)
            and named(node.targets[0])
            and not has(node.targets[0].slice, ast.Slice)
            and not (reads(node.targets[0]) & stores(node.value))
        ),
    )
    if place is None:
        return False
    target, value = place.node.targets[0], place.node.value
    if has(value, ast.Call) and has(target.slice, ast.Name):
        return False
    call = expression("_operator.setitem(x, k, v)", x=target.value, k=target.slice, v=value)
    place.put(ast.Expr(call))
    return True


@rewrite(0.7)
def slice_in_target(site):
    """``x[a:b] = v`` as ``x[slice(a, b)] = v``."""
    from tests.fuzz.metamorphic.expressions import as_slice

    def fits(node):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        return isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(getattr(target, "slice", None), ast.Slice)

    place = picked(site, fits)
    if place is None:
        return False
    node = place.node
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    target.slice = as_slice(target.slice)
    return True


@rewrite(0.8)
def dead_copy(site):
    """A copy of a statement in a branch that never runs."""
    place = picked(
        site, lambda node: not isinstance(node, (ast.FunctionDef, ast.Return)) and not has(node, ast.NamedExpr)
    )
    if place is None or leaves_loop(place.node):
        return False
    dead = filled("if _FLAG[0] < 0.0:\n    body", body=[copy.deepcopy(place.node)])
    place.put_all(site.choose(([*dead, place.node], [place.node, *dead])))
    return True


@rewrite(0.7)
def dead_value(site):
    """A value that nothing reads."""
    place = picked(site, lambda node: single(node) and simple(node.value))
    if place is None:
        return False
    dead = ast.Assign([ast.Name(site.fresh("t"), ast.Store())], copy.deepcopy(place.node.value))
    place.put_all([place.node, dead] if place.node.targets[0].id not in reads(place.node.value) else [dead, place.node])
    return True


@rewrite(0.7)
def return_through_name(site):
    place = picked(site, lambda node: isinstance(node, ast.Return) and node.value is not None)
    if place is None or has(place.node.value, ast.Yield):
        return False
    form = site.choose(
        (
            "_t = value\nreturn _t",
            "try:\n    return value\nfinally:\n    pass",
            "if _FLAG[0] > 0.0:\n    return value\nreturn None",
            "for _k in range(2):\n    return value",
            "while True:\n    return value",
            "_t = (value,)\nreturn _t[0]",
        )
    )
    place.put_all(filled(form, value=place.node.value, _t=site.fresh("t"), _k=site.fresh("k")))
    return True


@rewrite(0.7)
def branches_turned(site):
    """``if c: a else: b`` as ``if not c: b else: a``."""
    place = picked(site, lambda node: isinstance(node, ast.If) and node.orelse)
    if place is None:
        return False
    node = place.node
    node.test, node.body, node.orelse = ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body
    return True


@rewrite(0.8)
def while_true(site):
    """``while c:`` as ``while True:`` with a ``break``."""
    place = picked(
        site, lambda node: isinstance(node, ast.While) and not node.orelse and not has(node.test, ast.NamedExpr)
    )
    if place is None:
        return False
    node = place.node
    leave = filled("if not test:\n    break", test=node.test)
    place.put(ast.While(ast.Constant(True), leave + node.body, []))
    return True


@rewrite(0.8)
def for_as_while(site):
    """``for i in range(n):`` as a ``while`` that counts; no ``continue``, no store to ``i``."""
    place = picked(site, is_counted)
    if place is None:
        return False
    node = place.node
    form = "_n = count\n_c = 0\nwhile _c < _n:\n    name = _c\n    _c += 1\n    body"
    names = {"_n": site.fresh("n"), "_c": site.fresh("c")}
    place.put_all(filled(form, count=node.iter.args[0], name=node.target.id, body=node.body, **names))
    return True


def is_counted(node):
    match node:
        case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name("range"), args=[_], keywords=[]), orelse=[]):
            return True
    return False


@rewrite(0.8)
def unrolled(site):
    """``for i in range(2):`` as its iterations."""

    def fits(node):
        return is_counted(node) and isinstance(node.iter.args[0], ast.Constant) and not any(map(leaves_loop, node.body))

    place = picked(site, lambda node: fits(node) and node.iter.args[0].value in (1, 2, 3, 4))
    if place is None:
        return False
    node, made = place.node, []
    for k in range(node.iter.args[0].value):
        made += filled("name = k", name=node.target.id, k=ast.Constant(k)) + copy.deepcopy(node.body)
    place.put_all(made)
    return True


@rewrite(0.8)
def for_over_list(site):
    """``for t in it:`` over a list of the items, with ``enumerate`` or ``zip``."""
    place = picked(site, lambda node: isinstance(node, ast.For) and is_counted(ast.For(node.target, node.iter, [], [])))
    if place is None:
        return False
    node = place.node
    form = site.choose(("list(e)", "tuple(e)", "[k for k in e]", "reversed(list(reversed(e)))", "iter(e)", "sorted(e)"))
    node.iter = expression(form, e=node.iter)
    return True


@rewrite(0.8)
def comprehension_as_loop(site):
    """``x = [e for t in it if c]`` as a loop that appends."""
    place = picked(site, is_comprehension)
    if place is None:
        return False
    node = place.node
    one = node.value.generators[0]
    names = {n.id: site.fresh(n.id) for n in ast.walk(one.target) if isinstance(n, ast.Name)}
    renamed = Renamed(names)
    body = [ast.Expr(expression("_t.append(e)", e=renamed.visit(node.value.elt), _t="_t"))]
    for test in one.ifs:
        body = [ast.If(renamed.visit(test), body, [])]
    form = "_t = []\nloop"
    loop = ast.For(renamed.visit(one.target), one.iter, body, [])
    made = filled(form, loop=[loop]) + [
        type(node)(**{**dict(ast.iter_fields(node)), "value": ast.Name("_t", ast.Load())})
    ]
    name = site.fresh("t")
    place.put_all([Renamed({"_t": name}).visit(part) for part in made])
    return True


def is_comprehension(node):
    if not isinstance(node, (ast.Assign, ast.Return)) or not isinstance(node.value, ast.ListComp):
        return False
    return len(node.value.generators) == 1 and not has(
        node.value.elt, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.NamedExpr
    )


class Renamed(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def pairs(site):
    """Places of two assignments of simple values to names, one after the other, of which neither reads the other."""
    for place in statements(site.tree):
        block = getattr(place.owner, place.field)
        if place.index + 1 >= len(block):
            continue
        first, then = block[place.index], block[place.index + 1]
        if not (single(first) and single(then) and simple(first.value) and simple(then.value)):
            continue
        names = first.targets[0].id, then.targets[0].id
        if names[0] != names[1] and names[0] not in reads(then.value) and names[1] not in reads(first.value):
            yield place


@rewrite()
def swapped(site):
    found = list(pairs(site))
    if not found:
        return False
    place = site.choose(found)
    block = getattr(place.owner, place.field)
    block[place.index], block[place.index + 1] = block[place.index + 1], block[place.index]
    return True


@rewrite()
def packed_together(site):
    """``a = u; b = v`` as ``a, b = u, v``."""
    found = list(pairs(site))
    if not found:
        return False
    place = site.choose(found)
    block = getattr(place.owner, place.field)
    first, then = block[place.index], block[place.index + 1]
    names = ast.Tuple([first.targets[0], then.targets[0]], ast.Store())
    block[place.index : place.index + 2] = [ast.Assign([names], ast.Tuple([first.value, then.value], ast.Load()))]
    return True


@rewrite(0.5)
def nothing_done(site):
    """Statements that do nothing."""
    place = picked(site)
    if place is None:
        return False
    made = parsed(
        site.choose(("_FLAG[0]", "pass", "for _k in ():\n    pass", "if False:\n    raise ValueError", "del_ = None"))
    )
    place.put_all([*made, place.node])
    return True
