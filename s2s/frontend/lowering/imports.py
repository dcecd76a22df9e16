"""Import statements: calls of ``importlib.import_module``, and reads of what they give."""

from __future__ import annotations

import importlib
import importlib.util

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Call, Const, Var
from s2s.frontend.lowering.bindings import dotted, import_name, own_name
from s2s.frontend.lowering.context import Context, block_of

__all__ = ["lower_import"]


def lower_import(c: Context, node: cst.Import | cst.ImportFrom) -> None:
    match node:
        case cst.Import(names=names):
            for alias in names:
                _import_module(c, alias, node)
        case cst.ImportFrom(names=[*names]):
            path = _absolute(c, node)
            module = c.bind(_module(path), node)
            for alias in names:
                _import_name(c, module, path, alias)
        case _:
            raise AssertionError("Python has no `import *` inside a function")


def _import_module(c: Context, alias: cst.ImportAlias, node: cst.Import) -> None:
    name = dotted(alias.name)
    target = own_name(c, import_name(c, alias), alias)
    if alias.asname is None and "." in name:  # ``import a.b`` loads a.b and binds a
        c.let(None, _module(name), node)
        name = name.split(".")[0]
    c.let(target, _module(name), node)


def _import_name(c: Context, module: Var, path: str, alias: cst.ImportAlias) -> None:
    """``from path import name``: an attribute of the module, else a module in it, else an ImportError."""
    name = dotted(alias.name)
    target = own_name(c, import_name(c, alias), alias)
    with c.block() as read:
        c.let(target, Call(Const(getattr), (module, Const(name))), alias)
    with c.block() as import_inner:
        c.let(target, _module(f"{path}.{name}"), alias)
    with c.block() as fail:
        text = f"cannot import name {name!r} from {path!r}"
        c.put(ir.Raise(c.call(alias, ImportError, Const(text)), None, c.span(alias)))
    missing = ir.Handler((Const(ModuleNotFoundError),), None, block_of(fail), span=c.span(alias))
    inner = ir.Try(block_of(import_inner), (missing,), span=c.span(alias))
    handler = ir.Handler((Const(AttributeError),), None, ir.Block((inner,)), span=c.span(alias))
    c.put(ir.Try(block_of(read), (handler,), span=c.span(alias)))


def _module(name: str) -> Call:
    return Call(Const(importlib.import_module), (Const(name),))


def _absolute(c: Context, node: cst.ImportFrom) -> str:
    """The full name of the module of a ``from ... import``, relative ones resolved."""
    name = "" if node.module is None else dotted(node.module)
    package = c.source.globals.get("__package__") or c.source.globals.get("__name__", "").rpartition(".")[0]
    return importlib.util.resolve_name("." * len(node.relative) + name, package)
