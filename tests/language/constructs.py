"""Small programs, one for each construct of the language and of its library that carries a derivative.

Each takes a float and gives one.
"""

import bisect
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import logging
import math
import operator
import statistics
import sys
import time
import types
import warnings
from collections import ChainMap, Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


def add_ops(cls):
    cls.__add__ = lambda self, o: cls(self.v + o.v)
    cls.__mul__ = lambda self, o: cls(self.v * o.v)
    return cls


@add_ops
class Num:
    def __init__(self, v):
        self.v = v


def ops_by_decorator(x):
    a, b = (Num(x), Num(x * x))
    return (a * b + a).v


@functools.total_ordering
class Ord:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return self.v == o.v

    def __lt__(self, o):
        return self.v < o.v


def total_ordering(x):
    a, b = (Ord(x), Ord(x * x))
    return a.v * 2.0 if a >= b else b.v * 3.0 + a.v


class Cached:
    def __init__(self, v):
        self.v = v
        self.calls = 0

    @functools.cached_property
    def sq(self):
        self.calls += 1
        return self.v * self.v


def cached_property(x):
    c = Cached(x)
    return c.sq + c.sq * c.v + c.calls


class Lazy:
    def __init__(self, v):
        self.v = v
        self._sq = None

    @property
    def sq(self):
        if self._sq is None:
            self._sq = self.v**2
        return self._sq


def caching_property(x):
    c = Lazy(x)
    return c.sq + c.sq * x


class LazyD:
    def __init__(self, v):
        self.v = v
        self._cache = {}

    @property
    def sq(self):
        if "sq" not in self._cache:
            self._cache["sq"] = self.v**2
        return self._cache["sq"]


def caching_property_dict(x):
    c = LazyD(x)
    return c.sq + c.sq * x


def gen_powers(x, n):
    y = x
    for _ in range(n):
        yield y
        y = y * x


def generator_sum(x):
    return sum(gen_powers(x, 4))


def generator_loop(x):
    t = 0.0
    for k, p in enumerate(gen_powers(x, 4)):
        t += p * (k + 1)
    return t


def generator_list(x):
    l = list(gen_powers(x, 4))
    return l[0] * l[3]


def generator_next(x):
    g = gen_powers(x, 4)
    a = next(g)
    b = next(g)
    return a * b


def gen_inf(x):
    y = x
    while True:
        yield y
        y = 0.5 * y * x


def generator_infinite_break(x):
    t = 0.0
    for v in gen_inf(x):
        t += v
        if v < 0.001:
            break
    return t


def generator_zip(x):
    t = 0.0
    for a, b in zip(gen_powers(x, 3), gen_inf(x)):
        t += a * b
    return t


def gen_from(x):
    yield from gen_powers(x, 2)
    yield from [x, 2.0 * x]
    yield (x**5)


def yield_from(x):
    return sum((v * v for v in gen_from(x)))


def unpack(p):
    for k in range(0, len(p), 2):
        yield (p[k], p[k + 1])


def gen_unpack(x):
    t = 0.0
    for a, b in unpack([x, x**2, 2.0, x]):
        t += a * b
    return t


def gen_parts(p):
    yield (p[0] * 2.0)
    yield (p[1] + 1.0)


def gen_unpack_tuple(x):
    a, b = gen_parts([x, x * x])
    return a * b


def genexpr(x):
    return sum((x**k for k in range(4))) * max((v for v in (x, 2.0 * x)))


@contextlib.contextmanager
def timed(log):
    t0 = time.perf_counter()
    try:
        yield
    finally:
        log.append(time.perf_counter() - t0)


def ctx_timer(x):
    log = []
    with timed(log):
        z = x**3
    return z * x


class Ctx:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v * 2.0

    def __exit__(self, *a):
        return False


def ctx_class(x):
    with Ctx(x) as y:
        z = y * x
    return z


def nonlocal_counter(x):
    n = 0

    def g(v):
        nonlocal n
        n += 1
        return v * v

    y = g(x) + g(2.0 * x)
    return y * n


