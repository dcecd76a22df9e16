"""Derivatives over data in parts on real clusters of Dask: several processes, one of which is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import s2s
from s2s.distributed.derivatives import Distributed
from s2s.distributed.partials import Task
from s2s.errors import ArgumentError
from tests.helpers import ROOT, Later

pytestmark = pytest.mark.slow

dask, dask_distributed, da = Later("dask"), Later("distributed"), Later("dask.array")

d = s2s.distributed
rng = np.random.default_rng(7)
X, y, w = rng.normal(size=(400, 3)), rng.normal(size=400), rng.normal(size=3)

USERS = """
import numpy as np
RATE = 0.7

def act(z):
    return np.tanh(RATE * z)

def loss(w, X, y):
    return np.sum((act(X @ w) - y) ** 2)
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A busy machine is waited for."""
    monkeypatch.setattr("s2s.distributed.engines.PATIENCE", 240.0)
    monkeypatch.setattr("s2s.distributed.engines.ANSWER", 120.0)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    quiet = {
        "distributed.logging.distributed": "error", "distributed.worker.memory.terminate": False,
        "distributed.deploy.lost-worker-timeout": "120s",  # else one that is slow to come back is given up
    }
    with dask.config.set(quiet), dask_distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as cluster, dask_distributed.Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(autouse=True)
def both_workers(client):
    """Begin with both workers: a test before may have killed one."""
    client.wait_for_workers(2, timeout=120)


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """A module of the user that no worker can import."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "users_model_of_cluster.py").write_text(USERS)
    sys.path.insert(0, str(folder))
    try:
        import users_model_of_cluster
    finally:
        sys.path.remove(str(folder))
    return users_model_of_cluster


def parts(rows=50):
    return da.from_array(X, chunks=(rows, 3)), da.from_array(y, chunks=rows)


def test_dask_arrays_give_what_the_whole_gives_to_the_last_bit_each_time(client, users):
    Xd, yd = parts()
    gradient = d.value_and_grad(users.loss, over="X, y", client=client)
    value, found = gradient(w, Xd, yd)
    np.testing.assert_allclose(value, users.loss(w, X, y), rtol=1e-12)
    np.testing.assert_allclose(found, s2s.grad(users.loss)(w, X, y), rtol=1e-10)
    for _ in range(3):
        again_value, again = gradient(w, Xd, yd)
        assert again_value == value and np.array_equal(again, found)
    here_value, here = d.value_and_grad(users.loss, over="X, y")(w, np.split(X, 8), np.split(y, 8))
    assert here_value == value and np.array_equal(here, found)


def test_workers_compile_nothing_and_have_no_file_of_the_user(client, users):
    d.grad(users.loss, over="X, y", client=client)(w, *parts())

    def loaded():
        return [name for name in sys.modules if name in ("libcst", "s2s.pipeline", "users_model_of_cluster")]

    assert not any(client.run(loaded).values())


@pytest.mark.parametrize("form", ["delayed", "futures", "bag", "arrays", "rows", "mixed"])
def test_the_forms_of_data(client, users, form, tmp_path):
    Xs, ys = np.split(X, [1, 100, 100, 250]), np.split(y, [1, 100, 100, 250])
    if form == "delayed":
        Xs, ys = [dask.delayed(np.array)(part) for part in Xs], [dask.delayed(np.array)(part) for part in ys]
    elif form == "futures":
        Xs, ys = client.scatter(Xs, hash=False), client.scatter(ys, hash=False)
    elif form == "bag":
        bag = pytest.importorskip("dask.bag")
        Xs, ys = bag.from_sequence(X.tolist(), npartitions=5), bag.from_sequence(y.tolist(), npartitions=5)
    elif form == "rows":
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "y.npy", y)
        Xs, ys = (d.rows(np.load(tmp_path / f"{name}.npy", mmap_mode="r"), 90) for name in "Xy")
    elif form == "mixed":
        Xs, ys = da.from_array(X, chunks=(90, 3)), y
    gradient = d.grad(users.loss, over="X, y", client=client)
    np.testing.assert_allclose(gradient(w, Xs, ys), s2s.grad(users.loss)(w, X, y), rtol=1e-10)


