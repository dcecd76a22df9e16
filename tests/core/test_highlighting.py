"""Generated code as a str that is shown in colours."""

import contextlib
import copy
import html
import io
import pickle
import re
import sys

import numpy as np
import pytest

import s2s


def f(x):
    return np.sum(np.sin(x) * x)


SOURCE = s2s.source(f, np.ones(2))
PLAIN = "".join(SOURCE)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_it_is_a_plain_str():
    assert type(PLAIN) is str and PLAIN == SOURCE and hash(PLAIN) == hash(SOURCE) and isinstance(SOURCE, str)
    assert repr(PLAIN) == repr(SOURCE) and {SOURCE: 1}[PLAIN] == 1
    for other in (pickle.loads(pickle.dumps(SOURCE)), copy.deepcopy(SOURCE), SOURCE + "", SOURCE.strip()):
        assert type(other) is str
    assert pickle.loads(pickle.dumps(SOURCE)) == PLAIN


def test_print_shows_it_in_colours_on_a_terminal(terminal):
    with contextlib.redirect_stdout(terminal):
        print(SOURCE)
    shown = terminal.getvalue()
    assert "\x1b[" in shown
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == PLAIN + "\n"


def test_nothing_else_has_colours(terminal, monkeypatch):
    other = io.StringIO()
    with contextlib.redirect_stdout(terminal):
        print(SOURCE, file=other)
        made = [str(SOURCE), f"{SOURCE}", "%s" % SOURCE, "{}".format(SOURCE)]  # noqa: UP031, UP032
        sys.stdout.write(SOURCE)
        monkeypatch.setenv("NO_COLOR", "1")
        print(SOURCE)
    assert other.getvalue() == PLAIN + "\n"
    assert made == [PLAIN] * 4
    assert terminal.getvalue() == PLAIN + PLAIN + "\n"


def test_nothing_has_colours_where_the_output_is_no_terminal(capsys):
    print(SOURCE)
    assert capsys.readouterr().out == PLAIN + "\n"


def test_a_notebook_shows_it_highlighted():
    shown = SOURCE._repr_html_()
    assert "<span" in shown
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == PLAIN


def test_all_sources_are_such():
    g = s2s.differentiable(f)
    derivative = s2s.grad(g)
    derivative(np.ones(2))
    for text in (g.adjoint_source, g.primal_source, derivative.source):
        assert "<span" in text._repr_html_()
