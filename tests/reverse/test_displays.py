"""Arrays made of nested displays, and arrays taken apart: item by item in reverse, with nothing kept for it."""

import numpy as np
import pytest

import s2s

ANGLES = np.array([0.3, -0.7, 1.1])
STATE = np.array([[0.3, -1.2, 2.0, 0.1], [1.5, 0.4, -0.7, 0.8], [0.2, 0.9, -0.4, 1.3]])


def rotations(angles):
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.asarray(((cy, 0.0, sy), (0.0, 1.0, 0.0), (-sy, 0.0, cy)))
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return np.sum((about_z @ about_y @ about_x) * np.arange(9.0).reshape(3, 3))


def rates(state):
    x, y, z = state
    return np.stack((10.0 * (y - x), x * (1.2 - z) - y, x * y - 0.3 * z))


def of_steps(state):
    for _ in range(3):
        half = rates(state + 0.01 * rates(state))
        state = state + 0.02 * half
    return np.mean(state**2)


def along_the_last_axis(state):
    x, y, z = state
    pairs = np.stack([x * y, np.sin(z)], axis=-1)
    return np.sum(pairs[..., 0] ** 2 * pairs[..., 1])


def one_number_in_each_row(state):
    x, y, z = state
    return np.sum(np.array([x[0] * y[0], np.sum(y), 2.0 * z[1]]) ** 3)


def rows_of_arrays(state):
    x, y, z = state
    return np.sum(np.array([x, y * z]) * np.array([z, np.ones(4)]))


def used_before_it_is_taken_apart(state):
    square = state * state
    total = np.sum(square**2)
    x, y, z = square
    return total + np.sum(x * y * z)


def taken_apart_twice(state):
    square = np.sin(state)
    x, y, z = square
    u, v, w = square
    return np.sum(x * y * z) + np.sum(u * w**2) + np.sum(v)


def only_some_items(state):
    x, _, z = np.sin(state)
    return np.sum(x * z)


def numbers_that_reach_all(state):
    x, y, z = np.sin(state)
    return np.sum(x) + 2.0 * np.sum(y) + np.mean(z)


def changed_afterwards(state):
    square = state * state
    x, y, z = square
    total = np.sum(x * y * z)
    square[1] *= 2.0
    return total + np.sum(square**2)


def chosen_arrays(state):
    return np.sum(np.select([state > 0.5, state < 0.0], [state * state, np.sin(state)], state**3) * state)


def chosen_by_name(state):
    return np.sum(np.select((state > 0.5, state < 0.0), (3.0, np.sin(state)), default=state**3) * state)


def chosen_and_stretched(state):
    row = state[0]
    return np.sum(np.select([row > 0.5, state < 0.0], [row * 2.0, np.sin(state)]) * state)


def chosen_of_lists_from_elsewhere(state):
    choices = [state * k for k in range(2)]
    return np.sum(np.select([state > 0.5, state < 0.0], choices, np.sum(state)) * state)


FUNCTIONS = [
    (chosen_arrays, STATE), (chosen_by_name, STATE), (chosen_and_stretched, STATE),
    (chosen_of_lists_from_elsewhere, STATE),
    (rotations, ANGLES), (of_steps, STATE), (along_the_last_axis, STATE), (one_number_in_each_row, STATE),
    (rows_of_arrays, STATE), (used_before_it_is_taken_apart, STATE), (taken_apart_twice, STATE),
    (only_some_items, STATE), (numbers_that_reach_all, STATE), (changed_afterwards, STATE),
]


def differences(f, x, step=1e-6):
    made = np.empty_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        made[at] = (f(up) - f(down)) / (2.0 * step)
    return made


@pytest.mark.parametrize("f, x", FUNCTIONS, ids=lambda f: getattr(f, "__name__", ""))
def test_gradients_are_right(f, x):
    expected, direction = differences(f, x), np.cos(np.arange(x.size)).reshape(x.shape)
    gradient = s2s.grad(f)
    found = gradient(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (direction,))[1], np.sum(found * direction), rtol=1e-10)
    again = differences(lambda x: np.sum(gradient(x) * direction), x)
    np.testing.assert_allclose(s2s.hvp(f, (x,), (direction,)), again, rtol=1e-6, atol=1e-6)


