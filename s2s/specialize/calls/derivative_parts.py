"""The arguments of a function whose derivative is taken, by their parts: what of them are parameters."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from s2s.analysis.abstract.parts import is_differentiable
from s2s.builder import virtual_heap
from s2s.builder.virtual_heap import State, cell_of
from s2s.core import ir
from s2s.core.values import AbstractValue, Array, Known, Mapping, Scalar, Sequence
from s2s.specialize.heap import making
from s2s.specialize.site import At

__all__ = ["Arguments", "Fixed", "Leaf", "Node", "Tree", "inside", "leaves_of", "parts", "together"]


@dataclass
class Leaf:
    """A part of an argument that is a parameter of the inner function: ``outer`` is what is given for it."""

    outer: ir.Atom
    var: ir.Var
    wanted: bool
    dot: ir.Atom | None = None


@dataclass
class Node:
    """A container or object among the arguments, with its parts."""

    kind: type
    keys: tuple[Any, ...]
    items: tuple[Tree, ...]


@dataclass
class Fixed:
    """A part of an argument that is not differentiated, as it is."""

    atom: ir.Atom


Tree: TypeAlias = Leaf | Node | Fixed


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    match tree:
        case Leaf():
            yield tree
        case Node(items=items):
            for item in items:
                yield from leaves_of(item)
        case Fixed():
            pass


@dataclass
class Arguments:
    """Makes the parameters of an inner function from the arguments of a call."""

    at: At
    names: set[str] = field(default_factory=set)

    def tree(self, atom: ir.Atom, name: str, wanted: bool) -> Tree:
        """An argument by its parts; ``wanted`` says that it is differentiated."""
        if not wanted:
            known = self.at.value(atom)
            return self.leaf(atom, name, known, False) if isinstance(known, Array) else Fixed(atom)
        cell = cell_of(self.at.context, atom)
        if cell is not None:
            return self.of_cell(cell, name)
        found = parts(self.at, atom)
        return self.number(atom, name, self.at.value(atom)) if found is None else self.node(*found, name)

    def of_cell(self, cell: virtual_heap.Cell, name: str) -> Tree:
        state = self.at.context.heap.state(cell, self.at.span)
        if virtual_heap.is_instance(state):
            copied = self.at.specializer.instances.copied(self.at, cell)
            made = virtual_heap.state_of(self.at.context, copied)
            assert made is not None
            return self.node(made.kind, made.entries(), name)
        entries = virtual_heap.contents(self.at.builder, cell, self.at.span)
        if entries is not None:
            return self.node(state.kind, entries, name)
        frozen = self.at.builder.frozen(cell.var)
        return self.leaf(frozen, name, self.at.value(frozen), True)

    def node(self, kind: type, entries: dict[Any, ir.Atom], name: str) -> Node:
        items = [
            self.tree(a, k if isinstance(k, str) and k.isidentifier() else name, True) for k, a in entries.items()
        ]
        return Node(kind, tuple(entries), tuple(items))

    def number(self, atom: ir.Atom, name: str, known: AbstractValue) -> Tree:
        """A number or an array; one without a derivative stays as it is."""
        if isinstance(known, Known) and isinstance(known.value, (float, complex, np.inexact)):
            return self.leaf(atom, name, Scalar(type(known.value)), True)
        return self.leaf(atom, name, known, True) if is_differentiable(known) else Fixed(atom)

    def leaf(self, atom: ir.Atom, name: str, known: AbstractValue, wanted: bool) -> Leaf:
        base, k = name.lstrip("%") or "x", 1
        name = base
        while name in self.names:
            name, k = f"{base}_{k}", k + 1
        self.names.add(name)
        return Leaf(atom, self.at.context.define(name, known), wanted)


def parts(at: At, atom: ir.Atom) -> tuple[type, dict[Any, ir.Atom]] | None:
    """The type and the entries of a container, by key; None for what is none, or is not known entry by entry."""
    cell = cell_of(at.context, atom)
    if cell is not None:
        state = at.context.heap.state(cell, at.span)
        entries = None if virtual_heap.is_instance(state) else virtual_heap.contents(at.builder, cell, at.span)
        return None if entries is None else (state.kind, entries)
    known = at.value(atom)
    match known:
        case Sequence(kind, items) if kind is not slice:
            keys: tuple[Any, ...] = tuple(range(len(items)))
        case Mapping(keys):
            kind = dict
        case Known() if isinstance(known.value, (tuple, list, dict)):
            kind = type(known.value)
            keys = tuple(known.value) if kind is dict else tuple(range(len(known.value)))
        case _:
            return None
    return kind, {k: at.compute(operator.getitem, atom, ir.Const(k)) for k in keys}


def inside(at: At, tree: Tree) -> ir.Atom:
    """What the inner function gets for an argument: parameters in the containers and objects of the argument."""
    match tree:
        case Leaf(var=var):
            return at.specializer.parameter(var, at.value(var), at.builder)
        case Fixed(atom):
            return atom
        case Node(kind, keys, items):
            return together(at, kind, keys, [inside(at, item) for item in items])


def together(at: At, kind: type, keys: tuple[Any, ...], items: list[ir.Atom]) -> ir.Atom:
    """A container or object of these parts."""
    if kind is tuple:
        return making.new_list(at, items, tuple)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return making.new_record(at, kind, items, {})
    return making.new(at, State(kind, keys, tuple(items)))
