"""Lists, dicts, deques and sets that change: methods, stores, aliases, joins of paths, loops."""

import collections
import copy
from collections import OrderedDict, defaultdict, deque

import numpy as np

from tests.bank.registry import P3, V3, case


@case(1.3, 0.4)
def item_store(x, y):
    items = [x, y, 2.0]
    items[0] = x * y
    items[-1] = items[0] + y
    return items[0] * items[1] + items[2] ** 2


@case(1.3, 0.4)
def augmented_item_store(x, y):
    items = [x, y]
    items[0] *= y
    items[1] += items[0]
    return items[0] * items[1]


@case(1.3)
def two_names_for_one_list(x):
    items = [x, 2.0]
    other = items
    other[0] = x**3
    items.append(x)
    return items[0] + other[2] * len(other)


@case(1.3)
def a_list_in_two_lists(x):
    row = [x, x * x]
    table = [row, row]
    table[0][1] = 5.0 * x
    return table[1][1] * table[0][0]


@case(1.3)
def append_and_read(x):
    items = []
    items.append(x)
    items.append(items[0] * x)
    items.append(items[-1] * x)
    return sum(items) + len(items) * x


@case(1.3, 0.4)
def insert_and_pop(x, y):
    items = [x, y]
    items.insert(1, x * y)
    first = items.pop(0)
    last = items.pop()
    return first * items[0] + last**2


@case(1.3)
def extend_list(x):
    items = [x]
    items.extend([x**2, x**3])
    items.extend((1.0, x))
    return items[1] * items[2] + items[4]


@case(1.3)
def extend_by_augmented_assignment(x):
    items = [x]
    same = items
    items += [x * x, 3.0]
    items *= 2
    return sum(same) + same[4] * x


@case(1.3, 0.4)
def reverse_and_clear(x, y):
    items = [x, y, x * y]
    kept = list(items)
    items.reverse()
    first = items[0]
    items.clear()
    return first * kept[0] + len(items) + y


@case(1.3, 0.4)
def slice_store(x, y):
    items = [1.0, 2.0, 3.0, 4.0]
    items[1:3] = [x, y, x * y]
    return items[1] * items[2] + items[3] * items[4]


@case(1.3)
def remove_known(x):
    names = ["a", "b", "c"]
    names.remove("b")
    factors = {"a": x, "b": 100.0, "c": x * x}
    return sum([factors[name] for name in names])


@case(1.3)
def sort_known(x):
    order = [2, 0, 1]
    order.sort()
    items = [x, x**2, x**3]
    total = 0.0
    for k, position in enumerate(order):
        total += items[position] * (k + 1)
    return total


@case(1.3)
def copies_are_apart(x):
    items = [x, [x * x]]
    shallow = items.copy()
    deep = copy.deepcopy(items)
    items[0] = 7.0
    items[1][0] = 11.0
    return shallow[0] * shallow[1][0] + deep[1][0]


@case(1.3, 0.4)
def dict_store(x, y):
    state = {}
    state["a"] = x * y
    state["b"] = state["a"] + x
    state["a"] += y
    return state["a"] * state["b"]


@case(1.3, 0.4)
def dict_update(x, y):
    state = dict(a=x)
    state.update({"b": y}, c=x * y)
    state |= {"d": x - y}
    return state["a"] * state["b"] + state["c"] * state["d"]


@case(1.3)
def dict_setdefault(x):
    state = {"a": x}
    state.setdefault("a", 100.0)
    state.setdefault("b", x * x)
    return state["a"] + state["b"] ** 2


@case(1.3, 0.4)
def dict_pop(x, y):
    state = {"a": x, "b": y, "c": x * y}
    a = state.pop("a")
    missing = state.pop("missing", 2.0)
    key, last = state.popitem()
    return a * missing + last * len(key) + sum(state.values())


@case(1.3)
def dict_of_lists(x):
    groups = defaultdict(list)
    for k, name in enumerate(["a", "b", "a"]):
        groups[name].append(x**k)
    return sum(groups["a"]) * sum(groups["b"])


@case(1.3)
def ordered_dict(x):
    state = OrderedDict(a=x)
    state["b"] = x * x
    total = 0.0
    for key, value in state.items():
        total += value * (2.0 if key == "b" else 3.0)
    return total


