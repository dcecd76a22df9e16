"""Dumped derivatives as a caller has them: the primal's parameters, and no call for which the text is not right."""

import functools
import importlib.util
import inspect
import itertools
import textwrap
import types

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from s2s.codegen.printing import WIDTH
from s2s.core.values import Array, Dim, Scalar, Sequence
from s2s.shipping import callers, departures
from s2s.shipping.gather import CannotShip
from s2s.versions.argument_guards import EqualGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.guards import AliasGuard, AttributeGuard, KindGuard, NamesGuard, ObjectGuard, ShadowGuard

PROGRAMS = '''
import numpy as np


def powers(x: "f8[:]", flag=True, *, power=2, name="a", eps=1e-3, ax=None, sizes=(1, 2)):
    if flag:
        return np.sum(x**power) + eps
    if name == "b":
        return np.sum(x)
    return np.sum(x) * eps


def along(x: "f8[:,:]", axis=0, keepdims=False, order=None):
    s = np.sum(x * x, axis=axis, keepdims=keepdims)
    if order is None:
        order = 2
    return np.sum(s**order)


def nested(x: "f8[:]", squared=False, table=np.ones(3), scale=2.0):
    def one(y):
        return y**2 if squared else y**3

    return scale * np.sum(one(x)) * len(table)


def spread(x: "f8[:]", /, n=4.0, *rest, **named):
    total = n * np.sum(x**2)
    for item in rest:
        total = total + item * np.sum(x)
    for item in named.values():
        total = total + item * np.sum(x**3)
    return total


def weighted(x: "f8[:]", *, weight, is_cubed=False):
    return weight * np.sum(x**3 if is_cubed else x**2)


def layered(x: "f8[:]", layers, named):
    total = 0.0
    for weight, is_squared in layers:
        total = total + weight * np.sum(x**2 if is_squared else x)
    for value in named.values():
        total = total + value * np.sum(x)
    return total


class Weighted:
    def __init__(self, is_squared, number, weight=1.0):
        self.is_squared, self.weights = is_squared, [weight] * number

    def energy(self, x: "f8[:]"):
        total = 0.0
        for weight in self.weights:
            total = total + weight * np.sum(x**2 if self.is_squared else x)
        return total


class Model:
    def energy(self, x: "f8[:]", softened=False):
        return np.sum(x**2 + 1.0 if softened else x**2)
'''

X = np.array([1.0, -2.0, 0.5])


@pytest.fixture
def programs(tmp_path):
    file = tmp_path / "programs.py"
    file.write_text(PROGRAMS, encoding="utf-8")
    return file, _module(file, "programs")


def _module(file, name):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dumped(file, name, *options):
    out = file.with_name(f"dumped_{name.replace('.', '_')}.py")
    result = CliRunner().invoke(main, ["dump", f"{file}:{name}", "--standalone", "-o", str(out), *options])
    assert result.exit_code == 0, result.output
    return _module(out, out.stem)


def test_defaults_are_those_of_the_primal(programs):
    file, module = programs
    made = dumped(file, "powers").powers_grad
    shown = {p.name: p.default for p in inspect.signature(made).parameters.values()}
    primal = {p.name: p.default for p in inspect.signature(module.powers).parameters.values()}
    assert shown == primal
    np.testing.assert_allclose(made(X), s2s.grad(module.powers)(X), rtol=1e-12)
    np.testing.assert_allclose(made(X, power=3), 3 * X**2, rtol=1e-12)


def test_parameters_are_of_the_same_kinds(programs):
    file, module = programs
    made = dumped(file, "spread", "--arg", "x=np.ones(3)").spread_grad
    assert str(inspect.signature(made)) == "(x, /, n=4.0, *rest, **named)"
    np.testing.assert_allclose(made(X), 8.0 * X)
    np.testing.assert_allclose(made(X, 2.0), 4.0 * X)
    made = dumped(file, "weighted").weighted_grad
    assert str(inspect.signature(made)) == "(x, *, weight, is_cubed=False)"
    np.testing.assert_allclose(made(X, weight=3.0), 6.0 * X)
    with pytest.raises(ValueError, match="weighted_grad was made for .*is_cubed=False"):
        made(X, weight=3.0, is_cubed=True)
    pull = dumped(file, "weighted", "--mode", "vjp").weighted_vjp
    assert inspect.signature(pull) == inspect.signature(made)


def test_spread_arguments(programs):
    file, module = programs
    values = ["--arg", "x=np.ones(3)", "--arg", "n=4.0", "--arg", "rest=(1.0, 2.0)", "--arg", "named={'a': 3.0}"]
    made = dumped(file, "spread", *values).spread_grad
    found = made(X, 2.0, 5.0, 6.0, a=7.0)
    np.testing.assert_allclose(found, 4.0 * X + 11.0 + 21.0 * X**2)


