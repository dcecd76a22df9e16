"""Answers that are settled when the function is compiled: options, dtypes, namespaces, counts."""

import functools

import numpy as np

from tests.bank.registry import P3, P5, V3, V5, case

DEFAULT = np.float64
COUNT = 2


def optional(value, default):
    if value is None:
        return default
    return value


def namespace(*arrays, xp=None):
    for a in arrays:
        if not isinstance(a, np.ndarray):
            raise TypeError("not an array")
    return np if xp is None else xp, "cpu"


def as_float_array(a, dtype=None):
    dtype = optional(dtype, DEFAULT)
    if dtype not in (np.float32, np.float64):
        raise TypeError("not a floating-point dtype")
    return np.asarray(a, dtype)


def of_first(count):
    """Doubles the first arguments of a function, and leaves the others."""

    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args):
            args = list(args)
            first, rest = args[:count], args[count:]
            for i, a in enumerate(first):
                first[i] = np.asarray(a) * 2.0
            return f(*first, *rest)

        return wrapper

    return decorate


@of_first(1)
def scaled_product(a, b):
    return a * b**2


WEIGHTS = np.array([0.5, -1.0, 2.0])


@case(V3)
def store_into_array_of_a_namespace(v):
    xp, device = namespace(WEIGHTS)
    made = xp.empty(3, dtype=v.dtype)
    if device == "cpu":
        made[:] = as_float_array(v) * WEIGHTS
    made[np.asarray(np.isnan(made))] = 0
    return xp.sum(made**2)


@case(P5)
def smallest_number_by_name_of_dtype(v):
    factor = {"f": 1e3, "d": 1e6}
    name = v.dtype.char.lower()
    eps = factor[name] * np.finfo(name).eps
    kept = np.where(v > eps, v, eps)
    kept[0] = v[1] ** 2
    return np.sum(np.log(kept))


@case(V5)
def number_as_array_of_rank_0(v):
    large = v[v > 0.0]
    total = np.array(np.sum(large**2), dtype=float)[()]
    out = v[:2] * total[..., None] + total[None]
    out[out < -1e3] = -np.inf
    return np.sum(out * np.arange(1.0, 3.0))


@case(P3)
def decorated_with_a_count(v):
    return scaled_product(v[0], v[1]) + scaled_product(v[2], v)[1]


@case(V5)
def slice_of_a_list_by_a_global(v):
    parts = [v[0] ** 2, v[1] * v[2], v[3], v[4] ** 3]
    return sum(parts[:COUNT]) + parts[COUNT] * parts[-COUNT]


@case(P3)
def array_that_takes_what_is_known_later(v):
    factor = 1
    total = np.zeros((3, 1), dtype=DEFAULT)
    total += v[0]
    for k in range(1, 3):
        factor = (v - v[k]) * factor
        total += factor[:, np.newaxis] * v[k]
    return np.sum(total**2)


@case(P3)
def dtype_of_several(v):
    dtype = np.result_type(v.dtype, np.float32, np.int64)
    made = np.zeros(len(v), dtype=dtype)
    if np.issubdtype(dtype, np.complexfloating):
        return np.sum(made.real)
    made[::2] = v[::2] ** 2
    return np.sum(np.float64(made) * dtype.type(2.0))


@case(P3)
def number_of_one_type_or_another(v):
    root = 0 if np.isnan(v[0]) else v[0] ** 2
    if isinstance(root, (list, dict)):
        root = list(root)[0]
    made = as_float_array(root)
    return np.float64(made * v[1]) + np.float64(v)[2]


def is_symbol(value):
    if isinstance(value, (list, tuple)):
        return any([isinstance(item, str) for item in value])
    return isinstance(value, str)


def general_sine(value):
    if is_symbol(value):
        return value.upper()
    return np.sin(value)


