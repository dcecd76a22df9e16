"""Libraries of machine code: a helper's is part of what calls it, and is one of its own where it is asked for."""

import math
import threading

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

import s2s
from s2s.backends.numba.libraries import linked_once, only_in_compiled_code


def helper(function):
    return numba.njit(only_in_compiled_code(function))


def compiled(function, *types):
    made = numba.njit(function)
    with linked_once():
        made.compile(types)
    return made


@pytest.fixture
def made(monkeypatch):
    """How many pieces of machine code are made."""
    counts = []
    owner = cpu_target.target_context.codegen()
    original = type(owner)._add_module
    monkeypatch.setattr(type(owner), "_add_module", lambda *args: (counts.append(args[1].name), original(*args))[1])
    return counts


@pytest.mark.slow
def test_machine_code_is_made_once(made):
    def loss(x):
        return np.linalg.solve(x @ x.T, x[0]).sum() + np.linalg.det(x)

    numba.njit(loss).compile((numba.float32[:, ::1],))
    assert len(made) > 5
    del made[:]
    once = compiled(loss, numba.complex128[:, ::1])
    assert len(made) == 1
    x = np.random.default_rng(0).normal(size=(3, 3)) + 0j
    assert np.isclose(once(x), loss(x))


def test_parts_are_compiled_where_others_ask_for_them():
    @helper
    def cube(x):
        if x < 0.0:
            raise ValueError("below zero", x)
        return x**3

    @helper
    def twice(x):
        return cube(x) + cube(2.0 * x)

    first = compiled(lambda x: twice(x) + 1.0, numba.float64)
    second = numba.njit(lambda x: twice(x) - 1.0)  # with what was compiled as a part
    third = compiled(lambda x: twice(x) * 2.0, numba.float64)
    assert first(2.0) == 73.0
    assert second(2.0) == 71.0
    assert third(2.0) == 144.0
    for function in (first, second, third):
        with pytest.raises(ValueError, match="below zero") as raised:
            function(-1.0)
        assert raised.value.args == ("below zero", -1.0)
    with pytest.raises(TypeError, match="not callable"):
        cube(1.0)


def test_functions_that_users_may_call_stay_so():
    @numba.njit
    def square(x):
        return x * x

    first = compiled(lambda x: square(x) + 1.0, numba.float64)
    assert first(3.0) == 10.0
    assert square(3.0) == 9.0


def test_recursion_and_python_in_parts():
    @helper
    def power(x, n):
        if n <= 0:
            return 1.0
        return x * power(x, n - 1)

    @helper
    def gamma(x):
        with numba.objmode(y="float64"):
            y = math.gamma(x)
        return y

    first = compiled(lambda x: power(x, 3) + gamma(x), numba.float64)
    second = compiled(lambda x: power(x, 4) - gamma(x), numba.float64)
    assert first(4.0) == 70.0
    assert second(4.0) == 250.0


AS_PARTS = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Users' functions with the options of parts, whose names in machine code have the same ending."""


@pytest.mark.parametrize("first, second", [(helper, AS_PARTS), (helper, helper), (numba.njit, numba.njit)])
def test_functions_that_call_each_other(first, second, made):
    """Machine code of one is there before the other is compiled, and waits for it: so the other, part or not, gets
    machine code of its own."""

    @second
    def is_odd(n):
        return n != 0 and is_even(n - 1)

    @first
    def is_even(n):
        return n == 0 or is_odd(n - 1)

    once = compiled(lambda n: is_even(n), numba.int64)
    assert {"is_odd", "is_even", "<lambda>"} <= {name.rpartition(".")[2] for name in made}
    assert once(4) and not once(5)


def test_other_threads_compile_beside():
    results = []

    def other():
        results.append(numba.njit(lambda x: np.stack((x, x)).sum())(np.ones(3)))

    thread = threading.Thread(target=other)
    with linked_once():
        thread.start()
        one = numba.njit(lambda x: np.stack((x, x, x)).sum())
        one.compile((numba.float64[::1],))
    thread.join()
    assert one(np.ones(3)) == 9.0
    assert results == [6.0]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::s2s.NumbaFallbackWarning")
def test_gradients_of_linear_algebra():
    def loss(a, b):
        factor = np.linalg.cholesky(a @ a.T + 3.0 * np.eye(3))
        half = np.linalg.solve(factor, b)
        return half @ half + np.sum(np.log(np.diag(factor)))

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    found = s2s.grad(s2s.differentiable(loss, backend="numba"), argnums=(0, 1))(a, b)
    for given, part, place in ((a, found[0], 0), (b, found[1], 1)):
        for index in np.ndindex(given.shape):
            step = np.zeros_like(given)
            step[index] = 1e-6
            moved = [(x + s * step if k == place else x) for s in (1, -1) for k, x in enumerate((a, b))]
            slope = (loss(*moved[:2]) - loss(*moved[2:])) / 2e-6
            assert np.isclose(part[index], slope, rtol=1e-6, atol=1e-8)
