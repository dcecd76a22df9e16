"""Everyday effects, which run in the forward sweep as written and carry no derivative; and nestings of derivatives."""

import dataclasses
import functools
import io
import logging
import operator
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np

import s2s
from tests.language.rows import Group

row = Group("Everyday effects")
nested = Group("Derivatives of derivatives")

LOG = logging.getLogger("rows")
TRACE, COUNTS, EVENTS = [], {"calls": 0}, io.StringIO()
calls = 0


class State:
    steps = 0


class Model:
    losses = 0

    def __init__(self, *hooks):
        self.history, self.calls, self.best, self.hooks = [], 0, None, list(hooks)
        self.kept, self.state = {}, State()

    def loss(self, x):
        self.calls += 1
        y = x[0] ** 3 * x[1]
        self.history.append(y)
        if self.best is None or y < self.best:
            self.best = y
        for hook in self.hooks:
            hook(y)
        return y * x[2]


class Progress:
    def __init__(self, items):
        self.items, self.done = items, 0

    def __iter__(self):
        for item in self.items:
            yield item
            self.done += 1
            EVENTS.write(f"\r{self.done}")


class Watch:
    def __init__(self):
        self.spent = 0.0

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *problem):
        self.spent += time.perf_counter() - self.begin


WATCH = Watch()
MODEL, HOOKED = Model(), Model(lambda y: TRACE.append(float(y)), lambda y: LOG.debug("loss %s", y))


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        begin = time.perf_counter()
        result = function(*args)
        TRACE.append((function.__name__, time.perf_counter() - begin))
        return result

    return wrapper


class Weight:
    def __init__(self, mass, speed):
        self.mass, self.speed = mass, speed

    def __mul__(self, factor):
        return Weight(self.mass * factor, self.speed * factor)


@dataclasses.dataclass
class Pair:
    u: float
    v: float


class Couple(NamedTuple):
    u: float
    v: float


def energy(weight):
    return (weight * 2.0).mass ** 2 * weight.speed


def product(pair):
    return pair.u**3 * pair.v


@timed
def cubed(value):
    return value**3


@row("`print`, with format strings and `file=`")
def printing(x):
    y = x[0] ** 2
    print("y is", y, f"{y:.3f}", x, file=EVENTS, end="")
    print(f"{x[0]:.1f} {x}".upper(), file=EVENTS)
    return y * x[1]


@row("`logging`")
def log(x):
    y = x[0] ** 2
    LOG.debug("value %s of %s", y, x)
    logging.getLogger("rows").info(f"{y}")
    return y * x[1]


@row("`warnings.warn`")
def warning(x):
    y = x[0] ** 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"y is {y}", stacklevel=2)
    return y * x[1]


@row("a progress bar written by hand")
def progress(x):
    total = 0.0
    for k in range(4):
        total += x[k] ** k
        EVENTS.write(f"\r{k} {total:.2f}")
        EVENTS.flush()
    return total * x[0]


@row("a progress bar around the items of a loop")
def progress_around(x):
    total = 0.0
    for k in Progress(range(4)):
        total += x[k] ** (k + 1)
    return total * x[0]


@row("appending to a global list, a counter in a global dict")
def to_a_list(x):
    TRACE.append(x[0] * x[1])
    TRACE.append((x[0], "first"))
    COUNTS["calls"] += 1
    return x[0] ** 2 * x[1]


@row("a global counter")
def to_a_counter(x):
    global calls
    calls += 1
    return x[0] ** 2 * x[1]


@row("attributes of an object outside: history, counter, best value")
def to_attributes(x):
    return MODEL.loss(x)


@row("hooks that an object outside calls")
def hooks(x):
    return HOOKED.loss(x)


@row("timers, written and in a decorator")
def timers(x):
    begin = time.perf_counter()
    y = cubed(x[0]) * x[1]
    TRACE.append(time.perf_counter() - begin)
    return y


@row("a class that counts, an object that remembers")
def of_classes(x):
    Model.losses += 1
    MODEL.kept["y"] = y = x[0] ** 2
    MODEL.state.steps += 1
    MODEL.state.last = y * x
    return y * MODEL.state.last[1] + MODEL.kept["y"]


@row("a timer in a `with`, which adds up")
def timer(x):
    with WATCH:
        y = x[0] ** 3 * x[1]
    return y * x[2]


