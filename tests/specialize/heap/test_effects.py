"""What a program changes of objects that live outside is done once for each derivative, as the program does it."""

import copy
import dataclasses

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import differences

X = np.array([0.7, 1.3, 0.4])


@dataclasses.dataclass
class Totals:
    n: int = 0
    total: float = 0.0
    log: list = dataclasses.field(default_factory=list)


class Slots:
    __slots__ = ("n", "v")

    def __init__(self):
        self.n = 0


class Checked:
    def __init__(self):
        self._v, self.sets = 0.0, 0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self.sets += 1
        self._v = value


class Counting:
    def __init__(self):
        object.__setattr__(self, "n", 0)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "n", self.n + 1)


class Part:
    def __init__(self):
        self.count = 0


class Tracker:
    calls_of_all = 0
    shared = []

    def __init__(self):
        self.calls, self.total, self.last, self.best, self.done = 0, 0.0, None, None, False
        self.hist, self.few, self.cache, self.names = [], [1.0, 2.0], {}, set()
        self.counts, self.w = {"a": 0, "b": {"c": 0}}, np.ones(3)
        self.part, self.parts, self.other = Part(), [Part(), Part()], None
        self.totals, self.slots, self.checked, self.counting = Totals(), Slots(), Checked(), Counting()

    def loss(self, x):
        self.calls += 1
        self.part.count += 1
        self.hist.append(x[0])
        return np.sum(x * x) * self.calls

    @s2s.differentiable
    def decorated(self, x):
        self.calls += 1
        return np.sum(x * x)


T = Tracker()
LOG = []


def restart(state=None):
    vars(T).clear()
    if state is None:
        T.__init__()
        Tracker.shared = []
    else:
        held, Tracker.shared, Tracker.calls_of_all = copy.deepcopy(state)
        vars(T).update(held)


def held():
    return copy.deepcopy((vars(T), Tracker.shared, Tracker.calls_of_all))


@pytest.fixture(autouse=True)
def restarted():
    restart()
    LOG.clear()
    yield
    restart()


def plain(found):
    """What an object holds, to be compared."""
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, (list, tuple)):
        return type(found)(map(plain, found))
    if isinstance(found, dict):
        return {key: plain(item) for key, item in found.items()}
    if isinstance(found, Slots):
        return found.n, getattr(found, "v", None)
    return plain(vars(found)) if hasattr(found, "__dict__") else found


def counter(x):
    T.calls += 1
    return np.sum(x * x)


def read_before_and_after(x):
    y = np.sin(x) * (T.calls + 1.0)
    T.calls += 1
    return np.sum(y * x * T.calls)


def in_loops(x):
    s = 0.0
    for i in range(3):
        T.calls += 1
        T.total += float(x[i])
        T.hist.append(s)
        Tracker.shared.append(i)
        s = s + x[i] ** 2 * T.calls
    while s < 20.0:
        T.calls += 1
        T.last = s = s * 1.5 + x[1]
    return s * T.calls


def on_a_path(x):
    if x[0] > 0.1:
        T.calls += 1
        T.extra = x[1] * 2
    else:
        T.last = 3
    return np.sum(x**2)


def lists_and_dicts(x):
    T.hist.append((1, "a", x))
    T.hist.extend([x[0], 2.0])
    T.cache["k"] = x[0] * x[1]
    T.names.add(3)
    T.few[0] = x[0] * T.few[1]
    T.counts["a"] += 1
    T.counts["b"]["c"] += 2
    return T.few[0] * x[1] * T.counts["b"]["c"]


def cached(x):
    if "k" not in T.cache:
        T.cache["k"] = x[0] * 3.0
    T.cache.update(a=x[0], b=2)
    return T.cache["k"] * T.cache.setdefault("c", 3.0) * x[1]


def arrays(x):
    y = x * x
    T.last = y
    T.pair = (y, {"y": y})
    y = y * 2.0
    T.w = T.w * 2.0 + y
    return np.sum(y * T.last * T.w)


