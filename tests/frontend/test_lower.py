"""Lowering to the named form: its text, what it computes, the places it gives, and what it refuses."""

import importlib
import inspect
import itertools
import linecache
import operator
import textwrap

import libcst as cst
import numpy as np
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from s2s.core import ir, ops
from s2s.core.ir import walk
from s2s.core.show import show
from s2s.errors import DifferentiationError, UnsupportedSyntaxError
from s2s.frontend.lower import lower
from s2s.frontend.lowering.places import places_of
from s2s.frontend.sources import find
from s2s.validation.interpret import run

np.random.seed(0)
FACTOR = 3.0
TRACE: list = []


def note(value):
    """Give the value back and remember that it was computed now."""
    TRACE.append(value)
    return value


def lowered(fn):
    return lower(find(fn))


def shown(fn):
    return show(lowered(fn)).replace("_operator.", "").replace("s2s.core.ops.", "").replace("%.", "%")


def make(text, name="f", extra=None):
    """The function ``name`` of a text that stands in a file of its own."""
    text = textwrap.dedent(text).lstrip("\n")
    file = f"<example {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "note": note, **(extra or {})}
    exec(compile(text, file, "exec"), space)
    return space[name]


def text_of(body, params="x, y, n"):
    fn = make(f"def f({params}):\n" + textwrap.indent(body, "    ") + "\n")
    lines = shown(fn).splitlines()[1:]
    return textwrap.dedent("\n".join(lines)) + "\n"


# --- the text of the named form -----------------------------------------------------------------------------

GOLDEN = [
    ("return np.sin(x) * x", """\
%1 = global np
%2 = getattr(%1, 'sin')
%3 = %2(x)
%4 = mul(%3, x)
return %4
"""),
    ("x += y\nx[1:, ...] -= 2\nx.a *= y", """\
x = iadd(x, y)
%1 = slice(1, None, None)
%2 = make_tuple(%1, Ellipsis)
x[%2] sub= 2
x.'a' mul= y
return None
"""),
    ("x, y = y, x + 1", """\
%1 = y
%2 = add(x, 1)
x = %1
y = %2
return None
"""),
    ("x, *y, (n, m) = n", """\
%1 = unpack(n, 1, 1)
x = getitem(%1, 0)
y = getitem(%1, 1)
%2 = getitem(%1, 2)
%3 = unpack(%2, 2, None)
n = getitem(%3, 0)
m = getitem(%3, 1)
return None
"""),
    ("a, x = n = x", """\
%1 = x
%2 = unpack(%1, 2, None)
a = getitem(%2, 0)
x = getitem(%2, 1)
n = %1
return None
"""),
    ("return x and y or not n", """\
%1 = x
if %1:
    %1 = y
%2 = %1
if %2:
    pass
else:
    %2 = not_(n)
return %2
"""),
    ("return 0 < x <= y", """\
%1 = lt(0, x)
if %1:
    %1 = le(x, y)
return %1
"""),
    ("return -1.5 if x else -y", """\
if x:
    %1 = -1.5
else:
    %1 = neg(y)
return %1
"""),
    ("return [i * y for i in x if i > n]", """\
%1 = make_list()
for i.1 in x:
    %2 = gt(i.1, n)
    if %2:
        %3 = mul(i.1, y)
        %1 = append(%1, %3)
return %1
"""),
    ("return x + (x := 2) + x", """\
%1 = x
x = 2
%2 = x
%3 = add(%1, %2)
%4 = x
%5 = add(%3, %4)
return %5
"""),
    ("return {**x, 'a': y, 'b': n, **n}", """\
%1 = make_dict()
%2 = merge_dict(%1, x)
%3 = make_dict('a', y, 'b', n)
%4 = merge_dict(%2, %3)
%5 = merge_dict(%4, n)
return %5
"""),
    ("while x > y:\n    x -= 1\nelse:\n    y = 0", """\
while:
    %1 = gt(x, y)
    yield %1
do:
    x = isub(x, 1)
else:
    y = 0
return None
"""),
    ("assert x, f'{y!r:>{n}} is {x=}'", """\
assert x:
    %1 = format_value(n, '', '')
    %2 = format_string('>', %1)
    %3 = format_value(y, 'r', %2)
    %4 = format_value(x, 'r', '')
    %5 = format_string(%3, ' is ', 'x=', %4)
    %6 = AssertionError(%5)
    yield %6
return None
"""),
    ("def g(a, b=x, *, c=n):\n    return lambda: a + y\nreturn g(1, *x, k=y, **n)", """\
g = function g[y]
%3 = g(1, *x, k=y, **n)
return %3
"""),
    ("import a.b\nimport a.b as c\nfrom a import b as d", """\
importlib.import_module('a.b')
a = importlib.import_module('a')
c = importlib.import_module('a.b')
%1 = importlib.import_module('a')
try:
    d = getattr(%1, 'b')
except AttributeError:
    try:
        d = importlib.import_module('a.b')
    except ModuleNotFoundError:
        %2 = ImportError("cannot import name 'b' from 'a'")
        raise %2
return None
"""),
]


