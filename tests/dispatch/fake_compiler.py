"""A compiler for the tests of the front end: hand-written gradients, given out by the name of the
function."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core.values import AbstractValue
from s2s.versions.guards import Guard
from s2s.versions.request import Compiled, Request

Answer = Callable[[types.FunctionType, dict[str, AbstractValue], Request], Compiled]


class FakeCompiler:
    """Stands in for ``dispatch.run_compiler``: ``calls`` are what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[types.FunctionType, dict[str, AbstractValue], Request]] = []
        self.answers: dict[str, Answer] = {}

    def __call__(
        self, function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request
    ) -> Compiled:
        self.calls.append((function, arguments, request))
        return self.answers[function.__name__](function, arguments, request)

    def say(self, name: str, body: str, *guards: Guard, **needs: Any) -> None:
        """Answer for a function with a def of this body, whose parameters are the function's."""
        self.answers[name] = lambda function, arguments, request: compiled(
            f"{function.__name__.strip('<>')}_{request.mode}", ", ".join(arguments), body, *guards, **needs
        )


def compiled(name: str, parameters: str, body: str, *guards: Guard, **needs: Any) -> Compiled:
    """A module with one def, and ``import numpy as np`` above it where the body says ``np``."""
    uses_numpy = "np." in body
    text = ("import numpy as np\n\n\n" if uses_numpy else "") + f"def {name}({parameters}):\n    {body}\n"
    imports = {"np": "numpy"} if uses_numpy else {}
    return Compiled(text, name, imports, needs.pop("objects", {}), guards=guards, **needs)


def ones(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An array of ones."""
    return np.ones(shape)
