"""The public functions: what they accept, what they return, what they refuse. The compiler is a stand-in."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import math
import multiprocessing
import pickle
import pkgutil
import pydoc
import subprocess
import sys
import weakref

import cloudpickle
import numpy as np
import pytest

import s2s
from s2s import derivatives
from s2s.directives.policy import Choice, Policy
from s2s.dispatch import lookup
from s2s.errors import ArgumentError, SourceUnavailableError
from s2s.versions.signature import key
from tests.dispatch.fake_compiler import FakeCompiler, compiled, ones


@s2s.differentiable
def loss(w, x=2.0):
    """The loss."""
    return w * x


def plain(w: float, x: np.typing.NDArray[np.float32], flag=True, n=3):
    return w


class Model:
    scale = 2.0

    @s2s.differentiable
    def score(self, x):
        """The score."""
        return self.scale * x

    def plain_score(self, x):
        return self.scale * x

    @staticmethod
    @s2s.differentiable
    def free(x):
        return x

    def __call__(self, x):
        return x


@pytest.fixture
def fake(monkeypatch):
    compiler = FakeCompiler()
    monkeypatch.setenv("S2S_CACHE", "0")
    monkeypatch.setattr(lookup, "run_compiler", compiler)
    for f in (loss, plain, Model.score, Model.plain_score, Model.free, Model.__call__):
        vars(f).pop("__s2s__", None)
    monkeypatch.setattr(lookup, "_shared", weakref.WeakKeyDictionary())
    monkeypatch.setattr(derivatives, "_builtin_stores", {})
    return compiler


def message(caught):
    return str(caught.value).splitlines()[0]


# --- the decorated function ---------------------------------------------------------------------------------


def test_a_decorated_function_is_the_function():
    assert loss(3.0) == 6.0 and loss(3.0, x=1.0) == 3.0
    assert (loss.__name__, loss.__qualname__, loss.__doc__, loss.__module__) == (
        "loss", "loss", "The loss.", __name__,
    )  # fmt: skip
    assert inspect.signature(loss) == inspect.signature(loss.__wrapped__)
    assert loss.__defaults__ == (2.0,)
    assert callable(loss) and loss == loss and {loss: 1}[loss] == 1


def test_a_decorated_method():
    model = Model()
    assert model.score(3.0) == 6.0 and Model.score(model, 3.0) == 6.0 and Model.free(1.0) == 1.0
    assert model.score.__doc__ == "The score."


def test_decorated_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(loss)) is loss
    assert pickle.loads(pickle.dumps(Model.score)) is Model.score
    assert copy.copy(loss) is loss and copy.deepcopy(loss) is loss


def test_a_function_decorated_under_another_name_is_pickled_with_its_options():
    made = s2s.differentiable(plain, nonsmooth="zero")
    again = pickle.loads(pickle.dumps(made))
    assert again.func is plain and again.options == made.options


def test_cloudpickle_sends_functions_of_main_by_value():
    program = (
        "import s2s, cloudpickle, sys\n"
        "@s2s.differentiable\n"
        "def f(x): return 2 * x\n"
        "sys.stdout.buffer.write(cloudpickle.dumps(f))\n"
    )
    sent = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    f = cloudpickle.loads(sent)
    assert isinstance(f, s2s.Differentiable) and f(2.0) == 4.0


def test_multiprocessing():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(loss, [1.0, 2.0]) == [2.0, 4.0]


def test_options():
    decorated = s2s.differentiable(backend="numpy", nonsmooth={"floor": "zero"})(plain)
    assert decorated.options == (("backend", "numpy"), ("nonsmooth", (Choice((("floor", Policy("zero")),)),)))
    assert s2s.differentiable(decorated).func is plain


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: s2s.differentiable(backnd="numpy"), "`differentiable` has no option `backnd` [S2S511]"),
        (lambda: s2s.differentiable(backend="tpu"), "there is no backend 'tpu' [S2S511]"),
        (lambda: s2s.differentiable(nonsmooth="guess"), "there is no policy 'guess' [S2S511]"),
        (lambda: s2s.differentiable(3), "`3` (int) is not a function that can be differentiated [S2S507]"),
        (lambda: s2s.straight_through(3), "`3` (int) is not a function that can be differentiated [S2S507]"),
        (lambda: s2s.grad(3.0), "`3.0` (float) is not a function that can be differentiated [S2S507]"),
        (lambda: s2s.grad(Model), "the class `Model` is not a function that can be differentiated [S2S507]"),
        (lambda: s2s.grad(loss, argnums=2), "`loss` has no argument number 2 [S2S501]"),
        (lambda: s2s.grad(loss, argnums=-3), "`loss` has no argument number -3 [S2S501]"),
        (lambda: s2s.grad(loss, argnums="q"), "`loss` has no argument `q` [S2S502]"),
        (lambda: s2s.grad(loss, argnums=(0, "w")), "the argument `w` of `loss` is asked for twice [S2S508]"),
        (lambda: s2s.grad(loss, argnums=1.5),
         "`argnums` has 1.5, which is neither a position nor a name [S2S509]"),
        (lambda: s2s.grad(loss, argnums={}),
         "`argnums` is {}, which is neither a position nor a name [S2S509]"),
        (lambda: s2s.grad(loss, unconnected="nan"), "`unconnected` is 'nan' [S2S511]"),
        (lambda: s2s.source(loss, mode="gradient"), "there is no mode 'gradient' [S2S511]"),
        (lambda: s2s.grad(loss).source, "`loss_grad` has not been called yet [S2S512]"),
    ],
)  # fmt: skip
def test_wrong_options(fake, make, expected):
    with pytest.raises(ArgumentError) as caught:
        make()
    assert message(caught) == expected


def test_an_unknown_argument_points_at_the_function_and_names_the_others(fake):
    with pytest.raises(ArgumentError) as caught:
        s2s.grad(loss, argnums="q")
    text = str(caught.value)
    assert "test_api.py" in text and "in `loss`" in text and "def loss(w, x=2.0):" in text
    assert "choose among w (0), x (1)" in text


def test_an_integer_points_at_the_parameter(fake):
    with pytest.raises(ArgumentError) as caught:
        s2s.grad(loss, argnums="x")(1.0, 2)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the argument `x` of `loss` is an integer [S2S503]"
    source, caret = next((a, b) for a, b in zip(lines, lines[1:], strict=False) if "def loss" in a)
    assert source[caret.index("^")] == "x" and caret.endswith("^ got int")


# --- what is asked of the compiler --------------------------------------------------------------------------


def asked(fake):
    return fake.calls[-1][2]


def test_requests(fake):
    fake.say("loss", "return (w, x)")
    s2s.grad(loss)(1.0)
    assert (asked(fake).mode, asked(fake).wrt, asked(fake).single) == ("grad", (("w",),), True)
    assert dict(asked(fake).options) == {"backend": "numpy", "unconnected": "zeros"}
    s2s.value_and_grad(loss, argnums=(-1, "w"), has_aux=True, unconnected="none")(1.0)
    assert (asked(fake).mode, asked(fake).wrt, asked(fake).single) == (
        "value_and_grad", (("x",), ("w",)), False,
    )  # fmt: skip
    assert asked(fake).has_aux and dict(asked(fake).options)["unconnected"] == "none"


def test_the_derivative_is_like_the_function(fake):
    fake.say("loss", "return w")
    g = s2s.grad(loss)
    assert (g.__name__, g.__module__) == ("loss_grad", __name__)
    assert g.__doc__.endswith("Gradient of loss with respect to w.\n\nThe loss.")
    assert s2s.grad(loss) is g
    assert repr(g) == "<s2s loss_grad: nothing compiled yet>"
    g(1.0), g(ones(2), 1.0)
    assert repr(g) == "<s2s loss_grad: (float, float), (f8[:], float)>"
    assert repr(loss) == "<s2s.differentiable loss: s2s loss_grad: (float, float), (f8[:], float)>"
    again = pickle.loads(pickle.dumps(g))
    assert again is g


def test_help_of_a_derivative_shows_its_signature_once():
    class Default:
        def __repr__(self):
            asked_for.append(self)
            return "DEFAULT"

    def scaled(x, by=Default()):
        return x * x

    asked_for = []
    g = s2s.grad(scaled)
    assert asked_for == []
    text = pydoc.plaintext.document(g, "scaled_grad")
    assert text.count("scaled_grad(x, by=DEFAULT)\n") == 1 and "Gradient of scaled with respect to x." in text
    g.__doc__ = "Another."
    assert "Another." in pydoc.plaintext.document(g, "scaled_grad")
    assert type(g).__doc__.startswith("A derivative of a function")


def test_methods_partials_callable_objects_and_lambdas(fake):
    for name in ("score", "plain_score", "free", "__call__", "loss", "<lambda>"):
        fake.answers[name] = lambda function, arguments, request: compiled(
            "g", ", ".join(arguments), f"return ({', '.join(arguments)}, {request.wrt!r})"
        )
    model = Model()
    assert s2s.grad(model.score)(3.0) == (model, 3.0, (("x",),))
    assert s2s.grad(model.plain_score, argnums=-1)(x=3.0) == (model, 3.0, (("x",),))
    assert s2s.grad(Model.score, argnums=1)(model, 3.0) == (model, 3.0, (("x",),))
    assert s2s.grad(Model.free)(3.0) == (3.0, (("x",),))
    assert s2s.grad(model)(3.0) == (model, 3.0, (("x",),))
    assert s2s.grad(lambda q: q)(3.0) == (3.0, (("q",),))
    assert s2s.grad(functools.partial(loss, 5.0))(3.0) == (5.0, 3.0, (("x",),))
    by_name = functools.partial(loss, x=5.0)
    assert s2s.grad(by_name)(3.0) == (3.0, 5.0, (("w",),))
    assert s2s.grad(by_name, argnums="x")(3.0, x=1.0) == (3.0, 1.0, (("x",),))
    with pytest.raises(ArgumentError):
        s2s.grad(by_name, argnums=1)
    cached = functools.lru_cache(loss.__wrapped__)
    assert s2s.grad(cached)(3.0)[0] == 3.0


def test_variable_arguments(fake):
    def f(a, *rest, k=1.0, **named):
        return a

    fake.answers["f"] = lambda function, arguments, request: compiled(
        "g", ", ".join(arguments), f"return (rest, named, {request.wrt!r})"
    )
    assert s2s.grad(f, argnums=2)(1.0, 2.0, 3.0) == ((2.0, 3.0), {}, (("rest", 1),))
    assert s2s.grad(f, argnums=-1)(1.0, 2.0) == ((2.0,), {}, (("rest", 0),))
    assert s2s.grad(f, argnums=-1)(1.0) == ((), {}, (("a",),))
    assert s2s.grad(f, argnums=("z", "k"))(1.0, z=2.0) == ((), {"z": 2.0}, (("named", "z"), ("k",)))
    with pytest.raises(ArgumentError, match="has no argument number 2"):
        s2s.grad(f, argnums=2)(1.0, 2.0)
    with pytest.raises(ArgumentError, match="has no argument `z`"):
        s2s.grad(f, argnums="z")(1.0)
    bound = functools.partial(f, 1.0, 2.0, z=4.0)
    assert s2s.grad(bound)(3.0, y=1.0) == ((2.0, 3.0), {"z": 4.0, "y": 1.0}, (("rest", 1),))


def test_numpys_own_functions(fake):
    seen = []

    def answer(function, arguments, request):
        seen.append((inspect.getsource(function), request.wrt))
        return compiled("g", ", ".join(arguments), "return 1.0")

    fake.answers |= {"sum_": answer, "sin_": answer, "sqrt_": answer, "abs_": answer}
    s2s.grad(np.sum)(ones(3))
    s2s.grad(np.sum)(ones(3), axis=0)
    s2s.grad(np.sin)(1.0)
    s2s.grad(__import__("math").sqrt)(1.0)
    s2s.grad(abs)(1.0)
    assert [text for text, _ in seen] == [
        "def sum_(a):\n    return np.sum(a)\n",
        "def sum_(a, axis):\n    return np.sum(a, axis=axis)\n",
        "def sin_(x):\n    return np.sin(x)\n",
        "def sqrt_(x):\n    return math.sqrt(x)\n",
        "def abs_(x):\n    return abs(x)\n",
    ]
    s2s.grad(np.sum)(ones(4))
    assert len(seen) == 5
    assert s2s.grad(np.sum).source.startswith("def g(a):")
    with pytest.raises(SourceUnavailableError):
        s2s.source(np.sum)
    assert s2s.source(np.sum, ones(3)).startswith("def g(a):")


def test_the_derivative_of_a_derivative_compiles_the_generated_code(fake):
    def cube(x):
        return x**3

    texts = {"cube": "return 3 * x**2", "cube_grad": "return 6 * x"}

    def answer(function, arguments, request):
        if function.__name__ == "cube_grad":
            assert inspect.getsource(function) == "def cube_grad(x):\n    return 3 * x**2\n"
        return compiled(f"{function.__name__}_grad", "x", texts[function.__name__])

    fake.answers |= {"cube": answer, "cube_grad": answer}
    second = s2s.grad(s2s.grad(cube))
    assert second(2.0) == second(2.0) == 12.0
    assert len(fake.calls) == 2


# --- vjp ----------------------------------------------------------------------------------------------------


def with_pullback(fake, f, out, count):
    """``f`` returns ``out``; each cotangent is the one given."""
    fake.answers[f.__name__] = lambda function, arguments, request: compiled(
        "g", ", ".join(arguments), f"return (out, lambda bar: (bar,) * {count})", objects={"out": out}
    )


def test_vjp_gives_one_cotangent_for_each_positional_argument(fake):
    def f(x, n, y, name):
        return x

    with_pullback(fake, f, ones(2), 2)
    out, pullback = s2s.vjp(f, ones(2), 3, ones(2), name="a")
    assert asked(fake).wrt == (("x",), ("y",))
    np.testing.assert_array_equal(out, ones(2))
    x_bar, n_bar, y_bar = pullback(ones(2))
    assert n_bar is None and x_bar is y_bar
    assert pullback.__name__ == "f_pullback"


def test_vjp_of_variable_arguments(fake):
    def f(x, *rest):
        return x

    with_pullback(fake, f, 1.0, 2)
    _, pullback = s2s.vjp(f, 1.0, 2, 3.0)
    assert asked(fake).wrt == (("x",), ("rest", 1))
    assert pullback(5.0) == (5.0, None, 5.0)


def test_vjp_with_nothing_to_differentiate(fake):
    with pytest.raises(ArgumentError, match="no positional argument of `loss` has a derivative"):
        s2s.vjp(loss, 1, 2)


@pytest.mark.parametrize(
    ("out", "cotangent", "expected"),
    [
        (ones(2, 3), ones(3, 2),
         "the cotangent has shape (3, 2), the result of `f` has shape (2, 3) [S2S506]"),
        (ones(2), 1.0, "the cotangent has shape (), the result of `f` has shape (2,) [S2S506]"),
        (1.0, ones(1), "the cotangent has shape (1,), the result of `f` has shape () [S2S506]"),
        ((1.0, 2.0), (1.0,), "the cotangent is a tuple of 1, the result of `f` is "
         "a tuple of 2 [S2S505]"),
        ({"a": 1.0}, {"b": 1.0}, "the cotangent is a dict with the "
         "keys b, the result of `f` is a dict with the keys a [S2S505]"),
        (1.0, None, "the cotangent is None, the result of `f` is a float [S2S505]"),
        (ones(2), ("a", "b"), "the cotangent is a tuple of 2, the result of `f` "
         "is an array [S2S505]"),
    ],
)  # fmt: skip
def test_a_cotangent_that_does_not_fit(fake, out, cotangent, expected):
    def f(x):
        return x

    with_pullback(fake, f, out, 1)
    _, pullback = s2s.vjp(f, 1.0)
    with pytest.raises(ArgumentError) as caught:
        pullback(cotangent)
    assert message(caught) == expected


def test_a_cotangent_gets_the_dtype_and_containers_of_the_result(fake):
    def f(x):
        return x

    with_pullback(fake, f, [np.ones(2, np.float32), {"a": 1.0}], 1)
    _, pullback = s2s.vjp(f, 1.0)
    (bar,) = pullback(([1.0, 2.0], {"a": 3}))
    assert type(bar) is list and bar[0].dtype == np.float32 and bar[1] == {"a": 3}


# --- source -------------------------------------------------------------------------------------------------


def test_source_by_arguments_annotations_and_defaults(fake):
    def tell(function, arguments, request):
        shown = ", ".join(f"{name}: {key(aval)}" for name, aval in arguments.items())
        return compiled("g", ", ".join(arguments), f"return {shown!r}")

    fake.answers |= {"plain": tell, "loss": tell}
    assert "'w: float, x: f4[...], flag: True, n: int'" in s2s.source(plain)
    assert "'w: f8[:], x: int, flag: False, n: int'" in s2s.source(plain, ones(2), 3, flag=False)
    assert "'w: ?, x: float'" in s2s.source(loss)
    assert "'w: ?, x: float'" in loss.adjoint_source
    s2s.grad(loss)(ones(2), 1.0)
    assert "'w: f8[:], x: float'" in loss.adjoint_source
    assert "'w: f8[:], x: float'" in loss.primal_source
    assert asked(fake).mode == "primal"
    assert s2s.grad(loss).source == loss.adjoint_source


def test_source_of_a_call_that_does_not_fit():
    def scaled(x, w):
        return x * w

    with pytest.raises(TypeError, match=r"^scaled\(\) missing 1 required positional argument: 'w'"):
        s2s.source(scaled, 1.0)
    with pytest.raises(s2s.errors.ArgumentError, match=r"^scaled\(\) got an unexpected keyword argument 'v'"):
        s2s.source(scaled, 1.0, v=2.0)


def test_source_modes(fake):
    fake.answers["loss"] = lambda function, arguments, request: compiled(
        f"g_{request.mode}", "w, x", f"return {request.wrt!r}"
    )
    for mode, wrt in [("grad", (("w",),)), ("vjp", (("w",), ("x",))), ("primal", ())]:
        assert s2s.source(loss, mode=mode) == f"def g_{mode}(w, x):\n    return {wrt!r}\n"
        assert s2s.source(loss, 1.0, 2.0, mode=mode) == f"def g_{mode}(w, x):\n    return {wrt!r}\n"


# --- the import ---------------------------------------------------------------------------------------------


def test_importing_s2s_imports_nothing_heavy():
    program = (
        "import sys, s2s\n"
        "@s2s.differentiable\n"
        "def f(x): return x\n"
        "heavy = {'libcst', 'astor', 'click', 'rich', 'numpy', 's2s.dispatch.dispatcher', 's2s.pipeline'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_no_module_takes_the_place_of_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(s2s.__path__)}
    public = {"distributed", "errors", "interop", "optim", "scipy"}
    assert modules & set(s2s.__all__) == public
    with pytest.raises(AttributeError):
        _ = s2s.nothing


@pytest.mark.parametrize("f", [
    np.sum, np.sin, math.sin, np.ndarray.sum, np.ndarray.__neg__,
], ids=["function", "ufunc", "builtin", "method", "slot"])
def test_the_derivative_of_a_function_of_c_is_kept(f):
    assert s2s.grad(f) is s2s.grad(f)


@pytest.mark.usefixtures("few_objects")
def test_the_derivative_of_a_bound_method_of_c_goes_with_its_object():
    class Own(np.ndarray):
        pass

    x = np.ones(3).view(Own)
    there = weakref.ref(x)
    s2s.grad(x.sum)
    del x
    gc.collect()
    assert there() is None