@pytest.mark.parametrize("body, expected", GOLDEN)
def test_the_text_of_the_named_form(body, expected):
    assert text_of(body) == expected


def test_a_while_that_assigns_in_its_test_becomes_an_endless_loop_with_a_break():
    assert text_of("while (n := n - 1) > y:\n    x += 1\nelse:\n    y = 0") == """\
%4 = False
while:
    yield True
do:
    %1 = n
    n = sub(%1, 1)
    %2 = n
    %3 = gt(%2, y)
    %5 = not_(%3)
    if %5:
        %4 = True
        break
    x = iadd(x, 1)
if %4:
    y = 0
return None
"""


def test_the_head_of_a_function():
    def f(a, b: np.ndarray, /, c: "int" = 1, *args, d, e=2, **others):
        """Say what.

        More.
        """
        return a

    function = lowered(f)
    kinds = [
        "POSITIONAL_ONLY", "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL",
        "KEYWORD_ONLY", "KEYWORD_ONLY", "VAR_KEYWORD",
    ]
    assert [p.kind for p in function.params] == kinds
    assert [p.var.name for p in function.params] == ["a", "b", "c", "args", "d", "e", "others"]
    assert [p.has_default for p in function.params] == [False, False, True, False, False, True, False]
    assert [p.annotation for p in function.params[:3]] == ["", "np.ndarray", '"int"']
    assert (function.name, function.doc, function.captures) == ("f", "Say what.\n\nMore.", ())


def test_names_of_enclosing_functions_are_free_and_others_global():
    k = 2.0

    def f(x):
        return k * x * FACTOR * len(x)

    loads = [s.value for s in lowered(f).body.statements if isinstance(s.value, ir.Load)]
    assert loads == [ir.Load("k", "free"), ir.Load("FACTOR", "global"), ir.Load("len", "global")]


def test_captures_go_through_functions_between():
    def f(x, y):
        def g(a):
            return lambda b: a * b * y + FACTOR

        return g(x)(y)

    made = lowered(f).body.statements[0].value
    inner = made.function.body.statements[0].value
    assert made.captures == made.function.captures == (ir.Var("y"),)
    assert inner.captures == (ir.Var("a"), ir.Var("y"))


def test_a_lambda_in_a_comprehension_captures_the_variable_of_the_comprehension():
    def f(x):
        i = 5
        return [(lambda: i)() for i in x], i

    values = [s.value for s in walk(lowered(f).body) if isinstance(s, ir.Let)]
    made = next(value for value in values if isinstance(value, ir.MakeFunction))
    assert made.captures == (ir.Var("i", 1),)


def test_private_names_are_those_of_the_class():
    class Model:
        def f(self, __x):
            self.__k = __x
            return self.__k + self.__init__

    assert shown(Model.f).splitlines()[:3] == [
        "def f(self, _Model__x):",
        "    self.'_Model__k' = _Model__x",
        "    %1 = getattr(self, '_Model__k')",
    ]


# --- what it computes ---------------------------------------------------------------------------------------


def evaluation_order(x):
    note(1) + note(2) * -note(3)
    {note("k"): note("v"), **{note("s"): 1}}
    x[note(0)], x[note(1)] = note(5), note(6)
    note(dict)(*[note(8)][1:], a=note(9), **{"b": note(10)})
    return [note(a) for a in x if note(a) > 5], note(1) < note(0) < note(7), note(0) or note(4) and note(3)


def swaps(x):
    a, b, c = x
    a, b = b, a
    (a, c), x[0] = (c, a), a
    [p, *q], r = (a, b, c), c
    return a, b, c, p, q, r, x


def exits(x):
    total = 0
    for i, v in enumerate(x):
        if v < 0:
            continue
        if v > 3:
            break
        for w in x:
            if w == v:
                break
        else:
            total += 100
        total += i * v
    else:
        total += 1000
    while total > 0:
        total -= 7
        if total == 3:
            return "three"
    else:
        total *= 2
    return total


def walrus(x):
    y = 1
    r = y + (y := x[0]) * y + (y := 4)
    while (y := y - 1) > 0:
        r += y
    else:
        r *= 2
    return r, y, [z := v + y for v in x], z