def test_single_precision_stays():
    x = STATE.astype(np.float32)
    gradient = s2s.grad(of_steps)(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, s2s.grad(of_steps)(STATE), rtol=1e-4)


@pytest.mark.parametrize("f, x", [(rotations, ANGLES), (of_steps, STATE)], ids=["rotations", "of_steps"])
def test_neither_lists_nor_shapes_are_kept(f, x):
    gradient = s2s.grad(f)
    gradient(x)
    assert "rt." not in gradient.source and "zeros_like" not in gradient.source


# --- lengths that a loop carries --------------------------------------------------------------------------------------


def power_iteration(v, a):
    for _ in range(3):
        v = a @ v + 0.1 * v
    return np.sum(v**3)


def test_a_loop_carries_arrays_of_one_length():
    v, a = np.array([0.3, -1.2, 0.5]), STATE[:, :3]
    gradient = s2s.grad(power_iteration)
    np.testing.assert_allclose(gradient(v, a), differences(lambda v: power_iteration(v, a), v), rtol=1e-6)
    assert "rt." not in gradient.source


def widening(v, w, steps):
    total = 0.0
    for _ in range(steps):
        total = total + np.sum(v**2) * np.sum(v)
        v = w * v[0]
    return total + np.sum(v * v)


def test_a_loop_carries_arrays_of_other_lengths_too():
    gradient = s2s.grad(widening, argnums=(0, 1))
    for n, m, steps in ((3, 3, 2), (3, 4, 2), (2, 5, 1), (4, 2, 0), (3, 3, 3), (5, 2, 2)):
        v, w = np.sin(np.arange(1.0, n + 1)), np.cos(np.arange(1.0, m + 1))
        v_bar, w_bar = gradient(v, w, steps)
        by_v = differences(lambda v, w=w, s=steps: widening(v, w, s), v)
        by_w = differences(lambda w, v=v, s=steps: widening(v, w, s), w)
        np.testing.assert_allclose(v_bar, by_v, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(w_bar, by_w, rtol=1e-5, atol=1e-8)


def chain(relatives, parents):
    """Transformations of joints by those of their parents, in a list that grows."""
    absolutes = []
    for k in range(len(parents)):
        if parents[k] < 0:
            absolutes.append(relatives[k])
        else:
            absolutes.append(absolutes[parents[k]] @ relatives[k])
    total = 0.0
    for k in range(len(parents)):
        total = total + np.sum(np.sin(absolutes[k]))
    return total


def test_items_of_a_growing_list_have_one_shape():
    relatives, parents = np.sin(np.arange(36.0)).reshape(4, 3, 3), np.array([-1, 0, 1, 0])
    gradient = s2s.grad(chain)
    found = gradient(relatives, parents)
    np.testing.assert_allclose(found, differences(lambda r: chain(r, parents), relatives), rtol=1e-6, atol=1e-8)
    assert "unbroadcast" not in gradient.source and "outline" not in gradient.source and "rt.add" not in gradient.source


def either(x, y, flag):
    z = x if flag else y
    return np.sum(z * z) + np.sum(x * y) + np.sum(z * y)


def test_a_branch_gives_one_of_two_arrays_of_one_length():
    gradient = s2s.grad(either, argnums=(0, 1))
    for n in (4, 3):
        x, y = np.sin(np.arange(1.0, n + 1)), np.cos(np.arange(1.0, n + 1))
        for flag in (True, False):
            x_bar, y_bar = gradient(x, y, flag)
            np.testing.assert_allclose(x_bar, differences(lambda x, y=y, g=flag: either(x, y, g), x), rtol=1e-6)
            np.testing.assert_allclose(y_bar, differences(lambda y, x=x, g=flag: either(x, y, g), y), rtol=1e-6)
    with pytest.raises(ValueError, match="broadcast"):
        gradient(np.ones(3), np.ones(4), True)
