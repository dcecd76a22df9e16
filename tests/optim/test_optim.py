"""Optimizers: against formulas written out for one number, closed forms, and steps that a frozen entry never saw."""

import collections
import dataclasses
import doctest
import math
import pickle
import re
import types

import numpy as np
import pytest

import s2s
import s2s.optim.batches
import s2s.optim.optimizers
import s2s.optim.saving
import s2s.optim.schedules
from s2s.errors import ArgumentError, NonFiniteError
from s2s.optim import SGD, Adagrad, Adam, AdamW, Momentum, Nesterov, RMSProp, schedules
from tests.helpers import assert_same

Pair = collections.namedtuple("Pair", "w b")


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("layers", "scale")
    layers: list
    scale: float


# --- the formulas, for one number -----------------------------------------------------------------------------------


def sgd(x, gradients, rate):
    for g in gradients:
        x = x - rate * g
    return x


def momentum(x, gradients, rate, mu=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = mu * velocity + g
        x = x - rate * velocity
    return x


def nesterov(x, gradients, rate, mu=0.9):
    """Sutskever's form: a step of the momentum first, the gradient taken there. Its places are those of ``Nesterov``
    moved by the momentum: ``gradients`` are the ones at the moved places."""
    y, velocity = x, 0.0  # y is where Sutskever's iteration is; x = y + mu * velocity is where the gradient is taken
    for g in gradients:
        velocity = mu * velocity - rate * g
        y = y + velocity
    return y + mu * velocity


def rmsprop(x, gradients, rate, decay=0.9, epsilon=1e-8):
    mean = 0.0
    for g in gradients:
        mean = decay * mean + (1 - decay) * g**2
        x = x - rate * g / (math.sqrt(mean) + epsilon)
    return x


def adagrad(x, gradients, rate, epsilon=1e-10):
    for k, g in enumerate(gradients, 1):
        x = x - rate * g / (math.sqrt(sum(h**2 for h in gradients[:k])) + epsilon)
    return x


def adam(x, gradients, rate, beta1=0.9, beta2=0.999, epsilon=1e-8, decay=0.0):
    """The means as weighted sums of all gradients, not by recurrence."""
    for t in range(1, len(gradients) + 1):
        past = list(enumerate(gradients[:t], 1))
        first = sum(beta1 ** (t - k) * g for k, g in past) / sum(beta1 ** (t - k) for k, _ in past)
        second = sum(beta2 ** (t - k) * g**2 for k, g in past) / sum(beta2 ** (t - k) for k, _ in past)
        x = x - rate * decay * x - rate * first / (math.sqrt(second) + epsilon)
    return x


FORMULAS = [
    (SGD(0.1), lambda x, g: sgd(x, g, 0.1)),
    (Momentum(0.1), lambda x, g: momentum(x, g, 0.1)),
    (Momentum(0.1, momentum=0.5), lambda x, g: momentum(x, g, 0.1, 0.5)),
    (Nesterov(0.1), lambda x, g: nesterov(x, g, 0.1)),
    (RMSProp(0.1), lambda x, g: rmsprop(x, g, 0.1)),
    (RMSProp(0.1, decay=0.5, epsilon=0.3), lambda x, g: rmsprop(x, g, 0.1, 0.5, 0.3)),
    (Adagrad(0.1), lambda x, g: adagrad(x, g, 0.1)),
    (Adam(0.1), lambda x, g: adam(x, g, 0.1)),
    (Adam(0.1, 0.5, 0.6, 0.2), lambda x, g: adam(x, g, 0.1, 0.5, 0.6, 0.2)),
    (AdamW(0.1, weight_decay=0.3), lambda x, g: adam(x, g, 0.1, decay=0.3)),
]
ALL = [SGD(0.1), Momentum(0.1), Nesterov(0.1), RMSProp(0.1), Adagrad(0.1, initial_sum=0.1), Adam(0.1), AdamW(0.1)]


def run(opt, params, gradients, masks=None):
    """Parameters and state after one step for each gradient."""
    state = opt.init(params)
    for k, g in enumerate(gradients):
        params, state = opt.apply_gradients(g, params, state, frozen=None if masks is None else masks[k])
    return params, state


@pytest.mark.parametrize(("opt", "formula"), FORMULAS, ids=lambda x: repr(x) if dataclasses.is_dataclass(x) else "")
def test_formulas(opt, formula, rng):
    start, gradients = rng.normal(size=(2, 3)), rng.normal(size=(6, 2, 3))
    params, _ = run(opt, start, gradients)
    wanted = [formula(start[place], gradients[:, *place].tolist()) for place in np.ndindex(start.shape)]
    np.testing.assert_allclose(params.ravel(), wanted, rtol=1e-12)


def test_closed_forms():
    """A quadratic under gradient descent; a constant gradient, which Adam and Adagrad scale away."""
    found = SGD(0.1).minimize(lambda x: 0.5 * np.sum(x**2), np.array([1.0, -2.0]), steps=20)
    np.testing.assert_allclose(found.params, 0.9**20 * np.array([1.0, -2.0]), rtol=1e-13)
    np.testing.assert_allclose(found.history, 2.5 * 0.81 ** np.arange(21), rtol=1e-12)
    g = np.array([3.0, -1e-3])
    np.testing.assert_allclose(run(Adam(0.1, epsilon=0.0), np.zeros(2), [g] * 7)[0], [-0.7, 0.7], rtol=1e-12)
    steps = np.sum(1.0 / np.sqrt(np.arange(1, 8)))
    np.testing.assert_allclose(run(Adagrad(0.1), np.zeros(2), [g] * 7)[0], -0.1 * steps * np.sign(g), rtol=1e-6)
    x = run(AdamW(0.1, weight_decay=0.5), np.ones(1), [np.zeros(1)] * 4)[0]
    np.testing.assert_allclose(x, 0.95**4, rtol=1e-14)


@pytest.mark.parametrize("opt", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.longdouble])
def test_dtypes_stay(opt, dtype):
    opt = dataclasses.replace(opt, **{name: np.float64(getattr(opt, name)) for name in vars(opt)})
    opt = dataclasses.replace(opt, epsilon=np.float64(1e-3)) if hasattr(opt, "epsilon") else opt
    start = {"a": np.ones((2, 3), dtype), "b": dtype(2.0), "c": np.array(1.0, dtype)}
    grads = {"a": np.full((2, 3), 0.5), "b": 0.25, "c": np.float64(1.0)}
    params, state = run(opt, start, [grads] * 3, [None, {"a": np.eye(2, 3) > 0, "b": False, "c": True}, None])
    assert [type(params[k]) for k in "abc"] == [np.ndarray, dtype, np.ndarray]
    assert all(np.result_type(params[k]) == dtype for k in "abc")
    assert all(np.result_type(state[name][k]) == dtype for name in opt.keeps if name != "steps" for k in "abc")
    assert np.all(params["a"] < 1.0) and params["b"] < 2.0


