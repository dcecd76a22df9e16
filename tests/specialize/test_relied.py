"""Options, objects and kinds that are folded into code, and that a call which nobody has read changes while it runs:
what was folded before the call is right, what is taken after it is checked, and refused where it is another one."""

import numpy as np
import pytest
import scipy.signal

import s2s
from s2s.errors import ArgumentError
from tests.helpers import differences

X = np.array([0.3, 0.5, 0.7])


class Part:
    kind = "square"

    def __init__(self, mode, n):
        self.mode, self.n = mode, n

    def run(self, x):
        return self.n * np.sum(x**2 if self.mode == "square" else x**3)


class Wave(Part):
    def run(self, x):
        return np.sum(np.sin(x))


def wave(x):
    return np.sum(np.sin(x))


def square(x):
    return np.sum(x**2)


ACT = [None]
MODE = FLAG = HOOK = STEP = PAIR = NAMES = W = RATES = CONFIG = PART = CELL = None  # ``restore`` assigns them
exec("def change(t=0.0):\n    ACT[0]()\n    return 0.0", globals())


def restore():
    globals().update(
        MODE="square", FLAG=True, HOOK=None, STEP=square, PAIR=("square", 2), NAMES={"a"}, W=np.array([1.0, 2.0, 3.0]),
        RATES=[1.5], CONFIG={"mode": "square", "n": 2, "sub": {"flag": True}}, PART=Part("square", 2.0))
    PART.__dict__.update(inner=Part("square", 1.0), parts=[Part("square", 1.0), Part("cube", 2.0)])
    PART.same = PART.inner
    Part.kind, CELL.cell_contents = "square", "square"


def _with_cell():
    mode = "square"

    def in_a_cell(x):
        y = power(x, mode)
        change()  # noqa: F821
        return y * power(x, mode)

    return in_a_cell


def power(x, mode):
    return np.sum(x**2 if mode == "square" else x**3)


in_a_cell = _with_cell()
CELL = in_a_cell.__closure__[0]


def put(name, value):
    """What a call does: assign a variable of this module."""
    return lambda: globals().update({name: value})


def attribute(path, name, value):
    def act():
        owner = PART
        for step in path:
            owner = getattr(owner, step)
        setattr(owner, name, value)

    return act


def variable(x):
    y = power(x, MODE)
    change()  # noqa: F821
    return y * power(x, MODE)


def none_or_function(x):
    change()  # noqa: F821
    return np.sum(x**2) if HOOK is None else HOOK(x)


def function(x):
    y = STEP(x)
    change()  # noqa: F821
    return y * STEP(x)


def only_after(x):
    change()  # noqa: F821
    return np.sum(x**2 if FLAG else x**3)


def in_the_next_iteration(x):
    s = 0.0
    for _ in range(3):
        s = s + power(x, MODE)
        change()  # noqa: F821
    return s


def loop_test(x):
    s, k = 0.0, 0
    while FLAG and k < 5:
        s, k = s + np.sum(x**2), k + 1
        change()  # noqa: F821
    return s


def in_one_branch(x):
    if x[0] > 0.0:
        change()  # noqa: F821
    return np.sum(x**2 if FLAG else x**3)


def asks_variable(x):
    return power(x, MODE)


def in_a_callee(x):
    y = asks_variable(x)
    sorted([2, 1], key=change)  # noqa: F821
    return y * asks_variable(x)


def attribute_of_an_object(x):
    y = PART.inner.run(x)
    change()  # noqa: F821
    return y * PART.inner.run(x)


def object_of_an_object(x):
    y = np.sum(x) * PART.inner.n
    change()  # noqa: F821
    return y * np.sum(x) * PART.inner.n


def two_names_of_one(x):
    y = np.sum(x) * PART.inner.n * PART.same.n
    change()  # noqa: F821
    return y * np.sum(x) * PART.inner.n * PART.same.n


def of_a_class(x):
    y = power(x, PART.kind)
    change()  # noqa: F821
    return y * power(x, Part.kind)


def whether_there(x):
    y = np.sum(x**2)
    change()  # noqa: F821
    return y * (np.sum(x) if hasattr(PART, "extra") else np.sum(x**2))


def items_of_a_dict(x):
    y = power(x, CONFIG["mode"]) * CONFIG["n"]
    change()  # noqa: F821
    return y * power(x, CONFIG["mode"]) * np.sum(x if CONFIG["sub"]["flag"] else x**3)


