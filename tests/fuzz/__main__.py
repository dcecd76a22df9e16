"""``python -m tests.fuzz --programs 5000 --seed 7``: many programs, a table, and the minimal failing ones by class.

``--kind`` names kinds of programs (all in turn without it; ``metamorphic`` rewrites functions of ``--sources``,
``library`` calls functions with a rule under other options, shapes and kinds of arguments, those of ``--functions``),
``--modes`` the modes in which each is checked (without it each in a share of the programs), ``--seconds`` ends the run
early, and ``--jobs`` is the number of processes. ``--program SEED --kind K`` makes the program of one seed minimal.
``--save FILE`` appends what failed, minimal, to a file. With ``--validate`` each stage of the compiler is run beside
the one before it, and failures are told apart by the pass that broke the program.
"""

import argparse
import collections
import functools
import gc
import linecache
import multiprocessing
import os
import sys
import time

from tests.fuzz import functions
from tests.fuzz.check import FIRST_ORDER, MODES, modes_of, outcome
from tests.fuzz.generate import KINDS, kind_of, program
from tests.fuzz.shrink import shrink

CHUNK = 4
LIBRARY = "library"


def start():
    """A process of the pool: what is imported stays, and is no garbage."""
    gc.freeze()


def run(job, until=float("inf")):
    """A job is a kind, a seed and modes; with it come its outcome, None where the time is over, and its seconds."""
    kind, seed, modes = job
    if time.monotonic() > until:
        return job, None, 0.0
    before = time.perf_counter()
    if kind.startswith(LIBRARY):
        found = functions.of_seed(seed, modes, functions_of(kind))[1]
    else:
        made = program(seed, kind)
        found = outcome(made.text, made.samples, modes)
    forget()
    return job, found, time.perf_counter() - before


def functions_of(kind):
    """The functions in a kind such as ``library numpy.sum``, None for all."""
    return tuple(kind.split()[1:]) or None


def forget():
    """Programs leave nothing behind."""
    for name in [name for name in linecache.cache if name.startswith("<")]:
        del linecache.cache[name]


def minimal(job, seconds=60.0):
    """The minimal program that fails as the program of a job does, and its outcome."""
    kind, seed, modes = job
    if kind.startswith(LIBRARY):
        return job, *functions.minimal_of_seed(seed, modes, functions_of(kind))
    made = program(seed, kind)
    first = outcome(made.text, made.samples, modes)
    modes = first.modes[-1:] or modes

    def fails(text):
        found = outcome(text, made.samples, modes)
        return (found.verdict, found.group) == (first.verdict, first.group)

    text = shrink(made.text, fails, seconds)
    return job, text, outcome(text, made.samples, modes)


def described(job, text, found):
    """The program, where it comes from, and what is wrong."""
    lines = [f"--- {job[0]} {job[1]}, {found.verdict} ({found.group})", text]
    return "\n".join(lines + ["    " + line for line in found.text.splitlines()[:14]])


def jobs_of(options):
    shares = {mode: 1.0 for mode in options.modes.split(",")} if options.modes else None
    kinds = options.kind.split(",") if options.kind else None
    if kinds == [LIBRARY]:
        kinds, shares = [f"{LIBRARY} {options.functions}".strip()], shares or functions.SHARES
    first = options.seed * 1_000_000
    for seed in range(first, first + options.programs):
        kind = kinds[seed % len(kinds)] if kinds else kind_of(seed)
        yield kind, seed, modes_of(seed, shares)


VERDICTS = ("right", "wrong", "crash", "slow", "refused", "skipped")


def summarised(rows, seconds, spent):
    """Print counts by kind and by what was found, and the rate; the counts of all."""
    modes = dict.fromkeys((*MODES, *functions.MODES))
    columns = [*VERDICTS, *(mode for mode in modes if any(mode in counts for counts in rows.values()))]
    print(f"{'kind':12}" + "".join(f"{name:>9}" for name in columns))
    total = collections.Counter()
    for kind, counts in sorted(rows.items()):
        total += counts
        print(f"{kind:12}" + "".join(f"{counts[name]:9}" for name in columns))
    print(f"{'all':12}" + "".join(f"{total[name]:9}" for name in columns))
    count = sum(total[name] for name in VERDICTS)
    print(f"{count} programs in {seconds:.0f} s, {count / max(spent, 1e-9):.1f} a second and process", flush=True)
    return total


def parsed():
    every = dict.fromkeys((*MODES, *functions.MODES))
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=300, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first program, in millions; they count up")
    parser.add_argument("--kind", help=f"some of {', '.join(KINDS)}; metamorphic; or library")
    parser.add_argument("--modes", help=f"some of {', '.join(every)}, for every program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no program after so many")
    parser.add_argument("--show", type=int, default=2, help="how many failures of a class to make minimal")
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds to make one minimal")
    parser.add_argument("--refused", action="store_true", help="make refused programs minimal too")
    parser.add_argument("--program", type=int, help="make just the program of this seed minimal")
    parser.add_argument("--sources", help="of functions to rewrite: some of bank, programs, library")
    parser.add_argument("--functions", default="", help="names of functions to call, with blanks between them")
    parser.add_argument("--validate", action="store_true", help="check each stage of the compiler too; slow")
    parser.add_argument("--save", help="a file to which failures are appended")
    return parser.parse_args()


def main():
    options = parsed()
    if options.validate:
        os.environ["S2S_VALIDATE"] = "1"
    if options.kind == "metamorphic":
        from tests.fuzz.metamorphic.__main__ import main as metamorphic

        return metamorphic(options)
    if options.program is not None:
        is_call = options.kind == LIBRARY
        modes = tuple(options.modes.split(",")) if options.modes else functions.MODES if is_call else FIRST_ORDER
        kind = f"{LIBRARY} {options.functions}".strip() if is_call else options.kind or kind_of(options.program)
        job = (kind, options.program, modes)
        print(described(*minimal(job, options.shrink)))
        return 0
    return hunt(options)


def hunt(options):
    begun = time.monotonic()
    rows, groups = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    spent = 0.0
    with multiprocessing.Pool(options.jobs, start, maxtasksperchild=500) as pool:
        timed = functools.partial(run, until=begun + options.seconds)
        for job, found, seconds in pool.imap_unordered(timed, jobs_of(options), chunksize=CHUNK):
            if found is None:
                continue
            spent += seconds
            rows[job[0]][found.verdict] += 1
            rows[job[0]].update(found.modes)
            if found.failed or found.verdict == "refused":
                groups[found.verdict, found.group, job[0]].append(job)
        total = summarised(rows, time.monotonic() - begun, spent)
        for (verdict, group, kind), members in sorted(groups.items(), key=lambda item: -len(item[1])):
            print(f"{len(members):5} {verdict} {kind} ({group}): {[job[1] for job in sorted(members)[:4]]}")
        chosen = [
            job
            for (verdict, *_), members in groups.items()
            for job in sorted(members)[: options.show]
            if verdict != "refused" or options.refused
        ]
        sys.stdout.flush()
        for result in pool.imap_unordered(functools.partial(minimal, seconds=options.shrink), chosen):
            shown = described(*result)
            print(shown, flush=True)
            if options.save:
                with open(options.save, "a") as file:
                    file.write(shown + "\n")
    return 1 if total["wrong"] or total["crash"] or total["slow"] else 0


if __name__ == "__main__":
    sys.exit(main())