@case(1.3)
def counts_in_a_dict(x):
    counts = {}
    for word in ("a", "b", "a"):
        counts[word] = counts.get(word, 0) + 1
    return x ** counts["a"] + counts["b"]


@case(1.3)
def deque_as_a_window(x):
    window = deque([1.0, 2.0], maxlen=2)
    window.append(x)
    window.append(x * x)
    window.appendleft(3.0 * x)
    return window[0] * window[1]


@case(1.3)
def deque_both_ends(x):
    queue = collections.deque()
    queue.append(x)
    queue.appendleft(x * x)
    queue.extend([2.0, x**3])
    queue.rotate(1)
    return queue.popleft() * queue.pop() + queue[0]


@case(1.3)
def set_of_names(x):
    active = set()
    active.add("a")
    active.update(["b", "c"])
    active.discard("c")
    return x**2 if "a" in active and "c" not in active else x


@case(1.3)
def set_in_a_dict_that_a_loop_fills(x):
    held = {}
    held["names"] = set()
    active = held["names"]
    for _ in range(2):
        active.update("ab")
    return x**2 if "b" in active else x


@case(1.3)
def changed_by_a_function(x):
    def push(items, value):
        items.append(value)
        return len(items)

    stack = []
    push(stack, x)
    n = push(stack, x * x)
    return stack[0] * stack[1] * n


@case(1.3)
def changed_by_a_closure(x):
    log = []

    def note(value):
        log.append(value)
        return value * x

    total = note(x) + note(x * x)
    return total + log[0] * log[1]


@case(1.3)
def closure_sees_the_change(x):
    state = {"k": 1.0}
    scaled = lambda v: v * state["k"]  # noqa: E731
    state["k"] = x
    return scaled(x * x)


@case(1.3)
@case(-0.8)
def changed_on_one_path(x):
    items = [x, 1.0]
    if x > 0:
        items[0] = x * x
    else:
        items[1] = 3.0 * x
    return items[0] * items[1]


@case(1.3)
@case(-0.8)
def grown_on_one_path(x):
    items = [x, 2.0 * x]
    if x > 0:
        items.append(x**3)
    return sum(items)


@case(1.3)
@case(-0.8)
def one_of_two_lists(x):
    first, second = [x, 1.0], [x * x, 2.0]
    chosen = first if x > 0 else second
    return chosen[0] * chosen[1]


@case(1.3)
@case(-0.8)
def made_on_each_path(x):
    if x > 0:
        items = [x, x * x]
    else:
        items = [1.0, x]
    items[0] += x
    items.append(2.0 * x)
    return items[0] * items[1] + items[2]


@case(1.3)
@case(-0.8)
def dict_made_on_each_path(x):
    state = {"a": x, "b": 1.0} if x > 0 else {"a": 2.0, "b": x}
    state["a"] *= x
    return state["a"] + state["b"]


@case(1.3)
def item_changed_in_a_loop(x):
    state = [x, 1.0]
    for _ in range(5):
        state[0] = 0.5 * state[0] + state[1]
        state[1] *= x
    return state[0] * state[1]


@case(1.3)
def rebound_in_a_loop(x):
    state = [x, 1.0]
    for _ in range(5):
        state = [state[1], -0.5 * state[0] * x]
    return state[0] + state[1]


@case(1.3)
def swapped_in_a_loop(x):
    previous, current = [x], [x * x]
    for _ in range(4):
        previous, current = current, [previous[0] * 0.5 + current[0]]
    return previous[0] * current[0]


@case(1.3)
def dict_changed_in_a_loop(x):
    state = {"position": x, "velocity": 0.5}
    for _ in range(6):
        state["velocity"] -= 0.1 * state["position"]
        state["position"] += 0.1 * state["velocity"]
    return state["position"] * state["velocity"]


@case(1.5)
def grows_in_a_loop(x):
    items = [x]
    for _ in range(5):
        items.append(items[-1] * x)
    return sum(items) + items[2] * len(items)


@case(V3)
def grows_over_an_array(v):
    items = []
    for value in v:
        items.append(value * value)
    items.append(items[0] * items[1])
    return np.sum(np.array(items)) + items[-1]


@case(1.3)
def grows_twice_in_a_loop(x):
    items, n = [], 0
    for k in range(4):
        items.append(x * k)
        items.append(x**2)
        n = len(items)
    return sum(items) * n