def nonlocal_active(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * x

    for k in range(3):
        add(x + k)
    return total


def nonlocal_nested(x):
    t = x

    def outer():

        def inner(v):
            nonlocal t
            t = t * v

        inner(2.0)
        inner(x)

    outer()
    return t * x


def nonlocal_state_machine(x):
    state = {"n": 0}
    acc = x

    def step(v):
        nonlocal acc
        state["n"] += 1
        if v > 0.5:
            acc = acc + v * v
        else:
            acc = acc - v
        return acc

    return step(x) * step(x * 2.0) * state["n"]


class CountCalls:
    def __init__(self, fn):
        self.fn = fn
        self.n = 0

    def __call__(self, *a):
        self.n += 1
        return self.fn(*a)


@CountCalls
def csq3(v):
    return v * v


def counter_class_decorator(x):
    return csq3(x) + csq3(x * 3.0)


def lambdas_in_loop(x):
    fs = []
    for k in range(3):
        fs.append(lambda v, k=k: v ** (k + 1) * x)
    return sum((f(x) for f in fs))


def lambdas_late(x):
    fs = []
    for k in range(3):
        fs.append(lambda v: v * k * x)
    return sum((f(x) for f in fs))


def lambdas_comp(x):
    fs = [lambda v, a=a: a * v for a in (x, x**2, 3.0)]
    return fs[0](x) + fs[1](x) * fs[2](x)


def lambdas_dict(x):
    ops = {"sin": lambda v: math.sin(v), "sq": lambda v: v * v * x}
    t = 0.0
    for name in ("sin", "sq", "sin"):
        t += ops[name](x)
    return t


def lambda_reuse(x):
    f = lambda v, x=x: v * x
    x = 3.0
    return f(x) * x


def late_assigned(x):

    def g(v):
        return v * a

    a = x * x
    return g(x)


def late_assigned_loop(x):
    g = lambda v: v * a
    t = 0.0
    for k in range(3):
        a = x * (k + 1)
        t += g(x)
    return t


def late_passed(x):

    def g(v):
        return v * a

    a = x * x
    return functools.reduce(lambda s, v: s + g(v), [x, 2.0], 0.0)


def late_stored(x):
    a = 1.0
    fs = [lambda v: v * a]
    a = x * x
    return fs[0](x)


def late_mutual(x):

    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x)

    def odd(n, v):
        return v * 2.0 if n == 0 else even(n - 1, v + x)

    return even(5, x)


def fn_chosen(x):
    f = math.sin if x > 0.5 else math.cos
    return f(x) * x


def fn_chosen_own(x):

    def a(v):
        return v * v

    def b(v):
        return v * 3.0 * x

    f = a if x > 0.5 else b
    return f(x) * x


def fn_chosen_dict(x):
    k = "a" if x > 0.5 else "b"
    return {"a": math.sin, "b": math.cos}[k](x)


def fn_chosen_loop(x):
    f = math.sin
    t = x
    for k in range(4):
        t = f(t) + x
        f = math.cos if t > 1.0 else math.sin
    return t


def fn_chosen_list(x):
    fs = [math.sin, math.cos, math.exp]
    return fs[int(x * 2) % 3](x)


def w1(f):
    return lambda *a: f(*a)


def w2(f):

    def g(*a, **k):
        return 2.0 * f(*a, **k)

    return g


def fn_wrapped(x):
    f = w2(w1(w2(math.sin if x > 0.5 else math.cos)))
    return f(x)


def compose(*fs):

    def h(v):
        for f in fs:
            v = f(v)
        return v

    return h


def fn_compose(x):
    return compose(math.sin, lambda v: v * x, math.exp)(x)


class Obj:
    def __init__(self, a, b=2.0):
        self.a = a
        self.b = b


def dict_items_obj(x):
    o = Obj(x, x * x)
    t = 0.0
    for k, v in o.__dict__.items():
        t += v * len(k)
    return t * o.a


