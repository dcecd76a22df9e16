"""Speculation: what is specialised and cannot be used leaves no trace."""

import types

import numpy as np
import pytest

import s2s
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import UNKNOWN
from s2s.pipeline import derivative_of
from s2s.specialize.frames import Frame
from s2s.specialize.heap.live_objects import LiveObjects
from s2s.specialize.inlining import Inliner
from s2s.specialize.specializer import Specializer
from s2s.specialize.speculation import CONTAINERS, STAYS, fields_of, holders_of, speculate
from s2s.versions.assumptions import Assumptions

X = np.array([0.3, -0.7, 1.1])


class Config:
    def __init__(self, scale):
        self.scale = scale


CONFIG = Config([2.0, 3.0])


def checked(f, *args):
    """The gradient in both modes, against central differences."""
    step = 1e-6
    wanted = np.zeros_like(args[0])
    for k in range(len(wanted)):
        ahead, behind = args[0].copy(), args[0].copy()
        ahead[k] += step
        behind[k] -= step
        wanted[k] = (f(ahead, *args[1:]) - f(behind, *args[1:])) / (2 * step)
    np.testing.assert_allclose(s2s.grad(f)(*args), wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(*args), wanted, rtol=1e-7)


# --- programs -----------------------------------------------------------------------------------------------------


def test_a_checkpointed_range_before_what_is_refused():
    def tally(log, n):
        total = 0.0
        steps = s2s.checkpointed(range(n), 20)
        pair = [0.0]
        other = pair if n > 2 else [1.0]
        pair.append(1.0)  # refused: it may be the other one
        log.append(other)
        for i in steps:
            total += i
        return total

    def f(x, n):
        log = []
        return np.sum(np.sin(x) * tally(log, n))

    checked(f, X, 4)


def test_a_checkpointed_range_that_no_loop_takes_is_refused_all_the_same():
    def f(x, n):
        steps = s2s.checkpointed(range(n), 20)
        for i in range(n):
            x = x * np.cos(i * x)
        return np.sum(x) + len(steps)

    with pytest.raises(s2s.errors.DifferentiationError) as caught:
        s2s.grad(f)(X, 3)
    assert caught.value.diagnostic.code == "S2S154"


def of_global(log, n):
    count = len(CONFIG.scale)
    pair = [0.0]
    other = pair if n > 2 else [1.0]
    pair.append(1.0)  # refused: it may be the other one
    log.append(other)
    return count


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_a_version_depends_on_what_is_read_again(monkeypatch, derivative):
    """What a discarded block has read of an object is read anew after it, with the guard that belongs to it."""

    def f(x, n):
        log = []
        of_global(log, n)
        return np.sum(x) * (2.0 if len(CONFIG.scale) > 2 else 1.0)

    derived = derivative(f)
    for count, factor in ((2, 1.0), (3, 2.0), (2, 1.0), (5, 2.0), (1, 1.0)):
        monkeypatch.setattr(CONFIG, "scale", [1.0] * count)
        np.testing.assert_allclose(derived(X, 4), factor * np.ones(3), rtol=1e-14)


def test_a_version_depends_on_an_argument_that_is_read_again():
    def passive(log, config, n):
        count = len(config.scale)
        pair = [0.0]
        other = pair if n > 2 else [1.0]
        pair.append(1.0)  # refused: it may be the other one
        log.append(other)
        return count

    def f(x, config, n):
        log = []
        passive(log, config, n)
        return np.sum(x) * (2.0 if len(config.scale) > 2 else 1.0)

    derived = s2s.grad(f)
    for count, factor in ((2, 1.0), (3, 2.0), (2, 1.0)):
        np.testing.assert_allclose(derived(X, Config([1.0] * count), 4), factor * np.ones(3), rtol=1e-14)


def test_a_discarded_change_of_what_a_loop_runs_over():
    def passive(log, n):
        log.append(1.0)
        pair = [0.0]
        other = pair if n > 2 else [1.0]
        pair.append(1.0)  # refused: it may be the other one
        log.append(other)

    def f(x, n):
        items, log = [x, 2.0 * x], []
        total = 0.0
        for item in items:
            passive(log, n)
            total = total + np.sum(np.sin(item))
        return total

    checked(f, X, 4)


# --- the state ------------------------------------------------------------------------------------------------------


IMMUTABLE = (
    int, str, bool, type(None), tuple, frozenset, ir.Var, ir.Const, types.FunctionType, types.MethodType, Assumptions,
)
"""Types of fields that hold the same whatever is done with them."""


def specialised(fn, *values):
    """A specialiser that has specialised a function, and one of its frames."""
    made = Specializer(Context(), sweeps=derivative_of)
    made.specialize(fn, dict(zip(fn.__code__.co_varnames, values, strict=False)), {"x"})
    return made, Frame(fn, None)


def program(x, n):
    log = [x]
    for _ in s2s.checkpointed(range(n), 3):
        log[0] = log[0] * 2.0
    y = np.zeros(3)
    y[0] = np.sum(log[0])
    return y if n > 2 else CONFIG.scale[0] * y


