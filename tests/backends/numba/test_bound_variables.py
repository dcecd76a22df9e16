"""Variables that may have no value: compiled code has to ask, where Python raises by itself."""

import ast
import inspect
import re

import pytest

pytest.importorskip("numba")

from s2s.backends.numba.binding import check_bound  # noqa: E402


def in_one_branch(c, n):
    if c:
        y = 2.0
    return y


def in_both_branches(c, n):
    if c:
        y = 2.0
    else:
        y = 3.0
    return y


def after_a_loop(c, n):
    for k in range(n):
        y = k * 2.0
        if c:
            break
    return y


def until_it_ends(c, n):
    while True:
        if n > 0:
            y = n + 1.0
            break
        y = 0.0
        n += 1
    return y


def of_the_loop(c, n):
    for k in range(n):
        if c:
            continue
    return k


def of_targets_that_are_read_in_the_loop(c, n):
    total = 0.0
    for j, (i, v) in enumerate(zip(range(n), range(n))):
        if c:
            total += i * v
    while c:
        total += j
        c = False
    return total + i


def left_at_once(c, n):
    for k in range(n):
        if c or k > 1:
            break
        last = k
    else:
        last = 7.0
    return k + last


def added(c, n):
    if c:
        y = 1.0
    y += n
    return y


def of_a_comprehension(c, n):
    if c:
        z = [j * 2.0 for j in range(n)]
    else:
        z = [n]
    return sum([j + 1.0 for j in z])


def with_a_function(c, n):
    if c:
        k = 3.0

    def scaled(t):
        u = t * k
        return u

    return scaled(n)


def beside_a_function(c, n):
    def scaled(t):
        u = t * 2.0
        return u

    if c:
        u = 1.0
    return scaled(n) + (lambda v: v)(n) + u


FLAGS = {
    in_one_branch: {"y"}, in_both_branches: set(), after_a_loop: {"y"}, until_it_ends: set(), of_the_loop: {"k"},
    of_targets_that_are_read_in_the_loop: {"i", "j"}, left_at_once: {"k", "last"}, added: {"y"},
    of_a_comprehension: set(), with_a_function: {"k"}, beside_a_function: {"u"},
}


class Unbound(Exception):
    pass


@pytest.mark.parametrize("f", FLAGS, ids=lambda f: f.__name__)
def test_what_has_no_value_raises_and_what_has_one_is_left_alone(f):
    node = ast.parse(inspect.getsource(f)).body[0]
    check_bound(node, {"Unbound"})
    text = ast.unparse(ast.fix_missing_locations(node))
    assert {name.removesuffix("_is_bound") for name in re.findall(r"\w+_is_bound", text)} == FLAGS[f]
    scope = {"Unbound": Unbound}
    exec(text, scope)
    for c in (True, False):
        for n in (0, 3):
            try:
                expected = f(c, n)
            except NameError:
                with pytest.raises(Unbound):
                    scope[f.__name__](c, n)
            else:
                assert scope[f.__name__](c, n) == expected
