"""Derivatives that are pickled: in this process, and in others that have neither the files nor a cache."""

import concurrent.futures
import copy
import functools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import cloudpickle
import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError
from tests.helpers import ROOT

X, w = np.arange(6.0).reshape(2, 3) / 7, np.array([0.3, -0.2, 0.5])
SCALE = 1.5
LOCK = threading.Lock()


def loss(w, X):
    return SCALE * np.sum(np.tanh(X @ w))


def slope(scale=1.0):
    return scale * SCALE * X.T @ (1.0 - np.tanh(X @ w) ** 2)


@s2s.differentiable(nonsmooth="zero")
def decorated(w, X):
    return loss(w, X) + np.floor(w[0])


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, w, X):
        return self.scale * loss(w, X)


class Trainer:
    def __init__(self, model):
        self.model, self.gradient = model, s2s.grad(model.loss)


# --- in this process ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [s2s.grad(loss), s2s.value_and_grad(loss, argnums="X"), s2s.hessian(loss), decorated, s2s.grad(decorated),
     s2s.map(s2s.grad(loss), (None, 0)), s2s.elementwise_grad(np.sin)],
    ids=repr,
)
def test_what_a_name_leads_to_stays_the_same_object(made):
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.copy(made) is made and copy.deepcopy(made) is made


def test_variables_of_the_module_are_those_of_the_process(monkeypatch):
    sent = pickle.dumps(s2s.grad(loss))
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    np.testing.assert_allclose(pickle.loads(sent)(w, X), slope())


def test_an_object_that_is_elsewhere_in_the_pickle_stays_one():
    again = pickle.loads(pickle.dumps(Trainer(Model(2.0))))
    again.model.scale = 4.0
    np.testing.assert_allclose(again.gradient(w, X), slope(4.0))
    deep = copy.deepcopy(Trainer(Model(2.0)))
    deep.model.scale = 5.0
    np.testing.assert_allclose(deep.gradient(w, X), slope(5.0))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_closures_and_lambdas(protocol):
    def scaled(factor):
        def inner(w, X):
            return helper(factor) * loss(w, X)

        def helper(z):
            return z if z < 4 else helper(z - 1.0) + 1.0  # it reads itself

        return inner

    two = [lambda w, X: 2.0 * loss(w, X), lambda w, X: 3.0 * loss(w, X)]
    for f, scale in ((scaled(6.0), 6.0), (two[0], 2.0), (two[1], 3.0), (functools.partial(two[1], w), 3.0)):
        args = (X,) if isinstance(f, functools.partial) else (w, X)
        expected = s2s.grad(f)(*args) if len(args) == 1 else slope(scale)
        again = pickle.loads(pickle.dumps(s2s.grad(f), protocol))
        np.testing.assert_allclose(again(*args), expected)
    jacobian, product = s2s.jacobian(lambda w: np.sin(w)), s2s.hvp(lambda w: np.sum(w**3))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(jacobian, protocol))(w), np.diag(np.cos(w)))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(product, protocol))(w, np.ones(3)), 6 * w)


def test_classes_in_functions_are_refused():
    class Point:
        def __init__(self, x):
            self.x = x

        def norm(self, w):
            return np.sum((w - self.x) ** 2)

    with pytest.raises(pickle.PicklingError, match="a class that no statement at the top of a file makes.*S2S710"):
        pickle.dumps(s2s.grad(Point(1.0).norm))


def test_what_cannot_be_pickled_is_named():
    held = threading.Lock()

    def guarded(w):
        with held:
            return np.sum(w * w)

    with pytest.raises(pickle.PicklingError, match=r"`a variable`, which `a function around it` reads.*lock"):
        pickle.dumps(s2s.grad(guarded))


@pytest.mark.slow
def test_rules_travel():
    def make():
        def f(x):
            return x * x

        return f

    f = make()
    s2s.defvjp(f, lambda out, out_bar, x: 100.0 * out_bar)
    again = pickle.loads(pickle.dumps(s2s.grad(lambda x: f(x) + x)))
    assert again(3.0) == 101.0


