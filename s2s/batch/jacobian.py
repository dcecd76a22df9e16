"""Jacobians: a function and its sweeps in, the function that gives all partial derivatives out.

    y = np.tanh(W @ x)      ->      y = np.tanh(W @ x)
                                    x_dot = np.eye(len(x))
                                    return (1.0 - y * y)[..., None] * (W @ x_dot)

Forward mode pushes the tangents of all elements of the arguments together, reverse mode pulls the cotangents of all
elements of the result (``vector``). A Jacobian has the structure of the result; each part of it has that of the
arguments; each part of that is an array with the shape of the part of the result and then that of the argument.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.draws import is_draw, is_seeded
from s2s.analysis.abstract.lattice import dtype_of, is_number, shape_of
from s2s.analysis.abstract.parts import Path, leaves, part
from s2s.analysis.effects import writes_outside
from s2s.batch.sparsity import Dependences
from s2s.batch.vector import NotVector, vectorize, with_directions
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import holds_attributes
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, AbstractValue, Array, Instance, Mapping, Scalar, Sequence
from s2s.errors import error
from s2s.forward.sweep import Forwarder
from s2s.optimize.passes import DEAD_CODE, STORES, run_passes
from s2s.reverse.joint import Joint, Mode
from s2s.runtime import dependence, directions
from s2s.specialize.checkpoints import asked, name_of_call
from s2s.specialize.unknown_effects import draws_numbers, plain_atoms


def tangents_of(
    joint: Joint, primal: ir.Function, aux: ir.Atom | None, many: bool = True
) -> tuple[Builder, list[ir.Var], list[ir.Atom], set[ir.Atom]]:
    """The statements of a function with tangents, the parameters for the tangents of what is differentiated, the
    results (value, tangent, aux where there is one), and the tangents that are changed in place."""
    builder, given, dots = Builder(joint.context), dict[tuple[ir.Var, Path], ir.Atom](), []
    forwarder = Forwarder(joint.context, joint.specializer, primal, dict(joint.request.options), many)
    for path in joint.request.wrt:
        var = joint.params[path[0]]
        value = joint.context.value(var)
        if isinstance(value, Instance) and path[1:]:  # an argument with objects in it, read part by part
            value = joint.arguments[path[0]]
        value = part(value, tuple(path[1:]))
        dot = joint.context.define("_".join(map(str, path)) + "_dot", value)
        dots.append(dot)
        for rest, _ in leaves(value):
            given[var, (*path[1:], *rest)] = forwarder.leaf_of(dot, rest, builder)
        given |= joint.tangents_of_parts(var, tuple(path[1:]), dot, forwarder, builder)
    result = [*forwarder.forward(given, builder), *(() if aux is None else (aux,))]
    return builder, dots, result, forwarder.owned


def with_tangents(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function of the primals and, after these, the tangents of the paths that are differentiated."""
    builder, dots, result, _ = tangents_of(joint, primal, aux, many=False)
    body = builder.block(builder.call(ops.make_tuple, *result))
    return ir.replace(primal, params=(*primal.params, *map(ir.Param, dots)), body=body)


