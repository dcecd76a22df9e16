"""Where names come from: globals, closures, defaults, keyword-only, *args, **kwargs, lambdas, nested defs."""

import math

import numpy as np

from tests.bank import library
from tests.bank.library import SCALE
from tests.bank.registry import M23, V3, W3, case

FACTOR = 2.5
WEIGHTS = np.array([0.5, -1.0, 2.0])
SETTINGS = {"power": 3, "offset": 0.25}
STAGES = (np.sin, np.exp)


@case(1.3)
def global_number(x):
    return x * x * FACTOR


@case(V3)
def global_array(v):
    return np.sum(WEIGHTS * v * v) + WEIGHTS @ v


@case(1.3)
def global_dict(x):
    return x ** SETTINGS["power"] + SETTINGS["offset"] * x


@case(1.3)
def global_tuple_of_functions(x):
    for stage in STAGES:
        x = stage(x)
    return x


@case(1.3)
def global_of_other_module(x):
    return x * library.SCALE + x * x * SCALE


@case(1.3)
def global_module(x):
    return math.sin(x) + np.cos(x)


def make_closure():
    a = 1.7
    weights = np.array([0.3, 0.6, 0.9])

    def closure(v):
        return np.sum(weights * v * v) * a

    return closure


case(V3, note="a number and an array in cells")(make_closure())


def make_nested_closure(a):
    def middle(b):
        def inner(x):
            return a * x * x + b * x

        return inner

    return middle(0.6)


case(1.3, note="cells of two levels")(make_nested_closure(2.1))

polynomial = lambda x: 3.0 * x**2 - x  # noqa: E731
case(1.3, note="a lambda")(polynomial)
case(1.3, 0.4, note="a lambda among others on its line")(lambda x, y: x * y + (lambda z: z * z)(x))


@case(1.3)
@case(1.3, 0.4)
def default_number(x, scale=2.0):
    return x * x * scale


@case(1.3)
def default_from_global(x, scale=FACTOR, weights=WEIGHTS):
    return x * x * scale + np.sum(weights) * x


@case(1.3)
def default_none(x, scale=None):
    if scale is None:
        scale = 3.0
    return x * x * scale


@case(1.3, argnums="x", kwargs={"scale": 0.7})
@case(1.3, argnums=("x", "scale"), kwargs={"scale": 0.7})
@case(1.3, argnums="x")
def keyword_only(x, *, scale=2.0):
    return x * x * scale


@case(1.3, argnums=0, kwargs={"power": 3, "y": 0.8})
@case(1.3, argnums=("y", "x"), kwargs={"y": 0.8})
def keywords(x, y, power=2):
    return x**power * y


@case(1.3, 0.4, 2.1)
@case(1.3)
def star_args(first, *rest):
    total = first * first
    for r in rest:
        total = total * r + first
    return total


@case(1.3, 0.4, 2.1)
def star_args_only(*values):
    a, b, c = values
    return a * b + b * c * len(values)


@case(1.3, argnums=0, kwargs={"a": 0.4, "b": 2.1})
@case(1.3, argnums=0)
def star_kwargs(x, **options):
    total = x
    for name in options:
        total = total * x + options[name]
    return total + options.get("c", 1.0) * x


@case(1.3, 0.4, argnums=(0, 1), kwargs={"scale": 3.0, "shift": 0.5})
def every_kind_of_parameter(x, /, y, *more, scale=1.0, **options):
    return x * y * scale + options.get("shift", 0.0) * x * len(more) + options["shift"] * y


@case(1.3, 0.4)
def positional_only(x, y, /):
    return x * y + y


@case(1.3)
def nested_function(x):
    def square(y):
        return y * y

    return square(x) + square(square(x))


@case(1.3, 0.4)
def nested_function_with_capture(x, y):
    def scaled(z):
        return z * x + y

    return scaled(y) * scaled(2.0)


@case(1.3)
def capture_is_late(x):
    a = x

    def f():
        return a * x

    a = x * x
    return f()


@case(1.3)
def capture_changes_between_calls(x):
    a = 2.0 * x

    def f(z):
        return a * z

    first = f(x)
    a = a * a
    return first + f(x)


@case(1.3)
def binding_by_default(x):
    functions = [lambda z, k=k: z * k * x for k in (1.0, 2.0, 3.0)]
    return functions[0](x) * functions[1](x) + functions[2](x)


@case(1.3, 0.4)
def lambda_with_capture(x, y):
    f = lambda z: z * x + y  # noqa: E731
    return f(f(y))


@case(1.3)
def lambda_called_in_place(x):
    return (lambda a, b=2.0: a * b + x)(x * x)


@case(1.3)
def nested_default_is_active(x):
    def f(z, scale=x * x):
        return z * scale

    return f(x) + f(2.0, 3.0)


@case(1.3)
def returned_closure(x):
    def make(a):
        def f(z):
            return a * z * x

        return f

    return make(x)(2.0) + make(3.0)(x)


@case(1.3)
def nested_two_levels_of_capture(x):
    y = x * x

    def outer(a):
        z = a * y

        def inner(b):
            return b * z * x

        return inner(a) + z

    return outer(x)


@case(1.3)
def shadowed_name(x):
    def f(x):
        x = x * 3.0
        return x * x

    return f(2.0 * x) + x


@case(1.3)
def shadowed_builtin(x):
    sum = x * x
    abs = sum + x
    return sum * abs


@case(V3, W3)
def function_defined_in_branch(v, w):
    if v[0] > 0:

        def f(a):
            return a * w
    else:

        def f(a):
            return a + w

    return np.sum(f(v))


@case(1.3)
def function_defined_in_loop(x):
    total = 0.0
    for k in range(3):

        def term(z):
            return z**k * x

        total += term(x + 1.0)
    return total


@case(M23, V3)
def closure_over_arrays(m, v):
    def predict(w):
        return m @ w

    def residual(w):
        return predict(w) - 1.0

    r = residual(v)
    return r @ r


stretched_by_two = library.stretched_by(2.0)


@case(V3)
def function_made_by_a_closure_of_another_module(v):
    stretched = stretched_by_two(v)
    weights = np.vectorize(stretched)(np.arange(3.0))
    return np.sum(weights * v * v) + stretched(v[0])
