"""A generated function that returns a pullback in, two compiled functions out, one that keeps and one that pulls back.

Compiled code cannot return a function. It returns what the pullback reads, and the pullback becomes a compiled function
that takes it:

    def loss_vjp(x):                                  def loss_vjp(x):
        y = np.exp(x)                                     y = np.exp(x)
        def pullback(out_bar):                            return np.sum(y), (y,)
            x_bar = out_bar * y
            return (x_bar,)                           def pullback(y, out_bar):
        return np.sum(y), pullback                        x_bar = out_bar * y
                                                          return (x_bar,)
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable
from typing import Any

from s2s import runtime as rt
from s2s.backends.background import worker
from s2s.backends.numba.adaptation import write_out_containers
from s2s.backends.numba.compiler import Refused, Text, Wrapped
from s2s.backends.numba.functions import replacement
from s2s.backends.numba.syntax import bound_names, name_of, names_in, stored_names
from s2s.backends.trial import Trial, with_errors_raised
from s2s.core.codes import own_codes
from s2s.core.critical import section

__all__ = ["with_pullback"]


def with_pullback(
    text: Text, raw: types.FunctionType, kinds: Any, gradient_kinds: tuple[Any, ...]
) -> tuple[Callable[[], Callable[..., Any]], Wrapped]:
    """What gives the compiled function of ``(out, pullback)``, ``(out, pullback, aux)``, and what is to be compiled
    before. Raises Refused."""
    _refuse_objects_of_the_runtime(text)
    split = _split(text)
    if split is None:
        raise Refused("the pullback is not made at the end", text.entry.lineno)
    forward, pullback, kept, given = split

    def plain(*values: Any) -> tuple[Any, ...]:
        return raw(*values)  # type: ignore[no-any-return]

    value_kinds = kinds if isinstance(kinds, tuple) else (None, None)
    wrapped = Wrapped(text, forward, plain, text.samples, (value_kinds[0], None, *value_kinds[2:]))
    pull = _Pullback(text, pullback, given, gradient_kinds)
    places = [text.parameters.index(name) for name in given]

    def make() -> Callable[..., Any]:
        run = wrapped.function

        def call(*values: Any) -> tuple[Any, ...]:
            result: tuple[Any, ...] = run(*values)
            out, made, *aux = result
            if callable(made):  # by Python
                return result
            captured = (*made, *[values[place] for place in places])
            return (out, lambda out_bar: pull(*captured, out_bar), *aux)

        return call

    assert kept is not None
    return make, wrapped


def _refuse_objects_of_the_runtime(text: Text) -> None:
    """Raise Refused where the text makes an object that tells arrays apart by who they are: what compiled code returns
    has the same memory, and is another array."""
    for node in ast.walk(text.entry):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if (
                text.compiled.imports.get(name) == "s2s.runtime" and isinstance(getattr(rt, attribute, None), type)
            ):
                raise Refused(f"`rt.{attribute}` is not compiled", node.lineno)


def _split(text: Text) -> tuple[ast.FunctionDef, ast.FunctionDef, list[str], list[str]] | None:
    """The two halves of a function that makes a pullback, and the names that the second takes: those that the first
    returns for it, and parameters of the whole. None where it is written in another way."""
    entry = copy.deepcopy(text.entry)
    write_out_containers(entry, text.outside(text.samples, text.parameters, replacement))
    last = entry.body[-1]
    made = [s for s in entry.body if isinstance(s, ast.FunctionDef) and s.name == "pullback"]
    if len(made) != 1 or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple):
        return None
    pullback, (value, pulled, *aux) = made[0], last.value.elts
    if not (isinstance(pulled, ast.Name) and pulled.id == "pullback"):
        return None
    entry.body.remove(pullback)
    read = names_in(pullback) - bound_names(pullback)
    parameters = [a.arg for a in entry.args.args]
    given = [name for name in parameters if name in read and name not in stored_names(entry)]
    kept = sorted(read & bound_names(entry) - set(given))
    both: list[ast.expr] = [value, ast.Tuple([name_of(name) for name in kept], ast.Load()), *aux]
    last.value = ast.Tuple(both, ast.Load())
    pullback.args.args = [ast.arg(name) for name in (*kept, *given)] + pullback.args.args
    for node in (entry, pullback):
        ast.fix_missing_locations(node)
    return entry, pullback, kept, given


class _Pullback:
    """The second half, compiled at its first call: only then the cotangent's kind is known."""

    def __init__(self, text: Text, node: ast.FunctionDef, given: list[str], kinds: tuple[Any, ...]) -> None:
        self.text = text
        self.node = node
        self.given = given
        self.kinds = kinds
        self.parameters = [a.arg for a in node.args.args]
        self.run: Callable[..., Any] | None = None
        self.plain = text.linked(ast.FunctionDef(**dict(ast.iter_fields(node))))

    def __call__(self, *values: Any) -> Any:
        *captured, out_bar = values
        if type(out_bar) is int:
            out_bar = float(out_bar)
        if self.run is None:
            if any(isinstance(value, list) and not value for value in captured):
                return self.plain(*captured, out_bar)  # Numba cannot tell what an empty list is a list of
            given = (*captured, out_bar)
            if self.text.is_aside:
                self.run = self.plain
                worker.submit(lambda: self._compile_aside(given))
            else:
                self._compile(given)
        assert self.run is not None
        return self.run(*captured, out_bar)

    def _prepared(self, values: tuple[Any, ...]) -> Wrapped:
        """What is to be compiled for such values. Raises Refused."""
        samples = dict(zip(self.parameters, values, strict=True))
        return Wrapped(self.text, self.node, self.plain, samples, self.kinds, self.given)

    def _compile(self, values: tuple[Any, ...]) -> None:
        try:
            wrapped = self._prepared(values)
            wrapped.compile()
            self.run = wrapped.function
        except Refused as refused:
            if refused.is_passing:
                return self._compile(values)
            self.text.warn(refused)
            self.run = self.plain

    def _compile_aside(self, values: tuple[Any, ...]) -> None:
        """Compile in the other thread; then some calls run both."""
        try:
            with section, own_codes():
                wrapped = self._prepared(values)
            wrapped.compile()
        except Refused as refused:
            return self._compile_aside(values) if refused.is_passing else None

        def settle(chosen: Callable[..., Any], why: str) -> None:
            self.run = chosen

        self.run = Trial(self.plain, with_errors_raised(self.plain, wrapped.function), settle)
