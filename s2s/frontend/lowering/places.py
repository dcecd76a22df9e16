"""A libcst tree goes in, the place of each node in its text comes out, as a pair of offsets.

libcst's tree has no positions; its ``PositionProvider`` finds them by writing the tree out again. This uses the
same hooks but counts characters only: no tokens are kept, no lines are told apart, the tree is not visited
a second time. That was half of the time of reading a function.
"""

from __future__ import annotations

from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

__all__ = ["places_of"]


def places_of(module: cst.Module) -> dict[cst.CSTNode, tuple[int, int]]:
    """Where each node begins and ends in the module's text, without the blanks and brackets around it."""
    state = _State(module.default_indent, module.default_newline)
    module._codegen(state)
    return state.places


class _State(CodegenState):
    """What libcst's nodes write to: how much was written, and where the nodes began that are not ended."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.offset = 0
        self.open: list[int] = []
        self.places: dict[cst.CSTNode, tuple[int, int]] = {}

    def add_indent_tokens(self) -> None:
        self.offset += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.open.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self.open.pop()
        if node not in self.places:  # a node that has blanks around it has told its place by _Recorder
            self.places[node] = (start, self.offset)

    def record_syntactic_position(  # type: ignore[override]  # another kind of context manager
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Recorder:
        return _Recorder(self, node, start_node, end_node)


class _Recorder:
    """``with state.record_syntactic_position(node)``: what is written inside is the node itself."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _State, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = self.state.offset

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        places = self.state.places
        start = self.start if self.start_node is None else places[self.start_node][0]
        end = self.state.offset if self.end_node is None else places[self.end_node][1]
        places[self.node] = (start, end)
