"""What attempts at a compilation take for granted: each assumption is refuted by a program, whose derivatives are right
after an attempt without it."""

import numpy as np
import pytest
from scipy import sparse

from s2s.core.limits import TooLong
from s2s.errors import error
from s2s.versions.assumptions import Assumptions, Refuted
from tests.helpers import check

X = np.array([0.7, -1.2, 1.9])
Y = np.array([0.35, -0.62, 1.41, -1.83])
PAIRS = [(k % 3, (k + 1) % 3) for k in range(20)]
NAMES = {f"k{k}": 0.2 * k for k in range(20)}
MODE, ACT = "square", [lambda: None]
exec("def unread():\n    ACT[0]()\n    return 0.0", globals())


class Log:
    def __init__(self):
        self.kept = {}
        self.few = [1.0, 2.0]

    def write(self, x):
        self.kept["x"] = x * x


LOG = Log()


def changed_by_two_names(x):
    y = x * 2.0
    z = y
    y += x * x
    return np.sum(z * z)


def by_two_masks(x):
    mask = x > 0.0
    first = x[mask]
    mask[0] = False
    return np.sum(first) * np.sum(x[mask] ** 2)


def over_pairs(x):
    total = 0.0
    for i, j in PAIRS:
        total = total + x[i] * x[j] ** 2
    return total


def over_a_dict_that_is_copied(x):
    """The copy holds something differentiated under a name of its own, which one of data cannot."""
    held = dict(NAMES)
    held["k3"] = x[0] ** 2
    return held["k3"] * sum(value * x[1] for value in NAMES.values())


def array_after_a_loop(x):
    y = 1.0
    for _ in range(2):
        y = x * y
    y[0] = x[1] ** 2
    return np.sum(y)


def of_three(x):
    return np.sum(np.cross(x, x**2) * x[::-1])


def of_slices(y):
    return np.sum(np.cross(y[0:3], y[1:4] ** 2) * y[1:4])


def written_and_read(x):
    LOG.write(x)
    return np.sum(LOG.kept["x"]) * x[0]


def counted(x):
    LOG.few[0] = 3.0
    return LOG.few[0] * np.sum(x * x) * LOG.few[1]


def after_a_call(x):
    """Nobody has read the source of what is called."""
    y = np.sum(x) * (2.0 if MODE == "square" else 3.0)
    unread()  # noqa: F821
    return y * (np.sum(x * x) if MODE == "square" else np.sum(x))


def filled_by_items(x):
    matrix = sparse.lil_matrix((3, 3))
    for k in range(3):
        matrix[k, 2 - k] = x[k] ** 2
    return np.sum(matrix.tocsr() @ np.arange(3.0))


PROGRAMS = [
    (changed_by_two_names, X, {"in_place"}), (by_two_masks, X, {"changing_masks"}),
    (over_pairs, X, {"data"}), (over_a_dict_that_is_copied, X, {"structures"}),
    (array_after_a_loop, X, {"unrolled"}),
    (of_three, X, {"equal"}), (of_slices, Y, {"least"}), (written_and_read, X, {"followed"}),
    (counted, X, {"unfolded"}), (after_a_call, X, {"checks"}),
    pytest.param(filled_by_items, X, {"modelled", "changing_masks"}, marks=pytest.mark.slow),
]


@pytest.fixture
def attempts(monkeypatch):
    """The assumptions of the attempts after first ones."""
    found, weaker_after = [], Assumptions.weaker_after

    def noted(self, *given):
        found.append(weaker_after(self, *given))
        return found[-1]

    monkeypatch.setattr(Assumptions, "weaker_after", noted)
    return found


@pytest.mark.parametrize("f, x, given_up", PROGRAMS)
def test_what_is_refuted_is_given_up(f, x, given_up, attempts):
    check(f, (x,))
    assert {name for name in Assumptions.__slots__ if getattr(attempts[-1], name)} == {"arrays", *given_up}


def test_assumptions_only_become_weaker():
    assumed = Assumptions(in_place=frozenset({1}), equal={"x.0": 2})
    assumed.check(in_place={1}, equal={"x.0": 2}, checks=False)
    with pytest.raises(Refuted) as refuted:
        assumed.check(in_place={3}, equal={"y.0": 5}, checks=True)
    weaker = assumed.weaker_after(refuted.value, False)
    assert weaker == Assumptions(in_place=frozenset({1, 3}), equal={"x.0": 2, "y.0": 5}, checks=True)
    assert assumed == Assumptions(in_place=frozenset({1}), equal={"x.0": 2})
    assert weaker.weaker_after(refuted.value, False) is None  # nothing is learned by it


@pytest.mark.parametrize("is_validated", [False, True])
@pytest.mark.parametrize("problem, is_passive, has_structures", [
    (error("S2S101", construct="this"), True, True), (KeyError("y"), False, True), (TooLong("long"), False, False),
])
def test_what_is_given_up_after_a_refusal(problem, is_passive, has_structures, is_validated, monkeypatch):
    """Each once, and what was learned is forgotten. Mistakes of the compiler are told where they are looked for."""
    monkeypatch.setenv("S2S_VALIDATE", str(int(is_validated)))
    first = Assumptions({np.ndarray: "x"}, data={1: PAIRS}, unrolled=True)
    passive = Assumptions(first.arrays, passive=True, data=first.data) if is_passive else None
    is_told = is_validated and isinstance(problem, KeyError)
    structures = Assumptions(first.arrays, structures=True) if has_structures and not is_told else None
    assert first.weaker_after(problem, True) == (passive or structures)
    assert first.weaker_after(problem, False) == structures
    if passive is not None and structures is not None:
        assert passive.weaker_after(problem, True) == structures
        last = structures.weaker_after(problem, True)
        assert last == Assumptions(first.arrays, passive=True, structures=True)
        assert last.weaker_after(problem, True) is structures.weaker_after(problem, False) is None
