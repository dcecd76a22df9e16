"""Names of modules in, the definitions behind them out."""

import ast
import importlib
import sys
import sysconfig
import types

import numpy as np
import pytest

import s2s
from s2s.shipping.gather import (
    CannotShip,
    Gathering,
    Symbol,
    _is_like,
    _is_made_by,
    _is_own_binding,
    _module_of,
    is_written_out,
)
from s2s.shipping.standalone import _choose_names, _edited, _written

FILES = {
    "written_out/__init__.py": "from numpy import linalg\n\nfrom written_out.cube import cube\n\nLIMIT = 2.0\n",
    "written_out/cube.py": "def cube(v):\n    return v**3\n",
    "written_out/parts.py": "def double(v):\n    return SCALE * v\n\n\nSCALE = 2.0\n",
    "written_out/deep/__init__.py": "",
    "written_out/deep/inner.py": "def square(v):\n    return v * v\n",
    "written_out/wide/__init__.py": "from . import narrow\n",
    "written_out/wide/narrow.py": "def cut(v):\n    return v - 1.0\n",
    "written_out/lambdas.py": """
RATE = 2.0
PAIR = (lambda v: v + RATE, lambda v: (lambda w: w * RATE)(v))
INNER = (lambda: lambda v: -v)()
""",
    "reading.py": """
import numpy as np
import written_out
import written_out.deep.inner
import written_out.parts
from numpy import linalg as la
from written_out import wide as broad

RATE = 2.0
COUNT = 3
TABLE = np.arange(3)
PAIR = (1, 2)
apply = lambda v: v + 1.0


def by_parts(x):
    return written_out.parts.double(x) + written_out.LIMIT + written_out.parts.SCALE


def by_deep(x):
    return written_out.deep.inner.square(x)


def by_name(x):
    return written_out.cube(x)


def by_alias(x):
    return written_out.linalg.norm(x)


def by_relative(x):
    return written_out.wide.narrow.cut(x) + broad.narrow.cut(x)


def by_new_name(x):
    return la.norm(x)


def hands_around(x):
    return getattr(written_out.deep, "inner")


def misses(x):
    return written_out.parts.nothing(x)


def reads(x):
    return RATE * x, COUNT, TABLE, PAIR, apply(x)
""",
}


