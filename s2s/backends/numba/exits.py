"""How functions for Numba end where they raise, in Numba's own representation of them.

A test that raises where lengths differ ends a path on which Numba frees, one after the other, each array that is there:

    if n != m:                              if n != m:
        del a, b, c                             goto raises
        raise RuntimeError          ->      ...
    if n != k:                              raises:
        del a, b, c, d                          del a, b, c, d
        raise RuntimeError                      raise RuntimeError

Tests by arrays are most of the code of a function of many loops. All that raise the same end in one place: what is
freed already, or not made yet, is null, and freeing that is nothing. Numbers are not freed at all.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization

__all__ = ["Pipeline"]


@register_pass(mutates_CFG=False, analysis_only=True)
class _RaiseAtOnePlace(AnalysisPass):
    """The pass. Numba takes it for one of those that change nothing: others must leave no frees behind."""

    _name = "s2s_raise_at_one_place"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Numba asks for it."""
        function = state.func_ir
        if function.is_generator:
            return False
        models = state.targetctx.data_model_manager
        is_freed = {name: models[kind].contains_nrt_meminfo() for name, kind in state.typemap.items()}
        for block in function.blocks.values():
            block.body = [s for s in block.body if not isinstance(s, ir.Del) or is_freed.get(s.value, True)]
        _merge(function.blocks, state.typemap)
        return False


def _merge(blocks: dict[int, Any], types_of: dict[str, Any]) -> None:
    """One block for those that raise the same."""
    alike: dict[Any, list[int]] = {}
    for label, block in blocks.items():
        if _only_raises(block, types_of):
            raised = block.body[-1]
            alike.setdefault((raised.exc_class, repr(raised.exc_args)), []).append(label)
    new: dict[int, int] = {}
    for labels in alike.values():
        label = max(blocks) + 1
        first = blocks[labels[0]]
        freed = {s.value for k in labels for s in blocks[k].body if isinstance(s, ir.Del)}
        freed -= {s.target.name for k in labels for s in blocks[k].body if isinstance(s, ir.Assign)}
        blocks[label] = ir.Block(first.scope, first.loc)
        blocks[label].body = [*(ir.Del(name, first.loc) for name in sorted(freed)), first.body[-1]]
        for k in labels:
            del blocks[k]
            new[k] = label
    for block in blocks.values():
        match block.body[-1]:
            case ir.Branch() as branch:
                branch.truebr = new.get(branch.truebr, branch.truebr)
                branch.falsebr = new.get(branch.falsebr, branch.falsebr)
            case ir.Jump() as jump:
                jump.target = new.get(jump.target, jump.target)


def _only_raises(block: Any, types_of: dict[str, Any]) -> bool:
    """Whether a block does nothing but free variables, make an exception and raise it."""
    if not isinstance(block.body[-1], ir.StaticRaise):
        return False
    made = (types.ExceptionClass, types.ExceptionInstance)
    return all(
        isinstance(s, ir.Del) or (isinstance(s, ir.Assign) and isinstance(types_of[s.target.name], made))
        for s in block.body[:-1]
    )


class Pipeline(CompilerBase):
    """Numba's passes and this one."""

    def define_pipelines(self) -> list[Any]:
        """Numba asks for it."""
        if self.state.flags.force_pyobject:
            return [DefaultPassBuilder.define_objectmode_pipeline(self.state)]
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_RaiseAtOnePlace, IRLegalization)
        passes.finalize()
        return [passes]
