"""The language's own library: sorting, iteration, containers, starred calls, statistics and random draws."""

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
from typing import NamedTuple

import numpy as np

from tests.language.rows import Group

order = Group("Order and search")
iteration = Group("Iteration")
containers = Group("Containers")
calls = Group("Starred calls and displays")
numbers = Group("Sums, statistics and random draws")


class Pair(NamedTuple):
    u: float
    v: float


@order("`sorted`, with `key=` and `reverse=`")
def sorting(x):
    p = sorted(list(x), key=lambda a: a * (2.0 - a), reverse=True)
    return p[0] * p[1] ** 2 + sorted(x)[1] * sorted(x, reverse=True)[1]


@order("`list.sort`")
def list_sort(x):
    pairs, numbers = [(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)], list(x)
    pairs.sort(key=lambda pair: pair[0] * pair[1])
    numbers.sort(reverse=True)
    return pairs[0][0] * pairs[2][0] ** 2 + numbers[0] * numbers[1] ** 3


@order("`sorted` is stable, and sorts tuples")
def stable(x):
    p = sorted([(1, x[0]), (1, x[1]), (0, x[2])], key=lambda pair: pair[0], reverse=True)
    q = sorted([(x[1], x[0]), (x[2], x[3])])
    return p[0][1] ** 2 + p[1][1] * p[2][1] + q[0][0] * q[0][1]


@order("`max` and `min` with `key=`")
def extremes(x):
    low = min((x[0], 1.0), (x[1], x[2]), key=lambda pair: pair[0])
    return max(list(x), key=lambda a: a * (2.0 - a)) ** 2 + min([x[0], x[1] - 3.0], key=abs) * low[0] * low[1]


@order("`max` with `default=`")
def extreme_with_default(x):
    return max([t for t in x if t > 100.0], default=x[0]) ** 2


@order("the key of the largest item of a dict")
def largest_key(x):
    named = {"a": x[0], "b": x[1] ** 2, "c": x[2]}
    return named[max(named, key=named.get)] ** 2


@order("`list.index` and `list.count`")
def index(x):
    p = list(x)
    return p[p.index(max(p))] ** 2 + p.index(x[1]) * x[0] + [x[0], 2.0].count(2.0) * x[3]


@order("`heapq.heapify`, `heappush`, `heappop`, `heapreplace`")
def heaps(x):
    heap = list(x)
    heapq.heapify(heap)
    low = heapq.heappop(heap)
    heapq.heappush(heap, low * x[1])
    return low * heapq.heapreplace(heap, x[3] ** 2) + heap[0] ** 2


@order("a heap of tuples in a loop")
def heaps_of_tuples(x):
    heap, total = [], 0.0
    for k in range(4):
        heapq.heappush(heap, (x[k], k))
    while heap:
        value, k = heapq.heappop(heap)
        total += value**2 * (k + 1)
    return total


@order("`heapq.nlargest` and `nsmallest`")
def largest(x):
    p = heapq.nlargest(2, x)
    return p[0] * p[1] ** 2 + heapq.nsmallest(1, x)[0]


@order("`heapq.merge`", recorded=True)
def merged(x):
    return sum(a**2 * k for k, a in enumerate(heapq.merge([x[0], x[1]], [x[2], x[3]])))


@order("`bisect`")
def bisected(x):
    grid = [0.0, 1.0, 2.0, 3.0]
    k = bisect.bisect(grid, x[1])
    return (x[1] - grid[k - 1]) ** 2 + bisect.bisect_left(list(np.sort(x)), 1.0) * x[0]


@order("`bisect.insort`")
def inserted(x):
    grid = [0.0, 1.0, 2.0]
    bisect.insort(grid, x[1])
    return grid[2] ** 2 + len(grid) * x[0]


