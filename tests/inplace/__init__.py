"""Programs that write into arrays, each beside a form of the same function that needs no store."""

from importlib import import_module

MODULES = (
    "pairs_stores", "pairs_indices", "pairs_functions", "pairs_views", "pairs_holders", "pairs_branches",
    "pairs_arguments", "pairs_loops",
)  # fmt: skip


def load():
    """All pairs, in the order of the modules."""
    for module in MODULES:
        import_module(f"tests.inplace.{module}")
    return import_module("tests.inplace.pairs").PAIRS