@pytest.mark.parametrize("given, named, told", [((1.0,), {}, "rest empty"), ((), {"a": 1.0}, "named empty")])
def test_spread_arguments_that_the_text_is_not_for(programs, given, named, told):
    file, module = programs
    made = dumped(file, "spread", "--arg", "x=np.ones(3)").spread_grad
    np.testing.assert_allclose(made(X, 2.0), 4.0 * X)
    with pytest.raises(ValueError, match=f"spread_grad was made for .*{told}"):
        made(X, 2.0, *given, **named)


def test_lengths_and_keys_that_the_text_is_not_for(programs):
    file, module = programs
    made = dumped(file, "layered", "--arg", "x=np.ones(3)", "--arg", "layers=[(1.0, True), (2.0, False)]",
                  "--arg", "named={'a': 1.0}").layered_grad
    right = [(3.0, True), (2.0, False)], {"a": 5.0}
    np.testing.assert_allclose(made(X, *right), 6.0 * X + 2.0 + 5.0)
    for layers, named in (
        (right[0][:1], right[1]), ([*right[0], (1.0, True)], right[1]), (right[0], {"b": 5.0}), (right[0], {}),
        ([(3.0, False), (2.0, False)], right[1]),
    ):
        with pytest.raises(ValueError, match="layered_grad was made for"):
            made(X, layers, named)


def test_parts_of_objects_that_the_text_is_not_for(programs):
    file, module = programs
    made = dumped(file, "Weighted.energy", "--arg", "self=Weighted(True, 2)", "--arg", "x=np.ones(3)").energy_grad
    np.testing.assert_allclose(made(module.Weighted(True, 2), X), 4.0 * X)
    for other in (module.Weighted(False, 2), module.Weighted(True, 3), module.Weighted(True, 2, 5.0)):
        with pytest.raises(ValueError, match="energy_grad was made for"):
            made(other, X)


def test_only_the_last_parameters_have_defaults(programs):
    file, module = programs
    made = dumped(file, "nested").nested_grad
    shown = {p.name: p.default for p in inspect.signature(made).parameters.values()}
    assert shown == {"x": inspect.Parameter.empty, "squared": inspect.Parameter.empty,
                     "table": inspect.Parameter.empty, "scale": 2.0}
    np.testing.assert_allclose(made(X, False, np.ones(3)), 18.0 * X**2, rtol=1e-12)


def test_a_default_that_the_text_is_not_for_is_left_out(programs):
    file, module = programs
    made = dumped(file, "powers", "--arg", "x=np.ones(3)", "--arg", "flag=False").powers_grad
    assert inspect.signature(made).parameters["flag"].default is inspect.Parameter.empty
    np.testing.assert_allclose(made(X, False), s2s.grad(module.powers)(X, False), rtol=1e-12)
    with pytest.raises(ValueError, match="powers_grad was made for .*flag=False"):
        made(X, True)


@pytest.mark.parametrize("name, options", [
    ("powers", {"flag": [True, False], "name": ["a", "b"], "power": [2, 3], "eps": [1e-3, 0.5]}),
    ("along", {"axis": [0, 1], "keepdims": [False, True], "order": [None, 3]}),
    ("nested", {"squared": [False, True], "table": [np.ones(2)]}),
])
def test_every_call_is_right_or_raises(programs, name, options):
    file, module = programs
    made, primal = getattr(dumped(file, name), f"{name}_grad"), getattr(module, name)
    x = np.arange(1.0, 7.0).reshape(2, 3) if name == "along" else X
    right = 0
    for values in itertools.product(*options.values()):
        given = dict(zip(options, values))
        try:
            found = made(x, **given)
        except ValueError as problem:
            assert "was made for" in str(problem)
            continue
        right += 1
        h = 1e-6
        direction = np.cos(np.arange(x.size)).reshape(x.shape)
        slope = (primal(x + h * direction, **given) - primal(x - h * direction, **given)) / (2 * h)
        assert np.sum(found * direction) == pytest.approx(slope, rel=1e-6)
    assert right


def test_methods_and_pullbacks(programs):
    file, module = programs
    made = dumped(file, "Model.energy").energy_grad
    np.testing.assert_allclose(made(module.Model(), X), 2.0 * X)
    with pytest.raises(ValueError, match="softened=False"):
        made(module.Model(), X, True)
    pull = dumped(file, "powers", "--mode", "vjp").powers_vjp
    np.testing.assert_allclose(pull(X)[1](2.0)[0], 4.0 * X)
    with pytest.raises(ValueError, match="flag=True"):
        pull(X, False)


