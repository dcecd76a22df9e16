"""Programs that write into arrays, many beside a form of the same function that needs no store."""

from importlib import import_module

MODULES = (
    "pairs_stores", "pairs_indices", "pairs_functions", "pairs_views", "pairs_holders", "pairs_branches",
    "pairs_arguments", "pairs_loops", "pairs_kept", "programs_names", "programs_order", "programs_algorithms",
    "programs_read_again", "programs_results", "programs_shared", "programs_evaluation", "programs_at",
    "programs_layout",
)  # fmt: skip


def load():
    """The module that holds all pairs and programs, which those of ``MODULES`` declare."""
    for module in MODULES:
        import_module(f"tests.inplace.{module}")
    return import_module("tests.inplace.pairs")
