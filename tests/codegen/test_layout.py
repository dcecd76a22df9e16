"""Statements are printed as ``ruff format`` leaves them: they mean the same, fit, and are broken where it breaks them.
"""

import ast
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from s2s.codegen import printing

TEXTS = [
    "value = first_of_them * (second_of_them + third_of_them - fourth) - np.where(condition, one_of_two, the_other)",
    "saved_5 = rt.call_method(an_object[index_one, index_two], 'method', argument, key=other - (b - c), *more, **rest)",
    "return -np.sum(one_of_the_factors * another_of_the_factors * third_of_the_factors, axis=0, keepdims=True)",
    "x_bar -= first_of_them - (second_of_them - third_of_them) * (fourth_one if condition else fifth_one) ** 2",
    "found = a_long_condition and (another_condition or a_third_condition) and not (a_fourth_condition and x)",
    "made = {'a': 1, 'b': a_function_of_something(argument_one, argument_two, argument_three, argument_four)}",
    "pair = a_function(argument_one, argument_two), [element_one, element_two, element_three, element_four]",
    "x[first_index, second_index] = first_of_them @ second_of_them @ (third_of_them @ fourth_of_them) % fifth",
    "x[index] = -(first_of_several_long_names + second_of_several_long_names + third_of_several_long_names)",
    "t0 = np.sum(first_of_several_long_names * second_of_several_long_names, axis=another_long_name)[:, 0]",
    "t1 = scale * a_function_of_something(first_of_several_long_names, second_of_several_long_names)",
    "t2 = a_long_name_of_an_array[first_of_several_long_names, second_of_several_long_names, third_one + 1]",
    "t3 = first_of_several_long_names if second_of_several_long_names > third_of_several_long_names else 0.0",
    "a, b = f([i ** 2 for i in a_function_of_something(first_of_several_long_names, second_of_them) if i != 'x'], 1)",
    "raise ValueError('operands could not be broadcast together with shapes', first_of_several, second_of_several)",
    "assert first_of_several_long_names == second_of_several_long_names, ('shapes that differ', third_one, fourth)",
]
SHORT = [
    "x ** 2", "-x ** 2", "x[0] ** 2", "x.a ** -0.5", "f(x) ** 2", "2 ** -x", "2 ** (-x[0])", "x ** y ** 2",
    "(x ** y) ** 2",
    "(-2) ** x", "x ** 1e-05", "-(-x)", "a - (b - c)", "a @ (b @ c)", "(a or b) and c", "(not a) == b", "not a == b",
    "a if b else c if d else e", "(a if b else c) + 1", "(lambda x: x ** 2)(2)", "a < b < c", "(a < b) < c",
    "~a | b & c",
    "y[a + 1:]", "y[:f(2)]", "y[a:b + 1]", "y[-a:2, ::-1]", "y[2 * a:, ::f(x)]",
    "y[f(2):g(2):2]", "y[a,]", "y[()]", "y[(a, b)]",
    "'text'", "'it\\'s'", "'say \"x\"'", "'line\\n'", "'a\"b\\'c'", "b'bytes'", "(1).real", "1e16", "(-1).real",
    "(a,)", "()",
    "{**a, 'b': 1}", "{1, *a}", "[*a, *b]", "f(*a, **b, c=(1,))", "f((a := 3))",
    "{k: v for k, v in a if k in ('x', 'y')}",
    "f'{x} {y!r}'", "lambda: x", "lambda a, *b, c=1: a",
]  # fmt: skip