def setattr_loop(x):
    o = Obj(x)
    for k, name in enumerate(["p", "q", "r"]):
        setattr(o, name, x ** (k + 1))
    return o.p * o.q + getattr(o, "r")


def copy_obj(x):
    o = Obj(x)
    p = copy.copy(o)
    p.a = p.a * 2.0 * x
    q = copy.deepcopy(o)
    q.b = x
    return o.a * p.a * q.b * q.a


@dataclass
class DC:
    a: float
    b: float = 1.0
    l: list = field(default_factory=list)


@dataclass(frozen=True)
class FDC:
    a: float
    b: float = 1.0


def dc_replace(x):
    d = dataclasses.replace(DC(x), b=x * x)
    e = dataclasses.replace(FDC(x, x), a=x**3)
    return d.a * d.b + e.a * e.b


def dc_replace_loop(x):
    d = FDC(x, 1.0)
    for k in range(4):
        d = dataclasses.replace(d, b=d.b * d.a, a=d.a + 0.1)
    return d.b


def dc_fields(x):
    d = FDC(x, x * x)
    return sum((getattr(d, f.name) * 2.0 for f in dataclasses.fields(d)))


class NT(NamedTuple):
    a: float
    b: float = 1.0


def nt_replace(x):
    n = NT(x)._replace(b=x * x)
    return n.a * n.b + sum(n)


def nt_loop(x):
    n = NT(x, 1.0)
    for _ in range(5):
        n = n._replace(b=n.b * x)
    return n.b


class Deleg:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)


def getattr_delegation(x):
    d = Deleg(Obj(x, x * x))
    return d.a * d.b


def ns(x):
    n = types.SimpleNamespace(a=x, b=2.0)
    n.c = n.a**2
    return n.c * n.a * n.b


class SlotV:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return SlotV(self.x + o.x, self.y + o.y)

    def __iter__(self):
        yield self.x
        yield self.y

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __len__(self):
        return 2


def iter_gen_method(x):
    v = SlotV(x, x * x)
    a, b = v
    return a * b + sum(v + v) + v[1]


class Node:
    def __init__(self, v, children=()):
        self.v = v
        self.children = list(children)

    def walk(self):
        yield self
        for c in self.children:
            yield from c.walk()


def tree_walk(x):
    t = Node(x, [Node(x * 2.0, [Node(x**2)]), Node(3.0)])
    return sum((n.v * n.v for n in t.walk()))


class Chain2:
    def __init__(self):
        self.parts = []

    def add(self, v):
        self.parts.append(v)
        return self

    def run(self, x):
        for p in self.parts:
            x = x * p
        return x


def builder_pattern(x):
    return Chain2().add(x).add(2.0).add(x * x).run(x)


def sorted_plain(x):
    return sorted([x, 0.3, x * x])[1] * x


def sorted_key(x):
    l = sorted([(x, 1.0), (0.5, x), (x * x, 3.0)], key=lambda p: p[0])
    return l[0][1] * l[1][0] + l[2][0]


def sorted_key_rev(x):
    l = sorted([x, -2.0 * x, 0.3], key=abs, reverse=True)
    return l[0] * l[1] + l[2]


def list_sort_key(x):
    l = [x, -2.0 * x, 0.3]
    l.sort(key=lambda v: v * v)
    return l[0] * 3.0 + l[1] * l[2]


def list_sort(x):
    l = [x, -2.0 * x, 0.3]
    l.sort()
    l.sort(reverse=True)
    return l[0] * 3.0 + l[1] * l[2]


def max_key(x):
    a = max([x, -2.0 * x, 0.3], key=abs)
    b = min((x, 1.0), (x * x, 2.0), key=lambda p: p[0])
    return a * a + b[0] * b[1]


def max_key_objs(x):
    o = max([Obj(x), Obj(2.0 * x), Obj(0.1)], key=lambda o: o.a)
    return o.a * o.b


