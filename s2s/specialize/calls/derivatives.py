"""Derivatives that the program itself takes: a call of ``s2s.grad(f)``, ``s2s.vjp`` or ``s2s.jvp`` goes in, the
statements of the derivative come out in its place.

    def loss(w, lr):                                        def loss(w, lr):
        g = s2s.grad(energy)(w)             ->                  g = ...     the gradient of energy, written out
        return energy(w - lr * g)                               return ... (energy written out, too)

The function is specialised on parameters of its own, of the kinds of the arguments, and differentiated by the same
sweeps as any other (``Sweeps``). What it captures are free variables of the outcome: they are constants for this
derivative, whatever the one around it makes of them, so that perturbations cannot be confused. The outcome is a
function in SSA form like one that was lowered. It is specialised once more, in the place of the call: there it is part
of the program, and is differentiated as often as is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.public import model_of
from s2s.core.values import Array, Known, Unknown
from s2s.directives.decorated import options_of
from s2s.errors import error
from s2s.optimize.dead import drop_dead
from s2s.optimize.rewriting import free_variables
from s2s.runtime import repeated_calls
from s2s.specialize.calls import called_again
from s2s.specialize.calls.derivative_arguments import Choice, check_differentiable, name_in_errors, parameters
from s2s.specialize.calls.derivative_parts import Arguments, Fixed, Leaf, Node, Tree, inside, leaves_of, together
from s2s.specialize.calls.derivative_values import MAKERS, NOT_KNOWN, Asked, literal, make
from s2s.specialize.frames import Frame, place_of
from s2s.specialize.heap import iterators, making
from s2s.specialize.heap.variables import forget_assigned, is_variable
from s2s.specialize.ownership import shared_rebindings
from s2s.specialize.site import At, CallSite, Handler
from s2s.versions.request import Request

__all__ = ["HANDLERS", "Inner", "Sweeps", "apply", "refuse"]

Sweeps: TypeAlias = Callable[[Any, ir.Function, Any, Request], tuple[ir.Function, list[str]]]
"""What makes the derivative of a specialised function: the specialiser, the function, its augmented assignments and
what is asked for go in; the derivative and the names of the parameters that the function changes come out."""

# --- taking a derivative --------------------------------------------------------------------------------------------


@dataclass
class Inner:
    """The call of a function whose derivative is taken: its arguments by their parts. Where it ``is_unchanging`` it may
    change none of them."""

    at: At
    fn: ir.Atom
    args: list[Tree]
    kwargs: dict[str, Tree]
    free: tuple[ir.Var, ...] = ()
    is_unchanging: bool = False
    left: called_again.Left = field(default_factory=dict)
    changed: list[ir.Var] = field(default_factory=list)
    """The arrays that it has captured and changes, of a function that a solver calls."""

    @property
    def leaves(self) -> list[Leaf]:
        """All parts that are parameters."""
        return [leaf for tree in (*self.args, *self.kwargs.values()) for leaf in leaves_of(tree)]

    def derivative(self, asked: Asked) -> ir.Function:
        """The derivative as a function of the parameters, whose free variables are what the function captures."""
        self_, context = self.at.specializer, self.at.context
        wrt = tuple((leaf.var.name,) for leaf in self.leaves if leaf.wanted)
        outside = context.varied, context.heap, self_.rebound, dict(self_.reshaped), self_.trying, self_.catching
        try:
            context.varied = {leaf.var for leaf in self.leaves if leaf.wanted}
            with self_.holding.blocks_alone():
                primal = self.primal()
            self_.trying = self_.catching = 0
            request = asked.request(wrt, _options(self_.context, self.fn))
            with self_.holding.without():
                made, changed = self_.sweeps(self_, primal, self_.rebound, request)
            forget_assigned(context.heap, outside[1])
        finally:
            context.varied, context.heap, self_.rebound, self_.reshaped, self_.trying, self_.catching = outside
        called_again.hide(context, self.left)
        self.check_separate(made, changed)
        return made

    def primal(self) -> ir.Function:
        """The function on parameters of its own. One that a solver calls changes nothing that it has captured."""
        self_ = self.at.specializer
        if not self_.called_again:
            return self.specialized()
        primal, left = called_again.repeated(self_, self.specialized, self.at.span)
        self.left |= left
        return primal

    def specialized(self) -> ir.Function:
        """The function for what is known here. ``x += v`` is taken for ``x = x + v``, as everywhere; where others see
        the array change, it alone is specialised again: the call around it may only be tried out."""
        self_, before = self.at.specializer, self.at.context.heap
        while True:
            self_.context.heap, self_.rebound = before.copy(), []
            builder = self.at.builder.child()
            at = At(self.at.specializer, self.at.frame, builder, self.at.span)
            args = [inside(at, tree) for tree in self.args]
            kwargs: dict[str | None, ir.Atom] = {k: inside(at, tree) for k, tree in self.kwargs.items()}
            given = self_.context.heap.copy()
            result = at.apply_atom(self.fn, args, kwargs)
            result = builder.frozen(result)
            if not self_.called_again:
                self.check_unchanged(before, "S2S144")
            if self.is_unchanging:
                self.check_unchanged(given, "S2S122")
            params = tuple(ir.Param(leaf.var) for leaf in self.leaves)
            name = name_in_errors(self_.context, self.fn)
            whole = ir.Function(name, params, builder.block(result), span=self.at.span)
            primal = drop_dead(whole, self_.context)  # pullbacks that were written out share no memory
            changed: list[ir.Var] = []
            if self_.called_again:
                primal, changed = called_again.on_copies(self_, whole, primal, self.at.span)
            free = tuple(free_variables(primal))
            primal = ir.replace(primal, params=(*map(ir.Param, free), *params))
            shared = self.shared(whole, primal) - self_.context.assumed.in_place
            if not shared:
                if not self_.called_again:
                    self.check_captured(primal, free)
                self.free, self.changed = free, changed
                return called_again.checked_after(primal, self_)
            self_.context.assumed = self_.context.assumed.joined(in_place=shared)

    def shared(self, whole: ir.Function, primal: ir.Function) -> set[ir.Span | None]:
        """The augmented assignments that have to change the array itself. One whose result nothing reads is not in the
        primal any more; what it changes may still be read by another name."""
        rebound, context = self.at.specializer.rebound, self.at.context
        left = {var for s in ir.walk(primal.body) for var in ir.defs_of(s)}
        unread = [one for one in rebound if one[1] not in left]
        return shared_rebindings(primal, rebound, context) | shared_rebindings(whole, unread, context)

    def check_captured(self, primal: ir.Function, free: tuple[ir.Var, ...]) -> None:
        """Refuse a function that changes an array that it has captured."""
        if any(isinstance(s, ir.Store) for s in ir.walk(primal.body)):
            memory = Memory(primal, self.at.context.value, opaque=False)
            for var in filter(memory.is_buffer, free):
                raise error("S2S144", span=self.at.span, name=var.name.lstrip("%") or "an array")

    def check_unchanged(self, before: virtual_heap.Heap, code: str) -> None:
        """Refuse a function that changes a container or an object that was there before."""
        heap = self.at.context.heap
        for cell, state in heap.states.items():
            if is_variable(cell) and not virtual_heap.is_varied(self.at.context, cell):
                continue
            origin = None if cell.origin is None else cell.origin.state
            base = before.states.get(cell, origin)
            if base is not None and state is not base and state != base:
                raise error(code, span=cell.changed_at or self.at.span, name=cell.name)

    def check_separate(self, made: ir.Function, changed: list[str]) -> None:
        """An array that the function changes is given a copy of: where another argument shares memory with it, that
        would be seen to change, too. Refused when the program runs."""
        leaves = [leaf for leaf in self.leaves if isinstance(leaf.outer, ir.Var)]
        for leaf in leaves:
            if leaf.var.name in changed:
                known = self.at.context.value
                others = [a.outer for a in leaves if a is not leaf and isinstance(known(a.outer), (Array, Unknown))]
                others += [v for v in self.free if isinstance(known(v), (Array, Unknown))]
                given = [leaf.outer, *dict.fromkeys(others)]
                for other in given[1:]:
                    call = ir.Call(ir.Const(rt.check_apart), (given[0], other, ir.Const(leaf.var.name)))
                    self.at.builder.add(ir.Let(None, call, self.at.span))

    def run(self, made: ir.Function, given: list[ir.Atom]) -> ir.Atom:
        """Specialise a derivative in the place of the call, for these arguments."""
        env: dict[ir.Var, ir.Atom] = {var: var for var in made.captures}
        env |= {p.var: a for p, a in zip(made.params, [*self.free, *given], strict=True)}
        start = len(self.at.builder.statements)
        (result,) = self.at.specializer.run(made.body, self.frame(made, env), self.at.builder)
        called_again.note_entries(self.at.specializer, self.at.builder, start, self.changed)
        for var in self.changed if self.at.specializer.called_again else ():
            self.at.builder.add(called_again.end(var, self.at.span))
        return result

    def frame(self, made: ir.Function, env: dict[ir.Var, ir.Atom]) -> Frame:
        """The activation of a derivative."""
        at = self.at
        fn = self.at.specializer.function or at.frame.fn
        asked = (*at.frame.called_from, place_of(at.frame, at.span))
        return Frame(fn, None, env, asked, has_decided=True, **iterators.uses_of(made))

    def items(self, made: ir.Function, given: list[ir.Atom]) -> list[ir.Atom]:
        """The items of the tuple that a derivative gives."""
        found = self.at.items(self.run(made, given))
        assert found is not None
        return found


def _options(context: Context, fn: ir.Atom) -> tuple[tuple[str, Any], ...]:
    """The options of the function."""
    value = context.value(fn)
    f = value.value if isinstance(value, Known) else None
    return options_of(f)


def apply(at: At, asked: Asked, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A call of a gradient: its statements, and the atom of its result."""
    choice = Choice(at, asked.fn, list(args), dict(kwargs))
    wanted = [choice.key(a) for a in ((asked.argnums,) if asked.single else asked.argnums)]
    arguments = Arguments(at)
    names = [p.name for p in parameters(at.specializer, asked.fn) or () if p.positional]
    trees = [
        arguments.tree(a, names[k] if k < len(names) else "x", k in wanted) for k, a in enumerate(choice.args)
    ]
    named = {k: arguments.tree(a, k, k in wanted) for k, a in choice.kwargs.items()}
    chosen = [trees[k] if isinstance(k, int) else named[k] for k in wanted]
    for key, tree in zip(wanted, chosen, strict=True):
        check_differentiable(at, asked.fn, key, tree)
    if not asked.is_gradient and not all(isinstance(tree, Leaf) for tree in chosen):
        construct = "a Jacobian by a container or an object, inside a function,"
        raise at.refusal("S2S101", construct=construct, hint=_APART)
    inner = Inner(at, asked.fn, trees, named)
    made = inner.derivative(asked)
    outer = [leaf.outer for leaf in inner.leaves]
    if not asked.is_gradient:
        return inner.run(made, outer)
    items = inner.items(made, outer)
    gradients, rest = (items[0], items[1:]) if asked.mode == "grad" and asked.has_aux else (None, [])
    if asked.mode == "value_and_grad":
        rest, gradients = [items[0]], items[1]
    bars = items if gradients is None else at.items(gradients)
    assert bars is not None
    by_leaf = dict(zip((id(leaf) for leaf in inner.leaves if leaf.wanted), bars, strict=True))
    built = [_gradient(at, tree, by_leaf) for tree in chosen]
    result = built[0] if asked.single else making.new_list(at, built, tuple)
    if asked.mode == "value_and_grad":
        return making.new_list(at, (rest[0], result), tuple)
    return making.new_list(at, (result, *rest), tuple) if rest else result


