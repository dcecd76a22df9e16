"""Programs as functions, and what is expected of them: ``load(text)``, ``known_values(text, samples)``.

The primal runs in an instrumented copy that counts its steps, so that no program runs for ever, and records
every condition: where a point of the difference stencil takes another path than the point itself, or coarse
and fine differences disagree (a kink of ``max``), the program is no fit sample and is skipped.
"""

import ast
import builtins
import collections
import linecache
import math
import types

import numpy as np

from tests.helpers import copy_tree, differences, float_leaves, leaves

STEPS = 3000
LARGEST = 1e4


class Unfit(Exception):
    """The program cannot be checked at these inputs."""


def namespace(name):
    scope = {"np": np, "math": math, "collections": collections, "types": types}
    return {**scope, "__name__": name, "__builtins__": builtins}


def load(text, count=iter(range(10**9))):
    """The function ``f`` of a program's text, with its source where s2s finds it."""
    name = f"<fuzz {next(count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = namespace(name)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


class Instrument(ast.NodeTransformer):
    """Wraps every condition in ``_test``, and counts every trip."""

    def mark(self, node):
        call = ast.Call(ast.Name("_test", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    def visit_test(self, node):
        self.generic_visit(node)
        node.test = self.mark(node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_test

    def visit_For(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.parse("_test(True)").body[0])
        return node

    def visit_Assign(self, node):
        """Nothing on the way grows so large that differences lose it."""
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("_seen", ast.Load()), [node.value], [])
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        target = node.target
        while isinstance(target, ast.Subscript):
            target = target.value
        if not isinstance(target, ast.Name):
            return node
        seen = ast.Call(ast.Name("_seen", ast.Load()), [ast.Name(target.id, ast.Load())], [])
        return [node, ast.Expr(seen)]

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        node.values = [*(self.value(value) for value in node.values[:-1]), node.values[-1]]
        return node

    def value(self, node):
        return ast.Call(ast.Name("_value", ast.Load()), [node], [])

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.ifs = [self.mark(test) for test in node.ifs]
        return node


class Primal:
    """The instrumented function: ``primal(*args)`` gives the value, ``primal.path`` the conditions of it."""

    def __init__(self, text):
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(text)))
        scope = namespace("primal")
        scope.update(_test=self.test, _value=self.value, _seen=self.seen)
        exec(compile(tree, "<primal>", "exec"), scope)
        self.f = scope.get("f")
        self.path = []
        self.reference = None
        self.unfit = None

    def value(self, value):
        self.test(value)
        return value

    def seen(self, value):
        if isinstance(value, (float, np.ndarray)) and not np.all(np.abs(value) < LARGEST):
            self.refuse("no moderate float")
        return value

    def refuse(self, reason):
        """Stop; a ``finally`` that exits may end the exception, so it is remembered."""
        self.unfit = self.unfit or Unfit(reason)
        raise self.unfit

    def test(self, value):
        if len(self.path) > STEPS:
            self.refuse("too many steps")
        self.path.append(bool(value))
        return value

    def __call__(self, *args):
        self.path, self.unfit = [], None
        try:
            value = self.f(*args)
        except Unfit:
            raise
        except Exception as error:
            raise Unfit(f"{type(error).__name__}: {error}") from None
        if self.unfit is not None:
            raise self.unfit
        if self.reference is not None and self.path != self.reference:
            raise Unfit("another path nearby")
        return value


def smooth(coarse, fine):
    """Whether differences of two steps agree, and are moderate."""
    for one, other in zip(leaves(coarse), leaves(fine)):
        if other is None:
            continue
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        if not np.allclose(one, other, rtol=1e-7, atol=1e-7 * scale) or scale > LARGEST:
            return False
    return True


def expected(primal, args):
    """The value and the gradient of every float argument by differences; raises Unfit."""
    primal.reference = None
    value = primal(*copy_tree(args))
    if not isinstance(value, (float, np.floating)) or not abs(value) < LARGEST:
        raise Unfit("no moderate float")
    primal.reference = primal.path
    places = [place for place, arg in enumerate(args) if float_leaves(arg)]
    found = []
    for place in places:

        def phi(moved):
            return float(primal(*copy_tree((*args[:place], moved, *args[place + 1 :]))))

        coarse, fine = differences(phi, args[place], 1e-3), differences(phi, args[place], 3e-4)
        if not smooth(coarse, fine):
            raise Unfit("not smooth nearby")
        found.append(fine)
    return value, places, found


def known_values(text, samples):
    """Samples that can be checked, with what is expected of each."""
    primal = Primal(text)
    kept, known = [], []
    reason = Unfit("no sample")
    for args in samples:
        try:
            known.append(expected(primal, args))
            kept.append(args)
        except Unfit as error:
            reason = error
    if not kept:
        raise reason
    return kept, known