def sorted_objs(x):
    l = sorted([Obj(x), Obj(2.0 * x, x), Obj(0.1)], key=operator.attrgetter("a"))
    return l[0].a + l[2].a * l[2].b * 2.0


def max_dict(x):
    d = {"a": x, "b": 2.0 * x, "c": 0.1}
    k = max(d, key=d.get)
    return d[k] * d["a"]


def list_index(x):
    l = [x, 2.0 * x, 0.3]
    i = l.index(max(l))
    return l[i] * x


def list_index_const(x):
    names = ["a", "b", "c"]
    v = [x, x * x, 3.0]
    return v[names.index("b")] * x


def it_chain(x):
    t = 0.0
    for v in itertools.chain([x, x * x], (2.0, x)):
        t += v * v
    return t + sum(itertools.chain.from_iterable([[x], [x, 2.0]]))


def it_accumulate(x):
    a = list(itertools.accumulate([x, 2.0, x]))
    b = list(itertools.accumulate([x, 2.0, x], operator.mul))
    c = list(itertools.accumulate([x, 2.0, x], lambda s, v: s * x + v, initial=1.0))
    return a[-1] * b[2] + c[-1]


def it_combinations(x):
    t = 0.0
    for a, b in itertools.combinations([x, x * x, 2.0], 2):
        t += a * b
    for a, b in itertools.permutations([x, 3.0, 2.0], 2):
        t += a * b * b
    for a, b in itertools.combinations_with_replacement([x, 3.0], 2):
        t += a * b * b
    return t


def it_product(x):
    t = 0.0
    for a, b in itertools.product([x, x * x], [1.0, x]):
        t += a * b
    for i, j in itertools.product(range(2), repeat=2):
        t += x ** (i + j)
    return t


def it_groupby(x):
    t = 0.0
    for k, g in itertools.groupby([(1, x), (1, x * x), (2, 3.0 * x)], key=lambda p: p[0]):
        t += k * sum((v for _, v in g)) ** 2
    return t


def it_islice(x):
    return sum(itertools.islice([x, x * x, 2.0 * x, 4.0], 1, 3)) + sum(itertools.islice(itertools.count(1), 3)) * x


def it_ziplongest(x):
    t = 0.0
    for a, b in itertools.zip_longest([x, x * x, 2.0], [x], fillvalue=1.0):
        t += a * b
    return t


def it_cycle(x):
    t = 0.0
    for k, w in enumerate(itertools.cycle([x, 2.0])):
        t += w * (k + x)
        if k == 4:
            break
    return t


def it_count(x):
    t = 0.0
    for k in itertools.count():
        t += x**k
        if k > 3:
            break
    return t


def it_misc(x):
    a = sum(itertools.starmap(operator.mul, [(x, 2.0), (x, x)]))
    b = sum(itertools.repeat(x, 3))
    c = sum(itertools.takewhile(lambda v: v < 5.0, [x, 2.0 * x, 10.0, x]))
    d = sum(itertools.dropwhile(lambda v: v < 1.0, [0.1, 2.0 * x, x]))
    e = sum(itertools.compress([x, 2.0, x * x], [1, 0, 1]))
    f = sum(itertools.filterfalse(lambda v: v > 3.0, [x, 4.0]))
    p = sum((a * b for a, b in itertools.pairwise([x, 2.0, x * x])))
    return a * b + c * d + e * f + p


def it_tee(x):
    a, b = itertools.tee([x, x * x, 2.0])
    next(b)
    return sum((u * v for u, v in zip(a, b)))


def reduce_(x):
    return functools.reduce(operator.mul, [x, 2.0, x]) + functools.reduce(lambda s, v: s * v + x, [x, x * x], 1.0)


def zip_star(x):
    a, b = zip(*[(x, 1.0), (x * x, 2.0), (3.0, x)])
    return sum(a) * sum(b)


def dict_zip(x):
    d = dict(zip(["a", "b"], [x, x * x]))
    e = dict(zip("cd", (2.0 * x, 3.0)))
    return d["a"] * d["b"] + e["c"]