_APART = "give its arrays as arguments of their own"


def _gradient(at: At, tree: Tree, bars: dict[int, ir.Atom]) -> ir.Atom:
    """The gradient of an argument, in its structure; None for what has none."""
    match tree:
        case Leaf():
            return bars.get(id(tree), ir.Const(None))
        case Fixed():
            return ir.Const(None)
        case Node(kind, keys, items):
            return together(at, kind, keys, [_gradient(at, item, bars) for item in items])


# --- vjp ------------------------------------------------------------------------------------------------------------


def take_vjp(site: CallSite, is_unchanging: bool = False) -> ir.Atom | None:
    """``s2s.vjp(f, *primals, has_aux=..., **kwargs)``: the result and the pullback, a nested function."""
    has_aux = literal(site, site.kwargs.get("has_aux", ir.Const(False)))
    if not site.args or has_aux is NOT_KNOWN:
        return None
    f, *primals = site.args
    named = {k: Fixed(a) for k, a in site.kwargs.items() if k != "has_aux"}
    arguments = Arguments(site)
    names = [p.name for p in parameters(site.specializer, f) or () if p.positional]
    trees = [arguments.tree(a, names[k] if k < len(names) else "x", True) for k, a in enumerate(primals)]
    inner = Inner(site, f, trees, dict(named), is_unchanging=is_unchanging)
    if not any(leaf.wanted for leaf in inner.leaves):
        raise site.refusal("S2S504", name=name_in_errors(site.context, f), argument="x",
                    kind="without floats", hint="give at least one float or array of floats by position")
    changes = "refused" if is_unchanging else "" if has_aux else "returned"
    made = inner.derivative(Asked("vjp", f, None, has_aux, changes=changes))
    out, pull, *aux = inner.items(made, [leaf.outer for leaf in inner.leaves])
    wanted = [leaf for leaf in inner.leaves if leaf.wanted]
    function = _pullback(name_in_errors(site.context, f), trees, {id(leaf): k for k, leaf in enumerate(wanted)})
    frame = inner.frame(made, {a: a for a in (pull, out) if isinstance(a, ir.Var)})
    checked = site.specializer.inliner.closure(function, (pull, out), (), frame, site.builder, site.span, "pullback")
    return making.new_list(site, (out, checked, *aux), tuple)


