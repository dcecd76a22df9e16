"""Ways out: break, continue, early and multiple return, return inside loops, assert, raise."""

import numpy as np

from tests.bank.registry import M33, V5, case


@case(1.3)
@case(0.3)
@case(-1.3)
def early_return(x):
    if x < 0:
        return x * x
    y = np.sin(x)
    if y > 0.5:
        return y * x
    return y + x


@case(1.3)
@case(-1.3)
def return_in_both(x):
    if x > 0:
        return x * x
    else:
        return x**3


@case(1.3)
@case(0.3)
def break_out(x):
    y = x
    for i in range(10):
        y = y * x
        if y > 2.0:
            break
        y = y + 0.1 * i
    return y


@case(1.3)
def break_before_use(x):
    y = x
    for i in range(10):
        if i == 3:
            break
        y = y * x
    return y + i


@case(1.3)
def break_at_first_trip(x):
    y = x
    for _ in range(10):
        break
    return y * y


@case(V5)
def continue_on_data(v):
    total = 0.0
    for x in v:
        if x < 0:
            continue
        total += x * x
    return total


@case(1.3)
def continue_and_break(x):
    y = x
    for i in range(10):
        if i % 2 == 0:
            continue
        if i > 6:
            break
        y = np.sin(y) * x + i
    return y


@case(1.3)
def continue_with_state(x):
    y = x
    z = 0.0
    for i in range(6):
        y = np.sin(y) + 0.3
        if i % 3 == 1:
            y = y * x
            continue
        z = z + y * y
    return z * y


@case(0.7, 1.4e-3)
def return_from_loop(a, tol):
    x = 1.0
    for _ in range(200):
        new = np.cos(a * x)
        if abs(new - x) < tol:
            return new
        x = new
    return x


@case(0.9)
@case(0.2)
def return_from_loop_or_after(x):
    y = x
    for i in range(4):
        y = y * 1.5
        if y > 2.5:
            return y * x * i
    return y * y


@case(M33)
@case(-M33)
def return_from_nested_loops(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            total = total + m[i, j] * m[j, i]
            if total > 4.0 and i > 0:
                return total * m[i, j]
        total = total * 0.9
    return total


@case(1.1)
def break_from_inner_only(x):
    y = x
    for i in range(3):
        for j in range(5):
            if j > i:
                break
            y = y * x + 0.1
        y = y + np.sin(y)
    return y


@case(1.4)
@case(0.4)
def break_both_by_flag(x):
    y = x
    done = False
    for i in range(4):
        for j in range(4):
            y = y * x + 0.2
            if y > 5.0:
                done = True
                break
        if done:
            break
        y = y - 0.1 * i
    return y


@case(1.3)
def two_breaks(x):
    y = x
    for i in range(8):
        y = y * x
        if y > 5.0:
            y = np.log(y)
            break
        if i == 7:
            y = np.sin(y)
            break
        y = y + 0.1
    return y * x


@case(2.3)
@case(0.8)
def return_in_while(x):
    i = 0
    while i < 5:
        x = x * 0.9
        if x < 1.0:
            return x**3
        i += 1
    return x * x


@case(1.3)
def code_after_return(x):
    return x * x
    x = x * 2.0
    return x


@case(1.3)
def assertion(x):
    assert x > 0, f"x is {x}"
    assert np.isfinite(x)
    return np.log(x)


@case(1.3)
def raise_not_taken(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return np.sqrt(x)


@case(1.3, "a")
def raise_in_last_branch(x, kind):
    if kind == "a":
        y = x * x
    elif kind == "b":
        y = x
    else:
        raise ValueError(kind)
    return y * x


@case(V5)
def raise_in_loop_not_taken(v):
    total = 0.0
    for x in v:
        if not abs(x) < 100.0:
            raise OverflowError("too large")
        total += x**2
    return total


@case(1.3)
@case(0.1)
def return_of_different_kinds(x):
    if x > 1:
        return x
    return np.float64(2.0) * x


@case(1.3, 2)
@case(1.3, 7)
def return_in_else_of_loop(x, n):
    for i in range(5):
        x = np.sin(x) + 0.4
        if i == n:
            break
    else:
        return x * x
    return x


@case(1.7)
def break_inside_else_branch(x):
    for i in range(6):
        if x < 4.0:
            x = x * 1.3
        else:
            x = x - 0.1 * i
            break
    return x * x


@case(V5)
def first_that_matches(v):
    for i in range(len(v)):
        if v[i] > 1.0:
            found = v[i]
            break
    return found * v[0]


@case(1.3)
def while_with_three_ways_out(x):
    y = x
    n = 0
    while y < 50.0:
        n += 1
        if n == 2:
            y = y * 2.0
            continue
        y = y * x + 1.0
        if n > 4:
            break
        if y < 0:
            return y
    return y * n
