"""A function that writes into arrays has the gradient of the same function without a store.

What is compared: the values of the two forms, without s2s; the gradients of both with central differences of the pure
form, by ``grad`` where the result is a number and by ``vjp`` always; bits of repeated calls; and the arguments, which
come back as they were given.
"""

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.bank.work import check_work
from tests.helpers import (
    active_positions,
    assert_gradient,
    assert_same,
    copy_tree,
    float_leaves,
    inner,
    is_float,
    leaves,
    map_tree,
    numerical,
    random_cotangent,
)
from tests.inplace import load

PAIRS, PROGRAMS = load().PAIRS, load().PROGRAMS
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def argnums_of(args):
    positions = active_positions(args)
    return positions if isinstance(positions, tuple) else (positions,)


def close(found, wanted, rtol):
    """Two results have one structure, and numbers that agree."""
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def frozen(cotangent):
    return map_tree(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, cotangent)


def reverse_mode(f, args, cotangent):
    """The value and the cotangents of the arguments by ``vjp``, asked for twice, of two pullbacks."""
    before, given = copy_tree(args), frozen(cotangent)
    results = []
    for _ in range(2):
        out, pullback = s2s.vjp(f, *args)
        value = copy_tree(out)
        assert_same(args, before)
        results += [(value, copy_tree(pullback(cotangent))) for _ in range(2)]
        assert_same(args, before)
        assert_same(cotangent, given)
        assert_same(out, value)
    for value, pulled in results[1:]:
        assert_same(value, results[0][0])
        for a, b in zip(pulled, results[0][1]):
            assert_same(a, b)
    return results[0]


def by_grad(f, args, argnums):
    """The gradients by ``grad``, called twice."""
    before = copy_tree(args)
    gradient = s2s.grad(f, argnums=argnums)
    first = copy_tree(gradient(*args))
    assert_same(args, before)
    assert_same(copy_tree(gradient(*args)), first)
    assert_same(args, before)
    return first


def forward_mode(f, args, cotangent):
    """The value and the cotangents of the arguments by ``jvp``, one direction for each element."""
    before, value = copy_tree(args), None
    pulled = [map_tree(lambda leaf: np.zeros_like(leaf) if is_array(leaf) else 0.0, arg) for arg in args]
    still = [
        map_tree(lambda leaf: (np.zeros_like if is_array(leaf) else type(leaf))(leaf) if is_float(leaf) else None, arg)
        for arg in args
    ]
    still = [map_tree(lambda leaf: leaf * 0.0 if type(leaf) is float else leaf, arg) for arg in still]
    for place in argnums_of(args):
        for leaf, into in zip(leaves(still[place]), leaves(pulled[place]), strict=True):
            for at in np.ndindex(np.shape(leaf)) if isinstance(leaf, np.ndarray) else ():
                leaf[at] = 1.0
                value, tangent = s2s.jvp(f, args, still)
                assert_same(args, before)
                into[at] = inner(cotangent, tangent)
                leaf[at] = 0.0
        if not isinstance(args[place], (np.ndarray, tuple, list, dict)):
            value, tangent = s2s.jvp(f, args, [type(args[k])(1.0) if k == place else d for k, d in enumerate(still)])
            pulled[place] = type(args[place])(inner(cotangent, tangent))
    return value, pulled


MODES = {"reverse": reverse_mode, "forward": forward_mode}
"""By name, what computes the value and the cotangents of the arguments from a cotangent of the result."""


@each_pair
def test_forms_agree(pair):
    """The pure form is a rewriting: the same values, here and nearby, and nothing it is given changes."""
    for scale in (1.0, 1.001):
        args = map_tree(lambda leaf: leaf * leaf.dtype.type(scale) if is_array(leaf) else leaf, pair.args)
        given = copy_tree(args)
        wanted = pair.pure(*args)
        assert_same(args, given)
        found = pair.mutating(*args)
        close(found, wanted, pair.rtol if pair.rtol > 1e-6 else 1e-12)


def is_array(leaf):
    return isinstance(leaf, np.ndarray) and is_float(leaf)


@each_pair
def test_pure_form_is_smooth(pair):
    """Central differences of two widths agree: no kink and no other path near the sample."""
    args, argnums = pair.args, argnums_of(pair.args)
    cotangent = random_cotangent(pair.pure(*copy_tree(args)))
    coarse = numerical(pair.pure, args, {}, argnums, cotangent, 1e-3)
    fine = numerical(pair.pure, args, {}, argnums, cotangent, 3e-4)
    for c, f in zip(leaves(coarse), leaves(fine), strict=True):
        if f is not None:
            assert np.all(np.isfinite(f))
            np.testing.assert_allclose(c, f, rtol=1e-7, atol=1e-7 * max([1.0, *np.abs(np.ravel(f))]))


