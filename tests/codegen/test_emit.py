"""The emitter: what its text computes, compared with the function that it came from, and how it looks."""

import copy
import inspect
import linecache
import math
import operator
import random
import textwrap

import numpy as np
import pytest

from s2s.codegen.emit import emit
from s2s.core import ir, ops
from s2s.core.check import check
from s2s.core.ir import Block, Call, Carried, Const, For, Function, If, Let, Load, Note, Param, Span, Store, Var, While
from s2s.frontend.lower import lower
from s2s.frontend.sources import find
from s2s.normalize.cells import share_variables
from s2s.normalize.normalize import normalize
from tests.bank import CASES

X, Y, N, A, B = (Var(name) for name in "xynab")
T = [Var("%", k) for k in range(20)]


# --- helpers ---


def call(fn, *args, **kwargs):
    fn = fn if isinstance(fn, Var) else Const(fn)
    return Call(fn, args, tuple(kwargs.items()))


def function(params, *statements, result=None, **more):
    """An SSA function that yields what the last statement defines."""
    given = next(iter(ir.defs_of(statements[-1]))) if result is None else result
    return check(Function("f", tuple(map(Param, params)), Block(statements, (given,)), **more))


def run(emitted, *args, space=None):
    """The result of the emitted function."""
    scope = {**(space or {}), **emitted.objects}
    exec(compile(emitted.text, "<generated>", "exec"), scope)
    return scope[emitted.entry](*copy.deepcopy(args))


def body(emitted):
    """The text without imports and without the line of the ``def``."""
    return textwrap.dedent(emitted.text.split(":\n", 1)[1])


def make(text, name="h", space=None):
    """The function of a text in a file of its own."""
    file = f"<emitted {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = space if space is not None else {"np": np}
    exec(compile(text, file, "exec"), space)
    return space[name]


def again(fn, space=None):
    """The emitted text of a function, taken through lowering and normalizing."""
    return emit(check(normalize(lower(find(fn)))), globals=space or fn.__globals__)


def outcome(fn, *args, **kwargs):
    """What a call gives and what it does to its arguments; the type of what it raises."""
    args = copy.deepcopy(args)
    try:
        return fn(*args, **kwargs), args
    except Exception as problem:
        return type(problem), None


