"""Variables of modules that a program assigns have the value and the derivative that Python gives them, and are left as
the program leaves them."""

import contextlib
import functools
import math
import operator
import sys

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import differences
from tests.specialize.heap import levels

X, T = np.array([0.7, 1.3, 0.4]), np.array([1.0, -2.0, 0.5])

COUNT, MODE, LAST, OTHER, TABLE, PAIR, BOX, WORK = 0, "plain", 1.0, 2.0, None, None, None, math.sin
FIRST = {name: globals()[name] for name in ("COUNT", "MODE", "LAST", "OTHER", "TABLE", "PAIR", "BOX", "WORK")}
ALL = globals()


class Box:
    def __init__(self, w):
        self.w = w

    def __repr__(self):
        return f"Box({self.w})"


def reset():
    globals().update(FIRST)
    globals().pop("FRESH", None)
    levels.reset()


@pytest.fixture(autouse=True)
def _as_at_first():
    reset()
    yield
    reset()


def left():
    """What the variables hold."""
    found = {name: globals()[name] for name in (*FIRST, "FRESH") if name in globals()}
    return repr((found, levels.LEVEL, levels.FACTOR, levels.step is levels.twice))


# --- programs ---------------------------------------------------------------------------------------------------------


def counted(x):
    global COUNT
    COUNT += 1
    return np.sum(x**3) * COUNT


def counted_in_a_loop(x):
    global COUNT
    total = 0.0
    for v in x:
        COUNT += 1
        total = total + v**2 * COUNT
    return total


def carried(x):
    global LAST
    for _ in range(4):
        LAST = math.sin(LAST) * x[0] + x[1]
    return LAST * x[2]


def on_a_path(x):
    global LAST
    if x[0] > 0.1:
        LAST = x[0] ** 2
    return LAST * x[1]


def until_it_is_large(x):
    global COUNT, LAST
    LAST = x[0]
    while LAST < 40.0:
        LAST = LAST * 2.0 + x[1]
        COUNT += 1
    return LAST * COUNT


def returned_early(x):
    global LAST
    for v in x:
        LAST = LAST + v
        if LAST > 2.5:
            return LAST * v
    return LAST


def in_no_iteration(x):
    global LAST
    for _ in range(len(x) - 3):
        LAST = x[0]
    return LAST * x[1]


def exchanged(x):
    global LAST, OTHER
    LAST, OTHER = OTHER * x[0], LAST
    return LAST * OTHER * x[1]


def as_loop_variable(x):
    global LAST
    for LAST in x:  # noqa: B007
        pass
    return LAST * x[0]


def applied(x):
    return np.sum(x) if MODE == "plain" else np.sum(x * x)


def set_mode(mode):
    global MODE
    MODE = mode


class Mode:
    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.before = MODE
        set_mode(self.mode)

    def __exit__(self, *problem):
        set_mode(self.before)


def under_a_manager(x):
    with Mode("square"):
        y = applied(x)
    return y * applied(x) ** 2


@contextlib.contextmanager
def mode(name):
    global MODE
    before, MODE = MODE, name
    try:
        yield
    finally:
        MODE = before


def under_a_generated_manager(x):
    with mode("square"):
        y = applied(x)
    return y * applied(x) ** 2


def set_back_at_the_end(x):
    global MODE
    before, MODE = MODE, "square"
    try:
        y = applied(x)
    finally:
        MODE = before
    return y * applied(x)


class Last:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        global LAST
        self.before, LAST = LAST, self.value

    def __exit__(self, *problem):
        global LAST
        LAST = self.before


def by_last(x):
    return LAST * x[1] * x[2]


def differentiated_under_a_manager(x):
    with Last(x[0]):
        y = by_last(x)
    return y * by_last(x)


def left_in_another_mode(x):
    y = applied(x)
    set_mode("square" if MODE == "plain" else "plain")
    return y * x[0]


def by_the_run(x):
    global MODE
    total = 0.0
    for v in x:
        MODE = "square" if v > 0.5 else "plain"
        total = total + applied(x * v)
    return total


def table():
    global TABLE
    if TABLE is None:
        TABLE = np.array([1.0, 2.0, 3.0])
    return TABLE


