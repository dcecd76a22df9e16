"""Messages: their text in full, pickling, the catalogue, and its pages in the documents."""

import ast
import pickle
import re
import runpy
import string
import struct
import traceback
from decimal import Decimal

import numpy as np
import pytest

import s2s
from s2s.cli.pages import prelude
from s2s.core.ir import Span
from s2s.core.package import page_of
from s2s.errors import (
    CATALOGUE,
    HINTS,
    ArgumentError,
    Diagnostic,
    DifferentiationError,
    InternalError,
    UnsupportedSyntaxError,
    error,
    render,
)
from tests.helpers import ROOT

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


# --- the catalogue, the code that raises, and the page in the documents ----------------------------------------------


def raised_codes():
    """The codes that the modules of s2s name other than to compare with them; of the catalogue's own module, those that
    it makes errors of."""
    found = set(re.findall(r'\berror\("(S2S\d{3})"', (ROOT / "s2s" / "errors.py").read_text(encoding="utf-8")))
    for file in (ROOT / "s2s").rglob("*.py"):
        if file.name == "errors.py":
            continue
        text = file.read_text(encoding="utf-8")
        if "S2S" not in text:
            continue
        tree = ast.parse(text)
        compared = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)}
        found |= {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and re.fullmatch(r"S2S\d{3}", node.value) and id(node) not in compared
        }
    return found


def test_the_catalogue_has_the_codes_that_are_raised():
    assert raised_codes() == set(CATALOGUE)
    assert set(HINTS) <= set(CATALOGUE)


def test_no_code_and_no_message_comes_twice():
    text = (ROOT / "s2s" / "errors.py").read_text(encoding="utf-8")
    keys = re.findall(r'^    "(S2S\d{3})": \(', text, re.M)
    assert len(keys) == len(set(keys)) == len(CATALOGUE)
    summaries = [summary for _, summary in CATALOGUE.values()]
    assert len(summaries) == len(set(summaries))


ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def pages():
    """The sections of docs/errors.md by code."""
    sections = re.split(r"^### (S2S\d{3})\n", ERRORS, flags=re.M)[1:]
    return {code: body.partition("\n## ")[0] for code, body in zip(sections[::2], sections[1::2], strict=True)}


PAGES = pages()
EXAMPLES = {code: re.findall(r"```python\n(.*?)```", body, re.S) for code, body in PAGES.items()}

NOT_SHOWN = {
    "S2S116": "a syntax that libcst does not know and Python does",
    "S2S117": "known to be shared, and not followed",
    "S2S124": "shows when the program runs, behind stores that are followed",
    "S2S126": "memory that no array owns",
    "S2S127": "a function that gives an argument back, in forward mode",
    "S2S136": "a fixpoint that is not reached",
    "S2S141": "a path through a library",
    "S2S145": "generated code of an observed function, run by itself",
    "S2S207": "a starred argument in a display",
    "S2S303": "a file that has changed",
    "S2S304": "Python without positions",
    "S2S517": "a statement without a pattern",
    "S2S525": "half a rule, for an object",
    "S2S533": "Numba is not installed",
    "S2S538": "an extra is not installed",
    "S2S146": "arrays of another module",
    "S2S535": "arrays of another module", "S2S536": "arrays of another module", "S2S537": "arrays of another module",
    "S2S539": "arrays of another module",
    "S2S704": "an array of Dask", "S2S705": "arrays of another module", "S2S706": "a cluster of Dask",
    "S2S707": "Dask is not installed", "S2S708": "a cluster of Dask", "S2S710": "a call that is recorded",
    "S2S712": "another process", "S2S713": "another process",
    "S2S720": "JAX is not installed", "S2S721": "a tensor on a device", "S2S722": "a tensor of PyTorch",
    "S2S901": "a mistake of s2s",
    "S2S910": "a mistake of s2s",
}
"""The codes without a short program that raises them, and what it would take."""


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_has_its_page(code):
    kind, summary = CATALOGUE[code]
    assert PAGES[code].startswith(f"\n**{summary}** (`{kind.__name__}`)\n\n")
    assert code not in HINTS or f"\nInstead: {HINTS[code]}.\n" in PAGES[code]
    assert len(EXAMPLES[code]) == (code not in NOT_SHOWN)