def dict_comp(x):
    d = {"a": x, "b": x * x, "c": 2.0}
    e = {k: v * v for k, v in d.items() if k != "c"}
    return sum(e.values()) * len(e)


def set_comp(x):
    s = {k % 2 for k in range(5)}
    return sum((x * (k + 1) for k in sorted(s)))


def defaultdict_(x):
    d = defaultdict(list)
    for k, v in [("a", x), ("b", x * x), ("a", 2.0 * x)]:
        d[k].append(v)
    e = defaultdict(float)
    for k, v in [("a", x), ("b", x * x), ("a", 2.0 * x)]:
        e[k] += v * v
    return sum(d["a"]) * d["b"][0] + e["a"] * e["z"] + e["b"]


def counter_(x):
    c = Counter("hello")
    return sum((n * x for n in c.values())) + c["l"] * x + c.most_common(1)[0][1] * x**2


def chain_map(x):
    c = ChainMap({"a": x}, {"a": 2.0, "b": x * x})
    return c["a"] * c["b"] + c.get("z", x)


def deque_(x):
    d = deque([x, 2.0 * x], maxlen=3)
    d.append(x * x)
    d.append(3.0)
    d.appendleft(x)
    d.rotate(1)
    return d[0] * d[1] + d.popleft() * d.pop() + sum(d)


def deque_loop(x):
    d = deque([0.0, x])
    t = 0.0
    for _ in range(10):
        a = d.popleft()
        d.append(0.5 * a + d[-1] * x)
        t += a
    return t


def heapq_(x):
    h = [x, 0.2, 3.0 * x]
    heapq.heapify(h)
    heapq.heappush(h, x * 2.0)
    return heapq.heappop(h) + heapq.heappop(h) * 3.0 * x


def heapq_n(x):
    return sum(heapq.nlargest(2, [x, 3.0, x * x])) * heapq.nsmallest(1, [x, 0.1 * x])[0]


def heapq_pairs(x):
    h = []
    for k, v in enumerate([3.0 * x, x, 2.0 * x]):
        heapq.heappush(h, (v, k))
    t = 0.0
    while h:
        v, k = heapq.heappop(h)
        t += v * (k + 1)
    return t * x


def bisect_(x):
    grid = [0.0, 0.5, 1.0, 2.0]
    vals = [1.0, x, 3.0 * x, 4.0]
    k = bisect.bisect_right(grid, x) - 1
    w = (x - grid[k]) / (grid[k + 1] - grid[k])
    return vals[k] * (1 - w) + vals[k + 1] * w


def bisect_insort(x):
    l = [0.1, x, 5.0]
    bisect.insort(l, 2.0 * x)
    return l[1] * l[2]


def op_getters(x):
    return operator.itemgetter(1)([x, x * x]) * operator.attrgetter("a")(Obj(x)) + operator.methodcaller("__len__")(
        [1]
    ) * sum(operator.itemgetter(0, 2)([x, 2.0, x]))


def statistics_(x):
    v = [x, 2.0 * x, 3.0, x * x]
    return statistics.mean(v) + statistics.fmean(v) * statistics.pstdev(v)


def statistics2(x):
    v = [x, 2.0 * x, 3.0, x * x]
    return statistics.stdev(v) + statistics.median(v) * statistics.variance(v) + statistics.pvariance(v)


def statistics3(x):
    v = [x, 2.0 * x, 3.0, x * x]
    return statistics.harmonic_mean(v) + statistics.geometric_mean(v) + statistics.median_low(v)


def h3(*a):
    t = 1.0
    for v in a:
        t = t * v + 1.0
    return t


def star_array(x):
    return h3(*np.array([x, 2.0, x * x]))


def rosen2(a, b):
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2


def star_array_fixed(x):
    return rosen2(*np.array([x, x * 2.0]))


