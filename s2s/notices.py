"""What may surprise people, told as warnings: once for each place in a process, each of a category of its own.

    Notice("ZeroGradientWarning", "...", file, line, name)      found while a version is compiled, kept with it on disk
    tell(notices)                                               given when the version is first used, with its page

``docs/warnings.md`` has a section for each category.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from s2s.core.package import page_of
from s2s.core.record import record

__all__ = [
    "CompileTimeWarning", "DerivativeWarning", "DynamicCallWarning", "EditedAdjointWarning", "NumbaFallbackWarning",
    "NotFusedWarning", "NumbaLeftOutWarning", "Notice", "RecompilationWarning", "RecordedWarning", "SearchWarning",
    "SinglePrecisionWarning", "SlowDerivativeWarning", "StraightThroughWarning", "TrainedOptionWarning",
    "ZeroGradientWarning", "log", "tell", "with_page",
]


def log(text: str, *values: Any) -> None:
    """Log what the compiler does, to ``s2s.compile`` at the level DEBUG; where nothing has imported ``logging``, nobody
    listens."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger("s2s.compile").debug(text, *values)



class DerivativeWarning(UserWarning):
    """The base of all warnings of s2s: ``warnings.simplefilter("ignore", s2s.DerivativeWarning)`` switches them off."""


class ZeroGradientWarning(DerivativeWarning):
    """No path that has a derivative leads from what is differentiated to the result: its gradient is zero everywhere.

    ``unconnected="none"`` asks for None in its place, and no warning.
    """


class StraightThroughWarning(DerivativeWarning):
    """A step, such as ``floor`` or a cast to integers, is differentiated as if it gave its argument.

    The derivative of the step itself is zero. Say which one is meant, and nothing is told:
    ``s2s.nonsmooth(floor="straight_through")`` or ``floor="zero"``.
    """


class SearchWarning(DerivativeWarning):
    """A loop finds a point by comparisons (bisection, golden section, binary search on a curve), and the policy
    ``s2s.nonsmooth(search="zero")`` holds for it.

    What such a loop returns is put together from points that do not depend on what is differentiated: only which side
    is taken does. So its derivative, that of the iterations, is not that of the point, which the loop has without the
    policy, where the equation is known that it solves.
    """


class RecordedWarning(DerivativeWarning):
    """A function that the compiler refuses, or whose compiled derivative fails, is recorded at each call, as a tracing
    tool does.

    The gradient is right, or the call is refused; it costs what tracing costs, and there is no adjoint to read. The
    warning says what the compiler refused. ``S2S_RECORDED=0`` in the environment makes that an error.
    """


class SlowDerivativeWarning(DerivativeWarning):
    """A derivative whose calls are recorded has taken a second in all, and more than fifty times what the function
    takes. The text says which line is the reason, and what to write instead.
    """


class DynamicCallWarning(DerivativeWarning):
    """A loop calls a function that is known only when the program runs: its derivative is looked up in each iteration.
    """


class SinglePrecisionWarning(DerivativeWarning):
    """A loop adds up numbers in single precision: what is lost grows with the number of iterations."""


class CompileTimeWarning(DerivativeWarning):
    """A version took over two seconds to compile. The text says why."""


class RecompilationWarning(DerivativeWarning):
    """A derivative was compiled many times. The text says what changes from call to call."""


class NumbaLeftOutWarning(DerivativeWarning):
    """A function under ``@njit`` is differentiated on NumPy, where its loops run as Python does."""


class NumbaFallbackWarning(DerivativeWarning):
    """Numba cannot compile the generated code of a version, which runs as Python with NumPy instead.

    The text says which line Numba stops at, and why. Results are the same; only speed is not.
    """


class NotFusedWarning(DerivativeWarning):
    """A module of arrays does not compile a chain of operations on elements, or gives other numbers for it: they are
    done one by one. Results are the same; only speed is not.
    """


class TrainedOptionWarning(DerivativeWarning):
    """An optimizer changes a float that looks like an option of an object: a field with a default beside arrays, or one
    that is called as options are.

    ``field(metadata={"static": True})`` keeps it as it is, ``{"static": False}`` says that it is a parameter; in both
    cases nothing is told.
    """


class EditedAdjointWarning(DerivativeWarning):
    """A module that ``s2s build`` has written was edited: its version of a function is not taken, and it is compiled.
    """


@record
class Notice:
    """Something to tell: the name of its category, the text, and the place in the user's source."""

    category: str
    text: str
    file: str
    line: int
    name: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        return self.category, self.text, self.file, self.line, self.name


def with_page(text: str, category: type[Warning]) -> str:
    """The text of a warning, whose last line says where its page is."""
    return f"{text}\n  = page: {page_of(category.__name__)}"


_told: set[tuple[Any, ...]] = set()
_under: tuple[Any, list[Any]] = None, []
"""What has been told, and under which filters: the list, and what was in it. The ``warnings`` module forgets what it
gave when a library changes its filters for a while; here that is so where those of the user are others."""


def tell(notices: Iterable[Notice]) -> None:
    """Give warnings, each once for its place, at the lines of the user's source."""
    global _under
    if _under[0] is not warnings.filters or _under[1] != warnings.filters:
        _under = warnings.filters, list(warnings.filters)
        _told.clear()
    for notice in notices:
        if notice.key not in _told:
            kind: type[Warning] = globals()[notice.category]
            text, module = with_page(notice.text, kind), notice.name or notice.file
            warnings.warn_explicit(text, kind, notice.file, notice.line, module)
            _told.add(notice.key)
