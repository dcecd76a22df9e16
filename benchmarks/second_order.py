"""What products with Jacobians and Hessians cost on the NumPy backend, as ratios that are taken in one run.

    python benchmarks/second_order.py [names] [--file FILE]

For each program the time of ``jvp`` over that of the primal, and that of a product with the Hessian over that of the
gradient: forward over reverse (``jvp`` of ``grad``) and reverse over reverse (``vjp`` of ``grad``). The generated code
is measured, without the tests of what is given to ``s2s.jvp``. Functions take turns, the median of the rounds counts.
Ends with an error where ``jvp`` takes more than 3 primals or a product by forward over reverse more than 4 gradients.
``FILE`` is a Python file with other programs, as ``CASES``: the name, the function, anything, the differentiated
positions and the arguments.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import s2s
from s2s import errors
from s2s.derivatives import derivative

LIMITS = {"jvp / primal": 3.0, "hvp / grad": 4.0}
SHORT = 2e-5
"""The seconds of a primal of which the calls themselves cost as much as what they compute: it has no limit."""

ROUNDS = 9


def booth(x: float, y: float) -> float:
    """A few operations on numbers."""
    return (x + 2.0 * y - 7.0) ** 2 + np.sin(x * y) * (2.0 * x + y - 5.0) ** 2


def relaxation(x: float, n: int) -> float:
    """A loop of numbers."""
    y = 0.5 * x
    for _ in range(n):
        y = y - 0.3 * (y * y - x) / (1.0 + y)
    return y


def diffusion(u: np.ndarray, steps: int) -> float:
    """A loop of arrays that are changed in place."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * (1.0 + 0.1 * u[1:-1])
    return np.sum(u * u)


def network(w: np.ndarray, v: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Products of matrices."""
    h = np.tanh(x @ w)
    return np.mean((h @ v - y) ** 2)


def valley(x: np.ndarray) -> float:
    """Slices of a vector."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def elementwise(x: np.ndarray) -> float:
    """A long chain on a large array."""
    y = np.sin(x) * np.exp(-0.5 * x * x) + 0.1 * x
    return np.sum(y * np.log1p(y * y))


RNG = np.random.default_rng(0)
CASES: list[tuple[str, Callable[..., Any], Any, tuple[int, ...], tuple[Any, ...]]] = [
    ("booth", booth, None, (0, 1), (0.7, 1.3)),
    ("relaxation", relaxation, None, (0,), (2.0, 30)),
    ("diffusion", diffusion, None, (0,), (RNG.normal(size=1000), 100)),
    ("network", network, None, (0, 1), (
        RNG.normal(size=(40, 32)) / 6, RNG.normal(size=(32, 4)) / 6, RNG.normal(size=(64, 40)),
        RNG.normal(size=(64, 4)),
    )),
    ("valley", valley, None, (0,), (RNG.normal(size=1000),)),
    ("elementwise", elementwise, None, (0,), (RNG.normal(size=300_000),)),
]


def medians(functions: list[Callable[[], Any]], seconds: float = 0.05) -> list[float]:
    """The median time of a call of each function, which take turns."""
    for function in functions:
        function()
    counts = []
    for function in functions:
        start = time.perf_counter()
        function()
        counts.append(max(1, int(seconds / max(time.perf_counter() - start, 1e-7))))
    rounds: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, count, found in zip(functions, counts, rounds, strict=True):
            start = time.perf_counter()
            for _ in range(count):
                function()
            found.append((time.perf_counter() - start) / count)
    return [sorted(found)[ROUNDS // 2] for found in rounds]


def measure(name: str, f: Callable[..., Any], argnums: tuple[int, ...], args: tuple[Any, ...]) -> bool:
    """Print one line of the table; False where a limit is exceeded or a derivative is refused."""
    moves = tuple(np.cos(a) if isinstance(a, np.ndarray) else float(np.cos(a)) for a in (args[k] for k in argnums))
    gradient = s2s.grad(f, argnums=argnums)
    pushed, product = (derivative("jvp", g, argnums, False, "zeros", len(args)) for g in (f, gradient))
    pulled = derivative("vjp", gradient, argnums, False, "zeros")
    try:
        times = medians([
            lambda: f(*args), lambda: pushed(*args)(*moves), lambda: gradient(*args),
            lambda: product(*args)(*moves), lambda: pulled(*args)[1](moves),
        ])
    except errors.DifferentiationError as problem:
        print(f"{name:16}{str(problem).splitlines()[0]}")
        return False
    primal, push, grad, hvp, vhp = times
    ratios = {"jvp / primal": push / primal, "hvp / grad": hvp / grad, "vhp / grad": vhp / grad}
    slow = [title for title, limit in LIMITS.items() if ratios[title] > limit and primal > SHORT]
    numbers = "".join(f"{ratio:14.2f}" for ratio in ratios.values())
    print(f"{name:16}{1e3 * primal:12.4f}{1e3 * grad:12.4f}{numbers}{'  too slow' if slow else ''}", flush=True)
    return not slow


def main() -> int:
    given = sys.argv[1:]
    cases = CASES
    if "--file" in given:
        at = given.index("--file")
        cases = runpy.run_path(given[at + 1])["CASES"]
        del given[at : at + 2]
    print(f"{'':16}{'primal, ms':>12}{'grad, ms':>12}{'jvp / primal':>14}{'hvp / grad':>14}{'vhp / grad':>14}")
    done = [measure(name, f, argnums, args) for name, f, _, argnums, args in cases if not given or name in given]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
