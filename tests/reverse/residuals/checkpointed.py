"""Functions with checkpoints, each with arguments: ``LOOPS`` and ``FUNCTIONS``. The number of snapshots is the last
argument of the loops. ``test_checkpointing`` runs them as they are and with the checkpoints taken out of the source.
"""

import random

import numpy as np

import s2s

X = np.linspace(0.3, 1.3, 6)
ROWS = np.linspace(0.2, 1.4, 24).reshape(4, 6)
TAKEN = [0]


# --- loops ----------------------------------------------------------------------------------------------------------


def plain(x, n, s):
    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        u = u + 0.1 * np.sin(u) * t
    return np.sum(u**2)


def with_steps(x, n, s):
    u = x
    for t in s2s.checkpointed(range(3, 3 + 2 * n, 2), snapshots=s):
        u = u + 0.1 * np.sin(u * t)
    return np.sum(u)


def reads_what_changes_later_on(x, n, s):
    u, held, both = x, np.arange(6.0), np.ones((2, 6))
    part = both[1]
    for t in s2s.checkpointed(range(n), snapshots=s):
        u = np.sin(u) + held * part
    held[0], part[1] = 7.0, 3.0
    return np.sum(u * held * part)


def backwards(x, n, s):
    u = x
    for t in s2s.checkpointed(range(n, 0, -1), snapshots=s):
        u = u + 0.1 * np.sin(u * t)
    return np.sum(u)


def over_rows(x, n, s):
    u = x
    for row in s2s.checkpointed(ROWS[:n], snapshots=s):
        u = np.tanh(u * row) + u
    return np.sum(u)


def over_pairs(x, n, s):
    u = x
    for i, (a, b) in s2s.checkpointed(enumerate(zip(ROWS[:n], 2.0 * ROWS[:n])), s):
        u = np.tanh(u * a) + u * b * i
    return np.sum(u)


def over_list(x, n, s):
    u, rows = x, [x * 0.5, x * 2.0, np.sin(x), x]
    for row in s2s.checkpointed(rows, snapshots=s):
        u = np.tanh(u * row) + u
    return np.sum(u) * n


def several_carried(x, n, s):
    u, v, total = x, 2.0 * x, 0.0
    for _ in s2s.checkpointed(range(n), snapshots=s):
        u, v = v + 0.1 * np.sin(u), u * v
        total = total + np.sum(u)
    return total * np.sum(v)


def with_dict(x, n, s):
    state = {"u": x, "v": [2.0 * x, 0]}
    for _ in s2s.checkpointed(range(n), snapshots=s):
        state["u"], state["v"][0] = state["u"] + 0.1 * np.sin(state["v"][0]), state["v"][0] * state["u"]
        state["v"][1] += 1
    return np.sum(state["u"]) * state["v"][1]


def with_branches(x, n, s):
    u, best = x, 0.0
    for t in s2s.checkpointed(range(n), snapshots=s):
        if t % 3 == 0:
            continue
        u = u * 0.5 if np.sum(u) > 3 else u + np.sin(u)
        for _ in range(t):
            v = u * u
            if v[0] > 0.7:
                break
            u = u + 0.1 * v
        best = max(best, u[1])
    return np.sum(u) + best


def with_break(x, n, s):
    u, t = x, 0
    for t in s2s.checkpointed(range(n), snapshots=s):
        u = u * np.cos(u) + 0.3
        if np.sum(u) < 2.9:
            break
    return np.sum(u) * (t + 1)


def with_return(x, n, s):
    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        u = u * np.cos(u) + 0.3
        if np.sum(u) < 2.9:
            return np.sum(u) * t
    return np.sum(u**2)


def with_try(x, n, s):
    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        try:
            v = np.sqrt(u)
            if t == 2:
                raise ValueError
            u = v * u
        except ValueError:
            u = u * 1.5
    return np.sum(u)


def with_with(x, n, s):
    u = x
    for _ in s2s.checkpointed(range(n), snapshots=s):
        with np.errstate(divide="ignore"):
            u = u * np.log(u + 1.0)
        u = u + 1.0
    return np.sum(u)


def with_closure(x, n, s):
    c = 2.0 * x[0]

    def step(u, t):
        return u + c * np.sin(u) * t

    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        u = step(u, t)
    return np.sum(u)


def with_history(x, n, s):
    u, seen = x, []
    for _ in s2s.checkpointed(range(n), snapshots=s):
        u = np.sin(u) * u + u
        seen.append(u)
    return np.sum(np.array(seen) ** 2)