@pytest.fixture
def reading(tmp_path, monkeypatch):
    """A module of the user beside a package of the user."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield importlib.import_module("reading")
    for name in {n for n in sys.modules if n.partition(".")[0] in ("reading", "written_out")} - known:
        del sys.modules[name]


def gathered(module, name):
    """The text of a function with what it reads, and the function that the text makes."""
    gathering, root = Gathering(), Symbol("", "")
    found = gathering.of_module(module, name)
    gathering.finish()
    _choose_names(gathering.symbols, root)
    text = _written([], gathering.symbols, root)
    scope = {}
    exec(text, scope)
    return text, scope[found.name]


@pytest.mark.parametrize("name", [
    "by_parts", "by_deep", "by_name", "by_alias", "by_relative", "by_new_name",
])
@pytest.mark.parametrize("has_alias", [False, True])
def test_modules_of_a_package_are_followed_by_their_names(reading, monkeypatch, name, has_alias):
    """Also where a function of the package has the name of a module, and an installed module stands in the package."""
    if has_alias:
        monkeypatch.setitem(sys.modules, "written_out.linalg", np.linalg)
    text, made = gathered(reading, name)
    assert "written_out" not in text and made(3.0) == getattr(reading, name)(3.0)


def test_an_installed_module_is_imported_by_the_name_that_it_has_there(reading):
    assert "from numpy import linalg as la\n" in gathered(reading, "by_new_name")[0]
    assert "from numpy import linalg\n" in gathered(reading, "by_alias")[0]


STDLIB = sysconfig.get_paths()["stdlib"]


@pytest.mark.parametrize("name, file, is_own", [
    ("s2s.runtime", "/anywhere/s2s/runtime.py", True), ("s2s", None, True), ("__main__", None, True),
    ("__main__", f"{STDLIB}/pdb.py", True), ("mine.parts", "/home/me/mine/parts.py", True), ("s2special", None, False),
    ("builtins", None, False), ("made", None, False), ("json.decoder", "/home/me/json/decoder.py", False),
    ("scipy", "/env/lib/site-packages/scipy/__init__.py", False), ("six", "/usr/lib/dist-packages/six.py", False),
    ("unlisted", f"{STDLIB}/unlisted.py", False),
], ids=range(12))
def test_what_is_of_the_user_or_of_s2s_is_written_out(name, file, is_own):
    module = types.ModuleType(name)
    if file is not None:
        module.__file__ = file
    assert is_written_out(module) is is_own


@pytest.mark.parametrize("name, reason", [
    ("hands_around", "it hands the module `written_out.deep` around"),
    ("misses", "`written_out.parts` has no `nothing` when it is imported"),
])
def test_modules_that_cannot_be_followed_are_refused(reading, name, reason):
    with pytest.raises(CannotShip, match=reason):
        gathered(reading, name)


@pytest.mark.parametrize("decorator, reason", [
    ("s2s.differentiable", None), ("differentiable", None), ("s2s.checkpoint", None), ("np.vectorize", None),
    ("s2s.grad", "`f` is decorated with `grad` of s2s"), ("s2s.vjp", "`f` is decorated with `vjp` of s2s"),
])
def test_decorators_that_compute_nothing_are_left_out(decorator, reason):
    """Of s2s; in its own code they ask the compiler."""
    values = {"s2s": s2s, "differentiable": s2s.differentiable, "np": np}
    for is_private in (False, True):
        symbol, gathering = Symbol("f", f"@{decorator}\ndef f(x):\n    return x", is_private=is_private), Gathering()
        is_of_s2s = decorator != "np.vectorize"
        refused = "it asks the compiler when it runs" if is_private and is_of_s2s else reason
        tree = ast.parse(symbol.text).body[0]
        if refused is not None:
            with pytest.raises(CannotShip, match=refused):
                gathering.rewrite(symbol, tree, lambda used: None, values)
        else:
            gathering.rewrite(symbol, tree, lambda used: None, values)
            assert _edited(symbol) == ("def f(x):\n    return x" if is_of_s2s else symbol.text)


ANEW = {
    "RATE": (2, "RATE = 2\n"), "COUNT": (3.0, "COUNT = 3.0\n"), "PAIR": ([1, 2], "PAIR = [1, 2]\n"),
    "TABLE": (np.arange(3.0), "TABLE = np.array([0.0, 1.0, 2.0], dtype='<f8')\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANEW)
def test_an_equal_value_of_another_type_is_written_as_it_is(reading, monkeypatch, name):
    value, line = ANEW[name]
    own = {other: gathered(reading, "reads")[0].count(f"\n{other} = ") for other in ANEW}
    assert all(own.values())
    monkeypatch.setattr(reading, name, value)
    text, made = gathered(reading, "reads")
    assert line in text
    assert repr(made(1.5)) == repr(reading.reads(1.5))


ONE = lambda v: v + 1.0  # noqa: E731
ALIKE = [
    (2, 2, True), (2, 2.0, False), (True, 1, False), (2, 3, False), ([1], [1], True), ([1], (1,), False),
    (np.arange(3), np.arange(3), True), (np.arange(3), np.arange(3.0), False), (np.arange(3), np.arange(1, 4), False),
    (np.arange(3), np.arange(2), False), (np.int64(3), 3, False), (np.int64(3), np.int64(3), True), (ONE, ONE, True),
    (eval("lambda v: v", {}), eval("lambda v: v", {}), True), (ONE, eval("lambda v: v", {}), False), (ONE, 3, False),
]  # fmt: skip


@pytest.mark.parametrize("again, value, is_like", ALIKE)
def test_values_are_alike_by_type_and_content(again, value, is_like):
    assert _is_like(again, value) is is_like
    assert _is_like(value, again) is is_like


class Plain:
    def __init__(self, w):
        self.w, self.others = w, [w, 2]


class Slotted:
    __slots__ = ("w",)


class Below(Slotted):
    pass


class Made:
    def __new__(cls, w=3):
        return super().__new__(cls)


class Listed(list):
    pass


def written(value, data=None):
    """The text of a value, and what it makes; ``data`` is what goes along."""
    gathering, root = Gathering(data), Symbol("", "")
    found = gathering.value(value, "value")
    _choose_names(gathering.symbols, root)
    text = _written([], gathering.symbols, root)
    scope = {"__s2s_data__": data}
    exec(text, scope)
    return text, scope[found.name]


@pytest.mark.parametrize("data", [None, []])
def test_objects_of_classes_in_python_are_made_as_they_are(data):
    """Without a call of what their class says of how they begin."""
    text, made = written(Plain((1.5, "a")), data)
    assert type(made).__name__ == "Plain" and vars(made) == {"w": (1.5, "a"), "others": [(1.5, "a"), 2]}
    assert "value = object.__new__(Plain)\nvars(value).update({" in text and not data
    empty = object.__new__(Plain)
    assert "update" not in written(empty, data)[0] and vars(written(empty, data)[1]) == {}


@pytest.mark.parametrize("value", [Slotted(), Below(), Made(), Listed([1]), np.ones(10_001), [Plain(2.0)], iter(())])
def test_other_objects_go_along_or_are_refused(value):
    with pytest.raises(CannotShip, match=r"`value` is an? \w+, which cannot be written as source"):
        written(value)
    data = ["first"]
    text, made = written(value, data)
    inner = value[0] if type(value) is list else value
    assert data[1:] == [inner] if not isinstance(value, np.ndarray) else data[1] is value
    assert len(data) == 2 and "__s2s_data__[1]" in text and (made[0] if type(value) is list else made) is inner


@pytest.mark.parametrize("value, is_data", [
    (1, True), (2.5, True), (None, True), ("a", True), (b"a", True), (1j, True), (np.float32(1), True), (abs, False),
    (np.ones(10_000), True), (np.ones(10_001), False), (np.array([None]), False), (np.array(["a"]), False),
    ([1, (2, {3})], True), ([1, (2, {abs})], False), (Listed([1]), False), ({1: [2]}, True), ({1: abs}, False),
    ({abs: 1}, False), (frozenset({1}), True), (Plain(1), False), (..., False),
])
def test_numbers_texts_and_containers_of_them_are_data(value, is_data):
    assert Gathering().can_be_written(value) is is_data


IMPORTS = {
    ("numpy", None, None): ("import numpy{}", "numpy"), ("numpy", None, "np"): ("import numpy{}", "np"),
    ("numpy.linalg", None, None): ("from numpy import linalg{}", "linalg"),
    ("numpy.linalg", "inv", None): ("from numpy.linalg import inv{}", "inv"),
    ("numpy.linalg", "inv", "inverse"): ("from numpy.linalg import inv{}", "inverse"),
}


@pytest.mark.parametrize("asked", IMPORTS)
def test_imports_are_written_once(asked):
    gathering = Gathering()
    found = gathering.imported(*asked)
    assert (found.line, found.name) == IMPORTS[asked] and found.text == ""
    assert gathering.imported(*asked[:2], "another") is found and gathering.symbols == [found]


def test_two_functions_in_one_line_are_told_apart(reading):
    """By the places of their code."""
    module = importlib.import_module("written_out.lambdas")
    for f, body in zip((*module.PAIR, module.INNER), ("v + RATE", "(lambda w: w * RATE)(v)", "-v"), strict=True):
        text, made = written(f)
        assert made(1.5) == f(1.5) and f"value = lambda v: {body}\n" in text
    with pytest.raises(CannotShip, match="the source of `<lambda>` is not there"):
        written(eval("lambda v: v", {"__name__": "written_out.lambdas"}))


@pytest.mark.parametrize("name, is_package, statement, owner", [
    ("a.b.c", False, "from x.y import z", "x.y"), ("a.b.c", False, "from . import z", "a.b"),
    ("a.b.c", False, "from .x import z", "a.b.x"), ("a.b.c", False, "from .. import z", "a"),
    ("a.b.c", False, "from ..x.y import z", "a.x.y"), ("a.b.c", True, "from . import z", "a.b.c"),
    ("a.b.c", True, "from .x import z", "a.b.c.x"), ("a.b.c", True, "from ...x import z", "a.x"),
])
def test_a_relative_import_is_of_a_package_around(name, is_package, statement, owner):
    module = types.ModuleType(name)
    if is_package:
        module.__path__ = []
    assert _module_of(module, ast.parse(statement).body[0]) == owner


def test_a_definition_is_that_of_its_name_where_the_code_is_there():
    """One with a decorator always; a name may have been given another function."""
    text = "def f(x):\n    return x\n\ndef g(x):\n    return x\n\ndef f(x):\n    pass\n"
    scope = {}
    exec(text, scope)
    statements = ast.parse(text).body
    assert [_is_made_by(one, scope["f"]) for one in statements] == [False, False, True]
    assert [_is_made_by(one, scope["g"]) for one in statements] == [False, True, False]
    assert _is_made_by(statements[0], 3) is False
    statements[0].decorator_list = [ast.Name("cache")]
    assert _is_made_by(statements[0], 3) is True and _is_made_by(statements[0], scope["g"]) is True


@pytest.mark.parametrize("statement, is_one", [
    ("a = 1", True), ("a: int = 1", True), ("a = b = 1", False), ("a, b = 1, 2", False), ("a.b = 1", False),
    ("a[0]: int = 1", False),
])
def test_a_statement_binds_one_name(statement, is_one):
    assert _is_own_binding(ast.parse(statement).body[0]) is is_one
