"""Statements that guard a block: try with except, else and finally; with; match; del."""

import contextlib
import warnings

import numpy as np

from tests.bank.registry import M33, P3, P5, V3, V5, W3, case


class Settings:
    """A passive context manager that counts how often it was entered."""

    entered = 0

    def __init__(self, scale):
        self.scale = scale

    def __enter__(self):
        type(self).entered += 1
        return self.scale

    def __exit__(self, kind, problem, traceback):
        return None


class Mode:
    """A passive manager that sets an attribute of its class, and keeps the one before in its own."""

    current = "plain"

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.before = Mode.current
        Mode.current = self.name
        return self

    def __exit__(self, kind, problem, traceback):
        Mode.current = self.before


class Swallowing(Settings):
    def __exit__(self, kind, problem, traceback):
        return kind is ZeroDivisionError


@contextlib.contextmanager
def scaled(k):
    before = np.geterr()
    np.seterr(over="ignore")
    try:
        yield k + 1
    finally:
        np.seterr(**before)


class NoRoot(ValueError):
    def __init__(self, where):
        super().__init__("no root")
        self.where = where


# --- try: decided when it is compiled -----------------------------------------------------------------------


@case(V3)
def import_that_fails(v):
    try:
        from there_is_no_such_module import something
    except ImportError:
        something = None
    if something is None:
        return np.sum(v**3)
    return something(v)


@case(V3)
def import_of_a_name_that_is_missing(v):
    try:
        from math import there_is_no_such_name as something
    except ImportError:
        something = np.sin
    return np.sum(something(v))


@case(V3)
def import_of_a_module_from_its_package(v):
    from xml import dom

    return np.sum(v * v) * (2.0 if dom.Node.ELEMENT_NODE == 1 else 3.0)


@case(V3)
def import_that_succeeds(v):
    try:
        import math as m
    except ImportError:
        m = None
    return np.sum(v) * m.pi


@case(P3)
def arithmetic_raises_no_import_error(p):
    try:
        y = p * p
        z = np.log(y)
    except (ImportError, AttributeError):
        z = p
    else:
        z = z + p
    return np.sum(z)


@case(V3)
@case(1.3)
@case((0.4, 0.6))
def duck_typing(x):
    try:
        y = x.sum()
    except AttributeError:
        try:
            y = x[0] * x[1]
        except TypeError:
            y = 3.0 * x
    return y * y


