"""How does the gradient pass a `where`, and an `if`?

It goes to the side that was chosen. The other side gets zero, and the condition gets nothing: it only chooses. In
the generated gradient a `where` is a `where` of cotangents with the same condition, and an `if` is the same `if`
around the reverse of its branches.

What the side not chosen would have divided by, or taken the root of, does no harm: the zero is chosen last, so
that an inf or NaN there never meets it.
"""

import numpy as np

import s2s


def select(condition, a, b):
    return np.sum(np.where(condition, a * b, a + b**2))


def branch(x, limit):
    if x > limit:
        y = x**2
    else:
        y = 3.0 * x
    return y


def roots(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


CONDITION, A, B = np.array([True, False, True]), np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])


def sources():
    return [
        s2s.source(select, CONDITION, A, B, argnums=("a", "b")),
        s2s.source(branch, 1.0, 2.0, argnums=("x", "limit")),
        s2s.source(roots, A),
    ]


def main():
    by_a, by_b = s2s.grad(select, argnums=("a", "b"))(CONDITION, A, B)
    print("where, by both sides:", by_a, by_b)
    assert by_a.tolist() == [4.0, 1.0, 6.0]  # b, 1, b
    assert by_b.tolist() == [1.0, 10.0, 3.0]  # a, 2 b, a

    branch_gradient = s2s.grad(branch, argnums=("x", "limit"))
    print("if, by x and by the limit:", branch_gradient(3.0, 2.0), branch_gradient(1.0, 2.0))
    assert branch_gradient(3.0, 2.0) == (6.0, 0.0)
    assert branch_gradient(1.0, 2.0) == (3.0, 0.0)

    with np.errstate(all="ignore"):  # of the roots that are not chosen
        slopes = s2s.grad(roots)(np.array([4.0, 0.0, -1.0]))
    print("beside an infinite slope:", slopes)
    assert slopes.tolist() == [0.25, 0.0, 0.0]


if __name__ == "__main__":
    main()
