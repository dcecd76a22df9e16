"""One derivative of one call, by a recording of it.

    run        the function with copies of what is differentiated, recorded
    grad       ... and the cotangents swept back from its result
    jvp        ... or the tangents swept forward
"""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import threading
import types
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.inspection import is_written, with_article
from s2s.dispatch.recorded import advised, has_place, tell
from s2s.errors import DifferentiationError, error, no_scalar
from s2s.frontend.typed import NO_TEXT
from s2s.recorded import operations, typed
from s2s.recorded.arguments import Arguments
from s2s.recorded.cancelled import MOST_TANGENTS, fill, filled, in_doubt, strongly_pushed
from s2s.recorded.chosen import holding
from s2s.recorded.costs import note_cost
from s2s.recorded.differences import Replay, agree
from s2s.recorded.given import Shared, arguments_of, note_shared
from s2s.recorded.kinds import plain_array
from s2s.recorded.places import of_program, out_of_sight
from s2s.recorded.recorder import Leaf, Parts, Recorder, is_number, is_own_sequence, number_type, pack, unpack
from s2s.recorded.sweeps import Backward, Forward, is_in_doubt, swept_back, zeros_of
from s2s.recorded.trust import is_always_checked, shape_of, trust_in
from s2s.recorded.turns import TURNS
from s2s.versions.carriers import carries_arrays, named_parts, parts_of, put_together
from s2s.versions.request import Path, Request
from s2s.versions.signature import has_attributes, own_attributes

__all__ = [
    "MODES", "Input", "along", "at_path", "derivative_of_call", "has_parts", "invoked", "moved_inputs", "raised_by",
    "repeated", "weighted_result", "weighted_sum",
]

_lock = threading.RLock()


class _Recording:
    """A call that was recorded: ``out`` is its result, ``inputs`` what was differentiated, by path; ``replay`` runs the
    function again as from before the call, where what it can reach was noted then. ``trust`` is None for a recording
    within another, which is checked by that."""

    def __init__(self, function: types.FunctionType, values: tuple[Any, ...], request: Request) -> None:
        self.function, self.values = function, values
        self.recorder = recorder = Recorder()
        given = arguments_of(function, values)
        fresh: dict[Path, Any] = {}
        leaves: list[Any] = []
        pack(tuple(given.values()), leaves)
        for leaf in leaves:
            if isinstance(leaf, np.ndarray):
                recorder.guard(leaf)
        before = dict(given)
        for path in request.wrt:
            fresh[path] = _fresh(at_path(given, path))
            given[path[0]] = _with(given[path[0]], path[1:], fresh[path])
        changes = dict(request.options).get("changes")
        arguments = Arguments(given) if changes in ("refused", "repeated") else None
        self.trust = trust = None if operations.ACTIVE else trust_in(function, request)
        is_noted = trust is not None and (arguments is not None or is_always_checked() or trust.is_noted_first())
        shared = Shared(function, values, given, {path[0] for path in request.wrt}, is_noted or trust is None)
        self.inputs = {path: Input(recorder, value, at_path(before, path)) for path, value in fresh.items()}
        if len(given) > 1 or not isinstance(values[0], np.ndarray):
            pairs = [(name, zip(_leaves_of(before[name]), _leaves_of(given[name]), strict=True)) for name in given]
            note_shared(recorder, function.__name__, [(name, *pair) for name, found in pairs for pair in found])
        self.replay: Replay | None = None
        if is_noted and trust is not None and not trust.unreached.is_over:
            recorder.calls = []
        elif trust is not None and not is_noted:
            recorder.unreached = trust.unreached.codes
        if is_noted:
            self.replay = Replay(functools.partial(invoked, function), given, function)
            for one in self.inputs.values():
                one.keep()
        problem: Exception | None = None
        with _lock:
            operations.ACTIVE.append(recorder)
        TURNS.is_running = True
        try:
            operations.INSTALLER.see(function)
            if not operations.INSTALLER.knows(function):
                raise error("S2S302", name=function.__qualname__, hint=NO_TEXT.get(function.__code__.co_filename, ""))
            with holding(dict(request.options)):
                self.out = invoked(function, given)
            found: list[Any] = []
            pack(self.out, found)
            for value in found:
                typed.in_memory(value)
            if arguments is not None:
                arguments.check_unchanged(recorder)
                self._check_kept_nothing(function.__name__)
            shared.check_unchanged()
        except Exception as raised:
            problem = raised
        finally:
            with _lock:
                operations.ACTIVE.remove(recorder)
                if not operations.ACTIVE:
                    TURNS.is_running = False
                    operations.INSTALLER.restore()
                    typed.forget()
            recorder.give_back()
        if problem is not None:
            if self._is_own(problem):
                raise problem
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            reason = f"it fails when it is recorded, and not when it runs ({said})"
            raise error("S2S214", name=function.__name__, reason=reason) from problem

    def replayed(self) -> Replay:
        """What runs the function again as from before the call, or else as from here."""
        return _replay(self.function, self.values) if self.replay is None else self.replay

    def _check_kept_nothing(self, name: str) -> None:
        """Raise UnsupportedSyntaxError where something outside of the function holds a derivative: the caller, which is
        not recorded, would take it for a constant."""
        if self.replay is not None and any(map(self.recorder.holds, self.replay.surroundings.changed())):
            raise error("S2S122", name=name)

    def _is_own(self, problem: Exception) -> bool:
        """Whether the function raises an exception when it is not recorded, too; or it is a refusal."""
        if isinstance(problem, DifferentiationError) or self.trust is None:
            return True
        replay = self.replayed()
        if replay.surroundings.is_used_up():
            return True
        try:
            with replay.unnoticed():
                replay.at({})
        except type(problem):
            return True
        except Exception:
            return False
        return False


