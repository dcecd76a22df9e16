"""``python -m tests.mutation``: change one thing in s2s at a time, and see whether a test fails.

A sample of mutants is drawn from each room (``--rooms``, ``--count``); the same ``--seed`` draws the same ones. The
tests are those that pytest takes for the paths of these rooms. First each is run once to find the lines that it runs;
``--record FILE`` keeps that, and the next run only adds what is missing. Then each mutant runs the tests that run its
line until one fails: those that found mutants nearby, then those of its own room, and those that are quick and look at
little else, for ``--limit`` processor seconds. ``--save FILE`` keeps the verdicts: mutants in it are
not run again, with ``--again`` those that no test has found are. ``--report FILE`` prints what it says. What stands in
tests/mutation/equivalent.txt is not run. ``--only FILE:LINE`` runs the mutants of a line. Needs Python 3.12.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import itertools
import json
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.mutation.operators import Mutant
from tests.mutation.record import Record, mask_of, text_of
from tests.mutation.rooms import (
    ROOMS,
    Identity,
    all_mutants,
    belongs,
    distance_of,
    drawn,
    entry_of,
    equivalents,
    identity,
    mutants_of,
    paths_of,
    room_of,
)
from tests.mutation.session import Child, Session, run_all

CHUNK = 20
"""Tests that one process runs one after another to find their lines."""

EQUIVALENT = os.path.join(os.path.dirname(__file__), "equivalent.txt")
TARGET, TARGET_OF_ROOM = 0.9, 0.8
VERDICTS = ("killed", "survived", "equivalent", "not reached", "not applied")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.mutation", description=__doc__)
    parser.add_argument("--rooms", default=",".join(ROOMS), help="what is changed, with commas between")
    parser.add_argument("--count", type=int, default=35, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of mutants")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--limit", type=float, default=40.0, help="processor seconds for one mutant")
    parser.add_argument("--paths", help="of the tests, in place of those of the rooms")
    parser.add_argument("--share", type=float, default=1.0, help="of the tests: so many of them, drawn by the seed")
    parser.add_argument("--record", help="a file that keeps which tests run which lines")
    parser.add_argument("--record-seconds", type=float, default=float("inf"), help="processor time for finding lines")
    parser.add_argument("--save", help="a file of verdicts, which are added to it")
    parser.add_argument("--again", action="store_true", help="run those of the file again that no test has found")
    parser.add_argument("--only", action="append", help="FILE:LINE, or FILE:LINE:COLUMN:CHANGE")
    parser.add_argument("--report", help="print what a file of verdicts says, and do nothing else")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    if options.report:
        return report(rows_of(options.report), {})
    os.environ.pop("S2S_TEST_CACHE", None)  # what is compiled already would not be changed
    rooms = {room_of(key) for key in options.only} if options.only else options.rooms.split(",")
    paths = options.paths.split(",") if options.paths else paths_of(rooms)
    flags = ["-q", "--no-header", "-p", "no:cacheprovider", "--tb=line", "-o", "faulthandler_timeout=0"]
    return int(pytest.main([*flags, *paths], plugins=[Session(lambda session: hunt(session, options))]))


# --- which tests run which lines --------------------------------------------------------------------------------


def is_drawn(test: str, share: float, seed: int) -> bool:
    number = int.from_bytes(hashlib.blake2b(f"{seed} {test}".encode(), digest_size=4).digest(), "big")
    return number < share * 2**32


def recorded(session: Session, options: argparse.Namespace) -> Record:
    """The record of a file, with the tests that are not in it yet."""
    record = Record.load(options.record) if options.record and os.path.exists(options.record) else Record()
    session.items = {test: item for test, item in session.items.items() if is_drawn(test, options.share, options.seed)}
    missing = [test for test in session.items if test not in record.seconds]
    random.Random(options.seed).shuffle(missing)
    used, told, saved, before = 0.0, 0.0, 0.0, len(record.seconds)
    watch = session.watched() if missing else None
    while watch is not None and missing and used < options.record_seconds:
        chunks = [missing[i : i + CHUNK] for i in range(0, len(missing), CHUNK)]
        timely = itertools.takewhile(lambda _: used < options.record_seconds, chunks)
        for child, ended in run_all((session.recording(chunk, watch) for chunk in timely), options.jobs):
            note(record, child, ended)
            used += child.seconds
            if used > told + 120.0:
                told = used
                print(f"lines of {len(record.seconds)} tests, {used:.0f} processor seconds", flush=True)
            if options.record and used > saved + 600.0:
                saved = used
                record.save(options.record)
        missing = [test for test in missing if test not in record.seconds]
    if watch is not None:
        watch.end()
        print(f"lines of {len(record.seconds) - before} more tests, {used:.0f} processor seconds", flush=True)
        if options.record:
            record.save(options.record)
    for test, reason in record.broken.items():
        if test in session.items and reason != "skipped":
            print(f"left out: {test}: {reason}")
    return record


def note(record: Record, child: Child, ended: str) -> None:
    """Add what a process has told about its tests."""
    told = child.told()
    for test, one in zip(child.job, told):
        if one.get("failed", "error"):
            record.leave_out(test, one.get("failed") or one.get("error", ""))
        else:
            record.add(test, one["seconds"], {file: int(mask, 16) for file, mask in one["lines"].items()})
    if len(told) < len(child.job):  # this one has ended the process
        record.leave_out(child.job[len(told)], ended or "ended the process")


# --- mutants ------------------------------------------------------------------------------------------------------


def chosen(mutant: Mutant, tests: dict[str, int], record: Record, found: dict[str, list[Mutant]]) -> list[str]:
    """The tests for a mutant, in the order of their chance to find it for what they cost.

    Those that found mutants nearby come first. Of the cases of one function each is worth less than the one before.
    """

    def distance(test: str) -> tuple[bool, bool, int]:
        near = [(one.file != mutant.file, one.function != mutant.function, abs(one.start[0] - mutant.start[0]))
                for one in found[test]]
        return min(near)

    costs = {test: record.cost(test, near) * distance_of(test, mutant.file) for test, near in tests.items()}
    known = sorted((test for test in tests if test in found), key=distance)[:10]
    before: collections.Counter[str] = collections.Counter()
    for test in sorted(tests, key=lambda test: (costs[test], test)):
        function = test.partition("[")[0]
        costs[test] *= 1.0 + before[function] / 2
        before[function] += 1
    return list(dict.fromkeys([*known, *sorted(tests, key=lambda test: (costs[test], test))]))


class Hunt:
    """Runs mutants and keeps what became of them."""

    def __init__(self, session: Session, options: argparse.Namespace) -> None:
        self.session, self.options = session, options
        self.record = recorded(session, options)
        self.equivalent = equivalents(text_of(EQUIVALENT))
        self.rows: dict[Identity, dict[str, Any]] = {}
        if options.save and os.path.exists(options.save):
            self.rows = {tuple(row["mutant"]): row for row in rows_of(options.save)}
        self.found: dict[str, list[Mutant]] = {}
        self.sound: set[str] = set()
        self.left_out: collections.Counter[str] = collections.Counter()
        self.mine: dict[Identity, dict[str, Any]] = {}
        self.drawn: set[Identity] = set()
        self.waiting: list[Mutant] = []

    # --- which --------------------------------------------------------------------------------------------------

    def jobs(self) -> Iterator[Mutant]:
        if self.options.only:
            keys = set(self.options.only)
            for one in (one for file in sorted({key.partition(":")[0] for key in keys}) for one in mutants_of(file)):
                if not one.fresh and (one.key in keys or one.key.rsplit(":", 2)[0] in keys):
                    yield one
            return
        for room in self.options.rooms.split(","):
            every = all_mutants(room)
            here = [one for one in every if not one.fresh]
            self.left_out[room] += len(every) - len(here)
            yield from itertools.islice(filter(self.is_possible, drawn(here, self.options.seed)), self.options.count)

    def is_possible(self, one: Mutant) -> bool:
        """Whether a mutant can take effect here: what ran only when s2s was imported is over."""
        if (which := identity(one)) in self.drawn:  # a line that stands there twice
            return False
        self.drawn.add(which)
        imported = self.session.imported.get(one.file, 0) & mask_of(range(one.lines[0], one.lines[1] + 1))
        possible = self.session.can_change(one) and (not imported or bool(self.record.tests(one.file, one.lines)))
        self.left_out[room_of(one.file)] += not possible
        return possible

    def tests(self, one: Mutant) -> list[str]:
        room = room_of(one.file)
        every = self.record.tests(one.file, one.lines)
        here = {
            test: near for test, near in every.items()
            if test in self.session.items and (self.options.paths or belongs(test, room))
        }
        return chosen(one, here, self.record, self.found)

    # --- what became of them --------------------------------------------------------------------------------------

    def children(self) -> Iterator[Child]:
        for one in itertools.chain(self.jobs(), iter(lambda: self.waiting.pop() if self.waiting else None, None)):
            which = identity(one)
            known = self.rows.get(which)
            if known is not None and which in self.equivalent and not self.options.only:
                known = None
            if known is not None and not self.options.only:
                if known["verdict"] == "killed" or not self.options.again:
                    self.mine[which] = known
                    continue
            if which in self.equivalent and not self.options.only:
                self.told(one, "equivalent", self.equivalent[which])
                continue
            tests = self.tests(one)
            if not tests:
                self.told(one, "not reached")
                continue
            yield self.session.testing(one, tests, self.record, self.options.limit)

    def told(self, one: Mutant, verdict: str, by: str = "", seconds: float = 0.0, tests: int = 0) -> None:
        which = identity(one)
        row = {"mutant": which, "line": one.start[0], "verdict": verdict, "by": by, "tests": tests}
        row |= {"group": one.group, "seconds": round(seconds, 2)}
        self.mine[which] = row
        if self.options.save:
            with open(self.options.save, "a") as stream:
                stream.write(json.dumps(row) + "\n")
        if self.options.only or verdict not in ("killed", "equivalent"):
            print(f"{verdict}: line {one.start[0]}, {tests} tests, {seconds:.0f} s {by}\n{entry_of(which)}\n")
        if len(self.mine) % 25 == 0:
            print(f"{len(self.mine)} mutants")
        sys.stdout.flush()

    def is_sound(self, test: str) -> bool:
        """Whether a test that has failed on a mutant passes without it, in a process of its own."""
        if test not in self.sound:
            child, ended = next(run_all(iter([self.session.testing(None, [test], self.record, 1.0)]), 1))
            failed = ended or next((one["failed"] for one in child.told() if "failed" in one), "")
            if failed:
                self.record.leave_out(test, f"alone: {failed}")
                print(f"left out: {test}: alone: {failed}", flush=True)
                return False
            self.sound.add(test)
        return True

    def run(self) -> None:
        for child, ended in run_all(self.children(), self.options.jobs):
            said, one = child.told(), child.job
            ran = [row["test"] for row in said if "test" in row]
            wrong = [row[how] for how in ("failed", "error") for row in said if how in row] + ([ended] if ended else [])
            if not ran:
                self.told(one, "not applied", " ".join(wrong), child.seconds)
            elif not wrong:
                self.told(one, "survived", "", child.seconds, len(ran))
            elif self.is_sound(ran[-1]):
                self.found.setdefault(ran[-1], []).append(one)
                self.told(one, "killed", f"{ran[-1]}: {wrong[0]}", child.seconds, len(ran))
            else:
                self.waiting.append(one)


def hunt(session: Session, options: argparse.Namespace) -> None:
    run = Hunt(session, options)
    run.run()
    report(run.mine.values(), run.left_out)


# --- what was found -----------------------------------------------------------------------------------------------


def rows_of(file: str) -> list[dict[str, Any]]:
    """The verdicts in a file, of each mutant the last."""
    rows = map(json.loads, text_of(file).splitlines())
    return list({tuple(row["mutant"]): row for row in rows}.values())


def rate(counts: collections.Counter[str]) -> float:
    asked = counts.total() - counts["equivalent"]
    return counts["killed"] / asked if asked else 1.0


def report(rows: Any, left_out: dict[str, int]) -> int:
    """Print what survived, and a table by room. Returns 1 where too few were found."""
    equivalent = equivalents(text_of(EQUIVALENT))
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in sorted(rows, key=lambda row: (row["mutant"][0], row["line"])):
        which = tuple(row["mutant"])
        verdict = "equivalent" if which in equivalent else row["verdict"]
        counts[room_of(row["mutant"][0])][verdict] += 1
        if verdict not in ("killed", "equivalent"):
            print(f"\n{verdict}: line {row['line']}, {row['tests']} tests\n{entry_of(which)}")
    print(f"\n{'':12}{'mutants':>9}" + "".join(f"{name:>13}" for name in VERDICTS) + f"{'rate':>8}{'left out':>10}")
    total = sum(counts.values(), collections.Counter())
    for name, found in [*counts.items(), ("all", total)]:
        cells = "".join(f"{found[verdict]:13}" for verdict in VERDICTS)
        beside = sum(left_out.values()) if name == "all" else left_out.get(name, 0)
        print(f"{name:12}{found.total():9}{cells}{rate(found):8.0%}{beside or '':>10}")
    low = [name for name, found in counts.items() if rate(found) < TARGET_OF_ROOM]
    if rate(total) < TARGET:
        low.insert(0, f"under {TARGET:.0%} in all")
    print(f"too few found: {', '.join(low)}" if low else f"{TARGET:.0%} in all, {TARGET_OF_ROOM:.0%} of each room")
    return int(bool(low))


if __name__ == "__main__":
    sys.exit(main())
