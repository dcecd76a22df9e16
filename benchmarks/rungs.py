"""What a call of a gradient costs beside its function, by the way in which the gradient is had. Prints a table.

    python benchmarks/rungs.py [--steps N]

Each program does the same: ``h = tanh(h) * 0.9``, so many times. They differ in what the compiler can know of it. A
gradient and its function alternate in one process, on NumPy, and the best run of each counts, in time of the
processor: the figures are ratios.
"""

import argparse
import math
import time
import warnings

import numpy as np

import s2s

TABLE = [np.sin, np.tanh]


class Box:
    def __init__(self, value):
        self.value = value


class Registry:
    """Gives what its table has, behind a method that the compiler does not look into."""

    def __getattribute__(self, name):
        return {"box": Box}[name]


REGISTRY = Registry()


@s2s.differentiable(backend="numpy")
def static(x, k, steps):
    h = x
    for _ in range(steps):
        h = np.tanh(h) * 0.9
    return np.sum(h * h)


@s2s.differentiable(backend="numpy")
def dynamic(x, k, steps):
    h = x
    for _ in range(steps):
        h = TABLE[k](h) * 0.9
    return np.sum(h * h)


@s2s.differentiable(backend="numpy")
def observed(x, k, steps):
    h = x
    for _ in range(steps):
        h = np.tanh(REGISTRY.box(h).value) * 0.9
    return np.sum(h * h)


@s2s.differentiable(backend="numpy")
def recorded(x, k, steps):
    class Scale:
        by = 0.9

    h = x
    for _ in range(steps):
        h = np.tanh(h) * Scale.by
    return np.sum(h * h)


WAYS = {
    "compiled from the source": static,
    "compiled from what a run has shown": observed,
    "compiled, with a call that is looked up": dynamic,
    "recorded at each call": recorded,
}
SIZES = (10, 1_000, 100_000)


def way_of(gradient):
    """How a gradient was had that was called."""
    text = gradient.source
    if "derivative_of_call(" in text:
        return recorded
    return dynamic if "rt.call(" in text else observed if "rt.expect(" in text else static


def times(function, args, bursts=60):
    """How many times as long as the function its gradient takes, the first call apart."""
    gradient, wanted = s2s.grad(function), 2e-3
    gradient(*args)
    assert way_of(gradient) is function, function
    best = [math.inf, math.inf]
    for _ in range(bursts):
        for k, call in enumerate((function, gradient)):
            start, calls = time.thread_time(), 0
            while calls == 0 or time.thread_time() - start < wanted:
                call(*args)
                calls += 1
            best[k] = min(best[k], (time.thread_time() - start) / calls)
    return best[1] / best[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps
    warnings.simplefilter("ignore", s2s.DerivativeWarning)
    s2s.grad(lambda x: x * x)(1.0)  # what a process imports once
    print(f"| gradient / function | {' | '.join(f'{size:,} elements' for size in SIZES)} |")
    print(f"| :-- |{' --: |' * len(SIZES)}")
    for name, function in WAYS.items():
        ratios = [times(function, (np.linspace(0.1, 0.9, size), 1, steps)) for size in SIZES]
        print(f"| {name} | {' | '.join(f'{ratio:.{0 if ratio >= 10 else 1}f}' for ratio in ratios)} |", flush=True)


if __name__ == "__main__":
    main()
