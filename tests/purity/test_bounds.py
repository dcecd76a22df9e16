"""What compiling may cost: the items that examples and folding look at and make are counted, not timed."""

import itertools
import linecache
import math
import operator
import sys

import numpy as np
import pytest

import s2s
from s2s.analysis.abstract import folding
from s2s.analysis.abstract.evaluate import Evaluator
from s2s.analysis.abstract.folding import Budget, NotFolded, call_pure, limited
from s2s.analysis.abstract.lattice import known
from s2s.core.values import UNKNOWN, Array, Dim, Scalar
from s2s.errors import DifferentiationError

ALLOWED = 20_000_000
"""Items: an array of rank 6 with different lengths has about one million."""

EXPRESSIONS = """
9**9**9; 2**10**9; (-3)**10**8; pow(9, 9**9); 1 << 10**9; math.factorial(10**7); math.factorial(10**5)
math.comb(10**7, 5 * 10**6); math.perm(10**6); math.prod(range(1, 10**6)); sum(range(10**9)); max(range(10**9))
np.ones((8000, 8000))[0, 0]; np.ones((8000, 8000)) @ np.ones((8000, 8000)); np.linalg.inv(np.eye(8000))[0, 0]
np.sum(np.zeros((20000, 20000))); np.zeros(10**11)[0]; np.full((10**5, 10**5), 1.0)[0]; np.eye(50000)[0, 0]
np.tri(50000)[0, 0]; np.arange(1e9)[0]; np.arange(10**9)[0]; np.arange(-(10**9), 0)[0]; np.arange(0.0, 1.0, 1e-9)[0]
np.linspace(0.0, 1.0, 10**9)[0]; np.geomspace(1.0, 2.0, num=10**9)[0]; np.indices((20000, 20000))[0, 0, 0]
np.tile(x, 10**9)[0]; np.tile(x, (10**5, 10**5))[0]; np.repeat(x, 10**9)[0]; np.pad(x, 10**9)[0]
np.resize(x, 10**9)[0]; np.vander(np.zeros(30000))[0, 0]; np.outer(np.zeros(40000), np.zeros(40000))[0, 0]
np.tril_indices(30000)[0][0]; np.diag(np.zeros(50000))[0, 0]; np.bincount(np.array([1]), minlength=10**9)[0]
np.histogram(x, 10**9)[0][0]; np.fft.fft(x, 10**9)[0].real; np.binary_repr(2**60, 10**9); np.sum(np.zeros((10,) * 9))
np.convolve(np.zeros(10**6), np.zeros(10**6))[0]; np.concatenate([np.zeros(10**8)] * 20)[0]
[0] * 10**9; (0.0,) * 10**9; 10**9 * [0.0]; "a" * 10**9; "a".ljust(10**9); "a".zfill(10**9); b"a" * 10**9
"%1000000000d" % 1; "{:>1000000000}".format(1); f"{1:>1000000000}"; format(1, "1000000000d")
"a\\t".expandtabs(10**9); ("a" * 9000).replace("a", "b" * 9000); iter(range(10**9)); next(iter(range(10**9)))
list(range(10**8)); tuple(range(10**8)); set(range(10**8)); sorted(range(10**8)); dict.fromkeys(range(10**8))
any(range(10**9)); list(itertools.permutations(range(12))); list(itertools.product(range(1000), repeat=4))
next(itertools.count()); list(itertools.repeat(1.0, 10**9)); functools.reduce(operator.add, range(10**8))
RANGE[5]; list(RANGE); sum(RANGE); TEXT.split(","); len(TEXT); set(TEXT); np.sum(x6); np.sum(x6, axis=(0, 2))
np.exp(x6)[0, 0, 0, 0, 0, 0]; np.tensordot(x6, x6, 6); np.median(x6); np.mean(x7); np.linalg.svd(x5)[1][0, 0, 0, 0]
""".replace("\n", "; ")

LOOPS = (
    "for k in itertools.count():\n    if k > 3:\n        break\n    z = z + x[0]",
    "for k in range(10**9):\n    if k > 3:\n        break\n    z = z + x[0]",
    "for k in [0] * 10**7:\n    z = z + x[0]", "for k in 'a' * 10**7:\n    z = z + x[0]",
    "for k in RANGE:\n    z = z + x[0]\n    break", "n = 2\nfor k in range(60):\n    n = n * n",
    "s = 'a'\nfor k in range(60):\n    s = s + s", "l = [x[0]]\nfor k in range(40):\n    l = l + l",
    "l = [x[0]]\nfor k in range(40):\n    l.extend(l)", "t = (1,)\nfor k in range(60):\n    t = t + t",
)

HEAD = """
import functools, itertools, math, operator
import numpy as np
RANGE, TEXT = range(10**9), "a," * 10**6
x5, x6, x7 = np.ones((2,) * 5), np.ones((2,) * 6), np.ones((2,) * 7)
"""


_numbers = itertools.count()


