"""What goes wrong, told to the user: a ``Diagnostic`` goes in, an exception that shows the line comes out.

Raise with ``raise error("S2S103", span=span, label="...", hint="...")``. Every message has a code and one
line in ``CATALOGUE``, which says its class and its summary; ``{fields}`` of the summary are keyword arguments
of ``error``. Where the place that raises cannot say what to write instead, ``HINTS`` does.
"""

from __future__ import annotations

import linecache
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from s2s.core.linecaches import cell_of
from s2s.core.lines import lines_of, one_line
from s2s.core.package import install, page_of
from s2s.core.record import record

if TYPE_CHECKING:
    from s2s.core.ir import Span

__all__ = [
    "ABOUT_OBJECTS", "CATALOGUE", "HINTS", "ArgumentError", "Diagnostic", "DifferentiationError", "InternalError",
    "NoDerivativeError", "NonFiniteError", "NonScalarOutputError", "SharedMemoryError", "SourceUnavailableError",
    "UnsupportedSyntaxError", "error", "not_a_function", "result_is_changed",
]

CONTEXT_LINES = 2
CALLERS = 4
"""How many of those who asked are shown, from each end."""


@record
class Diagnostic:
    """What cannot be done, where, who asked for it, and what to write instead."""

    code: str
    summary: str
    label: str = ""
    hint: str = ""
    span: Span | None = None
    asked_by: tuple[str, ...] = ()


# --- the exceptions -----------------------------------------------------------------------------------------


