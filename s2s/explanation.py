"""A function and kinds or examples of its arguments in, what s2s knows of its derivative out, line by line, as data.

``s2s explain`` prints it; nothing here prints.
"""

from __future__ import annotations

import copy
import inspect
import re
import time
import tracemalloc
import types
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from s2s import pipeline
from s2s import runtime as rt
from s2s.analysis.steps.packages import package_of_file
from s2s.builder.stages import Remark, Stages, text_at
from s2s.core import ir
from s2s.core.inspection import name_of, with_article
from s2s.core.lines import lines_of
from s2s.core.record import replace
from s2s.core.settings import numba_after
from s2s.derivatives import version_of_code
from s2s.directives.decorated import unwrap
from s2s.directives.differentiable import on_backend, option_error
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.rungs import said_of
from s2s.dispatch.tiers import LINES, may_gain
from s2s.dispatch.version import LEAVING, Version, parameter_names
from s2s.listing import KINDS
from s2s.reverse.residuals.decisions import Decision
from s2s.rules import table
from s2s.sources import version as version_for
from s2s.sources import version_of_call
from s2s.specialize.expected import CHECKS
from s2s.versions.argument_guards import EqualGuard, LargeGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.guards import AliasGuard, AttributeGuard, CallGuard, Guard, KindGuard, NamesGuard, ObjectGuard
from s2s.versions.kinds import Kind
from s2s.versions.observed import taken_as_observed
from s2s.versions.request import Compiled, Request
from s2s.versions.signature import key
from s2s.versions.target import Target, target_of

__all__ = ["Cost", "Explanation", "Fact", "Line", "explain", "explain_version", "measure", "note_numba"]


@dataclass(frozen=True)
class Fact:
    """Something that is known of a line. ``kind`` is ``kept`` or ``recomputed`` (a primal value that the reverse sweep
    reads), ``rule``, ``folded`` (what is known when it is compiled), ``guard``, ``policy``, ``branch``, ``run time``,
    ``observed`` (what a run of the function has shown), ``recorded`` (why each call is), ``fusion`` or ``loop`` (what
    is not done at once, and why), ``Numba``. What to write in place of it follows ``instead:``."""

    kind: str
    text: str