def raised_by(function: types.FunctionType, values: tuple[Any, ...], problem: Exception) -> Exception | None:
    """What a function raises for these arguments, asked unnoticed: ``problem`` itself where it is such a one, or where
    the function cannot be asked."""
    if operations.ACTIVE or any(hasattr(type(value), "__next__") for value in values):
        return problem
    replay = _replay(function, values)
    try:
        with TURNS.taken(function.__name__.strip("<>")), replay.unnoticed():
            replay.at({})
    except Exception as raised:
        return problem if type(raised) is type(problem) and str(raised) == str(problem) else raised
    return None


def repeated(function: types.FunctionType, values: tuple[Any, ...], call: Callable[..., Any]) -> Any:
    """What ``call`` gives for these arguments of a function that has run with them, unnoticed; None where it draws
    random numbers, as other ones were drawn before, and within a recording."""
    if operations.ACTIVE:
        return None
    replay = _replay(function, values)
    with TURNS.taken(function.__name__.strip("<>")), replay.unnoticed():
        before = replay.surroundings.draws()
        result = call(*values)
        return result if replay.surroundings.draws() == before else None


def _replay(function: types.FunctionType, values: tuple[Any, ...]) -> Replay:
    """What runs a function again as from here."""
    return Replay(functools.partial(invoked, function), arguments_of(function, values), function)


class Input:
    """An argument that is differentiated: its structure, and what its leaves are in the recording."""

    def __init__(self, recorder: Recorder, value: Any, original: Any) -> None:
        """``value`` is what the function is given for the ``original`` of the caller."""
        self.value = value
        self.leaves: list[Any] = []
        self.structure = _packed(value, self.leaves)
        self.originals = _leaves_of(original)
        self.refs = [recorder.new(leaf) if _carries(leaf) else None for leaf in self.leaves]

    def keep(self) -> None:
        """Keep copies of the original leaves: the function may know them by other names, and change them."""
        self.originals = [
            np.array(leaf, subok=True) if isinstance(leaf, np.ndarray) else leaf for leaf in self.originals]

    def made(self, leaves: list[Any]) -> Any:
        """The argument's structure with other leaves."""
        return _unpacked(self.structure, leaves, self.value)


