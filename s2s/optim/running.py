"""Parameters and a state go in, those after some steps come out, whole: also where a callback or Ctrl-C ends the run.

What there is at any time is one ``Result``, in one variable. It is replaced by the next one when that is complete, so
that an interrupt finds parameters, value and state that belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.core.array_classes import is_array_class
from s2s.errors import NonFiniteError, error
from s2s.optim.progress import shown
from s2s.optim.structures import parts_of
from s2s.versions.signature import streams

if TYPE_CHECKING:
    from s2s.optim.optimizers import Optimizer

__all__ = ["Result", "Run", "check_finite"]


_LINES = 8
"""Parameters that take so many are shown by the shapes of their arrays."""


def _in_short(array: Any) -> str:
    if array.size > 10:
        return f"array of shape {array.shape}"
    with np.printoptions(override_repr=None):
        return repr(array)


@dataclass(frozen=True)
class Result:
    """What ``minimize`` found: the parameters, the value of the loss there, its value before each step and after the
    last one (``history``, an array), the state of the optimizer, from which ``minimize`` and ``apply_gradients`` go on,
    and the gradient at the parameters. ``stopped`` says that the callback has ended the run, ``interrupted`` that
    Ctrl-C has."""

    params: Any
    value: float
    history: Any
    state: dict[str, Any] = field(repr=False)
    gradient: Any = field(default=None, repr=False)
    stopped: bool = False
    interrupted: bool = False

    @property
    def step(self) -> int:
        """The number of steps taken, those of the runs before this one among them."""
        return int(self.state["step"])

    def __repr__(self) -> str:
        steps = len(self.history) - 1
        with np.printoptions(precision=6, threshold=20, edgeitems=3):
            params = repr(self.params)
        if params.count("\n") >= _LINES:
            with np.printoptions(precision=6, override_repr=_in_short):
                params = repr(self.params)
        end = ", stopped" * self.stopped + ", interrupted" * self.interrupted
        return (
            f"<Result: value {self.value:.6g} after {steps} steps, {self.history[0]:.6g} before{end}; params {params}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        head, _, params = repr(self)[1:-1].partition("; params ")
        line = _line_of(self.history)
        return f"<div>{escape(head)}</div>{line}<pre style='overflow-x:auto'>{escape(params)}</pre>"


def _line_of(history: Any) -> str:
    """The values of the loss as a small picture: a line in SVG, logarithmic where all values are positive."""
    values = np.asarray(history, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return ""
    if np.all(values > 0):
        values = np.log(values)
    values = values[np.linspace(0, len(values) - 1, min(len(values), 200)).astype(int)]
    low, high = float(values.min()), float(values.max())
    heights = 58.0 - 56.0 * (values - low) / (high - low or 1.0)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(np.linspace(2.0, 298.0, len(values)), heights, strict=True))
    return (
        '<svg width="300" height="60" role="img" aria-label="the loss, step by step">'
        f'<polyline points="{points}" fill="none" stroke="#b246c8" stroke-width="1.5"/></svg>'
    )


@dataclass(frozen=True)
class Run:
    """The steps of an optimizer down one loss, whose ``derivative`` gives value and gradient."""

    optimizer: Optimizer
    derivative: Callable[..., Any]
    args: tuple[Any, ...]
    frozen: Any
    callback: Callable[[Result], Any] | None
    batches: Callable[[int], tuple[Any, ...]] | None

    def steps(self, params: Any, state: dict[str, Any], steps: int, progress: bool) -> Result:
        """So many steps. Raises KeyboardInterrupt where Ctrl-C comes before the first value of the loss is known."""
        drawn_from, history = _streams_in(self.args), np.empty(steps + 1)
        there: tuple[Result, list[Any]] | None = None
        try:
            with shown(progress, type(self.optimizer).__name__, steps) as show:
                for step in range(steps + 1):
                    before = [stream.bit_generator.state for stream in drawn_from]
                    history[step], gradient = self._evaluate(params, state)
                    value = float(history[step])
                    there = Result(params, value, history[: step + 1], state, gradient), before
                    show(step, value)
                    if step and self._is_stopped(there[0]):
                        there = replace(there[0], stopped=True), before
                        break
                    if step < steps:
                        params, state = self.optimizer.apply_gradients(gradient, params, state, self.frozen)
        except NonFiniteError as problem:
            problem.result = there and there[0]
            raise
        except KeyboardInterrupt:
            if there is None:
                raise
            there = replace(there[0], interrupted=True), there[1]
        assert there is not None
        for stream, state_of_stream in zip(drawn_from, there[1], strict=True):
            stream.bit_generator.state = state_of_stream
        return there[0]

    def _evaluate(self, params: Any, state: dict[str, Any]) -> tuple[Any, Any]:
        step = int(state["step"])
        batch = () if self.batches is None else self.batches(step)
        batch = batch if isinstance(batch, (tuple, list)) else (batch,)
        value, gradient = self.derivative(params, *batch, *self.args)
        if not isinstance(value, np.ndarray) and is_array_class(type(value)):
            value = float(value)  # it is on a device
        check_finite(np.asarray(value), "the loss", step)
        return value, gradient

    def _is_stopped(self, found: Result) -> bool:
        if self.callback is None:
            return False
        try:
            answer = self.callback(found)
            return isinstance(answer, (bool, np.bool_)) and bool(answer)
        except StopIteration:
            return True


class _Stream:
    """A legacy generator, with the attribute that the others have."""

    def __init__(self, stream: Any) -> None:
        self.bit_generator = self
        self.stream = stream

    @property
    def state(self) -> Any:
        return self.stream.get_state(legacy=False)

    @state.setter
    def state(self, state: Any) -> None:
        self.stream.set_state(state)


def _streams_in(value: Any) -> list[Any]:
    """The generators of random numbers in arguments."""
    found: dict[int, Any] = {}
    _collect(value, found, set())
    return list(found.values())


def _collect(value: Any, found: dict[int, Any], seen: set[int]) -> None:
    if isinstance(value, streams()):
        found[id(value)] = value if hasattr(value, "bit_generator") else _Stream(value)
    elif id(value) not in seen:
        seen.add(id(value))
        for part in parts_of(value) or ():
            _collect(part.value, found, seen)


def check_finite(value: Any, what: str, step: int) -> None:
    """Raise NonFiniteError for an array with an entry that is no finite number."""
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(value)):
            return
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        first = f", the first at {tuple(map(int, bad[0]))}" if bad.shape[1] else ""
        raise error("S2S607", what=what, step=step, label=f"{len(bad)} of {value.size} entries{first}")