def test_data_frames(client, users):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    whole = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    frame = frames.from_pandas(whole, npartitions=4)
    frame = frame[frame.a > -0.2]  # how many rows a partition has is not known
    kept = X[:, 0] > -0.2
    found = d.grad(users.loss, over="X, y", client=client)(w, frame[["a", "b", "c"]], frame["y"])
    np.testing.assert_allclose(found, s2s.grad(users.loss)(w, X[kept], y[kept]), rtol=1e-10)


def test_second_derivatives_jacobians_and_maps(client, users):
    Xd, yd = parts(150)
    v = np.array([1.0, 0.0, -1.0])
    found = d.hvp(users.loss, over="X, y", client=client)(w, v, Xd, yd)
    np.testing.assert_allclose(found, s2s.hvp(users.loss)(w, v, X, y), rtol=1e-10)

    def sums(w, X):
        return np.sum(np.sin(X * w), axis=0)

    np.testing.assert_allclose(
        d.jacobian(sums, over="X", client=client)(w, Xd), np.diag(np.sum(X * np.cos(X * w), axis=0)), rtol=1e-10)
    rows = d.map(lambda w, X: X @ w, over="X", client=client)
    np.testing.assert_allclose(np.concatenate(list(rows(w, Xd))), X @ w)


def test_a_map_has_few_parts_on_the_cluster_at_a_time(client):
    def known():
        return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))

    parts = [np.full((2, 3), float(k)) for k in range(120)]  # each is sent when its turn comes
    doubled = d.map(lambda w, X: 2.0 * X @ w, over="X", client=client)
    before, most = known(), 0
    found = doubled(np.ones(3), parts)
    for k, part in enumerate(found):
        np.testing.assert_array_equal(part, [6.0 * k, 6.0 * k])
        most = max(most, len(known() - before)) if k % 10 == 0 else most
    assert k == 119 and 0 < most < 40
    started = doubled(np.ones(3), parts)
    next(started)
    started.close()
    until = time.monotonic() + 120
    while len(known() - before) > 5 and time.monotonic() < until:
        time.sleep(0.1)
    assert len(known() - before) <= 5


def loader_that_kills(place):
    """Loads 50 rows; the first time that it is asked for those of one part, it kills its worker."""
    def load(k, flag):
        if k == place and not os.path.exists(flag):
            open(flag, "w").close()
            os.kill(os.getpid(), 9)
        return X[50 * k : 50 * (k + 1)]

    return load


def test_a_map_goes_on_where_a_worker_is_killed(client, tmp_path):
    flag = tmp_path / "killed"

    lazy = dask.delayed(loader_that_kills(5))
    mixed = [lazy(k, str(flag)) if k % 2 else X[50 * k : 50 * (k + 1)] for k in range(8)]  # some are sent from here
    found = list(d.map(lambda w, X: X @ w, over="X", client=client, timeout=120)(w, mixed))
    assert flag.exists()
    np.testing.assert_allclose(np.concatenate(found), X @ w, rtol=1e-12)


def test_numba_on_the_workers(client):
    pytest.importorskip("numba")

    @s2s.differentiable(backend="numba")
    def loop(w, X, y):
        total = 0.0
        for i in range(len(X)):
            total += (np.tanh(X[i] @ w) - y[i]) ** 2
        return total

    found = d.grad(loop, over="X, y", client=client)(w, *parts(200))
    plain = s2s.grad(lambda w, X, y: np.sum((np.tanh(X @ w) - y) ** 2))(w, X, y)
    np.testing.assert_allclose(found, plain, rtol=1e-10)

    def compiled():
        from s2s.shipping import shipped

        plain = [f for module in shipped._modules.values() for f in vars(module).values()]
        return [any(f is one for one in plain) for f in shipped._compiled.values()]

    found = client.run(compiled).values()  # whether what a worker runs is the Python function
    assert any(found) and not any(map(any, found))


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, users, tmp_path):
    flag = tmp_path / "killed"

    lazy = dask.delayed(loader_that_kills(3))
    Xs = [lazy(k, str(flag)) for k in range(8)]
    before = set(client.run(os.getpid).values())
    gradient = d.value_and_grad(users.loss, over="X, y", client=client, timeout=120)
    gradient(w, Xs[:2], np.split(y[:100], 2))
    value, found = gradient(w, Xs, np.split(y, 8))
    assert flag.exists()
    undisturbed = d.value_and_grad(users.loss, over="X, y")(w, np.split(X, 8), np.split(y, 8))
    assert value == undisturbed[0] and np.array_equal(found, undisturbed[1])
    client.wait_for_workers(2, timeout=120)
    assert set(client.run(os.getpid).values()) != before


