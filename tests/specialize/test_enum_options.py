"""Options that are members of an ``Enum``: tests of them are decided when the derivative is compiled."""

import enum
import itertools

import pytest

import s2s


class Scheme(enum.Enum):
    EXPLICIT = "explicit"
    IMPLICIT = "implicit"


class Terms(enum.IntFlag):
    NONE = 0
    DRAG = enum.auto()
    LIFT = enum.auto()
    ALL = DRAG | LIFT


class Unit(enum.StrEnum):
    SI = "si"
    CGS = "cgs"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


def model(x, scheme=Scheme.EXPLICIT, terms=Terms.ALL, unit=Unit.SI, level=Level.HIGH):
    y = x
    if scheme == Scheme.EXPLICIT:
        y = y * x
    if scheme != Scheme.IMPLICIT:
        y = y * 2.0
    if scheme in (Scheme.EXPLICIT, Scheme.IMPLICIT):
        y = y * 3.0
    if Terms.DRAG in terms:
        y = y * x
    if terms & Terms.LIFT:
        y = y + x
    if unit == "si":
        y = y * x
    if level > Level.LOW:
        y = y * level
    match scheme:
        case Scheme.EXPLICIT:
            return y * x
        case Scheme.IMPLICIT:
            return y + x


@pytest.mark.parametrize("options", [*itertools.product(Scheme, [Terms.NONE, Terms.ALL], Unit, Level)])
def test_no_test_of_an_option_is_left(options):
    assert "if" not in s2s.source(model, 1.3, *options)
    slope = (model(1.30001, *options) - model(1.29999, *options)) / 2e-5
    assert s2s.grad(model)(1.3, *options) == pytest.approx(slope, rel=1e-8)


class AllEqual(enum.Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    __hash__ = enum.Enum.__hash__


class HasAll(enum.Flag):
    A = 1
    B = 2

    def __contains__(self, other):
        return True


def of_its_own_code(x, a=AllEqual.A, b=HasAll.A):
    y = x
    if a == AllEqual.B:
        y = y * x
    if HasAll.B in b:
        y = y * x
    return y


def test_code_of_the_class_runs_with_the_program():
    assert "if" in s2s.source(of_its_own_code, 1.3)
    assert s2s.grad(of_its_own_code)(1.3) == pytest.approx(3 * 1.3**2)


def test_a_global_option_that_is_assigned_anew():
    space = globals()
    space["_SCHEME"] = Scheme.EXPLICIT
    gradient = s2s.grad(by_a_global)
    assert gradient(2.0) == pytest.approx(4.0)
    space["_SCHEME"] = Scheme.IMPLICIT
    assert gradient(2.0) == pytest.approx(12.0)


def by_a_global(x):
    return x * x if _SCHEME == Scheme.EXPLICIT else x**3  # noqa: F821
