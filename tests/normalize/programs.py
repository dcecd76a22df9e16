"""Small functions on integers and lists, each with several arguments: control flow in all its forms.

``PROGRAMS`` holds them. They run three ways: as Python, as IR in named form, and as IR in SSA form.
"""

from collections.abc import Callable
from typing import Any

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = []


def runs(*inputs):
    """Register a function with its inputs: each a tuple of arguments, or the one argument."""

    def register(f):
        PROGRAMS.append((f, [args if isinstance(args, tuple) else (args,) for args in inputs]))
        return f

    return register


# --- early returns ------------------------------------------------------------------------------------------


@runs(-1, 0, 1, 20)
def early_returns(x):
    if x < 0:
        return "negative"
    if x == 0:
        return "zero"
    y = x * 2
    if y > 10:
        return "large"
    return y


@runs(1, -1)
def return_in_both(x):
    if x > 0:
        return x
    else:
        return -x
    return "dead"


@runs(1, -1)
def return_in_else(x):
    if x > 0:
        x = x + 1
    else:
        return "no"
    return x


@runs((0, 0), (0, 1), (1, 0), (1, 1))
def return_on_some_paths(a, b):
    if a:
        if b:
            return "both"
        x = 2
    else:
        x = a + b
    y = x * 10
    return y + a


@runs((0, 0), (0, 1), (1, 0), (1, 1))
def return_on_some_paths_of_both(a, b):
    x = 0
    if a:
        if b:
            return "both"
        x += 1
    else:
        if b:
            return "b"
        x += 2
    x *= 10
    return x


@runs((0, 0), (0, 1), (1, 0), (1, 1))
def shared_return(a, b):
    if a:
        if b:
            return 1
    return 2


@runs(0, 1)
def no_return_at_the_end(x):
    if x:
        return x


@runs(1)
def no_return(x):
    x + 1


@runs(0, 1, 2, 3)
def raise_or_return(x):
    if x == 0:
        raise ValueError("zero")
    elif x == 1:
        return "one"
    elif x == 2:
        y = "two"
    else:
        raise KeyError(x)
    return y


