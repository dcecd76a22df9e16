"""A generated function in, the same function in the Python that Numba compiles out: ``adapt``.

What differs between the two languages is taken care of here, in the syntax tree, so that the text that the user
reads is the same for every backend:

- What the function reads from outside (numbers and arrays in globals, in closure cells, in attributes of objects, in
  dicts and lists) becomes a parameter, read at each call: Numba would take it as it was when it compiled.
- Where Numba computes on although Python raises (an integer that needs more than 64 bits, ``math.sqrt(-1.0)``, a
  variable without a value) the compiled function raises too. Whoever calls it then runs the Python function, which
  raises Python's own error, or knows the right result.
- Functions that Numba lacks are replaced by what ``s2s.backends.functions`` has for them.

Nothing here imports Numba.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.values import UNKNOWN, AbstractValue, Known, Mapping, Sequence
from s2s.backends.binding import check_bound
from s2s.backends.integers import Integers

__all__ = [
    "MATH_RETURNS_FLOAT", "Adapted", "Fact", "Outside", "Unsupported", "adapt", "bound_names", "items_of", "leaves_of",
    "names_in", "stored_names",
    "write_out_containers",
]

MOST_ITEMS = 64
"""A tuple with more items than this is not handed to Numba, which compiles for each of them."""


class Unsupported(Exception):
    """Numba cannot run this; ``line`` is the line of the text."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True)
class Fact:
    """The compiled function relies on this: the expression gives this very object. ``holder`` is the called function
    in whose globals and closure it looks, None for the function that is compiled."""

    expression: ast.expr
    value: Any
    holder: types.FunctionType | None = None


@dataclass
class Outside:
    """What names mean in a function: ``find`` gives the value of a name that it does not assign, or raises LookupError.

    ``samples`` are values of its parameters, ``avals`` what is known of parameters and names at every call. ``trusted``
    says for a name whether the dispatcher's guards see to it that it means the same at every call; ``may_read`` whether
    values that change can be passed as arguments (in a function that is called by a compiled one they cannot).
    """

    find: Callable[[str], Any]
    samples: dict[str, Any]
    avals: dict[str, AbstractValue]
    trusted: Callable[[str, Any], bool]
    replace: Callable[[Any, ast.Call | None], Any]
    may_read: bool = True


@dataclass
class Adapted:
    """A function for Numba.

    ``parameters`` are its parameters, each with the expression that gives its argument, ``known`` the objects that its
    text names, ``facts`` what it relies on. ``result`` is the display of tuples, lists and dicts that the original
    returns; the function returns what is in it, one after the other. It is None where both return the same.
    """

    node: ast.FunctionDef
    parameters: dict[str, ast.expr] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    result: ast.expr | None = None