def read_in_a_loop_and_replaced(x):
    s = 0.0
    for i in range(3):
        if x[i] > 0.45:
            k = T.total + 2.0
            s = s + np.sin(k * x[i] * T.w[i]) * s + x[i] * T.total + x[i]
    T.total, T.w = 9.0, np.zeros(3)
    return s


def changed_in_place_before(x):
    b = np.zeros(3)
    b[:] = x
    b[0] = x[1] * b[0]
    b *= np.sin(b)
    T.last, T.other = b, [b]
    return np.sum(b * b)


def best_value(x):
    y = np.sum(x**2)
    if T.best is None or y < T.best:
        T.best = y
    if not T.done:
        T.done = True
    return y * x[0]


def classes(x):
    T.slots.n += 1
    T.slots.v = x[0]
    T.totals.n += 1
    T.totals.total += x[0] * x[1]
    T.totals.log.append(T.totals.total)
    T.checked.v = x[0] ** 2
    T.counting.w = x[0] ** 2
    Tracker.calls_of_all += 1
    setattr(T, "calls", T.calls + 1)
    return x[0] ** 2 * T.slots.v + T.totals.total * x[2] + T.checked.v * x[1] * T.counting.w


def made_by_the_program(x):
    T.hist = []
    for i in range(3):
        T.hist.append(x[i] ** 2)
    T.cache = made = {"a": [], "b": Part()}
    made["a"].append(x[0])
    made["b"].v = x * 2
    T.other = Part()
    T.other.count += 5
    return sum(T.hist) * made["a"][0] * T.other.count * T.cache["b"].v[1]


def parts_that_change_places(x):
    old, T.part = T.part, Part()
    old.count += 1
    T.part.count += 7
    T.parts[0], T.parts[1] = T.parts[1], T.parts[0]
    T.parts[0].count += 1
    T.other = T.parts[0]
    T.other.count += 1
    return x[0] ** 2 * old.count * T.parts[0].count


def in_a_nested_function(x):
    def note(v):
        T.hist.append(v)
        T.calls += 1
        return v

    return note(x[0] ** 2) * note(x[1])


exec("def bump():\n    T.calls += 10\n    T.part.count += 5\n    T.w = T.w * 2.0\n    return T.calls + 0.5", globals())


def changed_by_calls_that_are_not_followed_too(x):
    T.calls += 1
    T.part.count += 1
    T.w = T.w + 1.0
    s = x[0] * T.calls
    for i in range(3):
        s = s + bump() * x[i] ** 2 * T.calls  # noqa: F821
        T.calls += 1
    held = [T]
    return s * np.sum(x * T.w) * T.part.count + held[0].calls * x[1]