def made(text):
    """The function ``f`` of a text, with lines that can be read."""
    file, scope = f"<bounds {next(_numbers)}>", {"__name__": "bounds"}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def spent(text, mode, monkeypatch):
    """What compiling a function costs, and the length of its code."""
    budgets = []
    monkeypatch.setattr("s2s.pipeline.limited", lambda: limited(budgets.append(Budget()) or budgets[-1]))
    try:
        length = len(s2s.source(made(HEAD + text), np.array([0.7, 1.3, 0.4]), mode=mode))
    except DifferentiationError:
        length = 0
    return sum(b.spent for b in budgets), length


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("place", ["live", "dead"])
def test_expressions_that_cost_much_are_left_to_the_run(place, mode, monkeypatch):
    for expression in filter(None, map(str.strip, EXPRESSIONS.split("; "))):
        inner = f"    y = {expression}\n" if place == "live" else f"    if x[0] > 1e9:\n        y = {expression}\n"
        cost, length = spent(f"def f(x):\n{inner}    return np.sum(x * x)\n", mode, monkeypatch)
        assert cost < ALLOWED and length < 30_000, (expression, cost, length)


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_that_cost_much_are_left_to_the_run(loop, monkeypatch):
    inner = "\n".join(f"    {line}" for line in loop.splitlines())
    cost, length = spent(f"def f(x):\n    z = 0.0\n{inner}\n    return np.sum(x * x) + z\n", "grad", monkeypatch)
    assert cost < ALLOWED and length < 1_000_000


# --- the mechanism --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fn", "args"), [
    (operator.pow, (9, 9**9)), (operator.lshift, (1, 10**9)), (math.factorial, (10**6,)), (math.comb, (10**6, 10**5)),
    (operator.mul, ("a", 10**9)), (operator.mul, (10**9, [0])), (list, (range(10**9),)), (sum, (range(10**9),)),
    (str.ljust, ("a", 10**9)), (str.format, ("{:>999999999}", 1)), (operator.mod, ("%999999999d", 1)),
    (np.tile, ([1.0], 10**9)), (np.repeat, ([1.0], 10**9)), (np.pad, (np.ones(3), 10**9)),
])
def test_a_call_with_a_large_result_is_not_made(fn, args):
    with pytest.raises(NotFolded):
        call_pure(fn, args)


def test_calls_within_the_bounds_are_made():
    assert call_pure(operator.pow, (3, 40)) == 3**40 and call_pure(operator.mul, ("ab", 3)) == "ababab"
    assert call_pure(math.factorial, (10,)) == 3628800 and call_pure(sum, (range(100),)) == 4950


def test_a_compilation_has_a_budget():
    with limited(Budget(1000)) as budget:
        for _ in range(9):
            call_pure(sum, ([1.0] * 50,))
        with pytest.raises(NotFolded):
            for _ in range(9):
                call_pure(sum, ([1.0] * 50,))
    assert budget.spent > 900
    call_pure(sum, ([1.0] * 50,))


def test_large_lengths_are_known_without_large_examples():
    evaluator = Evaluator()
    with limited() as budget:
        for fn in (np.zeros, np.ones, np.empty):
            assert evaluator.call(fn, (known((8000, 9000)),)) == Array(np.dtype(float), (Dim("", 8000), Dim("", 9000)))
        assert evaluator.call(np.eye, (known(50000),)) == Array(np.dtype(float), (Dim("", 50000),) * 2)
        assert evaluator.call(np.linspace, (known(0.0), known(1.0), known(10**9))) == Array(
            np.dtype(float), (Dim("", 10**9),))
        assert evaluator.call(np.arange, (known(10**9),)) == Array(np.dtype(int), (Dim("", 10**9),))
        long = Array(np.dtype(float), (Dim("", 8000), Dim("", 9000)))
        assert evaluator.call(np.transpose, (long,)) == Array(np.dtype(float), (Dim("", 9000), Dim("", 8000)))
        assert evaluator.call(np.sum, (long,)) == Scalar(np.float64)
    assert budget.spent < 10_000


def test_what_is_long_is_not_written_into_the_code():
    evaluator = Evaluator()
    assert evaluator.call(operator.mul, (known("a"), known(50_000))) == UNKNOWN
    assert evaluator.call(operator.pow, (known(3), known(20_000))) == Scalar(int)
    assert evaluator.call(operator.pow, (known(3), known(100))) == known(3**100)
    assert folding.LONGEST_TEXT * math.log10(2) < sys.get_int_max_str_digits()


def test_what_may_become_large():
    """Counted in the bits of integers: a float does not grow, and takes nothing away from the integers beside it."""
    large = 3**1000
    assert folding._grown(math.prod, ([large] * 50 + [1.0],), {}) >= 50 * large.bit_length()
    assert folding._grown(operator.mul, (large, large), {}) == 2 * large.bit_length()
    assert folding._grown(operator.mul, (1.5, 2.5), {}) == 0
    assert folding._grown(math.lcm, (large, 4, 1), {}) == large.bit_length() + 4
