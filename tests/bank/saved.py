"""Values that the reverse sweep must see as they were: overwritten, in loops, in branches, in both."""

import numpy as np

from tests.bank.registry import M33, V3, V5, W3, case


@case(0.9)
def overwritten_in_loop(x):
    y = x
    for _ in range(4):
        y = y * y + 0.1
    return y


@case(0.9, 0.3)
def two_carried_values(x, y):
    for _ in range(4):
        x = np.sin(x * y)
        y = y * x + 0.5
    return x * y


@case(0.9, 0.3)
def temporary_in_loop(x, y):
    for _ in range(3):
        t = x * y
        u = np.exp(-t)
        t = t * u
        x = x + t
        y = y - u * 0.1
    return x + y


@case(0.9)
def linear_loop(x):
    y = x
    for i in range(6):
        y = y * 0.5 + i
    return y


@case(0.9)
def linear_then_non_linear(x):
    y = x
    for _ in range(3):
        y = y + 0.2
    y = y * y
    for _ in range(3):
        y = y - 0.1 * y
    return y


@case(2.0)
def newton_square_root(x):
    y = x
    for _ in range(5):
        y = 0.5 * (y + x / y)
    return y


@case(0.4)
def logistic_map(r):
    x = 0.3
    for _ in range(8):
        x = (2.5 + r) * x * (1.0 - x)
    return x


@case(0.9)
def branch_on_carried_value(x):
    y = x
    for i in range(6):
        if y > 1.0:
            y = y * 0.6
        else:
            y = y * y + 0.5
        y = y + 0.05 * i
    return y


@case(0.9, 0.5)
def overwritten_in_one_branch_in_loop(x, y):
    for i in range(5):
        if i % 2:
            t = x * y
            x = np.sin(t)
        y = y * x + 0.2
    return x * y


@case(0.9)
def value_of_last_trip_that_took_the_branch(x):
    y = x
    last = 0.0
    for i in range(6):
        y = np.sin(y) + 0.4
        if i % 3 == 0:
            last = y * y
    return last * y


@case(V5)
def best_so_far(v):
    best = v[0]
    for i in range(1, 5):
        if v[i] > best:
            best = v[i]
    return best * best


@case(V5)
def running_product_and_sum(v):
    product = 1.0
    total = 0.0
    for x in v:
        product = product * x
        total = total + product * product
    return total


@case(M33 * 0.3, V3)
def array_overwritten_in_loop(m, h):
    for _ in range(3):
        h = np.tanh(m @ h)
        h = h * h
    return np.sum(h)


@case(M33 * 0.3, V3)
def weights_overwritten_in_loop(m, h):
    for _ in range(3):
        h = m @ h
        m = m * 0.5 + np.outer(h, h) * 0.1
    return np.sum(h * h)


@case(V3, W3)
def alias_of_carried_value(v, w):
    previous = v
    for _ in range(3):
        current = previous * w
        w = w + previous
        previous = current
    return np.sum(previous * w)


@case(0.9)
def second_order_recurrence(x):
    a, b, c = x, x * x, 1.0
    for _ in range(5):
        a, b, c = b, c, np.sin(a) + b * c * 0.3
    return a * b * c


@case(0.9)
def history_of_two_loops(x):
    y = x
    for _ in range(3):
        y = np.sin(y) * x
    z = y
    for _ in range(3):
        z = z * y + x
        y = y * z
    return y + z


@case(0.9)
def inner_loop_restarts(x):
    total = 0.0
    for i in range(3):
        y = x
        for _ in range(i + 1):
            y = y * y + 0.1
        total = total * y + y
    return total


@case(0.9)
def inner_loop_carries_on(x):
    y = x
    for i in range(3):
        for j in range(2):
            y = np.cos(y * x)
            if j == i:
                y = y * y
        x = x + 0.1 * y
    return y


@case(0.9)
def data_dependent_inner_count(x):
    y = x
    total = 0.0
    for _ in range(3):
        n = 0
        while y < 3.0:
            y = y * 1.7 + 0.1 * x
            n += 1
        total = total + y * n
        y = y * 0.2
    return total


@case(0.95)
def break_with_saved_values(x):
    y = x
    for i in range(20):
        z = y * x
        y = z * z + 0.3
        if y > 4.0:
            break
        y = y + 0.01 * i
    return y * z


@case(0.9)
def continue_with_saved_values(x):
    y = x
    for i in range(6):
        z = np.sin(y)
        if z > 0.9:
            y = y * 0.5
            continue
        y = y + z * z
    return y * z


@case(V3)
def index_used_in_derivative(v):
    total = 0.0
    k = 0
    for i in range(4):
        k = (k + i) % 3
        total = total * v[k] + v[k] ** 2
    return total


@case(0.9)
def passive_value_overwritten(x):
    scale = 1.0
    y = x
    for i in range(4):
        y = y * scale * x
        scale = scale * 0.5 + i
    return y * scale


@case(V3, W3)
def euler_oscillator(q, p):
    for _ in range(4):
        a = -q * (1.0 + q * q)
        p = p + 0.1 * a
        q = q + 0.1 * p
    return np.sum(q * q + p * p)


@case(0.2, 1.1, 0.1)
def runge_kutta(y, rate, h):
    def f(t, y):
        return -rate * y + np.sin(t) * y * y

    t = 0.0
    for _ in range(3):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y


@case(0.9)
def inactive_between_active(x):
    y = x * x
    y = 3.0
    z = y * x
    y = z * x
    return y


@case(0.9, True)
@case(0.9, False)
def active_in_one_branch_only(x, use):
    y = 2.0
    for _ in range(3):
        if use:
            y = y * x
        else:
            y = y * 1.1
    return y + x


@case(V5)
def becomes_active_in_loop(v):
    a = 1.0
    b = 2.0
    c = 3.0
    for x in v:
        c = c + b * 0.1
        b = b * a
        a = x * x
    return a + b * c


@case(0.9)
def power_tower(x):
    y = 1.0
    for _ in range(4):
        y = x**y
    return y


@case(M33)
def exponential_by_series(m):
    term = np.eye(3)
    total = np.eye(3)
    for k in range(1, 6):
        term = term @ m / k
        total = total + term
    return np.sum(total * total) * 0.01


@case(np.array([0.2, 1.4, -0.3, 0.9, 0.1]))
def kalman_like(observations):
    mean, variance = 0.0, 1.0
    loss = 0.0
    for z in observations:
        variance = variance + 0.1
        gain = variance / (variance + 0.5)
        error = z - mean
        mean = mean + gain * error
        variance = (1.0 - gain) * variance
        loss = loss + error * error / (variance + 0.5) + np.log(variance + 0.5)
    return loss


@case(0.7)
@case(np.float64(-0.4))
def what_a_store_holds_and_a_cheap_operation_reads(x):
    kept = np.empty(5)
    h = x
    for i in range(5):
        t = np.tanh(h)
        kept[i] = t
        u = 1.0 - t
        h = h * u + x
    return h + np.sum(kept)


@case(0.7)
def what_a_store_holds_and_a_chain_reads(x):
    kept = np.empty((3, 2))
    h = x
    for i in range(3):
        for j in range(2):
            t = np.sin(h)
            kept[i, j] = t
            u = 2.0 - t
            v = u + h
            h = h * u * 0.3 + v * x
    return h + np.sum(kept**2)