PROGRAMS = [
    counter, read_before_and_after, read_in_a_loop_and_replaced, changed_in_place_before,
    in_loops, on_a_path, lists_and_dicts, cached, arrays, best_value, classes,
    made_by_the_program, parts_that_change_places, in_a_nested_function, changed_by_calls_that_are_not_followed_too,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_the_program_does_is_done(f):
    """Values, derivatives, and what objects hold after each of four calls; with a version for the first state and one
    for what follows."""
    both = s2s.value_and_grad(f)
    direction = np.array([1.0, 0.5, -2.0])
    for k in range(4):
        x, state = X + 0.1 * k, held()

        def primal(x, state=state):
            restart(state)
            return f(x)

        want = differences(primal, x)
        value, after = primal(x), plain(held())
        restart(state)
        out, tangent = s2s.jvp(f, (x,), (direction,))
        assert plain(held()) == after
        np.testing.assert_allclose((out, tangent), (value, want @ direction), rtol=1e-6)
        restart(state)
        got, gradient = both(x)
        assert plain(held()) == after
        np.testing.assert_allclose(got, value)
        np.testing.assert_allclose(gradient, want, rtol=1e-6)
    assert len(both.dispatcher.versions) <= 2


def noted(x):
    T.calls += 1
    T.hist.append(x[0])
    LOG.append(x[0])
    return np.sum(x**3) * x[0]


NESTINGS = {
    "grad": lambda f, x: s2s.grad(f)(x),
    "jvp": lambda f, x: s2s.jvp(f, (x,), (x,)),
    "pullback": lambda f, x: [s2s.vjp(f, x)[1](1.0)],
    "jacfwd": lambda f, x: s2s.jacfwd(f)(x),
    "jacrev": lambda f, x: s2s.jacrev(f)(x),
    "hessian": lambda f, x: s2s.hessian(f)(x),
    "jacrev of grad": lambda f, x: s2s.jacrev(s2s.grad(f))(x),
    "jvp of grad": lambda f, x: s2s.jvp(s2s.grad(f), (x,), (x,)),
    "hvp": lambda f, x: s2s.hvp(f, (x,), (x,)),
}


@pytest.mark.parametrize("name", NESTINGS)
def test_each_nesting_writes_to_attributes_what_it_writes_to_variables(name):
    nesting = NESTINGS[name]
    nesting(noted, X)
    assert T.calls == len(LOG) == 1 and T.hist == LOG == [X[0]]


@pytest.mark.parametrize("name", [*NESTINGS, "sparse"])
def test_runs_for_each_direction_and_replays_do_nothing_outside(name):
    """What runs once more sees what the first run has seen, and leaves nothing."""
    nesting = {**NESTINGS, "sparse": lambda f, x: s2s.sparse_jacobian(lambda x: f(x) * np.ones(2))(x).toarray()}[name]

    def f(x):
        T.calls += 1
        T.slots.v = T.calls
        T.counts["a"] += 1
        LOG.append(x[0])
        y = np.sort(x)[::-1] * T.calls * T.counts["a"]
        for i in s2s.checkpointed(range(6), 2):
            T.total += 1.0
            T.hist.append(i)
            y = np.sin(y) * (1.0 + 0.01 * T.total)
        return np.sum(y**3)

    def plainly(x):
        y = np.sort(x)[::-1]
        for i in range(6):
            y = np.sin(y) * (1.0 + 0.01 * (i + 1.0))
        return np.sum(y**3)

    found, want = nesting(f, X), nesting(plainly, X)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    assert (T.calls, T.slots.v, T.counts["a"], T.total, T.hist, LOG) == (1, 1, 1, 6.0, [*range(6)], [X[0]])


def test_a_derivative_inside_a_function_assigns_no_attribute():
    def f(x):
        T.calls = 1
        return np.sum(x**3)

    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S144\]"):
        s2s.grad(lambda x: np.sum(s2s.grad(f)(x) ** 2))(X)
    assert T.calls == 0


def test_a_derivative_inside_a_function_writes_to_logs_once():
    def f(x):
        T.hist.append(1.0)
        LOG.append(2.0)
        return np.sum(x**3)

    def h(x):
        return np.sum(s2s.grad(f)(x) ** 2)

    for k, take in enumerate((s2s.grad(h), lambda x: s2s.jvp(h, (x,), (x,)), s2s.jacfwd(s2s.grad(h)), s2s.hessian(h))):
        take(X)
        assert T.hist == [1.0] * (k + 1) and LOG == [2.0] * (k + 1)
    np.testing.assert_allclose(s2s.grad(h)(X), 36.0 * X**3, rtol=1e-12)


def test_hessian_of_a_function_that_reads_its_counter():
    def f(x):
        T.calls += 1
        return np.sum(x**3) * T.calls

    T.calls = 1
    np.testing.assert_allclose(s2s.hessian(f)(X), np.diag(12.0 * X))
    assert T.calls == 2