def loops_whose_else_breaks(x):
    seen = []
    for v in x:
        while (v := v - 1) > 0:
            seen.append(v)
            if v == 2:
                break
        else:
            if len(seen) > 4:
                break
            continue
        seen.append("broke")
    return seen


def comprehensions(x):
    i = 7
    pairs = [(i, j) for i in x for j in range(int(i)) if i > j if j]
    nested = [[i * j for j in x] for i in x]
    total = sum(i * i for i in x) + sum([i for i in x], start=1)
    return pairs, nested, total, {i % 2 for i in x}, {i: -i for i in x}, i


def strings(x):
    name, width = "s", 8
    return (
        f"{name!r:>{width}}|{x[0]:.2f}" "a\tb" rf"\d{name}" f"{{}} {name=} {x[1] = :>6}", "a" "b", b"a" b"b",
        f"""it's "{name}" """ f'it\'s {name}', f"plain",  # noqa: F541
    )


def functions(x):
    k = 2

    def power(a, b=k, *rest, c=3, **others):
        return a**b + c + sum(rest) + sum(others.values())

    def twice(fn):
        return lambda *args, **kwargs: 2 * fn(*args, **kwargs)

    @twice
    @twice
    def shifted(a):
        return a + k

    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    k = 10
    return power(x[0]), power(2, 3, 4, 5, c=6, d=7), shifted(1), factorial(5), (lambda a, *, b=4: a + b)(1)


def subscripts(x):
    a = np.arange(24.0).reshape(2, 3, 4)
    a[0, 1:] = 5
    a[..., None, ::2] *= 2
    a[(1,)][0] += 1
    return a[1, :, -1], a[0,], a[1:][0][::-1], x[-1], x[:2], a.T[0], (a[1, 2] ** 2).sum(), a[*(0, 1)]


def literals(x):
    return 1_000, 0x1F, 1e-3, 2j, -2j, ..., None, True, (), [], {}, set([1]), "a", -1.5, +2, ~3, not x, {1, 2}


def operators(x):
    a, b = 13, 4
    r = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b, a == b, a != b]
    a += b; a -= 1; a *= 2; a //= 3; a **= 2; a %= 50; a <<= 2; a >>= 1; a |= 1; a &= 31; a ^= 3; a /= 2
    return r, a, a is b, a is not b, b in x, b not in x, x < [2] <= [3] != [4], np.eye(2) @ np.ones(2)


def imports(x):
    import math
    import os.path
    import os.path as p
    from math import pi
    from math import sqrt as root

    return math.sin(1), os.path.join is p.join, pi, root(4)


def chained(x):
    a = b = [0]
    i = x[i] = 1
    b.append(i)
    return a, b, x


CASES = [evaluation_order, swaps, exits, walrus, loops_whose_else_breaks, comprehensions, strings, functions,
         subscripts, literals, operators, imports, chained]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("x", [[1, 2, 3], [5, -1, 2], [3, 1, 7]], ids=str)
def test_the_named_form_computes_what_python_does(fn, x):
    TRACE.clear()
    expected, trace = fn(list(x)), list(TRACE)
    TRACE.clear()
    got = run(lowered(fn), [list(x)], globals())
    assert repr(got) == repr(expected)
    assert repr(TRACE) == repr(trace)


def test_assigned_globals():
    def f(x):
        global COUNT
        COUNT += x
        for COUNT in (COUNT, COUNT * 2):  # noqa: B007
            pass
        return COUNT

    there = {"COUNT": 3}
    assert run(lowered(f), [2], there) == 10 and there == {"COUNT": 10}


def test_raise_and_assert():
    def f(x):
        assert x, note("failed")
        raise ValueError("no") from KeyError(x)

    with pytest.raises(AssertionError, match="failed"):
        run(lowered(f), [0], globals())
    with pytest.raises(ValueError, match="no") as caught:
        run(lowered(f), [1], globals())
    assert isinstance(caught.value.__cause__, KeyError)


def test_lambdas():
    f, g = (lambda x, k=2: x * k), (lambda x: [y + x
        for y in (x,)])  # fmt: skip
    assert run(lowered(f), [3, 2], globals()) == 6
    assert run(lowered(g), [3], globals()) == [6]
    assert lowered(f).name == "lambda_"


# --- places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [
    "s2s.frontend.lowering.statements", "s2s.core.ir", "tests.frontend.test_lower", "fractions", "textwrap",
])
def test_places_are_those_of_libcst(module):
    text = inspect.getsource(importlib.import_module(module))
    tree = cst.parse_module(text)
    places = places_of(tree)
    starts = [0, *itertools.accumulate(map(len, text.splitlines(keepends=True)))]
    for node, expected in MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider).items():
        if node is not tree:
            ends = (expected.start, expected.end)
            assert places[node] == tuple(starts[end.line - 1] + end.column for end in ends)