def _carries(leaf: Any) -> bool:
    return is_number(leaf) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


def _is_object(value: Any) -> bool:
    """Whether an argument is differentiated by its attributes."""
    return (has_attributes(value) or type(value) is types.SimpleNamespace) and not carries_arrays(value)


def _leaves_of(value: Any) -> list[Any]:
    found: list[Any] = []
    _packed(value, found)
    return found


def _packed(value: Any, leaves: list[Any]) -> Any:
    if _is_object(value):
        return {name: pack(part, leaves, has_parts) for name, part in own_attributes(value).items()}
    return pack(value, leaves, has_parts)


def _unpacked(structure: Any, leaves: list[Any], value: Any) -> Any:
    if _is_object(value):
        parts = {name: unpack(part, leaves) for name, part in structure.items()}
        return rt.gradient_object(value, **{name: part for name, part in parts.items() if part is not None})
    return unpack(structure, leaves)


def _fresh(value: Any) -> Any:
    """A copy that is no object of anybody else's: what is known of it, is known of it alone."""
    if isinstance(value, np.ndarray):
        return operations.call_method(value, "copy", "K")
    if is_number(value) and is_written(type(value)):
        made = copy.copy(value)  # its operators may be its own
        if made is value or type(made) is not type(value):
            raise error("S2S137", name=type(value).__name__)
        return made
    if is_number(value):
        return operations.binary(operator.mul, value, type(value)(1.0))
    parts = parts_of(value)
    if parts:
        return put_together(value, {name: _fresh(part) for name, part in parts.items()})
    if _is_object(value):
        made = copy.copy(value)
        for name, part in own_attributes(value).items():
            object.__setattr__(made, name, _fresh(part))
        return made
    if is_own_sequence(value):
        raise error("S2S137", name=type(value).__name__)
    leaves: list[Any] = []
    structure = pack(value, leaves)
    if len(leaves) == 1 and leaves[0] is value:
        return value
    return unpack(structure, [_fresh(leaf) for leaf in leaves])


def at_path(values: dict[str, Any], path: Path) -> Any:
    value = values[path[0]]
    for step in path[1:]:
        value = value[step]
    return value


def _with(value: Any, path: Path, part: Any) -> Any:
    """A container with another part at a path."""
    if not path:
        return part
    inner = _with(value[path[0]], path[1:], part)
    if isinstance(value, dict):
        return {**value, path[0]: inner}
    items = list(value)
    items[path[0]] = inner
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def invoked(function: types.FunctionType, given: dict[str, Any]) -> Any:
    """Call a function with the values of its parameters."""
    code = function.__code__
    names = code.co_varnames
    positional = [given[name] for name in names[: code.co_argcount]]
    rest = code.co_argcount + code.co_kwonlyargcount
    named = {name: given[name] for name in names[code.co_argcount : rest]}
    if code.co_flags & inspect.CO_VARARGS:
        positional += given[names[rest]]
        rest += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        named |= given[names[rest]]
    return function(*positional, **named)


# --- the modes --------------------------------------------------------------------------------------------------------


def derivative_of_call(
    function: types.FunctionType, values: tuple[Any, ...], request: Request, refusal: DifferentiationError,
    tangents: tuple[Any, ...] = (),
) -> Any:
    """What a compiled version for a request gives for these arguments.

    Raises the refusal of the recording, caused by ``refusal``, which says why nothing was compiled.
    """
    recording, start = None, perf_counter()
    try:
        with TURNS.taken(function.__name__.strip("<>")):
            try:
                recording = _Recording(function, values, request)
                result = _swept(recording, request, function, tangents)
            except DifferentiationError:
                if not _may_watch_all(function, values, request):
                    raise
                with _replay(function, values).unnoticed():
                    recording = _Recording(function, values, request)
                    result = _swept(recording, request, function, tangents)
    except DifferentiationError as problem:
        if problem.diagnostic.code in _ANSWERS:
            raise
        same = type(problem) is type(refusal) and problem.diagnostic.summary == refusal.diagnostic.summary
        if same and has_place(refusal):
            raise refusal from None  # it says the same, and where
        given = advised(problem, refusal)
        raise of_program(given if recording is None else out_of_sight(recording.recorder, given)) from refusal
    tell(function, request, refusal)
    if recording.trust is not None:
        note_cost(function, request, refusal, perf_counter() - start, recording.trust.seconds)
    return result


