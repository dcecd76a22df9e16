"""Statements by themselves (``straight``) as machine code: ``straight_unit`` gives what compiled code calls.

Subscripts do not change while the statements run: they are looked at before the first of them. Where one is outside its
axis, or a divisor is zero, the function raises when it is through, and what it has computed is not used.
"""

from __future__ import annotations

import ast
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError

from s2s.backends.numba.straight import Straight, refused
from s2s.backends.numba.units import Memory, Writer, made_once, strides_of
from s2s.core.hashes import new_hash

__all__ = ["straight_unit"]

_NUMBERS = (types.float64, types.int64, types.boolean)

LARGE = 96
"""Statements of more than so many operations stay a function of their own in machine code."""


def straight_unit(unit: Straight) -> Any:
    """The function that stands for statements: of their parameters, with their results."""
    return made_once(unit, "straight", _typed)


def _typed(unit: Straight, name: str, typing_context: Any, given: tuple[Any, ...]) -> Any:
    """The signature and what writes a call, for arguments of these types. Raises TypingError."""
    try:
        kinds = {p: _kind(p, types.unliteral(kind)) for p, kind in zip(unit.parameters, given, strict=True)}
        body = ast.parse(unit.text).body
        made = _Typer(typing_context, dict(unit.functions), kinds).results(body, unit.results)
    except (TypingError, KeyError):
        refused.add(unit)
        raise
    results = types.void if not made else made[0] if len(made) == 1 else types.Tuple(made)
    parts = [part for kind in kinds.values() for part in _parts(kind)]

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        handed = []
        for kind, value in zip(kinds.values(), args, strict=True):
            handed += _taken_apart(context, builder, kind, value)
        try:
            function = _function(context, builder.module, unit, body, name, kinds, results, parts)
        except Exception:
            refused.add(unit)
            raise
        status, found = context.call_conv.call_function(builder, function, results, parts, handed)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return found if results != types.void else context.get_dummy_value()

    return results(*kinds.values()), call


def _kind(parameter: str, kind: Any) -> Any:
    """What a parameter is taken as. Raises TypingError."""
    match parameter[0]:
        case "a" if isinstance(kind, types.Array) and kind.aligned and kind.dtype in _NUMBERS:
            return kind
        case "p" if isinstance(kind, types.BaseTuple) and all(
            item in _NUMBERS for item in _items(kind)
        ):
            return kind
        case "s" if isinstance(kind, types.Boolean):
            return types.boolean
        case "s" if isinstance(kind, types.Integer) and str(kind).startswith("int"):
            return types.int64
        case "s" if kind == types.float64:
            return kind
    raise TypingError(f"there are no numbers in {kind}")


def _items(kind: Any) -> list[Any]:
    """The types of what is in a tuple."""
    return list(kind)


def _parts(kind: Any) -> list[Any]:
    """What is handed over for a parameter: of an array its address, its lengths and its strides."""
    if isinstance(kind, types.Array):
        return [types.CPointer(kind.dtype), *[types.intp] * (kind.ndim + strides_of(kind))]
    return [kind]