def test_inserted_derivatives_check_too(tmp_path):
    file = tmp_path / "inserted.py"
    file.write_text(textwrap.dedent('''
        import numpy as np
        import s2s


        @s2s.differentiable
        def loss(x: "f8[:]", is_squared=True):
            """A loss."""
            return np.sum(x**2) if is_squared else np.sum(x)
        '''), encoding="utf-8")
    runner = CliRunner()
    assert runner.invoke(main, ["insert", str(file)]).exit_code == 0
    text = file.read_text(encoding="utf-8")
    assert runner.invoke(main, ["insert", str(file), "--check"]).exit_code == 0
    assert "def loss_grad(x, is_squared=True):" in text
    made = _module(file, "inserted").loss_grad
    np.testing.assert_allclose(made(X), 2.0 * X)
    with pytest.raises(ValueError, match="loss_grad was made for .*is_squared=True"):
        made(X, False)


def test_a_function_of_unknown_kinds_is_named_where_nothing_is_inserted(tmp_path):
    file = tmp_path / "unknown.py"
    text = "import s2s\n\n\n@s2s.differentiable\ndef cube(x):\n    return x**3\n"
    file.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["insert", str(file)])
    assert result.exit_code == 0 and file.read_text(encoding="utf-8") == text
    assert "unknown.py:cube: left out" in result.output and 'def cube(x: "f8[:]"):' in result.output


KINDS = """
import enum

import numpy as np


def cubed(v):
    return v**3


def applied(x: "f8[:]", f=np.sin, own=cubed, other=lambda v: 2.0 * v):
    return np.sum(f(x) * x) + np.sum(own(x)) + np.sum(other(x))


def product(x: "f8[:]", y: "f8[:]"):
    return x @ y


def biased(W: "f8[:,:]", b: "f8[:]", x: "f8[:]"):
    return np.sum(np.tanh(W @ x + b))


def columns(x: "f8[:]", c: "f8[:,1]"):
    return np.sum(x * c)


def steps(x: "f8[3]"):
    total = 0.0
    for v in x:
        total = total + v**2
    return total


def stored(x: "f8[:]", w: "f8[:]"):
    y = np.zeros_like(w)
    y[:] = x * 0.5
    return np.sum(y * w)


def scaled(x: "f8[:]", a: float, n: int):
    return np.sum((a * x) ** n)


def filled(x: float, n: int):
    y = np.full(n, x)
    y[0] = 0.5 * x
    return np.sum(y * y)


def swapped(u: "f8[:]", v: "f8[:]"):
    u[0] = v[1] * u[1]
    v[1] = u[0]
    return np.sum(u * v)


def grouped(p: "{'w': f8[:], 'b': f8[:]}", x: "f8[:]"):
    return np.sum((p["w"] * x + p["b"]) ** 2)


def real(x: "f8[:]", z: "f8[:]"):
    return np.sum(np.real(z * x))


class Way(enum.Enum):
    UP = 1
    DOWN = 2


def chosen(x: "f8[:]", way=Way.UP):
    return np.sum(x**2) if way is Way.UP else np.sum(x)
"""

FOUR = np.array([0.3, 1.2, -0.7, 0.9])
EXAMPLES = {
    "applied": (FOUR,),
    "product": (FOUR, FOUR[::-1].copy()),
    "biased": (np.outer(FOUR[:2], FOUR), FOUR[:2], FOUR),
    "columns": (FOUR, FOUR[:2, None]),
    "steps": (FOUR[:3],),
    "stored": (FOUR, FOUR + 1.0),
    "scaled": (FOUR, 1.3, 2),
    "filled": (0.7, 3),
    "swapped": (FOUR, FOUR + 1.0),
    "grouped": ({"w": FOUR, "b": FOUR + 1.0}, FOUR),
    "real": (FOUR, FOUR + 1.0),
    "chosen": (FOUR,),
}


def others_of(value):
    """Values of other kinds."""
    if isinstance(value, dict):
        for key in value:
            yield from ({**value, key: other} for other in others_of(value[key]))
    elif isinstance(value, np.ndarray):
        yield from (value + 0.5j, np.round(3 * value).astype(int), np.stack([value, 2 * value]), value[0])
        yield from (np.stack([value, value, 2 * value, value], -1), np.array(1.5), 1.5, value.tolist(), None)
        for axis in range(value.ndim):
            yield from (np.take(value, [0], axis), np.concatenate([value, value], axis))
    else:
        yield from (value + 1, value + 0.25, value + 1j, np.complex64(value + 1j), np.array(value), None)
        yield from (FOUR, FOUR[:3], FOUR.tolist())