def with_many_tangents(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function of the primals and of many tangents of each of the paths that are differentiated."""
    tangents, dots, result, owned = tangents_of(joint, primal, aux)
    builder, many = Builder(joint.context), [with_directions(joint.context, dot) for dot in dots]
    made = _pushed(joint, builder, tangents, dots, many, result, owned)
    body = builder.block(builder.call(ops.make_tuple, *made))
    return ir.replace(primal, params=(*primal.params, *map(ir.Param, many)), body=body)


def _pushed(
    joint: Joint, builder: Builder, tangents: Builder, dots: list[ir.Var], many: list[Any], result: list[ir.Atom],
    owned: set[ir.Atom],
) -> list[ir.Atom]:
    """Write the statements with many tangents side by side, else as a function that is called for each direction; the
    results."""
    attempt = builder.child()
    try:
        made = vectorize(joint.context, attempt, tangents.statements, result[1:2], dots, many, owned)
    except NotVector:
        _check_repeatable(joint, tangents)
        push = _function(joint, builder, "push", dots, tangents, result)
        each = directions.each_direction_of_objects if _has_objects(joint) else directions.each_direction
        if any(map(writes_outside, ir.walk(tangents.block()))):
            push = builder.let(ir.Call(ir.Const(directions.once_for_all), (push, *many)), UNKNOWN)
        both = builder.let(ir.Call(ir.Const(each), (push, *many)), UNKNOWN)
        return [builder.call(operator.getitem, both, ir.Const(k)) for k in range(len(result))]
    builder.take(attempt)
    return [result[0], *made, *result[2:]]


def _check_repeatable(joint: Joint, tangents: Builder) -> None:
    """Raise UnsupportedSyntaxError for statements that draw other random numbers in each direction."""
    block = tangents.block()
    made = {s.target for s in ir.walk(block) if isinstance(s, ir.Let) and is_seeded(s.value)}
    for call in asked(joint.context, block):
        assert isinstance(call.value, ir.Call)
        if draws_numbers(call.value.fn, joint.context) and _receiver(joint.context, call) not in made:
            raise error("S2S155", span=call.span, name=name_of_call(joint.context, call))
    for s in ir.walk(block):
        pushed = s.value if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) else None
        if pushed is not None and pushed.fn == ir.Const(rt.push):
            if any(draws_numbers(a, joint.context) for a in plain_atoms(pushed)):
                raise error("S2S155", span=s.span, name="a function that draws random numbers")


def _receiver(context: Context, s: ir.Let) -> Any:
    """The stream whose method a statement calls."""
    assert isinstance(s.value, ir.Call)
    if isinstance(s.value.fn, ir.Const):
        return s.value.args[0] if is_draw(s.value.fn.value) and s.value.args else None
    method = context.definition(s.value.fn, getattr)
    return None if method is None else method[0]


def _function(
    joint: Joint, builder: Builder, name: str, params: list[ir.Var], body: Builder, result: list[ir.Atom]
) -> ir.Atom:
    """Statements as a nested function."""
    inner = ir.Function(name, tuple(map(ir.Param, params)), body.block(body.call(ops.make_tuple, *result)))
    inner = joint.with_own_loads(run_passes((STORES, DEAD_CODE), inner, joint.context, inside=lambda inner: inner))
    captures = tuple(joint.free_variables(inner))
    return builder.let(ir.MakeFunction(ir.replace(inner, captures=captures), captures), UNKNOWN, name)


def _has_objects(joint: Joint) -> bool:
    """Whether something that is differentiated is an object, or holds one."""
    return any(holds_attributes(joint.arguments.get(path[0], UNKNOWN)) for path in joint.request.wrt)


# --- all elements of the arguments ----------------------------------------------------------------------------------


def forward_jacobian(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function that gives the Jacobian by forward mode."""
    tangents, dots, result, owned = tangents_of(joint, primal, aux)
    builder, context = Builder(joint.context), joint.context
    values = [joint.read_path(builder, path) for path in joint.request.wrt]
    for value, path in zip(values, joint.request.wrt, strict=True):
        _check_real(joint, context.value(value), f"the argument `{path[0]}`", "forward")
    if len(values) == 1 and is_number(context.value(values[0])):
        one = _one(context.value(values[0]))
        builder.statements += [ir.Let(dots[0], one), *tangents.statements]
        jacobian = result[1] if joint.request.single else _in_tuple(builder, result[1], context.value(result[0]))
        return _returned(joint, primal, builder, [result[0], jacobian, *result[2:]])
    many = _seeds(joint, builder, values, [dot.name for dot in dots])
    made = _pushed(joint, builder, tangents, dots, many, result, owned)
    single = joint.request.single and len(values) == 1 and _is_plain(context.value(values[0]))
    like = builder.call(ops.make_tuple, *values)
    jacobian = _by_leaf(
        builder, made[1], context.value(result[0]),
        lambda dot, known: _columns(builder, dot, known, values[0]) if single else builder.let(
            ir.Call(ir.Const(directions.columns), (dot, like, ir.Const(joint.request.single))), UNKNOWN),
    )
    return _returned(joint, primal, builder, [made[0], jacobian, *made[2:]])


def _seeds(joint: Joint, builder: Builder, values: list[ir.Atom], names: list[str]) -> list[ir.Atom]:
    """Tangents, or cotangents, for all elements of some values."""
    context = joint.context
    if len(values) == 1 and _is_plain(context.value(values[0])):
        return [_identity(builder, values[0], names[0])]
    holomorphic = bool(dict(joint.request.options).get("holomorphic"))
    keywords = (("holomorphic", ir.Const(True)),) if holomorphic else ()
    basis = builder.let(ir.Call(ir.Const(directions.basis), tuple(values), keywords), UNKNOWN)
    many: list[ir.Atom] = []
    for k, (value, name) in enumerate(zip(values, names, strict=True)):
        var = context.define(name, UNKNOWN)
        builder.add(ir.Let(var, ir.Call(ir.Const(operator.getitem), (basis, ir.Const(k)))))
        many.append(var)
        if _is_plain(context.value(value)):
            context.values[var] = context.value(with_directions(context, _like(context, name, value)))
    return many


def _like(context: Any, name: str, value: ir.Atom) -> ir.Var:
    return context.define(name, context.value(value))  # type: ignore[no-any-return]


def _identity(builder: Builder, value: ir.Atom, name: str) -> ir.Atom:
    """The unit vectors in the shape of an array, side by side."""
    context, call = builder.context, builder.call
    known = context.value(value)
    assert isinstance(known, Array) and known.shape is not None
    kind = () if known.dtype == np.float64 else (("dtype", call(getattr, value, ir.Const("dtype"))),)
    if len(known.shape) == 1:
        return call(np.eye, call(len, value), kwargs=kind, name=name)
    size = call(getattr, value, ir.Const("size"))
    shape = builder.let(
        ir.Call(ir.Const(ops.make_tuple), (ir.Star(call(np.shape, value)), size)), UNKNOWN
    )
    made = builder.let(
        ir.Call(ir.Const(np.reshape), (call(np.eye, size, kwargs=kind), shape)), UNKNOWN, name
    )
    many = with_directions(context, _like(context, name, value))
    context.values[made] = context.value(many)  # type: ignore[index]
    return made


def _columns(builder: Builder, dot: ir.Atom, known: AbstractValue, value: ir.Atom) -> ir.Atom:
    """A part of the Jacobian: the directions in the shape of the one argument."""
    shape = shape_of(builder.context.value(value))
    if shape is not None and len(shape) == 1:
        return dot
    call = builder.call
    front = call(operator.getitem, call(np.shape, dot), ir.Const(slice(None, -1)))
    both = builder.let(
        ir.Call(ir.Const(ops.make_tuple), (ir.Star(front), ir.Star(call(np.shape, value)))), UNKNOWN
    )
    return builder.let(ir.Call(ir.Const(np.reshape), (dot, both)), UNKNOWN)


def sparsity(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function that gives, in the structure of the result, which elements of the arguments each element depends
    on."""
    tangents, dots, result, owned = tangents_of(joint, primal, aux)
    builder = Builder(joint.context)
    values = [joint.read_path(builder, path) for path in joint.request.wrt]
    sets = builder.let(ir.Call(ir.Const(dependence.each_element), tuple(values)), UNKNOWN)
    many: list[ir.Atom] = []
    for k, dot in enumerate(dots):
        many.append(joint.context.define(dot.name, UNKNOWN))
        builder.add(ir.Let(many[-1], ir.Call(ir.Const(operator.getitem), (sets, ir.Const(k)))))  # type: ignore[arg-type]
    try:
        made = vectorize(joint.context, builder, tangents.statements, result[1:2], dots, many, owned, Dependences)
    except NotVector:
        raise error("S2S517", name=primal.name, span=primal.span) from None
    return ir.replace(primal, body=builder.block(made[0]))


# --- all elements of the result -------------------------------------------------------------------------------------


def reverse_jacobian(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function that gives the Jacobian by reverse mode."""
    context, out = joint.context, primal.body.yields[0]
    known = context.value(out)
    _check_real(joint, known, "the result", "reverse")
    seed = context.define("out_bar", known)
    reversal = joint.reverse(primal, seed, repeatable=False)
    reverse = Builder(context)
    reverse.statements += reversal.reverse
    bars = joint.gradients(reverse, reversal.bars)
    builder = Builder(context)
    builder.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
    note = ir.Note("reverse sweep", "reverse")
    rest = [] if aux is None else [aux]
    if is_number(known) or (isinstance(known, Array) and known.shape == ()):
        one = ir.Call(ir.Const(np.ones_like), (out,)) if isinstance(known, Array) else _one(known)
        builder.statements += [note, ir.Let(seed, one), *reverse.statements]
        made = bars[0] if joint.request.single else builder.call(ops.make_tuple, *bars)
        return _returned(joint, primal, builder, [out, made, *rest])
    many = _seeds(joint, builder, [out], [seed.name])
    attempt = builder.child()
    try:
        pulled = vectorize(context, attempt, reverse.statements, bars, [seed], many, set())
    except NotVector:
        builder, pulled = _pulled_one_by_one(joint, primal, aux, None)
    else:
        builder.add(note)
        builder.take(attempt)
    if joint.request.single and _is_plain(known) and all(map(_is_plain, map(context.value, bars))):
        jacobian = _rows(builder, pulled[0], context.value(bars[0]), out)
    else:
        given = builder.call(ops.make_tuple, *pulled)
        call = ir.Call(ir.Const(directions.rows), (given, out, ir.Const(joint.request.single)))
        jacobian = builder.let(call, UNKNOWN)
    return _returned(joint, primal, builder, [out, jacobian, *rest])


def _pulled_one_by_one(
    joint: Joint, primal: ir.Function, aux: ir.Atom | None, many: ir.Atom | None
) -> tuple[Builder, list[ir.Atom]]:
    """The function up to the cotangents that many cotangents of the result give, those of all its elements where they
    are not given: each from a call of the pullback."""
    builder = Builder(joint.context)
    made = joint.with_pullback(primal, aux).body
    builder.statements += made.statements
    parts = joint.context.definition(made.yields[0], ops.make_tuple)
    assert parts is not None
    if many is None:
        (many,) = _seeds(joint, builder, [parts[0]], ["out_bar"])
    pull = directions.each_cotangent_of_objects if _has_objects(joint) else directions.each_cotangent
    each = builder.let(ir.Call(ir.Const(pull), (parts[1], many)), UNKNOWN)
    return builder, [builder.call(operator.getitem, each, ir.Const(k)) for k in range(len(joint.request.wrt))]


def elementwise_gradient(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function that gives the sums of the columns of the Jacobian: the cotangent is 1 for each element."""
    out, builder = primal.body.yields[0], Builder(joint.context)
    known = joint.context.value(out)
    seed = joint.context.define("out_bar", known)
    reversal = joint.reverse(primal, seed, repeatable=False)
    builder.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
    one = _one(known) if is_number(known) else ir.Call(ir.Const(rt.ones_like), (out,))
    builder.statements += [ir.Let(seed, one), ir.Note("reverse sweep", "reverse"), *reversal.reverse]
    bars = joint.gradients(builder, reversal.bars)
    made = bars[0] if joint.request.single else builder.call(ops.make_tuple, *bars)
    return _returned(joint, primal, builder, [out, made, *([] if aux is None else [aux])])


def with_many_cotangents(joint: Joint, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
    """The function of the primals and of many cotangents of the result: the result and the cotangents that each of them
    gives."""
    context, out = joint.context, primal.body.yields[0]
    seed = context.define("out_bar", context.value(out))
    many = with_directions(context, seed)
    reversal = joint.reverse(primal, seed, repeatable=False)
    reverse, builder = Builder(context), Builder(context)
    reverse.statements += reversal.reverse
    bars = joint.gradients(reverse, reversal.bars)
    builder.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
    builder.add(ir.Note("reverse sweep", "reverse"))
    try:
        pulled = vectorize(context, builder, reverse.statements, bars, [seed], [many], set())
    except NotVector:
        builder, pulled = _pulled_one_by_one(joint, primal, aux, many)
    result = builder.call(ops.make_tuple, out, builder.call(ops.make_tuple, *pulled))
    return ir.replace(primal, params=(*primal.params, ir.Param(many)), body=builder.block(result))


def _rows(builder: Builder, bar: ir.Atom, known: AbstractValue, out: ir.Atom) -> ir.Atom:
    """The Jacobian with one result and one argument: the directions come first, in the shape of the result."""
    call, shape, outer = builder.call, shape_of(known), shape_of(builder.context.value(out))
    assert shape is not None and outer is not None
    turned = bar
    if len(shape) == 1:
        turned = call(getattr, bar, ir.Const("T"))
    elif shape:
        turned = call(np.moveaxis, bar, ir.Const(-1), ir.Const(0))
    if len(outer) == 1:
        return turned
    back = call(operator.getitem, call(np.shape, turned), ir.Const(slice(1, None)))
    both = builder.let(
        ir.Call(ir.Const(ops.make_tuple), (ir.Star(call(np.shape, out)), ir.Star(back))), UNKNOWN
    )
    return builder.let(ir.Call(ir.Const(np.reshape), (turned, both)), UNKNOWN)


# --- both -----------------------------------------------------------------------------------------------------------


def _returned(joint: Joint, primal: ir.Function, builder: Builder, result: list[ir.Atom]) -> ir.Function:
    """The function that returns what is asked for of value, Jacobian, and aux where there is one."""
    value, jacobian, *aux = result
    if joint.request.mode.startswith("value_and_"):
        first = builder.call(ops.make_tuple, value, *aux) if aux else value
        returned = builder.call(ops.make_tuple, first, jacobian)
    else:
        returned = builder.call(ops.make_tuple, jacobian, *aux) if aux else jacobian
    return ir.replace(primal, body=builder.block(returned))


def _by_leaf(builder: Builder, dot: ir.Atom, known: AbstractValue, make: Any) -> ir.Atom:
    """The structure of a result, with something made for each part of its tangent."""
    if isinstance(known, Sequence) and known.type in (tuple, list):
        parts = [
            _by_leaf(builder, builder.call(operator.getitem, dot, ir.Const(k)), item, make)
            for k, item in enumerate(known.items)
        ]
        return builder.call(ops.make_tuple if known.type is tuple else ops.make_list, *parts)
    if isinstance(known, Mapping):
        flat: list[ir.Atom] = []
        for key, item in zip(known.keys, known.items, strict=True):
            flat += [ir.Const(key), _by_leaf(builder, builder.call(operator.getitem, dot, ir.Const(key)), item, make)]
        return builder.call(ops.make_dict, *flat)
    if isinstance(known, (Array, Scalar)) and dtype_of(known) is not None and dtype_of(known).kind not in "fc":  # type: ignore[union-attr]
        return ir.Const(None)
    if isinstance(known, (Array, Scalar)):
        return make(dot, known)  # type: ignore[no-any-return]
    return make(dot, known)  # type: ignore[no-any-return]


def _in_tuple(builder: Builder, dot: ir.Atom, known: AbstractValue) -> ir.Atom:
    """Each part of a tangent as a tuple of one."""
    return _by_leaf(builder, dot, known, lambda leaf, _: builder.call(ops.make_tuple, leaf))


def _is_plain(value: AbstractValue) -> bool:
    return isinstance(value, Array) and value.shape is not None and len(value.shape) > 0 and value.dtype.kind in "fc"


def _one(value: AbstractValue) -> ir.Const:
    kind = value.type if isinstance(value, Scalar) else float
    return ir.Const(kind(1.0)) if kind in (float, complex) else ir.Const(1.0)


def _check_real(joint: Joint, value: AbstractValue, what: str, mode: str) -> None:
    """Raise ArgumentError for complex numbers where nobody said that the function is holomorphic."""
    if dict(joint.request.options).get("holomorphic"):
        return
    for _, leaf in leaves(value):
        dtype = dtype_of(leaf)
        is_complex = isinstance(leaf, Scalar) and leaf.type is complex  # one of Python's has no dtype
        if is_complex or (dtype is not None and dtype.kind == "c"):
            raise error("S2S516", what=what, mode=mode, span=joint.primal.span)


__all__ = [
    "elementwise_gradient", "forward_jacobian", "reverse_jacobian", "sparsity", "with_many_cotangents",
    "with_many_tangents", "with_tangents",
]


MODES: dict[str, Mode] = {
    "jvp": with_tangents,
    "vector_jvp": with_many_tangents,
    "jacfwd": forward_jacobian,
    "value_and_jacfwd": forward_jacobian,
    "elementwise_grad": elementwise_gradient,
    "vector_vjp": with_many_cotangents,
    "sparsity": sparsity,
    "jacrev": reverse_jacobian,
    "value_and_jacrev": reverse_jacobian,
}
"""The modes that push tangents, or pull many cotangents."""
