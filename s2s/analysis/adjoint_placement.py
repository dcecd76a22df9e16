"""Adjoint placement: where the adjoint of each variable is whose memory may change.

    value     with the variable itself: nothing changes its memory between its definition and its uses
    root      with the variable, as an array that is changed in place where the variable's memory is
    view      in the adjoint of the variable that this one is a view of
    runtime   in an adjoint that is found by the memory of the variable, when the reverse sweep runs

The first three are decided for a whole class of variables at once: they need every variable of it to be understood.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from s2s.analysis.functions import reads_content
from s2s.analysis.memory import Memory
from s2s.analysis.regions import Region, find_regions
from s2s.core import ir
from s2s.core.dataflow import along, reachable
from s2s.core.values import Array
from s2s.errors import error

VALUE, ROOT, VIEW, RUNTIME = "value", "root", "view", "runtime"


@dataclass
class Use:
    """A statement that reads a variable, or its shape only, or a block that yields it."""

    clock: int
    region: Region
    is_join: bool = False
    is_of_shape: bool = False


class AdjointPlacement:
    """Where the adjoint of every variable of a function in SSA form is."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self.root, self.home = find_regions(function)
        self.clock = 0
        self.parameters = {param.var for param in function.params}
        self.born: dict[ir.Var, int] = dict.fromkeys(self.parameters, 0)
        self.uses: dict[ir.Atom, list[Use]] = {}
        self.stores: dict[ir.Var, list[int]] = {}
        self.statements: list[ir.Store] = []
        self.begins: dict[int, int] = {}
        self.places: dict[int, Region] = {}
        self.ends: dict[int, int] = {}
        self._block(function.body, self.root)
        self._note(function.body.yields, Use(self.clock + 1, self.root))  # the result is seen as it is in the end
        self._kinds: dict[ir.Var, str] = {}
        self._decided: set[ir.Var] = set()

    def kind(self, var: ir.Var) -> str:
        """Where the adjoint of a variable is."""
        if not self.memory.is_buffer(var):
            return VALUE
        root = self.memory.find(var)
        if root not in self._decided:
            self._decided.add(root)
            self._kinds |= self._decide(self.memory.members[root])
        return self._kinds[var]

    # --- reading the function

    def _block(self, block: ir.Block, region: Region) -> None:
        for s in block.statements:
            self.clock += 1
            at = self.begins[id(s)] = self.clock
            self.places[id(s)] = region
            if isinstance(s, ir.With) and s.target is not None:
                self.born[s.target] = at
            if isinstance(s, ir.Try):
                self.born.update((h.name, at) for h in s.handlers if h.name is not None)
            self._note_reads(s, at, region)
            if isinstance(s, ir.Store) and isinstance(s.target, ir.Var):
                self.stores.setdefault(self.memory.find(s.target), []).append(at)
                self.statements.append(s)
            for side, inner in enumerate(ir.blocks_of(s)):
                child = region.child(s, side)
                self._block(inner, child)
                self.clock += 1  # what a block yields is read after its last statement
                self._note(inner.yields, Use(self.clock, child, True))
            if isinstance(s, (ir.For, ir.While)):
                self._note([c.init for c in s.carried], Use(at, region, True))
                for c in s.carried:
                    self.born[c.param] = at
            self.clock += 1
            self.ends[id(s)] = self.clock
            for var in ir.defs_of(s):
                self.born[var] = self.clock

    def _note_reads(self, s: ir.Statement, at: int, region: Region) -> None:
        for atom in ir.reads_of(s):
            call = s.value if isinstance(s, ir.Let) else None
            is_content = not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const) or bool(
                call.kwargs) or reads_content(call.fn.value, call.args, atom)
            self._note([atom], Use(at, region, is_of_shape=not is_content))

    def _note(self, atoms: Iterable[ir.Atom], use: Use) -> None:
        """Note a use of what may be an array that changes; nothing is asked of others."""
        for atom in atoms:
            if self.memory.is_buffer(atom):
                self.uses.setdefault(atom, []).append(use)

    # --- deciding

    def _decide(self, members: list[ir.Var]) -> dict[ir.Var, str]:
        kinds = {var: self._kind(var) for var in members}
        self._keep_bases(kinds)
        if RUNTIME in kinds.values() or not self._is_distinct(members, kinds):
            read_before = [var for var, kind in kinds.items() if kind == VALUE and self._is_of_array(var)]
            values = self._apart(read_before, members)
            for var in self.parameters.intersection(kinds).difference(values):
                if not isinstance(self.memory.value_of(var), Array):  # its adjoint is made of those of its items
                    raise error("S2S132", name=var.name, label="arrays in it are changed")
            return {var: VALUE if var in values else RUNTIME for var in kinds}
        return kinds

    def _apart(self, values: list[ir.Var], members: list[ir.Var]) -> set[ir.Var]:
        """Those whose cotangent can be a variable's: not the ones that a container takes in, or that others are views
        of, whose own adjoint is found by memory."""
        found, shrunk = {*values}, True
        while shrunk:
            shrunk = False
            for var in members:
                value = self.memory.made.get(var)
                if var in found or value is None or self.memory.is_new(var):
                    continue
                held = found.intersection(a for a in ir.atoms_of(value) if isinstance(a, ir.Var))
                found -= held
                shrunk = shrunk or bool(held)
        return found

    def _keep_bases(self, kinds: dict[ir.Var, str]) -> None:
        """What a view is a view of takes part in its changes, although it is itself read before them only."""
        for var in [var for var, kind in kinds.items() if kind == VIEW]:
            base = self.memory.base_of(var)
            while base is not None and kinds[base] == VALUE:
                kinds[base] = RUNTIME if self.memory.base_of(base) is None else VIEW
                base = self.memory.base_of(base)

    def _kind(self, var: ir.Var) -> str:
        if var in self.memory.joined:
            return ROOT
        if self.memory.is_new(var):
            return ROOT
        if self._is_snapshot(var):
            return VALUE
        if self._takes_over(var):
            return ROOT
        return VIEW if self.memory.base_of(var) is not None else RUNTIME

    def _is_of_array(self, var: ir.Var) -> bool:
        """Whether a variable was made from an array, and not taken out of a container."""
        value = self.memory.made.get(var)
        source = value.args[0] if isinstance(value, ir.Call) and value.args else None
        return isinstance(source, ir.Var) and isinstance(self.memory.value_of(source), Array)

    def _is_snapshot(self, var: ir.Var) -> bool:
        """Whether every read of a variable finds what was there when it was made, and nothing is stored through it."""
        stores = self.stores.get(self.memory.find(var), [])
        for use in self.uses.get(var, []):
            if use.is_join or self._stores_through(var, use):
                return False
            if any(self.born[var] < at < self._last(var, use) for at in stores):
                return False
        return True

    def _takes_over(self, var: ir.Var) -> bool:
        """Whether an array that shares memory is all that is left of it: what it was made from is not used later."""
        if not isinstance(self.memory.value_of(var), Array) or not self._is_of_array(var):
            return False
        mine, loop = self._seen_through(var) | self._later_arrays(var), self.home[var].innermost_loop()
        for other in self.memory.members[self.memory.find(var)]:
            if other in mine:
                continue
            if other in self.memory.joined or self.home[other].innermost_loop() is not loop:
                return False
            uses = [use for use in self.uses.get(other, []) if not use.is_of_shape]
            if any(use.clock > self.born[var] or use.is_join for use in uses):
                return False
        return True

    def _later_arrays(self, var: ir.Var) -> set[ir.Var]:
        """New arrays and joins of arrays that are made later, and what is made from them: they share memory with a
        variable only where it, or something that is used later too, goes into a join."""
        found: set[ir.Var] = set()
        for other in self.memory.members[self.memory.find(var)]:
            is_own = other in self.memory.joined or self.memory.is_new(other)
            if is_own and self.born[other] > self.born[var] and isinstance(self.memory.value_of(other), Array):
                found |= self._seen_through(other)
        return found

    def _stores_through(self, var: ir.Var, use: Use) -> bool:
        return use.clock in self.stores.get(self.memory.find(var), []) and var in self.memory.stored

    def _last(self, var: ir.Var, use: Use) -> int:
        """When the last run of a use is over, as far as this instance of the variable goes."""
        last = use.clock
        region: Region | None = use.region
        while region is not None and region is not self.home[var]:
            if region.is_loop:
                last = self.ends[id(region.statement)]
            region = region.parent
        return last

    # --- joins

    def _is_distinct(self, members: list[ir.Var], kinds: dict[ir.Var, str]) -> bool:
        """Whether each root is memory of its own at every time: what goes into a join is not seen otherwise."""
        seen: set[int] = set()
        for var in members:
            if var not in self.memory.joined or kinds[var] != ROOT:
                continue
            statement, _ = self.memory.joined[var]
            if id(statement) in seen:
                continue
            seen.add(id(statement))
            if not self._is_clean(statement, set(members), kinds):
                return False
        return True

    def _is_clean(self, s: Any, members: set[ir.Var], kinds: dict[ir.Var, str]) -> bool:
        if isinstance(s, (ir.If, ir.Try)):
            joined = [k for k, r in enumerate(s.results) if r in members]
            region, end = self.home[s.results[joined[0]]], self.ends[id(s)]
            return all(
                self._is_handed_over([block.yields[k] for k in joined], region, end, kinds)
                for block in ir.sides_of(s)
            )
        carried = [(c, y) for c, y in zip(s.carried, s.body.yields, strict=True) if c.param in members]
        region = self.home[carried[0][0].result]
        body = region.child(s, 0 if isinstance(s, ir.For) else 1)
        following = [y for _, y in carried]
        own = [y for y in following if y not in {c.param for c, _ in carried}]
        return (
            self._is_handed_over([c.init for c, _ in carried], region, self.begins[id(s)], kinds)
            and len(set(following)) == len(following)
            and all(kinds.get(y) == ROOT and self.home[y].innermost_loop() is body for y in own)
        )

    def _is_handed_over(self, atoms: list[ir.Atom], region: Region, until: int, kinds: dict[ir.Var, str]) -> bool:
        """Whether these are different roots, of which neither they nor what may share their memory is used later."""
        if len(set(atoms)) != len(atoms):
            return False
        for atom in atoms:
            if atom == ir.UNDEFINED:
                continue
            if not isinstance(atom, ir.Var) or kinds.get(atom) != ROOT:
                return False
            if self.home[atom].innermost_loop() is not region.innermost_loop():
                return False
            if any(use.clock > until for var in self._seen_through(atom) for use in self.uses.get(var, [])):
                return False
        return True

    def _seen_through(self, root: ir.Var) -> set[ir.Var]:
        """A root and the variables that are made from it and may share its memory."""
        made = {var: self.memory.made.get(var) for var in self.memory.members[self.memory.find(root)]}
        views = {var: value for var, value in made.items() if value is not None and not self.memory.is_new(var)}
        return reachable({root}, along((a, var) for var, value in views.items() for a in ir.atoms_of(value)))


__all__ = ["RUNTIME", "ROOT", "VALUE", "VIEW", "AdjointPlacement"]