def _may_watch_all(function: types.FunctionType, values: tuple[Any, ...], request: Request) -> bool:
    """Whether a call is recorded once more, as some of what it calls was not watched; from where it has ended."""
    if operations.ACTIVE or any(hasattr(type(value), "__next__") for value in values):
        return False
    trust = trust_in(function, request)
    return trust.unreached.end() and bool(trust.is_repeatable)


def _swept(recording: _Recording, request: Request, function: types.FunctionType, tangents: tuple[Any, ...]) -> Any:
    """The answer to a request. Where the sweeps fail at what was recorded, this is a refusal."""
    try:
        answered = functools.partial(MODES[request.mode], recording, request, function, tangents)
        if recording.trust is None:
            return answered()
        outs: list[Any] = []
        pack(_split(recording, request)[0], outs, has_parts)
        inputs = [ref for path in request.wrt for ref in recording.inputs[path].refs]
        for leaf in outs:
            _check_result(recording, leaf, function.__name__.strip("<>"))
        trust, recorder = recording.trust, recording.recorder
        unreached = trust.unreached.settle(recorder)
        if request.mode == "vjp":  # whose sweep comes later, when nothing can be checked any more
            sweep = _weighted_sweep(recording, outs, _weights_of(outs))
            is_doubtful = any(map(_has_nan, map(sweep.value, inputs)))
        else:
            answer = answered()
            is_doubtful = _has_nan(answer)
        shape = hash((shape_of(recorder, inputs, outs), *recorder.left_out))
        is_doubtful = is_doubtful or (bool(recorder.left_out) and shape not in trust.strong)
        if recording.replay is None:
            trust.unreached.count(trust.knows(shape))
        if not trust.is_due(shape) and not is_doubtful and not is_always_checked():
            return answered() if request.mode == "vjp" else answer
        _hold_against_differences(recording, request, function.__name__.strip("<>"), outs)
        if recording.replay is not None:
            trust.unreached.codes = unreached
        # of what runs unwatched other code may be seen late, so that the shape is another one than where all is watched
        is_same = bool(recorder.unreached and trust.is_repeatable)
        trust.passed(shape, is_complete=recording.replay is not None or is_same)
        if recorder.has_strong_zeros and not recorder.cancels:
            trust.strong.add(shape)
        return answered()
    except (DifferentiationError, MemoryError):
        raise
    except Exception as problem:
        raise error("S2S214", name=function.__name__, reason=f"its steps cannot be swept over ({problem})") from problem


def _has_nan(value: Any) -> bool:
    """Whether a derivative, or a part of it, is NaN."""
    leaves: list[Any] = []
    pack(value, leaves, has_parts)
    return any(_carries(leaf) and bool(np.isnan(leaf).any()) for leaf in leaves)


def _weights_of(outs: list[Any]) -> list[Any]:
    """The weights with which the parts of a result are summed that is held against differences; None for no number."""
    draws = np.random.default_rng(3)
    return [_weight(draws, leaf) if _carries(leaf) else None for leaf in outs]


