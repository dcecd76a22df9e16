"""Exceptions that the program certainly raises at places that a handler, a default or a manager covers, and exceptions
that hold what is differentiated."""

import collections
import contextlib

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError, UnsupportedSyntaxError
from tests.helpers import check, differences

V = np.array([0.7, 1.3, 0.4])


class Empty:
    pass


def entry_added_to(x):
    d = {}
    try:
        d[0] += x[0]
    except KeyError:
        d[0] = x[0] ** 2
    return d[0]


def entries_added_to_in_a_loop(x):
    d = {}
    for k in (0, 1, 0):
        try:
            d[k] += x[k]
        except KeyError:
            d[k] = x[k] ** 2
    return d[0] * d[1]


def item_beyond_the_end(x):
    items = [1.0, 2.0]
    try:
        items[5] *= x[0]
    except IndexError:
        items.append(x[1])
    return items[2] * x[0]


def attribute_added_to(x):
    o = Empty()
    try:
        o.v += x[0]
    except AttributeError:
        o.v = x[0] ** 2
    return o.v


def name_of_nothing(x):
    try:
        return of_nothing * x[0]  # noqa: F821
    except NameError:
        return x[0] ** 2


def no_manager(x):
    try:
        with x:
            pass
    except (TypeError, AttributeError):
        return x[0] ** 2
    return x[1]


def arguments_for_a_class_without(x):
    try:
        Empty(3)
    except TypeError:
        return x[0] ** 2
    return x[1]


def too_few_to_unpack(x):
    try:
        a, b = [x[0]]
    except ValueError:
        return x[0] ** 2
    return a * b


def too_few_for_a_star(x):
    try:
        a, b, *c = [x[0]]
    except ValueError:
        return x[0] ** 2
    return a * b * len(c)


def raised_with_a_value(x):
    total = 0.0
    for v in x:
        try:
            if v > 1.0:
                raise ValueError(v)
            total += v
        except ValueError:
            total += 2.0 * v
    return total


@pytest.mark.parametrize(
    "f",
    [
        entry_added_to,
        entries_added_to_in_a_loop,
        item_beyond_the_end,
        attribute_added_to,
        name_of_nothing,
        no_manager,
        arguments_for_a_class_without,
        too_few_to_unpack,
        too_few_for_a_star,
        raised_with_a_value,
    ],
)
def test_the_handler_of_a_certain_exception_runs(f):
    check(f, (V,))


def too_few_arguments(x, n):
    s = x[0]
    for _ in range(n):
        s = s * (lambda v: v)()
    return s * x[1]


def too_many_to_unpack(x, n):
    s = x[0]
    for _ in range(n):
        s = s * x[1]
        first, second = (s, s, s)
        s = first * second
    return s * x[1]


def a_term_that_is_none(x, n):
    s, i = x[0], 0
    while i < n:
        s = None + s
        i += 1
    return s * x[1]


def a_name_of_an_empty_loop(x, n):
    s = x[0]
    for _ in range(2, 2):
        t = x[1]
    for _ in x[:n]:
        s = s * t
    return s * x[1]


def in_a_loop_of_no_iterations(x, n):
    s = x[0]
    for _ in range(2, 2):
        t = x[1]
        x[0] = t
    for _ in reversed(range(2, 2)):
        s = s * t + x[0]
    for v in np.zeros((0, 2)):
        s = s * v[7]
    return s * x[1] if n == 0 else s * t


@pytest.mark.parametrize(
    "f",
    [too_few_arguments, too_many_to_unpack, a_term_that_is_none, a_name_of_an_empty_loop, in_a_loop_of_no_iterations],
    ids=lambda f: f.__name__,
)
def test_what_a_loop_certainly_raises_is_raised_where_it_begins(f):
    check(f, (V, 0), (0,))
    check(s2s.grad(lambda x: f(x, 0) * x[1]), (V,))
    with pytest.raises(Exception) as raised:
        f(V, 2)
    for derivative in (lambda x, n: s2s.grad(f)(x, n), lambda x, n: s2s.jvp(f, (x, n), (x, None))):
        with pytest.raises(raised.type):
            derivative(V, 2)


@pytest.mark.parametrize("order", "CF")
def test_second_derivative_past_a_loop_of_no_iterations(order):
    def f(m, a):
        for _ in range(2, 2):
            a = np.sin(a * np.dot(m, m)) + a
            m.T[...] = np.array([a]) - np.array([a, a])
        weights = np.arange(1.0, 5.0) * np.reshape(m, -1, order="A")
        return np.sum(weights) * a**2 + np.sum(m * m * m)

    m = np.array([[0.7, 1.3], [0.4, -0.6]], order=order)
    direction = np.array([[1.0, -0.5], [0.25, 2.0]], order=order)
    of_m, of_a = s2s.hvp(f, (m, 0.3), (direction, -0.7), argnums=(0, 1))
    places = np.array([[1.0, 2.0], [3.0, 4.0]] if order == "C" else [[1.0, 3.0], [2.0, 4.0]])
    np.testing.assert_allclose(of_m, 6.0 * m * direction - 0.7 * places * 0.6, rtol=1e-12)
    np.testing.assert_allclose(of_a, np.sum(places * direction) * 0.6 - 1.4 * np.sum(places * m), rtol=1e-12)


