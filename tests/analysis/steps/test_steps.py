"""Steps that nothing was chosen for: remainders, cell numbers, library code, and what passes straight through. Every
expected derivative is written by hand."""

import functools
import itertools
import linecache
import math

import numpy as np
import pytest

import s2s

X = np.array([0.7, -1.3, 2.4, 5.9])
Y = np.array([1.0, 2.5, 4.0, 3.0, -1.0, 0.5, 2.0])
TWO_PI = 2.0 * np.pi
LOG_2 = math.log(2.0)
ONES = np.ones(4)


# --- remainders -----------------------------------------------------------------------------------------------------


def period_of_cell(x, p, c):
    return x - p * np.floor((x - c) / p) - c


def subtract_part(x, part):
    return x - part


def whole(x):
    return np.floor(x)


def wrapped(x, p):
    return x - p * np.floor(x / p)


class Box:
    def __init__(self, length):
        self.length = length
        self.per_length = 1.0 / length

    def image(self, d):
        return d - self.length * np.round(d * self.per_length)


def in_place(d, L):
    d = d + 0.0
    d -= L * np.round(d / L)
    return d


def in_place_item(d, L):
    d = d.copy()
    for i in range(len(d)):
        d[i] -= L * np.round(d[i] / L)
    return d


def in_place_column(d, L):
    d = np.stack([d, 2.0 * d], axis=1)
    d[:, 0] -= L * np.rint(d[:, 0] / L)
    return d[:, 0] + 0.0 * d[:, 1]


def in_place_view(d, L):
    d = d.copy()
    part = d[1:]
    part -= L * np.rint(part / L)
    return d


def in_while_loop(x):
    k = 0
    while k < 3:
        x = 1.5 * x
        x = x - np.floor(x)
        k += 1
    return x


def by_branch(x):
    k = math.floor(x) if x > 0.0 else math.ceil(x)
    return x - k


def by_conditional_zero(x):
    k = 0
    if x > 1.0:
        k = int(x)
    return x - k


def in_a_try(x):
    try:
        k = math.floor(x)
    except ValueError:
        k = 0
    return x - k


def in_a_one_trip_loop(x):
    k = 0
    for _ in range(1):
        k = math.floor(x)
    return x - k


def boxed(x):
    held = {"k": np.floor(x), "x": x}
    pair = [held["x"], held["k"]]
    return pair[0] - pair[1]


def by_closure(x):
    def part():
        return x - int(x)

    return part()


def modulo_by_hand(a, b):
    q = int(a / b)
    if a < 0.0:
        q -= 1
    return a - q * b


def held_between_bounds(t):
    i = np.clip(np.floor(t), 0, 4)
    return t - i


def stored_into(t):
    i = np.floor(t)
    i[i < 0] = 0.0
    return t - i


def triclinic(d, cell):
    d = np.stack([d, d + 0.3, 0.5 * d], axis=1)
    return np.sum(d - np.round(d @ np.linalg.inv(cell)) @ cell, axis=1)


def triclinic_given(d, cell, inverse):
    d = np.stack([d, d + 0.3, 0.5 * d], axis=1)
    return np.sum(d - np.round(d @ inverse) @ cell, axis=1)


def unwrapped(p):
    turns = np.round(np.diff(p) / TWO_PI)
    q = p.copy()
    q[1:] -= TWO_PI * np.cumsum(turns)
    return q


CELL = np.array([[2.0, 0.3, 0.0], [0.0, 1.7, 0.2], [0.1, 0.0, 2.2]])