def made_in_the_first_call(x):
    return np.sum(x * table()) * np.sum(table() * x**2)


def from_call_to_call(x):
    global TABLE
    before = x * 0.5 if TABLE is None else TABLE
    TABLE = x * 1.0
    return np.sum((x - before) ** 2)


def read_before_it_is_assigned(x):
    global TABLE
    TABLE = np.ones(3) if TABLE is None else TABLE
    y = np.sum(TABLE * np.sin(x))
    TABLE = TABLE * 2.0
    return y * np.sum(TABLE * x)


def in_nested_functions(x):
    def inner(v):
        global COUNT, LAST
        COUNT += 1
        LAST = LAST + v
        return LAST * COUNT

    return inner(x[0]) + inner(x[1])


def late_in_a_function(x):
    global LAST
    by = [lambda v: v * LAST]
    LAST = x[0]
    return by[0](x[1])


def a_list(x):
    global PAIR
    PAIR = [x[0], x[1]]
    PAIR.append(x[2])
    return PAIR[0] * PAIR[1] + sum(PAIR)


def an_object(x):
    global BOX
    BOX = Box(x[0])
    BOX.w = BOX.w * x[1]
    return BOX.w * x[2]


def another_object(x):
    global BOX
    BOX = Box(2.0)
    before = BOX
    BOX = Box(x[1])
    before.w = before.w * x[0]
    return before.w * BOX.w


def object_that_is_moved(x):
    global BOX, PAIR
    if BOX is None:
        BOX = Box(2.0)
    before = BOX
    BOX = Box(x[1])
    before.w = before.w * x[0]
    PAIR = before
    return before.w * BOX.w


def another_function(x):
    global WORK
    y = WORK(x[0])
    WORK = math.cos if WORK is math.sin else math.sin
    return y * WORK(x[1])


def add_ten():
    global COUNT
    COUNT = COUNT + 10
    return 1


def read_before_the_value(x):
    global COUNT
    COUNT += add_ten()
    return np.sum(x) * (COUNT + 1)


def countdown(x, n):
    global COUNT
    COUNT += 1
    return x if n == 0 else countdown(math.sin(x), n - 1) * 1.5 + COUNT


def in_a_recursion(x):
    return countdown(x[0], len(x)) * COUNT


def made_anew(x):
    global FRESH
    FRESH = x[0]
    return FRESH * x[1]


def hides_a_builtin(x):
    global FRESH, abs
    abs = math.fabs
    y = abs(x[0])
    FRESH, abs = 1.0, ABS
    return y * x[1]


ABS = abs


def of_another_module(x):
    levels.FACTOR = x[0]
    return levels.scaled(np.sum(x**2)) * levels.FACTOR


def grows_in_another_module(x):
    levels.FACTOR *= 2.0
    levels.raise_level()
    return levels.scaled(np.sum(x**2)) * levels.LEVEL * levels.level()


def by_setattr(x):
    setattr(levels, "FACTOR", 5.0)  # noqa: B010
    setattr(sys.modules[__name__], "MODE", "square")
    return levels.scaled(x[0]) * applied(x)


def by_other_names(x):
    from tests.specialize.heap import levels as found

    found.FACTOR = x[0] * 2.0
    return operator.attrgetter("FACTOR")(levels) * x[1] + getattr(sys.modules[levels.__name__], "FACTOR", 1.0)


def replaced_function(x):
    y = levels.step(x[0])
    levels.step = math.cos
    y = y * levels.step(x[1])
    levels.step = levels.twice
    return y


def after_a_call_that_is_not_read(x):
    levels.LEVEL += 1
    return np.sum(x) * levels.unread() * levels.LEVEL


@functools.cache
def lowered(mode, modes, message="{} is none of {}"):
    if mode.lower() not in [one.lower() for one in modes]:
        raise ValueError(message.format(mode, modes))
    return mode.lower()


def by_a_cached_function(x):
    global MODE
    MODE = lowered("Square" if MODE == "plain" else "Plain", ("Plain", "Square"))
    return applied(x)


def of_unknown_kind(x):
    global MODE
    MODE = levels.unread_mode()
    y = np.sum(x) * levels.unread()
    return y * applied(x)


