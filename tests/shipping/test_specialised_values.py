"""A text that was made for one value of an argument, called with others: it is right, or it raises."""

import importlib.util
import pickle
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from s2s.errors import ArgumentError

SOURCE = '''
import enum

import numpy as np


class Mode(enum.Enum):
    A = 1
    B = 2


class Other(enum.Enum):
    A = 5


class Model:
    def __init__(self, mode):
        self.mode = mode

    def loss(self, x):
        return np.sum(x * x) if self.mode == 'a"b' else np.sum(x * x * x)


class Sub(Model):
    def loss(self, x):
        return np.sum(x)


def widened(mode):
    made = Model(mode)
    made.extra = 1.0
    return made


def shadowed():
    made = Model("c")
    made.loss = lambda x: np.sum(x)
    return made


def square(v):
    return v * v


def named(name, module):
    """A function of another module, or of another class in it, that has the name of one here."""
    def made(v):
        return v * v * v
    made.__name__ = made.__qualname__ = name
    made.__module__ = module
    return made


OtherModel = type("Model", (), {"__module__": "elsewhere", "loss": lambda self, x: np.sum(x), "mode": "c"})


def scaled(k):
    def inner(v):
        return k * v * v
    return inner


def scaled_by_default(k):
    def inner(v, k=k):
        return k * v * v
    return inner


def chosen(mode):
    def inner(v):
        return v * v if mode == "it's" else v
    return inner


def wrapped(f):
    return lambda v: 2.0 * f(v)


def recursive():
    def inner(v, n=2):
        return v if n == 0 else v * inner(v, n - 1)
    return inner


def by_equal(x, o, to):
    return np.sum(x * x) if o == to else np.sum(x * x * x)


def by_text(x, o="it's"):
    if o == "it's":
        return np.sum(x * x)
    return np.sum(x) if o == "a\\\\b" else np.sum(x * x * x)


def by_double(x, o='say "a"'):
    return np.sum(x * x) if o == 'say "a"' else np.sum(x * x * x)


def by_backslash(x, o="a\\\\n"):
    return np.sum(x * x) if o == "a\\\\n" else np.sum(x * x * x)


def by_unicode(x, o="a\\u2028b\\n"):
    return np.sum(x * x) if o == "a\\u2028b\\n" else np.sum(x * x * x)


def by_bytes(x, o=b"it's\\x00"):
    return np.sum(x * x) if o == b"it's\\x00" else np.sum(x * x * x)


def by_dots(x, o=...):
    return np.sum(x * x) if o is ... else np.sum(x * x * x)


def by_flag(x, o=True):
    return np.sum(x * x) if o == 1 else np.sum(x * x * x)


def by_item(x, o):
    return np.sum(x * x) if o[1] == b"x" else np.sum(x * x * x)


def by_key(x, o):
    return np.sum(x * x) if "it's" in o else np.sum(x * x * x)


def by_entry(x, o):
    return np.sum(x * x) if o["a'b"] == 'c"d' else np.sum(x * x * x)


def by_member(x, o=Mode.A):
    return np.sum(x * x) if o.value == 1 else np.sum(x * x * x)


def by_mode(x, o):
    return np.sum(x * x) if o.mode == "it's" else np.sum(x * x * x)


def by_attribute(x, o):
    return np.sum(x * x) if hasattr(o, "extra") else np.sum(x * x * x)


def by_method(x, o):
    return o.loss(x)


def by_class(x, o):
    return np.sum(x * x) if isinstance(o, Model) else np.sum(x * x * x)


def by_type(x, o):
    return np.sum(x * x) if o is Model else np.sum(x * x * x)


def by_dtype(x, o):
    return np.sum(x * x) if o == np.dtype([("it's", "f8")]) else np.sum(x * x * x)


def applied(x, o=square):
    return np.sum(o(x))
'''
CASES = {
    "by_text": ["\"it's\"", "'a'", "'a\\\\b'"],
    "by_double": ["'say \"a\"'", "'say a'"],
    "by_backslash": ["'a\\\\n'", "'a\\n'"],
    "by_unicode": ["'a\\u2028b\\n'", "'a b'"],
    "by_bytes": ["b\"it's\\x00\"", "b'a'"],
    "by_dots": ["...", "None"],
    "by_flag": ["True", "False", "2", "1.0", "1"],
    "by_item": ["(1, b'x')", "(1, b'y')", "[1, b'x']"],
    "by_key": ["{\"it's\": 1.0}", "{'b': 1.0}"],
    "by_entry": ["{\"a'b\": 'c\"d'}", "{\"a'b\": 'c'}"],
    "by_member": ["Mode.A", "Mode.B", "Other.A"],
    "by_mode": ["Model(\"it's\")", "Model('c')", "widened('d')"],
    "by_attribute": ["Model('a')", "widened('a')"],
    "by_method": ["Model('a\"b')", "Model('c')", "Sub('c')", "OtherModel()", "shadowed()"],
    "by_class": ["Model('a')", "Mode.A", "None", "OtherModel()"],
    "by_type": ["Model", "Sub", "OtherModel"],
    "by_dtype": ["np.dtype([(\"it's\", 'f8')])", "np.dtype([('a', 'f8')])"],
    "applied": ["square", "named('square', 'elsewhere')", "np.sin", "np.cos", "lambda v: v"],
    "applied ": ["scaled(2.0)", "scaled(3.0)", "scaled_by_default(2.0)"],
    "applied  ": ["scaled_by_default(2.0)", "scaled_by_default(3.0)"],
    "applied   ": ["chosen(\"it's\")", "chosen('a')"],
    "applied    ": ["wrapped(square)", "wrapped(np.sin)", "wrapped(scaled(2.0))"],
    "applied     ": ["wrapped(scaled(2.0))", "wrapped(scaled(3.0))"],
    "applied      ": ["recursive()", "scaled(2.0)"],
}
X = np.array([0.5, 2.0])


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    file = tmp_path_factory.mktemp("values") / "values_of_user.py"
    file.write_text(SOURCE, encoding="utf-8")
    yield loaded(file)
    sys.modules.pop("values_of_user")


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    made = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def slopes(f, o):
    """The gradient by complex steps."""
    return np.array([f(X + 1e-30j * row, o).imag / 1e-30 for row in np.eye(2)])