@row("assertions with messages, checks that raise")
def assertions(x):
    assert x[0] > 0, f"x must be positive: {x}"
    assert isinstance(x, np.ndarray) and np.all(np.isfinite(x)), "finite"
    if x[0] > 100.0:
        raise ValueError(f"{x[0]} is too large")
    return np.log(x[0]) * x[1]


@row("a local list of dicts, of what happened")
def local_history(x):
    history, y = [], x[0]
    for k in range(4):
        y = y * x[1] + 0.1
        history.append({"k": k, "y": y})
    return history[-1]["y"] + history[2]["y"] * x[2]


@row("an exception as control flow")
def by_exception(x):
    try:
        y = {"a": x[0]}["b"]
    except KeyError:
        y = x[0] * x[1]
    try:
        if y < 2.0:
            raise ValueError(f"{y} is small")
    except ValueError:
        y = 3.0 * y * x[2]
    return y


@row("`sys.stderr`, `repr`, `str`, `format` of numbers")
def texts(x):
    text = "{:.2f}".format(x[0]) + repr(x[1]) + str(x)
    if len(text) > 10**6:
        sys.stderr.write(text)
    return x[0] ** 2 * x[1]


@row("random draws")
def with_draws(x):
    stream = np.random.default_rng(0)
    return np.sum((x * stream.normal(size=4)) ** 3) + stream.normal(x[0], x[1]) ** 2


@nested("a norm")
def norm(x):
    return np.linalg.norm(x * x[0]) + np.linalg.norm(x, 3)


@nested("functions that the program picks when it runs, from a list", recorded=True)
def picked_functions(x):
    functions = [np.sin, lambda v: v * v * x[0], operator.neg]
    total = 0.0
    for k in np.argsort(x)[:2]:
        total = total + functions[k](x[k]) ** 2
    return total


@nested("lists, dicts and tuples through calls decided at run time")
def containers_at_run_time(x):
    def split(v):
        return {"a": v[0] ** 2, "b": (v[1], [v[2] * v[3]])}

    def join(parts):
        return parts["a"] * parts["b"][0] * parts["b"][1][0]

    steps = [join, split]
    return steps[int(x[0])](steps[int(x[1])](x))


@nested("`s2s.grad` inside")
def inner_gradient(x):
    def loss(w):
        return np.sum((w - x) ** 4)

    w = np.zeros(4)
    for _ in range(2):
        w = w - 0.05 * s2s.grad(loss)(w)
    return loss(w)


@nested("gradients by an object with operators, a dataclass, a named tuple")
def gradients_by_objects(x):
    weight, pair = s2s.grad(energy)(Weight(x[0], x[1])), s2s.grad(product)(Pair(x[1], x[2]))
    couple = s2s.grad(product)(Couple(x[2], x[3]))
    return weight.mass * weight.speed + pair.u * pair.v + couple.u * couple.v


@nested("a gradient by a dict")
def gradient_by_a_dict(x):
    by_parts = s2s.grad(lambda p: p["w"] ** 3 @ p["c"])({"w": x[:2] * 1.0, "c": x[2:] ** 2})
    return np.sum(by_parts["w"] * by_parts["c"])


@nested("Jacobians by a dict and a dataclass", recorded=True)
def jacobians_by_parts(x):
    named = s2s.jacfwd(lambda p: p["w"] ** 3 * p["c"])({"w": x[:2] * 1.0, "c": x[2:] ** 2})
    pair = s2s.jacrev(lambda p: np.array([p.u**3 * p.v, p.v**2]))(Pair(x[0], x[1]))
    return np.sum(named["w"] * named["c"]) + np.sum(pair.u * pair.v)


@nested("`s2s.jvp`, `s2s.vjp`, `s2s.hvp` and `s2s.hessian` inside")
def other_derivatives(x):
    out, along = s2s.jvp(lambda w: np.sum(w**3) * w[0], (x,), (x**2,))
    _, pullback = s2s.vjp(lambda w: w**2 * x, x)
    bent = s2s.hvp(lambda w: np.sum(w**3) * w[0], (x,), (x**2,))
    return out * along + np.sum(pullback(x)[0]) + np.sum(bent) + np.sum(s2s.hessian(lambda w: np.sum(w**3 * x))(x))


@nested("the second derivative of a function that the program picks", recorded=True)
def picked_second_derivative(x):
    functions = [np.sin, lambda t: t**5 * x[1]]
    return s2s.grad(s2s.grad(functions[int(x[0] * 3.0)]))(x[0]) * x[2]
