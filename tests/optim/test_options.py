"""What is trained and what is not: static fields, frozen names and paths, the warning for what looks like an option."""

import collections
import dataclasses
import types
import warnings

import numpy as np
import pytest

import s2s
from s2s import notices
from s2s.errors import ArgumentError
from s2s.optim import SGD, Adam, AdamW
from tests.helpers import assert_same

Pair = collections.namedtuple("Pair", "w b")
STATIC = {"static": True}


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    slope: float = dataclasses.field(default=0.1, metadata=STATIC)
    table: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(2), metadata=STATIC)
    activation: object = np.tanh
    size: int = 3
    name: str = "layer"
    is_used: bool = True
    other: object = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    w: np.ndarray
    step: float = dataclasses.field(metadata=STATIC)


@dataclasses.dataclass
class Model:
    layers: list
    rate: float = dataclasses.field(metadata={"static": False}, default=0.5)


@pytest.fixture(autouse=True)
def not_yet_told(monkeypatch):
    monkeypatch.setattr(notices, "_told", set())


def output(layer, x):
    h = layer.activation(layer.w * x)
    return np.sum(np.where(h > 0.0, h, layer.slope * h) * layer.table) * layer.size


# --- static fields ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opt", [SGD(0.1), Adam(0.1), AdamW(0.1)], ids=repr)
def test_static_fields_and_what_is_no_float_stay(opt):
    layer, x = Layer(np.array([0.5, -0.5])), np.array([1.0, 2.0])
    found = opt.minimize(lambda m, x: output(m, x) ** 2, layer, x, steps=5)
    for name in ("slope", "table", "activation", "size", "name", "is_used", "other"):
        assert getattr(found.params, name) is getattr(layer, name)
    assert np.all(found.params.w != layer.w)
    alone = opt.minimize(lambda w, x: output(Layer(w), x) ** 2, layer.w, x, steps=5)
    assert_same(found.params.w, alone.params)
    assert set(found.state) - {"step"} == set(opt.keeps)
    assert all([key for key, kept in found.state[name].items() if kept is not None] == ["w"] for name in opt.keeps)


def test_static_fields_of_objects_with_slots():
    found = SGD(0.1).minimize(lambda m: np.sum(m.step * m.w**2), Slotted(np.ones(2), 2.0), steps=1)
    assert found.params.step == 2.0 and found.params.w.tolist() == [0.6, 0.6]


def test_gradients_may_have_static_fields_or_not():
    layer, opt = Layer(np.ones(2)), SGD(1.0)
    for grads in ({"w": np.ones(2), "activation": None, "size": None, "name": None, "is_used": None, "other": None},
                  dataclasses.replace(layer, slope=7.0)):
        found, _ = opt.apply_gradients(grads, layer, opt.init(layer))
        assert found.w.tolist() == [0.0, 0.0] and found.slope == 0.1
    assert opt.init(Layer(np.ones(2), other=layer))["step"] == 0


def test_one_object_may_be_the_option_of_two():
    shared = types.SimpleNamespace(a=1.0)

    @dataclasses.dataclass
    class Own:
        w: float
        settings: object = dataclasses.field(metadata=STATIC)

    found, _ = SGD(1.0).apply_gradients([{"w": 1.0}, {"w": 2.0}], [Own(1.0, shared), Own(1.0, shared)], {"step": 0})
    assert [one.w for one in found] == [0.0, -1.0] and all(one.settings is shared for one in found)


def test_there_must_be_something_to_train():
    @dataclasses.dataclass
    class Fixed:
        a: float = dataclasses.field(metadata=STATIC)

    with pytest.raises(ArgumentError, match="no floats among the parameters"):
        SGD().init(Fixed(1.0))


# --- frozen by name ---------------------------------------------------------------------------------------------------

PARAMS = {
    "w": 1.0, "layers": [Model([Pair(1.0, 2.0)]), Layer(np.ones(2))], "in.out": 1.0, 3: 1.0,
    "params": {"w": 1.0}, "a b": [1.0],
}
PLACES = [
    "params['w']", "params['layers'][0].layers[0].w", "params['layers'][0].layers[0].b", "params['layers'][0].rate",
    "params['layers'][1].w", "params['in.out']", "params[3]", "params['params']['w']", "params['a b'][0]",
]


