"""What s2s does with a program: ``outcome(text, samples, modes)`` says ``right``, ``wrong``, ``crash``, ``refused``,
``slow`` or ``skipped``.

A program is checked in modes: ``reverse`` (value and gradient), ``forward`` (a tangent), ``pullback`` (twice),
``second`` (a product with the Hessian, against differences of the gradient), ``jacobian`` (tangents in all directions
at once), ``numba`` (the gradient compiled), and ``loops`` (what is compiled there, with its loops over elements, run by
Python).
"""

import contextlib
import functools
import random
import re
import signal
import types
import warnings
from dataclasses import dataclass

import numpy as np

import s2s
from s2s import NumbaFallbackWarning
from s2s.codegen.link import link
from s2s.errors import DifferentiationError, InternalError
from tests.fuzz.primal import Unfit, known_values, load, smooth
from tests.helpers import assert_same, copy_tree, is_float, leaves, map_tree, random_cotangent

SECONDS = 20
SHARES = {
    "reverse": 1.0, "forward": 0.5, "pullback": 0.2, "second": 0.04, "jacobian": 0.1, "numba": 0.004, "loops": 0.3,
}  # fmt: skip
MODES = tuple(SHARES)
FIRST_ORDER = ("reverse", "forward", "pullback")


class Slow(BaseException):
    """s2s took too long. No Exception, so that nothing in between catches it."""


class Wrong(Exception):
    """s2s computes something else than it should."""


@dataclass(frozen=True)
class Outcome:
    """The verdict; ``group`` tells failures of one class from others, ``text`` says what happened, and ``modes`` are
    those that were checked, the last of them the one that failed."""

    verdict: str
    group: str = ""
    text: str = ""
    modes: tuple = ()

    @property
    def failed(self):
        return self.verdict in ("wrong", "crash", "slow")


def modes_of(seed, shares=None):
    """The modes in which the program of a seed is checked; the same for the same seed."""
    draw = random.Random(f"modes {seed}")
    return tuple(mode for mode, share in (shares or SHARES).items() if draw.random() < share)


@contextlib.contextmanager
def time_limit(seconds=SECONDS):
    """Raises Slow where the body takes so many seconds of the processor."""

    def ring(signum, frame):
        raise Slow

    warm()
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@functools.cache
def warm():
    """Import what the first compilation imports: that is not to be interrupted."""
    s2s.grad(load("def f(x):\n    return np.sum(np.sin(x))\n"))(np.ones(2))


# --- comparisons ------------------------------------------------------------------------------------------


def compare(got, want, primal, what, rtol=1e-6):
    """A gradient agrees with the expected one in structure, shape, dtype and value."""
    if isinstance(primal, (tuple, list, dict)):
        keys = primal if isinstance(primal, dict) else range(len(primal))
        if type(got) is not type(primal) or len(got) != len(primal):
            raise Wrong(f"{what}: {got!r} for {primal!r}")
        for key in keys:
            compare(got[key], want[key], primal[key], what, rtol)
        return
    if not is_float(primal):
        return
    kind = float if isinstance(primal, float) else type(primal)
    alike = isinstance(got, kind) and np.shape(got) == np.shape(primal)
    if not alike or np.asarray(got).dtype != np.asarray(primal).dtype:
        raise Wrong(f"{what}: {got!r} for {primal!r}")
    scale = max([1.0, *np.abs(np.ravel(want))])
    if not np.allclose(got, want, rtol=rtol, atol=rtol * scale):
        raise Wrong(f"{what}: got {np.asarray(got).tolist()}, expected {np.asarray(want).tolist()}")


def same(got, want, what):
    try:
        assert_same(got, want)
    except AssertionError:
        raise Wrong(f"{what}: got {got!r}, expected {want!r}") from None


def scaled(tree, factor):
    return map_tree(lambda leaf: None if leaf is None else factor * leaf, tree)


def shares_nothing(gradients, args):
    """Writing into a gradient changes neither an argument nor another gradient."""
    arrays = [found for found in leaves(gradients) if isinstance(found, np.ndarray)]
    others = [arg for arg in leaves(args) if isinstance(arg, np.ndarray)]
    for k, found in enumerate(arrays):
        if not found.flags.writeable or any(np.shares_memory(found, o) for o in arrays[:k] + others):
            raise Wrong("memory of a gradient is not the caller's own")


