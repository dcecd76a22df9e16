"""Which tests look at a room of s2s, and what mutants of it are drawn."""

from __future__ import annotations

import collections
import functools
import glob
import hashlib
from collections.abc import Iterable, Iterator

from tests.mutation.operators import Mutant, mutants, parts_of
from tests.mutation.record import text_of
from tests.related import of_room

ROOMS = (
    "specialize", "reverse", "forward", "optimize", "analysis", "rules", "models", "backends", "dispatch", "versions",
    "recorded", "shipping",
)
"""What is changed. Its tests are those that ``tests.related`` names."""


def paths_of(rooms: Iterable[str]) -> list[str]:
    """The paths of the tests of rooms, each once."""
    paths = list(dict.fromkeys(path for room in rooms for path in of_room(room)))
    return [path for path in paths if not any(path.startswith(f"{other}/") for other in paths)]


def room_of(file: str) -> str:
    return file.split("/")[1].removesuffix(".py")


def distance_of(test: str, file: str) -> float:
    """How many times as much a test costs for its chance to find something in a file as one that stands beside it.

    Tests mirror the packages: the nearest are in the file, then in the folder, of the same name.
    """
    folder, _, name = file.removesuffix(".py").rpartition("/")
    mirrored = folder.replace("s2s", "tests", 1)
    if test.startswith(f"{mirrored}/test_{name}.py"):
        return 0.3
    if test.startswith(f"{mirrored}/"):
        return 1.0
    return 2.0 if test.startswith(f"tests/{room_of(file)}/") else 6.0


def belongs(test: str, room: str) -> bool:
    return room not in ROOMS or any(test.startswith((f"{path}/", f"{path}::")) for path in of_room(room))


@functools.cache
def mutants_of(file: str) -> list[Mutant]:
    return mutants(file, text_of(file), file.startswith(("s2s/rules/", "s2s/models/", "s2s/runtime")))


def all_mutants(room: str) -> list[Mutant]:
    files = sorted(glob.glob(f"s2s/{room}/**/*.py", recursive=True))
    return [one for file in files for one in mutants_of(file)]


Identity = tuple[str, str, str, str, str]


def identity(mutant: Mutant, text: str | None = None) -> Identity:
    """What a mutant is, wherever its line stands: file, function, change, and the line before and after."""
    before, after = parts_of(text_of(mutant.file) if text is None else text, mutant)
    function = mutant.function.partition(":")[0] if mutant.function.startswith("<lambda>:") else mutant.function
    return mutant.file, function, mutant.kind, before, after


def drawn(jobs: list[Mutant], seed: int) -> Iterator[Mutant]:
    """Mutants in a random order, the groups of changes in turn, each line once before any a second time.

    The order is that of the seed and of what mutants are: a change of other lines does not alter it.
    """

    texts = {file: text_of(file) for file in {one.file for one in jobs}}

    def rank(one: Mutant) -> bytes:
        return hashlib.blake2b(f"{seed} {identity(one, texts[one.file])}".encode(), digest_size=8).digest()

    waiting = sorted(jobs, key=rank)
    while waiting:
        queues = collections.defaultdict[str, collections.deque[Mutant]](collections.deque)
        for one in waiting:
            queues[one.group].append(one)
        taken: set[tuple[str, int]] = set()
        later = []
        while any(queues.values()):
            for name in sorted(queues):
                while queues[name]:
                    one = queues[name].popleft()
                    place = (one.file, one.start[0])
                    if place not in taken:
                        taken.add(place)
                        yield one
                        break
                    later.append(one)
        waiting = sorted(later, key=rank)


# --- equivalent mutants ------------------------------------------------------------------------------------------


def equivalents(text: str) -> dict[Identity, str]:
    """The mutants that a file names as equivalent, each with the reason.

    An entry is a line with the module, the function and the change, a line before and after it, and the reason.
    """
    found = {}
    for entry in text.split("\n\n"):
        lines = [line.strip() for line in entry.strip().splitlines() if not line.startswith("#")]
        if not lines:
            continue
        (where, _, kind), before, after = lines[0].partition(": "), lines[1], lines[2]
        file, _, function = where.partition(" ")
        if not (before.startswith("- ") and after.startswith("+ ") and lines[3:]):
            raise ValueError(f"no entry of an equivalent mutant: {entry}")
        found[file, function, kind, before[2:], after[2:]] = " ".join(lines[3:])
    return found


def entry_of(one: Identity, reason: str = "") -> str:
    """The lines that name a mutant in a file of equivalent ones."""
    file, function, kind, before, after = one
    return f"{file} {function}: {kind}\n    - {before}\n    + {after}\n    {reason}".rstrip()
