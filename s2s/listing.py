"""The functions that s2s has derivative rules for, as rows: the tables of ``rules`` go in, a list comes out."""

from __future__ import annotations

import builtins
import importlib.util
import operator
import sys
from collections.abc import Collection
from typing import Any

from s2s.arguments import checked
from s2s.core.inspection import class_attribute
from s2s.core.record import record
from s2s.rules import table
from s2s.specialize.calls.storing import CHANGING

__all__ = ["FunctionRow", "as_markdown", "functions"]


@record
class FunctionRow:
    """A function that s2s knows.

    ``name`` is its name with its module or type; ``modes`` has "reverse" and "forward" where it can be differentiated
    in these; ``kind`` says how, one of ``KINDS``; ``notes`` says by which arguments, or why it is refused.
    """

    name: str
    modes: tuple[str, ...]
    kind: str
    notes: str


KINDS = {
    "partials": "elementwise",
    "several": "elementwise",
    "straight_through": "straight-through",
    "linear": "linear",
    "vjp": "pair",
    "model": "written out",
    "zero": "zero",
    "refuse": "refused",
    "custom": "custom",
}
"""What the kinds of rules are called: ``elementwise`` has partial derivatives, ``linear`` a transpose, ``pair`` a
function for each mode; ``written out`` is differentiated as code; of ``zero`` the derivative is zero, or there is none
to have (shapes, counts, comparisons)."""

BOTH = ("reverse", "forward")


@checked
def functions(filter: str = "") -> list[FunctionRow]:
    """The functions that have a rule, by name; those whose name, kind or notes contain ``filter``.

    Functions of SciPy are among them where SciPy is installed. Anything else that is written in Python is
    differentiated by its source and needs no rule.

    >>> import s2s
    >>> [row.name for row in s2s.functions("linalg.solve")]  # doctest: +ELLIPSIS
    ['numpy.linalg.solve', 'scipy.linalg.solve', ...]
    """
    found = [name for name in table.EXTENSIONS if name not in table.WRAPPERS and _is_installed(name)]
    table.extend(*found)
    rows = {_row(rule) for rule in table.RULES.values() if _is_public(rule)}
    wanted = filter.lower()
    chosen = [r for r in rows if wanted in f"{r.name} {r.kind} {r.notes}".lower()]
    return sorted(chosen, key=operator.attrgetter("name", "kind", "notes"))


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package.partition(".")[0]) is not None


def _is_public(rule: table.Rule) -> bool:
    """Whether users call it: the compiler calls some of its own, and libraries have functions that are not public."""
    name = rule.name.removeprefix("_")  # of a module that is compiled, as ``_operator``
    if name.partition(".")[0] in ("s2s", *table.WRAPPERS) or "._" in name:
        return False
    owner, _, attribute = rule.name.rpartition(".")
    if owner not in sys.modules:
        return True
    found = getattr(sys.modules[owner], attribute, None)  # another one where this is that of a private module in it
    return found is rule.fn or (found is not None and table.find(found) is None)


def _row(rule: table.Rule) -> FunctionRow:
    name = _reached_by(rule).removeprefix("_").replace("builtins.", "")
    if rule.kind == "refuse" and _is_among(rule.fn, CHANGING):
        return FunctionRow(name, BOTH, KINDS["model"], "stores into its first argument")
    return FunctionRow(name, _modes(rule), KINDS[rule.kind], _notes(rule))


def _is_among(fn: Any, known: Collection[Any]) -> bool:
    return any(fn is one for one in known)


def _reached_by(rule: table.Rule) -> str:
    """The name of a function, that of a method with a class or an object that users can import."""
    owner = getattr(rule.fn, "__objclass__", None)
    if isinstance(owner, type) and owner.__module__ == "builtins" and not hasattr(builtins, owner.__name__):
        modules = (name for name in sorted(sys.modules) if "._" not in name)
        home = next((name for name in modules if vars(sys.modules[name]).get(owner.__name__) is owner), None)
        return f"{home}.{rule.name}" if home else rule.name
    module, _, cls = rule.name.rpartition(".")[0].rpartition(".")
    if module not in sys.modules or hasattr(sys.modules[module], cls):
        return rule.name
    method = rule.name.rpartition(".")[2]
    public = {name: one for name, one in vars(sys.modules[module]).items() if name[0] != "_"}
    classes = [
        name for name, one in public.items() if isinstance(one, type) and class_attribute(one, method) is rule.fn
    ]
    objects = [name for name, one in public.items() if type(one).__name__ == cls]
    return ".".join([module, min(classes or objects, default=cls), method])


def _modes(rule: table.Rule) -> tuple[str, ...]:
    if rule.kind in ("zero", "refuse"):
        return ()
    return BOTH


def _notes(rule: table.Rule) -> str:
    """By which arguments, where it is not by all; the reason of a refusal."""
    names = list(rule.params.parameters)
    if rule.kind == "refuse":
        return rule.reason
    if rule.kind in ("partials", "several", "straight_through"):
        by = [n for n, p in zip(names, rule.partials, strict=False) if p is not None and not table.is_refusal(p)]
        return "" if len(by) == len(rule.partials) else f"by {', '.join(by)}"
    if rule.kind in ("linear", "vjp"):
        by = [n for n in rule.cotangents if not table.is_refusal(rule.cotangents[n])]
        return f"by {', '.join(by)}"
    return ""


def _by_module(row: FunctionRow) -> tuple[str, str]:
    owner, _, name = row.name.rpartition(".")
    return owner, name


def as_markdown(rows: list[FunctionRow]) -> str:
    """The rows as tables of a document, one for each module."""
    lines: list[str] = []
    module = ""
    for row in sorted(rows, key=_by_module):
        owner, _, name = row.name.rpartition(".")
        if owner != module or not lines:
            module = owner
            lines += ["", f"## {module or 'builtins'}", "", "| function | modes | kind | notes |", "|---|---|---|---|"]
        notes = row.notes.replace("|", "\\|")
        lines.append(f"| `{name}` | {', '.join(row.modes)} | {row.kind} | {notes} |")
    return "\n".join(lines) + "\n"
