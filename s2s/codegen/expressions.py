"""Expressions: takes right-hand sides with the names of their variables, gives ``ast`` expressions.

Operators, displays, subscripts and attribute reads come back from the functions that mean them.
"""

from __future__ import annotations

import ast
import builtins
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from s2s.analysis.abstract.draws import is_draw
from s2s.codegen.code import Code, Comprehension, Conditional, Junction, Pattern, Target, Tree
from s2s.codegen.spelling import Speller, load
from s2s.core import operators, ops
from s2s.core.inspection import is_plain_name
from s2s.core.ir import Atom, Call, Const, Load, MakeFunction, Star, Var
from s2s.directives.user_rules import custom_gradient, value_of

__all__ = ["BINARY", "COMPARE", "SUGARED", "UNARY", "Expressions", "is_method"]

def _parsed(source: str) -> Any:
    return ast.parse(source, mode="eval").body


BINARY: dict[Any, type[ast.operator]] = {
    fn: type(_parsed(f"a {one.symbol} b").op) for fn, one in operators.BINARY.items()
}
UNARY: dict[Any, type[ast.unaryop]] = {fn: type(_parsed(f"{one.symbol} a").op) for fn, one in operators.UNARY.items()}
COMPARE: dict[Any, type[ast.cmpop]] = {
    fn: type(_parsed(f"a {one.symbol} b").ops[0]) for fn, one in operators.COMPARISONS.items()
}

SUGARED: frozenset[Any] = frozenset(
    {
        *operators.OPERATORS, *ops.DISPLAYS, *ops.GROWS, operator.contains, operator.getitem,
        ops.merge_dict, ops.format_string, ops.format_value, ops.unpack,
        operator.setitem, operator.delitem, *operators.PLAIN,
    }
)  # fmt: skip
"""Functions that print as syntax, so that no name is needed for them."""


def is_method(value: Any) -> bool:
    """Whether a known function prints as a method of its first argument."""
    return is_draw(value) or (
        isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType))
        and not value.__name__.startswith("__")
    )


