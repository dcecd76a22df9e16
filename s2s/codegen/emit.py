"""The emitter: takes a function in SSA form, gives the text of a Python module that defines it.

The parts are in ``s2s.codegen``, which says what each one does.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, TypeAlias, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.arrays import on
from s2s.codegen.binding import bind_in_loops
from s2s.codegen.code import Assign, Code, tree_atoms, walk
from s2s.codegen.comments import with_comments
from s2s.codegen.expressions import SUGARED, is_method
from s2s.codegen.folding import LAMBDAS, fold
from s2s.codegen.hiding import copy_hidden_parameters
from s2s.codegen.printing import print_expression
from s2s.codegen.spelling import Speller
from s2s.codegen.statements import Line, print_function
from s2s.codegen.structure import build_code
from s2s.codegen.sugar import add_sugar
from s2s.core import ir
from s2s.core.array_classes import compiled_for, module_of_arrays
from s2s.core.ir import UNDEFINED, Atom, Call, Const, For, Function, If, Let, Load, MakeFunction, Store, Var, While
from s2s.core.lines import one_line

__all__ = ["Emitted", "emit"]

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<![\w.])[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text and what it needs.

    ``imports`` says what the header binds: local name -> module. ``objects`` are known objects without an
    import path, ``made`` what the header makes: local name -> expression; ``globals`` the names of the
    user's module and ``free`` the closure names that the text reads bare; ``builtins`` those of Python that the module
    does not hide. ``places`` says where lines come from, as in ``Compiled``.
    """

    text: str
    entry: str
    imports: dict[str, str]
    objects: dict[str, Any]
    made: dict[str, str]
    globals: tuple[str, ...]
    free: tuple[str, ...]
    builtins: tuple[str, ...]
    places: dict[str, tuple[tuple[int, int], ...]]


def emit(
    function: Function,
    *,
    globals: dict[str, Any] | None = None,
    free: tuple[str, ...] = (),
    head: tuple[str, ...] = (),
    params_text: dict[str, str] | None = None,
    folding: Callable[[dict[int, Collection[Var]]], object] | None = None,
) -> Emitted:
    """The text of a function in SSA form.

    ``globals`` are those of the module that the text will run in, ``free`` the names of its closure,
    ``head`` the lines of the comment on top, ``params_text`` the defaults of parameters as text. ``folding`` is told
    which variables of each function, by its ``id``, are computed where they are read; it raises where that is too late.
    """
    functions = list(_functions(function))
    parameters = {p.var.name for inner, _ in functions for p in inner.params}
    own = {*_variable_names(functions), *(set(free) & _loaded(functions))}
    speller = Speller(globals, own, parameters, _assigned(functions))
    _spell(functions, speller)
    code = prepare(function, {})
    if folding is not None:
        folding(dict(_folded(function, code)))
    lines = with_comments(print_function(function, function.name, code, speller, {}, params_text or {}))
    header = [one_line(line if line.startswith("#") else f"# {line}".rstrip()) for line in head]
    read_names = set(_WORD.findall("\n".join((*lines, *map(print_expression, speller.made.values())))))
    speller.imports = {name: path for name, path in speller.imports.items() if name in read_names}  # not those in sugar
    made = {name: print_expression(value) for name, value in speller.made.items()}
    made = {**_counterparts(speller), **made}
    imports = _imports(speller.imports)
    if made:
        imports += [*([""] if imports else []), *(f"{name} = {value}" for name, value in made.items())]
    if header and imports:
        header.append("")
    blank = ["", ""] if imports or header else []
    above = [*header, *imports, *blank]
    text = "\n".join([*above, *lines]) + "\n"
    read, closed, taken = (tuple(sorted(n)) for n in (speller.globals, speller.free, _builtins(lines, globals or {})))
    places = _places(lines, len(above) + 1)
    return Emitted(text, function.name, speller.imports, speller.objects, made, read, closed, taken, places)


