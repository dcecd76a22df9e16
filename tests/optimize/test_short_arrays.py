"""Short arrays of known length as numbers: against differences, and which stay arrays."""

import numpy as np
import pytest

import s2s
from s2s import derivatives
from s2s.optimize.loops import short_writing
from tests.optimize.test_element_loops import looped


@pytest.fixture
def rng():
    return np.random.default_rng(7)


MAKERS = "np.empty(3)", "np.empty(2)", "np.cross", "np.array(", ".copy()"


def arrays_in(text):
    """The lines that make short arrays."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    return [line for line in lines if any(maker in line for maker in MAKERS)]


def turned(x, w, flag):
    total = 0.0
    for i in range(len(x)):
        r = np.cross(x[i, :3] - x[0, :3], w)
        if r[0] > flag:
            r = r * 2.0
        else:
            r = np.cross(w, r) / (r[1] + 3.0)
        flat = r[:2] / (4.0 + r[2])
        total += np.sum(flat * x[i, 1:3]) + np.dot(r, w) ** 2
    return total


@pytest.mark.parametrize("flag", [-1.0, 0.0, 9.0])
def test_vectors_in_a_loop_are_numbers(rng, flag):
    assert arrays_in(looped(turned, rng.random((4, 5)), rng.random(3), flag)) == []


def stored(x, w):
    kept, total = [], 0.0
    for i in range(len(x)):
        r = np.cross(x[i], w)
        kept.append(r)
        s = r
        r[1] += 1.0  # the list and the other name see it
        total += s[1] * r[0] * np.sum(kept[-1] ** 2)
        r = np.cross(r, w)
        r[0] = r[1] * 2.0
        total += np.sum(r * s)
    return total + np.sum(kept[0] * kept[-1])


def views(x, w):
    total = 0.0
    for i in range(len(x)):
        r = np.cross(x[i], w)
        v = r[1:]
        r[2] *= x[i, 0]
        v[0] = 0.5 * r[0]
        total += np.sum(r**2) + v[1] * r[::-1][0] + r[-1] + r[i % 3]
    return total


def carried(x, w):
    u = np.zeros(3)
    for i in range(len(x)):
        r = np.cross(x[i], w) + u
        u = r if i % 2 else r / 2.0
        u = u + 0.0
        r[0] = 1.0
        if i == 2:
            break
    return np.sum(u * r)


def filled_before(x, w):
    b, total = np.empty(3), 0.0
    b[0] = b[1] = b[2] = 0.3
    for i in range(len(x)):
        total += np.sum(b * w)
        if x[i, 0] > 0.5:
            b[0], b[1], b[2] = x[i, 2], x[i, 1] * b[2], b[0]
    return total + b[1]


def empty(x, w):
    return np.sum(np.cross(x[:0], w)) + np.sum(x[:, :2] / x[:, 1:3]) / (1.0 + np.sum(x[0] / w))


@pytest.mark.parametrize("f", [stored, views, carried, filled_before, empty], ids=lambda f: f.__name__)
def test_what_others_refer_to(rng, f):
    looped(f, 0.2 + rng.random((4, 3)), 0.1 + rng.random(3))


def shorter(x, w):
    return np.sum((x[:3] - w) ** 2) + np.sum(np.cross(w, w + 1.0) * x[1:4])


@pytest.mark.parametrize("n", [4, 3, 2])
def test_slices_that_are_shorter_than_their_bounds_run_as_arrays(rng, n):
    x, w = rng.random(n), rng.random(3)
    if n < 4:
        with pytest.raises(ValueError, match="broadcast"):
            looped(shorter, x, w)
    else:
        looped(shorter, x, w)


def counted(x):
    """As many of two are the greatest as share its derivative."""
    both = np.array([x[:1]]).T * np.array([2.0, 2.0])
    return np.sum(both.max(axis=1)) + np.sum(both > 0.1) * x[1]


def test_truth_values_are_counted():
    looped(counted, np.array([0.8, 0.3]))


# --- carried by loops


def orbit(x, w, steps):
    """States that are copies, one of which is left early, and swapped."""
    place, speed, other = x[0].copy(), np.array([w[0], 2, -w[2]]), np.zeros(3)
    total = 0.0
    for k in range(steps):
        pull = -place / np.sqrt(np.sum(place * place)) ** 3
        speed = speed + 0.1 * pull
        other, place = place, place + 0.1 * speed
        total += np.dot(place, other) + speed[1]
        if total > 4.0:
            break
    return total + np.sum(place * w) + speed[0] * other[2]


@pytest.mark.parametrize("steps", [0, 1, 40])
def test_states_of_loops_are_numbers(rng, steps):
    text = looped(orbit, 0.5 + rng.random((4, 3)), 0.1 + rng.random(3), steps)
    assert [line for line in arrays_in(text) if "w_bar" not in line] == []


def runge_kutta(x, w):
    """A loop in a loop, the inner one with a test; what the state was is read after it is another one."""
    def rate(s):
        return np.array([s[1] * w[0], np.sin(s[0]) - s[2], s[0] * s[1]])

    s, total = w, 0.0
    for i in range(len(x)):
        before, h = s, 0.1
        while h < 0.9:
            first = rate(s)
            s = s + h * rate(s + 0.5 * h * first)
            h *= 2.0
        total += np.sum(before * s * x[i])
    return total


def test_states_of_nested_loops(rng):
    text = looped(runge_kutta, rng.random((4, 3)), rng.random(3))
    assert arrays_in(text) == []


def changed_beside(x, w):
    """The state is an array that changes under another name: as a row, as what it began with, and in the list."""
    x, w, kept = x.copy(), w.copy(), []
    s, r = w, x[1]
    for i in range(3):
        s = s * r + x[i]
        w[i] += s[0]
        x[1, i] *= 1.1
        kept.append(s)
        if i == 1:
            s = w
            s[2] += 0.5
    s[0] *= 2.0
    kept[0][1] += s[1]
    return np.sum(s * w) + np.sum(kept[0] * kept[-1]) + np.sum(r)


def began_with(x, w):
    w = w.copy()
    s = w
    for i in range(len(x)):
        w[1] += x[i, 0]
        s = s * 1.1 + x[i]
    return np.sum(s * s) + s[1]


def changed_state(x, w):
    """The state is changed in place, in the loop and after it."""
    s, t = np.zeros(3), w.copy()
    for i in range(len(x)):
        s[i % 3] += t[0]
        s, t = s + x[i], s
        t[1] *= 0.5
    s[0] += 1.0
    return np.sum(s * t) + np.sum(s * s)


def other_kinds(x, w):
    """A state of integers, one of float32, one that grows."""
    n, s, g = np.array([1, 2, 3]), np.array([0.5, 0.25, 2.0], dtype=np.float32), x[0, :2]
    for i in range(2):
        n = n * 2
        s = s * np.float32(2.0)
        g = np.concatenate((g, x[i, :1]))
    return np.sum(n * w) + np.sum(s * w) + np.sum(g)


@pytest.mark.parametrize("f", [changed_beside, began_with, changed_state, other_kinds], ids=lambda f: f.__name__)
def test_states_that_others_change(rng, f):
    looped(f, 0.2 + rng.random((4, 3)), 0.1 + rng.random(3))


# --- recomputed


def pairs(x, w):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            r = x[i] - x[j]
            u = r * w - 0.5
            total += np.sin(np.sum(u * u)) * np.sum(r)
    return total


def test_differences_of_short_rows_are_computed_again(rng):
    text = looped(pairs, rng.random((4, 3)), rng.random(3))
    assert "saved_r" not in text and "saved_u" not in text


def pairs_that_change(x, w):
    """What differences were taken of, and the differences, are changed: before the reverse reads them, and between."""
    x, total = x.copy(), 0.0
    for i in range(len(x)):
        for j in range(i):
            r = x[i] - x[j]
            s = r * w
            total += np.sum(s * r * r) * np.sum(r)
            x[j] += 0.1 * r
            r[1] *= 0.5
            u = r - w
            w = w + 0.1 * np.sum(s) * r
            total += np.sum(u * u) * r[0]
    return total


def rows_of_changing(x, w):
    rows = [x[0], x[1]]
    total = 0.0
    for k in range(3):
        a, b = rows[k % 2] * 1.0, rows[1]
        d = a - b * w[k]
        rows[k % 2] = d + a
        total += np.sum(d * d * a)
    return total


@pytest.mark.parametrize("f", [pairs_that_change, rows_of_changing], ids=lambda f: f.__name__)
def test_what_changes_is_kept(rng, f):
    looped(f, 0.2 + rng.random((4, 3)), 0.1 + rng.random(3))


# --- matrices


def turns(x, w):
    """Rotations one after the other, from rows of numbers, with an update of the identity."""
    turned, total = np.eye(3), 0.0
    for i in range(len(x)):
        a, b, c = x[i]
        rate = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        turned = turned @ (np.eye(3) + 0.1 * rate + 0.005 * (rate @ rate))
        p = turned @ w
        q = w @ turned.T
        total += p[0] * q[1] + np.sum(p * p) + turned[2, 1]
    return total


def test_matrices_in_loops_are_numbers(rng):
    text = looped(turns, rng.random((4, 3)), rng.random(3))
    made = [line for line in text.splitlines() if "np.empty((3, 3))" in line or "np.array([" in line.partition("#")[0]]
    assert made == [] and " @ " not in "".join(line.partition("#")[0] for line in text.splitlines())


def shapes(x, w):
    """Products of matrices of several shapes, with views and transposed ones."""
    wide, total = np.array([[w[0], 2.0, w[1]], [1.0, w[2], w[0] * w[1]]]), 0.0
    for i in range(len(x)):
        tall = wide.T * x[i, 0]
        square = wide @ tall
        other = np.dot(tall, square) @ wide
        total += np.sum(other) + np.sum(square[::-1] @ wide[:, 1:]) + other[-1, 0] * (wide @ x[i])[1]
        total += np.sum(np.inner(square, square)) + np.sum(x[i, :2] @ wide)
    return total


def stored_in_matrices(x, w):
    """Matrices that are changed: elements, rows, as views, under other names, in lists and across branches."""
    m, kept, total = np.zeros((3, 3)), [], 0.0
    for i in range(len(x)):
        r = np.outer(x[i], w)
        r[0, 1] *= 2.0
        row = r[1]
        row[2] += r[0, 1]
        kept.append(r)
        s = r @ m + r
        if i % 2:
            s[1, 0] = s[0, 0] * w[1]
            m = s
        else:
            m = m + r.T
        r[2, 2] = 0.5
        m[i % 3, 0] += 0.1
        total += np.sum(s * kept[0]) + m[2, 0]
    return total + np.sum(m * m)


def kept_matrices(x, w):
    n = np.array([[1, 2], [3, 4]])
    s = np.array([[0.5, 1.5], [2.0, 1.0]], dtype=np.float32)
    state, total = np.array([[w[0], 0.0], [w[1], 1.0]]), 0.0
    for i in range(2):
        state = n @ state @ np.array([[1.0, x[i, 0]], [0.0, 1.0]])
        total += np.sum(s * state) + state[1, 1]
        if total > 1e9:
            break
    return total


@pytest.mark.parametrize("f", [shapes, stored_in_matrices, kept_matrices], ids=lambda f: f.__name__)
def test_matrices_that_others_refer_to(rng, f):
    looped(f, 0.2 + rng.random((4, 3)), 0.1 + rng.random(3))


def unequal(x, w):
    return np.sum(x[:2, :2] @ w)


def test_products_of_unequal_lengths_raise_as_numpy(rng):
    with pytest.raises(ValueError, match="matmul"):
        looped(unequal, rng.random((4, 3)), rng.random(3))


def test_an_item_that_nothing_reads_of_a_view_of_a_short_array():
    def f(a):
        pair = np.array([a, a * a])[:2]
        ones = [a for e in pair]  # noqa: F841
        return a * pair[1]

    np.testing.assert_allclose(s2s.grad(s2s.differentiable(f, backend="numba"))(1.5), 3 * 1.5**2, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(s2s.differentiable(f, backend="numba"), (1.5,), (1.0,))[1], 6.75, rtol=1e-12)


def test_items_of_what_is_kept_are_known_to_be_numbers(rng, monkeypatch):
    known, original = [], short_writing.Writer._item

    def item(self, *args):
        made = original(self, *args)
        known.append(self.context.value(made))
        return made

    monkeypatch.setattr(short_writing.Writer, "_item", item)
    derivatives.clear(turned)
    looped(turned, rng.random((4, 5)), rng.random(3), 0.0)
    assert {getattr(value, "type", None) for value in known} == {np.float64}