def same(first, second):
    """Whether two values are the same, their types included."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(
            first, second, equal_nan=first.dtype.kind == "f"
        )
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    return first is second or hasattr(first, "__dict__") or bool(first == second or first != first)


# --- round trips ---



def reads_unassigned(function):
    """Whether a handler reads what an interrupted block may have assigned: ``specialize`` resolves that before code is
    written."""
    statements = ir.walk(function.body)
    return any(handler.unassigned for s in statements if isinstance(s, ir.Try) for handler in s.handlers)


FUNCTIONS = [case for case in CASES if inspect.isfunction(case.f) and "Model" not in case.f.__qualname__]


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case.name)
def test_the_text_of_a_function_computes_what_the_function_computes(case):
    normal = check(normalize(share_variables(lower(find(case.f)))))
    if reads_unassigned(normal):
        return
    signature = inspect.signature(case.f).parameters
    texts = {p.var.name: f"DEFAULTS[{p.var.name!r}].default" for p in normal.params if p.has_default}
    emitted = emit(normal, globals=case.f.__globals__, params_text=texts)
    assert all(len(line) <= 100 for line in emitted.text.splitlines())
    cells = dict(zip(case.f.__code__.co_freevars, case.f.__closure__ or (), strict=True))
    space = {**case.f.__globals__, **{k: v.cell_contents for k, v in cells.items()}}
    scope = {**space, **emitted.objects, "DEFAULTS": signature}
    exec(compile(emitted.text, "<generated>", "exec"), scope)
    assert same(
        outcome(case.f, *case.args, **case.kwargs), outcome(scope[emitted.entry], *case.args, **case.kwargs)
    )


class Programs:
    """Random programs: assignments, stores and calls whose order shows, in nested branches, loops and
    exits."""

    names = "abcd"

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.left = 18
        self.loops = 0

    def text(self):
        lines = self.block(1, False, 0)
        return "def h(a, b, c, d, f, L):\n" + "\n".join(lines) + "\n    return a, b, c, d\n"

    def name(self):
        return self.random.choice(self.names)

    def value(self, depth=0):
        k = self.random.random()
        if k < 0.45 or depth > 2:
            return self.name()
        if k < 0.6:
            return str(self.random.randint(-3, 5))
        if k < 0.7:
            return f"f({self.value(depth + 1)})"
        if k < 0.75:
            return f"({self.value(depth + 1)} if {self.test()} else {self.value(depth + 1)})"
        if k < 0.8:
            return f"L[{self.value(depth + 1)} % 3]"
        return f"({self.value(depth + 1)} {self.random.choice('+-*')} {self.value(depth + 1)})"

    def test(self):
        test = f"{self.value(2)} {self.random.choice(['<', '>', '==', '<='])} {self.value(2)}"
        if self.random.random() < 0.8:
            return test
        return f"({test} {self.random.choice(['and', 'or'])} {self.value(2)} < {self.value(2)})"

    def block(self, indent, in_loop, depth):
        count = self.random.randint(1, 4)
        return [
            line for _ in range(count) for line in self.statement("    " * indent, indent, in_loop, depth)
        ]

    def statement(self, pad, indent, in_loop, depth):
        self.left -= 1
        k = self.random.random() * (0.42 if self.left < 0 or depth > 3 else 1.0)
        if k < 0.25:
            return [f"{pad}{self.name()} = {self.value()}"]
        if k < 0.31:
            return [f"{pad}{self.name()}, {self.name()} = {self.value()}, {self.value()}"]
        if k < 0.35:
            return [f"{pad}{self.name()} += {self.value()}"]
        if k < 0.39:
            return [f"{pad}L[{self.value(2)} % 3] = {self.value()}"]
        if k < 0.42:
            return [f"{pad}f({self.value()})"]
        if k < 0.84:
            return self.compound(k, pad, indent, in_loop, depth)
        if k < 0.93 and in_loop:
            return [f"{pad}if {self.test()}:", f"{pad}    {self.random.choice(['break', 'continue'])}"]
        if k < 0.97:
            return [f"{pad}if {self.test()}:", f"{pad}    return {self.value()}, {self.name()}"]
        return [f"{pad}{self.name()} = {self.name()}"]

    def compound(self, k, pad, indent, in_loop, depth):
        if k < 0.65:
            lines = [f"{pad}if {self.test()}:", *self.block(indent + 1, in_loop, depth + 1)]
        elif k < 0.77:
            item = self.random.choice([*self.names, "i", "j"])
            head = f"{pad}for {item} in range({self.random.randint(0, 4)}):"
            lines = [head, *self.block(indent + 1, True, depth + 1)]
        else:
            self.loops += 1
            count = f"w{self.loops}"
            head = f"{pad}while {count} < {self.random.randint(1, 4)} and {self.test()}:"
            return [
                f"{pad}{count} = 0",
                head,
                f"{pad}    {count} += 1",
                *self.block(indent + 1, True, depth + 1),
            ]
        if self.random.random() < 0.4:
            lines += [f"{pad}else:", *self.block(indent + 1, in_loop, depth + 1)]
        return lines


def traced(fn, args):
    """The result of a random program and everything that could be seen of how it came about."""
    seen, items = [], [1, 2, 3]

    def f(value):
        seen.append(value)
        if len(seen) > 2000:
            raise RuntimeError("long")
        return (value * 7 + items[0]) % 1009

    try:
        return fn(*args, f, items), items, seen
    except (RuntimeError, UnboundLocalError) as problem:
        return type(problem), items, seen


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("start", range(0, 300, 20))
def test_random_programs_keep_their_results_and_the_order_of_their_effects(start):
    for seed in range(start, start + 20):
        fn = make(Programs(seed).text(), space={})
        emitted = again(fn, {"h": fn})
        scope = dict(emitted.objects)
        exec(compile(emitted.text, "<generated>", "exec"), scope)
        for args in ((1, 2, 3, 4), (0, 0, 0, 0), (-3, 5, -1, 2), (7, -2, 1, 1)):
            expected = traced(fn, args)
            if expected[0] is not UnboundLocalError:
                assert traced(scope["h"], args) == expected, emitted.text


# --- out of SSA form ---


def loop(*carried, body, count=N, item=T[10]):
    return [Let(T[11], call(range, count)), For(item, T[11], body, carried)]


def test_a_swap_is_one_tuple_assignment():
    a1, b1, a2, b2 = Var("a", 1), Var("b", 1), Var("a", 2), Var("b", 2)
    swap = loop(Carried(a1, A, a2), Carried(b1, B, b2), body=Block((), (b1, a1)))
    emitted = emit(function((A, B, N), *swap, Let(T[0], call(operator.sub, a2, b2))))
    assert body(emitted) == "for _ in range(n):\n    a, b = b, a\nreturn a - b\n"
    assert [run(emitted, 5, 3, n) for n in range(3)] == [2, -2, 2]


def test_the_lost_copy_keeps_the_value_before_the_last_trip():
    x1, x2, x3 = Var("x", 1), Var("x", 2), Var("x", 3)
    kept, kept2, kept3 = Var("kept"), Var("kept", 1), Var("kept", 2)
    step = Block((Let(x2, call(operator.add, x1, Const(1))),), (x2, x1))
    lost = loop(Carried(x1, X, x3), Carried(kept2, Const(0), kept3), body=step)
    emitted = emit(function((X, N), *lost, Let(kept, call(operator.mul, kept3, Const(10)))))
    assert run(emitted, 1, 3) == 30
    assert run(emitted, 1, 0) == 0


def test_a_parameter_that_is_read_after_the_loop_keeps_its_value():
    x1, x2, x3 = Var("x", 1), Var("x", 2), Var("x", 3)
    doubled = loop(Carried(x1, X, x3), body=Block((Let(x2, call(operator.mul, x1, Const(2))),), (x2,)))
    emitted = emit(function((X, N), *doubled, Let(T[0], call(ops.make_tuple, X, x3))))
    assert body(emitted) == "x_1 = x\nfor _ in range(n):\n    x_1 = x_1 * 2\nreturn x, x_1\n"
    assert run(emitted, 3, 2) == (3, 12)


def test_two_carried_variables_with_one_start_stay_apart():
    y, z, y2, z2 = Var("y"), Var("z"), Var("y", 1), Var("z", 1)
    grow = Block((Let(T[0], call(operator.add, y, z)),), (T[0], y))
    both = loop(Carried(y, X, y2), Carried(z, X, z2), body=grow)
    emitted = emit(function((X, N), *both, Let(T[1], call(ops.make_tuple, y2, z2, X))))
    assert run(emitted, 1, 5) == (13, 8, 1)


def test_values_without_a_definition_pass_through_copies():
    # %0 has no value where the test fails; the second branch hands it on all the same.
    first = If(A, Block((), (X, Const(True))), Block((), (ir.UNDEFINED, Const(False))), (T[0], T[1]))
    second = If(B, Block((), (T[0],)), Block((), (Const(7),)), (Y,))
    third = If(T[1], Block((), (Y,)), Block((Let(T[3], call(print)),), (Const(0),)), (T[2],))
    emitted = emit(function((X, A, B), first, second, third))
    assert run(emitted, 5, True, True) == 5
    assert run(emitted, 5, True, False) == 7
    assert run(emitted, 5, False, True) == 0


def test_captured_variables_keep_their_names_until_the_end():
    x1, y = Var("x", 1), Var("y")
    inner = Function("pullback", (Param(y),), Block((Let(T[0], call(operator.mul, y, X)),), (T[0],)), (X,))
    emitted = emit(
        function(
            (X,),
            Let(T[1], ir.MakeFunction(inner, (X,))),
            Let(x1, call(operator.add, X, Const(1))),
            Let(T[2], call(ops.make_tuple, x1, T[1])),
        )
    )
    assert "def pullback(y):\n        return y * x\n" in emitted.text
    value, pullback = run(emitted, 3)
    assert (value, pullback(10)) == (4, 30)


def test_locals_of_a_nested_function_do_not_hide_what_it_captures():
    outer, inner_x = Var("x", 1), Var("x", 5)
    statements = (Let(inner_x, call(operator.add, Y, A)), Let(T[0], call(operator.mul, inner_x, A)))
    inner = Function("g", (Param(Y),), Block(statements, (T[0],)), (A,))
    emitted = emit(
        function((X,), Let(outer, call(operator.neg, X)), Let(T[1], ir.MakeFunction(inner, (outer,))))
    )
    assert run(emitted, 3)(10) == (10 - 3) * -3


def of_nested(name, *between):
    """A nested function ``g(name, a)`` that reads what ``between`` assigns last, or the parameter ``x``."""
    given, own, read = Var(name), A, Var("fixed")
    inner = Block((Let(T[0], call(operator.mul, read, given)), Let(T[1], call(operator.add, T[0], own))), (T[1],))
    captured = between[-1].target if between else X
    made = ir.MakeFunction(Function("g", (Param(given), Param(own)), inner, (read,)), (captured,))
    return emit(function((X, N), *between, Let(T[8], made), Let(T[9], call(ops.make_tuple, X, T[8]))))


@pytest.mark.parametrize(
    ("name", "between"),
    [
        ("x", []),
        ("x", [Let(Var("x", 1), call(operator.mul, X, N))]),
        ("x", [Let(T[2], X)]),
        ("t0", [Let(T[2], call(operator.mul, X, N))]),
        ("n", [Let(T[2], call(operator.mul, X, N)), Let(Var("n", 1), T[2])]),
    ],
)
def test_parameters_of_a_nested_function_do_not_hide_what_it_captures(name, between):
    x, g = run(of_nested(name, *between), 3, 5)
    read = 15 if any(isinstance(let.value, ir.Call) for let in between) else 3
    assert (x, g(7, 2), g(a=2, **{name: 7})) == (3, 7 * read + 2, 7 * read + 2)


def test_a_parameter_that_a_nested_function_would_hide_is_copied():
    text = "fixed = x\n\ndef g(x, a):\n    return fixed * x + a\n\nreturn x, g\n"
    assert body(of_nested("x")) == text


def test_no_function_between_hides_what_the_innermost_one_reads():
    read, passed, given = Var("read"), Var("passed"), Var("x", 4)
    multiply = Block((Let(T[0], call(operator.mul, read, given)),), (T[0],))
    innermost = Function("inner", (Param(given),), multiply, (read,))
    made = Block((Let(T[1], ir.MakeFunction(innermost, (passed,))),), (T[1],))
    middle = Function("middle", (Param(A),), made, (passed,))
    emitted = emit(function((X,), Let(T[2], ir.MakeFunction(middle, (X,)))))
    assert run(emitted, 3)(a=None)(x=7) == 21


# --- folding ---


def test_a_read_does_not_move_over_a_store():
    emitted = emit(
        function(
            (A, X),
            Let(T[0], call(operator.getitem, A, Const(0))),
            Store("item", A, Const(0), X),
            Let(T[1], call(operator.add, T[0], X)),
        )
    )
    assert body(emitted) == "t0 = a[0]\na[0] = x\nreturn t0 + x\n"


def test_unknown_calls_keep_their_order():
    f, g = Var("f"), Var("g")
    emitted = emit(
        function(
            (f, g),
            Let(T[0], call(g)),
            Let(T[1], call(f)),
            Let(T[2], call(operator.add, T[1], T[0])),
        )
    )
    assert body(emitted) == "t0 = g()\nreturn f() + t0\n"


def test_a_temporary_does_not_take_a_name_from_the_user():
    y1, y2 = Var("y", 1), Var("y", 2)
    emitted = emit(
        function(
            (X,),
            Let(y1, call(operator.mul, X, X)),
            Let(T[0], call(operator.add, y1, Const(1))),
            Let(y2, call(np.sin, X)),
            Let(T[1], call(operator.mul, T[0], y2)),
        )
    )
    assert body(emitted) == "y = x * x\nt0 = y + 1\ny = np.sin(x)\nreturn t0 * y\n"


def test_contributions_are_summed_in_one_line_up_to_three():
    bars = [Var("x_bar", k) for k in range(4)]
    parts = [Let(bars[0], call(operator.mul, A, A))]
    for k in range(3):
        parts += [
            Let(T[k], call(operator.mul, B, Const(k))),
            Let(bars[k + 1], call(operator.iadd, bars[k], T[k])),
        ]
    emitted = emit(function((A, B), *parts))
    assert body(emitted) == "x_bar = a * a + b * 0 + b * 1\nx_bar += b * 2\nreturn x_bar\n"


def test_adding_to_a_view_changes_what_it_is_a_view_of():
    view, more = Var("b_bar"), Var("b_bar", 1)
    emitted = emit(
        function(
            (A, X),
            Let(view, call(operator.getitem, A, Const(slice(1, None)))),
            Let(more, call(operator.iadd, view, X)),
            result=A,
        )
    )
    assert body(emitted) == "b_bar = a[1:]\nb_bar += x\nreturn a\n"
    assert run(emitted, np.zeros(3), 1.0).tolist() == [0, 1, 1]


def test_an_accumulator_with_another_name_is_copied_first():
    y1 = Var("y", 1)
    emitted = emit(function((X, Y), Let(y1, call(operator.iadd, X, Y))))
    assert run(emitted, 2, 3) == 5


def test_lists_grow_in_place_only_where_nothing_else_has_them():
    items, grown = Var("items"), Var("items", 1)
    fresh = function((X,), Let(items, call(ops.make_list)), Let(grown, call(ops.append, items, X)))
    assert body(emit(fresh)) == "items = []\nitems.append(x)\nreturn items\n"
    shared = function((items, X), Let(grown, call(ops.append, items, X)), result=grown)
    assert body(emit(shared)) == "items = [*items, x]\nreturn items\n"


# --- names for objects ---


def module_function(x):
    return x + 1


def constant(value, space=None):
    emitted = emit(function((X,), Let(T[0], call(ops.make_tuple, X, Const(value)))), globals=space)
    return emitted, body(emitted).strip().removeprefix("return x, ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"), (-2, "-2"), (-0.0, "-0.0"), (float("inf"), "np.inf"), (-math.inf, "-np.inf"), (2j,
        "2j"), (1 + 2j, "complex(1.0, 2.0)"), ("a'b", '"a\'b"'), ("ab", '"ab"'), (None, "None"), (..., "..."),
        ((1, "b"), '(1, "b")'), (np.float32(0.5), "np.float32(0.5)"), (np.float32, "np.float32"),
        (np.dtype("float32"), "np.float32"), (np.dtype(">f4"), 'np.dtype(">f4")'), (np.linalg.norm,
        "np.linalg.norm"), (math.cos, "math.cos"), (len, "len"), (operator.add, "operator.add"), (np, "np"),
        (np.random, "np.random"), (np.newaxis, "None"), (slice(1, None), "slice(1, None, None)"), (range(3),
        "range(0, 3)"), (textwrap.dedent, "textwrap.dedent"), (np.ndarray.sum, "np.ndarray.sum"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
    ],
)  # fmt: skip
def test_known_objects_are_spelled_as_a_person_would(value, text):
    emitted, spelled = constant(value)
    assert spelled == text
    result = run(emitted, 1)[1]
    assert result is value or repr(result) == repr(value) or result == value


def test_functions_of_the_users_module_are_read_bare():
    emitted, spelled = constant(module_function, {"helper": module_function})
    assert (spelled, emitted.globals, emitted.imports) == ("helper", ("helper",), {})


def test_objects_without_a_path_are_handed_over():
    local = lambda: 3  # noqa: E731
    emitted, spelled = constant(local)
    assert emitted.objects == {spelled: local}
    assert run(emitted, 1)[1] is local


def test_an_import_makes_way_for_names_of_the_user():
    emitted, spelled = constant(np.sin, {"np": 3})
    assert (spelled, emitted.imports) == ("numpy.sin", {"numpy": "numpy"})
    emitted = emit(function((Var("np"),), Let(T[0], call(np.sin, Var("np")))))
    assert "numpy.sin(np)" in emitted.text


def test_variables_make_way_for_builtins_and_globals():
    size = Var("len")
    emitted = emit(function((X,), Let(size, call(np.size, X)), Let(T[0], call(operator.add, size, size))))
    assert body(emitted) == "len = np.size(x)\nreturn len + len\n"
    emitted = emit(function((X,), Let(size, call(len, X)), Let(T[0], call(operator.add, size, size))))
    assert run(emitted, [1, 2]) == 4
    read = Let(T[0], Load("scale", "global"))
    scale = Var("scale", 1)
    emitted = emit(
        function(
            (X,), read, Let(scale, call(operator.mul, X, T[0])), Let(T[1], call(operator.mul, scale, scale))
        )
    )
    assert body(emitted) == "scale_ = x * scale\nreturn scale_ * scale_\n"
    assert emitted.globals == ("scale",)


def test_globals_of_other_modules_are_read_where_they_live():
    read = Let(T[0], Load("inf", "global", math.prod.__class__))
    emitted = emit(function((X,), read, Let(T[1], call(operator.mul, T[0], X))), globals={})
    assert emitted.globals == ("inf",)
    read = Let(T[0], Load("dedent", "global", textwrap.indent))
    emitted = emit(function((X,), read, Let(T[1], call(T[0], X))), globals={"x": 1})
    assert "textwrap.dedent(x)" in emitted.text and emitted.imports == {"textwrap": "textwrap"}


# --- the look ---

LOOKS = {
    "early return": """\