OF_ARRAYS = {
    "floor": (lambda x: x - np.floor(x), ()),
    "ceil": (lambda x: x - np.ceil(x), ()),
    "rint": (lambda x: x - np.rint(x), ()),
    "round": (lambda x: x - np.round(x), ()),
    "round_decimals": (lambda x: x - np.round(x, 1), ()),
    "round_method": (lambda x: x - x.round(), ()),
    "trunc": (lambda x: x - np.trunc(x), ()),
    "fix": (lambda x: x - np.fix(x), ()),
    "modf": (lambda x: x - np.modf(x)[1], ()),
    "modf_unpacked": (lambda x: [x - w for f, w in [np.modf(x)]][0], ()),
    "astype": (lambda x: x - x.astype(int), ()),
    "asarray": (lambda x: x - np.asarray(x, dtype=np.int64), ()),
    "astype_of_floor": (lambda x: x - np.floor(x).astype(int), ()),
    "floordiv": (lambda x: x - (x // 0.7) * 0.7, ()),
    "floor_divide": (lambda x: x - 0.7 * np.floor_divide(x, 0.7), ()),
    "divmod": (lambda x: x - 0.7 * np.divmod(x, 0.7)[0], ()),
    "subtract": (lambda x: np.subtract(x, np.floor(x)), ()),
    "add": (lambda x: np.add(x, -np.floor(x)), ()),
    "negative": (lambda x: -(np.floor(x) - x), ()),
    "other_order": (lambda x: -np.floor(x) + x, ()),
    "mirrored": (lambda x: x + np.floor(-x), ()),
    "minimum_image": (lambda d, L: d - L * np.round(d / L), (1.5,)),
    "minimum_image_product": (lambda d, L: d - np.rint((1.0 / L) * d) * L, (1.5,)),
    "minimum_image_per": (lambda d, L, per: d - L * np.rint(d * per), (1.5, 1.0 / 1.5)),
    "minimum_image_in_place": (in_place, (1.5,)),
    "minimum_image_by_item": (in_place_item, (1.5,)),
    "minimum_image_by_column": (in_place_column, (1.5,)),
    "minimum_image_of_a_view": (in_place_view, (1.5,)),
    "minimum_image_lengths": (lambda d, L: d - L * np.round(d / L), (np.array([1.5, 1.1, 0.7, 2.0]),)),
    "minimum_image_of_an_object": (lambda d, L: Box(L).image(d), (1.5,)),
    "angle": (lambda a: a - 2 * np.pi * np.floor((a + np.pi) / (2 * np.pi)), ()),
    "angle_constant": (lambda a: a - TWO_PI * np.floor((a + np.pi) / TWO_PI), ()),
    "angle_digits": (lambda a: a - 6.2831853 * np.floor(0.159154943 * a + 0.5), ()),
    "shifted": (period_of_cell, (1.5, 0.2)),
    "affine": (lambda x, lo, dx: x - (lo + dx * np.floor((x - lo) / dx)), (0.1, 0.4)),
    "affine_scaled": (lambda x, lo, dx: dx * ((x - (lo + dx * np.floor((x - lo) / dx))) / dx), (0.1, 0.4)),
    "affine_other_end": (lambda x, lo, dx: -((lo + dx * (np.floor((x - lo) / dx) + 1)) - x), (0.1, 0.4)),
    "affine_of_a_range": (
        lambda x, lo, hi: x - lo - np.floor((x - lo) / ((hi - lo) / 8)) * ((hi - lo) / 8), (0.1, 2.0)
    ),
    "helper_subtracts": (lambda x: subtract_part(x, np.floor(x)), ()),
    "helper_rounds": (lambda x: x - whole(x), ()),
    "helper_both": (lambda x: wrapped(x, 1.5), ()),
    "boxed": (boxed, ()),
    "of_an_item": (lambda x: np.array([x[k] - np.floor(x[k]) for k in range(4)]), ()),
    "comprehension": (lambda x: np.array([v - int(v) for v in x]), ()),
    "stacked": (lambda x: np.sum(np.stack([x, 2.0 * x]) - np.floor(np.stack([x, 2.0 * x])), axis=0) / 3.0, ()),
    "reshaped": (lambda x: (x.reshape(2, 2) - np.floor(x.reshape(2, 2))).ravel(), ()),
    "item_of_step": (lambda x: np.array([x[k] - np.floor(x)[k] for k in range(4)]), ()),
    "sign_and_size": (lambda x: x - np.sign(x) * np.floor(np.abs(x)), ()),
    "where": (lambda x: x - np.where(x > 0.0, np.floor(x), np.ceil(x)), ()),
    "maximum": (lambda x: x - np.maximum(np.floor(x), 0.0), ()),
    "held_between_bounds": (held_between_bounds, ()),
    "stored_into": (stored_into, ()),
    "two_steps": (lambda x: x - 10.0 * np.floor(x / 10.0) - np.floor(x - 10.0 * np.floor(x / 10.0)), ()),
    "digit": (lambda x: np.floor(x) - 2.0 * np.floor(x / 2.0) + (x - np.floor(x)), ()),
    "halves": (lambda x: x - 0.5 * (np.floor(x) + np.ceil(x)), ()),
    "error_of_a_quantiser": (lambda x, s: x - s * np.clip(np.round(x / s), -8, 7), (0.3,)),
    "nearest_image_of_another": (lambda x, L: x - L * np.round((x - np.flip(x)) / L), (1.5,)),
    "whole_and_part": (lambda x: np.floor(x) + (x - np.floor(x)), ()),
    "unwrapped": (unwrapped, ()),
    "of_a_call_written_twice": (
        lambda x: divmod(5.0, 2.0)[1] * x - 2.0 * np.rint(divmod(5.0, 2.0)[1] * x / 2.0), ()),
    "triclinic": (lambda d, cell: triclinic(d, cell) / 2.5, (CELL,)),
    "triclinic_given": (lambda d, c, i: triclinic_given(d, c, i) / 2.5, (CELL, np.linalg.inv(CELL))),
}

def held_beside_values_of_many_sides(x):
    """The step that is subtracted, read from an array that holds it, is found among values which may be several."""
    t = np.where(np.array([x, 1.0]) > -0.4, np.array([x, 1.5]) - np.array([x, 1.5]).astype(int),
                 np.array([x, x]) - np.ceil(np.array([x, x])))
    v = t - np.ceil(t)
    k = int(abs(np.sin(x)))
    s = v[k] + v[k + 1] * x
    t = np.where(np.array([s, 1.0]) > -1.2, np.array([x * e for e in range(2)]), s)
    whole = t.copy()
    whole[:] = np.ceil(t)
    left = np.zeros(2)
    for i in range(2):
        left[i] = t[i] - whole[i]
    return left[1]


def of_what_a_loop_has_left(x):
    """An element with a step in it, read twice, is the same."""
    t = (x - np.ceil(x)) * 1.0
    whole, left = np.empty_like(t), np.zeros(4)
    np.copyto(whole, np.trunc(t))
    for k in range(4):
        left[k] = t[k] - whole[k]
    return np.array([left[k] - 0.9 * np.trunc(left[k] / 0.9) for k in range(4)])


OF_ARRAYS["of_what_a_loop_has_left"] = (of_what_a_loop_has_left, ())

OF_NUMBERS = {
    "held_beside_values_of_many_sides": (held_beside_values_of_many_sides, ()),
    "int": (lambda x: x - int(x), ()),
    "int64": (lambda x: x - np.int64(x), ()),
    "math_floor": (lambda x: x - math.floor(x), ()),
    "math_ceil": (lambda x: math.ceil(x) - x, (), -1.0),
    "math_trunc": (lambda x: x - float(math.trunc(x)), ()),
    "math_modf": (lambda x: x - math.modf(x)[1], ()),
    "python_round": (lambda x: x - round(x), ()),
    "python_round_digits": (lambda x: x - round(x, 1), ()),
    "python_divmod": (lambda x: x - 0.4 * divmod(x, 0.4)[0], ()),
    "augmented": (lambda x, k=0: [x := x - int(x)][0], ()),
    "in_while_loop": (in_while_loop, (), 1.5**3),
    "by_branch": (by_branch, ()),
    "by_conditional_zero": (by_conditional_zero, ()),
    "in_a_try": (in_a_try, ()),
    "in_a_one_trip_loop": (in_a_one_trip_loop, ()),
    "by_closure": (by_closure, ()),
    "modulo_by_hand": (lambda x: modulo_by_hand(x, 0.7), ()),
    "whole_given_back": (lambda x: 3.0 * int(x) + 3.0 * (x - int(x)), (), 3.0),
    "exp2": (lambda x: 2.0 ** round(x) * 2.0 ** (x - round(x)), (), lambda x: 2.0**x * math.log(2.0)),
    "exp": (
        lambda x: 2.0 ** np.rint(x / LOG_2) * np.exp(x - LOG_2 * np.rint(x / LOG_2)), (), math.exp
    ),
    "sine": (
        lambda x: math.sin(x - 2 * math.pi * math.floor(x / (2 * math.pi))) if x > -9.0 else x, (), math.cos
    ),
}


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", OF_ARRAYS)
def test_remainders_of_arrays(name):
    f, rest = OF_ARRAYS[name]
    cotangent, tangent = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 1.0, -1.0, 2.0])
    loss = lambda x: np.sum(cotangent * f(x, *rest))
    np.testing.assert_allclose(s2s.grad(loss)(X), cotangent, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(lambda x: f(x, *rest), (X,), (tangent,))[1], tangent, rtol=1e-12)


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("x", [1.37, -2.21])
def test_remainders_of_numbers(name, x):
    f, rest, *expected = OF_NUMBERS[name]
    slope = expected[0] if expected else 1.0
    slope = slope(x) if callable(slope) else slope
    assert s2s.grad(f)(x, *rest) == pytest.approx(slope, rel=1e-12)
    assert s2s.jvp(f, (x, *rest), (2.0, *(None for _ in rest)))[1] == pytest.approx(2.0 * slope, rel=1e-12)