@s2s.checkpoint
def block(v):
    global COUNT, LAST
    COUNT += 1
    LAST = LAST + 1.0
    return np.sin(v) * v * LAST


def run_again(x):
    return np.sum(block(block(x))) * LAST


def checkpointed_loop(x):
    global LAST
    y = x
    for _ in s2s.checkpointed(range(7), 2):
        LAST = LAST * y[0]
        y = np.sin(y) * LAST
    return np.sum(y)


def a_derivative_counts(x):
    global COUNT
    COUNT += 1
    slope = s2s.grad(cubed)
    return slope(x[0]) * slope(x[1]) * x[2] * COUNT * (3.0 if MODE == "square" else 2.0)


def cubed(v):
    global COUNT, MODE
    COUNT += 1
    MODE = "square"
    return v**3


PROGRAMS = [
    counted, counted_in_a_loop, carried, on_a_path, until_it_is_large, returned_early, in_no_iteration, exchanged,
    as_loop_variable, under_a_manager, under_a_generated_manager, set_back_at_the_end,
    differentiated_under_a_manager, left_in_another_mode, by_the_run, made_in_the_first_call, from_call_to_call,
    read_before_it_is_assigned, in_nested_functions, late_in_a_function, a_list, an_object, another_object,
    object_that_is_moved, another_function, read_before_the_value, in_a_recursion, made_anew, hides_a_builtin,
    of_another_module, grows_in_another_module, by_setattr, by_other_names, replaced_function,
    after_a_call_that_is_not_read, by_a_cached_function, of_unknown_kind, run_again, checkpointed_loop,
    a_derivative_counts,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_two_calls_do_what_the_program_does(program):
    derivatives, states = [], []
    for calls in (0, 1):

        def from_there(x, calls=calls):
            reset()
            for _ in range(calls):
                program(X)
            return program(x)

        derivatives.append(differences(from_there, X))
        from_there(X)
        states.append(left())
    reset()
    gradient = s2s.grad(program)
    for expected, state in zip(derivatives, states, strict=True):
        np.testing.assert_allclose(gradient(X), expected, rtol=1e-6, atol=1e-9)
        assert left() == state
    reset()
    for expected, state in zip(derivatives, states, strict=True):
        np.testing.assert_allclose(s2s.jvp(program, (X,), (T,))[1], expected @ T, rtol=1e-6, atol=1e-9)
        assert left() == state


@pytest.mark.parametrize("program", [
    counted, carried, under_a_manager, made_in_the_first_call, of_another_module, run_again, in_nested_functions,
], ids=lambda f: f.__name__)  # fmt: skip
def test_second_derivatives_do_it_once(program):
    def from_there(x):
        reset()
        return s2s.grad(program)(x)

    expected = np.array([(from_there(X + h) - from_there(X - h)) / 2e-5 for h in 1e-5 * np.eye(3)])
    program(reset() or X)
    state = left()
    for derivative in (s2s.hessian(program), s2s.jacfwd(s2s.grad(program))):
        reset()
        np.testing.assert_allclose(derivative(X), expected, rtol=1e-5, atol=1e-6)
        assert left() == state


def test_a_pullback_does_nothing_again():
    value, pullback = s2s.vjp(in_nested_functions, X)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], [3.0, 2.0, 0.0])
    assert COUNT == 2 and value == pytest.approx((1.0 + X[0]) + 2.0 * (1.0 + X[0] + X[1]))


def test_modes_have_one_version_each():
    gradient = s2s.grad(left_in_another_mode)
    for _ in range(6):
        gradient(X)
    assert len(gradient.dispatcher.versions) == 2


def test_a_mode_that_is_an_equal_text_has_no_version_of_its_own():
    gradient = s2s.grad(by_a_cached_function)
    for k in range(6):
        gradient(X)
        set_mode("".join(MODE))
        lowered.cache_clear()
    assert len(gradient.dispatcher.versions) == 2


def test_what_a_cached_function_gives_for_options_is_known():
    text = s2s.source(by_a_cached_function, X)
    assert 'rt.record_variable(globals(), "MODE", "square")' in text and "lowered(" not in text


