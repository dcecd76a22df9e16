"""Conditions go in, the code of a dispatcher comes out.

Types and dtypes that conditions compare with are constants of the code object: loading one is the cheapest that Python
has. Other objects stand in a list that only grows, in the dispatcher's one closure cell (``_is_plain`` says why). So
new code comes in one assignment, whatever other threads run meanwhile.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core.codes import replace_constants
from s2s.core.inspection import module_of
from s2s.core.lines import indented
from s2s.core.tracebacks import shorten
from s2s.directives.policy import AMBIENT
from s2s.versions.target import Target, parameters_of

__all__ = ["Writer"]


class Writer:
    """Writes dispatchers for one target: functions with its public parameters, in the user's globals."""

    def __init__(self, target: Target, name: str, under: Callable[[], Any] | None = None) -> None:
        """``under`` gives the dispatcher's function to call in blocks for which choices hold; None where it is one."""
        self.under = under
        self.target = target
        self.name = name if name.isidentifier() else "derivative"
        self.globals = target.function.__globals__
        self.prefix = "_s2s_"
        self.locals = {p.name for p in target.public}
        while any(local.startswith(self.prefix) for local in self.locals):
            self.prefix = f"_{self.prefix}"
        self._fixed = {name: f"{self.prefix}fixed{i}" for i, name in enumerate(target.fixed)}
        self._live = _live_defaults(target)
        self._kept: list[Any] = []
        self._places: dict[int, int] = {}

    def expression(self, name: str) -> str:
        """How the dispatcher reads a parameter of the function: by its name, or a constant where it is
        set."""
        return self._fixed.get(name, name)

    def function(self, miss: Callable[..., Any], retry: Callable[..., Any] | None) -> types.FunctionType:
        """A new dispatcher, which knows no version. ``retry``, which it calls where a version refuses the path that it
        has come to, or fails, is given the exception and the arguments: it gives the result in a tuple, or None."""
        defaults = tuple(
            _MISSING if p.name in self._live else p.default
            for p in self.target.public
            if p.name in self.target.positional and p.default is not p.empty
        )
        closure = (types.CellType(self._kept),)
        made = types.FunctionType(self.code([], miss, retry), self.globals, self.name, defaults or None, closure)
        by_keyword = {
            p.name: _MISSING if p.name in self._live else p.default
            for p in self.target.public
            if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
        }
        made.__kwdefaults__ = by_keyword or None
        made.__module__ = self.target.function.__module__
        return made

    def inner(self, code: types.CodeType) -> types.FunctionType:
        """A function with code that ``code`` has made for calls from a dispatcher."""
        return types.FunctionType(code, self.globals, self.name, None, (types.CellType(self._kept),))

    def code(
        self, entries: Any, miss: Any, retry: Any, switch: str | None = None, table: dict[str, Any] | None = None,
        is_inner: bool = False,
    ) -> types.CodeType:
        """The code of a dispatcher that tests ``entries``, (conditions, names, what to call), in turn. Before that it
        calls what ``table`` has for the string that the parameter ``switch`` is. Code that ``is_inner`` is called with
        the values of the function's parameters."""
        objects = {self._fixed[name]: value for name, value in self.target.fixed.items()}
        own = ", ".join(name for name in self.target.parameters if name not in self._fixed)
        lines = [f"def {_ANY_NAME}({own if is_inner else self._parameters()}):"]
        if not is_inner:
            lines += [*self._leave(objects), *self._read_defaults(objects), *self._merge(objects)]
        arguments = ", ".join(map(self.expression, self.target.parameters))
        if switch is not None:
            text, find, found = (f"{self.prefix}{name}" for name in ("str", "find", "found"))
            objects |= {text: str, find: (table or {}).get}
            lines += [
                f"    if {switch}.__class__ is {text}:",
                f"        {found} = {find}({switch})",
                f"        if {found} is not None: return {found}({own})",
            ]
        found, problem, miss_ = (f"{self.prefix}{name}" for name in ("chosen", "problem", "miss"))
        objects |= {problem: Exception, miss_: miss}
        tests: list[str] = []
        for i, (conditions, names, call) in enumerate(entries):
            renamed = {name: f"{name}_{i}" for name in names.objects}
            objects |= {renamed[name]: value for name, value in names.objects.items()}
            test = " and ".join(conditions) or "True"
            test = _rename_all(test, self.prefix, renamed)
            objects[f"{self.prefix}call_{i}"] = call
            tests += [f"        {'elif' if tests else 'if'} {test}:", f"            {found} = {self.prefix}call_{i}"]
        if tests:  # a condition about what was deleted raises: it does not hold
            lines += ["    try:", *tests, "        else:", f"            {found} = {miss_}"]
            lines += [f"    except {problem}:", f"        {found} = {miss_}"]
        again, answer, shorter = (f"{self.prefix}{name}" for name in ("again", "answer", "shorten"))
        objects |= {again: retry, shorter: shorten}
        lines += [
            "    try:",
            f"        return {found if tests else miss_}({arguments})",
            f"    except {problem} as {problem[1:]}:",
            "        try:",
            f"            {answer} = {again}({problem[1:]}, ({arguments}{',' if arguments else ''}))",
            f"        except {problem} as other_{problem[1:]}:",
            f"            {shorter}(other_{problem[1:]})",
            "            raise",
            f"        if {answer} is None:",
            f"            {shorter}({problem[1:]})",
            "            raise",
            f"        return {answer}[0]",
        ]
        kept = {name: self._keep(value) for name, value in objects.items() if not _is_plain(value)}
        code = _code("\n".join(lines), self.prefix, objects, kept, f"{self.prefix}kept")
        return code.replace(co_name=self.name, co_qualname=self.name)

    def _keep(self, value: Any) -> int:
        """The place of an object in the list that all code of this dispatcher shares. The list only grows,
        so that code that still runs in another thread finds what it looks for."""
        if id(value) not in self._places:
            self._places[id(value)] = len(self._kept)
            self._kept.append(value)
        return self._places[id(value)]

    def _parameters(self) -> str:
        shown: list[str] = []
        kinds = [p.kind for p in self.target.public]
        for i, p in enumerate(self.target.public):
            if p.kind is p.KEYWORD_ONLY and not {p.VAR_POSITIONAL, p.KEYWORD_ONLY} & set(kinds[:i]):
                shown.append("*")
            stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            shown.append(f"{stars}{p.name}")  # defaults are objects, set on the function
            if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :]:
                shown.append("/")
        return ", ".join(shown)

    def _leave(self, objects: dict[str, Any]) -> list[str]:
        """The line that leaves a call inside a block for which a choice holds to the dispatcher for that."""
        if self.under is None:
            return []
        held, under = f"{self.prefix}held", f"{self.prefix}under"
        objects |= {held: AMBIENT.get, under: self.under}
        passed = {"VAR_POSITIONAL": "*{0}", "KEYWORD_ONLY": "{0}={0}", "VAR_KEYWORD": "**{0}"}
        given = ", ".join(passed.get(p.kind.name, "{0}").format(p.name) for p in self.target.public)
        return [f"    if {held}(): return {under}()({given})"]

    def _read_defaults(self, objects: dict[str, Any]) -> list[str]:
        """The lines that read the function's own defaults, which may have changed since."""
        if not self._live:
            return []
        missing, function = f"{self.prefix}missing", f"{self.prefix}function"
        objects |= {missing: _MISSING, function: self.target.function}
        live = self._live.items()
        return [f"    if {name} is {missing}: {name} = {function}.{default}" for name, default in live]

    def _merge(self, objects: dict[str, Any]) -> list[str]:
        """The lines that put what a ``partial`` set into ``*args`` and ``**kwargs``."""
        lines = []
        rest, named = self._variables()
        for name, value, operator in ((rest, self.target.prefix, "+"), (named, self.target.extra, "|")):
            if name and (value or name not in self.locals):
                constant = f"{self.prefix}before_{name}"
                objects[constant] = value
                lines.append(
                    f"    {name} = {constant}" + (f" {operator} {name}" if name in self.locals else "")
                )
        return lines

    def _variables(self) -> tuple[str, str]:
        """The names of the function's own ``*args`` and ``**kwargs``."""
        code, names = self.target.function.__code__, self.target.parameters
        named = names[-1] if code.co_flags & inspect.CO_VARKEYWORDS else ""
        rest = names[code.co_argcount] if code.co_flags & inspect.CO_VARARGS else ""
        return rest, named