def test_a_traceback_ends_with_the_page_which_is_no_part_of_the_text():
    problem = error("S2S103", span=Span("model.py", 112, 4, 112, 9, "f"))
    for shown in (problem, pickle.loads(pickle.dumps(problem))):
        *lines, last = traceback.format_exception_only(shown)
        assert last == f"    = page:     {page_of('S2S103')}\n"
        assert page_of("S2S103").endswith("/docs/errors.md#s2s103") and "page:" not in str(shown) + lines[0]
        assert page_of("S2S103") in shown._repr_html_()


def test_there_is_no_page_of_another_code():
    assert list(PAGES) == list(CATALOGUE)


@pytest.mark.parametrize("code", [code for code in CATALOGUE if code not in NOT_SHOWN])
def test_the_example_of_a_page_raises_its_code(code, tmp_path, monkeypatch):
    """With the lines that the page says it begins with, and no settings but theirs."""
    monkeypatch.delenv("S2S_RECORDED", raising=False)
    file = tmp_path / f"example_{code}.py"
    file.write_text(prelude(ERRORS) + EXAMPLES[code][0], encoding="utf-8")
    with pytest.raises(DifferentiationError) as info:
        runpy.run_path(str(file))
    assert info.value.diagnostic.code == code, info.value


@pytest.mark.parametrize(("f", "kind", "hint"), [
    (lambda x: None, "None", "`return` the number"),
    (lambda x: (x, x), "a tuple", "has_aux=True"),
    (lambda x: x * 1j, "of type complex", "`z.real` or `abs(z) ** 2`"),
    (lambda x: x > 1.0, "of type bool", "integers and bools have no derivative"),
    (lambda x: "a", "of type str", "return one float"),
])
def test_the_hint_for_a_result_says_what_to_return(f, kind, hint):
    with pytest.raises(s2s.errors.NonScalarOutputError, match="S2S402") as caught:
        s2s.grad(f)(2.0)
    assert caught.value.diagnostic.summary == f"the result of `lambda` is {kind}; a gradient needs one real float"
    assert hint in caught.value.diagnostic.hint


def of_two(x, y):
    return x * y


@pytest.mark.parametrize(("call", "hint"), [
    (lambda: s2s.grad(of_two, argnums="x, y")(1.0, 2.0), "write them as a tuple, ('x', 'y')"),
    (lambda: s2s.grad(sum)([1, 2]), "make its numbers floats, or leave it out of `argnums`"),
    (lambda: s2s.grad(property(of_two)), "give its function: `.fget`, which takes the object"),
])
def test_the_hint_for_a_call_says_what_to_write(call, hint):
    with pytest.raises(s2s.errors.ArgumentError) as caught:
        call()
    assert caught.value.diagnostic.hint == hint


def test_a_static_method_is_differentiated_as_the_body_of_a_class_has_it():
    assert s2s.grad(staticmethod(of_two))(3.0, 5.0) == 5.0


def test_names_that_come_later_are_listed_and_suggested():
    assert {"hessian", "optim", "grad"} <= set(dir(s2s))
    with pytest.raises(AttributeError) as caught:
        s2s.hesian
    assert (caught.value.name, caught.value.obj) == ("hesian", s2s)


def test_an_array_of_another_module_is_named_with_its_module():
    torch = pytest.importorskip("torch")
    with pytest.raises(s2s.errors.ArgumentError, match=r"`x` of `of_two` is a torch.Tensor") as caught:
        s2s.grad(of_two)(torch.ones(2), 1.0)
    assert caught.value.diagnostic.hint.startswith("pass an array of NumPy, `np.asarray(...)`")