def outcome(fn, args):
    """The numbers of a result; None where it raises."""
    try:
        with np.errstate(all="ignore"):
            found = fn(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    except (ValueError, TypeError, AttributeError, IndexError, s2s.errors.DifferentiationError):
        return None
    return [*found.values()] if isinstance(found, dict) else [found]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_other_kinds_are_right_or_raise(tmp_path, name):
    file = tmp_path / "kinds.py"
    file.write_text(KINDS, encoding="utf-8")
    module = _module(file, "kinds")
    made, asked = getattr(dumped(file, name), f"{name}_grad"), s2s.grad(getattr(module, name))
    args = EXAMPLES[name]
    defaults = [p.default for p in inspect.signature(getattr(module, name)).parameters.values()][len(args) :]
    own = [*args, *defaults]
    for found, right in zip(outcome(made, own), outcome(asked, own), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)
    raised = 0
    for k, value in enumerate(args):
        for other in others_of(value):
            given = [*own[:k], other, *own[k + 1 :]]
            found, right = outcome(made, given), outcome(asked, given)
            raised += found is None
            if found is not None:
                assert right is not None, (name, k, other, found)
                for one, two in zip(found, right, strict=True):
                    assert np.shape(one) == np.shape(two)
                    np.testing.assert_allclose(one, two, rtol=1e-9)
    assert raised


@pytest.mark.parametrize("given, told", [
    ({"f": np.cos}, "f=sin"), ({"own": np.exp}, "own=cubed"), ({"other": lambda v: 3.0 * v}, "other=<lambda> of line"),
])
def test_functions_that_the_text_is_not_for(tmp_path, given, told):
    file = tmp_path / "kinds.py"
    file.write_text(KINDS, encoding="utf-8")
    module = _module(file, "kinds")
    made = dumped(file, "applied").applied_grad
    others = {p.name: p.default for p in inspect.signature(module.applied).parameters.values() if p.name != "x"}
    right = FOUR * np.cos(FOUR) + np.sin(FOUR) + 3 * FOUR**2 + 2.0
    np.testing.assert_allclose(made(FOUR, **others), right)
    with pytest.raises(ValueError, match=f"applied_grad was made for .*{told}"):
        made(FOUR, **{**others, **given})


def test_names_of_options_that_the_text_is_not_for(tmp_path):
    file = tmp_path / "kinds.py"
    file.write_text(KINDS, encoding="utf-8")
    module = _module(file, "kinds")
    made = dumped(file, "chosen").chosen_grad
    np.testing.assert_allclose(made(FOUR, module.Way.UP), 2.0 * FOUR)
    with pytest.raises(ValueError, match="way=UP"):
        made(FOUR, module.Way.DOWN)


def test_arrays_that_share_memory(tmp_path):
    file = tmp_path / "kinds.py"
    file.write_text(KINDS, encoding="utf-8")
    made = dumped(file, "swapped").swapped_grad
    with pytest.raises(ValueError, match="swapped_grad was made for .*u apart from v"):
        made(FOUR, FOUR)


OBJECTS = """
from dataclasses import dataclass

import numpy as np


class Spring:
    def __init__(self, stiffness, weight):
        self.stiffness, self.weight = stiffness, weight

    def force(self, x):
        return self.stiffness * x

    def energy(self, x: "f8[:]"):
        return np.sum(self.force(x) * x * self.weight)


class Soft(Spring):
    pass


class Hard(Spring):
    def force(self, x):
        return self.stiffness * x**3


@dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "tanh"


def applied(layer, x):
    h = layer.w * x + layer.b
    return np.sum(np.tanh(h) if layer.name == "tanh" else h)
"""


def test_objects_of_other_classes_and_kinds(tmp_path):
    file = tmp_path / "objects.py"
    file.write_text(OBJECTS, encoding="utf-8")
    module, ones = _module(file, "objects"), np.ones(3)
    made = dumped(file, "Spring.energy", "--arg", "self=Spring(2.0, np.ones(3))", "--arg", "x=np.ones(3)").energy_grad
    for one in (module.Spring(3.0, 2 * ones), module.Soft(3.0, 2 * ones)):
        np.testing.assert_allclose(made(one, X), 12.0 * X)
    special = module.Spring(2.0, ones)
    special.force = lambda x: x
    for one in (
        module.Hard(2.0, ones),
        module.Spring(ones, ones),
        module.Spring(2.0j, ones),
        module.Spring(2.0, 1j * ones),
        module.Spring(2.0, np.ones((2, 3))),
        module.Spring(2.0, np.ones(1)),
        special,
    ):
        with pytest.raises(ValueError, match="energy_grad was made for"):
            made(one, X)


def test_objects_that_are_differentiated(tmp_path):
    file = tmp_path / "objects.py"
    file.write_text(OBJECTS, encoding="utf-8")
    module = _module(file, "objects")
    made = dumped(file, "applied", "--arg", "layer=Layer(np.ones(3), 1.0)", "--arg", "x=np.ones(3)").applied_grad
    layer, asked = module.Layer(2 * X, 0.5), s2s.grad(module.applied)
    np.testing.assert_allclose(made(layer, X).w, asked(layer, X).w)
    assert made(layer, X).b == pytest.approx(asked(layer, X).b)
    for w, b, name, told in (
        (X[:1], 0.5, "tanh", r"len\(layer.w\) == len\(x\)"), (X, np.ones(3), "tanh", "layer.b: float"),
        (X, 0.5, "none", 'layer.name="tanh"'), (1j * X, 0.5, "tanh", "layer.w: f8"),
    ):
        with pytest.raises(ValueError, match=f"applied_grad was made for .*{told}"):
            made(module.Layer(w, b, name), X)


def test_nothing_is_checked_that_makes_no_difference(tmp_path):
    file = tmp_path / "plain.py"
    file.write_text(
        'import numpy as np\n\n\ndef squares(x: "f8[:]", a: float, n: int):\n'
        "    return a * np.sum(x**2) * np.float64(n)\n",
        encoding="utf-8",
    )
    made = dumped(file, "squares").squares_grad
    for x in (X, np.stack([X, X]), X[:1], X.astype(np.float32)):
        np.testing.assert_allclose(made(x, 2, np.int64(3)), 12.0 * x, rtol=1e-6)


def test_what_numba_compiles_stands_alone_with_its_checks(tmp_path):
    pytest.importorskip("numba")
    file = tmp_path / "closed.py"
    file.write_text(textwrap.dedent("""
        import numpy as np


        def make(scale):
            def bell(x: "f8[:]", is_narrow=True):
                return np.sum(np.exp(-scale * x * x)) if is_narrow else np.sum(x)

            return bell


        bell = make(0.7)
        """), encoding="utf-8")
    made = dumped(file, "bell", "--backend", "numba").bell_grad
    np.testing.assert_allclose(made(X), -1.4 * X * np.exp(-0.7 * X * X), rtol=1e-12)
    with pytest.raises(ValueError, match="bell_grad was made for .*is_narrow=True"):
        made(X, False)


def square(x):
    return x * x


GUARDS = [
    ObjectGuard("argument", ("part", "name"), "tanh"), ObjectGuard("argument", ("part", "act"), square),
    KindGuard("argument", "part", Sequence(tuple, (Scalar(float),) * 2), rest=("pair",)),
    AliasGuard(("argument", ("x",), None), ("argument", ("y",), None), False),
    SizeGuard("x.0", 3), EqualGuard(Dim("x.0"), Dim("y.0", -1)), EqualGuard(Dim("y.0"), Dim("", 4)),
    SumGuard((("x.0", 2), ("y.0", -1)), -2, ">= 0"), SumGuard((("x.0", 1), ("y.0", -1)), 2, "!= 1"),
    SeparateGuard("x", "y"),
]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: type(guard).__name__)
def test_conditions_say_what_guards_say(guard):
    made = types.SimpleNamespace(guards=[(guard, square)])
    conditions = [eval(f"lambda part, x, y: {test}", {"np": np})
                  for test, _ in callers._of_guards(made, None, None, set())]
    seen = set()
    shared = np.ones(3)
    for name, act, pair in (("tanh", square, (2.0, 1.0)), ("sin", square, (2.0,)), ("tanh", np.cos, (3.0,) * 3)):
        part = types.SimpleNamespace(name=name, act=act, pair=pair)
        for x, y in [(np.ones(n), np.ones(m)) for n in range(1, 5) for m in range(1, 6)] + [(shared, shared)]:
            holds = guard.holds(square, {"part": part, "x": x, "y": y})
            assert any(condition(part, x, y) for condition in conditions) is not holds
            seen.add(holds)
    assert seen == {True, False}