# --- structures -----------------------------------------------------------------------------------------------------

STRUCTURES = {
    "dict": lambda w, b: {"w": w, "b": b, "n": 3, "name": "x", "none": None, "empty": {}},
    "ordered": lambda w, b: collections.OrderedDict([("w", w), ("b", b)]),
    "list": lambda w, b: [w, [b], 3, []],
    "tuple": lambda w, b: (w, (b,), "x"),
    "named tuple": lambda w, b: Pair(w, b),
    "dataclass": lambda w, b: Layer(w, b),
    "namespace": lambda w, b: types.SimpleNamespace(w=w, b=b, kind="x"),
    "nested": lambda w, b: Slotted([{"first": Layer(w, 1.0)}, (Pair(b, 0.0),)], 1.5),
}


def flat(value):
    """The floats in a structure, in order."""
    if isinstance(value, dict):
        return [x for item in value.values() for x in flat(item)]
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in flat(item)]
    if isinstance(value, Slotted):
        return flat([value.layers, value.scale])
    if isinstance(value, (Layer, types.SimpleNamespace)):
        return flat(vars(value))
    is_float = isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
    return np.ravel(value).tolist() if is_float else []


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("opt", ALL, ids=repr)
def test_structures(kind, opt, rng):
    """The step of every parameter is the one that it takes on its own; the rest is what it was."""
    w, b = rng.normal(size=(2, 2)), 0.5
    params = STRUCTURES[kind](w, b)
    before = flat(params)
    gradients = [STRUCTURES[kind](rng.normal(size=(2, 2)), float(rng.normal())) for _ in range(3)]
    found, state = run(opt, params, gradients)
    wanted = [run(opt, x, [flat(g)[k] for g in gradients])[0] for k, x in enumerate(flat(params))]
    np.testing.assert_allclose(flat(found), wanted, rtol=1e-14)
    assert type(found) is type(params) and flat(params) == before
    assert state["step"] == 3
    again = pickle.loads(pickle.dumps(state))
    assert_same(opt.apply_gradients(gradients[0], found, again)[1], opt.apply_gradients(gradients[0], found, state)[1])


