"""Ownership: where ``x += v`` on an array is the same as ``x = x + v``.

It changes the array, whoever refers to it. It is taken for a new array where it is proved that nobody can see the
difference: the array was made by this function, nothing that may refer to it (another name, a view, a container, a
closure) is read afterwards, and no function that is not known was given it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator
from typing import assert_never

from s2s import runtime as rt
from s2s.analysis import layout
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts, makes_new
from s2s.analysis.liveness import Liveness
from s2s.analysis.memory import Memory, changed_by, shared_with
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, has_memory, module_of_arrays
from s2s.core.dataflow import reachable
from s2s.core.values import Array, ListOf, Sequence, Unknown
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.inplace import is_harmless

Rebound = list[tuple[ir.Var, ir.Var, ir.Span | None]]
"""For each augmented assignment the variable before it, the one after it, and where it stands."""


def shared_rebindings(function: ir.Function, rebound: Rebound, context: Context) -> set[ir.Span | None]:
    """The augmented assignments to arrays that another name, a container or the caller may refer to, or that other
    statements store into: they have to change the array itself.

    Arrays without memory are never changed by one: raises UnsupportedSyntaxError where it would show on NumPy."""
    arrays = [(old, new, span) for old, new, span in rebound if isinstance(context.value(old), Array)]
    if not arrays:
        return set()
    owners = _Owners(function, rebound, context)
    if not has_memory(compiled_for()):
        for old, new, span in arrays:
            if owners.is_there(new) and not owners.is_own(old, new):
                module, name = module_of_arrays(compiled_for()), new.name.lstrip("%")
                raise error(
                    "S2S146", span=span, name=name, module=getattr(module, "__name__", ""),
                    problem="another name of it is read later, which sees the change on NumPy alone",
                    hint=f"write `{name} = {name} + ...`, which is a new array on both",
                )
        return set()
    return {span for old, new, span in arrays if owners.is_there(new) and not owners.is_own(old, new)}


def check_rebinding(function: ir.Function, rebound: Rebound, context: Context) -> ir.Function:
    """Refuse an augmented assignment to a list that another name, a container or the caller may refer to.

    Where the kind of the value is not known, ``rt.check_own`` tests it when the program runs; the function given back
    is without the tests that are not needed.
    """
    if not rebound:
        return function
    owners = _Owners(function, rebound, context)
    own: set[ir.Atom] = set()
    for old, new, span in rebound:
        if not owners.is_there(new) or is_number(context.value(old)):
            continue
        if owners.is_own(old, new):
            own.add(old)
        elif not isinstance(context.value(old), Unknown):
            raise error(
                "S2S117", span=span, name=new.name.lstrip("%"),
                label="another name may refer to this array",
                hint=f"write `{new.name} = {new.name} + ...`, which makes a new array",
            )
    return ir.replace(function, body=_without_tests(function.body, own))


_TEST = ir.Const(rt.check_own)


def _without_tests(block: ir.Block, own: set[ir.Atom]) -> ir.Block:
    made = []
    for s in block.statements:
        match s:
            case ir.Let(None, ir.Call(fn, args)) if fn == _TEST and args[0] in own:
                continue
        made.append(ir.with_blocks(s, (_without_tests(inner, own) for inner in ir.blocks_of(s))))
    return ir.Block(tuple(made), block.yields)


class _Owners:
    """Who may refer to the objects of a function, and until when."""

    def __init__(self, function: ir.Function, rebound: Rebound, context: Context) -> None:
        self.context = context
        self.memory = Memory(function, context.value, opaque=False)
        self.function = function
        self.places = {var: id(s) for s in ir.walk(function.body) for var in ir.defs_of(s)}
        self.shows_layout = layout.shows(function, self.memory)
        self.rebound = {new for _, new, _ in rebound}
        self.sources: dict[ir.Var, list[ir.Var]] = {}
        """What the value of a variable may be, or refer to."""
        self.joined: dict[ir.Var, list[ir.Atom]] = {}
        self.handed_over: set[ir.Var] = set()
        """What a function that is not known was given, or a container from outside was made to hold."""
        for s in ir.walk(function.body):
            self._note(s)

    def is_there(self, var: ir.Var) -> bool:
        """Whether the function defines a variable: what was only tried out is not there."""
        return var in self.places

    def is_own(self, old: ir.Var, new: ir.Var) -> bool:
        """Whether nothing but the assignment that gives ``new`` sees the object ``old`` change."""
        is_array = isinstance(self.context.value(old), (Array, Unknown))
        if is_array and not has_memory(compiled_for()):
            return not self.is_seen(old, new)
        if is_array and (self.memory.is_buffer(old) or self.memory.is_buffer(new)):
            return False
        objects = self._objects(old)
        if not all(map(self._is_made_here, objects)) or not self._keeps_layout(old, objects):
            return False
        return not self.is_seen(old, new)

    def is_seen(self, old: ir.Var, new: ir.Var) -> bool:
        """Whether something but the assignment that gives ``new`` may see the object ``old`` change."""
        is_array = isinstance(self.context.value(old), (Array, Unknown))
        referring = {*self._referring_to(self._objects(old), is_array)} - {new}
        if isinstance(self.context.value(old), Unknown):
            referring -= self._joined_after(new)
        is_read = self.live.after[self.places[new]] & self.live.bits(referring)
        return bool(is_read) or not referring.isdisjoint(self.handed_over)

    def _joined_after(self, new: ir.Var) -> set[ir.Var]:
        """The variables that hold what an assignment gives on each path on which it runs: what the branches and loops
        around it join of it, as ``total`` does after ``if c: total += v``."""
        held = {new}
        around, block = self.around[self.places[new]]
        while around is not None:
            if isinstance(around, ir.If):
                held |= {r for r, given in zip(around.results, block.yields, strict=True) if given in held}
            elif isinstance(around, (ir.For, ir.While)) and block is around.body:
                held |= {c.result for c, given in zip(around.carried, block.yields, strict=True) if given in held}
            else:  # an exception may leave it for another path, and a test gives nothing on
                break
            around, block = self.around[id(around)]
        return held

    @functools.cached_property
    def around(self) -> dict[int, tuple[ir.Statement | None, ir.Block]]:
        """For each statement, by its ``id``, the one around it, and the block of that in which it stands."""
        found: dict[int, tuple[ir.Statement | None, ir.Block]] = {}

        def enter(block: ir.Block, around: ir.Statement | None) -> None:
            for s in block.statements:
                found[id(s)] = around, block
                for inner in ir.blocks_of(s):
                    enter(inner, s)

        enter(self.function.body, None)
        return found

    def _keeps_layout(self, old: ir.Var, objects: set[ir.Var]) -> bool:
        """Whether a new array lies in memory as the old one does, where the function can tell: one in C order does."""
        known = self.context.value(old)
        if not self.shows_layout or (isinstance(known, Array) and known.shape is not None and len(known.shape) < 2):
            return True
        made_otherwise = objects - self.joined.keys() - self.rebound
        return all(self.memory.is_contiguous(var) or is_number(self.context.value(var)) for var in made_otherwise)

    # --- reading the function

    @functools.cached_property
    def live(self) -> Liveness:
        """When what is no number is read."""
        everything = (var for s in ir.walk(self.function.body) for var in (*ir.defs_of(s), *ir.inner_defs_of(s)))
        variables = dict.fromkeys((*(p.var for p in self.function.params), *everything))
        return Liveness(self.function, (var for var in variables if not is_number(self.context.value(var))))

    def _note(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(target, value):
                if target is not None:
                    self.sources[target] = shared_with(value, self.context.value(target), self.context.value)
                if _may_keep(value):
                    self.handed_over.update(a for a in ir.atoms_of(value) if isinstance(a, ir.Var))
                into = value.args[0] if isinstance(value, ir.Call) and value.fn == _PUSH else changed_by(s)
                if into is not None and facts(value.fn.value).holds:  # type: ignore[union-attr]
                    self._put_into(into, *value.args[1:])  # type: ignore[arg-type, union-attr]
            case ir.Store(_, target, _, value) if not isinstance(self.context.value(target), Array):
                self._put_into(target, value)
            case ir.If() | ir.Try() | ir.For() | ir.While():
                self.joined |= {target: list(given) for targets, given in ir.joins_of(s) for target in targets}
            case (
                ir.Store() | ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() |
                ir.Note()
            ):
                pass
            case _:
                assert_never(s)

    def _put_into(self, container: ir.Atom, *items: ir.Atom) -> None:
        """A container takes something in: one from outside may be looked at by anybody."""
        given = [a for a in items if isinstance(a, ir.Var)]
        if not isinstance(container, ir.Var):
            self.handed_over.update(given)
            return
        for var in self._objects(container):
            self.sources.setdefault(var, []).extend(given)
            if not self._is_made_here(var):
                self.handed_over.update(given)

    # --- objects

    def _objects(self, var: ir.Var) -> set[ir.Var]:
        """The variable and those that it may be through branches and loops."""
        return reachable({var}, self._same)

    def _same(self, var: ir.Var) -> list[ir.Var]:
        made = self.memory.made.get(var)
        return [made] if isinstance(made, ir.Var) else [a for a in self.joined.get(var, ()) if isinstance(a, ir.Var)]

    def _is_made_here(self, var: ir.Var) -> bool:
        """Whether a variable is an object that this function makes, or a join of such."""
        if var in self.joined or is_number(self.context.value(var)):
            return True
        value = self.memory.made.get(var)
        if isinstance(value, ir.Var):
            return True
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
            return False
        if value.fn in _DISPLAYS:
            return True
        return makes_new(value)

    def _referring_to(self, objects: set[ir.Var], is_array: bool) -> Iterator[ir.Var]:
        """The variables that may be one of some objects, or hold one, or share its memory. Of lists only themselves:
        what is made of a list is another one."""
        users: dict[ir.Atom, list[ir.Var]] = {}
        links: list[tuple[ir.Var, Iterable[ir.Atom]]] = [*self.joined.items(), *self.sources.items()]
        for var, others in links:
            if is_array or var in self.joined or not self._is_new_list(var):
                for other in others:
                    users.setdefault(other, []).append(var)
        seen, todo = set(objects), [*objects]
        while todo:
            var = todo.pop()
            yield var
            following = [user for user in users.get(var, ()) if user not in seen]
            seen.update(following)
            todo += following

    def _is_new_list(self, var: ir.Var) -> bool:
        known, value = self.context.value(var), self.memory.made.get(var)
        return isinstance(known, (ListOf, Sequence)) and isinstance(value, ir.Call) and (
            value.fn in _DISPLAYS or value.fn in _NEW_LISTS
        )


_DISPLAYS = tuple(
    map(ir.Const, (ops.make_list, ops.make_tuple, ops.make_dict, ops.make_set, ops.make_stack, ops.copy_stack))
)
_NEW_LISTS = tuple(map(ir.Const, (ops.append, operator.add, operator.mul, list, sorted, tuple)))


_PUSH = ir.Const(ops.push)


def _may_keep(value: ir.Value) -> bool:
    """Whether a call may keep what it is given where nobody sees it."""
    if not isinstance(value, ir.Call):
        return False
    if not isinstance(value.fn, ir.Const):
        return True
    fn = value.fn.value
    return table.find(fn) is None and not is_harmless(fn)