@pytest.mark.parametrize(("frozen", "wanted"), [
    ("rate", [3]),
    ("b", [2]),
    ("w", [0, 1, 4, 7]),
    ("params['w']", [0]),
    ("params.w", [0, 7]),
    ("params['params'].w", [7]),
    ("layers[0]", [1, 2, 3]),
    ("layers.0.layers", [1, 2]),
    ("params['layers'][0].layers[0].w", [1]),
    ("layers[0].layers[0].1", [2]),
    ("['in.out']", [5]),
    ('["in.out"]', [5]),
    ("3", [6]),
    ("params[3]", [6]),
    ("a b", [8]),
    ("params", [7]),
    (["rate", "layers[1]"], [3, 4]),
    ({"rate", "3"}, [3, 6]),
    (("b",), [2]),
    (set(), []),
])
def test_names_and_paths(frozen, wanted):
    from s2s.optim.structures import spread

    found = spread(PARAMS, frozen)
    assert list(found) == PLACES
    assert [k for k, place in enumerate(found) if found[place]] == wanted


@pytest.mark.parametrize("name", ["x", "layers[2]", "slope", "layers..w", "layers[0", "", "name", "w.w"])
def test_names_of_nothing(name):
    with pytest.raises(ArgumentError, match=r"no parameter is called .* \[S2S608\]"):
        SGD().apply_gradients(PARAMS, PARAMS, {"step": 0}, frozen=["w", name])


def test_what_is_named_stays():
    params, grads = {"w": np.ones(2), "b": [1.0, 2.0]}, {"w": np.ones(2), "b": [1.0, np.nan]}
    found, state = Adam(0.1).apply_gradients(grads, params, Adam().init(params), frozen="b[1]")
    assert_same(found["b"][1], 2.0)
    assert found["b"][0] < 1.0 and np.all(found["w"] < 1.0)
    assert [int(k) for k in state["steps"]["b"]] == [1, 0]
    mask = Adam(0.1).apply_gradients(grads, params, Adam().init(params), frozen={"w": False, "b": [False, True]})
    assert_same((found, state), mask)


# --- the warning ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Network:
    w: np.ndarray
    b: float
    bias: float = 0.0
    leak: float = 0.1


@dataclasses.dataclass
class Curve:
    size: float = 1.0
    rate: float = 1.0
    learning_rate: float = 0.1
    drop_eps: float = 0.1


def told(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    own = [w for w in caught if issubclass(w.category, s2s.TrainedOptionWarning)]
    assert all(w.filename == __file__ for w in own)
    return [str(w.message).split("`")[1] for w in own]


def square(params):
    return np.sum(params.w**2) + params.leak**2 if hasattr(params, "w") else params.rate**2 + params.learning_rate**2


def test_what_looks_like_an_option_is_told_once():
    def train():
        params, opt = Network(np.ones(2), 1.0), SGD(0.1)
        opt.minimize(square, params, steps=3)
        assert told(lambda: opt.minimize(square, params, steps=3, frozen="leak")) == []

    assert told(lambda: [train() for _ in range(3)]) == ["params.leak"]
    assert told(lambda: Adam().minimize(square, Curve(), steps=2)) == ["params.learning_rate", "params.drop_eps"]


def test_the_text_says_what_to_write():
    with pytest.warns(s2s.TrainedOptionWarning) as caught:
        SGD().minimize(square, Network(np.ones(2), 1.0), steps=1)
    assert str(caught[0].message).split("\n")[0] == (
        "`params.leak` is trained, as every float: where it is an option of Network, say "
        "`leak: float = field(metadata={\"static\": True})` or `frozen='leak'`; where it is a parameter, "
        "`{\"static\": False}`"
    )


@pytest.mark.parametrize("params", [
    {"w": np.ones(2), "dropout": 0.1}, Pair(np.ones(2), 0.1), types.SimpleNamespace(w=np.ones(2), dropout=0.1),
    Model([np.ones(2)]), Layer(np.ones(2)), [Slotted(np.ones(2), 0.1)],
], ids=lambda params: type(params).__name__)
def test_what_is_said_or_no_dataclass_is_not_told(params):
    opt = SGD(0.1)
    assert told(lambda: opt.apply_gradients(params, params, opt.init(params))) == []
