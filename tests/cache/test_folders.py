"""Files of the disk cache: what is read, what is swept, and what goes when there is no room."""

import gc
import linecache
import marshal
import os
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import s2s
from s2s.cache import folders
from s2s.core.bounded import Recent
from s2s.core.linecaches import register

NAME = "model.loss.grad_x.0123456789ab.py"


def fill(folder, count, size, age=0.0):
    """So many files of the cache; the first was not used for longest."""
    names = [f"model.f{k}.grad_x.{k:012x}.py" for k in range(count)]
    for k, name in enumerate(names):
        (folder / name).write_bytes(b"#" * size)
        moment = time.time() - age - 60.0 * (count - k)
        os.utime(folder / name, (moment, moment))
    return names


# --- reading --------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(tmp_path):
    assert folders.write(str(tmp_path / NAME), b"text")
    assert folders.read(str(tmp_path), NAME) == b"text"
    assert folders.read(str(tmp_path), "another") is None
    assert folders.read(str(tmp_path / "none"), NAME) is None


def test_links_are_not_followed(tmp_path):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir(mode=0o755)
    elsewhere.mkdir(mode=0o755)
    (elsewhere / NAME).write_bytes(b"text")
    (folder / NAME).symlink_to(elsewhere / NAME)
    (tmp_path / "link").symlink_to(elsewhere)
    assert folders.read(str(elsewhere), NAME) == b"text"
    assert folders.read(str(folder), NAME) is None
    assert folders.read(str(tmp_path / "link"), NAME) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / NAME)
    ask = "import sys; from pathlib import Path; from s2s.cache import disk, folders; folder, name = sys.argv[1:]; " \
          "print(folders.read(folder, name), [*disk.entries(Path(folder))])"
    done = subprocess.run(  # one that waits for somebody who writes does not come back
        [sys.executable, "-c", ask, str(tmp_path), NAME], check=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "S2S_CACHE_DIR": str(tmp_path)})
    assert done.stdout.split() == ["None", "[]"]


@pytest.mark.parametrize("mode", [0o666, 0o664])
def test_what_others_may_write_is_not_read(tmp_path, mode):
    (tmp_path / NAME).write_bytes(b"text")
    (tmp_path / NAME).chmod(mode)
    assert folders.read(str(tmp_path), NAME) is None


def test_reading_an_old_file_counts_as_use(tmp_path):
    (name,) = fill(tmp_path, 1, 10, age=3 * folders.DAY)
    (tmp_path / "written").touch()
    assert folders.read(str(tmp_path), name)
    assert (tmp_path / name).stat().st_mtime >= (tmp_path / "written").stat().st_mtime


# --- sizes ----------------------------------------------------------------------------------------------------------