def nested(x, n, s):
    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        for _ in s2s.checkpointed(range(t), snapshots=s):
            u = u + 0.1 * np.sin(u)
        u = u * 1.1
    return np.sum(u)


def inside_a_loop(x, n, s):
    u = x
    for t in range(n):
        w = u * u
        for _ in s2s.checkpointed(range(t), snapshots=s):
            u = u + 0.1 * np.sin(u * w)
        u = u * 1.1
    return np.sum(u)


def inside_a_branch(x, n, s):
    u = x
    if np.sum(x) > 0:
        for _ in s2s.checkpointed(range(n), snapshots=s):
            u = u + 0.1 * np.sin(u)
    return np.sum(u)


def independent_trips(x, n, s):
    y = np.zeros(n)
    for t in s2s.checkpointed(range(n), snapshots=s):
        y[t] = np.sin(x[t % 6]) * t
    return np.sum(y**2)


# --- arrays that are changed in place -------------------------------------------------------------------------------


def in_place(x, n, s):
    u, seen = x.copy(), np.zeros(n)
    for t in s2s.checkpointed(range(n), snapshots=s):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        seen[t] = u[2] ** 2
        u[0] = np.sin(u[1])
    return np.sum(u**2) + np.sum(np.sin(seen))


def argument_changed(x, n, s):
    for _ in s2s.checkpointed(range(n), snapshots=s):
        x[1:] *= np.sin(x[:-1]) + 1.0
    return np.sum(x)