def test_methods_of_objects_and_objects_among_the_arguments():
    t = Tracker()
    np.testing.assert_allclose(s2s.grad(t.loss)(X), 2.0 * X)
    np.testing.assert_allclose(s2s.grad(Tracker.loss, argnums=1)(t, X), 4.0 * X)
    np.testing.assert_allclose(s2s.grad(lambda x: t.loss(x))(X), 6.0 * X)
    t.decorated(X)
    np.testing.assert_allclose(s2s.grad(t.decorated)(X), 2.0 * X)
    assert (t.calls, t.part.count, t.hist) == (5, 3, [X[0]] * 3)


def test_an_object_that_is_differentiated_stays_as_it_is():
    def f(t):
        t.total = t.total * t.total
        t.calls = 7
        return t.total

    t = Totals(total=3.0)
    assert s2s.grad(f)(t).total == 6.0
    assert t == Totals(total=3.0)


def test_what_was_done_before_an_exception_is_done():
    def f(x):
        T.calls += 1
        if x > 0:
            raise KeyError("positive")
        T.total = 1.0
        return x

    with pytest.raises(KeyError, match="positive"):
        s2s.grad(f)(2.0)
    assert T.calls == 1 and T.total == 0.0


class Setting:
    def __enter__(self):
        self.before, T.last = T.last, "inside"

    def __exit__(self, *problem):
        T.last = self.before


def test_a_manager_sets_back_what_it_has_set_after_an_exception_too():
    def f(x):
        with Setting():
            if x > 2.0:
                raise KeyError("big")
            y = x**2 if T.last == "inside" else 0.0
        return y * x

    T.last = "outside"
    assert s2s.grad(f)(1.5) == pytest.approx(3.0 * 1.5**2) and T.last == "outside"
    with pytest.raises(KeyError, match="big"):
        s2s.grad(f)(2.5)
    assert T.last == "outside"


# --- refusals -------------------------------------------------------------------------------------------------------


def grows_and_is_read(x):
    T.hist.append(x[0])
    return T.hist[-1] * x[1]


def written_and_read_by_another_function(x):
    def note():
        T.hist.append(3.0)

    note()
    return x[0] * len(T.hist)


def variable_written_and_read_by_another_function(x):
    def note():
        LOG.append(3.0)

    note()
    return x[0] * len(LOG)


def attribute_of_a_class_that_is_read(x):
    Tracker.calls_of_all += 1
    return np.sum(x) * T.calls_of_all


def changed_after_it_was_given(x):
    given = [x[0]]
    if x[0] > 0:
        T.hist = given
    given.append(x[1])
    return given[0] * given[1]


def changed_after_it_was_given_on_both_paths(x):
    given = [x[0]]
    if x[0] > 0:
        T.hist = given
    else:
        T.hist = given
    given.append(x[1])
    return given[0] * given[1]


def given_after_a_change(x):
    T.few[0] = 5.0
    take(T.few)  # noqa: F821
    return x[0] * T.few[0]


exec("def take(items):\n    items.append(1.0)", globals())
exec("def unread(x=0.0):\n    return T.last[0] if T.hist == [] else T.hist[-1]", globals())


def read_by_a_call_that_is_not_followed(x):
    T.last = x * x
    return unread() * x[0]  # noqa: F821


def log_read_by_a_call_that_is_not_followed(x):
    T.hist.append(x[0] ** 2)
    return unread() * x[0]  # noqa: F821


@pytest.mark.parametrize("f, code", [
    (grows_and_is_read, "S2S185"),
    (written_and_read_by_another_function, "S2S185"),
    (variable_written_and_read_by_another_function, "S2S185"),
    (attribute_of_a_class_that_is_read, "S2S113"),
    (changed_after_it_was_given, "S2S131"),
    (changed_after_it_was_given_on_both_paths, "S2S131"),
    (read_by_a_call_that_is_not_followed, "S2S139"),
    (given_after_a_change, "S2S139"),
    (log_read_by_a_call_that_is_not_followed, "S2S139"),
])  # fmt: skip
def test_what_would_lose_a_derivative_or_read_what_was_is_refused(f, code):
    before = plain(held())
    for derivative in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedSyntaxError, match=rf"\[{code}\]"):
            derivative(X)
    assert plain(held()) == before and LOG == []