def items_of_a_tuple(x):
    change()  # noqa: F821
    return power(x, PAIR[0]) * PAIR[1]


def among_names(x):
    change()  # noqa: F821
    return np.sum(x) if "a" in NAMES else np.sum(x**2)


def walked(x):
    change()  # noqa: F821
    return sum(part.run(x) for part in PART.parts)


def length(x):
    change()  # noqa: F821
    return np.sum(x) * sum(RATES)


def kind_of_an_array(x):
    y = np.sum(W * x)
    change()  # noqa: F821
    return y * np.sum(W * x)


def caught(x):
    try:
        change()  # noqa: F821
        y = power(x, MODE) / np.linalg.det(np.eye(2) * x[0])
    except Exception:
        y = np.sum(x)
    return y


def derivative_inside(x):
    change()  # noqa: F821
    return np.sum(s2s.grad(asks_variable)(x) * x)


CHANGED = [
    (variable, put("MODE", "cube"), "MODE"), (none_or_function, put("HOOK", wave), "HOOK"),
    (function, put("STEP", wave), "STEP"), (only_after, put("FLAG", False), "FLAG"),
    (in_the_next_iteration, put("MODE", "cube"), "MODE"), (loop_test, put("FLAG", False), "FLAG"),
    (in_one_branch, put("FLAG", False), "FLAG"), (in_a_callee, put("MODE", "cube"), "MODE"),
    (in_a_cell, lambda: setattr(CELL, "cell_contents", "cube"), "mode"),
    (attribute_of_an_object, attribute(["inner"], "mode", "cube"), "PART.inner.mode"),
    (attribute_of_an_object, attribute(["inner"], "run", wave), "PART.inner.run"),
    (attribute_of_an_object, attribute([], "inner", Wave("square", 1.0)), "PART.inner"),
    (object_of_an_object, attribute([], "inner", Part("square", 3.0)), "PART.inner"),
    (two_names_of_one, attribute([], "same", Part("square", 3.0)), "PART.same"),
    (of_a_class, lambda: setattr(Part, "kind", "cube"), "Part.kind"),
    (whether_there, attribute([], "extra", 1), "PART.extra"),
    (items_of_a_dict, lambda: CONFIG.update(mode="cube"), "CONFIG['mode']"),
    (items_of_a_dict, lambda: CONFIG["sub"].update(flag=False), "CONFIG['sub']['flag']"),
    (items_of_a_dict, lambda: CONFIG.pop("n"), "CONFIG"), (items_of_a_tuple, put("PAIR", ("cube", 2)), "PAIR"),
    (among_names, lambda: NAMES.clear(), "NAMES"), (walked, lambda: PART.parts.reverse(), "PART.parts[0]"),
    (walked, lambda: PART.parts.append(Part("cube", 1.0)), "PART.parts"), (length, lambda: RATES.append(1.0), "RATES"),
    (kind_of_an_array, put("W", np.ones(1)), "W"), (caught, put("MODE", "cube"), "MODE"),
    (derivative_inside, put("MODE", "cube"), "MODE"),
]  # fmt: skip
NAMED = [f"{f.__name__}-{name}" for f, _, name in CHANGED]


def modes(f):
    """The derivative by both modes."""
    return lambda: s2s.grad(f)(X), lambda: s2s.jacfwd(f)(X)


@pytest.mark.parametrize(("f", "act", "name"), CHANGED, ids=NAMED)
def test_what_a_call_changes_is_refused_where_code_relies_on_it(f, act, name):
    for derivative in modes(f):
        restore()
        ACT[0] = act
        with pytest.raises(ArgumentError) as refusal:
            derivative()
        assert str(refusal.value).startswith(f"`{name}` is changed by a call that is not read, ")
        assert "[S2S518]" in str(refusal.value)


@pytest.mark.parametrize("f", dict.fromkeys(f for f, _, _ in CHANGED))
def test_calls_that_change_nothing(f):
    restore()
    ACT[0] = lambda: None
    want = differences(f, X)
    for derivative in modes(f):
        np.testing.assert_allclose(derivative(), want, rtol=1e-6)


def before_only(x):
    y = power(x, MODE) * PART.inner.run(x)
    change()  # noqa: F821
    return y * np.sum(W * x) * PART.n


@pytest.mark.parametrize("act", [
    put("MODE", "cube"), attribute(["inner"], "mode", "cube"), attribute([], "n", 3.0), put("W", np.ones(3)),
    lambda: None,
])  # fmt: skip
def test_what_is_not_relied_on_later_may_change(act):
    ACT[0] = act

    def primal(x):
        restore()
        return before_only(x)

    want = differences(primal, X)
    for derivative in modes(before_only):
        restore()
        np.testing.assert_allclose(derivative(), want, rtol=1e-6)


