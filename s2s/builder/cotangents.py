"""Arithmetic of cotangents: products, sums and reshapes of them, written as an expert would write them.

A cotangent of an array may be *compact*: smaller than the array, to be broadcast to its shape (the cotangent of the
argument of ``np.sum`` is one number). Elementwise products take it as it is; ``full`` makes it whole where the shape
matters.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, is_number, may_be_of_python, shape_of
from s2s.analysis.abstract.numbers import ANY_FLOAT, is_exact, possible_types
from s2s.analysis.abstract.shapes import ONE, same_shape
from s2s.analysis.reading import may_read_again
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.array_classes import compiled_for, has_memory
from s2s.core.inspection import is_hashable
from s2s.core.values import AbstractValue, Array, Dim, Known, Scalar

ONE_BAR = ir.Const(1.0)


def definition(builder: Builder, atom: ir.Atom, fn: object) -> tuple[ir.Atom, ...] | None:
    """The arguments of the call that made an atom, where that is a call of ``fn`` and they can be read again."""
    if not isinstance(atom, ir.Var):
        return None
    context = builder.context
    made = context.definitions.get(atom)
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const) or not made.fn.holds(fn) or made.kwargs:
        return None
    if atom in context.changed:
        return None  # it holds something else by now
    return made.args if may_read_again(context, atom, made) else None  # type: ignore[return-value]


def masked(builder: Builder, g: ir.Atom) -> tuple[ir.Atom, ir.Atom, bool] | None:
    """The condition and the cotangent of one side of a ``where``, and whether that is the side where it holds."""
    made = definition(builder, g, np.where)
    if made is None or len(made) != 3:
        return None
    if made[2] == ir.Const(0.0):
        return made[0], made[1], True
    return (made[0], made[2], False) if made[1] == ir.Const(0.0) else None


def mask(builder: Builder, test: ir.Atom, g: ir.Atom, side: bool, span: ir.Span | None, name: str = "%") -> ir.Atom:
    """``g`` on one side of a condition, zero on the other."""
    zero = ir.Const(0.0)
    return builder.call(np.where, test, *((g, zero) if side else (zero, g)), span=span, name=name)


def _reduced(builder: Builder, g: ir.Atom, p: ir.Atom) -> tuple[ir.Atom, list[ir.Atom]] | None:
    """What ``g`` is the sum of, down to the shapes of arrays, the last of which is that of the factor ``p``, where that
    is one side of a ``where``: so that the choice can go outside of the product there too."""
    made = definition(builder, g, rt.unbroadcast)
    if made is None:
        return None
    have, want = builder.context.value(p), shape_of(builder.context.value(made[1]))
    if not is_number(have) and (want is None or shape_of(have) != want):
        return None
    likes: list[ir.Atom] = []
    while made is not None:
        g, like = made
        likes.insert(0, like)
        made = definition(builder, g, rt.unbroadcast)
    return (g, likes) if masked(builder, g) is not None else None


def _reduce(builder: Builder, g: ir.Atom, likes: list[ir.Atom], span: ir.Span | None) -> ir.Atom:
    for like in likes:
        g = builder.call(rt.unbroadcast, g, like, span=span)
    return g


def multiply(builder: Builder, g: ir.Atom, p: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """``g * p``: signs go outside, factors of one vanish, and a quotient of a constant is divided last. Any other
    quotient stays one factor: ``g * n`` may overflow or underflow where ``n / d``, the derivative itself, does not. The
    choice of a ``where`` goes outside too: so a factor that is not finite on the side not chosen never meets the zero
    there."""
    if builder.context.naive:
        return _times(builder, g, p, span)
    if p == ONE_BAR:
        return g
    if _is_factor(builder, g, _OF_COTANGENTS) and _is_factor(builder, p, _OF_PARTIALS):
        return _product(builder, g, p, span)
    spread = definition(builder, g, np.broadcast_to)
    if spread is not None and is_number(builder.context.value(p)) and is_number(builder.context.value(spread[0])):
        return builder.call(np.broadcast_to, multiply(builder, spread[0], p, span), *spread[1:], span=span)
    g = _unspread(builder, g, p)
    if _is_float(p) and p.value == -1.0:  # type: ignore[union-attr]
        return negate(builder, g, span)
    chosen = masked(builder, g)
    if chosen is not None:
        return mask(builder, chosen[0], multiply(builder, chosen[1], p, span), chosen[2], span)
    reduced = _reduced(builder, g, p)
    if reduced is not None:
        return _reduce(builder, multiply(builder, reduced[0], p, span), reduced[1], span)
    inner = definition(builder, p, operator.neg)
    if inner is not None:
        return negate(builder, multiply(builder, g, inner[0], span), span)
    choice = definition(builder, p, np.where)
    if choice is not None and _is_mask(builder, p):
        sides = [multiply(builder, g, one, span) for one in choice[1:]]
        return builder.call(np.where, choice[0], *sides, span=span)
    if p == ir.Const(0.0):
        return p
    for division in (operator.truediv, rt.quotient):
        quotient = definition(builder, p, division)
        if quotient is None:
            continue
        if _is_float(quotient[0]):
            return divide(builder, multiply(builder, g, quotient[0], span), quotient[1], span, division)
        signed = definition(builder, quotient[0], operator.neg)
        if signed is not None:
            p = divide(builder, signed[0], quotient[1], span, division)
            return negate(builder, multiply(builder, g, p, span), span)
    signed = definition(builder, g, operator.neg)
    if signed is not None:
        return negate(builder, multiply(builder, signed[0], p, span), span)
    if g == ONE_BAR:
        return p
    product = definition(builder, p, operator.mul)
    if _is_float(g) and product is not None and _is_float(product[0]):
        factor = ir.Const(g.value * product[0].value)  # type: ignore[union-attr]
        if factor == ONE_BAR or not _is_read(builder, p):
            return multiply(builder, factor, product[1], span)
    if _is_float(g) and _is_float(p):
        return ir.Const(g.value * p.value)  # type: ignore[union-attr]
    if _is_float(p) and not _is_float(g):
        part = definition(builder, g, operator.truediv)
        if part is not None and _is_float(part[0]):
            return divide(builder, ir.Const(part[0].value * p.value), part[1], span)  # type: ignore[union-attr]
        g, p = p, g
    product = definition(builder, p, operator.mul)
    if _is_float(g) and product is not None and _is_float(product[0]):
        factor = ir.Const(g.value * product[0].value)  # type: ignore[union-attr]
        if factor == ONE_BAR or not _is_read(builder, p):
            return multiply(builder, factor, product[1], span)
    over = definition(builder, g, operator.truediv)
    if over is not None and _is_unit(over[0]) and _have_one_shape(builder, over[1], p):
        made = divide(builder, p, over[1], span)  # x / y, not 1.0 / y * x
        return made if over[0].value == 1.0 else negate(builder, made, span)  # type: ignore[union-attr]
    return _product(builder, g, p, span)


_RECENT = 16
"""So many statements are looked at for who reads a product."""


def _is_read(builder: Builder, atom: ir.Atom) -> bool:
    """Whether an array is there anyway, as something reads it that was just written: then a multiple of it takes no
    more than a multiple of what it was made of, which need not be kept."""
    if not isinstance(builder.context.value(atom), Array):
        return False
    return any(atom in ir.reads_of(s) for s in builder.statements[-_RECENT:])


def _product(builder: Builder, g: ir.Atom, p: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """``g * p``, where ``g`` is a number and ``p`` is an array ``2 * x`` the product of the numbers first."""
    if isinstance(g, ir.Var) and is_number(builder.context.value(g)) and not is_number(builder.context.value(p)):
        product = definition(builder, p, operator.mul)
        if product is not None and _is_float(product[0]):
            return _times(builder, multiply(builder, g, product[0], span), product[1], span)
    return _times(builder, g, p, span)


def _times(builder: Builder, g: ir.Atom, p: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """``g * p``, with strong zeros where the version has these."""
    fn = with_strong_zeros(operator.mul, g, p) if builder.context.has_strong_zeros else operator.mul
    return builder.call(fn, g, p, span=span)


_STRONG = {
    operator.mul: rt.strong_product, np.multiply: rt.strong_product,
    operator.truediv: rt.strong_quotient, np.divide: rt.strong_quotient, rt.quotient: rt.strong_quotient,
    operator.matmul: rt.strong_matmul, np.matmul: rt.strong_matmul,
}


def with_strong_zeros(fn: Any, *factors: Any) -> Any:
    """The function in which zeros are strong in the place of a product or quotient, unless a factor is a number that is
    neither zero nor infinite; any other function as it is."""
    is_plain = any(_is_float(a) and 0.0 < abs(a.value) < np.inf for a in factors)
    return fn if is_plain or not is_hashable(fn) else _STRONG.get(fn, fn)


def _is_unit(atom: ir.Atom) -> bool:
    return _is_float(atom) and abs(atom.value) == 1.0  # type: ignore[union-attr]


def _have_one_shape(builder: Builder, a: ir.Atom, b: ir.Atom) -> bool:
    """Whether two arrays of floats certainly have the same shape."""
    one, other = builder.context.value(a), builder.context.value(b)
    if not isinstance(one, Array) or not isinstance(other, Array) or one.dtype != other.dtype:
        return False
    return bool(one.shape) and one.shape == other.shape and one.dtype.kind == "f"


_OF_COTANGENTS = frozenset(map(ir.Const, (np.broadcast_to, np.where, rt.unbroadcast, operator.neg, operator.truediv)))
_OF_PARTIALS = frozenset(map(ir.Const, (operator.neg, np.where, operator.truediv, rt.quotient)))


def _is_factor(builder: Builder, atom: ir.Atom, parted: frozenset[ir.Const]) -> bool:
    """Whether an atom is a factor as it is: a variable that no call of one of these functions made."""
    made = builder.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    return isinstance(atom, ir.Var) and not (isinstance(made, ir.Call) and made.fn in parted)


def _unspread(builder: Builder, g: ir.Atom, p: ir.Atom) -> ir.Atom:
    """The number in a cotangent that is the same number everywhere, where a factor of its shape spreads it anyway."""
    made, have = definition(builder, g, np.broadcast_to), builder.context.value(p)
    if made is None or not isinstance(have, Array) or have.dtype.kind != "f":
        return g
    if not _is_float(made[0]) and builder.context.value(made[0]) not in (Scalar(float), Scalar(have.dtype.type)):
        return g
    shape, known = have.shape, shape_of(builder.context.value(g))
    if shape is None or known is None or len(shape) != len(known):
        return g
    return made[0] if same_shape(shape, known, builder.context.evaluator.facts) else g


def _is_float(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) in (int, float)


def _is_mask(builder: Builder, p: ir.Atom) -> bool:
    """Whether a factor only chooses among constants: then the product chooses, and nothing meets a zero."""
    made = definition(builder, p, np.where)
    if made is None or len(made) != 3:
        return False
    return all(_is_float(side) or _is_mask(builder, side) for side in made[1:])


def divide(
    builder: Builder, g: ir.Atom, p: ir.Atom, span: ir.Span | None, division: Callable[..., Any] = operator.truediv
) -> ir.Atom:
    """``g / p``, a sign of ``g`` and the choice of a ``where`` outside."""
    if builder.context.has_strong_zeros:
        division = with_strong_zeros(division, p)
    if builder.context.naive:
        return builder.call(division, g, p, span=span)
    g = _unspread(builder, g, p)
    if division is rt.quotient and not all(may_be_of_python(builder.context.value(a)) for a in (g, p)):
        division = operator.truediv
    chosen = masked(builder, g)
    if chosen is not None:
        return mask(builder, chosen[0], divide(builder, chosen[1], p, span, division), chosen[2], span)
    reduced = _reduced(builder, g, p)
    if reduced is not None:
        return _reduce(builder, divide(builder, reduced[0], p, span, division), reduced[1], span)
    signed = definition(builder, g, operator.neg)
    if signed is not None:
        return negate(builder, divide(builder, signed[0], p, span, division), span)
    return builder.call(division, g, p, span=span)


def negate(builder: Builder, g: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """``-g``; two signs vanish."""
    if builder.context.naive:
        return builder.call(operator.neg, g, span=span)
    if _is_float(g):
        return ir.Const(-g.value)  # type: ignore[union-attr]
    inner = definition(builder, g, operator.neg)
    return inner[0] if inner is not None else builder.call(operator.neg, g, span=span)


def _signed_mask(builder: Builder, g: ir.Atom) -> tuple[ir.Atom, ir.Atom, bool, bool] | None:
    """What ``masked`` tells of a cotangent or of what it is the negative of, and whether it is that."""
    signed = definition(builder, g, operator.neg)
    chosen = masked(builder, g if signed is None else signed[0])
    return None if chosen is None else (*chosen, signed is not None)


def _without_sign(
    builder: Builder, test: ir.Atom, g: ir.Atom, side: bool, is_negative: bool, span: ir.Span | None
) -> tuple[ir.Atom, ir.Atom, bool]:
    return test, negate(builder, g, span) if is_negative else g, side


def add(builder: Builder, a: ir.Atom, b: ir.Atom, span: ir.Span | None, name: str) -> ir.Atom:
    """``a + b``, as a difference where ``b`` has a sign."""
    if builder.context.naive:
        return builder.call(operator.add, a, b, name=name, span=span)
    chosen = other = None
    one, another = _signed_mask(builder, a), _signed_mask(builder, b)
    if one is not None and another is not None and one[0] == another[0]:
        chosen, other = _without_sign(builder, *one, span), _without_sign(builder, *another, span)
    if chosen is not None and other is not None and chosen[2] == other[2]:
        total = add(builder, chosen[1], other[1], span, "%")
        return mask(builder, chosen[0], total, chosen[2], span, name)
    if chosen is not None and other is not None:
        yes, no = (chosen[1], other[1]) if chosen[2] else (other[1], chosen[1])
        sides = _unspread(builder, yes, no), _unspread(builder, no, yes)
        return builder.call(np.where, chosen[0], *sides, name=name, span=span)
    if a == b or _same_operation(builder, a, b):
        doubled = multiply(builder, a, ir.Const(2.0), span)
        return doubled if isinstance(doubled, ir.Const) else builder.context.renamed(builder, doubled, name)
    for x, y in ((a, b), (b, a)):
        if _is_float(x) and x.value == 0.0:  # type: ignore[union-attr]
            return y
    signed = definition(builder, b, operator.neg)
    if signed is not None:
        return builder.call(operator.sub, a, signed[0], name=name, span=span)
    signed = definition(builder, a, operator.neg)
    if signed is not None and not (isinstance(b, ir.Const)):
        return builder.call(operator.sub, b, signed[0], name=name, span=span)
    return builder.call(operator.add, a, b, name=name, span=span)


def _same_operation(builder: Builder, a: ir.Atom, b: ir.Atom) -> bool:
    made = builder.context.definitions
    if not isinstance(a, ir.Var) or not isinstance(b, ir.Var) or a not in made or made[a] != made.get(b):
        return False
    value = made[a]
    if not isinstance(value, ir.Call) or value.fn not in (ir.Const(operator.mul), ir.Const(operator.truediv)):
        return False
    return all(v not in builder.context.changed and may_read_again(builder.context, v, value) for v in (a, b))


def peel(builder: Builder, g: ir.Atom, like: AbstractValue) -> ir.Atom:
    """The compact form of a cotangent that was broadcast to the shape of ``like``."""
    made = definition(builder, g, np.broadcast_to)
    if made is None or shape_of(like) is None or shape_of(builder.context.value(made[0])) is None:
        return g
    return peel(builder, made[0], like)


def full(builder: Builder, g: ir.Atom, like: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """The cotangent broadcast to the shape of ``like``, where it is compact."""
    context = builder.context
    shape, target = shape_of(context.value(g)), shape_of(context.value(like))
    if shape is None or target is None:
        return g
    if shape == target or (len(shape) == len(target) and same_shape(shape, target, context.evaluator.facts)):
        return g
    return builder.call(np.broadcast_to, g, shape_atom(builder, like, span), span=span)


def whole(builder: Builder, g: ir.Atom, like: ir.Atom, span: ir.Span | None, name: str = "%") -> ir.Atom:
    """The cotangent as an array of its own with the shape and dtype of ``like``."""
    context = builder.context
    shape, target = shape_of(context.value(g)), shape_of(context.value(like))
    if shape is not None and target and not (
        len(shape) == len(target) and same_shape(shape, target, context.evaluator.facts)
    ):
        return made_like(builder, np.full_like, like, g, span=span, name=name)
    return g


def made_like(
    builder: Builder, fn: Callable[..., Any], like: ir.Atom, *args: ir.Atom, span: ir.Span | None, name: str = "%"
) -> ir.Atom:
    """An array by ``np.zeros_like`` or ``np.full_like``, of floats also where ``like`` is one of integers on some
    paths: those would cut off what is added."""
    context = builder.context
    known = context.value(like)
    kind = (("dtype", ir.Const(known.dtype.type)),) if like in context.uncertain and isinstance(known, Array) else ()
    return builder.call(fn, like, *args, kwargs=kind, span=span, name=name)


def fit(
    builder: Builder, c: ir.Atom, argument: ir.Atom, result: ir.Atom, use: Callable[[ir.Atom], ir.Atom],
    span: ir.Span | None,
) -> ir.Atom:
    """The cotangent of an elementwise result as that of one argument: summed over what broadcasting stretched.

    ``argument`` and ``result`` are primal atoms; ``use`` makes them readable where their values are needed.
    """
    signed = definition(builder, c, operator.neg)
    if signed is not None:
        return negate(builder, fit(builder, signed[0], argument, result, use, span), span)
    context = builder.context
    shape, target, outer = (shape_of(context.value(a)) for a in (c, argument, result))
    if target is not None and outer is not None and shape is not None:
        if len(target) == len(outer) and same_shape(target, outer, context.evaluator.facts):
            return fit_dtype(builder, c, context.value(argument), span)
        if not target and is_number(context.value(c)) and all(not d.is_constant for d in outer):
            like = context.shape_source(use(result))
            size = builder.call(np.size, like, span=span) if not has_memory(compiled_for()) else builder.call(
                getattr, like, ir.Const("size"), span=span)
            return fit_dtype(builder, multiply(builder, c, size, span), context.value(argument), span)
        if len(shape) != len(outer) or not same_shape(shape, outer, context.evaluator.facts):
            c = builder.call(np.broadcast_to, c, shape_atom(builder, use(result), span), span=span)
    return unbroadcast(builder, c, argument, span, use)


def shape_atom(builder: Builder, like: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """The shape of an array, of an argument of the same shape where there is one."""
    return builder.call(np.shape, builder.context.shape_source(like), span=span)


def unbroadcast(
    builder: Builder, c: ir.Atom, argument: ir.Atom, span: ir.Span | None,
    use: Callable[[ir.Atom], ir.Atom] = lambda atom: atom,
) -> ir.Atom:
    """``c`` summed down to the shape of an argument: by sums over known axes where the shapes are known."""
    context = builder.context
    value = context.value(argument)
    outer, target = shape_of(context.value(c)), shape_of(value)
    if outer is None or target is None or len(outer) < len(target):
        if is_number(value) and is_number(context.value(c)):
            return fit_dtype(builder, c, value, span)
        return builder.call(rt.unbroadcast, c, use(argument), span=span)
    if len(target) == len(outer) and same_shape(target, outer, context.evaluator.facts):
        return fit_dtype(builder, c, value, span)
    summed = _sum_to(builder, c, target, outer, span)
    if summed is None:
        return builder.call(rt.unbroadcast, c, use(argument), span=span)
    return fit_dtype(builder, summed, value, span)


def _sum_to(
    builder: Builder, c: ir.Atom, target: tuple[Dim, ...], outer: tuple[Dim, ...], span: ir.Span | None
) -> ir.Atom | None:
    if not target:
        return builder.call(np.sum, c, span=span)
    facts = builder.context.evaluator.facts
    lead = len(outer) - len(target)
    stretched = [axis + lead for axis, d in enumerate(target) if d == ONE and outer[axis + lead] != ONE]
    for axis, dim in enumerate(target):
        if dim != ONE and dim != outer[axis + lead] and facts.may_be_one(dim):
            return None
    if stretched:
        axes = ir.Const(stretched[0]) if len(stretched) == 1 else _axes(builder, stretched)
        c = builder.call(np.sum, c, span=span, kwargs=(("axis", axes), ("keepdims", ir.Const(True))))
    if lead:
        axes = ir.Const(0) if lead == 1 else _axes(builder, list(range(lead)))
        c = builder.call(np.sum, c, span=span, kwargs=(("axis", axes),))
    return c


def _axes(builder: Builder, axes: list[int]) -> ir.Atom:
    from s2s.core import ops

    return builder.call(ops.make_tuple, *map(ir.Const, axes))


def fit_dtype(builder: Builder, c: ir.Atom, like: AbstractValue, span: ir.Span | None) -> ir.Atom:
    """A cotangent in the dtype of ``like``, its real part where that is real.

    Where it depends on the run whether ``like`` is complex, the cotangent stays as it is: what made a real number has
    real derivatives, so the real part may as well be taken where a value is known to be real.
    """
    have, want = builder.context.value(c), dtype_of(like)
    if isinstance(have, (Array, Scalar)) and not _is_real(have) and _is_real(like):
        c = builder.call(np.real, c, span=span)
        have = builder.context.value(c)
    found = dtype_of(have)
    if want is None or found is None or found == want or want.kind not in "fc":
        return c
    if isinstance(have, Array):
        return builder.call(np.ndarray.astype, c, ir.Const(want), span=span)
    return builder.call(want.type, c, span=span)


def at_join(value: AbstractValue) -> AbstractValue:
    """What is known of the gradient or tangent of a number where paths join: the gradient of an ``np.float64`` may be a
    ``float`` on one of them, as the constants are."""
    return ANY_FLOAT if value == Scalar(np.float64) else value


def of_kind(builder: Builder, bar: ir.Atom, value: AbstractValue) -> ir.Atom:
    """The gradient or tangent of a number as a number of its kind: a float, also where the slope is an integer, an
    ``np.float32`` for an ``np.float32``, a complex number for a complex one."""
    known = builder.context.value(bar)
    if not isinstance(value, Scalar) or not isinstance(value.type, type):
        return bar
    if isinstance(known, Known) and type(known.value) is int:
        return ir.Const(float(known.value))
    if value.type in (float, complex) or value == ANY_FLOAT:
        if known == value:
            return bar
        kinds = (complex,) if value.type is complex else (float, complex)
        have = type(known.value) if isinstance(known, Known) else getattr(known, "type", None)
        if isinstance(known, Known) and value.type is complex and isinstance(known.value, float):
            return ir.Const(complex(known.value))
        is_that = isinstance(have, type) and is_exact(have) and issubclass(have, kinds)
        return bar if is_that else builder.call(float if value == ANY_FLOAT else value.type, bar)
    if issubclass(value.type, np.inexact) and not (isinstance(known, Scalar) and known.type is value.type):
        if isinstance(known, Array) and builder.context.evaluator.keeps_arrays:  # an array of a device, say
            bar = builder.call(complex if issubclass(value.type, np.complexfloating) else float, bar)
        return builder.call(value.type, bar)
    if isinstance(known, Array) and known.shape == ():
        return builder.call(operator.getitem, bar, ir.Const(()))
    return bar


def in_precision(
    builder: Builder, c: ir.Atom, like: ir.Atom, value: AbstractValue, span: ir.Span | None
) -> ir.Atom:
    """A cotangent or tangent in the dtype of ``like``, of which ``value`` is known; cast when the program runs where
    its own is not known, as a rule may have computed in more digits."""
    have, want = builder.context.value(c), dtype_of(value)
    if isinstance(have, (Array, Scalar, Known)):
        weak = isinstance(value, Scalar) and value.type in (float, complex) and is_number(have)
        if weak and dtype_of(have) not in (None, float, complex):  # of a Python number
            return builder.call(value.type, c, span=span)  # type: ignore[union-attr]
        return fit_dtype(builder, c, value, span)
    if want is None or want.kind not in "fc" or want in (float, complex):
        return c
    return builder.call(rt.cast, c, like, span=span)


def _is_real(value: AbstractValue) -> bool:
    """Whether it is certainly a real number, or an array of such."""
    if isinstance(value, Scalar):
        return not any(issubclass(kind, (complex, np.complexfloating)) for kind in possible_types(value.type))
    if isinstance(value, Known):
        return not isinstance(value.value, (complex, np.complexfloating))
    return isinstance(value, Array) and value.dtype.kind != "c"


def _is_complex(value: AbstractValue) -> bool:
    if isinstance(value, Array):
        return value.dtype.kind == "c"
    return isinstance(value, Scalar) and isinstance(value.type, type) and issubclass(
        value.type, (complex, np.complexfloating)
    )
