"""Machine code on disk: found by the next process, made anew where what it was made of is another, never trusted."""

import linecache
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning

numba = pytest.importorskip("numba")

from numba.core.dispatcher import _FunctionCompiler  # noqa: E402

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(s2s.__file__))}
X = np.array([0.7, -1.2, 1.9, 0.4])
SCALE = 3.0


def scaled(v):
    return SCALE * v


@s2s.differentiable(backend="numba")
def chain(x):
    total = 0.0
    for i in range(len(x)):
        total += scaled(x[i]) ** 2 + np.sum(x[:i]) * x[i]
    return total


def slope_of_chain(x):
    pairs = [sum(x) - x[i] for i in range(len(x))]
    return 18.0 * x + pairs


@s2s.differentiable(backend="numba")
def refused(x):
    y = x[0]
    if len(x) > 1:
        y = x
    return 2.0 * np.sum(y * y)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder that is in use as the cache."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.setenv("S2S_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def compilations(monkeypatch):
    """The functions that Numba has compiled."""
    done, compile_ = [], _FunctionCompiler.compile

    def noted(self, *args):
        done.append(self.py_func.__name__)
        return compile_(self, *args)

    monkeypatch.setattr(_FunctionCompiler, "compile", noted)
    return done


def code_in(folder):
    return sorted(folder.glob("*.nbc"))


def afresh(f, x):
    """The gradient by a version that is compiled, or read, anew."""
    gradient = s2s.grad(f)
    gradient.clear()
    return gradient(x)


@pytest.mark.slow
def test_what_was_compiled_is_read(cache, compilations):
    np.testing.assert_allclose(afresh(chain, X), slope_of_chain(X), rtol=1e-12)
    assert "chain_grad" in compilations and len(code_in(cache)) == 1
    compilations.clear()
    np.testing.assert_allclose(afresh(chain, X), slope_of_chain(X), rtol=1e-12)
    assert compilations == []
    np.testing.assert_allclose(s2s.grad(chain)(X.astype(np.float32)), slope_of_chain(X), rtol=1e-4)
    assert "chain_grad" in compilations  # other types


@pytest.mark.slow
def test_a_pullback_is_kept_too(cache, compilations):
    for _ in range(2):
        _, pullback = s2s.vjp(chain, X)
        np.testing.assert_allclose(pullback(2.0)[0], 2.0 * slope_of_chain(X), rtol=1e-12)
        first, compilations[:] = list(compilations), []
        chain.clear()
    assert first == [] and len(code_in(cache)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("change", ["shorter", "another", "anyone's", "a folder that is anyone's"])
def test_a_file_that_is_not_as_it_was_written_is_not_read(cache, compilations, change):
    afresh(chain, X)
    (file,) = code_in(cache)
    content = file.read_bytes()
    if change == "shorter":
        file.write_bytes(content[:-10])
    elif change == "another":
        file.write_bytes(content[:-10] + bytes(10))
    elif change == "anyone's":
        file.chmod(0o666)
    else:
        cache.chmod(0o777)
    compilations.clear()
    np.testing.assert_allclose(afresh(chain, X), slope_of_chain(X), rtol=1e-12)
    assert "chain_grad" in compilations


@pytest.mark.slow
def test_what_is_compiled_in_is_in_the_key(cache, compilations, monkeypatch):
    afresh(chain, X)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 2.0)
    chain.clear()
    from s2s.backends.numba import called

    called._CALLED.clear()  # as in a process that starts
    expected = 8.0 * X + [np.sum(X) - v for v in X]
    np.testing.assert_allclose(afresh(chain, X), expected, rtol=1e-12)


def test_what_numba_refuses_is_refused_at_once(cache, compilations):
    x = np.linspace(0.5, 1.5, 5)
    for expected in (True, False):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = afresh(refused, x)
        np.testing.assert_allclose(found, 4.0 * x, rtol=1e-12)
        assert [w.category for w in told] == [NumbaFallbackWarning]
        assert bool(compilations) is expected
        compilations.clear()


def test_the_cache_can_be_off(cache, monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "0")
    afresh(chain, X)
    assert not cache.exists()


def test_clear_deletes_machine_code(cache):
    from s2s.cache import disk

    afresh(chain, X)
    (cache / "other.nbc").write_bytes(b"of Numba itself")
    renamed = cache.rename(cache.with_name(disk.FOLDER))
    assert disk.clear(renamed) >= 1
    assert [file.name for file in renamed.iterdir()] == ["other.nbc"]