def gradients():
    """The forms of each pair with modes: a pure form has no store, and a sample of them is enough."""
    for pair in PAIRS:
        for form, mode in (("mutating", "reverse"), ("mutating", "forward"), ("pure", "reverse")):
            marks = pytest.mark.grid(1 / 6 if form == "pure" else 1 / 3)
            yield pytest.param(pair, form, mode, id=f"{pair.name}-{form}-{mode}", marks=marks)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("pair, form, mode", list(gradients()))
def test_gradient(pair, form, mode):
    f, args, argnums = getattr(pair, form), pair.args, argnums_of(pair.args)
    expected_value = pair.pure(*copy_tree(args))
    cotangent = random_cotangent(f(*copy_tree(args)))
    scale = max([1.0, *(float(np.max(np.abs(leaf), initial=0.0)) for leaf in float_leaves(expected_value))])
    value, pulled = MODES[mode](f, args, cotangent)
    close(value, expected_value, pair.rtol if pair.rtol > 1e-6 else 1e-12)
    wanted = numerical(pair.pure, args, {}, argnums, cotangent)
    for place, want in zip(argnums, wanted):
        assert_gradient(pulled[place], args[place], want, pair.rtol, scale)
    if mode == "reverse" and is_float(value) and np.ndim(value) == 0:
        wanted = numerical(pair.pure, args, {}, argnums, 1.0)
        for place, got, want in zip(argnums, by_grad(f, args, argnums), wanted):
            assert_gradient(got, args[place], want, pair.rtol, scale)


# --- programs without a pure form -------------------------------------------------------------------------------------


def laid_out(args, like):
    """The arrays of ``args`` in the layout of those of ``like``, gaps included: whether a reshape is a view depends on
    that."""

    def one(array, model):
        if not isinstance(model, np.ndarray):
            return copy_tree(array)
        ends = [(n - 1) * s for n, s in zip(model.shape, model.strides, strict=True)]
        memory = np.empty(sum(map(abs, ends)) + model.itemsize, np.uint8)
        made = np.ndarray(model.shape, model.dtype, memory, -sum(min(0, end) for end in ends), model.strides)
        made[...] = array
        return made

    return [one(array, model) for array, model in zip(args, like, strict=True)]


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("mode", MODES)
def test_program(program, mode):
    f, args, argnums = program.f, program.args, argnums_of(program.args)
    wanted_value = f(*laid_out(args, args))
    cotangent = random_cotangent(wanted_value)
    value, pulled = MODES[mode](f, args, cotangent)
    close(value, wanted_value, 1e-12)
    scale = max([1.0, *(float(np.max(np.abs(leaf), initial=0.0)) for leaf in float_leaves(wanted_value))])
    expected = numerical(lambda *moved: f(*laid_out(moved, args)), args, {}, argnums, cotangent)
    for place, want in zip(argnums, expected):
        assert_gradient(pulled[place], args[place], want, 1e-6, scale)


def reads_state(f):
    """Whether a function reads a container of its module: what others have left there decides what is written."""
    return any(isinstance(f.__globals__.get(name), (list, dict, set)) for name in f.__code__.co_names)


WRITING = [
    (name, f, args)
    for name, f, args in (
        *((pair.name, pair.mutating, pair.args) for pair in PAIRS), *((p.name, p.f, p.args) for p in PROGRAMS))
    if not reads_state(f)
]


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("name, f, args", WRITING, ids=[name for name, *_ in WRITING])
def test_work(name, f, args, rewrite):
    check_work(f"inplace.{name}", f, copy_tree(args), argnums_of(args), rewrite)


# --- arguments that are one array -----------------------------------------------------------------------------------


def _accumulate(u, out):
    out[1:] += 2.0 * u[:-1]
    return np.sum(out**2 * np.arange(1.0, len(out) + 1.0)) + u[0]


def _product(u, v):
    v[:] = np.sin(v)
    u *= 2.0
    return np.sum(u * v)


def _write_then_read(u, out):
    before = np.sum(u**2)
    out[0] = before * u[1]
    return before + out[0] * np.sum(u)


def _first_only(u, out):
    u[1] = out[0] ** 2
    return np.sum(u**3)


def _loop(u, out):
    for i in range(1, len(u)):
        out[i] = np.sin(u[i - 1]) + u[i] * out[i]
    return np.sum(u * out)


def _helper(u, out):
    for _ in range(2):
        _inner(u, out)
    return np.sum(u**2)


def _inner(u, out):
    out[1:-1] = u[2:] * u[:-2]


def _reads_only(u, v):
    return np.sum(u * v**2)


SHARED = [_accumulate, _product, _write_then_read, _first_only, _loop, _helper, _reads_only]
each_shared = pytest.mark.parametrize("f", SHARED, ids=lambda f: f.__name__.strip("_"))


