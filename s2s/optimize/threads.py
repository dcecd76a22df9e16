"""Loops that the program says threads may share, in both sweeps, as loops that say so.

    for i in prange(n):                     for i in rt.threads(range(n)):
        s += x[i] ** 2          ->              s += x[i] ** 2
                                            ...
                                            for i in rt.threads(reversed(range(n))):
                                                x_bar[i] += 2.0 * s_bar * x[i]

Whether threads do share one is decided where it is compiled: iterations of the primal may be independent where those of
the adjoint add to the same element.
"""

from __future__ import annotations

from s2s import runtime as rt
from s2s.builder.builder import Context
from s2s.core import ir

__all__ = ["mark_threads"]

_THREADS = ir.Const(rt.threads)


def mark_threads(function: ir.Function, context: Context) -> ir.Function:
    """The function with these loops marked."""
    shared = context.shared_loops
    if not shared:
        return function

    def block(b: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in b.statements:
            if isinstance(s, ir.For) and s.span is not None and any(_is_in(one, s.span) for one in shared):
                known = context.value(s.iterable)
                call = ir.Call(_THREADS, (s.iterable,))
                marked = context.define("%", known, False, call)
                made.append(ir.Let(marked, call, s.span))
                s = ir.replace(s, iterable=marked)  # those inside it are shared with it
            elif not isinstance(s, ir.Let):
                s = ir.with_blocks(s, map(block, ir.blocks_of(s)))
            made.append(s)
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def _is_in(part: ir.Span, whole: ir.Span) -> bool:
    """Whether a call stands where a loop names what it runs over."""
    begin, end = (whole.line, whole.column), (whole.end_line, whole.end_column)
    inside = begin <= (part.line, part.column) and (part.end_line, part.end_column) <= end
    return inside and part.file == whole.file