@case(1.3)
def grows_in_a_while(x):
    items = [x]
    while len(items) < 6:
        items.append(0.7 * items[-1] + x)
    return items[-1] * items[2]


@case(1.3)
def grows_on_some_trips(x):
    items = []
    for k in range(6):
        if k % 2 == 0:
            items.append(x**k)
    return sum(items)


@case(1.3)
def stack_of_work(x):
    stack = [x, 2.0 * x, x * x]
    total = 0.0
    while stack:
        total += stack.pop() * len(stack)
    return total


@case(1.3)
def stored_at_a_run_time_index(x):
    items = [0.0] * 8
    items[0] = x
    for k in range(1, 8):
        items[k] = items[k - 1] * 0.5 + x * k
    return sum(items) + items[3]


@case(1.3)
def overwritten_at_a_run_time_index(x):
    items = [x, x * x, x**3]
    for k in range(3):
        items[k] = items[k] * items[0]
    return items[0] + 2.0 * items[1] + 3.0 * items[2]


@case(1.3)
def a_copy_from_before_a_loop(x):
    items = [x, x * x]
    kept = list(items)
    for k in range(3):
        items.append(items[-1] * 0.5 + kept[0])
    return sum(items) * sum(kept)


@case(1.3)
def snapshot_inside_a_loop(x):
    items, sums = [x], []
    for _ in range(4):
        sums.append(sum(items))
        items.append(items[-1] * x)
    return sum(sums)


@case(1.3)
def nested_lists_in_a_loop(x):
    grid = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(3):
            grid[i][j] = x * (i + 1) + x**j
    return grid[0][1] * grid[1][2] + grid[1][0]


@case(1.3)
def rows_made_in_a_loop(x):
    rows = []
    for k in range(3):
        row = [x * k, x + k]
        row.append(row[0] * row[1])
        rows.append(row)
    return sum([row[0] + row[2] for row in rows])


@case(1.3)
def lists_in_a_tuple(x):
    pair = ([x], {"a": x * x})
    pair[0].append(3.0 * x)
    pair[1]["a"] += x
    items, state = pair
    return items[0] * items[1] + state["a"]


@case(1.3)
def result_in_an_argument(x):
    def evaluate(value, out):
        out["f"] = value * value
        out["g"] = [value, out["f"]]

    out = {}
    evaluate(x, out)
    return out["f"] + out["g"][0] * out["g"][1]


@case(1.3)
def keyword_arguments_are_a_dict(x):
    def scaled(**options):
        options["scale"] = options.get("scale", 2.0) * x
        options.pop("name", None)
        return sum(options.values())

    return scaled(scale=x, name="f") + scaled(offset=x * x)


@case(1.3)
def deleted_by_pop_and_comprehension(x):
    items = [x, x * x, x**3]
    items.pop(1)
    squares = [item * item for item in items]
    squares.append(x)
    return sum(squares)


@case(P3)
def table_of_columns(p):
    table = {"a": [], "b": []}
    for value in p:
        table["a"].append(value)
        table["b"].append(np.log(value))
    return np.sum(np.array(table["a"]) * np.array(table["b"]))


@case(1.3)
def romberg_table(x):
    table = {}
    h = 1.0
    table[0, 0] = np.exp(x) * h
    for i in (1, 2):
        h *= 0.5
        table[i, 0] = np.exp(x * h) * h
        for j in range(1, i + 1):
            table[i, j] = (4.0**j * table[i, j - 1] - table[i - 1, j - 1]) / (4.0**j - 1.0)
    return table[2, 2]


@case(1.3)
def membership_and_identity(x):
    first, second = [x], [x]
    other = first
    factor = 2.0 if other is first and other is not second else 3.0
    state = {"a": 1}
    return factor * first[0] * (5.0 if "a" in state and "b" not in state else 7.0)


@case(1.3)
def zip_and_enumerate_of_lists(x):
    rows, factors = [[x], [x * x]], [2.0, 3.0]
    for row, factor in zip(rows, factors):
        row[0] *= factor
    for k, row in enumerate(rows):
        row.append(k + x)
    return rows[0][0] * rows[0][1] + rows[1][0] * rows[1][1]


