"""Functions that nothing differentiated leads to are not watched, and are where something does after all."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.recorded import entry, trust
from s2s.recorded.state import ACTIVE


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    monkeypatch.setattr(trust, "_KNOWN", type(trust._KNOWN)())
    WATCHED.clear()
    STATE.clear()


WATCHED = []
STATE = {}
WEIGHTS = np.array([1.5, 2.5])


def settings(n):
    WATCHED.append(bool(ACTIVE))
    return {"rate": 1.5 + n, "kinds": ("a", "b")}


def central(f, x, step=1e-6):
    units = step * np.eye(len(x))
    return np.array([(f(x + e) - f(x - e)) / (2.0 * step) for e in units])


def check(f, calls=12, begin=lambda k: None):
    """Hold all calls against differences, in both modes."""
    gradient = s2s.grad(f)
    for k in range(calls):
        x = np.array([0.4, 1.3]) + 0.1 * k
        begin(k)
        found = gradient(x)
        tangent = s2s.jvp(f, (x,), (np.array([1.0, -0.5]),))[1]
        begin(k)
        expected = central(f, x)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(tangent, expected @ [1.0, -0.5], rtol=1e-6, atol=1e-8)


def test_what_nothing_leads_to_is_watched_in_calls_that_are_checked():
    def f(x):
        return np.sum(np.sin(x) * settings(2)["rate"])

    gradient, watched = s2s.grad(f), []
    for _ in range(8):
        WATCHED.clear()
        np.testing.assert_allclose(gradient(np.array([0.4, 1.3])), 3.5 * np.cos([0.4, 1.3]))
        watched.append(WATCHED[0])
    assert watched == [True, False, True, False, False, False, True, False]


def test_it_is_always_watched_where_all_is_checked(monkeypatch):
    monkeypatch.setattr(entry, "is_always_checked", lambda: True)

    def f(x):
        return np.sum(np.sin(x) * settings(2)["rate"])

    gradient = s2s.grad(f)
    for _ in range(4):
        WATCHED.clear()
        gradient(np.array([0.4, 1.3]))
        assert WATCHED[0]


def of_globals():
    return np.sum(STATE["x"] ** 3)


def test_what_is_found_in_global_variables():
    def f(x):
        STATE["x"] = x
        return of_globals() * settings(1)["rate"]

    check(f)


@pytest.mark.parametrize("first", [1, 4, 7])
def test_what_comes_there_later(first):
    """A call in which a function meets what is differentiated for the first time is recorded once more."""
    def f(x):
        STATE["x"] = x if STATE["calls"] >= first else np.array([0.3, 0.2])
        print(end="f")
        return np.sum(x * x) + of_globals()

    check(f, begin=lambda k: STATE.update(calls=k))


def test_a_call_that_is_recorded_once_more_prints_once(capsys):
    def f(x):
        print("f")
        STATE["x"] = x if STATE["is_moving"] else np.array([0.3, 0.2])
        return np.sum(x * x) + of_globals()

    gradient, x = s2s.grad(f), np.array([0.4, 1.3])
    STATE["is_moving"] = False
    for _ in range(2):
        np.testing.assert_allclose(gradient(x), 2.0 * x)
    capsys.readouterr()
    STATE["is_moving"] = True
    np.testing.assert_allclose(gradient(x), 2.0 * x + 3.0 * x**2)
    assert capsys.readouterr().out == "f\n"


def double_weights():
    WEIGHTS[:] = 2.0 * WEIGHTS


def halve_weights():
    WEIGHTS[:] = 0.5 * WEIGHTS


def test_arrays_that_steps_hold():
    def f(x):
        y = np.sum(WEIGHTS * np.sin(x))
        double_weights()
        z = np.sum(WEIGHTS * np.cos(x))
        halve_weights()
        return y * z

    check(f)


def numbers():
    for _ in range(3):
        yield np.sum(STATE["x"] ** 2)


def made():
    return [numbers()]


def test_generators_that_run_later():
    def f(x):
        sources = made()
        STATE["x"] = np.sin(x)
        return sum(next(sources[0]) for _ in range(2)) * x[0]

    check(f)


def from_text(text):
    return float(text.split(":")[1])


def test_texts():
    gradient = s2s.grad(lambda x: np.sum(x) * from_text(f"scale: {3.0 * STATE['scale']}"))
    for scale in (1.0, 1.0, 2.0):
        STATE["scale"] = scale
        np.testing.assert_allclose(gradient(np.array([0.4, 1.3])), [3.0 * scale, 3.0 * scale])
    of_a_number = s2s.grad(lambda x: np.sum(x) * from_text(f"scale: {x[0] if STATE['scale'] > 1.0 else 2.0}"))
    STATE["scale"] = 1.0
    for _ in range(2):
        np.testing.assert_allclose(of_a_number(np.array([0.4, 1.3])), [2.0, 2.0])
    STATE["scale"] = 2.0
    with pytest.raises(NoDerivativeError):
        of_a_number(np.array([0.4, 1.3]))


def test_texts_that_are_chosen_without_a_branch():
    def f(x):
        y = 3.0 * x[0]
        return np.sum(x) * from_text(f"scale: {[2.0, y][STATE['is_y']]}") + y

    gradient, x = s2s.grad(f), np.array([0.4, 1.3])
    STATE["is_y"] = False
    for _ in range(2):
        np.testing.assert_allclose(gradient(x), [5.0, 2.0])
    STATE["is_y"] = True
    with pytest.raises(NoDerivativeError):
        gradient(x)


SETTING = 1.0


def set_global(value):
    global SETTING
    SETTING = value


def of_setting():
    return np.sum(SETTING**3)


class Keeper:
    pass


def into_a_dict(value):
    STATE["x"] = value


def into_an_attribute(value):
    Keeper.x = value


def into_a_list(value):
    STATE["list"] = [value]


def appended(value):
    STATE["list"] = kept = []
    kept.append(value)


def by_setattr(value):
    setattr(Keeper, "x", value)  # noqa: B010


def into_an_array(value):
    STATE["array"] = array = np.empty(1, object)
    array[0] = value


STORES = {
    "global": (set_global, of_setting),
    "dict": (into_a_dict, of_globals),
    "attribute": (into_an_attribute, lambda: np.sum(Keeper.x**3)),
    "list": (into_a_list, lambda: np.sum(STATE["list"][0] ** 3)),
    "append": (appended, lambda: np.sum(STATE["list"][0] ** 3)),
    "setattr": (by_setattr, lambda: np.sum(Keeper.x**3)),
    "array of objects": (into_an_array, lambda: np.sum(STATE["array"][0] ** 3)),
    "update": (lambda value: STATE.update(x=value), of_globals),
    "object in a dict": (lambda value: STATE.update(node=Node(value, None)), lambda: np.sum(STATE["node"].value ** 3)),
    "closure": (lambda value: STATE.update(get=lambda: value), lambda: np.sum(STATE["get"]() ** 3)),
}


@pytest.mark.parametrize("store, read", STORES.values(), ids=STORES)
def test_what_is_chosen_without_a_branch(store, read):
    """The steps are the same whether what is stored depends on what is differentiated or not."""
    def f(x):
        values = [np.array([0.3, 0.2]), x]
        store(values[STATE["calls"] > 3])
        return np.sum(x * x) + read()

    check(f, begin=lambda k: STATE.update(calls=k))


def test_what_a_closure_holds_is_chosen_without_a_branch():
    def f(x):
        chosen = [np.array([0.3, 0.2]), x][STATE["calls"] > 3]

        def inner():
            return np.sum(chosen**3)

        return np.sum(x * x) + inner()

    check(f, begin=lambda k: STATE.update(calls=k))


def called(function):
    return function()


def test_functions_that_hold_what_is_differentiated():
    def f(x):
        scale = called(lambda: settings(3)["rate"])
        return called(lambda: np.sum(x**2)) * scale

    check(f)


class Node:
    def __init__(self, value, following):
        self.value = value
        self.following = following


def sum_of(node):
    total = 0.0
    while node is not None:
        total = total + node.value**2
        node = node.following
    return total


def test_what_is_far_inside_objects():
    def f(x):
        node = Node(x[0], Node(x[1], None))
        for _ in range(12):
            node = Node(2.0, node)
        return sum_of(node) * x[1]

    check(f)


def test_what_is_far_inside_objects_only_later():
    def f(x):
        node = Node(x[0] if STATE["calls"] > 3 else 1.0, None)
        for _ in range(12):
            node = Node(2.0, node)
        return sum_of(node) * x[1]

    check(f, begin=lambda k: STATE.update(calls=k))


def test_shapes_that_are_others_each_time():
    """Where a recording has another shape at each call, everything is watched in the end."""
    def f(x):
        settings(2)
        y = x
        for _ in range(STATE["calls"]):
            y = np.sin(y)
        return np.sum(y)

    gradient, watched = s2s.grad(f), []
    for k in range(24):
        STATE["calls"] = k + 1
        x = np.array([0.4, 1.3])
        WATCHED.clear()
        np.testing.assert_allclose(gradient(x), central(f, x), rtol=1e-6)
        watched.append(WATCHED[0])
    assert not all(watched) and all(watched[-2:])
