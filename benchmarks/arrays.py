"""Kernels on arrays of another module: gradients against those on NumPy, and times beside JAX on the same device.

    python -m benchmarks.arrays check cupy          every case at its small size, against NumPy
    python -m benchmarks.arrays time cupy out.json  the cases of SIZES, in chains and without, against JAX in
                                                    float64; a limit in seconds may follow
    python -m benchmarks.arrays table out.json      the rows of docs/arrays.md
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import s2s
from benchmarks.case import Case
from benchmarks.suites import find, load

SIZES: dict[str, tuple[int, ...]] = {
    "heat_1d": (2_000_000, 100),
    "heat_2d": (2000, 100),
    "heat_3d": (200, 20),
    "jacobi": (2000, 100),
    "gray_scott": (1000, 60),
    "shallow_water": (1000, 30),
    "maxwell_tm": (1500, 100),
    "horizontal_diffusion": (400, 80),
    "vertical_advection": (400, 40),
    "arc_distance": (10_000_000,),
    "clipped_sum": (8000,),
    "three_products": (2400,),
    "gemver": (8000,),
    "contraction": (200, 200),
    "convolution_by_slices": (32, 192, 3, 3, 32),
    "mlp": (8192, 512, 2000, 1000, 10),
    "softmax": (32, 16, 512),
    "attention": (16, 1024, 64),
    "phase_screens": (40, 1024),
    "spectral_flow": (65536, 50),
    "rk4_lorenz": (100_000, 50),
    "asian_option": (50, 500_000),
    "gaussian_mixture": (50_000, 16, 20),
    "gaussian_process": (3000, 4),
}
"""Cases with sizes at which a device has something to do: some 30 to 100 times those of the benchmark."""

SECONDS = 1.5
"""How long a measurement may take, its first calls left out."""


def moved(value: Any, module: Any) -> Any:
    """Arguments with arrays of the module in the place of NumPy's."""
    if isinstance(value, np.ndarray):
        return module.asarray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, module) for item in value)
    return {key: moved(item, module) for key, item in value.items()} if isinstance(value, dict) else value