@pytest.mark.parametrize("guard", [
    ObjectGuard("argument", ("part", (object(),)), square), ObjectGuard("argument", ("part", "act"), object()),
    KindGuard("argument", "part", Scalar(float), rest=((object(),),)),
    AliasGuard(("argument", ("x",), None), ("global", ("y",), None), True),
], ids=range(4))
def test_what_no_text_can_ask_is_refused(guard):
    """As an item of a table whose key is an object."""
    made = types.SimpleNamespace(guards=[(guard, square)])
    with pytest.raises(CannotShip, match="it was made for"):
        list(callers._of_guards(made, None, None, set()))


@pytest.mark.parametrize("guard, part, is_for", [
    (AttributeGuard("argument", ("part",), "b", True), {"b": 1}, True),
    (AttributeGuard("argument", ("part",), "b", True), {"c": 1}, False),
    (AttributeGuard("argument", ("part",), "b", False), {"b": 1}, False),
    (AttributeGuard("argument", ("part",), "b", False), {"c": 1}, True),
    (ShadowGuard("argument", ("part",), "b"), {"b": 1}, False), (ShadowGuard("argument", ("part",), "b"), {}, True),
    (NamesGuard("argument", ("part", "__dict__"), ("a", "b")), {"a": 1, "b": 2}, True),
    (NamesGuard("argument", ("part", "__dict__"), ("a", "b")), {"b": 1, "a": 2}, False),
])
def test_what_an_object_has_is_asked(guard, part, is_for):
    part = types.SimpleNamespace(**part)
    [(test, _)] = callers._of_guards(types.SimpleNamespace(guards=[(guard, square)]), None, None, {"part"})
    assert guard.holds(square, {"part": part}) is is_for
    assert eval(test, {"part": part}) is not is_for


