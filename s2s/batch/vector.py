"""Vector forward mode: a function with one tangent for each input -> the same with many, side by side.

    y_dot = np.cos(x) * x_dot       ->      y_dot = np.cos(x)[..., None] * x_dot
    u_dot[1:] = A @ y_dot                   u_dot[1:] = A @ y_dot
    s_dot = np.sum(u_dot)                   s_dot = np.sum(u_dot, axis=0)

Every tangent gets one more dimension, its last, with one entry for each direction: so reads and stores by index stay
what they are. What the function computes without tangents stays as it is. A tangent is a linear function of those
before it, so no branch depends on one; where an operation has no form for many directions it runs once for each
(``directions.each``). Raises NotVector where a tangent goes where it cannot be followed.
"""

from __future__ import annotations

import operator
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, is_number, shape_of
from s2s.analysis.functions import facts
from s2s.analysis.memory import shared_with
from s2s.analysis.unassigned import find_unassigned
from s2s.batch.vector_rules import FORMS, Given, NotVector, Shape, extended, with_dimension
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.dataflow import along, reachable
from s2s.core.inspection import is_hashable, public_module
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, ListOf, Mapping, Scalar, Sequence
from s2s.rules import table
from s2s.runtime import directions


class Vectorizer:
    """Rewrites the statements of a function with tangents. ``count`` is the atom with the number of directions;
    ``owned`` are the tangents that are changed in place, and others that have directions from where they are made;
    ``unassigned`` the variables that have no value on some path."""

    def __init__(self, context: Context, count: ir.Atom, owned: set[ir.Atom]) -> None:
        self.context = context
        self.count = count
        self.owned = owned
        self.builder = Builder(context)
        self.changing: set[ir.Atom] = set()
        self.unassigned: set[ir.Atom] = set()
        self.env: dict[ir.Atom, tuple[ir.Atom, Shape]] = {}

    @staticmethod
    def counted(builder: Builder, dot: ir.Atom) -> ir.Atom:
        """The number of directions, of a tangent that has them."""
        if not isinstance(builder.context.value(dot), Array):
            return builder.call(directions.count, dot, name="n_directions")
        shape = builder.call(getattr, dot, ir.Const("shape"))
        return builder.call(operator.getitem, shape, ir.Const(-1), name="n_directions")

    # --- atoms

    def shape(self, atom: Any) -> Shape:
        """Which parts of an atom have directions."""
        return self.env[atom][1] if atom in self.env else False

    def new(self, atom: Any) -> Any:
        """An atom with directions where it has them; else the same."""
        return self.env[atom][0] if atom in self.env else atom

    def whole(self, atom: ir.Atom) -> ir.Atom:
        """An atom with directions in all of its parts."""
        return self.spread(self.new(atom), self.shape(atom), self.context.value(atom))

    def joining(self, atom: ir.Atom) -> ir.Atom:
        """An atom with directions as it goes into a join of paths. One that has no value on some path cannot be given
        them here."""
        if atom == ir.UNDEFINED:
            return atom
        if atom in self.unassigned and atom not in self.env and atom not in self.owned:
            raise Lift(atom)
        return self.whole(atom)

    def spread(self, atom: ir.Atom, shape: Shape, value: AbstractValue) -> ir.Atom:
        """Directions in the parts that have none: the same in each."""
        if shape is True:
            return atom
        if shape is False:
            return self.lifted(atom)
        assert isinstance(value, (Sequence, Mapping))
        keys = value.keys if isinstance(value, Mapping) else range(len(value.items))
        made = [
            self.spread(self.builder.call(operator.getitem, atom, ir.Const(k)), s, v)
            for k, s, v in zip(keys, shape, value.items, strict=True)
        ]
        if isinstance(value, Mapping):
            flat = [a for k, item in zip(keys, made, strict=True) for a in (ir.Const(k), item)]
            return self.builder.call(ops.make_dict, *flat)
        if value.type in (tuple, list):
            return self.builder.call(ops.make_tuple if value.type is tuple else ops.make_list, *made)
        return self.builder.let(ir.Call(ir.Const(value.type), tuple(made)), UNKNOWN)

    def lifted(self, atom: ir.Atom) -> ir.Atom:
        """A value of its own for each direction, the same in all."""
        if isinstance(atom, ir.Const) and atom.value == 0.0:
            return self.builder.call(np.zeros, self.count)
        like = self.context.definition(atom, np.zeros_like)
        if like is not None and len(like) == 1 and isinstance(self.context.value(like[0]), Array):
            kind = self.builder.call(getattr, like[0], ir.Const("dtype"))
            return self.builder.call(np.zeros, extended(self, like[0]), kind)
        laid = self.context.definition(atom, rt.copy_in_memory)
        if laid is not None and len(laid) == 2:
            return self.builder.call(directions.copy_in_memory, self.lifted(laid[0]), laid[1])
        return self.builder.call(directions.lift, atom, self.count)

    def beside(self, atom: ir.Atom) -> ir.Atom:
        """A value without directions, so that it is broadcast along them."""
        value = self.context.value(atom)
        if is_number(value) or shape_of(value) == ():
            return atom
        if isinstance(value, Array):
            return self.builder.call(operator.getitem, atom, ir.Const((Ellipsis, None)))
        return self.builder.call(directions.beside, atom)

    def set(self, target: ir.Var, made: ir.Atom, shape: Shape = True) -> None:
        """What a variable becomes."""
        if isinstance(made, ir.Var) and self.context.name_of(target) != "%":
            named = self.context.renamed(self.builder, made, self.context.name_of(target))
            made = named
        self.env[target] = made, shape

    # --- statements

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            self.statement(s)

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(target, value, span):
                self.let(s, target, value, span)
            case ir.Store():
                self.store(s)
            case ir.If():
                self.branch(s)
            case ir.For() | ir.While():
                self.loop(s)
            case ir.With():
                (body,) = self.inside(ir.blocks_of(s))
                self.builder.add(ir.with_blocks(s, [body]))
            case ir.Try():
                self.attempt(s)
            case ir.Assert(test, problem):
                (made,) = self.inside((problem,))
                if test in self.env or problem.yields[0] in self.env:
                    raise NotVector
                self.builder.add(ir.Assert(test, made, s.span))
            case ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                if any(a in self.env for a in ir.reads_of(s)):
                    raise NotVector
                self.builder.add(s)
            case _:
                assert_never(s)

    def let(self, s: ir.Let, target: ir.Var | None, value: ir.Value, span: ir.Span | None) -> None:
        if not any(a in self.env for a in ir.atoms_of(value)):
            self.builder.add(s)
            if target is not None and target in self.owned:
                self.set(target, self.lifted(target))
            return
        if isinstance(value, ir.Var):
            assert target is not None
            self.env[target] = self.env[value]
            return
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or target is None:
            raise NotVector
        if any(isinstance(a, ir.Star) for a in value.args) or any(k is None for k, _ in value.kwargs):
            raise NotVector
        before = len(self.builder.statements)
        self.call(target, value.fn.value, value.args, dict(value.kwargs))  # type: ignore[arg-type]
        self.builder.statements[before:] = [
            ir.replace(made, span=span) if isinstance(made, ir.Let) else made
            for made in self.builder.statements[before:]
        ]

    def store(self, s: ir.Store) -> None:
        if not any(a in self.env for a in (s.target, s.key, s.value)):
            self.builder.add(s)
            return
        if s.target not in self.env:
            self.lift(s.target)
        if s.key in self.env or s.kind == "opaque":
            raise NotVector
        key = s.key if s.kind == "whole" else self.index(s.key)
        value = self.new(s.value) if self.shape(s.value) is True else self.beside(s.value)
        if self.shape(s.value) not in (True, False):
            value = self.builder.call(np.array, self.whole(s.value))
        self.builder.add(ir.replace(s, target=self.new(s.target), key=key, value=value))

    def lift(self, target: ir.Atom) -> None:
        """Begin again with directions in the array that this is, or is a view of. Raises NotVector."""
        while isinstance(target, ir.Var) and target not in self.owned:
            made = self.context.definitions.get(target)
            if made is None:
                break
            sources = shared_with(made, self.context.value(target), self.context.value)
            if not sources:
                raise Lift(target)
            target = next(iter(sources))
        raise NotVector

    def index(self, key: ir.Atom) -> ir.Atom:
        """An index that leaves the directions alone."""
        parts = self.context.definition(key, ops.make_tuple)
        known = self.context.value(key)
        if isinstance(key, ir.Const):
            return ir.Const(directions.index(key.value))
        if parts is not None and not any(isinstance(p, ir.Star) for p in parts):
            if ir.Const(Ellipsis) not in parts:
                return key
            return self.builder.call(ops.make_tuple, *parts, ir.Const(slice(None)))
        if isinstance(known, (Scalar, Array)) or (isinstance(known, Sequence) and known.type in (slice, list)):
            return key
        if isinstance(known, Known) and type(known.value) is slice:
            return key
        return self.builder.call(directions.index, key)

    # --- control flow

    def inside(self, blocks: tuple[ir.Block, ...]) -> list[ir.Block]:
        made = []
        for block in blocks:
            outer, self.builder = self.builder, self.builder.child()
            self.block(block)
            made.append(self.builder.block(*block.yields))
            self.builder = outer
        return made

    def branch(self, s: ir.If) -> None:
        if s.test in self.env:
            raise NotVector
        self.sides(s, ir.blocks_of(s), [0, 1])

    def attempt(self, s: ir.Try) -> None:
        blocks = ir.blocks_of(s)
        sides = ir.sides_of(s)
        self.sides(s, blocks, [k for k, block in enumerate(blocks) if any(block is side for side in sides)])

    def sides(self, s: ir.If | ir.Try, blocks: tuple[ir.Block, ...], giving: list[int]) -> None:
        """Blocks of which one gives the results: a result has directions where it has on some side."""
        builders = []
        for block in blocks:
            outer, self.builder = self.builder, self.builder.child()
            self.block(block)
            builders.append(self.builder)
            self.builder = outer
        results, yields = list(s.results), [list(block.yields) for block in blocks]
        for k, result in enumerate(s.results):
            given = [blocks[side].yields[k] for side in giving]
            if result not in self.owned and not any(a in self.env for a in given):
                continue
            results[k] = self.again(result)
            for side in giving:
                outer, self.builder = self.builder, builders[side]
                yields[side][k] = self.joining(blocks[side].yields[k])
                self.builder = outer
        made = [b.block(*y) for b, y in zip(builders, yields, strict=True)]
        self.builder.add(ir.replace(ir.with_blocks(s, made), results=tuple(results)))

    def again(self, var: ir.Var) -> ir.Var:
        """A variable with directions for one that has none; of what it holds only the kind is known."""
        made = self.context.define(var.name, with_dimension(self.context.value(var)))
        if var in self.context.names:
            self.context.names[made] = self.context.names[var]
        if var in self.context.changed:
            self.context.changed.add(made)
        self.env[var] = made, True
        return made

    def loop(self, s: ir.For | ir.While) -> None:
        """A loop: a carried variable has directions where it has at the start, or after some iteration."""
        if isinstance(s, ir.For) and s.iterable in self.env:
            raise NotVector
        moving = {
            k for k, c in enumerate(s.carried)
            if c.init in self.env or not self.owned.isdisjoint((c.init, c.param, c.result))
        }
        while True:
            env, outer = dict(self.env), self.builder
            self.builder = outer.child()
            again = {k: self.again(s.carried[k].param) for k in sorted(moving)}
            body = self.builder.child()
            inner, self.builder = self.builder, body
            if isinstance(s, ir.While):
                self.check_still(s.test)
            self.block(s.body)
            more = {k for k, a in enumerate(s.body.yields) if a in self.env} - moving
            if s.leave is not None and s.leave in self.env:
                raise NotVector
            if not more:
                break
            moving |= more
            self.env, self.builder = env, outer
        yields = [self.joining(a) if k in moving else a for k, a in enumerate(s.body.yields)]
        made = body.block(*yields)
        self.builder = outer
        carried = list(s.carried)
        counting = _counting(outer.statements, s)
        for k, param in again.items():
            c = s.carried[k]
            carried[k] = ir.Carried(param, self.joining(c.init), self.again(c.result))
        outer.statements += counting
        outer.statements += inner.statements
        outer.add(ir.replace(s, body=made, carried=tuple(carried)))

    def check_still(self, block: ir.Block) -> None:
        if any(a in self.env for s in block.statements for a in ir.reads_of(s)):
            raise NotVector

    # --- calls

    def call(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]) -> None:
        """What the result of a call becomes: by a form of its function, element by element, or once for each
        direction."""
        form = FORMS.get(fn) if is_hashable(fn) else None
        made: Any = NotImplemented
        if form is not None:
            try:
                made = form(Given(self, fn, args, kwargs, self.context.value(target)))
            except NotVector:
                pass
        elif facts(fn).elementwise and not kwargs:
            made = self.elementwise(fn, args, self.context.value(target))
        if made is NotImplemented:
            if not self.changing.isdisjoint((target, *args)) and not self.is_apart(target, fn, args, kwargs):
                raise NotVector  # the result is a view, and what is joined of single ones is none
            made = self.each(fn, args, kwargs)
        atom, shape = made if isinstance(made, tuple) else (made, True)
        if shape is True and self.is_apart(target, fn, args, kwargs) and self.may_share(atom, target, args):
            atom = self.builder.call(np.copy, atom)
        if shape is False:
            self.builder.add(ir.Let(target, atom))
        elif shape is True:
            self.set(target, atom)
        else:
            self.env[target] = atom, shape

    def is_apart(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]) -> bool:
        """Whether the result of a call certainly has memory of its own, while it or an argument changes. An element,
        for instance: it is a number, but its directions are a view of the array."""
        if self.changing.isdisjoint((target, *args)):
            return False
        call = ir.Call(ir.Const(fn), args, tuple(kwargs.items()))
        return not shared_with(call, self.context.value(target), self.context.value)

    def may_share(self, made: ir.Atom, target: ir.Var, args: tuple[ir.Atom, ...]) -> bool:
        """Whether what was made of arguments may share memory with one of them, where that or the result changes."""
        changing = {self.new(a) for a in args if a in self.changing or target in self.changing}
        todo, seen = [made], set[ir.Atom]()
        while todo:
            atom = todo.pop()
            if atom in changing:
                return True
            definition = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
            if definition is not None and atom not in seen:
                seen.add(atom)
                todo += shared_with(definition, self.context.value(atom), self.context.value)
        return False

    def elementwise(self, fn: Any, args: tuple[ir.Atom, ...], known: AbstractValue) -> ir.Atom:
        """A function of elements: what has no directions is broadcast along them."""
        if any(self.shape(arg) not in (True, False) for arg in args):
            raise NotVector
        made = self.builder.call(fn, *(self.new(arg) if arg in self.env else self.beside(arg) for arg in args))
        return self.in_dtype(made, known)

    def in_dtype(self, made: ir.Atom, known: AbstractValue) -> ir.Atom:
        """A result in the dtype that is known: a float for each direction is an array, and no Python float, which would
        take the dtype of what it meets."""
        have, want = dtype_of(self.context.value(made)), dtype_of(known)
        if have is None or want is None or have == want or want.kind not in "fc":
            return made
        return self.builder.call(np.ndarray.astype, made, ir.Const(want))

    def each(self, fn: Any, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]) -> ir.Atom:
        """A function that has rules, once for each direction."""
        module = public_module(fn)
        if module in (rt.__name__, ops.__name__, directions.__name__) or (
            table.find(fn) is None and not module.startswith(("s2s.rules", "numpy", "scipy"))
        ):
            raise NotVector
        if any(isinstance(self.context.value(a), ListOf) for a in (*args, *kwargs.values())):
            raise NotVector  # its items may be numbers that have no directions, as the zeros of a list of cotangents
        places = (*(k for k, a in enumerate(args) if a in self.env), *(k for k, a in kwargs.items() if a in self.env))
        given = [self.whole(a) if a in self.env else a for a in args]
        named = tuple((k, self.whole(a) if a in self.env else a) for k, a in kwargs.items())
        made = ir.Call(ir.Const(directions.each), (ir.Const(fn), ir.Const(places), *given), named)
        return self.builder.let(made, UNKNOWN)


