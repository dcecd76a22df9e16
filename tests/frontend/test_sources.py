"""Finding the source of a function, by its code object."""

import functools
import importlib
import linecache
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.errors import SourceUnavailableError
from s2s.frontend.sources import find, mangle, private_class

EXAMPLE = '''\
import functools
import numpy as np

def twice(text):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return fn(*args, **kwargs) * 2
        return wrapper
    return decorate

@twice(
    "a",
)
def decorated(
    x, y
):
    """A text that
goes on at the left."""
    if x:
# a comment at the left
        return y
    return """
    kept
"""

first, second = (lambda x: x * 2), (lambda x: x * 3)

def apply(fn, start): return fn

many = apply(
    lambda é, y=(1, 2): (
        np.sin(é)
        + y
    ) * 1,
    3,
)
nested = lambda x: lambda x: x

class _Model:
    scale = lambda self: self.__k

    def __private(self, __a):
        return __a + self.__b

def outer(k):
    class _Model:
        def inner(self, x): return np.sin(x) + k
    return _Model().inner
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    return load(tmp_path, monkeypatch, EXAMPLE)


def load(folder, monkeypatch, text, name="source_example"):
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__(name)


def test_a_def_begins_at_its_def_line(module):
    source = find(module.decorated.__wrapped__)
    assert (source.name, source.first_line, source.column) == ("decorated", 15, 0)
    assert source.text.startswith("def decorated(\n    x, y\n):\n")
    assert source.text.endswith('    return """\n    kept\n"""\n')
    assert source.globals is module.__dict__


def test_a_wrapper_is_found_itself_and_not_what_it_wraps(module):
    source = find(module.decorated)
    assert source.text == "def wrapper(*args, **kwargs):\n    return fn(*args, **kwargs) * 2\n"
    assert (source.first_line, source.column, source.removed) == (7, 8, (8, 8))
    assert source.closure["fn"].cell_contents is module.decorated.__wrapped__
    assert source.qualname == "twice.<locals>.decorate.<locals>.wrapper"


def test_strings_keep_their_blanks_when_the_text_is_dedented(tmp_path, monkeypatch):
    text = 'if True:\n    def f():\n        return """\n        a\n    """\n'
    module = load(tmp_path, monkeypatch, text, "source_blanks")
    source = find(module.f)
    assert source.text == 'def f():\n    return """\n        a\n    """\n'
    assert source.removed == (4, 4, 0, 0)


LAMBDAS = [("first", "lambda x: x * 2", 17), ("second", "lambda x: x * 3", 36)]


@pytest.mark.parametrize("name, text, column", LAMBDAS)
def test_two_lambdas_on_a_line_are_told_apart(module, name, text, column):
    source = find(getattr(module, name))
    assert (source.text, source.column, source.is_lambda) == (text, column, True)


def test_a_lambda_over_many_lines_in_a_call(module):
    source = find(module.many)
    assert source.text == "lambda é, y=(1, 2): (\n        np.sin(é)\n        + y\n    ) * 1"
    assert (source.first_line, source.removed) == (32, (4, 0, 0, 0))


def test_a_lambda_in_a_lambda(module):
    assert find(module.nested).text == "lambda x: lambda x: x"
    assert find(module.nested(1)).text == "lambda x: x"


def test_lambdas_that_return_constants_on_one_line(tmp_path, monkeypatch):
    """Python 3.12 keeps no position of a constant that is returned."""
    text = "f, g, h = (lambda x: 1.0), (lambda x: 2.0), (lambda x: None)\n"
    module = load(tmp_path, monkeypatch, text, "source_constants")
    assert [find(fn).text for fn in (module.f, module.g, module.h)] == [
        "lambda x: 1.0", "lambda x: 2.0", "lambda x: None",
    ]


def test_lambdas_without_positions_are_told_apart_by_their_code(tmp_path):
    (tmp_path / "plain.py").write_text(
        "import s2s\n\nf, g, again = (lambda x: x * x), (lambda x: x * 3.0 if x > 1.0 else 5.0), (lambda x: x * x)\n"
        "print([s2s.grad(h)(2.0) for h in (f, g, again)])\n"
    )
    arguments = [sys.executable, "-X", "no_debug_ranges", "plain.py"]
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "[4.0, 3.0, 4.0]\n", done.stderr


def test_methods_and_private_names(module):
    method = module._Model._Model__private
    assert find(method).text == "def __private(self, __a):\n    return __a + self.__b\n"
    assert private_class(method.__code__) == "Model"
    assert find(module._Model.scale).text == "lambda self: self.__k"
    assert find(module.outer(1).__func__).closure["k"].cell_contents == 1
    assert [mangle(n, "C") for n in ("__a", "__a__", "a", "_a")] == ["_C__a", "__a__", "a", "_a"]
    assert mangle("__a", "") == "__a"


def test_functions_of_the_standard_library_are_found():
    assert find(functools.wraps).text.startswith("def wraps(")


def test_code_made_by_exec_is_found_where_linecache_knows_it():
    text = "def g(x):\n    return x + 1\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(True), "<cell 7>")
    space: dict = {}
    exec(compile(text, "<cell 7>", "exec"), space)
    assert find(space["g"]).text == text


def test_lines_of_the_command_line_are_not_those_of_what_it_executes(monkeypatch):
    """Python 3.13 keeps those of ``python -c`` under the name that ``exec`` gives to its text."""
    text = "space = {}\nexec('def g(x):\\n    return x ** 2\\n', space)\n"
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, text.splitlines(True), "<string>"))
    monkeypatch.setattr(linecache, "checkcache", lambda name: None)
    space: dict = {}
    exec("def g(x):\n    return x ** 2\n", space)
    with pytest.raises(SourceUnavailableError, match=r"\[S2S302\]"):
        find(space["g"])


def test_without_lines_the_source_is_unavailable():
    space: dict = {}
    exec("def g(x): return x", space)
    with pytest.raises(SourceUnavailableError) as caught:
        find(space["g"])
    assert str(caught.value) == (
        "the source of `g` is not available [S2S302]\n"
        "  = because: it was compiled from <string>, which cannot be read\n"
        "  = instead:  write it to a file and import that; or give the text to `linecache` under the name of the code: "
        "`linecache.cache[name] = len(text), None, text.splitlines(True), name`, then "
        "`exec(compile(text, name, \"exec\"))`"
    )


def test_a_built_in_function_has_no_source():
    with pytest.raises(SourceUnavailableError, match=r"`len` is not written in Python \[S2S301\]"):
        find(len)


EDITS = [
    ("x * 3", "x + 3"), ("x * 3", "x * 4"), ("def f", "def other"), ("(x)", "(x, y)"),
    ("np.sin(x)", "np.cos(x)"), ("k, ", "k, x * "), ("return", "if x: return"),
]


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_changed_since_its_import_is_refused(tmp_path, monkeypatch, edit):
    body = "    def f(x):\n        return k, x * 3 + np.sin(x)\n    return f\n"
    text = "import math as np\ndef make(k):\n" + body
    module = load(tmp_path, monkeypatch, text, "source_changes")
    fn = module.make(2)
    assert find(fn).first_line == 3
    (tmp_path / "source_changes.py").write_text(text.replace(*edit) + "\n# longer\n")
    with pytest.raises(SourceUnavailableError, match="has changed since it was imported"):
        find(fn)


def test_lambdas_that_changed_are_refused(tmp_path, monkeypatch):
    module = load(tmp_path, monkeypatch, "f = lambda x: x * 3\n", "source_lambda")
    assert find(module.f).text == "lambda x: x * 3"
    (tmp_path / "source_lambda.py").write_text("f = lambda x: x / 3 \n")
    with pytest.raises(SourceUnavailableError, match=r"\[S2S303\]"):
        find(module.f)


def test_lines_added_above_do_not_give_another_function(tmp_path, monkeypatch):
    text = "def f(x):\n    return x\n\ndef g(x):\n    return x * 2\n"
    module = load(tmp_path, monkeypatch, text, "source_moved")
    (tmp_path / "source_moved.py").write_text("\n\n\n" + text)
    with pytest.raises(SourceUnavailableError, match=r"\[S2S303\]"):
        find(module.g)


def test_a_file_cut_short_is_refused(tmp_path, monkeypatch):
    module = load(tmp_path, monkeypatch, "\n\n\nf = lambda x: x\ndef g(x): return x\n", "source_short")
    (tmp_path / "source_short.py").write_text("\n")
    for fn in (module.f, module.g):
        with pytest.raises(SourceUnavailableError, match=r"\[S2S303\]"):
            find(fn)


def test_functions_in_a_test_rewritten_by_pytest_are_found():
    def f(x):
        assert x > 0, "positive"
        return x

    assert find(f).text == 'def f(x):\n    assert x > 0, "positive"\n    return x\n'


def test_every_function_of_some_modules_is_found():
    import argparse
    import statistics
    import textwrap

    for module in (argparse, statistics, textwrap, functools):
        for fn in vars(module).values():
            written = isinstance(fn, types.FunctionType) and fn.__name__ != "__annotate__"  # Python 3.14 makes that one
            if written and fn.__module__ == module.__name__:
                assert fn.__code__.co_name in find(fn).text or find(fn).is_lambda


def test_the_source_of_a_command_line():
    program = (
        "def f(x): return x * x\n"
        "import s2s\n"
        "print(s2s.grad(f)(2.0), s2s.grad(lambda x: x ** 3)(2.0))\n"
        "exec('def f(x): return x * x * x')\n"
        "try: print(s2s.grad(f)(2.0))\n"
        "except s2s.errors.SourceUnavailableError as problem: print('refused')\n")
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["4.0", "12.0", "refused"]


FROM_A_COMPREHENSION = {name: lambda x, by=by: x * by for name, by in (("two", 2.0), ("three", 3.0))}


class WithLambdas:
    made = [lambda x, by=by: x * by for by in (2.0, 3.0)]


def test_lambdas_in_comprehensions_belong_to_the_class_around():
    assert private_class(FROM_A_COMPREHENSION["two"].__code__) == ""
    assert private_class(WithLambdas.made[0].__code__) == "WithLambdas"


COPIED = """\
import numpy as np

def area(x):
    y = np.sin(x)  # {remark}
    return np.sum(y * x)
"""


def test_equal_code_of_two_files_is_told_from_each_other(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    made = []
    for name in ("copied_here", "copied_there"):
        (tmp_path / f"{name}.py").write_text(COPIED.format(remark=f"as {name}"))
        made.append(importlib.import_module(name).area)
    assert made[0].__code__ == made[1].__code__
    texts = [s2s.source(f, np.ones(3)) for f in made]
    assert "copied_here.py:3" in texts[0] and "# as copied_here" in texts[0]
    assert "copied_there.py:3" in texts[1] and "# as copied_there" in texts[1]
