"""The lines of a text of Python are those that Python counts, and one function knows them."""

import ast

import pytest

from s2s.core.lines import indented, lines_of, one_line
from tests.helpers import ROOT

NO_ENDS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
"""Where ``str.splitlines`` ends a line, and Python does not."""

ENDS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
@pytest.mark.parametrize("inside", ["", *NO_ENDS], ids=ascii)
def test_lines_are_those_that_python_counts(inside, end):
    text = end.join([f"x = 1  # one{inside}x = 2", f"y = '{inside or 'a'}'", f"z = 3{end}", "w = 4", ""])
    lines = lines_of(text)
    assert lines_of(text, keepends=True) == [f"{line}\n" for line in lines]
    for node in ast.parse(text).body:
        assert lines[node.lineno - 1].startswith(f"{node.targets[0].id} = ")
    assert lines[0].endswith("x = 2") and len(lines) == 5


@pytest.mark.parametrize("text", ["", "x", "x\n", "x\n\n", "\n", "x\r", "x\r\ny"])
def test_the_last_line_need_not_end(text):
    assert lines_of(text) == text.splitlines()
    assert "".join(lines_of(text, keepends=True)) == text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("inside", NO_ENDS, ids=ascii)
def test_what_is_shown_is_one_line_to_every_reader(inside):
    assert one_line(f"# a{inside}b") == "# a b"
    assert indented(f"x  # a{inside}b\n\ny") == f"    x  # a{inside}b\n\n    y"


def test_no_other_module_splits_a_text_into_lines_by_another_rule():
    """Neither by ``str.splitlines``, nor by what calls it."""
    found = []
    for file in (ROOT / "s2s").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "splitlines" in text or "textwrap" in text else ():
            if isinstance(node, ast.Attribute) and (
                    node.attr == "splitlines" or ast.unparse(node) == "textwrap.indent"):
                found.append(f"{file.relative_to(ROOT / 's2s')}:{node.lineno}")
    assert [place.partition(":")[0] for place in found] == ["core/lines.py"]