def _hold_against_differences(recording: _Recording, request: Request, name: str, outs: list[Any]) -> None:
    """Refuse a recording that has lost a part of the derivative."""
    replay, trust = recording.replayed(), recording.trust
    assert trust is not None
    if replay.surroundings.is_used_up():
        raise error("S2S214", name=name, reason="it reads on in a generator, and cannot run again to be checked")
    chosen = _weights_of(outs)

    inputs = [recording.inputs[path] for path in request.wrt]
    moving = [(given, k) for given in inputs for k, ref in enumerate(given.refs) if ref is not None]

    weighted = weighted_result(replay.at, replay.given, request, inputs, chosen)
    originals = [plain_array(given.originals[k]) for given, k in moving]
    refs = [given.refs[k] for given, k in moving]
    sizes = [one if w is None else np.abs(one) for one, w in zip(outs, chosen)]
    found = weighted_sum(outs, chosen), weighted_sum(sizes, chosen)
    sweep = _weighted_sweep(recording, outs, chosen)
    if replay is not recording.replay and not _gives_again(replay, weighted, originals, found):
        trust.is_repeatable = False
        raise error("S2S202", name=name, reason=_NOT_NOTED)
    with replay.unnoticed():
        if sweep.has_left_out:
            recording.recorder.has_strong_zeros = False
            weak = _weighted_sweep(recording, outs, chosen)
            doubtful = [_where_not_finite(weak.value(ref)) for ref in refs]
            try:
                agree(name, weighted, originals, [sweep.value(ref) for ref in refs], found, doubtful)
                recording.recorder.has_strong_zeros = True
            except DifferentiationError:
                sweep = weak
        bars = [sweep.value(ref) for ref in refs]
        if 0 < in_doubt(bars) <= MOST_TANGENTS:
            doubtful = [0.0 if bar is None else 1.0 * np.isnan(bar) for bar in bars]
            results = [(recording.recorder.ref(leaf), weight) for leaf, weight in zip(outs, chosen)]
            try:
                whole = filled(recording.recorder, refs, bars, results)
                agree(name, weighted, originals, whole, found, doubtful)
                recording.recorder.cancels, bars = True, whole
            except DifferentiationError:
                pass
        agree(name, weighted, originals, bars, found)
    trust.seconds = replay.seconds
    if trust.is_repeatable is not False and replay is recording.replay:
        from_here = weighted_result(replay.again, replay.given, request, inputs, chosen)
        trust.is_repeatable = replay.surroundings.is_unchanged() or (
            not replay.surroundings.iterators and _gives_again(replay, from_here, originals, found))


def _gives_again(
    replay: Replay, weighted: Callable[[list[Any], float], float], originals: list[Any], found: tuple[float, float]
) -> bool:
    """Whether the function gives the result that was recorded when it runs again."""
    try:
        with replay.unnoticed():
            value = weighted([0.0] * len(originals), 0.0)
    except Exception:
        return False
    return abs(value - found[0]) <= SAME * found[1] or value == found[0] or (value != value and found[0] != found[0])


_NOT_NOTED = (
    "it gives another result when it runs again from where it has ended. It is checked from where it begins in later "
    "calls, and in all with S2S_RECORDED=always-checked")

SAME = 1e-9
"""How far, relative to the sum of absolute values, results are apart at most that are the same."""


def weighted_result(
    run: Callable[[dict[str, Any]], Any], given: dict[str, Any], request: Request, inputs: list[Input],
    weights: list[Any]
) -> Callable[[list[Any], float], float]:
    """The function's result, summed with weights, by directions in which the numbers of its inputs move, and a step."""

    def weighted(directions: list[Any], step: float) -> float:
        result = run(moved_inputs(given, request, inputs, directions, step))
        leaves: list[Any] = []
        pack(result[0] if request.has_aux else result, leaves, has_parts)
        return weighted_sum(leaves, weights)

    return weighted


def moved_inputs(
    arguments: dict[str, Any], request: Request, inputs: list[Input], directions: list[Any], step: float
) -> dict[str, Any]:
    """The arguments whose numbers have moved."""
    places = iter(directions)
    changed: dict[str, Any] = {}
    for path, given in zip(request.wrt, inputs):
        moved = [
            leaf if ref is None else _stepped(leaf, next(places), step)
            for leaf, ref in zip(given.originals, given.refs)
        ]
        whole = _moved(given, moved)
        before = changed.get(path[0], arguments[path[0]])
        changed[path[0]] = _with(before, path[1:], whole)
    return changed