@dataclass(slots=True)
class Expressions:
    """Builds the expressions of one function."""

    speller: Speller
    code: Code
    names: dict[Var, str]
    make_lambda: Callable[[MakeFunction, Expressions], ast.expr]
    unused: str = "_"
    """The name of what is assigned and not read."""

    def atom(self, atom: Atom) -> ast.expr:
        """The expression for an atom: a name, a folded expression, a known object."""
        if isinstance(atom, Var):
            folded = self.code.folded.get(atom)
            return load(self.names[atom]) if folded is None else self.tree(folded)
        return self.speller.value(atom.value)

    def tree(self, tree: Tree) -> ast.expr:
        """The expression for a right-hand side."""
        if isinstance(tree, Call):
            fn, args = tree.fn, tree.args
            is_plain = not tree.kwargs and Star not in map(type, args)
            if isinstance(fn, Const) and (is_plain or fn.value in ops.DISPLAYS):
                sugar = self.sugar(fn.value, args)
                if sugar is not None:
                    return sugar
            return self.call(fn, args, tree.kwargs)
        match tree:
            case Var() | Const():
                return self.atom(tree)
            case Load():
                return self.speller.load(tree)
            case Conditional(test, then, orelse):
                return ast.IfExp(self.atom(test), self.atom(then), self.atom(orelse))
            case Junction(conjunction, first, second):
                joined = ast.And() if conjunction else ast.Or()
                operands: list[ast.expr] = []
                for operand in (self.atom(first), self.atom(second)):
                    if isinstance(operand, ast.BoolOp) and type(operand.op) is type(joined):
                        operands += operand.values
                    else:
                        operands.append(operand)
                return ast.BoolOp(joined, operands)
            case Comprehension():
                return self.comprehension(tree)
            case MakeFunction():
                return self.make_lambda(tree, self)
            case _ as never:
                assert_never(never)

    def target(self, target: Target) -> ast.expr:
        """The left-hand side of an assignment."""
        match target:
            case None:
                return ast.Name(self.unused, ast.Store())
            case Var():
                return ast.Name(self.names[target], ast.Store())
            case Pattern(items, star):
                parts = [self.target(item) for item in items]
                if star is not None:
                    parts[star] = ast.Starred(parts[star], ast.Store())
                return ast.Tuple(parts, ast.Store())
            case _ as never:
                assert_never(never)

    def comprehension(self, tree: Comprehension) -> ast.expr:
        tests = [] if tree.test is None else [self.atom(tree.test)]
        item = self.target(tree.item)
        clauses = [ast.comprehension(item, self.atom(tree.iterable), tests, is_async=0)]
        element = self.atom(tree.element)
        match tree.kind:
            case "set":
                return ast.SetComp(element, clauses)
            case "dict":
                assert tree.key is not None
                return ast.DictComp(self.atom(tree.key), element, clauses)
            case _:
                return ast.ListComp(element, clauses)

    # --- calls ---

    def argument(self, argument: Atom | Star) -> ast.expr:
        if isinstance(argument, Star):
            return ast.Starred(self.atom(argument.atom), ast.Load())
        return self.atom(argument)

    def call(
        self, fn: Atom, args: tuple[Atom | Star, ...], kwargs: tuple[tuple[str | None, Atom], ...]
    ) -> ast.expr:
        """A call that prints as a call."""
        keywords = [
            ast.keyword(name, self.atom(atom)) if name is None or is_plain_name(name)
            else ast.keyword(None, ast.Dict([ast.Constant(name)], [self.atom(atom)])) for name, atom in kwargs
        ]
        if fn == Const(value_of) and args:
            made = ast.Call(self.atom(Const(custom_gradient)), [self.argument(args[0])], [])
            return ast.Call(made, [self.argument(a) for a in args[1:]], keywords)
        if isinstance(fn, Const) and is_method(fn.value) and args and not isinstance(args[0], Star):
            method = ast.Attribute(self.atom(args[0]), fn.value.__name__, ast.Load())
            return ast.Call(method, [self.argument(a) for a in args[1:]], keywords)
        return ast.Call(self.atom(fn), [self.argument(a) for a in args], keywords)

    def sugar(self, fn: Any, args: tuple[Atom | Star, ...]) -> ast.expr | None:
        """A call that prints as syntax, or None."""
        try:
            if fn not in SUGARED and fn is not getattr:
                return None
        except TypeError:
            return None
        atoms = [a for a in args if not isinstance(a, Star)]
        if fn in ops.DISPLAYS:
            return self.display(fn, args)
        if fn in BINARY and len(atoms) == 2:
            return ast.BinOp(self.atom(atoms[0]), BINARY[fn](), self.atom(atoms[1]))
        if fn in operators.PLAIN and len(atoms) == 2:  # folded: its first operand was made just now
            return ast.BinOp(self.atom(atoms[0]), BINARY[operators.PLAIN[fn]](), self.atom(atoms[1]))
        if fn in UNARY and len(atoms) == 1:
            return ast.UnaryOp(UNARY[fn](), self.atom(atoms[0]))
        if fn in COMPARE and len(atoms) == 2:
            return ast.Compare(self.atom(atoms[0]), [COMPARE[fn]()], [self.atom(atoms[1])])
        if fn is operator.contains and len(atoms) == 2:
            return ast.Compare(self.atom(atoms[1]), [ast.In()], [self.atom(atoms[0])])
        if fn is operator.getitem and len(atoms) == 2:
            return ast.Subscript(self.atom(atoms[0]), self.key(atoms[1]), ast.Load())
        if fn is builtins.getattr and len(atoms) == 2:
            name: Any = atoms[1].value if isinstance(atoms[1], Const) else None
            return ast.Attribute(self.atom(atoms[0]), name, ast.Load()) if is_plain_name(name) else None
        return self.rebuilt(fn, atoms)

    def rebuilt(self, fn: Any, atoms: list[Atom]) -> ast.expr | None:
        """Displays that grow by one item, and strings."""
        match fn, atoms:
            case ops.merge_dict, [first, second]:
                return self.merged(first, second)
            case ops.append, [items, item]:
                return ast.List([ast.Starred(self.atom(items), ast.Load()), self.atom(item)], ast.Load())
            case ops.add_to_set, [items, item]:
                return ast.Set([ast.Starred(self.atom(items), ast.Load()), self.atom(item)])
            case ops.put, [mapping, key, value]:
                return ast.Dict([None, self.atom(key)], [self.atom(mapping), self.atom(value)])
            case ops.format_string, _:
                return self.string(atoms)
            case ops.format_value, _:
                return self.formatted(atoms)
            case _:
                return None

    def merged(self, first: Atom, second: Atom) -> ast.expr:
        left, right = self.atom(first), self.atom(second)
        if isinstance(left, ast.Dict):
            return ast.Dict([*left.keys, None], [*left.values, right])
        return ast.Dict([None, None], [left, right])

    def display(self, fn: Any, args: tuple[Atom | Star, ...]) -> ast.expr | None:
        if fn is ops.make_dict:
            if len(args) % 2 or any(isinstance(a, Star) for a in args):
                return None
            items = [self.argument(a) for a in args]
            return ast.Dict([*items[::2]], items[1::2])
        parts = [self.argument(a) for a in args]
        if fn is ops.make_tuple:
            return ast.Tuple(parts, ast.Load())
        if fn is ops.make_list:
            return ast.List(parts, ast.Load())
        return ast.Set(parts) if parts else ast.Call(self.speller.value(set), [], [])

    def key(self, key: Atom) -> ast.expr:
        """What stands between the brackets of a subscript."""
        bounds = self.slice(key)
        if bounds is not None:
            return bounds
        tree = self.code.folded.get(key) if isinstance(key, Var) else None
        if isinstance(tree, Call) and tree.fn == Const(ops.make_tuple) and tree.args:
            parts = [
                self.argument(a) if isinstance(a, Star) else self.slice(a) or self.atom(a) for a in tree.args
            ]
            return ast.Tuple(parts, ast.Load())
        if isinstance(key, Const) and type(key.value) is tuple and key.value:
            parts = [self.slice(Const(v)) or self.speller.value(v) for v in key.value]
            return ast.Tuple(parts, ast.Load())
        return self.atom(key)

    def slice(self, key: Atom) -> ast.expr | None:
        """``a:b:c`` where the key is a slice made in place."""
        bounds: tuple[Any, ...] | None = None
        tree = self.code.folded.get(key) if isinstance(key, Var) else None
        if isinstance(key, Const) and isinstance(key.value, slice):
            bounds = tuple(map(Const, (key.value.start, key.value.stop, key.value.step)))
        if isinstance(tree, Call) and tree.fn == Const(slice) and not tree.kwargs:
            bounds = tree.args if not any(isinstance(a, Star) for a in tree.args) else None
        if not bounds or len(bounds) > 3:
            return None
        if len(bounds) == 1:
            bounds = (Const(None), bounds[0])
        parts = [None if b == Const(None) else self.atom(b) for b in bounds]
        return ast.Slice(*parts)

    # --- strings ---

    def string(self, parts: list[Atom]) -> ast.expr:
        """An f-string where its parts allow it on every Python version, else ``"".join``."""
        values = [self.atom(part) for part in parts]
        pieces: list[ast.expr] = []
        for value in values:
            piece = _piece(value)
            if piece is None:
                joined = ast.Attribute(ast.Constant(""), "join", ast.Load())
                return ast.Call(joined, [ast.Tuple(values, ast.Load())], [])
            pieces.append(piece)
        return ast.JoinedStr(pieces)

    def formatted(self, atoms: list[Atom]) -> ast.expr:
        """``format(value, spec)``, the value converted first."""
        value = self.atom(atoms[0])
        conversion = atoms[1].value if len(atoms) > 1 and isinstance(atoms[1], Const) else ""
        convert = {"r": repr, "s": str, "a": ascii}.get(conversion)
        if convert is not None:
            value = ast.Call(self.speller.value(convert), [value], [])
        rest = [] if len(atoms) < 3 or atoms[2] == Const("") else [self.atom(atoms[2])]
        return ast.Call(self.speller.value(format), [value, *rest], [])