@s2s.custom_gradient
def with_gradient(x):
    return x * x, lambda dy: 7.0 * dy


@s2s.checkpoint
def layer(x):
    return np.sin(x)


def test_what_is_said_of_derivatives_travels():
    for one in (with_gradient, layer):
        assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one
    own = s2s.custom_gradient(lambda x: (x * x, lambda dy: 5.0 * dy))
    f = pickle.loads(pickle.dumps(s2s.grad(lambda x: own(x) + with_gradient(x))))
    assert f(3.0) == 12.0
    solver = s2s.implicit(lambda a: np.sqrt(a), lambda x, a: x * x - a)
    assert pickle.loads(pickle.dumps(s2s.grad(solver)))(4.0) == 0.25


def test_sparse_jacobians():
    pytest.importorskip("networkx")
    again = pickle.loads(pickle.dumps(s2s.sparse_jacobian(lambda x: x[1:] * x[:-1])))
    np.testing.assert_allclose(again(w).toarray(), [[w[1], w[0], 0.0], [0.0, w[2], w[1]]])


# --- in other processes ---------------------------------------------------------------------------------------------

HELPERS = """
import numpy as np
from dataclasses import dataclass

@dataclass
class Config:
    scale: float

    def times(self, x):
        return FACTOR * self.scale * x

FACTOR = 1.0

def act(z):
    return np.tanh(z)
"""

MODULE = """
import threading
import numpy as np
import users_helpers_of_pickles
from users_helpers_of_pickles import Config

RATE = 0.7
CONFIG = Config(2.0)
{extra}

def act(z):
    return users_helpers_of_pickles.act(RATE * z)

def loss(w, X):
    return CONFIG.times(np.sum(act(X @ w) ** 2))
"""

SEND = """
import pickle, sys
import numpy as np, s2s
import users_model_of_pickles as um

def outer(k):
    def inner(w, X):
        return k * um.loss(w, X)
    return inner

def mine(w, X):
    return KIND(3.0).times(um.loss(w, X)) / 3.0

class KIND:
    def __init__(self, x):
        self.x = x
    def times(self, y):
        return thrice(self.x, y) / 3.0

def thrice(a, b):
    return 3.0 * a * b

@s2s.differentiable(backend="numba")
def compiled(w, X):
    total = 0.0
    for i in range(len(X)):
        total += np.tanh(um.RATE * (X[i] @ w)) ** 2
    return 2.0 * total

fs = {"module": um.loss, "closure": outer(1.0), "main": mine, "lambda": lambda w, X: um.loss(w, X)}
if sys.argv[1] == "numba":
    fs = {"compiled": compiled}
made = {(name, mode): getattr(s2s, mode)(f) for name, f in fs.items()
        for mode in ("grad", "value_and_grad", "jacobian", "hvp", "hessian")[: 1 if sys.argv[1] == "numba" else 5]}
sys.stdout.buffer.write(pickle.dumps({name: pickle.dumps(one) for name, one in made.items()}))
"""

RECEIVE = """
import pickle, sys
import numpy as np
X, w = np.arange(6.0).reshape(2, 3) / 7, np.array([0.3, -0.2, 0.5])
found = {}
for (name, mode), sent in pickle.loads(sys.stdin.buffer.read()).items():
    made = pickle.loads(sent)
    args = (w, np.ones(3), X) if mode == "hvp" else (w, X)
    found[name, mode] = made(*args)
    again = pickle.loads(pickle.dumps(made))                    # from there on
    np.testing.assert_array_equal(np.hstack(again(*args)), np.hstack(found[name, mode]))
assert "users_model_of_pickles" not in sys.modules
sys.stdout.buffer.write(pickle.dumps(found))
"""