def test_the_period_is_differentiated_too():
    """As for ``x % p``: minus the number of periods."""
    by_period = s2s.grad(lambda x, p: np.sum(x - p * np.floor(x / p)), argnums=(0, 1))(X, 0.7)
    np.testing.assert_allclose(by_period[0], ONES)
    assert by_period[1] == pytest.approx(-np.sum(np.floor(X / 0.7)))
    assert s2s.grad(lambda p: 7.3 - p * math.floor(7.3 / p))(2.0) == -3.0
    assert s2s.grad(lambda p: 7.3 - (7.3 // p) * p)(2.0) == -3.0
    by_grid = s2s.grad(lambda lo, dx: 7.3 - (lo + dx * math.floor((7.3 - lo) / dx)), argnums=(0, 1))(0.2, 2.0)
    assert by_grid == (-1.0, -3.0)


def nearest_image(a, b, L):
    return a - L * np.round((a - b) / L)


def test_the_nearest_image_moves_with_its_own_atom():
    moved = s2s.grad(lambda a, b: np.sum(nearest_image(a, b, 1.5) ** 2), argnums=(0, 1))(X, np.flip(X))
    np.testing.assert_allclose(moved[0], 2.0 * nearest_image(X, np.flip(X), 1.5))
    np.testing.assert_array_equal(moved[1], np.zeros(4))


# --- quotients and what is left ------------------------------------------------------------------------------------


def units_of_time(t):
    h = t // 3600
    m = t % 3600 // 60
    s = t % 60
    return h * 3600 + m * 60 + s


def units_by_divmod(t):
    m, s = divmod(t, 60)
    h, m = divmod(m, 60)
    return h * 3600 + m * 60 + s


def units_downwards(t):
    d, r = divmod(t, 86400)
    h, r = divmod(r, 3600)
    m, s = divmod(r, 60)
    return d * 86400 + h * 3600 + m * 60 + s


def units_of_quotients(t):
    return t // 60 // 60 * 3600 + t // 60 % 60 * 60 + t % 60


def split(t):
    return t // 3600, t % 3600 // 60, t % 60


def units_of_a_helper(t):
    h, m, s = split(t)
    return h * 3600 + m * 60 + s


def units_in_a_loop(t):
    total = 0.0
    for unit in (3600, 60, 1):
        total = total + t // unit * unit
        t = t % unit
    return total + t


def chosen_twice(t, on=True):
    return (t if on else 2.0 * t) - np.floor(t if on else 3.0 * t) - np.floor(t if t > 9.0 else 2.0 * t) + np.floor(
        t if t > 9.0 else 2.0 * t
    )


def summed_twice(t):
    return sum(t * e for e in [0.5, 0.25, 0.25]) - np.floor(sum(t * e for e in [0.5, 0.25, 0.25]))


def interpolated_and_wrapped(t):
    y = np.array([1.2, 0.3, 0.4])
    at = 1.0 + 0.9 * np.sin(0.3)
    i = min(int(at), 1)
    s = -(y[i] * t * (1.0 - (at - i)) + y[i + 1] * t * (at - i))
    return (s - np.floor(s)) / (s / t)


PUT_TOGETHER = {
    "units_of_time": units_of_time,
    "units_by_divmod": units_by_divmod,
    "units_downwards": units_downwards,
    "units_of_quotients": units_of_quotients,
    "units_of_a_helper": units_of_a_helper,
    "units_in_a_loop": units_in_a_loop,
    "floor_and_mod": lambda t: 0.3 * np.floor(t / 0.3) + np.mod(t, 0.3),
    "trunc_and_fmod": lambda t: 0.3 * np.trunc(t / 0.3) + np.fmod(t, 0.3),
    "np_divmod": lambda t: np.dot(np.stack(np.divmod(t, 0.3)).T, np.array([0.3, 1.0])),
    "modf": lambda t: np.modf(t)[0] + np.modf(t)[1],
    "chosen_twice": chosen_twice,
    "summed_twice": summed_twice,
}


@pytest.mark.parametrize("name", PUT_TOGETHER)
@pytest.mark.parametrize("t", [5000.7, 0.77, 94321.3])
def test_what_is_put_together_again_is_what_it_was(name, t):
    f = PUT_TOGETHER[name]
    assert s2s.grad(lambda t: float(f(t)))(t) == pytest.approx(1.0, rel=1e-12)
    assert s2s.jvp(f, (t,), (2.0,))[1] == pytest.approx(2.0, rel=1e-12)


def in_a_list(x):
    whole = []
    for v in x:
        whole.append(np.floor(v))
    return [a - b for a, b in zip(x, whole, strict=True)]


def in_a_list_of_all(x):
    return x - np.array([math.floor(v) for v in x])


def in_a_list_by_places(x):
    whole = [0.0] * 4
    for i, v in enumerate(x):
        whole[i] = np.floor(v)
    return [x[i] - whole[i] for i in range(4)]


def in_a_dict_by_keys(x):
    whole = {}
    for i, v in enumerate(x):
        whole[i] = round(v)
    return [x[i] - whole[i] for i in range(4)]


def in_a_list_of_numbers(x):
    cells = []
    for v in x:
        cells.append(int(v // 1))
    total = []
    for v, c in zip(x, cells, strict=True):
        total.append(v - c)
    return total


def side_by_side(x):
    both = np.stack([x, np.rint(x)])
    return both[0] - both[1]


def by_reduction(x):
    return functools.reduce(lambda a, b: a - b, [x, np.floor(x)])


def by_a_function_handed_over(x):
    return [a - b for a, b in zip(x, list(map(math.floor, x)), strict=True)]


def in_pairs(x):
    pairs = []
    for v in x:
        pairs.append((v, math.floor(v)))
    return [a - b for a, b in pairs]


def in_a_matrix_by_elements(x):
    m = np.outer(x, [1.0, 2.0])
    whole = np.zeros((4, 2))
    for i in range(4):
        for j in range(2):
            whole[i, j] = math.floor(m[i, j])
    return (m - whole)[:, 0]


def in_a_list_by_a_while_loop(x):
    whole, i = [], 0
    while i < len(x):
        whole.append(np.floor(x[i]))
        i += 1
    return [a - b for a, b in zip(x, whole, strict=True)]


def in_a_list_of_an_array(x):
    return [a - b for a, b in zip(x, np.floor(x).tolist(), strict=True)]


def element_by_element(x):
    return x - np.array([np.floor(x[0]), np.floor(x[1]), np.floor(x[2]), np.floor(x[3])])


def beside_a_loop_over_what_is_left(x):
    t = x * 1.0
    whole = {}
    for k in range(4):
        whole[k] = math.floor(t[k])
    left = t - np.array([whole[k] for k in range(4)])
    for v in left:
        both = np.array([x[0], v])
        rounded = np.empty_like(both)
        for j in range(2):
            rounded[j] = np.round(both[j])
    return left


def in_rows(x):
    rows = []
    for i in range(2):
        row = []
        for j in range(2):
            row.append(math.floor(x[2 * i + j]))
        rows.append(row)
    return [x[2 * i + j] - rows[i][j] for i in range(2) for j in range(2)]


def in_rows_of_a_matrix(x):
    m = np.outer(x, [1.0, 2.0])
    rows = [[math.floor(v) for v in row] for row in m]
    return (m - np.array(rows))[:, 0]


def in_rows_read_by_places(x):
    m = np.outer(x, [1.0, 2.0])
    rows = [[math.floor(m[i, j]) for j in range(2)] for i in range(4)]
    return [m[i][0] - rows[i][0] for i in range(4)]


def in_a_column_of_pairs(x):
    pairs = np.array([(v, math.floor(v)) for v in x])
    return pairs[:, 0] - pairs[:, 1]


def in_pairs_of_an_array(x):
    return [a - b for a, b in np.array([[v, np.floor(v)] for v in x])]


def in_columns(x):
    both = np.column_stack([x, np.floor(x)])
    return both[:, 0] - both[:, 1]


def in_a_last_axis(x):
    both = np.stack([x, np.floor(x)], axis=-1)
    return both[..., 0] - both[..., 1]


def in_a_middle_axis(x):
    m = np.outer(x, [1.0, 2.0])
    both = np.stack([m, np.floor(m)], axis=1)
    return (both[:, 0] - both[:, 1])[:, 0]


def in_another_shape(x):
    m = x.reshape(2, 2)
    return m.ravel() - np.floor(m).reshape(4)


def turned_over_twice(x):
    m = np.outer(x, [1.0, 2.0])
    return (m - np.floor(m.T).T)[:, 0]


def by_a_vectorized_function(x):
    return x - np.vectorize(math.floor)(x)


HELD = [
    in_rows, in_rows_of_a_matrix, in_rows_read_by_places, in_a_column_of_pairs, in_pairs_of_an_array, in_columns,
    in_a_last_axis, in_a_middle_axis, in_another_shape, turned_over_twice, by_a_vectorized_function,
    element_by_element, beside_a_loop_over_what_is_left, in_a_matrix_by_elements, in_a_list_by_a_while_loop,
    in_a_list_of_an_array, by_a_function_handed_over, in_pairs, in_a_list, in_a_list_of_all, in_a_list_by_places,
    in_a_dict_by_keys, in_a_list_of_numbers, side_by_side, by_reduction,
]  # fmt: skip


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_steps_that_containers_hold(f):
    def squares(x):
        return sum(v * v for v in f(x))

    left = np.array([float(v) for v in f(X)])
    np.testing.assert_allclose(s2s.grad(squares)(X), 2.0 * left, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(squares, (X,), (Y[:4],))[1], 2.0 * left @ Y[:4], rtol=1e-12)


def cells_in_a_dict(x):
    """The whole part of each number, in an array of which no type is known when the function is compiled."""
    whole = {}
    for k in range(len(x)):
        whole[k] = math.floor(x[k])
    return np.array([whole[k] for k in range(len(x))])


def converted_by_a_method(v):
    return v - v.astype(int)


def rounded_by_a_method(v):
    return v - v.round()


def converted_in_a_helper(v):
    return subtract_part(v, v.astype(np.int64))


def listed_of_all(v):
    whole = [round(a) for a in v]
    return v - np.array(whole)


def listed_and_read_by_places(v):
    whole = []
    for a in v[:]:
        whole.append(np.ceil(a))
    return [v[k] - whole[k] for k in range(len(v))]


def of_a_copy(v):
    return np.asarray(v) - np.trunc(v.copy())


def of_lists(v):
    return [a - b for a, b in zip(v.tolist(), np.rint(v).tolist(), strict=True)]


def of_one_of_two(v):
    w = v if v[0] > 0.0 else 2.0 * v
    return w - w.astype(int)


def of_some_together(v):
    both = np.concatenate([v[:2], v[2:]])
    return both.copy() - np.array([int(a) for a in both])


def of_a_sum_in_an_array(v):
    total, whole = sum([3.0 * a for a in v]), np.zeros((2, 2))
    whole[0, 1] = np.trunc(total)
    return (np.array([[0.5, total], [0.5, 0.5]]) - whole).ravel()


OF_NO_KNOWN_TYPE = [
    of_a_sum_in_an_array, of_some_together, converted_by_a_method, rounded_by_a_method, converted_in_a_helper,
    listed_of_all, listed_and_read_by_places, of_a_copy, of_lists, of_one_of_two,
]  # fmt: skip


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", OF_NO_KNOWN_TYPE, ids=lambda f: f.__name__)
def test_steps_of_what_has_no_known_type(f):
    """The remainder of a remainder: the type of the first one shows when the program runs only."""

    def squares(x):
        return sum(v * v for v in f(x - cells_in_a_dict(x)))

    expected = differences(squares, X)
    assert np.all(expected != 0.0)
    np.testing.assert_allclose(s2s.grad(squares)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(squares, (X,), (Y[:4],))[1], expected @ Y[:4], rtol=1e-7)


def test_methods_of_what_has_no_known_type_pass_straight_through_elsewhere():
    def f(x):
        v = 3.0 * (x - cells_in_a_dict(x))
        return np.sum(np.sin(v.astype(int)) * v) + np.sum(v.round(1) * v)

    v = 3.0 * (X - np.floor(X))
    whole = np.trunc(v)
    expected = 3.0 * (np.cos(whole) * v + np.sin(whole) + v + v.round(1))
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (Y[:4],))[1], expected @ Y[:4], rtol=1e-12)
    assert "astype_zero" not in s2s.source(f, X)


def test_the_derivative_of_a_remainder_keeps_to_it_where_no_type_is_known():
    def f(x):
        v = x - np.array([math.floor(a) for a in x])
        return np.sum((v - v.astype(int)) ** 3)

    left = X - np.floor(X)
    np.testing.assert_allclose(s2s.hvp(f, (X,), (Y[:4],)), 6.0 * left * Y[:4], rtol=1e-12)


def test_a_policy_is_obeyed_where_no_type_is_known():
    def f(x):
        v = x - np.floor(x)
        for _ in range(1):
            v = v - cells_in_a_dict(v)
        return np.sum((v - v.astype(int)) ** 2)

    np.testing.assert_array_equal(s2s.grad(s2s.nonsmooth("straight_through")(f))(X), np.zeros(4))


def test_a_step_of_a_list_that_is_written_twice():
    """What the list is made of was found at an index that is a step itself."""

    def f(t, y):
        s = 0.9 * y[int(t)]
        left = np.array([s * k for k in range(4)]) - np.trunc(np.array([s * k for k in range(4)]))
        return np.sum(left**2)

    expected = differences(lambda y: f(1.2, y), Y)
    assert expected[1] != 0.0
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1))(1.2, Y)[1], expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (1.2, Y), (1.0, Y))[1], expected @ Y, rtol=1e-7)