@case(V3)
def rows_replaced_by_tables(x):
    rows = []
    for value in x:
        rows.append(value * x)
    for i, row in enumerate(rows):
        rows[i] = np.stack([row, row**2])
    total = 0.0
    for row in rows:
        total = total + np.sum(row**2)
    return total


@case(V3)
def rows_replaced_by_rows_of_another_length(x):
    rows = []
    for value in x:
        rows.append(value * x)
    for i, row in enumerate(rows):
        rows[i] = row[1:] * row[0]
    return np.sum(rows[0] ** 2) + np.sum(rows[1]) * np.sum(rows[2])


@case(V3)
def best_of_a_loop_that_changes_in_place(x):
    u, lowest = x.copy(), 1e9
    best = u * 1.0
    for k in range(4):
        u[k % 3] *= 0.5
        value = np.sum((u - 0.3) ** 2)
        u = u * 0.9
        if value < lowest:
            best, lowest = u, value
    return best @ x + lowest


@case(V3)
def merged_at_the_end_of_an_iteration(x):
    u, before = x.copy(), x * 0.0
    for k in range(4):
        u[k % 3] *= 0.5
        u = u * 0.9 + before
        if k % 2:
            before = u
    return before @ x + u @ u


class Fields:
    def __init__(self, now, then):
        self.now, self.then = now, then


@case(V3)
def zeros_swapped_with_an_attribute(x):
    a, b = x.copy(), np.zeros(3)
    held = Fields(b, None)
    for _ in range(2):
        a[:] = x
        held.now, a = a, held.now
    return np.sum(b**2)


@case(V3)
def fields_of_zeros_swapped(x):
    fields = Fields(np.zeros(5), np.zeros(5))
    fields.now[0] = 1.0
    for _ in range(4):
        u, new = fields.now, fields.then
        new[1:-1] = u[1:-1] + x[0] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        new[0] = x[1]
        fields.now, fields.then = fields.then, fields.now
    return np.sum(fields.now**2) + x[2]


@case(V3)
def zeros_swapped_with_an_item(x):
    a, b = np.ones(3), np.zeros(3)
    state = {"v": b}
    for _ in range(2):
        a += x
        state["v"], a = a, state["v"]
    return np.sum(b**2) + a @ x


@case(V3)
def zeros_that_rotate_in_a_deque(x):
    rows = deque([np.zeros(3), np.zeros(3), np.ones(3)])
    last = rows[-1]
    for k in range(4):
        rows[0][k % 3] += x[k % 3] * rows[1][0] + x[1]
        rows.append(rows.popleft())
    return np.sum(last**2) + rows[0] @ x


@case(V3)
def zeros_that_a_nested_function_swaps(x):
    front, back = np.zeros(3), np.zeros(3)
    first = front

    def step(t):
        nonlocal front, back
        back[:] = front * 0.5 + t
        front, back = back, front

    for k in range(3):
        step(x[k] * x)
    return first @ first + front @ x


@case(V3)
def swapped_and_bound_to_one(x):
    a, c = x.copy(), x + 1.0
    total = 0.0
    for _ in range(4):
        total = total + c @ x
        c, a = a, c
        c = a
    return total


@case(V3)
def pairs_of_a_comprehension_unpacked_in_a_loop(x):
    z = x
    for _ in range(3):
        p = [(2.0 * z, 0.5 * z) for _ in range(2)]
        r, u = p
        z = r[0] * u[1]
    return np.sum(z)


@case(V3)
def appended_pairs_unpacked_at_once(x):
    p = []
    for k in range(2):
        p.append((x * (k + 1.0), x * x))
    (a, b), (c, d) = p
    return np.sum(a * d + b * c)


@case(V3)
def one_part_of_a_pair_is_no_float(x):
    p = [(x * k, k) for k in range(3)]
    (a, b), q, (e, _) = p
    return np.sum(a * b + q[0] * q[1] * e)


@case(V3)
def triples_unpacked(x):
    p = []
    for k in range(3):
        p.append((x[k], x * k, x[k] ** 2))
    first, (_, d, e), last = p
    return first[0] * last[2] + np.sum(d) * e


@case(V3)
def pairs_carried_by_a_loop(x):
    state = [(x, x * 2.0)] * 2
    for _ in range(3):
        (a, b), (c, d) = state
        state = [(a * b, c), (d + a, b)]
    return np.sum(state[0][0] + state[1][1])
