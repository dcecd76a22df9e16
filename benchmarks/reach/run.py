"""How far s2s reaches in code that nobody wrote for it: gradients of functions of published packages, as they are.

    pip install -r benchmarks/reach/requirements.txt
    python benchmarks/reach/run.py [--only TEXT ...] [--check] [--seconds S]

One line for each case of ``cases.py``: ok, WRONG (the gradient is not that of central differences), WARNED (nor is it,
and a ``SearchWarning`` says that it is that of the steps of a loop), or ERROR with the first line of the exception;
then the score by kind of code. ``--check`` runs no gradients: it says of which references two step sizes agree. It
needs memory and minutes: a case may take ``--seconds`` of processor time.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import resource
import signal
import sys
import tempfile
import warnings

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import cases  # noqa: E402 (packages read these settings when they are imported)
import numpy as np  # noqa: E402

RELATIVE, OF_LARGEST = 1e-5, 1e-7
"""A component of a gradient may be off by so much of itself, and of the largest."""

MEMORY = 8 << 30
"""Bytes that the process may take."""


class TooLong(BaseException):
    """A case takes too long; no handler of a package takes it for an error of its own."""


@contextlib.contextmanager
def limit(seconds):
    """Around what may take so many seconds of processor time."""

    def stop(*_):
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def distance(found, wanted):
    """How far apart two gradients are, where 1 is as far as they may be."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    if found.shape != wanted.shape:
        return np.inf
    allowed = RELATIVE * np.abs(wanted) + OF_LARGEST * np.max(np.abs(wanted))
    with np.errstate(all="ignore"):
        return float(np.nan_to_num(np.max(np.abs(found - wanted) / allowed), nan=np.inf))


def gradient(case, seconds):
    """What comes of the gradient of a case: the outcome, and what there is to say."""
    import s2s

    loss, x, reference = case.setup()
    value, wanted = float(loss(x.copy())), cases.reference(loss, x, reference)
    try:
        with limit(seconds), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found_value, found = s2s.value_and_grad(loss)(x.copy())
    except (Exception, TooLong) as problem:
        return "ERROR", f"{type(problem).__name__}: {(str(problem).strip().splitlines() or [''])[0][:200]}"
    off = distance(found, wanted)
    if abs(float(found_value) - value) > 1e-9 * max(1.0, abs(value)):
        return "WRONG", f"value {found_value}, should be {value}"
    if off <= 1.0:
        return "ok", ""
    is_warned = any(issubclass(one.category, s2s.SearchWarning) for one in said)
    return "WARNED" if is_warned else "WRONG", f"off by {off:.1e} of what is allowed"


def soundness(case):
    """Whether differences with two steps agree, and are those of a loss that gives the same again."""
    loss, x, reference = case.setup()
    relative = getattr(reference, "rel", 2e-3)
    one, other = (cases.richardson(loss, x, step) for step in (relative, 0.35 * relative))
    is_sound = float(loss(x.copy())) == float(loss(x.copy())) and np.any(one) and distance(one, other) <= 0.1
    return ("ok", "") if is_sound else ("DOUBT", f"{distance(one, other):.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of cases, or of packages")
    parser.add_argument("--check", action="store_true", help="look at the references alone")
    parser.add_argument("--seconds", type=float, default=40.0, help="of processor time, for each case")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rows, score = cases.load(), collections.defaultdict(collections.Counter)
    os.chdir(tempfile.mkdtemp())  # some packages write files where they run
    for case in rows:
        if not any(text in case.name or text in case.package for text in options.only):
            continue
        try:
            outcome, said = soundness(case) if options.check else gradient(case, options.seconds)
        except Exception as problem:
            outcome, said = "BROKEN", f"{type(problem).__name__}: {problem}"[:200]
        score[case.kind][outcome] += 1
        print(f"{outcome:6} {case.name} [{case.package}, {case.kind}] {said}".rstrip(), flush=True)
    for kind, counts in score.items():
        print(f"{kind:12}{counts['ok']:5} of {sum(counts.values())}")
    total = sum(score.values(), collections.Counter())
    print("reach:", ", ".join(f"{outcome} {count}" for outcome, count in total.most_common()))
    sys.exit(total["ok"] < sum(total.values()))


if __name__ == "__main__":
    main()
