"""What all tests share: no disk cache unless a test asks for it, fixed seeds, --rewrite for golden text.

S2S_TEST_CACHE names a folder: the tests keep what they compile there, and find it in the next run.
"""

import gc
import os
import sys

import numpy as np
import pytest

from tests import selection
from tests.selection import (  # noqa: F401  (hooks and a fixture)
    in_sample,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_ignore_collect,
    pytest_report_header,
)

# Before anything imports s2s, and for the processes that tests start. Tests of the cache set both themselves.
os.environ["S2S_CACHE"] = "1" if os.environ.get("S2S_TEST_CACHE") else "0"
os.environ.pop("S2S_CACHE_DIR", None)
if os.environ.get("S2S_TEST_CACHE"):
    os.environ["S2S_CACHE_DIR"] = os.environ["S2S_TEST_CACHE"]

os.environ.setdefault("S2S_CHECK_IR", "1")  # the IR is verified after each pass, where nothing else is said

# Bytecode is written, as where s2s is installed: each worker, and each process of a test, would compile all modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What the compiler refuses is refused: tests of recordings, which would stand in, set it themselves.
os.environ.setdefault("S2S_RECORDED", "0")
os.environ.setdefault("NUMBA_NUM_THREADS", "2")  # loops over prange are shared by so many threads

# No thread compiles beside the tests: those of the backend `auto` set it themselves.
os.environ.setdefault("S2S_BACKEND", "numpy")

# What LLVM makes faster takes it longer than all that is run here.
os.environ.setdefault("NUMBA_OPT", "0")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")


def pytest_addoption(parser):
    parser.addoption("--rewrite", action="store_true", help="write what comes out into the files")
    selection.pytest_addoption(parser)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without the garbage collector: it would look through all that is kept, again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    sys.dont_write_bytecode = True  # a test may write a module twice in a second, which bytecode does not tell apart
    gc.freeze()  # the tests themselves live to the end: the collector need not look through them
    # A compilation leaves ten thousand objects, of which many live on: the collector looks at each of them once.
    gc.set_threshold(200_000, 1000, 1000)


@pytest.fixture
def rewrite(request):
    """Whether golden text is to be written anew instead of compared."""
    return request.config.getoption("--rewrite")


@pytest.fixture
def few_objects():
    """Keep the collector, and who asks it for all objects, from looking through what was there before the test."""
    gc.freeze()


ERRORS = np.geterr()
GENERATORS = {}  # those of a file of tests, with their states after it was imported


def _generators(module):
    found = GENERATORS.get(module)
    if found is None:
        generators = {id(value): value for value in vars(module).values() if type(value) is np.random.Generator}
        found = GENERATORS[module] = [(one, one.bit_generator.state) for one in generators.values()]
    return found


@pytest.fixture(autouse=True)
def as_at_the_beginning(request):
    """Give each test the same random numbers and NumPy's handling of errors, whichever tests ran before it."""
    np.random.seed(0)
    for generator, state in _generators(request.module):
        generator.bit_generator.state = state
    with np.errstate(**ERRORS):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)
