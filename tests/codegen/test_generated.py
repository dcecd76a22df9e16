"""What generated source looks like for known signatures: as an expert writes, and it runs by itself."""

import ast
import inspect
import linecache
import math
import os
import subprocess
import sys
import traceback

import numpy as np
import pytest
import scipy.special

import s2s
from tests.helpers import ROOT, leaves

V, W = np.array([0.7, -1.2, 1.9]), np.array([1.1, 0.4, -0.8])
M, B = np.array([[0.3, -1.1, 0.8], [1.7, 0.6, -0.45]]), np.array([0.2, -0.6])


def ripple(x, y):
    z = np.sin(x * y)
    return z * z + x


def pseudo_huber(r, delta):
    scaled = r / delta
    return np.sum(delta**2 * (np.sqrt(1.0 + scaled**2) - 1.0))


def leaky(x, slope):
    y = np.where(x > 0, x, slope * x)
    return np.sum(y * y)


def snap(x, step):
    return np.sum((np.floor(x / step) * step) ** 2)


def piecewise(x):
    if x > 1.0:
        y = x * x
    else:
        y = np.exp(x)
    return y * x


def logistic_growth(x, rate, n):
    for _ in range(n):
        x = x + rate * x * (1.0 - x)
    return x


def decay(x, n):
    y = x
    for _ in range(n):
        y = 0.9 * y
    return y


def until(x, limit):
    while x < limit:
        x = x * x
    return x


def affine_loss(A, b, x):
    r = A @ x + b
    return r @ r


def tanh_layer(A, b, x):
    h = np.tanh(A @ x + b)
    return np.sum(h)


def differences(v):
    d = v[1:] - v[:-1]
    return np.sum(d * d)


def gaussian_score(x, mean, log_sigma):
    z = (x - mean) / np.exp(log_sigma)
    return np.sum(0.5 * z * z + log_sigma)


def poly(x, a, b, c):
    return a * x * x + b * x + c


def sum_of_elements(v):
    total = 0.0
    for i in range(len(v)):
        total += v[i] ** 3
    return total


PRIMALS = [
    (ripple, (1.3, 0.4), (0, 1)),
    (pseudo_huber, (V, 0.7), (0, 1)),
    (leaky, (V, 0.1), (0, 1)),
    (snap, (V, 0.3), 0),
    (piecewise, (1.7,), 0),
    (logistic_growth, (0.2, 1.1, 5), (0, 1)),
    (decay, (1.3, 5), 0),
    (until, (1.3, 20.0), 0),
    (affine_loss, (M, B, V), (0, 1, 2)),
    (tanh_layer, (M, B, V), ("A", "b")),
    (differences, (V,), 0),
    (gaussian_score, (V, 0.3, -0.2), (0, 1, 2)),
    (poly, (1.3, 0.4, 0.5, 0.6), 0),
    (sum_of_elements, (V,), 0),
]
STRAIGHT = [entry for entry in PRIMALS if entry[0] in (
    ripple, pseudo_huber, leaky, snap, affine_loss, tanh_layer, gaussian_score, poly,
)]


def each(entries):
    return pytest.mark.parametrize("f, args, argnums", entries, ids=[f.__name__ for f, _, _ in entries])


each_primal, each_straight = each(PRIMALS), each(STRAIGHT)
each_mode = pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "primal"])


def generated(f, args, argnums, mode="grad"):
    return s2s.source(f, *args, mode=mode, argnums=argnums)


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def assigned_names(tree):
    """Names that a plain statement assigns; loop variables are not among them, a loop needs its own."""
    assigns = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    targets = [target for node in assigns for target in node.targets]
    targets += [node.target for node in ast.walk(tree) if isinstance(node, (ast.AugAssign, ast.AnnAssign))]
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, ast.Store) and not node.id.startswith("_")}


def entry_node(text, f):
    """The gradient function in a generated text."""
    return next(node for node in functions(ast.parse(text)) if node.name == f"{f.__name__}_grad")


def read_names(tree):
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}


# --- structure ------------------------------------------------------------------------------------


@each_mode
@each_primal
def test_compiles(f, args, argnums, mode):
    text = generated(f, args, argnums, mode)
    compile(text, "generated", "exec")
    assert text.endswith("\n") and "\t" not in text


@each_mode
@each_primal
def test_no_helper_calls(f, args, argnums, mode):
    text = generated(f, args, argnums, mode)
    assert "rt." not in text and "unbroadcast" not in text
    assert not {"rt", "s2s"} & read_names(ast.parse(text))
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(ast.parse(text)))


