"""What s2s does with a program: ``outcome(text, samples)`` says ``right``, ``wrong``, ``crash``, ``refused``,
``slow`` or ``skipped``.

The primal runs in an instrumented copy that counts its steps, so that no program runs for ever, and records
every condition: where a point of the difference stencil takes another path than the point itself, or coarse
and fine differences disagree (a kink of ``max``), the program is no fit sample and is skipped.
"""

import ast
import builtins
import contextlib
import linecache
import math
import re
import signal
import types
import warnings
from dataclasses import dataclass

import numpy as np

import s2s
from s2s.errors import DifferentiationError, InternalError
from tests.helpers import assert_same, copy_tree, differences, float_leaves, random_cotangent

STEPS = 3000
LARGEST = 1e4
SECONDS = 20


class Unfit(Exception):
    """The program cannot be checked at these inputs."""


class Slow(BaseException):
    """s2s took too long. No Exception, so that nothing in between catches it."""


@dataclass(frozen=True)
class Outcome:
    """The verdict; ``group`` tells failures of one class from others, and ``text`` says what happened."""

    verdict: str
    group: str = ""
    text: str = ""

    @property
    def failed(self):
        return self.verdict in ("wrong", "crash", "slow")


# --- programs as functions --------------------------------------------------------------------------------


def namespace(name):
    return {"np": np, "math": math, "__name__": name, "__builtins__": builtins}


def load(text, count=iter(range(10**9))):
    """The function ``f`` of a program's text, with its source where s2s finds it."""
    name = f"<fuzz {next(count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = namespace(name)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


class Instrument(ast.NodeTransformer):
    """Wraps every condition in ``_test``, and counts every trip."""

    def mark(self, node):
        call = ast.Call(ast.Name("_test", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    def visit_test(self, node):
        self.generic_visit(node)
        node.test = self.mark(node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_test

    def visit_For(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.parse("_test(True)").body[0])
        return node

    def visit_Assign(self, node):
        """Nothing on the way grows so large that differences lose it."""
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("_seen", ast.Load()), [node.value], [])
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        target = node.target
        while isinstance(target, ast.Subscript):
            target = target.value
        if not isinstance(target, ast.Name):
            return node
        seen = ast.Call(ast.Name("_seen", ast.Load()), [ast.Name(target.id, ast.Load())], [])
        return [node, ast.Expr(seen)]

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        node.values = [*(self.value(value) for value in node.values[:-1]), node.values[-1]]
        return node

    def value(self, node):
        return ast.Call(ast.Name("_value", ast.Load()), [node], [])

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.ifs = [self.mark(test) for test in node.ifs]
        return node


class Primal:
    """The instrumented function: ``primal(*args)`` gives the value, ``primal.path`` the conditions of it."""

    def __init__(self, text):
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(text)))
        scope = namespace("primal")
        scope.update(_test=self.test, _value=self.value, _seen=self.seen)
        exec(compile(tree, "<primal>", "exec"), scope)
        self.f = scope.get("f")
        self.path = []
        self.reference = None

    def value(self, value):
        self.test(value)
        return value

    def seen(self, value):
        if isinstance(value, (float, np.ndarray)) and not np.all(np.abs(value) < LARGEST):
            raise Unfit("no moderate float")
        return value

    def test(self, value):
        if len(self.path) > STEPS:
            raise Unfit("too many steps")
        self.path.append(bool(value))
        return value

    def __call__(self, *args):
        self.path = []
        try:
            value = self.f(*args)
        except Unfit:
            raise
        except Exception as error:
            raise Unfit(f"{type(error).__name__}: {error}") from None
        if self.reference is not None and self.path != self.reference:
            raise Unfit("another path nearby")
        return value


def expected(primal, args):
    """The value and the gradient of every float argument by differences; raises Unfit."""
    primal.reference = None
    value = primal(*copy_tree(args))
    if not isinstance(value, (float, np.floating)) or not abs(value) < LARGEST:
        raise Unfit("no moderate float")
    primal.reference = primal.path
    places = [place for place, arg in enumerate(args) if float_leaves(arg)]
    found = []
    for place in places:

        def phi(moved):
            return float(primal(*copy_tree((*args[:place], moved, *args[place + 1 :]))))

        coarse, fine = differences(phi, args[place], 1e-3), differences(phi, args[place], 3e-4)
        scale = max(1.0, float(np.max(np.abs(fine), initial=0.0)))
        if not np.allclose(coarse, fine, rtol=1e-7, atol=1e-7 * scale) or scale > LARGEST:
            raise Unfit("not smooth nearby")
        found.append(fine)
    return value, places, found