def ruff(text, width):
    """The text as it is formatted in lines of so many columns."""
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if beside.exists() else shutil.which("ruff") or pytest.skip("needs ruff")
    words = [found, "format", "--isolated", "--line-length", str(width), "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


def printed(text):
    node = ast.parse(text).body[0]
    return "\n".join(printing.print_statement(node, 0)) + "\n"


def at_width(monkeypatch, width):
    monkeypatch.setattr(printing, "WIDTH", width)


@pytest.mark.parametrize("width", [80, 88, 100])
def test_long_statements_are_broken_as_ruff_breaks_them(monkeypatch, width):
    at_width(monkeypatch, width)
    texts = [printed(text) for text in TEXTS]
    for text, found in zip(TEXTS, texts, strict=True):
        assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
        assert max(map(len, found.splitlines())) <= width
    assert "".join(texts) == ruff("".join(texts), width)
    assert printed(TEXTS[0]) == ruff(TEXTS[0], width)  # and not only where there is a comma after the last item


def test_expressions_are_written_as_ruff_writes_them():
    texts = [printed(f"x_bar = {text}") for text in SHORT]
    assert [ast.dump(ast.parse(text)) for text in texts] == [ast.dump(ast.parse(f"x_bar = {text}")) for text in SHORT]
    assert "".join(texts) == ruff("".join(texts), 88)


def an_expression(choose, depth):
    """A random one, of what adjoints are made of."""
    kind, name = choose.random(), choose.choice(["x", "W_bar", "t0", "hidden", "positions", "u_bar_1"])
    if depth <= 0 or kind < 0.12:
        return name
    one, other = (an_expression(choose, depth - 1) for _ in range(2))
    if kind < 0.5:
        one = f"({one})" if choose.random() < 0.2 else one
        return f"{one} {choose.choice('+-**/@')} {f'({other})' if choose.random() < 0.2 else other}"
    if kind < 0.75:
        fn = choose.choice(["np.sum", "f", "np.expand_dims"])
        return f"{fn}({one}, {other})" if choose.random() < 0.5 else f"{fn}({one}, axis=0)"
    if kind < 0.9:
        return f"{name}[{choose.choice([':', '1:-1', 't1 + 1:', 'i', other])}]"
    return f"({one}) ** 2" if kind < 0.95 else f"-{one}"


def test_random_statements_are_broken_as_ruff_breaks_them():
    """Nearly all; the others mean the same and fit."""
    choose, total, same = random.Random(7), 0, 0
    made = []
    while len(made) < 300:
        target = choose.choice(["x_bar =", "x_bar[i, j] +=", "result ="])
        node = ast.parse(f"{target} {an_expression(choose, 4)}")
        if 88 < len(ast.unparse(node)) < 200:
            made.append(node)
    for node in made:
        text = "\n".join(printing.print_statement(node.body[0], 0)) + "\n"
        assert ast.dump(ast.parse(text)) == ast.dump(node) and max(map(len, text.splitlines())) <= 88
    texts = ["\n".join(printing.print_statement(node.body[0], 0)) + "\n" for node in made]
    formatted = ruff("# ---\n".join(texts), 88).split("# ---\n")
    total, same = len(texts), sum(a == b for a, b in zip(texts, formatted, strict=True))
    assert same > 0.9 * total


def test_lines_are_broken_at_operators_and_commas(monkeypatch):
    at_width(monkeypatch, 50)
    assert printed(TEXTS[2].replace("return", "made =")) == """\
made = -np.sum(
    one_of_the_factors
    * another_of_the_factors
    * third_of_the_factors,
    axis=0,
    keepdims=True,
)
"""


def test_headers_are_broken_and_keep_the_parentheses_of_tuples():
    assert printing.print_header("except", ast.parse("(A, B)", mode="eval").body, 0) == ["except (A, B):"]
    test = ast.parse(f"{'a' * 40} and {'b' * 40} and {'c' * 40}", mode="eval").body
    assert printing.print_header("if", test, 1) == [
        "    if (", f"        {'a' * 40}", f"        and {'b' * 40}", f"        and {'c' * 40}", "    ):"]


def test_what_has_no_brackets_to_open_is_left_to_astor():
    pytest.importorskip("astor")
    text = f"x[{'a' * 40}, {'b' * 41}] += c - d"
    assert printed(text) == f"x[{'a' * 40},\n    {'b' * 41}] += c - d\n"