@each_mode
@each_primal
def test_every_assigned_name_is_read(f, args, argnums, mode):
    for function in functions(ast.parse(generated(f, args, argnums, mode))):
        assert assigned_names(function) <= read_names(function)


@each_mode
@each_primal
def test_no_statement_without_effect(f, args, argnums, mode):
    tree = ast.parse(generated(f, args, argnums, mode))
    for function in functions(tree):
        for node in ast.walk(function):
            assert not isinstance(node, ast.Pass)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                assert ast.unparse(node.targets[0]) != node.value.id
            if isinstance(node, ast.Expr) and node is not function.body[0]:
                assert isinstance(node.value, ast.Call), ast.unparse(node)


@each_primal
def test_comments_and_head(f, args, argnums):
    text = generated(f, args, argnums)
    assert text.find("# forward sweep") < text.find("# reverse sweep")
    assert "# forward sweep\n    # reverse sweep" not in text
    head = ast.get_docstring(entry_node(text, f))
    assert f.__name__ in head and "s2s" in head and "test_generated.py" in head


@each_straight
def test_no_zero_in_straight_code(f, args, argnums):
    tree = ast.parse(generated(f, args, argnums))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            assert node.value.value != 0
        assert not (isinstance(node, ast.Attribute) and node.attr in ("zeros", "zeros_like"))


@each_straight
def test_no_arithmetic_with_one_or_zero(f, args, argnums):
    for node in ast.walk(ast.parse(generated(f, args, argnums))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add)):
            for side in (node.left, node.right):
                value = side.value if isinstance(side, ast.Constant) else None
                assert value != 0 and (value != 1 or isinstance(node.op, ast.Add)), ast.unparse(node)


@each_primal
def test_lines_are_short(f, args, argnums):
    assert max(len(line) for line in generated(f, args, argnums).splitlines()) <= 100


@each_primal
def test_user_names_stay(f, args, argnums):
    text = generated(f, args, argnums)
    parameters = list(inspect.signature(f).parameters)
    entry = entry_node(text, f)
    assert [argument.arg for argument in entry.args.args] == parameters
    for name in argnums if isinstance(argnums, tuple) else (argnums,):
        name = name if isinstance(name, str) else parameters[name]
        assert f"{name}_bar" in text or isinstance(entry.body[-1], ast.Return)


def test_passive_arguments_have_no_adjoint():
    text = generated(tanh_layer, (M, B, V), ("A", "b"))
    assert "x_bar" not in text
    assert "c_bar" not in generated(poly, (1.3, 0.4, 0.5, 0.6), 0)
    assert "n_bar" not in generated(decay, (1.3, 5), 0)


def test_linear_loop_saves_nothing():
    text = generated(decay, (1.3, 5), 0)
    assert "np.empty" not in text and "append" not in text and "saved" not in text


def test_sweep_that_is_not_needed_is_not_there():
    tree = ast.parse(generated(decay, (1.3, 5), 0))
    assert sum(isinstance(node, ast.For) for node in ast.walk(tree)) == 1
    tree = ast.parse(generated(decay, (1.3, 5), 0, "value_and_grad"))
    assert sum(isinstance(node, ast.For) for node in ast.walk(tree)) == 2


def test_a_float_is_kept_on_a_list_and_a_number_of_numpy_in_an_array():
    text = generated(logistic_growth, (0.2, 1.1, 5), (0, 1))
    assert "append(" in text and "np.empty(" not in text
    text = generated(logistic_growth, (np.float64(0.2), 1.1, 5), (0, 1))
    assert "np.empty(" in text and "append" not in text


def test_while_counts_its_trips_or_pops():
    tree = ast.parse(generated(until, (1.3, 20.0), 0))
    assert sum(isinstance(node, (ast.While, ast.For)) for node in ast.walk(tree)) == 2


def test_slices_accumulate_in_place():
    text = generated(differences, (V,), 0)
    assert "v_bar[1:] += " in text or "v_bar[:-1] -= " in text
    assert text.count("np.zeros") <= 1


def test_elements_accumulate_in_place(monkeypatch):
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    text = generated(sum_of_elements, (V,), 0)
    assert "v_bar[i] " in text
    assert text.count("np.zeros") <= 1


def test_branch_is_mirrored():
    tree = ast.parse(generated(piecewise, (1.7,), 0))
    assert 1 <= sum(isinstance(node, ast.If) for node in ast.walk(tree)) <= 2


def test_source_lines_are_told():
    text = generated(ripple, (1.3, 0.4), (0, 1))
    first = inspect.getsourcelines(ripple)[1]
    assert f"{first + 1}" in text


