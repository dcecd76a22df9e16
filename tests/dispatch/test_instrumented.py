"""Parts of the dispatch by themselves: the text that looks for numbers that are not finite, the time that a version has
run, what it runs on, and the parts of arguments that are asked for."""

import ast
import concurrent.futures
import types

import numpy as np
import pytest

import s2s
from s2s.core.const import Const
from s2s.core.critical import section
from s2s.core.values import UNKNOWN, Array, Known, Mapping, Scalar, Sequence
from s2s.dispatch import asks, finite, tiers
from s2s.dispatch.version import Version
from s2s.versions.request import Compiled, Request

TEXT = """
def outer(x, *more, k=0):
    '''Says what it is.'''
    y = x[k, 0] * more[1]
    saved = []
    saved.append(y)
    saved.index(y, 0)
    saved.append(20.0)
    abs(y)
    z = {"w": np.empty(2)}
    held = np.empty(2)
    z["w"][1], (u, *rest) = y, (y, k)
    for i, v in zip(range(2), saved):
        u += v * x[i, k]
    s: float = u
    return s + len(rest)
"""


def test_each_statement_is_looked_at():
    statements = []
    tree = finite._Instrumented(Compiled(TEXT, "outer", {}, {}), statements).visit(ast.parse(TEXT))
    told = [(s.text.partition(" =")[0], s.names, s.reads, s.whole) for s in statements]
    assert told == [
        ("y", ("y",), ("x", "more", "k"), True),
        ("saved", ("saved",), (), True),
        ("saved.append(y)", ("saved",), ("y",), False),
        ("z", ("z",), ("np",), True),
        ('z["w"][1], (u, *rest)', ("z", "u", "rest"), ("y", "k"), False),
        ("u += v * x[i, k]", ("u",), ("v", "x", "i", "k", "u"), True),
        ("for i, v in zip(range(2), saved):", ("i", "v"), ("zip", "saved", "range"), True),
        ("s: float", ("s",), ("u",), True),
        ("return s + len(rest)", (), ("s", "len", "rest"), False),
        *(("def outer(x, *more, k=0):", (name,), (), True) for name in ("x", "k", "more")),
    ]
    items = {s.text: [(item.text, item.base, item.key) for item in s.items] for s in statements if s.items}
    assert items == {
        "y = x[k, 0] * more[1]": [("x[k, 0]", "x", ("k", 0)), ("more[1]", "more", (1,))],
        "u += v * x[i, k]": [("x[i, k]", "x", ("i", "k"))],
    }
    assert all(type(s.items) is tuple for s in statements)
    seen = []
    scope = {"np": np, finite._SEEN: lambda k, *values: (seen.append((k, *values)), values[-1])[1]}
    exec(compile(ast.fix_missing_locations(tree), "<looked at>", "exec"), scope)
    assert scope["outer"].__doc__ == "Says what it is."
    x = np.array([[2.0, 3.0], [5.0, 7.0]])
    assert scope["outer"](x, 1.0, 10.0) == 20.0 + 20.0 * 2.0 + 20.0 * 5.0 + 1.0
    looked = [(k, *values) for k, *values in seen if not any(isinstance(v, (np.ndarray, list, dict)) for v in values)]
    assert looked == [
        (10, 0), (11, (1.0, 10.0)), (0, 20.0), (2, 20.0), (6, 0, 20.0), (5, 60.0), (6, 1, 20.0), (5, 160.0), (7, 160.0),
        (8, 161.0),
    ]


@pytest.mark.parametrize("item, found", [
    (finite._Item("x[k, 0]", "x", ("k", 0)), 4.0), (finite._Item("y[1]", "y", (1,)), "b"),
    (finite._Item("y[5]", "y", (5,)), None), (finite._Item("n[0]", "n", (0,)), None),
    (finite._Item("x[q]", "x", ("q",)), None), (finite._Item("z[0]", "z", (0,)), 7),
])
def test_items_that_lines_read(item, found):
    known = {"x": np.array([[1.0], [4.0]]), "k": 1, "y": ["a", "b"], "n": 3, "z": (7,)}
    assert item.of(known) == (found if found != "b" else None)


def test_a_version_is_compiled_when_its_calls_have_taken_long_enough(monkeypatch):
    times = iter([10.0, 12.5, 20.0, 21.0, 30.0, 34.0])
    monkeypatch.setattr(tiers, "perf_counter", lambda: next(times))
    monkeypatch.setenv("S2S_NUMBA_AFTER", "2")
    version = types.SimpleNamespace(raw=lambda x: x + 1, compiled=types.SimpleNamespace(text="\n" * 20))
    tier, begun = tiers.Tier(None, version, None), []
    tier._begin = begun.append
    assert tier.after == 4.0
    assert tier.run(1) == 2
    assert tier.told == "numpy: it has run for 2.5 of 4 seconds"
    assert (tier.run(2), tier.spent, begun) == (3, 3.5, [])
    assert (tier.run(3), tier.spent, begun) == (4, 7.5, [(3,)])
    tier._step = lambda x: -x
    assert tier.run(3) == -3


