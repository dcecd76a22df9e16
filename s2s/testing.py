"""``check_grads``: derivatives of a function in both modes and to any order, compared with differences of values."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.api import grad, jvp, vjp
from s2s.arguments import checked
from s2s.core.linecaches import define
from s2s.derivatives import derivative
from s2s.directives.policies import Chosen, stop_gradient
from s2s.errors import DifferentiationError, error

__all__ = ["Choice", "Comparison", "Report", "check_grads"]

_EPS = {4: 1e-2, 8: 1e-4}
_RTOL = {2: 5e-2, 4: 2e-2, 8: 1e-6}


@dataclasses.dataclass(frozen=True)
class Choice:
    """A place where the derivative is one by choice: ``place`` is the file and the line, ``name`` the function, or
    ``if``, ``kind`` says what was chosen."""

    place: str
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.place}: {self.name}: {self.kind}"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One number found in two ways: the derivative of order ``order`` along a random direction, by ``mode`` (``fwd``
    or ``rev``) and by differences. ``explained`` says that these are differences of the function as the choices have
    it; those of its values, which disagree, are ``plain``."""

    order: int
    mode: str
    found: complex
    expected: complex
    explained: bool = False
    plain: complex | None = None

    @property
    def error(self) -> float:
        """The distance of the two, relative where they are greater than 1."""
        return abs(self.found - self.expected) / max(1.0, abs(self.expected))

    def __str__(self) -> str:
        plain = "" if self.plain is None else f" ({self.plain:.10g} of the values alone)"
        note = f", with the choices below{plain}" if self.explained else ""
        return f"order {self.order}, {self.mode}: {self.found:.10g}, by differences {self.expected:.10g}{note}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What ``check_grads`` compared, and the choices that it passed on the way."""

    name: str
    comparisons: tuple[Comparison, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def worst(self) -> Comparison:
        """The comparison with the largest error."""
        return max(self.comparisons, key=lambda c: c.error)

    def __repr__(self) -> str:
        lines = [f"derivatives of {self.name}: {len(self.comparisons)} comparisons agree"]
        lines += [f"  {comparison}" for comparison in self.comparisons]
        if self.choices:
            lines += ["  passed on the way, with a derivative by choice:"]
            lines += [f"    {choice}" for choice in self.choices]
        return "\n".join(lines)


@checked
def check_grads(
    f: Callable[..., Any],
    args: Any,
    order: int = 2,
    modes: Any = ("fwd", "rev"),
    rtol: float | None = None,
    atol: float | None = None,
    eps: float | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    seed: int = 0,
) -> Report:
    """Compare the derivatives of ``f(*args, **kwargs)`` with differences of its values, along one random direction for
    each order: forward mode by the tangent, reverse mode by its inner product with a random cotangent, higher orders by
    the gradient of such a product.

    ``args`` is the tuple of arguments; those that hold floats are differentiated. ``eps`` is the step of the
    differences, which are of fourth order; ``rtol`` and ``atol`` allow for ``atol + rtol * abs(expected)``. The
    defaults depend on the smallest dtype among the arguments.

    Where values go through a function whose derivative is a choice (``floor`` straight through, a tie in ``maximum``,
    ``abs`` at 0), differences see something else. Then the rest is compared: with the function in which such an
    operation is replaced by the line that its rule says, and the report names the places.

    Returns a ``Report``. Raises AssertionError with the worst component of the gradient and the line that it comes
    from; what ``grad`` raises; ArgumentError for unknown modes.

    >>> import numpy as np, s2s
    >>> s2s.check_grads(np.tanh, (0.3,), order=1)
    derivatives of tanh: 2 comparisons agree
      order 1, fwd: -0.01520003478, by differences -0.01520003478
      order 1, rev: -0.01520003478, by differences -0.01520003478
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not isinstance(args, (tuple, list)):
        args = (args,)
    unknown = set(modes) - {"fwd", "rev"}
    if unknown or not modes:
        from s2s.directives.differentiable import option_error

        raise option_error(f"there is no mode {sorted(unknown)!r}", 'choose among "fwd", "rev"')
    if not rt.floats(args):
        raise error("S2S531", name=getattr(f, "__name__", type(f).__name__))
    size = min([np.finfo(np.result_type(leaf)).bits // 8 for leaf in rt.floats(args)] or [8])
    checker = _Checker(
        np.random.default_rng(seed), modes, _RTOL.get(size, 1e-6) if rtol is None else rtol,
        _RTOL.get(size, 1e-6) if atol is None else atol, _EPS.get(size, 1e-1) if eps is None else eps,
    )
    if kwargs:
        given, inner = kwargs, f
        f = lambda *values: inner(*values, **given)
    return checker.check(f, tuple(args), order, getattr(inner if kwargs else f, "__name__", type(f).__name__))


class _Checker:
    def __init__(self, rng: np.random.Generator, modes: tuple[str, ...], rtol: float, atol: float, eps: float) -> None:
        self.rng = rng
        self.modes = modes
        self.rtol = rtol
        self.atol = atol
        self.eps = eps

    def check(self, f: Any, args: tuple[Any, ...], order: int, name: str) -> Report:
        """All orders, one after the other: the function of order k + 1 is the gradient of a product of the one of order
        k with a cotangent."""
        found: list[Comparison] = []
        choices: list[Choice] = []
        moved = tuple(k for k, arg in enumerate(args) if rt.floats(arg))
        for level in range(1, order + 1):
            tangent = tuple(_random(self.rng, arg) if k in moved else None for k, arg in enumerate(args))
            out = _value(f, args)
            cotangent = _random(self.rng, out)
            for mode in self.modes:
                by_rule = self.by_mode(mode, f, args, tangent, cotangent)
                comparison = Comparison(level, mode, by_rule, self.by_differences(f, args, tangent, cotangent))
                if not self.agrees(comparison):
                    comparison, passed = self.explain(f, args, tangent, cotangent, comparison, name, moved)
                    choices += [choice for choice in passed if not _is_told(choice, choices)]
                found.append(comparison)
            if level == 1:
                choices += [choice for choice in self.passed(f, args, moved) if choice not in choices]
            f = functools.partial(grad(_product_with(f, out), tuple(k + 1 for k in moved)), cotangent)
        return Report(name, tuple(found), tuple(choices))

    def agrees(self, c: Comparison) -> bool:
        if not np.isfinite(c.expected):  # where both are NaN nothing is compared
            return bool(np.isclose(c.found, c.expected))
        return abs(c.found - c.expected) <= self.atol + self.rtol * abs(c.expected)

    def by_mode(self, mode: str, f: Any, args: Any, tangent: Any, cotangent: Any) -> complex:
        """The derivative along a direction, paired with a cotangent."""
        if mode == "fwd":
            return _pair(cotangent, jvp(f, _copied(args), tangent)[1])
        _, pullback = vjp(f, *_copied(args))
        return _pair(pullback(cotangent), tangent)

    def by_differences(self, f: Any, args: Any, tangent: Any, cotangent: Any) -> complex:
        """The same by differences of values, of fourth order."""

        def at(step: float) -> complex:
            return _pair(cotangent, _value(f, _moved(args, tangent, step * self.eps)))

        return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * self.eps)

    def passed(self, f: Any, args: Any, moved: Any) -> list[Choice]:
        """The derivatives by choice on the way, also where differences agree."""
        observer, observed = Observer(self, "fwd", 20), _observed(f, moved)
        if observed is not None:
            with observer.watching():
                observed(*_copied(args))
        return observer.choices

    # --- where they disagree

    def explain(
        self, f: Any, args: Any, tangent: Any, cotangent: Any, comparison: Comparison, name: str, moved: Any
    ) -> tuple[Comparison, list[Choice]]:
        """The comparison with the function that has lines where the derivative is one by choice, and the places.
        Raises AssertionError where that disagrees too."""
        observer = Observer(self, comparison.mode)
        observed = _observed(f, moved)
        if observed is None:
            raise AssertionError(self.message(f, args, moved, comparison, name, None))
        with observer.watching():
            observed(*_copied(args))

        def as_chosen(*values: Any) -> Any:
            with observer.following():
                return observed(*values)

        try:
            expected = self.by_differences(as_chosen, args, tangent, cotangent)
        except (TypeError, IndexError):  # an integer that is used as one
            expected = np.nan
        again = dataclasses.replace(comparison, expected=expected, explained=True, plain=comparison.expected)
        if not observer.choices or not self.agrees(again):
            raise AssertionError(self.message(f, args, moved, comparison, name, observer))
        return again, observer.choices

    def message(
        self, f: Any, args: Any, moved: Any, comparison: Comparison, name: str, observer: Observer | None
    ) -> str:
        is_nan = np.isnan(comparison.expected) and np.isnan(comparison.found)
        problem = "and differences are NaN: nothing is compared" if is_nan else "is not what differences give"
        lines = [f"a derivative of {name} {problem}", f"  {comparison}"]
        worst = self.worst_component(f, args, moved, comparison)
        if worst is not None:
            lines.append(f"  worst component: {worst}")
        if observer is not None and observer.wrong:
            first = observer.wrong[0]
            lines.append(f"  it comes from {first.place}: the derivative of {first.name}")
        if observer is not None and observer.choices:
            lines += ["  passed on the way, with a derivative by choice:", *(f"    {c}" for c in observer.choices)]
        return "\n".join(lines)

    def worst_component(self, f: Any, args: Any, moved: Any, comparison: Comparison) -> str | None:
        """The element of an argument whose derivative is farthest from differences."""
        cotangent = _random(self.rng, _value(f, args))
        try:
            bars = vjp(f, *_copied(args))[1](cotangent)
        except DifferentiationError:
            return None
        worst, text = -1.0, None
        for k in moved:
            for place, leaf, bar in _leaves(args[k], bars[k], f"argument {k}"):
                for index in list(np.ndindex(np.shape(leaf)))[:200]:
                    tangent = tuple(
                        _unit(args[j], leaf, index) if j == k else None for j in range(len(args))
                    )
                    expected = self.by_differences(f, args, tangent, cotangent)
                    found = complex(np.asarray(bar)[index])
                    error = abs(found - expected) / max(1.0, abs(expected))
                    if error > worst:
                        where = f"{place}[{', '.join(map(str, index))}]" if index else place
                        worst = error
                        text = f"{where}: {found.real:.8g}, by differences {expected.real:.8g}"
        return text


class Observer:
    """Sees each operation of a run: first it watches, and notes what the arguments were; then it follows other runs,
    and gives for the operations with a derivative by choice what their rule says of the change of their arguments.

    ``limit`` is how often an operation of one line is looked at.
    """

    def __init__(self, checker: _Checker, mode: str, limit: float = np.inf) -> None:
        self.checker = checker
        self.mode = mode
        self.limit = limit
        self.counts: collections.Counter[Any] = collections.Counter()
        self.seen: list[tuple[Any, tuple[Any, ...], Any, bool]] = []
        self.tests: list[tuple[str, bool]] = []
        self.choices: list[Choice] = []
        self.wrong: list[Choice] = []
        self.passes: dict[Any, bool] = {}
        self.place = 0
        self.test_place = 0
        self.follows = False

    def watching(self) -> Any:
        """As a context: runs are watched."""
        return rt.observing(self)

    def following(self) -> Any:
        """As a context: runs follow the one that was watched."""
        self.follows, self.place, self.test_place = True, 0, 0
        return rt.observing(self)

    def operation(self, fn: Any, place: str, args: tuple[Any, ...], kwargs: dict[str, Any], why: str = "") -> Any:
        """The result of an operation. ``why`` says of a step what it is that has no derivative."""
        if self.follows:
            return self.followed(fn, place, args, kwargs)
        held = copy.deepcopy(args)
        out = fn(*args, **kwargs)
        kind = self.judge(fn, place, held, kwargs, out, why)
        self.seen.append((fn, held, copy.deepcopy(out), kind))
        return out

    def followed(self, fn: Any, place: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operation of another run. A mask is what it was: the derivative is that of the sides that
        were chosen."""
        if self.place >= len(self.seen):
            return fn(*args, **kwargs)
        known, held, out, chosen = self.seen[self.place]
        self.place += 1
        if known is not fn:
            return fn(*args, **kwargs)
        masks = [k for k, arg in enumerate(args) if np.result_type(arg).kind == "b"] if fn is np.where else []
        for k in masks:
            if not np.array_equal(args[k], held[k]):
                self.add(Choice(place, "where", "the elements that are chosen change here; the derivative is that of "
                                                "the sides chosen"))
                args = (*args[:k], held[k], *args[k + 1 :])
        if not chosen:
            return fn(*args, **kwargs)
        tangent = tuple(_difference(a, b) for a, b in zip(args, held, strict=True))
        if self.passes.get(fn) is not None:  # a straight line, or none
            return out + tangent[0] if self.passes[fn] else out
        return _sum(out, jvp(fn, held, tangent, **kwargs)[1])

    def test(self, place: str, value: Any) -> Any:
        """The value of the test of an ``if``: where another run takes the other branch, that is said."""
        taken = bool(value)
        if not self.follows:
            self.tests.append((place, taken))
            return value
        if self.test_place < len(self.tests):
            _, before = self.tests[self.test_place]
            self.test_place += 1
            if before != taken:
                self.add(Choice(place, "if", "the branch that is taken changes here; the derivative is that of the "
                                             "branch taken"))
                return before
        return value

    def judge(
        self, fn: Any, place: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, why: str = ""
    ) -> bool:
        """Whether the derivative of an operation is another than differences give at these arguments."""
        from s2s.directives import surrogates
        from s2s.rules import table

        rule = table.find(fn)
        said = f"zero, {why}" if why else _said(fn, rule)
        if rule is not None and said:
            if rule.kind == "zero" or (rule.kind == "straight_through" and surrogates.is_step_of_one(fn)):
                self.passes[fn] = rule.kind == "straight_through"
            name = rule.name.rpartition(".")[2]
            if all((c.place, c.name) != (place, name) for c in self.choices):
                self.add(Choice(place, name, said + self.slopes(fn, args, kwargs)))
            return True
        self.counts[fn, place] += 1
        if not rt.floats(args) or not rt.floats(out) or self.counts[fn, place] > self.limit:
            return False
        tangent = tuple(_random(self.checker.rng, a) if rt.floats(a) else None for a in args)
        cotangent = _random(self.checker.rng, out)
        if self.has_kink(fn, args, kwargs, tangent, cotangent):
            self.add(Choice(place, _name(fn), "a kink, or a tie: the derivative is between the slopes of the sides"))
            return True
        if self.agrees_at(fn, args, kwargs, tangent, cotangent):
            return False
        self.wrong.append(Choice(place, _name(fn), "wrong"))
        return False

    def slopes(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The slope of an operation by its rule and by differences of its values, as text: why they disagree."""
        if not args or not isinstance(args[0], (float, np.floating, np.ndarray)) or np.size(args[0]) == 0:
            return ""
        eps, rest = self.checker.eps, args[1:]
        ones = (np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0, *(None for _ in rest))
        called = (lambda *values: fn(*values)) if isinstance(fn, type) else fn
        by_rule = jvp(called, args, ones, **kwargs)[1]
        step = np.asarray(fn(args[0] + eps, *rest, **kwargs)) - np.asarray(fn(args[0] - eps, *rest, **kwargs))
        return f": {_range(by_rule)} by the rule, {_range(step / (2.0 * eps))} by differences with a step of {eps:g}"

    def has_kink(self, fn: Any, args: Any, kwargs: Any, tangent: Any, cotangent: Any) -> bool:
        """Whether the slopes on the two sides differ."""
        step = 1e-3 * self.checker.eps
        with np.errstate(all="ignore"):
            try:
                left, here, right = (
                    _pair(cotangent, fn(*_moved(args, tangent, k * step), **kwargs)) for k in (-1, 0, 1)
                )
            except (TypeError, ValueError, ArithmeticError, np.linalg.LinAlgError):
                return False
        sides = (here - left) / step, (right - here) / step
        return bool(abs(sides[1] - sides[0]) > 1e-2 * (1.0 + abs(sides[0])))

    def agrees_at(self, fn: Any, args: Any, kwargs: Any, tangent: Any, cotangent: Any) -> bool:
        checker = self.checker

        def called(*values: Any) -> Any:
            return fn(*values, **kwargs)

        try:
            found = checker.by_mode(self.mode, called if kwargs else fn, args, tangent, cotangent)
        except (DifferentiationError, TypeError):
            return True
        expected = checker.by_differences(called, args, tangent, cotangent)
        return checker.agrees(Comparison(1, "fwd", found, expected))

    def add(self, choice: Choice) -> None:
        if choice not in self.choices:
            self.choices.append(choice)


def _is_told(choice: Choice, choices: list[Choice]) -> bool:
    """Whether choices have one already, or what a derivative makes of it, at a line of generated code."""
    is_generated = choice.place.startswith("<s2s")
    return any(c.name == choice.name and (is_generated or c == choice) for c in choices)


def _observed(f: Any, moved: tuple[int, ...]) -> Any:
    """The function that tells what it does; None where its code cannot be had."""
    try:
        return derivative("observed", f, moved, False, "zeros")
    except DifferentiationError:
        return None


def _range(values: Any) -> str:
    """The least and the greatest of some numbers."""
    least, greatest = (f"{pick(np.asarray(values, dtype=float)):.6g}" for pick in (np.min, np.max))
    return least if least == greatest else f"{least} to {greatest}"


def _said(fn: Any, rule: Any) -> str:
    """What a function is differentiated as by choice, as text; nothing for any other."""
    if isinstance(fn, Chosen):
        return f"by {fn.how}" if rule.kind != "zero" else "zero, by the policy"
    if fn is stop_gradient:
        return "zero, by stop_gradient"
    if fn is rt.differentiated_as:
        return "as the argument of the function"
    if rule is None or rule.kind != "straight_through":
        return ""
    return f"straight through, as if {'nothing were rounded' if len(rule.partials) > 1 else 'it were the identity'}"


def _name(fn: Any) -> str:
    return getattr(fn, "__name__", str(fn))


def _product_with(f: Any, out: Any) -> Any:
    """The product of a cotangent and a function, whose gradient is the next function to compare: ``product(cotangent,
    *args)``, written out for the structure of the result ``out``."""
    terms = [
        f"np.sum(np.real(cotangent{place} * out{place}))" for place, _, _ in _leaves(out, out, "")
    ] or ["0.0"]
    text = f"def product(cotangent, *args):\n    out = f(*args)\n    return {' + '.join(terms)}\n"
    return define("product", text, {"np": np, "f": f})


# --- structures -----------------------------------------------------------------------------------------------------


def _value(f: Any, args: tuple[Any, ...]) -> Any:
    return f(*_copied(args))


def _copied(args: Any) -> Any:
    return copy.deepcopy(args)


def _map(make: Callable[..., Any], value: Any, *others: Any) -> Any:
    """A structure with something made of each float, or array of floats, and what stands there in the others."""
    if isinstance(value, dict):
        return {k: _map(make, v, *(o[k] for o in others)) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        items = [_map(make, v, *(o[k] for o in others)) for k, v in enumerate(value)]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, (float, complex, np.inexact)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        return make(value, *others)
    return None


def _random(rng: np.random.Generator, value: Any) -> Any:
    """A random tangent."""

    def one(leaf: Any) -> Any:
        made = rng.normal(size=np.shape(leaf))
        if np.iscomplexobj(leaf):
            made = made + 1j * rng.normal(size=np.shape(leaf))
        return np.asarray(made, np.result_type(leaf))[()]

    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return float(rng.normal())
    return _map(one, value)


def _moved(args: tuple[Any, ...], tangent: tuple[Any, ...], step: float) -> tuple[Any, ...]:
    """Arguments, moved along a tangent."""

    def move(arg: Any, dot: Any) -> Any:
        if dot is None:
            return copy.deepcopy(arg)
        if isinstance(arg, dict):
            return {k: move(v, dot[k]) for k, v in arg.items()}
        if isinstance(arg, (tuple, list)):
            items = [move(v, dot[k]) for k, v in enumerate(arg)]
            return arg._make(items) if hasattr(arg, "_make") else type(arg)(items)
        moved = arg + step * dot
        return moved if isinstance(arg, np.ndarray) else type(arg)(moved)

    return tuple(move(arg, dot) for arg, dot in zip(args, tangent, strict=True))


def _pair(one: Any, other: Any) -> complex:
    """The inner product of two structures: sums of products, not conjugated, of real parts."""
    if one is None or other is None:
        return 0.0
    if isinstance(other, dict):
        return sum((_pair(one[k], v) for k, v in other.items()), 0.0)
    if isinstance(other, (tuple, list)):
        return sum((_pair(one[k], v) for k, v in enumerate(other)), 0.0)
    return float(np.real(np.sum(np.asarray(one) * other)))


def _difference(one: Any, other: Any) -> Any:
    return _map(lambda a, b: a - b, one, other)


def _sum(out: Any, dot: Any) -> Any:
    if isinstance(out, (tuple, list)):
        items = [_sum(a, b) for a, b in zip(out, dot, strict=True)]
        return out._make(items) if hasattr(out, "_make") else type(out)(items)
    return out + dot


def _leaves(value: Any, bar: Any, place: str) -> list[tuple[str, Any, Any]]:
    """The floats and arrays of floats in a value, with their places and gradients."""
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in _leaves(v, bar[k], f"{place}[{k!r}]")]
    if isinstance(value, (tuple, list)):
        return [leaf for k, v in enumerate(value) for leaf in _leaves(v, bar[k], f"{place}[{k}]")]
    return [(place, value, bar)] if rt.floats(value) and bar is not None else []


def _unit(value: Any, leaf: Any, index: tuple[int, ...]) -> Any:
    """The tangent that is 1 at one element of one leaf."""

    def one(here: Any) -> Any:
        made = np.zeros(np.shape(here), np.result_type(here))
        if here is leaf:
            made[index] = 1.0
        return made[()]

    return _map(one, value)
