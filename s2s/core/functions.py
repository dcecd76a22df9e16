"""What is known of one function: the record that rules fill in and passes ask for (``s2s.analysis.functions``)."""

from __future__ import annotations

import enum

from s2s.core.record import record

__all__ = ["EVERYTHING", "MANY", "Computes", "FunctionFacts", "Raises", "Result", "Varies"]


class Result(enum.Enum):
    """Where the arrays lie that a function gives."""

    NEW = "new"  # memory of their own, whatever the arguments are
    VIEW = "view"  # that of an argument, which they are a view of that can be written to, whatever its layout
    PARTS = "parts"  # a list of views of an argument
    LAYOUT = "layout"  # a view of an argument in C order, new otherwise
    ITERATOR = "iterator"  # what can be read once, which holds the arguments
    SHARED = "shared"  # anything: an argument itself, a view of one, a container of arguments


class Varies(enum.Enum):
    """What of a result depends on the values of the arguments, where their shapes and dtypes do not tell it."""

    NOTHING = "nothing"
    LENGTH = "length"  # how long arrays are
    COMPLEX = "complex"  # whether it is complex, where the arguments are real
    KIND = "kind"  # anything


class Raises(enum.Enum):
    """When a call raises nothing."""

    NEVER = "never"  # whatever it is given
    NOT_FOR_PYTHON = "not for Python numbers"
    NOT_FOR_ARRAYS = "not for arrays and numbers"
    OUT_OF_BOUNDS = "out of bounds"  # it is given places in an array, and raises IndexError too
    ANY = "any"


class Computes(enum.Enum):
    """What a function makes of the numbers ``a``, ``b`` that it is given, or of those in arrays."""

    SUM = "a + b"
    DIFFERENCE = "a - b"
    PRODUCT = "a * b"
    QUOTIENT = "a / b"
    POWER = "a ** b"
    SQUARE = "a ** 2"
    MATRIX_PRODUCT = "a @ b"
    NEGATIVE = "-a"
    ABSOLUTE = "abs(a)"
    SIGN = "sign(a)"
    FLOORED = "a - b*floor(a / b)"
    TRUNCATED = "a - b*trunc(a / b)"
    COMPLEX = "a + b*1j"
    SAME = "a"
    CHOICE = "one of those given, for each place"
    PIECES = "an affine function of each, between kinks"
    FLAT = "a, in another shape, in the order of the indices"
    LIST = "a list or a tuple of the items"
    PLACED = "elements of those given, at any places"
    TURNED = "the elements of a, each at another place"
    PAIRS = "a * b of all pairs of elements"
    TOTAL = "sums of elements of a, with weights that are not negative"
    DIFFERENCES = "what differences of elements of a make"
    COMPARISON = "a < b"


MANY = 1_000_000
"""More arguments than a call has."""

EVERYTHING = -1
"""Among positions of arguments: that a function reads, or may change, what all of them hold."""


@record
class FunctionFacts:
    """What is known of one function.

    ``result`` says where its array results lie, and ``of`` by position the arguments that they may share memory with
    (None: all of them). A call that is given ``out``, ``copy`` or ``overwrite_...`` may give what it was given also
    where the results are otherwise new: ``analysis.functions.gives_new`` asks for a call. ``before_copy`` is how many
    positional arguments come before one of these.

    ``changes`` has the positions of the arguments that a call changes in place; ``holds`` says that these refer to the
    other arguments from then on, as a list does, which an array does not. ``acts`` says that it has an effect on
    the world outside of its arguments, or reads from there what is another thing the next time. A call without
    both gives the same for the same arguments, and may stand anywhere between what changes them. ``looks`` says that it
    looks at its arguments at all, at their length at least, which a store may change: a display does not.

    ``calls_back`` says that it calls a function that it is given, or has the names of the keywords that give one: so a
    call may do what that function does.

    ``pure`` says that a call has no effect but its result, and raises only where the use of that would: a call whose
    result nothing reads is dropped.

    ``computes`` says what it makes of numbers, where the algebra of ``analysis.steps`` knows it; an operator computes
    what its ufunc does.

    ``elementwise`` says that it gives one element for each element of its arguments, broadcast. ``varies`` says what of
    the result no call with other values tells. ``reads`` has the positions of the arguments whose contents it reads; of
    the others it reads the shape and the dtype only.

    ``shared`` says that equal calls are done once, as those of elementwise functions are. ``cheap`` says that a call
    costs one unit on numbers, views and shapes, as arithmetic does and reading an item.
    ``raises`` says when it raises nothing, ``warns`` that it may give a warning where the primal does not come to it.

    ``fills`` says that it gives an array of which all elements are one number, or anything. ``c_order`` is the number
    of positional arguments with which it certainly gives an array in C order, where no ``order`` is given by its name.
    ``reads_on`` says that it reads its first argument while it fills ``out``. ``generic`` says that it does with arrays
    of objects what it does with numbers.

    ``writes_down`` says that it writes what it is given down as text or bytes.

    ``consumes`` says that it reads iterators that it is given, ``takes_all`` that it reads them to their end before it
    does something else that the program sees.
    """

    result: Result = Result.SHARED
    of: tuple[int, ...] | None = None
    before_copy: int = MANY
    changes: tuple[int, ...] = (EVERYTHING,)
    holds: bool = True
    acts: bool = True
    looks: bool = True
    calls_back: bool | tuple[str, ...] = True
    pure: bool = False
    computes: Computes | None = None
    elementwise: bool = False
    varies: Varies = Varies.NOTHING
    reads: tuple[int, ...] = (EVERYTHING,)
    shared: bool = False
    cheap: bool = False
    raises: Raises = Raises.ANY
    warns: bool = True
    fills: bool = False
    c_order: int = 0
    reads_on: bool = False
    generic: bool = False
    writes_down: bool = False
    consumes: bool = False
    takes_all: bool = False
