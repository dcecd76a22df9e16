"""Products of arrays: their cotangents."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.runtime._cotangents import cast, sum_to


def convolve_bar(g: Any, a: Any, v: Any, mode: str) -> Any:
    """The cotangent of one factor ``a`` from that of its convolution with ``v``, in either order."""
    short = min(np.size(a), np.size(v))
    before = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    full = np.zeros_like(g, shape=np.size(a) + np.size(v) - 1)
    full[before : before + len(g)] = g
    # np.correlate conjugates its second argument.
    return np.reshape(np.correlate(full, np.conj(np.atleast_1d(v)), "valid"), np.shape(a))


def cross(a: Any, b: Any) -> Any:
    """The cross product of two vectors of floats, as ``np.cross`` gives it, which takes its time for stacks."""
    if not a.shape == b.shape == (3,):
        return np.cross(a, b)
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))


def kron_bar(g: Any, a: Any, b: Any, which: int) -> Any:
    """The cotangent of ``a`` (``which`` 0) or of ``b`` (1) from that of ``np.kron(a, b)``.

    ``kron`` is an outer product whose dimensions are interleaved and joined in pairs.
    """
    rank = max(np.ndim(a), np.ndim(b))
    shape_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    shape_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    pairs = np.reshape(g, [n for pair in zip(shape_a, shape_b, strict=True) for n in pair])
    evens, odds = list(range(0, 2 * rank, 2)), list(range(1, 2 * rank, 2))
    if which == 0:
        return np.reshape(
            np.tensordot(pairs, np.reshape(b, shape_b), axes=(odds, list(range(rank)))), np.shape(a),
        )
    return np.reshape(
        np.tensordot(pairs, np.reshape(a, shape_a), axes=(evens, list(range(rank)))), np.shape(b),
    )


def tensordot_bar(g: Any, a: Any, b: Any, axes: Any, which: int) -> Any:
    """The cotangent of ``a`` (``which`` 0) or of ``b`` (1) from that of ``np.tensordot(a, b, axes)``."""
    axes_a, axes_b = _tensordot_axes(np.ndim(a), axes)
    axes_a, axes_b = [i % np.ndim(a) for i in axes_a], [i % np.ndim(b) for i in axes_b]
    free_a = [i for i in range(np.ndim(a)) if i not in axes_a]
    free_b = [i for i in range(np.ndim(b)) if i not in axes_b]
    g = np.asarray(g)
    if which == 0:
        made = np.tensordot(g, b, axes=(list(range(len(free_a), g.ndim)), free_b))
        order = free_a + [axes_a[i] for i in np.argsort(axes_b)]
    else:
        made = np.tensordot(a, g, axes=(free_a, list(range(len(free_a)))))
        order = [axes_b[i] for i in np.argsort(axes_a)] + free_b
    return np.transpose(made, np.argsort(order)) if order else made


def _tensordot_axes(ndim_a: int, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        return list(range(ndim_a - axes, ndim_a)), list(range(axes))
    first, second = axes
    return list(np.atleast_1d(first)), list(np.atleast_1d(second))


# --- einsum ---------------------------------------------------------------------------------------------------------


def einsum_output(subscripts: str) -> str:
    """The output indices of an einsum expression, those that it implies where it has no arrow."""
    if "->" in subscripts:
        return subscripts.split("->")[1].replace(" ", "")
    inputs = subscripts.replace(" ", "")
    letters = sorted(c for c in set(inputs) if c.isalpha() and inputs.count(c) == 1)
    return ("..." if "..." in inputs else "") + "".join(letters)


def einsum_inputs(subscripts: str) -> list[str]:
    """The indices of each operand of an einsum expression."""
    return subscripts.replace(" ", "").split("->")[0].split(",")


def einsum_transpose(subscripts: str, which: int) -> str:
    """The einsum expression that gives the cotangent of an operand, but for the indices that it has alone, from that of
    the result, which comes first, and the other operands in order. Empty where an index stands in it twice, a
    diagonal, or where it is not known how many dimensions its ellipsis has: broadcasting is undone at the front."""
    inputs, output = einsum_inputs(subscripts), einsum_output(subscripts)
    mine, rest = inputs[which], inputs[:which] + inputs[which + 1 :]
    letters, alone = mine.replace("...", ""), einsum_alone(subscripts, which)
    if len(set(letters)) != len(letters) or (alone and "..." in mine):
        return ""
    if "..." in output and "..." not in mine:
        return ""
    if "..." in mine[1:] and any("..." in other for other in rest):
        return ""
    present = "".join(c for i, c in enumerate(mine) if i not in alone)
    return ",".join([output, *rest]) + "->" + present


def einsum_alone(subscripts: str, which: int) -> tuple[int, ...]:
    """The places of the indices that stand in one operand alone."""
    inputs = einsum_inputs(subscripts)
    others = "".join(inputs[:which] + inputs[which + 1 :]) + einsum_output(subscripts)
    return tuple(i for i, c in enumerate(inputs[which]) if c != "." and c not in others)


def einsum_bar(g: Any, subscripts: str, operands: Sequence[Any], which: int) -> Any:
    """The cotangent of one operand of ``np.einsum(subscripts, *operands)``, in the general case.

    An index that stands in this operand alone is summed away by the primal, so the cotangent is broadcast
    along it; an index that it has twice is a diagonal, so the cotangent is zero off it.
    """
    x = operands[which]
    free = "".join(c for c in string.ascii_letters if c not in subscripts)
    inputs = [
        _spell_ellipsis(s, np.ndim(o), free) for s, o in zip(einsum_inputs(subscripts), operands, strict=True)
    ]
    output = _spell_ellipsis(einsum_output(subscripts), np.ndim(g), free)
    others = [o for i, o in enumerate(operands) if i != which]
    rest = [s for i, s in enumerate(inputs) if i != which]
    mine = "".join(dict.fromkeys(inputs[which]))
    sizes = dict(zip(inputs[which], np.shape(x), strict=True))
    present = "".join(c for c in mine if c in output or any(c in s for s in rest))
    made = np.einsum(",".join([output, *rest]) + "->" + present, g, *others)
    made = np.expand_dims(made, tuple(i for i, c in enumerate(mine) if c not in present))
    target = tuple(sizes[c] for c in mine)
    made = sum_to(made, target)
    if mine == inputs[which]:
        return cast(made, x)
    x_bar = np.zeros(np.shape(x), dtype=made.dtype)
    view = np.einsum(inputs[which] + "->" + mine, x_bar)
    view[...] = made
    return cast(x_bar, x)


def _spell_ellipsis(indices: str, ndim: int, free: str) -> str:
    """Indices with the ellipsis written out in letters that stand for nothing else, as NumPy aligns its dimensions."""
    return indices.replace("...", free[: ndim - len(indices) + 3][::-1])
