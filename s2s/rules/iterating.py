"""Rules of ``itertools``: each function stands for a generator function of ``models.iterating``."""

from __future__ import annotations

import itertools
import operator

from s2s.core.functions import Result
from s2s.models import iterating
from s2s.rules.functions import describe
from s2s.rules.samples import args, num
from s2s.rules.table import model

_THREE = [num(), num(), num()]

for _fn, _body, _samples in (
    (itertools.chain, iterating.chain, [args(_THREE, [num()])]),
    (itertools.accumulate, iterating.accumulate, [args(_THREE), args(_THREE, operator.mul, initial=num())]),
    (itertools.compress, iterating.compress, [args(_THREE, [True, False, True])]),
    (itertools.takewhile, iterating.takewhile, []),
    (itertools.dropwhile, iterating.dropwhile, []),
    (itertools.filterfalse, iterating.filterfalse, []),
    (itertools.starmap, iterating.starmap, [args(operator.mul, [(num(), num()), (num(), num())])]),
    (itertools.pairwise, iterating.pairwise, [args(_THREE)]),
    (itertools.islice, iterating.islice, [args(_THREE, 2), args(_THREE, 1, 3)]),
    (itertools.zip_longest, iterating.zip_longest, [args(_THREE, [num()], fillvalue=num())]),
    (itertools.groupby, iterating.groupby, []),
    (itertools.product, iterating.product, [args(_THREE, [num()])]),
    (itertools.combinations, iterating.combinations, [args(_THREE, 2)]),
    (itertools.combinations_with_replacement, iterating.combinations_with_replacement, [args(_THREE, 2)]),
    (itertools.permutations, iterating.permutations, [args(_THREE, 2)]),
    (itertools.tee, iterating.tee, []),
    (itertools.count, iterating.count, []),
    (itertools.cycle, iterating.cycle, []),
    (itertools.repeat, iterating.repeat, []),
):
    model(_fn, always=False)(_body)  # type: ignore[arg-type]
    if _fn is not itertools.tee:
        describe(_fn, result=Result.ITERATOR)
describe(  # reading on runs the function that they are given, and what that does is done
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.starmap,
    itertools.groupby, pure=False,
)