def test_what_is_constant_stays():
    params = {"n": 3, "index": np.arange(3), "name": "x", "cfg": [None, True], "w": 1.0}
    found, state = run(SGD(0.5), params, [{"n": None, "index": None, "name": None, "cfg": None, "w": 1.0}])
    assert found == {**params, "w": 0.5} and found["index"] is params["index"] and type(found["w"]) is float
    layer, _ = run(SGD(0.5), Layer(np.ones(2), 1.0), [Layer(np.ones(2), 2.0, None)])
    assert layer.name == "layer" and layer.b == 0.0


def test_what_is_plain():
    state = Adam().init(Slotted([Pair(np.ones(2), 3)], 1.5))
    zero = np.array(0.0)
    assert_same(state["m"], {"layers": [(np.zeros(2), None)], "scale": zero})
    assert_same(state["steps"], {"layers": [(np.array(0), None)], "scale": np.array(0)})
    assert state.keys() == {"step", "m", "v", "steps"} and state["step"] == 0


def test_gradients_of_objects_train_objects():
    def loss(layer, x):
        return np.mean((layer.w * x + layer.b - 3.0 * x - 1.0) ** 2)

    x = np.linspace(-1.0, 1.0, 20)
    found = Adam(0.1).minimize(loss, Layer(np.zeros(1), 0.0), x, steps=400)
    assert type(found.params) is Layer and found.params.name == "layer"
    np.testing.assert_allclose([found.params.w[0], found.params.b], [3.0, 1.0], atol=1e-4)


def test_a_parameter_without_gradient_stays(rng):
    """``unconnected="none"`` gives None, which is no zero: momentum and decay do not go on."""
    params, state = run(AdamW(0.1), {"w": np.ones(2), "b": 1.0}, [{"w": np.ones(2), "b": 2.0}] * 2)
    found, after = AdamW(0.1).apply_gradients({"w": None, "b": 1.0}, params, state)
    assert_same(found["w"], params["w"])
    assert_same(after["m"]["w"], state["m"]["w"])
    assert found["b"] < params["b"] and after["steps"]["w"] == 2 and after["steps"]["b"] == 3


# --- freezing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opt", ALL, ids=repr)
def test_frozen_entries_skip_their_steps(opt, rng):
    """With a mask that changes at each step, an entry is where the steps that it took bring it on its own."""
    start, gradients, masks = rng.normal(size=(3, 4)), rng.normal(size=(12, 3, 4)), rng.random((12, 3, 4)) < 0.6
    masks[3], masks[4] = True, False
    found, state = run(opt, [start], [[g] for g in gradients], [[m] for m in masks])
    for place in np.ndindex(start.shape):
        taken = [g[place] for g, m in zip(gradients, masks) if not m[place]]
        alone, its = run(opt, start[place], taken)
        assert found[0][place] == pytest.approx(alone, rel=1e-14)
        for name in opt.keeps:
            kept = np.broadcast_to(state[name][0], start.shape)
            assert kept[place] == pytest.approx(float(its[name]), rel=1e-14)


