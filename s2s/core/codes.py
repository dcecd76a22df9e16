"""Code objects: with other constants, and put in the place of others for a while."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["SUSPENDED", "own_codes", "replace_constants"]

SUSPENDED: list[Callable[[], contextlib.AbstractContextManager[Any]]] = []
"""What lets functions have their own code for a while, where others have been put in its place."""


@contextlib.contextmanager
def own_codes() -> Iterator[None]:
    """As a context: functions have the code that their source says."""
    with contextlib.ExitStack() as stack:
        for suspended in SUSPENDED:
            stack.enter_context(suspended())
        yield


def replace_constants(code: types.CodeType, objects: dict[str, Any]) -> types.CodeType:
    """The same code, and that of the functions inside, with objects in place of the strings that stand for them."""

    def change(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return replace_constants(constant, objects)
        return objects.get(constant, constant) if type(constant) is str else constant

    return code.replace(co_consts=tuple(map(change, code.co_consts)))
