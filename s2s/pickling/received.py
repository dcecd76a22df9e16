"""What pickle calls where a function is unpickled: the function of that name is found, or made from its source."""

from __future__ import annotations

import builtins
import copyreg
import functools
import importlib
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2s.errors import error
from s2s.pickling.chunks import Chunk, Place, code_at, code_in, compiled, has_source, has_text, text_of_class
from s2s.pickling.names import at_name, inner_function

__all__ = [
    "Left", "by_name", "cell", "container", "decorated", "fill", "fill_class", "function", "made_class", "module",
    "module_with", "of_class", "partial", "plain_maker", "scope", "set_cell", "wanted", "with_texts",
]


@dataclass(frozen=True)
class Left:
    """Stands for what did not go along, in a pickle and in no other place."""

    name: str
    reader: str
    reason: str


def scope(name: str) -> dict[str, Any]:
    """The variables of a module that is not here."""
    return {"__name__": name, "__builtins__": builtins}


def function(
    about: tuple[str, str, str, bool], chunk: Chunk, place: Place, free: tuple[str, ...],
    cells: tuple[types.CellType, ...], variables: dict[str, Any],
) -> types.FunctionType:
    """The function of a name, where that is one of the same source; else one made from it."""
    module, name, qualname, is_named = about
    found = inner_function(at_name(module, qualname)) if is_named else None
    if isinstance(found, types.FunctionType) and has_text(found, chunk, module != "__main__"):
        return found
    code = code_in(chunk, place)
    by_name = dict(zip(free, cells, strict=True))
    made = types.FunctionType(code, variables, name, None, tuple(by_name[of] for of in code.co_freevars))
    made.__module__, made.__qualname__ = module, qualname
    return made


def fill(made: types.FunctionType, state: dict[str, Any]) -> None:
    """Give a function that was made here what it reads."""
    if made.__globals__ is not state["scope"]:
        return
    _check(made.__module__, made.__qualname__, [*state["globals"].values(), *state["own"].values()])
    _check(made.__module__, made.__qualname__, [state["defaults"], state["keywords"], state["rules"]])
    made.__globals__.update(state["globals"])
    made.__defaults__, made.__kwdefaults__ = state["defaults"], state["keywords"]
    made.__dict__.update(state["own"])
    if state["rules"] is not None:
        _give_rules(made, **state["rules"])


def _check(module: str, name: str, values: list[Any]) -> None:
    """Raise where a function, or what stands for a module, lacks something."""
    for left in (value for value in values if isinstance(value, Left)):
        raise error(
            "S2S712", module=module, name=name, left=left.name, reader=left.reader, reason=left.reason)


def _give_rules(made: types.FunctionType, pullback: Any, pushforward: Any, partials: Any) -> None:
    from s2s.directives import user_rules

    if partials:
        user_rules.partials(made, *partials)
    if pullback is not None:
        user_rules.defvjp(made, pullback)
    if pushforward is not None:
        user_rules.defjvp(made, pushforward)


def by_name(module: str, name: str) -> Any:
    """What a module has under a name, as pickle finds it. Raises where there is none."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return inner_function(found) or found


def decorated(module: str, name: str, maker: Callable[..., Any], f: Any, /, *args: Any) -> Any:
    """What is made of a function: the object of its name, where that is made of the same function."""
    found = at_name(module, name)
    return found if getattr(found, "func", None) is f else maker(f, *args)


def cell(*args: Any) -> types.CellType:
    """A variable of a function around another, empty."""
    return types.CellType(*args)


def set_cell(made: types.CellType, state: tuple[Any]) -> None:
    """Bind it."""
    made.cell_contents = state[0]


def with_texts(value: Any, texts: list[tuple[str, Chunk]]) -> Any:
    """An object whose class may have come as code without source: its methods get the code that the source has."""
    for name, chunk in texts:
        kind = next((base for base in type(value).__mro__ if base.__name__ == name), None)
        for fn in vars(kind).values() if kind is not None else ():
            if isinstance(fn, types.FunctionType) and not has_source(fn):
                code = code_at(chunk, fn.__qualname__, fn.__code__.co_firstlineno)
                if code is not None and code.co_freevars == fn.__code__.co_freevars:
                    fn.__code__ = code
    return value


def wanted(name: str) -> None:
    """Raise where the program has no class of a name, by which an object goes that comes next."""
    if at_name("__main__", name) is None:
        raise error("S2S713", name=name)


def of_class(_: None, value: Any, texts: list[tuple[str, Chunk]]) -> Any:
    """``with_texts``, after a look at whether the class is here."""
    return with_texts(value, texts)


def partial(func: Any, args: Any, keywords: Any) -> Any:
    """``functools.partial``."""
    return functools.partial(func, *args, **keywords)


def container(kind: str, *items: Any) -> Any:
    """A container that does not change, or a set."""
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)


# --- modules and classes --------------------------------------------------------------------------------------------


def module(name: str) -> types.ModuleType:
    """A module of an installed package."""
    return importlib.import_module(name)


def module_with(name: str, own: dict[str, Any]) -> types.ModuleType:
    """A module of the user's: the one of that name, where it has these functions and classes; else another one that has
    them, and what else is read."""
    try:
        found = importlib.import_module(name)
    except Exception:  # whatever a module of that name does when it is imported here
        found = None
    if found is not None and all(_is_same(getattr(found, key, None), value) for key, value in own.items()):
        return found
    _check(name, name, list(own.values()))
    made = types.ModuleType(name)
    vars(made).update(own, __s2s_sent__=True)
    return made


def _is_same(found: Any, value: Any) -> bool:
    is_code = isinstance(value, (type, types.FunctionType)) or inner_function(value) is not None
    return found is value if is_code else found is not None or value is None


_made: weakref.WeakSet[type] = weakref.WeakSet()


def made_class(
    about: tuple[str, str, bool], chunk: Chunk, variables: dict[str, Any], needs: dict[str, Any]
) -> Any:
    """The class of a name, where that is one of the same source; else one made by running its statement."""
    module, name, is_named = about
    found = at_name(module, name) if is_named else None
    if isinstance(found, type) and text_of_class(found) in ("" if module != "__main__" else None, chunk.text):
        return found
    _check(module, name, list(needs.values()))
    variables.update(needs)
    exec(compiled(chunk), variables)
    _made.add(variables[name])
    return variables[name]


def fill_class(made: Any, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Give the methods of a class that was made here what they read."""
    variables, needs = state
    if made in _made:
        _check(made.__module__, made.__qualname__, list(needs.values()))
        variables.update(needs)


def plain_maker(make: Any) -> Any:
    """What makes an object of a class, as any process has it."""
    return {"__newobj__": new_object, "__newobj_ex__": new_object_ex}.get(getattr(make, "__name__", ""), make) if (
        getattr(make, "__module__", "") == copyreg.__name__) else make


def new_object(kind: type, *args: Any) -> Any:
    """``copyreg.__newobj__``, which pickle does not let stand for other classes."""
    return kind.__new__(kind, *args)


def new_object_ex(kind: type, args: Any, keywords: Any) -> Any:
    """``copyreg.__newobj_ex__``, likewise."""
    return kind.__new__(kind, *args, **keywords)