def _weight(draws: Any, leaf: Any) -> Any:
    """Weights of the numbers of a result; what is masked is no part of it."""
    made = draws.uniform(0.5, 1.5, np.shape(leaf))
    return np.where(np.ma.getmaskarray(leaf), 0.0, made) if isinstance(leaf, np.ma.MaskedArray) else made


def _weighted_sweep(recording: _Recording, outs: list[Any], weights: list[Any]) -> Backward:
    """The cotangents of the numbers of a result, summed with weights."""

    def cotangent(leaf: Any, weight: Any) -> Any:
        made = None if weight is None else np.asarray(weight, np.result_type(leaf))
        return made if made is None or isinstance(leaf, np.ndarray) else number_type(leaf)(made[()])

    sweep = Backward(recording.recorder)
    for leaf, weight in zip(outs, weights):
        sweep.add(recording.recorder.ref(leaf), cotangent(leaf, weight))
    sweep.run()
    return sweep


def _where_not_finite(bar: Any) -> Any:
    """1.0 where a cotangent is inf or NaN, 0.0 elsewhere."""
    return 0.0 if bar is None else 1.0 - np.isfinite(bar)


def weighted_sum(leaves: Iterable[Any], weights: list[Any]) -> float:
    """The numbers of a result, summed with weights."""
    return float(sum(np.sum(np.real(leaf * weight)) for leaf, weight in zip(leaves, weights) if weight is not None))


def _check_result(recording: _Recording, leaf: Any, name: str) -> None:
    """Refuse a result in which a derivative is out of sight: an iterator, or an object that holds one."""
    if not _carries(leaf) and (recording.recorder.holds(leaf) or hasattr(type(leaf), "__next__")):
        reason = f"its result is or holds an object of type `{type(leaf).__name__}`, whose contents have no cotangent"
        raise error("S2S214", name=name, reason=reason)


def _stepped(leaf: Any, direction: Any, step: float) -> Any:
    if not isinstance(leaf, np.ndarray):
        plain = number_type(leaf)  # whose sum is that of numbers, whatever a class of its own makes of it
        return type(leaf)(plain.__add__(leaf, plain(step * direction)))
    moved = leaf.copy("K")
    plain_array(moved)[...] = plain_array(leaf) + step * direction
    return moved


def _moved(given: Input, leaves: list[Any]) -> Any:
    """The argument with other numbers, an object as a copy with other attributes."""
    if not _is_object(given.value):
        return unpack(given.structure, leaves)
    made = copy.copy(given.value)
    for name, part in given.structure.items():
        object.__setattr__(made, name, unpack(part, leaves))
    return made


_ANSWERS = ("S2S516", "S2S401", "S2S402", "S2S403", "S2S505", "S2S506", "S2S514", "S2S515")
"""What is wrong with the call, and not with the recording."""


def _split(recording: _Recording, request: Request) -> tuple[Any, tuple[Any, ...]]:
    """The result, and what comes beside it."""
    return (recording.out[0], (recording.out[1],)) if request.has_aux else (recording.out, ())


def _bars(recording: _Recording, request: Request, out: Any, bar: Any) -> tuple[Any, ...]:
    """The cotangents of what is differentiated."""
    sweep = Backward(recording.recorder)
    leaves: list[Any] = []
    structure = pack(out, leaves, has_parts)
    bars: list[Any] = []
    along(structure, bar, bars, len(leaves))
    for leaf, one in zip(leaves, bars):
        sweep.add(recording.recorder.ref(leaf), one)
    sweep.run()
    none = dict(request.options).get("unconnected") == "none"
    if recording.recorder.cancels:
        results = [(recording.recorder.ref(leaf), one) for leaf, one in zip(leaves, bars)]
        fill(sweep, [ref for path in request.wrt for ref in recording.inputs[path].refs], results)
    return tuple(_bar(sweep, recording.inputs[path], none) for path in request.wrt)


def has_parts(value: Any) -> bool:
    """Whether it is an object, in a result, whose attributes hold floats: its cotangent is one with cotangents."""
    try:
        return carries_arrays(value) or (rt.has_parts(value) and bool(rt.floats(value)))
    except RecursionError:
        return False


