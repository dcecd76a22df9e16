"""The text of a version in, the same for those who call it themselves out: it has the parameters of its primal, and
checks the arguments that it was made for: one that a branch was chosen by is the only one that the text is right for.

    def f_grad(x, flag, rest):                  def f_grad(x, flag=True, *rest):
        x_bar = 2 * x                   ->          if not flag:
        return x_bar                                    raise ValueError("f_grad was made for flag=True")
                                                    x_bar = 2 * x
                                                    return x_bar
"""

from __future__ import annotations

import ast
import dis
import enum
import inspect
import math
import re
import sys
import types
from collections.abc import Iterator
from collections.abc import Sequence as Several
from itertools import groupby
from typing import Any

import numpy as np

from s2s.codegen.heading import defaults_for, is_plain, literal
from s2s.codegen.layout import laid_out
from s2s.codegen.printing import WIDTH
from s2s.codegen.statements import heading
from s2s.core.lines import lines_of
from s2s.core.values import AbstractValue, ArrayLike, Dim, Instance, Known, Mapping, Object, Same, Sequence
from s2s.directives.decorated import Differentiable
from s2s.dispatch.version import Version
from s2s.shipping.departures import Condition, Departures
from s2s.shipping.gather import CannotShip
from s2s.shipping.uses import bound_anywhere
from s2s.versions.argument_guards import EqualGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.expressions import split_symbol
from s2s.versions.guards import AliasGuard, AttributeGuard, KindGuard, NamesGuard, ObjectGuard, ShadowGuard
from s2s.versions.target import parameters_of

__all__ = ["is_between_arguments", "option_names", "with_conditions", "with_parameters"]

MOST = 64
"""Arrays of more numbers are not compared with those that a text was made for."""

DEEPEST = 8
"""So many attributes a place has at most, of functions that have taken functions along."""


def with_conditions(
    version: Version,
    text: str,
    function: types.FunctionType,
    departures: Departures | None = None,
    has_self: bool = False,
    is_alone: bool = True,
) -> str:
    """The text with a check at the start of its entry, of those arguments that the function which is differentiated
    reads, and of their parts: numbers, words and functions known to the version, lengths and keys, kinds where
    ``departures`` say so, classes. ``has_self`` says that the first argument is the object of a method, which may be of
    another class that has the same methods. A text that does not stand alone checks the options of its module, too.
    Raises CannotShip where no text can tell an argument from others."""
    entry = _entry(text, version.compiled.entry)
    if entry is None or entry.decorator_list:
        return text
    names, read = [p.name for p in parameters_of(function)], _read(function)
    conditions: list[Condition] = []
    for k, (name, aval) in enumerate(zip(names, version.avals, strict=False)):
        if name in read:
            is_own = k == 0 and has_self and isinstance(aval, Object)
            conditions += () if is_own else _conditions(name, aval)
            conditions += departures.of_argument(k, name) if departures is not None else ()
    own = names[0] if has_self and names else None
    conditions += _of_guards(version, departures, own, read)
    conditions = _without_doubles([*conditions, *(() if is_alone else _of_module(version, bound_anywhere(entry)))])
    if not conditions:
        return text
    lines = [f"    {line}" for checked in _by_line(entry.name, conditions) for line in _check(entry.name, checked)]
    start = _first_statement(entry)
    rest = lines_of(text)
    made = "\n".join([*rest[:start], *lines, *rest[start:], ""])
    needs_numpy = any("np." in differs for differs, _ in conditions) and "import numpy as np\n" not in made
    return f"import numpy as np\n\n\n{made}" if needs_numpy else made


def _by_line(name: str, conditions: list[Condition]) -> list[list[Condition]]:
    """The conditions in groups that have one ``if`` each: what is said of one argument stays together, and as many of
    these go together as one line has room for."""
    made: list[list[Condition]] = []
    is_whole = False
    for _, same in groupby(conditions, key=lambda condition: condition[1]):
        group = list(same)
        parts = _filled([[one] for one in group], name)
        if is_whole and len(parts) == 1 and len(_check(name, made[-1] + group)) == 2:
            made[-1] += group
        else:
            made += parts
            is_whole = len(parts) == 1
    return made


