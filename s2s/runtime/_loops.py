"""What loops over the elements of arrays are written with."""

from __future__ import annotations


def bound(at: int, n: int) -> int:
    """Where a slice that begins or ends at ``at`` does so in an axis of length ``n``: from 0 to ``n``."""
    return max(at + n, 0) if at < 0 else min(at, n)


def place(at: int, n: int) -> int:
    """The index ``at`` of an axis of length ``n``, from its beginning. Raises IndexError where there is none."""
    found = at + n if at < 0 else at
    if not 0 <= found < n:
        raise IndexError("index is out of bounds")
    return found


def turn(shift: int, n: int) -> int:
    """How far ``np.roll`` moves the elements of an axis of length ``n`` on: from 0 to ``n - 1``."""
    return shift % n if n else 0


def around(at: int, turn: int, n: int) -> int:
    """The index ``turn`` places before ``at``, of an axis of length ``n`` that is gone around."""
    return at - turn if at >= turn else at - turn + n


def places(n: int) -> range:
    """The indices of an axis of length ``n``. Arrays that a loop over them reads and fills have them all, which it has
    checked before it begins: compiled code does not check them again. Division gives what NumPy's gives, and a running
    sum may be added up in any order."""
    return range(n)


def check_lengths(*lengths: int) -> None:
    """Raise ValueError where lengths differ that are equal, or stretched, in an operation on arrays."""
    if any(length != lengths[0] for length in lengths):
        raise ValueError(f"operands could not be broadcast together: axes have the lengths {lengths}")


def threads(iterable: range) -> range:
    """What a loop runs over that threads may share: compiled code lets them where it can see that no iteration reads
    what another one stores."""
    return iterable
