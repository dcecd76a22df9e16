"""Ctrl-C at many moments of the first compilation of a process: s2s must be usable afterwards.

    python -m tests.stress.interrupts [--runs 100] [--seed 0]

Each run is a process of its own. It gets SIGINT a random time after it began, while it imports s2s, compiles two
gradients and second derivatives, in the main thread; then it tries all of it again and compares with closed forms.
Ends with an error where one of them does not come out.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = '''
import signal, sys, time
import numpy as np

def step(x, k):
    for i in range(k):
        x = np.sin(x) * x if np.sum(x) > 0 else x + 1.0
    return np.sum(x ** 2)

def work():
    import s2s
    x = np.linspace(0.1, 0.9, 4)
    square = s2s.grad(lambda v: np.sum(v ** 3))(x)
    assert np.allclose(square, 3 * x ** 2)
    first = s2s.grad(step)(x, 2)
    h = 1e-6
    for k in range(4):
        e = np.eye(4)[k] * h
        assert abs((step(x + e, 2) - step(x - e, 2)) / (2 * h) - first[k]) < 1e-6
    assert np.allclose(s2s.hessian(lambda v: np.sum(v ** 3))(x), np.diag(6 * x))
    assert np.isclose(s2s.jvp(lambda v: step(v, 2), (x,), (np.ones(4),))[1], np.sum(first))

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
began, when = time.monotonic(), "after"
try:
    work()
except KeyboardInterrupt:
    when = "interrupted"
except BaseException as problem:
    print("broken in the first run:", type(problem).__name__, problem)
    sys.exit(1)
signal.setitimer(signal.ITIMER_REAL, 0)
late = time.monotonic() - began - float(sys.argv[1])
try:
    work()
except BaseException as problem:
    print("broken afterwards:", type(problem).__name__, problem)
    sys.exit(1)
print(when, f"{max(late, 0):.3f}")
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=1.2, help="seconds after which the latest interrupt comes")
    options = parser.parse_args()
    chance, counts, late = random.Random(options.seed), collections.Counter[str](), [0.0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(PROGRAM)
        for _ in range(options.runs):
            run(file, chance.uniform(0.001, options.longest), counts, late)
    print(f"{options.runs} runs: {counts['interrupted']} interrupted, {counts['after']} had ended before, "
          f"{counts['broken']} broken; the longest wait for an interrupt {max(late):.2f} s")
    return 1 if counts["broken"] else 0


def run(file: Path, moment: float, counts: collections.Counter[str], late: list[float]) -> None:
    """One process, interrupted after ``moment`` seconds; what became of it is counted."""
    environment = {**os.environ, "S2S_CACHE": "0"}
    done = subprocess.run([sys.executable, str(file), str(moment)], env=environment, capture_output=True, text=True)
    word, _, rest = done.stdout.strip().partition(" ")
    if done.returncode or word not in ("after", "interrupted"):
        counts["broken"] += 1
        print(f"after {moment:.3f} s: {done.stdout.strip()} {done.stderr.strip()[-300:]}")
        return
    counts[word] += 1
    if word == "interrupted":
        late.append(float(rest))


if __name__ == "__main__":
    sys.exit(main())