@pytest.mark.parametrize("opt", ALL, ids=repr)
def test_frozen_entries_stay_to_the_last_bit(opt, rng):
    """Also where gradient or value are no numbers, and whichever way the mask is written."""
    start, gradient = {"w": rng.normal(size=4), "b": [0.3, -0.0]}, {"w": rng.normal(size=4), "b": [1.0, 1.0]}
    params, state = run(opt, start, [gradient] * 2)
    params["w"][0], params["w"][2] = -0.0, np.nan
    grads = {"w": np.array([np.inf, 1.0, np.nan, 1.0]), "b": [np.nan, 1.0]}
    still = np.array([True, False, True, False])
    found, after = opt.apply_gradients(grads, params, state, frozen={"w": still, "b": [True, False]})
    assert found["w"][still].tobytes() == params["w"][still].tobytes()
    assert np.all(found["w"][~still] != params["w"][~still])
    assert found["b"][0] == params["b"][0] and found["b"][1] != params["b"][1]
    for name in set(opt.keeps) - {"steps"}:
        assert after[name]["w"][still].tobytes() == state[name]["w"][still].tobytes()
    for mask in (True, np.True_, {"w": True, "b": True}, {"w": [True] * 4, "b": [True, np.True_]}):
        found, after = opt.apply_gradients(grads, params, state, frozen=mask)
        assert_same(found, params)
        assert_same({k: v for k, v in after.items() if k != "step"}, {k: v for k, v in state.items() if k != "step"})
        assert after["step"] == 3
    grads = {"w": np.ones(4), "b": [1.0, 1.0]}
    params["w"][2] = 0.0
    free = opt.apply_gradients(grads, params, state)
    for mask in (None, False, {"w": None, "b": False}, {"w": np.zeros(4, bool), "b": [False, None]}):
        assert_same(opt.apply_gradients(grads, params, state, frozen=mask), free)


def test_adam_moves_what_only_its_gradient_stops():
    """Why there is a mask: a gradient of zero leaves Adam's moments to go on."""
    w, state = run(Adam(0.1), np.ones(4), [np.ones(4)] * 3)
    stopped = np.array([0.0, 0.0, 1.0, 1.0])
    moved, _ = Adam(0.1).apply_gradients(stopped, w, state)
    assert np.all(moved[:2] < w[:2] - 0.01)
    still, _ = Adam(0.1).apply_gradients(stopped, w, state, frozen=stopped == 0.0)
    assert_same(still[:2], w[:2])
    assert_same(still[2:], moved[2:])


# --- learning rates -------------------------------------------------------------------------------------------------


def test_schedules_are_asked_for_the_step():
    asked = []

    def rate(step):
        asked.append(step)
        return 0.1 * step

    found = SGD(rate).minimize(lambda x: x, 0.0, steps=4)
    assert asked == [0, 1, 2, 3] and found.params == pytest.approx(-0.6)
    frozen, _ = run(SGD(rate), 0.0, [1.0] * 4, [False, True, True, False])
    assert frozen == pytest.approx(-0.3)  # the schedule goes on while an entry is frozen


def test_schedules():
    steps = range(0, 41, 10)
    assert [schedules.Constant(0.3)(k) for k in steps] == [0.3] * 5
    decay = schedules.ExponentialDecay(1.0, 20, 0.25)
    np.testing.assert_allclose([decay(k) for k in steps], 0.5 ** np.arange(5), rtol=1e-15)
    stairs = schedules.ExponentialDecay(1.0, 20, 0.25, staircase=True)
    assert [stairs(k) for k in steps] == [1.0, 1.0, 0.25, 0.25, 0.0625]
    cosine = schedules.CosineDecay(1.0, 30, last=0.1)
    np.testing.assert_allclose([cosine(k) for k in steps], [1.0, 0.775, 0.325, 0.1, 0.1], rtol=1e-14)
    pieces = schedules.PiecewiseConstant([10, 11], [3.0, 2.0, 1.0])
    assert [pieces(k) for k in (0, 9, 10, 11, 12)] == [3.0, 3.0, 2.0, 1.0, 1.0]
    warm = schedules.WarmUp(4, schedules.ExponentialDecay(1.0, 1, 0.5), initial=0.2)
    np.testing.assert_allclose([warm(k) for k in range(7)], [0.2, 0.4, 0.6, 0.8, 1.0, 0.5, 0.25], rtol=1e-15)
    assert schedules.WarmUp(0, 0.1)(0) == 0.1
    for schedule in (decay, cosine, pieces, warm):
        assert pickle.loads(pickle.dumps(Adam(schedule))) == Adam(schedule)


