"""Statements of numbers and elements as functions of their own: which ones, what moves, what they give."""

import ast
import warnings

import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError

import s2s
from s2s import NumbaFallbackWarning
from s2s import runtime as rt
from s2s.backends.numba import adaptation, compiler, straight, straight_units, units
from s2s.backends.numba.number_kinds import Kinds
from s2s.backends.numba.straight import Run, Straights

KNOWN = {"rt": rt, "np": np, "range": range, "reversed": reversed, "len": len}


@pytest.fixture(autouse=True)
def in_small_blocks(monkeypatch):
    """Runs in blocks of any size: those of the tests are small."""
    monkeypatch.setattr(straight, "LEAST_WORK_OF_BLOCK", 0)


def static(expr):
    try:
        return eval(ast.unparse(expr), dict(KNOWN))
    except (NameError, AttributeError):
        return None


def runs_of(text, env, monkeypatch, least=0):
    monkeypatch.setattr(straight, "LEAST_WORK", least)
    node = ast.parse(text).body[0]
    kinds = Kinds(node.body, env, static)
    return Straights(node, kinds, static, lambda value, call: value).of(node.body)


def shown(made):
    return [f"{', '.join(s.results)} = {s.unit.results}" if isinstance(s, Run) else ast.unparse(s) for s in made]


MATRIX, VECTOR = ("array", "float", 2), ("array", "float", 1)


def test_what_moves_out_of_the_way(monkeypatch):
    made = runs_of(
        "def f(a, x, k, saved):\n"
        "    y = a[k, 0] * x\n"
        "    saved.append(a)\n"
        "    t = np.empty(2)\n"
        "    t[0] = y + a[1, 1]\n"
        "    t[1] = y / 2\n"
        "    z = np.sin(y) * y\n"
        "    saved.append(t)\n"
        "    return z\n",
        {"a": MATRIX, "x": "float", "k": "int"}, monkeypatch)
    assert shown(made) == ["t = np.empty(2)", "z = ('v1',)", "saved.append(a)", "saved.append(t)", "return z"]
    assert made[1].first.lineno == 2  # where its call stands for a debugger
    assert made[1].unit.text.splitlines() == [
        "v0 = a0[s1, 0] * s2", "a3[0] = v0 + a0[1, 1]", "a3[1] = v0 / 2", "v1 = sin(v0) * v0"]


@pytest.mark.parametrize("between", [
    "y = np.empty(2)",  # the run reads the number
    "b = a @ a",  # reads the elements
    "q = x[0]",  # of unknown kind
    "n = len(saved)\n    saved.append(y)\n    t = saved.pop()",  # another order on the list
])
def test_what_ends_a_run(between, monkeypatch):
    made = runs_of(
        f"def f(a, x, saved):\n    y = a[0, 0] * a[0, 1]\n    a[0, 0] = y * y\n    {between}\n"
        "    u = a[1, 0] * a[1, 1]\n    v = a[1, 0] * u\n    return y, u, v\n",
        {"a": MATRIX, "saved": ("list", "float")}, monkeypatch)
    assert sum(isinstance(s, Run) for s in made) == 2


def test_a_number_that_something_on_a_list_needs_is_not_overwritten_before(monkeypatch):
    made = runs_of(
        "def f(a, saved):\n    y = a[0] * a[1]\n    saved.append(y)\n    y = a[0] + y\n    return y\n",
        {"a": VECTOR, "saved": ("list", None)}, monkeypatch)
    first = next(k for k, s in enumerate(made) if not isinstance(s, Run))
    assert ast.unparse(made[first]) == "saved.append(y)"
    assert sum(isinstance(s, Run) for s in made[:first]) == 1


def test_kinds_are_those_at_the_statement(monkeypatch):
    """A name is a number here, an array there; what a loop carries is known from both of its ends."""
    made = runs_of(
        "def f(a, n):\n    x = a[0, 0]\n    for i in range(n):\n        y = x * a[i, 1]\n        x = y * y + a[i, 0]\n"
        "    x = a[0]\n    return x, y\n", {"a": MATRIX, "n": "int"}, monkeypatch)
    node = ast.parse("def f(a, n):\n    x = a[0, 0]\n    for i in range(n):\n        y = x * a[i, 1]\n"
                     "        x = y * y + a[i, 0]\n    x = a[0]\n    return x\n").body[0]
    kinds = Kinds(node.body, {"a": MATRIX, "n": "int"}, static)
    assert kinds.known(node.body[1].body[0])["x"] == "float"
    assert kinds.known(node.body[3])["x"] == VECTOR
    assert len(made) == 4
    other = ast.parse("def f(a, n):\n    x = 0\n    for i in range(n):\n        x = x + a[i, 1]\n        if x > 2.0:\n"
                      "            x = a[0]\n            break\n    return x\n").body[0]
    kinds = Kinds(other.body, {"a": MATRIX, "n": "int"}, static)
    assert kinds.known(other.body[1].body[0])["x"] == "unknown"
    assert kinds.known(other.body[2])["x"] == "unknown"


