"""Memory of freed arrays: a gradient of large arrays asks the system for pages at its first calls, not at each."""

import os
import platform
import subprocess
import sys

import pytest

from s2s.dispatch import freed_memory

PROGRAM = """
import resource
import numpy as np
import s2s

def f(x):
    return np.sum(np.exp(np.sin(x) * x) + np.cos(x) / (1.0 + x * x))

x = np.linspace(0.0, 1.0, 400_000)
gradient = s2s.grad(s2s.differentiable(f, backend="numpy"))
expected = np.exp(np.sin(x) * x) * (np.cos(x) * x + np.sin(x)) - np.sin(x) / (1.0 + x * x) \\
    - 2.0 * x * np.cos(x) / (1.0 + x * x)**2
for _ in range(5):
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-9, atol=1e-12)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    gradient(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""
IS_GNU = sys.platform.startswith("linux") and platform.libc_ver()[0] == "glibc"

PAGES = 400_000 * 8 // (os.sysconf("SC_PAGESIZE") if IS_GNU else 4096)


def pages_by_call(tmp_path, **settings):
    """The pages that the system clears for one call of a gradient whose arrays have ``PAGES`` each."""
    (tmp_path / "program.py").write_text(PROGRAM)
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    found = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=ours | {"S2S_CACHE": "0", "S2S_PASSES": "-blocks"} | settings,
        capture_output=True, text=True)
    assert not found.returncode, found.stderr
    return float(found.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not IS_GNU, reason="the C library is not GNU's")
def test_pages_are_kept(tmp_path):
    assert pages_by_call(tmp_path) < PAGES / 20


@pytest.mark.slow
@pytest.mark.skipif(not IS_GNU, reason="the C library is not GNU's")
@pytest.mark.parametrize("settings", [{"S2S_KEPT_MEMORY": "0"}, {"MALLOC_TRIM_THRESHOLD_": "131072"}])
def test_the_library_is_left_alone(tmp_path, settings):
    assert pages_by_call(tmp_path, **settings) > PAGES


class Library:
    """A C library of GNU that notes what it is told."""

    gnu_get_libc_version = None

    def __init__(self):
        self.told = []

    def mallopt(self, option, value):
        self.told.append((option, value))


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: made)
    monkeypatch.setattr(freed_memory, "_is_done", False)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("S2S_KEPT_MEMORY", "GLIBC_TUNABLES", *freed_memory._OTHERS):
        monkeypatch.delenv(name, raising=False)
    return made


TRIM, MMAP, LARGEST = -1, -3, 32 * 2**20  # of malloc.h, and the most that mallopt(3) takes on machines of 64 bits


@pytest.mark.parametrize("setting, told", [
    (None, [(TRIM, 256 * 10**6), (MMAP, LARGEST)]), ("8 GB", [(TRIM, 2**31 - 1), (MMAP, LARGEST)]),
    ("1 MB", [(TRIM, 10**6), (MMAP, 10**6)]), ("1", [(TRIM, 1), (MMAP, 1)]), ("0", []),
])
def test_the_library_is_told_once_how_much_to_keep(library, monkeypatch, setting, told):
    if setting is not None:
        monkeypatch.setenv("S2S_KEPT_MEMORY", setting)
    freed_memory.keep_freed_memory()
    freed_memory.keep_freed_memory()
    assert library.told == told


@pytest.mark.parametrize("name, text, is_left", [
    ("MALLOC_TRIM_THRESHOLD_", "131072", True), ("MALLOC_MMAP_THRESHOLD_", "131072", True),
    ("MALLOC_TOP_PAD_", "0", True), ("MALLOC_MMAP_MAX_", "8", True),
    ("GLIBC_TUNABLES", "glibc.malloc.check=3", True),
    ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=x", False),
])
def test_the_library_is_left_alone_where_the_program_has_set_it(library, monkeypatch, name, text, is_left):
    monkeypatch.setenv(name, text)
    freed_memory.keep_freed_memory()
    assert (library.told == []) == is_left


@pytest.mark.parametrize("missing", ["linux", "gnu_get_libc_version", "mallopt"])
def test_other_libraries_are_left_alone(library, monkeypatch, missing):
    if missing == "linux":
        monkeypatch.setattr(sys, "platform", "darwin")
    else:
        monkeypatch.delattr(Library, missing)
    freed_memory.keep_freed_memory()
    assert library.told == []
