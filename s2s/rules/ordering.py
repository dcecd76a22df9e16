"""Rules of what orders Python's objects: the builtins, ``bisect`` and ``heapq``."""

from __future__ import annotations

import bisect
import builtins
import heapq

from s2s import runtime as rt
from s2s.models import ordering
from s2s.rules.functions import describe
from s2s.rules.samples import args, num
from s2s.rules.table import model, zero

zero(
    rt.order_after, rt.order_of, rt.place_of, rt.place_of_greatest, rt.place_of_least, rt.heap_order,
    rt.order_with_last, bisect.bisect_left, bisect.bisect_right, builtins.list.index,
    builtins.list.count, builtins.tuple.index, builtins.tuple.count,
)
describe(
    rt.order_after, rt.order_of, rt.place_of, rt.place_of_greatest, rt.place_of_least, rt.heap_order,
    rt.order_with_last, changes=(), acts=False, calls_back=False,
)

_THREE = [num(), num(), num()]

model(builtins.sorted, samples=[args(_THREE), args(_THREE, key=abs, reverse=True)])(ordering.sorted_)
model(heapq.nlargest, samples=[args(2, _THREE)])(ordering.nlargest)
model(heapq.nsmallest, samples=[args(2, _THREE)])(ordering.nsmallest)
for _fn, _body in (
    (heapq.heapify, ordering.heapify), (heapq.heappush, ordering.heappush), (heapq.heappop, ordering.heappop),
    (heapq.heappushpop, ordering.heappushpop), (heapq.heapreplace, ordering.heapreplace),
    (bisect.insort_right, ordering.insorted_right), (bisect.insort_left, ordering.insorted_left),
):
    model(_fn)(_body)  # type: ignore[arg-type]