# --- the modes --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def loops_by_python():
    """Text with loops over elements is run by Python in the place of what Numba makes of it; where lengths are not what
    the text takes them for, the text without loops runs, as it does there. Gives a list that says of each call whether
    loops came to their end."""
    from s2s.backends.numba import versions

    ran = []

    def runnable(compiled, raw, function, request, avals, values):
        if compiled.loops is None or request.mode == "vjp":
            return raw
        looped = link(compiled.loops, function)

        def either(*args):
            try:
                result = looped(*args)
            except Exception:
                ran.append(False)
                return raw(*args)
            ran.append(True)
            return result

        return either

    before, versions.runnable = versions.runnable, runnable
    try:
        yield ran
    finally:
        versions.runnable = before


def reverse(f, args, known):
    value, places, wanted = known
    out, found = s2s.value_and_grad(f, argnums=tuple(places))(*args)
    same(out, value, "value of value_and_grad")
    for place, got, want in zip(places, found, wanted):
        compare(got, want, args[place], f"argument {place} of value_and_grad{args}")
    shares_nothing(found, args)


def pullback(f, args, known):
    value, places, wanted = known
    out, pull = s2s.vjp(f, *args)
    same(out, value, "value of vjp")
    for _ in range(2):
        pulled = pull(0.7)
        for place, want in zip(places, wanted):
            compare(pulled[place], scaled(want, 0.7), args[place], f"argument {place} of the pullback{args}")


def directions(args, places):
    return [random_cotangent(arg) if place in places else None for place, arg in enumerate(args)]


def forward(f, args, known):
    value, places, wanted = known
    tangents = directions(args, places)
    out, tangent = s2s.jvp(f, args, tangents)
    same(out, value, "value of jvp")
    parts = [
        np.sum(np.asarray(one) * other)
        for place, want in zip(places, wanted)
        for one, other in zip(leaves(want), leaves(tangents[place]))
        if one is not None
    ]
    scale = max([1.0, *map(abs, parts)])
    if not np.allclose(tangent, sum(parts), rtol=1e-6, atol=1e-6 * scale):
        raise Wrong(f"jvp along {tangents} at {args}: got {tangent}, expected {sum(parts)}")


def step_on(leaf, direction, step):
    """A leaf moved along a direction, in the same order of memory."""
    if not is_float(leaf):
        return leaf
    moved = leaf + step * direction
    return np.asfortranarray(moved) if isinstance(leaf, np.ndarray) and leaf.flags.fnc else moved


def along(args, tangents, step):
    """The arguments moved along tangents."""
    moved = []
    for arg, tangent in zip(args, tangents):
        if tangent is not None:
            steps = iter(leaves(tangent))
            arg = map_tree(lambda leaf: step_on(leaf, next(steps), step), arg)
        moved.append(arg)
    return tuple(moved)


def second(f, args, known):
    """The product with the Hessian against differences of the gradient, where these are smooth."""
    _, places, _ = known
    tangents = directions(args, places)
    gradient = s2s.grad(f, argnums=tuple(places))

    def slope(step):
        ends = [gradient(*along(args, tangents, sign * step)) for sign in (2, 1, -1, -2)]
        parts = zip(*(leaves(end) for end in ends))
        return [
            None if a is None or not is_float(a) else (8.0 * (b - c) - (a - d)) / (12.0 * step) for a, b, c, d in parts
        ]

    coarse, fine = slope(2e-4), slope(1e-4)
    if not smooth([None if c is None else c * 1e-2 for c in coarse], [None if c is None else c * 1e-2 for c in fine]):
        return
    product = s2s.hvp(f, args, tangents, argnums=tuple(places))
    for got, want in zip(leaves(product), fine):
        if want is None:
            continue
        scale = max([1.0, *np.abs(np.ravel(want))])
        if np.shape(got) != np.shape(want) or not np.allclose(got, want, rtol=1e-4, atol=1e-4 * scale):
            raise Wrong(f"hvp along {tangents} at {args}: got {product}, expected {fine}")


def jacobian(f, args, known):
    _, places, wanted = known
    found = s2s.jacfwd(f, argnums=tuple(places))(*args)
    for place, got, want in zip(places, found, wanted):
        for one, other in zip(leaves(got), leaves(want)):
            if other is None:
                continue
            scale = max([1.0, *np.abs(np.ravel(other))])
            if not np.allclose(one, other, rtol=1e-6, atol=1e-6 * scale):
                raise Wrong(f"argument {place} of jacfwd{args}: got {got!r}, expected {want!r}")