def _places(lines: Sequence[str], first: int) -> dict[str, tuple[tuple[int, int], ...]]:
    """For each file of the user, the numbers of the lines that come from it, each with that of the line that it comes
    from, that of its statement first; ``first`` is the number of the first."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(lines, first):
        if isinstance(line, Line):
            for span in (line.span, *line.folded):
                found.setdefault(span.file, []).append((number, span.line))
    return {file: tuple(pairs) for file, pairs in found.items()}


def _builtins(lines: Sequence[str], globals: dict[str, Any]) -> Iterator[str]:
    """The words of the code that are names of builtins, which the module does not hide; one too many does no harm."""
    names = vars(builtins)
    code = "\n".join(line.partition("  # ")[0] for line in lines if not line.lstrip().startswith(("#", '"')))
    for name in set(_NAME.findall(code)):
        if name in names and not iskeyword(name) and globals.get(name, names[name]) is names[name]:
            yield name


def prepare(function: Function, replaced: dict[Var, Atom]) -> Code:
    """The folded code of a function and of those nested in it."""
    code = build_code(function, replaced)
    for statement in walk(code.body):
        if isinstance(statement, Assign) and isinstance(statement.value, MakeFunction):
            value = statement.value
            pairs = zip(value.function.captures, value.captures, strict=True)
            constants: dict[Var, Atom] = {var: atom for var, atom in pairs if isinstance(atom, Const)}
            code.inner[id(value)] = prepare(value.function, constants)
    if code.inner:
        copy_hidden_parameters(code)
        bind_in_loops(code)
    add_sugar(code)
    return fold(code)


def _folded(function: Function, code: Code) -> Iterator[tuple[int, Collection[Var]]]:
    """The variables that are folded into expressions, of a function and of those nested in it."""
    yield id(function), code.folded.keys()
    for statement in walk(code.body) if code.inner else ():
        if isinstance(statement, Assign) and isinstance(statement.value, MakeFunction):
            yield from _folded(statement.value.function, code.inner[id(statement.value)])


def _counterparts(speller: Speller) -> dict[str, str]:
    """What stands for the modules that the text names, where it is for arrays of another one than NumPy: made by the
    head of the text."""
    module = module_of_arrays(compiled_for())
    there = {name: path for name, path in speller.imports.items() if path.startswith(_WITH_COUNTERPARTS)}
    if module is np or module is None or not there:
        return {}
    for name in there:
        del speller.imports[name]
    own = speller.value(module)
    make = speller.value(on)
    shown, call = print_expression(own), print_expression(make)
    return {
        name: f"{call}({shown})" if path == "numpy" else f"{call}({shown}, {path!r})"
        for name, path in sorted(there.items())
    }


_WITH_COUNTERPARTS = ("numpy", "scipy", "s2s.runtime", "s2s.rules", "s2s.models")


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


_Functions: TypeAlias = list[tuple[Function, list[ir.Statement]]]
"""A function and those nested in it, each with all its statements."""


def _functions(function: Function) -> Iterator[tuple[Function, list[ir.Statement]]]:
    statements = _all_statements(function.body)
    yield function, statements
    for statement in statements:
        if isinstance(statement, Let) and isinstance(statement.value, MakeFunction):
            yield from _functions(statement.value.function)


def _all_statements(block: ir.Block) -> list[ir.Statement]:
    """The statements of a block and of the blocks in it, in order of the text."""
    found: list[ir.Statement] = []
    for statement in block.statements:
        found.append(statement)
        if not isinstance(statement, Let):
            for inner in ir.blocks_of(statement):
                found += _all_statements(inner)
    return found


def _variable_names(functions: _Functions) -> Iterator[str]:
    """The names that the user gave to variables."""
    for place, (inner, statements) in enumerate(functions):
        if place > 0 and inner.name.isidentifier() and inner.name not in LAMBDAS:
            yield inner.name
        yield from (v.name for v in (*inner.captures, *(p.var for p in inner.params)))
        for statement in statements:
            own = list(ir.defs_of(statement))
            if isinstance(statement, For):
                own.append(statement.item)
            if isinstance(statement, (For, While)):
                own.extend(c.param for c in statement.carried)
            if isinstance(statement, ir.Try):
                own.extend(h.name for h in statement.handlers if h.name is not None)
            yield from [v.name for v in own if not v.is_temporary]


def _assigned(functions: _Functions) -> set[str]:
    """The names of variables of modules that the text assigns."""
    values = [s.value for _, statements in functions for s in statements if isinstance(s, Let)]
    return {
        v.args[1].value for v in values  # type: ignore[union-attr]
        if isinstance(v, ir.Call) and v.fn == Const(rt.record_variable)}


def _loaded(functions: _Functions) -> set[str]:
    """The closure variables that are read when the text runs; others are known objects, whose names are free."""
    reads = [s.value for _, statements in functions for s in statements if isinstance(s, Let)]
    return {read.name for read in reads if isinstance(read, ir.Load) and read.scope == "free"}


def _spell(functions: _Functions, speller: Speller) -> None:
    """Spell every known object that the text will name, so that variables get out of the way of the names."""
    for inner, statements in functions:
        for statement in statements:
            for atom in _named(statement):
                if isinstance(atom, Const) and atom != UNDEFINED:
                    speller.value(atom.value)
            if isinstance(statement, Let) and isinstance(statement.value, Load):
                speller.load(statement.value)
        for atom in inner.body.yields:
            if isinstance(atom, Const) and atom != UNDEFINED:
                speller.value(atom.value)


def _named(statement: ir.Statement) -> Sequence[Atom]:
    """The atoms of a statement that print as expressions."""
    match statement:
        case Let(_, Call() as value):
            atoms = tree_atoms(value)
            return atoms[1:] if _is_sugar(value.fn) else atoms
        case Let(_, value):
            return tree_atoms(value)
        case Store(kind, target, key, value):
            return (target, key, value) if kind == "item" else (target, value)
        case If(test, then, orelse):
            return (test, *then.yields, *orelse.yields)
        case For(body=body) | While(body=body):
            tested = statement.test.yields if isinstance(statement, While) else ()
            return (*ir.reads_of(statement), *body.yields, *tested)
        case ir.Try():
            return (*ir.reads_of(statement), *(a for side in ir.sides_of(statement) for a in side.yields))
        case ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
            return list(ir.reads_of(statement))
        case _:
            assert_never(statement)


def _is_sugar(fn: Atom) -> bool:
    try:
        return isinstance(fn, Const) and (fn.value in SUGARED or fn.value is getattr or is_method(fn.value))
    except TypeError:
        return False
