"""A function and kinds or examples of its arguments in, what s2s knows of its derivative out, line by line, as data.

``s2s explain`` prints it; nothing here prints.
"""

from __future__ import annotations

import copy
import inspect
import re
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from s2s import pipeline
from s2s.builder.stages import Stages
from s2s.core import ir
from s2s.core.record import replace
from s2s.core.settings import numba_after
from s2s.derivatives import Derivative
from s2s.directives.decorated import unwrap
from s2s.dispatch.tiers import LINES, may_gain
from s2s.dispatch.version import Version, parameter_names
from s2s.listing import KINDS
from s2s.reverse.residuals.decisions import Decision
from s2s.rules import table
from s2s.sources import version as version_for
from s2s.versions.guards import Guard
from s2s.versions.kinds import Kind
from s2s.versions.request import Compiled, Request
from s2s.versions.signature import key
from s2s.versions.target import Target, target_of

__all__ = ["Cost", "Explanation", "Fact", "Line", "explain", "explain_version", "measure", "with_numba"]


@dataclass(frozen=True)
class Fact:
    """Something that is known of a line. ``kind`` is ``kept`` or ``recomputed`` (a primal value that the reverse sweep
    reads), ``rule``, ``folded``, ``policy``, ``branch`` or ``run time``."""

    kind: str
    text: str


@dataclass
class Line:
    """A line of source. ``is_active`` says that a derivative flows through it, ``names`` are its variables that carry
    one."""

    file: str
    number: int
    text: str
    is_active: bool = False
    facts: list[Fact] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add(self, kind: str, text: str) -> None:
        """Note a fact once."""
        if Fact(kind, text) not in self.facts:
            self.facts.append(Fact(kind, text))


@dataclass(frozen=True)
class Cost:
    """What a call takes: seconds, and the bytes that it has at most at one time; ``value`` is the function alone."""

    value_seconds: float
    seconds: float
    value_bytes: int
    bytes: int

    @property
    def times(self) -> float:
        """How many times as long the derivative takes as the function."""
        return self.seconds / self.value_seconds


@dataclass
class Explanation:
    """What is known of a derivative: of its arguments, of the lines of the function and of those of functions that were
    inlined, of the whole; ``guards`` are what the code relies on and checks at each call, ``stages`` what each pass has
    made."""

    name: str
    mode: str
    arguments: dict[str, str]
    lines: list[Line]
    helpers: list[Line]
    guards: list[str]
    head: list[str]
    auto: str
    generated_lines: int
    compiled: Compiled
    stages: Stages


def explain(
    f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, mode: str = "grad", argnums: Any = 0,
    kinds: dict[str, Kind] | None = None,
) -> Explanation:
    """What is known of a first derivative. Raises what the compiler raises."""
    version = version_for(f, args, kwargs or {}, mode, argnums, kinds)
    target = target_of(f)
    assert target is not None and target.derived is None
    return explain_version(target, version)


