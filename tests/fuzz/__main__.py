"""``python -m tests.fuzz --count 5000 --seed 7``: many programs, and the minimal failing ones by class."""

import argparse
import collections
import multiprocessing
import sys
import time

from tests.fuzz.check import outcome
from tests.fuzz.generate import program
from tests.fuzz.shrink import shrink


def run(seed):
    made = program(seed)
    return seed, outcome(made.text, made.samples)


def minimal(seed):
    """The minimal program that fails as the program of a seed does, and its outcome."""
    made = program(seed)
    first = outcome(made.text, made.samples)

    def fails(text):
        found = outcome(text, made.samples)
        return (found.verdict, found.group) == (first.verdict, first.group)

    text = shrink(made.text, fails)
    return seed, text, outcome(text, made.samples)


def show(seed, text, found):
    """The program, where it comes from, and what is wrong."""
    print(f"--- seed {seed}, {found.verdict} ({found.group})")
    print(text)
    print("\n".join("    " + line for line in found.text.splitlines()[:14]), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; they count up")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--show", type=int, default=3, help="how many failures of a class to shrink")
    parser.add_argument("--refused", action="store_true", help="shrink refused programs too")
    parser.add_argument("--program", type=int, help="make just the program of this seed minimal")
    options = parser.parse_args()
    if options.program is not None:
        show(*minimal(options.program))
        return 0
    start = time.monotonic()
    seeds = range(options.seed * 1_000_000, options.seed * 1_000_000 + options.count)
    counts, groups = collections.Counter(), collections.defaultdict(list)
    with multiprocessing.Pool(options.jobs) as pool:
        for seed, found in pool.imap_unordered(run, seeds, chunksize=4):
            counts[found.verdict] += 1
            if found.failed or found.verdict == "refused":
                groups[found.verdict, found.group].append(seed)
        print(f"{options.count} programs in {time.monotonic() - start:.0f} s: {dict(counts)}")
        for (verdict, group), members in sorted(groups.items(), key=lambda item: -len(item[1])):
            print(f"{len(members):5} {verdict} ({group}): seeds {sorted(members)[:5]}", flush=True)
        chosen = [
            seed
            for (verdict, _), members in groups.items()
            for seed in sorted(members)[: options.show]
            if verdict != "refused" or options.refused
        ]
        for result in pool.imap_unordered(minimal, chosen):
            show(*result)
    return 1 if counts["wrong"] or counts["crash"] or counts["slow"] else 0


if __name__ == "__main__":
    sys.exit(main())
