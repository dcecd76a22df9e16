"""The stages of one compilation in, nothing out; or an error that names the first pass which broke the function.

Each stage is run beside the one before it on the same arguments:

    the function itself, by Python          lower           the named form, interpreted
    the named form                          normalize       SSA form
    SSA form                                specialize      the primal for these arguments
    the primal                              differentiate   the sweeps as the rules say: the value, and the derivative
                                                            against differences
    the sweeps                              ...             after each simplification
    the last IR                             emit            the generated text, by Python

Compared are results, what the arguments hold afterwards, what is printed, and exceptions: bit for bit, but for passes
that declare that they reassociate.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import io
import logging
import random
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.builder.stages import Stage, Stages
from s2s.core import ir
from s2s.core.lines import lines_of
from s2s.core.show import show
from s2s.core.values import AbstractValue
from s2s.errors import DifferentiationError, InternalError, error
from s2s.frontend.lower import lower
from s2s.frontend.sources import find
from s2s.specialize.frames import lower_function
from s2s.validation import reference
from s2s.validation.copies import NotCopied, arrays_in, copied
from s2s.validation.interpret import Interpreted, Limit, TooLong, execute
from s2s.validation.outcomes import Outcome, difference, first_difference, short
from s2s.validation.samples import NoSample, sample, shrunk
from s2s.versions.request import Request

__all__ = ["Compilation", "Report", "check"]

CODE = "S2S910"
TOLERANCE = 1e-12
SLOPE = 1e-5
SECONDS = 20.0
FORWARD = ("jvp", "vector_jvp", "jacfwd", "value_and_jacfwd", "elementwise_grad")
MOMENT = 0.2
"""A function that takes longer than this is not run many times."""
LARGEST = 4096
"""So many numbers in arguments are few."""

log = logging.getLogger("s2s.validation")


@dataclass
class Report:
    """What was checked, by the names of passes, and remarks on what was not."""

    checked: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Unfit(Exception):
    """The function cannot be checked with these arguments; the text says why."""


@dataclass
class Compilation:
    """One compilation to check: a function, what it was compiled for, and what came of it. ``values`` are the arguments
    of the call, None where there is none; ``raw`` the text, linked, None where the compilation ended with an error;
    ``fits`` says whether all that the version relies on holds for some arguments."""

    function: types.FunctionType
    arguments: dict[str, AbstractValue]
    request: Request
    stages: Stages
    values: dict[str, Any] | None
    raw: Callable[..., Any] | None = None
    fits: Callable[[dict[str, Any]], bool] = lambda values: True

    def begin(self) -> None:
        """Raise Interpreted where the function is one that the interpreter made."""
        if self.function.__module__ == Interpreted.__module__:
            raise Interpreted


def check(compilation: Compilation, seconds: float = SECONDS) -> Report:
    """Check every stage of a compilation. Raises InternalError."""
    validator = Validator(compilation, Limit(time.monotonic() + seconds))
    try:
        with validator.apart():
            validator.all()
    except (Unfit, NotCopied, NoSample) as problem:
        validator.remark(f"not validated: {problem}")
    except Interpreted:
        validator.remark("validated in part: it takes the derivative of a function that it makes")
    except TooLong:
        validator.remark("validated in part: it takes too long")
    return validator.report


class Validator:
    """The runs of one compilation's stages."""

    def __init__(self, compilation: Compilation, limit: Limit) -> None:
        self.compilation = compilation
        self.function = compilation.function
        self.request = compilation.request
        self.stages = compilation.stages
        self.limit = limit
        self.values: dict[str, Any] = {}
        self.report = Report()
        self.runs: dict[int, tuple[ir.Function, Outcome]] = {}
        self.value: Any = None
        self.last_seconds = self.seconds_of_python = 0.0

    def remark(self, text: str) -> None:
        """Log what is not checked."""
        self.report.remarks.append(text)
        log.info("%s (%s): %s", self.function.__qualname__, self.request.mode, text)

    def choose_values(self) -> bool:
        """Take the arguments of the call where they are few, else smaller ones; whether they are made up."""
        given = self.compilation.values
        if given is None:
            self.values = sample(self.compilation.arguments)
            return True
        is_large = sum(a.size for a in arrays_in(tuple(given.values()))) > LARGEST
        self.values = shrunk(given, LARGEST) if is_large else given
        return is_large

    # --- the way

    def all(self) -> None:
        """Check every stage, in order."""
        if self.request.mode in ("observed", "sparsity"):
            raise Unfit(f"the mode {self.request.mode}")
        are_made_up = self.choose_values()
        if not self.compilation.fits(self.values):
            raise Unfit("another version is for these arguments")
        python = self.run_python()
        if are_made_up and python.raised is not None:
            raise Unfit(f"it raises {type(python.raised).__name__} for arguments that are made up")
        if difference(python, self.run_python()):
            raise Unfit("it gives something else when it is called again")
        self.seconds_of_python = self.last_seconds
        self.value = python.result
        named, normal = lower(find(self.function)), lower_function(self.function)
        first, *rest = self.stages.passed
        general = self.before_specialize(python, named, normal)
        self.not_refused(general, self.run(first.after))
        self.same(first.name, general, self.run(first.after), normal, first.after, arrays_only=True,
                  tolerance=TOLERANCE if self.stages.has_derivatives else 0.0)
        for stage in rest:
            self.stage(stage)
        last = self.stages.passed[-1].after
        raw = self.compilation.raw
        if raw is None:
            return
        emitted = self.outcome(lambda values: raw(*values, *self.extra(last)))
        self.same("emit", self.run(last), emitted, last, None)

    def before_specialize(self, python: Outcome, named: ir.Function, normal: ir.Function) -> Outcome:
        """Check the general forms of the function; the outcome of the last of them."""
        try:
            self.same("lower", python, self.run(named), None, named)
            self.same("normalize", self.run(named), self.run(normal), named, normal)
            return self.run(normal)
        except Interpreted:
            self.remark("it takes the derivative of a function that it makes: its general forms are not run")
            return python

    def not_refused(self, before: Outcome, after: Outcome) -> None:
        """Raise Unfit where a function is refused when it runs."""
        if before.raised is None and isinstance(after.raised, DifferentiationError):
            raise Unfit(f"refused when it runs, {after.raised.diagnostic.summary}")

    def stage(self, stage: Stage) -> None:
        before, after = stage.before, stage.after
        assert before is not None
        if stage.name == "differentiate":
            return self.differentiated(before, after)
        if stage.name == "own-arguments":
            return self.owned(before, after)
        tolerance = 0.0 if stage.exact else TOLERANCE
        self.same(stage.name, self.run(before), self.run(after), before, after, tolerance=tolerance)

    def same(
        self, name: str, before: Outcome, after: Outcome, old: ir.Function | None, new: ir.Function | None,
        tolerance: float = 0.0, arrays_only: bool = False,
    ) -> None:
        """Raise where two outcomes differ."""
        found = difference(before, after, tolerance, arguments=not arrays_only)
        if not found and arrays_only:
            found = first_difference(before.arrays, after.arrays, "the arrays among the arguments afterwards")
        if not found and before.printed != after.printed and before.raised is None:
            found = f"it prints {after.printed!r}, not {before.printed!r}"
        if found:
            self.fail(name, found, old, new)
        self.report.checked.append(name)

    def owned(self, before: ir.Function, after: ir.Function) -> None:
        """``own-arguments``: the same result, and the arguments as they were."""
        old, new = self.run(before), self.run(after)
        returned = dict(self.request.options).get("changes") == "returned"
        found = difference(old, new, results=not returned, arguments=False)
        found = found or first_difference(self.fresh(), new.arguments, "the arguments afterwards")
        if found:
            self.fail("own-arguments", found, before, after)
        self.report.checked.append("own-arguments")

    # --- derivatives

    def differentiated(self, primal: ir.Function, joint: ir.Function) -> None:
        """The sweeps: they compute the value, raise what the primal raises, and their derivative is the true one."""
        name = "forward" if self.request.mode in FORWARD else "reverse"
        value, made = self.run(primal), self.run(joint)
        self.not_refused(value, made)
        if value.raised is not None or made.raised is not None:
            found = difference(value, made, results=False, arguments=False)
            if found:
                self.fail(name, found, primal, joint)
            self.report.checked.append(name)
            return
        found = first_difference(self.value_in(primal, joint, made), self.main(value.result), "the value")
        found = found or first_difference(value.arguments, made.arguments, "the arguments afterwards")
        if found:
            self.fail(name, found, primal, joint)
        self.sharing(name, primal, joint)
        self.slopes(name, primal, joint, value, made)
        self.report.checked.append(name)

    def sharing(self, name: str, primal: ir.Function, joint: ir.Function) -> None:
        """Run the primal, and raise where a store changes an array by another variable than its adjoint is placed for:
        arrays that are one have one adjoint."""
        sharing, found = self.stages.sharing, list[str]()

        def at_store(store: ir.Store, values: Mapping[ir.Var, Any]) -> None:
            changed = values.get(store.target)  # type: ignore[arg-type]
            for var in sharing.apart(store):
                other = values.get(var)
                if isinstance(changed, np.ndarray) and isinstance(other, np.ndarray):
                    if np.shares_memory(changed, other):
                        found.append(f"{var} and {store.target} are one array where it changes, with two adjoints")

        if sharing is not None:
            self.outcome(lambda values: execute(
                primal, (*values, *self.extra(primal)), self.function, self.limit, at_store=at_store)[0])
        if found:
            self.fail(name, found[0], primal, joint)

    def main(self, result: Any) -> Any:
        """The value of a function's result, without what is beside it (``has_aux``)."""
        return result[0] if self.request.has_aux else result

    def value_in(self, primal: ir.Function, joint: ir.Function, made: Outcome) -> Any:
        """The primal's value as the sweeps have it."""
        mode, result = self.request.mode, made.result
        if mode in ("vjp", "jvp", "vector_jvp", "vector_vjp"):
            return result[0]
        if mode.startswith("value_and"):
            return self.main(result[0])
        return self.main(self.run(primal).result)

    def slopes(self, name: str, primal: ir.Function, joint: ir.Function, value: Outcome, made: Outcome) -> None:
        """Compare the derivative with differences; with forward mode where these say nothing, or where the derivative
        is another than theirs by choice."""
        direction = reference.Direction(self.values, self.request.wrt)
        got = self.along(direction, value, made)
        if got is None:
            return self.remark("the derivative is compared with nothing in this mode")
        true = None
        if self.seconds_of_python < MOMENT:
            true = self.weighed(reference.differences(self.value_at, direction, self.limit.step), value)
        if true is not None and self.agree(got, true):
            return
        by = "differences"
        if true is None or reference.is_by_choice(primal):
            true, by = self.weighed(self.by_forward_mode(direction), value), "forward mode"
        if true is None:
            return self.remark("no independent derivative at these arguments")
        if not self.agree(got, true):
            self.fail(name, f"the derivative in a direction is {short(got)}, by {by} {short(true)}", primal, joint)

    def agree(self, got: Any, expected: Any) -> bool:
        if np.shape(got) != np.shape(expected):
            return False
        finite = np.isfinite(got) & np.isfinite(expected)
        scale = max(1.0, float(np.max(np.abs(np.asarray(expected)[finite]), initial=0.0)))
        return bool(np.all(np.abs(np.asarray(got) - np.asarray(expected))[finite] <= SLOPE * scale))

    def weighed(self, slope: Any, value: Outcome) -> Any:
        """The derivative of all results as what the mode gives of it: of a pullback a number, by its cotangent."""
        if slope is not None and self.request.mode in ("vjp", "vector_vjp"):
            return np.array([np.sum(reference.flat(reference.cotangent_like(self.main(value.result))) * slope)])
        return slope

    def along(self, direction: reference.Direction, value: Outcome, made: Outcome) -> Any:
        """The derivative that the sweeps give, along a direction; None where it is not compared."""
        mode, result, primal = self.request.mode, made.result, self.main(value.result)
        tangents = direction.tangents()
        if mode in ("grad", "value_and_grad"):
            gradient = result[1] if mode == "value_and_grad" else result[0] if self.request.has_aux else result
            gradients = (gradient,) if self.request.single else gradient
            return np.array([reference.inner(gradients, tangents)])
        if mode in ("vjp", "vector_vjp"):
            pulled = result[1][0] if mode == "vjp" else reference.first_of_many(result[1])
            return np.array([reference.inner(pulled, tangents)])
        if mode in ("jvp", "vector_jvp"):
            return reference.flat_like(result[1] if mode == "jvp" else reference.first_of_many(result[1]), primal)
        if mode == "elementwise_grad":  # the true derivative of a function of single elements only
            return None
        jacobian = result[1] if mode.startswith("value_and") else result[0] if self.request.has_aux else result
        parts = (jacobian,) if self.request.single else jacobian
        return reference.contracted(parts, tangents, primal)

    def value_at(self, values: tuple[Any, ...]) -> Any:
        """The function's value for some arguments, by Python; its exceptions leave."""
        with contextlib.redirect_stdout(io.StringIO()):
            return self.main(self.call(values))

    def by_forward_mode(self, direction: reference.Direction) -> Any:
        """The derivative of the value by forward mode, interpreted; None where there is none."""
        if self.stages.tangent is None or self.request.mode in FORWARD:
            return None
        if direction.has_objects or not direction.by_leaf:
            return None
        try:
            made = self.stages.tangent()
        except DifferentiationError:
            return None
        found = self.outcome(
            lambda values: execute(made, (*values, *direction.tangents()), self.function, self.limit)[0])
        if found.raised is not None:
            return None
        return reference.flat_like(found.result[1], found.result[0])

    # --- runs

    def fresh(self) -> tuple[Any, ...]:
        """The values, copied."""
        made: tuple[Any, ...] = copied(tuple(self.values.values()))
        return made

    def call(self, values: tuple[Any, ...]) -> Any:
        """The function itself, for the values of its parameters."""
        code, by_name = self.function.__code__, dict(zip(self.values, values, strict=True))
        names, count = code.co_varnames, code.co_argcount
        after = count + code.co_kwonlyargcount
        given = [by_name[name] for name in names[:count]]
        keywords = {name: by_name[name] for name in names[count:after]}
        if code.co_flags & inspect.CO_VARARGS:
            given += by_name[names[after]]
            after += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            keywords |= by_name[names[after]]
        return self.function(*given, **keywords)

    def run_python(self) -> Outcome:
        """The function itself, run by Python."""
        return self.outcome(self.call)

    def run(self, function: ir.Function) -> Outcome:
        """A stage, interpreted; once."""
        if id(function) not in self.runs:
            self.runs[id(function)] = function, self.outcome(
                lambda values: execute(function, (*values, *self.extra(function)), self.function, self.limit)[0]
            )
            if isinstance(self.runs[id(function)][1].raised, RecursionError):
                raise Unfit("it is too deep for the interpreter")
        return self.runs[id(function)][1]

    def extra(self, function: ir.Function) -> tuple[Any, ...]:
        """The tangents, or cotangents, that a function of some modes is given after its arguments."""
        if len(function.params) == len(self.values):
            return ()
        mode = self.request.mode
        if mode == "vector_vjp":
            return (reference.many(reference.cotangent_like(self.main(self.value))),)
        tangents = reference.Direction(self.values, self.request.wrt).tangents()
        return tuple(map(reference.many, tangents)) if mode == "vector_jvp" else tangents

    def outcome(self, call: Callable[[tuple[Any, ...]], Any]) -> Outcome:
        """What a run gives for fresh arguments, pullbacks called."""
        values = self.fresh()
        arrays = list(arrays_in(values))
        restore_generators(self.state)
        printed = io.StringIO()
        start = time.monotonic()
        raised: BaseException | None = None
        result = None
        try:
            with contextlib.redirect_stdout(printed):
                result = self.pulled(call(values))
        except (TooLong, Unfit):
            raise
        except (Exception, SystemExit) as problem:
            if isinstance(problem, InternalError) and problem.diagnostic.code == CODE:
                raise  # of a function that this one differentiates
            raised = problem
            problem.__traceback__ = None
        self.last_seconds = time.monotonic() - start
        return Outcome(result, raised, values, printed.getvalue(), arrays)

    def pulled(self, result: Any) -> Any:
        """A result with the cotangents that its pullback gives, twice, in its place."""
        if self.request.mode != "vjp" or not isinstance(result, tuple) or len(result) < 2 or not callable(result[1]):
            return result
        value, pullback, *aux = result
        kept = copied(value)
        first = pullback(reference.cotangent_like(kept))
        return (kept, (copied(first), copied(pullback(reference.cotangent_like(kept)))), *aux)

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """Random generators, warnings and settings of NumPy as they were, afterwards."""
        self.state = generators_of(self.function)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        finally:
            restore_generators(self.state)

    # --- failing

    def fail(self, name: str, found: str, old: ir.Function | None, new: ir.Function | None) -> None:
        """Raise the error that names a pass."""
        values = ", ".join(f"{key}={short(value)}" for key, value in self.values.items())
        problem = error(CODE, span=self.stages.span, label=found, name=name, function=self.function.__name__)
        lines = [problem.text, f"  = arguments: {values}", *changed_lines(old, new)]
        raise InternalError(problem.diagnostic, "\n".join(lines))


def changed_lines(old: ir.Function | None, new: ir.Function | None, most: int = 40) -> list[str]:
    """The lines of IR that a pass changed, with some around."""
    if old is None or new is None:
        return []
    before, after = lines_of(show(old)), lines_of(show(new))
    found = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=2))
    return ["  = the change:", *(f"    {line}" for line in found[:most])] + (["    ..."] if len(found) > most else [])


# --- random generators ------------------------------------------------------------------------------------------------


def generators_of(function: types.FunctionType) -> list[tuple[Any, Any]]:
    """The random generators that a function may draw from, each with its state."""
    found: list[Any] = [random, np.random]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    for value in (*cells, *named):
        if isinstance(value, (np.random.Generator, np.random.RandomState, random.Random)):
            found.append(value)
    return [(one, _state(one)) for one in found]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state() if hasattr(generator, "get_state") else generator.getstate()


def restore_generators(states: list[tuple[Any, Any]]) -> None:
    """Give random generators the states that were noted."""
    for generator, state in states:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = state
        elif hasattr(generator, "set_state"):
            generator.set_state(state)
        else:
            generator.setstate(state)
