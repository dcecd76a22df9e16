"""Tuples, lists and dicts as values, as arguments and as results."""

import numpy as np

from tests.bank.registry import M33, P3, V3, W3, case


@case(1.3, 0.4)
def tuple_value(x, y):
    pair = (x * y, x - y)
    return pair[0] * pair[1]


@case(1.3, 0.4)
def list_value(x, y):
    items = [x, y, x * y]
    return items[0] * items[-1] + items[1]


@case(1.3, 0.4)
def dict_value(x, y):
    d = {"a": x * y, "b": x}
    return d["a"] * d["b"]


@case(1.3, 0.4)
def dict_call(x, y):
    d = dict(a=x * y, b=y)
    return d["a"] * d["b"] + d.get("a") + d.get("missing", x)


@case(1.3, 0.4)
def nested_value(x, y):
    state = {"position": (x, [y, x * y]), "mass": 2.0}
    p, (q, r) = state["position"]
    return p * q * r * state["mass"]


@case((1.3, 0.4))
def tuple_argument(pair):
    return pair[0] ** 2 * pair[1]


@case([1.3, 0.4, 0.9])
def list_argument(items):
    return items[0] * items[1] + items[-1] ** 2


@case({"w": V3, "b": 0.4})
def dict_argument(params):
    return np.sum(params["w"] ** 2) * params["b"]


@case({"layers": [(M33, V3), (M33 * 0.5, W3)], "scale": 0.7}, P3)
def nested_argument(params, x):
    h = x
    for W, b in params["layers"]:
        h = np.tanh(W @ h + b)
    return np.sum(h) * params["scale"]


@case((1.3, (0.4, [V3, 2.0])), argnums=0)
def deep_argument(tree):
    a, (b, (v, c)) = tree
    return a * b * np.sum(v * v) + c * a


@case(([1.3, 0.4], {"k": 0.2}), 3.0)
def unused_parts(tree, x):
    return tree[0][1] ** 2 * x


@case((1.3, 3, "square"), argnums=0)
def mixed_kinds_in_tuple(t):
    x, n, kind = t
    return x**n if kind == "square" else x


@case(1.3, 0.4)
def tuple_result(x, y):
    return x * y, x - y


@case(1.3, V3)
def list_result(x, v):
    return [x * v, x * x]


@case(1.3, V3)
def dict_result(x, v):
    return {"a": x * v, "b": np.sum(v)}


@case(1.3, V3)
def nested_result(x, v):
    return {"a": (x * x, [v * x, 2.0 * v]), "b": x}


@case(V3, W3)
def array_result(v, w):
    return v * w + np.sin(v)


@case(M33, V3)
def matrix_result(m, v):
    return m * v


@case({"a": 1.3, "b": 0.4})
def same_structure_out(d):
    return {"a": d["a"] * d["b"], "b": d["b"]}


@case(1.3, 0.4)
def argument_returned(x, y):
    return x, y, x


@case(1.3)
def result_with_passive_parts(x):
    return x * x, 3, "label", None


@case(1.3)
@case(-1.3)
def tuple_of_branches(x):
    if x > 0:
        return x * x, x
    return x, np.sin(x)


@case((1.3, 0.4), (0.2, 2.1))
def tuple_concatenation(a, b):
    c = a + b
    return c[0] * c[3] + c[1] * c[2]


@case([1.3, 0.4])
def list_repetition(items):
    many = items * 2 + [2.0]
    return many[0] * many[2] + many[3] ** 2 * many[4]


@case([1.3, 0.4, 0.9, 1.7])
def list_slices(items):
    head, tail = items[:2], items[1:]
    back = items[::-1]
    return head[0] * tail[0] + back[0] * tail[-1] + len(tail) * head[1]


@case((1.3, 0.4, 0.9))
def length_and_membership(t):
    d = {"a": t[0], "b": t[1]}
    return d["a"] * len(t) if "a" in d and "c" not in d else t[2]


@case(1.3, 0.4)
def star_display(x, y):
    items = [x, *(y, x * y), *[2.0]]
    return items[1] * items[2] * items[3]


@case(1.3, 0.4)
def double_star_display(x, y):
    base = {"a": x, "b": y}
    d = {**base, "b": x * y, "c": 2.0}
    return d["a"] * d["b"] * d["c"] + base["b"]


@case(1.3, 0.4)
def tuple_from_list(x, y):
    t = tuple([x, y, x * y])
    return list(t)[2] * t[0]


