"""What ``normalize`` must keep: the meaning of every program, and the rules of SSA form."""

import linecache

import pytest

from s2s.core import ir
from s2s.core.check import check
from s2s.core.show import show
from s2s.frontend.lower import lower
from s2s.frontend.sources import find
from s2s.normalize.normalize import normalize
from s2s.validation.interpret import run
from tests.normalize.programs import PROGRAMS


def function_from(text, name="f"):
    """The function ``name`` that ``text`` defines, with its source where ``inspect`` finds it."""
    file = f"<program {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"__name__": __name__}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def outcome(call):
    """What a call gives: its result with the types of its numbers, or its exception."""
    try:
        return "returns", repr(call())
    except Exception as problem:
        cause = type(problem.__cause__).__name__
        return "raises", type(problem).__mro__[-4:-1], str(problem), cause


def is_name_error(result):
    return result[0] == "raises" and NameError in result[1]


def assert_same(expected, got, program):
    """Names without a value raise NameError in each way, with messages of their own."""
    if is_name_error(expected) and is_name_error(got):
        return
    assert got == expected, f"\n{show(program)}"


def assert_same_three_ways(f, inputs):
    named = lower(find(f))
    before = show(named)
    normal = check(normalize(named))
    assert show(named) == before
    check_nested(normal)
    for args in inputs:
        expected = outcome(lambda: f(*args))
        assert_same(expected, outcome(lambda: run(named, list(args), f.__globals__)), named)
        assert_same(expected, outcome(lambda: run(normal, list(args), f.__globals__)), normal)


def check_nested(function):
    """Nested functions are SSA too, no copies remain, and temporaries stand alone."""
    for statement in ir.walk(function.body):
        if isinstance(statement, ir.Let):
            assert not isinstance(statement.value, ir.Var | ir.Const), show(function)
            if isinstance(statement.value, ir.MakeFunction):
                check_nested(check(statement.value.function))


# --- meaning ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f, inputs", PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_mean_the_same(f, inputs):
    assert_same_three_ways(f, inputs)


def test_deep_elif_chain():
    branches = [f"    {'if' if n == 0 else 'elif'} x < {n * 10}:\n        y = {n}\n" for n in range(60)]
    f = function_from("def f(x):\n" + "".join(branches) + "    else:\n        y = -1\n    return y * 2\n")
    assert_same_three_ways(f, [(-5,), (0,), (5,), (333,), (10_000,)])


def test_deep_chain_of_early_returns():
    returns = [f"    if x == {n}:\n        return {n * n}\n" for n in range(150)]
    f = function_from("def f(x):\n" + "".join(returns) + "    return -1\n")
    assert_same_three_ways(f, [(0,), (77,), (149,), (150,)])


def test_deep_nests():
    """Python itself stops at 20 nested loops and at 100 levels of indentation."""
    ifs = "".join(f"{'    ' * (n + 1)}if x > {n}:\n{'    ' * (n + 2)}y = {n}\n" for n in range(90))
    assert_same_three_ways(
        function_from("def f(x):\n    y = -1\n" + ifs + "    return y\n"), [(0,), (50,), (99,)]
    )
    loops = "".join(f"{'    ' * (n + 1)}for i{n} in range(2):\n" for n in range(8))
    inside = f"{'    ' * 9}y += i7\n{'    ' * 9}if y > x:\n{'    ' * 10}return i3\n"
    text = f"def f(x):\n    y = 0\n{loops}{inside}    return y\n"
    assert_same_three_ways(function_from(text), [(0,), (20,), (1000,)])


def test_200_levels_by_hand():
    x, test = ir.Var("x"), ir.Var("%")
    body = ir.Block((ir.Return(ir.Const(1)),))
    for _ in range(200):
        body = ir.Block((ir.If(x, body, ir.Block(())),))
    function = ir.Function("f", (ir.Param(x),), body)
    normal = check(normalize(function))
    assert [run(normal, [value], {}) for value in (0, 1)] == [None, 1]


# --- random programs ----------------------------------------------------------------------------------------

@pytest.mark.slow
def test_random_programs_mean_the_same():
    from hypothesis import HealthCheck, given, settings

    from tests.normalize.random_programs import PROGRAM_TEXTS

    take = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    take(given(PROGRAM_TEXTS)(assert_same_meaning))()


def assert_same_meaning(text):
    f = function_from(text)
    named = lower(find(f))
    normal = check(normalize(named))
    for args in [(0, 0), (1, 7), (6, 3)]:
        expected = outcome(lambda: f(*args))
        if is_name_error(expected):
            continue  # a copy of what has no value raises only where the copy is used
        assert_same(expected, outcome(lambda: run(named, list(args), f.__globals__)), named)
        assert_same(expected, outcome(lambda: run(normal, list(args), f.__globals__)), normal)


