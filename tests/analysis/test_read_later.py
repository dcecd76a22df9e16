"""What is read after an augmented assignment, on whichever path: an array that another name shows then is changed
itself, any other one becomes a new one."""

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import differences
from tests.optimize.test_passes import load

X = np.array([0.3, -0.7, 0.5])

INTERRUPTED = {
    "in the handler": """
    try:
        a += x
        c = check(np.sum(a))
    except ValueError:
        c = np.sum(b * x)
    """,
    "in the handler of a try around": """
    try:
        try:
            a += x
            c = check(np.sum(a))
        except KeyError:
            c = 2.0
    except ValueError:
        c = np.sum(b * x)
    """,
    "in the else": """
    try:
        a += x
        c = np.sum(a) / check(1.0)
    except ValueError:
        c = 2.0
    else:
        c *= np.sum(b * x)
    """,
    "after the try": """
    try:
        a += x
        c = check(np.sum(a))
    except ValueError:
        c = 2.0
    c += np.sum(b * x)
    """,
    "in the finally": """
    c = 1.0
    try:
        a += x
        c = check(np.sum(a))
    except ValueError:
        c = 2.0
    finally:
        c += np.sum(b * x)
    """,
}
SEEN = {
    "in the else, after a change there": """
    try:
        c = check(1.0)
    except ValueError:
        c = np.sum(a)
    else:
        a += x
        c += np.sum(b * a)
    """,
    "after a change in the handler": """
    try:
        c = check(-1.0)
    except ValueError:
        a += x
        c = np.sum(a)
    c *= np.sum(b * x)
    """,
    "under the name that the try gives": """
    try:
        c = check(-1.0)
        d = x
    except ValueError:
        c, d = 1.0, a
    b = 0.0
    a += x
    c += np.sum(d * a)
    """,
    "in the next iteration": """
    c = 0.0
    for k in range(3):
        c += np.sum(b * x)
        a += x
    c *= np.sum(a)
    """,
    "in the test of a loop": """
    c = 0.0
    while np.sum(b * b) < 40.0 and c < 9.0:
        a += np.abs(x)
        c += np.sum(a)
    """,
    "after the loop, in some iteration of which it is the array": """
    c, d = 0.0, x
    for k in range(3):
        if k == 1:
            d = a
        b = 0.0
        a += x
        c += np.sum(a * k)
    c += np.sum(d * x)
    """,
    "in a with": """
    a += x
    with np.errstate(all="ignore"):
        c = np.sum(b * x)
    c += np.sum(a)
    """,
    "on one side of a branch": """
    a += x
    c = np.sum(b * x) if x[0] > 0.0 else 1.0
    c += np.sum(a)
    """,
}
UNSEEN = {
    "the name is another array by then": """
    b = x * 3.0
    try:
        a += x
        c = check(np.sum(a))
    except ValueError:
        c = np.sum(b * x)
    """,
    "the handler has read it": """
    try:
        c = check(-1.0)
    except ValueError:
        c = np.sum(b * x)
        a += x
    c *= np.sum(a)
    """,
    "the other side reads it": """
    if x[0] > 0.0:
        a += x
        c = np.sum(a)
    else:
        c = np.sum(b * x)
    """,
    "the else reads it, not the handler": """
    try:
        c = check(-x[0])
    except ValueError:
        a += x
        c = np.sum(a * a)
    else:
        c += np.sum(b * x)
    """,
    "it is read before the loop": """
    c = np.sum(b * x)
    for k in range(3):
        a += x
        c += np.sum(a * a)
    """,
}


def program(body):
    check = "def check(s):\n    if s < 0.0:\n        raise ValueError\n    return s\n"
    return load(f"{check}def f(x):\n    a = x * 2.0\n    b = a{body}return c\n")


@pytest.mark.parametrize(
    ("body", "is_seen"), [*((b, True) for b in SEEN.values()), *((b, False) for b in UNSEEN.values())],
    ids=[*SEEN, *UNSEEN],
)  # fmt: skip
def test_an_array_that_is_seen_under_another_name_is_changed_itself(body, is_seen):
    f = program(body)
    for x in (X, -X):
        expected = differences(f, x)
        value, bar = s2s.value_and_grad(f)(x)
        np.testing.assert_allclose(bar, expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(value, f(x), rtol=1e-13)
        np.testing.assert_allclose(s2s.jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)
    assert (" a += " in s2s.source(f, X, mode="jvp")) == is_seen


@pytest.mark.parametrize("body", INTERRUPTED.values(), ids=INTERRUPTED)
def test_a_change_that_an_exception_may_interrupt_is_refused_where_it_is_seen(body):
    with pytest.raises(UnsupportedSyntaxError, match="S2S104"):
        s2s.source(program(body), X)
    f = program(body.replace("b * x", "x"))
    expected = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-7, atol=1e-8)
    assert " a += " not in s2s.source(f, X, mode="jvp")
