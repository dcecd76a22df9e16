"""The language, end to end: the bank, and what pure functions cannot say (state, exceptions, calls)."""

import functools
import multiprocessing
import pickle

import numpy as np
import pytest

import s2s
from s2s.optimize.passes import OPTIONAL
from tests.bank import CASES
from tests.bank.work import check_work
from tests.helpers import assert_same_without, check

WITHOUT_PASSES = ",".join(f"-{name}" for name in OPTIONAL)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bank(case, in_sample, monkeypatch, rewrite):
    """All of it as it is compiled; a sample, or ``--every`` one, without the optional passes too."""
    check(case.f, case.args, case.argnums, case.rtol, case.kwargs, case.expected)
    if not case.kwargs:
        check_work(case.name, case.f, case.args, case.argnums, rewrite)
    if in_sample(0.15):
        assert_same_without(case, WITHOUT_PASSES, monkeypatch)


def test_names_of_the_bank_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


# --- globals and closures are read when the gradient runs -----------------------------------------

scale = 2.0
weights = np.array([1.0, 2.0, 3.0])
options = {"power": 2}


def transform(x):
    return x * x


def scaled(x):
    return x * x * scale


def weighted(v):
    return np.sum(weights * v * v)


def transformed(x):
    return transform(x) * 3.0


def raised(x):
    return x ** options["power"]


def test_global_number_changes_between_calls(monkeypatch):
    gradient = s2s.grad(scaled)
    assert gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert gradient(3.0) == 30.0


def test_global_number_becomes_an_array(monkeypatch):
    def total(x):
        return np.sum(scaled(x))

    gradient = s2s.grad(total)
    assert gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "scale", np.array([1.0, 2.0]))
    assert gradient(3.0) == 18.0
    monkeypatch.setitem(globals(), "scale", 1)
    assert gradient(3.0) == 6.0


def test_global_array_changes_in_place_and_is_replaced(monkeypatch):
    monkeypatch.setitem(globals(), "weights", np.array([1.0, 2.0, 3.0]))
    gradient = s2s.grad(weighted)
    v = np.array([1.0, 1.0, 2.0])
    np.testing.assert_array_equal(gradient(v), [2.0, 4.0, 12.0])
    weights[0] = 10.0
    np.testing.assert_array_equal(gradient(v), [20.0, 4.0, 12.0])
    monkeypatch.setitem(globals(), "weights", np.array(0.5))
    np.testing.assert_array_equal(gradient(v), [1.0, 1.0, 2.0])


def test_global_function_is_replaced(monkeypatch):
    gradient = s2s.grad(transformed)
    assert gradient(2.0) == 12.0
    monkeypatch.setitem(globals(), "transform", lambda x: x * x * x)
    assert gradient(2.0) == 36.0
    monkeypatch.setitem(globals(), "transform", np.exp)
    assert gradient(2.0) == pytest.approx(3.0 * np.exp(2.0))


def test_global_dict_changes(monkeypatch):
    gradient = s2s.grad(raised)
    assert gradient(3.0) == 6.0
    monkeypatch.setitem(options, "power", 3)
    assert gradient(3.0) == 27.0


def test_global_that_is_missing_raises_name_error(monkeypatch):
    gradient = s2s.grad(scaled)
    gradient(3.0)
    monkeypatch.delitem(globals(), "scale")
    with pytest.raises(NameError, match="scale"):
        gradient(3.0)


def test_closure_cell_changes_between_calls():
    factor = 2.0

    def f(x):
        return x * x * factor

    gradient = s2s.grad(f)
    assert gradient(3.0) == 12.0
    factor = 5.0
    assert gradient(3.0) == 30.0
    factor = np.float64(0.5)
    assert gradient(3.0) == 3.0


def test_closures_of_one_code_do_not_share_values():
    def make(power, w):
        def f(x):
            return np.sum(w * x**power)

        return f

    square, cube = s2s.grad(make(2, 1.0)), s2s.grad(make(3, np.array([1.0, 2.0])))
    assert square(3.0) == 6.0
    assert cube(3.0) == 81.0
    assert square(3.0) == 6.0