# --- minimize -------------------------------------------------------------------------------------------------------


def rosenbrock(x, a=100.0):
    return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_minimize(capsys):
    start = np.array([-1.0, 0.5, 2.0])
    found = Adam(0.05).minimize(rosenbrock, start, 10.0, steps=3000)
    np.testing.assert_allclose(found.params, 1.0, atol=1e-4)
    assert found.value == found.history[-1] == rosenbrock(found.params, 10.0) < 1e-7
    assert found.history.shape == (3001,) and found.history[0] == rosenbrock(start, 10.0)
    np.testing.assert_array_equal(start, [-1.0, 0.5, 2.0])
    assert capsys.readouterr().out == ""
    nothing = Adam().minimize(rosenbrock, start, steps=0)
    assert nothing.params is start and nothing.value == rosenbrock(start)


def test_minimize_is_steps_of_gradients():
    opt, params = Nesterov(0.01), {"x": np.array([0.3, 0.7])}
    loss = lambda p, a: rosenbrock(p["x"], a)
    found = opt.minimize(loss, params, 5.0, steps=30, frozen={"x": [False, True]})
    state = opt.init(params)
    for _ in range(30):
        grads = opt.compute_gradients(loss, params, 5.0)
        params, state = opt.apply_gradients(grads, params, state, frozen={"x": np.array([False, True])})
    assert_same(found.params, params)
    assert_same(found.state, state)
    assert params["x"][1] == 0.7


def test_the_repr_of_a_result():
    found = SGD(0.25).minimize(lambda x: np.sum(x**2), np.ones(2), steps=20)
    assert repr(found) == (
        "<Result: value 1.81899e-12 after 20 steps, 2 before; params array([9.536743e-07, 9.536743e-07])>"
    )
    assert len(repr(SGD(0.25).minimize(lambda x: np.sum(x**2), np.ones(5000), steps=1))) < 200


# --- what is refused ------------------------------------------------------------------------------------------------


def refusal(kind, call, *args, **kwargs):
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_structures_that_do_not_fit():
    opt, params = Adam(), {"w": np.ones((2, 3)), "b": [1.0]}
    state = opt.init(params)
    wrong = [
        ({"w": np.ones((2, 3))}, "at `params` is a dict with the keys 'w', not a dict with the keys 'w', 'b'"),
        ({"w": np.ones(3), "b": [1.0]},
         "at `params['w']` is an array of float64 of shape (3,), not an array of float64 of shape (2, 3)"),
        ({"w": np.ones((2, 3)), "b": [1.0, 2.0]}, "at `params['b']` is a list of 2, not a list of 1"),
        ({"w": np.ones((2, 3)), "b": 1.0}, "at `params['b']` is a float, not a list of 1"),
        ({"w": np.ones((2, 3)) * 1j, "b": [1.0]},
         "at `params['w']` is an array of complex128 of shape (2, 3), not an array of float64 of shape (2, 3)"),
        ({"w": [[1.0] * 3, ["x"] * 3], "b": [1.0]},
         "at `params['w']` is an array of <U32 of shape (2, 3), not an array of float64 of shape (2, 3)"),
    ]
    for grads, problem in wrong:
        text = refusal(ArgumentError, opt.apply_gradients, grads, params, state)
        assert text.splitlines()[0] == f"the gradient does not fit the parameters: {problem} [S2S601]"
    masks = [
        ({"w": 1, "b": [True]}, "at `params['w']` is 1, not a bool, or an array of bools"),
        ({"w": np.ones(3, bool), "b": True},
         "at `params['w']` is an array of bool of shape (3,), not an array of float64 of shape (2, 3)"),
        ({"w": True}, "at `params` is a dict with the keys 'w', not a dict with the keys 'w', 'b'"),
        ([True, False], "at `params` is a list of 2, not a dict with the keys 'w', 'b'"),
        ({"w": True, "b": [np.ones(1, bool)]}, "at `params['b'][0]` is an array of bool of shape (1,), not a float"),
    ]
    for mask, problem in masks:
        text = refusal(ArgumentError, opt.apply_gradients, params, params, state, mask)
        assert text.splitlines()[0] == f"frozen does not fit the parameters: {problem} [S2S601]"
    other = opt.init({"w": np.ones((3, 2)), "b": [1.0]})
    assert refusal(ArgumentError, opt.apply_gradients, params, params, other).startswith(
        "the state 'm' does not fit the parameters: at `params['w']` is an array of float64 of shape (3, 2), not"
    )
    lost = {**state, "v": {"w": None, "b": [None]}}
    assert refusal(ArgumentError, opt.apply_gradients, params, params, lost).startswith(
        "the state 'v' does not fit the parameters: at `params['w']` is None, not"
    )