def test_a_step_beside_another_one_in_rows():
    """A sum in which what a list holds is no step."""

    def f(x):
        both = [[np.trunc(v) for v in row] for row in np.outer([x, x], [1.0, 1.7])]
        v = [both[i][1] for i in range(2)]
        return x / (1.5 + math.fmod(v[0] + v[1], 2.0)) - 0.5 * x

    slope = 1.0 / 1.5 - 1.2 * 3.4 / 1.5**2 - 0.5
    assert s2s.grad(f)(1.2) == pytest.approx(slope)
    assert s2s.jvp(f, (1.2,), (2.0,))[1] == pytest.approx(2.0 * slope)


def counted_list(x):
    whole = []
    for v in x:
        whole.append(np.floor(v))
    return sum(a * b for a, b in zip(x, whole, strict=True))


def counted_array(x):
    whole = np.floor(x)
    return np.sum(np.ones(len(whole)) * whole * x)


def largest(x):
    whole = np.floor(x)
    return whole[np.argmax(whole)] * x[3] + np.sum(whole[:3] * x[:3])


def in_order(x):
    whole = np.floor(x)
    return np.sum(whole[np.argsort(whole)] * x[np.argsort(x)])


@pytest.mark.parametrize("f", [counted_list, counted_array, largest, in_order], ids=lambda f: f.__name__)
def test_what_is_counted_or_compared_is_no_cell_number(f):
    np.testing.assert_allclose(s2s.grad(f)(X), X + np.floor(X), rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (Y[:4],))[1], (X + np.floor(X)) @ Y[:4], rtol=1e-12)


@pytest.mark.parametrize("each", [map, lambda f, x: np.vectorize(f)(x)], ids=["map", "vectorize"])
def test_a_function_handed_over_has_the_policy_of_the_place_that_hands_it(each):
    def f(x):
        return sum(each(np.floor, x))

    np.testing.assert_array_equal(s2s.grad(f)(X), np.ones(4))
    np.testing.assert_array_equal(s2s.grad(s2s.nonsmooth("zero")(f))(X), np.zeros(4))
    assert "straight through" in s2s.source(f, X)