def along(structure: Any, value: Any, leaves: list[Any], count: int) -> None:
    """The parts of a value that stand where a structure has leaves."""
    found: list[Any] = [None] * count

    def walk(structure: Any, value: Any) -> None:
        if hasattr(structure, "number"):
            found[structure.number] = value
        elif type(structure) is Parts:
            parts = parts_of(value)
            for name, part in structure.items.items():
                walk(part, getattr(value, name, None) if parts is None else parts.get(name))
        elif isinstance(structure, dict):
            for key, part in structure.items():
                walk(part, value[key])
        else:
            for part, one in zip(structure, value):
                walk(part, one)

    walk(structure, value)
    leaves += found


def _bar(sweep: Backward, given: Input, none: bool) -> Any:
    found = []
    reached = False
    for leaf, ref in zip(given.leaves, given.refs):
        bar = None if ref is None else sweep.value(ref)
        reached = reached or bar is not None
        if bar is None and ref is not None:
            bar = zeros_of(leaf)
        elif is_number(leaf) and not operations.ACTIVE:
            bar = rt.cast(bar, leaf)
        found.append(bar)
    return None if none and not reached else given.made(found)


def _grad(recording: _Recording, request: Request, function: Any, tangents: Any) -> Any:
    out, aux = _split(recording, request)
    _check_scalar(out, function)
    bars = _bars(recording, request, out, np.ones_like(out) if isinstance(out, np.ndarray) else number_type(out)(1.0))
    found = bars[0] if request.single else bars
    if request.mode == "grad":
        return (found, *aux) if aux else found
    return ((out, *aux) if aux else out), found


def _check_scalar(out: Any, function: Any) -> None:
    name = function.__name__.strip("<>")
    if isinstance(out, np.ndarray) and out.shape != ():
        hint = "reduce the result to one float (np.sum), or use s2s.vjp with a cotangent of the result's shape"
        raise error("S2S401", name=name, shape=out.shape, hint=hint)
    if not isinstance(out, (float, np.floating, np.ndarray)) or np.result_type(out).kind != "f":
        raise no_scalar(name, "None" if out is None else with_article(type(out).__name__))


def _vjp(recording: _Recording, request: Request, function: Any, tangents: Any) -> Any:
    out, aux = _split(recording, request)

    def pullback(bar: Any) -> tuple[Any, ...]:
        with TURNS.taken(function.__name__.strip("<>")):
            return _bars(recording, request, out, bar)

    return out, pullback, *aux


def _jvp(recording: _Recording, request: Request, function: Any, tangents: Any) -> Any:
    out, aux = _split(recording, request)
    return out, _pushed(recording, request, out, tangents), *aux


def _pushed(recording: _Recording, request: Request, out: Any, tangents: tuple[Any, ...]) -> Any:
    sweep = Forward(recording.recorder)
    moving: list[tuple[Any, Any]] = []
    for path, tangent in zip(request.wrt, tangents):
        given = recording.inputs[path]
        parts: list[Any] = []
        along(given.structure, own_attributes(tangent) if _is_object(tangent) else tangent, parts, len(given.leaves))
        moving += [(ref, dot) for ref, dot in zip(given.refs, parts) if dot is not None]
    for ref, dot in moving:
        sweep.set(ref, dot)
    sweep.run()
    leaves: list[Any] = []
    structure = pack(out, leaves, has_parts)
    dots = []
    for leaf in leaves:
        ref = recording.recorder.ref(leaf)
        dot = None if ref is None else sweep.value(ref)
        dot = zeros_of(leaf) if dot is None else dot
        if _carries(leaf) and is_in_doubt(leaf, dot, moving):
            dot = swept_back(recording.recorder, leaf, moving)
            if recording.recorder.cancels and np.any(np.isnan(dot)):
                dot = strongly_pushed(recording.recorder, leaf, moving)
        dots.append(dot)
    return unpack(structure, dots)


