"""A loop: Newton's iteration for the square root, and the derivative of what it computes.

    s2s dump examples/newton.py:newton_sqrt
"""

import s2s


def newton_sqrt(x: float, n: int):
    y = x
    for _ in range(n):
        y = 0.5 * (y + x / y)
    return y


if __name__ == "__main__":
    print(s2s.source(newton_sqrt, mode="grad"))
    print("square root of 2       ", newton_sqrt(2.0, 6))
    print("its derivative         ", s2s.grad(newton_sqrt)(2.0, 6))
    print("1 / (2 * square root)  ", 0.5 / 2.0**0.5)
