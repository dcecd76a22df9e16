"""What rewrites share: the table of them, the places of expressions and statements in a function, its local names."""

import ast
import builtins
import itertools
from dataclasses import dataclass, field

REWRITES = {}

# What rewritten functions call. The flag is known only when the function runs.
PREAMBLE = """\
import contextlib as _contextlib
import functools as _functools
import operator as _operator

_FLAG = [1.0]


def _same(v):
    return v


def _second(u, v):
    return v


class _Held:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v


"""


def rewrite(weight=1.0):
    """Register a rewrite: a function of a ``Site`` that changes its tree and returns whether it did."""

    def register(function):
        REWRITES[function.__name__] = (function, weight)
        return function

    return register


@dataclass
class Site:
    """The function that is rewritten, chance, and names that nothing else has."""

    tree: ast.FunctionDef
    rng: object
    count: itertools.count = field(default_factory=itertools.count)

    def fresh(self, stem):
        return f"_{stem}{next(self.count)}"

    def choose(self, items):
        return self.rng.choice(items)


@dataclass
class Place:
    """An expression or a statement: the node above it, the field, and the index in a list."""

    owner: ast.AST
    field: str
    index: int | None = None

    @property
    def node(self):
        value = getattr(self.owner, self.field)
        return value if self.index is None else value[self.index]

    def put(self, node):
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node

    def put_all(self, nodes):
        """Several statements in place of one."""
        getattr(self.owner, self.field)[self.index : self.index + 1] = nodes


def parsed(text):
    """The statements of a text."""
    return ast.parse(text).body


def expression(text, **parts):
    """An expression with subtrees put in for names."""
    return Filling(parts).visit(ast.parse(text, mode="eval").body)


def filled(text, **parts):
    """Statements with subtrees put in for names; a name that stands alone may be put in for by a list of statements."""
    return Filling(parts).visit(ast.parse(text)).body


class Filling(ast.NodeTransformer):
    def __init__(self, parts):
        self.parts = parts

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Name) and isinstance(self.parts.get(node.value.id), list):
            return self.parts[node.value.id]
        return self.generic_visit(node)

    def visit_Name(self, node):
        found = self.parts.get(node.id, node)
        return ast.Name(found, node.ctx) if isinstance(found, str) else found

    def visit_FunctionDef(self, node):
        node.name = self.parts.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_arg(self, node):
        node.arg = self.parts.get(node.arg, node.arg)
        return node

    def visit_Nonlocal(self, node):
        node.names = [self.parts.get(name, name) for name in node.names]
        return node


# --- places ------------------------------------------------------------------------------------------------

SKIPPED = (ast.JoinedStr, ast.ClassDef, ast.pattern, ast.arguments, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)
SKIPPED_FIELDS = frozenset({"decorator_list", "annotation", "returns", "targets", "target", "type", "subject"})
VALUES = (
    ast.Call,
    ast.BinOp,
    ast.UnaryOp,
    ast.Subscript,
    ast.IfExp,
    ast.Name,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.ListComp,
    ast.Attribute,
)


def expressions(tree):
    """The places of expressions that give values, outside of texts, classes, annotations and targets."""
    names = local_names(tree)
    found = []

    def visit(node):
        for name, value in ast.iter_fields(node):
            stores = name in SKIPPED_FIELDS
            items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for index, item in items:
                if not isinstance(item, ast.AST) or isinstance(item, SKIPPED) or (stores and name != "targets"):
                    continue
                if isinstance(item, ast.ExceptHandler):
                    for statement in item.body:
                        visit(statement)
                    continue
                called = name == "func" and isinstance(node, ast.Call)
                if not (stores or called) and is_value(item, names):
                    found.append(Place(node, name, index))
                visit(item)

    for index, statement in enumerate(tree.body):
        if not isinstance(statement, SKIPPED):
            visit(Wrapper([statement]))
    return [place for place in found if not isinstance(place.owner, Wrapper)]


class Wrapper(ast.AST):
    _fields = ("body",)

    def __init__(self, body):
        self.body = body


def is_value(node, names):
    """Whether an expression gives a value of the function, not a module or a function."""
    if not isinstance(node, VALUES) or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    if any(isinstance(part, (ast.Starred, ast.Slice)) for part in ast.iter_child_nodes(node)):
        return not isinstance(node, (ast.Tuple, ast.List))
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id in names
    return True


def local_names(tree):
    """Parameters, and what statements of the function or of functions inside it assign."""
    names = {arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in all_args(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def all_args(arguments):
    extra = [arg for arg in (arguments.vararg, arguments.kwarg) if arg]
    return arguments.posonlyargs + arguments.args + arguments.kwonlyargs + extra


def statements(tree):
    """The places of all statements, those of functions inside included, no classes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.Lambda)):
            continue
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for index in range(len(block)):
                    yield Place(node, name, index)


def walk_scope(node):
    """The nodes of a function that are not inside functions in it (their heads are)."""
    todo = list(node) if isinstance(node, list) else [node]
    while todo:
        here = todo.pop()
        yield here
        if isinstance(here, (ast.FunctionDef, ast.Lambda, ast.ClassDef)) and here is not node:
            continue
        todo += ast.iter_child_nodes(here)


def has(node, *kinds):
    return any(isinstance(part, kinds) for part in ast.walk(node))


def leaves_loop(statement):
    """Whether a statement has a ``break`` or ``continue`` of a loop around it."""

    def visit(node):
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            return False
        if isinstance(node, (ast.For, ast.While)):
            return any(visit(part) for part in node.orelse)
        return any(visit(part) for part in ast.iter_child_nodes(node))

    return visit(statement)


def movable(statement):
    """Whether a statement may stand in a block of its own."""
    return not isinstance(statement, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)) and not is_text(statement)


def is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def reads(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def stores(node):
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return found | {n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def own_names(tree):
    """Local variables of the function itself that no declaration, ``del``, import, handler or function inside names
    in a way of its own: these can be renamed and boxed."""
    taken = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                taken.update(names)
            case ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                taken.add(name)
            case ast.alias():
                taken.add((node.asname or node.name).partition(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                taken.add(name)
            case ast.MatchMapping(rest=str(name)):
                taken.add(name)
            case ast.Name(name, ast.Del()):
                taken.add(name)
            case ast.arguments() if node is not tree.args:
                taken.update(arg.arg for arg in all_args(node))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.NamedExpr() | ast.Lambda():
                taken |= stores(node)
            case ast.FunctionDef() if node is not tree:
                taken |= stores(node)
    found = []
    for node in walk_scope(tree.body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in taken:
            found.append(node.id)
    return sorted(set(found) - {arg.arg for arg in all_args(tree.args)})


def simple(node):
    """Whether an expression can only compute: no call but of NumPy's pure functions, nothing that stores."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name("np"), attr=name), keywords=[]):
                if name not in PURE:
                    return False
            case ast.Call() | ast.NamedExpr() | ast.Lambda() | ast.Await() | ast.Yield() | ast.Starred():
                return False
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp() | ast.Attribute():
                if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name) or part.value.id != "np":
                    return False
    return True


PURE = frozenset(
    "sin cos tan tanh exp log log1p expm1 sqrt square abs sum mean dot outer cumsum prod maximum minimum arctan".split()
)
