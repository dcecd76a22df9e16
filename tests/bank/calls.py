"""Calls: helpers in this and in other modules, keywords and stars, recursion, functions as arguments."""

import functools

import numpy as np

from tests.bank import library
from tests.bank.library import both, gaussian, scaled
from tests.bank.registry import M23, P3, V3, V5, W3, case


def square(x):
    return x * x


def norm(v):
    return np.sqrt(np.sum(v * v))


def count_passive(n):
    total = 0
    for i in range(n):
        total += i
    return total


def shrink_if_large(x):
    if x > 2.0:
        return x * 0.5
    y = x
    for _ in range(2):
        y = y * x
    return y


@case(1.3)
def helper(x):
    return square(x) + square(x + 1.0)


@case(1.3)
def helper_of_helper(x):
    def fourth(y):
        return square(square(y))

    return fourth(x)


@case(V3)
def helper_on_array(v):
    return norm(v) + norm(square(v))


@case(1.3)
@case(2.6)
def helper_with_control_flow(x):
    return shrink_if_large(x) * shrink_if_large(x + 1.0)


@case(1.3, 4)
def passive_helper(x, n):
    return x * x * count_passive(n)


@case(1.3)
def helper_of_other_module(x):
    return scaled(x) * gaussian(x) + library.gaussian(x, 0.5)


@case(1.3, 0.4)
def helper_with_keywords(x, y):
    return gaussian(mean=y, x=x, width=1.0 + y) + scaled(scale=x, x=y)


@case(1.3, 0.4)
def helper_with_two_results(x, y):
    product, difference = both(x, y)
    return product * difference


@case(1.3, 0.4)
def helper_result_indexed(x, y):
    return both(x, y)[0] + both(y, x)[1] ** 2


@case(1.3, 0.4)
def one_result_unused(x, y):
    product, _ = both(x, y)
    return product * x


@case(1.3, 0.4, 2.1)
def helper_with_star_arguments(x, y, z):
    values = (x, y)
    return library.squared_norm(*values) * library.squared_norm(z, *values, x)


@case(1.3, 0.4)
def helper_with_double_star(x, y):
    options = {"mean": y, "width": 2.0}
    return gaussian(x, **options) + library.weighted(x, a=y, b=2.0)


@case(1.3)
def same_argument_twice(x):
    return both(x, x)[0] + np.multiply(x, x)


@case(V3)
def same_array_twice(v):
    def mixed(a, b):
        a = a * b
        return np.sum(a * b)

    return mixed(v, v)


@case(1.3)
def function_as_argument(x):
    return library.apply_twice(square, x) + library.apply_twice(np.sin, x)


@case(square, 1.3)
@case(np.sin, 1.3)
@case(lambda z: z * z + z, 1.3)
def function_from_caller(f, x):
    return f(x) * f(2.0 * x)


@case(1.3)
def function_with_capture_as_argument(x):
    def f(y):
        return y * x

    return library.apply_twice(f, x) + library.apply_twice(lambda y: y + x * x, 1.0)


@case(V3)
def function_chosen_at_run_time(v):
    total = 0.0
    for x in v:
        f = np.exp if x < 0 else np.sin
        total += f(x)
    return total


@case(V3)
def functions_in_dict(v):
    table = {"a": np.tanh, "b": square}
    return np.sum(table["a"](v) * table["b"](v))


@case(1.3)
def method_held_in_name(x):
    f = np.sin
    g = f
    return g(f(x))


@case(1.2, 5)
@case(1.2, 0)
def power_by_recursion(x, n):
    if n == 0:
        return 1.0
    return x * power_by_recursion(x, n - 1)