@case(1.3)
def container_rebuilt_in_loop(x):
    state = (x, 0.5)
    for _ in range(4):
        state = (state[0] * state[1], np.sin(state[0]))
    return state[0] + state[1]


@case(1.3)
def dict_rebuilt_in_loop(x):
    state = {"y": x, "z": 1.0}
    for i in range(3):
        state = {"y": state["y"] * state["z"], "z": state["z"] + x * i}
    return state["y"] * state["z"]


@case(1.3, 0.4)
def container_in_branch(x, y):
    if x > y:
        pair = (x, y)
    else:
        pair = (y, x)
    return pair[0] ** 2 * pair[1]


@case((0.3, 0.8), 3)
def tuple_state_in_loop(state, n):
    for _ in range(n):
        x, v = state
        a = -np.sin(x)
        state = (x + 0.1 * v, v + 0.1 * a)
    return state[0] * state[1]


@case([V3, W3])
def index_chosen_by_loop(arrays):
    total = 0.0
    for i in range(3):
        total += np.sum(arrays[i % 2] ** (i + 1))
    return total


@case([0.3, 0.9, 1.7], 1)
def index_from_argument(items, i):
    return items[i] * items[i - 1] + items[i]


@case({"a": 1.3, "b": 0.4}, "b")
def key_from_argument(d, key):
    return d[key] ** 2 * d["a"]


@case([[0.1, 0.5], [1.7, 0.3]])
def list_of_lists(rows):
    return rows[0][1] * rows[1][0] + rows[1][1]


@case([0.4, 1.2, 2.3])
def array_from_list(items):
    return np.sum(np.array(items) ** 2) + np.array([items[0], 2.0, items[2]]) @ np.ones(3)


@case([[0.1, 0.5], [1.7, 0.3]])
def array_from_nested_list(rows):
    m = np.array(rows)
    return np.sum(m @ m)


@case((V3, W3))
def stack_of_tuple(arrays):
    return np.sum(np.stack(arrays) ** 2) + np.sum(np.concatenate(arrays)[1:4])


@case((), 1.3, argnums=1)
def empty_tuple(t, x):
    return x * len(t) + sum(t, x)


@case([0.9, 0.2, 1.4])
def sorted_passive_keys(items):
    d = {"b": items[0], "a": items[1]}
    total = items[2]
    for key in sorted(d):
        total = total * d[key] + 1.0
    return total


@case(0.7, {"b": 2.0})
def dicts_united(x, d):
    made = {"a": x, "b": x**2} | d
    made |= {"c": made["a"] * x}
    later = d | {"a": x**3}
    return made["a"] * made["b"] + made["c"] * later["a"] * later["b"]


def with_options(x, **options):
    given = {"scale": x} | options
    return given.pop("scale", 3.0) * given.pop("power", x)


@case(0.7)
def options_united(x):
    return with_options(x) + with_options(x, power=x**2) + with_options(x, scale=2.0)


@case(0.7)
def algebra_of_sets(x):
    odd, small, total = {1, 3, 5}, {1, 2, 3}, 0.0
    for power in sorted((odd | small) - {5}):
        total += x**power
    for power in sorted(odd & small | odd ^ small):
        total += power * x
    if odd - small == {5} and {1} < odd and not odd <= small:
        total *= x
    return total * len(odd.union(small, {7}).intersection([1, 7]).difference({7}))


@case(1.3)
def sets_that_change(x):
    chosen = {2}
    chosen.add(3)
    chosen.update([1, 4])
    chosen.discard(9)
    chosen.remove(4)
    chosen |= {5}
    chosen -= {1}
    return sum(x**power for power in sorted(chosen)) + x * len(chosen)


@case(1.3)
def names_and_keys_as_sets(x):
    d = {"a": x, "b": x**2, "c": 2.0}
    total = 0.0
    for name in sorted(d.keys() & {"a", "b", "z"}):
        total += d[name]
    return total * (3.0 if d.keys() >= {"a", "c"} else x)


@case(1.3)
def keys_compared(x):
    d, e = {"a": x, "b": x**2}, {"b": 3.0, "a": x}
    total = x * len(d.keys() | ["u"]) + x**2 * len({"u"} | d.keys())
    total += (d.keys() == {"a", "b"}) * x + 3.0 * x * (d.keys() == e.keys()) + 5.0 * x * (d.keys() != e.keys())
    return total + 7.0 * x * (list(d.keys()) == ["a", "b"]) + 11.0 * x * (list(d.keys()) == list(e.keys()))
