"""Code without source in, a tree that compiles to it out: expressions and assignments without branches or loops, as
texts that packages give to ``eval``, ``exec`` and ``compile`` mostly are.

    eval("lambda x, y: -x / y**2").__code__      ->      lambda x, y: -x / y ** 2

What was put together is compiled again, and is the answer only where that gives the same instructions: so what is not
understood, or misunderstood, is no answer.
"""

from __future__ import annotations

import ast
import dis
import sys
import types
from typing import Any

__all__ = ["tree_of"]

_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "**": ast.Pow, "//": ast.FloorDiv, "%": ast.Mod,
    "@": ast.MatMult,
}
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}
_UNARY: dict[str, type[ast.unaryop]] = {
    "UNARY_NEGATIVE": ast.USub, "UNARY_POSITIVE": ast.UAdd, "UNARY_NOT": ast.Not, "UNARY_INVERT": ast.Invert,
}
_NOTHING = frozenset({"RESUME", "NOP", "CACHE", "PRECALL", "TO_BOOL"})
_NULL: Any = None
"""What stands on the stack beside a function that is called as it is."""


class _Unknown(Exception):
    """Code that is not understood."""


def tree_of(code: types.CodeType) -> ast.Module | ast.Expression | None:
    """A tree that compiles to a function's code within it, or to a code that ``eval`` or ``exec`` is given; None where
    there is none."""
    is_text = code.co_name == "<module>"
    if code.co_freevars or code.co_cellvars or code.co_flags & 0x2AC:  # starred parameters, generators, coroutines
        return None
    try:
        statements = _Reader(code).statements()
        tree = _of_text(statements) if is_text else _of_function(code, statements)
        kind = "eval" if isinstance(tree, ast.Expression) else "exec"
        whole = ast.fix_missing_locations(tree)
        made: types.CodeType | None = compile(whole, code.co_filename, kind, dont_inherit=True)
    except (_Unknown, IndexError, ValueError, TypeError, SyntaxError):
        return None
    if not is_text and made is not None:
        made = next((c for c in made.co_consts if isinstance(c, types.CodeType) and c.co_name == code.co_name), None)
    return tree if made is not None and _instructions(made) == _instructions(code) else None


def _instructions(code: types.CodeType) -> list[tuple[str, str]]:
    return [(i.opname, repr(i.argval)) for i in dis.get_instructions(code)]


def _of_text(statements: list[ast.stmt]) -> ast.Module | ast.Expression:
    last = statements[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        raise _Unknown
    if len(statements) == 1 and not (isinstance(last.value, ast.Constant) and last.value.value is None):
        return ast.Expression(last.value)
    return ast.Module(statements[:-1], [])


def _of_function(code: types.CodeType, statements: list[ast.stmt]) -> ast.Module:
    """A lambda, or a function, with the parameters of a code; their defaults are no part of it."""
    names = [ast.arg(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    given, named = names[: code.co_argcount], names[code.co_argcount :]
    positional = code.co_posonlyargcount
    parameters = ast.arguments(
        posonlyargs=given[:positional], args=given[positional:], kwonlyargs=named, kw_defaults=[None] * len(named),
        defaults=[])
    if code.co_name != "<lambda>":
        text = "def f(): pass"
        made = ast.parse(text).body[0]
        assert isinstance(made, ast.FunctionDef)
        made.name, made.args, made.body = code.co_name, parameters, statements
        return ast.Module([made], [])
    if len(statements) != 1 or not isinstance(statements[0], ast.Return) or statements[0].value is None:
        raise _Unknown
    return ast.Module([ast.Expr(ast.Lambda(parameters, statements[0].value))], [])


class _Reader:
    """Reads instructions one by one, with the expressions that stand on the stack."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.stack: list[Any] = []
        self.named: tuple[str, ...] = ()

    def statements(self) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for i in dis.get_instructions(self.code):
            match i.opname:
                case "STORE_NAME" | "STORE_FAST":
                    made.append(ast.Assign([ast.Name(i.argval, ast.Store())], self.stack.pop()))
                case "POP_TOP":
                    made.append(ast.Expr(self.stack.pop()))
                case "RETURN_VALUE":
                    made.append(ast.Return(self.stack.pop()))
                case "RETURN_CONST":
                    made.append(ast.Return(ast.Constant(i.argval)))
                case _:
                    self.read(i)
        if self.stack:
            raise _Unknown
        return made

    def read(self, i: dis.Instruction) -> None:
        """Let an instruction that makes an expression change the stack."""
        name, stack = i.opname, self.stack
        if name in _NOTHING:
            return
        if name == "PUSH_NULL":
            stack.append(_NULL)
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"):
            stack.append(ast.Constant(i.argval))
        elif name.startswith("LOAD_FAST"):
            names = i.argval if isinstance(i.argval, tuple) else (i.argval,)
            stack.extend(ast.Name(one, ast.Load()) for one in names)
        elif name in ("LOAD_NAME", "LOAD_GLOBAL"):
            stack.extend([_NULL] if name == "LOAD_GLOBAL" and (i.arg or 0) & 1 else [])
            stack.append(ast.Name(i.argval, ast.Load()))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            is_method = name == "LOAD_METHOD" or (sys.version_info >= (3, 12) and bool((i.arg or 0) & 1))
            stack.append(ast.Attribute(self.stack.pop(), i.argval, ast.Load()))
            stack.extend([_NULL] if is_method else [])
        elif name in _UNARY:
            stack.append(ast.UnaryOp(_UNARY[name](), stack.pop()))
        elif name == "KW_NAMES":
            self.named = self.code.co_consts[i.arg or 0]
        elif name in ("CALL", "CALL_KW"):
            self.call(name, i.arg or 0)
        else:
            self.join(i)

    def join(self, i: dis.Instruction) -> None:
        """An expression of the last ones on the stack."""
        name, stack = i.opname, self.stack
        if name in ("BUILD_TUPLE", "BUILD_LIST"):
            items = [stack.pop() for _ in range(i.arg or 0)][::-1]
            stack.append((ast.Tuple if name == "BUILD_TUPLE" else ast.List)(items, ast.Load()))
            return
        right, left = stack.pop(), stack.pop()
        if name == "BINARY_OP" and i.argrepr in _BINARY:
            stack.append(ast.BinOp(left, _BINARY[i.argrepr](), right))
        elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and i.argrepr == "[]"):
            stack.append(ast.Subscript(left, right, ast.Load()))
        elif name == "COMPARE_OP" and i.argval in _COMPARISONS:
            stack.append(ast.Compare(left, [_COMPARISONS[i.argval]()], [right]))
        else:
            raise _Unknown

    def call(self, name: str, count: int) -> None:
        named = tuple(self.stack.pop().value) if name == "CALL_KW" else self.named
        self.named = ()
        given = [self.stack.pop() for _ in range(count)][::-1]
        own = [one for one in (self.stack.pop(), self.stack.pop()) if one is not _NULL]
        if len(own) != 1:
            raise _Unknown
        start = count - len(named)
        keywords = [ast.keyword(key, value) for key, value in zip(named, given[start:])]
        self.stack.append(ast.Call(own[0], given[:start], keywords))