def test_every_field_is_taken_back_or_named():
    specializer, frame = specialised(program, UNKNOWN, UNKNOWN)
    holders = list(holders_of(specializer, frame))
    seen = {}
    for holder in holders:
        stays = STAYS.get(type(holder).__name__, ())
        seen[type(holder).__name__] = {name for name, _ in fields_of(holder)}
        for name, value in fields_of(holder):
            is_holder = any(value is other for other in (specializer.context.evaluator, *holders))
            is_known = is_holder or type(value) in CONTAINERS or isinstance(value, IMMUTABLE)
            assert name in stays or is_known, f"{type(holder).__name__}.{name} is a {type(value).__name__}"
            is_of_program = isinstance(holder, LiveObjects) and name == "objects"  # no state of the specialiser
            if name not in stays and not is_of_program and type(value) is dict:
                inside = [v for v in value.values() if type(v) in (list, set)]
                assert not inside, f"{type(holder).__name__}.{name} holds what changes in place"
    for cls, names in STAYS.items():
        assert names <= seen[cls]


@pytest.mark.parametrize("how", ["raises", "discarded"])
def test_all_containers_come_back(how):
    """Whatever a block does to a field, in place or by another object, is undone."""
    specializer, frame = specialised(program, UNKNOWN, UNKNOWN)

    def state():
        return [
            (name, id(value), list(value.items()) if type(value) is dict else value.copy())
            for holder in holders_of(specializer, frame) for name, value in fields_of(holder)
            if type(value) in CONTAINERS and name not in STAYS.get(type(holder).__name__, ())
        ]

    before, builder = state(), Builder(specializer.context)
    try:
        with speculate(specializer, builder, frame) as speculation:
            speculation.builder.add(ir.Note("", "anything"))
            for holder in list(holders_of(specializer, frame)):
                for k, (name, value) in enumerate(list(fields_of(holder))):
                    if type(value) not in CONTAINERS or name in STAYS.get(type(holder).__name__, ()):
                        continue
                    mark = ir.Var("mark", k)
                    if k % 2 == 0:
                        value.clear()
                    if type(value) is dict:
                        value[mark] = mark
                    elif type(value) is set:
                        value.add(mark)
                    else:
                        value.append(mark)
                    if k % 3 == 0:
                        setattr(holder, name, type(value)())
            if how == "raises":
                raise ZeroDivisionError
            speculation.discard()
    except ZeroDivisionError:
        assert how == "raises"
    assert state() == before
    assert not builder.statements


def test_what_is_kept_is_written():
    specializer, _ = specialised(program, UNKNOWN, UNKNOWN)
    builder = Builder(specializer.context)
    with speculate(specializer, builder, optional=True) as speculation:
        assert specializer.followed == 1
        speculation.builder.add(ir.Note("", "something"))
        specializer.compared = True
        specializer.unused[None] = ir.Var("u")
    assert specializer.followed == 0
    assert len(builder.statements) == len(specializer.unused) == 1


def test_names_are_not_given_twice():
    context = Context()
    specializer = Specializer(context)
    with speculate(specializer, Builder(context)) as speculation:
        first = context.define("v", UNKNOWN)
        speculation.discard()
    assert context.define("v", UNKNOWN) != first


def test_the_key_of_a_sort_is_asked_once_for_each_item():
    """Where the order is known only at run time, nothing is left of having asked for it before."""

    def f(x):
        np.random.seed(3)
        first = sorted([1.0, 2.0, 0.5], key=lambda a: np.random.random())[0]
        return x * first * np.random.random()

    for derivative in (s2s.grad(f)(2.0), s2s.jacfwd(f)(2.0)):
        np.testing.assert_allclose(derivative, f(1.0), rtol=1e-12)


def unfollowed(n):
    pair = [0.0]
    other = pair if n > 2 else [1.0]
    pair.append(1.0)  # refused: it may be the other one
    return len(other)


def asks_it(n):
    items, size = [0.0], unfollowed(n)
    other = items if n > 2 else [1.0]
    items.append(1.0)  # refused as well
    return len(other) + size


def asks_it_too(n):
    items, size = [2.0], unfollowed(n)
    other = items if n > 1 else [1.0]
    items.append(1.0)
    return len(other) - size


def with_one(x, n):
    return np.sum(np.sin(x)) * asks_it(n)


def with_both(x, n):
    return np.sum(np.sin(x)) * asks_it(n) * asks_it_too(n) * asks_it(n) * unfollowed(n)


def test_what_could_not_be_followed_is_not_tried_again(monkeypatch):
    """What a call gives is tried out once for the same kinds of arguments, also within what is given up itself."""
    tried, follow = [], Inliner.inline
    monkeypatch.setattr(
        Inliner, "inline", lambda self, fn, *given: tried.append(fn.__name__) or follow(self, fn, *given))
    checked(with_one, X, 4)
    once = tried.count("unfollowed")
    checked(with_both, X, 4)
    assert tried.count("unfollowed") - once == 2 * once  # by itself it may be followed further than within another
