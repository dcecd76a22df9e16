"""Where a derivative is watched for numbers that are not finite: which names of a statement are looked at."""

import ast
import types

import pytest

from s2s.dispatch.finite import _SEEN, _Instrumented


def watched(text):
    """What is looked at in a text: the names that get a value, those that it reads, and whether they get another."""
    statements = []
    tree = _Instrumented(types.SimpleNamespace(text=text), statements).visit(ast.parse(text))
    calls = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and getattr(c.func, "id", "") == _SEEN]
    assert sorted(c.args[0].value for c in calls) == list(range(len(statements)))
    looked_at = {c.args[0].value: [ast.unparse(a) for a in c.args[1:]] for c in calls}
    return [(s.names, s.reads, s.whole, looked_at[k], s.text) for k, s in enumerate(statements)]


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("y = a * b", [(("y",), ("a", "b"), True, ["y"])]),
        ("y, (z, *w) = f(a)", [(("y", "z", "w"), ("f", "a"), True, ["y", "z", "w"])]),
        ("y[k] = a", [(("y",), ("a",), False, ["y[k]"])]),
        ("y = np.empty(n)", []),
        ("y: float = a", [(("y",), ("a",), True, ["y"])]),
        ("y: float", []),
        ("y += a", [(("y",), ("a", "y"), True, ["y"])]),
        ("saved.append(h)", [(("saved",), ("h",), False, ["h"])]),
        ("saved.append(h * h)", []),
        ("append(h)", []),
        ("saved.insert(0, h)", []),
        ("saved.clear()", []),
        ("saved", []),
        ("self.saved.append(h)", []),
    ],
)
def test_what_is_looked_at(text, wanted):
    assert watched(text) == [(*one, text) for one in wanted]


def test_statements_are_numbered_as_they_stand():
    text = "y = a\nfor v in y:\n    z = v\nsaved.append(z)"
    loop, inner, last = ("for v in y:", ["v"]), ("z = v", ["z"]), ("saved.append(z)", ["z"])
    assert [(one[-1], one[-2]) for one in watched(text)] == [("y = a", ["y"]), inner, loop, last]