class DifferentiationError(Exception):
    """A function cannot be differentiated. The base of all errors that s2s raises.

    The first line of the text is the summary and the code of the message; then come the place in your source,
    who asked for the derivative, and what to write instead. ``diagnostic`` holds the parts. A traceback ends with
    where the page of the code is: a note of the exception, which is no part of its text.
    """

    def __init__(self, diagnostic: Diagnostic, text: str | None = None) -> None:
        # The text is made here, not when it is shown: the file may be gone by then (in another process).
        self.diagnostic = diagnostic
        self.text = render(diagnostic) if text is None else text
        super().__init__(self.text)
        self.add_note(_note("page:    ", page_of(diagnostic.code), _width(diagnostic.span)))

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.diagnostic, self.text)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: its own traceback, without the frames of dispatchers, which have no source."""
        shell = sys.modules["IPython"].get_ipython()
        if os.environ.get("S2S_TRACEBACK") == "full":
            entry = self.__traceback__
        else:
            entry = _without_dispatchers(self.__traceback__)
        shown: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, entry)
        return shown

    def _repr_html_(self) -> str:
        from html import escape

        head, _, rest = self.text.partition("\n")
        name = f'<b style="color:#c0392b">{type(self).__name__}</b>'
        more = "\n".join([*lines_of(rest), *self.__notes__])
        return f'<pre style="overflow-x:auto;line-height:1.35">{name}: {escape(head)}\n{escape(more)}</pre>'


def _without_dispatchers(entry: types.TracebackType | None) -> types.TracebackType | None:
    if entry is None:
        return None
    rest = _without_dispatchers(entry.tb_next)
    if entry.tb_frame.f_code.co_filename == "<s2s dispatch>":
        return rest
    return types.TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)


class UnsupportedSyntaxError(DifferentiationError):
    """The function uses a construct of Python that s2s does not differentiate.

    The caret points at the construct. Generators, coroutines, classes inside functions, and assignments to
    ``global`` and ``nonlocal`` names are refused, and a ``try`` after which it is not known what a variable
    holds. Write the line in the way that the hint shows, or move the construct into a function of its own
    through which no differentiated value flows.
    """


class NoDerivativeError(DifferentiationError):
    """A differentiated value flows into a function whose derivative is not known.

    The function has no Python source to differentiate and no rule, or it is known to have no derivative (the
    reason is given), or it has a rule that does not cover the arguments of this call. Write it with functions
    that have rules, or call it with values through which nothing is differentiated.
    """


class SharedMemoryError(UnsupportedSyntaxError, ValueError):
    """Arrays share memory in a way that shows only when the program runs, and one of them is changed in place.

    Make a copy of one of them before the change.
    """


class SourceUnavailableError(DifferentiationError):
    """The source of a function cannot be read.

    s2s differentiates source text. Functions written in C, made by ``exec`` or typed into a bare interpreter
    have none, and a file that changed after its import no longer has the text that runs. Put the function
    into a file (or a notebook cell), or import it anew.
    """


class NonScalarOutputError(DifferentiationError):
    """``grad`` was asked of a function whose result is not one real number.

    A gradient belongs to a function with one real floating-point result. For an array result use ``vjp`` with
    a cotangent, ``jacobian``, or reduce the result (``np.sum``); of a complex result make a real number.
    """


class ArgumentError(DifferentiationError, TypeError):
    """The arguments of a call to s2s, or of a derivative that it made, do not fit.

    An argument number or name that the function does not have, an argument that has no derivative (an
    integer, a string), or a cotangent of another structure or shape than the result.
    """


class NonFiniteError(DifferentiationError, FloatingPointError):
    """A step of an optimizer met infinity or NaN: in the loss, in a gradient, or in what the step would give; or a
    derivative did in a block of ``s2s.debug_nans()``.

    The parameters and the state that were given are as they were. Take a smaller learning rate, scale the loss, or look
    for the operation that overflows: ``with s2s.debug_nans():`` around the call of the gradient names the line where
    the first such value arises. Where ``minimize`` raises it, ``result`` is the ``Result`` of the steps before.
    """

    result: Any = None


class InternalError(DifferentiationError):
    """s2s made a mistake; your function is not to blame.

    Please report it with the lines that the message prints: they reproduce the error.
    """


# --- the catalogue ------------------------------------------------------------------------------------------

CATALOGUE: dict[str, tuple[type[DifferentiationError], str]] = {
    # syntax, and arrays and containers that are changed
    "S2S101": (UnsupportedSyntaxError, "{construct} cannot be differentiated"),
    "S2S102": (UnsupportedSyntaxError, "a coroutine cannot be differentiated"),
    "S2S103": (UnsupportedSyntaxError, "a generator cannot be differentiated"),
    "S2S104": (UnsupportedSyntaxError, "this `try` cannot be differentiated"),
    "S2S105": (UnsupportedSyntaxError, "this `with` cannot be differentiated"),
    "S2S107": (UnsupportedSyntaxError, "a class inside a function cannot be differentiated"),
    "S2S108": (UnsupportedSyntaxError, "the global variable `{name}` is assigned"),
    "S2S109": (UnsupportedSyntaxError, "the nonlocal variable `{name}` is assigned"),
    "S2S112": (UnsupportedSyntaxError, "an item of `{name}` is assigned, and the type of `{name}` is not known"),
    "S2S113": (UnsupportedSyntaxError, "an assignment to an attribute cannot be differentiated"),
    "S2S114": (UnsupportedSyntaxError, "this `super()` cannot be differentiated"),
    "S2S115": (UnsupportedSyntaxError, "`{name}` reads the function's variables by name"),
    "S2S116": (UnsupportedSyntaxError, "the source cannot be parsed"),
    "S2S117": (UnsupportedSyntaxError, "`{name}` is changed in place"),
    "S2S118": (
        UnsupportedSyntaxError,
        "`{name}` is changed in place, and which array it refers to is known only at run time",
    ),
    "S2S119": (NoDerivativeError, "this in-place operator has no derivative rule"),
    "S2S120": (UnsupportedSyntaxError, "a differentiated value is stored into an array of dtype {dtype}"),
    "S2S121": (UnsupportedSyntaxError, "`{name}`, an array from outside the function, is changed in place"),
    "S2S122": (
        UnsupportedSyntaxError,
        "`{name}` is changed in place by a call whose function is known only at run time",
    ),
    "S2S123": (SharedMemoryError, "a store reads and writes overlapping memory, element by element"),
    "S2S124": (
        SharedMemoryError,
        "`{name}` shares memory with an array from outside the function, and is changed in place",
    ),
    "S2S125": (SharedMemoryError, "a broadcast view of an array that is changed in place cannot be differentiated"),
    "S2S126": (
        SharedMemoryError,
        "two arrays are views of memory that neither of them owns, and one is changed in place",
    ),
    "S2S127": (
        SharedMemoryError,
        "a result that is changed in place may share memory with an argument of the call that made it",
    ),
    "S2S128": (SharedMemoryError, "the result of `{name}` shares memory with an argument, and is changed in place"),
    "S2S129": (SharedMemoryError, "strides show memory that is no element of the array"),
    "S2S130": (SharedMemoryError, "what is copied deeply holds one array by two names"),
    "S2S131": (UnsupportedSyntaxError, "`{name}` is changed, and another variable may refer to the same object"),
    "S2S132": (UnsupportedSyntaxError, "the contents of `{name}` are not known here"),
    "S2S133": (UnsupportedSyntaxError, "`{name}` contains itself"),
    "S2S134": (UnsupportedSyntaxError, "this change of `{name}` cannot be tracked"),
    "S2S135": (UnsupportedSyntaxError, "the test of a `while` changes a container or an object"),
    "S2S136": (UnsupportedSyntaxError, "what this loop changes in containers and objects cannot be tracked"),
    "S2S137": (NoDerivativeError, "the class `{name}` has operators or reductions of its own"),
    "S2S138": (
        NoDerivativeError,
        "an object of the class `{name}`, which holds differentiated values, is used as a whole",
    ),
    "S2S139": (UnsupportedSyntaxError, "`{fn}` is called at run time, and may read `{name}`, which was changed before"),
    "S2S140": (UnsupportedSyntaxError, "the same {kind} is passed twice to a function that changes it"),
    "S2S141": (UnsupportedSyntaxError, "this path through a library's code cannot be differentiated"),
    "S2S142": (UnsupportedSyntaxError, "how far the iterator `{name}` has been read is not known here"),
    "S2S143": (
        UnsupportedSyntaxError,
        "a function that captures differentiated values is passed to a call whose function is known only at run time",
    ),
    "S2S144": (UnsupportedSyntaxError, "a function whose derivative is taken here changes `{name}`, which it captures"),
    "S2S145": (UnsupportedSyntaxError, "this was otherwise when the function was observed"),
    "S2S146": (UnsupportedSyntaxError, "`{name}`, an array of {module}, is changed in place, and {problem}"),
    "S2S150": (
        UnsupportedSyntaxError,
        "`{name}` is changed where values are recomputed, and which array it refers to is known only at run time",
    ),
    "S2S151": (
        UnsupportedSyntaxError,
        "a call that is recomputed may change an array: its function is known only at run time",
    ),
    "S2S152": (
        UnsupportedSyntaxError,
        "the test of a checkpointed `while` may give another result when it is recomputed",
    ),
    "S2S153": (
        UnsupportedSyntaxError,
        "`{name}` may be unassigned at the start of an iteration of a checkpointed loop",
    ),
    "S2S154": (UnsupportedSyntaxError, "`s2s.checkpointed` must be the iterable of a `for` or the test of a `while`"),
    "S2S155": (UnsupportedSyntaxError, "a call of `{name}` is recomputed, and may give another result each time"),
    "S2S180": (
        NoDerivativeError,
        "`{name}` converts a differentiated value to text or bytes that are read back as numbers",
    ),
    "S2S181": (UnsupportedSyntaxError, "`{name}` is changed while a loop runs over it"),
    "S2S185": (UnsupportedSyntaxError, "`{name}`, a list or dict from outside the function, is changed in place"),
    # no derivative
    "S2S201": (NoDerivativeError, "`{name}` has neither a derivative rule nor source to differentiate"),
    "S2S202": (NoDerivativeError, "`{name}` has no derivative: {reason}"),
    "S2S203": (NoDerivativeError, "the derivative of `{name}` does not support the argument `{keyword}`"),
    "S2S205": (UnsupportedSyntaxError, "`{name}` is assigned after the definition of a function that captures it"),
    "S2S206": (NoDerivativeError, "`{name}` is called, and which function it is depends on a differentiated value"),
    "S2S207": (NoDerivativeError, "a starred argument of unknown length holds differentiated values"),
    "S2S208": (NoDerivativeError, "the attribute `{name}` of an object of unknown class carries a derivative"),
    "S2S209": (NoDerivativeError, "the nested function `{name}` calls itself too deeply to be differentiated"),
    "S2S210": (NoDerivativeError, "a derivative flows through {name}, whose length or order is not known"),
    "S2S211": (
        NoDerivativeError,
        "`{name}` of a call whose function is known only at run time carries a derivative and is an integer",
    ),
    "S2S212": (NoDerivativeError, "the derivative of `{name}` has no case for these arguments: {reason}"),
    "S2S213": (NoDerivativeError, "{name} has no derivative for these numbers: {reason}"),
    "S2S214": (NoDerivativeError, "the derivative of `{name}` is lost where its calls are recorded: {reason}"),
    "S2S220": (UnsupportedSyntaxError, "the memory order in which an array is read is known only at run time"),
    "S2S221": (NoDerivativeError, "a {name} whose length is known only at run time is concatenated with another one"),
    "S2S222": (UnsupportedSyntaxError, "an iterator is read item by item, and computing an item has a side effect"),
    # source
    "S2S301": (SourceUnavailableError, "`{name}` is not written in Python"),
    "S2S302": (SourceUnavailableError, "the source of `{name}` is not available"),
    "S2S303": (SourceUnavailableError, "the file of `{name}` has changed since it was imported"),
    "S2S304": (SourceUnavailableError, "the source of this lambda cannot be told from others on its line"),
    # output
    "S2S401": (NonScalarOutputError, "the result of `{name}` has shape {shape}; a gradient needs one number"),
    "S2S402": (NonScalarOutputError, "the result of `{name}` is {kind}; a gradient needs one real float"),
    # arguments, options and rules
    "S2S403": (NonScalarOutputError, "the result of `{name}` is {kind}; a derivative needs {expected}"),
    "S2S501": (ArgumentError, "`{name}` has no argument number {number}"),
    "S2S502": (ArgumentError, "`{name}` has no argument `{argument}`"),
    "S2S503": (ArgumentError, "the argument `{argument}` of `{name}` is an integer"),
    "S2S504": (ArgumentError, "the argument `{argument}` of `{name}` is {kind} and has no derivative"),
    "S2S505": (ArgumentError, "the cotangent is {got}, the result of `{name}` is {expected}"),
    "S2S506": (ArgumentError, "the cotangent has shape {got}, the result of `{name}` has shape {expected}"),
    "S2S507": (ArgumentError, "{kind} is not a function that can be differentiated"),
    "S2S508": (ArgumentError, "the argument `{argument}` of `{name}` is asked for twice"),
    "S2S509": (ArgumentError, "`argnums` {got}, which is neither a position nor a name"),
    "S2S510": (
        ArgumentError,
        "the arguments `{first}` and `{second}` of `{name}` share memory, and it changes one of them in place",
    ),
    "S2S511": (ArgumentError, "{problem}"),
    "S2S512": (ArgumentError, "`{name}` has not been called yet"),
    "S2S513": (ArgumentError, "the numbers of primals and tangents differ: {primals} and {tangents}"),
    "S2S514": (ArgumentError, "the tangent of {name} has shape {got}, the argument has shape {expected}"),
    "S2S515": (ArgumentError, "the tangent of {name} is {got}, the argument is {expected}"),
    "S2S516": (ArgumentError, "{what} is complex; a Jacobian by {mode} mode needs real numbers there"),
    "S2S517": (ArgumentError, "the sparsity pattern of the Jacobian of `{name}` cannot be determined"),
    "S2S518": (
        ArgumentError,
        "`{name}` is changed by a call that is not read, and what follows was made for what it was",
    ),
    "S2S519": (ArgumentError, "the axes of samples do not fit: {problem}"),
    "S2S520": (ArgumentError, "the rule for {name} needs functions; got {kind}"),
    "S2S521": (ArgumentError, "the rule {name} returns {got}; the call has {expected} positional argument(s)"),
    "S2S522": (ArgumentError, "the rule {name} returns a {what} of {got}; {expected} is needed"),
    "S2S523": (
        ArgumentError,
        "{name} returns {got}; under @s2s.custom_gradient it must return its value and a function",
    ),
    "S2S524": (ArgumentError, "the solution of an implicit equation must be a number or an array; got {kind}"),
    "S2S525": (NoDerivativeError, "the rule {name} cannot be differentiated or transposed for {kind}"),
    "S2S530": (ArgumentError, "the code of `{name}` was replaced by code with other parameters: {parameters}"),
    "S2S531": (ArgumentError, "no positional argument of `{name}` has a derivative"),
    "S2S532": (ArgumentError, "`{name}` is {kind}, not a tuple of arguments"),
    "S2S533": (ArgumentError, "the Numba backend cannot be used: {problem}"),
    "S2S534": (ArgumentError, "the derivative of `{name}` cannot be compiled to be called by compiled code: {reason}"),
    "S2S535": (ArgumentError, "the arrays of `{name}` are not of one kind: {problem}"),
    "S2S536": (NoDerivativeError, "`{name}` is called with arrays of {module}, which has no such function"),
    "S2S537": (ArgumentError, "the backend {backend!r} takes no arrays of {module}"),
    "S2S538": (ArgumentError, "`{name}` needs {package}, which is not installed"),
    "S2S539": (NoDerivativeError, "a Dask array has a length that is known only when it is computed, and {problem}"),
    "S2S540": (ArgumentError, "{name} cannot be used as {role}"),
    "S2S541": (
        ArgumentError,
        "the block sets another rule for {name} ({place}), and no derivative in the block has met {name}",
    ),
    "S2S542": (ArgumentError, "the policy {policy!r} does not apply to {name}"),
    "S2S543": (
        NoDerivativeError,
        "{name} has no straight-through derivative: its result is not like its first argument",
    ),
    "S2S544": (ArgumentError, "which policies and rules hold in this block is known only at run time"),
    "S2S545": (
        NoDerivativeError,
        "`{name}` converts differentiated numbers to integers, which no policy for conversions covers",
    ),
    "S2S546": (ArgumentError, "{rule} does not accept the arguments that a call of {name} passes: {problem}"),
    "S2S547": (NonFiniteError, "{what} {where} of `{name}`"),
    "S2S548": (NoDerivativeError, "`{name}` finds a point by comparisons that are not known to solve an equation"),
    "S2S549": (NoDerivativeError, "the point that this search has found does not solve the equation that it compares"),
    # optimizers
    "S2S601": (ArgumentError, "{what} does not fit the parameters: at `{place}` is {got}, not {expected}"),
    "S2S602": (ArgumentError, "the parameter `{place}` is {kind}, which cannot be trained"),
    "S2S603": (ArgumentError, "there are no floats among the parameters, which are {got}"),
    "S2S604": (
        ArgumentError,
        "`{place}` and `{other}` are the same object, which can be trained only once",
    ),
    "S2S605": (ArgumentError, "this is not a state of {name}: it {got}"),
    "S2S606": (ArgumentError, "no parameter has a gradient"),
    "S2S607": (NonFiniteError, "{what} is not finite at step {step}"),
    "S2S608": (ArgumentError, "no parameter is called {name!r}"),
    "S2S609": (ArgumentError, "{count} arrays are missing: {places}"),
    # data in parts
    "S2S701": (ArgumentError, "the parts do not fit together: {problem}"),
    "S2S702": (ArgumentError, "there are no rows in {names}"),
    "S2S703": (ArgumentError, "`{name}` is {kind}, which is not data in parts"),
    "S2S704": (ArgumentError, "the Dask array `{name}` is in chunks {what}"),
    "S2S705": (ArgumentError, "part {place} and what it is computed with are arrays of several {what}: {kinds}"),
    "S2S706": (ArgumentError, "the client of Dask cannot be used: {problem}"),
    "S2S707": (ArgumentError, "Dask cannot be used: {problem}"),
    "S2S708": (ArgumentError, "the result has not come within {timeout} seconds"),
    "S2S709": (
        ArgumentError,
        "`{name}` is no {what} over rows: for {rows} rows it gives {whole}, for two parts of them together {parts}",
    ),
    "S2S710": (ArgumentError, "`{name}` cannot be sent to another process: {reason}"),
    "S2S711": (ArgumentError, "`{name}` was sent for arguments of other kinds"),
    "S2S712": (ArgumentError, "`{name}` of `{module}` is not here as it was pickled, and of what `{reader}` reads "
                              "`{left}` did not go along: {reason}"),
    "S2S713": (ArgumentError, "an object goes by the name of its class, `{name}` of the program that pickled it, which "
                              "this program does not have"),
    # other array libraries
    "S2S720": (ArgumentError, "{name} cannot be used: {problem}"),
    "S2S721": (ArgumentError, "a tensor on the device {device} cannot be given to a function of NumPy arrays"),
    "S2S722": (ArgumentError, "the tensors {place} would get no gradient"),
    # internal
    "S2S901": (InternalError, "internal error in s2s: {problem}"),
    "S2S910": (InternalError, "the pass `{name}` changed what `{function}` computes"),
}

ABOUT_OBJECTS = frozenset(f"S2S{code}" for code in (112, 113, 131, 132, 134, 136, 137, 138, 210))
"""Refusals of changes of objects, which may be followed where numbers are known: the iterations of a loop that is
unrolled, the lengths and counts of a call."""

_WITH_RULES = "write it with functions of NumPy or math that have rules, or give it undifferentiated values"

NOWHERE = "S2S213"
"""Said where there is no derivative: what another way of computing it would give is no derivative either."""

HINTS: dict[str, str] = {
    "S2S101": "write it with assignments, `if`, loops and calls",
    "S2S112": "convert it before: `{name} = np.asarray({name}, dtype=float)`",
    "S2S113": "keep the value in a variable; for the shape of an array use np.reshape",
    "S2S117": "make a new array instead: `a = a + b` for `a += b`",
    "S2S118": "copy the array where the name is bound: `b = a.copy()`",
    "S2S119": "write it as an assignment: `a[i] = f(a[i], v)`",
    "S2S120": "make the array with a dtype that holds the value, such as `float`",
    "S2S121": "pass the array as an argument, or change a copy of it",
    "S2S122": "return the result instead, or call a function that is known at compile time",
    "S2S123": "store a copy of the value",
    "S2S124": "change a copy of it",
    "S2S125": "copy the view",
    "S2S126": "copy one of them",
    "S2S127": "copy it",
    "S2S128": "return a copy",
    "S2S129": "give `as_strided` the array that owns the memory",
    "S2S130": "copy the array before: `b = a.copy()`",
    "S2S131": "make a new container or object where the paths differ, or make the change on each path",
    "S2S132": "use the object by the name through which it was changed, or copy it before the change",
    "S2S133": "store a copy, so that no container contains itself",
    "S2S134": "write it with operations on known positions and keys, or build a new container",
    "S2S135": "write `while True:` with an `if` and `break`",
    "S2S136": "create the containers and objects before the loop, with all their items and attributes",
    "S2S137": "pass plain numbers and arrays, or call a method of the object with them",
    "S2S138": "pass the attributes that are needed instead of the object",
    "S2S139": "pass the values as arguments, or call the function before the object is changed",
    "S2S140": "pass a copy",
    "S2S141": "call the library with other arguments, or write the step with functions that have rules",
    "S2S142": "make a list of it first: `list(...)`",
    "S2S143": "pass what it captures as arguments",
    "S2S144": "pass it to the function as an argument, or change a copy of it",
    "S2S146": "build a new array: np.where(mask, v, x) for x[mask] = v; np.concatenate or np.stack",
    "S2S150": "copy the array where the name is bound, `b = a.copy()`, or do without checkpoints here",
    "S2S151": "pass a copy of the array, or call it before the checkpointed loop or function",
    "S2S152": "compute what the test needs in the body of the loop",
    "S2S153": "assign it before the loop",
    "S2S154": "write `for i in s2s.checkpointed(range(n), snapshots=20):` or `while s2s.checkpointed(test, 20):`",
    "S2S155": "pass the value as an argument",
    "S2S180": "compute with the value itself; where a number without a derivative is meant, with `s2s.stop_gradient`",
    "S2S181": "loop over a copy of it: `list({name})`",
    "S2S185": "pass it as an argument, or change a copy of it",
    "S2S201": _WITH_RULES,
    "S2S202": _WITH_RULES,
    "S2S203": "call it without `{keyword}`",
    "S2S205": "assign the variable before the function is made, or pass it as an argument",
    "S2S206": "choose with `if`: call each function in a branch of its own",
    "S2S207": "write the arguments out, or pass the list or tuple as one argument",
    "S2S208": "pass the value of the attribute as an argument, or annotate the object with its class",
    "S2S209": "write the recursion as a loop, or as a function at the level of the module",
    "S2S210": "build a list or a tuple, or keep differentiated values out of it",
    "S2S211": "pass a float, `float(...)`, or begin sums with 0.0",
    "S2S212": "pass arguments of another shape, kind or option, or report it",
    "S2S213": "write the program so that it has one there, or pass other numbers",
    "S2S214": "compute with the numbers themselves: what texts, integers and memory of others hold is not followed",
    "S2S220": 'write `order="C"`, or another order, as a constant, or each order in a branch of its own',
    "S2S221": "collect the items in a list with `append`",
    "S2S222": "write a loop, or a list comprehension that computes all items before the first is read",
    "S2S301": "write it in Python, with functions of NumPy or math",
    "S2S302": "define it in a file or a notebook cell, tell `linecache` its text, or take central differences, "
              "`s2s.differentiable(f, numeric=True)`",
    "S2S403": "`return` what is to be differentiated",
    "S2S501": "choose a position that the function has",
    "S2S502": "choose a name that the function has",
    "S2S508": "name each argument once in `argnums`",
    "S2S509": "give an int, the name of a parameter, or a tuple of these",
    "S2S510": "pass a copy of one of them",
    "S2S512": "call it once, or use s2s.source with example arguments",
    "S2S513": "give one tangent for each primal, None where it is zero",
    "S2S516": "pass `holomorphic=True` where the function is holomorphic",
    "S2S518": "change it before the function is called, or pass it as an argument",
    "S2S517": "pass it as `sparsity=`",
    "S2S519": "say by `in_axes` along which axis each argument has its samples, None for what all samples share, and "
              "by `out_axes` where the results get theirs",
    "S2S520": "write s2s.defvjp(f, rule), or @s2s.defvjp(f) above the rule",
    "S2S521": "return a tuple with one cotangent for each positional argument, None for one that has none",
    "S2S522": "a cotangent has the shape and the structure of its argument, a tangent those of the result",
    "S2S523": "return value, grad, where grad(dy) returns a cotangent for each positional argument",
    "S2S524": "return the unknowns as one number or array: np.concatenate(...) for several",
    "S2S525": "write the other half of the rule too: s2s.defvjp for cotangents, s2s.defjvp for tangents",
    "S2S530": "take the derivative again, as `s2s.grad(f)` does, and call that",
    "S2S531": "pass at least one float or array of floats by position",
    "S2S532": "write `{name}=(x,)` for one argument",
    "S2S533": f"install it: `{install('numba')}`",
    "S2S534": "pass what it reads as arguments; or take `s2s.grad` with `backend=\"numba\"`, for calls from Python",
    "S2S536": "write it with functions that {module} has",
    "S2S537": "leave `backend` out: the generated source itself runs on {module}",
    "S2S538": f"install it: `{install('{extra}')}`",
    "S2S539": "call `compute_chunk_sizes()` on it; or write `np.where(mask, x, 0.0)` in the place of `x[mask]`",
    "S2S543": "use another rule, or define one with `s2s.defvjp`",
    "S2S544": "write the policies out, or enter the block where the function is defined",
    "S2S545": "convert first, `x.astype(int)`",
    "S2S546": "write it as rule(out, out_bar, *args, **kwargs), with the arguments of the call",
    "S2S547": "keep what it reads away from this point; with `s2s.debug()` around it, the code has every step",
    "S2S548": "write `s2s.implicit({name}, residual)` in its place, where `residual(x, *args)` is zero at the point; "
              "the derivative of the iterations of the loop is had by `s2s.nonsmooth(search=\"zero\")`",
    "S2S549": "let it begin with a bracket of the solution, and end where the bracket is small; the derivative of the "
              "iterations of the loop is had by `s2s.nonsmooth(search=\"zero\")`",
    "S2S601": "give it the structure of the parameters, with arrays of the same shapes",
    "S2S603": "make them floats: `np.asarray(params, dtype=float)`",
    "S2S604": "copy one of them, or list it once",
    "S2S606": "take the gradient of a loss that reads them",
    "S2S607": "use a smaller learning rate, or make the loss finite there",
    "S2S609": "give what `s2s.optim.to_arrays` has made of a structure like this one",
    "S2S701": "cut them at the same rows; Dask arrays by `rechunk`",
    "S2S702": "leave the call out, or look at what has filtered the rows",
    "S2S703": "give a Dask collection, or a list of parts: `s2s.distributed.rows(array, 10_000)`",
    "S2S704": "cut it along its first axis only: `rechunk`, with -1 for the other axes",
    "S2S705": "let all parts and parameters be arrays of one module, on one device",
    "S2S706": "make a new one: `dask.distributed.Client(...)`; `client=None` without any computes in this process",
    "S2S708": "give a larger `timeout`, smaller parts, or more workers",
    "S2S709": "let what is no sum over rows be no part of it, such as a penalty of the parameters, or take the other "
              "`reduction`; where it is one, pass `check=False`",
    "S2S710": "pass what it reads as arguments",
    "S2S712": "make its module importable here, or pass what it reads as arguments",
    "S2S713": "put the class into a module that both can import, or pickle with `cloudpickle`, which sends the class",
    "S2S711": "send another version, with such arguments as an example",
    "S2S721": "move it: `x.cpu()`",
    "S2S722": "give tensors as arguments by position, by themselves or in tuples, lists and dicts; "
              "`x.detach().numpy()` of one that is a constant",
    "S2S910": "these lines; without S2S_VALIDATE the result is used as it is",
}
"""What to do instead, for the codes where the place that raises does not say it."""


def error(
    code: str, *, span: Span | None = None, label: str = "", hint: str = "", asked_by: tuple[str, ...] = (),
    **fields: Any,
) -> DifferentiationError:
    """The exception of a catalogue code, to be raised; ``fields`` fill the summary and the hint.

    What follows a semicolon in a ``reason`` is its hint.
    """
    kind, summary = CATALOGUE[code]
    if " " in str(fields.get("name", "")):  # words, and no name
        summary = summary.replace("`{name}`", "{name}")
    reason, _, advice = str(fields.get("reason", "")).partition("; ")
    if advice:
        fields["reason"] = reason
    hint = hint or advice or HINTS.get(code, "").format(**fields)
    return kind(Diagnostic(code, summary.format(**fields), label, hint, span, asked_by))


# --- rendering ----------------------------------------------------------------------------------------------


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as the text that the user reads."""
    span = diagnostic.span
    width = _width(span)
    lines = [f"{diagnostic.summary} [{diagnostic.code}]"]
    if span:
        lines += _show_place(span, diagnostic.label, width)
    elif diagnostic.label:
        lines.append(_note("because:", diagnostic.label, width))
    if diagnostic.asked_by:
        lines.append(_note("asked by:", " -> ".join(_shortened(diagnostic.asked_by)), width))
    if diagnostic.hint:
        title = "report:  " if diagnostic.code.startswith("S2S9") else "instead: "
        lines.append(_note(title, diagnostic.hint, width))
    return "\n".join(lines)