# --- the form -----------------------------------------------------------------------------------------------


def shown(f):
    return "\n" + show(normalize(lower(find(f)))).replace("_operator.", "").replace("s2s.core.ops.", "")


def test_form_of_early_returns():
    def f(x):
        if x < 0:
            return 0
        y = x * 2
        if y > 10:
            y = 10
        return y

    # No flags: what follows a branch that returns is in the other branch.
    assert shown(f) == """
def f(x):
    % = lt(x, 0)
    %.2 = if %:
        yield 0
    else:
        y = mul(x, 2)
        %.1 = gt(y, 10)
        y.1 = if %.1:
            yield 10
        else:
            yield y
        yield y.1
    yield %.2
"""


def test_form_of_a_branch_that_returns_on_some_paths():
    def f(a, b):
        x = a
        if a:
            if b:
                return 1
            x = 2
        y = x * a
        return y

    # The flag that guards the rest is %.2.
    assert shown(f) == """
def f(a, b):
    x.1, %.2, %.3 = if a:
        x, %, %.1 = if b:
            yield a, True, 1
        else:
            yield 2, False, <_Undefined>
        yield x, %, %.1
    else:
        yield a, False, <_Undefined>
    %.4 = if %.2:
        yield %.3
    else:
        y = mul(x.1, a)
        yield y
    yield %.4
"""


def test_form_of_a_return_from_a_loop():
    def f(x, xs):
        for t in xs:
            new = x * t
            if new > 20:
                return new
            x = new
        return x

    # `left` (%.5) says that the function has returned, because nothing else leaves the loop early.
    assert shown(f) == """
def f(x, xs):
    for t in xs: [%.4 <- % = <_Undefined>] [x.3 <- x.1 = x]
        new = mul(x.1, t)
        %.1 = gt(new, 20)
        x.2, %.2, %.3 = if %.1:
            yield x.1, new, True
        else:
            yield new, <_Undefined>, False
        yield %.2, x.2
        leave if %.3 -> %.5
    %.6 = if %.5:
        yield %.4
    else:
        yield x.3
    yield %.6
"""


def test_form_of_a_loop_with_else():
    def f(x, xs):
        while x < 9:
            if x in xs:
                break
            x = x + 1
        else:
            x = 0
        return x

    assert shown(f) == """
def f(x, xs):
    while: [x.4 <- x.1 = x]
        % = lt(x.1, 9)
        yield %
    do:
        %.1 = contains(x.1, xs)
        x.3, %.2 = if %.1:
            yield x.1, True
        else:
            x.2 = add(x.1, 1)
            yield x.2, False
        yield x.3
        leave if %.2 -> %.3
    x.5 = if %.3:
        yield x.4
    else:
        yield 0
    yield x.5
"""


def test_form_of_copies_and_names():
    def f(a, b, xs):
        for _ in xs:
            a, b = b, a
        y = a if b else -a
        z = y
        ys = [x * z for x in xs]
        return ys

    # Copies are gone; a ternary and a comprehension take the name of the variable that they are assigned to.
    assert shown(f) == """
def f(a, b, xs):
    for _ in xs: [a.2 <- a.1 = a] [b.2 <- b.1 = b]
        yield b.1, a.1
    y.1 = if b.2:
        yield a.2
    else:
        y = neg(a.2)
        yield y
    ys = make_list()
    for x in xs: [ys.3 <- ys.1 = ys]
        % = mul(x, y.1)
        ys.2 = append(ys.1, %)
        yield ys.2
    yield ys.3
"""


def test_form_of_nested_functions():
    def f(x, k):
        def scaled(y):
            return y * k

        def factorial(n):
            return 1 if n < 2 else n * factorial(n - 1)

        first = scaled(x)
        k = 3
        return first + scaled(x) + factorial(x)

    # Made anew at each read, with what the captures hold there; a function's own name is left undefined.
    assert shown(f) == """
def f(x, k):
    % = function scaled[k]
    first = %(x)
    %.1 = function scaled[3]
    %.2 = %.1(x)
    %.3 = add(first, %.2)
    %.4 = function factorial[<_Undefined>]
    %.5 = %.4(x)
    %.6 = add(%.3, %.5)
    yield %.6
"""


def test_form_of_raising_branches():
    def f(x, error):
        if x < 0:
            raise error
        if x > 9:
            y = 9
        else:
            raise error
        return y

    # A branch that can only raise leaves what follows where it is, and yields UNDEFINED.
    assert shown(f) == """
def f(x, error):
    % = lt(x, 0)
    if %:
        raise error
    %.1 = gt(x, 9)
    y = if %.1:
        yield 9
    else:
        raise error
        yield <_Undefined>
    yield y
"""
