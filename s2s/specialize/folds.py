"""What is folded at which line of the program, and what a version relies on because of it: notes for people.

    if mode == "fast" and x.ndim == 1:      `mode == "fast" and x.ndim == 1` is true: `mode` is 'fast', `x.ndim` is 1

Only where somebody asks (``Context.stages``) is there a ``Folds``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.steps.packages import is_library_code
from s2s.builder.stages import LONGEST, remark, text_at
from s2s.core import ir
from s2s.core.values import Known, Unknown
from s2s.specialize.frames import Frame, is_of_s2s
from s2s.versions.argument_guards import EqualGuard, SizeGuard, SumGuard
from s2s.versions.signature import key

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Folds"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
"""Values that say something of a test; functions, classes and modules are as they are."""


class Folds:
    """Notes the tests of a function that are known when it is compiled, with what they are known by, and at which
    statement each guard came up: ``Stages.places``."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self._seen = 0
        self._definitions: dict[int, tuple[ir.Block, dict[ir.Var, ir.Let | ir.If]]] = {}

    # --- tests

    def decided(self, statement: ir.If, frame: Frame, is_true: bool) -> None:
        """Note that only one side of a branch is compiled: not in code of other packages."""
        context, span = self.specializer.context, statement.span
        if span is None or not self._is_told(frame) or frame.body is None:
            return
        span = self._span_of(statement.test, frame) or span
        text = text_at(span)
        test = statement.test
        if text is None and isinstance(test, ir.Var) and not test.is_temporary:
            text = test.name
        if text is None:
            return
        leaves = list(dict.fromkeys(self._leaves(test, frame)))
        plain = [leaf for leaf in leaves if leaf.partition("` is ")[0].strip("`") != text]
        why = f", as {', '.join(plain)}" if plain else ""
        remark(context, span, "folded", f"`{text}` is {'true' if is_true else 'false'}{why}")

    def written_out(self, span: ir.Span | None, frame: Frame, times: int) -> None:
        """Note that a loop is written out, its iterations so many times in all."""
        if self._is_told(frame) and times > 1:
            text = f"the loop is written out {times} times, as what it goes through is known"
            remark(self.specializer.context, span, "folded", text)

    def _is_told(self, frame: Frame) -> bool:
        return not is_of_s2s(frame) and not is_library_code(frame.fn, self.specializer.function)

    def _span_of(self, test: ir.Atom, frame: Frame) -> ir.Span | None:
        """The place of the expression of a test; None where that is the place of the branch."""
        made = self._made(frame).get(test) if isinstance(test, ir.Var) and test.is_temporary else None
        span = None if made is None else made.span
        return None if span == (span and span.start) else span  # that of `a and b` is the statement's

    def _made(self, frame: Frame) -> dict[ir.Var, ir.Let | ir.If]:
        """What makes each variable of the function that a frame is of."""
        body = frame.body
        assert body is not None
        found = self._definitions.get(id(body))
        if found is None:
            made = {
                var: s for s in ir.walk(body) if isinstance(s, (ir.Let, ir.If)) for var in ir.defs_of(s)
                if isinstance(var, ir.Var)}
            found = self._definitions[id(body)] = body, made
        return found[1]

    def _leaves(self, atom: ir.Atom, frame: Frame) -> Iterator[str]:
        """What is known of the variables that a test is made of."""
        if not isinstance(atom, ir.Var) or self.specializer.atom(atom, frame) == ir.UNDEFINED:
            return
        made = self._made(frame).get(atom)
        name = None if made is not None and atom.is_temporary else atom.name
        if isinstance(made, ir.If) and atom.is_temporary:  # `a and b`
            yield from self._leaves(made.test, frame)
            for block in (made.then, made.orelse):
                if atom in made.results:
                    yield from self._leaves(block.yields[made.results.index(atom)], frame)
            return
        if name is None and isinstance(made, ir.Let):
            name = self._path(atom, frame)
        if name is not None:
            said = self._said(atom, frame)
            if said is not None:
                is_outside = isinstance(made, ir.Let) and isinstance(made.value, ir.Load)
                yield f"`{name}` is {said}{' (checked at each call)' if is_outside else ''}"
                return
        if isinstance(made, ir.Let) and isinstance(made.value, ir.Call):
            for a in (made.value.fn, *made.value.args, *(a for _, a in made.value.kwargs)):
                yield from self._leaves(a, frame)  # type: ignore[arg-type]

    def _path(self, atom: ir.Atom, frame: Frame) -> str | None:
        """A temporary that is read of a variable, `x.ndim`, as it is written."""
        made = self._made(frame).get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Let):
            return atom.name if isinstance(atom, ir.Var) and not atom.is_temporary else None
        if not atom.is_temporary:  # type: ignore[union-attr]
            return atom.name  # type: ignore[union-attr]
        match made.value:
            case ir.Load(name=name):
                return name
            case ir.Call(ir.Const(value=fn), (holder, ir.Const(value=str() as attribute))) if fn is getattr:
                before = self._path(holder, frame)  # type: ignore[arg-type]
                return None if before is None else f"{before}.{attribute}"
        return None

    def _said(self, atom: ir.Atom, frame: Frame) -> str | None:
        """What is known of a variable; None where that says nothing."""
        known = self.specializer.context.value(self.specializer.atom(atom, frame))
        if isinstance(known, Unknown):
            return None
        if isinstance(known, Known) and not issubclass(type(known.value), _PLAIN):
            return None
        said = repr(known.value) if isinstance(known, Known) else _kind(known)
        return said if said is not None and len(said) <= LONGEST else None

    # --- guards

    def passed(self, span: ir.Span | None) -> None:
        """Note that what the version has come to rely on came up at a statement, if not in one inside it."""
        facts, context = self.specializer.context.evaluator.facts, self.specializer.context
        stages, guards = context.stages, self.specializer.guards
        now = len(guards) + len(facts.alike) + len(facts.bounded) + len(facts.assumed) + len(context.forced)
        if span is None or stages is None or now == self._seen:
            return
        self._seen = now
        subjects: list[Hashable] = [guard.subject for guard in guards]
        subjects += [EqualGuard(*pair) for pair in facts.alike]
        subjects += [EqualGuard(*pair) for pairs in context.forced.values() for pair in pairs]
        subjects += [SumGuard(*one) for one in facts.bounded]
        subjects += [SizeGuard(*one) for one in facts.assumed]
        for subject in subjects:
            stages.places.setdefault(subject, span)


def _kind(known: Any) -> str | None:
    """The kind of a value, with its article."""
    said = key(known)
    return None if said in ("", "?") else f"{'an' if said[0] in 'aeiou' else 'a'} {said}"
