"""Arrays held in lists, tuples, dicts, attributes and closures, and changed through them."""

from dataclasses import dataclass

import numpy as np

from tests.inplace.pairs import M33, V3, V4, V5, W3, mutating, pure


@mutating(V3, W3)
def in_a_tuple(x, w):
    a = x.copy()
    pair = (a, w.copy())
    pair[0][0] = w[1]
    pair[1][:] = a * pair[1]
    return np.sum(a * pair[1])


@pure
def in_a_tuple_pure(x, w):
    a = np.concatenate([w[1:2], x[1:]])
    return np.sum(a * a * w)


@mutating(V3, W3)
def unpacked_from_a_tuple(x, w):
    state = (x.copy(), w.copy())
    u, v = state
    u += v
    v[0] = u[0] ** 2
    return np.sum(state[0] * state[1])


@pure
def unpacked_from_a_tuple_pure(x, w):
    u = x + w
    return np.sum(u * np.concatenate([u[:1] ** 2, w[1:]]))


@mutating(V3)
def list_of_rows_in_a_loop(x):
    rows = [x * 1.0, x**2, np.ones(3)]
    for k in range(1, 3):
        rows[k][:] = rows[k] * rows[k - 1]
        rows[k - 1][0] = 0.5
    return rows[0] + rows[1] * rows[2]


@pure
def list_of_rows_in_a_loop_pure(x):
    first = np.concatenate([np.array([0.5]), x[1:]])
    second = x**3
    return first + np.concatenate([np.array([0.5]), second[1:]]) * second


@mutating(V4)
def loop_over_a_list_of_arrays(x):
    a, b = x[:2].copy(), x[2:] * 2.0
    for part in [a, b]:
        part *= part[0]
        part[1] += 1.0
    return np.sum(a * b)


@pure
def loop_over_a_list_of_arrays_pure(x):
    a, b = x[:2] * x[0], 4.0 * x[2:] * x[2]
    return np.sum((a + np.array([0.0, 1.0])) * (b + np.array([0.0, 1.0])))


@mutating(V5, 0.8)
def changed_by_a_closure(x, s):
    u = x.copy()

    def relax(k):
        u[k] = s * u[k - 1] + u[k] ** 2

    for k in range(1, 4):
        relax(k)
    return u


@pure
def changed_by_a_closure_pure(x, s):
    b = s * x[0] + x[1] ** 2
    c = s * b + x[2] ** 2
    d = s * c + x[3] ** 2
    return np.stack([x[0], b, c, d, x[4]])


@mutating((V3, W3), {"m": M33})
def containers_as_arguments(pair, options):
    pair[0][1:] *= pair[1][0]
    options["m"][0] = pair[0]
    return options["m"] @ pair[1]


@pure
def containers_as_arguments_pure(pair, options):
    first = np.concatenate([pair[0][:1], pair[0][1:] * pair[1][0]])
    return np.stack([first, options["m"][1], options["m"][2]]) @ pair[1]


@mutating(V3)
def returned_in_a_tuple(x):
    y = x.copy()
    z = y
    y[0] = x[1] * x[2]
    w = y.copy()
    z *= 2.0
    return y, w


@pure
def returned_in_a_tuple_pure(x):
    w = np.concatenate([x[1:2] * x[2:], x[1:]])
    return w * 2.0, w


@mutating(V3)
def result_changed_after_it_was_read(x):
    y = x**2
    total = y.sum()
    y[1] = total * x[0]
    mean = y.mean()
    y[:] = 0.0
    return total * mean


@pure
def result_changed_after_it_was_read_pure(x):
    total = np.sum(x**2)
    return total * (x[0] ** 2 + total * x[0] + x[2] ** 2) / 3.0


@mutating(V3, W3)
def in_a_list(x, w):
    parts = [x.copy(), w.copy(), np.zeros(3)]
    parts[2][1:] = parts[0][:2] * parts[1][1:]
    parts[0][0] *= parts[2][1]
    parts[1] *= 2.0
    return np.sum(parts[0] * parts[1]) + np.sum(parts[2])


@pure
def in_a_list_pure(x, w):
    p = x[:2] * w[1:]
    first = np.concatenate([x[:1] * p[:1], x[1:]])
    return 2.0 * np.sum(first * w) + np.sum(p)


@mutating(V3, 1.2)
def in_a_dict(x, s):
    state = {"u": x.copy(), "v": np.zeros(3)}
    state["v"][1:] = state["u"][:-1] * s
    state["u"] *= state["v"]
    v = state["v"]
    v += 1.0
    return state["u"] + state["v"] ** 2


@pure
def in_a_dict_pure(x, s):
    v = np.concatenate([np.zeros(1), x[:-1] * s])
    return x * v + (v + 1.0) ** 2


@mutating(V3)
def collected_in_a_list(x):
    u = x.copy()
    history = []
    for k in range(3):
        u[k] = np.sin(u[k - 1])
        history.append(u.copy())
    return np.sum(np.array(history) * np.arange(1.0, 4.0)[:, None])


@pure
def collected_in_a_list_pure(x):
    a = np.sin(x[2])
    b = np.sin(a)
    c = np.sin(b)
    return (a + x[1] + x[2]) + 2.0 * (a + b + x[2]) + 3.0 * (a + b + c)


@mutating(V3)
def one_array_many_times_in_a_list(x):
    u = x.copy()
    history = []
    for k in range(3):
        u[k] = u[k - 1] * 2.0
        history.append(u)
    return history[0][0] * history[1][1] + np.sum(history[2])


@pure
def one_array_many_times_in_a_list_pure(x):
    return 2.0 * x[2] * 4.0 * x[2] + 14.0 * x[2]


@mutating([V3, W3])
def list_as_argument(parts):
    parts[0] += parts[1]
    for part in parts:
        part[0] *= 2.0
    return np.sum(parts[0] * parts[1])


@pure
def list_as_argument_pure(parts):
    return np.sum((parts[0] + parts[1]) * parts[1] * np.array([4.0, 1.0, 1.0]))


@dataclass
class Field:
    """A grid function with its spacing."""

    values: np.ndarray
    spacing: float

    def smooth(self):
        self.values[1:-1] = 0.5 * (self.values[2:] + self.values[:-2]) / self.spacing

    def scale(self, factor):
        self.values *= factor
        return self


@mutating(V5, 1.4)
def changed_by_methods(x, h):
    field = Field(x.copy(), h)
    field.smooth()
    field.scale(h).smooth()
    field.values[0] = 0.0
    return field.values


@pure
def changed_by_methods_pure(x, h):
    y = np.concatenate([x[:1], 0.5 * (x[2:] + x[:-2]) / h, x[-1:]]) * h
    return np.concatenate([np.zeros(1), 0.5 * (y[2:] + y[:-2]) / h, y[-1:]])