def _filled(groups: list[list[Condition]], name: str) -> list[list[Condition]]:
    """Neighbours joined, as long as the check of both is two lines."""
    made: list[list[Condition]] = []
    for group in groups:
        if made and len(_check(name, made[-1] + group)) == 2:
            made[-1] += group
        else:
            made.append(group)
    return made


def _check(name: str, conditions: list[Condition]) -> list[str]:
    """The statement that raises where one of the conditions holds."""
    test = " or ".join(differs for differs, _ in conditions)
    said = ", ".join(dict.fromkeys(holds for _, holds in conditions))
    head = laid_out(ast.parse(test, mode="eval").body, WIDTH - 4, "if ", ":")
    return [*head, *(f"    {line}" for line in _raised(f"{name} was made for {said}"))]


def _raised(message: str) -> list[str]:
    """The statement that raises, with a long message in several texts."""
    if len(message) <= WIDTH - 8 - len('raise ValueError("")'):
        return [f"raise ValueError({_quoted(message)})"]
    lines = [""]
    for part in re.findall(r".*?, |.+", message):
        if lines[-1] and len(lines[-1] + part) > WIDTH - 16:
            lines.append("")
        lines[-1] += part
    return ["raise ValueError(", *(f"    {_quoted(line)}" for line in lines), ")"]


