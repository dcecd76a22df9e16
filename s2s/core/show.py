"""The IR as text, one statement a line: for people, and for the golden files of tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from s2s.core import ir

__all__ = ["show", "show_value", "shown"]


def show_value(value: ir.Value) -> str:
    """One right-hand side as text."""
    match value:
        case ir.Var() | ir.Const():
            return str(value)
        case ir.Load(name, scope):
            return f"{scope} {name}"
        case ir.Call(fn, args, kwargs):
            shown = [f"*{a.atom}" if isinstance(a, ir.Star) else str(a) for a in args]
            shown += [f"**{atom}" if key is None else f"{key}={atom}" for key, atom in kwargs]
            return f"{fn}({', '.join(shown)})"
        case ir.MakeFunction(function, captures):
            return f"function {function.name}[{', '.join(map(str, captures))}]"


def show(function: ir.Function, notes: dict[int, str] | None = None) -> str:
    """The function as text; ``notes`` are put beside statements, by their ``id``."""
    return "\n".join(line for line, _ in shown(function, notes)) + "\n"


def shown(function: ir.Function, notes: dict[int, str] | None = None) -> list[tuple[str, ir.Span | None]]:
    """The lines of ``show``, each with the place in the user's source that it comes from, where it does."""
    printer = _Printer(notes or {})
    captures = f" [{_listed(function.captures)}]" if function.captures else ""
    printer.put(0, f"def {function.name}({_listed(p.var for p in function.params)}){captures}:", function)
    printer.block(function.body, 1)
    return list(zip(printer.lines, printer.spans, strict=True))


class _Printer:
    """The lines written so far."""

    def __init__(self, notes: dict[int, str]) -> None:
        self.notes = notes
        self.lines: list[str] = []
        self.spans: list[ir.Span | None] = []

    def put(self, depth: int, text: str, where: object = None) -> None:
        note = self.notes.get(id(where))
        self.lines.append("    " * depth + text + (f"    <-- {note}" if note else ""))
        self.spans.append(None if isinstance(where, ir.Function) else getattr(where, "span", None))

    def block(self, block: ir.Block, depth: int) -> None:
        for statement in block.statements:
            self.statement(statement, depth)
        if block.yields:
            self.put(depth, f"yield {_listed(block.yields)}")
        elif not block.statements:
            self.put(depth, "pass")

    def other(self, word: str, block: ir.Block, depth: int) -> None:
        """A block after another one, where there is something in it."""
        if block.statements or block.yields:
            self.put(depth, word)
            self.block(block, depth + 1)

    def statement(self, s: ir.Statement, depth: int) -> None:
        match s:
            case ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert():
                self.compound(s, depth)
            case ir.Let(target, value):
                self.put(depth, f"{target} = {show_value(value)}" if target else show_value(value), s)
            case ir.Store(kind, target, key, value, op):
                places = {"item": f"{target}[{key}]", "attr": f"{target}.{key}", "global": f"global {key}"}
                place = places.get(kind, str(target))
                was = "" if s.was is None else f" [was: {s.was}]"
                self.put(depth, f"{place} {op.__name__ if op else ''}= {value}{was}", s)
            case ir.Raise(exception, cause):
                of = f" {exception}" if exception else ""
                self.put(depth, f"raise{of}" + (f" from {cause}" if cause else ""), s)
            case ir.Return(value):
                self.put(depth, f"return {value}", s)
            case ir.Break():
                self.put(depth, "break", s)
            case ir.Continue():
                self.put(depth, "continue", s)
            case ir.Note(text):
                self.put(depth, f"# {text}", s)
            case _:
                assert_never(s)

    def compound(self, s: ir.If | ir.For | ir.While | ir.With | ir.Try | ir.Assert, depth: int) -> None:
        match s:
            case ir.If(test, then, orelse, results):
                self.put(depth, f"{_bound(results)}if {test}:" + (" [replayed]" if s.replayed else ""), s)
                self.block(then, depth + 1)
                self.other("else:", orelse, depth)
            case ir.For() | ir.While():
                self.loop(s, depth)
            case ir.With(manager, target, body, ended):
                name = f" as {target}" if target else ""
                self.put(depth, f"with {manager}{name}:" + (f" [ended: {ended}]" if ended else ""), s)
                self.block(body, depth + 1)
            case ir.Try(body, handlers, orelse, results):
                self.put(depth, f"{_bound(results)}try:", s)
                self.block(body, depth + 1)
                for handler in handlers:
                    self.handler(handler, depth)
                self.other("else:", orelse, depth)
                self.other("finally:", s.final, depth)
            case ir.Assert(test, problem):
                self.put(depth, f"assert {test}:", s)
                self.block(problem, depth + 1)
            case _:
                assert_never(s)

    def loop(self, s: ir.Loop, depth: int) -> None:
        carried = "".join(f" [{c.result} <- {c.param} = {c.init}]" for c in s.carried)
        carried += "" if s.snapshots is None else f" [snapshots: {s.snapshots}]"
        if isinstance(s, ir.For):
            self.put(depth, f"for {s.item} in {s.iterable}:{carried}", s)
        else:
            self.put(depth, f"while:{carried}", s)
            self.block(s.test, depth + 1)
            self.put(depth, "do:")
        self.block(s.body, depth + 1)
        if s.leave is not None:
            self.put(depth + 1, f"leave if {s.leave}" + (f" -> {s.left}" if s.left else ""))
        self.other("else:", s.orelse, depth)

    def handler(self, handler: ir.Handler, depth: int) -> None:
        name = f" as {handler.name}" if handler.name else ""
        unassigned = _listed(v.param for v in handler.unassigned)
        end = f" [possibly unassigned: {unassigned}]" if unassigned else ""
        self.put(depth, f"except {_listed(handler.kinds)}".rstrip() + f"{name}:{end}", handler)
        self.block(handler.body, depth + 1)


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _bound(results: tuple[ir.Var, ...]) -> str:
    """What a statement binds, before it."""
    return f"{_listed(results)} = " if results else ""