class Base:
    def energy(self):
        return 1.0


class Other(Base):
    pass


def of_class(place):
    module = f'type({place}).__module__ not in ("{__name__}", "__main__", __name__)'
    return [f'type({place}).__qualname__ != "Other"', module]


@pytest.mark.parametrize("path, own, read, tests", [
    (("part",), None, {"part"}, of_class("part")), (("part",), None, {"inner"}, []),
    (("part", "inner"), None, {"part"}, of_class("part.inner")), (("part", "x"), None, {"x"}, []),
    (("part",), "x", {"part"}, of_class("part")), (("part",), "part", {"x"}, []),
    (("part",), "part", {"part"}, [
        'part.energy.__qualname__ != "Base.energy"',
        f'part.energy.__module__ not in ("{__name__}", "__main__", __name__)']),
])
def test_objects_are_told_by_class_and_that_of_a_method_by_its_methods(path, own, read, tests):
    """Those that were found in the class, of objects that the function reads."""
    guards = [ObjectGuard("module", ("m", "energy"), Base.energy), ObjectGuard("module", ("m", "square"), square),
              ObjectGuard("global", ("energy",), Base.energy), ObjectGuard("module", ("m", "rate"), 2.0)]
    made = types.SimpleNamespace(guards=[(guard, square) for guard in guards])
    assert [test for test, _ in callers._of_objects(made, path, Other, own, read)] == tests
    made = types.SimpleNamespace(guards=[(ObjectGuard("argument", (*path, "__class__"), Other), square)])
    if own is None:
        assert [test for test, _ in callers._of_guards(made, None, own, read)] == tests


@pytest.mark.parametrize("path, made", [
    (("x",), "x"), (("x", "w"), "x.w"), (("x", (2,)), "x[2]"), (("x", ("k",), "w", (0,)), "x['k'].w[0]"),
    (("x", (None,)), "x[None]"), (("x", ("it's",)), 'x["it\'s"]'), (("x", "no name"), None), (("x", (1, 2)), None),
    (("x", ()), None), (("x", 3), None), (("x", (object(),)), None),
])
def test_places_are_written_as_python(path, made):
    if made is not None:
        assert callers._place(*path) == made
        return
    with pytest.raises(CannotShip, match="it was made for a part of `x` that it cannot name"):
        callers._place(*path)


def shadowed(x):
    return x


VALUES = [
    1, 3, 2.5, "a", "b", "it's", 'say "a"', "a\\b", "a\u2028b", b"a", b"'", None, (1, "k"), (1, "it's"), np.inf, np.nan,
    np.dtype("f8"), np.dtype("i4"), np, inspect, square, shadowed,
    np.ndarray, float, abs, len,
    lambda v: v,
    lambda v: v + 1.0,
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(VALUES)))
def test_values_are_told_from_others_of_their_kind(k):
    """By what they are, or by a name."""
    tests = [eval(f"lambda x: {test}") for test, _ in callers._of_value("x", VALUES[k])]
    assert tests
    for n, other in enumerate(VALUES):
        if type(other) is type(VALUES[k]):
            assert any(test(other) for test in tests) is (n != k)


@pytest.mark.parametrize("value", [True, False])
def test_flags_are_told_by_themselves(value):
    [(test, holds)] = callers._of_value("x", value)
    assert (test, holds) == (f"x is not {value}", f"x={value}")