def _pullback(name: str, trees: list[Tree], places: dict[int, int]) -> ir.Function:
    """The function of a cotangent that gives those of the positional arguments, by the pullback of their parts."""
    statements: list[ir.Statement] = []

    def let(fn: Any, *args: ir.Atom) -> ir.Var:
        var = ir.Var("%", len(statements))
        statements.append(ir.Let(var, ir.Call(ir.Const(fn) if not isinstance(fn, ir.Var) else fn, args)))
        return var

    def bar(tree: Tree) -> ir.Atom:
        match tree:
            case Leaf():
                return let(operator.getitem, bars, ir.Const(places[id(tree)])) if id(tree) in places else ir.Const(None)
            case Fixed():
                return ir.Const(None)
            case Node(kind, keys, items):
                made = [bar(item) for item in items]
                if kind in (tuple, list):
                    return let(ops.make_tuple if kind is tuple else ops.make_list, *made)
                flat = [a for key, item in zip(keys, made, strict=True) for a in (ir.Const(key), item)]
                if issubclass(kind, dict):
                    return let(ops.make_dict, *flat)
                return let(kind, *made) if issubclass(kind, tuple) else let(rt.make_object, ir.Const(kind), *flat)

    cotangent, pull, out = ir.Var("cotangent"), ir.Var("pull"), ir.Var("out")
    bars = let(pull, let(rt.fit_cotangent, cotangent, out, ir.Const(name)))
    given = [bar(t) if any(id(leaf) in places for leaf in leaves_of(t)) else ir.Const(None) for t in trees]
    result = let(ops.make_tuple, *given)
    return ir.Function("pullback", (ir.Param(cotangent),), ir.Block(tuple(statements), (result,)), (pull, out))