def star_display(x):
    a = [x, 2.0]
    b = (x * x, x)
    c = [*a, *b, 1.0]
    d = (*b, *a)
    e = {**{"a": x}, "b": 2.0}
    return c[2] * c[0] + sum(d) * e["a"]


def star_display_gen(x):
    c = [*gen_powers(x, 3), *(v * 2.0 for v in (x, 1.0))]
    return sum(c) * c[1]


def enum_zip(x):
    t = 0.0
    for k, (a, b) in enumerate(zip([x, x * x], np.array([2.0 * x, 3.0])), start=1):
        t += k * a * b
    return t


def iter_sentinel_pop(x):
    l = [None, x, 2.0 * x]
    return sum((v * x for v in iter(l.pop, None)))


def fsum(x):
    return math.fsum([x, x * x, 2.0]) * math.fsum((v * x for v in (1.0, 2.0))) + math.prod([x, 2.0, x])


def sum_start(x):
    return sum([x, 2.0], x * x) + sum([[x], [2.0 * x]], [])[1] + sum([(x,), (1.0,)], ())[0] + sum([x, x], start=3.0)


def sum_arrays(x):
    return float(np.sum(sum([np.array([x, 1.0]), np.array([x * x, x])], np.zeros(2)) ** 2))


log = logging.getLogger("h3")


COUNT = {"n": 0}


TRACE = []


N = 0


def effects_print(x):
    y = x * x
    print("y", y, f"{y:.3f}", file=sys.stderr, end="")
    log.debug("value %s", y)
    log.info(f"{y}")
    return y * x


def effects_warn(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"x is {x}", stacklevel=2)
    return x**2


def effects_global_list(x):
    TRACE.append(x * x)
    TRACE.append((x, "a"))
    COUNT["n"] += 1
    return x**3


def effects_global_count(x):
    global N
    N += 1
    return x**3


def effects_timer(x):
    t0 = time.time()
    y = x**3
    dt = time.perf_counter() - t0
    TRACE.append(dt)
    if dt < -1e30:
        print("slow")
    return y


class Model:
    def __init__(self):
        self.history = []
        self.calls = 0
        self.best = None
        self.hooks = []

    def loss(self, x):
        self.calls += 1
        y = x**3
        self.history.append(y)
        if self.best is None or y < self.best:
            self.best = y
        for h in self.hooks:
            h(y)
        return y * 2.0


MODEL = Model()


def effects_attr(x):
    return MODEL.loss(x)


SEEN = []


MODEL2 = Model()


MODEL2.hooks.append(lambda v: SEEN.append(float(v)))


def effects_hook(x):
    return MODEL2.loss(x)


def effects_assert(x):
    assert x > 0, f"x must be positive: {x}"
    assert isinstance(x, float) and math.isfinite(x), "finite"
    return math.log(x)


def effects_progress(x):
    t = 0.0
    for k in range(5):
        t += x**k
        sys.stderr.write(f"\r{k} {t:.2f}")
        sys.stderr.flush()
    return t


def effects_local_log(x):
    hist = []
    y = x
    for k in range(5):
        y = y * x + 0.1
        hist.append({"k": k, "y": y})
    return hist[-1]["y"] + hist[2]["y"]


def dict_setdefault(x):
    d = {}
    for k, v in [("a", x), ("b", 2.0), ("a", x * x)]:
        d.setdefault(k, []).append(v)
    return sum(d["a"]) * d["b"][0] + d.get("q", x)


def memo_dict(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = x if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)
        memo[n] = r
        return r

    return fib(6)


def list_methods(x):
    l = [x, 2.0]
    l.extend([x * x, 3.0])
    l.insert(1, x**3)
    l.reverse()
    v = l.pop(0)
    del l[0]
    l += [x]
    l[1:2] = [x, x]
    return v * l[0] + sum(l) + l.count(2.0) + len(l)


def tuple_ops(x):
    t = (x, 2.0) + (x * x,)
    a, *b = t * 2
    return a * b[1] * len(t) + t.count(2.0) + t.index(2.0)


