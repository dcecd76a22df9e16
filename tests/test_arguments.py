"""Arguments of public functions of the wrong kind: each error names the argument, and says what to give."""

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NonScalarOutputError

X = np.array([1.0, 2.0])
NAN = float("nan")


def square(x):
    return x * x


def product(x, y):
    return np.sum(x * y)


FLAG = "give True or False"
TOLERANCE = "give a number of at least 0, or None for the default"
WRONG = [
    *((f"has_aux of {name}", lambda v, name=name: getattr(s2s, name)(square, has_aux=v), "has_aux", (None, "a", 1),
       FLAG)
      for name in ("grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "value_and_jacobian", "hessian",
                   "elementwise_grad")),
    ("has_aux of vjp", lambda v: s2s.vjp(square, 2.0, has_aux=v), "has_aux", (None, "a"), FLAG),
    ("has_aux of jvp", lambda v: s2s.jvp(square, (2.0,), (1.0,), v), "has_aux", (None, "a"), FLAG),
    *((f"holomorphic of {name}", lambda v, name=name: getattr(s2s, name)(square, 0, False, v), "holomorphic",
       (None, "a", 1), FLAG)
      for name in ("jacfwd", "jacrev", "jacobian", "value_and_jacobian", "hessian")),
    ("numeric", lambda v: s2s.differentiable(square, numeric=v), "numeric", (None, "a"), FLAG),
    ("fastmath", lambda v: s2s.differentiable(square, backend="numba", fastmath=v), "fastmath", (None, "a"), FLAG),
    ("order", lambda v: s2s.check_grads(square, (2.0,), order=v), "order", (0, -1, 1.5, "a", None, True),
     "give an int of at least 1"),
    ("rtol", lambda v: s2s.check_grads(square, (2.0,), rtol=v), "rtol", (-1.0, "a", 1j, NAN, np.inf, True), TOLERANCE),
    ("atol", lambda v: s2s.check_grads(square, (2.0,), atol=v), "atol", (-1.0, "a", [1.0]), TOLERANCE),
    ("eps", lambda v: s2s.check_grads(square, (2.0,), eps=v), "eps", (0.0, -1.0, "a", NAN),
     "give a step greater than 0, or None for the default"),
    ("seed", lambda v: s2s.check_grads(square, (2.0,), seed=v), "seed", (1.5, "a", -1, None, [1]),
     "give an int of at least 0"),
    ("modes", lambda v: s2s.check_grads(square, (2.0,), modes=v), "modes", (3, None),
     "give a name, or a tuple of names"),
    ("kwargs", lambda v: s2s.check_grads(square, (2.0,), kwargs=v), "kwargs", (3, "a", [1]),
     "give a dict from names to values"),
    ("filter", lambda v: s2s.functions(v), "filter", (3, None, b"a"),
     "give a string, a part of the names that are wanted"),
    ("kinds", lambda v: s2s.source(square, kinds=v), "kinds", (3, None, ("float",), {"x": "float"}),
     'give a string, "x: f8[:, 3], n: int"'),
    ("snapshots", lambda v: s2s.checkpointed(range(3), v), "snapshots", ("a", 3.5, None, [1], True),
     "give an int, how many states may be kept"),
    ("result", lambda v: s2s.interop.to_jax(square, result=v), "result", (3, "a"),
     "give a function of arrays, or None"),
]


@pytest.mark.parametrize(("call", "name", "values", "hint"), [case[1:] for case in WRONG], ids=[c[0] for c in WRONG])
def test_an_argument_of_another_kind(call, name, values, hint):
    for value in values:
        with pytest.raises(ArgumentError) as caught:
            call(value)
        found = caught.value.diagnostic
        assert (found.code, found.summary, found.hint) == ("S2S511", f"`{name}` is {value!r}", hint)


def test_numbers_of_numpy_and_an_empty_tolerance_are_taken():
    assert len(s2s.check_grads(square, (2.0,), order=np.int64(1), rtol=0, atol=np.float32(1e-3)).comparisons) == 2
    assert s2s.grad(lambda x: (x * x, 1), has_aux=np.True_)(2.0) == (4.0, 1)