@runs(-1, 4)
def validation(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    y = x + 1
    assert y != 5, "five"
    return y


@runs(1)
def only_raises(x):
    raise RuntimeError(x)


@runs(0, 1)
def raise_from(x):
    if x:
        raise ValueError("a") from KeyError("b")
    return x


# --- for loops ----------------------------------------------------------------------------------------------


@runs(([1, 2, 3], 2), ([1, 2, 3], 5), ([], 5))
def search(xs, wanted):
    for x in xs:
        if x == wanted:
            return "found"
    return "not found"


@runs(([1, 2, 3], 2), ([1, 2, 3], 5), ([], 5))
def search_position(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i


@runs((1, 0), (1, 1), (1, 10), (100, 3))
def fixed_point(x, n):
    for i in range(n):
        new = x * 2
        if new > 20:
            return new
        x = new
    return x


@runs(([1, 2, 3], 2), ([1, 2, 3], 5), ([], 5))
def search_with_break(xs, wanted):
    found = None
    for x in xs:
        if x == wanted:
            found = x
            break
    return found


@runs([1, 2, 3], [])
def first_of(xs):
    for x in xs:
        return x
    return "empty"


@runs([1, 2, 3], [])
def always_break(xs):
    n = 0
    for x in xs:
        n += x
        break
    return n


@runs([1, -2, 3], [])
def with_continue(xs):
    total = 0
    for x in xs:
        if x < 0:
            continue
        total += x
    return total


@runs([1, -2, 3, 200, 7], [-1], [])
def continue_and_break(xs):
    total = 0
    for x in xs:
        if x < 0:
            continue
        if x > 100:
            break
        total += x
    return total


@runs([1, -2, 3, -40, 60, 200, 7], [-1], [])
def continue_on_some_paths(xs):
    total = 0
    for x in xs:
        if x < 0:
            if x < -10:
                continue
            total += 1
        else:
            if x > 100:
                break
            if x > 50:
                return "over", total
        total += x
    return total


@runs([], [1], [1, 2])
def for_else_without_break(xs):
    for x in xs:
        last = x
    else:
        last = "else"
    return last


@runs(([1, 2, 3], 2), ([1, 2, 3], 5), ([], 5))
def for_else(xs, wanted):
    for i in range(len(xs)):
        if xs[i] == wanted:
            break
    else:
        i = -1
    return i


@runs(([1, 2, 3], 2), ([1, 2, 3], 3), ([1, 2, 3], 5), ([], 5))
def for_else_with_break_and_return(xs, wanted):
    n = 0
    for x in xs:
        if x == wanted:
            break
        if x == 3:
            return "three"
        n += x
    else:
        n = n + 100
    return n


@runs(([1, 2, 3], 2), ([1, 2, 3], 5))
def for_else_that_returns(xs, wanted):
    for x in xs:
        if x == wanted:
            break
    else:
        return "none"
    return x * 10


@runs(([1, 2, 3], 2, 1), ([1, 2, 3], 5, 2), ([1, 2, 3], 5, 9))
def else_exits_outer_loop(xs, wanted, stop):
    n = 0
    for y in range(4):
        for x in xs:
            if x == wanted:
                break
            n += 1
        else:
            if y == stop:
                break
            continue
        n += 100
    return n, y


@runs(0, 1, 4)
def variable_after_loop(n):
    i = "none"
    for i in range(n):
        pass
    return i


@runs(0, 3)
def unassigned_after_loop(n):
    for i in range(n):
        y = i * i
    return i, y


@runs(0, 3)
def item_assigned_in_body(n):
    total = 0
    for i in range(n):
        i = i * 10
        total += i
    return total, n and i


@runs(0, 1, 2, 5)
def swap_in_loop(n):
    a, b = 1, 2
    for _ in range(n):
        a, b = b, a
    return a, b


@runs(0, 1, 2, 9)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@runs(0, 1, 5)
def rotate_three(n):
    a = 1
    b = 2
    c = 3
    for i in range(n):
        t = a
        a = b
        b = c
        c = t + i
    return a, b, c


@runs([3, 1, 2], [])
def previous_value(xs):
    previous = None
    pairs = []
    for x in xs:
        pairs = pairs + [(previous, x)]
        previous = x
    return pairs


@runs((3, 3), (0, 3), (3, 0))
def nested_loops(n, m):
    total = 0
    for i in range(n):
        row = 0
        for j in range(m):
            row += i * j + 1
        total = total * 2 + row
    return total


@runs((4, 4, 3), (4, 4, 100), (0, 1, 0))
def return_from_nested(n, m, wanted):
    for i in range(n):
        for j in range(m):
            if i * j == wanted:
                return i, j
    return None


@runs((4, 3), (4, 100), (2, 0))
def exits_at_several_levels(n, wanted):
    seen = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 2:
                continue
            seen = seen + [(i, j)]
            for k in range(n):
                if i + j + k == wanted:
                    return seen, k
                if k == 2:
                    break
            else:
                continue
            seen = seen + [k]
        if i == 3:
            break
    else:
        seen = seen + ["else"]
    return seen


@runs(4, 0)
def same_variable_in_both_loops(n):
    for i in range(n):
        for i in range(i):
            pass
    return n and i


@runs(3)
def break_after_continue(n):
    for i in range(n):
        continue
        break
    return i


@runs((3, 0), (3, 1), (3, 5))
def assigned_before_break(n, stop):
    for i in range(n):
        last = i
        if i == stop:
            last = "stopped"
            break
        last = last + 1
    return last


# --- while loops --------------------------------------------------------------------------------------------


@runs(0, 1, 7)
def countdown(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


@runs(1, 6, 27)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@runs(1, 6, 50)
def while_true_with_break(n):
    while True:
        if n > 40:
            break
        n = n * 2
    return n


@runs(1, 6, 50)
def while_true_with_return(n):
    while True:
        n = n * 2
        if n > 40:
            return n


@runs(1, 6, 50)
def while_true_with_both(n):
    k = 0
    while True:
        k += 1
        if n > 40:
            return n
        if k > 3:
            break
        n = n * 2
    return "gave up", k


@runs(0, 1, 9)
def while_else(n):
    while n > 0:
        n -= 1
        if n == 5:
            break
    else:
        n = "else"
    return n


@runs(0, 1, 9)
def while_else_without_break(n):
    while n > 0:
        n -= 2
    else:
        n = n * 10
    return n


@runs([3, 5, 0, 7], [0], [1])
def walrus_in_while(xs):
    total = 0
    items = iter(xs + [0])
    while (x := next(items)) != 0:
        total += x
    return total, x


@runs([3, 5, 0, 7], [3, 4, 0], [0])
def walrus_in_while_with_else(xs):
    total = 0
    items = iter(xs)
    while (x := next(items)) != 0:
        if x == 4:
            break
        total += x
    else:
        total = -total
    return total, x


@runs((0, 3), (5, 3), (5, 9))
def while_with_and(n, m):
    k = 0
    while n > 0 and m > 0:
        n, m, k = n - 1, m - 2, k + 1
    return n, m, k


@runs(0, 3)
def while_in_for(n):
    out = []
    for i in range(n):
        k = i
        while k < 10:
            k = k * 3 + 1
            if k == 7:
                break
        out = out + [k]
    return out


# --- branches and expressions -------------------------------------------------------------------------------


@runs(0, 1)
def assigned_in_branch(x):
    if x:
        y = 1
    else:
        y = 2
    return y


@runs(0, 1)
def assigned_in_one_branch(x):
    if x:
        y = 1
    return y


@runs(0, 1)
def copies_in_branches(x):
    y = x
    if x:
        z = y
    else:
        z = x
    w = z
    return w, y


@runs(0, 1)
def swap_in_branch(x):
    a, b = 1, 2
    if x:
        a, b = b, a
    return a, b


@runs(0, 1)
def test_assigned_in_branch(c):
    if c:
        c = 0
        d = 1
    else:
        d = c
    if c:
        d = 5
    return c, d


@runs((1, 2, 3), (3, 2, 1), (2, 2, 2))
def chained_comparison(a, b, c):
    return a < b < c, a <= b <= c != 4, a > b > c


@runs((0, 0), (0, 2), (3, 0), (3, 2))
def and_or(a, b):
    return a and b, a or b, not a or b and a, (a or b) + 1


@runs((0, 1), (5, 1), (-5, 1))
def ternaries(x, y):
    z = x if x > 0 else -x
    y = y + 1 if z else y - 1
    return (z, y) if z > 2 else (y if x else "zero")


@runs(5, -5)
def ternary_of_itself(x):
    x = -x if x < 0 else x
    x = x * 2 if x > 3 else x
    return x


@runs((1, 2))
def reads_the_old_value(a, b):
    a, b = b, a + b
    a, b = a * 10, a + 1
    c = d = a + b
    a = 0
    return a, b, c, d


@runs(3, 12)
def walrus(x):
    if (y := x * 2) > 10 and (z := y + 1):
        return y, z
    return y


# --- comprehensions -----------------------------------------------------------------------------------------


@runs(0, 4)
def comprehension_scope(n):
    i = "mine"
    squares = [i * i for i in range(n)]
    return i, squares


@runs(0, 3)
def nested_comprehension(n):
    return [[i * j for j in range(i) if j % 2 == 0] for i in range(n)], {i: i + 1 for i in range(n)}


@runs(4)
def comprehension_of_itself(n):
    xs = list(range(n))
    xs = [x + xs[0] + len(xs) for x in xs]
    xs = [x for x in xs if x % 2]
    return xs


@runs(0, 5)
def comprehension_with_walrus(n):
    last = None
    ys = [last := i * 2 for i in range(n)]
    return ys, last


# --- nested functions ---------------------------------------------------------------------------------------


@runs((2, 5))
def late_binding(a, b):
    k = a

    def scaled(x):
        return x * k

    before = scaled(1)
    k = b
    return before, scaled(1)


@runs(4)
def late_binding_in_loop(n):
    k = 0
    f = lambda x: x + k
    total = []
    for i in range(n):
        k = i * i
        total = total + [f(1)]
    return total, f(0)


@runs(4)
def used_before_assigned(n):
    def f():
        return later * n

    later = 3
    return f()


@runs(5, 0)
def nested_recursion(n):
    def factorial(k):
        if k < 2:
            return 1
        return k * factorial(k - 1)

    return factorial(n)


@runs(5)
def recursive_lambda(n):
    f = lambda k: 1 if k < 2 else k * f(k - 1)
    g = f
    return f(n) + g(3)


@runs(5)
def recursion_with_capture(n):
    step = 2

    def count(k):
        return k if k <= 0 else count(k - step)

    first = count(n)
    step = 3
    return first, count(n)


@runs((2, 5))
def defaults_bind_early(a, b):
    k = a

    def f(x, k=k, *, c=3):
        return x * k + c

    k = b
    return f(1), f(1, 9), f(1, c=0), k


@runs((0, 3), (1, 3))
def defined_in_branches(c, x):
    if c:
        def f(y):
            return y + x
    else:
        def f(y):
            return y * x

    return f(10)


@runs((0, 3), (1, 3))
def defined_in_one_branch(c, x):
    if c:
        f = lambda y: y + x
        x = 2
    else:
        return x
    return f(10)


@runs((0, 3), (1, 3))
def rebound_function(n, x):
    f = lambda y: y + x
    if n:
        f = lambda y: y * x
    return f(10)


@runs(4)
def function_in_function(n):
    def outer(a):
        def inner(b):
            return a * 10 + b + n

        a = a + 1
        return inner(a)

    n = n + 1
    return outer(2), [outer(i) for i in range(2)]


@runs(3)
def closure_calls_closure(n):
    base = 1

    def f(x):
        return x + base

    def g(x):
        return f(x) * 2

    base = n
    return g(1), (lambda z: g(z) + f(z))(2)


@runs([3, 1, 2])
def passed_on(xs):
    sign = -1
    key = lambda x: sign * x
    return sorted(xs, key=key), list(map(lambda x: x + sign, xs))


@runs(3)
def defined_in_loop(n):
    out = []
    for i in range(n):
        def f(x):
            return x * i
        out = out + [f(10)]
    return out, f(1)


# --- stores -------------------------------------------------------------------------------------------------


@runs([3, 1, 2], [1])
def stores(xs):
    ys = list(xs)
    for i in range(len(ys)):
        if ys[i] == 1:
            ys[i] += 10
            continue
        ys[i] = ys[i] * 2
    ys[0] += 1
    return ys


@runs([3, 1, 2])
def calls_for_their_effect(xs):
    ys = []
    for x in xs:
        if x == 1:
            ys.append("one")
            continue
        ys.append(x)
    ys.sort(key=str)
    ys += [4]
    return ys


# --- try ----------------------------------------------------------------------------------------------------


@runs(0, 1, "a", [])
def try_except(x):
    y = 1
    try:
        y = 10 // x
    except ZeroDivisionError:
        return "zero"
    except (TypeError, ValueError) as problem:
        z = type(problem).__name__
    else:
        z = y + 1
    return z


@runs(0, 1, 2)
def try_assigns_before_and_after(x):
    a = b = c = 0
    try:
        a = 1 // (x - 1)
        b = 2
    except ZeroDivisionError:
        c = 3
    return a if c == 0 else (c, b)


@runs(0, 1, -1)
def try_returns(x):
    try:
        if x < 0:
            return "negative"
        return 1 // x
    except ZeroDivisionError:
        pass
    return "zero"


@runs(0, 1)
def try_returns_and_finally_runs(x):
    out = []
    try:
        out.append(1 // x)
        return out
    except ZeroDivisionError:
        out.append("zero")
    finally:
        out.append("last")
    return (out, "end")


@runs(0, 1)
def finally_without_handlers(x):
    out = []

    def inner():
        try:
            return 1 // x
        finally:
            out.append("last")

    try:
        out.append(inner())
    except ZeroDivisionError:
        out.append("caught")
    return out


@runs([1, 0, 2], [0], [], [3])
def try_in_a_loop(xs):
    total = 0
    for x in xs:
        try:
            y = 6 // x
        except ZeroDivisionError:
            continue
        total = total + y
    return total


@runs([1, 0, 2], [0], [], [3])
def try_breaks(xs):
    total = 0
    for x in xs:
        try:
            if x == 3:
                break
            total = total + 6 // x
        except ZeroDivisionError:
            total = total + 100
            break
    else:
        return ("all", total)
    return total


@runs([1, 0, 2], [2, 2], [])
def return_from_a_loop_in_a_try(xs):
    try:
        for x in xs:
            if 6 // x == 3:
                return "three"
    except ZeroDivisionError:
        return "zero"
    return "none"


@runs(0, 1, 2)
def nested_tries(x):
    try:
        try:
            y = 1 // x
        except TypeError:
            y = 5
        z = 1 // (x - 1)
    except ZeroDivisionError as problem:
        return str(type(problem))
    return y + z


@runs(0, 1)
def raise_again(x):
    try:
        try:
            y = 1 // x
        except ZeroDivisionError:
            raise
    except Exception as problem:
        return repr(problem)
    return y


@runs(0, 1)
def raise_from(x):
    try:
        try:
            return 1 // x
        except ZeroDivisionError as problem:
            raise ValueError("no") from problem
    except ValueError as problem:
        return (str(problem), type(problem.__cause__).__name__)


@runs(0, 1)
def raised_and_caught(x):
    try:
        if x == 0:
            raise KeyError("k")
        y = x
    except KeyError as problem:
        y = problem.args[0]
    return y


@runs(1, 2)
def name_of_the_exception_is_gone(x):
    problem = 5
    try:
        1 // (x - 1)
    except ZeroDivisionError as problem:
        pass
    else:
        return problem
    return [problem]


@runs(0, 1)
def bare_except(x):
    try:
        return 1 // x
    except:  # noqa: E722
        return "any"


@runs(0, 1)
def try_else_return(x):
    try:
        y = 1 // x
    except ZeroDivisionError:
        z = 7
    else:
        return y
    finally:
        x = 100
    return (x, z)


@runs(0, 1)
def loop_with_try_and_continue_in_else(x):
    out = []
    for k in range(3):
        try:
            y = 6 // (k - x)
        except ZeroDivisionError:
            out.append("zero")
        else:
            if y < 0:
                continue
            out.append(y)
        out.append("end")
    return out


# --- with ---------------------------------------------------------------------------------------------------


class Manager:
    def __init__(self, log, swallows=False):
        self.log, self.swallows = log, swallows

    def __enter__(self):
        self.log.append("enter")
        return len(self.log)

    def __exit__(self, kind, problem, traceback):
        self.log.append("exit" if kind is None else kind.__name__)
        return self.swallows


@runs(0, 1)
def with_statement(x):
    log = []
    try:
        with Manager(log) as n:
            y = 1 // x
    except ZeroDivisionError:
        return log
    return (log, n, y)


@runs(0, 1)
def return_from_a_with(x):
    log = []
    with Manager(log) as first, Manager(log) as second:
        if x == 0:
            return (log, first)
        log.append(second)
    return log


@runs([0, 1], [1, 1], [])
def with_in_a_loop(xs):
    log = []
    for x in xs:
        with Manager(log) as n:
            if x == 0:
                log.append("continue")
                continue
            if n > 3:
                break
            log.append(n)
        log.append("end")
    return log


# --- match --------------------------------------------------------------------------------------------------


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


@runs(0, 1, 2, -1, "s", None, True, 2.5)
def match_values(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2:
            y = "small"
        case -1:
            y = "negative"
        case None:
            y = "none"
        case True:
            y = "true"
        case str():
            y = "string"
        case other:
            y = other
    return y


@runs((1, 2), (0, 2), [1], [1, 2, 3, 4], "ab", {"a": 1}, (1, (2, 3)), ())
def match_sequences(*x):
    match x[0] if len(x) == 1 else x:
        case []:
            return "empty"
        case [a]:
            return ("one", a)
        case (0, b):
            return ("zero", b)
        case [a, (b, c)]:
            return ("nested", a, b, c)
        case [a, b]:
            return ("two", a, b)
        case [first, *middle, last]:
            return (first, middle, last)
        case _:
            return "no sequence"


@runs({"kind": "a", "v": 1}, {"kind": "b", "w": 2, "z": 3}, {"v": 1}, {}, 5)
def match_mappings(x):
    match x:
        case {"kind": "a", "v": v}:
            return v
        case {"kind": kind, **rest}:
            return (kind, rest)
        case {"v": 1 | 2 as v}:
            return ("small", v)
        case {}:
            return "mapping"
    return "other"


@runs(1, 2, 3, 4, 5, 6, 7)
def match_classes(k):
    x = [None, Point(0, 5), Point(3, 4), Point(1, 1), 2.5, [Point(0, 1)], (3, "t"), 7][k]
    match x:
        case Point(0, y):
            return y
        case Point(x=a, y=b) if a != b:
            return (a, b)
        case Point():
            return "other point"
        case float(v):
            return v
        case [Point(0, y) | Point(y, 0)]:
            return ("in a list", y)
        case (int(n) | float(n), str(s)) | (str(s), int(n)):
            return (n, s)
    return "none"


@runs(1, 2, 3)
def match_with_guards(x):
    y = 0
    match x:
        case n if n > 2:
            y = n
        case 2 if y == 0:
            y = 20
        case _:
            y = -1
    return y


@runs((1, 2), (2, 1), (1, 1))
def match_in_a_loop(a, b):
    out = []
    for pair in [(a, b), (b, a)]:
        match pair:
            case (1, 1):
                break
            case (1, n):
                out.append(n)
                continue
        out.append("end")
    return out


# --- del ----------------------------------------------------------------------------------------------------


@runs(1, 2)
def deleted(x):
    a = b = x
    c = [1, 2, 3]
    del a, c[0]
    return (b, c) if x == 1 else a  # noqa: F821
