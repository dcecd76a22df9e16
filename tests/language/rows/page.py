"""The part of docs/language.md that shows the rows: a table for each group, after what its examples share."""

import ast
import importlib
import inspect
import types

from tests.language.rows import Group, Row

SUPPORTED = ("objects", "arrays", "library", "effects")
TITLE = "## Every construct, by itself"
INTRODUCTION = """\
One row for each construct. The tests differentiate every example at the top level of a function, in a loop, in a callee
and in a method: by `grad` and `jvp`, and to second order by `jacfwd(grad)`, `hessian`, the `jvp` of the `grad` and
`jacrev(grad)`, one of them in each place. The `x` is an array of four numbers. A construct is *compiled*, or each call
of a function that has it is [recorded](#calls-that-are-recorded); with `S2S_RECORDED=0` the latter is refused. Where
some second derivatives are refused, the code is named; another nesting or place may do.
"""
REFUSED = "## What stays refused"


def module(name: str) -> types.ModuleType:
    return importlib.import_module(f"tests.language.rows.{name}")


def groups(names: tuple[str, ...] = SUPPORTED) -> list[tuple[types.ModuleType, Group]]:
    """The tables, each with the module of its examples."""
    return [(made, group) for made in map(module, names) for group in vars(made).values() if isinstance(group, Group)]


def shared(made: types.ModuleType) -> str:
    """What the examples of a module share: all that it imports and defines but the examples, and what tests them."""
    text, parts, imports = inspect.getsource(made), [], []
    for node in ast.parse(text).body[1:]:
        decorators = getattr(node, "decorator_list", [])
        names = [d.func for d in decorators if isinstance(d, ast.Call)]
        if isinstance(node, ast.Assign):
            names = node.targets
        belongs = any(isinstance(vars(made).get(ast.unparse(name)), Group) for name in names)
        if belongs or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.")):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(ast.unparse(node))
            continue
        first = min([node.lineno, *(d.lineno for d in decorators)])
        parts.append("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    return "\n\n".join(["\n".join(imports), *parts] if parts else [])


def cell(code: str) -> str:
    """Code in a cell of a table, line by line."""
    lines = []
    for line in code.splitlines():
        inner = line.lstrip(" ")
        if inner:
            lines.append("&emsp;" * ((len(line) - len(inner)) // 4) + "`" + inner.replace("|", "\\|") + "`")
    return "<br>".join(lines)


def link(code: str) -> str:
    return f"[{code}](errors.md#{code.lower()})"


def how(row: Row) -> str:
    """How a derivative comes about, and what else there is to say."""
    said = ["recorded" if row.recorded else "compiled"]
    if row.first_order:
        said.append(f"some second derivatives are refused, {link(row.first_order)}")
    if row.needs:
        said.append(f"with {' and '.join(row.needs)} installed")
    return "; ".join(said)


def page() -> str:
    """The text of the page from the title of the tables to its end."""
    lines = [TITLE, "", *INTRODUCTION.splitlines()]
    for name in SUPPORTED:
        made = module(name)
        lines += ["", f"### {(made.__doc__ or '').splitlines()[0].partition(',')[0].partition(':')[0].rstrip('.')}", ""]
        if definitions := shared(made):
            lines += ["What the examples share:", "", "```python", definitions, "```", ""]
        for _, group in groups((name,)):
            lines += [f"{group.title}:", "", "| construct | example | derivative |", "|---|---|---|"]
            lines += [f"| {r.construct} | {cell(r.body())} | {how(r)} |" for r in group.rows] + [""]
        lines.pop()
    lines += ["", REFUSED, "", "Compiled and recorded alike:", ""]
    lines += ["| construct | example | refused, because |", "|---|---|---|"]
    for _, group in groups(("refused",)):
        lines += [f"| {r.construct} | {cell(r.body())} | {link(r.refused)}: {r.reason} |" for r in group.rows]
    lines += ["", "Some derivatives of functions that have others:", ""]
    lines += ["| derivative | refused, because |", "|---|---|"]
    lines += [f"| {what} | {link(code)}: {reason} |" for what, code, reason, _ in module("refused").NESTINGS]
    return "\n".join(lines) + "\n"