def _quoted(text: str) -> str:
    """A text as it is written in code, in double quotes unless it has more of these than of single ones."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def _without_doubles(conditions: list[Condition]) -> list[Condition]:
    """Each condition once, and none that others say: a length that must be 2, or that of another array which must not
    be 1, needs not be compared with 1. What an array of one dimension must be in all is its shape."""
    tests = dict(conditions)
    dropped, shapes = set(), dict[str, tuple[str, str]]()
    for test in tests:
        left, is_unequal, right = test.partition(" != ")
        if not is_unequal:
            continue
        dropped |= {f"{left} == 1 != {right}", f"{right} == 1 != {left}"}
        if f"{left} == 1" in tests and (right.isdigit() or f"{right} == 1" in tests):
            dropped.add(f"{left if right.isdigit() else right} == 1")
        place = left.removeprefix("len(").removesuffix(")")
        if right.isdigit() and left == f"len({place})" and f"{place}.ndim != 1" in tests:
            dimensions = f"{place}.ndim != 1"
            shapes[dimensions] = f"{place}.shape != ({right},)", tests[test]
            dropped.add(test)
    return [shapes.get(test, (test, holds)) for test, holds in tests.items() if test not in dropped]


def with_parameters(version: Version, text: str, function: types.FunctionType) -> str:
    """The text whose entry takes arguments as the function does that is differentiated, with ``*args`` and
    ``**kwargs``; where it takes more than these, tangents, as it is."""
    entry = _entry(text, version.compiled.entry)
    parameters = parameters_of(function)
    names = [p.name for p in parameters]
    if entry is None or entry.decorator_list or [a.arg for a in entry.args.args] != names:
        return text
    defaults = defaults_for(function, dict(zip(names, version.avals, strict=False)))
    lines = lines_of(text)
    head = heading(f"def {entry.name}(", _written(parameters, defaults), "")
    return "\n".join([*lines[: entry.lineno - 1], *head, *lines[_end_of_head(entry, lines) :], ""])


def _written(parameters: Several[inspect.Parameter], defaults: dict[str, str]) -> list[str]:
    """The texts between the parentheses of a ``def``."""
    positional = [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    needed = max((k for k, name in enumerate(positional) if name not in defaults), default=-1)
    kept = {n: d for n, d in defaults.items() if n not in positional or positional.index(n) > needed}
    plain = [p.replace(default=inspect.Parameter.empty, annotation=inspect.Parameter.empty) for p in parameters]
    made: list[str] = []
    for before, p in zip([None, *plain], plain, strict=False):
        if before is not None and before.kind == p.POSITIONAL_ONLY != p.kind:
            made.append("/")
        if p.kind == p.KEYWORD_ONLY and (before is None or before.kind < p.VAR_POSITIONAL):
            made.append("*")
        made.append(f"{p}={kept[p.name]}" if p.name in kept else str(p))
    return [*made, "/"] if plain and plain[-1].kind == inspect.Parameter.POSITIONAL_ONLY else made


def _end_of_head(entry: ast.FunctionDef, lines: Several[str]) -> int:
    """The number of the line that ends with the colon of a ``def``."""
    inside: list[ast.arg | ast.expr] = [*entry.args.args, *entry.args.defaults]
    last = max((a.end_lineno or 0 for a in inside), default=entry.lineno)
    return next(k for k in range(last, len(lines) + 1) if lines[k - 1].endswith(":"))


def _entry(text: str, name: str) -> ast.FunctionDef | None:
    return next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _first_statement(entry: ast.FunctionDef) -> int:
    """How many lines come before the body, the docstring among them."""
    if ast.get_docstring(entry, clean=False) is not None:
        return entry.body[0].end_lineno or 0
    return entry.body[0].lineno - 1


def _conditions(place: str, aval: AbstractValue) -> Iterator[Condition]:
    """What an argument must be, of which parts a branch may have been chosen by: a test for another one, and what it is
    for people. Of containers these are the length, or the keys, and the parts."""
    if isinstance(aval, Known):
        yield from _of_value(place, aval.value)
    elif isinstance(aval, (Object, ArrayLike)):
        yield from _of_class(place, aval.type)
    elif isinstance(aval, Same):
        yield f"{place} is not {aval.name}", f"{place} is {aval.name}"
    elif isinstance(aval, (Sequence, Mapping)) and not aval.items:
        yield f"len({place}) != 0", f"{place} empty"
    elif isinstance(aval, Sequence):
        yield f"len({place}) != {len(aval.items)}", f"len({place})={len(aval.items)}"
        for k, item in enumerate(aval.items):
            yield from _conditions(f"{place}[{k}]", item)
    elif isinstance(aval, Mapping):
        yield f"list({place}) != {list(aval.keys)!r}", f"list({place})={list(aval.keys)!r}"
        for key, item in zip(aval.keys, aval.items, strict=True):
            yield from _conditions(f"{place}[{key!r}]", item)
    elif isinstance(aval, Instance):
        yield from _of_class(place, aval.type)
        for name, item in zip(aval.keys, aval.items, strict=True):
            yield from _conditions(f"{place}.{name}", item)


def _of_value(place: str, value: Any) -> Iterator[Condition]:
    """The value itself must be this one. Raises CannotShip where no text can tell it from others."""
    if value is None or value is ... or type(value) is bool:
        yield f"{place} is not {literal(value)}", f"{place}={literal(value)}"
    elif is_plain(value):
        yield f"{place} != {literal(value)}", f"{place}={literal(value)}"
    elif type(value) is float:  # an infinity, or no number
        test = f"{place} == {place}" if math.isnan(value) else f'{place} != float("{value}")'
        yield test, f"{place}={value}"
    elif isinstance(value, np.dtype):
        yield f"str({place}) != {literal(str(value))}", f"{place}={value}"
    elif isinstance(value, enum.Enum):
        yield f"{place}.name != {literal(value.name)}", f"{place}={value.name}"
        yield from _of_class(place, type(value))
    elif isinstance(value, types.ModuleType):
        yield f'{place}.__name__ != "{value.__name__}"', f"{place}={value.__name__}"
    else:
        yield from _of_named(place, value, f"{place}={getattr(value, '__qualname__', '')}")


def _of_named(place: str, value: Any, holds: str) -> Iterator[Condition]:
    """A function or class is told by its name and that of its module, of which the text may have a copy where it stands
    alone; a function that these do not lead to, by its line as well, and by what it has taken along."""
    owner, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    is_bound = not isinstance(getattr(value, "__self__", None), (types.ModuleType, type(None), type))
    if not isinstance(name, str) or is_bound:
        raise CannotShip(f"it was made for one value of `{place}`, which it cannot tell from others: {value!r:.60}")
    yield f"{place}.__qualname__ != {literal(name)}", holds
    if not isinstance(value, (types.FunctionType, type, Differentiable)) or owner == "builtins":
        return
    found = sys.modules.get(str(owner))
    for step in name.split("."):
        found = inspect.getattr_static(found, step, None)
    local = value if isinstance(value, types.FunctionType) and found is not value else None
    if local is not None:
        line = local.__code__.co_firstlineno
        yield f"{place}.__code__.co_firstlineno != {line}", f"{holds} of line {line}"
    yield f'{place}.__module__ not in ("{owner}", "__main__", __name__)', f"{holds} of {owner}"
    if local is None:
        return
    yield from _of_items(f"{place}.__defaults__", local.__defaults__)
    yield from _of_items(f"{place}.__kwdefaults__", local.__kwdefaults__)
    for k, cell in enumerate(local.__closure__ or ()):
        if cell.cell_contents is not value:
            yield from _of_items(f"{place}.__closure__[{k}].cell_contents", cell.cell_contents)


def _of_items(place: str, value: Any) -> Iterator[Condition]:
    """What a function has taken along must be the same, item by item. Raises CannotShip."""
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.size <= MOST and np.isfinite(value).all():
        yield f"not np.array_equal({place}, {value.tolist()})", f"{place} as it was"
    elif type(value) in (tuple, list, dict) and not is_plain(value):
        yield f"len({place}) != {len(value)}", f"len({place})={len(value)}"
        for key in value if type(value) is dict else range(len(value)):
            yield from _of_items(f"{place}[{key!r}]", value[key])
    elif place.count(".") > DEEPEST:
        raise CannotShip(f"it was made for a function that has taken others along: `{place.partition('.')[0]}`")
    else:
        yield from _of_value(place, value)


def _of_class(place: str, kind: type) -> Iterator[Condition]:
    yield from _of_named(f"type({place})", kind, f"{place}: {kind.__name__}")


def _of_guards(
    version: Version, departures: Departures | None, own: str | None, read: set[str]
) -> Iterator[Condition]:
    """What the guards of the version say of arguments: of parts of objects, their methods, of lengths and memory."""
    for guard, _ in version.guards:
        match guard:
            case ObjectGuard(root="argument", path=(*path, "__class__"), value=value):
                yield from _of_objects(version, tuple(path), value, own, read)
            case ObjectGuard(root="argument", path=path, value=value):
                yield from _of_value(_place(*path), value)
            case KindGuard(root="argument", name=name, rest=rest, aval=aval):
                yield from _conditions(place := _place(name, *rest), aval)
                yield from departures.of_part(place, aval) if departures is not None else ()
            case AttributeGuard(root="argument", path=path, name=name, is_there=is_there):
                has = f"hasattr({_place(*path)}, {literal(name)})"
                yield (f"not {has}", has) if is_there else (has, f"not {has}")
            case ShadowGuard(root="argument", path=path, name=name) if _place(*path) != own:
                yield f"{literal(name)} in vars({_place(*path)})", f"{literal(name)} not in vars({_place(*path)})"
            case NamesGuard(root="argument", path=path, names=names):
                yield f"list({_place(*path)}) != {[*names]}", f"list({_place(*path)})={[*names]}"
            case AliasGuard(first=first, second=second, same=same) if is_between_arguments(guard):
                places = _place(*first[1]), _place(*second[1])
                words = ("is not", "is") if same else ("is", "is not")
                yield f"{places[0]} {words[0]} {places[1]}", f"{places[0]} {words[1]} {places[1]}"
            case SizeGuard(root="argument", symbol=symbol, value=number):
                yield f"{_length(Dim(symbol))} == {number}", f"{_length(Dim(symbol))} != {number}"
            case EqualGuard(first=one, second=other):
                yield f"{_length(one)} != {_length(other)}", f"{_length(one)} == {_length(other)}"
            case SumGuard(test=test):
                holds = guard.expression(_length)
                start = holds.removesuffix(test)
                yield start + {">= 0": "< 0", "!= 1": "== 1"}[test], holds
            case SeparateGuard(first=one, second=other) if "[:]" not in one + other:
                yield f"np.may_share_memory({one}, {other})", f"{one} apart from {other}"


def option_names(version: Version) -> dict[str, Any]:
    """The variables of its module that a version was made for one literal of, and that."""
    scope = version.raw.__globals__
    return {
        guard.path[0]: guard.value for guard, owner in version.guards
        if isinstance(guard, ObjectGuard) and guard.root == "global" and len(guard.path) == 1 and is_plain(guard.value)
        and owner.__globals__ is scope and guard.path[0] in scope
    }


def _of_module(version: Version, bound: frozenset[str]) -> Iterator[Condition]:
    """The options of the module must be these; those whose names the text has for something else are not asked."""
    for name, value in option_names(version).items():
        if name not in bound:
            yield from _of_value(name, value)


def is_between_arguments(guard: AliasGuard) -> bool:
    """Whether a guard compares two arguments; no argument is an object of the module, which the text has for itself.
    Raises CannotShip where one must be."""
    one, other = guard.first, guard.second
    if guard.asks_arguments and one[0] != other[0] and guard.same:
        raise CannotShip(f"it was made for one object as `{one[1][0]}` and as `{other[1][0]}`")
    return one[0] == other[0] == "argument"


def _of_objects(
    version: Version, path: tuple[Any, ...], kind: type, own: str | None, read: set[str]
) -> Iterator[Condition]:
    """An object must be of its class, that of a method of one with the same methods: those that the version found in
    the class."""
    place = _place(*path)
    if path[0] not in read:
        return
    if place != own:
        yield from _of_class(place, kind)
        return
    for guard, _ in version.guards:
        if isinstance(guard, ObjectGuard) and guard.root == "module" and isinstance(guard.value, types.FunctionType):
            name = guard.value.__name__
            if inspect.getattr_static(kind, name, None) is guard.value:
                yield from _of_named(f"{place}.{name}", guard.value, guard.value.__qualname__)


def _length(dim: Dim) -> str:
    """A length of an argument, as Python: ``len(x) - 1``."""
    if dim.is_constant:
        return str(dim.offset)
    base, _, axis = split_symbol(dim.symbol)
    offset = f" {'-' if dim.offset < 0 else '+'} {abs(dim.offset)}" if dim.offset else ""
    return (f"len({base})" if axis == "0" else f"{base}.shape[{axis}]") + offset


def _place(name: str, *steps: Any) -> str:
    """Where a part of an argument is found, as Python: ``self.layers[0]``. Raises CannotShip where that cannot be
    written."""
    made = name
    for step in steps:
        if isinstance(step, str) and step.isidentifier():
            made += f".{step}"
        elif isinstance(step, tuple) and len(step) == 1 and is_plain(step[0]):
            made += f"[{step[0]!r}]"
        else:
            raise CannotShip(f"it was made for a part of `{made}` that it cannot name: {step!r:.60}")
    return made


def _read(function: types.FunctionType) -> set[str]:
    """The variables that a function reads, or functions in it."""
    found = set(function.__code__.co_cellvars)
    for step in dis.get_instructions(function):
        if step.opname.startswith("LOAD_FAST"):
            found.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    return found
