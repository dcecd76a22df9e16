"""Arrays that are more than arrays, and what Python's own library makes of numbers: on top level, in a loop, in a
callee and in a method, in both modes, and in a sample of these to second order (with ``--every`` in all), against
central differences. What the compiler refuses is recorded.
"""

import itertools
import linecache
import tempfile
import textwrap

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError, InternalError

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


SETTING = """
import collections
import functools
import heapq
import itertools
import math
import operator
import random

import numpy as np


class Tagged(np.ndarray):
    def __new__(cls, data, tag=None):
        made = np.asarray(data).view(cls)
        made.tag = tag
        return made

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


class Vector(list):
    def squared(self):
        return sum(a * a for a in self)


class Table(dict):
    def total(self):
        return sum(self.values())


scaled = np.frompyfunc(lambda a, b: a * a * b, 2, 1)
"""

BODIES = {
    "subclass": "t = np.sin(Tagged(v, 3.0))[1:]\nr = np.sum(np.asarray(t)) * t.tag",
    "subclass that changes": "s = Tagged(v.copy(), 'a')\ns[1] = v[0] * v[2]\nr = float(np.sum(s * s))",
    "masked": "m = np.ma.masked_where(v > 2.0, v)\n"
    "r = m.mean() ** 2 + m.filled(0.5)[3] + np.ma.log(m).compressed().sum()",
    "objects": "o = np.empty(2, dtype=object)\no[0] = v\no[1] = v ** 2\nr = np.sum(o[0] * o[1])",
    "records": "a = np.zeros(4, dtype=[('p', float), ('q', float)])\na['p'] = v\na['q'] = v ** 2\n"
    "a[1] = (v[0], v[2])\nr = np.sum(a['p'] * a['q'])",
    "record array": "a = np.rec.fromarrays([v, v ** 2], names='p,q')\nr = np.sum(a.p * a.q)",
    "class made of three": "o = type('Held', (), {'n': 3})()\no.v = v ** 2\nr = np.sum(o.v[1:] * v[0]) * o.n",
    "frompyfunc": "r = np.sum(scaled(v, v[0]).astype(float)) + scaled(v[1], 2.0)",
    "list subclass": "q = Vector(v)\nq.append(v[0] ** 2)\nr = q.squared() + q[4] * len(q)",
    "dict subclass": "q = Table(a=v[0], b=v[1] ** 2)\nq['c'] = v[2]\nr = q.total() ** 2",
    "set": "r = sum({t ** 2 for t in v}) ** 2",
    "methodcaller": "r = operator.methodcaller('sum')(v ** 2) + operator.methodcaller('clip', 0.5, max=2.0)(v).sum()",
    "zip of sorted": "p, q = zip(*sorted(zip(v, v ** 2)))\nr = p[0] * q[1]",
    "heapq.merge": "r = sum(a ** 2 * k for k, a in enumerate(heapq.merge([v[0], v[1]], [v[2], v[3]])))",
    "max of nothing": "r = max([t for t in v if t > 100.0], default=v[0]) ** 2",
    "tee": "p, q = itertools.tee(iter(list(v)))\nnext(q)\nr = sum(a * b for a, b in zip(p, q))",
    "starred": "r = math.hypot(*v) + functools.reduce(operator.mul, [*v, *[t ** 2 for t in v]])",
    "defaultdict": "d = collections.defaultdict(float)\nfor k, t in enumerate(v):\n"
    "    d[k % 2] += t ** 2\nr = d[0] * d[1]",
    "ordered": "d = collections.OrderedDict(a=v[0], b=v[1] ** 2)\nd.move_to_end('a')\nr = list(d.values())[0] * d['a']",
    "deque": "d = collections.deque(v, maxlen=3)\nd.append(v[0] ** 2)\nd.rotate(1)\nr = d[0] * d[1] + d.popleft()",
    "named tuple": "P = collections.namedtuple('P', 'a b')\nq = P(v[0], v[1])._replace(a=v[2])\nr = q.a * q.b ** 2",
    "shuffled": "rng = random.Random(2)\np = list(v)\nrng.shuffle(p)\nr = p[0] * p[1] ** 2",
    "drawn": "rng = np.random.default_rng(3)\nr = np.sum(rng.normal(v[0], scale=v[1], size=3) ** 2)",
}

PLACES = {
    "top": ("def f(v):\n", 1, "    return r\n"),
    "loop": (
        "def f(x):\n    total = 0.0\n    for turn in range(2):\n        v = x * (1.0 + 0.01 * turn)\n", 2,
        "        total = total + r * (1.0 + turn)\n    return total\n",
    ),
    "callee": ("def g(v):\n", 1, "    return r\n\n\ndef f(x):\n    return g(x) + 2.0 * g(1.01 * x)\n"),
    "method": (
        "class Model:\n    scale = 2.0\n\n    def g(self, v):\n", 2,
        "        return r * self.scale\n\n\ndef f(x):\n    return Model().g(x)\n",
    ),
}


def made(name, place):
    """The function of a body at a place, with source."""
    before, depth, after = PLACES[place]
    text = SETTING + "\n\n" + before + textwrap.indent(BODIES[name] + "\n", "    " * depth) + after
    file = f"<{name} {place}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"__name__": file}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def central(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)], float)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("name, place", list(itertools.product(BODIES, PLACES)))
def test_a_construct_in_both_modes_and_to_second_order(name, place, in_sample):
    f, x = made(name, place), np.array([0.41, 1.23, 0.92, 2.31])
    gradient = s2s.grad(f)(x)
    np.testing.assert_allclose(gradient, central(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (1.0 + x,))[1], gradient @ (1.0 + x), rtol=1e-9)
    # that of "shuffled" is refused: which list the inner call changes is known to that alone
    if name != "shuffled" and in_sample(1 / len(PLACES)):
        np.testing.assert_allclose(s2s.hessian(f)(x), central(s2s.grad(f), x), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_a_mask_leaves_out_has_a_slope_of_zero():
    def roots(x):
        return np.ma.masked_invalid(np.sqrt(x) * np.log(x)).sum() * x[0]

    x = np.array([0.4, -0.9, 1.7, -0.2])
    kept = x > 0.0
    value, slope = np.sqrt(x[kept]) * np.log(x[kept]), np.zeros(4)
    slope[kept] = x[0] * (0.5 * np.log(x[kept]) + 1.0) / np.sqrt(x[kept])
    slope[0] += np.sum(value)
    np.testing.assert_allclose(s2s.grad(roots)(x), slope)
    curvature = s2s.jvp(s2s.grad(roots), (x,), (np.array([0.0, 1.0, 1.0, 0.0]),))[1]
    wanted = x[0] * (-0.25 * np.log(x[2]) * x[2] ** -1.5)
    np.testing.assert_allclose(curvature[1:], [0.0, wanted, 0.0], atol=1e-12)


def test_a_class_that_type_makes_is_refused_by_what_it_is(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    f = made("class made of three", next(iter(PLACES)))
    with pytest.raises(DifferentiationError) as refused:
        s2s.grad(f)(np.array([0.41, 1.23, 0.92, 2.31]))
    assert not isinstance(refused.value, InternalError)


def in_a_temporary_file(x):
    with tempfile.NamedTemporaryFile() as file:
        m = np.memmap(file.name, float, "w+", shape=(3,))
        m[:] = x * x
        return float(np.sum(m * x)) + len(str())


def test_memory_of_a_temporary_file():
    x = np.array([0.7, 1.3, 0.4])
    np.testing.assert_allclose(s2s.grad(in_a_temporary_file)(x), 3.0 * x * x, rtol=1e-5)