# --- jvp ------------------------------------------------------------------------------------------------------------


def take_jvp(site: CallSite, is_unchanging: bool = False) -> ir.Atom | None:
    """``s2s.jvp(f, primals, tangents, has_aux=..., **kwargs)``: the result and its tangent."""
    given = dict(zip(("f", "primals", "tangents", "has_aux"), site.args, strict=False)) | site.kwargs
    has_aux = literal(site, given.pop("has_aux", ir.Const(False)))
    if not {"f", "primals", "tangents"} <= given.keys() or has_aux is NOT_KNOWN:
        return None
    f = given.pop("f")
    primals, dots = (site.items(given.pop(k)) for k in ("primals", "tangents"))
    if primals is None or dots is None or len(primals) != len(dots):
        return None
    arguments = Arguments(site)
    names = [p.name for p in parameters(site.specializer, f) or () if p.positional]
    trees = [
        arguments.tree(a, names[k] if k < len(names) else "x", site.value(dot) != Known(ir.Const(None)))
        for k, (a, dot) in enumerate(zip(primals, dots, strict=True))
    ]
    for k, (tree, dot) in enumerate(zip(trees, dots, strict=True)):
        _give_tangent(site, f, names[k] if k < len(names) else "x", tree, dot)
    inner = Inner(site, f, trees, {k: Fixed(a) for k, a in given.items()}, is_unchanging=is_unchanging)
    moved = [leaf for leaf in inner.leaves if leaf.wanted]
    if not moved:
        out = site.apply_atom(f, primals, dict(given))
        value, *aux = (site.items(out) or [out]) if has_aux else [out]
        zero = site.compute(rt.zeros_of, value)
        return making.new_list(site, (value, zero, *aux), tuple)
    made = inner.derivative(Asked("jvp", f, None, has_aux, changes="refused" if is_unchanging else ""))
    tangents = [leaf.dot for leaf in moved if leaf.dot is not None]
    return inner.run(made, [*(leaf.outer for leaf in inner.leaves), *tangents])