@pytest.mark.parametrize("value", [
    object(), types.SimpleNamespace(__qualname__=3), functools.partial(pow, 2), np.random.default_rng(0).normal,
    [].append,
])
def test_values_without_a_name_are_refused(value):
    with pytest.raises(CannotShip, match="it was made for one value of `x`, which it cannot tell from others"):
        list(callers._of_value("x", value))


@pytest.mark.parametrize("mark", ["x", "'", '"', "\\", ", "])
def test_messages_fit_their_lines(mark):
    """In one line as long as there is room beside eight columns of indentation, otherwise in several."""
    for length in (*range(40, 90), 300):
        message = f"f was made for {'x=1, ' * 60}"[: length - 2 * len(mark)] + 2 * mark
        lines = callers._raised(message)
        said = eval("".join(lines).removeprefix("raise ValueError"))
        assert said == message
        assert (len(lines) == 1) is (len(message) + len('raise ValueError("")') <= WIDTH - 8)
        assert all(len(line) <= WIDTH - 8 + line.count("\\") for line in lines)


@pytest.mark.parametrize("tests, kept", [
    ([("x.ndim != 1", "a"), ("len(x) == 1", "b")], None),
    ([("len(x) != 3", "a"), ("len(x) == 1", "b")], [("len(x) != 3", "a")]),
    ([("len(x) == 1", "b"), ("len(x) != 3", "a")], [("len(x) != 3", "a")]),
    ([("len(x) != len(y)", "a"), ("len(x) == 1", "b"), ("len(y) == 1", "c")],
     [("len(x) != len(y)", "a"), ("len(x) == 1", "b")]),
    ([("len(x) != len(y)", "a"), ("len(y) == 1", "c")], None),
    ([("len(x) != len(y)", "a"), ("len(x) == 1", "c")], None),
    ([("x.ndim != 1", "a"), ("len(x) != 3", "b")], [("x.shape != (3,)", "b")]),
    ([("x.ndim != 1", "a"), ("len(y) != 3", "b")], None), ([("x.ndim != 2", "a"), ("len(x) != 3", "b")], None),
    ([("x.ndim != 1", "a"), ("x.shape[0] != 3", "b")], None), ([("x.ndim != 1", "a"), ("len(x) != len(y)", "b")], None),
    ([("len(x) == 1 != len(y)", "a"), ("len(x) != len(y)", "b")], [("len(x) != len(y)", "b")]),
    ([("len(y) == 1 != len(x)", "a"), ("len(x) != len(y)", "b")], [("len(x) != len(y)", "b")]),
    ([("len(x) == 1 != len(z)", "a"), ("len(x) != len(y)", "b")], None),
    ([("not x", "a"), ("not x", "a"), ("y", "b")], [("not x", "a"), ("y", "b")]), ([], []),
])
def test_conditions_that_others_say_are_left_out(tests, kept):
    assert callers._without_doubles(tests) == (tests if kept is None else kept)


def conditions_of(*counts):
    """So many conditions of each of some arguments."""
    return [(f"argument_{k}[{n}] != {n}", f"argument_{k}=(0, 1)") for k in range(len(counts)) for n in range(counts[k])]


@pytest.mark.parametrize("counts, sizes", [
    ((), []), ((1,), [1]), ((1, 1), [2]), ((1, 1, 1), [2, 1]), ((2,), [2]), ((3,), [3]), ((4,), [3, 1]),
    ((7,), [3, 3, 1]), ((1, 2), [3]), ((2, 2), [2, 2]), ((1, 3), [1, 3]), ((4, 1), [3, 1, 1]), ((1, 4), [1, 3, 1]),
    ((4, 1, 1), [3, 1, 2]),
])
def test_conditions_go_together_as_long_as_a_line_has_room(counts, sizes):
    """What is said of one argument is not parted to fill a line with another."""
    conditions = conditions_of(*counts)
    groups = callers._by_line("f_grad", conditions)
    assert [one for group in groups for one in group] == conditions
    assert [len(group) for group in groups] == sizes
    for group in groups:
        lines = callers._check("f_grad", group)
        assert len(lines) == 2 and all(len(line) <= WIDTH - 4 for line in lines)


def test_a_check_names_each_thing_once():
    lines = callers._check("f", [("not a", "a=True"), ("len(x) != 2", "x: f8[2]"), ("x.ndim != 1", "x: f8[2]")])
    raising = '    raise ValueError("f was made for a=True, x: f8[2]")'
    assert lines == ["if not a or len(x) != 2 or x.ndim != 1:", raising]


