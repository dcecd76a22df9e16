"""The emitter: takes a function in SSA form, gives the text of a Python module that defines it.

The parts are in ``s2s.emission``, which says what each one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from s2s.emission.code import Assign, Code, walk
from s2s.emission.expressions import SUGARED, is_method
from s2s.emission.folding import LAMBDAS, fold
from s2s.emission.spelling import Speller
from s2s.emission.statements import print_function
from s2s.emission.structure import build_code
from s2s.emission.sugar import add_sugar
from s2s.ir import (
    UNDEFINED,
    Atom,
    Call,
    Const,
    For,
    Function,
    If,
    Let,
    Load,
    MakeFunction,
    Store,
    Value,
    Var,
    While,
    defs_of,
    reads_of,
)  # fmt: skip
from s2s.ir import walk as walk_ir

__all__ = ["Emitted", "emit"]


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text and what it needs.

    ``imports`` says what the header binds: local name -> module. ``objects`` are known objects without an
    import path, ``globals`` the names of the user's module and ``free`` the closure names that the text
    reads bare.
    """

    text: str
    entry: str
    imports: dict[str, str]
    objects: dict[str, Any]
    globals: tuple[str, ...]
    free: tuple[str, ...]


def emit(
    function: Function,
    *,
    globals: dict[str, Any] | None = None,
    free: tuple[str, ...] = (),
    head: tuple[str, ...] = (),
    params_text: dict[str, str] | None = None,
) -> Emitted:
    """The text of a function in SSA form.

    ``globals`` are those of the module that the text will run in, ``free`` the names of its closure,
    ``head`` the lines of the comment on top, ``params_text`` the defaults of parameters as text.
    """
    names = set(_variable_names(function))
    speller = Speller(globals, names | set(free), _parameter_names(function))
    _spell(function, speller)
    code = prepare(function, {})
    lines = print_function(function, function.name, code, speller, {}, params_text or {})
    header = [line if line.startswith("#") else f"# {line}".rstrip() for line in head]
    imports = _imports(speller.imports)
    blank = ["", ""] if imports or header else []
    text = "\n".join([*header, *imports, *blank, *lines]) + "\n"
    read = tuple(sorted(speller.globals))
    return Emitted(text, function.name, speller.imports, speller.objects, read, tuple(sorted(speller.free)))


def prepare(function: Function, replaced: dict[Var, Atom]) -> Code:
    """The folded code of a function and of those nested in it."""
    code = build_code(function, replaced)
    for statement in walk(code.body):
        if isinstance(statement, Assign) and isinstance(statement.value, MakeFunction):
            value = statement.value
            pairs = zip(value.function.captures, value.captures, strict=True)
            constants: dict[Var, Atom] = {var: atom for var, atom in pairs if isinstance(atom, Const)}
            code.inner[id(value)] = prepare(value.function, constants)
    add_sugar(code)
    return fold(code)


def _imports(imports: dict[str, str]) -> list[str]:
    """The lines of the header: whole modules first, each group sorted."""
    whole, parts = [], []
    for name, path in imports.items():
        parent, _, last = path.rpartition(".")
        renamed = "" if name == last else f" as {name}"
        if parent:
            parts.append(f"from {parent} import {last}{renamed}")
        else:
            whole.append(f"import {path}{renamed}")
    return [*sorted(whole), *sorted(parts)]


# --- what a function names ---


def _functions(function: Function) -> Iterator[Function]:
    """A function and those nested in it."""
    yield function
    for value in _values(function):
        if isinstance(value, MakeFunction):
            yield from _functions(value.function)


def _values(function: Function) -> Iterator[Value]:
    for statement in walk_ir(function.body):
        if isinstance(statement, Let):
            yield statement.value


def _parameter_names(function: Function) -> set[str]:
    return {p.var.name for f in _functions(function) for p in f.params}


def _variable_names(function: Function) -> Iterator[str]:
    """The names that the user gave to variables."""
    for inner in _functions(function):
        if inner is not function and inner.name.isidentifier() and inner.name not in LAMBDAS:
            yield inner.name
        yield from (v.name for v in (*inner.captures, *(p.var for p in inner.params)))
        for statement in walk_ir(inner.body):
            own = list(defs_of(statement))
            if isinstance(statement, For):
                own.append(statement.item)
            if isinstance(statement, (For, While)):
                own.extend(c.param for c in statement.carried)
            yield from (v.name for v in own if not v.is_temporary)


def _spell(function: Function, speller: Speller) -> None:
    """Spell every known object that the text will name, so that variables get out of the way of the names."""
    for inner in _functions(function):
        for statement in walk_ir(inner.body):
            for constant in _named(statement):
                speller.value(constant.value)
            if isinstance(statement, Let) and isinstance(statement.value, Load):
                speller.load(statement.value)
        for atom in inner.body.yields:
            if isinstance(atom, Const) and atom != UNDEFINED:
                speller.value(atom.value)


def _named(statement: Any) -> Iterator[Const]:
    """The constants of a statement that print as expressions."""
    sugar = None
    if isinstance(statement, Let) and isinstance(statement.value, Call):
        sugar = statement.value.fn if _is_sugar(statement.value.fn) else None
    atoms: list[Atom] = [a for a in reads_of(statement) if a is not sugar]
    if isinstance(statement, (If, For, While)):
        blocks = (statement.then, statement.orelse) if isinstance(statement, If) else (statement.body,)
        atoms += [atom for block in blocks for atom in block.yields]
    if isinstance(statement, While):
        atoms += statement.test.yields
    if isinstance(statement, Store) and statement.kind != "item":
        atoms = [statement.target, statement.value]
    yield from (a for a in atoms if isinstance(a, Const) and a != UNDEFINED)


def _is_sugar(fn: Atom) -> bool:
    try:
        return isinstance(fn, Const) and (fn.value in SUGARED or fn.value is getattr or is_method(fn.value))
    except TypeError:
        return False
