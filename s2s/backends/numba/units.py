"""Loops over elements by themselves as machine code: ``unit`` gives the function that compiled code calls.

Numba's analysis takes some milliseconds for each statement, and LLVM's more in long functions than in short ones. What
is in such a loop needs no analysis, as there are numbers and elements of arrays only: each becomes a function of its
own, of addresses and numbers, written for LLVM as it stands. Loops that read alike are one function. Subscripts are not
checked, which the loop has checked before it begins; divided is as NumPy divides; sums may be added up in any order.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from s2s.backends.numba.nests import Nest
from s2s.core.hashes import new_hash

__all__ = ["Memory", "Writer", "made_once", "strides_of", "unit"]

_FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
"""Of the structure that an array is, as ``numba.core.datamodel.models.ArrayModel`` has them."""

_units: dict[Any, Any] = {}

MOST_UNITS = 2048
"""So many are kept."""

_COMPARED: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def unit(nest: Nest) -> Any:
    """The function that stands for a loop: of its parameters, with its results."""
    return made_once(nest, "unit", _typed)


def made_once(part: Any, kind: str, typed: Callable[..., Any]) -> Any:
    """The function that stands for a part of a text: one for those that read alike. ``typed`` gives its signature and
    what writes a call, from the part, a name, the typing context and the types of its arguments."""
    if part not in _units:
        if len(_units) >= MOST_UNITS:
            _units.clear()
        name = f"{kind}_{new_hash(part.text.encode()).hexdigest()[:16]}"
        scope: dict[str, Any] = {"typed": lambda context, kinds: typed(part, name, context, kinds)}
        exec(f"def {name}(typing_context, {', '.join(part.parameters)}):\n"
             f"    return typed(typing_context, ({', '.join(part.parameters)},))", scope)  # Numba reads the parameters
        _units[part] = intrinsic(scope[name])
    return _units[part]


def _typed(nest: Nest, name: str, _typing_context: Any, given: tuple[Any, ...]) -> Any:
    """The signature and what writes a call, for arguments of these types. Raises TypingError."""
    kinds = {p: _kind(p, kind) for p, kind in zip(nest.parameters, map(types.unliteral, given), strict=True)}
    if any(kinds[p] != types.float64 for p in nest.results):
        raise TypingError("sums are float64")
    results = {0: types.void, 1: types.float64}.get(len(nest.results), types.UniTuple(types.float64, len(nest.results)))
    parts = [part for kind in kinds.values() for part in _parts(kind)]

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        handed = []
        for kind, value in zip(kinds.values(), args, strict=True):
            handed += _taken_apart(builder, kind, value) if isinstance(kind, types.Array) else [value]
        function = _function(context, builder.module, nest, name, kinds, results, parts)
        status, made = context.call_conv.call_function(builder, function, results, parts, handed)
        if nest.functions or "**" in nest.text:
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
        return made if results != types.void else context.get_dummy_value()

    return results(*kinds.values()), call


def _kind(parameter: str, kind: Any) -> Any:
    """What a parameter is taken as. Raises TypingError."""
    if parameter.startswith("a"):
        if isinstance(kind, types.Array) and kind.dtype in (types.float64, types.int64, types.boolean):
            return kind
    elif isinstance(kind, types.Boolean):
        return types.boolean
    elif isinstance(kind, types.Integer):
        return types.int64
    elif kind == types.float64:
        return kind
    raise TypingError(f"elements are not computed from {kind}")


def strides_of(kind: Any) -> int:
    """How many strides lead to an element: but for the last one of an array in C order."""
    return int(kind.ndim - 1 if kind.layout == "C" else kind.ndim)


def _parts(kind: Any) -> list[Any]:
    """What is handed over for a parameter."""
    return [types.CPointer(kind.dtype), *[types.intp] * strides_of(kind)] if isinstance(kind, types.Array) else [kind]


def _taken_apart(builder: Any, kind: Any, array: Any) -> list[Any]:
    data = builder.extract_value(array, _FIELDS.index("data"))
    return [data, *(builder.extract_value(array, (_FIELDS.index("strides"), k)) for k in range(strides_of(kind)))]


def _function(
    context: Any, module: Any, nest: Nest, name: str, kinds: dict[str, Any], results: Any, parts: list[Any]
) -> Any:
    """The function of a module that does a loop for arguments of these types."""
    name = f"{name}.{new_hash(repr(kinds).encode()).hexdigest()[:16]}"
    if name in module.globals:
        return module.globals[name]
    function = llvm.Function(module, context.call_conv.get_function_type(results, parts), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    context.call_conv.decorate_function(function, [str(k) for k in range(len(parts))], parts)
    builder = llvm.IRBuilder(function.append_basic_block("entry"))
    handed = iter(context.call_conv.decode_arguments(builder, parts, function))
    arrays, values = {}, {}
    for parameter, kind in kinds.items():
        if isinstance(kind, types.Array):
            arrays[parameter] = Memory(kind, next(handed), [next(handed) for _ in range(strides_of(kind))])
        else:
            values[parameter] = next(handed), kind
    writer = Writer(context, builder, dict(nest.functions), arrays, values)
    writer.loop(ast.parse(nest.text).body[0])  # type: ignore[arg-type]
    made = [writer.values[p][0] for p in nest.results]
    if len(made) == 1:
        context.call_conv.return_value(builder, made[0])
    else:
        tuple_of = context.make_tuple(builder, results, made) if made else context.get_dummy_value()
        context.call_conv.return_value(builder, tuple_of)
    return function


@dataclass
class Memory:
    """Where an array lies."""

    kind: Any
    data: Any
    strides: list[Any]


class Writer:
    """Writes a loop; ``values`` are the numbers that there are, each with its type."""

    def __init__(
        self, context: Any, builder: Any, functions: dict[str, Any], arrays: dict[str, Memory],
        values: dict[str, tuple[Any, Any]],
    ) -> None:
        self.context = context
        self.builder = builder
        self.functions = functions
        self.arrays = arrays
        self.values = values

    # -- statements

    def loop(self, node: ast.For) -> None:
        """A loop: what it changes of what was there before is carried from one iteration to the next."""
        builder = self.builder
        assert isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call)
        size = self._as(types.intp, node.iter.args[0])
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        carried = sorted(stored & self.values.keys())
        before = builder.block
        test, body, after = (builder.append_basic_block(name) for name in ("places", "place", "after"))
        builder.branch(test)
        builder.position_at_end(test)
        item = builder.phi(size.type)
        item.add_incoming(size.type(0), before)
        running = {}
        for name in carried:
            value, kind = self.values[name]
            running[name] = builder.phi(value.type), kind
            running[name][0].add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", item, size), body, after)
        builder.position_at_end(body)
        self.values |= running
        self.values[node.target.id] = item, types.intp
        for statement in node.body:
            self.statement(statement)
        for name in carried:
            running[name][0].add_incoming(self._cast(*self.values[name], running[name][1]), builder.block)
        item.add_incoming(builder.add(item, item.type(1), flags=("nsw",)), builder.block)
        builder.branch(test)
        builder.position_at_end(after)
        self.values |= running

    def statement(self, s: ast.stmt) -> None:
        """One statement."""
        match s:
            case ast.For():
                self.loop(s)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.values[name] = self._sum(name, value) or self.expression(value)
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                kind = self.arrays[place.value.id].kind.dtype  # type: ignore[attr-defined]
                found = self._as(kind, value)
                self.context.pack_value(self.builder, kind, found, self._pointer(place))

    def _sum(self, name: str, value: ast.expr) -> Any:
        """``total = total + value``"""
        match value:
            case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=right) if left == name:
                total, added = self._as(types.float64, value.left), self._as(types.float64, right)
                return self.builder.fadd(total, added, flags=("reassoc",)), types.float64
        return None

    def _pointer(self, place: ast.Subscript) -> Any:
        """Where an element lies."""
        builder = self.builder
        memory = self.arrays[place.value.id]  # type: ignore[attr-defined]
        found = self._indices_of(place)
        data = memory.data
        if memory.strides:
            offset = builder.mul(found[0], memory.strides[0])
            for part, stride in zip(found[1:], memory.strides[1:], strict=False):
                offset = builder.add(offset, builder.mul(part, stride))
            data = cgutils.pointer_add(builder, data, offset)
        return builder.gep(data, [found[-1]]) if len(memory.strides) < len(found) else data

    def _indices_of(self, place: ast.Subscript) -> list[Any]:
        parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
        return [self._as(types.intp, part) for part in parts]

    # -- expressions

    def _cast(self, value: Any, kind: Any, to: Any) -> Any:
        return value if kind == to else self.context.cast(self.builder, value, kind, to)

    def _as(self, to: Any, node: ast.expr) -> Any:
        return self._cast(*self.expression(node), to)

    def expression(self, node: ast.expr) -> tuple[Any, Any]:
        """The value of an expression, and its type."""
        match node:
            case ast.Constant(value=value):
                kind = {bool: types.boolean, int: types.int64, float: types.float64}[type(value)]
                return self.context.get_constant(kind, value), kind
            case ast.Name(id=name):
                return self.values[name]
            case ast.Subscript():
                kind = self.arrays[node.value.id].kind.dtype  # type: ignore[attr-defined]
                return self.context.unpack_value(self.builder, kind, self._pointer(node)), kind
            case ast.UnaryOp(op=ast.Not()):
                return self.builder.not_(self._as(types.boolean, node.operand)), types.boolean
            case ast.UnaryOp():
                return self._negative(node.operand)
            case ast.BinOp():
                return self._operator(node)
            case ast.Compare(ops=[one]):
                return self._compare(one, node.left, node.comparators[0]), types.boolean
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, node.args)
        raise TypingError(ast.unparse(node))

    def _negative(self, operand: ast.expr) -> tuple[Any, Any]:
        value, kind = self.expression(operand)
        if kind == types.float64:
            return self.builder.fneg(value), kind
        return self.builder.neg(self._cast(value, kind, types.int64)), types.int64

    def _operator(self, node: ast.BinOp) -> tuple[Any, Any]:
        builder, op = self.builder, type(node.op)
        if op is ast.Pow:
            return self._apply(operator.pow, [node.left, node.right])
        (a, of_a), (b, of_b) = self.expression(node.left), self.expression(node.right)
        if op in (ast.BitAnd, ast.BitOr):
            if (of_a, of_b) != (types.boolean, types.boolean):
                raise TypingError("integers are not combined")
            return (builder.and_ if op is ast.BitAnd else builder.or_)(a, b), types.boolean
        kind = types.float64 if op is ast.Div or types.float64 in (of_a, of_b) else types.int64
        a, b = self._cast(a, of_a, kind), self._cast(b, of_b, kind)
        if op is ast.Div:
            self._divisor(b)
        letter = "f" if kind == types.float64 else ""
        name = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}[op]
        return getattr(builder, letter + name)(a, b), kind

    def _divisor(self, value: Any) -> None:
        """What is to be done where something is divided by a number: nothing."""

    def _compare(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Any:
        (a, of_a), (b, of_b) = self.expression(left), self.expression(right)
        kind = types.float64 if types.float64 in (of_a, of_b) else types.int64
        a, b, symbol = self._cast(a, of_a, kind), self._cast(b, of_b, kind), _COMPARED[type(op)]
        if kind == types.int64:
            return self.builder.icmp_signed(symbol, a, b)
        return (self.builder.fcmp_unordered if symbol == "!=" else self.builder.fcmp_ordered)(symbol, a, b)

    def _call(self, name: str, args: list[ast.expr]) -> tuple[Any, Any]:
        builder = self.builder
        if name == "where":
            a, b = self._as(types.float64, args[1]), self._as(types.float64, args[2])
            return builder.select(self._as(types.boolean, args[0]), a, b), types.float64
        if name == "around":
            at, turn, n = (self._as(types.intp, a) for a in args)
            found = builder.sub(at, turn)
            return builder.select(builder.icmp_signed("<", at, turn), builder.add(found, n), found), types.intp
        return self._apply(self.functions[name], args)

    def _apply(self, function: Any, args: list[ast.expr]) -> tuple[Any, Any]:
        """The result of a function that Numba has."""
        found = [self.expression(a) for a in args]
        given = [
            types.literal(a.value) if isinstance(a, ast.Constant) and type(a.value) is int else kind
            for a, (_, kind) in zip(args, found, strict=True)
        ]
        typing_context = self.context.typing_context
        kind = typing_context.resolve_value_type(function)
        signature = typing_context.resolve_function_type(kind, tuple(given), {})
        if signature is None:
            raise TypingError(f"{function} of {given}")
        made = self.context.get_function(kind, signature)
        values = [
            self._cast(value, own, wanted) if not isinstance(wanted, types.Literal) else value
            for (value, own), wanted in zip(found, signature.args, strict=True)
        ]
        return made(self.builder, values), signature.return_type
