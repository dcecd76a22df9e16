"""What a call costs on top of the generated code, and what the decorator costs. Prints a table with limits.

    python benchmarks/dispatch.py

The generated function is called directly: its source, as ``s2s.source`` prints it, is executed as a module
would be. Both sides of a comparison alternate in short bursts in one process, and the best burst of each
counts. Ends with an error where a limit is exceeded.
"""

import sys
import time

import numpy as np

import s2s


def product(x: float, y: float):
    return x * y


def norm(x):
    return np.sum(x * x)


def many(a: float, b: float, c: float, d: float, e: float, f: float):
    return a * b + c * d + e * f


def chosen(x: float, mode: str):
    return x * x if mode < "m5" else x


def generated(function, *args):
    """The generated gradient as a plain function."""
    text = s2s.source(function, *args, mode="grad")
    names = dict(function.__globals__)
    exec(compile(text, f"<generated {function.__name__}>", "exec"), names)
    return names[f"{function.__name__}_grad"]


def microseconds(first, second, args, calls=2000, bursts=200):
    """The time of one call of each, from the best of alternating bursts; the cost of the loop is in both."""
    best = [float("inf"), float("inf")]
    trips = range(calls)
    for _ in range(bursts):
        for k, function in enumerate((first, second)):
            start = time.perf_counter()
            for _ in trips:
                function(*args)
            best[k] = min(best[k], time.perf_counter() - start)
    return [1e6 * seconds / calls for seconds in best]


def by_options(count, bursts=200):
    """The time of one call of a gradient that is called with so many strings in turn."""
    gradient, modes = s2s.grad(chosen), [f"m{k}" for k in range(count)]
    for mode in modes * 3:
        gradient(1.5, mode)
    best = float("inf")
    for _ in range(bursts):
        start = time.perf_counter()
        for _ in range(50):
            for mode in modes:
                gradient(1.5, mode)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / (50 * count)


def main():
    rows = []
    for function, args in [
        (product, (2.0, 3.0)),
        (norm, (np.ones(4),)),
        (many, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
    ]:
        direct, dispatched = microseconds(generated(function, *args), s2s.grad(function), args)
        rows.append((f"grad({function.__name__})", direct, dispatched, 1.0))
    for function, args in [(product, (2.0, 3.0)), (norm, (np.ones(4),))]:
        plain, decorated = microseconds(function, s2s.differentiable(function), args)
        rows.append((f"differentiable({function.__name__})", plain, decorated, 0.2))

    rows += [(f"grad(chosen), {count} strings", 0.0, by_options(count), 5.0) for count in (1, 8, 30)]
    print(f"{'microseconds a call':<26}{'direct':>9}{'s2s':>9}{'added':>9}{'limit':>9}")
    for label, direct, through, limit in rows:
        added = through - direct
        verdict = "" if added <= limit else "   too slow"
        print(f"{label:<26}{direct:>9.3f}{through:>9.3f}{added:>9.3f}{limit:>9.1f}{verdict}")
    sys.exit(any(through - direct > limit for _, direct, through, limit in rows))


if __name__ == "__main__":
    main()