@case(1.2, 7)
def power_by_halving(x, n):
    if n == 0:
        return 1.0
    half = power_by_halving(x, n // 2)
    if n % 2:
        return half * half * x
    return half * half


@case(7.3)
def recursion_on_data(x):
    if x < 1.0:
        return x * x
    return x * recursion_on_data(x / 2.0)


@case(V5)
def sum_by_recursion(v):
    if len(v) == 1:
        return v[0] ** 2
    middle = len(v) // 2
    return sum_by_recursion(v[:middle]) * 0.5 + sum_by_recursion(v[middle:])


@case(0.7, 6)
def tree_recursion(x, n):
    if n < 2:
        return x
    return tree_recursion(x, n - 1) * x + tree_recursion(x, n - 2)


def is_even_path(x, n):
    if n == 0:
        return x
    return is_odd_path(x * 1.1, n - 1)


def is_odd_path(x, n):
    if n == 0:
        return x * x
    return is_even_path(np.sin(x), n - 1)


@case(0.7, 3)
@case(0.7, 4)
def mutual_recursion(x, n):
    return is_even_path(x, n) * x


@case(0.7)
def recursive_nested_function(x):
    def down(y, n):
        return y if n == 0 else down(y * x + 0.1, n - 1)

    return down(x, 3)


@case(((0.4, (1.2, 0.7)), 2.1))
def recursion_over_structure(tree):
    if isinstance(tree, tuple):
        return recursion_over_structure(tree[0]) * 2.0 + recursion_over_structure(tree[1])
    return tree * tree


@case(1.3)
def call_in_loop(x):
    y = x
    for _ in range(4):
        y = shrink_if_large(y) + 0.1 * x
    return y


@case(1.3)
def call_in_condition(x):
    while square(x) < 20.0:
        x = x * square(1.2)
    return x


@case(M23, V3)
def builtins_on_values(m, v):
    total = sum(v) + sum([v[0], v[1]], 1.0) + max(v[0], v[1]) * min(v[2], 5.0) + abs(v[1]) + pow(v[0], 2)
    return total * len(m) + float(v[0]) * round(2.6) + divmod(7, 2)[0] * v[2]


@case(P3)
def max_of_iterable(p):
    return max(p) * min(p) + max([p[0], p[1]]) + max(p[0], p[1], p[2])


@case(V3, W3)
def map_and_filter(v, w):
    return sum(map(square, v)) + sum(map(lambda a, b: a * b, v, w)) + sum(filter(lambda a: a > 0, w))


class Model:
    def __init__(self, scale, weights):
        self.scale = scale
        self.weights = weights

    def predict(self, x):
        return self.weights @ x * self.scale

    def loss(self, x, target):
        return (self.predict(x) - target) ** 2

    @staticmethod
    def penalty(x):
        return np.sum(x * x)

    @property
    def total(self):
        return np.sum(self.weights)

    def __call__(self, x):
        return self.loss(x, 1.0) + self.penalty(x) * self.total


MODEL = Model(0.8, np.array([0.5, -1.0, 2.0]))

case(V3, 0.7, note="a bound method")(MODEL.loss)
case(V3, note="a static method")(Model.penalty)


@case(V3)
def method_of_global_object(v):
    return MODEL.loss(v, 0.3) + Model.penalty(v) + MODEL(v)


@case(V3)
def attributes_of_global_object(v):
    return np.sum(MODEL.weights * v * v) * MODEL.scale + MODEL.total * v[0]


@case(MODEL, V3)
def passive_object_as_argument(model, v):
    return model.predict(v) ** 2


def three(a, b, c):
    return a * b + c


@case(1.3, 0.4)
def partial_in_function(x, y):
    f = functools.partial(three, x, c=2.0)
    return f(y) * f(b=x)


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        result = f(*args, **kwargs)
        return result * 2.0

    return wrapper


@logged
def wrapped(x, y=3.0):
    return x * x * y


@case(1.3)
def wrapped_helper(x):
    return wrapped(x) + wrapped(x, y=x)


case(1.3, 0.4, note="the wrapper is what is differentiated")(wrapped)


@case(V3)
def numpy_functions_through_names(v):
    xp = np
    return xp.sum(xp.exp(v)) + getattr(xp, "prod")(v)  # noqa: B009


KINDS = {"double": np.float64, "number": float}


@case(V3, "double")
def converted_by_a_type_found_at_run_time(v, name):
    kind = KINDS[name]
    return np.sum(kind(v) ** 2)


@case(1.3, "number")
def number_converted_by_a_type_found_at_run_time(x, name):
    return KINDS[name](x * x) * x


@case(1.3)
def formatted_values(x):
    text = "{:.1f} and {name:.1f}".format(x, name=x * 2.0)
    return x * x * len(", ".join([text, "{}".format(x > 1.0)]))


@case(V3)
def namespace_of_the_array(v):
    xp = v.__array_namespace__(api_version=None)
    return xp.sum(xp.sin(v))


@case(V3)
def attribute_with_a_default(v):
    return np.sum(getattr(v, "T", v) ** 2)