def numba(f, args, known):
    value, places, wanted = known
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        try:
            out, found = s2s.value_and_grad(s2s.differentiable(f, backend="numba"), argnums=tuple(places))(*args)
        except NumbaFallbackWarning as warning:
            raise Unfit(f"fallback: {str(warning)[:60]}") from None
    if not np.allclose(out, value, rtol=1e-9, atol=1e-9):
        raise Wrong(f"value on numba: got {out!r}, expected {value!r}")
    for place, got, want in zip(places, found, wanted):
        compare(got, want, args[place], f"argument {place} on numba{args}")


def loops(f, args, known):
    value, places, wanted = known
    with loops_by_python() as ran:
        out, found = s2s.value_and_grad(s2s.differentiable(f, backend="numba"), argnums=tuple(places))(*args)
    if not any(ran):
        raise Unfit("fallback: no loops over elements")
    if not np.allclose(out, value, rtol=1e-9, atol=1e-9):
        raise Wrong(f"value by loops: got {out!r}, expected {value!r}")
    for place, got, want in zip(places, found, wanted):
        compare(got, want, args[place], f"argument {place} by loops{args}")


CHECKS = dict(zip(MODES, (reverse, forward, pullback, second, jacobian, numba, loops)))


# --- the verdict ------------------------------------------------------------------------------------------


def outcome(text, samples, modes=FIRST_ORDER):
    """The verdict over a program."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with time_limit():
                kept, known = known_values(text, samples)
        except Unfit as error:
            return Outcome("skipped", str(error).partition(":")[0], str(error))
        except Slow:
            return Outcome("skipped", "slow primal")
        return judged(load(text), kept, known, modes)


def judged(f, samples, known, modes):
    """What the modes say, in their order; the first that fails ends it."""
    done = []
    for mode in modes:
        found = in_mode(f, samples, known, mode)
        if found.verdict != "right":
            return Outcome(found.verdict, f"{mode}: {found.group}", found.text, (*done, mode))
        if found.group != "fallback":
            done.append(mode)
    return Outcome("right", modes=tuple(done))


def in_mode(f, samples, known, mode):
    try:
        with time_limit(SECONDS * (5 if mode == "numba" else 1)):
            for args, wanted in zip(samples, known):
                before = copy_tree(args)
                CHECKS[mode](f, args, wanted)
                same(args, before, "arguments afterwards")
    except Unfit:
        return Outcome("right", "fallback")
    except Wrong as error:
        return Outcome("wrong", str(error).partition(" ")[0], str(error))
    except InternalError as error:
        return Outcome("crash", group_of(error), str(error))
    except DifferentiationError as error:
        return Outcome(verdict_of(error), error.diagnostic.code, str(error))
    except Slow:
        return Outcome("slow", "slow", f"more than {SECONDS} s")
    except Exception as error:
        return Outcome("crash", f"{summary(error)}, {where(error)}", f"{type(error).__name__}: {error}")
    return Outcome("right")


def verdict_of(refusal):
    """Refused, or a crash where generated code has raised what the program does not."""
    return "crash" if refusal.diagnostic.code == "S2S212" else "refused"


def group_of(error):
    """The code of an internal error, with the pass that validation names."""
    named = re.match(r"the pass `\w+`", error.diagnostic.summary)
    return " ".join([error.diagnostic.code, *([named[0]] if named else [])])


def summary(error):
    """The type of an exception and the sentence that says what is wrong, without names and numbers."""
    lines = str(error).splitlines() or [""]
    marked = [line.partition("<-- ")[2] for line in lines if "<-- " in line]  # broken IR
    sentence = re.sub(r"`[^`]*`|'[^']*'|%\S*|[0-9]+", "_", marked[0] if marked else lines[0])
    return f"{type(error).__name__}: {sentence.strip()[:80]}"


def where(error):
    """The innermost function of s2s, or ``generated`` code, that an exception comes from."""
    place = "elsewhere"
    trace = error.__traceback__
    while trace is not None:
        code: types.CodeType = trace.tb_frame.f_code
        if "/s2s/" in code.co_filename:
            place = f"{code.co_filename.rpartition('/')[2]}:{code.co_name}"
        elif "s2s" in code.co_filename:
            place = "generated"
        trace = trace.tb_next
    return place