DIFFERENCES = {
    "mod": lambda x: 1.5 * (x - np.ceil(x)) - 1.5 * (x % 0.9),
    "fmod first": lambda x: 1.5 * math.fmod(x, 0.9) - 1.5 * (x - np.floor(x)),
    "turned": lambda x: 1.5 * np.remainder(x, 1.7) - 1.5 * (-np.ceil(x) + x),
    "by hand": lambda x: (x - np.floor(x)) - (x - 2.0 * np.round(x / 2.0)),
}


@pytest.mark.parametrize("f", DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_of_remainders_stands_still(f):
    for x in (0.7, -1.3, 2.45):
        assert s2s.grad(f)(x) == 0.0
        assert s2s.jvp(f, (x,), (1.0,))[1] == 0.0


@pytest.mark.parametrize("name", sorted(PUT_TOGETHER.keys() - {"np_divmod", "chosen_twice", "summed_twice"}))
def test_what_is_put_together_of_arrays(name):
    t = np.array([5000.7, 0.77, 94321.3])
    f = PUT_TOGETHER[name]
    np.testing.assert_allclose(s2s.grad(lambda t: np.sum(f(t)))(t), np.ones(3), rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(f, (t,), (t,))[1], t, rtol=1e-12)


def test_a_step_of_what_is_made_twice():
    """What is rounded is chosen by a branch, or summed in a loop, once for the step and once beside it."""
    assert s2s.grad(interpolated_and_wrapped)(0.7) == pytest.approx(
        (interpolated_and_wrapped(0.7 + 1e-6) - interpolated_and_wrapped(0.7 - 1e-6)) / 2e-6, rel=1e-6
    )


def into_a_new_array(d, n):
    np.rint(d, out=n)
    return d - n


def into_itself(d, n):
    n[...] = d / 1.5
    np.round(n, out=n)
    np.multiply(n, 1.5, out=n)
    return np.subtract(d, n)


def as_a_whole(d, n):
    n[:] = np.rint(d)
    return d - n


def by_elements(d, n):
    r = np.zeros(4)
    for k in range(4):
        n[k] = round(d[k])
        r[k] = d[k] - n[k]
    return r


def in_place_by_elements(d, n):
    d = d.copy()
    for k in range(4):
        n[k] = np.rint(d[k] / 1.5)
        d[k] -= 1.5 * n[k]
    return d


def in_two_loops(d, n):
    d = d.copy()
    for k in range(4):
        n[k] = np.rint(d[k] / 1.5)
    for j in range(len(d)):
        d[j] -= 1.5 * n[j]
    return d


def elements_then_whole(d, n):
    for k in range(4):
        n[k] = round(d[k])
    return d - n


def truncated_elements_then_all_in_place(d, n):
    d = d * 1.0
    for k in range(4):
        n[k] = int(d[k])
    v = d
    v -= n
    return d


def decimals_then_whole(d, n):
    for k in range(4):
        n[k] = round(d[k], 1)
    return d - n


def in_a_row(d, n):
    held = np.zeros((2, 4))
    held[1] = np.rint(d)
    return d - held[1]


def in_a_dict(d, n):
    held = {"n": n}
    held["n"][:] = np.rint(d)
    return d - held["n"]


def all_of_it_in_place(d, n):
    d = d.copy()
    d[...] -= np.rint(d)
    return d


@pytest.mark.parametrize("f", [
    into_a_new_array, into_itself, as_a_whole, by_elements, in_place_by_elements, in_two_loops, elements_then_whole,
    truncated_elements_then_all_in_place, decimals_then_whole, in_a_row, in_a_dict, all_of_it_in_place,
], ids=lambda f: f.__name__)  # fmt: skip
def test_a_remainder_by_steps_that_an_array_holds(f):
    def loss(d):
        return np.sum(f(d, np.zeros(4)) ** 2)

    wanted = 2.0 * f(X, np.zeros(4))
    np.testing.assert_allclose(s2s.grad(loss)(X), wanted, rtol=1e-12)
    np.testing.assert_allclose(s2s.jacfwd(loss)(X), wanted, rtol=1e-12)


def test_steps_that_an_array_holds_pass_straight_through_elsewhere():
    def f(d):
        n = np.zeros(4)
        n[:] = np.rint(d)
        return np.sum(np.sin(n) * d)

    np.testing.assert_allclose(s2s.grad(f)(X), np.sin(np.rint(X)) + np.cos(np.rint(X)) * X, rtol=1e-12)


def test_another_element_is_no_remainder():
    def f(d):
        n = np.zeros(4)
        for k in range(4):
            n[k] = np.rint(d[k])
        return np.sum((d[1:] - n[:-1]) ** 2)

    left = 2.0 * (X[1:] - np.rint(X[:-1]))
    np.testing.assert_allclose(s2s.grad(f)(X), np.append(0.0, left) - np.append(left, 0.0), rtol=1e-12)


def rows_of_the_other_order(m):
    rows = []
    for i in range(2):
        row = []
        for j in range(2):
            row.append(math.floor(m[j, i]))
        rows.append(row)
    return m - np.array(rows)


def rows_read_in_the_other_order(m):
    rows = [[math.floor(v) for v in row] for row in m]
    return np.array([[m[i, j] - rows[j][i] for j in range(2)] for i in range(2)])


def rows_that_are_columns(m):
    return m - np.array([np.floor(m[:, j]) for j in range(2)])


def turned_over_once(m):
    return m - np.floor(m.T)


@pytest.mark.parametrize("f", [
    rows_of_the_other_order, rows_read_in_the_other_order, rows_that_are_columns, turned_over_once,
], ids=lambda f: f.__name__)  # fmt: skip
def test_an_element_of_the_matrix_turned_over_is_no_remainder(f):
    """Straight through, the derivative is that of ``m - m.T``."""

    def loss(m):
        return np.sum(f(m) ** 2)

    m, tangent = X.reshape(2, 2), Y[:4].reshape(2, 2)
    left = 2.0 * (m - np.floor(m.T))
    np.testing.assert_allclose(s2s.grad(loss)(m), left - left.T, rtol=1e-12)
    np.testing.assert_allclose(s2s.jvp(loss, (m,), (tangent,))[1], np.sum(left * (tangent - tangent.T)), rtol=1e-12)


def test_where_places_are_not_known_the_derivative_of_a_step_is_the_true_one():
    """The columns of a stack along another axis: ``x[0] - x[1]``, and the same of steps."""

    def f(x):
        three = np.stack([np.stack([x, x]), np.floor(np.stack([x, x]))], axis=1)
        return np.sum((three[..., 0] - three[..., 1]) ** 2)

    left = 2.0 * (X[0] - X[1])
    np.testing.assert_allclose(s2s.grad(f)(X)[:2], 2.0 * left * np.array([1.0, -1.0]), rtol=1e-12)


def test_the_type_of_a_number_that_is_converted_by_a_method():
    def f(t, y):
        i = np.floor(t).astype(int)
        return y[i] * (1.0 - (t - i)) + y[i + 1] * (t - i)

    assert s2s.grad(f)(1.25, Y) == Y[2] - Y[1] == s2s.jvp(f, (1.25, Y), (1.0, None))[1]


def test_quotients_alone_pass_straight_through():
    assert s2s.grad(lambda t: t // 60)(5000.7) == pytest.approx(1.0 / 60.0)
    assert s2s.grad(lambda t: t // 60 * 1.0 + np.sin(t % 50))(5000.7) == pytest.approx(
        1.0 / 60.0 + math.cos(5000.7 % 50)
    )
    assert s2s.grad(lambda t: t // 60 // 60)(5000.7) == pytest.approx(1.0 / 3600.0)


# --- straight through -----------------------------------------------------------------------------------------------


def range_of_values(x):
    """The fake quantisation of a range that is that of the values."""
    lo, step = np.min(x), 0.4
    return np.round((x - lo) / step) * step + lo


def levels_of_a_range(x, lo, hi):
    step = (hi - lo) / 16
    return np.clip(np.round((x - lo) / step), -4, 20) * step + lo


STRAIGHT = {
    "round": (lambda x: np.round(x), ()),
    "quantiser": (lambda x, s: s * np.round(x / s), (0.3,)),
    "quantiser_with_bounds": (lambda x, s: s * np.clip(np.round(x / s), -30, 30), (0.3,)),
    "zero_point": (lambda x, s, z: s * (np.clip(np.round(x / s) + z, 0, 255) - z), (0.3, 12.0)),
    "zero_point_inside": (lambda x, s, z: s * (np.round(x / s + z) - z), (0.3, 12.5)),
    "grid_with_an_origin": (lambda x, lo, dx: lo + dx * np.round((x - lo) / dx), (0.1, 0.4)),
    "levels_of_a_range": (levels_of_a_range, (-2.0, 6.1)),
    "range_of_values": (range_of_values, ()),
    "dither": (lambda x, noise: np.round(x + noise) - noise, (np.array([0.1, -0.2, 0.3, 0.4]),)),
    "offset": (lambda x: np.floor(x + 2.0) - 2.0, ()),
    "fake_quantisation": (lambda x: x + s2s.stop_gradient(np.round(x) - x), ()),
    "fake_quantisation_written_out": (lambda x: x + (np.round(x) - x), ()),
    "mask": (lambda x: np.where(np.round(x) > 100.0, 0.0, np.round(x)), ()),
    "given_factor": (lambda x, a: a * x + (1.0 - a) * np.floor(x), (0.3,)),
}


@pytest.mark.parametrize("name", STRAIGHT)
def test_what_is_no_remainder_passes_straight_through(name):
    f, rest = STRAIGHT[name]
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    places = (0,) if name == "dither" else tuple(range(1 + len(rest)))
    for argnums in ((0,), places):
        found = s2s.grad(lambda x, *rest: np.sum(weights * f(x, *rest)), argnums=argnums)(X, *rest)[0]
        if name == "range_of_values":  # the sum of all goes to the least value, and back: round(0) moves with nothing
            assert np.sum(found) == pytest.approx(np.sum(weights))
            np.testing.assert_allclose(np.delete(found, 1), np.delete(weights, 1))
        else:
            np.testing.assert_allclose(found, weights, rtol=1e-12)
        tangent = s2s.jvp(lambda x: f(x, *rest), (X,), (ONES,))[1]
        np.testing.assert_allclose(tangent, ONES, rtol=1e-12)


def itself(a):
    return a


def less_floor(a):
    return -np.floor(a)


SUMS_OF_THREE = {
    "value_twice": ((itself, itself, less_floor), 2.0),
    "another_value": ((np.sin, itself, less_floor), 1.0 + math.cos(0.37)),
    "value_twice_scaled": ((lambda a: 3.0 * a, itself, lambda a: -2.0 * np.floor(a)), 4.0),
    # np.floor(a + 1.25) - 1.25
    "grid_with_an_origin": ((itself, lambda a: -1.25 - a, lambda a: -np.ceil(-1.25 - a)), 1.0),
    "step_alone": ((itself, lambda a: -a, np.floor), 1.0),
    "less_left_than_the_step_takes": ((itself, lambda a: 2 * (-1.25 - a), lambda a: -2 * np.ceil(-1.25 - a)), -1.0),
}


def sums(p, q, r):
    return (
        lambda a: p(a) + q(a) + r(a),
        lambda a: p(a) + (q(a) + r(a)),
        lambda a: sum([p(a), q(a), r(a)]),
    )


@pytest.mark.parametrize("name", SUMS_OF_THREE)
def test_the_order_of_a_sum_decides_nothing(name):
    terms, slope = SUMS_OF_THREE[name]
    for order in itertools.permutations(terms):
        for f in sums(*order):
            assert s2s.grad(f)(0.37) == pytest.approx(slope)
            assert s2s.jvp(f, (0.37,), (1.0,))[1] == pytest.approx(slope)


def test_a_remainder_that_is_put_together_and_taken_apart_again_is_one():
    def f(a):
        y = -1.25 - a
        return a + (y - np.ceil(y)) - a

    assert s2s.grad(f)(0.37) == s2s.jvp(f, (0.37,), (1.0,))[1] == -1.0


@pytest.mark.parametrize("chosen", [True, False])
def test_what_rounds_a_step_or_another_value_is_a_step_of_its_own(chosen):
    def f(x):
        q = np.trunc(x) if chosen else 0.3 * x * x + 0.8
        return (x - q) + np.sin(np.floor(q))

    slope = 1.0 if chosen else 0.6 * 1.37
    wanted = (1.0 if chosen else 1.0 - slope) + np.cos(1.0) * slope
    np.testing.assert_allclose((s2s.grad(f)(1.37), s2s.jvp(f, (1.37,), (1.0,))[1]), wanted)


def test_a_remainder_of_what_one_of_two_remainders_decides():
    def f(a):
        whole = np.modf(a)[1]
        rest, more = np.modf(np.maximum(a % 1.7, whole % 1.7))
        t = a / (1.5 + (more + rest) ** 2)
        near = 1.37 * (t - 1.7 * round(t / 1.7))
        return 1.37 * (a - np.rint(a)) - 0.86 * (near - round(near))

    found = s2s.grad(f)(-0.671), s2s.jvp(f, (-0.671,), (1.0,))[1]
    np.testing.assert_allclose(found, (f(-0.671 + 1e-6) - f(-0.671 - 1e-6)) / 2e-6, rtol=1e-7)


def test_a_remainder_by_a_list_of_integers_that_is_written_item_by_item():
    """The store cannot be followed through loops: those of few iterations are written out."""
    def f(x):
        t = x * 1.0
        whole = [int(v) for v in t]
        rest = 1.37 * (t - np.array([whole[k] for k in range(3)]))
        other = rest[0:] * 1.0
        other[:] = 1.0
        return np.sum(rest * rest) + np.sum(other)

    x = np.array([0.76, 0.736, 1.095])
    wanted = 2.0 * 1.37**2 * (x - np.trunc(x))
    np.testing.assert_allclose(s2s.grad(f)(x), wanted)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (np.ones(3),))[1], np.sum(wanted))


def regularised(x):
    q = np.round(x)
    return np.sum(np.sin(q)) + 0.1 * np.sum((x - q) ** 2)


def test_a_step_may_be_both():
    """Straight through where the rounded value is used, a remainder where the error is."""
    q = np.round(X)
    np.testing.assert_allclose(s2s.grad(regularised)(X), np.cos(q) + 0.2 * (X - q))
    np.testing.assert_allclose(s2s.jvp(regularised, (X,), (ONES,))[1], np.sum(np.cos(q) + 0.2 * (X - q)))
    assert "np.round(x)" in s2s.source(regularised, X, mode="grad")


@pytest.mark.parametrize("decide", ["decorator", "call", "block", "around"])
def test_an_explicit_policy_is_obeyed_literally(decide):
    plain = lambda x: x - math.floor(x)
    by_call = lambda x: x - s2s.straight_through(math.floor)(x)

    def by_block(x):
        with s2s.nonsmooth("straight_through"):
            k = math.floor(x)
        return x - k

    if decide == "around":
        with s2s.nonsmooth("straight_through"):
            assert s2s.grad(plain)(1.3) == 0.0
    f = {"decorator": s2s.differentiable(plain, nonsmooth="straight_through"), "call": by_call, "block": by_block}
    if decide in f:
        assert s2s.grad(f[decide])(1.3) == 0.0
        assert s2s.jvp(f[decide], (1.3,), (1.0,))[1] == 0.0
        assert s2s.grad(lambda x: s2s.grad(lambda v: f[decide](v) ** 2)(x))(1.3) == 0.0
    assert s2s.grad(plain)(1.3) == 1.0


# --- cell numbers ---------------------------------------------------------------------------------------------------


def interpolated(t, y):
    i = int(t)
    w = t - i
    return y[i] * (1 - w) + y[i + 1] * w


def interpolated_many(t, y):
    i = np.clip(np.floor(t).astype(int), 0, len(y) - 2)
    w = t - i
    return np.sum(y[i] * (1 - w) + y[i + 1] * w)


def interpolated_by_float(t, y):
    i = np.clip(np.floor(t), 0, len(y) - 2)
    w = t - i
    j = i.astype(int)
    return np.sum(y[j] * (1 - w) + y[j + 1] * w)


def interpolated_affinely(t, y):
    i = int(t)
    return y[i] + (y[i + 1] - y[i]) * t - (y[i + 1] - y[i]) * i


def on_a_grid(t, y):
    lo, dx = 0.25, 0.5
    i = int((t - lo) / dx)
    return (y[i] * (lo + dx * (i + 1) - t) + y[i + 1] * (t - (lo + dx * i))) / dx


def periodic(t, y):
    i = math.floor(t)
    w = t - i
    return y[i % len(y)] * (1 - w) + y[(i + 1) % len(y)] * w


def advected(y):
    """One step of a semi-Lagrangian scheme on a periodic grid."""
    n = len(y)
    x = np.arange(float(n)) - 0.3 * y
    j = np.floor(x).astype(int)
    w = x - j
    return np.sum((y[j % n] * (1 - w) + y[(j + 1) % n] * w) ** 2)


def bilinear(p):
    a = np.arange(20.0).reshape(4, 5) ** 1.3
    i, j = int(p[0]), int(p[1])
    u, v = p[0] - i, p[1] - j
    return a[i, j] * (1 - u) * (1 - v) + a[i + 1, j] * u * (1 - v) + a[i, j + 1] * (1 - u) * v + a[i + 1, j + 1] * u * v


def deposited(x):
    h = np.zeros(8)
    for v in x:
        i = int(v)
        w = v - i
        h[i] += 1 - w
        h[i + 1] += w
    return np.sum(h * np.arange(8.0) ** 2)


def deposited_at(x):
    h = np.zeros(8)
    i = np.floor(x).astype(int)
    w = x - i
    np.add.at(h, i, 1 - w)
    np.add.at(h, i + 1, w)
    return np.sum(h * np.arange(8.0) ** 2)


def listed_cells(x):
    cells = [int(v) for v in x]
    return sum(Y[i] * (1 - (v - i)) + Y[i + 1] * (v - i) for i, v in zip(cells, x))


def by_key(t):
    table = {0: 1.0, 1: 2.0, 2: 5.0}
    k = int(t)
    return table[k] * t + k


def by_place(t):
    k = int(t)
    return [1.0, 2.0, 5.0][k] * t + k


def counted(t):
    n = int(t)
    total = 0.0
    for _ in range(n):
        total += t
    return total / n


def counted_by_while(t):
    n, k, total = int(t), 0, 0.0
    while k < n:
        total += t * t
        k += 1
    return total + n


def shaped(t):
    n = int(t)
    return np.sum(np.ones((n, 2))) * t + n


def repeated(t):
    n = round(t)
    return np.sum(np.repeat(Y, n)) * t + n


def rolled(t):
    k = int(t)
    return np.sum(np.roll(Y, k) * np.arange(7.0)) * t + 3 * k


def sliced(t):
    k = int(t)
    return np.sum(Y[:k]) * t + k


def taken(x):
    i = x.astype(int)
    return np.sum(np.take(Y, i) * x + i)


DEPOSIT = np.array([0.7, 1.3, 2.4, 5.9])
CELLS = {
    "interpolated": (lambda t: interpolated(t, Y), 2.3),
    "interpolated_many": (lambda t: interpolated_many(t, Y), np.array([0.3, 2.6, 4.1])),
    "interpolated_by_float": (lambda t: interpolated_by_float(t, Y), np.array([0.3, 2.6, 4.1])),
    "interpolated_affinely": (lambda t: interpolated_affinely(t, Y), 2.3),
    "on_a_grid": (lambda t: on_a_grid(t, Y), 1.9),
    "periodic": (lambda t: periodic(t, Y), 9.3),
    "advected": (advected, Y),
    "bilinear": (bilinear, np.array([1.3, 2.6])),
    "deposited": (deposited, DEPOSIT),
    "deposited_at": (deposited_at, DEPOSIT),
    "listed_cells": (listed_cells, DEPOSIT),
    "by_key": (by_key, 2.2),
    "by_place": (by_place, 2.2),
    "counted": (counted, 3.7),
    "counted_by_while": (counted_by_while, 3.7),
    "shaped": (shaped, 3.7),
    "repeated": (repeated, 3.2),
    "rolled": (rolled, 2.2),
    "sliced": (sliced, 3.7),
    "taken": (taken, DEPOSIT),
}


def differences(f, x, h=1e-5):
    if np.ndim(x) == 0:
        return (f(x + h) - f(x - h)) / (2 * h)
    return np.array([(f(x + h * d) - f(x - h * d)) / (2 * h) for d in np.eye(len(x))])


@pytest.mark.parametrize("name", CELLS)
def test_cell_numbers(name):
    f, x = CELLS[name]
    expected = differences(f, x)
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    tangent = 1.0 if np.ndim(x) == 0 else np.arange(1.0, len(x) + 1.0)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (tangent,))[1], np.sum(expected * tangent), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("moves", range(1, 9))
def test_a_cell_number_is_followed_over_moves_by_integers(moves):
    """Up to eight of them: the slope of the step is zero, as that of a cell number, and not one."""
    lines = [f"    k = {('k + 2.0', '3.0 * k', 'abs(k)', '-k')[m % 4]}" for m in range(moves)]
    text = "\n".join(["def f(t):", "    i = k = np.floor(t)", *lines, "    return Y[int(k) % 7] * t + i", ""])
    names = {"np": np, "Y": Y}
    file = f"<moves {moves}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    f, t = names["f"], 3.7
    assert s2s.grad(f)(t) == pytest.approx(differences(f, t), rel=1e-7)


