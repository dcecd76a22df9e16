"""Plots of results for the documents: bars of ratios, one figure for each comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.report import best_peer, figure, versus


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``peers.svg`` and ``primal.svg``; what was written."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    rows = results["rows"]
    peers = {row["case"]: versus(row, best_peer(row)) for row in rows}
    jax = {row["case"]: versus(row, "jax") for row in rows}
    written = [bars(folder / "peers.svg", {"best peer": peers, "JAX": jax}, "time of the peer / time of s2s")]
    ratios = {
        label: {row["case"]: figure(row, backend, "ratio") for row in rows}
        for label, backend in (("NumPy", "s2s numpy"), ("Numba", "s2s numba"))
    }
    written.append(bars(folder / "primal.svg", ratios, "time of the gradient / time of the primal"))
    return written


def bars(path: Path, series: dict[str, dict[str, float | None]], label: str) -> Path:
    """Horizontal bars on a logarithmic scale from 1, sorted by the first series that has a case."""
    from matplotlib import pyplot as plt

    names = [name for name in next(iter(series.values())) if any(values[name] for values in series.values())]
    names.sort(key=lambda name: next(value for values in series.values() if (value := values[name])))
    height = 0.8 / len(series)
    shown, axes = plt.subplots(figsize=(7.0, 1.2 + 0.25 * len(names)))
    for k, (title, values) in enumerate(series.items()):
        there = [(place, values[name]) for place, name in enumerate(names) if values[name]]
        places = [place + (k - (len(series) - 1) / 2) * height for place, _ in there]
        axes.barh(places, [value - 1.0 for _, value in there], height, left=1.0, label=title)
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(label)
    axes.legend()
    shown.tight_layout()
    shown.savefig(path, metadata={"Date": None})
    plt.close(shown)
    return path