def test_default_changes():
    def f(x, y=2.0):
        return x * x * y

    gradient = s2s.grad(f)
    assert gradient(3.0) == 12.0
    f.__defaults__ = (4.0,)
    assert gradient(3.0) == 24.0


# --- exceptions -----------------------------------------------------------------------------------


def guarded_root(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return np.sqrt(x)


def asserted(x):
    assert x > 0, "x must be positive"
    return np.log(x)


def late_raise(v):
    total = 0.0
    for i, x in enumerate(v):
        if x > 3.0:
            raise OverflowError(i)
        total += x * x
    return total


def divides(x, y):
    return x / y


def unbound(x):
    if x > 0:
        y = x
    return y * x


def test_raise_taken():
    assert s2s.grad(guarded_root)(4.0) == 0.25
    for derivative in (s2s.grad(guarded_root), lambda x: s2s.vjp(guarded_root, x)):
        with pytest.raises(ValueError) as raised:
            derivative(-4.0)
        assert str(raised.value) == "negative: -4.0"


def test_assertion_fails():
    assert s2s.grad(asserted)(2.0) == 0.5
    with pytest.raises(AssertionError, match="x must be positive"):
        s2s.grad(asserted)(-2.0)


def test_raise_in_loop():
    with pytest.raises(OverflowError) as info:
        s2s.grad(late_raise)(np.array([1.0, 2.0, 5.0]))
    assert info.value.args == (2,)


def test_zero_division_is_python_s_own():
    with pytest.raises(ZeroDivisionError):
        s2s.grad(divides, argnums=(0, 1))(1.0, 0.0)


def test_unbound_variable_is_python_s_own():
    assert s2s.grad(unbound)(3.0) == 6.0
    with pytest.raises(UnboundLocalError):
        s2s.grad(unbound)(-3.0)


def test_shapes_that_do_not_fit_are_numpy_s_own():
    def f(v, w):
        return np.sum(v * w)

    with pytest.raises(ValueError, match="broadcast"):
        s2s.grad(f)(np.ones(3), np.ones(2))


def test_index_out_of_range_is_numpy_s_own():
    def f(v):
        return v[5] * v[0]

    with pytest.raises(IndexError):
        s2s.grad(f)(np.ones(3))


def test_wrong_call_is_python_s_own():
    with pytest.raises(TypeError):
        s2s.grad(divides)(1.0)
    with pytest.raises(TypeError):
        s2s.grad(divides)(1.0, 2.0, 3.0)
    with pytest.raises(TypeError):
        s2s.grad(divides)(1.0, z=2.0)


def test_gradient_works_again_after_an_exception():
    gradient = s2s.grad(guarded_root)
    with pytest.raises(ValueError):
        gradient(-4.0)
    assert gradient(4.0) == 0.25


# --- what the primal prints -----------------------------------------------------------------------


def test_prints_once_and_in_order(capsys):
    def f(x):
        print("before", x)
        y = x * x
        print(f"after {y:.1f}")
        return y

    assert s2s.grad(f)(3.0) == 6.0
    assert capsys.readouterr().out == "before 3.0\nafter 9.0\n"


# --- forms of functions and of argnums ------------------------------------------------------------


@s2s.differentiable
def decorated_square(x):
    """The square of x."""
    return x * x


@s2s.differentiable(backend="numpy")
def decorated_with_options(x, y=2.0):
    return decorated_square(x) * y


class Line:
    def __init__(self, slope):
        self.slope = slope

    def loss(self, x):
        return self.slope * x * x

    @s2s.differentiable
    def decorated_loss(self, x):
        return self.slope * x * x * 2.0


def polynomial(x, y, z=3.0):
    return x * x * y + z * x


def test_decorated_function_is_the_function():
    assert decorated_square(3.0) == 9.0
    assert decorated_square.__name__ == "decorated_square"
    assert decorated_square.__doc__ == "The square of x."
    assert decorated_square.__wrapped__(3.0) == 9.0
    assert decorated_square.__module__ == __name__


def test_decorated_functions():
    assert s2s.grad(decorated_square)(3.0) == 6.0
    assert s2s.grad(decorated_with_options)(3.0) == 12.0
    assert s2s.grad(decorated_with_options, argnums="y")(3.0, 5.0) == 9.0


def test_decorated_function_pickles():
    copy = pickle.loads(pickle.dumps(decorated_square))
    assert copy(3.0) == 9.0
    assert s2s.grad(copy)(3.0) == 6.0


def gradient_in_a_process(x):
    return s2s.grad(decorated_square)(x)


@pytest.mark.slow
def test_decorated_function_in_multiprocessing():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(decorated_square, [1.0, 2.0]) == [1.0, 4.0]
        assert pool.map(gradient_in_a_process, [1.0, 2.0]) == [2.0, 4.0]


def test_decorated_recursion():
    @s2s.differentiable
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert s2s.grad(power)(2.0, 3) == 12.0


def test_bound_methods():
    line = Line(2.0)
    assert s2s.grad(line.loss)(3.0) == 12.0
    assert s2s.grad(line.decorated_loss)(3.0) == 24.0
    line.slope = 5.0
    assert s2s.grad(line.loss)(3.0) == 30.0


def test_partials():
    assert s2s.grad(functools.partial(polynomial, 3.0))(2.0) == 9.0
    assert s2s.grad(functools.partial(polynomial, y=2.0))(3.0) == 15.0
    assert s2s.grad(functools.partial(polynomial, z=1.0), argnums=(0, 1))(3.0, 2.0) == (13.0, 9.0)


def test_functions_of_numpy():
    np.testing.assert_array_equal(s2s.grad(np.sum)(np.array([1.0, 2.0])), [1.0, 1.0])
    assert s2s.grad(np.sin)(0.0) == 1.0
    np.testing.assert_array_equal(s2s.grad(np.dot, argnums=1)(np.array([1.0, 2.0]), np.ones(2)), [1.0, 2.0])


def test_argnums_by_position_and_name():
    assert s2s.grad(polynomial)(3.0, 2.0) == 15.0
    assert s2s.grad(polynomial, argnums=1)(3.0, 2.0) == 9.0
    assert s2s.grad(polynomial, argnums="y")(3.0, 2.0) == 9.0
    assert s2s.grad(polynomial, argnums=-1)(3.0, 2.0, 4.0) == 3.0
    assert s2s.grad(polynomial, argnums=("z", 0))(3.0, 2.0, 4.0) == (3.0, 16.0)
    assert s2s.grad(polynomial, argnums=(1,))(3.0, 2.0) == (9.0,)


def test_keyword_arguments():
    assert s2s.grad(polynomial)(y=2.0, x=3.0) == 15.0
    assert s2s.grad(polynomial, argnums=(0, 2))(3.0, z=1.0, y=2.0) == (13.0, 3.0)
    assert s2s.value_and_grad(polynomial, argnums="z")(3.0, 2.0, z=1.0) == (21.0, 3.0)


def test_default_can_be_differentiated():
    assert s2s.grad(polynomial, argnums="z")(3.0, 2.0) == 3.0


def test_one_function_at_many_signatures():
    def f(x):
        return np.sum(x * x)

    gradient = s2s.grad(f)
    numbers = (3.0, np.float64(3.0), np.array(3.0), 2.0)
    for x in (*numbers, np.ones(3), np.ones((2, 3)), np.ones((1, 1), np.float32), *numbers):
        result = gradient(x)
        np.testing.assert_array_equal(result, 2.0 * x)
        assert np.shape(result) == np.shape(x)
    assert gradient(np.ones(2, np.float32)).dtype == np.float32


def test_lengths_may_change_between_calls():
    def f(x, y):
        return np.sum(x * y)

    gradient = s2s.grad(f, argnums=(0, 1))
    for n, m, x_each, y_each in (
        (3, 3, 3.0, 2.0), (1, 3, 9.0, 2.0), (3, 1, 3.0, 6.0), (1, 1, 3.0, 2.0), (0, 0, 0.0, 0.0),
        (0, 1, 0.0, 0.0),
    ):
        dx, dy = gradient(np.full(n, 2.0), np.full(m, 3.0))
        np.testing.assert_array_equal(dx, np.full(n, x_each))
        np.testing.assert_array_equal(dy, np.full(m, y_each))


# --- has_aux, structured results, pullbacks -------------------------------------------------------


def loss_and_parts(x, y):
    fit = x * y
    penalty = x * x
    return fit + penalty, {"fit": fit, "penalty": penalty, "name": "ridge"}


def test_has_aux():
    assert s2s.grad(loss_and_parts, has_aux=True)(3.0, 2.0) == (
        8.0, {"fit": 6.0, "penalty": 9.0, "name": "ridge"},
    )
    (value, aux), gradient = s2s.value_and_grad(loss_and_parts, argnums=(0, 1), has_aux=True)(3.0, 2.0)
    assert value == 15.0
    assert aux == {"fit": 6.0, "penalty": 9.0, "name": "ridge"}
    assert gradient == (8.0, 3.0)


def test_aux_may_be_an_array():
    def f(v):
        w = v * v
        return np.sum(w), w

    gradient, aux = s2s.grad(f, has_aux=True)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
    np.testing.assert_array_equal(aux, [1.0, 4.0])


def test_pullback_gives_one_cotangent_per_argument():
    def f(x, n, y):
        return x * y * n

    out, pullback = s2s.vjp(f, 3.0, 4, 5.0)
    assert out == 60.0
    dx, _, dy = pullback(2.0)
    assert (dx, dy) == (40.0, 24.0)


def test_pullback_of_one_argument_is_a_tuple():
    out, pullback = s2s.vjp(decorated_square, 3.0)
    assert out == 9.0
    assert pullback(1.0) == (6.0,)


def test_pullback_of_structures():
    def f(params, x):
        return {"z": params["w"] * x, "pair": (x, [params["b"]])}

    out, pullback = s2s.vjp(f, {"w": 2.0, "b": 5.0}, 3.0)
    assert out == {"z": 6.0, "pair": (3.0, [5.0])}
    assert pullback({"z": 1.0, "pair": (10.0, [100.0])}) == ({"w": 3.0, "b": 100.0}, 12.0)


def test_pullbacks_are_independent():
    def f(x):
        y = x
        for _ in range(3):
            y = y * x
        return y

    _, first = s2s.vjp(f, 2.0)
    _, second = s2s.vjp(f, 3.0)
    assert first(1.0) == (32.0,)
    assert second(1.0) == (108.0,)
    assert first(2.0) == (64.0,)
    assert second(0.5) == (54.0,)


def test_pullback_leaves_the_cotangent_alone():
    def f(v):
        w = v * v
        return w + w[::-1]

    cotangent = np.array([1.0, 2.0, 3.0])
    _, pullback = s2s.vjp(f, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(pullback(cotangent)[0], [8.0, 8.0, 16.0])
    np.testing.assert_array_equal(cotangent, [1.0, 2.0, 3.0])


# --- gradients belong to the caller ---------------------------------------------------------------


def test_gradient_can_be_changed_without_changing_arguments():
    def f(v, w):
        return np.sum(v * w)

    v, w = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    dv, dw = s2s.grad(f, argnums=(0, 1))(v, w)
    dv += 10.0
    dw *= 0.0
    np.testing.assert_array_equal(v, [1.0, 2.0])
    np.testing.assert_array_equal(w, [3.0, 4.0])


def test_gradients_do_not_share_memory():
    def f(v, w):
        z = v + w
        return np.sum(z * z)

    dv, dw = s2s.grad(f, argnums=(0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert not np.shares_memory(dv, dw)
    dv += 10.0
    np.testing.assert_array_equal(dw, [8.0, 12.0])


def test_gradient_of_sum_is_writable():
    gradient = s2s.grad(np.sum)(np.ones((2, 3)))
    gradient += 1.0
    np.testing.assert_array_equal(gradient, np.full((2, 3), 2.0))


def test_zero_gradient_is_an_array_of_its_own():
    def f(v, w):
        return np.sum(v)

    gradient = s2s.grad(f, argnums=1)
    first = gradient(np.ones(2), np.ones(3))
    first += 1.0
    np.testing.assert_array_equal(gradient(np.ones(2), np.ones(3)), np.zeros(3))