def test_comparisons_make_no_cell_number():
    f = lambda x: np.sum(np.round(x) * (np.round(x) > 0.0)) + np.sum(np.round(x)[np.round(x) > 0.0])
    np.testing.assert_array_equal(s2s.grad(f)(X), 2.0 * (np.round(X) > 0.0))
    assert s2s.grad(lambda t: 2.0 ** int(t))(3.7) == pytest.approx(8.0 * math.log(2.0))


# --- second order, backends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [
    lambda f, x: s2s.grad(lambda v: s2s.grad(f)(v))(x),
    lambda f, x: s2s.grad(lambda v: s2s.jvp(f, (v,), (1.0,))[1])(x),
    lambda f, x: s2s.jvp(s2s.grad(f), (x,), (1.0,))[1],
    lambda f, x: s2s.hessian(f)(x),
])
def test_second_derivatives(second):
    assert second(lambda x: (x - math.floor(x)) ** 3, 2.3) == pytest.approx(6 * 0.3)
    assert second(lambda x: (x - 0.7 * round(x / 0.7)) ** 4, 2.3) == pytest.approx(12 * 0.2**2)
    assert second(lambda t: interpolated(t, Y) ** 2, 2.3) == pytest.approx(2.0)
    assert second(lambda x: math.sin(round(x)) + (x - round(x)) ** 3, 2.3) == pytest.approx(-math.sin(2) + 6 * 0.3)