@each_shared
def test_one_array_for_two_arguments(f):
    """The primal sees one buffer, so the value is that of one, and the gradients of the arguments add up to the
    derivative with respect to that buffer."""
    x = np.array([0.35, -0.62, 1.41, -0.83, 0.94])

    def shared(x):
        x = x.copy()
        return f(x, x)

    (wanted,) = numerical(shared, (x,), {}, (0,), 1.0)
    given = x.copy()
    value, gradients = s2s.value_and_grad(f, argnums=(0, 1))(x, x)
    assert np.array_equal(x, given)
    np.testing.assert_allclose(value, shared(x), rtol=1e-12)
    np.testing.assert_allclose(gradients[0] + gradients[1], wanted, rtol=1e-6, atol=1e-8)
    out, pullback = s2s.vjp(f, x, x)
    np.testing.assert_allclose(sum(pullback(1.0)), wanted, rtol=1e-6, atol=1e-8)
    assert np.array_equal(x, given)


@each_shared
def test_overlapping_views_for_two_arguments(f):
    """Arguments that share a part of their memory: what each element of the memory does is the sum of its places.
    Such a call may be refused; its gradient is never wrong."""
    x = np.array([0.35, -0.62, 1.41, -0.83, 0.94, 0.5])

    def shared(x):
        x = x.copy()
        return f(x[:-1], x[1:])

    (wanted,) = numerical(shared, (x,), {}, (0,), 1.0)
    given = x.copy()
    try:
        value, gradients = s2s.value_and_grad(f, argnums=(0, 1))(x[:-1], x[1:])
    except DifferentiationError:
        assert f is not _reads_only
        return
    assert np.array_equal(x, given)
    np.testing.assert_allclose(value, shared(x), rtol=1e-12)
    total = np.append(gradients[0], 0.0) + np.insert(gradients[1], 0, 0.0)
    np.testing.assert_allclose(total, wanted, rtol=1e-6, atol=1e-8)


@each_shared
def test_separate_arrays_after_a_shared_one(f):
    """What was compiled for one array given twice is not used for two arrays, nor the other way round."""
    x, y = np.array([0.35, -0.62, 1.41, -0.83, 0.94]), np.array([0.7, 0.4, -1.2, 0.8, 1.3])
    gradient = s2s.grad(f, argnums=(0, 1))
    (wanted,) = numerical(lambda x: (lambda x: f(x, x))(x.copy()), (x,), {}, (0,), 1.0)
    separate = numerical(lambda u, v: f(u.copy(), v.copy()), (x, y), {}, (0, 1), 1.0)
    for _ in range(2):
        np.testing.assert_allclose(sum(gradient(x, x)), wanted, rtol=1e-6, atol=1e-8)
        for got, want in zip(gradient(x, y), separate):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


def test_a_shared_array_that_only_is_read_has_partial_derivatives():
    x = np.array([0.35, -0.62, 1.41])
    first, second = s2s.grad(_reads_only, argnums=(0, 1))(x, x)
    np.testing.assert_allclose(first, x**2)
    np.testing.assert_allclose(second, 2.0 * x**2)


# --- functions that return nothing ----------------------------------------------------------------------------------


def _smooth(u, out):
    out[1:-1] = 0.25 * (u[2:] + 2.0 * u[1:-1] + u[:-2]) + 0.1 * u[1:-1] ** 2


def _smooth_in_place(u, steps):
    for _ in range(steps):
        _smooth(u, u)


def _exchange(u, v, s):
    u += s * v
    v *= u
    u[0] = v[1]


def _one_side_only(u, v, s):
    if s > 0.0:
        u[1:] *= s * v[:-1]
        return
    v[0] = u[0]


U5, Y5 = np.array([0.35, -0.62, 1.41, -0.83, 0.94]), np.array([0.7, 0.4, -1.2, 0.8, 1.3])


@pytest.mark.parametrize(
    "f, args, changed",
    [
        (_smooth, (U5, Y5), (1,)),
        (_smooth_in_place, (U5, 3), (0,)),
        (_smooth_in_place, (U5, 0), (0,)),
        (_exchange, (U5, Y5, 0.7), (0, 1)),
        (_one_side_only, (U5, Y5, 0.7), (0, 1)),
        (_one_side_only, (U5, Y5, -0.7), (0, 1)),
    ],
)
def test_what_a_function_leaves_in_its_arguments_is_its_result(f, args, changed):
    """``vjp`` of a function that returns None gives what the changed arguments would hold."""

    def returning(*args):
        args = copy_tree(args)
        assert f(*args) is None
        return args[changed[0]] if len(changed) == 1 else tuple(args[k] for k in changed)

    cotangent = random_cotangent(returning(*args))
    value, pulled = reverse_mode(f, args, cotangent)
    close(value, returning(*args), 1e-12)
    argnums = argnums_of(args)
    for place, want in zip(argnums, numerical(returning, args, {}, argnums, cotangent)):
        assert_gradient(pulled[place], args[place], want, 1e-6)