def leaves(value: Any) -> Iterator[Any]:
    """Numbers and arrays, as NumPy's."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value.get() if hasattr(value, "get") else np.asarray(value)


def difference(got: Any, want: Any) -> float:
    """The largest difference of two results, by the size of the second."""
    pairs = list(zip(leaves(got), leaves(want), strict=True))
    return max((float(np.max(np.abs(g - w), initial=0.0) / (1.0 + np.max(np.abs(w), initial=0.0))) for g, w in pairs),
               default=0.0)


# --- right ----------------------------------------------------------------------------------------------------------


def check(module: Any) -> list[dict[str, Any]]:
    """For each case what the gradient differs from that on NumPy, or why there is none."""
    found = []
    for suite in ("kernels", "ml"):
        for case in load(suite):
            found.append({"case": case.name, **_checked(case, module)})
    return found


def _checked(case: Case, module: Any) -> dict[str, Any]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            gradient = s2s.value_and_grad(case.primal, case.argnums)
            want = gradient(*case.arguments(*case.small))
            got = gradient(*moved(case.arguments(*case.small), module))
        return {"difference": difference(got, want)}
    except Exception as problem:
        return {"refused": f"{type(problem).__name__}: {str(problem).splitlines()[0][:200] if str(problem) else ''}"}


# --- fast -----------------------------------------------------------------------------------------------------------


def seconds(call: Callable[[], Any], wait: Callable[[Any], None]) -> float:
    """The median time of a call."""
    for _ in range(2):
        wait(call())
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < 3 or (len(times) < 30 and time.perf_counter() - start < SECONDS):
        before = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def times(case: Case, size: tuple[int, ...], module: Any) -> dict[str, Any]:
    """Times of the primal and of value and gradient on the module, in chains and without, and of JAX's on the same
    device."""
    arguments = case.arguments(*size)
    found: dict[str, Any] = {"case": case.name, "size": list(size)}
    wait = _waiting(module)
    there = moved(arguments, module)
    with _without_chains():
        apart = s2s.value_and_grad(case.primal, case.argnums)
        result = apart(*there)
    wait(result)
    with contextlib.suppress(Exception):
        found["primal"] = seconds(lambda: case.primal(*there), wait)
    found["s2s"] = seconds(lambda: apart(*there), wait)
    found |= _in_chains(case, there, result, wait)
    if case.jax is not None:
        found |= _in_jax(case, arguments, result)
    return found


@contextlib.contextmanager
def _without_chains() -> Iterator[None]:
    before = os.environ.get("S2S_PASSES", "")
    os.environ["S2S_PASSES"] = f"{before},-chains"
    try:
        yield
    finally:
        os.environ["S2S_PASSES"] = before


def _in_chains(case: Case, there: Any, result: Any, wait: Callable[[Any], None]) -> dict[str, Any]:
    """The time of value and gradient in chains, that of the first call, which compiles them, and what stays without."""
    gradient = s2s.value_and_grad(case.primal, case.argnums)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", s2s.NotFusedWarning)
        before = time.perf_counter()
        made = gradient(*there)
        wait(made)
        first = time.perf_counter() - before
        for _ in range(3):  # what is compiled is compared at the first calls
            wait(gradient(*there))
        taken = seconds(lambda: gradient(*there), wait)
    left = [str(one.message).splitlines()[0] for one in told if issubclass(one.category, s2s.NotFusedWarning)]
    found = {"chains": taken, "chains_compile": first, "chains_differ": difference(made, result)}
    return {**found, "not_fused": left} if left else found


def _waiting(module: Any) -> Callable[[Any], None]:
    cuda = getattr(module, "cuda", None)
    return (lambda result: None) if cuda is None else (lambda result: cuda.get_current_stream().synchronize())


def _in_jax(case: Case, arguments: tuple[Any, ...], result: Any) -> dict[str, Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    assert case.jax is not None
    static = tuple(k for k, arg in enumerate(arguments) if type(arg) is int)
    call = jax.jit(jax.value_and_grad(case.jax(), case.argnums), static_argnums=static)
    there = tuple(arg if k in static else jax.tree.map(jax.numpy.asarray, arg) for k, arg in enumerate(arguments))
    before = time.perf_counter()
    made = jax.block_until_ready(call(*there))
    compiled = time.perf_counter() - before
    taken = seconds(lambda: call(*there), jax.block_until_ready)
    return {"jax": taken, "jax_compile": compiled, "differs": difference(result, made)}


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The rows of a table of times, in milliseconds."""
    yield "| case | size | function alone | s2s, no chains | s2s | JAX | s2s / JAX |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        if "refused" in row:
            continue
        shown = [f"{1e3 * row[key]:.3g}" if key in row else "" for key in ("primal", "s2s", "chains", "jax")]
        ratio = f"{row['chains'] / row['jax']:.2g}" if "jax" in row and "chains" in row else ""
        yield f"| `{row['case']}` | {', '.join(map(str, row['size']))} | {' | '.join(shown)} | {ratio} |"


def main(action: str, name: str, file: str = "", limit: str = "") -> None:
    start = time.perf_counter()
    if action == "table":
        with open(name) as kept:
            print("\n".join(table(json.load(kept))))
        return
    module = importlib.import_module(name)
    if action == "check":
        rows = check(module)
    else:
        rows = []
        for case, size in SIZES.items():
            if limit and time.perf_counter() - start > float(limit):
                break
            try:
                rows.append(times(find(case), size, module))
            except Exception as problem:
                rows.append({"case": case, "refused": f"{type(problem).__name__}: {str(problem)[:200]}"})
            print(json.dumps(rows[-1]), flush=True)
            _write(rows, file)
    _write(rows, file)
    if action == "check" and not file:
        print("\n".join(map(json.dumps, rows)))


def _write(rows: list[dict[str, Any]], file: str) -> None:
    if file:
        with open(file, "w") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