def _taken_apart(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    if not isinstance(kind, types.Array):
        return [value]
    array = context.make_array(kind)(context, builder, value)
    strides = cgutils.unpack_tuple(builder, array.strides, kind.ndim)
    return [array.data, *cgutils.unpack_tuple(builder, array.shape, kind.ndim), *strides[: strides_of(kind)]]


class _Typer:
    """The types of numbers, statement by statement."""

    def __init__(self, typing_context: Any, functions: dict[str, Any], kinds: dict[str, Any]) -> None:
        self.typing_context = typing_context
        self.functions = functions
        self.kinds = dict(kinds)

    def results(self, body: list[ast.stmt], names: tuple[str, ...]) -> list[Any]:
        """The types of names after the statements."""
        for s in body:
            match s:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.kinds[name] = self.kind(value)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=whole)):
                    kind = self.kinds[whole]
                    of = [kind.dtype] * len(targets) if isinstance(kind, types.Array) else _items(kind)
                    self.kinds |= {t.id: k for t, k in zip(targets, of, strict=True)}  # type: ignore[attr-defined]
                case ast.Assign(targets=[ast.Subscript() as place], value=value):
                    array = self.kinds[place.value.id]  # type: ignore[attr-defined]
                    if self.kind(place) != types.float64 or self.kind(value) == types.boolean or not array.mutable:
                        raise TypingError("stores are of floats")
        return [self.kinds[name] for name in names]

    def kind(self, e: ast.expr) -> Any:
        """The type of an expression."""
        match e:
            case ast.Constant(value=value):
                return {bool: types.boolean, int: types.int64, float: types.float64}[type(value)]
            case ast.Name(id=name):
                return self.kinds[name]
            case ast.Subscript(value=ast.Name(id=name)):
                return self._element(self.kinds[name], e.slice)
            case ast.UnaryOp(op=ast.Not()):
                return types.boolean
            case ast.UnaryOp(operand=operand):
                return self.kind(operand)
            case ast.BinOp(left=left, right=right):
                if types.float64 not in (found := {self.kind(left), self.kind(right)}) or types.boolean in found:
                    raise TypingError("arithmetic is of floats")
                return types.float64
            case ast.Compare():
                return types.boolean
            case ast.Call(func=ast.Name(id=name)):
                return self._call(self.functions[name], e.args)
        raise TypingError(ast.unparse(e))

    def _element(self, whole: Any, key: ast.expr) -> Any:
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        if isinstance(whole, types.Array):
            if len(parts) != whole.ndim or any(self.kind(part) != types.int64 for part in parts):
                raise TypingError("a part of an array is no element")
            return whole.dtype
        return whole[ast.literal_eval(parts[0])]

    def _call(self, function: Any, args: list[ast.expr]) -> Any:
        kinds = tuple(
            types.literal(a.value) if isinstance(a, ast.Constant) and type(a.value) is int else self.kind(a)
            for a in args)
        kind = self.typing_context.resolve_value_type(function)
        signature = self.typing_context.resolve_function_type(kind, kinds, {})
        if signature is None or signature.return_type not in (types.float64, types.boolean):
            raise TypingError(f"{function} of {kinds}")
        return signature.return_type


# --- machine code -----------------------------------------------------------------------------------------------------


def _function(
    context: Any, module: Any, unit: Straight, body: list[ast.stmt], name: str, kinds: dict[str, Any], results: Any,
    parts: list[Any],
) -> Any:
    """The function of a module that does the statements for arguments of these types."""
    name = f"{name}.{new_hash(repr((kinds, unit.results)).encode()).hexdigest()[:16]}"
    if name in module.globals:
        return module.globals[name]
    function = llvm.Function(module, context.call_conv.get_function_type(results, parts), name)
    function.linkage = "internal"
    if sum(isinstance(n, (ast.BinOp, ast.Subscript, ast.Call)) for s in body for n in ast.walk(s)) > LARGE:
        function.attributes.add("noinline")
    context.call_conv.decorate_function(function, [str(k) for k in range(len(parts))], parts)
    builder = llvm.IRBuilder(function.append_basic_block("entry"))
    handed = iter(context.call_conv.decode_arguments(builder, parts, function))
    writer = _Straight(context, builder, dict(unit.functions), {}, {})
    for parameter, kind in kinds.items():
        if isinstance(kind, types.Array):
            data, lengths = next(handed), [next(handed) for _ in range(kind.ndim)]
            writer.arrays[parameter] = Memory(kind, data, [next(handed) for _ in range(strides_of(kind))])
            writer.lengths[parameter] = lengths
        elif isinstance(kind, types.BaseTuple):
            writer.tuples[parameter] = next(handed), kind
        else:
            writer.values[parameter] = next(handed), kind
    writer.look_at(body)
    for s in body:
        writer.statement(s)
    writer.raise_where_wrong(ZeroDivisionError)
    made = [writer.values[p][0] for p in unit.results]
    if len(made) == 1:
        found = context.get_return_value(builder, results, made[0])
    else:
        found = context.make_tuple(builder, results, made) if made else context.get_dummy_value()
        found = context.get_return_value(builder, results, found)
    context.call_conv.return_value(builder, found)
    return function


