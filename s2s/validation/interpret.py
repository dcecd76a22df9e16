"""An interpreter of the IR, in both of its forms: a function and arguments go in, its result comes out.

It shares nothing with the compiler but the nodes, so every pass can be compared against it. It is written to be
obviously right, not fast. Arrays are NumPy's own and stores change them in place: what shares memory in the program
shares it here.
"""

from __future__ import annotations

import builtins
import enum
import inspect
import operator
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from s2s.core import ir, ops
from s2s.core.operators import IN_PLACE, OPERATORS

__all__ = ["Interpreted", "Limit", "TooLong", "execute", "run"]


class TooLong(BaseException):
    """A run takes longer than its limit. No Exception, so that no handler of the program takes it."""


class Interpreted(BaseException):
    """The program asks for the derivative of a function that it made itself: of an interpreted function there is no
    source. No Exception, as TooLong."""


@dataclass
class Limit:
    """How long runs may take: until a time of ``time.monotonic``, looked at once in a while."""

    until: float = float("inf")
    steps: int = 0

    def step(self) -> None:
        """Count one statement. Raises TooLong when the time is over."""
        self.steps += 1
        if self.steps % 64 == 0 and time.monotonic() > self.until:
            raise TooLong


class _End(enum.Enum):
    """How a block of the named form ended early."""

    RETURN = enum.auto()
    BREAK = enum.auto()
    CONTINUE = enum.auto()


AtStore = Callable[[ir.Store, Mapping[ir.Var, Any]], None]
"""Called before each store of a function, with the values of its variables."""


@dataclass(eq=False)
class _Frame:
    """One run of one function. ``is_ssa`` decides what a nested function sees of it: in the named form the
    variables themselves, which it may assign (``nonlocal``), in SSA form the values that they had when it was made.
    ``around`` is the run of the function whose variables it assigns."""

    globals: Mapping[str, Any]
    free: Mapping[str, Any]
    is_ssa: bool
    limit: Limit = field(default_factory=Limit)
    at_store: AtStore = lambda store, values: None
    values: dict[ir.Var, Any] = field(default_factory=dict)
    captured: dict[ir.Var, Callable[[], Any]] = field(default_factory=dict)
    around: _Frame | None = None
    result: Any = None


_UNDEFINED = ir.UNDEFINED.value
_OF_CELLS = (ops.make_cell, ops.make_list)
"""What makes the cell of a variable that has no value yet, before ``specialize`` and after it."""


def run(
    function: ir.Function, args: list[Any], globals: Mapping[str, Any], free: Mapping[str, Any] | None = None
) -> Any:
    """What ``function`` returns for ``args``. ``globals`` and ``free`` are the variables around it, by name.

    Raises what the function raises, and NameError where it reads a variable that has no value.
    """
    assert not function.captures, "only a function made by another one captures variables"
    frame = _Frame(globals, free or {}, is_ssa=bool(function.body.yields))
    return _call(function, frame, {}, tuple(args), {})


def execute(
    function: ir.Function, values: Sequence[Any], owner: types.FunctionType, limit: Limit, seen: ir.Atom | None = None,
    at_store: AtStore = lambda store, values: None,
) -> tuple[Any, Any]:
    """What ``function`` returns for the values of its parameters, in order, run where ``owner`` was defined; and what
    its atom ``seen`` is at the end."""
    frame = _Frame(owner.__globals__, _cells(owner), bool(function.body.yields), limit, at_store)
    frame.values.update(zip((p.var for p in function.params), values, strict=True))
    result = _run_body(function, frame)
    return result, None if seen is None else _take(seen, frame)


