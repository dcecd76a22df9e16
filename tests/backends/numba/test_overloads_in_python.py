"""What stands for functions in compiled code, chosen for the types of arguments and run as Python, uncompiled."""

import ast
import importlib
import inspect
import math
import types

import numpy as np
import pytest

numba = pytest.importorskip("numba")
from s2s import runtime as rt  # noqa: E402
from s2s.backends.numba import adaptation, contractions, overloads, paths  # noqa: E402
from tests.backends.numba.interpreted import plain  # noqa: E402

RNG = np.random.default_rng(5)
ROW, COLUMN, MATRIX, STACK = (RNG.normal(size=shape) for shape in ((1, 3), (2, 1), (2, 3), (4, 2, 3)))
TURNED = STACK.transpose(0, 2, 1)
SINGLE, COMPLEX, COUNTS = MATRIX.astype(np.float32), MATRIX + 1j, np.arange(6).reshape(2, 3)


def stubs(module):
    """The functions of a module that have an implementation for compiled code, each with the name of that."""
    for node in ast.parse(inspect.getsource(module)).body:
        for decorator in getattr(node, "decorator_list", ()):
            match decorator:
                case ast.Call(ast.Name("overload"), [ast.Name(name), *_]):
                    yield name, node.name


@pytest.fixture
def without_compiling(monkeypatch):
    for name, _ in stubs(overloads):
        monkeypatch.setattr(overloads, name, plain(getattr(overloads, name)))


@pytest.mark.parametrize("module", ["overloads", "ranks", "histograms", "triangular", "by_address"])
def test_what_stands_for_a_function_is_not_run(module):
    module = importlib.import_module(f"s2s.backends.numba.{module}")
    for name, _ in stubs(module):
        function = getattr(module, name)
        if isinstance(function, types.FunctionType):
            with pytest.raises(NotImplementedError):
                function(*[None] * len(inspect.signature(function).parameters))


CALLS = {
    "full_like": (np.full_like, [(MATRIX, 2), (COUNTS, 2.5), (MATRIX, MATRIX + 1.0), (MATRIX, ROW)]),
    "matmul": (np.matmul, [
        (MATRIX, MATRIX.T), (SINGLE, MATRIX.T), (MATRIX, SINGLE.T), (COUNTS, MATRIX.T), (MATRIX, COUNTS.T),
        (MATRIX, ROW[0]), (COUNTS.astype(np.int16), SINGLE.T), (STACK, MATRIX.T), (STACK, TURNED), (ROW[0], TURNED),
        (STACK[:1], TURNED), (STACK, TURNED[:1]), (STACK[:, None], COMPLEX.T),
        (STACK.astype(np.float32), MATRIX.T), (STACK, ROW[0]),
    ]),
    "unbroadcast": (rt.unbroadcast, [
        (MATRIX, ROW), (MATRIX, COLUMN), (MATRIX, ROW[0]), (STACK, MATRIX), (STACK, ROW), (ROW, MATRIX), (2.5, MATRIX),
        (np.array(2.5), MATRIX), (MATRIX, np.array(1.0)), (COMPLEX, ROW), (MATRIX, ROW + 1j), (COMPLEX, 1.0),
        (MATRIX, 1.0), (COMPLEX, 1j), (1.5 + 1j, 2.0), (3, 2.0), (MATRIX, ROW.astype(np.float32)),
    ]),
    "cast": (rt.cast, [(MATRIX, SINGLE), (SINGLE, MATRIX), (MATRIX, COMPLEX), (1.5 + 1j, 2.0), (3, 2.0), (1.5, 2.0)]),
    "zeros_like": (rt.zeros_like, [(MATRIX,), (SINGLE,), (COMPLEX,), (2.5,), ([1.0, 2.0],), ([MATRIX, COLUMN],)]),
    "mirror": (rt.mirror, [
        ((1.0, MATRIX), (2.0, SINGLE)), ([1, 2], [3.0, 4.0]), (MATRIX, SINGLE), (((3,),), ((2.0,),)),
    ]),
    "plus": (rt.add, [
        (None, MATRIX), (2.0, None), (1.0, MATRIX), ((1.0, MATRIX), (2.0, ROW)), ([1.0, 2.0], [3.0, 4.0]),
        (((1.0,), 2.0), ((3.0,), 4.0)),
    ]),
    "quotient": (rt.quotient, [(3.0, 2.0)]), "power": (rt.power, [(3.0, -2.0), (2, 3.0)]),
    "share": (rt.share, [(3.0, 2.0, (1.0, 2.0, 2.0)), (3.0, 1.0, (1.0, 2.0))]),
    "to_float": (float, [(3,), (np.array(2.5),), (True,)]),
    "index_bar": (rt.index_bar, [
        (MATRIX, 1, ROW[0]), (MATRIX, (1, slice(0, 2)), ROW[0, :2]), (MATRIX, np.array([1, 1]), 2.0),
        (MATRIX, (np.array([0, 1, 0]), np.array([2, 2, 2])), ROW[0]),
        (MATRIX, (np.array([0, 0]), np.array([1, 1])), 1.5), (MATRIX, np.array([1, 0, 1]), STACK[:3, 0]),
    ]),
    "stop_gradient": (np.copy, [(MATRIX,)]),
}