def users(folder, extra=""):
    folder.mkdir()
    (folder / "users_helpers_of_pickles.py").write_text(HELPERS)
    (folder / "users_model_of_pickles.py").write_text(MODULE.format(extra=extra))
    (folder / "send.py").write_text(SEND)
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}", "S2S_CACHE": "off"}


def run(command, cwd, env, given=None):
    done = subprocess.run(command, input=given, capture_output=True, cwd=cwd, env=env, timeout=150)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_process_without_the_files(tmp_path, backend):
    pytest.importorskip("numba") if backend == "numba" else None
    env = users(tmp_path / "here")
    sent = run([sys.executable, str(tmp_path / "here" / "send.py"), backend], tmp_path, env)
    for file in (tmp_path / "here").iterdir():
        file.unlink() if file.is_file() else None
    there = tmp_path / "there"
    there.mkdir()
    received = run([sys.executable, "-c", RECEIVE], there, {**env, "PYTHONPATH": str(ROOT)}, sent)
    t = np.tanh(0.7 * X @ w)
    gradient = 2 * X.T @ (2 * t * (1 - t * t) * 0.7)
    u = (1 - t * t) * 0.7
    hessian = 2 * X.T @ np.diag(2 * u * u - 4 * t * t * u * 0.7) @ X
    for (_, mode), found in pickle.loads(received).items():
        expected = {"value_and_grad": (2 * np.sum(t * t), gradient), "hvp": hessian.sum(1), "hessian": hessian}
        for one, other in zip(np.atleast_1d(found) if mode != "value_and_grad" else found,
                              expected.get(mode, gradient)):
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.slow
def test_another_module_of_the_same_name_is_not_taken(tmp_path):
    env = users(tmp_path / "here")
    sent = run([sys.executable, str(tmp_path / "here" / "send.py"), "numpy"], tmp_path, env)
    decoy = tmp_path / "decoy"
    decoy.mkdir()
    (decoy / "users_model_of_pickles.py").write_text("def loss(w, X):\n    return 1000.0 * w[0]\n")
    (decoy / "users_helpers_of_pickles.py").write_text("def act(z):\n    return 1000.0 * z\n")
    program = RECEIVE.replace('assert "users_model_of_pickles" not in sys.modules\n', "")
    found = pickle.loads(run([sys.executable, "-c", program], decoy, {**env, "PYTHONPATH": f"{ROOT}:{decoy}"}, sent))
    t = np.tanh(0.7 * X @ w)
    for name in ("module", "closure", "main", "lambda"):
        np.testing.assert_allclose(found[name, "grad"], 2 * X.T @ (2 * t * (1 - t * t) * 0.7), rtol=1e-9)


@pytest.mark.slow
def test_what_did_not_go_along_is_told(tmp_path):
    env = users(tmp_path / "here", "LOCK = threading.Lock()\n\ndef guarded(w):\n    with LOCK:\n        return w * w\n")
    make = ("import pickle, sys, s2s, users_model_of_pickles as um\n"
            "assert pickle.loads(pickle.dumps(s2s.grad(um.guarded)))(3.0) == 6.0\n"
            "sys.stdout.buffer.write(pickle.dumps(s2s.grad(um.guarded)))\n")
    sent = run([sys.executable, "-c", make], tmp_path, env)
    with pytest.raises(ArgumentError, match=r"`guarded` of `users_model_of_pickles` is not here.*`LOCK`.*lock.*S2S712"):
        pickle.loads(sent)


def gradients(parts):
    return [s2s.grad(loss)(w, part) for part in parts]