SIGNATURES = [
    lambda: 0, lambda x: x, lambda x, /: x, lambda x, /, y: x, lambda x, /, y=2: x, lambda x=1, y=2: x,
    lambda *rest: rest, lambda x, *rest, y: x, lambda *, x: x, lambda x, *, y=2, z: x, lambda **named: named,
    lambda x, /, *, y: x, lambda x, /, *rest, y=2, **named: x, lambda x, /, y, *, z=3, **named: x,
]  # fmt: skip


@pytest.mark.parametrize("f", SIGNATURES)
def test_parameters_are_written_as_python_shows_them(f):
    found = inspect.signature(f)
    defaults = {p.name: repr(p.default) for p in found.parameters.values() if p.default is not p.empty}
    assert f"({', '.join(callers._written([*found.parameters.values()], defaults))})" == str(found)


@pytest.mark.parametrize("defaults, made", [
    ({}, "(x, /, y, *, z)"), ({"x": "1", "y": "2", "z": "3"}, "(x=1, /, y=2, *, z=3)"), ({"x": "1"}, "(x, /, y, *, z)"),
    ({"y": "2"}, "(x, /, y=2, *, z)"), ({"z": "3"}, "(x, /, y, *, z=3)"), ({"x": "1", "z": "3"}, "(x, /, y, *, z=3)"),
])
def test_defaults_before_parameters_without_one_are_left_out(defaults, made):
    parameters = [*inspect.signature(lambda x=1, /, y=2, *, z=3: x).parameters.values()]
    assert f"({', '.join(callers._written(parameters, defaults))})" == made


ENTRIES = [
    "def f():\n    return 1", "def f(x):\n    return x", "def f(x, y=(1, 2)):\n    return x",
    "def f(\n    x,\n    y=2,\n):\n    return x", "def f(x, y={\n    1: 2}\n):\n    if x:\n        return x",
    'def f(x):\n    """Of x:"""\n    return x', 'def f(x):\n    """Of\n    x:\n    """\n    y = x\n    return y',
    "import numpy as np\n\n\ndef g(x):\n    return x\n\n\ndef f(x):\n    # as it is:\n    return g(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", ENTRIES)
def test_where_the_head_and_the_documentation_of_an_entry_end(text):
    """Code put behind both runs first, and the function stays as it is documented."""
    entry, lines = callers._entry(text, "f"), text.split("\n")
    assert entry.name == "f" and callers._entry(text, "h") is None
    end = callers._end_of_head(entry, lines)
    assert callers._end_of_head(callers._entry(text, "f"), lines) == end and lines[end - 1].endswith(":")
    head = "\n".join([*lines[:end], "    return 'head'", *lines[end:]])
    start = callers._first_statement(entry)
    checked = "\n".join([*lines[:start], "    raise ValueError('first')", *lines[start:]])
    given = [3] * len(entry.args.args)
    own, ended, raising = {}, {}, {}
    for scope, code in ((own, text), (ended, head), (raising, checked)):
        exec(code, scope)
    assert ended["f"](*given) == "head"
    with pytest.raises(ValueError, match="first"):
        raising["f"](*given)
    assert raising["f"].__doc__ == own["f"].__doc__ and own["f"](*given) == (given or [1])[0]


def read_by(x, y, z, w, v, *rest, **named):
    def inner():
        return y

    z = 1
    del w
    return x + inner() + len(named) + z


def test_variables_that_a_function_or_one_in_it_reads():
    assert {"x", "y", "named", "inner"} <= callers._read(read_by)
    assert not {"v", "rest", "w"} & callers._read(read_by)


@pytest.mark.parametrize("shapes, guards, count", [
    ([(Dim("x.0"),)], (), 1), ([(Dim("x.0"),), (Dim("y.0"),)], (), 2),
    ([(Dim("x.0"),), (Dim("y.0"),)], (EqualGuard(Dim("x.0"), Dim("y.0")),), 1),
    ([(Dim("", 3), Dim("", 1))], (), 1), ([(Dim("", 3), Dim("", 2))], (), 2), ([(Dim("", 1), Dim("", 1))], (), 0),
    ([(Dim("x.0"), Dim("", 3))], (), 1), ([(Dim("x.0"),), (Dim("", 3),)], (), 2), ([()], (), 0),
])
def test_lengths_that_may_be_broadcast_are_counted(shapes, guards, count):
    """All but 1, once each; a constant beside one that is not known is of another kind of axis."""
    avals = tuple(Array(np.dtype(float), shape) for shape in shapes)
    for given in (avals, (Sequence(tuple, avals),) if len(avals) == 1 else avals):
        made = types.SimpleNamespace(avals=given, compiled=types.SimpleNamespace(guards=guards))
        assert departures._count_lengths(made) == count