def is_same(found, expected):
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    return (np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=1e-6, atol=1e-7)
            and np.asarray(found).dtype == np.asarray(expected).dtype)


@pytest.mark.usefixtures("without_compiling")
@pytest.mark.parametrize("name", CALLS)
def test_it_computes_what_the_function_computes(name):
    function, calls = CALLS[name]
    for args in calls:
        found, expected = getattr(overloads, name)(*args), function(*args)
        assert is_same(found, expected), (args, found, expected)


@pytest.mark.usefixtures("without_compiling")
@pytest.mark.parametrize("index, value", [
    (1, ROW[0]), (slice(0, 2), MATRIX), (np.array([1, 1, 0]), 2.0), (np.array([1, 1]), MATRIX),
    ((np.array([1, 1]), np.array([2, 2])), np.array([3.0, 4.0])), ((np.array([1, 0]), np.array([2, 2])), 5),
])
def test_added_in_place(index, value):
    found, expected = MATRIX.copy(), MATRIX.copy()
    overloads.add_at(found, index, value)
    np.add.at(expected, index, value)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.usefixtures("without_compiling")
@pytest.mark.parametrize("index, value", [
    (np.array([1, 1, 0]), MATRIX), ((np.array([1, 0]), np.array([1])), 2.0),
    ((np.array([1, 0]), np.array([1, 0])), np.ones(3)), (np.array([1, 0]), None),
])
def test_what_does_not_fit_raises(index, value):
    a = MATRIX.copy()
    with pytest.raises(ValueError):
        overloads.add_at(a, index, a if value is None else value)


@pytest.mark.usefixtures("without_compiling")
@pytest.mark.parametrize("value, is_scalar, is_own", [
    (1.0, True, True), (np.array(1.0), True, True), (MATRIX, False, False), (1, False, True), ([1.0], False, False),
    (np.array(1), False, True), (1j, False, True),
])
def test_what_is_refused(value, is_scalar, is_own):
    for check, is_taken in ((overloads.check_scalar, is_scalar), (overloads.check_own, is_own)):
        if is_taken:
            assert check(value) is None
        else:
            with pytest.raises(TypeError):
                check(value)


def test_functions_of_python():
    for items in ((), (0.0, 1.0), (1.0, 2.0), (0.0, 0.0)):
        assert overloads.any_of.py_func(items) is any(items)
        assert overloads.all_of.py_func(items) is all(items)
    numbers = [0.0, 1.0, 1.0 + 1e-10, 1.0 + 1e-8, math.inf, -math.inf, math.nan, -1.0]
    for a in numbers:
        for b in numbers:
            assert overloads.is_close.py_func(a, b) == math.isclose(a, b)
            assert overloads.is_close.py_func(a, b, 1e-7, 0.5) == math.isclose(a, b, rel_tol=1e-7, abs_tol=0.5)


@pytest.mark.parametrize("subscripts", ["ij->j", "ij->", "ij->ji", "ij,jk->ik", "ij,ik->kj", "ij,ij->i", "i,j->ji"])
def test_contractions_are_those_of_numpy(subscripts):
    """Of single precision, whose loops are Python's."""
    terms, output = subscripts.split("->")
    terms = tuple(terms.split(","))
    lengths = {"i": 2, "j": 3, "k": 4}
    operands = [RNG.normal(size=[lengths[c] for c in term]).astype(np.float32) for term in terms]
    stub = contractions._einsum(terms, output)
    assert len(inspect.signature(stub).parameters) == len(terms)
    with pytest.raises(NotImplementedError):
        stub(*operands)
    found = contractions._written([numba.typeof(operand) for operand in operands], terms, output)(*operands)
    np.testing.assert_allclose(found, np.einsum(subscripts, *operands), rtol=1e-5)
    assert found.dtype == np.float32


@pytest.mark.parametrize("value, is_number", [
    *((one, True) for one in (True, 1, 1.0, 1j, "a", None, np.float32(1), np.complex64(1), np.int8(1), np.bool_(True))),
    *((one, False) for one in (np.float16(1), np.datetime64(1, "s"), (1,), [1.0], np.ones(1), 1.0.__class__)),
])
def test_numbers_that_are_handed_over(value, is_number):
    assert paths.is_number(value) is is_number


@pytest.mark.parametrize("call, shown", [
    ("np.reshape(a, (2, 3), 'C')", "np.reshape(a, (2, 3))"), ("np.reshape(a, (2, 3), 'F')", None),
    ("np.reshape(a, 6)", None), ("np.concatenate([a, b], 1)", "np.concatenate((a, b), 1)"), ("np.stack((a, b))", None),
    ("np.zeros(n)", None), ("np.sum(a, axis=k)", "np.sum(a, axis=(0, 1))"),
    ("np.moveaxis(a, k, 0)", "np.moveaxis(a, (0, 1), 0)"), ("np.zeros(n, t, 'C')", None),
])
def test_calls_as_numba_takes_them(call, shown):
    """A dtype and a shape stay here as they are."""
    literals = {"k": ast.parse("(0, 1)", mode="eval").body}
    rewriter = types.SimpleNamespace(literals=literals, _shape=lambda a: a, _dtype=lambda a: a)
    node = ast.parse(call, mode="eval").body
    made = adaptation._Rewriter._spelled(rewriter, node, getattr(np, node.func.attr))
    assert ast.unparse(made) == (shown or call)
