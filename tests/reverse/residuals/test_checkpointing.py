"""Checkpointed functions and loops: the same gradients, fewer values kept, as many steps again as the theory says."""

import ast
import calendar
import functools
import importlib.util
import itertools
import math
import pickle
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.runtime import advances
from tests.helpers import differences
from tests.reverse.residuals import checkpointed as bank

X = bank.X


# --- the same without checkpoints -----------------------------------------------------------------------------------


class _Without(ast.NodeTransformer):
    """``s2s.checkpointed(over, ...)`` as ``over``, ``s2s.checkpoint(f)`` as ``f``, functions without the decorator."""

    def visit_Call(self, node):
        self.generic_visit(node)
        called = ast.unparse(node.func)
        return node.args[0] if called in ("s2s.checkpointed", "s2s.checkpoint") else node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [d for d in node.decorator_list if ast.unparse(d) != "s2s.checkpoint"]
        return node


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The module of functions with all checkpoints taken out of its source."""
    tree = _Without().visit(ast.parse(Path(bank.__file__).read_text(encoding="utf-8")))
    path = tmp_path_factory.mktemp("without") / "without_checkpoints.py"
    path.write_text(ast.unparse(tree) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("without_checkpoints", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["without_checkpoints"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["without_checkpoints"]


def at_start(module, call):
    module.TAKEN[:] = [0]
    return call()



def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13 * np.max(np.abs(b), initial=1e-300))


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("snapshots", [1, 3])
@pytest.mark.parametrize("f", bank.LOOPS, ids=lambda f: f.__name__)
def test_a_loop_has_the_gradient_that_it_has_without_checkpoints(f, snapshots, without):
    plain = getattr(without, f.__name__)
    for n in (1, 2, 4):
        expected = at_start(without, lambda: s2s.value_and_grad(plain)(X.copy(), n, snapshots))
        value, gradient = at_start(bank, lambda: s2s.value_and_grad(f)(X.copy(), n, snapshots))
        assert value == expected[0] == at_start(bank, lambda: f(X.copy(), n, snapshots))
        same(gradient, expected[1])


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", bank.LOOPS, ids=lambda f: f.__name__)
def test_the_gradient_of_a_loop_is_that_of_differences(f):
    expected = differences(lambda x: at_start(bank, lambda: f(x.copy(), 3, 2)), X)
    np.testing.assert_allclose(at_start(bank, lambda: s2s.grad(f)(X.copy(), 3, 2)), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", bank.FUNCTIONS, ids=lambda f: f.__name__)
def test_a_function_has_the_gradient_that_it_has_without_a_checkpoint(f, without):
    plain = getattr(without, f.__name__)
    for n in (0, 1, 2, 5):
        expected = at_start(without, lambda: s2s.value_and_grad(plain)(X, n))
        value, gradient = at_start(bank, lambda: s2s.value_and_grad(f)(X, n))
        assert value == expected[0] == at_start(bank, lambda: f(X, n))
        same(gradient, expected[1])
    expected = differences(lambda x: at_start(bank, lambda: f(x, 3)), X)
    np.testing.assert_allclose(at_start(bank, lambda: s2s.grad(f)(X, 3)), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    "f", [f for f in (*bank.LOOPS, *bank.FUNCTIONS) if f is not bank.shuffled], ids=lambda f: f.__name__
)
def test_a_pullback_may_be_called_twice(f):
    args = (3, 2) if f in bank.LOOPS else (3,)
    gradient = at_start(bank, lambda: s2s.grad(f)(X.copy(), *args))
    _, pullback = at_start(bank, lambda: s2s.vjp(lambda x: f(x, *args), X.copy()))
    for cotangent in (1.0, -2.0):
        same(pullback(cotangent)[0], cotangent * gradient)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", [*bank.LOOPS, *bank.FUNCTIONS], ids=lambda f: f.__name__)
def test_forward_mode_takes_no_notice(f, without):
    args = (3, 2) if f in bank.LOOPS else (3,)
    plain = getattr(without, f.__name__)
    expected = at_start(without, lambda: s2s.jvp(lambda x: plain(x, *args), (X.copy(),), (X,)))
    same(at_start(bank, lambda: s2s.jvp(lambda x: f(x, *args), (X.copy(),), (X,))), expected)


def test_a_loop_without_a_trip():
    assert s2s.grad(bank.plain)(X, 0, 3).tolist() == (2.0 * X).tolist()
    assert s2s.grad(bank.while_counted)(X, 0, 3).tolist() == [1.0] * 6


# --- the schedule ---------------------------------------------------------------------------------------------------


@functools.cache
def fewest(steps, snapshots):
    """Griewank and Walther's recursion: the first state is kept, the next one is kept after ``m`` steps."""
    if steps <= 1:
        return 0
    if snapshots == 1:
        return steps * (steps - 1) // 2
    return min(
        m + fewest(m, snapshots) + fewest(steps - m, snapshots - 1) for m in range(1, steps)
    )


