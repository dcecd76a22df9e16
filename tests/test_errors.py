"""Messages: their text in full, pickling, the catalogue."""

import pickle
import string

import pytest

from s2s.core.ir import Span
from s2s.errors import (
    CATALOGUE,
    ArgumentError,
    Diagnostic,
    DifferentiationError,
    InternalError,
    UnsupportedSyntaxError,
    error,
    render,
)

MODEL = """\
import numpy as np

def simulate(state, steps):
    for t in range(steps):
        state = np.tanh(state)
        yield state
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return str(path)


def test_a_message_in_full(model):
    problem = error(
        "S2S103", span=Span(model, 6, 8, 6, 19, "simulate"),
        label="yields many values; a derivative needs one result",
        hint="append each state to a list and `return` the list",
        asked_by=("s2s.grad(loss)", "loss (train.py:31)", "simulate"),
    )
    assert isinstance(problem, UnsupportedSyntaxError)
    assert str(problem) == """\
a generator cannot be differentiated [S2S103]
 --> model.py:6:9 in `simulate`
  |
4 |     for t in range(steps):
5 |         state = np.tanh(state)
6 |         yield state
  |         ^^^^^^^^^^^ yields many values; a derivative needs one result
  = asked by: s2s.grad(loss) -> loss (train.py:31) -> simulate
  = instead:  append each state to a list and `return` the list"""


def test_without_a_place_the_message_says_what_and_what_to_do():
    problem = error("S2S501", name="f", number=3, label="it has 2 arguments", hint="use argnums=0 or 1")
    assert isinstance(problem, ArgumentError) and isinstance(problem, TypeError)
    assert str(problem) == """\
`f` has no argument number 3 [S2S501]
  = because: it has 2 arguments
  = instead:  use argnums=0 or 1"""


def test_a_file_that_cannot_be_read_leaves_the_place():
    text = render(Diagnostic("S2S101", "no", "why", "how", Span("/nowhere/x.py", 12, 4, 12, 9, "f")))
    assert text == "no [S2S101]\n  --> /nowhere/x.py:12:5 in `f`\n   = because: why\n   = instead:  how"


def test_context_skips_blank_lines_and_many_lines_are_underlined_on_the_first(model):
    text = render(Diagnostic("S2S101", "no", "here", "", Span(model, 3, 0, 5, 3)))
    assert text == """\
no [S2S101]
 --> model.py:3:1
  |
1 | import numpy as np
2 |
3 | def simulate(state, steps):
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ here"""


def test_tabs_keep_the_carets_in_place(tmp_path):
    path = tmp_path / "tabs.py"
    path.write_text("if 1:\n\tx = 2\n")
    text = render(Diagnostic("S2S101", "no", "", "", Span(str(path), 2, 1, 2, 2)))
    assert text.splitlines()[-1] == "  | \t^"


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_message_of_the_catalogue_can_be_made_and_pickled(code):
    kind, summary = CATALOGUE[code]
    fields = {name: f"<{name}>" for _, name, _, _ in string.Formatter().parse(summary) if name}
    problem = error(code, hint="h", **fields)
    again = pickle.loads(pickle.dumps(problem))
    assert type(again) is type(problem) is kind and issubclass(kind, DifferentiationError)
    assert str(again) == str(problem) and again.diagnostic == problem.diagnostic
    assert str(problem).splitlines()[0].endswith(f"[{code}]") and kind.__doc__


@pytest.mark.parametrize("code", [c for c in CATALOGUE if c[3] == "2"])
def test_every_missing_derivative_has_a_hint(code):
    fields = dict.fromkeys(("name", "reason", "keyword"), "<given>")
    hint = error(code, **fields).diagnostic.hint
    assert hint and "{" not in hint


def test_the_hint_of_a_reason_follows_its_semicolon():
    problem = error("S2S202", name="sort", reason="it changes its argument; write `a = np.sort(a)`")
    assert str(problem) == """\
`sort` has no derivative: it changes its argument [S2S202]
  = instead:  write `a = np.sort(a)`"""


def test_the_hint_of_the_place_that_raises_comes_first():
    assert error("S2S113", hint="use np.where").diagnostic.hint == "use np.where"
    assert error("S2S203", name="exp", keyword="out").diagnostic.hint == "call it without `out`"


def test_a_pickled_message_does_not_read_the_file_again(model, tmp_path):
    problem = error("S2S107", span=Span(model, 6, 8, 6, 13, "simulate"))
    stored = pickle.dumps(problem)
    (tmp_path / "model.py").unlink()
    assert "6 |         yield state" in str(pickle.loads(stored))


def test_internal_errors_say_so():
    problem = error("S2S901", problem="a bad node", hint="python -m s2s show f.py")
    assert isinstance(problem, InternalError)
    assert str(problem).startswith("internal error in s2s: a bad node [S2S901]")


def test_a_missing_field_is_noticed():
    with pytest.raises(KeyError):
        error("S2S201")