def filled(a, x, n):
    a[n] = x
    return 0.0 if n == 0 else filled(a, x, n - 1)


def test_the_middle_of_a_deep_recursion_is_left_out():
    callers = tuple(f"f (m.py:{k})" for k in range(40))
    text = render(Diagnostic("S2S209", "no", asked_by=callers)).splitlines()[-1]
    assert text == (
        "  = asked by: f (m.py:0) -> f (m.py:1) -> f (m.py:2) -> f (m.py:3) -> ... 32 more ..."
        " -> f (m.py:36) -> f (m.py:37) -> f (m.py:38) -> f (m.py:39)")
    assert "more" not in render(Diagnostic("S2S209", "no", asked_by=callers[:8]))


def raised(call, *args):
    with pytest.raises(DifferentiationError) as info:
        call(*args)
    return info.value.diagnostic


def test_messages_name_what_the_user_wrote(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")

    def unpacked(x):
        return struct.unpack("d", struct.pack("d", x))[0]

    hint = raised(s2s.grad(unpacked), 2.0).hint
    assert "`s2s.defvjp(struct.pack, rule)`" in hint and "`import struct; struct.pack = " in hint

    def read(x, n):
        items = iter([x, 2.0 * x, 3.0 * x])
        for _, item in zip(range(n), items):
            x = x * item
        return x + next(items)

    assert raised(s2s.grad(read), 2.0, 1).summary == "how far the iterator `items` has been read is not known here"

    def changed(x, y):
        x[0] = 2.0 * y[1]
        return np.sum(x * y)

    x = np.ones(3)
    assert "of `changed` share memory" in raised(s2s.grad(changed), x, x[:2][::-1]).summary

    def by_samples(x):
        return np.sum(s2s.map(lambda a: 2.0 * a, in_axes=0, out_axes=x)(x))

    problem = raised(s2s.grad(by_samples), x)
    assert problem.code == "S2S519" and problem.span.file == __file__ and problem.asked_by == ()

    problem = raised(s2s.map(lambda a: 2.0 * a, in_axes=2), np.ones((2, 3)))
    assert problem.code == "S2S519" and problem.span is None and "`in_axes`" in problem.hint
    with pytest.raises(ArgumentError, match="the tangent of argument 0 of `changed` has shape"):
        s2s.jvp(changed, (x, x), (x[:2], x))


def test_a_call_whose_result_may_be_changed_is_not_told_to_be_copied(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")

    def f(x, n):
        a = np.zeros(3)
        filled(a, x, n)
        return np.sum(a)

    problem = raised(s2s.grad(f), 2.0, 2)
    assert problem.summary.startswith("what this call gives is changed in place") and "recursion" in problem.hint


def test_where_a_recording_has_no_advice_that_of_the_compiler_is_given(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")

    class Scale:
        def __rmul__(self, other):
            return 2.0 * other

    problem = raised(s2s.grad(lambda x: np.sum(x * Scale())), np.ones(3))
    assert (problem.code, problem.hint) == ("S2S201", HINTS["S2S137"])
    problem = raised(s2s.grad(lambda x: np.sum(x * np.array([str(v) for v in x]).astype(float))), np.ones(3))
    assert (problem.code, problem.hint) == ("S2S214", HINTS["S2S180"])


@pytest.mark.parametrize(("call", "kind"), [
    (lambda: s2s.jvp(np.sum, np.ones(2), np.ones(2)), "`primals` is an ndarray, not"),
    (lambda: s2s.defvjp(np.sum, 3), "got an int"),
    (lambda: s2s.grad(np.sum)(np.ones(2, bool)), "an array of bool"),
])
def test_kinds_have_their_article(call, kind):
    assert kind in raised(call).summary


def test_a_number_that_an_object_gives_is_told_of_by_its_class(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    problem = raised(s2s.grad(lambda x: float(Decimal(float(x)) * 2)), 2.0)
    assert problem.summary.startswith("`float` of a Decimal has neither") and "numeric=True" not in problem.hint