def too_few(x):
    a, b = [x[0]]
    return a * b


def too_many(x):
    a, b = x[0], x[1], np.sum(x)
    return a * b


def too_few_before_a_star(x):
    a, b, *c = [x[0]]
    return a * b * len(c)


def too_few_around_a_star(x):
    a, *b, c, d = x[0], x[1]
    return a * c * d * len(b)


def too_few_parts_of_parts(x):
    a, *b, (c, d), e = [x[0], (x[1], np.sum(x))]
    return a * c * d * e * len(b)


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd, s2s.hessian])
@pytest.mark.parametrize("f, text", [
    (too_few, r"not enough values to unpack \(expected 2, got 1\)"),
    (too_many, r"too many values to unpack \(expected 2"),
    (too_few_before_a_star, r"not enough values to unpack \(expected at least 2, got 1\)"),
    (too_few_around_a_star, r"not enough values to unpack \(expected at least 3, got 2\)"),
    (too_few_parts_of_parts, r"not enough values to unpack \(expected at least 3, got 2\)"),
])
@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning")
def test_too_few_or_too_many_values_raise_as_in_python(derivative, f, text):
    for called in (f, derivative(f)):
        with pytest.raises(ValueError, match=text):
            called(V)


def test_a_keyword_that_a_method_does_not_take_is_no_internal_error():
    def f(x):
        [x[0]].sort(foo=1)
        return x[0]

    for derivative in (s2s.grad(f), lambda v: s2s.jvp(f, (v,), (v,))):
        with pytest.raises(UnsupportedSyntaxError):
            derivative(V)


def read_from_the_arguments(x):
    try:
        if x[0] > 0.0:
            raise ValueError(2.0 * x[0])
        t = 1.0
    except ValueError as problem:
        t = problem.args[0]
    return t * x[1]


def test_what_an_exception_holds_is_refused():
    for derivative in (s2s.grad(read_from_the_arguments), lambda v: s2s.jvp(read_from_the_arguments, (v,), (v,))):
        with pytest.raises(NoDerivativeError, match="S2S208"):
            derivative(V)


# --- attributes that are not there ------------------------------------------------------------------------


class Model:
    def __init__(self, v):
        self.v = v

    @property
    def slope(self):
        if not hasattr(self, "found"):
            raise AttributeError("not fitted")
        return self.found

    @property
    def indirect(self):
        return self.nothing

    @property
    def unsure(self):
        if self.v > 0.0:
            raise AttributeError("positive")
        return self.v

    def fit(self):
        self.found = 2.0 * self.v


class Hooked(Model):
    def __getattr__(self, name):
        if name == "twice":
            return 2.0 * self.v
        if name == "slope":
            return 5.0 * self.v
        raise AttributeError(name)


def default_where_a_getter_raises(x):
    m = Model(x[0])
    before = getattr(m, "slope", x[1])
    m.fit()
    return before * getattr(m, "slope", x[1]) + getattr(m, "indirect", x[2])


def default_where_the_hook_raises(x):
    m = Hooked(x[0])
    return getattr(m, "none", x[1]) * getattr(m, "twice", x[2])


def getter_before_hook(x):
    return Hooked(x[0]).slope * x[1]


def asked_whether_there(x):
    m, h = Model(x[0]), Hooked(x[0])
    there = [hasattr(m, "slope"), hasattr(m, "fit"), hasattr(h, "twice"), hasattr(h, "none"), hasattr(h, "slope")]
    return sum(v * w for v, w in zip(there, [x[0], x[1], x[2], x[0] ** 2, x[1] ** 2]))


@pytest.mark.parametrize(
    "f", [default_where_a_getter_raises, default_where_the_hook_raises, getter_before_hook, asked_whether_there]
)
def test_attributes_that_raise_are_not_there(f):
    check(f, (V,))


def test_an_attribute_that_depends_on_the_run_is_refused():
    def f(x):
        return getattr(Model(x[0]), "unsure", x[1])

    with pytest.raises(UnsupportedSyntaxError, match="depends on the run"):
        s2s.grad(f)(V)


# --- managers ---------------------------------------------------------------------------------------------


class Swallows:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v

    def __exit__(self, kind, value, trace):
        return kind is ValueError