@order("`operator.itemgetter` and `attrgetter`")
def getters(x):
    p = sorted([(1, x[1]), (0, x[0])], key=operator.itemgetter(0))
    a, b = operator.itemgetter(0, 2)(x)
    return p[0][1] * a * b**2 + operator.attrgetter("u")(Pair(x[3], x[1])) ** 2


@order("`operator.itemgetter` of a dict, and as a `key=`")
def getters_of_a_dict(x):
    named = {"a": x[0], "b": x[1] ** 2}
    a, b = operator.itemgetter("a", "b")(named)
    return a * b * named[max([("a", x[0]), ("b", x[1])], key=operator.itemgetter(1))[0]]


@order("`operator.methodcaller`", recorded=True)
def methodcaller(x):
    return operator.methodcaller("sum")(x**2) + operator.methodcaller("dot", x)(x)


@order("functions of `operator`")
def operators(x):
    total = x[0]
    for name, value in [("mul", x[1]), ("add", x[2]), ("pow", 2)]:
        total = getattr(operator, name)(total, value)
    return operator.truediv(total, x[3]) + operator.neg(x[0]) ** 2


@order("`operator.setitem` and in-place ones", recorded=True)
def operator_stores(x):
    p = [0.0, 0.0]
    operator.setitem(p, 1, x[0])
    return operator.getitem(p, 1) ** 2 * operator.iadd(x[1], 2.0)


@iteration("`itertools.chain`, `chain.from_iterable`")
def chains(x):
    total = sum(a * a for a in itertools.chain(x, [x[0]], x[1:]))
    return total + sum(a**3 for a in itertools.chain.from_iterable([x, x[1:]]))


@iteration("`accumulate`, with a function, with `initial=`")
def accumulated(x):
    total = sum(a * a for a in itertools.accumulate(x))
    total += sum(itertools.accumulate(x, lambda a, b: a * b + b))
    return total + sum(itertools.accumulate(x, operator.mul, initial=x[0]))


@iteration("`combinations`, `permutations`, with replacement")
def combinations(x):
    total = sum(a * b**2 for a, b in itertools.combinations(x, 2))
    total += sum(a * b**2 for a, b in itertools.permutations(x, 2))
    return total + sum(a * b**2 for a, b in itertools.combinations_with_replacement(x, 2))


@iteration("`product`, with `repeat=`")
def products(x):
    total = sum(a * b**2 for a, b in itertools.product(x, x[:2]))
    return total + sum(a * b**2 * c for a, b, c in itertools.product([x[0], x[1]], repeat=3))


@iteration("`groupby` with keys that are known")
def groups_by_data(x):
    total = 0.0
    for _, group in itertools.groupby([("a", x[0]), ("a", x[1]), ("b", x[2])], operator.itemgetter(0)):
        product = 1.0
        for _, value in group:
            product = product * value
        total += product**2
    return total


@iteration("`groupby` with keys that are computed", recorded=True)
def groups(x):
    total = 0.0
    for _, group in itertools.groupby(list(x), key=lambda a: a > 1.0):
        items = list(group)
        total += sum(items) ** 2 * len(items)
    return total


@iteration("`islice`")
def sliced(x):
    return (
        sum(a**2 for a in itertools.islice(x, 1, None, 2))
        + sum(itertools.islice(itertools.count(1), 3)) * x[0]
    )


@iteration("`zip_longest`")
def zipped_longest(x):
    return sum(a * b for a, b in itertools.zip_longest(x, x[1:], fillvalue=x[0]))


@iteration("`cycle` with a `break`")
def cycled(x):
    total = 0.0
    for k, a in enumerate(itertools.cycle(list(x))):
        total += a**2 * k
        if k > 5:
            break
    return total


@iteration("`count`, `repeat`, `starmap`, `pairwise`, `compress`")
def counted(x):
    total = sum(a**2 * k for a, k in zip(x, itertools.count(1)))
    total += sum(a * b for a, b in zip(x, itertools.repeat(x[0])))
    total += sum(itertools.starmap(lambda a, b: a * b, zip(x, x[1:])))
    total += sum(a * b**2 for a, b in itertools.pairwise(x))
    return total + sum(a**2 for a in itertools.compress(x, [1, 0, 1, 1]))