@dataclass
class Line:
    """A line of source. ``is_active`` says that a derivative flows through it, ``names`` are its variables that carry
    one, ``share`` is its part of the time of a call where that was measured."""

    file: str
    number: int
    text: str
    is_active: bool = False
    facts: list[Fact] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    share: float | None = None

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
    inlined, of the whole; ``rungs`` say what was tried where the source alone did not do; ``guards`` are what the code
    relies on and checks at each call, ``guarded`` the lines because of which it does, by the guards; ``stages`` what
    each pass has made."""

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
    guarded: dict[str, Line] = field(default_factory=dict)
    rungs: tuple[str, ...] = ()

    @property
    def is_recorded(self) -> bool:
        """Whether each call is recorded: there is no adjoint to explain."""
        return is_recorded(self.compiled)


def explain(
    f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, mode: str = "grad", argnums: Any = 0,
    kinds: dict[str, Kind] | None = None,
) -> Explanation:
    """What is known of a first derivative. Raises what the compiler raises; ArgumentError for what is a derivative
    itself."""
    version = version_for(f, args, kwargs or {}, mode, argnums, kinds)
    target = target_of(f)
    if target is None:  # of a function without source, there is one for each number of arguments
        made = version_of_code(version.raw.__code__)
        assert made is not None
        target = made[1]
    if target.derived is not None:
        raise option_error(f"`{target.name}` is a derivative already", "explain the function that it is of")
    return explain_version(target, version)


def explain_version(
    target: Target, version: Version, backend: str = "", stages: Stages | None = None
) -> Explanation:
    """What is known of a version of a function, or of the one that another backend would compile in its place.
    ``stages`` are those of its compilation where they are known: it is compiled again else."""
    request, compiled = version.request, version.compiled
    arguments = dict(zip(parameter_names(target.function), version.avals, strict=True))
    rungs = _rungs(version)
    if is_recorded(compiled):
        return _of_recorded(target, version, rungs)
    if backend:
        request = replace(request, options=tuple(
            (name, backend if name == "backend" else value) for name, value in request.options))
    if backend or stages is None:
        stages = Stages()
        with taken_as_observed(None if backend else compiled.observed):
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
        [line.removeprefix("# ") for line in lines_of(text) if line.startswith("# ")], _auto(request, compiled),
        text.count("\n"), compiled, stages, collector.guarded, rungs,
    )


def _rungs(version: Version) -> tuple[str, ...]:
    """What was tried for a version; nothing where the source alone has done."""
    if not any(rung.refusal for rung in version.rungs):
        return ()
    return *map(str, version.rungs), *(["recorded: each call"] if is_recorded(version.compiled) else [])


def _of_recorded(target: Target, version: Version, rungs: tuple[str, ...]) -> Explanation:
    """What is known of a version that records each call: the line that is the reason."""
    compiled, lines, stages = version.compiled, _own_lines(target), Stages()
    collector = _Collector(stages, {(line.file, line.number): line for line in lines})
    collector.recorded(compiled.objects["refusal"])
    arguments = {n: key(a) for n, a in zip(target.parameters, version.avals, strict=True)}
    return Explanation(
        target.name, version.request.mode, arguments, lines, [*collector.others.values()], [], [],
        "NumPy, as calls are recorded", compiled.text.count("\n"), compiled, stages, rungs=rungs)


def _own_lines(target: Target) -> list[Line]:
    try:
        texts, first = inspect.getsourcelines(unwrap(target.function))
    except (OSError, TypeError):
        return []
    file = target.function.__code__.co_filename
    texts[0] = texts[0].replace(f"def {target.function.__name__}(", f"def {target.name}(")  # `abs`, not `abs_`
    return [Line(file, first + k, text.rstrip("\n")) for k, text in enumerate(texts)]


class _Collector:
    """Goes through what the compiler had, and notes facts at their lines."""

    def __init__(self, stages: Stages, lines: dict[tuple[str, int], Line]) -> None:
        self.stages = stages
        self.lines = lines
        self.others: dict[tuple[str, int], Line] = {}
        self.guarded: dict[str, Line] = {}

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
        self.remarks()
        self.guards(compiled.guards)

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

    def recorded(self, refusal: Exception) -> None:
        """The line because of which each call is recorded."""
        given = getattr(refusal, "diagnostic", None)
        line = None if given is None else self.at(given.span)
        line = line or next(iter(self.lines.values()), None)
        if line is not None:
            hint = "" if given is None or not given.hint else f"; instead: {given.hint}"
            line.add("recorded", f"each call is, as {said_of(refusal)}{hint}")

    def run_time(self, function: ir.Function) -> None:
        """Calls whose derivative is found when the program runs, and what else is looked at then."""
        for s in ir.walk(function.body):
            call = s.value if isinstance(s, ir.Let) else None
            line = self.at(s.span)
            if line is None or not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
                continue
            name, module = getattr(call.fn.value, "__name__", ""), str(getattr(call.fn.value, "__module__", ""))
            if module == "s2s.runtime._dynamic" and name in LEAVING:
                line.add("run time", _of_dynamic(name, call.args, s.span))
            elif module.startswith("s2s.runtime.") and name in _LOOKED_AT:
                line.add("run time", _LOOKED_AT[name])
            elif call.fn in CHECKS and s.span is not None and len(call.args) > 1:
                line.add("observed", _of_check(call.fn.value, s.span, call.args[1:]))

    def policies(self, text: str) -> None:
        """The remarks at the head of the text, at their lines."""
        for file, number, remark in re.findall(r"^# ([\w.]+\.py):(\d+): (.*)$", text, re.MULTILINE):
            for line in (*self.lines.values(), *self.others.values()):
                if line.number == int(number) and line.file.endswith(file):
                    line.add("policy", remark)


    def is_own(self, file: str) -> bool:
        """Whether a file is of the package of the function: what is decided in others nobody can change."""
        own = next(iter(self.lines), ("", 0))[0]
        return package_of_file(file) in (None, package_of_file(own))

    def remarks(self) -> None:
        """What passes have decided, at their lines."""
        for remark in _without_parts(self.stages.remarks):
            line = self.at(remark.span) if self.is_own(remark.span.file) else None
            if line is not None:
                line.add(remark.kind, remark.text)

    def guards(self, guards: Iterable[Guard]) -> None:
        """What the code relies on, by the lines because of which it does. Values are told there, too, where no test
        says them."""
        for guard in guards:
            line, text = self.at(self.stages.places.get(guard.subject)), _of_guard(guard)
            if line is None or not text:
                continue
            self.guarded.setdefault(text, line)
            is_value = isinstance(guard, ObjectGuard) and type(guard.value) in _VALUES
            name = text.partition("` is ")[0] + "` is "
            is_said = any(fact.kind == "folded" and name in fact.text for fact in line.facts)
            if is_value and not is_said and self.is_own(line.file):
                line.add("guard", text)


_LOOKED_AT = {
    "unbroadcast": "shapes are compared when it runs: what an argument is, is not known before; instead: convert it, "
                   "`np.asarray(v, dtype=float)`, or annotate it",
    "now": "it is read when it runs, as what was called before may change it; instead: read it once, before the call",
    "index_bar": "what the index is, is looked at when it runs; instead: index by ints, slices and arrays of integers",
}
"""What generated code looks at when it runs, by the function of the runtime."""


def _of_dynamic(how: str, args: tuple[Any, ...], span: ir.Span | None) -> str:
    """What is said of a call whose derivative is looked up when it runs; its function, or the object and the name of
    the method, are the first arguments of what generated code calls."""
    callee = args[0].value if isinstance(args[0], ir.Const) else None
    if how.startswith("call_method") and isinstance(args[1], ir.Const):
        called, hint = f"the method `{args[1].value}`", "annotate the object with its class, or call a function"
    elif isinstance(callee, types.FunctionType):
        called, hint = f"`{name_of(callee)}`", "write a recursion as a loop"
    elif callee is not None:
        called, hint = f"`{name_of(callee)}`", "convert what it is given, `np.asarray(v, dtype=float)`"
    else:
        text = None if span is None else text_at(span)
        called = f"`{text}`" if text else "a function that is known only then"
        hint = "pass the function as an argument, or call each that it may be in a branch of its own"
    return f"the derivative of {called} is looked up at each call; instead: {hint}"


def _of_check(fn: Any, span: ir.Span, found: tuple[Any, ...]) -> str:
    """What is said of a value that is taken as a run of the function has shown it."""
    value = found[0].value if isinstance(found[0], ir.Const) else None
    shown = {
        rt.expect_kind: f"is {with_article(name_of(value))}", rt.expect: f"is {name_of(value)}",
        rt.expect_array: "is such an array", rt.expect_items: "is such a tuple",
    }[fn]
    text = text_at(span)
    said = f"`{text}` {shown}" if text else f"a value {shown}"
    return f"{said}, as it was in a run of the function; each call checks it; instead: pass it as an argument"


_VALUES = (bool, int, float, complex, str, bytes, type(None), tuple, frozenset)


def _without_parts(remarks: list[Remark]) -> list[Remark]:
    """Remarks on what was folded, without those on parts of what another one is on; one on what is folded one way here
    and another way there."""
    folded = dict[ir.Span, list[Remark]]()
    for one in remarks:
        if one.kind == "folded":
            folded.setdefault(one.span, []).append(one)
    made = [one for one in remarks if one.kind != "folded"]
    for span, said in folded.items():
        if any(span != other and _is_inside(span, other) for other in folded):
            continue
        heads = list(dict.fromkeys(one.text.partition(", as ")[0] for one in said))
        if len(heads) > 1 and heads[0].startswith("`"):
            test = heads[0].rpartition(" is ")[0]
            text = f"{test} is known each time: true in some iterations or calls, false in others"
            said = [Remark(span, said[0].kind, text)]
        made += said if len(said) <= _MOST_SAID else [Remark(span, said[0].kind, heads[0])]
    return made


_MOST_SAID = 2
"""Of a test that is known in so many calls of its function the reasons are told."""


def _is_inside(span: ir.Span, other: ir.Span) -> bool:
    begin, end = (span.line, span.column), (span.end_line, span.end_column)
    within = (other.line, other.column) <= begin and end <= (other.end_line, other.end_column)
    return span.file == other.file and within


# --- the whole ----------------------------------------------------------------------------------------------


def _of_guard(guard: Guard) -> str:
    """A guard, for people; nothing for those on functions of Python and NumPy, which hardly change, and for those that
    only a class with ``__getattribute__`` or an attribute that hides a method can break."""
    match guard:
        case KindGuard():
            return f"`{_path(guard.path)}` is a {key(guard.aval)}; its value is read at each call"
        case ObjectGuard(root="global" | "free", value=value):
            module = getattr(value, "__module__", None) or getattr(value, "__name__", "")
            if module in ("builtins", "numpy", "math") or str(module).startswith("numpy."):
                return ""
            shown, path = getattr(value, "__name__", None) or repr(value), _path(guard.path)
            return f"`{path}` is " + ("what it was" if path == shown else f"{shown}, as") + " when it was compiled"
        case AttributeGuard(name=name) if guard.root in ("global", "free", "argument"):
            return f"`{_path(guard.path)}` has {'an' if guard.is_there else 'no'} attribute `{name}`"
        case NamesGuard(names=names) if guard.root in ("global", "free", "argument"):
            return f"`{_path(guard.path)}` has the keys {', '.join(names)}, in this order"
        case AliasGuard(first=first, second=second):
            paths = " and ".join(f"`{_path(path)}`" for _, path, _ in (first, second))
            return f"{paths} are {'one object' if guard.same else 'two objects'}"
        case SizeGuard():
            return f"the length {guard.symbol} is not {guard.value}"
        case SumGuard():
            return f"for the lengths it holds that {guard.expression(str)}"
        case LargeGuard():
            size = guard.place or " * ".join(guard.symbols)
            return f"{size} has {'at least' if guard.is_large else 'fewer than'} {guard.least} elements"
        case SeparateGuard():
            return f"{guard.first} and {guard.second} share no memory"
        case EqualGuard(first=one, second=other):
            a_constant = next((dim for dim in (one, other) if dim.is_constant), None)
            if a_constant is not None:
                return f"the length {other if a_constant is one else one} is {a_constant}"
            return f"the lengths {one} and {other} are equal"
        case CallGuard():
            given = ", ".join(map(repr, guard.args))
            return f"`{guard.fn.__name__}({given})` gives what it gave when it was compiled"
        case _:
            return ""


def _path(path: tuple[Any, ...]) -> str:
    """A path as it is written: ``model.layers[0]``."""
    first, *rest = path
    return str(first) + "".join(f"[{part[0]!r}]" if isinstance(part, tuple) else f".{part}" for part in rest)


_AFTER = "NumPy; after"


def _auto(request: Request, compiled: Compiled) -> str:
    """What the backend ``auto`` does with a version."""
    asked = dict(request.options).get("backend", "numpy")
    if asked == "numba":
        return "numba, as asked for"
    if not may_gain(compiled):
        return "NumPy: no loop, and what takes long is in libraries that are machine code"
    after = numba_after() * (1.0 + compiled.text.count("\n") / LINES)
    return f"{_AFTER} {after:.1f} s of calls Numba compiles it in another thread, and the faster one is taken"


def note_numba(
    e: Explanation, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str = "grad", argnums: Any = 0
) -> str:
    """Let Numba compile the derivative for the arguments of a call, and note at the lines of the function what it
    leaves to Python, and why; what comes of it, in a sentence."""
    from s2s.backends.numba.stops import listening
    from s2s.backends.numba.versions import compiled_aside

    with listening() as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, values = version_of_call(
            on_backend(f, "numba"), copy.deepcopy(args), copy.deepcopy(kwargs), mode, argnums)
        if not found:
            return "does not get to see it, as calls are recorded"
        told, target = found[-1], target_of(f)
        if e.auto.startswith(_AFTER) and told.is_refused:
            e.auto = "NumPy, as Numba does not compile it"
        elif e.auto.startswith(_AFTER) and target is not None:
            given = target.function, made.request, made.avals, values
            aside, why = compiled_aside(made.compiled, made.raw, *given)
            e.auto = e.auto if aside is not None else f"NumPy; Numba is not taken where nobody asks for it: {why}"
    elsewhere = _note_stops(e, told.compiled, told.stops)
    said = "does not compile it" if told.is_refused else "compiles it"
    if told.stops and not told.is_refused:
        said += ", but for what its lines say"
    return "; ".join((said, *elsewhere))


def _note_stops(e: Explanation, compiled: Compiled, stops: Iterable[Any]) -> list[str]:
    """Note at the lines of the function what Numba leaves to Python; what is at none of them."""
    lines, elsewhere = {(line.file, line.number): line for line in (*e.lines, *e.helpers)}, dict[str, None]()
    for stop in stops:
        line = next((lines[place] for place in _places(compiled, stop.line) if place in lines), None)
        if line is None:
            elsewhere[stop.text] = None
        else:
            line.add("Numba", stop.text)
    return list(elsewhere)


def _places(compiled: Compiled, line: int) -> list[tuple[str, int]]:
    """The places in the program that a line of a text comes from; those of the lines nearest to it first, as there are
    lines of rules among them, which belong to what is around them."""
    found = [
        (abs(made - line), made < line, file, source) for file, pairs in compiled.places.items()
        for made, source in pairs if line and abs(made - line) <= _NEAR]
    return [(file, source) for *_, file, source in sorted(found)]


_NEAR = 3
"""So many lines of a text may be between one of a rule and one of the program that it is a part of."""


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
