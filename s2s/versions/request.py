"""What the front end asks of the compiler (``Request``) and what it gets back (``Compiled``): plain data.

A *version* of a function is its code for one request and one abstract value per argument. It is valid while its guards
hold; a version on disk is as good as new while its dependencies have the same fingerprints.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from s2s.core.record import record
from s2s.notices import Notice
from s2s.versions.fingerprints import Unstorable, fingerprint

if TYPE_CHECKING:
    from s2s.versions.guards import Guard
    from s2s.versions.observed import Observed

Path: TypeAlias = tuple[Any, ...]
"""Where a differentiated value is: a parameter's name, then indices or keys: ``("W",)``, ``("args", 1)``."""

STRONG_ZEROS = ("zeros", "strong")
"""The option of a version in whose sweeps zero times inf or NaN is zero."""


@record
class Request:
    """What is asked for: ``mode`` is grad, value_and_grad, vjp or primal.

    ``single`` asks for a bare gradient instead of a tuple; ``options`` are the policies, sorted by name. In
    mode vjp the compiled entry returns ``(out, pullback)``, ``(out, pullback, aux)`` with ``has_aux``, and
    ``pullback(out_bar)`` returns a tuple with one cotangent for each path of ``wrt``.
    """

    mode: str
    wrt: tuple[Path, ...]
    single: bool = False
    has_aux: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def tells_of_zeros(self) -> bool:
        """Whether the user is told of arguments by which the gradient is zero everywhere."""
        options = dict(self.options)
        is_asked = self.mode in ("grad", "value_and_grad") and not {"inner", "changes"} & {*options}
        return is_asked and options.get("unconnected") != "none"


@record
class Dependency:
    """Something folded into the code, and what it looked like then.

    ``root`` is ``global`` or ``free`` of the function compiled, ``argument`` (a function given as an
    argument: the path begins with the parameter), or ``import`` (the path is a module's name, then
    attributes). ``of`` makes one.
    """

    root: str
    path: tuple[str, ...]
    fingerprint: str

    @classmethod
    def of(cls, root: str, path: tuple[str, ...], value: Any) -> Dependency:
        """The dependency on ``value`` found at ``path``; one that never holds again where ``value`` has no
        fingerprint."""
        try:
            return cls(root, path, fingerprint(value))
        except Unstorable:
            return cls(root, path, "")


@record
class Compiled:
    """One version as text, with what the text needs to run.

    ``entry`` is the def to call: its parameters are the function's, in order, all passed by position
    (``*args`` as a tuple, ``**kwargs`` as a dict). ``imports`` maps a local name to ``module`` or
    ``module:attribute``; ``objects`` to an object that has no import path; ``globals`` and ``free`` are
    read live. ``result`` says what NumPy types the result has: ``float32`` for a NumPy scalar, ``array float32`` for an
    array, a tuple of these for a container, None for what is not known or of another kind. ``met`` are the functions,
    as text, for which a choice has another rule and that the code has met; ``made`` maps a local name to the expression
    that makes it. One that was ``observed`` was made for what values were in a run of the function, which it checks.
    ``loops`` is the same with loops over elements in the place of operations on arrays, for a backend that compiles it.
    ``places`` says where lines of the text come from: for each file of the user, the number of a line of the text and
    that of the line in the file, of several where expressions of other lines are folded into it.
    ``notices`` are told when the version is first used. ``is_by_layout`` says that how arrays lie in memory decides
    what the code does; ``changed`` are the parameters whose arrays the function changes. ``missing_kinds`` says how
    much is left to the run as kinds of values are not known, which one run more would show; 0 where that would be seen.
    """

    text: str
    entry: str
    imports: dict[str, str]
    objects: dict[str, Any]
    globals: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    result: Any = None
    met: tuple[str, ...] = ()
    made: Mapping[str, str] = MappingProxyType({})
    observed: Observed | None = None
    loops: Compiled | None = None
    places: Mapping[str, tuple[tuple[int, int], ...]] = MappingProxyType({})
    notices: tuple[Notice, ...] = ()
    is_by_layout: bool = False
    changed: tuple[str, ...] = ()
    missing_kinds: int = 0

    @property
    def is_observed(self) -> bool:
        """Whether it was made for what values were in a run of the function."""
        return self.observed is not None