def test_a_manager_that_swallows_what_the_body_raises_is_refused():
    def f(x):
        t = x[0]
        with Swallows(x[0]) as v:
            t = v * v
            raise ValueError
        return 3.0 * t

    for derivative in (s2s.grad(f), lambda v: s2s.jvp(f, (v,), (v,))):
        with pytest.raises(UnsupportedSyntaxError, match="may swallow"):
            derivative(V)


# --- dicts that make entries ------------------------------------------------------------------------------


def test_entries_that_are_made_where_they_are_read():
    def f(x):
        held = collections.defaultdict(float)
        for k in range(3):
            held[k % 2] += x[k]
        return held[0] * held[1] + held[7]

    check(f, (V,))


def test_entries_under_keys_that_are_not_known_are_refused():
    def f(x):
        held = collections.defaultdict(float)
        for k, v in enumerate(x):
            held[k % 2] += v
        return held[0] * held[1]

    with pytest.raises(UnsupportedSyntaxError, match="whether it has the key"):
        s2s.grad(f)(V)


# --- containers that the blocks of a `try` make anew ------------------------------------------------------


def several_lists(x, text):
    try:
        scale = float(text)
        first, second, third = [x[0], x[1]], x[2] * scale, (x[1], [x[2]])
    except ValueError:
        first, second, third = [x[1], x[2]], x[0] * 2.0, (x[0], [x[1]])
    return first[0] ** 2 * first[1] + second**3 + third[0] * third[1][0]


def a_list_or_an_array(x, text):
    try:
        scale = float(text)
        pair, rate, rest = [x[0], x[1] * scale], 2.0 * x[0], x**2
    except ValueError:
        pair, rate, rest = x[1:], x[2], [x[1], x[0]]
    return pair[0] ** 2 * pair[1] * rate + rest[1] ** 3


def one_or_another(x, text):
    either, other = [x[0], x[1]], [x[1] ** 2, x[2]]
    try:
        scale = float(text)
        made, kept = either, other
    except ValueError:
        scale = x[0]
        made, kept = other, other
    else:
        scale = scale * x[1]
    return made[0] ** 2 * made[1] * scale + kept[1] * kept[0]


@pytest.mark.parametrize("text", ["3", "none"])
@pytest.mark.parametrize("f", [several_lists, a_list_or_an_array, one_or_another], ids=lambda f: f.__name__)
def test_containers_of_one_of_the_blocks(f, text):
    check(f, (V, text))


# --- what is assigned before an exception keeps off the names that are read after it ----------------------


def in_a_try(a, x):
    held = [v * a for v in x]
    try:
        a = held[-2]
        raise ValueError
    except ValueError:
        pass
    return np.sum(held)


def in_an_inner_try(a, x):
    held = [v * a for v in x]
    try:
        try:
            a = held[-2]
            raise ValueError
        except KeyError:
            a = 2.0
    except ValueError:
        pass
    return np.sum(held)


def under_a_manager(a, x):
    held = [v * a for v in x]
    with contextlib.suppress(ValueError):
        a = held[-2]
        raise ValueError
    return np.sum(held)


def in_a_loop(a, x):
    held = [v * a for v in x]
    for k in range(3):
        try:
            a = held[-2]
            if k == 1:
                break
            raise ValueError
        except ValueError:
            continue
    return np.sum(held)


@pytest.mark.parametrize("f", [in_a_try, in_an_inner_try, under_a_manager, in_a_loop], ids=lambda f: f.__name__)
def test_assigned_before_an_exception(f):
    check(f, (-1.428, np.array([1.1, -0.6, 0.3])))


# --- a `finally` that exits ends the exception, and any other exit ----------------------------------------------------


def returns(x, above):
    try:
        y = x * x
        if x > above:
            raise ValueError
    finally:
        return x * 3.0  # noqa: B012


def returns_over_a_return(x, above):
    try:
        return x * x
    finally:
        if x > above:
            return x * 3.0  # noqa: B012


def returns_sometimes(x, above):
    y = x
    try:
        y = x * x
        if x > above:
            raise ValueError
        y = y * x
    finally:
        if x > above:
            return y * 3.0  # noqa: B012
    return y


def returns_over_a_handler(x, above):
    try:
        if x > above:
            raise ValueError
    except ValueError:
        raise KeyError from None
    finally:
        return x * x  # noqa: B012


def leaves_a_loop(x, above):
    s = 0.0
    while True:
        try:
            s = s + x * x
            if x > above:
                raise KeyError
            x = x * 1.1
        finally:
            break  # noqa: B012
    return s * x


def leaves_a_loop_sometimes(x, above):
    s = 0.0
    for k in range(4):
        try:
            s = s + x * k
            if k == 2 and x > above:
                raise ValueError
            s = s * x
        finally:
            if k == 2:
                break  # noqa: B012
    return s