def test_what_has_been_assigned_elsewhere_is_seen(monkeypatch):
    gradient = s2s.grad(under_a_manager)
    gradient(X)
    monkeypatch.setitem(globals(), "MODE", "square")
    np.testing.assert_allclose(gradient(X), 6.0 * np.sum(X * X) ** 2 * X)
    assert MODE == "square"


def test_an_exception_leaves_what_was_done():
    def f(x):
        global COUNT
        with Mode("square"):
            COUNT = 5
            if x[0] > 0.5:
                raise ValueError("too large")
        return applied(x)

    for derivative in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (T,))):
        reset()
        with pytest.raises(ValueError, match="too large"):
            derivative(X)
        assert (COUNT, MODE) == (5, "plain")


def test_counters_of_libraries_are_no_options(tmp_path, monkeypatch):
    text = "COUNT, LEVEL = 0, 3\n\n\ndef tick(x):\n    global COUNT\n    COUNT += 1\n    return x * COUNT + LEVEL\n"
    (tmp_path / "ticking_library.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import ticking_library

    gradient = s2s.grad(lambda x: ticking_library.tick(x))
    assert [gradient(2.0) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0] and ticking_library.COUNT == 4
    assert len(gradient.dispatcher.versions) == 1


# --- what is refused --------------------------------------------------------------------------------------------------


def read_from_all(x):
    global LAST
    LAST = x[0] * 2.0
    return globals()["LAST"] * x[1]


def read_from_all_by_a_name(x):
    global LAST
    LAST = x[0] * 2.0
    return ALL["LAST"] * x[1]


def written_among_all(x):
    global LAST
    LAST = 2.0
    globals()["LAST"] = 5.0
    return x[0] * LAST


def read_from_vars(x):
    levels.FACTOR = x[0] * 2.0
    return vars(levels)["FACTOR"] * x[1]


def read_from_the_dict(x):
    levels.FACTOR = x[0] * 2.0
    return levels.__dict__["FACTOR"] * x[1]


def read_from_globals_of_a_function(x):
    levels.FACTOR = x[0] * 2.0
    return levels.scaled.__globals__["FACTOR"] * x[1]


def read_where_nobody_looks(x):
    levels.FACTOR = x[0]
    return x[1] * levels.unread()


def deleted(x):
    levels.FACTOR = 2.0
    del levels.FACTOR
    return x[0] * levels.FACTOR


def by_an_unknown_name(x):
    setattr(levels, "LEVEL" if x[0] > 1.0 else "FACTOR", 5.0)
    return levels.FACTOR * x[0]


def there_on_a_path_only(x):
    global FRESH
    if x[0] > 0.1:
        FRESH = 2.0
    return x[0] * FRESH


def changed_afterwards(x):
    global TABLE
    a = x * 2.0
    TABLE = a
    a[0] = 5.0
    return np.sum(TABLE * x)


def changed_in_a_later_iteration(x):
    global TABLE
    a = x * 2.0
    for k in range(3):
        a[k] = 5.0 * x[0]
        if k == 1:
            TABLE = a
    return np.sum(a * x)


def changed_by_a_nested_derivative(x):
    return s2s.grad(by_a_differentiated_value)(x[0]) * LAST


def by_a_differentiated_value(v):
    global LAST
    LAST = v * v
    return v**3


@pytest.mark.parametrize("program, code", [
    (read_from_all, "S2S108"),
    (read_from_all_by_a_name, "S2S108"),
    (written_among_all, "S2S108"),
    (read_from_vars, "S2S108"),
    (read_from_the_dict, "S2S108"),
    (read_from_globals_of_a_function, "S2S108"),
    (there_on_a_path_only, "S2S108"),
    (read_where_nobody_looks, "S2S139"),
    (deleted, "S2S113"),
    (by_an_unknown_name, "S2S113"),
    (changed_afterwards, "S2S131"),
    (changed_in_a_later_iteration, "S2S131"),
    (changed_by_a_nested_derivative, "S2S144"),
], ids=lambda f: getattr(f, "__name__", f))  # fmt: skip
def test_what_cannot_be_followed_is_refused(program, code):
    before = left()
    for derivative in (s2s.grad(program), lambda x: s2s.jvp(program, (x,), (T,))):
        with pytest.raises(DifferentiationError, match=rf"\[{code}\]"):
            derivative(X)
    assert left() == before