exec("def spoil(name, value):\n    setattr(T, name, value)", globals())


@pytest.mark.parametrize("name, value, code", [
    ("calls", 2.5, "S2S518"), ("best", None, "S2S518"), ("w", np.ones(4), "S2S518"), ("part", Part(), "S2S518"),
    ("last", (2.0,), "S2S132"),
])  # fmt: skip
def test_calls_that_are_not_followed_put_nothing_else_in_place(name, value, code):
    def f(x):
        if name == "last":
            T.last = (1.0, 2.0)
        else:
            T.calls, T.best, T.w, T.part = 1, "good", np.zeros(3), Part()
        spoil(name, value)  # noqa: F821
        y = T.last[0] if name == "last" else T.calls * T.w[0] * (T.best == "good") * T.part.count
        return np.sum(x) * y

    with pytest.raises(s2s.errors.DifferentiationError, match=rf"\[{code}\]"):
        s2s.grad(f)(X)


def test_refused_programs_are_recorded_with_their_effects(monkeypatch):
    def f(x):  # as ``grows_and_is_read``, of which no recorded version is kept for other tests
        T.hist.append(x[0])
        return T.hist[-1] * x[1]

    monkeypatch.setenv("S2S_RECORDED", "1")
    with pytest.warns(s2s.RecordedWarning):
        gradient = s2s.grad(f)(X)
    np.testing.assert_allclose(gradient, [X[1], X[0], 0.0])
    assert T.hist == [X[0]]


# --- containers that one method writes and another reads ----------------------------------------------------------


class Traced:
    """A model whose calls leave what they computed."""

    def __init__(self):
        self.traces = {}
        self.inputs = []

    def computed(self, x, n):
        levels = np.zeros(n)
        levels[0] = x[0]
        for k in range(n - 1):
            levels[k + 1] = levels[k] * x[1] + np.sin(levels[k])
        return {"levels": levels, "ends": levels[[0, -1]]}

    def __call__(self, x, n):
        self.traces.update(self.computed(x, n))

    def stored(self, x):
        self.traces["x"] = x * 2.0
        self.traces["levels"] = x**2


def read_after_a_call(model, x):
    model(x, 6)
    return np.max(model.traces["levels"]) * model.traces["ends"][0]


def read_after_a_store(model, x):
    model.stored(x)
    return np.sum(model.traces["x"] * model.traces["levels"]) + len(model.traces)


def read_before_as_well(model, x):
    before = sum(np.sum(v) for v in model.traces.values())
    model.stored(x)
    return before * x[0] + np.sum(model.traces["levels"])


@pytest.mark.parametrize("program", [read_after_a_call, read_after_a_store, read_before_as_well])
def test_what_one_method_writes_and_another_reads(program):
    x, step = np.array([0.7, 0.4]), 1e-6
    model = Traced()
    model.stored(np.array([1.0, 3.0]))

    def loss(x):
        return program(model, x)

    def fresh():
        model.traces = {"x": np.array([2.0, 6.0]), "levels": np.array([1.0, 9.0])}
        return loss

    expected = [(fresh()(x + e) - fresh()(x - e)) / (2.0 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(s2s.grad(fresh())(x), expected, rtol=1e-6)
    left = {key: np.copy(value) for key, value in model.traces.items()}
    fresh()(x)
    assert list(left) == list(model.traces) and all(np.allclose(left[key], model.traces[key]) for key in left)
    np.testing.assert_allclose(s2s.jvp(fresh(), (x,), (np.array([1.0, -2.0]),))[1], expected @ np.array([1.0, -2.0]),
                               rtol=1e-6)
