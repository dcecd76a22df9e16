"""What generated code calls that takes derivatives when the program runs, met in a function that is differentiated."""

from __future__ import annotations

import operator
from typing import Any

from s2s import runtime as rt
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import State, cell_of
from s2s.core import ir
from s2s.core.inspection import with_article
from s2s.core.values import UNKNOWN, Array, Known, Mapping, Scalar, Sequence
from s2s.errors import error
from s2s.runtime import repeated_calls
from s2s.specialize.calls.derivative_parts import together
from s2s.specialize.heap import making
from s2s.specialize.site import At, CallSite, Handler

__all__ = ["HANDLERS", "call_again", "push_again"]


# --- cotangents and tangents that are given -------------------------------------------------------------------------


def _fit(site: CallSite) -> ir.Atom | None:
    """A cotangent or tangent ``args[0]`` of ``args[1]``: as it is where kinds and shapes are known to be equal; tested
    when the program runs where they are not."""
    args = site.args
    given, like, _ = args
    known, mine = site.value(like), site.value(given)
    items = site.items(like) if _is_container(site.context, like) else None
    if items is not None:
        return _fit_items(site, site.fn, args, items)
    if isinstance(known, Known) and isinstance(known.value, (float, complex)):
        known = Scalar(type(known.value))
    if isinstance(known, Scalar) and isinstance(mine, Known) and isinstance(mine.value, (int, float)):
        if known.type is float:
            return ir.Const(float(mine.value))
    if mine == known and isinstance(mine, Scalar):
        return given
    if isinstance(mine, Array) and isinstance(known, Array) and mine.shape is not None and mine.shape == known.shape:
        if mine.dtype == known.dtype:
            return given
        if mine.dtype.kind != "c" and known.dtype.kind in "fc":
            return site.compute(rt.cast, given, like)
    known = UNKNOWN if site.context.is_virtual(like) else known
    given, like = site.builder.frozen(given), site.builder.frozen(like)
    call = ir.Call(ir.Const(site.fn), (given, like, args[2]))
    return site.builder.let(call, known, site.name, site.span, site.context.is_varied(given))


def _is_container(context: Context, atom: ir.Atom) -> bool:
    return cell_of(context, atom) is not None or isinstance(context.value(atom), (Sequence, Mapping))


def _fit_items(at: At, fn: Any, args: list[ir.Atom], items: list[ir.Atom]) -> ir.Atom:
    """A cotangent or tangent of a container, by its items."""
    given, like, name = args
    entries = at.entries(like)
    state = virtual_heap.state_of(at.context, like)
    known = at.value(like)
    kind = state.kind if state is not None else known.type if isinstance(known, Sequence) else dict
    keys = tuple(entries) if entries is not None and issubclass(kind, dict) else tuple(range(len(items)))
    own = at.items(given) if _is_container(at.context, given) else None
    if own is None or len(own) != len(keys):
        got = "something else" if own is None else f"a container of {len(own)}"
        code = "S2S505" if fn is rt.fit_cotangent else "S2S515"
        where: dict[str, Any] = {"span": at.span, "asked_by": at.frame.called_from}
        raise error(code, name=_text(name), got=got, expected=f"{with_article(kind.__name__)} of {len(keys)}", **where)
    made = []
    for key in keys:
        both = [
            at.apply(operator.getitem, a, ir.Const(key))
            for a in (given, like)
        ]
        made.append(at.apply(fn, *both, name))
    return together(at, kind, keys, made)


def _text(atom: ir.Atom) -> str:
    return str(atom.value) if isinstance(atom, ir.Const) else ""


# --- calls that are decided when the program runs -------------------------------------------------------------------


def call_again(site: CallSite) -> ir.Atom | None:
    """``rt.call(f, *args)`` in a derivative that is differentiated: the call, whose pullback nothing reads there
    (``pairs``)."""
    args, kwargs = site.args, site.kwargs
    if not any(map(site.context.is_varied, (*args, *kwargs.values()))):
        return None
    if site.fn is rt.call_method:
        method = site.apply_atom(ir.Const(getattr), args[:2], {})
        out = site.result_of_atom(method, args[2:], dict(kwargs))
    else:
        out = site.result_of_atom(args[0], args[1:], dict(kwargs))
    return making.new_list(site, (out, ir.Const(repeated_calls.lost_pullback)), tuple)


def _lost(site: CallSite) -> ir.Atom:
    """Refuse to call a pullback of which the derivative is not known."""
    raise site.refusal("S2S210", name="a pullback that is called")


def _pull_again(site: CallSite) -> ir.Atom:
    """The cotangents of such a call: found when the program runs, and differentiated there."""
    return site.call(site.fn, site.args).leave()


def _read_pulled(site: CallSite) -> ir.Atom | None:
    """One of the cotangents of a call."""
    if not site.context.is_varied(site.args[0]):
        return None
    return site.write(operator.getitem, *site.args)


def push_again(site: CallSite) -> ir.Atom | None:
    """``rt.push(f, name, values, dots, keys)`` in a derivative that is differentiated."""
    args = site.args
    name, keys = args[1], site.items(args[4])
    if name != ir.Const(None) or keys != [] or not any(map(site.context.is_varied, args)):
        return None
    made = [args[0], *map(site.builder.frozen, args[2:4])]
    return site.call(repeated_calls.tangent_of_call, made).leave()


def _make_object(site: CallSite) -> ir.Atom | None:
    """``rt.make_object(cls, name, value, ...)``: an object on the heap."""
    args = site.args
    if not all(isinstance(a, ir.Const) for a in (args[0], *args[1::2])):
        return None
    names = tuple(a.value for a in args[1::2] if isinstance(a, ir.Const))
    return making.new(site, State(args[0].value, names, tuple(args[2::2])))  # type: ignore[union-attr]


def _fused(site: CallSite) -> ir.Atom | None:
    """``rt.fused(chain, *operands)``: what the function makes of the operands."""
    if site.is_spread or site.kwargs or not site.args:
        return None
    return site.instead_of_atom(site.args[0], site.args[1:])


HANDLERS: dict[Any, Handler] = {
    rt.fit_cotangent: _fit, rt.fit_tangent: _fit, rt.make_object: _make_object, rt.call: call_again,
    rt.call_method: call_again, repeated_calls.lost_pullback: _lost, repeated_calls.cotangents_of_call: _pull_again,
    repeated_calls.cotangents_of_method: _pull_again, rt.pulled: _read_pulled, rt.push: push_again, rt.fused: _fused,
}
"""What stands for a call of a function that a derivative calls when the program runs, and for the tests of what is
given to such a function."""