def any_all(x):
    l = [x, x * x, 0.1]
    if any((v > 1.0 for v in l)) and all((v > 0 for v in l)):
        return sum(l) * x
    return x


def try_else(x):
    try:
        y = {"a": x}["b"]
    except KeyError:
        y = x * x
    return y * x


def string_dispatch(x):
    t = x
    for op, v in [("mul", 2.0), ("add", x), ("pow", 2)]:
        t = getattr(operator, op)(t, v)
    return t


def exc_flow(x):
    try:
        if x < 2.0:
            raise ValueError(x * x)
        y = x
    except ValueError as e:
        y = 3.0 * x
    return y * x


class Hooks:
    def __init__(self):
        self.hooks = []

    def add(self, f):
        self.hooks.append(f)


def late_kept_by_a_method(x):
    h = Hooks()
    a = x
    h.add(lambda v: v * a)
    a = 2.0 * x
    return h.hooks[0](x)


def sorted_is_stable(x):
    l = sorted([(1, x), (1, 2.0 * x), (0, 3.0)], key=lambda p: p[0], reverse=True)
    return l[0][1] ** 2 + l[1][1] * l[2][1]


def picked_object(x):
    os = [Obj(x), Obj(2.0 * x), Obj(0.3, x)]
    k = int(3.0 * x)
    return os[k].a * os[k - 1].b * x


PROGRAMS = [
    ops_by_decorator,
    total_ordering,
    cached_property,
    caching_property,
    caching_property_dict,
    generator_sum,
    generator_loop,
    generator_list,
    generator_next,
    generator_infinite_break,
    generator_zip,
    yield_from,
    gen_unpack,
    gen_unpack_tuple,
    genexpr,
    ctx_timer,
    ctx_class,
    nonlocal_counter,
    nonlocal_active,
    nonlocal_nested,
    nonlocal_state_machine,
    counter_class_decorator,
    lambdas_in_loop,
    lambdas_late,
    lambdas_comp,
    lambdas_dict,
    lambda_reuse,
    late_assigned,
    late_assigned_loop,
    late_passed,
    late_stored,
    late_mutual,
    fn_chosen,
    fn_chosen_own,
    fn_chosen_dict,
    fn_chosen_loop,
    fn_chosen_list,
    fn_wrapped,
    fn_compose,
    dict_items_obj,
    setattr_loop,
    copy_obj,
    dc_replace,
    dc_replace_loop,
    dc_fields,
    nt_replace,
    nt_loop,
    getattr_delegation,
    ns,
    iter_gen_method,
    tree_walk,
    builder_pattern,
    sorted_plain,
    sorted_key,
    sorted_key_rev,
    list_sort_key,
    list_sort,
    max_key,
    max_key_objs,
    sorted_objs,
    max_dict,
    list_index,
    list_index_const,
    it_chain,
    it_accumulate,
    it_combinations,
    it_product,
    it_groupby,
    it_islice,
    it_ziplongest,
    it_cycle,
    it_count,
    it_misc,
    it_tee,
    reduce_,
    zip_star,
    dict_zip,
    dict_comp,
    set_comp,
    defaultdict_,
    counter_,
    chain_map,
    deque_,
    deque_loop,
    heapq_,
    heapq_n,
    heapq_pairs,
    bisect_,
    bisect_insort,
    op_getters,
    statistics_,
    statistics2,
    statistics3,
    star_array,
    star_array_fixed,
    star_display,
    star_display_gen,
    enum_zip,
    iter_sentinel_pop,
    fsum,
    sum_start,
    sum_arrays,
    effects_print,
    effects_warn,
    effects_global_list,
    effects_global_count,
    effects_timer,
    effects_attr,
    effects_hook,
    effects_assert,
    effects_progress,
    effects_local_log,
    dict_setdefault,
    memo_dict,
    list_methods,
    tuple_ops,
    any_all,
    try_else,
    string_dispatch,
    exc_flow,
    late_kept_by_a_method,
    sorted_is_stable,
    picked_object,
]