def test_a_version_lets_another_function_run_where_nothing_else_changes():
    gradient = s2s.grad(lambda x: x * x)
    assert gradient(3.0) == 6.0
    dispatcher, (version,) = gradient.dispatcher, gradient.dispatcher.versions
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        other.submit(section.lock.acquire).result()
        assert dispatcher.let_run(version, version.raw, lambda x: -x) is False
        assert gradient(3.0) == 6.0
        other.submit(section.lock.release).result()
    assert dispatcher.let_run(version, version.raw, lambda x: -x) is True
    assert gradient(3.0) == -3.0
    assert dispatcher.let_run(version, version.call, lambda x: x) is True  # it has another function meanwhile
    assert gradient(3.0) == -3.0


@pytest.mark.parametrize("is_observed, is_validated, avals, guards, is_taken", [
    (False, False, (Scalar(float), Sequence(tuple, (Array(np.dtype(float), ()), Known(Const(2))))), (), True),
    (True, False, (Scalar(float),), (), False), (False, True, (Scalar(float),), (), False),
    (False, False, (Scalar(float), UNKNOWN), (), False), (False, False, (Sequence(tuple, (UNKNOWN,)),), (), False),
    (False, False, (Sequence(tuple, (Scalar(float), UNKNOWN)),), (), False),
    (False, False, (Mapping(("a", "b"), (UNKNOWN, Scalar(float))),), (), False),
    (False, False, (Sequence(tuple, ()), Mapping(("a", "b"), (Scalar(int), Scalar(float)))), (), True),
    (False, False, (Scalar(float),), ("another",), False), (False, False, (Scalar(float),), ("own",), True),
])
def test_the_text_for_numba_relies_on_nothing_else(monkeypatch, is_observed, is_validated, avals, guards, is_taken):
    def function(*args):
        return args

    text, asked = types.SimpleNamespace(guards=guards), []
    monkeypatch.setattr(tiers, "find_or_compile", lambda *given: (asked.append(given), (text, None))[1])
    monkeypatch.setattr(tiers, "parameter_names", lambda function: [f"p{k}" for k in range(len(avals))])
    monkeypatch.setenv("S2S_VALIDATE", str(int(is_validated)))
    compiled = types.SimpleNamespace(text="", is_observed=is_observed, guards=("own",))
    request = Request("grad", (("p0",),), True, False, (("backend", "auto"), ("checkpoints", "off")))
    version = types.SimpleNamespace(raw=None, compiled=compiled, avals=avals, request=request)
    target = types.SimpleNamespace(target=types.SimpleNamespace(function=function))
    assert tiers.Tier(target, version, function)._for_numba() == ([text] if is_taken else [])
    for _, arguments, wanted in asked:
        assert list(arguments.values()) == list(avals)
        assert wanted.options == (("backend", "numba"), ("checkpoints", "off"))
    assert bool(asked) == (is_taken or guards == ("another",))


@pytest.mark.parametrize("options, is_compiled, told", [
    ((), False, "numpy"), ((("backend", "numpy"),), False, "numpy"), ((("backend", "numba"),), True, "numba"),
    ((("backend", "numba"),), False, "numpy: numba does not compile it"),
])
def test_what_a_version_runs_on(options, is_compiled, told):
    request = Request("grad", (("x",),), True, False, options)
    made = Version.__new__(Version)
    made.tier, made.request, made.raw = None, request, abs
    made.run = float if is_compiled else made.raw
    assert made.backend == told
    made.tier = types.SimpleNamespace(told="numba: 3 times as fast as NumPy")
    assert made.backend == "numba: 3 times as fast as NumPy"


@pytest.mark.parametrize("path, found", [
    (("x",), Scalar(float)), (("params", "n"), Scalar(int)), (("params", "w", 1), Scalar(bool)), (("x", 0), UNKNOWN),
    (("params", "w"), Sequence(tuple, (Scalar(float), Scalar(bool)))), (("params", "w", 0, "u"), UNKNOWN),
])
def test_the_part_of_an_argument_that_a_path_leads_to(path, found):
    avals = Scalar(float), Mapping(("n", "w"), (Scalar(int), Sequence(tuple, (Scalar(float), Scalar(bool)))))
    assert asks._at(types.SimpleNamespace(parameters=("x", "params")), avals, path) == found