def _shortened(callers: tuple[str, ...]) -> tuple[str, ...]:
    """Who asked, without the middle of a deep recursion."""
    if len(callers) <= 2 * CALLERS:
        return callers
    return *callers[:CALLERS], f"... {len(callers) - 2 * CALLERS} more ...", *callers[-CALLERS:]


def _width(span: Span | None) -> int:
    """Of the numbers of lines."""
    return len(str(span.line)) if span else 1


def _note(title: str, text: str, width: int) -> str:
    return f"{' ' * (width + 1)}= {title} {text}"


def _show_place(span: Span, label: str, width: int) -> list[str]:
    """The arrow line, the source lines and the caret line."""
    where = f"{_short_path(span.file)}:{span.line}:{span.column + 1}"
    arrow = f"{' ' * width}--> {where}" + (f" in `{span.function}`" if span.function else "")
    source = linecache.getlines(span.file)
    bar = " " * (width + 1) + "|"
    if not 1 <= span.line <= len(source):
        return [arrow, *([_note("because:", label, width)] if label else [])]
    shown = _context(source, span.line)
    numbered = [f"{number:>{width}} | {one_line(source[number - 1])}".rstrip() for number in shown]
    carets = _underline(span, source[span.line - 1].rstrip("\n"))
    return [arrow, bar, *numbered, f"{bar} {carets} {label}".rstrip()]


