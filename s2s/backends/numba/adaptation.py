"""A generated function in, the same function in the Python that Numba compiles out: ``adapt``.

What differs between the two languages is taken care of here, in the syntax tree, so that the text that the user
reads is the same for every backend:

- What the function reads from outside (numbers and arrays in globals, in closure cells, in attributes of objects, in
  dicts and lists) becomes a parameter, read at each call: Numba would take it as it was when it compiled.
- Where Numba computes on although Python raises (an integer that needs more than 64 bits, ``math.sqrt(-1.0)``, a
  variable without a value) the compiled function raises too. Whoever calls it then runs the Python function, which
  raises Python's own error, or knows the right result.
- Functions that Numba lacks are replaced by what ``s2s.backends.numba.functions`` has for them.

Nothing here imports Numba.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
import types
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis import functions
from s2s.backends.numba.binding import check_bound
from s2s.backends.numba.element_syntax import MOST_AXES, Elements
from s2s.backends.numba.grids import bounds_of, grid_points
from s2s.backends.numba.integers import Integers
from s2s.backends.numba.nests import Nest, nest_of
from s2s.backends.numba.number_kinds import UNKNOWN as KIND_UNKNOWN
from s2s.backends.numba.number_kinds import Kind, Kinds, kind_of_value
from s2s.backends.numba.paths import (
    DYNAMIC,
    Outside,
    Unsupported,
    as_tuples,
    aval_at,
    cannot_follow,
    follow,
    in_place_of,
    is_array,
    is_number,
    is_of_rules,
    is_static,
    is_trusted,
    kind_text,
    path_of,
    prefixes_of,
    sample_of,
)
from s2s.backends.numba.sharing import Sharing, sharing_of
from s2s.backends.numba.straight import Run, Straights
from s2s.backends.numba.syntax import (
    IN_PLACE,
    Substitute,
    bound_names,
    forward_range,
    index_expression,
    is_range,
    is_text,
    leaves_of,
    lists_in,
    literals_in,
    names_in,
    returned_display,
    store_names,
    stored_names,
    write_tuples,
)
from s2s.core.functions import Result
from s2s.core.inspection import with_article
from s2s.core.values import UNKNOWN, Array, Dim, Known

__all__ = ["MATH_RETURNS_FLOAT", "Adapted", "Fact", "adapt", "write_out_containers"]

_FLOATS = """
sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc gamma lgamma
pow atan2 hypot fmod degrees radians copysign ldexp
"""

MATH_RETURNS_FLOAT = frozenset(getattr(math, name) for name in _FLOATS.split())
"""Functions of ``math`` that raise where their result is not finite although their arguments are."""


@dataclass(frozen=True)
class Fact:
    """The compiled function relies on this: the expression gives this very object. ``holder`` is the called function
    in whose globals and closure it looks, None for the function that is compiled."""

    expression: ast.expr
    value: Any
    holder: types.FunctionType | None = None


@dataclass
class Adapted:
    """A function for Numba.

    ``parameters`` are its parameters, each with the expression that gives its argument, ``known`` the objects that its
    text names, ``facts`` what it relies on. ``result`` is the display of tuples, lists and dicts that the original
    returns; the function returns what is in it, one after the other. It is None where both return the same.
    ``by_python`` are the lines with calls that Python makes, ``handed`` the functions that it calls there, ``shared``
    the loops that threads share.
    """

    node: ast.FunctionDef
    parameters: dict[str, ast.expr] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    result: ast.expr | None = None
    by_python: set[int] = field(default_factory=set)
    handed: dict[int, str] = field(default_factory=dict)
    shared: list[tuple[ast.For, Sharing]] = field(default_factory=list)


def adapt(node: ast.FunctionDef, outside: Outside) -> Adapted:
    """The function for Numba. Raises Unsupported."""
    node = copy.deepcopy(node)
    adapted = Adapted(node)
    if node.body and is_text(node.body[0]) and len(node.body) > 1:
        del node.body[0]
    _refuse_statements(node)
    if outside.may_read:
        write_out_containers(node, outside)
    integers = Integers(node, lambda expr: sample_of(expr, outside))
    _Rewriter(adapted, outside, integers).run()
    check_bound(node, {"UnboundLocalError"})
    if outside.may_read:
        place: dict[str, Any] = {"lineno": node.lineno, "col_offset": 0}
        node.args = ast.arguments(
            [], [ast.arg(name, **place) for name in adapted.parameters], None, [], [], None, []
        )
    ast.fix_missing_locations(node)
    return adapted


def _refuse_statements(node: ast.FunctionDef) -> None:
    """Raise Unsupported where the function catches exceptions.

    Compiled code raises in places where Python does not, so that the Python function runs instead: nothing must catch
    that.
    """
    for n in ast.walk(node):
        if isinstance(n, (ast.Try, ast.TryStar, ast.With, ast.Match)):
            raise Unsupported(f"`{type(n).__name__.lower().removesuffix('star')}` is not compiled", n.lineno)


def write_out_containers(node: ast.FunctionDef, outside: Outside) -> None:
    """Without the variables that only stand for a container: Numba takes what is in it, but no dict."""
    once = {name for name, count in Counter(store_names(node)).items() if count == 1}
    once -= {a.arg for a in node.args.args}
    while len(node.body) > 1 and isinstance(last := node.body[-1], ast.Return) and last.value is not None:
        # `t = [{"W": W_bar}]` before `return {"layers": t}`
        match node.body[-2]:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Dict() | ast.Tuple() as value) if (
                name in once and sum(n.id == name for n in ast.walk(last.value) if isinstance(n, ast.Name)) == 1
            ):
                last.value = Substitute({name: value}).visit(last.value)
                del node.body[-2]
            case _:
                break
    for k in range(len(node.body) - 1, -1, -1):
        # `t = params["layers"][0]` before `t["W"]`; the first ones last, as they stand in the others
        match node.body[k]:
            case ast.Assign(targets=[ast.Name(id=name)], value=path) if (
                name in once and _is_container_outside(path, node, outside, once)
            ):
                del node.body[k]
                node.body[k:] = [Substitute({name: path}).visit(s) for s in node.body[k:]]
                node.body[:] = node.body or [ast.Pass()]


def _is_container_outside(value: ast.expr, node: ast.FunctionDef, outside: Outside, once: set[str]) -> bool:
    """Whether an expression is a path, perhaps over other such variables, to something that is no number or array."""
    found = path_of(value)
    seen: set[str] = set()
    while found is not None and found[0] in once and found[0] not in seen:
        seen.add(found[0])
        before = [s for s in node.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == found[0]]
        if not before:
            return False
        value = Substitute({found[0]: before[0].value}).visit(copy.deepcopy(value))
        found = path_of(value)
    if found is None or found[0] in stored_names(node):
        return False
    try:
        sample = sample_of(value, outside)
    except (LookupError, TypeError, ValueError):
        return False
    return isinstance(sample, dict) or not (is_number(sample) or is_array(sample) or is_static(sample))


# --- the rewriter ---------------------------------------------------------------------------------------------------


_DTYPE_OF: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}

_OF_SHAPE = frozenset([np.empty, np.zeros, np.ones, np.full, np.reshape, np.broadcast_to, np.ndarray])

_JOINS = frozenset([np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack])


def _line(node: ast.expr) -> int:
    """The line of an expression of the text, -1 for one that stands for another."""
    return getattr(node, "lineno", -1)


class _Rewriter(ast.NodeTransformer):
    """Rewrites the body of a function in place."""

    def __init__(self, adapted: Adapted, outside: Outside, integers: Integers) -> None:
        self.adapted = adapted
        self.outside = outside
        self.integers = integers
        self.node = adapted.node
        self.parameters = {a.arg for a in self.node.args.args}
        self.assigned = bound_names(self.node)
        self.locals = self.assigned - self.parameters | (self.parameters & stored_names(self.node))
        if not outside.may_read:
            self.locals = set(self.assigned)
        self.taken = names_in(self.node)
        self.read: dict[str, str] = {}
        self.exceptions: dict[str, ast.expr] = {}
        self.straights: Straights | None = None
        self.shared: dict[int, Sharing | None] = {}
        counts = Counter(store_names(self.node))
        self.ranges = {
            n.targets[0].id
            for n in ast.walk(self.node)
            if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and is_range(n.value)
        }
        self.literals = {name: value for name, value in literals_in(self.node) if counts[name] == 1}

        write_tuples(self.node, {name for name, count in counts.items() if count == 1}, self._takes_tuples)
        self.lists = {name: value for name, value in lists_in(self.node) if counts[name] == 1}
        self.made_lists = {
            n.targets[0].id for n in ast.walk(self.node)
            if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and isinstance(n.value, ast.List)
        }
        products = [n for n in ast.walk(self.node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult)]
        lines = {_line(n) for n in products}
        has_stacks = any(self._is_stack(side) for n in products for side in (n.left, n.right))
        has_complex = any(isinstance(n, ast.Constant) and type(n.value) is complex for n in ast.walk(self.node))
        self.products = lines if has_stacks or has_complex or lines & outside.by_python else set()
        calls = [n for n in ast.walk(self.node) if isinstance(n, ast.Call) and _line(n) in outside.by_python]
        self.stopped = [f for f in (self._static(n.func) for n in calls) if isinstance(f, types.FunctionType)
                        and (f.__module__ or "").startswith("s2s.rules")]
        """Functions of rules that are called where Numba has stopped: Python makes all their calls."""

    def _takes_tuples(self, func: ast.expr) -> bool:
        """Whether a function takes a tuple of arrays for a list of them."""
        function = self._static(func)
        return function in _JOINS or (isinstance(function, types.FunctionType) and is_of_rules(function))

    def _is_stack(self, side: ast.expr) -> bool:
        """Whether an expression is an array from outside of three dimensions or more."""
        try:
            return getattr(sample_of(side, self.outside), "ndim", 0) > 2
        except (LookupError, TypeError, ValueError):
            return False

    def run(self) -> None:
        """Do it."""
        if self.outside.may_read:
            self.adapted.result = returned_display(self.node)
            self._hand_over_assigned()
        if self.outside.kinds is not None:
            self._share_loops(self.outside.kinds)
        if self.outside.kinds is not None and not self.outside.is_parallel:
            self.straights = self._straights(self.outside.kinds)
        self.node.body = self._block(self.node.body)

    def _straights(self, kinds: dict[str, Kind]) -> Straights:
        """The statements that are compiled by themselves, for parameters of these kinds."""
        for n in ast.walk(self.node):
            match n:
                case ast.Subscript(slice=ast.Name(id=name)) if isinstance(self.literals.get(name), ast.Tuple):
                    n.slice = copy.deepcopy(self.literals[name])
        known = Kinds(self.node.body, kinds, self._static)
        return Straights(self.node, known, self._static, self.outside.replace)

    def _hand_over_assigned(self) -> None:
        """Parameters that the function assigns stay parameters, whatever is in them."""
        for name in sorted(self.parameters & self.locals):
            value = self.outside.samples[name]
            if not (is_number(value) or is_array(value)):
                raise Unsupported(f"`{name}` is {with_article(type(value).__name__)}, and assigned", self.node.lineno)
            self.read[name] = name
            self.adapted.parameters[name] = ast.Name(name, ast.Load())

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in self.straights.of(statements) if self.straights is not None else statements:
            if isinstance(statement, Run):
                done.append(self._run(statement))
                continue
            for part in self.outside.region(statement, self._known) or [statement]:
                found = self.visit(part)
                done += found if isinstance(found, list) else [found] if found is not None else []
        return done or [ast.Pass(lineno=self.node.lineno, col_offset=0)]

    def fresh(self, wanted: str) -> str:
        """A name that the function does not have yet."""
        name = wanted
        while name in self.taken or hasattr(builtins, name):
            name += "_"
        self.taken.add(name)
        return name

    # -- statements

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(self._length_test(node.test))
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse) if node.orelse else []
        return node

    def _length_test(self, test: ast.expr) -> ast.expr:
        """A range as a condition by its length: Numba does not know that an empty one is false."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                test.operand = self._length_test(test.operand)
            case ast.Name(id=name) if name in self.ranges:
                length = ast.Call(ast.Name("len", ast.Load()), [test], [])
                return ast.copy_location(ast.Compare(length, [ast.Gt()], [ast.Constant(0)]), test)
        return test

    def _share_loops(self, kinds: dict[str, Kind]) -> None:
        """Note how threads share the loops that the text marks."""
        marked = []
        for n in ast.walk(self.node):
            match n:
                case ast.For(iter=ast.Call(func=func, args=[iterable])) if self._static(func) is rt.threads:
                    n.iter = iterable
                    marked.append(n)
        if not marked or not self.outside.is_parallel:
            return
        read = names_in(self.node) - self.assigned - self.parameters
        known = Kinds(self.node.body, kinds | {name: self._kind_outside(name) for name in read}, self._static)
        for n in marked:
            self.shared[id(n)] = sharing_of(n, self.node, known, self._static)

    def _kind_outside(self, name: str) -> Kind:
        """The kind of a variable from outside, as it is now."""
        try:
            return kind_of_value(self.outside.find(name))
        except LookupError:
            return KIND_UNKNOWN

    def visit_For(self, node: ast.For) -> Any:
        sharing = self.shared.get(id(node))
        if sharing is not None:
            sharing.start, sharing.stop = (self.visit(copy.deepcopy(e)) for e in (sharing.start, sharing.stop))
            self.adapted.shared.append((node, sharing))
        match node.iter:
            case ast.Call(func=func, args=[size]) if self._static(func) is rt.places:
                return self._over_elements(node, size)
        node.iter = self.visit(forward_range(node.iter))
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse) if node.orelse else []
        return node

    def _over_elements(self, node: ast.For, size: ast.expr) -> list[ast.stmt]:
        """A loop over elements, and those inside it, which have no other statements than such loops have."""
        found = nest_of(node, self._static, self.outside.replace)
        if found is not None:
            return [self._unit(node, *found)]
        for inner in ast.walk(node):
            match inner:
                case ast.For(iter=ast.Call(func=func, args=[n])) if self._static(func) is rt.places:
                    inner.iter = ast.copy_location(ast.Call(ast.Name("range", ast.Load()), [n], []), node)

        def known(name: str) -> ast.expr:
            return self._known(name, self.outside.replace(f"{name} element", None))

        def fresh(name: str) -> str:
            made = self.fresh(name)
            self.locals.add(made)
            return made

        elements = Elements(known, lambda func: self._static(func) is np.where, fresh)
        node.body = [elements.visit(s) for s in node.body]
        node.iter = self.visit(ast.copy_location(node.iter, node))
        node.body = self._block(node.body)
        before: list[ast.stmt] = [
            ast.Assign([ast.Name(memory, ast.Store())], ast.Call(known("memory"), [self.visit(array)], []))
            for memory, array in elements.arrays()
        ]
        after = [ast.Expr(ast.Call(known("alive"), [self.visit(array)], [])) for _, array in elements.arrays()]
        return [ast.copy_location(s, node) for s in (*before, node, *after)]

    def _unit(self, node: ast.For, nest: Nest, arguments: list[ast.expr]) -> ast.stmt:
        """A loop over elements as a call."""
        results = [arguments[nest.parameters.index(name)] for name in nest.results]
        return self._call_of(node, "loop", nest, arguments, [ast.unparse(a) for a in results])

    def _run(self, run: Run) -> ast.stmt:
        """Statements of numbers and elements as a call."""
        return self._call_of(run.first, "numbers", run.unit, run.arguments, run.results)

    def _call_of(
        self, node: ast.stmt, name: str, unit: Nest, arguments: list[ast.expr], results: list[str]
    ) -> ast.stmt:
        made = self.outside.replace(unit, None)
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in results]
        handed = [ast.copy_location(copy.deepcopy(a), node) for a in arguments]
        call = ast.Call(self._known(name, made), [self.visit(a) for a in handed], [])
        if not targets:
            return ast.copy_location(ast.Expr(call), node)
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        return ast.copy_location(ast.Assign([target], call), node)

    def visit_While(self, node: ast.While) -> Any:
        return self.visit_If(node)  # type: ignore[arg-type]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = self._block(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """An exception that is made only to be raised is not made: what is raised says nothing but that."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)) if self._is_exception(func):
                self.exceptions[name] = node.value
                return None
            case ast.Assign(targets=[ast.Tuple()], value=ast.Subscript() as value):
                node.value = self._grid(value, is_unpacked=True) or value
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if self._may_be_mask(target):
                array = ast.copy_location(ast.Name(getattr(target.value, "id", ""), ast.Load()), node)
                return ast.copy_location(ast.Expr(self._subscript("store at", array, target.slice, value)), node)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Any exception will do where the Python function runs again and raises its own."""
        raised = ast.Call(ast.Name("RuntimeError", ast.Load()), [], [])
        if self.outside.is_alone and node.exc is not None:
            made = self.exceptions.get(node.exc.id, node.exc) if isinstance(node.exc, ast.Name) else node.exc
            raised = self._own_exception(made)
        return ast.copy_location(ast.Raise(raised, None), node)

    def _own_exception(self, made: ast.expr) -> ast.Call:
        """What is raised where the caller sees it: the exception as it is made where Numba has it, else one that shows
        how it is made."""
        func, args = (made.func, made.args) if isinstance(made, ast.Call) else (made, [])
        kind = self._static(func)
        known = isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == "builtins"
        if known and all(isinstance(argument, ast.Constant) for argument in args):
            return ast.Call(func, args, [])
        name = kind.__name__ if known and isinstance(kind, type) else "RuntimeError"
        return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(ast.unparse(made))], [])

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self.visit(node.test)
        node.msg = None
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """``rt.check_bound(x)`` is a read of ``x``, which ``check_bound`` sees to; where it names ``x``, that may be
        None for no value."""
        match node.value:
            case ast.Call(func=func, args=[ast.Name() as name, _]) if self._static(func) is rt.check_bound:
                return self._raise_where(ast.Compare(name, [ast.Is()], [ast.Constant(None)]), node)
            case ast.Call(func=func, args=[ast.Name() as name]) if self._static(func) is rt.check_bound:
                return ast.copy_location(ast.Assign([ast.Name(self.fresh("unused"), ast.Store())], name), node)
            case ast.Call(func=func) if self._static(func) is rt.check_operand:  # there are numbers and arrays only
                return ast.copy_location(ast.Pass(), node)
            case ast.Call(func=func, args=[_, _]) if self._static(func) in (rt.check_scalar, rt.check_own):
                del node.value.args[1]
            case ast.Call(func=func, args=[a, b]) if self._static(func) is rt.check_equal:
                return self._raise_where(ast.Compare(self.visit(a), [ast.NotEq()], [self.visit(b)]), node)
            case ast.Call(func=func) if self._static(func) is rt.check_lengths:
                return self._raise_where(self._differ(node.value), node)
        return self.generic_visit(node)

    def _differ(self, check: ast.Call) -> ast.Call:
        """Whether lengths differ that are checked."""
        lengths = ast.Tuple([self.visit(a) for a in check.args], ast.Load())
        return ast.Call(self._known("differ", self.outside.replace("differ element", None)), [lengths], [])

    def _raise_where(self, test: ast.expr, place: ast.stmt) -> ast.stmt:
        raised = ast.Raise(ast.Call(ast.Name("RuntimeError", ast.Load()), [], []), None)
        return ast.copy_location(ast.If(test, [raised], []), place)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Name):
            left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            whole = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
            if self.integers.helper_for(whole):
                return ast.copy_location(ast.Assign([node.target], self.visit(whole)), node)
        if isinstance(node.target, ast.Subscript) and self._may_be_mask(node.target):
            before = ast.copy_location(ast.Subscript(node.target.value, node.target.slice, ast.Load()), node)
            whole = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
            return self.visit_Assign(ast.copy_location(ast.Assign([node.target], whole), node))
        is_new = isinstance(node.value, (ast.BinOp, ast.UnaryOp, ast.Constant)) or self._makes_new(node.value)
        target, value = self.visit(node.target), self.visit(node.value)
        name = type(node.op).__name__
        if is_new or name not in IN_PLACE:
            node.target, node.value = target, value
            return node
        return ast.copy_location(self._in_place(target, name, value), node)

    def _makes_new(self, value: ast.expr) -> bool:
        """Whether an expression gives a number or a new array."""
        if not isinstance(value, ast.Call):
            return False
        function = self._static(value.func)
        return functions.facts(function).result is Result.NEW

    def _in_place(self, target: ast.expr, name: str, value: ast.expr) -> ast.stmt:
        """``target += value`` that is right where both share memory, as NumPy's is and Numba's is not."""
        if isinstance(target, ast.Name):
            helper = self._known(f"in_place_{name}", self.outside.replace(f"in_place {name}", None))
            return ast.Assign([target], ast.Call(helper, [ast.Name(target.id, ast.Load()), value], []))
        assert isinstance(target, ast.Subscript)
        helper = self._known(f"item_in_place_{name}", self.outside.replace(f"item_in_place {name}", None))
        return ast.Expr(ast.Call(helper, [target.value, index_expression(target.slice), value], []))

    def visit_Return(self, node: ast.Return) -> Any:
        if self.adapted.result is not None and node.value is not None:
            leaves = leaves_of(node.value)
            node.value = leaves[0] if len(leaves) == 1 else ast.Tuple(leaves, ast.Load())
        return self.generic_visit(node)

    def _is_exception(self, func: ast.expr) -> bool:
        value = self._static(func)
        is_refusal = value is rt.path_error or value is rt.try_error
        return is_refusal or (isinstance(value, type) and issubclass(value, BaseException))

    # -- expressions

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        helper = self.integers.helper_for(node)
        if isinstance(node.op, ast.MatMult) and _line(node) in self.products:  # stacks of matrices
            self.adapted.by_python |= self.products
            function = self._known("matmul", self.outside.replace(np.matmul, None))
            return self.generic_visit(ast.copy_location(ast.Call(function, [node.left, node.right], []), node))
        self.generic_visit(node)
        if helper is None:
            return node
        call = ast.Call(self._known(helper, self.outside.replace(helper, None)), [node.left, node.right], [])
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> Any:
        value = self._static(node.func)
        if value is reversed:
            forward = forward_range(node)
            if forward is not node:
                return self.visit(forward)
        if value is not None:
            if value is zip and node.keywords:
                raise Unsupported("Numba has no `zip` with `strict`", node.lineno)
            if isinstance(value, np.ufunc) and (len(node.args) > value.nin or node.keywords):
                raise Unsupported(f"`{ast.unparse(node)}` has arguments that Numba does not know", node.lineno)
            node = self._spelled(node, value)
            is_own = 0 in self.outside.by_python and isinstance(value, types.FunctionType) and is_of_rules(value)
            is_there = _line(node) in self.outside.by_python or any(value is f for f in self.stopped)
            is_there |= value in _JOINS and any(isinstance(a, ast.Name) and a.id in self.made_lists for a in node.args)
            made = self._by_python(node, value) if is_own or is_there else None
            if made is not None and is_own:
                self.adapted.by_python.add(0)
            try:
                found = value if made is not None else self.outside.replace(value, node)
            except Unsupported:
                made = self._by_python(node, value)
                if made is None:
                    raise
            else:
                if made is None and found is value and self.outside.lacks(value, node):
                    made = self._by_python(node, value)
            if made is not None:
                return made
            if isinstance(found, ast.expr):
                return self.visit(ast.copy_location(found, node))
            if found is not value:
                return self._replaced(node, found, getattr(value, "__name__", "helper"))
        elif isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        return self.generic_visit(node)

    def _replaced(self, node: ast.Call, found: Any, name: str) -> ast.Call:
        """A call of what stands for a function."""
        node.func = self._known(name, found)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def _method(self, node: ast.Call, func: ast.Attribute) -> Any:
        """A call of a method."""
        method = getattr(np.ndarray, func.attr, None)
        whole = ast.copy_location(ast.Call(func, [func.value, *node.args], node.keywords), node)
        if node.keywords and func.attr == "copy":
            node.keywords = []  # what Numba copies is in C order
        if func.attr == "squeeze":
            keywords = node.keywords or [ast.keyword("axis", a) for a in node.args] or self._axes_of_one(func.value)
            call = ast.copy_location(ast.Call(func, [func.value], keywords), node)
            found = self.outside.replace(np.squeeze, call)
            return self._replaced(call, found, "squeeze")
        is_reshape = func.attr == "reshape" and node.keywords
        if is_reshape or _line(node) in self.outside.by_python or self.outside.lacks(func.attr, node):
            made = self._by_python(whole, method)
            if made is not None:
                return made
        try:
            found = self.outside.replace(func.attr, node)
        except Unsupported:
            made = self._by_python(whole, method)
            if made is None:
                raise
            return made
        if isinstance(found, ast.expr):
            return self.visit(ast.copy_location(found, node))
        if found is func.attr:
            return self.generic_visit(node)
        node.args.insert(0, func.value)
        return self._replaced(node, found, func.attr)

    def _by_python(self, node: ast.Call, function: Any) -> ast.expr | None:
        """The call of a helper that lets Python call a function; None where it must not."""
        if function is None or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        args = [self._fixed(a) for a in node.args]
        keywords = {str(k.arg): self._fixed(k.value) for k in node.keywords}
        helper = None if "None" in keywords else self.outside.python(function, args, keywords)
        if helper is None:
            return None
        self.adapted.by_python.add(_line(node))
        self.adapted.handed[_line(node)] = ast.unparse(node.func)
        parts = [*node.args, *(k.value for k in node.keywords)]
        handed = [part for part, known in zip(parts, (*args, *keywords.values()), strict=True) if known is DYNAMIC]
        given = [self.visit(ast.Tuple(p.elts, ast.Load()) if isinstance(p, ast.List) else p) for p in handed]
        name = self._known(getattr(function, "__name__", "helper"), helper)
        return ast.copy_location(ast.Call(name, given, []), node)

    def _fixed(self, argument: ast.expr) -> Any:
        """The value of an argument that is known when this is compiled, else DYNAMIC."""
        if isinstance(argument, ast.Name):
            argument = self.literals.get(argument.id, self.lists.get(argument.id, argument))
        try:
            return ast.literal_eval(argument)
        except (ValueError, TypeError, SyntaxError):
            found = self._static(argument)
            return found if isinstance(found, (type, np.dtype)) else DYNAMIC

    def _spelled(self, node: ast.Call, value: Any) -> ast.Call:
        """A call as Numba takes it: a tuple of arrays to join, not a list; axes as constants; dtypes of NumPy; shapes
        that are tuples."""
        if value is np.squeeze and len(node.args) == 1 and not node.keywords:
            node.keywords = self._axes_of_one(node.args[0])
        if value in _OF_SHAPE:
            node.args[:2] = [self._shape(a) for a in node.args[:2]]
        if value is np.transpose and len(node.args) == 2:
            node.args[1] = self._folded(node.args[1])
        node.args = [self._dtype(a) for a in node.args]
        node.keywords = [ast.keyword(k.arg, self._dtype(k.value)) for k in node.keywords]
        if value is np.reshape and len(node.args) == 3 and ast.unparse(node.args[2]) == "'C'":
            del node.args[2]
        node.args = [
            self.literals.get(a.id, a) if isinstance(a, ast.Name) and a.id in self.literals
            and isinstance(self.literals[a.id], ast.Tuple) else a
            for a in node.args
        ]
        node.keywords = [Substitute(self.literals).visit(k) if k.arg == "axis" else k for k in node.keywords]
        if value in _JOINS and node.args and isinstance(node.args[0], ast.List):
            node.args[0] = ast.copy_location(ast.Tuple(node.args[0].elts, ast.Load()), node)
        return node

    def _axes_of_one(self, array: ast.expr) -> list[ast.keyword]:
        """The axes of length 1 of a parameter, as an argument ``axis``; nothing where they are not known."""
        found = path_of(array)
        if found is None or found[0] in self.locals:
            return []
        match aval_at(self.outside.avals.get(found[0], UNKNOWN), found[1]):
            case Array(_, tuple() as shape) if all(dim.offset or not dim.symbol.startswith("?") for dim in shape):
                axes = tuple(k for k, dim in enumerate(shape) if dim == Dim("", 1))
                return [ast.keyword("axis", ast.parse(repr(axes), mode="eval").body)]
        return []

    def _shape(self, argument: ast.expr) -> ast.expr:
        """A list of lengths as a tuple."""
        known = self.lists.get(argument.id) if isinstance(argument, ast.Name) else argument
        if isinstance(known, ast.List) and not any(isinstance(item, ast.Starred) for item in known.elts):
            return ast.copy_location(ast.Tuple(known.elts, ast.Load()), argument)
        return argument

    def _folded(self, argument: ast.expr) -> ast.expr:
        """An argument that NumPy computes of constants, as a constant."""
        value = self._constant(argument)
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i" and len(value) < 32:
            return ast.copy_location(ast.parse(repr(tuple(value.tolist())), mode="eval").body, argument)
        return argument

    def _constant(self, argument: ast.expr) -> Any:
        """The value of an expression of constants and functions of NumPy; DYNAMIC where it is none."""
        if not isinstance(argument, ast.Call) or argument.keywords:
            return self._fixed(argument)
        function, args = self._static(argument.func), [self._constant(a) for a in argument.args]
        if any(a is DYNAMIC for a in args) or not isinstance(function, (np.ufunc, type(np.argsort))):
            return DYNAMIC
        return function(*args) if function in (np.remainder, np.argsort) else DYNAMIC

    def _dtype(self, argument: ast.expr) -> ast.expr:
        """``np.bool_`` for ``bool`` as an argument."""
        value = self._static(argument) if isinstance(argument, ast.Name) else None
        found = next((dtype for kind, dtype in _DTYPE_OF.items() if kind is value), None)
        return argument if found is None else self._known(found.__name__, found)

    def visit_Dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise Unsupported("a dict changes, which Numba does not compile", node.lineno)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self._outside(node) or self.generic_visit(node)

    def _may_be_mask(self, node: ast.expr) -> bool:
        """Whether it is a subscript that may be by a mask, where these are to be written out."""
        match node:
            case ast.Subscript(value=ast.Name(), slice=ast.Name(id=name)):
                return 0 in self.outside.by_python and name in self.locals
        return False

    def _subscript(self, name: str, *parts: ast.expr) -> ast.expr:
        """The call of a helper for a subscript."""
        self.adapted.by_python.add(0)
        helper = self._known(name.replace(" ", "_"), self.outside.replace(name, None))
        return ast.Call(helper, [self.visit(part) for part in parts], [])

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if self._may_be_mask(node) and isinstance(node.ctx, ast.Load):
            return ast.copy_location(self._subscript("item at", node.value, node.slice), node)
        found = self._grid(node) or self._outside(node) or self.generic_visit(node)
        match found:
            case ast.Subscript(ast.Attribute(ast.Name() as array, "shape"), ast.Constant(int(axis)), ast.Load()) if (
                0 <= axis < MOST_AXES
            ):
                length = self._known("length", self.outside.replace(f"length {axis} element", None))
                return ast.copy_location(ast.Call(length, [array], []), node)
        return found

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.exceptions:
            raise Unsupported("an exception is used as a value", node.lineno)
        return self._outside(node) or node

    def _grid(self, node: ast.Subscript, is_unpacked: bool = False) -> ast.expr | None:
        """``np.mgrid[...]`` and ``np.ogrid[...]`` as calls; None for other subscripts."""
        bounds = bounds_of(node.slice) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
        if bounds is None or (path_of(node.value) or ("",))[0] in self.assigned:
            return None
        try:
            grid = sample_of(node.value, self.outside)
        except (LookupError, TypeError, ValueError):
            return None
        name = "mgrid" if grid is np.mgrid else "ogrid" if grid is np.ogrid else None
        if name is None:
            return None
        said: list[ast.expr] = [ast.Constant(name), ast.Constant(is_unpacked)]
        return self._by_python(ast.copy_location(ast.Call(node.value, [*said, *bounds], []), node), grid_points)

    # -- what comes from outside

    def _static(self, func: ast.expr) -> Any:
        """The function, type or module that an expression names; None where it names no such thing."""
        found = path_of(func)
        if found is None or found[0] in self.locals or (found[0] in self.parameters and not self._is_fixed(found)):
            return None
        try:
            value = sample_of(func, self.outside)
        except (LookupError, TypeError, ValueError):
            return None
        return value if is_static(value) else None

    def _is_fixed(self, found: tuple[str, list[tuple[str, Any]]]) -> bool:
        return isinstance(aval_at(self.outside.avals.get(found[0], UNKNOWN), found[1]), Known)

    def _outside(self, node: ast.expr) -> ast.expr | None:
        """What stands for a path that begins outside; None where it begins with a variable of the function."""
        found = path_of(node)
        if found is None or found[0] in self.locals:
            return None
        prefixes = list(prefixes_of(node))
        for expr in prefixes:  # the shortest one that can be handed over
            made = self._whole(expr)
            if made is not None:
                return in_place_of(node, expr, made)
        return self._handed_over_whole(node)

    def _whole(self, expr: ast.expr) -> ast.expr | None:
        """What stands for a path, if its value is a number, an array, a function, a type or a constant."""
        try:
            value = sample_of(expr, self.outside)
        except (LookupError, TypeError, ValueError):
            return None
        root, steps = path_of(expr) or ("", [])
        aval = aval_at(self.outside.avals.get(root, UNKNOWN), steps)
        if isinstance(aval, Known) and type(aval.value) in (str, bool, type(None)) and type(value) is type(aval.value):
            return ast.copy_location(ast.Constant(aval.value), expr)
        if is_static(value):
            return self._static_name(expr, root, steps, value)
        if is_number(value) or is_array(value):
            return self._argument(expr, root, steps)
        return None

    def _static_name(self, expr: ast.expr, root: str, steps: list[tuple[str, Any]], value: Any) -> ast.expr | None:
        if isinstance(value, types.ModuleType):
            return None
        if root in self.parameters and not self._is_fixed((root, steps)):
            raise Unsupported(f"`{ast.unparse(expr)}` is a function that may be another one at the next call",
                              expr.lineno)
        self._rely_on(expr, root, value)
        first = self.outside.find(root) if root not in self.parameters else None
        if first is np and not isinstance(value, types.FunctionType):
            self.adapted.known[root] = np
            return expr
        if hasattr(builtins, root) and getattr(builtins, root) is value:
            return expr
        return self._known(root if not steps else str(steps[-1][1]), self.outside.replace(value, None))

    def _rely_on(self, expr: ast.expr, root: str, value: Any) -> None:
        """Note that the path must lead to this very object at each call, where nothing else sees to it."""
        if root in self.parameters or self.outside.trusted(ast.unparse(expr), value):
            return
        holder: Any = self.outside.find(root)
        for step in (path_of(expr) or ("", []))[1]:
            if isinstance(holder, types.ModuleType) and is_trusted(holder):
                return
            holder = follow(holder, step)
        if getattr(builtins, root, self) is value:
            return
        self.adapted.facts.append(Fact(expr, value))

    def _known(self, wanted: str, value: Any) -> ast.expr:
        """A name of the new function's own for a known object."""
        for name, known in self.adapted.known.items():
            if known is value:
                return ast.Name(name, ast.Load())
        name = self.fresh(wanted if wanted.isidentifier() else "helper")
        self.adapted.known[name] = value
        self.locals.add(name)
        return ast.Name(name, ast.Load())

    def _argument(self, expr: ast.expr, root: str, steps: list[tuple[str, Any]]) -> ast.expr:
        """The parameter that stands for a number or an array."""
        text = ast.unparse(expr)
        if not self.outside.may_read and root not in self.parameters:
            return self._frozen(expr, root, steps)
        if root not in self.parameters and self._is_constant(root, steps):
            self.adapted.known[root] = self.outside.find(root)
            return expr
        if text not in self.read:
            wanted = text if text.isidentifier() else "_".join([root.strip("()"), *(str(s[1]) for s in steps)])
            wanted = "".join(c if c.isalnum() else "_" for c in wanted)
            name = text if not steps and root in self.parameters else self.fresh(wanted)
            self.read[text] = name
            self.adapted.parameters[name] = expr
        return ast.copy_location(ast.Name(self.read[text], ast.Load()), expr)

    def _is_constant(self, root: str, steps: list[tuple[str, Any]]) -> bool:
        """Whether it is a constant of a module such as ``np.pi``."""
        module = self.outside.find(root)
        return isinstance(module, types.ModuleType) and is_trusted(module) and len(steps) == 1

    def _frozen(self, expr: ast.expr, root: str, steps: list[tuple[str, Any]]) -> ast.expr:
        """A number that a called function reads: compiled in, and looked at again at each call."""
        value = sample_of(expr, self.outside)
        if self.outside.is_alone and not steps:
            return self._known(root, value)
        if not is_number(value):
            raise Unsupported(f"the array `{ast.unparse(expr)}`, which may change, is read", expr.lineno)
        if self._is_constant(root, steps):
            return ast.copy_location(ast.Constant(value), expr)
        self.adapted.facts.append(Fact(expr, value))
        return self._known(root, value)

    def _handed_over_whole(self, node: ast.expr) -> ast.expr | None:
        """The parameter that stands for a container which is used as a whole: a tuple."""
        for expr in prefixes_of(node):
            try:
                value = sample_of(expr, self.outside)
            except (LookupError, TypeError, ValueError):
                break
            root, steps = path_of(expr) or ("", [])
            last = expr is node or cannot_follow(node, expr, self.outside)
            if last and isinstance(value, (tuple, list)) and self.outside.may_read:
                aval = aval_at(self.outside.avals.get(root, UNKNOWN), steps)
                handed = as_tuples(expr, value, aval)
                made = self._argument(expr, root, steps)
                assert isinstance(made, ast.Name)
                self.adapted.parameters[made.id] = handed
                return in_place_of(node, expr, made)
        root = (path_of(node) or ("", []))[0]
        raise Unsupported(f"`{ast.unparse(node)}` is {kind_text(node, self.outside)}", _line(node))
