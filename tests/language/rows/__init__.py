"""The constructs of the language, each with an example: what the tables of docs/language.md show and the tests run.

An example is the body of a function of an array ``x`` of four numbers that ends with a ``return`` of a number. It is
taken as text, so that it can be placed at the top level of a function, in a loop, in a callee and in a method.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One construct: as the page names it, its example, and how its derivative comes about."""

    construct: str
    function: Callable[..., Any]
    recorded: bool = False
    needs: tuple[str, ...] = ()
    """Packages that are no part of the tests' environment."""
    first_order: str = ""
    """The code with which second derivatives are refused, in some place or nesting."""
    refused: str = ""
    """The code with which it is refused altogether, compiled and recorded."""
    reason: str = ""

    def body(self) -> str:
        """The statements of the example, from the margin, as they are written."""
        lines = textwrap.dedent(inspect.getsource(self.function)).splitlines()
        first = next(n for n, line in enumerate(lines) if line.startswith("def ")) + 1
        return textwrap.dedent("\n".join(lines[first:])).strip("\n")

    def placed(self) -> str:
        """A module with the example at the top level of `top`, in the loop of `loop`, and so on."""
        tree = ast.parse(self.body())
        assert isinstance(tree.body[-1], ast.Return) and tree.body[-1].value, (
            "an example ends with its result"
        )
        result = ast.unparse(tree.body[-1].value)
        statements = "\n".join(map(ast.unparse, tree.body[:-1]))
        return PLACED.format(
            once=textwrap.indent(statements, " " * 4),
            twice=textwrap.indent(statements, " " * 8),
            result=result,
        )


PLACES = ("top", "loop", "callee", "method")
PLACED = """\
def top(x):
{once}
    return {result}


def loop(x_):
    total_ = 0.0
    for k_ in range(2):
        x = x_ * (1.0 + 0.05 * k_)
{twice}
        total_ = total_ + (1.0 + k_) * ({result})
    return total_


def called_(x):
{once}
    return {result}


def callee(x):
    return called_(x * 1.05) * x[0]


class Scaled_:
    def __init__(self, scale):
        self.scale_ = scale

    def run(self, x):
{twice}
        return self.scale_ * ({result})


method = Scaled_(1.1).run
"""


@dataclass
class Group:
    """A table of the page: the rows of one kind, and what their examples share."""

    title: str
    rows: list[Row] = field(default_factory=list)

    def __call__(self, construct: str, needs: str = "", **known: Any) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> Callable[..., Any]:
            self.rows.append(Row(construct, function, needs=tuple(needs.split()), **known))
            return function

        return keep
