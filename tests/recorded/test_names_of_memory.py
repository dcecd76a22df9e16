"""Objects whose numbers lie in the memory of an array, or are made anew each time that they are read."""

import array
import math

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

X = np.array([0.41, 1.23, 0.92, 2.31])
PAIRS = [("p", float), ("q", float)]
PARTICLES = [("place", float, (2,)), ("mass", float)]
HELD = array.array("d", [1.0, 2.0, 3.0])
SEEN = np.frombuffer(HELD)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


def records(x):
    table = np.zeros(3, dtype=PAIRS)
    row = table[1]
    row["p"] = x[0] * x[1]
    row[1] = x[2]
    a, b = row
    table[2] = row
    picked, kept = table[[1, 2]], table.copy()
    kept["p"][1] *= 2.0
    return a * b + np.sum(picked["p"] ** 2) + kept[1]["p"] * table[2][0]


def rows_of_lists(x):
    table = np.array([(x[0], x[1]), (x[2], x[3])], dtype=PAIRS)
    table[:1] = [(x[1] ** 2, x[2])]
    both = np.concatenate([table, table[table["p"] > 0.5]])
    return np.sum(both["p"] * both["q"]) + table[1].item()[0] ** 2 + table.tolist()[0][1] ** 2


def record_arrays(x):
    table = np.rec.fromrecords([(x[0], x[1]), (x[2], x[3])], names="p,q")
    row = table[0]
    row.p = x[3] * row.q
    return table.p[0] * table[1].q + row.q


def nested(x):
    table = np.zeros(2, dtype=PARTICLES)
    table[0] = (x[:2], x[2])
    table[1]["place"][:] = x[2:]
    table[1]["mass"] = x[0]
    return sum(float(row["mass"]) * np.sum(row["place"] ** 2) for row in table)


def memory_views(x):
    y = x * 2.0
    seen = memoryview(y)
    seen[1:3][0] = x[3]
    total = sum(seen) + seen.tolist()[0] ** 2 + np.asarray(seen)[1] ** 2 + np.sum(np.array(seen) ** 3)
    return total + memoryview(x.reshape(2, 2) * 1.0)[1, 0] * x[0]


def typed_arrays(x):
    a = array.array("d", (t * t for t in x))
    a.extend([x[0], 2.0])
    a.insert(1, x[3])
    ends = a.pop() * a.pop(0)
    a.reverse()
    both = a + a[1:3]
    both *= 2
    total = ends + math.fsum(v * k for k, v in enumerate(both)) + np.dot(both, both)
    return total + max(a) + sorted(a)[1] * np.array(a)[0]


def stored_and_grown(x):
    """What is stored into leaves an array as free to grow as it was."""
    a = array.array("d", [x[0], x[1]])
    a[0] = a[1] * x[2]
    a.append(a[0] * x[3])
    a[1:] = array.array("d", [x[0] ** 2, a[2], 3.0])
    return a[0] * a[1] + a[2] * a[3] * x[1]


def shared_memory(x):
    a = array.array("d", [0.0] * 4)
    seen = np.frombuffer(a)
    seen[:] = x
    seen[1] *= x[0]
    memoryview(a)[2] = x[3] ** 2
    a[0] = a[1] * a[2]
    return sum(t * t for t in a) + np.asarray(a)[2] + a.tolist()[0] * seen[0]


def outside(x):
    SEEN[0] = x[0] * x[1]
    return HELD[0] * x[2]


def copied(x):
    """Typed arrays made of others: of such numbers, of constants, of none, of those that have other names in memory."""
    a = array.array("d", [x[0], x[1] ** 2])
    b, none = array.array("d", a), array.array("d")
    b[0] *= x[2]
    none.append(x[3])
    seen = np.frombuffer(a)
    seen[1] = x[2] * x[3]
    later, plain = array.array("d", a), array.array("d", array.array("i", [2, 3]))
    plain[0] = x[0]
    return a[0] * b[0] + b[1] + none[0] ** 2 + later[1] * later[0] + plain[0] * plain[1]


CASES = [records, rows_of_lists, record_arrays, nested, memory_views, typed_arrays, stored_and_grown,
         shared_memory, outside, copied]


def slopes(f):
    return np.array([(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(4)])


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_both_modes(f):
    wanted = slopes(f)
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-7, atol=1e-8)


def test_single_precision():
    def f(x):
        a = array.array("f", [x[0], x[1]])
        return a[0] * a[1] * x[2]

    def copied(x):
        a = array.array("f", array.array("d", [x[0] * 0.1, x[1]]))
        return a[0] * a[1] * x[2]

    x = np.float32(X).astype(float)
    np.testing.assert_allclose(s2s.grad(f)(x), [x[1] * x[2], x[0] * x[2], x[0] * x[1], 0.0], rtol=1e-6)
    wanted = [0.1 * x[1] * x[2], 0.1 * x[0] * x[2], 0.1 * x[0] * x[1], 0.0]
    np.testing.assert_allclose(s2s.vjp(copied, x)[1](1.0)[0], wanted, rtol=1e-6)


