"""Gradients on other engines, as the page about data in parts shows it: Dask's arrays by themselves, Ray, MPI."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import ROOT

pytestmark = pytest.mark.slow

rng = np.random.default_rng(11)
X, w = rng.normal(size=(60, 3)), rng.normal(size=3)


def loss(w, X):
    return np.sum(np.tanh(X @ w) ** 2)


def expected():
    t = np.tanh(X @ w)
    return X.T @ (2 * t * (1 - t * t))


# --- Dask's arrays, straight through --------------------------------------------------------------------------------


@pytest.fixture
def da():
    """The module; what is computed is computed here, whatever client another test has had."""
    found = pytest.importorskip("dask.array")
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield found


def test_gradients_of_dask_arrays_are_lazy(da):
    read = []

    def block(block_info=None):
        read.append(block_info)
        (first, last), _ = block_info[None]["array-location"]
        return X[first:last]

    lazy = da.map_blocks(block, chunks=((20, 20, 20), (3,)), dtype=float, meta=np.empty((0, 0)))
    before = len(read)
    found = s2s.grad(loss)(da.from_array(w), lazy)
    value, slopes = s2s.value_and_grad(lambda X: np.sum(np.exp(-X * X)))(lazy)
    assert isinstance(found, da.Array) and isinstance(slopes, da.Array) and len(read) == before
    np.testing.assert_allclose(found.compute(), expected(), rtol=1e-12)
    np.testing.assert_allclose(slopes.compute(), -2 * X * np.exp(-X * X), rtol=1e-12)
    assert slopes.chunks == lazy.chunks and len(read) > before


@pytest.mark.parametrize(
    "f", [
        lambda X: np.sum(np.mean(X, axis=0) ** 2),
        lambda X: np.sum(np.concatenate([X, 2.0 * X]) ** 2),
        lambda X: np.sum(np.cumsum(X, axis=0) ** 2),
        lambda X: np.sum(np.where(X > 0, X * X, -X)) + np.max(X),
        lambda X: np.sum(np.abs(np.fft.fft(X, axis=1)) ** 2),
        lambda X: np.sum(np.repeat(X, 2, axis=0) ** 2) + np.linalg.norm(X),
        lambda X: np.log(np.sum(np.exp(X - np.max(X)))) + np.sum((X[1:] - X[:-1]) ** 2),
    ])
def test_what_dask_has_is_lazy_and_right(da, f):
    found = s2s.grad(f)(da.from_array(X, chunks=(20, 3)))
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), s2s.grad(f)(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["jvp", "vjp"])
def test_other_derivatives_of_dask_arrays(da, mode):
    lazy = da.from_array(X, chunks=(20, 3))
    if mode == "jvp":
        out, moved = s2s.jvp(lambda X: np.sin(X) * 2.0, (lazy,), (lazy,))
        assert isinstance(moved, da.Array)
        np.testing.assert_allclose(moved.compute(), 2.0 * np.cos(X) * X)
    else:
        out, pull = s2s.vjp(lambda X: np.sum(X * X, axis=1), lazy)
        (bar,) = pull(out)
        assert isinstance(bar, da.Array)
        np.testing.assert_allclose(bar.compute(), 2 * X * np.sum(X * X, axis=1)[:, None])


@pytest.mark.parametrize(
    ("f", "named"), [
        (lambda X: np.sum(np.kron(X, X)), "numpy.kron"),
        (lambda X: np.sum(np.linalg.pinv(X)), "numpy.linalg.pinv"),
        (lambda X: np.sum(np.partition(X, 2, axis=0)), "numpy.partition"),
        (lambda X: np.sum(np.cross(X, X + 1.0)), "numpy.cross"),
    ])
def test_what_dask_lacks_is_named(da, f, named):
    with pytest.raises(DifferentiationError, match=rf"`{named}` is called with arrays of dask.* \[S2S536\]"):
        s2s.grad(f)(da.from_array(X, chunks=(20, 3)))


def test_stores_into_views_of_dask_arrays_are_refused(da):
    def shifted(X):
        Y = np.zeros_like(X)
        inner = Y[1:]
        inner[:] = X[:-1]
        return np.sum(Y * X)

    with pytest.raises(DifferentiationError, match="S2S146"):
        s2s.grad(shifted)(da.from_array(X, chunks=(20, 3)))


# --- Ray ------------------------------------------------------------------------------------------------------------

RAY = """
import os, sys
import numpy as np, ray, s2s
sys.path.insert(0, os.getcwd() + "/hidden")
import users_model_of_ray

X, w = np.load("X.npy"), np.load("w.npy")
kernel = s2s.distributed.shipped(s2s.value_and_grad(users_model_of_ray.loss), w, X[:20])
sys.path.remove(os.getcwd() + "/hidden")

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)

@ray.remote
def of_part(kernel, w, part):
    return kernel(w, part)

sent, params = ray.put(kernel), ray.put(w)
found = ray.get([of_part.remote(sent, params, part) for part in np.split(X, 3)])
np.save("found.npy", sum(gradient for _, gradient in found))
sent = ray.put(s2s.grad(lambda w, X: users_model_of_ray.loss(w, X)))          # the derivative itself
found = ray.get([of_part.remote(sent, params, part) for part in np.split(X, 3)])
np.save("by_source.npy", sum(found))
ray.shutdown()
"""

USERS = """
import numpy as np

def act(z):
    return np.tanh(z)

def loss(w, X):
    return np.sum(act(X @ w) ** 2)
"""


def prepared(tmp_path, name):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / f"{name}.py").write_text(USERS)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "w.npy", w)
    return {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off", "RAY_USAGE_STATS_ENABLED": "0"}


def test_gradients_on_ray(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    env = prepared(tmp_path, "users_model_of_ray")
    done = subprocess.run(
        [sys.executable, "-c", RAY], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    for name in ("found", "by_source"):
        np.testing.assert_allclose(np.load(tmp_path / f"{name}.npy"), expected(), rtol=1e-12)


# --- MPI ------------------------------------------------------------------------------------------------------------

MPI = """
import os, sys
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
kernel = None
X, w = np.load("X.npy"), np.load("w.npy")
part = np.array_split(X, comm.size)[comm.rank]
if comm.rank == 0:
    sys.path.insert(0, os.getcwd() + "/hidden")
    import s2s, users_model_of_mpi
    kernel = s2s.distributed.shipped(s2s.grad(users_model_of_mpi.loss), w, part)
    gradient_of = s2s.grad(users_model_of_mpi.loss)
else:
    gradient_of = None
kernel = comm.bcast(kernel)
gradient = comm.allreduce(kernel(w, part))
gradient_of = comm.bcast(gradient_of)                                          # the derivative itself
assert np.allclose(comm.allreduce(gradient_of(w, part)), gradient, rtol=1e-12)
assert comm.size == 2 and (comm.rank == 0 or "users_model_of_mpi" not in sys.modules)
np.save(f"found{comm.rank}.npy", gradient)
"""


def launcher():
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    return beside if os.path.exists(beside) else shutil.which("mpiexec")


def test_gradients_on_two_ranks_of_mpi(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    if launcher() is None:
        pytest.skip("there is no mpiexec")
    env = prepared(tmp_path, "users_model_of_mpi")
    done = subprocess.run(
        [launcher(), "-n", "2", sys.executable, "-c", MPI], cwd=tmp_path, env=env, capture_output=True, text=True,
        timeout=150)
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        np.testing.assert_allclose(np.load(tmp_path / f"found{rank}.npy"), expected(), rtol=1e-12)