def _call(
    function: ir.Function,
    frame: _Frame,
    defaults: Mapping[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Bind the arguments as Python does, and run the body in ``frame``."""
    bound = _signature(function, defaults).bind(*args, **kwargs)
    bound.apply_defaults()
    frame.values.update(zip((p.var for p in function.params), bound.arguments.values(), strict=True))
    return _run_body(function, frame)


def _run_body(function: ir.Function, frame: _Frame) -> Any:
    _run_block(function.body, frame)
    return _read(function.body.yields[0], frame) if frame.is_ssa else frame.result


def _signature(function: ir.Function, defaults: Mapping[str, Any]) -> inspect.Signature:
    return inspect.Signature(
        [
            inspect.Parameter(
                param.var.name if param.var.name.isidentifier() else f"p{place}",
                getattr(inspect.Parameter, param.kind),
                default=defaults.get(param.var.name, inspect.Parameter.empty),
            )
            for place, param in enumerate(function.params)
        ]
    )


# --- atoms and values ---------------------------------------------------------------------------------------


def _take(atom: ir.Atom, frame: _Frame) -> Any:
    """The value of an atom, which may be undefined."""
    match atom:
        case ir.Const(value=value):
            return value
        case ir.Var() if atom in frame.values:
            return frame.values[atom]
        case ir.Var() if atom in frame.captured:
            return frame.captured[atom]()
        case ir.Var():
            return _UNDEFINED
        case _:
            assert_never(atom)


def _read(atom: ir.Atom, frame: _Frame) -> Any:
    value = _take(atom, frame)
    if value is _UNDEFINED:
        raise NameError(f"{atom} has no value here")
    return value


def _bind(var: ir.Var, value: Any, frame: _Frame) -> None:
    """Give a variable a value, in the function that it is a variable of; of ``UNDEFINED`` it has none."""
    while frame.around is not None and var in frame.captured:
        frame = frame.around
    frame.values[var] = value


def _evaluate(value: ir.Value, frame: _Frame) -> Any:
    match value:
        case ir.Var() | ir.Const():
            return _read(value, frame)
        case ir.Load():
            return _load(value, frame)
        case ir.Call(fn, arguments, keywords):
            function = _read(fn, frame)
            if function is globals:
                return frame.globals
            args: list[Any] = []
            for argument in arguments:
                if isinstance(argument, ir.Star):
                    args += _read(argument.atom, frame)
                elif argument == ir.UNDEFINED and function in _OF_CELLS:
                    args.append(_UNDEFINED)
                else:
                    args.append(_read(argument, frame))
            kwargs: dict[str, Any] = {}
            for key, atom in keywords:
                kwargs |= dict(_read(atom, frame)) if key is None else {key: _read(atom, frame)}
            return _apply(function, args, kwargs)
        case ir.MakeFunction():
            return _make(value, frame)
        case _:
            assert_never(value)


def _apply(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function. A method of arrays is asked of the value that there is: a number of NumPy has its own."""
    if isinstance(function, types.MethodDescriptorType) and args and not isinstance(args[0], function.__objclass__):
        return getattr(args[0], function.__name__)(*args[1:], **kwargs)
    return function(*args, **kwargs)


def _load(load: ir.Load, frame: _Frame) -> Any:
    outer, free = frame.globals, frame.free
    if load.owner is not None:
        outer, free = load.owner.__globals__, _cells(load.owner)
    places = [free] if load.scope == "free" else [outer, vars(builtins)]
    for place in places:
        if load.name in place:
            return place[load.name]
    raise NameError(f"name {load.name!r} is not defined")


def _cells(owner: types.FunctionType) -> dict[str, Any]:
    """The closure variables of a function, as they are."""
    found = {}
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _make(make: ir.MakeFunction, outer: _Frame) -> Callable[..., Any]:
    """A callable that interprets a nested function."""
    function = make.function
    defaults = {name: _read(atom, outer) for name, atom in make.defaults}
    captured = {
        var: _capture(atom, outer) for var, atom in zip(function.captures, make.captures, strict=True)
    }

    def made(*args: Any, **kwargs: Any) -> Any:
        is_ssa = bool(function.body.yields)
        around = None if outer.is_ssa else outer
        frame = _Frame(outer.globals, outer.free, is_ssa, outer.limit, captured=captured, around=around)
        return _call(function, frame, defaults, args, kwargs)

    made.__name__ = function.name
    if outer.is_ssa:
        # SSA form leaves a function's own name undefined among its captures.
        for var in function.captures:
            if var.name == function.name and captured[var]() is _UNDEFINED:
                captured[var] = lambda: made
    return made


def _capture(atom: ir.Atom, outer: _Frame) -> Callable[[], Any]:
    if outer.is_ssa:
        value = _take(atom, outer)
        return lambda: value
    return lambda: _take(atom, outer)


# --- statements ---------------------------------------------------------------------------------------------


def _run_block(block: ir.Block, frame: _Frame) -> _End | None:
    for statement in block.statements:
        end = _run_statement(statement, frame)
        if end is not None:
            return end
    return None


def _run_statement(statement: ir.Statement, frame: _Frame) -> _End | None:
    frame.limit.step()
    match statement:
        case ir.Let(ir.Var() as target, ir.Const(value=value)) if value is _UNDEFINED:
            _bind(target, _UNDEFINED, frame)  # ``del``
        case ir.Let(target, value):
            result = _evaluate(value, frame)
            if target is not None:
                _bind(target, result, frame)
        case ir.Store():
            _store(statement, frame)
        case ir.If(test, then, orelse, results):
            block = then if _read(test, frame) else orelse
            end = _run_block(block, frame)
            if end is not None:
                return end
            _assign(results, block.yields, frame)
        case ir.For():
            return _run_for(statement, frame)
        case ir.While():
            return _run_while(statement, frame)
        case ir.With():
            return _run_with(statement, frame)
        case ir.Try(final=final):
            try:
                end = _run_try(statement, frame)
            finally:
                last = _run_block(final, frame)
            return end if last is None else last
        case ir.Assert(test, problem):
            if not _read(test, frame):
                _run_block(problem, frame)
                raise _read(problem.yields[0], frame)
        case ir.Raise(exception, cause):
            if exception is None:
                raise
            raise _read(exception, frame) from (None if cause is None else _read(cause, frame))
        case ir.Return(value):
            frame.result = _read(value, frame)
            return _End.RETURN
        case ir.Break():
            return _End.BREAK
        case ir.Continue():
            return _End.CONTINUE
        case ir.Note():
            pass
        case _:
            assert_never(statement)
    return None


def _run_with(statement: ir.With, frame: _Frame) -> _End | None:
    if statement.ended is not None:
        _bind(statement.ended, False, frame)
    with _read(statement.manager, frame) as entered:
        if statement.target is not None:
            _bind(statement.target, entered, frame)
        end = _run_block(statement.body, frame)
        if statement.ended is not None:
            _bind(statement.ended, True, frame)
        return end
    return None


def _run_try(statement: ir.Try, frame: _Frame) -> _End | None:
    """The body with its ``else``, or the first handler whose kinds match."""
    end, at = None, 0
    try:
        for at, inner in enumerate(statement.body.statements):  # noqa: B007
            end = _run_statement(inner, frame)
            if end is not None:
                break
    except (Interpreted, TooLong):
        raise
    except BaseException as problem:
        for handler in statement.handlers:
            kinds = tuple(_read(kind, frame) for kind in handler.kinds) or (BaseException,)
            if isinstance(problem, kinds):
                if handler.name is not None:
                    _bind(handler.name, problem, frame)
                for unassigned in handler.unassigned:
                    held = unassigned.held[at]
                    frame.values[unassigned.param] = _UNDEFINED if held is None else _take(held, frame)
                end = _run_block(handler.body, frame)
                _assign(statement.results, handler.body.yields, frame)
                return end
        raise
    if end is None:
        end = _run_block(statement.orelse, frame)
    _assign(statement.results, statement.orelse.yields, frame)
    return end


def _assign(targets: tuple[ir.Var, ...], atoms: tuple[ir.Atom, ...], frame: _Frame) -> None:
    """Bind all targets at once, as a swap needs."""
    values = [_take(atom, frame) for atom in atoms]
    frame.values.update(zip(targets, values, strict=True))


def _store(store: ir.Store, frame: _Frame) -> None:
    if store.kind == "opaque":
        return  # a remark about the call after it
    frame.at_store(store, frame.values)
    target, value = _read(store.target, frame), _read(store.value, frame)
    match store.kind:
        case "item" | "attr":
            key = _read(store.key, frame)
            read, write = (operator.getitem, operator.setitem) if store.kind == "item" else (getattr, setattr)
            if store.op is not None:
                old = read(target, key) if store.was is None else _read(store.was, frame)
                value = IN_PLACE[store.op](old, value)
            write(target, key, value)
        case "global":
            frame.globals[_read(store.key, frame)] = value  # type: ignore[index]
        case "whole":
            assert store.op is not None and IN_PLACE[store.op](target, value) is target, "not changed in place"
        case "at":
            assert store.op is not None
            OPERATORS[store.op].ufunc.at(target, _read(store.key, frame), value)
        case kind:
            raise AssertionError(f"no such store: {kind}")


def _run_for(loop: ir.For, frame: _Frame) -> _End | None:
    left = False
    _start(loop, frame)
    for item in _read(loop.iterable, frame):
        _bind(loop.item, item, frame)
        left, end = _run_iteration(loop, frame)
        if end is _End.RETURN:
            return end
        if left:
            break
    return _finish(loop, frame, left)


def _run_while(loop: ir.While, frame: _Frame) -> _End | None:
    left = False
    _start(loop, frame)
    while not left:
        _run_block(loop.test, frame)
        if not _read(loop.test.yields[0], frame):
            break
        left, end = _run_iteration(loop, frame)
        if end is _End.RETURN:
            return end
    return _finish(loop, frame, left)


def _start(loop: ir.For | ir.While, frame: _Frame) -> None:
    _assign(tuple(c.param for c in loop.carried), tuple(c.init for c in loop.carried), frame)


def _run_iteration(loop: ir.For | ir.While, frame: _Frame) -> tuple[bool, _End | None]:
    """Run the body once: whether the loop is left, and how the body ended."""
    end = _run_block(loop.body, frame)
    if end is not None:
        return end is not _End.CONTINUE, end
    leaves = loop.leave is not None and bool(_read(loop.leave, frame))
    _assign(tuple(c.param for c in loop.carried), loop.body.yields, frame)
    return leaves, None


def _finish(loop: ir.For | ir.While, frame: _Frame, left: bool) -> _End | None:
    _assign(tuple(c.result for c in loop.carried), tuple(c.param for c in loop.carried), frame)
    if loop.left is not None:
        frame.values[loop.left] = left
    return None if left else _run_block(loop.orelse, frame)
