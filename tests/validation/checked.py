"""Compile a function for a mode with validation on: ``checked`` gives the reports, or raises what validation raises."""

import contextlib
import os

from s2s import derivatives
from s2s.core.settings import passes_setting
from s2s.directives.decorated import options_of
from s2s.dispatch.asks import Ask
from s2s.dispatch.by_shape import ByShape
from s2s.validation import validate as validation
from tests.helpers import active_positions

MODES = ("grad", "vjp", "jvp")


@contextlib.contextmanager
def validating(**options):
    """Validation is on, and the reports are collected; ``options`` are those of ``validate.check``, which takes all the
    time that it needs otherwise."""
    options = {"seconds": float("inf"), **options}
    reports, original, before = [], validation.check, os.environ.get("S2S_VALIDATE")

    def noted(compilation):
        report = original(compilation, **options)
        reports.append(report)
        return report

    validation.check, os.environ["S2S_VALIDATE"] = noted, "1"
    try:
        yield reports
    finally:
        validation.check = original
        os.environ.pop("S2S_VALIDATE") if before is None else os.environ.update(S2S_VALIDATE=before)


def fresh(f, mode, argnums, count):
    """A derivative of ``f`` that has compiled nothing."""
    single = not isinstance(argnums, tuple)
    wanted = (argnums,) if single else argnums
    # Numba compiles what asks for it only: what it makes of the code is not looked at
    options = (*derivatives._on_backend(options_of(f), "numpy"), ("unconnected", "zeros"))
    options += (("passes", passes),) if (passes := passes_setting()) else ()
    ask = {
        "vjp": Ask("vjp", None, False, False, options, count),
        "jvp": Ask("jvp", wanted, False, False, options, count),
        "vector_jvp": Ask("vector_jvp", wanted, False, False, options, count),
        "vector_vjp": Ask("vector_vjp", wanted, False, False, options, count),
    }.get(mode, Ask(mode, wanted, single, False, options))
    return derivatives._new_derivative(f, ask, derivatives._Store(f))


def checked(f, args, mode="grad", argnums=None, kwargs=None, **options):
    """The reports of compiling a derivative for a call."""
    argnums = active_positions(args) if argnums is None else argnums
    with validating(**options) as reports:
        dispatcher = fresh(f, mode, argnums, len(args)).dispatcher
        if isinstance(dispatcher, ByShape):
            dispatcher = dispatcher.dispatcher_for(args, kwargs or {})
        dispatcher.version_for(dispatcher.collect(*args, **(kwargs or {})))
    return reports
