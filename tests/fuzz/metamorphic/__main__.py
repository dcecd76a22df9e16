"""``python -m tests.fuzz --kind metamorphic --programs 1000``: rewritten functions, and what is wrong with them."""

import collections
import functools
import multiprocessing
import time

from tests.fuzz.__main__ import forget, start, summarised
from tests.fuzz.check import modes_of
from tests.fuzz.check import outcome as by_differences
from tests.fuzz.metamorphic.check import judged, outcome
from tests.fuzz.metamorphic.subjects import SOURCES, subject
from tests.fuzz.metamorphic.tools import PREAMBLE
from tests.fuzz.shrink import shrink

SHARES = {"reverse": 1.0, "forward": 0.4, "second": 0.05, "numba": 0.005}


def run(job, until):
    source, seed, number, modes = job
    if time.monotonic() > until:
        return job, None, (), 0.0
    before = time.perf_counter()
    found, _, names = outcome(source, seed, number, modes)
    forget()
    return job, found, names, time.perf_counter() - before


def minimal(job, seconds):
    """A smaller text that fails in the same way: by differences for a program, else one with the subject's value."""
    source, seed, number, modes = job
    first, text, names = outcome(source, seed, number, modes)
    text = text.removeprefix(PREAMBLE)
    modes = first.modes[-1:] or modes
    made = subject(source, seed)

    def fails(changed):
        if source == "programs":
            found = by_differences(changed, (made.args,), modes)
        else:
            found = judged(source, seed, made, PREAMBLE + changed, modes)
        return (found.verdict, found.group) == (first.verdict, first.group)

    if source == "programs":
        text = PREAMBLE + text
        first = by_differences(text, (made.args,), modes)
    return job, names, made.text, shrink(text, fails, seconds), first


def jobs_of(options, sources):
    shares = {mode: 1.0 for mode in options.modes.split(",")} if options.modes else SHARES
    first = options.seed * 1_000_000
    for seed in range(first, first + options.programs):
        yield sources[seed % len(sources)], seed // len(sources), seed, modes_of(seed, shares)


def main(options):
    begun, spent = time.monotonic(), 0.0
    rows, groups = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    by_rewrite = collections.defaultdict(collections.Counter)
    sources = options.sources.split(",") if options.sources else [source for source in SOURCES if source != "library"]
    with multiprocessing.Pool(options.jobs, start, maxtasksperchild=500) as pool:
        timed = functools.partial(run, until=begun + options.seconds)
        for job, found, names, seconds in pool.imap_unordered(timed, jobs_of(options, sources), chunksize=4):
            if found is None:
                continue
            spent += seconds
            rows[job[0]][found.verdict] += 1
            rows[job[0]].update(found.modes)
            for name in names:
                by_rewrite[name][found.verdict] += 1
            if found.failed or found.verdict in ("refused", "skipped"):
                groups[found.verdict, found.group].append((job, names))
        total = summarised(rows, time.monotonic() - begun, spent)
        for name, counts in sorted(by_rewrite.items()):
            print(f"    {name:28} {dict(counts)}")
        for (verdict, group), members in sorted(groups.items(), key=lambda item: -len(item[1])):
            where = [(job[:3], names) for job, names in members[:3]]
            print(f"{len(members):5} {verdict} ({group}): {where}", flush=True)
        chosen = [
            job
            for (verdict, _), members in groups.items()
            for job, _ in members[: options.show]
            if verdict in ("wrong", "crash", "slow") or verdict == "refused" and options.refused
        ]
        for job, names, before, after, found in pool.imap_unordered(
            functools.partial(minimal, seconds=options.shrink), chosen
        ):
            lines = [f"--- {job[:3]} {names}: {found.verdict} ({found.group})", before, "# rewritten", after]
            shown = "\n".join(lines + ["    " + line for line in found.text.splitlines()[:14]])
            print(shown, flush=True)
            if options.save:
                with open(options.save, "a") as file:
                    file.write(shown + "\n")
    return 1 if total["wrong"] or total["crash"] or total["slow"] else 0
