"""Import statements: calls of ``importlib.import_module``, and reads of what they give."""

from __future__ import annotations

import importlib
import importlib.util

import libcst as cst

from s2s.ir import Call, Const
from s2s.lowering.bindings import dotted, import_name, own_name
from s2s.lowering.context import Context
from s2s.lowering.refusals import refuse

__all__ = ["lower_import"]


def lower_import(c: Context, node: cst.Import | cst.ImportFrom) -> None:
    match node:
        case cst.Import(names=names):
            for alias in names:
                _import_module(c, alias, node)
        case cst.ImportFrom(names=[*names]):
            module = c.bind(_module(_absolute(c, node)), node)
            for alias in names:
                read = Call(Const(getattr), (module, Const(dotted(alias.name))))
                c.let(own_name(c, import_name(c, alias), alias), read, alias)
        case _:
            refuse(c, "S2S111", node, "binds names that cannot be known", "import the names that are used")


def _import_module(c: Context, alias: cst.ImportAlias, node: cst.Import) -> None:
    name = dotted(alias.name)
    target = own_name(c, import_name(c, alias), alias)
    if alias.asname is None and "." in name:  # ``import a.b`` loads a.b and binds a
        c.let(None, _module(name), node)
        name = name.split(".")[0]
    c.let(target, _module(name), node)


def _module(name: str) -> Call:
    return Call(Const(importlib.import_module), (Const(name),))


def _absolute(c: Context, node: cst.ImportFrom) -> str:
    """The full name of the module of a ``from ... import``, relative ones resolved."""
    name = "" if node.module is None else dotted(node.module)
    package = c.source.globals.get("__package__") or c.source.globals.get("__name__", "").rpartition(".")[0]
    return importlib.util.resolve_name("." * len(node.relative) + name, package)