def test_primal_source_is_the_primal():
    text = generated(ripple, (1.3, 0.4), 0, "primal")
    namespace = dict(ripple.__globals__)
    exec(compile(text, "primal", "exec"), namespace)
    assert "sweep" not in text and "_bar" not in text
    assert namespace["ripple"](1.3, 0.4) == ripple(1.3, 0.4)


def fixed_point(a, tol):
    x = 1.0
    for _ in range(200):
        new = np.cos(a * x)
        if abs(new - x) < tol:
            return new
        x = new
    return x


def choice_in_a_loop(a, n):
    total = np.exp(a)
    for k in range(n):
        total = total * a if k % 2 else np.sin(total)
    return total


@pytest.mark.parametrize("mode", ["grad", "jvp", "value_and_grad"])
@pytest.mark.parametrize("f, args", [(fixed_point, (0.8, 1e-10)), (choice_in_a_loop, (0.8, 4))])
def test_no_iteration_converts_a_number_where_paths_join(f, args, mode):
    loops = [node for node in ast.walk(ast.parse(generated(f, args, 0, mode))) if isinstance(node, ast.For)]
    assert loops and not any("float64(" in ast.unparse(loop) for loop in loops)


def test_what_a_loop_computes_anew_each_time_is_read_as_the_last_iteration_left_it():
    def repeated(x, y, n):
        s = x[0]
        for _ in range(n):
            h = x @ y
            s = s * h
        return s

    text = generated(repeated, (V, W, 3), 0)
    assert ast.unparse(ast.parse(text)).count("x @ y") == 1 and "saved_h" not in text


def fraction(a):
    return a * np.modf(a)[0]


def combinations(a):
    return scipy.special.comb(a, 2) * scipy.special.perm(a, 2)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("value", [5.3, np.float64(5.3)])
@pytest.mark.parametrize("f", [fraction, combinations])
def test_an_index_that_leaves_nothing_out_needs_no_helper(f, value, mode):
    text = generated(f, (value,), 0, mode)
    assert "index_bar" not in text and "= ()" not in text
    stated = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    assert all(isinstance(value, (ast.Call, ast.Constant)) for value in stated)


# --- the text runs by itself ----------------------------------------------------------------------


def entry_of(text, name):
    namespace = {"np": np, "math": math, "__name__": "shipped"}
    exec(compile(text, "shipped", "exec"), namespace)
    return namespace[name]


@each_primal
def test_text_gives_the_gradient_without_s2s(f, args, argnums):
    run = entry_of(generated(f, args, argnums), f"{f.__name__}_grad")
    for actual, expected in zip(leaves(run(*args)), leaves(s2s.grad(f, argnums)(*args)), strict=True):
        np.testing.assert_array_equal(actual, expected)


@each_primal
def test_text_gives_value_and_gradient_without_s2s(f, args, argnums):
    run = entry_of(generated(f, args, argnums, "value_and_grad"), f"{f.__name__}_value_and_grad")
    value, _ = run(*args)
    assert value == f(*args)


# --- determinism ----------------------------------------------------------------------------------

PRINT_ALL = """
from tests.codegen.test_generated import PRIMALS, generated
for f, args, argnums in PRIMALS:
    for mode in ("grad", "value_and_grad", "vjp"):
        print(generated(f, args, argnums, mode))
"""


@each_mode
@each_primal
def test_second_generation_is_the_same_byte_for_byte(f, args, argnums, mode):
    assert generated(f, args, argnums, mode) == generated(f, args, argnums, mode)


@pytest.mark.slow
def test_other_processes_give_the_same_bytes():
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_ALL], cwd=ROOT, env=environment, check=True, capture_output=True,
            text=True,
        )
        texts.add(done.stdout)
    assert len(texts) == 1 and texts.pop()


# --- tracebacks and inspect -----------------------------------------------------------------------


@s2s.differentiable
def reciprocal(x, y):
    z = x * y
    return 1.0 / z


def generated_frames(error):
    own = {__file__}
    return [
        frame for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename not in own and f"{os.sep}s2s{os.sep}" not in frame.filename
    ]


def test_traceback_shows_the_generated_line():
    with pytest.raises(ZeroDivisionError) as info:
        s2s.grad(reciprocal)(0.0, 2.0)
    frames = generated_frames(info.value)
    assert frames
    assert "/ z" in frames[-1].line or "/" in frames[-1].line
    assert "reciprocal" in frames[-1].name