def explain_version(
    target: Target, version: Version, backend: str = "", stages: Stages | None = None
) -> Explanation:
    """What is known of a version of a function, or of the one that another backend would compile in its place.
    ``stages`` are those of its compilation where they are known: it is compiled again else."""
    request, compiled = version.request, version.compiled
    arguments = dict(zip(parameter_names(target.function), version.avals, strict=True))
    if backend:
        request = replace(request, options=tuple(
            (name, backend if name == "backend" else value) for name, value in request.options))
    if backend or stages is None:
        stages = Stages()
        made = pipeline.compile(target.function, arguments, request, stages)
        compiled = made if backend else compiled
    lines = _own_lines(target)
    collector = _Collector(stages, {(line.file, line.number): line for line in lines})
    collector.collect(compiled)
    helpers = sorted(collector.others.values(), key=lambda line: (line.file, line.number))
    text = compiled.text
    return Explanation(
        target.name, request.mode, {n: key(a) for n, a in arguments.items()}, lines, helpers,
        list(dict.fromkeys(filter(None, map(_of_guard, compiled.guards)))),
        [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")], _auto(request, compiled),
        text.count("\n"), compiled, stages,
    )


def _own_lines(target: Target) -> list[Line]:
    try:
        texts, first = inspect.getsourcelines(unwrap(target.function))
    except (OSError, TypeError):
        return []
    file = target.function.__code__.co_filename
    return [Line(file, first + k, text.rstrip("\n")) for k, text in enumerate(texts)]


class _Collector:
    """Goes through what the compiler had, and notes facts at their lines."""

    def __init__(self, stages: Stages, lines: dict[tuple[str, int], Line]) -> None:
        self.stages = stages
        self.lines = lines
        self.others: dict[tuple[str, int], Line] = {}

    def collect(self, compiled: Compiled) -> None:
        """Note all."""
        primal, last = self.stages.primal, self.stages.passed[-1].after
        if primal is None:
            return
        defined = {var: s.span for s in ir.walk(primal.body) for var in ir.defs_of(s)}
        for s in ir.walk(primal.body):
            if isinstance(s, (ir.For, ir.While)):
                for c, after in zip(s.carried, s.body.yields, strict=False):
                    defined[c.param] = defined.get(after, s.span) if isinstance(after, ir.Var) else s.span
        varied = self.stages.varied
        for s in ir.walk(primal.body):
            line = self.at(s.span)
            if line is None:
                continue
            if any(var in varied for var in ir.defs_of(s)) or (isinstance(s, ir.Store) and s.value in varied):
                line.is_active = True
                self.rule(s, line)
                if isinstance(s, ir.If):
                    line.add("branch", "the derivative is that of the side that was taken")
            line.names |= {
                var.name for var in (*ir.defs_of(s), *ir.reads_of(s))
                if isinstance(var, ir.Var) and var in varied and not var.is_temporary}
        if primal.body.yields and primal.body.yields[0] in varied:
            self.result(primal)
        for decision in self.stages.decisions:
            line = self.at(defined.get(decision.value))
            if line is not None:
                self.decision(decision, line)
        self.run_time(last)
        self.policies(compiled.text)

    def at(self, span: ir.Span | None) -> Line | None:
        """The line of a place; one of a function that was inlined is made."""
        if span is None:
            return None
        place = span.file, span.line
        if place in self.lines:
            return self.lines[place]
        if place not in self.others and span.file.endswith(".py") and "/s2s/" not in span.file:
            import linecache

            self.others[place] = Line(*place, linecache.getline(*place).rstrip("\n"))
        return self.others.get(place)

    def result(self, primal: ir.Function) -> None:
        """The line of the ``return`` at the end is active where the result is."""
        own = [line for line in self.lines.values() if line.text.strip().startswith("return")]
        if own:
            own[-1].is_active = True

    def rule(self, s: ir.Statement, line: Line) -> None:
        """By which rule the statement is differentiated."""
        call = s.value if isinstance(s, ir.Let) else None
        if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
            return
        rule = table.find(call.fn.value)
        if rule is not None and rule.kind in KINDS and not rule.name.startswith(("s2s.", "_operator", "operator.")):
            line.add("rule", f"{rule.name.removeprefix('builtins.')}: {KINDS[rule.kind]}")

    def decision(self, decision: Decision, line: Line) -> None:
        """How the reverse sweep gets a value that it reads."""
        name = "a value" if decision.value.is_temporary else f"`{decision.value.name}`"
        why = str(decision).partition(": ")[2]
        match decision.how:
            case "keep":
                line.add("kept", f"{name} is kept for each iteration: {why}")
            case "checkpoint":
                line.add("kept", f"{name} is kept at checkpoints: {why}")
            case "recompute" | "hoist" | "replay" | "undo" if not decision.value.is_temporary:
                what = {"undo": "is taken back to what it was"}.get(decision.how, "is computed again")
                line.add("recomputed", f"{name} {what}: {why}")

    def run_time(self, function: ir.Function) -> None:
        """Calls whose derivative is found when the program runs."""
        for s in ir.walk(function.body):
            call = s.value if isinstance(s, ir.Let) else None
            if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
                continue
            fn = call.fn.value
            line = self.at(s.span)
            if line is not None and getattr(fn, "__module__", "") == "s2s.runtime._dynamic":
                line.add("run time", "the derivative of a call is found when it runs: which function it is, or what it "
                                     "takes, is not known before")
            elif line is not None and getattr(fn, "__name__", "") == "unbroadcast":
                line.add("run time", "shapes are compared when it runs: what an argument is, is not known before")

    def policies(self, text: str) -> None:
        """The remarks at the head of the text, at their lines."""
        for file, number, remark in re.findall(r"^# ([\w.]+\.py):(\d+): (.*)$", text, re.MULTILINE):
            for line in (*self.lines.values(), *self.others.values()):
                if line.number == int(number) and line.file.endswith(file):
                    line.add("policy", remark)


# --- the whole ----------------------------------------------------------------------------------------------


def _of_guard(guard: Guard) -> str:
    """A guard, for people; nothing for those on functions of Python and NumPy, which hardly change."""
    path = ".".join(map(str, getattr(guard, "path", ()) or (getattr(guard, "name", ""),)))
    value = getattr(guard, "value", None)
    match type(guard).__name__:
        case "KindGuard":
            return f"`{path}` is a {key(guard.aval)}; its value is read at each call"  # type: ignore[attr-defined]
        case "ObjectGuard" if guard.root in ("global", "free"):  # type: ignore[attr-defined]
            module = getattr(value, "__module__", None) or getattr(value, "__name__", "")
            if module in ("builtins", "numpy", "math") or str(module).startswith("numpy."):
                return ""
            shown = getattr(value, "__name__", None)
            return f"`{path}` is {shown or repr(value)}, as when it was compiled"
        case "ObjectGuard":
            return ""
        case "SizeGuard":
            return f"the length {guard.symbol} is not {guard.value}"  # type: ignore[attr-defined]
        case "LargeGuard":
            size = guard.place or " * ".join(guard.symbols)  # type: ignore[attr-defined]
            return f"{size} has {'at least' if guard.is_large else 'fewer than'} {guard.least} elements"  # type: ignore[attr-defined]
        case "SeparateGuard":
            return f"{guard.first} and {guard.second} share no memory"  # type: ignore[attr-defined]
        case "EqualGuard":
            return f"the lengths {guard.first} and {guard.second} are equal"  # type: ignore[attr-defined]
        case _:
            return str(guard)


def _auto(request: Request, compiled: Compiled) -> str:
    """What the backend ``auto`` does with a version."""
    asked = dict(request.options).get("backend", "numpy")
    if asked == "numba":
        return "numba, as asked for"
    if not may_gain(compiled):
        return "NumPy: no loop, and what takes long is in libraries that are machine code"
    after = numba_after() * (1.0 + compiled.text.count("\n") / LINES)
    return f"NumPy; after {after:.1f} s of calls Numba compiles it in another thread, and the faster one is taken"


def with_numba(made: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Whether Numba compiles a derivative on its backend: nothing where it does, else why not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    told = [str(w.message) for w in caught if "numba" in type(w.message).__name__.lower()]
    return told[0] if told else "" if made.backend == "numba" else made.backend


def measure(f: Callable[..., Any], made: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Cost:
    """What a function and its derivative take, in one call each of several."""
    value_seconds, value_bytes = _measured(f, args, kwargs)
    seconds, most = _measured(made, args, kwargs)
    return Cost(value_seconds, seconds, value_bytes, most)


def _measured(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[float, int]:
    args, kwargs = copy.deepcopy((args, kwargs))
    f(*args, **kwargs)
    best, spent = float("inf"), 0.0
    while spent < 0.2:
        start = time.perf_counter()
        f(*args, **kwargs)
        taken = time.perf_counter() - start
        best, spent = min(best, taken), spent + taken
    tracemalloc.start()
    try:
        f(*args, **kwargs)
        return best, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
