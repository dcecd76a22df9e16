"""The Python around a compiled function: it reads the arguments, looks at what was compiled in, makes up the result."""

from __future__ import annotations

import ast
import copy
from typing import Any

import numpy as np

from s2s.backends.numba.adaptation import Adapted, Fact
from s2s.backends.numba.syntax import define, items_of, leaves_of, name_of, store_to
from s2s.core.values import AbstractValue, Array, Mapping, Scalar, Sequence
from s2s.versions.request import Request

__all__ = ["HOLDER", "Names", "kind_of_gradient", "kinds_of_result", "write_wrapper"]

HOLDER = "<holder>"
"""The name of the function through which a wrapper looks at a fact, until the wrapper has one for it."""


class Names:
    """Names for the wrapper's own variables, which the text does not have."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)
        self.made: dict[str, str] = {}
        self.imports: dict[str, str] = {}

    def __getitem__(self, wanted: str) -> str:
        if wanted not in self.made:
            name = wanted
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.made[wanted] = name
        return self.made[wanted]

    def builtin(self, name: str) -> str:
        """The name of a builtin, imported: the user's module may have another one of that name."""
        mine = self[f"{name}_"]
        self.imports[mine] = f"builtins:{name}"
        return mine

    def numpy(self, name: str) -> str:
        """The name of a type or function of NumPy."""
        mine = self[f"np_{name}"]
        self.imports[mine] = f"numpy:{name}"
        return mine


def write_wrapper(
    name: str, parameters: list[str], adapted: Adapted, facts: list[Fact], names: Names, kinds: Any
) -> ast.FunctionDef:
    """The function in Python around a compiled one, as ``backends.numba.compiler`` shows it; ``kinds`` are the NumPy
    types that the parts of its result must have."""
    handed = list(adapted.parameters.values())
    call: ast.expr = ast.Call(name_of(names["compiled"]), handed, [])
    again = ast.Return(ast.Call(name_of(names["again"]), [
        name_of(names["error"]), *map(name_of, parameters)], []))
    rebuilt = _rebuilt(adapted, names, kinds)
    first: ast.stmt = ast.Return(call) if rebuilt is None else ast.Assign([store_to(names["r"])], call)
    handler = ast.ExceptHandler(name_of(names.builtin("Exception")), names["error"], [again])
    body: list[ast.stmt] = [ast.Try([first], [handler], [], [])]
    if facts:
        body.insert(0, _check_facts(facts, names, parameters))
    if rebuilt is not None:
        body.append(ast.Return(rebuilt))
    return define(name, parameters, body)


def _check_facts(facts: list[Fact], names: Names, parameters: list[str]) -> ast.stmt:
    """Where something that was compiled in is another object now, Python runs."""
    tests: list[ast.expr] = []
    for k, fact in enumerate(facts):
        read = copy.deepcopy(fact.expression)
        for node in ast.walk(read):
            if isinstance(node, ast.Name) and node.id == HOLDER:
                node.id = names[f"holder{k}"]
        tests.append(ast.Compare(read, [ast.Is()], [name_of(names[f"known{k}"])]))
    same = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]
    none = ast.Constant(None)
    plain = ast.Call(name_of(names["again"]), [none, *map(name_of, parameters)], [])
    return ast.If(ast.UnaryOp(ast.Not(), same), [ast.Return(plain)], [])


# --- results --------------------------------------------------------------------------------------------------------


def kinds_of_result(result: Any, request: Request, gradients: tuple[Any, ...]) -> Any:
    """For each part of a result the NumPy type that it must have; a gradient has that of its argument."""
    gradient: Any = gradients[0] if request.single else gradients
    parts = result if isinstance(result, tuple) else ()
    if request.mode == "grad":
        if request.has_aux:
            return (gradient, parts[1] if len(parts) == 2 else None)
        return gradient
    if request.mode == "value_and_grad":
        return (parts[0] if len(parts) == 2 else None, gradient)
    return result


def kind_of_gradient(aval: AbstractValue) -> Any:
    match aval:
        case Scalar(kind) if issubclass(kind, np.inexact):
            return kind.__name__
        case Array(dtype) if dtype.char in "fF":
            return f"array {dtype.name}"
        case Sequence(_, items) | Mapping(_, items):
            return tuple(map(kind_of_gradient, items))
        case _:
            return None


def _rebuilt(adapted: Adapted, names: Names, kinds: Any) -> ast.expr | None:
    """The expression that makes the result out of the compiled function's; None where they are the same."""
    if adapted.result is None:
        made = _converted(name_of(names["r"]), kinds, names)
        return None if isinstance(made, ast.Name) else made
    count = len(leaves_of(adapted.result))
    maker = _Maker(names, count)
    made = maker.make(adapted.result, kinds)
    return made if maker.differs or not isinstance(adapted.result, ast.Tuple) or count < 2 else None


class _Maker:
    """Writes the result with its items in place of the expressions in it."""

    def __init__(self, names: Names, count: int) -> None:
        self.names = names
        self.count = count
        self.next = 0
        self.differs = False

    def make(self, value: ast.expr, kinds: Any, top: bool = True) -> ast.expr:
        """The expression for a part of the result; ``kinds`` are its NumPy types."""
        items = items_of(value)
        if items is None:
            return self._leaf(value, kinds)
        self.differs |= not top
        known = kinds if isinstance(kinds, tuple) and len(kinds) == len(items) else (None,) * len(items)
        made = [self.make(item, kind, False) for item, kind in zip(items, known, strict=True)]
        if isinstance(value, ast.Dict):
            return ast.Dict(value.keys, made)
        return ast.List(made, ast.Load()) if isinstance(value, ast.List) else ast.Tuple(made, ast.Load())

    def _leaf(self, value: ast.expr, kind: Any) -> ast.expr:
        if isinstance(value, ast.Constant) and value.value is None:
            self.differs = True
            return value
        r = name_of(self.names["r"])
        item = ast.Subscript(r, ast.Constant(self.next), ast.Load()) if self.count > 1 else r
        self.next += 1
        made = _converted(item, kind, self.names)
        self.differs |= made is not item
        return made


def _converted(item: ast.expr, kind: Any, names: Names) -> ast.expr:
    """An item with the NumPy type that it must have: compiled code gives Python numbers, and computes with 64 bits."""
    if not isinstance(kind, str):
        return item
    if kind.startswith("array "):
        method = ast.Attribute(item, "astype", ast.Load())
        dtype = name_of(names.numpy(kind[6:]))
        return ast.Call(method, [dtype], [ast.keyword("copy", ast.Constant(False))])
    return ast.Call(name_of(names.numpy(kind)), [item], [])