def forgets(x):
    a = array.array("d", [x[0], x[1], x[2]])
    del a[0]
    return a[0] * x[0]


def grows(x):
    a = array.array("d", [x[0]])
    np.frombuffer(a)
    a.append(x[1])
    return a[1]


def bytes_of(x):
    seen = memoryview(x * 1.0).cast("B")
    return float(seen[3]) * x[0]


@pytest.mark.parametrize("f", [forgets, grows, bytes_of], ids=lambda f: f.__name__)
def test_what_is_out_of_sight_is_refused(f):
    with pytest.raises(DifferentiationError):
        s2s.vjp(f, X)


def spread(x):
    """Numbers whose copies in an array are one in memory."""
    wide = np.broadcast_to(x[2], (3,))
    return np.sum(wide * x[:3]) + np.sum(np.broadcast_to([x[0], x[1]], (3, 2)) * np.outer(x[1:], x[:2])) * wide[1]


def test_results_whose_elements_are_one_in_memory():
    test_both_modes(spread)


def test_a_typed_array_is_differentiated_and_given_back():
    given = array.array("d", [0.5, 2.0, 1.5])

    def f(v):
        return v[0] * v[1] + sum(item**2 for item in v) + float(np.exp(np.asarray(v)).sum())

    expected = np.array([2.0, 0.5, 0.0]) + 2.0 * np.array(given) + np.exp(given)
    gradient = s2s.grad(f)(given)
    assert type(gradient) is array.array and gradient.typecode == "d"
    np.testing.assert_allclose(gradient, expected)
    assert s2s.jvp(f, (given,), (array.array("d", [1.0, -1.0, 2.0]),))[1] == pytest.approx(expected @ [1.0, -1.0, 2.0])
    doubled, pullback = s2s.vjp(lambda v: array.array("d", [item * item for item in v]), given)
    np.testing.assert_allclose(pullback(array.array("d", [1.0, 2.0, 3.0]))[0], [1.0, 8.0, 9.0])
    assert type(doubled) is array.array


# --- arguments by another name --------------------------------------------------------------------------------------

KNOWN, CURRENT = [1.0], [np.zeros(2)]


def test_an_argument_that_changes_by_another_name_is_refused():
    """A recording is given copies: what changes in one place would be as it was in the other."""

    def appended(x, kept):
        kept.append(2.0 * x)
        return KNOWN[-1] * x

    def scaled(x):
        y = np.sin(x)
        CURRENT[0][...] *= 2.0
        return np.sum(y * x)

    def by_default(x, kept=KNOWN):
        kept.append(2.0 * x)
        return KNOWN[-1] * x

    with pytest.raises(s2s.errors.SharedMemoryError, match=r"\[S2S124\]"):
        s2s.grad(appended)(1.5, KNOWN)
    with pytest.raises(DifferentiationError):
        s2s.grad(by_default)(1.5)
    CURRENT[0] = x = np.array([0.3, 0.5])
    with pytest.raises(s2s.errors.ArgumentError, match=r"\[S2S511\]"):
        s2s.grad(scaled)(x)
    np.testing.assert_array_equal(x, [0.3, 0.5])


ROWS = [[1.0], {"b": [2.0]}]
LAST = ROWS[1]["b"]


def by_a_container(x, kept):
    kept[1]["b"].append(2.0 * x)
    return ROWS[1]["b"][-1] * x


def by_itself(x, kept):
    kept[1]["b"].append(2.0 * x)
    return LAST[-1] * x


def by_an_item(x, kept):
    kept[1]["b"][0] = 2.0 * x
    return LAST[0] * x


def another_name(x, kept):
    LAST[0] = 2.0 * x
    return kept[1]["b"][0] * x


def a_new_item(x, kept):
    kept[0][:] = [2.0 * x]
    return ROWS[0][0] * x


@pytest.mark.parametrize("f", [by_a_container, by_itself, by_an_item, another_name, a_new_item])
def test_a_container_within_an_argument_that_changes_by_another_name_is_refused(f):
    try:
        for given in (ROWS, [ROWS[0], {"b": LAST}]):
            with pytest.raises(s2s.errors.SharedMemoryError, match=r"\[S2S124\]"):
                s2s.grad(f)(1.5, given)
    finally:
        ROWS[0][:], LAST[:] = [1.0], [2.0]


def test_containers_within_an_argument_that_nobody_else_knows_may_change():
    def f(x, kept):
        kept[1]["b"].append(2.0 * x)
        return kept[1]["b"][-1] * x + LAST[0]

    assert s2s.grad(f)(1.5, [[1.0], {"b": [2.0]}]) == pytest.approx(6.0)
    assert s2s.grad(lambda x, kept: kept[1]["b"][0] * x * x + LAST[0])(1.5, ROWS) == pytest.approx(6.0)