def names_in(node: ast.AST) -> set[str]:
    """Every name in a tree, and those of parameters."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.arg for n in ast.walk(node) if isinstance(n, ast.arg)
    }


def bound_names(node: ast.AST) -> set[str]:
    """The names that a function and those nested in it assign."""
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return found | {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node}


def adapt(node: ast.FunctionDef, outside: Outside) -> Adapted:
    """The function for Numba. Raises Unsupported."""
    node = copy.deepcopy(node)
    adapted = Adapted(node)
    if node.body and _is_text(node.body[0]) and len(node.body) > 1:
        del node.body[0]
    _refuse_statements(node)
    if outside.may_read:
        write_out_containers(node, outside)
    integers = Integers(node, lambda expr: _sample(expr, node, outside))
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
    once = {name for name, count in Counter(_store_names(node)).items() if count == 1}
    once -= {a.arg for a in node.args.args}
    while len(node.body) > 1 and isinstance(last := node.body[-1], ast.Return) and last.value is not None:
        # `t = [{"W": W_bar}]` before `return {"layers": t}`
        match node.body[-2]:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Dict() | ast.Tuple() as value) if (
                name in once and sum(n.id == name for n in ast.walk(last.value) if isinstance(n, ast.Name)) == 1
            ):
                last.value = _Substitute({name: value}).visit(last.value)
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
                node.body[k:] = [_Substitute({name: path}).visit(s) for s in node.body[k:]]
                node.body[:] = node.body or [ast.Pass()]


def _is_container_outside(value: ast.expr, node: ast.FunctionDef, outside: Outside, once: set[str]) -> bool:
    """Whether an expression is a path, perhaps over other such variables, to something that is no number or array."""
    found = _path(value)
    seen: set[str] = set()
    while found is not None and found[0] in once and found[0] not in seen:
        seen.add(found[0])
        before = [s for s in node.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == found[0]]
        if not before:
            return False
        value = _Substitute({found[0]: before[0].value}).visit(copy.deepcopy(value))
        found = _path(value)
    if found is None or found[0] in stored_names(node):
        return False
    try:
        sample = _sample(value, node, outside)
    except (LookupError, TypeError, ValueError):
        return False
    return isinstance(sample, dict) or not (_is_number(sample) or _is_array(sample) or _is_static(sample))


class _Substitute(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        return node


def _store_names(node: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _sample(expr: ast.expr, node: ast.FunctionDef, outside: Outside) -> Any:
    """The value of a path from a parameter or an outside name in the call that is compiled for; LookupError."""
    found = _path(expr)
    if found is None:
        raise LookupError
    root, steps = found
    value = outside.samples[root] if root in outside.samples else outside.find(root)
    for step in steps:
        value = _follow(value, step)
    return value


def _path(expr: ast.expr) -> tuple[str, list[tuple[str, Any]]] | None:
    """The name and the steps of ``name.attribute["key"][0]``."""
    steps: list[tuple[str, Any]] = []
    while True:
        match expr:
            case ast.Name(id=name, ctx=ast.Load()):
                return name, steps[::-1]
            case ast.Attribute(value=inner, attr=attr, ctx=ast.Load()):
                steps.append(("attribute", attr))
            case ast.Subscript(value=inner, slice=ast.Constant(value=key), ctx=ast.Load()):
                steps.append(("item", key))
            case ast.Subscript(
                value=inner, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)), ctx=ast.Load()
            ):
                steps.append(("item", -key))
            case ast.Call(func=ast.Name(id="globals"), args=[], keywords=[]):
                return "globals()", steps[::-1]
            case _:
                return None
        expr = inner


def _follow(value: Any, step: tuple[str, Any]) -> Any:
    """One step of a path. Raises LookupError where the attribute is computed or missing."""
    kind, key = step
    if kind == "item":
        if not isinstance(value, (tuple, list, dict)):
            raise LookupError(key)
        return value[key]
    if isinstance(value, (types.ModuleType, np.ufunc, type)):
        return _attribute(value, key)
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict) and key in own:
        return own[key]
    if type(value).__name__ == "cell" and key == "cell_contents":
        return value.cell_contents
    if isinstance(value, types.FunctionType) and key in ("__closure__", "__globals__"):
        return getattr(value, key)
    in_class = getattr(type(value), key, None)
    if isinstance(in_class, (types.MemberDescriptorType, int, float)) or type(in_class).__name__ == "_tuplegetter":
        return _attribute(value, key)
    raise LookupError(key)


def _attribute(value: Any, key: str) -> Any:
    try:
        return getattr(value, key)
    except AttributeError:
        raise LookupError(key) from None


# --- what can be handed to Numba ------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex, str, type(None)) or (
        isinstance(value, np.generic) and value.dtype.char in _DTYPES
    )


_DTYPES = "?bBhHiIlLqQfdFD"


def _is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.char in _DTYPES and value.dtype.isnative


def _is_static(value: Any) -> bool:
    """Whether a value says what to do, as functions, types and modules do: Numba compiles it in."""
    return isinstance(value, _STATIC) or hasattr(type(value), "__wrapped__") or type(value).__name__ in _STATIC_NAMES


_STATIC = (
    types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype, type(np.sum),
)  # fmt: skip
_STATIC_NAMES = ("method_descriptor", "cython_function_or_method", "Differentiable")


_TRUSTED = {"numpy", "scipy", "s2s", "builtins", *sys.stdlib_module_names}


def _is_trusted(module: types.ModuleType) -> bool:
    """Whether nobody rebinds what is in a module."""
    return module.__name__.partition(".")[0] in _TRUSTED


# --- the rewriter ---------------------------------------------------------------------------------------------------


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
        self.exceptions: set[str] = set()
        counts = Counter(_store_names(self.node))
        self.ranges = {
            n.targets[0].id
            for n in ast.walk(self.node)
            if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and _is_range(n.value)
        }
        self.literals = {name: value for name, value in _literals(self.node) if counts[name] == 1}

    def run(self) -> None:
        """Do it."""
        if self.outside.may_read:
            self.adapted.result = _display(self.node)
            self._hand_over_assigned()
        self.node.body = self._block(self.node.body)

    def _hand_over_assigned(self) -> None:
        """Parameters that the function assigns stay parameters, whatever is in them."""
        for name in sorted(self.parameters & self.locals):
            value = self.outside.samples[name]
            if not (_is_number(value) or _is_array(value)):
                raise Unsupported(f"`{name}` is {_article(type(value).__name__)}, and assigned", self.node.lineno)
            self.read[name] = name
            self.adapted.parameters[name] = ast.Name(name, ast.Load())

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            found = self.visit(statement)
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

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self.visit(_forward_range(node.iter))
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse) if node.orelse else []
        return node

    def visit_While(self, node: ast.While) -> Any:
        return self.visit_If(node)  # type: ignore[arg-type]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = self._block(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """An exception that is made only to be raised is not made: what is raised says nothing but that."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func)) if self._is_exception(func):
                self.exceptions.add(name)
                return None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Any exception will do: the Python function runs again and raises its own."""
        raised = ast.Call(ast.Name("RuntimeError", ast.Load()), [], [])
        return ast.copy_location(ast.Raise(raised, None), node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self.visit(node.test)
        node.msg = None
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """``rt.check_bound(x)`` is a read of ``x``, which ``check_bound`` sees to."""
        match node.value:
            case ast.Call(func=func, args=[ast.Name() as name]) if self._static(func) is rt.check_bound:
                return ast.copy_location(ast.Assign([ast.Name(self.fresh("unused"), ast.Store())], name), node)
            case ast.Call(func=func, args=[_, _]) if self._static(func) in (rt.check_scalar, rt.check_own):
                del node.value.args[1]
            case ast.Call(func=func, args=args) if self._static(func) is rt.check_equal:
                raised = ast.Raise(ast.Call(ast.Name("RuntimeError", ast.Load()), [], []), None)
                pairs = [ast.Compare(args[0], [ast.NotEq()], [other]) for other in args[1:]]
                unequal = ast.BoolOp(ast.Or(), list(pairs)) if len(pairs) > 1 else pairs[0]
                return self.visit(ast.copy_location(ast.If(unequal, [raised], []), node))
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Name):
            left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            whole = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
            if self.integers.helper_for(whole):
                return ast.copy_location(ast.Assign([node.target], self.visit(whole)), node)
        is_new = isinstance(node.value, (ast.BinOp, ast.UnaryOp, ast.Constant)) or self._makes_new(node.value)
        target, value = self.visit(node.target), self.visit(node.value)
        symbol = _IN_PLACE.get(type(node.op))
        if is_new or symbol is None:
            node.target, node.value = target, value
            return node
        return ast.copy_location(self._in_place(target, symbol, value), node)

    def _makes_new(self, value: ast.expr) -> bool:
        """Whether an expression gives a number or a new array."""
        if not isinstance(value, ast.Call):
            return False
        function = self._static(value.func)
        return isinstance(function, np.ufunc) or function in _MAKE_NEW

    def _in_place(self, target: ast.expr, symbol: str, value: ast.expr) -> ast.stmt:
        """``target += value`` that is right where both share memory, as NumPy's is and Numba's is not."""
        if isinstance(target, ast.Name):
            helper = self._known(f"in_place_{symbol}", self.outside.replace(f"in_place {symbol}", None))
            return ast.Assign([target], ast.Call(helper, [ast.Name(target.id, ast.Load()), value], []))
        assert isinstance(target, ast.Subscript)
        helper = self._known(f"item_in_place_{symbol}", self.outside.replace(f"item_in_place {symbol}", None))
        return ast.Expr(ast.Call(helper, [target.value, _index(target.slice), value], []))

    def visit_Return(self, node: ast.Return) -> Any:
        if self.adapted.result is not None and node.value is not None:
            leaves = leaves_of(node.value)
            node.value = leaves[0] if len(leaves) == 1 else ast.Tuple(leaves, ast.Load())
        return self.generic_visit(node)

    def _is_exception(self, func: ast.expr) -> bool:
        value = self._static(func)
        return isinstance(value, type) and issubclass(value, BaseException)

    # -- expressions

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        helper = self.integers.helper_for(node)
        self.generic_visit(node)
        if helper is None:
            return node
        call = ast.Call(self._known(helper, self.outside.replace(helper, None)), [node.left, node.right], [])
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> Any:
        value = self._static(node.func)
        if value is reversed:
            forward = _forward_range(node)
            if forward is not node:
                return self.visit(forward)
        if value is not None:
            if isinstance(value, np.ufunc) and (len(node.args) > value.nin or node.keywords):
                raise Unsupported(f"`{ast.unparse(node)}` has arguments that Numba does not know", node.lineno)
            node = self._spelled(node, value)
            found = self.outside.replace(value, node)
            if isinstance(found, ast.expr):
                return self.visit(ast.copy_location(found, node))
            if found is not value:
                node.func = self._known(getattr(value, "__name__", "helper"), found)
                node.args = [self.visit(a) for a in node.args]
                node.keywords = [self.visit(k) for k in node.keywords]
                return node
        elif isinstance(node.func, ast.Attribute):
            found = self.outside.replace(node.func.attr, node)  # a method
            if isinstance(found, ast.expr):
                return self.visit(ast.copy_location(found, node))
            if found is not node.func.attr:
                node.args.insert(0, node.func.value)
                node.func = self._known(node.func.attr, found)
                node.args = [self.visit(a) for a in node.args]
                return node
        return self.generic_visit(node)

    def _spelled(self, node: ast.Call, value: Any) -> ast.Call:
        """A call as Numba takes it: a tuple of arrays to join, not a list; axes as constants; dtypes of NumPy."""
        node.args = [self._dtype(a) for a in node.args]
        node.keywords = [ast.keyword(k.arg, self._dtype(k.value)) for k in node.keywords]
        if value is np.reshape and len(node.args) == 3 and ast.unparse(node.args[2]) == "'C'":
            del node.args[2]
        node.args = [
            self.literals.get(a.id, a) if isinstance(a, ast.Name) and a.id in self.literals
            and isinstance(self.literals[a.id], ast.Tuple) else a
            for a in node.args
        ]
        node.keywords = [_Substitute(self.literals).visit(k) if k.arg == "axis" else k for k in node.keywords]
        if value in _JOINS and node.args and isinstance(node.args[0], ast.List):
            node.args[0] = ast.copy_location(ast.Tuple(node.args[0].elts, ast.Load()), node)
        return node

    def _dtype(self, argument: ast.expr) -> ast.expr:
        """``np.bool_`` for ``bool`` as an argument."""
        value = self._static(argument) if isinstance(argument, ast.Name) else None
        found = next((dtype for kind, dtype in _DTYPE_OF.items() if kind is value), None)
        return argument if found is None else self._known(found.__name__, found)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self._outside(node) or self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self._outside(node) or self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.exceptions:
            raise Unsupported("an exception is used as a value", node.lineno)
        return self._outside(node) or node

    # -- what comes from outside

    def _static(self, func: ast.expr) -> Any:
        """The function, type or module that an expression names; None where it names no such thing."""
        found = _path(func)
        if found is None or found[0] in self.locals or (found[0] in self.parameters and not self._is_fixed(found)):
            return None
        try:
            value = _sample(func, self.node, self.outside)
        except (LookupError, TypeError, ValueError):
            return None
        return value if _is_static(value) else None

    def _is_fixed(self, found: tuple[str, list[tuple[str, Any]]]) -> bool:
        return isinstance(_aval_at(self.outside.avals.get(found[0], UNKNOWN), found[1]), Known)

    def _outside(self, node: ast.expr) -> ast.expr | None:
        """What stands for a path that begins outside; None where it begins with a variable of the function."""
        found = _path(node)
        if found is None or found[0] in self.locals:
            return None
        prefixes = list(_prefixes(node))
        for expr in prefixes:  # the shortest one that can be handed over
            made = self._whole(expr)
            if made is not None:
                return _in_place_of(node, expr, made)
        return self._handed_over_whole(node)

    def _whole(self, expr: ast.expr) -> ast.expr | None:
        """What stands for a path, if its value is a number, an array, a function, a type or a constant."""
        try:
            value = _sample(expr, self.node, self.outside)
        except (LookupError, TypeError, ValueError):
            return None
        root, steps = _path(expr) or ("", [])
        aval = _aval_at(self.outside.avals.get(root, UNKNOWN), steps)
        if isinstance(aval, Known) and type(aval.value) in (str, bool, type(None)) and type(value) is type(aval.value):
            return ast.copy_location(ast.Constant(aval.value), expr)
        if _is_static(value):
            return self._static_name(expr, root, steps, value)
        if _is_number(value) or _is_array(value):
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
        for step in (_path(expr) or ("", []))[1]:
            if isinstance(holder, types.ModuleType) and _is_trusted(holder):
                return
            holder = _follow(holder, step)
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
        return isinstance(module, types.ModuleType) and _is_trusted(module) and len(steps) == 1

    def _frozen(self, expr: ast.expr, root: str, steps: list[tuple[str, Any]]) -> ast.expr:
        """A number that a called function reads: compiled in, and looked at again at each call."""
        value = _sample(expr, self.node, self.outside)
        if not _is_number(value):
            raise Unsupported(f"the array `{ast.unparse(expr)}`, which may change, is read", expr.lineno)
        if self._is_constant(root, steps):
            return ast.copy_location(ast.Constant(value), expr)
        self.adapted.facts.append(Fact(expr, value))
        return self._known(root, value)

    def _handed_over_whole(self, node: ast.expr) -> ast.expr | None:
        """The parameter that stands for a container which is used as a whole: a tuple."""
        for expr in _prefixes(node):
            try:
                value = _sample(expr, self.node, self.outside)
            except (LookupError, TypeError, ValueError):
                break
            root, steps = _path(expr) or ("", [])
            last = expr is node or _cannot_follow(node, expr, self.node, self.outside)
            if last and isinstance(value, (tuple, list)) and self.outside.may_read:
                aval = _aval_at(self.outside.avals.get(root, UNKNOWN), steps)
                handed = _as_tuples(expr, value, aval)
                made = self._argument(expr, root, steps)
                assert isinstance(made, ast.Name)
                self.adapted.parameters[made.id] = handed
                return _in_place_of(node, expr, made)
        root = (_path(node) or ("", []))[0]
        raise Unsupported(f"`{ast.unparse(node)}` is {_kind_text(node, self.node, self.outside)}", node.lineno)


def _is_range(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range"


def _literals(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The variables that are assigned a number or a tuple of numbers."""
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.UnaryOp() | ast.Tuple() as value):
                parts = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.Load)
                if all(isinstance(part, parts) for part in ast.walk(value)):
                    yield name, value


