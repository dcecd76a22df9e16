"""The passes over a function with its sweeps, and what runs a list of them; ``pipeline`` has their order.

``S2S_PASSES=-hoist,-sink`` leaves optional ones out, ``S2S_PASSES=-all`` all. What they make is easier to
read, and mostly faster; the numbers are the same without them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from s2s.builder.builder import Context
from s2s.builder.stages import Pass
from s2s.core import ir
from s2s.optimize.accumulate import accumulate
from s2s.optimize.blocks import in_blocks
from s2s.optimize.chains import in_chains
from s2s.optimize.checking import are_checked, checked
from s2s.optimize.common_factors import take_out_common_factors
from s2s.optimize.contractions import contract, contract_others
from s2s.optimize.copies import drop_copies
from s2s.optimize.cross_products import cross_in_numbers
from s2s.optimize.dead import drop_dead
from s2s.optimize.factors import share_factors
from s2s.optimize.first_additions import assign_first_additions
from s2s.optimize.helpers import spell_helpers
from s2s.optimize.invariants import drop_invariant
from s2s.optimize.iteration_adjoints import make_in_iterations
from s2s.optimize.loops.expand import as_loops
from s2s.optimize.loops.short import with_numbers
from s2s.optimize.memory_versions import with_versions
from s2s.optimize.names import name_temporaries, share_names
from s2s.optimize.outer_products import collect_outer_products
from s2s.optimize.outer_sums import sum_outer_products
from s2s.optimize.ranges import spell_ranges
from s2s.optimize.remarks import drop_empty_sections, drop_remarks, name_unused_items
from s2s.optimize.rewriting import free_variables
from s2s.optimize.sink import sink
from s2s.optimize.snapshots import drop_snapshots
from s2s.optimize.stores import spell_stores
from s2s.optimize.subexpressions import share_subexpressions
from s2s.optimize.summed_products import sum_before_products
from s2s.optimize.threads import mark_threads
from s2s.optimize.triangular import substitute_in_triangular
from s2s.optimize.unpacking import unpack_items
from s2s.optimize.whole_loops import write_whole_loops
from s2s.optimize.zero_cotangents import skip_zero_cotangents

__all__ = [
    "COMPILE_LOOPS", "EXACT_WHOLE_LOOPS", "IN_BLOCKS", "IN_CHAINS", "IN_THREADS", "NESTED", "NOT_FOR", "OPTIONAL",
    "PRODUCTS_OF_LOOPS", "PULLBACK", "SIMPLIFICATIONS", "WHOLE_LOOPS", "WITH_LOOPS", "run_passes", "switched_off",
]

NAMES = Pass("names", name_temporaries, "temporaries take the names that the user gave to their values", optional=True)
CONTRACTIONS = Pass(
    "contractions", contract, "a product that is summed is one product of matrices", optional=True, reassociates=True)
INNER_PRODUCTS = Pass(
    "inner-products", contract_others, "a product of vectors, or of stacks of these, that is summed makes no array",
    optional=True, reassociates=True)
OUTER_PRODUCTS = Pass(
    "outer-products", collect_outer_products, "products that a loop adds up are one product of matrices after it",
    optional=True, reassociates=True)
OUTER_SUMS = Pass(
    "outer-sums", sum_outer_products, "numbers scale vectors in place of matrices, sums of outer products are products",
    optional=True, reassociates=True)
COMMON_FACTORS = Pass(
    "common-factors", take_out_common_factors, "sums of products of matrices with a factor in common are one product",
    optional=True, reassociates=True)
SUMMED_PRODUCTS = Pass(
    "summed-products", sum_before_products, "a product of matrices that is summed is one of a vector that is summed",
    optional=True, reassociates=True)
TRIANGULAR = Pass(
    "triangular", substitute_in_triangular, "systems of Cholesky factors are solved by substitution", optional=True,
    reassociates=True)
FACTORS = Pass(
    "factors", share_factors, "a matrix is factorised once for all systems, inverses and determinants", optional=True,
    reassociates=True)
ITERATION_ADJOINTS = Pass(
    "iteration-adjoints", make_in_iterations, "adjoints of what each iteration writes anew are made in the iteration",
    optional=True)
ZERO_COTANGENTS = Pass(
    "zero-cotangents", skip_zero_cotangents, "what a choice of the smallest or largest leaves zero goes on to nothing",
    optional=True)
CROSS_PRODUCTS = Pass(
    "cross-products", cross_in_numbers, "cross products of two vectors are computed in numbers", optional=True)
VERSIONS = Pass("versions", with_versions, "each read of memory carries the version that it reads")
STORES = Pass("stores", spell_stores, "additions to entries that are named twice become calls of np.add.at")
RANGES = Pass("ranges", spell_ranges, "range(n - 1, -1, -1) becomes reversed(range(n))", optional=True)
DEAD_CODE = Pass("dead-code", drop_dead, "statements go whose results nothing reads", optional=True)
SUBEXPRESSIONS = Pass(
    "common-subexpressions", share_subexpressions, "an operation that is done twice is done once", optional=True)
COPIES = Pass("copies", drop_copies, "copies go of arrays that nothing else refers to", optional=True)
LAST_COPIES = Pass(COPIES.name, functools.partial(drop_copies, used_up=True), COPIES.about, optional=True)
"""Before memory has versions: an array that nothing reads after its copy changes in the place of that."""
INVARIANTS = Pass(
    "invariants", drop_invariant, "what no iteration of a loop changes is read as it is before the loop", optional=True)
SNAPSHOTS = Pass(
    "snapshots", drop_snapshots, "copies go that are used up before the array changes", optional=True)
FIRST_ADDITIONS = Pass(
    "first-additions", assign_first_additions, "what is added first to zeros is assigned", optional=True)
ACCUMULATE = Pass("accumulate", accumulate, "x_bar = x_bar + c becomes x_bar += c", optional=True)
SINK = Pass("sink", sink, "views and values taken from stacks move to their first reader", optional=True)
SECTIONS = Pass("sections", drop_empty_sections, "titles of sweeps without statements go", optional=True)
HELPERS = Pass(
    "helpers", spell_helpers, "helpers become what they come to in Python where kinds are known", optional=True)
UNPACKING = Pass(
    "unpacking", unpack_items, "items of a tuple that are read one after the other are unpacked", optional=True)
ITEMS = Pass("items", name_unused_items, "items of loops that nothing reads are called _", optional=True)
SHARED_NAMES = Pass("shared-names", share_names, "blocks that run again share names, which lets go of their arrays")
REMARKS = Pass("remarks", drop_remarks, "remarks on what calls may change go")

LOOPS = Pass(
    "loops", as_loops, "operations on arrays become loops over their elements", optional=True, reassociates=True)
SHORT = Pass("short", with_numbers, "short arrays of known length become numbers", optional=True, reassociates=True)

BLOCKS = Pass(
    "blocks", in_blocks, "arithmetic on large arrays is done for one block after the other, which stays in the cache",
    optional=True, reassociates=True)

CHAINS = Pass(
    "chains", in_chains,
    "arithmetic on arrays of a module that compiles such functions, as CuPy does, is one pass over them",
    optional=True, reassociates=True)

WHOLE_LOOPS = Pass(
    "whole-loops", write_whole_loops, "loops whose iterations are independent become operations on arrays",
    optional=True, reassociates=True)
EXACT_WHOLE_LOOPS = Pass(
    WHOLE_LOOPS.name, functools.partial(write_whole_loops, exact=True), WHOLE_LOOPS.about, optional=True)
"""Where the value of the primal is asked for, with its derivative or without: sums stay loops."""

PRODUCTS_OF_LOOPS = Pass(
    WHOLE_LOOPS.name, functools.partial(write_whole_loops, products=True), WHOLE_LOOPS.about, optional=True,
    reassociates=True)
"""For a backend that compiles loops: a library is faster than these where matrices are multiplied."""

SIMPLIFICATIONS = (
    OUTER_PRODUCTS, NAMES, CONTRACTIONS, INNER_PRODUCTS, OUTER_SUMS, COMMON_FACTORS, SUMMED_PRODUCTS, TRIANGULAR,
    ITERATION_ADJOINTS, LAST_COPIES, ZERO_COTANGENTS, VERSIONS, STORES, RANGES, DEAD_CODE, SUBEXPRESSIONS, FACTORS,
    CROSS_PRODUCTS, COPIES, INVARIANTS, FIRST_ADDITIONS, SNAPSHOTS, DEAD_CODE, ACCUMULATE, SINK, HELPERS, UNPACKING,
    SECTIONS, ITEMS, SHARED_NAMES,
)
"""Of a function with its sweeps, before it is emitted."""

THREADS = Pass("threads", mark_threads, "loops over prange, and their reverse, are shared by threads", optional=True)

WITH_LOOPS = (LOOPS, SHORT, VERSIONS, DEAD_CODE, SECTIONS)
"""Of a function after its simplifications, for a backend that compiles loops."""

IN_BLOCKS = (BLOCKS, VERSIONS, DEAD_CODE, SECTIONS)
"""Of a function after its simplifications, for a backend that runs operations on whole arrays."""

IN_CHAINS = (CHAINS, VERSIONS, DEAD_CODE, SECTIONS)
"""The same, for arrays of a module that compiles functions of elements."""

IN_THREADS = (*WITH_LOOPS, THREADS)
"""The same where the program asks for threads."""

PULLBACK = (VERSIONS, STORES, DEAD_CODE, SUBEXPRESSIONS, DEAD_CODE)
"""Of a pullback by itself: what it captures is what is left in it."""

NESTED = (VERSIONS, STORES, DEAD_CODE, SUBEXPRESSIONS, COPIES, INVARIANTS, DEAD_CODE)
"""Of a derivative that becomes a part of the program that takes it."""

IN_SWEEPS = {
    "hoist": "the reverse sweep computes before its loop what is the same in every iteration",
    "shifts": "maxima that only keep numbers in range carry no derivative",
}
"""What the sweeps do by themselves, or passes over the primal, and can leave out."""

_EVERY = (WHOLE_LOOPS, *SIMPLIFICATIONS, *IN_THREADS, *IN_BLOCKS, *IN_CHAINS, *NESTED)
OPTIONAL = {**{p.name: p.about for p in _EVERY if p.optional}, **IN_SWEEPS}


COMPILE_LOOPS = frozenset({"numba"})
"""The backends that are given loops over elements."""

NOT_FOR = {"numba": frozenset({
    "cross-products", "factors", "helpers", "inner-products", "iteration-adjoints", "outer-sums", "summed-products",
    "unpacking", "zero-cotangents"})}
"""What a backend has no use for: it compiles loops, in which a product is summed where it is computed."""


def switched_off(setting: str) -> frozenset[str]:
    """The optional passes that a setting (``-hoist,-sink``) leaves out, ``-all`` every one; warns of names that are
    none of these."""
    names = [name for name in setting.split(",") if name]
    if "-all" in names:
        return frozenset(OPTIONAL)
    unknown = [name for name in names if not name.startswith("-") or name[1:] not in OPTIONAL]
    if unknown:
        known = ", ".join(f"-{name}" for name in sorted(OPTIONAL))
        text = f"S2S_PASSES has {', '.join(unknown)}, which stand for no optional pass; known are {known}"
        warnings.warn(text, RuntimeWarning, 2)
    return frozenset(name[1:] for name in names if name not in unknown)


def run_passes(
    passes: Iterable[Pass], function: ir.Function, context: Context, given: Any = None,
    inside: Callable[[ir.Function], ir.Function] | None = None,
) -> ir.Function:
    """What passes make of a function, one after the other, but for those that are switched off. They are given the
    context, or what is ``given`` in its place. ``inside`` makes of a function that is nested in another one the whole,
    as a validator runs it."""
    versioned = False
    for one in passes:
        if one.optional and one.name in context.switched_off:
            continue
        made = one.run(function, context if given is None else given)
        context.clock.lap(one.name)
        if context.stages is not None:
            before, after = (function, made) if inside is None else (inside(function), inside(made))
            context.passed(one.name, before, after, exact=not one.reassociates)
        versioned = versioned or one is VERSIONS
        if made is not function and are_checked() and made != function:  # many are built again as they were
            whole = made if inside is None else ir.replace(made, captures=tuple(free_variables(made)))
            checked(whole, context if versioned else None)
        function = made
    return function