def _context(source: list[str], line: int) -> range:
    """The numbers of the lines to show: the line and up to two before it, without leading blank lines."""
    first = max(1, line - CONTEXT_LINES)
    while first < line and not source[first - 1].strip():
        first += 1
    return range(first, line + 1)


def _underline(span: Span, text: str) -> str:
    """Carets under the span, under its first line where it has many; tabs before it are kept to align."""
    end = span.end_column if span.end_line == span.line else len(text.rstrip())
    before = "".join("\t" if character == "\t" else " " for character in text[: span.column])
    return before + "^" * max(1, min(end, len(text)) - span.column)


def _short_path(path: str) -> str:
    """The path from the working directory where the file lies below it, else as it is; of a cell ``Cell In[3]``."""
    cell = cell_of(path)
    if cell:
        return cell
    if not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):  # another drive on Windows, or a working directory that is gone
        return path
    return path if relative.startswith(os.pardir) else relative


def no_scalar(name: str, kind: str, span: Span | None = None) -> DifferentiationError:
    """The NonScalarOutputError for a result that is no real float; ``kind`` says what it is: ``of type int``."""
    word = kind.split()[-1]
    if kind == "None":
        hint = "`return` the number to be differentiated"
    elif word in ("tuple", "list", "dict"):
        hint = "return one float; or a pair, the float and other results, with has_aux=True; or use s2s.jacobian"
    elif word.startswith("complex"):
        hint = "return a real float of it, `z.real` or `abs(z) ** 2`, or use s2s.vjp with a complex cotangent"
    elif word == "bool" or word.startswith(("int", "uint")):
        hint = "return a float that is computed from the arguments: integers and bools have no derivative"
    else:
        hint = "return one float that is computed from the arguments"
    return error("S2S402", span=span, name=name, kind=kind, hint=hint)


def result_is_changed(name: str, span: Span | None) -> DifferentiationError:
    """The UnsupportedSyntaxError for a call whose function is known only at run time, and whose result, of this name if
    it has one, may be or share an array that is changed in place."""
    if name:
        return error("S2S118", span=span, name=name)
    hint = "let the function return a new array; or write the call so that its function is known: a recursion as a loop"
    return error("S2S118", span=span, name="what this call gives", hint=hint)


def not_a_function(f: Any) -> DifferentiationError:
    """The ArgumentError for what is no function."""
    if isinstance(f, type):
        kind, hint = f"the class `{f.__name__}`", "give a function that makes the object and returns a number"
    elif isinstance(f, (staticmethod, classmethod)):
        kind = f"`{f!r:.60}` ({type(f).__name__})"
        hint = f"put @s2s.differentiable below @{type(f).__name__}"
    elif isinstance(f, property):
        kind = f"the property `{getattr(f.fget, '__name__', '')}`"
        hint = "give its function: `.fget`, which takes the object"
    else:
        kind = f"`{f!r:.60}` ({type(f).__name__})"
        hint = "give a function; to differentiate at a point, call what `grad` returns: s2s.grad(f)(x)"
    return error("S2S507", kind=kind, hint=hint)
