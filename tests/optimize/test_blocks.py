"""Arithmetic on large arrays in blocks: the same numbers but for rounding, whatever the lengths and the layout are."""

import itertools
import linecache
import random

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.core import limits
from s2s.runtime import _blocks
from tests.helpers import differences, leaves

BLOCK = 8
LENGTHS = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7]
RNG = np.random.default_rng(17)


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks of a few elements, for arrays of any length."""
    monkeypatch.setattr(limits, "LARGE_ARRAY", 0)
    monkeypatch.setattr(_blocks, "SIZE", BLOCK)


def draw(*shape):
    """Numbers between 0.2 and 0.9, none of them close to 0.55."""
    drawn = RNG.uniform(0.2, 0.54, shape)
    return np.where(RNG.uniform(size=shape) > 0.5, drawn, 1.1 - drawn)


def distances(a, b, c):
    t = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(c) ** 2
    return np.sum(2 * np.arctan2(np.sqrt(t), np.sqrt(1 + t)))


def mixture(x, m, s):
    p = np.exp(-0.5 * ((x - m[0]) / s) ** 2) / s + 0.5 * np.exp(-0.5 * (x - m[1]) ** 2)
    return np.sum(np.log(p))


def average(x, y):
    r = np.tanh(x * y) - y
    return np.mean(r * r) + np.mean(np.exp(-x * x) * y)


def sides(x, y):
    h = np.where(x > 0.55, np.sin(x) * y, np.abs(x - 2.0) ** 1.5)
    return np.sum(np.maximum(h, -y) * np.clip(y, -1.0, 0.95))


def normalized(x, y):
    """What is computed of a sum comes after the loop that has it."""
    e = np.exp(np.sin(x) * y)
    return np.sum(np.log(e / np.sum(e) + y) * x * y)


def changed(x, y):
    """An array that changes, and views."""
    z = np.cos(x) * y + np.sin(x) * np.exp(y)
    z[::2] = y[::2] * x[::2]
    return np.sum(np.tanh(z * x) * z[::-1] * y)


def in_a_loop(x, y):
    for _ in range(3):
        x = 0.5 * x + np.sin(x * y) * np.tanh(y)
    return np.sum(x * x * y)


def until(x, y):
    while np.sum(np.sin(x) * np.cos(x) * np.exp(y)) > 0.2:
        x = 0.5 * x + 0.1 * np.tanh(x * y) * np.sin(x)
    return np.sum(x * y)


def with_a_number(x, y, c):
    r = c * np.sin(x) + y / c
    return r @ np.exp(-r) + c * np.dot(r, y)


VECTORS = [
    (distances, 3), (average, 2), (sides, 2), (normalized, 2), (changed, 2), (in_a_loop, 2), (until, 2),
]  # fmt: skip


def assert_derivatives(f, args):
    """Both modes against differences, and against the version without blocks."""
    places = tuple(range(len(args)))
    with np.errstate(divide="ignore", invalid="ignore"):
        value, found = s2s.value_and_grad(f, argnums=places)(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-13)
        for k, one in enumerate(s2s.grad(f, argnums=places)(*args)):
            expected = differences(lambda v, k=k: f(*args[:k], v, *args[k + 1 :]), args[k])
            np.testing.assert_allclose(one, expected, rtol=1e-6, atol=1e-8)
            np.testing.assert_allclose(found[k], one, rtol=1e-12)
            assert np.shape(one) == np.shape(args[k]) and isinstance(one, type(args[k]))
        tangents = tuple(np.cos(a) if isinstance(a, np.ndarray) else 0.5 for a in args)
        along = sum(np.sum(g * t) for g, t in zip(found, tangents, strict=True))
        np.testing.assert_allclose(s2s.jvp(f, args, tangents)[1], along, rtol=1e-11, atol=1e-12)


def is_in_blocks(f, args, mode="value_and_grad"):
    return "in rt.blocks(" in s2s.source(f, *args, mode=mode, argnums=tuple(range(len(args))))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize(("f", "count"), VECTORS, ids=lambda v: getattr(v, "__name__", ""))
def test_vectors(in_blocks, f, count, n):
    args = tuple(draw(n) for _ in range(count))
    if f is average and n == 0:
        return  # the mean of nothing
    assert_derivatives(f, args)
    if n != 1:
        for mode in ("grad", "value_and_grad", "jvp"):
            assert is_in_blocks(f, args, mode)


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_alone(in_blocks, n):
    assert_derivatives(mixture, (draw(n), draw(2), 0.7))
    assert_derivatives(with_a_number, (draw(n), draw(n), 0.7))


@pytest.mark.parametrize("shape", [(1, 30), (7, 3), (8, 3), (29, 3), (5, 40), (9, 2, 2)])
@pytest.mark.parametrize("layout", ["C", "F", "rows", "turned"])
def test_rows(in_blocks, shape, layout):
    """A block is a number of rows; a row goes with each of them, and so does a column."""
    def f(x, y, row, column):
        r = np.sin(x * row) - y * column
        return np.sum(np.exp(-r * r) * np.cos(y) + row * np.tanh(x))

    def made():
        a = draw(*shape)
        if layout == "rows":
            return draw(2 * shape[0], *shape[1:])[::2]
        return {"C": a, "F": np.asfortranarray(a), "turned": a[::-1]}[layout]

    args = made(), made(), draw(shape[-1]), draw(shape[0], *[1] * (len(shape) - 1))
    assert_derivatives(f, args)
    if shape[0] > 1:
        assert is_in_blocks(f, args)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_numbers(in_blocks, dtype):
    x, y = (draw(29) + (1j * draw(29) if dtype is np.complex128 else 0.0)).astype(dtype), draw(29).astype(dtype)

    def f(x, y):
        z = np.sin(x) * y + np.exp(-x * x)
        return np.sum(np.real(z * np.conj(z) * x))

    found = s2s.value_and_grad(f, argnums=(0, 1))(x, y)
    assert is_in_blocks(f, (x, y))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S2S_PASSES", "-blocks")
        expected = s2s.value_and_grad(f, argnums=(0, 1))(x, y)
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert type(one) is type(other) and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5 if dtype is np.float32 else 1e-12)


def test_numbers_that_are_not_finite(in_blocks):
    def f(x, y):
        return np.sum(np.log(x) * y + np.sqrt(x) / y + np.sin(x * y))

    x, y = draw(29), draw(29)
    x[3], x[11], y[20] = 0.0, np.nan, np.inf
    with np.errstate(all="ignore"):
        found = s2s.grad(f, argnums=(0, 1))(x, y)
        np.testing.assert_allclose(found[0], y / x + 0.5 / np.sqrt(x) / y + y * np.cos(x * y))
        np.testing.assert_allclose(found[1], np.log(x) - np.sqrt(x) / y**2 + x * np.cos(x * y))
    with pytest.raises(FloatingPointError), np.errstate(divide="raise"):
        s2s.grad(f, argnums=(0, 1))(x, y)


@pytest.mark.parametrize("n", [BLOCK + 1, 2 * BLOCK + 1, 3 * BLOCK + 1])
def test_other_lengths_are_refused_as_numpy_does(in_blocks, n):
    """Also where the last blocks would fit each other: one element goes with any number of them."""
    a, b, c = (draw(n) for _ in range(3))
    gradient = s2s.grad(distances, argnums=(0, 1, 2))
    gradient(a, b, c)
    for args in ((a[:-1], b, c), (a, draw(n + 3), c), (a, b, draw(BLOCK))):
        with pytest.raises(ValueError, match="broadcast"):
            distances(*args)
        with pytest.raises(ValueError, match="broadcast"):
            gradient(*args)
    one = gradient(a[:1], b, c)
    np.testing.assert_allclose(one[0], np.sum(gradient(np.full(n, a[0]), b, c)[0]))
    np.testing.assert_allclose(gradient(a, b, c)[0], s2s.grad(distances)(a, b, c))


def test_lengths_of_what_is_kept(in_blocks):
    """Of two blocks the second of one array has one element, which would go with all of the other."""
    def f(x, y):
        t = x * y
        return np.sum(np.sin(t) + 3.0 * (2.0 * (0.5 * t + x) - y))

    x = draw(2 * BLOCK)
    s2s.vjp(f, x, draw(2 * BLOCK))
    assert "in rt.blocks(" in s2s.source(f, x, x, mode="vjp")
    with pytest.raises(ValueError, match="broadcast"):
        s2s.vjp(f, x, draw(BLOCK + 1))


def changes_a_number(x, w):
    s = np.zeros(())
    s[()] = 0.5
    y = np.sin(x) * s + w * w
    s[()] = np.sum(y) * 0.1
    z = np.cos(x) * s + np.exp(w) * y
    u = np.tanh(z) * z + x
    return np.sum(u * u)


def test_what_reads_an_array_without_axes_stays_behind_its_changes(in_blocks):
    x, w = draw(21), draw(21)
    value, (x_bar, w_bar) = s2s.value_and_grad(changes_a_number, argnums=(0, 1))(x, w)
    assert "rt.blocks(" in s2s.source(changes_a_number, x, w, mode="value_and_grad", argnums=(0, 1))
    assert value == pytest.approx(changes_a_number(x, w), rel=1e-13)
    want = differences(lambda pair: changes_a_number(*pair), (x, w))
    np.testing.assert_allclose(x_bar, want[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(w_bar, want[1], rtol=1e-6, atol=1e-8)


def test_blocks_are_all_rows_one_after_the_other(monkeypatch):
    monkeypatch.setattr(_blocks, "SIZE", BLOCK)
    shapes = [(0,), (1,), (8,), (29,), (29, 3), (5, 40), (0, 4), (4, 0)]
    for array in (*(draw(*shape) for shape in shapes), draw(40)[::-2]):
        parts = [array[block] for block in rt.blocks(array)]
        assert np.array_equal(np.concatenate([array[:0], *parts]), array)
        assert all(0 < len(part) and (part.size <= BLOCK or len(part) == 1) for part in parts)
    assert len(rt.blocks(np.asfortranarray(draw(29, 3)))) == 1 and len(rt.blocks(draw(58, 3)[::-2])) == 15


def test_arguments_stay_as_they_are(in_blocks):
    x, y = draw(29), draw(29)
    x.flags.writeable = y.flags.writeable = False
    found = s2s.grad(in_a_loop, argnums=(0, 1))(x, y)
    assert all(g.flags.writeable and not np.shares_memory(g, a) for g in found for a in (x, y))


def test_there_is_a_version_for_each_size(monkeypatch):
    monkeypatch.setattr(limits, "LARGE_ARRAY", 100)
    monkeypatch.setattr(_blocks, "SIZE", BLOCK)
    f = load("def f(a, b, c):\n    t = np.sin(a - b) ** 2 + np.cos(a) * c\n    return np.sum(np.exp(t) * np.tanh(b))\n")
    gradient = s2s.grad(f, argnums=(0, 1, 2))
    small, large = tuple(draw(20) for _ in range(3)), tuple(draw(100) for _ in range(3))
    for args in (small, large, small, large, tuple(draw(99) for _ in range(3)), tuple(draw(300) for _ in range(3))):
        for k, one in enumerate(gradient(*args)):
            expected = differences(lambda v, k=k, args=args: f(*args[:k], v, *args[k + 1 :]), args[k])
            np.testing.assert_allclose(one, expected, rtol=1e-6, atol=1e-8)
    assert len(gradient.dispatcher.versions) == 2
    assert "rt.blocks" not in s2s.source(f, *small)
    assert "rt.blocks" in s2s.source(f, *large)


def test_what_is_no_arithmetic_on_elements_has_one_version(monkeypatch):
    monkeypatch.setattr(limits, "LARGE_ARRAY", 100)
    gradient = s2s.grad(lambda a, x: np.sum((a @ x) ** 2))
    for n in (5, 300):
        a, x = draw(n, 3), draw(3)
        np.testing.assert_allclose(gradient(a, x), 2.0 * np.outer(a @ x, x))
    assert len(gradient.dispatcher.versions) == 1


def test_second_derivatives(in_blocks):
    x, y, v = draw(29), draw(29), draw(29)
    curved = (s2s.grad(average)(x + 1e-6 * v, y) - s2s.grad(average)(x - 1e-6 * v, y)) / 2e-6
    along = s2s.jvp(lambda x: s2s.grad(average)(x, y), (x,), (v,))[1]
    np.testing.assert_allclose(along, curved, rtol=1e-5, atol=1e-8)
    hessian = s2s.hessian(lambda x: average(x, y))(x)
    np.testing.assert_allclose(hessian @ v, curved, rtol=1e-5, atol=1e-8)


def test_pullbacks(in_blocks):
    x, y = draw(29), draw(29)

    def f(x, y):
        t = np.sin(x) * y + np.cos(y) * np.exp(x)
        return t * np.tanh(t) + x

    out, pullback = s2s.vjp(f, x, y)
    np.testing.assert_allclose(out, f(x, y))
    bar = draw(29)
    expected = s2s.grad(lambda x, y: np.sum(bar * f(x, y)), argnums=(0, 1))(x, y)
    for one, other in zip(pullback(bar), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_both_sweeps_are_one_loop(in_blocks):
    source = s2s.source(distances, *(draw(29) for _ in range(3)), mode="value_and_grad", argnums=(0, 1))
    assert source.count("for block in rt.blocks(") == 1 and source.count("np.empty_like(") == 2
    before, _, inside = source.partition("for block in")
    assert "np.sin" not in before and "+= np.sum(" in inside and "a_bar[block] = " in inside


def test_no_array_of_full_size_is_made_beside_the_gradient():
    import tracemalloc

    x, y = draw(limits.LARGE_ARRAY), draw(limits.LARGE_ARRAY)
    gradient = s2s.value_and_grad(average)
    gradient(x, y)
    tracemalloc.start()
    gradient(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert x.nbytes < peak < 1.8 * x.nbytes


# --- programs at random ---------------------------------------------------------------------------------------------

ONE = ("np.sin({0})", "np.tanh({0})", "np.exp(-{0} * {0})", "-{0}", "{0} ** 2", "np.log1p({0} ** 2)", "{0}[::-1]")
TWO = ("{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} / (1.5 + {1} ** 2)", "np.where({0} > 0.1, {1}, 0.5)",
       "np.maximum({0}, {1})")  # fmt: skip
NUMBERS = ("np.sum({0})", "np.mean({0} * {1})", "np.max({0})", "np.vdot({0}, {1})")


def program(rng):
    """The text of a function of two arrays and a number."""
    lines, arrays, numbers = ["def f(x, y, c):"], ["x", "y"], ["c"]
    for k in range(rng.randint(4, 12)):
        a, b, name, what = rng.choice(arrays), rng.choice(arrays + numbers), f"v{k}", rng.random()
        if what < 0.12:
            lines.append(f"    {name} = {rng.choice(NUMBERS).format(a, rng.choice(arrays))}")
            numbers.append(name)
            continue
        arrays.append(name)
        if what < 0.5:
            lines.append(f"    {name} = {rng.choice(ONE).format(a)}")
        elif what < 0.85:
            lines.append(f"    {name} = {rng.choice(TWO).format(a, b)}")
        elif what < 0.9:
            lines += [f"    {name} = {a} * 1.0", f"    {name} += {b}", f"    {name}[1:] *= {a}[:-1]"]
        elif what < 0.95:
            lines += [f"    {name} = {a}", "    for _ in range(2):",
                      f"        {name} = 0.5 * {name} + np.sin({name} * {b}) * np.tanh({a})"]  # fmt: skip
        else:
            lines += [f"    if np.sum({a}) > 0.3:", f"        {name} = {a} * np.sin({a})",
                      "    else:", f"        {name} = {a} + np.cos({a}) ** 2"]  # fmt: skip
    a, b = arrays[-1], rng.choice(arrays)
    return "\n".join([*lines, f"    return np.sum({a} * {b}) + 0.1 * np.sum(np.sin({a})) * {numbers[-1]}"]) + "\n"


def load(text, count=itertools.count()):
    name, scope = f"<blocks {next(count)}>", {"np": np, "__name__": __name__}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning")
@pytest.mark.parametrize("seed", range(25))
def test_programs_at_random(in_blocks, monkeypatch, seed):
    rng = random.Random(seed)
    text, n = program(rng), rng.choice([2, 7, 8, 9, 31])
    x, y = draw(n) - 0.5, draw(2 * n)[::2] - 0.5
    found = s2s.value_and_grad(load(text), argnums=(0, 1, 2))(x, y, 0.7)
    monkeypatch.setenv("S2S_PASSES", "-blocks")
    expected = s2s.value_and_grad(load(text), argnums=(0, 1, 2))(x, y, 0.7)
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11, err_msg=text)
