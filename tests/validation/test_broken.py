"""A pass that is broken on purpose is named by the validator, and by no other name."""

import dataclasses
import functools
import operator

import numpy as np
import pytest

from s2s import pipeline
from s2s.analysis.sharing import Sharing
from s2s.builder import cotangents
from s2s.core import ir
from s2s.errors import InternalError
from s2s.optimize import passes, subexpressions
from s2s.reverse import control, stores
from s2s.specialize import frames
from s2s.specialize.specializer import Specializer
from tests.fuzz.check import load
from tests.validation.checked import checked

V3 = np.array([0.7, 1.3, 0.4])


# --- programs -------------------------------------------------------------------------------------------------------


def stored(x):
    a = x.copy()
    a[0] = a[1] * 3.0
    return np.sum(a * a)


def read_before_and_after(x):
    a = np.sin(x)
    first = a[0] / 2.0
    a[0] = 5.0 * x[1]
    second = a[0] / 2.0
    return first * second * np.sum(a)


def whole_read_before_a_store(x):
    a = x.copy()
    new = 5.0 * x[1]
    wave = np.sin(a)
    a[0] = new
    return np.sum(wave * wave) + np.sum(a * a)


def into_argument(x):
    x[0] = x[1] * x[2]
    return np.sum(x * x)


def stepwise(x, n):
    total = 0.0
    for _ in range(n):
        total = np.sin(total + x[0]) - x[1] / x[2]
    return total


def branching(x):
    return np.sum(x * x) - 3.0 if x[0] < x[1] else np.sum(np.sin(x)) / 2.0


# --- ways to break a function ----------------------------------------------------------------------------------------


def rewritten(change, function):
    """The function with each statement replaced by those that ``change`` gives for it, in all blocks."""

    def block(b):
        made = [new for s in b.statements for new in change(ir.with_blocks(s, map(block, ir.blocks_of(s))))]
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def without_first_store(function):
    first = next((s for s in ir.walk(function.body) if isinstance(s, ir.Store)), None)
    return rewritten(lambda s: [] if s == first else [s], function)


def with_operands_swapped(function):
    """The first difference or quotient the other way round."""
    ordered = tuple(map(ir.Const, (operator.sub, operator.truediv)))
    first = next((s for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)
                  and s.value.fn in ordered), None)

    def change(s):
        if s != first:
            return [s]
        return [ir.replace(s, value=ir.replace(s.value, args=s.value.args[::-1]))]

    return rewritten(change, function)


def with_reads_last(function):
    """Each sine stands behind the store that comes after it."""

    def block(b):
        made = [ir.with_blocks(s, map(block, ir.blocks_of(s))) for s in b.statements]
        for k in [k for k, s in enumerate(made) if is_sine(s)]:
            until = next((j for j in range(k, len(made)) if isinstance(made[j], ir.Store)), k)
            made[k : until + 1] = [*made[k + 1 : until + 1], made[k]]
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def is_sine(s):
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(np.sin)


def breaking(monkeypatch, module, name, damage):
    """Let the pass of a module damage what it makes."""
    original = getattr(module, name)

    @functools.wraps(original)
    def broken(*args, **kwargs):
        made = original(*args, **kwargs)
        return damage(made) if isinstance(made, ir.Function) else (damage(made[0]), *made[1:])

    monkeypatch.setattr(module, name, broken)


def pass_named(name):
    """The pass with a name."""
    return next(one for one in (*pipeline.PRIMAL, *pipeline.CHANGING, *passes.SIMPLIFICATIONS) if one.name == name)


def blamed(f, args, mode):
    """The name of the pass that validation finds wrong."""
    with pytest.raises(InternalError) as caught:
        checked(f, args, mode, 0)
    assert caught.value.diagnostic.code == "S2S910"
    return str(caught.value).split("`")[1]


SIMPLIFICATIONS = sorted({one.name for one in passes.SIMPLIFICATIONS})


@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp"])
@pytest.mark.parametrize("f", [stored, read_before_and_after, into_argument, branching])
def test_sound_programs_pass(f, mode):
    reports = checked(f, (V3,), mode, 0)
    assert reports and {"lower", "normalize", "specialize", "dead-code", "emit"} <= set(reports[0].checked)
    assert not reports[0].remarks


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("name", SIMPLIFICATIONS)
def test_a_simplification_that_drops_a_store(monkeypatch, name, mode):
    breaking(monkeypatch, pass_named(name), "run", without_first_store)
    assert blamed(stored, (V3,), mode) == name


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("name", SIMPLIFICATIONS)
def test_a_simplification_that_swaps_operands(monkeypatch, name, mode):
    breaking(monkeypatch, pass_named(name), "run", with_operands_swapped)
    assert blamed(read_before_and_after, (V3,), mode) == name


