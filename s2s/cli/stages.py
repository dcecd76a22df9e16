"""A version in, what the compiler had after each of its passes out: as Python, or as IR."""

from __future__ import annotations

from s2s import pipeline
from s2s.builder.stages import Stages
from s2s.codegen.emit import emit
from s2s.codegen.heading import with_heading
from s2s.core import ir
from s2s.core.show import show
from s2s.dispatch.version import Version, parameter_names
from s2s.versions.target import Target

__all__ = ["StageError", "stage_text"]

NAIVE = "differentiate"


class StageError(Exception):
    """There is no such stage; the message is for the user."""


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
    if is_ir:
        return show(found[-1])
    function = target.function
    headed = with_heading(found[-1], function, version.request)
    return emit(headed, globals=function.__globals__, free=function.__code__.co_freevars).text
