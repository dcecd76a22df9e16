"""Functions that the compiler refuses, and compiles once it has seen what their values are."""

import collections
import functools
import io
import linecache
import sys
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import s2s
from s2s.dispatch import observing
from s2s.dispatch.dispatcher import Dispatcher
from s2s.recorded.differences import Replay

X = np.array([0.4, 1.3])
MODULES = {"numpy": np, "other": types.SimpleNamespace(exp=np.sin)}


@pytest.fixture(autouse=True)
def default(monkeypatch):
    """Each test as the first that calls its functions: what was observed is known by their code."""
    monkeypatch.delenv("S2S_RECORDED")
    monkeypatch.setattr(observing, "_noted", weakref.WeakKeyDictionary())


def compiled(f, *args, argnums=0):
    """The gradient of ``f``, which no recording has given, and its source."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        gradient = s2s.grad(f, argnums)(*args)
        tangent = s2s.jvp(lambda x: f(x, *args[1:]), (args[0],), (1.0 + args[0],))[1]
    np.testing.assert_allclose(gradient, central(lambda x: f(x, *args[1:]), args[0]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tangent, np.sum(gradient * (1.0 + args[0])), rtol=1e-9)
    return s2s.source(f, *args, mode="grad")


def central(f, x, h=1e-6):
    """Central differences of a function of a vector, whose values may be arrays."""
    steps = h * np.eye(len(x))
    return np.array([(np.asarray(f(x + s)) - np.asarray(f(x - s))) / (2.0 * h) for s in steps])


class Registry:
    """Gives what its tables have, behind a method that the compiler does not look into."""

    def __init__(self, **entries):
        self.entries = entries

    def __getattribute__(self, name):
        if name == "entries" or name.startswith("__"):
            return object.__getattribute__(self, name)
        return self.entries[name]


def buffer_of(registry):
    return registry.buffer


D = np.diag([1.0, 3.0])


def test_a_module_out_of_a_registry_is_that_module():
    registry = Registry(xp=np, scale=3.0)

    def f(x):
        xp = registry.xp
        return np.sum(xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3) * registry.scale

    text = compiled(f, X)
    assert "rt.expect(" in text and "np.linalg.eigh(" in text
    registry.entries["xp"] = types.SimpleNamespace(  # the check fails
        linalg=types.SimpleNamespace(eigh=lambda a: types.SimpleNamespace(eigenvalues=np.diagonal(a))))
    np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
    registry.entries["scale"] = 5
    np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)


def test_an_array_that_others_refer_to_is_not_stored_into():
    """Two reads give one array: a store through one of them would be lost in the other."""
    registry = Registry(buffer=np.zeros(2))

    def f(x):
        first, second = registry.buffer, registry.buffer
        first[:] = x * x
        return np.sum(second * x)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        gradient = s2s.grad(f)(X)
    np.testing.assert_allclose(gradient, 3.0 * X**2)
    assert [one.category for one in told] == [s2s.RecordedWarning]


def test_what_was_a_constant_and_is_another_object_is_seen():
    """The kind is all that is taken from a number or an array: their values are read in each call."""
    registry = Registry(k=2.0, w=np.array([1.0, 2.0]))

    def f(x):
        k, w = registry.k, registry.w
        table = [x * k, x + k][int(k) % 2]
        return np.sum(table * w) if w.ndim == 1 else np.sum(table) * k

    for k, w in ((2.0, [1.0, 2.0]), (3.0, [4.0, 5.0]), (3.0, [[1.0, 2.0]]), (4, [1, 2]), (5.0, 2.0 * X), (2.0, [7.0])):
        registry.entries.update(k=k, w=np.array(w))
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6, err_msg=f"{k} {w}")


def test_a_path_that_was_not_taken_is_compiled_when_it_is():
    registry = Registry(xp=np)

    def f(x, n):
        a = np.outer(x, x) + D
        if n > 2:
            a = a @ a
        if n > 3:
            a = a + a.T
        return np.sum(registry.xp.linalg.eigh(a).eigenvalues ** 3)

    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        gradient = s2s.grad(f)
        for n in (1, 3, 1, 4, 3):
            np.testing.assert_allclose(gradient(X, n), central(lambda x: f(x, n), X), rtol=1e-6, err_msg=str(n))


def chosen(x, n):
    """Which keys the dict has depends on the path that was taken."""
    out = {"a": x[0] * x[1]}
    if n > 2:
        out["b"] = np.exp(x[0])
    if n > 3:
        out["a"] = out["a"] * 2.0
    return out["a"] + (out["b"] * x[1] if "b" in out else x[0])


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_paths_that_cannot_be_compiled_together_are_recorded():
    text = compiled(chosen, X, 3.0)  # of a small integer each value would have a version of its own
    assert "rt.unreached_error(" in text
    for n in (3.0, 1.0, 4.0, 3.0, 3, 1):
        np.testing.assert_allclose(s2s.grad(chosen)(X, n), central(lambda x: chosen(x, n), X), rtol=1e-6)


def test_a_function_that_is_otherwise_each_time_is_recorded_in_the_end():
    registry = Registry()

    def f(x):
        return registry.fn(x[0]) * x[1]

    functions = [np.sin, np.cos, np.exp, np.tanh, np.arctan, np.sinh, np.sin]
    for fn in functions:
        registry.entries["fn"] = fn
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.RecordedWarning)
            np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)


def test_the_observed_run_leaves_no_trace():
    calls, stream = [], np.random.default_rng(4)
    registry = Registry(xp=np, seen=collections.Counter())

    def f(x):
        registry.entries["seen"]["f"] += 1
        calls.append(1)
        return registry.xp.sum(x * stream.normal(size=2))

    twin = np.random.default_rng(4)
    gradient = s2s.grad(f)(X)
    np.testing.assert_allclose(gradient, twin.normal(size=2))
    assert len(calls) == 1 and registry.entries["seen"]["f"] == 1
    np.testing.assert_array_equal(stream.normal(size=2), twin.normal(size=2))


def test_a_handler_does_not_take_a_refusal_for_an_exception_of_the_program():
    registry = Registry(xp=np, k=2.0)

    def f(x):
        top = np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)
        try:
            scaled = x[0] / registry.k
        except Exception:
            scaled = x[0] ** 2
        return scaled * top

    for k in (2.0, 3, np.float64(4.0), None, 2.0):
        registry.entries.pop("k", None)
        if k is not None:
            registry.entries["k"] = k
        with warnings.catch_warnings():
            warnings.simplefilter("error", s2s.RecordedWarning)
            np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6, err_msg=str(k))


def test_second_derivatives_are_of_what_was_observed():
    registry = Registry(xp=np)

    def f(x):
        return np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        hessian = s2s.jacfwd(s2s.grad(f))(X)
    np.testing.assert_allclose(hessian, central(s2s.grad(f), X), rtol=1e-6)


def test_what_raises_raises_and_is_not_observed():
    registry = Registry(xp=np, limit=1.0)

    def f(x):
        if x[0] > registry.limit:
            raise ValueError("too large")
        return registry.xp.linalg.norm(x)

    compiled(f, X)
    with pytest.raises(ValueError, match="too large"):
        s2s.grad(f)(X + 2.0)


def test_functions_in_files_of_equal_code_have_places_of_their_own():
    """Code objects are equal where only their files differ."""
    text = "def f(x):\n    return table.get('fn')(x[0]) * x[1]\n"
    for name, fn in (("<first>", np.sin), ("<second>", np.cos)):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        scope = {"table": Registry(fn=fn, get=lambda _, fn=fn: fn)}
        exec(compile(text, name, "exec"), scope)
        np.testing.assert_allclose(s2s.grad(scope["f"])(X), central(scope["f"], X), rtol=1e-6)


def test_a_call_in_a_thread_that_a_call_waits_for_does_not_wait_for_the_compiler():
    registry = Registry(xp=np)

    def inner(x):
        return registry.xp.linalg.norm(x)

    def f(x):
        found = []
        worker = threading.Thread(target=lambda: found.append(s2s.grad(inner)(np.ones(2))))
        worker.start()
        worker.join(120.0)
        assert not worker.is_alive()
        return registry.xp.linalg.norm(x) * found[0][0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.RecordedWarning)
        np.testing.assert_allclose(s2s.grad(f)(X), X / np.linalg.norm(X) / np.sqrt(2.0))


LIBRARY = """
import functools
import numpy as np