_MISSING = object()
"""The default of a dispatcher's parameter whose default is read from the function at the call."""


def _live_defaults(target: Target) -> dict[str, str]:
    """For each public parameter with the function's own default, where the function has it."""
    positional = target.function.__code__.co_argcount
    found = {}
    for i, own in enumerate(parameters_of(target.function)):
        if any(p.name == own.name and p.default is own.default is not p.empty for p in target.public):
            is_keyword = own.kind is own.KEYWORD_ONLY
            where = f"__kwdefaults__[{own.name!r}]" if is_keyword else f"__defaults__[{i - positional}]"
            found[own.name] = where
    return found


def _rename_all(text: str, prefix: str, renamed: dict[str, str]) -> str:
    return re.sub(rf"\b{prefix}\w+", lambda found: renamed.get(found[0], found[0]), text)


_PLAIN = (types.ModuleType, types.BuiltinFunctionType, np.dtype, np.ufunc, type(np.sum))


def _is_plain(value: Any) -> bool:
    """Whether an object refers to nothing of the user's. Only such objects become constants: code objects
    are not seen by the garbage collector, so what refers back to the dispatcher would never go."""
    kind = type(value)
    if kind is types.BuiltinFunctionType:
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType)
    return (
        issubclass(kind, _PLAIN)
        or value is _MISSING
        or (issubclass(kind, type) and module_of(value) in ("builtins", "numpy"))
    )


def _code(
    text: str, prefix: str, objects: dict[str, Any], kept: dict[str, int], kept_name: str
) -> types.CodeType:
    """The code of the one def in ``text``, with its objects put in; ``kept_name`` is its one closure
    variable.

    Names that stand for objects become places in the list ``kept``, or string constants that are replaced
    afterwards. The constants are written ``(constant if True else None)``, which compiles to the constant
    alone: Python warns about literals that are called or compared with ``is``.
    """
    spelled = {name: f"('<{name}>' if True else None)" for name in objects}
    spelled |= {name: f"{kept_name}[{place}]" for name, place in kept.items()}
    text = f"def outer({kept_name}):\n{indented(_rename_all(text, prefix, spelled))}"
    code = _inner_code(text)
    plain = {f"<{name}>": value for name, value in objects.items() if name not in kept}
    return replace_constants(code, plain)


_ANY_NAME = "derivative"
"""What a def is called whose code gets the name of a dispatcher afterwards."""


@functools.lru_cache(maxsize=1024)
def _inner_code(text: str) -> types.CodeType:
    """The code of the def inside the def of a text: derivatives of functions with like parameters have the same one."""
    module = compile(text, "<s2s dispatch>", "exec", dont_inherit=True)
    outer = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return next(c for c in outer.co_consts if isinstance(c, types.CodeType))