@iteration("`takewhile`, `dropwhile`, `filterfalse`, `filter`")
def filtered(x):
    total = sum(a**2 for a in itertools.takewhile(lambda a: a < 2.0, list(x)))
    total += sum(a**3 for a in itertools.dropwhile(lambda a: a < 1.0, list(x)))
    return total + sum(a**2 for a in itertools.filterfalse(lambda a: a < 1.0, x)) * sum(
        filter(lambda a: a < 1.0, x)
    )


@iteration("`tee`", recorded=True)
def teed(x):
    left, right = itertools.tee(iter(list(x)))
    next(right)
    low, high = itertools.tee(x)
    next(high)
    return sum(a * b for a, b in zip(left, right)) + sum((b - a) ** 3 for a, b in zip(low, high))


@iteration("`functools.reduce`")
def reduced(x):
    total = functools.reduce(lambda a, b: a * b + a, x) + functools.reduce(operator.mul, x, 1.0)
    return total + functools.reduce(lambda a, b: a * b + b, [x[0], x[1]], x[2])


@iteration("`zip(*pairs)`")
def unzipped(x):
    p, q = zip(*[(x[0], x[1] ** 2), (x[2], x[3])])
    return sum(a * b for a, b in zip(p, q))


@iteration("`zip(*sorted(...))`", recorded=True)
def unzipped_in_order(x):
    p, q = zip(*sorted(zip(x, x**2)))
    return p[0] * q[1]


@iteration("`enumerate(zip(...))`")
def enumerated(x):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, x[1:]), 1):
        total += k * a * b**2
    return total


@iteration("`iter(function, sentinel)`")
def until(x):
    p = [None, x[0], x[1], x[2]]
    return sum(t**2 for t in iter(p.pop, None))


@iteration("`map`, `any`, `all`")
def mapped(x):
    total = list(map(math.sin, x))[0] * sum(map(lambda a, b: a * b, x, x[1:]))
    return total if any(t > 1.0 for t in x) and all(t > 0.0 for t in x) else x[0]


class Vector(list):
    def squared(self):
        return sum(a * a for a in self)


class Table(dict):
    def total(self):
        return sum(self.values())


@containers("dict comprehensions, over dicts too")
def dict_comprehensions(x):
    named = {"a": x[0], "b": x[1]}
    squares = {k: t**2 for k, t in named.items() if k != "c"}
    return squares["a"] * squares["b"] + sum({k: t for k, t in enumerate(x)}.values())


@containers("a dict comprehension whose items a test of numbers selects", recorded=True)
def dict_comprehension_with_a_test(x):
    named = {"a": x[0], "b": x[1]}
    return sum(t**2 for t in {k.upper(): t for k, t in named.items() if t > 0}.values())


@containers("set comprehensions of keys")
def set_of_keys(x):
    named = {"a": x[0], "b": x[1]}
    return sum(named[k] ** 2 for k in {k for k in named}) * len({k % 2 for k in range(5)})


@containers("sets of differentiated numbers", recorded=True)
def set_of_numbers(x):
    return sum({t**2 for t in x})


@containers("`dict(zip(...))` of lists of known length")
def dict_of_zip(x):
    named = dict(zip(["a", "b"], [x[0], x[1] ** 2]))
    return named["a"] * named["b"] + sum(named.values())


@containers("`dict(zip(...))` of an array")
def dict_of_an_array(x):
    named = dict(zip("abcd", x))
    return named["a"] * named["b"] ** 2 + sum(named.values())


@containers("`defaultdict` with keys that are known")
def default_of_known_keys(x):
    held, sums = collections.defaultdict(list), collections.defaultdict(float)
    for k, t in [("a", x[0]), ("b", x[1]), ("a", x[2])]:
        held[k].append(t)
        sums[k] += t**2
    return sum(held["a"]) * held["b"][0] + sums["a"] * sums["b"]