def check(f, args, argnums, is_forward=True):
    """Compare the gradient, and a derivative in forward mode, with central differences."""
    compiled, step = s2s.differentiable(f, backend="numba"), 1e-6
    gradients = s2s.grad(compiled, argnums=argnums)(*args)
    tangents, along = [None] * len(args), 0.0
    for k, gradient in zip(argnums, gradients, strict=True):
        tangents[k] = np.cos(np.arange(np.size(args[k])) + k).reshape(np.shape(args[k]))
        for at in np.ndindex(np.shape(args[k])):
            moved = [np.array(args[k], float) for _ in range(2)]
            moved[0][at] += step
            moved[1][at] -= step
            values = [f(*args[:k], m, *args[k + 1 :]) for m in moved]
            difference = (values[0] - values[1]) / (2 * step)
            np.testing.assert_allclose(gradient[at], difference, rtol=1e-5, atol=1e-6)
            along += difference * tangents[k][at]
    if is_forward:
        np.testing.assert_allclose(s2s.jvp(compiled, args, tuple(tangents))[1], along, rtol=1e-5, atol=1e-6)


# --- what they compute ------------------------------------------------------------------------------------------------


def chain(angles, rotations, points):
    total = np.eye(3)
    loss = 0.0
    for k in range(angles.shape[0]):
        c, s = np.cos(angles[k]), np.sin(angles[k])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        total = total @ turn @ rotations[k]
        loss = loss + np.sum((total @ points[k]) ** 2) / (1.0 + total[0, 0] ** 2)
    return loss


def chain_arguments(n=3):
    rng = np.random.default_rng(4)
    return rng.uniform(-1, 1, n), rng.normal(size=(n, 3, 3)), rng.normal(size=(n, 3))


@pytest.fixture
def counted(monkeypatch):
    """How many runs are compiled."""
    made = []
    before = adaptation._Rewriter._run

    def run(self, one):
        made.append(one)
        return before(self, one)

    monkeypatch.setattr(adaptation._Rewriter, "_run", run)
    return made


@pytest.fixture(autouse=True)
def without_fallback():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        yield


@pytest.mark.slow
def test_both_modes(counted):
    check(chain, chain_arguments(), (0, 1, 2))
    assert len(counted) >= 4


@pytest.mark.slow
def test_layouts_and_views(counted):
    angles, rotations, points = chain_arguments()
    expected = s2s.grad(chain, argnums=(0, 1, 2))(angles, rotations, points)
    for other in (np.asfortranarray(rotations), np.repeat(rotations[::-1], 2, axis=2)[::-1, :, ::2]):
        found = s2s.grad(s2s.differentiable(chain, backend="numba"), argnums=(0, 1, 2))(angles, other, points)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-12)
    assert counted


def mixed(x, a, k, j):
    u = x[k] * a[k, 0] + x[j] * a[j, 1] - x[0] / x[-1]
    v = u * x[k] / a[0, 0] + x[j] ** 3 * np.exp(a[j, 0]) - 2 * u
    w = v * u + x[k] * x[j] * a[k, 1] + u / v
    return w * w + v / a[k, k]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "j"), [(0, 1), (-1, -3)])
def test_subscripts(k, j, counted):
    rng = np.random.default_rng(1)
    check(mixed, (rng.uniform(0.5, 2, 3), rng.uniform(0.5, 2, (3, 3)), k, j), (0, 1))
    assert counted


@pytest.mark.slow
def test_what_python_raises(counted):
    g = s2s.grad(s2s.differentiable(mixed, backend="numba"), argnums=(0, 1))
    x, a = np.array([1.0, 2.0, 3.0]), np.ones((3, 3))
    g(x, a, 0, 1)
    for k in (3, -4):
        with pytest.raises(IndexError):
            g(x, a, k, 1)
    with np.errstate(all="ignore"):
        expected = s2s.grad(mixed, argnums=(0, 1))(x * 0.0, a, 0, 1)
        found = g(x * 0.0, a, 0, 1)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert counted


def divided(x, y):
    z = x * y + x / y + x * x * y * y - 3.0 * x
    w = z * x - y * y * z + z / y
    return w * z + x * w * z * y + w / y


def test_python_s_division_by_zero(counted):
    g = s2s.grad(s2s.differentiable(divided, backend="numba"), argnums=(0, 1))
    np.testing.assert_allclose(g(1.5, 2.0), s2s.grad(divided, argnums=(0, 1))(1.5, 2.0), rtol=1e-13)
    with pytest.raises(ZeroDivisionError):
        g(1.5, 0.0)
    assert counted


@pytest.mark.slow
def test_other_kinds_of_numbers(counted):
    x, a = np.array([1.0, 2.0, 3.0]), np.arange(1.0, 10.0).reshape(3, 3)
    for dtype in (np.float32, np.int64):
        found = s2s.grad(s2s.differentiable(mixed, backend="numba"))(x, a.astype(dtype), 0, 1)
        np.testing.assert_allclose(found, s2s.grad(mixed)(x, a.astype(dtype), 0, 1), rtol=1e-6)