@pytest.mark.parametrize("name", ["minimum_image", "minimum_image_by_item", "angle", "affine", "whole_and_part"])
def test_remainders_on_numba(name):
    f, rest = OF_ARRAYS[name]
    compiled = s2s.differentiable(lambda x: np.sum(X * f(x, *rest)), backend="numba")
    np.testing.assert_allclose(s2s.grad(compiled)(X), X, rtol=1e-12)


@pytest.mark.parametrize("name", ["interpolated", "interpolated_many", "deposited", "bilinear", "counted"])
def test_cell_numbers_on_numba(name):
    f, x = CELLS[name]
    np.testing.assert_allclose(s2s.grad(s2s.differentiable(f, backend="numba"))(x), differences(f, x), rtol=1e-7)


# --- library code ---------------------------------------------------------------------------------------------------

LIBRARY = """
import math

import numpy as np

def cell(x):
    return x * math.floor(x)

def twice(x):
    return cell(2.0 * x)

def cleaned(x):
    x = np.asarray(x)
    y = np.round(np.sin(x), np.finfo(x.dtype).precision) + np.sin(x).round(12) + np.around(x * x, decimals=10)
    return np.sum(y) + round(float(x[0]), 9) + np.round(x[1], 2) * x[1]
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A package that is installed, as far as its place says."""
    from s2s.analysis.steps import packages

    (tmp_path / "grids").mkdir()
    (tmp_path / "grids" / "__init__.py").write_text(LIBRARY)
    (tmp_path / "others.py").write_text("from grids import cell\ndef called(x):\n    return cell(x) + 0.0 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = f"{tmp_path}/"
    monkeypatch.setattr(packages, "_installed", lambda: (folder,))
    packages.package_of_file.cache_clear()
    yield __import__("grids"), __import__("others")
    packages.package_of_file.cache_clear()
    import sys

    del sys.modules["grids"], sys.modules["others"]


def test_steps_of_libraries_have_their_true_derivative(library):
    grids, others = library
    assert s2s.grad(lambda x: grids.cell(x))(2.5) == 2.0
    assert s2s.jvp(lambda x: grids.twice(x), (2.5,), (1.0,))[1] == 10.0
    assert s2s.grad(grids.cell)(2.5) == 4.5  # their own function
    assert s2s.grad(grids.twice)(2.5) == 20.0
    assert s2s.grad(others.called)(2.5) == 2.0  # a package that calls another one
    chosen = [math.sin, grids.cell]
    assert s2s.grad(lambda x, k: chosen[k](x))(2.5, 1) == 2.0  # known when the program runs
    with s2s.nonsmooth("straight_through"):
        assert s2s.grad(lambda x: grids.cell(x))(2.5) == 4.5
    assert s2s.grad(s2s.differentiable(lambda x: grids.cell(x), nonsmooth="straight_through"))(2.5) == 4.5
    source = s2s.source(lambda x: grids.cell(x), 2.5, mode="grad")
    assert "# __init__.py:7: library code: math.floor contributes no derivative" in source


def test_rounding_to_as_many_decimals_as_numbers_have_is_no_step(library):
    grids, _ = library
    x = np.array([0.3, 1.7])
    wanted = 2.0 * np.cos(x) + 2.0 * x + [1.0, np.round(x[1], 2)]
    np.testing.assert_allclose(s2s.grad(lambda x: grids.cleaned(x))(x), wanted, rtol=1e-12)
    v = np.array([0.4, -0.9])
    np.testing.assert_allclose(s2s.jvp(lambda x: grids.cleaned(x), (x,), (v,))[1], wanted @ v, rtol=1e-12)


def test_where_files_belong():
    import statistics
    import sysconfig

    from s2s.analysis.steps.packages import STANDARD, package_of_file

    assert package_of_file(statistics.__file__) == STANDARD
    assert package_of_file(np.__file__) == "numpy"
    assert package_of_file(f"{sysconfig.get_path('purelib')}/single.py") == "single"
    assert package_of_file(__file__) is None
    assert package_of_file("<string>") is None


# --- what is said ---------------------------------------------------------------------------------------------------


def told(t, y):
    i = int(t)
    q = round(t, 1)
    return y[i] * q + (t - 2.0 * math.floor(t / 2.0))


def test_the_head_lists_every_step():
    source = s2s.source(told, 2.3, Y, mode="grad")
    line = told.__code__.co_firstlineno
    assert source.splitlines()[:3] == [
        f"# test_steps.py:{line + 1}: a cell number: int contributes no derivative",
        f"# test_steps.py:{line + 2}: round is differentiated straight through",
        f"# test_steps.py:{line + 3}: a remainder: math.floor contributes no derivative",
    ]


def test_steps_without_effect_are_not_listed():
    source = s2s.source(lambda x: x * x if math.floor(x) > 1 else x, 2.3, mode="grad")
    assert "straight through" not in source


def test_check_grads_names_them(library):
    grids, _ = library
    report = s2s.check_grads(lambda t: told(t, Y) + grids.cell(t), (2.33,), order=1)
    assert {c.name: c.kind.partition(":")[0] for c in report.choices if c.name != "floor"} == {
        "int": "zero, a cell number", "round": "straight through, as if it were the identity",
    }
    assert {c.kind.partition(":")[0] for c in report.choices if c.name == "floor"} == {
        "zero, a remainder", "zero, library code"
    }


def with_a_stack(x):
    """Its adjoint takes values from a list."""
    y = x
    for _ in range(3):
        y = np.sin(y) * x
    return np.sum(y)


def test_a_remainder_beside_a_derivative_that_keeps_values_in_lists():
    inner = s2s.grad(with_a_stack)

    def f(x):
        return np.sum(inner(x) * (x - np.floor(x)))

    x = np.array([0.3, 1.7, -0.4])
    expected = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (np.ones(3),))[1], np.sum(expected), rtol=1e-6)
