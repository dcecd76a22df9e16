"""Where the adjoint is of an array that a store changes through another name."""

import operator

import numpy as np
import pytest

from s2s.analysis.abstract.lattice import known
from s2s.analysis.adjoint_placement import ROOT, RUNTIME, VIEW, AdjointPlacement
from s2s.analysis.memory import Memory
from s2s.core import ir
from s2s.core.values import Array, Dim

ROW, MATRIX = Array(np.dtype(float), (Dim("x.0"),)), Array(np.dtype(float), (Dim("", 2), Dim("", 3)))
X, A, B, LATER = (ir.Var(name) for name in ("x", "a", "b", "later"))
VALUES = {X: ROW, A: ROW, B: MATRIX, LATER: ROW}


def call(fn, *args, **kwargs):
    return ir.Call(ir.Const(fn), args, tuple(kwargs.items()))


@pytest.mark.parametrize("later, reads", [
    (call(np.zeros_like, A), False), (call(np.shape, A), False), (call(getattr, A, ir.Const("shape")), False),
    (call(np.full_like, A, X), False), (call(np.full_like, X, A), True), (call(np.full_like, X, fill_value=A), True),
    (call(np.cos, A), True), (call(operator.add, X, A), True), (call(getattr, A, ir.Const("T")), True),
])
@pytest.mark.parametrize("made, kinds", [
    (call(operator.getitem, A, ir.Const(slice(1, None))), (ROOT, VIEW)),
    (call(np.reshape, A, ir.Const((2, 3))), (RUNTIME, RUNTIME)),  # a copy, perhaps
])
def test_what_is_asked_for_its_shape_only_is_not_used_any_more(made, kinds, later, reads):
    """Where nothing else is read of ``a`` later, ``b`` takes its memory over."""
    statements = (ir.Let(A, call(np.sin, X)), ir.Let(B, made),
                  ir.Store("item", B, ir.Const(0), ir.Const(2.0)), ir.Let(LATER, later))
    function = ir.Function("f", (ir.Param(X),), ir.Block(statements, (B,)))
    memory = Memory(function, lambda atom: known(atom.value) if isinstance(atom, ir.Const) else VALUES[atom])
    placement = AdjointPlacement(function, memory)
    assert (placement.kind(A), placement.kind(B)) == (kinds if reads else (ROOT, ROOT))
