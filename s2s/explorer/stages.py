"""A version in, what the compiler had after each of its passes out: as Python, or as IR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from s2s import pipeline
from s2s.builder.builder import Context
from s2s.builder.stages import Pass, Stages
from s2s.codegen.emit import emit
from s2s.codegen.heading import with_heading
from s2s.core import ir
from s2s.core.record import replace
from s2s.core.show import show, shown
from s2s.dispatch.version import Version, parameter_names
from s2s.optimize import passes
from s2s.optimize.rewriting import map_blocks
from s2s.optimize.stores import spell_stores
from s2s.versions.request import Request
from s2s.versions.target import Target

__all__ = ["StageError", "Text", "Texts", "ir_of", "python_of", "stage_text", "stages_about"]

NAIVE = "differentiate"


class StageError(Exception):
    """There is no such stage; the message is for the user."""


@dataclass(frozen=True)
class Text:
    """A text, and the places of its lines, as in ``Compiled``."""

    text: str
    places: Mapping[str, tuple[tuple[int, int], ...]]


def _stages(target: Target, version: Version) -> list[tuple[str, ir.Function]]:
    """The function after each pass that changed it, and the one that is printed."""
    if target.derived is not None:
        raise StageError("--stage is for first derivatives; of a derivative of a derivative see --mode grad")
    function = target.function
    seen = Stages()
    arguments = dict(zip(parameter_names(function), version.avals, strict=True))
    pipeline.compile(function, arguments, version.request, seen)
    return [(stage.name, stage.after) for stage in seen.passed]


def stage_text(target: Target, version: Version, name: str) -> str:
    """The text of a stage: ``naive`` is the adjoint before any pass, ``ir`` the IR of the last one, ``ir:NAME`` that of
    another one."""
    is_ir = name == "ir" or name.startswith("ir:")
    wanted = (name.partition(":")[2] or "final") if is_ir else name
    if wanted == "final" and not is_ir:
        return version.compiled.text
    stages = _stages(target, version)
    wanted = NAIVE if wanted == "naive" else stages[-1][0] if wanted == "final" else wanted
    found = [function for stage, function in stages if stage == wanted]
    if not found:
        names = ", ".join(dict.fromkeys(stage for stage, _ in stages))
        raise StageError(f"--stage {name}: choose among naive, final, ir, {names} (ir:NAME for the IR)")
    return show(found[-1]) if is_ir else python_of(found[-1], target, version.request).text


def python_of(function: ir.Function, target: Target, request: Request, is_primal: bool = False) -> Text:
    """A function in the middle of its compilation, as Python; before it is differentiated, under its own name."""
    fn = target.function
    headed = with_heading(_spelled(function), fn, replace(request, mode="primal") if is_primal else request, {})
    emitted = emit(headed, globals=fn.__globals__, free=fn.__code__.co_freevars)
    return Text(emitted.text, emitted.places)


def _spelled(function: ir.Function) -> ir.Function:
    """A function, and those inside it, whose stores have a spelling: before the pass that does it they have none."""

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(inside(map_blocks(s, block)) for s in b.statements), b.yields)

    def inside(s: ir.Statement) -> ir.Statement:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
            return ir.replace(s, value=ir.replace(s.value, function=_spelled(s.value.function)))
        return s

    function = spell_stores(function, Context())
    return ir.replace(function, body=block(function.body))


class Texts:
    """The texts of stages: those of functions that read the same, as in several modes before they are differentiated,
    are made once."""

    def __init__(self) -> None:
        self._made: dict[Any, Text] = {}

    def of(self, function: ir.Function, target: Target, request: Request, is_primal: bool) -> tuple[Text, Text]:
        """A function as Python and as IR."""
        lines = _lines(function)
        key = id(target.function), request.wrt, "" if is_primal else request.mode, *lines[1:]
        if key not in self._made:
            self._made[key] = python_of(function, target, request, is_primal)
        return self._made[key], _text_of(lines)


def ir_of(function: ir.Function) -> Text:
    """A function in the middle of its compilation, as IR."""
    return _text_of(_lines(function))


def _lines(function: ir.Function) -> list[tuple[str, ir.Span | None]]:
    """The lines of a function, and below them those of the functions that are made in it, such as a pullback."""
    lines = shown(function)
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
            lines += [("", None), *_lines(s.value.function)]
    return lines


def _text_of(lines: list[tuple[str, ir.Span | None]]) -> Text:
    places: dict[str, list[tuple[int, int]]] = {}
    for number, (_, span) in enumerate(lines, 1):
        if span is not None:
            places.setdefault(span.file, []).append((number, span.line))
    return Text("\n".join(line for line, _ in lines) + "\n", {file: tuple(pairs) for file, pairs in places.items()})


def stages_about() -> dict[str, str]:
    """What each pass does, by its name."""
    return {p.name: p.about for module in (pipeline, passes) for value in vars(module).values() for p in _passes(value)}


def _passes(value: object) -> Iterator[Pass]:
    if isinstance(value, Pass):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _passes(part)
