"""if, elif, else: the cotangent goes to the side that ran."""

import numpy as np

from tests.bank.registry import M23, V3, W3, case


@case(1.3)
@case(-1.3)
def if_else(x):
    if x > 0:
        y = x * x
    else:
        y = np.exp(x)
    return y * x


@case(1.3)
@case(-1.3)
def if_only(x):
    y = x
    if x > 0:
        y = y * x * x
    return y + x


@case(0.5)
@case(1.5)
@case(2.5)
@case(3.5)
def elif_chain(x):
    if x < 1.0:
        y = x
    elif x < 2.0:
        y = x * x
    elif x < 3.0:
        y = x**3
    else:
        y = np.log(x)
    return y + y * x


@case(1.3, 0.4)
@case(0.4, 1.3)
@case(-0.4, 1.3)
@case(-0.4, -1.3)
def nested(x, y):
    if x > 0:
        if y > x:
            z = x * y
        else:
            z = x + y
    else:
        if y > 0:
            z = x * x
        else:
            z = y * y * x
    return z * z


@case(1.3, 0.4)
@case(-1.3, 0.4)
def overwritten_in_one_branch(x, y):
    z = x * y
    w = np.sin(z)
    if x > 0:
        z = z * z * w
    return z + w


@case(1.3)
@case(-1.3)
def input_overwritten_in_branch(x):
    if x < 0:
        x = -x * x
    return np.sin(x) * x


@case(1.3, 0.4)
@case(-1.3, 0.4)
def different_variables_per_branch(x, y):
    a = 1.0
    b = 2.0
    if x > 0:
        a = x * y
    else:
        b = x - y * y
    return a * b


@case(1.3)
@case(-1.3)
def constant_branch(x):
    if x > 0:
        return x * x
    return 0.0


@case(1.3)
@case(-1.3)
def variable_of_one_branch(x):
    if x > 0:
        t = np.sin(x)
        y = t * t
    else:
        y = x
    return y * x


@case(1.3)
@case(-1.3)
def pass_in_branch(x):
    if x > 0:
        pass
    else:
        x = x * x
    return x * 3.0


@case(V3, True)
@case(V3, False)
def option(v, squared):
    d = v * v if squared else np.exp(v)
    if squared:
        d = d * 0.5
    return np.sum(d)


@case(V3, "l2")
@case(V3, "exp")
@case(V3, "none")
def string_option(v, kind):
    if kind == "l2":
        penalty = np.sum(v**2)
    elif kind == "exp":
        penalty = np.sum(np.exp(v))
    else:
        penalty = 0.0
    return penalty + np.sum(v)


@case(V3, W3)
@case(-V3, W3)
def condition_on_reduction(v, w):
    if np.sum(v) > 0:
        out = v * w
    else:
        out = v / w
    return np.sum(out)


@case(V3, W3)
def any_and_all(v, w):
    if np.any(v < 0) and not np.all(w > 0):
        return np.sum(v * w)
    return np.sum(v)


@case(V3)
@case(M23)
def branch_on_rank(x):
    if x.ndim == 2:
        return np.sum(x @ x.T)
    return x @ x


@case(1.3)
@case(V3)
def branch_on_kind(x):
    if isinstance(x, np.ndarray):
        return np.sum(x * x)
    elif isinstance(x, float):
        return x * x * x
    return x


@case(1.3, 0.4)
@case(-1.3, 0.4)
def condition_saved_before_change(x, y):
    positive = x > 0
    x = x * y - 5.0
    if positive:
        y = y * x
    else:
        y = y - x
    x = x * y
    if not positive:
        x = x * x
    return x + y


@case(1.3)
def both_branches_the_same(x):
    if x > 100.0:
        y = x * x
    else:
        y = x * x
    return y


@case(0.9, 0.3)
@case(0.3, 0.9)
def maximum_by_if(x, y):
    if x > y:
        m = x
    else:
        m = y
    return m * m + x


@case(0.2)
@case(1.9)
def huber(r):
    if abs(r) <= 1.0:
        return 0.5 * r**2
    return abs(r) - 0.5


@case(V3, W3, 1.4)
@case(V3, W3, -1.4)
def arrays_in_branches(v, w, s):
    h = np.tanh(v * s)
    if s > 0:
        h, w = w * h, h
    else:
        h = h - w
    return np.sum(h * w)


@case(1.3)
@case(-1.3)
def kind_differs_between_branches(x):
    if x > 0:
        y = np.array([1.0, 2.0]) * x
    else:
        y = x * x
    return np.sum(y) * x


@case(1.3)
def condition_from_call(x):
    def is_large(value):
        return value * value > 1.0

    if is_large(x):
        return x**3
    return x