class Keeper:
    x = None

STATE, HISTORY, KEEPER, LAST = {}, [], Keeper(), None

def by_item(x):
    STATE["x"] = x
    return np

def by_method(x):
    HISTORY.append(x)
    return np

def by_attribute(x):
    KEEPER.x = x
    return np

def by_class(x):
    Keeper.x = x
    return np

def by_global(x):
    global LAST
    LAST = x
    return np

def inside(x):
    return by_global(2.0 * x)

def by_default(x, kept=HISTORY):
    kept.append(x)
    return np

def times(y):
    return times.x * y

def by_function(x):
    times.x = x
    return times

def maker():
    k = None
    def keep(x):
        nonlocal k
        k = x
        return times_k
    def times_k(y):
        return k * y
    times_k.__qualname__ = "times_k"
    return keep

by_cell = maker()

def by_addition(x, kept=HISTORY):
    kept += [x]
    return np

def chosen(x):
    return np.sin if x > 0.5 else np.cos

@functools.lru_cache
def is_array(kind):
    return issubclass(kind, np.ndarray)

def namespace(*arrays, default=None):
    if any(is_array(type(a)) and a.dtype.kind == "f" for a in arrays):
        return np
    return default
"""


@pytest.fixture
def library(monkeypatch):
    made = types.ModuleType("s2s_test_keeping")
    linecache.cache["<keeping>"] = (len(LIBRARY), None, LIBRARY.splitlines(True), "<keeping>")
    exec(compile(LIBRARY, "<keeping>", "exec"), made.__dict__)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("name, read", [
    ("by_item", lambda _, of, x: of.STATE["x"] * x), ("by_method", lambda _, of, x: of.HISTORY[-1] * x),
    ("by_attribute", lambda _, of, x: of.KEEPER.x * x), ("by_class", lambda _, of, x: of.Keeper.x * x),
    ("by_global", lambda _, of, x: of.LAST * x), ("inside", lambda _, of, x: of.LAST * x),
    ("by_default", lambda _, of, x: of.HISTORY[-1] * x), ("by_function", lambda g, _, x: g(x)),
    ("by_cell", lambda g, _, x: g(x)), ("by_addition", lambda _, of, x: of.HISTORY[-1] * x),
])  # fmt: skip
def test_a_function_that_gives_a_module_may_keep_its_argument(library, name, read):
    registry = Registry(xp=np, ask=getattr(library, name))

    def f(x):
        top = np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)
        return top + np.sum(read(registry.ask(x), library, x))

    for _ in range(2):
        gradient, wanted = s2s.grad(f)(X), central(f, X)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-6)
        np.testing.assert_allclose(s2s.jvp(f, (X,), (np.ones(2),))[1], np.sum(wanted), rtol=1e-6)


def test_a_function_that_keeps_nothing_is_asked(library):
    registry = Registry(xp=np, ask=library.namespace)

    def f(x):
        xp = registry.ask(x)
        return xp.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    assert "rt.look(" in compiled(f, X)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_second_derivative_outlives_a_check_of_the_first(library):
    registry = Registry(xp=np, ask=library.chosen)

    def f(x):
        top = np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)
        return top + registry.ask(x[0])(x[1])

    for x in (X, X + 1.0, X):
        np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(x), central(s2s.grad(f), x), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("loops", [False, True])
def test_a_check_that_fails_does_not_store_twice(loops):
    registry = Registry(xp=np, k=2.0, n=0)

    def straight(x):
        registry.entries["n"] += 1
        return registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3) * registry.n

    def repeated(x):
        y = 0.0
        for _ in range(len(x) - 1):
            y = y + registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)
            registry.entries["n"] += 1
        return y * registry.n

    f = repeated if loops else straight

    def g(x):
        registry.entries["n"] = 0
        return f(x)

    for k in (2.0, 3, np.float64(4.0), 2.0):
        registry.entries.update(k=k)
        wanted = central(g, X)
        registry.entries["n"] = 0
        np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-6)
        assert registry.n == 1


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_list_from_outside_that_is_changed_has_its_length_then():
    log = []

    def appended(x):
        log.append(1)
        return np.sum(x * x) * len(log)

    def added(x):
        same = log
        same += [1]
        return np.sum(x * x) * len(log)

    for f in (appended, added):
        for n in (0, 2):
            log[:] = [1] * n
            np.testing.assert_allclose(s2s.grad(f)(X), 2.0 * (n + 1) * X)
            assert len(log) == n + 1


def test_nothing_runs_where_only_the_compiler_decides(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    calls, registry = [], Registry(xp=np)

    def f(x):
        calls.append(1)
        return np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.grad(f)(X)
    assert not calls


def compilations(monkeypatch):
    """How many versions were made for what was observed, from here on."""
    made, compile_observed = [], observing.compile_observed

    def counted(*args):
        made.append(compile_observed(*args))
        return made[-1]

    monkeypatch.setattr(observing, "compile_observed", counted)
    return made


def attempts(monkeypatch):
    """What is omitted in each compilation for what was observed, from here on, refused or not."""
    tried, compile_observed = [], observing.compile_observed

    def counted(*args):
        tried.append(args[-1].omits)
        return compile_observed(*args)

    monkeypatch.setattr(observing, "compile_observed", counted)
    return tried


def of_a_set(x):
    return sum({float(x[0]), 2.0 * float(x[1])}.union([1.0])) ** 2


def test_a_signature_is_observed_a_few_times():
    seen, ended = observing.Observations(), observing.Observations()
    assert [seen.take() for _ in range(observing.MOST + 2)] == [True] * observing.MOST + [False, False]
    ended.end()
    assert not ended.take()


def with_a_side(x):
    if np.sum(x) > 100.0:
        return np.sum(x)
    return of_a_set(x)


@pytest.mark.parametrize(("f", "times"), [(of_a_set, 1), (with_a_side, 2)])
def test_a_refusal_is_asked_for_again_only_where_another_path_is_compiled(f, times, monkeypatch):
    tried = attempts(monkeypatch)
    with pytest.warns(s2s.RecordedWarning):
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
    assert len(tried) == times


def test_a_second_derivative_that_is_refused_is_compiled_twice(monkeypatch):
    tried, misses = attempts(monkeypatch), []
    made_again = Dispatcher.made_again
    monkeypatch.setattr(Dispatcher, "made_again", lambda *args: misses.append(args) or made_again(*args))

    def f(x):
        first, second = 2.0 * x, 3.0 * x
        chosen = [first, second][int(np.argmax(x))]
        chosen[0] = x[1] ** 2
        return np.sum(first * second * x)

    found = s2s.jvp(s2s.grad(f), (X,), (X,))[1]
    there, here = s2s.grad(f)((1.0 + 1e-6) * X), s2s.grad(f)((1.0 - 1e-6) * X)
    np.testing.assert_allclose(found, (there - here) / 2e-6, rtol=1e-6)
    assert (len(tried), len(misses)) == (1, 0)


def test_kinds_that_alternate_have_versions_side_by_side(monkeypatch):
    registry, made = Registry(xp=np), compilations(monkeypatch)

    def f(x):
        y = registry.k * x
        y[0] = y[0] ** 2
        return np.sum(registry.xp.linalg.eigh(np.outer(y, y) + D).eigenvalues ** 3)

    gradient = s2s.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        for k in (2.0, np.array([1.0, 2.0]), 3.0, np.array([4.0, 5.0]), np.array([0.5, 2.0]), 1.5):
            registry.entries["k"] = k
            np.testing.assert_allclose(gradient(X), central(f, X), rtol=1e-6, err_msg=str(k))
            registry.entries["k"] = k
            np.testing.assert_allclose(s2s.jvp(f, (X,), (X,))[1], np.sum(X * central(f, X)), rtol=1e-6, err_msg=str(k))
    assert len(made) == 4  # for a number and for an array, by cotangents and by tangents


def test_the_version_for_what_was_seen_last_comes_first():
    """Second derivatives are made of it, and it is the one whose source is shown."""
    registry, checks = Registry(xp=np), {2.0: "rt.expect_kind(", (1.0, 2.0): "rt.expect_array("}

    def f(x):
        y = registry.k * x
        y[0] = y[0] ** 2
        return np.sum(y**3)

    for k, check in checks.items():
        registry.entries["k"] = np.array(k) if isinstance(k, tuple) else k
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
        assert [one for one in checks.values() if one in s2s.source(f, X, mode="grad")] == [check]
    np.testing.assert_allclose(s2s.hessian(f)(X), np.diag([30.0 * X[0] ** 4, 6.0 * 2.0**3 * X[1]]))
    assert len(s2s.grad(f).dispatcher.versions) == 2


def test_closures_of_one_code_are_observed_together(monkeypatch):
    """Each of these functions is made once; all of them together are observed as often as one would be."""
    made, runs = compilations(monkeypatch), []
    monkeypatch.setattr(Replay, "at", lambda self, changed, at=Replay.at: runs.append(1) or at(self, changed))

    def function(registry):
        return lambda x: registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        for k in (2.0, 3, np.float64(4.0), 5, 2.5, np.float64(1.0), 7):
            f = function(Registry(xp=np, k=k))
            np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
    assert len(made) == len(runs) == 3


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_after_so_many_kinds_calls_of_others_are_recorded():
    registry = Registry(xp=np)

    def f(x):
        return registry.fn(x[0]) * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    for fn in (np.sin, np.cos, np.exp, np.tanh, np.arctan, np.sinh, np.sin, np.cos):
        registry.entries["fn"] = fn
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
        np.testing.assert_allclose(s2s.jvp(f, (X,), (X,))[1], np.sum(X * central(f, X)), rtol=1e-6)


def drawing(registry, stream, shown):
    def f(x):
        noise = stream.normal(size=2)
        return registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) * noise[0] + D).eigenvalues ** 3)

    return f, lambda: np.random.default_rng(3).normal(size=2)


def drawing_in_an_object(registry, stream, shown):
    def f(x):
        noise = registry.stream.normal(size=2)
        return registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) * noise[0] + D).eigenvalues ** 3)

    registry.entries["stream"] = stream
    return f, lambda: np.random.default_rng(3).normal(size=2)


def telling(registry, stream, shown):
    def f(x):
        print("a line", file=shown)
        return registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    return f, lambda: np.ones(2)


def calling(registry, stream, shown):
    def f(x):
        registry.tell("a line")
        return registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3)

    registry.entries["tell"] = shown.write
    return f, lambda: np.ones(2)


def asking(registry, stream, shown):
    def f(x):
        count = registry.tell("a line")
        return count * registry.k * np.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3) / count

    registry.entries["tell"] = shown.write
    return f, lambda: np.ones(2)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("make", [drawing, drawing_in_an_object, telling, calling, asking])
def test_what_is_seen_outside_is_done_once_where_a_check_fails(make):
    registry, shown = Registry(xp=np), io.StringIO()
    stream = np.random.default_rng(3)
    f, noise = make(registry, stream, shown)
    for k in (2.0, 3, np.float64(4.0), 2.0):
        registry.entries.update(k=k)
        stream.bit_generator.state = np.random.default_rng(3).bit_generator.state
        shown.seek(0), shown.truncate()
        gradient, drawn = s2s.grad(f)(X), stream.bit_generator.state
        e = noise()
        wanted = central(lambda x: k * np.sum(np.linalg.eigh(np.outer(x, x) * e[0] + D).eigenvalues ** 3), X)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-6)
        assert shown.getvalue().count("a line") == (make in (telling, calling, asking))
        twin = np.random.default_rng(3)
        if make in (drawing, drawing_in_an_object):
            twin.normal(size=2)
        assert drawn == twin.bit_generator.state


def test_a_container_of_the_call_may_change_before_a_check():
    registry = Registry(xp=np, modules=(np, np.linalg, np), order=np.argsort)

    def f(x):
        names, chosen = {m.__name__ for m in registry.modules}, []
        for m in registry.modules:
            if (name := m.__name__) in names:
                chosen.append(m)
                names.remove(name)
        xp = chosen[0]
        return registry.k * xp.sum(registry.xp.linalg.eigh(np.outer(x, x) + D).eigenvalues ** 3) * len(chosen)

    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        for k in (2.0, 3):
            registry.entries["k"] = k
            np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)


def test_the_items_of_a_tuple_are_known_one_by_one():
    registry = Registry(xp=np, made=(np.array([1.0, 2.0]), (3.0, None), 2))

    def f(x):
        w, (k, _), n = registry.made
        y = (x + w) * k
        y[0] = y[0] ** n
        return np.sum(registry.xp.linalg.eigh(np.outer(y, y) + D).eigenvalues ** 3)

    assert "rt.expect_items(t0, (" in compiled(f, X)
    for made in ((np.array([4.0, 5.0]), (0.5, "?"), 3), (np.array([2, 3]), (2, None), 1), (0.5 * X, (2.0, None), 2)):
        registry.entries["made"] = made
        with warnings.catch_warnings():
            warnings.simplefilter("error", s2s.RecordedWarning)
            np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
    registry.entries["made"] = [np.array([4.0, 5.0]), (0.5, "?"), 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.RecordedWarning)
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_an_array_in_a_tuple_is_not_stored_into():
    registry = Registry(xp=np, made=(np.zeros(2), 3.0))

    def f(x):
        first, second = registry.made[0], registry.made[0]
        first[:] = x * x
        return np.sum(second * x) * registry.made[1]

    def g(x):
        first, k = registry.made
        first[:] = x * x
        return np.sum(registry.made[0] * x) * k

    for h in (f, g):
        np.testing.assert_allclose(s2s.grad(h)(X), 9.0 * X**2)


def test_versions_of_equal_code_are_told_apart():
    """Their texts are the same, what they refer to is not."""
    source = "class K:\n    a = {}\ndef f(x):\n    return take(K).a * x[0] * x[1]\n"
    for a in (2.0, 3.0):
        linecache.cache["<equal>"] = (len(source), None, source.splitlines(True), "<equal>")
        table = Registry(take=lambda kind: kind)
        scope = {"take": lambda kind, table=table: table.take(kind)}
        exec(compile(source, "<equal>", "exec"), scope)
        scope["K"].a = a
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", s2s.RecordedWarning)
            for _ in range(2):
                np.testing.assert_allclose(s2s.grad(scope["f"])(X), a * X[::-1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_second_derivatives_where_kinds_alternate():
    registry = Registry(xp=np)

    def f(x):
        y = registry.k * x
        y[0] = y[0] ** 2
        return np.sum(registry.xp.linalg.eigh(np.outer(y, y) + D).eigenvalues ** 3)

    for k in (2.0, np.array([1.0, 2.0]), 3.0, np.float64(2.0), np.array([1, 2]), 2.0):
        registry.entries["k"] = k
        wanted = central(s2s.grad(f), X)
        np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(X), wanted, rtol=1e-5)
        np.testing.assert_allclose(s2s.grad(f)(X), central(f, X), rtol=1e-6)
        np.testing.assert_allclose(s2s.hessian(f)(X), wanted, rtol=1e-5)


WEIGHTS = np.array([1.0, 2.0])


@functools.lru_cache
def heavier(k):
    WEIGHTS[...] += k
    return k


@pytest.mark.parametrize("derivative", [
    lambda f: s2s.grad(f)(X), lambda f: s2s.vjp(f, X)[1](1.0)[0], lambda f: s2s.jvp(f, (X,), (X,))[1] * X / (X @ X),
], ids=["grad", "vjp", "jvp"])
def test_looking_fills_no_cache(derivative):
    """What a function does that keeps its results, it does in the call itself, and once."""
    registry = Registry(xp=np, by=2.0)

    def f(x):
        heavier(registry.by)
        return np.sum(registry.xp.linalg.eigh(np.outer(x, x)).eigenvalues) * WEIGHTS[0]  # the square of x

    heavier.cache_clear()
    WEIGHTS[...] = [1.0, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        for _ in range(2):
            np.testing.assert_allclose(derivative(f), 3.0 * 2.0 * X)
            np.testing.assert_array_equal(WEIGHTS, [3.0, 4.0])
    assert "rt.expect(" in s2s.source(f, X, mode="grad")