_IN_PLACE: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
_MAKE_NEW = frozenset([np.where, np.sum, np.mean, np.dot, np.copy, np.outer, np.zeros_like, np.full_like, float])


def _index(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: ``slice(1, None)`` for ``1:``."""
    match index:
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = [part or ast.Constant(None) for part in (lower, upper, *([step] if step else []))]
            return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
        case ast.Tuple(elts=items):
            return ast.Tuple([_index(item) for item in items], ast.Load())
        case _:
            return index


_DTYPE_OF: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
_JOINS = frozenset([np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.dstack])


def _cannot_follow(node: ast.expr, expr: ast.expr, function: ast.FunctionDef, outside: Outside) -> bool:
    """Whether the step after ``expr`` on the path ``node`` is none that is known when this is compiled."""
    for longer in _prefixes(node):
        if len(ast.unparse(longer)) > len(ast.unparse(expr)):
            try:
                _sample(longer, function, outside)
            except (LookupError, TypeError, ValueError):
                return True
            return False
    return True


def _kind_text(node: ast.expr, function: ast.FunctionDef, outside: Outside) -> str:
    for expr in [*_prefixes(node)][::-1]:
        try:
            value = _sample(expr, function, outside)
        except (LookupError, TypeError, ValueError):
            continue
        if isinstance(value, np.ndarray):
            return f"an array of {value.dtype}"
        return f"{_article(type(value).__name__)}, which Numba does not take"
    return "not known"


def _article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiouAEIOU' else 'a'} {word}"


def _as_tuples(expr: ast.expr, value: Any, aval: AbstractValue) -> ast.expr:
    """The expression that hands over a list or tuple as a tuple, with those in it. Raises Unsupported.

    The structure must be known at every call where there are containers in containers.
    """
    simple = all(_is_number(item) or _is_array(item) for item in value)
    if simple and type(value) is list and not isinstance(aval, Sequence) and len({type(item) for item in value}) == 1:
        return expr  # a list, as long as it is at each call
    if len(value) > MOST_ITEMS:
        raise Unsupported(f"`{ast.unparse(expr)}` has {len(value)} items, each of which is compiled for", expr.lineno)
    if simple and isinstance(value, tuple):
        return expr
    if simple:
        return ast.copy_location(ast.Call(ast.Name("tuple", ast.Load()), [expr], []), expr)
    if not isinstance(aval, Sequence) or aval.type not in (tuple, list):
        raise Unsupported(f"what is in `{ast.unparse(expr)}` is not known at each call", expr.lineno)
    items: list[ast.expr] = []
    for k, (item, known) in enumerate(zip(value, aval.items, strict=True)):
        part = ast.copy_location(ast.Subscript(expr, ast.Constant(k), ast.Load()), expr)
        if _is_number(item) or _is_array(item):
            items.append(part)
        elif isinstance(item, (tuple, list)):
            items.append(_as_tuples(part, item, known))
        else:
            raise Unsupported(f"`{ast.unparse(part)}` is a {type(item).__name__}, which Numba does not take",
                              expr.lineno)
    return ast.copy_location(ast.Tuple(items, ast.Load()), expr)


def _aval_at(aval: AbstractValue, steps: list[tuple[str, Any]]) -> AbstractValue:
    """What is known at every call of what a path leads to."""
    for kind, key in steps:
        match aval:
            case Sequence(_, items) if kind == "item" and isinstance(key, int) and -len(items) <= key < len(items):
                aval = items[key]
            case Sequence(cls, items) if kind == "attribute" and key in getattr(cls, "_fields", ()):
                aval = items[cls._fields.index(key)]  # type: ignore[attr-defined]
            case Mapping(keys, items) if kind == "item" and key in keys:
                aval = items[keys.index(key)]
            case _:
                return UNKNOWN
    return aval


def _prefixes(node: ast.expr) -> Iterator[ast.expr]:
    """The paths that a path begins with, the shortest first, itself last."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        yield from _prefixes(node.value)
    yield node


def _in_place_of(node: ast.expr, part: ast.expr, made: ast.expr) -> ast.expr:
    """The path ``node`` with ``made`` for the ``part`` that it begins with."""
    if node is part:
        return made
    assert isinstance(node, (ast.Attribute, ast.Subscript))
    node.value = _in_place_of(node.value, part, made)
    return node


def stored_names(node: ast.AST) -> set[str]:
    """The names that a function assigns, and the parameters of functions in it."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | {
        a.arg
        for inner in ast.walk(node)
        if isinstance(inner, (ast.FunctionDef, ast.Lambda)) and inner is not node
        for a in inner.args.args
    }


# --- results --------------------------------------------------------------------------------------------------------


def _display(node: ast.FunctionDef) -> ast.expr | None:
    """The display that a function returns; None where it returns in more than one place, or no display."""
    returns = [n for n in _own_statements(node) if isinstance(n, ast.Return)]
    if len(returns) != 1 or not isinstance(returns[0].value, (ast.Tuple, ast.List, ast.Dict)):
        return None
    return copy.deepcopy(returns[0].value)


def _own_statements(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function without those of functions in it."""
    todo = list(node.body)
    while todo:
        statement = todo.pop()
        yield statement
        if not isinstance(statement, ast.FunctionDef):
            todo += [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.stmt)]


