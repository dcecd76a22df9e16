"""A failing program goes in, a minimal one that fails in the same way comes out: ``shrink(text, fails)``.

Works on the syntax tree, so programs written by hand shrink too. A step deletes a statement, puts the body of
a block in its place, or puts a part of an expression, a name or a constant in place of the whole; steps are
tried, large ones first, until none keeps the failure.
"""

import ast
import builtins
import copy
import time
import warnings


def shrink(text, fails, seconds=60.0):
    """The smallest text found for which ``fails(text)`` still holds."""
    until = time.monotonic() + seconds
    text = ast.unparse(ast.parse(text))
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(text):
            if time.monotonic() > until:
                return text
            if fails(candidate):
                text, smaller = candidate, True
                break
    return text


def candidates(text):
    """Simpler programs, the much simpler ones first; each at most as long as the text."""
    seen = {text}
    tree = ast.parse(text)
    for step in (functions, statements, blocks, expressions):
        for changed in step(tree):
            try:
                candidate = ast.unparse(ast.fix_missing_locations(changed))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SyntaxWarning)
                    compile(candidate, "<candidate>", "exec")
                if not names_known(ast.parse(candidate)):
                    continue
            except (SyntaxError, ValueError, AttributeError, TypeError):
                continue
            if candidate not in seen and simpler(candidate, text):
                seen.add(candidate)
                yield candidate


def names_known(tree):
    """Whether every name that is read is one that the program gives a value somewhere."""
    known = {"np", "math", "collections", "types", *dir(builtins)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.FunctionDef(name) | ast.ClassDef(name):
                known.add(name)
            case ast.alias():
                known.add(node.asname or node.name.partition(".")[0])
    return all(n.id in known for n in ast.walk(tree) if isinstance(n, ast.Name))


def simpler(candidate, text):
    size, old = len(list(ast.walk(ast.parse(candidate)))), len(list(ast.walk(ast.parse(text))))
    return (size, len(candidate)) < (old, len(text))


def bodies(tree):
    """Every list of statements: the node that has it and the name of its field."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "handlers", "finalbody"):
            if isinstance(getattr(node, field, None), list) and not isinstance(node, ast.Lambda):
                yield node, field


def with_change(tree, change):
    """A copy of the tree to which ``change`` was applied."""
    changed = copy.deepcopy(tree)
    change(changed)
    return changed


def nth_body(tree, index):
    return list(bodies(tree))[index]


def functions(tree):
    for index, statement in enumerate(tree.body):
        if getattr(statement, "name", "") != "f":
            yield with_change(tree, lambda t, i=index: t.body.pop(i))


def statements(tree):
    """Without one statement, or without the first or last half of a body."""
    for index, (node, field) in reversed(list(enumerate(bodies(tree)))):
        block = getattr(node, field)
        spans = [(0, len(block) // 2), (len(block) // 2, len(block))] if len(block) > 3 else []
        spans += [(k, k + 1) for k in reversed(range(len(block)))]
        for start, stop in spans:

            def change(t, index=index, start=start, stop=stop):
                owner, name = nth_body(t, index)
                block = getattr(owner, name)
                block[start:stop] = []
                if not block and name == "body":
                    block.append(ast.Pass())

            if any(not isinstance(s, ast.Pass) for s in block[start:stop]):
                yield with_change(tree, change)


def blocks(tree):
    """A body, or an ``else``, in place of the whole block."""
    for index, (node, field) in enumerate(bodies(tree)):
        for k, statement in enumerate(getattr(node, field)):
            for part in ("body", "orelse"):
                inner = getattr(statement, part, None)
                if isinstance(inner, list) and inner and not isinstance(statement, ast.FunctionDef):

                    def change(t, index=index, k=k, part=part):
                        owner, name = nth_body(t, index)
                        block = getattr(owner, name)
                        block[k : k + 1] = getattr(block[k], part)

                    yield with_change(tree, change)


def places(tree):
    """Every expression that may be replaced: the node above it, the field, and the place in a list."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.arguments, ast.comprehension)):
            fields = ("iter",) if isinstance(node, ast.comprehension) else ()
        else:
            fields = node._fields
        for field in fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.expr) and not stored(node, field):
                yield node, field, None
            elif isinstance(value, list) and field not in ("targets", "decorator_list", "ops"):
                for k, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield node, field, k


def stored(node, field):
    return field in ("target", "optional_vars", "annotation", "returns", "ctx") or (
        field == "func" and isinstance(node, ast.Call)
    )


def replacements(expression):
    """Simpler expressions for one: its parts, and a constant."""
    if isinstance(expression, ast.Constant):
        if isinstance(expression.value, (int, float)) and expression.value not in (0, 1, True, False):
            yield ast.Constant(type(expression.value)(1))
        return
    if isinstance(expression, ast.Name):
        return
    parts = [child for child in ast.iter_child_nodes(expression) if isinstance(child, ast.expr)]
    for child in parts:
        if not isinstance(child, ast.Starred) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield copy.deepcopy(child)
    if isinstance(expression, (ast.List, ast.Tuple)) and len(expression.elts) > 1:
        for k in range(len(expression.elts)):
            smaller = copy.deepcopy(expression)
            del smaller.elts[k]
            yield smaller
    if isinstance(expression, (ast.BinOp, ast.Call, ast.IfExp, ast.Compare, ast.BoolOp, ast.Subscript)):
        yield ast.Constant(1.0)


def expressions(tree):
    for index, (node, field, k) in enumerate(list(places(tree))):
        expression = getattr(node, field) if k is None else getattr(node, field)[k]
        for replacement in replacements(expression):

            def change(t, index=index, replacement=replacement):
                owner, name, place = list(places(t))[index]
                if place is None:
                    setattr(owner, name, replacement)
                else:
                    getattr(owner, name)[place] = replacement

            yield with_change(tree, change)
