"""A loss and the names of its data in, its derivative over all parts of the data out."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.array_classes import is_array_class
from s2s.core.inspection import with_article
from s2s.core.public import PublicValueAndGradient
from s2s.core.tracebacks import at_the_call
from s2s.derivatives import Derivative, derivative, name_of_function
from s2s.directives.differentiable import option_error
from s2s.directives.policy import AMBIENT
from s2s.dispatch.by_shape import ByShape
from s2s.distributed.along import along_a_vector, has_objects, vector_like
from s2s.distributed.engines import OnCluster, OnlyHere, engine_for
from s2s.distributed.partials import (
    Partial,
    Place,
    Shape,
    Task,
    divided,
    each,
    head,
    in_place,
    item_at,
    partial,
    rows_from_start,
    with_items,
)
from s2s.distributed.parts import is_lazy, parts_of
from s2s.errors import ArgumentError, error
from s2s.shipping.gate import run_beside
from s2s.shipping.shipped import Shipped, ship
from s2s.versions.target import parameters_of, target_of

__all__ = ["Distributed", "Report", "grad", "hvp", "jacobian", "map", "shipped", "value_and_grad"]

Argnums = int | str | tuple[int | str, ...]

SAMPLE = 8
"""The rows with which it is tried whether the loss is a sum over rows."""

LONG = 500
"""So many of the first rows are tried, too: a loss may look at the first hundred only, or at how many there are."""

BETWEEN = 6
"""The parts besides the first and the last one of which rows are looked at."""

MOST_SHAPES = 32
"""After so many rounds each part must have had a version."""


@dataclass(frozen=True)
class Report:
    """What a call tells: its number, the seconds that it took, how many parts and rows there were, and the value of the
    loss where that is computed."""

    call: int
    seconds: float
    parts: int
    rows: int
    value: float | None = None

    def __str__(self) -> str:
        value = "" if self.value is None else f"value {self.value:.6g}, "
        return f"call {self.call}: {value}{self.rows} rows in {self.parts} parts, {self.seconds:.2f} s"


class Distributed:
    """A derivative over data in parts, as ``value_and_grad`` and its like return it; called as the loss is."""

    def __init__(
        self, mode: str, loss: Any, over: Any, reduction: str, argnums: Any, client: Any, timeout: Any, progress: Any,
        check: bool,
    ) -> None:
        if reduction not in ("sum", "mean"):
            raise option_error(f"`reduction` is {reduction!r}", 'give "sum" or "mean"')
        if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
            raise option_error(f"`timeout` is {timeout!r}", "give a number of seconds, or None")
        self.mode, self.loss, self.reduction, self.argnums = mode, loss, reduction, argnums
        self.client, self.timeout, self.progress = client, timeout, progress
        self._made = {one: _derivative(one, loss, argnums) for one in _MODES[mode]}
        self.places = self._places_of(over)
        self.over = tuple(self.places)
        self.__name__ = f"{name_of_function(loss)}_{mode}"
        self._must_check = check
        self._examples: list[tuple[Any, ...]] = []
        self._checked: set[Any] = set()
        self._calls = 0

    def __repr__(self) -> str:
        return f"<s2s.distributed {self.__name__} over {', '.join(self.over)}>"

    def _places_of(self, over: Any) -> dict[str, Place]:
        """Where the data is among the values of the parameters, by name. Raises ArgumentError for other names, and for
        what is differentiated."""
        asked = [name.strip() for name in over.split(",")] if isinstance(over, str) else [
            *(over if isinstance(over, (tuple, list)) else (over,))]
        if not asked or not all(isinstance(one, (str, int)) and one != "" for one in asked):
            raise option_error("`over` names no argument", 'name those that are in parts: over="X, y"')
        wanted = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        moved = [self._place(one) for one in wanted]
        found = {str(one): self._place(one) for one in asked}
        for name, place in found.items():
            if place in moved:
                raise option_error(
                    f"`{name}` is differentiated, and is in `over`", "differentiate what all parts share")
        return found

    def _place(self, one: Any) -> Place:
        """Where an argument is, by its position or name."""
        known, positional = self._target.parameters, self._target.positional
        inner = _names_beneath(self.loss)
        if one in inner and one not in known:  # what `s2s.map` gives takes any arguments
            one = inner.index(one)
        variable = self._target.variable(inspect.Parameter.VAR_POSITIONAL)
        if isinstance(one, int) and 0 <= one < len(positional):
            one = positional[one]
        elif isinstance(one, int) and one >= len(positional) and variable is not None:
            return known.index(variable), one - len(positional)
        if one not in known:
            shown = ", ".join(f"{name} ({k})" for k, name in enumerate(inner or known))
            raise error("S2S502", name=self._target.name, argument=one, hint=f"choose among {shown}")
        return (known.index(one),)

    @property
    def _target(self) -> Any:
        target = getattr(self._made[_MODES[self.mode][0]].dispatcher, "target", None)
        if target is None:
            raise error("S2S301", name=name_of_function(self.loss), hint="write a Python function around it")
        return target

    @at_the_call
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        tangents: tuple[Any, ...] = ()
        if self.mode == "hvp":
            if len(args) < 2:
                raise error("S2S513", primals=1, tangents=0)
            tangents, args = (vector_like(args[0], args[1]),), (args[0], *args[2:])
        values = self._dispatcher(self._target_mode()).collect(*args, **kwargs)
        parts = parts_of({name: item_at(values, place) for name, place in self.places.items()})
        engine = engine_for(self.client, self.timeout)
        if not self._examples:
            self._begin(engine, values, parts)
        found = self._sum(engine, values, parts, tangents)
        result = divided(found.value, found.rows) if self.reduction == "mean" else found.value
        is_pair = self.mode == "hvp" and not has_objects(tangents)
        result = self._in_classes_given(result[1] if is_pair else result, values)
        self._tell(time.perf_counter() - start, len(parts), found.rows, result)
        return result

    def _in_classes_given(self, result: Any, values: tuple[Any, ...]) -> Any:
        """A result with the classes of tuples that the arguments have: workers have made them again from their
        source."""
        if self.mode == "jacobian":
            return result
        several = isinstance(self.argnums, tuple)
        given = [item_at(values, self._place(one)) for one in (self.argnums if several else (self.argnums,))]
        like = tuple(given) if several else given[0]
        if self.mode == "value_and_grad":
            return result[0], _in_classes_of(like, result[1])
        return _in_classes_of(like, result)

    # --- the first call

    def _begin(self, engine: Any, values: tuple[Any, ...], parts: Any) -> None:
        """Look at the first rows of the data: what kind of arrays they are, and whether the loss is a sum over them."""
        many = LONG if self._must_check else 0
        found = engine.first(functools.partial(_sample, 2, many), parts[:SAMPLE])  # two can be compared
        found = found or engine.first(functools.partial(_sample, 1, 0), parts)
        if found is None:
            raise error("S2S702", names=", ".join(f"`{name}`" for name in self.over))
        sample, shape, longer = found
        if self._must_check:
            last = engine.first(functools.partial(_sample, 1, 0), parts[:-SAMPLE:-1]) if len(parts) > 1 else None
            self._check_sum(values, sample, () if last is None else last[0])
            for part in _between(parts):
                other = engine.first(functools.partial(_sample, 1, 0), [part])
                if other is not None:
                    self._check_sum(values, sample, other[0])
            if longer:
                self._check_sum(values, longer, ())
        self._first = sample
        self._checked.add(_kinds(shape))
        self._note(shape)

    def _check_sum(self, values: tuple[Any, ...], sample: tuple[Any, ...], last: tuple[Any, ...]) -> None:
        """Raise where the loss of some rows is not what the losses of two parts of them say: of the first rows of the
        first part and of the last one, so that it shows what differs from part to part. It is tried for other
        parameters too: a penalty may be zero for these."""
        values = self._with_blocks(values, [None for _ in sample])
        cut = len(sample[0]) if last else min(len(sample[0]) // 2, SAMPLE)
        if last and all(isinstance(a, np.ndarray) and a.shape[1:] == b.shape[1:] for a, b in zip(sample, last)):
            sample = tuple([np.concatenate(pair) for pair in zip(sample, last)])
        elif last:
            cut //= 2
        if 0 < cut < len(sample[0]):
            try:
                with np.errstate(all="ignore"):
                    self._compare_sums(values, sample, cut)
                    self._compare_sums(self._elsewhere(values), sample, cut)
            except ArgumentError:
                raise
            except Exception:  # whatever the loss says of few rows, or of other parameters; of a part it says it there
                return

    def _elsewhere(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with other numbers in what is differentiated, of the same size."""
        wanted = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        places = [self._place(one) for one in wanted]
        rng = np.random.default_rng(0)

        def moved(x: Any) -> Any:
            if is_array_class(type(x)) and not isinstance(x, np.ndarray):
                return x
            size = np.max(np.abs(x), initial=0.0) or 1.0
            return (x + 0.1 * size * rng.uniform(0.5, 1.0, np.shape(x))).astype(np.asarray(x).dtype)

        items = [rt.map_floats(moved, item_at(values, place), lambda leaf: leaf) for place in places]
        return with_items(values, tuple(places), items)

    def _compare_sums(self, values: tuple[Any, ...], sample: tuple[Any, ...], cut: int) -> None:
        rows = len(sample[0])
        cuts = (slice(None), slice(0, cut), slice(cut, None))
        whole, first, second = (self._value(values, [a[one] for a in sample]) for one in cuts)
        shapes = [[np.shape(leaf) for leaf in found] for found in (whole, first, second)]
        what = "sum" if self.reduction == "sum" else "mean"
        told: dict[str, Any] = {"name": name_of_function(self.loss), "what": what, "rows": rows}
        if not shapes[0] == shapes[1] == shapes[2]:
            shown = [", ".join(f"an array of shape {shape}" for shape in found) for found in shapes[:2]]
            raise error("S2S709", **told, whole=shown[0], parts=shown[1])
        single = any(np.asarray(leaf).itemsize < 8 for leaf in rt.floats((values, sample)))
        share = (cut / rows, 1.0 - cut / rows) if self.reduction == "mean" else (1.0, 1.0)
        for all_rows, one, other in zip(whole, first, second):
            together = one * share[0] + other * share[1]
            size = float(np.max(np.abs([all_rows, one * share[0], other * share[1]]), initial=0.0))
            error_of = np.max(np.abs(all_rows - together), initial=0.0)
            if np.isfinite(size) and error_of > (1e-3 if single else 1e-6) * size:
                shown = [f"{x:.6g}" if np.ndim(x) == 0 else f"{x}" for x in (all_rows, together)]
                raise error("S2S709", **told, whole=shown[0], parts=shown[1])

    def _with_blocks(self, values: tuple[Any, ...], blocks: Any) -> tuple[Any, ...]:
        return with_items(values, tuple(self.places.values()), blocks)

    def _value(self, values: tuple[Any, ...], blocks: list[Any]) -> list[Any]:
        """The numbers of the loss of some rows; of one that is to be one number, no other."""
        values = _copied(self._with_blocks(values, blocks))
        found = rt.floats(_called(self._target.function, values))
        if self.mode != "jacobian":  # what is no number is refused where it is compiled
            found = [one for one in found if np.ndim(one) == 0]
        return [np.real(one) if isinstance(one, (float, np.generic, np.ndarray)) else float(one) for one in found]

    def _note(self, shape: Shape) -> None:
        """Note what blocks look like: arrays with the first rows of the data, for which versions are made."""
        made = []
        for (lengths, kind), sample in zip(shape, self._first, strict=True):
            if isinstance(kind, type):
                made.append(sample)  # an array of another module
                continue
            block, few = np.zeros(lengths, kind), sample[: lengths[0]]
            if few.shape[1:] == block.shape[1:]:
                block[: len(few)] = few
            made.append(block)
        self._examples.append(tuple(made))

    # --- each call

    def _sum(
        self, engine: OnCluster | OnlyHere, values: tuple[Any, ...], parts: Any, tangents: tuple[Any, ...]
    ) -> Partial:
        for _ in range(MOST_SHAPES):
            task = self._task(values, tangents)
            found: Partial = engine.sum(task, partial, parts)
            if not found.lacking:
                break
            if any(_kinds(shape) not in self._checked for shape in found.lacking):
                self._begin(engine, values, parts)  # data of another kind than that which was looked at
            for shape in sorted(found.lacking, key=repr):
                self._checked.add(_kinds(shape))
                self._note(shape)
        if found.lacking:
            raise error("S2S901", problem=f"no version of {self.__name__} fits {next(iter(found.lacking))}")
        if not found.rows:
            raise error("S2S702", names=", ".join(f"`{name}`" for name in self.over))
        return found

    def _task(self, values: tuple[Any, ...], tangents: tuple[Any, ...]) -> Task:
        """What all parts share in this call. The versions are asked for anew each time: what they read of the program
        may have changed."""
        kernels: list[Shipped] = []
        for blocks in self._examples[-MOST_SHAPES:]:
            whole = self._with_blocks(values, blocks)
            if any(kernel.fits((*whole, *tangents)) for kernel in kernels):
                continue
            if has_objects(tangents):
                dispatcher, whole = self._of_objects(), (*whole, *tangents)
            else:
                dispatcher = self._dispatcher(self._mode_for(whole))
            version = dispatcher.version_for(whole)
            kernels.append(ship(dispatcher, version, whole))
        own = self._with_blocks(values, [None for _ in self.places])
        places = tuple(self.places.values())
        return Task(tuple(kernels), in_place((*own, *tangents)), self.over, places, self.reduction == "mean")

    def _dispatcher(self, mode: str) -> Any:
        made = self._made[mode].dispatcher
        if isinstance(made, ByShape):
            raise error("S2S301", name=name_of_function(self.loss), hint="write a Python function around it")
        return made.under(AMBIENT.get())

    def _of_objects(self) -> Any:
        """What computes Hessian-vector products where parameters are objects: the gradient along the vector."""
        if "along" not in self._made:
            self._made["along"] = derivative(
                "grad", along_a_vector(self._target.function, self._target.name), self.argnums, False, "zeros")
        return self._dispatcher("along")

    def _target_mode(self) -> str:
        return _MODES[self.mode][0]

    def _mode_for(self, values: tuple[Any, ...]) -> str:
        """The mode of a Jacobian that needs fewer directions."""
        if self.mode != "jacobian":
            return _MODES[self.mode][0]
        held = _copied(values)
        out = _called(self._target.function, held)
        moved = self._dispatcher("jacfwd").differentiated(values)
        few = sum([np.size(x) for x in rt.floats(moved)]) <= sum([np.size(x) for x in rt.floats(out)])
        return "jacfwd" if few else "jacrev"

    def _tell(self, seconds: float, parts: int, rows: int, result: Any) -> None:
        self._calls += 1
        if not self.progress:
            return
        value = float(result[0]) if self.mode == "value_and_grad" else None
        report = Report(self._calls, seconds, parts, rows, value)
        if callable(self.progress):
            self.progress(report)
        else:
            print(report, file=sys.stderr, flush=True)


