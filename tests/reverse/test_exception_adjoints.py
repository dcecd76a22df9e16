"""The reverse of a ``try``: of the block that ran, by the number that is kept; none for a block after which the program
raises. Gradients against central differences, the blocks by the generated source."""

import math

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import differences


def one_handler(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        pass
    return y * x


def two_handlers(x, k):
    try:
        for j in range(k):
            y = math.sqrt(x) / (x + 2 // (k - 1))
            x = x * y
    except ZeroDivisionError:
        y = x
    except ValueError:
        pass
    return y * x * x


def one_of_two_handlers(x, k):
    y = x
    try:
        y = x * [3.0, 2.0, 5.0][k]
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        pass
    except IndexError:
        y = x * x
    return y * x


def slope(f, x, k):
    return pytest.approx(differences(lambda x: f(x, k), x), rel=1e-7)


@pytest.mark.parametrize("f", [one_handler, two_handlers], ids=lambda f: f.__name__)
def test_blocks_after_which_a_result_is_unsure_have_no_reverse(f):
    assert s2s.grad(f)(1.7, 2) == slope(f, 1.7, 2)
    forward, _, reverse = s2s.source(f, 1.7, 2).partition("# reverse sweep")
    assert "rt.check_sure(caught" in forward and "if " not in reverse and "caught" not in reverse


def test_the_blocks_that_are_left_have_theirs():
    f = one_of_two_handlers
    for k in (2, 3):
        assert s2s.grad(f)(1.7, k) == slope(f, 1.7, k)
    with pytest.raises(UnsupportedSyntaxError, match="S2S104"):
        s2s.grad(f)(1.7, 1)
    forward, _, reverse = s2s.source(f, 1.7, 2).partition("# reverse sweep")
    assert "rt.check_sure(caught in (1,), " in forward and reverse.count("caught") == 1, reverse


def counted(x, k):
    total = 0.0
    for j in range(k):
        try:
            y = x[0] * (6 // j)
            y = y * [3.0, 2.0][j - 1]
        except ZeroDivisionError:
            y = x[1] * x[1]
        except IndexError:
            y = x[0] * x[2]
        total = total + y * y
    return total


def test_the_number_of_the_block_decides_in_each_iteration():
    x = np.array([0.8, -1.3, 0.6])
    np.testing.assert_allclose(s2s.grad(counted)(x, 4), differences(lambda x: counted(x, 4), x), rtol=1e-8)
    text = s2s.source(counted, x, 4)
    assert "if caught == 0:" in text and "saved_caught.pop()" in text, text