def test_what_was_not_used_for_longest_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_CACHE_SIZE", "10 KB")
    names = fill(tmp_path, 12, 1000)
    (tmp_path / "of_the_user.py").write_bytes(b"#" * 50_000)
    folders.tidy(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["of_the_user.py", *names[5:]])  # 7.5 KB are left
    folders.tidy(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 8


def test_writing_keeps_a_folder_below_its_size(tmp_path, monkeypatch):
    monkeypatch.setenv("S2S_CACHE_SIZE", "100k")
    monkeypatch.setattr(folders, "LOOK_EVERY", 4)
    for k in range(200):
        folders.write(str(tmp_path / f"model.f.grad_x.{k:012x}.py"), b"#" * 1000)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 104_000


SIZES = [("", 256e6), ("1000", 1e3), ("2 GB", 2e9), ("0.5mb", 5e5), ("0", 0), (" 3 K ", 3e3)]


@pytest.mark.parametrize("text, size", SIZES)
def test_sizes(monkeypatch, text, size):
    monkeypatch.setenv("S2S_CACHE_SIZE", text)
    assert folders.largest_size() == size


@pytest.mark.parametrize("text", ["much", "-1", "1 TB", "nan"])
def test_what_is_no_size_is_told(monkeypatch, text):
    monkeypatch.setenv("S2S_CACHE_SIZE", text)
    with pytest.warns(RuntimeWarning) as seen:
        assert folders.largest_size() == 256e6
    assert str(seen[0].message) == f"S2S_CACHE_SIZE is {text!r}, which is no size such as 256 MB; 256 MB is taken"


def test_what_was_left_half_written_is_swept(tmp_path):
    old, new, other = (tmp_path / name for name in (".12.0123456789ab.tmp", ".34.0123456789ab.tmp", "notes.tmp"))
    for file in (old, new, other):
        file.write_bytes(b"half")
    for file in (old, other):
        os.utime(file, (0, 0))
    folders.tidy(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".34.0123456789ab.tmp", "notes.tmp"]


# --- damage ---------------------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import s2s

def loss(x):
    return np.sum(np.sin(x) * x)

print(s2s.grad(loss)(np.array([0.5, 1.5])).tolist())
"""


@pytest.fixture
def project(tmp_path):
    """What a new process prints, with its own cache folder, and that folder."""
    (tmp_path / "model.py").write_text(PROGRAM)
    cache = tmp_path / "cache"
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "S2S_CACHE": "1", "S2S_CACHE_DIR": str(cache), "PYTHONPATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run():
        command = [sys.executable, "model.py"]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout

    return run, cache


@pytest.mark.slow
def test_bytecode_that_was_changed_does_not_run(project):
    """The hash of the text fits, and the code is whole, but another."""
    run, cache = project
    right = run()
    (kept,) = cache.glob("*.pyc")
    content = kept.read_bytes()
    codes = marshal.loads(content[64:])
    other = [code.replace(co_consts=tuple(2.0 if c == 1.0 else c for c in code.co_consts)) for code in codes]
    code = next(c for c in codes if isinstance(c, types.CodeType))
    other[0] = (lambda x: x * 0.0).__code__.replace(co_name=code.co_name)
    kept.write_bytes(content[:64] + marshal.dumps(other))
    assert run() == right
    assert kept.read_bytes() == content


@pytest.mark.slow
def test_every_line_of_a_stored_text_is_under_its_hash(project):
    run, cache = project
    right = run()
    (file,) = cache.glob("*.py")
    text = file.read_text()
    for old, new in (("np.sin", "np.cos"), ("'entry': 'loss_grad'", "'entry': 'loss_gra'"), ("'imports'", "'import'")):
        if old in text:
            file.write_text(text.replace(old, new))
            assert run() == right
            assert file.read_text() == text


# --- memory ---------------------------------------------------------------------------------------------------------


def made(number):
    """A function of its own, known to ``linecache``."""
    text, file = f"def f_{number}(x):\n    return np.sum(x ** {number})\n", f"<made {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return scope[f"f_{number}"]


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_what_generated_code_shows_goes_with_it():
    before = set(linecache.cache)
    for number in range(2, 6):
        f = made(number)
        np.testing.assert_allclose(s2s.grad(f)(np.array([0.5, 1.5])), number * np.array([0.5, 1.5]) ** (number - 1))
        np.testing.assert_allclose(s2s.grad(s2s.grad(f))(1.5), number * (number - 1) * 1.5 ** (number - 2))
        assert any("_grad" in file for file in set(linecache.cache) - before)
        del f, linecache.cache[f"<made {number}>"]
    gc.collect()
    register("<another>", "", compile("", "<another>", "exec"))
    left = {file for file in set(linecache.cache) - before if file.startswith("<s2s f_")}
    assert left == set()


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_a_text_is_shown_while_one_of_its_functions_lives():
    f, g = made(7), made(7)
    x = np.ones(2)
    for h in (f, g):
        s2s.grad(h)(x)
    shown = [file for file in linecache.cache if file.startswith("<s2s f_7_grad")]
    assert len(shown) == 1
    del g, h
    gc.collect()
    assert shown[0] in linecache.cache
    assert "f_7_grad" in s2s.source(f, x)
    del f
    gc.collect()
    register("<another>", "", compile("", "<another>", "exec"))
    assert shown[0] not in linecache.cache


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_what_is_collected_in_a_loop_over_the_files_is_still_there():
    f = made(8)
    s2s.grad(f)(np.ones(2))
    for file in [file for file in linecache.cache if file.startswith("<s2s f_8_grad")]:
        f = None
        gc.collect()
        assert linecache.cache[file]


def test_recent_keeps_the_newest():
    table = Recent(10)
    for k in range(25):
        table[k] = k
    assert len(table) <= 10
    assert table[24] == 24 and 0 not in table
    table[24] = 7
    assert table[24] == 7
