"""What a guard is about goes in, the expression comes out by which a generated dispatch reads it, live."""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Callable, Container, Mapping
from typing import Any

from s2s.core.values import Dim
from s2s.errors import error
from s2s.versions.paths import Variables, builtins_of
from s2s.versions.signature import Names

__all__ = ["Expressions", "length_of", "split_symbol"]


def split_symbol(symbol: str) -> tuple[str, str, str]:
    """``params[0][1].0`` as ``params[0][1]``, ``params``, ``0``."""
    base, _, axis = symbol.rpartition(".")
    found = re.match(r"[^\W\d]\w*", base)
    if found is None or not axis.isdigit():
        raise error("S2S901", problem=f"a guard on the symbol {symbol}")
    return base, found[0], axis


def length_of(symbol: str, arguments: Mapping[str, Any]) -> int:
    """The length of an argument that a symbol stands for."""
    base, name, axis = split_symbol(symbol)
    return int(eval(f"{base}.shape[{axis}]", {name: arguments[name]}))


class Expressions:
    """The expressions of one dispatch: ``names`` are the objects that they are about, ``parameter`` says how it reads
    a parameter, ``scope`` are the globals that it runs in, ``local`` the names that it hides of these."""

    def __init__(
        self, names: Names, parameter: Callable[[str], str], scope: dict[str, Any], local: Container[str]
    ) -> None:
        self.names = names
        self._parameter = parameter
        self._scope = scope
        self._local = local

    def place(self, place: str) -> str:
        """A place in an argument: ``params[0]``."""
        name = re.split(r"[.\[]", place, maxsplit=1)[0]
        return f"{self._parameter(name)}{place[len(name) :]}"

    def shape(self, symbol: str, root: str, owner: types.FunctionType) -> str:
        """The length that a symbol stands for: of an argument, or of a variable that is read live."""
        base, name, axis = split_symbol(symbol)
        expr = self._parameter(name) if root == "argument" else self.variable(root, name, owner)
        return f"{expr}{base[len(name) :]}.shape[{axis}]"

    def length(self, dim: Dim, owner: types.FunctionType) -> str:
        """A dimension of an argument."""
        if dim.is_constant:
            return str(dim.offset)
        offset = f" {'-' if dim.offset < 0 else '+'} {abs(dim.offset)}" if dim.offset else ""
        return f"{self.shape(dim.symbol, 'argument', owner)}{offset}"

    def path(self, root: str, path: tuple[Any, ...], owner: types.FunctionType) -> str:
        """What a path leads to; what is not there gives None, or makes the test fail."""
        if not path:
            return self.names.add(Variables(owner, root))
        if root == "argument":
            expr = self._parameter(path[0])
        elif root == "value":
            expr = self.names.add(path[0].value)
        else:
            expr = self.variable(root, path[0], owner)
        for step in path[1:]:
            if type(step) is tuple:
                index = self.names.add(step[0]) if type(step[0]) is not int else step[0]
                expr = f"{self.names.add(_item_of)}({expr}, {index})"
            else:
                expr = f"{self.names.add(getattr)}({expr}, {step!r}, None)"
        return expr

    def variable(self, root: str, name: str, owner: types.FunctionType) -> str:
        """A module, or a global or closure variable of ``owner``."""
        if root == "module":
            return self.names.add(importlib.import_module(name), "m")
        if root == "free":
            cell = (owner.__closure__ or ())[owner.__code__.co_freevars.index(name)]
            return f"{self.names.add(cell, 'c')}.cell_contents"
        if owner.__globals__ is self._scope and name not in self._local:
            return name
        scope = self.names.add(owner.__globals__, "g")
        builtins = self.names.add(builtins_of(owner), "b")
        return f"({scope}[{name!r}] if {name!r} in {scope} else {builtins}[{name!r}])"


def _item_of(container: Any, index: Any) -> Any:
    """An item, None where there is none."""
    try:
        return container[index]
    except (TypeError, LookupError):
        return None
