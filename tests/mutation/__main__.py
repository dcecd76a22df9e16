"""``python -m tests.mutation --part rules --share 0.1``: change one thing at a time, and see whether a test fails.

``--part`` names what is changed: rules, models, reverse, forward, optimize, or files. First the tests are run once to
find which lines each runs; ``--record FILE`` keeps that for the next run. Then each mutant runs the tests that run its
line until one fails: those that found mutants nearby first, then the quickest and some others, ``--tests`` at most, for
``--limit`` seconds. ``--share`` takes only some of the mutants: each line once before any a second time. ``--seconds``
ends the run early, ``--save FILE`` appends each verdict to a file, and mutants that are in it are not run again.
``--only FILE:LINE`` runs the mutants of a line, ``--report FILE`` prints what such a file says. Needs Python 3.12.
"""

from __future__ import annotations

import argparse
import collections
import glob
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Iterator

import pytest

from tests.mutation.operators import Mutant, mutants, parts_of
from tests.mutation.record import Record, chosen
from tests.mutation.session import Child, Session, run_all


def package(name: str) -> list[str]:
    return sorted(file for file in glob.glob(f"s2s/{name}/**/*.py", recursive=True) if not file.endswith("__init__.py"))


PARTS = {
    "rules": [file for file in package("rules") if file != "s2s/rules/table.py"],
    "models": package("models"),
    "reverse": [*package("builder"), *package("reverse")],
    "forward": [*package("forward"), *package("batch")],
    "optimize": package("optimize"),
}
OF_RULES = ["tests/rules", "tests/models"]
OF_TRANSFORMS = """
    tests/language tests/inplace tests/normalize tests/specialize tests/reverse tests/forward tests/batch tests/optimize
    tests/directives/test_custom.py tests/codegen/test_emit.py tests/codegen/test_generated.py
    tests/cache/test_lowered.py tests/versions/test_boundary.py tests/test_api.py tests/test_implicit.py
    tests/test_sparse.py tests/test_transforms.py tests/fuzz/test_found.py
""".split()


CHUNK = 20
"""Tests that one process runs one after another to find their lines."""


def tests_of(part: str) -> list[str]:
    return OF_RULES if part in ("rules", "models") else OF_TRANSFORMS


def files_of(part: str) -> list[str]:
    return PARTS.get(part) or part.split(",")


def read(file: str) -> str:
    with open(file) as stream:
        return stream.read()


def all_mutants(files: list[str]) -> list[Mutant]:
    rules = ("s2s/rules/", "s2s/models/", "s2s/runtime")
    return [one for file in files for one in mutants(file, read(file), file.startswith(rules))]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.mutation", description=__doc__)
    parser.add_argument("--part", default="rules", help=f"one of {', '.join(PARTS)}, or files with commas between them")
    parser.add_argument("--share", type=float, default=1.0, help="of the mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of mutants and tests")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after so many")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one mutant")
    parser.add_argument("--tests", type=int, default=100, help="for one mutant, at most")
    parser.add_argument("--paths", help="of the tests, in place of those of the part")
    parser.add_argument("--record", help="a file that keeps which tests run which lines")
    parser.add_argument("--record-seconds", type=float, default=float("inf"), help="find lines of tests for so long")
    parser.add_argument("--save", help="a file to which verdicts are appended")
    parser.add_argument("--only", action="append", help="FILE:LINE, the mutants of one line, or a key")
    parser.add_argument("--survivors", help="a file of verdicts: run its survivors on the tests that are not recorded")
    parser.add_argument("--report", help="print what a file of verdicts says, and do nothing else")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    if options.report:
        report(options.report)
        return 0
    paths = options.paths.split(",") if options.paths else tests_of(options.part)
    flags = ["-q", "--no-header", "-p", "no:cacheprovider", "--tb=line", "-o", "faulthandler_timeout=0"]
    return int(pytest.main([*flags, *paths], plugins=[Session(lambda session: hunt(session, options))]))


def recorded(session: Session, options: argparse.Namespace) -> Record:
    """The record of a file, with the tests that are not in it yet."""
    record = Record.load(options.record) if options.record and os.path.exists(options.record) else Record()
    missing = [test for test in session.items if test not in record.seconds]
    random.Random(options.seed).shuffle(missing)
    begun = saved = time.monotonic()
    until = begun + options.record_seconds
    while missing and time.monotonic() < until:
        chunks = [missing[i : i + CHUNK] for i in range(0, len(missing), CHUNK)]
        timely = itertools.takewhile(lambda _: time.monotonic() < until, chunks)
        for child, _ in run_all(map(session.recording, timely), options.jobs):
            told = child.told()
            for test, one in zip(child.job, told):
                if one.get("failed", "error"):
                    record.seconds[test] = float("inf")
                else:
                    record.add(test, one["seconds"], one["lines"])
            if len(told) < len(child.job):  # this one has ended the process
                record.seconds[child.job[len(told)]] = float("inf")
            if time.monotonic() > saved + 60.0:
                saved = time.monotonic()
                print(f"{len(record.seconds)} of {len(session.items)} tests, {saved - begun:.0f} s", flush=True)
                record.save(options.record) if options.record else None
        missing = [test for test in missing if test not in record.seconds]
    if options.record:
        record.save(options.record)
    return record