def sum_that_kills(rows, when, flag):
    """Adds neighbours; the first time that a sum is over so many rows, it kills its worker before or after it adds."""
    def combine(*partials):
        from s2s.distributed import partials as module

        def die():
            if sum(p.rows for p in partials) >= rows and not os.path.exists(flag):
                open(flag, "w").close()
                os.kill(os.getpid(), 9)

        if when == "before":
            die()
        found = module.combine(*partials)
        if when == "after":
            die()
        return found

    return combine


@pytest.mark.parametrize(("rows", "when", "form"), [
    (40, "after", "arrays"), (300, "before", "delayed"), (400, "before", "arrays"), (400, "after", "delayed")])
def test_a_worker_that_is_killed_while_sums_are_made_changes_nothing(
    client, users, tmp_path, monkeypatch, rows, when, form,
):
    """In the first level of the tree, in the second, and at its root."""
    Xs, ys = np.split(X, 80), np.split(y, 80)
    undisturbed = d.value_and_grad(users.loss, over="X, y")(w, Xs, ys)
    if form == "delayed":
        Xs, ys = [dask.delayed(np.array)(part) for part in Xs], [dask.delayed(np.array)(part) for part in ys]
    client.wait_for_workers(2, timeout=120)
    flag = tmp_path / "killed"
    monkeypatch.setattr("s2s.distributed.engines.combine", sum_that_kills(rows, when, str(flag)))
    value, found = d.value_and_grad(users.loss, over="X, y", client=client, timeout=120)(w, Xs, ys)
    assert flag.exists()
    assert value == undisturbed[0] and np.array_equal(found, undisturbed[1])


def test_a_worker_that_is_killed_while_parameters_are_sent_changes_nothing(client, users, tmp_path, monkeypatch):
    flag, here = str(tmp_path / "killed"), os.getpid()

    class Deadly(Task):
        def __setstate__(self, state):
            if os.getpid() != here and not os.path.exists(flag):
                open(flag, "w").close()
                os.kill(os.getpid(), 9)
            super().__setstate__(state)

    made = Distributed._task
    monkeypatch.setattr(Distributed, "_task", lambda *args: Deadly(**vars(made(*args))))
    client.wait_for_workers(2, timeout=120)
    found = d.grad(users.loss, over="X, y", client=client, timeout=120)(w, *parts())
    assert os.path.exists(flag)
    np.testing.assert_array_equal(found, d.grad(users.loss, over="X, y")(w, np.split(X, 8), np.split(y, 8)))


def test_futures_that_have_gone_with_their_worker_are_told(client, users):
    client.wait_for_workers(2, timeout=120)
    sent = client.scatter(np.split(X, 8), hash=False)
    gradient = d.grad(users.loss, over="X, y", client=client, timeout=120)
    gradient(w, sent, np.split(y, 8))
    address, process = next(iter(client.run(os.getpid).items()))
    os.kill(process, 9)
    while address in client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.workers)):
        pass  # until the scheduler knows
    with pytest.raises(ArgumentError, match=r"given as a future .* gone with its worker \[S2S706\](.|\n)*scatter"):
        for _ in range(10):
            gradient(w, sent, np.split(y, 8))


def test_training_with_lbfgs_and_adam(client, users):
    from scipy.optimize import minimize

    Xd, yd = client.persist(parts(200))
    objective = d.value_and_grad(users.loss, over="X, y", client=client)
    found = minimize(objective, np.zeros(3), args=(Xd, yd), jac=True, method="L-BFGS-B")
    assert np.abs(s2s.grad(users.loss)(found.x, X, y)).max() < 1e-2
    trained = s2s.optim.Adam(0.1).minimize(objective, np.zeros(3), Xd, yd, steps=5)
    alone = s2s.optim.Adam(0.1).minimize(users.loss, np.zeros(3), X, y, steps=5)
    np.testing.assert_allclose(trained.params, alone.params, rtol=1e-9)