def swapped(x, n, s):
    u, w = x.copy(), np.zeros_like(x)
    for _ in s2s.checkpointed(range(n), snapshots=s):
        w[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        w[0], w[-1] = u[0], u[-1]
        u, w = w, u
    return np.sum(u**2)


def read_before_and_after(x, n, s):
    u, w = x.copy(), np.zeros_like(x)
    y, z = np.sum(np.exp(u)), np.sum(np.sin(u[1:]))
    for _ in s2s.checkpointed(range(n), snapshots=s):
        w[1:-1] = u[1:-1] * np.sin(u[2:]) + u[:-2]
        w[0], w[-1] = u[0], u[-1]
        u, w = w, u
    u *= 2.0
    u[0] = 0.0
    return y * z * np.sum(u**2)


def swapped_and_linear(x, n, s):
    u, w = x.copy(), np.zeros_like(x)
    y = np.sum(np.exp(u))
    for _ in s2s.checkpointed(range(n), snapshots=s):
        w[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        w[0], w[-1] = u[0], u[-1]
        u, w = w, u
    return y * np.sum(u[:3])


def read_around(x, n, s):
    a = x.copy()
    y = np.sum(np.exp(a))
    for _ in s2s.checkpointed(range(n), snapshots=s):
        a[1:] += np.sin(a[:-1])
    z = np.sum(np.sin(a))
    a *= 2.0
    return y * z + np.sum(a**3)


def swapped_again_and_again(x, n, s):
    u, w, total = x.copy(), np.zeros_like(x), 0.0
    for _ in range(3):
        for _ in s2s.checkpointed(range(n), snapshots=s):
            w[1:-1] = 0.3 * u[1:-1] * np.sin(u[2:]) + u[:-2]
            w[0], w[-1] = u[0], u[-1]
            u, w = w, u
        total = total + np.sum(np.exp(0.1 * u))
        u[1] *= total
    return total * np.sum(u**2)


def through_a_view(x, n, s):
    a = x.copy()
    b = a[1:]
    for _ in s2s.checkpointed(range(n), snapshots=s):
        b[:-1] *= a[0] + np.sin(b[1:])
        a[0] = a[0] * b[2]
    return np.sum(a**2)


def one_or_another(x, n, s):
    a, b = x.copy(), 2.0 * x
    for t in s2s.checkpointed(range(n), snapshots=s):
        c = a if t % 2 else b
        c[1:] *= np.sin(a[:-1])
    return np.sum(a * b)


def new_in_each_trip(x, n, s):
    a = x.copy()
    y = np.sum(a**3)
    for _ in s2s.checkpointed(range(n), snapshots=s):
        a = a * np.sin(a)
        a[0] = 1.0
        a[1:] += a[:-1] * x[1:]
    return np.sum(a) * y


def all_kept_in_one(x, n, s):
    a = np.zeros((n + 1, 6))
    a[0] = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        a[t + 1] = np.sin(a[t]) + a[t]
    return np.sum(a**2)


# --- loops that end when they end -----------------------------------------------------------------------------------


def while_counted(x, n, s):
    u, k = x, 0
    while s2s.checkpointed(k < n, snapshots=s):
        u = u + 0.1 * np.sin(u) * k
        k += 1
    return np.sum(u)


def while_true(x, n, s):
    u, k = x, 0
    while s2s.checkpointed(True, snapshots=s):
        v = u * u
        if k >= n or np.sum(v) > 50:
            break
        k += 1
        if k % 2:
            continue
        u = u + 0.1 * np.sin(v)
    return np.sum(u) * k


def while_else(x, n, s):
    u, k = x, 0
    while s2s.checkpointed(k < n and np.sum(u) < 30, snapshots=s):
        a = np.zeros(7)
        for j in range(k):
            a[j % 7] = u[j % 6]
        u = u * 1.1 + a[:6]
        k += 1
    else:
        u = u * 3.0
    return np.sum(u)


def fixed_point(x, n, s):
    total = 0.0
    for i in range(n):
        y, k = x * i, 0
        while s2s.checkpointed(np.max(np.abs(y - np.cos(y * x))) > 1e-3, snapshots=s):
            y = y - 0.5 * (y - np.cos(y * x))
            k += 1
            if k > 30:
                break
        total = total + np.sum(y * y)
    return total


# --- random draws, and what gives something else each time ----------------------------------------------------------


def draws(x, n, s):
    rng = np.random.default_rng(n)
    np.random.seed(n)
    random.seed(n)
    u = x
    for _ in s2s.checkpointed(range(n), snapshots=s):
        u = np.sin(u) * rng.normal() + rng.normal(size=6) + u * np.random.normal() + random.random()
        if rng.random() < 0.5:
            u = u * rng.choice([1.0, 2.0, 3.0])
    return np.sum(u**2) * rng.normal()


def draws_of_its_own(x, n, s):
    rng = np.random.default_rng(n)
    u = x
    for t in s2s.checkpointed(range(n), snapshots=s):
        own = np.random.default_rng(t)
        u = u[rng.permutation(6)] * np.cos(u) + own.normal(size=6) * u
    return np.sum(u**2)


def shuffled(x, n, s):
    rng, order = np.random.default_rng(n), np.arange(6)
    u = x
    for _ in s2s.checkpointed(range(n), snapshots=s):
        rng.shuffle(order)
        u = u[order] * np.cos(u)
    return np.sum(u**2)


def take():
    """Something else each time, in a way that cannot be followed."""
    TAKEN.append(TAKEN.pop() + 1)
    return TAKEN[0] % 5 + 1.0


def taken_from_outside(x, n, s):
    u = x
    for _ in s2s.checkpointed(range(n), snapshots=s):
        for _ in range(2):
            u = np.sin(u * take()) + 0.1 * u
            u = np.cos(u) if np.sum(u) > 2 else u * TAKEN[0]
    return np.sum(u**2)


def read_after_it_was_changed(x, n, s):
    u, held = x[0], np.zeros(6)
    for k in s2s.checkpointed(range(n), s):
        held[k % 6] = u
        u = u * held[k % 6]
    return u + np.sum(held * x)


LOOPS = [
    reads_what_changes_later_on,
    read_after_it_was_changed,
    plain, with_steps, backwards, over_rows, over_pairs, over_list, several_carried, with_dict, with_branches,
    with_break, with_return, with_try, with_with, with_closure, with_history, nested, inside_a_loop, inside_a_branch,
    independent_trips, in_place, argument_changed, swapped, swapped_and_linear, read_before_and_after, read_around,
    swapped_again_and_again, through_a_view, one_or_another, new_in_each_trip, all_kept_in_one, while_counted,
    while_true, while_else, fixed_point, draws, draws_of_its_own, shuffled, taken_from_outside,
]


# --- functions ------------------------------------------------------------------------------------------------------


@s2s.checkpoint
def layer(h, w):
    z = np.tanh(h * w)
    return z * z + h, np.sum(z)


@s2s.checkpoint
def step_in_place(a, v):
    a[1:] += np.sin(a[:-1]) * v
    return a[0]


@s2s.checkpoint
def step_of_dict(d, k):
    return {"u": np.sin(d["u"]) * k, "v": [d["u"], d["v"][0] * d["u"]]}


@s2s.checkpoint
def change_of_dict(d):
    d["u"] = np.sin(d["u"]) * d["v"]
    d["v"] = d["u"] + d["v"]


@s2s.checkpoint
def noisy(h, rng):
    return np.sin(h) * (h + rng.normal(size=6)) * np.random.normal()


@s2s.checkpoint
def inner(h):
    return np.exp(np.sin(h))


@s2s.checkpoint
def outer(h):
    for _ in range(3):
        h = inner(h) * h
    return h * inner(h)


@s2s.checkpoint
def recursive(h, n):
    if n == 0:
        return np.sin(h)
    return recursive(np.sin(h) * h, n - 1) * h


@s2s.checkpoint
def asking(h):
    return np.sin(h * take())


@s2s.checkpoint
def with_loops(h, n):
    while np.sum(h) < 8.0:
        for _ in range(n):
            h = h + 0.3 * np.cos(h) * h
    return h


class Model:
    def __init__(self, w):
        self.w = w

    @s2s.checkpoint
    def forward(self, h):
        return np.tanh(self.w * h) * h

    @s2s.checkpoint
    def grow(self):
        self.w = self.w * 1.5


def in_a_row(x, n):
    h, a = layer(x, x)
    h, b = layer(h, a * x)
    h, c = layer(h, x * n)
    return np.sum(h) * a * b * c


def in_a_loop(x, n):
    h, total = x, 0.0
    for i in range(n):
        h, part = layer(h, x * i)
        total = total + part
    return np.sum(h) * total


def changing_an_array(x, n):
    a, total = x.copy(), 1.0
    y = np.sum(a**3)
    for i in range(n):
        total = total + step_in_place(a, x[1:]) * i
    a *= 2.0
    return np.sum(a**2) * total * y


def changing_twice(x, n):
    a = x.copy()
    y = np.sum(a**3)
    t = step_in_place(a, x[1:])
    t = t * step_in_place(a, x[:-1] * n)
    a *= 2.0
    return np.sum(a**2) * t * y


def containers(x, n):
    d = {"u": x, "v": [2.0 * x, x]}
    for i in range(n):
        d = step_of_dict(d, i + 1)
    return np.sum(d["v"][1]) + np.sum(d["u"])


def containers_changed(x, n):
    d = {"u": x, "v": 2.0 * x}
    change_of_dict(d)
    for _ in range(n):
        change_of_dict(d)
    return np.sum(d["u"] * d["v"])


def noise(x, n):
    rng = np.random.default_rng(n)
    np.random.seed(n)
    h = noisy(x, rng)
    for _ in range(n):
        h = noisy(h, rng)
    return np.sum(h) * rng.normal()


def inside_one_another(x, n):
    return np.sum(outer(0.1 * outer(x))) * n


def recursion(x, n):
    return np.sum(recursive(x, n))


def made_inside(x, n):
    c = x[0]

    @s2s.checkpoint
    def step(u):
        return u * np.sin(c * u)

    h = x
    for _ in range(n):
        h = step(h)
    return np.sum(h)


def by_a_call(x, n):
    h = x
    for _ in range(n):
        h = s2s.checkpoint(lambda u: np.sin(u) * u + x)(h)
    return np.sum(h)


def asked(x, n):
    h = x
    for _ in range(n):
        h = asking(h) * x
    return np.sum(h)


def methods(x, n):
    model = Model(2.0 * x)
    h = x
    for _ in range(n):
        h = model.forward(h)
        model.grow()
    return np.sum(h)


def on_one_side(x, n):
    h = x
    for i in range(n):
        h = layer(h, x)[0] if i % 2 else inner(0.1 * h)
    return np.sum(h)


def loops_inside(x, n):
    return np.sum(with_loops(x, n + 1) ** 2) + np.sum(with_loops(0.5 * x, 2))


def stored(x, n):
    out, h = np.zeros((n + 1, 6)), x
    for i in range(n):
        out[i] = inner(h)
        h = h + 0.1 * out[i]
    return np.sum(out**2)


@s2s.checkpoint
def added_to(u, held):
    held[0] += u
    return u * held[0]


@s2s.checkpoint
def beside(u, held):
    return np.sin(np.sin(u) + held) + held


def reads_what_changes_later(x, n):
    held = np.arange(6.0)
    u = beside(x, held)
    for k in range(n):
        held[k] = 7.0
        u = u * held
    return np.sum(u)


def read_after_calls(x, n):
    held = x * 2.0
    u = x[0]
    for _ in range(n):
        u = added_to(u, held)
    return u + np.sum(held * x)


FUNCTIONS = [
    reads_what_changes_later,
    read_after_calls,
    in_a_row, in_a_loop, changing_an_array, changing_twice, containers, containers_changed, noise, inside_one_another,
    recursion, made_inside, by_a_call, asked, methods, on_one_side, loops_inside, stored,
]
