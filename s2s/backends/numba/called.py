"""Python functions that compiled code calls: compiled too, with what they call in turn."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numba

from s2s.backends.numba.adaptation import Adapted, Fact, adapt
from s2s.backends.numba.arithmetic import OPTIONS
from s2s.backends.numba.by_python import by_python, by_python_for, chosen_by_types, is_foreign, lacks, lacks_method
from s2s.backends.numba.exits import Pipeline
from s2s.backends.numba.functions import replacement
from s2s.backends.numba.kept import Marks, mark_of_called, mark_of_replaced
from s2s.backends.numba.kinds import asks_kinds, by_kinds
from s2s.backends.numba.libraries import only_in_compiled_code
from s2s.backends.numba.paths import DYNAMIC, Outside, Unsupported, is_of_rules
from s2s.backends.numba.syntax import name_of
from s2s.backends.numba.wrappers import HOLDER
from s2s.frontend import sources
from s2s.versions.paths import builtins_of

__all__ = ["Caller", "Refused", "cell_of", "flags", "global_of"]

_CALLED: dict[tuple[Any, ...], tuple[Any, list[Fact], str]] = {}

MOST_CALLED = 512
"""So many compiled functions are kept; then they are forgotten, and compiled again where they are called again."""


def flags(options: dict[str, Any]) -> dict[str, Any]:
    """What Numba is told about how to compile, by the options of a function."""
    return OPTIONS | {name: options[name] for name in ("fastmath", "parallel") if options.get(name)}


class _NothingToTry(Exception):
    """No call at the line where Numba stops can be made by Python."""


class Refused(Exception):
    """Numba cannot compile a function of a text; ``line`` is where it stops, ``lines`` are all that it names: for a
    function that is called at several lines, those of other attempts too. It ``is_final`` where Python has been let
    make the calls at that line; it ``is_passing`` where the text may be compiled in another way, as statements of it
    are known not to be what they were taken for."""

    def __init__(self, reason: str, line: int, is_final: bool = False, lines: tuple[int, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.is_final = is_final
        self.lines = lines or (line,)
        self.is_passing = False


MOST_LINES = 16
"""At so many lines Python makes the calls, where Numba stops at them; then the whole function runs as Python."""


class Caller:
    """A function that is compiled, with what it calls: ``facts`` are what these rely on, ``called`` the functions.
    ``options`` are Numba's; one that ``is_alone`` has no Python around it, one that ``is_aside`` was not asked for, and
    makes no calls in Python."""

    def __init__(self, options: dict[str, Any], is_alone: bool = False, is_aside: bool = False) -> None:
        self.options = options
        self.is_alone = is_alone
        self.is_aside = is_aside
        self.facts: list[Fact] = []
        self.called: list[Any] = []
        self.marks: Marks = {}
        self.stops: dict[int, str] = {}
        """Why Numba stopped at lines at which Python makes calls now, or runs the statement."""

    def settle(self, make: Callable[[frozenset[int]], Any]) -> None:
        """Compile a function by ``make``, which is given the lines at which Python makes the calls: those at which
        Numba has stopped before. Raises Refused."""
        lines: frozenset[int] = frozenset()
        last: Refused | None = None
        added = 0
        while True:
            try:
                make(lines)
                return
            except _NothingToTry:
                assert last is not None
                if not self.is_region(added):
                    raise last from None
            except Refused as refused:
                last = refused
                new = [line for line in refused.lines if line not in lines]
                if refused.is_final or refused.is_passing:
                    raise
                if new and len(lines) < MOST_LINES:
                    added = new[0]
                    lines |= {added}
                    self.stops[added] = refused.reason
                elif not any(map(self.is_region, refused.lines)):
                    raise

    def is_region(self, line: int) -> bool:
        """Whether the statement at a line is one that Python runs from now on."""
        return False

    @staticmethod
    def check(adapted: Adapted, lines: frozenset[int]) -> None:
        """Raise where there is no call at the line at which Numba has stopped that Python could make."""
        if not lines <= adapted.by_python:
            raise _NothingToTry

    def replace(self, value: Any, call: ast.Call | None) -> Any:
        """What stands for a function: Python functions are compiled too."""
        said = "any call" if call is None else ast.unparse(call)  # before what is constant is taken out of it
        found = replacement(value, call)
        wrapped = getattr(found, "__wrapped__", None)
        if type(found).__name__ in ("Differentiable", "_Choosing") and isinstance(wrapped, types.FunctionType):
            found = wrapped
        if type(found).__name__ == "CustomGradient" and isinstance(found.func, types.FunctionType):
            return called_function(found.func, self, is_value=True)
        if found is value and isinstance(value, types.FunctionType) and not _is_numpy(value):
            return called_function(value, self)
        if found is not value and not isinstance(found, ast.AST):
            self.marks[id(found)] = mark_of_replaced(value, said)
        return found


    def python(self, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        """What stands for a call that Python makes; None where the function must not be called so."""
        if self.is_aside or not is_foreign(function):
            return None
        helper = by_python(function, args, keywords)
        self.marks[id(helper)] = ""  # machine code with the address of a function
        return helper

    def lacks(self, value: Any, call: ast.Call) -> bool:
        """Whether Numba lacks a function, or the method of that name."""
        if self.is_aside:
            return False
        if isinstance(value, str):
            return lacks_method(value)
        return is_foreign(value) and lacks(value, len(call.args), [str(k.arg) for k in call.keywords])


def _is_numpy(value: types.FunctionType) -> bool:
    return (value.__module__ or "").partition(".")[0] == "numpy"


def called_function(function: types.FunctionType, caller: Caller, is_value: bool = False) -> Any:
    """A Python function compiled to be called by compiled code; with ``is_value`` one that gives its value and a
    function for the gradient, of which compiled code takes the value. Raises Unsupported."""
    key = (function, is_value, caller.is_alone, caller.is_aside, *caller.options.items())
    found = _CALLED.get(key)
    if found is None:
        if len(_CALLED) >= MOST_CALLED:
            _CALLED.clear()
        found = _CALLED[key] = _compile_called(function, caller, is_value)
    made, facts, mark = found
    caller.facts += facts
    if isinstance(made, numba.core.dispatcher.Dispatcher):
        caller.called.append(made)
    caller.marks[id(made)] = mark
    return made


def _compile_called(function: types.FunctionType, caller: Caller, is_value: bool) -> tuple[Any, list[Fact], str]:
    """The compiled function, what it relies on, and what another process knows it by, "" where that is nothing."""
    try:
        source = sources.find(function)
    except Exception:
        raise Unsupported(f"the source of `{function.__name__}` is not known") from None
    node = ast.parse(source.text).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise Unsupported(f"`{function.__name__}` is a lambda")
    if is_value:
        _take_value(node)
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise Unsupported(f"`{function.__name__}` takes any number of arguments, or some by keyword only")
    for argument in arguments.args:
        argument.annotation = None
    node.returns, node.decorator_list, arguments.defaults = None, [], []

    if is_of_rules(function) and asks_kinds(node):
        python = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__)

        def compiled(text: ast.FunctionDef) -> Any:
            made, adapted, _ = _adapted(function, text, caller)
            if adapted.by_python and is_foreign(function):
                raise Unsupported("Python makes calls in it")
            return made

        def otherwise(kinds: tuple[Any, ...]) -> Any:
            if caller.is_aside or not is_foreign(function):
                raise numba.TypingError(f"`{function.__name__}` is not compiled")
            return _by_python(function, kinds)

        return by_kinds(python, node, compiled, otherwise), [], ""
    made, adapted, inner = _adapted(function, node, caller)
    facts = [Fact(_seen_from(function, fact.expression), fact.value, function) for fact in adapted.facts]
    mark = mark_of_called(adapted.node, adapted.known, caller.marks, function.__defaults__, caller.options)
    dispatcher = numba.njit(pipeline_class=Pipeline, **caller.options)(made)
    if adapted.by_python and is_of_rules(function) and is_foreign(function) and not function.__defaults__:
        return _whole_by_python(function, dispatcher), [], ""
    return dispatcher, [*facts, *inner.facts], mark


def _whole_by_python(function: types.FunctionType, dispatcher: Any) -> Any:
    """What compiled code calls for a function of rules that would make calls in Python: Python, once for them all,
    where the type of the result is known."""

    def choose(kinds: tuple[Any, ...]) -> Any:
        try:
            return _by_python(function, kinds)
        except numba.TypingError:
            names = ", ".join(_parameters(function))
            made: Any = eval(f"lambda {names}: dispatcher({names})", {"dispatcher": dispatcher})
            return made

    return chosen_by_types(function, _parameters(function), choose, prefer_literal=True)


def _parameters(function: types.FunctionType) -> list[str]:
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def _by_python(function: types.FunctionType, kinds: tuple[Any, ...]) -> Any:
    """What lets Python call a function, for arguments of these types. Raises TypingError."""
    named = dict(zip(_parameters(function), kinds, strict=True))
    return by_python_for(function, [DYNAMIC] * len(kinds), {}, named)


def _adapted(function: types.FunctionType, node: ast.FunctionDef, caller: Caller) -> tuple[Any, Adapted, _Inner]:
    """A called function with this text as a function that Numba compiles. Raises Unsupported."""

    def find(name: str) -> Any:
        return cell_of(function, name) if name in function.__code__.co_freevars else global_of(function, name)

    inner = _Inner(function, caller)
    outside = Outside(
        find, {}, {}, lambda path, value: False, inner.replace, may_read=False, is_alone=caller.is_alone,
        python=caller.python, lacks=caller.lacks,
    )
    try:
        adapted = adapt(node, outside)
    except Unsupported as refused:
        raise Unsupported(f"in `{function.__name__}`, {refused.reason}") from None
    scope = dict(adapted.known)
    scope["__name__"] = function.__module__
    exec(compile(ast.Module([adapted.node], []), function.__code__.co_filename, "exec"), scope)
    made = scope[node.name]
    made.__defaults__ = function.__defaults__
    only_in_compiled_code(made)
    if function.__module__.partition(".")[0] == "s2s":
        adapted.facts = []
    return made, adapted, inner


def _take_value(node: ast.FunctionDef) -> None:
    """Let a function return the first of the two that it returns, and make no functions. Raises Unsupported."""
    node.body = [s for s in node.body if not isinstance(s, ast.FunctionDef)]
    for statement in ast.walk(node):
        if isinstance(statement, ast.Return):
            if not isinstance(statement.value, ast.Tuple) or len(statement.value.elts) != 2:
                raise Unsupported(f"`{node.name}` does not return a value and a function where it is written")
            statement.value = statement.value.elts[0]


class _Inner:
    """What a called function calls in turn."""

    def __init__(self, function: types.FunctionType, caller: Caller) -> None:
        self.function = function
        self.caller = caller
        self.facts: list[Fact] = []

    def replace(self, value: Any, call: ast.Call | None) -> Any:
        if value is self.function:
            raise Unsupported(f"`{value.__name__}` calls itself")
        before = len(self.caller.facts)
        found = self.caller.replace(value, call)
        self.facts += self.caller.facts[before:]
        return found


def _seen_from(function: types.FunctionType, expression: ast.expr) -> ast.expr:
    """The expression by which the wrapper reads what a called function reads."""

    class Read(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> Any:
            holder = name_of(HOLDER)
            if node.id in function.__code__.co_freevars:
                place = function.__code__.co_freevars.index(node.id)
                cells = ast.Attribute(holder, "__closure__", ast.Load())
                return ast.Attribute(ast.Subscript(cells, ast.Constant(place), ast.Load()), "cell_contents", ast.Load())
            scope = ast.Attribute(holder, "__globals__", ast.Load())
            return ast.Subscript(scope, ast.Constant(node.id), ast.Load())

    made: ast.expr = Read().visit(ast.parse(ast.unparse(expression), mode="eval").body)
    return made


# --- names of a function --------------------------------------------------------------------------------------------


def global_of(function: types.FunctionType, name: str) -> Any:
    """The value of a global or a builtin as the function sees it; LookupError."""
    for scope in (function.__globals__, builtins_of(function)):
        if name in scope:
            return scope[name]
    raise LookupError(name)


def cell_of(function: types.FunctionType, name: str) -> Any:
    """What is in a cell of the function's closure; LookupError."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    try:
        return cells[name].cell_contents
    except (KeyError, ValueError):
        raise LookupError(name) from None