class Lift(Exception):
    """An array that tangents are stored into has to have directions from the start, and so has a tangent that some path
    leaves without a value."""


def vectorize(
    context: Context, builder: Builder, statements: list[ir.Statement], results: list[ir.Atom], params: list[ir.Var],
    dots: list[Any], owned: set[ir.Atom], kind: type[Vectorizer] = Vectorizer,
) -> list[ir.Atom]:
    """Write the statements with many tangents, given as ``dots``, in the place of one for each of ``params``; the
    results, with directions. Raises NotVector."""
    count = kind.counted(builder, dots[0])
    unassigned = find_unassigned(ir.Block(tuple(statements)))
    while True:
        made = kind(context, count, owned)
        made.builder = builder.child()
        made.env |= {param: (dot, True) for param, dot in zip(params, dots, strict=True)}
        made.changing = _changing(statements, context)
        made.unassigned = unassigned
        try:
            for s in statements:
                made.statement(s)
        except Lift as found:
            owned = {*owned, found.args[0]}
            continue
        whole = [made.whole(result) for result in results]
        builder.take(made.builder)
        return whole


def _changing(statements: list[ir.Statement], context: Context) -> set[ir.Atom]:
    """The variables that may share memory with an array that is changed in place."""
    links: list[tuple[ir.Atom, ir.Atom]] = []
    changed: list[ir.Atom] = []
    for s in ir.walk(ir.Block(tuple(statements))):
        if isinstance(s, ir.Let) and s.target is not None:
            links += [(s.target, a) for a in shared_with(s.value, context.value(s.target), context.value)]
        elif isinstance(s, ir.Store):
            changed.append(s.target)
        for targets, sources in ir.joins_of(s):
            links += [(target, a) for target in targets for a in sources if isinstance(a, ir.Var)]
    return reachable(changed, along((*links, *((a, t) for t, a in links))))


def _counting(statements: list[ir.Statement], s: ir.For | ir.While) -> list[ir.Statement]:
    """The statement that makes what a loop counts over, taken out: it goes beside the loop."""
    for k, made in enumerate(statements):
        if isinstance(s, ir.For) and isinstance(made, ir.Let) and made.target == s.iterable and (
            isinstance(made.value, ir.Call) and made.value.fn in (ir.Const(range), ir.Const(reversed))
        ):
            later = ir.walk(ir.Block(tuple(statements[k + 1 :])))
            return [] if any(made.target in tuple(ir.reads_of(other)) for other in later) else [statements.pop(k)]
    return []


def with_directions(context: Context, param: ir.Var) -> ir.Var:
    """A parameter for many tangents in the place of one."""
    return context.define(param.name, with_dimension(context.value(param)))
