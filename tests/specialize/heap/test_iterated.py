"""Containers that are changed while a loop runs over them: followed where no later trip sees it, else refused."""

import collections

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError, UnsupportedSyntaxError
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


# --- seen by a later trip --------------------------------------------------------------------------------------------


def appended(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        s = s + v * v
        if len(values) < 4:
            values.append(v * 2.0)
    return s


def shortened(x):
    values, s = [x[0], x[1], x[2]], 0.0
    for i, v in enumerate(values):
        s = s + v * v
        if i == 0:
            values.pop()
    return s


def stored_ahead(x):
    values, s = [x[0], x[1], x[2]], 0.0
    for i, v in enumerate(values):
        if i < 2:
            values[i + 1] = v * x[0]
        s = s + v * v
    return s


def stored_at_the_end(x):
    values, s = list(x), 0.0
    for v in values:
        s = s + v
        values[-1] = v * v
    return s


def cleared(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        s = s + v
        values.clear()
    return s


def by_a_nested_function(x):
    values, s = [x[0], x[1]], 0.0

    def grow():
        if len(values) < 4:
            values.append(x[2])

    for v in values:
        grow()
        s = s + v
    return s


def in_a_comprehension(x):
    values = [x[0], x[1]]
    return sum([v * values.pop() for v in values])


def behind_an_iterator(x):
    values, s = [v for v in x], 0.0
    it = iter(values)
    for v in it:
        s = s + v
        if len(values) < 5:
            values.append(v * v)
    return s


def ahead_of_an_iterator(x):
    values = [x[0], x[1], x[2]]
    it = iter(values)
    s = next(it)
    values[2] = s * s
    return s + sum(it)


def appended_behind_an_iterator(x):
    values = [x[0], x[1]]
    it = iter(values)
    s = next(it)
    values.append(s * s)
    for v in it:
        s = s + v
    return s


def an_item_of_a_dict(x):
    values, s = {"a": x[0], "b": x[1]}, 0.0
    for _, v in values.items():
        s = s + v
        values["b"] = x[2]
    return s


def a_key_of_a_dict(x):
    values, s = {"a": x[0], "b": x[1]}, 0.0
    for k in values:
        s = s + values[k]
        values["c"] = x[2]
    return s


def a_deque(x):
    values, s = collections.deque([x[0], x[1]]), 0.0
    for v in values:
        values.append(v)
        s = s + v
    return s


def stored_ahead_in_a_long_list(x):
    values, s = [v * 1.0 for v in np.tile(x, 40)], 0.0
    for i, v in enumerate(values):
        s = s + v
        if i + 1 < len(values):
            values[i + 1] = v * v
    return s


SEEN = [
    appended, shortened, stored_ahead, stored_at_the_end, cleared, by_a_nested_function, in_a_comprehension,
    behind_an_iterator, ahead_of_an_iterator, appended_behind_an_iterator, an_item_of_a_dict, a_key_of_a_dict, a_deque,
    stored_ahead_in_a_long_list,
]


@pytest.mark.parametrize("f", SEEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_refused(f, derivative):
    with pytest.raises(UnsupportedSyntaxError) as info:
        derivative(f)(X)
    assert info.value.diagnostic.code == "S2S181"
    assert info.value.diagnostic.span.file == __file__


def test_the_message():
    with pytest.raises(UnsupportedSyntaxError) as info:
        s2s.grad(cleared)(X)
    line = cleared.__code__.co_firstlineno
    _, place, _, *shown, hint = str(info.value).splitlines()
    assert str(info.value).startswith("`values` is changed while a loop runs over it [S2S181]\n")
    assert place.endswith(f":{line + 4}:9 in `cleared`")
    assert shown[-1].lstrip(" |") == "^^^^^^^^^^^^^^" and hint.endswith("loop over a copy of it: `list(values)`")


# --- not seen --------------------------------------------------------------------------------------------------------


def stored_where_an_iterator_has_been(x):
    values = [x[0], x[1], x[2]]
    it = iter(values)
    s = next(it)
    values[0] = s * s
    return s + sum(it) * values[0]


def stored_where_it_is(x):
    values = [x[0], x[1]]
    for i, v in enumerate(values):
        values[i] = v * v
    return sum(values)


def stored_where_it_is_in_a_long_list(x):
    values = [v * 1.0 for v in np.tile(x, 40)]
    for i, (v, w) in enumerate(zip(values, values[1:])):
        values[i] = v * w
    return sum(values)


def stored_behind(x):
    values = [x[0], x[1], x[2]]
    for i, v in enumerate(reversed(values)):
        values[2 - i] = v * v
    return sum(values)


def values_of_keys(x):
    values = {"a": x[0], "b": x[1]}
    for k in values:
        values[k] = values[k] * 2.0
    return values["a"] * values["b"]


def before_the_loop_ends(x):
    values = [x[0], x[1]]
    for v in values:
        if v > 1.0:
            values.append(v * 2.0)
            break
    return sum(values)


def beside_a_shorter_one(x):
    values, s = [x[0], x[1]], 0.0
    for v, w in zip(values, values[1:]):
        values.append(v)
        s = s + v * w
    return s + sum(values)


def of_a_copy(x):
    values = [x[0], x[1], x[2]]
    for v in list(values):
        values.append(v * v)
    return sum(values)


def another_by_the_same_name(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        values = [x[2]]
        s = s + v
    return s + values[0]


def what_it_holds(x):
    rows = [[x[0]], [x[1], x[2]]]
    for row in rows:
        for i, v in enumerate(row):
            row[i] = v * 2.0
        row.append(x[0])
    return sum(sum(row) for row in rows)


NOT_SEEN = [
    stored_where_an_iterator_has_been,
    stored_where_it_is, stored_where_it_is_in_a_long_list, stored_behind, values_of_keys, before_the_loop_ends,
    beside_a_shorter_one, of_a_copy, another_by_the_same_name, what_it_holds,
]


@pytest.mark.parametrize("f", NOT_SEEN, ids=lambda f: f.__name__)
def test_gradient(f):
    check(f, (X,))
# --- iterators that are kept: what is left of them -----------------------------------------------------------------


class Box:
    def __init__(self, it):
        self.it = it

    def total(self):
        return sum(self.it)


def filter_in_a_list(a, b):
    held = []
    held.append(filter(None, [a, b]))
    s = sum(held[0])
    return s * 2 + sum(held[0])


def map_in_a_display(a, b):
    held = [map(lambda v: v * v, [a, b])]
    s = sum(held[0])
    return s + 3 * sum(held[0])


def generator_in_an_object(a, b):
    o = Box(v * a for v in [a, b])
    s = o.total()
    return s + 3 * o.total()


def enumerate_in_an_object(a, b):
    e = enumerate([a, b])
    o = Box(e)
    s = 0.0
    for i, v in o.it:
        s = s + v
    for i, v in o.it:
        s = s + 7 * v
    return s


def filter_in_a_closure(a, b):
    it = filter(None, [a, b])

    def g():
        return sum(it)

    return g() + 3 * g()


def listed_twice(a, b):
    l = []
    l.append(map(abs, [a, b]))
    x = list(l[0])
    y = list(l[0])
    return sum(x) + len(y) * a


def filter_in_a_dict(a, b):
    d = {}
    d["it"] = filter(lambda v: v > 0, [a, b, -a])
    s = sum(d["it"])
    s = s + sum(d["it"])
    return s * a


def filter_in_an_attribute(a, b):
    o = Box(None)
    o.it = filter(None, [a, b])
    return sum(o.it) + sum(o.it)


def filter_in_a_tuple(a, b):
    t = (filter(None, [a, b]), 1)
    return sum(t[0]) + 4 * sum(t[0])


def two_names_of_a_filter(a, b):
    f = filter(None, [a, b])
    g = f
    return sum(f) + 4 * sum(g)


def zip_in_a_deque(a, b):
    q = collections.deque()
    q.append(zip([a, b]))
    s = sum(v for (v,) in q[0])
    s = s + 7 * sum(v for (v,) in q[0])
    return s


def filters_of_a_loop(a, b):
    l = []
    for i in range(2):
        l.append(filter(None, [a, b * i]))
    s = 0.0
    for f in l:
        s = s + sum(f)
    for f in l:
        s = s + 3 * sum(f)
    return s


def generator_in_a_list(a, b):
    l = []
    l.append((v * a for v in [a, b] if v > 0))
    return sum(l[0]) + 4 * sum(l[0])


def filter_in_a_copied_list(a, b):
    l = [filter(None, [a, b])]
    m = list(l)
    return sum(m[0]) + 4 * sum(l[0])


def unpacked_filter(a, b):
    l = []
    l.append(filter(None, [a, b]))
    m, *r = l[0]
    return m + sum(r) * 2 + sum(l[0])


def greatest_of_a_filter(a, b):
    l = []
    l.append(filter(None, [a, b]))
    return max(l[0]) + sum(l[0])


def iterator_of_an_array(a, b):
    x = np.array([a, b])
    l = [iter(x)]
    s = sum(l[0])
    return s + 3 * sum(l[0])


def popped_filter(a, b):
    held = []
    held.append(filter(None, [a, b]))
    h = held.pop()
    s = sum(h)
    return s * 2 + sum(h)


def zip_of_arrays_that_change(a, b):
    x = np.array([a, b])
    h = []
    h.append(zip(x, x))
    x[0] = b * b
    return sum(p * q for p, q in h[0])


def map_in_a_loop(a, b):
    m = map(lambda v: v * a, [a, b])
    s = 0.0
    for k in range(2):
        s = s + sum(m) * (k + 2)
    return s


def helper_that_reads_twice(a, b):
    x = np.linspace(a, b, 7)

    def tot(it):
        return sum(it) + 7 * sum(it)

    return tot(map(lambda v: v * v, x)) + tot(v * 3 for v in x)


def helper_with_branches(a, b):
    x = np.linspace(a, b, 7)

    def tot(it):
        if a > 0:
            return sum(it)
        return max(it)

    return tot(map(lambda v: v * v, x)) + tot(v * 3 for v in x)


def flat_by_index(a, b):
    x = np.array([a, b])
    f = x.flat
    s = f[0]
    f[1] = a * a
    return s + sum(f) + len(f)


def next_of_a_filter(a, b):
    f = filter(None, [a, b])
    return next(f) + 4 * sum(f)


READ_ONCE = [
    filter_in_a_list,
    map_in_a_display,
    generator_in_an_object,
    enumerate_in_an_object,
    filter_in_a_closure,
    listed_twice,
    filter_in_a_dict,
    filter_in_an_attribute,
    filter_in_a_tuple,
    two_names_of_a_filter,
    zip_in_a_deque,
    filters_of_a_loop,
    generator_in_a_list,
    filter_in_a_copied_list,
    unpacked_filter,
    greatest_of_a_filter,
    iterator_of_an_array,
    popped_filter,
    zip_of_arrays_that_change,
    map_in_a_loop,
    helper_that_reads_twice,
    helper_with_branches,
    flat_by_index,
    next_of_a_filter,
]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", READ_ONCE, ids=lambda f: f.__name__)
def test_iterators_that_are_kept_are_read_once(f):
    check(f, (0.8, 0.4))


def left_early(a, b):
    r = reversed([a, b])
    l = []
    l.append(r)
    s = 0.0
    for v in l[0]:
        s = s + v
        break
    for v in l[0]:
        s = s + 10 * v
    return s


def asked_for_an_item(a, b):
    l = []
    l.append(filter(None, [a, b]))
    return (a in l[0]) * a + sum(l[0])


def flat_in_a_list(a, b):
    x = np.array([a, b])
    l = [x.flat]
    s = sum(l[0])
    return s + 3 * sum(l[0])


def name_of_a_generator(a, b):
    l = [1.0, 2.0]
    o = Box(v * a for v in l)
    a = a * 2
    return o.total() + a


def list_of_a_filter(a, b):
    l = [a, b]
    h = []
    h.append(filter(None, l))
    l.append(a * b)
    return sum(h[0])


def list_of_a_map(a, b):
    l = [a, b]
    h = []
    h.append(map(lambda v: v * v, l))
    l.append(a * b)
    return sum(h[0])


def list_of_a_generator(a, b):
    l = [a, b]
    o = Box(v * v for v in l)
    l.append(a * b)
    return o.total()


def name_of_a_map(a, b):
    h = []
    h.append(map(lambda v: v * a, [1.0, 2.0]))
    a = a * 3
    return sum(h[0])


def array_of_a_map(a, b):
    x = np.array([a, b])
    h = []
    h.append(map(lambda v: v * a, x))
    x[0] = b * b
    return sum(h[0])


def array_of_a_generator(a, b):
    x = np.array([a, b])
    o = Box(v * v for v in x)
    x[1] = a * a * a
    return o.total()


def list_of_a_named_map(a, b):
    l = [a, b]
    m = map(lambda v: v * a, l)
    l[0] = b * b
    return sum(m)


def dict_of_a_function(a, b):
    c = {"k": a}
    m = map(lambda v: v * c["k"], [1.0, 2.0])
    c["k"] = b * b
    return sum(m)


def dict_of_a_generator(a, b):
    c = {"k": a}
    o = Box(v * c["k"] for v in [1.0, 2.0])
    c["k"] = b * b
    return o.total()


def map_that_changes(a, b):
    c = []

    def f(v):
        c.append(v)
        return v * a

    m = map(f, [a, b])
    n = len(c)
    return sum(m) * (n + 1) + len(c)


def read_in_its_own_loop(a, b):
    f = filter(None, [a, b, a])
    s = 0.0
    for v in f:
        s = s + v * sum(f)
    return s + a


def flat_twice(a, b):
    x = np.array([a, b])
    f = x.flat
    s = sum(f)
    return s + sum(f)


CHANGED = {
    left_early: "S2S132",
    asked_for_an_item: "S2S142",
    flat_in_a_list: "S2S142",
    name_of_a_generator: "S2S205",
    list_of_a_filter: "S2S181",
    list_of_a_map: "S2S181",
    list_of_a_generator: "S2S181",
    name_of_a_map: "S2S205",
    array_of_a_map: "S2S181",
    array_of_a_generator: "S2S181",
    list_of_a_named_map: "S2S181",
    dict_of_a_function: "S2S181",
    dict_of_a_generator: "S2S181",
    map_that_changes: "S2S222",
    read_in_its_own_loop: "S2S132",
    flat_twice: "S2S142",
}


@pytest.mark.parametrize("f", CHANGED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["grad", "jacfwd"])
def test_what_is_not_known_of_iterators_is_refused(f, mode):
    """They make their items when they are asked for them, of what there is then."""
    f(0.8, 0.4)
    with pytest.raises(DifferentiationError) as refused:
        getattr(s2s, mode)(f)(0.8, 0.4)
    assert refused.value.diagnostic.code == CHANGED[f]
