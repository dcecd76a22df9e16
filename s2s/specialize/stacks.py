"""Stacks: lists that are only pushed to and popped from, as the sweeps keep what the reverse sweep reads. A function in
SSA form goes in, the same with the operations of its stacks comes out.

Where a derivative is differentiated again, its lists are found by how they are used and stay lists: the virtual heap
would make a new list for every item that is taken off. What becomes of them is in ``stack_sweeps``.
"""

from __future__ import annotations

from typing import Any

from s2s.core import ir, ops

__all__ = ["mark_stacks"]

_MAKE, _PUSH, _PULL, _COPY = map(ir.Const, (ops.make_stack, ops.push, ops.pull, ops.copy_stack))


def mark_stacks(function: ir.Function, outside: frozenset[ir.Var] = frozenset()) -> ir.Function:
    """The function, in SSA form, with the operations of its stacks; ``outside`` are those of the function around it
    that it copies."""
    found = _Uses(function)
    stacks = found.stacks(outside)
    if not stacks:
        return function
    return ir.replace(function, body=_marked(function.body, stacks, found))


class _Uses:
    """What a function does with its lists."""

    def __init__(self, function: ir.Function) -> None:
        self.made: dict[ir.Var, ir.Call] = {}
        self.lets: dict[ir.Var, ir.Let] = {}
        self.read: dict[ir.Atom, list[ir.Statement | None]] = {}
        self._block(function.body)

    def _block(self, block: ir.Block) -> None:
        for s in block.statements:
            for atom in ir.reads_of(s):
                self.read.setdefault(atom, []).append(s)
            if isinstance(s, ir.Let) and s.target is not None:
                self.lets[s.target] = s
                if isinstance(s.value, ir.Call) and self.means(s.value, "list", list, ops.make_list):
                    self.made[s.target] = s.value
            for inner in ir.blocks_of(s):
                self._block(inner)
        for atom in block.yields:
            self.read.setdefault(atom, []).append(None)

    def means(self, call: ir.Call, name: str, *functions: Any) -> bool:
        """Whether a call is one of a function, known or by its name."""
        if isinstance(call.fn, ir.Const):
            return any(call.fn.value is fn or call.fn.value == fn for fn in functions)
        let = self.lets.get(call.fn)
        return let is not None and isinstance(let.value, ir.Load) and let.value.name == name

    def stacks(self, outside: frozenset[ir.Var] = frozenset()) -> set[ir.Var]:
        """The lists, empty at first or copies of another stack, that are only pushed to, popped from, and copied to
        other stacks, and those of ``outside`` that are only copied to stacks. One that is copied to what is no stack is
        none: an item may be read there."""
        found = {var for var, made in self.made.items() if not made.args or made.fn != ir.Const(ops.make_list)}
        found |= outside
        while True:
            others = {var for var in found if not self._is_stack(var, found)}
            if not others:
                return found
            found -= others

    def _is_stack(self, var: ir.Var, stacks: set[ir.Var]) -> bool:
        uses = [self.use(s, var, stacks) for s in self.read.get(var, ())]
        made = self.made.get(var)
        if made is None:
            return all(use == "copy" for use in uses)
        return (not made.args or made.args[0] in stacks) and bool(uses) and None not in uses

    def use(self, s: ir.Statement | None, var: ir.Var, stacks: set[ir.Var]) -> str | None:
        """What a statement does with a list, where ``stacks`` are stacks; None where that is something else."""
        match s:
            case ir.Let(target, ir.Call(ir.Const(value=fn), (list_, ir.Const(value=name)))) if fn is getattr:
                calls = self.read.get(target, ()) if list_ == var and target is not None else ()
                return name if name in ("append", "pop") and all(
                    isinstance(c, ir.Let) and isinstance(c.value, ir.Call) and c.value.fn == target
                    and len(c.value.args) == (name == "append") and var not in c.value.args and not c.value.kwargs
                    for c in calls
                ) else None
            case ir.Let(None, ir.Call(ir.Const(value=fn), (list_, item), ())) if fn == list.append:
                return "append" if list_ == var and item != var else None
            case ir.Let(_, ir.Call(ir.Const(value=fn), (list_,), ())) if fn == list.pop:
                return "pop"
            case ir.Let(ir.Var() as target, ir.Call(_, (list_,), ()) as call) if self.means(call, "list", list):
                return "copy" if target in stacks else None
            case ir.Let(_, ir.MakeFunction(function, captures)):
                inner = frozenset(v for v, a in zip(function.captures, captures, strict=True) if a == var)
                return "copy" if inner and inner <= _Uses(function).stacks(inner) else None
        return None


def _marked(block: ir.Block, stacks: set[ir.Var], found: _Uses) -> ir.Block:
    methods = {
        target: (let.value.args[0], let.value.args[1].value)  # type: ignore[union-attr]
        for target, let in found.lets.items()
        if isinstance(let.value, ir.Call) and let.value.fn == ir.Const(getattr) and let.value.args[0] in stacks
    }
    made: list[ir.Statement] = []
    for s in block.statements:
        match s:
            case ir.Let(ir.Var() as target, ir.Call(_, ())) if target in stacks:
                made.append(ir.replace(s, value=ir.Call(_MAKE, ())))
            case ir.Let(ir.Var() as target, ir.Call(_, args)) if target in stacks and args[0] in stacks:
                made.append(ir.replace(s, value=ir.Call(_COPY, args)))
            case ir.Let(target) if target in methods:
                pass
            case ir.Let(target, ir.Call(fn, args)) if fn in methods:
                list_, name = methods[fn]  # type: ignore[index]
                made.append(_operation(s, name == "append", (list_, *args)))
            case ir.Let(_, ir.Call(ir.Const(value=fn), args)) if args and args[0] in stacks and fn in _METHODS:
                made.append(_operation(s, fn == list.append, args))
            case ir.Let(_, ir.MakeFunction(function, captures) as value):
                inner = frozenset(v for v, a in zip(function.captures, captures, strict=True) if a in stacks)
                made.append(ir.replace(s, value=ir.replace(value, function=mark_stacks(function, inner))))
            case _:
                made.append(ir.with_blocks(s, (_marked(b, stacks, found) for b in ir.blocks_of(s))))
    return ir.Block(tuple(made), block.yields)


_METHODS = (list.append, list.pop)


def _operation(s: ir.Let, is_push: bool, args: tuple[Any, ...]) -> ir.Let:
    return ir.replace(s, target=None if is_push else s.target, value=ir.Call(_PUSH if is_push else _PULL, args))
