"""A version on the ``auto`` backend: it runs as Python with NumPy, and compiled by Numba when that has paid.

    1. Each call of a version is timed.
    2. When the calls have taken about as long as Numba would, another thread compiles the version.
    3. Some calls run both (``s2s.backends.trial``): the faster one is what the dispatcher calls from then on.

``docs/design/auto.md`` says why. A version is left as it is wherever something speaks against it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.limits import limited_length
from s2s.core.record import replace
from s2s.core.settings import numba_after, validating
from s2s.core.values import AbstractValue, Array, Known, Mapping, Scalar, Sequence
from s2s.dispatch.lookup import find_or_compile
from s2s.dispatch.version import Version, parameter_names, renamed_for
from s2s.versions.paths import imported
from s2s.versions.request import Compiled, Request

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["Tier", "may_gain"]

_LOOP = re.compile(r"^ +(for|while) ", re.MULTILINE)
_IN_LIBRARIES = re.compile(r" @ |\b(linalg|fft|einsum|tensordot|dot|vdot|matmul|sort|argsort)\b")

LINES = 20.0
"""Numba takes about a second for a text of as many lines, beside the first one."""


def may_gain(compiled: Compiled) -> bool:
    """Whether machine code may be faster: there is a loop in the text, or nothing but operations on the elements of
    arrays, which become loops. What else an array code does, it does in libraries that are machine code."""
    text = compiled.text
    return _LOOP.search(text) is not None or _IN_LIBRARIES.search(text) is None


class Tier:
    """What a version runs. ``run`` is what it calls until all is decided, ``told`` what is known so far."""

    def __init__(self, dispatcher: Dispatcher, version: Version, function: types.FunctionType) -> None:
        self.dispatcher = dispatcher
        self.version = version
        self.function = function
        self.raw = version.raw
        self.spent = 0.0
        self.after = numba_after() * (1.0 + version.compiled.text.count("\n") / LINES)
        self._told = ""
        self._step: Callable[..., Any] | None = None  # while calls are timed
        self.run = self._make_run()

    @property
    def told(self) -> str:
        """What the version runs on, and why."""
        return self._told or f"numpy: it has run for {self.spent:.2g} of {self.after:.2g} seconds"

    def _make_run(self) -> Callable[..., Any]:
        raw, now = self.raw, perf_counter

        def run(*values: Any) -> Any:
            if self._step is not None:
                return self._step(*values)
            start = now()
            result = raw(*values)
            self.spent += now() - start
            if self.spent > self.after and self._step is None:
                self._begin(values)
            return result

        return run

    def _begin(self, values: tuple[Any, ...]) -> None:
        """Let another thread compile the version, for the types of these arguments."""
        worker = imported("s2s.backends.background:worker")
        generation, self._told = worker.generation, "numpy, while Numba compiles"

        def waiting(*later: Any) -> Any:
            if worker.generation != generation:  # a child has not what its parent was about to compile
                self._begin(later)
            return self.raw(*later)

        self._step = waiting
        worker.submit(lambda: self._compile(values))

    def _compile(self, values: tuple[Any, ...]) -> None:
        """Compile: in the other thread."""
        try:
            import numba  # noqa: F401  # not in the section: it takes long

            compiled, why = self._compiled(values)
        except Exception as problem:  # Numba is not installed, or s2s is mistaken: Python goes on
            self._settle(self.raw, f"numpy: Numba cannot be used, {type(problem).__name__}: {problem}")
            return
        if compiled is None:
            self._settle(self.raw, f"numpy: Numba does not compile it: {why}")
            return
        make = imported("s2s.backends.trial:Trial")
        self._told, self._step = "numpy, beside Numba for some calls", make(self.raw, compiled, self._settle)

    def _compiled(self, values: tuple[Any, ...]) -> tuple[Any, str]:
        version, problem = self.version, ""
        with section, own_codes():
            compile_ = imported("s2s.backends.numba.versions:compiled_aside")
            texts = [*self._for_numba(), version.compiled]
        for text in texts:
            compiled, problem = compile_(text, self.raw, self.function, version.request, version.avals, values)
            if compiled is not None:
                return imported("s2s.backends.trial:with_errors_raised")(self.raw, compiled), ""
        return None, problem

    def _for_numba(self) -> list[Compiled]:
        """The text that the Numba backend has for the version, where it relies on nothing else than the version does:
        it has loops where that for NumPy has products of arrays."""
        version = self.version
        if version.compiled.is_observed or validating() or not all(map(_is_plain, version.avals)):
            return []
        request = renamed_for(version.request, self.dispatcher.target, self.function)
        options = tuple(("backend", "numba") if name == "backend" else (name, value) for name, value in request.options)
        arguments = dict(zip(parameter_names(self.function), version.avals, strict=True))
        try:
            asked: Request = replace(request, options=options)
            with limited_length(True):
                found, _ = find_or_compile(self.function, arguments, asked)
            return [found] if set(found.guards) <= set(version.compiled.guards) else []
        except Exception:  # refused, or guards that cannot be compared
            return []

    def _settle(self, chosen: Callable[..., Any], why: str) -> None:
        """Run this one from now on, in the dispatcher itself as soon as nothing else is changed there."""
        self._told = why

        def settled(*values: Any) -> Any:
            if self.dispatcher.let_run(self.version, self.raw, chosen):
                self._step = chosen
            return chosen(*values)

        self._step = settled


def _is_plain(aval: AbstractValue) -> bool:
    """Whether an abstract value says all that there is to say of an argument, without an example."""
    match aval:
        case Sequence(_, items) | Mapping(_, items):
            return all(map(_is_plain, items))
        case _:
            return isinstance(aval, (Scalar, Array, Known))