def _elementwise(recording: _Recording, request: Request, function: Any, tangents: Any) -> Any:
    out, aux = _split(recording, request)
    bars = _bars(recording, request, out, np.ones_like(out) if isinstance(out, np.ndarray) else number_type(out)(1.0))
    found = bars[0] if request.single else bars
    return (found, *aux) if aux else found


def _jacobian(recording: _Recording, request: Request, function: Any, tangents: Any) -> Any:
    out, aux = _split(recording, request)
    leaves: list[Any] = []
    structure = _without_labels(pack(out, leaves, has_parts))
    kinds = (int, float, complex, np.generic, np.ndarray)
    if isinstance(structure, Leaf) and not isinstance(leaves[structure.number], kinds):
        kind = "None" if out is None else with_article(type(out).__name__)
        name = function.__name__.strip("<>")
        raise error("S2S403", name=name, kind=kind, expected="numbers or arrays")
    rows = [
        _rows(recording, request, out, leaves, k) if isinstance(leaf, kinds) else None for k, leaf in enumerate(leaves)
    ]
    found = unpack(structure, rows)
    if request.mode.startswith("value_and"):
        return ((out, *aux) if aux else out), found
    return (found, *aux) if aux else found


def _rows(recording: _Recording, request: Request, out: Any, leaves: list[Any], k: int) -> Any:
    """The derivatives of one part of a result by all that is differentiated."""
    leaf = leaves[k]
    if any(map(np.iscomplexobj, [leaf, *(x for path in request.wrt for x in _leaves(recording, path))])):
        mode = "forward" if "fwd" in request.mode else "reverse"
        raise error("S2S516", what="a result or an argument", mode=mode)
    shape = np.shape(leaf)
    made = [
        [np.zeros((*shape, *np.shape(x)), np.result_type(x, leaf)) if _carries(x) else None for x in given.leaves]
        for given in (recording.inputs[path] for path in request.wrt)
    ]
    for index in np.ndindex(shape):
        bar = np.zeros(shape, np.result_type(leaf))
        bar[index] = 1.0
        sweep = Backward(recording.recorder)
        sweep.add(recording.recorder.ref(leaf), bar if isinstance(leaf, np.ndarray) else number_type(leaf)(1.0))
        sweep.run()
        if recording.recorder.cancels:
            refs = [ref for path in request.wrt for ref in recording.inputs[path].refs]
            fill(sweep, refs, [(recording.recorder.ref(leaf), bar)])
        for arrays, path in zip(made, request.wrt):
            for array, ref in zip(arrays, recording.inputs[path].refs):
                one = None if ref is None else sweep.value(ref)
                if one is not None:
                    operations.set_item(one, array, index)
    found = []
    for arrays, path in zip(made, request.wrt):
        parts = [a if a is None or a.shape else operations.get_item(a, ()) for a in arrays]
        given = recording.inputs[path]
        found.append(_unpacked(_without_labels(given.structure), parts, given.value))
    return found[0] if request.single else tuple(found)


def _without_labels(structure: Any) -> Any:
    """A structure with arrays in the place of objects that carry them, as a block of a Jacobian has no labels: one
    array, or a dict of them where an object has several."""
    kind = type(structure)
    if kind is Parts and carries_arrays(structure.like):
        named = {name: _without_labels(part) for name, part in named_parts(structure.like, structure.items).items()}
        return next(iter(named.values())) if len(named) == 1 else named
    if kind is dict:
        return {key: _without_labels(item) for key, item in structure.items()}
    if kind is list or kind is tuple:
        return kind(map(_without_labels, structure))
    return structure


def _leaves(recording: _Recording, path: Path) -> list[Any]:
    return [leaf for leaf in recording.inputs[path].leaves if _carries(leaf)]


MODES: dict[str, Callable[..., Any]] = {
    "grad": _grad, "value_and_grad": _grad, "vjp": _vjp, "jvp": _jvp, "elementwise_grad": _elementwise,
    "jacfwd": _jacobian, "jacrev": _jacobian, "value_and_jacfwd": _jacobian, "value_and_jacrev": _jacobian,
}