def test_a_loop_in_a_derivative_takes_an_int_of_snapshots():
    def power(x, count):
        y = 1.0
        for _ in s2s.checkpointed(range(4), count):
            y = y * x
        return y

    assert s2s.grad(power)(2.0, 2) == 32.0
    with pytest.raises(ArgumentError, match="`snapshots` is 1.5"):
        s2s.grad(power)(2.0, 1.5)


@pytest.mark.parametrize("call", [
    lambda f: s2s.check_grads(f, (2.0,)), lambda f: s2s.linearize(f, 2.0), lambda f: s2s.map(f),
    lambda f: s2s.interop.to_torch(f),
])
@pytest.mark.parametrize("value", [3, "a", None])
def test_what_is_no_function(call, value):
    with pytest.raises(ArgumentError) as caught:
        call(value)
    assert caught.value.diagnostic.code == "S2S507"


@pytest.mark.parametrize(("primals", "tangents", "name"), [
    (2.0, (1.0,), "primals"), ((2.0,), 1.0, "tangents"), (2.0, 1.0, "primals"),
])
@pytest.mark.parametrize("product", [s2s.vhp, s2s.hvp, s2s.jvp])
def test_a_float_for_a_tuple(product, primals, tangents, name):
    with pytest.raises(ArgumentError) as caught:
        product(square, primals, tangents)
    found = caught.value.diagnostic
    assert (found.code, found.summary) == ("S2S532", f"`{name}` is a float, not a tuple of arguments")


def test_one_tangent_for_each_argument():
    with pytest.raises(ArgumentError) as caught:
        s2s.vhp(product, (X, X), (X,))
    assert caught.value.diagnostic.code == "S2S513"


@pytest.mark.parametrize("args", ["a", None, {}, (), ("a", 3)])
def test_there_is_something_to_check(args):
    with pytest.raises(ArgumentError) as caught:
        s2s.check_grads(square, args)
    assert caught.value.diagnostic.code == "S2S531"


@pytest.mark.parametrize("signature", ["zz", "float64(", "foo(float64)"])
def test_a_signature_that_numba_cannot_read(signature):
    pytest.importorskip("numba")
    with pytest.raises(ArgumentError) as caught:
        s2s.njit_grad(square, signature)
    found = caught.value.diagnostic
    assert found.code == "S2S511" and found.summary.startswith(f"the signature {signature!r} cannot be read")


@pytest.mark.parametrize("name", ["grad", "jacfwd", "jacrev", "jacobian", "hessian", "elementwise_grad"])
def test_the_derivative_by_nothing_is_empty(name):
    assert getattr(s2s, name)(product, argnums=())(X, X) == ()


def test_values_beside_the_derivative_by_nothing():
    assert s2s.value_and_jacobian(product, argnums=())(X, X) == (5.0, ())
    assert s2s.value_and_grad(product, argnums=())(X, X) == (5.0, ())


@pytest.mark.parametrize("recorded", ["0", "always"])
@pytest.mark.parametrize(("result", "kind"), [("a", "of type str"), (None, "None")])
@pytest.mark.parametrize("name", ["jacfwd", "jacrev", "jacobian", "value_and_jacobian", "hessian"])
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_jacobian_of_no_number(monkeypatch, name, result, kind, recorded):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    with pytest.raises(NonScalarOutputError) as caught:
        getattr(s2s, name)(lambda x: result)(2.0)
    found = caught.value.diagnostic
    assert found.code == "S2S403" and found.summary.endswith("a derivative needs numbers or arrays")
    assert recorded == "always" or f"is {kind};" in found.summary


@pytest.mark.parametrize("result", ["a", None, (1.0, 2.0), {"a": 1.0}])
def test_an_elementwise_gradient_of_no_array(result):
    with pytest.raises(NonScalarOutputError) as caught:
        s2s.elementwise_grad(lambda x: result)(2.0)
    assert caught.value.diagnostic.summary.endswith("a derivative needs a number or an array")


def test_parts_of_a_result_that_are_no_numbers_have_no_jacobian():
    assert s2s.jacfwd(lambda x: (x * x, "a", None))(2.0) == (4.0, None, None)


@pytest.mark.parametrize("call", [
    lambda: s2s.jacobian(square, has_aux=True)(2.0), lambda: s2s.value_and_jacobian(square, has_aux=True)(2.0),
    lambda: s2s.linearize(square, 2.0, has_aux=True),
])
def test_what_is_no_pair(call):
    with pytest.raises(NonScalarOutputError, match="no pair"):
        call()
