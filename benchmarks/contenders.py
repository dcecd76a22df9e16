"""Who takes part in a case: the primal, s2s on each backend, each peer, each adjoint written by hand.

A contender is made for a case and its arguments, and gives a function without arguments that returns the gradient (the
value, for the primal). Arrays are converted to a peer's own kind when the contender is made, not when it runs.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.case import Case

Run = Callable[[], Any]
Arguments = tuple[Any, ...]

PEERS = ("jax", "torch", "torch compiled", "autograd")
HANDS = ("hand numpy", "hand numba", "by statement")
OWN = ("s2s numpy", "s2s numba", "s2s auto")
"""A name ends in that of the backend."""
COUNTERPARTS = {"hand numpy": "s2s numpy", "hand numba": "s2s numba"}
CALLS_OF_A_TRIAL = 6
LONGEST_COMPILATION = 300.0
LIBRARIES = {
    "s2s numba": "numba", "s2s auto": "numba", "jax": "jax", "torch": "torch", "torch compiled": "torch",
    "autograd": "autograd", "hand numba": "numba",
}  # fmt: skip


def missing(contender: str) -> str | None:
    """The library that a contender needs and that is not installed."""
    library = LIBRARIES.get(contender)
    return library if library and importlib.util.find_spec(library) is None else None


def takes_part(case: Case, contender: str) -> bool:
    """Whether a case has something to run for a contender, the library aside."""
    if contender in ("primal", *OWN):
        return True
    return getattr(case, "torch" if contender == "torch compiled" else contender.replace(" ", "_")) is not None


def warm(contender: str) -> None:
    """Import the library and let it do something small: the first gradient of a case is charged with its own."""
    match contender:
        case "primal" | "hand numpy" | "by statement" | "autograd":
            pass
        case "s2s numpy" | "s2s numba" | "s2s auto":
            import s2s

            args = (np.ones(3),)
            s2s.grad(s2s.differentiable(small_loss, backend=contender.split()[1]))(*args)
        case "jax":
            import jax

            jax.config.update("jax_enable_x64", True)
            jax.block_until_ready(jax.jit(jax.grad(lambda x: (x * x).sum()))(np.ones(3)))
        case "torch" | "torch compiled":
            import torch

            torch.set_num_threads(1)
            torch.set_default_dtype(torch.float64)
        case "hand numba":
            import numba

            numba.njit(lambda x: x * x)(1.0)


def small_loss(x: Any) -> Any:
    """Of the warm-up."""
    return np.sum(x * x)


def make(contender: str, case: Case, args: Arguments) -> Run:
    """What runs one gradient of the case."""
    match contender:
        case "primal":
            return lambda: case.primal(*args)
        case "s2s numpy" | "s2s numba" | "s2s auto":
            return make_own(case, args, contender.split()[1])
        case "jax":
            return make_jax(case, args)
        case "torch" | "torch compiled":
            return make_torch(case, args, contender == "torch compiled")
        case "autograd":
            return make_autograd(case, args)
        case "hand numpy" | "by statement":
            hand = case.hand_numpy if contender == "hand numpy" else case.by_statement
            assert hand is not None
            return lambda: hand(*args)
        case "hand numba":
            import numba

            assert case.hand_numba is not None
            compiled = numba.njit(case.hand_numba)
            return lambda: compiled(*args)
    raise ValueError(contender)


def make_own(case: Case, args: Arguments, backend: str) -> Run:
    """On ``auto`` with ``settle``, which calls until it is decided what runs, waiting for Numba, and says what."""
    import s2s

    gradient = s2s.grad(s2s.differentiable(case.primal, backend=backend), argnums=case.argnums)

    def run() -> Any:
        return gradient(*args)

    def settle() -> str:
        from s2s.backends.background import worker

        for _ in range(CALLS_OF_A_TRIAL):
            gradient(*args)
            worker.wait(LONGEST_COMPILATION)
        chosen: str = gradient.backend
        return chosen

    if backend == "auto":
        run.settle = settle  # type: ignore[attr-defined]
    return run


def make_jax(case: Case, args: Arguments) -> Run:
    import jax

    assert case.jax is not None
    static = tuple(k for k, arg in enumerate(args) if isinstance(arg, (int, tuple, str)))
    gradient = jax.jit(jax.grad(case.jax(), argnums=case.argnums), static_argnums=static)
    moved = tuple(arg if k in static else jax.tree.map(jax.numpy.asarray, arg) for k, arg in enumerate(args))
    lowered = gradient.lower(*moved).compile()
    given = tuple(arg for k, arg in enumerate(moved) if k not in static)

    def run() -> Any:
        return jax.block_until_ready(lowered(*given))

    run.analysis = lowered.memory_analysis()  # type: ignore[attr-defined]
    return run


def make_torch(case: Case, args: Arguments, compiled: bool) -> Run:
    import torch

    assert case.torch is not None
    loss = case.torch()
    if compiled:
        loss = torch.compile(loss)

    def tensor(k: int, arg: Any) -> Any:
        active = k in case.argnums
        if not active and not isinstance(arg, np.ndarray):
            return arg
        made = torch.as_tensor(np.array(arg))
        return made.requires_grad_() if active else made

    moved = [tensor(k, arg) for k, arg in enumerate(args)]
    active = [moved[k] for k in case.argnums]
    return lambda: torch.autograd.grad(loss(*moved), active)


def make_autograd(case: Case, args: Arguments) -> Run:
    import autograd

    assert case.autograd is not None
    gradient = autograd.grad(case.autograd(), argnum=case.argnums)
    return lambda: gradient(*args)


def as_arrays(gradient: Any) -> list[np.ndarray]:
    """The parts of a gradient as NumPy arrays."""
    return [np.asarray(part) for part in (gradient if isinstance(gradient, (tuple, list)) else (gradient,))]


def difference(found: Any, wanted: Any) -> float:
    """The largest difference of two gradients, relative to the largest element of each part."""
    worst = 0.0
    pairs = list(zip(as_arrays(found), as_arrays(wanted), strict=True))
    for a, b in pairs:
        if a.shape != b.shape:
            return math.inf
        if b.size:
            scale = max(float(np.max(np.abs(b))), 1e-300)
            gap = float(np.max(np.abs(a - b))) / scale
            worst = max(worst, gap if gap == gap else math.inf)
    return worst


def described(error: BaseException) -> str:
    """The first line of an error, with its kind."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {inspect.cleandoc(lines[0]) if lines else ''}"
