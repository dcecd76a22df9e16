"""``s2s insert``: a file in, the same with the adjoint of each decorated function below it out.

A codemod: what else is in the file stays as it is, to the last blank. Adjoints that are there are replaced, so that a
second run changes nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst as cst

from s2s.cli.build import is_unknown
from s2s.cli.dump import Asked, for_callers, version_for, what_to_say
from s2s.cli.loading import CannotLoad, Loaded, load_all, running
from s2s.cli.terminal import CannotFormat, formatted
from s2s.core.lines import indented, lines_of
from s2s.dispatch.lookup import forget
from s2s.shipping.gate import meaning, passed, statements
from s2s.shipping.standalone import split

__all__ = ["adjoint_of", "inserted", "settled"]

GENERATED = re.compile(r"Generated\s+by\s+s2s;\s+do\s+not\s+edit\.")


def adjoint_of(loaded: Loaded, mode: str, file: Path) -> tuple[str, str, list[str]] | str:
    """The dotted name of a function in its file, the text of its derivative, the imports that this needs; where it is
    not known what it is differentiated for, what to say of that. Raises CannotLoad where it reads what no module has by
    a name, and what the compiler raises."""
    asked = Asked(mode=mode)
    version = version_for(loaded, asked)
    if is_unknown(loaded, version):
        return f"{loaded.place}: left out\n{what_to_say(loaded, '')}"
    compiled = version.compiled
    loose = {*compiled.objects, *compiled.free, *compiled.made}
    if loose:
        raise CannotLoad(f"{loaded.place}: it reads `{min(loose)}`, which is not a name of its module")
    _, body = split(for_callers(loaded, asked, version, compiled.text))
    body = passed(body, compiled.text, compiled.entry)
    lines = [line for line in lines_of(compiled.text) if line.startswith(("import ", "from "))]
    name = loaded.place.rpartition(":")[2]
    try:
        return name, _formatted_inside(body, name.count("."), file), lines
    except CannotFormat as problem:  # left as it is, it would change when ruff runs again
        raise CannotLoad(f"{file}: nothing is written: {problem}") from problem


def _formatted_inside(body: str, depth: int, file: Path) -> str:
    """Functions as they are formatted inside of so many classes, where lines have less room. Raises CannotFormat."""
    for level in range(depth):
        body = f"class C{level}:\n" + indented(body)
    made = cst.parse_module(formatted(body, file))
    inner: list[Any] = list(made.body)
    for _ in range(depth):
        inner = list(cst.ensure_type(cst.ensure_type(inner[0], cst.ClassDef).body, cst.IndentedBlock).body)
    return made.with_changes(body=inner, header=(), footer=()).code.strip("\n")


ROUNDS = 4


def settled(file: Path, mode: str, text: str) -> tuple[str, list[str]]:
    """The text that a file is to have, and what to say of functions that are left out: what is inserted above a
    function moves it, and with it the numbers of lines that its derivative names, so the text with the derivatives is
    run again until it stays. Raises CannotLoad where it does not."""
    for _ in range(ROUNDS):
        with running(file, text) as module:
            forget()  # a version that was compiled for the text before names its lines
            found = [adjoint_of(loaded, mode, file) for loaded in load_all(str(file), module)]
        before, text = text, inserted(text, [one for one in found if not isinstance(one, str)])
        if text == before:
            return text, [one for one in found if isinstance(one, str)]
    raise CannotLoad(
        f"{file}: nothing is written: what is inserted still changes after {ROUNDS} rounds, first in\n"
        f"  {_first_change(before, text)}")


def _first_change(before: str, after: str) -> str:
    """The first line of a text that was another one before."""
    pairs = zip(lines_of(before), lines_of(after), strict=False)
    return next((f"{k}: {new}" for k, (old, new) in enumerate(pairs, 1) if old != new), "its length")


def inserted(text: str, adjoints: list[tuple[str, str, list[str]]]) -> str:
    """The text of a file with adjoints below their primals. Raises CannotLoad where a function of such a name is there
    that was not generated."""
    from libcst.codemod import CodemodContext  # a quarter of a second, which only who inserts pays
    from libcst.codemod.visitors import AddImportsVisitor

    module = cst.parse_module(text)
    context = CodemodContext()
    made = module.visit(_Inserter({name: source for name, source, _ in adjoints}, module))
    for line in dict.fromkeys(line for _, _, lines in adjoints for line in lines):
        AddImportsVisitor.add_needed_import(context, *_needed_import(line))
    after = AddImportsVisitor(context).transform_module(made).code
    own = {meaning([node]) for _, source, _ in adjoints for node in statements(source)}
    names = {node.name for _, source, _ in adjoints for node in statements(source) if isinstance(node, ast.FunctionDef)}
    if _others(after, lambda node: meaning([node]) in own) != _others(text, lambda node: node.name in names):
        raise CannotLoad("nothing is written: the file would not say what it says, with the derivatives in it")
    return after


def _others(text: str, is_inserted: Callable[[ast.FunctionDef], bool]) -> str:
    """What a file says beside what is inserted and imported."""
    tree = ast.parse(text)
    for block in [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef))]:
        block.body = [node for node in block.body if not isinstance(node, (ast.Import, ast.ImportFrom)) and not (
            isinstance(node, ast.FunctionDef) and is_inserted(node))]
    return meaning(tree.body)


def _needed_import(line: str) -> tuple[str, str | None, str | None]:
    """The module, the name in it and the alias of an import."""
    start, _, names = line.rpartition("import ")
    name, _, alias = names.partition(" as ")
    if start.startswith("from "):
        return start.removeprefix("from ").strip(), name, alias or None
    return name, None, alias or None


class _Inserter(cst.CSTTransformer):
    """Puts functions below those that they are made of."""

    def __init__(self, sources: dict[str, str], module: cst.Module) -> None:
        super().__init__()
        self.sources = sources
        self.module = module
        self.path: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.path.append(node.name.value)
        return True

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        body = self.statements(list(updated_node.body.body), is_class=True)
        self.path.pop()
        return updated_node.with_changes(body=updated_node.body.with_changes(body=body))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return updated_node.with_changes(body=self.statements(list(updated_node.body), is_class=False))

    def statements(self, body: list[Any], is_class: bool) -> list[Any]:
        """The statements of a block, with what comes below each."""
        wanted = {}
        for statement in body:
            if isinstance(statement, cst.FunctionDef):
                source = self.sources.get(".".join([*self.path, statement.name.value]))
                if source is not None:
                    made = cst.parse_module(source + "\n", config=self.module.config_for_parsing)
                    wanted[statement.name.value] = made
        new = {f.name.value for made in wanted.values() for f in made.body if isinstance(f, cst.FunctionDef)}
        kept = [s for s in body if not (isinstance(s, cst.FunctionDef) and s.name.value in new and self.is_ours(s))]
        found: list[Any] = []
        for statement in kept:
            found.append(statement)
            if isinstance(statement, cst.FunctionDef) and statement.name.value in wanted:
                blank = [cst.EmptyLine(indent=False)] * (1 if is_class else 2)
                found += [f.with_changes(leading_lines=blank) for f in wanted[statement.name.value].body]
        return found

    def is_ours(self, node: cst.FunctionDef) -> bool:
        """Whether a function was generated. Raises CannotLoad for one that was not, as its name is wanted."""
        if GENERATED.search(node.get_docstring() or ""):
            return True
        raise CannotLoad(f"there is a function `{node.name.value}` in the file that was not generated by s2s")
