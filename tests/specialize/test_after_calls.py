"""What a function has assigned to an attribute outside, after calls that run code of the program which is not read."""

import linecache

import numpy as np
import pytest

import s2s


class Tally:
    """Holds what the calls change."""


TALLY = Tally()


def bump(t=0.0):
    TALLY.w = TALLY.w * 0.9
    return 0.5


def walk():
    while True:
        yield bump()


class Loud:
    def __getitem__(self, key):
        return bump()

    def __eq__(self, other):
        bump()
        return True

    def __len__(self):
        bump()
        return 2

    def __iter__(self):
        bump()
        return iter([1.0, 2.0])

    def __contains__(self, item):
        bump()
        return True


BOX = {"loud": Loud(), "steps": walk()}
STEPS, LOUD = walk(), Loud()

CALLS = """
next(steps)
next(STEPS)
max([1, 2], key=bump)
min([1, 2], key=lambda q: bump())
sorted([1, 2], key=bump)
list(map(bump, [1, 2]))
any(loud)
loud[1]
loud == 3
3 in loud
3 not in LOUD
len(loud)
str(len(LOUD))
[i for i in loud]
sum(next(steps) for _ in range(2))
""".strip().splitlines()


def made(call):
    text = (
        "def f(a):\n    TALLY.w = np.array([1.0, 2.0])\n    TALLY.w = TALLY.w * 0.8 + 0.1\n"
        f"    loud, steps = BOX['loud'], BOX['steps']\n    {call}\n    return TALLY.w[1] * a\n"
    )
    name = f"<after {call}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = dict(globals())
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("call", CALLS)
def test_attributes_are_read_again(call):
    f = made(call)
    expected = f(2.0)
    assert expected < 3.4
    value, slope = s2s.value_and_grad(f)(2.0)
    tangent = s2s.jvp(f, (2.0,), (1.0,))[1]
    np.testing.assert_allclose([value, slope, tangent], [expected, expected / 2.0, expected / 2.0], rtol=1e-12)


def test_differentiated_attributes_are_not_read_again():
    """A generator may read what was assigned, with its derivative: such a call is refused by the compiler."""
    for fn in (stored_before_next, stored_before_key):
        with pytest.raises(s2s.errors.UnsupportedSyntaxError, match="S2S139"):
            s2s.grad(fn)(2.0)


def stored_before_next(a):
    TALLY.w = np.array([1.0, 2.0]) * a
    next(STEPS)
    return TALLY.w[1] * a


def stored_before_key(a):
    TALLY.w = 3.0 * a
    max([1, 2], key=bump)
    return TALLY.w * a
