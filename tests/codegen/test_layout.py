"""Long statements on several lines: they mean the same, fit, and are broken where a person would."""

import ast
import re

import pytest

from s2s.codegen import printing
from s2s.codegen.layout import laid_out

TEXTS = [
    "value = first_of_them * (second_of_them + third_of_them - fourth) - np.where(condition, one_of_two, the_other)",
    "saved_5 = rt.call_method(an_object[index_one, index_two], 'method', argument, key=other - (b - c), *more, **rest)",
    "return -np.sum(one_of_the_factors * another_of_the_factors * third_of_the_factors, axis=0, keepdims=True)",
    "x_bar -= first_of_them - (second_of_them - third_of_them) * (fourth_one if condition else fifth_one) ** 2",
    "found = a_long_condition and (another_condition or a_third_condition) and not (a_fourth_condition and x)",
    "made = {'a': 1, 'b': a_function_of_something(argument_one, argument_two, argument_three, argument_four)}",
    "pair = a_function(argument_one, argument_two), [element_one, element_two, element_three, element_four]",
    "x[first_index, second_index] = first_of_them @ second_of_them @ (third_of_them @ fourth_of_them) % fifth",
    "print(f'{first_of_them} and {second_of_them}', (lambda x: x + first_of_them), *[a for a in second_of_them])",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [30, 44, 60, 90])
def test_what_is_laid_out_means_the_same(text, width):
    node = ast.parse(text).body[0]
    found = laid_out(node, width, printing.print_expression)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
    opened = [line for line in found.splitlines() if line.endswith(("(", "["))]
    assert opened or found.count("\n") == 0
    assert not re.search(r"^ *[,.=]|\.$", found, re.MULTILINE)


def test_lines_are_broken_at_operators_and_commas():
    node = ast.parse(TEXTS[2]).body[0]
    assert laid_out(node, 50, printing.print_expression) == """\
return -np.sum(
    one_of_the_factors
    * another_of_the_factors
    * third_of_the_factors,
    axis=0,
    keepdims=True,
)"""


def test_what_astor_would_tear_is_laid_out():
    text = "warnings.warn('" + "a" * 90 + "', DeprecationWarning)"
    lines = printing.print_statement(ast.parse(text).body[0], 1)
    assert lines == ["    warnings.warn(", f'        "{"a" * 90}",', "        DeprecationWarning,", "    )"]


def test_long_lines_are_wrapped_without_astor(monkeypatch):
    monkeypatch.setattr(printing, "_wrapped_by_astor", lambda node, width: None)
    for text in TEXTS[:4]:
        lines = printing.print_statement(ast.parse(text).body[0], 10)
        assert len(lines) > 1 and max(map(len, lines)) <= printing.WIDTH