def check(made, f, values):
    """The first is right, each other is right or raises; how many raise."""
    raised = 0
    np.testing.assert_allclose(made(X, values[0]), slopes(f, values[0]), rtol=1e-12)
    for value in values[1:]:
        right = slopes(f, value)
        try:
            found = made(X, value)
        except (ValueError, TypeError, AttributeError, ArgumentError):
            raised += 1
        else:
            np.testing.assert_allclose(found, right, rtol=1e-12)
    return raised


@pytest.mark.parametrize("name", CASES)
def test_no_version_that_was_sent_takes_another_value(user, monkeypatch, name):
    f = getattr(user, name.strip())
    values = [eval(text, vars(user)) for text in CASES[name]]
    sent = s2s.distributed.shipped(s2s.grad(f), X, values[0])
    monkeypatch.setitem(sys.modules, "values_of_user", user)
    if name.startswith("by") and name != "by_dtype":  # neither functions in functions nor dtypes are the same there
        sent = pickle.loads(pickle.dumps(sent))
    check(sent, f, values)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("is_alone", [True, False])
def test_no_text_takes_another_value(user, tmp_path, name, is_alone):
    f, own = getattr(user, name.strip()), CASES[name][0]
    out = tmp_path / f"dumped_by_{abs(hash((name, is_alone)))}.py"
    words = ["dump", f"{user.__file__}:{name.strip()}", "--arg", "x=np.ones(2)", "--arg", f"o={own}", "-o", str(out)]
    result = CliRunner().invoke(main, [*words, "--standalone"] if is_alone else words)
    if result.exit_code:
        assert "cannot" in result.output and name.startswith("applied"), result.output
        return
    made, values = loaded(out), [eval(text, vars(user)) for text in CASES[name]]
    if not is_alone and "not a name of its module" in out.read_text(encoding="utf-8"):
        return  # a comment says what is to be given there
    assert check(getattr(made, f"{f.__name__}_grad"), f, values)


OPTIONS = '''
import numpy as np
import s2s

MODE, FLAG, RATE = "it's", True, 2.0


def helper(x):
    return np.sum(RATE * x * x) if FLAG else np.sum(x)


@s2s.differentiable
def f(x: "f8[:]"):
    return helper(x) if MODE == "it's" else np.sum(x * x * x)
'''


@pytest.mark.parametrize("command", ["insert", "build", "dump"])
@pytest.mark.parametrize("changed", ["MODE = 'b'", "FLAG = False", "RATE = 5.0"])
def test_options_of_the_module_are_checked(tmp_path, monkeypatch, command, changed):
    """Where the text reads them: numbers are read as they are, options must be those that it was made for."""
    file = tmp_path / "options_of_user.py"
    file.write_text(OPTIONS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    out = {"insert": file, "build": tmp_path / "options_of_user_adjoints.py", "dump": tmp_path / "dumped_options.py"}
    words = {"insert": [str(file)], "build": [str(file)], "dump": [f"{file}:f", "-o", str(out["dump"])]}
    result = CliRunner().invoke(main, [command, *words[command]])
    assert result.exit_code == 0, result.output
    user = loaded(file)
    np.testing.assert_allclose(loaded(out[command]).f_grad(X), 4.0 * X)
    exec(changed, vars(user))
    if command == "insert":
        made = user
    else:
        sys.modules["options_of_user"] = user  # what the text imports
        made = loaded(out[command])
    if "RATE" in changed:
        np.testing.assert_allclose(made.f_grad(X), 10.0 * X)
    else:
        with pytest.raises(ValueError, match="f_grad was made for .*MODE=\"it's\", FLAG=True"):
            made.f_grad(X)
    sys.modules.pop("options_of_user")
