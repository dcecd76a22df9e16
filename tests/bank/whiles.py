"""while: trip counts that depend on data, convergence tests, else, break and continue."""

import numpy as np

from tests.bank.registry import M33, V3, V5, case


@case(1.1)
def counted(x):
    i = 0
    y = x
    while i < 4:
        y = y * x + i
        i += 1
    return y


@case(1.1)
@case(1.9)
@case(120.0)
def until_large(x):
    y = x
    while y < 100.0:
        y = y * y + x
    return y


@case(0.37)
@case(0.021)
def doubling(x):
    n = 0
    while x < 1.0:
        x = x * 2.0
        n += 1
    return x * x * n


@case(2.7)
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-3:
        x = 0.5 * (x + a / x)
    return x


@case(0.7)
def converge(a):
    x, previous = 1.0, 0.0
    while abs(x - previous) > 1e-2:
        x, previous = np.cos(a * x), x
    return x


@case(0.7, 1e-2)
def while_true(a, tol):
    x = 1.0
    while True:
        new = np.cos(a * x)
        if abs(new - x) < tol:
            break
        x = new
    return new


@case(0.7, 1e-2)
def while_true_return(a, tol):
    x = 1.0
    while True:
        new = np.cos(a * x)
        if abs(new - x) < tol:
            return new * x
        x = new


@case(1.1)
def with_continue(x):
    i = 0
    y = x
    while i < 6:
        i += 1
        if i % 2:
            continue
        y = y * x + i
    return y


@case(1.1)
def while_else(x):
    i = 0
    while i < 3:
        x = np.sin(x) + 0.5
        i += 1
    else:
        x = x * x
    return x


@case(1.1)
@case(4.1)
def while_else_with_break(x):
    i = 0
    while i < 3:
        x = x * 1.5
        if x > 5.0:
            break
        i += 1
    else:
        x = x * x
    return x * i + x


@case(1.1)
def never_runs(x):
    y = x * x
    while y < 0.0:
        y = y * x
    return y


@case(V5)
def index_walk(v):
    i = 0
    total = 0.0
    while i < len(v):
        total += v[i] * v[i]
        i += 2
    return total


@case(5.3, 0.7)
def nested_whiles(x, y):
    while x > 1.0:
        z = x
        while z > y:
            z = z * 0.5
        x = x * 0.4 + z * 0.1
    return x * y


@case(5.3)
def while_in_for(x):
    total = 0.0
    for i in range(3):
        y = x + i
        while y > 1.0:
            y = y / 2.0
        total += y * x
    return total


@case(3.2)
def for_in_while(x):
    y = 1.0
    while y < 50.0:
        for i in range(2):
            y = y + x * (i + 1)
    return y * x


@case(M33, V3)
def power_iteration(m, v):
    previous = 0.0
    norm = 1.0
    while abs(norm - previous) > 1.7e-2:
        w = m @ v
        previous = norm
        norm = np.sqrt(w @ w)
        v = w / norm
    return norm


@case(0.3)
def condition_with_and(x):
    i = 0
    while x < 10.0 and i < 4:
        x = x + x * x
        i += 1
    return x


@case(0.3)
def walrus_condition(x):
    while (y := x * x) < 2.0:
        x = x + 0.5 * y + 0.1
    return x * y


@case(13, 1.2)
@case(6, 1.2)
def collatz_passive(n, x):
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        x = x * 0.9 + n * 0.01
    return x


@case(0.9, argnums=0)
def bisection_of_passive_interval(a):
    low, high = 0.0, 2.0
    steps = 0
    while steps < 60:
        middle = 0.5 * (low + high)
        if middle * middle > a:
            high = middle
        else:
            low = middle
        steps += 1
    return middle * a