class ValueAndGradient(Distributed, PublicValueAndGradient):
    """What ``value_and_grad`` returns: a loss that ``minimize`` of an optimizer takes."""


class Mapped(Distributed):
    """A function over data in parts, as ``map`` returns it; called as the function is."""

    @at_the_call
    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        values = self._dispatcher("primal").collect(*args, **kwargs)
        parts = parts_of({name: item_at(values, place) for name, place in self.places.items()})
        engine = engine_for(self.client, self.timeout)
        if not self._examples:
            self._begin(engine, values, parts)
        found = self._each(engine, values, parts)
        if out is None:
            return (result for _, result in found)
        start = 0
        for rows, result in found:
            if np.shape(result)[:1] != (rows,):
                raise option_error(f"a part of {rows} rows gives a result of shape {np.shape(result)}",
                                   "leave `out` out, and go over the results")
            if start + rows > len(out) or np.shape(result)[1:] != np.shape(out)[1:]:
                raise option_error(f"`out` has the shape {np.shape(out)}, and rows {start} to {start + rows} are to be "
                                   f"a result of shape {np.shape(result)}", "give one as large as all results")
            out[start : start + rows] = result
            start += rows
        if start < len(out):
            raise option_error(f"`out` has {len(out)} rows, and there were {start}", "give one as large as all results")
        return out

    def _each(
        self, engine: OnCluster | OnlyHere, values: tuple[Any, ...], parts: Any
    ) -> Iterator[tuple[int, Any]]:
        """The rows and the result of each part; one for whose kind there was no version is asked again."""
        tasks = [self._task(values, ())]
        latest = functools.partial(tasks.__getitem__, -1)
        for place, found in enumerate(engine.each(latest, each, parts)):
            if found.lacking:
                self._note(next(iter(found.lacking)))
                tasks[:] = [self._task(values, ())]
                found = next(iter(engine.each(latest, each, parts[place : place + 1])))
            if found.rows:
                yield found.rows, found.value