def items_of(expr: ast.expr) -> list[ast.expr] | None:
    """The items of a display; None for what is no display."""
    match expr:
        case ast.Tuple(elts=items) | ast.List(elts=items) if not any(isinstance(i, ast.Starred) for i in items):
            return items
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            return values
        case _:
            return None


def leaves_of(expr: ast.expr) -> list[ast.expr]:
    """The expressions in nested displays, without ``None``."""
    items = items_of(expr)
    if items is None:
        return [] if isinstance(expr, ast.Constant) and expr.value is None else [expr]
    return [leaf for item in items for leaf in leaves_of(item)]


# --- spelling -------------------------------------------------------------------------------------------------------


def _forward_range(iterable: ast.expr) -> ast.expr:
    """``reversed(range(a, b))`` as ``range(b - 1, a - 1, -1)``; ``reversed(x)`` as ``x[::-1]``."""
    match iterable:
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"), args=bounds)]):
            return ast.copy_location(_reversed_range(bounds), iterable)
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Name() | ast.Attribute() | ast.Subscript() as whole]):
            back = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
            return ast.copy_location(ast.Subscript(whole, back, ast.Load()), iterable)
        case _:
            return iterable


def _reversed_range(bounds: list[ast.expr]) -> ast.expr:
    start, stop = (ast.Constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    minus_one = ast.UnaryOp(ast.USub(), ast.Constant(1))
    if len(bounds) < 3:
        before = minus_one if len(bounds) == 1 else ast.BinOp(start, ast.Sub(), ast.Constant(1))
        arguments = [ast.BinOp(stop, ast.Sub(), ast.Constant(1)), before, minus_one]
    else:
        step = bounds[2]
        trips = ast.Call(ast.Name("len", ast.Load()), [ast.Call(ast.Name("range", ast.Load()), bounds, [])], [])
        last = ast.BinOp(start, ast.Add(), ast.BinOp(ast.BinOp(trips, ast.Sub(), ast.Constant(1)), ast.Mult(), step))
        arguments = [last, ast.BinOp(start, ast.Sub(), step), ast.UnaryOp(ast.USub(), step)]
    call = ast.Call(ast.Name("range", ast.Load()), [copy.deepcopy(a) for a in arguments], [])
    return call


_FLOATS = """
sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc gamma lgamma
pow atan2 hypot fmod degrees radians copysign ldexp
"""
MATH_RETURNS_FLOAT = frozenset(getattr(math, name) for name in _FLOATS.split())
"""Functions of ``math`` that raise where their result is not finite although their arguments are."""