@case(0.7)
@case(V3)
def length_or_one(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    return np.sum(x) ** 2 / n


@case({"a": 0.3, "b": 1.4})
@case({"a": 0.3})
def key_or_default(d):
    try:
        b = d["b"]
    except KeyError:
        b = 2.0
    return d["a"] * b + b * b


@case(1.3)
def raised_and_caught_at_once(x):
    y = x * x
    try:
        raise KeyError("k")
    except LookupError as problem:
        return y * len(problem.args)


@case(1.3)
def unused_exceptions_in_order(x):
    try:
        z = x * 2.0
    except NameError:
        return x
    except:  # noqa: E722
        raise
    return z * z


# --- try: decided when it runs ------------------------------------------------------------------------------


@case(M33)
@case(-M33)
def cholesky_or_squares(m):
    s = m + m.T
    try:
        factor = np.linalg.cholesky(s)
    except np.linalg.LinAlgError:
        return np.sum(s * s * s)
    return np.sum(np.log(np.diag(factor)))


@case(M33)
def a_class_that_the_module_lacks(m):
    try:
        factor = np.linalg.cholesky(m @ m.T + np.eye(3))
    except np.linalg.linalg_of_old.LinAlgError:
        return np.sum(m)
    return np.sum(np.log(np.diag(factor)))


@case(0.3, 0.5)
@case(0.3, 0)
def divided_or_not(x, y):
    try:
        z = x / (y + 0.0) if y else x / 0
    except ZeroDivisionError:
        z = 3.0 * x
    return z * z


@case([0.4, 1.2, -0.7, 0.9], argnums=0)
def quotients_in_a_loop(xs):
    total = 0.0
    for k, x in enumerate(xs):
        try:
            y = x / (k - 2)
        except ZeroDivisionError:
            continue
        total = total + y * y
    return total


@case(V5, 2)
@case(V5, 9)
def quotients_that_stop(v, stop):
    total = v[0] * 0.5
    for k in range(len(v)):
        try:
            part = v[k] * (1 // (k - stop))
        except ZeroDivisionError:
            total = total * 3.0
            break
        total = total + np.sin(part) * v[k]
    return total


@case(0.3, 0)
@case(0.3, 1)
@case(0.3, 2)
@case(0.3, 3)
def three_ways_out(x, k):
    items = [1.0, 2.0]
    try:
        if k == 3:
            raise TypeError("three")
        y = x * items[2 - k] / (1 if k < 2 else 1)
    except IndexError:
        y = x * x
    except TypeError:
        y = np.sin(x)
    else:
        y = y + x * 5.0
    return y * x


@case(0.3, 0)
@case(0.3, 2)
def returns_in_every_block(x, k):
    try:
        y = 1 // k
    except ZeroDivisionError:
        return x * x
    else:
        return x * 2.0 + y
    finally:
        k = 17


@case(0.3, 0)
@case(0.3, 2)
def finally_computes(x, k):
    y = 2.0 * x
    try:
        z = y * (4 // k)
    except ZeroDivisionError:
        z = y * y
    finally:
        y = y * x
    return z * y


@case(0.3, 0)
@case(0.3, 1)
def raises_in_a_helper(x, k):
    def root(y):
        if k == 0:
            raise NoRoot("here")
        return y * y

    try:
        r = root(x)
    except NoRoot as problem:
        r = x * len(problem.where)
    return r * x


@case(0.3, 0)
@case(0.3, 1)
def raised_again_and_caught(x, k):
    try:
        try:
            y = x * (1 // k)
        except ArithmeticError as problem:
            raise ValueError("no") from problem
    except ValueError:
        y = x * 7.0
    return y * y


@case(0.3, 0)
@case(0.3, 1)
def assigned_before_the_try(x, k):
    y = x * x
    try:
        n = 3 // k
        y = y * n
    except ZeroDivisionError:
        y = y + x
    return y


@case(0.3, 0)
@case(0.3, 1)
def kept_by_a_flag(x, k):
    found = True
    try:
        n = 3 // k
        y = x * n
    except ZeroDivisionError:
        found = False
    if found:
        return y * y
    return x


@case(0.3, 0)
@case(0.3, 1)
def assigned_before_anything_raises(x, k):
    y = x
    try:
        y = x * x
        n = 3 // k
        z = y * n
    except ZeroDivisionError:
        z = y * x + np.sin(y)
    return z * y


@case(0.3, 0)
@case(0.3, 1)
def finally_reads_what_the_block_assigns(x, k):
    y = x
    try:
        y = y * 2.0 / (3 // (k + 1))
        z = y * (6 // (k + 2)) + y
    finally:
        y = y * x
        log = f"{y}"
    return z * y * len(log) / len(log)


@case([0.4, 1.2, -0.7], [2, 0, 1], argnums=0)
def loops_in_an_interrupted_block(xs, ns):
    total = 0.0
    for x, n in zip(xs, ns):
        y = x
        try:
            z = y
            for k in range(3):
                z = z * (x + 4 // (n + k - 1))
        except ZeroDivisionError:
            total = total + y * 2.0
        else:
            total = total + z
    return total


@case([0.4, 1.2, -0.7], [2, 0, 1], argnums=0)
def while_in_an_interrupted_block(xs, ns):
    total = 0.0
    for x, n in zip(xs, ns):
        try:
            z, k = x, 0
            while k < 4:
                z = z * x + 1 // (n + k - 1)
                k = k + 1
        except ZeroDivisionError:
            z = x * 2.0
        total = total + np.sin(z)
    return total


@case(V5, np.array([2, 0, 3, 1, 2]))
def what_an_interrupted_trip_has_kept(v, ns):
    total = 0.0
    for i in range(len(v)):
        y = v[i]
        try:
            z = y
            for k in range(int(ns[i]) + 1):
                z = np.sin(z) * y + 4 // (ns[i].item() + k - 2)
        except ZeroDivisionError:
            total = total + y * 2.0
        else:
            total = total + z * z
    return total


@case(M33)
@case(-M33)
def a_result_that_nobody_reads(m):
    try:
        unused = np.linalg.cholesky(m + m.T)  # noqa: F841
    except np.linalg.LinAlgError:
        return np.sum(m * m * m)
    return np.sum(m)


@case(V3, 0)
@case(V3, 1)
def array_made_in_the_block(v, k):
    try:
        out = np.zeros(3)
        out[0] = v[1] * v[0]
        out[1:] = v[1:] * (2 // k)
        y = np.sum(out * out)
    except ZeroDivisionError:
        y = np.sum(v)
    return y


@case(V3, 2)
@case(V3, 0)
def unused_values_that_raise(v, k):
    try:
        3 // k
    except ZeroDivisionError:
        return np.sum(v)
    return np.sum(v * v)


@case(0.3)
def suppressed(x):
    y = x * x
    with contextlib.suppress(ImportError):
        import there_is_no_such_module

        y = there_is_no_such_module.f(y)
    with contextlib.suppress(ZeroDivisionError):
        n = 1 // 2
    return y * (n + 3.0)


# --- with ---------------------------------------------------------------------------------------------------


@case(P3)
def errors_are_ignored(p):
    with np.errstate(all="ignore"):
        y = np.log(p)
        z = y * y
    return np.sum(z * p)


@case(P3)
def warnings_are_ignored(p):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.sqrt(p)
        for _ in range(2):
            y = y * np.sqrt(p)
    return np.sum(y)


@case(P5)
def errors_in_a_loop(p):
    total = 0.0
    for k in range(len(p)):
        with np.errstate(divide="ignore"):
            if p[k] > 2.0:
                continue
            y = np.log(p[k])
            total = total + y * y
    return total


@case(P3)
def return_from_a_with(p):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        if p[0] > 100.0:
            return np.sum(p)
        return np.sum(np.log(p) ** 2)


@case(V3, W3)
def passive_managers(v, w):
    with Settings(3.0) as scale, contextlib.nullcontext():
        y = v * w * scale
    with scaled(1) as k:
        y = y * y * k
    with Swallowing(1.0):
        y = y * v
    return np.sum(y)


@case(0.3)
def break_from_a_with(x):
    y = x
    for k in range(5):
        with Settings(k) as n:
            y = y * x + n
            if k == 2:
                break
        y = np.sin(y)
    return y


class Doubling:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value * 2.0

    def __exit__(self, kind, problem, traceback):
        return None


@case(0.7)
def manager_of_a_differentiated_value(x):
    with Doubling(x * x) as twice:
        y = twice * x
    return y


# --- match --------------------------------------------------------------------------------------------------


@case(V3, "mean")
@case(V3, "sum")
@case(V3, "norm")
def match_options(v, how):
    match how:
        case "sum" | "total":
            return np.sum(v * v)
        case "mean":
            y = np.mean(v)
        case _:
            y = np.sqrt(np.sum(v**2))
    return y * y


@case(((0.3, 0.5), 1.2))
@case((0.4, (0.6, 1.1)))
@case([0.4, 0.3, 0.2, 0.1])
@case({"x": 0.3, "y": 1.5, "z": -0.4})
@case(0.8)
def match_structure(x):
    match x:
        case (a, b), c:
            return a * b * c
        case a, (b, c):
            return a * b / c
        case [first, *rest]:
            return first * sum(rest) ** 2
        case {"x": a, **rest}:
            return a * rest["y"] + rest["z"] ** 2
        case float() as a if a > 0.0:
            return a**3
    return 0.0


@case(0.3, 1)
@case(0.3, 2)
@case(0.3, 5)
def match_on_the_run(x, k):
    y = x
    for j in range(k):
        match (j % 3, j > 2):
            case (0, _):
                y = y * x
            case (1, False):
                y = np.sin(y)
            case (n, late) if late:
                y = y + n * x
            case _:
                continue
        y = y + 1.0
    return y


# --- del ----------------------------------------------------------------------------------------------------


@case(0.3)
def deleted_names(x):
    y = x * x
    z = np.sin(y)
    del y
    y = z * x
    del z
    return y


@case(V3)
def mode_of_a_class(v):
    with Mode("squared"):
        y = v * v if Mode.current == "squared" else v
    return np.sum(y) * (2.0 if Mode.current == "plain" else 3.0)


@case(V3)
def mode_that_is_read_afterwards(v):
    with Mode("squared") as mode:
        y = v * v
    return np.sum(y) * (2.0 if mode.before == "plain" else 3.0)