def h(a, tol):
    x = 1.0
    for _ in range(200):
        new = np.cos(a * x)
        if abs(new - x) < tol:
            return new
        x = new
    return x
""",
    "loops and stores": """\
def h(u, steps):
    u = u.copy()
    for k in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        if k > 3:
            break
    return np.sum(u**2)
""",
    "branches": """\
def h(x, flag):
    if flag and x > 0:
        y = x * 2
    elif not flag:
        y = x if x > 1 else -x
    else:
        raise ValueError(f"bad: {x:.3f}")
    return y + 1, -y
""",
    "search in two loops": """\
def h(rows, wanted):
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value == wanted:
                return i, j
    return None
""",
    "containers": """\
def h(xs, *rest, scale=2, **options):
    a, (b, *c), d = xs
    squares = [x * x for x in c if x > 1]
    table = {x: x + 1 for x in squares}
    total = max(*squares, key=abs) + sum(rest)
    return [*squares, a], table, total * scale, options, d
""",
    "closures": """\
def h(x):
    k = x * 2

    def inner(y):
        if y > k:
            return y
        return y * k + x

    return inner(1) + inner(2) + sum(map(lambda q: q + x, [1, 2]))
""",
    "while": """\
def h(n):
    count = 0
    while n != 1 and count < 100:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count