def test_states_of_others():
    text = refusal(ArgumentError, Adam().apply_gradients, 1.0, 1.0, Momentum().init(1.0))
    assert text == """\
this is not a state of Adam: it has 'step', 'velocity' [S2S605]
  = instead:  make one: `state = optimizer.init(params)`"""
    assert "it is a NoneType [S2S605]" in refusal(ArgumentError, SGD().apply_gradients, 1.0, 1.0, None)


def test_parameters_that_cannot_be_trained():
    assert refusal(ArgumentError, SGD().init, [1, "x", np.arange(3)]) == """\
there are no floats among the parameters, which are a list of 3 [S2S603]
  = instead:  make them floats: `np.asarray(params, dtype=float)`"""
    assert refusal(ArgumentError, SGD().init, {"z": np.ones(2) * 1j}) == """\
the parameter `params['z']` is complex, which cannot be trained [S2S602]
  = instead:  train its real and its imaginary part"""
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    assert refusal(ArgumentError, SGD().init, [1.0, masked]) == """\
the parameter `params[1]` is a MaskedArray, which cannot be trained [S2S602]
  = instead:  give a plain array"""
    layer = Layer(np.ones(2), 1.0)
    assert refusal(ArgumentError, SGD().init, {"encoder": layer, "decoder": [layer]}) == """\
`params['decoder'][0]` and `params['encoder']` are the same object, which can be trained only once [S2S604]
  = instead:  copy one of them, or list it once"""
    own = [1.0]
    own.append(own)
    assert "S2S604" in refusal(ArgumentError, SGD().init, own)


def test_objects_without_floats_and_arrays_may_come_twice():
    kind, zeros = types.SimpleNamespace(name="x"), np.zeros(2)
    params = {"a": Layer(zeros, 1.0, kind), "b": Layer(zeros, 2.0, kind)}
    grads = {"a": Layer(np.ones(2), 1.0, None), "b": Layer(-np.ones(2), 1.0, None)}
    found, _ = run(SGD(1.0), params, [grads])
    assert found["a"].w.tolist() == [-1.0, -1.0] and found["b"].w.tolist() == [1.0, 1.0]
    assert found["a"].name is found["b"].name is kind


def test_what_is_not_finite():
    opt, params = Momentum(0.1), {"w": np.ones((2, 2))}
    state = opt.init(params)
    bad = {"w": np.array([[1.0, np.nan], [np.inf, 1.0]])}
    assert refusal(NonFiniteError, opt.apply_gradients, bad, params, state) == """\
the gradient of `params['w']` is not finite at step 0 [S2S607]
  = because: 2 of 4 entries, the first at (0, 1)
  = instead:  use a smaller learning rate, or make the loss finite there"""
    huge = {"w": np.full((2, 2), np.float32(3e38))}
    text = refusal(NonFiniteError, Adam().apply_gradients, huge, {"w": np.ones((2, 2), np.float32)},
                   Adam().init({"w": np.ones((2, 2), np.float32)}))
    assert text.startswith("'v' in the state for `params['w']` is not finite at step 0 [S2S607]")
    text = refusal(NonFiniteError, SGD(1e300).apply_gradients, 1e300, 1.0, {"step": 4})
    assert text.startswith("`params` after this step is not finite at step 4 [S2S607]")
    with np.errstate(all="ignore"):
        text = refusal(NonFiniteError, SGD(0.6).minimize, lambda x: np.exp(np.exp(x)) + np.exp(-x), 3.0)
    assert re.match(r"the gradient of `params` is not finite|the loss is not finite", text)
    assert isinstance(pytest.raises(NonFiniteError, opt.apply_gradients, bad, params, state).value, FloatingPointError)