@containers("`defaultdict` with keys that are computed", recorded=True)
def default_of_computed_keys(x):
    held, sums = collections.defaultdict(list), collections.defaultdict(float)
    for k, t in enumerate(x):
        held[k % 2].append(t)
        sums[k % 2] += t**2
    return sum(held[0]) * sum(held[1]) ** 2 + sums[0] * sums[1]


@containers("`Counter`, which is passive")
def counters(x):
    letters, numbers = collections.Counter("abca"), collections.Counter([1, 2, 1])
    k, n = numbers.most_common(1)[0]
    return (
        x[0] ** 2 * letters["a"] + x[1] * letters["z"] + sum(m * x[1] for m in letters.values()) + x[k] ** n
    )


@containers("`OrderedDict`, `move_to_end`, `popitem`")
def ordered(x):
    named = collections.OrderedDict(a=x[0])
    named["b"] = x[1] ** 2
    named.move_to_end("a")
    return list(named.values())[0] * named["a"] + named.popitem(last=False)[1]


@containers("`ChainMap`")
def chain_maps(x):
    named = collections.ChainMap({"a": x[0]}, {"a": x[1], "b": x[2] ** 2})
    return named["a"] * named["b"] + named.get("z", x[3])


@containers("`deque` of known length")
def deques(x):
    d = collections.deque([x[0], x[1]], maxlen=3)
    d.extend([x[0] ** 2, x[3]])
    d.rotate(1)
    return d[0] * d[1] + d.popleft() * d.pop()


@containers("`deque` of an array")
def deque_of_an_array(x):
    d = collections.deque(x, maxlen=3)
    d.append(x[0] ** 2)
    d.rotate(1)
    return d[0] * d[1] + d.popleft()


@containers("a local `namedtuple`", recorded=True)
def local_namedtuple(x):
    pair = collections.namedtuple("pair", "a b")
    p = pair(x[0], x[1])
    return p._replace(a=x[2]).a * p.b**2 + sum(p._asdict().values())


@containers("subclasses of list and dict", recorded=True)
def subclasses(x):
    vector, table = Vector(x), Table(a=x[0], b=x[1] ** 2)
    vector.append(x[0] ** 2)
    table["c"] = x[2]
    return vector.squared() * len(vector) + table.total() ** 2


@containers("`UserDict` and `UserList`", recorded=True)
def user_containers(x):
    named, items = collections.UserDict({"a": x[0]}), collections.UserList([x[2]])
    named["b"] = x[1]
    items.append(x[3])
    return named["a"] * named["b"] ** 2 + items[0] * items[1]


@containers("`setdefault`, `get`, `pop`, `update`, `|` of dicts")
def dict_methods(x):
    named = {}
    for k, t in [("a", x[0]), ("b", 2.0), ("a", x[1] ** 2)]:
        named.setdefault(k, []).append(t)
    other = {"p": x[2]} | {"q": x[3]}
    other.update(p=other["p"] * x[0])
    return sum(named.pop("a")) * named["b"][0] + named.get("c", x[3]) * other["p"]


@containers("a dict built anew with `**` in a loop")
def dict_built_anew(x):
    named = {"a": x[0], "b": x[2]}
    for _ in range(3):
        named = {**named, "b": named["a"] * x[1]}
    return named["a"] ** 2 * named["b"]


@containers("methods and slices of lists, `*=` and `+`")
def list_methods(x):
    p = [x[0], 2.0]
    p.extend([x[1] * x[2], 3.0])
    p.insert(1, x[3] ** 3)
    p.reverse()
    last = p.pop(0)
    p[1:2] = [x[1], x[2]]
    p *= 2
    return last * p[0] + sum(p + [x[0]]) * p[-1]


def joined(a, b, *c, k=1.0):
    return a * b + sum(c) ** 2 * k