@case(P3)
def items_asked_for_their_kinds(v):
    if not all(isinstance(item, float) for item in (v[0], v[1])) or any(callable(item) for item in [v[2], 1.0]):
        return "text"
    parts = [general_sine(part) for part in (v[0], v[1])]
    return parts[0] * parts[1] + v[2] if not is_symbol([v[0], v[1]]) else None


@case(P3)
def number_with_attributes_of_an_array_or_not(v):
    scale = v[0] if v[0] > 0.1 else 1.0
    if hasattr(scale, "__len__"):
        made = np.zeros(len(scale))
        for k in range(len(scale)):
            made[k] = scale[k]
        return made
    return scale * v[1] if not hasattr(scale, "__iter__") and hasattr(v, "__iter__") else v[2]


@case(P3)
def function_or_name_of_one(v):
    def measure(metric, a, b):
        if callable(metric):
            return metric(a, b)
        if metric == "square":
            return (a - b) ** 2
        raise ValueError(metric)

    return measure("square", v[0], v[1]) + measure(np.hypot, v[1], v[2]) + measure(lambda a, b: a * b, v[0], v[2])


class Weighed:
    """Equal to others of its weight, and without a hash."""

    def __init__(self, weight):
        self.weight = weight

    def __eq__(self, other):
        return isinstance(other, Weighed) and self.weight == other.weight

    __hash__ = None

    def __get__(self, holder, kind=None):
        return self if holder is None else holder.factor * self.weight


class Balance:
    left = Weighed(2.0)
    right = Weighed(2.0)

    def __init__(self, factor):
        self.factor = factor

    def tilt(self, x):
        return self.left * x[0] - self.right * x[1] ** 2


@case(P3)
def descriptors_that_are_equal_and_have_no_hash(v):
    return Balance(3.0).tilt(v) + Balance(v[2]).tilt(v)


class Entry:
    def __init__(self, weight):
        self.weight = weight


class Listed:
    entries = {"first": Entry(2.0), "second": Entry(3.0)}

    def total(self, x):
        return sum([entry.weight * x[k] ** 2 for k, entry in enumerate(Listed.entries.values())])


def entry_of(listed, name):
    return getattr(listed, "entries")[name]


@case(P3)
def objects_in_a_dict_of_a_class(v):
    listed = Listed()
    return listed.total(v) + entry_of(listed, "second").weight * v[2]


@case(P3)
def complex_number_of_one_type_or_another(v):
    m = 1.5 - 0.4j
    if m.imag > v[0]:
        m = np.conjugate(m)
    made = np.zeros(3, dtype=complex)
    t = v[0] / m
    made[0] = t * v[1]
    made[1:] = v[1:] / m
    return made[0].imag * abs(made[1]) ** 2 + made[2].real


def changed_and_turned(x, turn):
    made = np.zeros(2, dtype=complex)
    if x <= 0.0:
        return made, made
    made[0] = x * x * (1.0 + 2.0j)
    made[1] = x
    return turn(made), made


@case(P3)
def buffer_that_a_function_may_give_back_in_a_tuple(v):
    total = 0.0
    for turn in (np.conjugate, np.ndarray.conj, np.nan_to_num, np.negative):
        first, second = changed_and_turned(v[0], turn)
        total = total + (first[0] * second[1]).imag * v[1]
    return total


@case(P3)
def part_of_a_buffer_in_a_tuple(v):
    made = np.zeros(3)
    if v[0] > 9.0:
        pair = made, made
    else:
        made[0] = v[0] ** 2
        made[1] = v[1]
        pair = made.conj(), made[1:]
    return pair[0][0] * pair[1][0] * v[2]


@case(P3)
def real_parts_of_numbers_of_one_type_or_another(v):
    r = 0
    for k in range(3):
        r += (0.1 + 0.2j) * v[1] ** k
    first = r * (0.4 + 0.1j)
    second = r * (0.5 + 0.3j)
    return first.real - v[0] * second.real + v[2] * (first * second).imag