""",
    "parallel": """\
def h(n):
    last = -1
    i = 0
    a = 0
    b = 1
    while i < n:
        last = i
        i = i + 1
        a, b = b, a + b
    return a, last
""",
    "precedence": """\
def h(x, a):
    y = -(x**2) + (-x) ** 2 - (x - (x - 1)) / (x * (x + 2) % 3)
    return y[a[1:, None], ..., ::2].T @ (x @ y), not x, x not in y, x is None
""",
}


@pytest.mark.parametrize("text", LOOKS.values(), ids=LOOKS)
def test_the_text_looks_as_the_user_wrote_it(text):
    fn = make(text)
    texts = {"scale": "2"}
    normal = check(normalize(lower(find(fn))))
    assert emit(normal, globals=fn.__globals__, params_text=texts).text == text
    assert emit(normal, globals=fn.__globals__, params_text=texts).text == text


def test_a_docstring_that_is_too_long_for_its_line_is_broken_between_sentences():
    first = "Gradient of loss with respect to weights, bias, rate, momentum, state, targets (model.py:12)."
    doc = f"{first} Made by s2s."
    normal = ir.replace(normalize(lower(find(make("def h(x):\n    return x\n")))), doc=doc)
    expected = f'def h(x):\n    """{first}\n    Made by s2s.\n    """\n    return x\n'
    assert emit(normal).text == expected


def adjoint(file):
    """The gradient of a small loop, as the reverse pass writes it."""
    y0, y1, y2 = (Var("y", k) for k in range(3))
    bar, bar1, bar2 = (Var("y_bar", k) for k in range(3))
    x_bar, x_bar1, x_bar2 = (Var("x_bar", k) for k in range(3))
    saved, half, i, i1 = Var("saved_y"), Var("%_bar", 0), Var("i"), Var("i", 1)

    def at(line):
        return Span(file, line, 0, line, 1)

    forward = Block((Store("item", saved, i, y0), Let(y1, call(operator.mul, y0, X), at(4))), (y1,))
    backward = Block(
        (
            Let(Var("y", 3), call(operator.getitem, saved, i1)),
            Let(half, call(operator.mul, Const(0.5), bar), at(4)),
            Let(T[2], call(operator.mul, half, Var("y", 3)), at(4)),
            Let(x_bar1, call(operator.iadd, x_bar, T[2]), at(4)),
            Let(bar1, call(operator.mul, half, X), at(4)),
        ),
        (bar1, x_bar1),
    )
    return function(
        (X, N),
        Note("forward sweep", "forward"),
        Let(saved, call(np.empty, N)),
        Let(T[0], call(range, N)),
        For(i, T[0], forward, (Carried(y0, X, y2),)),
        Note("reverse sweep", "reverse"),
        Let(T[1], call(range, N)),
        Let(T[3], call(reversed, T[1])),
        For(i1, T[3], backward, (Carried(bar, Const(1.0), bar2), Carried(x_bar, Const(0.0), x_bar2))),
        Let(Var("x_bar", 3), call(operator.iadd, x_bar2, bar2), at(2)),
        doc="Gradient of h.",
        span=Span(file, 1, 0, 1, 1),
    )


def test_a_gradient_names_the_lines_that_it_comes_from():
    fn = make("def h(x, n):\n    y = x\n    for i in range(n):\n        y = y * x\n    return y\n")
    emitted = emit(adjoint(fn.__code__.co_filename), head=("Generated by s2s.",))
    assert (
        emitted.text
        == '''\
# Generated by s2s.

import numpy as np


def f(x, n):
    """Gradient of h."""
    # forward sweep
    saved_y = np.empty(n)
    y = x
    for i in range(n):
        saved_y[i] = y
        y = y * x
    # reverse sweep
    y_bar = 1.0
    x_bar = 0.0
    for i in reversed(range(n)):
        y = saved_y[i]
        # L4: y = y * x
        t0_bar = 0.5 * y_bar
        x_bar += t0_bar * y
        y_bar = t0_bar * x
    # L2: y = x
    x_bar += y_bar
    return x_bar
'''
    )


def test_while_loops_with_statements_in_their_test():
    x1, x2, x3, c = Var("x", 1), Var("x", 2), Var("x", 3), Var("c")
    test = Block((Let(c, call(abs, x1)), Let(T[0], call(operator.gt, c, Const(1)))), (T[0],))
    halve = Block((Let(x2, call(operator.truediv, x1, Const(2))),), (x2,))
    emitted = emit(function((X,), While(test, halve, (Carried(x1, X, x3),)), result=x3))
    assert run(emitted, -9.0) == -0.5625
    assert "while True:" in emitted.text


def test_long_lines_are_wrapped():
    names = [Var(f"a_rather_long_name_{k}") for k in range(8)]
    emitted = emit(function((X,), Let(T[0], call(ops.make_tuple, *[Const("word" * 4)] * 8))))
    assert all(len(line) <= 100 for line in emitted.text.splitlines())
    sums, total = [], names[0]
    for k, name in enumerate(names[1:]):
        sums.append(Let(T[k], call(operator.add, total, name)))
        total = T[k]
    emitted = emit(function(tuple(names), *sums))
    assert run(emitted, *range(8)) == 28


def test_long_headers_stand_in_parentheses():
    names = [f"a_rather_long_name_{k}" for k in range(8)]
    test = " and ".join(f"{name} > 1.0" for name in names)
    lines = [f"def h({', '.join(names)}):", f"    if {test}:", "        return 2.0", "    return 3.0", ""]
    emitted = again(make("\n".join(lines)))
    assert all(len(line) <= 100 for line in emitted.text.splitlines())
    assert run(emitted, *[2.0] * 8) == 2.0 and run(emitted, *[2.0] * 7, 0.0) == 3.0


def test_the_title_of_a_sweep_with_nothing_in_it_is_not_printed():
    forward, reverse = Note("forward sweep", "forward"), Note("reverse sweep", "reverse")
    seed = Let(T[0], Load("seed", "global"))
    emitted = emit(function((X,), forward, seed, reverse, Let(T[1], call(operator.mul, X, T[0]))))
    assert body(emitted) == "# reverse sweep\nreturn x * seed\n"


def test_a_comment_is_cut_where_it_is_too_long():
    emitted = emit(function((X,), Note("word " * 40), Let(T[1], call(operator.neg, X))))
    comment = emitted.text.splitlines()[1]
    assert len(comment) <= 100 and comment.endswith("word ...")
