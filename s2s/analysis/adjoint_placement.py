"""Adjoint placement: where the adjoint of each variable is whose memory may change.

    value     with the variable itself: nothing changes its memory between its definition and its uses
    root      with the variable, as an array that is changed in place where the variable's memory is
    view      in the adjoint of the variable that this one is a view of
    runtime   in an adjoint that is found by the memory of the variable, when the reverse sweep runs

The first three are decided for a whole class of variables at once: they need every variable of it to be understood.
"""

from __future__ import annotations

from s2s.analysis.memory import Memory
from s2s.analysis.regions import Region, find_regions
from s2s.analysis.sharing import Sharing
from s2s.core import ir
from s2s.core.values import Array
from s2s.errors import error

VALUE, ROOT, VIEW, RUNTIME = "value", "root", "view", "runtime"


class AdjointPlacement:
    """Where the adjoint of every variable of a function in SSA form is."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self.root, self.home = find_regions(function)
        self.sharing = Sharing(function, memory)
        self.parameters = {param.var for param in function.params}
        self.statements: list[ir.Store] = []
        self.stores: dict[ir.Var, list[tuple[ir.Var, list[ir.Var]]]] = {}
        """Of each class what its stores change, each with all that may be the same memory and is read later."""
        self.joining: set[ir.Atom] = set()
        self.begins: dict[int, int] = {}
        self.places: dict[int, Region] = {}
        self._block(function.body, self.root)
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

    def _block(self, block: ir.Block, region: Region) -> None:
        for s in block.statements:
            self.begins[id(s)] = len(self.begins)
            self.places[id(s)] = region
            if isinstance(s, ir.Store) and isinstance(s.target, ir.Var):
                self.statements.append(s)
                self.stores.setdefault(self.memory.find(s.target), []).append((s.target, [*self.sharing.seen(s)]))
            self.joining.update(a for _, given in ir.joins_of(s) for a in given)
            for side, inner in enumerate(ir.blocks_of(s)):
                self._block(inner, region.child(s, side))

    # --- deciding

    def _decide(self, members: list[ir.Var]) -> dict[ir.Var, str]:
        stores = self.stores.get(self.memory.find(members[0]), [])
        changing = {var for target, seen in stores for var in (target, *seen)}
        kinds = {var: self._kind(var, var in changing) for var in members}
        self._keep_bases(kinds)
        if RUNTIME in kinds.values() or any(
            self._root(var, kinds) != self._root(target, kinds) for target, seen in stores for var in seen
        ):
            values = self._apart(changing, members)
            for var in self.parameters.intersection(kinds).difference(values):
                if not isinstance(self.memory.value_of(var), Array):  # its adjoint is made of those of its items
                    raise error("S2S132", name=var.name, label="arrays in it are changed")
            return {var: VALUE if var in values else RUNTIME for var in kinds}
        return kinds

    def _root(self, var: ir.Var, kinds: dict[ir.Var, str]) -> ir.Var:
        """The variable whose adjoint holds that of a variable."""
        while kinds[var] == VIEW and (base := self.memory.base_of(var)) is not None:
            var = base
        return var

    def _apart(self, changing: set[ir.Var], members: list[ir.Var]) -> set[ir.Var]:
        """Those whose cotangent can be a variable's where the others have theirs found by memory: they are read before
        any change, go into no join and no container, and nothing else is a view of them."""
        found, shrunk = {var for var in members if var not in changing and self._is_of_array(var)}, True
        found -= self.joining | self.memory.new | self.memory.joined.keys()
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
                kinds[base] = ROOT if self.memory.base_of(base) is None else VIEW
                base = self.memory.base_of(base)

    def _kind(self, var: ir.Var, is_changing: bool) -> str:
        """Where the adjoint of a variable is, which may be changed while it is read."""
        if var in self.memory.joined or self.memory.is_new(var):
            return ROOT
        if not is_changing:
            return VALUE
        if not isinstance(self.memory.value_of(var), Array) or not self._is_of_array(var):
            return RUNTIME
        is_left = not any(self.sharing.beside(var))  # what it was made from is not read later
        return ROOT if is_left or self.memory.base_of(var) is None else VIEW

    def _is_of_array(self, var: ir.Var) -> bool:
        """Whether a variable was made from an array, and not taken out of a container."""
        value = self.memory.made.get(var)
        source = value.args[0] if isinstance(value, ir.Call) and value.args else None
        return isinstance(source, ir.Var) and isinstance(self.memory.value_of(source), Array)


__all__ = ["RUNTIME", "ROOT", "VALUE", "VIEW", "AdjointPlacement"]