def at(fn, span):
    """The user's text at a span within one line."""
    assert span.line == span.end_line
    return linecache.getline(find(fn).file, span.line)[span.column : span.end_column]


def test_every_statement_has_the_place_of_what_it_stands_for():
    def f(x):
        y = [np.sin(é) * 2 for é in x]
        y[0] = x.sum(0) + 1
        x += y[1:]
        return -x

    spans = {
        operator.mul: "np.sin(é) * 2", operator.add: "x.sum(0) + 1", operator.iadd: "x += y[1:]",
        operator.getitem: "y[1:]", slice: "1:", operator.neg: "-x", ops.append: "np.sin(é) * 2",
    }
    found = {}
    for statement in walk(lowered(f).body):
        assert statement.span is not None and statement.span.function == f.__qualname__
        if isinstance(statement, ir.Let) and isinstance(statement.value, ir.Call):
            if isinstance(statement.value.fn, ir.Const):
                found[statement.value.fn.value] = at(f, statement.span)
        if isinstance(statement, ir.Store):
            assert at(f, statement.span) == "y[0] = x.sum(0) + 1"
        if isinstance(statement, ir.For):
            assert at(f, statement.span) == "é in x"
    assert {fn: found[fn] for fn in spans} == spans


def test_places_in_a_lambda_over_many_lines():
    f = (1, lambda x: (np.sin(x)
              + np.cos(x)))[1]  # fmt: skip

    spans = [s.span for s in lowered(f).body.statements]
    on_one_line = [at(f, span) for span in spans if span.line == span.end_line]
    assert on_one_line == ["np", "np.sin", "np.sin(x)", "np", "np.cos", "np.cos(x)"]
    assert spans[-1].end_line == spans[0].line + 1


# --- refusals -----------------------------------------------------------------------------------------------

REFUSED = [
    ("S2S103", "z = yield from x", "yield from x"),
    ("S2S104", "try:\n    pass\nexcept* ValueError:\n    pass", "try"),
    ("S2S104", "try:\n    y = x\nexcept y:\n    pass", "y"),
    ("S2S102", "async def g():\n    async with x: pass", "async def g"),
    ("S2S107", "class C(int):\n    pass", "class C"),
    ("S2S108", "global FACTOR\ndel FACTOR", "FACTOR"),
    ("S2S114", "return super().f(x)", "super()"),
    ("S2S115", "return locals()", "locals()"),
    ("S2S115", "y = eval('x')", "eval('x')"),
    ("S2S101", "return next(i for i in x)", "next(i for i in x)"),
    ("S2S102", "async def g():\n    await x", "async def g"),
]


@pytest.mark.parametrize("code, body, caret", REFUSED)
def test_refusals_point_at_the_construct(code, body, caret):
    fn = make("def f(x, y):\n" + textwrap.indent(body, "    ") + "\n")
    with pytest.raises(UnsupportedSyntaxError) as caught:
        lowered(fn)
    diagnostic = caught.value.diagnostic
    assert diagnostic.code == code and diagnostic.label and diagnostic.hint
    assert at(fn, diagnostic.span) == caret
    carets = next(line for line in str(caught.value).splitlines() if "^" in line)
    assert carets.count("^") == len(caret)


def message(text, name="f"):
    fn = make(text, name)
    with pytest.raises(DifferentiationError) as caught:
        lowered(fn)
    return str(caught.value).replace(find(fn).file, "model.py")


def test_super_is_the_class_of_the_method_and_its_first_parameter():
    text = """
        class Model:
            def f(this, x):
                return super().f(x)
        f = Model.f
        """
    assert show(lowered(make(text))) == """\
def f(this, x):
    %.1 = free __class__
    %.2 = global super
    %.3 = %.2(%.1, this)
    %.4 = getattr(%.3, 'f')
    %.5 = %.4(x)
    return %.5
"""


def test_the_message_of_a_coroutine():
    assert message("async def f(x):\n    return x\n") == """\
a coroutine cannot be differentiated [S2S102]
 --> model.py:1:1 in `f`
  |
1 | async def f(x):
  | ^^^^^^^^^^^ gives its result later; a derivative needs it now
  = instead:  move what waits out of the function, and differentiate a function that computes only"""


def test_the_message_of_a_global():
    assert message("count = 0\ndef f(x):\n    global count\n    del count\n    return x\n") == """\
the global variable `count` is assigned [S2S108]
 --> model.py:4:9 in `f`
  |
2 | def f(x):
3 |     global count
4 |     del count
  |         ^^^^^ changes a variable outside the function
  = instead:  return the new value and assign `count` outside the function"""