def power(a, b, c):
    return a * b**c


def forwarded(function):
    @functools.wraps(function)
    def inner(*args, **options):
        return function(*args, **options)

    return inner


@forwarded
def scaled(a, b, k=1.0):
    return a * b * k**2


def decay(t, y, rate, *shifts):
    return -rate * y * t + sum(shifts)


@calls("`h(*x)` of an array")
def spread_array(x):
    return joined(*x) + math.hypot(*x)


@calls("`h(*items)` of a list of unknown length", recorded=True)
def spread_list(x):
    return joined(*[t**2 for t in x], k=x[0])


@calls("`[*a, *b]`, `(*a, 1)` of lists of known length")
def starred_displays(x):
    a, b = [x[0], 2.0], (x[1] ** 2, x[2])
    c = [*a, *b, 1.0]
    return c[2] * c[0] + sum((*b, *a)) * {**{"a": x[3]}, "b": 2.0}["a"]


@calls("`[*x, *a]` of an array")
def starred_display_of_an_array(x):
    p = [*x, *[x[0], 2.0]]
    return sum(t**2 for t in p) + len((*p, 1))


@calls("`f(**options)`")
def keywords(x):
    named = {"a": x[0], **{"b": x[1]}}
    return power(**named, c=x[2])


@calls("`tuple(...)`, `list(...)` of anything")
def made_of_anything(x):
    total = tuple(x)[1] ** 2 + tuple(t**2 for t in x)[2] * list({"a": x[0]}.values())[0]
    return total + list(range(3))[2] * x[3] + tuple(zip(x, x[1:]))[0][1]


@calls("starred calls through wrappers")
def through_wrappers(x):
    return scaled(x[0], x[1], k=x[2]) + functools.partial(scaled, x[3])(x[0])


@calls("`rhs(t, y, *p)` with `p` a tuple of parameters")
def right_sides(x):
    p, y = (x[0], x[1], x[2]), x[3]
    for k in range(3):
        y = y + 0.1 * decay(0.1 * k, y, *p)
    return y**2


class Oscillator:
    def __init__(self, rate, damping, size, shift):
        self.rate, self.damping = np.exp(rate), damping
        self.size, self.shift = size, shift

    def at(self, t):
        return self.size * np.exp(-self.damping * t) * np.cos(self.rate * t) + self.shift


@calls("`Model(*x)` of a class and `inner(*x)` of a function within, with `x` an array of parameters")
def made_of_arrays(x):
    def inner(a, b, c, d):
        return a * b + c * d**2

    return Oscillator(*x).at(0.7) ** 2 * inner(*x)


@calls("`logp[range(n), y]`")
def rows_by_range(x):
    logp = np.outer(x, x) - np.log(np.sum(np.exp(x)))
    return -np.sum(logp[range(4), [1, 0, 3, 2]] ** 2)


@numbers("`math.fsum` and `math.prod`")
def exact_sums(x):
    return (
        math.fsum(x) ** 2
        + math.fsum([t * t for t in x])
        + math.prod(x)
        + math.prod([t**2 for t in x], start=x[0])
    )


@numbers("`math.dist`, `math.hypot`")
def distances(x):
    return math.dist(list(x), [1.0, 2.0, 3.0, 4.0]) + math.hypot(x[0], x[1], x[2])


@numbers("`sum(..., start)`, of arrays, lists and tuples too")
def sums(x):
    total = sum([x[0], x[1]], x[2]) ** 2 + sum((x * k for k in range(3)), start=np.zeros(4))[1] ** 2
    return total + sum([[x[3]], [x[0]]], [])[1] * sum([(x[1],), (1.0,)], ())[0]


@numbers("`statistics.mean`, `fmean`, `median`")
def means(x):
    return (
        statistics.mean(list(x)) ** 2
        + statistics.fmean(x) * statistics.fmean(list(x), [1.0, 2.0, 3.0, 4.0])
        + statistics.median(list(x)) ** 2
    )