def test_no_gradient_at_all():
    assert refusal(ArgumentError, SGD().apply_gradients, None, [1.0], {"step": 0}) == """\
no parameter has a gradient [S2S606]
  = because: the loss does not depend on the parameters, or `grads` is that of something else
  = instead:  take the gradient of a loss that reads them"""


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: SGD(-0.1), "`learning_rate` of SGD is -0.1"),
        (lambda: SGD("0.1"), "`learning_rate` of SGD is '0.1'"),
        (lambda: SGD(float("nan")), "`learning_rate` of SGD is nan"),
        (lambda: Momentum(momentum=1.0), "`momentum` of Momentum is 1.0"),
        (lambda: Adam(beta2=-0.1), "`beta2` of Adam is -0.1"),
        (lambda: AdamW(weight_decay=-1), "`weight_decay` of AdamW is -1"),
        (lambda: RMSProp(decay=2), "`decay` of RMSProp is 2"),
        (lambda: Adagrad(epsilon=None), "`epsilon` of Adagrad is None"),
        (lambda: SGD().minimize(lambda x: x, 1.0, steps=-1), "`steps` is -1"),
        (lambda: SGD().minimize(lambda x: x, 1.0, steps=1.5), "`steps` is 1.5"),
        (lambda: SGD().minimize(lambda x: x, 1.0, steps=True), "`steps` is True"),
        (lambda: SGD().minimize(lambda x: x, 1.0, callback="print"), "`callback` is a str"),
        (lambda: SGD().minimize(lambda x: x, 1.0, batches=[1]), "`batches` is a list of 1"),
        (lambda: SGD(lambda k: -1.0).minimize(lambda x: x, 1.0), "the learning rate at step 0 is -1.0"),
        (lambda: schedules.CosineDecay(0.1, 0), "`steps` of a schedule is 0"),
        (lambda: schedules.PiecewiseConstant([1], [0.1]), "a schedule has 1 boundaries and 1 rates"),
        (lambda: schedules.PiecewiseConstant([2, 1], [1, 2, 3]), "the boundaries of a schedule do not ascend"),
    ],
)
def test_options_that_do_not_fit(make, problem):
    assert refusal(ArgumentError, make).splitlines()[0] == f"{problem} [S2S511]"


def test_unknown_options():
    assert "unexpected keyword argument 'lr'" in refusal(TypeError, Adam, lr=0.1)
    assert "unexpected keyword argument 'froze'" in refusal(TypeError, SGD().apply_gradients, 1, 1, {}, froze=True)


@pytest.mark.parametrize("module", [
    s2s.optim.batches, s2s.optim.optimizers, s2s.optim.saving, s2s.optim.schedules,
])
def test_doctests(module):
    assert doctest.testmod(module).failed == 0


def test_a_result_with_many_numbers_shows_shapes():
    params = {"w": np.ones((30, 40)), "b": np.ones(3), "more": [np.ones((9, 9)), np.ones((8, 8))]}
    found = SGD(0.25).minimize(lambda p: np.sum(p["b"] ** 2) + np.sum(p["w"][0]), params, steps=0)
    assert repr(found).endswith(
        "params {'w': array of shape (30, 40), 'b': array([1., 1., 1.]), "
        "'more': [array of shape (9, 9), array of shape (8, 8)]}>"
    )


def test_batches_in_the_place_of_arguments_are_refused():
    batches = s2s.optim.Batches(np.ones((6, 2)), size=2)
    with pytest.raises(s2s.errors.ArgumentError, match="write `batches=` before them"):
        SGD(0.1).minimize(lambda p, x: np.sum(x @ p), np.ones(2), batches, steps=1)