_MODES = {
    "value_and_grad": ("value_and_grad",), "grad": ("grad",), "hvp": ("hvp",), "jacobian": ("jacfwd", "jacrev"),
    "map": ("primal",),
}


def _derivative(mode: str, loss: Any, argnums: Any) -> Derivative:
    if mode == "primal" and isinstance(loss, Derivative):
        return loss
    if mode == "hvp":
        return derivative("jvp", derivative("grad", loss, argnums, False, "zeros"), (argnums,), False, "zeros")
    return derivative(mode, loss, () if mode == "primal" else argnums, False, "zeros")


def _sample(least: int, many: int, *blocks: Any) -> Any:
    """Some rows of a part, its shape, and so many of its first rows, where it has more than the former; nothing for a
    part with fewer rows."""
    found, shape = head(SAMPLE, *blocks)
    if len(found[0]) < least:
        return None
    has_more = many and len(found[0]) == SAMPLE
    return found, shape, rows_from_start(many, *blocks) if has_more else ()


def _between(parts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Some of the parts between the first and the last one that are there: what is a task of Dask is not computed."""
    there = [part for part in parts[1:-1] if not any(is_lazy(block) and hasattr(block, "compute") for block in part)]
    return there[:: max(1, len(there) // BETWEEN)][:BETWEEN]


def _kinds(shape: Shape) -> Any:
    """The ranks and dtypes of the blocks of a part."""
    return tuple([(len(lengths), str(kind)) for lengths, kind in shape])


def _names_beneath(loss: Any) -> tuple[str, ...]:
    """The parameters of the function that `s2s.map` was given, where it has made the loss."""
    if getattr(loss, "remade", None) is None:
        return ()
    target = target_of(loss.remade[1][0])
    return () if target is None else target.positional


def _in_classes_of(like: Any, found: Any) -> Any:
    if isinstance(like, dict) and type(found) is dict and like.keys() == found.keys():
        return {key: _in_classes_of(like[key], item) for key, item in found.items()}
    if not (isinstance(like, (tuple, list)) and isinstance(found, (tuple, list)) and len(like) == len(found)):
        return found
    made = [_in_classes_of(a, b) for a, b in zip(like, found)]
    fields = getattr(found, "_fields", None)
    if fields is None:
        return type(found)(made)
    return (type(like) if getattr(like, "_fields", None) == fields else type(found))(*made)


def _copied(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments that a function may change; what has no copy, as a lock, goes as it is."""
    known: dict[int, Any] = {}

    def copied(value: Any) -> Any:
        try:
            return copy.deepcopy(value, known)
        except Exception:  # whatever its class says to being copied
            return value

    return tuple([copied(value) for value in values])


def _called(function: Any, values: tuple[Any, ...]) -> Any:
    """The result of a function for the values of all its parameters."""
    args, kwargs = list[Any](), dict[str, Any]()
    for parameter, value in zip(parameters_of(function), values, strict=True):
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= value
        elif parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return function(*args, **kwargs)


# --- what users call ------------------------------------------------------------------------------------------------


@at_the_call
def value_and_grad(
    loss: Callable[..., Any], over: str | tuple[str, ...], reduction: str = "sum", argnums: Argnums = 0,
    client: Any = None, timeout: float | None = None, progress: Any = False, check: bool = True,
) -> Distributed:
    """The value and the gradient of a loss over all parts of the data, ``(value, gradient)``, as a function of the same
    arguments. ``over`` names the arguments that are data: Dask arrays, data frames, series, bags, lists of delayed
    parts, of futures, of arrays, of ``rows`` on disk. Part by part, ``loss`` is called with arrays in their place.

    With ``reduction="sum"`` the result is the sum of what the loss gives for the parts, with ``"mean"`` their mean,
    each part weighed by its rows: that of a loss which is a mean over rows. Parts without rows are left out.

    ``client`` is a ``dask.distributed.Client``; None takes the one that is there in this process, and without one this
    process goes over the parts, one at a time. Each worker runs the generated gradient, which is sent to it as source;
    sums are made on the workers, in a tree that depends on the number of parts only, so that the result is the same to
    the last bit each time, and without a client. Where a worker dies Dask runs its tasks again. After ``timeout``
    seconds a call raises; one without workers for half a minute does.

    ``progress`` is True for a line on standard error after each call, or a function of a ``Report``. At the first call
    it is tried with a few rows whether the loss is a sum (a mean) over rows; ``check=False`` leaves that out.

    >>> import numpy as np, s2s
    >>> def loss(w, X, y):
    ...     return np.mean((X @ w - y) ** 2)
    >>> gradient = s2s.distributed.value_and_grad(loss, over="X, y", reduction="mean")
    >>> X, y = np.eye(4)[:, :2], np.arange(4.0)
    >>> value, w_bar = gradient(np.array([1.0, 1.0]), [X[:3], X[3:]], [y[:3], y[3:]])
    >>> float(value), w_bar
    (3.5, array([0.5, 0. ]))

    Raises ArgumentError where parts do not fit together or have no rows, where the loss is no sum over rows, for a
    client that is closed or loses its workers, and the errors of ``s2s.grad``.
    """
    return ValueAndGradient("value_and_grad", loss, over, reduction, argnums, client, timeout, progress, check)


@at_the_call
def grad(
    loss: Callable[..., Any], over: str | tuple[str, ...], reduction: str = "sum", argnums: Argnums = 0,
    client: Any = None, timeout: float | None = None, progress: Any = False, check: bool = True,
) -> Distributed:
    """The gradient of a loss over all parts of the data. Arguments and errors are those of ``value_and_grad``."""
    return Distributed("grad", loss, over, reduction, argnums, client, timeout, progress, check)


@at_the_call
def hvp(
    loss: Callable[..., Any], over: str | tuple[str, ...], reduction: str = "sum", client: Any = None,
    timeout: float | None = None, progress: Any = False, check: bool = True,
) -> Distributed:
    """The product of the Hessian of a loss over all parts of the data and a vector: a function of the first argument,
    of a vector like it, and of the other arguments, as ``s2s.hvp(loss)`` is. Arguments and errors are those of
    ``value_and_grad``."""
    return Distributed("hvp", loss, over, reduction, 0, client, timeout, progress, check)


@at_the_call
def jacobian(
    f: Callable[..., Any], over: str | tuple[str, ...], reduction: str = "sum", argnums: Argnums = 0,
    client: Any = None, timeout: float | None = None, progress: Any = False, check: bool = True,
) -> Distributed:
    """The Jacobian of the sum (the mean) over all parts of the data of a function with an array for a result.
    Arguments and errors are those of ``value_and_grad``."""
    return Distributed("jacobian", f, over, reduction, argnums, client, timeout, progress, check)


@at_the_call
def map(f: Callable[..., Any], over: str | tuple[str, ...], client: Any = None, timeout: float | None = None) -> Mapped:
    """A function of arrays as a function of data in parts, called for each part: an iterator of its results, in order;
    with ``out=`` an array, such as a ``numpy.memmap``, they are put there side by side, and it is returned. ``f`` may
    be a derivative, or one by sample: ``s2s.map(s2s.grad(loss), (None, 0))``.

    Parts, ``client`` and ``timeout`` are those of ``value_and_grad``; a few parts are on their way at a time.

    >>> import numpy as np, s2s
    >>> double = s2s.distributed.map(lambda x: 2.0 * x, over="x")
    >>> [part.tolist() for part in double([np.arange(2.0), np.arange(3.0)])]
    [[0.0, 2.0], [0.0, 2.0, 4.0]]
    """
    return Mapped("map", f, over, "sum", (), client, timeout, False, False)


@at_the_call
def shipped(f: Derivative, *args: Any, **kwargs: Any) -> Shipped:
    """The version of a derivative for example arguments, as a function that pickles by its source: for Ray, MPI,
    ``concurrent.futures`` and whatever else sends functions to processes. These need s2s, and neither the files of the
    function nor a cache. It is called with all arguments, by position, and takes those of the kinds of the example.

    >>> import pickle, s2s
    >>> square_grad = s2s.distributed.shipped(s2s.grad(lambda x: x * x), 1.0)
    >>> pickle.loads(pickle.dumps(square_grad))(3.0)
    6.0

    Raises ArgumentError where the code reads what cannot be written as source.
    """
    if not isinstance(f, Derivative):
        got = with_article(type(f).__name__)
        raise option_error(f"`shipped` has {got}", "give what `s2s.grad` and its like return")
    dispatcher: Any = f.dispatcher
    if isinstance(dispatcher, ByShape):
        dispatcher = dispatcher.dispatcher_for(args, kwargs)
    dispatcher = dispatcher.under(AMBIENT.get())
    values = dispatcher.collect(*args, **kwargs)
    version = dispatcher.version_for(values)
    sent = ship(dispatcher, version, values)
    run_beside(sent.run_as_python, version.raw, values, sent.entry)
    return sent