@pytest.mark.slow
def test_kinds_that_are_wrong_cost_another_try(monkeypatch, counted):
    """What Numba finds decides: statements that are something else are left where they are, the others are a call."""
    before, raised = straight_units._Typer.results, []

    def results(self, body, names):
        if not raised or raised[0] == names:
            raised.append(names)
            raise TypingError("these are no numbers")
        return before(self, body, names)

    monkeypatch.setattr(straight_units._Typer, "results", results)
    monkeypatch.setattr(units, "_units", {})
    monkeypatch.setattr(straight, "refused", set())
    monkeypatch.setattr(straight_units, "refused", straight.refused)
    monkeypatch.setattr(compiler, "refused_statements", straight.refused)
    args = chain_arguments()
    found = s2s.grad(s2s.differentiable(chain, backend="numba"), argnums=(0, 1, 2))(*args)
    for one, other in zip(found, s2s.grad(chain, argnums=(0, 1, 2))(*args), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert straight.refused
    assert len(counted) > 2 * len(straight.refused)


@pytest.mark.slow
def test_products_of_short_matrices_do_not_make_the_function_long(monkeypatch):
    """Of sixteen products written out there are calls left."""
    lengths = {}
    before = compiler.compiled_text

    def compiled_text(adapted, text, caller):
        lengths[adapted.node.name] = sum(isinstance(n, ast.BinOp) for n in ast.walk(adapted.node))
        return before(adapted, text, caller)

    monkeypatch.setattr(compiler, "compiled_text", compiled_text)

    def f(a, b):
        for _ in range(4):
            a = a @ b @ a + b
        return np.sum(a)

    rng = np.random.default_rng(2)
    args = rng.normal(size=(4, 4)) * 0.5, rng.normal(size=(4, 4)) * 0.5
    check(f, args, (0, 1), is_forward=False)
    assert max(lengths.values()) < 40


def test_small_blocks_stay_as_they_are(monkeypatch):
    text = "def f(a):\n    q = a[0, 0] * a[0, 1] + a[1, 0] * a[1, 1]\n    return q"
    monkeypatch.setattr(straight, "LEAST_WORK_OF_BLOCK", 5)
    assert any(isinstance(s, Run) for s in runs_of(text, {"a": MATRIX}, monkeypatch))
    monkeypatch.setattr(straight, "LEAST_WORK_OF_BLOCK", 100)
    assert not any(isinstance(s, Run) for s in runs_of(text, {"a": MATRIX}, monkeypatch))


@pytest.mark.parametrize("body, returned, gain", [
    ("q = a[0, 0] * a[0, 1]", "q", 9 - 2),
    ("q = a[0, 0] * a[0, 1]\n    r = q * q", "r", 10 - 2),
    ("q = a[0, 0] * a[0, 1]\n    r = q * q", "q, r", 10 - 4),
    ("q = a[0, 0] * a[0, 1]\n    r = q * q\n    t = -r", "q, r, t", 11 - 6),
    ("q = a[0, 0] * x + y", "q", 6 - 2 - 1), ("q = a[0, 0] * x + y * z", "q", 7 - 2 - 2),
    ("q = np.sin(a[0, 0] * x)\n    a[1, 1] = q", "a", 13 - 0 - 1), ("a[0, 0] = x", "a", 4 - 1),
    ("q = a[0, 0] < y", "q", 5 - 2 - 1),
])
def test_what_a_call_has_to_save(body, returned, gain, monkeypatch):
    """The operations of the statements, less two for each number that the call gives and half of one for each that it
    gets."""
    text, env = f"def f(a, x, y, z):\n    {body}\n    return {returned}", {"a": MATRIX, **dict.fromkeys("xyz", "float")}
    made = runs_of(text, env, monkeypatch, gain)
    assert any(isinstance(s, Run) for s in made)
    assert not any(isinstance(s, Run) for s in runs_of(text, env, monkeypatch, gain + 1))


def test_types_of_numbers_statement_by_statement():
    array, pair = types.Array(types.float64, 1, "C"), types.Tuple((types.int64, types.boolean))
    body = ast.parse("a, b = v\nk, t = p\nc = v[0]\nd = a * 2\nv[1] = d\ne = not t\ng = -k").body
    found = straight_units._Typer(None, {}, {"v": array, "p": pair}).results(body, tuple("abcdegkt"))
    assert found == [types.float64] * 4 + [types.boolean, types.int64, types.int64, types.boolean]
    for text in ("v[1] = True", "p[0] = 1.0", "a = k + 2"):
        with pytest.raises(TypingError):
            straight_units._Typer(None, {}, {"v": array, "p": pair, "k": types.int64}).results(ast.parse(text).body, ())