@numbers("`stdev`, `pstdev`, `variance`, `pvariance`")
def spreads(x):
    p = list(x)
    return statistics.stdev(p) + statistics.pstdev(p) * statistics.variance(p) + statistics.pvariance(p) ** 2


@numbers("`geometric_mean`, `harmonic_mean`, `quantiles`")
def other_means(x):
    q = statistics.quantiles(list(x), n=4)
    return statistics.geometric_mean(list(x)) + statistics.harmonic_mean(list(x)) + q[0] * q[2]


@numbers("`covariance`, `correlation`")
def covariances(x):
    return statistics.covariance(list(x), list(x**2)) + statistics.correlation(list(x), list(x**2))


@numbers("`linear_regression`", recorded=True)
def regression(x):
    line = statistics.linear_regression([0.0, 1.0, 2.0, 3.0], list(x))
    return line.slope**2 + line.intercept


@numbers("`NormalDist`")
def normal(x):
    n = statistics.NormalDist(x[0], x[1])
    return n.pdf(0.3) + n.cdf(x[2])


@numbers("draws of `np.random.Generator`")
def draws(x):
    stream = np.random.default_rng(3)
    total = np.sum(stream.normal(x[0], x[1], size=3) ** 2) + np.sum(stream.normal(loc=x, scale=x**2) ** 2)
    total += np.sum(stream.uniform(x[0], x[1] + 2.0, 3) ** 2) + stream.exponential(x[2]) * stream.lognormal(
        x[0], x[1]
    )
    return (
        total
        + stream.laplace(x[0], x[1]) * stream.gumbel(x[0], x[1])
        + np.sum((x * stream.standard_normal(4)) ** 2)
    )


@numbers("draws of `np.random` and `RandomState`")
def global_draws(x):
    np.random.seed(2)
    total = np.sum(np.random.normal(x[0], x[1], 3) ** 2) + np.random.uniform(x[0], x[1])
    return total + np.sum(np.random.RandomState(3).normal(x[0], x[1], 3) ** 2)


@numbers("draws of `random.Random`")
def python_draws(x):
    stream = random.Random(2)
    total = stream.normalvariate(x[0], x[1]) ** 2 + stream.uniform(x[0], x[1]) + stream.expovariate(x[0])
    return total * stream.triangular(x[0], x[1] + 1.0, x[2]) + stream.lognormvariate(x[0], x[1])


@numbers("`multivariate_normal` by its mean and covariance")
def joint_draws(x):
    stream, cov = np.random.default_rng(3), np.array([[2.0 + x[0], 0.3 * x[1]], [0.3 * x[1], 1.0 + x[2]]])
    total = np.sum(stream.multivariate_normal(x[:2], cov, size=3) ** 2)
    total += np.sum(stream.multivariate_normal(x[2:], cov, method="cholesky") ** 3)
    return total + np.sum(stream.multivariate_normal([0.0, 1.0], cov, 2, method="eigh") ** 2)


@numbers("`shuffle`, `permutation`, `permuted`, `choice` of differentiated items")
def shuffled_items(x):
    y, stream = x * 1.0, np.random.default_rng(2)
    stream.shuffle(y)
    total = y[0] * y[1] ** 2 + stream.permutation(x)[0] * stream.permuted(np.outer(x, x), axis=1)[1, 0]
    return total + np.sum(stream.choice(x, 3, p=[0.1, 0.2, 0.3, 0.4]) ** 2) * stream.choice(list(x), replace=False)


@numbers("`random.gauss` of the module", recorded=True)
def gauss(x):
    random.seed(1)
    return random.gauss(x[0], x[1]) ** 2


@numbers("a list that a stream shuffles", recorded=True)
def shuffled(x):
    stream, p = random.Random(2), list(x)
    stream.shuffle(p)
    return p[0] * p[1] ** 2
