"""Which of the collected tests a run takes, and in which order: a plugin of pytest that tests/conftest.py loads.

A run takes the tests without the mark ``slow``, and of each test with the mark ``grid(share)`` that share of its
points, in a random order. Sample and order follow from a seed: that of ``--seed``, of S2S_TEST_SEED, or of the commit
that is checked out, so that each commit has its own; the head of the report names it. ``--slow`` takes slow tests too,
``--every`` all points of grids, ``--rest`` what a run without options leaves out, or looks at a sample of.
``--third 0`` to ``--third 2`` take slow tests only, those in the files of a third, so that three runs take all, and
those below the folders of ``--whole``. A test that is named (``FILE::TEST``) is taken whatever its marks.
"""

from __future__ import annotations

import collections
import functools
import math
import os
import random
import re
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ALL_SLOW = r"(?m)^pytestmark = \[?\s*pytest\.mark\.slow\b"

POINTS = pytest.StashKey[set[str]]()  # the points that are the samples of their grids, by their names


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("selection of tests")
    group.addoption("--slow", action="store_true", help="take the tests that are marked slow, too")
    group.addoption("--every", action="store_true", help="take every point of the grids of which samples are taken")
    group.addoption("--rest", action="store_true", help="take only what a run without options leaves out")
    group.addoption("--third", type=int, choices=range(3), help="take only the slow tests of this third of the files")
    group.addoption("--whole", default="", help="with --third: paths, with commas between, of which all are taken")
    group.addoption("--seed", type=int, help="of the samples and of the order (default: that of the commit)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--seed") is None:
        config.option.seed = default_seed()  # pytest-xdist hands the options on
    config.stash[POINTS] = set()
    if any("::" in arg for arg in config.args):  # who names a test wants it
        config.option.slow = config.option.every = True
    config.addinivalue_line("markers", "slow: starts processes, compiles machine code, or is large; taken with --slow")
    config.addinivalue_line("markers", "grid(share): points of one kind, of which a run takes a sample of this share")


def pytest_report_header(config: pytest.Config) -> str:
    return f"samples and order: --seed {config.getoption('--seed')}"


def default_seed() -> int:
    """Return the seed of S2S_TEST_SEED, else that of the commit, else 0 where there is none."""
    if "S2S_TEST_SEED" in os.environ:
        return int(os.environ["S2S_TEST_SEED"])
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return 0
    return int(done.stdout[:6], 16) if done.returncode == 0 else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file of which all tests are slow before it is imported, with the libraries that it needs."""
    takes_slow = any(config.getoption(option) not in (False, None) for option in ("--slow", "--rest", "--third"))
    if takes_slow or collection_path.suffix != ".py":
        return None
    return True if re.search(ALL_SLOW, collection_path.read_text("utf-8")) else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Note which points of grids are in the sample, and leave out at once those that are not of this run: they are
    nearly half of all tests, which take their time to be made. The list of the points is pytest's own."""
    config, test, calls = metafunc.config, metafunc.definition, metafunc._calls
    shares = [next((mark.args[0] for mark in (*call.marks, *test.iter_markers("grid")) if mark.name == "grid"), None)
              for call in calls]
    if set(shares) <= {None}:
        return
    points = set(sample(shares, f"{config.getoption('--seed')} {test.nodeid}"))
    config.stash[POINTS] |= {f"{test.nodeid}[{calls[k].id}]" for k in points}
    kept = [call for k, call in enumerate(calls)
            if is_wanted(config, any(mark.name == "slow" for mark in (*call.marks, *test.iter_markers())),
                         shares[k] is None or k in points, metafunc.fixturenames)]
    if kept:  # where none is, pytest would make one without parameters
        calls[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and shuffle the rest: the files, and the tests within each."""
    taken = selected(items, config)
    if len(taken) < len(items):
        kept = set(map(id, taken))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = shuffled(taken, config.getoption("--seed"))


def selected(items: Sequence[pytest.Item], config: pytest.Config) -> list[pytest.Item]:
    """Return the tests that the options ask for, in the order that they have."""
    points = config.stash[POINTS]

    @functools.cache
    def place(file: str) -> bool:
        return is_of_third(file, config) or is_below(file, config.getoption("--whole"))

    def is_taken(item: pytest.Item) -> bool:
        if not place(file_of(item)):
            return False
        is_slow = item.get_closest_marker("slow") is not None
        is_point = item.get_closest_marker("grid") is None or item.nodeid in points
        return is_wanted(config, is_slow, is_point, getattr(item, "fixturenames", ()))

    return [item for item in items if is_taken(item)]


def is_wanted(config: pytest.Config, is_slow: bool, is_point: bool, fixtures: Sequence[str]) -> bool:
    """Decide by the options whether a run takes a test: a slow one or not, a point of a sample or not."""
    if config.getoption("--rest"):
        return is_slow or not is_point or "in_sample" in fixtures
    if config.getoption("--third") is not None:
        return is_slow and is_point
    return (config.getoption("--slow") or not is_slow) and (config.getoption("--every") or is_point)


def is_of_third(file: str, config: pytest.Config) -> bool:
    """Decide by ``--third`` whether a run takes a file."""
    third = config.getoption("--third")
    return third is None or zlib.crc32(file.encode()) % 3 == third


def is_below(file: str, paths: str) -> bool:
    """Decide whether a file is one of some paths, with commas between, or below one."""
    return any(path and (file == path or file.startswith(path.rstrip("/") + "/")) for path in paths.split(","))


def sample(shares: Sequence[float | None], seed: str) -> list[int]:
    """Return the places of the points that are the samples of their grids, of each at least one."""
    grids = collections.defaultdict(list)
    for place, share in enumerate(shares):
        if share is not None:
            grids[share].append(place)
    found = []
    for share, places in grids.items():
        found += random.Random(f"{seed} {share}").sample(places, math.ceil(share * len(places)))
    return found


def shuffled(items: Sequence[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests in a random order in which those of a file stay together."""
    files = collections.defaultdict(list)
    for item in items:
        files[file_of(item)].append(item)
    rng = random.Random(seed)
    order = sorted(files)
    rng.shuffle(order)
    for file in order:
        rng.shuffle(files[file])
    return [item for file in order for item in files[file]]


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.fixture
def in_sample(request: pytest.FixtureRequest) -> Callable[..., bool]:
    """Decide whether the run takes one of several things that a test can look at: ``in_sample(share, *what)`` is True
    for this share of the tests, by the seed, and for all with ``--every``."""
    config, name = request.config, request.node.nodeid
    takes_all = config.getoption("--every") or config.getoption("--rest")

    def decide(share: float, *what: object) -> bool:
        return takes_all or random.Random(f"{config.getoption('--seed')} {name} {what}").random() < share

    return decide
