"""Modules that stand alone give what the derivatives give, where s2s cannot be imported."""

import copy
import dataclasses
import enum
import functools
import linecache
import pickle
import re
import subprocess
import sys
import types

import numpy as np
import pytest
from scipy import optimize

import s2s
from s2s.arrays.counterparts import on
from s2s.runtime import floats
from s2s.shipping.gather import Gathering, Symbol
from s2s.shipping.plain import plain
from s2s.shipping.standalone import CannotShip, _choose_names, _written, closure_of, split, standalone
from s2s.sources import version
from tests.bank import CASES
from tests.helpers import ROOT
from tests.shipping.without_s2s import is_same

IMPORTS_OF_S2S = re.compile(r"^\s*(from|import) s2s\b", re.MULTILINE)


def run_alone(programs):
    """What is wrong with programs in a process without s2s."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.shipping.without_s2s"], input=pickle.dumps(programs), capture_output=True,
        cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


def program(made, args):
    """A version as a module that stands alone, and what it gives for arguments."""
    return standalone(made), made.compiled.entry, pickle.dumps(args), pickle.dumps(made.raw(*copy.deepcopy(args)))


def versions_of(cases):
    """The gradient of each program of the bank, with the values of its parameters."""
    for case in cases:
        argnums = case.argnums
        if argnums is None:
            argnums = tuple(k for k, arg in enumerate(case.args) if floats(arg))
        args, kwargs = copy.deepcopy((case.args, case.kwargs))
        try:
            yield case.name, version(case.f, args, kwargs, "grad", argnums), call_of(case.f, argnums, args, kwargs)
        except s2s.errors.NonScalarOutputError:
            continue


def call_of(f, argnums, args, kwargs):
    dispatcher = s2s.grad(f, argnums).dispatcher
    dispatcher = dispatcher.dispatcher_for(args, kwargs) if hasattr(dispatcher, "dispatcher_for") else dispatcher
    return dispatcher.collect(*args, **kwargs)


@pytest.mark.slow
def test_the_bank_runs_without_s2s(in_sample, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    programs, asking, bare = [], [], []
    cases = [case for case in CASES if in_sample(1 / 4, case.name)]
    for name, made, args in versions_of(cases):
        bare.append(not IMPORTS_OF_S2S.search(made.compiled.text))
        try:
            pickle.dumps(args)
            programs.append(program(made, args))
        except CannotShip as problem:
            assert str(problem) == "it asks the compiler when it runs"
            asking.append(name)
        except (pickle.PicklingError, AttributeError):  # a function as an argument
            continue
    assert len(programs) > 0.9 * len(cases) and not any(IMPORTS_OF_S2S.search(text) for text, *_ in programs)
    assert len(asking) < 12 and all("recursion" in name or "power_by" in name for name in asking)
    assert run_alone(programs) == ""
    assert np.mean(bare) > (0.8 if len(cases) == len(CASES) else 0.7)  # no call of the runtime


@pytest.mark.parametrize("f, slope", [
    (lambda p: optimize.brentq(lambda x: x**3 - p, 0.0, 3.0), 0.7 ** (-2 / 3) / 3),
    (lambda p: np.sum(optimize.root(lambda x: x**2 - p, np.array([1.0, 2.0])).x), 0.7**-0.5),
], ids=["number", "vector"])
def test_the_solution_of_an_equation_stands_alone(f, slope):
    made = version(f, (0.7,), {}, "grad", (0,))
    text, scope = standalone(made), {}
    assert not IMPORTS_OF_S2S.search(text)
    exec(text, scope)
    assert scope[made.compiled.entry](0.7)[0] == pytest.approx(slope)


def test_a_wrong_number_would_be_seen():
    text, entry, args, expected = program(version(np.tanh, (0.3,), {}, "grad", 0), (0.3,))
    assert run_alone([(text, entry, args, expected)]) == ""
    assert run_alone([(text.replace("1.0 -", "1.5 -"), entry, args, expected)]).startswith("tanh_grad: ")
    assert "ModuleNotFoundError" in run_alone([("import s2s\n", entry, args, expected)])


# --- what is written in ---------------------------------------------------------------------------

SCALE = 2.0
TABLE = np.linspace(0.1, 0.9, 5)
DRAWN = np.random.default_rng(0).normal(size=5)
OPTIONS = {"power": 3, "names": ("a", "b")}
scale_bar = 4.0


class Side(enum.Enum):
    LEFT = 1.5
    RIGHT = 2.5


@dataclasses.dataclass
class Spring:
    stiffness: float
    length: dataclasses.InitVar[float] = 0.0

    def __post_init__(self, length):
        self.rest = length


SPRING = Spring(3.0, 0.5)


def _inner(x, *, by=SCALE):
    """A helper with a default that is read of the module."""
    return x * by + np.sum(TABLE)


@s2s.differentiable
def _decorated(x):
    return _inner(x) ** OPTIONS["power"]


def energy(x):
    total = 0.0
    for k in range(2):
        total = total + np.sum(_decorated(x) * DRAWN) * SPRING.rest * scale_bar
    return total * Side.LEFT.value + float(_inner(SCALE))


X = np.array([0.3, 1.2, -0.4, 0.8, 1.9])


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "hessian", "jacobian", "primal"])
def test_what_the_user_has_in_the_module_is_written_in(mode):
    made = version(energy, (X,), {}, mode, 0)
    text = standalone(made)
    assert not IMPORTS_OF_S2S.search(text) and "import test" not in text and "tests" not in text
    assert run_alone([program(made, (X,))]) == ""


def test_what_was_bound_anew_is_written_as_it_is_now(monkeypatch):
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    monkeypatch.setitem(globals(), "_inner", lambda x, by=3.0: x * by)
    made = version(energy, (X,), {}, "grad", 0)
    assert run_alone([program(made, (X,))]) == ""


def test_statements_that_give_the_value_again_are_kept_and_others_are_written_as_data():
    text = standalone(version(energy, (X,), {}, "value_and_grad", 0))
    assert "\nTABLE = np.linspace(0.1, 0.9, 5)\n" in text and "\nSCALE = 2.0\n" in text
    assert "\nDRAWN = np.array([0.1257" in text and "default_rng" not in text


def test_pullbacks_stand_alone():
    module = sys.modules["alone"] = types.ModuleType("alone")
    exec(standalone(version(energy, (X,), {}, "vjp", None)), vars(module))
    value, pullback = module.energy_vjp(X)
    assert value == energy(X) and np.allclose(pullback(1.0)[0], s2s.grad(energy)(X), rtol=1e-14)


def test_closures_are_written_in():
    factor, helper = 3.5, lambda v: v * 2.0

    def deep(v):
        return helper(v) * factor

    def f(x):
        return np.sum(deep(x) * x) + deep(SCALE)

    made = version(f, (X,), {}, "value_and_grad", 0)
    assert run_alone([program(made, (X,))]) == ""


def test_general_forms_take_their_helpers_along():
    def f(x, y):
        return np.sum(x * y + x)

    made = version(f, (), {}, "grad", (0, 1))
    assert "rt.unbroadcast" in made.compiled.text
    text = standalone(made)
    scope = {}
    exec(text, scope)
    found, expected = scope["f_grad"](X, 2.0), s2s.grad(f, (0, 1))(X, 2.0)
    assert np.array_equal(found[0], expected[0]) and found[1] == pytest.approx(expected[1])
    assert not re.search(r"(?<![\w.])_[a-z]\w*\(", text)  # no private names
    with pytest.raises(ValueError, match=r"a gradient needs one number \[S2S401\]"):
        scope["check_scalar"](X, "f")


def factorial(x, n):
    return 1.0 if n == 0 else x * factorial(x, n - 1)


def test_what_asks_the_compiler_when_it_runs_is_refused():
    with pytest.raises(CannotShip, match="it asks the compiler when it runs"):
        standalone(version(factorial, (1.5, 3), {}, "grad", 0))


def test_what_is_no_data_is_refused():
    stream = np.random.default_rng(0)

    def f(x):
        return x * x + 0.0 * stream.normal()

    with pytest.raises(CannotShip, match="`stream` is a Generator, which cannot be written as source"):
        standalone(version(f, (2.0,), {}, "value_and_grad", 0))


def test_a_plain_module_imports_what_it_reads_of_the_users():
    made = version(energy, (X,), {}, "value_and_grad", 0)
    text = plain(made)
    assert f"\nfrom {__name__} import " in text
    scope = {}
    exec(text, scope)
    value, gradient = scope["energy_value_and_grad"](X)
    assert value == energy(X) and is_same(gradient, s2s.grad(energy)(X))


# --- the examples ---------------------------------------------------------------------------------

EXAMPLES = sorted(
    file for file in (ROOT / "examples" / "questions").glob("*.py") if "def sources(" in file.read_text())


@pytest.mark.slow
def test_the_examples_run_without_s2s(monkeypatch):
    """Each derivative whose source an example shows."""
    pytest.importorskip("sklearn", reason="some of them need scikit-learn")
    programs, refused = [], []

    def source(f, *args, mode="grad", argnums=0, **kwargs):
        made = version(f, args, kwargs, mode, argnums if mode != "vjp" else None)
        if mode in ("grad", "value_and_grad"):
            try:
                programs.append(program(made, call_of(f, argnums, args, kwargs)))
            except CannotShip as problem:
                refused.append(f"{f.__name__}: {problem}")
        return made.compiled.text

    monkeypatch.syspath_prepend(ROOT / "examples" / "questions")
    monkeypatch.setattr(s2s, "source", source)
    for file in EXAMPLES:
        __import__(file.stem).sources()
    assert len(programs) > 15 and refused == ["radius: it asks the compiler when it runs"]
    assert run_alone(programs) == ""


def test_the_three_programs_beside_them_run_without_s2s(monkeypatch):
    pytest.importorskip("sklearn", reason="one of them needs scikit-learn")
    pytest.importorskip("scipy", reason="one of them needs SciPy")
    monkeypatch.syspath_prepend(ROOT / "examples")
    digits, newton, softmax = map(__import__, ("digits", "newton", "softmax"))
    rng = np.random.default_rng(0)
    calls = [
        (digits.objective, (rng.normal(size=64 * 10 + 10), rng.normal(size=(20, 64)), rng.integers(0, 10, 20), 0.1)),
        (newton.newton_sqrt, (2.0, 5)), (softmax.loss, softmax.sample()),
    ]  # fmt: skip
    assert run_alone([program(version(f, args, {}, "value_and_grad", 0), args) for f, args in calls]) == ""


@s2s.custom_gradient
def softplus(x):
    def grad(dy):
        return dy / (1 + np.exp(-x))

    return np.logaddexp(0, x), grad


def with_a_gradient_of_its_own(x):
    return np.sum(softplus(x) ** 2)


def test_a_function_with_a_gradient_of_its_own_gives_its_value():
    made = version(with_a_gradient_of_its_own, (X,), {}, "value_and_grad", 0)
    assert "softplus(" in made.compiled.text
    assert run_alone([program(made, (X,))]) == ""


@pytest.mark.parametrize("f", [lambda w, x: np.sum(w @ x), lambda w, x: np.sum(np.dot(w, x)), lambda w, x: max(w, x),
                               lambda w, x: np.sum(np.linalg.solve(w, x)), lambda w, x: np.sum(np.inner(w, x))])
def test_general_forms_name_no_private_function_of_a_product(f):  # fmt: skip
    assert not re.search(r"\b\w+\._[a-z]", s2s.source(f, argnums=(0, 1)))


CONSTANTS = {
    "numbers": (True, 3, -2.5, 1.5 - 2.0j, None), "texts": ("a 'text'\n", b"\x00\xff"), "ellipsis": ...,
    "infinite": [float("inf"), float("-inf"), float("nan")], "one item": ([1],), "empty": ((), [], {}, set()),
    "sets": ({3, 1}, frozenset({"a"})), "tables": {"k": [1, {2: (3.0,)}], None: 0}, "slice": slice(1, None, 2),
    "arrays": [np.array([[1.5, np.nan], [np.inf, -np.inf]]), np.array([1, 2], np.int8), np.array(True), np.array([1j])],
    "of NumPy": [np.float32(0.1), np.int64(3), np.bool_(True), np.complex128(1 + 2j), np.dtype("i4")],
    "member": Side.LEFT, "functions": (abs, np.sin, complex, int), "partial": functools.partial(pow, 2, mod=5),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_written_as_they_are(name):
    value = CONSTANTS[name]
    gathering = Gathering()
    found = gathering.value(value, "value")
    root = Symbol("", "")
    gathering.finish()
    _choose_names(gathering.symbols, root)
    scope = {}
    exec(_written([], gathering.symbols, root), scope)
    again = scope[found.name]
    if isinstance(value, enum.Enum):
        assert (again.name, again.value) == (value.name, value.value)
    elif isinstance(value, functools.partial):
        assert (again.func, again.args, again.keywords) == (value.func, value.args, value.keywords)
    else:
        assert type(again) is type(value)
        assert repr(again) == repr(value)


def test_names_are_no_keywords_and_hide_nothing():
    """Of s2s, what is private loses its underscores; a name that is taken, or means something, gets a number."""
    private = [Symbol(name, is_private=True) for name in ("_if", "_in", "_sum", "_split", "__lambda")]
    others = [Symbol(name) for name in ("_if", "split", "energy", "local")]
    root = Symbol("", "def energy(x):\n    local = x\n    return local", local=frozenset({"local"}))
    root.edits = [(0, 0, others[-1])]
    _choose_names([*private, *others], root)
    assert [one.name for one in private] == ["if_1", "in_1", "sum_1", "split", "lambda_1"]
    assert [one.name for one in others] == ["_if", "split_1", "energy_1", "local_1"]


ENERGY = Symbol("", "def energy(x):\n    return x")
IMPORTS = [Symbol("exp", line="from math import exp{}"), Symbol("np", line="import numpy{}"),
           Symbol("ast", line="import ast{}"), Symbol("re", line="import re")]  # fmt: skip
ONE, TWO = Symbol("ONE", "ONE = 1"), Symbol("TWO", "TWO = 2")
HELPER, NOTED = Symbol("helper", "def helper():\n    pass"), Symbol("noted", "def noted(x: int):\n    pass")
MADE = Symbol("MADE", "MADE = helper()", needs=[HELPER])


@pytest.mark.parametrize("head, symbols, text", [
    ([], [], ""),
    (["# by s2s"], [], "# by s2s\n\n\n"),
    ([], [ONE], "ONE = 1\n\n\n"),
    (["# by s2s"], [ONE], "# by s2s\n\n\nONE = 1\n\n\n"),
    ([], IMPORTS, "import ast\nimport numpy as np\nimport re\nfrom math import exp\n\n\n"),
    (["# by s2s"], [ONE, IMPORTS[2], IMPORTS[2]], "# by s2s\n\nimport ast\n\n\nONE = 1\n\n\n"),
    ([], [ONE, HELPER, TWO], f"ONE = 1\nTWO = 2\n\n\n{HELPER.text}\n\n\n"),
    ([], [ONE, HELPER, MADE], f"ONE = 1\n\n\n{HELPER.text}\n\n\nMADE = helper()\n\n\n"),
    ([], [HELPER], f"{HELPER.text}\n\n\n"),
    ([], [NOTED], f"from __future__ import annotations\n\n\n{NOTED.text}\n\n\n"),
    ([], [NOTED, IMPORTS[3], ONE],
     f"from __future__ import annotations\n\nimport re\n\n\nONE = 1\n\n\n{NOTED.text}\n\n\n"),
])
def test_imports_come_first_then_values_then_definitions(head, symbols, text):
    """Values after what they call; blocks are two empty lines apart."""
    assert _written(head, symbols, ENERGY) == f"{text}{ENERGY.text}\n"


def test_a_function_of_no_module_has_its_variables_written_in():
    source = "import numpy as np\n\ndef f(x):\n    return np.sum(abs(x) * RATE ** len(TABLE))\n"
    linecache.cache["<loose>"] = (len(source), None, source.splitlines(True), "<loose>")
    scope = {"RATE": 1.5, "TABLE": [1.0, 2.0], "__name__": "of no module"}
    exec(compile(source, "<loose>", "exec"), scope)
    made, alone = version(scope["f"], (X,), {}, "value_and_grad", 0), {}
    exec(standalone(made), alone)
    value, gradient = alone["f_value_and_grad"](X)
    assert value == pytest.approx(2.25 * np.sum(np.abs(X)))
    np.testing.assert_allclose(gradient, 2.25 * np.sign(X), rtol=1e-15)
    del scope["RATE"]
    with pytest.raises(CannotShip, match="`RATE` has no value"):
        standalone(made)


def test_what_stands_for_numpy_is_written_where_s2s_is_installed(monkeypatch):
    """For arrays of another module: once, however often it is read."""
    module = types.ModuleType("other_arrays")
    module.exp = np.exp
    monkeypatch.setitem(sys.modules, module.__name__, module)
    value = on(module, "numpy")
    gathering, root = Gathering([]), Symbol("", "")
    first, second = gathering.value(value, "np"), gathering.value(value, "xp")
    assert first is second
    _choose_names(gathering.symbols, root)
    scope = {}
    exec(_written([], gathering.symbols, root), scope)
    assert scope[first.name] is value
    with pytest.raises(CannotShip, match="it is for arrays of other_arrays"):
        Gathering().value(value, "np")


@pytest.mark.parametrize("text, head, body", [
    ("def f(x):\n    return x\n", [], "def f(x):\n    return x\n"),
    ("# one\n# two\n\nimport a\nfrom b import (\n    c,\n)\n\n\ndef f(x):\n    return x\n", ["# one", "# two"],
     "def f(x):\n    return x\n"),
    ("import a\nMADE = 1\n\n\ndef f(x):\n    return x\n\n\nLATE = 2\n", [], "def f(x):\n    return x\n\n\nLATE = 2\n"),
    ("# one\n\n\ndef f(x):\n    # two\n    return x\n", ["# one"], "def f(x):\n    # two\n    return x\n"),
    ("# one\n", ["# one"], "\n"),
])
def test_a_text_is_parted_after_its_comments_and_imports(text, head, body):
    assert split(text) == (head, body)


@pytest.mark.parametrize("text, imports, objects, made", [
    ("import numpy as np\n\n\ndef f(x):\n    return x\n", [], [], None),
    ("import numpy as np\n\n\ndef f(x):\n    return b(a)\n", ["b", "a"], [],
     "import numpy as np\nfrom own import a, b\n\n\ndef f(x):\n    return b(a)\n"),
    ("# by s2s\nimport numpy as np\n\n\ndef f(x):\n    return a\n", ["a"], ["g"],
     "# by s2s\n# `g`: as in a call of the function, not a name of its module; to be given here\n\n"
     "import numpy as np\nfrom own import a\n\n\ndef f(x):\n    return a\n"),
    ("\n\nMADE = a(1)\n\n\ndef f(x):\n    return MADE\n", ["a"], [],
     "from own import a\n\nMADE = a(1)\n\n\ndef f(x):\n    return MADE\n"),
])
def test_a_plain_module_is_laid_out(text, imports, objects, made):
    """Comments, imports, those of the user's module behind, then the functions."""
    compiled = types.SimpleNamespace(text=text, globals=imports, objects=objects, free=[])
    raw = types.SimpleNamespace(__globals__={"__name__": "own"})
    one = types.SimpleNamespace(compiled=compiled, guards=[], raw=raw)
    assert plain(one) == (text if made is None else made)


def test_what_functions_have_in_their_closures_is_found():
    """Of functions beside it in its file too, not of those elsewhere that are not linked; cells may be empty."""
    a, b, c = 1, 2, 3

    def beside():
        return a

    def alone():
        return c

    def f():
        return beside() + alone() + b + late

    vars(beside)["__s2s_linked__"] = True
    assert closure_of(f) == {"a": 1, "b": 2, "alone": alone}
    assert closure_of(lambda: 0) == {}
    late = 4
    assert closure_of(f)["late"] == late
