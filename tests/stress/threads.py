"""Many threads that compile and call the same and other derivatives at once.

    python -m tests.stress.threads [--threads 32] [--rounds 5]

All threads start at one moment, in a process that has imported nothing of the compiler. Each takes gradients of shared
functions in an order of its own, with arguments of several kinds, so that versions are made and dispatchers change
their code while others call them; every result is compared with its closed form.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time

import numpy as np

import s2s


def cube(x):
    return np.sum(x**3)


def wave(x):
    total = 0.0
    for k in range(3):
        total = total + np.sum(np.sin(x) * k)
    return total


def chosen(x):
    if np.sum(x) > 0.0:
        return np.sum(x * x)
    return np.sum(x)


CASES = [
    (cube, lambda x: 3 * x**2),
    (wave, lambda x: 3 * np.cos(x)),
    (chosen, lambda x: 2 * x if np.sum(x) > 0 else np.ones_like(x)),
]
ARGUMENTS = [np.array(0.7), 0.3, np.array([0.5, 1.5]), np.full((2, 3), -0.4), np.float32(0.25), np.ones((1, 4))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    start, wrong = threading.Barrier(options.threads), list[str]()

    def work(seed: int) -> None:
        chance = random.Random(seed)
        start.wait()
        for _ in range(options.rounds):
            todo = [(f, slope, x) for f, slope in CASES for x in ARGUMENTS]
            chance.shuffle(todo)
            for f, slope, x in todo:
                try:
                    found = s2s.grad(f)(x)
                except BaseException as problem:
                    wrong.append(f"{f.__name__}: {type(problem).__name__}: {problem}")
                    continue
                if not np.allclose(found, slope(np.asarray(x)), rtol=1e-5):
                    wrong.append(f"{f.__name__}({x!r}): {found!r}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(options.threads)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    hung = sum(thread.is_alive() for thread in threads)
    calls = options.threads * options.rounds * len(CASES) * len(ARGUMENTS)
    print(*wrong[:5], sep="\n", end="\n" if wrong else "")
    print(f"{options.threads} threads, {calls} gradients: {len(wrong)} wrong, {hung} threads hung, "
          f"{time.monotonic() - began:.1f} s")
    return 1 if wrong or hung else 0


if __name__ == "__main__":
    sys.exit(main())
