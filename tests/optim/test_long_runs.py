"""Runs that are watched, stopped, interrupted, saved and gone on with: two are, bit for bit, the one of all steps."""

import io
import itertools
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NonFiniteError
from s2s.optim import SGD, Adagrad, Adam, AdamW, Batches, Momentum, Nesterov, RMSProp, from_arrays, schedules, to_arrays
from tests.helpers import ROOT, assert_same

WARM = schedules.WarmUp(7, then=schedules.CosineDecay(0.05, steps=20))
ALL = [SGD(0.01), Momentum(0.01), Nesterov(WARM), RMSProp(0.01), Adagrad(0.05), Adam(WARM), AdamW(0.05)]
X = np.random.default_rng(3).normal(size=(20, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.3


def start():
    return {"w": np.zeros(3), "layers": [(np.full((2, 3), 0.1), 0.5)], "name": "x", "n": 3}


MASK = {"w": np.array([True, False, False]), "layers": False, "name": None, "n": None}


def loss(params, x, y):
    scale, b = params["layers"][0]
    return np.mean((x @ (params["w"] + scale[0] * scale[1]) + b - y) ** 2)


def random_loss(params, x, y, rng):
    rows = rng.integers(0, len(y), 5)
    return loss(params, x[rows], y[rows])


def legacy_loss(params, x, y, state):
    rows = state.randint(0, len(y), 5)
    return loss(params, x[rows], y[rows])


# --- going on ---------------------------------------------------------------------------------------------------------


def saved(found):
    """Parameters and state, through a file of NumPy's and through pickle."""
    file = io.BytesIO()
    np.savez(file, **to_arrays({"params": found.params, "state": found.state}))
    file.seek(0)
    both = from_arrays(np.load(file), like={"params": found.params, "state": found.state})
    assert_same(both["params"], found.params)
    assert_same(both["state"], found.state)
    again = pickle.loads(pickle.dumps(found))
    assert_same(again.state, both["state"])
    return again.params, both["state"]


@pytest.mark.parametrize("opt", ALL, ids=repr)
@pytest.mark.parametrize("frozen", [None, MASK])
def test_two_runs_are_one(opt, frozen):
    whole = opt.minimize(loss, start(), X, Y, steps=23, frozen=frozen)
    first = opt.minimize(loss, start(), X, Y, steps=9, frozen=frozen)
    params, state = saved(first)
    second = opt.minimize(loss, params, X, Y, steps=14, frozen=frozen, state=state)
    assert_same(second.params, whole.params)
    assert_same(second.state, whole.state)
    assert_same(second.gradient, whole.gradient)
    assert second.value == whole.value and second.step == whole.step == 23
    np.testing.assert_array_equal([*first.history, *second.history[1:]], whole.history)


def test_a_state_is_loaded_into_a_new_one():
    """What ``init`` gives is enough to load into, also where masks have made arrays of numbers of steps."""
    opt = Adam(0.1)
    first = opt.minimize(loss, start(), X, Y, steps=4, frozen={**MASK, "layers": True})
    state = from_arrays(to_arrays(first.state), like=opt.init(start()))
    assert_same(state, first.state)
    assert state["steps"]["w"].tolist() == [0, 4, 4]
    with pytest.raises(ArgumentError, match="1 of 10 arrays are missing: \\['step'\\]"):
        from_arrays(to_arrays({**first.state, "step": None}), like=first.state)
    with pytest.raises(ArgumentError, match="there are no numbers in a Result"):
        to_arrays(first)


@pytest.mark.parametrize("function, stream", [
    (random_loss, lambda: np.random.default_rng(5)), (legacy_loss, lambda: np.random.RandomState(5)),
], ids=["generator", "legacy"])
def test_two_runs_with_random_batches_are_one(function, stream):
    opt, rng = Adam(0.05), stream()
    whole = opt.minimize(function, start(), X, Y, rng, steps=12)
    alone = stream()
    first = opt.minimize(function, start(), X, Y, alone, steps=5)
    alone = pickle.loads(pickle.dumps(alone))
    second = opt.minimize(function, first.params, X, Y, alone, steps=7, state=first.state)
    assert_same(second.params, whole.params)
    assert_same(second.state, whole.state)
    np.testing.assert_array_equal([*first.history, *second.history[1:]], whole.history)
    assert len({*whole.history}) == 13  # the batches are others each time
    assert rng.random(3).tolist() == alone.random(3).tolist() if function is random_loss else True


def test_two_runs_with_batches_by_step_are_one():
    opt, batches = Momentum(0.05), Batches(X, Y, size=6, seed=1)
    whole = opt.minimize(loss, start(), steps=11, batches=batches)
    first = opt.minimize(loss, start(), steps=4, batches=batches)
    second = opt.minimize(loss, first.params, steps=7, state=first.state, batches=Batches(X, Y, size=6, seed=1))
    assert_same(second.params, whole.params)
    assert_same(second.state, whole.state)
    params, state = start(), opt.init(start())
    for step in range(11):
        params, state = opt.apply_gradients(opt.compute_gradients(loss, params, *batches(step)), params, state)
    assert_same(params, whole.params)


def test_batches_go_through_the_rows_in_other_orders():
    batches = Batches(np.arange(10), 10.0 * np.arange(10), size=5, seed=2)
    epochs = [[batches(2 * k + i)[0].tolist() for i in range(2)] for k in range(4)]
    assert all(sorted(sum(epoch, [])) == list(range(10)) for epoch in epochs)
    assert len({str(epoch) for epoch in epochs}) == 4
    assert all((10 * a == b).all() for a, b in map(batches, range(8)))
    assert Batches(np.arange(10), size=5, seed=3)(0)[0].tolist() != epochs[0][0]
    assert Batches(np.arange(10), size=4, shuffle=False)(3)[0].tolist() == [4, 5, 6, 7]
    for arrays, size in (((), 1), ((np.ones(2), np.ones(3)), 1), ((np.ones(2),), 3), ((np.ones(2),), 0), ((1.0,), 1)):
        with pytest.raises(ArgumentError):
            Batches(*arrays, size=size)


def test_states_that_do_not_fit_are_refused_before_the_first_step():
    def never(params):
        raise AssertionError

    other = Adam().init({"w": np.ones(2)})
    for state in (Momentum().init(start()), SGD().minimize(loss, start(), X, Y, steps=1), other):
        with pytest.raises(ArgumentError, match=r"S2S60[15]"):
            Adam().minimize(never, start(), state=state)
    with pytest.raises(ArgumentError, match="it is a Result .*\n.*pass its `state`"):
        SGD().minimize(never, start(), state=SGD().minimize(loss, start(), X, Y, steps=1))
    with pytest.raises(ArgumentError, match="is not a function that can be differentiated"):
        Adam().minimize(start(), loss)
    with pytest.raises(ArgumentError, match=r"no parameter is called 'weights' \[S2S608\]"):
        Adam().minimize(never, start(), frozen=["w", "weights"])


# --- watching ---------------------------------------------------------------------------------------------------------


def test_what_is_not_finite_leaves_what_there_was():
    opt = SGD(lambda step: 1e200 if step == 3 else 0.01)
    with np.errstate(all="ignore"), pytest.raises(NonFiniteError) as caught:
        opt.minimize(loss, start(), X, Y, steps=10)
    found, alone = caught.value.result, opt.minimize(loss, start(), X, Y, steps=3)
    assert_same(found.params, alone.params)
    assert_same(found.state, alone.state)
    np.testing.assert_array_equal(found.history, alone.history)
    bad = {**start(), "w": np.full(3, np.nan)}
    assert pytest.raises(NonFiniteError, opt.minimize, loss, bad, X, Y).value.result is None


def test_the_callback_sees_what_would_be_the_result():
    seen = []
    opt = Adam(0.05)
    found = opt.minimize(loss, start(), X, Y, steps=6, callback=seen.append)
    assert [one.step for one in seen] == [1, 2, 3, 4, 5, 6]
    for one in seen:
        alone = opt.minimize(loss, start(), X, Y, steps=one.step)
        assert_same(one.params, alone.params)
        assert_same(one.state, alone.state)
        assert_same(one.gradient, s2s.grad(loss)(one.params, X, Y))
        assert one.value == alone.value == one.history[-1] and len(one.history) == one.step + 1
    assert not found.stopped and not found.interrupted


def give_up(found):
    raise StopIteration


@pytest.mark.parametrize("ends", [
    lambda found: found.step == 3, lambda found: np.equal(found.step, 3),
    lambda found: found.step == 3 and give_up(found),
])
def test_the_callback_stops_the_run(ends):
    found = Adam(0.05).minimize(loss, start(), X, Y, steps=6, callback=ends)
    alone = Adam(0.05).minimize(loss, start(), X, Y, steps=3)
    assert found.stopped and not found.interrupted and repr(found) == repr(alone).replace("before;", "before, stopped;")
    assert_same(found.params, alone.params)
    assert_same(found.state, alone.state)
    np.testing.assert_array_equal(found.history, alone.history)


def test_what_a_callback_returns_besides_and_raises():
    assert Adam().minimize(loss, start(), X, Y, steps=3, callback=lambda found: found.value).step == 3
    with pytest.raises(ZeroDivisionError):
        Adam().minimize(loss, start(), X, Y, steps=3, callback=lambda found: 1 / 0)

    def ends(step):
        raise StopIteration

    with pytest.raises(StopIteration):  # that of anything else is no end of the run
        Adam().minimize(loss, start(), X, Y, batches=ends)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    Adam(0.05).minimize(loss, start(), X, Y, steps=6, progress=True)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    found = Adam(0.05).minimize(loss, start(), X, Y, steps=6, progress=True)
    assert capsys.readouterr().out == ""
    shown = terminal.getvalue()
    assert "Adam" in shown and "6/6" in shown and f"loss {found.value:.6g}" in shown
    terminal.truncate(0)
    Adam(0.05).minimize(loss, start(), X, Y, steps=6)
    assert not terminal.getvalue().strip("\0")


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np, s2s
from tests.optim.test_long_runs import X, Y, loss, random_loss, start

def told(found):
    if found.step == 3:
        print("ready", flush=True)

opt = s2s.optim.Adam(0.01)
found = opt.minimize(loss, start(), X, Y, steps=10**7, callback=told, progress=True)
assert found.interrupted and not found.stopped and 3 <= found.step < 10**7
assert len(found.history) == found.step + 1 and found.history[-1] == found.value
print(found.step, flush=True)
again = opt.minimize(loss, start(), X, Y, steps=found.step)
for name in ("w",):
    assert again.params[name].tobytes() == found.params[name].tobytes()
for name in ("m", "v"):
    assert again.state[name]["w"].tobytes() == found.state[name]["w"].tobytes()
print("same")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Windows are others")
def test_ctrl_c_gives_what_there_is():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT, env=environment, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, problem = process.communicate(timeout=120)
    assert (process.returncode, problem) == (0, "")
    assert out.endswith("same\n")


@pytest.fixture
def interrupt_after():
    """Ctrl-C, after so many seconds of the processor; it raises, whatever another test's library has made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    of_timer = signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    yield lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, of_timer)
    signal.signal(signal.SIGINT, before or signal.default_int_handler)


@pytest.mark.skipif(os.name == "nt", reason="signals of Windows are others")
def test_ctrl_c_at_any_time_leaves_nothing_half_done(interrupt_after):
    opt, lost = Adam(0.01), 0  # Python drops an interrupt that comes in a finalizer
    for delay in np.linspace(0.0005, 0.02, 12):
        rng = np.random.default_rng(5)

        def later(found):
            if found.step == 1:
                interrupt_after(delay)

        found = opt.minimize(random_loss, start(), X, Y, rng, steps=20_000, callback=later)
        lost += not found.interrupted
        whole = opt.minimize(random_loss, start(), X, Y, np.random.default_rng(5), steps=found.step + 3)
        np.testing.assert_array_equal(found.history, whole.history[:-3])
        rest = opt.minimize(random_loss, found.params, X, Y, rng, steps=3, state=found.state)
        assert_same(rest.params, whole.params)
        assert_same(rest.state, whole.state)
    assert lost <= 2


def test_ctrl_c_before_anything_is_known_is_an_interrupt():
    def interrupted(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Adam().minimize(loss, start(), X, Y, batches=interrupted)


def test_a_notebook_shows_a_line(monkeypatch):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    output, clock = OutStream(), types.SimpleNamespace(monotonic=itertools.count(10.0, 0.15).__next__)
    monkeypatch.setattr(sys, "stderr", output)
    monkeypatch.setattr("s2s.optim.progress.time", clock)  # a line at every second step
    Adam(0.1).minimize(lambda x: np.sum(x**2), np.ones(2), steps=7, progress=True)
    steps = (1, 0), (3, 1), (5, 1), (7, 1), (7, 1)
    lines = "".join(rf"\rAdam {step}/7 loss [\d.]+ {seconds} s *" for step, seconds in steps)
    assert re.fullmatch(lines + r"\n", output.getvalue())