# --- bad input ------------------------------------------------------------------------------------------------------


def test_chunks_that_do_not_fit_are_told(client, users):
    gradient = d.grad(users.loss, over="X, y", client=client, timeout=120)
    Xd, yd = parts()
    with pytest.raises(ArgumentError, match=r"`X` in 8 parts \(50, .*`y` in 4 parts \(100, .* \[S2S701\]"):
        gradient(w, Xd, yd.rechunk(100))
    with pytest.raises(ArgumentError, match=r"in chunks along axis 1 too \[S2S704\](.|\n)*rechunk"):
        gradient(w, Xd.rechunk((50, 2)), yd)
    with pytest.raises(ArgumentError, match="S2S702"):
        gradient(w, Xd[:0], yd[:0])
    with pytest.raises(ArgumentError, match=r"part 1 has `X` of shape \(50, 3\), `y` of shape \(49,\) \[S2S701\]"):
        short = [dask.delayed(y[50 * k : 50 * k + 50 - k]) for k in range(2)]
        gradient(w, [dask.delayed(X[50 * k : 50 * k + 50]) for k in range(2)], short)


@pytest.mark.parametrize(("part", "message"), [
    (None, r"a part is a NoneType, and no array"), (3.0, "a part is a float, and no array"),
    (np.ma.masked_greater(X, 0.0), "a part is a MaskedArray")])
def test_what_is_no_part_is_told(client, users, part, message):
    with pytest.raises(ArgumentError, match=rf"{message}.*\[S2S701\]"):
        d.grad(users.loss, over="X, y", client=client, timeout=120)(w, [dask.delayed(lambda: part)()], [y])


def test_what_does_not_pickle_and_futures_of_another_client_are_told(client, users):
    def with_lock(w, X, lock):
        return np.sum(X @ w)

    with pytest.raises(ArgumentError, match=r"an argument does not pickle.*lock.*\[S2S710\]"):
        d.grad(with_lock, over="X", client=client, timeout=120)(w, np.split(X, 2), threading.Lock())
    with dask_distributed.Client(client.scheduler.address, set_as_default=False) as other:
        sent = other.scatter(np.split(X, 2), hash=False)
        with pytest.raises(ArgumentError, match=r"a part is a future of another client \[S2S706\]"):
            d.grad(users.loss, over="X, y", client=client, timeout=120)(w, sent, np.split(y, 2))


def test_what_a_task_raises_is_raised_here(client):
    def fragile(w, X):
        if X[0, 0] > 1e6:
            raise FloatingPointError("too large")
        return np.sum(X @ w)

    large = X.copy()
    large[100] = 1e9
    with pytest.raises(FloatingPointError, match="too large") as told:
        d.grad(fragile, over="X", client=client, timeout=120)(w, da.from_array(large, chunks=(100, 3)))
    assert "in part 1 of the data: `X` of shape (100, 3)" in told.value.__notes__


def test_a_call_that_takes_too_long_is_ended(client, users, tmp_path, monkeypatch):
    """By a clock that has gone on by an hour once the worker is at the part: the call has ended before the part."""
    begun, ended = str(tmp_path / "begun"), str(tmp_path / "ended")

    def slow(part):
        open(begun, "w").close()
        for _ in range(12_000):
            if os.path.exists(ended):
                break
            time.sleep(0.01)
        return part

    clock = types.SimpleNamespace(monotonic=lambda: time.monotonic() + 3600.0 * os.path.exists(begun))
    monkeypatch.setattr("s2s.distributed.engines.time", clock)
    gradient = d.grad(users.loss, over="X, y", client=client, timeout=1800.0)
    try:
        with pytest.raises(ArgumentError, match="S2S708"):
            gradient(w, [dask.delayed(slow)(X)], [y])
    finally:
        open(ended, "w").close()


def test_a_client_that_is_gone_is_told(users, monkeypatch):
    with dask_distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as cluster:
        client = dask_distributed.Client(cluster, set_as_default=False)
        gradient = d.grad(users.loss, over="X, y", client=client)
        gradient(w, *parts(200))
        cluster.scale(0)
        client.sync(_no_workers, client)
        monkeypatch.setattr("s2s.distributed.engines.PATIENCE", 2.0)
        with pytest.raises(ArgumentError, match="S2S706"):
            gradient(w, *parts(200))
        client.close()
        with pytest.raises(ArgumentError, match=r"it is closed \[S2S706\]"):
            gradient(w, *parts(200))