class _Straight(Writer):
    """Writes statements; ``wrong`` says whether a subscript is outside, or a divisor zero."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lengths: dict[str, list[Any]] = {}
        self.tuples: dict[str, tuple[Any, Any]] = {}
        self.places: dict[tuple[str, int, str], Any] = {}
        self.wrong: Any = None

    def look_at(self, body: list[ast.stmt]) -> None:
        """Look at the subscripts, and raise where one is outside."""
        most: dict[tuple[str, int], int] = {}
        for s in body:
            for n in ast.walk(s):
                if isinstance(n, ast.Subscript) and n.value.id in self.arrays:  # type: ignore[attr-defined]
                    for axis, part in enumerate(_indices(n)):
                        self._look_at(n.value.id, axis, part, most)  # type: ignore[attr-defined]
                if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Tuple):
                    self._look_at_unpacked(n.value.id, len(n.targets[0].elts))  # type: ignore[attr-defined]
        for (array, axis), k in most.items():
            length = self.lengths[array][axis]
            self._or_wrong(self.builder.icmp_signed("<=", length, length.type(k)))
        self.raise_where_wrong(IndexError)
        self.wrong = None

    def _look_at(self, array: str, axis: int, part: ast.expr, most: dict[tuple[str, int], int]) -> None:
        key, builder, length = (array, axis, ast.unparse(part)), self.builder, self.lengths[array][axis]
        if key in self.places:
            return
        if isinstance(part, ast.Constant):
            place: Any = part.value
            most[array, axis] = max(place, most.get((array, axis), 0))
            self.places[key] = length.type(place)
            return
        index = self._as(types.intp, part)
        place = builder.select(builder.icmp_signed("<", index, index.type(0)), builder.add(index, length), index)
        self.places[key] = place
        self._or_wrong(builder.icmp_unsigned(">=", place, length))

    def _look_at_unpacked(self, whole: str, number: int) -> None:
        if whole in self.arrays:
            length = self.lengths[whole][0]
            self._or_wrong(self.builder.icmp_signed("!=", length, length.type(number)))

    def _or_wrong(self, condition: Any) -> None:
        self.wrong = condition if self.wrong is None else self.builder.or_(self.wrong, condition)

    def raise_where_wrong(self, kind: type[Exception]) -> None:
        """End here where something was wrong."""
        if self.wrong is not None:
            with cgutils.if_unlikely(self.builder, self.wrong):
                self.context.call_conv.return_user_exc(self.builder, kind, ())

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Name(id=whole)):
                found = [self._of_unpacked(whole, k) for k in range(len(names))]
                self.values |= {n.id: one for n, one in zip(names, found, strict=True)}  # type: ignore[attr-defined]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.values[name] = self.expression(value)
            case _:
                super().statement(s)

    def _of_unpacked(self, whole: str, k: int) -> tuple[Any, Any]:
        element = ast.Subscript(ast.Name(whole, ast.Load()), ast.Constant(k), ast.Load())
        if whole in self.tuples:
            return self.expression(element)
        self.places[whole, 0, str(k)] = self.lengths[whole][0].type(k)
        return self.expression(element)

    def _indices_of(self, place: ast.Subscript) -> list[Any]:
        name: str = place.value.id  # type: ignore[attr-defined]
        return [self.places[name, axis, ast.unparse(part)] for axis, part in enumerate(_indices(place))]

    def expression(self, node: ast.expr) -> tuple[Any, Any]:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=k)) if name in self.tuples:
                whole, kind = self.tuples[name]
                return self.builder.extract_value(whole, k), kind[k]
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
                return self._power(self._as(types.float64, left), power), types.float64
        return super().expression(node)

    def _power(self, value: Any, power: int) -> Any:
        """A power with a constant exponent: the products that Numba makes of one."""
        found = value.type(1.0)
        while power:
            if power & 1:
                found = self.builder.fmul(found, value)
            value, power = self.builder.fmul(value, value), power >> 1
        return found

    def _divisor(self, value: Any) -> None:
        self._or_wrong(self.builder.fcmp_ordered("==", value, value.type(0.0)))


def _indices(place: ast.Subscript) -> list[ast.expr]:
    return place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