@pytest.mark.slow
def test_another_process_does_not_compile(tmp_path):
    (tmp_path / "model.py").write_text(textwrap.dedent("""
        import s2s

        def square(v):
            return v * v

        @s2s.differentiable(backend="numba")
        def loss(x):
            total = 0.0
            for v in x:
                total += square(v) * v
            return total
    """))
    script = textwrap.dedent("""
        import sys
        import numpy as np, s2s
        from numba.core.dispatcher import _FunctionCompiler
        from model import loss

        if sys.argv[1] == "second":
            def compile(self, *args):
                raise AssertionError
            _FunctionCompiler.compile = compile
        print(s2s.grad(loss)(np.array([1.0, 2.0])), s2s.grad(loss)(np.array([3.0])))
    """)
    for run in ("first", "second"):
        environment = {**ENVIRONMENT, "S2S_CACHE": "1", "PYTHONWARNINGS": "error::UserWarning"}
        done = subprocess.run(
            [sys.executable, "-c", script, run], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stdout == "[ 3. 12.] [27.]\n", done.stderr


EDITS = [
    ("np.einsum('ij,jk->ik', a, b)", "np.einsum('ij,kj->ik', a, b)"),
    ("np.tensordot(a, b, ((0,), (1,)))", "np.tensordot(a, b, ((0,), (0,)))"),
    ("np.prod(a, axis=0)", "np.prod(a, axis=1)"),
    ("a.prod(axis=0)", "a.prod(axis=1)"),
]


@pytest.mark.slow
@pytest.mark.parametrize("texts", EDITS, ids=lambda texts: texts[0])
def test_other_axes_in_the_program_are_other_machine_code(texts, cache, tmp_path):
    """What is constant in a call goes into a helper, and is in no text that Numba compiles."""
    a, b, x = np.random.default_rng(1).uniform(0.5, 1.5, size=(3, 4, 4))
    file = tmp_path / "edited.py"
    for text in texts:
        file.write_text(f"import numpy as np\n\ndef f(x, a, b):\n    return np.sum(x * x * {text})\n")
        linecache.checkcache(str(file))
        scope = {}
        exec(compile(file.read_text(), str(file), "exec"), scope)
        gradient = s2s.grad(s2s.differentiable(scope["f"], backend="numba"))
        np.testing.assert_allclose(gradient(x, a, b), 2.0 * x * eval(text, {"np": np, "a": a, "b": b}), rtol=1e-12)
        assert gradient.backend == "numba"
    assert len(code_in(cache)) == len(texts)


@pytest.mark.parametrize("is_on", [True, False])
def test_a_long_compilation_says_whether_it_is_kept(cache, monkeypatch, is_on):
    from s2s.backends.numba import compiler

    monkeypatch.setattr(compiler, "AFTER", 0.0)
    monkeypatch.setenv("S2S_CACHE", "1" if is_on else "off")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        afresh(chain, X)
    expected = "It is kept on disk" if is_on else "It is not kept on disk"
    assert [expected in str(w.message) for w in told if w.category is s2s.CompileTimeWarning] == [True]
    assert bool(code_in(cache)) is is_on


SHARED = """
    import numba
    import numpy as np
    import s2s
    from numba.core.dispatcher import _FunctionCompiler

    @s2s.differentiable(backend="numba", parallel=True)
    def shared(x, w):
        total = 0.0
        for i in numba.prange(len(x)):
            total += w[0] * np.sin(x[i]) * x[i]
        return total

    def check():
        done, compile_ = [], _FunctionCompiler.compile
        _FunctionCompiler.compile = lambda self, *args: (done.append(self.py_func.__name__), compile_(self, *args))[1]
        x, w = np.linspace(-2.0, 3.0, 1001), np.array([1.5])
        for count in (2, 1):
            numba.set_num_threads(count)
            x_bar, w_bar = s2s.grad(shared, ("x", "w"))(x, w)
            np.testing.assert_allclose(x_bar, 1.5 * (np.sin(x) + x * np.cos(x)), rtol=1e-12)
            np.testing.assert_allclose(w_bar, [np.sum(np.sin(x) * x)], rtol=1e-12)
        print("shared_grad" in done)
"""


@pytest.mark.slow
def test_loops_that_threads_share_are_kept_for_other_processes(tmp_path):
    (tmp_path / "model.py").write_text(textwrap.dedent(SHARED))
    settings = {"S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path / "kept"), "NUMBA_NUM_THREADS": "2"}
    environment = ENVIRONMENT | settings | {"NUMBA_OPT": "3"}  # else an address stays that nothing reads
    for is_compiled in ("True", "False"):
        run = subprocess.run([sys.executable, "-c", "import model; model.check()"], cwd=tmp_path, capture_output=True,
                             text=True, env=environment)
        assert run.stdout.split() == [is_compiled], run.stderr
