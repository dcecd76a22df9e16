"""Which of the collected tests a run takes, and in which order: a plugin of pytest that tests/conftest.py loads.

A run takes the tests without the mark ``slow``, and of each test with the mark ``grid(share)`` that share of its
points, in a random order. Sample and order follow from a seed: that of ``--seed``, of S2S_TEST_SEED, or of the commit
that is checked out, so that each commit has its own; the head of the report names it. ``--slow`` takes slow tests too,
``--every`` all points of grids, ``--rest`` what a run without options leaves out, or looks at a sample of.
``--third 0`` to ``--third 2`` take the files of a third, so that three runs take all, and those below the folders of
``--whole``.
"""

from __future__ import annotations

import collections
import math
import os
import random
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("selection of tests")
    group.addoption("--slow", action="store_true", help="take the tests that are marked slow, too")
    group.addoption("--every", action="store_true", help="take every point of the grids of which samples are taken")
    group.addoption("--rest", action="store_true", help="take only what a run without options leaves out")
    group.addoption("--third", type=int, choices=range(3), help="take the files of this third only")
    group.addoption("--whole", default="", help="files and folders, with commas between, that no third leaves out")
    group.addoption("--seed", type=int, help="of the samples and of the order (default: that of the commit)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--seed") is None:
        config.option.seed = default_seed()  # pytest-xdist hands the options on
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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and shuffle the rest: the files, and the tests within each."""
    seed = config.getoption("--seed")
    taken = selected(items, seed, config)
    if len(taken) < len(items):
        kept = set(map(id, taken))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = shuffled(taken, seed)


def selected(items: Sequence[pytest.Item], seed: int, config: pytest.Config) -> list[pytest.Item]:
    """Return the tests that the options ask for, in the order that they have."""
    slow, every, rest = (config.getoption(name) for name in ("--slow", "--every", "--rest"))
    points = sample_of_grids(items, seed)
    files = {file for file in map(file_of, items) if is_of_this_run(file, config)}

    def is_taken(item: pytest.Item) -> bool:
        if file_of(item) not in files:
            return False
        is_slow = item.get_closest_marker("slow") is not None
        is_point = item.get_closest_marker("grid") is None or id(item) in points
        if rest:
            return is_slow or not is_point or "in_sample" in getattr(item, "fixturenames", ())
        return (slow or not is_slow) and (every or is_point)

    return [item for item in items if is_taken(item)]


def is_of_this_run(file: str, config: pytest.Config) -> bool:
    """Decide by ``--third`` and ``--whole`` whether a run takes a file."""
    third, whole = config.getoption("--third"), config.getoption("--whole").split(",")
    if third is None or zlib.crc32(file.encode()) % 3 == third:
        return True
    return any(path and (file == path or file.startswith(path.rstrip("/") + "/")) for path in whole)


def sample_of_grids(items: Sequence[pytest.Item], seed: int) -> set[int]:
    """Return the identities of the points that are the samples of their grids, of each at least one."""
    grids = collections.defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("grid")
        if mark is not None:
            grids[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    found = set()
    for (name, share), points in grids.items():
        count = min(len(points), math.ceil(share * len(points)))
        found |= {id(item) for item in random.Random(f"{seed} {name}").sample(points, count)}
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