def hunt(session: Session, options: argparse.Namespace) -> None:
    record = recorded(session, options)
    done = {row["key"] for row in rows_of(options.save)} if options.save and os.path.exists(options.save) else set()
    jobs = [one for one in all_mutants(files_of(options.part)) if not one.fresh]
    if options.only:
        keys = set(options.only)
        jobs = [one for one in jobs if one.key in keys or one.key.rsplit(":", 2)[0] in keys]
    else:
        if options.survivors:
            survived = {row["key"] for row in rows_of(options.survivors) if row["verdict"] == "survived"}
            jobs = [one for one in jobs if one.key in survived]
        jobs = [one for one in jobs if one.key not in done]
        jobs = spread(jobs, options.seed)[: round(options.share * len(jobs))]
    until, begun = time.monotonic() + options.seconds, time.monotonic()
    found: list[str] = []
    counts: collections.Counter[str] = collections.Counter()

    def children() -> Iterator[Child]:
        for mutant in jobs:
            if time.monotonic() > until:
                return
            tests = [t for t in record.tests(mutant.file, mutant.lines) if t in session.items or options.survivors]
            if options.survivors:
                tests = related(tests, session, record)
            if not tests:
                told(mutant, "survived" if options.survivors else "not reached", "", 0.0)
                continue
            yield session.testing(mutant, chosen(tests, found[:30], options.tests, options.seed), record, options.limit)

    def told(mutant: Mutant, verdict: str, by: str, seconds: float, tests: int = 0) -> None:
        counts[verdict] += 1
        before, after = parts_of(read(mutant.file), mutant)
        row = {"key": mutant.key, "function": mutant.function, "verdict": verdict, "by": by, "before": before}
        row |= {"after": after, "seconds": round(seconds, 2), "tests": tests}
        if options.save:
            with open(options.save, "a") as stream:
                stream.write(json.dumps(row) + "\n")
        if verdict == "survived" or options.only:
            print(f"{verdict}: {mutant.key} {mutant.function}: {by}\n    {before}\n    {after}", flush=True)
        if sum(counts.values()) % 200 == 0:
            print(f"{dict(counts)} of {len(jobs)}, {time.monotonic() - begun:.0f} s", flush=True)

    for child, ended in run_all(children(), options.jobs):
        said, seconds = child.told(), time.monotonic() - child.begun
        ran = [one["test"] for one in said if "test" in one]
        wrong = [one["failed"] for one in said if "failed" in one]
        error = [one["error"] for one in said if "error" in one]
        if error and not ran:
            told(child.job, "not applied", error[0], seconds)
        elif ended or wrong or error:
            told(child.job, "killed", f"{ran[-1] if ran else ''}: {(wrong + error + [ended])[0]}", seconds, len(ran))
            if ran:
                found[:] = list(dict.fromkeys([ran[-1], *found]))[:200]
        else:
            told(child.job, "survived", "", seconds, len(ran))
    print(f"{dict(counts)} of {len(jobs)}, {time.monotonic() - begun:.0f} s", flush=True)


def related(tests: list[str], session: Session, record: Record) -> list[str]:
    """Tests that are not in the record and have a function in their name that one of ``tests`` has in its name."""
    named = {test.partition("[")[2].rstrip("]") for test in tests}
    found = []
    for test in session.items:
        name = test.partition("[")[2].rstrip("]")
        if test not in record.seconds and (name in named or name.partition("-")[0] in named):
            found.append(test)
    return found


def spread(jobs: list[Mutant], seed: int) -> list[Mutant]:
    """Mutants in a random order in which each line comes once before any comes a second time."""
    jobs = sorted(jobs, key=lambda one: one.key)
    random.Random(seed).shuffle(jobs)
    before: collections.Counter[tuple[str, int]] = collections.Counter()
    rounds = []
    for one in jobs:
        place = (one.file, one.start[0])
        rounds.append(before[place])
        before[place] += 1
    return [jobs[i] for i in sorted(range(len(jobs)), key=rounds.__getitem__)]


# --- what was found -----------------------------------------------------------------------------------------


def rows_of(file: str) -> Iterator[dict[str, str]]:
    for line in read(file).splitlines():
        yield json.loads(line)


def report(file: str) -> None:
    """A table of verdicts by module, and the survivors."""
    rows = list(rows_of(file))
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        counts[row["key"].partition(":")[0]][row["verdict"]] += 1
    verdicts = sorted({row["verdict"] for row in rows})
    print(f"{'':44}" + "".join(f"{name:>13}" for name in verdicts))
    for name, found in [*sorted(counts.items()), ("all", sum(counts.values(), collections.Counter()))]:
        print(f"{name:44}" + "".join(f"{found[verdict]:13}" for verdict in verdicts))
    for row in sorted(rows, key=lambda row: row["key"]):
        if row["verdict"] == "survived":
            print(f"{row['key']} {row['function']}\n    {row['before']}\n    {row['after']}")


if __name__ == "__main__":
    sys.exit(main())