# --- what the program has stored itself -------------------------------------------------------------------------------


def stored_number(x):
    PART.n = PART.n + 1.0
    y = np.sum(x) * PART.n
    change()  # noqa: F821
    return y * PART.n


def stored_option(x):
    s, PART.mode = 0.0, "square"
    for _ in range(2):
        s = s + power(x, PART.mode)
        change()  # noqa: F821
    return s


def stored_object(x):
    PART.inner = PART.parts[1]
    y = np.sum(x) * PART.inner.n
    change()  # noqa: F821
    return y * np.sum(x) * PART.inner.n


STORED = [
    (stored_number, lambda: setattr(PART, "n", np.ones(3))), (stored_option, attribute([], "mode", "cube")),
    (stored_object, attribute([], "inner", Part("square", 9.0))),
]  # fmt: skip


@pytest.mark.parametrize(("f", "act"), STORED)
def test_what_the_program_has_stored_is_refused_where_a_call_replaces_it(f, act):
    for derivative in modes(f):
        restore()
        ACT[0] = act
        with pytest.raises(ArgumentError, match=r"\[S2S518\]"):
            derivative()


def check_stored(f):
    def primal(x):
        restore()
        return f(x)

    want = differences(primal, X)
    for derivative in modes(f):
        restore()
        np.testing.assert_allclose(derivative(), want, rtol=1e-6)


def test_what_the_program_has_stored_may_stay_or_be_another_number():
    ACT[0] = lambda: None
    for f, _ in STORED:
        check_stored(f)
    ACT[0] = lambda: setattr(PART, "n", PART.n * 2.0)
    check_stored(stored_number)


def test_second_order():
    restore()
    ACT[0] = lambda: None
    np.testing.assert_allclose(s2s.hessian(only_after)(X), 2.0 * np.eye(3), atol=1e-12)
    for second in (s2s.hessian, lambda f: s2s.jacfwd(s2s.grad(f))):
        restore()
        ACT[0] = put("FLAG", False)
        with pytest.raises(ArgumentError, match=r"\[S2S518\]"):
            second(only_after)(X)


def test_a_check_stands_where_the_code_relies_on_it_and_nowhere_else():
    def twice(x):
        y = power(x, MODE)
        change()  # noqa: F821
        y = y * power(x, MODE)
        return y * power(x, MODE)

    def harmless(x):
        y = power(x, MODE)
        print(len(RATES), f"{PART.n}")
        np.random.default_rng(0).normal()
        return y * power(x, MODE)

    restore()
    ACT[0] = lambda: None
    assert s2s.source(twice, X).count('rt.check_option(MODE, "square", "MODE")') == 1
    assert "rt." not in s2s.source(harmless, X)


def test_what_bodies_of_rules_read_needs_no_check():
    def f(x):
        return np.sum(scipy.signal.savgol_filter(x, 3, 2) ** 2)

    x = np.linspace(0.1, 1.0, 9)
    np.testing.assert_allclose(s2s.grad(f)(x), differences(f, x), rtol=1e-6)


# --- names of variables that attributes have too ----------------------------------------------------------------------

func = np.sin


def by_func(x):
    y = func(x)
    change()  # noqa: F821
    return np.sum(y * func(x))


class Scaled(Part):
    def __init__(self, n):
        super().__init__("square", n)


def made_after_a_call(x):
    change()  # noqa: F821
    return np.sum(Scaled(x[0]).n * x)


def test_a_variable_may_be_called_as_an_attribute_of_functions():
    """``func`` is an attribute of partial functions, which stays, and here a variable, which does not."""
    for derivative in modes(by_func):
        globals().update(func=np.sin)
        ACT[0] = lambda: globals().update(func=np.cos)
        with pytest.raises(ArgumentError, match="`func` is changed by a call"):
            derivative()
    globals().update(func=np.sin)
    ACT[0] = lambda: None
    for derivative in modes(by_func):
        np.testing.assert_allclose(derivative(), np.sin(2 * X), rtol=1e-12)


def test_methods_that_call_super_after_a_call():
    ACT[0] = lambda: None
    for derivative in modes(made_after_a_call):
        np.testing.assert_allclose(derivative(), differences(made_after_a_call, X), rtol=1e-6)