# --- s2s --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def time_limit(seconds=SECONDS):
    def ring(signum, frame):
        raise Slow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Wrong(Exception):
    """s2s computes something else than it should."""


def compare(got, want, primal, what):
    """A gradient agrees with the expected one in shape, dtype and value."""
    if np.shape(got) != np.shape(primal) or np.asarray(got).dtype != np.asarray(primal).dtype:
        raise Wrong(f"{what}: {got!r} for {primal!r}")
    scale = max([1.0, *np.abs(np.ravel(want))])
    if not np.allclose(got, want, rtol=1e-6, atol=1e-6 * scale):
        raise Wrong(f"{what}: got {np.asarray(got).tolist()}, expected {np.asarray(want).tolist()}")


def same(got, want, what):
    try:
        assert_same(got, want)
    except AssertionError:
        raise Wrong(f"{what}: got {got!r}, expected {want!r}") from None


def derivatives_agree(f, samples, known):
    """The derivatives of ``f`` at every sample; raises Wrong, and what s2s raises."""
    places = tuple(known[0][1])
    joint = s2s.value_and_grad(f, argnums=places)
    for args, (value, _, wanted) in zip(samples, known):
        before = copy_tree(args)
        out, found = joint(*args)
        same(out, value, "value of value_and_grad")
        for place, got, want in zip(places, found, wanted):
            compare(got, want, args[place], f"argument {place} of value_and_grad{args}")
        shares_nothing(found, args)
        out, pullback = s2s.vjp(f, *args)
        same(out, value, "value of vjp")
        for _ in range(2):
            pulled = pullback(0.7)
            for place, want in zip(places, wanted):
                compare(pulled[place], 0.7 * want, args[place], f"argument {place} of the pullback{args}")
        tangents = [random_cotangent(arg) if place in places else None for place, arg in enumerate(args)]
        out, tangent = s2s.jvp(f, args, tangents)
        same(out, value, "value of jvp")
        parts = [np.sum(np.asarray(want) * tangents[place]) for place, want in zip(places, wanted)]
        scale = max([1.0, *map(abs, parts)])
        if not np.allclose(tangent, sum(parts), rtol=1e-6, atol=1e-6 * scale):
            raise Wrong(f"jvp along {tangents} at {args}: got {tangent}, expected {sum(parts)}")
        same(args, before, "arguments afterwards")


def shares_nothing(gradients, args):
    """Writing into a gradient changes neither an argument nor another gradient."""
    arrays = [found for found in gradients if isinstance(found, np.ndarray)]
    others = [arg for arg in args if isinstance(arg, np.ndarray)]
    for k, found in enumerate(arrays):
        if not found.flags.writeable or any(np.shares_memory(found, o) for o in arrays[:k] + others):
            raise Wrong("memory of a gradient is not the caller's own")


def known_values(text, samples):
    """Samples that can be checked, with what is expected of each."""
    primal = Primal(text)
    kept, known = [], []
    reason = Unfit("no sample")
    for args in samples:
        try:
            known.append(expected(primal, args))
            kept.append(args)
        except Unfit as error:
            reason = error
    if not kept:
        raise reason
    return kept, known


def outcome(text, samples):
    """The verdict over a program."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            kept, known = known_values(text, samples)
        except Unfit as error:
            return Outcome("skipped", str(error).partition(":")[0], str(error))
        return judged(load(text), kept, known)


def judged(f, samples, known):
    try:
        with time_limit():
            derivatives_agree(f, samples, known)
    except Wrong as error:
        return Outcome("wrong", str(error).partition(" ")[0], str(error))
    except InternalError as error:
        return Outcome("crash", f"{error.diagnostic.code}", str(error))
    except DifferentiationError as error:
        return Outcome("refused", error.diagnostic.code, str(error))
    except Slow:
        return Outcome("slow", "slow", f"more than {SECONDS} s")
    except Exception as error:
        return Outcome("crash", f"{summary(error)}, {where(error)}", f"{type(error).__name__}: {error}")
    return Outcome("right")


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