def goes_on_with_a_loop(x, above):
    s = 0.0
    for k in range(3):
        try:
            if k == 1 and x > above:
                raise ValueError
            s = s + x * k
        finally:
            s = s * 1.5
            continue  # noqa: B012
    return s


def breaks_over_a_return(x, above):
    s = 0.0
    for k in range(3):
        try:
            if k == 1:
                return x * 100.0
            s = s + x * (k + 1)
        finally:
            if k == 1 and x > above:
                break  # noqa: B012
    return s * x


def goes_on_over_a_return_or_break(x, above):
    s = 0.0
    for k in range(4):
        try:
            if k == 1:
                return x * 100.0
            if k == 2:
                break
            s = s + x * (k + 1)
        finally:
            if k == 1 and x > above:
                continue  # noqa: B012
    return s


def returns_over_other_exits(x, above):
    for k in range(3):
        try:
            if k == 0:
                continue
            x = x * 2.0
            break
        finally:
            if k == 1 or x < above:
                return x * 3.0  # noqa: B012
    return x


def in_an_inner_loop(x, above):
    for _ in range(2):
        for k in range(3):
            try:
                return x * 9.0
            finally:
                if x > above or k:
                    break  # noqa: B012
        x = x * 2.0
    return x


def in_a_finally(x, above):
    try:
        s = x * x
    finally:
        try:
            if x > above:
                raise ValueError
        finally:
            return x * 5.0  # noqa: B012
    return s


FINALLY = [
    returns, returns_over_a_return, returns_sometimes, returns_over_a_handler, leaves_a_loop, leaves_a_loop_sometimes,
    goes_on_with_a_loop, breaks_over_a_return, goes_on_over_a_return_or_break, returns_over_other_exits,
    in_an_inner_loop, in_a_finally,
]


@pytest.mark.parametrize("above", [1.0, 2.0])
@pytest.mark.parametrize("f", FINALLY, ids=lambda f: f.__name__)
def test_exits_from_finally(f, above):
    check(f, (1.3, above), argnums=0)


def test_an_exception_passes_a_finally_that_does_not_exit():
    def f(x):
        try:
            if x > 1.0:
                raise ValueError("too large")
        finally:
            if x > 100.0:
                return x * 3.0  # noqa: B012
        return x * x

    check(f, (0.7,))
    for derivative in (s2s.grad(f), lambda v: s2s.jvp(f, (v,), (1.0,))):
        with pytest.raises(ValueError, match="too large"):
            derivative(1.3)


class Interrupting(dict):
    def __missing__(self, key):
        raise KeyboardInterrupt


def test_an_interrupt_is_no_refusal():
    def f(x, table):
        s = 0.0
        for k in range(3):
            try:
                if x[k] < 0:
                    raise ValueError
                s += x[k] ** 2 * table[k]
            except ValueError:
                s -= x[k]
            finally:
                s *= 0.5
        return s

    given = Interrupting({0: 1.0, 1: 2.0, 2: 3.0})
    assert "rt.try_error" in s2s.source(f, V, given)
    np.testing.assert_allclose(s2s.grad(f)(V, given), differences(lambda v: f(v, given), V))
    del given[1]
    for derivative in (s2s.grad(f), s2s.jacfwd(f)):
        with pytest.raises(KeyboardInterrupt):
            derivative(V, given)


KINDS = [ValueError, IndexError]


def item_or_another(x, k, n):
    try:
        y = x[k] * x[0]
    except KINDS[n]:
        y = 3.0 * x[0]
    return y


def item_or_another_of_many_kinds(x, k, n):
    try:
        y = x[k] * x[0]
    except (KeyError, KINDS[n]):
        y = 3.0 * x[1]
    else:
        y = y * x[1]
    return y


@pytest.mark.parametrize("f", [item_or_another, item_or_another_of_many_kinds])
def test_a_handler_for_kinds_that_the_run_finds(f):
    for k in (2, 7):
        expected = differences(lambda x, k=k: f(x, k, 1), V)
        np.testing.assert_allclose(s2s.grad(f)(V, k, 1), expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(s2s.jvp(f, (V, k, 1), (V, None, None))[1], np.sum(expected * V), rtol=1e-7)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        s2s.grad(f)(V, 7, 0)


def test_a_handler_for_kinds_that_are_not_known_goes_where_nothing_is_raised():
    def f(x, n):
        try:
            y = 2.0 * float(x[0])
        except KINDS[n]:
            y = x[1]
        return y

    def changed(x, n):
        a = x.copy()
        b = a
        try:
            a[0] = 3.0 * x[1]
            y = x[2] / b[0]
        except KINDS[n]:
            return b[0]
        return y

    np.testing.assert_allclose(s2s.grad(f)(V, 1), [2.0, 0.0, 0.0])
    with pytest.raises(UnsupportedSyntaxError):
        s2s.grad(changed)(V, 1)