def called(gradient, *args):
    return gradient(*args)


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["multiprocessing", "concurrent.futures", "loky"])
def test_pools_of_processes(pool):
    work = [s2s.grad(loss), s2s.grad(decorated), s2s.grad(Model(2.0).loss)]
    if pool == "multiprocessing":
        with multiprocessing.get_context("spawn").Pool(1) as made:
            found = made.starmap(called, [(one, w, X) for one in work])
    elif pool == "concurrent.futures":
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as made:
            found = [made.submit(called, one, w, X).result(100) for one in work]
            closure = made.submit(called, s2s.grad(lambda w, X: 4.0 * loss(w, X)), w, X).result(100)
            np.testing.assert_allclose(closure, slope(4.0))
    else:
        joblib = pytest.importorskip("joblib")
        found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(called)(one, w, X) for one in work)
    for one, scale in zip(found, (1.0, 1.0, 2.0), strict=True):
        np.testing.assert_allclose(one, slope(scale))


PROGRAM = """
import sys
import numpy as np, cloudpickle, s2s

class Model:
    def __init__(self, scale):
        self.scale = scale
    def act(self, z):
        return np.tanh(z)
    def loss(self, w, X):
        return self.scale * np.sum(self.act(X @ w))

def loss(w, X):
    return 1.5 * np.sum(np.tanh(X @ w))

made = s2s.grad(Model(1.5).loss), s2s.grad(loss), s2s.grad(lambda w, X: loss(w, X))
sys.stdout.buffer.write(cloudpickle.dumps(made))
"""


@pytest.mark.slow
def test_cloudpickle_of_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off"}
    sent = run([sys.executable, str(tmp_path / "program.py")], tmp_path, env)
    (tmp_path / "program.py").unlink()
    for gradient in cloudpickle.loads(sent):
        np.testing.assert_allclose(gradient(w, X), slope())


@pytest.mark.slow
def test_a_program_without_the_class_of_an_object_is_told(tmp_path):
    """pickle alone writes the name of a class of the program; where that is there it is taken."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("cloudpickle.dumps(made)", "pickle.dumps(made[:1])").replace(
        "import sys\n", "import pickle, sys\n", 1))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off"}
    sent = run([sys.executable, str(tmp_path / "program.py")], tmp_path, env)
    with pytest.raises(ArgumentError, match=r"`Model` of the program.*S2S713(.|\n)*module that both(.|\n)*cloudpickle"):
        pickle.loads(sent)
    here = PROGRAM[: PROGRAM.index("made =")] + (
        "import pickle\ngradient, = pickle.loads(sys.stdin.buffer.read())\n"
        "sys.stdout.buffer.write(pickle.dumps(gradient(*map(np.array, ([1.0, 2.0], [[1.0, 0.5]])))))\n")
    found = pickle.loads(run([sys.executable, "-c", here], tmp_path, env, sent))
    np.testing.assert_allclose(found, 1.5 / np.cosh(2.0) ** 2 * np.array([1.0, 0.5]))


@pytest.mark.slow
def test_functions_that_were_typed(tmp_path):
    command = ("import pickle, sys, numpy as np, s2s\nRATE = 1.5\n"
               "def f(w, X):\n    return RATE * np.sum(np.tanh(X @ w))\n"
               "sys.stdout.buffer.write(pickle.dumps(s2s.grad(f)))\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off"}
    np.testing.assert_allclose(pickle.loads(run([sys.executable, "-c", command], tmp_path, env))(w, X), slope())


@pytest.mark.slow
def test_a_cell_of_a_notebook(tmp_path):
    shell = pytest.importorskip("IPython.core.interactiveshell")
    program = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "for cell in ('import numpy as np, s2s, pickle', 'RATE = 1.5',"
        " 'def f(w, X):\\n    return RATE * np.sum(np.tanh(X @ w))', 'sent = pickle.dumps(s2s.grad(f))'):\n"
        "    assert shell.run_cell(cell).success\n"
        "sys.stdout.buffer.write(shell.user_ns['sent'])\n")
    assert shell
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off", "IPYTHONDIR": str(tmp_path)}
    np.testing.assert_allclose(pickle.loads(run([sys.executable, "-c", program], tmp_path, env))(w, X), slope())