def run(steps, snapshots, known=True):
    """Advances and most states kept, of a loop of ``steps`` steps whose states are their numbers."""
    kept, advanced, most = rt.Snapshots(snapshots, steps if known else None), 0, 0

    def advance(state, step):
        nonlocal advanced, most
        assert state == step
        if kept.due(step):
            kept.keep(step, state)
        most = max(most, len(kept._kept))
        advanced += 1
        return state + 1

    state = 0
    for step in range(steps):
        state = advance(state, step)
    reversed_steps = []
    for step in reversed(range(steps)):
        state = kept.restore(step)
        for k in kept.steps(step):
            state = advance(state, k)
        assert state == step
        reversed_steps.append(step)
    assert reversed_steps == list(range(steps))[::-1]
    return advanced, most


def for_numbers(check, most_steps, snapshots, count):
    """Call ``check`` with ``count`` random numbers of steps, up to ``most_steps``, and of snapshots, in a range."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    take = settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    take(given(st.integers(1, most_steps), st.integers(*snapshots))(check))()


@pytest.mark.slow
def test_the_schedule_is_optimal():
    def check(steps, snapshots):
        advanced, most = run(steps, snapshots)
        assert most <= snapshots
        assert advanced == fewest(steps + 1, snapshots) == advances(steps + 1, snapshots)

    for_numbers(check, 60, (1, 12), count=300)


@pytest.mark.slow
def test_the_schedule_of_many_steps_takes_as_many_advances_as_the_formula_says():
    def check(steps, snapshots):
        advanced, most = run(steps, snapshots)
        assert most <= snapshots
        assert advanced == advances(steps + 1, snapshots)

    for_numbers(check, 3000, (3, 60), count=30)


def test_the_schedule_of_an_unknown_number_of_steps_is_near():
    def check(steps, snapshots):
        advanced, most = run(steps, snapshots, known=False)
        assert most <= snapshots
        repetitions = next(r for r in itertools.count() if math.comb(snapshots - 1 + r, r) >= steps)
        assert advances(steps + 1, snapshots) <= advanced <= (repetitions + 1) * steps
        assert advanced <= 1.5 * advances(steps + 1, snapshots)

    for_numbers(check, 300, (2, 20), count=40)


def test_the_recursion_is_the_formula():
    for steps, snapshots in itertools.product(range(1, 40), range(1, 8)):
        assert fewest(steps, snapshots) == advances(steps, snapshots)
    assert advances(10_001, 20) == 37_980


def test_at_least_one_state_is_kept():
    with pytest.raises(ValueError, match="snapshots=0: at least one state must be kept"):
        s2s.checkpointed(range(3), snapshots=0)
    with pytest.raises(ValueError, match="snapshots=0: at least one state must be kept"):
        s2s.grad(bank.plain)(X, 3, 0)


# --- memory and steps, measured -------------------------------------------------------------------------------------


def stencil(u, n, s):
    for _ in s2s.checkpointed(range(n), snapshots=s):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.05 * u[1:-1] * (u[2:] - u[:-2])
        u = v
    return np.sum(u**2)


def stencil_in_place(x, n, s):
    u = x.copy()
    for _ in s2s.checkpointed(range(n), snapshots=s):
        u[1:-1] += 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u**2)


def stencil_while(u, n, s):
    k = 0
    while s2s.checkpointed(k < n, snapshots=s):
        u = u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) * np.cos(u)
        k += 1
    return np.sum(u**2)


def measured(f, *args):
    """Peak memory of a second call in sizes of the first argument, and the number of steps advanced in reverse."""
    f(*args)
    return measured_once(f, *args)


def measured_once(f, *args):
    """``measured``, of a function that has been called before."""
    steps, seen = rt.Snapshots.steps, []
    rt.Snapshots.steps = lambda self, step: seen.append(steps(self, step)) or seen[-1]
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1] / args[0].nbytes, sum(map(len, seen))
    finally:
        tracemalloc.stop()
        rt.Snapshots.steps = steps


STATE = np.linspace(0.5, 0.6, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("f", [stencil, stencil_in_place])
def test_memory_is_that_of_the_snapshots_and_the_steps_are_those_of_the_theory(f):
    few, many = (measured(s2s.grad(f), STATE, 400, s) for s in (5, 20))
    assert few[1] == advances(401, 5) - 400
    assert many[1] == advances(401, 20) - 400
    assert abs(many[0] - few[0] - 15) < 0.5
    assert few[0] < 5 + 18
    longer = measured(s2s.grad(f), STATE, 1200, 5)
    assert abs(longer[0] - few[0]) < 1.5


@pytest.mark.slow
def test_two_thousand_steps_fit_in_twenty_snapshots():
    state = np.linspace(0.5, 0.6, 2**15)
    gradient = s2s.grad(stencil_in_place)
    gradient(state, 2, 2)
    states, steps = measured_once(gradient, state, 2_000, 20)
    assert states < 20 + 12
    assert steps == advances(2_001, 20) - 2_000


@pytest.mark.slow
def test_memory_of_a_loop_of_unknown_length():
    few, many = (measured(s2s.grad(stencil_while), STATE, 300, s)[0] for s in (5, 20))
    assert abs(many - few - 15) < 0.5
    assert few < 5 + 12


@s2s.checkpoint
def costly(u):
    v = np.sin(u) * np.cos(u)
    w = np.exp(v) * np.tanh(v)
    return u + 0.1 * np.sqrt(1.0 + w * w) * np.log(2.0 + v * v)


def costly_loop(u, n):
    for _ in range(n):
        u = costly(u)
    return np.sum(u)


def costly_row(u):
    a = costly(u)
    b = costly(a)
    c = costly(b)
    d = costly(c)
    return np.sum(costly(d))


def costly_row_kept(u):
    kept = costly.__wrapped__
    return np.sum(kept(kept(kept(kept(kept(u))))))


def test_a_checkpointed_function_keeps_its_arguments_only():
    short, long = (measured(s2s.grad(costly_loop), STATE, n)[0] for n in (10, 60))
    assert abs(long - short - 50) < 0.5
    assert measured(s2s.grad(costly_row), STATE)[0] < 25 < 45 < measured(s2s.grad(costly_row_kept), STATE)[0]


def test_draws_are_not_kept():
    def walk(u, n, s, rng):
        for _ in s2s.checkpointed(range(n), snapshots=s):
            u = np.sin(u) + rng.normal(size=u.shape)
        return np.sum(u)

    few, many = (measured(s2s.grad(walk), STATE, n, 5, np.random.default_rng(0))[0] for n in (20, 200))
    assert abs(few - many) < 2.5


# --- random numbers -------------------------------------------------------------------------------------------------


def test_generators_end_where_the_primal_leaves_them():
    def walk(x, n, s, rng, old, other):
        for _ in s2s.checkpointed(range(n), snapshots=s):
            x = np.sin(x) * rng.normal() + old.normal() + other.gauss(0.0, 1.0) + np.random.normal()
        return np.sum(x)

    def sources():
        np.random.seed(1)
        return np.random.default_rng(1), np.random.RandomState(2), random.Random(3)

    def after(rng, old, other):
        return rng.normal(), old.normal(), other.random(), np.random.normal()

    given = sources()
    value = walk(X, 7, 2, *given)
    expected = after(*given)
    given = sources()
    assert s2s.value_and_grad(walk)(X, 7, 2, *given)[0] == value
    assert after(*given) == expected
    given = sources()
    _, pullback = s2s.vjp(lambda x: walk(x, 7, 2, *given), X)
    pullback(1.0)
    pullback(1.0)
    assert after(*given) == expected


STREAMS = [None, random.Random(3)]


def test_a_stream_of_an_unknown_kind_draws_again():
    """What is shuffled is an array: values that are kept do not say it."""

    def shuffled(x, k, n):
        rng, order = STREAMS[k], np.arange(3)
        for _ in s2s.checkpointed(range(n), snapshots=2):
            rng.shuffle(order)
            x = np.sin(x[order]) * x
        return np.sum(x)

    def after(call):
        STREAMS[0] = np.random.default_rng(1)
        return call(), STREAMS[0].normal()

    drawn = after(lambda: shuffled(X[:3], 0, 3))[1]
    gradient, there = after(lambda: s2s.grad(shuffled)(X[:3], 0, 3))
    expected = differences(lambda x: after(lambda: shuffled(x, 0, 3))[0], X[:3])
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    assert there == drawn


def test_the_pullback_of_a_function_that_changes_arrays_draws_the_same_numbers():
    def f(x, n):
        a = x.copy()
        for _ in range(n):
            a[1:] *= np.random.normal() + np.sin(a[:-1])
        return a

    np.random.seed(0)
    expected = s2s.grad(lambda x: np.sum(f(x, 3)))(X)
    np.random.seed(0)
    out, pullback = s2s.vjp(f, X, 3)
    kept = out.copy()
    for _ in range(2):
        same(pullback(np.ones(6))[0], expected)
    assert out.tolist() == kept.tolist()


def test_what_a_call_from_outside_changed_is_not_read_again():
    """Without any checkpoint: the reverse sweep of a loop reads what the trip has read."""

    def f(x, n):
        for _ in range(n):
            bank.take()
            x = np.sin(x) * bank.TAKEN[0]
        return np.sum(x)

    gradient = at_start(bank, lambda: s2s.grad(f)(X, 3))
    expected = differences(lambda x: at_start(bank, lambda: f(x, 3)), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def _scaled_by_closures(x, n):
    bank.take()
    functions = [lambda t, k=k: t * k for k in range(1, 3)]
    for j in range(n):
        x = np.sin(x) * functions[j % 2](x)
    return x


def _in_function(x, n):
    return np.sum(s2s.checkpoint(_scaled_by_closures)(x, n) * x)


def _in_loop(x, n):
    functions = [lambda t, k=k: t * k for k in range(1, 4)]
    for j in s2s.checkpointed(range(n), snapshots=2):
        bank.take()
        x = x + np.sin(x) * functions[j % 3](x)
    return np.sum(x)


def _in_pullback(x, n):
    """Its pullback runs all of it again, because it undoes a store."""
    y = x.copy()
    y[0] *= x[1]
    return np.sum(np.sin(y)) * _scaled_by_closures(np.sum(y), n)


@pytest.mark.parametrize("f", [_in_function, _in_loop, _in_pullback])
def test_pullbacks_of_calls_are_made_anew_where_what_is_read_from_outside_is_kept(f):
    expected = at_start(bank, lambda: differences(lambda x: f(x, 3), X))
    np.testing.assert_allclose(at_start(bank, lambda: s2s.grad(f)(X, 3)), expected, rtol=1e-6)
    pullback = at_start(bank, lambda: s2s.vjp(f, X, 3))[1]
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6)
    direction = np.cos(X)
    tangent = at_start(bank, lambda: s2s.jvp(f, (X, 3), (direction, None)))[1]
    np.testing.assert_allclose(tangent, np.sum(direction * expected), rtol=1e-6)


def test_nothing_is_printed_twice(capsys):
    def f(x, n, s):
        for t in s2s.checkpointed(range(n), snapshots=s):
            print(t, end=" ")
            x = np.sin(x)
        return np.sum(x)

    s2s.grad(f)(X, 4, 1)
    assert capsys.readouterr().out == "0 1 2 3 "


# --- what surrounds it ----------------------------------------------------------------------------------------------


def test_auxiliary_results_are_those_of_the_primal():
    def f(x, n):
        a = np.ones(3) * x
        for _ in s2s.checkpointed(range(n), snapshots=2):
            a[:] = np.sin(a)
        return np.sum(a), {"a": a, "parts": (a[1:], n)}

    value, aux = f(1.0, 3)
    (found, found_aux), _ = s2s.value_and_grad(f, has_aux=True)(1.0, 3)
    assert found == value
    assert found_aux["a"].tolist() == aux["a"].tolist()
    assert found_aux["parts"][0].tolist() == aux["parts"][0].tolist()


def test_auxiliary_results_are_those_of_the_primal_without_checkpoints():
    def f(x, n):
        a = np.ones(3) * x
        for _ in range(n):
            a[:] = np.sin(a)
        return np.sum(a), a

    assert s2s.value_and_grad(f, has_aux=True)(1.0, 3)[0][1].tolist() == f(1.0, 3)[1].tolist()


def test_second_derivatives(without):
    def second(f):
        return s2s.grad(lambda x: np.sum(s2s.grad(f)(x, 4, 2) ** 2))(X)

    for name in ("plain", "in_place", "while_counted"):
        same(second(getattr(bank, name)), second(getattr(without, name)))
    expected = s2s.jvp(lambda x: s2s.grad(without.in_a_row)(x, 2), (X,), (X,))[1]
    same(s2s.jvp(lambda x: s2s.grad(bank.in_a_row)(x, 2), (X,), (X,))[1], expected)


def test_called_as_it_stands():
    assert s2s.checkpointed(range(4), snapshots=2) == range(4)
    assert s2s.checkpointed(X, 2) is X
    assert bank.layer(X, X)[1] == np.sum(np.tanh(X * X))
    assert bank.layer.__name__ == "layer"
    assert pickle.loads(pickle.dumps(bank.layer)) is bank.layer
    assert repr(bank.layer) == "<s2s.checkpoint layer>"
    assert s2s.grad(bank.inner)(0.5) == pytest.approx(np.exp(np.sin(0.5)) * np.cos(0.5))
    with pytest.raises(s2s.errors.ArgumentError):
        s2s.checkpoint(3)


@pytest.mark.slow
def test_a_version_on_disk(tmp_path):
    (tmp_path / "model.py").write_text(
        "import numpy as np, s2s\n"
        "@s2s.checkpoint\ndef layer(h):\n    return np.tanh(h) * h\n"
        "def f(x, n):\n    for _ in s2s.checkpointed(range(n), snapshots=3):\n        x = layer(x)\n"
        "    return np.sum(x)\n",
        encoding="utf-8",
    )
    program = (
        "import numpy as np, sys, s2s, model\n"
        "print(s2s.grad(model.f)(np.ones(3), 5).tolist(), 'libcst' in sys.modules)\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={"PYTHONPATH": str(Path(s2s.__file__).parent.parent), "S2S_CACHE": "1", "PATH": ""},
        ).stdout.rsplit(maxsplit=1)
        for _ in range(2)
    ]
    assert runs[0][0] == runs[1][0]
    assert [run[1] for run in runs] == ["True", "False"]


# --- what is refused ------------------------------------------------------------------------------------------------


def refused(f, *args):
    with pytest.raises(s2s.errors.DifferentiationError) as caught:
        s2s.grad(f)(*args)
    return caught.value.diagnostic


def test_outside_of_a_loop():
    def f(x):
        return np.sum(s2s.checkpointed(x, snapshots=3))

    def g(x, n):
        for t, _ in enumerate(s2s.checkpointed(range(n), snapshots=3)):
            x = x * t
        return np.sum(x)

    assert refused(f, X).code == refused(g, X, 3).code == "S2S154"


def test_arrays_that_are_kept_in_a_list():
    def history(x, n):
        u, seen = x.copy(), []
        for _ in s2s.checkpointed(range(n), snapshots=2):
            v = 2.0 * u
            v[0] = u[1]
            seen.append(v)
            u = 0.5 * v
        return np.sum(seen[0] ** 2)

    wanted = 8.0 * X
    wanted[0], wanted[1] = 0.0, wanted[1] + 2.0 * X[1]
    np.testing.assert_allclose(s2s.grad(history)(X, 3), wanted, rtol=1e-14)


def test_arrays_that_depend_on_the_run():
    def rows(x, n):
        both, u = [2.0 * x, 3.0 * x], x
        for t in s2s.checkpointed(range(n), snapshots=2):
            row = both[t % 2]
            row[1:] *= np.sin(u[:-1])
            u = u + row
        return np.sum(u)

    def sometimes_a_view(x, n):
        a = x.copy()
        b = a[2:]
        for t in s2s.checkpointed(range(n), snapshots=2):
            b = b.copy() if t == 1 else b
            b[:] = np.sin(b) * a[0]
        return np.sum(a) + np.sum(b)

    for f in (rows, sometimes_a_view):
        found = refused(f, X, 3)
        assert found.code == "S2S150"
        assert found.span.function.endswith(f.__name__)


def test_calls_that_cannot_be_asked_again():
    def may_change(x, n, fill):
        a = np.ones(6)
        for _ in s2s.checkpointed(range(n), snapshots=2):
            fill(a)
            x = x * a
        return np.sum(x)

    def may_raise(x, n):
        for _ in s2s.checkpointed(range(n), snapshots=2):
            try:
                x = x * bank.take()
            except ValueError:
                x = 2.0 * x
        return np.sum(x)

    def in_the_test(x):
        while s2s.checkpointed(bank.take() < 4.0, snapshots=2):
            x = np.sin(x)
        return np.sum(x)

    namespace = {}
    exec("def fill(a): a[0] += 1.0", namespace)  # a function without source
    assert refused(may_change, X, 3, namespace["fill"]).code == "S2S151"
    assert refused(may_raise, X, 3).code == "S2S155"
    assert refused(in_the_test, X).code == "S2S152"
    with pytest.raises(s2s.errors.DifferentiationError, match="S2S151"):  # the pullback runs all of it again
        s2s.vjp(lambda x: bank.shuffled(x, 3, 2), X)


def of_items_before_a_step(x, box, step):
    return np.sin(x) * box["k"] * box["l"][0] * step()


def of_items_after_a_step(x, box, step):
    s = step()
    return np.sin(x * box["l"][0]) * s + box["k"]


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f", [of_items_before_a_step, of_items_after_a_step], ids=lambda f: f.__name__)
def test_what_a_call_without_source_changes_is_as_it_was_in_the_run(f, monkeypatch):
    """It is kept, at any depth, as the call is not made again: the replay reads what the run has read."""
    monkeypatch.setenv("S2S_RECORDED", "1")

    def begun():
        box = {"k": 1.0, "l": [1.0]}
        names = {"box": box}
        exec("def step():\n    box['k'] += 0.5\n    box['l'][0] *= 1.5\n    return 1.2\n", names)
        return box, names["step"]

    def in_a_loop(x, box, step):
        for _ in s2s.checkpointed(range(3), snapshots=2):
            x = f(x, box, step)
        return np.sum(x)

    def in_a_call(x, box, step):
        return np.sum(s2s.checkpoint(f)(s2s.checkpoint(f)(x, box, step), box, step))

    x = np.array([0.3, 0.7])
    for g in (in_a_loop, in_a_call):
        wanted = differences(lambda x: g(x, *begun()), x)
        np.testing.assert_allclose(s2s.grad(g)(x, *begun()), wanted, rtol=1e-6)


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def by_library(x, year):
    return x * np.sin(x) * (2.0 if calendar.isleap(year) else 3.0)


def by_own(x, year):
    return x * np.sin(x) * (2.0 if is_leap(year) else 3.0)


@pytest.mark.parametrize("f, is_asked", [(by_library, True), (by_own, False)])
def test_functions_of_libraries_are_asked_and_others_followed(f, is_asked):
    """What a function of the program draws in a replay is seen by following it; those of Python and NumPy stay."""
    def in_a_call(x, year):
        return s2s.checkpoint(f)(x, year)

    def in_a_loop(x, year):
        for k in s2s.checkpointed(range(3), snapshots=1):
            x = f(x, year + k)
        return x

    for g in (in_a_call, in_a_loop):
        np.testing.assert_allclose(s2s.grad(g)(0.3, 2024), differences(lambda x: g(x, 2024), 0.3), rtol=1e-6)
        text = s2s.source(g, 0.3, 2024, mode="grad")
        assert ("import calendar" in text, " % 400" in text) == (is_asked, not is_asked)


def test_a_replay_changes_copies_of_the_arrays_of_a_snapshot_and_takes_numbers_as_they_are():
    def f(x, n):
        y, s = np.array(x), x[0]
        for _ in s2s.checkpointed(range(n), snapshots=2):
            y[0] = np.sin(y[0] * s)
            s = s * y[1] + 0.1
            y = y * 0.9
        return np.sum(y) * s

    np.testing.assert_allclose(s2s.grad(f)(X, 5), differences(lambda x: f(x, 5), X), rtol=1e-7, atol=1e-10)
    text = s2s.source(f, X, 5)
    replay = text.partition("snapshots.restore(")[2].partition("snapshots.steps(")[0]
    assert replay.count("np.copy(") == 1 and "y = np.copy(y)\n" in replay, text


def test_the_message():
    def walk(x, n):
        for _ in s2s.checkpointed(range(n), snapshots=2):
            try:
                x = x * bank.take()
            except ValueError:
                x = 2.0 * x
        return np.sum(x)

    line = walk.__code__.co_firstlineno
    text = str(s2s.errors.render(refused(walk, X, 3)))
    assert "a call of `take` is recomputed, and may give another result each time [S2S155]" in text
    assert f"test_checkpointing.py:{line + 3}" in text or "checkpointed.py:" in text
    assert "instead:  pass the value as an argument" in text


def test_on_numba(recwarn):
    pytest.importorskip("numba")
    f = s2s.differentiable(bank.plain, backend="numba")
    same(s2s.grad(f)(X, 5, 2), s2s.grad(bank.plain)(X, 5, 2))
    assert any("runs without Numba" in str(w.message) for w in recwarn)


def drawn(a, b=1.0):
    return a + b * np.random.random()


WEIGHTS = np.array([1.0, 2.0, 0.5])
CALLING_BACK = {
    "reduce": lambda w: functools.reduce(drawn, w),
    "map": lambda w: sum(map(drawn, w)),
    "filter": lambda w: sum(filter(lambda a: np.random.random() > 0.4, w)),
    "sorted": lambda w: sorted(w, key=lambda a: np.random.random())[0],
    "max": lambda w: max(w, key=lambda a: np.random.random()),
    "min": lambda w: min(w, key=lambda a: np.random.random()),
    "apply_along_axis": lambda w: np.sum(np.apply_along_axis(lambda v: v * np.random.random(), 0, WEIGHTS)),
    "piecewise": lambda w: np.sum(np.piecewise(WEIGHTS, [WEIGHTS > 0.7], [lambda v: v * np.random.random(), 1.0])),
    "fromfunction": lambda w: np.sum(np.fromfunction(lambda i: i * np.random.random(), (3,))),
    "accumulate": lambda w: list(itertools.accumulate(w, drawn))[2],
}


@pytest.mark.parametrize("name", CALLING_BACK)
def test_what_a_callback_draws_is_seen_again(name):
    call = CALLING_BACK[name]

    def block(x, w):
        return np.sin(x * call(w)) * w[0]

    checkpointed = s2s.checkpoint(block)

    def f(x):
        np.random.seed(3)
        for _ in range(3):
            x = checkpointed(x, [1.0, 2.0, 0.5])
        return np.sum(x)

    x, step = np.array([0.5, 1.3, -0.8]), 1e-6
    wanted = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(x), wanted, atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), wanted, atol=1e-6)