_CONVERSIONS = {"repr": "r", "str": "s", "ascii": "a"}


def _piece(value: ast.expr) -> ast.expr | None:
    """One part of an f-string, or None where Python 3.11 could not read it there."""
    match value:
        case ast.Constant(str(text)):
            both = "'" in text and '"' in text
            return None if both or any(c in text for c in "\\\n{}") else value
        case ast.Call(ast.Name("format"), [inner, *rest], []):
            conversion = -1
            match inner:
                case ast.Call(ast.Name(id=name), [converted], []) if name in _CONVERSIONS:
                    conversion, inner = ord(_CONVERSIONS[name]), converted
                case _:
                    pass
            spec = _spec(rest)
            strings = any(
                isinstance(n, ast.Constant) and isinstance(n.value, (str, bytes)) for n in ast.walk(inner)
            )
            odd = any(isinstance(n, (ast.Lambda, ast.Dict, ast.Set, ast.JoinedStr)) for n in ast.walk(inner))
            if strings or odd or (rest and spec is None):
                return None
            return ast.FormattedValue(inner, conversion, spec)
        case _:
            return None


def _spec(rest: list[ast.expr]) -> ast.JoinedStr | None:
    match rest:
        case [ast.Constant(str(text))] if not any(c in text for c in "\\\n'\"{}"):
            return ast.JoinedStr([ast.Constant(text)])
        case _:
            return None
