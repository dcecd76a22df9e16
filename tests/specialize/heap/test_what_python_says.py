"""What Python says of containers, numbers and texts is what a derivative takes for it: comparisons, classes, lengths.

Each line is a number that the slope of a function is made of: where the compiler takes an answer for another one, it
has another branch than the program, or another factor.
"""

import collections
import itertools
import linecache

import numpy as np
import pytest

import s2s

Named = collections.namedtuple("Named", "p q")  # noqa: PYI024
FUNCTION = """def f(x):
    l, t, s, fs, n = [x, 2.0, 3.0], (x, 2.0), {1, 2, 3}, frozenset([1, 2]), None
    d, o = {"a": x, "b": 2.0, 3: x}, collections.OrderedDict(a=x, b=2.0)
    q = collections.deque([x, 2.0, 5.0], maxlen=3)
    nt = Named(x, 2.0)
    dd, c = collections.defaultdict(list), collections.Counter("abca")
    return x * int(EXPRESSION) + 100.0 * x
"""
EXPRESSIONS = r"""
isinstance(d.keys(), list)
type(nt[:1]) is tuple
type(nt) is tuple
type(tuple(nt)) is tuple
isinstance(nt[:2], tuple)
nt == (x, 2.0)
nt[:1] == (x,)
isinstance(q, list)
isinstance(o, dict)
isinstance(dd, dict)
isinstance(c, dict)
type(o) is dict
type(q) is list
type(d.keys()) is list
isinstance(t, list)
isinstance(s, set)
isinstance(fs, set)
isinstance(fs, frozenset)
isinstance(x, float)
isinstance(l[0], float)
isinstance(len(l), int)
isinstance(True, int)
isinstance(l, (tuple, list))
hasattr(d, "keys")
hasattr(q, "popleft")
hasattr(l, "popleft")
hasattr(d.keys(), "append")
hasattr(d, "move_to_end")
hasattr(o, "move_to_end")
callable(l.append)
bool(d.keys())
bool({}.keys())
bool(q)
len(q)
len(c)
sum(c.values())
c["a"]
c["z"]
len(c)
c.most_common(1)[0][1]
len(dd)
len(dd["new"])
("new" in dd)
len(list(dd.keys()))
x in l
x in t
2.0 in l
"a" in d
"z" in d
3 in d
3.0 in d
True in {1: 2}
1 in s
1.0 in s
d.get(3.0) is not None
d.get("z") is None
d.get("z", 5)
list(d)[2] == 3
list(d.values())[1] == 2.0
list(d.items())[1] == ("b", 2.0)
max(s)
min(fs)
sorted(s, reverse=True)[0]
list(reversed(l))[0] == 3.0
list(reversed(d))[0] == 3
l == [x, 2.0, 3.0]
l == (x, 2.0, 3.0)
l != [x]
l < [x, 3.0]
t < (x, 1.0)
l[:2] == [x, 2.0]
l[::-1] == [3.0, 2.0, x]
l.index(2.0)
l.count(2.0)
t.index(2.0)
l + [1.0] == [x, 2.0, 3.0, 1.0]
l * 2 == l + l
len(l * 3)
(l, t) == (l, t)
l is l
l is not list(l)
t is tuple(t)
d is dict(d)
d == dict(d)
s == set(s)
s is set(s)
s <= {1, 2, 3, 4}
s < s
s | {4} == {1, 2, 3, 4}
fs == {1, 2}
fs | {3} == s
fs < s
type(fs | {3}) is frozenset
type(s | fs) is set
isinstance(s & fs, set)
s.isdisjoint(fs)
n is None
n == 0
not n
not l
not []
[] == ()
() == ()
{} == {}
set() == {}
"a" < "b"
"abc"[::-1] == "cba"
q[0] == x
q[-1] == 5.0
[q.append(7.0), len(q)][1]
[q.append(7.0), q[0] == 2.0][1]
[q.appendleft(7.0), q[-1] == 2.0][1]
[q.rotate(1), q[0] == 5.0][1]
list(q) == [x, 2.0, 5.0]
tuple(q) == (x, 2.0, 5.0)
o.popitem()[0] == "b"
d.popitem()[0] == 3
d.pop("b") == 2.0
d.setdefault("a", 3.0) == x
d.setdefault("q", 3.0) == 3.0
[d.update(b=7.0), d["b"] == 7.0][1]
(d | {"b": 1.0})["b"] == 1.0
len(d | {"zz": 1})
dict(zip("ab", [1, 2])) == {"a": 1, "b": 2}
dict.fromkeys("ab") == {"a": None, "b": None}
[*d] == ["a", "b", 3]
{**d, "a": 1.0}["a"] == 1.0
len({1, 1.0, True})
len({1: 0, 1.0: 1, True: 2})
{1: 0, 1.0: 1}[1]
list({1: 0, True: 1})[0] is True
len({0.0, -0.0})
float("nan") in [float("nan")]
[float("nan")] == [float("nan")]
(lambda v: v in [v])(float("nan"))
(lambda v: [v] == [v])(float("nan"))
list(zip(l, t)) == [(x, x), (2.0, 2.0)]
list(enumerate(t))[1] == (1, 2.0)
list(map(float, [1, 2])) == [1.0, 2.0]
list(filter(None, [0, 1, 2])) == [1, 2]
any([0, x])
all([0, x])
sum([1, 2], 3)
max([1, 5], key=lambda v: -v)
max([], default=9)
divmod(7, 2) == (3, 1)
round(2.5)
round(3.5)
-7 // 2
-7 % 3
7 % -3
int(-2.7)
2 ** -1 == 0.5
10 ** 2
1 == 1.0
True + True
"x" * 3 == "xxx"
"%d" % 3 == "3"
f"{3:02d}" == "03"
"a,b".split(",") == ["a", "b"]
[a for a, *b in [(1, 2, 3)]][0]
[b for a, *b in [(1, 2, 3)]][0] == [2, 3]
(lambda *a, k=3, **kw: len(a) + k + len(kw))(1, 2, z=5)
(lambda a, /, b=2: a + b)(1)
[i for i in range(10) if i % 3 == 0][-1]
len(range(2, 10, 3))
range(5)[-1]
range(0, 10, 2) == range(0, 9, 2)
5 in range(0, 10, 2)
slice(1, 3).indices(2) == (1, 2, 1)
l[slice(1, None)] == [2.0, 3.0]
[l.insert(1, 9.0), l[1] == 9.0][1]
[l.sort(reverse=True), l[0] == 3.0][1]
[l.reverse(), l[0] == 3.0][1]
[l.extend(t), len(l)][1]
[l.clear(), len(l)][1]
l.pop(0) == x
l.copy() is l
[l.__delitem__(0), len(l)][1]
(l[0] if l else 0) == x
x and 3
0 or 4
None or 5
[] or 6
1 < 2 < 3
1 < 3 < 2
not 1 == 2
1 if n is None else 2
(1, 2) < (1, 2, 0)
[1, [2, 3]] == [1, [2, 3]]
(1, (2, x)) == (1, (2, x))
{"a": [x]} == {"a": [x]}
{1, 2}.union([3], [4]) == {1, 2, 3, 4}
{1, 2} ^ {2, 3} == {1, 3}
{1, 2, 3} - {2} == {1, 3}
{1}.issubset([1, 2])
{1, 2}.issuperset([1])
repr([1, "a"]) == "[1, 'a']"
str(1.0) == "1.0"
int("12") == 12
chr(65) == "A"
abs(-3)
pow(2, 3, 5)
bool("")
bool("0")
isinstance(None, type(None))
type(x)(3) == 3.0
type(l)((1, 2)) == [1, 2]
type(3) is int
type(3) == float
issubclass(bool, int)
next(iter(d)) == "a"
next(iter([]), 8)
[*zip(*[(1, 2), (3, 4)])] == [(1, 3), (2, 4)]
[y := 4, y + 1][1]
len(set("hello"))
sorted({"b": 1, "a": 2})[0] == "a"
sorted([(2, "a"), (1, "b")])[0][1] == "b"
sorted([3, 1, 2], key=lambda v: -v)[0]
list(itertools.chain([1], (2,)))[1]
list(itertools.accumulate([1, 2, 3]))[-1]
list(itertools.product([1, 2], [3]))[1] == (2, 3)
list(itertools.combinations([1, 2, 3], 2))[-1] == (2, 3)
list(itertools.islice(range(9), 2, 5))[0]
len(list(itertools.permutations([1, 2, 3])))
[k for k, g in itertools.groupby([1, 1, 2])][-1]
list(itertools.zip_longest([1, 2], [3], fillvalue=0))[1] == (2, 0)
list(itertools.repeat(3, 2)) == [3, 3]
np.array([1, 2]) is not None
np.shape(l) == (3,)
np.array(l).shape == (3,)
np.array([1, 2]).dtype == int
np.array([1.0]).dtype == float
np.float64(1.0) == 1
isinstance(np.float64(1.0), float)
isinstance(np.ones(2)[0], float)
isinstance(np.ones(2).sum(), np.floating)
np.ndim(x)
np.size(l)
np.isscalar(x)
np.array([1, 2, 3])[-1] == 3
(np.array([1, 2]) == np.array([1, 2])).all()
np.array_equal([1, 2], [1, 2])
len(np.ones((2, 3)))
np.ones((2, 3)).shape[1]
np.arange(3).tolist() == [0, 1, 2]
int(np.argmax([1, 5, 2]))
bool(np.any([0, 1]))
""".strip().splitlines()
GROUPS = [EXPRESSIONS[k : k + 20] for k in range(0, len(EXPRESSIONS), 20)]


def function_of(expression):
    text, name = FUNCTION.replace("EXPRESSION", expression), f"<{expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"collections": collections, "itertools": itertools, "np": np, "Named": Named, "__name__": __name__}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", GROUPS, ids=range(len(GROUPS)))
def test_what_python_says(group):
    wrong = []
    for number, expression in enumerate(group):
        f = function_of(expression)
        slope = s2s.jvp(f, (1.25,), (1.0,))[1] if number % 2 else s2s.grad(f)(1.25)
        if abs(slope - f(1.25) / 1.25) > 1e-12:
            wrong.append((expression, slope - 100.0, f(1.25) / 1.25 - 100.0))
    assert not wrong