@pytest.mark.parametrize("name", ["stores", "common-subexpressions", "sink", "shared-names"])
def test_a_simplification_that_moves_a_read_behind_a_store(monkeypatch, name):
    breaking(monkeypatch, pass_named(name), "run", with_reads_last)
    assert blamed(whole_read_before_a_store, (V3,), "grad") == name


# --- the stages before and after the simplifications ------------------------------------------------------------------


def lowered_anew(number=iter(range(10**6))):
    """A function that was not lowered before."""
    return load(f"def f(x):\n    a = np.sin(x)\n    a[0] = a[1] - {next(number)}.5\n    return np.sum(a * x)\n")


@pytest.mark.parametrize("damage", [without_first_store, with_operands_swapped])
def test_a_broken_normal_form(monkeypatch, damage):
    breaking(monkeypatch, frames, "normalize", damage)
    assert blamed(lowered_anew(), (V3,), "grad") == "normalize"


@pytest.mark.parametrize("damage", [without_first_store, with_operands_swapped])
def test_a_broken_specialiser(monkeypatch, damage):
    breaking(monkeypatch, Specializer, "specialize", damage)
    assert blamed(lowered_anew(), (V3,), "grad") == "specialize"


@pytest.mark.parametrize("name", ["own-arguments", "watched", "unread", "unchanged", "detach"])
def test_a_broken_pass_of_the_primal(monkeypatch, name):
    breaking(monkeypatch, pass_named(name), "run", with_operands_swapped)
    assert blamed(lowered_anew(), (V3,), "grad") == name


def test_an_argument_that_is_not_copied(monkeypatch):
    monkeypatch.setattr(pipeline, "own_arguments", lambda function, context, changes: (function_as(function), []))
    assert blamed(into_argument, (V3,), "grad") == "own-arguments"


def function_as(function):
    """The same function, another object."""
    return ir.replace(function, doc="as it was")


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_a_reverse_sweep_without_the_reverse_of_stores(monkeypatch, mode):
    monkeypatch.setattr(stores, "store", lambda self, statement, sweep: None)
    assert blamed(stored, (V3,), mode) == "reverse"


def keeps_an_array(x):
    u, kept = x.copy(), x * 0.0
    for k in range(3):
        u[0] *= 0.5
        u = u * 0.9
        if k == 1:
            kept = u
    return kept @ x


def test_adjoints_that_are_placed_as_if_arrays_were_apart(monkeypatch):
    """The run says which variables are one array, whatever the derivative comes to."""
    monkeypatch.setattr(Sharing, "_joined", lambda self, s, ends, later: {})
    with pytest.raises(InternalError, match=r"kept\S* and \S+ are one array where it changes, with two adjoints"):
        checked(keeps_an_array, (np.array([0.7, 1.3]),), "grad", 0)


def test_a_reverse_sweep_without_the_reverse_of_branches(monkeypatch):
    monkeypatch.setattr(control, "branch", lambda self, statement, sweep: None)
    assert blamed(branching, (V3,), "grad") == "reverse"


def test_a_forward_mode_that_drops_a_store(monkeypatch):
    original = pipeline.Joint.build
    monkeypatch.setattr(pipeline.Joint, "build", lambda self: without_first_store(original(self)))
    assert blamed(stored, (V3,), "jvp") == "forward"


def test_arithmetic_of_cotangents_that_is_wrong(monkeypatch):
    original = cotangents.multiply

    def broken(builder, g, p, span):
        return original(builder, g, p, span) if builder.context.naive else original(builder, g, g, span)

    monkeypatch.setattr(cotangents, "multiply", broken)
    assert blamed(branching, (V3,), "grad") == "cotangents"


# --- safety checks that are switched off ------------------------------------------------------------------------------


def test_shared_operations_around_a_store(monkeypatch):
    monkeypatch.setattr(subexpressions, "_changed_by", lambda statement: None)
    monkeypatch.setattr(passes.VERSIONS, "run", lambda function, context: function)
    monkeypatch.setenv("S2S_CHECK_IR", "0")
    assert blamed(read_before_and_after, (V3,), "grad") == "common-subexpressions"


def test_text_that_is_not_what_the_last_pass_made(monkeypatch):
    original = pipeline.emit

    def broken(*args, **kwargs):
        made = original(*args, **kwargs)
        return dataclasses.replace(made, text=made.text.replace("3.0", "2.0"))

    monkeypatch.setattr(pipeline, "emit", broken)
    assert blamed(stored, (V3,), "grad") == "emit"