def _give_tangent(at: At, fn: ir.Atom, name: str, tree: Tree, dot: ir.Atom) -> None:
    """Note the tangents of the parts of an argument; what has none does not move."""
    if at.value(dot) == Known(ir.Const(None)):
        for leaf in leaves_of(tree):
            leaf.wanted = False
        return
    match tree:
        case Leaf():
            given = [dot, tree.outer, ir.Const(f"an argument of {name_in_errors(at.context, fn)}")]
            tree.dot = at.apply_atom(ir.Const(rt.fit_tangent), given, {})
        case Node(keys=keys, items=items):
            for key, item in zip(keys, items, strict=True):
                read: Any = getattr if not issubclass(tree.kind, (tuple, list, dict)) else operator.getitem
                part = at.apply(read, dot, ir.Const(key))
                _give_tangent(at, fn, name, item, part)
        case Fixed(atom):
            known, constant = at.value(dot), at.value(atom)
            is_zero = isinstance(known, Known) and (known.value is None or known.value == 0)
            is_number = not isinstance(constant, Known) or isinstance(constant.value, int)
            if is_number and not is_zero:
                raise at.refusal("S2S503", name=name_in_errors(at.context, fn), argument=name,
                            hint="give None as the tangent of what is no float")


# --- calls that are decided when the program runs ------------------------------------------------------------------


def _unchanging(take: Callable[..., ir.Atom | None]) -> Handler:
    """The derivative of a call that is made again, which is known in the version for that call."""

    def taken(site: CallSite) -> ir.Atom:
        made = take(site, is_unchanging=True)
        if made is None:
            raise site.refusal("S2S210", name="a pullback that is called")
        return made

    return taken


# --- what the specialiser asks for ----------------------------------------------------------------------------------


def _followed(site: CallSite) -> ir.Atom | None:
    """What is written in terms of other transforms is followed."""
    return site.inline(model_of(site.fn), site.args, site.kwargs)


HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(MAKERS, make), "vjp": take_vjp, "jvp": take_jvp,
    **dict.fromkeys(("hessian", "hvp", "vhp", "linearize", "map"), _followed),
    repeated_calls.vjp_of_unchanging: _unchanging(take_vjp),
    repeated_calls.tangent_of_unchanging: _unchanging(take_jvp),
}
"""What stands for a call of a public function, by its role, that takes a derivative, or makes a function that does; and
for those of generated code."""


def refuse(*_: Any) -> Any:
    """The sweeps of a specialiser that has none: of rules, whose bodies take no derivatives."""
    raise AssertionError("a rule takes no derivative")