def test_nothing_depends_on_where_arrays_lie(client):
    def loss(W, X):
        return np.sum(np.tanh(X @ W))

    W = np.asfortranarray(rng.normal(size=(3, 40)))
    shifted = np.frombuffer(b"0" + W.tobytes(), np.uint8)[1:].view(np.float64).reshape(3, 40)
    Xd = da.from_array(np.asfortranarray(X), chunks=(100, 3))
    on_cluster = d.grad(loss, over="X", client=client)
    here = d.grad(loss, over="X")
    copies = [part.copy() for part in np.split(X, 4)]
    found = [on_cluster(W, Xd), on_cluster(shifted, Xd), here(W, np.split(X, 4)), here(shifted, copies)]
    assert all(np.array_equal(found[0], other) for other in found[1:])


async def _no_workers(client):
    while client.scheduler_info()["workers"]:
        await client._update_scheduler_info()
        await __import__("asyncio").sleep(0.05)


# --- over TCP -------------------------------------------------------------------------------------------------------


def test_workers_that_were_started_by_hand_over_tcp(users, tmp_path):
    """Two schedulers, each with a worker in a process of its own, on the loopback interface."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off"}
    started, clients = [], []
    try:
        for k in range(2):
            file = tmp_path / f"scheduler{k}.json"
            for module, options in (
                ("dask_scheduler", ["--host", "tcp://127.0.0.1:0", "--no-dashboard"]),
                ("dask_worker", ["--nthreads", "1", "--no-dashboard", "--no-nanny"]),
            ):
                command = [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(file), *options]
                started.append(subprocess.Popen(
                    command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        results = []
        for k in range(2):
            file = tmp_path / f"scheduler{k}.json"
            until = time.monotonic() + 120
            while not file.exists() and time.monotonic() < until:
                time.sleep(0.1)
            clients.append(dask_distributed.Client(scheduler_file=str(file), set_as_default=False, timeout=120))
            assert clients[-1].scheduler.address.startswith("tcp://127.0.0.1")
            clients[-1].wait_for_workers(1, timeout=120)
        threads = [
            threading.Thread(target=lambda c=c: results.append(
                d.value_and_grad(users.loss, over="X, y", client=c, timeout=120)(w, *parts())))
            for c in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
        assert len(results) == 2 and np.array_equal(results[0][1], results[1][1])
        np.testing.assert_allclose(results[0][1], s2s.grad(users.loss)(w, X, y), rtol=1e-10)
    finally:
        for one in clients:
            one.close()
        for one in started:
            one.kill()
            one.wait(120)


def test_a_scheduler_that_does_not_answer_is_told(users, tmp_path, monkeypatch):
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "tcp://127.0.0.1:0", "--no-dashboard",
               "--scheduler-file", str(file)]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client, hangs = None, threading.Timer(300.0, os.kill, (started.pid, signal.SIGCONT))
    try:
        until = time.monotonic() + 120
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        client = dask_distributed.Client(scheduler_file=str(file), set_as_default=False, timeout=120)
        os.kill(started.pid, signal.SIGSTOP)
        monkeypatch.setattr("s2s.distributed.engines.PATIENCE", 1.0)
        monkeypatch.setattr("s2s.distributed.engines.ANSWER", 0.5)
        Xs = [dask.delayed(np.array)(part) for part in np.split(X, 2)]
        hangs.start()  # then it answers again: the test fails, and does not hang
        for timeout, data, code in ((2.0, Xs, "S2S70[68]"), (None, Xs, "S2S706"), (None, np.split(X, 2), "S2S706")):
            with pytest.raises(ArgumentError, match=code):
                d.grad(users.loss, over="X, y", client=client, timeout=timeout)(w, data, np.split(y, 2))
    finally:
        hangs.cancel()
        os.kill(started.pid, signal.SIGCONT)
        if client is not None:
            client.close()
        started.kill()
        started.wait(120)