def test_linecache_has_the_file():
    with pytest.raises(ZeroDivisionError) as info:
        s2s.grad(reciprocal)(0.0, 2.0)
    frame = generated_frames(info.value)[-1]
    linecache.checkcache()
    assert "def reciprocal" in "".join(linecache.getlines(frame.filename))


def test_inspect_gives_the_source_of_the_version():
    with pytest.raises(ZeroDivisionError) as info:
        s2s.grad(reciprocal)(0.0, 2.0)
    place = info.value.__traceback__
    while place.tb_next:
        place = place.tb_next
    text = inspect.getsource(place.tb_frame.f_code)
    assert text.startswith("def reciprocal") and "# forward sweep" in text
    assert text.strip() in s2s.source(reciprocal, 0.0, 2.0)


def test_attributes_of_a_decorated_function():
    @s2s.differentiable
    def loss(x):
        return x * x

    s2s.grad(loss)(3.0)
    assert "def loss_grad(x)" in loss.adjoint_source
    assert "def loss(x)" in loss.primal_source
    assert "loss" in repr(loss) and "float" in repr(loss)


# --- signatures from annotations, or none ---------------------------------------------------------


def test_annotations_give_the_signature():
    def annotated(x: float, y: float) -> float:
        return x * y * y

    assert s2s.source(annotated) == s2s.source(annotated, 2.0, 3.0)


def test_general_form_without_a_signature():
    text = s2s.source(affine_loss)
    compile(text, "generated", "exec")
    assert "# reverse sweep" in text


def test_argnums_by_name_and_position_give_the_same_text():
    args = (M, B, V)
    assert generated(affine_loss, args, ("A", "x")) == generated(affine_loss, args, (0, 2))


def test_unknown_mode():
    with pytest.raises((ValueError, TypeError)) as info:
        s2s.source(ripple, 1.3, 0.4, mode="gradient")
    assert "gradient" in str(info.value) and "value_and_grad" in str(info.value)


# --- values at points without a derivative --------------------------------------------------------


def test_floor_is_straight_through():
    gradient = s2s.grad(snap)(V, 0.3)
    np.testing.assert_allclose(gradient, 2.0 * np.floor(V / 0.3) * 0.3, rtol=1e-14)
    assert "zeros" not in generated(snap, (V, 0.3), 0)


def test_where_lets_no_nan_through():
    def guarded(v):
        return np.sum(np.where(v > 0.0, np.sqrt(v), v))

    def guarded_division(v):
        return np.sum(np.where(v != 0.0, 1.0 / v, 0.0))

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(s2s.grad(guarded)(np.array([-1.0, 0.0, 4.0])), [1.0, 1.0, 0.25])
        np.testing.assert_array_equal(s2s.grad(guarded_division)(np.array([0.0, 2.0])), [0.0, -0.25])


def ignoring(x):
    with np.errstate(divide="ignore"):
        y = np.log(x)
    return np.sum(y * y)


def raising(x):
    with np.errstate(divide="raise"):
        y = np.log(x)
    return np.sum(y * y)


def guarded(x, n):
    try:
        y = x / n
    except ZeroDivisionError:
        y = x * x
    return y * y


def imported(x):
    try:
        import there_is_no_such_module as xp
    except ImportError:
        xp = np
    return xp.sum(x * x)


def test_the_reverse_sweep_works_under_the_same_settings():
    assert generated(ignoring, (np.ones(3),), (0,)).count('with np.errstate(divide="ignore"):') == 2
    assert generated(raising, (np.ones(3),), (0,)).count("with np.errstate") == 1


def test_a_try_stays_where_it_depends_on_the_run():
    text = generated(guarded, (2.0, 1), (0,))
    forward, reverse = text.split("# reverse sweep")
    assert "except ZeroDivisionError:" in forward and "caught = True" in forward
    assert "if caught" in reverse and "try:" not in reverse


def test_a_try_that_is_decided_is_not_there():
    text = generated(imported, (np.ones(3),), (0,))
    assert "try" not in text and "import there" not in text


def underscored(x):
    _ = x * 3.0
    pair = [x * 2.0, x * x]
    first, second = pair
    third, fourth = sorted(pair)
    return _ * second + fourth * _


def test_what_nothing_reads_leaves_a_variable_called_underscore():
    x = 1.7
    value, grad = s2s.value_and_grad(underscored)(x)
    assert value == pytest.approx(underscored(x))
    assert grad == pytest.approx(9.0 * x * x + 12.0 * x)
    assert s2s.jvp(underscored, (x,), (1.0,))[1] == pytest.approx(grad)
