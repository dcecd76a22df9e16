"""``python -m tests.validation --bank --pairs --fuzz 200``: validate all of them, whatever time it takes."""

import argparse
import collections
import contextlib
import io
import multiprocessing
import sys
import time
import warnings

from s2s.errors import DifferentiationError, InternalError
from tests.bank import CASES
from tests.fuzz.check import load
from tests.fuzz.generate import program
from tests.inplace.pairs import PAIRS, PROGRAMS
from tests.normalize.programs import PROGRAMS as NORMALIZED
from tests.validation.checked import MODES, checked

with contextlib.suppress(ImportError):
    import tests.inplace.test_pairs  # noqa: F401 (declares the pairs)


def subjects(options):
    """Name, a function that gives the function, arguments, keywords and argnums of each subject."""
    if options.bank:
        for case in CASES:
            yield case.name, case.f, case.args, case.kwargs, case.argnums
    if options.pairs:
        for pair in PAIRS:
            yield pair.name, pair.mutating, pair.args, {}, None
            yield f"{pair.name}_pure", pair.pure, pair.args, {}, None
        for made in PROGRAMS:
            yield made.name, made.f, made.args, {}, None
    if options.programs:
        for f, inputs in NORMALIZED:
            for args in inputs:
                if any(isinstance(a, float) for a in args):
                    yield f.__name__, f, args, {}, None
    for seed in range(options.seed, options.seed + options.fuzz):
        made = program(seed)
        f = load(made.text)
        for k, args in enumerate(made.samples[:2]):
            yield f"fuzz {seed}:{k}", f, args, {}, None


def run(place):
    name, f, args, kwargs, argnums = SUBJECTS[place]
    found = []
    for mode in OPTIONS.modes:
        if mode == "jvp" and kwargs:
            continue
        start = time.monotonic()
        verdict, text = judged(f, args, kwargs, argnums, mode)
        found.append((name, mode, verdict, text, time.monotonic() - start))
    return found


def judged(f, args, kwargs, argnums, mode):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            reports = checked(f, args, mode, argnums, kwargs)
        except InternalError as problem:
            return ("broken" if problem.diagnostic.code.startswith("S2S91") else "crash"), str(problem)
        except DifferentiationError as problem:
            return "refused", str(problem).splitlines()[0]
        except AssertionError as problem:
            return "crash", f"AssertionError {problem}"
        except Exception as problem:
            return "raises", f"{type(problem).__name__}: {problem}"
    remarks = [remark for report in reports for remark in report.remarks]
    return ("remark", "; ".join(remarks)) if remarks else ("right", "") if reports else ("none", "")


def main():
    counts = collections.Counter()
    start = time.monotonic()
    with multiprocessing.get_context("fork").Pool(OPTIONS.jobs) as pool:
        for found in pool.imap_unordered(run, range(len(SUBJECTS)), chunksize=4):
            for name, mode, verdict, text, seconds in found:
                counts[verdict] += 1
                if verdict in ("broken", "crash") or OPTIONS.verbose or (verdict == "remark" and OPTIONS.remarks):
                    print(f"--- {verdict} {name} ({mode}, {seconds:.1f} s)\n{text}", flush=True)
    print(f"{len(SUBJECTS)} subjects in {time.monotonic() - start:.0f} s: {dict(counts)}")
    return 1 if counts["broken"] or counts["crash"] else 0


parser = argparse.ArgumentParser(prog="tests.validation", description=__doc__)
parser.add_argument("--bank", action="store_true", help="the bank of functions")
parser.add_argument("--pairs", action="store_true", help="the functions that write into arrays")
parser.add_argument("--programs", action="store_true", help="the programs of the tests of normalize")
parser.add_argument("--fuzz", type=int, default=0, help="so many programs of the fuzzer")
parser.add_argument("--seed", type=int, default=0, help="of the first of these")
parser.add_argument("--jobs", type=int, default=1, help="processes")
parser.add_argument("--modes", nargs="+", default=MODES)
parser.add_argument("--only", default="", help="subjects with this in their name")
parser.add_argument("--every", type=int, default=1, help="one in so many subjects")
parser.add_argument("--remarks", action="store_true", help="show what was not checked")
parser.add_argument("--verbose", action="store_true", help="show each verdict")
OPTIONS = parser.parse_args()
SUBJECTS = [subject for subject in subjects(OPTIONS) if OPTIONS.only in subject[0]][:: OPTIONS.every]

if __name__ == "__main__":
    sys.exit(main())
