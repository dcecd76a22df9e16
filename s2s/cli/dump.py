"""``s2s dump``: what is asked for on the command line in, the text of generated code out."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import warnings
from dataclasses import dataclass
from typing import Any

import s2s
from s2s.cli.loading import CannotLoad, Loaded, annotated_kinds, bound, evaluated
from s2s.core.annotated import signature_of
from s2s.core.lines import lines_of
from s2s.core.values import Array, Unknown
from s2s.directives.differentiable import on_backend
from s2s.dispatch.version import Version
from s2s.explanation import Explanation, explain
from s2s.shipping.callers import with_conditions, with_parameters
from s2s.shipping.departures import Departures
from s2s.shipping.gate import meaning, module_of, passed, run_beside, statements
from s2s.shipping.plain import plain
from s2s.shipping.standalone import CannotShip, split, standalone
from s2s.sources import made_again, version
from s2s.versions.kinds import Kind, read_kinds
from s2s.versions.target import own_signature, target_of

__all__ = [
    "Asked", "argnums", "dumped", "explained", "for_callers", "merged", "on_backend", "policies", "text_of",
    "version_for", "what_to_say", "without_comments", "written_for",
]


@dataclass
class Asked:
    """What the options of a command say."""

    wrt: str = ""
    mode: str = "grad"
    backend: str = ""
    args: tuple[str, ...] = ()
    kinds: str = ""
    nonsmooth: tuple[str, ...] = ()


def argnums(wrt: str, first: int = 0) -> Any:
    """``W`` as a single argument, ``W,b`` as a tuple, nothing as the ``first`` argument."""
    parts = [part.strip() for part in wrt.split(",") if part.strip()]
    found = [int(part) if part.lstrip("-").isdigit() else part for part in parts]
    if not found:
        return first
    return found[0] if len(found) == 1 and "," not in wrt else tuple(found)


def policies(given: tuple[str, ...]) -> Any:
    """The block in which a derivative is taken: ``zero`` for all steps, ``floor=zero`` for one function."""
    if not given:
        return contextlib.nullcontext()
    whole = [text for text in given if "=" not in text]
    by_name: Any = dict(text.split("=", 1) for text in given if "=" in text)
    return s2s.nonsmooth(*whole[:1], **by_name)


def version_for(loaded: Loaded, asked: Asked) -> Version:
    """The version that is asked for. Raises CannotLoad, and what the compiler raises."""
    return version(*asked_for(loaded, asked))


def explained(loaded: Loaded, asked: Asked) -> Explanation:
    """What is known of the version that is asked for. Raises CannotLoad, and what the compiler raises."""
    return explain(*asked_for(loaded, asked))


def asked_for(loaded: Loaded, asked: Asked) -> tuple[Any, ...]:
    """The function, example arguments, mode, arguments to differentiate and kinds."""
    function = on_backend(loaded.function, asked.backend)
    wanted = argnums(asked.wrt, loaded.first)
    kinds, values = read_kinds(asked.kinds), evaluated(asked.args, loaded.module)
    if asked.mode == "vjp" and (loaded.is_method or asked.wrt):
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    elif asked.mode == "vjp":
        wanted = None
    if not values and (target_of(function) is not None or not kinds):
        return function, (), {}, asked.mode, wanted, kinds
    args, kwargs = bound(loaded, values, {**annotated_kinds(function), **kinds})
    return function, args, kwargs, asked.mode, wanted


def text_of(version: Version) -> str:
    """The text that its backend compiles."""
    is_numba = dict(version.request.options).get("backend") == "numba"
    compiled = version.compiled
    return (compiled.loops if is_numba and compiled.loops else compiled).text


def for_callers(
    loaded: Loaded, asked: Asked, version: Version, text: str, by_position: bool = False, is_alone: bool = False
) -> str:
    """The text of a version for those who call it themselves: it checks the arguments for which it would be another
    text, and takes arguments as the function does, unless all are given by position. Raises CannotLoad where no check
    tells these arguments from others."""
    target = target_of(loaded.function)
    if target is None:
        return text
    departures = Departures(version, text_of, made_again(*asked_for(loaded, asked)))
    with warnings.catch_warnings(), policies(asked.nonsmooth):
        warnings.simplefilter("ignore")
        try:
            text = with_conditions(version, text, target.function, departures, loaded.is_method, is_alone)
        except CannotShip as problem:
            raise CannotLoad(f"{version.compiled.entry} cannot be called from outside: {problem}") from problem
    return text if by_position else with_parameters(version, text, target.function)


def dumped(loaded: Loaded, asked: Asked, version: Version, is_standalone: bool, by_position: bool = False) -> str:
    """The module of a version: with the user's names imported, or with all that it reads; this one runs once where the
    arguments of a call are given. Raises CannotLoad where it cannot stand alone."""
    called = for_callers(loaded, asked, version, text_of(version), by_position, is_standalone)
    text = written_for(version, called, is_standalone)
    target = target_of(loaded.function)
    if is_standalone and asked.args and target is not None and asked.mode in ("grad", "value_and_grad"):
        _, args, kwargs, *_ = asked_for(loaded, asked)
        signature = own_signature(target.function)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        if all(p.kind <= p.POSITIONAL_OR_KEYWORD for p in signature.parameters.values()):
            entry = version.compiled.entry
            module = module_of(compile(text, f"<s2s {entry}>", "exec", dont_inherit=True), f"s2s_{entry}")
            run_beside(getattr(module, entry), version.raw, given.args, entry)
    return text


def written_for(version: Version, text: str, is_standalone: bool) -> str:
    """The module of a version, of its text for callers. Raises CannotLoad where it cannot stand alone."""
    try:
        if is_standalone:
            return standalone(version, text)
        return passed(plain(version, text), text_of(version), version.compiled.entry)
    except CannotShip as problem:
        name = version.compiled.entry
        raise CannotLoad(f"{name} cannot stand alone: {problem}") from problem


def what_to_say(loaded: Loaded, kinds: str) -> str:
    """What to add where kinds of arguments are not known: a command, and a line of the file."""
    target = target_of(loaded.function)
    if target is None:
        return ""
    from s2s.sources import expected

    given: dict[str, Kind] = read_kinds(kinds)
    avals = expected(target, given)
    unknown = [
        name
        for name, aval in zip(target.parameters, avals, strict=True)
        if (isinstance(aval, Unknown) or (isinstance(aval, Array) and aval.shape is None))
        and name not in given and not (loaded.is_method and name == target.parameters[0])
    ]
    if not unknown:
        return ""
    said = ", ".join([*([kinds] if kinds else []), *(f"{name}: f8[:]" for name in unknown)])
    try:
        parameters = signature_of(loaded.function).parameters.values()
    except (TypeError, ValueError):
        return ""
    shown = [str(p.replace(annotation=_Quoted())) if p.name in unknown else str(p) for p in parameters]
    named = ", ".join(f"`{name}`" for name in unknown)
    plural = "these are" if len(unknown) > 1 else "it is"
    return (
        f"  = not known: what {named} will be. If {plural} vectors of floats, say\n"
        f"      s2s dump {loaded.place} --args \"{said}\"\n"
        "    or in the file\n"
        f"      def {target.function.__name__}({', '.join(shown)}):"
    ).replace("it is vectors", "it is a vector")


class _Quoted:
    """An annotation as it is written in the file."""

    __module__ = "builtins"

    def __repr__(self) -> str:
        return '"f8[:]"'


def without_comments(text: str) -> str:
    """Source without its comments."""
    lines = lines_of(text)
    dropped = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
            if not lines[row - 1]:
                dropped.add(row - 1)
    return _says_still("\n".join(line for k, line in enumerate(lines) if k not in dropped).lstrip("\n") + "\n", [text])


def merged(texts: list[str]) -> str:
    """Several modules as one, with their imports on top. Raises CannotLoad where two bind different things to one
    name."""
    imports, defined, bodies = dict[str, str](), dict[str, str](), list[str]()
    for text in texts:
        lines, kept = lines_of(text), list[tuple[bool, str]]()
        for node in ast.parse(text).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                start = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
                _bind(imports, {one.asname or one.name: start + ast.unparse(one) for one in node.names}, "import")
                continue
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            block = "\n".join(lines[first - 1 : node.end_lineno])
            name = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else getattr(node, "name", block)
            if name not in defined:  # helpers that several have in common are there once
                kept.append((isinstance(node, (ast.FunctionDef, ast.ClassDef)), block))
            _bind(defined, {name: block}, "define")
        space = ["" if not k else "\n\n\n" if kept[k][0] or kept[k - 1][0] else "\n" for k in range(len(kept))]
        body = "".join(before + block for before, (_, block) in zip(space, kept, strict=True))
        bodies.append("\n".join([*split(text)[0], body]))
    order = sorted(imports.values(), key=lambda line: ("__future__" not in line, line.startswith("from"), line))
    return _says_still("\n\n\n".join(["\n".join(order), *bodies] if order else bodies) + "\n", texts)


def _bind(known: dict[str, str], new: dict[str, str], verb: str) -> None:
    """Note what names stand for. Raises CannotLoad where one stands for something else."""
    for name, own in new.items():
        if known.setdefault(name, own) != own:
            raise CannotLoad(f"two functions {verb} `{name}`, as other things: dump them one by one")


def _says_still(made: str, texts: list[str]) -> str:
    """The text that was made of some, with the statements of each, those that several have once. Raises CannotLoad."""
    own = dict.fromkeys(meaning([node]) for text in texts for node in statements(text))
    if [*own] != [meaning([node]) for node in statements(made)]:
        raise CannotLoad("the text that was put together does not say what its parts say")
    return made
